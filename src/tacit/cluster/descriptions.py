"""``describe``: typical rows, borderline rows, features and keywords of each cluster.

Typical rows are nearest to the center, borderline rows nearly as near to another one. Features
are those that set the cluster apart, by contrast with the other rows and not by size alone;
keywords where the features are words.

    counts    the log-odds ratio of a word in the cluster against the others over its standard
              error; pseudo-counts proportional to all counts shrink those of rare words
    numbers   the difference of the means over the standard deviation

Monroe, Colaresi and Quinn (2008), Fightin' words: lexical feature selection and evaluation for
identifying the content of political conflict. Political Analysis 16. The notes' section on
evaluating clusterings.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.notebook import Markup, html_notes, html_table
from tacit.data.bad_values import check_scale
from tacit.kernels.distances import between_rows, euclidean
from tacit.kernels.unit_rows import unit_rows
from tacit.measure.labels import by_size, codes_of
from tacit.measure.pair_scores import load_rows

__all__ = [
    "ClusterDescription", "Contrast", "Descriptions", "Feature", "contrasts", "describe",
    "log_odds",
]  # fmt: skip

HEADINGS = ("Cluster", "Size", "Share", "Set apart by")

EXCERPT = 160  # characters of a document


@dataclass(frozen=True)
class Feature:
    """A feature that sets a cluster apart: by how much, and its means inside and outside."""

    name: Any
    score: float
    inside: float
    outside: float

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class ClusterDescription:
    """The description of one cluster.

    Attributes
    ----------
    cluster : int
        Its number by size, 0 for the largest; ties go to the one seen first.
    label : its label in ``labels``
    size, share : rows, and their fraction of all rows in clusters
    nearest : tuple of row numbers, the most typical first
    borderline : tuple of (row number, the other cluster), the most uncertain first
    features : tuple of Feature, the strongest first
    keywords : tuple of str, features that are words and more frequent here; else empty
    examples : tuple of str, the beginnings of the nearest documents; else empty
    """

    cluster: int
    label: Any
    size: int
    share: float
    nearest: tuple[int, ...]
    borderline: tuple[tuple[int, int], ...]
    features: tuple[Feature, ...]
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        fields = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        return {
            **fields,
            "label": getattr(self.label, "item", lambda: self.label)(),
            "borderline": [{"row": row, "other": other} for row, other in self.borderline],
        }

    def __str__(self) -> str:
        return f"{self.cluster}: {self.size:,} rows ({self.share:.0%}), {self.gist}"

    @property
    def gist(self) -> str:
        """Keywords, or the features with their scores."""
        if self.keywords:
            return ", ".join(self.keywords)
        return ", ".join(f"{f.name} {f.score:+.1f}" for f in self.features) or "-"

    def _repr_html_(self) -> str:
        return html_table(HEADINGS, [html_cells(self)], right=(0, 1, 2))


class Descriptions(list[ClusterDescription]):
    """The clusters, largest first, and notes."""

    def __init__(
        self, clusters: Iterable[ClusterDescription] = (), *, notes: Iterable[str] = ()
    ) -> None:
        super().__init__(clusters)
        self.notes = list(notes)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {"clusters": [cluster.to_dict() for cluster in self], "notes": list(self.notes)}

    def __str__(self) -> str:
        return "\n".join([*map(str, self), *self.notes])

    def _repr_html_(self) -> str:
        table = html_table(HEADINGS, map(html_cells, self), right=(0, 1, 2))
        return table + html_notes(self.notes)


def html_cells(cluster: ClusterDescription) -> list[object]:
    """Words and documents are untrusted: escaped, and in ``bdi`` for their text direction."""
    quotes = (f"<br><small><bdi>{escape(text)}</bdi></small>" for text in cluster.examples)
    gist = Markup(f"<bdi>{escape(cluster.gist)}</bdi>{''.join(quotes)}")
    return [cluster.cluster, f"{cluster.size:,}", f"{cluster.share:.0%}", gist]


def describe(
    X: Any,
    labels: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    documents: Sequence[str] | None = None,
    centers: Any = None,
    top: int = 10,
    kind: str = "auto",
    metric: str = "auto",
) -> Descriptions:
    """Describe each cluster: typical and borderline rows, and what sets it apart.

    Parameters
    ----------
    X : array, CSR matrix or Table
        The rows: word counts or tf-idf, or numbers.
    labels : array of n_rows labels of any kind
        Their clusters. A negative integer means none.
    feature_names : sequence or None
        Names of the columns, such as ``vectorizer.get_feature_names_out()``. For counts
        they are words.
    documents : sequence of str, Documents or None
        The texts of the rows; the nearest are quoted.
    centers : array of shape (n_clusters, n_features) or None
        In the order of the sorted labels, as ``cluster_centers_`` is. None takes the means.
    top : int, most rows and features of each cluster
    kind : {"auto", "counts", "numbers"}
        What the columns hold. "auto" is "counts" for sparse rows without negative values.
    metric : {"auto", "euclidean", "cosine"}
        Distance of a row to a center. "auto" is "cosine" for sparse rows.

    Returns
    -------
    Descriptions, a list of ClusterDescription, the largest cluster first.

    Examples
    --------
    >>> from tacit.text import CountVectorizer
    >>> texts = ["the cat sat", "a cat and a cat", "my cat", "stocks fell", "stocks rose again"]
    >>> counter = CountVectorizer(stop_words="english")
    >>> clusters = describe(counter.fit_transform(texts), [7, 7, 7, 3, 3], documents=texts,
    ...                     feature_names=counter.get_feature_names_out(), top=2)
    >>> print(clusters)
    0: 3 rows (60%), cat, sat
    1: 2 rows (40%), stocks, fell
    >>> clusters[0].label, clusters[1].examples
    (np.int64(7), ('stocks fell', 'stocks rose again'))
    """
    rows = load_rows(X, "euclidean", name="describe")
    check_scale(rows, "describe")
    codes, names, order = number_by_size(labels, rows.shape[0])
    kind, metric = check_choices(rows, kind, metric, top)
    for items, size, what, of in (
        (feature_names, rows.shape[1], "feature_names", "column"),
        (documents, rows.shape[0], "documents", "row"),
    ):
        if items is not None and len(items) != size:
            raise ValueError(
                f"describe got {len(items):,} {what} for {size:,} {of}s. Give one per {of}."
            )
    if centers is not None:
        centers = np.asarray(centers, np.float64)
        if centers.shape != (len(names), rows.shape[1]):
            raise ValueError(
                f"describe(centers=...) has shape {centers.shape}, but there are {len(names)} "
                f"clusters of rows of {rows.shape[1]} columns. Give one center per cluster, or "
                "none."
            )
        centers = centers[order]
    distances = to_centers(rows, codes, centers, metric)
    words = feature_names is not None and kind == "counts"
    clusters = []
    for j, contrast in enumerate(contrasts(rows, codes, len(names), kind)):
        members = np.flatnonzero(codes == j)
        nearest = members[np.argsort(distances[members, j], kind="stable")[:top]]
        features = strongest(contrast, feature_names, top, positive=kind == "counts")
        clusters.append(
            ClusterDescription(
                cluster=j,
                label=names[j],
                size=len(members),
                share=len(members) / int((codes >= 0).sum()),
                nearest=tuple(nearest.tolist()),
                borderline=borderline_rows(distances, members, j, top),
                features=features,
                keywords=tuple(str(feature.name) for feature in features) if words else (),
                examples=() if documents is None else excerpts(documents, nearest),
            )
        )
    outside = int((codes < 0).sum())
    notes = [f"{outside:,} rows are in no cluster."] if outside else []
    return Descriptions(clusters, notes=notes)


# --- Its parts ---


class Contrast(NamedTuple):
    """A cluster against the other rows, for every feature."""

    score: np.ndarray  # (d,) standard deviations; above 0 for more in the cluster
    inside: np.ndarray  # (d,) mean in the cluster
    outside: np.ndarray  # (d,) mean of the other rows


def number_by_size(labels: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each row the number of its cluster by size, -1 for none; for each cluster its label,
    and the position of that among the sorted labels."""
    array = np.asarray(labels)
    known = codes_of(array, name="describe", rows=n)
    inside = array >= 0 if array.dtype.kind in "if" else np.ones(n, bool)
    if not inside.any():
        raise ValueError(
            "describe: all labels are negative, so there is no cluster. Give some that are not."
        )
    codes = np.full(n, -1, np.int32)
    codes[inside] = by_size(known.codes[inside])
    k = int(codes.max()) + 1
    order = np.empty(k, np.int64)
    order[codes[inside]] = known.codes[inside]
    return codes, known.names[order], order - order.min()


def to_centers(rows: Any, codes: np.ndarray, centers: Any, metric: str) -> np.ndarray:
    """(n, k) distances to the centers, in the order of size; to the means if they are None."""
    if metric == "cosine":
        rows, _ = unit_rows(rows if rows.dtype.kind == "f" else rows.astype(np.float64))
    if centers is None:
        inside = np.flatnonzero(codes >= 0)
        sums = sum_by_cluster(rows[inside], codes[inside], int(codes.max()) + 1)
        sums = sums.toarray() if sp.issparse(sums) else sums
        centers = sums / np.bincount(codes[inside])[:, None]
    if metric == "cosine":
        centers, _ = unit_rows(centers)
        return np.asarray(1.0 - rows @ centers.T)
    if sp.issparse(rows):
        return euclidean(rows, centers, 0.0)
    return between_rows(np.ascontiguousarray(rows, np.float64), np.ascontiguousarray(centers))


def borderline_rows(
    distances: np.ndarray, members: np.ndarray, j: int, top: int
) -> tuple[tuple[int, int], ...]:
    """The members that another center is nearly as near to, or nearer; and which."""
    if distances.shape[1] < 2:
        return ()
    to_own = distances[members, j]
    others = distances[members].copy()
    others[:, j] = np.inf
    rival = others.argmin(axis=1)
    to_rival = others[np.arange(len(members)), rival]
    most = np.maximum(to_own, to_rival)
    margin = np.divide(to_rival - to_own, most, out=np.zeros(len(members)), where=most > 0)
    order = np.argsort(margin, kind="stable")[:top]
    return tuple((int(members[i]), int(rival[i])) for i in order)


def strongest(
    contrast: Contrast, names: Sequence[Any] | None, top: int, *, positive: bool
) -> tuple[Feature, ...]:
    """The features with the largest scores: of either sign for numbers, above 0 for counts."""
    size = contrast.score if positive else np.abs(contrast.score)
    features = []
    for j in np.argsort(-size, kind="stable")[:top]:
        if size[j] > 0:
            name = j if names is None else names[j]
            name = name.item() if isinstance(name, np.generic) else name
            features.append(Feature(name, *(float(values[j]) for values in contrast)))
    return tuple(features)


def excerpts(documents: Sequence[str], places: np.ndarray) -> tuple[str, ...]:
    """The beginnings of some documents, on one line each and without control characters."""
    texts = []
    for i in places.tolist():
        text = documents[i]
        start = " ".join(("" if text is None else str(text))[: 4 * EXCERPT].split())
        start = "".join(c for c in start if c.isprintable())
        texts.append(start if len(start) <= EXCERPT else f"{start[: EXCERPT - 1]}…")
    return tuple(texts)


def check_choices(rows: Any, kind: str, metric: str, top: int) -> tuple[str, str]:
    for name, value, one, other in (
        ("kind", kind, "counts", "numbers"),
        ("metric", metric, "euclidean", "cosine"),
    ):
        if value not in ("auto", one, other):
            raise ValueError(
                f"describe({name}={value!r}) is unknown. Choose 'auto', {one!r} or {other!r}."
            )
    if not isinstance(top, int | np.integer) or top < 1:
        raise ValueError(f"describe(top={top!r}) must be an integer from 1 up.")
    sparse = sp.issparse(rows)
    values = rows.data if sparse else rows
    negative = bool(values.size and values.min() < 0)
    if kind == "counts" and negative:
        raise ValueError(
            "describe(kind='counts') needs values of 0 or more, but X has negative ones. Use "
            "kind='numbers'."
        )
    if kind == "auto":
        kind = "counts" if sparse and not negative else "numbers"
    if metric == "auto":
        metric = "cosine" if sparse else "euclidean"
    return kind, metric


def sum_by_cluster(rows: Any, codes: np.ndarray, k: int) -> Any:
    """(k, d) sums of the rows of every cluster; sparse for sparse rows."""
    cells = (np.ones(len(codes)), (codes, np.arange(len(codes))))
    return sp.csr_array(cells, shape=(k, len(codes))) @ rows


# --- Clusters against the other rows, feature by feature ---


def contrasts(X: Any, codes: np.ndarray, k: int, kind: str) -> Iterator[Contrast]:
    """One for each cluster from 0 to k - 1. Rows with a negative code are left out."""
    X, codes = (X, codes) if (codes >= 0).all() else (X[codes >= 0], codes[codes >= 0])
    counts = np.bincount(codes, minlength=k)
    if kind == "counts":
        sums = sum_by_cluster(X, codes, k)
        total = np.asarray(sums.sum(axis=0), np.float64).ravel()
        for j in range(k):
            inside = dense_row(sums, j)
            outside = np.maximum(total - inside, 0.0)
            yield Contrast(
                log_odds(inside, outside),
                inside / max(1, counts[j]),
                outside / max(1, len(codes) - counts[j]),
            )
        return
    mean = np.zeros(X.shape[1]) if sp.issparse(X) else np.asarray(X, np.float64).mean(axis=0)
    centered: Any = X if sp.issparse(X) else np.asarray(X, np.float64) - mean
    sums = sum_by_cluster(centered, codes, k)
    squared = centered.multiply(centered) if sp.issparse(X) else centered**2
    squares = sum_by_cluster(squared, codes, k)
    totals = [np.asarray(s.sum(axis=0)).ravel() for s in (sums, squares)]
    for j in range(k):
        first, second = dense_row(sums, j), dense_row(squares, j)
        others = len(codes) - counts[j]
        score, a, b = standardized_difference(
            (counts[j], first, second), (others, totals[0] - first, totals[1] - second)
        )
        yield Contrast(score, a + mean, b + mean)


def log_odds(inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """The log-odds ratio of every word with an informative prior, over its standard error.

    >>> log_odds(np.array([20.0, 5.0, 5.0]), np.array([5.0, 5.0, 20.0])).round(2)
    array([ 4.38,  0.  , -4.38])
    """
    total = inside + outside
    prior = 0.1 * total
    n, m = inside.sum() + prior.sum(), outside.sum() + prior.sum()
    a, b = inside + prior, outside + prior
    used = total > 0
    score = np.zeros(len(inside))
    # The odds of the only word of a side would be infinite: leave the others one part in 10^9.
    other_a = np.maximum(n - a[used], 1e-9 * max(n, 1e-300))
    other_b = np.maximum(m - b[used], 1e-9 * max(m, 1e-300))
    ratio = np.log(a[used] / other_a) - np.log(b[used] / other_b)
    score[used] = ratio / np.sqrt(1 / a[used] + 1 / b[used])
    return score


def standardized_difference(
    inside: tuple, outside: tuple
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The difference of two means over the root of the mean variance; and the means.

    A side is (count, sums, sums of squares). Where neither side varies, the variance of all
    rows takes the place of the mean variance; where that is 0 too, the result is 0.
    """
    (n, s, q), (m, t, r) = inside, outside
    a, b = s / max(n, 1), t / max(m, 1)
    if n == 0 or m == 0:
        return np.zeros(len(a)), a, b
    within = (np.maximum(q / n - a * a, 0.0) + np.maximum(r / m - b * b, 0.0)) / 2
    mean = (s + t) / (n + m)
    total = np.maximum((q + r) / (n + m) - mean * mean, 0.0)
    # Rounding may leave a small variance where there is none.
    within = np.where(within > 1e-12 * np.maximum(total, 1e-300), within, total)
    score = np.divide(a - b, np.sqrt(within), out=np.zeros(len(a)), where=within > 0)
    return score, a, b


def dense_row(sums: Any, j: int) -> np.ndarray:
    row = sums[[j]].toarray() if sp.issparse(sums) else sums[j]
    return np.asarray(row, np.float64).ravel()

"""``describe``: typical rows, borderline rows, features and keywords of each cluster.

Typical rows are nearest to the center, borderline rows nearly as near to another one. Features
are those that set the cluster apart (``contrast``); keywords where the features are words.

The notes' section on evaluating clusterings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.contrast import Contrast, contrasts
from tacit.core.notebook import Markup, html_notes, html_table
from tacit.data.bad_values import check_scale
from tacit.kernels.distances import between_rows
from tacit.kernels.unit_rows import unit_rows
from tacit.measure.distance_sums import load_rows
from tacit.measure.labels import by_size, codes_of

__all__ = ["ClusterDescription", "Descriptions", "Feature", "describe"]

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
        return {
            **asdict(self),
            "label": getattr(self.label, "item", lambda: self.label)(),
            "nearest": list(self.nearest),
            "borderline": [{"row": row, "other": other} for row, other in self.borderline],
            "features": [feature.to_dict() for feature in self.features],
            "keywords": list(self.keywords),
            "examples": list(self.examples),
        }

    def __str__(self) -> str:
        return f"{self.cluster}: {self.size:,} rows ({self.share:.0%}), {self.gist}"

    @property
    def gist(self) -> str:
        """Keywords, or the features with their scores."""
        if self.keywords:
            return ", ".join(self.keywords)
        return ", ".join(f"{each.name} {each.score:+.1f}" for each in self.features) or "-"

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
        return {"clusters": [each.to_dict() for each in self], "notes": list(self.notes)}

    def __str__(self) -> str:
        return "\n".join([*map(str, self), *self.notes])

    def _repr_html_(self) -> str:
        table = html_table(HEADINGS, map(html_cells, self), right=(0, 1, 2))
        return table + html_notes(self.notes)


def html_cells(each: ClusterDescription) -> list[object]:
    """Words and documents are untrusted: escaped, and in ``bdi`` for their text direction."""
    quotes = (f"<br><small><bdi>{escape(text)}</bdi></small>" for text in each.examples)
    gist = Markup(f"<bdi>{escape(each.gist)}</bdi>{''.join(quotes)}")
    return [each.cluster, f"{each.size:,}", f"{each.share:.0%}", gist]


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
    top : int
        Most rows and features of each cluster.
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
    numbered = number_by_size(labels, rows.shape[0])
    kind, metric = check_choices(rows, kind, metric, top)
    for given, size, what, each in (
        (feature_names, rows.shape[1], "feature_names", "column"),
        (documents, rows.shape[0], "documents", "row"),
    ):
        if given is not None and len(given) != size:
            raise ValueError(
                f"describe got {len(given):,} {what} for {size:,} {each}s. Give one per {each}."
            )
    codes = numbered.codes
    distances = to_centers(rows, numbered, centers, metric)
    words = feature_names is not None and kind == "counts"
    clusters = []
    for j, contrast in enumerate(contrasts(rows, codes, len(numbered.names), kind)):
        members = np.flatnonzero(codes == j)
        nearest = members[np.argsort(distances[members, j], kind="stable")[:top]]
        features = strongest(contrast, feature_names, top, positive=kind == "counts")
        clusters.append(
            ClusterDescription(
                cluster=j,
                label=numbered.names[j],
                size=len(members),
                share=len(members) / int((codes >= 0).sum()),
                nearest=tuple(nearest.tolist()),
                borderline=borderline_rows(distances, members, j, top),
                features=features,
                keywords=tuple(str(each.name) for each in features) if words else (),
                examples=() if documents is None else excerpts(documents, nearest),
            )
        )
    outside = int((codes < 0).sum())
    notes = [f"{outside:,} rows are in no cluster."] if outside else []
    return Descriptions(clusters, notes=notes)


# --- Its parts ---


class NumberedLabels(NamedTuple):
    """Clusters numbered by size, and their labels."""

    codes: np.ndarray  # (n,) -1 for rows in no cluster
    names: np.ndarray  # (k,) the labels
    order: np.ndarray  # (k,) position of each among the sorted labels


def number_by_size(labels: Any, n: int) -> NumberedLabels:
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
    return NumberedLabels(codes, known.names[order], order - order.min())


def to_centers(rows: Any, labels: NumberedLabels, centers: Any, metric: str) -> np.ndarray:
    """(n, k) distances to the centers, in the order of size."""
    k, d = len(labels.names), rows.shape[1]
    if metric == "cosine":
        rows, _ = unit_rows(rows if rows.dtype.kind == "f" else rows.astype(np.float64))
    if centers is None:
        inside = np.flatnonzero(labels.codes >= 0)
        cells = (np.ones(len(inside)), (labels.codes[inside], inside))
        sums = sp.csr_array(cells, shape=(k, rows.shape[0])) @ rows
        sums = sums.toarray() if sp.issparse(sums) else np.asarray(sums, np.float64)
        middle = sums / np.bincount(labels.codes[inside], minlength=k)[:, None]
    else:
        middle = np.asarray(centers, np.float64)
        if middle.shape != (k, d):
            raise ValueError(
                f"describe(centers=...) has shape {middle.shape}, but there are {k} clusters "
                f"of rows of {d} columns. Give one center per cluster, or none."
            )
        middle = middle[labels.order]
    if metric == "cosine":
        middle, _ = unit_rows(middle)
        return np.asarray(1.0 - rows @ middle.T)
    if sp.issparse(rows):
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()[:, None]
        near = squares - 2 * (rows @ middle.T) + (middle**2).sum(axis=1)
        return np.sqrt(np.maximum(near, 0.0))
    return between_rows(np.ascontiguousarray(rows, np.float64), np.ascontiguousarray(middle))


def borderline_rows(
    distances: np.ndarray, members: np.ndarray, own: int, top: int
) -> tuple[tuple[int, int], ...]:
    """The members that another center is nearly as near to, or nearer; and which."""
    if distances.shape[1] < 2:
        return ()
    to_own = distances[members, own]
    others = distances[members].copy()
    others[:, own] = np.inf
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
        start = "".join(each for each in start if each.isprintable())
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

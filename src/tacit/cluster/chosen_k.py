"""The decision of ``choose_k``: a number of clusters, the table behind it, and the reasons.

1. Are there clusters? A k is *significant* if its silhouette lies ``SIGNIFICANT`` standard
   deviations above that of every kind of data without clusters. If none is, the result is 1;
   and so if no such k has half of the rows (``APART``) in clusters that stand apart
   (``k_trials``): then they are pieces of something continuous.
2. How many? A k is *stable* if every one of its clusters is recovered from half of the rows
   (``STABLE``). A cluster cut in two is not stable, so the largest stable k is chosen. One
   normal cloud cut in two is stable too: so the silhouette must also exceed that of data
   without clusters by a fraction (``CLEAR``) of the largest excess.
3. If none is stable, clusters overlap. The k is chosen whose mean stability is furthest above
   that of data without clusters, times the root of 1 - 1/k: of all pairs of rows, k clusters
   can tell apart that fraction. If it is hardly above (``LEAST``), the result is 1.
4. If the gap statistic has a clear peak at a larger k, whose clusters are recognizable
   (``RECOGNIZABLE``) and whose silhouette is not much lower (``SHARP``), that is chosen
   instead: it separates clusters that touch.

The limits for stability are close to those that Hennig (2007) recommends: 0.85 and more for
clusters that are highly stable, below 0.6 for those not to be trusted.
"""

import math
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.cluster.null_reference import Association
from tacit.core.notebook import html_notes, html_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ChosenK", "Evidence", "KRow", "decide", "gap_peak", "knee_of", "compare_with_null"]

# The benchmark ``choose_k`` notices these.
SIGNIFICANT = 4.0  # standard deviations: about ten numbers are tried
STABLE = 0.9
RECOGNIZABLE = 0.65
SHARP = 0.8  # of the silhouette of the smaller number
CLEAR = 0.3  # of the largest excess silhouette
APART = 0.5  # of the rows
LEAST = 0.25  # stability above chance, where 1 is perfect; words dealt out at random reach 0.17
COLUMNS = {  # title, format
    "k": ("k", "{}"),
    "inertia": ("inertia", "{:.4g}"),
    "explained": ("explained", "{:.3f}"),
    "silhouette": ("silhouette", "{:.3f}"),
    "davies_bouldin": ("Davies-B.", "{:.3f}"),
    "gap": ("gap", "{:.3f}"),
    "gap_error": ("+-", "{:.3f}"),
    "bic": ("BIC", "{:.0f}"),
    "stability": ("stability", "{:.3f}"),
}


@dataclass(frozen=True)
class KRow:
    """Everything measured for one number of clusters. None where it is not defined.

    ``stability`` is that of the least stable cluster: its mean Jaccard index with the most
    similar cluster of half of the rows. ``null_silhouette`` is the largest of data without
    clusters, ``null_stability`` the largest mean of a kind. ``gain`` is how far the mean
    stability of all clusters lies above that of data without clusters; 1 is perfect. A low BIC
    is good.
    """

    k: int
    inertia: float
    explained: float  # fraction of the total scatter that lies between clusters
    silhouette: float | None = None
    davies_bouldin: float | None = None
    calinski_harabasz: float | None = None
    gap: float | None = None
    gap_error: float | None = None
    bic: float | None = None
    stability: float | None = None
    null_silhouette: float | None = None
    null_stability: float | None = None
    gain: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON would have it."""
        return asdict(self)


@dataclass(frozen=True)
class ChosenK:
    """A number of clusters with its reasons.

    Attributes
    ----------
    best : int
        The number recommended. 1 means that there are no clusters.
    table : tuple of KRow
        One for every k tried.
    reasons : tuple of str
        Why, in sentences, the most important first.
    notes : tuple of str
        What was done to the data: rows sampled, columns reduced, numbers of clusters left out.
    knee : int or None
        Where the inertia stops falling fast, by the scree plot.
    method : str
        The class of the clusterer.
    rows : int
        Rows used.
    """

    best: int
    table: tuple[KRow, ...]
    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()
    knee: int | None = None
    method: str = "KMeans"
    rows: int = 0

    def __getitem__(self, k: int) -> KRow:
        """The row of the table for ``k`` clusters."""
        rows = {row.k: row for row in self.table}
        if k not in rows:
            raise KeyError(f"k={k} was not tried; {list(rows)} were.")
        return rows[k]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        lists = {name: list(getattr(self, name)) for name in ("reasons", "notes")}
        return {**vars(self), "table": [row.to_dict() for row in self.table], **lists}

    def to_frame(self) -> "pd.DataFrame":
        """The table as a pandas DataFrame, one row for every k."""
        import pandas as pd

        return pd.DataFrame([row.to_dict() for row in self.table]).set_index("k")

    @property
    def headline(self) -> str:
        """The answer in one line."""
        return "No clusters (k = 1)." if self.best == 1 else f"{self.best} clusters."

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [self.headline, *(f"  {reason}" for reason in self.reasons), ""]
        for number, line in enumerate(cells):
            mark = " *" if number and self.table[number - 1].k == self.best else ""
            pairs = zip(line, widths, strict=True)
            lines.append("  ".join(cell.rjust(width) for cell, width in pairs) + mark)
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def _cells(self) -> list[list[str]]:
        columns = []
        for field, (title, form) in COLUMNS.items():
            values = [getattr(row, field) for row in self.table]
            if any(value is not None for value in values):
                cells = ("" if value is None else form.format(value) for value in values)
                columns.append([title, *cells])
        return [list(row) for row in zip(*columns, strict=True)]

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        chosen = [i for i, row in enumerate(self.table) if row.k == self.best]
        table = html_table(head, body, right=range(len(head)), bold=chosen)
        reasons = "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons)
        return (
            f"<p><b>{escape(self.headline)}</b></p><ul>{reasons}</ul>"
            f"{table}{html_notes(self.notes)}"
        )


# --- The decision ---


class Evidence(NamedTuple):
    """The figures of each k against data without clusters."""

    above: np.ndarray  # standard deviations of the silhouette above the null; NaN for k = 1
    least: np.ndarray  # stability of the least stable cluster
    gain: np.ndarray  # mean stability above the null, from 0 to 1
    clear: np.ndarray  # silhouette above the null, scaled to a maximum of 1; 0 for k = 1
    apart: np.ndarray  # fraction of rows in clusters with gaps around them


def compare_with_null(
    observed: dict[str, list], null: dict[str, dict[str, np.ndarray]]
) -> Evidence:
    """Compare the figures of the rows with those of each kind of reference.

    ``observed`` has for each k the "silhouette", the fraction of rows "apart" and the
    "stability" of every cluster; ``null`` for each kind arrays of (references, ks):
    "silhouette", "least" and "mean" stability.
    """
    silhouette = np.array(observed["silhouette"], np.float64)  # NaN for None
    least = np.array([values.min() for values in observed["stability"]])
    mean = np.array([values.mean() for values in observed["stability"]])
    above = np.full(len(silhouette), np.inf)
    for figures in null.values():
        values = figures["silhouette"]
        known = np.isfinite(values).all(axis=0)
        # The variance hardly depends on k, so that of all k is the better estimate.
        spread = math.sqrt(values[:, known].var(axis=0, ddof=1).mean()) if known.any() else 0.0
        above = np.minimum(above, (silhouette - values.mean(axis=0)) / max(spread, 1e-9))
    chance, expected = (
        np.max([figures[name].mean(axis=0) for figures in null.values()], axis=0)
        for name in ("silhouette", "mean")
    )
    gain = np.clip((mean - expected) / np.maximum(1 - expected, 0.05), 0.0, 1.0)
    excess = np.nan_to_num(np.maximum(silhouette - chance, 0.0))
    clear = excess / max(float(excess.max()), 1e-12)
    return Evidence(above, least, gain, clear, np.array(observed["apart"]))


def decide(
    table: list[KRow], evidence: Evidence, association: Association | None = None
) -> tuple[int, list[str]]:
    """The recommended number of clusters, and why."""
    if association is not None and not association.significant:
        return 1, [
            "The words occur together no more than if they were dealt out to the documents at "
            "random, so there are no topics to divide them by.",
            f"The strongest direction has {association.ratio:.2f} times the singular value of "
            "that in dealt words.",
        ]
    significant = [i for i, z in enumerate(evidence.above) if z >= SIGNIFICANT]
    if not significant:
        return 1, explain_none(table, evidence)
    sharpest = max(significant, key=lambda i: evidence.clear[i])
    if all(evidence.apart[i] < APART for i in significant):
        row, apart = table[sharpest], evidence.apart[sharpest]
        return 1, [
            f"{row.k} clusters are sharper than chance, with a silhouette of "
            f"{row.silhouette:.3f}, but they are pieces of something continuous: "
            f"{1 - apart:.0%} of the rows are in clusters that run into another without a gap.",
            "Clusters of such a shape take single linkage or a density, not centers.",
        ]
    clear = [i for i in significant if evidence.clear[i] >= CLEAR]
    stable = [i for i in clear if evidence.least[i] >= STABLE]
    score = evidence.gain * np.sqrt([1 - 1 / row.k for row in table])
    best = stable[-1] if stable else max(significant, key=lambda i: score[i])
    if not stable and evidence.gain[best] < LEAST:
        return 1, [
            "No number of clusters is found again in half of the rows much better than in data "
            f"without clusters: at best k = {table[best].k}, by {evidence.gain[best]:.0%} of "
            f"what perfect stability would be; {LEAST:.0%} are required."
        ]
    reasons = [explain_stability(table, evidence, best, bool(stable))]
    peak = gap_peak(table)
    if peak is not None and peak > best and peak in significant:
        row, before = table[peak], table[best]
        sharp = (row.silhouette or 0.0) >= SHARP * (before.silhouette or 0.0)
        if sharp and evidence.least[peak] >= RECOGNIZABLE:
            reasons = [
                f"The gap statistic peaks at {row.k} clusters ({row.gap:.2f}, "
                f"{before.gap:.2f} for {before.k}), and the least stable of them still has a "
                f"Jaccard index of {evidence.least[peak]:.2f} with the most similar cluster "
                "of half of the rows."
            ]
            best = peak
    row, above = table[best], evidence.above[best]
    sharper = (
        f"{row.k} clusters are sharper than chance: a silhouette of {row.silhouette:.3f}, data "
        f"without clusters has {row.null_silhouette:.3f} at most "
        f"({'more than 10' if above > 10 else f'{above:.0f}'} standard deviations)."
    )
    return row.k, [sharper, *reasons, *other_measures(table, best)]


def gap_peak(table: list[KRow]) -> int | None:
    """Where the gap is largest, if it is less, beyond its error, on both sides."""
    gaps = [row.gap if row.gap is not None else -math.inf for row in table]
    i = int(np.argmax(gaps))
    if not 0 < i < len(table) - 1:
        return None
    errors = [row.gap_error or 0.0 for row in table]
    clear = gaps[i] > gaps[i + 1] + errors[i + 1] and gaps[i] > gaps[i - 1]
    return i if clear else None


def knee_of(ks: tuple[int, ...], inertias: np.ndarray) -> int | None:
    """Where the curve of the inertia is farthest below the line between its ends.

    >>> knee_of((1, 2, 3, 4, 5), np.array([100.0, 60.0, 10.0, 8.0, 6.0]))
    3
    """
    if len(ks) < 3 or not inertias[0] > inertias[-1]:
        return None
    x = (np.array(ks) - ks[0]) / (ks[-1] - ks[0])
    y = (inertias - inertias[-1]) / (inertias[0] - inertias[-1])
    return int(ks[int(np.argmax(1 - x - y))])


# --- Sentences ---


def explain_none(table: list[KRow], evidence: Evidence) -> list[str]:
    tried = [i for i, z in enumerate(evidence.above) if math.isfinite(z)]
    if not tried:
        return ["There is nothing to compare."]
    i = max(tried, key=lambda i: evidence.above[i])
    row = table[i]
    return [
        f"No number of clusters is sharper than in data without clusters: at best k = {row.k}, "
        f"with a silhouette of {row.silhouette:.3f} where chance alone gives up to "
        f"{row.null_silhouette:.3f}.",
        f"That is {evidence.above[i]:.1f} standard deviations above chance; "
        f"{SIGNIFICANT:.0f} are required.",
    ]


def explain_stability(table: list[KRow], evidence: Evidence, i: int, stable: bool) -> str:
    row = table[i]
    if stable:
        larger = f" No larger number reaches {STABLE}." if i < len(table) - 1 else ""
        return (
            f"Half of the rows give the same {row.k} clusters again: the Jaccard index of the "
            f"least stable is {evidence.least[i]:.2f}.{larger}"
        )
    return (
        f"They overlap: the Jaccard index of the least stable cluster with the most similar "
        f"one of half of the rows is {evidence.least[i]:.2f} ({row.null_stability:.2f} in data "
        "without clusters). On average over the clusters no other number is further above "
        "chance."
    )


def other_measures(table: list[KRow], best: int) -> list[str]:
    """The numbers that single measures prefer."""
    chosen = table[best].k
    agree: list[str] = []
    differ: list[str] = []
    for name, field, extreme in (
        ("the silhouette", "silhouette", max), ("Davies-Bouldin", "davies_bouldin", min),
        ("the gap", "gap", max), ("BIC", "bic", min),
    ):  # fmt: skip
        known = {row.k: getattr(row, field) for row in table}
        known = {k: value for k, value in known.items() if value is not None}
        k = extreme(known, key=known.__getitem__, default=None)
        if k == chosen:
            agree.append(name)
        elif k is not None:
            differ.append(f"{name} k = {k}")
    sentences = []
    if agree:
        sentences.append(f"Also best at k = {chosen}: {', '.join(agree)}.")
    if differ:
        sentences.append(f"Alone would prefer: {', '.join(differ)}.")
    return sentences

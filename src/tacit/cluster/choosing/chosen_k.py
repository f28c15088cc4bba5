"""What ``choose_k`` answers: a number, the table behind it, and the reasons."""

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

__all__ = ["ChosenK", "KRow"]

COLUMNS = {  # title, digits
    "k": ("k", 0),
    "inertia": ("inertia", None),
    "explained": ("explained", 3),
    "silhouette": ("silhouette", 3),
    "davies_bouldin": ("Davies-B.", 3),
    "gap": ("gap", 3),
    "gap_error": ("+-", 3),
    "bic": ("BIC", 0),
    "stability": ("stability", 3),
}


@dataclass(frozen=True)
class KRow:
    """Everything measured for one number of clusters. None where it is not defined.

    ``stability`` is that of the least stable cluster: the mean Jaccard index with its like when
    half of the rows are clustered, 1 for always the same. ``null_silhouette`` is the highest
    that data without clusters reached, ``null_stability`` the mean of the kind that reached
    more. BIC is low where it is good, as in scikit-learn.
    """

    k: int
    inertia: float
    explained: float  # share of the total scatter that lies between clusters
    silhouette: float | None = None
    davies_bouldin: float | None = None
    calinski_harabasz: float | None = None
    gap: float | None = None
    gap_error: float | None = None
    bic: float | None = None
    stability: float | None = None
    null_silhouette: float | None = None
    null_stability: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON would have it."""
        return asdict(self)


@dataclass(frozen=True)
class ChosenK:
    """A number of clusters with its reasons.

    Attributes
    ----------
    best : int
        The number recommended. 1 means that there are no clusters to speak of.
    table : tuple of KRow
        One for every k tried.
    reasons : tuple of str
        Why, in sentences, the weightiest first.
    notes : tuple of str
        What was done to the data: rows sampled, columns reduced, numbers of clusters left out.
    knee : int or None
        Where the inertia stops falling fast, by the scree plot.
    method : str
        What made the clusters.
    rows : int
        Rows looked at.
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
        for row in self.table:
            if row.k == k:
                return row
        raise KeyError(f"k={k} was not tried; {[row.k for row in self.table]} were.")

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {
            "best": self.best,
            "table": [row.to_dict() for row in self.table],
            "reasons": list(self.reasons),
            "notes": list(self.notes),
            "knee": self.knee,
            "method": self.method,
            "rows": self.rows,
        }

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame, one row for every k."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "ChosenK.to_frame needs the package pandas. Install it, or use .table or "
                ".to_dict()."
            ) from error
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
        used = [
            field
            for field in COLUMNS
            if any(getattr(row, field) is not None for row in self.table)
        ]
        cells = [[COLUMNS[field][0] for field in used]]
        for row in self.table:
            cells.append([written(getattr(row, field), COLUMNS[field][1]) for field in used])
        return cells

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        lines = [f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>"]
        for row, cells in zip(self.table, body, strict=True):
            style = ' style="font-weight:bold"' if row.k == self.best else ""
            data = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            lines.append(f"<tr{style}>{data}</tr>")
        reasons = "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return (
            f"<p><b>{escape(self.headline)}</b></p><ul>{reasons}</ul>"
            f"<table>{''.join(lines)}</table>{notes}"
        )


def written(value: float | None, digits: int | None) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if digits is None else f"{value:.{digits}f}"

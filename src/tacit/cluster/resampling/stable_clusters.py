"""What ``stability`` answers: how sure each cluster and each row is."""

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from tacit.cluster.hierarchy.dendrogram import cut

__all__ = ["ClusterStability", "RowStability", "Stability"]

TITLES = ("cluster", "rows", "confidence", "recovered", "rival", "with rival")


@dataclass(frozen=True)
class ClusterStability:
    """How sure a cluster is.

    ``confidence`` is how often two of its rows stay together; ``recovered`` how much of it the
    most similar cluster of a resample shares with it (the mean Jaccard index); ``rival`` the
    cluster that its rows are most often mixed with, and ``rival_share`` how often.
    """

    cluster: int
    size: int
    confidence: float
    recovered: float
    rival: int | None = None
    rival_share: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON would have them."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class RowStability:
    """How sure every row is: arrays of n_rows.

    ``confidence`` is how often the row is with the members of its own cluster; ``rival`` the
    other cluster that it is with most, and ``rival_share`` how often. -1 is no cluster.
    """

    labels: np.ndarray
    confidence: np.ndarray
    rival: np.ndarray
    rival_share: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def to_dict(self) -> dict[str, Any]:
        """The columns as JSON would have them."""
        return {name: values.tolist() for name, values in vars(self).items()}


@dataclass(frozen=True, eq=False)
class Stability:
    """How sure a clustering is.

    Attributes
    ----------
    clusters : tuple of ClusterStability
    rows : RowStability, columns ``labels``, ``confidence``, ``rival``, ``rival_share``
    agreement : float
        Mean adjusted Rand index of the resamples with the clusters of the whole data.
    tree : array of shape (m - 1, 4) or None
        SciPy's linkage matrix of the consensus: rows join at the share of resamples that have
        them apart. For ``cut``, ``tacit.plot.dendrogram`` and ``to_newick``.
    tree_rows : array of m row numbers
        Which rows the leaves of the tree are.
    coassociation : array of shape (m, m) or None
        How often each two of those rows were together.
    n_resamples, perturb : what was done
    notes : tuple of str
    """

    clusters: tuple[ClusterStability, ...]
    rows: RowStability
    agreement: float
    tree: np.ndarray | None
    tree_rows: np.ndarray
    coassociation: np.ndarray | None
    n_resamples: int
    perturb: str
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> np.ndarray:
        """The cluster of every row; -1 for none."""
        return self.rows.labels

    def least_sure(self, top: int = 10) -> np.ndarray:
        """The rows that stay with their cluster least, the least sure first."""
        inside = np.flatnonzero(self.rows.labels >= 0)
        order = np.argsort(self.rows.confidence[inside], kind="stable")
        return inside[order][:top]

    def consensus(self, k: int) -> np.ndarray:
        """The tree cut into ``k`` clusters: a label for each of ``tree_rows``."""
        if self.tree is None:
            raise ValueError("There is no tree to cut: call stability(..., tree=True).")
        return cut(self.tree, k=k)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values, except the co-association matrix."""
        return {
            "clusters": [cluster.to_dict() for cluster in self.clusters],
            "rows": self.rows.to_dict(),
            "agreement": self.agreement,
            "tree": None if self.tree is None else self.tree.tolist(),
            "tree_rows": self.tree_rows.tolist(),
            "n_resamples": self.n_resamples,
            "perturb": self.perturb,
            "notes": list(self.notes),
        }

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "Stability.to_frame needs the package pandas. Install it, or use .rows or "
                ".to_dict()."
            ) from error
        return pd.DataFrame(vars(self.rows))

    @property
    def headline(self) -> str:
        """The answer in one line."""
        many = f"{len(self.clusters)} cluster{'s' if len(self.clusters) != 1 else ''}"
        return (
            f"{many}, agreement {self.agreement:.2f} over {self.n_resamples} resamples "
            f"({self.perturb})"
        )

    def __str__(self) -> str:
        lines = ["  ".join(title.rjust(len(title)) for title in TITLES)]
        for cells in map(cells_of, self.clusters):
            pairs = zip(cells, TITLES, strict=True)
            lines.append("  ".join(cell.rjust(len(title)) for cell, title in pairs).rstrip())
        return "\n".join([self.headline, *lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = [f"<tr>{''.join(f'<th>{title}</th>' for title in TITLES)}</tr>"]
        for cells in map(cells_of, self.clusters):
            lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<p>{escape(self.headline)}</p><table>{''.join(lines)}</table>{notes}"


def cells_of(cluster: ClusterStability) -> list[str]:
    return [
        str(cluster.cluster),
        str(cluster.size),
        f"{cluster.confidence:.2f}",
        f"{cluster.recovered:.2f}",
        "" if cluster.rival is None else str(cluster.rival),
        "" if cluster.rival_share is None else f"{cluster.rival_share:.2f}",
    ]

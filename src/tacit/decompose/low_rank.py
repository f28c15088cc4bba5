"""Rows as sums of a few vectors, and the error of that against their rank, with its knee.

    collect   of every row, the squared length and what each component explains of it

Vectors have rank k with mean squared error e when k of their directions miss e of their squared
length per row (the notes' definition). For orthonormal components the error of every rank comes
from one pass: the squared length less the squares of the first k coordinates.

``ProjectionEstimator`` is the base class of the transformers that project rows onto components.

The notes' sections on low-dimensional representation with error and on principal components.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array

from tacit.core.engines import Engine, Serial
from tacit.core.estimator import Estimator, engine_for
from tacit.core.stats import Stats
from tacit.data.bad_values import check_values
from tacit.data.checked import check_answer, check_table
from tacit.data.table import Table, parts
from tacit.decompose.gram_panels import chunks, project, to_panels

__all__ = [
    "Projection", "ProjectionEstimator", "knee_of", "low_rank_error", "project_block",
    "rank_errors",
]  # fmt: skip

FLAT = 0.05  # how far below the straight line a knee must be, of the fall from end to end


class Projection(NamedTuple):
    """The vectors that rows are projected onto."""

    panels: np.ndarray
    number: int
    center: np.ndarray | None = None  # (d,) subtracted from every row first


def project_block(params: Projection, block: Any) -> np.ndarray:
    """The projected rows of a block: (n, k) float64."""
    return project(parts(block).rows, params.panels, params.number, params.center)


class ProjectionEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A transformer that projects rows onto ``components_``."""

    components_: np.ndarray

    def _project(
        self, X: Any, vectors: np.ndarray, center: np.ndarray | None = None, dtype: Any = float
    ) -> np.ndarray:
        """(n, k) rows of X, less the center, times vectors (k, d), in the dtype of the rows."""
        table, engine = check_table(self, X, reset=False), engine_for(self)
        params = Projection(to_panels(vectors, engine, dtype), len(vectors), center)
        kind = np.float32 if table.dtype == np.float32 else np.float64
        out = np.empty((len(table), len(vectors)), kind)
        for block, part in zip(table, engine.map(project_block, params, table), strict=True):
            with np.errstate(over="ignore"):
                out[block.start : block.stop] = part
            if not np.isfinite(out[block.start : block.stop]).all():
                check_block(block, table, type(self).__name__)
                check_answer(self, "transform", out[block.start : block.stop])
        return out

    def _coordinates(self, X: Any, k: int, dtype: Any = (np.float64, np.float32)) -> np.ndarray:
        """Rows of k coordinates, checked, for ``inverse_transform``."""
        try:
            X = check_array(X, dtype=list(dtype))
        except OverflowError:
            raise ValueError(
                f"{type(self).__name__}.inverse_transform: X holds a whole number too large "
                "for a float, past 1e308. Give it what transform gave."
            ) from None
        if X.shape[1] != k:
            raise ValueError(
                f"{type(self).__name__}.inverse_transform needs rows of {k} components, but X "
                f"has {X.shape[1]} columns. Give it what transform gave."
            )
        return X

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_block(block: Any, table: Table, name: str) -> None:
    """DataError with row and column for a value that is not finite."""
    check_values(parts(block.load()).rows, name, block.start, table.source)


# --- The error at every rank ---


@dataclass(frozen=True)
class RankSums(Stats):
    """Squared lengths that are left at every rank."""

    weight: float
    left: np.ndarray  # (k + 1,) summed over rows
    relative: np.ndarray  # (k + 1,) each divided by the squared length of its row first


def collect_errors(params: Projection, block: Any) -> RankSums:
    """The squared length of rows that the first 0, 1, ..., k components leave."""
    rows, _, weights = parts(block)
    weights = np.ones(rows.shape[0]) if weights is None else weights
    squares = project_block(params, block) ** 2  # (n, k)
    lengths = squared_lengths(rows, params.center)
    # From the last component back, so that small remainders are not lost in rounding.
    beyond = np.maximum(lengths - squares.sum(axis=1), 0.0)
    left = np.concatenate([squares, beyond[:, None]], axis=1)[:, ::-1].cumsum(axis=1)[:, ::-1]
    length = left[:, :1]
    fraction = np.divide(left, length, out=np.zeros_like(left), where=length > 0)
    return RankSums(float(weights.sum()), weights @ left, weights @ fraction)


def squared_lengths(rows: Any, center: np.ndarray | None) -> np.ndarray:
    """The squared length of every row less the center."""
    if not sp.issparse(rows):
        parts_ = [np.einsum("ij,ij->i", chunk, chunk) for chunk, _ in chunks(rows, center)]
        return np.concatenate(parts_) if parts_ else np.empty(0)
    squares = rows.multiply(rows).sum(axis=1)
    if center is None:
        return np.asarray(squares).ravel()
    return np.asarray(squares).ravel() - 2 * (rows @ center) + center @ center


def rank_errors(
    components: np.ndarray,
    table: Table,
    engine: Engine,
    *,
    center: np.ndarray | None = None,
    relative: bool = False,
) -> np.ndarray:
    """Mean squared error of the rows at ranks 0 to k, for orthonormal components (k, d)."""
    params = Projection(to_panels(components, engine), len(components), center)
    sums: RankSums = engine.reduce(collect_errors, params, table)
    return (sums.relative if relative else sums.left) / sums.weight


def low_rank_error(X: Any, basis: Any) -> float:
    """The mean squared error of rows that are represented in the span of a basis.

    The vectors of the basis need not be orthogonal or of length one: every row is replaced by
    its projection onto their span, which is the best that the span can do.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    basis : array of shape (k, d)

    Examples
    --------
    The notes' example of three vectors with rank 2 and an error of 2.28:

    >>> rows = np.array([[3.42, -1.33, 6.94], [7.30, 8.84, 1.95], [-6.00, -7.69, -6.86]])
    >>> round(low_rank_error(rows, [[8, 8, 4], [1, -4, 6]]), 2)
    2.29
    """
    vectors = np.atleast_2d(np.asarray(basis, np.float64))
    rows = X if sp.issparse(X) else np.asarray(X, np.float64)
    if vectors.shape[1] != rows.shape[1]:
        raise ValueError(
            f"low_rank_error: the rows have {rows.shape[1]} columns, but the vectors of the "
            f"basis have {vectors.shape[1]}. Give vectors of the same space."
        )
    if not np.isfinite(vectors).all():
        raise ValueError("low_rank_error: the basis holds values that are not finite.")
    _, sizes, spanning = np.linalg.svd(vectors, full_matrices=False)
    rank = int((sizes > max(vectors.shape) * np.finfo(float).eps * sizes.max(initial=0)).sum())
    spanning = spanning[:rank] if rank else np.zeros((1, rows.shape[1]))
    return float(rank_errors(spanning, Table.of(rows), Serial())[-1])


def knee_of(values: np.ndarray, ks: np.ndarray) -> int | None:
    """Where the curve is farthest below the line between its ends; None where it is not.

    >>> knee_of(np.array([10.0, 4.0, 1.0, 0.8, 0.6]), np.arange(1, 6))
    3
    >>> knee_of(np.array([4.0, 3.0, 2.0, 1.0]), np.arange(1, 5)) is None
    True
    """
    fall = values[0] - values[-1]
    if len(values) < 3 or not fall > 0:
        return None
    line = values[0] - fall * (ks - ks[0]) / (ks[-1] - ks[0])
    below = (line - values) / fall
    place = int(np.argmax(below))
    return int(ks[place]) if below[place] > FLAT else None

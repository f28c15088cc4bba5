"""The curse of dimension: what happens in many dimensions, and how many a data set really has.

The notes' facts are about rows that are uniform in the cube from -1 to 1: in many dimensions
most of them are in its rind, far from the center and from each other, and boxes that divide the
cube are nearly all empty. ``diagnose`` measures what of this holds for a data set: its
intrinsic dimension, which is often much smaller than the number of its columns; how far its
distances concentrate; and how many components it takes to come within a given error.

Facco, d'Errico, Rodriguez and Laio (2017), Estimating the intrinsic dimension of datasets by a
minimal neighborhood information. Sci. Rep. 7. Levina and Bickel (2004), Maximum likelihood
estimation of intrinsic dimension. NIPS 17; averaged as MacKay and Ghahramani (2005) do. Beyer,
Goldstein, Ramakrishnan and Shaft (1999), When is nearest neighbor meaningful? ICDT. The notes'
section on the curse of dimension.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from tacit.core.engines import Engine, get_engine, one_blas_thread
from tacit.core.randoms import key, permutation, seed_from
from tacit.data.bad_values import check_scale
from tacit.data.checked import is_table
from tacit.data.sparse_structure import check_structure
from tacit.data.table import Table
from tacit.decompose.classical_mds import inner_products
from tacit.kernels.distances import distance_matrix

__all__ = [
    "Diagnosis", "boxes_needed", "diagnose", "expected_squared_distance",
    "expected_squared_norm", "rind_share",
]  # fmt: skip

NEIGHBORS = 15  # of the estimate by Levina and Bickel
ERRORS = (0.1, 0.05, 0.01)  # of the variance, at which the rank is reported


# --- The cube from -1 to 1 ---


def rind_share(d: int, thickness: float) -> float:
    """The fraction of a cube that lies within ``thickness`` of its surface, 1 being half its
    edge: 1 - (1 - thickness)^d.

    >>> round(rind_share(3, 0.1), 3), round(rind_share(100, 0.1), 3)
    (0.271, 1.0)
    """
    check_dimension(d)
    if not 0 <= thickness <= 1:
        raise ValueError(f"rind_share needs a thickness from 0 to 1, not {thickness}.")
    if thickness == 1:
        return 1.0
    return -math.expm1(d * math.log1p(-thickness))


def expected_squared_norm(d: int) -> float:
    """The mean squared distance from the center, uniform in the cube: d / 3.

    >>> expected_squared_norm(30)
    10.0
    """
    return check_dimension(d) / 3


def expected_squared_distance(d: int) -> float:
    """The mean squared distance of two rows, uniform in the cube: 2 d / 3.

    >>> expected_squared_distance(30)
    20.0
    """
    return 2 * check_dimension(d) / 3


def boxes_needed(d: int, per_axis: int = 2) -> int:
    """The boxes of a histogram that divides every axis into ``per_axis`` parts.

    >>> boxes_needed(20), boxes_needed(3, per_axis=10)
    (1048576, 1000)
    """
    if per_axis < 1:
        raise ValueError(f"boxes_needed(per_axis={per_axis}) needs at least 1.")
    return int(per_axis) ** check_dimension(d)


def check_dimension(d: int) -> int:
    if d != int(d) or d < 1:
        raise ValueError(f"A dimension is a whole number of at least 1, not {d}.")
    return int(d)


# --- A data set ---


@dataclass(frozen=True)
class Diagnosis:
    """The result of ``diagnose``. Prints as sentences."""

    rows: int
    columns: int
    sampled: int  # rows that distances were computed of
    distinct: int  # of those
    two_nn: float | None  # intrinsic dimension, by the nearest two rows; None: cannot tell
    levina_bickel: float | None  # the same, by the nearest 15
    participation: float  # (sum of variances)^2 / sum of their squares: directions that matter
    ranks: dict[float, int]  # components that leave this fraction of the variance, or less
    distance_spread: float  # deviation of the distances over their mean: small is concentrated
    nearest_over_mean: float  # mean distance to the nearest row over the mean distance
    constant_columns: int

    def to_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON."""
        return {**asdict(self), "ranks": {f"{e:g}": k for e, k in self.ranks.items()}}

    def __str__(self) -> str:
        lines = [f"{self.rows:,} rows of {self.columns:,} columns"]
        if self.constant_columns:
            lines[0] += f", {self.constant_columns:,} of them constant"
        if self.two_nn is None or self.levina_bickel is None:
            lines.append("Intrinsic dimension: too few distinct rows to tell.")
        else:
            lines.append(
                f"Intrinsic dimension: about {self.two_nn:.1f} (nearest two rows) or "
                f"{self.levina_bickel:.1f} (nearest {NEIGHBORS})."
            )
        parts = [f"{k:,} for {error:.0%}" for error, k in self.ranks.items()]
        lines.append(f"Components that leave a fraction of the variance: {', '.join(parts)}.")
        lines.append(f"Directions that matter, by their variances: {self.participation:.1f}.")
        lines.append(
            f"Distances vary by {self.distance_spread:.0%} of their mean; the nearest row is "
            f"at {self.nearest_over_mean:.0%} of it."
        )
        if self.distance_spread < 0.1:
            lines.append("Distances are concentrated: nearest neighbors mean little.")
        return "\n".join(lines)


def diagnose(
    X: Any, *, sample: int = 2000, random_state: Any = 0, engine: str | Engine = "threads"
) -> Diagnosis:
    """Measure the dimension of a data set, from a sample of its rows.

    Parameters
    ----------
    X : array, CSR matrix or Table of shape (n, d)
    sample : int, most rows to compute distances between
    random_state : int, RandomState or None; chooses the sample
    engine : {"serial", "threads", "dask"} or Engine

    Examples
    --------
    A plane, rolled into ten columns:

    >>> rng = np.random.default_rng(0)
    >>> flat = rng.uniform(-1, 1, size=(800, 2))
    >>> diagnosis = diagnose(flat @ rng.normal(size=(2, 10)))
    >>> round(diagnosis.two_nn), diagnosis.ranks[0.01]
    (2, 2)
    """
    if is_table(X):
        table = Table.of(X)
    else:
        if sp.issparse(X):
            check_structure(X, "dimension")
        table = Table.of(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32]))
    n, d = table.shape
    if n < 2:
        raise ValueError(f"diagnose needs two rows or more, but the data has {n}.")
    place = permutation(key(seed_from(random_state), 0), n)[: max(2, sample)]
    rows = table.take(np.sort(place))
    check_scale(rows, "diagnose")
    worker = get_engine(engine)
    distances = distance_matrix(rows, engine=worker)
    variances = variances_of(rows, distances, worker)
    distinct = distinct_rows(distances)
    two_nn, levina_bickel = intrinsic(distances[np.ix_(distinct, distinct)])
    m = len(distances)
    pairs = distances[np.triu_indices(m, 1)]
    mean = float(pairs.mean())
    np.fill_diagonal(distances, np.inf)
    nearest = float(distances.min(axis=1).mean())
    return Diagnosis(
        rows=n,
        columns=d,
        sampled=m,
        distinct=len(distinct),
        two_nn=two_nn,
        levina_bickel=levina_bickel,
        participation=participation(variances),
        ranks={error: rank_at(variances, error) for error in ERRORS},
        distance_spread=float(pairs.std()) / mean if mean > 0 else 0.0,
        nearest_over_mean=nearest / mean if mean > 0 else 0.0,
        constant_columns=constant_columns(rows),
    )


def variances_of(rows: Any, distances: np.ndarray, engine: Engine) -> np.ndarray:
    """The variances along the principal components of the sample, falling."""
    with one_blas_thread():
        if not sp.issparse(rows) and rows.shape[1] <= rows.shape[0]:
            centered = np.asarray(rows, np.float64) - rows.mean(axis=0, dtype=np.float64)
            products = centered.T @ centered
        else:
            products = inner_products(distances, engine)[0]
        values = np.linalg.eigvalsh(products)[::-1]
    return np.maximum(values, 0.0)


def participation(variances: np.ndarray) -> float:
    squares = float((variances**2).sum())
    return float(variances.sum()) ** 2 / squares if squares > 0 else 0.0


def rank_at(variances: np.ndarray, error: float) -> int:
    """As few components as leave this fraction of the variance."""
    total = variances.sum()
    if not total > 0:
        return 0
    left = 1 - np.cumsum(variances) / total
    return int(np.argmax(left <= error + 1e-12)) + 1


def distinct_rows(distances: np.ndarray) -> np.ndarray:
    """Places of rows that equal none before them."""
    earlier = (distances == 0) & (np.tri(len(distances), k=-1) > 0)
    return np.flatnonzero(~earlier.any(axis=1))


def intrinsic(distances: np.ndarray) -> tuple[float | None, float | None]:
    """The dimension by the ratios of the distances to the nearest rows."""
    m = len(distances)
    if m < 2 * NEIGHBORS:
        return None, None
    nearest = np.partition(distances, np.arange(1, NEIGHBORS + 1), axis=1)[:, 1 : NEIGHBORS + 1]
    ratios = np.log(nearest[:, 1] / nearest[:, 0])
    used = np.sort(ratios)[: int(0.9 * m)]  # the largest say most about the edge
    # Of exponential variables, the largest tenth censored at the largest of the others.
    total = used.sum() + (m - len(used)) * used[-1]
    two_nn = len(used) / total if total > 0 else None
    logs = np.log(nearest[:, -1:] / nearest[:, :-1])
    sum_logs = logs.sum()
    levina = (NEIGHBORS - 2) * m / sum_logs if sum_logs > 0 else None
    return (None, None) if two_nn is None or levina is None else (float(two_nn), float(levina))


def constant_columns(rows: Any) -> int:
    if sp.issparse(rows):
        high, low = rows.max(axis=0).toarray().ravel(), rows.min(axis=0).toarray().ravel()
        return int((high == low).sum())
    return int((rows.max(axis=0) == rows.min(axis=0)).sum())

"""A map of rows in the plane that keeps neighbors together.

The nearest neighbors of the rows form a graph whose edge weights decrease with distance,
relative to the distances of each row. The map starts from the first two principal components;
then in every step each point is attracted by its neighbors and repelled by random points, with
the forces of a Cauchy kernel:

    attract  (y_j - y_i) 2 w_ij / (1 + d^2)          repel  (y_i - y_j) 2 / ((e + d^2)(1 + d^2))

All points move at once, from the positions of the previous step: so the order of visits does
not matter, and the map has the same bits on any number of threads. The attraction is implicit,
(1 + A) y = ... , which cannot overshoot however many neighbors there are. A last phase uses ten
times as many random points, which reduces the noise at small scale.

Contract: whole, because the neighbors of a row may be any rows. The steps are passes of
``sweep``. ``kept_`` measures the map: the fraction of each row's ten nearest rows that are
among its thirty nearest on the map.

McInnes, Healy and Melville (2018), UMAP. arXiv:1802.03426.
Böhm, Berens and Kobak (2022), Attraction-repulsion spectrum in neighbor embeddings. JMLR 23.
Damrich, Böhm, Hamprecht and Kobak (2023), From t-SNE to UMAP with contrastive learning. ICLR.
"""

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import Engine
from tacit.core.estimator import Estimator, engine_for, with_callbacks
from tacit.core.kernel import kernel
from tacit.core.randoms import bits, key, permutation, seed_from
from tacit.core.sweep import Sequential, Visited, sweep
from tacit.data.checked import check_rows
from tacit.decompose.nearest_rows import Neighbors, nearest_rows, search, squared_norms
from tacit.kernels.unit_rows import unit_rows

__all__ = ["NeighborMap"]

PART = 4096  # points of a part
START = 10.0  # largest coordinate of the first map
NEGATIVES, MORE = 10, 100  # random points per step: at first, and in the last phase
LAST = 1 / 3  # of all steps
CHECKED = 3000  # rows on which kept_ is measured
U = np.uint64


class MapState(NamedTuple):
    """The points before and after a step."""

    points: np.ndarray  # (n, 2) float32
    moved: np.ndarray  # (n, 2) float32


class Layout(Sequential):
    """The steps of the layout. The loss of a step is how far points move, squared."""

    def __init__(self, graph: sp.csr_array, n_steps: int, repulsion: float, seed: Any) -> None:
        self.edges = (graph.data.astype(np.float32), graph.indices, graph.indptr)
        self.n, self.n_steps = graph.shape[0], n_steps
        self.repulsion, self.seed = np.float32(repulsion), seed

    def rounds(self, number: int) -> list[list[slice]]:
        """One round: all points move at once."""
        return [[slice(i, min(i + PART, self.n)) for i in range(0, self.n, PART)]]

    def visit(self, state: MapState, part: slice, number: int) -> Visited:
        """Move the points of a part."""
        rate = np.float32(1 - number / self.n_steps)
        late = number >= int(self.n_steps * (1 - LAST))
        old, new = state.points[part], state.moved[part]
        move_points(
            self.edges, state.points, new, part.start, rate, MORE if late else NEGATIVES,
            self.repulsion, key(self.seed, number, 0),
        )  # fmt: skip
        return Visited(len(new), float(np.square(new - old).sum(dtype=np.float64)))

    def merge(self, state: MapState, stats: Visited) -> None:
        """Make the new positions the current ones."""
        state.points[:] = state.moved


class NeighborMap(Estimator):
    """Map rows to points in the plane, neighbors next to neighbors.

    Parameters
    ----------
    n_neighbors : int
        Neighbors that attract each row. More give weight to the large scale.
    metric : {"cosine", "euclidean"}; "cosine" compares directions, which suits text
    repulsion : float
        Strength of the repulsion. More spreads clusters out.
    n_steps : int, number of steps of the layout
    random_state : int, RandomState or None; seed of the layout
    engine, callbacks : as for ``KMeans``
        With "dask" the steps run in threads of this process: each needs all points.

    Attributes
    ----------
    embedding_ : array of shape (n, 2)
    kept_ : float
        Fraction of the ten nearest rows that are among the thirty nearest on the map, over at
        most 3,000 rows.
    recall_ : float
        Fraction of the true neighbors that the search found; 1.0 up to 50,000 rows.
    neighbors_, squares_ : arrays of shape (n, n_neighbors)
        The nearest rows of each, and their squared distances.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> images, digits = load_digits(return_X_y=True)
    >>> map = NeighborMap(random_state=0).fit(images)
    >>> map.embedding_.shape
    (1797, 2)
    >>> bool(map.kept_ > 0.7)
    True
    """

    contract: ClassVar[str] = "whole"
    _parameter_constraints: ClassVar[dict] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"cosine", "euclidean"})],
        "repulsion": [Interval(Real, 0, None, closed="neither")],
        "n_steps": [Interval(Integral, 1, None, closed="left")],
    }
    _file_schema: ClassVar[dict] = {
        "embedding_": (None, 2),
        "neighbors_": (None, None),
        "squares_": (None, None),
    }

    def __init__(
        self,
        n_neighbors: int = 15,
        *,
        metric: str = "cosine",
        repulsion: float = 7.0,
        n_steps: int = 600,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_neighbors, self.metric, self.repulsion = n_neighbors, metric, repulsion
        self.n_steps, self.random_state, self.engine = n_steps, random_state, engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "NeighborMap":
        """Compute the map of the rows of X, an array."""
        self._validate_params()
        rows = self._rows(X)
        engine = engine_for(self)
        seed = seed_from(self.random_state)
        n = len(rows)
        k = min(self.n_neighbors, n - 1)
        if k < 1:
            none = Neighbors(np.empty((n, 0), np.int32), np.empty((n, 0), np.float32), 1.0)
            self._store(np.zeros((n, 2), np.float32), none, 1.0)
            return self
        neighbors = nearest_rows(rows, k, engine, seed=int(seed) & 0x7FFFFFFF)
        layout = Layout(edge_weights(neighbors), self.n_steps, self.repulsion, seed)
        state = MapState(first_map(rows), np.empty((n, 2), np.float32))
        with self._fit_callbacks() as callbacks:
            sweep(layout, state, engine, max_iter=self.n_steps, callbacks=callbacks,
                  name="NeighborMap")  # fmt: skip
        self._store(state.points, neighbors, fraction_kept(rows, state.points, seed))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Compute the map and return its points: (n, 2)."""
        return self.fit(X).embedding_

    # --- Parts ---

    def _rows(self, X: Any) -> np.ndarray:
        if sp.issparse(X):
            raise TypeError(
                "NeighborMap takes dense rows, and X is sparse. Reduce it first, for example "
                "with TruncatedSVD(100)."
            )
        dense = check_rows(self, X, reset=True, sparse=False, finite=True)
        if self.metric == "cosine":
            return np.ascontiguousarray(unit_rows(dense)[0], np.float32)
        # Center and scale first, so that float32 is precise enough.
        centered = dense - dense.mean(axis=0, dtype=np.float64)
        size = np.abs(centered).max(initial=0.0)
        return np.ascontiguousarray(centered / size if size > 0 else centered, np.float32)

    def _store(self, points: np.ndarray, neighbors: Neighbors, fraction: float) -> None:
        self.embedding_, self.kept_ = points, fraction
        self.neighbors_, self.squares_, self.recall_ = neighbors


def edge_weights(neighbors: Neighbors) -> sp.csr_array:
    """Symmetric weights from 0 to 1: 1 for the nearest neighbor, less for the others by a
    width per row, chosen so that the weights of a row sum to log2 of their number."""
    distances = np.sqrt(neighbors.squares.astype(np.float64))
    n, k = distances.shape
    beyond = distances - distances[:, :1]
    goal = np.log2(k) if k > 1 else 1.0
    low, high, width = np.zeros(n), np.full(n, np.inf), np.full(n, max(beyond.mean(), 1e-300))
    for _ in range(60):
        wide = np.exp(-beyond / width[:, None]).sum(axis=1) > goal
        high, low = np.where(wide, width, high), np.where(wide, low, width)
        width = np.where(np.isinf(high), 2 * width, (low + high) / 2)
    least = max(1e-3 * float(distances.mean()), 1e-300)  # for rows with equal neighbors
    weights = np.exp(-beyond / np.maximum(width, least)[:, None])
    starts = np.arange(0, n * k + 1, k)
    one_way = sp.csr_array((weights.ravel(), neighbors.places.ravel(), starts), shape=(n, n))
    other = one_way.T.tocsr()
    both = sp.csr_array(one_way + other - one_way.multiply(other))
    both.sort_indices()
    return both


def first_map(rows: np.ndarray) -> np.ndarray:
    """The first two principal components, scaled to at most ``START``."""
    centered = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh((centered.T @ centered).astype(np.float64))
    axes = vectors[:, ::-1][:, :2]
    axes = axes * np.where(axes.sum(axis=0) < 0, -1, 1)
    flat = np.zeros((len(rows), 2), np.float32)
    flat[:, : axes.shape[1]] = centered @ axes.astype(np.float32)
    size = float(np.abs(flat).max(initial=0.0))
    return flat * np.float32(START / size) if size > 0 else flat


def fraction_kept(rows: np.ndarray, points: np.ndarray, seed: np.uint64) -> float:
    """The fraction of ten neighbors among thirty on the map, over a sample of the rows."""
    from scipy.spatial import cKDTree

    n = len(rows)
    near, far = min(10, n - 1), min(30, n - 1)
    sample = np.sort(permutation(key(seed, 0, 1), n)[:CHECKED])
    truth = search(rows, squared_norms(rows), sample, None, near)[0]
    drawn = cKDTree(points).query(points[sample], far + 1)[1]
    return float((truth[:, :, None] == drawn[:, None, :]).any(axis=2).mean())


# --- Kernel ---


@kernel
def move_points(edges, points, out, start, rate, negatives, repulsion, seed):
    """One step of the points from ``start`` on, into ``out``."""
    weights, indices, indptr = edges
    n = points.shape[0]
    one, two, most = np.float32(1), np.float32(2), np.float32(4)
    near = np.float32(0.001)
    for r in range(out.shape[0]):
        i = start + r
        x, y = points[i, 0], points[i, 1]
        pull = pull_x = pull_y = total = np.float32(0)
        for t in range(indptr[i], indptr[i + 1]):
            j, w = indices[t], weights[t]
            dx, dy = points[j, 0] - x, points[j, 1] - y
            c = two * w / (one + dx * dx + dy * dy)
            pull += c
            pull_x += c * dx
            pull_y += c * dy
            total += w
        push_x = push_y = np.float32(0)
        state = bits(seed, i)
        for _ in range(negatives):
            # A cheap generator inside, keyed by step and point.
            state = state * U(6364136223846793005) + U(1442695040888963407)
            j = np.int64(((state >> U(32)) * U(n)) >> U(32))
            dx, dy = x - points[j, 0], y - points[j, 1]
            square = dx * dx + dy * dy
            c = two / ((near + square) * (one + square))
            push_x += min(most, max(-most, c * dx))
            push_y += min(most, max(-most, c * dy))
        force = repulsion * total / np.float32(negatives)
        gain = rate / (one + rate * pull)
        out[r, 0] = x + gain * (pull_x + force * push_x)
        out[r, 1] = y + gain * (pull_y + force * push_y)

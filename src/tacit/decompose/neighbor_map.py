"""A map in the plane that keeps neighbours together.

The rows' nearest neighbours make a graph: edges weigh more the nearer, relative to each row's
own surroundings. The map starts from the two principal directions; then, over and over, every
point is drawn to its neighbours and pushed away from points drawn at random, with the forces of
a Cauchy kernel:

    attract  (y_j - y_i) 2 w_ij / (1 + d^2)          repel  (y_i - y_j) 2 / ((e + d^2)(1 + d^2))

All points move at once, from where all of them were: so the order of visits cannot matter, and
the map has the same bits on any number of threads. The pull is taken implicitly, (1 + A) y =
... , which cannot overshoot however many neighbours there are. A last phase draws ten times as
many points, which takes the noise out of the small scale.

``kept_`` says how good the map is: the share of each row's ten nearest rows that are among its
thirty nearest on the map.

McInnes, Healy and Melville (2018), UMAP. arXiv:1802.03426.
Böhm, Berens and Kobak (2022), Attraction-repulsion spectrum in neighbor embeddings. JMLR 23.
Damrich, Böhm, Hamprecht and Kobak (2023), From t-SNE to UMAP with contrastive learning. ICLR.
"""

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.callback import with_callbacks
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import Dask, Engine, Serial, get_engine
from tacit.core.estimator import Estimator, check_rows
from tacit.core.kernel import kernel
from tacit.core.progress import Step, notify
from tacit.core.randoms import bits, key, permutation, seed_from
from tacit.decompose.nearest_rows import Neighbors, Span, nearest_rows
from tacit.kernels.unit_rows import unit_rows

__all__ = ["NeighborMap"]

BLOCK = 4096  # points to a task
START = 10.0  # how wide the first map is
NEGATIVES, MORE = 10, 100  # points that push: at first, and in the last phase
LAST = 1 / 3  # of all steps
CHECKED = 3000  # rows on which kept_ is measured
U = np.uint64


class Layout(NamedTuple):
    """What a step must know."""

    graph: tuple[np.ndarray, np.ndarray, np.ndarray]  # weights, indices, indptr
    points: np.ndarray  # (n, 2) float32
    rate: np.float32
    negatives: int
    repulsion: np.float32
    seed: np.uint64  # of this step


class NeighborMap(Estimator):
    """Draw rows as points in the plane, neighbours next to neighbours.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of each row that pull at it. More give weight to the large scale.
    metric : {"cosine", "euclidean"}
        "cosine" compares directions, as text wants.
    repulsion : float
        How hard points push. More spreads clusters out.
    n_steps : int
    random_state : int, RandomState or None
    engine : {"serial", "threads"} or Engine
        Where the work is done; the map does not depend on it. A Dask cluster does not help
        here: every step needs all points.
    callbacks : list or None
        Told about every tenth step; see ``tacit.core.progress``.

    Attributes
    ----------
    embedding_ : array of shape (n, 2)
    kept_ : float
        Share of the ten nearest rows that are among the thirty nearest on the map, over at
        most 3,000 rows.
    recall_ : float
        Share of the true neighbours that the search found; 1.0 up to 50,000 rows.
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
        "random_state": "no_validation",
        "engine": "no_validation",
        "callbacks": "no_validation",
    }
    _file_schema: ClassVar[dict] = {
        "embedding_": (None, 2),
        "neighbors_": (None, None),
        "squares_": (None, None),
    }

    def __init__(
        self,
        n_neighbors=15,
        *,
        metric="cosine",
        repulsion=7.0,
        n_steps=600,
        random_state=None,
        engine="threads",
        callbacks=None,
    ):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.repulsion = repulsion
        self.n_steps = n_steps
        self.random_state = random_state
        self.engine = engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "NeighborMap":
        """Draw the map of the rows of X, an array."""
        self._validate_params()
        rows = self._rows(X)
        engine = here(get_engine(self.engine))
        seed = seed_from(self.random_state)
        n = len(rows)
        k = min(self.n_neighbors, n - 1)
        if k < 1:
            self._hold(np.zeros((n, 2), np.float32), Neighbors(*nobody(n), 1.0), 1.0)
            return self
        found = nearest_rows(rows, k, engine, seed=int(seed) & 0x7FFFFFFF)
        weights = weigh(found)
        with self._fit_callbacks() as callbacks:
            points = self._draw(first_map(rows), weights, engine, seed, callbacks)
        kept = share_kept(rows, points, seed)
        self._hold(points, found, kept)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Draw the map and give its points: (n, 2)."""
        return self.fit(X).embedding_

    # --- Parts ---

    def _rows(self, X: Any) -> np.ndarray:
        if sp.issparse(X):
            raise TypeError(
                "NeighborMap draws dense rows, and X is sparse. Reduce it first, for example "
                "with TruncatedSVD(100)."
            )
        dense = check_rows(self, X, reset=True, sparse=False, finite=True)
        if self.metric == "cosine":
            return np.ascontiguousarray(unit_rows(dense)[0], np.float32)
        # About the mean and to unit size first, so that float32 holds what matters.
        centered = dense - dense.mean(axis=0, dtype=np.float64)
        size = np.abs(centered).max(initial=0.0)
        return np.ascontiguousarray(centered / size if size > 0 else centered, np.float32)

    def _draw(self, points, graph, engine: Engine, seed, callbacks) -> np.ndarray:
        edges = (graph.data.astype(np.float32), graph.indices, graph.indptr)
        n = len(points)
        spans = [Span(i, min(i + BLOCK, n)) for i in range(0, n, BLOCK)]
        if len(spans) == 1:
            engine = Serial()  # no pool for one block
        late = int(self.n_steps * (1 - LAST))
        for step in range(self.n_steps):
            layout = Layout(
                edges,
                points,
                np.float32(1 - step / self.n_steps),
                NEGATIVES if step < late else MORE,
                np.float32(self.repulsion),
                key(seed, step, 0),
            )
            points = np.concatenate(list(engine.map(move_block, layout, spans)))
            last = step + 1 == self.n_steps
            if step % 10 == 9 or last:
                told = Step("NeighborMap", step + 1, self.n_steps, [], points, last)
                if notify(callbacks, told):
                    break
        return points

    def _hold(self, points: np.ndarray, found: Neighbors, kept: float) -> None:
        self.embedding_, self.kept_ = points, kept
        self.neighbors_, self.squares_, self.recall_ = found


def here(engine: Engine) -> Engine:
    return get_engine("threads") if isinstance(engine, Dask) else engine


def nobody(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.empty((n, 0), np.int32), np.empty((n, 0), np.float32)


def weigh(found: Neighbors) -> sp.csr_array:
    """Symmetric weights from 0 to 1: the nearest neighbour counts fully, the others less by a
    width of the row's own, chosen so that all weights of a row sum to log2 of their number."""
    distances = np.sqrt(found.squares.astype(np.float64))
    n, k = distances.shape
    beyond = distances - distances[:, :1]
    goal = np.log2(k) if k > 1 else 1.0
    low, high, width = np.zeros(n), np.full(n, np.inf), np.full(n, max(beyond.mean(), 1e-300))
    for _ in range(60):
        wide = np.exp(-beyond / width[:, None]).sum(axis=1) > goal
        high, low = np.where(wide, width, high), np.where(wide, low, width)
        width = np.where(np.isinf(high), 2 * width, (low + high) / 2)
    least = max(1e-3 * float(distances.mean()), 1e-300)  # rows among equals
    weights = np.exp(-beyond / np.maximum(width, least)[:, None])
    starts = np.arange(0, n * k + 1, k)
    one_way = sp.csr_array((weights.ravel(), found.places.ravel(), starts), shape=(n, n))
    other = one_way.T.tocsr()
    both = sp.csr_array(one_way + other - one_way.multiply(other))
    both.sort_indices()
    return both


def first_map(rows: np.ndarray) -> np.ndarray:
    """The two principal directions, the larger one at most ``START`` from the middle."""
    centered = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh((centered.T @ centered).astype(np.float64))
    axes = vectors[:, ::-1][:, :2]
    axes = axes * np.where(axes.sum(axis=0) < 0, -1, 1)
    flat = np.zeros((len(rows), 2), np.float32)
    flat[:, : axes.shape[1]] = centered @ axes.astype(np.float32)
    size = float(np.abs(flat).max(initial=0.0))
    return flat * np.float32(START / size) if size > 0 else flat


def share_kept(rows: np.ndarray, points: np.ndarray, seed: np.uint64) -> float:
    """How many of ten neighbours are among thirty on the map, over a sample of the rows."""
    from scipy.spatial import cKDTree

    from tacit.decompose.nearest_rows import lengths, search

    n = len(rows)
    near, far = min(10, n - 1), min(30, n - 1)
    sample = np.sort(permutation(key(seed, 0, 1), n)[:CHECKED])
    truth = search(rows, lengths(rows), sample, None, near)[0]
    drawn = cKDTree(points).query(points[sample], far + 1)[1]
    return float((truth[:, :, None] == drawn[:, None, :]).any(axis=2).mean())


def move_block(layout: Layout, span: Span) -> np.ndarray:
    out = np.empty((span.stop - span.start, 2), np.float32)
    weights, indices, indptr = layout.graph
    move_points(
        weights, indices, indptr, layout.points, out, span.start,
        layout.rate, layout.negatives, layout.repulsion, layout.seed,
    )  # fmt: skip
    return out


# --- Kernel ---


@kernel
def move_points(weights, indices, indptr, points, out, start, rate, negatives, repulsion, seed):
    """One step of the points from ``start`` on, into ``out``."""
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

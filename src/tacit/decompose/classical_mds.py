"""Classical multidimensional scaling: points whose distances are those of a table.

The squared distances, less the means of their rows and columns, times -1/2, are the inner
products B of centered points; the leading eigenvectors of B, times the roots of their
eigenvalues, are the points (Torgerson). Distances of real points give no negative eigenvalue;
other dissimilarities do, and those that are known are reported.

    from rows        Euclidean distances need no table: the points are the principal components
    from distances   all eigenvalues of a small B; block Lanczos (``krylov``) on a large one,
                     where a pass multiplies by B twice
    from landmarks   distances to a few rows, chosen far apart, place all others (de Silva and
                     Tenenbaum): n x m distances in place of n x n

A new row is placed by its distances to the rows of the fit (Gower): a row of the fit comes back
to its place.

Contract: whole. All rows are compared with each other, or with the landmarks.

Torgerson (1952), Multidimensional scaling: theory and method. Psychometrika 17. Gower (1968),
Adding a point to vector diagrams in multivariate analysis. Biometrika 55. De Silva and
Tenenbaum (2004), Sparse multidimensional scaling using landmark points. Mardia, Kent and Bibby
(1979), Multivariate Analysis, 14.4. The notes' section on multidimensional scaling.
"""

import warnings
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Engine, check_stop, one_blas_thread, ready
from tacit.core.errors import raised_as
from tacit.core.estimator import Estimator, engine_for, with_callbacks
from tacit.core.memory import check_memory
from tacit.core.randoms import integers, key, seed_from
from tacit.core.warn import warn_caller
from tacit.data.bad_values import check_distances, check_scale
from tacit.data.checked import check_table
from tacit.data.table import Table
from tacit.decompose.krylov import block_width, most_vectors
from tacit.decompose.pca import PCA
from tacit.decompose.truncated_svd import search, with_signs
from tacit.kernels.distances import METRICS, Metric, between_rows, distance_matrix

__all__ = ["ClassicalMDS", "distances_of"]

SMALL = 500  # items whose eigenvalues are all computed
STRIPE = 256  # rows of a matrix that are worked on at once
TOLERANCE = 1e-7  # residuals of eigenvectors, relative to their eigenvalues
NOISE = 1e-9  # of the largest eigenvalue: smaller ones are zero
FEWER = "Give n_landmarks to ClassicalMDS, which then needs distances to that many rows."


class Eigen(NamedTuple):
    """Eigenvalues of the inner products, and how much of them there is."""

    values: np.ndarray  # (k,) the largest, descending, none negative
    vectors: np.ndarray  # (k, m) orthonormal rows
    negative: np.ndarray  # the negative eigenvalues that are known, ascending
    size: float  # of all eigenvalues together: their sum, the known negative ones as positive


# --- Distances, and their inner products ---


def distances_of(estimator: Any, X: Any, metric: Metric, engine: Engine) -> np.ndarray:
    """(n, n) distances in float64: X itself, checked, or those between the rows of X."""
    name = type(estimator).__name__
    if metric == "precomputed":
        check_distances(X, name, square=True)
        return X
    n = X.shape[0]
    what = f"{name} of {n:,} rows, for the distances between them,"
    check_memory(8 * n * n, what, FEWER)
    return distance_matrix(X, metric, engine=engine)


def load_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """The rows of X, or the matrix of distances, in memory and checked."""
    table = check_table(
        estimator, X, reset=reset, dtypes=(np.float64,), finite=True,
        sparse=estimator.metric != "precomputed", alternative=FEWER,
    )  # fmt: skip
    rows, name = table.load(), type(estimator).__name__
    if reset and len(table) < 2:
        raise ValueError(
            f"{name} needs two items or more, but the data has n_samples={len(table)}. Give it "
            "more."
        )
    check_scale(rows, name)
    return rows


def inner_products(distances: np.ndarray, engine: Engine) -> tuple[np.ndarray, np.ndarray]:
    """B of centered points, and the mean squared distance from every item."""
    n = len(distances)
    products, means = np.empty((n, n)), np.empty(n)
    stripes = range(0, n, STRIPE)

    def square(first: int) -> None:
        check_stop()
        part = products[first : first + STRIPE]
        np.square(distances[first : first + STRIPE], out=part)
        means[first : first + STRIPE] = part.mean(axis=1)

    def center(first: int) -> None:
        part = products[first : first + STRIPE]
        part -= means
        part += (means.mean() - means[first : first + STRIPE])[:, None]
        part *= -0.5

    for step in (square, center):
        for _ in engine.each(step, stripes, work=n * n):
            pass
    return products, means


def leading_eigenpairs(products: np.ndarray, k: int, engine: Engine) -> Eigen:
    """The k largest eigenvalues of a symmetric matrix, and the negative ones met on the way."""
    n = len(products)
    trace = float(np.trace(products))
    wanted = k
    while n > SMALL and n > most_vectors(wanted):
        # The space of the largest sizes; then their signs, from one more product.
        solution = search(
            Table.from_array(products), engine, n_components=wanted, width=block_width(wanted),
            passes=200, tol=TOLERANCE, seed=0, callbacks=[], name="ClassicalMDS",
        )  # fmt: skip
        with one_blas_thread():
            restricted = solution.rows @ products @ solution.rows.T
            values, rotation = eigh((restricted + restricted.T) / 2)
            values, vectors = values[::-1], rotation[:, ::-1].T @ solution.rows
        noise = NOISE * np.abs(values).max(initial=0.0)
        if (values >= -noise).sum() >= k:
            return finish(values, vectors, k, trace)
        wanted = 2 * wanted + 4
    with one_blas_thread():
        values, vectors = eigh(products)
    return finish(values[::-1], vectors[:, ::-1].T, k, trace)


def finish(values: np.ndarray, vectors: np.ndarray, k: int, trace: float) -> Eigen:
    noise = NOISE * np.abs(values).max(initial=0.0)
    positive = np.where(values[:k] > noise, values[:k], 0.0)
    negative = np.sort(values[values < -noise])
    return Eigen(positive, with_signs(vectors[:k]), negative, trace - 2 * float(negative.sum()))


def choose_landmarks(rows: Any, m: int, metric: Metric, seed: Any) -> np.ndarray:
    """Places of m rows, each the farthest from those before it; ties to the lowest place."""
    n = rows.shape[0]
    places = [int(integers(key(seed, 0), 1, n)[0])]
    nearest = np.full(n, np.inf)
    for _ in range(m - 1):
        check_stop()
        last = rows[places[-1] : places[-1] + 1]
        if metric == "precomputed":
            away = np.asarray(last).ravel()
        else:
            away = between_rows(rows, last, metric).ravel()
        np.minimum(nearest, away, out=nearest)
        nearest[places] = -1.0
        places.append(int(nearest.argmax()))
    return np.sort(np.array(places, np.int64))


# --- The estimator ---


class ClassicalMDS(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Place items in few dimensions so that their distances are those of a table.

    Parameters
    ----------
    n_components : int, number of dimensions
    metric : str or callable
        "precomputed": X is a matrix of distances, n x n. Otherwise X holds rows, and this is
        their distance: "euclidean", "manhattan", "cosine", or a function of two rows.
    n_landmarks : int or None
        Compare all rows with this many of them only, chosen far apart; for very many rows.
    random_state : int, RandomState or None; chooses the first landmark
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        The points, centered (about the mean of the landmarks, if there are any).
    eigenvalues_ : array of shape (n_components,)
        Of the inner products, descending; 0 past the dimension of the points.
    negative_eigenvalues_ : array
        Those that are known, ascending: all up to 500 items, else those among the largest in
        size. Empty for distances of real points.
    goodness_ : float
        The part of the squared distances from the center that the points keep: the sum of
        ``eigenvalues_`` over that of all in size, as far as negative ones are known. 1 is a
        perfect fit.
    landmarks_ : array of places, all of them without ``n_landmarks``

    Examples
    --------
    Three towns on a line, and one off it:

    >>> distances = np.array([[0, 3, 7, 5], [3, 0, 4, 4], [7, 4, 0, 5.66], [5, 4, 5.66, 0]])
    >>> mds = ClassicalMDS(2, metric="precomputed").fit(distances)
    >>> np.abs(mds.embedding_[0] - mds.embedding_[2]).max().round(1)
    np.float64(7.0)
    """

    contract: ClassVar[str] = "whole"
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"precomputed", *METRICS}), callable],
        "n_landmarks": [None, Interval(Integral, 2, None, closed="left")],
    }
    _saved_private: ClassVar[tuple[str, ...]] = ("_rows", "_map", "_means")
    _file_schema: ClassVar[dict] = {
        "embedding_": ("n_items", "n_components"),
        "eigenvalues_": ("n_components",),
        "negative_eigenvalues_": (None,),
        "landmarks_": ("n_marks",),
        "_map": ("n_components", "n_inner"),
        "_means": ("n_inner",),
    }
    _file_kinds: ClassVar[dict] = {
        **dict.fromkeys(_file_schema, "f"), "landmarks_": "i",
    }  # fmt: skip

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Metric = "euclidean",
        n_landmarks: int | None = None,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.metric, self.n_landmarks = n_components, metric, n_landmarks
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the items. X holds rows, or the distances between all items."""
        self._validate_params()
        rows = load_rows(self, X, reset=True)
        with ready(engine_for(self)) as engine:
            if self.metric == "euclidean" and self.n_landmarks is None:
                self._fit_rows(rows)
            else:
                self._fit_distances(rows, engine)
        worst = -self.negative_eigenvalues_.min(initial=0.0)
        positive = self.eigenvalues_[self.eigenvalues_ > 0]
        if worst > positive.min(initial=np.inf):
            warn_caller(
                f"ClassicalMDS: the distances are far from those of points: an eigenvalue of "
                f"{-worst:.3g} is larger in size than the smallest one kept, "
                f"{positive.min():.3g}. Lower n_components, or use MDS.",
            )
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Place the items, and give their points."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Place new items by their distances to those of the fit: (n, n_components).

        X holds rows; or, with ``metric="precomputed"``, a column of distances for every item
        of the fit.
        """
        check_is_fitted(self)
        rows = load_rows(self, X, reset=False)
        if self.metric == "euclidean" and self.n_landmarks is None:
            return np.asarray(rows @ self._map.T) - self._means @ self._map.T
        if self.metric == "precomputed":
            check_distances(rows, "ClassicalMDS", square=False)
            distances = rows[:, self.landmarks_]
        else:
            distances = between_rows(rows, self._rows, self.metric)
        return self._place(distances)

    # --- Parts ---

    def _fit_rows(self, rows: Any) -> None:
        """Euclidean distances: the principal components are the points."""
        (n, d), k = rows.shape, self.n_components
        rank = min(k, n, d)
        with warnings.catch_warnings(), raised_as(self, "PCA"):
            warnings.simplefilter("ignore", UserWarning)  # rows that are all equal
            pca = PCA(rank, tol=TOLERANCE, random_state=0, engine=self.engine).fit(rows)
        self._map = np.zeros((k, d))
        self._map[:rank] = pca.components_
        self._means = np.asarray(pca.mean_, np.float64)
        self.embedding_ = np.zeros((n, k))
        self.embedding_[:, :rank] = pca.transform(rows)
        self.eigenvalues_ = np.zeros(k)
        self.eigenvalues_[:rank] = pca.singular_values_**2
        self.negative_eigenvalues_ = np.empty(0)
        self.goodness_ = goodness(self.eigenvalues_, pca.total_variance_ * max(1, n - 1))
        self.landmarks_ = np.arange(n)
        self._rows = None

    def _fit_distances(self, rows: Any, engine: Engine) -> None:
        n, precomputed = rows.shape[0], self.metric == "precomputed"
        if precomputed:
            check_distances(rows, "ClassicalMDS", square=True)
        m = n if self.n_landmarks is None else min(n, self.n_landmarks)
        self.landmarks_ = np.arange(n)
        if m < n:
            seed = seed_from(self.random_state)
            self.landmarks_ = choose_landmarks(rows, m, self.metric, seed)
        marks = rows if m == n else rows[self.landmarks_]
        between = marks[:, self.landmarks_] if precomputed and m < n else marks
        distances = between if precomputed else distances_of(self, marks, self.metric, engine)
        products, self._means = inner_products(distances, engine)
        k = min(self.n_components, m)
        eigen = leading_eigenpairs(products, k, engine)
        roots = np.sqrt(eigen.values)
        inverse = np.divide(1.0, roots, out=np.zeros(k), where=roots > 0)
        self.eigenvalues_ = np.zeros(self.n_components)
        self.eigenvalues_[:k] = eigen.values
        self._map = np.zeros((self.n_components, m))
        self._map[:k] = inverse[:, None] * eigen.vectors
        self.negative_eigenvalues_ = eigen.negative
        self.goodness_ = goodness(eigen.values, eigen.size)
        self._rows = None if precomputed else marks
        if m == n:
            self.embedding_ = np.zeros((n, self.n_components))
            self.embedding_[:, :k] = (roots[:, None] * eigen.vectors).T
            return

        def place(first: int) -> np.ndarray:
            check_stop()
            part = rows[first : first + STRIPE]
            if precomputed:
                return self._place(part[:, self.landmarks_])
            return self._place(between_rows(part, marks, self.metric))

        placed = engine.each(place, range(0, n, STRIPE), work=n * m * 8)
        self.embedding_ = np.concatenate(list(placed))

    def _place(self, distances: np.ndarray) -> np.ndarray:
        return 0.5 * (self._means - distances**2) @ self._map.T

    def _after_load(self) -> None:
        n = self.n_features_in_ if self.metric == "precomputed" else len(self.embedding_)
        marks = self.landmarks_
        if len(marks) and not (marks.min() >= 0 and marks.max() < n):
            raise ValueError("landmarks_ must be places of items.")
        wide = self._map.shape[1]
        plain = self.metric == "euclidean" and self.n_landmarks is None
        if wide != (self.n_features_in_ if plain else len(marks)):
            raise ValueError("the map does not fit the items it places by.")
        if not plain and self.metric != "precomputed":
            rows = self._rows
            if getattr(rows, "shape", None) != (len(marks), self.n_features_in_):
                raise ValueError("the rows of the landmarks are missing.")

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "precomputed"
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.transformer_tags.preserves_dtype = []
        return tags


def goodness(values: np.ndarray, size: float) -> float:
    return min(1.0, float(values.sum()) / size) if size > 0 else 1.0

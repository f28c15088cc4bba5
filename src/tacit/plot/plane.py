"""Rows of any width as points in the plane: the two directions in which they differ most."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

__all__ = ["Plane", "plane_of", "rows_of"]

GOLDEN = 0.6180339887498949
WIDE = 2000  # columns from which directions are computed one by one


class Plane(NamedTuple):
    """The plane that the rows are projected onto."""

    origin: np.ndarray  # (d,)
    axes: np.ndarray  # (2, d), of length one; zeros where there is no second direction
    explained: float  # proportion of the variance that the picture shows

    def project(self, X: Any) -> np.ndarray:
        """Rows as points, (n, 2). Rows of one column are spread out sideways."""
        points = np.asarray(X @ self.axes.T, np.float64) - self.axes @ self.origin
        if self.axes.shape[1] == 1:
            points[:, 1] = (np.arange(len(points)) * GOLDEN) % 1.0 - 0.5
        return points

    def nearest(self, points: np.ndarray, means: np.ndarray) -> np.ndarray:
        """The nearest of some means of every point in the picture, a tie to the first."""
        used = 1 if len(self.origin) == 1 else 2  # sideways has no meaning for a single column
        gaps = points[:, None, :used] - means[None, :, :used]
        return (gaps**2).sum(axis=2).argmin(axis=1)

    def labels(self) -> tuple[str, str]:
        """Names of the two axes."""
        if len(self.origin) == 1:
            return "column 1", ""
        if len(self.origin) == 2:
            return "column 1", "column 2"
        return "first principal direction", "second principal direction"


def rows_of(X: Any, name: str) -> Any:
    """X as a float64 array or CSR matrix, all of it finite."""
    from sklearn.utils import check_array

    return check_array(
        X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=1, input_name="X",
        estimator=name,
    )  # fmt: skip


def plane_of(X: Any) -> Plane:
    """The plane through the mean that shows most of the variance; two columns are the plane.

    Directions point to where their largest coefficient is positive, so that the same rows
    give the same picture.

    Examples
    --------
    >>> plane = plane_of(np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [1.0, 0.1, 1.0]]))
    >>> plane.axes.round(2) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    d = X.shape[1]
    if d <= 2:
        return Plane(np.zeros(d), np.eye(2, d), 1.0)
    mean = np.asarray(X.mean(axis=0)).ravel()
    axes = np.zeros((2, d))
    leading, variance, total = directions(X, mean)
    for i, axis in enumerate(leading[:2]):
        axes[i] = axis * (1.0 if axis[np.argmax(np.abs(axis))] > 0 else -1.0)
    return Plane(mean, axes, float(variance[:2].sum() / total) if total > 0 else 1.0)


def directions(X: Any, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """The first principal directions, their sums of squares, and the sum of all."""
    n, d = X.shape
    if min(n, d) <= WIDE:
        if n <= d:  # fewer rows than columns: their products have the same spectrum
            products = X @ X.T
            products = products.toarray() if sp.issparse(products) else products
            side = np.asarray(X @ mean).ravel()
            products = products - side[:, None] - side[None, :] + mean @ mean
            squares, right = np.linalg.eigh(products)
            places = [p for p in (-1, -2) if squares[p] > 1e-12 * max(squares[-1], 1e-300)]
            axes = np.array([(X.T @ right[:, p]) - mean * right[:, p].sum() for p in places])
            axes = axes.reshape(-1, d)
            axes /= np.linalg.norm(axes, axis=1, keepdims=True)
            return axes, squares[places], float(squares.sum())
        products = X.T @ X
        products = products.toarray() if sp.issparse(products) else products
        squares, axes = np.linalg.eigh(products - n * np.outer(mean, mean))
        squares = np.maximum(squares, 0.0)
        return axes.T[::-1][:2], squares[::-1][:2], float(squares.sum())
    from scipy.sparse.linalg import LinearOperator, svds

    def forward(v: np.ndarray) -> np.ndarray:
        return X @ v.ravel() - mean @ v.ravel()

    def back(u: np.ndarray) -> np.ndarray:
        return X.T @ u.ravel() - mean * u.sum()

    shifted = LinearOperator((n, d), matvec=forward, rmatvec=back, dtype=np.float64)
    _, values, axes = svds(shifted, k=2, v0=np.ones(min(n, d)))
    squares = X.multiply(X) if sp.issparse(X) else X * X
    return axes[::-1], values[::-1] ** 2, float(squares.sum() - n * mean @ mean)

"""The plane of a picture: the projection of rows onto their first two principal directions, and
the regions of a model behind them."""

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Limits", "Plane", "limits_of", "paint", "paint_regions", "plane_of", "predict_grid",
           "rows_of"]  # fmt: skip

GOLDEN = 0.6180339887498949
CHUNK = 16384  # points predicted at a time
Limits = tuple[tuple[float, float], tuple[float, float]]


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
        """For every point the nearest mean in the picture; ties go to the first."""
        used = 1 if len(self.origin) == 1 else 2  # a single column has no second direction
        differences = points[:, None, :used] - means[None, :, :used]
        return (differences**2).sum(axis=2).argmin(axis=1)

    def labels(self) -> tuple[str, str]:
        """Names of the two axes."""
        if len(self.origin) <= 2:
            return "column 1", "column 2" if len(self.origin) == 2 else ""
        return "first principal direction", "second principal direction"


def rows_of(X: Any, name: str) -> Any:
    """X as a float64 array or CSR matrix of finite values."""
    from sklearn.utils import check_array

    return check_array(
        X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=1, input_name="X",
        estimator=name,
    )  # fmt: skip


def plane_of(X: Any) -> Plane:
    """The plane of the first two principal components; rows of two columns stay as they are.

    >>> plane = plane_of(np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [1.0, 0.1, 1.0]]))
    >>> plane.axes.round(2) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    from tacit.decompose import PCA

    n, d = X.shape
    if d <= 2:
        return Plane(np.zeros(d), np.eye(2, d), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that are all equal have a picture too
        pca = PCA(min(2, n), random_state=0).fit(X)
    axes = np.zeros((2, d))
    axes[: len(pca.components_)] = pca.components_ * (pca.explained_variance_ > 0)[:, None]
    varies = pca.total_variance_ > 0
    return Plane(pca.mean_, axes, float(pca.explained_variance_ratio_.sum()) if varies else 1.0)


# --- Regions ---


def limits_of(points: np.ndarray) -> Limits:
    """The limits of the axes: all points and a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.06 * (high - low)
    margin = np.where(margin > 0, margin, np.maximum(0.5, 0.06 * np.abs(high)))
    (left, down), (right, up) = (low - margin).tolist(), (high + margin).tolist()
    return (left, right), (down, up)


def grid_places(limits: Limits, sizes: Sequence[int]) -> list[np.ndarray]:
    """The centers of the squares along each side."""
    sides = zip(limits, sizes, strict=True)
    return [start + (np.arange(n) + 0.5) * (end - start) / n for (start, end), n in sides]


def predict_grid(predict: Callable, limits: Limits, resolution: int) -> np.ndarray:
    """Labels at the centers of a grid of squares, rows from the bottom, in chunks."""
    across, up = grid_places(limits, (resolution, resolution))
    points = np.column_stack([np.tile(across, resolution), np.repeat(up, resolution)])
    pieces = [predict(points[i : i + CHUNK]) for i in range(0, len(points), CHUNK)]
    return np.concatenate([np.asarray(piece) for piece in pieces]).reshape(resolution, -1)


def paint_regions(ax: "Axes", predict: Callable, limits: Limits, colors: list[str]) -> None:
    """Color the regions of ``predict``, which returns indices into ``colors``."""
    paint(ax, predict_grid(predict, limits, 300), limits, colors)


def paint(ax: "Axes", codes: np.ndarray, limits: Limits, colors: list[str]) -> None:
    """Color the regions of a grid of codes, with a white line where two meet."""
    from matplotlib.colors import to_rgb
    from scipy.ndimage import gaussian_filter

    tints = 1 - 0.20 * (1 - np.array([to_rgb(color) for color in colors]))
    ax.imshow(
        tints[codes], extent=(*limits[0], *limits[1]), origin="lower", aspect="auto",
        interpolation="nearest", zorder=0,
    )  # fmt: skip
    places = grid_places(limits, codes.shape[::-1])
    kinds = np.unique(codes)
    for j in kinds if len(kinds) > 1 else ():
        # Smoothed, so that the line does not follow the steps of the grid.
        soft = gaussian_filter((codes == j).astype(np.float64), 1.2, mode="nearest")
        ax.contour(*places, soft, levels=[0.5], colors="white", linewidths=1.6, zorder=1)

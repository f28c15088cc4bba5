"""Decision regions: the parts of the plane that a model assigns to each cluster or class."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.measure.labels import codes_of
from tacit.plot.axes import (
    NEUTRAL,
    PALETTE,
    cluster_colors,
    draw_dots,
    in_words,
    legend_beside,
    new_axes,
    quiet_frame,
    title_and_note,
)
from tacit.plot.plane import rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["decision_regions"]

Limits = tuple[tuple[float, float], tuple[float, float]]
CHUNK = 16384  # points predicted at a time


def decision_regions(
    model: Any,
    X: Any,
    *,
    labels: Any = None,
    names: Sequence[str] | None = None,
    columns: Sequence[str] = ("column 1", "column 2"),
    resolution: int = 300,
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Color the plane by what a model predicts there, and draw the rows on top.

    Parameters
    ----------
    model : fitted model with ``predict``, or a function
        Returns a label for every row of an array of two columns.
    X : array of shape (n, 2)
        Rows to draw. They set the limits of the picture.
    labels : sequence of n, optional
        The true class of every row, of the same names as the model's: rows whose prediction
        differs get a ring. By default rows are drawn in the color of their prediction.
    names : sequence of str, optional
        Of the labels, in sorted order.
    columns : two str
        Names of the axes.
    resolution : int
        Predictions along each side.
    palette, title, ax
        As for ``dendrogram``.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0], [1.0, 3.0], [8.0, 2.0], [9.0, 0.0]])
    >>> ax = decision_regions(lambda at: np.where(at[:, 0] < 5, "left", "right"), rows)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['left: 2', 'right: 2']
    """
    rows = rows_of(X, "decision_regions")
    if rows.shape[1] != 2:
        raise ValueError(
            f"decision_regions draws rows of two columns, but X has {rows.shape[1]}. Fit the "
            "model on two of them, or use cluster_map, which takes any number."
        )
    if resolution < 2:
        raise ValueError(f"decision_regions(resolution={resolution}) must be at least 2.")
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
    predict = model.predict if hasattr(model, "predict") else model
    if not callable(predict):
        raise TypeError(
            f"decision_regions needs a fitted model with predict, or a function, not a "
            f"{type(model).__name__}."
        )
    predicted = np.asarray(predict(rows))
    shown = predicted if labels is None else np.asarray(labels)
    if len(shown) != len(rows):
        raise ValueError(
            f"decision_regions needs {len(rows)} labels, one per row, but got {len(shown)}."
        )
    limits = limits_of(rows)
    grid = predict_grid(predict, limits, resolution)
    kinds = codes_of(np.concatenate([shown, predicted, grid.ravel()]), name="decision_regions")
    k, n = len(kinds.names), len(rows)
    called = in_words(kinds.names) if names is None else [str(each) for each in names]
    if len(called) != k:
        raise ValueError(
            f"decision_regions needs {k} names, one per label, but got {len(called)}."
        )
    if ax is None:
        ax = new_axes(7.5, 5.5)
    colors = cluster_colors(k, palette)
    paint(ax, kinds.codes[2 * n :].reshape(grid.shape), limits, colors)
    draw_dots(ax, rows, kinds.codes[:n], k, palette)
    note = ""
    if labels is not None:
        wrong = kinds.codes[:n] != kinds.codes[n : 2 * n]
        ax.scatter(
            rows[wrong, 0], rows[wrong, 1], s=90, facecolors="none", edgecolors=NEUTRAL,
            linewidths=1.1, zorder=3,
        )  # fmt: skip
        note = f"{int(wrong.sum()):,} of {n:,} rows, with a ring, are in another's region"
    legend_beside(ax, called, np.bincount(kinds.codes[:n], minlength=k), palette)
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
    ax.set_xlabel(columns[0], parse_math=False)
    ax.set_ylabel(columns[1], parse_math=False)
    quiet_frame(ax)
    title_and_note(ax, title, note)
    return ax


def limits_of(points: np.ndarray) -> Limits:
    """The limits of the picture: all points and a margin."""
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
    """Labels at the centers of a grid of squares, from the bottom, a chunk at a time."""
    across, up = grid_places(limits, (resolution, resolution))
    points = np.column_stack([np.tile(across, resolution), np.repeat(up, resolution)])
    pieces = [predict(points[i : i + CHUNK]) for i in range(0, len(points), CHUNK)]
    return np.concatenate([np.asarray(piece) for piece in pieces]).reshape(resolution, -1)


def paint_regions(ax: "Axes", predict: Callable, limits: Limits, colors: list[str]) -> None:
    """Color the regions of ``predict``, which returns positions in ``colors``."""
    paint(ax, predict_grid(predict, limits, 300), limits, colors)


def paint(ax: "Axes", codes: np.ndarray, limits: Limits, colors: list[str]) -> None:
    """Tints for the regions, a white line where two meet."""
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
        # Steps of the grid are smoothed away; the line hides what is left of them.
        soft = gaussian_filter((codes == j).astype(np.float64), 1.2, mode="nearest")
        ax.contour(*places, soft, levels=[0.5], colors="white", linewidths=1.6, zorder=1)

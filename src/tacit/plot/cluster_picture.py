"""A clustering: the iterations of k-means, and the silhouette of every row.

In every panel of ``kmeans_steps`` rows have the color of their nearest center, and a line shows
how each center moved since the iteration before.

Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster
analysis. Journal of Computational and Applied Mathematics 20.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.kernels.distances import between_rows
from tacit.measure.labels import codes_of
from tacit.plot.axes import (
    NEUTRAL,
    PALETTE,
    axes_or_new,
    check_names,
    cluster_colors,
    darker,
    draw_dots,
    finish,
    new_grid,
    quiet_frame,
)
from tacit.plot.plane import Plane, limits_of, paint_regions, plane_of, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tacit.core.progress import Step

__all__ = ["kmeans_steps", "silhouette"]

MOST_BARS = 2000  # of a cluster in the silhouette; of more rows, evenly spaced ones


# --- k-means, iteration by iteration ---


def kmeans_steps(
    X: Any, model: Any = 3, *, random_state: Any = None, max_panels: int = 8,
    palette: Sequence[str] = PALETTE, title: str | None = None,
    axes: "Sequence[Axes] | None" = None,
) -> "np.ndarray":  # fmt: skip
    """Draw how the centers of k-means move, one panel for every iteration.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows. Of more than two columns, the first two principal directions are drawn.
    model : int or KMeans
        How many clusters, or a ``tacit.cluster.KMeans`` with its settings; it is not changed.
        One start is made.
    random_state : int, RandomState or None
        Seed of the first centers, where ``model`` is a number.
    max_panels : int; where there are more iterations, the first ones and the last are drawn
    palette, title : as for ``dendrogram``
    axes : sequence of matplotlib Axes, optional
        Where to draw, as many panels as there are axes at most; a new figure otherwise.

    Returns
    -------
    axes : array of matplotlib Axes, one for every panel

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 1.0], [9.0, 2.0]])
    >>> axes = kmeans_steps(rows, 2, random_state=0)
    >>> axes[0].get_title(loc="left")
    'first centers'
    """
    rows = rows_of(X, "kmeans_steps")
    most = max_panels if axes is None else len(axes)
    if most < 2:
        raise ValueError(f"kmeans_steps needs at least two panels, but may draw {most}.")
    iterations = record_iterations(rows, model, random_state)
    shown = choose_panels(len(iterations), most)
    if axes is None:
        columns = min(len(shown), 4 if len(shown) > 6 or len(shown) == 4 else 3)
        grid = new_grid(len(shown), columns, panel=(2.9, 2.75))
    else:
        grid = np.array([*axes], object)[: len(shown)]
    plane = plane_of(rows)
    points = plane.project(rows)
    places = [plane.project(centers) for centers, _ in iterations]
    if rows.shape[1] == 1:
        for projected in places:
            projected[:, 1] = 0.0  # centers of a single column sit in the middle of the strip
    limits = limits_of(np.vstack([points, *places]))
    for ax, i in zip(grid, shown, strict=True):
        centers, loss = iterations[i]
        codes = between_rows(rows, centers).argmin(axis=1)  # in all columns, not as drawn
        draw_iteration(ax, plane, points, codes, places[max(0, i - 1) : i + 1], limits, palette)
        name = "first centers" if i == 0 else f"iteration {i}"
        if i == len(iterations) - 1 and i > 0:
            name += " (last)"
        ax.set_title(name, loc="left", fontsize=10)
        ax.set_title(f"loss {loss:.4g}", loc="right", fontsize=8.5, color=NEUTRAL)
    if title is not None:
        grid[0].figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    return grid


def record_iterations(rows: Any, model: Any, random_state: Any) -> list[tuple]:
    """The centers and the loss of k-means after 0, 1, 2, ... updates."""
    from sklearn.base import clone

    from tacit.cluster.kmeans import KMeans

    if isinstance(model, KMeans):
        kmeans = clone(model)
    elif isinstance(model, int | np.integer) and not isinstance(model, bool):
        kmeans = KMeans(int(model), random_state=random_state)
    else:
        raise TypeError(
            "kmeans_steps needs a number of clusters or a tacit.cluster.KMeans, not a "
            f"{type(model).__name__}."
        )
    iterations: list[tuple] = []

    def record(step: "Step") -> None:
        iterations.append((step.params.centers.copy(), float(step.losses[-1])))

    kmeans.set_params(n_init=1, callbacks=[record]).fit(rows)
    return iterations


def choose_panels(n: int, most: int) -> list[int]:
    """All of n, or the first of them and the last.

    >>> choose_panels(3, 8), choose_panels(20, 4)
    ([0, 1, 2], [0, 1, 2, 19])
    """
    return list(range(n)) if n <= most else [*range(most - 1), n - 1]


def draw_iteration(
    ax: "Axes", plane: Plane, points: np.ndarray, codes: np.ndarray, path: list[np.ndarray],
    limits: Any, palette: Sequence[str],
) -> None:  # fmt: skip
    """Draw one panel; ``path`` holds the previous centers, if any, and the current ones."""
    centers = path[-1]
    k = len(centers)
    colors = cluster_colors(k, palette)
    paint_regions(ax, lambda at: plane.nearest(at, centers), limits, colors)
    draw_dots(ax, points, codes, k, palette, scale=0.4)
    for j in range(k):
        tint = darker(colors[j])
        if len(path) > 1:
            ax.plot(*np.array([path[0][j], centers[j]]).T, color=tint, lw=1.4, zorder=3)
        ax.plot(
            *centers[j], marker="X", markersize=11, color=tint, markeredgecolor="white",
            markeredgewidth=1.3, zorder=4,
        )  # fmt: skip
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
    ax.set_xticks([])
    ax.set_yticks([])
    quiet_frame(ax, spines=("left", "bottom", "right", "top"))


# --- Silhouettes ---


def silhouette(
    X: Any, labels: Any, *, metric: Any = "euclidean", values: Any = None,
    names: Sequence[str] | None = None, palette: Sequence[str] = PALETTE,
    title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw the silhouette of every row, cluster by cluster, the best rows first.

    Wide, full shapes are well separated clusters; rows below zero are nearer to another
    cluster.

    Parameters
    ----------
    X : what was clustered
        As for ``tacit.measure.silhouette_samples``.
    labels : sequence of n, the cluster of every row, at least two different ones
    metric : str or function; the distance between two rows
    values : array of n, optional; silhouettes computed before; X may then be None
    names : sequence of str, optional; of the clusters, in the order of the sorted labels
    palette, title, ax : as for ``dendrogram``

    Examples
    --------
    >>> ax = silhouette(np.array([[0.0], [1.0], [9.0], [10.0]]), [0, 0, 1, 1])
    >>> ax.get_xlabel()
    'silhouette'
    """
    if values is None:
        from tacit.measure.pair_scores import silhouette_samples

        values = silhouette_samples(X, labels, metric=metric)
    values = np.asarray(values, np.float64)
    codes = codes_of(labels, name="silhouette", rows=len(values))
    k = len(codes.names)
    texts = check_names(names, codes.names, "silhouette", "cluster")
    if not (np.abs(values) <= 1).all():
        raise ValueError("silhouette(values=...) must lie between -1 and 1.")
    ax = axes_or_new(ax, 6.5, float(np.clip(1.5 + 0.5 * k, 3.5, 10.0)))
    gap = 0.02 * len(values) + 0.5
    middle, start = [], 0.0
    colors = cluster_colors(k, palette)
    for j in range(k):
        members = np.sort(values[codes.codes == j])[::-1]
        height = len(members)
        picked = members[np.linspace(0, height - 1, min(height, MOST_BARS)).round().astype(int)]
        edges = start + np.linspace(0, height, len(picked) + 1)
        ax.stairs(picked, edges, orientation="horizontal", fill=True, color=colors[j], lw=0)
        middle.append(start + height / 2)
        mean = float(members.mean())
        ax.plot([mean, mean], [start, start + height], color="white", lw=1.2, alpha=0.9)
        start += height + gap
    total = float(values.mean())
    ax.axvline(0.0, color=NEUTRAL, lw=0.8)
    ax.axvline(total, color=NEUTRAL, lw=0.8, linestyle=(0, (5, 4)))
    ax.set_ylim(start - gap / 2, -gap / 2)  # the first cluster on top
    ax.set_xlim(min(-0.05, 1.08 * float(values.min())), max(0.3, 1.05 * float(values.max())))
    below = float(np.mean(values < 0))
    note = f"mean {total:.2f} (dashed); {below:.1%} of the rows below 0"
    finish(ax, title, note, xlabel="silhouette", grid="x", spines=("bottom",))
    means = np.bincount(codes.codes, values) / codes.counts
    write_clusters(ax, middle, texts, codes.counts, means, colors)
    return ax


def write_clusters(
    ax: "Axes", middle: list[float], names: list[str], counts: np.ndarray, means: np.ndarray,
    colors: list[str],
) -> None:  # fmt: skip
    """Write names and sizes left of the clusters, means right of them, where there is room."""
    if len(middle) > 40:
        ax.set_yticks([])
        return
    box = ax.get_window_extent()
    slot = float(box.height) * 72 / ax.figure.dpi * float(counts.min() / counts.sum())
    crowded = slot < 9 and len(middle) > 12
    texts = [
        name if crowded else f"{name}: {int(count):,}"
        for name, count in zip(names, counts, strict=True)
    ]
    ax.set_yticks(middle, texts, parse_math=False)
    ax.tick_params(axis="y", length=0)
    for j, label in enumerate(ax.get_yticklabels()):
        label.set_color(darker(colors[j]))
    if not crowded:
        ax.annotate(
            "mean", (1.0, 1.0), (4, 5), xycoords="axes fraction", fontsize=8.5, color=NEUTRAL,
            textcoords="offset points",
        )  # fmt: skip
        for place, mean in zip(middle, means, strict=True):
            ax.annotate(
                f"{mean:.2f}", (1.0, place), (4, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", fontsize=8.5, color=NEUTRAL, va="center",
            )  # fmt: skip

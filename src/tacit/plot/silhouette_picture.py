"""The silhouette plot: how much nearer every row is to its own cluster than to the next.

Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster
analysis. Journal of Computational and Applied Mathematics 20.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.measure.labels import codes_of
from tacit.plot.axes import (
    FAINT,
    NEUTRAL,
    PALETTE,
    cluster_colors,
    darker,
    new_axes,
    quiet_frame,
    title_and_note,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["silhouette"]

MOST_BARS = 2000  # drawn for a cluster; of more, evenly spaced ones


def silhouette(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    values: Any = None,
    names: Sequence[str] | None = None,
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the silhouette of every row, cluster by cluster, the best rows first.

    Wide, full shapes are well separated clusters; rows below zero are nearer to another
    cluster.

    Parameters
    ----------
    X : what was clustered
        As for ``tacit.measure.silhouette_samples``.
    labels : sequence of n
        The cluster of every row, at least two different ones.
    metric : str or function
        The distance between two rows.
    values : array of n, optional
        Silhouettes computed before; X may then be None.
    names : sequence of str, optional
        Of the clusters, in the order of the sorted labels.
    palette, title, ax
        As for ``dendrogram``.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> ax = silhouette(np.array([[0.0], [1.0], [9.0], [10.0]]), [0, 0, 1, 1])
    >>> ax.get_xlabel()
    'silhouette'
    """
    if values is None:
        from tacit.measure.silhouette import silhouette_samples

        values = silhouette_samples(X, labels, metric=metric)
    values = np.asarray(values, np.float64)
    codes = codes_of(labels, name="silhouette", rows=len(values))
    k = len(codes.names)
    called = [str(each) for each in (codes.names if names is None else names)]
    if len(called) != k:
        raise ValueError(f"silhouette needs {k} names, one per cluster, but got {len(called)}.")
    if not (np.abs(values) <= 1).all():
        raise ValueError("silhouette(values=...) must lie between -1 and 1.")
    if ax is None:
        ax = new_axes(6.5, float(np.clip(1.5 + 0.5 * k, 3.5, 10.0)))
    gap = 0.02 * len(values) + 0.5
    middle, start = [], 0.0
    colors = cluster_colors(k, palette)
    for j in range(k):
        own = np.sort(values[codes.codes == j])[::-1]
        height = len(own)
        picked = own[np.linspace(0, height - 1, min(height, MOST_BARS)).round().astype(int)]
        edges = start + np.linspace(0, height, len(picked) + 1)
        ax.stairs(picked, edges, orientation="horizontal", fill=True, color=colors[j], lw=0)
        middle.append(start + height / 2)
        mean = float(own.mean())
        ax.plot([mean, mean], [start, start + height], color="white", lw=1.2, alpha=0.9)
        start += height + gap
    total = float(values.mean())
    ax.axvline(0.0, color=NEUTRAL, lw=0.8)
    ax.axvline(total, color=NEUTRAL, lw=0.8, linestyle=(0, (5, 4)))
    ax.set_ylim(start - gap / 2, -gap / 2)  # the first cluster on top
    ax.set_xlim(min(-0.05, 1.08 * float(values.min())), max(0.3, 1.05 * float(values.max())))
    ax.set_xlabel("silhouette")
    ax.xaxis.grid(True, color=FAINT, linewidth=0.6)
    quiet_frame(ax, spines=("bottom",))
    write_clusters(ax, middle, called, codes.counts, values, codes.codes, colors)
    below = float(np.mean(values < 0))
    note = f"mean {total:.2f} (dashed); {below:.1%} of the rows below 0"
    title_and_note(ax, title, note)
    return ax


def write_clusters(
    ax: "Axes",
    middle: list[float],
    called: list[str],
    counts: np.ndarray,
    values: np.ndarray,
    codes: np.ndarray,
    colors: list[str],
) -> None:
    """Names left of the clusters, sizes and means right of them."""
    means = np.bincount(codes, values) / counts
    box = ax.get_window_extent()
    slot = float(box.height) * 72 / ax.figure.dpi * float(counts.min() / counts.sum())
    ax.set_yticks(middle if len(middle) <= 40 else [])
    if len(middle) > 40:
        return
    crowded = slot < 9 and len(middle) > 12
    texts = [
        name if crowded else f"{name}: {int(count):,}"
        for name, count in zip(called, counts, strict=True)
    ]
    ax.set_yticklabels(texts, parse_math=False)
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

"""Clusters as a map: rows by the two directions in which they differ most, in the color of
their cluster.

The regions behind the dots are those of the picture, not of the model: what is nearest to the
mean of each cluster as drawn. The note says how much of the variance the picture shows, and how
many rows lie in the region of their own cluster: where that is few, the clusters differ in
directions that the picture does not have.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.measure.labels import codes_of
from tacit.plot.axes import (
    PALETTE,
    cluster_colors,
    draw_dots,
    in_words,
    legend_beside,
    new_axes,
    quiet_frame,
    title_and_note,
    write_name,
)
from tacit.plot.plane import plane_of, rows_of
from tacit.plot.regions_picture import limits_of, paint_regions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["cluster_map"]


def cluster_map(
    X: Any,
    labels: Any,
    *,
    names: Sequence[str] | None = None,
    regions: bool = True,
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw rows of any width in the plane, in the colors of their clusters.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows. Two columns are drawn as they are, more by the first two principal directions.
    labels : sequence of n
        The cluster of every row.
    names : sequence of str, optional
        Of the clusters, in the order of the sorted labels; the labels otherwise.
    regions : bool
        Whether to paint what is nearest to each cluster's mean in the picture.
    palette, title
        As for ``dendrogram``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0, 0.0], [0.2, 1.1, 0.0], [9.0, 8.0, 0.1], [9.1, 8.2, 0.0]])
    >>> ax = cluster_map(rows, ["low", "low", "high", "high"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['high: 2', 'low: 2']
    """
    rows = rows_of(X, "cluster_map")
    codes = codes_of(labels, name="cluster_map", rows=rows.shape[0])
    k = len(codes.names)
    called = [str(each) for each in (codes.names if names is None else names)]
    if len(called) != k:
        raise ValueError(
            f"cluster_map needs {k} names, one per cluster, but got {len(called)}."
        )
    if ax is None:
        ax = new_axes(7.5, 5.5)
    plane = plane_of(rows)
    points = plane.project(rows)
    means = np.array([points[codes.codes == j].mean(axis=0) for j in range(k)])
    limits = limits_of(points)
    notes = []
    if rows.shape[1] > 2:
        notes.append(f"{plane.explained:.0%} of the variance shown")
    if regions and k > 1:
        colors = cluster_colors(k, palette)
        paint_regions(ax, lambda at: plane.nearest(at, means), limits, colors)
        inside = float(np.mean(plane.nearest(points, means) == codes.codes))
        notes.append(f"{inside:.0%} of the rows lie in the region of their own cluster")
    draw_dots(ax, points, codes.codes, k, palette)
    if k <= 40:
        for j, color in enumerate(cluster_colors(k, palette)):
            write_name(ax, means[j], called[j], color)
    words = in_words(codes.names) if names is None else called
    legend_beside(ax, words, codes.counts, palette)
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
    across, up = plane.labels()
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    if not up:
        ax.set_yticks([])
    quiet_frame(ax)
    title_and_note(ax, title, "; ".join(notes))
    return ax

"""Rows and items as a map. Rows: by the two directions in which they differ most, in the color
of their cluster.

The regions behind the dots are those of the picture, not of the model: what is nearest to the
mean of each cluster as drawn. The note says how much of the variance the picture shows, and how
many rows lie in the region of their own cluster: where that is few, the clusters differ in
directions that the picture does not have.

Items of a recommender are drawn by the two directions in which their vectors differ most:
neighbors on the map are items that the same users like. Names are written for a few items, the
ones with the most ratings first, where they do not cover each other; all items are dots.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.measure.labels import codes_of
from tacit.plot.axes import (
    PALETTE,
    cluster_colors,
    darker,
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

__all__ = ["cluster_map", "item_map"]

LONGEST = 28  # characters of the name of an item


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


def item_map(
    model: Any,
    names: Mapping[Any, str] | None = None,
    *,
    top: int = 300,
    labels: int = 45,
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the items of a fitted factor model in two dimensions, with names.

    Parameters
    ----------
    model : a fitted factor model (``ALS``, ``BiasedSGD``, ``ImplicitALS``)
    names : mapping of item ids to names, optional
        The ids otherwise.
    top : int
        How many items to draw, those with the most ratings.
    labels : int
        How many names to write at most.
    palette, title, ax
        As for ``dendrogram``.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from tacit.recommend import ALS
    >>> triples = [(u, i, 3 + (u % 2 == i % 2)) for u in range(9) for i in range(6) if u != i]
    >>> ax = item_map(ALS(2, random_state=0).fit(triples), {0: "Alien"})
    >>> "Alien" in [text.get_text() for text in ax.texts]
    True
    """
    if not hasattr(model, "item_factors_") or model.item_factors_.shape[1] < 1:
        raise ValueError(
            f"item_map draws the vectors of items, but {type(model).__name__} has none. Give a "
            "fitted ALS, BiasedSGD or ImplicitALS."
        )
    for name, value in (("top", top), ("labels", labels)):
        if value < 1:
            raise ValueError(f"item_map({name}={value}) must be at least 1.")
    counts = np.bincount(model.ratings_.indices, minlength=len(model.item_ids_))
    chosen = np.argsort(-counts, kind="stable")[:top]
    points, explained = project(model.item_factors_[chosen].astype(np.float64))
    if ax is None:
        ax = new_axes(9.0, 6.5)
    sizes = 6 + 40 * counts[chosen] / max(1, counts.max())
    color = palette[4 % len(palette)]
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=sizes,
        c=color,
        alpha=0.7,
        linewidths=0.3,
        edgecolors="white",
    )
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-12)
    ax.set_xlim(low[0] - 0.04 * span[0], high[0] + 0.16 * span[0])
    ax.set_ylim(low[1] - 0.05 * span[1], high[1] + 0.05 * span[1])
    called = [shortened(each, names or {}) for each in model.item_ids_[chosen].tolist()]
    write_names(ax, points, called, (points - low) / span, labels, darker(palette[1]))
    quiet_frame(ax, spines=())
    ax.set_xticks([])
    ax.set_yticks([])
    note = f"{len(chosen):,} items with the most ratings; {explained:.0%} of the variance shown"
    title_and_note(ax, title, note)
    return ax


def project(vectors: np.ndarray) -> tuple[np.ndarray, float]:
    """Points in the plane of the largest variance, and the fraction of the variance there."""
    centered = vectors - vectors.mean(axis=0)
    U, s, _ = np.linalg.svd(centered, full_matrices=False)
    points = np.zeros((len(vectors), 2))
    kept = min(2, len(s))
    points[:, :kept] = U[:, :kept] * s[:kept]
    signs = np.where(points.sum(axis=0) < 0, -1.0, 1.0)  # the same picture every time
    return points * signs, float((s[:2] ** 2).sum() / max((s**2).sum(), 1e-300))


def shortened(id: Any, names: Mapping[Any, str]) -> str:
    text = " ".join(str(names.get(id, id)).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def write_names(
    ax: "Axes", points: np.ndarray, names: list[str], places: np.ndarray, most: int, color: str
) -> None:
    """Names beside their dots, those that come first first; none over another."""
    taken: list[tuple[float, float, float]] = []
    for point, name, (x, y) in zip(points, names, places, strict=True):
        width = 0.0075 * len(name) + 0.02
        free = all(abs(y - v) > 0.026 or x + width < u or u + w < x for u, v, w in taken)
        if not free:
            continue
        taken.append((x, y, width))
        ax.annotate(
            name, point, (4, 0), textcoords="offset points", fontsize=7, color=color,
            va="center", parse_math=False,
        )  # fmt: skip
        if len(taken) == most:
            return

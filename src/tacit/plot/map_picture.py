"""Rows, columns and items as points in the plane, in the colors of their groups.

``cluster_map`` draws rows on their first two principal components. The regions behind the dots
are those of the picture, not of the model: the points nearest to the mean of each cluster as
drawn. The note says how much of the variance the picture shows, and how many rows lie in the
region of their cluster: where these are few, the clusters differ in directions that the picture
does not show. ``decision_regions`` colors the plane by the predictions of a model.

``biplot`` adds columns as arrows: how far a row moves when its value in that column is one
standard deviation larger. Columns that vary together point the same way.

``item_map`` draws the items of a recommender: neighbors are items that the same users like. The
names of those with the most ratings are written, where they do not overlap.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

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
    in_words,
    legend_beside,
    write_name,
)
from tacit.plot.plane import limits_of, paint, paint_regions, plane_of, predict_grid, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["biplot", "cluster_map", "codes", "decision_regions", "item_map"]

LONGEST = 28  # characters of the name of an item
REACH = 0.85  # of the longest arrow, relative to the farthest dot


def cluster_map(
    X: Any, labels: Any, *, names: Sequence[str] | None = None, regions: bool = True,
    palette: Sequence[str] = PALETTE, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw rows of any width in the plane, in the colors of their clusters.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows. Two columns are drawn as they are, more by the first two principal directions.
    labels : sequence of n, the cluster of every row
    names : sequence of str, optional; of the clusters, in the order of the sorted labels
    regions : bool, whether to color the points nearest to the mean of each cluster as drawn
    palette, title, ax : as for ``dendrogram``

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
    texts = check_names(names, codes.names, "cluster_map", "cluster")
    ax = axes_or_new(ax, 7.5, 5.5)
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
            write_name(ax, means[j], texts[j], color)
    legend_beside(ax, in_words(codes.names) if names is None else texts, codes.counts, palette)
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
    across, up = plane.labels()
    if not up:
        ax.set_yticks([])
    return finish(ax, title, "; ".join(notes), xlabel=across, ylabel=up)


def decision_regions(
    model: Any, X: Any, *, labels: Any = None, names: Sequence[str] | None = None,
    columns: Sequence[str] = ("column 1", "column 2"), resolution: int = 300,
    palette: Sequence[str] = PALETTE, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Color the plane by the predictions of a model, and draw the rows on top.

    Parameters
    ----------
    model : fitted model with ``predict``, or a function
        Returns a label for every row of an array of two columns.
    X : array of shape (n, 2)
        Rows to draw. They set the limits of the picture.
    labels : sequence of n, optional
        The true class of every row; rows whose prediction differs get a ring. By default rows
        are drawn in the color of their prediction.
    names : sequence of str, optional; of the labels, in sorted order
    columns : two str, names of the axes
    resolution : int, predictions along each side
    palette, title, ax : as for ``dendrogram``

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
    texts = check_names(names, in_words(kinds.names), "decision_regions", "label")
    ax = axes_or_new(ax, 7.5, 5.5)
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
    legend_beside(ax, texts, np.bincount(kinds.codes[:n], minlength=k), palette)
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
    return finish(ax, title, note, xlabel=columns[0], ylabel=columns[1])


def codes(
    Z: Any, labels: Any = None, *, names: Sequence[str] | None = None,
    palette: Sequence[str] = PALETTE, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw codes in the plane, in the colors of their labels.

    Two columns are drawn as they are, more by the first two principal directions.

    >>> ax = codes(np.array([[0.0, 1.0], [2.0, 3.0]]), [0, 1])
    >>> len(ax.collections)
    2
    """
    rows = rows_of(Z, "codes")
    n = rows.shape[0]
    groups = codes_of(np.zeros(n, int) if labels is None else labels, name="codes", rows=n)
    ax = axes_or_new(ax, 6.2, 5.0)
    plane = plane_of(rows)
    draw_dots(ax, plane.project(rows), groups.codes, len(groups.names), palette)
    if labels is not None:
        texts = check_names(names, in_words(groups.names), "codes", "label")
        legend_beside(ax, texts, groups.counts, palette)
    across, up = plane.labels()
    note = f"{plane.explained:.0%} of the variance shown" if rows.shape[1] > 2 else ""
    return finish(ax, title, note, xlabel=across, ylabel=up)


# --- Rows and columns ---


def biplot(
    model: Any, X: Any, *, labels: Any = None, names: Sequence[str] | None = None,
    axes: tuple[int, int] = (0, 1), arrows: int = 12, palette: Sequence[str] = PALETTE,
    title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw rows and columns on two components of a fitted PCA.

    Parameters
    ----------
    model : PCA, fitted, with two components or more
    X : rows, as for its ``transform``
    labels : sequence of n, optional; a color per label, and a legend
    names : sequence of d, optional; the names of the columns; their numbers otherwise
    axes : two numbers, the components to draw, counted from 0
    arrows : int, the number of columns with an arrow, the longest ones; 0 for none
    palette, title, ax : as for ``dendrogram``

    Examples
    --------
    >>> from tacit.decompose import PCA
    >>> X = np.random.default_rng(0).normal(size=(30, 3)) * [5, 2, 1]
    >>> ax = biplot(PCA(2).fit(X), X, names=["age", "weight", "height"])
    >>> sorted(text.get_text() for text in ax.texts if text.get_text())
    ['age', 'weight']
    """
    i, j = axes
    k, d = model.components_.shape
    if not (0 <= i < k and 0 <= j < k):
        raise ValueError(
            f"biplot(axes={tuple(axes)}) needs two of the model's components, of which it "
            f"has {k}, counted from 0. Fit more, or choose others."
        )
    names = check_names(names, range(d), "biplot", "column")
    points = np.asarray(model.transform(X), np.float64)[:, [i, j]]
    ax = axes_or_new(ax, 7.0, 6.0)
    codes = np.zeros(len(points), np.int64)
    if labels is not None:
        classes, codes = np.unique(np.asarray(labels), return_inverse=True)
        if len(codes) != len(points):
            raise ValueError(
                f"biplot needs {len(points)} labels, one per row, but got {len(codes)}."
            )
    colors = [*palette[1:], *palette[:1]]  # the first color is that of the arrows
    ax.axhline(0, color="#EEEEEE", lw=1, zorder=0)
    ax.axvline(0, color="#EEEEEE", lw=1, zorder=0)
    draw_dots(ax, points, codes, int(codes.max(initial=0)) + 1, colors)
    draw_arrows(ax, model, points, (i, j), names, arrows, palette[0])
    if labels is not None:
        legend_beside(ax, in_words(classes), np.bincount(codes), colors)
    ax.margins(0.08)
    ratios = np.asarray(model.explained_variance_ratio_)
    across, up = (f"component {c + 1}: {ratios[c]:.1%} of the variance" for c in (i, j))
    return finish(ax, title, xlabel=across, ylabel=up)


def draw_arrows(
    ax: "Axes", model: Any, points: np.ndarray, axes: tuple[int, int], names: Sequence[str],
    number: int, color: str,
) -> None:  # fmt: skip
    """Draw the longest arrows, scaled to the dots."""
    pair = list(axes)
    deviations = np.sqrt(np.asarray(model.explained_variance_, np.float64)[pair])
    tips = np.asarray(model.components_, np.float64)[pair].T * deviations  # (d, 2)
    lengths = np.hypot(*tips.T)
    longest = np.argsort(-lengths, kind="stable")[:number]
    longest = longest[lengths[longest] > 0.05 * lengths.max(initial=0.0)]
    reach = np.abs(points).max(axis=0, initial=0.0)
    widest = np.abs(tips[longest]).max(axis=0, initial=0.0)
    if not len(longest) or not (reach > 0).any():
        return
    scales = [r / w for r, w in zip(reach, widest, strict=True) if r > 0 and w > 0]
    tips = tips * (REACH * min(scales, default=1.0))
    for c in longest:
        ax.annotate(
            "", tips[c], (0, 0), zorder=4,
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.4, "shrinkA": 0,
                        "shrinkB": 0},
        )  # fmt: skip
    for c, at in zip(longest, apart(1.1 * tips[longest], reach), strict=True):
        write_name(ax, at, names[c], color if number <= 20 else NEUTRAL)


def apart(places: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """The places of names, moved up where two would overlap."""
    places = places.copy()
    room, near = 0.09 * reach[1], 0.5 * reach[0]
    order = np.argsort(places[:, 1], kind="stable")
    for i, c in enumerate(order):
        for below in order[:i]:
            close = abs(places[c, 0] - places[below, 0]) < near
            if close and places[c, 1] - places[below, 1] < room:
                places[c, 1] = places[below, 1] + room
    return places


# --- Items ---


def item_map(
    model: Any, names: Mapping[Any, str] | None = None, *, top: int = 300, labels: int = 45,
    palette: Sequence[str] = PALETTE, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw the items of a fitted factor model in two dimensions, with names.

    Parameters
    ----------
    model : a fitted factor model (``ALS``, ``BiasedSGD``, ``ImplicitALS``)
    names : mapping of item ids to names, optional; the ids otherwise
    top : int, how many items to draw, those with the most ratings
    labels : int, how many names to write at most
    palette, title, ax : as for ``dendrogram``

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
    vectors = model.item_factors_[chosen].astype(np.float64)
    plane = plane_of(vectors)
    points = plane.project(vectors)
    ax = axes_or_new(ax, 9.0, 6.5)
    sizes = 6 + 40 * counts[chosen] / max(1, counts.max())
    color = palette[4 % len(palette)]
    x, y = points.T
    ax.scatter(x, y, s=sizes, c=color, alpha=0.7, linewidths=0.3, edgecolors="white")
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-12)
    ax.set_xlim(low[0] - 0.04 * span[0], high[0] + 0.16 * span[0])
    ax.set_ylim(low[1] - 0.05 * span[1], high[1] + 0.05 * span[1])
    known = names or {}
    texts = [" ".join(str(known.get(i, i)).split()) for i in model.item_ids_[chosen].tolist()]
    texts = [text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in texts]
    write_names(ax, points, texts, (points - low) / span, labels, darker(palette[1]))
    ax.set_xticks([])
    ax.set_yticks([])
    note = f"{len(chosen):,} items with the most ratings; {plane.explained:.0%} of the variance"
    return finish(ax, title, f"{note} shown", spines=())


def write_names(
    ax: "Axes", points: np.ndarray, names: list[str], places: np.ndarray, most: int, color: str
) -> None:
    """Write up to ``most`` names next to their dots, in order, skipping those that overlap."""
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

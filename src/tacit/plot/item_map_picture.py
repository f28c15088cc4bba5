"""Items as a map: the two directions in which their vectors differ most, with names.

Neighbors on the map are items that the same users like. Names are written for a few items, the
ones with the most ratings first, where they do not cover each other; all items are dots.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import PALETTE, darker, new_axes, quiet_frame, title_and_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["item_map"]

LONGEST = 28  # characters of a name


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
    """Points in the plane of the largest variance, and its share of it."""
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

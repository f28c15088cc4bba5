"""The contact sheet: many small pictures in rows and columns, each with a caption."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import NEUTRAL, new_axes, title_and_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["contact_sheet"]

GAP = 0.06  # between pictures, of their width
CAPTION = 0.16  # of their height, for a line of text below


def contact_sheet(
    images: Any,
    *,
    captions: Sequence[str] | None = None,
    columns: int | None = None,
    scale: str = "each",
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw gray or color pictures side by side.

    Parameters
    ----------
    images : array of shape (n, height, width) or (n, height, width, 3)
    captions : sequence of n, optional
        A line below each.
    columns : int, optional
        Pictures in a row.
    scale : {"each", "signed", "shared"}
        How numbers become gray: from the darkest to the brightest of each picture; so that 0 is
        middle gray in each, for pictures that are differences or components; or from the
        darkest to the brightest of all, for pictures to compare.
    title, ax
        As for ``dendrogram``.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> images = np.random.default_rng(0).random((5, 8, 6))
    >>> ax = contact_sheet(images, captions=["a", "b", "c", "d", "e"], columns=3)
    >>> [text.get_text() for text in ax.texts]
    ['a', 'b', 'c', 'd', 'e']
    """
    pictures = np.asarray(images, np.float64)
    if pictures.ndim not in (3, 4) or not len(pictures) or pictures.shape[3:] not in ((), (3,)):
        raise ValueError(
            "contact_sheet needs images of shape (n, height, width) or (n, height, width, 3), "
            f"but got {pictures.shape}."
        )
    if not np.isfinite(pictures).all():
        raise ValueError("contact_sheet: an image holds values that are not finite.")
    n, height, width = pictures.shape[:3]
    if captions is not None and len(captions) != n:
        raise ValueError(
            f"contact_sheet needs {n} captions, one per image, not {len(captions)}."
        )
    if columns is None:
        columns = min(n, max(1, round(np.sqrt(1.6 * n * height / width))))
    rows = -(-n // columns)
    wide, high = width * (1 + GAP), height * (1 + GAP + (CAPTION if captions else 0))
    if ax is None:
        inches = min(10.0, 1.25 * columns)
        ax = new_axes(inches, inches * rows * high / (columns * wide) + (0.4 if title else 0))
    for i, picture in enumerate(as_gray(pictures, scale)):
        row, column = divmod(i, columns)
        left, top = column * wide, row * high
        ax.imshow(
            picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest",
            extent=(left, left + width, top + height, top),
        )  # fmt: skip
        if captions is not None:
            size = float(np.clip(64 / max(columns, 1), 5.5, 9.0))
            ax.text(
                left + width / 2, top + height * 1.02, str(captions[i]), ha="center", va="top",
                fontsize=size, color=NEUTRAL, parse_math=False, clip_on=True,
            )  # fmt: skip
    ax.set_xlim(0, columns * wide - GAP * width)
    ax.set_ylim(rows * high - GAP * height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    title_and_note(ax, title)
    return ax


def as_gray(pictures: np.ndarray, scale: str) -> np.ndarray:
    """Pictures with values from 0 to 1."""
    if scale == "shared":
        low, high = pictures.min(), pictures.max()
    elif scale in ("each", "signed"):
        inner = tuple(range(1, pictures.ndim))
        low = pictures.min(axis=inner, keepdims=True)
        high = pictures.max(axis=inner, keepdims=True)
        if scale == "signed":
            high = np.maximum(high, -low)
            low = -high
    else:
        raise ValueError(
            f"contact_sheet(scale={scale!r}) must be 'each', 'signed' or 'shared'."
        )
    span = np.asarray(high - low)
    out = np.full_like(pictures, 0.5)
    return np.divide(pictures - low, span, out=out, where=np.broadcast_to(span > 0, out.shape))

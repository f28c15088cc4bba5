"""Rows as images: samples of a generator, the filters of a network, reconstructions; and the
contact sheet, a grid of small pictures with captions.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import NEUTRAL, axes_or_new, title_and_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["contact_sheet", "filters", "image_shape", "reconstructions", "samples", "tiled"]

MOST = 100  # images in a picture, unless more are asked for
INCH = 0.55  # an image
GAP = 0.06  # between pictures of a contact sheet, of their width
CAPTION = 0.16  # of their height, for a line of text below


def image_shape(width: int, shape: tuple[int, int] | None, name: str) -> tuple[int, int]:
    """The height and width of images of ``width`` values, square by default.

    >>> image_shape(784, None, "samples")
    (28, 28)
    """
    if shape is None:
        side = int(np.sqrt(width))
        shape = (side, side) if side * side == width else (1, width)
    if shape[0] * shape[1] != width:
        raise ValueError(
            f"{name}(shape={shape}) needs rows of {shape[0] * shape[1]} values, but they have "
            f"{width}. Give the height and width of the images."
        )
    return int(shape[0]), int(shape[1])


def tiled(images: np.ndarray, columns: int, gap: float) -> np.ndarray:
    """Images (n, h, w) in one array, row by row, with a line of ``gap`` between them.

    >>> tiled(np.ones((3, 1, 1)), 2, 0.0)
    array([[1., 0., 1.],
           [0., 0., 0.],
           [1., 0., 0.]])
    """
    n, height, width = images.shape
    rows = -(-n // columns)
    page = np.full((rows * (height + 1) - 1, columns * (width + 1) - 1), gap, np.float64)
    for i, image in enumerate(images):
        top, left = (i // columns) * (height + 1), (i % columns) * (width + 1)
        page[top : top + height, left : left + width] = image
    return page


def samples(
    rows: Any, *, shape: tuple[int, int] | None = None, columns: int | None = None,
    title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw rows as images in a grid, dark for large values.

    Parameters
    ----------
    rows : array of shape (n, h * w); the first 100 are drawn
    shape : (int, int), optional; height and width of an image; square by default
    columns : int, optional; images in a line
    title, ax : as for ``dendrogram``

    Examples
    --------
    >>> ax = samples(np.random.default_rng(0).random((6, 16)), columns=3)
    >>> ax.get_images()[0].get_array().shape
    (9, 14)
    """
    rows = as_images(rows, "samples")[:MOST]
    return draw(rows, "samples", shape, columns, title, ax, low=rows.min(), high=rows.max())


def filters(
    model: Any, *, shape: tuple[int, int] | None = None, columns: int | None = None,
    most: int = MOST, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw the weights of a network's first layer as images, one for each hidden unit.

    Gray is 0; every filter is divided by its largest weight. ``model`` is a fitted RBM or
    Autoencoder, or an array with a filter in each row; those of the largest norm come first.
    """
    weights = getattr(model, "components_", model)
    if hasattr(model, "encoder_weights_"):
        weights = model.encoder_weights_[0].T
    weights = as_images(weights, "filters")
    order = np.argsort(-np.linalg.norm(weights, axis=1), kind="stable")[:most]
    largest = np.abs(weights[order]).max(axis=1, keepdims=True)
    scaled = weights[order] / np.where(largest > 0, largest, 1.0)
    return draw(scaled, "filters", shape, columns, title, ax, low=-1.0, high=1.0)


def reconstructions(
    model: Any, X: Any, *, shape: tuple[int, int] | None = None, most: int = 10,
    noisy: Any = None, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw rows above their reconstructions by a network.

    ``noisy``, the same rows with noise, are drawn in between, and reconstructed instead.
    """
    rows = as_images(X, "reconstructions")[:most]
    shown = {"original": rows}
    if noisy is not None:
        shown["noisy"] = as_images(noisy, "reconstructions")[:most]
    back = model.reconstruct(shown.get("noisy", rows))
    shown["reconstruction" if noisy is None else "back"] = back
    low, high = float(rows.min()), float(rows.max())
    ax = draw(
        np.clip(np.concatenate([*shown.values()]), low, high), "reconstructions", shape,
        len(rows), title, ax, low=low, high=high,
    )  # fmt: skip
    error = float(np.square(rows - back).sum(axis=1).mean())
    height = image_shape(rows.shape[1], shape, "reconstructions")[0]
    ax.set_yticks([i * (height + 1) + height / 2 - 0.5 for i in range(len(shown))], [*shown])
    ax.tick_params(length=0, labelsize=8.5, labelcolor=NEUTRAL)
    title_and_note(ax, title, f"squared error {error:.3g} per row")
    return ax


def as_images(rows: Any, name: str) -> np.ndarray:
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(
            f"{name} needs rows with an image in each, but got the shape {rows.shape}."
        )
    return rows


def draw(
    rows: np.ndarray, name: str, shape: tuple[int, int] | None, columns: int | None,
    title: str | None, ax: "Axes | None", *, low: float, high: float,
) -> "Axes":  # fmt: skip
    height, width = image_shape(rows.shape[1], shape, name)
    columns = columns or int(np.ceil(np.sqrt(len(rows))))
    lines = -(-len(rows) // columns)
    tall = max(1.0, INCH * lines * height / width + 0.4)
    ax = axes_or_new(ax, max(2.5, INCH * columns), tall)
    page = tiled(rows.reshape(-1, height, width), columns, low)
    ax.imshow(page, cmap="gray_r", vmin=low, vmax=high, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    title_and_note(ax, title)
    return ax


def contact_sheet(
    images: Any, *, captions: Sequence[str] | None = None, columns: int | None = None,
    scale: str = "each", title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw gray or color pictures side by side.

    Parameters
    ----------
    images : array of shape (n, height, width) or (n, height, width, 3)
    captions : sequence of n, optional; a line below each
    columns : int, optional; pictures in a row
    scale : {"each", "signed", "shared"}
        How numbers become gray: from the lowest to the highest value of each picture; so that
        0 is middle gray in each, for differences or components; or from the lowest to the
        highest value of all, for pictures to compare.
    title, ax : as for ``dendrogram``

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
    inches = min(10.0, 1.25 * columns)
    tall = inches * rows * high / (columns * wide) + (0.4 if title else 0)
    ax = axes_or_new(ax, inches, tall)
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

"""Images as rows of numbers: from a folder, a .npz or a .npy file.

A folder holds one image to a file: .pgm and .ppm are read here, .png, .jpg and the like by
Pillow, which comes with the extra ``plot``. Subfolders are labels. A .npy file holds a stack of
shape (n, height, width), with a last axis of 3 for color, or (n, pixels) of square images; a
.npz file holds such a stack and, if there is one, an array of n labels. Color becomes gray.
"""

import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.errors import DataError, reading
from tacit.core.memory import check_memory, format_bytes
from tacit.core.wording import did_you_mean
from tacit.data.streams import BOMB_RATIO, BOMB_SIZE

__all__ = ["Images", "read_images"]

NETPBM = (".pgm", ".ppm", ".pnm")
PILLOW = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
LARGEST = 2**26  # pixels of one image
GRAY = np.array([0.299, 0.587, 0.114])  # luminance of red, green and blue (ITU-R BT.601)
LABELS = ("target", "targets", "label", "labels", "y")
STACKS = ("images", "data", "X", "x", "faces", "pixels")
GAP = rb"(?:\s|#[^\n]*\n)+"
HEADER = re.compile(rb"(P[2356])" + 3 * (GAP + rb"(\d{1,9})") + rb"\s")
TERM = re.compile(r"\s*([+-])?\s*(?:(\d+(?:\.\d*)?|\.\d+)\s*\*\s*)?(.+?)\s*(?=\s[+-]\s|$)")


@dataclass(frozen=True)
class Images:
    """Gray images of one size, with their names and, if known, labels."""

    pixels: np.ndarray  # (n, height, width) float64
    names: list[str]
    labels: np.ndarray | None = None
    source: str = ""
    skipped: tuple[str, ...] = ()  # symbolic links that lead outside the folder

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def rows(self) -> np.ndarray:
        """(n, height * width), a row for every image."""
        return self.pixels.reshape(len(self.pixels), -1)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[1], self.pixels.shape[2]

    def pictures(self, rows: np.ndarray) -> np.ndarray:
        """Rows as images of this size again."""
        return np.asarray(rows).reshape(-1, *self.size)

    def find(self, item: str | int) -> int:
        """The place of an image, from 0, by its name or its number, from 1."""
        text = str(item)
        if text in self.names:
            return self.names.index(text)
        if text.isdecimal() and len(text) < 19 and 1 <= int(text) <= len(self):
            return int(text) - 1
        raise ValueError(
            f"There is no image {text!r}.{did_you_mean(text, self.names)} Give one of the "
            f"names, such as {self.names[0]!r}, or a number from 1 to {len(self)}."
        )

    def combine(self, expression: str) -> np.ndarray:
        """A weighted sum of images: (height, width).

        >>> images = Images(np.arange(8.0).reshape(2, 2, 2), ["a", "b"])
        >>> images.combine("0.5*b - a")
        array([[2. , 1.5],
               [1. , 0.5]])
        """
        total, place = np.zeros(self.size), 0
        while place < len(expression.rstrip()):
            match = TERM.match(expression, place)
            if match is None or match.end() == place:
                raise ValueError(
                    f"{expression!r} is not a sum of images. Write it as 0.5*NAME + 0.5*NAME, "
                    "with spaces around + and -."
                )
            sign, weight, item = match.groups()
            value = float(weight or 1.0) * (-1 if sign == "-" else 1)
            total += value * self.pixels[self.find(item)]
            place = match.end()
        return total


def read_images(
    path: str | Path, *, size: tuple[int, int] | None = None, follow_links: bool = False
) -> Images:
    """Read a folder, a .npz or a .npy file of images.

    ``size`` (height, width) brings the images of a folder to one size. ``follow_links`` reads
    symbolic links that lead outside the folder; otherwise they are skipped.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dot.pgm").write_bytes(b"P5 2 2 255 " + bytes([0, 255, 255, 0]))
    >>> read_images(folder).pixels
    array([[[  0., 255.],
            [255.,   0.]]])
    """
    place = Path(path)
    if place.is_dir():
        return read_folder(place, size, follow_links)
    if not place.exists():
        raise FileNotFoundError(2, "There is no such file or folder", str(path))
    suffix = place.suffix.lower()
    if suffix not in (".npz", ".npy"):
        raise DataError(
            f"is neither a folder of images nor a .npz or .npy file: its name ends in "
            f"{suffix!r}.",
            file=str(path),
        )
    try:
        with open(place, "rb") as stream:
            loaded: Any = np.load(stream, allow_pickle=False)
            if suffix == ".npy":
                return stack_of(loaded, None, place)
            check_members(loaded.zip, place)
            arrays = {name: loaded[name] for name in loaded.files}
    except DataError:
        raise
    except (ValueError, OSError, EOFError, KeyError, AttributeError) as error:
        raise DataError(f"cannot be read: {error}. Save it again.", file=str(path)) from None
    except Exception as error:  # whatever a damaged archive raises
        raise DataError(f"is damaged: {error}. Save it again.", file=str(path)) from None
    # A member that is not an array comes as its bytes.
    wide = {name: array for name, array in arrays.items() if np.ndim(array) >= 2}
    if not wide:
        raise DataError(
            f"has no array of images; it has {sorted(arrays)}. Store one of shape "
            "(n, height, width).",
            file=str(path),
        )
    stack = next((wide[name] for name in STACKS if name in wide), next(iter(wide.values())))
    labels = next((arrays[name] for name in LABELS if name in arrays), None)
    return stack_of(stack, labels, place)


# --- Stacks ---


def check_members(archive: zipfile.ZipFile, place: Path) -> None:
    """Refuse an archive whose members unpack to far more than it has bytes, or than memory has.

    No more than the declared size of a member is ever read.
    """
    packed, unpacked = place.stat().st_size, sum(each.file_size for each in archive.infolist())
    if unpacked > BOMB_SIZE and unpacked > BOMB_RATIO * packed:
        raise DataError(
            f"its {format_bytes(packed)} unpack to {format_bytes(unpacked)}, over {BOMB_RATIO} "
            "times as much, which looks like a decompression bomb. If it is not, save the "
            "images as .npy.",
            file=str(place),
        )
    check_memory(unpacked, f"{place}", "Use fewer.")


def stack_of(stack: np.ndarray, labels: Any, place: Path) -> Images:
    """A stack in any of its shapes, checked."""
    if stack.dtype.kind not in "fiub":
        raise DataError(f"holds {stack.dtype}, not numbers.", file=str(place))
    if stack.ndim == 2:
        side = round(np.sqrt(stack.shape[1]))
        if side * side != stack.shape[1]:
            raise DataError(
                f"has rows of {stack.shape[1]} pixels, which make no square. Store images as "
                "(n, height, width).",
                file=str(place),
            )
        stack = stack.reshape(len(stack), side, side)
    color = stack.ndim == 4 and stack.shape[3] in (1, 3, 4)
    if not (stack.ndim == 3 or color) or 0 in stack.shape:
        raise DataError(
            f"holds an array of shape {stack.shape}. Store images as (n, height, width).",
            file=str(place),
        )
    check_memory(8 * stack[..., 0].size if color else 8 * stack.size, f"{place}", "Use fewer.")
    pixels = np.stack(list(map(to_gray, stack))) if color else stack.astype(np.float64)
    if not np.isfinite(pixels).all():
        i = int(np.argwhere(~np.isfinite(pixels))[0, 0])
        raise DataError("holds a value that is not finite.", file=str(place), row=i)
    if labels is not None and labels.shape != (len(pixels),):
        labels = None  # an array of another length belongs to something else
    return Images(pixels, [str(i + 1) for i in range(len(pixels))], labels, str(place))


def to_gray(image: np.ndarray) -> np.ndarray:
    """Luminance of a color image; a gray one as it is."""
    image = np.asarray(image, np.float64)
    if image.ndim == 2:
        return image
    return image[..., 0] if image.shape[2] < 3 else image[..., :3] @ GRAY


# --- Folders ---


def read_folder(folder: Path, size: tuple[int, int] | None, follow_links: bool) -> Images:
    known = (*NETPBM, *PILLOW)
    below = [  # rglob passes over subfolders that cannot be read
        Path(parent, name)
        for parent, _, names in os.walk(folder, onerror=fail)
        for name in names
    ]
    paths = sorted(
        path for path in below
        if path.suffix.lower() in known and path.is_file() and not path.name.startswith(".")
    )  # fmt: skip
    home = folder.resolve()
    inside = [follow_links or path.resolve().is_relative_to(home) for path in paths]
    outside = [path for path, here in zip(paths, inside, strict=True) if not here]
    paths = [path for path, here in zip(paths, inside, strict=True) if here]
    if not paths:
        links = ", only symbolic links that lead outside it" if outside else ""
        raise DataError(
            f"holds no image{links}. Names end in {', '.join(known[:5])} or the like.",
            file=str(folder),
        )
    images = [read_image(path, size) for path in paths]
    first = images[0].shape
    for path, image in zip(paths, images, strict=True):
        if image.shape != first:
            raise DataError(
                f"is {image.shape[1]} x {image.shape[0]} pixels, but {paths[0].name} is "
                f"{first[1]} x {first[0]}. Give one size for all, such as size=(64, 64).",
                file=str(path),
            )
    names = [path.relative_to(folder).as_posix() for path in paths]
    parents = [path.relative_to(folder).parts[0] for path in paths]
    nested = all(len(path.relative_to(folder).parts) > 1 for path in paths)
    labels = np.array(parents) if nested and len(set(parents)) > 1 else None
    skipped = tuple(path.relative_to(folder).as_posix() for path in outside)
    return Images(np.stack(images), names, labels, str(folder), skipped)


def fail(error: OSError) -> None:
    raise error


def read_image(path: Path, size: tuple[int, int] | None) -> np.ndarray:
    """One image, gray: (height, width) float64."""
    if path.suffix.lower() in NETPBM:
        image = to_gray(read_netpbm(path))
        if size is None or image.shape == tuple(size):
            return image
        return resized(pillow().fromarray(image.astype(np.float32)), size)
    module = pillow()
    try:
        with module.open(path) as image:
            if image.width * image.height > LARGEST:
                raise DataError(f"has more than {LARGEST:,} pixels.", file=str(path))
            gray = image.convert("L")
    except DataError:
        raise
    except Exception as error:  # Pillow raises many kinds
        raise DataError(f"is no image that can be read: {error}.", file=str(path)) from None
    return np.asarray(gray, np.float64) if size is None else resized(gray, size)


def resized(image: Any, size: tuple[int, int]) -> np.ndarray:
    return np.asarray(image.resize((size[1], size[0]), resample=4), np.float64)  # box filter


def pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "Images other than .pgm and .ppm need the package Pillow. Install it with: "
            "pip install 'tacit-learn[plot]'"
        ) from error
    return Image


def read_netpbm(path: Path) -> np.ndarray:
    """PGM and PPM, plain and raw, 8 and 16 bits: (height, width) or (height, width, 3)."""
    with reading(path) as file:
        data = file.read()
    header = HEADER.match(data)
    if header is None:
        raise DataError("is no PGM or PPM image: its header is wrong.", file=str(path))
    kind = header[1]
    width, height, most = (int(number) for number in header.groups()[1:])
    if not (0 < width * height <= LARGEST and 0 < most < 65536):
        raise DataError(f"claims {width} x {height} pixels up to {most}.", file=str(path))
    channels = 3 if kind in (b"P3", b"P6") else 1
    number = width * height * channels
    if kind in (b"P2", b"P3"):
        values = np.array(data[header.end() :].split()[:number], dtype=np.float64)
    else:
        dtype = np.dtype(">u2" if most > 255 else "u1")
        body = data[header.end() : header.end() + number * dtype.itemsize]
        values = np.frombuffer(body[: len(body) // dtype.itemsize * dtype.itemsize], dtype)
    if len(values) < number:
        raise DataError(
            f"ends after {len(values):,} of {number:,} values. Save it again.", file=str(path)
        )
    shape = (height, width) if channels == 1 else (height, width, 3)
    return values.astype(np.float64).reshape(shape)

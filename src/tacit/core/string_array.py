"""Many strings as one array of UTF-8 bytes and the offsets between them.

A model file can map such an array, and one string is decoded when it is asked for.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

__all__ = ["StringArray", "are_offsets", "decode_slices", "offsets_of"]


class StringArray(NamedTuple):
    """Strings one after the other.

    >>> names = StringArray.of(["b.txt", "a.txt"])
    >>> names.get(1), names.find("b.txt"), names.find("c.txt")
    ('a.txt', 0, -1)
    >>> names.strings()
    ['b.txt', 'a.txt']
    """

    data: np.ndarray  # uint8
    offsets: np.ndarray  # (n + 1,) int64

    @classmethod
    def of(cls, strings: Iterable[str]) -> "StringArray":
        """Encode strings; a lone surrogate becomes a question mark."""
        return cls.of_bytes([string.encode("utf-8", "replace") for string in strings])

    @classmethod
    def of_bytes(cls, encoded: list[bytes]) -> "StringArray":
        """Join strings that are encoded already."""
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets_of(map(len, encoded)))

    @property
    def size(self) -> int:
        return len(self.offsets) - 1

    def get(self, i: int) -> str:
        raw = self.data[self.offsets[i] : self.offsets[i + 1]]
        return raw.tobytes().decode("utf-8", "replace")

    def strings(self) -> list[str]:
        """All strings; UnicodeDecodeError if the bytes are not UTF-8."""
        return decode_slices(self.data, self.offsets[:-1], self.offsets[1:])

    def find(self, string: str) -> int:
        """The first place of a string, or -1."""
        encoded = string.encode("utf-8", "replace")
        places = np.flatnonzero(np.diff(self.offsets) == len(encoded))
        for i, byte in enumerate(encoded):
            places = places[self.data[self.offsets[places] + i] == byte]
        return int(places[0]) if len(places) else -1

    def joined(self, other: "StringArray") -> "StringArray":
        """These strings, then the others."""
        offsets = np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]])
        return StringArray(np.concatenate([self.data, other.data]), offsets)


def decode_slices(data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> list[str]:
    """Slices of UTF-8 bytes as strings."""
    raw, edges = data.tobytes(), zip(starts.tolist(), stops.tolist(), strict=True)
    if raw.isascii():  # then characters are bytes, and slicing beats decoding
        text = raw.decode("ascii")
        return [text[i:j] for i, j in edges]
    return [raw[i:j].decode("utf-8") for i, j in edges]


def offsets_of(sizes: Iterable[int] | np.ndarray) -> np.ndarray:
    """Where parts of these sizes begin, one after the other, and where the last one ends.

    >>> offsets_of([2, 0, 3])
    array([0, 2, 2, 5])
    """
    sizes = sizes if isinstance(sizes, np.ndarray) else np.fromiter(sizes, np.int64)
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def are_offsets(offsets: np.ndarray, end: int | None = None) -> bool:
    """Whether an array begins at 0, never decreases, and ends at ``end`` (None: anywhere)."""
    if offsets.ndim != 1 or not len(offsets) or offsets[0] != 0:
        return False
    return bool((offsets[1:] >= offsets[:-1]).all()) and (end is None or offsets[-1] == end)

"""Many strings as bytes and offsets: what a file can map, and reads one of when asked."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["Strings", "is_ladder"]


class Strings(NamedTuple):
    """Strings one after the other.

    >>> names = Strings.of(["b.txt", "a.txt"])
    >>> names.get(1), names.find("b.txt"), names.find("c.txt")
    ('a.txt', 0, -1)
    """

    data: np.ndarray  # uint8
    edges: np.ndarray  # (n + 1,) int64

    @classmethod
    def of(cls, strings: Iterable[str]) -> "Strings":
        raw = [string.encode("utf-8", "replace") for string in strings]
        edges = np.zeros(len(raw) + 1, np.int64)
        np.cumsum([len(each) for each in raw], out=edges[1:])
        return cls(np.frombuffer(b"".join(raw), np.uint8), edges)

    @property
    def size(self) -> int:
        return len(self.edges) - 1

    def get(self, i: int) -> str:
        raw = self.data[self.edges[i] : self.edges[i + 1]]
        return raw.tobytes().decode("utf-8", "replace")

    def find(self, string: str) -> int:
        """The first place of a string, or -1."""
        wanted = np.frombuffer(string.encode("utf-8", "replace"), np.uint8)
        return int(find_first(self.data, self.edges, wanted))

    def joined(self, other: "Strings") -> "Strings":
        edges = np.concatenate([self.edges, other.edges[1:] + self.edges[-1]])
        return Strings(np.concatenate([self.data, other.data]), edges)


def is_ladder(edges: np.ndarray, end: int | None = None) -> bool:
    """Begins at 0, never falls, and ends where it should."""
    if edges.ndim != 1 or not len(edges) or edges[0] != 0:
        return False
    return bool((edges[1:] >= edges[:-1]).all()) and (end is None or edges[-1] == end)


# --- Kernels ---


@kernel
def find_first(data, edges, wanted):
    for i in range(len(edges) - 1):
        here = data[edges[i] : edges[i + 1]]
        if len(here) != len(wanted):
            continue
        q = 0
        while q < len(wanted) and here[q] == wanted[q]:
            q += 1
        if q == len(wanted):
            return i
    return -1

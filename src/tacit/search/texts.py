"""The documents themselves, kept beside an index in small compressed pieces, for snippets.

Consecutive documents share a piece of some 8 KB (zstd), so that one of them costs some tens of
microseconds to read, and all of them half of their size.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tacit.core.errors import ModelFileError
from tacit.data.text_block import Text

__all__ = ["Texts", "merge_texts", "pack_texts"]

PIECE = 2**13  # bytes, before compression
CODEC = "zstd"
LARGEST = 2**31  # bytes that a piece may claim to unpack to


class Texts(NamedTuple):
    """Documents in compressed pieces."""

    edges: np.ndarray  # (n + 1,) int64, where each document would begin if all were joined
    rows: np.ndarray  # (p + 1,) int32, the first document of each piece
    piece_edges: np.ndarray  # (p + 1,) int64, where the pieces are
    pieces: np.ndarray  # uint8

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)

    def read(self, rows: Sequence[int]) -> list[str]:
        """Some documents."""
        held: dict[int, bytes] = {}
        found = []
        for row in rows:
            k = int(np.searchsorted(self.rows, row, side="right")) - 1
            if k not in held:
                held[k] = self._unpack(k)
            base = int(self.edges[self.rows[k]])
            start, stop = int(self.edges[row]) - base, int(self.edges[row + 1]) - base
            found.append(held[k][start:stop].decode("utf-8", "replace"))
        return found

    def _unpack(self, k: int) -> bytes:
        import pyarrow as pa

        size = int(self.edges[self.rows[k + 1]] - self.edges[self.rows[k]])
        raw = self.pieces[self.piece_edges[k] : self.piece_edges[k + 1]].tobytes()
        if not 0 <= size < LARGEST:
            raise damaged()
        if not size:
            return b""
        try:
            return pa.decompress(raw, size, codec=CODEC, asbytes=True)
        except (OSError, ValueError):
            raise damaged() from None


def pack_texts(text: Text) -> Texts:
    """The documents of a block, compressed."""
    import pyarrow as pa

    codec = pa.Codec(CODEC, compression_level=1)
    edges = np.zeros(len(text) + 1, np.int64)
    np.cumsum(text.stops - text.starts, out=edges[1:])
    rows, pieces, sizes = [0], [], [0]
    for first, last in cut(edges):
        whole = b"".join(
            text.data[i:j].tobytes()
            for i, j in zip(text.starts[first:last], text.stops[first:last], strict=True)
        )
        packed = codec.compress(whole, asbytes=True) if whole else b""
        rows.append(last)
        pieces.append(packed)
        sizes.append(len(packed))
    data = np.frombuffer(b"".join(pieces), np.uint8)
    return Texts(edges, np.array(rows, np.int32), np.cumsum(sizes, dtype=np.int64), data)


def cut(edges: np.ndarray) -> Iterator[tuple[int, int]]:
    """Stretches of documents: as many as fit a piece, or one that is longer."""
    n, first = len(edges) - 1, 0
    while first < n:
        last = int(np.searchsorted(edges, edges[first] + PIECE, side="right")) - 1
        last = max(first + 1, last)
        yield first, last
        first = last


def merge_texts(parts: Sequence[Texts], pieces: np.ndarray | None = None) -> Texts:
    """Consecutive documents; ``pieces`` where those were joined already."""
    if pieces is None:
        pieces = np.concatenate([part.pieces for part in parts])
    return Texts(
        chain([part.edges for part in parts]),
        chain([part.rows for part in parts]),
        chain([part.piece_edges for part in parts]),
        pieces,
    )


def chain(edges: Sequence[np.ndarray]) -> np.ndarray:
    """Edges that each begin at 0, as if counted from the first."""
    ends = np.cumsum([0, *(each[-1] for each in edges)])
    moved = [each[:-1] + end for each, end in zip(edges, ends, strict=False)]
    return np.concatenate([*moved, ends[-1:]]).astype(edges[0].dtype)


def damaged() -> ModelFileError:
    return ModelFileError(
        "The index is damaged: the text of a document cannot be read. Build it again, or fetch "
        "a fresh copy."
    )

"""The documents of an index: their names, and their text for snippets.

Text is compressed in pieces of some 8 KB of consecutive documents (zstd): reading one document
takes some tens of microseconds, and all of them half of their size.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.core.errors import ModelFileError
from tacit.core.estimator import Estimator
from tacit.core.string_array import StringArray, are_offsets, offsets_of
from tacit.core.wording import did_you_mean, shortened
from tacit.data.documents import Documents
from tacit.data.text_block import Text
from tacit.search.results import Hit
from tacit.search.snippets import Snippet, Wanted, snippets
from tacit.text.tokens import TokenRule

__all__ = [
    "FIELDS", "SCHEMA", "DocumentIndex", "StoredDocuments", "Texts", "check_dtypes",
    "check_edges", "check_top", "join_names", "merge_texts", "names_of", "pack_texts",
]  # fmt: skip

MOST_GUESSED = 20_000  # documents to find a mistyped name among
PIECE = 2**13  # bytes, before compression
CODEC = "zstd"
LARGEST = 2**31  # bytes that a piece may claim to unpack to
NAMES: dict[str, np.dtype] = {"names_": np.dtype(np.uint8), "name_edges_": np.dtype(np.int64)}
TEXTS: dict[str, np.dtype] = {
    "text_edges_": np.dtype(np.int64), "piece_rows_": np.dtype(np.int32),
    "piece_edges_": np.dtype(np.int64), "pieces_": np.dtype(np.uint8),
}  # fmt: skip
FIELDS = {**NAMES, **TEXTS}  # attributes of an index, as its file holds them
SCHEMA: dict[str, tuple] = {
    "names_": (None,), "name_edges_": ("n_documents_+1",), "text_edges_": ("n_documents_+1",),
    "piece_rows_": ("n_pieces+1",), "piece_edges_": ("n_pieces+1",), "pieces_": (None,),
}  # fmt: skip
DIVIDED = {"name_edges_": "names_", "text_edges_": None, "piece_rows_": None,
           "piece_edges_": "pieces_"}  # fmt: skip


class Texts(NamedTuple):
    """Documents in compressed pieces."""

    edges: np.ndarray  # (n + 1,) int64, offsets of the documents in the joined text
    rows: np.ndarray  # (p + 1,) int32, the first document of each piece
    piece_edges: np.ndarray  # (p + 1,) int64, boundaries of the pieces
    pieces: np.ndarray  # uint8

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)

    def read(self, rows: Sequence[int]) -> list[str]:
        """Some documents."""
        unpacked: dict[int, bytes] = {}
        texts = []
        for row in rows:
            k = int(np.searchsorted(self.rows, row, side="right")) - 1
            if k not in unpacked:
                unpacked[k] = self._unpack(k)
            base = int(self.edges[self.rows[k]])
            start, stop = int(self.edges[row]) - base, int(self.edges[row + 1]) - base
            texts.append(unpacked[k][start:stop].decode("utf-8", "replace"))
        return texts

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


class StoredDocuments(NamedTuple):
    """The number of documents, their names if they have any, their text if it is stored."""

    n: int
    names: StringArray | None = None
    texts: Texts | None = None

    def arrays(self) -> dict[str, np.ndarray | None]:
        """The arrays of a file, by name; None for those that this index does without."""
        return {
            **dict(zip(NAMES, self.names or (None,) * len(NAMES), strict=True)),
            **dict(zip(TEXTS, self.texts or (None,) * len(TEXTS), strict=True)),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], n: int) -> "StoredDocuments":
        """The documents of a file. ValueError if its arrays do not fit together."""
        check_dtypes(arrays, FIELDS)
        check_edges(arrays, DIVIDED)
        names = StringArray(*(arrays[name] for name in NAMES)) if "names_" in arrays else None
        texts = Texts(*(arrays[name] for name in TEXTS)) if "pieces_" in arrays else None
        if texts is not None and texts.rows[-1] != n:
            raise ValueError("the texts are not those of all documents")
        return cls(n, names, texts)

    def id_of(self, row: int) -> int | str:
        """The name of a document, or its number."""
        return row if self.names is None else self.names.get(row)

    def ids(self) -> list[int | str]:
        """All names or numbers, in order."""
        return [self.id_of(row) for row in range(self.n)]

    def row_of(self, id: int | str) -> int:
        """The number of a document. KeyError if there is none with this id."""
        if self.names is not None:
            row = self.names.find(str(id))
            if row < 0:
                meant = did_you_mean(str(id), self.ids()) if self.n <= MOST_GUESSED else ""
                shown = shortened(repr(id))
                raise KeyError(f"There is no document {shown} in the index.{meant}")
            return row
        number = str(id)
        is_number = number.isascii() and number.isdigit() and len(number) < 19
        row = int(number) if is_number else -1
        if not 0 <= row < self.n:
            raise KeyError(
                f"There is no document {shortened(repr(id))} in the index; they are numbered "
                f"from 0 to {self.n - 1}."
            )
        return row

    def text(self, row: int) -> str:
        """A document as it was indexed. ValueError if texts are not stored."""
        if self.texts is None:
            raise ValueError(
                "This index does not hold the documents. Build it from text, with "
                "store_text=True."
            )
        return self.texts.read([row])[0]

    def hits(
        self,
        rows: Sequence[int],
        scores: np.ndarray,
        wanted: Wanted,
        rule: TokenRule,
        width: int,
    ) -> list[Hit]:
        """Hits for rows in order, with a snippet of about ``width`` characters each."""
        shown = [Snippet("", ())] * len(rows)
        if width and self.texts is not None:
            shown = snippets(self.texts.read(rows), wanted, rule, width)
        return [
            Hit(self.id_of(row), float(scores[row]), *snippet)
            for row, snippet in zip(rows, shown, strict=True)
        ]


class DocumentIndex(Estimator):
    """Base class of the indexes: a content that never changes; adding makes another."""

    _content: Any  # with ``stored`` and ``arrays()``

    def text(self, id: int | str) -> str:
        """A document as it was indexed."""
        stored = self._fitted().stored
        return stored.text(stored.row_of(id))

    @property
    def ids(self) -> list[int | str]:
        """The names of the documents in order, or their numbers."""
        return self._fitted().stored.ids()

    def _fitted(self) -> Any:
        if not hasattr(self, "_content"):
            check_is_fitted(self)  # slow, for its message
        return self._content

    def _set_arrays(self, content: Any) -> None:
        """The attributes that a file holds; those that the content does without are removed."""
        for name, array in content.arrays().items():
            if array is not None:
                setattr(self, name, array)
            elif hasattr(self, name):
                delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_content")


# --- Texts ---


def pack_texts(text: Text) -> Texts:
    """The documents of a block, compressed."""
    import pyarrow as pa

    codec = pa.Codec(CODEC, compression_level=1)
    edges = offsets_of(text.stops - text.starts)
    rows, pieces, sizes = [0], [], [0]
    for first, last in piece_ranges(edges):
        raw = b"".join(
            text.data[i:j].tobytes()
            for i, j in zip(text.starts[first:last], text.stops[first:last], strict=True)
        )
        packed = codec.compress(raw, asbytes=True) if raw else b""
        rows.append(last)
        pieces.append(packed)
        sizes.append(len(packed))
    data = np.frombuffer(b"".join(pieces), np.uint8)
    return Texts(edges, np.array(rows, np.int32), np.cumsum(sizes, dtype=np.int64), data)


def piece_ranges(edges: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of documents: as many as fit a piece, or one that is longer."""
    n, first = len(edges) - 1, 0
    while first < n:
        last = int(np.searchsorted(edges, edges[first] + PIECE, side="right")) - 1
        last = max(first + 1, last)
        yield first, last
        first = last


def merge_texts(parts: Sequence[Texts], pieces: np.ndarray | None = None) -> Texts:
    """Consecutive documents as one; ``pieces`` if those were joined already."""
    if pieces is None:
        pieces = np.concatenate([part.pieces for part in parts])
    return Texts(
        join_offsets([part.edges for part in parts]),
        join_offsets([part.rows for part in parts]),
        join_offsets([part.piece_edges for part in parts]),
        pieces,
    )


def join_offsets(edges: Sequence[np.ndarray]) -> np.ndarray:
    """Offsets that each begin at 0, as offsets into the joined data."""
    ends = np.cumsum([0, *(part[-1] for part in edges)])
    moved = [part[:-1] + end for part, end in zip(edges, ends, strict=False)]
    return np.concatenate([*moved, ends[-1:]]).astype(edges[0].dtype)


def damaged() -> ModelFileError:
    return ModelFileError(
        "The index is damaged: the text of a document cannot be read. Build it again, or fetch "
        "a fresh copy."
    )


# --- Names ---


def names_of(source: Documents, ids: Sequence[str] | None) -> StringArray | None:
    """The names of documents: ``ids``, those of the source, or None for numbers."""
    if ids is None:
        return None if source.names is None else StringArray.of(source.names)
    names = list(map(str, ids))
    if len(names) != len(source):
        raise ValueError(
            f"There are {len(names):,} ids for {len(source):,} documents. Give one for each."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"The id {twice[0]!r} is given more than once. Give each document its own."
        )
    return StringArray.of(names)


def join_names(old: StoredDocuments, names: StringArray | None, n: int) -> StringArray | None:
    """The names of the documents of an index and of n new ones."""
    if n and (old.names is None) != (names is None):
        has, lacks = ("named", "not") if old.names is not None else ("not named", "named")
        raise ValueError(
            f"The documents of this index are {has}, but those to be added are {lacks}. Give "
            "ids=... to all of them or to none."
        )
    if old.names is None or names is None:
        return old.names
    there = {old.names.get(i) for i in range(old.names.size)}
    again = next((name for i in range(n) if (name := names.get(i)) in there), None)
    if again is not None:
        raise ValueError(f"The index holds a document {again!r} already. Give it another id.")
    return old.names.joined(names)


def check_dtypes(arrays: Mapping[str, Any], fields: Mapping[str, np.dtype]) -> None:
    """ValueError for an array of a file with another dtype than it must have."""
    for name, dtype in fields.items():
        if name in arrays and arrays[name].dtype != dtype:
            raise ValueError(f"{name} has dtype {arrays[name].dtype}, but must have {dtype}")


def check_edges(arrays: Mapping[str, Any], divided: Mapping[str, str | None]) -> None:
    """ValueError for offsets that do not fit the array they divide."""
    for edges, data in divided.items():
        end = len(arrays[data]) if data is not None and data in arrays else None
        if edges in arrays and not are_offsets(arrays[edges], end):
            raise ValueError(f"{edges} does not fit what it divides")


def check_top(top: Any) -> int | None:
    """The number of hits to return, checked; None for all."""
    if top is None:
        return None
    if not isinstance(top, int | np.integer) or isinstance(top, bool):
        raise TypeError(f"top={top!r} must be a whole number, or None for all.")
    if top < 0:
        raise ValueError(f"top={top} must be at least 0.")
    return int(top)

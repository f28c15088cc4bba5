"""Blocks of documents: each knows which documents it is and how to load them as Text.

Blocks are cut by the size of the text alone, never by the machine, and hold what a worker on
another machine needs: the documents if they are in memory, else their place.
"""

from collections.abc import Sequence
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from tacit.core.errors import DataError
from tacit.data.text_block import LARGEST, Repairs, Text, is_missing, text_of

__all__ = [
    "BLOCK_BYTES", "ArrowRows", "SelectedRows", "ListRows", "NamedRows", "ObjectRows",
    "cut_by_size", "sizes_of", "strings_of", "text_of_arrow", "values_of",
]  # fmt: skip

BLOCK_BYTES = 2**21


class ListRows(NamedTuple):
    """A range of a list of documents in memory."""

    documents: Sequence[Any]
    start: int
    stop: int
    encoding: str = "utf-8"
    errors: str = "strict"
    first: int = 0  # the number of the list's first document

    def load(self) -> Text:
        part = self._part()
        return text_of(part, encoding=self.encoding, errors=self.errors, first=self.start)

    def _part(self) -> Sequence[Any]:
        return self.documents[self.start - self.first : self.stop - self.first]

    def __reduce__(self) -> tuple:
        # Only the range is pickled; its rows keep their numbers.
        part = list(self._part())
        return ListRows, (part, self.start, self.stop, self.encoding, self.errors, self.start)


class ObjectRows(NamedTuple):
    """Documents for an analyzer of the user's, loaded as they are."""

    documents: list

    def load(self) -> list:
        return self.documents


class ArrowRows(NamedTuple):
    """A range of an Arrow table in memory, one of whose columns is the text."""

    table: Any
    text: str
    start: int
    stop: int
    errors: str = "replace"

    def load(self) -> Text:
        return text_of_arrow(self._part().column(self.text), self.errors, self.start)

    def column(self, name: str) -> list:
        return values_of(self._part().column(name))

    def _part(self) -> Any:
        return self.table.slice(self.start, self.stop - self.start)

    def __reduce__(self) -> tuple:
        # A slice would pickle the table.
        part = self._part().select([self.text]).take(list(range(self.stop - self.start)))
        return ArrowRows, (part, self.text, 0, self.stop - self.start, self.errors)


class NamedRows(NamedTuple):
    """A block with columns that it does not hold itself."""

    block: Any
    values: dict[str, list]

    def load(self) -> Text:
        return self.block.load()

    def column(self, name: str) -> list:
        return self.values[name]


class SelectedRows(NamedTuple):
    """Some of the documents of another block."""

    block: Any
    mask: np.ndarray

    def load(self) -> Text:
        text = self.block.load()
        return Text(text.data, text.starts[self.mask], text.stops[self.mask], text.repairs)

    def column(self, name: str) -> list:
        return list(compress(self.block.column(name), self.mask))


def strings_of(column: Any) -> Any:
    """An Arrow column as strings; as bytes if some of them are not UTF-8."""
    import pyarrow as pa

    try:
        strings = column.cast(pa.large_string())
        strings.validate(full=True)  # a file may call anything a string
        return strings
    except pa.ArrowNotImplementedError:
        raise DataError(
            f"the column of the text is of type {column.type}, not of strings. Choose another "
            "column."
        ) from None
    except pa.ArrowInvalid:
        return column.cast(pa.large_binary())


def values_of(column: Any) -> list:
    """The values of an Arrow column; bytes that are not UTF-8 become U+FFFD."""
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        values = column.cast("large_binary").to_pylist()
        return [v if v is None else v.decode("utf-8", "replace") for v in values]


def text_of_arrow(column: Any, errors: str | None = None, row: int = 0) -> Text:
    """An Arrow column of strings as a block of text; valid text is not copied. ``errors`` is
    what to do with bytes that are not UTF-8; None trusts the column."""
    import pyarrow as pa

    strings = column.cast(pa.large_string()) if errors is None else strings_of(column)
    if pa.types.is_large_binary(strings.type):
        return text_of_bytes(strings.to_pylist(), str(errors), row)
    strings = strings.combine_chunks()
    if isinstance(strings, pa.ChunkedArray):  # no chunks at all
        strings = pa.array([], pa.large_string())
    missing = strings.null_count
    if missing:
        strings = strings.fill_null("")
    _, offsets, values = strings.buffers()
    edges = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    first, last = (int(edges[0]), int(edges[-1])) if len(strings) else (0, 0)
    raw = np.frombuffer(values or b"", np.uint8)[first:last]
    if len(raw) > LARGEST:
        raise DataError(
            f"a block of documents has {len(raw):,} bytes, more than the {LARGEST:,} that fit. "
            "Split the longest document, or write smaller row groups."
        )
    starts, stops = edges[:-1] - first, edges[1:] - first
    nuls = int(np.count_nonzero(raw == 0))
    if nuls:
        raw = np.where(raw == 0, np.uint8(32), raw)
    empty = int(np.count_nonzero(starts == stops))
    return Text(raw, starts, stops, Repairs(empty=empty, missing=missing, nuls=nuls))


def text_of_bytes(documents: list[bytes | None], errors: str, row: int) -> Text:
    """Bytes of a table, some of them not UTF-8: replaced by U+FFFD, or an error."""
    if errors == "replace":
        return text_of(documents, errors="replace")
    for i, document in enumerate(documents, row + 1):
        try:
            str(document or b"", "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"byte {error.start + 1} of the document is not UTF-8 ({error.reason}). "
                "errors='replace' reads it as U+FFFD; a table is not read with 'skip'.",
                row=i,
            ) from None
    raise DataError("the column of the text cannot be read as strings.")


def cut_by_size(sizes: np.ndarray, block_bytes: int | None = None) -> list[tuple[int, int]]:
    """Ranges of documents of about ``block_bytes`` each: by default a sixteenth of all, from
    256 KB to 2 MB.

    >>> cut_by_size(np.array([5, 5, 5, 20, 1]), 10)
    [(0, 2), (2, 4), (4, 5)]
    """
    total = int(sizes.sum()) + len(sizes)
    block_bytes = block_bytes or max(2**18, min(BLOCK_BYTES, total // 16))
    before = np.cumsum(sizes + 1) - (sizes + 1)  # an empty document costs something too
    groups = before // (block_bytes + 1)
    edges = [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(sizes)]
    return [(i, j) for i, j in pairwise(edges) if j > i]


def sizes_of(documents: Sequence[Any]) -> np.ndarray:
    """The lengths of documents in memory."""
    try:
        return np.fromiter(map(len, documents), np.int64, len(documents))
    except TypeError:  # None and NaN have no length; other types are refused on loading
        lengths = (
            len(d) if hasattr(d, "__len__") and not is_missing(d) else 0 for d in documents
        )
        return np.fromiter(lengths, np.int64, len(documents))

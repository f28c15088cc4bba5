"""Documents that can be read only once, stored as compressed blocks.

Documents from a generator, standard input or a compressed or structured file are read once and
stored as Arrow record batches: in memory up to a limit, then in a temporary file, removed
with the last block that needs it.
"""

import os
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tacit.core.temporary import forget, note
from tacit.data.document_blocks import text_of_arrow
from tacit.data.text_block import Text, scrub

__all__ = ["TEXT", "Spool", "SpooledRows", "column_of"]

TEXT = "text"
COLUMN = "column:"  # before the names of the others


class Stored(NamedTuple):
    """A batch in a temporary file."""

    path: str
    start: int
    size: int
    keeper: Any = None  # removes the file when no block needs it

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(self.start)
            return file.read(self.size)

    def __reduce__(self) -> tuple:
        return Stored, (self.path, self.start, self.size)


class SpooledRows(NamedTuple):
    """A block of documents with its other columns."""

    place: bytes | Stored
    rows: int

    def load(self) -> Text:
        return text_of_arrow(self.batch().column(TEXT))

    def column(self, name: str) -> list:
        """Another column; None where a document has no value."""
        return column_of(self.batch(), name)

    def batch(self) -> Any:
        """The Arrow table that holds text and columns."""
        import pyarrow as pa

        raw = self.place if isinstance(self.place, bytes) else self.place.read()
        with pa.ipc.open_stream(raw) as reader:
            return reader.read_all()


def column_of(batch: Any, name: str) -> list:
    """A column of a block; None where a document has no value."""
    place = batch.schema.get_field_index(f"{COLUMN}{name}")
    return batch.column(place).to_pylist() if place >= 0 else [None] * batch.num_rows


class Keeper:
    """Removes a temporary file when it is garbage-collected."""

    def __init__(self, path: str) -> None:
        self.path = path
        note(path)
        weakref.finalize(self, remove_file, path)


def remove_file(path: str) -> None:
    Path(path).unlink(missing_ok=True)
    forget(path)


class Spool:
    """Stores blocks of documents that can be loaded again."""

    def __init__(self, in_memory: int = 2**28) -> None:  # bytes, compressed
        self.in_memory = in_memory
        self.blocks: list[SpooledRows] = []
        self._size = 0
        self._keeper: Keeper | None = None

    def add(self, text: Text, columns: dict[str, Sequence[Any]] | None = None) -> None:
        """A block; ``columns`` hold strings or None, one per document."""
        import pyarrow as pa

        arrays = {TEXT: arrow_of_text(text)}
        for name, values in (columns or {}).items():
            clean = [None if value is None else scrub(value) for value in values]
            arrays[f"{COLUMN}{name}"] = pa.array(clean, pa.large_string())
        table, sink = pa.table(arrays), pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        raw = sink.getvalue().to_pybytes()
        self._size += len(raw)
        place = raw if self._size <= self.in_memory else self._store(raw)
        self.blocks.append(SpooledRows(place, table.num_rows))

    def _store(self, raw: bytes) -> Stored:
        if self._keeper is None:
            handle, path = tempfile.mkstemp(prefix="tacit-", suffix=".spool")
            os.close(handle)
            self._keeper = Keeper(path)
        with open(self._keeper.path, "ab") as file:
            start = file.tell()
            file.write(raw)
        return Stored(self._keeper.path, start, len(raw), self._keeper)


def arrow_of_text(text: Text) -> Any:
    import numpy as np
    import pyarrow as pa

    offsets = np.zeros(len(text) + 1, np.int64)
    np.cumsum(text.stops - text.starts, out=offsets[1:])
    if len(text) and np.array_equal(text.starts[1:], text.stops[:-1]):
        data = np.ascontiguousarray(text.data[text.starts[0] : text.stops[-1]])
    else:
        keep = np.zeros(len(text.data) + 1, np.int8)
        np.add.at(keep, text.starts, 1)
        np.add.at(keep, text.stops, -1)
        data = text.data[np.cumsum(keep[:-1], dtype=np.int8).astype(np.bool_)]
    return pa.LargeStringArray.from_buffers(
        len(text), pa.py_buffer(offsets), pa.py_buffer(data)
    )

"""Parquet files that may come from a stranger: opened and read under limits.

A few hundred bytes can declare billions of rows, or a column that repeats one long string a
million times. Sizes are compared with the size of the file before anything is unpacked, and
columns of repeated strings are measured before they are expanded.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from tacit.core.errors import DataError
from tacit.core.memory import format_bytes
from tacit.data.streams import BOMB_RATIO, BOMB_SIZE

__all__ = ["DOCUMENT", "open_parquet_file", "read_columns"]

RUN_RATIO = 20_000  # a byte of a sound file may hold runs of a thousand values
NUMBER, DOCUMENT = 8, 64  # bytes in memory of a row: a number, or an empty document
EXPANDED = 2**26  # bytes of a column chunk from which on repeated strings are not measured


@contextmanager
def open_parquet_file(
    source: str | Path | BytesIO, name: str, *, encoded: Sequence[str] = (), row: int = NUMBER
) -> Iterator[Any]:
    """The file, its declared sizes checked; DataError says what is wrong with it.

    Columns in ``encoded`` are read as Arrow dictionaries: each different string once. ``row``
    is the least memory that a row will take.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(source, read_dictionary=list(encoded)) as file:
            check_declared(file.metadata, size_of(source), name, row)
            yield file
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except (pa.ArrowException, OSError) as error:
        what = " ".join(str(error).split())[:200].rstrip(".")
        raise DataError(f"this Parquet file cannot be read: {what}.", file=name) from error


def read_columns(
    source: str | Path | BytesIO,
    name: str,
    columns: Sequence[str],
    groups: Sequence[int] | None = None,
) -> Any:
    """Columns of row groups (None: of all) as an Arrow table."""
    import pyarrow as pa

    with open_parquet_file(source, name) as file:
        chosen = list(range(file.metadata.num_row_groups) if groups is None else groups)
        repeated = repeated_strings(file, chosen, columns)
        if not repeated:
            return file.read_row_groups(chosen, columns=list(columns))
    if isinstance(source, BytesIO):
        source.seek(0)
    with open_parquet_file(source, name, encoded=repeated) as file:
        table = file.read_row_groups(chosen, columns=list(columns))
    sizes = [expanded_size(table.column(column)) for column in repeated]
    refuse_bomb(sum(sizes), size_of(source), BOMB_RATIO, name)
    for column in repeated:
        i = table.schema.get_field_index(column)
        if pa.types.is_dictionary(table.schema.field(i).type):
            kind = table.schema.field(i).type.value_type
            table = table.set_column(i, column, table.column(i).cast(kind))
    return table


def repeated_strings(file: Any, groups: Sequence[int], columns: Sequence[str]) -> list[str]:
    """The columns of strings that are stored as a dictionary and references into it."""
    import pyarrow as pa

    schema, repeated = file.schema_arrow, set()
    texts = {
        name
        for name in columns
        if name in schema.names
        and (pa.types.is_string(kind := schema.field(name).type) or pa.types.is_binary(kind))
    }
    for g in groups:
        group = file.metadata.row_group(g)
        for j in range(group.num_columns):
            chunk = group.column(j)
            small = chunk.total_uncompressed_size < EXPANDED
            if chunk.path_in_schema in texts and small and chunk.has_dictionary_page:
                repeated.add(chunk.path_in_schema)
    return sorted(repeated)


def expanded_size(column: Any) -> int:
    """Bytes of a column when every reference is replaced by its string."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    total = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary).cast(pa.int64())
        total += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    return int(total) + 4 * len(column)


def check_declared(meta: Any, size: int, name: str, row: int) -> None:
    """Refuse a file whose description promises far more than its bytes can hold."""
    refuse_bomb(row * meta.num_rows, size, RUN_RATIO, name)
    unpacked = sum(
        meta.row_group(g).column(j).total_uncompressed_size
        for g in range(meta.num_row_groups)
        for j in range(meta.row_group(g).num_columns)
    )
    refuse_bomb(unpacked, size, BOMB_RATIO, name)


def refuse_bomb(unpacked: int, size: int, ratio: int, name: str) -> None:
    if unpacked > BOMB_SIZE and unpacked > ratio * size:
        raise DataError(
            f"its {format_bytes(size)} unpack to {format_bytes(unpacked)}, over {ratio:,} "
            "times as much, which looks like a decompression bomb. If it is not, write it "
            "again with smaller row groups or as CSV.",
            file=name,
        )


def size_of(source: str | Path | BytesIO) -> int:
    return source.getbuffer().nbytes if isinstance(source, BytesIO) else os.path.getsize(source)

"""A table of documents as CSV, Parquet or JSON."""

import io
import json
from typing import Any, BinaryIO

from tacit.cli.csv_out import write_rows

__all__ = ["write_csv", "write_json", "write_parquet"]


def write_csv(table: Any, file: BinaryIO) -> None:
    """Comma-separated, with a header, safe to open in a spreadsheet."""
    stream = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
    try:
        write_rows(stream, [table.schema().names])
        for batch in table.batches():
            columns = [column.to_pylist() for column in batch.columns]
            write_rows(stream, zip(*columns, strict=True))
        stream.flush()
    finally:
        stream.detach()  # the file is closed by who opened it


def write_parquet(table: Any, file: BinaryIO) -> None:
    """Parquet, packed with zstd, a row group for every block."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, table.schema(), compression="zstd") as writer:
        for batch in table.batches():
            writer.write_table(batch)


def write_json(table: Any, file: BinaryIO) -> None:
    """A list of objects, one to a line."""
    names = table.schema().names
    before = b"[\n"
    for batch in table.batches():
        columns = [[plain(v) for v in column.to_pylist()] for column in batch.columns]
        for values in zip(*columns, strict=True):
            row = dict(zip(names, values, strict=True))
            file.write(before + json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
            before = b",\n"
    file.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def plain(value: Any) -> Any:
    """A number that JSON has, or null."""
    return None if isinstance(value, float) and value - value != 0 else value

"""Documents in tables: a column of text in .csv, .tsv, .jsonl or Parquet, or a dataframe.

Records are read once into a spool, together with the other columns. Parquet files stay where
they are and are read by row groups.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from tacit.core.errors import DataError, reading
from tacit.core.temporary import temporary
from tacit.core.wording import did_you_mean, listed
from tacit.data.delimited import TextRecord, is_float, read_csv
from tacit.data.document_blocks import (
    BLOCK_BYTES,
    ArrowRows,
    cut_by_size,
    strings_of,
    text_of_arrow,
    values_of,
)
from tacit.data.document_build import Build, IngestReport, Options, Stamp
from tacit.data.parquet import DOCUMENT, open_parquet_file, read_columns
from tacit.data.spool import Spool
from tacit.data.streams import PARQUET, Source
from tacit.data.text_block import Text, is_missing, scrub, text_of
from tacit.data.text_lines import Limits, cut_long, line_blocks, text_of_lines

__all__ = [
    "ParquetRows", "RecordBlocks", "looks_like_array", "open_frame", "open_parquet",
    "open_records",
]  # fmt: skip

LINE = 4  # a line or field may be this many times as long as a document, and is then cut
IDS = ("id", "doc_id", "document_id", "uid")
NAMES = [
    "text", "body", "content", "document", "doc", "message", "review", "abstract", "comment",
    "description", "sentence", "tweet", "post", "article", "review_text", "full_text",
]  # fmt: skip
SAMPLE = 100  # records to guess by
SEPARATOR = re.compile(r"[\s,]*")  # of the items of an array
MOST_COLUMNS = 10_000  # different keys in a .jsonl file
MOST_CELLS = 2**22  # in memory, of the columns besides the text


class ParquetRows(NamedTuple):
    """Row groups of a Parquet file."""

    path: str
    text: str
    groups: tuple[int, ...]
    stamp: Stamp
    errors: str = "replace"
    row: int = 0

    def load(self) -> Text:
        try:
            return text_of_arrow(self._read(self.text), self.errors, self.row)
        except DataError as error:
            raise DataError(error.message, file=self.path, row=error.row) from None

    def column(self, name: str) -> list:
        return values_of(self._read(name))

    def _read(self, name: str) -> Any:
        self.stamp.check(self.path)
        return read_columns(self.path, self.path, [name], self.groups).column(0)


# --- Records: .csv, .tsv, .jsonl ---


def open_records(
    source: Source, chunks: Iterable[bytes], kind: str, options: Options, build: Build
) -> None:
    """The records of a file."""
    report, limits = build.report, options.limits
    if kind in ("csv", "tsv") and limits.errors == "skip":
        raise ValueError(
            "errors='skip' is for files with one document to a line: a record of a .csv file "
            "may have several lines. Use errors='replace' or 'strict'."
        )
    lines = decoded_lines(source, chunks, limits, build)

    def cut_off() -> bool:
        return source.partial is not None

    if kind == "json":
        lines = array_lines(lines, source.name, report, cut_off)
    if kind in ("json", "jsonl"):
        records = read_jsonl(
            lines, source.name, report, duplicate_keys=options.duplicate_keys, cut_off=cut_off
        )
    else:
        tab = kind == "tsv"
        records = read_csv(
            lines, source.name, report, delimiter="\t" if tab else None, quoted=not tab,
            header=options.header, longest=LINE * limits.longest, cut_off=cut_off,
        )  # fmt: skip
    sample = list(islice(records, SAMPLE))
    seen = dict.fromkeys(chain.from_iterable(record.values for record in sample))
    text, identity = choose_text_and_id([r.values for r in sample], list(seen), options, report)
    blocks = RecordBlocks(build, options, text, identity)
    for record in chain(sample, records):
        blocks.add(record)
    blocks.close()


def decoded_lines(
    source: Source, chunks: Iterable[bytes], limits: Limits, build: Build
) -> Iterator[str]:
    """Lines as strings, with their ends; what was replaced is counted."""
    wide = limits._replace(longest=LINE * limits.longest, oversize="error")
    for lines in line_blocks(chunks, wide, source.name):
        text, lost = text_of_lines(lines.data, wide, source.name, lines.row)
        build.report.repairs += replace(text.repairs, empty=0)  # lines are not yet documents
        build.report.lost += lost
        yield from (string + "\n" for string in text.strings())


def choose_text_and_id(
    samples: Sequence[dict], columns: list[str], options: Options, report: IngestReport
) -> tuple[str, str | None]:
    """Which column is the text, and which names the documents."""
    for role in ("text", "id"):
        name = getattr(options, role)
        if name is not None and columns and name not in columns:
            meant = did_you_mean(name, columns)
            raise ValueError(
                f"{report.source} has no column {name!r}.{meant} It has {listed(columns)}."
            )
    text, identity = options.text, options.id
    if text is None:
        text = guess_text_column(samples, [c for c in columns if c != identity]) or "text"
        report.guessed.append(f"the text is in column {text!r}")
    if identity is None:
        identity = next((c for c in columns if c.lower() in IDS and c != text), None)
        if identity is not None:
            report.guessed.append(f"ids are in column {identity!r}")
    report.text_column = text
    return text, identity


def read_jsonl(
    lines: Iterable[str],
    name: str,
    report: IngestReport,
    *,
    duplicate_keys: str = "last",
    cut_off: Callable[[], bool] = lambda: False,
) -> Iterator[TextRecord]:
    """Records of JSON objects, or strings, one to a line.

    ``cut_off`` returns, at the end, whether the input ended early: its last line may be
    incomplete then, and is left out.
    """
    repeats, repaired = 0, False

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeats
        out = dict(pairs)
        if len(out) != len(pairs):
            repeats += 1
            if duplicate_keys == "first":
                out = dict(reversed(pairs))
        return out

    remaining = iter(lines)
    for number, line in enumerate(remaining, 1):
        if not line.strip():
            continue
        before = repeats
        try:
            value = json.loads(line, object_pairs_hook=build)
        except (ValueError, RecursionError) as error:
            if next(remaining, None) is None and cut_off():
                report.notes.append(f"line {number}, which is cut off, was left out")
                return
            raise DataError(
                f"line {number} is not JSON: {what_is_wrong(error)}. Write one object to a "
                "line.",
                file=name,
            ) from None
        if repeats > before:
            report.duplicate_keys += 1
            if duplicate_keys == "error":
                raise DataError(
                    f"line {number}: an object holds a key twice. duplicate_keys='first' or "
                    "'last' takes one of them.",
                    file=name,
                )
        if isinstance(value, str):
            value = {"text": value}
        if not isinstance(value, dict):
            kind = {list: "an array", bool: "a truth value", type(None): "null"}
            raise DataError(
                f"line {number} holds {kind.get(type(value), 'a number')}, not an object or a "
                "string. Write one object per line; format='json' reads a file that is one "
                "array.",
                file=name,
            )
        if not all(map(str.isprintable, value)):
            value, raw = {scrub(key): cell for key, cell in value.items()}, value
            if value.keys() != raw.keys() and not repaired:
                repaired = True
                report.notes.append(
                    f"line {number}: a key holds NUL or half of a surrogate pair, which was "
                    "removed or replaced by U+FFFD, there and in all lines"
                )
        yield TextRecord(number, {key: as_cell(cell) for key, cell in value.items()})


def looks_like_array(head: bytes) -> bool:
    """Whether text begins as an array of objects or strings, not as "[sic] a sentence"."""
    return re.match(rb"\s*\[\s*([\[{\"\]]|$)", head) is not None


def array_lines(
    lines: Iterable[str], name: str, report: IngestReport, cut_off: Callable[[], bool]
) -> Iterator[str]:
    """The items of one JSON array, one to a line, read as they come. A file with an object on
    each line is passed on as it is."""
    remaining = iter(lines)
    first = next((line for line in remaining if line.strip()), "")
    if not first.lstrip().startswith("["):
        yield from chain([first] if first else [], remaining)
        return
    decode = json.JSONDecoder().raw_decode
    text, at, number, ended = first, first.index("[") + 1, 0, False
    while not ended:
        separator = SEPARATOR.match(text, at)
        at = separator.end() if separator else at
        if text.startswith("]", at):
            return
        try:
            _, end = decode(text, at)
        except (ValueError, RecursionError) as error:
            # Read as much again before the next try, so that a long item costs little.
            more = list(take_characters(remaining, max(2**16, len(text) - at)))
            text, at = text[at:] + "".join(more), 0
            ended = not more
            if ended and cut_off():
                report.notes.append(f"item {number + 1}, which is cut off, was left out")
            elif ended:
                raise DataError(
                    f"item {number + 1} of the array is not JSON: {what_is_wrong(error)}. "
                    "Write one array of objects, or one object to a line (.jsonl).",
                    file=name,
                ) from None
            continue
        number += 1
        yield text[at:end].replace("\n", " ").replace("\r", " ") + "\n"
        at = end


def take_characters(lines: Iterator[str], count: int) -> Iterator[str]:
    """Lines until this many characters have been read."""
    for line in lines:
        yield line
        count -= len(line)
        if count <= 0:
            return


def what_is_wrong(error: Exception) -> str:
    """Why a line is not JSON, and at which character."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at character {error.pos + 1}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def as_cell(value: Any) -> str | None:
    """A JSON value as the text of a cell."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    return json.dumps(value, ensure_ascii=False)


def guess_text_column(samples: Sequence[dict[str, Any]], columns: Iterable[str]) -> str | None:
    """The column with the text: by its name, else the longest."""
    by_name = {column.strip().lower(): column for column in reversed(list(columns))}
    for name in NAMES:
        if name in by_name:
            return by_name[name]

    def length(column: str) -> int:
        cells = (str(sample.get(column) or "") for sample in samples)
        return sum(len(cell) for cell in cells if not is_float(cell))

    return max(by_name.values(), key=length, default=None) if by_name else None


class RecordBlocks:
    """Collects records into blocks."""

    def __init__(self, build: Build, options: Options, text: str, identity: str | None) -> None:
        self.build, self.options, self.text, self.identity = build, options, text, identity
        self.spool = Spool()
        self.texts: list[str | None] = []
        self.records: list[dict[str, str | None]] = []
        self.ids: list[str | None] = []
        self.size = 0
        self.known = set(build.columns)
        self.names: set[str] = set()  # of the records in memory

    def add(self, record: TextRecord) -> None:
        """Take one record."""
        text = record.values.get(self.text)
        others = {name: v for name, v in record.values.items() if name != self.text}
        for i, piece in enumerate(self._within_limits(text, record.line)):
            self.texts.append(piece)
            self.records.append(others)
            self.size += len(piece or "")
            if self.identity is not None:
                name = others.get(self.identity)
                self.ids.append(f"{name}#{i + 1}" if i else name)
        if not self.names.issuperset(others):
            self.names.update(others)
            self._add_columns(others, record.line)
        if self.size >= BLOCK_BYTES or len(self.names) * len(self.records) > MOST_CELLS:
            self._flush()

    def _add_columns(self, others: dict[str, str | None], line: int) -> None:
        new = [name for name in others if name not in self.known]
        self.build.columns += new
        self.known.update(new)
        if len(self.known) > MOST_COLUMNS:
            raise DataError(
                f"line {line}: by here there are {len(self.known):,} different columns, more "
                f"than {MOST_COLUMNS:,}. Give every record the same few keys, or leave out "
                "those that differ.",
                file=self.build.report.source,
            )

    def close(self) -> None:
        """Write out what is left."""
        self._flush()
        self.build.add_spooled(self.spool)
        if self.identity is not None:
            self.build.name(self.ids, self.options.duplicate_ids)

    def _within_limits(self, text: str | None, line: int) -> list[str | None]:
        limits = self.options.limits
        if text is None or len(text) * 4 <= limits.longest:
            return [text]
        block = text_of([text])
        if len(block.data) <= limits.longest:
            return [text]
        cut, lost = cut_long(block, limits, self.build.report.source, line - 1)
        self.build.report.lost += lost
        return list(cut.strings())

    def _flush(self) -> None:
        if not self.texts:
            return
        text = text_of(self.texts)
        names = dict.fromkeys(chain.from_iterable(self.records))
        columns: dict[str, Any] = {
            name: [record.get(name) for record in self.records] for name in names
        }
        self.spool.add(text, columns)
        self.build.count(text)
        self.texts, self.records, self.size, self.names = [], [], 0, set()


# --- Parquet and dataframes ---


def open_parquet(
    source: Source, chunks: Iterator[bytes], options: Options, build: Build
) -> None:
    """A column of strings of a Parquet file."""
    if isinstance(source.origin, str | Path) and is_parquet(source.origin):
        add_groups(str(source.origin), options, build)
        return
    # Compressed, or from a pipe.
    with tempfile.NamedTemporaryFile() as copy, temporary(copy.name):
        for chunk in chunks:
            copy.write(chunk)
        copy.flush()
        with open_parquet_file(copy.name, source.name, row=DOCUMENT) as file:
            names = file.schema_arrow.names
        table = read_columns(copy.name, source.name, names)
    add_frame(table, options, build)


def is_parquet(path: str | Path) -> bool:
    with reading(path) as file:
        return file.read(4) == PARQUET


def add_groups(path: str, options: Options, build: Build) -> None:
    """Blocks of row groups that together hold about a block's worth of text."""
    with open_parquet_file(path, path, row=DOCUMENT) as file:
        schema, meta = file.schema_arrow, file.metadata
        head = next(file.iter_batches(SAMPLE), None)
        sample = rows_of(head) if head is not None else []
        columns = string_columns(schema)
        text, identity = choose_text_and_id(sample, columns, options, build.report)
        if text not in schema.names:
            raise DataError(f"there is no column of strings; it has {schema.names}.", file=path)
        stamp, groups, size = Stamp.of(path), [], 0
        for group in range(meta.num_row_groups):
            size += size_of_column(meta.row_group(group), text)
            groups.append(group)
            if size >= BLOCK_BYTES or group == meta.num_row_groups - 1:
                if size > 2**28:  # bytes of text that are still read at once
                    table = read_columns(path, path, schema.names, groups)
                    add_frame(table, options, build, text, identity)
                else:
                    errors, row = options.limits.errors, sum(build.rows)
                    block = ParquetRows(path, text, tuple(groups), stamp, errors, row)
                    build.add(block, block.load())
                groups, size = [], 0
    build.columns = [name for name in schema.names if name != text]
    if identity is not None:
        ids = chain.from_iterable(block.column(identity) for block in build.blocks)
        build.name(ids, options.duplicate_ids)


def size_of_column(group: Any, name: str) -> int:
    """Bytes of a column in a row group. Leaves of nested columns count as columns there."""
    leaves = (group.column(i) for i in range(group.num_columns))
    return sum(leaf.total_uncompressed_size for leaf in leaves if leaf.path_in_schema == name)


def open_frame(table: Any, options: Options) -> Build:
    """Documents of an Arrow table in memory."""
    build = Build(IngestReport("the dataframe", 0))
    add_frame(table, options, build)
    return build


def add_frame(
    table: Any,
    options: Options,
    build: Build,
    text: str | None = None,
    identity: str | None = None,
) -> None:
    import pyarrow.compute as pc

    if text is None:
        sample = rows_of(table.slice(0, SAMPLE))
        columns = string_columns(table.schema)
        text, identity = choose_text_and_id(sample, columns, options, build.report)
        if text not in table.schema.names:
            raise DataError(f"{build.report.source} has no column of strings: "
                            f"it has {table.schema.names}.")  # fmt: skip
    sizes = pc.binary_length(strings_of(table.column(text))).fill_null(0).to_numpy()
    for start, stop in cut_by_size(sizes):
        block = ArrowRows(table, text, start, stop, options.limits.errors)
        build.add(block, block.load())
    build.columns = [name for name in table.schema.names if name != text]
    if identity is not None and build.ids is None:
        build.name(values_of(table.column(identity)), options.duplicate_ids)


def rows_of(table: Any) -> list[dict]:
    """The rows of a table or batch as dictionaries."""
    names = table.schema.names
    columns = [values_of(table.column(i)) for i in range(len(names))]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def string_columns(schema: Any) -> list[str]:
    """The columns that may hold text or ids."""
    import pyarrow as pa

    def fits(kind: Any) -> bool:
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        types = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
        return any(is_type(kind) for is_type in types)

    return [f.name for f in schema if fits(f.type) or f.name.lower() in IDS]

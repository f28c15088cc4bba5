"""Documents in files: one to a line of text, one to a file of a folder, or as many as a file of
mail, of an office or of the web holds.

Plain UTF-8 files stay where they are and are read when a block is loaded. Compressed files,
other encodings and other formats are read once and stored as compressed text.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.core.engines import Threads
from tacit.core.errors import DataError, reading
from tacit.core.wording import count, listed
from tacit.data.document_blocks import BLOCK_BYTES
from tacit.data.document_build import (
    Build,
    FileReport,
    IngestReport,
    Options,
    Stamp,
    refuse_partial,
)
from tacit.data.document_formats import parsed_format, read_records
from tacit.data.document_names import columns_of_names
from tacit.data.spool import Spool
from tacit.data.streams import CHUNK, Source, foreign
from tacit.data.text_block import Text
from tacit.data.text_lines import (
    Limits,
    Lines,
    Lost,
    cut_at_space,
    line_blocks,
    make_valid,
    text_of_lines,
    too_long,
)

__all__ = [
    "FileRows", "LineRows", "format_of", "open_folder", "open_lines", "open_parsed",
    "refuse_binary",
]  # fmt: skip

PACKED = (".gz", ".zst", ".zstd")
TABLES = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
          ".json": "json"}  # fmt: skip
PARQUET = (".parquet", ".pq")
CONTROLS = [*range(9), *range(14, 27), *range(28, 32)]
HEAD = 8192  # bytes in which control characters are counted
RECORD = ".tacit/project.json"  # of a folder that tacit explore writes


class LineRows(NamedTuple):
    """A range of lines of a plain file."""

    path: str
    start: int
    stop: int
    row: int
    limits: Limits
    stamp: Stamp

    def load(self) -> Text:
        self.stamp.check(self.path)
        with reading(self.path) as file:
            file.seek(self.start)
            data = file.read(self.stop - self.start)
        return text_of_lines(data, self.limits, self.path, self.row)[0]


class FileRows(NamedTuple):
    """Some files of a folder, each a document."""

    root: str
    names: tuple[str, ...]
    heads: tuple[int, ...]  # bytes of byte order marks
    stamps: tuple[Stamp, ...]
    limits: Limits

    def load(self) -> Text:
        parts = []
        for name, head, stamp in zip(self.names, self.heads, self.stamps, strict=True):
            path = os.path.join(self.root, name)
            stamp.check(path)
            with reading(path) as file:
                parts.append(file.read()[head:])
        return text_of_parts(parts, self.limits, self.root)[0]


def text_of_parts(parts: list[bytes], limits: Limits, name: str) -> tuple[Text, Lost]:
    """Files in memory as a block of valid text."""
    sizes = np.array([len(part) for part in parts], np.int64)
    stops = np.cumsum(sizes + 1) - 1
    # A byte between them: the end of one and the start of the next must not form a character.
    return make_valid(b"\n".join(parts), stops - sizes, stops, limits, name)


def format_of(name: str) -> str:
    """The format by the name of a file."""
    if (parsed := parsed_format(name)) is not None:
        return parsed
    suffixes = [s.lower() for s in Path(name).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    return "parquet" if last in PARQUET else TABLES.get(last, "lines")


def open_lines(source: Source, chunks: Iterable[bytes], options: Options, build: Build) -> None:
    """One document per line. Of a plain file only the offsets are stored."""
    limits, spool = options.limits, Spool()
    stamp = Stamp.of(source.origin) if isinstance(source.origin, str | Path) else None
    blocks = line_blocks(chunks, limits, source.name)
    # Reading is sequential; lines are split on all cores.
    for lines, text, lost in Threads().map(split_lines, (limits, source.name), blocks):
        if stamp is not None and source.plain:
            start = source.head + lines.start
            stop = start + len(lines.data)
            block = LineRows(source.name, start, stop, lines.row, limits, stamp)
            build.add(block, text, lost + lines.lost)
        else:
            spool.add(text)
            build.count(text, lost + lines.lost)
    build.add_spooled(spool)


def split_lines(params: tuple[Limits, str], lines: Lines) -> tuple[Lines, Text, Lost]:
    return lines, *text_of_lines(lines.data, *params, lines.row)


def open_folder(root: str, options: Options) -> Build:
    """One document per file."""
    build = Build(IngestReport(root, 0), ids=[])
    limits, pending = options.limits, PendingFiles(root, options.limits, build)
    names, left_out = list_files(root, options.pattern)
    files, fields = [], list[dict[str, str]]()
    home = Path(root).resolve()
    for name in names:
        report = FileReport(name)
        files.append(report)
        path = os.path.join(root, name)
        if options.follow_links or Path(path).resolve().is_relative_to(home):
            report.skipped, report.partial = why_not_text(path, name)
        else:
            report.skipped = "a symbolic link that leads outside the folder"
        if report.skipped or report.partial:
            continue
        if (kind := parsed_format(name)) is not None:
            pending.flush()
            parsed = read_file(path, name, kind, report, build, limits)
            build.ids += suffixed(name, len(parsed))  # type: ignore[operator]
            fields += parsed
            continue
        source = Source(path, options.encoding, limits.errors, name)
        stamp, chunks = Stamp.of(path), source.chunks()
        first = next(chunks, b"")  # now it is known what the file is
        if source.plain and stamp.size <= limits.longest:
            data = b"".join([first, *chunks])
            text, lost = text_of_parts([data], limits, path)
            build.count(text, lost)
            count, bad = len(text), text.repairs.undecodable
            pending.add(name, source.head, stamp, len(data), count)
        else:  # compressed, in another encoding, or too long
            pending.flush()
            count, bad = spool_file(chain([first], chunks), limits, path, build)
        build.ids += suffixed(name, count)  # type: ignore[operator]
        fields += [{}] * count
        report.documents, report.undecodable = count, bad + source.undecodable
        report.mark, report.partial, report.notes = source.mark, source.partial, source.notes
    pending.flush()
    build.add_columns(columns_of_names(build.ids or [], fields, build.report.guessed))
    build.report.note_files(files)
    build.report.files += left_out
    if not any(not file.skipped and not file.partial for file in files):
        raise DataError(what_it_holds(files, options.pattern), file=root)
    refuse_partial(build.report, options)
    return build


def read_file(
    path: str, name: str, kind: str, report: FileReport, build: Build, limits: Limits
) -> list[dict[str, str]]:
    """The documents of a file that needs a parser; what the file says about each. A file that
    cannot be read is reported and skipped."""
    source, fields = Source(path, name=name), list[dict[str, str]]()
    spool, waiting, size = Spool(), list[bytes](), 0

    def flush() -> None:
        text, lost = text_of_parts(waiting, limits, path)
        spool.add(text)
        build.count(text, lost)
        waiting.clear()

    try:
        for record in read_records(bytes_of(source, kind), kind, path):
            text = record.text.encode("utf-8", "replace")
            for part in pieces_of([text], limits, path, build):
                waiting.append(part)
                size += len(part)
                fields.append(record.fields)
            if size >= BLOCK_BYTES:
                flush()
                size = 0
    except DataError as error:
        if fields:
            report.partial = error.message
        else:
            report.skipped = error.message.rstrip(".")
    if waiting:
        flush()
    build.add_spooled(spool)
    report.documents, report.notes = len(fields), source.notes
    report.partial = report.partial or source.partial
    return fields


def bytes_of(source: Source, kind: str) -> Iterator[bytes]:
    """The bytes of a file; those of archives and PDF as they are."""
    if kind not in ("docx", "odt", "pdf"):
        yield from source.unpacked()
        return
    with reading(source.origin) as file:
        while chunk := file.read(CHUNK):
            yield chunk


def pieces_of(
    chunks: Iterable[bytes], limits: Limits, path: str, build: Build
) -> Iterator[bytes]:
    """A document in pieces no longer than the limit, or as ``limits.oversize`` says."""
    buffer = b""
    for chunk in chunks:
        buffer += chunk
        while len(buffer) > limits.longest:
            if limits.oversize == "error":
                raise too_long(len(buffer), limits, path, 0)
            if limits.oversize == "skip":
                build.report.lost += Lost(too_long=1)
                return
            cut = cut_at_space(buffer, limits.longest)
            build.report.lost += Lost(cut=1)
            yield buffer[:cut]
            buffer = buffer[cut:]
    yield buffer


def open_parsed(source: Source, kind: str, options: Options, build: Build) -> None:
    """The documents of one file that needs a parser."""
    report = FileReport(source.name)
    fields = read_file(str(source.origin), source.name, kind, report, build, options.limits)
    if report.skipped:
        raise DataError(f"{report.skipped}.", file=source.name)
    source.partial, source.notes = report.partial, report.notes
    build.add_columns(fields)


class PendingFiles:
    """Files of a folder that are not yet in a block."""

    def __init__(self, root: str, limits: Limits, build: Build) -> None:
        self.root, self.limits, self.build = root, limits, build
        self.entries: list[tuple[str, int, Stamp]] = []
        self.rows = self.size = 0

    def add(self, name: str, head: int, stamp: Stamp, size: int, rows: int) -> None:
        self.entries.append((name, head, stamp))
        self.rows, self.size = self.rows + rows, self.size + size
        if self.size >= BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        if self.entries:
            names, heads, stamps = zip(*self.entries, strict=True)
            self.build.blocks.append(FileRows(self.root, names, heads, stamps, self.limits))
            self.build.rows.append(self.rows)
        self.entries, self.rows, self.size = [], 0, 0


def spool_file(
    chunks: Iterable[bytes], limits: Limits, path: str, build: Build
) -> tuple[int, int]:
    """Store a file as text, in pieces if it is too long; returns the number of pieces and of
    replacements."""
    spool, before = Spool(), build.report.repairs.undecodable
    for piece in pieces_of(chunks, limits, path, build):
        text, lost = text_of_parts([piece], limits, path)
        spool.add(text)
        build.count(text, lost)
    build.add_spooled(spool)
    count = sum(block.rows for block in spool.blocks)
    return count, build.report.repairs.undecodable - before


def suffixed(name: str, count: int) -> list[str]:
    return [name if i == 0 else f"{name}#{i + 1}" for i in range(count)]


def list_files(root: str, pattern: str) -> tuple[list[str], list[FileReport]]:
    """Files below a folder that are not hidden, as relative paths, sorted; and reports of
    subfolders that cannot be read, or are links."""
    names, left_out = [], list[FileReport]()

    def note(error: OSError) -> None:
        name = Path(error.filename).relative_to(root).as_posix() + "/"
        reason = f"the folder cannot be read ({error.strerror})"
        left_out.append(FileReport(name, partial=reason))

    # glob passes over these in silence
    for parent, folders, _ in os.walk(root, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders:
            if "**" in pattern and os.path.islink(place := os.path.join(parent, name)):
                link = Path(place).relative_to(root).as_posix() + "/"
                left_out.append(FileReport(link, skipped="a symbolic link to a folder"))
    for path in Path(root).glob(pattern):
        relative = path.relative_to(root)
        if path.is_file() and not any(part.startswith(".") for part in relative.parts):
            names.append(relative.as_posix())
    # The files of a project are not documents.
    projects = [name.removesuffix("project.json") for name in names if name.endswith(RECORD)]
    names = sorted(name for name in names if not name.startswith(tuple(projects)))
    return names, left_out


def what_it_holds(files: list[FileReport], pattern: str) -> str:
    """Why a folder has no documents: the files that are there, by kind."""
    matching = "" if pattern == "**/*" else f" that matches {pattern!r}"
    if not files:
        return f"there is no file in this folder{matching}. Name a folder with documents."
    refused = [file for file in files if file.partial]
    if refused:
        what = count(len(refused), "file")
        return f"{what} cannot be read; the first is {refused[0].name}: {refused[0].partial}."
    kinds = Counter(Path(file.name).suffix.lower() or "no ending" for file in files)
    shown = listed((f"{n:,} {kind}" for kind, n in kinds.most_common()), 6)
    tables = [
        file.name
        for file in files
        if format_of(file.name) != "lines" and parsed_format(file.name) is None
    ]
    way_out = f"The first is {files[0].name}: {files[0].skipped}."
    if tables:
        way_out = f"Tables are opened one by one, for example {tables[0]}."
    return (
        f"there is no document in this folder{matching}. It holds "
        f"{count(len(files), 'other file')} ({shown}). {way_out}"
    )


def why_not_text(path: str, name: str) -> tuple[str | None, str | None]:
    """Why a file of a folder is not a document, and why one cannot be read; None and None if
    it is one."""
    parsed = parsed_format(name) is not None
    if not parsed and format_of(name) != "lines":
        return "a table; open it by itself", None
    try:
        with reading(path) as file:
            head = file.read(HEAD)
    except OSError as error:
        return None, f"the file cannot be read ({error.strerror})"
    if parsed:
        return None, None
    what = foreign(head)
    if what is not None:
        return f"this is {what}", None
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))
    if marked or Path(name).suffix.lower() in PACKED:
        return None, None
    controls = count_controls(head)
    if controls <= 0.02 * len(head):
        return None, None
    what = f"{controls:,} of its first {len(head):,} bytes are control characters: not text"
    return what, None


def count_controls(head: bytes) -> int:
    """Control characters that text has no use for."""
    return sum(head.count(bytes([c])) for c in CONTROLS)


def refuse_binary(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The same chunks; DataError if the first shows that the file is not text."""
    remaining = iter(chunks)
    first = next(remaining, b"")
    head = first[:HEAD]
    controls, nuls = count_controls(head), head.count(0)
    if len(head) >= 64 and controls > len(head) / 20:
        kind = "be" if 2 * head[::2].count(0) > nuls else "le"  # where the zeros of Latin are
        way_out = (
            f"If it is UTF-16 without a mark, use encoding='utf-16-{kind}'."
            if nuls > len(head) / 4
            else "If it is text nevertheless, use format='lines'."
        )
        raise DataError(
            f"{controls:,} of its first {len(head):,} bytes are control characters: this is "
            f"not text. {way_out}",
            file=name,
        )
    return chain([first], remaining)

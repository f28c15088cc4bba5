"""The state of reading documents: options, blocks so far, and the report of what happened."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.core.errors import DataError, PartialInput, on_one_line
from tacit.core.wording import count, listed
from tacit.data.document_blocks import NamedRows, SelectedRows
from tacit.data.spool import Spool
from tacit.data.streams import Source
from tacit.data.text_block import Repairs, Text, is_missing, scrub
from tacit.data.text_lines import NOTHING, Limits, Lost

__all__ = [
    "Build", "FileReport", "IngestReport", "Options", "Stamp", "finish", "refuse_partial",
]  # fmt: skip

SHOWN = 10  # files in the sentences; all of them are in to_dict()


@dataclass
class FileReport:
    """Repairs and losses of one file."""

    name: str
    documents: int = 0
    undecodable: int = 0
    mark: str | None = None  # the byte order mark that was removed
    encoding: str | None = None
    partial: str | None = None  # why some of it is missing
    skipped: str | None = None  # why all of it is
    notes: list[str] = field(default_factory=list)

    @property
    def odd(self) -> bool:
        """Whether there is anything to report."""
        return bool(self.undecodable or self.mark or self.partial or self.skipped or self.notes)

    def sentence(self, *, counted: bool = False) -> str:
        """The report in a sentence, or "" without anything to report; ``counted`` leaves out
        what the totals count already."""
        remarks = list(self.notes)
        if self.skipped:
            remarks.append(f"skipped: {self.skipped}")
        if self.partial:
            remarks.append(f"partial, {count(self.documents, 'document')} read: {self.partial}")
        if self.mark:
            remarks.append(f"{self.mark.upper()} byte order mark removed")
        if self.undecodable and not counted:
            bad = count(self.undecodable, "undecodable byte sequence")
            remarks.append(f"{bad} replaced by U+FFFD")
        return f"{on_one_line(self.name)}: {'; '.join(remarks)}." if remarks else ""


@dataclass
class IngestReport:
    """What was read, skipped and repaired.

    >>> print(IngestReport("letters.csv", 3, Repairs(empty=1), text_column="body"))
    letters.csv: 3 documents from column 'body'.
    1 empty document.
    """

    source: str
    documents: int
    repairs: Repairs = field(default_factory=Repairs)
    lost: Lost = field(default_factory=Lost)
    files_read: int = 0
    files: list[FileReport] = field(default_factory=list)  # those with remarks
    text_column: str | None = None
    guessed: list[str] = field(default_factory=list)  # settings that were guessed
    duplicate_ids: dict[str, int] = field(default_factory=dict)  # id -> how often
    duplicate_keys: int = 0  # JSON objects with a key twice
    short_rows: int = 0  # CSV rows with fewer fields than columns
    notes: list[str] = field(default_factory=list)

    @property
    def partial(self) -> list[FileReport]:
        """The files that were not read to their end."""
        return [file for file in self.files if file.partial]

    def lines(self) -> list[str]:
        """The report in sentences."""
        column = f" from column {self.text_column!r}" if self.text_column else ""
        many = f" in {self.files_read:,} files" if self.files_read > 1 else ""
        out = [f"{self.source}: {count(self.documents, 'document')}{column}{many}."]
        out += [f"Guessed: {what}." for what in self.guessed]
        out += [f"{sentence}." for sentence in self.repairs.sentences()]
        losses = (
            (self.lost.cut, "cut", "made in documents over the limit"),
            (self.lost.too_long, "document", "over the limit left out"),
            (self.lost.unreadable, "document", "left out for undecodable bytes"),
        )
        out += [f"{count(n, noun)} {what}." for n, noun, what in losses if n]
        if self.duplicate_ids:
            names = listed(map(repr, list(self.duplicate_ids)[:3]))
            n = len(self.duplicate_ids)
            out.append(f"{count(n, 'id occurs', 'ids occur')} more than once: {names}.")
        if self.duplicate_keys:
            n = self.duplicate_keys
            out.append(f"{count(n, 'JSON object holds', 'JSON objects hold')} a key twice.")
        if self.short_rows:
            rows = count(self.short_rows, "row has", "rows have")
            out.append(f"{rows} fewer fields than there are columns.")
        out += [f"{note[:1].upper()}{note[1:]}." for note in self.notes]
        alone = len(self.files) == 1 and self.files_read == 1
        out += filter(None, (file.sentence(counted=alone) for file in self.files[:SHOWN]))
        if len(self.files) > SHOWN:
            out.append(f"And {len(self.files) - SHOWN:,} more files with remarks.")
        return out

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return {**asdict(self), "partial": [file.name for file in self.partial]}

    def note_files(self, files: Iterable[FileReport]) -> None:
        """Count files, and add those with remarks."""
        for file in files:
            self.files_read += not file.skipped
            if file.odd:
                self.files.append(file)

    def __str__(self) -> str:
        return "\n".join(self.lines())


class Options(NamedTuple):
    """The options for reading files."""

    format: str | None = None
    text: str | None = None
    id: str | None = None
    header: bool | None = None
    encoding: str | None = None
    limits: Limits = Limits()
    duplicate_ids: str = "suffix"
    duplicate_keys: str = "last"
    allow_partial: bool = False
    pattern: str = "**/*"
    follow_links: bool = False  # symbolic links that lead outside the folder


@dataclass
class Build:
    """Blocks so far, and their report."""

    report: IngestReport
    blocks: list = field(default_factory=list)
    rows: list[int] = field(default_factory=list)  # documents of each block
    ids: list[str] | None = None
    columns: list[str] = field(default_factory=list)

    def add(self, block: Any, text: Text, lost: Lost = NOTHING) -> None:
        """Add a block as it is."""
        self.blocks.append(block)
        self.rows.append(len(text))
        self.count(text, lost)

    def count(self, text: Text, lost: Lost = NOTHING) -> None:
        """Note a text in the report."""
        self.report.documents += len(text)
        self.report.repairs += text.repairs
        self.report.lost += lost

    def add_spooled(self, spool: Spool) -> None:
        """Add the blocks that were spooled."""
        self.blocks += spool.blocks
        self.rows += [block.rows for block in spool.blocks]

    def add_columns(self, rows: Sequence[Mapping[str, str]]) -> None:
        """Columns of values that came with the documents, a mapping for each."""
        names = list(dict.fromkeys(name for row in rows for name in row))
        if not names:
            return
        start = 0
        for k, (block, size) in enumerate(zip(self.blocks, self.rows, strict=True)):
            part = rows[start : start + size]
            values = {name: [row.get(name) for row in part] for name in names}
            self.blocks[k] = NamedRows(block, values)
            start += size
        self.columns += names

    def name(self, ids: Iterable[Any], duplicates: str) -> None:
        """Set the ids of the documents; ``duplicates`` says what to do with repeated ones."""
        given = [str(i) if is_missing(id) else str(id) for i, id in enumerate(ids, 1)]
        names = list(map(scrub, given))
        if repaired := sum(old != new for old, new in zip(given, names, strict=True)):
            self.report.notes.append(
                f"{count(repaired, 'id')} with NUL or half of a surrogate pair, which was "
                "removed or replaced by U+FFFD"
            )
        counts = Counter(names)
        self.ids = names
        self.report.duplicate_ids = {name: n for name, n in counts.items() if n > 1}
        rows: dict[str, list[int]] = {name: [] for name in self.report.duplicate_ids}
        for i, name in enumerate(names if rows else ()):
            if name in rows:
                rows[name].append(i)
        if rows and duplicates == "error":
            row = min(second for _, second, *_ in rows.values())
            raise DataError(
                f"the id {names[row]!r} is repeated. duplicate_ids='first', 'last' or 'suffix' "
                "resolves it.",
                file=self.report.source,
                row=row + 1,
            )
        keep = np.ones(len(names), np.bool_)
        for name, places in rows.items():
            if duplicates == "suffix":
                number = 1
                for i in places[1:]:
                    number += 1
                    while f"{name}#{number}" in counts:  # the id of another document
                        number += 1
                    names[i] = f"{name}#{number}"
            else:
                keep[places[1:] if duplicates == "first" else places[:-1]] = False
        if not keep.all():
            self._select(keep)

    def _select(self, keep: np.ndarray) -> None:
        start = 0
        for k, (block, rows) in enumerate(zip(self.blocks, self.rows, strict=True)):
            part = keep[start : start + rows]
            if not part.all():
                self.blocks[k] = SelectedRows(block, part)
                self.rows[k] = int(part.sum())
            start += rows
        self.ids = list(compress(self.ids or (), keep))
        left_out = int(np.count_nonzero(~keep))
        self.report.documents -= left_out
        what = count(left_out, "document")
        self.report.notes.append(f"{what} left out because of repeated ids")


class Stamp(NamedTuple):
    """Size and time of a file, to detect changes."""

    size: int
    modified: int

    @classmethod
    def of(cls, path: str | Path) -> "Stamp":
        stat = os.stat(path)
        return cls(stat.st_size, stat.st_mtime_ns)

    def check(self, path: str) -> None:
        if Stamp.of(path) != self:
            raise DataError("the file changed while it was being read. Start again.", file=path)


def finish(build: Build, source: Source, options: Options) -> None:
    """Complete the report at the end of a file."""
    report = build.report
    report.repairs += Repairs(undecodable=source.undecodable)
    file = FileReport(
        source.name, report.documents, report.repairs.undecodable, source.mark, source.encoding,
        source.partial, notes=source.notes,
    )  # fmt: skip
    report.note_files([file])
    refuse_partial(report, options)


def refuse_partial(report: IngestReport, options: Options) -> None:
    """Raise if a file ended early, unless partial input is allowed."""
    if report.partial and not options.allow_partial:
        file = report.partial[0]
        raise PartialInput(
            f"{file.partial}. {count(report.documents, 'document was', 'documents were')} read "
            "before that; "
            "allow_partial=True accepts them.",
            file=file.name,
        )

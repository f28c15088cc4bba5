"""What is put together while documents are read, and what a caller may say about it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.core.errors import DataError, PartialInput
from tacit.data.document_blocks import KeptRows
from tacit.data.document_report import FileReport, IngestReport
from tacit.data.spool import Spool
from tacit.data.streams import Source
from tacit.data.text_block import Repairs, Text, is_missing
from tacit.data.text_lines import NOTHING, Limits, Lost

__all__ = ["Build", "Options", "Stamp", "finish", "refuse_partial"]


class Options(NamedTuple):
    """What a caller may say about files."""

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


@dataclass
class Build:
    """Blocks as they are found."""

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

    def count_repairs(self, repairs: Repairs, lost: Lost = NOTHING) -> None:
        """Of text that is not yet cut into documents: whether they are empty is not known."""
        self.report.repairs += replace(repairs, empty=0)
        self.report.lost += lost

    def add_spooled(self, spool: Spool) -> None:
        """Add the blocks that were spooled."""
        self.blocks += spool.blocks
        self.rows += [block.rows for block in spool.blocks]

    def name(self, ids: Iterable[Any], duplicates: str) -> None:
        """Give the documents their ids; ``duplicates`` is what to do if one comes again."""
        names = [str(i) if is_missing(each) else str(each) for i, each in enumerate(ids)]
        counts: dict[str, int] = {}
        given, latest = set(names), dict[str, int]()
        first = np.zeros(len(names), np.bool_)
        for i, each in enumerate(names):
            counts[each] = count = counts.get(each, 0) + 1
            first[i] = count == 1
            if count > 1 and duplicates == "error":
                raise DataError(
                    f"the id {each!r} was there before. duplicate_ids='first', 'last' or "
                    "'suffix' deals with it.",
                    file=self.report.source,
                    row=i + 1,
                )
            if count > 1 and duplicates == "suffix":
                number = max(count, latest.get(each, 0) + 1)
                while f"{each}#{number}" in given:  # the id that another document came with
                    number += 1
                latest[each], names[i] = number, f"{each}#{number}"
        self.report.duplicate_ids = {each: n for each, n in counts.items() if n > 1}
        self.ids = names
        if self.report.duplicate_ids and duplicates in ("first", "last"):
            last = {each: i for i, each in enumerate(names)}
            keep = first if duplicates == "first" else np.zeros(len(names), np.bool_)
            keep[list(last.values()) if duplicates == "last" else []] = True
            self._keep(keep)

    def _keep(self, keep: np.ndarray) -> None:
        start = 0
        for k, (block, rows) in enumerate(zip(self.blocks, self.rows, strict=True)):
            part = keep[start : start + rows]
            if not part.all():
                self.blocks[k] = KeptRows(block, part)
                self.rows[k] = int(part.sum())
            start += rows
        self.ids = [each for each, kept in zip(self.ids or (), keep, strict=True) if kept]
        left_out = int(np.count_nonzero(~keep))
        self.report.documents -= left_out
        self.report.notes.append(f"{left_out:,} document(s) left out because of their ids")


class Stamp(NamedTuple):
    """By which a file is known again."""

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
    """Note what is known of the file only at its end."""
    report = build.report
    report.repairs += Repairs(undecodable=source.undecodable)
    file = FileReport(
        source.name,
        report.documents,
        report.repairs.undecodable,
        source.mark,
        source.encoding,
        source.partial,
        notes=source.notes,
    )
    report.note_files([file])
    refuse_partial(report, options)


def refuse_partial(report: IngestReport, options: Options) -> None:
    """Raise if a file ended early and that will not do."""
    if report.partial and not options.allow_partial:
        file = report.partial[0]
        raise PartialInput(
            f"{file.partial}. {report.documents:,} document(s) were read before that; "
            "allow_partial=True makes do with them.",
            file=file.name,
        )

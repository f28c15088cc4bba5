"""What became of the documents on their way in: read, repaired, cut, left out."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from tacit.data.text_block import Repairs
from tacit.data.text_lines import Lost

__all__ = ["FileReport", "IngestReport"]

SHOWN = 10  # files in the sentences; all of them are in to_dict()


@dataclass
class FileReport:
    """What was odd about one file."""

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
        """Whether there is anything to say."""
        return bool(self.undecodable or self.mark or self.partial or self.skipped or self.notes)

    def sentence(self, *, counted: bool = False) -> str:
        """What happened to the file, in a sentence; empty if there is nothing more to say
        where what was replaced is ``counted`` already."""
        said = list(self.notes)
        if self.skipped:
            said.append(f"skipped: {self.skipped}")
        if self.partial:
            said.append(f"partial, {self.documents:,} document(s) read: {self.partial}")
        if self.mark:
            said.append(f"{self.mark.upper()} byte order mark removed")
        if self.undecodable and not counted:
            said.append(f"{self.undecodable:,} undecodable byte sequence(s) replaced by U+FFFD")
        return f"{self.name}: {'; '.join(said)}." if said else ""


@dataclass
class IngestReport:
    """What was read, skipped and repaired.

    >>> print(IngestReport("letters.csv", 3, Repairs(empty=1), text_column="body"))
    letters.csv: 3 documents from column 'body'.
    1 document(s) empty.
    """

    source: str
    documents: int
    repairs: Repairs = field(default_factory=Repairs)
    lost: Lost = field(default_factory=Lost)
    files_read: int = 0
    files: list[FileReport] = field(default_factory=list)  # those with something to say
    text_column: str | None = None
    guessed: list[str] = field(default_factory=list)  # what was not said, and was guessed
    duplicate_ids: dict[str, int] = field(default_factory=dict)  # id -> how often
    duplicate_keys: int = 0  # JSON objects with a key twice
    short_rows: int = 0  # CSV rows with fewer fields than columns
    notes: list[str] = field(default_factory=list)

    @property
    def partial(self) -> list[FileReport]:
        """The files that were not read to their end."""
        return [file for file in self.files if file.partial]

    def lines(self) -> list[str]:
        """The report in sentences, for people."""
        column = f" from column {self.text_column!r}" if self.text_column else ""
        many = f" in {self.files_read:,} files" if self.files_read > 1 else ""
        plural = "" if self.documents == 1 else "s"
        out = [f"{self.source}: {self.documents:,} document{plural}{column}{many}."]
        out += [f"Guessed: {what}." for what in self.guessed]
        out += [f"{sentence}." for sentence in self.repairs.sentences()]
        lost = {
            "cut": "cut(s) made in documents over the limit",
            "too_long": "document(s) over the limit left out",
            "unreadable": "document(s) left out for undecodable bytes",
        }
        for f in fields(Lost):
            if count := getattr(self.lost, f.name):
                out.append(f"{count:,} {lost[f.name]}.")
        if self.duplicate_ids:
            names = ", ".join(map(repr, list(self.duplicate_ids)[:3]))
            out.append(f"{len(self.duplicate_ids):,} id(s) occur more than once: {names}.")
        if self.duplicate_keys:
            out.append(f"{self.duplicate_keys:,} JSON object(s) hold a key twice.")
        if self.short_rows:
            out.append(f"{self.short_rows:,} row(s) have fewer fields than there are columns.")
        out += [f"{note}." for note in self.notes]
        alone = len(self.files) == 1 and self.files_read == 1
        said = (file.sentence(counted=alone) for file in self.files[:SHOWN])
        out += [sentence for sentence in said if sentence]
        if len(self.files) > SHOWN:
            out.append(
                f"And {len(self.files) - SHOWN:,} more files of which something is said."
            )
        return out

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return {**asdict(self), "partial": [file.name for file in self.partial]}

    def note_files(self, files: Iterable[FileReport]) -> None:
        """Keep the files of which there is something to say."""
        for file in files:
            self.files_read += not file.skipped
            if file.odd:
                self.files.append(file)

    def __str__(self) -> str:
        return "\n".join(self.lines())

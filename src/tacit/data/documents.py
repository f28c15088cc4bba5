"""Documents from wherever they are, as blocks that can be walked any number of times.

    Documents.of      a list, a dataframe or one of its columns, a generator
    Documents.open    a text file (one document per line), a folder of files, .csv, .tsv,
                      .jsonl, .json, .parquet, .html, .eml, .mbox, .docx, .odt, .pdf, .rtf, .md,
                      text also compressed with gzip or zstd, "-" for standard input

A block loads as ``Text``: UTF-8 bytes, and where each document begins and ends. Documents are
never all in memory unless they were there before: plain files are read again in each pass,
what can be read only once is stored as compressed blocks. ``report`` counts what was read,
repaired, cut and left out.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from tacit.data.document_blocks import BLOCK_BYTES, ListRows, cut_by_size, sizes_of
from tacit.data.document_build import Build, IngestReport, Options, finish
from tacit.data.document_files import (
    format_of,
    open_folder,
    open_lines,
    open_parsed,
    refuse_binary,
)
from tacit.data.document_formats import FORMATS
from tacit.data.document_tables import (
    looks_like_array,
    open_frame,
    open_parquet,
    open_records,
)
from tacit.data.spool import Spool, SpooledRows, column_of
from tacit.data.streams import Source
from tacit.data.text_block import text_of
from tacit.data.text_lines import Limits

__all__ = ["Documents"]

FEW = 1_000  # documents whose other columns are decoded at once

CHOICES = {
    "format": (
        None, "lines", "csv", "tsv", "jsonl", "json", "parquet", *sorted(set(FORMATS.values())),
    ),
    "errors": ("replace", "strict", "skip"),
    "oversize": ("split", "skip", "error"),
    "duplicate_ids": ("suffix", "error", "first", "last"),
    "duplicate_keys": ("last", "first", "error"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents in blocks. Make them with ``of`` or ``open``.

    >>> letters = Documents.of(["Dear Ann,", None, "Yours, Bob"])
    >>> len(letters), letters[2]
    (3, 'Yours, Bob')
    >>> print(letters.report)
    the list: 3 documents.
    1 empty document.
    1 document None, NaN or null, read as empty.
    """

    blocks: tuple
    rows: int
    counts: tuple[int, ...] = ()  # documents of each block
    source: str | None = None  # where they come from, for messages
    names: list[str] | None = None
    columns: tuple[str, ...] = ()  # besides the text
    ingest_report: IngestReport | None = field(default=None, repr=False)
    first: int = 0  # the number of the first document: 1 in a file, 0 in a list

    def __iter__(self) -> Iterator:
        return iter(self.blocks)

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        home = f", from {self.source}" if self.source else ""
        return f"Documents({self.rows:,} documents, {len(self.blocks)} blocks{home})"

    def __getitem__(self, row: int) -> str:
        """One document."""
        row = range(self.rows)[row]
        edges = np.cumsum([0, *self.counts])
        k = int(np.searchsorted(edges, row, side="right")) - 1
        cached, text = vars(self).get("_recent", (None, None))
        if cached != k:  # neighboring documents are often read together
            text = self.blocks[k].load()
            vars(self)["_recent"] = (k, text)
        return text.string(row - int(edges[k]))  # type: ignore[union-attr]

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        text: str | None = None,
        id: str | None = None,
        encoding: str = "utf-8",
        errors: str = "replace",
        duplicate_ids: str = "suffix",
    ) -> "Documents":
        """Documents that are in memory, or come from there.

        Parameters
        ----------
        data : list, tuple, array, Series, dataframe, Arrow column or table, generator
            Documents are str, bytes, or None or NaN for empty ones. A generator is walked
            once, here. A str or path is opened as a file.
        text, id : str or None
            Columns of a dataframe: the text, and the ids of the documents. None guesses, and
            reports the guess.
        encoding, errors : str
            How documents that are bytes are decoded.
        duplicate_ids : {"suffix", "error", "first", "last"}
            What to do with repeated ids.
        """
        if isinstance(data, Documents):
            return data
        if isinstance(data, str | os.PathLike):
            return cls.open(data)
        if isinstance(data, bytes):
            raise ValueError("Documents.of takes many documents. Put one in a list: [text].")
        if isinstance(data, list | tuple):
            return cls._of_list(data, encoding, errors)
        frame = arrow_table(data)
        if frame is not None:
            options = Options(text=text, id=id, duplicate_ids=duplicate_ids)
            return cls._of_build(open_frame(frame, options))
        if isinstance(data, np.ndarray) or hasattr(data, "to_list"):
            listed = data.ravel().tolist() if isinstance(data, np.ndarray) else data.to_list()
            return cls._of_list(listed, encoding, errors)
        if not isinstance(data, Iterable):
            raise TypeError(
                f"Documents.of takes an iterable of documents, but was given "
                f"{type(data).__name__}. Give a list of str."
            )
        return cls._of_iterator(iter(data), encoding, errors)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike,
        *,
        format: str | None = None,
        text: str | None = None,
        id: str | None = None,
        header: bool | None = None,
        encoding: str | None = None,
        errors: str = "replace",
        max_document: int = 2**26,
        oversize: str = "split",
        duplicate_ids: str = "suffix",
        duplicate_keys: str = "last",
        allow_partial: bool = False,
        pattern: str = "**/*",
        follow_links: bool = False,
    ) -> "Documents":
        """Documents of a file, of a folder, or of standard input.

        Parameters
        ----------
        path : path, or "-" for standard input
        format : {"lines", "csv", "tsv", "jsonl", "json", "parquet"} or None
            None infers it from the name of the file. "json" is one array of objects or
            strings.
        text, id : str or None
            Columns: the text, and the ids of the documents. None guesses, and reports the
            guess. In a folder, ids are the relative paths.
        header : bool or None
            Whether the first line of a .csv file names the columns; None guesses.
        encoding : str or None
            None is UTF-8, unless a byte order mark says otherwise.
        errors : {"replace", "strict", "skip"}
            Replace bytes that cannot be decoded by U+FFFD, raise DataError, or leave out the
            document.
        max_document : int
            The longest document, in bytes.
        oversize : {"split", "skip", "error"}
            What to do with longer ones.
        duplicate_ids : {"suffix", "error", "first", "last"}
            What to do with repeated ids.
        duplicate_keys : {"last", "first", "error"}
            Which value to take where a JSON object repeats a key.
        allow_partial : bool
            Whether to accept the readable part of a truncated or damaged compressed file;
            otherwise PartialInput is raised.
        pattern : str
            Which files of a folder to read. Hidden files, tables and files that are not text
            are skipped; the latter two are reported.
        follow_links : bool
            Whether to read symbolic links to files outside the folder; otherwise they are
            skipped and reported, as links to folders always are.

        Examples
        --------
        >>> import tempfile; from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "lines.txt")
        ...     _ = path.write_text("first document\\nsecond document\\n")
        ...     list(Documents.open(path).texts())
        ['first document', 'second document']
        """
        chosen = {"format": format, "errors": errors, "oversize": oversize,
                  "duplicate_ids": duplicate_ids, "duplicate_keys": duplicate_keys}  # fmt: skip
        for setting, value in chosen.items():
            if value not in CHOICES[setting]:
                raise ValueError(
                    f"{setting}={value!r} is unknown; choose from {list(CHOICES[setting])}."
                )
        if encoding is not None:
            try:
                b"a".decode(encoding, "replace")
            except (LookupError, UnicodeError):  # rot13 and base64 are codecs too
                raise ValueError(
                    f"encoding={encoding!r} is not known to Python as an encoding of text."
                ) from None
        if max_document < 16:
            raise ValueError(f"max_document={max_document} must be at least 16 bytes.")
        limits = Limits(int(max_document), oversize, errors)
        options = Options(
            format, text, id, header, encoding, limits, duplicate_ids, duplicate_keys,
            allow_partial, pattern, follow_links,
        )  # fmt: skip
        return cls._of_build(open_documents(os.fspath(path), options), first=1)

    @property
    def ids(self) -> Sequence[Any]:
        """The names of the documents: ids or relative paths. Without any they are numbered,
        from 1 in a file, as its lines are, and from 0 in a list."""
        numbers = range(self.first, self.first + self.rows)
        return numbers if self.names is None else self.names

    @cached_property
    def report(self) -> IngestReport:
        """What was read, repaired, cut and left out."""
        if self.ingest_report is not None:
            return self.ingest_report
        report = IngestReport(self.source or "the list", self.rows)
        for block in self.blocks:
            report.repairs += block.load().repairs
        return report

    def texts(self) -> Iterator[str]:
        """The documents as strings, one after the other."""
        for block in self.blocks:
            yield from block.load().strings()

    def column(self, name: str) -> list:
        """Another column than the text; converted to numbers if all its values are numbers."""
        if name not in self.columns:
            raise KeyError(f"There is no column {name!r}; there are {list(self.columns)}.")
        if self.rows <= FEW and self._tables:
            return as_numbers(list(chain(*(column_of(table, name) for table in self._tables))))
        return as_numbers([value for block in self.blocks for value in block.column(name)])

    @cached_property
    def _tables(self) -> list[Any]:
        """Few documents may have thousands of columns: decoded once, not for every column."""
        spooled = all(isinstance(block, SpooledRows) for block in self.blocks)
        return [block.batch() for block in self.blocks] if spooled else []

    @classmethod
    def _of_list(cls, documents: Sequence[Any], encoding: str, errors: str) -> "Documents":
        cuts = cut_by_size(sizes_of(documents))
        blocks = tuple(ListRows(documents, i, j, encoding, errors) for i, j in cuts)
        return cls(blocks, len(documents), tuple(j - i for i, j in cuts))

    @classmethod
    def _of_iterator(cls, documents: Iterator, encoding: str, errors: str) -> "Documents":
        build, spool = Build(IngestReport("the generator", 0)), Spool()
        for batch in in_batches(documents):
            first = build.report.documents
            text = text_of(batch, encoding=encoding, errors=errors, first=first)
            spool.add(text)
            build.count(text)
        build.add_spooled(spool)
        return cls._of_build(build)

    @classmethod
    def _of_build(cls, build: Build, first: int = 0) -> "Documents":
        return cls(
            tuple(build.blocks), sum(build.rows), tuple(build.rows), build.report.source,
            build.ids, tuple(build.columns), build.report, first,
        )  # fmt: skip


def in_batches(documents: Iterator) -> Iterator[list]:
    """Documents of about a block's size at a time."""
    batch: list[Any] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += 1 + (len(document) if isinstance(document, str | bytes) else 0)
        if size > BLOCK_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def open_documents(path: str, options: Options) -> Build:
    limits = options.limits
    if path == "-":
        source = Source(sys.stdin.buffer, options.encoding, limits.errors, "standard input")
        return open_stream(source, options, None)
    if os.path.isdir(path):
        return open_folder(path, options)
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"There is no file or folder {path[:200]!r}. To use a string itself as a document, "
            "put it in a list: [text]."
        )
    return open_stream(Source(path, options.encoding, limits.errors), options, format_of(path))


def open_stream(source: Source, options: Options, kind: str | None) -> Build:
    build = Build(IngestReport(source.name, 0))
    kind, chunks = options.format or kind, source.chunks()
    if kind is None:
        first = next(chunks, b"")
        kind = {b"{": "jsonl", b"[": "json"}.get(first.lstrip()[:1], "lines")
        if kind == "json" and not looks_like_array(first):
            kind = "lines"
        build.report.guessed.append(f"{source.name} is of the format {kind!r}")
        chunks = chain([first], chunks)
    if kind in FORMATS.values():
        open_parsed(source, kind, options, build)
    elif kind == "parquet":
        open_parquet(source, chunks, options, build)
    elif kind == "lines":
        if options.format is None:  # it may be anything
            chunks = refuse_binary(chunks, source.name)
        open_lines(source, chunks, options, build)
    else:
        open_records(source, chunks, kind, options, build)
    finish(build, source, options)
    return build


def arrow_table(data: Any) -> Any:
    """A dataframe, or a column of strings, as an Arrow table; None for anything else."""
    if type(data).__module__.partition(".")[0] not in ("pandas", "polars", "pyarrow"):
        return None
    import pyarrow as pa

    streams = hasattr(data, "__arrow_c_stream__")
    if isinstance(data, pa.Table | pa.RecordBatch) or (streams and hasattr(data, "columns")):
        return pa.table(data)
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return pa.table({"text": data})
    if streams and str(data.dtype) != "object":
        return pa.table({"text": pa.chunked_array(data)})
    return None


def as_numbers(values: list) -> list:
    """Strings as numbers, if every one is written as Python would write it."""
    if not all(value is None or isinstance(value, str) for value in values):
        return values
    for kind in (int, float):
        try:
            numbers = [None if value is None else kind(value) for value in values]
        except ValueError:
            continue
        if all(n is None or str(n) == v for n, v in zip(numbers, values, strict=True)):
            return numbers
    return values

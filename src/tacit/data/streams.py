"""Bytes from files and streams, decompressed and decoded: chunk by chunk, or all at once.

gzip and zstd are recognized by their first bytes and unpacked under a limit on ratio and size;
encodings by their byte order mark. A compressed file that ends early or is damaged yields its
readable part, and ``partial`` gives the reason. Whatever is repaired is reported.
"""

import codecs
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, Any

from tacit.core.errors import DataError, PartialInput, reading
from tacit.core.memory import available_memory, format_bytes
from tacit.core.wording import count
from tacit.data.text_block import undecodable

__all__ = [
    "PARTIAL_ROWS", "Raw", "Source", "foreign", "name_of", "opened", "read_raw", "read_table",
    "to_utf8",
]  # fmt: skip

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
NPY = b"\x93NUMPY"
PARQUET = b"PAR1"
FOREIGN = {  # formats opened by mistake, and the way out
    b"PK\x03\x04": "a zip archive. Unpack it first",
    b"BZh": "compressed with bzip2. Decompress it first with: bunzip2",
    b"\xfd7zXZ": "compressed with xz. Decompress it first with: unxz",
    b"%PDF": "a PDF. Export its text, or its numbers as CSV",
    b"\x89HDF": "an HDF5 file. Write the array with numpy.save",
    b"\xd0\xcf\x11\xe0": "an old Office document. Export it as CSV or text",
}
ZIPPED = {  # names inside zip archives
    b"xl/": "a spreadsheet. Save it as CSV",
    b"opendocument.spreadsheet": "a spreadsheet. Save it as CSV",
    b"word/": "a Word file. Save it as text, or a table in it as CSV",
}
BOMS = [  # the longer first: UTF-32's begins with UTF-16's
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
]
BOMB_SIZE = 2**28  # 256 MiB: a smaller output is harmless at any ratio
BOMB_RATIO = 200  # real tables of numbers stay below 20
CHUNK = 2**21  # as much as a block
PIECE = 2**26  # bytes between two checks of the memory
PARTIAL_ROWS = ", or allow partial input to use the rows that are whole"
SIP = 2**14  # a zstd file that breaks off loses at most this much


@dataclass
class Source:
    """A file or stream as text, and what happened to it."""

    origin: Any  # a path, or an open binary file
    encoding: str | None = None  # None for the byte order mark's, else UTF-8
    errors: str = "replace"  # or "strict"
    name: str = ""
    compressed: bool = False
    mark: str | None = None  # the encoding that a byte order mark announced
    head: int = 0  # bytes of the mark
    partial: str | None = None
    undecodable: int = 0
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.name or name_of(self.origin)

    @property
    def plain(self) -> bool:
        """Whether byte offsets in the file are offsets in the text."""
        return not self.compressed and self._codec() == "utf-8"

    def _codec(self) -> str:
        return codecs.lookup(self.mark or self.encoding or "utf-8").name

    def chunks(self) -> Iterator[bytes]:
        """The text as UTF-8 without its mark, in chunks; not validated if it is plain."""
        pieces = self.unpacked()
        first = next(pieces, b"")
        while len(first) < 4 and (more := next(pieces, b"")):
            first += more
        self.mark, self.head = mark_of(first)
        first = first[self.head :]
        if self._codec() == "utf-8":
            yield first
            yield from pieces
            return
        decoder = codecs.getincrementaldecoder(self._codec())("replace")
        try:
            for piece in chain([first], pieces):
                yield self._recoded(decoder.decode(piece))
            yield self._recoded(decoder.decode(b"", True))
        except UnicodeError as error:  # UTF-16 that does not say which kind it is
            raise DataError(
                f"{error}. Use encoding='{self._codec()}-le' or '{self._codec()}-be'.",
                file=self.name,
            ) from None

    def _recoded(self, text: str) -> bytes:
        # U+FFFD in the file itself counts too; it is rare.
        self.undecodable += text.count("\ufffd")
        if self.errors == "strict" and self.undecodable:
            raise DataError(
                f"some bytes are not {self._codec().upper()}. errors='replace' reads them as "
                "U+FFFD.",
                file=self.name,
            )
        return text.encode("utf-8", "replace")

    def unpacked(self) -> Iterator[bytes]:
        """The unpacked bytes in chunks."""
        with opened(self.origin) as file:
            first = file.read(CHUNK)
            if first.startswith((GZIP, ZSTD)):
                self.compressed = True
                unpack = gunzip if first.startswith(GZIP) else unzstd
                packed, size = Counted(first, file), 0
                for piece in unpack(packed, self):
                    size += len(piece)
                    check_ratio(packed.count, size, self.name)
                    yield piece
            elif (what := foreign(first)) is not None:
                raise DataError(f"this is {what}.", file=self.name)
            else:
                while first:
                    yield first
                    first = file.read(CHUNK)


def mark_of(data: bytes) -> tuple[str | None, int]:
    """The encoding that a byte order mark announces, and the mark's size."""
    marks = ((encoding, len(mark)) for mark, encoding in BOMS if data.startswith(mark))
    return next(marks, (None, 0))


def check_ratio(read: int, size: int, name: str) -> None:
    if size > BOMB_SIZE and size > BOMB_RATIO * read:
        raise DataError(
            f"{read:,} bytes unpack to more than {size:,}, over {BOMB_RATIO} times as many, "
            "which looks like a decompression bomb. If it is not, unpack it first.",
            file=name,
        )


def foreign(head: bytes) -> str | None:
    """The format of a file that is not text, by its first bytes, and what to do with it."""
    if head.startswith(b"PK"):
        for name, what in ZIPPED.items():
            if name in head[:CHUNK]:
                return what
    if head[4:10] == b'\0\0\0\0{"':  # safetensors: the length of a header, then JSON
        return "a model file. Give the data"
    return next((what for magic, what in FOREIGN.items() if head.startswith(magic)), None)


def foreign_text(text: bytes) -> str | None:
    """The format of text that is not a table of columns, and what to do with it."""
    if re.match(rb"\s*[\[{]\s*[\[{\"\d]", text):
        return "JSON. Write its rows as CSV or Parquet, for example with pandas"
    if re.match(rb"(?i)\s*<(!doctype|html|head|body|table|\?xml)\b", text):
        return "a web page or XML. Save its table as CSV"
    return None


def name_of(source: Any) -> str:
    """The name of a path or a stream in messages."""
    if isinstance(source, str | Path):
        return str(source)
    name = getattr(source, "name", None)
    if name in ("<stdin>", 0):
        return "standard input"
    return str(name) if isinstance(name, str) else "the stream"


@contextmanager
def opened(origin: Any) -> Iterator[IO[bytes]]:
    """A file by its path; or a stream, which is its owner's to close."""
    if not isinstance(origin, str | Path):
        yield origin
        return
    with reading(origin) as file:
        yield file


def gunzip(packed: "Counted", source: Source) -> Iterator[bytes]:
    """The unpacked chunks of all members."""
    data, member = b"", None
    while data := data or packed.read(CHUNK):
        member = member or zlib.decompressobj(wbits=31)
        try:
            piece = member.decompress(data, CHUNK)
        except zlib.error as error:
            # What came before is sound; what comes after it cannot be read.
            source.partial = f"the compressed data is damaged ({error})"
            return
        if piece:
            yield piece
        data = member.unconsumed_tail
        if member.eof:
            # Tape and disk blocks pad with zeros.
            data, member = (member.unused_data or packed.read(CHUNK)).lstrip(b"\0"), None
            if not GZIP.startswith(data[:2]):
                source.notes.append("bytes after the end of the compressed data ignored")
                return
    if member is not None:
        source.partial = "the compressed data ends early: the file is truncated"


def unzstd(packed: "Counted", source: Source) -> Iterator[bytes]:
    """The same for zstd."""
    import pyarrow as pa

    with pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd") as stream:
        try:
            while piece := stream.read(SIP):
                yield piece
        except OSError as error:
            source.partial = f"the compressed data is truncated or damaged ({error})"


class Counted:
    """A file that has its first bytes back, and counts what is read."""

    def __init__(self, first: bytes, file: IO[bytes]) -> None:
        self.first, self.file, self.count, self.closed = first, file, 0, False

    def read(self, size: int) -> bytes:
        out, self.first = self.first[:size], self.first[size:]
        if not out:
            out = self.file.read(size)
        self.count += len(out)
        return out

    def close(self) -> None:
        self.closed = True


@dataclass
class Raw:
    """Bytes as read, uncompressed; ``partial`` says why some are missing."""

    data: bytes
    name: str
    notes: list[str] = field(default_factory=list)
    partial: str | None = None


def read_raw(stream: IO, name: str) -> Raw:
    """All of a stream, unpacked if it is gzip or zstd."""
    source = Source(BytesIO(read_bounded(stream, name)), name=name)
    data = b"".join(source.unpacked())
    return Raw(data, name, source.notes, source.partial)


def read_table(
    source: Any, name: str | None = None, *, complete: bool = True, otherwise: str = ""
) -> Raw:
    """All of a path or stream that should be a table: Parquet, .npy, or else UTF-8 text.

    ``complete`` refuses a file that ends early; ``otherwise`` is the way out for the caller.
    """
    with opened(source) as stream:
        raw = read_raw(stream, name or name_of(source))
    again = f"{raw.partial}. Get the file again"
    if raw.data.startswith((NPY, PARQUET)):
        if raw.partial:
            raise DataError(f"{again}.", file=raw.name)
        return raw
    if raw.data.startswith((GZIP, ZSTD)):
        raise DataError("it is compressed twice. Unpack it once first.", file=raw.name)
    if (what := foreign(raw.data) or foreign_text(raw.data)) is not None:
        raise DataError(f"this is {what}.", file=raw.name)
    if raw.partial and complete:
        raise PartialInput(f"{again}{otherwise}.", file=raw.name)
    return to_utf8(raw)


def read_bounded(stream: IO, name: str) -> bytes:
    """All of a stream; DataError before it fills the memory, as /dev/zero would."""
    pieces: list[bytes] = []
    size, most = 0, 0.0
    while piece := stream.read(PIECE):
        if not pieces and is_endless(stream):
            raise DataError("is a device without an end, not a file of data.", file=name)
        pieces.append(piece.encode("utf-8", "replace") if isinstance(piece, str) else piece)
        size += len(piece)
        most = most or available_memory() / 4  # of which tables take several times as much
        if size > most:
            raise DataError(
                f"it has more than {format_bytes(size)}, too much to read whole with "
                f"{format_bytes(4 * most)} of free memory. Give a .npy or Parquet file, which "
                "is read in parts, or fewer rows.",
                file=name,
            )
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def is_endless(stream: IO) -> bool:
    """Whether a stream is a device that never ends, such as /dev/zero or /dev/urandom."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
        return stat.S_ISCHR(mode) and not stream.isatty()
    except (OSError, ValueError, AttributeError):  # not a stream of the operating system
        return False


def to_utf8(raw: Raw) -> Raw:
    """The same text as UTF-8 without a byte order mark."""
    notes = list(raw.notes)
    marked, head = mark_of(raw.data)
    data, encoding = raw.data[head:], marked or "utf-8"
    if marked:
        notes.append(f"{encoding.upper()} byte order mark removed")
    if encoding != "utf-8" or not data.isascii():
        text = data.decode(encoding, "replace")
        if replaced := undecodable(data, encoding) if "\ufffd" in text else 0:
            sequences = count(replaced, "byte sequence is", "byte sequences are")
            notes.append(f"{sequences} not {encoding.upper()}, replaced by U+FFFD")
        data = text.encode("utf-8", "replace")
    return Raw(data, raw.name, notes, raw.partial)

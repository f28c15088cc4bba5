"""Bytes from files and streams, decompressed and decoded: chunk by chunk, or whole files.

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

from tacit.core.errors import DataError
from tacit.core.memory import available_memory, format_bytes

__all__ = [
    "Raw", "Source", "foreign", "foreign_text", "name_of", "read_raw", "read_source", "to_utf8",
]  # fmt: skip

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
NPY = b"\x93NUMPY"
PARQUET = b"PAR1"
FOREIGN = {  # formats given by mistake, and the way out
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
WHOLE = 2**26  # bytes between two checks of the memory
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
        for mark, encoding in BOMS:
            if first.startswith(mark):
                self.mark, self.head = encoding, len(mark)
                first = first[len(mark) :]
                break
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
            if first.startswith(GZIP):
                self.compressed = True
                yield from self._capped(gunzip(first, file, self))
            elif first.startswith(ZSTD):
                self.compressed = True
                yield from self._capped(unzstd(first, file, self))
            elif (what := foreign(first)) is not None:
                raise DataError(f"this is {what}.", file=self.name)
            else:
                while first:
                    yield first
                    first = file.read(CHUNK)

    def _capped(self, pieces: Iterator[tuple[bytes, int]]) -> Iterator[bytes]:
        size = 0
        for piece, read in pieces:
            size += len(piece)
            if size > BOMB_SIZE and size > BOMB_RATIO * read:
                raise DataError(
                    f"{read:,} bytes unpack to more than {size:,}, over {BOMB_RATIO} times as "
                    "many, which looks like a decompression bomb. If it is not, unpack it "
                    "first.",
                    file=self.name,
                )
            yield piece


def foreign(head: bytes) -> str | None:
    """The format of a file that is not text, by its first bytes, and what to do with it."""
    if head.startswith(b"PK"):
        for name, what in ZIPPED.items():
            if name in head[:CHUNK]:
                return what
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
    with open(origin, "rb") as file:
        yield file


def gunzip(first: bytes, file: IO[bytes], source: Source) -> Iterator[tuple[bytes, int]]:
    """Unpacked chunks, each with the number of bytes read so far."""
    data, read = first, len(first)
    member: Any = zlib.decompressobj(wbits=31)
    begun = False
    while True:
        if not data:
            data = file.read(CHUNK)
            read += len(data)
        if not data:
            if begun:
                source.partial = "the compressed data ends early: the file is truncated"
            return
        begun = True
        try:
            piece = member.decompress(data, CHUNK)
        except zlib.error as error:
            # What came before is sound; nothing after it can be found.
            source.partial = f"the compressed data is damaged ({error})"
            return
        data = member.unconsumed_tail
        if piece:
            yield piece, read
        if member.eof:
            data = member.unused_data
            if not data:
                data = file.read(CHUNK)
                read += len(data)
            data = data.lstrip(b"\0")  # tape and disk blocks pad with zeros
            if data and not data.startswith(GZIP[: len(data)]):
                source.notes.append("bytes after the end of the compressed data ignored")
                return
            member, begun = zlib.decompressobj(wbits=31), bool(data)


def unzstd(first: bytes, file: IO[bytes], source: Source) -> Iterator[tuple[bytes, int]]:
    """The same for zstd."""
    import pyarrow as pa

    counted = Counted(first, file)
    with pa.CompressedInputStream(pa.PythonFile(counted, "r"), "zstd") as stream:
        while True:
            try:
                piece = stream.read(SIP)
            except OSError as error:
                source.partial = f"the compressed data is truncated or damaged ({error})"
                return
            if not piece:
                return
            yield piece, counted.count


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


def read_source(source: Any) -> Raw:
    """All of a path or of an open stream, unpacked if it is gzip or zstd."""
    with opened(source) as stream:
        return read_raw(stream, name_of(source))


def read_raw(stream: IO, name: str, head: bytes = b"") -> Raw:
    """All of a stream after ``head``, unpacked if it is gzip or zstd."""
    data = read_bounded(stream, name)
    source = Source(BytesIO(head + data if head else data), name=name)
    data = b"".join(source.unpacked())
    return Raw(data, name, source.notes, source.partial)


def read_bounded(stream: IO, name: str) -> bytes:
    """All of a stream; DataError before it fills the memory, as /dev/zero would."""
    pieces: list[bytes] = []
    size, most = 0, 0.0
    while piece := stream.read(WHOLE):
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
    """Whether a stream that gave something is a device such as /dev/zero or /dev/urandom."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
        return stat.S_ISCHR(mode) and not stream.isatty()
    except (OSError, ValueError, AttributeError):  # not a stream of the operating system
        return False


def to_utf8(raw: Raw) -> Raw:
    """The same text as UTF-8 without a byte order mark."""
    data, notes = raw.data, list(raw.notes)
    for mark, encoding in BOMS:
        if data.startswith(mark):
            notes.append(f"{encoding.upper()} byte order mark removed")
            data = data[len(mark) :]
            break
    else:
        encoding = "utf-8"
    if encoding != "utf-8" or not data.isascii():
        text = data.decode(encoding, "replace")
        own = data.decode(encoding, "ignore").count("\ufffd") if "\ufffd" in text else 0
        replaced = text.count("\ufffd") - own
        if replaced:
            some = "byte sequence is" if replaced == 1 else "byte sequences are"
            notes.append(f"{replaced:,} {some} not {encoding.upper()}, replaced by U+FFFD")
        data = text.encode("utf-8", "replace")
    return Raw(data, raw.name, notes, raw.partial)

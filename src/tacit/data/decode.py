"""Bytes of any origin made into UTF-8 text, with a note of everything that was done.

Decompresses gzip member by member, sniffs byte order marks, replaces what cannot be
decoded. What could not be read, and what was repaired, is said, never swallowed.
"""

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tacit.core.errors import DataError

__all__ = ["Raw", "gunzip", "name_of", "read_raw", "to_utf8"]

GZIP = b"\x1f\x8b"
NPY = b"\x93NUMPY"
PARQUET = b"PAR1"
FOREIGN = {  # what people hand over by mistake, and the way out
    b"PK\x03\x04": "a zip archive or a spreadsheet. Export the sheet as CSV",
    b"\x28\xb5\x2f\xfd": "compressed with zstd. Decompress it first with: zstd -d",
    b"BZh": "compressed with bzip2. Decompress it first with: bunzip2",
    b"\xfd7zXZ": "compressed with xz. Decompress it first with: unxz",
    b"%PDF": "a PDF. Export the numbers as CSV",
    b"\x89HDF": "an HDF5 file. Write the array with numpy.save",
    b"\xd0\xcf\x11\xe0": "an old Office document. Export the sheet as CSV",
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


@dataclass
class Raw:
    """Bytes as read, uncompressed; ``partial`` says why some are missing."""

    data: bytes
    name: str
    notes: list[str] = field(default_factory=list)
    partial: str | None = None


def name_of(source: Any) -> str:
    """What messages call a path or a stream."""
    if isinstance(source, str | Path):
        return str(source)
    name = getattr(source, "name", None)
    if name in ("<stdin>", 0):
        return "standard input"
    return str(name) if isinstance(name, str) else "the stream"


def read_raw(stream: IO, name: str, head: bytes = b"") -> Raw:
    """All of a stream after ``head``, decompressed if it is gzip."""
    rest = stream.read()
    data = rest.encode("utf-8", "replace") if isinstance(rest, str) else rest
    raw = Raw(head + data if head else data, name)
    if raw.data.startswith(GZIP):
        raw = gunzip(raw)
    for magic, what in FOREIGN.items():
        if raw.data.startswith(magic):
            raise DataError(f"this is {what}.", file=name)
    return raw


def gunzip(raw: Raw) -> Raw:
    """Decompress, keeping every byte that a truncated file still holds."""
    data, out, size = raw.data, [], 0
    notes, partial = list(raw.notes), None
    while data:
        member = zlib.decompressobj(wbits=31)
        try:
            for start in range(0, len(data), 2**20):
                # max_length 0 is no limit; a megabyte in is a gigabyte out at the very most
                out.append(member.decompress(data[start : start + 2**20]))
                size += len(out[-1])
                if size > BOMB_SIZE and size > BOMB_RATIO * len(raw.data):
                    raise DataError(
                        f"{len(raw.data):,} bytes unpack to more than {size:,}, over "
                        f"{BOMB_RATIO} times as many, which looks like a decompression bomb. "
                        "If it is not, unpack it with gunzip first.",
                        file=raw.name,
                    )
                if member.eof:
                    unused = member.unused_data + data[start + 2**20 :]
                    break
        except zlib.error as error:
            raise DataError(
                f"the compressed data is damaged ({error}). Get the file again.", file=raw.name
            ) from error
        if not member.eof:
            partial = "the compressed data ends early: the file is truncated"
            break
        data = unused.lstrip(b"\0")  # tape and disk blocks pad with zeros
        if data and not data.startswith(GZIP):
            notes.append(f"{len(data):,} bytes after the end of the compressed data ignored")
            break
    return Raw(b"".join(out), raw.name, notes, partial)


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

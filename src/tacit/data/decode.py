"""Whole files as UTF-8 text, with a note of everything that was done.

What could not be read, and what was repaired, is said, never swallowed. ``streams`` unpacks;
files too large for memory are read piece by piece there.
"""

from dataclasses import dataclass, field
from io import BytesIO
from typing import IO

from tacit.data.streams import BOMS, Source

__all__ = ["Raw", "read_raw", "to_utf8"]


@dataclass
class Raw:
    """Bytes as read, uncompressed; ``partial`` says why some are missing."""

    data: bytes
    name: str
    notes: list[str] = field(default_factory=list)
    partial: str | None = None


def read_raw(stream: IO, name: str, head: bytes = b"") -> Raw:
    """All of a stream after ``head``, unpacked if it is gzip or zstd."""
    rest = stream.read()
    data = rest.encode("utf-8", "replace") if isinstance(rest, str) else rest
    source = Source(BytesIO(head + data if head else data), name=name)
    data = b"".join(source.unpacked())
    return Raw(data, name, source.notes, source.partial)


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

"""Blocks of lines, one document to each, from text in chunks.

At most a block and the longest document are in memory.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.core.errors import DataError
from tacit.core.stats import Stats
from tacit.data.document_blocks import BLOCK_BYTES
from tacit.data.text_block import Repairs, Text, text_of, undecodable

__all__ = [
    "NOTHING", "Limits", "Lines", "Lost", "cut_at_space", "cut_long", "line_blocks",
    "make_valid", "text_of_lines", "too_long",
]  # fmt: skip

NEWLINE, RETURN, SPACE = 10, 13, 32


class Limits(NamedTuple):
    """What to do with documents that are too long, and with bytes that are not text."""

    longest: int = 2**26  # bytes
    oversize: str = "split"  # or "skip", "error"
    errors: str = "replace"  # or "skip", "strict"


@dataclass(frozen=True)
class Lost(Stats):
    """Documents that were cut or left out."""

    cut: int = 0  # pieces of documents that were too long, beyond the first
    too_long: int = 0  # documents left out for their length
    unreadable: int = 0  # documents left out for bytes that are not text


NOTHING = Lost()


class Lines(NamedTuple):
    """Whole lines; or a piece of one that is too long, without its end."""

    start: int  # where they begin in the text
    data: bytes
    row: int = 0  # lines before them
    lost: Lost = NOTHING

    def load(self) -> "Lines":
        return self


def line_blocks(
    chunks: Iterable[bytes], limits: Limits, name: str, size: int = BLOCK_BYTES
) -> Iterator[Lines]:
    """Blocks of whole lines of about ``size`` bytes, cut by the text alone.

    >>> for lines in line_blocks([b"a b\\nc", b" d\\n", b"e f"], Limits(), "x", size=5):
    ...     print(lines.start, lines.data)
    0 b'a b\\n'
    4 b'c d\\n'
    8 b'e f'
    """
    pending, start, skipping, row, lost = b"", 0, False, 0, NOTHING
    for chunk in rechunk(chunks, size):
        if skipping:  # what remains of a line that is left out
            end = chunk.find(b"\n") + 1
            skipping = not end
            start += end or len(chunk)
            chunk = chunk[end:] if end else b""
        cut = chunk.rfind(b"\n") + 1
        if cut:
            block = b"".join((pending, memoryview(chunk)[:cut]))
            pending = chunk[cut:]
        else:
            pending += chunk
            if len(pending) <= limits.longest:
                continue
            if limits.oversize == "error":
                raise too_long(len(pending), limits, name, row)
            if limits.oversize == "skip":
                lost, skipping = lost + Lost(too_long=1), True
                pending, start = b"", start + len(pending)
                continue
            lost += Lost(cut=1)
            cut = cut_at_space(pending, limits.longest)
            block, pending = pending[:cut], pending[cut:]
        yield Lines(start, block, row, lost)
        start, row, lost = start + len(block), row + block.count(b"\n"), NOTHING
    if pending or lost != NOTHING:
        yield Lines(start, pending, row, lost)


def rechunk(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The same bytes in chunks of one size."""
    pending: list[bytes] = []
    count = 0
    for chunk in chunks:
        while count + len(chunk) >= size:
            head = size - count
            yield b"".join([*pending, chunk[:head]])
            chunk, pending, count = chunk[head:], [], 0
        if chunk:
            pending.append(chunk)
            count += len(chunk)
    if pending:
        yield b"".join(pending)


def text_of_lines(
    data: bytes, limits: Limits, name: str = "", row: int = 0
) -> tuple[Text, Lost]:
    """A document per line, as valid text; ``row`` is the number of the first, for messages."""
    raw = np.frombuffer(data, np.uint8)
    stops = np.flatnonzero(raw == NEWLINE)
    starts = np.concatenate([[0], stops + 1])
    if len(raw) == 0 or raw[-1] == NEWLINE:
        starts = starts[: len(stops)]
    else:
        stops = np.append(stops, len(raw))
    returns = np.flatnonzero((stops > starts) & (raw[np.maximum(stops - 1, 0)] == RETURN))
    stops[returns] -= 1
    return make_valid(data, starts, stops, limits, name, row)


def make_valid(
    data: bytes, starts: np.ndarray, stops: np.ndarray, limits: Limits, name: str, row: int = 0
) -> tuple[Text, Lost]:
    """Raw bytes between ``starts`` and ``stops`` as valid text within the limits."""
    lost, nuls, bad = NOTHING, 0, 0
    if b"\0" in data:
        nuls = data.count(0)
        data = data.replace(b"\0", b" ")
    plain = data.isascii()
    text = Text(np.frombuffer(data, np.uint8), starts, stops)
    if not plain:
        try:
            str(data, "utf-8")
        except UnicodeDecodeError:
            text, bad, lost = replace_bad(text, limits, name, row)
    if (text.stops - text.starts > limits.longest).any():
        text, more = cut_long(text, limits, name, row)
        lost = lost + more
    empty = int(np.count_nonzero(text.starts == text.stops))
    repairs = Repairs(empty=empty, nuls=nuls, undecodable=bad)
    known = np.ones(len(text), np.bool_) if plain else None
    return Text(text.data, text.starts, text.stops, repairs, known), lost


def replace_bad(text: Text, limits: Limits, name: str, row: int) -> tuple[Text, int, Lost]:
    """Documents with bytes that are not UTF-8, decoded with U+FFFD or left out."""
    documents, bad, lost = [], 0, 0
    for i, (start, stop) in enumerate(zip(text.starts, text.stops, strict=True)):
        raw = text.data[start:stop].tobytes()
        try:
            documents.append(raw.decode("utf-8"))
            continue
        except UnicodeDecodeError as error:
            if limits.errors == "strict":
                raise DataError(
                    f"byte {error.start + 1} of the document is not UTF-8 ({error.reason}). "
                    "errors='replace' reads it as U+FFFD, errors='skip' leaves the document "
                    "out; encoding= names another encoding.",
                    file=name,
                    row=row + i + 1,
                ) from None
        if limits.errors == "skip":
            lost += 1
        else:
            bad += undecodable(raw)
            documents.append(raw.decode("utf-8", "replace"))
    return text_of(documents), bad, Lost(unreadable=lost)


def cut_long(text: Text, limits: Limits, name: str, row: int = 0) -> tuple[Text, Lost]:
    """Documents over the limit, in pieces or left out."""
    starts, stops, cut, left_out = [], [], 0, 0
    edges = zip(text.starts.tolist(), text.stops.tolist(), strict=True)
    for i, (start, stop) in enumerate(edges):
        if stop - start > limits.longest:
            if limits.oversize == "error":
                raise too_long(stop - start, limits, name, row + i)
            if limits.oversize == "skip":
                left_out += 1
                continue
        while stop - start > limits.longest:
            end = start + cut_at_space(text.data[start:stop].tobytes(), limits.longest)
            starts.append(start)
            stops.append(end)
            start, cut = end, cut + 1
        starts.append(start)
        stops.append(stop)
    edges_of = (np.array(starts, np.int64), np.array(stops, np.int64))
    return Text(text.data, *edges_of, text.repairs), Lost(cut=cut, too_long=left_out)


def cut_at_space(data: bytes, longest: int) -> int:
    """Where to cut so that no word is split, nor a character where there is no space.

    >>> cut_at_space(b"one two three", 9), cut_at_space("ééé".encode(), 3)
    (8, 2)
    """
    for space in (b" ", b"\n", b"\t"):
        end = data.rfind(space, longest // 2, longest) + 1
        if end:
            return end
    end = longest
    while end > 1 and data[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return end


def too_long(size: int, limits: Limits, name: str, row: int) -> DataError:
    """The error for a document over the limit."""
    return DataError(
        f"a document of {size:,} bytes or more is over the limit of {limits.longest:,}. "
        "Raise max_document, or let oversize='split' or 'skip' deal with it.",
        file=name,
        row=row + 1,
    )

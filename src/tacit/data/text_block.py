"""A loaded block of documents: UTF-8 bytes, and where each document begins and ends.

Kernels read the bytes directly; slower code asks for ``strings()``. Documents in memory (str,
bytes, None, NaN) become text here, and repairs are counted.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import DataError
from tacit.core.stats import Stats
from tacit.core.string_array import decode_slices
from tacit.core.wording import count

__all__ = ["Repairs", "Text", "as_string", "is_missing", "scrub", "text_of", "undecodable"]

LARGEST = 2**29  # bytes of a block: places in it are counted in 32 bits


@dataclass(frozen=True)
class Repairs(Stats):
    """The number of repairs of documents, by kind."""

    empty: int = 0  # documents without a character, missing ones included
    missing: int = 0  # None, NaN or null, read as empty
    nuls: int = 0  # NUL characters, replaced by spaces
    surrogates: int = 0  # lone surrogates, replaced by U+FFFD
    undecodable: int = 0  # byte sequences that are not text, replaced or left out

    def sentences(self) -> list[str]:
        """The repairs in sentences; none for those that did not occur."""
        kinds = (
            (self.empty, "empty document", ""),
            (self.missing, "document", " None, NaN or null, read as empty"),
            (self.nuls, "NUL character", " replaced by spaces"),
            (self.surrogates, "lone surrogate", " replaced by U+FFFD"),
            (self.undecodable, "undecodable byte sequence", " replaced by U+FFFD"),
        )
        return [f"{count(n, noun)}{what}" for n, noun, what in kinds if n]


@dataclass(frozen=True, eq=False)
class Text:
    """The documents of a block as UTF-8.

    >>> text = text_of(["One fish,", None, "two fish"])
    >>> text.strings()
    ['One fish,', '', 'two fish']
    >>> len(text), text.repairs.missing
    (3, 1)
    """

    data: np.ndarray  # uint8, read-only
    starts: np.ndarray  # int64, one per document
    stops: np.ndarray  # int64
    repairs: Repairs = Repairs()
    ascii: np.ndarray | None = None  # bool, one per document, where it is known

    def __post_init__(self) -> None:
        # Bytes from Python are read-only; others become so, so that kernels compile once.
        if self.data.flags.writeable:
            data = self.data.view()
            data.flags.writeable = False
            object.__setattr__(self, "data", data)

    def __len__(self) -> int:
        return len(self.starts)

    def strings(self) -> list[str]:
        """The documents as Python strings."""
        return decode_slices(self.data, self.starts, self.stops)

    def string(self, row: int) -> str:
        """One document."""
        return self.data[self.starts[row] : self.stops[row]].tobytes().decode("utf-8")

    def with_strings(self, rows: Sequence[int], strings: Sequence[str]) -> "Text":
        """The same documents, with new strings at ``rows``."""
        added = text_of(strings)
        starts, stops = self.starts.copy(), self.stops.copy()
        starts[rows] = added.starts + len(self.data)
        stops[rows] = added.stops + len(self.data)
        return Text(np.concatenate([self.data, added.data]), starts, stops, self.repairs)


def text_of(
    documents: Sequence[Any], *, encoding: str = "utf-8", errors: str = "strict", first: int = 0
) -> Text:
    """Documents in memory as a block of text.

    ``encoding`` and ``errors`` say how bytes are decoded; ``first`` is the number of the
    first document, for messages.
    """
    n = len(documents)
    counts = Counter[str]()  # repairs by kind
    try:
        plain = np.fromiter(map(str.isascii, documents), np.bool_, n)
    except TypeError:  # not all are str
        documents = [
            as_string(d, i, counts, encoding, errors) for i, d in enumerate(documents, first)
        ]
        plain = np.fromiter(map(str.isascii, documents), np.bool_, n)
    data, sizes = joined(documents, bool(plain.all()), counts)
    if len(data) > LARGEST:
        raise too_large(documents, first)
    if b"\0" in data:
        counts["nuls"] = data.count(0)
        data = data.replace(b"\0", b" ")
    stops = np.cumsum(sizes)
    counts["empty"] = n - int(np.count_nonzero(sizes))
    return Text(np.frombuffer(data, np.uint8), stops - sizes, stops, Repairs(**counts), plain)


def joined(
    documents: Sequence[str], plain: bool, counts: Counter[str]
) -> tuple[bytes, np.ndarray]:
    """UTF-8 and the size of each document; lone surrogates are replaced and counted."""
    if plain:
        sizes = np.fromiter(map(len, documents), np.int64, len(documents))
        return "".join(documents).encode("ascii"), sizes
    try:
        # One by one: a single character outside Latin would make all of them slow.
        parts = [document.encode("utf-8") for document in documents]
    except UnicodeEncodeError:
        clean = [scrub_surrogates(document) for document in documents]
        counts["surrogates"] = sum(count for _, count in clean)
        parts = [document.encode("utf-8") for document, _ in clean]
    return b"".join(parts), np.fromiter(map(len, parts), np.int64, len(parts))


def too_large(documents: Sequence[Any], first: int) -> DataError:
    i = max(range(len(documents)), key=lambda i: len(documents[i]))
    return DataError(
        f"Document {first + i} has {len(documents[i]):,} characters, more than the {LARGEST:,} "
        "bytes that one document may have in memory. Split it, or read it from a file."
    )


def as_string(
    document: Any,
    row: int | None = None,
    counts: Counter[str] | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> str:
    """One document as a string; ``counts`` counts repairs."""
    if isinstance(document, str):
        return document
    if isinstance(document, bytes | bytearray | memoryview):
        return decode(bytes(document), row, counts, encoding, errors)
    if is_missing(document):
        if counts is not None:
            counts["missing"] += 1
        return ""
    where = "A document" if row is None else f"Document {row}"
    raise TypeError(
        f"{where} is of type {type(document).__name__}: {str(document)[:60]!r}. Documents are "
        "str, bytes, None or NaN; turn other values into str, or give analyzer=... a function "
        "that reads them."
    )


def decode(raw: bytes, row: int | None, counts: Any, encoding: str, errors: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        if errors == "strict":
            if row is not None:
                error.add_note(
                    f"This was document {row}. decode_error='replace' reads it with U+FFFD."
                )
            raise
        if counts is not None:
            counts["undecodable"] += undecodable(raw, encoding)
        return raw.decode(encoding, errors)


def undecodable(raw: bytes, encoding: str = "utf-8") -> int:
    """The number of byte sequences that cannot be decoded."""
    replaced = raw.decode(encoding, "replace").count("\ufffd")
    return replaced - raw.decode(encoding, "ignore").count("\ufffd")


def is_missing(value: Any) -> bool:
    """None, NaN, and the missing values of dataframes.

    >>> [is_missing(v) for v in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def scrub_surrogates(text: str) -> tuple[str, int]:
    """Surrogate pairs become their character, lone surrogates U+FFFD."""
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return paired, paired.count("\ufffd") - text.count("\ufffd")


def scrub(text: str) -> str:
    """Text without NUL and lone surrogates, which any file or database accepts.

    >>> scrub("a\\0b\\ud800c")
    'a b\ufffdc'
    """
    text = text.replace("\0", " ")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text, _ = scrub_surrogates(text)
    return text

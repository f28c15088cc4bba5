"""Files of word2vec: a line with two numbers, then a word and its vector, again and again.

    text      "word 0.1 -0.2 ...\\n"; files of GloVe and some of fastText lack the first line
    binary    the word, a space, float32 numbers (little-endian), and perhaps a line end

Files come from strangers: sizes are checked against the length of the file before anything is
allocated, and every error names the place. A word that occurs twice keeps its first vector.
"""

import os
import warnings
from typing import Any

import numpy as np

from tacit.core.atomic import atomic_write
from tacit.core.errors import DataError, PartialInput, reading
from tacit.data.streams import read_raw

__all__ = ["is_model_file", "read_word2vec", "write_word2vec"]

LONGEST_WORD = 10_000  # bytes
HEADER = 100  # bytes of the longest first line with two numbers
MOST_NUMBERS = 100_000  # per vector


def is_model_file(path: str | os.PathLike) -> bool:
    """Whether a file looks like a model that Tacit saved: a length, then JSON."""
    with reading(path) as file:
        head = file.read(9)
    return len(head) == 9 and head[8:] == b"{" and head[7:8] == b"\0"


def read_word2vec(path: str | os.PathLike) -> tuple[list[str], np.ndarray]:
    """The words and vectors of a text or binary file, perhaps compressed.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "two.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("2 3\\ncat 1 0 0.5\\ndog 0 1 0.5\\n")
    >>> read_word2vec(path)[0]
    ['cat', 'dog']
    """
    name = os.fspath(path)
    with reading(path) as stream:
        raw = read_raw(stream, name)
    if raw.partial:
        raise PartialInput(f"{raw.partial}. Get the file again.", file=name)
    data = memoryview(raw.data)
    if not len(data):
        raise DataError("the file is empty, but word vectors were expected.", file=name)
    count, size, start = read_header(data, name)
    if count is None or is_text(data, start, size):
        words, matrix = read_text(data, start, count, size, name)
    else:
        words, matrix = read_binary(data, start, count, size, name)
    return drop_repeats(words, matrix, name)


def read_header(data: memoryview, name: str) -> tuple[int | None, int, int]:
    """Words, numbers per word, and where they begin; the first may be missing."""
    head = bytes(data[: 1 << 20])
    end = head.find(b"\n")
    line = head if end < 0 else head[:end]
    fields = line.split()
    if len(line) <= HEADER and len(fields) == 2 and all(field.isdigit() for field in fields):
        count, size = int(fields[0]), int(fields[1])
        if not 1 <= size <= MOST_NUMBERS or count < 1:
            raise DataError(
                f"the first line announces {count:,} words with {size:,} numbers each. "
                "Give a file with at least one of both.",
                file=name,
                row=1,
            )
        if count * (size + 1) > len(data):  # a number takes a byte at the very least
            raise DataError(
                f"the first line announces {count:,} words with {size:,} numbers each, but the "
                f"file has only {len(data):,} bytes. It is cut off, or no word2vec file.",
                file=name,
                row=1,
            )
        return count, size, end + 1
    size = len(fields) - 1
    if end < 0 or not 1 <= size <= MOST_NUMBERS or not are_numbers(fields[1:]):
        raise DataError(
            "this is neither a file of word2vec, which begins with two numbers, nor lines of a "
            "word and its vector. Give a word2vec, GloVe or Tacit file.",
            file=name,
            row=1,
        )
    return None, size, 0


def are_numbers(fields: list[bytes]) -> bool:
    try:
        for field in fields:
            float(field)
    except ValueError:
        return False
    return True


def is_text(data: memoryview, start: int, size: int) -> bool:
    """Whether the first entry is a line of text with as many numbers as announced."""
    head = bytes(data[start : start + LONGEST_WORD + 40 * size])
    fields = head.partition(b"\n")[0].rstrip().rsplit(b" ", size)
    return len(fields) == size + 1 and are_numbers(fields[1:])


def read_text(
    data: memoryview, start: int, count: int | None, size: int, name: str
) -> tuple[list[str], np.ndarray]:
    lines = bytes(data[start:]).split(b"\n")
    if lines and not lines[-1].strip():
        lines.pop()
    first_row = 1 if count is None else 2
    if count is not None and len(lines) != count:
        raise DataError(
            f"the first line announces {count:,} words, but {len(lines):,} lines follow. "
            "The file is cut off or damaged.",
            file=name,
        )
    if 2 * size * len(lines) > len(data):  # a number takes two bytes at least
        i = next(i for i, line in enumerate(lines) if len(line) < 2 * size)
        raise too_few(lines[i].rstrip().rsplit(b" ", size), size, name, first_row + i)
    words, matrix = [], np.empty((len(lines), size), np.float32)
    for i, line in enumerate(lines):
        fields = line.rstrip().rsplit(b" ", size)
        if len(fields) != size + 1:
            raise too_few(fields, size, name, first_row + i)
        try:
            with np.errstate(over="ignore"):  # inf is refused below
                matrix[i] = fields[1:]
        except ValueError:
            raise DataError(
                "a field is not a number. Repair the line, or remove it.",
                file=name,
                row=first_row + i,
            ) from None
        words.append(fields[0].decode("utf-8", "replace"))
    check_finite(matrix, name, first_row)
    return words, matrix


def too_few(fields: list[bytes], size: int, name: str, row: int) -> DataError:
    message = f"a word and {size} numbers were expected, but there are {len(fields)} fields."
    return DataError(message, file=name, row=row)


def read_binary(
    data: memoryview, start: int, count: int, size: int, name: str
) -> tuple[list[str], np.ndarray]:
    width = 4 * size
    if count * (width + 1) > len(data) - start:
        raise DataError(
            f"{count:,} vectors of {size} numbers take {count * width:,} bytes, but the file "
            f"has only {len(data):,}. It is cut off, or no word2vec file.",
            file=name,
        )
    raw = bytes(data)
    words, matrix = [], np.empty((count, size), np.float32)
    at = start
    for i in range(count):
        while at < len(raw) and raw[at] in b"\n\r":
            at += 1
        end = raw.find(b" ", at, at + LONGEST_WORD)
        if end < 0 or end + 1 + width > len(raw):
            raise DataError(
                f"the file ends or breaks off in word {i + 1:,} of {count:,}. It is cut off or "
                "damaged.",
                file=name,
            )
        words.append(raw[at:end].decode("utf-8", "replace"))
        matrix[i] = np.frombuffer(raw, "<f4", size, end + 1)
        at = end + 1 + width
    check_finite(matrix, name, 1)
    return words, matrix


def check_finite(matrix: np.ndarray, name: str, first_row: int) -> None:
    good = np.isfinite(matrix).all(axis=1)
    if not good.all():
        raise DataError(
            "the vector holds nan, inf or a number too large for float32. Remove the word.",
            file=name,
            row=first_row + int(np.argmin(good)),
        )


def drop_repeats(
    words: list[str], matrix: np.ndarray, name: str
) -> tuple[list[str], np.ndarray]:
    places: dict[str, int] = {}
    for i, word in enumerate(words):
        places.setdefault(word, i)
    if len(places) == len(words):
        return words, matrix
    warnings.warn(
        f"{name}: {len(words) - len(places):,} words occur more than once; the first vector of "
        "each is kept.",
        stacklevel=3,
    )
    return list(places), matrix[list(places.values())]


def write_word2vec(
    path: str | os.PathLike, words: list[str], matrix: Any, *, binary: bool | None = None
) -> None:
    """Write words and vectors; by default binary if the name ends in .bin.

    Text has nine digits, which give back the same float32 numbers.
    """
    if binary is None:
        binary = os.fspath(path).endswith(".bin")
    strange = next((word for word in words if not word or word.split() != [word]), None)
    if strange is not None:
        raise ValueError(
            f"A word2vec file cannot hold the word {strange[:60]!r}: white space separates its "
            "fields. Save a model file instead."
        )
    size = matrix.shape[1]
    form = "%s" + " %.9g" * size + "\n"
    with atomic_write(path) as file:
        file.write(f"{len(words)} {size}\n".encode())
        for word, row in zip(words, matrix, strict=True):
            if binary:
                file.write(word.encode("utf-8", "replace") + b" ")
                file.write(np.ascontiguousarray(row, "<f4").tobytes() + b"\n")
            else:
                file.write((form % (word, *row.tolist())).encode("utf-8", "replace"))

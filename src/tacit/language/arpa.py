r"""ARPA files: the text format that language models are exchanged in.

    \data\
    ngram 1=4
    ngram 2=3

    \1-grams:
    -0.301  </s>
    -99     <s>     -0.176
    ...
    \end\

A line holds log10 of the probability, the words, and log10 of the back-off weight if there
is one. The logarithm of zero is written -99. Numbers have the fewest digits from which the
float32 is read back exactly, so that a model read back is the same model.

One file: reader and writer describe the same format and are tested against each other.
"""

import gzip
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.core.atomic import atomic_write
from tacit.core.disk_array import release
from tacit.core.engines import Engine, check_stop, get_engine
from tacit.core.errors import DataError
from tacit.core.kernel import kernel
from tacit.core.string_array import StringArray
from tacit.data.streams import Source
from tacit.kernels.hashing import Interner, padded
from tacit.language.backoff_model import BackoffModel
from tacit.language.backoff_tables import Tables
from tacit.language.ngram_counts import find_ngrams, first_children
from tacit.language.sentences import FIRST, SPECIAL, START, STOP, UNKNOWN
from tacit.text.vocabulary import Vocabulary, unite

if TYPE_CHECKING:
    from tacit.language.ngram_model import NGramModel

__all__ = ["read_arpa", "write_arpa"]

U = np.uint64
LINES = 1 << 15  # formatted in a chunk
BUFFER = 1 << 21  # bytes of lines formatted in a kernel call
NUMBER = 24  # bytes of a printed number, at most
RECENT = 1 << 10  # numbers whose text is cached
NAN = 2**32 - 1  # bits of a number that no model has
PIECE = 1 << 24  # bytes parsed at a time
ZERO = -99.0  # and below: the logarithm of zero
NO_UNKNOWN = -100.0  # log10 of <unk> in files without it, as in KenLM
SPELLINGS = {"<UNK>": "<unk>"}


def write_arpa(model: BackoffModel, path: str | os.PathLike | IO[bytes]) -> None:
    """Write a model as an ARPA file, packed if the name ends with .gz; or to an open file.

    Models with add-k smoothing have no such form (their lower orders are no part of the
    higher), and models of characters hold words that are white space: save those instead.

    Examples
    --------
    >>> import tempfile; from pathlib import Path; from tacit.language import NGramModel
    >>> model = NGramModel(order=2).fit(["Yee Haw", "Haw Yee Yee", "Yee Haw Yee"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "cowperson.arpa")
    ...     write_arpa(model, path)
    ...     read_arpa(path).score("Yee Haw") == model.score("Yee Haw")
    True
    """
    tables, vocabulary = model._tables, model._vocabulary
    if tables.absolute:
        raise ValueError(
            "A model with add-k smoothing cannot be written as an ARPA file, which holds "
            "back-off weights. Use model.save, or another smoothing."
        )
    text = vocabulary.data.tobytes().decode()
    if re.search(r"\s", text) or not np.diff(vocabulary.offsets).all():
        blank = next(word for word in vocabulary.strings if len(word.split()) != 1)
        raise ValueError(
            f"An ARPA file cannot hold {blank!r} as a word: it separates words by white "
            "space. Use model.save."
        )
    strings = with_special_tokens(vocabulary)
    engine = get_engine(model.engine)
    v = len(vocabulary) + FIRST
    shown = [(0, START)] * model.open_vocabulary + [(START, FIRST)] * model.markers
    with open_packed(path) as file:
        sizes = [*tables.sizes.tolist()]
        sizes[0] = sum(stop - start for start, stop in shown) + v - FIRST
        head = "".join(f"ngram {k}={n}\n" for k, n in enumerate(sizes, 1))
        file.write(f"\\data\\\n{head}".encode())
        for k in range(1, tables.order + 1):
            file.write(f"\n\\{k}-grams:\n".encode())
            first, last = (FIRST, v) if k == 1 else (tables.first(k), tables.first(k + 1))
            chunks = [(i, min(last, i + LINES)) for i in range(first, last, LINES)]
            if k == 1:
                chunks = [*shown, *chunks]
            for buffer in format_ngrams(tables, strings, k, chunks, engine):
                file.write(buffer.data)
        file.write(b"\n\\end\\\n")


def read_arpa(path: str | os.PathLike) -> "NGramModel":
    """Read a language model from an ARPA file, plain or packed with gzip or zstd.

    Without <unk> in the file the vocabulary is closed, and other words have a log10
    probability of -100, as in KenLM.
    """
    from tacit.language.ngram_model import NGramModel

    lines = LineReader(os.fspath(path))
    tables, vocabulary, has_unknown, has_markers = read_tables(lines)
    model = NGramModel(tables.order, open_vocabulary=has_unknown, markers=has_markers)
    model._set_tables(tables, vocabulary)
    model.discounts_, model.discount_fallbacks_, model.mixing_ = [], [], []
    model.input_report_ = {"lines": lines.number}
    return model


@contextmanager
def open_packed(path: str | os.PathLike | IO[bytes]) -> Iterator[IO[bytes]]:
    if not isinstance(path, str | os.PathLike):
        yield path
        return
    with atomic_write(path) as file:
        if os.fspath(path).endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield file


def with_special_tokens(vocabulary: Vocabulary) -> StringArray:
    """The bytes of all words by id, padded for ``copy_bytes``."""
    special = StringArray.of(SPECIAL)
    return StringArray(
        np.concatenate([special.data, vocabulary.data, np.zeros(8, np.uint8)]),
        np.concatenate([special.offsets, vocabulary.offsets[1:] + special.offsets[-1]]),
    )


class Level(NamedTuple):
    """The n-grams of one length, ready to be printed."""

    words: np.ndarray  # of all lengths
    children: np.ndarray
    probs: np.ndarray  # of this length
    prob_bits: np.ndarray  # the same as uint32
    backoffs: np.ndarray  # of this length, or empty
    backoff_bits: np.ndarray
    first: int  # number of the first n-gram of this length
    data: np.ndarray  # bytes of all words
    offsets: np.ndarray
    longest: int  # bytes of a word


def format_ngrams(
    tables: Tables,
    strings: StringArray,
    k: int,
    chunks: list[tuple[int, int]],
    engine: Engine,
) -> Iterator[np.ndarray]:
    """The lines of chunks of n-grams of k words, in order, as arrays of bytes."""
    probs = tables.log10_probs(k)
    backoffs = tables.log10_backoffs(k) if k < tables.order else np.empty(0, np.float32)
    level = Level(
        tables.words,
        tables.children,
        probs,
        probs.view(np.uint32),
        backoffs,
        backoffs.view(np.uint32),
        tables.first(k),
        *strings,
        int(np.diff(strings.offsets).max()),
    )

    def format_chunk(chunk: tuple[int, int]) -> list[np.ndarray]:
        at, stop = chunk
        path = np.empty(k, np.int64)  # the n-gram and its histories, the shortest first
        path[k - 1] = at
        for j in range(k - 1, 0, -1):
            low, high = tables.first(j), tables.first(j + 1)
            number = np.int32(path[j])  # of the type of the array, or it would be copied
            after = np.searchsorted(tables.children[low : high + 1], number, side="right")
            path[j - 1] = low - 1 + after
        begin, buffers = path.copy(), []
        room = (k + 1) * (level.longest + 1) + 16
        while at < stop:
            check_stop()
            out = np.empty(max(2 * NUMBER + room, BUFFER), np.uint8)
            prefix = np.empty(room, np.uint8)
            at, size = format_lines(level, at, stop, path, prefix, out)
            buffers.append(out[:size])
        for first, last in zip(begin, path, strict=True):  # of every length
            release(tables.words[first : last + 1], tables.children[first : last + 2])
        if chunk[0] // LINES % 16 == 0:  # what the searches touched
            release(tables.words, tables.children)
        here = slice(chunk[0] - level.first, stop - level.first)
        release(probs[here], backoffs[here])
        return buffers

    for buffers in engine.each(format_chunk, chunks, work=20 * len(level.probs)):
        yield from buffers


# --- Reading: sections into levels, levels into a trie ---


Content = tuple[Tables, Vocabulary, bool, bool]  # has <unk>; has <s> and </s>


class Section(NamedTuple):
    """The n-grams of one length, in the order of the file."""

    words: np.ndarray  # (n, k) int32, numbers of words in order of appearance
    probs: np.ndarray  # (n,) float32
    backoffs: np.ndarray  # (n,) float32


class LineReader:
    """The lines of a file, one at a time or many at once."""

    def __init__(self, path: str) -> None:
        self.path, self.number = path, 0
        self.source = Source(path, None, "replace")
        self.chunks: Iterator[bytes] = self.source.chunks()
        self.buffer = b""

    def next(self) -> str | None:
        """The next line, without its end; None after the last."""
        while b"\n" not in self.buffer and (chunk := next(self.chunks, None)) is not None:
            self.buffer += chunk
        if not self.buffer:
            return None
        line, _, self.buffer = self.buffer.partition(b"\n")
        self.number += 1
        return line.decode("utf-8", "replace").strip()

    def many(self, count: int) -> bytes:
        """Complete lines, about ``PIECE`` bytes of them but never more than ``count``."""
        parts, size = [self.buffer], len(self.buffer)
        while size < PIECE and (chunk := next(self.chunks, None)) is not None:
            parts.append(chunk)
            size += len(chunk)
        self.buffer = b"".join(parts)
        if self.buffer and not self.buffer.endswith(b"\n") and size < PIECE:
            self.buffer += b"\n"
        end, n = end_of_lines(np.frombuffer(self.buffer, np.uint8), count)
        out, self.buffer = self.buffer[:end], self.buffer[end:]
        self.number += n
        return out

    def error(self, message: str) -> DataError:
        return DataError(message, file=self.path, row=self.number)


def read_tables(lines: LineReader) -> Content:
    """The tables of an ARPA file; DataError with file and line for what is not one."""
    words, sections = Words(), []
    try:
        for k, n in enumerate(read_header(lines), 1):
            heading = next_line(lines)
            if heading != f"\\{k}-grams:":
                raise lines.error(f"expected \\{k}-grams: but found {str(heading)[:60]!r}.")
            sections.append(read_section(lines, words, k, n))
        if next_line(lines) != "\\end\\":
            raise lines.error("expected \\end\\ after the last n-gram. Is the file complete?")
        if lines.source.partial:
            raise lines.error(f"{lines.source.partial}.")
        return build(lines, words, sections)
    except UnicodeDecodeError as error:
        raise lines.error(
            f"a word is not UTF-8 ({error.reason}). Convert the file, for example with iconv."
        ) from None


def next_line(lines: LineReader) -> str | None:
    """The next line with something in it."""
    line = lines.next()
    while line == "":
        line = lines.next()
    return line


def read_header(lines: LineReader) -> list[int]:
    line = lines.next()
    while line is not None and line != "\\data\\":
        line = lines.next()  # anything may stand before
    if line is None:
        raise DataError(
            "there is no \\data\\ section, so this is not an ARPA file.", file=lines.path
        )
    sizes: list[int] = []
    while True:
        line = lines.next()
        match = re.fullmatch(r"ngram\s+(\d+)\s*=\s*(\d+)", line or "")
        if not match:
            break
        if int(match[1]) != len(sizes) + 1:
            raise lines.error(f"expected the number of {len(sizes) + 1}-grams.")
        sizes.append(int(match[2]))
    if not sizes or line:
        raise lines.error("expected lines like 'ngram 1=1000', and an empty line after them.")
    if sizes[0] == 0 or sum(sizes) > 2**31 - 2:
        raise lines.error(
            f"the file says that it holds {sizes[0]:,} words and {sum(sizes):,} n-grams. It "
            "needs a word, and a model holds 2**31 - 2 n-grams at most."
        )
    return sizes


class Words:
    """Numbers words by first appearance. Unigrams come first, so later ones are known."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary.of([])
        self.numbers = np.empty(0, np.int32)  # of the sorted vocabulary


def read_section(lines: LineReader, words: Words, k: int, n: int) -> Section:
    # In parts: the number of n-grams in the header cannot be trusted.
    parts = [Section(np.empty((0, k), np.int32), *np.empty((2, 0), np.float32))]
    done = 0
    while done < n:
        check_stop()
        first = lines.number
        piece = lines.many(n - done)
        if not piece:
            raise lines.error(f"the file ends after {done:,} of {n:,} {k}-grams.")
        buffer = padded(len(piece))
        buffer[: len(piece)] = np.frombuffer(piece, np.uint8)
        count = lines.number - first
        begin, end = np.empty(count * k, np.int32), np.empty(count * k, np.int32)
        probs, backoffs = np.empty(count, np.float32), np.empty(count, np.float32)
        good = parse_lines(buffer, len(piece), k, count, begin, end, probs, backoffs)
        if good < count:
            lines.number = first + good + 1
            raise lines.error(
                f"expected a probability, a {k}-gram and perhaps a back-off weight; the file "
                f"says that it holds {n:,} {k}-grams."
            )
        table = Interner(buffer)
        local = table.ids(begin, end)
        spelled, rank = Vocabulary.of_slices(buffer, table.slices())
        if k == 1:
            numbers = add_words(lines, words, spelled, rank[local], done)
        else:
            numbers = find_words(lines, words, spelled)[rank[local]]
        parts.append(Section(numbers.reshape(count, k), probs, backoffs))
        done += count
    return Section(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def add_words(
    lines: LineReader, words: Words, spelled: Vocabulary, local: np.ndarray, done: int
) -> np.ndarray:
    """Unigrams: every one must be new."""
    if len(spelled) != len(local) or (words.vocabulary.find(spelled) >= 0).any():
        raise lines.error("a word stands twice among the 1-grams.")
    new_numbers = np.empty(len(spelled), np.int32)
    new_numbers[local] = np.arange(done, done + len(local))
    words.vocabulary, (known, new) = unite([words.vocabulary, spelled])
    numbers = np.empty(len(words.vocabulary), np.int32)
    numbers[known], numbers[new] = words.numbers, new_numbers
    words.numbers = numbers
    return new_numbers[local]


def find_words(lines: LineReader, words: Words, spelled: Vocabulary) -> np.ndarray:
    at = words.vocabulary.find(spelled)
    if (at < 0).any():
        missing = spelled[int(np.flatnonzero(at < 0)[0])]
        raise lines.error(f"the word {missing[:60]!r} is not among the 1-grams.")
    return words.numbers[at]


# --- Sections into a trie ---


def build(lines: LineReader, words: Words, sections: list[Section]) -> Content:
    strings = words.vocabulary.strings
    special = {SPELLINGS.get(word, word): i for i, word in enumerate(strings)}
    known = [special.get(token, -1) for token in SPECIAL]
    real = np.ones(len(strings), np.bool_)
    real[[i for i in known if i >= 0]] = False
    vocabulary = words.vocabulary.take(real)
    v = len(vocabulary) + FIRST
    new_id = np.empty(len(strings), np.int32)  # by index in the sorted words
    new_id[real] = np.arange(FIRST, v, dtype=np.int32)
    for id, at in enumerate(known):
        if at >= 0:
            new_id[at] = id
    by_number = np.empty(len(strings), np.int32)
    by_number[words.numbers] = new_id
    sizes = np.array([v, *(len(s.probs) for s in sections[1:])], np.int64)
    total, inner = int(sizes.sum()), int(sizes[:-1].sum())
    out_words, probs = np.empty(total, np.int32), np.empty(total, np.float32)
    backoffs, children = np.empty(inner, np.float32), np.empty(inner + 1, np.int32)
    children[-1] = total
    levels: list[tuple[np.ndarray, np.ndarray]] = []  # children, words
    first = 0
    for k, section in enumerate(sections, 1):
        ids = by_number[section.words]
        part = slice(first, first + int(sizes[k - 1]))
        if k == 1:
            order = ids[:, 0]
            out_words[part] = np.arange(v, dtype=np.int32)
            probs[part] = -np.inf
            probs[UNKNOWN] = NO_UNKNOWN
            probs[part][order] = zeros(section.probs)
            probs[START] = -np.inf
            if inner:
                backoffs[part] = 0.0
                backoffs[part][order] = zeros(section.backoffs)
        else:
            histories = ids[:, 0]
            for j in range(1, k - 1):
                histories = find_ngrams(histories, ids[:, j], *levels[j - 1])
            if (histories < 0).any():
                lost = int(np.flatnonzero(histories < 0)[0])
                raise DataError(
                    f"n-gram {lost + 1} of {k} words begins with {k - 1} words that are not a "
                    f"{k - 1}-gram. Such a file cannot be used.",
                    file=lines.path,
                )
            keys = (histories.astype(np.uint64) << np.uint64(32)) | ids[:, -1].astype(np.uint64)
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
            if (keys[1:] == keys[:-1]).any():
                raise DataError(f"a {k}-gram stands there twice.", file=lines.path)
            out_words[part] = ids[order, -1]
            probs[part] = zeros(section.probs[order])
            if k < len(sections):
                backoffs[part] = zeros(section.backoffs[order])
            starts = first_children(histories[order], int(sizes[k - 2]))
            children[first - int(sizes[k - 2]) : first + 1] = first + starts
            levels.append((starts, out_words[part]))
        first = part.stop
    n_words = int(v - 1 - (known[UNKNOWN] < 0) - (known[STOP] < 0))
    tables = Tables(
        out_words, children, probs, backoffs, sizes, float(np.log10(1 / max(1, n_words)))
    )
    marked = known[START] >= 0 and known[STOP] >= 0
    return tables, vocabulary, known[UNKNOWN] >= 0, marked


def zeros(logs: np.ndarray) -> np.ndarray:
    return np.where(logs <= ZERO, np.float32(-np.inf), logs)


# --- Kernels ---

POWERS = 10.0 ** np.arange(23)  # all exact
DECADES = np.array([float(f"1e{e}") for e in range(-45, 41)])
TENS = 10 ** np.arange(19)  # int64
FIVES = 5 ** np.arange(17)
PAIRS = np.frombuffer("".join(f"{i:02d}" for i in range(100)).encode(), np.uint8)


@kernel
def format_lines(level, start, stop, path, prefix, out):
    """Print n-grams from ``start`` until ``stop`` or until the buffer is full. Returns the
    first one that is not printed, and the number of bytes."""
    k, n_prefix, at, children = len(path), 0, 0, level.children
    offsets, has_backoff = level.offsets, len(level.backoffs) > 0
    # Back-off weights have few values: nearly all were printed a moment ago.
    known, sizes = np.full(RECENT, NAN, np.uint32), np.empty(RECENT, np.int64)
    recent = np.empty((RECENT + 1) * NUMBER, np.uint8)
    for i in range(start, stop):
        j = k - 1
        path[j] = i
        fresh = i == start
        while j > 0 and (i == start or children[path[j - 1] + 1] <= path[j]):
            while children[path[j - 1] + 1] <= path[j]:
                path[j - 1] += 1
            fresh = True
            j -= 1
        if fresh:
            n_prefix = 0
            for j in range(k - 1):
                n_prefix = copy_word(level, level.words[path[j]], prefix, n_prefix)
                prefix[n_prefix] = 32
                n_prefix += 1
        w, r = level.words[i], i - level.first
        if at + n_prefix + offsets[w + 1] - offsets[w] + 2 * NUMBER + 12 > len(out):
            return i, at
        at = format_number(level.probs[r], level.prob_bits[r], out, at)
        out[at] = 9
        at += 1
        copy_bytes(prefix, 0, out, at, n_prefix)
        at = copy_word(level, w, out, at + n_prefix)
        if has_backoff:
            bits = level.backoff_bits[r]
            slot = np.int64(((U(bits) * U(0x9E3779B1)) >> U(20)) % U(RECENT))
            if known[slot] != bits:
                known[slot], place = bits, slot * NUMBER
                sizes[slot] = format_number(level.backoffs[r], bits, recent, place) - place
            out[at] = 9
            copy_bytes(recent, slot * NUMBER, out, at + 1, sizes[slot])
            at += 1 + sizes[slot]
        out[at] = 10
        at += 1
    return stop, at


@kernel
def copy_word(level, w, out, at):
    start, stop = level.offsets[w], level.offsets[w + 1]
    copy_bytes(level.data, start, out, at, stop - start)
    return at + stop - start


@kernel
def copy_bytes(source, start, out, at, size):
    """Copy eight bytes at a time, up to seven beyond the end: three times as fast as a loop
    over bytes, which are few. Loads before stores, so that the compiler joins them."""
    i, j, end = U(start), U(at), U(start + size)
    while i < end:
        a, b, c, d = source[i], source[i + U(1)], source[i + U(2)], source[i + U(3)]
        e, f, g, h = source[i + U(4)], source[i + U(5)], source[i + U(6)], source[i + U(7)]
        out[j], out[j + U(1)], out[j + U(2)], out[j + U(3)] = a, b, c, d
        out[j + U(4)], out[j + U(5)], out[j + U(6)], out[j + U(7)] = e, f, g, h
        i += U(8)
        j += U(8)


@kernel
def format_number(number, bits, out, at):
    """Print a float32 and its bits with the fewest digits that read back as the same.

    x = m 2^q lies between two decimals d and d + 1 of n digits, in units of 10^-p. In units
    of 2^-(q+p) all are integers: x is m 5^p and the rounding interval reaches 5^p / 2 to both
    sides (half of that below a power of two). So the search is exact in 64 bits for numbers
    from 1e-8 to 1e6; others get 9 digits, which is always enough.
    """
    word = np.int64(bits)
    m, e = word & 0x7FFFFF, (word >> 23) & 255
    if e == 255:  # -inf, the logarithm of zero
        out[at], out[at + 1], out[at + 2] = 45, 57, 57
        return at + 3
    if m == 0 and e == 0:
        out[at] = 48
        return at + 1
    if word >> 31:
        out[at] = 45
        at += 1
    power_of_two = m == 0
    q = (e if e > 0 else np.int64(1)) - 150
    m += 0 if e == 0 else 1 << 23
    x = np.float64(abs(number))
    e10 = 0
    while x < DECADES[e10 + 45]:
        e10 -= 1
    while x >= DECADES[e10 + 46]:
        e10 += 1
    if -8 <= e10 <= 5:
        p = 5 - e10
        d = shortest_decimal(m, q, p, power_of_two)
        while d < 0:
            p += 1
            d = shortest_decimal(m, q, p, power_of_two)
        n = p + e10 + 1
    else:
        n, d = 9, np.int64(np.rint(x / DECADES[e10 + 45] * 1e8))
    if d >= TENS[n]:  # rounded up to a power of ten
        d, e10 = d // 10, e10 + 1
    while d % 10 == 0:
        d //= 10
        n -= 1
    scientific = e10 < -6 or e10 > 20
    point = 1 if scientific else e10 + 1  # digits before the decimal point
    if point < 1:
        out[at], out[at + 1] = 48, 46
        at += 2
        for _ in range(point, 0):
            out[at] = 48
            at += 1
        put_nine_digits(d * TENS[9 - n], out, at)
        at += n
    else:
        put_nine_digits(d * TENS[9 - n], out, at + 1)
        for t in range(point):
            out[at + t] = out[at + t + 1] if t < 9 else 48
        out[at + point] = 46
        at += n + 1 if n > point else point
    if scientific:
        out[at], out[at + 1] = 101, 45 if e10 < 0 else 43
        at += 2
        size = abs(e10)
        if size >= 10:
            out[at] = 48 + size // 10
            at += 1
        out[at] = 48 + size % 10
        at += 1
    return at


@kernel
def put_nine_digits(number, out, at):
    first, others = number // 10**8, number % 10**8
    high, low = others // 10_000, others % 10_000
    a, b, c, d = 2 * (high // 100), 2 * (high % 100), 2 * (low // 100), 2 * (low % 100)
    out[at], out[at + 1], out[at + 2] = 48 + first, PAIRS[a], PAIRS[a + 1]
    out[at + 3], out[at + 4], out[at + 5] = PAIRS[b], PAIRS[b + 1], PAIRS[c]
    out[at + 6], out[at + 7], out[at + 8] = PAIRS[c + 1], PAIRS[d], PAIRS[d + 1]


@kernel
def shortest_decimal(m, q, p, power_of_two):
    """The integer nearest to m 2^q 10^p that reads back as m 2^q; -1 if there is none."""
    x, shift = m * FIVES[p], -(q + p)
    if shift <= 0:
        return x << -shift
    d = x >> shift
    down = x - (d << shift)
    up = (np.int64(1) << shift) - down
    down_fits = (4 if power_of_two else 2) * down < FIVES[p]
    up_fits = 2 * up < FIVES[p]
    if down_fits and (not up_fits or down < up or (down == up and d % 2 == 0)):
        return d
    return d + 1 if up_fits else -1


@kernel
def end_of_lines(data, count):
    """Where ``count`` lines end, or as many as there are; and how many."""
    n = end = 0
    for i in range(len(data)):
        if data[i] == 10:
            n += 1
            end = i + 1
            if n == count:
                break
    return end, n


@kernel
def parse_number(data, i, stop):
    """A number as a float64, and whether it is one. The first 18 digits count."""
    sign = 1.0
    if data[i] == 45 or data[i] == 43:
        sign = -1.0 if data[i] == 45 else 1.0
        i += 1
    if stop - i >= 3 and data[i] | 32 == 105:  # inf
        return sign * np.inf, data[i + 1] | 32 == 110 and data[i + 2] | 32 == 102
    mantissa, places, digits, seen, point = np.int64(0), 0, 0, 0, False
    while i < stop:
        c = data[i]
        if 48 <= c <= 57:
            seen += 1
            if digits < 18:
                mantissa = mantissa * 10 + (c - 48)
                digits += mantissa > 0
                places += point
            else:
                places -= not point
        elif c == 46 and not point:
            point = True
        else:
            break
        i += 1
    power = -places
    if i < stop and data[i] | 32 == 101:
        i += 1
        down = False
        if i < stop and (data[i] == 45 or data[i] == 43):
            down = data[i] == 45
            i += 1
        e, any_digit = 0, False
        while i < stop and 48 <= data[i] <= 57:
            e = min(e * 10 + (data[i] - 48), 1000)
            any_digit = True
            i += 1
        if not any_digit:
            return 0.0, False
        power += -e if down else e
    number = np.float64(mantissa)
    while power > 0 and number != 0 and number < 1e300:
        step = min(power, 22)
        number *= POWERS[step]
        power -= step
    while power < 0 and number != 0:
        step = min(-power, 22)
        number /= POWERS[step]
        power += step
    return sign * number, seen > 0 and i == stop


@kernel
def parse_lines(data, size, k, count, begin, end, probs, backoffs):
    """Split lines into fields; returns how many lines are well-formed."""
    i = 0
    for line in range(count):
        field, sound = 0, True
        backoffs[line] = 0.0
        while True:
            while i < size and data[i] <= 32 and data[i] != 10:
                i += 1
            if i >= size or data[i] == 10:
                break
            start = i
            while i < size and data[i] > 32:
                i += 1
            if field == 0 or field == k + 1:
                number, fine = parse_number(data, start, i)
                sound &= fine and number < np.inf
                if field == 0:
                    probs[line] = number
                else:
                    backoffs[line] = number
            elif field <= k:
                begin[line * k + field - 1] = start
                end[line * k + field - 1] = i
            field += 1
        i += 1
        if not sound or field <= k or field > k + 2 or not probs[line] <= 0:
            return line
    return count

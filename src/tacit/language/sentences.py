"""Text into sentences of word ids: what language models count and score.

A block of documents becomes words and sentence ends. The words are interned block by block and
the vocabularies merged; ids follow from the merged one, so they depend neither on the blocks
nor on the engine.

    0, 1, 2     <unk>, <s>, </s>: the unknown word, the start and the stop token
    3, 4, ...   the words, sorted by their bytes

A sentence is a line. Words are separated by white space, as in KenLM, or are the tokens of the
package's tokenizer or of a function; or every character is a word.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.data.document_blocks import ObjectRows
from tacit.data.documents import Documents
from tacit.data.text_block import Text, text_of
from tacit.kernels.hashing import Interner, padded
from tacit.kernels.string_finder import Finder, find_strings, make_finder
from tacit.text.tokens import RULES, Spans, split, token_rule
from tacit.text.vocabulary import Vocabulary

__all__ = [
    "START", "STOP", "UNKNOWN", "BlockWords", "Corpus", "Reader", "SPECIAL",
    "filled_blocks", "find_ids", "find_ids_of_words", "find_words", "make_word_finder",
    "read_words", "sentence_blocks", "spelled", "split_text", "words_of",
]  # fmt: skip

U = np.uint64
UNKNOWN, START, STOP = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")
FIRST = len(SPECIAL)  # the id of the first word
TOKENIZERS = ("whitespace", "char", *RULES)


class Reader(NamedTuple):
    """How text becomes words."""

    tokenizer: Any = "whitespace"
    lowercase: bool = False
    lines: bool = True  # whether a line end ends a sentence; else it is white space


class BlockWords(NamedTuple):
    """The words of a block, numbered by its vocabulary."""

    ids: np.ndarray  # int32
    edges: np.ndarray  # int64, (sentences + 1,)
    vocabulary: Vocabulary


class Corpus(NamedTuple):
    """Sentences of ids that belong to one vocabulary."""

    ids: np.ndarray  # int32
    edges: np.ndarray  # int64


def check_tokenizer(tokenizer: Any) -> None:
    """One of the names, or a function."""
    if not callable(tokenizer) and tokenizer not in TOKENIZERS:
        raise ValueError(
            f"tokenizer={tokenizer!r} is unknown; choose from {list(TOKENIZERS)}, or give a "
            "function from str to a list of str."
        )


def sentence_blocks(data: Any, *, name: str = "NGramModel") -> Iterable[Any]:
    """Sentences in any form, as blocks that an engine can load.

    A list of str (or bytes, or None), a list of lists of words, Documents, a dataframe, a
    path, several paths, or a generator of any of the first two, which is read once.
    """
    if isinstance(data, bytes):
        raise ValueError(f"{name} takes many sentences. Put one in a list: [sentence].")
    if isinstance(data, list | tuple):
        first = next((item for item in data if item is not None), None)
        if isinstance(first, Path):
            return list(chain.from_iterable(Documents.open(path) for path in data))
        return token_blocks(data, name) if is_words(first) else Documents.of(data)
    if isinstance(data, Iterator):
        first = next(data, None)
        data = chain([] if first is None else [first], data)
        return token_blocks(list(data), name) if is_words(first) else Documents.of(data)
    return Documents.of(data)


def filled_blocks(data: Any, name: str) -> list[Any]:
    """The blocks of at least one sentence."""
    blocks = list(sentence_blocks(data, name=name))
    if not blocks:
        raise ValueError(f"{name} needs at least one sentence. Give some.")
    return blocks


def is_words(sentence: Any) -> bool:
    return isinstance(sentence, list | tuple | np.ndarray)


def token_blocks(sentences: Sequence[Any], name: str) -> list[ObjectRows]:
    for i, sentence in enumerate(sentences):
        if not is_words(sentence):
            raise TypeError(
                f"{name} was given lists of words, but sentence {i} is of type "
                f"{type(sentence).__name__}. Split it into words, or join the others."
            )
    step = 50_000
    parts = (sentences[i : i + step] for i in range(0, len(sentences), step))
    return [ObjectRows(list(part)) for part in parts]


# --- Reading a block ---


def read_words(params: Reader, block: Any) -> BlockWords:
    """The words of a block; empty lines are not sentences where lines are."""
    if not isinstance(block, Text):
        words = words_of(block)
        filled = np.diff(words.edges, prepend=-1) > 0
        return words._replace(edges=words.edges[filled]) if params.lines else words
    if callable(params.tokenizer):
        sentences = lines_of(params, block).strings()
        return words_of([run_tokenizer(params.tokenizer, sentence) for sentence in sentences])
    spans = find_words(params, block)
    table = Interner(spans.buffer)
    ids = table.ids(spans.begin, spans.end)
    vocabulary, rank = Vocabulary.of_slices(spans.buffer, table.slices())
    ids = rank[ids] if len(rank) else ids
    return BlockWords(ids, spans.edges, vocabulary)


def lines_of(params: Reader, text: Text) -> Text:
    """Sentences as documents, where a line is one."""
    if params.lines and has_lines(text.data, text.starts, text.stops):
        return Text(text.data, *split_lines(text.data, text.starts, text.stops))
    return text


def find_words(params: Reader, block: Text) -> Spans:
    """Where the words of a block are."""
    text = lines_of(params, block)
    if params.lowercase and params.tokenizer in ("whitespace", "char"):
        text = text_of([string.lower() for string in text.strings()])
    if params.tokenizer == "whitespace":
        return split_by(split_at_spaces, text)
    if params.tokenizer == "char":
        return split_by(split_characters, text)
    return split(text, token_rule(params.tokenizer, params.lowercase, 1))


def words_of(sentences: Iterable[Sequence[str]]) -> BlockWords:
    """The same for sentences that are lists of words."""
    seen: dict[str, int] = {}
    lengths, numbers = [0], []
    for sentence in sentences:
        numbers += [seen.setdefault(word, len(seen)) for word in sentence]
        lengths.append(len(sentence))
    for word in seen:
        if not isinstance(word, str):
            raise TypeError(f"Words must be str, but {word!r} is not. Turn them into str.")
    words = sorted(seen)
    rank = np.empty(len(words), np.int32)
    rank[[seen[word] for word in words]] = np.arange(len(words))
    ids = rank[numbers] if numbers else np.empty(0, np.int32)
    return BlockWords(ids, np.cumsum(lengths, dtype=np.int64), Vocabulary.of_sorted(words))


def split_text(params: Reader, sentence: str | Iterable[str]) -> list[str]:
    """The words of one sentence."""
    if not isinstance(sentence, str):
        return list(sentence)
    if params.tokenizer == "whitespace" and sentence.isascii() and not params.lowercase:
        return sentence.split()
    words = read_words(params._replace(lines=False), text_of([sentence]))
    return [words.vocabulary[i] for i in words.ids.tolist()]


def run_tokenizer(tokenizer: Callable[[str], Any], text: str) -> list[str]:
    words = tokenizer(text)
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise TypeError(
            f"The tokenizer must return a list of str, but for {text[:40]!r} it returned "
            f"{str(words)[:60]!r}."
        )
    return list(words)


def split_by(find: Callable, text: Text) -> Spans:
    """Words as slices of a copy of the text, padded so that kernels may read past the end."""
    size = int((text.stops - text.starts).sum())
    buffer = padded(size)
    begin, end = np.empty(size + 1, np.int32), np.empty(size + 1, np.int32)
    edges = np.zeros(len(text) + 1, np.int64)
    find(text.data, text.starts, text.stops, buffer, begin, end, edges)
    return Spans(buffer, begin[: edges[-1]], end[: edges[-1]], edges)


# --- Ids of words ---


def find_ids(vocabulary: Vocabulary, words: Vocabulary) -> np.ndarray:
    """The ids of some sorted words; -1 for those that are not known.

    <unk> written out is the unknown word. <s> and </s> are not words, so they are not known.
    """
    places = vocabulary.find(words)
    ids = np.where(places < 0, -1, places + FIRST).astype(np.int32)
    at = words.find(Vocabulary.of_sorted([SPECIAL[UNKNOWN]]))[0]
    if at >= 0:
        ids[at] = UNKNOWN
    return ids


def make_word_finder(vocabulary: Vocabulary) -> Finder:
    """Finds words in a text as ``find_ids`` does in a vocabulary. <unk> comes last."""
    unknown = np.frombuffer(SPECIAL[UNKNOWN].encode(), np.uint8)
    data = np.concatenate([vocabulary.data, unknown])
    return make_finder(data, np.append(vocabulary.offsets, len(data)))


def find_ids_of_words(finder: Finder, spans: Spans) -> np.ndarray:
    """The ids of the words of a text; -1 for those that are not known."""
    places = find_strings(finder, spans.buffer, spans.begin, spans.end)
    ids = np.where(places < 0, np.int32(-1), places + np.int32(FIRST))
    return np.where(places == len(finder.offsets) - 2, np.int32(UNKNOWN), ids)


def spelled(vocabulary: Vocabulary, id: int) -> str:
    """The word with an id."""
    return SPECIAL[id] if id < FIRST else vocabulary[id - FIRST]


# --- Kernels ---


@kernel
def has_lines(data, starts, stops):
    """Whether the sentences are not the documents: a line end, or an empty one."""
    for d in range(len(starts)):
        blank = True
        for i in range(starts[d], stops[d]):
            if data[i] == 10:
                return True
            blank &= data[i] <= 32
        if blank:
            return True
    return False


@kernel
def split_lines(data, starts, stops):
    """Every line with something in it as a document."""
    n = len(starts)
    for d in range(len(starts)):
        for i in range(starts[d], stops[d]):
            n += data[i] == 10
    firsts, lasts = np.empty(n, np.int64), np.empty(n, np.int64)
    n = 0
    for d in range(len(starts)):
        first, blank = starts[d], True
        for i in range(starts[d], stops[d] + 1):
            if i == stops[d] or data[i] == 10:
                if not blank:
                    firsts[n], lasts[n] = first, i
                    n += 1
                first, blank = i + 1, True
            else:
                blank &= data[i] <= 32
    return firsts[:n].copy(), lasts[:n].copy()


@kernel
def split_at_spaces(data, starts, stops, buffer, begin, end, edges):
    """Without a branch at word boundaries, which could not be predicted."""
    marks = np.empty(2 * len(begin), np.int32)  # where words begin and end, in turn
    at, k = 0, U(0)
    for d in range(len(starts)):
        source, inside = data[starts[d] : stops[d]], np.uint8(0)
        target = buffer[at : at + len(source)]
        for i in range(len(source)):
            target[i] = source[i]
        for i in range(len(source)):
            word = np.uint8(source[i] > 32)
            marks[k] = at + i
            k += U(word ^ inside)
            inside = word
        at += len(source)
        marks[k] = at
        k += U(inside)
        edges[d + 1] = k >> U(1)
    for i in range(edges[len(starts)]):
        begin[i], end[i] = marks[2 * i], marks[2 * i + 1]


@kernel
def split_characters(data, starts, stops, buffer, begin, end, edges):
    at = k = 0
    for d in range(len(starts)):
        source = data[starts[d] : stops[d]]
        for i in range(len(source)):
            c = source[i]
            buffer[at + i] = c
            if c & 0xC0 != 0x80:  # the first byte of a character
                begin[k] = at + i
                if k > edges[d]:
                    end[k - 1] = at + i
                k += 1
        at += len(source)
        if k > edges[d]:
            end[k - 1] = at
        edges[d + 1] = k

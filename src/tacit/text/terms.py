"""The terms of a block: which ones there are, and where they occur.

    words          ids that count the block's vocabulary in sorted order
    word n-grams   a term of n words is a pair, (the term of its first n - 1 words, its last
                   word); strings are written once for each distinct term, at the end
    character n-grams   slices of text in lower case. "char" takes them from the document,
                   with runs of white space as one space; "char_wb" from each word, with a space
                   before and after it. Characters are code points, as in scikit-learn.

Terms sort as their strings do. For word n-grams that is the pre-order of a tree of words,
because a space sorts before every character of a word.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.string_array import offsets_of
from tacit.data.text_block import Text
from tacit.kernels.call_ranges import call_ranges
from tacit.kernels.hashing import Interner, PairInterner, padded
from tacit.text.characters import (
    CALL_TEXT,
    SPACE,
    compose,
    decode_at,
    encode_to,
    plain_characters,
)
from tacit.text.tokens import Spans
from tacit.text.vocabulary import Vocabulary, check_size

__all__ = ["Terms", "drop", "intern", "word_grams", "char_grams"]

SPACE_BYTE = 32
CALL_SPANS = 2**20  # n-grams listed at one time
CALL_BYTES = 2**26  # of n-grams hashed at one time
CALL_WORDS = 2**20  # words of n-grams written at one time


class Terms(NamedTuple):
    """Where terms occur: ``streams[l, t]`` is a place in the vocabulary, or -1.

    ``edges`` says which positions t belong to which document.
    """

    vocabulary: Vocabulary
    streams: np.ndarray  # int32, (1 or as many as there are lengths of n-grams, positions)
    edges: np.ndarray  # int64, (documents + 1,)


def intern(spans: Spans) -> Terms:
    """The distinct tokens, sorted, and which of them is where."""
    table = Interner(spans.buffer)
    ids = table.ids(spans.begin, spans.end)
    vocabulary, rank = Vocabulary.of_slices(spans.buffer, table.slices())
    renumber(ids, rank)
    return Terms(vocabulary, ids.reshape(1, -1), spans.edges)


def drop(terms: Terms, unwanted: np.ndarray) -> Terms:
    """Terms without the unwanted ones (a mask over the vocabulary)."""
    if not unwanted.any():
        return terms
    place = np.where(unwanted, -1, np.cumsum(~unwanted) - 1).astype(np.int32)
    ids, edges = remove_ids(terms.streams[0], terms.edges, place)
    return Terms(terms.vocabulary.take(~unwanted), ids.reshape(1, -1), edges)


def word_grams(terms: Terms, shortest: int, longest: int) -> Terms:
    """Terms of ``shortest`` to ``longest`` words each, from terms of one word.

    >>> one = Terms(Vocabulary.of(["a", "b"]), np.array([[0, 1, 0]], np.int32),
    ...             np.array([0, 3]))
    >>> two = word_grams(one, 1, 2)
    >>> list(two.vocabulary)
    ['a', 'a b', 'b', 'b a']
    >>> two.streams
    array([[ 0,  2,  0],
           [ 1,  3, -1]], dtype=int32)
    """
    ids, edges, v = terms.streams[0], terms.edges, len(terms.vocabulary)
    remaining = np.repeat(edges[1:], np.diff(edges)) - np.arange(
        len(ids)
    )  # words left from here
    levels = [Level(np.zeros(v, np.int64), np.arange(v, dtype=np.int32)[:, None], ids)]
    for n in range(2, longest + 1):
        levels.append(longer(levels[-1], ids, np.flatnonzero(remaining >= n), n))
    places, total = number_tree(levels, shortest)
    lengths = np.diff(terms.vocabulary.offsets)
    sizes = np.empty(total, np.int64)
    for level, place in zip(levels[shortest - 1 :], places[shortest - 1 :], strict=True):
        sizes[place] = lengths[level.words].sum(axis=1) + level.words.shape[1] - 1
    offsets = offsets_of(sizes)
    check_size(int(offsets[-1]))
    data = np.empty(offsets[-1], np.uint8)
    streams = np.full((longest - shortest + 1, len(ids)), -1, np.int32)
    for row, n in enumerate(range(shortest, longest + 1)):
        level, place = levels[n - 1], places[n - 1]
        step = max(1, CALL_WORDS // n)
        for i in range(0, len(place), step):
            check_stop()
            write_grams(
                terms.vocabulary.data, terms.vocabulary.offsets, level.words[i : i + step],
                place[i : i + step], data, offsets,
            )  # fmt: skip
        there = level.stream >= 0
        streams[row, there] = place[level.stream[there]]
    return Terms(Vocabulary.of_bytes(data, offsets), streams, edges)


class Level(NamedTuple):
    """The distinct n-grams of one length, sorted."""

    parent: np.ndarray  # int64, (m,): their first n - 1 words, in the level before
    words: np.ndarray  # int32, (m, n)
    stream: np.ndarray  # int32, (positions,): the n-gram that begins here, or -1


def longer(level: Level, ids: np.ndarray, at: np.ndarray, n: int) -> Level:
    """N-grams of one word more, which begin at the positions ``at``."""
    table = PairInterner()
    numbers = table.ids(level.stream[at], ids[at + n - 1])
    pairs = table.pairs()
    order = np.argsort(pairs.left << 32 | pairs.right)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    parent, last = pairs.left[order], pairs.right[order]
    words = np.concatenate([level.words[parent], last[:, None].astype(np.int32)], axis=1)
    stream = np.full(len(ids), -1, np.int32)
    stream[at] = rank[numbers]
    return Level(parent, words, stream)


def number_tree(levels: list[Level], shortest: int) -> tuple[list[np.ndarray], int]:
    """The place of each n-gram when all of them are sorted, and how many there are.

    Those shorter than ``shortest`` take no place.
    """
    counted = [int(n + 1 >= shortest) for n in range(len(levels))]
    sizes = [np.full(len(level.parent), n) for level, n in zip(levels, counted, strict=True)]
    for n in range(len(levels) - 1, 0, -1):  # subtrees, the root included
        below = np.bincount(levels[n].parent, sizes[n], minlength=len(sizes[n - 1]))
        sizes[n - 1] = sizes[n - 1] + below.astype(np.int64)
    places = [np.cumsum(sizes[0]) - sizes[0]]
    for n in range(1, len(levels)):
        parent, before = levels[n].parent, np.cumsum(sizes[n]) - sizes[n]
        first_sibling = np.searchsorted(parent, parent)
        places.append(places[-1][parent] + counted[n - 1] + before - before[first_sibling])
    return places, int(sizes[0].sum())


def char_grams(
    text: Text, shortest: int, longest: int, lowercase: bool, by_word: bool
) -> Terms:
    """The character n-grams of every document.

    >>> from tacit.data.text_block import text_of
    >>> list(char_grams(text_of(["Hi  you"]), 3, 3, True, False).vocabulary)
    [' yo', 'hi ', 'i y', 'you']
    >>> list(char_grams(text_of(["Hi  you"]), 4, 4, True, True).vocabulary)
    [' hi ', ' you', 'you ']
    """
    characters = plain_characters(lowercase)
    text, _ = compose(text, characters, lowercase)
    size = 2 * int((text.stops - text.starts + 1).sum())  # lower case and spaces take more
    buffer = padded(size)
    places, limit = np.empty(size + 1, np.int32), np.empty(size + 1, np.int32)
    edges = np.zeros(len(text) + 1, np.int64)
    write = write_words if by_word else write_text
    at = 0
    for first, last in call_ranges(text.stops - text.starts, CALL_TEXT):
        check_stop()
        at = write(
            text.data, text.starts, text.stops, first, last, characters.codes, buffer, at,
            places, limit, edges,
        )  # fmt: skip
    places[edges[-1]] = at
    table, ids, counts = Interner(buffer), [], np.zeros(len(text), np.int64)
    seen, distinct = 0, 0  # strings, and bytes of them
    most = min(CALL_SPANS, CALL_BYTES // longest)
    room = most + longest - shortest + 1
    begin, end = np.empty(room, np.int32), np.empty(room, np.int32)
    position, document = 0, 0
    while position < edges[-1]:
        check_stop()
        position, document, k = list_spans(
            places, limit, edges, position, document, shortest, longest, by_word, most, begin,
            end, counts,
        )  # fmt: skip
        ids.append(table.ids(begin[:k], end[:k]))
        distinct += int(table.length[seen : table.used].sum())
        seen = table.used
        check_size(distinct)
    vocabulary, rank = Vocabulary.of_slices(buffer, table.slices())
    stream = rank[np.concatenate([*ids, np.empty(0, np.int32)])].reshape(1, -1)
    return Terms(vocabulary, stream, offsets_of(counts))


@kernel
def renumber(ids, rank):
    for t in range(len(ids)):
        ids[t] = rank[ids[t]]


@kernel
def remove_ids(ids, edges, place):
    """New ids of the tokens that have one, and their edges."""
    out, new_edges = np.empty(len(ids), np.int32), np.zeros(len(edges), np.int64)
    k = 0
    for d in range(len(edges) - 1):
        for t in range(edges[d], edges[d + 1]):
            out[k] = place[ids[t]]
            k += place[ids[t]] >= 0
        new_edges[d + 1] = k
    return out[:k].copy(), new_edges


@kernel
def write_grams(data, offsets, words, place, out, out_offsets):
    """Words with spaces between them, each n-gram at its place."""
    for i in range(len(words)):
        at = out_offsets[place[i]]
        for n in range(words.shape[1]):
            if n:
                out[at] = 32
                at += 1
            w = words[i, n]
            for q in range(offsets[w], offsets[w + 1]):
                out[at] = data[q]
                at += 1


@kernel
def write_text(data, starts, stops, first, last, codes, buffer, at, places, limit, edges):
    """Documents in lower case; two white spaces or more become one space.

    Fills in where each character begins, and the number of the last one it may be with.
    """
    k = edges[first]
    for d in range(first, last):
        i, spaces, space = starts[d], 0, np.uint32(0)
        while i <= stops[d]:
            is_space, c, length = False, np.uint32(0), 1
            if i < stops[d]:
                c, length = decode_at(data, i)
                is_space = codes[c] >> np.uint32(24) & np.uint32(0x0F) == SPACE
                c = codes[c] & np.uint32(0xFFFFFF)
            if is_space:
                spaces += 1
                space = c
            else:
                if spaces:
                    places[k] = at
                    k += 1
                    at = encode_to(buffer, at, space if spaces == 1 else np.uint32(SPACE_BYTE))
                    spaces = 0
                if i < stops[d]:
                    places[k] = at
                    k += 1
                    at = encode_to(buffer, at, c)
            i += length
        limit[edges[d] : k] = k
        edges[d + 1] = k
    return at


@kernel
def write_words(data, starts, stops, first, last, codes, buffer, at, places, limit, edges):
    """The words of documents in lower case, each between two spaces."""
    k = edges[first]
    for d in range(first, last):
        i, inside, word = starts[d], False, k
        while i <= stops[d]:
            is_space, c, length = True, np.uint32(0), 1
            if i < stops[d]:
                c, length = decode_at(data, i)
                is_space = codes[c] >> np.uint32(24) & np.uint32(0x0F) == SPACE
                c = codes[c] & np.uint32(0xFFFFFF)
            if inside == is_space:  # a word begins or ends
                places[k] = at
                k += 1
                buffer[at] = SPACE_BYTE
                at += 1
                if inside:
                    limit[word:k] = k
                    word = k
                inside = not inside
            if not is_space:
                places[k] = at
                k += 1
                at = encode_to(buffer, at, c)
            i += length
        edges[d + 1] = k
    return at


@kernel
def list_spans(
    places, limit, edges, position, document, shortest, longest, by_word, most, begin, end,
    counts,
):  # fmt: skip
    """N-grams that begin at ``position`` and after it, about ``most`` of them.

    A word shorter than every n is one n-gram.
    """
    k = 0
    while position < edges[-1] and k < most:
        while position >= edges[document + 1]:
            document += 1
        before, room = k, limit[position] - position
        if room < shortest and by_word and (position == 0 or limit[position - 1] == position):
            begin[k], end[k] = places[position], places[position + room]
            k += 1
        for n in range(shortest, min(longest, room) + 1):
            begin[k], end[k] = places[position], places[position + n]
            k += 1
        counts[document] += k - before
        position += 1
    return position, document, k

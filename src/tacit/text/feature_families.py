"""The features of a block of documents, family by family.

    capitals      shares of words that begin with a capital, are all capitals, hold one inside;
                  the share of capitals among letters
    prefixes      the first letters of words: prefix:un
    suffixes      the last letters of words: suffix:ing
    shapes        words with letters and digits replaced by their kind: shape:Xxxx, shape:dd-dd
    bigrams       two words in a row: bigram:not good
    punctuation   marks, one by one: punctuation:!

Tokens are those of ``tokens``, in their original case. What depends on a word alone is worked
out once for each distinct word of the block and multiplied by the counts of words, all in whole
numbers; so neither blocks nor engines can change a feature.
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import check_stop
from tacit.data.text_block import Repairs, Text
from tacit.kernels.hashing import hash_strings
from tacit.text.count_blocks import BlockCounts, Found, TermStats, count_terms
from tacit.text.terms import Terms, intern, word_grams
from tacit.text.tokens import TokenRule, split
from tacit.text.vocabulary import Vocabulary

__all__ = ["CAPITALS", "Families", "FeatureBlock", "collect", "read_features", "shape_of"]

CAPITALS = ("capitals:first", "capitals:all", "capitals:inside", "capitals:letters")
MARKS = TokenRule("plain", False, 1, r"[^\w\s]")
LONG_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)
CHECK = 4096  # words between two looks whether the pass was given up


class Families(NamedTuple):
    """Which features are wanted. Travels with a pass as its params."""

    capitals: bool
    prefixes: int  # the longest; 0 for none
    suffixes: int
    shapes: bool
    bigrams: bool
    punctuation: bool
    lowercase: bool
    rule: TokenRule
    hashed: int = 0  # columns, if features are hashed into so many


class FeatureBlock(NamedTuple):
    """The features of a block."""

    capitals: np.ndarray  # (documents, 4 or 0) shares
    counts: BlockCounts | None  # of all other families, sorted by name
    hashed: Any = None  # or their rows

    def load(self) -> "FeatureBlock":
        return self


def collect(params: Families, block: Text) -> TermStats:
    """Which features there are, how often and in how many documents."""
    counts = read_features(params, block).counts
    assert counts is not None  # nobody asks where features are hashed
    return counts.stats


def read_features(params: Families, block: Text) -> FeatureBlock:
    """The same, and the rows of the matrix."""
    words = intern(split(block, params.rule))
    rows = as_rows(count_terms(Found(words, 0, 0, 0, Repairs())))
    parts = [spread(rows, word_features(params, words.vocabulary))]
    if params.punctuation:
        marks = intern(split(block, MARKS))
        each = as_rows(count_terms(Found(marks, 0, 0, 0, Repairs())))
        parts.append(spread(each, map(mark_features, marks.vocabulary)))
    names, matrix = join(parts)
    if params.bigrams:  # which sort before all others
        pairs, pair_rows = bigrams(words, params.lowercase)
        names = chain(pairs, names)
        matrix = sp.csr_array(sp.hstack([pair_rows, matrix], format="csr"))
    capitals = capital_shares(rows, words.vocabulary, params.capitals)
    if params.hashed:
        return FeatureBlock(capitals, None, matrix @ hash_table(names, params.hashed))
    return FeatureBlock(capitals, as_counts(matrix, names, words, block.repairs))


# --- What a word has ---


def word_features(params: Families, words: Vocabulary) -> Iterator[list[str]]:
    for i, word in enumerate(words):
        if i % CHECK == 0:
            check_stop()
        yield features_of(word, params)


def features_of(word: str, params: Families) -> list[str]:
    """Affixes, which are shorter than their word and of letters alone, and its shape."""
    found = [f"shape:{shape_of(word)}"] if params.shapes else []
    folded = word.lower() if params.lowercase else word
    size = len(folded)
    head, tail = min(params.prefixes, size - 1), min(params.suffixes, size - 1)
    if not folded.isalpha():
        letters = [character.isalpha() for character in folded]
        head = min(head, [*letters, False].index(False))
        tail = min(tail, [*letters[::-1], False].index(False))
    found += [f"prefix:{folded[:n]}" for n in range(1, head + 1)]
    found += [f"suffix:{folded[size - n :]}" for n in range(1, tail + 1)]
    return found


def shape_of(word: str) -> str:
    """A word with its characters replaced by their kind, at most three of a kind in a row.

    >>> [shape_of(w) for w in ("Whale", "NASA", "iPhone", "12-45", "don't", "東京", "👍")]
    ['Xxxx', 'XXX', 'xXxxx', 'dd-dd', "xxx'x", 'oo', '👍']
    """
    return LONG_RUN.sub(r"\1\1\1", word.translate(KINDS))


class Kinds(dict):
    """X upper case, x lower case, o a letter without case, d a digit; others are their own."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isupper() or character.istitle():
            kind = "X"
        elif character.islower():
            kind = "x"
        elif character.isalpha():
            kind = "o"
        else:
            kind = "d" if character.isnumeric() else character
        self[code] = kind
        return kind


KINDS = Kinds()


def mark_features(run: str) -> list[str]:
    return [f"punctuation:{mark}" for mark in run if is_punctuation(mark)]


@lru_cache(maxsize=2**16)
def is_punctuation(character: str) -> bool:
    """ASCII's marks, and what Unicode calls punctuation; no emoji.

    >>> [is_punctuation(c) for c in "!$—。👍a"]
    [True, True, True, True, False, False]
    """
    return character in string.punctuation or unicodedata.category(character)[0] == "P"


# --- From words to documents ---


def spread(rows: sp.csr_array, features: Iterable[list[str]]) -> tuple[list[str], sp.csr_array]:
    """Names of features, and how often documents have them: counts of words times theirs."""
    places: dict[str, int] = {}
    indices: list[int] = []
    indptr = [0]
    for each in features:
        indices.extend(places.setdefault(name, len(places)) for name in each)
        indptr.append(len(indices))
    ones = np.ones(len(indices), np.int64)
    table = sp.csr_array((ones, indices, indptr), shape=(rows.shape[1], len(places)))
    table.sum_duplicates()  # a word may have a feature twice
    return list(places), rows @ table


def join(parts: list[tuple[list[str], sp.csr_array]]) -> tuple[Vocabulary, sp.csr_array]:
    """Families side by side, columns sorted by name."""
    names = [name for part, _ in parts for name in part]
    order = sorted(range(len(names)), key=names.__getitem__)
    matrix = sp.csr_array(sp.hstack([rows for _, rows in parts], format="csr"))
    rank = np.empty(len(order), matrix.indices.dtype)
    rank[order] = np.arange(len(order))
    matrix.indices = rank[matrix.indices]
    matrix.has_sorted_indices = False
    matrix.sort_indices()
    return Vocabulary.of_sorted([names[i] for i in order]), matrix


def bigrams(words: Terms, lowercase: bool) -> tuple[Vocabulary, sp.csr_array]:
    """Names of pairs of words, and how often documents have them."""
    if lowercase:
        lowered = [word.lower() for word in words.vocabulary]
        vocabulary = Vocabulary.of(lowered)
        place = {word: i for i, word in enumerate(vocabulary)}
        new = np.array([place[word] for word in lowered], np.int32)
        words = Terms(vocabulary, new[words.streams], words.edges)
    pairs = count_terms(Found(word_grams(words, 2, 2), 0, 0, 0, Repairs()))
    return prefixed(pairs.stats.vocabulary, b"bigram:"), as_rows(pairs)


def prefixed(words: Vocabulary, prefix: bytes) -> Vocabulary:
    """The same strings, each with a prefix; there may be a million.

    >>> list(prefixed(Vocabulary.of(["a", "bc"]), b"x:"))
    ['x:a', 'x:bc']
    """
    n, k = len(words), len(prefix)
    offsets = words.offsets + k * np.arange(n + 1)
    data = np.empty(offsets[-1], np.uint8)
    own = np.ones(len(data), np.bool_)
    for i in range(k):
        data[offsets[:-1] + i] = prefix[i]
        own[offsets[:-1] + i] = False
    data[own] = words.data[: words.offsets[-1]]
    return Vocabulary.of_bytes(data, offsets)


def chain(first: Vocabulary, second: Vocabulary) -> Vocabulary:
    """Two vocabularies of which one sorts before the other."""
    size = first.offsets[-1]
    data = np.concatenate([first.data[:size], second.data[: second.offsets[-1]]])
    return Vocabulary.of_bytes(data, np.concatenate([first.offsets, second.offsets[1:] + size]))


def as_rows(counted: BlockCounts) -> sp.csr_array:
    shape = (len(counted.indptr) - 1, len(counted.stats.vocabulary))
    counts = counted.counts.astype(np.int64)
    return sp.csr_array((counts, counted.indices, counted.indptr), shape=shape)


def hash_table(names: Vocabulary, width: int) -> sp.csr_array:
    """Which column each feature counts in, and whether upwards: as in ``hashing``."""
    hashes = hash_strings(names.data, names.offsets).astype(np.int64)
    signs, columns = np.where(hashes < 0, -1, 1), np.abs(hashes) % width
    indptr = np.arange(len(names) + 1)
    return sp.csr_array((signs, columns, indptr), shape=(len(names), width))


def as_counts(
    matrix: sp.csr_array, names: Vocabulary, words: Terms, repairs: Repairs
) -> BlockCounts:
    """Rows as what ``count_blocks`` adds up and assembles."""
    width = len(names)
    totals = np.bincount(matrix.indices, matrix.data, width).astype(np.int64)
    stats = TermStats(
        len(words.edges) - 1,
        int(np.count_nonzero(np.diff(words.edges) == 0)),
        int(words.edges[-1]),
        0,
        repairs,
        names,
        totals,
        np.bincount(matrix.indices, minlength=width),
    )
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return BlockCounts(stats, indptr, indices, matrix.data.astype(np.int32))


def capital_shares(rows: sp.csr_array, words: Vocabulary, wanted: bool) -> np.ndarray:
    """Shares of words and letters, in the order of CAPITALS; 0 where there are none."""
    if not wanted:
        return np.empty((rows.shape[0], 0))
    facts = np.array([capital_facts(word) for word in words], np.int64).reshape(-1, 6)
    sums = rows @ facts
    counted, letters = np.maximum(sums[:, [4]], 1), np.maximum(sums[:, [5]], 1)
    return np.concatenate([sums[:, :3] / counted, sums[:, [3]] / letters], axis=1)


def capital_facts(word: str) -> tuple[int, int, int, int, int, int]:
    """Begins with a capital; is all capitals; has one after a small letter; capitals; is a
    word; letters. Only letters that have case are letters here.

    >>> capital_facts("Ahab"), capital_facts("USA"), capital_facts("iPhone")
    ((1, 0, 0, 1, 1, 4), (1, 1, 0, 3, 1, 3), (0, 0, 1, 1, 1, 6))
    """
    kinds = word.translate(KINDS)
    capitals = kinds.count("X")
    letters = capitals + kinds.count("x")
    if letters < len(kinds):
        kinds = "".join(kind for kind in kinds if kind in "Xx")
    if not kinds:
        return (0, 0, 0, 0, 0, 0)
    all_of_them = int(capitals == letters and letters > 1)
    return (int(kinds[0] == "X"), all_of_them, int("xX" in kinds), capitals, 1, letters)

"""How words are misspelt: the cost of an error, by rule and learned from examples.

The channel turns an intended word into a typed one by single edits, each with a probability
that depends on the letters involved: a letter may be left out (after another), added (after
another), replaced, or swapped with the next. The cost of a pair of words is the negative
natural logarithm of the probability of their likeliest alignment.

    collect    align every pair at the current costs; count each edit, and how often each
               letter (after each other) could have suffered it
    update     costs = -log((count + strength x prior probability) / (occasions + strength))

Repeated a few times; the initial costs are the prior, so that few examples change little, and
edits that no example shows keep a probability.

The prior for English is a table of rough probabilities of errors in misspelt words, by
groups: letters that sound alike, vowels in unstressed syllables, letters that double or fail
to, silent letters, adjacent keys, two letters in the wrong order. A first letter is seldom
wrong.

Kernighan, Church and Gale (1990), A spelling correction program based on a noisy channel
model. COLING. Brill and Moore (2000), An improved error model for noisy channel spelling
correction. ACL.
"""

import unicodedata
from collections.abc import Iterable
from itertools import permutations
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.language.deletion_index import LONGEST, strings_of
from tacit.text.edit_costs import (
    DELETE,
    INSERT,
    OTHER,
    START,
    SUBSTITUTE,
    TRANSPOSE,
    CostTables,
    EditCosts,
)
from tacit.text.edit_kernels import EncodedStrings

__all__ = [
    "CHANNELS", "Channel", "learn_channel", "letter_logs", "make_channel", "pair_costs",
    "sum_letters",
]  # fmt: skip


LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOWELS = "aeiou"
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # each starts half a key further right
SOUND_ALIKE = (
    "aeiou", "iy", "ey", "cks", "sz", "cq", "kq", "ckx", "dt", "fv", "gj", "mn", "bp", "uw",
    "lr", "cz", "ou", "vw",
)  # fmt: skip
SWAPPED = ("ie", "ei", "ua", "au", "ia", "ai", "le", "el", "re", "er", "io", "oi", "eu", "ue")
# A letter that is not heard, and the letter before it; "" is the start of the word.
SILENT = {
    "h": ("", "c", "g", "r", "t", "w", "p", "s", "x"),
    "e": tuple("bcdfgklmnprstvz"),
    "c": ("s", "x"),
    "d": ("a", "e", "i"),
    "g": ("i", "n", "u"),
    "k": ("", "c"),
    "n": ("m",),
    "p": ("", "m"),
    "t": ("s", "a", "i"),
    "u": ("g", "q", "o"),
    "w": ("", "a", "o"),
    "b": ("m", "e"),
    "a": ("e", "i"),
    "i": ("a", "e", "u"),
    "o": ("u",),
    "l": ("a",),
    "r": ("a", "e", "o"),
}

# Tuned on lists of misspellings, rounded; benchmarks/language/spelling.py would notice.
ORDINARY = 8.0  # a letter replaced by any other
ADDED, LEFT_OUT = 8.0, 5.5  # a letter too many, a letter missing
KEYS, SOUNDS, VOWEL = 6.5, 4.5, 4.7
DOUBLED = 3.0  # a letter twice that stands once, and the other way round
UNHEARD = 3.5
VOWEL_LEFT_OUT, VOWEL_ADDED = 4.0, 6.5
ORDER, ORDER_KNOWN = 4.0, 3.3
ACCENT_LEFT_OFF, ACCENT_ADDED = 2.5, 4.5
FIRST_LETTER = 2.5  # on top of the edit itself
ANY = 6.0  # of every edit in the uniform channel


def adjacent_keys() -> set[tuple[str, str]]:
    """Pairs of letters whose keys touch, both ways round.

    >>> sorted(b for a, b in adjacent_keys() if a == "g")
    ['b', 'f', 'h', 't', 'v', 'y']
    """
    place = {
        letter: (x + 0.5 * y, y) for y, row in enumerate(ROWS) for x, letter in enumerate(row)
    }
    return {
        (a, b)
        for a, b in permutations(place, 2)
        if abs(place[a][0] - place[b][0]) <= 1.0 and abs(place[a][1] - place[b][1]) <= 1
        if place[a][1] == place[b][1] or abs(place[a][0] - place[b][0]) <= 0.5
    }


def english_costs() -> EditCosts:
    """The table, for an intended word as the source and the typed one as the target."""
    keys = adjacent_keys()
    substitute = dict.fromkeys(permutations(LETTERS, 2), ORDINARY)
    substitute |= dict.fromkeys(keys, KEYS)
    for group in SOUND_ALIKE:
        cost = VOWEL if set(group) <= set(VOWELS) else SOUNDS
        for pair in permutations(group, 2):
            substitute[pair] = min(cost, substitute[pair])
    insert: dict = dict.fromkeys(LETTERS, ADDED)
    insert |= dict.fromkeys(VOWELS, VOWEL_ADDED)
    insert |= dict.fromkeys(keys, KEYS)
    insert |= {(letter, letter): DOUBLED for letter in LETTERS}
    delete: dict = dict.fromkeys(LETTERS, LEFT_OUT)
    delete |= dict.fromkeys(VOWELS, VOWEL_LEFT_OUT)
    for letter, before in SILENT.items():
        delete |= {(other, letter): UNHEARD for other in before}
        insert |= {(other, letter): UNHEARD + 0.5 for other in before if other}
    delete |= {(letter, letter): DOUBLED for letter in LETTERS}
    delete |= {("", letter): LEFT_OUT + FIRST_LETTER for letter in LETTERS}
    delete |= {("", letter): UNHEARD + 1 for letter, b in SILENT.items() if "" in b}
    insert |= {("", letter): ADDED + FIRST_LETTER for letter in LETTERS}
    # Apostrophes and hyphens are forgotten, added and moved more than any letter.
    for mark in "'’-":
        insert[mark] = delete[mark] = 4.0
    transpose = dict.fromkeys(permutations(LETTERS, 2), ORDER)
    transpose |= {(pair[0], pair[1]): ORDER_KNOWN for pair in SWAPPED}
    return EditCosts(insert, delete, substitute, transpose, other=ORDINARY)


ENGLISH = english_costs()
UNIFORM = EditCosts(ANY, ANY, ANY, ANY, other=ANY)  # for a language without a table
CHANNELS = {"english": ENGLISH, "uniform": UNIFORM}
MOST_SYMBOLS = 256  # with rows in the tables: the most frequent ones
STRENGTH = 50.0  # weight of the prior, in examples
ROUNDS = 3
PAIRS = 50_000  # per kernel call
LETTER_PRIOR = 0.1  # count of each pair of adjacent letters before any word
NEVER = 1e30


class Channel(NamedTuple):
    """Costs of edits from an intended to a typed word, in nats."""

    symbols: np.ndarray  # (s,) int32 code points in order; their rows are 2, 3, ...
    costs: np.ndarray  # (4, s + 2, s + 2): delete, insert, substitute, transpose
    first: float  # additional cost of a wrong first letter

    def rows(self, strings: EncodedStrings) -> np.ndarray:
        """The row of every character, int32."""
        at = np.searchsorted(self.symbols, strings.codes)
        at[at == len(self.symbols)] = 0
        known = self.symbols[at] == strings.codes if len(self.symbols) else np.zeros(0, bool)
        return np.where(known, at + OTHER + 1, OTHER).astype(np.int32)


def make_channel(name: str, vocabulary: EncodedStrings) -> Channel:
    """A channel by rule, for the letters of a vocabulary.

    >>> channel = make_channel("english", strings_of(["separate"]))
    >>> pairs = [("separate", "seperate"), ("separate", "sepqrate"), ("separate", "separate")]
    >>> costs_of(channel, pairs)
    array([4.7, 6.5, 0. ])
    """
    table = CHANNELS[name]
    codes, counts = np.unique(vocabulary.codes, return_counts=True)
    frequent = codes[np.argsort(-counts, kind="stable")[:MOST_SYMBOLS]]
    named = [ord(str(symbol)) for symbol in table.named if symbol]
    symbols = np.unique(np.concatenate([frequent, np.array(named, np.int32)])).astype(np.int32)
    letters = list(map(chr, symbols.tolist()))
    tables, rows = table.tables(letters)
    # EditCosts gives rows to the letters it names; the others are copies of its "any other".
    order = np.array([START, OTHER, *(rows.get(letter, OTHER) for letter in letters)])
    costs = np.stack([part[np.ix_(order, order)] for part in CostTables(*tables)])
    lower_accent_costs(costs[SUBSTITUTE], letters)
    return Channel(symbols, costs, FIRST_LETTER)


def lower_accent_costs(substitute: np.ndarray, letters: list[str]) -> None:
    """In any language, leaving off an accent is the commonest error; adding one is another."""
    row_of = {letter: OTHER + 1 + i for i, letter in enumerate(letters)}
    for letter, row in row_of.items():
        base = row_of.get(unicodedata.normalize("NFD", letter)[0])
        if base is not None and base != row:
            substitute[row, base] = min(ACCENT_LEFT_OFF, substitute[row, base])
            substitute[base, row] = min(ACCENT_ADDED, substitute[base, row])


def learn_channel(
    start: Channel,
    pairs: Iterable[tuple[str, str]],
    *,
    weights: np.ndarray | None = None,
    strength: float = STRENGTH,
    rounds: int = ROUNDS,
) -> Channel:
    """A channel that makes the errors of some pairs (intended word, typed word) likely.

    >>> start = make_channel("english", strings_of(["abcdefgh"]))
    >>> slips = [("bad", "bed"), ("hag", "heg"), ("cab", "ceb")] * 50
    >>> learned = learn_channel(start, slips)
    >>> costs_of(start, [("dab", "deb")]), costs_of(learned, [("dab", "deb")])
    (array([4.7]), array([0.28...]))
    """
    examples = [(a, b) for a, b in pairs if max(len(a), len(b)) <= LONGEST]
    if not examples:
        return start
    intended, typed = (strings_of(side) for side in zip(*examples, strict=True))
    rows, typed_rows = start.rows(intended), start.rows(typed)
    weight = np.ones(len(examples)) if weights is None else np.asarray(weights, np.float64)
    prior, channel = np.exp(-start.costs), start
    for _ in range(rounds):
        counts = np.zeros_like(channel.costs)
        letters = np.zeros(channel.costs.shape[1:])  # [letter before, letter] of the intended
        for i in range(0, len(examples), PAIRS):
            check_stop()
            count_edits(
                *intended, rows, *typed, typed_rows, weight, i, min(i + PAIRS, len(examples)),
                channel.costs, channel.first, counts, letters,
            )  # fmt: skip
        channel = update(channel, prior, counts, letters, strength)
    return channel


def update(
    channel: Channel,
    prior: np.ndarray,
    counts: np.ndarray,
    letters: np.ndarray,
    strength: float,
) -> Channel:
    """Costs from counts. Where an edit depends on the letter before it, a rare pair of
    letters leans on what is known of the letter alone."""
    k = letters.shape[0]
    alone, leading = letters.sum(axis=0), letters.sum(axis=1)
    p = np.empty_like(channel.costs)
    # Occasions: a letter for deletion and substitution, the letter before for insertion.
    by_letter = (counts[DELETE].sum(axis=0) + strength * prior[DELETE].mean(axis=0)) / (
        alone + strength
    )
    backed = 0.5 * (prior[DELETE] + by_letter[None, :])
    p[DELETE] = (counts[DELETE] + strength * backed) / (letters + strength)
    total = alone.sum() + strength
    by_added = (counts[INSERT].sum(axis=0) + strength * prior[INSERT].mean(axis=0)) / total
    after = alone.copy()
    after[START] = leading[START]
    backed = 0.5 * (prior[INSERT] + by_added[None, :])
    p[INSERT] = (counts[INSERT] + strength * backed) / (after[:, None] + strength)
    p[SUBSTITUTE] = (counts[SUBSTITUTE] + strength * prior[SUBSTITUTE]) / (
        alone[:, None] + strength
    )
    p[TRANSPOSE] = (counts[TRANSPOSE] + strength * prior[TRANSPOSE]) / (letters + strength)
    costs = -np.log(np.clip(p, 1e-12, 0.9))
    costs[SUBSTITUTE][np.arange(k), np.arange(k)] = channel.costs[SUBSTITUTE].diagonal()
    return channel._replace(costs=costs)


def costs_of(channel: Channel, pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """The cost of each pair (intended, typed)."""
    intended, typed = (strings_of(list(side)) for side in zip(*pairs, strict=True))
    n = np.arange(len(intended))
    return pair_costs(channel, intended, n, typed, n)


def pair_costs(
    channel: Channel,
    intended: EncodedStrings,
    chosen: np.ndarray,
    typed: EncodedStrings,
    queries: np.ndarray,
    *,
    rows: np.ndarray | None = None,
) -> np.ndarray:
    """The cost of typing ``typed[queries[i]]`` for ``intended[chosen[i]]``, float64.

    ``rows`` are those of the intended words, where they are known already.
    """
    out = np.empty(len(chosen))
    rows = channel.rows(intended) if rows is None else rows
    typed_rows = channel.rows(typed)
    for i in range(0, len(out), PAIRS):
        check_stop()
        part = slice(i, i + PAIRS)
        cost_pairs(
            *intended, rows, chosen[part], *typed, typed_rows, queries[part],
            channel.costs, channel.first, out[part],
        )  # fmt: skip
    return out


def letter_logs(channel: Channel, words: EncodedStrings) -> np.ndarray:
    """log P(letter | letter before) over the vocabulary; START is the start and the end."""
    counts = np.full((len(channel.symbols) + 2,) * 2, LETTER_PRIOR)
    rows = channel.rows(words)
    starts, stops = words.offsets[:-1], words.offsets[1:]
    filled = stops > starts
    np.add.at(counts, (START, rows[starts[filled]]), 1)
    np.add.at(counts, (rows[stops[filled] - 1], START), 1)
    inside = np.ones(max(0, len(rows) - 1), bool)
    inside[stops[filled][:-1] - 1] = False
    np.add.at(counts, (rows[:-1][inside], rows[1:][inside]), 1)
    return np.log(counts / counts.sum(axis=1, keepdims=True))


# --- Kernels ---


@kernel
def fill(table, source, source_rows, target, target_rows, costs, first):
    """The table of an alignment: cell (i, j) is the least cost of making j characters of the
    target from i of the source."""
    n, m = len(source), len(target)
    delete, insert, substitute, transpose = costs[0], costs[1], costs[2], costs[3]
    table[0, 0] = 0.0
    for j in range(1, m + 1):
        table[0, j] = table[0, j - 1] + insert[START, target_rows[j - 1]]
    for i in range(1, n + 1):
        row, above = table[i], table[i - 1]
        this = source_rows[i - 1]
        before = source_rows[i - 2] if i > 1 else START
        added, replaced = insert[this], substitute[this]
        left_out = delete[before, this]
        row[0] = above[0] + left_out
        for j in range(1, m + 1):
            other = target_rows[j - 1]
            if source[i - 1] == target[j - 1]:
                best = above[j - 1]
            else:
                best = above[j - 1] + replaced[other]
                if i == 1 and j == 1:
                    best += first
            best = min(best, above[j] + left_out)
            best = min(best, row[j - 1] + added[other])
            if (
                i > 1
                and j > 1
                and source[i - 1] == target[j - 2]
                and source[i - 2] == target[j - 1]
                and source[i - 1] != source[i - 2]
            ):
                swap = table[i - 2, j - 2] + transpose[before, this]
                if i == 2 and j == 2:
                    swap += first
                best = min(best, swap)
            row[j] = best
    return table[n, m]


@kernel
def cost_pairs(
    codes, offsets, rows, chosen, typed, typed_offsets, typed_rows, queries, costs, first, out
):
    table = np.empty((LONGEST + 1, LONGEST + 1))
    for p in range(len(chosen)):
        a, b = offsets[chosen[p]], offsets[chosen[p] + 1]
        c, d = typed_offsets[queries[p]], typed_offsets[queries[p] + 1]
        if b - a > LONGEST or d - c > LONGEST:
            out[p] = NEVER
            continue
        out[p] = fill(table, codes[a:b], rows[a:b], typed[c:d], typed_rows[c:d], costs, first)


@kernel
def count_edits(
    codes, offsets, rows, typed, typed_offsets, typed_rows, weights, start, stop,
    costs, first, counts, letters,
):  # fmt: skip
    """Add up the edits of the likeliest alignments, and the letters they could happen to."""
    table = np.empty((LONGEST + 1, LONGEST + 1))
    delete, insert, substitute = costs[0], costs[1], costs[2]
    for p in range(start, stop):
        a, b = offsets[p], offsets[p + 1]
        c, d = typed_offsets[p], typed_offsets[p + 1]
        source, row = codes[a:b], rows[a:b]
        target, other = typed[c:d], typed_rows[c:d]
        w = weights[p]
        fill(table, source, row, target, other, costs, first)
        before = START
        for i in range(len(source)):
            letters[before, row[i]] += w
            before = row[i]
        i, j = len(source), len(target)
        while i > 0 or j > 0:
            here = table[i, j]
            before = row[i - 2] if i > 1 else START
            this = row[i - 1] if i > 0 else START
            both = i > 0 and j > 0
            if both and source[i - 1] == target[j - 1] and here == table[i - 1, j - 1]:
                i, j = i - 1, j - 1
                continue
            extra = first if i == 1 and j == 1 else 0.0
            if (
                both
                and source[i - 1] != target[j - 1]
                and here == table[i - 1, j - 1] + substitute[this, other[j - 1]] + extra
            ):
                counts[SUBSTITUTE, this, other[j - 1]] += w
                i, j = i - 1, j - 1
            elif i > 0 and here == table[i - 1, j] + delete[before, this]:
                counts[DELETE, before, this] += w
                i -= 1
            elif j > 0 and here == table[i, j - 1] + insert[this, other[j - 1]]:
                counts[INSERT, this, other[j - 1]] += w
                j -= 1
            elif i > 1 and j > 1:
                counts[TRANSPOSE, before, this] += w
                i, j = i - 2, j - 2
            else:
                break


@kernel
def sum_letters(rows, offsets, logs, out):
    """log P of the letters of each word."""
    for i in range(len(out)):
        before, total = START, 0.0
        for t in range(offsets[i], offsets[i + 1]):
            total += logs[before, rows[t]]
            before = rows[t]
        out[i] = total + logs[before, START]

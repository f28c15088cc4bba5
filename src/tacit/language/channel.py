"""How words are misspelt: what a slip costs, and learning that from examples.

The channel turns an intended word into a typed one by single edits, each with a probability
that depends on the letters involved: a letter may be left out (after another), added (after
another), replaced, or swapped with the next. The cost of a pair of words is the negative
logarithm of the probability of their likeliest alignment.

    collect    align every pair at the present costs; count each edit, and how often each
               letter (after each other) could have suffered it
    update     costs = -log((count + strength x prior odds) / (occasions + strength))

Repeated a few times; the costs at the start are the prior, so that few examples change
little, and what they never show keeps a probability.

Kernighan, Church and Gale (1990), A spelling correction program based on a noisy channel
model. COLING. Brill and Moore (2000), An improved error model for noisy channel spelling
correction. ACL.
"""

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.language.confusions import (
    ACCENT_ADDED,
    ACCENT_LEFT_OFF,
    ENGLISH,
    FIRST_LETTER,
    uniform_costs,
)
from tacit.language.deletion_index import LONGEST, strings_of
from tacit.text.edit_costs import OTHER, START, CostTables
from tacit.text.edit_lanes import Strings

__all__ = ["CHANNELS", "Channel", "learn_channel", "make_channel", "pair_costs"]

CHANNELS = {"english": ENGLISH, "uniform": uniform_costs()}
MOST_SYMBOLS = 256  # with rows of their own: the most frequent ones
STRENGTH = 50.0  # examples that the prior is worth
ROUNDS = 3
PAIRS = 50_000  # to a kernel call
DELETE, INSERT, SUBSTITUTE, TRANSPOSE = range(4)
NEVER = 1e30


class Channel(NamedTuple):
    """Costs of edits from an intended to a typed word, in nats."""

    symbols: np.ndarray  # (s,) int32 code points in order; their rows are 2, 3, ...
    costs: np.ndarray  # (4, s + 2, s + 2): delete, insert, substitute, transpose
    first: float  # what a wrong first letter costs besides

    def rows(self, strings: Strings) -> np.ndarray:
        """The row of every character, int32."""
        at = np.searchsorted(self.symbols, strings.codes)
        at[at == len(self.symbols)] = 0
        known = self.symbols[at] == strings.codes if len(self.symbols) else np.zeros(0, bool)
        return np.where(known, at + OTHER + 1, OTHER).astype(np.int32)


def make_channel(name: str, vocabulary: Strings) -> Channel:
    """A channel that knows nothing but rules, for the letters of a vocabulary.

    >>> channel = make_channel("english", strings_of(["separate"]))
    >>> pairs = [("separate", "seperate"), ("separate", "sepqrate"), ("separate", "separate")]
    >>> costs_of(channel, pairs)
    array([4.7, 6.5, 0. ])
    """
    table = CHANNELS[name]
    found, counts = np.unique(vocabulary.codes, return_counts=True)
    often = found[np.argsort(-counts, kind="stable")[:MOST_SYMBOLS]]
    named = [ord(str(symbol)) for symbol in table.named if symbol]
    symbols = np.unique(np.concatenate([often, np.array(named, np.int32)])).astype(np.int32)
    letters = list(map(chr, symbols.tolist()))
    tables, rows = table.tables(letters)
    # EditCosts gives rows to the letters it names; the others are copies of its "any other".
    order = np.array([START, OTHER, *(rows.get(letter, OTHER) for letter in letters)])
    costs = np.stack([part[np.ix_(order, order)] for part in CostTables(*tables)])
    ease_accents(costs[SUBSTITUTE], letters)
    return Channel(symbols, costs, FIRST_LETTER)


def ease_accents(substitute: np.ndarray, letters: list[str]) -> None:
    """Leaving off an accent, in any language, is the commonest slip; adding one is another."""
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
    (array([4.7]), array([0.28]))
    """
    given = [(a, b) for a, b in pairs if max(len(a), len(b)) <= LONGEST]
    if not given:
        return start
    intended, typed = (strings_of(side) for side in zip(*given, strict=True))
    weight = np.ones(len(given)) if weights is None else np.asarray(weights, np.float64)
    prior, channel = np.exp(-start.costs), start
    for _ in range(rounds):
        counts = np.zeros_like(channel.costs)
        letters = np.zeros(channel.costs.shape[1:])  # [letter before, letter] of the intended
        for i in range(0, len(given), PAIRS):
            check_stop()
            count_edits(
                *intended, channel.rows(intended), *typed, channel.rows(typed), weight,
                i, min(i + PAIRS, len(given)), channel.costs, channel.first,
                counts, letters,
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
    odds = np.empty_like(channel.costs)
    # Occasions: a letter for deletion and substitution, the letter before for insertion.
    by_letter = (counts[DELETE].sum(axis=0) + strength * prior[DELETE].mean(axis=0)) / (
        alone + strength
    )
    backed = 0.5 * (prior[DELETE] + by_letter[None, :])
    odds[DELETE] = (counts[DELETE] + strength * backed) / (letters + strength)
    total = alone.sum() + strength
    by_added = (counts[INSERT].sum(axis=0) + strength * prior[INSERT].mean(axis=0)) / total
    after = alone.copy()
    after[START] = leading[START]
    backed = 0.5 * (prior[INSERT] + by_added[None, :])
    odds[INSERT] = (counts[INSERT] + strength * backed) / (after[:, None] + strength)
    odds[SUBSTITUTE] = (counts[SUBSTITUTE] + strength * prior[SUBSTITUTE]) / (
        alone[:, None] + strength
    )
    odds[TRANSPOSE] = (counts[TRANSPOSE] + strength * prior[TRANSPOSE]) / (letters + strength)
    np.clip(odds, 1e-12, 0.9, out=odds)
    costs = -np.log(odds)
    costs[SUBSTITUTE][np.arange(k), np.arange(k)] = channel.costs[SUBSTITUTE].diagonal()
    return channel._replace(costs=costs)


def costs_of(channel: Channel, pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """The cost of each pair (intended, typed)."""
    intended, typed = (strings_of(list(side)) for side in zip(*pairs, strict=True))
    n = np.arange(len(intended))
    return pair_costs(channel, intended, n, typed, n)


def pair_costs(
    channel: Channel,
    intended: Strings,
    chosen: np.ndarray,
    typed: Strings,
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
                i -= 1
                j -= 1
                continue
            extra = first if i == 1 and j == 1 else 0.0
            if (
                both
                and source[i - 1] != target[j - 1]
                and here == table[i - 1, j - 1] + substitute[this, other[j - 1]] + extra
            ):
                counts[2, this, other[j - 1]] += w
                i -= 1
                j -= 1
            elif i > 0 and here == table[i - 1, j] + delete[before, this]:
                counts[0, before, this] += w
                i -= 1
            elif j > 0 and here == table[i, j - 1] + insert[this, other[j - 1]]:
                counts[1, this, other[j - 1]] += w
                j -= 1
            elif i > 1 and j > 1:
                counts[3, before, this] += w
                i -= 2
                j -= 2
            else:
                break

"""Candidates for typed words, and the likeliest sentence behind a typed one.

A word alone is ranked by its frequency and the channel. In a text every word gets candidates,
and a beam search takes one for each. The score of a path is

    sum of  weight x log P(word | words before it)  +  log P(typed | word)

where the first comes from the tables of an n-gram model and the second from the channel. Paths
that end in the same words have the same future, so only the better one continues; of the others
the best ``beam`` do. With a beam as wide as there are paths the answer is exact. A word outside
the vocabulary has a log probability of zero in the language model here; the cost of a new word
is part of its channel score.

One file: only the search uses the scores of the candidates.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.language.backoff_tables import Tables, next_state
from tacit.language.channel import Channel, pair_costs, sum_letters
from tacit.language.corrections import Change, Correction, Suggestion, explain_edits
from tacit.language.deletion_index import (
    LONGEST,
    Candidates,
    DeletionIndex,
    find_words,
    strings_of,
)
from tacit.language.sentences import FIRST, START, UNKNOWN
from tacit.language.spelling_text import Token, key_of, match_case, tokens_of

__all__ = [
    "Lattice", "Lexicon", "Speller", "best_path", "best_words", "correct_texts",
    "score_candidates_at", "suggestions",
]  # fmt: skip


SPAN = 4_000  # words per kernel call: some 100 ms
LN10 = float(np.log(10.0))
# Tuned on big.txt against clean novels; docs/spelling.md has the figures, and
# tests/language/test_spelling_data.py would notice.
NOVEL = -3.5  # log of how often a word is new to the vocabulary
NAME = 8.8  # added to it for all capitals; half of it for a capital after a full stop
FORMED = 12.0  # added to it for a regular form of a known word
AGAIN = -13.0  # log P of a new word where the text has it already
REAL = -1.5  # log of how much rarer errors are that give another word
ENDINGS = (
    "'s", "'d", "s", "es", "ed", "d", "ing", "er", "ers", "est", "r", "st", "ly", "ness",
    "less", "like",
)  # fmt: skip
PREFIXES = ("un", "re", "out", "over", "under")
CLOSED = re.compile("[^aeiou][aeiou][^aeiouwxy]$")  # a stem whose last letter doubles
SPLIT = 4.5  # what it costs to leave out a space
SPLIT_LETTERS = frozenset("ai")  # words of one letter
SPLIT_LEAST = -11.5  # log P of each part, at least: rarer ones are rather endings


@dataclass(frozen=True, eq=False)
class Lexicon:
    """What follows from a vocabulary, and is computed once."""

    index: DeletionIndex
    numbers: dict[str, int]
    rows: np.ndarray  # of the vocabulary in the channel
    logs: np.ndarray  # log P of each word


@dataclass(frozen=True, eq=False)
class Speller(Lexicon):
    """A fitted corrector, as the search needs it."""

    channel: Channel
    words: list[str]
    counts: np.ndarray
    letters: np.ndarray
    tables: Tables
    error_rate: float
    weight: float  # of the prior, for single words
    context: float  # and for words in a text
    real_words: bool
    beam: int
    n_candidates: int


class Scored(NamedTuple):
    """Candidates of each key, the best first."""

    edges: np.ndarray  # (keys + 1,)
    words: np.ndarray
    distances: np.ndarray
    channel: np.ndarray  # log P(typed | word), right or wrong
    costs: np.ndarray  # of the edits alone
    scores: np.ndarray  # with the prior


def score_candidates(speller: Speller, keys: Sequence[str], weight: float) -> Scored:
    """Every candidate of every key with its score, without context."""
    queries = strings_of(keys)
    edges, words, distances = drop_unrelated(
        find_words(speller.index, queries), queries.sizes(), speller.index.vocabulary.sizes()
    )
    key = np.repeat(np.arange(len(keys)), np.diff(edges))
    costs = pair_costs(
        speller.channel, speller.index.vocabulary, words, queries, key, rows=speller.rows
    )
    right = np.log1p(-speller.error_rate)
    channel = np.where(distances == 0, right, np.log(speller.error_rate) - costs)
    scores = channel + weight * speller.logs[words]
    order = np.lexsort((words, -scores, key))
    columns = words, distances, channel, costs, scores
    return Scored(edges, *(column[order] for column in columns))


def drop_unrelated(candidates: Candidates, typed: np.ndarray, sizes: np.ndarray) -> Candidates:
    """Candidates without words of which not one letter was typed, by the lengths of both."""
    edges, words, distances = candidates
    longer = np.maximum(np.repeat(typed, np.diff(edges)), sizes[words])
    keep = distances < np.maximum(longer, 1)
    counts = np.concatenate([[0], np.cumsum(keep)])
    return Candidates(counts[edges], words[keep], distances[keep])


# --- Single words ---


def suggestions(speller: Speller, word: str, top: int) -> list[Suggestion]:
    """The likeliest candidates for a word, with their probability among all."""
    scored = score_candidates(speller, [key_of(word)], speller.weight)
    p = np.exp(scored.scores - scored.scores.max(initial=-np.inf))
    p /= max(p.sum(), 1e-300)
    return [
        Suggestion(
            match_case(speller.words[scored.words[i]], word),
            float(p[i]),
            int(scored.distances[i]),
            float(scored.costs[i]),
            int(speller.counts[scored.words[i]]),
        )
        for i in range(min(max(top, 0), len(p)))
    ]


def best_words(speller: Speller, words: list[str]) -> list[str]:
    """The likeliest word for each; a word that exists is itself."""
    keys = list(map(key_of, words))
    wanted = sorted({key for key in keys if key not in speller.numbers})
    scored = score_candidates(speller, wanted, speller.weight)
    best = {
        key: speller.words[scored.words[first]]
        for key, (first, end) in zip(wanted, pairwise(scored.edges.tolist()), strict=True)
        if first < end
    }
    return [
        match_case(best[key], word) if key in best else word
        for key, word in zip(keys, words, strict=True)
    ]


# --- Words in sentences ---


class Option(NamedTuple):
    """What a typed word may stand for."""

    id: int  # in the language model
    second: int  # the next word, where a space was left out; else -1
    score: float  # log P(typed | it)
    word: str


class Lattice(NamedTuple):
    """The candidates of each word of some sentences."""

    sentences: np.ndarray  # (n + 1,) int64: where the words of each sentence begin
    edges: np.ndarray  # (words + 1,) int64: where the candidates of each word begin
    ids: np.ndarray  # int32, of the candidates in the language model
    seconds: np.ndarray  # int32: the next word, for a candidate of two; else -1
    scores: np.ndarray  # float64: log P(typed | candidate)


def correct_texts(speller: Speller, texts: list[str]) -> list[Correction]:
    """Correct independent texts in one search."""
    tokens = [list(tokens_of(text)) for text in texts]
    keys = {token.key for part in tokens for token in part if not token.fixed}
    options = options_of(speller, sorted(keys))
    choices: list[list[Option]] = []
    for text, part in zip(texts, tokens, strict=True):
        uses = Counter(token.key for token in part)
        choices += [
            options_in_context(speller, token, options.get(token.key, []), text.isupper(), uses)
            for token in part
        ]
    lattice = make_lattice([token for part in tokens for token in part], choices)
    path = best_path(lattice, speller.tables, weight=speller.context, beam=speller.beam)
    out, at = [], 0
    for text, part in zip(texts, tokens, strict=True):
        changes = []
        for token in part:
            chosen = int(path[at] - lattice.edges[at])
            word = choices[at][chosen].word
            if word != token.key and match_case(word, token.text) != token.text:
                scores = score_candidates_at(
                    lattice, path, at, speller.tables, weight=speller.context
                )
                known = token.key in speller.numbers
                changes.append(make_change(token, choices[at], chosen, scores, known))
            at += 1
        out.append(apply_changes(text, changes))
    return out


def options_of(speller: Speller, keys: list[str]) -> dict[str, list[Option]]:
    """The candidates of each key, the best few by frequency and channel; none for a word that
    is not to be changed."""
    scored = score_candidates(speller, keys, speller.context)
    strings = strings_of(keys)
    novel = np.empty(len(keys))
    sum_letters(speller.channel.rows(strings), strings.offsets, speller.letters, novel)
    formed = np.array([is_regular_form(key, speller.numbers) for key in keys], bool)
    novel += NOVEL + np.where(formed, FORMED, 0.0)
    right = float(np.log1p(-speller.error_rate))
    novel = right + speller.context * novel
    out = {}
    edges = scored.edges.tolist()
    for i, key in enumerate(keys):
        known = key in speller.numbers
        if (known and not speller.real_words) or is_possessive(speller, key):
            continue
        part = slice(edges[i], min(edges[i + 1], edges[i] + speller.n_candidates))
        options = []
        for w, score in zip(
            scored.words[part].tolist(), scored.channel[part].tolist(), strict=True
        ):
            word = speller.words[w]
            options.append(Option(FIRST + w, -1, score + REAL * (known and word != key), word))
        if not known:
            options.append(Option(UNKNOWN, -1, float(novel[i]), key))
            options += split_word(speller, key)
        elif all(option.word != key for option in options):  # crowded out by more frequent ones
            options.append(Option(FIRST + speller.numbers[key], -1, right, key))
        out[key] = options
    return out


def is_regular_form(word: str, known: Mapping[str, int]) -> bool:
    """Whether a word is a known one with a regular English ending, or a prefix.

    >>> [is_regular_form(w, {"wish": 0, "jingle": 1}) for w in ("wishes", "jingling", "wishs")]
    [True, True, False]
    >>> is_regular_form("occured", {"occur": 0})
    False
    >>> [is_regular_form(w, {"haughty": 0, "visible": 1}) for w in ("haughtily", "visibly")]
    [True, True]
    """
    for ending in ENDINGS:
        stem = word.removesuffix(ending)
        if len(stem) < 4 or stem == word:
            continue
        vowel = ending[0] in "ei"
        if stem in known:
            hissing = re.search("(?:[sxz]|[cs]h)$", stem) is not None
            if ending == "s" and not hissing and not re.search("[^aeiou]y$", stem):
                return True
            if ending == "es" and (hissing or stem[-1] == "o"):
                return True
            if ending in ("d", "r", "st") and stem[-1] == "e":
                return True
            if ending in ("ed", "ing", "er", "ers", "est"):
                if stem[-1] != "e" and not CLOSED.search(stem):
                    return True
            elif ending not in ("s", "es", "d", "r", "st"):
                return True
        if ending == "ing" and stem + "e" in known:
            return True
        soft = vowel or ending in ("ly", "ness")
        if soft and stem[-1] == "i" and stem[:-1] + "y" in known:
            return True
        once = stem[:-1]
        if vowel and stem[-1] == stem[-2] and once in known and CLOSED.search(once):
            return True
    if word.endswith("bly") and word[:-1] + "e" in known:
        return True
    return any(
        word.startswith(prefix) and len(word) > len(prefix) + 3 and word[len(prefix) :] in known
        for prefix in PREFIXES
    )


def is_possessive(speller: Speller, key: str) -> bool:
    """A known word with 's is known."""
    return key not in speller.numbers and key[-2:] == "'s" and key[:-2] in speller.numbers


def split_word(speller: Speller, key: str) -> Iterator[Option]:
    """The best way to read an unknown word as two, if there is one."""
    if len(key) > LONGEST:  # the index has no other words for it; and every part is a copy
        return
    best, where = -np.inf, 0
    for i in range(1, len(key)):
        a, b = key[:i], key[i:]
        if a in speller.numbers and b in speller.numbers:
            small = [part for part in (a, b) if len(part) == 1]
            if any(part not in SPLIT_LETTERS for part in small):
                continue
            logs = speller.logs[speller.numbers[a]], speller.logs[speller.numbers[b]]
            if min(logs) > SPLIT_LEAST and sum(logs) > best:
                best, where = float(sum(logs)), i
    if where:
        a, b = key[:where], key[where:]
        score = float(np.log(speller.error_rate)) - SPLIT
        first, second = FIRST + speller.numbers[a], FIRST + speller.numbers[b]
        yield Option(first, second, score, f"{a} {b}")


def options_in_context(
    speller: Speller, token: Token, options: list[Option], upper: bool, uses: Counter[str]
) -> list[Option]:
    """The candidates of a word in its place; ``upper`` tells whether all of its text is in
    capitals, ``uses`` how often the text has each word."""
    known = token.key in speller.numbers
    capital = token.text[:1].isupper() and not upper
    name = capital and not token.first
    if token.fixed or not options or (name and (known or not token.text.isupper())):
        id = FIRST + speller.numbers[token.key] if known else UNKNOWN
        return [Option(id, -1, 0.0, token.key)]
    if known and not capital:
        return options
    bonus = speller.context * (NAME if name else NAME / 2 if capital else 0.0)
    # The letters of a new word are chosen once, however often the text has it.
    again = 0.0 if known else 1.0 - 1.0 / uses[token.key]
    least = float(np.log1p(-speller.error_rate)) + speller.context * AGAIN
    return [
        option._replace(score=option.score + again * max(0.0, least - option.score) + bonus)
        if option.word == token.key
        else option
        for option in options
    ]


def make_lattice(tokens: list[Token], choices: list[list[Option]]) -> Lattice:
    """The candidates of all words as arrays."""
    starts = [i for i, token in enumerate(tokens) if token.first]
    flat = [option for options in choices for option in options]
    return Lattice(
        np.array([*starts, len(tokens)], np.int64),
        np.cumsum([0, *map(len, choices)], dtype=np.int64),
        np.array([option.id for option in flat], np.int32),
        np.array([option.second for option in flat], np.int32),
        np.array([option.score for option in flat], np.float64),
    )


def make_change(
    token: Token, options: list[Option], chosen: int, scores: np.ndarray, known: bool
) -> Change:
    """A change with its probability, reason and alternatives."""
    p = np.exp(scores - scores.max())
    p /= p.sum()
    order = np.argsort(-p, kind="stable").tolist()
    words = [match_case(option.word, token.text) for option in options]
    edits = explain_edits(options[chosen].word, token.key)
    return Change(
        token.start, token.stop, token.text, words[chosen],
        "real word" if known else "unknown word", float(p[chosen]),
        f"does not fit here; {edits}" if known else f"unknown word; {edits}",
        tuple([words[i] for i in order if i != chosen][:3]),
    )  # fmt: skip


def apply_changes(text: str, changes: list[Change]) -> Correction:
    parts, at = [], 0
    for change in changes:
        parts += [text[at : change.start], change.after]
        at = change.stop
    return Correction("".join([*parts, text[at:]]), text, tuple(changes))


# --- The best path ---


def best_path(lattice: Lattice, tables: Tables, *, weight: float, beam: int) -> np.ndarray:
    """The best candidate of each word, int64 indices into ``lattice.ids``."""
    check_searchable(tables)
    chosen = np.full(len(lattice.edges) - 1, -1, np.int64)
    n, at = len(lattice.sentences) - 1, 0
    while at < n:
        check_stop()
        limit = lattice.sentences[at] + SPAN
        stop = max(at + 1, int(np.searchsorted(lattice.sentences, limit, side="right")) - 1)
        stop = min(stop, n)
        search_sentences(lattice, at, stop, tables, weight * LN10, beam, chosen)
        at = stop
    return chosen


def score_candidates_at(
    lattice: Lattice, chosen: np.ndarray, at: int, tables: Tables, *, weight: float
) -> np.ndarray:
    """The score of every candidate of one word, with the others as chosen."""
    check_searchable(tables)
    s = int(np.searchsorted(lattice.sentences, at, side="right")) - 1
    first, last = int(lattice.sentences[s]), int(lattice.sentences[s + 1])
    low = max(first, at - tables.order)
    high = min(last, at + tables.order)
    out = np.empty(lattice.edges[at + 1] - lattice.edges[at])
    score_at(lattice, chosen, low, at, high, low == first, tables, weight * LN10, out)
    return out


def check_searchable(tables: Tables) -> None:
    if tables.absolute or tables.prob_values is not None:
        raise ValueError(
            "Correction needs a language model that is neither quantized nor smoothed by "
            "add-k. Choose smoothing='modified-kneser-ney'."
        )


# --- Kernels ---


@kernel(inline="always")
def advance(tables, state, w, second, spare, new):
    """log10 of the probability of one or two words after a state, and the state after them."""
    if second < 0:
        return advance_word(tables, state, w, new)
    score = advance_word(tables, state, w, spare)
    return score + advance_word(tables, spare, second, new)


@kernel(inline="always")
def advance_word(tables, state, w, new):
    if w == UNKNOWN:
        new[:] = -1
        if len(new):
            new[0] = UNKNOWN
        return 0.0
    return next_state(tables, state, w, new)


@kernel
def place_path(score, state, from_slot, cand, scores, states, slots, cands, used):
    """Put a path into the beam, if there is room or a worse one. Returns how many there are."""
    for b in range(used):
        same = True
        for k in range(states.shape[1]):
            if states[b, k] != state[k]:
                same = False
                break
        if same:
            if score > scores[b]:
                scores[b], slots[b], cands[b] = score, from_slot, cand
            return used
    at = used
    if used == len(scores):
        at = 0
        for b in range(1, used):
            if scores[b] < scores[at]:
                at = b
        if score <= scores[at]:
            return used
    else:
        used += 1
    scores[at], slots[at], cands[at] = score, from_slot, cand
    states[at, :] = state
    return used


@kernel
def search_sentences(lattice, first, last, tables, factor, beam, chosen):
    sentences, edges = lattice.sentences, lattice.edges
    width = max(1, len(tables.sizes) - 1)
    longest = 0
    for s in range(first, last):
        longest = max(longest, sentences[s + 1] - sentences[s])
    slots, cands = np.empty((longest, beam), np.int32), np.empty((longest, beam), np.int64)
    states, next_states = np.empty((beam, width), np.int32), np.empty((beam, width), np.int32)
    scores, next_scores = np.empty(beam), np.empty(beam)
    spare, new = np.empty(width, np.int32), np.empty(width, np.int32)
    for s in range(first, last):
        begin, stop = sentences[s], sentences[s + 1]
        states[0, :] = -1
        states[0, 0] = START
        scores[0] = 0.0
        used = 1
        for t in range(begin, stop):
            count = 0
            for b in range(used):
                for c in range(edges[t], edges[t + 1]):
                    gained = advance(
                        tables, states[b], lattice.ids[c], lattice.seconds[c], spare, new
                    )
                    score = scores[b] + factor * gained + lattice.scores[c]
                    count = place_path(
                        score, new, b, c, next_scores, next_states,
                        slots[t - begin], cands[t - begin], count,
                    )  # fmt: skip
            states, next_states = next_states, states
            scores, next_scores = next_scores, scores
            used = count
        best = 0
        for b in range(1, used):
            if scores[b] > scores[best]:
                best = b
        for t in range(stop - 1, begin - 1, -1):
            chosen[t] = cands[t - begin, best]
            best = slots[t - begin, best]


@kernel
def score_at(lattice, chosen, low, at, high, from_start, tables, factor, out):
    """Scores of the candidates of word ``at``, by the words from ``low`` to ``high``."""
    width = max(1, len(tables.sizes) - 1)
    state, new = np.empty(width, np.int32), np.empty(width, np.int32)
    spare = np.empty(width, np.int32)
    for q in range(len(out)):
        state[:] = -1
        if from_start:
            state[0] = START
        total = 0.0
        for t in range(low, high):
            c = lattice.edges[at] + q if t == at else chosen[t]
            gained = advance(tables, state, lattice.ids[c], lattice.seconds[c], spare, new)
            state, new = new, state
            if t >= at:
                total += factor * gained
        out[q] = total + lattice.scores[lattice.edges[at] + q]

"""Candidates for words, and the best of them: alone, and in their sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.language.backoff_tables import Tables
from tacit.language.channel import Channel, pair_costs
from tacit.language.correction_search import Lattice, best_path, weigh
from tacit.language.corrections import Change, Correction, Suggestion, explain_edits
from tacit.language.deletion_index import (
    LONGEST,
    Candidates,
    DeletionIndex,
    find_words,
    strings_of,
)
from tacit.language.sentences import FIRST, UNKNOWN
from tacit.language.spelling_fit import sum_letters
from tacit.language.spelling_text import Token, in_case_of, key_of, tokens_of

__all__ = ["Parts", "Speller", "best_words", "correct_texts", "suggestions"]

NOVEL = -8.1  # log of how often a word is new to the vocabulary
NAME = 8.8  # and what a capital inside a sentence adds to it
SPLIT = 4.5  # what it costs to leave out a space
SPLIT_LETTERS = frozenset("ai")  # words of one letter
SPLIT_LEAST = -11.5  # log P of each part, at least: rarer ones are rather endings


@dataclass(frozen=True, eq=False)
class Parts:
    """What follows from a vocabulary, and is made once."""

    index: DeletionIndex
    places: dict[str, int]
    rows: np.ndarray  # of the vocabulary in the channel
    logs: np.ndarray  # log P of each word


@dataclass(frozen=True, eq=False)
class Speller(Parts):
    """The parts of a fitted corrector."""

    channel: Channel
    words: list[str]
    counts: np.ndarray
    letters: np.ndarray
    tables: Tables
    error_rate: float
    weight: float  # of the prior, for words alone
    context: float  # and for words in a text
    real_words: bool
    beam: int
    n_candidates: int


class Scored(NamedTuple):
    """Candidates of some keys, the best of each first."""

    edges: np.ndarray  # (keys + 1,)
    words: np.ndarray
    distances: np.ndarray
    channel: np.ndarray  # log P(typed | word), right or wrong
    costs: np.ndarray  # of the edits alone
    scores: np.ndarray  # with the prior


def score_candidates(speller: Speller, keys: Sequence[str], weight: float) -> Scored:
    """Every candidate of every key with its score, without context."""
    queries = strings_of(keys)
    found = with_something_in_common(
        find_words(speller.index, queries), queries.sizes(), speller.index.vocabulary.sizes()
    )
    owner = np.repeat(np.arange(len(keys)), np.diff(found.edges))
    costs = pair_costs(
        speller.channel, speller.index.vocabulary, found.words, queries, owner,
        rows=speller.rows,
    )  # fmt: skip
    right = np.log1p(-speller.error_rate)
    channel = np.where(found.distances == 0, right, np.log(speller.error_rate) - costs)
    scores = channel + weight * speller.logs[found.words]
    order = np.lexsort((found.words, -scores, owner))
    return Scored(
        found.edges, found.words[order], found.distances[order], channel[order], costs[order],
        scores[order],
    )  # fmt: skip


def with_something_in_common(
    found: Candidates, typed: np.ndarray, words: np.ndarray
) -> Candidates:
    """Without words of which not one letter was typed: a is not what x was meant to be."""
    longer = np.maximum(np.repeat(typed, np.diff(found.edges)), words[found.words])
    keep = found.distances < np.maximum(longer, 1)
    kept = np.concatenate([[0], np.cumsum(keep)])
    return Candidates(kept[found.edges], found.words[keep], found.distances[keep])


# --- Words alone ---


def suggestions(speller: Speller, word: str, top: int) -> list[Suggestion]:
    """The likeliest candidates for a word, with their share among all."""
    scored = score_candidates(speller, [key_of(word)], speller.weight)
    share = np.exp(scored.scores - scored.scores.max(initial=-np.inf))
    share /= max(share.sum(), 1e-300)
    return [
        Suggestion(
            in_case_of(speller.words[scored.words[i]], word),
            float(share[i]),
            int(scored.distances[i]),
            float(scored.costs[i]),
            int(speller.counts[scored.words[i]]),
        )
        for i in range(min(max(top, 0), len(share)))
    ]


def best_words(speller: Speller, words: list[str]) -> list[str]:
    """The likeliest word for each; a word that exists is itself."""
    keys = list(map(key_of, words))
    wanted = sorted({key for key in keys if key not in speller.places})
    scored = score_candidates(speller, wanted, speller.weight)
    first = scored.edges[:-1]
    filled = np.diff(scored.edges) > 0
    best = {
        key: speller.words[w]
        for key, w in zip(
            (key for key, full in zip(wanted, filled.tolist(), strict=True) if full),
            scored.words[first[filled]].tolist(),
            strict=True,
        )
    }
    return [
        in_case_of(best[key], word) if key in best else word
        for key, word in zip(keys, words, strict=True)
    ]


# --- Words in their sentences ---


class Options(NamedTuple):
    """What a typed word may stand for: (id, second id or -1, log P(typed | it), text)."""

    ids: list[int]
    seconds: list[int]
    scores: list[float]
    words: list[str]
    known: bool


def correct_texts(speller: Speller, texts: list[str]) -> list[Correction]:
    """Correct texts that have nothing to do with each other, in one search."""
    tokens = [list(tokens_of(text)) for text in texts]
    open_keys = {t.key for part in tokens for t in part if not t.fixed}
    options = options_of(speller, sorted(open_keys))
    flat = [token for part in tokens for token in part]
    shouting = [text.isupper() for text, part in zip(texts, tokens, strict=True) for _ in part]
    lattice, chosen_words, changed = make_lattice(speller, flat, shouting, options)
    path = best_path(lattice, speller.tables, weight=speller.context, beam=speller.beam)
    out, at = [], 0
    for text, part in zip(texts, tokens, strict=True):
        changes = []
        for token in part:
            place = int(path[at])
            after = token.text
            if changed[place]:
                after = in_case_of(chosen_words[place], token.text)
            if after != token.text:
                changes.append(make_change(speller, token, after, lattice, path, at, options))
            at += 1
        out.append(apply(text, changes))
    return out


def options_of(speller: Speller, keys: list[str]) -> dict[str, Options]:
    """The candidates of each key, the best few by frequency and channel."""
    scored = score_candidates(speller, keys, speller.context)
    strings = strings_of(keys)
    novel = np.empty(len(keys))
    sum_letters(speller.channel.rows(strings), strings.offsets, speller.letters, novel)
    novel = np.log1p(-speller.error_rate) + speller.context * (NOVEL + novel)
    out = {}
    edges = scored.edges.tolist()
    for i, key in enumerate(keys):
        known = key in speller.places
        made = Options([], [], [], [], known)
        if (known and not speller.real_words) or is_possessive(speller, key):
            out[key] = made
            continue
        part = slice(edges[i], min(edges[i + 1], edges[i] + speller.n_candidates))
        for w, score in zip(
            scored.words[part].tolist(), scored.channel[part].tolist(), strict=True
        ):
            made.ids.append(FIRST + w)
            made.seconds.append(-1)
            made.scores.append(score)
            made.words.append(speller.words[w])
        if not known:
            made.ids.append(UNKNOWN)
            made.seconds.append(-1)
            made.scores.append(float(novel[i]))
            made.words.append(key)
            add_split(speller, key, made)
        elif key not in made.words:  # crowded out by more frequent neighbours
            made.ids.append(FIRST + speller.places[key])
            made.seconds.append(-1)
            made.scores.append(float(np.log1p(-speller.error_rate)))
            made.words.append(key)
        out[key] = made
    return out


def is_possessive(speller: Speller, key: str) -> bool:
    """A known word with 's is known."""
    return key not in speller.places and key[-2:] == "'s" and key[:-2] in speller.places


def add_split(speller: Speller, key: str, made: Options) -> None:
    """The best way to read an unknown word as two."""
    if len(key) > LONGEST:  # its own only candidate; and every part of it is a copy
        return
    best, where = -np.inf, 0
    for i in range(1, len(key)):
        a, b = key[:i], key[i:]
        if a in speller.places and b in speller.places:
            small = [part for part in (a, b) if len(part) == 1]
            if any(part not in SPLIT_LETTERS for part in small):
                continue
            logs = speller.logs[speller.places[a]], speller.logs[speller.places[b]]
            if min(logs) > SPLIT_LEAST and sum(logs) > best:
                best, where = float(sum(logs)), i
    if where:
        a, b = key[:where], key[where:]
        made.ids.append(FIRST + speller.places[a])
        made.seconds.append(FIRST + speller.places[b])
        made.scores.append(float(np.log(speller.error_rate)) - SPLIT)
        made.words.append(f"{a} {b}")


def make_lattice(
    speller: Speller, tokens: list[Token], shouting: list[bool], options: dict[str, Options]
) -> tuple[Lattice, list[str], list[bool]]:
    """Candidates of all words; and, of each candidate, its word and whether it is another."""
    ids: list[int] = []
    seconds: list[int] = []
    scores: list[float] = []
    words: list[str] = []
    changed: list[bool] = []
    edges, sentences = [0], []
    for i, (token, loud) in enumerate(zip(tokens, shouting, strict=True)):
        if token.first:
            sentences.append(i)
        made = options.get(token.key)
        name = token.text[:1].isupper() and not token.first and not loud
        if token.fixed or made is None or not made.ids or (made.known and name):
            ids.append(FIRST + speller.places[token.key] if token.key in speller.places else 0)
            seconds.append(-1)
            scores.append(0.0)
            words.append(token.key)
            changed.append(False)
        else:
            ids += made.ids
            seconds += made.seconds
            words += made.words
            same = [word == token.key for word in made.words]
            changed += [not each for each in same]
            bonus = speller.context * NAME if name else 0.0
            scores += [
                score + bonus if each else score
                for score, each in zip(made.scores, same, strict=True)
            ]
        edges.append(len(ids))
    sentences.append(len(tokens))
    lattice = Lattice(
        np.array(sentences, np.int64),
        np.array(edges, np.int64),
        np.array(ids, np.int32),
        np.array(seconds, np.int32),
        np.array(scores, np.float64),
    )
    return lattice, words, changed


def make_change(
    speller: Speller,
    token: Token,
    after: str,
    lattice: Lattice,
    path: np.ndarray,
    at: int,
    options: dict[str, Options],
) -> Change:
    """What to say about a change: how sure, why, and what else there was."""
    made = options[token.key]
    scores = weigh(lattice, path, at, speller.tables, weight=speller.context)
    share = np.exp(scores - scores.max())
    share /= share.sum()
    order = np.argsort(-share, kind="stable")
    mine = int(path[at] - lattice.edges[at])
    others = [made.words[i] for i in order.tolist() if i != mine][:3]
    kind = "real word" if made.known else "unknown word"
    said = explain_edits(made.words[mine], token.key)
    why = f"does not fit here; {said}" if made.known else f"unknown word; {said}"
    return Change(
        token.start, token.stop, token.text, after, kind, float(share[mine]), why,
        tuple(in_case_of(word, token.text) for word in others),
    )  # fmt: skip


def apply(text: str, changes: list[Change]) -> Correction:
    parts, at = [], 0
    for change in changes:
        parts += [text[at : change.start], change.after]
        at = change.stop
    return Correction("".join([*parts, text[at:]]), text, tuple(changes))

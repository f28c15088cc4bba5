"""The likeliest sentence behind a typed one: a beam over candidates for every word.

A path takes one candidate for each word. Its score is

    sum of  weight x log P(word | words before it)  +  log P(typed | word)

where the first comes from the tables of an n-gram model and the second, which holds all that is
known of the typing, is given. Paths that end in the same words have the same future, so the
better one goes on; of the rest the best ``beam`` do. With a beam as wide as there are paths the
answer is exact. A word outside the model's vocabulary has a log probability of zero here: what
it costs to be new is part of what is given.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.language.backoff_tables import Tables
from tacit.language.sentences import START, UNKNOWN

__all__ = ["Lattice", "best_path", "weigh"]

SPAN = 4_000  # words to a kernel call: some 100 ms
LN10 = float(np.log(10.0))
LOWEST = -1e300


class Lattice(NamedTuple):
    """What each word of some sentences may stand for."""

    sentences: np.ndarray  # (n + 1,) int64: where the words of each sentence begin
    edges: np.ndarray  # (words + 1,) int64: where the candidates of each word begin
    ids: np.ndarray  # int32, of the candidates in the language model
    seconds: np.ndarray  # int32: the next word, for a candidate of two; else -1
    scores: np.ndarray  # float64: log P(typed | candidate)


def best_path(lattice: Lattice, tables: Tables, *, weight: float, beam: int) -> np.ndarray:
    """Which candidate to take for each word, int64 places in ``lattice.ids``."""
    chosen = np.full(len(lattice.edges) - 1, -1, np.int64)
    arrays, factor = plain(tables), weight * LN10
    n, at = len(lattice.sentences) - 1, 0
    while at < n:
        check_stop()
        limit = lattice.sentences[at] + SPAN
        stop = max(at + 1, int(np.searchsorted(lattice.sentences, limit, side="right")) - 1)
        stop = min(stop, n)
        search_sentences(*lattice, at, stop, *arrays, tables.order, factor, beam, chosen)
        at = stop
    return chosen


def weigh(
    lattice: Lattice, chosen: np.ndarray, at: int, tables: Tables, *, weight: float
) -> np.ndarray:
    """The score of every candidate of one word, with the others as chosen."""
    s = int(np.searchsorted(lattice.sentences, at, side="right")) - 1
    first, last = int(lattice.sentences[s]), int(lattice.sentences[s + 1])
    low = max(first, at - tables.order)
    high = min(last, at + tables.order)
    out = np.empty(lattice.edges[at + 1] - lattice.edges[at])
    weigh_word(
        lattice.edges, lattice.ids, lattice.seconds, lattice.scores, chosen, low, at, high,
        low == first, *plain(tables), tables.order, weight * LN10, out,
    )  # fmt: skip
    return out


def plain(tables: Tables) -> tuple[np.ndarray, ...]:
    """The arrays that the kernels read."""
    if tables.absolute or tables.prob_values is not None:
        raise ValueError(
            "Correction needs a language model that is neither quantized nor smoothed by "
            "add-k. Choose smoothing='modified-kneser-ney'."
        )
    return tables.words, tables.children, tables.probs, tables.backoffs


# --- Kernels ---


@kernel
def extend(state, w, order, words, children, probs, backoffs, new):
    """log10 P(w | state), and the state after it. A state is the places of the n-grams of
    1, 2, ... words that end here; -1 for one that is not in the tables."""
    if w == UNKNOWN:
        new[0] = UNKNOWN
        for k in range(1, len(new)):
            new[k] = -1
        return 0.0
    score = np.float64(probs[w])
    if len(new):
        new[0] = w
    for k in range(1, order):
        h = state[k - 1]
        found = -1
        if h >= 0:
            low, high = children[h], children[h + 1]
            end = high
            while low < high:
                middle = (low + high) >> 1
                if words[middle] < w:
                    low = middle + 1
                else:
                    high = middle
            if low < end and words[low] == w:
                found = low
                score = np.float64(probs[low])
            else:
                score += backoffs[h]
        if k < len(new):
            new[k] = found
    return score


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
def search_sentences(
    sentences, edges, ids, seconds, given, first, last, words, children, probs, backoffs,
    order, factor, beam, chosen,
):  # fmt: skip
    width = max(1, order - 1)
    longest = 0
    for s in range(first, last):
        longest = max(longest, sentences[s + 1] - sentences[s])
    slots, cands = np.empty((longest, beam), np.int32), np.empty((longest, beam), np.int64)
    states, next_states = np.empty((beam, width), np.int32), np.empty((beam, width), np.int32)
    scores, next_scores = np.empty(beam), np.empty(beam)
    new, newer = np.empty(width, np.int32), np.empty(width, np.int32)
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
                    gained = extend(
                        states[b], ids[c], order, words, children, probs, backoffs, new
                    )
                    end = new
                    if seconds[c] >= 0:
                        gained += extend(
                            new, seconds[c], order, words, children, probs, backoffs, newer
                        )
                        end = newer
                    score = scores[b] + factor * gained + given[c]
                    count = place_path(
                        score, end, b, c, next_scores, next_states,
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
def weigh_word(
    edges, ids, seconds, given, chosen, low, at, high, from_start, words, children, probs,
    backoffs, order, factor, out,
):  # fmt: skip
    """Scores of the candidates of word ``at``, by the words from ``low`` to ``high``."""
    width = max(1, order - 1)
    state, new = np.empty(width, np.int32), np.empty(width, np.int32)
    for q in range(len(out)):
        state[:] = -1
        if from_start:
            state[0] = START
        total = 0.0
        for t in range(low, high):
            c = edges[at] + q if t == at else chosen[t]
            gained = extend(state, ids[c], order, words, children, probs, backoffs, new)
            state[:] = new
            if seconds[c] >= 0:
                gained += extend(
                    state, seconds[c], order, words, children, probs, backoffs, new
                )
                state[:] = new
            if t >= at:
                total += factor * gained
        out[q] = total + given[edges[at] + q]

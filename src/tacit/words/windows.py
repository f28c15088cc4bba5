"""CBOW, hierarchical softmax and full softmax: training window by window, in text order.

    h       the mean of the vectors of the context (CBOW), or one of them after the other
    visit   a step for h and for the output vectors that the center needs:
              negative sampling      the center's and those of a few random words
              hierarchical softmax   those of the inner nodes on the path to the center
              softmax                all of them: exact, for small vocabularies

Every window reads rows that any other may have changed (the root of the tree, all words of a
context), so an ordered pass is one sequence of steps: its result cannot depend on threads, and
a second thread does not help it. ``updates="hogwild"`` runs chunks of text at the same time.

The tree of hierarchical softmax is Huffman's: a frequent word has a short path. With
probabilities s(c . x) and 1 - s(c . x) at the two branches of an inner node, those of all
leaves sum to one, at the cost of one path instead of all words.

CBOW divides the gradient of the mean among the words of the context, which word2vec and gensim
forget. Mikolov, Chen, Corrado and Dean (2013), Efficient estimation of word representations in
vector space. ICLR workshop. Irsoy, Benton and Stratos (2021), Corrected CBOW performs as well
as skip-gram. Workshop on Insights from Negative Results in NLP. Huffman (1952), A method for
the construction of minimum-redundancy codes. Proc. IRE 40. Morin and Bengio (2005),
Hierarchical probabilistic neural network language model. AISTATS.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.randoms import bits, key
from tacit.core.sweep import Sequential, Visited
from tacit.words.skip_gram import (
    CELL,
    LANES,
    REORDER,
    Noise,
    Schedule,
    Steps,
    Weights,
    draw_word,
    log_logistic,
    logistic,
    noise_tables,
)

__all__ = [
    "HIERARCHICAL", "NEGATIVE", "SOFTMAX", "Paths", "WindowOrder", "graft", "huffman_paths",
]  # fmt: skip

U = np.uint64
F = np.float32
NEGATIVE, HIERARCHICAL, SOFTMAX = 0, 1, 2
CALL = 100_000_000  # multiplications of one kernel call, about 50 ms


# --- The tree of hierarchical softmax ---


class Paths(NamedTuple):
    """The inner nodes from the root to each word, and the branches taken there."""

    edges: np.ndarray  # int64, (v + 1,)
    nodes: np.ndarray  # int32
    codes: np.ndarray  # uint8, 0 or 1


def huffman_paths(counts: np.ndarray) -> Paths:
    """The tree of words whose counts descend; counts of zero count as one.

    Examples
    --------
    >>> paths = huffman_paths(np.array([5, 2, 1, 1]))
    >>> np.diff(paths.edges)
    array([1, 2, 3, 3])
    """
    counts = np.maximum(np.asarray(counts, np.int64), 1)
    if (np.diff(counts) > 0).any():
        raise ValueError("huffman_paths needs counts in descending order. Sort them first.")
    parent, branch = merge_rarest(counts)
    return Paths(*list_paths(parent, branch, len(counts)))


def graft(old: Paths, new: Paths) -> Paths:
    """One tree of two: a new root, the old words to its left, the new ones to its right.

    Nodes of the old tree keep their numbers, those of the new tree follow, the root is last.
    """
    first = number_of_nodes(old)
    root = first + number_of_nodes(new)
    paths = [lengthen(old, root, 0, 0), lengthen(new, root, 1, first)]
    edges = np.concatenate([paths[0].edges, paths[0].edges[-1] + paths[1].edges[1:]])
    nodes = np.concatenate([path.nodes for path in paths])
    return Paths(edges, nodes, np.concatenate([path.codes for path in paths]))


def lengthen(paths: Paths, root: int, code: int, shift: int) -> Paths:
    """Paths that pass the root first."""
    starts = paths.edges[:-1]
    nodes = np.insert(paths.nodes + np.int32(shift), starts, np.int32(root))
    codes = np.insert(paths.codes, starts, np.uint8(code))
    return Paths(paths.edges + np.arange(len(paths.edges)), nodes, codes)


def number_of_nodes(paths: Paths) -> int:
    """Inner nodes of the tree: one less than words."""
    return len(paths.edges) - 2


@kernel
def merge_rarest(counts):
    """Merge the two rarest trees again and again: the words from the end, and the merged trees
    in order of their making, are two sorted queues."""
    v = counts.size
    total = np.zeros(2 * v - 1, np.int64)
    parent, branch = np.zeros(2 * v - 1, np.int64), np.zeros(2 * v - 1, np.uint8)
    total[:v] = counts
    word, merged = v - 1, v
    for node in range(v, 2 * v - 1):
        for code in range(2):
            if word >= 0 and (merged >= node or total[word] <= total[merged]):
                child = word
                word -= 1
            else:
                child = merged
                merged += 1
            total[node] += total[child]
            parent[child], branch[child] = node, code
    return parent, branch


@kernel
def list_paths(parent, branch, v):
    edges = np.zeros(v + 1, np.int64)
    root = 2 * v - 2
    for w in range(v):
        at, length = w, 0
        while at != root:
            at = parent[at]
            length += 1
        edges[w + 1] = edges[w] + length
    nodes, codes = np.empty(edges[v], np.int32), np.empty(edges[v], np.uint8)
    for w in range(v):
        at, place = w, edges[w + 1]
        while at != root:
            place -= 1
            codes[place] = branch[at]
            at = parent[at]
            nodes[place] = at - v
    return edges, nodes, codes


# --- Passes ---


class WindowOrder(Sequential):
    """Passes over the windows of a text. A part is the number of a chunk."""

    def __init__(self, schedule: Schedule, objective: int, paths: Paths, *, cbow: bool) -> None:
        self.schedule, self.objective, self.paths, self.cbow = schedule, objective, paths, cbow
        self.cuts = schedule.chunks()
        group = np.zeros(len(schedule.weights), np.uint8)
        self.noise: Noise = noise_tables(schedule.weights, group, 1)

    def rounds(self, number: int) -> Iterable[Sequence[Any]]:
        """One chunk after another; all at once, with hogwild."""
        chunks = range(len(self.cuts) - 1)
        return [chunks] if self.schedule.hogwild else ([chunk] for chunk in chunks)

    def visit(self, state: Weights, part: int, number: int) -> Visited:
        """Make the steps of a chunk of text."""
        s = self.schedule
        text, rate = s.draw_words(self.cuts[part], self.cuts[part + 1], number)
        measured, n = np.zeros(2), len(text[0])
        steps = Steps(self.noise, s.negative, rate, key(s.seed, CELL, number, part), s.every())
        lanes = (0,) * (state.inputs.shape[1] // LANES)
        step = self._centers_of_a_call(state)
        for start in range(0, n, step):
            check_stop()
            update_windows(
                state, text, (start, min(start + step, n)), self.cbow, self.objective,
                self.paths, steps, measured, lanes,
            )  # fmt: skip
        return Visited(measured[0], measured[1])

    def _centers_of_a_call(self, state: Weights) -> int:
        rows = {NEGATIVE: self.schedule.negative + 1, HIERARCHICAL: 20}
        used = rows.get(self.objective, len(state.outputs))
        used *= 1 if self.cbow else self.schedule.window
        return max(1, CALL // (used * 4 * state.outputs.shape[1]))


@kernel(fastmath=REORDER)
def update_windows(state, text, span, cbow, objective, paths, steps, measured, lanes):
    """Steps for the windows around a span of the words."""
    (words, reach, ends), (first, last) = text, span
    noise, negative, rate, seed, every = steps
    inputs, outputs = state.inputs, state.outputs
    d = LANES * len(lanes)
    mean, change = np.zeros(d, F), np.zeros(d, F)
    longest = negative + 1
    for w in range(paths.edges.size - 1):
        longest = max(longest, paths.edges[w + 1] - paths.edges[w])
    rows, labels = np.zeros(longest, np.int64), np.zeros(longest, F)
    scores = np.zeros(outputs.shape[0] if objective == SOFTMAX else 1)
    begin = first
    while begin > 0 and ends[begin - 1] == ends[first]:
        begin -= 1
    for i in range(first, last):
        if i > 0 and ends[i] != ends[i - 1]:
            begin = i
        left, right = max(begin, i - reach[i]), min(ends[i], i + reach[i] + 1)
        if right - left < 2:
            continue
        center = np.int64(words[i])
        n = 0
        if objective == NEGATIVE:
            rows[0], labels[0], n = center, 1, 1
            for q in range(negative):
                word = draw_word(noise, 0, bits(seed, i * negative + q))
                if word != center:
                    rows[n], labels[n] = word, 0
                    n += 1
        elif objective == HIERARCHICAL:
            for t in range(paths.edges[center], paths.edges[center + 1]):
                rows[n], labels[n] = paths.nodes[t], F(1) - F(paths.codes[t])
                n += 1
        measure = i % every == 0
        if cbow:
            for k in range(d):
                mean[k] = 0
            for j in range(left, right):
                if j != i:
                    x = inputs[words[j]]
                    for k in range(d):
                        mean[k] += x[k]
            inverse = F(1) / F(right - left - 1)
            for k in range(d):
                mean[k] *= inverse
            if objective == SOFTMAX:
                loss = step_all(mean, change, outputs, scores, center, rate, lanes)
            else:
                loss = step_rows(mean, change, outputs, rows, labels, n, rate, measure, lanes)
            for j in range(left, right):
                if j != i:
                    x = inputs[words[j]]
                    for k in range(d):
                        x[k] += inverse * change[k]
            if measure:
                measured[0] += 1
                measured[1] += loss
        else:
            for j in range(left, right):
                if j == i:
                    continue
                x = inputs[words[j]]
                if objective == SOFTMAX:
                    loss = step_all(x, change, outputs, scores, center, rate, lanes)
                else:
                    loss = step_rows(x, change, outputs, rows, labels, n, rate, measure, lanes)
                for k in range(d):
                    x[k] += change[k]
                if measure:
                    measured[0] += 1
                    measured[1] += loss


@kernel(fastmath=REORDER)
def step_rows(x, change, outputs, rows, labels, n, rate, measure, lanes):
    """One logistic regression step for each of some rows; ``change`` is that of x."""
    d = LANES * len(lanes)
    loss = 0.0
    for k in range(d):
        change[k] = 0
    for r in range(n):
        row = outputs[rows[r]]
        score = F(0)
        for k in range(d):
            score += x[k] * row[k]
        if measure:
            loss -= log_logistic(score if labels[r] > 0 else -score)
        g = (labels[r] - logistic(score)) * rate
        for k in range(d):
            change[k] += g * row[k]
            row[k] += g * x[k]
    return loss


@kernel(fastmath=REORDER)
def step_all(x, change, outputs, scores, center, rate, lanes):
    """A step of softmax over all rows."""
    d = LANES * len(lanes)
    most = -np.inf
    for v in range(outputs.shape[0]):
        row = outputs[v]
        score = F(0)
        for k in range(d):
            score += x[k] * row[k]
        scores[v] = score
        most = max(most, scores[v])
    total, loss = 0.0, most - scores[center]
    for v in range(outputs.shape[0]):
        scores[v] = np.exp(scores[v] - most)
        total += scores[v]
    loss += np.log(total)
    for k in range(d):
        change[k] = 0
    for v in range(outputs.shape[0]):
        g = F((1.0 if v == center else 0.0) - scores[v] / total) * rate
        row = outputs[v]
        for k in range(d):
            change[k] += g * row[k]
            row[k] += g * x[k]
    return loss

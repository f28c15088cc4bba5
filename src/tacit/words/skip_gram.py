"""Skip-gram with negative sampling, trained pair by pair with the same bits on any threads.

For a word o near a word x, and words n drawn at random in proportion to count^0.75,

    loss  =  - log s(c_o . w_x)  -  sum_n log s(- c_n . w_x)         s: the logistic function
    visit    the pairs of a cell: gradient steps for w_x, c_o and all c_n

The text is cut into rounds. In every round each word draws two groups by chance, one for its
row of w and one for its row of c, and the pairs of the round are sorted into a square of cells,
(group of c_o, group of w_x). Negative samples come from the group of o. So the cells of a
diagonal have no row in common and may run at the same time; the result is that of running them
one by one. New groups in every round: in the long run each word meets every other as a negative
sample at the usual rate.

Inside a cell four pairs are taken at a time, and eight have the same negative samples: products
of vectors become products of small matrices, at the same quality (Ji, Satish, Li and Dubey,
2016, Parallelizing word2vec in shared and distributed memory). ``updates="hogwild"`` runs parts
of the text at the same time without groups, and lets the threads overwrite each other (Niu,
Recht, Ré and Wright, 2011, Hogwild!, NIPS).

Mikolov, Sutskever, Chen, Corrado and Dean (2013), Distributed representations of words and
phrases and their compositionality. NIPS. Gemulla, Nijkamp, Haas and Sismanis (2011),
Large-scale matrix factorization with distributed stochastic gradient descent. KDD.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.randoms import bits, key
from tacit.core.sweep import Sequential, Visited, diagonals

__all__ = [
    "LANES", "Noise", "Schedule", "SkipGramPairs", "Steps", "Weights", "alias_table",
    "logistic", "update_pairs",
]  # fmt: skip

U = np.uint64
F = np.float32
LANES = 16  # a row is padded to a multiple of this many numbers
GROUPS = 8  # of words, in a round
CHUNKS = 8  # of a round, listed in parallel
CHUNK_WORDS = 1 << 16
FEW_WORDS = 2_000  # below which the vocabulary is a single group
SHARING = 8  # pairs with the same negative samples
SET = 5  # negative samples of a step; more are taken in several steps
EVERY = 16  # one batch in so many is measured for the loss curve
TEXT, IN_GROUPS, OUT_GROUPS, CELL = 1, 2, 3, 4  # purposes of random numbers
# Sums may be reordered, or no loop over a row would be vectorized: 4 times as slow in
# benchmarks/words/word2vec.py. NaN and inf keep their meaning.
REORDER = {"reassoc", "nsz", "arcp", "contract"}


class Weights(NamedTuple):
    """The two vectors of every word, which training changes in place. Rows are padded with
    zeros to a multiple of LANES."""

    inputs: np.ndarray  # (v, d) float32: w
    outputs: np.ndarray  # (v, d) float32: c; the inner nodes, with hierarchical softmax


class Noise(NamedTuple):
    """Alias tables of words in groups; those of group g are at ``edges[g] : edges[g + 1]``."""

    members: np.ndarray  # int32
    accept: np.ndarray  # float32: the probability to stay with the member
    alias: np.ndarray  # int32: the word to take otherwise
    edges: np.ndarray  # int64


class Steps(NamedTuple):
    """Settings of the steps of one kernel call."""

    noise: Noise
    negative: int
    rate: np.float32
    key: np.uint64  # of its random numbers
    every: int  # the loss is measured in one of so many windows


class Schedule(NamedTuple):
    """The text and the settings of a fit, whatever the objective."""

    ids: np.ndarray
    edges: np.ndarray
    keep: np.ndarray  # uint32: the probability to keep a word, over 2^32
    weights: np.ndarray  # float64: of words as negative samples
    window: int
    shrink: bool
    negative: int
    first_rate: float
    last_rate: float
    passes: int
    seed: np.uint64
    hogwild: bool

    def rate(self, number: int, word: int) -> np.float32:
        """The learning rate falls linearly with the words seen."""
        seen = (number + word / max(1, len(self.ids))) / self.passes
        falling = self.first_rate + (self.last_rate - self.first_rate) * seen
        return F(max(self.last_rate, falling))

    def chunks(self) -> np.ndarray:
        """The sentences at which the chunks of the text begin, and the end."""
        size = min(CHUNK_WORDS, max(1024, len(self.ids) // 64))  # the rate falls chunk by chunk
        count = max(1, round(len(self.ids) / size))
        at = np.linspace(0, len(self.ids), count + 1).astype(np.int64)
        return np.unique(np.searchsorted(self.edges, at))

    def every(self) -> int:
        """A short text is measured in every window."""
        return 1 if len(self.ids) < 1_000_000 else EVERY

    def draw_words(self, first: int, last: int, number: int) -> tuple[Any, np.float32]:
        """The subsampled words of sentences, the reach of their windows and the ends of their
        sentences, and the learning rate there."""
        begin, end = self.edges[first], self.edges[last]
        words, reach, ends = (np.empty(end - begin, np.int32) for _ in range(3))
        n = choose_words(
            self.ids, self.edges[first : last + 1], self.keep, self.window, self.shrink,
            key(self.seed, TEXT, number), words, reach, ends,
        )  # fmt: skip
        return (words[:n], reach, ends), self.rate(number, int(begin))


class Listed(NamedTuple):
    """The pairs of a chunk, sorted by cell."""

    centers: np.ndarray  # int32
    contexts: np.ndarray  # int32
    edges: np.ndarray  # int64, (cells + 1,)
    rate: np.float32


class SkipGramPairs(Sequential):
    """Passes over the pairs of a text. A part is a chunk of the text, by its number, or a cell
    (row, column) of a diagonal."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        v = len(schedule.weights)
        self.groups = 1 if schedule.hogwild or v < FEW_WORDS else GROUPS
        self.cuts = schedule.chunks()
        self.in_group, self.out_group = np.zeros(v, np.uint8), np.zeros(v, np.uint8)
        self.noise = noise_tables(schedule.weights, self.out_group, 1)
        self.listed: list[Any] = []
        self.turn = 0

    def rounds(self, number: int) -> Iterable[Sequence[Any]]:
        """List the pairs of a few chunks, then visit the diagonals."""
        chunks = range(len(self.cuts) - 1)
        if self.schedule.hogwild:
            yield chunks
            return
        for first in range(0, len(chunks), CHUNKS):
            self.turn = first
            if self.groups > 1:
                self._draw_groups(number)
            batch = chunks[first : first + CHUNKS]
            self.listed = [None] * len(batch)
            yield batch
            yield from diagonals(self.groups)

    def _draw_groups(self, number: int) -> None:
        s = self.schedule
        for purpose, group in ((IN_GROUPS, self.in_group), (OUT_GROUPS, self.out_group)):
            draw_groups(key(s.seed, purpose, number, self.turn), group)
        self.noise = noise_tables(s.weights, self.out_group, self.groups)

    def visit(self, state: Weights, part: Any, number: int) -> Visited:
        """List the pairs of a chunk, or make the steps of a cell."""
        seed = self.schedule.seed
        if isinstance(part, tuple):
            cell_key = key(seed, CELL, number, self.turn, *part)
            return self._step(state, self.listed, part, cell_key)
        listed = self._list(part, number)
        if self.schedule.hogwild:
            return self._step(state, [listed], (0, 0), key(seed, CELL, number, part))
        self.listed[part - self.turn] = listed
        return Visited(0.0, 0.0)

    def _list(self, chunk: int, number: int) -> Listed:
        text, rate = self.schedule.draw_words(self.cuts[chunk], self.cuts[chunk + 1], number)
        groups = self.in_group, self.out_group, self.groups
        counts, none = np.zeros(self.groups**2, np.int64), np.empty(0, np.int32)
        place_pairs(text, groups, counts, none, none)
        cells = np.concatenate([[0], np.cumsum(counts)])
        centers, contexts = (np.empty(cells[-1], np.int32) for _ in range(2))
        place_pairs(text, groups, cells[:-1].copy(), centers, contexts)
        return Listed(centers, contexts, cells, rate)

    def _step(
        self, state: Weights, listed: list[Listed], cell: tuple[int, int], cell_key: np.uint64
    ) -> Visited:
        row, column = cell
        place = row * self.groups + column
        lanes = (0,) * (state.inputs.shape[1] // LANES)
        measured = np.zeros(2)
        for i, (centers, contexts, edges, rate) in enumerate(listed):
            check_stop()
            span = slice(edges[place], edges[place + 1])
            steps = Steps(
                self.noise, self.schedule.negative, rate, key(cell_key, i),
                self.schedule.every(),
            )  # fmt: skip
            update_pairs(state, centers[span], contexts[span], row, steps, measured, lanes)
        return Visited(measured[0], measured[1])


# --- Negative samples ---


def noise_tables(weights: np.ndarray, group: np.ndarray, groups: int) -> Noise:
    """Alias tables of the words of every group."""
    edges = np.zeros(groups + 1, np.int64)
    members = np.empty(len(weights), np.int32)
    sort_by_group(group, edges, members)
    accept, alias = np.empty(len(weights), np.float32), np.empty(len(weights), np.int32)
    for g in range(groups):
        alias_table(weights, members, edges[g], edges[g + 1], accept, alias)
    return Noise(members, accept, alias, edges)


@kernel
def draw_groups(seed, group):
    for v in range(group.size):
        group[v] = bits(seed, v) >> U(61)  # GROUPS = 2^3


@kernel
def sort_by_group(group, edges, members):
    for v in range(group.size):
        edges[group[v] + 1] += 1
    for g in range(edges.size - 1):
        edges[g + 1] += edges[g]
    at = edges[:-1].copy()
    for v in range(group.size):
        members[at[group[v]]] = v
        at[group[v]] += 1


@kernel
def alias_table(weights, members, first, last, accept, alias):
    """Vose's table: a draw takes one uniform place and one comparison."""
    n, total = last - first, 0.0
    for i in range(first, last):
        total += weights[members[i]]
    height = np.empty(n)
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    a = b = 0
    for i in range(n):
        height[i] = weights[members[first + i]] * n / total
        accept[first + i], alias[first + i] = 1, members[first + i]
        if height[i] < 1:
            small[a] = i
            a += 1
        else:
            large[b] = i
            b += 1
    while a > 0 and b > 0:
        a -= 1
        low, high = small[a], large[b - 1]
        accept[first + low], alias[first + low] = height[low], members[first + high]
        height[high] -= 1 - height[low]
        if height[high] < 1:
            b -= 1
            small[a] = high
            a += 1


@kernel
def draw_word(noise, group, word):
    """A word of a group from 64 random bits."""
    first = noise.edges[group]
    n = U(noise.edges[group + 1] - first)
    place = first + np.int64(((word >> U(32)) * n) >> U(32))
    stay = F(word & U(0xFFFFFF)) * F(2.0**-24) < noise.accept[place]
    return np.int64(noise.members[place] if stay else noise.alias[place])


# --- Pairs ---


@kernel
def choose_words(ids, edges, keep, window, shrink, seed, words, reach, ends):
    """Subsample frequent words, and draw the reach of every window.

    The random numbers depend on the place in the text alone. ``ends`` are the ends of sentences
    after subsampling.
    """
    n = 0
    for s in range(edges.size - 1):
        begin = n
        for t in range(edges[s], edges[s + 1]):
            drawn = bits(seed, t)
            if (drawn >> U(32)) <= U(keep[ids[t]]):
                words[n] = ids[t]
                reach[n] = window
                if shrink:
                    reach[n] = 1 + np.int64(((drawn & U(0xFFFFFFFF)) * U(window)) >> U(32))
                n += 1
        for i in range(begin, n):
            ends[i] = n
    return n


@kernel
def place_pairs(text, groups, at, centers, contexts):
    """Put every pair at the next place of its cell, or only count where there is no room."""
    words, reach, ends = text
    in_group, out_group, n = groups
    begin = 0
    for i in range(words.size):
        if i > 0 and ends[i] != ends[i - 1]:
            begin = i
        row = np.int64(out_group[words[i]]) * n
        for j in range(max(begin, i - reach[i]), min(ends[i], i + reach[i] + 1)):
            if j != i:
                c = row + in_group[words[j]]
                if centers.size:
                    centers[at[c]], contexts[at[c]] = words[i], words[j]
                at[c] += 1


# --- Steps ---


@kernel(inline="always")
def logistic(x):
    """The logistic function within 2e-6, without a call to exp.

    Half of 1 + tanh(x / 2), by nine terms of Lambert's continued fraction.
    """
    x = min(max(x, F(-12)), F(12)) * F(0.5)
    y = x * x
    above = x * (F(34459425) + y * (F(4729725) + y * (F(135135) + y * (F(990) + y))))
    below = F(34459425) + y * (F(16216200) + y * (F(945945) + y * (F(13860) + y * F(45))))
    return F(0.5) + F(0.5) * above / below


@kernel
def log_logistic(x):
    return -np.log1p(np.exp(-x)) if x > -30 else np.float64(x)


@kernel(fastmath=REORDER)
def update_pairs(state, centers, contexts, group, steps, measured, lanes):
    """Gradient steps for pairs of one cell, four at a time; ``len(lanes)`` is a constant of
    the compiled code, so loops over a row are unrolled."""
    noise, negative, rate, seed, every = steps
    inputs, outputs = state.inputs, state.outputs
    d = LANES * len(lanes)
    n = centers.size
    drawn = np.empty(SET, np.int64)
    g = np.zeros(24, F)  # of pair i: the center's at 6 i, the negative samples' after it
    s = np.zeros((2 * SET, d), F)  # rows of the negative samples, and their changes
    none = noise.edges[group + 1] == noise.edges[group]
    number = 0
    for start in range(0, n, SHARING):
        for done in range(0, negative, SET):
            for q in range(SET):
                drawn[q] = draw_word(noise, group, bits(seed, number + q)) if not none else 0
                row = outputs[drawn[q]]
                for k in range(d):
                    s[q, k] = row[k]
                    s[q + SET, k] = 0
            number += SET
            for t in range(start, min(start + SHARING, n), 4):
                p1, p2, p3 = min(t + 1, n - 1), min(t + 2, n - 1), min(t + 3, n - 1)
                x0, x1 = inputs[contexts[t]], inputs[contexts[p1]]
                x2, x3 = inputs[contexts[p2]], inputs[contexts[p3]]
                o0, o1 = outputs[centers[t]], outputs[centers[p1]]
                o2, o3 = outputs[centers[p2]], outputs[centers[p3]]
                a0 = a1 = a2 = a3 = a4 = a5 = F(0)
                b0 = b1 = b2 = b3 = b4 = b5 = F(0)
                c0 = c1 = c2 = c3 = c4 = c5 = F(0)
                e0 = e1 = e2 = e3 = e4 = e5 = F(0)
                for k in range(d):
                    xa, xb, xc, xd = x0[k], x1[k], x2[k], x3[k]
                    n0, n1, n2, n3, n4 = s[0, k], s[1, k], s[2, k], s[3, k], s[4, k]
                    a0 += xa * o0[k]
                    a1 += xa * n0
                    a2 += xa * n1
                    a3 += xa * n2
                    a4 += xa * n3
                    a5 += xa * n4
                    b0 += xb * o1[k]
                    b1 += xb * n0
                    b2 += xb * n1
                    b3 += xb * n2
                    b4 += xb * n3
                    b5 += xb * n4
                    c0 += xc * o2[k]
                    c1 += xc * n0
                    c2 += xc * n1
                    c3 += xc * n2
                    c4 += xc * n3
                    c5 += xc * n4
                    e0 += xd * o3[k]
                    e1 += xd * n0
                    e2 += xd * n1
                    e3 += xd * n2
                    e4 += xd * n3
                    e5 += xd * n4
                g[0], g[1], g[2], g[3], g[4], g[5] = -a0, a1, a2, a3, a4, a5
                g[6], g[7], g[8], g[9], g[10], g[11] = -b0, b1, b2, b3, b4, b5
                g[12], g[13], g[14], g[15], g[16], g[17] = -c0, c1, c2, c3, c4, c5
                g[18], g[19], g[20], g[21], g[22], g[23] = -e0, e1, e2, e3, e4, e5
                if (t // 4) % every == 0:
                    for i in range(min(4, n - t)):
                        if done == 0:
                            measured[0] += 1
                            measured[1] -= log_logistic(-g[6 * i])
                        for q in range(min(SET, negative - done)):
                            if drawn[q] != centers[t + i] and not none:
                                measured[1] -= log_logistic(-g[6 * i + 1 + q])
                for q in range(24):
                    g[q] = -rate * logistic(g[q])
                for i in range(4):
                    g[6 * i] = -g[6 * i] if done == 0 and t + i < n else F(0)
                    for q in range(SET):
                        same = t + i >= n or drawn[q] == centers[min(t + i, n - 1)]
                        if same or done + q >= negative or none:
                            g[6 * i + 1 + q] = F(0)
                a1, a2, a3, a4, a5 = g[1], g[2], g[3], g[4], g[5]
                b1, b2, b3, b4, b5 = g[7], g[8], g[9], g[10], g[11]
                c1, c2, c3, c4, c5 = g[13], g[14], g[15], g[16], g[17]
                e1, e2, e3, e4, e5 = g[19], g[20], g[21], g[22], g[23]
                for k in range(d):
                    xa, xb, xc, xd = x0[k], x1[k], x2[k], x3[k]
                    s[5, k] += a1 * xa + b1 * xb + c1 * xc + e1 * xd
                    s[6, k] += a2 * xa + b2 * xb + c2 * xc + e2 * xd
                    s[7, k] += a3 * xa + b3 * xb + c3 * xc + e3 * xd
                    s[8, k] += a4 * xa + b4 * xb + c4 * xc + e4 * xd
                    s[9, k] += a5 * xa + b5 * xb + c5 * xc + e5 * xd
                for i in range(min(4, n - t)):
                    x, o = inputs[contexts[t + i]], outputs[centers[t + i]]
                    g0, g1, g2 = g[6 * i], g[6 * i + 1], g[6 * i + 2]
                    g3, g4, g5 = g[6 * i + 3], g[6 * i + 4], g[6 * i + 5]
                    for k in range(d):
                        xk, ok = x[k], o[k]
                        step = g0 * ok + g1 * s[0, k] + g2 * s[1, k] + g3 * s[2, k]
                        x[k] = xk + step + g4 * s[3, k] + g5 * s[4, k]
                        o[k] = ok + g0 * xk
            for q in range(SET):
                row = outputs[drawn[q]]
                for k in range(d):
                    row[k] += s[q + SET, k]

"""Collapsed Gibbs sampling for LDA: draw the topic of every token given those of all others.

    visit   a block of documents x words: for each of its tokens, draw a topic k with odds
            (n[d, k] + alpha[k]) (n[w, k] + eta) / (n[k] + v eta), the token not counted
    merge   add the changes of the topic totals n[k]

Documents and words are dealt into P groups each. The P blocks of a diagonal have no document
and no word in common, so they run in parallel. They have only the topic totals in common: each
starts from a copy of the totals and updates it with its changes, an approximation; all else is
exact. P depends on the number of tokens, never on the number of workers, and the random numbers
on (seed, pass, block): the result has the same bits on any number of threads. Sequential; the
loss of a pass is minus the mean log-probability of a token given all others at its visit.

Three things make a visit fast. A block goes word by word, so that the factor of the word stays
in the first-level cache. The kernel decides first whether the token keeps its topic, which
needs only the sum of the odds (a vector reduction); most tokens do, and nothing is written.
Past ``DENSE`` topics a document stores a list of the topics it has, and the cost of a token is
the length of that list; the smoothing mass, alpha times the word's factor, is a running sum.

Griffiths and Steyvers (2004), Finding scientific topics. PNAS 101.
Yao, Mimno and McCallum (2009), Efficient methods for topic model inference on streaming
document collections. KDD.
Yan, Xu and Qi (2009), Parallel inference for LDA on graphics processing units. NIPS.
Yu, Hsieh, Yun, Vishwanathan and Dhillon (2015), A scalable asynchronous distributed algorithm
for topic modeling. WWW.
"""

import math
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import REASSOCIATE, kernel
from tacit.core.randoms import integers, key
from tacit.core.sweep import Sequential, Visited, deal, diagonals
from tacit.topics.dirichlet import fit_asymmetric, fit_symmetric, tails

__all__ = ["GibbsSampler", "GibbsState", "Priors", "Tokens", "arrange"]

DENSE = 512  # topics up to which a document keeps a count of each
LANES = 16  # rows of counts are padded to a multiple of this
LARGEST_BLOCK = 250_000  # tokens: a visit ends within a tenth of a second
FEWEST = 50_000  # tokens that are worth more than one block
OPTIMIZED_EVERY = 10  # passes between two optimizations of alpha and eta
START = 1 << 40  # the number of the pass that draws the first topics
FINISH = (-1, -1)  # the part after the last diagonal
PACKED = 65_535  # most tokens of a document in one topic that a list can hold


class Tokens(NamedTuple):
    """The tokens in the order of the visits: by group of documents, then by word."""

    documents: np.ndarray  # (n,) int32, numbered by group
    cells: np.ndarray  # (c, 3) int64: a word and the range of its tokens
    edges: np.ndarray  # (P * P + 1,) the cells of each block
    order: np.ndarray  # (documents,) the row of X that each document is
    lengths: np.ndarray  # (documents,) tokens of each
    groups: int  # P
    width: int  # words of the vocabulary


class Priors(NamedTuple):
    """Pseudo-counts of words in topics. Row 0 is eta for all words that have no row."""

    row_of: np.ndarray  # (v,) int32
    rows: np.ndarray  # (m, padded k) float64; 0 forbids a topic

    def with_eta(self, eta: float, k: int) -> "Priors":
        """The priors after eta has changed."""
        rows = self.rows.copy()
        rows[0, :k] = eta
        return self._replace(rows=rows)

    def totals(self) -> np.ndarray:
        """The pseudo-counts of each topic, over all words."""
        return np.bincount(self.row_of, minlength=len(self.rows)) @ self.rows


class GibbsState(NamedTuple):
    """The topics of all tokens, and the counts that follow from them."""

    topics: np.ndarray  # (n,) uint16
    documents: np.ndarray  # (documents, padded k) counts; or lists, topic << 16 | count
    starts: np.ndarray  # (documents + 1,) of the lists; empty with counts
    sizes: np.ndarray  # (documents,) of the lists; empty with counts
    words: np.ndarray  # (v, padded k) int32
    totals: np.ndarray  # (k,) int64
    alpha: np.ndarray  # (k,)
    eta: np.ndarray  # (1,)
    sums: np.ndarray  # (v, padded k) int64: ``words`` added up over the samples
    samples: np.ndarray  # (1,) how many


@dataclass(frozen=True)
class Sampled(Visited):
    """Sums over the tokens of a block."""

    changes: np.ndarray  # (k,) of the topic totals


class GibbsSampler(Sequential):
    """Passes over all tokens, with steps of the priors between them."""

    def __init__(
        self, tokens: Tokens, k: int, priors: Priors, seed: Any, *, burn_in: int,
        sample_every: int, optimize_alpha: bool, optimize_eta: bool, optimize_from: int = 0,
        folder: str | None = None,
    ) -> None:  # fmt: skip
        self.tokens, self.k, self.priors, self.seed = tokens, k, priors, seed
        self.burn_in, self.sample_every = burn_in, sample_every
        self.optimize_alpha, self.optimize_eta = optimize_alpha, optimize_eta
        self.optimize_from = optimize_from
        self.padded = -(-k // LANES) * LANES
        self.folder = folder  # where the topics of the tokens go; None is memory

    def rounds(self, number: int) -> Iterable[Sequence[tuple[int, int]]]:
        return [*diagonals(self.tokens.groups), [FINISH]]

    def visit(self, state: GibbsState, part: tuple[int, int], number: int) -> Sampled:
        changes = np.zeros(self.k, np.int64)
        if part == FINISH:
            return self.finish(state, number, changes)
        cell = part[0] * self.tokens.groups + part[1]
        first, last = self.tokens.edges[cell : cell + 2]
        alpha = np.zeros(self.padded, np.float32)
        alpha[: self.k] = state.alpha
        priors = self.priors.with_eta(state.eta[0], self.k)
        denominators = np.ones(self.padded)
        denominators[: self.k] = state.totals + priors.totals()[: self.k]
        block = (
            self.tokens.cells[first:last], self.tokens.documents, state.topics, state.words,
            denominators.astype(np.float32), changes, alpha, priors.row_of,
            priors.rows.astype(np.float32),
        )  # fmt: skip
        seed = key(self.seed, number, *part)
        if len(state.starts):
            logs = draw_from_lists(block, seed, state.starts, state.sizes, state.documents)
        else:
            logs = draw_from_counts(block, seed, state.documents)
        tokens = self.tokens.cells[first:last]
        return Sampled(float((tokens[:, 2] - tokens[:, 1]).sum()), -logs, changes)

    def merge(self, state: GibbsState, stats: Sampled) -> None:
        state.totals[:] += stats.changes

    def finish(self, state: GibbsState, number: int, changes: np.ndarray) -> Sampled:
        """Between two passes: the constant of the loss, a sample, better priors."""
        lengths = self.tokens.lengths
        constant = float(
            (lengths * np.log(np.maximum(lengths - 1, 0) + state.alpha.sum())).sum()
        )
        since = number - self.burn_in
        if since >= 0 and since % self.sample_every == 0:
            state.sums[:] += state.words
            state.samples[:] += 1
        if number >= self.optimize_from and number % OPTIMIZED_EVERY == OPTIMIZED_EVERY - 1:
            self.optimize(state)
        return Sampled(0.0, constant, changes)

    def optimize(self, state: GibbsState) -> None:
        """Steps of the fixed points of alpha and eta."""
        if self.optimize_alpha:
            lengths = self.tokens.lengths
            histogram = np.zeros((self.k, int(lengths.max(initial=0)) + 1), np.int64)
            if len(state.starts):
                count_in_lists(state.starts, state.sizes, state.documents, histogram)
            else:
                count_in_rows(state.documents, histogram)
            state.alpha[:] = fit_asymmetric(
                state.alpha, tails(histogram), tails(np.bincount(lengths)[None])
            )
        if self.optimize_eta:
            counts = tails(np.bincount(state.words[:, : self.k].ravel())[None])
            state.eta[0] = fit_symmetric(
                float(state.eta[0]), self.tokens.width, counts, state.totals
            )

    def start(self, alpha: np.ndarray, eta: float) -> GibbsState:
        """Random topics, and their counts."""
        tokens, k, padded = self.tokens, self.k, self.padded
        n = len(tokens.documents)
        z = np.asarray(empty(n, np.uint16, self.folder))
        z[:] = integers(key(self.seed, START), n, k)
        self.place_favored(z)
        words = np.zeros((tokens.width, padded), np.int32)
        count_words(tokens.cells, z, words)
        starts, sizes = np.zeros(0, np.int64), np.zeros(0, np.int32)
        short = tokens.lengths.max(initial=0) <= PACKED
        if k > DENSE and short:
            room = np.minimum(tokens.lengths, k)
            starts = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
            sizes = np.zeros(len(room), np.int32)
            documents: np.ndarray = np.zeros(starts[-1], np.uint32)
            make_lists(tokens.documents, z, starts, sizes, documents)
        else:
            shape = len(tokens.lengths), padded
            documents = np.zeros(shape, np.uint16 if short else np.uint32)
            count_documents(tokens.documents, z, documents)
        return GibbsState(
            z, documents, starts, sizes, words, words[:, :k].sum(axis=0, dtype=np.int64),
            np.array(alpha, np.float64), np.array([eta], np.float64),
            np.zeros(words.shape, np.int64), np.zeros(1, np.int64),
        )  # fmt: skip

    def place_favored(self, z: np.ndarray) -> None:
        """Start the tokens of words with a row of priors in the topics that it favors."""
        rows = self.priors.rows[:, : self.k]
        favored = [np.flatnonzero(row >= row.max() / 2) for row in rows]
        for word, first, last in self.tokens.cells[
            self.priors.row_of[self.tokens.cells[:, 0]] > 0
        ]:
            topics = favored[self.priors.row_of[word]]
            z[first:last] = topics[z[first:last] % len(topics)]


def arrange(X: sp.csr_array, folder: str | None = None) -> Tokens:
    """The tokens of integer counts, in the order of the visits."""
    v = X.shape[1]
    lengths = np.asarray(X.sum(axis=1)).ravel().astype(np.int64)
    total = int(lengths.sum())
    groups = 1 if total < FEWEST else 4
    while total > LARGEST_BLOCK * groups * groups:
        groups *= 2
    by_document = deal(lengths, groups)
    by_word = deal(np.bincount(X.indices, X.data, minlength=v), groups)
    order = np.argsort(by_document, kind="stable")
    bounds = np.searchsorted(by_document[order], np.arange(groups + 1))
    documents = np.asarray(empty(total, np.int32, folder))
    cells, edges, done = [], [0], 0
    for p in range(groups):
        columns = X[order[bounds[p] : bounds[p + 1]]].tocsc()
        counts = columns.data.astype(np.int64)
        size = int(counts.sum())
        documents[done : done + size] = np.repeat(columns.indices + bounds[p], counts)
        ends = np.concatenate([[0], np.cumsum(counts)])[columns.indptr] + done
        for g in range(groups):
            words = np.flatnonzero((by_word == g) & (ends[1:] > ends[:-1]))
            cells.append(np.stack([words, ends[words], ends[words + 1]], axis=1))
            edges.append(edges[-1] + len(words))
        done += size
    return Tokens(
        documents, np.concatenate(cells).astype(np.int64), np.array(edges), order,
        lengths[order], groups, v,
    )  # fmt: skip


def empty(n: int, dtype: Any, folder: str | None) -> Any:
    """An array in memory, or in a temporary file that vanishes with it."""
    if folder is None or not n:
        return np.empty(n, dtype)
    if not os.path.isdir(folder):
        raise ValueError(
            f"GibbsLDA(assignments={folder!r}) needs a folder that exists. Make it first."
        )
    with tempfile.TemporaryFile(dir=folder) as file:
        return np.memmap(file, dtype, "w+", shape=n)


# --- Kernels ---


@kernel
def next_bits(s):
    """xorshift64: a cheap generator, started from the key of the block."""
    s ^= s << np.uint64(13)
    s ^= s >> np.uint64(7)
    return s ^ (s << np.uint64(17))


# fastmath: the sums must be vectors, twice the speed.
@kernel(fastmath=REASSOCIATE)
def draw_from_counts(block, seed, documents):
    """Draw the topics of the tokens of a block; the log-probabilities of their words."""
    cells, token_documents, topics, words, totals, changes, alpha, row_of, priors = block
    k = changes.size
    padded = alpha.size
    one, zero = np.float32(1), np.float32(0)
    counts, factor = np.zeros(padded, np.float32), np.zeros(padded, np.float32)
    p, inverse = np.zeros(padded, np.float32), np.zeros(padded, np.float32)
    for j in range(k):
        inverse[j] = one / totals[j]
    s = seed | np.uint64(1)
    logs, product = 0.0, 1.0
    for c in range(cells.shape[0]):
        word = cells[c, 0]
        word_counts, prior = words[word], priors[row_of[word]]
        for j in range(padded):
            counts[j] = np.float32(word_counts[j]) + prior[j]
            factor[j] = counts[j] * inverse[j]
        for i in range(cells[c, 1], cells[c, 2]):
            old = np.uint64(topics[i])
            row = documents[token_documents[i]]
            # The factor and the probability of the old topic without this token.
            less = (counts[old] - one) / (totals[old] - one)
            stay = (np.float32(row[old]) - one + alpha[old]) * less
            for j in range(padded):
                p[j] = (np.float32(row[j]) + alpha[j]) * factor[j]
            total = zero
            for j in range(padded):
                total += p[j]
            total = max(zero, total - (np.float32(row[old]) + alpha[old]) * factor[old])
            product *= np.float64(total + stay)
            if product < 1e-200 or product > 1e200:
                logs += math.log(product)
                product = 1.0
            s = next_bits(s)
            u = np.float32(s >> np.uint64(40)) * np.float32(2**-24) * (total + stay) - stay
            if u < zero:
                continue
            p[old] = zero
            new = np.uint64(pick(p, u, k))
            if new == old or p[new] == zero:
                continue
            topics[i] = new
            row[old] -= 1
            row[new] += 1
            word_counts[old] -= 1
            word_counts[new] += 1
            changes[old] -= 1
            changes[new] += 1
            counts[old] -= one
            totals[old] -= one
            inverse[old] = one / totals[old]
            factor[old] = less
            counts[new] += one
            totals[new] += one
            inverse[new] = one / totals[new]
            factor[new] = counts[new] * inverse[new]
    return logs + math.log(product)


@kernel(fastmath=REASSOCIATE)
def pick(p, u, k):
    """The place where the sum of p, from the start, passes u: by lanes, then within one."""
    start = 0
    while start + 16 < k:
        lane = p[start : start + 16]
        total = np.float32(0)
        for j in range(16):
            total += lane[j]
        if u < total:
            break
        u -= total
        start += 16
    last = min(start + 16, k) - 1
    while start < last and u >= p[start]:
        u -= p[start]
        start += 1
    return start


@kernel(fastmath=REASSOCIATE)
def draw_from_lists(block, seed, starts, sizes, lists):
    """The same, where documents keep lists of their topics."""
    cells, token_documents, topics, words, totals, changes, alpha, row_of, priors = block
    k = changes.size
    padded = alpha.size
    one, zero = np.float32(1), np.float32(0)
    counts, factor = np.zeros(padded, np.float32), np.zeros(padded, np.float32)
    p, inverse = np.zeros(padded, np.float32), np.zeros(padded, np.float32)
    for j in range(k):
        inverse[j] = one / totals[j]
    half, low = np.uint32(16), np.uint32(0xFFFF)
    s = seed | np.uint64(1)
    logs, product = 0.0, 1.0
    for c in range(cells.shape[0]):
        word = cells[c, 0]
        word_counts, prior = words[word], priors[row_of[word]]
        smooth = zero  # sum of alpha times the factor
        for j in range(padded):
            counts[j] = np.float32(word_counts[j]) + prior[j]
            factor[j] = counts[j] * inverse[j]
        for j in range(padded):
            smooth += alpha[j] * factor[j]
        for i in range(cells[c, 1], cells[c, 2]):
            old = np.uint32(topics[i])
            d = token_documents[i]
            size = sizes[d]
            entries = lists[starts[d] : starts[d + 1]]
            less = (counts[old] - one) / (totals[old] - one)
            total, same = zero, np.uint32(0)
            for j in range(size):
                topic, count = entries[j] >> half, entries[j] & low
                total += np.float32(np.int32(count)) * factor[topic]
                if topic == old:
                    same += count
            stay = (np.float32(np.int32(same)) - one + alpha[old]) * less
            total += smooth - (np.float32(np.int32(same)) + alpha[old]) * factor[old]
            total = max(zero, total)
            product *= np.float64(total + stay)
            if product < 1e-200 or product > 1e200:
                logs += math.log(product)
                product = 1.0
            s = next_bits(s)
            u = np.float32(s >> np.uint64(40)) * np.float32(2**-24) * (total + stay) - stay
            if u < zero:
                continue
            new, here, there = old, 0, -1
            for j in range(size):
                topic = entries[j] >> half
                if topic == old:
                    here = j
                elif there < 0:
                    x = np.float32(np.int32(entries[j] & low)) * factor[topic]
                    if u < x:
                        new, there = topic, j
                    else:
                        u -= x
            if there < 0:
                for j in range(padded):
                    p[j] = alpha[j] * factor[j]
                p[old] = zero
                new = np.uint32(pick(p, u, k))
                if new == old or p[new] == zero:
                    continue
                for j in range(size):
                    if entries[j] >> half == new:
                        there = j
            topics[i] = new
            entries[here] -= np.uint32(1)
            if there >= 0:
                entries[there] += np.uint32(1)
            gone = entries[here] & low == 0
            if there < 0 and gone:
                entries[here] = np.uint32((new << half) | np.uint32(1))
            elif there < 0:
                entries[size] = np.uint32((new << half) | np.uint32(1))
                sizes[d] = size + 1
            elif gone:
                entries[here] = entries[size - 1]
                sizes[d] = size - 1
            word_counts[old] -= 1
            word_counts[new] += 1
            changes[old] -= 1
            changes[new] += 1
            smooth -= alpha[old] * (factor[old] - less)
            counts[old] -= one
            totals[old] -= one
            inverse[old] = one / totals[old]
            factor[old] = less
            counts[new] += one
            totals[new] += one
            inverse[new] = one / totals[new]
            smooth += alpha[new] * (counts[new] * inverse[new] - factor[new])
            factor[new] = counts[new] * inverse[new]
    return logs + math.log(product)


@kernel
def count_words(cells, topics, words):
    for c in range(cells.shape[0]):
        row = words[cells[c, 0]]
        for i in range(cells[c, 1], cells[c, 2]):
            row[topics[i]] += 1


@kernel
def count_documents(token_documents, topics, documents):
    for i in range(topics.size):
        documents[token_documents[i], topics[i]] += 1


@kernel
def make_lists(token_documents, topics, starts, sizes, lists):
    for i in range(topics.size):
        d = token_documents[i]
        entries = lists[starts[d] : starts[d + 1]]
        j = 0
        while j < sizes[d] and entries[j] >> np.uint32(16) != topics[i]:
            j += 1
        if j == sizes[d]:
            entries[j] = np.uint32(topics[i]) << np.uint32(16)
            sizes[d] += 1
        entries[j] += np.uint32(1)


@kernel
def count_in_rows(documents, histogram):
    """How many documents have 0, 1, 2, ... tokens of each topic."""
    for d in range(documents.shape[0]):
        for j in range(histogram.shape[0]):
            histogram[j, documents[d, j]] += 1


@kernel
def count_in_lists(starts, sizes, lists, histogram):
    """The same for lists. Counts of 0 are left out."""
    for d in range(sizes.size):
        for j in range(sizes[d]):
            entry = lists[starts[d] + j]
            histogram[entry >> np.uint32(16), entry & np.uint32(0xFFFF)] += 1

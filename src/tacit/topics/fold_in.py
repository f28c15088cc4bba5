"""Topics of documents under fixed topics: the E-step, and the likelihood of held-out documents.

``infer`` computes the variational posterior of each document: q(theta) = Dirichlet(gamma), with

    gamma[k]  =  alpha[k] + sum over words of count * r[w, k]
    r[w, k]   ~  exp(E[log theta[k]]) weights[w, k]

``weights`` are exp(E[log beta]) where topics have a posterior, and P(word | topic) where they
are fixed. Two estimates of the probability of held-out documents:

    completion      every other token of a document gives its theta; the others are scored
    left to right   P(w1) P(w2 | w1) ...: particles for the topics so far

Blei, Ng and Jordan (2003), Latent Dirichlet allocation. JMLR 3.
Wallach, Murray, Salakhutdinov and Mimno (2009), Evaluation methods for topic models. ICML.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import REASSOCIATE, kernel
from tacit.core.randoms import key, uniform
from tacit.data.table import parts
from tacit.topics.dirichlet import exp_digamma

__all__ = [
    "FoldIn", "block_theta", "infer", "read_block", "score_completion", "score_left_to_right",
]  # fmt: skip

LANES = 32  # words are padded to a multiple of this: vector loops then have no remainder
NO_SUMS, NO_WEIGHTS = np.zeros((0, 1)), np.zeros(0)
TOGETHER = 4  # topics in one pass over the words: benchmarks.variational


class FoldIn(NamedTuple):
    """Params of the inference of documents."""

    weights: np.ndarray  # (v, k) float32
    alpha: np.ndarray  # (k,) float64
    max_iter: int
    tol: float  # mean change of gamma at which a document is done
    seed: int = 0
    particles: int = 0


class Inferred(NamedTuple):
    gamma: np.ndarray  # (n, k)
    log_sums: np.ndarray  # (n,) sum of count * log(sum over k of theta-bar * weights)


def read_block(rows: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, indices and counts of the rows of a block, in the types that kernels take."""
    matrix = sp.csr_array(rows)
    return (
        np.asarray(matrix.indptr, np.int64), np.asarray(matrix.indices, np.int32),
        np.asarray(matrix.data, np.float64),
    )  # fmt: skip


def infer(model: FoldIn, rows: Any, sums: np.ndarray, row_weights: np.ndarray) -> Inferred:
    """The posterior of each document; expected counts are added to ``sums`` (v, k), unless it
    has no rows."""
    block = read_block(rows)
    indptr, indices, _ = block
    gamma = np.empty((len(indptr) - 1, len(model.alpha)))
    log_sums = np.zeros(len(gamma))
    widest = int(np.diff(indptr).max(initial=0))
    gathered = np.empty(len(model.alpha) * -(-widest // LANES) * LANES, np.float32)
    step = max(
        1, 2_000_000 // max(1, int(len(indices) / max(1, len(gamma)) * len(model.alpha)))
    )
    for start in range(0, len(gamma), step):
        span = start, min(start + step, len(gamma))
        infer_rows(span, block, model[:4], gathered, gamma, log_sums, sums, row_weights)
    return Inferred(gamma, log_sums)


def block_theta(model: FoldIn, block: Any) -> np.ndarray:
    """(n, k) the mean of the topic proportions of each document."""
    gamma = infer(model, parts(block).rows, NO_SUMS, NO_WEIGHTS).gamma
    return gamma / gamma.sum(axis=1, keepdims=True)


def score_completion(model: FoldIn, block: Any) -> np.ndarray:
    """(n, 2) the log-probability of every other token of each document given the others, and
    the number of tokens scored."""
    rows = sp.csr_array(parts(block).rows)
    seen, scored = alternate_tokens(rows)
    theta = block_theta(model, seen)
    indptr, indices, counts = read_block(scored)
    logs = np.zeros(len(theta))
    score_rows(indptr, indices, counts, model.weights, theta.astype(np.float32), logs)
    return np.stack([logs, np.asarray(scored.sum(axis=1)).ravel()], axis=1)


def alternate_tokens(rows: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Tokens 0, 2, 4, ... of each document and tokens 1, 3, 5, ...

    >>> [half.toarray().tolist() for half in alternate_tokens(sp.csr_array([[3, 0, 2]]))]
    [[[2, 0, 1]], [[1, 0, 1]]]
    """
    ends = np.cumsum(rows.data)
    before = np.concatenate([[0], ends])[rows.indptr[:-1]]
    stop = ends - np.repeat(before, np.diff(rows.indptr))
    start = stop - rows.data
    even = (stop + 1) // 2 - (start + 1) // 2
    first, second = (
        sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
        for values in (even, rows.data - even)
    )
    return first, second


def score_left_to_right(model: FoldIn, block: Any) -> np.ndarray:
    """(n, 2) the log-probability of each document from left to right, and its tokens. The order
    is that of the columns, shuffled by the seed."""
    indptr, indices, counts = read_block(parts(block).rows)
    out = np.zeros((len(indptr) - 1, 2))
    for d in range(len(out)):
        words = np.repeat(
            indices[indptr[d] : indptr[d + 1]],
            counts[indptr[d] : indptr[d + 1]].astype(np.int64),
        )
        words = np.random.default_rng([model.seed, len(words)]).permutation(words)
        # One kernel call a document: it may take milliseconds, and Ctrl-C works in between.
        log = left_to_right(
            words, model.weights, model.alpha, model.particles, key(model.seed, len(words))
        )
        out[d] = log, len(words)
    return out


# --- Kernels ---


# fastmath: the dot products must be vectors, three times the speed.
@kernel(fastmath=REASSOCIATE)
def infer_rows(span, block, model, gathered, gamma, log_sums, sums, row_weights):
    """Infer a span of the documents of a block.

    The weights of a document are gathered by topic, so that loops over its words are vector
    code. A topic that no word uses is dropped if exp(digamma) of its prior is negligible.
    """
    indptr, indices, counts = block
    weights, alpha, max_iter, tol = model
    k = alpha.size
    longest = gathered.size // k
    amounts, totals = np.zeros(longest, np.float32), np.empty(longest, np.float32)
    may_drop = np.empty(k, np.bool_)
    for j in range(k):
        may_drop[j] = exp_digamma(alpha[j]) <= 1e-20
    # active[i] is a topic; parameters[i] its gamma. Past the last, theta is 0.
    active, parameters = np.zeros(k + TOGETHER, np.int64), np.empty(k)
    theta, expected = np.zeros(k + TOGETHER, np.float32), np.empty(k + TOGETHER, np.float32)
    for d in range(span[0], span[1]):
        first, n = indptr[d], indptr[d + 1] - indptr[d]
        width = -(-n // LANES) * LANES
        rows = gathered[: k * width].reshape(k, width)
        rows[:, n:] = 0
        amounts[n:width] = 0
        tokens = 0.0
        for t in range(n):
            tokens += counts[first + t]
            amounts[t] = counts[first + t]
            source = weights[indices[first + t]]
            for j in range(k):
                rows[j, t] = source[j]
        size = k
        for j in range(k):
            active[j] = j
            parameters[j] = alpha[j] + tokens / k
            gamma[d, j] = alpha[j]
        for _ in range(max_iter):
            expect(rows, active, parameters, theta, totals, size)
            for t in range(width):
                totals[t] = amounts[t] / totals[t]
            for i in range(0, size, TOGETHER):
                a, b = rows[active[i]], rows[active[i + 1]]
                c, e = rows[active[i + 2]], rows[active[i + 3]]
                sum_a = sum_b = sum_c = sum_e = np.float32(0)
                for t in range(width):
                    sum_a += totals[t] * a[t]
                    sum_b += totals[t] * b[t]
                    sum_c += totals[t] * c[t]
                    sum_e += totals[t] * e[t]
                expected[i], expected[i + 1] = sum_a, sum_b
                expected[i + 2], expected[i + 3] = sum_c, sum_e
            change, remaining = 0.0, 0
            for i in range(size):
                j = active[i]
                count = np.float64(theta[i]) * expected[i]
                change += abs(alpha[j] + count - parameters[i])
                parameters[remaining], active[remaining] = alpha[j] + count, j
                remaining += count > 1e-12 or not may_drop[j]
            size = remaining
            if change < tol * k:
                break
        expect(rows, active, parameters, theta, totals, size)
        for i in range(size):
            gamma[d, active[i]] = parameters[i]
        scale = math.log(exp_digamma(gamma[d].sum()))
        weight = row_weights[d] if row_weights.size else 1.0
        for t in range(n):
            log_sums[d] += counts[first + t] * (math.log(totals[t]) - scale)
            if sums.shape[0]:
                ratio = amounts[t] / totals[t]
                target = sums[indices[first + t]]
                for i in range(size):
                    j = active[i]
                    target[j] += weight * np.float64(ratio * theta[i] * rows[j, t])


@kernel(fastmath=REASSOCIATE)
def expect(rows, active, parameters, theta, totals, size):
    """Set theta to exp(E[log theta]) of the active topics, and totals to the sum over them of
    theta * weight for every word."""
    for i in range(size):
        theta[i] = exp_digamma(parameters[i])
    theta[size : size + TOGETHER] = 0
    active[size : size + TOGETHER] = 0
    totals[: rows.shape[1]] = np.float32(1e-37)
    for i in range(0, size, TOGETHER):
        a, b = rows[active[i]], rows[active[i + 1]]
        c, e = rows[active[i + 2]], rows[active[i + 3]]
        p, q, r, s = theta[i], theta[i + 1], theta[i + 2], theta[i + 3]
        for t in range(rows.shape[1]):
            totals[t] += p * a[t] + q * b[t] + r * c[t] + s * e[t]


@kernel(fastmath=REASSOCIATE)
def score_rows(indptr, indices, counts, weights, theta, logs):
    for d in range(logs.size):
        proportions = theta[d]
        for t in range(indptr[d], indptr[d + 1]):
            row = weights[indices[t]]
            total = np.float32(1e-37)
            for j in range(proportions.size):
                total += row[j] * proportions[j]
            logs[d] += counts[t] * math.log(total)


@kernel
def left_to_right(words, weights, alpha, particles, key):
    """log P(words): the mean over particles of each next word, topics before it redrawn."""
    k, n = alpha.size, words.size
    chances = np.zeros(n)
    topics = np.zeros(n, np.int64)
    p = np.zeros(k)
    total_alpha = alpha.sum()
    drawn = 0
    for _ in range(particles):
        counts = alpha.copy()
        for i in range(n):
            for back in range(i + 1):
                if back < i:
                    counts[topics[back]] -= 1
                total = 0.0
                row = weights[words[back]]
                for j in range(k):
                    total += counts[j] * row[j]
                    p[j] = total
                if back == i:
                    chances[i] += total / (i + total_alpha)
                u = uniform(key, drawn) * total
                drawn += 1
                new = 0
                while new < k - 1 and p[new] <= u:
                    new += 1
                topics[back] = new
                counts[new] += 1
    logs = 0.0
    for i in range(n):
        logs += math.log(max(chances[i] / particles, 1e-300))
    return logs

"""Topics of documents under fixed topics: the E-step, and what held-out documents are worth.

``infer`` computes the variational posterior of each document: q(theta) = Dirichlet(gamma), with

    gamma[k]  =  alpha[k] + sum over words of count * r[w, k]
    r[w, k]   ~  exp(E[log theta[k]]) weights[w, k]

``weights`` are exp(E[log beta]) where topics have a posterior, and P(word | topic) where they
are fixed. Two estimates of the probability of documents that no fit has seen:

    completion      every other token of a document gives its theta; the others are scored
    left to right   P(w1) P(w2 | w1) ...: particles for the topics so far

Blei, Ng and Jordan (2003), Latent Dirichlet allocation. JMLR 3.
Wallach, Murray, Salakhutdinov and Mimno (2009), Evaluation methods for topic models. ICML.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import kernel
from tacit.core.randoms import key, uniform
from tacit.data.table import parts
from tacit.topics.dirichlet import exp_digamma

__all__ = ["FoldIn", "block_theta", "complete_block", "infer", "read_block", "walk_block"]

LANES = 32  # columns are padded to a multiple of this: vector loops then have no remainder
TOGETHER = 4  # words that share a pass over the topics: benchmarks.variational


class FoldIn(NamedTuple):
    """What the inference of a document needs. Columns are padded to a multiple of 32."""

    weights: np.ndarray  # (v, padded k) float32
    alpha: np.ndarray  # (k,) float64
    max_iter: int
    tol: float  # mean change of gamma at which a document is done
    seed: int = 0
    particles: int = 0

    @classmethod
    def of(
        cls, weights: np.ndarray, alpha: np.ndarray, max_iter: int, tol: float, **more: int
    ) -> "FoldIn":
        """From weights (v, k)."""
        v, k = weights.shape
        padded = np.zeros((v, -(-k // LANES) * LANES), np.float32)
        padded[:, :k] = weights
        return cls(padded, np.asarray(alpha, np.float64), max_iter, tol, **more)


class Inferred(NamedTuple):
    gamma: np.ndarray  # (n, k)
    log_sums: np.ndarray  # (n,) sum of count * log(sum over k of theta-bar * weights)
    iterations: int


def read_block(rows: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, indices and counts of the rows of a block, in the types that kernels take."""
    matrix = sp.csr_array(rows)
    return (
        np.asarray(matrix.indptr, np.int64), np.asarray(matrix.indices, np.int32),
        np.asarray(matrix.data, np.float64),
    )  # fmt: skip


def infer(model: FoldIn, rows: Any, sums: np.ndarray, row_weights: np.ndarray) -> Inferred:
    """The posterior of each document; ``sums`` (v, padded k) gets its expected counts,
    unless it has no rows."""
    block = read_block(rows)
    indptr, indices, _ = block
    gamma = np.empty((len(indptr) - 1, len(model.alpha)))
    log_sums = np.zeros(len(gamma))
    widest = int(np.diff(indptr).max(initial=0))
    gathered = np.empty((widest + TOGETHER, model.weights.shape[1]), np.float32)
    done = 0
    step = max(
        1, 2_000_000 // max(1, int(len(indices) / max(1, len(gamma)) * len(model.alpha)))
    )
    for start in range(0, len(gamma), step):
        stop = min(start + step, len(gamma))
        done += infer_rows(
            (start, stop), block, model[:4], gathered, gamma, log_sums, sums, row_weights
        )
    return Inferred(gamma, log_sums, done)


def block_theta(model: FoldIn, block: Any) -> np.ndarray:
    """(n, k) the mean of the topic proportions of each document."""
    gamma = infer(model, parts(block).rows, NOTHING, NO_WEIGHTS).gamma
    return gamma / gamma.sum(axis=1, keepdims=True)


NOTHING = np.zeros((0, LANES))
NO_WEIGHTS = np.zeros(0)


def complete_block(model: FoldIn, block: Any) -> np.ndarray:
    """(n, 2) the log-probability of every other token of each document given the rest, and how
    many tokens that is."""
    rows = sp.csr_array(parts(block).rows)
    seen, scored = halves(rows)
    theta = block_theta(model, seen)
    indptr, indices, counts = read_block(scored)
    logs = np.zeros(len(theta))
    score_rows(indptr, indices, counts, model.weights, theta.astype(np.float32), logs)
    return np.stack([logs, np.asarray(scored.sum(axis=1)).ravel()], axis=1)


def halves(rows: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Tokens 0, 2, 4, ... of each document and tokens 1, 3, 5, ...

    >>> [half.toarray().tolist() for half in halves(sp.csr_array([[3, 0, 2]]))]
    [[[2, 0, 1]], [[1, 0, 1]]]
    """
    ends = np.cumsum(rows.data)
    before = np.concatenate([[0], ends])[rows.indptr[:-1]]
    stop = ends - np.repeat(before, np.diff(rows.indptr))
    start = stop - rows.data
    even = (stop + 1) // 2 - (start + 1) // 2
    made = [
        sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
        for values in (even, rows.data - even)
    ]
    return made[0], made[1]


def walk_block(model: FoldIn, block: Any) -> np.ndarray:
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


# fastmath: the dot products must be vectors (three times the speed); nothing is NaN or inf.
@kernel(fastmath=True)
def infer_rows(span, block, model, gathered, gamma, log_sums, sums, row_weights):
    """Infer a span of the documents of a block; the iterations made."""
    indptr, indices, counts = block
    weights, alpha, max_iter, tol = model
    k = alpha.size
    theta = np.zeros(gathered.shape[1], np.float32)
    found = np.zeros(gathered.shape[1], np.float32)
    # Columns of gathered, theta, found, mine and prior are these topics.
    active, mine, prior = np.empty(k, np.int64), np.empty(k), np.empty(k)
    amounts = np.zeros(gathered.shape[0], np.float32)
    done = 0
    for d in range(span[0], span[1]):
        first, last = indptr[d], indptr[d + 1]
        n = last - first
        own = gamma[d]
        size, padded = k, weights.shape[1]
        tokens = 0.0
        for t in range(n):
            tokens += counts[first + t]
            amounts[t] = counts[first + t]
            source, row = weights[indices[first + t]], gathered[t]
            for j in range(padded):
                row[j] = source[j]
        gathered[n : n + TOGETHER] = 0
        amounts[n : n + TOGETHER] = 0
        for j in range(k):
            active[j] = j
            prior[j] = alpha[j]
            mine[j] = alpha[j] + tokens / k
        theta[k:] = 0
        for step in range(max_iter):
            done += 1
            if step % 4 == 3 and size > LANES:
                size, padded = drop_empty(gathered[:n], own, mine, prior, active, theta, size)
            for j in range(size):
                theta[j] = exp_digamma(mine[j])
            for j in range(padded):
                found[j] = 0
            for t in range(0, n, TOGETHER):
                a, b, c, e = gathered[t], gathered[t + 1], gathered[t + 2], gathered[t + 3]
                total_a = total_b = total_c = total_e = np.float32(1e-37)
                for j in range(padded):
                    total_a += a[j] * theta[j]
                    total_b += b[j] * theta[j]
                    total_c += c[j] * theta[j]
                    total_e += e[j] * theta[j]
                p, q = amounts[t] / total_a, amounts[t + 1] / total_b
                r, s = amounts[t + 2] / total_c, amounts[t + 3] / total_e
                for j in range(padded):
                    found[j] += p * a[j] + q * b[j] + r * c[j] + s * e[j]
            change = 0.0
            for j in range(size):
                new = prior[j] + np.float64(theta[j]) * found[j]
                change += abs(new - mine[j])
                mine[j] = new
            if change < tol * k:
                break
        for j in range(size):
            own[active[j]] = mine[j]
            theta[j] = exp_digamma(mine[j])
        total_gamma = own.sum()
        scale = math.log(exp_digamma(total_gamma))
        weight = row_weights[d] if row_weights.size else 1.0
        logs = 0.0
        for t in range(n):
            row = gathered[t]
            total = np.float32(1e-37)
            for j in range(padded):
                total += row[j] * theta[j]
            logs += counts[first + t] * (math.log(total) - scale)
            if sums.shape[0]:
                ratio = np.float32(counts[first + t]) / total
                target = sums[indices[first + t]]
                if size == k:
                    for j in range(padded):
                        target[j] += weight * np.float64(ratio * theta[j] * row[j])
                else:
                    for j in range(size):
                        target[active[j]] += weight * np.float64(ratio * theta[j] * row[j])
        log_sums[d] = logs
    return done


@kernel
def drop_empty(gathered, own, mine, prior, active, theta, size):
    """Drop the columns of topics that no word of the document uses; how many are left, and that
    padded. A topic without words keeps its prior, whose exp(digamma) is nothing beside others.
    """
    kept = 0
    for j in range(size):
        kept += mine[j] - prior[j] > 1e-12 or exp_digamma(prior[j]) > 1e-20
    padded = -(-kept // LANES) * LANES
    if padded >= -(-size // LANES) * LANES:
        return size, -(-size // LANES) * LANES
    kept = 0
    for j in range(size):
        if mine[j] - prior[j] > 1e-12 or exp_digamma(prior[j]) > 1e-20:
            mine[kept], prior[kept], active[kept] = mine[j], prior[j], active[j]
            for t in range(gathered.shape[0]):
                gathered[t, kept] = gathered[t, j]
            kept += 1
        else:
            own[active[j]] = mine[j]
    gathered[:, kept:padded] = 0
    theta[kept:] = 0
    return kept, padded


@kernel(fastmath=True)
def score_rows(indptr, indices, counts, weights, theta, logs):
    for d in range(logs.size):
        own = theta[d]
        for t in range(indptr[d], indptr[d + 1]):
            row = weights[indices[t]]
            total = np.float32(1e-37)
            for j in range(own.size):
                total += row[j] * own[j]
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
        held = alpha.copy()
        for i in range(n):
            for back in range(i + 1):
                if back < i:
                    held[topics[back]] -= 1
                total = 0.0
                row = weights[words[back]]
                for j in range(k):
                    total += held[j] * row[j]
                    p[j] = total
                if back == i:
                    chances[i] += total / (i + total_alpha)
                u = uniform(key, drawn) * total
                drawn += 1
                new = 0
                while new < k - 1 and p[new] <= u:
                    new += 1
                topics[back] = new
                held[new] += 1
    logs = 0.0
    for i in range(n):
        logs += math.log(max(chances[i] / particles, 1e-300))
    return logs

"""How well clusters agree with known classes: scores of two labelings of the same rows.

Only which rows have equal labels matters, not the labels themselves. Every score is computed
from the contingency table, which counts the rows with each pair of labels.

    homogeneity     1 - H(class | cluster) / H(class): every cluster has one class
    completeness    1 - H(cluster | class) / H(cluster): every class is in one cluster
    V-measure       their harmonic mean
    Rand            fraction of the pairs of rows that both labelings treat alike; adjusted:
                    less what chance gives
    purity          fraction of rows in the most frequent class of their cluster
    best matching   accuracy when clusters are matched with classes one to one, optimally
    mutual information   sum over pairs of labels of p(i, j) log( p(i, j) / (p(i) p(j)) );
                    normalized: over a mean of the two entropies; adjusted: less the mean over
                    random permutations of one labeling

Names and values are scikit-learn's. Tables of integer labels are counted, not sorted: with two
million rows 10 to 30 times faster (benchmarks/measure/clustering.py).

Rosenberg and Hirschberg (2007), V-Measure: a conditional entropy-based external cluster
evaluation measure. EMNLP. Hubert and Arabie (1985), Comparing partitions. J. Classification 2.
Kuhn (1955), The Hungarian method for the assignment problem. Naval Research Logistics 2.
Vinh, Epps and Bailey (2010), Information theoretic measures for clusterings comparison.
JMLR 11. The notes' section on evaluating clusterings.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import kernel
from tacit.measure.labels import Codes, two_labelings
from tacit.measure.labels import contingency as contingency_of

__all__ = [
    "adjusted_mutual_info_score", "adjusted_rand_score", "best_matching_accuracy",
    "completeness_score", "homogeneity_completeness_v_measure", "homogeneity_score",
    "mutual_info_score", "normalized_mutual_info_score", "purity", "rand_score",
    "v_measure_score",
]  # fmt: skip

MOST_CELLS = 2**27  # of the table of the best matching: 1 GB
MEANS: dict[str, Callable[[float, float], float]] = {
    "arithmetic": lambda a, b: (a + b) / 2,
    "geometric": lambda a, b: math.sqrt(a * b),
    "min": min,
    "max": max,
}


def homogeneity_completeness_v_measure(
    labels_true: Any, labels_pred: Any, *, beta: float = 1.0
) -> tuple[float, float, float]:
    """Whether clusters have one class, classes one cluster, and both; each from 0 to 1.

    Parameters
    ----------
    labels_true, labels_pred : arrays of n_rows labels of any kind
        The classes, and the clusters.
    beta : float
        Above 1, completeness counts more in the V-measure; below, homogeneity.

    Examples
    --------
    >>> classes = ["cat", "cat", "dog", "dog"]
    >>> h, c, v = homogeneity_completeness_v_measure(classes, [0, 0, 1, 2])
    >>> h, round(c, 3), v
    (1.0, 0.667, 0.8)
    """
    name = "homogeneity_completeness_v_measure"
    if not beta >= 0:
        raise ValueError(f"{name}(beta={beta}) must be zero or more. The usual is 1.")
    true, pred = two_labelings(labels_true, labels_pred, name=name)
    shared = information_in(contingency_of(true, pred), true.counts, pred.counts)
    entropies = entropy_of(true.counts), entropy_of(pred.counts)
    h, c = (min(1.0, shared / entropy) if entropy > 0 else 1.0 for entropy in entropies)
    v = (1 + beta) * h * c / (beta * h + c) if h + c > 0 else 0.0
    return h, c, v


def homogeneity_score(labels_true: Any, labels_pred: Any) -> float:
    """1.0 where every cluster holds rows of one class only.

    >>> homogeneity_score(["a", "a", "b"], [0, 1, 2])
    1.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[0]


def completeness_score(labels_true: Any, labels_pred: Any) -> float:
    """1.0 where all rows of a class are in one cluster.

    >>> completeness_score(["a", "a", "b"], [0, 0, 0])
    1.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[1]


def v_measure_score(labels_true: Any, labels_pred: Any, *, beta: float = 1.0) -> float:
    """The harmonic mean of homogeneity and completeness.

    >>> v_measure_score(["a", "a", "b"], [1, 1, 0])
    1.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred, beta=beta)[2]


def rand_score(labels_true: Any, labels_pred: Any) -> float:
    """Fraction of the pairs of rows that both labelings put together, or both apart.

    >>> rand_score([0, 0, 1], [0, 1, 1])
    0.333...
    """
    together, split, joined, apart = count_pairs(labels_true, labels_pred, "rand_score")
    every = together + split + joined + apart
    return (together + apart) / every if every else 1.0


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """The Rand score corrected for chance: 1 for the same clusters, about 0 for unrelated
    ones, below 0 for worse than chance.

    >>> adjusted_rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> adjusted_rand_score([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5
    """
    name = "adjusted_rand_score"
    together, split, joined, apart = count_pairs(labels_true, labels_pred, name)
    if split == 0 and joined == 0:
        return 1.0
    gain = 2 * (together * apart - split * joined)
    most = (together + split) * (split + apart) + (together + joined) * (joined + apart)
    return gain / most


def purity(labels_true: Any, labels_pred: Any) -> float:
    """Fraction of rows that belong to the most frequent class of their cluster.

    More clusters never lower it: compare it at the same number of clusters only.

    >>> purity(["a", "a", "b", "b", "b"], [0, 0, 0, 1, 1])
    0.8
    """
    true, pred = two_labelings(labels_true, labels_pred, name="purity")
    most = contingency_of(true, pred).max(axis=0).toarray()
    return float(most.sum() / len(true.codes))


def best_matching_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Accuracy of the clusters as a classifier, each named after one class in the best way.

    Clusters and classes are matched one to one by the Hungarian method; rows of clusters that
    are left over count as wrong.

    >>> best_matching_accuracy(["a", "a", "b", "b", "b"], [7, 7, 7, 3, 3])
    0.8
    """
    from scipy.optimize import linear_sum_assignment

    name = "best_matching_accuracy"
    true, pred = two_labelings(labels_true, labels_pred, name=name)
    table = contingency_of(true, pred)
    if table.shape[0] * table.shape[1] > MOST_CELLS:
        raise ValueError(
            f"{name} would match {table.shape[0]:,} classes with {table.shape[1]:,} clusters "
            f"in a table of {8 * table.shape[0] * table.shape[1] / 1e9:.1f} GB. Use purity."
        )
    counts = table.toarray()
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / len(true.codes))


def mutual_info_score(labels_true: Any, labels_pred: Any, *, contingency: Any = None) -> float:
    """Mutual information of two labelings of the same rows, in nats.

    ``contingency`` is the table of counts of the two, where it is known; the labels are not
    used then and may be None.

    >>> mutual_info_score([0, 0, 1, 1], ["x", "x", "y", "y"])
    0.6931...
    """
    if contingency is not None:
        table = sp.csr_array(contingency)
        rows, columns = (np.asarray(table.sum(axis=axis)).ravel() for axis in (1, 0))
        return information_in(table, rows, columns)
    true, pred = two_labelings(labels_true, labels_pred, name="mutual_info_score")
    return information_in(contingency_of(true, pred), true.counts, pred.counts)


def normalized_mutual_info_score(
    labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic"
) -> float:
    """Mutual information over a mean of the entropies: 0 for none, 1 for the same clusters.

    ``average_method`` is "arithmetic", "geometric", "min" or "max".

    >>> normalized_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 2])
    0.8
    """
    name = "normalized_mutual_info_score"
    true, pred = two_labelings(labels_true, labels_pred, name=name)
    if len(true.names) == len(pred.names) == 1:
        return 1.0
    shared = information_in(contingency_of(true, pred), true.counts, pred.counts)
    if shared <= np.finfo(float).eps:
        return 0.0
    return float(min(1.0, shared / mean_entropy(true, pred, average_method, name)))


def adjusted_mutual_info_score(
    labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic"
) -> float:
    """Mutual information corrected for chance and normalized: 1 for the same clusters, about 0
    for unrelated ones.

    ``average_method`` is "arithmetic", "geometric", "min" or "max".

    >>> adjusted_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(adjusted_mutual_info_score([0, 0, 1, 1], [0, 1, 0, 1]), 6)
    -0.5
    """
    name = "adjusted_mutual_info_score"
    true, pred = two_labelings(labels_true, labels_pred, name=name)
    table = contingency_of(true, pred)
    n, (r, c) = len(true.codes), table.shape
    if r == c == 1 or r == c == table.nnz:
        return 1.0  # the same clusters; also where chance can give nothing else
    if r == 1 or c == 1:
        return 0.0
    shared = information_in(table, true.counts, pred.counts)
    chance = expected_information(true.counts, pred.counts, n)
    scale = mean_entropy(true, pred, average_method, name) - chance
    # Where chance reaches the maximum only rounding is left; keep its sign, and off zero.
    least = np.finfo(float).eps
    scale = min(scale, -least) if scale < 0 else max(scale, least)
    return float((shared - chance) / scale)


# --- Parts ---


def count_pairs(labels_true: Any, labels_pred: Any, name: str) -> tuple[int, int, int, int]:
    """Pairs of rows together in both labelings; only in the first; only in the second;
    in neither. Python integers: their products do not fit 64 bits.
    """
    true, pred = two_labelings(labels_true, labels_pred, name=name)

    def choose_two(counts: np.ndarray) -> int:
        counts = counts.astype(np.int64)
        return int((counts * (counts - 1) // 2).sum())

    n = len(true.codes)
    together = choose_two(contingency_of(true, pred).data)
    split = choose_two(true.counts) - together
    joined = choose_two(pred.counts) - together
    return together, split, joined, n * (n - 1) // 2 - together - split - joined


def mean_entropy(true: Codes, pred: Codes, method: str, name: str) -> float:
    if method not in MEANS:
        known = ", ".join(map(repr, MEANS))
        raise ValueError(f"{name}: average_method={method!r} is unknown. Choose from {known}.")
    return MEANS[method](entropy_of(true.counts), entropy_of(pred.counts))


def entropy_of(counts: np.ndarray) -> float:
    """Entropy in nats of the distribution of counts above 0.

    >>> entropy_of(np.array([1, 1]))
    0.6931...
    """
    if len(counts) == 1:
        return 0.0
    p = counts / counts.sum()
    return float(-(p * np.log(p)).sum())


def information_in(table: sp.csr_array, true: np.ndarray, pred: np.ndarray) -> float:
    """Mutual information in a table of counts with these margins; never below 0."""
    cells = table.tocoo()
    counts = cells.data.astype(np.float64)
    n = counts.sum()
    expected = true[cells.coords[0]].astype(np.float64) * pred[cells.coords[1]]
    filled = counts > 0
    ratio = np.log(counts[filled] * n / expected[filled])
    return max(0.0, float((counts[filled] * ratio).sum() / n))


def expected_information(true: np.ndarray, pred: np.ndarray, n: int) -> float:
    """The mean mutual information of two labelings with these counts under permutations: a sum
    over hypergeometric distributions, equal pairs of margins once."""
    from scipy.special import gammaln

    rows, many_rows = np.unique(true, return_counts=True)
    columns, many_columns = np.unique(pred, return_counts=True)
    factorials = gammaln(np.arange(n + 1, dtype=np.float64) + 1)
    logs = np.log(np.maximum(np.arange(n + 1, dtype=np.float64), 1))
    total = 0.0
    for first in range(0, len(columns), 64):  # a kernel call stays short
        part = slice(first, first + 64)
        for a, often in zip(rows, many_rows, strict=True):
            cells = expected_row(int(a), columns[part], many_columns[part], n, factorials, logs)
            total += often * cells
    return total


# --- Kernels ---


@kernel
def expected_row(a, columns, many, n, factorials, logs):
    """Expected p log(p / pq) of the cells in a row with margin a, by columns' margins."""
    total = 0.0
    for q in range(columns.shape[0]):
        b = columns[q]
        low, high = max(1, a + b - n), min(a, b)
        if low > high:
            continue
        mode = min(max((a + 1) * (b + 1) // (n + 2), low), high)
        odds = math.exp(
            factorials[a] + factorials[b] + factorials[n - a] + factorials[n - b]
            - factorials[n] - factorials[mode] - factorials[a - mode]
            - factorials[b - mode] - factorials[n - a - b + mode]
        )  # fmt: skip
        base = logs[n] - logs[a] - logs[b]
        cell = odds * mode * (base + logs[mode])
        p = odds
        for m in range(mode, high):  # upward, by the ratio of neighboring odds
            p *= (a - m) / (m + 1.0) * ((b - m) / (n - a - b + m + 1.0))
            cell += p * (m + 1) * (base + logs[m + 1])
            if p < 1e-22 * odds:
                break
        p = odds
        for m in range(mode, low, -1):
            p *= m / (a - m + 1.0) * ((n - a - b + m) / (b - m + 1.0))
            cell += p * (m - 1) * (base + logs[m - 1])
            if p < 1e-22 * odds:
                break
        total += many[q] * cell
    return total / n

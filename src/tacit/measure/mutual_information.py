"""What one labeling tells about the other, in nats, as a share, and beyond chance.

    mutual information   sum over pairs of labels of p(i, j) log( p(i, j) / (p(i) p(j)) )
    normalized           over a mean of the two entropies: from 0 to 1
    adjusted             less what labels shuffled at random would share: about 0 for chance

The expectation under shuffling is a sum over all tables' cells of a hypergeometric
distribution; equal pairs of margins are summed once, outward from the most likely count.

Vinh, Epps and Bailey (2010), Information theoretic measures for clusterings comparison.
JMLR 11.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import kernel
from tacit.measure.labels import contingency, two_labelings

__all__ = [
    "adjusted_mutual_info_score",
    "entropy_of",
    "information_in",
    "mutual_info_score",
    "normalized_mutual_info_score",
]

SPAN = 64  # pairs of margins to a kernel call


def mutual_info_score(labels_true: Any, labels_pred: Any) -> float:
    """Mutual information of two labelings of the same rows, in nats.

    Examples
    --------
    >>> mutual_info_score([0, 0, 1, 1], ["x", "x", "y", "y"])
    0.6931
    """
    true, pred = two_labelings(labels_true, labels_pred, name="mutual_info_score")
    return information_in(contingency(true, pred), true.counts, pred.counts)


def normalized_mutual_info_score(
    labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic"
) -> float:
    """Mutual information over a mean of the entropies: 0 for none, 1 for the same clusters.

    ``average_method`` is "arithmetic", "geometric", "min" or "max".

    Examples
    --------
    >>> normalized_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 2])
    0.8
    """
    name = "normalized_mutual_info_score"
    true, pred = two_labelings(labels_true, labels_pred, name=name)
    if len(true.names) == len(pred.names) == 1:
        return 1.0  # both know everything there is to know
    shared = information_in(contingency(true, pred), true.counts, pred.counts)
    if shared <= np.finfo(float).eps:
        return 0.0
    entropies = entropy_of(true.counts), entropy_of(pred.counts)
    return float(min(1.0, shared / mean_of(*entropies, average_method, name)))


def adjusted_mutual_info_score(
    labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic"
) -> float:
    """Normalized mutual information less what chance would give: 1 for the same clusters,
    about 0 for unrelated ones.

    ``average_method`` is "arithmetic", "geometric", "min" or "max".

    Examples
    --------
    >>> adjusted_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> adjusted_mutual_info_score([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5
    """
    name = "adjusted_mutual_info_score"
    true, pred = two_labelings(labels_true, labels_pred, name=name)
    table = contingency(true, pred)
    n, (r, c) = len(true.codes), table.shape
    if r == c == 1 or r == c == table.nnz:
        return 1.0  # the same clusters; also where chance could give nothing else
    if r == 1 or c == 1:
        return 0.0  # one knows nothing, the other has something to know
    shared = information_in(table, true.counts, pred.counts)
    chance = expected_information(true.counts, pred.counts, n)
    entropies = entropy_of(true.counts), entropy_of(pred.counts)
    room = mean_of(*entropies, average_method, name) - chance
    # Where chance fills the room only rounding is left; keep its sign, and off zero.
    least = np.finfo(float).eps
    room = min(room, -least) if room < 0 else max(room, least)
    return float((shared - chance) / room)


def mean_of(a: float, b: float, method: str, name: str) -> float:
    if method == "arithmetic":
        return (a + b) / 2
    if method == "geometric":
        return math.sqrt(a * b)
    if method in ("min", "max"):
        return min(a, b) if method == "min" else max(a, b)
    raise ValueError(
        f"{name}: average_method={method!r} is unknown. Choose from 'arithmetic', 'geometric', "
        "'min', 'max'."
    )


# --- Their parts ---


def entropy_of(counts: np.ndarray) -> float:
    """Entropy in nats of a distribution given by counts above 0.

    Examples
    --------
    >>> entropy_of(np.array([1, 1]))
    0.6931
    """
    if len(counts) == 1:
        return 0.0
    share = counts / counts.sum()
    return float(-(share * np.log(share)).sum())


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
    """The mutual information of two labelings with these counts, shuffled at random."""
    from scipy.special import gammaln

    rows, many_rows = np.unique(true, return_counts=True)
    columns, many_columns = np.unique(pred, return_counts=True)
    factorials = gammaln(np.arange(n + 1, dtype=np.float64) + 1)
    logs = np.log(np.maximum(np.arange(n + 1, dtype=np.float64), 1))
    total = 0.0
    for first in range(0, len(columns), SPAN):  # a kernel call stays short
        part = slice(first, first + SPAN)
        for a, often in zip(rows, many_rows, strict=True):
            found = chance_row(int(a), columns[part], many_columns[part], n, factorials, logs)
            total += often * found
    return total


# --- Kernels ---


@kernel
def chance_row(a, columns, many, n, factorials, logs):
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
        for m in range(mode, high):  # upward: the ratio of neighboring odds is simple
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

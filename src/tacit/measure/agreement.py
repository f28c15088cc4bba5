"""How well clusters agree with classes that are known: measures of two labelings.

Names of labels do not matter, only which rows share one. All of them are computed from the
table that counts how many rows have each pair of labels.

    homogeneity     1 - H(class | cluster) / H(class): every cluster has one class
    completeness    1 - H(cluster | class) / H(cluster): every class is in one cluster
    V-measure       their harmonic mean
    Rand            share of pairs of rows that both labelings treat alike; adjusted so that
                    chance gets 0
    purity          share of rows in the class that is most frequent in their cluster
    best matching   accuracy when every cluster is named after a class of its own, in the best
                    way there is

Rosenberg and Hirschberg (2007), V-Measure: a conditional entropy-based external cluster
evaluation measure. EMNLP. Hubert and Arabie (1985), Comparing partitions. J. Classification 2.
Kuhn (1955), The Hungarian method for the assignment problem. Naval Research Logistics 2.
The notes' section on evaluating clusterings.
"""

from typing import Any

import numpy as np

from tacit.measure.labels import contingency, two_labelings
from tacit.measure.mutual_information import entropy_of, information_in

__all__ = [
    "adjusted_rand_score",
    "best_matching_accuracy",
    "completeness_score",
    "homogeneity_completeness_v_measure",
    "homogeneity_score",
    "purity",
    "rand_score",
    "v_measure_score",
]

MOST_CELLS = 2**27  # of a table that the best matching is looked for in: 1 GB


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
    shared = information_in(contingency(true, pred), true.counts, pred.counts)
    h, c = (share(shared, entropy_of(each.counts)) for each in (true, pred))
    v = (1 + beta) * h * c / (beta * h + c) if h + c > 0 else 0.0
    return h, c, v


def share(shared: float, entropy: float) -> float:
    """How much of what there is to know is known; all of it where there is nothing."""
    return min(1.0, shared / entropy) if entropy > 0 else 1.0


def homogeneity_score(labels_true: Any, labels_pred: Any) -> float:
    """1.0 where every cluster holds rows of one class only.

    Examples
    --------
    >>> homogeneity_score(["a", "a", "b"], [0, 1, 2])
    1.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[0]


def completeness_score(labels_true: Any, labels_pred: Any) -> float:
    """1.0 where all rows of a class are in one cluster.

    Examples
    --------
    >>> completeness_score(["a", "a", "b"], [0, 0, 0])
    1.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[1]


def v_measure_score(labels_true: Any, labels_pred: Any, *, beta: float = 1.0) -> float:
    """The harmonic mean of homogeneity and completeness.

    Examples
    --------
    >>> v_measure_score(["a", "a", "b"], [1, 1, 0])
    1.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred, beta=beta)[2]


def rand_score(labels_true: Any, labels_pred: Any) -> float:
    """Share of the pairs of rows that both labelings put together, or both apart.

    Examples
    --------
    >>> rand_score([0, 0, 1], [0, 1, 1])
    0.333
    """
    together, split, joined, apart = pairs(labels_true, labels_pred, "rand_score")
    every = together + split + joined + apart
    return (together + apart) / every if every else 1.0


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """The Rand score less what chance would give: 1 for the same clusters, about 0 for none
    of them, below 0 for worse than chance.

    Examples
    --------
    >>> adjusted_rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> adjusted_rand_score([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5
    """
    together, split, joined, apart = pairs(labels_true, labels_pred, "adjusted_rand_score")
    if split == 0 and joined == 0:
        return 1.0
    gain = 2 * (together * apart - split * joined)
    most = (together + split) * (split + apart) + (together + joined) * (joined + apart)
    return gain / most


def pairs(labels_true: Any, labels_pred: Any, name: str) -> tuple[int, int, int, int]:
    """Pairs of rows that both put together; only the first; only the second; neither.

    Python's integers: products of them do not fit 64 bits.
    """
    true, pred = two_labelings(labels_true, labels_pred, name=name)

    def choose_two(counts: np.ndarray) -> int:
        counts = counts.astype(np.int64)
        return int((counts * (counts - 1) // 2).sum())

    n = len(true.codes)
    together = choose_two(contingency(true, pred).data)
    split = choose_two(true.counts) - together
    joined = choose_two(pred.counts) - together
    return together, split, joined, n * (n - 1) // 2 - together - split - joined


def purity(labels_true: Any, labels_pred: Any) -> float:
    """Share of rows that belong to the most frequent class of their cluster.

    More clusters never lower it: compare it at the same number of clusters only.

    Examples
    --------
    >>> purity(["a", "a", "b", "b", "b"], [0, 0, 0, 1, 1])
    0.8
    """
    true, pred = two_labelings(labels_true, labels_pred, name="purity")
    most = contingency(true, pred).max(axis=0).toarray()
    return float(most.sum() / len(true.codes))


def best_matching_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Accuracy of the clusters as a classifier, each named after one class in the best way.

    Clusters and classes are matched one to one by the Hungarian method; rows of clusters that
    are left over count as wrong.

    Examples
    --------
    >>> best_matching_accuracy(["a", "a", "b", "b", "b"], [7, 7, 7, 3, 3])
    0.8
    """
    from scipy.optimize import linear_sum_assignment

    name = "best_matching_accuracy"
    true, pred = two_labelings(labels_true, labels_pred, name=name)
    table = contingency(true, pred)
    if table.shape[0] * table.shape[1] > MOST_CELLS:
        raise ValueError(
            f"{name} would match {table.shape[0]:,} classes with {table.shape[1]:,} clusters "
            f"in a table of {8 * table.shape[0] * table.shape[1] / 1e9:.1f} GB. Use purity."
        )
    counts = table.toarray()
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / len(true.codes))

"""Whether rows fall into groups, and into how many, decided by what repeats.

The rows are cut into two random halves, each half is clustered, and the centers of each label
all rows. The mutual information of the two labelings says how much one half knows about the
groups of the other: nothing if there are none, log k if k groups are recovered exactly. In
between it grows with every group that repeats, so one vague group does not decide for the
others.

Data without groups share information too: a long cloud is cut across its length by both halves.
So the same is done with references that have no groups (``null_reference``, and for text the
documents with their words dealt out again), and only what exceeds all of them counts; or what
repeats exactly and has gaps between its groups (``k_trials``), which no long cloud has. The
excess over log k is the score of k. The first peak of the score is taken, the coarsest division
that repeats: finer ones are found inside its groups. Many small groups, the books of an author
say, have a score that rises with k up to their number; so larger k are tried while it rises.

Lange, Roth, Braun and Buhmann (2004), Stability-based validation of clustering solutions.
Neural Computation 16. Vinh, Epps and Bailey (2010), Information theoretic measures for
clusterings comparison. JMLR 11.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tacit.cluster.k_trials import fraction_apart
from tacit.cluster.small_kmeans import SmallFit, small_kmeans
from tacit.core.engines import Engine, Serial, check_stop
from tacit.core.randoms import key, permutation
from tacit.kernels.nearest_centers import nearest_centers

__all__ = ["Split", "compare_halves", "split_rows"]

DEVIATIONS = 3.0  # above the references that count
LEAST = 0.15  # of log k that must be shared beyond chance
EXACT = 0.9  # of log k, from which on groups count as recovered exactly
PEAK = 0.75  # of the highest score, that the first peak must reach
PLATEAU = 0.95  # of the peak: the smallest number that reaches this is taken


class Split(NamedTuple):
    """The number of groups, 1 for none, and the figures behind it."""

    k: int
    most: int  # the largest number that repeats about as well as any
    ks: tuple[int, ...]  # that were tried
    shared: np.ndarray  # (ks,) fraction of log k that two halves share
    chance: np.ndarray  # (ks,) the same in data without groups, of the kind that shares most
    labels: np.ndarray  # (n,) int32; all 0 where k is 1
    centers: np.ndarray  # (k, d)

    @property
    def score(self) -> float:
        """What the halves share beyond chance at k, or at best where k is 1."""
        above = self.shared - self.chance
        return float(above[self.ks.index(self.k)] if self.k > 1 else above.max(initial=0.0))


def split_rows(
    rows: np.ndarray,
    references: Mapping[str, Sequence[np.ndarray]],
    ks: Sequence[int],
    seed: np.uint64,
    *,
    further: Sequence[int] = (),
    repeats: int = 4,
    starts: int = 2,
    unit: bool = True,
    engine: Engine | None = None,
) -> Split:
    """Divide rows into the groups that repeat, or into none.

    Parameters
    ----------
    rows : (n, d) array
        Of length one if ``unit``.
    references : mapping from a kind to arrays
        Data sets without groups, of the same shape.
    ks : integers from 2 up
        Numbers of groups to try, ascending.
    further : integers
        Larger ones, for ``most`` alone; each tried only where the largest before it has the
        highest score.
    repeats, starts : int
        Pairs of halves, and starts of each clustering.
    engine : engine, default in the calling thread
        Runs the rows and the references.

    Examples
    --------
    >>> from tacit.cluster.null_reference import draw, fit_reference
    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([rng.normal(size=(80, 2)) + c for c in ((0, 0), (9, 0), (0, 9))])
    >>> def nothing(rows):
    ...     cloud = fit_reference(rows)
    ...     seeds = (np.uint64(1), np.uint64(2))
    ...     return {kind: [draw(cloud, kind, s) for s in seeds] for kind in ("normal", "box")}
    >>> split_rows(rows, nothing(rows), (2, 3, 4, 5), np.uint64(0), unit=False).k
    3
    >>> rows = rng.normal(size=(240, 2))
    >>> split_rows(rows, nothing(rows), (2, 3, 4, 5), np.uint64(0), unit=False).k
    1
    """
    # The rows and each reference: the data, its kind, how often it is cut in two, its seed.
    sets, fewer = [(rows, 0, repeats, key(seed, 1))], max(2, repeats // 2)
    for number, drawn in enumerate(references.values()):
        for r, data in enumerate(drawn):
            sets.append((data, number + 1, fewer, key(seed, 2, number, r)))
    tried: tuple[int, ...] = ()
    columns: list[list[np.ndarray]] = []  # for each batch of ks: the rows, then each kind
    for batch in (tuple(ks), *((k,) for k in further)):
        tried += batch

        def compare(each: tuple, batch: tuple[int, ...] = batch) -> np.ndarray:
            data, _, times, own = each
            return compare_halves(data, batch, times, own, starts=starts, unit=unit)

        results: list[list[np.ndarray]] = [[] for _ in range(len(references) + 1)]
        for each, values in zip(sets, (engine or Serial()).each(compare, sets), strict=True):
            results[each[1]].append(values)
        columns.append([np.concatenate(values) for values in results])
        observed, *null = (np.hstack(parts) for parts in zip(*columns, strict=True))
        logs = np.log(tried)
        chance = np.max([values.mean(axis=0) for values in null], axis=0)
        noise = max(values.var(axis=0, ddof=1).mean() / len(values) for values in null)
        spread = np.sqrt(observed.var(axis=0, ddof=1).mean() / repeats + noise)
        above = observed.mean(axis=0) - chance
        shared, score = observed.mean(axis=0) / logs, above / logs
        good = (above > DEVIATIONS * spread) & (score >= LEAST)
        if not good[-1] or score[-1] < score[good].max():
            break

    def cluster(k: int) -> SmallFit:
        return small_kmeans(rows, k, int(key(seed, 3)) % 2**31, starts=10, unit=unit)

    for j in np.flatnonzero((shared >= EXACT) & (above > 0) & ~good):
        # A long cloud is cut in two as exactly as two groups far apart, but has no gap.
        good[j] = fraction_apart(rows, cluster(tried[j]).labels) == 1
    i = first_peak(score[: len(ks)], good[: len(ks)])
    if i is None:
        labels = np.zeros(len(rows), np.int32)
        nothing = np.zeros((1, rows.shape[1]), rows.dtype)
        return Split(1, 1, tried, shared, chance / logs, labels, nothing)
    fit = cluster(tried[i])
    most = tried[np.flatnonzero(good & (score >= PLATEAU * score[good].max()))[-1]]
    return Split(tried[i], most, tried, shared, chance / logs, fit.labels, fit.centers)


def first_peak(score: np.ndarray, good: np.ndarray) -> int | None:
    """The place of the first peak that is high enough, of those that are good; None if none
    is.

    >>> good = np.array([True, True, True, True, True])
    >>> first_peak(np.array([0.1, 0.36, 0.2, 0.35, 0.4]), good)
    1
    >>> first_peak(np.array([0.1, 0.2, 0.48, 0.5, 0.4]), good)
    2
    """
    if not good.any():
        return None
    enough = PEAK * score[good].max()
    ends = np.append(score[1:], -math.inf)
    ends[:-1][~good[1:]] = -math.inf
    peak = next(i for i in range(len(score)) if good[i] and score[i] >= max(enough, ends[i]))
    first = peak
    while first and good[first - 1] and score[first - 1] >= PLATEAU * score[peak]:
        first -= 1
    return first


def compare_halves(
    rows: np.ndarray, ks: Sequence[int], repeats: int, seed: np.uint64, *, starts: int,
    unit: bool,
) -> np.ndarray:  # fmt: skip
    """Cluster both halves of the rows for each k, several times: the mutual information of the
    two, extended to all rows, in nats, (repeats, ks)."""
    n = len(rows)
    shared = np.zeros((repeats, len(ks)))
    for b in range(repeats):
        order = permutation(key(seed, b, 1), n)
        halves = [rows[np.sort(order[: n // 2])], rows[np.sort(order[n // 2 :])]]
        for i, k in enumerate(ks):
            check_stop()
            labels = []
            for part, half in enumerate(halves):
                drawn = int(key(seed, b, 2, k, part)) % 2**31
                fit = small_kmeans(half, k, drawn, starts=starts, unit=unit)
                labels.append(nearest_centers(rows, fit.centers, unit=unit))
            shared[b, i] = shared_information(labels[0], labels[1], k)
    return shared


def shared_information(a: np.ndarray, b: np.ndarray, k: int) -> float:
    """The mutual information of two labelings from 0 to k - 1, in nats.

    >>> round(shared_information(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), 2), 3)
    0.693
    """
    both = np.bincount(a * k + b, minlength=k * k).reshape(k, k) / len(a)
    apart = both.sum(axis=1, keepdims=True) * both.sum(axis=0)
    used = both > 0
    return float((both[used] * np.log(both[used] / apart[used])).sum())

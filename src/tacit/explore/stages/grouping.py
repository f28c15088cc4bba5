"""Directions that documents gather around: found on a sample, settled on all rows.

Starts and repeats do not depend on each other and draw their randomness from (seed, number), so
the engine may run them side by side with the same result.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.engines import Engine

__all__ = ["STABILITY_ROWS", "Grouped", "drawn_rows", "group_rows", "repeat_groups"]

STABILITY_ROWS = 20_000  # past this, starts and repeats look at a sample
AGAIN = 2  # starts of a repeat
PASSES = 20  # over all rows, at most


class Grouped(NamedTuple):
    """Labels by size, and the direction of each group."""

    labels: np.ndarray  # (n,) int32
    centers: np.ndarray  # (k, d) float32, of length one


class Start(NamedTuple):
    """One start, or one repeat, by number."""

    number: int

    def load(self) -> "Start":
        return self


class Search(NamedTuple):
    """What every start must know."""

    rows: np.ndarray  # (n, d) float32, of length one
    k: int
    seed: np.uint64


class Repeats(NamedTuple):
    """What every repeat must know."""

    rows: np.ndarray
    labels: np.ndarray
    k: int
    size: int  # rows of a repeat
    seed: np.uint64


def drawn_rows(rows: np.ndarray, most: int, *keys: int | np.uint64) -> np.ndarray:
    """At most so many rows, drawn without repetition, in their order."""
    from tacit.core.randoms import key, permutation

    if len(rows) <= most:
        return rows
    return np.ascontiguousarray(rows[np.sort(permutation(key(*keys), len(rows))[:most])])


def group_rows(
    rows: np.ndarray, k: int, *, starts: int, seed: np.uint64, engine: Engine
) -> Grouped:
    """The best of several starts on a sample, then passes over all rows until they settle."""
    from tacit.kernels.nearest_centers import run_passes
    from tacit.measure.labels import by_size

    sample = drawn_rows(rows, max(STABILITY_ROWS, k), seed, 0, 9)
    tasks = [Start(i) for i in range(starts)]
    fits = engine.map(run_start, Search(sample, k, seed), tasks)
    best = min(fits, key=lambda fit: fit.inertia)  # the first of equals
    found, centers = best.labels, best.centers
    if len(sample) < len(rows):
        found, centers = run_passes(rows, centers, engine, passes=PASSES, unit=True)
    labels = by_size(found)
    first = [int(found[np.argmax(labels == j)]) for j in range(int(labels.max()) + 1)]
    return Grouped(labels, np.ascontiguousarray(centers[first]))


def repeat_groups(
    rows: np.ndarray, labels: np.ndarray, k: int, *, size: int, repeats: int,
    seed: np.uint64, engine: Engine,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """For every row the share of repeats that keep it with its group; for every group the
    overlap (Jaccard) with its like in each repeat, sorted: (groups, repeats)."""
    how = Repeats(rows, labels, k, size, seed)
    kept = np.zeros(len(rows))
    overlaps = []
    for overlap, same in engine.map(run_repeat, how, [Start(i) for i in range(repeats)]):
        overlaps.append(overlap)
        kept += same
    return kept / repeats, np.sort(np.array(overlaps).T, axis=1)


# --- Tasks ---


def run_start(search: Search, start: Start):
    from tacit.cluster.small_kmeans import small_kmeans
    from tacit.core.randoms import key

    seed = int(key(search.seed, start.number, 5)) % 2**31
    return small_kmeans(search.rows, search.k, seed, starts=1, unit=True)


def run_repeat(how: Repeats, start: Start) -> tuple[np.ndarray, np.ndarray]:
    """Cluster some of the rows from new starts, and give all of them to what was found."""
    from tacit.cluster.small_kmeans import small_kmeans
    from tacit.core.randoms import key
    from tacit.kernels.nearest_centers import nearest_centers

    sample = drawn_rows(how.rows, how.size, how.seed, start.number, 7)
    own = int(key(how.seed, start.number, 6)) % 2**31
    fit = small_kmeans(sample, how.k, own, starts=AGAIN, unit=True)
    again = nearest_centers(how.rows, fit.centers, unit=True)
    size = int(how.labels.max()) + 1
    both = np.bincount(how.labels * how.k + again, minlength=size * how.k)
    both = both.reshape(size, how.k).astype(np.float64)
    overlap = both / (both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both)
    return overlap.max(axis=1), again == overlap.argmax(axis=1)[how.labels]

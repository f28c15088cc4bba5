"""Every text attributed by the others, and how sure attributions are.

A text is left out by taking its sums away: those of its counts from its author's, and those of
its blocks from the scale. So each text is attributed by scale and profiles of the others only,
at the cost of one comparison. The probability of author a is

    p(a)  =  exp(-b d(a)) / sum over all authors of exp(-b d)

where d are the distances of the text, and b maximizes the likelihood of the authors of the
texts left out. As in Platt's scaling, of n texts 1 / (n + 2) is taken to be wrong, so that a
few texts, all attributed right, do not make a probability of 1.

Platt (1999), Probabilistic outputs for support vector machines.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from tacit.style.deltas import Scale, score_distances
from tacit.style.function_words import WordBlocks

__all__ = [
    "Sums", "Unit", "add_up", "find_sharpness", "leave_one_out", "nearest", "profiles_of",
    "scale_of", "units_of",
]  # fmt: skip


class Sums(NamedTuple):
    """What is known of texts; sums, so that one text can be taken away again."""

    counts: np.ndarray  # (authors, words)
    words: np.ndarray  # (authors,) all words
    rows: int  # blocks
    total: np.ndarray  # (words,) sum of the blocks' frequencies, less a common center
    squares: np.ndarray  # (words,) sum of their squares
    scatter: np.ndarray  # (words,) the same sum of all texts, for the size of rounding errors


class Unit(NamedTuple):
    """A text, or a block of one: what is left out and attributed as a whole."""

    author: int
    counts: np.ndarray  # (words,)
    words: int
    rows: int
    total: np.ndarray
    squares: np.ndarray


def units_of(
    found: WordBlocks, groups: np.ndarray, authors: np.ndarray, center: np.ndarray
) -> list[Unit]:
    """The sums of every group of blocks; ``authors`` has one code for each group."""
    gaps = found.frequencies - center
    units = []
    for group, author in enumerate(authors.tolist()):
        own = groups == group
        counts, words = found.counts[own].sum(axis=0), int(found.lengths[own].sum())
        total, squares = gaps[own].sum(axis=0), (gaps[own] ** 2).sum(axis=0)
        units.append(Unit(author, counts, words, int(own.sum()), total, squares))
    return units


def add_up(units: Sequence[Unit], n_authors: int) -> Sums:
    """The sums of all texts, by author."""
    width = len(units[0].counts)
    counts, words = np.zeros((n_authors, width), np.int64), np.zeros(n_authors, np.int64)
    for unit in units:
        counts[unit.author] += unit.counts
        words[unit.author] += unit.words
    squares = np.sum([unit.squares for unit in units], axis=0)
    return Sums(
        counts, words, sum(unit.rows for unit in units),
        np.sum([unit.total for unit in units], axis=0), squares, squares,
    )  # fmt: skip


def without(sums: Sums, unit: Unit) -> Sums:
    """The sums of all texts but one."""
    counts, words = sums.counts.copy(), sums.words.copy()
    counts[unit.author] -= unit.counts
    words[unit.author] -= unit.words
    return Sums(
        counts, words, sums.rows - unit.rows, sums.total - unit.total,
        sums.squares - unit.squares, sums.scatter,
    )  # fmt: skip


def scale_of(sums: Sums) -> Scale:
    """The mean of the authors' profiles, and the deviation of the blocks' frequencies.

    Every author counts once in the mean. In the mean of all blocks, an author of most of them
    would lie near the origin, where angles mean nothing.
    """
    center, mean = profiles_of(sums)[sums.words > 0].mean(axis=0), sums.total / sums.rows
    squares = sums.squares - sums.rows * mean**2
    # What is left of a word of a single text, once that is taken away, is rounding.
    squares = np.where(squares > 1e-11 * sums.scatter, squares, 0.0)
    return Scale.of_sums(center, squares, sums.rows)


def profiles_of(sums: Sums) -> np.ndarray:
    """(authors, words) frequencies in all texts of an author; nan without a text."""
    with np.errstate(invalid="ignore"):
        return sums.counts / sums.words[:, None]


def nearest(
    rows: np.ndarray, authors: np.ndarray, known: np.ndarray, n_authors: int, variant: str
) -> np.ndarray:
    """(n, authors) the distance from rows to the nearest known row of every author."""
    distances = score_distances(rows, known, variant)
    result = np.full((len(rows), n_authors), np.inf)
    for author in np.unique(authors):
        result[:, author] = distances[:, authors == author].min(axis=1)
    return result


def leave_one_out(
    units: Sequence[Unit],
    n_authors: int,
    variant: str,
    compare: str,
    rows: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """(units, authors) distances of every unit from the authors of all others.

    ``rows`` are the frequencies to attribute when a unit is left out, those of its blocks for
    example; its own by default. Infinite from an author who has no other unit.
    """
    everything = add_up(units, n_authors)
    profiles = np.array([unit.counts / unit.words for unit in units])
    authors = np.array([unit.author for unit in units])
    result = []
    for i, unit in enumerate(units):
        asked = profiles[i : i + 1] if rows is None else rows[i]
        if len(units) == 1:
            return np.full((len(asked), n_authors), np.inf)
        others = without(everything, unit)
        scale = scale_of(others)
        if compare == "text":
            rest = np.arange(len(units)) != i
            known, of = scale.scores(profiles[rest]), authors[rest]
        else:
            of = np.flatnonzero(others.words)
            known = scale.scores(profiles_of(others)[of])
        result.append(nearest(scale.scores(asked), of, known, n_authors, variant))
    return np.concatenate(result)


def find_sharpness(distances: np.ndarray, authors: np.ndarray) -> float:
    """The b of the probabilities: see the module. 0 where there is nothing to learn from."""
    n, k = distances.shape
    finite = np.where(np.isfinite(distances), distances, 1e300)
    typical = float(np.median(distances[np.isfinite(distances)])) if n else 0.0
    if n == 0 or typical <= 0:
        return 0.0
    wrong = 1 / (n + 2)
    targets = np.full((n, k), wrong / (k - 1))
    targets[np.arange(n), authors] = 1 - wrong
    targets[~np.isfinite(distances)] = 0.0

    def loss(log_sharpness: float) -> float:
        logs = log_softmax(-np.exp(log_sharpness) * np.minimum(finite, 1e6 * typical), axis=1)
        return -float((targets * np.maximum(logs, -1e4)).sum())

    low, high = np.log(1e-3 / typical), np.log(1e4 / typical)
    best = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(best.x))

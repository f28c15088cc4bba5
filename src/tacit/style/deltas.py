"""Burrows's Delta and its family: how far apart two texts are in style.

Frequencies become z-scores: each word's mean is subtracted, and its standard deviation is
divided out, so that rare words count as much as frequent ones. With z and z' the scores of two
texts over n words, the variants are

    burrows     mean of |z - z'|                      Burrows (2002)
    eder        the same, weighted by rank: (n - r + 2) / n for the r-th word; the most
                frequent words count most               Eder (2015)
    quadratic   root mean square of z - z'             Argamon (2008)
    cosine      1 - cos(z, z')                         Smith and Aldridge (2011)

An author's profile is the frequency of each word in all of the author's texts. A text is left
out by subtracting its sums: its counts from those of its author, and its blocks from the scale.
So each text is attributed by scale and profiles of the others only, at the cost of one
comparison. The probability of author a is

    p(a)  =  exp(-b d(a)) / sum over all authors of exp(-b d)

where d are the distances of the text, and b maximizes the likelihood of the authors of the
texts left out. As in Platt's scaling, of n texts 1 / (n + 2) is taken to be wrong, so that a
few texts, all attributed right, do not make a probability of 1.

Burrows (2002), Delta: a measure of stylistic difference and a guide to likely authorship.
Literary and Linguistic Computing 17. Argamon (2008), Interpreting Burrows's Delta. Ibid. 23.
Evert, Proisl, Jannidis et al. (2017), Understanding and explaining Delta measures for
authorship attribution. Digital Scholarship in the Humanities 32. Platt (1999), Probabilistic
outputs for support vector machines.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from scipy.special import log_softmax
from sklearn.utils import check_array

from tacit.style.function_words import WordBlocks

__all__ = [
    "VARIANTS", "Scale", "Sums", "Unit", "add_up", "check_variant", "delta", "find_sharpness",
    "leave_one_out", "nearest", "profiles_of", "scale_of", "score_distances", "units_of",
]  # fmt: skip

VARIANTS = ("burrows", "eder", "cosine", "quadratic")


class Scale(NamedTuple):
    """The mean and the standard deviation of every word's frequency."""

    mean: np.ndarray  # (words,)
    spread: np.ndarray  # (words,) 0 where a frequency never varies

    @classmethod
    def of(cls, rows: np.ndarray) -> "Scale":
        """The scale of rows of frequencies; deviations are those of a sample (n - 1)."""
        mean = rows.mean(axis=0)
        return cls.of_sums(mean, ((rows - mean) ** 2).sum(axis=0), len(rows))

    @classmethod
    def of_sums(cls, mean: np.ndarray, squares: np.ndarray, n: int) -> "Scale":
        """The scale from the mean and the sum of squared deviations of n rows."""
        spread = np.sqrt(np.maximum(squares, 0.0) / max(1, n - 1))
        # Equal frequencies differ by rounding; that is not a deviation.
        return cls(mean, np.where(spread > 1e-12 * np.abs(mean), spread, 0.0))

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """z-scores of rows; 0 for words whose frequency never varies."""
        gaps = rows - self.mean
        return np.divide(gaps, self.spread, out=np.zeros_like(gaps), where=self.spread > 0)


def delta(X: Any, Y: Any = None, *, variant: str = "burrows", scale: bool = True) -> np.ndarray:
    """Compute the Delta between texts, from the frequencies of their words.

    Parameters
    ----------
    X : array of shape (n, words)
        Frequencies, the most frequent word first (which matters to "eder").
    Y : array of shape (m, words), optional
        Other texts to compare with; X itself by default. They are scaled as X is.
    variant : {"burrows", "eder", "cosine", "quadratic"}
        Which Delta; see the module.
    scale : bool
        Whether X holds frequencies, which become z-scores; False if it holds z-scores.

    Returns
    -------
    distances : array of shape (n, m)

    Examples
    --------
    >>> X = [[6.0, 1.0], [6.0, 3.0], [3.0, 2.0]]
    >>> delta(X).round(3)
    array([[0.   , 1.   , 1.366],
           [1.   , 0.   , 1.366],
           [1.366, 1.366, 0.   ]])
    """
    check_variant(variant, "delta")
    rows = check_array(X, dtype=np.float64, input_name="X")
    others = rows if Y is None else check_array(Y, dtype=np.float64, input_name="Y")
    if others.shape[1] != rows.shape[1]:
        raise ValueError(
            f"delta needs the same words in both, but X has {rows.shape[1]} columns and Y "
            f"{others.shape[1]}."
        )
    if scale:
        fitted = Scale.of(rows)
        rows, others = fitted.scores(rows), fitted.scores(others)
    return score_distances(rows, others, variant)


def check_variant(variant: Any, name: str) -> None:
    """ValueError for an unknown variant."""
    if variant not in VARIANTS:
        raise ValueError(
            f"{name}(variant={variant!r}) is unknown; choose from {list(VARIANTS)}."
        )


def score_distances(rows: np.ndarray, others: np.ndarray, variant: str) -> np.ndarray:
    """(n, m) distances between rows of z-scores."""
    n = rows.shape[1]
    if variant == "cosine":
        products = unit(rows) @ unit(others).T
        return np.clip(1.0 - products, 0.0, 2.0)
    if variant == "quadratic":
        return cdist(rows, others) / np.sqrt(n)
    if variant == "eder":
        weights = (n + 1 - np.arange(n)) / n
        rows, others = rows * weights, others * weights
    return cdist(rows, others, "cityblock") / n


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


# --- Profiles, and every text attributed by the others ---


class Sums(NamedTuple):
    """Sums over texts, from which one text can be subtracted."""

    counts: np.ndarray  # (authors, words)
    words: np.ndarray  # (authors,) all words
    rows: int  # blocks
    total: np.ndarray  # (words,) sum of the blocks' frequencies, less a common center
    squares: np.ndarray  # (words,) sum of their squares
    scatter: np.ndarray  # (words,) the same sum of all texts, for the size of rounding errors


class Unit(NamedTuple):
    """The sums of a text, or of a block: what is left out and attributed."""

    author: int
    counts: np.ndarray  # (words,)
    words: int
    rows: int
    total: np.ndarray
    squares: np.ndarray


def units_of(
    blocks: WordBlocks, groups: np.ndarray, authors: np.ndarray, center: np.ndarray
) -> list[Unit]:
    """The sums of every group of blocks; ``authors`` has one code for each group."""
    gaps = blocks.frequencies - center
    units = []
    for group, author in enumerate(authors.tolist()):
        rows = groups == group
        counts, words = blocks.counts[rows].sum(axis=0), int(blocks.lengths[rows].sum())
        total, squares = gaps[rows].sum(axis=0), (gaps[rows] ** 2).sum(axis=0)
        units.append(Unit(author, counts, words, int(rows.sum()), total, squares))
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
    # Without the only text that has a word, its variance is a rounding error.
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

    ``rows`` are the frequencies to attribute when a unit is left out, for example those of its
    blocks; by default those of the unit. Infinite from an author who has no other unit.
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
            known = scale.scores(np.delete(profiles, i, axis=0))
            of = np.delete(authors, i)
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

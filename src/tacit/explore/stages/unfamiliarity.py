"""How unfamiliar a document is to the collection: one score from five measures.

=============  ============================================================================
spelling       bits per byte given the other documents (``character_model``)
words          how rare its different words are in the other documents, on average
unexplained    the part of its weight that the directions of meaning do not represent
distance       root mean squared distance to its nearest documents
language       it is in a language that next to no other document is in
=============  ============================================================================

Each measure is compared with what is usual in the collection,

    z  =  (value - median) / sqrt(between + within / size).

A measure is a mean over the bytes or the different words of a document (its size), so that the
values of short documents vary more. ``between`` and ``within`` are the two parts of that
variance, fitted to the distance from the median to the 84th percentile of documents of about
the same size. The score is the root of the sum of squares of the positive z, divided by a
limit, so that documents
above 1 are unlike the others. The limit is calibrated on the collection: beyond the median,
the scores of ordinary documents fall off at an exponential rate, which is estimated from the
median and the 90th percentile, and where the tail is heavier (posts with tables and packed
files) from the 80th and 97th; the limit is where five in a thousand would be left.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.explore.stages.character_model import surprise_each
from tacit.explore.stages.languages import NAMES, UNKNOWN
from tacit.explore.stages.meaning import word_weights
from tacit.explore.stages.stage import Context

__all__ = [
    "MEASURES", "Evidence", "Scale", "familiar_languages", "measure_documents", "measure_words",
    "score_evidence",
]  # fmt: skip

MEASURES = ("spelling", "words", "unexplained", "distance")
MISMATCH = 3.0  # what another language adds, in the units of z
LEAST_SPOKEN = 0.01  # of the documents of known language: a language that belongs here
BINS, IN_BIN = 8, 100  # of documents of about the same size: at most, and documents in each
TAIL = 0.005  # of ordinary documents that are beyond the limit, if their scores fall off evenly
TAILS = (0.5, 0.9), (0.8, 0.97)  # quantiles that the rate is estimated from; the slower counts
FEWEST = 10  # documents beyond the upper quantile, for an estimate besides the first
MOST_EXPLAINED = 1e-4  # of the weight of a document; less is none


class Evidence(NamedTuple):
    """The measures of some documents, before they are compared with what is usual."""

    values: np.ndarray  # (n, measures)
    sizes: np.ndarray  # (n, 2): bytes read, different words
    foreign: np.ndarray  # (n,) bool: in a language that does not belong here


class Scale(NamedTuple):
    """What is usual in a collection."""

    middle: np.ndarray  # of each measure
    between: np.ndarray  # its variance in documents that are long
    within: np.ndarray  # what is added in a document of size 1
    longest: np.ndarray  # the size from which the variance falls no more
    limit: float  # of the combined score

    @classmethod
    def of(cls, facts: dict[str, Any]) -> "Scale":
        """The scale that the stage wrote."""
        usual = [facts["usual"][m] for m in MEASURES]
        if any(len(numbers) != 4 for numbers in usual):
            raise ValueError(
                "What is usual in this project was written by an earlier version of Tacit. "
                "Explore the documents again; only what changed is computed."
            )
        middle, between, within, longest = np.array(usual, np.float64).T
        return cls(middle, between, within, longest, float(facts["limit"]))

    @classmethod
    def fit(cls, evidence: Evidence) -> "Scale":
        """The scale of documents, without the limit."""
        some = evidence.sizes[:, 0] > 0
        values = evidence.values[some] if some.any() else np.zeros((1, len(MEASURES)))
        sizes = sizes_by_measure(evidence)[some] if some.any() else np.ones(values.shape)
        middle = np.median(values, axis=0)
        parts = [
            variance_by_size(values[:, j] - middle[j], sizes[:, j])
            for j in range(len(MEASURES))
        ]
        between, within, longest = np.array(parts).T
        return cls(middle, between, within, longest, 0.0)

    def facts(self) -> dict[str, Any]:
        """The scale as JSON values."""
        rows = zip(MEASURES, self.middle, self.between, self.within, self.longest,
                   strict=True)  # fmt: skip
        usual = {m: [float(each) for each in numbers] for m, *numbers in rows}
        return {"usual": usual, "limit": self.limit}


def measure_documents(context: Context) -> Evidence:
    """The measures of all documents, each given the others."""
    found, meaning = context.arrays("counts"), context.arrays("meaning")
    counts, n = context.matrix("counts", "counts"), len(meaning["rows"])
    bits, sizes = surprise_each(context.documents().texts(), n)
    spread = found["document_counts"]
    rare, left, types = measure_words(counts, spread, meaning, n, counted=True)
    squares = context.arrays("map")["squares"]
    distance = np.sqrt(squares.mean(axis=1, dtype=np.float64)) if squares.size else np.zeros(n)
    distance[meaning["blank"]] = 0.0
    guess = context.arrays("language_guess")["language"].astype(np.int64)
    known = np.isin(guess, [*familiar_languages(context), UNKNOWN])
    values = np.column_stack([bits, rare, left, distance])
    return Evidence(values, np.column_stack([sizes, types]), ~known)


def measure_words(
    counts: sp.csr_array,
    spread: np.ndarray,
    meaning: dict[str, np.ndarray],
    n: int,
    *,
    counted: bool,
    unknown: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rarity of the words, unexplained weight as -log(1 - fraction), and different words of
    each row. ``counted`` where the rows are among the n documents of ``spread``; ``unknown`` is
    how many different words each row has that no document has."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    m = counts.shape[0]
    others = np.maximum(spread[counts.indices] - (1 if counted else 0), 0)
    rarity = np.log((1 + n) / (1 + others.astype(np.float64)))
    types = np.diff(counts.indptr).astype(np.float64)
    sums = np.bincount(rows, rarity, m)
    power = int(meaning["idf_power"][0]) if "idf_power" in meaning else 2
    heavy = ((1 + np.log(counts.data)) * rarity**power) ** 2
    weight = np.bincount(rows, heavy, m)
    if unknown is not None:
        types += unknown
        sums += unknown * np.log(1 + n)
        weight += unknown * np.log(1 + n) ** (2 * power)
    used = np.asarray(meaning["used"])
    chosen = sp.csr_array(counts[:, used], dtype=np.float64)
    worth = word_weights(spread[used], n, power)
    chosen.data = (1 + np.log(chosen.data)) * worth[chosen.indices]
    scale = meaning["word_lengths"].astype(np.float64)[:, None]
    values = meaning["singular_values"].astype(np.float64)
    basis = np.divide(meaning["words"] * scale, values, out=np.zeros(meaning["words"].shape),
                      where=values > 0)  # fmt: skip
    placed = chosen @ basis
    explained = np.einsum("nd,nd->n", placed, placed) / np.maximum(weight, 1e-12)
    left = -np.log(np.clip(explained, MOST_EXPLAINED, 1.0))
    return sums / np.maximum(types, 1), left, types


def familiar_languages(context: Context) -> list[int]:
    """The languages, by number, that more than a few documents are in; all of them where the
    language of most documents is unknown."""
    facts = context.facts("language_guess")
    sizes = {code: size for code, _, size in facts["languages"]}
    known = sum(sizes.values())
    if known < 0.5 * facts["documents"]:
        return list(range(len(NAMES)))
    least = max(2, LEAST_SPOKEN * known)
    return [i for i, code in enumerate(facts["codes"]) if sizes.get(code, 0) >= least]


def score_evidence(
    evidence: Evidence, scale: Scale | None = None
) -> tuple[np.ndarray, np.ndarray, Scale]:
    """Scores (above 1: unlike the others), the measure that says so most, and the scale.

    The measure is a place in ``MEASURES``, or the number of measures for the language. Without
    a scale the documents are their own.

    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(size=(300, 4))
    >>> values[7, 0] = 12.0
    >>> sizes, foreign = np.full((300, 2), 1000.0), np.zeros(300, bool)
    >>> score, why, _ = score_evidence(Evidence(values, sizes, foreign))
    >>> np.flatnonzero(score > 1).tolist(), MEASURES[why[7]]
    ([7], 'spelling')
    """
    values, some = evidence.values, evidence.sizes[:, 0] > 0
    scale = Scale.fit(evidence) if scale is None else scale
    sizes = np.minimum(sizes_by_measure(evidence), scale.longest)
    variance = scale.between + scale.within / sizes
    z = np.zeros((len(values), len(MEASURES) + 1))
    np.divide(values - scale.middle, np.sqrt(variance), out=z[:, :-1], where=variance > 0)
    z[:, -1] = MISMATCH * evidence.foreign
    z = np.maximum(z, 0.0)
    z[~some] = 0.0
    raw = np.sqrt((z**2).sum(axis=1))
    if scale.limit == 0.0:
        scale = scale._replace(limit=limit_of(raw[some]))
    return raw / scale.limit, z.argmax(axis=1), scale


def sizes_by_measure(evidence: Evidence) -> np.ndarray:
    """(n, measures) The number of bytes or words that each measure is a mean of."""
    return np.maximum(evidence.sizes[:, [0, 1, 1, 1]], 1.0)


def variance_by_size(above: np.ndarray, size: np.ndarray) -> tuple[float, float, float]:
    """Variance between documents, and within one of size 1: the squared 84th percentile of
    what is ``above`` the median is about ``between + within / size``. The last number is the
    size of the largest documents, about: beyond it nothing is known.

    >>> rng = np.random.default_rng(0)
    >>> size = rng.integers(5, 500, 4000)
    >>> value = rng.normal(0, 2, 4000) + rng.normal(0, 1, 4000) * np.sqrt(100 / size)
    >>> between, within, _ = variance_by_size(value, size)
    >>> 3 < between < 5, 50 < within < 200
    (True, True)
    """
    from scipy.optimize import nnls

    bins = int(np.clip(len(size) // IN_BIN, 1, BINS))
    parts = np.array_split(np.argsort(size, kind="stable"), bins)
    high = np.array([np.quantile(above[part], 0.84) for part in parts])
    spread = np.array([1.4826 * np.median(np.abs(above[part])) for part in parts])
    variance = np.maximum(high, spread) ** 2
    longest = float(size[parts[-1]].mean())
    if bins == 1 or not variance.any():
        return float(variance.mean()), 0.0, longest
    inverse = np.array([np.mean(1.0 / size[part]) for part in parts])
    scale = 1.0 / np.maximum(variance, 0.01 * variance.max())  # errors in percent
    sides = np.column_stack([np.ones(bins), inverse])
    (between, within), _ = nnls(sides * scale[:, None], variance * scale)
    return float(between), float(within), longest


def limit_of(scores: np.ndarray) -> float:
    """The score that ``TAIL`` of ordinary documents would exceed.

    >>> rng = np.random.default_rng(0)
    >>> even = rng.exponential(size=20_000)
    >>> heavy = np.where(rng.random(20_000) < 0.1, 4 * even, even)
    >>> [bool(np.mean(each > limit_of(each)) < 0.012) for each in (even, heavy)]
    [True, True]
    """
    limits: list[float] = []
    for low, high in TAILS:
        if (1 - high) * len(scores) >= FEWEST or not limits:
            a, b = np.quantile(scores, [low, high])
            rate = np.log((1 - low) / (1 - high)) / max(b - a, 1e-9)
            limits.append(float(b + np.log((1 - high) / TAIL) / rate))
    return max(limits)

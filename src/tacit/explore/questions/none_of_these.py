"""Which documents have none of the labels that were given: those unlike the whole collection,
and those unlike the labeled documents.

A document is unlike the collection where its unfamiliarity is above 1.
For the labeled documents a classifier learns to tell them from the others; documents of the
same kinds are among the others too, so its score ranks documents by how much they are like the
labeled ones (Elkan and Noto 2008). Scores come from models that had not seen the document, as
the mean of its own and that of its ten nearest documents. The threshold is calibrated on the
labeled documents:

    known(t)  =  2 p F(t) - U(t),  least where most is gained by rejecting what is below t,

with F and U the fractions of labeled and of other documents below t, and p the fraction of the
others that have one of the labels, estimated as twice the fraction above the median of the
labeled, less one standard error. Where p is under nine tenths, one labeled document in ten may
be rejected.
"""

from typing import Any

import numpy as np

from tacit.classify import LogisticRegression
from tacit.core.engines import Engine
from tacit.explore.questions.reader import ProjectReader

__all__ = ["LEAST_LABELED", "NONE", "unlike_collection", "unlike_labeled"]

NONE = -2  # instead of a label
LEAST_LABELED = 20  # documents; fewer say too little about what is like them
FOLDS = 5
BLOCK = 20_000  # documents at a time
NEAREST = 10
STRENGTH = 0.3  # of the classifier: C
LEARNED = 20_000  # documents without a label to learn from
MOSTLY = 0.9  # of the documents have one of the labels
REJECTED = 0.1  # of the labeled documents, where others are around


def unlike_collection(reader: ProjectReader) -> np.ndarray:
    """Documents beyond the limit of unfamiliarity."""
    if reader.skipped("outliers"):
        return np.zeros(reader.n, bool)
    return np.asarray(reader.arrays("outliers")["score"]) > 1


def unlike_labeled(
    reader: ProjectReader, labeled: np.ndarray, *, seed: int, engine: str | Engine
) -> np.ndarray:
    """Documents that are like none of the labeled ones; all False where these are too few."""
    out = np.zeros(reader.n, bool)
    if len(labeled) < LEAST_LABELED or reader.skipped("meaning"):
        return out
    usable = ~np.asarray(reader.arrays("meaning")["blank"])
    own = labeled[usable[labeled]]
    others = np.setdiff1d(np.flatnonzero(usable), labeled)
    if len(own) < LEAST_LABELED or len(others) < LEAST_LABELED:
        return out
    scores = likeness(reader, own, others, seed, engine)
    out[others] = scores[others] < threshold(scores[own], scores[others])
    return out


def likeness(
    reader: ProjectReader, own: np.ndarray, others: np.ndarray, seed: int, engine: Any
) -> np.ndarray:
    """How much every document is like the labeled ones, by models that had not seen it."""
    rows, near = reader.arrays("meaning")["rows"], None
    if not reader.skipped("map"):
        near = np.asarray(reader.arrays("map")["neighbors"])[:, :NEAREST]
    rng = np.random.default_rng(seed)
    fold = np.zeros(reader.n, np.int64)
    for some in (own, others):
        fold[some] = rng.permutation(len(some)) % FOLDS
    out = np.zeros(reader.n)
    for number in range(FOLDS):
        inside = own[fold[own] != number]
        rest = others[fold[others] != number]
        if len(rest) > LEARNED:
            rest = np.sort(rng.choice(rest, LEARNED, replace=False))
        seen = np.sort(np.concatenate([inside, rest]))
        model = LogisticRegression(STRENGTH, random_state=seed, engine=engine)
        model.fit(np.asarray(rows[seen], np.float64), np.isin(seen, inside).astype(int))
        scores = np.concatenate([
            model.decision_function(np.asarray(rows[i : i + BLOCK], np.float64))
            for i in range(0, reader.n, BLOCK)
        ])  # fmt: skip
        unseen = np.concatenate([own[fold[own] == number], others[fold[others] == number]])
        out[unseen] = scores[unseen]
        if near is not None and near.shape[1]:
            out[unseen] = (scores[unseen] + scores[near[unseen]].mean(axis=1)) / 2
    return out


def threshold(labeled: np.ndarray, others: np.ndarray) -> float:
    """The score below which documents have none of the labels.

    >>> rng = np.random.default_rng(0)
    >>> known, foreign = rng.normal(3, 1, 200), rng.normal(-3, 1, 200)
    >>> t = threshold(known[:50], np.concatenate([known[50:], foreign]))
    >>> float(np.mean(foreign < t)) > 0.95, float(np.mean(known[50:] < t)) < 0.2
    (True, True)
    """
    middle = np.quantile(labeled, 0.5 - 0.5 / np.sqrt(len(labeled)))
    known = min(1.0, 2 * float(np.mean(others > middle)))
    a, b = np.sort(labeled), np.sort(others)
    at = np.concatenate([[-np.inf], np.sort(np.concatenate([a, b]))])
    below = np.searchsorted(a, at) / len(a), np.searchsorted(b, at) / len(b)
    best = float(at[np.argmin(2 * known * below[0] - below[1])])
    if known >= MOSTLY:
        return best
    return max(best, float(np.quantile(a, REJECTED)))

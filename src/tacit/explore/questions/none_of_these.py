"""Which documents have none of the labels that were given: those unlike the whole collection,
and those unlike the labeled documents.

A document is unlike the collection where its unfamiliarity is above 1.
Two scores rank documents by how much they are like the labeled ones; their sum counts:

- A classifier learns to tell the labeled documents from the others. Documents of the same kinds
  are among the others too, so only the ranking is used (Elkan and Noto 2008). It is the mean of
  the score of a document and of those of its ten nearest.
- A random walk starts at labeled documents, goes to nearest documents, and now and then starts
  again (Zhou et al. 2004). How often it visits a document, as a multiple of how often a walk
  without starts does, is high in the clusters that labels reach, and low in the others.

Both come from labeled documents of the other folds, so that the scores of labeled documents
and of others can be compared. The scores of the others are a mixture of two normal
distributions, of documents with one of the labels and without; the labeled documents belong to
the first. EM fits it.

Few labels reach few of the documents of their kind, so this is only a start. A second
classifier, of documents with and without one of the labels, then learns from its own answers:
it begins with the probabilities of the mixture, and in each round with those of its last
scores, the fraction without a label staying the same (self-training, as in Nigam et al. 2000).
Strong regularization keeps it on the large directions of meaning, which separate subjects.

Where every subject is labeled, the second part is no more than a part of the first, and the
labeled documents are in it as often as others. So both scores count, the second the more, the
more of the labeled documents are missing from its second part, beyond a standard error. The
threshold rejects a tenth of the first part of the mixture of these scores. With p the fraction
that is like the labeled documents (twice the fraction above their median, less one standard
error) at nine tenths or more, no more are rejected than a tenth of the labeled, and than where

    2 p F(t) - U(t)

is least, F and U being the fractions of labeled and of other documents below t.

Elkan, Noto (2008), Learning classifiers from only positive and unlabeled data. KDD.
Nigam, McCallum, Thrun, Mitchell (2000), Text classification from labeled and unlabeled
documents using EM. Machine Learning 39.
Zhou, Bousquet, Lal, Weston, Schölkopf (2004), Learning with local and global consistency. NIPS.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from tacit.classify import LogisticRegression
from tacit.core.engines import Engine
from tacit.explore.questions.reader import ProjectReader
from tacit.linear.losses import probabilities
from tacit.measure.cross_validation import fold_numbers

__all__ = ["LEAST_LABELED", "NONE", "unlike_collection", "unlike_labeled"]

NONE = -2  # instead of a label
LEAST_LABELED = 20  # documents; fewer say too little about what is like them
FOLDS = 5
BLOCK = 20_000  # documents at a time
NEAREST = 10
STRENGTH = 0.3  # of the classifier: C
GO_ON, STEPS = 0.97, 80  # of a walk: the probability of a further step, and the most of them
NEVER, TINY = 1e-6, 1e-9  # visits of a document that no walk reaches; no similarity
LEARNED = 20_000  # documents without a label to learn from
ROUNDS, SETTLED = 20, 1e-3  # of self-training; the mean change of a probability that ends it
WEAK = 0.1  # C of the classifier that trains itself
MOSTLY = 0.9  # of the documents have one of the labels
STEEP = 3.0  # how much the log odds fall with a standard deviation of the scores
REJECTED, TENTH = 0.1, -1.2816  # of documents with a label; the quantile of the normal law
PASSES, NARROWEST = 60, 0.2  # of EM; standard deviation, in that of the first part
EVEN = 0.7  # the fraction like the labeled documents that EM begins with


def unlike_collection(reader: ProjectReader) -> np.ndarray:
    """Documents beyond the limit of unfamiliarity."""
    if reader.skipped("outliers"):
        return np.zeros(reader.n, bool)
    return np.asarray(reader.arrays("outliers")["score"]) > 1


def unlike_labeled(
    reader: ProjectReader,
    labeled: np.ndarray,
    y: np.ndarray,
    *,
    seed: int,
    engine: str | Engine,
) -> np.ndarray:
    """Documents that are like none of the labeled ones; all False where these are too few."""
    out = np.zeros(reader.n, bool)
    if len(labeled) < LEAST_LABELED or reader.skipped("meaning"):
        return out
    usable = ~np.asarray(reader.arrays("meaning")["blank"])
    known, y = labeled[usable[labeled]], y[usable[labeled]]
    others = np.setdiff1d(np.flatnonzero(usable), labeled)
    if len(known) < LEAST_LABELED or len(others) < LEAST_LABELED:
        return out
    fold = np.full(reader.n, -1, np.int64)
    fold[known] = fold_numbers(y, FOLDS, random_state=seed)
    fold[others] = np.random.default_rng(seed).permutation(len(others)) % FOLDS
    some = np.flatnonzero(fold >= 0)
    scores = standard(classified(reader, known, others, fold, seed, engine), some)
    if not reader.skipped("map"):
        scores += standard(visited(reader, known, y, fold), some)
    learned, part = train_itself(reader, known, others, scores, fold, seed, engine)
    inside = float(np.mean(learned[known] < np.quantile(learned[others], part)))
    error = np.sqrt(part * (1 - part) / len(known))
    weight = max(0.0, 1 - (inside + error) / part)
    scores = (1 - weight) * scores / 2 + weight * standard(learned, some)
    out[others] = scores[others] < threshold(scores[known], scores[others])
    return out


def train_itself(
    reader: ProjectReader,
    known: np.ndarray,
    others: np.ndarray,
    scores: np.ndarray,
    fold: np.ndarray,
    seed: int,
    engine: Any,
) -> tuple[np.ndarray, float]:
    """New scores of all documents from first ones, and the fraction without a label. Those of
    labeled documents come from classifiers that had not seen them."""
    rows, some = reader.arrays("meaning")["rows"], others
    if len(some) > LEARNED:
        some = np.sort(np.random.default_rng(seed).choice(some, LEARNED, replace=False))
    unlabeled = np.asarray(rows[some], np.float64)
    table = np.concatenate([np.asarray(rows[known], np.float64), unlabeled, unlabeled])
    classes = np.repeat([1, 0], [len(known) + len(some), len(some)])
    mean, spread = known_part(scores[known], scores[others], EVEN)
    none = odds_below(scores[some], mean + TENTH * spread)
    part = float(none.mean())
    model = LogisticRegression(WEAK, random_state=seed, engine=engine)
    for _ in range(ROUNDS):
        weights = np.concatenate([np.ones(len(known)), 1 - none, none])
        model.fit(table, classes, weights)
        current = model.decision_function(unlabeled)
        last, none = none, odds_below(current, float(np.quantile(current, part)))
        if np.abs(none - last).mean() < SETTLED:
            break
    out = in_blocks(model, rows)
    for number in range(FOLDS):
        unseen = fold[known] == number
        train = np.concatenate([~unseen, np.ones(2 * len(some), bool)])
        model.fit(table[train], classes[train], weights[train])
        out[known[unseen]] = model.decision_function(table[: len(known)][unseen])
    return out, part


def odds_below(scores: np.ndarray, limit: float) -> np.ndarray:
    """The probability that a document has no label: a half at the limit, less above it."""
    return expit(STEEP * (limit - scores) / max(float(scores.std()), TINY))


def in_blocks(model: LogisticRegression, rows: np.ndarray) -> np.ndarray:
    """The scores of all rows."""
    return np.concatenate([
        model.decision_function(np.asarray(rows[i : i + BLOCK], np.float64))
        for i in range(0, len(rows), BLOCK)
    ])  # fmt: skip


def standard(scores: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Scores with mean 0 and standard deviation 1 in some rows."""
    spread = scores[some].std()
    return (scores - scores[some].mean()) / (spread if spread > 0 else 1.0)


def classified(
    reader: ProjectReader,
    known: np.ndarray,
    others: np.ndarray,
    fold: np.ndarray,
    seed: int,
    engine: Any,
) -> np.ndarray:
    """How much every document is like the labeled ones, by classifiers that had not seen it."""
    rows, near = reader.arrays("meaning")["rows"], None
    if not reader.skipped("map"):
        near = np.asarray(reader.arrays("map")["neighbors"])[:, :NEAREST]
    rng, out = np.random.default_rng(seed), np.zeros(reader.n)
    for number in range(FOLDS):
        inside, unlabeled = known[fold[known] != number], others[fold[others] != number]
        if len(unlabeled) > LEARNED:
            unlabeled = np.sort(rng.choice(unlabeled, LEARNED, replace=False))
        seen = np.sort(np.concatenate([inside, unlabeled]))
        model = LogisticRegression(STRENGTH, random_state=seed, engine=engine)
        model.fit(np.asarray(rows[seen], np.float64), np.isin(seen, inside).astype(int))
        scores = in_blocks(model, rows)
        unseen = np.flatnonzero(fold == number)
        out[unseen] = scores[unseen]
        if near is not None and near.shape[1]:
            out[unseen] = (scores[unseen] + scores[near[unseen]].mean(axis=1)) / 2
    return out


def visited(
    reader: ProjectReader, known: np.ndarray, y: np.ndarray, fold: np.ndarray
) -> np.ndarray:
    """How often a random walk from labeled documents of other folds visits every document:
    the logarithm of a multiple of what is usual. All labels start as many walks."""
    table, n = reader.arrays("map"), reader.n
    near = np.asarray(table["neighbors"])
    if not near.size:
        return np.zeros(n)
    alike = np.maximum(1 - np.asarray(table["squares"], np.float64) / 2, 0.0) ** 2
    alike[fold < 0] = 0.0  # documents without words
    edges = np.arange(n + 1) * near.shape[1]
    links = sp.csr_array((alike.ravel(), near.ravel(), edges), shape=(n, n))
    links = sp.csr_array(links.maximum(links.T))
    degree = np.asarray(links.sum(axis=1)).ravel()
    step = sp.csr_array(links @ sp.diags_array(1 / np.maximum(degree, TINY)))
    starts = np.zeros((n, FOLDS))
    for label in np.unique(y):
        for number in range(FOLDS):
            rows = known[(y == label) & (fold[known] != number)]
            starts[rows, number] = 1 / max(len(rows), 1)
    visits = starts
    for _ in range(STEPS):
        visits = GO_ON * (step @ visits) + (1 - GO_ON) * starts
    usual = np.maximum(degree, TINY) / max(degree.sum(), TINY)
    mine = visits[np.arange(n), np.maximum(fold, 0)]
    return np.log(mine / usual + NEVER)


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
    if known < MOSTLY:
        mean, spread = known_part(labeled, others, known)
        return mean + TENTH * spread
    best = float(at[np.argmin(2 * known * below[0] - below[1])])
    return min(best, float(np.quantile(a, REJECTED)))


def known_part(labeled: np.ndarray, others: np.ndarray, known: float) -> tuple[float, float]:
    """Mean and standard deviation of the part of the labeled documents in a mixture of two
    normal distributions; ``known`` of the others are in it, about.

    >>> rng = np.random.default_rng(0)
    >>> known, foreign = rng.normal(3, 1, 2000), rng.normal(-3, 1, 1000)
    >>> part = known_part(known[:50], np.concatenate([known[50:], foreign]), 0.7)
    >>> [round(each, 1) for each in part]
    [3.0, 1.0]
    """
    mean, spread = np.zeros(2), np.zeros(2)
    mean[1], spread[1] = labeled.mean(), max(float(labeled.std()), TINY)
    low = others[others < mean[1] - spread[1]]
    mean[0], spread[0] = low.mean() if len(low) else mean[1] - 3 * spread[1], spread[1]
    part = np.array([1 - known, known])
    for _ in range(PASSES):
        away = (others[:, None] - mean) / spread
        fit = np.log(np.clip(part, 0.02, 0.98) / spread) - away**2 / 2
        of = probabilities(fit)
        weights, values = np.r_[of[:, 1], np.ones(len(labeled))], np.r_[others, labeled]
        mean[1] = np.average(values, weights=weights)
        spread[1] = max(np.sqrt(np.average((values - mean[1]) ** 2, weights=weights)), TINY)
        weight = np.maximum(of[:, 0], TINY)
        mean[0] = np.average(others, weights=weight)
        spread[0] = np.sqrt(np.average((others - mean[0]) ** 2, weights=weight))
        spread[0] = max(spread[0], NARROWEST * spread[1])
        part = of.mean(axis=0)
    return float(mean[1]), float(spread[1])

"""Evaluation by an external task: do the clusters help to predict known classes?

A classifier whose only feature is the cluster predicts the most frequent class of that cluster.
Its gain in accuracy on held-out rows over always predicting the most frequent class measures
what the clusters know about the classes. With features, the gain is that of adding the cluster
to them.

The notes' section on evaluating clusterings.
"""

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import UndefinedMetricWarning

from tacit.data.sparse_structure import check_structure
from tacit.measure.cross_validation import fold_numbers
from tacit.measure.labels import Codes, codes_of

__all__ = ["TaskGain", "by_task"]


@dataclass(frozen=True)
class TaskGain:
    """How much clusters help a classifier, on held-out rows."""

    gain: float  # accuracy less that of the features alone, or of the baseline without any
    error: float  # standard error of the gain over the folds
    accuracy: float  # with the clusters
    baseline: float  # of always predicting the most frequent class
    features: float | None  # of the features without the clusters
    folds: tuple = field(repr=False)  # the gain in every fold

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {**vars(self), "folds": list(self.folds)}


def by_task(
    labels: Any,
    y: Any,
    *,
    X: Any = None,
    classifier: Any = None,
    n_splits: int = 5,
    random_state: Any = 0,
) -> TaskGain:
    """How much the clusters help a classifier, cross-validated.

    Parameters
    ----------
    labels : array of n_rows labels of any kind, the clusters
    y : array of n_rows labels of any kind, the classes
    X : array or sparse matrix, or None
        Features to which the clusters are added. None: the clusters alone, compared with
        always predicting the most frequent class.
    classifier : estimator or None
        Fitted on X, and on X with a column per cluster. None is logistic regression.
    n_splits : int, stratified folds
    random_state : int, RandomState, Generator or None
        Seed of the folds.

    Examples
    --------
    >>> clusters = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    >>> classes = list("aaaabbbbbb")
    >>> task = by_task(clusters, classes, n_splits=2)
    >>> task.accuracy, task.baseline, task.gain
    (1.0, 0.6, 0.4)
    """
    target = codes_of(y, name="by_task")
    n = len(target.codes)
    clusters = codes_of(labels, name="by_task", rows=n)
    if not 2 <= n_splits <= n:
        raise ValueError(
            f"by_task(n_splits={n_splits}) must be from 2 to the number of rows, {n}. "
            "Choose another."
        )
    if len(target.names) == 1:
        warnings.warn(
            "by_task: there is only one class, so there is nothing to gain.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    fold = fold_numbers(target.codes, n_splits, random_state=random_state)
    columns = None if X is None else with_clusters(X, clusters)
    scores = []
    for number in range(n_splits):
        test = fold == number
        train = ~test
        common = np.bincount(target.codes[train], minlength=len(target.names)).argmax()
        base = float((target.codes[test] == common).mean())
        if columns is None:
            guess = majority(clusters, target, train, int(common))[test]
            scores.append((float((guess == target.codes[test]).mean()), base, base))
        else:
            after, before = (
                accuracy_of(classifier, rows, target.codes, train, test) for rows in columns
            )
            scores.append((after, before, base))
    accuracy, start, baseline = (float(np.mean(column)) for column in zip(*scores, strict=True))
    gains = tuple(after - before for after, before, _ in scores)
    error = float(np.std(gains, ddof=1)) / math.sqrt(n_splits)
    features = None if X is None else start
    return TaskGain(accuracy - start, error, accuracy, baseline, features, gains)


def majority(clusters: Codes, target: Codes, train: np.ndarray, common: int) -> np.ndarray:
    """The most frequent class in the cluster of every row; ``common`` in new clusters."""
    width = len(target.names)
    cells = clusters.codes[train].astype(np.int64) * width + target.codes[train]
    table = np.bincount(cells, minlength=len(clusters.names) * width).reshape(-1, width)
    guess = np.where(table.sum(axis=1) > 0, table.argmax(axis=1), common)
    return guess[clusters.codes]


def with_clusters(X: Any, clusters: Codes) -> tuple[Any, Any]:
    """X with an indicator column per cluster, and X."""
    n, k = len(clusters.codes), len(clusters.names)
    if sp.issparse(X):
        check_structure(X, "by_task")
    rows = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if rows.ndim != 2 or rows.shape[0] != n:
        raise ValueError(
            f"by_task(X=...) has shape {rows.shape} for {n} labels. Give one row per label."
        )
    member = sp.csr_array((np.ones(n), (np.arange(n), clusters.codes)), shape=(n, k))
    if sp.issparse(rows):
        return sp.hstack([rows, member], format="csr"), rows
    return np.hstack([rows, member.toarray()]), rows


def accuracy_of(
    classifier: Any, rows: Any, classes: np.ndarray, train: np.ndarray, test: np.ndarray
) -> float:
    from sklearn.base import clone

    from tacit.classify import LogisticRegression

    model = LogisticRegression() if classifier is None else clone(classifier)
    if len(np.unique(classes[train])) == 1:  # some classifiers refuse one class
        return float((classes[test] == classes[train][0]).mean())
    model.fit(rows[train], classes[train])
    return float((model.predict(rows[test]) == classes[test]).mean())

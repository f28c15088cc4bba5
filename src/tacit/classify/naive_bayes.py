"""Naive Bayes: each class has its own frequencies of words, each word drawn on its own.

    collect   counts of every feature in every class (``class_counts``)
    update    smoothed logarithms of their shares

One pass, summable. The story of the notes: draw the label from mu, then the word counts from a
multinomial with the frequencies phi of that label; with the words in their order, each drawn
from a categorical distribution, the joint probability lacks the multinomial's factor, which
depends on no label, and the classifier is the same. The loss, -log p(x, y), is least at

    phi_yj = (count(y, j) + alpha) / (sum over j of count(y, j) + alpha v),   mu_y = share of y

which is the maximum likelihood for alpha = 0 and the mode under a Dirichlet prior otherwise.
The score log mu_y + sum of x_j log phi_yj is linear in x. Probabilities are too sure of
themselves: words travel together, and each copy of the same evidence counts again.

Maron (1961), Automatic indexing: an experimental inquiry. Journal of the ACM 8.
McCallum and Nigam (1998), A comparison of event models for naive Bayes text classification.
The notes' section on naive Bayes.
"""

import warnings
from collections.abc import Iterator
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacit.classify.class_counts import ClassCounts, Counting, count
from tacit.core.engines import Serial, Threads, get_engine
from tacit.core.kernel import kernel
from tacit.data.checked import NUMBERS
from tacit.data.table import parts
from tacit.linear.labeled_rows import Labeled, check_labeled, check_more
from tacit.linear.linear_classifier import FEW, LinearClassifier, csr_rows, scores

__all__ = ["MultinomialNB", "NaiveBayes", "log_counts", "log_shares"]

SMALLEST = 1e-10  # alpha with force_alpha=False
TABLE = 1024  # logarithms of smaller whole counts are looked up
TILE = 256  # features
PIECES, PIECE = 8, 4096  # most stretches of features to share out, and the shortest


# --- The algorithm ---


def log_shares(
    counts: np.ndarray, alpha: float | np.ndarray, engine: Any = "serial"
) -> np.ndarray:
    """(v, k) logarithms of the smoothed shares of each row of (k, v) counts.

    Threads share the features out if they are the ``engine``.

    >>> np.exp(log_shares(np.array([[3.0, 1.0, 0.0]]), 1.0)).ravel()
    array([0.571, 0.286, 0.143])
    """
    v = counts.shape[1]
    alpha = np.asarray(alpha, np.float64)
    totals = counts.sum(axis=1) + (alpha.sum() if alpha.ndim else alpha * v)
    with np.errstate(divide="ignore"):
        scale = np.log(totals)
        if alpha.ndim:
            shares = np.ascontiguousarray(np.log(counts + alpha).T) - scale
        else:
            shares = log_counts(counts, float(alpha), scale, engine)
    if not totals.all():  # a class without a word, and alpha 0: every word is as likely
        shares[:, totals == 0] = -np.log(v)
    return shares


def log_counts(
    counts: np.ndarray, alpha: float, scale: np.ndarray, engine: Any = "serial",
    *, rest_of: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """(v, k) logarithms of (k, v) counts plus alpha, less the ``scale`` of each class. Those
    of what the counts leave ``rest_of`` a class, if that is given.

    Most counts are small whole numbers, which are looked up, and most of those are zero.
    """
    small = np.arange(TABLE, dtype=np.float64)[None]
    start = np.zeros(len(counts)) if rest_of is None else rest_of
    held = small if rest_of is None else np.maximum(start[:, None] - small, 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(held + alpha)
    out = np.empty(counts.shape[::-1])
    task = (counts, logs, start, 1.0 if rest_of is None else -1.0, alpha, scale, out)
    threads = get_engine(engine)
    if not isinstance(threads, Threads) or counts.size < FEW:
        threads = Serial()
    for _ in threads.map(look_up_some, task, Columns.of(counts.shape[1])):
        pass
    return out


class Columns(NamedTuple):
    """A stretch of features, as a block that loads at once."""

    start: int
    stop: int

    def load(self) -> "Columns":
        return self

    @classmethod
    def of(cls, v: int) -> "list[Columns]":
        size = max(PIECE, -(-v // PIECES))
        return [cls(start, min(start + size, v)) for start in range(0, v, size)]


def look_up_some(task: tuple, columns: Columns) -> None:
    look_up(*task, *columns)


def without_zeros(function: Any, params: Any, block: Any) -> np.ndarray:
    """Score where weights may be -inf: a feature that is absent must not meet them."""
    rows = csr_rows(parts(block).rows)
    if not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()
    return function(params, rows)


# --- What the three models share ---


def leaves_out(model: Any) -> bool:
    return not getattr(model, "norm", False)  # scaled weights change all together


class NaiveBayes(LinearClassifier):
    """Base class of the naive Bayes models: counting, priors, probabilities."""

    class_count_: np.ndarray
    feature_count_: np.ndarray
    class_log_prior_: np.ndarray

    _decides: ClassVar[bool] = False
    _story: ClassVar[str]  # "multinomial", "bernoulli", "complement"
    _file_schema: ClassVar[dict] = {
        **LinearClassifier._file_schema,
        "class_count_": ("n_classes",),
        "class_log_prior_": ("n_classes",),
        "feature_count_": ("n_classes", "n_features_in_"),
    }
    _file_nonfinite: ClassVar[tuple] = ("weights_", "intercept_", "class_log_prior_")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Count. X is an array, a sparse matrix, a Dask array or a Table, which may hold y."""
        self._validate_params()
        labeled = check_labeled(
            self, X, y, sample_weight, dtypes=NUMBERS, distinct=self._distinct
        )
        return self._learn(labeled.classes, self._count(labeled))

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Count more rows. The first call names all ``classes`` there will ever be."""
        self._validate_params()
        first, labeled = check_more(self, X, y, classes, sample_weight, dtypes=NUMBERS)
        stats = self._count(labeled)
        if not first:
            stats = ClassCounts(0, self.class_count_, self.feature_count_) + stats
        return self._learn(labeled.classes, stats)

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """log p(x, y) of every row and class, less what no class changes."""
        return np.concatenate(list(self._map_blocks(scores, X)))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """log p(y | x) of every row and class."""
        joint = self.predict_joint_log_proba(X)
        lost = np.isneginf(joint.max(axis=1))
        if lost.any():
            warnings.warn(
                f"{int(lost.sum()):,} of {len(joint):,} rows hold features that rule out "
                "every class, because alpha is 0. They get the probabilities of the classes "
                "alone. Raise alpha.",
                stacklevel=2,
            )
            joint[lost] = self.class_log_prior_
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> np.ndarray:
        """p(y | x) of every row and class."""
        return np.exp(self.predict_log_proba(X))

    def fit_without_folds(self, X: Any, y: Any, folds: np.ndarray) -> Iterator[tuple[int, Any]]:
        """Every fold's number and this model fitted on all rows but that fold's: one pass."""
        from tacit.classify.left_out import fit_without_folds

        self._validate_params()
        yield from fit_without_folds(self, X, y, folds)

    @available_if(leaves_out)
    def predict_left_out(self, X: Any, y: Any) -> np.ndarray:
        """The class of every row, by this model fitted on all others: one pass for all."""
        from tacit.classify.left_out import left_out_scores

        self._validate_params()
        classes, found = left_out_scores(self, self._story, X, y)
        return classes[found.argmax(axis=1)]

    # --- Parts ---

    def _counting(self, n_classes: int) -> Counting:
        return Counting(type(self).__name__, n_classes)

    def _count(self, labeled: Labeled) -> ClassCounts:
        return count(self.engine, self._counting(len(labeled.classes)), labeled.table)

    def _learn(self, classes: np.ndarray, stats: ClassCounts) -> Any:
        """Fit from counts alone."""
        self.classes_ = classes
        self.class_count_, self.feature_count_ = stats.class_count, stats.feature_count
        self.class_log_prior_ = self._log_prior(len(classes))
        self._weigh()
        return self

    def _weigh(self) -> None:
        """Set ``weights_`` and ``intercept_`` from the counts."""
        raise NotImplementedError

    def _log_prior(self, k: int) -> np.ndarray:
        if self.class_prior is not None:
            prior = np.asarray(self.class_prior, np.float64)
            if prior.shape != (k,):
                raise ValueError(
                    f"Number of priors must match number of classes: class_prior has "
                    f"{prior.size} values for {k} classes. Give one for each."
                )
            with np.errstate(divide="ignore"):
                return np.log(prior)
        if not self.fit_prior:
            return np.full(k, -np.log(k))
        with np.errstate(divide="ignore"):
            return np.log(self.class_count_) - np.log(self.class_count_.sum())

    def _smoothing(self) -> float | np.ndarray:
        alpha = np.asarray(self.alpha, np.float64)
        v = self.feature_count_.shape[1]
        if alpha.ndim and alpha.shape != (v,):
            raise ValueError(
                f"When alpha is an array, it should contain `n_features`: alpha has "
                f"{alpha.shape[0]} values for {v} features. Give one for each, or one number."
            )
        if alpha.min() < 0:
            raise ValueError(f"All values in alpha must be at least 0; got {alpha.min():g}.")
        if not self.force_alpha:
            alpha = np.maximum(alpha, SMALLEST)
        return alpha if alpha.ndim else float(alpha)

    def _map_blocks(self, function: Any, X: Any) -> Iterator[np.ndarray]:
        if np.min(self.alpha) == 0 and hasattr(self, "weights_") and self._rules_out():
            function = partial(without_zeros, function)
        return super()._map_blocks(function, X)

    def _rules_out(self) -> bool:
        return not np.isfinite(self.weights_.min())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of data that are no counts
        return tags


# --- The estimator ---


class MultinomialNB(NaiveBayes):
    """Classify rows of counts by the frequencies of their features in each class.

    Parameters
    ----------
    alpha : float or array of shape (n_features,)
        What is added to every count. 0 lets one word rule out a class.
    force_alpha : bool
        False raises an alpha below 1e-10 to that.
    fit_prior : bool
        Whether the frequencies of the classes count; otherwise all are equally likely.
    class_prior : array of shape (n_classes,) or None
        The probabilities of the classes, if not those of the rows.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), sorted
    class_count_ : array of shape (n_classes,), the weight of the rows of each class
    feature_count_ : array of shape (n_classes, n_features)
    class_log_prior_ : array of shape (n_classes,)
    feature_log_prob_ : array of shape (n_classes, n_features), log phi
    weights_, intercept_ : the same as a linear classifier: (n_features, n_classes) and
        (n_classes,)

    Examples
    --------
    >>> from tacit.text import CountVectorizer
    >>> words = CountVectorizer()
    >>> X = words.fit_transform(["win money now", "see you at noon", "money money"])
    >>> model = MultinomialNB().fit(X, ["spam", "ham", "spam"])
    >>> model.predict(words.transform(["now, money", "at noon"]))
    array(['spam', 'ham'], dtype='<U4')
    >>> model.top_features("spam", n=2, names=words.get_feature_names_out())
    [('money', 1.299), ('now', 0.606)]
    """

    _story: ClassVar[str] = "multinomial"
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "engine": "no_validation",
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        engine: Any = "threads",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.engine = engine

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """log phi, as scikit-learn lays it out."""
        check_is_fitted(self)
        return self.weights_.T

    def _weigh(self) -> None:
        self.weights_ = log_shares(self.feature_count_, self._smoothing(), self.engine)
        self.intercept_ = self.class_log_prior_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


# --- Kernels ---


@kernel
def look_up(counts, logs, origin, sign, alpha, scale, out, start, stop):
    k = counts.shape[0]
    base = np.empty(k)
    for y in range(k):
        base[y] = logs[min(y, logs.shape[0] - 1), 0] - scale[y]
    seen = np.empty(TILE + 1, np.int64)
    for first in range(start, stop, TILE):  # both tables go through the cache once
        last = min(first + TILE, stop)
        for j in range(first, last):
            out[j] = base
        for y in range(k):
            row, shift, known = counts[y], scale[y], logs[min(y, logs.shape[0] - 1)]
            m = 0
            for j in range(first, last):  # without a branch: nobody can guess which are zero
                seen[m] = j
                m += row[j] != 0.0
            for i in range(m):
                j = seen[i]
                c = row[j]
                if 0.0 < c < TABLE and c == int(c):
                    out[j, y] = known[int(c)] - shift
                else:
                    out[j, y] = np.log(max(origin[y] + sign * c, 0.0) + alpha) - shift

"""Naive Bayes: counts of features in classes, turned into the weights of a linear classifier.

    collect   add every row, times its weight, to the counts of its class
    update    smoothed log probabilities from the counts

One pass, summable; counts of integers are exact in any order. With phi_yj the probability of
feature j in class y and mu_y that of the class, the joint log probability is linear in x:

    MultinomialNB   log mu_y + sum x_j log phi_yj,
                    phi_yj = (count(y, j) + alpha) / (sum over j of count(y, j) + alpha v)
    BernoulliNB     log mu_y + sum over present j of log phi_yj
                    + sum over absent j of log(1 - phi_yj),
                    phi_yj = (rows of y with j + alpha) / (rows of y + 2 alpha)
    ComplementNB    - sum x_j log phi_yj, with phi of all classes but y: the counts outside a
                    small class are more reliable than the few inside it

These minimize the loss -log p(x, y): maximum likelihood for alpha = 0, the mode under a
Dirichlet prior otherwise. Probabilities are overconfident, because features are taken as
independent.

One file: the three models have the same pass and base class, and differ in a few lines each.

Maron (1961), Automatic indexing: an experimental inquiry. Journal of the ACM 8.
McCallum and Nigam (1998), A comparison of event models for naive Bayes text classification.
Rennie, Shih, Teevan and Karger (2003), Tackling the poor assumptions of naive Bayes text
classifiers. ICML. The notes' section on naive Bayes.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import check_stop, get_engine
from tacit.core.errors import DataError
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.data.bad_values import check_values
from tacit.data.checked import NUMBERS, check_results
from tacit.data.table import Table, parts
from tacit.linear.labeled_rows import check_labeled, check_partial
from tacit.linear.linear_classifier import Csr, LinearClassifier, check_finite, csr_rows, scores

__all__ = [
    "BernoulliNB", "ClassCounts", "ComplementNB", "Counting", "MultinomialNB", "NaiveBayes",
    "collect", "present",
]  # fmt: skip

STEP = 1 << 22  # entries to a kernel call: some 20 ms
FLOOR = -1e5  # instead of log 0, where scores must stay linear


class Counting(NamedTuple):
    """Params of the pass."""

    name: str  # of the caller, for messages
    n_classes: int
    threshold: float | None = None  # count features above it once; None: add up values


@dataclass(frozen=True)
class ClassCounts(Stats):
    """Weight of the rows of each class, and of every feature in them."""

    rows: int
    class_count: np.ndarray  # (k,)
    feature_count: np.ndarray  # (k, v)


# --- The algorithm ---


def collect(params: Counting, block: Any) -> ClassCounts:
    """Add up the rows of a block by class."""
    rows, codes, weights = parts(block)
    rows = csr_rows(rows)
    data = rows.data if rows.data.dtype == np.int64 else np.asarray(rows.data, np.float64)
    csr = Csr(np.asarray(rows.indptr, np.int64), np.asarray(rows.indices, np.int32), data)
    weights = np.ones(len(codes)) if weights is None else weights
    threshold = np.nan if params.threshold is None else float(params.threshold)
    counts = np.zeros((params.n_classes, rows.shape[1]))
    few = params.n_classes <= 2**16  # sorted in linear time
    # Class by class, so that the counts of one stay in the cache.
    order = np.argsort(codes.astype(np.uint16) if few else codes, kind="stable")
    for part in np.array_split(order, max(1, len(data) // STEP)):
        check_stop()
        total, least = add_rows(csr, codes, weights, part, counts, threshold)
        if not np.isfinite(total):  # or the sum overflows
            check_values(rows, params.name)
        if least < 0 and params.threshold is None:
            refuse_negative(params.name, rows)
    class_count = np.bincount(codes, weights, params.n_classes)
    return ClassCounts(len(codes), class_count, counts)


def fewer_blocks(table: Table, n_classes: int) -> Table:
    """A table in memory, in blocks with more entries than there are counts: every block adds
    the counts of all features, which for wide rows costs more than counting its entries."""
    rows = getattr(table.blocks[0].rows, "matrix", None)
    if not table.in_memory or rows is None:
        return table
    most = max(1, rows.nnz // max(1 << 20, 2 * n_classes * table.shape[1]))
    if most >= len(table.blocks):
        return table
    first = table.blocks[0]
    table = Table.from_array(rows, -(-len(table) // most)).with_labels(first.labels.array)
    return table if first.weights is None else table.with_weights(first.weights.array)


def log_probabilities(
    counts: np.ndarray, alpha: float | np.ndarray, totals: np.ndarray
) -> np.ndarray:
    """(v, k) logarithms of (k, v) counts plus alpha over the totals: (k,), or (v, k).

    >>> counts = np.array([[3.0, 1.0, 0.0]])
    >>> np.exp(log_probabilities(counts, 1.0, counts.sum(axis=1) + 3)).ravel().round(3)
    array([0.571, 0.286, 0.143])
    """
    out = np.ascontiguousarray(counts.T) + np.reshape(alpha, (-1, 1))
    with np.errstate(invalid="ignore"):
        return np.subtract(log_or_minus_inf(out, out=out), log_or_minus_inf(totals), out=out)


def log_or_minus_inf(values: Any, out: np.ndarray | None = None) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(values, out=out)


def present(rows: Any, threshold: float, name: str) -> Any:
    """Ones where a feature is above the threshold."""
    rows = csr_rows(rows)
    check_finite(rows, name)
    ones = rows.copy()
    ones.data = (rows.data > threshold).astype(np.float64)
    ones.eliminate_zeros()
    return ones


def score_present(function: Any, threshold: float, params: Any, block: Any) -> np.ndarray:
    """Score rows by which features are above the threshold."""
    return function(params, present(parts(block).rows, threshold, "BernoulliNB"))


def score_nonzero(function: Any, params: Any, block: Any) -> np.ndarray:
    """Score rows where weights may be -inf: 0 times -inf must not occur."""
    rows = csr_rows(parts(block).rows)
    if not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()
    return function(params, rows)


def refuse_negative(name: str, rows: Any) -> None:
    rows = csr_rows(rows).tocoo()
    i = int(np.flatnonzero(rows.data < 0)[0])
    raise DataError(
        f"Negative values in data passed to {name} (input X): {rows.data[i]:g}. "
        "Give counts or weights of at least 0.",
        row=int(rows.row[i]),
        column=int(rows.col[i]),
    )


# --- The base class ---


def can_leave_out(model: Any) -> bool:
    return not getattr(model, "norm", False)  # normalized weights depend on all counts


class NaiveBayes(LinearClassifier):
    """Base class of the naive Bayes models: counting, priors, probabilities."""

    class_count_: np.ndarray
    feature_count_: np.ndarray
    class_log_prior_: np.ndarray

    _decides: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
    }
    _file_schema: ClassVar[dict] = {
        **LinearClassifier._file_schema,
        "class_count_": ("n_classes",),
        "class_log_prior_": ("n_classes",),
        "feature_count_": ("n_classes", "n_features_in_"),
    }
    _file_nonfinite: ClassVar[tuple] = ("weights_", "intercept_", "class_log_prior_")

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        engine: Any = "threads",
    ) -> None:
        self.alpha, self.force_alpha, self.fit_prior = alpha, force_alpha, fit_prior
        self.class_prior, self.engine = class_prior, engine

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """The weights, in scikit-learn's layout: (n_classes, n_features)."""
        check_is_fitted(self)
        return self.weights_.T

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Count. X is an array, a sparse matrix, a Dask array or a Table, which may hold y."""
        self._validate_params()
        labeled = check_labeled(
            self, X, y, sample_weight, dtypes=NUMBERS, distinct=self._distinct
        )
        return self._update(labeled.classes, self._count(labeled))

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Count more rows. The first call names all ``classes`` that will occur."""
        self._validate_params()
        first, labeled = check_partial(self, X, y, classes, sample_weight, dtypes=NUMBERS)
        stats = self._count(labeled)
        if not first:
            stats = ClassCounts(0, self.class_count_, self.feature_count_) + stats
        return self._update(labeled.classes, stats)

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """log p(x, y) of every row and class, up to a constant for each row."""
        return np.concatenate(list(self._map_blocks(scores, X)))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """log p(y | x) of every row and class."""
        joint = self.predict_joint_log_proba(X)
        impossible = np.isneginf(joint.max(axis=1))
        if impossible.any():
            warnings.warn(
                f"{int(impossible.sum()):,} of {len(joint):,} rows hold features that rule out "
                "every class, because alpha is 0. They get the prior probabilities of the "
                "classes. Raise alpha.",
                stacklevel=2,
            )
            joint[impossible] = self.class_log_prior_
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> np.ndarray:
        """p(y | x) of every row and class."""
        return np.exp(self.predict_log_proba(X))

    def fit_without_folds(self, X: Any, y: Any, folds: np.ndarray) -> Iterator[tuple[int, Any]]:
        """Every fold's number and this model fitted on all rows but that fold's: one pass."""
        from tacit.classify.left_out import fit_without_folds

        self._validate_params()
        return fit_without_folds(self, X, y, folds)

    @available_if(can_leave_out)
    def predict_left_out(self, X: Any, y: Any) -> np.ndarray:
        """The class of every row, by this model fitted on all others: one pass for all."""
        from tacit.classify.left_out import left_out_scores

        self._validate_params()
        classes, joint = left_out_scores(self, X, y)
        return classes[joint.argmax(axis=1)]

    def _counting(self, n_classes: int) -> Counting:
        return Counting(type(self).__name__, n_classes)

    def _count(self, labeled: Any) -> ClassCounts:
        params = self._counting(len(labeled.classes))
        table = fewer_blocks(labeled.table, params.n_classes)
        return get_engine(self.engine).reduce(collect, params, table)

    def _update(self, classes: np.ndarray, stats: ClassCounts) -> Any:
        """Fit from counts alone."""
        self.classes_ = classes
        self.class_count_, self.feature_count_ = stats.class_count, stats.feature_count
        self.class_log_prior_ = self._log_prior(len(classes))
        self._set_weights()
        check_results(self)
        return self

    def _set_weights(self) -> None:
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
            return log_or_minus_inf(prior)
        if not self.fit_prior:
            return np.full(k, -np.log(k))
        return log_or_minus_inf(self.class_count_) - np.log(self.class_count_.sum())

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
            alpha = np.maximum(alpha, 1e-10)
        return alpha if alpha.ndim else float(alpha)

    def _log_frequencies(self, counts: np.ndarray) -> np.ndarray:
        """(v, k) log phi from (k, v) counts."""
        v, alpha = counts.shape[1], self._smoothing()
        totals = counts.sum(axis=1) + (np.sum(alpha) if np.ndim(alpha) else alpha * v)
        logs = log_probabilities(counts, alpha, totals)
        if not totals.all():  # a class without a feature, and alpha 0: all are as likely
            logs[:, totals == 0] = -np.log(v)
        return logs

    def _map_blocks(self, function: Any, X: Any) -> Iterator[np.ndarray]:
        unsmoothed = np.min(self.alpha) == 0 and hasattr(self, "weights_")
        if unsmoothed and not np.isfinite(self.weights_.min()):
            function = partial(score_nonzero, function)
        return super()._map_blocks(function, X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on data that are not counts
        tags.input_tags.positive_only = True
        return tags


# --- The estimators ---


class MultinomialNB(NaiveBayes):
    """Classify rows of counts by the frequencies of their features in each class.

    Parameters
    ----------
    alpha : float or array of shape (n_features,)
        Added to every count. With 0 one feature can rule out a class.
    force_alpha : bool; False raises an alpha below 1e-10 to that
    fit_prior : bool
        Whether to estimate the priors of the classes; otherwise they are uniform.
    class_prior : array of shape (n_classes,) or None
        The priors of the classes, if they are known.
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
    [('money', 1.299...), ('now', 0.606...)]
    """

    def _set_weights(self) -> None:
        self.weights_ = self._log_frequencies(self.feature_count_)
        self.intercept_ = self.class_log_prior_


class BernoulliNB(NaiveBayes):
    """Classify rows by which features are present, and which are absent.

    Parameters
    ----------
    alpha : float or array of shape (n_features,)
        Added to the number of rows with a feature, and to that without.
    binarize : float or None
        A feature is present when it is above this, 0 or more. None takes X as zeros and ones.
    force_alpha, fit_prior, class_prior, engine : as for ``MultinomialNB``

    Attributes
    ----------
    feature_count_ : array of shape (n_classes, n_features), rows with each feature
    The others are those of ``MultinomialNB``.

    Examples
    --------
    >>> lights = [["red", "red"], ["red", "green"], ["green", "red"]]
    >>> X = np.array([[light == "red" for light in both] for both in lights], float)
    >>> model = BernoulliNB(alpha=0.0).fit(X, ["broken", "works", "works"], [1, 3, 3])
    >>> model.predict_proba([[1.0, 1.0]])  # both red: the lights are not independent
    array([[0.4, 0.6]])
    """

    _distinct: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        **NaiveBayes._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        engine: Any = "threads",
    ) -> None:
        super().__init__(
            alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior,
            engine=engine,
        )  # fmt: skip
        self.binarize = binarize

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """log phi, in scikit-learn's layout."""
        check_is_fitted(self)
        return self._logs(self.feature_count_).T

    def _counting(self, n_classes: int) -> Counting:
        return Counting("BernoulliNB", n_classes, self.binarize)

    def _logs(self, counts: np.ndarray) -> np.ndarray:
        """(v, k) log probabilities from (k, v) rows with each feature, or without it."""
        alpha = self._smoothing()
        added = np.asarray(alpha)[:, None] if np.ndim(alpha) else alpha
        totals = self.class_count_ + 2 * added
        logs = log_probabilities(counts, alpha, totals)
        if not totals.all():  # a class without a row, and alpha 0
            logs[np.broadcast_to(totals == 0, logs.shape)] = -np.log(2)
        return logs

    def _set_weights(self) -> None:
        rows = self.class_count_[:, None]
        if self.binarize is None and (self.feature_count_ > rows * (1 + 1e-9)).any():
            raise ValueError(
                "BernoulliNB(binarize=None) takes X as zeros and ones, but X holds values "
                f"above 1 (up to {self.feature_count_.max():g} in a class together). Set "
                "binarize=0.0 to count every value above 0 as a one."
            )
        absent_count = np.maximum(rows - self.feature_count_, 0)  # rounding may go below
        weights, absent = self._logs(self.feature_count_), self._logs(absent_count)
        # With alpha 0 a logarithm may be -inf and the score no longer linear; a large finite
        # number rules out a class just as well.
        if not np.all(self._smoothing()):
            weights, absent = np.maximum(weights, FLOOR), np.maximum(absent, FLOOR)
        self.intercept_ = self.class_log_prior_ + absent.sum(axis=0)
        self.weights_ = np.subtract(weights, absent, out=weights)

    def _map_blocks(self, function: Any, X: Any) -> Iterator[np.ndarray]:
        if self.binarize is not None:
            function = partial(score_present, function, self.binarize)
        return super()._map_blocks(function, X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags


class ComplementNB(NaiveBayes):
    """Classify rows of counts by how little they resemble the other classes.

    Parameters
    ----------
    norm : bool, whether to scale the weights of every class to sum to one
    alpha, force_alpha, fit_prior, class_prior, engine : as for ``MultinomialNB``
        The priors are not used, except with a single class.

    Attributes
    ----------
    feature_all_ : array of shape (n_features,), counts over all classes
    feature_log_prob_ : array of shape (n_classes, n_features), the weights
    The others are those of ``MultinomialNB``.

    Examples
    --------
    >>> X = np.array([[3, 0, 1], [2, 0, 0], [0, 2, 1]])
    >>> ComplementNB().fit(X, ["a", "a", "b"]).predict([[1, 0, 0], [0, 1, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict] = {
        **NaiveBayes._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        engine: Any = "threads",
    ) -> None:
        super().__init__(
            alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior,
            engine=engine,
        )  # fmt: skip
        self.norm = norm

    @property
    def feature_all_(self) -> np.ndarray:
        """Counts over all classes."""
        check_is_fitted(self)
        return self.feature_count_.sum(axis=0)

    def _set_weights(self) -> None:
        others = self.feature_all_ - self.feature_count_
        logs = self._log_frequencies(np.maximum(others, 0, out=others))
        self.weights_ = logs / logs.sum(axis=0) if self.norm else np.negative(logs, out=logs)
        one = len(self.classes_) == 1
        self.intercept_ = self.class_log_prior_ if one else np.zeros(len(self.classes_))


@kernel
def add_rows(csr, codes, weights, order, counts, threshold):
    """Add rows, or with a threshold a one for every value above it, to the counts of their
    classes; the sum of their values, and the least."""
    total, least = 0.0, 0.0
    adds_values = np.isnan(threshold)
    for i in order:
        row, weight = counts[codes[i]], weights[i]
        for t in range(csr.indptr[i], csr.indptr[i + 1]):
            x = float(csr.data[t])
            one = 1.0 if x > threshold else 0.0
            row[np.uint32(csr.indices[t])] += weight * (x if adds_values else one)
            total += x
            least = min(least, x)
    return total, least

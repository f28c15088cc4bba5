"""Naive Bayes from a few labels and many unlabeled documents, or with several components per
class.

    collect   as for the multinomial mixture; a label restricts a document to its class
    update    naive Bayes on the expected counts of all documents

Unlabeled documents count with a weight, lambda, so that many of them do not outvote few labels.
The loss is minus the log-likelihood, log p(x, y) of a labeled document and lambda log p(x) of
an unlabeled one, minus the log prior.

``SemiSupervisedNB`` has one component per class and starts from naive Bayes on the labeled
documents. Naive Bayes takes the words of a class to be independent; where a class has subtopics
they are not. ``MultiComponentNB`` lets words depend on each other through several components
per class: a label restricts a document to those of its class, and the posterior of a class is
the sum over its components. Traffic lights that are both red only when broken are the notes'
example: naive Bayes, which multiplies two dependent signals, takes a broken light for a working
one; with two components for "working" (north-south green, east-west green) the model is right.

Nigam, McCallum, Thrun and Mitchell (2000), Text classification from labeled and unlabeled
documents using EM. Machine Learning 39; section 5.3 for several components. The notes' sections
on semi-supervised learning and on multi-component modeling.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from tacit.core.engines import Engine
from tacit.core.estimator import Estimator, check_weights, engine_for, with_callbacks
from tacit.core.loop import Fit
from tacit.core.warn import warn_caller
from tacit.data.checked import check_count_table, check_results
from tacit.data.table import Table
from tacit.mixture.em import posterior, run_em
from tacit.mixture.multinomial import (
    CountComponents,
    MultinomialMixture,
    collect,
    log_joint,
    log_prior,
    uniform,
    update,
)

__all__ = ["LabeledMixture", "MultiComponentNB", "SemiSupervisedNB", "read_labels"]

WEIGHTS = (0.0, 0.1, 0.3, 1.0)  # of unlabeled documents, tried by "auto"
WEIGHT = 1.0  # plain EM, where no label can be held out
FOLDS, FOLD_ITERATIONS = 3, 10
CHOICES = (1, 2, 3, 5)  # components per class, tried by "auto"


def read_labels(y: Any, n: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The classes, sorted, and the code of every row: -1 where the label is unknown.

    Unknown is -1 among numbers, None or NaN among others.

    >>> read_labels(["a", None, "b"], 3, "fit")
    (array(['a', 'b'], dtype='<U1'), array([ 0, -1,  1]))
    """
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    values = column_or_1d(y, dtype=object, warn=True).tolist()
    if len(values) != n:
        raise ValueError(f"{name} was given {len(values)} labels for {n} rows.")
    missing = [is_unknown(value) for value in values]
    known = [value for value, gone in zip(values, missing, strict=True) if not gone]
    if not known:
        raise ValueError(f"{name} needs at least one label, but all are unknown.")
    kinds = {isinstance(value, str) for value in known}
    if len(kinds) > 1:
        raise TypeError(f"{name}: some labels are strings and some are not.")
    labels = np.asarray(known)
    if labels.dtype.kind in "fc":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    classes = np.unique(labels)
    codes = np.full(n, -1)
    codes[~np.asarray(missing)] = np.searchsorted(classes, labels)
    return classes, codes


def is_unknown(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str | bool):
        return False
    return value == -1 or value != value


class LabeledMixture(CountComponents, ClassifierMixin, Estimator):
    """Base class: components of word counts that belong to classes."""

    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "unlabeled_weight": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    _file_schema: ClassVar[dict] = {
        "classes_": ("n_classes",),
        "component_classes_": ("components",),
        "log_weights_": ("components",),
        "log_probs_": ("n_features_in_", "components"),
    }

    alpha: float
    unlabeled_weight: float | str
    tol: float
    max_iter: int

    # --- Predicting ---

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, n_classes) the posterior of the classes for each row."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of ``predict_proba``."""
        check_is_fitted(self)
        table = check_count_table(self, X, reset=False)
        params = (self._params(), self.component_classes_, len(self.classes_))
        return np.concatenate(list(engine_for(self).map(block_log_posterior, params, table)))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every row; a tie goes to the first."""
        best = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[best]

    # --- Fitting ---

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, np.ndarray, np.ndarray]:
        """The rows, their codes (-1 where the label is unknown) and their weights; sets
        ``classes_``."""
        table = check_count_table(self, X, reset=True)
        self.classes_, codes = read_labels(y, len(table), type(self).__name__)
        weights = check_weights(sample_weight, np.empty((len(table), 1)))
        return table, codes, np.ones(len(table)) if weights is None else weights

    def _em(
        self, table: Table, codes: np.ndarray, allowed: np.ndarray, first: np.ndarray,
        sample_weight: np.ndarray, unlabeled_weight: float, callbacks: list,
    ) -> Fit:  # fmt: skip
        """EM over weighted rows, whose components are restricted by ``allowed``.

        ``first`` restricts the first pass, over labeled rows alone, to one component a row.
        """
        engine, unlabeled = engine_for(self), codes < 0
        weights = np.where(unlabeled, unlabeled_weight * sample_weight, sample_weight)
        if not weights[~unlabeled].any():
            raise ValueError(
                f"{type(self).__name__}: the labeled rows have no weight. Give some above 0."
            )
        k = allowed.shape[1]
        params = uniform(k, np.array([0, table.shape[1]]))
        labeled = np.where(unlabeled, 0.0, weights)
        counted = table.with_labels(first).with_weights(labeled)
        start = update(params, engine.reduce(collect, params, counted), alpha=self.alpha)
        if not weights[unlabeled].any() and (allowed[~unlabeled] == first[~unlabeled]).all():
            counted = table.with_labels(allowed).with_weights(labeled)
            stats = engine.reduce(collect, start, counted)  # every label is known: one pass
            loss = (stats.loss + log_prior(start, self.alpha)) / stats.rows
            return Fit(start, [loss], converged=True)
        data = table.with_labels(allowed).with_weights(weights)
        return run_em(
            start, collect, partial(update, alpha=self.alpha),
            partial(log_prior, alpha=self.alpha), data, engine, tol=self.tol,
            max_iter=self.max_iter, callbacks=callbacks, name=type(self).__name__,
        )  # fmt: skip

    def _store(self, fit: Fit, component_classes: np.ndarray) -> None:
        self.component_classes_ = component_classes
        self.log_weights_, self.log_probs_ = fit.params.log_weights, fit.params.log_probs
        self.lower_bounds_ = [-float(loss) for loss in fit.losses]
        self.n_iter_, self.converged_ = max(1, len(fit.losses) - 1), fit.converged
        check_results(self)
        if not fit.converged:
            warn_caller(
                f"{type(self).__name__}: EM did not converge in max_iter={self.max_iter} "
                "iterations. Raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _after_load(self) -> None:
        codes = self.component_classes_
        if codes.dtype.kind != "i" or codes.min() < 0 or codes.max() >= len(self.classes_):
            raise ValueError("component_classes_ must be places in classes_.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on data that are not counts
        return tags


def block_log_posterior(params: tuple, block: Any) -> np.ndarray:
    """Log posteriors of components, summed by class."""
    counts, component_classes, n_classes = params
    joint = log_joint(counts, block)
    evidence, _ = posterior(joint.copy())
    result = np.full((len(joint), n_classes), -np.inf)
    for j, code in enumerate(component_classes):
        np.logaddexp(result[:, code], joint[:, j] - evidence, out=result[:, code])
    return np.minimum(result, 0.0)


class SemiSupervisedNB(LabeledMixture):
    """Classify documents from a few labels and many unlabeled documents.

    Parameters
    ----------
    alpha : float, added to every expected count of a word, and of a class
    unlabeled_weight : float from 0 to 1, or "auto"
        What an unlabeled document counts, relative to a labeled one (lambda). 0 is naive Bayes
        on the labeled ones, 1 is plain EM. "auto" chooses by cross-validation on the labeled
        documents: the highest accuracy, then the highest likelihood of the held-out labels.
    tol : float, stop when a pass raises the mean log-posterior by less than this
    max_iter : int, most EM iterations
    random_state : int, RandomState or None; seed of the folds
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    unlabeled_weight_ : float, the weight that was used
    unlabeled_weights_ : dict of weight to cross-validated accuracy; with "auto" alone
    log_weights_, log_probs_ : the class prior, and log P(word | class) of shape (n_features,
        n_classes)
    lower_bounds_ : list of float, the mean log-posterior after 0, 1, 2, ... updates
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> X = np.array([[3, 0, 0], [2, 1, 0], [0, 0, 4], [0, 1, 3], [0, 2, 2]])
    >>> model = SemiSupervisedNB(unlabeled_weight=1.0).fit(X, ["sea", None, "land", None, None])
    >>> model.predict(X).tolist()
    ['sea', 'sea', 'land', 'land', 'land']
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        unlabeled_weight: float | str = "auto",
        tol: float = 1e-3,
        max_iter: int = 50,
        random_state: Any = 0,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.alpha, self.unlabeled_weight, self.tol = alpha, unlabeled_weight, tol
        self.max_iter, self.random_state, self.engine = max_iter, random_state, engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, partial_labels: Any = None
    ) -> Self:
        """Fit from rows and labels, -1 or None where a label is unknown.

        ``partial_labels``, one for each row, are the classes that an unlabeled row may have;
        None means any.
        """
        self._validate_params()
        table, codes, weights = self._read(X, y, sample_weight)
        allowed = mask_of(codes, self.classes_, partial_labels, type(self).__name__)
        self.unlabeled_weight_ = self._choose(table, codes, allowed, weights)
        with self._fit_callbacks() as callbacks:
            fit = self._em(
                table, codes, allowed, allowed, weights, self.unlabeled_weight_, callbacks
            )
        self._store(fit, np.arange(len(self.classes_)))
        return self

    def _choose(
        self, table: Table, codes: np.ndarray, allowed: np.ndarray, weights: np.ndarray
    ) -> float:
        """The weight of unlabeled documents, by cross-validation on the labeled ones."""
        if self.unlabeled_weight != "auto":
            return float(self.unlabeled_weight)
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        if not (codes < 0).any() or len(self.classes_) < 2 or counts.min() < 2:
            return WEIGHT  # a class of one document cannot be held out
        labeled = np.flatnonzero(codes >= 0)
        folds = StratifiedKFold(
            int(min(FOLDS, counts.min())), shuffle=True,
            random_state=check_random_state(self.random_state),
        )  # fmt: skip
        right, likelihood = np.zeros(len(WEIGHTS)), np.zeros(len(WEIGHTS))
        quick = clone(self).set_params(max_iter=min(self.max_iter, FOLD_ITERATIONS))
        for _, test in folds.split(labeled[:, None], codes[labeled]):
            rows = labeled[test]
            hidden = codes.copy()
            hidden[rows] = -1
            open_mask = allowed.copy()
            open_mask[rows] = True
            test_rows = table.take(rows)
            for i, weight in enumerate(WEIGHTS):
                fit = quick._em(table, hidden, open_mask, open_mask, weights, weight, [])
                joint = log_joint(fit.params, test_rows)
                evidence, _ = posterior(joint.copy())
                truth = codes[rows]
                right[i] += (joint.argmax(axis=1) == truth).sum()
                likelihood[i] += (joint[np.arange(len(rows)), truth] - evidence).sum()
        self.unlabeled_weights_ = {
            str(weight): float(hits / len(labeled))
            for weight, hits in zip(WEIGHTS, right, strict=True)
        }
        return WEIGHTS[max(range(len(WEIGHTS)), key=lambda i: (right[i], likelihood[i]))]


class MultiComponentNB(LabeledMixture):
    """Classify documents by a mixture of several components per class.

    Parameters
    ----------
    n_components : int, dict of class to int, or "auto"
        Components per class. "auto" chooses 1, 2, 3 or 5 for each class, by the likelihood of
        held-out documents of that class.
    alpha : float, added to every expected count of a word, and of a component
    unlabeled_weight : float from 0 to 1
        What an unlabeled document (label -1 or None) counts, relative to a labeled one.
    n_init : int, runs to make, each from another start; the most likely one wins
    random_state : int, RandomState or None
        Seed of the starts, and of the held-out documents.
    tol, max_iter, engine, callbacks : as for ``SemiSupervisedNB``

    Attributes
    ----------
    component_classes_ : array of shape (n,), the class of each component, as a place in
        ``classes_``
    log_weights_ : array of shape (n,)
    log_probs_ : array of shape (n_features, n), log P(word | component)
    classes_, lower_bounds_, n_iter_, converged_ : as for ``SemiSupervisedNB``

    Examples
    --------
    >>> X = np.array([[1, 0, 0, 1]] * 3 + [[0, 1, 1, 0]] * 3 + [[0, 1, 0, 1]])
    >>> y = ["works"] * 6 + ["broken"]
    >>> MultiComponentNB(2, alpha=0.01, random_state=0).fit(X, y).predict([[0, 1, 0, 1]])
    array(['broken'], dtype='<U6')
    """

    _parameter_constraints: ClassVar[dict] = {
        **LabeledMixture._parameter_constraints,
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            dict,
            StrOptions({"auto"}),
        ],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | Mapping | str = 2,
        *,
        alpha: float = 1.0,
        unlabeled_weight: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 50,
        n_init: int = 1,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.alpha = n_components, alpha
        self.unlabeled_weight, self.tol, self.max_iter = unlabeled_weight, tol, max_iter
        self.n_init, self.random_state, self.engine = n_init, random_state, engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit from rows and labels, -1 or None where a label is unknown."""
        self._validate_params()
        name = type(self).__name__
        if self.unlabeled_weight == "auto":
            raise ValueError(f"{name}(unlabeled_weight='auto'): give a number from 0 to 1.")
        table, codes, weights = self._read(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        sizes = self._sizes(table, codes, rng)
        component_classes = np.repeat(np.arange(len(self.classes_)), sizes)
        allowed = mask_of(codes, self.classes_, None, name)[:, component_classes]
        fits, weight = [], float(self.unlabeled_weight)
        with self._fit_callbacks() as callbacks:
            for _ in range(self.n_init):
                first = self._first(table, codes, sizes, weights, rng)
                fits.append(self._em(table, codes, allowed, first, weights, weight, callbacks))
        self._store(min(fits, key=lambda fit: fit.losses[-1]), component_classes)
        return self

    # --- Parts ---

    def _sizes(self, table: Table, codes: np.ndarray, rng: Any) -> np.ndarray:
        """Components per class, at most one for each labeled row."""
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        if isinstance(self.n_components, Mapping):
            place = {value: i for i, value in enumerate(self.classes_.tolist())}
            unknown = [value for value in self.n_components if value not in place]
            numbers = self.n_components.values()
            valid = all(isinstance(size, Integral) and int(size) >= 1 for size in numbers)
            if unknown or not valid:
                raise ValueError(
                    "MultiComponentNB(n_components=...) needs whole numbers of at least 1 for "
                    f"classes that occur, such as {list(place)[:5]}."
                )
            sizes = np.array([self.n_components.get(value, 1) for value in place])
        elif self.n_components == "auto":
            sizes = np.array([self._choose(table, codes == c, rng) for c in range(len(counts))])
        else:
            sizes = np.full(len(counts), int(self.n_components))
        return np.minimum(sizes, np.maximum(counts, 1))

    def _choose(self, table: Table, member: np.ndarray, rng: Any) -> int:
        """The number of components of one class, by the likelihood of held-out documents."""
        rows = rng.permutation(np.flatnonzero(member))
        test, train = np.sort(rows[: len(rows) // 4]), np.sort(rows[len(rows) // 4 :])
        seed = int(rng.randint(2**31))
        scores = {}
        for size in CHOICES:
            if len(test) < 5 or len(train) < 4 * size:
                break
            model = MultinomialMixture(
                size, alpha=self.alpha, max_iter=20, random_state=seed, engine=self.engine
            )
            scores[size] = model.fit(table.take(train)).score(table.take(test))
        return max(scores, key=lambda size: (scores[size], -size)) if scores else 1

    def _first(
        self, table: Table, codes: np.ndarray, sizes: np.ndarray, weights: np.ndarray, rng: Any
    ) -> np.ndarray:
        """One component for every labeled row: its class, divided by spherical k-means."""
        starts = np.concatenate([[0], np.cumsum(sizes)])
        first = np.zeros((len(codes), int(starts[-1])), bool)
        first[codes < 0] = True
        for c, size in enumerate(sizes):
            rows = np.flatnonzero(codes == c)
            labels = np.zeros(len(rows), np.int64)
            if size > 1:
                start = MultinomialMixture(int(size), random_state=rng, engine=self.engine)
                content = Table.from_array(sp.csr_array(table.take(rows)))
                content = content.with_weights(weights[rows])
                labels = start._first_labels(content, rng)
            first[rows, starts[c] + labels] = True
        return first


def mask_of(
    codes: np.ndarray, classes: np.ndarray, partial_labels: Any, name: str
) -> np.ndarray:
    """(n, classes) which classes each row may have."""
    allowed = np.ones((len(codes), len(classes)), bool)
    known = np.flatnonzero(codes >= 0)
    allowed[known] = False
    allowed[known, codes[known]] = True
    if partial_labels is None:
        return allowed
    if len(partial_labels) != len(codes):
        raise ValueError(
            f"{name} was given {len(partial_labels)} partial labels for {len(codes)} rows."
        )
    place = {value: i for i, value in enumerate(classes.tolist())}
    for i, options in enumerate(partial_labels):
        if options is None or codes[i] >= 0:
            continue
        if isinstance(options, str) or not isinstance(options, Iterable):
            raise TypeError(f"{name}: the partial labels of row {i} must be a set of classes.")
        wanted = [place.get(option, -1) for option in options]
        if not wanted or min(wanted) < 0:
            raise ValueError(
                f"{name}: the partial labels of row {i} must be classes that occur among the "
                f"labels, such as {classes.tolist()[:5]}."
            )
        allowed[i] = False
        allowed[i, wanted] = True
    return allowed

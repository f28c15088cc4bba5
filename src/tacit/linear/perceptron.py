"""The perceptron and passive-aggressive classifiers: weights learned row by row.

    visit   guess the class of a row; where the guess is wrong, or right by too little, move
            the weights toward the right class y and away from its rival r

Sequential: each visit starts from what the one before left, in one thread.

The perceptron adds f(x, y) - f(x, r) for every mistake. If some weights separate the classes,
so do the perceptron's after finitely many mistakes, and a pass without one says so. If none do
the weights go round in circles; their average over all visits settles, and errs less on new
rows. Updating the average does not touch weights that do not change.

Passive-aggressive updates change nothing that is right by a margin of 1, and else no more than
needed. With two classes there is one vector of weights, so that C means what it does in
scikit-learn, which no longer has this class from version 1.10 on.

``online_updates`` has the visits and the papers. One file: both estimators have one base class.

Rosenblatt (1958), The perceptron. Psychological Review 65.
Freund and Schapire (1999), Large margin classification using the perceptron algorithm.
Machine Learning 37. Collins (2002), Discriminative training methods for hidden Markov models.
EMNLP. The notes' sections on the perceptron and on large-margin classification.
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Serial
from tacit.core.estimator import with_callbacks
from tacit.core.randoms import key, permutation
from tacit.core.sweep import run_pass, sweep
from tacit.data.table import Table, is_sparse
from tacit.linear.labeled_rows import (
    Labeled,
    check_factors,
    check_labeled,
    check_partial,
    check_two_classes,
    in_memory,
)
from tacit.linear.linear_classifier import LinearClassifier, Scorer, check_columns, top_classes
from tacit.linear.losses import width_of
from tacit.linear.online_updates import (
    MIRA,
    PA,
    PA_I,
    PA_II,
    PERCEPTRON,
    OnlineUpdates,
    Rule,
    State,
    new_state,
    restart_average,
)

__all__ = ["OnlineClassifier", "PassiveAggressiveClassifier", "Perceptron"]

HELD_OUT = 2**40  # no pass has this number
CALM = 0.3  # the square of the intercept's feature among features that few rows have
RULES = {"hinge": PA_I, "PA-I": PA_I, "squared_hinge": PA_II, "PA-II": PA_II, "PA": PA,
         "MIRA": MIRA}  # fmt: skip


class OnlineClassifier(LinearClassifier):
    """Base class: passes, stopping, averages. A model says which ``_rule`` it follows."""

    contract: ClassVar[str] = "sequential"
    _parameter_constraints: ClassVar[dict] = {
        "average": ["boolean"],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
    }
    _no_effect: ClassVar[dict] = {"n_jobs": "visits run in one thread, all classes together"}
    _saved_private: ClassVar[tuple] = (
        "_last_weights", "_last_intercept", "_weight_sums", "_intercept_sums",
    )  # fmt: skip
    _file_schema: ClassVar[dict] = {
        "classes_": ("n_classes",),
        "_last_weights": ("n_features_in_", "columns"),
        "_last_intercept": ("columns",),
        "_weight_sums": (None, "columns"),
        "_intercept_sums": ("columns",),
    }
    _file_kinds: ClassVar[dict] = {}  # checked after loading
    _file_types: ClassVar[dict] = {"t_": int, "n_iter_": int, "losses_": list}

    _counts_mistakes: ClassVar[bool] = False  # the loss is the error rate, not the hinge loss
    _skips_first: ClassVar[bool] = False  # averages leave the first pass out

    def _rule(self, sparse: bool) -> Rule:
        raise NotImplementedError

    # --- Fitting ---

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, coef_init: Any = None, intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:  # fmt: skip
        """Learn in passes over the rows of an array, a sparse matrix or a Table.

        ``coef_init`` and ``intercept_init`` are the weights to start from, laid out as
        ``coef_`` and ``intercept_``; ``sample_weight`` multiplies the step of each row.
        """
        self._validate_params()
        labeled = check_labeled(self, X, y, sample_weight)
        check_two_classes(self, labeled.classes)
        seed = int(check_random_state(self.random_state).randint(2**31))
        fresh = self._skips_first and not self._goes_on()
        state = self._start(labeled.classes)
        set_weights(state, coef_init, intercept_init)
        labeled, held_out = self._hold_out(labeled, seed)
        updates = self._updates(
            labeled, seed, max_iter=self.max_iter, tol=self.tol,
            patience=self.n_iter_no_change, skips_first=fresh, held_out=held_out is not None,
        )  # fmt: skip
        with self._fit_callbacks() as callbacks:
            swept = sweep(
                updates, state, Serial(), max_iter=self.max_iter, stop=updates.stop,
                held_out=held_out and (lambda state: error_rate(state, updates.rule, held_out)),
                callbacks=callbacks, name=type(self).__name__,
            )  # fmt: skip
        self.classes_, self.converged_ = labeled.classes, swept.converged
        self.separated_ = updates.separated
        self.losses_, self.n_iter_ = swept.losses, len(swept.losses)
        if held_out is not None:
            self.validation_scores_ = [1 - error for error in swept.held_out]
        self._store(state)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Visit more rows once. The first call names all ``classes`` there will ever be."""
        self._validate_params()
        if self.early_stopping:
            raise ValueError(
                "early_stopping should be False with partial_fit, which makes one pass. Use "
                "fit, or early_stopping=False."
            )
        first, labeled = check_partial(self, X, y, classes, sample_weight)
        if first:
            check_two_classes(self, labeled.classes)
            self.classes_, self.losses_, self.n_iter_ = labeled.classes, [], 0
            state = new_state(self.n_features_in_, len(labeled.classes), bool(self.average))
        else:
            state = self._state(copy=False)
        seed = int(check_random_state(self.random_state).randint(2**31))
        updates = self._updates(labeled, seed)
        passed = run_pass(updates, state, Serial(), int(state.clock[0]))
        self.separated_, self.converged_ = not passed.changes, False
        self.losses_.append(passed.loss / (passed.items or 1.0))
        self.n_iter_ += 1
        self._store(state)
        return self

    def _updates(self, labeled: Labeled, seed: int, **stopping: Any) -> OnlineUpdates:
        return OnlineUpdates(
            labeled.table, self._rule(is_sparse(labeled.table)), self._costs(labeled), seed,
            type(self).__name__, mistakes=self._counts_mistakes, shuffle=self.shuffle,
            **stopping,
        )  # fmt: skip

    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "_last_weights")

    def _start(self, classes: np.ndarray) -> State:
        width = self.n_features_in_
        if self._goes_on():
            shape = (width, width_of(len(classes)))
            if self._last_weights.shape != shape or not np.array_equal(self.classes_, classes):
                raise ValueError(
                    f"warm_start=True goes on with {self._last_weights.shape[0]} features and "
                    f"the classes {self.classes_.tolist()[:10]}, but the data has {width} and "
                    f"{classes.tolist()[:10]}. Use the same, or warm_start=False."
                )
            state = self._state()
            if self._skips_first:
                restart_average(state)
            return state
        return new_state(width, len(classes), bool(self.average))

    def _hold_out(self, labeled: Labeled, seed: int) -> tuple[Labeled, Any]:
        """The rows to train on and, with early stopping, those that are held out."""
        if not self.early_stopping:
            return labeled, None
        if not labeled.table.in_memory:
            raise ValueError(
                f"{type(self).__name__}(early_stopping=True) needs all rows in memory, but X "
                "is a table of a file. Set early_stopping=False, or give an array."
            )
        rows, codes, weights = in_memory(labeled.table)
        n = len(codes)
        order = permutation(key(seed, HELD_OUT), n)
        order = order[np.argsort(codes[order], kind="stable")]  # in proportion to the classes
        wanted = max(1, round(self.validation_fraction * n))
        out = np.zeros(n, np.bool_)
        out[order[(np.arange(wanted) * n) // wanted]] = True
        if len(np.unique(codes[~out])) < len(labeled.classes):
            raise ValueError(
                f"{type(self).__name__}(validation_fraction={self.validation_fraction}) leaves "
                "no rows of some class to learn from. Lower it, or set early_stopping=False."
            )
        table = Table.from_array(rows[~out]).with_labels(codes[~out])
        if weights is not None:
            table = table.with_weights(weights[~out])
        return Labeled(table, labeled.classes), (rows[out], codes[out])

    def _costs(self, labeled: Labeled) -> np.ndarray:
        """The weight of each class."""
        if self.class_weight is None:
            return np.ones(len(labeled.classes))
        codes = np.concatenate([block.labels.load() for block in labeled.table])
        costs = compute_class_weight(
            self.class_weight, classes=labeled.classes, y=labeled.classes[codes]
        )
        return check_factors(costs, labeled.classes)

    # --- The weights of a fit ---

    def _store(self, state: State) -> None:
        self._last_weights, self._last_intercept = state.weights, state.intercept
        self._weight_sums, self._intercept_sums = state.sums, state.intercept_sums
        self.t_ = int(state.clock[0])
        self._averaged: list = []  # filled when first asked for

    def _state(self, *, copy: bool = True) -> State:
        """The state at the end of a fit, with or without the sums of an average."""
        if self.average and len(self._weight_sums) != len(self._last_weights):
            raise ValueError(
                "average=True continues a fit without averages. Fit again, or set "
                "average=False."
            )
        arrays = (
            self._last_weights,
            self._last_intercept,
            self._weight_sums if self.average else self._weight_sums[:0],
            self._intercept_sums,
            np.array([self.t_]),
        )
        # Arrays opened by mmap are read-only.
        return State(*(a.copy() if copy or not a.flags.writeable else a for a in arrays))

    def _both(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights to decide with. Averages are computed when first used, so that a stream
        of small batches does not pay for them."""
        check_is_fitted(self)
        if not (len(self._weight_sums) and self.t_):
            return self._last_weights, self._last_intercept
        if not self._averaged:
            weights = self._weight_sums / -self.t_
            weights += self._last_weights
            intercept = self._last_intercept - self._intercept_sums / self.t_
            self._averaged.append((weights, intercept))
        return self._averaged[0]

    @property
    def weights_(self) -> np.ndarray:  # type: ignore[override]
        """(v, k) weights, or (v, 1) with two classes; averaged if ``average``."""
        return self._both()[0]

    @weights_.setter
    def weights_(self, value: np.ndarray) -> None:
        self._forget_average()
        self._last_weights = np.array(value, np.float64)

    @property
    def intercept_(self) -> np.ndarray:  # type: ignore[override]
        """One for every column of ``weights_``."""
        return self._both()[1]

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self._forget_average()
        self._last_intercept = np.array(value, np.float64).reshape(-1)

    def _forget_average(self) -> None:
        """Before weights are set by hand: make the (averaged) weights the last ones."""
        self._last_weights, self._last_intercept = (array.copy() for array in self._both())
        self._weight_sums = np.zeros((0, self._last_weights.shape[1]))
        self._averaged = []

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_averaged": []}

    def _after_load(self) -> None:
        self._averaged = []
        check_columns(len(self.classes_), len(self._last_intercept))
        for name in self._saved_private:
            if getattr(self, name).dtype != np.float64:
                raise ValueError(f"{name} must be float64.")
        if len(self._weight_sums) not in (0, self.n_features_in_) or self.t_ < 1:
            raise ValueError("the sums for the average do not fit the weights.")


class Perceptron(OnlineClassifier):
    """Classify rows by weights learned from mistakes, averaged over all visits.

    Parameters
    ----------
    average : bool
        Decide with the average of the weights over all visits; otherwise with the last.
    fit_intercept : bool, whether every class has an offset
    max_iter : int, most passes over the rows
    tol : float or None
        Stop after ``n_iter_no_change`` passes in which the error rate did not fall by this
        fraction of what it was in the first pass. None: only where a pass makes no mistake. An
        average is good long before the last weights are; without one try 1e-3 and five passes.
    early_stopping : bool
        Hold out some rows, and let their accuracy, not the loss, decide when to stop.
    validation_fraction : float, the fraction of rows to hold out
    n_iter_no_change : int
        See ``tol``. With few rows it takes as many passes as make a thousand visits.
    shuffle : bool, whether every pass visits the rows in another order, drawn from the seed
    class_weight : dict, "balanced" or None
        How much a mistake on each class counts; "balanced" is the inverse of its frequency.
    warm_start : bool, whether ``fit`` goes on with the weights there are
    eta0 : float
        The learning rate: the weights are multiplied by it, and decisions do not change.
    verbose : int, above 0, shows progress on standard error
    penalty, alpha, l1_ratio, n_jobs
        No effect: the average takes the place of a penalty, and visits run in one thread.
    random_state : int, RandomState or None; seed of the orders
    callbacks : list or None
        Notified of every pass; see ``tacit.core.progress``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), sorted
    weights_ : array of shape (n_features, n_classes); one column, the second class against
        the first, where there are two
    intercept_ : array, one for every column
    coef_ : the weights as scikit-learn lays them out, rows of features
    separated_ : bool, whether the last pass made no mistake: the last weights, not their
        average, separate the classes
    losses_ : list of float, the error rate of each pass
    validation_scores_ : list of float, with early stopping the accuracy on rows held out
    n_iter_ : int, number of passes
    converged_ : bool, False where ``max_iter`` or a callback ended the fit
    t_ : int, visits that averages are taken over: all, but for class weights that lie far
        apart, where the first passes are forgotten

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 2.0]])
    >>> model = Perceptron(random_state=0).fit(X, ["low", "low", "high", "high"])
    >>> model.separated_, model.losses_[-1]
    (True, 0.0)
    >>> model.predict([[0.5, 0.5], [4.0, 4.0]])
    array(['low', 'high'], dtype='<U4')
    """

    _counts_mistakes: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        **OnlineClassifier._parameter_constraints,
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    }
    _no_effect: ClassVar[dict] = {
        **OnlineClassifier._no_effect,
        **dict.fromkeys(
            ("penalty", "alpha", "l1_ratio"),
            "the average of the weights takes the place of a penalty, or use LinearSVC",
        ),
    }

    def __init__(
        self,
        *,
        average: bool = True,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 5e-2,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 1,
        shuffle: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        eta0: float = 1.0,
        verbose: int = 0,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
    ) -> None:
        self.average, self.fit_intercept, self.max_iter = average, fit_intercept, max_iter
        self.tol, self.early_stopping = tol, early_stopping
        self.validation_fraction, self.n_iter_no_change = validation_fraction, n_iter_no_change
        self.shuffle, self.class_weight, self.warm_start = shuffle, class_weight, warm_start
        self.eta0, self.verbose, self.n_jobs = eta0, verbose, n_jobs
        self.penalty, self.alpha, self.l1_ratio = penalty, alpha, l1_ratio
        self.random_state, self.callbacks = random_state, callbacks

    def _rule(self, sparse: bool) -> Rule:
        return Rule(PERCEPTRON, float(self.eta0), float(self.fit_intercept), bool(self.average))


class PassiveAggressiveClassifier(OnlineClassifier):
    """Classify rows by weights that change as little as a margin of one needs.

    Parameters
    ----------
    C : float
        The longest step (of "hinge"), or how soft steps are ("squared_hinge"): the smaller,
        the less a single row can do.
    fit_intercept : bool
        Whether every class has an offset. It learns as the weight of a feature would that is 1
        in every row; of a sparse matrix 0.55, because its other features are in few rows and
        could not keep up.
    max_iter : int, most passes over the rows
    tol : float or None
        Stop after ``n_iter_no_change`` passes in which the mean hinge loss did not fall by
        this part of what it was in the first pass. None: only where a pass changes nothing. An
        average is good long before the last weights are; without one try 1e-3 and five passes.
    loss : {"hinge", "squared_hinge", "PA", "MIRA"}
        The rule: PA-I, PA-II (also by those names), without slack, without slack and against
        all classes at once. See ``tacit.linear.online_updates``.
    class_weight : dict, "balanced" or None
        What the steps for each class are multiplied by; "balanced" is the inverse of its
        frequency.
    average : bool
        Decide with the average of the weights over all visits but those of the first pass, if
        there are more; otherwise, as scikit-learn does, with the last.
    early_stopping, validation_fraction, n_iter_no_change, shuffle : as for ``Perceptron``
    verbose, n_jobs, random_state, warm_start, callbacks : as for ``Perceptron``

    Attributes
    ----------
    separated_ : bool, whether the last pass changed nothing: every margin was 1 or more
    losses_ : list of float, the mean hinge loss in each pass, of rows as they came
    t_ : int, visits that averages are taken over: all but those of the first pass, or, for
        class weights that lie far apart, of the first passes
    The others are those of ``Perceptron``.

    Examples
    --------
    >>> X = [[2.0, 0.0], [0.0, 1.0]]
    >>> model = PassiveAggressiveClassifier(
    ...     average=False, fit_intercept=False, shuffle=False, max_iter=1
    ... )
    >>> model.fit(X, ["a", "b"]).coef_  # tau is 1/4 for the first row, 1 for the second
    array([[-0.5,  1. ]])
    """

    _skips_first: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        **OnlineClassifier._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions(set(RULES))],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 5e-2,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 1,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "hinge",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool = True,
        callbacks: Any = None,
    ) -> None:
        self.C, self.fit_intercept, self.max_iter, self.tol = C, fit_intercept, max_iter, tol
        self.early_stopping, self.validation_fraction = early_stopping, validation_fraction
        self.n_iter_no_change, self.shuffle, self.verbose = n_iter_no_change, shuffle, verbose
        self.loss, self.n_jobs, self.random_state = loss, n_jobs, random_state
        self.warm_start, self.class_weight, self.average = warm_start, class_weight, average
        self.callbacks = callbacks

    def _rule(self, sparse: bool) -> Rule:
        offset = (CALM if sparse else 1.0) * self.fit_intercept
        return Rule(RULES[self.loss], float(self.C), offset, bool(self.average))


def error_rate(state: State, rule: Rule, held_out: tuple) -> float:
    """The fraction of held-out rows that the weights, or their average, get wrong."""
    weights, intercept = state.weights, state.intercept
    if rule.average:
        time = max(1, int(state.clock[0]))
        weights = weights - state.sums / time
        intercept = intercept - state.intercept_sums / time
    rows, codes = held_out
    return float(np.mean(top_classes(Scorer(weights, intercept), rows) != codes))


def set_weights(state: State, coef: Any, intercept: Any) -> None:
    """Start from weights laid out as ``coef_`` and ``intercept_``."""
    for name, value, target in (
        ("coef_init", coef, state.weights.T), ("intercept_init", intercept, state.intercept),
    ):  # fmt: skip
        if value is None:
            continue
        initial = np.asarray(value, np.float64)
        if initial.size != target.size:
            raise ValueError(
                f"{name} has shape {initial.shape}, but the classes and columns of the data "
                f"need {target.shape}."
            )
        target[:] = initial.reshape(target.shape)

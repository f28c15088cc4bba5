"""Linear support vector machines: the widest margin between classes.

    minimize   |w|^2 / 2  +  C sum_i a_i loss(margin of row i)

``svm_dual`` finds the optimum by coordinate descent on the dual problem, ``svm_newton`` by
Newton's method where there are few features, ``svm_primal`` comes near it by Pegasos; this file
gives them scikit-learn's manners. "newton" is summable. The others are sequential: rows are
visited one by one, in an order drawn from the seed, in one thread. As in LIBLINEAR, the
intercept is the weight of one more feature, the same for all rows, and is penalized.

The notes' section on large margins. Burges (1998), A tutorial on support vector machines for
pattern recognition. Data Mining and Knowledge Discovery 2.
"""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import get_engine, one_blas_thread
from tacit.core.progress import Step, notify
from tacit.core.randoms import key, permutation, seed_from
from tacit.data.table import Table
from tacit.kernels.sparse_rows import row_squares
from tacit.linear.error_driven import whole
from tacit.linear.labeled_rows import check_factors, check_labeled
from tacit.linear.linear_classifier import Csr, LinearClassifier, csr_arrays
from tacit.linear.logistic_online import stretches
from tacit.linear.logistic_saga import frequent_first, reordered
from tacit.linear.losses import spans
from tacit.linear.svm_many import ManyClass
from tacit.linear.svm_newton import newton
from tacit.linear.svm_primal import pegasos_rows, primal_height
from tacit.linear.svm_two import TwoClass

__all__ = ["LinearSVC"]

NARROW = 300  # features, up to which Newton's method is the quickest
NEAR = 2.0  # times the wanted gap: the sum of what rows were off when met, at which to measure
TINY = 1e-13  # violations that float64 cannot tell from none


class LinearSVC(LinearClassifier):
    """Classify rows by the widest margin between classes.

    Parameters
    ----------
    C : float
        What a row that is too near to the border, or beyond it, counts against the width.
    loss : {"squared_hinge", "hinge"}
        What such a row costs: its shortfall from a margin of 1, or the square of that.
    multi_class : {"ovr", "crammer_singer"}
        More than two classes: each against the rest, or all together with the margin to the
        best other class, which always takes the hinge loss.
    solver : {"auto", "dual", "newton", "pegasos"}
        "dual" and "newton" go to the optimum, which does not depend on them; "newton" is for
        the squared hinge loss and few features. "pegasos" comes near it, for the hinge loss.
        "auto" is "newton" where that is quick, else "dual".
    tol : float
        Stop when the objective is within this share of the optimum, by the duality gap.
    max_iter : int
        Most passes; "pegasos" makes as many, at most 20.
    fit_intercept : bool
    intercept_scaling : float
        Value of the feature that stands for the intercept; larger is less penalized.
    class_weight : dict, "balanced" or None
        Factors on the weights of the rows, by class. (In scikit-learn, with more than two
        classes, a factor counts only where its class is the one against the rest.)
    random_state : int, RandomState or None
        Order of the rows. The optimum does not depend on it.
    engine : {"serial", "threads", "dask"} or Engine
        Where rows are scored.
    callbacks : list or None
        Told about every pass; see ``tacit.core.progress``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    weights_ : array of shape (n_features, n_classes), or (n_features, 1) with two classes
    coef_ : the same as scikit-learn lays them out, (n_classes, n_features)
    intercept_ : array of shape (n_classes,), or (1,)
    objective_ : float, |w|^2 / 2 + C times the losses, the intercept's weight included
    gap_ : float, by how much ``objective_`` is above the optimum at the very most
    n_iter_ : int, passes
    converged_ : bool

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> model = LinearSVC(C=100.0, random_state=0).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.5], [3.5]])
    array(['low', 'high'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "solver": [StrOptions({"auto", "dual", "newton", "pegasos"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "engine": "no_validation",
        "callbacks": "no_validation",
    }

    def __init__(
        self,
        C=1.0,
        *,
        loss="squared_hinge",
        multi_class="ovr",
        solver="auto",
        tol=1e-4,
        max_iter=1000,
        fit_intercept=True,
        intercept_scaling=1.0,
        class_weight=None,
        random_state=None,
        engine="threads",
        callbacks=None,
    ):
        self.C = C
        self.loss = loss
        self.multi_class = multi_class
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.engine = engine
        self.callbacks = callbacks

    @property
    def contract(self) -> str:  # type: ignore[override]
        """Summable where the solver sees sums only."""
        return "summable" if self.solver == "newton" else "sequential"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "LinearSVC":
        """Learn from rows and their labels. X is an array, CSR, a Table or a Dask array."""
        self._validate_params()
        table, classes = check_labeled(self, X, y, sample_weight)
        self.solver_ = self._choose(table, classes)
        costs = self._costs(table, classes)
        self.classes_ = classes
        with self._fit_callbacks() as callbacks:
            if self.solver_ == "newton":
                self._newton(table.with_weights(costs), callbacks)
            else:
                self._step_by_rows(table, costs, callbacks)
        if self.solver_ != "pegasos" and not self.converged_ and self.n_iter_ == self.max_iter:
            warnings.warn(
                f"LinearSVC(max_iter={self.max_iter}) stopped "
                f"{self.gap_ / self.objective_:.2g} of the objective from the optimum, with "
                f"tol={self.tol:g} not met. Raise max_iter or tol, lower C, or scale X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    # --- Parts ---

    def _newton(self, table: Table, callbacks: list) -> None:
        columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        v, extra = table.shape[1], float(self.intercept_scaling) * bool(self.fit_intercept)
        heights: list[float] = []

        def heard(number: int, height: float, weights: np.ndarray) -> bool:
            heights.append(height)
            return notify(callbacks, Step("LinearSVC", number, self.max_iter, heights, weights))

        with one_blas_thread():
            weights, stats, self.n_iter_, self.converged_ = newton(
                table, get_engine(self.engine), width=v + bool(extra), columns=columns,
                extra=extra, tol=self.tol, max_iter=self.max_iter, heard=heard,
            )  # fmt: skip
        half = 0.5 * float(np.vdot(weights, weights))
        self.objective_ = half + float(stats.loss.sum())
        # The multipliers' own weights are minus the slope of the loss.
        below = float(stats.duals.sum()) - 0.5 * float(np.vdot(stats.slope, stats.slope))
        self.gap_ = max(0.0, self.objective_ - below + 0.25 * float(stats.squares.sum()))
        self.weights_ = np.ascontiguousarray(weights[:v])
        self.intercept_ = weights[v] * extra if extra else np.zeros(columns)

    def _step_by_rows(self, table: Table, costs: np.ndarray, callbacks: list) -> None:
        """Coordinate descent or Pegasos, on rows in memory."""
        classes, together = self.classes_, self.multi_class == "crammer_singer"
        rows, codes = whole(table)
        csr = csr_arrays(rows, "LinearSVC")
        seed, v = seed_from(self.random_state), table.shape[1]
        squared = self.loss == "squared_hinge" and not together
        if len(classes) == 2 and not together and self.solver_ == "dual":
            extra = float(self.intercept_scaling) * bool(self.fit_intercept)
            two = TwoClass(csr, codes, costs, finite_squares(csr), v, extra, squared=squared)
            self._descend(two, seed, callbacks)
            self.weights_, self.intercept_ = two.weights[:, None], two.bias * extra
            return
        if self.fit_intercept:
            csr = with_feature(csr, v, self.intercept_scaling)
        squares = finite_squares(csr)
        width = v + bool(self.fit_intercept)
        columns = len(classes) if together or len(classes) > 2 else 1
        order = frequent_first(csr, width)
        csr = reordered(csr, order)
        weights = np.zeros((width, columns))
        if self.solver_ == "dual":
            many = ManyClass(
                csr, codes, costs, squares, weights, squared=squared, together=together
            )
            self._descend(many, seed, callbacks)
        else:
            weights = self._pegasos(csr, codes, costs, weights, seed, callbacks)
            self.objective_ = self.gap_ = primal_height(
                csr, codes, costs, weights, squared=squared, together=together
            )  # the dual is 0 at worst
        both = np.empty_like(weights)
        both[order] = weights
        if together and len(classes) == 2:
            both = both[:, 1:] - both[:, :1]
        self.weights_ = np.ascontiguousarray(both[:v])
        self.intercept_ = np.zeros(both.shape[1])
        if self.fit_intercept:
            self.intercept_ = both[v] * self.intercept_scaling

    def _choose(self, table: Table, classes: np.ndarray) -> str:
        """The solver, if it can do what is asked."""
        if len(classes) < 2:
            raise ValueError(
                "LinearSVC needs at least 2 classes to tell apart, but the labels have only "
                f"one class, {classes.tolist()[0]!r}. Give rows of another."
            )
        square = self.loss == "squared_hinge" and self.multi_class == "ovr"
        if self.solver == "pegasos" and square:
            raise ValueError(
                "LinearSVC(solver='pegasos') minimizes the hinge loss, not squared_hinge. "
                "Set loss='hinge'."
            )
        if self.solver == "newton" and not square:
            raise ValueError(
                "LinearSVC(solver='newton') needs loss='squared_hinge' and multi_class='ovr', "
                f"not {self.loss!r} and {self.multi_class!r}. Use solver='dual'."
            )
        narrow = square and table.shape[1] < NARROW
        if self.solver == "newton" or (self.solver == "auto" and narrow):
            return "newton"
        if not table.in_memory:
            raise ValueError(
                f"LinearSVC(solver={self.solver!r}) needs the rows in memory. Use "
                "PassiveAggressiveClassifier, or LogisticRegression, for rows in files or on a "
                "cluster."
            )
        return "dual" if self.solver == "auto" else self.solver

    def _costs(self, table: Table, classes: np.ndarray) -> np.ndarray:
        """C times the weights of rows and classes."""
        codes = np.concatenate([block.labels.load() for block in table])
        held = [block.weights for block in table]
        weights = (
            np.ones(len(codes))
            if held[0] is None
            else np.concatenate([each.load() for each in held])
        )
        if self.class_weight is not None:
            balanced = {"sample_weight": weights} if self.class_weight == "balanced" else {}
            factors = compute_class_weight(
                self.class_weight, classes=classes, y=classes[codes], **balanced
            )
            weights = weights * check_factors(factors, classes)[codes]
        if not weights.sum() > 0:
            raise ValueError(
                "LinearSVC was given weights that are all zero. Give at least one row a "
                "positive weight."
            )
        return self.C * weights

    def _descend(self, state: TwoClass | ManyClass, seed: np.uint64, callbacks: list) -> None:
        """Passes over the multipliers until the gap is within ``tol`` of the objective."""
        csr = state.csr
        n = len(csr.indptr) - 1
        resting = np.zeros(n, np.bool_)
        gaps: list[float] = []
        self.converged_, edge, near, height = False, np.inf, NEAR, 0.0
        for number in range(self.max_iter):
            order = permutation(key(seed, number), n)
            worst = gap = 0.0
            for start, stop in stretches(csr, order):
                found = state.visit(order[start:stop], resting, edge)
                worst, gap = max(worst, found[0]), gap + found[1]
            self.n_iter_ = number + 1
            edge = worst if worst > 0 else np.inf
            limit = self.tol * (height or state.below())
            if gap <= near * limit or worst <= TINY:  # as the rows were met: and now?
                self.objective_, self.gap_ = state.judge(spans(csr.indptr))
                height = self.objective_
                gaps.append(self.gap_ / height)
                self.converged_ = gaps[-1] <= self.tol
                resting[:] = False
                near = 0.6 * gap / limit  # the gap itself goes up and down from pass to pass
                edge = np.inf
            done = self.converged_ or self.n_iter_ == self.max_iter
            step = Step(
                "LinearSVC", self.n_iter_, self.max_iter, gaps or [1.0], state.weights, done
            )
            if notify(callbacks, step) or self.converged_:
                break
        if not self.converged_:
            self.objective_, self.gap_ = state.judge(spans(csr.indptr))

    def _pegasos(self, csr, codes, costs, weights, seed, callbacks) -> np.ndarray:
        """Passes of Pegasos; the mean of the weights in the second half of them."""
        used = np.flatnonzero(costs > 0)
        passes, n = min(self.max_iter, 20), len(used)
        decay = 1 / costs[used].sum()  # lambda, for rows of mean weight 1
        shares = costs * (n / costs[used].sum())
        sums, clock = np.zeros_like(weights), np.array([1.0, 0.0])
        half = passes * n // 2
        self.converged_ = False
        for number in range(passes):
            order = used[permutation(key(seed, number), n)]
            for start, stop in stretches(csr, order):
                pegasos_rows(
                    *csr, codes, shares, order[start:stop], number * n + start, half, decay,
                    self.multi_class == "crammer_singer", weights, sums, clock,
                )  # fmt: skip
            self.n_iter_ = number + 1
            norms = [float(np.vdot(weights, weights)) * clock[0] ** 2]
            step = Step("LinearSVC", number + 1, passes, norms, weights, number + 1 == passes)
            if notify(callbacks, step):
                half = min(half, (number + 1) * n - 1)
                break
        taken = self.n_iter_ * n - half
        if clock[1] == 0 or taken < 1:
            return clock[0] * weights
        return (clock[1] * weights + sums) / taken


def finite_squares(csr: Csr) -> np.ndarray:
    """The squared length of every row."""
    squares = row_squares(csr.indptr, csr.data)
    if not np.isfinite(squares.sum()):
        raise ValueError(
            "LinearSVC: X holds values too large to be squared. Scale the columns down."
        )
    return squares


def with_feature(csr: Csr, width: int, value: float) -> Csr:
    """The rows with one more feature that is the same for all."""
    n = len(csr.indptr) - 1
    rows = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=(n, width))
    column = sp.csr_array(np.full((n, 1), float(value)))
    return csr_arrays(sp.hstack([rows, column], format="csr"), "LinearSVC")

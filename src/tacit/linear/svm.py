"""Linear support vector machines: the widest margin between classes.

    minimize   |w|^2 / 2  +  C sum_i a_i loss(margin of row i)

The solvers: ``dual``, coordinate ascent row by row in memory; "newton", which is summable, by
``core.minimize`` for the squared hinge loss and few features; "pegasos" in ``sgd``, which comes
near the optimum. As in LIBLINEAR, the intercept is the weight of one more feature, the same for
all rows, and is penalized. With penalty="l1" the sum of |w| takes the place of |w|^2 / 2, and
``coordinate_descent`` minimizes it, for the squared hinge loss.

Newton's method ends when the rows inside the margin no longer change: then the last step was
exact.

The notes' section on large margins. Burges (1998), A tutorial on support vector machines for
pattern recognition. Data Mining and Knowledge Discovery 2. Keerthi and DeCoste (2005), A
modified finite Newton method for fast solution of large scale linear SVMs. JMLR 6. Crammer and
Singer (2001), On the algorithmic implementation of multiclass kernel-based vector machines.
JMLR 2.
"""

import warnings
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import Serial
from tacit.core.estimator import engine_for, with_callbacks
from tacit.core.minimize import minimize
from tacit.core.randoms import seed_from
from tacit.core.sweep import sweep
from tacit.data.checked import check_results
from tacit.data.table import Batch, Table
from tacit.linear.coordinate_descent import solve_coordinates
from tacit.linear.dual import Measured, Solution, solve_dual
from tacit.linear.labeled_rows import check_labeled, check_two_classes, in_memory, row_weights
from tacit.linear.linear_classifier import LinearClassifier, csr_matrix
from tacit.linear.losses import HingeParams, collect_squared_hinge, hinge_losses, width_of
from tacit.linear.sgd import Sgd, SgdSettings, SgdState

__all__ = ["LinearSVC"]

NARROW = 300  # features, up to which Newton's method is the quickest


class LinearSVC(LinearClassifier):
    """Classify rows by the widest margin between classes.

    Parameters
    ----------
    C : float
        The weight of the loss against the penalty on large weights.
    penalty : {"l2", "l1"}
        "l1" makes many weights exactly zero, to select features; for the squared hinge loss,
        each class against the rest.
    loss : {"squared_hinge", "hinge"}
        The square of the shortfall from a margin of 1, or the shortfall itself.
    multi_class : {"ovr", "crammer_singer"}
        More than two classes: each against the rest, or all together with the margin to the
        best other class, which always takes the hinge loss.
    solver : {"auto", "dual", "newton", "pegasos"}
        "dual" and "newton" go to the optimum, which does not depend on them; "newton" is for
        the squared hinge loss and few features. "pegasos" comes near it, for the hinge loss.
        "auto" is "newton" where that is quick, else "dual".
    dual : "auto" or bool
        scikit-learn's way to choose: True is solver="dual", False solver="newton", unless
        ``solver`` is given. There is no primal solver for the hinge loss, which is refused.
    verbose : int, above 0, shows progress on standard error
    tol : float
        Stop when the duality gap, which bounds the distance from the optimum, is within
        ``tol`` of the objective.
    max_iter : int, most passes; "pegasos" makes as many, at most 20
    fit_intercept : bool
    intercept_scaling : float
        Value of the feature that stands for the intercept; larger is less penalized.
    class_weight : dict, "balanced" or None
        Factors on the weights of the rows, by class. (In scikit-learn, with more than two
        classes, a factor counts only where its class is the one against the rest.)
    random_state : int, RandomState or None
        Order of the rows. The optimum does not depend on it.
    engine, callbacks : as for ``KMeans``

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
        "penalty": [StrOptions({"l1", "l2"})],
        "dual": [StrOptions({"auto"}), "boolean"],
        "verbose": ["verbose"],
        "solver": [StrOptions({"auto", "dual", "newton", "pegasos"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        multi_class: str = "ovr",
        solver: str = "auto",
        dual: bool | str = "auto",
        verbose: int = 0,
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        random_state: Any = None,
        engine: Any = "threads",
        callbacks: Any = None,
    ) -> None:
        self.penalty, self.dual, self.verbose = penalty, dual, verbose
        self.C, self.loss, self.multi_class, self.solver = C, loss, multi_class, solver
        self.tol, self.max_iter, self.fit_intercept = tol, max_iter, fit_intercept
        self.intercept_scaling, self.class_weight = intercept_scaling, class_weight
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @property
    def contract(self) -> str:  # type: ignore[override]
        """Summable for the solver that only needs sums over rows."""
        return "summable" if self.solver == "newton" else "sequential"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "LinearSVC":
        """Learn from rows and their labels. X is an array, CSR, a Table or a Dask array."""
        self._validate_params()
        labeled = check_labeled(self, X, y, sample_weight)
        check_two_classes(self, labeled.classes)
        self.classes_ = labeled.classes
        self.solver_ = self._choose(labeled.table)
        table = labeled.table.with_weights(self.C * row_weights(self, labeled))
        self._extra = float(self.intercept_scaling) * bool(self.fit_intercept)
        solve = {"newton": self._newton, "dual": self._dual, "pegasos": self._pegasos,
                 "coordinate": self._coordinate}  # fmt: skip
        with self._fit_callbacks() as callbacks:
            solve[self.solver_](table, callbacks)
        del self._extra
        if self.solver_ != "pegasos" and not self.converged_ and self.n_iter_ == self.max_iter:
            warnings.warn(
                f"LinearSVC(max_iter={self.max_iter}) stopped "
                f"{self.gap_ / self.objective_:.2g} of the objective from the optimum, with "
                f"tol={self.tol:g} not met. Raise max_iter or tol, lower C, or scale X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @property
    def _crammer_singer(self) -> bool:
        return self.multi_class == "crammer_singer"

    def _choose(self, table: Table) -> str:
        """The solver; ValueError where it cannot minimize this loss."""
        square = self.loss == "squared_hinge" and not self._crammer_singer
        if self.penalty == "l1":
            if not square or self.dual is True or self.solver != "auto" or not table.in_memory:
                raise ValueError(
                    "LinearSVC(penalty='l1') needs loss='squared_hinge', multi_class='ovr', "
                    f"dual=False, solver='auto' and rows in memory, but has {self.loss!r}, "
                    f"{self.multi_class!r}, {self.dual}, {self.solver!r}. Change those, or use "
                    "LogisticRegression(l1_ratio=1)."
                )
            return "coordinate"
        if self.dual is False and not square and not self._crammer_singer:
            raise ValueError(
                f"LinearSVC(loss={self.loss!r}, dual=False) has no solver. Set dual=True, or "
                "loss='squared_hinge'."
            )
        solver = self.solver
        if solver == "auto":
            quick = table.shape[1] < NARROW if self.dual == "auto" else not self.dual
            solver = "newton" if square and quick else "dual"
        if solver == "pegasos" and square:
            raise ValueError(
                "LinearSVC(solver='pegasos') minimizes the hinge loss, not squared_hinge. "
                "Set loss='hinge'."
            )
        if solver == "newton" and not square:
            raise ValueError(
                "LinearSVC(solver='newton') needs loss='squared_hinge' and multi_class='ovr', "
                f"not {self.loss!r} and {self.multi_class!r}. Use solver='dual'."
            )
        if solver != "newton" and not table.in_memory:
            raise ValueError(
                f"LinearSVC(solver={solver!r}) needs the rows in memory. Use "
                "PassiveAggressiveClassifier, or LogisticRegression, for rows in files or on a "
                "cluster."
            )
        return solver

    def _coordinate(self, table: Table, callbacks: list) -> None:
        """The L1 penalty, on the weight of the intercept's feature too, as in LIBLINEAR."""
        rows, codes, costs = self._augmented(table)
        total = float(costs.sum())
        solution = solve_coordinates(
            rows, codes, costs, width_of(len(self.classes_)), loss="squared_hinge",
            l1=1 / total, l2=0.0, intercept=False, **self._settings(callbacks),
        )  # fmt: skip
        self._set_solution(solution, total)

    def _dual(self, table: Table, callbacks: list) -> None:
        rows, codes, costs = in_memory(table)
        k = len(self.classes_)
        solution = solve_dual(
            csr_matrix(rows, "LinearSVC"), codes, costs,
            k if self._crammer_singer else width_of(k),
            loss="crammer_singer" if self._crammer_singer else self.loss,
            intercept=self._extra, **self._settings(callbacks),
        )  # fmt: skip
        self._set_solution(solution, float(costs.sum()))

    def _newton(self, table: Table, callbacks: list) -> None:
        shape = (table.shape[1] + bool(self._extra), width_of(len(self.classes_)))
        extra, total = self._extra, sum(float(block.weights.load().sum()) for block in table)

        def to_params(point: np.ndarray) -> HingeParams:
            return HingeParams(point.reshape(shape), extra)

        solution = minimize(
            np.zeros(shape).ravel(), to_params, collect_squared_hinge, table, engine_for(self),
            collect_hessian=partial(collect_squared_hinge, with_hessian=True), scale=1 / total,
            l2=1 / total, tol=self.tol, max_iter=self.max_iter, callbacks=callbacks,
            name="LinearSVC",
        )  # fmt: skip
        stats, objective = solution.stats, solution.value * total
        # The weights of the dual variables are minus the gradient of the loss, and the sum of
        # their squares over 4 C is the loss.
        dual = stats.duals - 0.5 * float(np.vdot(stats.gradient, stats.gradient)) - stats.loss
        gap = max(0.0, objective - dual)
        converged = solution.converged and gap <= self.tol * objective
        self._set_solution(
            Solution(
                solution.params.weights, np.zeros(shape[1]), Measured(objective, gap),
                solution.iterations, converged,
            )
        )  # fmt: skip

    def _pegasos(self, table: Table, callbacks: list) -> None:
        """The mean of the weights after the passes of the second half."""
        rows, codes, costs = self._augmented(table)
        k, together, total = len(self.classes_), self._crammer_singer, float(costs.sum())
        loss = "crammer_singer" if together else "hinge"
        # Over the sum of the costs, so that the penalty is 1 / (C n).
        settings = SgdSettings(False, total, "optimal", 0.0, 1 / total, 0.0, False, loss)
        labeled = Table.from_array(rows).with_labels(codes)
        labeled = labeled.with_weights(costs * (len(costs) / total))
        sgd = Sgd(labeled, settings, seed_from(self.random_state), "LinearSVC")
        columns = k if together else width_of(k)
        # SGD has no use for squares: they hold the sum of the weights, also in a checkpoint.
        state = SgdState.zeros(rows.shape[1], columns, adaptive=True)
        passes = min(self.max_iter, 20)

        def add_late(state: SgdState, losses: list[float]) -> bool:
            if len(losses) > passes // 2:
                state.squares[:] += state.weights
            return False

        swept = sweep(
            sgd, state, Serial(), max_iter=passes, stop=add_late, callbacks=callbacks,
            name="LinearSVC",
        )  # fmt: skip
        late = len(swept.losses) - passes // 2
        weights = swept.state.squares / late if late > 0 else swept.state.weights
        losses = hinge_losses(rows @ weights, codes, squared=False, crammer_singer=together)
        objective = 0.5 * float(np.vdot(weights, weights)) + float(costs @ losses)
        measured = Measured(objective, gap=objective)  # the dual objective is at least 0
        solution = Solution(weights, np.zeros(columns), measured, len(swept.losses), False)
        self._set_solution(solution)

    def _settings(self, callbacks: list) -> dict[str, Any]:
        return {
            "tol": self.tol, "max_iter": self.max_iter, "seed": seed_from(self.random_state),
            "callbacks": callbacks, "name": "LinearSVC",
        }  # fmt: skip

    def _augmented(self, table: Table) -> Batch:
        """The rows with the feature that stands for the intercept, their codes and costs."""
        rows, codes, costs = in_memory(table)
        matrix = csr_matrix(rows, "LinearSVC")
        if self._extra:
            column = sp.csr_array(np.full((len(codes), 1), self._extra))
            matrix = csr_matrix(sp.hstack([matrix, column], format="csr"), "LinearSVC")
        return Batch(matrix, codes, costs)

    def _set_solution(self, solution: Solution, scale: float = 1.0) -> None:
        """Set the weights: of augmented rows the last is the intercept's, and two classes keep
        one column, the second against the first."""
        weights, intercept, v = solution.weights, solution.intercept, self.n_features_in_
        if len(weights) > v:
            weights, intercept = weights[:v], weights[v] * self._extra
        if len(self.classes_) == 2 and weights.shape[1] == 2:
            weights, intercept = weights[:, 1:] - weights[:, :1], intercept[1:] - intercept[:1]
        self.weights_, self.intercept_ = np.ascontiguousarray(weights), intercept
        self.objective_ = solution.measured.objective * scale
        self.gap_ = solution.measured.gap * scale
        self.n_iter_, self.converged_ = solution.passes, solution.converged
        check_results(self)

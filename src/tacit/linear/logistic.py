"""Logistic regression, also called maximum entropy: probabilities of classes.

    minimize   C sum_i a_i (- log p(y_i | x_i))  +  (1 - r)/2 |w|^2  +  r |w|_1

``losses`` has the loss, its gradient and its Hessian as sums over rows. The solvers:

    newton, lbfgs   ``core.minimize``, sums over all rows; summable
    dual            ``dual``, row by row in memory; sequential
    coordinate      ``coordinate_descent``, column by column in memory, L1 too; sequential
    sgd, adagrad    ``sgd``, row by row, block by block from a file; sequential

At the optimum the expected count of every feature in every class equals the observed one, up to
the penalty: w / C.

The notes' section on logistic regression. Berger, Della Pietra and Della Pietra (1996), A
maximum entropy approach to natural language processing. Computational Linguistics 22.
"""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from tacit.core.engines import Serial
from tacit.core.estimator import N_JOBS, engine_for, with_callbacks
from tacit.core.minimize import minimize
from tacit.core.randoms import seed_from
from tacit.core.sweep import no_gain_for, run_pass, sweep
from tacit.data.checked import check_results
from tacit.data.table import Table
from tacit.kernels.sparse_rows import row_squares
from tacit.linear.coordinate_descent import solve_coordinates
from tacit.linear.dual import solve_dual
from tacit.linear.labeled_rows import (
    Labeled,
    check_labeled,
    check_partial,
    check_two_classes,
    in_memory,
    row_weights,
)
from tacit.linear.linear_classifier import LinearClassifier, csr_matrix, scores
from tacit.linear.losses import (
    LogisticParams,
    collect,
    collect_hessian,
    probabilities,
    width_of,
)
from tacit.linear.sgd import Sgd, SgdSettings, SgdState

__all__ = ["LogisticRegression"]

NARROW = 400  # numbers to find, up to which Newton's method is the quickest
PATIENCE = 60  # passes by rows, after which "auto" goes on with L-BFGS
UNEVEN = 30.0  # largest squared length of a row over the mean, from where on that is slow
SUMMABLE = ("lbfgs", "newton")
# scikit-learn's names. The optimum does not depend on the solver.
OTHER_NAMES = {"saga": "coordinate", "sag": "lbfgs", "liblinear": "auto", "newton-cg": "auto",
               "newton-cholesky": "auto"}  # fmt: skip
PENALTIES = {"l1": 1.0, "l2": 0.0}  # and their l1_ratio


def steps_by_rows(self: Any) -> bool:
    if self.solver in ("sgd", "adagrad"):
        return True
    raise AttributeError(
        f"LogisticRegression(solver={self.solver!r}) cannot learn from a part of the data. "
        "partial_fit needs solver='sgd' or 'adagrad'."
    )


class Objective(NamedTuple):
    """mean loss + l2/2 |w|^2 + l1 |w|_1 of a table with labels and weights."""

    table: Table
    total: float  # weight of all rows
    l2: float
    l1: float


class LogisticRegression(LinearClassifier):
    """Classify rows, with probabilities, by weights that make the labels most likely.

    Parameters
    ----------
    C : float
        The weight of the loss against the penalty on large weights. ``np.inf``: no penalty.
    l1_ratio : float
        Fraction of the penalty that is L1, which makes many weights exactly zero: 0 is ridge,
        1 lasso, between them elastic net. Above 0 the solver is "coordinate", "sgd" or
        "adagrad".
    solver : {"auto", "dual", "coordinate", "lbfgs", "newton", "sgd", "adagrad"}
        All but the last two go to the optimum, which does not depend on the solver. "auto" is
        "newton" for few features, "coordinate" with an L1 penalty, "dual" for sparse rows in
        memory of similar length such as TF-IDF, "lbfgs" for others and where "dual" has not
        converged in 60 passes. "sgd" and "adagrad" come near the optimum in a few passes, take
        rows larger than memory, and have ``partial_fit``. scikit-learn's names are accepted:
        "saga" is "coordinate", "sag" is "lbfgs", and "liblinear", "newton-cg" and
        "newton-cholesky" are "auto".
    tol : float
        "dual", "coordinate", "lbfgs", "newton": stop when no partial derivative of the
        objective (divided by C and the weight of all rows) exceeds this; "dual" and
        "coordinate" also want the duality gap, which bounds the distance from the minimum, to
        be within ``tol`` of the objective. The intercept's part of the gap is estimated. "sgd",
        "adagrad": stop when ``n_iter_no_change`` passes in a row did not lower the loss by this
        much.
    max_iter : int, most passes or iterations
    fit_intercept : bool, whether scores have an intercept, which is not penalized
    class_weight : dict, "balanced" or None; factors on the weights of the rows, by class
    penalty : {"l1", "l2", "elasticnet", None} or "deprecated"
        scikit-learn's older name for ``l1_ratio=1``, ``l1_ratio=0``, any ``l1_ratio``, and
        ``C=np.inf``. "deprecated" leaves it to those two.
    dual : bool; True is solver="dual"
    warm_start : bool, whether "lbfgs" and "newton" start from the weights of the fit before
    verbose : int, above 0, shows progress on standard error
    intercept_scaling, n_jobs
        No effect: the intercept is not penalized, and the engine decides on threads.
    learning_rate : {"optimal", "constant", "invscaling"}
        The rate of step t of "sgd": eta0 / (1 + eta0 t / (C n)), eta0, or eta0 / t^power_t.
    eta0 : float or None
        First rate of "sgd"; by default what the longest row allows. For "adagrad" the rate
        over the root of summed squares, 1 by default.
    power_t : float, see ``learning_rate``
    n_iter_no_change : int, see ``tol``
    random_state : int, RandomState or None
        Order of the rows or columns, for the sequential solvers.
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    weights_ : array of shape (n_features, n_classes), or (n_features, 1) with two classes
    coef_ : the same as scikit-learn lays them out, (n_classes, n_features)
    intercept_ : array of shape (n_classes,), or (1,)
    objective_ : float, the objective over C and the weight of all rows, where the fit ended
    slope_ : float, the largest absolute partial derivative there; at most ``tol`` if
        ``converged_``
    solver_ : str, the solver that was used
    n_iter_ : array of shape (1,), iterations or passes, as in scikit-learn
    converged_ : bool, whether ``tol`` was met

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = LogisticRegression().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.2], [2.8]])
    array(['low', 'high'], dtype='<U4')
    >>> model.predict_proba([[1.5]])
    array([[0.5, 0.5]])
    """

    n_iter_: Any
    converged_: bool

    _saved_private: ClassVar[tuple] = ("_squares", "_offset_squares")
    _file_schema: ClassVar[dict] = {
        **LinearClassifier._file_schema,
        "_squares": (None, "columns"),
        "_offset_squares": ("columns",),
    }
    _file_optional = ("_squares", "_offset_squares")
    _file_types: ClassVar[dict] = {"n_iter_": (np.ndarray, int)}  # a number in older files
    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "solver": [
            StrOptions(
                {"auto", "dual", "coordinate", "lbfgs", "newton", "sgd", "adagrad"}
                | OTHER_NAMES.keys()
            )
        ],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "learning_rate": [StrOptions({"optimal", "constant", "invscaling"})],
        "eta0": [Interval(Real, 0, None, closed="neither"), None],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "deprecated"}), None],
        "dual": ["boolean"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "intercept_scaling": [Interval(Real, None, None, closed="neither")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
    }
    _no_effect: ClassVar[dict] = {
        "intercept_scaling": "the intercept is not penalized",
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        l1_ratio: float = 0.0,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        class_weight: Any = None,
        learning_rate: str = "optimal",
        eta0: float | None = None,
        power_t: float = 0.5,
        n_iter_no_change: int = 3,
        penalty: str | None = "deprecated",
        dual: bool = False,
        warm_start: bool = False,
        verbose: int = 0,
        intercept_scaling: float = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
        engine: Any = "threads",
        callbacks: Any = None,
    ) -> None:
        self.C, self.l1_ratio, self.solver, self.tol = C, l1_ratio, solver, tol
        self.max_iter, self.fit_intercept = max_iter, fit_intercept
        self.class_weight, self.learning_rate, self.eta0 = class_weight, learning_rate, eta0
        self.power_t, self.n_iter_no_change = power_t, n_iter_no_change
        self.penalty, self.dual, self.warm_start, self.verbose = (
            penalty, dual, warm_start, verbose,
        )  # fmt: skip
        self.intercept_scaling, self.n_jobs = intercept_scaling, n_jobs
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @property
    def contract(self) -> str:  # type: ignore[override]
        """Summable for the solvers that only need sums over rows."""
        return "summable" if self.solver in SUMMABLE else "sequential"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "LogisticRegression":
        """Learn from rows and their labels. X is an array, CSR, a Table or a Dask array."""
        self._validate_params()
        before = getattr(self, "classes_", None)
        labeled = check_labeled(self, X, y, sample_weight)
        self.classes_ = labeled.classes
        objective = self._objective(labeled)
        self.solver_ = self._choose(objective)
        for name in ("_squares", "_offset_squares", "steps_", "rows_", "eta0_"):
            self.__dict__.pop(name, None)
        with self._fit_callbacks() as callbacks:
            if self.solver_ in ("sgd", "adagrad"):
                self._fit_sgd(objective, callbacks)
                self.n_iter_ = np.array([self.n_iter_], np.int32)
                return self
            if self.solver_ in SUMMABLE:
                self._minimize(objective, self._first_weights(before), callbacks, self.max_iter)
            else:
                self._fit_in_memory(objective, callbacks)
        if labeled.table.dtype == np.float32:
            self.weights_ = self.weights_.astype(np.float32)
            self.intercept_ = self.intercept_.astype(np.float32)
        check_results(self)
        if not self.converged_ and self.n_iter_ >= self.max_iter:
            reached = f"a partial derivative of {self.slope_:.2g}, above tol={self.tol:g}"
            if self.slope_ <= self.tol:
                reached = f"an objective not within tol={self.tol:g} of its minimum"
            warnings.warn(
                f"LogisticRegression(max_iter={self.max_iter}) stopped with {reached}. Raise "
                "max_iter or tol, lower C, or scale the columns of X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.n_iter_ = np.array([self.n_iter_], np.int32)
        return self

    @available_if(steps_by_rows)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "LogisticRegression":
        """Go on learning from more rows, one pass. The first call names all classes.

        The penalty counts as if the rows seen so far were all.
        """
        self._validate_params()
        first, labeled = check_partial(self, X, y, classes, sample_weight)
        if not first and not hasattr(self, "steps_"):
            raise ValueError(
                f"This model was fitted with solver={self.solver_!r}, and partial_fit goes on "
                "with 'sgd' or 'adagrad'. Begin with partial_fit, or fit with such a solver."
            )
        self.classes_, self.solver_ = labeled.classes, self.solver
        objective = self._objective(labeled, seen=0.0 if first else self.rows_)
        state = self._sgd_state(first)
        sgd = self._sgd(objective)
        done = 0 if first else int(self.n_iter_[0])
        passed = run_pass(sgd, state, Serial(), done)
        self._store(state, passed.loss / passed.items, objective.total)
        self.n_iter_ = np.array([done + 1], np.int32)
        self.converged_ = False
        return self

    def _after_load(self) -> None:
        super()._after_load()
        self.n_iter_ = np.array(self.n_iter_, np.int32).reshape(1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, n_classes) probabilities, columns in the order of ``classes_``."""
        return np.concatenate([probabilities(block) for block in self._map_blocks(scores, X)])

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _objective(self, labeled: Labeled, seen: float = 0.0) -> Objective:
        """The objective of a fit; ``seen`` is the weight of the rows of earlier calls."""
        check_two_classes(self, labeled.classes)
        weights = row_weights(self, labeled)
        total = float(weights.sum()) + seen
        free = np.isinf(self.C) or self.penalty is None
        penalty = 0.0 if free else 1 / (self.C * total)
        table = labeled.table.with_weights(weights)
        ratio = PENALTIES.get(str(self.penalty), self.l1_ratio)
        return Objective(table, total, (1 - ratio) * penalty, ratio * penalty)

    def _first_weights(self, classes: np.ndarray | None) -> np.ndarray:
        """(v + 1, k) weights to start from: zeros, or those of a fit to the same classes."""
        shape = (self.n_features_in_ + 1, width_of(len(self.classes_)))
        if not self.warm_start or classes is None or not hasattr(self, "weights_"):
            return np.zeros(shape)
        start = np.vstack([self.weights_, self.intercept_], dtype=np.float64)
        same = np.array_equal(classes, self.classes_) and start.shape == shape
        return start if same else np.zeros(shape)

    def _choose(self, objective: Objective) -> str:
        """The solver; ValueError where it cannot minimize this objective."""
        table, l1 = objective.table, objective.l1 > 0
        solver = OTHER_NAMES.get(self.solver, self.solver)
        if self.dual and not l1:
            solver = "dual"
        if l1 and solver in (*SUMMABLE, "dual"):
            raise ValueError(
                f"LogisticRegression(solver={self.solver!r}) has no L1 penalty, but "
                f"l1_ratio={self.l1_ratio} asks for one. Use solver='coordinate', or 'saga', "
                "which means the same."
            )
        if solver in ("dual", "coordinate") and not table.in_memory:
            raise ValueError(
                f"LogisticRegression(solver={self.solver!r}) needs the rows in memory. Use "
                "solver='lbfgs' or 'adagrad' for rows in files or on a cluster."
            )
        if solver == "dual" and objective.l2 == 0:
            raise ValueError(
                "LogisticRegression(solver='dual', C=inf) has no penalty, which the dual "
                "problem needs. Give a finite C, or use solver='lbfgs'."
            )
        if solver != "auto":
            return solver
        if l1:
            return "coordinate" if table.in_memory else "adagrad"
        if (table.shape[1] + 1) * width_of(len(self.classes_)) <= NARROW:
            return "newton"
        if not table.in_memory or objective.l2 == 0:
            return "lbfgs"
        rows = in_memory(table).rows
        if not sp.issparse(rows):
            return "lbfgs"
        squares = row_squares(rows.indptr, rows.data)
        return "lbfgs" if squares.max() > UNEVEN * squares.mean() else "dual"

    def _minimize(
        self, objective: Objective, start: np.ndarray, callbacks: list, max_iter: int
    ) -> None:
        """L-BFGS or Newton's method from (v + 1, k) weights, the last row the intercept."""
        shape = start.shape
        l2, free, level = np.full(shape, objective.l2), np.ones(shape, bool), np.zeros(shape)
        l2[-1], free[-1], level[-1] = 0.0, bool(self.fit_intercept), 1.0
        # With one column for each class, equal shifts of all intercepts change nothing.
        flat = level.ravel() if shape[1] > 1 and self.fit_intercept else None

        def to_params(point: np.ndarray) -> LogisticParams:
            both = point.reshape(shape)
            return LogisticParams(np.ascontiguousarray(both[:-1]), both[-1].copy())

        minimum = minimize(
            start.ravel(), to_params, collect, objective.table, engine_for(self),
            collect_hessian=collect_hessian if self.solver_ == "newton" else None,
            scale=1 / objective.total, l2=l2.ravel(), free=free.ravel(), flat=flat,
            tol=self.tol, max_iter=max_iter, callbacks=callbacks, name="LogisticRegression",
        )  # fmt: skip
        self.weights_, self.intercept_ = minimum.params.weights, minimum.params.intercept
        self.objective_, self.slope_ = minimum.value, minimum.gradient
        self.n_iter_, self.converged_ = minimum.iterations, minimum.converged

    def _fit_in_memory(self, objective: Objective, callbacks: list) -> None:
        """ "dual" or "coordinate"; "auto" goes on with L-BFGS where the dual is slow."""
        auto = OTHER_NAMES.get(self.solver, self.solver) == "auto" and not self.dual
        may_switch = auto and self.solver_ == "dual"
        rows, codes, weights = in_memory(objective.table)
        settings: dict[str, Any] = {
            "loss": "logistic", "intercept": bool(self.fit_intercept), "tol": self.tol,
            "max_iter": min(self.max_iter, PATIENCE) if may_switch else self.max_iter,
            "seed": seed_from(self.random_state), "callbacks": callbacks,
            "name": "LogisticRegression",
        }  # fmt: skip
        rows, columns = csr_matrix(rows, "LogisticRegression"), width_of(len(self.classes_))
        if self.solver_ == "dual":
            solution = solve_dual(rows, codes, self.C * weights, columns, **settings)
        else:
            solution = solve_coordinates(
                rows, codes, weights, columns, l1=objective.l1, l2=objective.l2, **settings
            )
        self.weights_, self.intercept_ = solution.weights, solution.intercept
        self.objective_, self.slope_ = solution.measured.objective, solution.measured.gradient
        self.n_iter_ = solution.passes
        # L-BFGS would end where no partial derivative exceeds tol.
        self.converged_ = solution.converged or (may_switch and self.slope_ <= self.tol)
        remaining = self.max_iter - solution.passes
        if not self.converged_ and may_switch and solution.passes == PATIENCE and remaining:
            self.solver_ = "lbfgs"  # better where columns are alike or the penalty is tiny
            start = np.vstack([solution.weights, solution.intercept])
            self._minimize(objective, start, callbacks, remaining)
            self.n_iter_ += solution.passes

    # --- Row by row ---

    def _fit_sgd(self, objective: Objective, callbacks: list) -> None:
        """Passes of "sgd" or "adagrad" until the loss stalls."""
        state = self._sgd_state(True)
        sgd = self._sgd(objective)
        swept = sweep(
            sgd, state, Serial(), max_iter=self.max_iter, callbacks=callbacks,
            stop=lambda _, losses: no_gain_for(
                losses, self.n_iter_no_change, self.tol / losses[0] if losses[0] else 0.0
            ),
            name="LogisticRegression",
        )  # fmt: skip
        self._store(state, swept.losses[-1], objective.total)
        self.n_iter_, self.converged_ = len(swept.losses), swept.converged
        params = LogisticParams(self.weights_, self.intercept_)
        stats = engine_for(self).reduce(collect, params, objective.table)
        w, gradient = self.weights_, stats.gradient / objective.total
        self.objective_ = (
            stats.loss / objective.total + 0.5 * objective.l2 * float(np.vdot(w, w))
            + objective.l1 * float(np.abs(w).sum())
        )  # fmt: skip
        smooth = gradient[:-1] + objective.l2 * w
        at_zero = np.maximum(np.abs(smooth) - objective.l1, 0.0)
        partial = np.where(w != 0, np.abs(smooth + objective.l1 * np.sign(w)), at_zero)
        self.slope_ = float(partial.max(initial=0.0))
        if self.fit_intercept:
            self.slope_ = max(self.slope_, float(np.abs(gradient[-1]).max()))

    def _sgd(self, objective: Objective) -> Sgd:
        settings = SgdSettings(
            self.solver == "adagrad", self.eta0, self.learning_rate, float(self.power_t),
            objective.l2, objective.l1, bool(self.fit_intercept),
        )  # fmt: skip
        return Sgd(
            objective.table, settings, seed_from(self.random_state), "LogisticRegression"
        )

    def _sgd_state(self, first: bool) -> SgdState:
        adaptive = self.solver == "adagrad"
        if first:
            columns = width_of(len(self.classes_))
            return SgdState.zeros(self.n_features_in_, columns, adaptive=adaptive)
        if adaptive and len(self._squares) != len(self.weights_):
            raise ValueError(
                "solver='adagrad' cannot continue a fit by 'sgd', which has no sums of "
                "squares. Fit again."
            )
        return SgdState(
            self.weights_.copy(), self.intercept_.copy(), self._squares.copy(),
            self._offset_squares.copy(),
            np.array([float(self.steps_), getattr(self, "eta0_", 0.0)]),
        )  # fmt: skip

    def _store(self, state: SgdState, loss: float, seen: float) -> None:
        self.weights_, self.intercept_ = state.weights, state.intercept
        self._squares, self._offset_squares = state.squares, state.offset_squares
        self.steps_, self.eta0_ = int(state.clock[0]), float(state.clock[1])
        self.loss_, self.rows_ = float(loss), float(seen)

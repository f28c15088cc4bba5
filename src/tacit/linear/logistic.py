"""Logistic regression, also called maximum entropy: probabilities of classes.

    minimize   C sum_i a_i (- log p(y_i | x_i))  +  (1 - r)/2 |w|^2  +  r |w|_1

``losses`` holds loss and slope as sums over rows, the files ``logistic_*`` the ways to
the optimum; this file gives them scikit-learn's manners. At the optimum the expected count of
every feature in every class equals the observed one, up to the penalty: w / C.

The contract depends on the solver: "lbfgs" and "newton" are summable, the others sequential.

The notes' section on logistic regression. Berger, Della Pietra and Della Pietra (1996), A
maximum entropy approach to natural language processing. Computational Linguistics 22.
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
from sklearn.utils.metaestimators import available_if

from tacit.core.engines import get_engine
from tacit.core.progress import Step, notify
from tacit.core.randoms import seed_from
from tacit.data.table import Table
from tacit.kernels.sparse_rows import row_squares
from tacit.linear.error_driven import whole
from tacit.linear.labeled_rows import Labeled, check_factors, check_labeled, check_more
from tacit.linear.linear_classifier import check_finite, csr_arrays
from tacit.linear.logistic_saga import Problem
from tacit.linear.logistic_solve import (
    Objective,
    Solution,
    solve_dual,
    solve_lbfgs,
    solve_newton,
    solve_saga,
)
from tacit.linear.logistic_stream import RowByRow, Whole, parts_of
from tacit.linear.losses import LogisticParams, probabilities, width_of

__all__ = ["LogisticRegression"]

NARROW = 400  # numbers to find, up to which Newton's method is the quickest
PATIENCE = 60  # passes by rows, after which "auto" goes on with L-BFGS
UNEVEN = 30.0  # longest row over mean length, squared, from where on that is slow


def steps_by_rows(self: Any) -> bool:
    if self.solver in ("sgd", "adagrad"):
        return True
    raise AttributeError(
        f"LogisticRegression(solver={self.solver!r}) cannot learn from a part of the data. "
        "partial_fit needs solver='sgd' or 'adagrad'."
    )


class LogisticRegression(RowByRow):
    """Classify rows, with probabilities, by weights that make the labels most likely.

    Parameters
    ----------
    C : float
        What a row counts against the penalty on large weights. ``np.inf``: no penalty.
    l1_ratio : float
        Share of the penalty that is L1, which makes many weights exactly zero: 0 is ridge,
        1 lasso, between them elastic net. Above 0 the solver is "saga", "sgd" or "adagrad".
    solver : {"auto", "dual", "saga", "lbfgs", "newton", "sgd", "adagrad"}
        The way to the optimum, which does not depend on it. "auto" is "newton" for few
        features, "dual" (or with L1 "saga") for rows in memory of similar length such as
        TF-IDF, "lbfgs" for others and where those have not come to an end in 60 passes.
        "sgd" and "adagrad" come near it in a few passes, take rows larger than memory, and
        have ``partial_fit``.
    tol : float
        "dual", "saga", "lbfgs", "newton": stop when no slope of the objective (divided by C
        and the weight of all rows) is steeper; "dual" also wants the objective to be within
        ``tol``, relative, of its minimum, as far as the weights go: what the intercept could
        still gain is not in that. "sgd", "adagrad": stop when ``n_iter_no_change`` passes in
        a row did not lower the loss by this much.
    max_iter : int
        Most passes or iterations.
    fit_intercept : bool
        Whether scores have an offset, which is not penalized.
    class_weight : dict, "balanced" or None
        Factors on the weights of the rows, by class.
    learning_rate : {"optimal", "constant", "invscaling"}
        The rate of step t of "sgd": eta0 / (1 + eta0 t / (C n)), eta0, or eta0 / t^power_t.
    eta0 : float or None
        First rate of "sgd"; by default what the longest row allows. For "adagrad" the rate
        over the root of summed squares, 1 by default.
    power_t : float
        See ``learning_rate``.
    n_iter_no_change : int
        See ``tol``.
    random_state : int, RandomState or None
        Order of the rows, for the solvers that step by rows.
    engine : {"serial", "threads", "dask"} or Engine
        Where passes over all rows run.
    callbacks : list or None
        Told about every pass; see ``tacit.core.progress``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    weights_ : array of shape (n_features, n_classes), or (n_features, 1) with two classes
    coef_ : the same as scikit-learn lays them out, (n_classes, n_features)
    intercept_ : array of shape (n_classes,), or (1,)
    objective_ : float, the objective over C and the weight of all rows, where the fit ended
    slope_ : float, the steepest slope there; at most ``tol`` if ``converged_``
    solver_ : str, the solver that was used
    n_iter_ : int
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

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "solver": [StrOptions({"auto", "dual", "saga", "lbfgs", "newton", "sgd", "adagrad"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "learning_rate": [StrOptions({"optimal", "constant", "invscaling"})],
        "eta0": [Interval(Real, 0, None, closed="neither"), None],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "engine": "no_validation",
        "callbacks": "no_validation",
    }
    def __init__(
        self,
        C=1.0,
        *,
        l1_ratio=0.0,
        solver="auto",
        tol=1e-4,
        max_iter=1000,
        fit_intercept=True,
        class_weight=None,
        learning_rate="optimal",
        eta0=None,
        power_t=0.5,
        n_iter_no_change=3,
        random_state=None,
        engine="threads",
        callbacks=None,
    ):
        self.C = C
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.engine = engine
        self.callbacks = callbacks

    @property
    def contract(self) -> str:  # type: ignore[override]
        """Summable where the solver sees sums only."""
        return "summable" if self.solver in ("lbfgs", "newton") else "sequential"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "LogisticRegression":
        """Learn from rows and their labels. X is an array, CSR, a Table or a Dask array."""
        self._validate_params()
        labeled = check_labeled(self, X, y, sample_weight)
        table, total = self._weighted(labeled)
        self.classes_ = labeled.classes
        penalty = 0.0 if np.isinf(self.C) else 1 / (self.C * total)
        l2, l1 = (1 - self.l1_ratio) * penalty, self.l1_ratio * penalty
        objective = Objective(
            table, get_engine(self.engine), total, l2, l1, bool(self.fit_intercept)
        )
        self.solver_ = self._choose(table)
        for name in ("_squares", "_offset_squares", "steps_", "rows_", "eta0_"):
            if hasattr(self, name):
                delattr(self, name)
        with self._fit_callbacks() as callbacks:
            if self.solver_ in ("sgd", "adagrad"):
                self._descend(objective, callbacks)
                return self
            solution = self._solve(objective, callbacks)
        self.weights_ = np.ascontiguousarray(solution.params.weights)
        self.intercept_ = solution.params.intercept
        self.objective_, self.slope_ = solution.height, solution.slope
        self.n_iter_ = solution.steps
        flat = solution.slope <= self.tol
        self.converged_ = bool(flat and solution.near)
        if not self.converged_ and self.n_iter_ >= self.max_iter:
            reached = f"a slope of {self.slope_:.2g}, above tol={self.tol:g}"
            if flat:
                reached = f"an objective not within tol={self.tol:g} of its minimum"
            warnings.warn(
                f"LogisticRegression(max_iter={self.max_iter}) stopped with {reached}. Raise "
                "max_iter or tol, lower C, or scale the columns of X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @available_if(steps_by_rows)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "LogisticRegression":
        """Go on learning from more rows, one pass. The first call names all classes.

        The penalty counts as if the rows seen so far were all.
        """
        self._validate_params()
        first, labeled = check_more(self, X, y, classes, sample_weight)
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' is not supported for partial_fit, which has not seen "
                "all rows. Give a dict of weights."
            )
        if not first and not hasattr(self, "steps_"):
            raise ValueError(
                f"This model was fitted with solver={self.solver_!r}, and partial_fit goes on "
                "with 'sgd' or 'adagrad'. Begin with partial_fit, or fit with such a solver."
            )
        table, total = self._weighted(labeled)
        self.classes_, self.solver_ = labeled.classes, self.solver
        seen = total + (0.0 if first else self.rows_)
        penalty = 0.0 if np.isinf(self.C) else 1 / (self.C * seen)
        memory = self._memory(first)
        seed = seed_from(self.random_state)
        loss = self._pass(memory, table, penalty, seed, 0 if first else self.n_iter_)
        self._keep(memory, loss / total, seen, 1 if first else self.n_iter_ + 1)
        self.converged_ = False
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, n_classes) probabilities, columns in the order of ``classes_``."""
        return np.concatenate([probabilities(found) for found in self._score_blocks(X)])

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    # --- Parts ---

    def _weighted(self, labeled: Labeled) -> tuple[Table, float]:
        """The table with the weights of rows and classes together, and their sum."""
        table, classes = labeled
        if len(classes) < 2:
            raise ValueError(
                "LogisticRegression needs at least 2 classes to tell apart, but the labels "
                f"have only one class, {classes.tolist()[0]!r}. Give rows of another."
            )
        held = [parts_of(block) for block in table]
        weights = np.concatenate([each for _, each in held])
        if self.class_weight is not None:
            codes = np.concatenate([each for each, _ in held])
            balanced = {"sample_weight": weights} if self.class_weight == "balanced" else {}
            factors = compute_class_weight(
                self.class_weight, classes=classes, y=classes[codes], **balanced
            )
            weights = weights * check_factors(factors, classes)[codes]
            table = table.with_weights(weights)
        total = float(weights.sum())
        if not total > 0:
            raise ValueError(
                "LogisticRegression was given weights that are all zero. Give at least one row "
                "a positive weight."
            )
        return table, total

    def _choose(self, table: Table) -> str:
        columns = width_of(len(self.classes_))
        ridge_only = self.solver in ("lbfgs", "newton", "dual")
        if self.l1_ratio > 0 and ridge_only and not np.isinf(self.C):
            raise ValueError(
                f"LogisticRegression(solver={self.solver!r}) has no L1 penalty, but "
                f"l1_ratio={self.l1_ratio} asks for one. Use solver='saga'."
            )
        if self.solver != "auto":
            if self.solver in ("dual", "saga") and not table.in_memory:
                raise ValueError(
                    f"LogisticRegression(solver={self.solver!r}) needs the rows in memory. Use "
                    "solver='lbfgs' or 'adagrad' for rows in files or on a cluster."
                )
            if self.solver == "dual" and np.isinf(self.C):
                raise ValueError(
                    "LogisticRegression(solver='dual', C=inf) has no penalty, which the dual "
                    "is made of. Give a finite C, or use solver='lbfgs'."
                )
            return self.solver
        if self.l1_ratio > 0 and not np.isinf(self.C):
            return "saga" if table.in_memory else "adagrad"
        if (table.shape[1] + 1) * columns <= NARROW:
            return "newton"
        if not table.in_memory:
            return "lbfgs"
        if not sp.issparse(whole(table)[0]):
            return "lbfgs"
        return "saga" if np.isinf(self.C) else "dual"

    def _problem(self, objective: Objective, columns: int) -> Problem:
        """All rows, for the solvers that step by single ones."""
        rows, codes, weights = Whole(objective.table).load()
        csr = csr_arrays(rows, "LogisticRegression", finite=False)
        squares = row_squares(csr.indptr, csr.data)
        if not np.isfinite(squares.max()):  # one of the values is not, or is very large
            check_finite(rows, "LogisticRegression")
        return Problem(
            csr, codes, weights * ((weights > 0).sum() / objective.total), squares,
            objective.table.shape[1], columns,
            objective.l2, objective.l1, objective.intercept,
        )  # fmt: skip

    def _solve(self, objective: Objective, callbacks: list) -> Solution:
        """One of the batch solvers."""
        heights: list[float] = []

        def heard(number: int, height: float, params: Any) -> bool:
            heights.append(height)
            step = Step("LogisticRegression", number, self.max_iter, heights, params)
            return notify(callbacks, step)

        columns = width_of(len(self.classes_))
        settings: dict[str, Any] = {
            "tol": self.tol, "max_iter": self.max_iter, "heard": heard,
        }  # fmt: skip
        if self.solver_ in ("dual", "saga"):
            problem = self._problem(objective, columns)
            uneven = problem.squares.max() > UNEVEN * problem.squares.mean()
            if uneven and self.solver == "auto" and not objective.l1:
                self.solver_ = "lbfgs"
        if self.solver_ in ("dual", "saga"):
            seed = seed_from(self.random_state)
            patient = self.solver != "auto" or objective.l1 > 0
            if not patient:
                settings["max_iter"] = min(self.max_iter, PATIENCE)
            try:
                by_rows = solve_dual if self.solver_ == "dual" else solve_saga
                found = by_rows(objective, problem, seed, **settings)
            except ArithmeticError:
                raise ValueError(
                    f"LogisticRegression(solver={self.solver_!r}) ran away: X holds values too "
                    f"far apart in size, or C={self.C:g} or the weights of rows are too large. "
                    "Scale the columns, lower C, or use solver='lbfgs'."
                ) from None
            settings["max_iter"] = self.max_iter - found.steps
            if found.slope <= self.tol and not patient:
                return found._replace(near=True)  # L-BFGS, which asks for no more, ends here
            if patient or settings["max_iter"] < 1:
                return found
            if found.steps < PATIENCE:
                return found  # a callback ended it
            self.solver_ = "lbfgs"  # better where columns are alike or the penalty is tiny
            rest = solve_lbfgs(objective, found.params, **settings)
            return rest._replace(steps=found.steps + rest.steps)
        start = LogisticParams(np.zeros((objective.table.shape[1], columns)), np.zeros(columns))
        solve = solve_newton if self.solver_ == "newton" else solve_lbfgs
        return solve(objective, start, **settings)

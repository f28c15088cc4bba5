"""Online updates: what the perceptron and passive-aggressive classifiers share.

A visit scores a row and compares its class y with the best other class r. The margin is
score(y) - score(r), its hinge loss l = max(0, 1 - margin). Steps, along f(x, y) - f(x, r):

    PERCEPTRON   C, its learning rate, where the margin is not above 0
    PA           l / |f(x, y) - f(x, r)|^2, the least change that makes the margin 1
    PA_I         the same, at most C
    PA_II        l / (|f(x, y) - f(x, r)|^2 + 1 / (2 C))
    MIRA         the least change that makes the margin to every other class 1 or more

f(x, y) holds x, and with an intercept a 1, in the place of y: |f(x, y) - f(x, r)|^2 is twice
|x|^2. Two classes have one column of weights, the second against the first, where the change
is one x and its square |x|^2; for them PA and MIRA are the same.

The average of the weights over all visits costs nothing where nothing changes: ``sums`` adds
each change times the visits made before it, and the average after t visits is
weights - sums / t.

Passes are run by ``core.sweep``. The contract is sequential: each visit starts from what the
one before left, in one thread. Rows in memory are shuffled together, those of a file block by
block and within blocks, in an order drawn from (seed, pass).

One file: the rules, the passes and the estimator of both models share their state.

Crammer and Singer (2003), Ultraconservative online algorithms for multiclass problems. JMLR 3.
Crammer, Dekel, Keshet, Shalev-Shwartz and Singer (2006), Online passive-aggressive algorithms.
JMLR 7. McDonald, Crammer and Pereira (2005), Online large-margin training of dependency
parsers. ACL.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Serial, check_stop
from tacit.core.estimator import with_callbacks
from tacit.core.kernel import kernel
from tacit.core.randoms import key, permutation
from tacit.core.sweep import Sequential, Visited, no_gain_for, run_pass, sweep
from tacit.data.table import Batch, Table, is_sparse, parts
from tacit.kernels.sparse_rows import add_row, add_scores, chunks, dot_row, row_squares
from tacit.linear.labeled_rows import (
    Labeled,
    check_factors,
    check_labeled,
    check_more,
    check_two_classes,
    in_memory,
)
from tacit.linear.linear_classifier import (
    Csr,
    LinearClassifier,
    Scorer,
    check_columns,
    csr_arrays,
    top_classes,
)

__all__ = [
    "MIRA", "PA", "PA_I", "PA_II", "PERCEPTRON", "OnlineClassifier", "OnlineUpdates", "Rule",
    "State", "new_state", "visit",
]  # fmt: skip

PERCEPTRON, PA, PA_I, PA_II, MIRA = range(5)
HELD_OUT = 2**40  # no pass has this number
VISITS = 1000  # without a gain, before a fit may stop
FRESH = 1e-3  # a loss that has fallen to this fraction makes earlier weights irrelevant


class Rule(NamedTuple):
    """The size of steps."""

    kind: int
    C: float = 1.0
    intercept: float = 1.0  # the square of the value its feature has in every row; 0 for none
    average: bool = False


class State(NamedTuple):
    """The weights as they are now, and what their average needs. Changed in place."""

    weights: np.ndarray  # (v, k), or (v, 1) with two classes
    intercept: np.ndarray  # (k,)
    sums: np.ndarray  # like weights, or (0, k) without average
    intercept_sums: np.ndarray
    clock: np.ndarray  # (1,) int64, visits made


@dataclass(frozen=True)
class OnlineVisited(Visited):
    """What a visit to a block met: ``items`` and ``loss`` are weighted by class."""

    changes: float  # how often weights changed


def new_state(n_features: int, n_classes: int, average: bool) -> State:
    """Zeros."""
    k = 1 if n_classes == 2 else n_classes
    v = n_features if average else 0
    clock = np.zeros(1, np.int64)
    return State(np.zeros((n_features, k)), np.zeros(k), np.zeros((v, k)), np.zeros(k), clock)


def visit(
    state: State, rule: Rule, rows: Csr, codes: np.ndarray, costs: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Visit rows in this order; ``costs`` is the weight of each row.

    Returns sums over the visits: the hinge losses before each change and the rows that were
    wrong, both times the row's weight; and how many changes were made. NaN where the numbers
    became too large.
    """
    sums_met = np.zeros(3)
    squares = row_squares(rows.indptr, rows.data)
    if not np.isfinite(squares).all():  # values past 1e150
        return np.full(3, np.nan)
    run = visit_two if state.weights.shape[1] == 1 else visit_many
    for part in chunks(rows.indptr, order):
        check_stop()
        run(rows, codes, costs, part, squares, state, rule, sums_met)
    return sums_met


class OnlineUpdates(Sequential):
    """Passes over a table whose labels are codes, and when to stop."""

    def __init__(
        self, model: "OnlineClassifier", table: Table, costs: np.ndarray, seed: int,
        rule: Rule, *, learns_first: bool = False, held_out: bool = False,
    ) -> None:  # fmt: skip
        self.model, self.costs, self.seed, self.rule = model, costs, seed, rule
        self.learns_first = learns_first and model.max_iter > 1
        self.held_out = held_out  # their accuracy is that of the average, from the first pass
        self.name = type(model).__name__
        self.blocks: Sequence[Any] = table.blocks
        if table.in_memory:
            rows, codes, weights = in_memory(table)
            self.blocks = [Loaded(Batch(csr_arrays(rows, self.name), codes, weights))]
        self.n = len(table)
        self.losses: list[float] = []
        self.settled = False

    def rounds(self, number: int) -> Iterable[Sequence[int]]:
        """One block after another."""
        self.passed = OnlineVisited(0.0, 0.0, 0.0)
        return [[int(b)] for b in self._order(len(self.blocks), number)]

    def visit(self, state: State, part: int, number: int) -> OnlineVisited:
        rows, codes, weights = parts(self.blocks[part].load())
        if not isinstance(rows, Csr):
            rows = csr_arrays(rows, self.name)
        order = self._order(len(codes), number, part)
        rule = self.rule
        if self.learns_first and number == 0 and not self.held_out:
            rule = rule._replace(average=False)  # it would not be used
        costs = self.costs[codes] if weights is None else self.costs[codes] * weights
        sums_met = visit(state, rule, rows, codes, costs, order)
        self._check_finite(sums_met)
        weight = float(np.bincount(codes, weights, len(self.costs)) @ self.costs)
        loss = float(sums_met[self.model._loss_place])
        return OnlineVisited(weight, loss, float(sums_met[2]))

    def merge(self, state: State, stats: OnlineVisited) -> None:
        self.passed += stats

    def _order(self, n: int, *items: int) -> np.ndarray:
        return permutation(key(self.seed, *items), n) if self.model.shuffle else np.arange(n)

    def stop(self, state: State, losses: list[float]) -> bool:
        """Whether a pass changed nothing, or ``losses``, which may be those of rows that were
        held out, have stalled. Of few rows more passes are wanted: their losses jump."""
        model = self.model
        self._check_finite(state.weights)
        self.losses.append(self.passed.loss / (self.passed.items or 1.0))
        model.separated_ = not self.passed.changes
        patience = max(model.n_iter_no_change, -(-VISITS // self.n))
        stalled = model.tol is not None and no_gain_for(losses, patience, model.tol)
        if model.separated_ or stalled:
            return True
        calm = not self.settled and self.losses[-1] < FRESH * max(self.losses)
        if len(self.losses) < model.max_iter and (
            calm or (self.learns_first and len(self.losses) == 1)
        ):
            restart_average(state)
        self.settled = self.settled or calm
        return False

    def _check_finite(self, values: np.ndarray) -> None:
        if not np.isfinite(values.sum()):
            raise ValueError(
                f"{self.name}: the weights overflowed, because X holds values that are too "
                "large. Scale the columns of X down."
            )


class Loaded(NamedTuple):
    """A batch in memory as a block."""

    batch: Batch

    def load(self) -> Batch:
        return self.batch


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
        "random_state": ["random_state"],
        "callbacks": "no_validation",
    }
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

    def _rule(self, sparse: bool) -> Rule:
        raise NotImplementedError

    _loss_place: ClassVar[int] = 0  # of the loss in what ``visit`` returns
    _learns_first: ClassVar[bool] = False  # averages leave the first pass out

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
        fresh = self._learns_first and not self._goes_on()
        state = self._start(labeled.classes)
        set_weights(state, coef_init, intercept_init)
        labeled, held_out = self._hold_out(labeled, seed)
        rule = self._rule(is_sparse(labeled.table))
        updates = OnlineUpdates(
            self, labeled.table, self._costs(labeled), seed, rule, learns_first=fresh,
            held_out=held_out is not None,
        )  # fmt: skip
        self.separated_ = False
        with self._fit_callbacks() as callbacks:
            swept = sweep(
                updates, state, Serial(), max_iter=self.max_iter, stop=updates.stop,
                held_out=held_out and (lambda state: error_rate(state, rule, held_out)),
                callbacks=callbacks, name=type(self).__name__,
            )  # fmt: skip
        self.classes_, self.converged_ = labeled.classes, swept.converged
        self.losses_, self.n_iter_ = swept.losses, len(swept.losses)
        if held_out is not None:
            self.validation_scores_ = [1 - error for error in swept.held_out]
        self._keep(state)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Visit more rows once. The first call names all ``classes`` there will ever be."""
        self._validate_params()
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' is not supported for partial_fit, which has not seen "
                "all rows. Give a dict of weights."
            )
        if self.early_stopping:
            raise ValueError(
                "early_stopping should be False with partial_fit, which makes one pass. Use "
                "fit, or early_stopping=False."
            )
        first, labeled = check_more(self, X, y, classes, sample_weight)
        if first:
            check_two_classes(self, labeled.classes)
            self.classes_, self.losses_, self.n_iter_ = labeled.classes, [], 0
            state = new_state(self.n_features_in_, len(labeled.classes), self._averages())
        else:
            state = self._state(copy=False)
        seed = int(check_random_state(self.random_state).randint(2**31))
        rule = self._rule(is_sparse(labeled.table))
        updates = OnlineUpdates(self, labeled.table, self._costs(labeled), seed, rule)
        passed = run_pass(updates, state, Serial(), int(state.clock[0]))
        self.separated_, self.converged_ = not passed.changes, False
        self.losses_.append(passed.loss / (passed.items or 1.0))
        self.n_iter_ += 1
        self._keep(state)
        return self

    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "_last_weights")

    def _start(self, classes: np.ndarray) -> State:
        width = self.n_features_in_
        if self._goes_on():
            shape = (width, 1 if len(classes) == 2 else len(classes))
            if self._last_weights.shape != shape or not np.array_equal(self.classes_, classes):
                raise ValueError(
                    f"warm_start=True goes on with {self._last_weights.shape[0]} features and "
                    f"the classes {self.classes_.tolist()[:10]}, but the data has {width} and "
                    f"{classes.tolist()[:10]}. Use the same, or warm_start=False."
                )
            state = self._state()
            if self._learns_first:
                restart_average(state)
            return state
        return new_state(width, len(classes), self._averages())

    def _hold_out(self, labeled: Labeled, seed: int) -> tuple[Labeled, Any]:
        """With early stopping, the rows to learn from, and those that are held out."""
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

    def _averages(self) -> bool:
        return bool(self.average)

    # --- The weights of a fit ---

    def _keep(self, state: State) -> None:
        self._last_weights, self._last_intercept = state.weights, state.intercept
        self._weight_sums, self._intercept_sums = state.sums, state.intercept_sums
        self.t_ = int(state.clock[0])
        self._averaged: list = []  # filled when first asked for

    def _state(self, *, copy: bool = True) -> State:
        """The state at the end of a fit, with or without the sums of an average."""
        average = self._averages()
        if average and len(self._weight_sums) != len(self._last_weights):
            raise ValueError(
                "average=True continues a fit without averages. Fit again, or set "
                "average=False."
            )
        arrays = (
            self._last_weights,
            self._last_intercept,
            self._weight_sums if average else self._weight_sums[:0],
            self._intercept_sums,
            np.array([self.t_]),
        )
        # Arrays opened by mmap belong to the file.
        return State(
            *(each.copy() if copy or not each.flags.writeable else each for each in arrays)
        )

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
        """Before weights are set by hand: those there are, averaged or not, become the last."""
        self._last_weights, self._last_intercept = (each.copy() for each in self._both())
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
    """Start from given weights, laid out as ``coef_`` and ``intercept_``."""
    for name, value, place in (
        ("coef_init", coef, state.weights.T), ("intercept_init", intercept, state.intercept),
    ):  # fmt: skip
        if value is None:
            continue
        given = np.asarray(value, np.float64)
        if given.size != place.size:
            raise ValueError(
                f"{name} has shape {given.shape}, but the classes and columns of the data need "
                f"{place.shape}."
            )
        place[:] = given.reshape(place.shape)


def restart_average(state: State) -> None:
    """Average from here on. Class weights that are orders of magnitude apart make weights jump
    until the heavy rows are right; an average over that time is useless."""
    for each in (state.sums, state.intercept_sums, state.clock):
        each[:] = 0


@kernel
def length_of_step(kind, C, loss, square):
    """The step for a row whose change has this squared length."""
    if kind == PERCEPTRON:
        return C
    if kind == PA_II:
        return loss / (square + 0.5 / C)
    if square == 0.0:  # a row of zeros: no change can help
        return 0.0
    if kind == PA_I:
        return min(C, loss / square)
    return loss / square


@kernel
def visit_two(rows, codes, costs, order, squares, state, rule, sums_met):
    """Two classes. ``sums_met`` adds up hinge losses, mistakes and changes."""
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    kind, C, bias, average = rule.kind, rule.C, rule.intercept, rule.average
    intercept, intercept_sums, clock = state.intercept, state.intercept_sums, state.clock
    w, s = state.weights.ravel(), state.sums.ravel()
    time = float(clock[0])
    for i in order:
        sign, cost = 1.0 if codes[i] == 1 else -1.0, costs[i]
        start, stop = indptr[i], indptr[i + 1]
        score = intercept[0] + dot_row(indices, data, start, stop, w)
        margin = sign * score
        time += 1.0
        if margin <= 0:
            sums_met[1] += cost
        if margin >= 1 or (kind == PERCEPTRON and margin > 0):
            continue
        loss = 1.0 - margin
        sums_met[0] += cost * loss
        sums_met[2] += 1
        step = sign * cost * length_of_step(kind, C, loss, squares[i] + bias)
        intercept[0] += step * bias
        if average:
            past = (time - 1.0) * step
            intercept_sums[0] += past * bias
            for t in range(start, stop):
                j = indices[t]
                w[j] += step * data[t]
                s[j] += past * data[t]
        else:
            add_row(indices, data, start, stop, w, step)
    clock[0] = int(time)


@kernel
def visit_many(rows, codes, costs, order, squares, state, rule, sums_met):
    """Three classes or more."""
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    kind, C, bias, average = rule.kind, rule.C, rule.intercept, rule.average
    weights, intercept, clock = state.weights, state.intercept, state.clock
    sums, intercept_sums = state.sums, state.intercept_sums
    k = weights.shape[1]
    scores = np.empty(k)
    steps = np.empty(k)
    time = float(clock[0])
    for i in order:
        start, stop, y = indptr[i], indptr[i + 1], codes[i]
        cost = costs[i]
        for c in range(k):
            scores[c] = intercept[c]
        add_scores(indices, data, start, stop, weights, scores)
        rival = 1 if y == 0 else 0
        for c in range(rival + 1, k):
            if c != y and scores[c] > scores[rival]:
                rival = c
        margin = scores[y] - scores[rival]
        time += 1.0
        if margin <= 0:
            sums_met[1] += cost
        if margin >= 1 or (kind == PERCEPTRON and margin > 0):
            continue
        loss = 1.0 - margin
        sums_met[0] += cost * loss
        sums_met[2] += 1
        if kind == MIRA:
            square = squares[i] + bias
            if square > 0:
                mira_steps(scores, y, square, steps)
                for c in range(k):
                    steps[c] *= cost
                    move(indices, data, start, stop, weights, intercept, c, steps[c], bias)
                    if average:
                        past = (time - 1.0) * steps[c]
                        move(indices, data, start, stop, sums, intercept_sums, c, past, bias)
            continue
        step = cost * length_of_step(kind, C, loss, 2.0 * (squares[i] + bias))
        intercept[y] += step * bias
        intercept[rival] -= step * bias
        past = (time - 1.0) * step
        if average:
            intercept_sums[y] += past * bias
            intercept_sums[rival] -= past * bias
        for t in range(start, stop):
            j, x = np.uint32(indices[t]), data[t]
            row = weights[j]
            row[y] += step * x
            row[rival] -= step * x
        if average:
            for t in range(start, stop):
                j, x = np.uint32(indices[t]), data[t]
                past_row = sums[j]
                past_row[y] += past * x
                past_row[rival] -= past * x
    clock[0] = int(time)


@kernel
def mira_steps(scores, y, square, steps):
    """Steps of all classes for the least change that gives every other a margin of 1.

    With losses l_r = 1 - (score(y) - score(r)) class r moves by -max(0, l_r / |x|^2 - b) and
    y by b, their sum. Those that do not move are left out one after another.
    """
    k = scores.shape[0]
    total, count = 0.0, 0
    for r in range(k):
        steps[r] = (1.0 - scores[y] + scores[r]) / square
        if r != y and steps[r] > 0:
            total += steps[r]
            count += 1
    b = total / (count + 1)
    going = True
    while going:  # each round leaves out at least one
        going = False
        total, fewer = 0.0, 0
        for r in range(k):
            if r != y and steps[r] > b:
                total += steps[r]
                fewer += 1
        if fewer < count:
            count, going = fewer, True
            b = total / (count + 1)
    for r in range(k):
        steps[r] = b if r == y else -max(0.0, steps[r] - b)


@kernel
def move(indices, data, start, stop, weights, intercept, c, step, bias):
    if step == 0.0:
        return
    intercept[c] += step * bias
    for t in range(start, stop):
        weights[indices[t], c] += step * data[t]

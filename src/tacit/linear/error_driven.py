"""Passes of a classifier that learns from its mistakes: what perceptron and passive-aggressive
share.

Rows are visited one by one in an order drawn from (seed, pass); ``error_steps`` holds the
steps. The contract is sequential: each visit starts from what the one before left, in one
thread, so the same seed gives the same bits everywhere. Rows of a file are shuffled block by
block and within blocks, those in memory all together.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.validation import check_is_fitted

from tacit.core.progress import Progress, Step, notify
from tacit.core.randoms import key, permutation
from tacit.data.table import Batch, Table, is_sparse, parts
from tacit.linear.error_steps import Rule, State, new_state, visit
from tacit.linear.labeled_rows import Labeled, check_factors, check_labeled, check_more
from tacit.linear.linear_classifier import (
    Csr,
    LinearClassifier,
    Scorer,
    csr_arrays,
    top_classes,
)

__all__ = ["ErrorDriven"]


HELD_OUT = 2**40  # no pass has this number
VISITS = 1000  # without a gain, before a fit may stop
FRESH = 1e-3  # a loss that has fallen to this share makes what came before irrelevant


class ErrorDriven(LinearClassifier):
    """Base class: passes, stopping, averages. A model says which ``_rule`` it follows."""

    contract: ClassVar[str] = "sequential"
    _saved_private: ClassVar[tuple] = (
        "_last_weights",
        "_last_intercept",
        "_weight_sums",
        "_intercept_sums",
    )
    _file_schema: ClassVar[dict] = {
        "classes_": ("n_classes",),
        "_last_weights": ("n_features_in_", "columns"),
        "_last_intercept": ("columns",),
        "_weight_sums": (None, "columns"),
        "_intercept_sums": ("columns",),
    }

    def _rule(self, sparse: bool) -> Rule:
        raise NotImplementedError

    _loss_place: ClassVar[int] = 0  # of the loss in what ``visit`` finds
    _learns_first: ClassVar[bool] = False  # averages leave the first pass out

    # --- Fitting ---

    def _fit(self, X: Any, y: Any) -> Any:
        self._validate_params()
        labeled = check_labeled(self, X, y)
        self._check_two(labeled.classes)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31))
        fresh = self._learns_first and not self._goes_on()
        state = self._start(labeled.classes)
        labeled, exam = self._hold_out(labeled, seed)
        rule, (costs, weight) = self._rule(is_sparse(labeled.table)), self._costs(labeled)
        losses: list[float] = []
        errors: list[float] = []  # on the rows held out
        self.separated_ = self.converged_ = settled = False
        blocks, n = self._blocks(labeled.table), len(labeled.table)
        with self._fit_callbacks() as callbacks:
            if getattr(self, "verbose", 0):
                callbacks.append(Progress())
            for number in range(self.max_iter):
                found, now = np.zeros(3), rule
                if fresh and number == 0 and self.max_iter > 1 and exam is None:
                    now = rule._replace(average=False)  # nobody will look at it
                for rows, codes, order in self._walk(blocks, seed, number):
                    found += visit(state, now, rows, codes, costs, order)
                losses.append(float(found[self._loss_place] / weight))
                self._refuse_overflow(found, state)
                self.separated_ = not found[2]
                if exam is not None:
                    errors.append(share_wrong(state, rule, exam))
                self.converged_ = self.separated_ or self._stalled(errors or losses, n)
                done = self.converged_ or number + 1 == self.max_iter
                calm = not settled and losses[-1] < FRESH * max(losses)
                if not done and (calm or (number == 0 and fresh)):
                    start_again(state)
                settled = settled or calm
                step = Step(type(self).__name__, number + 1, self.max_iter, losses, state, done)
                if notify(callbacks, step) or self.converged_:
                    break
        self.classes_ = labeled.classes
        self.losses_, self.n_iter_ = losses, len(losses)
        if exam is not None:
            self.validation_scores_ = [1 - error for error in errors]
        self._keep(state)
        return self

    def _partial_fit(self, X: Any, y: Any, classes: Any) -> Any:
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
        first, labeled = check_more(self, X, y, classes)
        if first:
            self._check_two(labeled.classes)
            self.classes_, self.losses_, self.n_iter_ = labeled.classes, [], 0
            state = new_state(self.n_features_in_, len(labeled.classes), self._averages())
        else:
            state = self._state(copy=False)
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31))
        (costs, weight), found = self._costs(labeled), np.zeros(3)
        blocks, rule = self._blocks(labeled.table), self._rule(is_sparse(labeled.table))
        for rows, codes, order in self._walk(blocks, seed, int(state.clock[0])):
            found += visit(state, rule, rows, codes, costs, order)
        self._refuse_overflow(found)
        self.separated_, self.converged_ = not found[2], False
        self.losses_.append(float(found[self._loss_place] / weight))
        self.n_iter_ += 1
        self._keep(state)
        return self

    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "_last_weights")

    def _start(self, classes: np.ndarray) -> State:
        width, average = self.n_features_in_, self._averages()
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
                start_again(state)
            return state
        return new_state(width, len(classes), average)

    def _blocks(self, table: Table) -> list:
        """What passes go over: all rows in memory as one, or the blocks of a file."""
        if not table.in_memory:
            return list(table)
        rows, codes = whole(table)
        return [Held(csr_arrays(rows, type(self).__name__), codes)]

    def _hold_out(self, labeled: Labeled, seed: int) -> tuple[Labeled, Any]:
        """With early stopping, the rows to learn from, and those to be asked about."""
        if not self.early_stopping:
            return labeled, None
        if not labeled.table.in_memory:
            raise ValueError(
                f"{type(self).__name__}(early_stopping=True) needs all rows in memory, but X "
                "is a table of a file. Set early_stopping=False, or give an array."
            )
        rows, codes = whole(labeled.table)
        n = len(codes)
        order = permutation(key(seed, HELD_OUT), n)
        order = order[np.argsort(codes[order], kind="stable")]  # every class gives its share
        wanted = max(1, round(self.validation_fraction * n))
        held = np.zeros(n, np.bool_)
        held[order[(np.arange(wanted) * n) // wanted]] = True
        if len(np.unique(codes[~held])) < len(labeled.classes):
            raise ValueError(
                f"{type(self).__name__}(validation_fraction={self.validation_fraction}) leaves "
                "no rows of some class to learn from. Lower it, or set early_stopping=False."
            )
        kept = Table.from_array(rows[~held]).with_labels(codes[~held])
        return Labeled(kept, labeled.classes), (rows[held], codes[held])

    def _walk(self, blocks: list, seed: int, number: int) -> Iterator[tuple]:
        """Rows, codes and the order of visits in a pass, block by block."""
        for b in self._order(len(blocks), seed, number):
            rows, codes, _ = parts(blocks[b].load())
            if not isinstance(rows, Csr):
                rows = csr_arrays(rows, type(self).__name__)
            yield rows, codes, self._order(len(codes), seed, number, int(b))

    def _order(self, n: int, *items: int) -> np.ndarray:
        return permutation(key(*items), n) if self.shuffle else np.arange(n)

    def _stalled(self, losses: list[float], n: int) -> bool:
        """Whether ``n_iter_no_change`` passes in a row were not better by ``tol`` times the
        first. Of few rows more passes are wanted: their losses jump."""
        if self.tol is None:
            return False
        patience = max(self.n_iter_no_change, -(-VISITS // n))
        best, waited = np.inf, 0
        for loss in losses:
            waited = waited + 1 if loss > best - self.tol * losses[0] else 0
            best = min(best, loss)
        return waited >= patience

    def _costs(self, labeled: Labeled) -> tuple[np.ndarray, float]:
        """The weight of each class, and of all rows."""
        k = len(labeled.classes)
        if self.class_weight is None:
            return np.ones(k), float(len(labeled.table))
        codes = np.concatenate([block.labels.load() for block in labeled.table])
        y = labeled.classes[codes]
        costs = compute_class_weight(self.class_weight, classes=labeled.classes, y=y)
        check_factors(costs, labeled.classes)
        return costs, float(np.bincount(codes, minlength=k) @ costs) or 1.0

    def _averages(self) -> bool:
        return bool(self.average)

    def _check_two(self, classes: np.ndarray) -> None:
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes to tell apart, but the labels "
                f"have only one class, {classes.tolist()[0]!r}. Give rows of another."
            )

    def _refuse_overflow(self, found: np.ndarray, state: State | None = None) -> None:
        sums = [found.sum(), *([] if state is None else [state.weights.sum()])]
        if not np.isfinite(sums).all():
            raise ValueError(
                f"{type(self).__name__}: the weights overflowed, because X holds values that "
                "are too large. Scale the columns of X down."
            )

    # --- What is kept ---

    def _keep(self, state: State) -> None:
        self._last_weights, self._last_intercept = state.weights, state.intercept
        self._weight_sums, self._intercept_sums = state.sums, state.intercept_sums
        self.t_ = int(state.clock[0])
        self._averaged: list = []  # filled when first asked for

    def _state(self, *, copy: bool = True) -> State:
        """What a fit left, with or without what an average needs."""
        average = self._averages()
        if average and len(self._weight_sums) != len(self._last_weights):
            raise ValueError(
                "average=True goes on with a fit that was made without. Fit again, or set "
                "average=False."
            )
        left = (
            self._last_weights,
            self._last_intercept,
            self._weight_sums if average else self._weight_sums[:0],
            self._intercept_sums,
            np.array([self.t_]),
        )
        # What was opened by mmap belongs to the file.
        return State(
            *(each.copy() if copy or not each.flags.writeable else each for each in left)
        )

    def _both(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights to decide with: made when first asked for, so that a stream of small
        batches does not pay for averages nobody looks at."""
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

    @property
    def intercept_(self) -> np.ndarray:  # type: ignore[override]
        """One for every column of ``weights_``."""
        return self._both()[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_averaged": []}

    def _after_load(self) -> None:
        self._averaged = []
        for name in ("_last_weights", "_last_intercept", "_weight_sums", "_intercept_sums"):
            if getattr(self, name).dtype != np.float64:
                raise ValueError(f"{name} must be float64.")
        if len(self._weight_sums) not in (0, self.n_features_in_) or self.t_ < 1:
            raise ValueError("the sums for the average do not fit the weights.")


class Held(NamedTuple):
    """Rows in memory as a block, made ready once."""

    rows: Csr
    codes: np.ndarray

    def load(self) -> Batch:
        return Batch(self.rows, self.codes)


def share_wrong(state: State, rule: Rule, exam: tuple) -> float:
    """The share of rows that the weights of now, or their average, get wrong."""
    weights, intercept = state.weights, state.intercept
    if rule.average:
        time = max(1, int(state.clock[0]))
        weights = weights - state.sums / time
        intercept = intercept - state.intercept_sums / time
    rows, codes = exam
    return float(np.mean(top_classes(Scorer(weights, intercept), rows) != codes))


def start_again(state: State) -> None:
    """Average from here on. Class weights that are orders of magnitude apart throw weights
    about until the heavy rows are right; an average over that time is right about nothing."""
    for each in (state.sums, state.intercept_sums, state.clock):
        each[:] = 0


def whole(table: Table) -> tuple[Any, np.ndarray]:
    """The arrays that the blocks of a table in memory were cut from."""
    block = table.blocks[0]
    rows = block.rows.matrix if hasattr(block.rows, "matrix") else block.rows.array
    return rows, block.labels.array

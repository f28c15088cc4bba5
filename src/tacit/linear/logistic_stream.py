"""Passes of logistic regression row by row, over rows in memory or block by block from a file.

``logistic_online`` holds the steps. Rows in memory are shuffled all together, those of a file
block by block and within blocks; the order comes from (seed, pass), so the same seed gives the
same bits. What a pass leaves (weights, AdaGrad's sums, the number of steps) lets the next one,
or ``partial_fit`` on other rows, go on.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacit.core.progress import Step, notify
from tacit.core.randoms import key, permutation, seed_from
from tacit.data.table import Batch, Table, parts
from tacit.kernels.sparse_rows import row_squares
from tacit.linear import logistic_online as online
from tacit.linear.error_driven import whole
from tacit.linear.linear_classifier import LinearClassifier, csr_arrays
from tacit.linear.logistic_saga import rate_for
from tacit.linear.logistic_solve import Objective
from tacit.linear.losses import LogisticParams, width_of

__all__ = ["RowByRow", "Whole", "parts_of"]


class RowByRow(LinearClassifier):
    """The part of LogisticRegression that steps by single rows."""

    _saved_private: ClassVar[tuple] = ("_squares", "_offset_squares")
    _file_schema: ClassVar[dict] = {
        **LinearClassifier._file_schema,
        "_squares": (None, "columns"),
        "_offset_squares": ("columns",),
    }
    _file_optional = ("_squares", "_offset_squares")

    def _descend(self, objective: Objective, callbacks: list) -> None:
        """Passes of "sgd" or "adagrad" until the loss stalls."""
        memory = self._memory(True)
        seed = seed_from(self.random_state)
        penalty = objective.l2 + objective.l1
        losses: list[float] = []
        best, waited, self.converged_ = np.inf, 0, False
        for number in range(self.max_iter):
            loss = self._pass(memory, objective.table, penalty, seed, number)
            losses.append(loss / objective.total)
            waited = waited + 1 if losses[-1] > best - self.tol else 0
            best = min(best, losses[-1])
            self.converged_ = waited >= self.n_iter_no_change
            done = self.converged_ or number + 1 == self.max_iter
            step = Step(
                "LogisticRegression", number + 1, self.max_iter, losses, memory, done
            )
            if notify(callbacks, step) or self.converged_:
                break
        self._keep(memory, losses[-1], objective.total, len(losses))
        params = LogisticParams(self.weights_, self.intercept_)
        self.objective_, stats = objective.at(params)
        self.slope_ = objective.steepest(params, stats)

    def _memory(self, first: bool) -> online.Memory:
        if first:
            self.steps_ = 0
            return online.fresh_memory(
                self.n_features_in_,
                width_of(len(self.classes_)),
                adaptive=self.solver == "adagrad",
            )
        held = (self.weights_, self.intercept_, self._squares, self._offset_squares)
        if self.solver == "adagrad" and len(self._squares) != len(self.weights_):
            raise ValueError(
                "solver='adagrad' goes on with a fit that was made by 'sgd'. Begin anew."
            )
        return online.Memory(*(each.copy() for each in held))

    def _pass(
        self, memory: online.Memory, table: Table, penalty: float, seed: Any, number: int
    ) -> float:
        """Visit every row once, all shuffled in memory or block by block; the loss met."""
        l2, l1 = (1 - self.l1_ratio) * penalty, self.l1_ratio * penalty
        shared: dict[str, Any] = {
            "l2": l2, "l1": l1, "intercept": bool(self.fit_intercept),
        }  # fmt: skip
        blocks: list = [Whole(table)] if table.in_memory else list(table.blocks)
        loss = 0.0
        for b in permutation(key(seed, number), len(blocks)):
            rows, codes, weights = parts(blocks[b].load())
            csr = csr_arrays(rows, "LogisticRegression")
            weights = np.ones(len(codes)) if weights is None else weights
            order = permutation(key(seed, number, int(b)), len(codes))
            if self.solver == "adagrad":
                eta = 1.0 if self.eta0 is None else float(self.eta0)
                loss += online.adagrad_pass(
                    memory, csr, codes, weights, order, eta=eta, **shared
                )
                continue
            if self.steps_ == 0:
                self.eta0_ = self._first_rate(csr, memory.intercept.size, l2)
            schedule = online.Schedule(self.learning_rate, self.eta0_, float(self.power_t))
            loss += online.sgd_pass(
                memory, csr, codes, weights, order, schedule, steps=self.steps_, **shared
            )
            self.steps_ += len(order)
        if not np.isfinite(loss):
            raise ValueError(
                "LogisticRegression: the weights overflowed. Lower eta0, or scale the columns "
                "of X down."
            )
        return loss

    def _first_rate(self, csr: Any, columns: int, l2: float) -> float:
        if self.eta0 is not None:
            return float(self.eta0)
        longest = float(row_squares(csr.indptr, csr.data).max(initial=0.0))
        return rate_for(longest + bool(self.fit_intercept), columns, l2)

    def _keep(self, memory: online.Memory, loss: float, seen: float, passes: int) -> None:
        self.weights_, self.intercept_ = memory.weights, memory.intercept
        self._squares, self._offset_squares = memory.squares, memory.offset_squares
        self.loss_, self.rows_, self.n_iter_ = float(loss), float(seen), passes


class Whole(NamedTuple):
    """A table in memory as a single block."""

    table: Table

    def load(self) -> Batch:
        weights = np.concatenate([each for _, each in map(parts_of, self.table)])
        return Batch(*whole(self.table), weights)


def parts_of(block: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes and weights of a block; the rows stay where they are."""
    codes = block.labels.load()
    weights = np.ones(len(codes)) if block.weights is None else block.weights.load()
    return codes, weights

"""Coordinate descent on the dual of a linear support vector machine with two classes.

The visits are those of ``svm_dual`` for one class against the rest. One column of weights and
an intercept kept beside it leave nothing to do for a value of a row but one product and one
sum, and no row has to be copied.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.kernels.sparse_rows import add_row, dot_row
from tacit.linear.linear_classifier import Csr
from tacit.linear.svm_dual import row_gap

__all__ = ["TwoClass"]


class Judged(NamedTuple):
    """The objective, and how far from the optimum it can be."""

    objective: float
    gap: float


class TwoClass:
    """Multipliers and weights of a fit; ``visit`` changes them, ``judge`` says how near it is.

    ``extra`` is the value of the intercept's feature, 0 for none.
    """

    def __init__(
        self, csr: Csr, codes: np.ndarray, costs: np.ndarray, squares: np.ndarray, width: int,
        extra: float, *, squared: bool,
    ) -> None:  # fmt: skip
        self.csr, self.costs, self.extra, self.squared = csr, costs, extra, squared
        self.signs = np.where(codes == 1, 1.0, -1.0)
        self.squares = squares + extra**2
        self.duals = np.zeros(len(codes))
        self.weights, self.bias = np.zeros(width), np.zeros(1)

    def visit(
        self, part: np.ndarray, resting: np.ndarray, edge: float
    ) -> tuple[float, float]:
        """Visit rows; the largest violation met, and the gaps of the rows added up."""
        return visit_rows(
            *self.csr, self.signs, self.costs, self.squares, part, self.squared, self.extra,
            self.weights, self.bias, self.duals, resting, edge,
        )  # fmt: skip

    def judge(self, stretches: Iterable[tuple[int, int]]) -> Judged:
        """See all rows, in stretches, at the weights as they are."""
        loss = sum(
            add_losses(
                *self.csr, self.signs, self.costs, self.squared, self.extra, self.weights,
                self.bias, start, stop,
            )
            for start, stop in stretches
        )  # fmt: skip
        height = 0.5 * self._size() + loss
        return Judged(height, max(0.0, height - self.below()))

    def below(self) -> float:
        """The height of the dual: the objective cannot be lower."""
        found = float(self.duals.sum()) - 0.5 * self._size()
        if self.squared:
            used = self.costs > 0
            found -= 0.25 * float((self.duals[used] ** 2 / self.costs[used]).sum())
        return found

    def _size(self) -> float:
        return float(np.square(self.weights).sum() + self.bias[0] ** 2)


# --- Kernels ---


@kernel
def visit_rows(
    indptr, indices, data, signs, costs, squares, order, squared, extra, weights, bias, duals,
    resting, edge,
):  # fmt: skip
    worst, gap = 0.0, 0.0
    for s in range(order.size):
        i = order[s]
        if costs[i] <= 0 or resting[i]:
            continue
        first, end, held = indptr[i], indptr[i + 1], duals[i]
        score = dot_row(indices, data, first, end, weights) + extra * bias[0]
        gap += row_gap(1 - signs[i] * score, held, costs[i], not squared)
        diagonal = 0.5 / costs[i] if squared else 0.0
        most = np.inf if squared else costs[i]
        slope = signs[i] * score - 1 + diagonal * held
        low, high = held <= 0, held >= most
        off = min(slope, 0.0) if low else max(slope, 0.0) if high else slope
        worst = max(worst, abs(off))
        # Held firmly at its bound: unlikely to leave it soon.
        resting[i] = (low and slope > edge) or (high and slope < -edge)
        curvature = squares[i] + diagonal
        if abs(off) <= 1e-14 or curvature <= 0:
            continue
        new = min(max(held - slope / curvature, 0.0), most)
        step = (new - held) * signs[i]
        duals[i] = new
        bias[0] += step * extra
        add_row(indices, data, first, end, weights, step)
    return worst, gap


@kernel
def add_losses(
    indptr, indices, data, signs, costs, squared, extra, weights, bias, start, stop
):
    total = 0.0
    for i in range(start, stop):
        score = dot_row(indices, data, indptr[i], indptr[i + 1], weights) + extra * bias[0]
        short = max(0.0, 1 - signs[i] * score)
        total += costs[i] * (short * short if squared else short)
    return total

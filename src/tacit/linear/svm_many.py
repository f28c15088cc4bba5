"""Coordinate descent on the dual of a linear support vector machine, all classes at once."""

from collections.abc import Iterable

import numpy as np

from tacit.linear.linear_classifier import Csr
from tacit.linear.svm_dual import visit_against_rest, visit_together
from tacit.linear.svm_primal import primal_height
from tacit.linear.svm_two import Judged

__all__ = ["ManyClass"]


class ManyClass:
    """As ``TwoClass``, with a column of weights and multipliers for every class.

    An intercept is a feature of the rows. ``together`` is the way of Crammer and Singer.
    """

    def __init__(
        self, csr: Csr, codes: np.ndarray, costs: np.ndarray, squares: np.ndarray,
        weights: np.ndarray, *, squared: bool, together: bool,
    ) -> None:  # fmt: skip
        self.csr, self.codes, self.costs, self.squares = csr, codes, costs, squares
        self.weights, self.squared, self.together = weights, squared, together
        self.duals = np.zeros((len(codes), weights.shape[1]))

    def visit(
        self, part: np.ndarray, resting: np.ndarray, edge: float
    ) -> tuple[float, float]:
        """Visit rows; the largest violation met, and the gaps of the rows added up."""
        rows = (*self.csr, self.codes, self.costs, self.squares, part)
        state = (self.weights, self.duals, resting, edge)
        if self.together:
            return visit_together(*rows, *state)
        diagonal = 0.5 if self.squared else 0.0
        return visit_against_rest(*rows, diagonal, not self.squared, *state)

    def judge(self, stretches: Iterable[tuple[int, int]]) -> Judged:
        """See all rows at the weights as they are."""
        height = primal_height(
            self.csr, self.codes, self.costs, self.weights, squared=self.squared,
            together=self.together,
        )  # fmt: skip
        return Judged(height, max(0.0, height - self.below()))

    def below(self) -> float:
        """The height of the dual: the objective cannot be lower."""
        duals = self.duals
        if self.together:
            duals = duals[np.arange(len(duals)), self.codes][:, None]
        found = float(duals.sum()) - 0.5 * float(np.square(self.weights).sum())
        if self.squared:
            used = self.costs > 0
            shares = 1 / self.costs[used]
            found -= 0.25 * float((np.square(duals[used]).sum(axis=1) * shares).sum())
        return found

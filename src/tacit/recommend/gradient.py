"""The gradient of the loss of a factorization, of all ratings or of sampled rows or columns.

    L(A, B)  =  1/|S| sum of e_ij^2 + reg (|A_i|^2 + |B_j|^2) over the ratings in S
    e_ij     =  r_ij - mean - b_i - b_j - A_i . B_j
    dL/dA_i  =  1/|S| sum over j of -2 e_ij B_j  +  2 reg n_i A_i / |S|

S is all ratings (gradient descent), those of some users (row sampling) or those of some items
(column sampling). A pass uses every rating once: row sampling deals the users into groups,
drawn from (seed, pass), and takes a step for each group, which moves only the factors of its
users and of the items they rated; column sampling likewise.

The notes' sections 9.3.1 and 9.3.2 of 000.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.core.randoms import key, permutation
from tacit.core.sweep import Sequential, Visited

__all__ = ["GradientDescent", "SgdState", "loss_and_gradient"]


class SgdState(NamedTuple):
    """Factors and biases, and what adapts their steps. Arrays change in place."""

    users: np.ndarray  # (n, k) float32
    items: np.ndarray  # (m, k)
    user_bias: np.ndarray  # (n,)
    item_bias: np.ndarray  # (m,)
    user_squares: np.ndarray  # (n,): AdaGrad's sums of squared gradients
    item_squares: np.ndarray  # (m,)
    rate: np.ndarray  # (4,) of gradient descent: step size, last loss, this pass's sum, ratings


class Gradient(NamedTuple):
    """Derivatives of the loss, and the loss."""

    users: np.ndarray
    items: np.ndarray
    user_bias: np.ndarray
    item_bias: np.ndarray
    loss: float


def loss_and_gradient(
    users: np.ndarray, items: np.ndarray, user_bias: np.ndarray, item_bias: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray], values: np.ndarray, *, mean: float = 0.0,
    reg: float = 0.0, biased: bool = True,
) -> Gradient:  # fmt: skip
    """The loss of the ratings ``values`` of ``pairs`` (codes) and its gradient.

    >>> A, B, none = np.ones((1, 1)), np.ones((2, 1)), np.zeros(1)
    >>> pairs = np.array([0, 0]), np.array([0, 1])
    >>> g = loss_and_gradient(A, B, none, np.zeros(2), pairs, np.array([3.0, 1.0]))
    >>> g.loss, g.users.tolist(), g.items.tolist()
    (2.0, [[-2.0]], [[-2.0], [0.0]])
    """
    u, i = pairs
    error = values - (mean + user_bias[u] + item_bias[i])
    error = error - np.einsum("ij,ij->i", users[u], items[i])
    n = max(1, len(values))
    scaled = -2.0 / n * error
    out = Gradient(
        scatter(u, scaled, items, i, len(users)), scatter(i, scaled, users, u, len(items)),
        np.bincount(u, scaled, len(users)), np.bincount(i, scaled, len(items)),
        float(error @ error) / n,
    )  # fmt: skip
    user_weights = reg / n * np.bincount(u, minlength=len(users))
    item_weights = reg / n * np.bincount(i, minlength=len(items))
    penalty = user_weights @ squares(users) + item_weights @ squares(items)
    out.users[...] += 2 * user_weights[:, None] * users
    out.items[...] += 2 * item_weights[:, None] * items
    if biased:
        penalty += user_weights @ user_bias**2 + item_weights @ item_bias**2
        out.user_bias[...] += 2 * user_weights * user_bias
        out.item_bias[...] += 2 * item_weights * item_bias
    else:
        out.user_bias[...] = 0
        out.item_bias[...] = 0
    return out._replace(loss=out.loss + float(penalty))


def squares(factors: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", factors, factors)


def scatter(
    rows: np.ndarray, weights: np.ndarray, factors: np.ndarray, which: np.ndarray, n: int
) -> np.ndarray:
    """The sum of weights[t] factors[which[t]] for every row."""
    out = np.zeros((n, factors.shape[1]))
    add_weighted(rows, weights, np.ascontiguousarray(factors, np.float64), which, out)
    return out


class GradientDescent(Sequential):
    """Passes of gradient descent over ratings in memory.

    The step size follows the "bold driver": 5% more after a pass that lowered the loss, half
    after one that raised it. It begins at ``rate`` over a bound on the largest second
    derivative.
    """

    def __init__(
        self, users: np.ndarray, items: np.ndarray, values: np.ndarray,
        shape: tuple[int, int], *, sampling: str, groups: int, mean: float, reg: float,
        rate: float, biased: bool, seed: np.uint64,
    ) -> None:  # fmt: skip
        self.shape, self.sampling, self.seed = shape, sampling, seed
        self.groups = 1 if sampling == "all" else groups
        side = items if sampling == "columns" else users
        order = np.argsort(side, kind="stable")
        self.users, self.items, self.values = users[order], items[order], values[order]
        self.side = side[order]
        self.options: dict[str, Any] = {"mean": mean, "reg": reg, "biased": biased}
        self.biased = biased
        counts = [np.bincount(users).max(), np.bincount(items).max()]
        self.rate = rate / (2.0 * max(counts) * max(1.0, abs(float(values.std()))))

    def rounds(self, number: int) -> Iterable[Sequence[Any]]:
        """One group of users or items after another."""
        n = self.shape[1] if self.sampling == "columns" else self.shape[0]
        group = permutation(key(self.seed, 5, number), n) % self.groups
        chosen = group[self.side]
        for each in range(self.groups):
            which = slice(None) if self.groups == 1 else np.flatnonzero(chosen == each)
            yield [(which, each == 0)]

    def visit(self, state: SgdState, part: Any, number: int) -> Visited:
        """A step along the gradient of the group."""
        which, first = part
        pairs = self.users[which], self.items[which]
        values = self.values[which].astype(np.float64)
        if first:
            self._adapt(state.rate)
        if not len(values):
            return Visited(0.0, 0.0)
        g = loss_and_gradient(
            state.users.astype(np.float64), state.items.astype(np.float64),
            state.user_bias.astype(np.float64), state.item_bias.astype(np.float64), pairs,
            values, **self.options,
        )  # fmt: skip
        state.rate[2:] += g.loss * len(values), len(values)
        # The rate is per rating: L is a mean over the sample.
        step = float(state.rate[0]) * len(values)
        for params, gradient in zip(state[:4], g[:4], strict=True):
            params -= (step * gradient).astype(np.float32)
        return Visited(float(len(values)), g.loss * len(values))

    def _adapt(self, rate: np.ndarray) -> None:
        """Set the step size of a pass by the losses of the two before."""
        if rate[0] == 0:
            rate[:2] = self.rate, np.inf
        elif rate[3]:
            loss = rate[2] / rate[3]
            rate[0] *= 1.05 if loss <= rate[1] else 0.5
            rate[1] = loss
        rate[2:] = 0


@kernel
def add_weighted(rows: Any, weights: Any, factors: Any, which: Any, out: Any) -> None:
    k = factors.shape[1]
    for t in range(len(rows)):
        w, f, o = weights[t], factors[which[t]], out[rows[t]]
        for j in range(k):
            o[j] += w * f[j]

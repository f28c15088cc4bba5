"""Linear support vector machines from the side of the weights: the objective, and Pegasos.

    |w|^2 / 2  +  C sum_i a_i loss(margin_i)        hinge: max(0, 1 - m), or its square

The margin of one class against the rest is y w . x, that of Crammer and Singer the score of
the true class less the best other. Pegasos steps along the slope of one row at a time, at the
rate 1 / (lambda t) with lambda = 1 / (C n), for the hinge loss; the weights returned are the
mean of the second half of the steps.

The notes' section on large margins. Shalev-Shwartz, Singer and Srebro (2007), Pegasos: primal
estimated sub-gradient solver for SVM. ICML.
"""

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import kernel
from tacit.linear.linear_classifier import Csr

__all__ = ["losses", "pegasos_rows", "primal_height"]


def primal_height(
    csr: Csr, codes: np.ndarray, costs: np.ndarray, weights: np.ndarray, *, squared: bool,
    together: bool,
) -> float:  # fmt: skip
    """The objective at these weights."""
    rows = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=(len(codes), len(weights)))
    each = losses(rows @ weights, codes, squared=squared, together=together)
    return 0.5 * float(np.square(weights).sum()) + float((costs * each).sum())


def losses(
    found: np.ndarray, codes: np.ndarray, *, squared: bool, together: bool
) -> np.ndarray:
    """The loss of every row of scores, summed over the classes.

    >>> losses(np.array([[0.5], [-2.0]]), np.array([1, 0]), squared=False, together=False)
    array([0.5, 0. ])
    """
    every = np.arange(len(codes))
    if together and found.shape[1] > 1:
        right = found[every, codes]
        others = found.copy()
        others[every, codes] = -np.inf
        short = np.maximum(0.0, 1 - right + others.max(axis=1))[:, None]
    elif found.shape[1] == 1:
        short = np.maximum(0.0, 1 - np.where(codes[:, None] == 1, found, -found))
    else:
        signs = np.where(codes[:, None] == np.arange(found.shape[1]), 1.0, -1.0)
        short = np.maximum(0.0, 1 - signs * found)
    return (short**2 if squared else short).sum(axis=1)


# --- Kernels ---


@kernel
def pegasos_rows(
    indptr, indices, data, codes, costs, order, steps, half, decay, together, weights, sums,
    clock,
):  # fmt: skip
    """Steps of Pegasos. The weights are scale * weights, and their sum since step ``half`` is
    total * weights + sums, so that a step touches only the features of its row.

    ``costs`` (n,) are weights of mean 1, ``clock`` holds scale and total.
    """
    columns = weights.shape[1]
    found = np.empty(columns)
    scale, total = clock[0], clock[1]
    for s in range(order.size):
        i = order[s]
        t = steps + s + 1
        first, end = indptr[i], indptr[i + 1]
        found[:] = 0.0
        for p in range(first, end):
            row = weights[indices[p]]
            x = data[p]
            for k in range(columns):
                found[k] += x * row[k]
        rate = costs[i] / (decay * t)
        code = codes[i]
        if together:
            rival = 1 if code == 0 else 0
            for k in range(columns):
                if k != code and found[k] > found[rival]:
                    rival = k
            short = scale * (found[code] - found[rival]) < 1
            for k in range(columns):
                found[k] = 0.0
            if short:
                found[code], found[rival] = rate, -rate
        else:
            for k in range(columns):
                sign = 1.0 if code == (1 if columns == 1 else k) else -1.0
                found[k] = rate * sign if sign * scale * found[k] < 1 else 0.0
        # The first step forgets the start altogether, scale 0: it is 0 anyway.
        if t > 1:
            scale *= 1 - 1.0 / t
        for p in range(first, end):
            j = indices[p]
            row, past = weights[j], sums[j]
            x = data[p] / scale
            for k in range(columns):
                step = x * found[k]
                row[k] += step
                past[k] -= total * step
        if t > half:
            total += scale
        if scale < 1e-8:  # fold the scale in before it underflows
            for j in range(weights.shape[0]):
                row, past = weights[j], sums[j]
                for k in range(columns):
                    past[k] += total * row[k]
                    row[k] *= scale
            scale, total = 1.0, 0.0
    clock[0], clock[1] = scale, total

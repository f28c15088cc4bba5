"""The shares of several models in a mixture, under which a text is likeliest.

    collect   how much of each word's probability came from each model
    update    the mean of that is the share

Expectation-maximization for the weights alone: the likelihood never falls, and it has one top.
"""

import numpy as np

__all__ = ["check_shares", "fit_shares"]

STEPS = 1000
TOLERANCE = 1e-7


def fit_shares(probabilities: np.ndarray) -> np.ndarray:
    """Shares of the columns, given the probability that each gives to each word.

    >>> fit_shares(np.array([[0.5, 0.1], [0.5, 0.1], [0.1, 0.9]]))
    array([0.667, 0.333])
    """
    k = probabilities.shape[1]
    shares = np.full(k, 1 / k)
    for _ in range(STEPS):
        parts = probabilities * shares
        total = parts.sum(axis=1, keepdims=True)
        parts /= np.where(total > 0, total, 1)  # a word that is impossible for all
        new = parts.sum(axis=0) / max(1, np.count_nonzero(total))
        moved = np.abs(new - shares).max()
        shares = new
        if moved < TOLERANCE:
            break
    return shares / shares.sum() if shares.sum() else np.full(k, 1 / k)


def check_shares(weights: object, k: int, caller: str) -> np.ndarray:
    """Given shares as an array that adds up to 1."""
    shares = np.full(k, 1 / k) if weights is None else np.asarray(weights, np.float64)
    if shares.shape != (k,) or (shares < 0).any() or not np.isclose(shares.sum(), 1):
        raise ValueError(
            f"{caller}(weights={weights!r}) needs {k} shares of 0 or more that add up to 1."
        )
    return shares

"""Dirichlet distributions: expectations under them, and their parameters from counts.

``expected_log`` is E[log p] under Dirichlet rows; ``exp_digamma`` gives its exponential in
kernels without a logarithm. ``fit_asymmetric`` and ``fit_symmetric`` make steps of Minka's
fixed point for the parameters of a Dirichlet-multinomial. The counts enter as tails: how many
of the documents have at least c tokens of topic k. A difference of digammas is then a sum:

    digamma(n + a) - digamma(a)  =  1/a + 1/(a + 1) + ... + 1/(a + n - 1)

Minka (2000), Estimating a Dirichlet distribution.
Wallach (2008), Structured topic models for language. PhD thesis, section 2.3.
"""

import numpy as np
from scipy.special import gammaln, polygamma, psi

from tacit.core.kernel import kernel

__all__ = [
    "divergence", "exp_digamma", "expected_log", "fit_asymmetric", "fit_from_logs",
    "fit_symmetric", "tails",
]  # fmt: skip

LEAST, MOST = 1e-6, 1e3  # parameters stay between these


def expected_log(parameters: np.ndarray) -> np.ndarray:
    """E[log p] for rows of Dirichlet parameters.

    >>> expected_log(np.array([[1.0, 1.0]]))
    array([[-1., -1.]])
    """
    return psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True))


def divergence(
    parameters: np.ndarray, prior: np.ndarray | float, logs: np.ndarray
) -> np.ndarray:
    """Kullback-Leibler divergence of Dirichlet rows from a prior; ``logs`` is their E[log p].

    >>> rows = np.array([[2.0, 3.0], [1.0, 1.0]])
    >>> divergence(rows, 1.0, expected_log(rows)).round(3)
    array([0.235, 0.   ])
    """
    prior = np.broadcast_to(np.asarray(prior, np.float64), parameters.shape[-1:])
    prior_norm = gammaln(prior.sum()) - gammaln(prior).sum()
    norm = gammaln(parameters.sum(axis=-1)) - gammaln(parameters).sum(axis=-1)
    return norm - prior_norm + ((parameters - prior) * logs).sum(axis=-1)


def fit_from_logs(alpha: np.ndarray, logs: np.ndarray, steps: int = 20) -> np.ndarray:
    """Parameters of the Dirichlet under which E[log p] is ``logs``, closer by some steps.

    >>> fit_from_logs(np.ones(2), expected_log(np.array([2.0, 0.5])), steps=500).round(3)
    array([2. , 0.5])
    """
    for _ in range(steps):
        target = psi(alpha.sum()) + logs
        # The inverse of digamma, by Newton steps from Minka's start.
        alpha = np.where(target >= -2.22, np.exp(target) + 0.5, -1 / (target - psi(1.0)))
        for _ in range(4):
            alpha = alpha - (psi(alpha) - target) / polygamma(1, alpha)
        alpha = np.clip(alpha, LEAST, MOST)
    return alpha


def tails(histogram: np.ndarray) -> np.ndarray:
    """How many counts are c or more, c = 1, 2, ..., from how many are exactly 0, 1, 2, ...

    >>> tails(np.array([[5, 2, 1]]))
    array([[3, 1]])
    """
    return np.cumsum(histogram[:, :0:-1], axis=1)[:, ::-1]


def fit_asymmetric(
    alpha: np.ndarray, topics: np.ndarray, lengths: np.ndarray, steps: int = 5
) -> np.ndarray:
    """Parameters that make counts of topics more likely, one for every topic.

    ``topics`` (k, c) and ``lengths`` (1, c) are the tails of the topic counts and of the
    lengths of documents.

    >>> rng = np.random.default_rng(0)
    >>> counts = np.array([rng.multinomial(50, p) for p in rng.dirichlet([2.0, 0.5], 5000)])
    >>> topics = tails(np.stack([np.bincount(c, minlength=51) for c in counts.T]))
    >>> lengths = tails(np.bincount(counts.sum(axis=1))[None])
    >>> fit_asymmetric(np.ones(2), topics, lengths, steps=200).round(1)
    array([2. , 0.5])
    """
    topics, places = trimmed(topics)
    lengths, far = trimmed(lengths)
    for _ in range(steps):
        above = (topics / (alpha[:, None] + places)).sum(axis=1)
        below = (lengths / (alpha.sum() + far)).sum()
        if not below:
            return alpha
        alpha = np.clip(alpha * above / below, LEAST, MOST)
    return alpha


def fit_symmetric(
    eta: float, width: int, words: np.ndarray, totals: np.ndarray, steps: int = 5
) -> float:
    """One parameter for all ``width`` words, from the tails of their counts in topics and the
    totals of the topics."""
    words, places = trimmed(words)
    for _ in range(steps):
        above = (words / (eta + places)).sum()
        below = (psi(totals + width * eta) - psi(width * eta)).sum() * width
        if not below:
            return eta
        eta = float(np.clip(eta * above / below, LEAST, MOST))
    return eta


def trimmed(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tails without the empty end, and 0, 1, 2, ... for their columns."""
    filled = np.flatnonzero(counts.any(axis=0))
    counts = counts[:, : filled[-1] + 1] if len(filled) else counts[:, :0]
    return counts, np.arange(counts.shape[1])


@kernel
def exp_digamma(x):
    """exp(digamma(x)) for x > 0, to about 1e-8; below 1e-34 of it, 0.

    Six steps of the recurrence, summed as one fraction, lead to an asymptotic series in
    x + 5.5. Without a branch or a call, so that a loop over topics becomes vector code.

    >>> round(exp_digamma(1.0), 6)
    0.561459
    """
    p = x * (x + 5)
    steps = (2 * x + 5) * (3 * p * p + 20 * p + 24) / (p * (p + 4) * (p + 6))
    y = x + 5.5
    inverse = 1 / y
    square = inverse * inverse
    tail = 1 / 24 - square * (37 / 5760 - square * (10313 / 2903040 - square * 0.0047))
    # exp(-steps): a Taylor series for 1/256 of it, squared eight times.
    z = min(steps, 80.0) * (-1 / 256)
    e = 1 + z * (1 / 5) * (1 + z * (1 / 6) * (1 + z * (1 / 7)))
    e = 1 + z * (1 + z / 2 * (1 + z * (1 / 3) * (1 + z / 4 * e)))
    for _ in range(8):
        e *= e
    return (y + inverse * tail) * e

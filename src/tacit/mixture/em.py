"""Expectation-maximization, and the base class of all mixture models.

    collect   E-step: the responsibility of each component for each row, and the sufficient
              statistics of the rows weighted by it
    update    M-step: the most likely params for those statistics

Both run in ``core.loop.iterate``. The loss is minus the mean log-likelihood of a row, with the
log prior where a model has one; an update never raises it. A model brings ``collect``,
``update`` and a start; ``Mixture`` does the rest: restarts, stopping, callbacks, posteriors.

Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
Journal of the Royal Statistical Society B 39.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.core.checkpoint import begin, finish
from tacit.core.engines import Engine
from tacit.core.estimator import Estimator, engine_for, with_callbacks
from tacit.core.loop import Fit, iterate
from tacit.data.checked import check_enough, check_results
from tacit.data.observed import check_observed
from tacit.data.table import Table

__all__ = ["Mixture", "posterior", "run_em"]


def posterior(log_joint: np.ndarray, axis: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """Log evidence and responsibilities from log p(row, component), which is overwritten.

    A row that is impossible under every component has evidence -inf and equal
    responsibilities.

    >>> evidence, r = posterior(np.log([[0.1, 0.3], [0.2, 0.2]]))
    >>> np.exp(evidence).round(2)
    array([0.4, 0.4])
    >>> r.round(2)
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    top = log_joint.max(axis=axis, keepdims=True)
    top[np.isneginf(top)] = 0.0
    log_joint -= top
    np.exp(log_joint, out=log_joint)
    total = log_joint.sum(axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):
        evidence = (top + np.log(total)).squeeze(axis)
    impossible = total == 0
    if impossible.any():
        np.copyto(log_joint, 1.0, where=impossible)
        total[impossible] = log_joint.shape[axis]
    log_joint /= total
    return evidence, log_joint


def run_em(
    start: Any, collect: Callable, update: Callable, penalty: Callable | None, table: Table,
    engine: Engine, *, tol: float, max_iter: int, callbacks: list, name: str,
) -> Fit:  # fmt: skip
    """EM from one start, until a pass raises the mean log-likelihood by less than ``tol``."""
    return iterate(
        start, collect, update, table, engine, max_iter=max_iter, penalty=penalty,
        stop=lambda losses: losses[-2] - losses[-1] < tol, callbacks=callbacks, name=name,
    )  # fmt: skip


class Mixture(DensityMixin, Estimator):
    """Base class of the mixture models: everything but the E-step, the M-step and the start."""

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    n_components: int
    tol: float
    max_iter: int
    n_init: int
    random_state: Any
    callbacks: list | None

    # What a model brings.

    _table: Callable  # of X, sample_weight, reset=: the rows, checked
    _start: Callable  # of a table, an engine and a RandomState: the first params
    _em: Callable[[], tuple[Callable, Callable, Callable | None]]  # collect, update, penalty
    _store: Callable  # sets the attributes of fitted params
    _params: Callable  # params from the attributes
    _log_joint: Callable  # of params and a block
    _n_parameters: Callable

    def _prepare(self, table: Table, engine: Engine) -> None:
        """Settle what depends on the data, before the first start."""

    def _rank(self, fit: Fit) -> tuple:
        """Of several runs the one of the lowest rank wins."""
        return (fit.losses[-1],)

    # --- Fitting ---

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture. X is an array, a sparse matrix, a Table or a Dask array."""
        self._validate_params()
        name, table = type(self).__name__, self._table(X, sample_weight, reset=True)
        check_enough(self, len(table), "n_components")
        engine, rng = engine_for(self), check_random_state(self.random_state)
        self._prepare(table, engine)
        best: Fit | None = None
        with self._fit_callbacks() as callbacks:
            for run in range(self.n_init):
                start = self._start(table, engine, rng)
                begin(callbacks, f"{name} {self.get_params()} {table.shape} {run}", run)
                fit = run_em(
                    start, *self._em(), table, engine, tol=self.tol, max_iter=self.max_iter,
                    callbacks=callbacks, name=name,
                )  # fmt: skip
                if best is None or self._rank(fit) < self._rank(best):
                    best = fit
        assert best is not None  # there is at least one run
        self._store(best.params)
        self.lower_bounds_ = [-float(loss) for loss in best.losses]
        self.lower_bound_ = self.lower_bounds_[-1]
        self.n_iter_ = len(best.losses) - 1
        self.converged_ = best.converged
        finish(self.callbacks)
        check_results(self)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit the mixture, and give the most probable component of every row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    # --- Posteriors and likelihoods ---

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, n_components) the posterior of the components for each row."""
        return np.concatenate([r for _, r in self._map_blocks(block_posterior, X)])

    def predict(self, X: Any) -> np.ndarray:
        """The most probable component of every row; a tie goes to the lowest."""
        return np.concatenate([best for best, _ in self._map_blocks(block_best, X)])

    def score_samples(self, X: Any) -> np.ndarray:
        """The log-likelihood of every row."""
        return np.concatenate([log_p for log_p, _ in self._map_blocks(block_posterior, X)])

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of a row."""
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion: lower is better."""
        evidence = self.score_samples(X)
        return float(self._n_parameters() * np.log(len(evidence)) - 2 * evidence.sum())

    def aic(self, X: Any) -> float:
        """Akaike's information criterion: lower is better."""
        return float(2 * self._n_parameters() - 2 * self.score_samples(X).sum())

    def _map_blocks(self, function: Callable, X: Any) -> Any:
        check_is_fitted(self)
        table = self._table(X, None, reset=False)
        model = (self._log_joint, self._params())
        answers = engine_for(self).map(function, model, table)
        for block, answer in zip(table, answers, strict=True):
            if not all(np.isfinite(values).all() for values in answer):
                check_observed(block, table, type(self).__name__)
            if any(np.isnan(values).any() for values in answer):
                raise ValueError(
                    f"{type(self).__name__}: the values of X are so large that likelihoods "
                    "overflow. Rescale the columns."
                )
            yield answer


def block_posterior(model: tuple[Callable, Any], block: Any) -> tuple[np.ndarray, np.ndarray]:
    """(n,) the log evidence and (n, k) the responsibilities."""
    log_joint, params = model
    with np.errstate(over="ignore", invalid="ignore"):
        return posterior(log_joint(params, block))


def block_best(model: tuple[Callable, Any], block: Any) -> tuple[np.ndarray, np.ndarray]:
    """(n,) the most probable component, and the logarithm of its joint density."""
    log_joint, params = model
    with np.errstate(over="ignore", invalid="ignore"):
        joint = log_joint(params, block)
    best = joint.argmax(axis=1)
    return best, np.take_along_axis(joint, best[:, None], axis=1)

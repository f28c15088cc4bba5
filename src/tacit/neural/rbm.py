"""Restricted Boltzmann machines: visible and hidden units, joined by weights across.

    p(v, h)  =  exp(v W h + b v + c h) / Z          both 0 or 1 (Bernoulli visible units)
    F(v)     =  - b v - sum of log(1 + exp(c + v W))        the free energy: p(v) ~ exp(-F(v))

Gaussian visible units have variance 1, after every column is standardized, and |v - b|^2 / 2 in
place of - b v. The gradient of the log-likelihood is the mean of -dF over the data less that
over the model. Contrastive divergence (CD-k) takes the second mean after k steps of Gibbs
sampling that start at the data, persistent CD from chains that go on from batch to batch.

Both climb the likelihood approximately, so no fall of the loss is promised; ``losses_`` are
reconstruction errors, which one watches but does not minimize. On small machines
``log_likelihood`` is exact, by enumeration.

The notes' section 8.4.1. Hinton (2002), Training products of experts by minimizing contrastive
divergence. Neural Computation 14. Tieleman (2008), Training restricted Boltzmann machines using
approximations to the likelihood gradient. ICML. Hinton (2012), A practical guide to training
restricted Boltzmann machines.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacit.core.checkpoint import finish
from tacit.core.estimator import with_callbacks
from tacit.core.randoms import key, normals, seed_from, uniforms
from tacit.data.checked import check_answer, check_table
from tacit.neural.layers import activate, fold, jnp, normal, optax, uniform
from tacit.neural.training import (
    Columns,
    EncoderNetwork,
    Scaler,
    check_number,
    dense,
    describe_columns,
    log_odds,
    optimizer,
    padded_batch,
    unit_scaler,
    zeros_for,
)

__all__ = ["RBM", "RBMNetwork", "exact_log_partition"]

MOST_UNITS = 24  # of the smaller layer, for the exact likelihood: 16 million states
STATES = 2**14  # of them at a time


# --- The network ---


@dataclass(frozen=True)
class RBMNetwork:
    """Settings of a restricted Boltzmann machine, and its pure functions."""

    visible: str
    persistent: bool
    n_gibbs: int
    learning_rate: float
    momentum: float
    weight_decay: float
    figures: ClassVar[tuple[str, ...]] = ("error",)

    def _optimizer(self) -> Any:
        return optimizer(
            "sgd", self.learning_rate, 0, decay=self.weight_decay,
            momentum=self.momentum or None,
        )  # fmt: skip

    def start(self, drawn: Any, hidden: int, bias: np.ndarray, batch: int) -> dict[str, Any]:
        """The tree before the first step: small weights, and visible biases ``bias``."""
        d = len(bias)
        params = {
            "weights": (0.01 * normals(key(drawn, 0), (d, hidden))).astype(np.float32),
            "visible": np.asarray(bias, np.float32),
            "hidden": np.zeros(hidden, np.float32),
        }
        chain = np.zeros((batch if self.persistent else 0, hidden), np.float32)
        return {
            "params": params, "optimizer": zeros_for(self._optimizer(), params), "chain": chain,
        }  # fmt: skip

    def hidden_means(self, xp: Any, params: Any, visible: Any) -> Any:
        """P(h = 1 | v) of every hidden unit."""
        return activate(xp, "sigmoid", xp.matmul(visible, params["weights"]) + params["hidden"])

    def visible_means(self, xp: Any, params: Any, hidden: Any) -> Any:
        """The mean of every visible unit, given the hidden ones."""
        scores = xp.matmul(hidden, params["weights"].T) + params["visible"]
        return scores if self.visible == "gaussian" else activate(xp, "sigmoid", scores)

    def free_energy(self, xp: Any, params: Any, visible: Any) -> Any:
        """F(v) of every row."""
        scores = xp.matmul(visible, params["weights"]) + params["hidden"]
        if self.visible == "gaussian":
            energy = 0.5 * ((visible - params["visible"]) ** 2).sum(axis=1)
        else:
            energy = -xp.matmul(visible, params["visible"])
        return energy - xp.logaddexp(0.0, scores).sum(axis=1)

    def draw_visible(self, params: Any, hidden: Any, drawn: Any) -> Any:
        """A draw of the visible units, given the hidden ones."""
        means = self.visible_means(jnp, params, hidden)
        if self.visible == "gaussian":
            return means + normal(drawn, means.shape)
        return (uniform(drawn, means.shape) < means).astype(means.dtype)

    def gibbs(self, params: Any, hidden: Any, steps: int, drawn: Any) -> tuple[Any, Any, Any]:
        """Visible units after Gibbs steps from a draw of the hidden ones, and the
        probabilities and a draw of the hidden units there."""
        for i in range(steps):
            visible = self.draw_visible(params, hidden, fold(drawn, 2 * i))
            means = self.hidden_means(jnp, params, visible)
            draws = uniform(fold(drawn, 2 * i + 1), means.shape)
            hidden = (draws < means).astype(means.dtype)
        return visible, means, hidden

    def gradient(
        self, rows: Any, means: Any, mask: Any, model: Any, model_means: Any, model_mask: Any
    ) -> dict[str, Any]:
        """The mean of dF/d(params) over the data less that over draws of the model. (For
        Gaussian units the two terms in the visible biases cancel.)"""
        data, drawn = mask / mask.sum(), model_mask / model_mask.sum()
        return {
            "weights": model.T @ (model_means * drawn[:, None])
            - rows.T @ (means * data[:, None]),
            "visible": drawn @ model - data @ rows,
            "hidden": drawn @ model_means - data @ means,
        }

    def step(self, tree: Any, rows: Any, mask: Any, drawn: Any) -> tuple[Any, Any]:
        """One step of contrastive divergence."""
        params = tree["params"]
        means = self.hidden_means(jnp, params, rows)
        error = ((rows - self.visible_means(jnp, params, means)) ** 2).sum(axis=1) @ mask
        if self.persistent:
            start, model_mask = tree["chain"], jnp.ones(len(rows), rows.dtype)
        else:
            draws = uniform(fold(drawn, 2 * self.n_gibbs), means.shape)
            start, model_mask = (draws < means).astype(means.dtype), mask
        model, model_means, hidden = self.gibbs(params, start, self.n_gibbs, drawn)
        gradient = self.gradient(rows, means, mask, model, model_means, model_mask)
        moves, moments = self._optimizer().update(gradient, tree["optimizer"], params)
        return {
            "params": optax.apply_updates(params, moves),
            "optimizer": moments,
            "chain": hidden if self.persistent else tree["chain"],
        }, error[None]


# --- The estimator ---


def has_pseudo_likelihood(model: Any) -> bool:
    if model.visible == "gaussian":
        raise AttributeError(
            "RBM(visible='gaussian') has no pseudo-likelihood in closed form. Use free_energy, "
            "reconstruct, or log_likelihood if there are few hidden units."
        )
    return True


class RBM(EncoderNetwork):
    """Learn hidden units that explain rows: a restricted Boltzmann machine.

    Attributes are called as in scikit-learn's BernoulliRBM; ``max_iter`` is its ``n_iter``.

    Parameters
    ----------
    n_components : int
        Hidden units.
    visible : {"bernoulli", "gaussian"}
        Visible units: values from 0 to 1, or any numbers, which are standardized.
    persistent : bool
        Whether the chains go on from batch to batch (PCD), or start at the data (CD).
    n_gibbs : int
        Gibbs steps per mini-batch, the k of CD-k.
    learning_rate : float
    momentum : float
        Of gradient descent: from 0 to below 1.
    weight_decay : float
        Added to the gradient per unit of weight.
    batch_size, max_iter : int
        Rows in a mini-batch; passes.
    device, random_state, callbacks : as for ``Autoencoder``

    Attributes
    ----------
    components_ : array of shape (n_components, n_features), the weights
    intercept_hidden_ : array of shape (n_components,)
    intercept_visible_ : array of shape (n_features,)
    mean_, scale_ : arrays of shape (n_features,), of standardized columns
    losses_ : list of float, the squared reconstruction error of a row in every pass
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
    >>> model = RBM(2, learning_rate=0.5, max_iter=40, random_state=0).fit(X)
    >>> model.log_likelihood([[1, 1, 0, 0]])[0] > model.log_likelihood([[1, 0, 1, 0]])[0] + 2
    np.True_
    >>> model.transform(X).shape
    (100, 2)
    """

    _parameter_constraints: ClassVar[dict] = {
        **EncoderNetwork._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "visible": [StrOptions({"bernoulli", "gaussian"})],
        "persistent": ["boolean"],
        "n_gibbs": [Interval(Integral, 1, None, closed="left")],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
    }
    _file_schema: ClassVar[dict] = {
        "components_": ("n_components", "n_features_in_"),
        "intercept_hidden_": ("n_components",),
        "intercept_visible_": ("n_features_in_",),
        "mean_": ("n_features_in_",),
        "scale_": ("n_features_in_",),
    }
    _file_kinds: ClassVar[dict] = dict.fromkeys(_file_schema, "f")

    def __init__(
        self,
        n_components: int = 256,
        *,
        visible: str = "bernoulli",
        persistent: bool = False,
        n_gibbs: int = 1,
        learning_rate: float = 0.05,
        momentum: float = 0.5,
        weight_decay: float = 1e-4,
        batch_size: int = 32,
        max_iter: int = 10,
        device: str = "cpu",
        random_state: Any = None,
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.visible, self.persistent = n_components, visible, persistent
        self.n_gibbs, self.learning_rate, self.momentum = n_gibbs, learning_rate, momentum
        self.weight_decay, self.batch_size, self.max_iter = weight_decay, batch_size, max_iter
        self.device, self.random_state, self.callbacks = device, random_state, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on the rows of an array, a sparse matrix, a Table or a Dask array."""
        self._validate_params()
        table = check_table(self, X, reset=True)
        columns = describe_columns(table, type(self).__name__)
        scaler, seed = self._fit_scaler(columns), seed_from(self.random_state)
        network = self._network()
        bias = np.zeros(len(columns.mean))
        if self.visible == "bernoulli":
            bias = log_odds(columns.mean, columns.rows)
        batch = padded_batch(self.batch_size, len(table))
        tree = network.start(key(seed), self.n_components, bias, batch)
        params = self._train(network, tree, table, scaler, columns, seed)["params"]
        del self._log
        self.components_ = np.ascontiguousarray(params["weights"].T)
        self.intercept_hidden_ = params["hidden"]
        self.intercept_visible_ = params["visible"]
        self.mean_ = np.asarray(scaler.mean, np.float64)
        self.scale_ = np.asarray(scaler.scale, np.float64)
        finish(self.callbacks)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """(n_rows, n_components) P(h = 1 | row) of every hidden unit."""
        means = self._map_checked(X, lambda network: network.hidden_means)
        return check_answer(self, "transform", means)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """(n_rows, n_features) the means of the visible units, given the hidden ones."""
        codes, network, scaler = self._codes(X), self._network(), self._scaler()
        return self._map_rows(
            lambda xp, rows: scaler.inverse_transform(
                network.visible_means(xp, self._params(rows.dtype), rows)
            ),
            codes,
        )

    def free_energy(self, X: Any) -> np.ndarray:
        """F of every row: minus its log-probability, up to a constant."""
        return self._map_checked(X, lambda network: network.free_energy)

    @available_if(has_pseudo_likelihood)
    def score_samples(self, X: Any) -> np.ndarray:
        """The log pseudo-likelihood of every row: sum over columns of log P(value | others).

        scikit-learn draws one column per row at random and multiplies; this is the expected
        value of that, the same in every call. Only for Bernoulli units.
        """
        return self._map_checked(X, lambda network: pseudo_likelihood)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log pseudo-likelihood of a row; minus the squared reconstruction error of
        Gaussian units."""
        if self.visible == "gaussian":
            rows = dense(check_table(self, X, reset=False).load())
            return -float(np.square(rows - self.reconstruct(X)).sum(axis=1).mean())
        return float(self.score_samples(X).mean())

    def log_likelihood(self, X: Any) -> np.ndarray:
        """The exact log-likelihood of every row, by enumerating the smaller layer.

        For machines with a layer of at most 24 units (Gaussian: hidden units). The density of
        Gaussian units is that of standardized columns.
        """
        check_is_fitted(self)
        return -self.free_energy(X).astype(np.float64) - exact_log_partition(
            self.components_.T, self.intercept_visible_, self.intercept_hidden_,
            gaussian=self.visible == "gaussian",
        )  # fmt: skip

    def gibbs(self, v: Any, n_steps: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows after steps of Gibbs sampling that start at the rows ``v``."""
        check_is_fitted(self)
        rows = dense(check_table(self, v, reset=False).load())
        seed = seed_from(random_state)
        network, params, scaler = self._network(), self._params(rows.dtype), self._scaler()
        visible = scaler.transform(rows)
        for i in range(n_steps):
            means = network.hidden_means(np, params, visible)
            hidden = (uniforms(key(seed, i, 0), means.shape) < means).astype(means.dtype)
            visible = network.visible_means(np, params, hidden)
            if self.visible == "gaussian":
                visible = visible + normals(key(seed, i, 1), visible.shape)
            else:
                visible = uniforms(key(seed, i, 1), visible.shape) < visible
            visible = visible.astype(means.dtype)
        return scaler.inverse_transform(visible)

    def sample(
        self, n_samples: int = 1, *, n_steps: int = 1000, start: Any = None,
        random_state: Any = None,
    ) -> np.ndarray:  # fmt: skip
        """Draw rows from the model: chains of ``n_steps`` Gibbs steps, from rows ``start`` (in
        turn) or from coins with the visible biases."""
        check_is_fitted(self)
        seed = seed_from(random_state)
        d = self.n_features_in_
        check_number(n_samples, max(d, self.n_components), "RBM")
        if start is None:
            base = activate(np, "sigmoid", self.intercept_visible_.astype(np.float64))
            first = (uniforms(key(seed, -1), (n_samples, d)) < base).astype(np.float64)
            if self.visible == "gaussian":
                first = self.mean_ + self.scale_ * normals(key(seed, -1), (n_samples, d))
        else:
            rows = dense(check_table(self, start, reset=False).load())
            first = rows[np.arange(n_samples) % len(rows)]
        return self.gibbs(first, n_steps, random_state=int(key(seed, 0)))

    # --- Parts ---

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def _network(self) -> RBMNetwork:
        return RBMNetwork(
            self.visible, bool(self.persistent), int(self.n_gibbs), float(self.learning_rate),
            float(self.momentum), float(self.weight_decay),
        )  # fmt: skip

    def _params(self, dtype: Any = np.float64) -> dict[str, np.ndarray]:
        return {
            "weights": self.components_.T.astype(dtype),
            "visible": self.intercept_visible_.astype(dtype),
            "hidden": self.intercept_hidden_.astype(dtype),
        }

    def _fit_scaler(self, columns: Columns) -> Scaler:
        if self.visible == "gaussian":
            scale = np.sqrt(columns.deviations / columns.rows)
            floor = 1e-6 * columns.scale if columns.deviations.any() else 1.0
            return Scaler(columns.mean, np.where(scale > floor, scale, 1.0))
        scaler = unit_scaler("RBM(visible='bernoulli')", columns, "visible='gaussian'")
        return scaler._replace(scale=np.ones(len(columns.mean)))

    def _map_checked(self, X: Any, choose: Callable) -> np.ndarray:
        check_is_fitted(self)
        network, scaler = self._network(), self._scaler()
        function = choose(network)
        return self._map_rows(
            lambda xp, rows: function(xp, self._params(rows.dtype), scaler.transform(rows)),
            check_table(self, X, reset=False),
        )

    def _after_load(self) -> None:
        self._validate_params()
        if not (self.scale_ > 0).all():
            raise ValueError("scale_ must be above 0.")


# --- Likelihoods ---


def pseudo_likelihood(xp: Any, params: Any, visible: Any) -> Any:
    """sum over columns j of log P(v_j | the others), for Bernoulli units.

    Turning v_j over changes every hidden score by a row of the weights: n d h operations.
    """
    weights, bias = params["weights"], params["visible"]
    scores = xp.matmul(visible, weights) + params["hidden"]
    base = xp.logaddexp(0.0, scores).sum(axis=1)
    total = 0.0
    for j in range(len(bias)):
        turn = 1 - 2 * visible[:, j]
        other = xp.logaddexp(0.0, scores + turn[:, None] * weights[j]).sum(axis=1)
        # F(turned) - F(v), and log sigmoid of it
        total = total - xp.logaddexp(0.0, other + turn * bias[j] - base)
    return total


def exact_log_partition(
    weights: np.ndarray, visible: np.ndarray, hidden: np.ndarray, *, gaussian: bool = False
) -> float:
    """log Z, by enumerating the states of the smaller layer (Gaussian: of the hidden one).

    >>> exact_log_partition(np.zeros((3, 2)), np.zeros(3), np.zeros(2))  # 5 log 2
    3.46573...
    """
    weights, visible, hidden = (
        np.asarray(array, np.float64) for array in (weights, visible, hidden)
    )
    if not gaussian and len(visible) < len(hidden):
        weights, visible, hidden = weights.T, hidden, visible
    units = len(hidden)  # of the layer to enumerate
    if units > MOST_UNITS:
        raise ValueError(
            f"The exact likelihood enumerates 2^{units} states; at most 2^{MOST_UNITS} are "
            "allowed. Use score_samples or free_energy instead."
        )
    total = -np.inf
    for first in range(0, 2**units, STATES):
        codes = np.arange(first, min(first + STATES, 2**units))
        states = ((codes[:, None] >> np.arange(units)) & 1).astype(np.float64)
        scores = states @ weights.T
        if gaussian:
            terms = (scores * visible + 0.5 * scores**2).sum(axis=1)
            terms += 0.5 * len(visible) * np.log(2 * np.pi)
        else:
            terms = np.logaddexp(0.0, scores + visible).sum(axis=1)
        total = np.logaddexp(total, np.logaddexp.reduce(states @ hidden + terms))
    return float(total)

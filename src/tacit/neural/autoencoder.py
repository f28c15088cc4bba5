"""Autoencoders: networks that learn to return their input through a code.

    code  =  f(x)        the encoder, layers from the columns to the code
    x^    =  g(code)     the decoder, the same layers backwards
    loss  =  |x - x^|^2  or the cross-entropy of columns from 0 to 1, per row

The minimum of a linear autoencoder spans the space of the first principal components; deep ones
bend it. Tied weights use the transposed weights of the encoder in the decoder. A denoising
autoencoder gets rows with noise and has to return them without. A sparse one has more code
units than columns and a penalty

    l1 * sum over units j of |code_j| |d_j|         d_j the decoder's weights of unit j

which does not change if codes shrink while the decoder grows. With ``sparsity`` the largest
units of every code remain and that fraction of it is exactly 0 (a k-sparse autoencoder).

Training streams mini-batches through ``neural.training``. The loss is the mean over a pass in
which weights change, so it is not promised to fall.

The notes' section 8.4.2. Hinton and Salakhutdinov (2006), Reducing the dimensionality of data
with neural networks. Science 313. Vincent, Larochelle, Bengio and Manzagol (2008), Extracting
and composing robust features with denoising autoencoders. ICML. Baldi and Hornik (1989), Neural
networks and principal component analysis. Neural Networks 2. Makhzani and Frey (2014), k-sparse
autoencoders. ICLR.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.checkpoint import finish
from tacit.core.estimator import with_callbacks
from tacit.core.randoms import key, seed_from
from tacit.data.checked import check_answer, check_table
from tacit.neural.layers import (
    ACTIVATIONS,
    cast,
    check_layers,
    check_widths,
    first_layers,
    forward,
    jax,
    jnp,
    normal,
    optax,
    uniform,
)
from tacit.neural.training import (
    Columns,
    EncoderNetwork,
    Scaler,
    dense,
    describe_columns,
    log_odds,
    optimizer,
    unit_scaler,
    zeros_for,
)

__all__ = ["Autoencoder", "AutoencoderNetwork", "Coder"]

NOISES = ("masking", "gaussian", "salt-and-pepper")


# --- The network ---


@dataclass(frozen=True)
class AutoencoderNetwork:
    """Settings of an autoencoder, and its pure functions."""

    sizes: tuple[int, ...]  # columns, ..., code
    activation: str
    code_activation: str
    loss: str
    tied: bool
    noise: str | None
    noise_level: float
    l1: float
    sparsity: float | None
    learning_rate: float
    weight_decay: float
    steps: int  # over which the learning rate falls to 0, or 0
    figures: ClassVar[tuple[str, ...]] = ("loss", "error", "zeros")

    def _optimizer(self) -> Any:
        return optimizer("adam", self.learning_rate, self.steps, decay=self.weight_decay)

    def start(self, drawn: Any, output: Any, noise: Any) -> dict[str, Any]:
        """The tree before the first step. ``output`` are the first biases of the columns,
        ``noise`` the values that replace theirs."""
        decoder = list(first_layers(key(drawn, 1), self.sizes[::-1], self.activation))
        # Small last weights: the first reconstructions are the means of the columns.
        decoder[-1] = (np.float32(0.1) * decoder[-1][0], np.asarray(output, np.float32))
        params = {
            "encoder": first_layers(key(drawn, 0), self.sizes, self.activation),
            "decoder": tuple(bias for _, bias in decoder) if self.tied else tuple(decoder),
        }
        return {
            "params": params,
            "optimizer": zeros_for(self._optimizer(), params),
            "noise": noise,
        }

    def layers(self, params: Any) -> tuple[tuple, tuple]:
        """The layers of the encoder and of the decoder."""
        encoder = params["encoder"]
        if not self.tied:
            return encoder, params["decoder"]
        tied = zip(reversed(encoder), params["decoder"], strict=True)
        return encoder, tuple((weights.T, bias) for (weights, _), bias in tied)

    def encode(self, xp: Any, encoder: Any, rows: Any) -> Any:
        """The codes of rows."""
        codes = forward(xp, encoder, rows, self.activation, self.code_activation)
        if self.sparsity is None:
            return codes
        k = max(1, round((1 - self.sparsity) * self.sizes[-1]))
        threshold: Any
        if xp is np:
            threshold = np.partition(codes, -k, axis=1)[:, -k, None]
        else:
            threshold = jax.lax.top_k(codes, k)[0][:, -1:]
        return xp.where(codes >= threshold, codes, xp.zeros((), codes.dtype))

    def decode(self, xp: Any, decoder: Any, codes: Any) -> Any:
        """Rows from codes."""
        last = "sigmoid" if self.loss == "cross-entropy" else "identity"
        return forward(xp, decoder, codes, self.activation, last)

    def corrupt(self, rows: Any, noise: Any, drawn: Any) -> Any:
        """Rows with noise."""
        if self.noise is None:
            return rows
        if self.noise == "gaussian":
            return rows + noise["level"] * normal(drawn, rows.shape)
        draws = uniform(drawn, rows.shape)
        level = noise["level"]
        if self.noise == "masking":
            return jnp.where(draws < level, noise["zero"], rows)
        extreme = jnp.where(draws < level / 2, noise["low"], noise["high"])
        return jnp.where(draws < level, extreme, rows)

    def errors(self, params: Any, inputs: Any, rows: Any) -> tuple[Any, Any]:
        """The reconstruction error of every row, and its code."""
        encoder, decoder = self.layers(params)
        codes = self.encode(jnp, encoder, inputs)
        scores = forward(jnp, decoder, codes, self.activation)
        if self.loss == "cross-entropy":
            errors = jnp.maximum(scores, 0) - scores * rows + jnp.log1p(jnp.exp(-abs(scores)))
        else:
            errors = (rows - scores) ** 2
        return errors.sum(axis=1), codes

    def objective(self, params: Any, inputs: Any, rows: Any, mask: Any) -> tuple[Any, Any]:
        """The mean loss of a mini-batch, and its figures summed."""
        errors, codes = self.errors(params, inputs, rows)
        count = mask.sum()
        loss = (errors * mask).sum() / count
        penalty = 0.0
        if self.l1:
            _, decoder = self.layers(params)
            lengths = jnp.sqrt((decoder[0][0] ** 2).sum(axis=1) + 1e-12)
            penalty = self.l1 * ((abs(codes) * lengths).sum(axis=1) @ mask) / count
        zeros = ((codes == 0).mean(axis=1) * mask).sum()
        return loss + penalty, jnp.stack([(loss + penalty) * count, loss * count, zeros])

    def step(self, tree: Any, rows: Any, mask: Any, drawn: Any) -> tuple[Any, Any]:
        """One step of Adam."""
        inputs = self.corrupt(rows, tree["noise"], drawn)
        gradients, figures = jax.grad(self.objective, has_aux=True)(
            tree["params"], inputs, rows, mask
        )
        moves, moments = self._optimizer().update(gradients, tree["optimizer"], tree["params"])
        return {
            "params": optax.apply_updates(tree["params"], moves),
            "optimizer": moments,
            "noise": tree["noise"],
        }, figures

    def held_out(self, tree: Any, rows: Any, mask: Any) -> Any:
        """The reconstruction error of rows without noise, summed."""
        return self.errors(tree["params"], rows, rows)[0] @ mask


class Coder(NamedTuple):
    """The encoder or the decoder of a fitted autoencoder: call it with an array.

    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(8, 3))
    >>> model = Autoencoder((2,), max_iter=1, random_state=0).fit(rows)
    >>> model.decoder_(model.encoder_(rows)).shape
    (8, 3)
    """

    apply: Callable[[Any, np.ndarray], np.ndarray]

    def __call__(self, rows: Any) -> np.ndarray:
        return self.apply(np, dense(rows))


# --- The estimator ---


class Autoencoder(EncoderNetwork):
    """Learn codes of rows, and rows from codes: linear, deep, tied, sparse or denoising.

    Rows are an array, a sparse matrix (densified one mini-batch at a time) or a Table, whose
    mini-batches are streamed.

    Parameters
    ----------
    layers : tuple of int
        Units of the encoder's layers; the last is the code. The decoder mirrors them.
    activation : {"relu", "leaky_relu", "tanh", "sigmoid", "identity"}
        Of the layers between. "identity" makes the autoencoder linear.
    code_activation : str or "auto"
        Of the code; "auto" is "relu" with ``l1``, else "identity".
    tied : bool
        Whether the decoder uses the encoder's weights, transposed.
    loss : {"squared", "cross-entropy"}
        The error of a row, summed over columns. "cross-entropy" takes values from 0 to 1.
    noise : {"masking", "gaussian", "salt-and-pepper"} or None
        Added to the rows that are encoded in training, not to those that are to be returned:
        0 in place of a value, normal noise, or the smallest or largest value of its column.
    noise_level : float
        The probability that a value is replaced, or the standard deviation of normal noise.
    l1 : float
        Weight of the penalty on codes, relative to the squared error in units of the columns'
        mean variance.
    sparsity : float or None
        The fraction of every code to be 0: the largest units remain.
    weight_decay : float
        Added to the gradient per unit of weight.
    learning_rate : float
        Of Adam.
    schedule : {"constant", "cosine"}
        Whether the learning rate stays, or falls to 0 by the last pass along a cosine.
    batch_size : int
        Rows in a mini-batch.
    max_iter : int
        Most passes.
    early_stopping : bool
        Hold out some rows, stop when their error does not fall, and keep the best weights.
    validation_fraction : float
        The fraction of rows to hold out; never more than 10,000 rows.
    n_iter_no_change : int
        Passes without a gain of ``tol`` times the first held-out error, after which to stop.
    tol : float
        See ``n_iter_no_change``.
    device : {"cpu", "gpu"}
        Where the network is trained.
    random_state : int, RandomState or None
        Seed. The same seed gives the same bits on the same kind of device.
    callbacks : list or None
        Called after every pass; see ``tacit.core.progress`` and ``tacit.core.checkpoint``.

    Attributes
    ----------
    encoder_, decoder_ : callables from rows to codes and back
    encoder_weights_, encoder_biases_, decoder_weights_, decoder_biases_ : lists of arrays
        The layers; ``decoder_weights_`` is empty where they are tied.
    mean_, scale_ : what rows are shifted and divided by before the encoder
    losses_ : list of float, the mean loss of a row in every pass, penalty included
    errors_ : list of float, the reconstruction error in it
    validation_errors_ : list of float, after every pass; only with ``early_stopping``
    zero_fraction_ : float, the fraction of the code that was 0 in the last pass
    n_iter_ : int
    converged_ : bool, whether early stopping ended the fit

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6))  # of rank 2
    >>> model = Autoencoder((2,), activation="identity", learning_rate=0.02, max_iter=60,
    ...                     batch_size=50, random_state=0).fit(X)
    >>> model.transform(X).shape
    (200, 2)
    >>> error = np.square(X - model.reconstruct(X)).sum() / np.square(X - X.mean(axis=0)).sum()
    >>> bool(error < 0.01)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **EncoderNetwork._parameter_constraints,
        "layers": [tuple, list],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "code_activation": [StrOptions({*ACTIVATIONS, "auto"})],
        "tied": ["boolean"],
        "loss": [StrOptions({"squared", "cross-entropy"})],
        "noise": [StrOptions(set(NOISES)), None],
        "noise_level": [Interval(Real, 0, None, closed="left")],
        "l1": [Interval(Real, 0, None, closed="left")],
        "sparsity": [Interval(Real, 0, 1, closed="neither"), None],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "schedule": [StrOptions({"constant", "cosine"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }
    _file_schema: ClassVar[dict] = {"mean_": ("n_features_in_",)}
    _file_kinds: ClassVar[dict] = {"mean_": "f"}

    def __init__(
        self,
        layers: tuple[int, ...] = (64, 16),
        *,
        activation: str = "relu",
        code_activation: str = "auto",
        tied: bool = False,
        loss: str = "squared",
        noise: str | None = None,
        noise_level: float = 0.3,
        l1: float = 0.0,
        sparsity: float | None = None,
        weight_decay: float = 0.0,
        learning_rate: float = 1e-3,
        schedule: str = "constant",
        batch_size: int = 128,
        max_iter: int = 20,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        tol: float = 1e-4,
        device: str = "cpu",
        random_state: Any = None,
        callbacks: list | None = None,
    ) -> None:
        self.layers, self.activation, self.code_activation = layers, activation, code_activation
        self.tied, self.loss, self.noise, self.noise_level = tied, loss, noise, noise_level
        self.l1, self.sparsity, self.weight_decay = l1, sparsity, weight_decay
        self.learning_rate, self.schedule, self.batch_size = learning_rate, schedule, batch_size
        self.max_iter, self.early_stopping = max_iter, early_stopping
        self.validation_fraction, self.n_iter_no_change = validation_fraction, n_iter_no_change
        self.tol, self.device, self.random_state = tol, device, random_state
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on the rows of an array, a sparse matrix, a Table or a Dask array."""
        self._validate_params()
        check_widths(type(self).__name__, "layers", self.layers)
        self._check_noise()
        table = check_table(self, X, reset=True)
        columns = describe_columns(table, type(self).__name__)
        scaler = self._fit_scaler(columns)
        network, seed = self._network(len(table)), seed_from(self.random_state)
        tree = network.start(
            key(seed), self._first_output(columns), self._noise_values(columns, scaler)
        )
        tree = self._train(
            network, tree, table, scaler, columns, seed,
            held_out=self.validation_fraction if self.early_stopping else 0.0,
            patience=self.n_iter_no_change, tol=self.tol,
        )  # fmt: skip
        self.mean_, self.scale_ = scaler.mean.astype(np.float64), float(scaler.scale)
        self._store(tree)
        finish(self.callbacks)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """(n_rows, code) the codes of rows."""
        check_is_fitted(self)
        codes = self._map_rows(self.encoder_.apply, check_table(self, X, reset=False))
        return check_answer(self, "transform", codes)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """(n_rows, n_features) rows from codes."""
        codes = self._codes(X)
        return self._map_rows(self.decoder_.apply, codes)

    def score_samples(self, X: Any) -> np.ndarray:
        """Minus the squared distance between every row and its reconstruction."""
        check_is_fitted(self)
        encode, decode = self.encoder_.apply, self.decoder_.apply

        def distances(xp: Any, rows: Any) -> Any:
            return -xp.square(rows - decode(xp, encode(xp, rows))).sum(axis=1)

        values = self._map_rows(distances, check_table(self, X, reset=False))
        return check_answer(self, "score_samples", values)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared distance between a row and its reconstruction."""
        return float(self.score_samples(X).mean())

    @property
    def encoder_(self) -> Coder:
        """From rows to codes."""
        network, scaler = self._network(), self._scaler()
        layers = self.encoder_weights_, self.encoder_biases_
        return Coder(
            lambda xp, rows: network.encode(xp, cast(*layers, rows), scaler.transform(rows))
        )

    @property
    def decoder_(self) -> Coder:
        """From codes to rows."""
        network, scaler = self._network(), self._scaler()
        weights = self.decoder_weights_ or [w.T for w in self.encoder_weights_[::-1]]

        def decode(xp: Any, codes: Any) -> Any:
            layers = cast(weights, self.decoder_biases_, codes)
            return scaler.inverse_transform(network.decode(xp, layers, codes))

        return Coder(decode)

    # --- Parts ---

    @property
    def _n_features_out(self) -> int:
        return self.layers[-1]

    def _network(self, rows: int = 0) -> AutoencoderNetwork:
        code = self.code_activation
        if code == "auto":
            code = "relu" if self.l1 > 0 else "identity"
        steps = 0
        if self.schedule == "cosine":
            if self.early_stopping:
                rows -= max(1, round(self.validation_fraction * rows))
            steps = self.max_iter * -(-rows // self.batch_size)
        return AutoencoderNetwork(
            (int(self.n_features_in_), *map(int, self.layers)), self.activation, code,
            self.loss, bool(self.tied), self.noise, float(self.noise_level), float(self.l1),
            None if self.sparsity is None else float(self.sparsity), float(self.learning_rate),
            float(self.weight_decay), steps,
        )  # fmt: skip

    def _check_noise(self) -> None:
        if self.noise in ("masking", "salt-and-pepper") and self.noise_level > 1:
            raise ValueError(
                f"Autoencoder(noise={self.noise!r}, noise_level={self.noise_level}) needs a "
                "probability. Give a level from 0 to 1."
            )

    def _fit_scaler(self, columns: Columns) -> Scaler:
        if self.loss == "squared":
            return Scaler(columns.mean, columns.scale)
        return unit_scaler("Autoencoder(loss='cross-entropy')", columns, "loss='squared'")

    def _first_output(self, columns: Columns) -> np.ndarray:
        """Output biases that give the mean of every column."""
        if self.loss == "squared":
            return np.zeros(len(columns.mean))
        return log_odds(columns.mean, columns.rows)

    def _noise_values(self, columns: Columns, scaler: Scaler) -> dict[str, np.ndarray]:
        level = self.noise_level / (scaler.scale if self.noise == "gaussian" else 1.0)
        values = {"zero": 0 * columns.mean, "low": columns.low, "high": columns.high}
        scaled = {name: (value - scaler.mean) / scaler.scale for name, value in values.items()}
        return {k: np.asarray(v, np.float32) for k, v in {**scaled, "level": level}.items()}

    def _store(self, tree: Any) -> None:
        encoder, decoder = tree["params"]["encoder"], tree["params"]["decoder"]
        self.encoder_weights_ = [weights for weights, _ in encoder]
        self.encoder_biases_ = [bias for _, bias in encoder]
        self.decoder_weights_ = [] if self.tied else [weights for weights, _ in decoder]
        self.decoder_biases_ = list(decoder) if self.tied else [bias for _, bias in decoder]
        unit = self.scale_**2 if self.loss == "squared" else 1.0
        self.losses_ = [unit * loss for loss in self.losses_]
        self.errors_ = (unit * self._log[:, 1]).tolist()
        self.zero_fraction_ = float(self._log[-1, 2])
        self.validation_errors_ = (
            (unit * self._log[:, -1]).tolist() if self.early_stopping else []
        )
        del self._log

    def _after_load(self) -> None:
        check_widths(type(self).__name__, "layers", self.layers)
        self._validate_params()
        sizes = (int(self.n_features_in_), *self.layers)
        check_layers("encoder", self.encoder_weights_, self.encoder_biases_, sizes)
        check_layers("decoder", self.decoder_weights_, self.decoder_biases_, sizes[::-1])
        if len(self.encoder_weights_) != len(self.layers) or bool(self.tied) == bool(
            self.decoder_weights_
        ):
            raise ValueError("the layers do not match the parameters.")
        self._check_scale()

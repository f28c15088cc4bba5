"""The training loop of all networks, as a model of the driver ``sweep``.

A network is a frozen dataclass of settings with pure functions:

    start(key, ...)                 the tree of arrays that training changes: weights, the
                                    optimizer's moments, chains
    step(tree, rows, mask, key)     the tree after one mini-batch, and figures summed over its
                                    rows; the first is the loss. The mask is 0 for padding
    held_out(tree, rows, mask)      the loss of rows that no step sees, summed

``Training`` streams mini-batches from a Table, in an order drawn from (seed, pass), and runs a
few of them per call of a compiled loop. During a pass the tree is on the device; between passes
it is the state of the sweep, plain arrays: callbacks, checkpoints, Ctrl-C and early stopping
are those of every other sequential model. Random numbers depend on (seed, pass, mini-batch),
so the same seed gives the same bits on the same kind of device, and a resumed fit those of one
that was never interrupted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.checkpoint import begin
from tacit.core.engines import Serial, Threads
from tacit.core.estimator import Estimator
from tacit.core.memory import check_memory
from tacit.core.randoms import key, permutation
from tacit.core.stats import Stats, tree_sum
from tacit.core.sweep import Sequential, Visited, no_gain_for, sweep
from tacit.data.bad_values import check_values
from tacit.data.shuffled_rows import shuffled_chunks
from tacit.data.table import Table, parts
from tacit.neural.layers import device_of, fold, jax, jnp, key_words, optax, to_numpy

__all__ = [
    "Columns", "EncoderNetwork", "NeuralNetwork", "Scaler", "Trained", "Training",
    "check_number", "dense", "describe_columns", "log_odds", "optimizer", "padded_batch",
    "unit_scaler", "zeros_for",
]  # fmt: skip

WORK = {"cpu": 4e9, "gpu": 1e12}  # operations of one compiled call: some 100 ms, for Ctrl-C
VALUES = {"cpu": 2**20, "gpu": 2**24}  # of the rows of one call, at most
HELD_OUT = 10_000  # most rows to hold out


# --- The columns ---


@dataclass(frozen=True)
class Columns(Stats):
    """Mean, spread and range of every column."""

    rows: int
    mean: np.ndarray
    deviations: np.ndarray  # sums of squares about the mean
    low: np.ndarray
    high: np.ndarray

    def __add__(self, other: "Columns") -> "Columns":
        rows = self.rows + other.rows
        gap = other.mean - self.mean
        return Columns(
            rows,
            self.mean + gap * (other.rows / rows),
            self.deviations + other.deviations + gap**2 * (self.rows * other.rows / rows),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def scale(self) -> float:
        """The root mean variance of the columns; 1 where all are constant."""
        return float(np.sqrt(self.deviations.mean() / self.rows)) or 1.0


def collect_columns(_: None, block: Any) -> Columns:
    rows = parts(block).rows
    n = rows.shape[0]
    if sp.issparse(rows):
        mean = np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel() / n
        squares = np.asarray(rows.multiply(rows).sum(axis=0, dtype=np.float64)).ravel()
        low, high = rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
        return Columns(n, mean, np.maximum(squares - n * mean**2, 0.0), low, high)
    mean = rows.mean(axis=0, dtype=np.float64)
    deviations = np.square(rows - mean).sum(axis=0)
    return Columns(n, mean, deviations, rows.min(axis=0), rows.max(axis=0))


def check_number(n_samples: int, width: int, name: str) -> None:
    """ValueError for a number of rows that cannot be drawn, or not held in memory."""
    if n_samples < 1:
        raise ValueError(f"{name}.sample(n_samples={n_samples}) must be at least 1.")
    what = f"{name}.sample(n_samples={n_samples})"
    check_memory(4 * 8 * n_samples * width, what, "Draw fewer at a time.")


def describe_columns(table: Table, name: str) -> Columns:
    """The columns of a table, in one pass; an error with its place for a bad value."""
    if not len(table):
        raise ValueError(f"{name} needs at least one row, but the data has none.")
    stats = []
    with np.errstate(all="ignore"):  # values that are not finite are reported below
        for block, part in zip(table, Threads().map(collect_columns, None, table), strict=True):
            if not np.isfinite(part.deviations).all():
                check_values(parts(block.load()).rows, name, block.start, table.source)
            stats.append(part)
    columns = tree_sum(stats)
    largest = float(np.maximum(np.abs(columns.low), np.abs(columns.high)).max(initial=0.0))
    if largest > 1e30:
        raise ValueError(
            f"{name}: the data holds values as large as {largest:.3g}, too large to train on "
            "in float32. Rescale it, for example divide by that number."
        )
    return columns


def unit_scaler(who: str, columns: Columns, instead: str) -> "Scaler":
    """No scaling; ValueError unless all values are from 0 to 1."""
    bad = np.flatnonzero((columns.low < 0) | (columns.high > 1))
    if len(bad):
        j = int(bad[0])
        raise ValueError(
            f"{who} takes values from 0 to 1, but column {j} has values from "
            f"{columns.low[j]:.4g} to {columns.high[j]:.4g}. Scale the columns, or use "
            f"{instead}."
        )
    return Scaler(np.zeros(len(columns.mean)), 1.0)


def log_odds(mean: np.ndarray, rows: int) -> np.ndarray:
    """The biases of sigmoid units of these means, away from 0 and 1 by half a row."""
    margin = 0.5 / (rows + 1)
    mean = np.clip(mean, margin, 1 - margin)
    return np.log(mean) - np.log1p(-mean)


class Scaler(NamedTuple):
    """The input of a network: (x - mean) / scale."""

    mean: np.ndarray
    scale: Any  # a number, or one for each column

    def transform(self, rows: Any) -> np.ndarray:
        """Scaled rows, dense."""
        rows = dense(rows)
        mean = self.mean.astype(rows.dtype, copy=False)
        return (rows - mean) / np.asarray(self.scale, rows.dtype)

    def inverse_transform(self, rows: np.ndarray) -> np.ndarray:
        """Output of the network in the units of the data."""
        scale = np.asarray(self.scale, rows.dtype)
        return rows * scale + self.mean.astype(rows.dtype, copy=False)


def dense(rows: Any) -> np.ndarray:
    """Rows of a block as a dense array."""
    rows = parts(rows).rows
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


# --- The loop ---


class Trained(NamedTuple):
    """The state of a sweep, in the host's memory; training changes it in place."""

    floats: np.ndarray  # float32: weights, moments of the optimizer, chains
    integers: np.ndarray  # int32: counters of the optimizer
    log: np.ndarray  # (max_iter, figures) means per row of every pass; last the held-out loss
    best: np.ndarray  # the floats of the lowest held-out loss, or empty


class Training(Sequential):
    """Passes over shuffled mini-batches."""

    def __init__(
        self, network: Any, tree: Any, table: Table, scaler: Scaler, *, batch_size: int,
        seed: Any, device: Any, used: np.ndarray | None, name: str,
    ) -> None:  # fmt: skip
        self.network, self.table, self.scaler, self.name = network, table, scaler, name
        self.seed, self.device, self.used = seed, device, used
        self.rows = len(table) if used is None else int(used.sum())
        self.batch_size = padded_batch(batch_size, self.rows)
        leaves, self.form = jax.tree_util.tree_flatten(tree)
        self.shapes = [(leaf.shape, np.dtype(leaf.dtype)) for leaf in leaves]
        self.batches = self._batches_per_call(sum(leaf.size for leaf in leaves))
        self.tree: Any = None
        self.figures: list[Any] = []

    def _batches_per_call(self, weights: int) -> int:
        """Mini-batches of one compiled call. They depend on shapes alone. Where one call does
        the whole pass, a power of two: data of almost the same size is not compiled again."""
        most = max(1, -(-self.rows // self.batch_size))
        width = max(1, self.table.shape[1])
        kind = "cpu" if self.device.platform == "cpu" else "gpu"
        fit = min(
            int(WORK[kind]) // max(1, 6 * weights * self.batch_size),
            VALUES[kind] // (width * self.batch_size),
        )
        calls = -(-most // max(1, min(most, fit)))
        if calls > 1:
            return -(-most // calls)
        return max(4, 1 << (most - 1).bit_length())

    def begin_pass(self, state: Trained, number: int) -> None:
        """Move the state to the device."""
        self.tree = jax.device_put(self.unpack(state.floats, state.integers), self.device)
        self.figures = []

    def rounds(self, number: int) -> Iterable[Sequence[Any]]:
        """The mini-batches of one compiled call after another."""
        size = self.batches * self.batch_size
        chunks = shuffled_chunks(self.table, size, self.seed, number, used=self.used)
        for i, rows in enumerate(chunks):
            yield [(i, rows)]

    def visit(self, state: Trained, part: tuple[int, Any], number: int) -> Visited:
        """Train on some mini-batches. The device may still be at work when this returns."""
        i, rows = part
        batches = to_batches(self.scaler.transform(rows), self.batches, self.batch_size)
        drawn = key_words(key(self.seed, number, i, 1))
        with jax.default_device(self.device):
            self.tree, figures = run_batches(self.network, self.tree, *batches, drawn)
        if self.figures:  # one call may wait while another runs, no more
            self.figures[-1].block_until_ready()
        self.figures.append(figures)
        return Visited(float(rows.shape[0]), figures[0])

    def end_pass(self, state: Trained, number: int) -> None:
        """Write the tree and the figures of the pass back into the state."""
        state.floats[:], state.integers[:] = flatten(self.tree)
        figures = np.sum([np.asarray(sums, np.float64) for sums in self.figures], axis=0)
        state.log[number, : len(figures)] = figures / self.rows
        if not np.isfinite(figures).all() or not np.isfinite(state.floats).all():
            raise ValueError(
                f"{self.name}: the loss is {figures[0]} after pass {number + 1}; the weights "
                "overflowed. Lower learning_rate, or scale the columns of X down."
            )

    def unpack(self, floats: np.ndarray, integers: np.ndarray) -> Any:
        """The tree that a state holds."""
        leaves = []
        for shape, dtype in self.shapes:
            size = int(np.prod(shape, dtype=np.int64))
            if dtype.kind == "f":
                values, floats = floats[:size], floats[size:]
            else:
                values, integers = integers[:size], integers[size:]
            leaves.append(values.reshape(shape).astype(dtype))
        return jax.tree_util.tree_unflatten(self.form, leaves)

    def state_of(self, tree: Any, passes: int, figures: int, *, keeps_best: bool) -> Trained:
        """The state that a fit starts from."""
        floats, integers = flatten(tree)
        best = np.zeros(len(floats) if keeps_best else 0, np.float32)
        return Trained(floats, integers, np.full((passes, figures + 1), np.nan), best)


def flatten(tree: Any) -> tuple[np.ndarray, np.ndarray]:
    """The float leaves of a tree and its integer leaves, as one array each."""
    leaves = [np.ravel(leaf) for leaf in jax.tree_util.tree_leaves(tree)]
    floats = [leaf for leaf in leaves if leaf.dtype.kind == "f"]
    integers = [leaf for leaf in leaves if leaf.dtype.kind != "f"]
    none = np.zeros(0, np.int32)
    return (
        np.concatenate([none, *floats], dtype=np.float32),
        np.concatenate([none, *integers], dtype=np.int32),
    )


def to_batches(rows: np.ndarray, batches: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in mini-batches, the last padded with zeros, and how many rows each has."""
    padded = np.zeros((batches * size, rows.shape[1]), np.float32)
    padded[: len(rows)] = rows
    counts = np.clip(len(rows) - size * np.arange(batches), 0, size).astype(np.float32)
    return padded.reshape(batches, size, -1), counts


def padded_batch(batch_size: int, rows: int) -> int:
    """Places of a mini-batch: of few rows not many more than there are.

    >>> padded_batch(32, 1000), padded_batch(500, 20)
    (32, 64)
    """
    return min(batch_size, max(64, 1 << (rows - 1).bit_length()))


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def run_batches(network: Any, tree: Any, rows: Any, counts: Any, drawn: Any) -> Any:
    """Steps on mini-batches, one after another; a batch without rows changes nothing."""

    def run(tree: Any, item: Any) -> Any:
        batch, count, i = item
        mask = (jnp.arange(batch.shape[0]) < count).astype(batch.dtype)
        return jax.lax.cond(
            count > 0,
            lambda tree: network.step(tree, batch, mask, fold(drawn, i)),
            lambda tree: (tree, jnp.zeros(len(network.figures), batch.dtype)),
            tree,
        )

    tree, figures = jax.lax.scan(run, tree, (rows, counts, jnp.arange(rows.shape[0])))
    return tree, figures.sum(axis=0)


@partial(jax.jit, static_argnums=0)
def held_out_loss(network: Any, tree: Any, rows: Any, counts: Any) -> Any:
    def run(total: Any, item: Any) -> Any:
        batch, count = item
        mask = (jnp.arange(batch.shape[0]) < count).astype(batch.dtype)
        return total + network.held_out(tree, batch, mask), None

    return jax.lax.scan(run, jnp.zeros(()), (rows, counts))[0]


def optimizer(
    kind: str, learning_rate: float, steps: int, *, decay: float = 0.0, **options: Any
) -> Any:
    """An optimizer of optax. ``steps`` above 0 lets the learning rate fall to 0 along a
    cosine; ``decay`` shrinks weights, not biases."""
    rate: Any = optax.cosine_decay_schedule(learning_rate, steps) if steps else learning_rate
    chosen = optax.sgd(rate, **options) if kind == "sgd" else optax.adam(rate, **options)
    if not decay:
        return chosen

    def weights(tree: Any) -> Any:
        return jax.tree_util.tree_map(lambda leaf: leaf.ndim == 2, tree)

    return optax.chain(optax.add_decayed_weights(decay, mask=weights), chosen)


def zeros_for(chosen: Any, params: Any) -> Any:
    """The state of an optimizer before its first step: optax's are all 0."""
    shapes = jax.eval_shape(chosen.init, params)
    return jax.tree_util.tree_map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)


# --- The estimators ---


class NeuralNetwork(Estimator):
    """Base class of the networks: everything but the network itself."""

    contract: ClassVar[str] = "sequential"
    _parameter_constraints: ClassVar[dict] = {
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "device": [StrOptions({"cpu", "gpu"})],
    }

    batch_size: int
    max_iter: int
    device: str
    random_state: Any
    callbacks: list | None
    mean_: np.ndarray
    scale_: Any

    def _train(
        self, network: Any, tree: Any, table: Table, scaler: Scaler, columns: Columns,
        seed: np.uint64, *, held_out: float = 0.0, patience: int = 0, tol: float = 0.0,
    ) -> Any:  # fmt: skip
        """Train, and return the tree. ``held_out`` is the fraction of the rows to hold out;
        the fit stops after ``patience`` passes without gain on them, and returns the best."""
        name = type(self).__name__
        device = device_of(self.device, name)
        used, checks = self._hold_out(table, scaler, held_out, seed)
        training = Training(
            network, tree, table, scaler, batch_size=self.batch_size, seed=seed, device=device,
            used=used, name=name,
        )  # fmt: skip
        state = training.state_of(
            tree, self.max_iter, len(network.figures), keeps_best=used is not None
        )

        def stop(state: Trained, losses: list[float]) -> bool:
            if used is None:
                return False
            done = len(losses)
            tree = jax.device_put(training.unpack(state.floats, state.integers), device)
            with jax.default_device(device):
                loss = float(held_out_loss(network, tree, *checks)) / int((~used).sum())
            earlier = state.log[: done - 1, -1]
            if done == 1 or loss < earlier.min():
                state.best[:] = state.floats
            state.log[done - 1, -1] = loss
            return no_gain_for([*earlier.tolist(), loss], patience, tol)

        settings = {k: v for k, v in self.get_params().items() if k != "callbacks"}
        data = blake2b(columns.mean.tobytes() + columns.deviations.tobytes(), digest_size=8)
        number = int.from_bytes(data.digest(), "little")
        with self._fit_callbacks() as callbacks:
            begin(callbacks, f"{name} {settings} {table.shape} {key(0, number)}")
            swept = sweep(
                training, state, Serial(), max_iter=self.max_iter, stop=stop,
                callbacks=callbacks, name=name,
            )  # fmt: skip
        state = swept.state
        self.n_iter_ = len(swept.losses)
        self.losses_ = list(swept.losses)
        self.converged_ = swept.converged
        self._log = state.log[: self.n_iter_]
        floats = state.best if len(state.best) else state.floats
        return to_numpy(training.unpack(floats, state.integers))

    def _hold_out(self, table: Table, scaler: Scaler, fraction: float, seed: Any) -> Any:
        """A mask of the rows to train on, and the others in mini-batches; or nothing."""
        if not fraction:
            return None, None
        n = len(table)
        size = min(max(1, round(fraction * n)), HELD_OUT)
        if size >= n:
            raise ValueError(
                f"{type(self).__name__}(validation_fraction={fraction}) leaves no row of "
                f"{n} to train on. Lower it, or use early_stopping=False."
            )
        places = np.sort(permutation(key(seed, 2**40), n)[:size])
        used = np.ones(n, bool)
        used[places] = False
        batch = min(size, 1000)
        rows = scaler.transform(table.take(places))
        return used, to_batches(rows, -(-size // batch), batch)

    def _map_rows(self, function: Any, table: Table) -> np.ndarray:
        """``function(xp, rows)`` of every block of dense rows, in order: in NumPy and in the
        precision of the rows, or on the GPU in float32."""
        pieces: list[Any] = []
        for block, piece in zip(table, self._pieces(function, table), strict=True):
            if piece is None:
                rows = parts(block.load()).rows
                check_values(rows, type(self).__name__, block.start, table.source)
            pieces.append(piece)
        return np.concatenate(pieces)

    def _pieces(self, function: Any, table: Table) -> Iterable[np.ndarray | None]:
        if self.device == "cpu":
            yield from Threads().map(apply_to_rows, (function, np), table)
            return
        with jax.default_device(device_of(self.device, type(self).__name__)):
            for piece in Serial().map(apply_to_rows, (function, jnp), table):
                yield None if piece is None else np.asarray(piece, table.dtype)

    def _scaler(self) -> Scaler:
        """The scaler of a fitted network."""
        return Scaler(self.mean_, self.scale_)

    def _check_scale(self) -> None:
        """ValueError unless a loaded ``scale_`` is one number above 0."""
        if not isinstance(self.scale_, float) or not 0 < self.scale_ < np.inf:
            raise ValueError(f"scale_ must be a number above 0, not {self.scale_!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class EncoderNetwork(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeuralNetwork):
    """Base class of the networks that encode rows, and decode what they encoded."""

    def reconstruct(self, X: Any) -> np.ndarray:
        """(n_rows, n_features) rows as they come back from their codes."""
        return self.inverse_transform(self.transform(X))

    def _codes(self, X: Any) -> Table:
        """What ``transform`` returned, checked."""
        check_is_fitted(self)
        codes = np.asarray(X)
        try:
            codes = codes if codes.dtype == np.float32 else codes.astype(np.float64)
        except OverflowError:
            raise ValueError(
                f"{type(self).__name__}.inverse_transform: X holds a whole number too large "
                "for a float, past 1e308. Give what transform returned."
            ) from None
        if codes.ndim != 2 or codes.shape[1] != self._n_features_out:
            raise ValueError(
                f"{type(self).__name__}.inverse_transform takes codes of "
                f"{self._n_features_out} columns, but got an array of shape {codes.shape}. "
                "Give what transform returned."
            )
        return Table.from_array(codes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def apply_to_rows(call: tuple[Any, Any], block: Any) -> Any:
    """None where a value is not finite: the caller knows where the block is."""
    function, xp = call
    rows = dense(block)
    return function(xp, rows) if np.isfinite(rows).all() else None

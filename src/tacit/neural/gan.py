"""Generative adversarial networks: a generator of rows and a discriminator that judges them.

    z  ~ N(0, I),  x = G(z)                               the generator
    "non-saturating"   D:  - log s(D(x)) - log s(- D(G(z)))         s the logistic function
                       G:  - log s(D(G(z)))
    "wasserstein"      D:  D(G(z)) - D(x) + penalty (|dD/dx| - 1)^2   at points between both
                       G:  - D(G(z))                      once in ``n_critic`` steps of D

Neither loss has to fall: they are those of a game. ``losses_`` are the discriminator's,
``generator_losses_`` the generator's; in the Wasserstein game minus the discriminator's loss
estimates the distance of the two distributions. Samples come from a moving average of the
generator's weights, which is steadier than its last ones. ``diagnose`` looks for collapse.

The notes' section 8.4.3. Goodfellow et al. (2014), Generative adversarial nets. NeurIPS.
Arjovsky, Chintala and Bottou (2017), Wasserstein GAN. ICML. Gulrajani, Ahmed, Arjovsky,
Dumoulin and Courville (2017), Improved training of Wasserstein GANs. NeurIPS. Yazıcı et al.
(2019), The unusual effectiveness of averaging in GAN training. ICLR.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.checkpoint import finish
from tacit.core.estimator import with_callbacks
from tacit.core.randoms import key, normals, seed_from
from tacit.data.bad_values import check_values
from tacit.data.checked import check_table
from tacit.data.table import Table
from tacit.neural.diagnosis import Diagnosis, diagnose
from tacit.neural.layers import (
    ACTIVATIONS,
    cast,
    check_layers,
    check_widths,
    first_layers,
    fold,
    forward,
    jax,
    jnp,
    normal,
    optax,
    uniform,
)
from tacit.neural.training import (
    Columns,
    NeuralNetwork,
    Scaler,
    check_number,
    describe_columns,
    optimizer,
    unit_scaler,
    zeros_for,
)

__all__ = ["GAN", "GANNetwork"]


# --- The network ---


@dataclass(frozen=True)
class GANNetwork:
    """Settings of an adversarial network, and its pure functions."""

    latent: int
    generator: tuple[int, ...]  # hidden layers
    discriminator: tuple[int, ...]
    columns: int
    activation: str
    output: str
    loss: str
    n_critic: int
    penalty: float
    learning_rate: float
    beta_1: float
    beta_2: float
    averaging: float
    figures: ClassVar[tuple[str, ...]] = ("discriminator", "generator", "generator steps")

    def _optimizer(self) -> Any:
        return optimizer("adam", self.learning_rate, 0, b1=self.beta_1, b2=self.beta_2)

    @property
    def generator_sizes(self) -> tuple[int, ...]:
        """Units of the generator, from the latent ones to the columns."""
        return (self.latent, *self.generator, self.columns)

    @property
    def discriminator_sizes(self) -> tuple[int, ...]:
        """Units of the discriminator, from the columns to the score."""
        return (self.columns, *self.discriminator, 1)

    def start(self, drawn: Any) -> dict[str, Any]:
        """The tree before the first step."""
        generator = first_layers(key(drawn, 0), self.generator_sizes, self.activation)
        discriminator = first_layers(key(drawn, 1), self.discriminator_sizes, self.activation)
        return {
            "generator": generator,
            "discriminator": discriminator,
            "average": jax.tree_util.tree_map(np.copy, generator),
            "moments": tuple(
                zeros_for(self._optimizer(), net) for net in (generator, discriminator)
            ),
            "steps": np.zeros(2, np.int32),  # of the discriminator, of the generator
        }

    def generate(self, xp: Any, generator: Any, latent: Any) -> Any:
        """Rows from points of the latent space."""
        return forward(xp, generator, latent, self.activation, self.output)

    def scores(self, xp: Any, discriminator: Any, rows: Any) -> Any:
        """D of every row: larger for rows that look real."""
        return forward(xp, discriminator, rows, self.activation)[:, 0]

    def discriminator_loss(
        self, discriminator: Any, rows: Any, fakes: Any, mask: Any, between: Any
    ) -> Any:
        """The loss of the discriminator on real rows and fakes. ``between`` are numbers from
        0 to 1, one per row: where between a real row and a fake the gradient is penalized."""
        real, fake = (self.scores(jnp, discriminator, batch) for batch in (rows, fakes))
        weights = mask / mask.sum()
        if self.loss == "non-saturating":
            return jax.nn.softplus(-real) @ weights + jax.nn.softplus(fake).mean()
        points = rows + between[:, None] * (fakes - rows)

        def total(points: Any) -> Any:  # rows do not depend on each other
            return self.scores(jnp, discriminator, points).sum()

        gradients = jax.grad(total)(points)
        lengths = jnp.sqrt((gradients**2).sum(axis=1) + 1e-12)
        return fake.mean() - real @ weights + self.penalty * ((lengths - 1) ** 2 @ weights)

    def generator_loss(self, generator: Any, discriminator: Any, latent: Any) -> Any:
        """The loss of the generator."""
        scores = self.scores(jnp, discriminator, self.generate(jnp, generator, latent))
        if self.loss == "non-saturating":
            return jax.nn.softplus(-scores).mean()
        return -scores.mean()

    def step(self, tree: Any, rows: Any, mask: Any, drawn: Any) -> tuple[Any, Any]:
        """One step of the discriminator, and one of the generator when it is its turn."""
        shape = (rows.shape[0], self.latent)
        generator, discriminator = tree["generator"], tree["discriminator"]
        fakes = self.generate(jnp, generator, normal(fold(drawn, 0), shape))
        between = uniform(fold(drawn, 2), (rows.shape[0],))
        loss, gradient = jax.value_and_grad(self.discriminator_loss)(
            discriminator, rows, fakes, mask, between
        )
        moves, discriminator_moments = self._optimizer().update(gradient, tree["moments"][1])
        discriminator = optax.apply_updates(discriminator, moves)
        latent = normal(fold(drawn, 1), shape)

        def improve(state: Any) -> Any:
            generator, moments, average = state
            loss, gradient = jax.value_and_grad(self.generator_loss)(
                generator, discriminator, latent
            )
            moves, moments = self._optimizer().update(gradient, moments)
            generator = optax.apply_updates(generator, moves)
            steps = tree["steps"][1].astype(rows.dtype)
            rate = 1 - jnp.minimum(self.averaging, (1 + steps) / (10 + steps))
            average = optax.incremental_update(generator, average, rate)
            return (generator, moments, average), loss

        state = generator, tree["moments"][0], tree["average"]
        turn = (tree["steps"][0] + 1) % self.n_critic == 0
        if self.n_critic == 1:
            state, generator_loss = improve(state)
        else:
            state, generator_loss = jax.lax.cond(
                turn, improve, lambda state: (state, jnp.zeros((), rows.dtype)), state
            )
        generator, generator_moments, average = state
        count = mask.sum()
        steps = turn.astype(rows.dtype)
        return {
            "generator": generator,
            "discriminator": discriminator,
            "average": average,
            "moments": (generator_moments, discriminator_moments),
            "steps": tree["steps"] + jnp.stack([jnp.int32(1), turn.astype(jnp.int32)]),
        }, jnp.stack([loss * count, generator_loss * steps * count, steps * count])


# --- The estimator ---


class GAN(NeuralNetwork):
    """Learn to draw rows like those of the data: a generative adversarial network.

    Parameters
    ----------
    n_latent : int
        Columns of the normal noise that the generator turns into rows.
    generator, discriminator : tuple of int
        Units of their hidden layers.
    activation : {"relu", "leaky_relu", "tanh", "sigmoid", "identity"}
        Of the hidden layers.
    output : {"identity", "sigmoid"}
        Of the generator: any numbers, or values from 0 to 1.
    loss : {"wasserstein", "non-saturating"}
        The game. "wasserstein" with its gradient penalty is the more stable one.
    n_critic : int
        Steps of the discriminator for one of the generator; 1 is usual for "non-saturating".
    gradient_penalty : float
        Weight of the penalty of "wasserstein".
    learning_rate, beta_1, beta_2 : float
        Of Adam.
    averaging : float
        Decay of the moving average of the generator's weights; 0 uses the last weights.
    batch_size, max_iter : int
        Rows in a mini-batch; passes.
    device, random_state, callbacks : as for ``Autoencoder``

    Attributes
    ----------
    generator_weights_, generator_biases_ : lists of arrays, the averaged generator
    discriminator_weights_, discriminator_biases_ : lists of arrays
    losses_, generator_losses_ : list of float, the mean losses of both in every pass
    mean_, scale_ : what generated rows are shifted and multiplied by
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(5.0, 1.0, size=(256, 1))
    >>> model = GAN(2, generator=(16,), discriminator=(16,), learning_rate=2e-3, batch_size=64,
    ...             max_iter=50, random_state=0).fit(X)
    >>> rows = model.sample(500, random_state=0)
    >>> rows.shape, bool(abs(rows.mean() - 5) < 1)
    ((500, 1), True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **NeuralNetwork._parameter_constraints,
        "n_latent": [Interval(Integral, 1, None, closed="left")],
        "generator": [tuple, list],
        "discriminator": [tuple, list],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "output": [StrOptions({"identity", "sigmoid"})],
        "loss": [StrOptions({"wasserstein", "non-saturating"})],
        "n_critic": [Interval(Integral, 1, None, closed="left")],
        "gradient_penalty": [Interval(Real, 0, None, closed="left")],
        "beta_1": [Interval(Real, 0, 1, closed="left")],
        "beta_2": [Interval(Real, 0, 1, closed="left")],
        "averaging": [Interval(Real, 0, 1, closed="left")],
    }
    _file_schema: ClassVar[dict] = {"mean_": ("n_features_in_",)}
    _file_kinds: ClassVar[dict] = {"mean_": "f"}

    def __init__(
        self,
        n_latent: int = 32,
        *,
        generator: tuple[int, ...] = (128, 128),
        discriminator: tuple[int, ...] = (128, 128),
        activation: str = "leaky_relu",
        output: str = "identity",
        loss: str = "wasserstein",
        n_critic: int = 3,
        gradient_penalty: float = 10.0,
        learning_rate: float = 5e-4,
        beta_1: float = 0.5,
        beta_2: float = 0.9,
        averaging: float = 0.995,
        batch_size: int = 128,
        max_iter: int = 100,
        device: str = "cpu",
        random_state: Any = None,
        callbacks: list | None = None,
    ) -> None:
        self.n_latent, self.generator, self.discriminator = n_latent, generator, discriminator
        self.activation, self.output, self.loss = activation, output, loss
        self.n_critic, self.gradient_penalty = n_critic, gradient_penalty
        self.learning_rate, self.beta_1, self.beta_2 = learning_rate, beta_1, beta_2
        self.averaging, self.batch_size, self.max_iter = averaging, batch_size, max_iter
        self.device, self.random_state, self.callbacks = device, random_state, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on the rows of an array, a sparse matrix, a Table or a Dask array."""
        self._validate_params()
        self._check_widths()
        table = check_table(self, X, reset=True)
        columns = describe_columns(table, type(self).__name__)
        scaler, seed = self._fit_scaler(columns), seed_from(self.random_state)
        network = self._network()
        tree = self._train(network, network.start(key(seed)), table, scaler, columns, seed)
        self.generator_weights_, self.generator_biases_ = unzip(tree["average"])
        self.discriminator_weights_, self.discriminator_biases_ = unzip(tree["discriminator"])
        turns = self._log[:, 2]
        self.generator_losses_ = np.divide(
            self._log[:, 1], turns, out=np.zeros_like(turns), where=turns > 0
        ).tolist()
        del self._log
        self.mean_, self.scale_ = scaler.mean.astype(np.float64), float(scaler.scale)
        finish(self.callbacks)
        return self

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """(n_samples, n_features) draw rows."""
        check_is_fitted(self)
        check_number(n_samples, max(self.n_latent, len(self.mean_)), "GAN")
        latent = normals(key(seed_from(random_state)), (n_samples, self.n_latent))
        return self.generate(latent)

    def generate(self, latent: Any) -> np.ndarray:
        """(n_rows, n_features) the rows that points of the latent space become."""
        check_is_fitted(self)
        latent = np.asarray(latent, np.float64)
        if latent.ndim != 2 or latent.shape[1] != self.n_latent:
            raise ValueError(
                f"GAN.generate takes points of {self.n_latent} columns, but got an array of "
                f"shape {latent.shape}. Draw them from a normal distribution."
            )
        check_values(latent, "GAN.generate")
        network, scaler = self._network(), self._scaler()

        def generate(xp: Any, points: Any) -> Any:
            layers = cast(self.generator_weights_, self.generator_biases_, points)
            return scaler.inverse_transform(network.generate(xp, layers, points))

        return self._map_rows(generate, Table.from_array(latent))

    def interpolate(
        self, n_steps: int = 10, *, start: Any = None, end: Any = None, random_state: Any = None
    ) -> np.ndarray:
        """(n_steps, n_features) rows on the way between two points of the latent space.

        The way is the arc between both, on which points are as long as normal noise. By
        default the points are drawn.
        """
        check_is_fitted(self)
        drawn = normals(key(seed_from(random_state)), (2, self.n_latent))
        ends = np.stack(
            [
                drawn[i] if point is None else np.asarray(point, np.float64)
                for i, point in enumerate((start, end))
            ]
        )
        lengths = np.linalg.norm(ends, axis=1)
        lengths[lengths == 0] = 1.0
        angle = np.arccos(np.clip(ends[0] @ ends[1] / lengths.prod(), -1.0, 1.0))
        at = np.linspace(0.0, 1.0, n_steps)[:, None]
        if np.sin(angle) < 1e-6:
            return self.generate((1 - at) * ends[0] + at * ends[1])
        weights = np.sin((1 - at) * angle), np.sin(at * angle)
        return self.generate((weights[0] * ends[0] + weights[1] * ends[1]) / np.sin(angle))

    def decision_function(self, X: Any) -> np.ndarray:
        """The discriminator's score of every row: larger for rows that look real."""
        check_is_fitted(self)
        network, scaler = self._network(), self._scaler()

        def scores(xp: Any, rows: Any) -> Any:
            layers = cast(self.discriminator_weights_, self.discriminator_biases_, rows)
            return network.scores(xp, layers, scaler.transform(rows))

        return self._map_rows(scores, check_table(self, X, reset=False))

    def diagnose(self, X: Any, *, random_state: Any = None, **options: Any) -> Diagnosis:
        """Compare as many samples with the rows X: see ``tacit.neural.diagnose``. X should be
        rows that the fit has not seen."""
        check_is_fitted(self)
        rows = check_table(self, X, reset=False).load()
        seed = seed_from(random_state)
        samples = self.sample(rows.shape[0], random_state=int(key(seed, 0)))
        return diagnose(rows, samples, random_state=int(key(seed, 1)) % 2**31, **options)

    # --- Parts ---

    def _check_widths(self) -> None:
        for name in ("generator", "discriminator"):
            check_widths(type(self).__name__, name, getattr(self, name), empty=True)

    def _network(self) -> GANNetwork:
        return GANNetwork(
            int(self.n_latent), tuple(map(int, self.generator)),
            tuple(map(int, self.discriminator)), int(self.n_features_in_), self.activation,
            self.output, self.loss, int(self.n_critic), float(self.gradient_penalty),
            float(self.learning_rate), float(self.beta_1), float(self.beta_2),
            float(self.averaging),
        )  # fmt: skip

    def _fit_scaler(self, columns: Columns) -> Scaler:
        if self.output == "identity":
            return Scaler(columns.mean, columns.scale)
        return unit_scaler("GAN(output='sigmoid')", columns, "output='identity'")

    def _after_load(self) -> None:
        self._check_widths()
        self._validate_params()
        network = self._network()
        for name, sizes in (
            ("generator", network.generator_sizes),
            ("discriminator", network.discriminator_sizes),
        ):
            weights = getattr(self, f"{name}_weights_")
            biases = getattr(self, f"{name}_biases_")
            check_layers(name, weights, biases, sizes)
            if len(weights) != len(sizes) - 1:
                raise ValueError(f"the {name} lacks weights.")
        self._check_scale()


def unzip(layers: Any) -> tuple[list, list]:
    """The weights and the biases of layers."""
    return [weights for weights, _ in layers], [bias for _, bias in layers]

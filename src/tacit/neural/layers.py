"""What networks are built of: JAX and its devices, random numbers, dense layers.

JAX and optax are an extra; without them one line says how to install it.

Random numbers inside compiled steps are a hash of (key, position), like ``core.randoms``. A key
is two words of 32 bits; a number is a mix of its position with both, so there is no state, and
a step gets the same numbers however it is compiled. On a CPU the numbers take about a quarter
of the time of JAX's own generator, and a step of contrastive divergence compiles in about half.
The constants of the mixing function are those of Wellons' search.

A network is a sequence of layers, each a pair of weights (inputs x outputs) and biases. The
forward pass is written once for NumPy and JAX (``xp``): fits run in JAX in float32, a fitted
model encodes in NumPy in the precision of its rows.

Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators. OOPSLA.
Wellons (2018), Prospecting for hash functions. Glorot and Bengio (2010), Understanding the
difficulty of training deep feedforward neural networks. AISTATS. He, Zhang, Ren and Sun (2015),
Delving deep into rectifiers. ICCV.
"""

from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np

from tacit.core.randoms import key, normals

try:
    import jax
    import jax.numpy as jnp
    import optax
except ImportError as error:
    raise ImportError(
        f"tacit.neural needs the packages jax and optax ({error}). Install them with: "
        "pip install 'tacit-learn[neural]'"
    ) from None

__all__ = [
    "ACTIVATIONS", "activate", "cast", "check_layers", "check_widths", "device_of",
    "first_layers", "fold", "forward", "jax", "jnp", "key_words", "normal", "optax", "to_numpy",
    "uniform",
]  # fmt: skip

ACTIVATIONS = ("identity", "relu", "leaky_relu", "tanh", "sigmoid")
GOLDEN = np.uint32(0x9E3779B9)

Layer = tuple[Any, Any]


def device_of(name: str, caller: str) -> Any:
    """JAX's device for "cpu" or "gpu"; ValueError where JAX has none of that kind."""
    try:
        return jax.devices(name)[0]
    except RuntimeError:
        kinds = ", ".join(sorted({device.platform for device in jax.devices()}))
        raise ValueError(
            f"{caller}(device={name!r}) found no such device: JAX sees {kinds}. Use "
            'device="cpu", or install JAX for the GPU: pip install "jax[cuda12]"'
        ) from None


# --- Random numbers ---


def key_words(drawn: np.uint64) -> np.ndarray:
    """The two words of one of our keys."""
    return np.array([drawn >> np.uint64(32), drawn & np.uint64(0xFFFFFFFF)], np.uint32)


def fold(drawn: Any, item: Any) -> Any:
    """The key of an item."""
    item = jnp.asarray(item).astype(jnp.uint32)
    return mix(jnp.stack([drawn[0] + GOLDEN * (item + 1), drawn[1] ^ mix(item + GOLDEN)]))


def uniform(drawn: Any, shape: tuple[int, ...]) -> Any:
    """Numbers in [0, 1) of this shape, float32."""
    return (words(drawn, shape) >> 8).astype(jnp.float32) * np.float32(2**-24)


def normal(drawn: Any, shape: tuple[int, ...]) -> Any:
    """Standard normal numbers of this shape, float32: Box and Muller's transformation."""
    radius = 1 - uniform(fold(drawn, 0), shape)  # in (0, 1]
    angle = np.float32(2 * np.pi) * uniform(fold(drawn, 1), shape)
    return jnp.sqrt(-2 * jnp.log(radius)) * jnp.cos(angle)


def words(drawn: Any, shape: tuple[int, ...]) -> Any:
    places = jnp.zeros(shape, jnp.uint32)
    step = 1
    for axis in reversed(range(len(shape))):
        places = places + np.uint32(step) * jax.lax.broadcasted_iota(jnp.uint32, shape, axis)
        step *= shape[axis]
    return mix(mix(places * GOLDEN + drawn[0]) ^ drawn[1])


def mix(x: Any) -> Any:
    x = (x ^ (x >> 16)) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * np.uint32(0x846CA68B)
    return x ^ (x >> 16)


# --- Layers ---


def activate(xp: Any, name: str, x: Any) -> Any:
    """An activation function, element by element.

    >>> activate(np, "relu", np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    match name:
        case "relu":
            return xp.maximum(x, 0)
        case "leaky_relu":
            return xp.where(x > 0, x, 0.2 * x)
        case "tanh":
            return xp.tanh(x)
        case "sigmoid":
            return 0.5 * (1 + xp.tanh(0.5 * x))  # no overflow on either side
    return x


def forward(
    xp: Any, layers: Sequence[Layer], x: Any, activation: str, last: str = "identity"
) -> Any:
    """The output of the layers; ``last`` is the activation of the last one."""
    for i, (weights, bias) in enumerate(layers):
        x = activate(
            xp, activation if i + 1 < len(layers) else last, xp.matmul(x, weights) + bias
        )
    return x


def first_layers(drawn: Any, sizes: Sequence[int], activation: str) -> tuple[Layer, ...]:
    """Random weights whose outputs have the variance of their inputs, and biases of 0."""
    gain = 2.0 if activation in ("relu", "leaky_relu") else 1.0
    layers = []
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        weights = normals(key(drawn, i), (inputs, outputs)) * np.sqrt(gain / inputs)
        layers.append((weights.astype(np.float32), np.zeros(outputs, np.float32)))
    return tuple(layers)


def to_numpy(tree: Any) -> Any:
    """The arrays of a tree in the host's memory."""
    return jax.tree_util.tree_map(np.array, tree)


def check_layers(name: str, weights: Any, biases: Any, sizes: Sequence[int]) -> None:
    """ValueError unless weights and biases are finite float32 layers of these sizes."""
    if not (isinstance(weights, list) and isinstance(biases, list)):
        raise ValueError(f"the layers of the {name} must be lists of arrays.")
    if len(biases) != len(sizes) - 1 or len(weights) not in (0, len(biases)):
        raise ValueError(f"the {name} must have {len(sizes) - 1} layers.")
    shapes = list(pairwise(sizes))
    wanted: list[Any] = list(zip(weights, shapes, strict=False))
    wanted += [(bias, (shape[1],)) for bias, shape in zip(biases, shapes, strict=True)]
    for array, shape in wanted:
        if not isinstance(array, np.ndarray) or array.shape != shape:
            raise ValueError(f"a layer of the {name} must have the shape {shape}.")
        if array.dtype != np.float32 or not np.isfinite(array).all():
            raise ValueError(f"the layers of the {name} must be finite numbers in float32.")


def cast(weights: Sequence[Any], biases: Sequence[Any], rows: Any) -> list[Layer]:
    """Layers in the precision of the rows."""
    return [
        (matrix.astype(rows.dtype, copy=False), bias.astype(rows.dtype, copy=False))
        for matrix, bias in zip(weights, biases, strict=True)
    ]


def check_widths(name: str, parameter: str, widths: Any, *, empty: bool = False) -> None:
    """ValueError unless widths are integers of at least 1."""
    good = isinstance(widths, tuple | list) and (empty or len(widths))
    if not good or not all(
        isinstance(width, Integral) and not isinstance(width, bool) and int(width) >= 1
        for width in widths
    ):
        raise ValueError(
            f"{name}({parameter}={widths!r}) needs numbers of units of at least 1. Give for "
            "example (64, 16)."
        )

"""Dense layers: activations, first weights, the forward pass, and the check of loaded ones.

A network is a sequence of layers, each a pair of weights (inputs x outputs) and biases. The
forward pass is written once for NumPy and JAX (``xp``): fits run in JAX in float32, a fitted
model encodes in NumPy in the precision of its rows.

Glorot and Bengio (2010), Understanding the difficulty of training deep feedforward neural
networks. AISTATS. He, Zhang, Ren and Sun (2015), Delving deep into rectifiers. ICCV.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.core.randoms import key, normals
from tacit.neural.extra import jax

__all__ = ["ACTIVATIONS", "activate", "check_layers", "first_layers", "forward", "to_numpy"]

ACTIVATIONS = ("identity", "relu", "leaky_relu", "tanh", "sigmoid")

Layer = tuple[Any, Any]


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
    wanted += [(each, (shape[1],)) for each, shape in zip(biases, shapes, strict=True)]
    for array, shape in wanted:
        if not isinstance(array, np.ndarray) or array.shape != shape:
            raise ValueError(f"a layer of the {name} must have the shape {shape}.")
        if array.dtype != np.float32 or not np.isfinite(array).all():
            raise ValueError(f"the layers of the {name} must be finite numbers in float32.")

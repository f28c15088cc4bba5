"""JAX and optax, or one line that says how to install them."""

from typing import Any

__all__ = ["device_of", "jax", "jnp", "optax"]

try:
    import jax
    import jax.numpy as jnp
    import optax
except ImportError as error:
    raise ImportError(
        f"tacit.neural needs the packages jax and optax ({error}). Install them with: "
        "pip install 'tacit-learn[neural]'"
    ) from None


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

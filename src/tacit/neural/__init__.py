"""Unsupervised neural networks: restricted Boltzmann machine, autoencoder, adversarial network.

They run on JAX and optax, the extra ``neural``: pip install 'tacit[neural]'.
"""

from tacit.core.lazy import attach

__all__ = ["GAN", "RBM", "Autoencoder", "diagnose"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "GAN": "tacit.neural.gan",
        "RBM": "tacit.neural.rbm",
        "Autoencoder": "tacit.neural.autoencoder",
        "diagnose": "tacit.neural.diagnosis",
    },
)

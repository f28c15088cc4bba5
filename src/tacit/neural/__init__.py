"""Unsupervised neural networks: restricted Boltzmann machine, autoencoder, adversarial network.

They run on JAX and optax, the extra ``neural``: pip install 'tacit-learn[neural]'.
"""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = ["GAN", "RBM", "Autoencoder", "diagnose"]

if TYPE_CHECKING:
    from tacit.neural.autoencoder import Autoencoder
    from tacit.neural.diagnosis import diagnose
    from tacit.neural.gan import GAN
    from tacit.neural.rbm import RBM
else:
    __getattr__, __dir__ = attach(__name__)

"""Mixture models and the EM algorithm."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "BernoulliMixture",
    "CategoricalMixture",
    "GaussianMixture",
    "MultiComponentNB",
    "MultinomialMixture",
    "MultivariateNormal",
    "SemiSupervisedNB",
    "WordSenses",
]

if TYPE_CHECKING:
    from tacit.mixture.gaussian import GaussianMixture
    from tacit.mixture.multinomial import (
        BernoulliMixture,
        CategoricalMixture,
        MultinomialMixture,
    )
    from tacit.mixture.normal import MultivariateNormal
    from tacit.mixture.semi_supervised import MultiComponentNB, SemiSupervisedNB
    from tacit.mixture.word_senses import WordSenses
else:
    __getattr__, __dir__ = attach(__name__)

"""Mixture models and the EM algorithm."""

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

__getattr__, __dir__ = attach(
    __name__,
    names={
        "BernoulliMixture": "tacit.mixture.multinomial",
        "CategoricalMixture": "tacit.mixture.multinomial",
        "GaussianMixture": "tacit.mixture.gaussian",
        "MultiComponentNB": "tacit.mixture.components",
        "MultinomialMixture": "tacit.mixture.multinomial",
        "MultivariateNormal": "tacit.mixture.normal",
        "SemiSupervisedNB": "tacit.mixture.semi_supervised",
        "WordSenses": "tacit.mixture.word_senses",
    },
)

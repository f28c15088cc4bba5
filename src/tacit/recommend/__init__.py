"""Recommenders: factorizations of ratings, hand-made attributes, baselines, completion."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "ALS", "AttributeRecommender", "BiasedSGD", "Biases", "Completion", "Explanation",
    "GlobalMean", "ImplicitALS", "ItemKNN", "Popularity", "Ratings", "Receipt",
    "Recommendations", "UnknownIdWarning", "complete",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.data.ratings import Ratings
    from tacit.recommend.als import ALS, ImplicitALS
    from tacit.recommend.attributes import AttributeRecommender
    from tacit.recommend.baselines import Biases, GlobalMean, ItemKNN, Popularity
    from tacit.recommend.completion import Completion, complete
    from tacit.recommend.recommender import (
        Explanation,
        Receipt,
        Recommendations,
        UnknownIdWarning,
    )
    from tacit.recommend.sgd import BiasedSGD
else:
    __getattr__, __dir__ = attach(__name__)

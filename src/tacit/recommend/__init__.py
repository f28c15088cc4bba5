"""Recommenders: factorizations of ratings, hand-made attributes, baselines, completion."""

from tacit.core.lazy import attach

__all__ = [
    "ALS",
    "AttributeRecommender",
    "BiasedSGD",
    "Biases",
    "Completion",
    "Explanation",
    "GlobalMean",
    "ImplicitALS",
    "ItemKNN",
    "Popularity",
    "Ratings",
    "Receipt",
    "Recommendations",
    "UnknownIdWarning",
    "complete",
]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "ALS": "tacit.recommend.als",
        "AttributeRecommender": "tacit.recommend.attributes",
        "BiasedSGD": "tacit.recommend.sgd",
        "Biases": "tacit.recommend.baselines",
        "Completion": "tacit.recommend.completion",
        "Explanation": "tacit.recommend.results",
        "GlobalMean": "tacit.recommend.baselines",
        "ImplicitALS": "tacit.recommend.als",
        "ItemKNN": "tacit.recommend.baselines",
        "Popularity": "tacit.recommend.baselines",
        "Ratings": "tacit.data.ratings",
        "Receipt": "tacit.recommend.results",
        "Recommendations": "tacit.recommend.results",
        "UnknownIdWarning": "tacit.recommend.results",
        "complete": "tacit.recommend.completion",
    },
)

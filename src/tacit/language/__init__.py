"""Language models: how likely a sentence is, and what that is good for."""

from tacit.core.lazy import attach

__all__ = [
    "BrownClusters",
    "CacheModel",
    "ClassModel",
    "MixedModel",
    "NGramModel",
    "SpellingCorrector",
    "read_arpa",
    "write_arpa",
]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "BrownClusters": "tacit.language.brown_clusters",
        "CacheModel": "tacit.language.cache_model",
        "ClassModel": "tacit.language.class_model",
        "MixedModel": "tacit.language.mixed_model",
        "NGramModel": "tacit.language.ngram_model",
        "SpellingCorrector": "tacit.language.spelling",
        "read_arpa": "tacit.language.arpa",
        "write_arpa": "tacit.language.arpa",
    },
)

"""Language models: how likely a sentence is, and what that is good for."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "BrownClusters", "CacheModel", "ClassModel", "MixedModel", "NGramModel",
    "SpellingCorrector", "read_arpa", "write_arpa",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.language.arpa import read_arpa, write_arpa
    from tacit.language.brown_clusters import BrownClusters
    from tacit.language.cache_model import CacheModel
    from tacit.language.class_model import ClassModel
    from tacit.language.mixed_model import MixedModel
    from tacit.language.ngram_model import NGramModel
    from tacit.language.spelling import SpellingCorrector
else:
    __getattr__, __dir__ = attach(__name__)

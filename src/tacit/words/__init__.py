"""Word vectors: learn them from text, compare words, solve analogies, read and write them."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "PPMIVectors", "Word2Vec", "WordVectors", "evaluate_analogies", "evaluate_similarity",
    "pairs",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.words.corpus import pairs
    from tacit.words.evaluation import evaluate_analogies, evaluate_similarity
    from tacit.words.ppmi import PPMIVectors
    from tacit.words.vectors import WordVectors
    from tacit.words.word2vec import Word2Vec
else:
    __getattr__, __dir__ = attach(__name__)

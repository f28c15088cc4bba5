"""Word vectors: learn them from text, compare words, solve analogies, read and write them."""

from tacit.core.lazy import attach

__all__ = [
    "PPMIVectors", "Word2Vec", "WordVectors", "evaluate_analogies", "evaluate_similarity",
    "pairs",
]  # fmt: skip

__getattr__, __dir__ = attach(
    __name__,
    names={
        "PPMIVectors": "tacit.words.ppmi",
        "Word2Vec": "tacit.words.word2vec",
        "WordVectors": "tacit.words.vectors",
        "evaluate_analogies": "tacit.words.evaluation",
        "evaluate_similarity": "tacit.words.evaluation",
        "pairs": "tacit.words.corpus",
    },
)

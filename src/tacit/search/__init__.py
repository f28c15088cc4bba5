"""Find documents by words and phrases, by meaning, and near-duplicates."""

from tacit.core.lazy import attach

__all__ = ["Hit", "Hits", "InvertedIndex", "NearDuplicates", "QueryError", "SemanticIndex"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "Hit": "tacit.search.results",
        "Hits": "tacit.search.results",
        "InvertedIndex": "tacit.search.inverted_index",
        "NearDuplicates": "tacit.search.near_duplicates",
        "QueryError": "tacit.search.query",
        "SemanticIndex": "tacit.search.semantic_index",
    },
)

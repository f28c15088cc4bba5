"""Find documents by words and phrases, by meaning, and near-duplicates."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = ["Hit", "Hits", "InvertedIndex", "NearDuplicates", "QueryError", "SemanticIndex"]

if TYPE_CHECKING:
    from tacit.search.inverted_index import InvertedIndex
    from tacit.search.near_duplicates import NearDuplicates
    from tacit.search.query import QueryError
    from tacit.search.results import Hit, Hits
    from tacit.search.semantic_index import SemanticIndex
else:
    __getattr__, __dir__ = attach(__name__)

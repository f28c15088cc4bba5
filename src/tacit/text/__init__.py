"""Documents into numbers: tokens, counts, hashed counts, tf-idf."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "CountVectorizer", "EditCosts", "HashingVectorizer", "TextFeatures", "TfidfTransformer",
    "TfidfVectorizer", "Vocabulary", "alignment", "damerau", "derive_stop_words", "levenshtein",
    "optimal_string_alignment", "pairwise_strings", "string_distance_blocks", "tokenize",
    "tree_edit_distance",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.text.counts import CountVectorizer
    from tacit.text.edit_distance import (
        EditCosts,
        alignment,
        damerau,
        levenshtein,
        optimal_string_alignment,
        pairwise_strings,
        string_distance_blocks,
    )
    from tacit.text.features import TextFeatures
    from tacit.text.hashing import HashingVectorizer
    from tacit.text.stop_words import derive_stop_words
    from tacit.text.tfidf import TfidfTransformer, TfidfVectorizer
    from tacit.text.tokens import tokenize
    from tacit.text.tree_distance import tree_edit_distance
    from tacit.text.vocabulary import Vocabulary
else:
    __getattr__, __dir__ = attach(__name__)

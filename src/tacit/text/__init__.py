"""Documents into numbers: tokens, counts, hashed counts, tf-idf."""

from tacit.core.lazy import attach

__all__ = [
    "CountVectorizer", "EditCosts", "HashingVectorizer", "TextFeatures", "TfidfTransformer",
    "TfidfVectorizer", "Vocabulary", "alignment", "damerau", "derive_stop_words", "levenshtein",
    "optimal_string_alignment", "pairwise_strings", "string_distance_blocks", "tokenize",
    "tree_edit_distance",
]  # fmt: skip

__getattr__, __dir__ = attach(
    __name__,
    names={
        "CountVectorizer": "tacit.text.counts",
        "EditCosts": "tacit.text.edit_distance",
        "HashingVectorizer": "tacit.text.hashing",
        "TextFeatures": "tacit.text.features",
        "TfidfTransformer": "tacit.text.tfidf",
        "TfidfVectorizer": "tacit.text.tfidf",
        "Vocabulary": "tacit.text.vocabulary",
        "alignment": "tacit.text.edit_distance",
        "damerau": "tacit.text.edit_distance",
        "derive_stop_words": "tacit.text.stop_words",
        "levenshtein": "tacit.text.edit_distance",
        "optimal_string_alignment": "tacit.text.edit_distance",
        "pairwise_strings": "tacit.text.edit_distance",
        "string_distance_blocks": "tacit.text.edit_distance",
        "tokenize": "tacit.text.tokens",
        "tree_edit_distance": "tacit.text.tree_distance",
    },
)

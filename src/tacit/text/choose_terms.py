"""Which terms become columns, and what to say when none do."""

from numbers import Integral
from typing import Any

import numpy as np

from tacit.text.count_blocks import TermStats

__all__ = ["check_limits", "choose_terms", "why_empty", "why_pruned"]


def choose_terms(
    stats: TermStats, min_df: float = 1, max_df: float = 1.0, max_features: int | None = None
) -> np.ndarray:
    """Which terms become columns: a mask.

    Of equally frequent terms, ``max_features`` keeps those that sort first.
    """
    n, df = stats.documents, stats.document_counts
    high = max_df if isinstance(max_df, Integral) else max_df * n
    low = min_df if isinstance(min_df, Integral) else min_df * n
    if high < low:
        raise ValueError(
            f"max_df corresponds to < documents than min_df: max_df={max_df} is {high:g} of "
            f"{n:,} documents, min_df={min_df} is {low:g}. Raise max_df or lower min_df."
        )
    keep = (df >= low) & (df <= high)
    if max_features is not None and np.count_nonzero(keep) > max_features:
        places = np.flatnonzero(keep)
        best = np.argsort(-stats.counts[places], kind="stable")[:max_features]
        keep = np.zeros(len(df), np.bool_)
        keep[places[best]] = True
    return keep


def check_limits(estimator: Any) -> None:
    """ValueError for bounds that mean nothing."""
    name = type(estimator).__name__
    for setting in ("min_df", "max_df"):
        value = getattr(estimator, setting)
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not (value >= 1 if whole else isinstance(value, float) and 0 <= value <= 1):
            raise ValueError(
                f"{name}({setting}={value!r}) must be a number of documents (an int of at "
                "least 1) or a share of them (a float from 0.0 to 1.0)."
            )
    most = estimator.max_features
    if most is not None and not (isinstance(most, int | np.integer) and most >= 1):
        raise ValueError(
            f"{name}(max_features={most!r}) must be an int of at least 1, or None."
        )


def why_empty(stats: TermStats, estimator: Any) -> str:
    """Why there is no term at all, in numbers, and what to change."""
    n, repairs = stats.documents, stats.repairs
    if n == 0:
        return (
            "empty vocabulary: there are 0 documents. "
            "Check where they come from; a generator can be walked only once."
        )
    if repairs.empty == n:
        return (
            f"empty vocabulary: all {n:,} documents are empty ({repairs.missing:,} of them "
            "None or NaN). Check that the text is where you look for it."
        )
    if stats.tokens == 0:
        return (
            f"empty vocabulary: none of the {n:,} documents ({repairs.empty:,} of them empty) "
            f"holds a token. Tokens are what token_pattern={estimator.token_pattern!r}, "
            f"rule={estimator.rule!r}, min_length={estimator.min_length} and "
            f"analyzer={estimator.analyzer!r} let through; change one of them."
        )
    if stats.stopped < stats.tokens:
        return (
            f"empty vocabulary: none of the {n:,} documents has as many as "
            f"{estimator.ngram_range[0]} tokens in a row. Lower ngram_range="
            f"{tuple(estimator.ngram_range)}."
        )
    return (
        "empty vocabulary; perhaps the documents only contain stop words: all "
        f"{stats.tokens:,} tokens of {n:,} documents are stop words, or numbers that were left "
        "out. Set stop_words=None or numbers=True."
    )


def why_pruned(stats: TermStats, estimator: Any) -> str:
    """Why no term was kept, in numbers, and what to change."""
    n, df = stats.documents, stats.document_counts
    min_df, max_df = estimator.min_df, estimator.max_df
    low = min_df if isinstance(min_df, Integral) else min_df * n
    high = max_df if isinstance(max_df, Integral) else max_df * n
    return (
        f"After pruning, no terms remain of {len(df):,} in {n:,} documents: "
        f"min_df={min_df} leaves out {np.count_nonzero(df < low):,} in fewer than {low:g} "
        f"documents, max_df={max_df} {np.count_nonzero(df > high):,} in more than {high:g}. "
        "Try a lower min_df or a higher max_df."
    )

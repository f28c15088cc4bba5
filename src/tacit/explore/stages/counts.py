"""Counting words: the table of counts, and how words are distributed."""

import numpy as np

from tacit.data.documents import Documents
from tacit.explore.stages.stage import Context, Output

__all__ = ["count_words"]

TOP_WORDS = 200
CURVE = 60  # points of the Zipf and Heaps curves


def count_words(context: Context) -> Output:
    """The documents x words table of words that occur often enough to compare by, how long
    documents are, and how words are distributed."""
    from tacit.text import CountVectorizer

    documents = context.documents()
    n = len(documents)
    vectorizer = CountVectorizer(rule="words", dtype=np.int32, engine=context.engine)
    try:
        counts = vectorizer.fit_transform(documents)
    except ValueError:
        return Output(skipped=why_no_words(documents))
    words = np.asarray(vectorizer.get_feature_names_out(), object)
    totals = np.asarray(counts.sum(axis=0)).ravel().astype(np.int64)
    lengths = np.asarray(counts.sum(axis=1)).ravel().astype(np.int64)
    spread = np.bincount(counts.indices, minlength=len(words)).astype(np.int64)
    output = Output(models={"vectorizer": vectorizer})
    output.add_matrix("counts", counts)
    output.arrays |= {"totals": totals, "document_counts": spread, "lengths": lengths}
    order = np.lexsort([np.arange(len(words)), -totals])
    output.facts |= {
        "documents": n,
        "words": int(totals.sum()),
        "types": len(words),
        "once": int((totals == 1).sum()),
        "median_length": float(np.median(lengths)),
        "longest": int(lengths.max(initial=0)),
        "top": [[str(words[i]), int(totals[i]), int(spread[i])] for i in order[:TOP_WORDS]],
        "zipf": curve(np.sort(totals)[::-1]),
        "heaps": heaps(counts, lengths),
    }
    return output


def why_no_words(documents: Documents) -> str:
    n, blank = len(documents), sum(not text.strip() for text in documents.texts())
    if not n:
        return "There are no documents."
    if blank == n:
        return f"All {n:,} documents are empty or blank." if n > 1 else "It is empty."
    some = f" and {blank:,} {'is' if blank == 1 else 'are'} empty" if blank else ""
    return f"None of the {n:,} documents holds a word{some}: there are no letters in them."


def curve(falling: np.ndarray) -> list[list[int]]:
    """Rank and count at evenly spaced places of a logarithmic scale."""
    if not len(falling):
        return []
    ranks = np.unique(np.geomspace(1, len(falling), CURVE).astype(int))
    return [[int(rank), int(falling[rank - 1])] for rank in ranks]


def heaps(counts, lengths: np.ndarray) -> list[list[int]]:
    """Words read and different words seen, document by document in the order of the input."""
    first = np.full(counts.shape[1], counts.shape[0], np.int64)
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    np.minimum.at(first, counts.indices, rows)
    seen = np.cumsum(np.bincount(first, minlength=counts.shape[0] + 1)[: counts.shape[0]])
    read = np.cumsum(lengths)
    places = np.unique(np.linspace(0, len(read) - 1, CURVE).astype(int))
    return [[int(read[i]), int(seen[i])] for i in places]

"""The quality of topics: coherence, diversity, exclusivity.

``coherence`` asks whether the top words of a topic occur together in reference documents:

    u_mass   mean of log((D(a, b) + 1) / D(b)) over pairs, b the more probable word
    npmi     mean over pairs of log(p(a, b) / (p(a) p(b))) / -log p(a, b): from -1 to 1
    c_v      each word as the vector of its NPMI with all the top words; mean cosine of that
             vector with the sum of all of them

Probabilities are fractions of documents, or of sliding windows where the reference has the
order of the words. A pair with a word that does not occur in the reference has an NPMI of 0.
Figures are comparable only between equal references, windows and numbers of words.

Mimno, Wallach, Talley, Leenders and McCallum (2011), Optimizing semantic coherence in topic
models. EMNLP.
Bouma (2009), Normalized (pointwise) mutual information in collocation extraction. GSCL.
Röder, Both and Hinneburg (2015), Exploring the space of topic coherence measures. WSDM.
Dieng, Ruiz and Blei (2020), Topic modeling in embedding spaces. TACL 8.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import kernel

__all__ = ["coherence", "diversity", "exclusivity", "top_words"]

MEASURES = ("npmi", "u_mass", "c_v")
EPSILON = 1e-12  # of Röder et al., against log 0


def top_words(topics: Any, top: int = 10) -> np.ndarray:
    """(k, top) the columns of the most probable words of each topic; ties to the lowest.

    ``topics`` is a fitted model, or probabilities (k, v).

    >>> top_words(np.array([[0.1, 0.7, 0.2], [0.5, 0.1, 0.4]]), top=2)
    array([[1, 2],
           [0, 2]])
    """
    rows = np.asarray(getattr(topics, "topics_", topics), np.float64)
    if rows.ndim != 2:
        raise ValueError(
            f"Topics need rows of probabilities, but the array has ndim={rows.ndim}. "
            "Give a fitted model, an array (topics, words), or lists of columns."
        )
    return np.argsort(-rows, axis=1, kind="stable")[:, : max(1, top)]


def coherence(
    topics: Any, reference: Any, *, measure: str = "npmi", top: int = 10,
    window: int | None = None, words: Sequence[str] | None = None,
) -> np.ndarray:  # fmt: skip
    """How far the top words of each topic occur together, one figure for every topic.

    Parameters
    ----------
    topics : model, array of shape (k, v), or list of lists
        A fitted model, probabilities of words, or the top words themselves: columns of the
        reference, or words where the reference is tokens or there are ``words``.
    reference : matrix of counts (documents, v), or list of token lists
        What occurs together: in a document of the matrix, or in a window of the tokens.
    measure : {"npmi", "u_mass", "c_v"}
        See the module.
    top : int
        Words of each topic.
    window : int or None
        Tokens of a sliding window; None is the whole document for u_mass, 10 for npmi and 110
        for c_v, as in Röder et al. A matrix knows no order: there it is always the document.
    words : list of str or None
        The words of the columns; needed where ``topics`` are numbers and the reference tokens.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 2]])
    >>> coherence([[0, 1], [0, 2]], X).round(2)
    array([ 1.  , -0.95])
    """
    if measure not in MEASURES:
        raise ValueError(f"measure={measure!r} is unknown; choose from {list(MEASURES)}.")
    if top < 2:
        raise ValueError(f"coherence(top={top}) compares pairs of words. Give top=2 or more.")
    lists = listed(topics, top)
    if hasattr(reference, "shape"):
        if words is not None:
            places = {word: i for i, word in enumerate(words)}
            lists = [[places.get(w, w) for w in topic] for topic in lists]
        together, total = by_document(lists, reference)
        names: Iterable[Any] = sorted({word for topic in lists for word in topic})
    else:
        if words is not None:
            lists = [[w if isinstance(w, str) else words[w] for w in topic] for topic in lists]
        size = {"u_mass": 0, "npmi": 10, "c_v": 110}[measure] if window is None else window
        names = sorted({word for topic in lists for word in topic})
        together, total = by_window(list(names), reference, size)
    if not total:
        raise ValueError("coherence needs reference documents, but there are none.")
    place = {name: i for i, name in enumerate(names)}
    scores = {"npmi": mean_npmi, "u_mass": mean_log_ratio, "c_v": mean_cosine}[measure]
    return np.array([scores(together, [place[w] for w in topic], total) for topic in lists])


def diversity(topics: Any, top: int = 25) -> float:
    """The fraction of words that are unique among the top words of all topics.

    >>> diversity([[0, 1], [1, 2]], top=2)
    0.75
    """
    lists = listed(topics, top)
    return len({word for topic in lists for word in topic}) / sum(map(len, lists))


def exclusivity(topics: Any, top: int = 10) -> np.ndarray:
    """The mean over the top words of a topic of P(topic | word), all topics equally likely.

    >>> exclusivity(np.array([[1.0, 0.0], [0.25, 0.75]]), top=1)
    array([0.8, 1. ])
    """
    rows = np.asarray(getattr(topics, "topics_", topics), np.float64)
    totals = np.maximum(rows.sum(axis=0), np.finfo(float).tiny)
    best = top_words(rows, top)
    return np.array(
        [(row[words] / totals[words]).mean() for row, words in zip(rows, best, strict=True)]
    )


def listed(topics: Any, top: int) -> list[list[Any]]:
    """The top words of each topic, as lists or from probabilities."""
    if hasattr(topics, "topics_") or isinstance(topics, np.ndarray):
        return top_words(topics, top).tolist()
    lists = [list(topic)[:top] for topic in topics]
    if not lists or not all(lists):
        raise ValueError("There are no topics, or one of them has no words. Give some.")
    return lists


# --- Co-occurrence ---


def by_document(lists: list[list[int]], X: Any) -> tuple[np.ndarray, int]:
    """Documents with both words of each pair, in the order of the sorted columns."""
    columns = sorted({int(word) for topic in lists for word in topic})
    if columns[0] < 0 or columns[-1] >= X.shape[1]:
        raise ValueError(
            f"Topics name the columns {columns[0]} to {columns[-1]}, but the reference has "
            f"{X.shape[1]}. Give the matrix with the vocabulary of the model."
        )
    present = sp.csc_array(X)[:, columns] > 0
    present = sp.csc_array(present, dtype=np.float64)
    return np.asarray((present.T @ present).toarray()), X.shape[0]


def by_window(names: list[Any], texts: Any, size: int) -> tuple[np.ndarray, int]:
    """Windows with both words of each pair. ``size`` 0 is the whole document."""
    place = {name: i for i, name in enumerate(names)}
    together = np.zeros((len(names), len(names)))
    total = 0
    for text in texts:
        if isinstance(text, str):
            raise TypeError(
                "coherence takes token lists, but the reference holds strings. Tokenize them "
                "with tacit.text.tokenize."
            )
        tokens = np.fromiter((place.get(token, -1) for token in text), np.int64)
        if len(tokens):
            total += count_windows(tokens, size or len(tokens), together)
    return together, total


# --- Scores of one topic ---


def pair_npmi(together: np.ndarray, words: list[int], total: int) -> np.ndarray:
    both = together[np.ix_(words, words)] / total
    single = np.maximum(np.diagonal(both), EPSILON)
    joint = both + EPSILON
    top = np.log(joint / np.outer(single, single))
    bottom = -np.log(np.minimum(joint, 1 - EPSILON))
    absent = np.diagonal(both) == 0  # nothing is known of such a word
    return np.where(absent | absent[:, None], 0.0, np.clip(top / bottom, -1, 1))


def mean_npmi(together: np.ndarray, words: list[int], total: int) -> float:
    pairs = pair_npmi(together, words, total)
    return float(pairs[np.triu_indices(len(words), 1)].mean()) if len(words) > 1 else 0.0


def mean_log_ratio(together: np.ndarray, words: list[int], total: int) -> float:
    ratios = [
        np.log((together[a, b] + 1) / max(together[b, b], 1))
        for i, a in enumerate(words)
        for b in words[:i]
    ]
    return float(np.mean(ratios)) if ratios else 0.0


def mean_cosine(together: np.ndarray, words: list[int], total: int) -> float:
    vectors = pair_npmi(together, words, total)
    center = vectors.sum(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(center)
    return float(((vectors @ center) / np.maximum(lengths, EPSILON)).mean())


@kernel
def count_windows(tokens, size, together):
    """Add 1 for each pair of words in each window; the number of windows."""
    counts = np.zeros(together.shape[0], np.int64)
    present = np.empty(together.shape[0], np.int64)
    n = tokens.size
    windows = max(1, n - size + 1)
    for i in range(n):
        if tokens[i] >= 0:
            counts[tokens[i]] += 1
        if i >= size and tokens[i - size] >= 0:
            counts[tokens[i - size]] -= 1
        if i < size - 1 and i < n - 1:
            continue
        count = 0
        for t in range(max(0, i - size + 1), i + 1):
            word = tokens[t]
            if word >= 0 and counts[word] > 0:
                present[count] = word
                count += 1
                counts[word] = -counts[word]  # seen in this window
        for a in range(count):
            counts[present[a]] = -counts[present[a]]
            for b in range(count):
                together[present[a], present[b]] += 1.0
    return windows

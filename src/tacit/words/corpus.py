"""Text as sentences of word numbers, the frequent words first.

Words rarer than ``min_count`` are left out before windows are drawn, so the words on both sides
of a rare one become neighbors, as in word2vec. A document is one sentence; every 10,000 words a
new one begins.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.language.brown_clusters import number_words
from tacit.language.sentences import Reader, check_tokenizer

__all__ = ["LONGEST", "WordCorpus", "corpus_for", "pairs", "read_corpus"]

LONGEST = 10_000  # words of a sentence


class WordCorpus(NamedTuple):
    """A text in word numbers."""

    words: list[str]  # by descending count, then alphabetically
    counts: np.ndarray  # int64
    ids: np.ndarray  # int32, of the words in the vocabulary
    edges: np.ndarray  # int64, (sentences + 1,)


def corpus_for(model: Any, data: Any, known: Sequence[str] = ()) -> WordCorpus:
    """``read_corpus`` as the parameters of an estimator say."""
    check_tokenizer(model.tokenizer)
    reader = Reader(model.tokenizer, model.lowercase, lines=False)
    return read_corpus(
        data, reader, model.engine, min_count=model.min_count, name=type(model).__name__,
        known=known,
    )  # fmt: skip


def read_corpus(
    data: Any,
    reader: Reader,
    engine: Any,
    *,
    min_count: int,
    name: str,
    known: Sequence[str] = (),
) -> WordCorpus:
    """Read sentences in any form; number the words that occur ``min_count`` times.

    ``known`` words keep their numbers, however rare they are here; new ones follow.
    """
    text = number_words(data, reader, engine, name=name)
    wanted = text.counts >= min_count
    order = np.argsort(-text.counts, kind="stable")  # ties stay alphabetical
    place = np.full(len(text.words), -1, np.int32)
    before = {word: i for i, word in enumerate(known)}
    for at, word in enumerate(text.words) if before else ():
        place[at] = before.get(word, -1)
    new = order[wanted[order] & (place[order] < 0)]
    place[new] = np.arange(len(before), len(before) + len(new), dtype=np.int32)
    if not (place >= 0).any():
        raise ValueError(
            f"{name}(min_count={min_count}) leaves no word: the most frequent one occurs "
            f"{int(text.counts.max()):,} times. Lower min_count, or give more text."
        )
    words = [*known, *(text.words[i] for i in new)]
    counts = np.zeros(len(words), np.int64)
    counts[place[place >= 0]] = text.counts[place >= 0]
    ids = place[text.ids]
    known_ids = ids >= 0
    ends = np.concatenate([[0], np.cumsum(known_ids)])[np.cumsum(text.lengths)]
    return WordCorpus(words, counts, ids[known_ids], cut_sentences(ends.astype(np.int64)))


def cut_sentences(ends: np.ndarray) -> np.ndarray:
    """The edges of sentences that end at ``ends``: none empty, none longer than LONGEST.

    >>> cut_sentences(np.array([3, 3, 20_003]))
    array([    0,     3, 10003, 20003])
    """
    edges = np.unique(np.concatenate([[0], ends]))
    lengths = np.diff(edges)
    if not len(lengths) or lengths.max() <= LONGEST:
        return edges
    inner = [
        np.arange(start + LONGEST, start + size, LONGEST)
        for start, size in zip(edges[:-1], lengths, strict=True)
        if size > LONGEST
    ]
    return np.sort(np.concatenate([edges, *inner]))


def pairs(
    sentence: str | Sequence[str], window: int = 3, *, whole: bool = True
) -> list[tuple[str, str]]:
    """The (target, context) pairs of a sentence that skip-gram learns from.

    Parameters
    ----------
    sentence : str or list of str
        A str is split at white space.
    window : int
        Words of a window, the target in the middle included: odd. (``Word2Vec(window=m)``
        counts the words on one side, so it is 2 m + 1 here.)
    whole : bool
        Whether targets need all their context words on both sides. Word2Vec uses the
        windows at the ends of a sentence too.

    Examples
    --------
    >>> for target, context in pairs("the cat sit on the mat", window=3)[:4]:
    ...     print(target, "->", context)
    cat -> the
    cat -> sit
    sit -> cat
    sit -> on
    """
    if window < 3 or window % 2 == 0:
        raise ValueError(
            f"pairs(window={window}) must be an odd number of at least 3: the target and as "
            "many words on each side."
        )
    words = sentence.split() if isinstance(sentence, str) else list(sentence)
    m, n = window // 2, len(words)
    targets = range(m, n - m) if whole else range(n)
    return [
        (words[i], words[j])
        for i in targets
        for j in range(max(0, i - m), min(n, i + m + 1))
        if j != i
    ]

"""Scoring text with a model's tables: a block at a time, on any engine."""

from typing import Any, NamedTuple

import numpy as np

from tacit.data.text_block import Text
from tacit.kernels.string_finder import Finder
from tacit.language.backoff_tables import Tables
from tacit.language.ngram_counts import Positions, positions
from tacit.language.perplexities import TextScore
from tacit.language.sentences import (
    START,
    STOP,
    UNKNOWN,
    Corpus,
    Reader,
    find_ids,
    find_ids_of_words,
    find_words,
    make_word_finder,
    read_words,
)
from tacit.language.trie_scores import Guide, make_guide, score_positions
from tacit.text.vocabulary import Vocabulary

__all__ = [
    "LN10", "Scorer", "WordScores", "join_scores", "score_ids", "scoring_aids", "sum_block",
    "sum_scores", "sums_by_sentence", "word_scores",
]  # fmt: skip

LN10 = float(np.log(10.0))


class Scorer(NamedTuple):
    """What a worker needs to score a block."""

    tables: Tables
    vocabulary: Vocabulary
    reader: Reader
    markers: bool
    guide: Guide | None
    finder: Finder


def scoring_aids(tables: Tables, vocabulary: Vocabulary) -> tuple[Guide | None, Finder]:
    """What a scorer looks things up by: made once for a model."""
    return make_guide(tables), make_word_finder(vocabulary)


class WordScores(NamedTuple):
    """log10 of every word and stop token of some sentences."""

    scores: np.ndarray  # float64
    ids: np.ndarray  # int32; -1 for words outside the vocabulary
    edges: np.ndarray  # int64, (sentences + 1,)


def word_scores(params: Scorer, block: Any) -> WordScores:
    """The score of every word of a block. Sentences end with the stop token, if any."""
    return score_ids(params, *read_ids(params, block))


def read_ids(params: Scorer, block: Any) -> Corpus:
    """The sentences of a block, with -1 for words outside the vocabulary."""
    if isinstance(block, Text) and not callable(params.reader.tokenizer):
        spans = find_words(params.reader, block)
        return Corpus(find_ids_of_words(params.finder, spans), spans.edges)
    words = read_words(params.reader, block)
    return Corpus(find_ids(params.vocabulary, words.vocabulary)[words.ids], words.edges)


def score_ids(params: Scorer, ids: np.ndarray, edges: np.ndarray) -> WordScores:
    """The same for sentences of ids, -1 for words outside the vocabulary."""
    text, scores = score_text(params, Corpus(ids, edges))
    if not params.markers:
        return WordScores(scores, ids, edges)
    keep = text.ids != START
    out = text.ids[keep]
    out[out != STOP] = ids
    return WordScores(scores[keep], out, edges + np.arange(len(edges)))


def score_text(params: Scorer, corpus: Corpus) -> tuple[Positions, np.ndarray]:
    """Every position between the start and stop tokens, those included, and its score."""
    known = np.maximum(corpus.ids, np.int32(UNKNOWN))
    text = positions(Corpus(known, corpus.edges), params.markers)
    return text, score_positions(params.tables, text.ids, text.before, params.guide)


def join_scores(parts: list[WordScores]) -> WordScores:
    """Blocks one after the other."""
    starts = np.cumsum([0, *(len(part.ids) for part in parts)])
    edges = [part.edges[1:] + at for part, at in zip(parts, starts, strict=False)]
    return WordScores(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.ids for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *edges]),
    )


def sum_block(params: Scorer, block: Any) -> TextScore:
    """What ``Perplexity`` needs of a block."""
    return sum_scores(word_scores(params, block), params.markers)


def sum_scores(found: WordScores, markers: bool) -> TextScore:
    """The sums that a perplexity is made of."""
    natural = found.scores * LN10
    finite = np.isfinite(natural)
    natural = np.where(finite, natural, 0.0)
    stops, oovs = (found.ids == STOP), (found.ids < 0)
    n = len(found.edges) - 1
    return TextScore(
        sentences=n,
        words=len(found.ids) - n * markers,
        oovs=int(oovs.sum()),
        zeroprobs=int((~finite & ~oovs).sum()),
        oov_zeros=int((~finite & oovs).sum()),
        stops=n * markers,
        logprob=float(natural.sum()),
        oov_logprob=float(natural[oovs].sum()),
        stop_logprob=float(natural[stops].sum()),
    )


def sums_by_sentence(params: Scorer, block: Any) -> np.ndarray:
    """log10 of the probability of each sentence of a block."""
    corpus = read_ids(params, block)
    _, scores = score_text(params, corpus)
    edges = corpus.edges + 2 * params.markers * np.arange(len(corpus.edges))
    starts = edges[:-1] + params.markers  # the start token is given
    sums = np.zeros(len(starts))
    filled = starts < edges[1:]
    if filled.any():
        pairs = np.stack([starts, edges[1:]], axis=1)[filled].ravel()
        sums[filled] = np.add.reduceat(np.append(scores, 0.0), pairs)[::2]
    return sums

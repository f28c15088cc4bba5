"""Scoring text with a model's tables, a block at a time on any engine; and perplexity."""

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core.stats import Stats
from tacit.core.wording import count
from tacit.data.text_block import Text
from tacit.kernels.string_finder import Finder
from tacit.language.backoff_tables import BigramIndex, Tables, score_positions
from tacit.language.ngram_counts import Positions, positions
from tacit.language.sentences import (
    START,
    STOP,
    UNKNOWN,
    Corpus,
    Reader,
    find_ids,
    find_ids_of_words,
    find_words,
    read_words,
)
from tacit.text.vocabulary import Vocabulary

__all__ = [
    "LN10", "Perplexity", "Scorer", "Surprisal", "TextScore", "WordScores", "join_scores",
    "score_ids", "sum_block", "sum_scores", "sums_by_sentence", "word_scores",
]  # fmt: skip

LN10 = float(np.log(10.0))


@dataclass(frozen=True)
class TextScore(Stats):
    """Sums over the words of a text. Logarithms are natural."""

    sentences: int = 0
    words: int = 0
    oovs: int = 0  # words outside the vocabulary, scored as <unk>
    zeroprobs: int = 0  # known words and stop tokens of probability zero
    oov_zeros: int = 0  # words outside the vocabulary of probability zero
    stops: int = 0  # stop tokens scored
    logprob: float = 0.0  # of everything but zero probabilities
    oov_logprob: float = 0.0  # of the words outside the vocabulary, part of the above
    stop_logprob: float = 0.0  # of the stop tokens, likewise


@dataclass(frozen=True)
class Perplexity:
    """How many words a model hesitates between, on average.

    ``ppl`` counts stop tokens as words that must be predicted, ``ppl1`` leaves them out.
    Words outside the vocabulary are scored as <unk>; where that, or anything else, has
    probability zero, both are infinite. ``ppl_known`` leaves out words outside the vocabulary
    and zero probabilities, as SRILM does.

    >>> one = -math.log(7)  # every word was one of seven
    >>> sums = TextScore(sentences=1, words=3, stops=1, logprob=4 * one, stop_logprob=one)
    >>> print(Perplexity.of(sums))
    1 sentence, 3 words, 0 OOVs, 0 zero probabilities
    ppl 7.00, without stop tokens 7.00, without OOVs and zero probabilities 7.00
    """

    ppl: float
    ppl1: float
    ppl_known: float
    logprob: float
    sentences: int
    words: int
    oovs: int
    zeroprobs: int

    @classmethod
    def of(cls, score: TextScore) -> "Perplexity":
        """The figures that these sums give."""
        if score.sentences == 0:
            raise ValueError("There is no sentence with a word in the text. Give some.")
        tokens = score.words + score.stops
        zero = score.zeroprobs + score.oov_zeros > 0
        known = tokens - score.oovs - score.zeroprobs
        return cls(
            ppl=perplexity_of(score.logprob, tokens, zero),
            ppl1=perplexity_of(score.logprob - score.stop_logprob, score.words, zero),
            ppl_known=perplexity_of(score.logprob - score.oov_logprob, known, False),
            logprob=-math.inf if zero else score.logprob,
            sentences=score.sentences,
            words=score.words,
            oovs=score.oovs,
            zeroprobs=score.zeroprobs,
        )

    def __float__(self) -> float:
        return self.ppl

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON has them: infinite ones are None."""
        return {
            name: value if not isinstance(value, float) or math.isfinite(value) else None
            for name, value in asdict(self).items()
        }

    def __str__(self) -> str:
        return (
            f"{count(self.sentences, 'sentence')}, {count(self.words, 'word')}, "
            f"{count(self.oovs, 'OOV')}, "
            f"{count(self.zeroprobs, 'zero probability', 'zero probabilities')}\n"
            f"ppl {self.ppl:.2f}, without stop tokens {self.ppl1:.2f}, without OOVs and zero "
            f"probabilities {self.ppl_known:.2f}"
        )


def perplexity_of(logprob: float, n: int, zero: bool) -> float:
    if zero:
        return math.inf
    return math.exp(-logprob / n) if n > 0 else math.inf


@dataclass(frozen=True)
class Surprisal:
    """A word and how surprising it was, in bits."""

    word: str
    bits: float
    oov: bool = False

    def __str__(self) -> str:
        return f"{self.word} {self.bits:.2f}" + (" (not in the vocabulary)" if self.oov else "")


# --- Scores ---


class Scorer(NamedTuple):
    """What a worker needs to score a block."""

    tables: Tables
    vocabulary: Vocabulary
    reader: Reader
    markers: bool
    bigrams: BigramIndex | None
    finder: Finder


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
    return text, score_positions(params.tables, text.ids, text.before, params.bigrams)


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
    """The sums over a block from which a ``Perplexity`` is computed."""
    return sum_scores(word_scores(params, block), params.markers)


def sum_scores(scored: WordScores, markers: bool) -> TextScore:
    """The sums over scored words from which a ``Perplexity`` is computed."""
    natural = scored.scores * LN10
    finite = np.isfinite(natural)
    natural = np.where(finite, natural, 0.0)
    stops, oovs = (scored.ids == STOP), (scored.ids < 0)
    n = len(scored.edges) - 1
    return TextScore(
        sentences=n,
        words=len(scored.ids) - n * markers,
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
    starts = edges[:-1] + params.markers  # the start token is not scored
    sums = np.zeros(len(starts))
    filled = starts < edges[1:]
    if filled.any():
        pairs = np.stack([starts, edges[1:]], axis=1)[filled].ravel()
        sums[filled] = np.add.reduceat(np.append(scores, 0.0), pairs)[::2]
    return sums

"""What scoring a text says of a model and of the text."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from tacit.core.stats import Stats

__all__ = ["Perplexity", "Surprisal", "TextScore"]


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
    1 sentence(s), 3 words, 0 OOVs, 0 zero probabilities
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
            ppl=mean_inverse(score.logprob, tokens, zero),
            ppl1=mean_inverse(score.logprob - score.stop_logprob, score.words, zero),
            ppl_known=mean_inverse(score.logprob - score.oov_logprob, known, False),
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
            f"{self.sentences:,} sentence(s), {self.words:,} words, {self.oovs:,} OOVs, "
            f"{self.zeroprobs:,} zero probabilities\n"
            f"ppl {self.ppl:.2f}, without stop tokens {self.ppl1:.2f}, without OOVs and zero "
            f"probabilities {self.ppl_known:.2f}"
        )


def mean_inverse(logprob: float, n: int, zero: bool) -> float:
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

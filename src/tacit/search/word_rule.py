"""What counts as a word to an index, and which words it leaves out."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np

from tacit.data.text_block import text_of
from tacit.text.stop_words import ENGLISH
from tacit.text.terms import intern
from tacit.text.tokens import TokenRule, split
from tacit.text.vocabulary import Vocabulary

__all__ = ["WordRule", "word_rule"]


@dataclass(frozen=True)
class WordRule:
    """What counts as a word, and which words are left out."""

    token: TokenRule
    stop_words: frozenset[str] = frozenset()

    def unwanted(self, vocabulary: Vocabulary) -> np.ndarray | None:
        """A mask over the vocabulary of a block."""
        return vocabulary.marked(self._stop_vocabulary) if self.stop_words else None

    def words(self, texts: list[str]) -> list[list[str]]:
        """The words of every text, stop words included."""
        token = self.token
        if token.atom is None and all(is_plain(text, token.min_length) for text in texts):
            return [[text.lower() if token.lowercase else text] for text in texts]
        spans = split(text_of(texts), self.token)
        words = spans.strings()
        return [words[i:j] for i, j in pairwise(spans.edges.tolist())]

    def count(self, text: str, vocabulary: Vocabulary) -> dict[int, int]:
        """How often a text holds each word of a vocabulary, stop words left out."""
        terms = intern(split(text_of([text]), self.token))
        counts = np.bincount(terms.streams[0], minlength=len(terms.vocabulary))
        unwanted = self.unwanted(terms.vocabulary)
        if unwanted is not None:
            counts[unwanted] = 0
        places = vocabulary.find(terms.vocabulary)
        there = (places >= 0) & (counts > 0)
        return dict(zip(places[there].tolist(), counts[there].tolist(), strict=True))

    @cached_property
    def _stop_vocabulary(self) -> Vocabulary:
        return Vocabulary.of(list(self.stop_words))


def is_plain(text: str, min_length: int) -> bool:
    """Whether every rule takes a text for one word: enough ASCII letters and digits."""
    return text.isascii() and text.isalnum() and len(text) >= min_length


def word_rule(token: TokenRule, stop_words: Any = None) -> WordRule:
    """A rule that leaves out ``stop_words``, or for a name those of our list."""
    rule = WordRule(token)
    if stop_words is None:
        return rule
    if isinstance(stop_words, str):  # our list holds what apostrophes leave
        words = rule.words(sorted(ENGLISH))
        return WordRule(token, frozenset(chain.from_iterable(words)))
    return WordRule(token, check_stop_words(stop_words, rule))


def check_stop_words(stop_words: Any, rule: WordRule) -> frozenset[str]:
    """Stop words as the rule writes them; those that it takes for several words do nothing."""
    strange = [word for word in stop_words if not isinstance(word, str)]
    if strange:
        raise TypeError(f"stop_words must be str, but {strange[0]!r} is not.")
    listed = sorted(stop_words)
    cut = rule.words(listed) if listed else []
    parted = [word for word, parts in zip(listed, cut, strict=True) if len(parts) > 1]
    if parted:
        warnings.warn(
            f"{len(parted)} of the stop_words are several words by rule={rule.token.rule!r}, "
            f"and do nothing: {', '.join(map(repr, parted[:5]))}. Leave them out, or take "
            "another rule.",
            stacklevel=5,
        )
    return frozenset(parts[0] for parts in cut if len(parts) == 1)

"""From a vectorizer's settings to the terms of a block, by kernels where they can.

words      rule, or a token_pattern that means runs of one kind of character
char       character n-grams
python     preprocessor, tokenizer, analyzer or another token_pattern: one document after
           the other, in Python, as scikit-learn does it
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.engines import check_stop
from tacit.data.text_block import Repairs, Text, is_missing, text_of
from tacit.text.char_grams import char_grams
from tacit.text.count_blocks import Found
from tacit.text.patterns import PatternTokenizer
from tacit.text.terms import Terms, drop, intern, word_grams
from tacit.text.tokens import TokenRule, is_number, split
from tacit.text.vocabulary import Vocabulary

__all__ = ["Analysis", "PythonAnalyzer", "strip_accents_ascii", "strip_accents_unicode"]

LONG_SPACE = re.compile(r"\s\s+")


@dataclass(frozen=True)
class Analysis:
    """How documents become terms. Travels with a pass as its params."""

    kind: str = "words"  # or "char", "char_wb", "python"
    rule: TokenRule = field(default_factory=TokenRule)
    ngrams: tuple[int, int] = (1, 1)
    stop_words: frozenset[str] | None = None
    numbers: bool = True
    prepare: Callable[[str], str] | None = None  # done to every text before the kernel
    analyze: Callable[[Any], Sequence[str]] | None = None  # kind "python"
    binary: bool = False

    def find(self, block: Any) -> Found:
        """The terms of a block: a Text, or a list for kind "python"."""
        if self.kind == "python":
            return self._find_in_python(block)
        if self.prepare is not None:
            repairs = block.repairs
            prepared = text_of([self.prepare(string) for string in block.strings()])
            block = Text(prepared.data, prepared.starts, prepared.stops, repairs)
        if self.kind == "words":
            return self._find_words(block)
        terms = char_grams(block, *self.ngrams, self.rule.lowercase, self.kind == "char_wb")
        return found(terms, block.repairs)

    def _find_words(self, text: Text) -> Found:
        all_terms = intern(split(text, self.rule))
        terms = drop(all_terms, self._unwanted(all_terms.vocabulary))
        before, after = all_terms.streams.size, terms.streams.size
        if self.ngrams != (1, 1):
            terms = word_grams(terms, *self.ngrams)
        return found(terms, text.repairs, all_terms.edges, before, before - after)

    def _unwanted(self, vocabulary: Vocabulary) -> np.ndarray:
        mask = np.zeros(len(vocabulary), np.bool_)
        if self.stop_words:
            places = vocabulary.find(self._stop_vocabulary)
            mask[places[places >= 0]] = True
        if not self.numbers:
            mask |= np.fromiter(map(is_number, vocabulary.strings), np.bool_, len(vocabulary))
        return mask

    @cached_property
    def _stop_vocabulary(self) -> Vocabulary:
        return Vocabulary.of(list(self.stop_words or ()))

    def _find_in_python(self, block: Any) -> Found:
        documents = block.strings() if isinstance(block, Text) else block
        repairs = block.repairs if isinstance(block, Text) else missing(block)
        places: dict[str, int] = {}
        stream: list[int] = []
        edges = np.zeros(len(documents) + 1, np.int64)
        analyze: Any = self.analyze
        if isinstance(analyze, PythonAnalyzer):
            analyze = analyze.fresh()
        try:
            for i, document in enumerate(documents):
                check_stop()
                if not is_missing(document):
                    for term in analyze(document):
                        stream.append(places.setdefault(term, len(places)))
                edges[i + 1] = len(stream)
        finally:
            getattr(analyze, "close", lambda: None)()
        strange = next((term for term in places if not isinstance(term, str)), None)
        if strange is not None:
            raise TypeError(
                f"The analyzer gave a term of type {type(strange).__name__}: {strange!r}. "
                "Terms must be str; turn others into str."
            )
        order = sorted(places)
        rank = np.empty(len(order), np.int32)
        rank[[places[term] for term in order]] = np.arange(len(order), dtype=np.int32)
        ids = rank[np.array(stream, np.int64)].reshape(1, -1)
        terms = Terms(Vocabulary.of_sorted(order), ids, edges)
        if isinstance(analyze, PythonAnalyzer):
            return found(terms, repairs, None, analyze.tokens, analyze.stopped)
        return found(terms, repairs)


def found(
    terms: Terms,
    repairs: Repairs,
    edges: np.ndarray | None = None,
    tokens: int | None = None,
    stopped: int = 0,
) -> Found:
    edges = terms.edges if edges is None else edges
    wordless = int(np.count_nonzero(np.diff(edges) == 0))
    return Found(
        terms, wordless, int(edges[-1]) if tokens is None else tokens, stopped, repairs
    )


def missing(documents: Sequence[Any]) -> Repairs:
    count = sum(map(is_missing, documents))
    return Repairs(empty=count, missing=count)


# --- The slow path: one document in Python ---


@dataclass
class PythonAnalyzer:
    """The terms of one document, in the order in which scikit-learn would give them."""

    kind: str
    preprocess: Callable[[str], str]
    tokenize: Callable[[str], Sequence[str]]
    ngrams: tuple[int, int]
    stop_words: frozenset[str] | None
    numbers: bool
    decode: Callable[[Any], str]
    tokens: int = 0  # seen so far, and left out
    stopped: int = 0

    def __call__(self, document: Any) -> list[str]:
        text = self.preprocess(self.decode(document))
        if self.kind == "char":
            return self._count(list(char_slices(collapse(text), *self.ngrams)))
        if self.kind == "char_wb":
            words = text.split()
            return self._count([g for w in words for g in padded_slices(w, *self.ngrams)])
        tokens = self._count(list(self.tokenize(text)))
        before = len(tokens)
        if self.stop_words:
            tokens = [token for token in tokens if token not in self.stop_words]
        if not self.numbers:
            tokens = [token for token in tokens if not is_number(token)]
        self.stopped += before - len(tokens)
        return list(joined_slices(tokens, *self.ngrams))

    def _count(self, tokens: list[str]) -> list[str]:
        self.tokens += len(tokens)
        return tokens

    def fresh(self) -> "PythonAnalyzer":
        """The same for one thread alone: a child process answers one question at a time."""
        cut = self.tokenize
        if isinstance(cut, PatternTokenizer):
            cut = PatternTokenizer(cut.pattern, cut.limit)
        return replace(self, tokenize=cut, tokens=0, stopped=0)

    def close(self) -> None:
        """End the child process, if there is one."""
        if isinstance(self.tokenize, PatternTokenizer):
            self.tokenize.close()


def joined_slices(tokens: list[str], shortest: int, longest: int):
    """Word n-grams, the short ones first.

    >>> list(joined_slices(["to", "be", "or"], 1, 2))
    ['to', 'be', 'or', 'to be', 'be or']
    """
    for n in range(shortest, min(longest, len(tokens)) + 1):
        for i in range(len(tokens) - n + 1):
            yield tokens[i] if n == 1 else " ".join(tokens[i : i + n])


def char_slices(text: str, shortest: int, longest: int):
    for n in range(shortest, min(longest, len(text)) + 1):
        for i in range(len(text) - n + 1):
            yield text[i : i + n]


def padded_slices(word: str, shortest: int, longest: int):
    """Character n-grams of a word between spaces; a word too short for n counts once.

    >>> list(padded_slices("as", 3, 5))
    [' as', 'as ', ' as ']
    """
    word = f" {word} "
    if len(word) < shortest:
        yield word
    yield from char_slices(word, shortest, longest)


def collapse(text: str) -> str:
    """Two white spaces or more become one space; one stays what it is."""
    return LONG_SPACE.sub(" ", text)


def strip_accents_unicode(text: str) -> str:
    """Letters without their accents; other scripts stay.

    >>> strip_accents_unicode("Étude, 東京")
    'Etude, 東京'
    """
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return "".join(c for c in parts if not unicodedata.combining(c))


def strip_accents_ascii(text: str) -> str:
    """Letters without their accents; what has no ASCII letter is left out.

    >>> strip_accents_ascii("Étude, 東京")
    'Etude, '
    """
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")

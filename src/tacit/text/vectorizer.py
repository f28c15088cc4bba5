"""The base of the vectorizers: scikit-learn's settings, and how documents become terms.

Settings are checked and turned into an ``Analysis``, which travels with a pass and finds the
terms of a block, in kernels where they can:

    words      rule, or a token_pattern for runs of one kind of character
    char       character n-grams
    python     preprocessor, tokenizer, analyzer or another token_pattern: one document at a
               time, in Python, as scikit-learn does it
"""

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import Engine, Serial, Threads, check_stop, get_engine
from tacit.core.estimator import Estimator
from tacit.data.document_blocks import ObjectRows
from tacit.data.documents import Documents
from tacit.data.text_block import Repairs, Text, as_string, is_missing, text_of
from tacit.text.patterns import PatternTokenizer, check_pattern, runs_of
from tacit.text.stop_words import LISTS, built_in
from tacit.text.term_counts import BlockTerms
from tacit.text.terms import Terms, char_grams, drop, intern, word_grams
from tacit.text.tokens import TokenRule, is_number, split, token_rule, tokenize
from tacit.text.vocabulary import Vocabulary

__all__ = ["Analysis", "PythonAnalyzer", "Vectorizer", "check_dtype", "refuse_string"]

LONGEST_TERM = 1_000  # words or characters, in a model from a file
LONGEST_WAIT = 3_600.0  # seconds for a token_pattern, in a model from a file
OBJECTS = 1_000  # documents to a block where user code reads them
CHOICES = {
    "input": ("content", "filename", "file"),
    "decode_error": ("strict", "ignore", "replace"),
    "strip_accents": (None, "ascii", "unicode"),
    "analyzer": ("word", "char", "char_wb"),
}

LONG_SPACE = re.compile(r"\s\s+")


@dataclass(frozen=True)
class Analysis:
    """How documents become terms. Travels with a pass as its params."""

    kind: str = "words"  # or "char", "char_wb", "python"
    rule: TokenRule = field(default_factory=TokenRule)
    ngrams: tuple[int, int] = (1, 1)
    stop_words: frozenset[str] | None = None
    numbers: bool = True
    prepare: Callable[[str], str] | None = None  # applied to every text before the kernel
    analyze: Callable[[Any], Sequence[str]] | None = None  # kind "python"
    binary: bool = False

    def find(self, block: Any) -> BlockTerms:
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
        return block_terms(terms, block.repairs)

    def _find_words(self, text: Text) -> BlockTerms:
        all_terms = intern(split(text, self.rule))
        terms = drop(all_terms, self._unwanted(all_terms.vocabulary))
        before, after = all_terms.streams.size, terms.streams.size
        if self.ngrams != (1, 1):
            terms = word_grams(terms, *self.ngrams)
        return block_terms(terms, text.repairs, all_terms.edges, before, before - after)

    def _unwanted(self, vocabulary: Vocabulary) -> np.ndarray:
        mask = np.zeros(len(vocabulary), np.bool_)
        if self.stop_words:
            mask |= vocabulary.marked(self._stop_vocabulary)
        if not self.numbers:
            mask |= np.fromiter(map(is_number, vocabulary.strings), np.bool_, len(vocabulary))
        return mask

    @cached_property
    def _stop_vocabulary(self) -> Vocabulary:
        return Vocabulary.of(list(self.stop_words or ()))

    def _find_in_python(self, block: Any) -> BlockTerms:
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
        for term in places:
            if not isinstance(term, str):
                raise TypeError(
                    f"The analyzer returned a term of type {type(term).__name__}: {term!r}. "
                    "Terms must be str; turn others into str."
                )
        order = sorted(places)
        rank = np.empty(len(order), np.int32)
        rank[[places[term] for term in order]] = np.arange(len(order), dtype=np.int32)
        ids = rank[np.array(stream, np.int64)].reshape(1, -1)
        terms = Terms(Vocabulary.of_sorted(order), ids, edges)
        if isinstance(analyze, PythonAnalyzer):
            return block_terms(terms, repairs, None, analyze.tokens, analyze.stopped)
        return block_terms(terms, repairs)


def block_terms(
    terms: Terms,
    repairs: Repairs,
    edges: np.ndarray | None = None,
    tokens: int | None = None,
    stopped: int = 0,
) -> BlockTerms:
    edges = terms.edges if edges is None else edges
    wordless = int(np.count_nonzero(np.diff(edges) == 0))
    return BlockTerms(
        terms, wordless, int(edges[-1]) if tokens is None else tokens, stopped, repairs
    )


def missing(documents: Sequence[Any]) -> Repairs:
    count = sum(map(is_missing, documents))
    return Repairs(empty=count, missing=count)


# --- One document in Python ---


@dataclass
class PythonAnalyzer:
    """The terms of one document, in scikit-learn's order."""

    kind: str
    preprocess: Callable[[str], str]
    tokenize: Callable[[str], Sequence[str]]
    ngrams: tuple[int, int]
    stop_words: frozenset[str] | None
    numbers: bool
    decode: Callable[[Any], str]
    tokens: int = 0  # read so far, and removed
    stopped: int = 0

    def __call__(self, document: Any) -> list[str]:
        text = self.preprocess(self.decode(document))
        if self.kind == "char":
            return self._count(list(char_slices(LONG_SPACE.sub(" ", text), *self.ngrams)))
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
        """The same for one thread: a child process takes one document at a time."""
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


def refuse_string(raw: Any) -> None:
    """ValueError for one document in place of many."""
    if isinstance(raw, str | bytes):
        raise ValueError(
            "Iterable over raw text documents expected, string object received. "
            "Wrap one document in a list: [text]."
        )


def check_dtype(dtype: Any) -> None:
    """ValueError for a type of entries from a file that are no numbers."""
    if np.dtype(dtype).kind not in "biuf":
        raise ValueError(f"dtype={dtype!r} is not one of numbers.")


class Vectorizer(Estimator):
    """Base of the vectorizers: their settings, and the analysis that follows from them."""

    _takes_text: ClassVar[bool] = True
    # Applied to models that come from files; fit has other messages.
    _parameter_constraints: ClassVar[dict] = {
        "input": [StrOptions({"content"})],  # a stranger's model must not open files
        "encoding": [str],
        "decode_error": [StrOptions({"strict", "ignore", "replace"})],
        "strip_accents": [StrOptions({"ascii", "unicode"}), None],
        "lowercase": ["boolean"],
        "preprocessor": [None],
        "tokenizer": [None],
        "stop_words": [StrOptions({*LISTS}), list, tuple, set, frozenset, None],
        "token_pattern": [str, None],
        "ngram_range": [list, tuple],
        "analyzer": [StrOptions({"word", "char", "char_wb"})],
        "rule": [str],
        "min_length": [Interval(Integral, 1, LONGEST_TERM, closed="both"), None],
        "numbers": ["boolean"],
        "time_limit": [Interval(Real, 0, LONGEST_WAIT, closed="neither")],
        "binary": ["boolean"],
    }
    # raw_documents has nothing to do with metadata routing
    __metadata_request__fit: ClassVar[dict] = {"raw_documents": "$UNUSED$"}
    __metadata_request__transform: ClassVar[dict] = {"raw_documents": "$UNUSED$"}

    input: str
    encoding: str
    decode_error: str
    strip_accents: Any
    lowercase: bool
    preprocessor: Callable | None
    tokenizer: Callable | None
    stop_words: Any
    token_pattern: str | None
    ngram_range: tuple[int, int]
    analyzer: Any
    rule: str
    min_length: int | None
    numbers: bool
    time_limit: float
    engine: Any

    # --- scikit-learn's functions that return the parts of an analysis ---

    def decode(self, doc: Any) -> str:
        """A document as text, whatever ``input`` says it is."""
        return self._decoder()(doc)

    def build_preprocessor(self) -> Callable[[str], str]:
        """A function that prepares a text for the tokenizer."""
        if self.preprocessor is not None:
            return self.preprocessor
        named = {"ascii": strip_accents_ascii, "unicode": strip_accents_unicode, None: None}
        strip = self.strip_accents
        if not callable(strip):
            strip = named[strip]
        return partial(preprocess, lowercase=bool(self.lowercase), strip=strip)

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """A function that splits a preprocessed text into tokens."""
        if self.tokenizer is not None:
            return self.tokenizer
        if self.token_pattern is None:
            shortest = self._token_rule().min_length
            return partial(tokenize, rule=self.rule, lowercase=False, min_length=shortest)
        check_pattern(self.token_pattern)
        return PatternTokenizer(self.token_pattern, self.time_limit)

    def build_analyzer(self) -> Callable[[Any], list[str]]:
        """A function that returns the terms of one document."""
        self._check_settings()
        if callable(self.analyzer):
            return partial(analyze_raw, self.analyzer, self._decoder())
        return PythonAnalyzer(
            self.analyzer,
            self.build_preprocessor(),
            self.build_tokenizer() if self.analyzer == "word" else list,
            (int(self.ngram_range[0]), int(self.ngram_range[1])),
            self._stop_words(),
            bool(self.numbers),
            self._decoder().read if self.preprocessor is not None else self._decoder(),
        )

    def get_stop_words(self) -> frozenset[str] | None:
        """The words that are left out."""
        if self.stop_words is None:
            return None
        if isinstance(self.stop_words, str):
            return built_in(self.stop_words)
        return frozenset(self.stop_words)

    # --- From settings to a pass ---

    def _after_load(self) -> None:
        self._check_settings()
        self._token_rule()
        sizes = self.ngram_range
        if len(sizes) != 2 or not all(type(n) is int and n <= LONGEST_TERM for n in sizes):
            raise ValueError(f"ngram_range={sizes} is not two numbers up to {LONGEST_TERM}.")
        words = self.stop_words
        if not (words is None or isinstance(words, str) or all(type(w) is str for w in words)):
            raise ValueError("stop_words holds something else than words.")
        b" ".decode(self.encoding)
        check_dtype(self.dtype)

    def _check_settings(self) -> None:
        name = type(self).__name__
        for setting, allowed in CHOICES.items():
            value = getattr(self, setting)
            if value not in allowed and not (
                setting in ("analyzer", "strip_accents") and callable(value)
            ):
                raise ValueError(
                    f"{name}({setting}={value!r}) is unknown; choose from {list(allowed)}."
                )
        low, high = self.ngram_range
        if low > high or low < 1:
            raise ValueError(
                f"Invalid value for ngram_range={self.ngram_range}: lower boundary larger than "
                "the upper boundary, or below 1. Give for example (1, 2)."
            )
        if self.token_pattern is not None:
            check_pattern(self.token_pattern)
        if not self.time_limit > 0:
            raise ValueError(f"{name}(time_limit={self.time_limit}) must be above 0 seconds.")

    def _warn_for_unused_params(self) -> None:
        unused = []
        if self.tokenizer is not None and self.token_pattern is not None:
            unused.append(("token_pattern", "'tokenizer' is not None"))
        if callable(self.analyzer):
            if self.preprocessor is not None:
                unused.append(("preprocessor", "'analyzer' is callable"))
            if tuple(self.ngram_range) != (1, 1):
                unused.append(("ngram_range", "'analyzer' is callable"))
        if self.analyzer != "word":
            for setting in ("stop_words", "token_pattern", "tokenizer"):
                if getattr(self, setting) is not None:
                    unused.append((setting, "'analyzer' != 'word'"))
        for setting, reason in unused:
            warnings.warn(
                f"The parameter '{setting}' will not be used since {reason}", stacklevel=3
            )
        self._check_stop_words()

    def _decoder(self) -> "Decoder":
        return Decoder(self.input, self.encoding, self.decode_error)

    def _stop_words(self) -> frozenset[str] | None:
        return self.get_stop_words() if self.analyzer == "word" else None

    def _token_rule(self) -> TokenRule:
        return token_rule(self.rule, self.lowercase, self.min_length)

    def _analysis(self, binary: bool = False) -> Analysis:
        self._check_settings()
        rule = self._token_rule()
        runs = None
        if self.token_pattern is not None and self.tokenizer is None:
            runs = runs_of(self.token_pattern)
        by_user = self.preprocessor is not None or callable(self.analyzer)
        in_kernel = not by_user and (
            self.analyzer != "word"
            or (self.tokenizer is None and (self.token_pattern is None or runs is not None))
        )
        if runs is not None:
            rule = TokenRule(self.rule, rule.lowercase, runs.least, runs.atom)
            # Words may hold characters that sort before a space; Python strings handle that.
            if tuple(self.ngram_range) != (1, 1) and rule.characters().ascii[:33].any():
                in_kernel = False
        stop_words = self._stop_words()
        common: dict[str, Any] = {
            "stop_words": stop_words,
            "numbers": bool(self.numbers),
            "binary": binary,
        }
        if not in_kernel:
            return Analysis(kind="python", analyze=self.build_analyzer(), **common)
        prepare = None
        if self.strip_accents is not None:
            prepare = self.build_preprocessor()
            rule = TokenRule(rule.rule, False, rule.min_length, rule.atom)
        kind = "words" if self.analyzer == "word" else self.analyzer
        ngrams = (int(self.ngram_range[0]), int(self.ngram_range[1]))
        return Analysis(kind=kind, rule=rule, ngrams=ngrams, prepare=prepare, **common)

    def _check_stop_words(self) -> None:
        """Warn of stop words that no token equals, such as "don't" under the plain rule."""
        stop_words = self._stop_words()
        by_user = self.tokenizer is not None or self.preprocessor is not None
        if not stop_words or isinstance(self.stop_words, str) or by_user:
            return
        preprocess, cut = self.build_preprocessor(), self.build_tokenizer()
        words = [preprocess(word) for word in stop_words]
        if isinstance(cut, PatternTokenizer):
            with cut:
                parts = {token for word in words for token in cut(word)}
        else:
            parts = set(cut("\n".join(words)))
        strange = sorted(parts - stop_words)
        if strange:
            warnings.warn(
                "Your stop_words may be inconsistent with your preprocessing. Tokenizing the "
                f"stop words generated tokens {strange} not in stop_words.",
                stacklevel=4,
            )

    def _documents(self, raw: Any) -> Documents:
        """The documents as blocks."""
        refuse_string(raw)
        if isinstance(raw, Documents | Path):
            return Documents.of(raw)
        if not isinstance(raw, Iterable):
            raise TypeError(
                f"{type(self).__name__} takes an iterable of documents, but got "
                f"{type(raw).__name__}. Give a list of str, or Documents."
            )
        if callable(self.analyzer) or self.preprocessor is not None:  # they may take any object
            items = list(raw)
            parts = (items[i : i + OBJECTS] for i in range(0, len(items), OBJECTS))
            return Documents(tuple(map(ObjectRows, parts)), len(items))
        if self.input != "content":
            raw = map(self._decoder().read, raw)
        return Documents.of(raw, encoding=self.encoding, errors=self.decode_error)

    def _engine(self) -> Engine:
        engine = get_engine(self.engine)
        by_user = (self.analyzer, self.preprocessor, self.tokenizer, self.strip_accents)
        if isinstance(engine, Threads) and any(map(callable, by_user)):
            return Serial()  # user code need not be thread-safe, and would not run faster
        return engine

    def _pass(self, function: Callable, raw: Any, binary: bool = False) -> Iterable[Any]:
        """``function`` of the analysis and each block."""
        return self._engine().map(function, self._analysis(binary), self._documents(raw))


# --- Parts of an analyzer, which can be pickled ---


def preprocess(text: str, *, lowercase: bool, strip: Callable[[str], str] | None) -> str:
    """Normal form C, lower case, accents removed: in this order."""
    text = unicodedata.normalize("NFC", text)
    text = text.lower() if lowercase else text
    return text if strip is None else strip(text)


class Decoder:
    """A document as text, whatever ``input`` says it is."""

    def __init__(self, kind: str, encoding: str, errors: str) -> None:
        self.kind, self.encoding, self.errors = kind, encoding, errors

    def read(self, document: Any) -> Any:
        """The content of a file; bytes as text; anything else unchanged."""
        if self.kind == "filename":
            document = Path(document).read_bytes()
        elif self.kind == "file":
            document = document.read()
        if isinstance(document, bytes):
            return as_string(document, encoding=self.encoding, errors=self.errors)
        return document

    def __call__(self, document: Any) -> str:
        return as_string(self.read(document))


def analyze_raw(analyze: Callable, decoder: Decoder, document: Any) -> Any:
    """The terms of an analyzer of the user's, which gets the documents as they are."""
    return analyze(decoder.read(document))

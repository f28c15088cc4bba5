"""What the vectorizers share: scikit-learn's settings, checked and turned into an Analysis."""

import unicodedata
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from tacit.core.engines import Engine, Serial, Threads, get_engine
from tacit.core.estimator import Estimator
from tacit.data.document_blocks import ObjectRows
from tacit.data.documents import Documents
from tacit.data.text_block import as_string
from tacit.text.analysis import (
    Analysis,
    PythonAnalyzer,
    strip_accents_ascii,
    strip_accents_unicode,
)
from tacit.text.patterns import PatternTokenizer, check_pattern, runs_of
from tacit.text.stop_words import ENGLISH
from tacit.text.tokens import TokenRule, token_rule, tokenize

__all__ = ["Vectorizer"]

OBJECTS = 1_000  # documents to a block where a user's own code reads them
CHOICES = {
    "input": ("content", "filename", "file"),
    "decode_error": ("strict", "ignore", "replace"),
    "strip_accents": (None, "ascii", "unicode"),
    "analyzer": ("word", "char", "char_wb"),
}


class Vectorizer(Estimator):
    """Base of the vectorizers: which settings they take and what they mean."""

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

    # --- scikit-learn's ways to look inside ---

    def decode(self, doc: Any) -> str:
        """A document as text, whatever ``input`` says it is."""
        return self._decoder()(doc)

    def build_preprocessor(self) -> Callable[[str], str]:
        """A function that does to a text what is done before it is cut into tokens."""
        if self.preprocessor is not None:
            return self.preprocessor
        return Preprocessor(bool(self.lowercase), self._strip())

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """A function that cuts a preprocessed text into tokens."""
        if self.tokenizer is not None:
            return self.tokenizer
        if self.token_pattern is None:
            return RuleTokenizer(self.rule, self._token_rule().min_length)
        check_pattern(self.token_pattern)
        return PatternTokenizer(self.token_pattern, self.time_limit)

    def build_analyzer(self) -> Callable[[Any], list[str]]:
        """A function that gives the terms of one document."""
        self._check_settings()
        if callable(self.analyzer):
            return RawAnalyzer(self.analyzer, self._decoder())
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
            if self.stop_words != "english":
                raise ValueError(
                    f"stop_words={self.stop_words!r} is not a built-in list; 'english' is. "
                    "Give a list of words, or derive_stop_words(documents)."
                )
            return ENGLISH
        return frozenset(self.stop_words)

    # --- From settings to a pass ---

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

    def _strip(self) -> Callable[[str], str] | None:
        named = {"ascii": strip_accents_ascii, "unicode": strip_accents_unicode, None: None}
        return self.strip_accents if callable(self.strip_accents) else named[self.strip_accents]

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
            # Such words might hold what sorts before a space; strings settle that.
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
        """Warn of stop words that no token can be, such as "don't" under the plain rule."""
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
        """What was handed over, as blocks."""
        self._refuse_string(raw)
        if isinstance(raw, Documents):
            return raw
        if isinstance(raw, Path):
            return Documents.open(raw)
        if not isinstance(raw, Iterable):
            raise TypeError(
                f"{type(self).__name__} takes an iterable of documents, but was given "
                f"{type(raw).__name__}. Give a list of str, or Documents."
            )
        if self._reads_objects():
            items = list(raw)
            parts = (items[i : i + OBJECTS] for i in range(0, len(items), OBJECTS))
            return Documents(tuple(map(ObjectRows, parts)), len(items))
        if self.input != "content":
            raw = map(self._decoder().read, raw)
        return Documents.of(raw, encoding=self.encoding, errors=self.decode_error)

    @staticmethod
    def _refuse_string(raw: Any) -> None:
        if isinstance(raw, str | bytes):
            raise ValueError(
                "Iterable over raw text documents expected, string object received. "
                "Wrap one document in a list: [text]."
            )

    def _reads_objects(self) -> bool:
        """Whether the user's own code gets the documents as they are."""
        return callable(self.analyzer) or self.preprocessor is not None

    def _engine(self) -> Engine:
        engine = get_engine(self.engine)
        by_user = (self.analyzer, self.preprocessor, self.tokenizer, self.strip_accents)
        if isinstance(engine, Threads) and any(map(callable, by_user)):
            return Serial()  # a user's code need not bear several threads, nor gains by them
        return engine

    def _pass(self, function: Callable, raw: Any, binary: bool = False) -> Iterable[Any]:
        """What ``function`` makes of the analysis and each block."""
        analysis, documents, engine = (
            self._analysis(binary),
            self._documents(raw),
            self._engine(),
        )
        if len(documents.blocks) == 1 and isinstance(engine, Serial | Threads):
            return [function(analysis, documents.blocks[0].load())]  # no pool for one block
        return engine.map(function, analysis, documents)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


# --- The pieces of an analyzer; classes, so that they can travel to other processes ---


class Preprocessor:
    """Normal form C, lower case, accents off: in this order."""

    def __init__(self, lowercase: bool, strip: Callable[[str], str] | None) -> None:
        self.lowercase, self.strip = lowercase, strip

    def __call__(self, text: str) -> str:
        text = unicodedata.normalize("NFC", text)
        if self.lowercase:
            text = text.lower()
        return text if self.strip is None else self.strip(text)


class RuleTokenizer:
    """The tokens of a preprocessed text."""

    def __init__(self, rule: str, min_length: int) -> None:
        self.rule, self.min_length = rule, min_length

    def __call__(self, text: str) -> list[str]:
        return tokenize(text, rule=self.rule, lowercase=False, min_length=self.min_length)


class Decoder:
    """A document as text, whatever ``input`` says it is."""

    def __init__(self, kind: str, encoding: str, errors: str) -> None:
        self.kind, self.encoding, self.errors = kind, encoding, errors

    def read(self, document: Any) -> Any:
        """What is in a file; bytes as text; anything else as it is."""
        if self.kind == "filename":
            document = Path(document).read_bytes()
        elif self.kind == "file":
            document = document.read()
        if isinstance(document, bytes):
            return as_string(document, encoding=self.encoding, errors=self.errors)
        return document

    def __call__(self, document: Any) -> str:
        return as_string(self.read(document))


class RawAnalyzer:
    """A user's analyzer, which gets the documents as they are."""

    def __init__(self, analyze: Callable, decoder: Decoder) -> None:
        self.analyze, self.decoder = analyze, decoder

    def __call__(self, document: Any) -> Any:
        return self.analyze(self.decoder.read(document))

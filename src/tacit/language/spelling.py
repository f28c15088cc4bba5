"""Spelling correction by the noisy channel: what was meant, given what was typed.

    P(meant | typed)  is proportional to  P(meant) P(typed | meant)

P(meant) comes from the user's own text: how frequent a word is and, in a sentence, how likely
after the words before it (``language.ngram_model``). P(typed | meant) is the channel: letters
left out, added, replaced, swapped (``language.channel``). Candidates are all words within a few
edits (``language.deletion_index``). In a text every word, right or wrong, gets candidates, and
the likeliest path through them is searched (``language.correction_search``); so a word that
exists but does not belong is corrected too.

    collect    counts of words and n-grams; counts of edits, where there are examples
    update     probabilities

Contract: summable, for it is counting; the passes are those of NGramModel.

Kernighan, Church and Gale (1990), A spelling correction program based on a noisy channel model.
COLING. Mays, Damerau and Mercer (1991), Context based spelling correction. IPM 27. Norvig
(2007), How to write a spelling corrector. In the notes: the noisy channel.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Engine, get_engine
from tacit.core.estimator import Estimator
from tacit.data.documents import Documents
from tacit.data.text_block import Text
from tacit.language.channel import (
    CHANNELS,
    Channel,
    learn_channel,
    letter_logs,
    make_channel,
)
from tacit.language.correction_search import (
    Lexicon,
    Speller,
    best_words,
    correct_texts,
    suggestions,
)
from tacit.language.corrections import Choice, Correction, Suggestion
from tacit.language.deletion_index import build_index, strings_of
from tacit.language.sentences import FIRST
from tacit.language.spelling_text import key_of, sentences_of, words_of_text

__all__ = ["SpellingCorrector"]


class SpellingCorrector(Estimator):
    """Correct misspelt words, from your own text.

    Parameters
    ----------
    max_distance : int
        The most edits between a typed and a meant word: 1, 2 or 3.
    channel : {"english", "uniform"}
        Which errors are likely before any example is seen: by the sounds, keys and habits of
        English, or all equally.
    error_rate : float
        The fraction of words that are misspelt in the texts to correct. The lower, the
        stronger the evidence of the context must be to change a word.
    prior_weight : float
        Weight of the frequency of a word against the channel, for single words.
    context_weight : float
        Weight of its probability given the words before it, for words in a text.
    order : int
        Words in the n-grams of the context; 1 uses no context.
    smoothing : str
        Smoothing of the n-gram model, see ``NGramModel``.
    real_words : bool
        Whether ``correct`` may change words that exist.
    min_count : int
        Rarer words of the text are not part of the vocabulary.
    beam : int
        Beam width of the search for the best sentence.
    n_candidates : int
        The most candidates for a word of a text.
    engine : {"serial", "threads", "dask"} or Engine
        Where the text is read and counted.

    Attributes
    ----------
    vocabulary_ : list of str
        The words known, in lower case and in order.
    counts_ : int64 array of shape (n_words,)
        How often the text has each; 0 for words of the dictionary alone.
    language_model_ : NGramModel
        How likely a word is after others.
    channel_costs_ : float64 array of shape (4, s + 2, s + 2)
        Cost of leaving out, adding, replacing and swapping the letters ``channel_symbols_``.

    Examples
    --------
    >>> text = ["The cat sat on the mat.", "Their dog is over there.", "They have their hats."]
    >>> speller = SpellingCorrector().fit(text)
    >>> for each in speller.suggest("thier", top=2):
    ...     print(each)
    their  0.994
    there  0.005
    >>> done = speller.correct("Thier caat sat on the MTA.")
    >>> print(done)
    Their cat sat on the MAT.
    >>> for change in done.changes:
    ...     print(change)
    Thier -> Their  (unknown word; i and e swapped)
    caat -> cat  (unknown word; a added)
    MTA -> MAT  (unknown word; t and a swapped)
    """

    _takes_text: ClassVar[bool] = True
    contract: ClassVar[str] = "summable"
    _parameter_constraints: ClassVar[dict] = {
        "max_distance": [Interval(Integral, 1, 3, closed="both")],
        "channel": [StrOptions(set(CHANNELS))],
        "error_rate": [Interval(Real, 0, 1, closed="neither")],
        "prior_weight": [Interval(Real, 0, None, closed="neither")],
        "context_weight": [Interval(Real, 0, None, closed="neither")],
        "order": [Interval(Integral, 1, 6, closed="both")],
        "smoothing": [str],
        "real_words": ["boolean"],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "beam": [Interval(Integral, 1, 10_000, closed="both")],
        "n_candidates": [Interval(Integral, 1, 1_000, closed="both")],
    }
    _file_schema: ClassVar[dict] = {
        "vocabulary_": ("n_words",),
        "counts_": ("n_words",),
        "channel_symbols_": ("n_symbols",),
        "channel_costs_": (4, "n_symbols+2", "n_symbols+2"),
        "letter_logs_": ("n_symbols+2", "n_symbols+2"),
    }
    _file_kinds: ClassVar[dict] = {"counts_": "i", "channel_symbols_": "i"}
    _file_types: ClassVar[dict] = {
        "vocabulary_": list[str],
        "first_letter_": float,
        "language_model_": "NGramModel",
    }

    def __init__(
        self,
        max_distance: int = 2,
        *,
        channel: str = "english",
        error_rate: float = 0.02,
        prior_weight: float = 0.8,
        context_weight: float = 1.4,
        order: int = 3,
        smoothing: str = "modified-kneser-ney",
        real_words: bool = True,
        min_count: int = 1,
        beam: int = 12,
        n_candidates: int = 12,
        engine: str | Engine = "threads",
    ) -> None:
        self.max_distance, self.channel, self.error_rate = max_distance, channel, error_rate
        self.prior_weight, self.context_weight, self.order = prior_weight, context_weight, order
        self.smoothing, self.real_words, self.min_count = smoothing, real_words, min_count
        self.beam, self.n_candidates, self.engine = beam, n_candidates, engine

    # --- Fitting ---

    def fit(
        self,
        documents: Any,
        y: Any = None,
        *,
        dictionary: Iterable[str] = (),
        pairs: Iterable[tuple[str, str]] = (),
    ) -> "SpellingCorrector":
        """Learn words and their contexts from documents, and errors from examples.

        Parameters
        ----------
        documents : list of str, Documents or path
            Text that is spelt well, for the most part.
        dictionary : iterable of str
            More words of the vocabulary; of a term with hyphens or spaces each word. Words
            with digits are left out, here as in the text.
        pairs : iterable of (str, str)
            A misspelling and what was meant, each.
        """
        from tacit.language.ngram_model import NGramModel

        self._validate_params()
        sentences, counts = read_corpus(documents, self.engine)
        frequent = {word for word, n in counts.items() if n >= self.min_count}
        listed = {word for entry in dictionary for word in words_of_text(str(entry))}
        words = sorted(word for word in frequent | listed if word and not has_digit(word))
        if not words:
            raise ValueError(
                "SpellingCorrector needs words, but the documents have none that occur "
                f"min_count={self.min_count} times, and the dictionary is empty. Give text."
            )
        self.vocabulary_ = words
        self.counts_ = np.array([counts.get(word, 0) for word in words], np.int64)
        strings = strings_of(words)
        start = make_channel(self.channel, strings)
        learned = learn_channel(start, check_pairs(pairs))
        self.channel_symbols_, self.channel_costs_ = learned.symbols, learned.costs
        self.first_letter_ = learned.first
        self.letter_logs_ = letter_logs(learned, strings)
        self.language_model_ = NGramModel(
            self.order, smoothing=self.smoothing, vocabulary=words, engine=self.engine
        ).fit(sentences or [[words[0]]])
        self.__dict__.pop("_lexicon", None)
        return self

    # --- Correcting ---

    def suggest(self, word: str, *, top: int = 5) -> list[Suggestion]:
        """Candidates for one word, the likeliest first.

        A word that exists is among its own suggestions.
        """
        check_is_fitted(self)
        if not isinstance(word, str):
            raise TypeError(f"suggest takes one str, but was given {type(word).__name__}.")
        return suggestions(self._speller(), word, int(top))

    def predict(self, words: Sequence[str]) -> list[str]:
        """What was most likely meant by each of many words, without context.

        Words that exist stay; so do those that have nothing near them.
        """
        check_is_fitted(self)
        if isinstance(words, str):
            raise ValueError(f"predict takes many words, but got {words!r}. Put it in a list.")
        return best_words(self._speller(), list(words))

    def correct(self, text: str) -> Correction:
        """Correct a text and explain every change. Case and punctuation are preserved."""
        if not isinstance(text, str):
            raise TypeError(
                f"correct takes one str, but was given {type(text).__name__}. "
                "For many texts, use correct_many."
            )
        return self.correct_many([text])[0]

    def correct_many(self, texts: Iterable[str]) -> list[Correction]:
        """Correct many texts, each independently."""
        check_is_fitted(self)
        if isinstance(texts, str):
            raise ValueError("correct_many takes many texts. Put one in a list: [text].")
        return correct_texts(self._speller(), [str(text) for text in texts])

    def choose(
        self, candidates: Sequence[str], *, scores: Sequence[float] | None = None
    ) -> list[Choice]:
        """Rank whole sentences, such as a recognizer's or a translator's guesses.

        ``scores`` are log probabilities from another source, natural logarithms; they are
        added to the language model's.
        """
        check_is_fitted(self)
        if isinstance(candidates, str) or not len(candidates):
            raise ValueError("choose takes several sentences. Give a list of at least one.")
        if scores is not None and len(scores) != len(candidates):
            raise ValueError(
                f"choose was given {len(candidates)} sentences, but {len(scores)} scores."
            )
        other = np.zeros(len(candidates)) if scores is None else np.asarray(scores, np.float64)
        model = self.language_model_
        words = [list(chain.from_iterable(sentences_of(text))) for text in candidates]
        total = other + np.array([model.logprob(sentence) for sentence in words])
        top = total.max()
        p = np.exp(total - top) if np.isfinite(top) else np.ones(len(total))
        p /= p.sum()
        order = np.argsort(-total, kind="stable")
        return [Choice(candidates[i], int(i), float(total[i]), float(p[i])) for i in order]

    # --- State ---

    def _speller(self) -> Speller:
        """What the search needs; the index, built once, is faster to build than to read."""
        channel = Channel(self.channel_symbols_, self.channel_costs_, self.first_letter_)
        lexicon = vars(self).get("_lexicon")
        if lexicon is None or lexicon.index.most != self.max_distance:
            strings = strings_of(self.vocabulary_)
            lexicon = self._lexicon = Lexicon(
                build_index(strings, most=int(self.max_distance)),
                {word: i for i, word in enumerate(self.vocabulary_)},
                channel.rows(strings),
                prior_logs(self.counts_),
            )
        return Speller(
            **vars(lexicon),
            channel=channel,
            words=self.vocabulary_,
            counts=self.counts_,
            letters=self.letter_logs_,
            tables=self.language_model_._tables,
            error_rate=float(self.error_rate),
            weight=float(self.prior_weight),
            context=float(self.context_weight),
            real_words=bool(self.real_words),
            beam=int(self.beam),
            n_candidates=int(self.n_candidates),
        )

    def __getstate__(self):
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_lexicon"}

    def _after_load(self) -> None:
        from tacit.language.ngram_model import NGramModel

        model = self.language_model_
        if not isinstance(model, NGramModel) or model.words_[FIRST:] != self.vocabulary_:
            raise ValueError("language_model_ is not a model of the vocabulary.")
        if self.vocabulary_ != sorted(set(self.vocabulary_)):
            raise ValueError("vocabulary_ is not in order.")
        if (self.channel_costs_ < 0).any() or (np.diff(self.channel_symbols_) <= 0).any():
            raise ValueError("the channel does not hold together.")


def prior_logs(counts: np.ndarray) -> np.ndarray:
    """log P of every word without context; a word never seen has a count of one half."""
    seen = np.where(counts > 0, counts, 0.5)
    return np.log(seen / seen.sum())


def has_digit(word: str) -> bool:
    return any(c.isnumeric() for c in word)


def read_corpus(documents: Any, engine: Any) -> tuple[list[list[str]], Counter[str]]:
    """The sentences of documents as lists of words, and how often each word occurs."""
    parts = get_engine(engine).map(read_block, None, Documents.of(documents))
    sentences = list(chain.from_iterable(parts))
    return sentences, Counter(chain.from_iterable(sentences))


def read_block(_: None, block: Text) -> list[list[str]]:
    """The sentences of a block; equal words are one object, to save memory."""
    seen: dict[str, str] = {}
    return [
        [seen.setdefault(word, word) for word in sentence]
        for text in block.strings()
        for sentence in sentences_of(text)
    ]


def check_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Examples as (meant, typed), in lower case, without those that have no error."""
    checked = []
    for i, pair in enumerate(pairs):
        if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(p, str) for p in pair):
            raise ValueError(
                f"pairs[{i}] is {pair!r}, but must be two strings: a misspelling and what was "
                "meant."
            )
        typed, meant = map(key_of, pair)
        if typed != meant and typed and meant:
            checked.append((meant, typed))
    return checked

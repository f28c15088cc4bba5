"""Word senses: the occurrences of one word, clustered by the words around them.

    collect   the multinomial mixture over contexts: responsibilities of senses, expected counts
    update    smooth and normalize the expected counts

An occurrence is a set of features: the words within a window, once more those within five
words of it, and the words next to it with their place, which carry collocations ("hard to",
"interest in"). The words of a context come from one subject and so are not independent: taken
as such, thirty of them decide every posterior, and clusters follow subjects, not senses. So the
features of a context are weighted to count as few (``evidence``), as in EM with a temperature.
EM finds ``n_senses`` clusters of occurrences; each is shown with the words that set it apart
and its most typical examples.

Schütze (1998), Automatic word sense discrimination. Computational Linguistics 24. Pedersen and
Bruce (1997), Distinguishing word senses in untagged text. EMNLP. The notes' section on word
sense clustering. Ueda and Nakano (1998), Deterministic annealing EM algorithm. Neural Networks
11.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Engine
from tacit.core.estimator import Estimator, with_callbacks
from tacit.data import Documents
from tacit.mixture.multinomial import MultinomialMixture
from tacit.text import tokenize
from tacit.text.stop_words import ENGLISH

__all__ = ["Example", "Sense", "WordSenses"]

ENDINGS = ("s", "es", "d", "ed", "ing")
NEAR = (-2, -1, 1, 2)  # places whose words are features of their own
CLOSE = 5  # words that count twice: as of the window, and as close
RARE = 1000  # a feature of fewer than one in so many occurrences is left out


class Occurrence(NamedTuple):
    """A place where the word stands."""

    document: int
    tokens: list[str]
    position: int


@dataclass(frozen=True)
class Example:
    """An occurrence and how sure its sense is."""

    document: int
    text: str
    probability: float


@dataclass(frozen=True)
class Sense:
    """A cluster of occurrences."""

    number: int
    size: int
    weight: float
    words: list[str]
    examples: list[Example]

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {**vars(self), "examples": [vars(example) for example in self.examples]}


class WordSenses(Estimator):
    """Cluster the occurrences of a word by sense.

    Parameters
    ----------
    word : str
        The word, as it stands in a dictionary. Case is ignored.
    n_senses : int, how many senses to find
    forms : list of str or None
        The forms that count as the word. None: the word itself and its regular English endings
        (-s, -es, -d, -ed, -ing).
    window : int, words on either side that belong to the context
    min_count : int or None
        Leave out features of fewer occurrences. None: of fewer than one in 1,000, at least 2.
    evidence : float
        How many independent words a context counts for. Less makes posteriors less certain and
        lets clusters differ more in size.
    alpha : float, added to every expected count
    n_init : int, runs of EM, each from another start; the most likely one wins
    max_iter : int, most EM iterations of one run
    random_state : int, RandomState or None; seed of the starts
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    labels_ : array of shape (n_occurrences,), the most probable sense of each
    documents_ : array of shape (n_occurrences,), the document of each
    senses_ : list of Sense, largest first
    vocabulary_ : list of str, the features
    mixture_ : MultinomialMixture, fitted

    Examples
    --------
    >>> money = ["the bank raised its interest rate", "a bank loan at a high rate"]
    >>> river = ["we sat on the bank of the river", "the river left its muddy bank"]
    >>> senses = WordSenses("bank", min_count=1, random_state=0).fit(2 * (money + river))
    >>> [sorted(set(senses.documents_[senses.labels_ == j] % 4)) for j in (0, 1)] in (
    ...     [[0, 1], [2, 3]], [[2, 3], [0, 1]])
    True
    >>> len(senses.senses_)
    2
    """

    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "word": [str],
        "n_senses": [Interval(Integral, 1, None, closed="left")],
        "forms": [list, tuple, None],
        "window": [Interval(Integral, 1, None, closed="left")],
        "min_count": [Interval(Integral, 1, None, closed="left"), None],
        "evidence": [Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    _saved_private: ClassVar[tuple] = ("_senses",)
    _file_schema: ClassVar[dict] = {
        "labels_": ("n_occurrences",),
        "documents_": ("n_occurrences",),
    }
    _file_kinds: ClassVar[dict] = {"labels_": "i", "documents_": "i"}
    _file_below: ClassVar[dict] = {"labels_": "n_senses"}
    _file_types: ClassVar[dict] = {
        "vocabulary_": list[str],
        "mixture_": "MultinomialMixture",
        "_senses": list,
    }

    def __init__(
        self,
        word: str = "",
        *,
        n_senses: int = 2,
        forms: Sequence[str] | None = None,
        window: int = 25,
        min_count: int | None = None,
        evidence: float = 5.0,
        alpha: float = 0.1,
        n_init: int = 10,
        max_iter: int = 100,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.word, self.n_senses, self.forms, self.window = word, n_senses, forms, window
        self.min_count, self.evidence, self.alpha = min_count, evidence, alpha
        self.n_init, self.max_iter = n_init, max_iter
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @with_callbacks
    def fit(self, documents: Any, y: Any = None, *, positions: Any = None) -> Self:
        """Find the senses in documents: strings, Documents, a path, or lists of tokens.

        With ``positions``, one for each list of tokens, only the token there counts.
        """
        self._validate_params()
        if not self.word.strip():
            raise ValueError("WordSenses needs a word, but word='' is empty.")
        occurrences = list(self._occurrences(documents, positions))
        if len(occurrences) < self.n_senses:
            raise ValueError(
                f"WordSenses(n_senses={self.n_senses}) needs at least as many occurrences, but "
                f"{self.word!r} occurs {len(occurrences)} times. Lower n_senses, or see forms."
            )
        bags = [set(self._features(occurrence)) for occurrence in occurrences]
        counts = Counter(feature for bag in bags for feature in bag)
        least = self.min_count or max(2, -(-len(occurrences) // RARE))
        self.vocabulary_ = sorted(f for f, count in counts.items() if count >= least)
        if not self.vocabulary_:
            raise ValueError(
                f"No word stands near {self.word!r} in min_count={least} occurrences. "
                "Lower min_count."
            )
        rows = self._rows(bags)
        self.mixture_ = MultinomialMixture(
            self.n_senses, alpha=self.alpha, n_init=self.n_init, max_iter=self.max_iter,
            tol=1e-4, random_state=self.random_state, engine=self.engine,
            callbacks=self.callbacks,
        ).fit(rows)  # fmt: skip
        posterior = self.mixture_.predict_proba(rows)
        self.labels_ = posterior.argmax(axis=1)
        self.documents_ = np.array([occurrence.document for occurrence in occurrences])
        self._senses = [sense.to_dict() for sense in self._summaries(occurrences, posterior)]
        return self

    @property
    def senses_(self) -> list[Sense]:
        """The senses with their words and most typical examples, largest first."""
        check_is_fitted(self)
        return [
            Sense(
                **{**facts, "examples": [Example(**example) for example in facts["examples"]]}
            )
            for facts in self._senses
        ]

    def predict_proba(self, documents: Any, *, positions: Any = None) -> np.ndarray:
        """The posterior of the senses for every occurrence of the word in new documents."""
        check_is_fitted(self)
        occurrences = list(self._occurrences(documents, positions))
        if not occurrences:
            return np.zeros((0, self.n_senses))
        bags = [set(self._features(occurrence)) for occurrence in occurrences]
        return self.mixture_.predict_proba(self._rows(bags))

    def predict(self, documents: Any, *, positions: Any = None) -> np.ndarray:
        """The most probable sense of every occurrence of the word in new documents."""
        return self.predict_proba(documents, positions=positions).argmax(axis=1)

    # --- Parts ---

    def _after_load(self) -> None:
        self.senses_  # noqa: B018  (raises where a file holds something else)
        self._forms()
        if self.mixture_.n_features_in_ != len(self.vocabulary_):
            raise ValueError("vocabulary_ does not match the mixture.")

    def _forms(self) -> frozenset[str]:
        word = self.word.strip().lower()
        if self.forms is not None:
            return frozenset([word, *(form.lower() for form in self.forms)])
        stem = word[:-1] if word.endswith("e") else word
        return frozenset([word, *(word + end for end in ENDINGS), stem + "ing", stem + "ed"])

    def _occurrences(self, documents: Any, positions: Any) -> Iterator[Occurrence]:
        if isinstance(documents, str):
            documents = [documents] if " " in documents else Documents.open(documents)
        forms = self._forms()
        places = None if positions is None else [int(place) for place in positions]
        number = -1
        for number, tokens in enumerate(token_lists(documents)):
            if places is not None:
                if number < len(places):
                    yield Occurrence(number, tokens, checked_place(places, number, tokens))
                continue
            for position, token in enumerate(tokens):
                if token in forms:
                    yield Occurrence(number, tokens, position)
        if places is not None and len(places) != number + 1:
            raise ValueError(
                f"WordSenses was given {len(places)} positions for {number + 1} documents. "
                "Give one for each."
            )

    def _features(self, occurrence: Occurrence) -> Iterator[str]:
        _, tokens, place = occurrence
        for i in range(max(0, place - self.window), min(len(tokens), place + self.window + 1)):
            token = tokens[i]
            if i != place and token not in ENGLISH and len(token) > 1 and token.isalpha():
                yield token
                if abs(i - place) <= CLOSE:
                    yield f"~ {token}"
        for offset in NEAR:
            if 0 <= place + offset < len(tokens):
                yield f"{offset:+d} {tokens[place + offset]}"

    def _rows(self, bags: Iterable[set[str]]) -> sp.csr_array:
        """A row for each context, whose values add up to ``evidence``."""
        place = {feature: i for i, feature in enumerate(self.vocabulary_)}
        columns = [sorted(place[f] for f in bag if f in place) for bag in bags]
        sizes = np.array([len(row) for row in columns], np.int64)
        return sp.csr_array(
            (
                np.repeat(self.evidence / np.maximum(sizes, 1), sizes),
                np.array([column for row in columns for column in row], np.int64),
                np.r_[0, np.cumsum(sizes)],
            ),
            shape=(len(columns), len(place)),
        )

    def _summaries(self, occurrences: list[Occurrence], posterior: np.ndarray) -> list[Sense]:
        words = self.mixture_.keywords(self.vocabulary_, top=60)
        senses = []
        for j in range(self.n_senses):
            member = np.flatnonzero(self.labels_ == j)
            typical = member[np.argsort(-posterior[member, j], kind="stable")[:3]]
            shown = [(occurrences[i], float(posterior[i, j])) for i in typical]
            examples = [Example(at.document, excerpt(at), p) for at, p in shown]
            top = [word for word, _ in words[j] if " " not in word][:10]
            weight = float(self.mixture_.weights_[j])
            senses.append(Sense(j, len(member), weight, top, examples))
        return sorted(senses, key=lambda sense: (-sense.size, sense.number))


def token_lists(documents: Any) -> Iterator[list[str]]:
    """Lower-case tokens of every document: strings, or lists of tokens. None is empty."""
    if isinstance(documents, Documents):
        documents = documents.texts()
    for number, document in enumerate(documents):
        if isinstance(document, str):
            yield tokenize(document)
        elif document is None or (isinstance(document, float) and document != document):
            yield []
        elif isinstance(document, Iterable):
            yield [str(token).lower() for token in document]
        else:
            raise TypeError(
                f"WordSenses takes texts or lists of tokens, but document {number} is of type "
                f"{type(document).__name__}. Turn it into str."
            )


def checked_place(places: list[int], number: int, tokens: list[str]) -> int:
    """The position of the word in a document; ValueError where it has no such token."""
    if not 0 <= places[number] < len(tokens):
        raise ValueError(
            f"WordSenses: the position of document {number} is {places[number]}, but it has "
            f"{len(tokens)} tokens. Count from 0."
        )
    return places[number]


def excerpt(occurrence: Occurrence, width: int = 8) -> str:
    """The word among its neighbors."""
    _, tokens, place = occurrence
    return " ".join(tokens[max(0, place - width) : place + width + 1])

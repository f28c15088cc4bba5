"""Classification by word lists: weights that somebody set by hand.

    score of a class  =  sum of the weights that its list gives to the words of the document

There is nothing to fit, so it works without a single label; with good lists it is a baseline to
beat, with bad ones a lesson. Two rules of English look at the words before: a negation
turns a word around ("not good" counts against), an intensifier makes it count more or less
("very good"). Both work within a clause: commas, stops and "but" end their reach.

The notes' section on linear classification, where weights are set by hand: sentiment lexicons,
and dictionaries that tell languages apart. Taboada et al. (2011), Lexicon-based methods for
sentiment analysis. Computational Linguistics 37.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.classify.lexicon_files import LANGUAGES, own_list, read_lexicon
from tacit.core.estimator import Estimator
from tacit.linear.explanation import check_listed
from tacit.text.tokens import tokenize

__all__ = ["LexiconClassifier", "Mention"]

CLAUSES = re.compile(r"[.,;:!?()\[\]\n…—–]+|\bbut\b|\bhowever\b", re.IGNORECASE)
Words = Mapping[str, float] | Iterable[str] | str | os.PathLike


class Mention(NamedTuple):
    """A word of a list, where it stands in a document."""

    words: str  # with the negation and the intensifier that belong to it
    place: int  # class
    score: float  # what it adds to the score of the class


class LexiconClassifier(ClassifierMixin, Estimator):
    """Classify documents by the words of lists, one list for each class.

    Parameters
    ----------
    lists : {"sentiment", "languages"} or dict
        "sentiment": English words of praise and blame; the classes are "negative" and
        "positive". "languages": function words of ten languages; the classes are their codes,
        "de", "en", "es", "fi", "fr", "it", "nl", "pl", "pt" and "sv". Or a list for each
        class: words, a dict of words and weights, or the path of a file that holds such (see
        ``read_lexicon``). Entries may be phrases.
    negators : "english", None, iterable of str or path
        Words that turn around what follows.
    intensifiers : "english", None, dict or path
        Words that make the next one count more or less, and by what factor.
    reach : int
        How many words after a negator are turned around.
    turn : float
        What a word that is turned around counts for: minus this share of its weight.
    default : str or None
        The class where no word of any list occurs, and where scores are equal; by default
        the first.

    "english" rules apply to the lists of the package for sentiment only: "languages" takes
    neither. Give None for lists in another language.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), sorted
    entries_ : list of dicts, the words and weights of every class

    Examples
    --------
    >>> model = LexiconClassifier()
    >>> model.predict(["A very good film.", "Not good, and far too long.", "Dreadful!"])
    array(['positive', 'negative', 'negative'], dtype='<U8')
    >>> model.decision_function(["not a very good film"])
    array([-1.125])
    >>> LexiconClassifier("languages").predict(["Wo ist denn der Hund?", "où est le chien"])
    array(['de', 'fr'], dtype='<U2')
    """

    contract: ClassVar[str] = "summable"
    _parameter_constraints: ClassVar[dict] = {
        "lists": [StrOptions({"sentiment", "languages"}), dict],
        "negators": "no_validation",
        "intensifiers": "no_validation",
        "reach": [Interval(Integral, 1, None, closed="left")],
        "turn": [Interval(Real, 0, None, closed="left")],
        "default": "no_validation",
    }
    _saved_private: ClassVar[tuple] = ("_negators", "_factors")

    def __init__(
        self,
        lists="sentiment",
        *,
        negators="english",
        intensifiers="english",
        reach=3,
        turn=0.75,
        default=None,
    ):
        self.lists = lists
        self.negators = negators
        self.intensifiers = intensifiers
        self.reach = reach
        self.turn = turn
        self.default = default

    def fit(self, X: Any = None, y: Any = None) -> "LexiconClassifier":
        """Load the lists. Documents and labels are not looked at."""
        self._validate_params()
        given = self.lists
        if isinstance(given, str):
            given = (
                {code: own_list(f"languages/{code}") for code in LANGUAGES}
                if given == "languages"
                else {
                    "negative": own_list("sentiment_negative"),
                    "positive": own_list("sentiment_positive"),
                }
            )
        if len(given) < 2:
            raise ValueError(
                f"LexiconClassifier needs lists for at least 2 classes, but was given "
                f"{len(given)}. Add one for the other class."
            )
        self.classes_ = np.array(sorted(given))
        self.entries_ = [weights_of(given[name.item()]) for name in self.classes_]
        plain = isinstance(self.lists, str) and self.lists == "languages"
        self._negators = sorted(self._rule(self.negators, "negators", plain))
        self._factors = self._rule(self.intensifiers, "intensifiers", plain)
        if self.default is not None and self.default not in self.classes_:
            raise ValueError(
                f"LexiconClassifier(default={self.default!r}) is not one of the classes "
                f"{self.classes_.tolist()}."
            )
        self._after_load()
        return self

    def predict(self, X: Iterable[str]) -> np.ndarray:
        """The class with the highest score; see ``default`` for ties."""
        found = self._scores(X)
        places = found.argmax(axis=1)
        if self.default is not None:
            highest = found == found.max(axis=1, keepdims=True)
            places[highest.sum(axis=1) > 1] = np.flatnonzero(self.classes_ == self.default)[0]
        return self.classes_[places]

    def decision_function(self, X: Iterable[str]) -> np.ndarray:
        """Scores: (n, n_classes), or with two classes (n,), the second's less the first's."""
        found = self._scores(X)
        return found[:, 1] - found[:, 0] if len(self.classes_) == 2 else found

    def mentions(self, document: str) -> list[Mention]:
        """Every word of the lists in a document, with what it adds to which class."""
        self._ready()
        return list(self._find(document))

    def explain(self, document: str, *, n: int | None = 10) -> list[tuple[str, float]]:
        """The words that pushed the decision, and by how much, the strongest first.

        A push is what a word adds to the score of the winner less what it adds to that of
        the runner-up; pushes add up to the difference of the two scores.
        """
        check_listed(n)
        (row,) = self._scores([document])
        order = np.argsort(-row, kind="stable")
        winner, rival = int(order[0]), int(order[1])
        pushes: dict[str, float] = {}
        for words, place, score in self._find(document):
            if place in (winner, rival):
                push = score if place == winner else -score
                pushes[words] = pushes.get(words, 0.0) + push
        ranked = sorted(pushes.items(), key=lambda item: (-abs(item[1]), item[0]))
        return ranked[:n]

    def top_features(self, class_: Any, *, n: int | None = 10) -> list[tuple[str, float]]:
        """The words with the largest weights for a class; of equals the first by letters."""
        self._ready()
        check_listed(n, "top_features")
        found = np.flatnonzero(self.classes_ == class_)
        if not len(found):
            raise ValueError(
                f"LexiconClassifier knows no class {class_!r}; it knows "
                f"{self.classes_.tolist()[:20]}."
            )
        ranked = sorted(self.entries_[found[0]].items(), key=lambda item: (-item[1], item[0]))
        return ranked[:n]

    # --- Parts ---

    def _scores(self, X: Iterable[str]) -> np.ndarray:
        if isinstance(X, str | bytes):
            raise ValueError(
                "LexiconClassifier takes documents, but was given one string. Wrap it in a "
                "list: [text]."
            )
        self._ready()
        rows = []
        for document in X:
            row = np.zeros(len(self.classes_))
            for _, place, score in self._find(document):
                row[place] += score
            rows.append(row)
        return np.array(rows).reshape(len(rows), len(self.classes_))

    def _find(self, document: str | None) -> Iterator[Mention]:
        if document is None or (isinstance(document, float) and np.isnan(document)):
            return  # an empty document
        if not isinstance(document, str):
            raise TypeError(
                f"LexiconClassifier takes texts, but one of the documents is a "
                f"{type(document).__name__}. Give a list of str."
            )
        for clause in CLAUSES.split(document.replace("’", "'")):
            words = tokenize(clause, rule="words")
            turned = -1  # the last place that a negator reaches
            i = 0
            while i < len(words):
                size = self._longest(words, i)
                after = self._longest(words, i + 1)
                if words[i] in self._factors and after:
                    i += 1  # it weighs the next word and is none itself
                    continue
                if not size:
                    if words[i] in self._turns:
                        turned = i + self.reach
                    i += 1
                    continue
                yield from self._weigh(words, i, size, i <= turned)
                i += size

    def _weigh(self, words: list[str], i: int, size: int, turn: bool) -> Iterator[Mention]:
        entry = " ".join(words[i : i + size])
        shown, factor = entry, 1.0
        j = i - 1
        while j >= 0 and words[j] in self._factors:
            factor *= self._factors[words[j]]
            shown = f"{words[j]} {shown}"
            j -= 1
        if turn:
            factor *= -self.turn
            shown = f"not {shown}"
        for place, weights in enumerate(self.entries_):
            if entry in weights:
                yield Mention(shown, place, factor * weights[entry])

    def _longest(self, words: list[str], i: int) -> int:
        """How many words from place i on are an entry of some list: the most, or 0."""
        if i >= len(words):
            return 0
        for size in self._sizes.get(words[i], ()):
            if " ".join(words[i : i + size]) in self._known:
                return size
        return 0

    def _rule(self, given: Any, name: str, plain: bool) -> dict[str, float]:
        if given is None or (plain and isinstance(given, str) and given == "english"):
            return {}
        if isinstance(given, str) and given == "english":
            return dict(own_list(name))
        return weights_of(given)

    def _ready(self) -> None:
        if not hasattr(self, "entries_"):
            self.fit()

    def _after_load(self) -> None:
        """What is quick to look up, from what was fitted."""
        if len(self.entries_) != len(self.classes_):
            raise ValueError("there must be a list for every class.")
        self._known = {entry for weights in self.entries_ for entry in weights}
        sizes: dict[str, set[int]] = {}
        for entry in self._known:
            words = entry.split(" ")
            sizes.setdefault(words[0], set()).add(len(words))
        self._sizes = {word: sorted(found, reverse=True) for word, found in sizes.items()}
        self._turns = frozenset(self._negators)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "entries_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.requires_fit = False
        return tags


def weights_of(given: Words) -> dict[str, float]:
    """A list in any of its shapes as words and weights, spelled as the tokens will be.

    >>> weights_of(["Good", "well  done"])
    {'good': 1.0, 'well done': 1.0}
    """
    if isinstance(given, str | os.PathLike):
        given = read_lexicon(given)
    if isinstance(given, Mapping):
        pairs = [(str(word), float(weight)) for word, weight in given.items()]
    else:
        pairs = [(word, 1.0) for word in given]
    found: dict[str, float] = {}
    for word, weight in pairs:
        if not isinstance(word, str) or not np.isfinite(weight):
            raise ValueError(
                f"A word list holds {word!r} with the weight {weight}. Give words as str and "
                "finite weights."
            )
        tokens = tokenize(word.replace("’", "'"), rule="words")
        if tokens:
            found[" ".join(tokens)] = weight
    if not found:
        raise ValueError("A word list is empty. Give it at least one word.")
    return found

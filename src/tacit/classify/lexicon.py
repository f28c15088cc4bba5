"""Classification by word lists: weights that were set by hand.

    score of a class  =  sum of the weights of its list over the words of the document

Nothing is fitted, so no labels are needed; with good lists it is a baseline. Two rules of
English change the weight of a word: a negator before it reverses the sign ("not good"), an
intensifier scales it ("very good"). Both apply within a clause: commas, stops and "but" end it.

Lists come with the package (written for it: English words of praise and blame, negators and
intensifiers, function words of ten languages), from dictionaries, or from files:

    one word or phrase a line          weight 1; lines that begin with ; or # are comments
    word <TAB> weight                  further columns are ignored
    CSV: word,weight                   with or without column names, quotes allowed

The notes' section on linear classification, where weights are set by hand: sentiment lexicons,
and dictionaries that tell languages apart. Taboada et al. (2011), Lexicon-based methods for
sentiment analysis. Computational Linguistics 37.
"""

import csv
import io
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.errors import DataError, reading
from tacit.core.estimator import Estimator
from tacit.linear.linear_classifier import best_two, check_listed
from tacit.text.tokens import tokenize

__all__ = ["LANGUAGES", "LexiconClassifier", "Mention", "package_list", "read_lexicon"]

LANGUAGES = ("de", "en", "es", "fi", "fr", "it", "nl", "pl", "pt", "sv")
CLAUSES = re.compile(r"[.,;:!?()\[\]\n…—–]+|\bbut\b|\bhowever\b", re.IGNORECASE)
COLUMN_NAMES = {"word", "term", "token", "lemma", "phrase", "words"}
Words = Mapping[str, float] | Iterable[str] | str | os.PathLike


class Mention(NamedTuple):
    """An entry of a list in a document."""

    words: str  # with its negation and intensifiers
    place: int  # of the class
    score: float  # added to the score of the class


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
        Words that reverse the sign of the words after them.
    intensifiers : "english", None, dict or path
        Words that scale the weight of the next one, and by what factor.
    reach : int, how many words after a negator are reversed
    turn : float; a reversed word counts for minus this fraction of its weight
    default : str or None
        The class where no word of any list occurs, and of ties; by default the first.

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
        "reach": [Interval(Integral, 1, None, closed="left")],
        "turn": [Interval(Real, 0, None, closed="left")],
    }
    _saved_private: ClassVar[tuple] = ("_negators", "_factors")
    _file_types: ClassVar[dict] = {
        "classes_": np.ndarray,
        "entries_": list[dict[str, float]],
        "_negators": list[str],
        "_factors": dict[str, float],
    }

    def __init__(
        self,
        lists: Any = "sentiment",
        *,
        negators: Any = "english",
        intensifiers: Any = "english",
        reach: int = 3,
        turn: float = 0.75,
        default: Any = None,
    ) -> None:
        self.lists, self.negators, self.intensifiers = lists, negators, intensifiers
        self.reach, self.turn, self.default = reach, turn, default

    def fit(self, X: Any = None, y: Any = None) -> "LexiconClassifier":
        """Load the lists. Documents and labels are not used."""
        self._validate_params()
        lists = self.lists
        if isinstance(lists, str):
            names = (
                {code: f"languages/{code}" for code in LANGUAGES}
                if lists == "languages"
                else {name: f"sentiment_{name}" for name in ("negative", "positive")}
            )
            lists = {class_: package_list(name) for class_, name in names.items()}
        if len(lists) < 2:
            raise ValueError(
                f"LexiconClassifier needs lists for at least 2 classes, but was given "
                f"{len(lists)}. Add one for the other class."
            )
        self.classes_ = np.array(sorted(lists))
        self.entries_ = [parse_weights(lists[name.item()]) for name in self.classes_]
        self._negators = sorted(self._rule_words("negators"))
        self._factors = self._rule_words("intensifiers")
        self._after_load()
        return self

    def predict(self, X: Iterable[str]) -> np.ndarray:
        """The class with the highest score; see ``default`` for ties."""
        scores = self._scores(X)
        best = scores.argmax(axis=1)
        if self.default is not None:
            ties = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
            best[ties] = np.flatnonzero(self.classes_ == self.default)[0]
        return self.classes_[best]

    def decision_function(self, X: Iterable[str]) -> np.ndarray:
        """Scores: (n, n_classes), or with two classes (n,), the second's less the first's."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def mentions(self, document: str) -> list[Mention]:
        """Every entry of the lists in a document, its class and what it adds to the score."""
        self._ready()
        return list(self._find(document))

    def explain(self, document: str, *, n: int | None = 10) -> list[tuple[str, float]]:
        """The words that contributed to the decision, and how much, the largest first.

        A contribution is what a word adds to the score of the winner less what it adds to that
        of the runner-up; they add up to the difference of the two scores.
        """
        check_listed(n)
        (row,) = self._scores([document])
        winner, rival = best_two(row)
        pushes: dict[str, float] = {}
        for words, place, score in self._find(document):
            if place in (winner, rival):
                push = score if place == winner else -score
                pushes[words] = pushes.get(words, 0.0) + push
        ranked = sorted(pushes.items(), key=lambda item: (-abs(item[1]), item[0]))
        return ranked[:n]

    def top_features(self, class_: Any, *, n: int | None = 10) -> list[tuple[str, float]]:
        """The words with the largest weights for a class; of equals in alphabetical order."""
        self._ready()
        check_listed(n, "top_features")
        at = np.flatnonzero(self.classes_ == class_)
        if not len(at):
            raise ValueError(
                f"LexiconClassifier knows no class {class_!r}; it knows "
                f"{self.classes_.tolist()[:20]}."
            )
        ranked = sorted(self.entries_[at[0]].items(), key=lambda item: (-item[1], item[0]))
        return ranked[:n]

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
            reversed_to = -1  # the last word that a negator reverses
            i = 0
            while i < len(words):
                size = self._longest(words, i)
                after = self._longest(words, i + 1)
                if words[i] in self._factors and after:
                    i += 1  # an intensifier of the next entry, not an entry
                    continue
                if not size:
                    if words[i] in self._negator_set:
                        reversed_to = i + self.reach
                    i += 1
                    continue
                yield from self._score(words, i, size, i <= reversed_to)
                i += size

    def _score(self, words: list[str], i: int, size: int, negated: bool) -> Iterator[Mention]:
        entry = " ".join(words[i : i + size])
        shown, factor = entry, 1.0
        j = i - 1
        while j >= 0 and words[j] in self._factors:
            factor *= self._factors[words[j]]
            shown = f"{words[j]} {shown}"
            j -= 1
        if negated:
            factor *= -self.turn
            shown = f"not {shown}"
        for place, weights in enumerate(self.entries_):
            if entry in weights:
                yield Mention(shown, place, factor * weights[entry])

    def _longest(self, words: list[str], i: int) -> int:
        """The number of words of the longest entry that begins at word i, or 0."""
        if i >= len(words):
            return 0
        for size in self._sizes.get(words[i], ()):
            if " ".join(words[i : i + size]) in self._known:
                return size
        return 0

    def _rule_words(self, name: str) -> dict[str, float]:
        """The negators or the intensifiers; the English ones are not for "languages"."""
        words = getattr(self, name)
        english = isinstance(words, str) and words == "english"
        foreign = isinstance(self.lists, str) and self.lists == "languages"
        if words is None or (english and foreign):
            return {}
        return dict(package_list(name)) if english else parse_weights(words)

    def _ready(self) -> None:
        if not hasattr(self, "entries_"):
            self.fit()

    def _after_load(self) -> None:
        """Tables for the search, from the fitted attributes."""
        if len(self.entries_) != len(self.classes_):
            raise ValueError("there must be a list for every class.")
        if self.default is not None and self.default not in self.classes_:
            raise ValueError(
                f"LexiconClassifier(default={self.default!r}) is not one of the classes "
                f"{self.classes_.tolist()}."
            )
        self._known = {entry for weights in self.entries_ for entry in weights}
        sizes: dict[str, set[int]] = {}
        for entry in self._known:
            words = entry.split(" ")
            sizes.setdefault(words[0], set()).add(len(words))
        self._sizes = {word: sorted(lengths, reverse=True) for word, lengths in sizes.items()}
        self._negator_set = frozenset(self._negators)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "entries_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.requires_fit = False
        return tags


# --- Lists and files ---


def parse_weights(words: Words) -> dict[str, float]:
    """A list in any of its forms as words and weights, spelled as tokens.

    >>> parse_weights(["Good", "well  done"])
    {'good': 1.0, 'well done': 1.0}
    """
    if isinstance(words, str | os.PathLike):
        words = read_lexicon(words)
    if isinstance(words, Mapping):
        pairs = [(str(word), float(weight)) for word, weight in words.items()]
    else:
        pairs = [(word, 1.0) for word in words]
    entries: dict[str, float] = {}
    for word, weight in pairs:
        if not isinstance(word, str) or not np.isfinite(weight):
            raise ValueError(
                f"A word list holds {word!r} with the weight {weight}. Give words as str and "
                "finite weights."
            )
        tokens = tokenize(word.replace("’", "'"), rule="words")
        if tokens:
            entries[" ".join(tokens)] = weight
    if not entries:
        raise ValueError("A word list is empty. Give it at least one word.")
    return entries


def read_lexicon(path: str | os.PathLike) -> dict[str, float]:
    """Read a word list from a file: words in lower case, and their weights.

    UTF-8 with or without a byte order mark; otherwise Latin-1, which older lists use. A word
    with two different weights is an error with its line.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "list.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("; kind words\\ngood\\t1.5\\nwell done\\t2\\n")
    >>> read_lexicon(path)
    {'good': 1.5, 'well done': 2.0}
    """
    with reading(path) as file:
        raw = file.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return parse_lexicon(text, source=str(path))


def parse_lexicon(text: str, source: str | None = None) -> dict[str, float]:
    """The words and weights of the text of a list."""
    lines = enumerate(text.splitlines(), 1)
    rows = [(i, line) for i, line in lines if line.strip() and line.lstrip()[0] not in ";#"]
    tabbed = any("\t" in line for _, line in rows)
    commas = not tabbed and any("," in line for _, line in rows)
    entries: dict[str, float] = {}
    for number, (i, line) in enumerate(rows):
        cells = line.split("\t") if tabbed else [line]
        if commas:
            cells = next(csv.reader(io.StringIO(line)))
        word = " ".join(cells[0].casefold().split()).replace("’", "'")
        if number == 0 and word in COLUMN_NAMES and len(cells) > 1 and not is_number(cells[1]):
            continue  # column names
        if not word:
            raise DataError("The word is missing.", file=source, row=i)
        weight = weight_of(cells, source, i)
        if entries.get(word, weight) != weight:
            raise DataError(
                f"The word {word!r} has the weight {weight:g} here and {entries[word]:g} "
                "above. Keep one of them.",
                file=source,
                row=i,
            )
        entries[word] = weight
    if not entries:
        raise DataError("There are no words in this list.", file=source)
    return entries


def weight_of(cells: list[str], source: str | None, row: int) -> float:
    if len(cells) < 2 or not cells[1].strip():
        return 1.0
    if not is_number(cells[1]):
        raise DataError(
            f"The weight {cells[1].strip()!r} of {cells[0]!r} is not a number. Give one, or "
            "leave it out for 1.",
            file=source,
            row=row,
        )
    return float(cells[1])


def is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


@cache
def package_list(name: str) -> dict[str, float]:
    """A list of the package: "sentiment_positive", "negators", "languages/de", ...

    The dictionary is cached; copy it before changing it.
    """
    file = resources.files("tacit.classify").joinpath("lists", *f"{name}.txt".split("/"))
    return parse_lexicon(file.read_text(encoding="utf8"), source=f"{name}.txt")

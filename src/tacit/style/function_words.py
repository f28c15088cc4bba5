"""Function words and their frequencies in texts, in blocks of words, in sliding windows.

    collect   the counts of all words, to find the most frequent ones
    update    the words, most frequent first

Function words say little about the subject of a text and are chosen without thought, so that
their frequencies belong to the author. ``english(50)`` is the list of the notes' example, which
is Binongo's: articles, prepositions, conjunctions and adverbs, without pronouns. Longer lists
add pronouns, auxiliaries and rarer words, in the order of their frequency in the Brown corpus.
Forms of one word are counted in one column: "a/an".

Binongo (2003), Who wrote the 15th Book of Oz? An application of multivariate analysis to
authorship attribution. Chance 16. Mosteller and Wallace (1964), Inference and disputed
authorship: The Federalist. The notes' section on stylometry.
"""

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Engine
from tacit.core.estimator import Estimator, engine_for
from tacit.data.documents import Documents
from tacit.text.counts import collect
from tacit.text.term_counts import TermStats, no_terms
from tacit.text.tokens import token_rule
from tacit.text.vectorizer import Analysis, refuse_string
from tacit.text.vocabulary import Vocabulary

__all__ = ["FunctionWords", "WordBlocks"]

BINONGO = """
the and to a/an of in that/those it not as with but for at this/these so all on from one/ones
up no out what then if there by who when into now down over back or well which how here just
very where before upon about after more why some
"""
MORE = """
is was he his be i had are have they you were her she would their we him been has will its than
them can only other could may do first any my such like our me even most also did many must
through much your should because each too still own between both being under never same another
while/whilst last us might off since against himself few during without again around however
once every does until/till always away something though less almost enough yet nothing later
next toward/towards several rather per among/amongst often within along ever least although
done thus perhaps itself above whether either across past quite anything having half really
already themselves shall behind cannot whose am sometimes further outside therefore soon near
nor everything except else beyond inside instead doing indeed whom below yes neither throughout
anyone maybe myself herself latter whatever none despite unless everyone someone moreover
otherwise opposite beside nobody nevertheless everybody ought yourself besides ourselves onto
somewhere mine hence somebody beneath anyway elsewhere whenever anybody unlike whereas
furthermore meanwhile seldom
"""
ENGLISH = tuple((BINONGO + MORE).split())
APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})
APOSTROPHE_BYTES = np.array([chr(c).encode()[0] for c in (0x27, *APOSTROPHES)], np.uint8)
ANALYSIS = Analysis(rule=token_rule("words", lowercase=True, min_length=None))


# --- The algorithm ---


class Columns(NamedTuple):
    """Which words are counted, and in which windows. Travels with a pass as its params."""

    forms: Vocabulary  # the words of all groups
    group: np.ndarray  # int32, the column of every form
    width: int
    contractions: bool
    size: int | None  # words of a window; None is all words of the text
    step: int | None  # words from one window to the next; None for blocks


class WordBlocks(NamedTuple):
    """Counts of function words in windows of texts."""

    counts: np.ndarray  # (n, words) int64
    lengths: np.ndarray  # (n,) int64, all words of the window
    texts: np.ndarray  # (n,) int64, the number of its text
    starts: np.ndarray  # (n,) int64, its first word

    @property
    def frequencies(self) -> np.ndarray:
        """(n, words) counts relative to the words of the window."""
        return self.counts / self.lengths[:, None]


def count(params: Columns, block: Any) -> WordBlocks:
    """The counts of the windows of the texts of a block."""
    terms = ANALYSIS.find(block).terms
    codes = column_of_terms(params, terms.vocabulary)[terms.streams[0]]
    places = [windows(int(n), params.size, params.step) for n in np.diff(terms.edges)]
    texts = np.repeat(np.arange(len(places)), [len(starts) for starts, _ in places])
    empty = [np.zeros(0, np.int64)]
    starts = np.concatenate([starts for starts, _ in places] or empty)
    stops = np.concatenate([stops for _, stops in places] or empty)
    shift = terms.edges[texts]
    counts = count_windows(codes, starts + shift, stops + shift, params.width)
    return WordBlocks(counts, stops - starts, texts, starts)


def column_of_terms(params: Columns, vocabulary: Vocabulary) -> np.ndarray:
    """The column of every term of a block; -1 for words that are not counted.

    A contraction counts as the function word in it: "don't" as "not", "it's" as "it".
    """
    places = params.forms.find(vocabulary)
    columns = np.where(places < 0, -1, params.group[places])
    if params.contractions:
        known = dict(zip(params.forms.strings, params.group.tolist(), strict=True))
        candidates = with_apostrophe(vocabulary)
        for i in candidates[columns[candidates] < 0].tolist():
            head, mark, tail = vocabulary[i].translate(APOSTROPHES).partition("'")
            if mark:
                negated = tail == "t" and head.endswith("n")
                columns[i] = known.get("not" if negated else head, -1)
    return columns


def with_apostrophe(vocabulary: Vocabulary) -> np.ndarray:
    """The places of words that may have an apostrophe, by the first byte of its UTF-8."""
    marks = np.flatnonzero(np.isin(vocabulary.data, APOSTROPHE_BYTES))
    return np.unique(np.searchsorted(vocabulary.offsets, marks, side="right") - 1)


def windows(n: int, size: int | None, step: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Where the windows of a text of n words start and stop.

    Blocks do not overlap; a remainder of less than half a block joins the last one. Windows
    that slide end with the text.

    >>> windows(12, 5, None), windows(13, 5, None)
    ((array([0, 5]), array([ 5, 12])), (array([ 0,  5, 10]), array([ 5, 10, 13])))
    >>> windows(12, 5, 3)
    (array([0, 3, 6, 7]), array([ 5,  8, 11, 12]))
    """
    if n == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if size is None or n <= size:
        return np.zeros(1, np.int64), np.full(1, n)
    if step is None:
        number = max(1, n // size + (2 * (n % size) >= size))
        starts = np.arange(number) * size
        return starts, np.append(starts[1:], n)
    starts = np.arange(0, n - size + 1, step)
    if starts[-1] + size < n:
        starts = np.append(starts, n - size)
    return starts, starts + size


def count_windows(
    codes: np.ndarray, starts: np.ndarray, stops: np.ndarray, width: int
) -> np.ndarray:
    """(windows, width) how often every code from 0 occurs in codes[start:stop].

    >>> count_windows(np.array([0, 1, -1, 1]), np.array([0, 1]), np.array([2, 4]), 2)
    array([[1, 1],
           [0, 2]])
    """
    edges = np.unique(np.concatenate([starts, stops]))
    if len(edges) < 2:
        return np.zeros((len(starts), width), np.int64)
    inside = codes[edges[0] : edges[-1]]
    piece = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    counted = inside >= 0
    cells = piece[counted] * width + inside[counted]
    pieces = np.bincount(cells, minlength=(len(edges) - 1) * width).reshape(-1, width)
    sums = np.concatenate([np.zeros((1, width), np.int64), np.cumsum(pieces, axis=0)])
    return sums[np.searchsorted(edges, stops)] - sums[np.searchsorted(edges, starts)]


def most_frequent(stats: TermStats, n_words: int, min_share: float) -> list[str]:
    """The most frequent words of those that are in enough texts; equals as they sort."""
    enough = stats.document_counts >= min_share * stats.documents
    lettered = np.array([word[0].isalpha() for word in stats.vocabulary.strings], bool)
    candidates = np.flatnonzero(enough & lettered)
    order = candidates[np.argsort(-stats.counts[candidates], kind="stable")]
    return [stats.vocabulary[i] for i in order[:n_words]]


# --- The estimator ---


class FunctionWords(TransformerMixin, Estimator):
    """Turn texts into frequencies of function words.

    Parameters
    ----------
    words : sequence of str or None
        The words to count, the most frequent first. "a/an" counts two forms in one column.
        None takes the most frequent words of the texts, in any language; most of them are
        function words.
    n_words : int
        With ``words=None``: how many of the most frequent words.
    min_share : float
        With ``words=None``: the least proportion of the texts that a word must be in
        (stylo's "culling"), which keeps out names.
    contractions : bool
        Whether "don't" counts as "not" and "it's" as "it", unless it is a word of the list.
    engine : {"serial", "threads", "dask"} or Engine
        Where the texts are read. The result does not depend on it.

    Attributes
    ----------
    words_ : list of str, one for each column

    Examples
    --------
    >>> texts = ["The cat and the dog.", "A whale, an albatross."]
    >>> words = FunctionWords(["the", "and", "a/an"]).fit(texts)
    >>> words.transform(texts)
    array([[0.4, 0.2, 0. ],
           [0. , 0. , 0.5]])
    >>> FunctionWords.english(50).words[:4]
    ('the', 'and', 'to', 'a/an')
    """

    contract: ClassVar[str] = "summable"
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "words": [list, tuple, None],
        "n_words": [Interval(Integral, 1, None, closed="left")],
        "min_share": [Interval(Real, 0, 1, closed="both")],
        "contractions": ["boolean"],
    }

    def __init__(
        self,
        words: Sequence[str] | None = None,
        *,
        n_words: int = 100,
        min_share: float = 0.0,
        contractions: bool = True,
        engine: str | Engine = "threads",
    ) -> None:
        self.words, self.n_words, self.min_share = words, n_words, min_share
        self.contractions, self.engine = contractions, engine

    @classmethod
    def english(cls, n: int = 50) -> Self:
        """The n most frequent English function words; 50 are the list of the notes."""
        if not 1 <= n <= len(ENGLISH):
            raise ValueError(
                f"FunctionWords.english(n={n}) has 1 to {len(ENGLISH)} words. For more, count "
                f"the most frequent words of your texts: FunctionWords(n_words={n})."
            )
        return cls(ENGLISH[:n])

    def fit(self, texts: Any, y: Any = None) -> Self:
        """Check the list of words, or find the most frequent words of texts."""
        self._validate_params()
        if self.words is not None:
            self.words_ = check_words(self.words)
            return self
        documents = read_texts(texts)
        stats = no_terms()
        if documents.blocks:
            stats = engine_for(self).reduce(collect, ANALYSIS, documents)
        self.words_ = most_frequent(stats, self.n_words, self.min_share)
        if not self.words_:
            raise ValueError(
                f"FunctionWords found no word in {stats.documents:,} texts "
                f"({stats.wordless:,} of them without a word) that is in "
                f"min_share={self.min_share} of them. Lower min_share, or give words."
            )
        return self

    def transform(self, texts: Any) -> np.ndarray:
        """(texts, words) frequencies relative to all words; zeros for an empty text."""
        check_is_fitted(self)
        documents = read_texts(texts)
        blocks = self.blocks(documents, size=None)
        rows = np.zeros((len(documents), len(self.words_)))
        rows[blocks.texts] = blocks.frequencies
        return rows

    def blocks(
        self, texts: Any, *, size: int | None = 5000, step: int | None = None
    ) -> WordBlocks:
        """Count the words in blocks of ``size`` words, or in windows ``step`` words apart.

        A remainder of less than half a block joins the last one. A text shorter than a block
        is a block; one without a word has none.
        """
        check_is_fitted(self)
        for name, value in (("size", size), ("step", step)):
            if value is not None and value < 1:
                raise ValueError(f"{name}={value} must be a number of words, 1 or more.")
        documents = read_texts(texts)
        params = self._columns(size, step)
        parts = list(engine_for(self).map(count, params, documents))
        if not parts:
            none = np.zeros(0, np.int64)
            return WordBlocks(np.zeros((0, len(self.words_)), np.int64), none, none, none)
        first = np.concatenate([[0], np.cumsum(documents.counts)])
        texts_of = [part.texts + shift for part, shift in zip(parts, first, strict=False)]
        return WordBlocks(
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate(texts_of),
            np.concatenate([part.starts for part in parts]),
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The words, in order of their columns."""
        check_is_fitted(self)
        return np.array(self.words_, object)

    def _columns(self, size: int | None, step: int | None) -> Columns:
        column = {form: j for j, word in enumerate(self.words_) for form in word.split("/")}
        forms = Vocabulary.of(list(column))
        group = np.array([column[form] for form in forms.strings], np.int32)
        return Columns(forms, group, len(self.words_), bool(self.contractions), size, step)

    def _after_load(self) -> None:
        if hasattr(self, "words_"):  # one inside another model may be unfitted
            check_words(self.words_)


def check_words(words: Iterable[Any]) -> list[str]:
    """Lower-case words, each in one group only."""
    seen: dict[str, str] = {}
    checked = []
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"FunctionWords takes words as str, but got {word!r}.")
        forms = [form.strip().lower() for form in word.split("/")]
        for form in forms:
            if not form or len(form.split()) > 1:
                raise ValueError(
                    f"FunctionWords: {word!r} is not a word, nor words separated by slashes."
                )
            if form in seen:
                raise ValueError(
                    f"FunctionWords: {form!r} is in both {seen[form]!r} and {word!r}. Name it "
                    "once."
                )
            seen[form] = word
        checked.append("/".join(forms))
    if not checked:
        raise ValueError("FunctionWords(words=[]) has no word to count. Give some, or None.")
    return checked


def read_texts(texts: Any) -> Documents:
    """Texts as Documents; one string in place of many is refused."""
    refuse_string(texts)
    return Documents.of(texts)

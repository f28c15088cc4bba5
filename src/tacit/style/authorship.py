"""Attribution of texts to authors by the frequencies of function words.

Texts are cut into blocks of words, and the frequencies of the words in a block are a row. The
rows give the scale of every word (``deltas``). An author's profile is the frequency of each
word in all of the author's texts; a text belongs to the author whose profile is nearest in
Delta. How sure that is comes from leaving texts out.

In texts by several authors ``rolling`` slides a window over the text:
the distance of the window from every author's profile shows where, to within about half a
window.

One file: the estimator, its results, and the same attribution along a text.

Burrows (2002) and others: see ``deltas``. Binongo (2003), Who wrote the 15th Book of Oz?
Chance 16: the map. van Dalen-Oskam and van Zundert (2007), Delta for Middle Dutch. Literary and
Linguistic Computing 22. Eder (2016), Rolling stylometry. Digital Scholarship in the Humanities
31. The notes' section on stylometry.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, column_or_1d

from tacit.core.engines import Engine
from tacit.core.estimator import Estimator
from tacit.data.bad_values import check_values
from tacit.decompose import TruncatedSVD
from tacit.style.deltas import (
    VARIANTS,
    Scale,
    Unit,
    add_up,
    find_sharpness,
    leave_one_out,
    nearest,
    profiles_of,
    scale_of,
    units_of,
)
from tacit.style.function_words import FunctionWords, WordBlocks, read_texts

__all__ = [
    "Authorship", "Evaluation", "Rolling", "Segment", "StyleMap", "TellingWord", "Verdict",
    "rolling",
]  # fmt: skip


# --- Results ---


@dataclass(frozen=True)
class Verdict:
    """Who wrote a text, and how sure that is."""

    name: str
    author: Any
    probability: float  # calibrated on texts left out, if one of the authors wrote it
    typicality: float  # proportion of the author's known texts that are at least as far
    distances: dict[Any, float]  # from the profile of every author
    votes: dict[Any, float]  # proportion of the blocks that are nearest to each author
    blocks: int
    words: int

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.author} (probability {self.probability:.3f}, "
            f"{self.votes[self.author]:.0%} of {self.blocks} blocks, typicality "
            f"{self.typicality:.2f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        fields = asdict(self)
        for key in ("distances", "votes"):
            fields[key] = {str(author): value for author, value in fields[key].items()}
        return {**fields, "author": str(self.author)}


@dataclass(frozen=True)
class Evaluation:
    """Every text attributed by the others."""

    right: int
    tested: int
    unit: str  # "text", or "block" where no author has two texts
    names: list[str]
    authors: list
    predicted: list
    probabilities: list[float]  # of the predicted author

    @property
    def accuracy(self) -> float:
        """The proportion attributed to their authors; 0.0 where nothing could be tested."""
        return self.right / self.tested if self.tested else 0.0

    @property
    def wrong(self) -> list[tuple[str, Any, Any]]:
        """Name, author and attribution of the texts that were attributed to others."""
        rows = zip(self.names, self.authors, self.predicted, strict=True)
        return [row for row in rows if row[1] != row[2]]

    def __str__(self) -> str:
        return (
            f"{self.right} of {self.tested} {self.unit}s left out were attributed to their "
            f"authors ({self.accuracy:.1%})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "right": self.right,
            "tested": self.tested,
            "unit": self.unit,
            "accuracy": self.accuracy,
            "wrong": [
                {"name": name, "author": str(author), "predicted": str(predicted)}
                for name, author, predicted in self.wrong
            ],
        }


class TellingWord(NamedTuple):
    """A word that one author uses more, or less, than others."""

    word: str
    rate: float  # per 1,000 words, in the author's texts
    other_rate: float  # in the others'
    effect: float  # difference of the rates in standard deviations of the blocks


class StyleMap(NamedTuple):
    """Blocks as points in the plane where the known ones differ most."""

    points: np.ndarray  # (blocks, 2)
    texts: np.ndarray  # (blocks,) the number of each one's text
    axes: np.ndarray  # (2, words) what each word adds to a coordinate, per deviation
    explained: float  # proportion of the variance of the known blocks


# --- The estimator ---


class Authorship(ClassifierMixin, Estimator):
    """Tell authors apart by their function words, and attribute texts.

    Parameters
    ----------
    words : FunctionWords, sequence of str, int or None
        What to count: a FunctionWords, a list of words, or a number of the most frequent words
        of the texts. None is ``FunctionWords.english(50)``.
    block : int or None
        Words of a block. None counts each text as one block, as in the first Delta.
    variant : {"burrows", "eder", "cosine", "quadratic"}
        The distance; see ``tacit.style.delta``.
    compare : {"author", "text"}
        Whether a text is compared with the profiles of authors, or with their nearest text.
    engine : {"serial", "threads", "dask"} or Engine
        Where the texts are read. The result does not depend on it.

    Attributes
    ----------
    classes_ : array of the authors, sorted
    profiles_ : array of shape (n_authors, n_words), frequencies of the words by author
    scale_ : array of shape (2, n_words), mean and deviation of the frequencies in blocks
    words_ : list of str, the words counted
    sharpness_ : float, b of the probabilities
    text_names_, text_authors_ : names of the texts fitted, and places of their authors
    block_counts_, block_lengths_, block_texts_ : counts, words and text of every block

    Examples
    --------
    >>> land = ["the cow of the farm and the hay of the barn"] * 3
    >>> sea = ["a ship on a sea, on a wave, or a whale on a rock"] * 3
    >>> model = Authorship(["the", "of", "and", "a/an", "on", "or"], block=None)
    >>> model.fit(land + sea, ["Ann"] * 3 + ["Bob"] * 3).predict(["the end of the road"])
    array(['Ann'], dtype='<U3')
    >>> print(model.evaluation())
    6 of 6 texts left out were attributed to their authors (100.0%)
    """

    contract: ClassVar[str] = "summable"
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "words": [
            FunctionWords, list, tuple, Interval(Integral, 1, None, closed="left"), None,
        ],
        "block": [Interval(Integral, 1, None, closed="left"), None],
        "variant": [StrOptions(set(VARIANTS))],
        "compare": [StrOptions({"author", "text"})],
    }  # fmt: skip
    _file_schema: ClassVar[dict] = {
        "classes_": ("authors",),
        "profiles_": ("authors", "n_words_"),
        "scale_": (2, "n_words_"),
        "text_names_": ("texts",),
        "text_authors_": ("texts",),
        "block_counts_": ("blocks", "n_words_"),
        "block_lengths_": ("blocks",),
        "block_texts_": ("blocks",),
        "block_starts_": ("blocks",),
        "left_out_distances_": ("units", "authors"),
    }
    _file_kinds: ClassVar[dict] = {
        "profiles_": "f", "scale_": "f", "text_authors_": "i", "block_counts_": "i",
        "block_lengths_": "i", "block_texts_": "i", "block_starts_": "i",
        "left_out_distances_": "f",
    }  # fmt: skip
    _file_nonfinite: ClassVar[tuple] = ("left_out_distances_",)

    def __init__(
        self,
        words: Any = None,
        *,
        block: int | None = 5000,
        variant: str = "cosine",
        compare: str = "author",
        engine: str | Engine = "threads",
    ) -> None:
        self.words, self.block, self.variant, self.compare = words, block, variant, compare
        self.engine = engine

    # --- Fitting ---

    def fit(self, texts: Any, authors: Any, *, names: Sequence[str] | None = None) -> Self:
        """Learn the profiles of authors from texts, and attribute each text by the others.

        ``names`` are those of the texts, for messages; by default their numbers or files.
        """
        self._validate_params()
        documents = read_texts(texts)
        self.classes_, codes = read_authors(authors, len(documents))
        if names is not None and len(names) != len(documents):
            raise ValueError(
                f"Authorship.fit was given {len(names)} names for {len(documents)} texts."
            )
        self.text_authors_ = codes
        self.function_words_ = self._function_words().fit(documents)
        self.text_names_, blocks = self._count(documents, names)
        self.n_words_ = len(self.words_)
        self.block_counts_, self.block_lengths_, self.block_texts_, self.block_starts_ = blocks
        center = blocks.frequencies.mean(axis=0)
        units = units_of(blocks, blocks.texts, codes, center)
        sums = add_up(units, len(self.classes_))
        self.profiles_ = profiles_of(sums)
        self.scale_ = np.array(scale_of(sums))
        self._leave_out(units, blocks, center)
        return self

    def _leave_out(self, units: list[Unit], blocks: WordBlocks, center: np.ndarray) -> None:
        """Attribute every text by the others; blocks where no author has two texts."""
        self.left_out_unit_, authors = "text", self.text_authors_
        if np.bincount(authors).max() == 1:
            self.left_out_unit_ = "block"
            authors = authors[blocks.texts]
            units = units_of(blocks, np.arange(len(authors)), authors, center)
        self.left_out_distances_ = leave_one_out(
            units, len(self.classes_), self.variant, self.compare
        )
        tested = testable(self.left_out_distances_, authors)
        self.sharpness_ = find_sharpness(self.left_out_distances_[tested], authors[tested])

    def _left_out_authors(self) -> np.ndarray:
        by_text = self.left_out_unit_ == "text"
        return self.text_authors_ if by_text else self.text_authors_[self.block_texts_]

    def _function_words(self) -> FunctionWords:
        words = self.words
        if words is None:
            words = FunctionWords.english(50)
        elif isinstance(words, Integral):
            words = FunctionWords(n_words=int(words))
        elif not isinstance(words, FunctionWords):
            words = FunctionWords(tuple(words))
        return clone(words).set_params(engine=self.engine)

    def _count(
        self, texts: Any, names: Sequence[Any] | None = None, *, size: int | None = None,
        step: int | None = None,
    ) -> tuple[list[str], WordBlocks]:  # fmt: skip
        """The names and the blocks of texts; ValueError for a text without words."""
        check_is_fitted(self, "function_words_")
        documents = read_texts(texts)
        called = [str(name) for name in (documents.ids if names is None else names)]
        blocks = self.function_words_.blocks(documents, size=size or self.block, step=step)
        empty = np.setdiff1d(np.arange(len(documents)), blocks.texts)
        if len(empty):
            raise ValueError(
                f"Authorship: the text {called[empty[0]]!r} has no words"
                + (f", nor have {len(empty) - 1} others" if len(empty) > 1 else "")
                + ". Leave it out."
            )
        return called, blocks

    # --- The texts fitted ---

    @property
    def words_(self) -> list[str]:
        """The words counted."""
        return self.function_words_.words_

    def evaluation(self, *, by_block: bool = False) -> Evaluation:
        """Every text attributed by the others: the accuracy to expect of new texts.

        With ``by_block`` the blocks of the text that is left out are attributed one by one: the
        accuracy to expect of texts as short as a block.
        """
        check_is_fitted(self)
        distances, authors = self.left_out_distances_, self._left_out_authors()
        unit, texts = self.left_out_unit_, np.arange(len(authors))
        if unit == "block":
            texts = self.block_texts_
        elif by_block:
            blocks = self.known_blocks()
            rows = blocks.frequencies
            units = units_of(blocks, blocks.texts, authors, rows.mean(axis=0))
            parts = [rows[blocks.texts == i] for i in range(len(units))]
            distances = leave_one_out(
                units, len(self.classes_), self.variant, self.compare, parts
            )
            unit, texts = "block", np.sort(blocks.texts)
            authors = authors[texts]
        tested = testable(distances, authors)
        posterior = self._posterior(distances[tested])
        best = distances[tested].argmin(axis=1)
        return Evaluation(
            int((best == authors[tested]).sum()), len(tested), unit,
            [self.text_names_[i] for i in texts[tested]],
            self.classes_[authors[tested]].tolist(), self.classes_[best].tolist(),
            posterior[np.arange(len(best)), best].tolist(),
        )  # fmt: skip

    def telling_words(
        self, author: Any, other: Any = None, *, top: int = 10
    ) -> list[TellingWord]:
        """The words that set an author apart from another, or from all, strongest first."""
        check_is_fitted(self)
        codes = self.text_authors_[self.block_texts_]
        first = codes == self._place(author)
        second = ~first if other is None else codes == self._place(other)
        rows = self.known_blocks().frequencies
        gap = rows[first].mean(axis=0) - rows[second].mean(axis=0)
        count = max(1, int(first.sum() + second.sum()) - 2)
        squares = sum(((rows[group] - rows[group].mean(axis=0)) ** 2).sum(axis=0)
                      for group in (first, second))  # fmt: skip
        spread = np.sqrt(squares / count)
        floor = 1e-12 + 0.01 * np.abs(rows).mean(axis=0)  # words that hardly vary
        effect = np.where(gap == 0, 0.0, gap / np.maximum(spread, floor))
        order = np.argsort(-np.abs(effect), kind="stable")[:top]
        return [
            TellingWord(
                self.words_[j], 1000 * float(rows[first, j].mean()),
                1000 * float(rows[second, j].mean()), float(effect[j]),
            )
            for j in order
        ]  # fmt: skip

    def _place(self, author: Any) -> int:
        places = np.flatnonzero(self.classes_ == author)
        if not len(places):
            raise ValueError(
                f"Authorship knows no author {author!r}; it knows {self.classes_.tolist()[:20]}"
                "."
            )
        return int(places[0])

    def known_blocks(self) -> WordBlocks:
        """The blocks of the texts that were fitted."""
        check_is_fitted(self)
        return WordBlocks(
            self.block_counts_, self.block_lengths_, self.block_texts_, self.block_starts_
        )

    def frequencies(self) -> np.ndarray:
        """(texts, words) frequencies in the texts that were fitted."""
        return pooled(self.known_blocks(), len(self.text_names_))

    def scores(self, frequencies: np.ndarray) -> np.ndarray:
        """z-scores of rows of frequencies, by the scale of the texts that were fitted."""
        check_is_fitted(self)
        rows, scale = np.asarray(frequencies, np.float64), Scale(*self.scale_)
        if rows.ndim != 2 or rows.shape[1] != len(scale.mean):
            raise ValueError(
                f"Authorship was fitted on {len(scale.mean)} words, but the frequencies have "
                f"shape {rows.shape}. Give a column for each word."
            )
        check_values(rows, "Authorship")
        return scale.scores(rows)

    def map(self, texts: Any = None) -> StyleMap:
        """Blocks as points in the plane where the blocks of the known texts differ most.

        The plane is that of the first two principal components of the z-scores of known blocks;
        ``texts`` are projected onto it, or the known blocks themselves.
        """
        check_is_fitted(self)
        known = self.known_blocks()
        scores = self.scores(known.frequencies)
        middle = scores.mean(axis=0)
        axes, explained = plane_of(scores - middle)
        shown, places = scores, known.texts
        if texts is not None:
            _, blocks = self._count(texts)
            shown, places = self.scores(blocks.frequencies), blocks.texts
        return StyleMap((shown - middle) @ axes.T, places, axes, explained)

    # --- Attributing ---

    def distances(self, texts: Any) -> np.ndarray:
        """(texts, authors) the Delta between texts and authors."""
        names, blocks = self._count(texts)
        return self.row_distances(pooled(blocks, len(names)))

    def row_distances(self, frequencies: np.ndarray) -> np.ndarray:
        """(rows, authors) the Delta between rows of frequencies and authors."""
        rows = self.scores(frequencies)
        if self.compare == "text":
            known = self.frequencies()
            authors = self.text_authors_
        else:
            known, authors = self.profiles_, np.arange(len(self.classes_))
        return nearest(rows, authors, self.scores(known), len(self.classes_), self.variant)

    def predict(self, texts: Any) -> np.ndarray:
        """The nearest author of every text; a tie goes to the first."""
        return self.classes_[self.distances(texts).argmin(axis=1)]

    def predict_proba(self, texts: Any) -> np.ndarray:
        """(texts, authors) probabilities, calibrated on texts left out.

        They hold if one of the authors wrote the text; ``typicality`` asks whether one did.
        """
        return self._posterior(self.distances(texts))

    def typicality(self, texts: Any) -> np.ndarray:
        """(texts, authors) how typical texts would be of authors: 1 very, 0 not at all.

        The proportion of the author's known texts and the new one that are at least as far
        from the author when they are left out: a conformal p-value (Vovk, Gammerman and
        Shafer 2005). Of texts by the author, a tenth is at most 0.1. 1 for an author without
        two texts, of whom nothing is known. Texts shorter than the known ones are less typical.
        """
        return self._typicality(self.distances(texts))

    def _typicality(self, distances: np.ndarray) -> np.ndarray:
        authors, result = self._left_out_authors(), np.ones(distances.shape)
        for author in range(len(self.classes_)):
            known = self.left_out_distances_[authors == author, author]
            known = np.sort(known[np.isfinite(known)])
            farther = len(known) - np.searchsorted(known, distances[:, author], side="left")
            result[:, author] = (1 + farther) / (1 + len(known))
        return result

    def attribute(self, texts: Any, *, names: Sequence[str] | None = None) -> list[Verdict]:
        """Who wrote each text: author, probability, distances, votes of its blocks."""
        called, blocks = self._count(texts, names)
        distances = self.row_distances(pooled(blocks, len(called)))
        posterior, typical = self._posterior(distances), self._typicality(distances)
        votes = self.row_distances(blocks.frequencies).argmin(axis=1)
        authors = self.classes_.tolist()
        verdicts = []
        for i, name in enumerate(called):
            rows = blocks.texts == i
            best = int(distances[i].argmin())
            fractions = np.bincount(votes[rows], minlength=len(authors)) / rows.sum()
            verdicts.append(
                Verdict(
                    name, authors[best], float(posterior[i, best]), float(typical[i, best]),
                    dict(zip(authors, distances[i].tolist(), strict=True)),
                    dict(zip(authors, fractions.tolist(), strict=True)),
                    int(rows.sum()), int(blocks.lengths[rows].sum()),
                )
            )  # fmt: skip
        return verdicts

    def _posterior(self, distances: np.ndarray) -> np.ndarray:
        if self.sharpness_ == 0:
            known = np.isfinite(distances)
            return known / np.maximum(1, known.sum(axis=1, keepdims=True))
        return softmax(-self.sharpness_ * distances, axis=1)

    # --- Files ---

    def _after_load(self) -> None:
        texts, authors = len(self.text_names_), len(self.classes_)
        if not isinstance(self.function_words_, FunctionWords):
            raise ValueError("function_words_ must be FunctionWords.")
        if len(self.function_words_.words_) != self.n_words_:
            raise ValueError("function_words_ does not match the counts.")
        for name, limit in (("text_authors_", authors), ("block_texts_", texts)):
            codes = getattr(self, name)
            if len(np.unique(codes)) != limit or codes.min() < 0 or codes.max() >= limit:
                raise ValueError(f"{name} must name each of {limit}.")
        if self.block_lengths_.min() < 1 or self.block_counts_.min() < 0:
            raise ValueError("block_lengths_ and block_counts_ must be counts.")
        if (self.block_counts_.sum(axis=1) > self.block_lengths_).any():
            raise ValueError("block_counts_ exceed block_lengths_.")
        if self.left_out_unit_ not in ("text", "block"):
            raise ValueError(f"left_out_unit_={self.left_out_unit_!r} is unknown.")
        distances = self.left_out_distances_
        if len(distances) != len(self._left_out_authors()) or not (distances >= 0).all():
            raise ValueError("left_out_distances_ must be distances, one row for each unit.")
        if (self.scale_[1] < 0).any() or not 0 <= self.sharpness_ < np.inf:
            raise ValueError("scale_ and sharpness_ must not be negative.")


def testable(distances: np.ndarray, authors: np.ndarray) -> np.ndarray:
    """The places of units whose author has another one."""
    return np.flatnonzero(np.isfinite(distances[np.arange(len(authors)), authors]))


def pooled(blocks: WordBlocks, n: int) -> np.ndarray:
    """(n, words) frequencies in texts from the counts of their blocks."""
    counts, words = np.zeros((n, blocks.counts.shape[1])), np.zeros(n)
    np.add.at(counts, blocks.texts, blocks.counts)
    np.add.at(words, blocks.texts, blocks.lengths)
    return counts / words[:, None]


def plane_of(rows: np.ndarray) -> tuple[np.ndarray, float]:
    """The two principal directions of centered rows, and the variance they explain."""
    k = min(2, rows.shape[1])
    axes = np.zeros((2, rows.shape[1]))
    total = float((rows**2).sum())
    if total == 0:
        return axes, 0.0
    svd = TruncatedSVD(k, tol=1e-6, random_state=0, engine="serial").fit(rows)
    axes[:k] = svd.components_
    return axes, float((svd.singular_values_**2).sum() / total)


def read_authors(authors: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The authors, sorted, and the place of each text's."""
    if authors is None:
        raise ValueError(
            "Authorship.fit needs the author of every text, but authors is None. Give a list."
        )
    values = column_or_1d(authors, dtype=object, warn=True).tolist()
    if len(values) != n:
        raise ValueError(f"Authorship.fit was given {len(values)} authors for {n} texts.")
    for i, value in enumerate(values):
        if value is None or value != value:
            raise ValueError(
                f"Authorship.fit: the author of text {i} is missing. Leave the text out, and "
                "give it to attribute."
            )
    if len({isinstance(value, str) for value in values}) > 1:
        raise TypeError("Authorship.fit: some authors are strings and some are not.")
    classes, codes = np.unique(np.asarray(values), return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"Authorship.fit needs texts of two authors or more, but got {classes.tolist()}."
        )
    return classes, codes.astype(np.int64)


# --- Along a text ---


class Segment(NamedTuple):
    """A part of a text whose windows are nearest to one author."""

    start: int  # first word
    stop: int  # one past the last word
    author: Any
    margin: float  # mean of how much farther the next author is


@dataclass(frozen=True)
class Rolling:
    """The distances of the windows of one text from every author."""

    authors: list
    starts: np.ndarray  # (windows,) first word
    stops: np.ndarray  # (windows,) one past the last word
    distances: np.ndarray  # (windows, authors)

    @property
    def nearest(self) -> list:
        """The nearest author of every window."""
        return [self.authors[j] for j in self.distances.argmin(axis=1)]

    @property
    def margins(self) -> np.ndarray:
        """(windows,) how much farther the second author is than the first."""
        two = np.partition(self.distances, 1, axis=1)
        return two[:, 1] - two[:, 0]

    def segments(self) -> list[Segment]:
        """Neighboring windows of one author as parts of the text.

        A part ends halfway between the middles of the windows on either side.
        """
        best = self.distances.argmin(axis=1)
        changes = np.flatnonzero(np.diff(best)) + 1
        middles = (self.starts + self.stops) / 2
        inner = np.round((middles[changes - 1] + middles[changes]) / 2).astype(np.int64)
        edges = [int(self.starts[0]), *inner.tolist(), int(self.stops[-1])]
        pieces = np.split(np.arange(len(best)), changes)
        margins = self.margins
        return [
            Segment(
                edges[i], edges[i + 1], self.authors[best[piece[0]]],
                float(margins[piece].mean()),
            )
            for i, piece in enumerate(pieces)
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "authors": [str(author) for author in self.authors],
            "starts": self.starts.tolist(),
            "stops": self.stops.tolist(),
            "distances": self.distances.tolist(),
            "segments": [
                {**part._asdict(), "author": str(part.author)} for part in self.segments()
            ],
        }


def rolling(
    model: Authorship, text: str, *, window: int | None = None, step: int | None = None
) -> Rolling:
    """Attribute every part of a text.

    Parameters
    ----------
    model : Authorship, fitted
    text : str
    window : int or None
        Words of a window; the model's block by default, or 5000. Shorter windows place a
        change of author better and are less sure of the author.
    step : int or None
        Words from one window to the next; a tenth of the window by default.

    Examples
    --------
    >>> land, sea = "the cow of the barn and the hay ", "a ship on a sea or a rock on a wave "
    >>> model = Authorship(["the", "of", "and", "a/an", "on", "or"], block=None)
    >>> model = model.fit([land, land, sea, sea], ["Ann", "Ann", "Bob", "Bob"])
    >>> rolled = rolling(model, 20 * land + 20 * sea, window=40, step=10)
    >>> [(part.author, round(part.stop, -1)) for part in rolled.segments()]
    [('Ann', 160), ('Bob', 380)]
    """
    if not isinstance(text, str):
        raise TypeError(f"rolling takes one text as str, but got {type(text).__name__}.")
    size = window or model.block or 5000
    pace = step or max(1, size // 10)
    if size < 1 or pace < 1:
        raise ValueError(f"rolling(window={window}, step={step}) must be numbers of words.")
    _, windows = model._count([text], size=size, step=pace)
    return Rolling(
        model.classes_.tolist(), windows.starts, windows.starts + windows.lengths,
        model.row_distances(windows.frequencies),
    )  # fmt: skip

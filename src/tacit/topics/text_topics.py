"""Documents in, topics out: words counted, and a topic model on top.

The vocabulary is chosen for topics: words in at least ``min_df`` documents and at most half of
them, without stop words. The notes' section on LDA.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.core.estimator import Estimator
from tacit.data.documents import Documents
from tacit.text.counts import CountVectorizer
from tacit.topics.lda_gibbs import GibbsLDA
from tacit.topics.topic_summary import TopicShares, TopicSummary

__all__ = ["TextTopics", "topic_vectorizer"]


def topic_vectorizer(n_documents: int, **settings: Any) -> CountVectorizer:
    """A vectorizer that suits topics: rare and common words are left out.

    >>> topic_vectorizer(10_000).min_df, topic_vectorizer(4).min_df
    (5, 1)
    """
    least = 5 if n_documents >= 1000 else 2 if n_documents >= 50 else 1
    most = 0.5 if n_documents >= 50 else 1.0
    return CountVectorizer(
        **{"min_df": least, "max_df": most, "stop_words": "english-function-words", **settings}
    )


class TextTopics(Estimator):
    """Find the topics of documents: a vocabulary and a topic model in one.

    Parameters
    ----------
    n_components : int
        How many topics.
    model : topic model or None
        Cloned and fitted; None is ``GibbsLDA``. Its ``seed_words`` and ``pinned_words`` may
        be words.
    vectorizer : CountVectorizer or None
        What counts the words; None leaves out stop words, rare words and those in more than
        half of the documents.
    random_state : int, RandomState or None
        Seed of the model.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.

    Attributes
    ----------
    model_ : the fitted topic model
    counter_ : the fitted CountVectorizer
    words_ : array of the words of the vocabulary
    n_documents_ : int

    Examples
    --------
    >>> texts = 6 * ["ship sea sail", "sea ship wave", "bread flour oven", "oven bread rye"]
    >>> lda = GibbsLDA(max_iter=100, alpha=0.1)
    >>> model = TextTopics(2, model=lda, random_state=0).fit(texts)
    >>> theta = model.transform(["a ship at sea", "flour for bread"])
    >>> bool(theta[0].argmax() != theta[1].argmax())
    True
    """

    contract: ClassVar[str] = "sequential"
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 20,
        *,
        model: Any = None,
        vectorizer: CountVectorizer | None = None,
        random_state: Any = None,
        engine: Any = "threads",
    ) -> None:
        self.n_components, self.model, self.vectorizer = n_components, model, vectorizer
        self.random_state, self.engine = random_state, engine

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from documents: a list of str, a dataframe column, Documents."""
        self._validate_params()
        documents = Documents.of(X)
        counter = self._count(documents)
        return self._fit_counts(counter, counter.fit_transform(documents))

    def _count(self, documents: Documents) -> CountVectorizer:
        if self.vectorizer is None:
            return topic_vectorizer(len(documents), engine=self.engine)
        return clone(self.vectorizer).set_params(engine=self.engine)

    def _fit_counts(self, counter: CountVectorizer, counts: Any) -> Self:
        model = GibbsLDA() if self.model is None else clone(self.model)
        model.set_params(
            n_components=self.n_components, random_state=self.random_state, engine=self.engine
        )
        places = {word: i for i, word in enumerate(counter.get_feature_names_out())}
        for name in ("seed_words", "pinned_words"):
            by_topic = getattr(model, name, None) or {}
            columns = {t: columns_of(words, places, name) for t, words in by_topic.items()}
            if columns:
                model.set_params(**{name: columns})
        self.model_ = model.fit(counts)
        self.counter_, self.n_documents_ = counter, counts.shape[0]
        return self

    @property
    def words_(self) -> np.ndarray:
        """The words of the vocabulary, in the order of the columns."""
        check_is_fitted(self)
        return self.counter_.get_feature_names_out()

    @property
    def topics_(self) -> np.ndarray:
        """(k, v) the probability of each word in each topic."""
        check_is_fitted(self)
        return self.model_.topics_

    def counts(self, X: Any) -> Any:
        """The counts of the words of the vocabulary, a row for every document."""
        check_is_fitted(self)
        return self.counter_.transform(Documents.of(X))

    def transform(self, X: Any) -> np.ndarray:
        """(n, k) the topic proportions of documents."""
        return self.model_.transform(self.counts(X))

    def held_out_likelihood(self, X: Any, **options: Any) -> float:
        """The mean log-probability of a token of held-out documents."""
        return self.model_.held_out_likelihood(self.counts(X), **options)

    def summary(
        self, X: Any = None, *, ids: Sequence[Any] | None = None, **options: Any
    ) -> TopicSummary:
        """The topics by size, with their words and, for documents X, typical ones."""
        check_is_fitted(self)
        rows = None if X is None else self.counts(X)
        return self.model_.summary(self.words_, X=rows, ids=ids, **options)

    def topics_by(self, X: Any, groups: Sequence[Any]) -> TopicShares:
        """How much of each topic the documents of each year, author or other group have."""
        return self.model_.topics_by(self.counts(X), groups)

    def merge_topics(self, groups: Sequence[Sequence[int]]) -> Self:
        """A copy in which the topics of each group are one; it takes the place of the first."""
        check_is_fitted(self)
        merged = copy(self)
        merged.model_ = self.model_.merge_topics(groups)
        merged.n_components = len(merged.model_.alpha_)
        return merged

    def _after_load(self) -> None:
        if not hasattr(self.model_, "topics_") or not hasattr(self.counter_, "vocabulary_"):
            raise ValueError("model_ must be a topic model and counter_ a CountVectorizer.")
        if len(self.words_) != self.model_.n_features_in_:
            raise ValueError("The vocabulary does not match the topics.")


def columns_of(words: Iterable[Any], places: Mapping[str, int], name: str) -> list[Any]:
    """The columns of words; numbers of columns are not changed."""
    missing = [word for word in words if isinstance(word, str) and word not in places]
    if missing:
        raise ValueError(
            f"TextTopics: the word {missing[0]!r} of {name} is not in the vocabulary of "
            f"{len(places):,} words. Leave it out, or give a vectorizer that keeps it."
        )
    return [places[word] if isinstance(word, str) else word for word in words]

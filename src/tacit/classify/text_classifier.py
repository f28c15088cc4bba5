"""Documents in, classes out: words counted, weighted, and a linear classifier on top.

    counts       the words of the documents (``tacit.text.CountVectorizer``)
    weights      counts weighted by how much a word says, for all but naive Bayes
    classifier   any of ``classify.candidates``, or one of your own

One object to fit, ask and save. What it decided it can explain in words: the score is a sum,
and each word of the document adds its part.

The notes' chapters on linear classification.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacit.classify.candidates import CANDIDATES, make
from tacit.core.estimator import Estimator
from tacit.data.documents import Documents
from tacit.text.counts import CountVectorizer
from tacit.text.tfidf import TfidfTransformer

__all__ = ["TextClassifier"]


def has(method: str) -> Any:
    def check(model: Any) -> bool:
        classifier = getattr(model, "classifier_", model.classifier)  # or the one to be fitted
        known = CANDIDATES.get(classifier) if isinstance(classifier, str) else None
        return hasattr(model._new()[0] if known else classifier, method)

    return check


class TextClassifier(ClassifierMixin, Estimator):
    """Classify documents by their words.

    Parameters
    ----------
    classifier : str or classifier
        "naive-bayes", "bernoulli", "complement", "perceptron", "passive-aggressive", "svm",
        "logistic", with settings that suit text; or an estimator, which is cloned.
    vectorizer : CountVectorizer or None
        How documents become counts: n-grams, characters, pruning. None counts all words.
    weighting : {"auto", "tfidf", "counts"}
        What the classifier sees: counts, or logarithms of them weighted by tf-idf. "auto"
        gives counts to naive Bayes and weights to the others.
    random_state : int, RandomState or None
        Seed, for classifiers that take one.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.

    Attributes
    ----------
    classes_ : array of the classes, sorted
    classifier_ : the fitted classifier
    counter_ : the fitted CountVectorizer
    weigher_ : the fitted TfidfTransformer, or None
    n_documents_, n_terms_ : int

    Examples
    --------
    >>> model = TextClassifier("naive-bayes").fit(
    ...     ["win money now", "see you at noon", "money for you", "lunch at noon"],
    ...     ["spam", "ham", "spam", "ham"],
    ... )
    >>> model.predict(["free money", "noon?"])
    array(['spam', 'ham'], dtype='<U4')
    >>> model.explain("money now at noon", class_="spam", n=3)
    [('money', 3.18), ('at', -2.909), ('noon', -2.909)]
    """

    contract: ClassVar[str] = "summable"
    _parameter_constraints: ClassVar[dict] = {
        "classifier": "no_validation",
        "vectorizer": "no_validation",
        "weighting": [StrOptions({"auto", "tfidf", "counts"})],
        "random_state": "no_validation",
        "engine": "no_validation",
    }

    def __init__(
        self,
        classifier: Any = "naive-bayes",
        *,
        vectorizer: CountVectorizer | None = None,
        weighting: str = "auto",
        random_state: Any = None,
        engine: Any = "threads",
    ) -> None:
        self.classifier = classifier
        self.vectorizer = vectorizer
        self.weighting = weighting
        self.random_state = random_state
        self.engine = engine

    def fit(self, X: Any, y: Any) -> "TextClassifier":
        """Learn from documents: a list of str, a dataframe column, Documents; and labels."""
        self._validate_params()
        documents = Documents.of(X)
        y = check_labels(y, len(documents))
        classifier, weighted = self._new()
        counter = CountVectorizer() if self.vectorizer is None else clone(self.vectorizer)
        counter.set_params(engine=self.engine)
        rows = counter.fit_transform(documents)
        weigher = TfidfTransformer(sublinear_tf=True, engine=self.engine) if weighted else None
        if weigher is not None:
            rows = weigher.fit_transform(rows)
        self.classifier_ = classifier.fit(rows, y)
        self.counter_, self.weigher_ = counter, weigher
        self.classes_ = self.classifier_.classes_
        self.n_documents_, self.n_terms_ = rows.shape
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of every document."""
        check_is_fitted(self)
        return self._over(X, "predict", self.classes_.dtype)

    @available_if(has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class for every document."""
        check_is_fitted(self)
        return self._over(X, "predict_proba", width=len(self.classes_))

    @available_if(has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of every class for every document."""
        check_is_fitted(self)
        return self._over(X, "predict_log_proba", width=len(self.classes_))

    @available_if(has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """The scores; with two classes, that of the second against the first."""
        check_is_fitted(self)
        two = len(self.classes_) == 2
        return self._over(X, "decision_function", width=None if two else len(self.classes_))

    def explain(
        self, document: str, *, class_: Any = None, against: Any = None, n: int | None = 10
    ) -> list[tuple[str, float]]:
        """The words that pushed the decision, and by how much: for the class that won, or
        ``class_``, and against the runner-up. The strongest first."""
        (rows,) = self._rows(Documents.of([document]))
        names = self.counter_.get_feature_names_out()
        return self.classifier_.explain(rows, class_=class_, against=against, n=n, names=names)

    def top_features(self, class_: Any, *, n: int | None = 10) -> list[tuple[str, float]]:
        """The words that speak most for a class, with their weights."""
        check_is_fitted(self)
        names = self.counter_.get_feature_names_out()
        return self.classifier_.top_features(class_, n=n, names=names)

    # --- Parts ---

    def _new(self) -> tuple[Any, bool]:
        """The classifier to fit, and whether it sees weights."""
        if isinstance(self.classifier, str):
            model, weighted = make(
                self.classifier, random_state=self.random_state, engine=self.engine
            )
        else:
            model = clone(self.classifier)
            counts = {each.model for each in CANDIDATES.values() if not each.weighted}
            weighted = type(model).__name__ not in counts
        if self.weighting != "auto":
            weighted = self.weighting == "tfidf"
        return model, weighted

    def _rows(self, documents: Documents) -> Iterator[Any]:
        """The documents as the classifier sees them, block by block."""
        check_is_fitted(self)
        for block, count in zip(documents.blocks, documents.counts, strict=True):
            rows = self.counter_.transform(Documents((block,), count))
            yield rows if self.weigher_ is None else self.weigher_.transform(rows)

    def _over(
        self, X: Any, method: str, dtype: Any = np.float64, width: int | None = None
    ) -> np.ndarray:
        documents = Documents.of(X)
        ask = getattr(self.classifier_, method)
        found = [ask(rows) for rows in self._rows(documents) if rows.shape[0]]
        if not found:
            return np.empty(0 if width is None else (0, width), dtype)
        return np.concatenate(found)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def check_labels(y: Any, n: int) -> np.ndarray:
    """One label for each document; one that is missing is an error with its place."""
    if y is None:
        raise ValueError(
            "TextClassifier requires y to be passed, but the target y is None. Give labels."
        )
    values = list(y)
    if len(values) != n:
        raise ValueError(
            f"There are {len(values)} labels for {n} documents; give one for each."
        )
    for row, value in enumerate(values):
        if value is None or (isinstance(value, float) and np.isnan(value)):
            raise ValueError(
                f"The document in row {row} has no label. Leave out documents without one."
            )
    if len({isinstance(value, str) for value in values}) > 1:
        raise TypeError(
            "Some labels are strings and others are not. Make all of them strings or all of "
            "them whole numbers."
        )
    return np.asarray(values)

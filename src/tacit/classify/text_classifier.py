"""Documents in, classes out: features counted, weighted, and a linear classifier on top.

    features     words, or n-grams of characters (``tacit.text.CountVectorizer``)
    weights      tf-idf, for all classifiers but naive Bayes
    classifier   one of ``CANDIDATES``, or any estimator

Characters suit single words, names and languages, where few words occur twice. By default the
features are chosen: naive Bayes is cross-validated with both on a sample, one pass each, and
characters are used where they are significantly better (McNemar's test).

``choose_classifier`` cross-validates all candidates on the same folds. Documents are counted
once. A fold is left out of everything: terms that occur only in it are dropped, and tf-idf
weights come from the other folds, as they would for new documents. McNemar's test gives the
significance of the difference to the best candidate.

The notes' chapters on linear classification, and their section on training, testing and tuning
sets.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacit.classify.naive_bayes import MultinomialNB
from tacit.core.estimator import Estimator
from tacit.core.progress import Callback, Step, notify
from tacit.core.randoms import key, permutation
from tacit.core.registry import find_class
from tacit.data.documents import Documents
from tacit.measure.classification import wilson_interval
from tacit.measure.cross_validation import cross_predict, fold_numbers
from tacit.measure.significance import mcnemar
from tacit.text.counts import CountVectorizer
from tacit.text.tfidf import TfidfTransformer

__all__ = [
    "CANDIDATES", "FEATURES", "Candidate", "FeatureChoice", "ModelChoice", "TextClassifier",
    "Trial", "check_document_labels", "choose_classifier", "choose_features", "make_classifier",
    "make_vectorizer",
]  # fmt: skip

SAMPLE = 2_000  # documents that the features are chosen on, and their characters at most
SAMPLE_CHARACTERS = 1_000_000


class Candidate(NamedTuple):
    """A classifier by name, with settings that suit text."""

    model: str  # its name in core.registry
    settings: Mapping[str, Any]
    weighted: bool  # wants tf-idf; otherwise counts


CANDIDATES: dict[str, Candidate] = {
    "naive-bayes": Candidate("MultinomialNB", {"alpha": 0.1}, False),
    "bernoulli": Candidate("BernoulliNB", {"alpha": 0.1}, False),
    "complement": Candidate("ComplementNB", {"alpha": 0.3}, False),
    "perceptron": Candidate("Perceptron", {"max_iter": 20}, True),
    "passive-aggressive": Candidate(
        "PassiveAggressiveClassifier", {"average": True, "max_iter": 20}, True
    ),
    "svm": Candidate("LinearSVC", {}, True),
    "logistic": Candidate("LogisticRegression", {"C": 10.0}, True),
}
FEATURES: dict[str, dict[str, Any]] = {
    "words": {},
    "characters": {"analyzer": "char_wb", "ngram_range": (1, 3)},
}


def make_classifier(name: str, **common: Any) -> tuple[Any, bool]:
    """The classifier of that name, and whether it wants weighted counts.

    ``common`` are settings, such as random_state and engine, for those that have them.

    >>> make_classifier("naive-bayes", random_state=0)
    (MultinomialNB(alpha=0.1), False)
    """
    if name not in CANDIDATES:
        raise ValueError(f"There is no classifier {name!r}; choose from {list(CANDIDATES)}.")
    candidate = CANDIDATES[name]
    model = find_class(candidate.model)(**candidate.settings)
    known = model.get_params()
    model.set_params(**{k: v for k, v in common.items() if k in known})
    return model, candidate.weighted


def make_vectorizer(features: str, **settings: Any) -> CountVectorizer:
    """The vectorizer of "words" or "characters", with further settings."""
    return CountVectorizer(**{**FEATURES[features], **settings})


# --- The choice of features ---


@dataclass(frozen=True)
class FeatureChoice:
    """Cross-validated accuracy of naive Bayes by features. Made by ``choose_features``."""

    best: str  # "words" or "characters"
    accuracy: dict[str, float]  # empty where there were too few documents
    p_value: float  # McNemar
    documents: int  # in the sample

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return dict(vars(self))

    def __str__(self) -> str:
        figures = ", ".join(f"{name} {value:.4f}" for name, value in self.accuracy.items())
        return f"features: {self.best}" + (f" (naive Bayes: {figures})" if figures else "")


def choose_features(documents: Any, y: Any, *, engine: Any = "threads") -> FeatureChoice:
    """Choose words or n-grams of characters by cross-validated naive Bayes on a sample.

    Characters are chosen only if they are significantly better (p below 0.01): words cost
    less, and explain more.

    >>> words = ["Hund", "Katze", "dog", "cat", "Maus", "mouse"]
    >>> choose_features(words, ["de", "de", "en", "en", "de", "en"]).best  # too few to tell
    'words'
    """
    documents = Documents.of(documents)
    y = check_document_labels(y, len(documents))
    order = permutation(key(0), len(y))[:SAMPLE].tolist()
    texts_by_row = {row: documents[row] for row in sorted(order)}  # block by block
    ends = np.cumsum([len(texts_by_row[row]) for row in order])
    rows = order[: int(np.searchsorted(ends, SAMPLE_CHARACTERS)) + 1]
    texts, labels = [texts_by_row[row] for row in rows], y[rows]
    if len(texts) < 20 or np.unique(labels, return_counts=True)[1].max() > len(texts) - 2:
        return FeatureChoice("words", {}, 1.0, len(texts))
    predictions = {}
    for name in FEATURES:
        counter = make_vectorizer(name, engine=engine)
        try:
            counts = counter.fit_transform(texts)
        except ValueError:  # no terms at all
            continue
        model = MultinomialNB(alpha=0.1, engine=engine)
        predictions[name] = cross_predict(model, counts, labels, folds=5).predictions
    accuracy = {name: float(np.mean(p == labels)) for name, p in predictions.items()}
    if len(accuracy) < 2:
        return FeatureChoice(next(iter(accuracy), "words"), accuracy, 1.0, len(texts))
    p_value = mcnemar(labels, predictions["words"], predictions["characters"]).p_value
    better = accuracy["characters"] > accuracy["words"] and p_value < 0.01
    return FeatureChoice("characters" if better else "words", accuracy, p_value, len(texts))


# --- The estimator ---


def has(method: str) -> Any:
    """Whether the classifier, fitted or not, has the method."""

    def check(model: Any) -> bool:
        classifier = getattr(model, "classifier_", model.classifier)
        known = CANDIDATES.get(classifier) if isinstance(classifier, str) else None
        return hasattr(model._make()[0] if known else classifier, method)

    return check


class TextClassifier(ClassifierMixin, Estimator):
    """Classify documents by their words, or by their characters.

    Parameters
    ----------
    classifier : str or classifier
        "naive-bayes", "bernoulli", "complement", "perceptron", "passive-aggressive", "svm",
        "logistic", with settings that suit text; or an estimator, which is cloned.
    features : {"auto", "words", "characters"}
        Words, or 1- to 3-grams of the characters within words. "auto" takes characters where
        they are significantly better in cross-validation; see ``choose_features``.
    vectorizer : CountVectorizer or None; used instead, for other features
    weighting : {"auto", "tfidf", "counts"}
        Input of the classifier: counts, or their logarithms weighted by tf-idf. "auto" is
        counts for naive Bayes and tf-idf for the others.
    random_state : int, RandomState or None; seed, for classifiers that take one
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.

    Attributes
    ----------
    classes_ : array of the classes, sorted
    features_ : "words" or "characters"; None with a vectorizer
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
    [('money', 3.179...), ('at', -2.909...), ('noon', -2.909...)]
    """

    contract: ClassVar[str] = "summable"
    features_: str | None = None  # of files from before there was a choice
    _parameter_constraints: ClassVar[dict] = {
        "features": [StrOptions({"auto", "words", "characters"})],
        "weighting": [StrOptions({"auto", "tfidf", "counts"})],
    }
    _file_optional = ("weigher_",)
    _file_types: ClassVar[dict] = {
        "counter_": ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer", "TextFeatures"),
        "weigher_": "TfidfTransformer",
        "n_terms_": int,
        "n_documents_": int,
    }

    def __init__(
        self,
        classifier: Any = "naive-bayes",
        *,
        features: str = "auto",
        vectorizer: CountVectorizer | None = None,
        weighting: str = "auto",
        random_state: Any = None,
        engine: Any = "threads",
    ) -> None:
        self.classifier, self.features, self.vectorizer = classifier, features, vectorizer
        self.weighting, self.random_state, self.engine = weighting, random_state, engine

    def fit(self, X: Any, y: Any) -> "TextClassifier":
        """Learn from documents: a list of str, a dataframe column, Documents; and labels."""
        self._validate_params()
        documents = Documents.of(X)
        y = check_document_labels(y, len(documents))
        classifier, weighted = self._make()
        if self.vectorizer is not None:
            self.features_, counter = None, clone(self.vectorizer)
        else:
            self.features_ = self.features
            if self.features == "auto":
                self.features_ = choose_features(documents, y, engine=self.engine).best
            counter = make_vectorizer(self.features_)
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
        return self._by_blocks(X, "predict", self.classes_.dtype)

    @available_if(has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class for every document."""
        check_is_fitted(self)
        return self._by_blocks(X, "predict_proba", width=len(self.classes_))

    @available_if(has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of every class for every document."""
        check_is_fitted(self)
        return self._by_blocks(X, "predict_log_proba", width=len(self.classes_))

    @available_if(has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """The scores; with two classes, that of the second against the first."""
        check_is_fitted(self)
        width = None if len(self.classes_) == 2 else len(self.classes_)
        return self._by_blocks(X, "decision_function", width=width)

    def explain(
        self, document: str, *, class_: Any = None, against: Any = None, n: int | None = 10
    ) -> list[tuple[str, float]]:
        """The terms that contributed most to the score of the predicted class, or of
        ``class_``, against the runner-up, and how much. The largest first."""
        (rows,) = self._rows(Documents.of([document]))
        names = self.counter_.get_feature_names_out()
        return self.classifier_.explain(rows, class_=class_, against=against, n=n, names=names)

    def top_features(self, class_: Any, *, n: int | None = 10) -> list[tuple[str, float]]:
        """The terms with the largest weights for a class."""
        check_is_fitted(self)
        names = self.counter_.get_feature_names_out()
        return self.classifier_.top_features(class_, n=n, names=names)

    def _after_load(self) -> None:
        sizes = {self.n_terms_, getattr(self.classifier_, "n_features_in_", None)}
        sizes.add(getattr(self.weigher_, "n_features_in_", self.n_terms_))
        if hasattr(self.counter_, "vocabulary_") and self.features_ is not None:
            sizes.add(len(self.counter_.vocabulary_))
        if len(sizes) > 1 or not np.array_equal(self.classes_, self.classifier_.classes_):
            raise ValueError("its vocabulary, weights and classifier do not fit together.")

    def _make(self) -> tuple[Any, bool]:
        """The classifier to fit, and whether its input is weighted."""
        if isinstance(self.classifier, str):
            model, weighted = make_classifier(
                self.classifier, random_state=self.random_state, engine=self.engine
            )
        else:
            model = clone(self.classifier)
            counts = {c.model for c in CANDIDATES.values() if not c.weighted}
            weighted = type(model).__name__ not in counts
        if self.weighting != "auto":
            weighted = self.weighting == "tfidf"
        return model, weighted

    def _rows(self, documents: Documents) -> Iterator[Any]:
        """The documents as input of the classifier, block by block."""
        check_is_fitted(self)
        for block, count in zip(documents.blocks, documents.counts, strict=True):
            rows = self.counter_.transform(Documents((block,), count))
            yield rows if self.weigher_ is None else self.weigher_.transform(rows)

    def _by_blocks(
        self, X: Any, method: str, dtype: Any = np.float64, width: int | None = None
    ) -> np.ndarray:
        documents = Documents.of(X)
        call = getattr(self.classifier_, method)
        results = [call(rows) for rows in self._rows(documents) if rows.shape[0]]
        if not results:
            return np.empty(0 if width is None else (0, width), dtype)
        return np.concatenate(results)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def check_document_labels(y: Any, n: int) -> np.ndarray:
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


# --- The choice of the classifier ---


@dataclass(frozen=True)
class Trial:
    """The cross-validated result of one candidate."""

    name: str
    accuracy: float
    interval: tuple[float, float]  # 95%
    seconds: float  # processor time of all its fits
    p_value: float  # McNemar, against the best; 1 for the best itself
    predictions: np.ndarray = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        figures = {k: v for k, v in vars(self).items() if k != "predictions"}
        return {**figures, "interval": list(self.interval)}


@dataclass(frozen=True)
class ModelChoice:
    """All candidates, the best first. Made by ``choose_classifier``."""

    table: tuple[Trial, ...]
    folds: int
    model: TextClassifier = field(repr=False)  # the best, fitted on all documents
    features: FeatureChoice | None = None  # None with features or a vectorizer as arguments

    @property
    def best(self) -> str:
        """The name of the most accurate."""
        return self.table[0].name

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return {
            "best": self.best,
            "folds": self.folds,
            "table": [trial.to_dict() for trial in self.table],
            "features": None if self.features is None else self.features.to_dict(),
        }

    def __str__(self) -> str:
        width = max(len(trial.name) for trial in self.table)
        lines = [f"{'':{width}}  accuracy  interval          p        seconds"]
        for t in self.table:
            low, high = t.interval
            lines.append(
                f"{t.name:{width}}  {t.accuracy:8.4f}  [{low:.4f}, {high:.4f}]  "
                f"{t.p_value:<7.2g}  {t.seconds:7.2f}"
            )
        return "\n".join(lines if self.features is None else [*lines, str(self.features)])


def choose_classifier(
    documents: Any,
    y: Any,
    *,
    candidates: Sequence[str] | None = None,
    features: str = "auto",
    vectorizer: CountVectorizer | None = None,
    folds: Any = 5,
    random_state: Any = 0,
    engine: Any = "threads",
    callbacks: Sequence[Callback] = (),
) -> ModelChoice:
    """Cross-validate classifiers of text and fit the best on all documents.

    Parameters
    ----------
    documents : list of str, dataframe column or Documents
    y : labels, one for each document
    candidates : list of names or None; see ``TextClassifier``; None tries all
    features : {"auto", "words", "characters"}; see ``TextClassifier``
    vectorizer : CountVectorizer or None; used instead, for other features
    folds : int or array; number of stratified folds, or the fold of every document
    random_state : int or None; seed of the folds and of the classifiers
    engine : {"serial", "threads", "dask"} or Engine
    callbacks : sequence of callbacks
        Notified after each fit, with the name of the candidate.

    Examples
    --------
    >>> texts = ["win money now", "see you at noon", "money for you", "lunch at noon"] * 5
    >>> labels = ["spam", "ham", "spam", "ham"] * 5
    >>> choice = choose_classifier(texts, labels, candidates=["complement", "naive-bayes"])
    >>> choice.best, choice.table[0].accuracy
    ('complement', 1.0)
    """
    documents = Documents.of(documents)
    y = check_document_labels(y, len(documents))
    names = list(CANDIDATES) if candidates is None else list(candidates)
    if not names:
        raise ValueError("choose_classifier needs at least one candidate; None tries all.")
    models = {
        name: make_classifier(name, random_state=random_state, engine=engine) for name in names
    }
    numbers = fold_numbers(y, folds, random_state=random_state)
    chosen = None
    if vectorizer is None and features == "auto":
        chosen = choose_features(documents, y, engine=engine)
        features = chosen.best
    counter = make_vectorizer(features) if vectorizer is None else clone(vectorizer)
    counts = counter.set_params(engine=engine).fit_transform(documents)
    predictions = {name: np.empty(len(y), y.dtype) for name in names}
    seconds = dict.fromkeys(names, 0.0)
    most, done = len(np.unique(numbers)) * len(names), 0
    for number in np.unique(numbers):
        check_classes(y, numbers, number)
        train, test = numbers != number, numbers == number
        rows = split_rows(counts, test, engine)
        for name, (model, weighted) in models.items():
            start = time.process_time()
            fitted = clone(model).fit(rows[weighted][0], y[train])
            predictions[name][test] = fitted.predict(rows[weighted][1])
            seconds[name] += time.process_time() - start
            done += 1
            notify(callbacks, Step(name, done, most, [], None, done == most))
    table = rank_trials(y, predictions, seconds)
    best = TextClassifier(
        table[0].name, features=features, vectorizer=vectorizer, random_state=random_state,
        engine=engine,
    )  # fmt: skip
    return ModelChoice(table, len(np.unique(numbers)), best.fit(documents, y), chosen)


def check_classes(y: np.ndarray, numbers: np.ndarray, number: int) -> None:
    """ValueError if the other folds have one class only, though there are more."""
    left = np.unique(y[numbers != number])
    if len(left) < 2 and len(np.unique(y)) > 1:
        folds = np.unique(numbers)
        place = int(np.searchsorted(folds, number)) + 1
        raise ValueError(
            f"To leave out fold {place} of {len(folds)} leaves only documents of class "
            f"{left.tolist()[0]!r} to learn from. Give more documents of the other classes."
        )


def split_rows(counts: Any, test: np.ndarray, engine: Any) -> dict[bool, tuple[Any, Any]]:
    """Counts (False) and tf-idf weights (True) of the training and of the test rows."""
    train = counts[np.flatnonzero(~test)]
    seen = np.flatnonzero(np.bincount(train.indices, minlength=counts.shape[1]))
    if not len(seen):
        raise ValueError(
            "A fold left no words to learn from: the other documents are all empty. Use fewer "
            "folds, or documents with words."
        )
    rows = train[:, seen], counts[np.flatnonzero(test)][:, seen]
    weigher = TfidfTransformer(sublinear_tf=True, engine=engine).fit(rows[0])
    return {False: rows, True: (weigher.transform(rows[0]), weigher.transform(rows[1]))}


def rank_trials(
    y: np.ndarray, predictions: dict[str, np.ndarray], seconds: dict[str, float]
) -> tuple[Trial, ...]:
    """The candidates by accuracy; of equals, the one that was named first."""
    accuracy = {name: float(np.mean(p == y)) for name, p in predictions.items()}
    order = sorted(predictions, key=lambda name: -accuracy[name])
    best = predictions[order[0]]
    return tuple(
        Trial(
            name,
            accuracy[name],
            wilson_interval(accuracy[name], len(y)),
            seconds[name],
            1.0 if name == order[0] else mcnemar(y, best, predictions[name]).p_value,
            predictions[name],
        )
        for name in order
    )

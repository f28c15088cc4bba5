"""Choose a classifier of documents: all candidates cross-validated on the same folds.

The features (words or characters) are chosen first, by naive Bayes on a sample. Then documents
are counted once. A fold is left out of everything: terms that occur only in it are dropped, and
tf-idf weights come from the other folds, as they would for new documents. McNemar's test gives
the significance of the difference to the best candidate.

The notes' section on training, testing and tuning sets.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from tacit.classify.text_classifier import (
    CANDIDATES,
    FeatureChoice,
    TextClassifier,
    check_document_labels,
    choose_features,
    make_classifier,
    make_vectorizer,
)
from tacit.core.progress import Callback, Step, notify
from tacit.data.documents import Documents
from tacit.measure.classification import wilson_interval
from tacit.measure.cross_validation import fold_numbers
from tacit.measure.significance import mcnemar
from tacit.text.counts import CountVectorizer
from tacit.text.tfidf import TfidfTransformer

__all__ = ["ModelChoice", "Trial", "choose_classifier"]


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
    features: FeatureChoice | None = None  # None where they were given

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
    candidates : list of names or None
        See ``TextClassifier``; None tries all.
    features : {"auto", "words", "characters"}
        See ``TextClassifier``.
    vectorizer : CountVectorizer or None
        Other features: it is used instead.
    folds : int or array
        Number of stratified folds, or the fold of every document.
    random_state : int or None
        Seed of the folds and of the classifiers.
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
            name, accuracy[name], wilson_interval(accuracy[name], len(y)), seconds[name],
            1.0 if name == order[0] else mcnemar(y, best, predictions[name]).p_value,
            predictions[name],
        )
        for name in order
    )

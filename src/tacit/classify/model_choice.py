"""Which classifier suits these documents: all of them, cross-validated on the same folds.

Documents are counted once. A fold is left out of everything: words that occur only in it are
dropped, and the weights of words come from the other folds, as they would for documents that
are yet to come. McNemar's test says which candidates the winner really beats.

The notes' section on training, testing and tuning sets.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from tacit.classify.candidates import CANDIDATES, make
from tacit.classify.text_classifier import TextClassifier, check_labels
from tacit.data.documents import Documents
from tacit.measure.classification import wilson_interval
from tacit.measure.cross_validation import fold_numbers
from tacit.measure.significance import mcnemar
from tacit.text.counts import CountVectorizer
from tacit.text.tfidf import TfidfTransformer

__all__ = ["ModelChoice", "Trial", "choose_classifier"]


@dataclass(frozen=True)
class Trial:
    """How one candidate did on documents it had not seen."""

    name: str
    accuracy: float
    interval: tuple[float, float]  # 95%
    seconds: float  # processor time of all its fits
    p_value: float  # McNemar, against the best; 1 for the best itself
    predictions: np.ndarray = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        kept = {k: v for k, v in vars(self).items() if k != "predictions"}
        return {**kept, "interval": list(self.interval)}


@dataclass(frozen=True)
class ModelChoice:
    """All candidates, the best first. Made by ``choose_classifier``."""

    table: tuple[Trial, ...]
    folds: int
    model: TextClassifier = field(repr=False)  # the best, fitted on all documents

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
        return "\n".join(lines)


def choose_classifier(
    documents: Any,
    y: Any,
    *,
    candidates: Sequence[str] | None = None,
    vectorizer: CountVectorizer | None = None,
    folds: Any = 5,
    random_state: Any = 0,
    engine: Any = "threads",
    told: Callable[[str], None] | None = None,
) -> ModelChoice:
    """Cross-validate classifiers of text and fit the best on all documents.

    Parameters
    ----------
    documents : list of str, dataframe column or Documents
    y : labels, one for each document
    candidates : list of names or None
        See ``TextClassifier``; None tries all.
    vectorizer : CountVectorizer or None
        How documents become counts.
    folds : int or array
        How many folds, or the fold of every document.
    random_state : int or None
        Seed of the folds and of the classifiers.
    engine : {"serial", "threads", "dask"} or Engine
    told : function or None
        Told the name of each candidate before its turn.

    Examples
    --------
    >>> texts = ["win money now", "see you at noon", "money for you", "lunch at noon"] * 5
    >>> labels = ["spam", "ham", "spam", "ham"] * 5
    >>> found = choose_classifier(texts, labels, candidates=["complement", "naive-bayes"])
    >>> found.best, found.table[0].accuracy
    ('complement', 1.0)
    """
    documents = Documents.of(documents)
    y = check_labels(y, len(documents))
    names = list(CANDIDATES) if candidates is None else list(candidates)
    if not names:
        raise ValueError("choose_classifier needs at least one candidate; None tries all.")
    made = {name: make(name, random_state=random_state, engine=engine) for name in names}
    numbers = fold_numbers(y, folds, random_state=random_state)
    counter = CountVectorizer() if vectorizer is None else clone(vectorizer)
    counts = counter.set_params(engine=engine).fit_transform(documents)
    said = {name: np.empty(len(y), y.dtype) for name in names}
    seconds = dict.fromkeys(names, 0.0)
    for number in np.unique(numbers):
        check_classes(y, numbers, number)
        sides = split(counts, numbers == number, engine)
        for name, (model, weighted) in made.items():
            if told is not None:
                told(f"fold {number + 1}: {name}")
            train, test = sides[weighted]
            start = time.process_time()
            fitted = clone(model).fit(train, y[numbers != number])
            said[name][numbers == number] = fitted.predict(test)
            seconds[name] += time.process_time() - start
    table = ranked(y, said, seconds)
    best = TextClassifier(
        table[0].name, vectorizer=vectorizer, random_state=random_state, engine=engine
    )
    return ModelChoice(table, len(np.unique(numbers)), best.fit(documents, y))


def check_classes(y: np.ndarray, numbers: np.ndarray, number: int) -> None:
    """There is something to tell apart beside a fold, if there is in all."""
    left = np.unique(y[numbers != number])
    if len(left) < 2 and len(np.unique(y)) > 1:
        folds = np.unique(numbers)
        place = int(np.searchsorted(folds, number)) + 1
        raise ValueError(
            f"To leave out fold {place} of {len(folds)} leaves only documents of class "
            f"{left.tolist()[0]!r} to learn from. Give more documents of the other classes."
        )


def split(counts: Any, out: np.ndarray, engine: Any) -> dict[bool, tuple[Any, Any]]:
    """Counts, and weights, of the rows to fit on and of those left out."""
    train = counts[np.flatnonzero(~out)]
    seen = np.flatnonzero(np.bincount(train.indices, minlength=counts.shape[1]))
    if not len(seen):
        raise ValueError(
            "A fold left no words to learn from: the other documents are all empty. Use fewer "
            "folds, or documents with words."
        )
    train, test = train[:, seen], counts[np.flatnonzero(out)][:, seen]
    weigher = TfidfTransformer(sublinear_tf=True, engine=engine).fit(train)
    return {
        False: (train, test),
        True: (weigher.transform(train), weigher.transform(test)),
    }


def ranked(y: np.ndarray, said: dict[str, np.ndarray], seconds: dict[str, float]) -> tuple:
    """The candidates by accuracy; of equals, the one that was asked for first."""
    accuracy = {name: float(np.mean(found == y)) for name, found in said.items()}
    order = sorted(said, key=lambda name: -accuracy[name])
    return tuple(
        Trial(
            name,
            accuracy[name],
            wilson_interval(accuracy[name], len(y)),
            seconds[name],
            1.0 if name == order[0] else mcnemar(y, said[order[0]], said[name]).p_value,
            said[name],
        )
        for name in order
    )

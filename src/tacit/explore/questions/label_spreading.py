"""Labels of some documents, spread to the others by a classifier: calibrated probabilities, its
accuracy on unseen documents, documents that have none of the labels, what to label next."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from tacit.classify import LogisticRegression, calibrate
from tacit.core.engines import Engine
from tacit.explore.questions.meaning_space import inverse_frequency, weights_of
from tacit.explore.questions.none_of_these import (
    LEAST_LABELED,
    NONE,
    unlike_collection,
    unlike_labeled,
)
from tacit.explore.questions.reader import ProjectReader
from tacit.linear.losses import probabilities
from tacit.measure import cross_predict, wilson_interval
from tacit.measure.cross_validation import fold_numbers

__all__ = ["spread"]

FOLDS = 5
DOUBTFUL = 20  # documents to label next
RECONSIDER = 20
BLOCK = 20_000  # documents at a time
# How documents are compared, and the strength of regularization C. The first wins ties.
# On 20 Newsgroups 150 labels reach 69%, 64% and 36% of the others rightly, 2500 82%, 87%, 87%.
KINDS = {"meaning": 10.0, "both": 30.0, "words": 30.0}
BESIDE_WORDS = 0.5  # the length of a direction of meaning where words have length one


def spread(
    reader: ProjectReader,
    labels: Mapping[int, str],
    *,
    seed: int = 0,
    engine: str | Engine = "threads",
) -> dict[str, Any]:
    """A label for every document from those of some.

    Needs two labels with two documents each. ``names`` and ``sure`` have an entry for every
    document: which of ``classes``, and the probability; -1 is for a document without words,
    ``NONE`` (-2) for one that is like none of the labelled documents (``none`` counts them).
    ``check`` is the accuracy on labelled documents that the classifier had not seen: it holds
    for documents like those. The
    documents are compared by words, by meaning or by both, whichever does better there, on
    other folds. ``doubtful`` are documents to label next, ``strangers`` some of those with
    none of the labels, ``reconsider`` labels that the classifier contradicts.
    """
    if why := reader.skipped("counts"):
        raise ValueError(f"Labels cannot be spread: {why}")
    rows, y, notes = check_labels(reader, labels)
    folds = min(FOLDS, len(rows))
    kind = choose_kind(reader, rows, y, folds, seed, engine)
    model, known = new_model(kind, seed, engine), features(reader, rows, kind)
    unseen = scores_unseen(model, known, y, folds, seed)
    names, right = np.unique(y, return_inverse=True)
    factor, _ = calibrate(unseen, right)
    guessed = wide(unseen).argmax(axis=1)
    accuracy = float(np.mean(guessed == right))
    classes = [str(name) for name in names]
    prediction = predict_all(reader, model.fit(known, y), factor, kind)
    none = unlike_collection(reader) | unlike_labeled(
        reader, rows, y, seed=seed, engine=engine
    )
    none[rows] = False
    prediction.names[none], prediction.sure[none], prediction.margin[none] = NONE, 0.0, np.inf
    if len(rows) < LEAST_LABELED:
        notes.append(
            f"With fewer than {LEAST_LABELED} labeled documents, only documents unlike all "
            "others are taken to have none of the labels."
        )
    alone = np.array(sorted(set(labels) - set(rows.tolist())), np.int64)
    prediction.names[alone], prediction.sure[alone] = -1, 0.0  # they have a label of their own
    codes = {name: i for i, name in enumerate(classes)}
    prediction.names[rows] = [codes[name] for name in y]
    prediction.sure[rows] = 1.0
    prediction.margin[alone] = prediction.margin[rows] = np.inf
    return {
        "classes": classes,
        "names": prediction.names.tolist(),
        "sure": [round(float(each), 4) for each in prediction.sure],
        "none": int((prediction.names == NONE).sum()),
        "check": {
            "accuracy": accuracy,
            "interval": [float(each) for each in wilson_interval(accuracy, len(rows))],
            "folds": folds,
            "labeled": len(rows),
            "by": kind,
        },
        "doubtful": doubtful_of(prediction, classes),
        "strangers": even(np.flatnonzero(prediction.names == NONE), DOUBTFUL).tolist(),
        "reconsider": [
            {"row": int(rows[i]), "label": str(y[i]), "other": classes[guessed[i]]}
            for i in np.flatnonzero(guessed != right)[:RECONSIDER]
        ],
        "note": " ".join(notes) or None,
    }


# --- Parts ---


def features(reader: ProjectReader, rows: np.ndarray, kind: str) -> sp.csr_array:
    """Documents as the classifier sees them: tf-idf, directions of meaning, or both."""
    parts = []
    if kind != "meaning":
        parts.append(weights_of(reader, rows, inverse_frequency)[0])
    if kind != "words":
        near = np.asarray(reader.arrays("meaning")["rows"][rows], np.float64)
        parts.append(sp.csr_array(near if kind == "meaning" else BESIDE_WORDS * near))
    return parts[0] if len(parts) == 1 else sp.csr_array(sp.hstack(parts))


def new_model(kind: str, seed: int, engine: str | Engine) -> LogisticRegression:
    return LogisticRegression(KINDS[kind], random_state=seed, engine=engine)


def choose_kind(
    reader: ProjectReader,
    rows: np.ndarray,
    y: np.ndarray,
    folds: int,
    seed: int,
    engine: Any,
) -> str:
    """How to compare documents: meaning is better with few labels, words with many."""
    if reader.skipped("meaning"):
        return "words"
    right = {}
    for kind in KINDS:
        model, known = new_model(kind, seed, engine), features(reader, rows, kind)
        checked = cross_predict(model, known, y, folds=folds, random_state=seed + 1)
        right[kind] = checked.accuracy
    return max(KINDS, key=lambda kind: right[kind])  # of equals the first


def scores_unseen(
    model: Any, known: sp.csr_array, y: np.ndarray, folds: int, seed: int
) -> np.ndarray:
    """The scores of labelled documents, each from a model that had not seen it.

    The documents of a label go into different folds, so that two are enough for every model
    to know all labels.
    """
    split = PredefinedSplit(fold_numbers(y, folds, random_state=seed))
    return cross_val_predict(model, known, y, cv=split, method="decision_function")


def wide(scores: np.ndarray) -> np.ndarray:
    """A column for every label; with two, a score is that of the second."""
    return np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores


class Prediction(NamedTuple):
    """The prediction for every document."""

    names: np.ndarray
    second: np.ndarray
    sure: np.ndarray
    margin: np.ndarray  # of the two best scores; infinite for documents without words


def predict_all(reader: ProjectReader, fitted: Any, factor: float, kind: str) -> Prediction:
    n = reader.n
    prediction = Prediction(np.full(n, -1), np.full(n, -1), np.zeros(n), np.full(n, np.inf))
    for start in range(0, n, BLOCK):
        some = np.arange(start, min(start + BLOCK, n))
        seen = features(reader, some, kind)
        known_words = np.diff(seen.indptr) > 0
        if kind != "words":
            known_words = ~reader.arrays("meaning")["blank"][some]
        scores = wide(fitted.decision_function(seen))
        order = np.argsort(-scores, axis=1, kind="stable")
        p = probabilities(factor * scores)  # a factor near 0 makes all labels equally likely
        each = np.arange(len(some))
        best, next_best = scores[each, order[:, 0]], scores[each, order[:, 1]]
        prediction.names[some] = np.where(known_words, order[:, 0], -1)
        prediction.second[some] = order[:, 1]
        prediction.sure[some] = np.where(known_words, p[each, order[:, 0]], 0.0)
        prediction.margin[some] = np.where(known_words, best - next_best, np.inf)
    return prediction


def even(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of these rows, evenly drawn."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(int)]


def doubtful_of(prediction: Prediction, classes: list[str]) -> list[dict[str, Any]]:
    """The documents between two labels, the closest first."""
    order = np.lexsort([np.arange(len(prediction.margin)), prediction.margin])[:DOUBTFUL]
    return [
        {
            "row": int(i),
            "name": classes[prediction.names[i]],
            "other": classes[prediction.second[i]],
            "sure": round(float(prediction.sure[i]), 4),
        }
        for i in order
        if np.isfinite(prediction.margin[i])
    ]


def check_labels(
    reader: ProjectReader, labels: Mapping[int, str]
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Rows and labels to learn from: those of labels that two documents have."""
    rows = sorted(reader.check_row(row) for row in labels)
    counts: dict[str, int] = {}
    for row in rows:
        if not isinstance(labels[row], str):
            raise TypeError(f"The label of row {row} must be text, not {labels[row]!r}.")
        counts[labels[row]] = counts.get(labels[row], 0) + 1
    alone = sorted(name for name, count in counts.items() if count < 2)
    rows_kept = [row for row in rows if counts[labels[row]] >= 2]
    if len(counts) - len(alone) < 2:
        raise ValueError(
            "Spreading needs two labels with at least two documents each; there are "
            f"{len(counts) - len(alone)}. Label more documents."
        )
    notes = []
    if alone:
        notes.append(f"Left out, with one document each: {', '.join(alone[:5])}.")
    y = np.array([labels[row] for row in rows_kept], object).astype(str)
    return np.array(rows_kept, np.int64), y, notes

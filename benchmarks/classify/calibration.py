"""Calibrated probabilities with many classes and few rows, against scikit-learn.

The language of a sentence: 28 languages, features of 1- to 3-grams of characters. Both cross-
validate the same classifier in five folds and fit it once more on all rows. The quality is the
log loss on new sentences; it is compared before speed counts, and Tacit's must not be more than
3% above the rival's: the folds differ.
"""

from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

MODELS = {"svm": ("LinearSVC", True), "naive Bayes": ("MultinomialNB", False)}


def cases(scale: float) -> list[Case]:
    if data_folder() is None:
        return []
    return [
        Case(
            f"28 languages, {rows:,} sentences, {model}, {method}",
            partial(sentences, rows, MODELS[model][1]),
            contenders(MODELS[model][0], method),
            mean_log_loss,
            measure="log loss",
            tolerance=3e-2,
            check=not_worse,
            repeats=1,
        )
        for rows in (1_500, 6_000)
        for model in MODELS
        for method in ("temperature", "platt")
    ]


def sentences(n: int, weighted: bool, folder: Path) -> Data:
    from tacit.datasets import load
    from tacit.text import CountVectorizer, TfidfTransformer

    train, test = load("langid", part="train"), load("langid", part="test")
    chosen = np.random.default_rng(0).permutation(len(train.documents))[:n]
    texts = list(train.documents)
    counter = CountVectorizer(analyzer="char_wb", ngram_range=(1, 3))
    X = counter.fit_transform([texts[i] for i in chosen])
    new = counter.transform(test.documents)
    if weighted:
        weigher = TfidfTransformer(sublinear_tf=True).fit(X)
        X, new = weigher.transform(X), weigher.transform(new)
    names = np.asarray(train.target_names)
    return {
        "X": sp.csr_matrix(X), "y": names[train.target[chosen]], "new": sp.csr_matrix(new),
        "truth": np.asarray(test.target_names)[test.target], "about": f"{n:,} sentences",
    }  # fmt: skip


def mean_log_loss(data: Data, answer: Answer) -> float:
    from tacit.measure import log_loss

    return log_loss(data["truth"], answer["probabilities"], labels=answer["classes"])


def not_worse(data: Data, results: dict[str, Row]) -> list[Check]:
    ours, theirs = (results[name].quality for name in ("Tacit", "scikit-learn"))
    passed = ours is not None and (theirs is None or ours <= 1.03 * theirs)
    return [Check("the log loss is at most 3% above scikit-learn's", passed)]


def contenders(name: str, method: str) -> tuple[Contender, ...]:
    return (
        Contender("Tacit", partial(tacit_fit, name=name, method=method)),
        Contender(
            "scikit-learn", partial(sklearn_fit, name=name, method=method),
            package="sklearn", install="scikit-learn", rival="scikit-learn",
        ),
    )  # fmt: skip


def tacit_fit(data: Data, threads: int, *, name: str, method: str) -> Answer:
    from tacit import classify

    inner = getattr(classify, name)()
    model = classify.CalibratedClassifier(inner, method=method, random_state=0)
    model.fit(data["X"], data["y"])
    return {"probabilities": model.predict_proba(data["new"]), "classes": model.classes_}


def sklearn_fit(data: Data, threads: int, *, name: str, method: str) -> Answer:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.svm import LinearSVC

    inner = {"LinearSVC": LinearSVC, "MultinomialNB": MultinomialNB}[name]()
    method = {"platt": "sigmoid"}.get(method, method)
    model = CalibratedClassifierCV(inner, method=method, cv=5, ensemble=False)
    model.fit(data["X"], data["y"])
    return {"probabilities": model.predict_proba(data["new"]), "classes": model.classes_}

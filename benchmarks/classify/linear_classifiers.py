"""Linear classifiers of text, each against scikit-learn's of the same name.

Fit and predict are timed, on rows made beforehand: counts for naive Bayes, logarithms of
counts with tf-idf for the others, words of the training documents only. The quality is the
accuracy on documents left out: 20 Newsgroups by date (bodies only), SMS spam without its
duplicates (a fifth left out), movie reviews (the customary ten folds), sentences of rt-polarity
(a tenth left out; words and pairs), language identification of sentences in 28 languages (up to
three characters). The sets come from TACIT_DATA; where it is not set, documents of Zipf words
take the place of the newsgroups and the rest is left out.

A case fails where a rival is right significantly more often on the same documents (McNemar's
test); the perceptron after one pass is held to that on 20 Newsgroups alone. Everything runs at
its defaults but for the smoothing and C. scikit-learn has no averages of the perceptron and of
passive-aggressive weights; ours need fewer passes for that. After one pass the averaged
perceptron is there about as accurate as the plain one at its end; the speed that is wanted at
equal accuracy is that one's, and the other rows say what more passes bring.

Each set is made once as counts and once with weights, for all classifiers that follow. Where
scikit-learn takes tens of seconds for what takes us less than one, each is run once.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.data import data_folder, zipf_counts
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

ONE_PASS = "perceptron, one pass"
# name -> (Tacit's class and settings, scikit-learn's module, class and settings, weighted,
# the ratio wanted on 20 Newsgroups)
MODELS: dict[str, tuple] = {
    "naive Bayes": (
        ("MultinomialNB", {"alpha": 0.1}),
        [("naive_bayes", "MultinomialNB", {"alpha": 0.1})], False, 3.0,
    ),
    "Bernoulli": (
        ("BernoulliNB", {"alpha": 0.1}),
        [("naive_bayes", "BernoulliNB", {"alpha": 0.1})], False, None,
    ),
    "complement": (
        ("ComplementNB", {"alpha": 0.3}),
        [("naive_bayes", "ComplementNB", {"alpha": 0.3})], False, None,
    ),
    "perceptron": (
        ("Perceptron", {"random_state": 0}),
        [("linear_model", "Perceptron", {"random_state": 0})], True, None,
    ),
    ONE_PASS: (
        ("Perceptron", {"random_state": 0, "max_iter": 1, "tol": None}),
        [("linear_model", "Perceptron", {"random_state": 0})], True, 5.0,
    ),
    "passive-aggressive": (
        ("PassiveAggressiveClassifier", {"random_state": 0}),
        [("linear_model", "PassiveAggressiveClassifier", {"random_state": 0})], True, 3.0,
    ),
    "linear SVM": (
        ("LinearSVC", {"random_state": 0}),
        [("svm", "LinearSVC", {"random_state": 0})], True, None,
    ),
    "logistic regression": (
        ("LogisticRegression", {"C": 10.0, "random_state": 0}),
        [("linear_model", "LogisticRegression", {"C": 10.0, "max_iter": 1000})], True, 3.0,
    ),
}  # fmt: skip
ONCE = {
    ("newsgroups", "logistic regression"),
    ("langid", "logistic regression"),
    ("langid", "linear SVM"),
}
SETS = {
    "20 Newsgroups by date": "newsgroups",
    "SMS spam": "sms_spam",
    "movie reviews, 10 folds": "movie_reviews",
    "rt-polarity": "rt_polarity",
    "language identification": "langid",
}


def cases(scale: float) -> list[Case]:
    named = SETS if data_folder() is not None else {"generated documents": "generated"}
    return [
        Case(
            f"{title}, {model}",
            partial(rows_of, key, weighted, scale),
            contenders(ours, theirs),
            accuracy,
            measure="accuracy",
            lower_is_better=False,
            tolerance=5e-3,
            targets={"scikit-learn": target} if target and key == "newsgroups" else {},
            check=None if model == ONE_PASS and key != "newsgroups" else as_accurate,
            warmup=first_rows,
            repeats=repeats_of(key, model, target),
        )
        for title, key in named.items()
        for model, (ours, theirs, weighted, target) in MODELS.items()
    ]


def repeats_of(key: str, model: str, target: float | None) -> int | None:
    """Once what takes long; more often than usual what is held to a ratio."""
    if (key, model) in ONCE:
        return 1
    return 9 if target and key == "newsgroups" else None


# --- Data ---


def rows_of(key: str, weighted: bool, scale: float, folder: Path) -> Data:
    """Splits of rows and labels to fit on and to predict."""
    return made(key, weighted, scale)


@lru_cache(maxsize=1)  # classifiers on the same rows come one after the other
def made(key: str, weighted: bool, scale: float) -> Data:
    if key == "generated":
        counts, labels = generated(int(10_000 * scale))
        half = counts.shape[0] // 2
        splits = [(counts[:half], labels[:half], counts[half:], labels[half:])]
        about = f"documents of Zipf words, {counts.shape[0]:,} x {counts.shape[1]:,}"
    else:
        splits = list(vectorized(key, weighted, scale))
        train, _, test, _ = splits[0]
        about = (
            f"{len(splits)} split(s), the first {train.shape[0]:,} and {test.shape[0]:,} x "
            f"{train.shape[1]:,}, {train.nnz:,} values to fit on"
        )
    return {"splits": splits, "about": about}


def generated(n: int) -> tuple[sp.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    topics = 10
    parts = [zipf_counts(max(20, n // topics), 20_000, topics=1, seed=t) for t in range(topics)]
    rows = sp.vstack(parts, format="csr")
    labels = np.repeat(np.arange(topics), parts[0].shape[0])
    order = rng.permutation(len(labels))
    return rows[order].astype(np.float64), labels[order]


def vectorized(key: str, weighted: bool, scale: float) -> Iterator[tuple]:
    from tacit.text import CountVectorizer, TfidfTransformer

    settings: dict[str, Any] = {}
    if key == "rt_polarity":
        settings = {"ngram_range": (1, 2)}
    if key == "langid":
        settings = {"analyzer": "char_wb", "ngram_range": (1, 3)}
    for texts, labels, new, truth in splits_of(key, scale):
        counter = CountVectorizer(**settings)
        train, test = counter.fit_transform(texts), counter.transform(new)
        if weighted:
            weigher = TfidfTransformer(sublinear_tf=True).fit(train)
            train, test = weigher.transform(train), weigher.transform(test)
        yield sp.csr_matrix(train), labels, sp.csr_matrix(test), truth


def splits_of(key: str, scale: float) -> Iterator[tuple]:
    """Documents and labels to fit on and to predict."""
    from tacit.datasets import load

    if key in ("newsgroups", "langid"):
        train, test = load(key, part="train"), load(key, part="test")
        texts, labels = [list(each.documents) for each in (train, test)], (train, test)
        if key == "newsgroups":
            texts = [[text.partition("\n\n")[2] for text in each] for each in texts]
        a, b = (thin(len(each), scale) for each in texts)
        yield (
            [texts[0][i] for i in a], names_of(labels[0])[a],
            [texts[1][i] for i in b], names_of(labels[1])[b],
        )  # fmt: skip
        return
    if key == "movie_reviews":
        data = load(key, part="reviews")
        folds = np.array([int(each) for each in data.metadata["fold"]])
        numbers = range(max(1, int(10 * scale)))
    else:
        data = load("movie_reviews", part="sentences") if key == "rt_polarity" else load(key)
        keep = first_of_each(list(data.documents)) if key == "sms_spam" else None
        share = 5 if key == "sms_spam" else 10
        folds = np.random.default_rng(0).permutation(len(data.documents)) % share
        if keep is not None:
            folds[~keep] = -1
        numbers = range(1)
    texts, names = list(data.documents), names_of(data)
    for number in numbers:
        a, b = np.flatnonzero((folds != number) & (folds >= 0)), np.flatnonzero(folds == number)
        yield [texts[i] for i in a], names[a], [texts[i] for i in b], names[b]


def names_of(data: Any) -> np.ndarray:
    return np.asarray(data.target_names)[data.target]


def first_of_each(texts: list[str]) -> np.ndarray:
    seen: set[str] = set()
    return np.array([not (text in seen or seen.add(text)) for text in texts])


def thin(n: int, scale: float) -> np.ndarray:
    return np.flatnonzero(np.random.default_rng(1).random(n) < scale)


def first_rows(data: Data) -> Data:
    """A tenth of the rows, spread so that all classes are among them."""
    X, y, Z, t = data["splits"][0]
    return {**data, "splits": [(X[::10], y[::10], Z[::10], t[::10])]}


def accuracy(data: Data, answer: Answer) -> float:
    right = [
        found == truth
        for found, (_, _, _, truth) in zip(answer["found"], data["splits"], strict=True)
    ]
    return float(np.concatenate(right).mean())


def as_accurate(data: Data, rows: dict[str, Row]) -> list[Check]:
    """Whether a rival is right more often than chance would have it (McNemar's test)."""
    from tacit.measure import mcnemar

    truth = np.concatenate([split[3] for split in data["splits"]])
    found = {
        name: np.concatenate(row.answer["found"]) for name, row in rows.items() if row.answer
    }
    ours = found.pop("Tacit")
    checks = []
    for name, theirs in found.items():
        test = mcnemar(truth, ours, theirs)
        checks.append(
            Check(
                f"of {len(truth):,} documents {test.only_first} are right for Tacit alone, "
                f"{test.only_second} for {name} alone, p = {test.p_value:.2g}",
                test.only_first >= test.only_second or test.p_value >= 0.05,
            )
        )
    return checks


# --- Contenders ---


def run_splits(make: Any, data: Data) -> Answer:
    return {"found": [make().fit(X, y).predict(Z) for X, y, Z, _ in data["splits"]]}


def tacit_run(data: Data, threads: int, *, name: str, settings: dict) -> Answer:
    import tacit.classify
    from tacit.core.engines import Threads

    cls = getattr(tacit.classify, name)
    if "engine" in cls().get_params():
        settings = {**settings, "engine": Threads(threads)}
    return run_splits(partial(cls, **settings), data)


def sklearn_run(data: Data, threads: int, *, module: str, name: str, settings: dict) -> Answer:
    import importlib

    cls = getattr(importlib.import_module(f"sklearn.{module}"), name)
    if "n_jobs" in cls().get_params() and name != "LogisticRegression":
        settings = {**settings, "n_jobs": threads}
    return run_splits(partial(cls, **settings), data)


def contenders(ours: tuple, theirs: list) -> list[Contender]:
    name, settings = ours
    out = [Contender("Tacit", partial(tacit_run, name=name, settings=settings))]
    for module, rival, given in theirs:
        run = partial(sklearn_run, module=module, name=rival, settings=given)
        out.append(
            Contender(f"scikit-learn {rival}", run, package="sklearn", install="scikit-learn",
                      rival="scikit-learn")
        )  # fmt: skip
    return out

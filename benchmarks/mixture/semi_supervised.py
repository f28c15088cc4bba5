"""Few labels and many unlabeled posts of 20 Newsgroups, against naive Bayes on the labels.

Labels are drawn five times, one, five, fifteen or fifty of each class; 10,000 posts are
unlabeled. The quality is the accuracy on the test posts, mean of the five; the notes give the
deviation. The check: semi-supervised is better at 300 labels and fewer, not worse at 1,000.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

SEEDS = 5
SMOOTHING = 0.1


def cases(scale: float) -> list[Case]:
    if data_folder() is None:
        return []
    return [
        Case(
            f"{labels:,} labels",
            partial(posts, labels, max(1, int(SEEDS * scale))),
            (
                Contender("Tacit", semi_supervised),
                Contender("naive Bayes on the labels", labeled_only),
            ),
            accuracy,
            measure="accuracy",
            lower_is_better=False,
            tolerance=1.0,
            check=partial(helps, labels=labels),
            repeats=1,
            warmup=fewer,
        )
        for labels in (20, 100, 300, 1_000)
    ]


def posts(labels: int, seeds: int, folder: Path) -> Data:
    from tacit.datasets import load
    from tacit.text import CountVectorizer

    train, test = load("newsgroups", part="train"), load("newsgroups", part="test")
    counter = CountVectorizer(min_df=3, stop_words="english")
    X, y = counter.fit_transform(train.documents), np.asarray(train.target)
    draws = []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))
        known = np.concatenate([order[y[order] == c][: labels // 20] for c in range(20)])
        others = np.setdiff1d(order, known, assume_unique=True)
        draws.append((known, np.random.default_rng(seed).permutation(others)[:10_000]))
    return {
        "X": X, "y": y, "new": counter.transform(test.documents),
        "truth": np.asarray(test.target), "draws": draws, "about": f"{labels} labels",
    }  # fmt: skip


def fewer(data: Data) -> Data:
    known, others = data["draws"][0]
    return {**data, "draws": [(known, others[:500])]}


def accuracy(data: Data, answer: Answer) -> float:
    return float(np.mean(answer["accuracies"]))


def helps(data: Data, results: dict[str, Row], *, labels: int) -> list[Check]:
    ours, plain = (
        results[name].quality for name in ("Tacit", "naive Bayes on the labels")
    )
    passed = ours is not None and plain is not None
    passed = passed and (ours > plain if labels <= 300 else ours > plain - 0.005)
    word = "better" if labels <= 300 else "not worse"
    return [Check(f"semi-supervised is {word}", bool(passed))]


def answer_of(accuracies: list[float]) -> Answer:
    return {"accuracies": accuracies, "deviation": f"{np.std(accuracies):.3f}"}


def semi_supervised(data: Data, threads: int) -> Answer:
    import warnings

    from tacit.core.engines import Threads
    from tacit.mixture import SemiSupervisedNB

    accuracies = []
    for known, others in data["draws"]:
        rows = np.concatenate([known, others])
        labels = np.full(len(rows), -1)
        labels[: len(known)] = data["y"][known]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SemiSupervisedNB(SMOOTHING, engine=Threads(threads))
            model.fit(data["X"][rows], labels)
        accuracies.append(float((model.predict(data["new"]) == data["truth"]).mean()))
    return answer_of(accuracies)


def labeled_only(data: Data, threads: int) -> Answer:
    from tacit.classify import MultinomialNB

    accuracies = []
    for known, _ in data["draws"]:
        model = MultinomialNB(alpha=SMOOTHING).fit(data["X"][known], data["y"][known])
        accuracies.append(float((model.predict(data["new"]) == data["truth"]).mean()))
    return answer_of(accuracies)

"""LDA by Gibbs sampling on 20 Newsgroups, against tomotopy's exact sampler.

Equal passes: both make the same number of passes over the training posts from random topics,
with fixed alpha = 0.1 and eta = 0.01; the ratio is that of tokens per second (the notes give
those of the passes alone). Equal time: both sample for four seconds, priors optimized as each
does by default. The quality is minus the held-out log-likelihood of a token by document
completion on a quarter of the test posts, computed here from the topics and the alpha of each.

Targets: 1.2 times at 20 topics, 1.4 at 200, and at equal time at least tomotopy's likelihood.
"""

import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

PASSES = {20: 80, 200: 30}
TARGETS = {20: 1.2, 200: 1.4}
SECONDS = 4.0
ALPHA, ETA = 0.1, 0.01


def cases(scale: float) -> list[Case]:
    if data_folder() is None:
        return []
    found = []
    for workers in (1, 2):
        name = "one worker" if workers == 1 else "two workers"
        for k in (20, 200):
            passes = max(2, int(PASSES[k] * scale))
            found.append(
                Case(
                    f"{k} topics, {passes} passes, {name}",
                    partial(posts, scale),
                    contenders(k, workers, passes=passes),
                    held_out,
                    measure="minus log-likelihood",
                    tolerance=0.003,
                    targets={"tomotopy": TARGETS[k]},
                    repeats=2,
                    warmup=fewer,
                )
            )
        for k in (20, 200):
            found.append(
                Case(
                    f"{k} topics, {SECONDS:.0f} seconds, {name}",
                    partial(posts, scale),
                    contenders(k, workers, seconds=SECONDS * scale),
                    held_out,
                    measure="minus log-likelihood",
                    tolerance=1.0,
                    check=at_least_as_good,
                    repeats=1,
                    warmup=fewer,
                )
            )
    return found


def posts(scale: float, folder: Path) -> Data:
    from tacit.datasets import load
    from tacit.text import CountVectorizer

    counter = CountVectorizer(min_df=5, max_df=0.5, stop_words="english")
    X = counter.fit_transform(load("newsgroups", part="train").documents)
    new = counter.transform(load("newsgroups", part="test").documents)
    rng = np.random.default_rng(0)
    X = X[rng.permutation(X.shape[0])[: int(X.shape[0] * min(1.0, scale))]]
    return {"X": X, "new": new[::4], "about": f"{X.sum():,} tokens, {X.shape[1]:,} words"}


def fewer(data: Data) -> Data:
    return {**data, "X": data["X"][:300], "short": True}


def held_out(data: Data, answer: Answer) -> float:
    from tacit.topics import GibbsLDA

    model = GibbsLDA(len(answer["alpha"]))
    model.components_, model.alpha_ = answer["topics"], answer["alpha"]
    model.n_features_in_ = answer["topics"].shape[1]
    return -model.held_out_likelihood(data["new"])


def at_least_as_good(data: Data, results: dict[str, Row]) -> list[Check]:
    rows = [results.get(name) for name in ("Tacit", "tomotopy")]
    if not all(row is not None and row.quality is not None for row in rows):
        return []
    ours, theirs = (row.quality for row in rows if row is not None)
    better = ours is not None and theirs is not None and ours <= theirs
    return [Check("held-out likelihood at equal time is at least tomotopy's", better)]


def contenders(
    k: int, workers: int, *, passes: int = 0, seconds: float = 0.0
) -> tuple[Contender, ...]:
    options = {"k": k, "workers": workers, "passes": passes, "seconds": seconds}
    return (
        Contender("Tacit", partial(tacit_fit, **options)),
        Contender(
            "tomotopy", partial(tomotopy_fit, **options),
            package="tomotopy", install="tomotopy", rival="tomotopy",
        ),
    )  # fmt: skip


class Clock:
    """The time of every pass; stops the fit when the time is up."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.times = seconds, [time.perf_counter()]

    def on_step(self, step: object) -> bool:
        self.times.append(time.perf_counter())
        return bool(self.seconds) and self.times[-1] - self.times[0] > self.seconds


def tacit_fit(
    data: Data, threads: int, *, k: int, workers: int, passes: int, seconds: float
) -> Answer:
    from tacit.core.engines import Threads
    from tacit.topics import GibbsLDA

    clock = Clock(0.2 if seconds and "short" in data else seconds)
    priors = {"alpha": ALPHA, "eta": ETA} if passes else {}
    passes = 2 if "short" in data else passes or 1000
    model = GibbsLDA(
        k, max_iter=passes, burn_in=passes - 1, random_state=1, engine=Threads(workers),
        callbacks=[clock], **priors,
    ).fit(data["X"])  # fmt: skip
    made = len(clock.times) - 2
    rate = made * data["X"].sum() / max(1e-9, clock.times[-1] - clock.times[1])
    return {
        "topics": model.topics_, "alpha": model.alpha_, "passes": model.n_iter_,
        "tokens_per_second": f"{rate / 1e6:.1f} M",
    }  # fmt: skip


def tomotopy_fit(
    data: Data, threads: int, *, k: int, workers: int, passes: int, seconds: float
) -> Answer:
    import tomotopy

    model = tomotopy.LDAModel(k=k, alpha=ALPHA, eta=ETA, seed=1, corpus=corpus_of(data))
    if passes:
        model.optim_interval = 0
    model.burn_in = 0
    passes = 2 if "short" in data else passes
    seconds = 0.2 if seconds and "short" in data else seconds
    start, made = time.perf_counter(), 0
    while made < passes or (not passes and time.perf_counter() - start < seconds):
        step = min(5, passes - made) if passes else 2
        model.train(step, workers=workers)
        made += step
    rate = made * data["X"].sum() / (time.perf_counter() - start)
    columns = [int(word) for word in model.used_vocabs]
    topics = np.full((k, data["X"].shape[1]), ETA)  # words that these posts do not have
    tokens = np.asarray(model.get_count_by_topics()) + len(columns) * ETA
    for topic in range(k):
        topics[topic, columns] = tokens[topic] * np.asarray(model.get_topic_word_dist(topic))
    return {
        "topics": topics / topics.sum(axis=1, keepdims=True),
        "alpha": np.asarray(model.alpha, np.float64), "passes": made,
        "tokens_per_second": f"{rate / 1e6:.1f} M",
    }  # fmt: skip


_corpora: dict[int, object] = {}  # building one takes longer than a fit, and is not measured


def corpus_of(data: Data) -> object:
    import tomotopy

    X = data["X"]
    if X.shape[0] not in _corpora:
        corpus = tomotopy.utils.Corpus()
        for first, last in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            words = np.repeat(X.indices[first:last], X.data[first:last])
            corpus.add_doc([str(word) for word in words])
        _corpora[X.shape[0]] = corpus
    return _corpora[X.shape[0]]

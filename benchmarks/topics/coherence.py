"""Topics of 20 Newsgroups at 20 to 100 topics: NPMI and diversity, against gensim's LDA.

Protocol: the training posts as the loader gives them, without stop words, words in ten posts or
more and at most half of them; the ten most probable words of each topic. NPMI counts in whole
posts of the same collection; diversity is the fraction of unique words among the top ten.
Published with BERTopic (Grootendorst 2022; another cut of the posts, means over 10 to 50
topics): gensim's LDA .058 / .749, NMF .089 / .663, BERTopic .166 / .851. Compare the columns
here with each other, and with those only roughly. The check: NPMI at least gensim's.
"""

from functools import partial
from pathlib import Path

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

SIZES = (20, 50, 100)
PASSES = 200


def cases(scale: float) -> list[Case]:
    if data_folder() is None:
        return []
    return [
        Case(
            f"{k} topics",
            partial(posts, scale),
            (
                Contender("Tacit", partial(gibbs, k=k, passes=max(5, int(PASSES * scale)))),
                Contender(
                    "gensim", partial(gensim_lda, k=k), package="gensim", install="gensim",
                    rival="gensim",
                ),
            ),
            npmi,
            measure="NPMI",
            lower_is_better=False,
            tolerance=1.0,
            check=coherent,
            repeats=1,
            warmup=fewer,
        )
        for k in SIZES
    ]  # fmt: skip


def posts(scale: float, folder: Path) -> Data:
    from tacit.datasets import load
    from tacit.text import CountVectorizer

    counter = CountVectorizer(min_df=10, max_df=0.5, stop_words="english")
    X = counter.fit_transform(load("newsgroups", part="train").documents)
    X = X[:: max(1, int(1 / scale))]
    return {"X": X, "about": f"{X.sum():,} tokens, {X.shape[1]:,} words"}


def fewer(data: Data) -> Data:
    return {**data, "X": data["X"][::40]}


def npmi(data: Data, answer: Answer) -> float:
    from tacit.topics import coherence

    return float(coherence(answer["words"].tolist(), data["X"]).mean())


def coherent(data: Data, results: dict[str, Row]) -> list[Check]:
    rows = [results.get(name) for name in ("Tacit", "gensim")]
    values = [row.quality for row in rows if row is not None and row.quality is not None]
    if len(values) < 2:
        return []
    return [Check("NPMI is at least gensim's", values[0] >= values[1])]


def answer_of(topics: object) -> Answer:
    from tacit.topics import diversity, top_words

    words = top_words(topics, 10)
    return {"words": words, "diversity": f"{diversity(words.tolist(), 10):.3f}"}


def gibbs(data: Data, threads: int, *, k: int, passes: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.topics import GibbsLDA

    model = GibbsLDA(k, max_iter=passes, random_state=0, engine=Threads(threads))
    return answer_of(model.fit(data["X"]))


def gensim_lda(data: Data, threads: int, *, k: int) -> Answer:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    corpus = Sparse2Corpus(data["X"], documents_columns=False)
    names = {i: str(i) for i in range(data["X"].shape[1])}
    model = LdaModel(corpus, k, id2word=names, passes=3, random_state=0)
    return answer_of(model.get_topics())

"""``tacit.explore`` on 20 Newsgroups, against a pipeline made by hand of scikit-learn.

The pipeline is what a careful user writes: TfidfVectorizer with logarithmic counts, English
stop words, no word in more than half of the posts or in fewer than three; TruncatedSVD to 100,
rows to length one; for every k from 2 to 30 KMeans with five starts and the silhouette of
5,000 posts; the k with the highest is kept. Tacit reads the same texts, knows no language, and
makes everything a project has: copies, map, tree, words, how sure each group is, the report.

The quality is the V-measure against the groups the posts came from, over all posts. The number
of groups that each contender chose is in the notes. Headers name the sender and the subject;
without headers, quotes and signatures there is the text alone. The docstrings of installed
packages are compared with the package each is from.
"""

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.explore._texts import bare, news
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

POSTS, DOCSTRINGS = 18_846, 8_000
MOST_K = 30
LIMIT = 60.0  # seconds for 10,000 posts


def cases(scale: float) -> list[Case]:
    def posts(folder: Path) -> Data:
        texts, groups = news(int(POSTS * scale))
        return data_of(texts, groups, "20 Newsgroups, training and test set")

    def bodies(folder: Path) -> Data:
        texts, groups = news(int(POSTS * scale))
        return data_of([bare(text) for text in texts], groups, "headers, quotes and ends off")

    def ten_thousand(folder: Path) -> Data:
        texts, groups = news(int(10_000 * scale))
        return data_of(texts, groups, "20 Newsgroups, posts drawn at random")

    def docstrings(folder: Path) -> Data:
        from tacit.datasets import docstrings as load

        found = load()
        order = np.random.default_rng(0).permutation(len(found.target))
        order = order[: int(DOCSTRINGS * scale)]
        texts = [found.documents[i] for i in order]
        return data_of(texts, np.asarray(found.target)[order], "docstrings of packages")

    def case(name: str, make, **more) -> Case:
        return Case(
            name,
            make,
            (TACIT, SKLEARN),
            v_measure,
            measure="V-measure",
            lower_is_better=False,
            tolerance=0.0,
            targets={"scikit-learn": 1.0},
            warmup=fewer,
            repeats=1,
            **more,
        )

    return [
        case("10,000 posts", ten_thousand, check=in_time),
        case("20 Newsgroups with headers", posts),
        case("20 Newsgroups without headers", bodies),
        case("Docstrings", docstrings),
    ]


def data_of(texts: list[str], truth: np.ndarray, origin: str) -> Data:
    return {"texts": texts, "truth": truth, "about": f"{origin}; {len(texts):,} documents"}


def fewer(data: Data) -> Data:
    return {**data, "texts": data["texts"][:500]}


def v_measure(data: Data, answer: Answer) -> float:
    from sklearn.metrics import v_measure_score

    return float(v_measure_score(data["truth"], answer["labels"]))


def in_time(data: Data, rows: dict[str, Row]) -> list[Check]:
    own = rows.get("Tacit")
    if own is None or not own.seconds:
        return [Check("Tacit has no time", False)]
    text = f"all of it within {LIMIT:.0f} s: {own.median:.1f} s"
    return [Check(text, own.median < LIMIT)]


# --- Contenders ---


def tacit_explore(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.explore.project.project import explore_documents

    with tempfile.TemporaryDirectory() as folder:
        project = explore_documents(
            data["texts"], out=Path(folder) / "news", engine=Threads(threads)
        )
        labels = np.array(project.document_columns()["group"])  # off the file
    return {"labels": labels, "k": int(labels.max()) + 1}


def sklearn_pipeline(data: Data, threads: int) -> Answer:
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import silhouette_score
    from sklearn.preprocessing import normalize

    words = TfidfVectorizer(
        sublinear_tf=True, stop_words="english", max_df=0.5, min_df=3
    ).fit_transform(data["texts"])
    rows = normalize(TruncatedSVD(100, random_state=0).fit_transform(words))
    best, labels = -1.0, np.zeros(len(rows), int)
    for k in range(2, MOST_K + 1):
        found = KMeans(k, n_init=5, random_state=0).fit_predict(rows)
        size = min(5000, len(rows))
        sharp = silhouette_score(rows, found, sample_size=size, random_state=0)
        if sharp > best:
            best, labels = sharp, found
    return {"labels": labels, "k": int(labels.max()) + 1}


TACIT = Contender("Tacit", tacit_explore)
SKLEARN = Contender(
    "scikit-learn pipeline", sklearn_pipeline, package="sklearn", install="scikit-learn",
    rival="scikit-learn",
)  # fmt: skip

"""The groups of ``tacit.explore`` on labelled collections, against k-means that is told k.

Contenders: Tacit, which is told nothing; and, each told the number of classes, Tacit with
``k=``, flat spherical k-means in the same space, and a pipeline made by hand of scikit-learn
(TfidfVectorizer with logarithmic counts, English stop words, no word in more than half of the
documents or in fewer than three; TruncatedSVD to 100, rows to length one, KMeans with ten
starts). The quality is the V-measure against the classes; where Tacit is told nothing, at the
level of the tree whose number of groups is nearest to theirs. Every contender runs with three
seeds, all seeds count the same, and the seconds are of the three together: on small collections
one seed differs from the next by more than the contenders do.

The checks have the V-measure and the adjusted Rand index at that level, at the level that is
most like the classes by that index, at the level that is shown first, and of ``choose_k``, the
flat choice. Documents without words are in no group of Tacit; they count as one of their own.

Short and long texts whose words are dealt out to the documents at random have no groups: that
is a check too. Sets are drawn and cut the same way for every run.
"""

import csv
import gzip
import json
import os
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.explore._texts import bare, news
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row, Unable

__all__ = ["cases"]

NEAR = 0.02  # of the V-measure of the better rival that counts as level with it
MOST = 6000  # documents of a set
SEEDS = (0, 1, 2)
Texts = tuple[list[str], list[str]]


def cases(scale: float) -> list[Case]:
    def labelled(name: str, load: Callable[[], Texts]) -> Case:
        def make(folder: Path) -> Data:
            texts, truth = load()
            order = np.random.default_rng(0).permutation(len(texts))[: int(MOST * scale)]
            return {
                "texts": [texts[i] for i in order],
                "truth": np.array([truth[i] for i in order]),
                "about": f"{len(order):,} documents, {len(set(truth))} classes",
            }

        return Case(
            name, make, (TACIT, TOLD, FLAT, SKLEARN), v_measure, measure="V-measure",
            lower_is_better=False, tolerance=NEAR, check=level_checks, repeats=1, warmup=fewer,
        )  # fmt: skip

    def dealt(name: str, load: Callable[[], Texts]) -> Case:
        def make(folder: Path) -> Data:
            texts, _ = load()
            order = np.random.default_rng(0).permutation(len(texts))[: int(2000 * scale)]
            some = deal([texts[i] for i in order])
            about = f"{len(some):,} documents, their words dealt out at random"
            return {"texts": some, "truth": np.zeros(len(some), int), "about": about}

        return Case(
            name, make, (TACIT,), v_measure, measure="V-measure", lower_is_better=False,
            check=no_groups, repeats=1, warmup=fewer,
        )  # fmt: skip

    return [
        *(labelled(name, load) for name, load in SETS.items()),
        dealt("Dealt words, 240 posts", SETS["240 posts on eight subjects"]),
        dealt("Dealt words, short texts", SETS["Text messages"]),
        dealt("Dealt words, news", SETS["AG News"]),
        dealt("Dealt words, long texts", SETS["Film reviews"]),
    ]


# --- Sets ---


def folder_of(name: str) -> Path:
    given = os.environ.get("TACIT_DATA")
    folder = Path(given) / name if given else None
    if folder is None or not folder.exists():
        raise Unable(f"needs {name}: set TACIT_DATA to a folder that has it")
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        return [json.loads(line) for line in file]


def columns(folder: str, file: str, text: str = "text", label: str = "label") -> Texts:
    rows = lines(folder_of(folder) / file)
    return [row[text] for row in rows], [str(row[label]) for row in rows]


def posts(*, header: bool = True, only: tuple[str, ...] = ()) -> Texts:
    texts, groups = news()
    kept = [i for i, group in enumerate(groups) if not only or group in only]
    return [texts[i] if header else bare(texts[i]) for i in kept], [
        str(groups[i]) for i in kept
    ]


def ag_news() -> Texts:
    rows = lines(folder_of("ag_news") / "ag_news.jsonl.gz")
    return [f"{row['title']}\n{row['text']}" for row in rows], [
        str(row["label"]) for row in rows
    ]


def messages() -> Texts:
    path = folder_of("sms_spam") / "SMSSpamCollection.tsv.gz"
    with gzip.open(path, "rt", encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    return [text for _, text in rows], [label for label, _ in rows]


def brown() -> Texts:
    rows = lines(folder_of("brown_tagged") / "brown.jsonl.gz")
    texts = [
        " ".join(word for sentence in row["sents"] for word, _ in sentence) for row in rows
    ]
    return texts, [row["category"] for row in rows]


def senses(word: str) -> Texts:
    rows = lines(folder_of("senseval") / f"{word}.jsonl.gz")
    return [" ".join(row["tokens"]) for row in rows], [row["senses"][0] for row in rows]


def federalist() -> Texts:
    path = folder_of("federalist") / "federalist.csv.gz"
    csv.field_size_limit(10**9)
    with gzip.open(path, "rt", encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["author"] for row in rows]


def passages(folder: Path, size: int) -> Texts:
    """Passages of so many words of every book in a folder, labelled with the book."""
    texts, books = [], []
    for path in sorted(folder.glob("*.txt.gz")):
        with gzip.open(path, "rt", encoding="utf8") as file:
            words = file.read().split()
        for start in range(0, len(words) - size // 2, size):
            texts.append(" ".join(words[start : start + size]))
            books.append(path.name.split(".")[0])
    return texts, books


def oz_authors() -> Texts:
    texts, books = passages(folder_of("oz"), 3000)
    known = [
        i for i, book in enumerate(books) if "nonoz" not in book and "contested" not in book
    ]
    return [texts[i] for i in known], [books[i].split("__")[0] for i in known]


def some(found: Texts, n: int) -> Texts:
    """A small collection, drawn from a larger one."""
    drawn = np.random.default_rng(2).permutation(len(found[0]))[:n]
    return [found[0][i] for i in drawn], [found[1][i] for i in drawn]


def deal(texts: list[str]) -> list[str]:
    """All words of all documents in random order, as many to each document as it has."""
    split = [text.split() for text in texts]
    words = np.array([word for each in split for word in each], object)
    np.random.default_rng(1).shuffle(words)
    edges = np.cumsum([0, *(len(each) for each in split)])
    return [" ".join(words[a:b]) for a, b in pairwise(edges)]


EIGHT = (
    "rec.autos", "sci.space", "talk.politics.mideast", "rec.sport.hockey", "comp.graphics",
    "soc.religion.christian", "sci.crypt", "sci.med",
)  # fmt: skip
SETS: dict[str, Callable[[], Texts]] = {
    "20 Newsgroups": posts,
    "20 Newsgroups, bodies": lambda: posts(header=False),
    "Eight newsgroups, bodies": lambda: posts(header=False, only=EIGHT),
    "240 posts on eight subjects": lambda: some(posts(header=False, only=EIGHT), 240),
    "480 posts on four subjects": lambda: some(posts(header=False, only=EIGHT[::2]), 480),
    "AG News": ag_news,
    "28 languages": lambda: columns("langid", "sentences.jsonl.gz", label="lang"),
    "Brown categories": brown,
    "Oz books": lambda: passages(folder_of("oz"), 3000),
    "Oz authors": oz_authors,
    "Shakespeare's works": lambda: passages(folder_of("shakespeare") / "works", 4000),
    "Federalist authors": federalist,
    "Text messages": messages,
    "Film reviews": lambda: columns("movie_reviews", "movie_reviews.jsonl.gz"),
    "Subjectivity": lambda: columns("movie_reviews", "subjectivity.jsonl.gz"),
    "Senses of line": lambda: senses("line"),
    "Senses of serve": lambda: senses("serve"),
    "Senses of interest": lambda: senses("interest"),
}


# --- Measures ---


def fewer(data: Data) -> Data:
    return {**data, "texts": data["texts"][:200], "truth": data["truth"][:200]}


def v_measure(data: Data, answer: Answer) -> float:
    return scores(data, answer["labels"])[0]


def scores(data: Data, found: list[np.ndarray]) -> tuple[float, float]:
    """V-measure and adjusted Rand index against the classes, the means of all seeds."""
    from sklearn.metrics import adjusted_rand_score, v_measure_score

    truth = data["truth"]
    if any(len(labels) != len(truth) for labels in found):
        return 0.0, 0.0
    v = [v_measure_score(truth, labels) for labels in found]
    return float(np.mean(v)), float(np.mean([adjusted_rand_score(truth, z) for z in found]))


def level_checks(data: Data, rows: dict[str, Row]) -> list[Check]:
    own = rows.get("Tacit")
    if own is None or own.answer is None:
        return [Check("Tacit has no answer", False)]
    said = []
    levels = {"nearest": "labels", "most alike": "alike", "shown": "shown", "choose_k": "flat"}
    for name, key in levels.items():
        v, rand = scores(data, own.answer[key])
        many = ", ".join(str(int(labels.max()) + 1) for labels in own.answer[key])
        said.append(f"{name} ({many} groups) V {v:.3f} ARI {rand:.3f}")
    others = [row for name, row in rows.items() if name != "Tacit" and row.answer is not None]
    for row in others:
        rand = scores(data, row.answer["labels"])[1] if row.answer else 0.0
        said.append(f"{row.name} V {row.quality:.3f} ARI {rand:.3f}")
    rivals = [row for row in others if row.name != TOLD.name]
    best = max((row.quality or 0.0 for row in rivals), default=0.0)
    return [Check("; ".join(said), (own.quality or 0.0) >= best - NEAR)]


def no_groups(data: Data, rows: dict[str, Row]) -> list[Check]:
    own = rows.get("Tacit")
    if own is None or own.answer is None:
        return [Check("Tacit has no answer", False)]
    found = max(int(labels.max()) + 1 for labels in own.answer["shown"])
    return [Check(f"no groups: {found if found > 1 else 'none'} found", found == 1)]


# --- Contenders ---


def tacit_tree(data: Data, threads: int) -> Answer:
    from sklearn.metrics import adjusted_rand_score

    from tacit.cluster.small_kmeans import small_kmeans

    truth, classes = data["truth"], len(set(data["truth"].tolist()))
    answer: dict[str, list[np.ndarray]] = {"labels": [], "alike": [], "shown": [], "flat": []}
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            context = explored(data, threads, folder, seed)
            found, arrays = context.facts("groups"), context.arrays("groups")
            shown, leaf = np.array(arrays["labels"]), np.array(arrays["leaf"])  # -1: no words
            rows = np.array(context.arrays("meaning")["rows"])
        nodes, nearest, alike = found.get("nodes", []), shown, shown
        if nodes:
            cuts = [level["cut"] for level in found["levels"]]
            levels = [labels_in(cut, nodes, leaf) for cut in cuts]
            nearest = levels[int(np.argmin([abs(len(cut) - classes) for cut in cuts]))]
            alike = max(levels, key=lambda labels: adjusted_rand_score(truth, labels))
        best = found["choice"]["flat"]
        answer["labels"].append(nearest)
        answer["alike"].append(alike)
        answer["shown"].append(shown)
        answer["flat"].append(small_kmeans(rows, best, seed, starts=5, unit=True).labels)
    return answer


def explored(data: Data, threads: int, folder: str, seed: int, **settings: Any) -> Any:
    """The context of a project with groups."""
    from tacit.core.engines import Threads
    from tacit.explore.project.project import explore_documents

    return explore_documents(
        data["texts"], out=Path(folder) / "set", engine=Threads(threads), random_state=seed,
        **{"stages": ["groups"], **settings},
    )._context  # fmt: skip


def told_tree(data: Data, threads: int) -> Answer:
    k, found = len(set(data["truth"].tolist())), []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            context = explored(data, threads, folder, seed, k=k)
            found.append(np.array(context.arrays("groups")["labels"]))
    return {"labels": found}


def labels_in(cut: list[int], nodes: list[dict[str, Any]], leaf: np.ndarray) -> np.ndarray:
    """The place in a level of every document, from its leaf."""
    at = {node: place for place, node in enumerate(cut)}
    place = np.full(len(nodes) + 1, -1)
    for i in range(len(nodes)):
        place[i] = at.get(i, place[nodes[i]["parent"]])
    return place[leaf]


def flat_kmeans(data: Data, threads: int) -> Answer:
    from tacit.cluster.small_kmeans import small_kmeans

    k, found = len(set(data["truth"].tolist())), []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            context = explored(data, threads, folder, seed, stages=["meaning"])
            rows = np.array(context.arrays("meaning")["rows"])
        found.append(small_kmeans(rows, k, seed, starts=10, unit=True).labels)
    return {"labels": found}


def sklearn_pipeline(data: Data, threads: int) -> Answer:
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    k, found = len(set(data["truth"].tolist())), []
    for seed in SEEDS:
        words = TfidfVectorizer(
            sublinear_tf=True, stop_words="english", max_df=0.5, min_df=3
        ).fit_transform(data["texts"])
        size = min(100, *words.shape)
        rows = normalize(TruncatedSVD(size, random_state=seed).fit_transform(words))
        found.append(KMeans(k, n_init=10, random_state=seed).fit_predict(rows))
    return {"labels": found}


TACIT = Contender("Tacit", tacit_tree)
TOLD = Contender("Tacit, k given", told_tree)
FLAT = Contender("spherical k-means, k given", flat_kmeans)
SKLEARN = Contender(
    "scikit-learn pipeline, k given", sklearn_pipeline, package="sklearn",
    install="scikit-learn", rival="scikit-learn",
)  # fmt: skip

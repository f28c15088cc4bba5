"""Who wrote it: every text attributed by the others, from the raw text to the verdict.

Four sets: the Oz books of Baum and Thompson; the same in samples of 500 words, with the whole
book left out; the papers of the Federalist by Hamilton and Madison; and six authors: those, Jay
and Shakespeare. 50 function words. The quality is the accuracy.

The rival is a plain scikit-learn pipeline: count the same words, standardize, compare with the
centroid of each author (Manhattan distance, which is Burrows's Delta, and Euclidean), and leave
one text out by cross-validation; logistic regression is the strongest learner at hand. stylo,
the usual program, is written in R and is not run here. Published with Delta and comparable
words: Miranda García and Calle Martín (2012) give 11 of the 12 disputed Federalist papers to
Madison, all but No. 55; the notes give them all to Madison by Mosteller and Wallace's count.

A fifth case asks for strangers: each of the six authors in turn is unknown to the model, and
the quality is the proportion of the works that have a typicality of at most 0.1 for the nearest
author. The notes give that proportion of the known works, left out, for their own author.

Checks: all disputed papers go to Madison, all blocks of the Royal Book of Oz to Thompson.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

VARIANTS = ("cosine", "burrows", "eder", "quadratic")
PATTERN = r"(?u)[^\W\d_]+(?:'[^\W\d_]+)?"


def cases(scale: float) -> list[Case]:
    if data_folder() is None:
        return []
    sets = {
        "oz, 27 books": (oz, 5000, False, royal_book),
        "oz, samples of 500 words": (oz, 500, True, None),
        "federalist, 65 papers": (federalist, None, False, disputed),
        "six authors, 139 works": (six_authors, 5000, False, None),
    }
    strangers = Case(
        "six authors, each unknown in turn",
        partial(collection, six_authors, 5000, False),
        (Contender("Tacit, typicality", find_strangers),),
        accuracy,
        measure="strangers recognized",
        lower_is_better=False,
        tolerance=1.0,
        warmup=fewer,
        repeats=1,
    )
    return [
        Case(
            name,
            partial(collection, make, block, samples),
            contenders(),
            accuracy,
            measure="accuracy",
            lower_is_better=False,
            tolerance=0.02,
            targets={"scikit-learn": 3.0},
            check=check,
            warmup=fewer,
            repeats=3,
        )
        for name, (make, block, samples, check) in sets.items()
    ] + [strangers]


# --- Data ---


def oz() -> tuple[list[str], list[str], list[str]]:
    from tacit.datasets import load

    books = load("oz")
    labels = [books.target_names[code] for code in books.target]
    known = [i for i, label in enumerate(labels) if label in ("baum", "thompson")]
    asked = [books.documents[i] for i, label in enumerate(labels) if label == "contested"]
    return [books.documents[i] for i in known], [labels[i] for i in known], asked


def federalist(jay: bool = False) -> tuple[list[str], list[str], list[str]]:
    from tacit.datasets import load

    papers = load("federalist")
    status, authors = papers.metadata["status"], papers.metadata["author"]
    places = range(len(status))
    known = [i for i in places if status[i] == "undisputed" and (jay or authors[i] != "Jay")]
    asked = [papers.documents[i] for i in places if status[i] == "disputed"]
    return [papers.documents[i] for i in known], [authors[i] for i in known], asked


def six_authors() -> tuple[list[str], list[str], list[str]]:
    from tacit.datasets import load

    books, book_authors, _ = oz()
    papers, paper_authors, _ = federalist(jay=True)
    plays = list(load("shakespeare").documents or ())
    texts = [*books, *papers, *plays]
    return texts, [*book_authors, *paper_authors, *["Shakespeare"] * len(plays)], []


def collection(make, block: int | None, samples: bool, folder: Path) -> Data:
    texts, authors, asked = make()
    words = sum(len(text.split()) for text in texts)
    return {
        "texts": texts, "authors": authors, "asked": asked, "block": block, "samples": samples,
        "about": f"{len(texts)} texts of {len(set(authors))} authors, {words:,} words",
    }  # fmt: skip


def fewer(data: Data) -> Data:
    return {**data, "texts": [text[:20_000] for text in data["texts"]]}


# --- Quality ---


def accuracy(data: Data, answer: Answer) -> float:
    return float(answer["right"])


def royal_book(data: Data, results: dict[str, Row]) -> list[Check]:
    said = results["Tacit, cosine"].notes.get("unknown", "")
    return [Check("the Royal Book of Oz is Thompson's, block by block", said == "thompson 8/8")]


def disputed(data: Data, results: dict[str, Row]) -> list[Check]:
    said = results["Tacit, cosine"].notes.get("unknown", "")
    return [Check("the disputed papers are Madison's", said == "Madison 12/12")]


# --- Contenders ---


def contenders() -> tuple[Contender, ...]:
    ours = tuple(Contender(f"Tacit, {each}", partial(tacit, variant=each)) for each in VARIANTS)
    theirs = ("manhattan", "euclidean", "logistic")
    return ours + tuple(
        Contender(
            f"scikit-learn, {each}", partial(pipeline, kind=each),
            package="sklearn", install="scikit-learn", rival="scikit-learn",
        )
        for each in theirs
    )  # fmt: skip


def tacit(data: Data, threads: int, *, variant: str) -> Answer:
    from tacit.core.engines import Threads
    from tacit.style import Authorship

    model = Authorship(block=data["block"], variant=variant, engine=Threads(threads))
    model.fit(data["texts"], data["authors"])
    found = model.evaluation(by_block=data["samples"])
    unknown = ""
    if data["asked"] and not data["samples"]:
        unknown = summarize(model.attribute(data["asked"]))
    mean = float(np.mean(found.probabilities))
    return {
        "right": found.accuracy, "tested": found.tested, "unknown": unknown,
        "mean probability": f"{mean:.3f}",
    }  # fmt: skip


def find_strangers(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.style import Authorship

    authors = np.array(data["authors"])
    recognized: list[bool] = []
    rejected: list[bool] = []
    for unknown in np.unique(authors):
        known = np.flatnonzero(authors != unknown)
        model = Authorship(block=data["block"], engine=Threads(threads))
        model.fit([data["texts"][i] for i in known], authors[known])
        texts = [data["texts"][i] for i in np.flatnonzero(authors == unknown)]
        recognized += [verdict.typicality <= 0.1 for verdict in model.attribute(texts)]
        rejected += (left_out_typicality(model) <= 0.1).tolist()
    return {
        "right": float(np.mean(recognized)), "tested": len(recognized),
        "own rejected": f"{np.mean(rejected):.3f}",
    }  # fmt: skip


def left_out_typicality(model) -> np.ndarray:
    """The typicality of every known text among the others of its author."""
    distances, authors = model.left_out_distances_, model.text_authors_
    result = np.ones(len(authors))
    for i, author in enumerate(authors):
        own = distances[(authors == author) & (np.arange(len(authors)) != i), author]
        result[i] = (1 + (own >= distances[i, author]).sum()) / (1 + len(own))
    return result


def summarize(verdicts: list) -> str:
    """The author of most texts, or of most blocks where there is one text, and how many."""
    if len(verdicts) == 1:
        only = verdicts[0]
        return f"{only.author} {round(only.votes[only.author] * only.blocks)}/{only.blocks}"
    authors = [verdict.author for verdict in verdicts]
    best = max(sorted(set(authors)), key=authors.count)
    return f"{best} {authors.count(best)}/{len(authors)}"


def pipeline(data: Data, threads: int, *, kind: str) -> Answer:
    import re

    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
    from sklearn.neighbors import NearestCentroid
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from tacit.style.function_words import BINONGO

    forms = {form: j for j, word in enumerate(BINONGO.split()) for form in word.split("/")}
    block = data["block"] if data["samples"] else None
    samples, groups = [], []
    for number, text in enumerate(data["texts"]):
        if block is None:
            pieces = [text]
        else:
            words = re.findall(r"\S+", text)
            pieces = [" ".join(words[i : i + block]) for i in range(0, len(words), block)]
        samples += pieces
        groups += [number] * len(pieces)
    counter = CountVectorizer(token_pattern=PATTERN)
    counts = counter.fit_transform(samples)
    rows = np.zeros((len(samples), 50))
    for form, column in forms.items():
        if form in counter.vocabulary_:
            rows[:, column] += counts[:, [counter.vocabulary_[form]]].toarray().ravel()
    rows /= np.maximum(1, np.asarray(counts.sum(axis=1)).reshape(-1, 1))
    learner = (
        LogisticRegression(C=0.1, max_iter=1000)
        if kind == "logistic"
        else NearestCentroid(metric=kind)
    )
    authors = np.array(data["authors"])[groups]
    predicted = cross_val_predict(
        make_pipeline(StandardScaler(), learner), rows, authors, groups=groups,
        cv=LeaveOneGroupOut(),
    )  # fmt: skip
    return {"right": float((predicted == authors).mean()), "tested": len(authors)}

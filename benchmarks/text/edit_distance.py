"""Matrices of edit distances, against rapidfuzz's cdist and NLTK's edit_distance.

Everybody gets the same lists of str and gives back every distance as int32 (float64 for
weighted ones), on the same number of threads. The strings are the words of Norvig's big.txt,
sentences of the Penn Treebank and beginnings of 20 Newsgroups posts where TACIT_DATA has them,
else words and sentences made up of English letter frequencies. NLTK is written in Python and
has one thread to give, so it gets few words.

The quality is a weighted sum over the matrix, which must agree to the last digit. "alone" are
rows compared with themselves. "pairs" call the function for one pair at a time, without a
target: Tacit's is rapidfuzz's, behind a check of the arguments. "a long pair" are two texts of
100,000 characters with 1,000 edits between them, which Tacit compares within a band.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
WEIGHTS = (2, 3, 4)  # insert, delete, substitute; no special case for anybody


def cases(scale: float) -> list[Case]:
    def some(kind: str, n: int) -> Callable[[Path], Data]:
        return partial(strings, kind, int(n * scale) + 2)

    exact: dict[str, Any] = {"measure": "weighted sum", "tolerance": 0.0}
    wanted = {"rapidfuzz": 1.0}
    sizes = {  # of the lists of words, sentences and posts
        "levenshtein": (6_000, 1_000, 100),
        "optimal_string_alignment": (6_000, 1_000, 100),
        "damerau": (2_000, 200),
    }
    matrices = [
        Case(
            f"{metric}, {kind}", some(kind, n), pair(metric), checksum, targets=wanted, **exact
        )
        for metric, counts in sizes.items()
        for kind, n in zip(POOLS, counts, strict=False)
    ]
    alike, few = partial(alone, some("words", 6_000)), some("words", 100)
    return [
        *matrices,
        Case("levenshtein, words alone", alike, pair("levenshtein"), checksum, targets=wanted,
             **exact),
        Case("weighted, words", some("words", 1_000), WEIGHTED, checksum, targets=wanted,
             **exact),
        Case("levenshtein, few words", few, (*pair("levenshtein"), NLTK), checksum,
             targets={"NLTK": 100.0}, **exact),
        *(Case(f"{metric}, pairs", few, pairs(metric), checksum, **exact) for metric in sizes),
        Case("optimal_string_alignment, a long pair", partial(long_pair, scale),
             pairs("optimal_string_alignment"), checksum, targets=wanted, **exact),
    ]  # fmt: skip


# --- Data ---


def strings(kind: str, n: int, folder: Path) -> Data:
    pool, origin = POOLS[kind]()
    order = np.random.default_rng(0).permutation(len(pool))
    chosen = [pool[i] for i in order[: 2 * n]]
    size = np.mean([len(each) for each in chosen])
    about = f"{origin}; {n:,} x {n:,}, {size:.0f} characters on average"
    return {"rows": chosen[:n], "columns": chosen[n:], "about": about}


def alone(make: Callable[[Path], Data], folder: Path) -> Data:
    data = dict(make(folder))
    return {**data, "columns": None, "about": f"{data['about']} (rows alone)"}


def long_pair(scale: float, folder: Path) -> Data:
    n = int(100_000 * scale)
    text = made_up(1, 2 * n)[0][:n]
    rng = np.random.default_rng(2)
    edited = list(text)
    for place in rng.integers(0, n - 1, n // 100).tolist():
        edited[place] = edited[place + 1] + edited[place][: place % 2]  # insert or substitute
    about = f"generated text; two strings of {n:,} characters, a hundredth of them edited"
    return {"rows": [text], "columns": ["".join(edited)], "about": about}


def words() -> tuple[list[str], str]:
    from tacit.datasets import load

    if has("spelling"):
        text = load("spelling", part="big").documents[0]  # type: ignore[index]
        return sorted({word for word in text.lower().split() if word.isalpha()}), "big.txt"
    return made_up(20_000, 7), "generated words"


def sentences() -> tuple[list[str], str]:
    from tacit.datasets import load

    if has("ptb"):
        return load("ptb", part="valid").documents, "Penn Treebank"  # type: ignore[return-value]
    return made_up(4_000, 110), "generated sentences"


def posts() -> tuple[list[str], str]:
    from tacit.datasets import load

    if has("newsgroups"):
        found = load("newsgroups", part="test").documents
        return [t[:1500] for t in found if len(t) > 1500], "20 Newsgroups, 1,500 characters"  # type: ignore[union-attr]
    return made_up(1_000, 1_500), "generated posts"


def made_up(n: int, size: int) -> list[str]:
    """Strings of letters as frequent as in English, of about a size."""
    rng = np.random.default_rng(1)
    odds = 1 / np.arange(1, len(LETTERS) + 1)
    lengths = np.maximum(1, rng.poisson(size, n))
    letters = rng.choice(list(LETTERS), int(lengths.sum()), p=odds / odds.sum())
    edges = np.cumsum(lengths)
    return ["".join(letters[end - k : end]) for k, end in zip(lengths, edges, strict=True)]


POOLS: dict[str, Callable[[], tuple[list[str], str]]] = {
    "words": words,
    "sentences": sentences,
    "posts": posts,
}


def has(name: str) -> bool:
    folder = data_folder()
    return folder is not None and (folder / name).exists()


def checksum(data: Data, answer: Answer) -> float:
    """Every distance times a number that goes by its place: whole, so it is exact."""
    matrix = np.asarray(answer["distances"])
    rows = np.arange(1, matrix.shape[0] + 1) % 1_009
    columns = np.arange(1, matrix.shape[1] + 1) % 1_013
    return float(rows @ matrix.astype(np.int64) @ columns)


# --- Contenders ---


def tacit_matrix(data: Data, threads: int, *, metric: str) -> Answer:
    from tacit.core.engines import Threads
    from tacit.text import pairwise_strings

    found = pairwise_strings(
        data["rows"], data["columns"], metric=metric, engine=Threads(threads)
    )
    return {"distances": found}


def rapidfuzz_matrix(data: Data, threads: int, *, metric: str) -> Answer:
    from rapidfuzz import process

    scorer = rapidfuzz_scorer(metric)
    rows = data["rows"]
    columns = rows if data["columns"] is None else data["columns"]
    found = process.cdist(rows, columns, scorer=scorer, workers=threads, dtype=np.int32)
    return {"distances": found}


def tacit_weighted(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.text import EditCosts, pairwise_strings

    costs, engine = EditCosts(*WEIGHTS), Threads(threads)
    found = pairwise_strings(data["rows"], data["columns"], costs=costs, engine=engine)
    return {"distances": found}


def rapidfuzz_weighted(data: Data, threads: int) -> Answer:
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    found = process.cdist(
        data["rows"], data["columns"], scorer=Levenshtein.distance,
        scorer_kwargs={"weights": WEIGHTS}, workers=threads, dtype=np.float64,
    )  # fmt: skip
    return {"distances": found}


def rapidfuzz_scorer(metric: str) -> Callable:
    from rapidfuzz import distance

    return {
        "levenshtein": distance.Levenshtein,
        "optimal_string_alignment": distance.OSA,
        "damerau": distance.DamerauLevenshtein,
    }[metric].distance


def one_by_one(data: Data, threads: int, *, home: str, metric: str = "levenshtein") -> Answer:
    if home == "tacit":
        import tacit.text

        measure = getattr(tacit.text, metric)
    elif home == "nltk":
        from nltk.metrics.distance import edit_distance as measure
    else:
        measure = rapidfuzz_scorer(metric)
    return {"distances": [[measure(a, b) for b in data["columns"]] for a in data["rows"]]}


rapidfuzz = partial(Contender, package="rapidfuzz", install="rapidfuzz", rival="rapidfuzz")


def pair(metric: str) -> tuple[Contender, Contender]:
    return (
        Contender("Tacit", partial(tacit_matrix, metric=metric)),
        rapidfuzz("rapidfuzz cdist", partial(rapidfuzz_matrix, metric=metric)),
    )


def pairs(metric: str) -> tuple[Contender, Contender]:
    return (
        Contender("Tacit", partial(one_by_one, home="tacit", metric=metric)),
        rapidfuzz("rapidfuzz", partial(one_by_one, home="rapidfuzz", metric=metric)),
    )


WEIGHTED = (
    Contender("Tacit", tacit_weighted),
    rapidfuzz("rapidfuzz cdist", rapidfuzz_weighted),
)
NLTK = Contender(
    "NLTK", partial(one_by_one, home="nltk"), package="nltk", install="nltk", rival="NLTK"
)

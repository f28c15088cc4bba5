"""Every smoothing and order on the Penn Treebank, and what Shakespeare's n-grams look like.

Trained on the training part, tested on the test part, stop tokens counted, words outside the
vocabulary (there are none) as <unk>. Without TACIT_DATA generated text takes its place, whose
perplexities mean nothing. Nobody competes here: the seconds are Tacit's own, for training and
testing. mle gives most of the text probability zero: that of the rest is in the notes.

cache        order 5, modified Kneser-Ney, mixed with a cache of recent words and pairs whose
             weights and half-lives suit the validation part.
Shakespeare  counts beside those of the notes (884,647 words, 29,066 types, about 300,000
             pairs); here punctuation marks are words of their own, case counts in the pairs and
             not in the types, and stage directions and names of speakers are in. And which
             share of the runs of eight words in 200 quadrigram sentences stands in the plays
             verbatim: of four words all do.
"""

import gzip
import math
import re
from functools import partial
from pathlib import Path

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row, Unable
from benchmarks.language.ngrams import articles

__all__ = ["cases"]

SMOOTHINGS = [
    "modified-kneser-ney", "kneser-ney", "absolute", "witten-bell", "katz", "jelinek-mercer",
    "backoff", "add-k", "mle",
]  # fmt: skip
KNOWN = {"Tacit, modified-kneser-ney": 141.2, "Tacit, with a cache": 126.0}  # of order 5
RUN = 8  # words that no quadrigram model could have learned as one


def cases(scale: float) -> list[Case]:
    make = partial(treebank, scale)
    tables = [
        Case(
            f"order {order}",
            make,
            tuple(
                Contender(f"Tacit, {name}", partial(perplexity, smoothing=name, order=order))
                for name in SMOOTHINGS
            ),
            of_all_words,
            measure="perplexity",
            repeats=1,
            check=published if order == 5 and scale == 1 else None,
        )
        for order in range(1, 6)
    ]
    return [
        *tables,
        Case(
            "cache",
            make,
            (Contender("Tacit, with a cache", cached), Contender("Tacit, without", plain)),
            lambda data, answer: answer["ppl"],
            measure="perplexity",
            repeats=1,
            check=published if scale == 1 else None,
        ),
        Case(
            "Shakespeare",
            partial(plays, scale),
            (Contender("Tacit", shakespeare),),
            lambda data, answer: answer["verbatim"],
            measure="share verbatim",
            repeats=1,
        ),
    ]


def of_all_words(data: Data, answer: Answer) -> float:
    """Infinite where a word has probability zero; the notes give it without those."""
    return math.inf if answer["zero probabilities"] else answer["ppl"]


def published(data: Data, rows: dict[str, Row]) -> list[Check]:
    """On the treebank itself, perplexities are no higher than the published ones."""
    if "Treebank" not in data["about"]:
        return []
    found = {name: rows[name].quality for name in KNOWN if name in rows}
    return [
        Check(f"{name}: at most {KNOWN[name]}", ppl is not None and ppl <= KNOWN[name])
        for name, ppl in found.items()
    ]


# --- Data ---


def treebank(scale: float, folder: Path) -> Data:
    home = data_folder()
    if home is not None and (home / "ptb").exists():
        parts = {}
        for name in ("train", "valid", "test"):
            path = home / "ptb" / f"ptb.{name}.txt.gz"
            with gzip.open(path, "rt", encoding="utf-8") as file:
                parts[name] = file.read().splitlines()
        parts["train"] = parts["train"][: int(len(parts["train"]) * scale)]
        return {**parts, "about": f"Penn Treebank; {len(parts['train']):,} sentences"}
    words = " ".join(articles(int(1_000_000 * scale))[0]).split()
    lines = [" ".join(words[i : i + 20]) for i in range(0, len(words), 20)]
    cut = len(lines) // 10
    return {
        "train": lines[2 * cut :], "valid": lines[:cut], "test": lines[cut : 2 * cut],
        "about": "generated words",
    }  # fmt: skip


def plays(scale: float, folder: Path) -> Data:
    home = data_folder()
    if home is None or not (home / "shakespeare" / "works").exists():
        raise Unable("needs the plays: set TACIT_DATA to a folder with shakespeare/works")
    texts = []
    for path in sorted((home / "shakespeare" / "works").iterdir()):
        raw = path.read_bytes()
        texts.append((gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8"))
    sentences = [
        re.findall(r"[\w'’-]+|[^\w\s]", sentence)
        for text in texts
        for sentence in re.split(r"(?<=[.!?])\s+|\n\s*\n", text)
    ]
    kept = [words for words in sentences if words]
    return {"sentences": kept[: int(len(kept) * scale)], "about": f"{len(texts)} works"}


# --- Contenders ---


def perplexity(data: Data, threads: int, *, smoothing: str, order: int) -> Answer:
    from tacit.language import NGramModel

    found = NGramModel(order, smoothing=smoothing).fit(data["train"]).perplexity(data["test"])
    finite = found.ppl_known if found.zeroprobs else found.ppl
    return {"ppl": finite, "zero probabilities": found.zeroprobs}


def plain(data: Data, threads: int) -> Answer:
    return perplexity(data, threads, smoothing="modified-kneser-ney", order=5)


def cached(data: Data, threads: int) -> Answer:
    from tacit.language import CacheModel, NGramModel

    model = CacheModel(NGramModel(5).fit(data["train"])).fit(data["valid"])
    weights = ", ".join(f"{w:.3f}" for w in model.weights_)
    return {"ppl": model.perplexity(data["test"]).ppl, "weights": weights}


def shakespeare(data: Data, threads: int) -> Answer:
    from tacit.language import NGramModel

    sentences = data["sentences"]
    seen = set(runs(sentences))
    answer: dict[str, float | str | int] = {
        "words": sum(map(len, sentences)),
        "types": len({word.lower() for s in sentences for word in s}),
    }
    for order in range(1, 5):
        model = NGramModel(order, smoothing="mle" if order > 1 else "absolute").fit(sentences)
        drawn = [model.generate(seed, max_words=40) for seed in range(200)]
        answer[f"order {order}"] = next(text for text in drawn if len(text.split()) > 8)
        if order == 2:
            answer["pairs"] = model.ngram_counts_[1]
    found = runs([text.split() for text in drawn])
    answer["verbatim"] = sum(run in seen for run in found) / max(1, len(found))
    return answer


def runs(sentences: list[list[str]]) -> list[tuple[str, ...]]:
    return [tuple(s[i : i + RUN]) for s in sentences for i in range(len(s) - RUN + 1)]

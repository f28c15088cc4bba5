"""``choose_k`` on data whose number of clusters is known: shapes, labeled sets and dealt words.

There is no rival; the quality is the number of wrong decisions. Dealt words are the words of a
collection at random in documents of the same lengths, which have no clusters. Centers cut a
curve and three long bands into pieces without gaps, which do not count as clusters.
"""

import gzip
import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]


def cases(scale: float) -> list[Case]:
    plan = {"measure": "wrong", "tolerance": np.inf, "check": decisions, "repeats": 1}
    each = (("shapes", shapes), ("labeled sets", labeled), ("texts", texts))
    return [
        Case(name, partial(make, max(300, int(600 * scale))), TACIT, wrong, **plan)
        for name, make in each
    ]


def shapes(n: int, folder: Path) -> Data:
    rng = np.random.default_rng(0)
    angle, t = rng.uniform(0, 2 * np.pi, n), rng.uniform(-1, 1, n)
    ball = rng.normal(size=(n, 3))
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    band = np.stack([20 * rng.random(n), 3 * rng.integers(3, size=n) + rng.normal(0, 0.4, n)])
    sets = {
        "normal": (rng.normal(size=(n, 4)), (1,)),
        "uniform": (rng.random((n, 3)), (1,)),
        "t with 3 degrees": (rng.standard_t(3, size=(n, 3)), (1,)),
        "ring": (ring + rng.normal(0, 0.1, (n, 2)), (1,)),
        "sphere": (ball / np.linalg.norm(ball, axis=1, keepdims=True), (1,)),
        "curve": (np.stack([t, t**2], 1) + rng.normal(0, 0.03, (n, 2)), (1,)),
        "bands": (band.T, (1, 3)),
    }
    return {"sets": sets, "about": f"{n:,} rows each"}


def labeled(n: int, folder: Path) -> Data:
    from sklearn.datasets import load_digits, load_iris, load_wine
    from sklearn.preprocessing import scale

    sets = {
        "irises": (load_iris().data, (2, 3)),
        "wines": (scale(load_wine().data), (3,)),
        "digits": (load_digits().data, (8, 9, 10)),
    }
    return {"sets": sets, "about": "scikit-learn's"}


def texts(n: int, folder: Path) -> Data:
    from sklearn.feature_extraction.text import TfidfVectorizer

    sets = {}
    for name, documents in collections(2 * n).items():
        for dealt in (False, True):
            words = TfidfVectorizer(min_df=2).fit_transform(
                deal(documents) if dealt else documents
            )
            goal = (1,) if dealt else tuple(range(2, 13))
            sets[f"{name}, dealt" if dealt else name] = (sp.csr_array(words), goal)
    about = ", ".join(sets) or "TACIT_DATA has no texts"
    return {"sets": sets, "about": about}


def collections(n: int) -> dict[str, list[str]]:
    root, found = data_folder(), {}
    if root is not None and (root / "ag_news").exists():
        with gzip.open(root / "ag_news" / "ag_news.jsonl.gz", "rt", encoding="utf8") as file:
            found["ag_news"] = [json.loads(line)["text"] for line in file]
    if root is not None and (root / "sms_spam").exists():
        path = root / "sms_spam" / "SMSSpamCollection.tsv.gz"
        with gzip.open(path, "rt", encoding="utf8") as file:
            found["sms_spam"] = [line.partition("\t")[2] for line in file]
    rng = np.random.default_rng(0)
    return {
        name: [every[i] for i in rng.permutation(len(every))[:n]]
        for name, every in found.items()
    }


def deal(documents: Sequence[str]) -> list[str]:
    """The words of all documents, at random, in documents of the same lengths."""
    words = [re.findall(r"\w+", text) for text in documents]
    shuffled = np.random.default_rng(1).permutation(np.concatenate(words))
    ends = np.cumsum([len(each) for each in words])[:-1]
    return [" ".join(each) for each in np.split(shuffled, ends)]


def tacit_choose(data: Data, threads: int) -> Answer:
    from tacit.cluster import choose_k
    from tacit.core.engines import Threads

    options = {"n_references": 6, "n_resamples": 10, "random_state": 0}
    return {
        name: choose_k(X, range(1, 13), engine=Threads(threads), **options).best
        for name, (X, _) in data["sets"].items()
    }


def wrong(data: Data, answer: Answer) -> float:
    return float(sum(answer[name] not in goal for name, (_, goal) in data["sets"].items()))


def decisions(data: Data, rows: dict[str, Row]) -> list[Check]:
    return [Check("no wrong decision", rows["Tacit"].quality == 0)]


TACIT = (Contender("Tacit", tacit_choose),)

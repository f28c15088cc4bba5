"""Senses of four words, found by EM and compared with the senses that people gave.

The number of senses is the true one. The quality is the V-measure; the notes give the accuracy
of the best matching of clusters to senses, the purity, and the most frequent sense's
proportion.
"""

import gzip
import json
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]


def cases(scale: float) -> list[Case]:
    if data_folder() is None:
        return []
    return [
        Case(
            word,
            partial(occurrences, word),
            (Contender("Tacit", find_senses),),
            v_measure,
            measure="V-measure",
            lower_is_better=False,
            repeats=1,
        )
        for word in ("hard", "line", "serve", "interest")
    ]


def occurrences(word: str, folder: Path) -> Data:
    path = Path(str(data_folder())) / "senseval" / f"{word}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf8") as lines:
        records = [json.loads(line) for line in lines]
    senses = [record["senses"][0] for record in records]
    return {
        "word": word,
        "tokens": [record["tokens"] for record in records],
        "positions": [record["position"] for record in records],
        "truth": np.unique(senses, return_inverse=True)[1],
        "about": f"{len(records):,} occurrences",
    }


def v_measure(data: Data, answer: Answer) -> float:
    from tacit.measure import v_measure_score

    return float(v_measure_score(data["truth"], answer["labels"]))


def find_senses(data: Data, threads: int) -> Answer:
    from scipy.optimize import linear_sum_assignment

    from tacit.core.engines import Threads
    from tacit.mixture import WordSenses

    truth = data["truth"]
    k = int(truth.max()) + 1
    model = WordSenses(data["word"], n_senses=k, random_state=0, engine=Threads(threads))
    model.fit(data["tokens"], positions=data["positions"])
    table = np.zeros((k, k))
    np.add.at(table, (truth, model.labels_), 1)
    rows, columns = linear_sum_assignment(-table)
    return {
        "labels": model.labels_,
        "accuracy": f"{table[rows, columns].sum() / len(truth):.3f}",
        "purity": f"{table.max(axis=0).sum() / len(truth):.3f}",
        "most frequent": f"{np.bincount(truth).max() / len(truth):.3f}",
    }

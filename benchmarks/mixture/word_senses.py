"""Senses of four words, found by EM and compared with the senses that people gave.

Three settings: the true number of senses, the default of two, and for the nouns the three
senses of the experiment by Pedersen and Bruce (1997). The quality is the V-measure; the
notes give the accuracy of the best matching of clusters to senses (a sense without a cluster
counts as an error), the purity, and the most frequent sense's proportion.
"""

import gzip
import json
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]


# The senses of the published experiment: even for line, the three most frequent for interest.
THREE = {
    "line": ("cord", "formation", "phone"),
    "interest": ("interest_1", "interest_5", "interest_6"),
}


def cases(scale: float) -> list[Case]:
    if data_folder() is None:
        return []
    words = ("hard", "line", "serve", "interest")
    settings = [(f"{word}, all senses", word, None, None) for word in words]
    settings += [(f"{word}, two clusters", word, 2, None) for word in words]
    settings += [
        (f"{word}, three senses", word, None, senses) for word, senses in THREE.items()
    ]
    return [
        Case(
            name,
            partial(occurrences, word, k, senses),
            (Contender("Tacit", find_senses),),
            v_measure,
            measure="V-measure",
            lower_is_better=False,
            repeats=1,
        )
        for name, word, k, senses in settings
    ]


def occurrences(
    word: str, k: int | None, senses: tuple[str, ...] | None, folder: Path
) -> Data:
    path = Path(str(data_folder())) / "senseval" / f"{word}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf8") as lines:
        records = [json.loads(line) for line in lines]
    records = [each for each in records if senses is None or each["senses"][0] in senses]
    names, truth = np.unique([each["senses"][0] for each in records], return_inverse=True)
    return {
        "word": word,
        "clusters": k or len(names),
        "tokens": [record["tokens"] for record in records],
        "positions": [record["position"] for record in records],
        "truth": truth,
        "about": f"{len(records):,} occurrences of {len(names)} senses",
    }


def v_measure(data: Data, answer: Answer) -> float:
    from tacit.measure import v_measure_score

    return float(v_measure_score(data["truth"], answer["labels"]))


def find_senses(data: Data, threads: int) -> Answer:
    from scipy.optimize import linear_sum_assignment

    from tacit.core.engines import Threads
    from tacit.mixture import WordSenses

    truth = data["truth"]
    senses, k = int(truth.max()) + 1, data["clusters"]
    model = WordSenses(data["word"], n_senses=k, random_state=0, engine=Threads(threads))
    model.fit(data["tokens"], positions=data["positions"])
    table = np.zeros((senses, k))
    np.add.at(table, (truth, model.labels_), 1)
    rows, columns = linear_sum_assignment(-table)
    return {
        "labels": model.labels_,
        "accuracy": f"{table[rows, columns].sum() / len(truth):.3f}",
        "purity": f"{table.max(axis=0).sum() / len(truth):.3f}",
        "most frequent": f"{np.bincount(truth).max() / len(truth):.3f}",
    }

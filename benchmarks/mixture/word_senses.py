"""Senses of four words, found by EM and compared with the senses that people gave.

Three settings: the true number of senses, the default of two, and for the nouns three senses,
as many occurrences of each: the experiment of Pedersen and Bruce (1997, Unsupervised text
mining, report 97-CSE-9 of Southern Methodist University), who report accuracies of up to .43
for line and .69 for interest with EM and Ward's method, where chance is .33. The quality is the
V-measure; the notes give the accuracy of the best matching of clusters to senses (a sense
without a cluster counts as an error), the purity, and the most frequent sense's proportion.

The checks: with three senses alike the accuracy is above the most frequent sense's proportion,
as published; with two clusters likewise for serve, line and interest. For hard, of which 80
percent is one sense, nothing above that proportion is published, and none is checked.
"""

import gzip
import json
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]


# The senses of the published experiment.
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
        (f"{word}, three senses alike", word, None, senses) for word, senses in THREE.items()
    ]
    return [
        Case(
            name,
            partial(occurrences, word, k, senses),
            (Contender("Tacit", find_senses),),
            v_measure,
            measure="V-measure",
            lower_is_better=False,
            check=above_most_frequent if (k == 2 and word != "hard") or senses else None,
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
    if senses is not None:
        order = np.random.default_rng(0).permutation(len(truth))
        least = np.bincount(truth).min()
        kept = [order[truth[order] == sense][:least] for sense in range(len(names))]
        places = np.sort(np.concatenate(kept))
        records, truth = [records[i] for i in places], truth[places]
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


def above_most_frequent(data: Data, results: dict[str, Row]) -> list[Check]:
    notes = results["Tacit"].notes
    accuracy, most = float(notes.get("accuracy", 0)), float(notes.get("most frequent", 1))
    return [Check(f"accuracy {accuracy:.3f} is above {most:.3f}", accuracy > most)]


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

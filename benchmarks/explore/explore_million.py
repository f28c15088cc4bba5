"""``tacit.explore`` on a million short documents, which must stay within 8 GB of memory.

The documents are generated: 20 to 30 words of a Zipf law over 60,000 words, two in five of them
from one of 60 reorderings of that law, the topic of the document. The quality is the V-measure
of the groups against the topics; 30 groups are the most that are tried, so it cannot be 1.
"""

import os
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.explore._texts import write_short
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

DOCUMENTS = 1_000_000
LIMIT = 8e9  # bytes


def cases(scale: float) -> list[Case]:
    def make(folder: Path) -> Data:
        path, small = folder / "short.csv", folder / "small.csv"
        write_short(path, int(DOCUMENTS * scale))
        write_short(small, 500)
        size = os.path.getsize(path)
        return {
            "path": str(path),
            "small": str(small),
            "about": f"{int(DOCUMENTS * scale):,} documents of 20 to 30 words, generated; "
            f"{size / 1e6:.0f} MB of text",
        }

    return [
        Case(
            f"{int(DOCUMENTS * scale):,} short documents",
            make,
            (TACIT,),
            v_measure,
            measure="V-measure",
            lower_is_better=False,
            check=check,
            warmup=lambda data: {**data, "path": data["small"]},
            repeats=1,
        )
    ]


def v_measure(data: Data, answer: Answer) -> float:
    from sklearn.metrics import v_measure_score

    with open(data["path"], encoding="utf8") as file:
        next(file)
        topics = [line.rpartition(",")[2].strip() for line in file]
    return float(v_measure_score(topics, answer["labels"]))


def check(data: Data, rows: dict[str, Row]) -> list[Check]:
    row = rows.get("Tacit")
    if row is None or not row.peak:
        return [Check("there are no figures", False)]
    peak = f"{row.peak / 1e9:.2f} GB at its peak"
    return [Check(f"the process stays under {LIMIT / 1e9:.0f} GB: {peak}", row.peak < LIMIT)]


def tacit_explore(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.explore.project.project import explore_documents

    with tempfile.TemporaryDirectory() as folder:
        project = explore_documents(
            data["path"], out=Path(folder) / "short", text="text", engine=Threads(threads)
        )
        labels = np.array(project.document_columns()["group"])
        report = (project.path / "report.html").stat().st_size
    return {"labels": labels, "k": int(labels.max()) + 1, "report MB": round(report / 1e6, 1)}


TACIT = Contender("Tacit", tacit_explore)

"""The time of each stage of ``tacit.explore`` at 1,000, 10,000 and 100,000 news, and memory.

There are 18,846 posts of 20 Newsgroups. The 100,000 are made of them: to the header of a post
drawn at random, as many paragraphs as it has are drawn from the posts of its group, with a
seed. The smaller numbers are made the same way, so that only the number differs. The quality is
the number of documents that were read; the checks give the seconds of each stage, and how they
grow from each number to the next.
"""

import tempfile
from pathlib import Path

from benchmarks.explore._texts import recombined, write_texts
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

SIZES = (1_000, 10_000, 100_000)
LIMIT = 8e9  # bytes of memory
GROWTH = 25  # times as long for ten times as many, at most: nothing is quadratic


def cases(scale: float) -> list[Case]:
    seen: dict[int, dict[str, float]] = {}  # of the sizes before, for how times grow

    def case(size: int) -> Case:
        def make(folder: Path) -> Data:
            path, small = folder / "news.jsonl", folder / "small.jsonl"
            write_texts(path, recombined(size))
            write_texts(small, recombined(200))
            return {"path": str(path), "small": str(small), "size": size,
                    "about": f"{size:,} posts, paragraphs recombined"}  # fmt: skip

        def check(data: Data, rows: dict[str, Row]) -> list[Check]:
            row = rows.get("Tacit")
            if row is None or row.answer is None:
                return [Check("there are no figures", False)]
            seen[size] = dict(row.answer["stages"])
            return [memory(row), *grown(seen, size)]

        return Case(
            f"{size:,} news", make, (TACIT,), read, measure="documents", lower_is_better=False,
            check=check, warmup=smaller, repeats=1 if size > 10_000 else None,
        )  # fmt: skip

    return [case(int(size * scale)) for size in SIZES]


def smaller(data: Data) -> Data:
    return {**data, "path": data["small"]}


def read(data: Data, answer: Answer) -> float:
    return float(answer["documents"])


def memory(row: Row) -> Check:
    peak = row.peak or 0
    text = f"the process stays under {LIMIT / 1e9:.0f} GB: {peak / 1e9:.2f} GB at its peak"
    return Check(text, 0 < peak < LIMIT)


def grown(seen: dict[int, dict[str, float]], size: int) -> list[Check]:
    """The seconds of every stage, and how many times those of the size before they are."""
    before = max((other for other in seen if other < size), default=None)
    lines = []
    for name, seconds in seen[size].items():
        text, passed = f"{name}: {seconds:.2f} s", True
        if before is not None and (earlier := seen[before].get(name)):
            times, more = seconds / earlier, size / before
            text += f", {times:.1f} times that of {before:,}"
            passed = seconds < 2 or times < GROWTH * more / 10
        lines.append(Check(text, passed))
    return lines


def tacit_explore(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.explore.project.project import explore_documents

    stages: dict[str, float] = {}

    def on_event(event) -> None:
        if event.seconds is not None:
            stages[event.name] = round(event.seconds, 3)

    with tempfile.TemporaryDirectory() as folder:
        project = explore_documents(
            data["path"], out=Path(folder) / "news", text="text", engine=Threads(threads),
            on_event=on_event,
        )  # fmt: skip
        found = project.summary["documents"]
    return {"documents": int(found), "stages": stages}


TACIT = Contender("Tacit", tacit_explore)

"""What each stage of ``tacit explore`` costs: the constants of ``tacit.explore.project.plan``.

    python -m benchmarks.explore._plan_costs

Every stage runs in a process of its own, forked after the stages before it, on one thread, for
its processor seconds; and all of them in one process, as they do in earnest, for the most
memory that is held during each (Linux counts it anew when asked). Both are fitted by

    cost = a + b * thousands of documents + c * megabytes of text + d * thousands, up to 4

with no part below zero and every run counting by its relative error (non-negative least
squares), over news posts, short messages and sentences of several sizes; d is for what is done
on a sample of large collections. What ``--quick`` and
``--thorough`` change is measured on the same 2,000 posts as a factor. Prints the table to put
into the plan.
"""

import gzip
import json
import multiprocessing as mp
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from tacit.core.engines import Serial
from tacit.data.documents import Documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import STAGES, keys_of
from tacit.explore.project.plan import BASE
from tacit.explore.project.project import explore_documents
from tacit.explore.project.settings import Settings
from tacit.explore.report.page import make_page
from tacit.explore.stages.ingest import facts_of, fingerprint, write_documents
from tacit.explore.stages.stage import Context, Output, write_output

SIZES = ((500, "normal"), (2000, "normal"), (8000, "normal"), (2000, "quick"),
         (2000, "thorough"))  # fmt: skip
SHORT = ((5000, "normal"),)
LONG = ((25_000, "normal"),)


def news(n):
    """Posts with their group and an even spread of dates."""
    import pyarrow as pa

    path = Path(os.environ["TACIT_DATA"], "newsgroups", "train.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    order = np.random.default_rng(0).permutation(len(rows))[:n]
    rows = [rows[i] for i in order]
    dates = [f"{1990 + i % 12}-{1 + i % 11:02d}-03" for i in range(len(rows))]
    columns = {"text": [r["text"] for r in rows], "label": [r["label"] for r in rows]}
    return Documents.of(pa.table({**columns, "date": dates}), text="text")


def messages(n):
    """Short messages."""
    path = Path(os.environ["TACIT_DATA"], "sms_spam", "SMSSpamCollection.tsv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return Documents.of([line.rstrip("\n").split("\t")[1] for line in file][:n])


def sentences(n):
    """Many sentences in many languages."""
    path = Path(os.environ["TACIT_DATA"], "langid", "sentences.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line)["text"] for line in file]
    order = np.random.default_rng(0).permutation(len(rows))[:n]
    return Documents.of([rows[i] for i in order])


def measured(work):
    """Processor seconds of a call in a forked process."""
    receive, send = mp.Pipe(False)

    def child():
        start = time.process_time()
        work()
        send.send(time.process_time() - start)
        os._exit(0)

    process = mp.get_context("fork").Process(target=child)
    process.start()
    found = receive.recv()
    process.join()
    return found


def peaks(make, n, effort):
    """The most megabytes that are held during each stage of a run, {name: megabytes}."""
    documents, found = make(n), {}

    def tell(told):
        if told.seconds is None:
            Path("/proc/self/clear_refs").write_text("5")  # the peak is counted anew
        else:
            found[told.name] = most()

    with tempfile.TemporaryDirectory() as home:
        explore_documents(documents, out=home, effort=effort, tell=tell)
    found["report"] = most()
    return found


def most():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1000 - BASE
    return 0.0


def run(documents, effort):
    """The cost of every stage: {name: seconds}; and megabytes of text."""
    costs = {}
    size = sum(len(text.encode()) for text in documents.texts()) / 1e6
    settings = Settings(effort=effort)
    keys = keys_of(settings, fingerprint(documents))
    with tempfile.TemporaryDirectory() as home:
        folder = ProjectFolder(home)
        with folder.writing():
            folder.commit(settings=settings.to_dict())

            def ingest(target):
                write_documents(documents, target)
                write_output(target, Output(facts=facts_of(documents)))

            def look():
                fingerprint(documents)
                with tempfile.TemporaryDirectory() as other:
                    write_documents(documents, Path(other))

            costs["ingest"] = measured(look)
            folder.keep("ingest", keys["ingest"], ingest)
            context = Context(folder, settings, Serial(), ())
            for stage in STAGES:
                costs[stage.name] = measured(lambda: stage.run(context))  # noqa: B023
                print(stage.name, costs[stage.name], file=sys.stderr, flush=True)
                folder.keep(stage.name, keys[stage.name],
                            lambda target: write_output(target, stage.run(context)))  # noqa: B023  # fmt: skip
            costs["report"] = measured(lambda: make_page(folder))
    return costs, size


def fit(rows, values):
    """The constants of the cost for rows of what it depends on."""
    weight = 1 / np.maximum(values, 0.02)
    found, _ = nnls(rows * weight[:, None], values * weight)
    return found


def main():
    """Measure, fit and print."""
    run(news(300), "quick")  # compiles what is not kept
    runs = []
    with mp.get_context("spawn").Pool(1, maxtasksperchild=1) as fresh:
        for make, sizes in ((news, SIZES), (messages, SHORT), (sentences, LONG)):
            for n, effort in sizes:
                held = fresh.apply(peaks, (make, n, effort))
                seconds, size = run(make(n), effort)
                costs = {name: (seconds[name], held[name]) for name in seconds}
                runs.append((n, effort, costs, size))
    normal = [each for each in runs if each[1] == "normal"]
    rows = np.array([[1, n / 1000, size, min(n / 1000, 4)] for n, _, _, size in normal])
    for name in normal[0][2]:
        seconds = fit(rows, np.array([costs[name][0] for *_, costs, _ in normal]))
        memory = fit(rows, np.array([costs[name][1] for *_, costs, _ in normal]))
        same = {e: c[name] for n, e, c, _ in runs if n == 2000}
        effort = any(s.name == name and "effort" in s.settings for s in STAGES)
        if not effort:  # what differs is noise
            same = dict.fromkeys(same, same["normal"])
        factors = [same[e][0] / max(same["normal"][0], 0.02) for e in ("quick", "thorough")]
        factors += [same[e][1] / max(same["normal"][1], 1) for e in ("quick", "thorough")]
        print(f'    "{name}": Cost(')
        for part, digits in ((seconds, 4), (memory, 1), (factors, 2)):
            print(f"        {tuple(np.round(part, digits).tolist())},")
        print("    ),")
    for n, effort, costs, size in runs:
        said = ", ".join(f"{k} {a:.2f} s {b:.0f} MB" for k, (a, b) in costs.items())
        print(f"# {n} {effort} {size:.1f} MB: {said}")


if __name__ == "__main__":
    main()

"""k-means on a file of 4 GB in less than 1 GB of memory, bit for bit as in memory.

The rows are ``data.mixture_chunks`` (float32, 64 columns) written to a .npy file as they are
made and removed afterwards. Tacit fits it once from the file and once as an array; the
centers must have the same bytes, and the process that streams must never hold 1 GB. The file
is dropped from the page cache before each run, so the first pass reads the disk; whether
later ones do is up to the system. scikit-learn cannot fit KMeans from a file; its
MiniBatchKMeans.partial_fit, one pass over chunks, stands beside it for orientation.
"""

import os
import shutil
from pathlib import Path

import numpy as np

from benchmarks.cluster.kmeans import inertia, sklearn, start_centers
from benchmarks.data import mixture_chunks
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row, Unable

__all__ = ["cases"]

SIZE = 4_000_000_000  # bytes
COLUMNS = 64
CENTERS = 32
UPDATES = 10
LIMIT = 1_000_000_000  # bytes the streaming process may hold


def cases(scale: float) -> list[Case]:
    rows = int(SIZE * scale) // (4 * COLUMNS)
    return [
        Case(
            f"{SIZE * scale / 1e9:g} GB from a file, k={CENTERS}",
            lambda folder: write(folder, rows),
            CONTENDERS,
            lambda data, answer: inertia({"X": np.load(data["path"], mmap_mode="r")}, answer),
            check=check,
            warmup=lambda data: {**data, "path": data["small"]},
            repeats=1,
        )
    ]


def write(folder: Path, rows: int) -> Data:
    """The file, and one of its first 20,000 rows for the first calls."""
    need, free = 4 * COLUMNS * rows, shutil.disk_usage(folder).free
    if need > 0.9 * free:
        raise Unable(f"needs {need / 1e9:.1f} GB of disk, {free / 1e9:.1f} GB are free")
    path, small = folder / "rows.npy", folder / "small.npy"
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, COLUMNS)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for chunk in mixture_chunks(rows, COLUMNS, components=100, separation=8.0, seed=5):
            file.write(chunk.tobytes())
        file.flush()
        os.fsync(file.fileno())  # only what is on the disk can be dropped from the cache
    first = np.array(np.load(path, mmap_mode="r")[:20_000])
    np.save(small, first)
    return {
        "path": str(path),
        "small": str(small),
        "start": start_centers(first, CENTERS),
        "max_iter": UPDATES,
        "about": f"mixture of 100 at separation 8; {rows:,} x {COLUMNS}, float32, "
        f"{UPDATES} updates",
    }


def check(data: Data, rows: dict[str, Row]) -> list[Check]:
    streamed, whole = rows.get("Tacit, from the file"), rows.get("Tacit, in memory")
    out = []
    if streamed and streamed.peak is not None:
        peak = f"{streamed.peak / 1e6:.0f} MB"
        text = f"the process that streams stays under {LIMIT / 1e6:.0f} MB: {peak} at its peak"
        out.append(Check(text, streamed.peak < LIMIT))
    if streamed and whole and streamed.answer and whole.answer:
        ours, theirs = (
            np.asarray(answer["centers"]) for answer in (streamed.answer, whole.answer)
        )
        equal = ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()
        out.append(Check("the centers of both fits have the same bytes", equal))
    else:
        out.append(Check("the centers of both fits could not be compared", False))
    return out


# --- Contenders ---


def tacit_streamed(data: Data, threads: int) -> Answer:
    from tacit.data.table import Table

    return tacit_fit(Table.from_npy(forget(data["path"])), data, threads)


def tacit_in_memory(data: Data, threads: int) -> Answer:
    return tacit_fit(np.load(forget(data["path"])), data, threads)


def tacit_fit(rows, data: Data, threads: int) -> Answer:
    from tacit.cluster import KMeans
    from tacit.core.engines import Threads

    model = KMeans(
        CENTERS, init=data["start"], n_init=1, max_iter=data["max_iter"], tol=0.0,
        engine=Threads(threads),
    ).fit(rows)  # fmt: skip
    return {"centers": model.cluster_centers_, "updates": int(model.n_iter_)}


def sklearn_minibatch(data: Data, threads: int) -> Answer:
    from sklearn.cluster import MiniBatchKMeans

    path = forget(data["path"])
    model = MiniBatchKMeans(CENTERS, init=data["start"], n_init=1, random_state=0)
    for start in range(0, len(np.load(path, mmap_mode="r")), 16_384):
        rows = np.load(path, mmap_mode="r")  # anew: pages of a map stay resident
        model.partial_fit(np.array(rows[start : start + 16_384]))
    return {"centers": model.cluster_centers_, "passes": 1}


def forget(path: str) -> str:
    """Ask the system to drop a file from its page cache."""
    if hasattr(os, "posix_fadvise"):
        file = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)
    return path


def file_and_more(data: Data) -> float:
    return 1.2 * os.path.getsize(data["path"])


CONTENDERS = (
    Contender("Tacit, from the file", tacit_streamed),
    Contender("Tacit, in memory", tacit_in_memory, memory=file_and_more),
    sklearn("scikit-learn MiniBatchKMeans.partial_fit", sklearn_minibatch),
)

"""k-medoids from a matrix of distances, against the Rust package kmedoids.

Both run FasterPAM from the same random medoids, on the same matrix, with one thread: the
search is a chain of swaps. The matrix is computed before and not timed; float32 and float64.
The quality is the loss, summed in float64 from each contender's medoids.

Also, without a target: CLARA on rows, with two threads, against the loss of FasterPAM; and from
rows to medoids, distances included, against the rival with SciPy's distances.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import mixture
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]


def cases(scale: float) -> list[Case]:
    out = []
    for n, d, k in ((5_000, 8, 10), (5_000, 16, 100), (10_000, 16, 30)):
        size = max(200, int(n * scale**0.5))
        for dtype in ("f4", "f8"):
            bits = "float32" if dtype == "f4" else "float64"
            make = partial(matrix, size, d, k, dtype)
            name = f"{n:,} items, k={k}, {bits}"
            out.append(
                Case(name, make, SEARCH, loss, measure="loss", targets={"kmedoids": 4.0})
            )
    make = partial(rows, max(200, int(5_000 * scale**0.5)), 16, 30)
    out.append(Case("from rows, 5,000 x 16, k=30", make, ROWS, row_loss, measure="loss"))
    return out


def rows(n: int, d: int, k: int, folder: Path) -> Data:
    X = mixture(n, d, components=2 * k, separation=6.0, seed=d).astype("f8")
    start = np.sort(np.random.default_rng(0).permutation(n)[:k])
    return {"X": X, "start": start, "about": f"mixture of {2 * k} normals, {n:,} x {d}"}


def matrix(n: int, d: int, k: int, dtype: str, folder: Path) -> Data:
    from scipy.spatial.distance import cdist

    data = rows(n, d, k, folder)
    return {**data, "D": cdist(data["X"], data["X"]).astype(dtype), "X": None}


def loss(data: Data, answer: Answer) -> float:
    """The sum of the distances to the nearest of the contender's medoids."""
    return float(data["D"][np.asarray(answer["medoids"])].min(axis=0).sum(dtype=np.float64))


def row_loss(data: Data, answer: Answer) -> float:
    from scipy.spatial.distance import cdist

    return float(cdist(data["X"], data["X"][answer["medoids"]]).min(axis=1).sum())


# --- Contenders ---


def tacit_search(data: Data, threads: int) -> Answer:
    from tacit.cluster.fasterpam import fasterpam

    result = fasterpam(data["D"], data["start"])
    return {"medoids": result.indices, "swaps": result.swaps}


def rust_search(data: Data, threads: int) -> Answer:
    import kmedoids

    result = kmedoids.fasterpam(data["D"], data["start"].astype(np.uint64), 100, n_cpu=1)
    return {"medoids": result.medoids.astype(np.int64), "swaps": int(result.n_swap)}


def tacit_rows(data: Data, threads: int) -> Answer:
    return fit(data, threads, init=data["start"])


def tacit_clara(data: Data, threads: int) -> Answer:
    return fit(data, threads, method="clara", random_state=0)


def fit(data: Data, threads: int, **settings: Any) -> Answer:
    from tacit.cluster import KMedoids
    from tacit.core.engines import Threads

    model = KMedoids(len(data["start"]), engine=Threads(threads), **settings).fit(data["X"])
    return {"medoids": model.medoid_indices_}


def rust_rows(data: Data, threads: int) -> Answer:
    from scipy.spatial.distance import cdist

    return rust_search({**data, "D": cdist(data["X"], data["X"])}, threads)


rust = partial(Contender, package="kmedoids", install="kmedoids", rival="kmedoids")
SEARCH = (Contender("Tacit", tacit_search), rust("kmedoids (Rust)", rust_search))
ROWS = (
    Contender("Tacit", tacit_rows),
    rust("kmedoids (Rust) and SciPy", rust_rows),
    Contender("Tacit, CLARA", tacit_clara, rival="CLARA"),
)

"""Measures of a clustering, against scikit-learn.

The silhouette compares all pairs of rows: exact in both, two threads each (scikit-learn's
``n_jobs``). Davies-Bouldin and Calinski-Harabasz need the centers; adjusted Rand, V-measure and
adjusted mutual information the contingency table of two labelings. The quality is the error
against float64 row by row, on a sample for the silhouette; Tacit's must be below a millionth.

Rows are a mixture of overlapping normals, labeled by their nearest of k random rows.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import mixture
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

SAMPLE = 200  # rows whose silhouette is computed here, pair by pair
CLOSE = 1e-6


def cases(scale: float) -> list[Case]:
    out = []
    for n, d, k, target in ((50_000, 16, 20, 8.0), (20_000, 64, 20, 4.0)):
        make = partial(rows, max(1000, int(n * scale**0.5)), d, k, True)
        out.append(
            Case(
                f"silhouette, {n:,} x {d}, k={k}", make, SILHOUETTE, distance_from_truth,
                measure="error", tolerance=np.inf, targets={"scikit-learn": target},
                check=close, repeats=2,
            )
        )  # fmt: skip
    for n, d, k in ((200_000, 16, 50), (1_000_000, 16, 50), (300_000, 64, 20)):
        make = partial(rows, max(1000, int(n * scale)), d, k, False)
        out.append(
            Case(
                f"Davies-Bouldin, {n:,} x {d}, k={k}", make, DAVIES_BOULDIN, bouldin_error,
                measure="error", tolerance=np.inf, targets={"scikit-learn": 10.0}, check=close,
                repeats=7,
            )
        )  # fmt: skip
    for name, n, contenders in (
        ("Calinski-Harabasz", 200_000, CALINSKI),
        ("adjusted mutual information", 200_000, agreement("adjusted_mutual_info_score")),
        ("adjusted Rand", 2_000_000, agreement("adjusted_rand_score")),
        ("V-measure", 2_000_000, agreement("v_measure_score")),
    ):
        make = partial(rows, max(1000, int(n * scale)), 16 if n < 10**6 else 2, 50, False)
        case = Case(
            f"{name}, {n:,} rows, k=50", make, contenders, value, measure="value",
            tolerance=1e-9, targets={"scikit-learn": 1.3}, repeats=5,
        )  # fmt: skip
        out.append(case)
    return out


def rows(n: int, d: int, k: int, silhouette: bool, folder: Path) -> Data:
    X = mixture(n, d, components=2 * k, separation=8.0, seed=d).astype("f8")
    rng = np.random.default_rng(0)
    near = X[rng.permutation(n)[:k]]
    squares = (near**2).sum(axis=1)
    labels = np.concatenate(
        [(squares - 2 * X[i : i + 8192] @ near.T).argmin(axis=1) for i in range(0, n, 8192)]
    )
    other = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), labels)
    data = {"X": X, "labels": labels, "other": other, "about": f"mixture, {n:,} x {d}"}
    return {**data, "truth": silhouettes(X, labels, k)} if silhouette else data


def silhouettes(X: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Of an even sample of the rows, pair by pair in float64."""
    counts = np.bincount(labels, minlength=k)
    out = []
    for i in range(0, len(X), len(X) // SAMPLE):
        sums = np.bincount(labels, np.sqrt(((X - X[i]) ** 2).sum(axis=1)), k)
        own = sums[labels[i]] / max(1, counts[labels[i]] - 1)
        means = np.delete(sums / counts, labels[i])
        out.append((means.min() - own) / max(own, means.min()) if counts[labels[i]] > 1 else 0)
    return np.array(out)


# --- Quality ---


def distance_from_truth(data: Data, answer: Answer) -> float:
    step = len(data["X"]) // SAMPLE
    return float(np.abs(np.asarray(answer["values"])[::step] - data["truth"]).max())


def bouldin_error(data: Data, answer: Answer) -> float:
    X, labels = data["X"], data["labels"]
    k = int(labels.max()) + 1
    groups = [X[labels == j] for j in range(k)]
    centers = np.array([group.mean(axis=0) for group in groups])
    widths = np.array(
        [
            np.sqrt(((g - c) ** 2).sum(axis=1)).mean()
            for g, c in zip(groups, centers, strict=True)
        ]
    )
    apart = np.sqrt(((centers[:, None] - centers) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    truth = ((widths[:, None] + widths) / apart).max(axis=1).mean()
    return abs(answer["value"] / truth - 1)


def value(data: Data, answer: Answer) -> float:
    return answer["value"]


def close(data: Data, found: dict[str, Row]) -> list[Check]:
    off = found["Tacit"].quality if "Tacit" in found else None
    return [Check(f"Tacit is within {CLOSE:g} of the truth", off is not None and off < CLOSE)]


# --- Contenders ---


def tacit_silhouette(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.measure import silhouette_samples

    values = silhouette_samples(data["X"], data["labels"], engine=Threads(threads))
    return {"values": values, "mean": float(values.mean())}


def sklearn_silhouette(data: Data, threads: int) -> Answer:
    from sklearn.metrics import silhouette_samples
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        values = silhouette_samples(data["X"], data["labels"], n_jobs=threads)
    return {"values": values, "mean": float(values.mean())}


def tacit_score(data: Data, threads: int, *, name: str) -> Answer:
    from tacit import measure
    from tacit.core.engines import Threads

    score = getattr(measure, name)
    return {"value": score(data["X"], data["labels"], engine=Threads(threads))}


def sklearn_score(data: Data, threads: int, *, name: str) -> Answer:
    from sklearn import metrics

    return {"value": float(getattr(metrics, name)(data["X"], data["labels"]))}


def tacit_agreement(data: Data, threads: int, *, name: str) -> Answer:
    from tacit import measure

    return {"value": getattr(measure, name)(data["labels"], data["other"])}


def sklearn_agreement(data: Data, threads: int, *, name: str) -> Answer:
    from sklearn import metrics

    return {"value": float(getattr(metrics, name)(data["labels"], data["other"]))}


def pair(name: str) -> tuple[Contender, Contender]:
    return (
        Contender("Tacit", partial(tacit_score, name=name)),
        sklearn("scikit-learn", partial(sklearn_score, name=name)),
    )


def agreement(name: str) -> tuple[Contender, Contender]:
    return (
        Contender("Tacit", partial(tacit_agreement, name=name)),
        sklearn("scikit-learn", partial(sklearn_agreement, name=name)),
    )


sklearn = partial(Contender, package="sklearn", install="scikit-learn", rival="scikit-learn")
SILHOUETTE = (
    Contender("Tacit", tacit_silhouette),
    sklearn("scikit-learn", sklearn_silhouette),
)
DAVIES_BOULDIN = pair("davies_bouldin_score")
CALINSKI = pair("calinski_harabasz_score")

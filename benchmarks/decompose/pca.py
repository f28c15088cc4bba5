"""Principal components, against scikit-learn's best solver for the shape.

Dense rows: 200,000 x 500, 50 components, in float64 and in float32, where the columns have
means of up to ten deviations, against covariance_eigh. The quality is the largest relative
error of the explained variances, measured against the centered rows in float64: in float32 the
target is a hundredth of scikit-learn's. Then sparse rows, which neither library densifies:
20 Newsgroups where TACIT_DATA has them, against arpack.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import newsgroups_tfidf
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]


def cases(scale: float) -> list[Case]:
    n = int(200_000 * scale)
    dense = [
        Case(
            f"{n:,} x 500, k=50, {dtype}",
            partial(dense_rows, n, dtype),
            (TACIT, COVARIANCE),
            largest_error,
            measure="error of the variances",
            tolerance=1.0 if dtype == "float64" else 0.0,
            targets={"scikit-learn": 1.0},
            check=hundredth if dtype == "float32" else None,
            warmup=fewer,
        )
        for dtype in ("float64", "float32")
    ]
    return [
        *dense,
        Case(
            "20 Newsgroups TF-IDF, k=20, sparse",
            partial(sparse_rows, int(11_314 * scale), 20),
            (TACIT, ARPACK),
            unexplained,
            measure="variance left",
            tolerance=1e-4,
            targets={"scikit-learn": 1.0},
            warmup=fewer,
        ),
    ]


def dense_rows(n: int, dtype: str, folder: Path) -> Data:
    rng = np.random.default_rng(0)
    d = 500
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * (0.98 ** np.arange(d))[:, None]
    X = rng.standard_normal((n, d), dtype=np.float32).astype(dtype)
    X = X @ turn.astype(dtype) + (rng.uniform(-10, 10, d)).astype(dtype)
    mean = X.mean(axis=0, dtype=np.float64)
    scatter = np.zeros((d, d))
    for start in range(0, n, 10_000):
        part = X[start : start + 10_000].astype(np.float64) - mean
        scatter += part.T @ part
    exact = np.linalg.eigvalsh(scatter)[::-1][:50] / (n - 1)
    return {"X": X, "k": 50, "exact": exact, "about": f"{n:,} x {d}, {dtype}"}


def sparse_rows(n: int, k: int, folder: Path) -> Data:
    X, origin = newsgroups_tfidf(n, 30_000)
    X = X.astype(np.float64)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    about = f"{origin}; {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} values"
    return {"X": X, "k": k, "about": about}


def fewer(data: Data) -> Data:
    return {**data, "X": data["X"][:3000]}


def largest_error(data: Data, answer: Answer) -> float:
    return float(np.abs(answer["variances"] / data["exact"] - 1).max())


def hundredth(data: Data, results: dict[str, Row]) -> list[Check]:
    ours, theirs = (
        results[name].quality for name in ("Tacit", "scikit-learn covariance_eigh")
    )
    if ours is None or theirs is None:
        return [Check("both were measured", False)]
    said = f"error {ours:.1e} is at most a hundredth of scikit-learn's {theirs:.1e}"
    return [Check(said, 100 * ours <= theirs)]


def unexplained(data: Data, answer: Answer) -> float:
    """The variance that the components really leave, in float64."""
    X = data["X"]
    basis = np.linalg.qr(np.asarray(answer["components"], np.float64).T)[0]
    mean = np.asarray(X.mean(axis=0)).ravel()
    kept = ((X @ basis - mean @ basis) ** 2).sum()
    total = X.multiply(X).sum() - X.shape[0] * float(mean @ mean)
    return float((total - kept) / total)


def tacit_pca(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.decompose import PCA

    model = PCA(data["k"], random_state=0, engine=Threads(threads)).fit(data["X"])
    return {
        "variances": np.asarray(model.explained_variance_, np.float64),
        "components": model.components_, "solver": model.solver_,
    }  # fmt: skip


def sklearn_pca(data: Data, threads: int, *, solver: str) -> Answer:
    from sklearn.decomposition import PCA

    model = PCA(data["k"], svd_solver=solver, random_state=0).fit(data["X"])
    return {
        "variances": np.asarray(model.explained_variance_, np.float64),
        "components": model.components_,
    }


sklearn = partial(Contender, package="sklearn", install="scikit-learn", rival="scikit-learn")
TACIT = Contender("Tacit", tacit_pca)
COVARIANCE = sklearn(
    "scikit-learn covariance_eigh", partial(sklearn_pca, solver="covariance_eigh")
)
ARPACK = sklearn("scikit-learn arpack", partial(sklearn_pca, solver="arpack"))

"""Truncated SVD of sparse rows, against scikit-learn's randomized and ARPACK solvers.

Every library runs at its defaults, k components, and keeps only what ``fit`` keeps. The
quality is the energy captured: the sum of squares of the rows along each contender's
components, made orthonormal here, in float64. scikit-learn's two solvers compete; the faster
is the rival.

The rows are 100,000 documents of 50 words each, drawn from a Zipf law over 50,000 columns with
values uniform in [0, 1): a few columns stand out and the rest is a bulk without gaps, which is
hard for every method. Then TF-IDF rows of 20 Newsgroups where TACIT_DATA has them. In the
last case both sides go on to the last digits, and the tolerance is that of the last digits.
"""

from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.data import newsgroups_tfidf
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]


def cases(scale: float) -> list[Case]:
    n = int(100_000 * scale)
    return [
        Case(
            f"100k x 50k Zipf, k=100, {dtype}",
            partial(zipf_rows, n, 50_000, 100, dtype),
            (TACIT, RANDOMIZED, ARPACK),
            captured,
            measure="captured",
            lower_is_better=False,
            targets={"scikit-learn": 2.0} if dtype == "float32" else {},
            warmup=fewer_rows,
            repeats=None if dtype == "float32" else 1,
        )
        for dtype in ("float32", "float64")
    ] + [
        Case(
            "100k x 50k Zipf, k=10, float32",
            partial(zipf_rows, n, 50_000, 10, "float32"),
            (TACIT, RANDOMIZED, ARPACK),
            captured,
            measure="captured",
            lower_is_better=False,
            warmup=fewer_rows,
        ),
        Case(
            "20 Newsgroups TF-IDF, k=100, float32",
            partial(news_rows, int(20_000 * scale), 100, "float32"),
            (TACIT, RANDOMIZED, ARPACK),
            captured,
            measure="captured",
            lower_is_better=False,
            warmup=fewer_rows,
        ),
        Case(
            "to the last digits: 20 Newsgroups TF-IDF, k=100, float64",
            partial(news_rows, int(20_000 * scale), 100, "float64"),
            (TACIT_EXACT, ARPACK),
            captured,
            measure="captured",
            lower_is_better=False,
            tolerance=1e-9,
            warmup=fewer_rows,
            repeats=1,
        ),
    ]


def zipf_rows(n: int, d: int, k: int, dtype: str, folder: Path) -> Data:
    rng = np.random.default_rng(0)
    law = 1 / np.arange(1, d + 1) ** 0.8
    reach = np.cumsum(law / law.sum())
    drawn = np.minimum(np.searchsorted(reach, rng.random(50 * n)), d - 1)
    columns = rng.permutation(d)[drawn]
    values = rng.random(50 * n).astype(dtype)
    X = sp.csr_array((values, (np.repeat(np.arange(n), 50), columns)), shape=(n, d))
    about = f"Zipf columns; {n:,} x {d:,}, {X.nnz:,} values, {dtype}, k={k}"
    return {"X": with_small_indices(X), "k": k, "about": about}


def news_rows(n: int, k: int, dtype: str, folder: Path) -> Data:
    X, origin = newsgroups_tfidf(n, 30_000)
    X = with_small_indices(X.astype(dtype))
    about = f"{origin}; {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} values, {dtype}, k={k}"
    return {"X": X, "k": k, "about": about}


def with_small_indices(X: sp.csr_array) -> sp.csr_array:
    """int32 indices, which scikit-learn's solvers ask for too."""
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def fewer_rows(data: Data) -> Data:
    return {**data, "X": data["X"][:2000]}


def captured(data: Data, answer: Answer) -> float:
    """The energy of the rows in the space of the components, summed here in float64."""
    basis = np.linalg.qr(np.asarray(answer["components"], np.float64).T)[0]
    X, total = data["X"], 0.0
    for start in range(0, X.shape[0], 8192):
        total += float(((X[start : start + 8192].astype(np.float64) @ basis) ** 2).sum())
    return total


# --- Contenders ---


def tacit_svd(data: Data, threads: int, *, tol: float | None = None) -> Answer:
    from tacit.core.engines import Threads
    from tacit.decompose import TruncatedSVD

    settings = {} if tol is None else {"tol": tol}
    model = TruncatedSVD(data["k"], random_state=0, engine=Threads(threads), **settings)
    model.fit(data["X"])
    worst = float((model.residuals_ / model.singular_values_).max())
    return {
        "components": model.components_, "passes": int(model.n_iter_),
        "largest residual": f"{worst:.1g}",
    }  # fmt: skip


def sklearn_svd(data: Data, threads: int, *, algorithm: str) -> Answer:
    from sklearn.decomposition import TruncatedSVD

    model = TruncatedSVD(data["k"], algorithm=algorithm, random_state=0).fit(data["X"])
    return {"components": model.components_}


sklearn = partial(Contender, package="sklearn", install="scikit-learn", rival="scikit-learn")
TACIT = Contender("Tacit", tacit_svd)
TACIT_EXACT = Contender("Tacit, tol=1e-6", partial(tacit_svd, tol=1e-6))
RANDOMIZED = sklearn("scikit-learn randomized", partial(sklearn_svd, algorithm="randomized"))
ARPACK = sklearn("scikit-learn arpack", partial(sklearn_svd, algorithm="arpack"))

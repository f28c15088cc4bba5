"""k-means on sparse TF-IDF rows, against scikit-learn, from the same first centers.

The rows are the 18,846 posts of 20 Newsgroups (training and test set, headers and all)
through scikit-learn's TfidfVectorizer(max_features=30_000) in float32, k=20, where TACIT_DATA
has them; else 20,000 generated documents of Zipf words. The rules are those of ``kmeans``;
faiss takes no sparse rows.
"""

from benchmarks.cluster.kmeans import KMEANS, UPDATES, inertia, start_centers, two_updates
from benchmarks.data import newsgroups_tfidf
from benchmarks.harness import Case, Data

__all__ = ["cases"]


def cases(scale: float) -> list[Case]:
    return [
        Case(
            "20k x 30k TF-IDF, k=20",
            lambda _: rows(int(20_000 * scale)),
            KMEANS,
            inertia,
            targets={"scikit-learn": 1.5},
            warmup=two_updates,
        )
    ]


def rows(n: int) -> Data:
    X, origin = newsgroups_tfidf(n, 30_000)
    start = start_centers(X, 20)
    about = f"{origin}; {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} values"
    return {"X": X, "start": start, "max_iter": UPDATES, "about": about}

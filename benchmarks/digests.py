"""Digests of fitted models and of explored projects, to compare two versions of the code.

    python -m benchmarks.digests > before.json      # in one checkout
    python -m benchmarks.digests > after.json       # in another
    diff before.json after.json

Uses public names only, so that it runs on any version. Digests cover every fitted attribute;
arrays by dtype, shape and bytes.
"""

import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def digest(value) -> str:
    """A short hash of nested arrays, numbers, strings and containers."""
    h = hashlib.blake2b(digest_size=8)

    def add(x):
        if sp.issparse(x):
            add((x.data, x.indices, x.indptr, x.shape))
        elif isinstance(x, np.ndarray):
            h.update(f"{x.dtype} {x.shape}".encode())
            h.update(repr(x.tolist()).encode() if x.dtype == object else x.tobytes())
        elif isinstance(x, dict):
            for key in sorted(x, key=str):
                h.update(str(key).encode())
                add(x[key])
        elif isinstance(x, list | tuple):
            for each in x:
                add(each)
        else:
            h.update(repr(x).encode())

    add(value)
    return h.hexdigest()


def fitted(model) -> str:
    return digest(
        {
            name: value
            for name in sorted(vars(model))
            if name.endswith("_") and not name.startswith("_")
            for value in [getattr(model, name)]
            if isinstance(value, np.ndarray | int | float | str | list) or sp.issparse(value)
        }
    )


def models():
    """(name, digest) of every estimator that fits rows, counts or labels."""
    from tacit import classify, cluster, decompose, mixture, text

    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 8))[rng.integers(12, size=5000)] * 3 + rng.normal(size=(5000, 8))
    y = (X @ rng.normal(size=(8, 4))).argmax(axis=1)
    posts, labels = newsgroup_posts()
    counts = text.CountVectorizer(min_df=2).fit_transform(posts)
    tfidf = text.TfidfVectorizer(min_df=2).fit_transform(posts)
    yield "CountVectorizer", digest(counts)
    yield "TfidfVectorizer", digest(tfidf)
    for name, extra in [
        ("KMeans", {}), ("MiniBatchKMeans", {}), ("SphericalKMeans", {}), ("FuzzyCMeans", {}),
        ("SoftKMeans", {}), ("KMedoids", {}),
    ]:  # fmt: skip
        model = getattr(cluster, name)(6, random_state=0, **extra)
        yield f"{name} dense", fitted(model.fit(X[:1500] if name == "KMedoids" else X))
    for name in ("KMeans", "SphericalKMeans"):
        yield f"{name} sparse", fitted(getattr(cluster, name)(8, random_state=0).fit(tfidf))
    for method in ("ward", "average", "complete", "single", "centroid"):
        yield f"linkage {method}", digest(cluster.linkage(X[:600], method))
    divisive = cluster.DivisiveClustering(5, random_state=0)
    yield "DivisiveClustering", fitted(divisive.fit(X[:500]))
    chosen = cluster.choose_k(X[:1000], range(1, 15), random_state=0)
    yield "choose_k", digest(str(chosen.table))
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
    for name, rows in [("complete", X), ("missing", holes)]:
        for kind in ("full", "diag"):
            model = mixture.GaussianMixture(5, covariance_type=kind, random_state=0)
            yield f"GaussianMixture {kind} {name}", fitted(model.fit(rows))
        model = decompose.ProbabilisticPCA(3, max_iter=50, random_state=0)
        yield f"ProbabilisticPCA {name}", fitted(model.fit(rows))
    for name in ("MultinomialMixture", "BernoulliMixture"):
        yield name, fitted(getattr(mixture, name)(5, random_state=0).fit(counts))
    for solver in ("covariance_eigh", "full", "krylov"):
        model = decompose.PCA(3, svd_solver=solver, random_state=0)
        yield f"PCA {solver}", fitted(model.fit(X))
    yield "PCA sparse", fitted(decompose.PCA(10, random_state=0).fit(tfidf))
    for name in ("ClassicalMDS", "MDS"):
        model = getattr(decompose, name)(2, metric="manhattan", random_state=0)
        yield name, fitted(model.fit(X[:200]))
    yield "TruncatedSVD", fitted(decompose.TruncatedSVD(20, random_state=0).fit(tfidf))
    yield "NeighborMap", fitted(decompose.NeighborMap(random_state=0).fit(X[:500]))
    for name in ("MultinomialNB", "BernoulliNB", "ComplementNB"):
        yield name, fitted(getattr(classify, name)().fit(counts, labels))
    linear = ("Perceptron", "PassiveAggressiveClassifier", "LogisticRegression", "LinearSVC")
    for name in linear:
        kind = getattr(classify, name)
        for case, rows, target in [
            ("dense", X, y), ("sparse", tfidf, labels), ("two", tfidf, labels == labels[0]),
        ]:  # fmt: skip
            model = kind(random_state=0).fit(rows, target)
            yield f"{name} {case}", digest([model.coef_, model.intercept_])


def newsgroup_posts():
    from tacit.datasets import load

    news = load("newsgroups")
    return list(news.documents)[:2000], np.asarray(news.target)[:2000]


def projects(folder: Path):
    """(name, digest of the files) of every stage of two explored collections."""
    import tacit

    posts, _ = newsgroup_posts()
    quick = [f"{a} {b} {c}" for a in "abcd" for b in "efghij" for c in "klmnopqr"]
    for name, texts in [("newsgroups", posts), ("letters", quick)]:
        tacit.explore(texts, out=folder / f"{name}.tacit", random_state=0)
        record = json.loads((folder / f"{name}.tacit" / "project.json").read_text())
        for stage, entry in record["stages"].items():
            files = {file: fact["blake2b"] for file, fact in entry["files"].items()}
            yield f"explore {name}: {stage}", digest(files)


def language():
    from tacit.language import NGramModel

    posts, _ = newsgroup_posts()
    sentences = [line.split() for post in posts[:500] for line in post.splitlines() if line]
    for smoothing in ("modified-kneser-ney", "kneser-ney", "witten-bell", "katz", "absolute"):
        model = NGramModel(3, smoothing=smoothing).fit(sentences)
        yield f"NGramModel {smoothing}", digest([model.perplexity(sentences[:200])])


def main() -> None:
    warnings.simplefilter("ignore")
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in (models(), language(), projects(Path(folder))):
            for name, value in source:
                found[name] = value
                print(name, value, file=sys.stderr, flush=True)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

"""``tacit demo docstrings``: what the documentation of twelve modules is about.

The whole way from text to an answer with its confidence: read, count, weigh, reduce by latent
semantic analysis, choose k, cluster, describe, compare with the modules that the clustering was
never told, draw.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.cli.csv_out import open_output, write_rows
from tacit.cli.terminal import say

if TYPE_CHECKING:
    import numpy as np

__all__ = ["docstrings"]

# Of packages that come with Tacit; each is about one thing.
MODULES = (
    "numpy.ma", "numpy.polynomial", "scipy.fft", "scipy.interpolate", "scipy.linalg",
    "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse", "scipy.special",
    "scipy.stats", "sklearn.metrics",
)  # fmt: skip
TEMPLATE = re.compile(r"%\(\w+\)s")  # places where other text is put in when a module loads
DIRECTIONS = 12  # of latent semantic analysis
K_MAX = 14
RESAMPLES = 40
KEYWORDS = 6


class Corpus(NamedTuple):
    """Documents and the module each is from."""

    documents: list[str]
    ids: list[str]
    modules: list[str]


def docstrings(
    folder: Path, seed: int, engine: Any, quiet: bool, *, draw: bool
) -> dict[str, Any]:
    """Sort docstrings by what they are about, and say how sure that is."""
    clock = Clock(quiet)
    with clock.step(f"Reading the docstrings of {len(MODULES)} modules"):
        corpus = read_corpus()
    with clock.step("Counting and weighing their words"):
        weights, terms = weigh(corpus.documents, engine)
    with clock.step(f"Reducing them to {DIRECTIONS} directions of meaning"):
        rows, explained = reduce(weights, seed, engine)
    with clock.step("Choosing how many groups there are"):
        choice = choose(rows, seed, engine)
    k = max(2, choice.best)
    with clock.step(f"Sorting the documents into {k} groups"):
        labels, centers = sort(rows, k, seed, engine)
    with clock.step(f"Sorting {RESAMPLES} resamples, to see how sure that is"):
        sure = confidence(rows, labels, k, seed, engine)
    with clock.step("Describing the groups"):
        groups = describe_groups(corpus, weights, terms, labels, sure)
        agreement = compare(corpus.modules, labels)
    files: dict[str, str | None] = {"labels_file": write_labels(folder, corpus, labels, sure)}
    with clock.step("Drawing them"):
        files |= draw_pictures(folder, rows, labels, centers, groups)
    result = {
        "documents": len(corpus.documents),
        "modules": len(MODULES),
        "terms": len(terms),
        "directions": DIRECTIONS,
        "explained": explained,
        "seed": seed,
        "k": k,
        "choice": choice.to_dict(),
        "clusters": groups,
        "agreement": agreement,
        "resamples": {"number": RESAMPLES, "agreement": float(sure.agreement)},
        "seconds": clock.seconds,
        **files,
    }
    if draw:
        from tacit.cli.demo_page import draw_page

        draw_page(result, choice)
    return result


class Clock:
    """Says what is being done, and remembers how long it took."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        say(f"{name} ...", quiet=self.quiet)
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)


# --- The way ---


def read_corpus() -> Corpus:
    """Functions and classes of the modules, without what is private."""
    from tacit.datasets import docstrings as read

    found = read(sorted({module.partition(".")[0] for module in MODULES}))
    assert found.documents is not None
    modules = [".".join(name.split(".")[:2]) for name in found.metadata["module"]]
    kept = [
        i
        for i, (module, kind) in enumerate(zip(modules, found.metadata["kind"], strict=True))
        if module in MODULES and kind in ("function", "class")
    ]
    return Corpus(
        [TEMPLATE.sub(" ", found.documents[i]) for i in kept],
        [found.metadata["id"][i] for i in kept],
        [modules[i] for i in kept],
    )


def weigh(documents: list[str], engine: Any) -> "tuple[Any, list[str]]":
    """tf-idf of the words that are in some of the documents and not in most."""
    from tacit.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        stop_words="english", min_df=4, max_df=0.3, sublinear_tf=True, engine=engine
    )
    weights = vectorizer.fit_transform(documents)
    return weights, [str(term) for term in vectorizer.get_feature_names_out()]


def reduce(weights: Any, seed: int, engine: Any) -> "tuple[np.ndarray, float]":
    """Latent semantic analysis: rows of length one, and the variance they hold."""
    from tacit.decompose import TruncatedSVD
    from tacit.kernels.unit_rows import unit_rows

    svd = TruncatedSVD(DIRECTIONS, random_state=seed, engine=engine)
    rows, _ = unit_rows(svd.fit_transform(weights))
    return rows, float(svd.explained_variance_ratio_.sum())


def choose(rows: "np.ndarray", seed: int, engine: Any) -> Any:
    from tacit.cluster import choose_k

    return choose_k(
        rows, range(1, K_MAX + 1), method="spherical", random_state=seed, engine=engine
    )


def sort(
    rows: "np.ndarray", k: int, seed: int, engine: Any
) -> "tuple[np.ndarray, np.ndarray]":
    """Labels by size, and the directions of the groups in the same order."""
    import numpy as np

    from tacit.cluster import SphericalKMeans
    from tacit.cluster.labels import by_size

    model = SphericalKMeans(k, n_init=10, random_state=seed, engine=engine).fit(rows)
    labels = by_size(model.labels_)
    first = [int(model.labels_[np.flatnonzero(labels == j)[0]]) for j in range(k)]
    return labels, model.cluster_centers_[first]


def confidence(rows: "np.ndarray", labels: "np.ndarray", k: int, seed: int, engine: Any) -> Any:
    from tacit.cluster import SphericalKMeans, stability

    return stability(
        SphericalKMeans(k, n_init=3),
        rows,
        labels=labels,
        n_resamples=RESAMPLES,
        tree=False,
        random_state=seed,
        engine=engine,
    )


def compare(modules: list[str], labels: "np.ndarray") -> dict[str, float]:
    """How far the groups agree with the modules, which they were made without."""
    from tacit import measure

    h, c, v = measure.homogeneity_completeness_v_measure(modules, labels)
    return {
        "v_measure": v,
        "homogeneity": h,
        "completeness": c,
        "adjusted_rand": measure.adjusted_rand_score(modules, labels),
        "purity": measure.purity(modules, labels),
    }


# --- What was found ---


def describe_groups(
    corpus: Corpus, weights: Any, terms: list[str], labels: "np.ndarray", sure: Any
) -> list[dict[str, Any]]:
    """Each group's size, confidence, keywords by contrast, exemplar and main modules."""
    from tacit.cluster import describe

    found = describe(
        weights, labels, feature_names=terms, documents=corpus.documents, top=KEYWORDS
    )

    def cite(row: int) -> dict[str, Any]:
        return {"id": corpus.ids[row], "summary": summary(corpus.documents[row])}

    return [
        {
            "cluster": group.cluster,
            "rows": group.size,
            "share": group.share,
            "confidence": float(stable.confidence),
            "keywords": list(group.keywords),
            "exemplars": [cite(row) for row in group.nearest[:3]],
            "borderline": [cite(row) | {"other": o} for row, o in group.borderline[:3]],
            "modules": main_modules(corpus.modules, labels, group.cluster),
        }
        for group, stable in zip(found, sure.clusters, strict=True)
    ]


def summary(text: str) -> str:
    """The first sentence of a docstring, on one line."""
    return " ".join(text.strip().partition("\n\n")[0].split())


def write_labels(folder: Path, corpus: Corpus, labels: "np.ndarray", sure: Any) -> str:
    path = str(folder / "docstrings.csv")
    with open_output(path) as stream:
        write_rows(stream, [["id", "cluster", "module", "confidence"]])
        shares = (f"{share:.3f}" for share in sure.rows.confidence)
        write_rows(
            stream, zip(corpus.ids, labels.tolist(), corpus.modules, shares, strict=True)
        )
    return path


def draw_pictures(
    folder: Path,
    rows: "np.ndarray",
    labels: "np.ndarray",
    centers: "np.ndarray",
    groups: list[dict[str, Any]],
) -> dict[str, str | None]:
    """The tree of the groups and their map; none where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return {"tree_file": None, "map_file": None}
    from tacit import plot
    from tacit.cli.cluster_picture import save_figure
    from tacit.cluster import linkage
    from tacit.plot.axes import cluster_colors
    from tacit.plot.palette import PALETTE

    k = len(centers)
    colors = cluster_colors(k, PALETTE)  # the same in both pictures
    figure = Figure(figsize=(9.0, max(3.0, 0.42 * k + 1.2)), layout="constrained")
    ax = figure.subplots()
    plot.dendrogram(
        linkage(centers, "average", "cosine"), labels=[in_short(group) for group in groups],
        cut=k, palette=colors, orientation="left", ax=ax,
        title="Groups of docstrings, by how far apart their meanings are",
    )  # fmt: skip
    ax.set_xlabel("cosine distance")
    # Every leaf is a group: there is no cut to show, and nothing to count.
    for extra in (*ax.lines, ax.get_legend()):
        if extra is not None:
            extra.remove()
    tree_file, map_file = str(folder / "clusters.png"), str(folder / "map.png")
    save_figure(figure, tree_file)
    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    ax = figure.subplots()
    plot.cluster_map(
        rows, labels, regions=False, ax=ax,
        title="Docstrings, by the two directions in which their meanings differ most",
    )  # fmt: skip
    legend = ax.get_legend()
    if legend is not None:  # few groups enough to be listed
        for text, group in zip(legend.get_texts(), groups, strict=True):
            text.set_text(in_short(group))
    save_figure(figure, map_file)
    return {"tree_file": tree_file, "map_file": map_file}


def in_short(group: dict[str, Any], most: int = 32) -> str:
    """A group's number and as many of its keywords as fit.

    >>> in_short({"cluster": 3, "keywords": ["polynomial", "series", "coefficients", "degree"]})
    '3 polynomial, series'
    """
    name = f"{group['cluster']} {group['keywords'][0]}"
    for word in group["keywords"][1:3]:
        if len(name) + 2 + len(word) > most:
            break
        name += f", {word}"
    return name[:most]


def main_modules(modules: list[str], labels: "np.ndarray", j: int) -> list[dict[str, Any]]:
    """The modules that most of a group's documents are from, with their shares."""
    counts = Counter(m for m, label in zip(modules, labels, strict=True) if label == j)
    total = sum(counts.values())
    return [{"module": m, "share": count / total} for m, count in counts.most_common(2)]

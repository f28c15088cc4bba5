"""Draw the pictures of the pages: `python docs/pictures.py [NAME ...]`, by default all.

Each function draws one picture from data that every installation has, or that it makes itself,
so that `make docs` can draw them again. Pictures of the report and of the live page are taken
with a browser by `screenshots.py`; those of real data sets by the commands on their pages. One
file, because every picture is a few lines and they share their frame and colors.
"""

import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["DRAWN", "draw"]

FOLDER = Path(__file__).with_name("pictures")
DRAWN: dict[str, Callable] = {}


def picture(function: Callable) -> Callable:
    DRAWN[function.__name__] = function
    return function


def draw(folder: Path = FOLDER, names: list[str] | None = None) -> list[Path]:
    """Draw the pictures of these names into a folder as .png files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    paths = []
    for name in names or DRAWN:
        path = folder / f"{name}.png"
        figure = DRAWN[name]()
        figure.savefig(path, dpi=110, facecolor="white", metadata={"Software": None})
        plt.close("all")
        shrink(path)
        paths.append(path)
    return paths


def shrink(path: Path) -> None:
    """128 colors are enough for lines and dots, and make a third of the bytes."""
    from PIL import Image

    with Image.open(path) as image:
        image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def clouds(centers, n=60, spread=1.0, seed=0):
    import numpy as np

    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n, 2)) * spread + center for center in centers])


def frame(width=6.4, height=3.4, columns=1):
    from matplotlib.pyplot import subplots

    from tacit.plot.axes import quiet_frame

    figure, axes = subplots(1, columns, figsize=(width, height), layout="constrained")
    for ax in [axes] if columns == 1 else axes:
        quiet_frame(ax)
    return figure, axes


def write_names(ax, points, names, colors, gap=0.055):
    """Names right of their points, moved up where they would cover each other."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = high - low
    placed = []
    for i in sorted(range(len(names)), key=lambda i: points[i, 1]):
        x, y = points[i]
        near = [b for a, b in placed if abs(x - a) < 0.16 * size[0]]
        while any(abs(y - b) < gap * size[1] for b in near):
            y += 0.1 * gap * size[1]
        placed.append((x, y))
        end = (x + 0.04 * size[0], y)
        line = {"arrowstyle": "-", "color": "#cccccc", "lw": 0.6, "shrinkA": 0, "shrinkB": 2}
        ax.annotate(
            names[i], points[i], end, fontsize=9, color=colors[i], va="center", arrowprops=line
        )


# --- Groups ---


@picture
def kmeans_steps():
    from tacit import plot

    X = clouds([(0, 0), (4, 1), (1, 4)], spread=0.9, seed=1)
    return plot.kmeans_steps(X, 3, random_state=2)[0].figure


@picture
def dendrogram():
    import numpy as np
    from sklearn.datasets import load_iris

    from tacit import plot
    from tacit.cluster import linkage

    flowers = load_iris()
    every = np.arange(0, 150, 5)
    names = [flowers.target_names[c] for c in flowers.target[every]]
    tree = linkage(flowers.data[every], "ward")
    return plot.dendrogram(tree, cut=3, labels=names, title="Irises, Ward's linkage").figure


@picture
def choose_k():
    from tacit import plot
    from tacit.cluster import choose_k

    X = clouds([(0, 0), (9, 0), (0, 9)])
    return plot.scree(choose_k(X, range(1, 8), random_state=0), title="Three clouds").figure


@picture
def silhouette():
    from tacit import plot
    from tacit.cluster import KMeans

    X = clouds([(0, 0), (4.5, 0), (0, 5)], spread=1.1)
    return plot.silhouette(X, KMeans(3, random_state=0).fit(X).labels_).figure


@picture
def memberships():
    import numpy as np

    from tacit.cluster import FuzzyCMeans, KMeans, SoftKMeans
    from tacit.plot.axes import PALETTE

    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    line = np.linspace(-2, 12, 200)[:, None]
    figure, ax = frame()
    for color, (name, model) in zip(
        PALETTE,
        {
            "fuzzy c-means, m = 2": FuzzyCMeans(2, m=2.0, random_state=0),
            "soft k-means, stiffness 0.3": SoftKMeans(2, stiffness=0.3, random_state=0),
        }.items(),
        strict=False,
    ):
        model.fit(X)
        left = model.membership(line)[:, int(model.cluster_centers_[:, 0].argmin())]
        ax.plot(line[:, 0], left, color=color, label=name)
    hard = KMeans(2, random_state=0).fit(X)
    first = int(hard.cluster_centers_[:, 0].argmin())
    sides = hard.predict(line) == first
    ax.step(line[:, 0], sides, color="#888", lw=1, ls="--", label="k-means")
    ax.plot(X[:, 0], np.zeros(6), "k|", ms=12)
    ax.set(xlabel="value of a row (marks: the data)", ylabel="membership on the left")
    ax.legend(frameon=False, fontsize=8.5)
    return figure


@picture
def directions():
    import numpy as np

    from tacit.cluster import KMeans, SphericalKMeans
    from tacit.plot.axes import PALETTE

    rng = np.random.default_rng(3)
    angle = np.concatenate([rng.normal(0.5, 0.07, 60), rng.normal(1.05, 0.07, 60)])
    length = rng.uniform(0.5, 9, 120)
    X = np.stack([length * np.cos(angle), length * np.sin(angle)], axis=1)
    figure, axes = frame(7, 3.4, columns=2)
    for ax, model, title in zip(
        axes,
        (KMeans(2, n_init=5, random_state=0), SphericalKMeans(2, random_state=0)),
        ("k-means: by distance", "spherical k-means: by direction"),
        strict=True,
    ):
        labels = model.fit(X).labels_
        for j in range(2):
            ax.scatter(*X[labels == j].T, s=14, color=PALETTE[j])
        ax.set(xlabel="count of one word", ylabel="count of another")
        ax.set_title(title, loc="left", fontsize=10)
    return figure


@picture
def medoids():
    from matplotlib.collections import LineCollection

    from tacit.cluster import KMedoids
    from tacit.plot.axes import PALETTE

    X = clouds([(0, 0), (6, 1), (2, 5)], n=30)
    X[-1] = (16, 9)  # an outlier
    model = KMedoids(3, random_state=0).fit(X)
    figure, ax = frame(5.6, 3.6)
    for j, middle in enumerate(model.medoid_indices_):
        own = X[model.labels_ == j]
        spokes = [[tuple(row), tuple(X[middle])] for row in own]
        ax.add_collection(LineCollection(spokes, colors="#cccccc", linewidths=0.8, zorder=1))
        ax.scatter(*own.T, s=18, color=PALETTE[j], zorder=2)
        look = {"s": 110, "color": PALETTE[j], "edgecolors": "black", "marker": "s"}
        ax.scatter(*X[middle], zorder=3, **look)
    ax.set_title("Medoids (squares) are rows; the outlier moves none", loc="left", fontsize=10)
    return figure


@picture
def coassociation():
    import numpy as np

    from tacit.cluster import KMeans, stability

    X = np.concatenate([clouds([(0, 0), (5, 0)], n=20, seed=2), [[2.5, 0.0]] * 3])
    order = np.argsort(X[:, 0])
    result = stability(KMeans(2, n_init=5), X[order], random_state=0)
    figure, ax = frame(4.6, 3.8)
    image = ax.imshow(result.coassociation, cmap="cividis", vmin=0, vmax=1)
    ax.set(xlabel="rows, from left to right", ylabel="rows")
    figure.colorbar(image, label="fraction of resamples together")
    return figure


@picture
def mixture():
    import numpy as np
    from scipy.stats import norm

    from tacit.mixture import GaussianMixture
    from tacit.plot.axes import PALETTE

    rng = np.random.default_rng(1)
    second = rng.random(5000) < 0.6
    x = np.where(second, rng.normal(3, 1, 5000), rng.normal(-1, 2, 5000))
    model = GaussianMixture(2, random_state=0).fit(x[:, None])
    line = np.linspace(-9, 8, 300)
    figure, ax = frame()
    ax.hist(x, bins=70, density=True, color="#e4e4e4")
    total = np.zeros_like(line)
    for j in range(2):
        width = float(np.sqrt(model.covariances_[j].ravel()[0]))
        part = model.weights_[j] * norm.pdf(line, model.means_[j, 0], width)
        total += part
        ax.plot(line, part, color=PALETTE[j], label=f"component {j}")
    ax.plot(line, total, color="black", lw=1, label="mixture")
    ax.set(xlabel="value", ylabel="density")
    ax.legend(frameon=False, fontsize=8.5)
    return figure


# --- Labels ---


@picture
def losses():
    from tacit import plot

    return plot.losses().figure


@picture
def borders():
    import numpy as np

    from tacit import plot
    from tacit.classify import LogisticRegression, Perceptron

    X = clouds([(0, 0), (3, 2.2)], n=40, seed=4)
    y = np.repeat([0, 1], 40)
    figure, axes = frame(7, 3.2, columns=2)
    for ax, model in zip(
        axes, (Perceptron(random_state=0), LogisticRegression(C=1.0)), strict=True
    ):
        plot.decision_regions(model.fit(X, y), X, labels=y, ax=ax, title=type(model).__name__)
        legend = ax.get_legend()
        if legend:
            legend.remove()
    return figure


# --- Search and text ---


@picture
def minhash():
    import numpy as np

    from tacit.plot.axes import PALETTE
    from tacit.search import NearDuplicates

    texts = ["one two three four five six", "one two three four five seven"]
    line = np.linspace(0, 1, 200)
    figure, ax = frame()
    for color, threshold in zip(PALETTE, (0.5, 0.8, 0.9), strict=False):
        model = NearDuplicates(threshold=threshold, random_state=0).fit(texts)
        curve = [model.expected_recall(s) for s in line]
        ax.plot(line, curve, color=color, label=f"threshold {threshold}: {model.bands_} bands")
        ax.axvline(threshold, color=color, lw=0.7, ls=":")
    ax.set(xlabel="Jaccard similarity of two documents", ylabel="probability of being compared")
    ax.legend(frameon=False, fontsize=8.5)
    return figure


@picture
def edit_table():
    import numpy as np

    from tacit.text import levenshtein

    a, b = "kitten", "sitting"
    table = np.array(
        [[levenshtein(a[:i], b[:j]) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    )
    figure, ax = frame(4.8, 3.8)
    ax.imshow(table, cmap="Blues", vmax=9)
    for (i, j), value in np.ndenumerate(table):
        ax.text(j, i, value, ha="center", va="center", fontsize=9)
    ax.set_xticks(range(len(b) + 1), [" ", *b])
    ax.set_yticks(range(len(a) + 1), [" ", *a])
    ax.xaxis.tick_top()
    ax.set_title("Distances of all prefixes; the answer is bottom right", fontsize=9, pad=22)
    return figure


@picture
def bm25():
    import numpy as np

    from tacit.plot.axes import PALETTE

    f = np.linspace(0, 20, 200)
    figure, ax = frame()
    for color, k1 in zip(PALETTE, (0.5, 1.2, 3.0), strict=False):
        ax.plot(f, f * (k1 + 1) / (f + k1), color=color, label=f"BM25, k1 = {k1}")
    ax.plot(f, f, color="#888", ls="--", lw=1, label="plain count")
    ax.set(xlabel="occurrences of a word in a document", ylabel="weight", ylim=(0, 6))
    ax.legend(frameon=False, fontsize=8.5)
    return figure


@picture
def concept_plane():
    import numpy as np

    from tacit.plot.axes import PALETTE
    from tacit.search import SemanticIndex

    texts = [
        "elephant trunk tusk", "elephant herd trunk", "pachyderm elephant tusk trunk",
        "tusk trunk elephant ivory", "bank interest loan", "loan bank interest rate",
        "debt borrower interest", "bank loan borrower", "elephant bank ivory loan",
    ]  # fmt: skip
    index = SemanticIndex(2, random_state=0).fit(texts)
    terms = (index.components_ * index.singular_values_[:, None]).T
    figure, ax = frame(6.4, 3.8)
    for color, documents in zip(PALETTE, (range(4), range(4, 8), [8]), strict=False):
        ax.scatter(*index.transform([texts[i] for i in documents]).T, s=40, color=color)
    lengths = np.linalg.norm(terms, axis=1, keepdims=True)
    names = index.counter_.get_feature_names_out()
    write_names(ax, 1.12 * terms / lengths, names, ["#444"] * len(names))
    ax.axhline(0, color="#ddd", lw=0.8)
    ax.axvline(0, color="#ddd", lw=0.8)
    ax.margins(0.2)
    ax.set(xlabel="first component", ylabel="second component")
    return figure


# --- Language ---


@picture
def word_plane():
    import numpy as np

    from tacit.decompose import PCA
    from tacit.plot.axes import PALETTE
    from tacit.words import PPMIVectors

    kinds = {
        "animals": ["cat", "dog", "horse", "cow", "sheep"],
        "food": ["bread", "milk", "fish", "grass", "cheese"],
        "verbs": ["eats", "likes", "smells", "finds"],
        "people": ["farmer", "child", "cook"],
    }
    rng = np.random.default_rng(0)
    one = lambda kind: str(rng.choice(kinds[kind]))  # noqa: E731
    text = [f"the {one('animals')} {one('verbs')} the {one('food')}" for _ in range(600)]
    text += [f"a {one('people')} {one('verbs')} a {one('animals')}" for _ in range(600)]
    vectors = PPMIVectors(8, min_count=1, random_state=0).fit(text).vectors_
    words = [word for kind in kinds.values() for word in kind]
    rows = np.stack([vectors[word] for word in words])
    points = PCA(2).fit(rows).transform(rows)
    figure, ax = frame(6.4, 3.8)
    colors = [c for c, kind in zip(PALETTE, kinds.values(), strict=False) for _ in kind]
    ax.scatter(*points.T, s=12, color=colors)
    write_names(ax, points, words, colors)
    ax.margins(0.15)
    ax.set(xticks=[], yticks=[])
    return figure


@picture
def word_tree():
    from tacit.language import BrownClusters

    text = [
        "the dog runs", "the cat runs", "a dog sleeps", "a cat sleeps", "the cat sleeps",
        "a cow eats", "the cow sleeps", "the dog eats", "a cat runs",
        "Monday was cold", "Tuesday was warm", "Friday was cold", "Sunday was warm",
    ]  # fmt: skip
    classes = BrownClusters(n_clusters=6).fit(text).describe()
    figure, ax = frame(6.4, 3.0)
    deepest = max(len(each.path) for each in classes)
    place = {}
    for row, each in enumerate(classes):
        place[each.path] = (len(each.path), -row)
        words = ", ".join(each.words)
        ax.annotate(f"{each.path}  {words}", (deepest + 0.15, -row), va="center", fontsize=9)
    for depth in range(deepest, 0, -1):
        for stem in sorted({path[: depth - 1] for path in list(place) if len(path) == depth}):
            left, right = place[stem + "0"], place[stem + "1"]
            place[stem] = (depth - 1, (left[1] + right[1]) / 2)
            for end in (left, right):
                across = [depth - 1, depth - 1, end[0]]
                ax.plot(across, [place[stem][1], end[1], end[1]], "k", lw=1)
    for each in classes:
        depth, row = place[each.path]
        ax.plot([depth, deepest + 0.1], [row, row], color="#ccc", lw=0.8, ls=":")
    ax.set(xlim=(-0.1, deepest + 2.5))
    ax.axis("off")
    return figure


@picture
def perplexities():
    """From the figures of RESULTS.md: the benchmark of smoothings on the Penn Treebank."""
    root = str(Path(__file__).parents[1])
    if root not in sys.path:
        sys.path.insert(0, root)
    from benchmarks.readme_table import cases
    from benchmarks.report import RESULTS
    from tacit.plot.axes import PALETTE

    measured = cases(RESULTS.read_text(encoding="utf-8"))
    figure, ax = frame()
    names = ("modified-kneser-ney", "absolute", "katz", "jelinek-mercer", "witten-bell")
    for color, name in zip(PALETTE, (*names, "backoff"), strict=False):
        values = [
            float(measured["smoothings", f"order {n}"][f"Tacit, {name}"]["quality"])
            for n in range(2, 6)
        ]
        ax.plot(range(2, 6), values, "o-", ms=4, color=color, label=name)
    ax.set(xlabel="order", ylabel="test perplexity, Penn Treebank", xticks=range(2, 6))
    ax.legend(frameon=False, fontsize=8.5, ncols=2)
    return figure


@picture
def coin():
    import numpy as np

    from tacit.measure import entropy
    from tacit.plot.axes import PALETTE

    line = np.linspace(0.001, 0.999, 200)
    figure, ax = frame(5.4, 2.8)
    ax.plot(line, [entropy([p, 1 - p], base=2) for p in line], color=PALETTE[0])
    ax.set(xlabel="probability of heads", ylabel="entropy in bits")
    return figure


@picture
def topic_mixtures():
    import numpy as np

    from tacit.plot.axes import PALETTE
    from tacit.topics import GibbsLDA

    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.ones(5)) / 5
    theta = rng.dirichlet([0.4] * 3, size=60)
    X = np.stack([rng.multinomial(80, row @ topics) for row in theta])
    found = GibbsLDA(3, max_iter=100, alpha=0.4, random_state=0).fit_transform(X)
    order = np.lexsort((found[:, 0], found.argmax(axis=1)))
    figure, ax = frame(6.4, 2.6)
    bottom = np.zeros(60)
    for k in range(3):
        ax.bar(range(60), found[order, k], bottom=bottom, width=0.95, color=PALETTE[k])
        bottom += found[order, k]
    ax.set(xlabel="60 documents", ylabel="topics of each", xticks=[])
    return figure


# --- Numbers ---


@picture
def digits_by_rank():
    import numpy as np
    from sklearn.datasets import load_digits

    from tacit import plot
    from tacit.decompose import TruncatedSVD

    images = load_digits().data
    some = images[[0, 1, 2, 3, 4, 5, 6, 7]]
    rows = [some]
    for rank in (2, 8, 24):
        svd = TruncatedSVD(rank, random_state=0).fit(images)
        rows.append(svd.inverse_transform(svd.transform(some)))
    captions = [""] * 8 * 4
    for i, name in enumerate(("as they are", "rank 2", "rank 8", "rank 24")):
        captions[8 * i] = name
    sheet = np.concatenate(rows).reshape(-1, 8, 8)
    return plot.contact_sheet(-sheet, captions=captions, columns=8, scale="each").figure


@picture
def components():
    import numpy as np

    from tacit.decompose import PCA
    from tacit.plot.axes import PALETTE

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ np.array([[2.2, 1.2], [0.0, 0.6]])
    pca = PCA(2).fit(X)
    figure, ax = frame(5.2, 3.4)
    ax.scatter(*X.T, s=10, color="#bbbbbb")
    for j in range(2):
        tip = pca.mean_ + 2 * np.sqrt(pca.explained_variance_[j]) * pca.components_[j]
        style = {"arrowstyle": "->", "color": PALETTE[j], "lw": 2}
        ax.annotate("", tip, pca.mean_, arrowprops=style)
        share = f"{pca.explained_variance_ratio_[j]:.0%}"
        ax.annotate(share, tip, (5, 5), textcoords="offset points", color=PALETTE[j])
    ax.set_aspect("equal")
    ax.set_title("Two components, with the variance they explain", loc="left", fontsize=10)
    return figure


@picture
def towns():
    import numpy as np

    from tacit.decompose import ClassicalMDS

    names = ["A", "B", "C", "D", "E", "F"]
    places = np.array([[0, 0], [3, 0], [3, 4], [0, 8], [6, 7], [7, 2.0]])
    D = np.linalg.norm(places[:, None] - places, axis=2)
    points = ClassicalMDS(2, metric="precomputed").fit(D).embedding_
    figure, axes = frame(7, 3.2, columns=2)
    axes[0].imshow(D, cmap="cividis")
    axes[0].set_xticks(range(6), names)
    axes[0].set_yticks(range(6), names)
    axes[0].set_title("a table of distances", loc="left", fontsize=10)
    axes[1].scatter(*points.T, s=25, color="black")
    for name, at in zip(names, points, strict=True):
        axes[1].annotate(name, at, (5, 4), textcoords="offset points")
    axes[1].set_aspect("equal")
    axes[1].margins(0.15)
    axes[1].set_title("the map, up to turns and mirrors", loc="left", fontsize=10)
    return figure


@picture
def digits_map():
    import numpy as np
    from sklearn.datasets import load_digits

    from tacit.decompose import NeighborMap
    from tacit.plot.axes import PALETTE

    images, digits = load_digits(return_X_y=True)
    points = NeighborMap(random_state=0).fit(images).embedding_
    figure, ax = frame(5.6, 4.2)
    colors = (*PALETTE, "#777777")
    for d in range(10):
        own = points[digits == d]
        ax.scatter(*own.T, s=4, color=colors[d])
        ax.annotate(str(d), np.median(own, axis=0), fontsize=13, fontweight="bold")
    ax.set(xticks=[], yticks=[])
    return figure


# --- Words as evidence ---


def draw_bars(ax, names, values, title):
    """A horizontal bar for each name, the first on top; below zero in another color."""
    from tacit.plot.axes import PALETTE

    colors = [PALETTE[1] if value >= 0 else PALETTE[0] for value in values]
    ax.barh(range(len(names)), values, color=colors, height=0.6)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.axvline(0, color="#444", lw=0.8)
    ax.set_title(title, loc="left", fontsize=10)


@picture
def contrast_words():
    from tacit.cluster import describe
    from tacit.text import CountVectorizer

    texts = [
        "the ship sailed the sea and the ship sank", "a ship at sea and the sea was rough",
        "the sea took the ship and the captain", "the goal won the match and the cup",
        "the match ended when the goal fell",
    ]  # fmt: skip
    counter = CountVectorizer()
    X = counter.fit_transform(texts)
    found = describe(
        X, [0, 0, 0, 1, 1], feature_names=counter.get_feature_names_out(), top=20
    )
    figure, axes = frame(6.8, 2.6, columns=2)
    for ax, cluster, title in zip(axes, found, ("three texts", "two texts"), strict=True):
        words = {each.name: each.score for each in cluster.features}
        chosen = sorted(words, key=words.get, reverse=True)[:4]
        draw_bars(ax, chosen, [words[word] for word in chosen], title)
        ax.set_xlabel("z of the log-odds", fontsize=9)
    return figure


@picture
def message_features():
    from tacit.text import TextFeatures

    messages = ["WIN a FREE iPhone!!! Call 555-0199", "See you at Tom's, unless it rains..."]
    features = TextFeatures(bigrams=False, prefixes=0, suffixes=0, offset=False)
    rows = features.fit_transform(messages).toarray()
    names = list(features.get_feature_names_out())
    shown = [
        "capitals:first", "capitals:all", "capitals:letters", "punctuation:!", "punctuation:.",
        "shape:XXX", "shape:xXxxx", "shape:ddd-ddd", "shape:xx",
    ]  # fmt: skip
    figure, axes = frame(7.2, 2.9, columns=2)
    for ax, row, message in zip(axes, rows, messages, strict=True):
        draw_bars(ax, shown, [row[names.index(name)] for name in shown], message)
        ax.set_xlim(0, 3.2)
    axes[1].set_yticklabels([])
    return figure


@picture
def word_list():
    from tacit.classify import LexiconClassifier

    text = "Not a very good plot, but wonderful actors and a beautiful end."
    found = LexiconClassifier().explain(text)
    figure, ax = frame(6.4, 2.0)
    draw_bars(ax, [word for word, _ in found], [weight for _, weight in found], text)
    ax.set_xlabel("weight for the class positive", fontsize=9)
    return figure


@picture
def noisy_channel():
    import numpy as np

    from tacit.language import SpellingCorrector
    from tacit.plot.axes import PALETTE

    text = [
        "The committee will receive the letter before Tuesday. They have a lot of time.",
        "I believe that their house is over there. He came from the sea, and she came too.",
        "A letter came from the house. They came from their house. The form is too long.",
    ]
    found = SpellingCorrector().fit(text).suggest("ther", top=4)
    costs = np.array([each.cost for each in found])
    posterior = np.array([each.probability for each in found])
    channel = np.exp(-costs)
    prior = posterior / channel
    figure, ax = frame(6.4, 2.6)
    at = np.arange(len(found))
    bars = [("P(meant)", prior), ("P(typed | meant)", channel), ("product", posterior)]
    for i, (name, values) in enumerate(bars):
        offset = 0.26 * (i - 1)
        ax.bar(at + offset, values / values.sum(), 0.24, color=PALETTE[i], label=name)
    ax.set_xticks(at, [each.word for each in found])
    ax.set_ylabel("each scaled to sum 1", fontsize=9)
    ax.set_title("Somebody typed “ther”", loc="left", fontsize=10)
    ax.legend(frameon=False, fontsize=8.5)
    return figure


if __name__ == "__main__":
    for path in draw(names=sys.argv[1:]):
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")

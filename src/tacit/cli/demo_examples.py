"""The worked examples of ``tacit demo NAME``: numbers of the lecture notes next to ours.

Every example is a function that computes its numbers and returns them with a picture. Small
data comes from ``tacit.datasets.worked_examples``, other data from a data set.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["EXAMPLES", "Example", "Line", "Outcome"]


class Line(NamedTuple):
    """A number of the notes, and ours."""

    what: str
    notes: str
    ours: str


class Outcome(NamedTuple):
    """The result of an example: ``draw(figure)`` draws its picture."""

    draw: Callable[[Any], Any]
    lines: list[Line]


class Example(NamedTuple):
    """An example: a function of a seed and an engine."""

    about: str
    run: Callable[[int, Any], Outcome]
    needs: str | None  # a data set
    size: tuple[float, float]  # of the picture


EXAMPLES: dict[str, Example] = {}


def example(
    name: str, about: str, *, needs: str | None = None, size: tuple[float, float] = (7.0, 4.6)
) -> Callable[[Callable[[int, Any], Outcome]], Callable[[int, Any], Outcome]]:
    """Register a function as the example of this name."""

    def register(run: Callable[[int, Any], Outcome]) -> Callable[[int, Any], Outcome]:
        EXAMPLES[name] = Example(about, run, needs, size)
        return run

    return register


def point(values: Any, digits: int = 2) -> str:
    return f"({', '.join(f'{x:.{digits}f}' for x in values)})"


def heat_map(
    figure: Any, table: Any, rows: list[str], columns: list[str], title: str,
    *, bold: Any = None, digits: int = 2,
) -> None:  # fmt: skip
    """Draw a table of numbers as a heat map."""
    ax = figure.subplots()
    ax.imshow(table, cmap="Blues", vmin=0, vmax=1.4 * float(table.max()))
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    for i in range(len(rows)):
        for j in range(len(columns)):
            weight = "bold" if bold is not None and bold[i, j] else "normal"
            ax.text(j, i, f"{table[i, j]:.{digits}f}", ha="center", va="center", weight=weight)
    ax.set_title(title, fontsize=10)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


@example("kmeans", "k-means by hand on twelve points", size=(10.5, 3.8))
def kmeans(seed: int, engine: Any) -> Outcome:
    """k-means on twelve points, from two badly placed centers."""
    from tacit.cluster import KMeans
    from tacit.datasets.worked_examples import TWELVE_CENTERS as start
    from tacit.datasets.worked_examples import TWELVE_POINTS as points
    from tacit.plot import kmeans_steps

    def fit(passes: int) -> Any:
        return KMeans(2, init=start, max_iter=passes, tol=0, engine=engine).fit(points)

    first, end = fit(1).cluster_centers_, fit(100)
    sizes = sorted((end.labels_ == j).sum() for j in (0, 1))

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 3, sharex=True, sharey=True).ravel()
        kmeans_steps(points, KMeans(2, init=start, tol=0), axes=axes, max_panels=3)

    return Outcome(draw, [
        Line("first center after one iteration", "(-2.00, 2.25)", point(first[0])),
        Line("second center after one iteration", "(0.15, -0.78)", point(first[1])),
        Line("iterations until nothing changes", "3", str(end.n_iter_)),
        Line("points in the clusters", "5 and 7", f"{sizes[0]} and {sizes[1]}"),
    ])  # fmt: skip


@example("zeros-and-ones", "k-means as a classifier of digits", size=(8.0, 2.8))
def zeros_and_ones(seed: int, engine: Any) -> Outcome:
    """k-means as a classifier of the digits 0 and 1."""
    from sklearn.datasets import load_digits

    from tacit.cluster import KMeans
    from tacit.plot import contact_sheet

    images, digits = load_digits(n_class=2, return_X_y=True)
    model = KMeans(2, random_state=seed, engine=engine).fit(images / 16)
    wrong = model.labels_ != digits
    if wrong.mean() > 0.5:
        wrong = ~wrong

    def draw(figure: Any) -> None:
        import numpy as np

        shown = np.concatenate([16 * model.cluster_centers_, images[wrong]]).reshape(-1, 8, 8)
        captions = ["center", "center", *(f"wrong: a {digit}" for digit in digits[wrong])]
        contact_sheet(
            shown, captions=captions, scale="shared", columns=len(shown), ax=figure.subplots()
        )

    return Outcome(draw, [
        Line("images of 0 and 1", "360", str(len(images))),
        Line("in the wrong cluster", "2", str(int(wrong.sum()))),
    ])  # fmt: skip


@example("hierarchy", "five points and their dendrogram", size=(9.0, 4.0))
def hierarchy(seed: int, engine: Any) -> Outcome:
    """Five points merged by their distances."""
    import numpy as np

    from tacit.cluster import linkage
    from tacit.datasets.worked_examples import FIVE_DISTANCES
    from tacit.plot import dendrogram

    table = np.zeros((5, 5))
    for (i, j), distance in FIVE_DISTANCES.items():
        table[i - 1, j - 1] = table[j - 1, i - 1] = distance
    trees = {name: linkage(table, name, "precomputed") for name in ("single", "complete")}

    def heights(name: str) -> str:
        return ", ".join(f"{height:.2f}" for height in trees[name][:, 2])

    def draw(figure: Any) -> None:
        for ax, (name, tree) in zip(figure.subplots(1, 2), trees.items(), strict=True):
            dendrogram(tree, labels=[1, 2, 3, 4, 5], cut=2, orientation="top",
                       title=f"{name} linkage", ax=ax)  # fmt: skip

    return Outcome(draw, [
        Line("merge heights, single linkage", "1.00, 1.41, 1.41, 2.24",
             heights("single")),
        Line("merge heights, complete linkage", "1.00, 1.41, 2.00, 4.24",
             heights("complete")),
    ])  # fmt: skip


@example("evaluation", "homogeneity, completeness and V-measure", size=(5.0, 3.8))
def evaluation(seed: int, engine: Any) -> Outcome:
    """Homogeneity, completeness and V-measure of three clusters of shapes."""
    from math import log

    from tacit.datasets.worked_examples import SHAPE_CLUSTERS, SHAPES
    from tacit.measure import homogeneity_completeness_v_measure

    def entropy(*counts: int) -> float:
        return -sum(c / sum(counts) * log(c / sum(counts)) for c in counts)

    conditional = 6 / 14 * entropy(4, 1, 1) + 4 / 14 * entropy(3, 1)  # of classes in clusters
    by_hand = 1 - conditional / entropy(4, 6, 4)
    h, c, v = homogeneity_completeness_v_measure(SHAPES, SHAPE_CLUSTERS)

    def draw(figure: Any) -> None:
        from tacit.plot.axes import PALETTE

        ax, bottom = figure.subplots(), [0, 0, 0]
        for shape, color in zip(("triangle", "circle", "square"), PALETTE, strict=False):
            pairs = list(zip(SHAPES, SHAPE_CLUSTERS, strict=True))
            counts = [pairs.count((shape, cluster)) for cluster in (1, 2, 3)]
            ax.bar(["1", "2", "3"], counts, bottom=bottom, label=shape, color=color)
            bottom = [a + b for a, b in zip(bottom, counts, strict=True)]
        title = f"homogeneity {h:.2f}, completeness {c:.2f}"
        ax.set(xlabel="cluster", ylabel="items", title=title)
        ax.legend(frameon=False)

    return Outcome(draw, [
        Line("homogeneity, by the formula", f"{by_hand:.4f}", f"{h:.4f}"),
        Line("completeness, by the formula", "0.5065", f"{c:.4f}"),
        Line("V-measure, by the formula", "0.5065", f"{v:.4f}"),
    ])  # fmt: skip


@example("naive-bayes", "a rare event, ice creams and two traffic lights", size=(5.6, 4.0))
def naive_bayes(seed: int, engine: Any) -> Outcome:
    """Naive Bayes on rare events and two traffic lights."""
    import numpy as np

    from tacit.classify import BernoulliNB, MultinomialNB
    from tacit.datasets.worked_examples import BIASED_LIGHTS
    from tacit.mixture import MultiComponentNB, MultivariateNormal

    rare = BernoulliNB(alpha=0, class_prior=[1e-5, 1 - 1e-5]).fit(
        [[1], [0], [1], [0]], ["gap", "gap", "none", "none"],
        sample_weight=[0.95, 0.05, 0.005, 0.995],
    )  # fmt: skip
    eaten = MultivariateNormal().fit([[3.0], [1.0]], sample_weight=[0.8, 0.2])
    states = ["broken"] + ["works"] * 6
    naive = MultinomialNB(alpha=1e-9).fit(BIASED_LIGHTS, states)
    joint = np.exp(naive.class_log_prior_) * np.prod(
        2 * np.exp(naive.feature_log_prob_[:, [0, 2]]), axis=1
    )
    mixed = MultiComponentNB({"works": 2}, alpha=1e-3, n_init=5, random_state=seed)
    mixed.fit(BIASED_LIGHTS, states)
    probabilities = {
        "naive Bayes": float(naive.predict_proba([[1, 0, 1, 0]])[0, 0]),
        "two components": float(mixed.predict_proba([[1, 0, 1, 0]])[0, 0]),
        "truth": 1.0,
    }

    def draw(figure: Any) -> None:
        ax = figure.subplots()
        bars = ax.bar(list(probabilities), list(probabilities.values()), color="#2b6cb0")
        ax.bar_label(bars, fmt="%.2f")
        ax.set(ylim=(0, 1.1), ylabel="probability", title="Both lights red: are they broken?")

    return Outcome(draw, [
        Line("a reported parasitic gap is one", "0.002",
             f"{rare.predict_proba([[1]])[0, 0]:.4f}"),
        Line("ice creams that Marcia expects to eat", "2.6", f"{eaten.mean_[0]:.1f}"),
        Line("broken against working lights", "4/28 : 6/28",
             f"{28 * joint[0]:.0f}/28 : {28 * joint[1]:.0f}/28"),
        Line("broken, with two components for working lights", "",
             f"{probabilities['two components']:.3f}"),
    ])  # fmt: skip


@example("cowperson", "n-gram models of a language of two words", size=(5.2, 4.2))
def cowperson(seed: int, engine: Any) -> Outcome:
    """A language of two words: n-gram models by hand."""
    import numpy as np

    from tacit.datasets.worked_examples import COWPERSON_TEXT, COWPERSON_WORDS
    from tacit.language import NGramModel

    corpus = [" ".join(COWPERSON_TEXT)]
    plain: dict[str, Any] = {"smoothing": "mle", "markers": False, "open_vocabulary": False}
    one, two = (NGramModel(order, **plain).fit(corpus) for order in (1, 2))
    marked = NGramModel(2, smoothing="mle").fit(COWPERSON_TEXT)
    smooth = NGramModel(2, smoothing="add-k", k=1, vocabulary=[*COWPERSON_WORDS, "Moo"],
                        open_vocabulary=False).fit(COWPERSON_TEXT)  # fmt: skip
    unigrams = [one.distribution("")[one.words_.index(word)] for word in COWPERSON_WORDS]
    sentence = "Yee Haw Yee"
    p = [float(np.exp(model.logprob(text))) for model, text in
         ((two, sentence), (marked, sentence), (smooth, "Moo Moo"))]  # fmt: skip

    def draw(figure: Any) -> None:
        rows, columns = ["", *COWPERSON_WORDS], [*COWPERSON_WORDS, "</s>"]
        index = [marked.words_.index(word) for word in columns]
        table = np.array([[marked.distribution(row)[i] for i in index] for row in rows])
        heat_map(figure, table, ["<s>", *COWPERSON_WORDS], columns,
                 "Probability of the next word (column) after a word (row)")  # fmt: skip

    return Outcome(draw, [
        Line("unigrams, Yee and Haw", "5/8 and 3/8",
             f"{unigrams[0]:.3f} and {unigrams[1]:.3f}"),
        Line(f"bigrams, {sentence!r}", "0.21", f"{p[0]:.4f}"),
        Line(f"with start and stop tokens, {sentence!r}", "0.07", f"{p[1]:.4f}"),
        Line("add-one smoothing, 'Moo Moo'", "0.01", f"{p[2]:.4f}"),
    ])  # fmt: skip


@example("shakespeare", "words and pairs of words in Shakespeare", needs="shakespeare")
def shakespeare(seed: int, engine: Any) -> Outcome:
    """The words of Shakespeare, and how few pairs of words he wrote."""
    import numpy as np

    from tacit.datasets import load
    from tacit.text import CountVectorizer

    spoken = [  # without the names of the speakers, which stand before a tab
        "\n".join(line.partition("\t")[2] for line in work.split("\n"))
        for work in load("shakespeare").documents or []
    ]
    counts = {}
    for n in (1, 2):
        counter = CountVectorizer(rule="words", ngram_range=(n, n), engine=engine)
        counts[n] = np.asarray(counter.fit_transform(spoken).sum(axis=0)).ravel()
    words, types, bigrams = int(counts[1].sum()), len(counts[1]), len(counts[2])

    def draw(figure: Any) -> None:
        from tacit.plot.axes import PALETTE

        ax = figure.subplots()
        for n, name in ((1, "words"), (2, "pairs of words")):
            ordered = np.sort(counts[n])[::-1]
            ranks = np.arange(1, len(ordered) + 1)
            ax.loglog(ranks, ordered, label=name, color=PALETTE[n - 1])
        ax.set(xlabel="rank", ylabel="count", title="How often Shakespeare used his words")
        ax.legend(frameon=False)

    return Outcome(draw, [
        Line("words", "884,647", f"{words:,}"),
        Line("different words", "29,066", f"{types:,}"),
        Line("different pairs of words", "about 300,000", f"{bigrams:,}"),
        Line("pairs that were never written", "99.96%", f"{1 - bigrams / types**2:.2%}"),
    ])  # fmt: skip


@example("topics", "the generative story of a topic model", size=(8.0, 3.6))
def topics(seed: int, engine: Any) -> Outcome:
    """The generative story of LDA: words drawn from topics that are drawn first."""
    import numpy as np

    from tacit.datasets.worked_examples import STORY_PROPORTIONS, STORY_TOPICS
    from tacit.topics import GibbsLDA

    model = GibbsLDA(4)
    model.components_, model.alpha_ = STORY_TOPICS, np.full(4, 2.0)
    model.n_features_in_, model.eta_ = 10, 1.0
    words, drawn, _ = model.sample(3, 20_000, theta=STORY_PROPORTIONS, random_state=seed)
    p = [float((words[drawn == topic] == word).mean()) for topic, word in ((1, 4), (0, 8))]

    def draw(figure: Any) -> None:
        names = [f"topic {j + 1}" for j in range(4)]
        heat_map(figure, STORY_TOPICS, names, [str(j + 1) for j in range(10)],
                 "Probability of ten words in four topics")  # fmt: skip

    return Outcome(draw, [
        Line("word 5 in topic 2, of 60,000 words drawn", "0.08", f"{p[0]:.3f}"),
        Line("word 9 in topic 1", "0.048", f"{p[1]:.3f}"),
    ])  # fmt: skip


@example("skip-gram", "the pairs of words that word2vec learns from", size=(5.4, 4.6))
def skip_gram(seed: int, engine: Any) -> Outcome:
    """The pairs of words that skip-gram learns from."""
    import numpy as np

    from tacit.datasets.worked_examples import SKIP_GRAM_SENTENCE
    from tacit.words import WordVectors, pairs

    trained = pairs(SKIP_GRAM_SENTENCE, window=3)
    words = list(dict.fromkeys(SKIP_GRAM_SENTENCE.split()))
    one_hot = WordVectors.one_hot(words)

    def draw(figure: Any) -> None:
        table = np.zeros((len(words), len(words)))
        for center, context in trained:
            table[words.index(center), words.index(context)] += 1
        title = "Pairs: center word (row) and neighbor (column)"
        heat_map(figure, table, words, words, title, digits=0)

    return Outcome(draw, [
        Line("pairs of a word and its neighbor", "8", str(len(trained))),
        Line("distance of two one-hot words", "1.414",
             f"{one_hot.distance(words[0], words[1]):.3f}"),
    ])  # fmt: skip


@example("components", "principal components and low rank by hand", size=(5.0, 5.0))
def principal_components(seed: int, engine: Any) -> Outcome:
    """Points on a line have one coordinate; three vectors of rank two, exactly and nearly."""
    import numpy as np

    from tacit.datasets.worked_examples import RANK_TWO_BASIS, RANK_TWO_MOVED, RANK_TWO_ROWS
    from tacit.decompose import PCA, low_rank_error

    line = np.outer([-1.0, 0.0, 2.0], [3.0, 4.0])
    pca = PCA(engine=engine).fit(line)

    def draw(figure: Any) -> None:
        ax = figure.subplots()
        from tacit.plot.axes import PALETTE

        ax.plot(*line.T, "o", color=PALETTE[0], markersize=8)
        for (x, y), name in zip(4 * pca.components_, ("z1", "z2"), strict=True):
            ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "lw": 1.6})
            ax.annotate(name, (1.12 * x, 1.12 * y), ha="center", va="center")
        ax.set(xlabel="x1", ylabel="x2", title="Two components of three points", aspect="equal")

    return Outcome(draw, [
        Line("first component", "(3/5, 4/5)", point(pca.components_[0])),
        Line("error of rank 2, exact", "0",
             f"{low_rank_error(RANK_TWO_ROWS, RANK_TWO_BASIS):.4f}"),
        Line("error of rank 2, third vector moved", "2.28",
             f"{low_rank_error(RANK_TWO_MOVED, RANK_TWO_BASIS):.4f}"),
    ])  # fmt: skip


@example("body", "principal components of body measurements", needs="bodyfat")
def body(seed: int, engine: Any) -> Outcome:
    """Principal components of sixteen measurements of the body."""
    import numpy as np

    from tacit.datasets import load
    from tacit.datasets.worked_examples import BODY_COLUMNS, BODY_EIGENVALUES, BODY_MEANS
    from tacit.decompose import PCA
    from tacit.plot import scree

    men = load("bodyfat")
    assert men.data is not None
    columns = {**men.metadata, **dict(zip(men.extra["columns"], men.data.T, strict=True))}
    rows = np.column_stack([columns[name] for name in BODY_COLUMNS])
    pca = PCA(engine=engine).fit(rows)
    values = pca.eigenvalues_[::-1]
    left = pca.reconstruction_errors(relative=True)

    def draw(figure: Any) -> None:
        scree(pca.eigenvalues_, xlabel="components", ylabel="variance", knee=None,
              title="Variance of sixteen measurements", ax=figure.subplots())  # fmt: skip

    return Outcome(draw, [
        Line("mean weight, in pounds", f"{BODY_MEANS[3]:.4f}", f"{pca.mean_[3]:.4f}"),
        Line("largest difference of the means", "0",
             f"{np.abs(pca.mean_ - BODY_MEANS).max():.5f}"),
        Line("largest eigenvalue", f"{BODY_EIGENVALUES[-1]:.1f}", f"{values[-1]:.1f}"),
        Line("total variance", "1404", f"{pca.total_variance_:.1f}"),
        Line("variance left after six components", "under 1%", f"{left[6]:.2%}"),
        Line("variance left after seven", "", f"{left[7]:.2%}"),
    ])  # fmt: skip


@example("faces", "faces from few components", needs="olivetti", size=(6.0, 6.4))
def faces(seed: int, engine: Any) -> Outcome:
    """Faces from few components."""
    import numpy as np

    from tacit.datasets import load
    from tacit.decompose import PCA
    from tacit.plot import contact_sheet

    people = load("olivetti")
    assert people.data is not None
    rows = people.data.astype(np.float64)
    pca = PCA(128, random_state=seed, engine=engine).fit(rows)
    errors = pca.reconstruction_errors(rows, relative=True)

    def draw(figure: Any) -> None:
        picked, captions, shown = [0, 57, 123, 290], [], []
        points = pca.transform(rows[picked])
        for rank in (8, 64, 128):
            truncated = np.where(np.arange(128) < rank, points, 0.0)
            shown.append(pca.inverse_transform(truncated))
            captions += [f"rank {rank}"] * len(picked)
        shown.append(rows[picked])
        sheet = np.concatenate(shown).reshape(-1, 64, 64)
        contact_sheet(sheet, captions=[*captions, *["original"] * len(picked)],
                      columns=len(picked), ax=figure.subplots())  # fmt: skip

    return Outcome(draw, [
        Line("faces", "400", str(len(rows))),
        Line("error at rank 64", "a curve", f"{errors[64]:.1%}"),
        Line("error at rank 128", "a curve", f"{errors[128]:.1%}"),
    ])  # fmt: skip


@example("dimension", "the curse of dimension")
def dimension(seed: int, engine: Any) -> Outcome:
    """The curse of dimension: rinds, lengths and distances in a cube."""
    import numpy as np

    from tacit.decompose.dimension import rind_share

    rng, d = np.random.default_rng(seed), 30
    X, Y = rng.uniform(-1, 1, (2, 20_000, d))
    inner = (1 - 0.1) ** d

    def draw(figure: Any) -> None:
        from tacit.plot.axes import PALETTE

        ax, dims = figure.subplots(), np.arange(1, 101)
        for thickness, color in zip((0.01, 0.05, 0.1), PALETTE, strict=False):
            fractions = [rind_share(int(k), thickness) for k in dims]
            ax.plot(dims, fractions, label=f"rind of {thickness:.0%}", color=color)
        title = "The fruit is all rind"
        ax.set(xlabel="dimension", ylabel="fraction of the volume", title=title)
        ax.legend(frameon=False)

    return Outcome(draw, [
        Line("fruit under a rind of 10%, d = 30", f"{inner:.4f}",
             f"{1 - rind_share(d, 0.1):.4f}"),
        Line("mean squared length, d = 30", "10 (d/3)", f"{(X**2).sum(axis=1).mean():.2f}"),
        Line("mean squared distance, d = 30", "20 (2d/3)",
             f"{((X - Y) ** 2).sum(axis=1).mean():.2f}"),
    ])  # fmt: skip


@example("authors", "who wrote The Royal Book of Oz?", needs="oz", size=(8.5, 5.8))
def authors(seed: int, engine: Any) -> Outcome:
    """Who wrote The Royal Book of Oz?"""
    import numpy as np

    from tacit.datasets import load
    from tacit.plot import author_map
    from tacit.style import Authorship

    books = load("oz")
    texts = books.documents or []
    labels = np.array([books.target_names[code] for code in books.target])  # type: ignore[union-attr]
    known = np.flatnonzero(np.isin(labels, ["baum", "thompson"]))
    model = Authorship(block=5000, engine=engine).fit(
        [texts[i] for i in known], labels[known],
        names=[books.metadata["title"][i] for i in known],
    )  # fmt: skip
    contested = [texts[i] for i in np.flatnonzero(labels == "contested")]
    verdict = model.attribute(contested)[0]
    tested = model.evaluation()

    def draw(figure: Any) -> None:
        author_map(model, contested, names=["The Royal Book of Oz"], ax=figure.subplots())

    return Outcome(draw, [
        Line("blocks of 5,000 words", "223", str(len(model.block_lengths_))),
        Line("author of the Royal Book", "Thompson", verdict.author.capitalize()),
        Line("blocks of it that fall with Thompson", "all",
             f"{verdict.votes['thompson']:.0%} of {verdict.blocks}"),
        Line("other books attributed correctly", "", f"{tested.right} of {tested.tested}"),
    ])  # fmt: skip


@example("recommender", "ratings that can and cannot be completed", size=(5.0, 4.4))
def recommender(seed: int, engine: Any) -> Outcome:
    """Ratings with gaps that have a completion of rank 1, and ratings that have none."""
    import numpy as np

    from tacit.datasets.worked_examples import IMPOSSIBLE_RATINGS, POSSIBLE_RATINGS
    from tacit.recommend import complete

    completion = complete(POSSIBLE_RATINGS, rank=1)
    impossible = complete(IMPOSSIBLE_RATINGS, rank=1)
    expected = np.outer([1, 1, 4, 4], [1, 1, 2, 2])

    def draw(figure: Any) -> None:
        heat_map(figure, completion.matrix, list("ABCD"), list("1234"),
                 "The completion of rank 1; known ratings in bold",
                 bold=~np.isnan(POSSIBLE_RATINGS), digits=0)  # fmt: skip

    def row(matrix: Any) -> str:
        return "  ".join(f"{x:.0f}" for x in matrix[2])

    return Outcome(draw, [
        Line("third row of the completion", row(expected), row(completion.matrix)),
        Line("largest difference from the notes' matrix", "0",
             f"{np.abs(completion.matrix - expected).max():.1g}"),
        Line("the second matrix has a completion", "no",
             "yes" if impossible.possible else "no"),
    ])  # fmt: skip

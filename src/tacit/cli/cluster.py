"""``tacit cluster FILE``: group the rows of a file of numbers, and describe the clusters."""

from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import OneOf, RunOptions, TableOptions
from tacit.cli.progress import Running
from tacit.core.wording import count, listed

if TYPE_CHECKING:
    import numpy as np

__all__ = ["cluster"]

LINKAGES = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
# Names in tacit.cluster.
METHODS = {
    "kmeans": "KMeans",
    "minibatch": "MiniBatchKMeans",
    "spherical": "SphericalKMeans",
    "kmedoids": "KMedoids",
    "fuzzy": "FuzzyCMeans",
    "soft": "SoftKMeans",
    "divisive": "DivisiveClustering",
    **dict.fromkeys(LINKAGES, "AgglomerativeClustering"),
}
ANY_METRIC = ("kmedoids", "single", "complete", "average", "weighted")
CENTERED = ("centroid", "median", "ward", "single")  # need no matrix of distances
MOST_TREE_ROWS = 50_000  # 1,250,000,000 pairs, some tens of seconds
FEW_ROWS = 20_000  # up to which ten starts take well under a second
RESAMPLES = 20
MOST_MEDOID_ROWS = 10_000  # 0.8 GB of distances; samples beyond

APART = 3  # columns named for each cluster
SHOWN = 40  # clusters printed; the others are counted
EXACT_ROWS = 20_000  # up to which silhouettes use all pairs
MOST_ROWS = 5000  # dots on a map; of more rows, evenly spaced ones


class ClusterSettings(NamedTuple):
    """The options of a fit."""

    method: str
    metric: str | None
    compress: int | None
    seed: int
    engine: Any

    @property
    def is_tree(self) -> bool:
        return self.method in LINKAGES


@options.command()
@click.argument("file")
@options.k_option("Number of clusters; auto chooses it and gives the reasons")
@click.option("--k-max", type=click.IntRange(2), default=12,
              help="Largest number of clusters that auto tries")
@click.option("--method", type=OneOf(list(METHODS)), default="kmeans",
              help="Clustering method; the last seven are linkages of a hierarchy")
@click.option("--metric", type=OneOf(["euclidean", "manhattan", "cosine"]),
              help=f"Distance for {', '.join(ANY_METRIC)}  [default: euclidean]")
@click.option("--compress", type=click.IntRange(2), metavar="N",
              help="Build the hierarchy on N k-means centers, for files of many rows  "
              "[default: on all rows]")
@click.option("--confidence", is_flag=True,
              help="Also print the stability of each cluster, by clustering resampled rows.")
@options.out_option("the cluster of every row")
@options.plot_option(": the map of the clusters, or the tree of a hierarchy")
@options.model_option
@click.option("--scale", is_flag=True,
              help="Scale every column to mean 0 and standard deviation 1 first.")
@options.table_options
@options.run_options
def cluster(
    file: str, k: int | None, k_max: int, method: str, metric: str | None, compress: int | None,
    confidence: bool, out: str | None, plot_path: str | None, model_path: str | None,
    scale: bool, table: TableOptions, run: RunOptions,
) -> None:  # fmt: skip
    """Group the rows of FILE, a table of numbers.

    FILE is CSV in any dialect, Parquet or .npy; - is standard input. Prints the size of each
    cluster, the largest first, and the columns that set it apart: the distance of its center
    from the mean of all rows, in standard deviations. Parquet and .npy files may be larger than
    memory, except for kmedoids, divisive and hierarchies.

    \b
    tacit cluster flowers.csv --plot flowers.png     chooses the number of clusters
    tacit cluster flowers.csv -k 3 --out groups.csv
    tacit cluster flowers.csv --method ward --scale
    """
    settings = ClusterSettings(method, metric, compress, run.seed, run.engine)
    check_settings(settings)
    if k is not None:
        options.refuse_options(["k_max"], f"limits what auto tries, but k is {k}. Drop one.")
    opened = inputs.read_number_file(file, table)
    report, names, notes = opened.report, opened.names, []
    title, row_names = inputs.row_names(opened)
    if k is not None and k > report.rows:
        rows = count(report.rows, "row")
        notes.append(f"The file has {rows}, so k is {report.rows}, not {k}.")
        output.note(*notes)
        k = report.rows
    values, facts = rows_for(settings, opened.values, report.source)
    with inputs.named_rows(opened):
        mean, deviation = mean_and_deviation(values, settings)
    if scale:
        values = scaled(values, mean, deviation)
    choice = choose(settings, values, k_max) if k is None else None
    if choice is not None:
        k = choice.best
        if k == choice.table[-1].k == k_max:
            facts.append(f"{k} was the largest k tried; --k-max sets the limit.")
    assert k is not None
    with inputs.named_rows(opened):
        model = fit(settings, k, values)
    labels, sizes = label_rows(model, values, k)
    if constant := [name for name, size in zip(names, deviation, strict=True) if size == 0]:
        facts.append(f"The same value in every row: {listed(constant)}.")
    if scale:
        facts.append("Every column was scaled to mean 0 and deviation 1.")
        if model_path is not None:
            facts.append("The saved model expects rows scaled like these.")
    output.note(*facts)
    if out is not None:
        output.write_csv(out, [title, "cluster"], zip(row_names, labels.tolist(), strict=True))
    centers = centers_of(model, values, labels, k, method)
    if scale:
        centers = centers * deviation + mean
    groups = describe(centers, sizes, mean, deviation, names)
    for group, row in zip(groups, getattr(model, "medoid_indices_", ()), strict=False):
        group["medoid"] = row_names[int(row)]
    agreement = None
    if confidence and k > 1:
        agreement = rate_confidence(settings, values, labels, k, groups)
    if model_path:
        model.save(model_path)
    silhouette, samples = silhouettes_of(values, labels, settings)
    losses, sentence = losses_of(model, k)
    if plot_path:
        heading = f"{method}, {k} clusters" if k > 1 else f"{method}, one cluster"
        if hasattr(model, "linkage_matrix_") and k > 1:
            figure = tree_figure(model, labels, k=k, title=heading, ids=opened.ids)
        else:
            shown = [f"{name} (scaled)" for name in names] if scale else names
            figure = map_figure(model, values, labels, heading, shown, samples, choice)
        output.save_figure(figure, plot_path)
    if run.as_json:
        scaling = {"mean": mean.tolist(), "deviation": deviation.tolist()}
        output.print_json({
            "file": report.source, "method": method, "k": k, "seed": run.seed, **losses,
            "silhouette": silhouette, "agreement": agreement,
            "choice": None if choice is None else choice.to_dict(), "clusters": groups,
            "input": report.to_dict(), "notes": notes + facts,
            "scaled": scaling if scale else None, "labels_file": out, "plot_file": plot_path,
            "model_file": model_path,
        })  # fmt: skip
    else:
        if choice is not None:
            reasons = [fill(reason, 78, initial_indent="  ", subsequent_indent="    ")
                       for reason in choice.reasons]  # fmt: skip
            figures = str(choice).partition("\n\n")[2]
            output.echo(choice.headline, *reasons, "", figures, "")
        draw(groups)
        if sentence:
            output.echo(sentence)
        if silhouette is not None:
            output.echo(
                f"Mean silhouette {silhouette:.2f} (1: far apart, 0: touching, below 0: mixed)."
            )
        if agreement is not None:
            output.echo(
                f"Clusters of resampled rows agree with these: adjusted Rand index "
                f"{agreement:.2f} (1: always, 0: as by chance)."
            )
    output.say_written(labels=out, picture=plot_path, model=model_path)


# --- The fit ---


def check_settings(settings: ClusterSettings) -> None:
    """Raise a usage error before the file is read."""
    if settings.metric is not None and settings.method not in ANY_METRIC:
        raise click.UsageError(
            f"--metric goes with --method {', '.join(ANY_METRIC)}, not with {settings.method}."
        )
    if settings.compress is not None and not settings.is_tree:
        raise click.UsageError(
            f"--compress goes with trees ({', '.join(LINKAGES)}), not with {settings.method}."
        )
    if settings.compress is not None and settings.metric not in (None, "euclidean"):
        raise click.UsageError(
            f"--compress takes the centers of k-means, for Euclidean distance. Drop --metric "
            f"{settings.metric}, or --compress."
        )


def rows_for(settings: ClusterSettings, values: Any, file: str) -> tuple[Any, list[str]]:
    """The rows as the method needs them, and notes about that.

    Most methods read blocks from disk. Trees, medoids and divisive clustering need all rows at
    once, which is an error if they do not fit in memory.
    """
    import numpy as np

    from tacit.data.table import Table

    n, d = (int(size) for size in values.shape)
    if settings.method == "kmedoids" and n > MOST_MEDOID_ROWS:
        return values, [
            f"{n:,} rows have too many distances to compute all of them: medoids were searched "
            "in samples (CLARA)."
        ]
    if settings.method in ("kmedoids", "divisive") or (
        settings.is_tree and settings.compress is None
    ):
        refuse_large(settings, n, d, file)
        values = np.asarray(Table.of(values).load(), np.float64)
    return values, []


def refuse_large(settings: ClusterSettings, n: int, d: int, file: str) -> None:
    from tacit.core.errors import DataError
    from tacit.core.memory import check_memory

    advice, euclidean = "Use --method kmeans.", settings.metric in (None, "euclidean")
    if settings.is_tree and euclidean:
        advice = (
            "Add --compress 1000, which builds the tree on as many k-means centers, or use "
            "--method kmeans."
        )
    if settings.is_tree and n > MOST_TREE_ROWS:
        raise DataError(
            f"--method {settings.method} compares all pairs, and {n:,} rows have "
            f"{n * (n - 1) // 2:,} pairs; it takes at most {MOST_TREE_ROWS:,} rows. {advice}",
            file=file,
        )
    matrix = settings.is_tree and not (settings.method in CENTERED and euclidean)
    need = 16 * n * d + (10 * n * n if matrix else 0)
    check_memory(need, f"--method {settings.method} of {n:,} rows", advice)


def make_model(
    settings: ClusterSettings, k: int, *, n: int, callbacks: list | None = None
) -> Any:
    """The unfitted model, for n rows."""
    import tacit.cluster

    params: dict[str, Any] = {}
    if settings.is_tree:
        params["linkage"] = settings.method
        if settings.compress is not None:
            params["compress"] = max(settings.compress, k)
    if settings.method == "kmedoids" and n > MOST_MEDOID_ROWS:
        params["method"] = "clara"
    if settings.metric is not None:
        params["metric"] = settings.metric
    kind = getattr(tacit.cluster, METHODS[settings.method])
    seed, engine = settings.seed, settings.engine
    return kind(k, random_state=seed, engine=engine, callbacks=callbacks, **params)


def choose(settings: ClusterSettings, values: Any, k_max: int) -> Any:
    """The number of clusters, by ``choose_k``."""
    from tacit.cluster import choose_k

    # choose_k works on a sample, where trees need no compression and medoids no samples.
    estimator = make_model(settings._replace(compress=None), 2, n=0)
    if "n_init" in estimator.get_params(deep=False):
        estimator.set_params(n_init=3)
    with Running(f"Choosing k from 1 to {k_max}") as stage:
        return choose_k(
            values, range(1, k_max + 1), method=estimator, random_state=settings.seed,
            engine=settings.engine, callbacks=stage.callbacks,
        )  # fmt: skip


def fit(settings: ClusterSettings, k: int, values: Any) -> Any:
    """The fitted model, the best of several starts if the method has them."""
    with Running(f"Clustering by {settings.method}, k = {k}") as stage:
        model = make_model(settings, k, n=values.shape[0], callbacks=stage.callbacks)
        if "n_init" in model.get_params(deep=False):
            model.set_params(n_init=10 if values.shape[0] <= FEW_ROWS else 3)
        return model.fit(values)


def rate_confidence(
    settings: ClusterSettings, values: Any, labels: "np.ndarray", k: int, groups: list[dict]
) -> float:
    """Add the stability of every cluster to its group; return the mean agreement of the
    clusterings of resampled rows with this one."""
    from tacit.cluster import stability

    with Running(f"Clustering {RESAMPLES} resamples"):
        result = stability(
            make_model(settings, k, n=len(values)), values, n_resamples=RESAMPLES,
            labels=labels, tree=False, random_state=settings.seed, engine=settings.engine,
        )  # fmt: skip
    for each in result.clusters:
        groups[each.cluster]["confidence"] = float(each.confidence)
    return float(result.agreement)


# --- Labels, the largest cluster first ---


def label_rows(model: Any, values: Any, k: int) -> "tuple[np.ndarray, np.ndarray]":
    """The cluster of every row, 0 for the largest, and the sizes. The clusters of the model get
    the same numbers, so that ``predict`` agrees."""
    import numpy as np

    from tacit.data.table import Table

    labels = getattr(model, "labels_", None)  # not for rows that stay on disk
    if labels is None:
        labels = np.concatenate([model.predict(block.load()) for block in Table.of(values)])
    sizes = np.bincount(labels, minlength=k)
    firsts = np.full(k, len(labels))
    np.minimum.at(firsts, labels, np.arange(len(labels)))
    order = np.lexsort([firsts, -sizes])  # by size, then by first row
    if not np.array_equal(order, np.arange(k)):
        rank = np.empty(k, np.int32)
        rank[order] = np.arange(k, dtype=np.int32)
        labels = rank[labels]
        for names, renumber in (
            (("cluster_centers_", "medoid_indices_"), lambda values: values[order]),
            (("_faded_counts", "_faded_sums"), lambda values: values[:, order]),
            (("labels_", "leaf_labels_"), lambda values: rank[values]),
        ):
            for name in names:
                if hasattr(model, name):
                    setattr(model, name, renumber(getattr(model, name)))
    return labels.astype(np.int32, copy=False), sizes[order]


# --- Rows and columns ---


def mean_and_deviation(values: Any, settings: ClusterSettings) -> "tuple[Any, Any]":
    import numpy as np

    from tacit.core.errors import DataError
    from tacit.core.moments import MomentsParams, collect
    from tacit.data.table import Table

    try:
        moments = settings.engine.reduce(collect, MomentsParams(full=False), Table.of(values))
    except DataError:  # k-means names the row and column of a bad value
        kmeans = settings._replace(method="kmeans", metric=None, compress=None)
        make_model(kmeans, 1, n=len(values)).fit(values)
        raise
    return moments.mean, np.sqrt(moments.variance)


def scaled(values: Any, mean: "np.ndarray", deviation: "np.ndarray") -> Any:
    """The rows with mean 0 and standard deviation 1; constant columns become 0."""
    import numpy as np

    from tacit.data.scaled_rows import scale_table
    from tacit.data.table import Table

    table = scale_table(Table.of(values), mean, np.where(deviation > 0, deviation, 1.0))
    return table if isinstance(values, Table) else table.load()


def centers_of(model: Any, values: Any, labels: "np.ndarray", k: int, method: str) -> Any:
    """The centers of the model; without any, or with directions, the means of the clusters. A
    cluster without rows has a mean of NaN."""
    import numpy as np

    from tacit.data.table import Table
    from tacit.kernels.nearest_centers import sum_by_label

    if method != "spherical" and len(getattr(model, "cluster_centers_", ())) == k:
        return np.asarray(model.cluster_centers_, np.float64)
    sums = np.zeros((k, values.shape[1]))
    for block in Table.of(values):
        rows = np.asarray(block.load(), np.float64)
        sums += sum_by_label(rows, labels[block.start : block.stop], k)
    counts = np.bincount(labels, minlength=k)[:, None]
    out = np.full_like(sums, np.nan)
    return np.divide(sums, counts, out=out, where=counts > 0)


# --- The summary ---


def describe(
    centers: "np.ndarray", sizes: "np.ndarray", mean: "np.ndarray", deviation: "np.ndarray",
    names: list[str],
) -> list[dict[str, Any]]:  # fmt: skip
    """The size and center of each cluster, and the columns that set it apart most."""
    import numpy as np

    far = np.zeros(centers.shape)
    np.divide(centers - mean, deviation, out=far, where=deviation > 0)
    groups = []
    for j, (center, distance) in enumerate(zip(centers, far, strict=True)):
        has_rows = bool(np.isfinite(center).all())
        order = np.argsort(-np.abs(distance), kind="stable")[: APART if has_rows else 0]
        groups.append({
            "cluster": j, "rows": int(sizes[j]), "share": float(sizes[j] / sizes.sum()),
            "apart": {names[i]: float(distance[i]) for i in order if distance[i] != 0},
            "center": dict(zip(names, center.tolist(), strict=True)) if has_rows else None,
        })  # fmt: skip
    return groups


def silhouettes_of(values: Any, labels: "np.ndarray", settings: Any) -> tuple[Any, Any]:
    """The mean silhouette, and the silhouettes of the rows if all pairs were compared."""
    import numpy as np

    from tacit.data.table import Table
    from tacit.measure import silhouette_samples, silhouette_score

    n = values.shape[0]
    if not 2 <= len(np.unique(labels)) < n:
        return None, None
    if n > EXACT_ROWS:
        by_centers = silhouette_score(values, labels, simplified=True, engine=settings.engine)
        return float(by_centers), None
    values = Table.of(values).load()
    metric = settings.metric or ("cosine" if settings.method == "spherical" else "euclidean")
    samples = silhouette_samples(values, labels, metric=metric, engine=settings.engine)
    return float(samples.mean()), samples


def losses_of(model: Any, k: int) -> tuple[dict[str, Any], str]:
    """The loss and the iterations, for JSON and as a sentence."""
    facts: dict[str, Any] = {}
    for name, attribute, kind in (
        ("inertia", "inertia_", float), ("objective", "objective_", float),
        ("iterations", "n_iter_", int),
    ):  # fmt: skip
        value = getattr(model, attribute, None)
        facts[name] = None if value is None else kind(value)
    if hasattr(model, "leaf_labels_"):  # agglomerative
        heights = model.distances_
        low = float(heights[len(heights) - k]) if k <= len(heights) else 0.0
        high = float(heights[len(heights) - k + 1]) if k > 1 else None
        facts["cut_between"] = [low, high]
        if high is None:
            return facts, f"The tree's last merge is at height {low:.6g}."
        return facts, f"The tree is cut between the heights {low:.6g} and {high:.6g}."
    name = "objective" if facts["inertia"] is None else "inertia"
    if facts[name] is None:
        return facts, ""
    done = count(facts["iterations"], "iteration")
    return facts, f"{name.title()} {facts[name]:.6g} after {done}."


def draw(groups: list[dict[str, Any]]) -> None:
    rated = any("confidence" in group for group in groups)
    titles = ["Cluster", "Rows", "Share", *(["Stability"] if rated else [])]
    rows = []
    for group in groups[:SHOWN]:
        far_off = [(name, far) for name, far in group["apart"].items() if abs(far) >= 0.005]
        apart = ", ".join(f"{name} {far:+.2f}" for name, far in far_off)
        cells = [str(group["cluster"]), f"{group['rows']:,}", f"{group['share']:.1%}"]
        if rated:
            cells.append(f"{group.get('confidence', 0.0):.0%}")
        rows.append([*cells, apart or "nothing"])
    title = "Set apart by (standard deviations from the mean)"
    output.draw_table([*titles, title], rows, right=range(len(titles)))
    if len(groups) > SHOWN:
        output.echo(f"and {len(groups) - SHOWN:,} smaller ones (--json lists all)")


# --- The picture ---


def tree_figure(
    model: Any, labels: "np.ndarray", *, k: int, title: str, ids: list[str] | None
) -> Any:
    """The dendrogram of rows, of k-means centers, or of clusters (divisive clustering)."""
    import numpy as np
    from matplotlib.figure import Figure

    from tacit.cluster.hierarchy.dendrogram import cut
    from tacit.plot import dendrogram

    Z = model.linkage_matrix_
    n = len(Z) + 1
    leaves: list[str] | None = ids
    if n != len(labels):
        leaves = None
        title += f" ({n:,} k-means centers)"
        if n == k and not hasattr(model, "compressor_"):
            leaves = [f"cluster {j}" for j in range(k)]
            title = title.partition(" (")[0]
    sideways = leaves is not None
    long_side = float(np.clip(0.18 * n, 4.0, 12.0))
    size = (9.0, max(3.5, long_side)) if sideways else (max(8.0, long_side), 5.0)
    figure = Figure(figsize=size, layout="constrained")
    orientation = "left" if sideways else "top"
    ax = figure.subplots()
    dendrogram(Z, labels=leaves, cut=k, orientation=orientation, title=title, ax=ax)
    legend = ax.get_legend()
    if legend is not None and n != len(labels):  # it counts leaves, not rows
        leaf_labels = getattr(model, "leaf_labels_", np.arange(n))
        sizes = np.bincount(labels, minlength=k)
        for c, text in enumerate(legend.get_texts()):
            j = int(leaf_labels[np.flatnonzero(cut(Z, k=k) == c)[0]])
            text.set_text(f"cluster {j}: {count(int(sizes[j]), 'row')}")
    return figure


def map_figure(
    model: Any, values: Any, labels: "np.ndarray", title: str, names: list[str],
    silhouettes: Any, choice: Any,
) -> Any:  # fmt: skip
    """The map, the silhouettes of two clusters or more, and the scree plot of a choice."""
    import numpy as np
    from matplotlib.figure import Figure

    from tacit import plot
    from tacit.data.table import Table

    n = len(labels)
    picked = np.arange(n)
    if n > MOST_ROWS:
        picked = np.linspace(0, n - 1, MOST_ROWS).round().astype(np.int64)
        title += f" ({MOST_ROWS:,} of {n:,} rows)"
    rows = np.asarray(Table.of(values).take(picked), np.float64)
    shown = labels[picked]
    several = len(np.unique(shown)) > 1
    panels = {"map": 7.0, "silhouette": 4.4 if several else 0, "scree": 4.6 if choice else 0}
    widths = {name: width for name, width in panels.items() if width}
    figure = Figure(figsize=(sum(widths.values()), 5.4), layout="constrained")
    axes = figure.subplots(1, len(widths), squeeze=False, width_ratios=[*widths.values()])[0]
    place = dict(zip(widths, axes, strict=True))
    if rows.shape[1] == 2 and several and hasattr(model, "predict"):
        plot.decision_regions(model, rows, columns=names, title=title, ax=place["map"])
    else:
        plot.cluster_map(rows, shown, title=title, ax=place["map"])
        if rows.shape[1] <= 2:
            place["map"].set_xlabel(names[0], parse_math=False)
            place["map"].set_ylabel((*names, "")[1], parse_math=False)
    if several:
        computed = None if silhouettes is None else silhouettes[picked]
        plot.silhouette(rows, shown, values=computed, ax=place["silhouette"])
    if choice:
        plot.scree(choice, ax=place["scree"])
    return figure

"""The methods of ``tacit cluster --method``: the model of each, its limits, and its fit.

Trees and medoids compare all pairs of rows. Data too large for that is refused before any work,
with the numbers and an alternative on the command line.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tacit.cli.progress import Running

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "ANY_METRIC", "METHODS", "ClusterSettings", "check_settings", "choose", "fit", "label_rows",
    "make", "rate_confidence", "rows_for",
]  # fmt: skip

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
CENTERED = ("centroid", "median", "ward", "single")  # trees that need no matrix of distances
MOST_TREE_ROWS = 50_000  # 1,250,000,000 pairs, some tens of seconds
FEW_ROWS = 20_000  # up to here ten starts take well under a second
RESAMPLES = 20
MOST_MEDOID_ROWS = 10_000  # 0.8 GB of distances; samples beyond


class ClusterSettings(NamedTuple):
    """The options that determine a fit."""

    method: str
    metric: str | None
    compress: int | None
    seed: int
    engine: Any

    @property
    def is_tree(self) -> bool:
        return self.method in LINKAGES


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
    once: they are loaded if they fit in memory, and refused if not.
    """
    import numpy as np

    from tacit.data.table import Table

    n, d = (int(size) for size in values.shape)
    whole = settings.method == "divisive" or (settings.is_tree and settings.compress is None)
    notes = []
    if settings.method == "kmedoids":
        whole = n <= MOST_MEDOID_ROWS
        if not whole:
            notes.append(
                f"{n:,} rows have too many distances to compute all of them: medoids were "
                "searched in samples (CLARA)."
            )
    if not whole:
        return values, notes
    refuse_large(settings, n, d, file)
    return np.asarray(Table.of(values).load(), np.float64), notes


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


def make(
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
    """How many clusters, by ``choose_k``."""
    from tacit.cluster import choose_k

    # choose_k works on a sample, where trees need no compression and medoids no samples.
    estimator = make(settings._replace(compress=None), 2, n=0)
    if "n_init" in estimator.get_params(deep=False):
        estimator.set_params(n_init=3)
    with Running(f"Choosing k from 1 to {k_max}") as stage:
        return choose_k(
            values, range(1, k_max + 1), method=estimator, random_state=settings.seed,
            engine=settings.engine, callbacks=stage.callbacks,
        )  # fmt: skip


def fit(settings: ClusterSettings, k: int, values: Any) -> Any:
    """The fitted model: the best of several starts where a method has them."""
    title = f"Clustering by {settings.method}, k = {k}"
    with Running(title) as stage:
        model = make(settings, k, n=values.shape[0], callbacks=stage.callbacks)
        if "n_init" in model.get_params(deep=False):
            model.set_params(n_init=10 if values.shape[0] <= FEW_ROWS else 3)
        return model.fit(values)


def rate_confidence(
    settings: ClusterSettings, values: Any, labels: "np.ndarray", k: int, groups: list[dict]
) -> float:
    """Add to every group how often two of its rows stay together in resampled data.

    Returns the mean agreement of the resamples with the groups.
    """
    from tacit.cluster import stability

    with Running(f"Clustering {RESAMPLES} resamples"):
        found = stability(
            make(settings, k, n=len(values)), values, n_resamples=RESAMPLES, labels=labels,
            tree=False, random_state=settings.seed, engine=settings.engine,
        )  # fmt: skip
    for each in found.clusters:
        groups[each.cluster]["confidence"] = float(each.confidence)
    return float(found.agreement)


# --- Labels, the largest cluster first ---


def label_rows(model: Any, values: Any, k: int) -> "tuple[np.ndarray, np.ndarray]":
    """The cluster of every row, 0 the largest, and the sizes. The model is renumbered too."""
    import numpy as np

    from tacit.data.table import Table

    labels = getattr(model, "labels_", None)  # not for rows that stay on disk
    if labels is None:
        found = [model.predict(block.load()) for block in Table.of(values)]
        labels = np.concatenate(found)
    sizes = np.bincount(labels, minlength=k)
    firsts = np.full(k, len(labels))
    firsts[labels[::-1]] = np.arange(len(labels))[::-1]  # of several, the last one stays
    order = np.lexsort([firsts, -sizes])  # by size, then by first row
    if not np.array_equal(order, np.arange(k)):
        renumber(model, order)
        rank = np.empty(k, np.int32)
        rank[order] = np.arange(k, dtype=np.int32)
        labels = rank[labels]
    return labels.astype(np.int32, copy=False), sizes[order]


def renumber(model: Any, order: "np.ndarray") -> None:
    """Put the clusters of a fitted model in this order, so that ``predict`` agrees.

    Only trees of k-means centers need it: the others are in order already.
    """
    import numpy as np

    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    for name in ("cluster_centers_", "medoid_indices_"):
        if hasattr(model, name):
            setattr(model, name, getattr(model, name)[order])
    for name in ("_faded_counts", "_faded_sums"):  # of mini-batches: two parts of each
        if hasattr(model, name):
            setattr(model, name, getattr(model, name)[:, order])
    for name in ("labels_", "leaf_labels_"):
        if hasattr(model, name):
            setattr(model, name, rank[getattr(model, name)])

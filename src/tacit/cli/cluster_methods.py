"""The ways of ``tacit cluster --method``: which model each is, what it needs, how it is fitted.

Trees and medoids compare every two rows; what is too large for that is refused here, before any
work, with the number and the way out in the words of the command line.
"""

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tacit.cli.terminal import say

if TYPE_CHECKING:
    import numpy as np

    from tacit.core.progress import Step
    from tacit.data.files import NumberTable

__all__ = [
    "ANY_METRIC",
    "METHODS",
    "Plan",
    "check_options",
    "choose",
    "fit",
    "how_sure",
    "label_rows",
    "make",
    "ready",
]

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
EVERY = 3.0  # seconds between words about a long choice
MOST_TREE_ROWS = 50_000  # 1,250,000,000 pairs, some tens of seconds
FEW_ROWS = 20_000  # up to which ten starts take no time
RESAMPLES = 20
MOST_MEDOID_ROWS = 10_000  # 0.8 GB of distances; samples beyond


class Plan(NamedTuple):
    """What was asked for."""

    method: str
    metric: str | None
    compress: int | None
    seed: int
    engine: Any
    quiet: bool

    @property
    def is_tree(self) -> bool:
        return self.method in LINKAGES


def check_options(plan: Plan) -> None:
    """Wrong usage, before the file is read."""
    if plan.metric is not None and plan.method not in ANY_METRIC:
        raise click.UsageError(
            f"--metric goes with --method {', '.join(ANY_METRIC)}, not with {plan.method}."
        )
    if plan.compress is not None and not plan.is_tree:
        raise click.UsageError(
            f"--compress goes with trees ({', '.join(LINKAGES)}), not with {plan.method}."
        )
    if plan.compress is not None and plan.metric not in (None, "euclidean"):
        raise click.UsageError(
            f"--compress takes the centers of k-means, for Euclidean distance. Drop --metric "
            f"{plan.metric}, or --compress."
        )


def ready(plan: Plan, values: Any, file: str) -> tuple[Any, list[str]]:
    """The rows as the method takes them, and what is to be said about that.

    Most methods read blocks from disk. Trees, medoids and splits want all rows at once: they
    are loaded if they fit, and refused if not.
    """
    import numpy as np

    from tacit.data.table import Table

    n, d = (int(size) for size in values.shape)
    whole = plan.method == "divisive" or (plan.is_tree and plan.compress is None)
    notes = []
    if plan.method == "kmedoids":
        whole = n <= MOST_MEDOID_ROWS
        if not whole:
            notes.append(
                f"{n:,} rows have too many distances to look at all of them: medoids were "
                "sought in samples (CLARA)."
            )
    if not whole:
        return values, notes
    refuse_large(plan, n, d, file)
    if isinstance(values, Table):
        values = np.vstack([np.asarray(block.load(), np.float64) for block in values])
    return values, notes


def refuse_large(plan: Plan, n: int, d: int, file: str) -> None:
    from tacit.core.errors import DataError
    from tacit.core.memory import check_memory

    way_out = "Use --method kmeans."
    if plan.is_tree:
        if plan.metric in (None, "euclidean"):
            way_out = (
                "Add --compress 1000, which builds the tree on as many centers of k-means, or "
                "use --method kmeans."
            )
        if n > MOST_TREE_ROWS:
            raise DataError(
                f"--method {plan.method} compares every two rows, and {n:,} rows have "
                f"{n * (n - 1) // 2:,} pairs; {MOST_TREE_ROWS:,} rows are the most it takes. "
                f"{way_out}",
                file=file,
            )
    matrix = plan.is_tree and not (
        plan.method in CENTERED and plan.metric in (None, "euclidean")
    )
    need = 16 * n * d + (10 * n * n if matrix else 0)
    check_memory(need, f"--method {plan.method} of {n:,} rows", way_out)


def make(plan: Plan, k: int, *, n: int, callbacks: list | None = None) -> Any:
    """The unfitted model."""
    import tacit.cluster

    settings: dict[str, Any] = {}
    if plan.is_tree:
        settings["linkage"] = plan.method
        if plan.compress is not None:
            settings["compress"] = max(plan.compress, k)
    if plan.method == "kmedoids" and n > MOST_MEDOID_ROWS:
        settings["method"] = "clara"
    if plan.metric is not None:
        settings["metric"] = plan.metric
    kind = getattr(tacit.cluster, METHODS[plan.method])
    return kind(
        k, random_state=plan.seed, engine=plan.engine, callbacks=callbacks, **settings
    )


def choose(plan: Plan, values: Any, k_max: int) -> Any:
    """How many clusters, by ``choose_k``."""
    from tacit.cluster import choose_k

    # A sample is looked at, for which trees need no compression and medoids no samples.
    estimator = make(plan._replace(compress=None), 2, n=0)
    if "n_init" in estimator.get_params(deep=False):
        estimator.set_params(n_init=3)
    return choose_k(
        values,
        range(1, k_max + 1),
        method=estimator,
        random_state=plan.seed,
        engine=plan.engine,
        callbacks=None if plan.quiet else [Choosing()],
    )


class Choosing:
    """Says now and then how far the choice has got."""

    def __init__(self) -> None:
        self.spoke = time.monotonic()

    def on_step(self, step: "Step") -> None:
        if time.monotonic() - self.spoke > EVERY and not step.done:
            self.spoke = time.monotonic()
            say(f"Choosing k: {step.number} of {step.most} data sets looked at.")


def fit(
    plan: Plan, k: int, values: Any, *, table: "NumberTable", best_of_many: bool = False
) -> Any:
    """The fitted model. Errors name the column and count rows from 1, as the file does.

    ``best_of_many`` makes more starts where a method has them: a number of clusters that was
    chosen with care deserves the clusters it was chosen for.
    """
    from tacit.core.errors import DataError
    from tacit.core.progress import Progress

    progress = None if plan.quiet else Progress()
    callbacks = None if progress is None else [progress]
    model = make(plan, k, n=values.shape[0], callbacks=callbacks)
    if best_of_many and "n_init" in model.get_params(deep=False):
        model.set_params(n_init=10 if values.shape[0] <= FEW_ROWS else 3)
    try:
        with progress or nullcontext():
            return model.fit(values)
    except DataError as error:
        if not isinstance(error.row, int) or not isinstance(error.column, int):
            raise
        file, column = table.report.source, table.names[error.column]
        raise DataError(error.message, file=file, row=error.row + 1, column=column) from error


def how_sure(
    plan: Plan, values: Any, labels: "np.ndarray", k: int, groups: list[dict[str, Any]]
) -> float:
    """Tell every group how often two of its rows stay together when rows are drawn anew.

    Returns the mean agreement of the resamples with the groups.
    """
    from tacit.cluster import stability

    found = stability(
        make(plan, k, n=values.shape[0]),
        values,
        n_resamples=RESAMPLES,
        labels=labels,
        tree=False,
        random_state=plan.seed,
        engine=plan.engine,
    )
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
    """Put the clusters of a fitted model in this order, so that ``predict`` says the same.

    Trees are in order already, but for those of centers, whose leaves stand for many rows.
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

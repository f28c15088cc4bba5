"""Groups of documents: how many, how stable, what distinguishes them, their tree, and the
groups there would be for other numbers of groups.

Starts and repeats draw their randomness from (seed, number), so the result is the same on any
number of threads.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine, one_blas_thread
from tacit.core.randoms import key, permutation, seed_from
from tacit.explore.stages.meaning import use_words
from tacit.explore.stages.naming import name_them
from tacit.explore.stages.stage import Context, Output

__all__ = [
    "STABILITY_ROWS", "find_groups", "group_otherwise", "group_rows", "repeat_groups",
    "tree_of", "verdict_of",
]  # fmt: skip

K_MOST = {"quick": 20, "normal": 30, "thorough": 40}
TRIALS = {  # rows, null references and resamples that k is chosen with
    "quick": (2000, 4, 8), "normal": (3000, 6, 15), "thorough": (6000, 10, 20),
}  # fmt: skip
RESAMPLES = {"quick": 10, "normal": 30, "thorough": 60}
STARTS = 10
REPEAT_STARTS = 2
STABILITY_ROWS = 20_000  # past this, starts and repeats use a sample
WHAT_IF_STARTS, WHAT_IF_ROWS = 3, 4000  # all rows are assigned to the centers of a sample
PASSES = 20  # over all rows, at most
FEW_LEAVES = 64  # of a tree
PANEL = 8192  # rows to a matrix product
FEWEST = 31  # documents for which a choice of k, and claims of stability, make sense
KEYWORDS, TYPICAL, DOUBTFUL = 14, 5, 5
VERDICTS = ((0.75, "firm"), (0.5, "tentative"), (0.0, "loose"))


def find_groups(context: Context) -> Output:
    """Choose k, cluster the documents by direction, and measure the stability of the groups."""
    if why := context.skipped("meaning"):
        return Output(skipped=why)
    rows = context.arrays("meaning")["rows"]
    placed = np.flatnonzero(~context.arrays("meaning")["blank"])
    if len(placed) < FEWEST:
        few = f"Groups need {FEWEST} documents with words; there are {len(placed):,}."
        return Output(skipped=few)
    inside = np.ascontiguousarray(rows[placed])
    output = Output()
    k = chosen_k(context, inside, placed, output)
    if k == 1:
        output.facts |= {"k": 1, "groups": [], "tree": []}
        labels = np.where(np.isin(np.arange(len(rows)), placed), 0, -1).astype(np.int32)
        output.arrays |= {"labels": labels, "confidence": np.ones(len(rows), np.float32)}
        return output
    seed, engine = seed_from(context.settings.seed), context.engine
    labels, centers = group_rows(inside, k, starts=STARTS, seed=seed, engine=engine)
    confidence, jaccard = repeat_groups(
        inside, labels, k, size=sample_size(len(inside)),
        repeats=RESAMPLES[context.settings.effort], seed=seed, engine=engine,
    )  # fmt: skip
    everywhere = np.full(len(rows), -1, np.int32)
    everywhere[placed] = labels
    sure = np.zeros(len(rows), np.float32)
    sure[placed] = confidence
    output.arrays |= {
        "labels": everywhere,
        "confidence": sure,
        "centers": centers,
        "jaccard": jaccard.astype(np.float32),
    }
    nearest = next_best(inside, labels, centers)
    second = np.full(len(rows), -1, np.int32)
    second[placed] = nearest.second
    output.arrays["second"] = second
    output.facts |= {
        "k": k,
        "groups": name_them(
            context, everywhere, describe_groups(context, everywhere, placed, nearest, jaccard)
        ),
        "tree": tree_of(centers),
    }
    return output


# --- Clustering ---


class Grouped(NamedTuple):
    """Labels by size, and the direction of each group."""

    labels: np.ndarray  # (n,) int32
    centers: np.ndarray  # (k, d) float32, of length one


def draw_rows(rows: np.ndarray, most: int, *keys: int | np.uint64) -> np.ndarray:
    """A random sample of at most ``most`` rows, in their order."""
    if len(rows) <= most:
        return rows
    return np.ascontiguousarray(rows[np.sort(permutation(key(*keys), len(rows))[:most])])


def group_rows(
    rows: np.ndarray, k: int, *, starts: int, seed: np.uint64, engine: Engine
) -> Grouped:
    """The best of several starts on a sample, then passes over all rows until they converge."""
    from tacit.cluster.small_kmeans import small_kmeans
    from tacit.kernels.nearest_centers import run_passes
    from tacit.measure.labels import by_size

    sample = draw_rows(rows, max(STABILITY_ROWS, k), seed, 0, 9)

    def run_start(number: int) -> Any:
        own = int(key(seed, number, 5)) % 2**31
        return small_kmeans(sample, k, own, starts=1, unit=True)

    best = min(engine.each(run_start, range(starts)), key=lambda fit: fit.inertia)
    found, centers = best.labels, best.centers
    if len(sample) < len(rows):
        found, centers = run_passes(rows, centers, engine, passes=PASSES, unit=True)
    labels = by_size(found)
    first = [int(found[np.argmax(labels == j)]) for j in range(int(labels.max()) + 1)]
    return Grouped(labels, np.ascontiguousarray(centers[first]))


def repeat_groups(
    rows: np.ndarray, labels: np.ndarray, k: int, *, size: int, repeats: int,
    seed: np.uint64, engine: Engine,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Cluster random samples of ``size`` rows and assign all rows to the nearest center: for
    every row the fraction of repeats that keep it in its group; for every group the overlap
    (Jaccard) with the most similar group of each repeat, sorted: (groups, repeats)."""
    from tacit.cluster.small_kmeans import small_kmeans
    from tacit.kernels.nearest_centers import nearest_centers

    groups = int(labels.max()) + 1

    def run_repeat(number: int) -> tuple[np.ndarray, np.ndarray]:
        sample = draw_rows(rows, size, seed, number, 7)
        own = int(key(seed, number, 6)) % 2**31
        fit = small_kmeans(sample, k, own, starts=REPEAT_STARTS, unit=True)
        again = nearest_centers(rows, fit.centers, unit=True)
        both = np.bincount(labels * k + again, minlength=groups * k)
        both = both.reshape(groups, k).astype(np.float64)
        overlap = both / (both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both)
        return overlap.max(axis=1), again == overlap.argmax(axis=1)[labels]

    kept, overlaps = np.zeros(len(rows)), []
    for overlap, same in engine.each(run_repeat, range(repeats)):
        overlaps.append(overlap)
        kept += same
    return kept / repeats, np.sort(np.array(overlaps).T, axis=1)


# --- Its parts ---


def chosen_k(context: Context, rows: np.ndarray, placed: np.ndarray, output: Output) -> int:
    from tacit.cluster import choose_k

    settings = context.settings
    counts = context.matrix("counts", "counts")
    used = use_words(context.arrays("counts")["document_counts"], counts.shape[0])
    most = min(K_MOST[settings.effort], len(rows) // 10)
    max_rows, references, resamples = TRIALS[settings.effort]
    found = choose_k(
        rows,
        range(1, max(2, most) + 1),
        method="spherical",
        n_references=references,
        n_resamples=resamples,
        max_rows=max_rows,
        words=counts[placed][:, used],
        random_state=settings.seed,
        engine=context.engine,
        callbacks=list(context.callbacks),
    )
    output.facts["choice"] = found.to_dict()
    if settings.k is not None:
        output.facts["asked"] = settings.k
        return min(settings.k, sample_size(len(rows)))
    return found.best


def sample_size(n: int) -> int:
    """Rows of a repeat, and so the most groups there can be."""
    return min(int(0.8 * n), STABILITY_ROWS)


class Nearest(NamedTuple):
    """How near each row is to its own group, and which other group comes next."""

    own: np.ndarray  # cosine
    second: np.ndarray
    margin: np.ndarray  # by how much the own group is nearer


def next_best(rows: np.ndarray, labels: np.ndarray, centers: np.ndarray) -> Nearest:
    n = len(rows)
    own, second, margin = (np.empty(n, kind) for kind in (np.float32, np.int32, np.float32))
    with one_blas_thread():  # more may round differently
        for first in range(0, n, PANEL):
            some = slice(first, first + PANEL)
            near = rows[some] @ centers.T
            each = np.arange(len(near))
            own[some] = near[each, labels[some]]
            near[each, labels[some]] = -2
            second[some] = near.argmax(axis=1)
            margin[some] = own[some] - near[each, second[some]]
    return Nearest(own, second, margin)


def describe_groups(
    context: Context,
    labels: np.ndarray,
    placed: np.ndarray,
    nearest: Nearest,
    jaccard: np.ndarray,
) -> list[dict[str, Any]]:
    """Size, contrast words, typical and borderline documents, verdict of every group."""
    from tacit.cluster import describe

    counts = context.matrix("counts", "counts")
    used = use_words(context.arrays("counts")["document_counts"], counts.shape[0])
    present = sp.csr_array(counts[placed][:, used])
    present.data = np.ones_like(present.data)
    names = context.words()[used]
    found = describe(present, labels[placed], feature_names=list(names), top=KEYWORDS)
    own, other, margin = nearest
    groups = []
    for group, stable in zip(found, jaccard, strict=True):
        members = np.flatnonzero(labels[placed] == group.cluster)
        typical = members[np.argsort(-own[members], kind="stable")][:TYPICAL]
        doubtful = members[np.argsort(margin[members], kind="stable")][:DOUBTFUL]
        groups.append(
            {
                "group": group.cluster,
                "size": group.size,
                "share": group.share,
                "words": [
                    [str(f.name), float(f.score), float(f.inside), float(f.outside)]
                    for f in group.features
                    if f.inside > f.outside
                ],
                "typical": [int(placed[i]) for i in typical],
                "doubtful": [[int(placed[i]), int(other[i])] for i in doubtful],
                "jaccard": float(np.median(stable)),
                "verdict": verdict_of(float(np.median(stable))),
            }
        )
    return groups


def verdict_of(jaccard: float) -> str:
    """A word for the stability of a group, from its median overlap in the repeats.

    >>> verdict_of(0.8), verdict_of(0.6), verdict_of(0.2)
    ('firm', 'tentative', 'loose')
    """
    return next(word for least, word in VERDICTS if jaccard >= least)


def tree_of(centers: np.ndarray) -> list[list[float]]:
    """The groups joined by average cosine distance, SciPy's rows, in the best leaf order."""
    rows = centers.astype(np.float64)
    if len(rows) <= FEW_LEAVES:  # not worth compiling what thousands would need
        from scipy.cluster import hierarchy
        from scipy.spatial.distance import pdist

        apart = np.maximum(pdist(rows, "cosine"), 0.0)
        tree = hierarchy.linkage(apart, "average")
        return hierarchy.optimal_leaf_ordering(tree, apart).tolist()
    from tacit.cluster import linkage, optimal_order

    return optimal_order(linkage(rows, "average", "cosine"), rows, "cosine").tolist()


def group_otherwise(context: Context) -> Output:
    """Labels by size for every number of groups that choose_k tries, a row for each."""
    from tacit.cluster.small_kmeans import small_kmeans
    from tacit.kernels.nearest_centers import nearest_centers
    from tacit.measure.labels import by_size

    if why := context.skipped("meaning"):
        return Output(skipped=why)
    found = context.arrays("meaning")
    placed = np.flatnonzero(~found["blank"])
    if len(placed) < FEWEST:
        return Output(skipped=f"Groups need {FEWEST} documents; there are {len(placed):,}.")
    rows, seed = np.ascontiguousarray(found["rows"][placed]), seed_from(context.settings.seed)
    sample = draw_rows(rows, WHAT_IF_ROWS, seed, 0, 8)

    def group(k: int) -> np.ndarray:
        own = int(key(seed, k, 8)) % 2**31
        fit = small_kmeans(sample, k, own, starts=WHAT_IF_STARTS, unit=True)
        return by_size(nearest_centers(rows, fit.centers, unit=True))

    most = min(K_MOST[context.settings.effort], len(placed) // 10, 2**8)  # a label fits a byte
    ks: list[int] = []
    kept: list[np.ndarray] = []
    tried = range(2, max(2, most) + 1)
    for k, labels in zip(tried, context.engine.each(group, tried), strict=True):
        if labels.max() + 1 < k:
            break
        everywhere = np.zeros(len(found["rows"]), np.uint8)
        everywhere[placed] = labels
        ks.append(k)
        kept.append(everywhere)
    if not ks:
        return Output(skipped="All documents use the same words.")
    return Output(arrays={"labels": np.stack(kept)}, facts={"ks": ks})

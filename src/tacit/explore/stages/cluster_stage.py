"""Groups of documents: how many, how sure, what sets them apart, and how they hang together."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.explore.stage import Context, Output
from tacit.explore.stages.meaning_stage import use_words

__all__ = ["VERDICTS", "find_groups", "verdict_of"]

K_MOST = {"quick": 20, "normal": 30, "thorough": 40}
RESAMPLES = {"quick": 10, "normal": 30, "thorough": 60}
STABILITY_ROWS = 20_000  # past this, how sure groups are is measured on a sample
FEWEST = 31  # documents for which a choice of k, and claims of stability, make sense
KEYWORDS, TYPICAL, DOUBTFUL = 14, 5, 5
VERDICTS = ((0.75, "firm"), (0.5, "tentative"), (0.0, "loose"))


def find_groups(context: Context) -> Output:
    """Choose k, cluster the documents by direction, and measure how often that comes again."""
    if why := context.skipped("meaning"):
        return Output(skipped=why)
    rows = context.arrays("meaning")["rows"]
    placed = np.flatnonzero(~context.arrays("meaning")["blank"])
    if len(placed) < FEWEST:
        few = f"Groups need {FEWEST} documents with words; there are {len(placed):,}."
        return Output(skipped=few)
    inside = np.ascontiguousarray(rows[placed])
    output = Output()
    k = chosen_k(context, inside, output)
    if k == 1:
        output.facts |= {"k": 1, "groups": [], "tree": []}
        labels = np.where(np.isin(np.arange(len(rows)), placed), 0, -1).astype(np.int32)
        output.arrays |= {"labels": labels, "confidence": np.ones(len(rows), np.float32)}
        return output
    labels, centers = group(context, inside, k)
    confidence, jaccard = how_sure(context, inside, labels, k)
    everywhere = np.full(len(rows), -1, np.int32)
    everywhere[placed] = labels
    sure = np.zeros(len(rows), np.float32)
    sure[placed] = confidence
    output.arrays |= {
        "labels": everywhere,
        "confidence": sure,
        "centers": centers.astype(np.float32),
        "jaccard": jaccard.astype(np.float32),
    }
    nearest = next_best(inside, labels, centers)
    second = np.full(len(rows), -1, np.int32)
    second[placed] = nearest.second
    output.arrays["second"] = second
    output.facts |= {
        "k": k,
        "groups": describe_groups(context, everywhere, placed, nearest, jaccard),
        "tree": tree_of(centers),
    }
    return output


# --- Its parts ---


def chosen_k(context: Context, rows: np.ndarray, output: Output) -> int:
    from tacit.cluster import choose_k

    settings = context.settings
    most = min(K_MOST[settings.effort], len(rows) // 10)
    found = choose_k(
        rows,
        range(1, max(2, most) + 1),
        method="spherical",
        random_state=settings.seed,
        engine=context.engine,
        callbacks=list(context.callbacks),
    )
    output.facts["choice"] = found.to_dict()
    if settings.k is not None:
        output.facts["asked"] = settings.k
        return min(settings.k, sample_size(len(rows)))
    return found.best


def group(context: Context, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels by size, and the directions of the groups in the same order."""
    from tacit.cluster import SphericalKMeans
    from tacit.cluster.dendrogram import by_size

    model = SphericalKMeans(
        k, n_init=10, random_state=context.settings.seed, engine=context.engine
    ).fit(rows)
    labels = by_size(model.labels_)
    first = [int(model.labels_[np.argmax(labels == j)]) for j in range(int(labels.max()) + 1)]
    return labels, model.cluster_centers_[first]


def sample_size(n: int) -> int:
    """Rows of a repeat, which are as many groups as there can be."""
    return min(int(0.8 * n), STABILITY_ROWS)


def how_sure(
    context: Context, rows: np.ndarray, labels: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """For every row the share of repeats that keep it with its group; for every group the
    overlap (Jaccard) with its like in each repeat, (k, repeats).

    A repeat clusters 80% of the rows, drawn without repetition, and gives the others to the
    nearest group.
    """
    from tacit.cluster import SphericalKMeans
    from tacit.core.randoms import key, permutation, seed_from

    n, seed = len(rows), seed_from(context.settings.seed)
    repeats = RESAMPLES[context.settings.effort]
    size = sample_size(n)
    kept, jaccard = np.zeros(n), np.zeros((int(labels.max()) + 1, repeats))
    for repeat in range(repeats):
        drawn = np.sort(permutation(key(seed, repeat, 7), n)[:size])
        model = SphericalKMeans(k, n_init=2, random_state=repeat, engine=context.engine)
        again = model.fit(np.ascontiguousarray(rows[drawn])).predict(rows)
        both = np.zeros((len(jaccard), k))
        np.add.at(both, (labels, again), 1)
        overlap = both / (both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both)
        jaccard[:, repeat] = overlap.max(axis=1)
        kept += again == overlap.argmax(axis=1)[labels]
    return kept / repeats, np.sort(jaccard, axis=1)


class Nearest(NamedTuple):
    """How near each row is to its own group, and which other group comes next."""

    own: np.ndarray  # cosine
    second: np.ndarray
    margin: np.ndarray  # by how much the own group is nearer


def next_best(rows: np.ndarray, labels: np.ndarray, centers: np.ndarray) -> Nearest:
    units = centers / np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1e-12)
    near = rows @ units.T.astype(np.float32)
    each = np.arange(len(rows))
    own = near[each, labels]
    near[each, labels] = -2
    second = near.argmax(axis=1)
    return Nearest(own, second.astype(np.int32), own - near[each, second])


def describe_groups(
    context: Context,
    labels: np.ndarray,
    placed: np.ndarray,
    nearest: Nearest,
    jaccard: np.ndarray,
) -> list[dict[str, Any]]:
    """Size, words that set the group apart, typical and doubtful documents, how firm it is."""
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
    """A word for how sure a group is, from the median overlap with its like in repeats.

    >>> verdict_of(0.8), verdict_of(0.6), verdict_of(0.2)
    ('firm', 'tentative', 'loose')
    """
    return next(word for least, word in VERDICTS if jaccard >= least)


def tree_of(centers: np.ndarray) -> list[list[float]]:
    """The groups joined by average cosine distance, SciPy's rows, in the best leaf order."""
    from tacit.cluster import linkage, optimal_order

    tree = linkage(centers.astype(np.float64), "average", "cosine")
    return optimal_order(tree, centers.astype(np.float64), "cosine").tolist()

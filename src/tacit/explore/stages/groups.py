"""Groups of documents: a tree of them, the level that is shown first, how stable each group is,
what distinguishes it, and the groups there would be for other numbers of groups.

One file: the stage is one story, from the rows to the groups that the report shows.
Starts and repeats draw their randomness from (seed, number), so the result is the same on any
number of threads.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine, one_blas_thread
from tacit.core.randoms import key, keys, permutation, seed_from
from tacit.explore.stages.group_tree import (
    FEW,
    FINER,
    MOST_NESTED,
    GroupNode,
    GroupTree,
    are_near,
    centers_of,
    choose_cut,
    flat_tree,
    grow_tree,
    labels_at,
    leaves_of,
    more_trials,
    nest_rows,
)
from tacit.explore.stages.meaning import use_words
from tacit.explore.stages.naming import (
    NAMELESS,
    context_wording,
    name_groups,
    name_them,
    shown_name,
)
from tacit.explore.stages.stage import Context, Output
from tacit.explore.stages.wording import Wording

__all__ = [
    "STABILITY_ROWS", "find_groups", "group_otherwise", "group_rows", "nodes_of",
    "repeat_groups", "tree_of", "verdict_of",
]  # fmt: skip

K_MOST = {"quick": 20, "normal": 30, "thorough": 40}
REPEATS_WELL = 0.4  # of perfect stability above chance, for a flat number to be shown
EDGE = 0.9  # of the numbers tried: where a larger one is best, half as many more are tried
PER_GROUP = 6  # documents for each group of a flat division, at least
TRIALS = {  # rows, null references and resamples that flat numbers of groups are measured with
    "quick": (1000, 3, 4), "normal": (1500, 4, 8), "thorough": (4000, 8, 16),
}  # fmt: skip
RESAMPLES = {"quick": 10, "normal": 30, "thorough": 60}
STARTS = 10
REPEAT_STARTS = 2
REPEAT_ENSEMBLE = 30  # k-means in the ensemble of a repeat
SMALL, SMALL_STARTS = 2000, 5  # documents up to which repeats search more widely for a tree
FEWER = 3  # times fewer repeats inside the groups of the chosen level
STABILITY_ROWS = 20_000  # past this, starts and repeats use a sample
WHAT_IF_STARTS, WHAT_IF_ROWS = 3, 4000  # all rows are assigned to the centers of a sample
PASSES = 20  # over all rows, at most
FEW_LEAVES = 64  # of a tree
PANEL = 8192  # rows to a matrix product
FEWEST = 31  # documents for which a choice of k, and claims of stability, make sense
KEYWORDS, TYPICAL, DOUBTFUL = 14, 5, 5
MOST_LOOSE, LEAST_FIRM = 0.5, 0.25  # of the documents, in the groups that are shown first
FIRM, TENTATIVE = 0.75, 0.5  # median overlap of a group with its like in the repeats
VERDICTS = ((FIRM, "firm"), (TENTATIVE, "tentative"), (0.0, "loose"))


def find_groups(context: Context) -> Output:
    """Grow the tree of groups, choose the level to show, and measure the stability of its
    groups."""
    if why := context.skipped("meaning"):
        return Output(skipped=why)
    found = context.arrays("meaning")
    n, (placed, source) = len(found["rows"]), set_copies_aside(context)
    copies = int((source != np.arange(n)).sum())
    if len(placed) < FEWEST:
        return Output(skipped=too_few(len(placed), copies))
    rows, output = np.ascontiguousarray(found["rows"][placed]), Output(facts={"copies": copies})
    settings, engine = context.settings, context.engine
    seed, counts = seed_from(settings.seed), used_counts(context, placed)
    flat = try_numbers(context, rows, counts)
    power = context.facts("meaning")["idf_power"]
    grow = partial(grow_tree, weigh(counts), rows, seed, settings.effort, engine, power=power)
    tree = grow(flat=flat["best"] if gain_of(flat) >= REPEATS_WELL else 1)
    output.facts["choice"] = explain(tree, flat)
    asked = settings.k
    if asked is not None:
        output.facts["asked"] = asked
        asked = min(asked, sample_size(len(rows)))
        if asked > MOST_NESTED:
            labels = group_rows(rows, asked, starts=STARTS, seed=seed, engine=engine).labels
            tree = flat_tree(labels)
        elif asked > 1:
            tree = grow(asked=asked, repeats=min(tree.numbers, default=1))
    if not tree.levels or asked == 1:
        output.facts |= {"k": 1, "groups": [], "tree": [], "nodes": [], "levels": []}
        labels = np.where(found["blank"], -1, 0).astype(np.int32)
        output.arrays |= {"labels": labels, "leaf": np.full(n, -1, np.int32)}
        output.arrays["confidence"] = np.ones(n, np.float32)
        return output
    if asked is None:
        tree, cut, confidence = settle_level(tree, grow, rows, settings.effort, seed, engine)
        output.facts["choice"] = explain(tree, flat)
    else:
        cut = list(tree.levels[tree.first])
        confidence = repeat_tree(tree, cut, rows, settings.effort, seed, engine)
    nodes = tree.nodes
    many = np.bincount(source, minlength=n)[placed]  # each document with its copies
    cut.sort(key=lambda i: (-int(many[nodes[i].documents].sum()), i))
    k, labels = len(cut), labels_at(nodes, cut, len(rows))
    centers = centers_of(rows, labels, k)
    jaccard = np.stack([overlaps_of(nodes[i]) for i in cut])
    nearest = next_best(rows, labels, centers)

    def everywhere(values: np.ndarray, kind: Any = np.int32, none: int = -1) -> np.ndarray:
        out = np.full(n, none, kind)
        out[placed] = values
        return out[source]

    leaves = [i for i, node in enumerate(nodes) if i and not node.children]
    leaf = np.array(leaves, np.int32)[labels_at(nodes, leaves, len(rows))] - 1
    output.arrays |= {
        "labels": everywhere(labels),
        "leaf": everywhere(leaf),
        "confidence": everywhere(confidence, np.float32, 0),
        "centers": centers,
        "jaccard": jaccard.astype(np.float32),
        "second": everywhere(nearest.second),
    }
    wording = context_wording(context)
    groups = describe_groups(context, counts, labels, placed, nearest, jaccard, many)
    once = np.where(source == np.arange(n), output.arrays["labels"], -1)
    groups = name_them(context, once, groups, wording)
    output.facts |= {
        "k": k,
        "groups": groups,
        "tree": tree_of(centers),
        "nodes": describe_nodes(
            rows, lengths_of(context, placed), placed, nodes, cut, groups, wording, many
        ),
        "untried": tree.untried,
    }
    output.facts |= levels_of(tree, cut, output.facts["nodes"])
    return output


def set_copies_aside(context: Context) -> tuple[np.ndarray, np.ndarray]:
    """The documents to group: those with words, one of each set that has the same words as
    often. And for every document the one whose group it gets: the first of its set, or itself.
    """
    counts = context.matrix("counts", "counts")
    n, sizes = counts.shape[0], np.diff(counts.indptr)
    weights = keys(seed_from(0), np.arange(counts.shape[1]))[counts.indices]
    sums = np.cumsum(np.append(np.uint64(0), weights * counts.data.astype(np.uint64)))
    digests = sums[counts.indptr[1:]] - sums[counts.indptr[:-1]]  # modulo 2**64
    _, first, of = np.unique(digests, return_index=True, return_inverse=True)
    source, every = first[of], np.arange(n)
    placed = ~context.arrays("meaning")["blank"]
    again = np.flatnonzero((source != every) & (sizes > 0) & placed)
    differ = counts[again] - counts[source[again]]  # where digests agree by chance
    again = again[np.diff(sp.csr_array(differ != 0).indptr) == 0]
    source = every.copy()
    source[again] = first[of[again]]
    placed[again] = False
    return np.flatnonzero(placed), source


def too_few(documents: int, copies: int) -> str:
    different = " different" if copies else ""
    there = "is 1" if documents == 1 else f"are {documents:,}"
    return f"Groups need {FEWEST}{different} documents with words; there {there}."


def used_counts(context: Context, placed: np.ndarray) -> sp.csr_array:
    """The documents that are placed, by the words that are in some documents and not in
    most."""
    counts = context.matrix("counts", "counts")
    used = use_words(context.arrays("counts")["document_counts"], counts.shape[0])
    return sp.csr_array(counts[placed][:, used])


def weigh(counts: sp.csr_array) -> sp.csr_array:
    """1 + the logarithm of every count, float32."""
    data = (1 + np.log(counts.data)).astype(np.float32)
    return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


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


def settle_level(
    tree: GroupTree, grow: Callable[..., GroupTree], rows: np.ndarray, effort: str,
    seed: np.uint64, engine: Engine,
) -> tuple[GroupTree, list[int], np.ndarray]:  # fmt: skip
    """The tree, the groups to show first, and what ``repeat_tree`` says of them. Where they
    fall apart, the first level becomes that of the next smaller number; after the smallest, the
    finest level above it that falls apart less, if there is one. If that is k-means with two
    groups, what falls apart no longer weighs in the tree: it grows again. Of few documents all
    groups fall apart somewhat, and a coarser level would say less (benchmark ``groups``)."""

    def standing(cut: list[int]) -> int:
        """0 where most documents are in loose groups, 1 where too few are in firm ones."""
        shares = dict.fromkeys((word for _, word in VERDICTS), 0.0)
        for i in cut:
            verdict = verdict_of(float(np.median(overlaps_of(tree.nodes[i]))))
            shares[verdict] += len(tree.nodes[i].documents) / len(rows)
        return 0 if shares["loose"] > MOST_LOOSE else 1 + (shares["firm"] >= LEAST_FIRM)

    while True:
        cut = choose_cut(tree)
        confidence = repeat_tree(tree, cut, rows, effort, seed, engine)
        if (now := standing(cut)) == 2:
            break
        loose, smaller = [*tree.loose, tree.numbers[-1]], tree.numbers[:-1]
        coarser = tree.levels[: tree.first] if len(rows) > FEW else []
        above = [(standing(level), len(level)) for level in coarser]
        better, k = max(above, default=(0, 0))
        if not smaller and better > now and k == 2 == tree.emphasis[0]:
            split, tree = tree.nodes[0].split, grow(asked=2)
            tree.nodes[0].split = split
        elif smaller or better > now:
            tree.numbers = smaller or (k,)
            sizes = [len(level) for level in tree.levels]
            tree.first = int(np.searchsorted(sizes, tree.numbers[-1]))
            for each in tree.nodes:
                each.overlaps = None
        else:
            break
        tree.loose = loose
    return tree, cut, confidence


def repeat_tree(
    tree: GroupTree, cut: list[int], rows: np.ndarray, effort: str, seed: np.uint64,
    engine: Engine,
) -> np.ndarray:  # fmt: skip
    """Note the overlaps of all groups in repeats; for every document the fraction of repeats
    that keep it in its group of ``cut``, the level that is shown.

    The levels down to the first are found again among all documents. Those below are found
    again inside each group of the first, since all of the collection has larger groups; and
    their groups no better than the group around them."""
    nodes, repeats = tree.nodes, RESAMPLES[effort]
    first = tree.levels[tree.first]
    if len(first) > MOST_NESTED:
        kept, overlaps = repeat_groups(
            rows, labels_at(nodes, first, len(rows)), len(first), size=sample_size(len(rows)),
            repeats=repeats, seed=key(seed, 22, 0), engine=engine,
        )  # fmt: skip
        for i, each in zip(first, overlaps, strict=True):
            nodes[i].overlaps = each
        return kept
    confidence = repeat_levels(
        nodes, 0, tree.levels[: tree.first + 1], tree.emphasis, rows, seed, engine, repeats
    )
    for i in (i for i in first if nodes[i].children):
        below = leaves_of(nodes, i, among=set(cut))
        inside = [leaves_of(nodes, i, among=set(level)) for level in tree.levels]
        distinct = sorted({tuple(each) for each in [*inside, below] if len(each) > 1}, key=len)
        levels = [list(each) for each in distinct]
        split, shown = nodes[i].split, len(below) > 1
        kept = repeat_levels(
            nodes, i, levels, () if split is None else (split.k,), rows, seed, engine,
            repeats if shown else repeats // FEWER, below if shown else None,
        )  # fmt: skip
        if shown:
            confidence[nodes[i].documents] *= kept
    return confidence


def repeat_levels(
    nodes: list[GroupNode], i: int, levels: list[list[int]], emphasis: Sequence[int],
    rows: np.ndarray, seed: np.uint64, engine: Engine, repeats: int,
    shown: list[int] | None = None,
) -> np.ndarray:  # fmt: skip
    """Divide a group again and again into its levels, each time without a fifth of its
    documents, and note the overlaps of the groups; for every document the fraction of repeats
    that keep it in its group of the level ``shown``, by default the finest."""
    from tacit.cluster.nested_kmeans import nested_kmeans
    from tacit.kernels.nearest_centers import nearest_centers

    documents, own = nodes[i].documents, key(seed, 22, i)
    inside = np.ascontiguousarray(rows[documents])
    known = [labels_at(nodes, level, len(rows))[documents] for level in levels]
    most, place = len(levels[-1]), levels.index(shown or levels[-1])
    if i == 0:  # what the levels are joins of
        most = max(most, *emphasis)
    n = len(nodes[0].documents)
    runs, starts = REPEAT_ENSEMBLE if n <= FEW else 0, REPEAT_STARTS
    first: Sequence[int] = (most,)
    if n <= SMALL:
        first, starts = (1, 2, *emphasis, most), SMALL_STARTS

    def run_repeat(number: int) -> list[tuple[np.ndarray, np.ndarray]]:
        sample = draw_rows(inside, sample_size(len(inside)), own, number, 7)
        drawn = key(own, number, 6)
        if i == 0:
            again = nest_rows(
                sample, most, drawn, emphasis, runs=runs, first=first, starts=starts
            )
        else:  # the groups inside others were not found with these numbers
            again = nested_kmeans(
                sample, most, drawn, emphasis=emphasis, first=first, starts=starts
            )
        if again is None:
            return [(np.zeros(len(level)), np.zeros(len(inside), bool)) for level in levels]
        leaf = nearest_centers(inside, again.centers, unit=True)
        finest = len(again.cuts) + 1
        return [
            compare_groups(labels, again.cuts[min(len(level), finest) - 2][leaf])
            for labels, level in zip(known, levels, strict=True)
        ]

    kept = np.zeros(len(inside))
    overlaps: list[list[np.ndarray]] = [[] for _ in levels]
    with one_blas_thread():
        for each in engine.each(run_repeat, range(repeats)):
            for noted, (overlap, _) in zip(overlaps, each, strict=True):
                noted.append(overlap)
            kept += each[place][1]
    around = np.quantile(overlaps_of(nodes[i]), np.linspace(0, 1, repeats))
    for level, noted in zip(levels, overlaps, strict=True):  # the finest that has it decides
        for j, found in zip(level, np.sort(np.array(noted).T, axis=1), strict=True):
            nodes[j].overlaps = np.minimum(found, around)
    return kept / repeats


def overlaps_of(node: GroupNode) -> np.ndarray:
    return np.ones(1) if node.overlaps is None else node.overlaps


def repeat_groups(
    rows: np.ndarray, labels: np.ndarray, k: int, *, size: int, repeats: int,
    seed: np.uint64, engine: Engine,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Cluster random samples of ``size`` rows and assign all rows to the nearest center: for
    every row the fraction of repeats that keep it in its group; for every group the overlap
    (Jaccard) with the most similar group of each repeat, sorted: (groups, repeats)."""
    from tacit.cluster.small_kmeans import small_kmeans
    from tacit.kernels.nearest_centers import nearest_centers

    def run_repeat(number: int) -> tuple[np.ndarray, np.ndarray]:
        sample = draw_rows(rows, size, seed, number, 7)
        own = int(key(seed, number, 6)) % 2**31
        fit = small_kmeans(sample, k, own, starts=REPEAT_STARTS, unit=True)
        return compare_groups(labels, nearest_centers(rows, fit.centers, unit=True))

    kept, overlaps = np.zeros(len(rows)), []
    for overlap, same in engine.each(run_repeat, range(repeats)):
        overlaps.append(overlap)
        kept += same
    return kept / repeats, np.sort(np.array(overlaps).T, axis=1)


def compare_groups(labels: np.ndarray, again: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every group the overlap (Jaccard) with the most similar one of another labeling, and
    for every row whether it is in that."""
    groups, k = int(labels.max()) + 1, int(again.max()) + 1
    both = np.bincount(labels * k + again, minlength=groups * k)
    both = both.reshape(groups, k).astype(np.float64)
    overlap = both / (both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both)
    return overlap.max(axis=1), again == overlap.argmax(axis=1)[labels]


# --- Its parts ---


def try_numbers(context: Context, rows: np.ndarray, counts: sp.csr_array) -> dict[str, Any]:
    """The measures of a flat division into each number of groups."""
    from tacit.cluster import choose_k

    settings = context.settings
    most, able = K_MOST[settings.effort], max(2, len(rows) // PER_GROUP)
    max_rows, references, resamples = TRIALS[settings.effort]
    more = more_trials(len(rows))

    def try_up_to(k: int) -> dict[str, Any]:
        return choose_k(
            rows,
            range(1, k + 1),
            method="spherical",
            n_references=references * min(2, more),
            n_resamples=resamples * more,
            max_rows=max_rows,
            words=counts,
            random_state=settings.seed,
            engine=context.engine,
            callbacks=list(context.callbacks),
        ).to_dict()

    found = try_up_to(min(most, able))
    if able > most and found["best"] > EDGE * most:
        found = try_up_to(min(most * 3 // 2, able))
    return found


def gain_of(flat: dict[str, Any]) -> float:
    """How far the best flat number of groups repeats above chance, where 1 is perfect."""
    return next((row["gain"] or 0.0 for row in flat["table"] if row["k"] == flat["best"]), 0.0)


def explain(tree: GroupTree, flat: dict[str, Any]) -> dict[str, Any]:
    """The number of groups that the tree recommends and why, over the table of flat numbers."""
    split, best = tree.nodes[0].split, len(choose_cut(tree)) if tree.levels else 1
    if split is None:
        reasons = ["The documents have too few words in common to compare them by."]
    elif split.k == 1:
        i = int(np.argmax(split.shared - split.chance))
        reasons = [
            "No division repeats clearly better than in data without groups. Two halves of the "
            f"documents were divided separately: at best, into {split.ks[i]} groups, the two "
            f"divisions agree to {split.shared[i]:.0%}; in data without groups to "
            f"{split.chance[i]:.0%}."
        ]
    else:
        i = split.ks.index(split.k)
        reasons = [
            f"Two halves of the documents were divided separately into {split.k} groups: the "
            f"two divisions agree to {split.shared[i]:.0%}; in data without groups to "
            f"{split.chance[i]:.0%}."
        ]
        k, gain = flat["best"], gain_of(flat)
        if split.k in tree.loose:
            reasons.append(
                f"In other samples too few of these groups are found again; of {best} groups, "
                "more are."
            )
        elif k > 1 and min(k, len(tree.levels[-1])) in tree.loose:
            reasons.append(
                f"As one division, {k} groups would be chosen, but in other samples too few of "
                "them are found again."
            )
        elif k > 1 and gain < REPEATS_WELL and not are_near(k, split.k):
            reasons.append(
                f"As one division, {k} groups would be chosen, but they repeat too little in "
                f"other samples: {gain:.0%} better than chance, where 100% would be perfect."
            )
        elif k > 1:
            reasons.append(f"Of all numbers of groups, {k} repeats best in other samples.")
        if best > max(tree.numbers, default=1):
            reasons.append(
                f"Some of them divide further into groups that are found again in other "
                f"samples; with those there are {best}."
            )
    return {**flat, "best": best, "reasons": reasons, "flat": flat["best"]}


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
    counts: sp.csr_array,
    labels: np.ndarray,
    placed: np.ndarray,
    nearest: Nearest,
    jaccard: np.ndarray,
    many: np.ndarray | None = None,
) -> list[dict[str, Any]]:
    """Size, contrast words, typical and borderline documents, verdict of every group; ``many``
    documents are each of those placed, with its copies."""
    own, other, margin = nearest
    many = np.ones(len(labels), np.int64) if many is None else many
    groups = []
    words = contrast_words(context, counts, labels)
    alike = own * lengths_of(context, placed)
    for group, stable in enumerate(jaccard):
        members = np.flatnonzero(labels == group)
        typical = members[np.argsort(-alike[members], kind="stable")][:TYPICAL]
        doubtful = members[np.argsort(margin[members], kind="stable")][:DOUBTFUL]
        groups.append(
            {
                "group": group,
                "size": int(many[members].sum()),
                "share": float(many[members].sum() / many.sum()),
                "words": words[group],
                "typical": [int(placed[i]) for i in typical],
                "doubtful": [[int(placed[i]), int(other[i])] for i in doubtful],
                "jaccard": float(np.median(stable)),
                "verdict": verdict_of(float(np.median(stable))),
            }
        )
    return groups


def lengths_of(context: Context, placed: np.ndarray) -> np.ndarray:
    """The length of each document along the directions of meaning, over that along all words.
    Times the cosine along the directions it is the cosine by all words: no document is typical
    for the few words that the directions hold."""
    found = context.arrays("meaning")
    return found["lengths"][placed] if "lengths" in found else np.ones(len(placed))


def describe_nodes(
    rows: np.ndarray,
    lengths: np.ndarray,
    placed: np.ndarray,
    nodes: list[GroupNode],
    cut: list[int],
    groups: list[dict[str, Any]],
    wording: Wording,
    many: np.ndarray,
) -> list[dict[str, Any]]:
    """Every group of the tree but the root, parents before children, numbered from 0. Names
    and words are those that distinguish it from the others inside its parent; a group of the
    chosen level has the name it has there, and one without words of its own that is most of its
    parent the name of that."""
    out: list[dict[str, Any]] = [{} for _ in nodes]
    chosen = {i: place for place, i in enumerate(cut)}
    everywhere = np.full(wording.terms.table.shape[0], -1, np.int32)
    for parent in nodes:
        if not parent.children:
            continue
        inside = labels_at(nodes, parent.children, len(rows))
        labels, own = inside[parent.documents], rows[parent.documents]
        at = placed[parent.documents]
        everywhere[at] = labels
        named = name_groups(wording, everywhere)
        everywhere[at] = -1
        near = next_best(own, labels, centers_of(own, labels, len(parent.children)))
        alike = near.own * lengths[parent.documents]
        for place, j in enumerate(parent.children):
            members = np.flatnonzero(labels == place)
            typical = members[np.argsort(-alike[members], kind="stable")][:TYPICAL]
            doubtful = members[np.argsort(near.margin[members], kind="stable")][:DOUBTFUL]
            group = groups[chosen[j]] if j in chosen else {}
            overlap = float(np.median(overlaps_of(nodes[j])))
            around = out[nodes[j].parent].get("name")
            own_name = name_inside(named[place].name, around, len(members) / len(labels))
            out[j] = {
                "node": j - 1,
                "parent": max(nodes[j].parent - 1, -1),
                "depth": nodes[j].depth,
                "size": int(many[parent.documents[members]].sum()),
                "name": group.get("name", own_name),
                "words": group.get("words", named[place].words),
                "typical": [int(at[m]) for m in typical],
                "doubtful": [
                    [int(at[m]), parent.children[near.second[m]] - 1] for m in doubtful
                ],
                "jaccard": overlap,
                "verdict": verdict_of(overlap),
                "chosen": chosen.get(j),
            }
    return out[1:]


def name_inside(name: list[str], around: list[str] | None, part: float) -> list[str]:
    """The name of a group that is a part of another: that of the other, if it is most of it and
    has no words of its own.

    >>> name_inside([NAMELESS], ["cars"], 0.9), name_inside([NAMELESS], ["cars"], 0.2)
    (['cars'], ['no words of its own'])
    """
    nameless = name[0].startswith(NAMELESS)
    return around if around and nameless and part > 0.5 else name


def nodes_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The tree of groups: every group but the whole, parents before children."""
    return [
        {
            "node": node["node"],
            "parent": node["parent"],
            "depth": node["depth"],
            "size": node["size"],
            "verdict": node["verdict"],
            "overlap": node["jaccard"],
            "group": node["chosen"],
            "name": shown_name(node),
            "words": [word for word, *_ in node["words"]],
        }
        for node in found.get("nodes", [])
    ]


def levels_of(
    tree: GroupTree, cut: list[int], described: list[dict[str, Any]]
) -> dict[str, Any]:
    """The levels, from coarse to fine, with the numbers of their groups and of the firm ones;
    which of them is shown first, and which has the broad groups, if any."""
    cuts = list(tree.levels)
    if sorted(cut) not in cuts:
        cuts.append(sorted(cut))
    cuts.sort(key=len)
    broad = None
    if FINER * tree.numbers[0] <= len(cut):
        broad = next(i for i, each in enumerate(cuts) if len(each) == tree.numbers[0])
    levels = [
        {
            "nodes": len(each),
            "firm": sum(described[i - 1]["verdict"] == "firm" for i in each),
            "cut": [i - 1 for i in each],
        }
        for each in cuts
    ]
    return {"levels": levels, "level": cuts.index(sorted(cut)), "broad": broad}


def contrast_words(
    context: Context, counts: sp.csr_array, labels: np.ndarray
) -> list[list[list[Any]]]:
    """For each label, words of more of its documents than of the others: the word, its score,
    and the fractions of documents inside and outside."""
    from tacit.cluster import describe

    document_counts = context.arrays("counts")["document_counts"]
    n = context.facts("ingest")["documents"]
    present = sp.csr_array(
        (np.ones_like(counts.data), counts.indices, counts.indptr), shape=counts.shape
    )
    names = list(context.words()[use_words(document_counts, n)])
    words: list[list[list[Any]]] = [[] for _ in range(int(labels.max()) + 1)]
    for group in describe(present, labels, feature_names=names, top=KEYWORDS):
        words[int(group.label)] = [
            [str(f.name), float(f.score), float(f.inside), float(f.outside)]
            for f in group.features
            if f.inside > f.outside
        ]
    return words


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
    placed, source = set_copies_aside(context)
    if len(placed) < FEWEST:
        copies = len(source) - len(np.unique(source))
        return Output(skipped=too_few(len(placed), copies))
    rows, seed = np.ascontiguousarray(found["rows"][placed]), seed_from(context.settings.seed)
    sample = draw_rows(rows, WHAT_IF_ROWS, seed, 0, 8)

    def group(k: int) -> np.ndarray:
        own = int(key(seed, k, 8)) % 2**31
        fit = small_kmeans(sample, k, own, starts=WHAT_IF_STARTS, unit=True)
        return by_size(nearest_centers(rows, fit.centers, unit=True))

    most = min(K_MOST[context.settings.effort], len(placed) // PER_GROUP)
    ks: list[int] = []
    kept: list[np.ndarray] = []
    tried = range(2, max(2, most) + 1)
    for k, labels in zip(tried, context.engine.each(group, tried), strict=True):
        if labels.max() + 1 < k:
            break
        everywhere = np.zeros(len(found["rows"]), np.uint8)
        everywhere[placed] = labels
        ks.append(k)
        kept.append(everywhere[source])
    if not ks:
        return Output(skipped="All documents use the same words.")
    return Output(arrays={"labels": np.stack(kept)}, facts={"ks": ks})

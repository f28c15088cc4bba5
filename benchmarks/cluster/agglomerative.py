"""Hierarchical clustering from rows, against fastcluster, SciPy and scikit-learn.

Every contender gets the same float64 rows, 16 columns, and returns the linkage matrix; those
that need a distance matrix build it in the time that is measured. fastcluster runs as
``linkage_vector`` where it has one (ward, single, centroid), which needs no matrix. The quality
is the sum of the heights; a check verifies that all heights agree to 1e-9.

Few wide rows, such as images, run several times over; there fastcluster runs as ``linkage``,
which is faster than ``linkage_vector`` on them.

Also, without targets: Ward along the graph of a grid, and the best order of leaves, where the
quality is the sum of distances between neighboring leaves.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import mixture
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

COLUMNS = 16
VECTOR = {"ward": 2.0, "single": 2.5, "centroid": 1.5}  # ratios wanted against fastcluster
MATRIX = {"average": 1.5, "complete": 1.5}
WIDE = [(165, 1024, 40), (1000, 784, 2)]  # rows, columns, runs


def cases(scale: float) -> list[Case]:
    out = []
    for method, target in VECTOR.items():
        n = int(20_000 * scale)
        out.append(tree_case(f"{method}, {n:,} rows", n, method, target))
    for method, target in MATRIX.items():
        for n in (int(10_000 * scale), int(20_000 * scale)):
            out.append(tree_case(f"{method}, {n:,} rows", n, method, target))
    for n, columns, runs in WIDE:
        for method in ("average", "ward"):
            out.append(wide_case(n, columns, runs, method))
    side, few = int(150 * scale**0.5), int(1_000 * scale)
    return [
        *out,
        Case(
            f"ward along a grid, {side} x {side}",
            partial(grid, side),
            (Contender("Tacit", tacit_grid), sklearn("scikit-learn", sklearn_grid)),
            heights,
            measure="sum of heights",
            tolerance=1e-9,
        ),
        Case(
            f"order of {few:,} leaves",
            partial(ordered, few),
            (Contender("Tacit", tacit_order), scipy("SciPy", scipy_order)),
            way,
            measure="way",
        ),
    ]


def tree_case(name: str, n: int, method: str, target: float) -> Case:
    rivals = [fastcluster(fastcluster_name(method), partial(run_fastcluster, method=method))]
    if n <= 10_000:  # they take a minute and gigabytes at twice that
        rivals.append(scipy("SciPy", partial(run_scipy, method=method)))
        if method != "centroid":  # which scikit-learn does not have
            rivals.append(sklearn("scikit-learn", partial(run_sklearn, method=method)))
    return Case(
        name,
        partial(rows, n),
        (Contender("Tacit", partial(run_tacit, method=method)), *rivals),
        heights,
        measure="sum of heights",
        tolerance=1e-9,
        targets={"fastcluster": target},
        check=same_heights,
        warmup=fewer,
    )


def wide_case(n: int, columns: int, runs: int, method: str) -> Case:
    return Case(
        f"{method}, {n:,} rows of {columns:,} columns, {runs} times",
        partial(wide_rows, n, columns, runs),
        (
            Contender("Tacit", partial(run_tacit, method=method)),
            fastcluster("fastcluster linkage", partial(run_fastcluster_matrix, method=method)),
        ),
        heights,
        measure="sum of heights",
        tolerance=1e-9,
        targets={"fastcluster": 1.0},
        check=same_heights,
    )


def wide_rows(n: int, columns: int, runs: int, folder: Path) -> Data:
    X = mixture(n, columns, components=15, separation=8.0, seed=columns, dtype="f8")
    about = f"mixture of 15 at separation 8; {n:,} x {columns:,}, float64"
    return {"X": X, "runs": runs, "about": about}


def rows(n: int, folder: Path) -> Data:
    X = mixture(n, COLUMNS, components=100, separation=8.0, seed=COLUMNS, dtype="f8")
    return {"X": X, "about": f"mixture of 100 at separation 8; {n:,} x {COLUMNS}, float64"}


def fewer(data: Data) -> Data:
    """For first calls: what compiles and loads is the same."""
    return {**data, "X": data["X"][:1000]}


def grid(side: int, folder: Path) -> Data:
    X = np.random.default_rng(0).normal(size=(side * side, 4))
    return {"X": X, "side": side, "about": f"normal values on a grid; {side * side:,} x 4"}


def ordered(n: int, folder: Path) -> Data:
    from scipy.cluster.hierarchy import linkage

    X = np.random.default_rng(0).normal(size=(n, 5))
    return {"X": X, "Z": linkage(X, "ward"), "about": f"normal; {n:,} x 5, Ward's tree"}


# --- Quality ---


def heights(data: Data, answer: Answer) -> float:
    return float(np.sort(answer["heights"]).sum())


def same_heights(data: Data, rows: dict[str, Row]) -> list[Check]:
    ours = rows.get("Tacit")
    if ours is None or ours.answer is None:
        return []
    out = []
    for name, row in rows.items():
        if row is not ours and row.answer is not None:
            a, b = (np.sort(each.answer["heights"]) for each in (ours, row) if each.answer)
            gap = float(np.abs(a / b - 1).max())
            out.append(Check(f"heights as {name}'s, at most {gap:.0e} off", gap < 1e-9))
    return out


def way(data: Data, answer: Answer) -> float:
    X = data["X"][answer["order"]]
    return float(np.sqrt((np.diff(X, axis=0) ** 2).sum(axis=1)).sum())


# --- Contenders ---


def run_tacit(data: Data, threads: int, *, method: str) -> Answer:
    from tacit.cluster import linkage
    from tacit.core.engines import Threads

    for _ in range(data.get("runs", 1)):
        Z = linkage(data["X"], method, engine=Threads(threads))
    return {"heights": Z[:, 2]}


def run_fastcluster(data: Data, threads: int, *, method: str) -> Answer:
    import fastcluster

    run = fastcluster.linkage_vector if method in VECTOR else fastcluster.linkage
    return {"heights": run(data["X"], method)[:, 2]}


def run_fastcluster_matrix(data: Data, threads: int, *, method: str) -> Answer:
    import fastcluster

    for _ in range(data["runs"]):
        Z = fastcluster.linkage(data["X"], method)
    return {"heights": Z[:, 2]}


def run_scipy(data: Data, threads: int, *, method: str) -> Answer:
    from scipy.cluster.hierarchy import linkage

    return {"heights": linkage(data["X"], method)[:, 2]}


def run_sklearn(data: Data, threads: int, *, method: str) -> Answer:
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(2, linkage=method, compute_distances=True)
    return {"heights": model.fit(data["X"]).distances_}


def tacit_grid(data: Data, threads: int) -> Answer:
    from sklearn.feature_extraction.image import grid_to_graph

    from tacit.cluster import AgglomerativeClustering

    graph = grid_to_graph(data["side"], data["side"])
    return {"heights": AgglomerativeClustering(2, connectivity=graph).fit(data["X"]).distances_}


def sklearn_grid(data: Data, threads: int) -> Answer:
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.feature_extraction.image import grid_to_graph

    graph = grid_to_graph(data["side"], data["side"])
    model = AgglomerativeClustering(
        2, connectivity=graph, compute_full_tree=True, compute_distances=True
    )
    return {"heights": model.fit(data["X"]).distances_}


def tacit_order(data: Data, threads: int) -> Answer:
    from tacit.cluster import leaves, optimal_order

    return {"order": leaves(optimal_order(data["Z"], data["X"]))}


def scipy_order(data: Data, threads: int) -> Answer:
    from scipy.cluster.hierarchy import leaves_list, optimal_leaf_ordering
    from scipy.spatial.distance import pdist

    return {"order": leaves_list(optimal_leaf_ordering(data["Z"], pdist(data["X"])))}


def fastcluster_name(method: str) -> str:
    return f"fastcluster {'linkage_vector' if method in VECTOR else 'linkage'}"


fastcluster: Callable[..., Contender] = partial(
    Contender, package="fastcluster", install="fastcluster", rival="fastcluster"
)
scipy: Callable[..., Contender] = partial(
    Contender, package="scipy", install="scipy", rival="SciPy"
)
sklearn: Callable[..., Contender] = partial(
    Contender, package="sklearn", install="scikit-learn", rival="scikit-learn"
)

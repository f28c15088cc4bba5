"""What ``tacit cluster`` says of the clusters: sizes, what sets them apart, how good
they are.
"""

from typing import TYPE_CHECKING, Any

import click

from tacit.cli.terminal import clean, console

if TYPE_CHECKING:
    import numpy as np

__all__ = ["describe", "draw", "how_apart", "losses_of", "means_of"]

APART = 3  # columns named for each cluster
SHOWN = 40  # clusters drawn; the rest are counted
EXACT_ROWS = 20_000  # all pairs of which are looked at for silhouettes


def means_of(values: Any, labels: "np.ndarray", k: int) -> "np.ndarray":
    """The mean of the rows of every cluster, block by block; NaN for none."""
    import numpy as np
    import scipy.sparse as sp

    from tacit.data.table import Table

    sums = np.zeros((k, values.shape[1]))
    for block in Table.of(values):
        own = labels[block.start : block.stop]
        ones = np.ones(len(own))
        members = sp.csr_array((ones, (own, np.arange(len(own)))), shape=(k, len(own)))
        sums += members @ np.asarray(block.load(), np.float64)
    counts = np.bincount(labels, minlength=k)[:, None]
    out = np.full_like(sums, np.nan)
    return np.divide(sums, counts, out=out, where=counts > 0)


def describe(
    centers: "np.ndarray",
    sizes: "np.ndarray",
    mean: "np.ndarray",
    deviation: "np.ndarray",
    names: list[str],
) -> list[dict[str, Any]]:
    """Each cluster's size, center, and the columns that set it apart most."""
    import numpy as np

    far = np.zeros(centers.shape)
    np.divide(centers - mean, deviation, out=far, where=deviation > 0)
    groups = []
    for j, (center, distance) in enumerate(zip(centers, far, strict=True)):
        known = bool(np.isfinite(center).all())  # not of a cluster without rows
        order = np.argsort(-np.abs(distance), kind="stable")[: APART if known else 0]
        groups.append(
            {
                "cluster": j,
                "rows": int(sizes[j]),
                "share": float(sizes[j] / sizes.sum()),
                "apart": {names[i]: float(distance[i]) for i in order if distance[i] != 0},
                "center": dict(zip(names, center.tolist(), strict=True)) if known else None,
            }
        )
    return groups


def how_apart(values: Any, labels: "np.ndarray", plan: Any) -> tuple[float | None, Any]:
    """The mean silhouette, and that of every row where all pairs were looked at."""
    import numpy as np

    from tacit.data.table import Table
    from tacit.measure import silhouette_samples, silhouette_score

    n = values.shape[0]
    if not 2 <= len(np.unique(labels)) < n:
        return None, None
    if n > EXACT_ROWS:
        by_centers = silhouette_score(values, labels, simplified=True, engine=plan.engine)
        return float(by_centers), None
    if isinstance(values, Table):
        values = np.vstack([block.load() for block in values])
    metric = plan.metric or ("cosine" if plan.method == "spherical" else "euclidean")
    samples = silhouette_samples(values, labels, metric=metric, engine=plan.engine)
    return float(samples.mean()), samples


def losses_of(model: Any, k: int) -> tuple[dict[str, Any], str]:
    """What the method minimizes, as JSON values and as a sentence."""
    facts: dict[str, Any] = {
        "inertia": getattr(model, "inertia_", None),
        "objective": getattr(model, "objective_", None),
        "iterations": getattr(model, "n_iter_", None),
    }
    facts = {name: None if v is None else float(v) for name, v in facts.items()}
    if facts["iterations"] is not None:
        facts["iterations"] = int(facts["iterations"])
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
    done = "iteration" if facts["iterations"] == 1 else "iterations"
    return facts, f"{name.title()} {facts[name]:.6g} after {facts['iterations']} {done}."


def draw(result: dict[str, Any], sentences: list[str], *, stderr: bool) -> None:
    """The groups as a table, the largest first, then sentences."""
    from rich.table import Table

    groups = result["clusters"]
    sure = any("confidence" in group for group in groups)
    titles = ["Cluster", "Rows", "Share", *(["Sure"] if sure else [])]
    table = Table(*titles, "Apart by (deviations from the mean)", box=None)
    for column in table.columns[:-1]:
        column.justify = "right"
    for group in groups[:SHOWN]:
        far_off = [(name, far) for name, far in group["apart"].items() if abs(far) >= 0.005]
        apart = ", ".join(f"{clean(name)} {far:+.2f}" for name, far in far_off)
        cells = [str(group["cluster"]), f"{group['rows']:,}", f"{group['share']:.1%}"]
        if sure:
            cells.append(f"{group.get('confidence', 0.0):.0%}")
        table.add_row(*cells, apart or "nothing")
    console(stderr=stderr).print(table)
    if len(groups) > SHOWN:
        click.echo(
            f"and {len(groups) - SHOWN:,} smaller ones (--json has them all)", err=stderr
        )
    for sentence in sentences:
        click.echo(sentence, err=stderr)

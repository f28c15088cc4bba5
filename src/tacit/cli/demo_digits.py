"""``tacit demo digits``: k-means on handwritten digits, whose labels it never sees."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.terminal import can_print, clean, console, say

if TYPE_CHECKING:
    import numpy as np

__all__ = ["digits"]

RUNS = 5  # further fits from other seeds, to see how much they agree
PICTURES = 4
SHADES = " ░▒▓█"
PLAIN_SHADES = " .:*#"


def digits(folder: Path, seed: int, engine: Any, quiet: bool, *, draw: bool) -> dict[str, Any]:
    """k-means on handwritten digits, whose labels it never sees."""
    import numpy as np
    from sklearn.datasets import load_digits

    from tacit.cli.csv_out import open_output, write_rows
    from tacit.cluster import KMeans

    images, truth = load_digits(return_X_y=True)
    say(
        f"{len(images):,} pictures of handwritten digits, {images.shape[1]} pixels each, "
        f"grouped into 10 by k-means; then {RUNS} times more from other seeds.",
        quiet=quiet,
    )
    model, *others = (
        KMeans(10, n_init=10, random_state=seed + i, engine=engine).fit(images)
        for i in range(1 + RUNS)
    )
    labels = model.labels_
    groups = look_at_groups(labels, truth, [other.labels_ for other in others])
    purity = sum(group["right"] for group in groups) / len(labels)
    agreement = agreements(labels, [other.labels_ for other in others])
    labels_file, model_file = folder / "labels.csv", folder / "digits.safetensors"
    with open_output(str(labels_file)) as stream:
        write_rows(stream, [["row", "cluster", "digit"]])
        rows = zip(range(1, len(labels) + 1), labels.tolist(), truth.tolist(), strict=True)
        write_rows(stream, rows)
    model.save(model_file)
    result = {
        "rows": len(images),
        "seed": seed,
        "inertia": float(model.inertia_),
        "purity": float(purity),
        "agreement": {"mean": float(np.mean(agreement)), "lowest": float(min(agreement))},
        "clusters": groups,
        "labels_file": str(labels_file),
        "model_file": str(model_file),
    }
    if draw:
        draw_digits(result, model.cluster_centers_)
    return result


def look_at_groups(
    labels: "np.ndarray", truth: "np.ndarray", others: "Sequence[np.ndarray]"
) -> list[dict[str, Any]]:
    """Each group's size, its most common digit, and how well other runs find it again."""
    import numpy as np

    groups = []
    for j in range(int(labels.max()) + 1):
        own = labels == j
        counts = np.bincount(truth[own], minlength=10)
        again = np.mean([best_overlap(own, other) for other in others])
        groups.append(
            {
                "cluster": j,
                "rows": int(own.sum()),
                "digit": int(counts.argmax()),
                "right": int(counts.max()),
                "found_again": float(again),
            }
        )
    return groups


def best_overlap(own: "np.ndarray", labels: "np.ndarray") -> float:
    """Shared rows over all rows (Jaccard) of a group and its likest in another run."""
    import numpy as np

    shared = np.bincount(labels[own], minlength=int(labels.max()) + 1)
    together = own.sum() + np.bincount(labels) - shared
    return float((shared / together).max())


def agreements(labels: "np.ndarray", others: "Sequence[np.ndarray]") -> list[float]:
    """Adjusted Rand index with each of the other runs: 1 the same groups, 0 chance."""
    from sklearn.metrics import adjusted_rand_score

    return [float(adjusted_rand_score(labels, other)) for other in others]


def draw_digits(result: dict[str, Any], centers: "np.ndarray") -> None:
    """The findings on one screen."""
    from rich.table import Table

    groups = sorted(result["clusters"], key=lambda group: -group["found_again"])
    table = Table("Group", "Rows", "Mostly", "Purity", "Found again", "", box=None)
    for column in table.columns[:5]:
        column.justify = "right"
    for group in groups:
        purity = f"{group['right'] / group['rows']:.0%}"
        again = f"{group['found_again']:.0%}"
        cells = (group["cluster"], group["rows"], group["digit"], purity, again)
        table.add_row(*map(str, cells), verdict(group["found_again"]))
    console().print(table)
    shown = groups[:PICTURES]
    pictures = [picture(centers[group["cluster"]]) for group in shown]
    captions = [f"group {group['cluster']}: a {group['digit']}" for group in shown]
    agreement = result["agreement"]
    lines = [
        "",
        "  ".join(f"{caption:16}" for caption in captions),
        *("  ".join(parts) for parts in zip(*pictures, strict=True)),
        "",
        f"The groups were made without the digits; {result['purity']:.1%} of the pictures are",
        "of the digit that is most common in their group (purity).",
        f"{RUNS} runs from other seeds agree with it to {agreement['mean']:.2f} on average,",
        f"{agreement['lowest']:.2f} at worst (adjusted Rand: 1 the same groups, 0 chance).",
        "",
        f"Labels: {clean(result['labels_file'])}",
        f"Model:  {clean(result['model_file'])}",
    ]
    click.echo("\n".join(lines))


def verdict(found_again: float) -> str:
    return "firm" if found_again >= 0.75 else "tentative" if found_again >= 0.5 else "loose"


def picture(center: "np.ndarray") -> list[str]:
    """An 8 by 8 average in block characters, two of them to a pixel."""
    shades = SHADES if can_print(SHADES) else PLAIN_SHADES
    levels = (center.reshape(8, 8) / 16 * (len(shades) - 1) + 0.5).astype(int)
    levels = levels.clip(0, len(shades) - 1)
    return ["".join(shades[level] * 2 for level in row) for row in levels]

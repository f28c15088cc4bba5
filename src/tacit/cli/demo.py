"""``tacit demo``: what Tacit does, and worked examples with the numbers to expect.

    docstrings   ``tacit explore --docs``: the documentation of installed packages
    digits       k-means on pictures of handwritten digits, whose labels it never sees
    others       worked examples of lecture notes (``demo_examples``), each with a picture
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options, output
from tacit.cli.demo_examples import EXAMPLES
from tacit.cli.explore import explore
from tacit.cli.options import RunOptions
from tacit.cli.progress import Running

if TYPE_CHECKING:
    import numpy as np

__all__ = ["DEMOS", "demo"]

DEMOS = {
    "docstrings": "the documentation of installed packages, explored",
    "digits": "1,797 pictures of handwritten digits, grouped by k-means",
    **{name: example.about for name, example in EXAMPLES.items()},
}
RUNS = 5  # further fits from other seeds, to measure how much they agree
PICTURES = 4
SHADES = " ░▒▓█"


@options.command()
@click.argument("name", default="docstrings")
@click.option("--list", "listing", is_flag=True, help="List the demos and stop.")
@click.option("--out", metavar="FOLDER", default="demo",
              help="Folder for the results")
@options.run_options
@click.pass_context
def demo(
    context: click.Context, name: str, listing: bool, out: str, run: RunOptions
) -> None:
    """Run the demo NAME  [default: docstrings].

    docstrings and digits use data that is on every machine. The others are worked examples of
    university lecture notes on unsupervised learning and text: each prints the numbers of the
    notes next to those of Tacit, and draws a figure.

    \b
    tacit demo --list
    tacit demo kmeans
    """
    if listing:
        list_demos(as_json=run.as_json)
        return
    if name not in DEMOS:
        from tacit.core.wording import did_you_mean

        meant = did_you_mean(name, DEMOS)
        raise click.UsageError(f"There is no demo {name!r}.{meant} List them with --list.")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    if name in EXAMPLES:
        show_example(name, folder, run)
        return
    if name == "docstrings":
        target = str(folder / "docstrings.tacit")
        context.invoke(explore, docs=True, out=target, **run._asdict())
        return
    digits(folder, run)


def list_demos(*, as_json: bool) -> None:
    """Print the demos, and the data sets that they need."""
    if as_json:
        output.print_json(DEMOS)
        return
    for name, about in DEMOS.items():
        needs = EXAMPLES[name].needs if name in EXAMPLES else None
        missing = f"  (needs the data set {needs}: see tacit datasets)" if needs else ""
        click.echo(f"{name:16}{about}{missing}")


# --- Worked examples ---


def show_example(name: str, folder: Path, run: RunOptions) -> None:
    example = EXAMPLES[name]
    title = example.about[:1].upper() + example.about[1:]
    with Running(title):
        outcome = example.run(run.seed, run.engine)
    picture = folder / f"{name}.png"
    try:
        from matplotlib.figure import Figure
    except ImportError:
        output.note("The picture needs matplotlib: pip install 'tacit-learn[plot]'")
        drawn = None
    else:
        figure = Figure(figsize=example.size, layout="constrained")
        outcome.draw(figure)
        output.save_figure(figure, str(picture))
        drawn = str(picture)
    if run.as_json:
        lines = [line._asdict() for line in outcome.lines]
        facts = {"demo": name, "about": example.about, "lines": lines, "picture": drawn}
        output.print_json(facts)
        return
    click.echo(f"{title}\n")
    output.draw_table(["", "Notes", "Tacit"], outcome.lines, right=(1, 2))
    if drawn:
        click.echo(f"\nPicture: {output.clean(drawn)}")


# --- Digits ---


def digits(folder: Path, run: RunOptions) -> None:
    """k-means on handwritten digits, whose labels it never sees."""
    import numpy as np
    from sklearn.datasets import load_digits

    from tacit.cluster import KMeans
    from tacit.measure import adjusted_rand_score

    images, truth = load_digits(return_X_y=True)
    output.note(
        f"{len(images):,} pictures of handwritten digits, {images.shape[1]} pixels each, "
        f"grouped into 10 by k-means, and again from {RUNS} other seeds.",
    )
    model, *others = (
        KMeans(10, n_init=10, random_state=run.seed + i, engine=run.engine).fit(images)
        for i in range(1 + RUNS)
    )
    labels, other_labels = model.labels_, [other.labels_ for other in others]
    groups = describe_groups(labels, truth, other_labels)
    purity = sum(group["right"] for group in groups) / len(labels)
    agreement = [float(adjusted_rand_score(labels, other)) for other in other_labels]
    labels_file, model_file = folder / "labels.csv", folder / "digits.safetensors"
    rows = zip(range(1, len(labels) + 1), labels.tolist(), truth.tolist(), strict=True)
    output.write_csv(str(labels_file), ["row", "cluster", "digit"], rows)
    model.save(model_file)
    result = {
        "rows": len(images), "seed": run.seed, "inertia": float(model.inertia_),
        "purity": float(purity),
        "agreement": {"mean": float(np.mean(agreement)), "lowest": float(min(agreement))},
        "clusters": groups, "labels_file": str(labels_file), "model_file": str(model_file),
    }  # fmt: skip
    if run.as_json:
        output.print_json(result)
    else:
        draw_digits(result, model.cluster_centers_)


def describe_groups(
    labels: "np.ndarray", truth: "np.ndarray", others: "Sequence[np.ndarray]"
) -> list[dict[str, Any]]:
    """The size of each group, its most common digit, and its mean overlap with other runs."""
    import numpy as np

    groups = []
    for j in range(int(labels.max()) + 1):
        members = labels == j
        counts = np.bincount(truth[members], minlength=10)
        overlaps = [best_overlap(members, other) for other in others]
        groups.append({
            "cluster": j, "rows": int(members.sum()), "digit": int(counts.argmax()),
            "right": int(counts.max()), "found_again": float(np.mean(overlaps)),
        })  # fmt: skip
    return groups


def best_overlap(members: "np.ndarray", labels: "np.ndarray") -> float:
    """The largest Jaccard index of a group and a group of another run."""
    import numpy as np

    intersection = np.bincount(labels[members], minlength=int(labels.max()) + 1)
    union = members.sum() + np.bincount(labels) - intersection
    return float((intersection / union).max())


def draw_digits(result: dict[str, Any], centers: "np.ndarray") -> None:
    groups = sorted(result["clusters"], key=lambda group: -group["found_again"])
    rows = []
    for group in groups:
        overlap = group["found_again"]
        verdict = "firm" if overlap >= 0.75 else "tentative" if overlap >= 0.5 else "loose"
        purity = f"{group['right'] / group['rows']:.0%}"
        cells = (group["cluster"], group["rows"], group["digit"], purity, f"{overlap:.0%}")
        rows.append([*map(str, cells), verdict])
    titles = ["Group", "Rows", "Mostly", "Purity", "Found again", ""]
    output.draw_table(titles, rows, right=range(5))
    shown = groups[:PICTURES]
    pictures = [picture(centers[group["cluster"]]) for group in shown]
    captions = [f"group {group['cluster']}: a {group['digit']}" for group in shown]
    agreement = result["agreement"]
    lines = [
        "",
        "  ".join(f"{caption:16}" for caption in captions),
        *("  ".join(parts) for parts in zip(*pictures, strict=True)),
        "",
        f"k-means did not see the digits; {result['purity']:.1%} of the pictures show the",
        "digit that is most common in their group (purity).",
        f"Agreement with {RUNS} runs from other seeds (adjusted Rand index; 1: the same",
        f"groups, 0: as by chance): {agreement['mean']:.2f} on average, "
        f"{agreement['lowest']:.2f} at worst.",
        "",
        f"Labels: {output.clean(result['labels_file'])}",
        f"Model:  {output.clean(result['model_file'])}",
    ]
    click.echo("\n".join(lines))


def picture(center: "np.ndarray") -> list[str]:
    """An 8 by 8 image in block characters, two for each pixel."""
    shades = SHADES if output.can_print(SHADES) else " .:*#"
    levels = (center.reshape(8, 8) / 16 * (len(shades) - 1) + 0.5).astype(int)
    levels = levels.clip(0, len(shades) - 1)
    return ["".join(shades[level] * 2 for level in row) for row in levels]

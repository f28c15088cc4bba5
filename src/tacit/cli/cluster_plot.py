"""The picture of ``tacit cluster --plot``: a tree, or a map with silhouettes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np

__all__ = ["check_picture", "draw_picture"]

KINDS = ("png", "pdf", "svg")
MOST_ROWS = 5000  # dots on a map; of more rows, evenly spaced ones


def check_picture(path: str | None) -> None:
    """Raise an error for a wrong name or a missing matplotlib before the work begins."""
    if path is None:
        return
    if Path(path).suffix.lower()[1:] not in KINDS:
        raise click.UsageError(
            f"--plot {path}: the name must end in {', '.join(f'.{kind}' for kind in KINDS)}."
        )
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "--plot needs matplotlib. Install it with: pip install 'tacit-learn[plot]'"
        ) from error


def draw_picture(
    path: str,
    model: Any,
    values: Any,
    labels: "np.ndarray",
    *,
    k: int,
    title: str,
    names: list[str],
    ids: list[str] | None,
    silhouettes: Any,
    choice: Any,
) -> None:
    """Draw the picture that suits the model; the same picture has the same bytes."""
    if hasattr(model, "linkage_matrix_") and k > 1:
        figure = tree_figure(model, labels, k=k, title=title, ids=ids)
    else:
        figure = map_figure(
            model, values, labels, title=title, names=names, silhouettes=silhouettes,
            choice=choice,
        )  # fmt: skip
    save_figure(figure, path)


def save_figure(figure: Any, path: str) -> None:
    """Write a figure whole or not at all, without the date in it."""
    import matplotlib

    from tacit.core.atomic import atomic_write

    kind = Path(path).suffix.lower()[1:]
    dated = {"png": "Creation Time", "pdf": "CreationDate", "svg": "Date"}[kind]
    with matplotlib.rc_context({"svg.hashsalt": "tacit"}), atomic_write(path) as file:
        metadata = {} if kind == "png" else {dated: None}
        figure.savefig(file, format=kind, dpi=150, metadata=metadata)


def tree_figure(
    model: Any, labels: "np.ndarray", *, k: int, title: str, ids: list[str] | None
) -> Any:
    """The dendrogram: of rows, of k-means centers, or of the clusters of splits."""
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
    if legend is not None and n != len(labels):  # it counts leaves, which stand for many rows
        own = getattr(model, "leaf_labels_", np.arange(n))
        sizes = np.bincount(labels, minlength=k)
        for c, text in enumerate(legend.get_texts()):
            j = int(own[np.flatnonzero(cut(Z, k=k) == c)[0]])
            text.set_text(f"cluster {j}: {sizes[j]:,} rows")
    return figure


def map_figure(
    model: Any,
    values: Any,
    labels: "np.ndarray",
    *,
    title: str,
    names: list[str],
    silhouettes: Any,
    choice: Any,
) -> Any:
    """The map; silhouettes where there are two clusters or more; the scree of a choice."""
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
    panels = ["map", *(["silhouette"] if several else []), *(["scree"] if choice else [])]
    widths = {"map": 7.0, "silhouette": 4.4, "scree": 4.6}
    figure = Figure(figsize=(sum(widths[p] for p in panels), 5.4), layout="constrained")
    axes = figure.subplots(
        1, len(panels), squeeze=False, width_ratios=[widths[p] for p in panels]
    )[0]
    place = dict(zip(panels, axes, strict=True))
    if rows.shape[1] == 2 and several and hasattr(model, "predict"):
        plot.decision_regions(model, rows, columns=names, title=title, ax=place["map"])
    else:
        plot.cluster_map(rows, shown, title=title, ax=place["map"])
        if rows.shape[1] <= 2:
            place["map"].set_xlabel(names[0], parse_math=False)
            place["map"].set_ylabel((*names, "")[1], parse_math=False)
    if several:
        known = None if silhouettes is None else silhouettes[picked]
        plot.silhouette(rows, shown, values=known, ax=place["silhouette"])
    if choice:
        plot.scree(choice, ax=place["scree"])
    return figure

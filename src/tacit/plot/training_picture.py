"""A network in training: its losses by pass, and its codes in the plane."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import (
    FAINT,
    NEUTRAL,
    PALETTE,
    draw_dots,
    in_words,
    legend_beside,
    new_axes,
    quiet_frame,
    title_and_note,
)
from tacit.plot.plane import plane_of, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["codes", "loss_curves"]

CURVES = (  # attribute, its name in the legend
    ("losses_", "loss"),
    ("validation_errors_", "held-out error"),
    ("generator_losses_", "generator"),
)


def loss_curves(model: Any, *, title: str | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the losses of a fitted model, one point per pass.

    ``model`` is anything with ``losses_`` (every network, and most other models), or a dict of
    lists by name. A GAN has two curves, early stopping a second one.

    Examples
    --------
    >>> ax = loss_curves({"loss": [3.0, 2.0, 1.5]})
    >>> ax.get_lines()[0].get_ydata().tolist()
    [3.0, 2.0, 1.5]
    """
    curves = model if isinstance(model, dict) else curves_of(model)
    if not curves or not all(len(values) for values in curves.values()):
        raise ValueError(
            f"loss_curves needs a fitted model with losses_, but got {type(model).__name__}. "
            "Fit it first."
        )
    if ax is None:
        ax = new_axes(5.6, 3.4)
    ax.grid(color=FAINT, linewidth=0.5)
    quiet_frame(ax)
    for i, (name, values) in enumerate(curves.items()):
        color = PALETTE[i % len(PALETTE)]
        ax.plot(np.arange(1, len(values) + 1), values, label=name, color=color, linewidth=1.8)
    ax.set_xlabel("pass")
    ax.set_ylabel("loss")
    if len(curves) > 1:
        ax.legend(frameon=False, labelcolor=NEUTRAL)
    title_and_note(ax, title)
    return ax


def curves_of(model: Any) -> dict[str, list[float]]:
    found = {
        name: list(getattr(model, attribute))
        for attribute, name in CURVES
        if len(getattr(model, attribute, ()))
    }
    if "generator" in found:
        found["discriminator"] = found.pop("loss")
    return found


def codes(
    Z: Any, labels: Any = None, *, names: Sequence[str] | None = None,
    palette: Sequence[str] = PALETTE, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw codes in the plane, in the colors of their labels.

    Two columns are drawn as they are, more by the first two principal directions.

    Examples
    --------
    >>> ax = codes(np.array([[0.0, 1.0], [2.0, 3.0]]), [0, 1])
    >>> len(ax.collections)
    2
    """
    from tacit.measure.labels import codes_of

    rows = rows_of(Z, "codes")
    given = np.zeros(rows.shape[0], int) if labels is None else labels
    found = codes_of(given, name="codes", rows=rows.shape[0])
    if ax is None:
        ax = new_axes(6.2, 5.0)
    plane = plane_of(rows)
    draw_dots(ax, plane.project(rows), found.codes, len(found.names), palette)
    if labels is not None:
        words = [str(each) for each in names] if names is not None else in_words(found.names)
        legend_beside(ax, words, found.counts, palette)
    across, up = plane.labels()
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    quiet_frame(ax)
    note = f"{plane.explained:.0%} of the variance shown" if rows.shape[1] > 2 else ""
    title_and_note(ax, title, note)
    return ax

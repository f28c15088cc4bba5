"""The losses of linear classifiers, as functions of the margin.

The margin of a row is the score of its class less the best other score. The zero-one loss is
what one wants to lower and cannot; the others are what one lowers instead: hinge (large
margins), logistic (probabilities, in bits, so that all three losses of a tie are 1).

The notes' figures of hinge, perceptron and logistic loss.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import FAINT, NEUTRAL, PALETTE, new_axes, quiet_frame, title_and_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LOSSES", "hinge", "logistic", "losses", "perceptron", "squared_hinge", "zero_one"]


def zero_one(margin: Any) -> np.ndarray:
    """1 where the decision is wrong or a tie, else 0.

    >>> zero_one([-1.0, 0.0, 0.5])
    array([1., 1., 0.])
    """
    return (np.asarray(margin, np.float64) <= 0).astype(np.float64)


def perceptron(margin: Any) -> np.ndarray:
    """How far on the wrong side: max(0, -margin)."""
    return np.maximum(0.0, -np.asarray(margin, np.float64))


def hinge(margin: Any) -> np.ndarray:
    """The shortfall from a margin of 1: max(0, 1 - margin).

    >>> hinge([-1.0, 0.0, 0.5, 2.0])
    array([2. , 1. , 0.5, 0. ])
    """
    return np.maximum(0.0, 1 - np.asarray(margin, np.float64))


def squared_hinge(margin: Any) -> np.ndarray:
    """The square of ``hinge``."""
    return hinge(margin) ** 2


def logistic(margin: Any, *, base: float = 2.0) -> np.ndarray:
    """log(1 + exp(-margin)), in bits unless another base is given.

    >>> logistic([0.0]), logistic([0.0], base=np.e).round(3)
    (array([1.]), array([0.693]))
    """
    return np.logaddexp(0.0, -np.asarray(margin, np.float64)) / np.log(base)


LOSSES = {
    "zero-one": zero_one,
    "perceptron": perceptron,
    "hinge": hinge,
    "squared hinge": squared_hinge,
    "logistic": logistic,
}


def losses(
    names: Sequence[str] = ("zero-one", "hinge", "logistic"),
    *,
    low: float = -2.0,
    high: float = 3.0,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw losses against the margin.

    Parameters
    ----------
    names : sequence of {"zero-one", "perceptron", "hinge", "squared hinge", "logistic"}
    low, high : float
        The margins between which to draw.
    title : str, optional
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> ax = losses()
    >>> [line.get_label() for line in ax.get_lines() if line.get_label()[0] != "_"]
    ['zero-one', 'hinge', 'logistic']
    """
    unknown = [name for name in names if name not in LOSSES]
    if unknown or not len(names):
        raise ValueError(f"losses({list(names)}) needs some of {', '.join(LOSSES)}.")
    if not low < high or not np.isfinite([low, high]).all():
        raise ValueError(f"losses(low={low}, high={high}) needs low < high, both finite.")
    if ax is None:
        ax = new_axes(5.6, 3.8)
    margins = np.linspace(low, high, 501)
    if low < 0 < high:  # the step of the zero-one loss is upright, and on the border
        margins = np.unique(np.concatenate([margins, [0.0, np.nextafter(0.0, 1.0)]]))
    ax.axvline(0.0, color=FAINT, linewidth=1, zorder=0)
    ax.grid(color=FAINT, linewidth=0.5)
    quiet_frame(ax)
    top = 1.2
    for i, name in enumerate(names):
        values = LOSSES[name](margins)
        top = max(top, 1.04 * float(values.max()))
        color = NEUTRAL if name == "zero-one" else PALETTE[i % len(PALETTE)]
        ax.plot(margins, values, label=name, linewidth=2, color=color)
    ax.set_xlim(low, high)
    ax.set_ylim(-0.02 * top, top)
    ax.set_xlabel("margin: score of the true class less the best other")
    ax.set_ylabel("loss")
    ax.legend(frameon=False)
    title_and_note(ax, title)
    return ax

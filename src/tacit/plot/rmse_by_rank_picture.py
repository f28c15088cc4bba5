"""Error against rank: how long a factorization learns structure, and from where on noise."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import (
    FAINT,
    NEUTRAL,
    PALETTE,
    darker,
    new_axes,
    quiet_frame,
    title_and_note,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["rmse_by_rank"]


def rmse_by_rank(
    ratings: Any,
    ranks: Sequence[int],
    make: Callable[[int], Any],
    *,
    test: float = 0.2,
    random_state: Any = 0,
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the root mean squared error on training and test ratings against the rank.

    Parameters
    ----------
    ratings : Ratings
    ranks : sequence of int
    make : function of a rank
        The model to fit, e.g. ``lambda rank: ALS(rank, random_state=0)``.
    test : float
        The part of the ratings that is held out, at random.
    random_state, palette, title, ax
        As elsewhere.

    Examples
    --------
    >>> from tacit.recommend import ALS, Ratings
    >>> triples = [(u, i, (u + 1) * (i + 1) / 10) for u in range(9) for i in range(9)]
    >>> ax = rmse_by_rank(Ratings.of(triples), [1, 2], lambda k: ALS(k, random_state=0))
    >>> ax.get_xlabel(), len(ax.lines)
    ('rank', 2)
    """
    import warnings

    ranks = [int(rank) for rank in ranks]
    if not ranks or min(ranks) < 1:
        raise ValueError(f"rmse_by_rank needs ranks of at least 1, but got {ranks}.")
    train, held = ratings.split(test, random_state=random_state)
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some held-out items may be unknown
        for rank in ranks:
            model = make(rank).fit(train)
            errors.append((-model.score(train), -model.score(held)))
    if ax is None:
        ax = new_axes(6.5, 4.0)
    for column, (name, color) in enumerate((("training", NEUTRAL), ("test", palette[1]))):
        values = [each[column] for each in errors]
        ax.plot(
            ranks, values, color=color, lw=1.8, marker="o", markersize=5,
            markeredgecolor="white", label=name,
        )  # fmt: skip
        ax.annotate(
            name, (ranks[-1], values[-1]), (6, 0), textcoords="offset points", fontsize=9,
            color=darker(color), va="center",
        )  # fmt: skip
    ax.set_xlabel("rank")
    ax.set_ylabel("root mean squared error")
    if ranks[-1] >= 16 * ranks[0]:
        ax.set_xscale("log", base=2)
        ax.set_xticks(ranks, [str(rank) for rank in ranks])
    ax.margins(x=0.12)
    quiet_frame(ax)
    ax.yaxis.grid(True, color=FAINT, linewidth=0.6)
    best = int(np.argmin([each[1] for each in errors]))
    note = f"lowest test error {errors[best][1]:.4f} at rank {ranks[best]}; {test:.0%} held out"
    title_and_note(ax, title, note)
    return ax

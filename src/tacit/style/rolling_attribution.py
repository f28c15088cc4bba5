"""Attribution along a text: a window slides over it, and each place gets its nearest author.

Texts by several hands change the author at some word. The distance of a window from every
author's profile shows where, to within about half a window.

van Dalen-Oskam and van Zundert (2007), Delta for Middle Dutch. Literary and Linguistic
Computing 22. Eder (2016), Rolling stylometry. Digital Scholarship in the Humanities 31.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.style.authorship import Authorship

__all__ = ["Rolling", "Segment", "rolling"]


class Segment(NamedTuple):
    """A part of a text whose windows are nearest to one author."""

    start: int  # first word
    stop: int  # one past the last word
    author: Any
    margin: float  # mean of how much farther the next author is


@dataclass(frozen=True)
class Rolling:
    """The distances of the windows of one text from every author."""

    authors: list
    starts: np.ndarray  # (windows,) first word
    stops: np.ndarray  # (windows,) one past the last word
    distances: np.ndarray  # (windows, authors)

    @property
    def nearest(self) -> list:
        """The nearest author of every window."""
        return [self.authors[j] for j in self.distances.argmin(axis=1)]

    @property
    def margins(self) -> np.ndarray:
        """(windows,) how much farther the second author is than the first."""
        two = np.partition(self.distances, 1, axis=1)
        return two[:, 1] - two[:, 0]

    def segments(self) -> list[Segment]:
        """Neighboring windows of one author as parts of the text.

        A part ends halfway between the middles of the windows on either side.
        """
        best = self.distances.argmin(axis=1)
        changes = np.flatnonzero(np.diff(best)) + 1
        middles = (self.starts + self.stops) / 2
        inner = np.round((middles[changes - 1] + middles[changes]) / 2).astype(np.int64)
        edges = [int(self.starts[0]), *inner.tolist(), int(self.stops[-1])]
        pieces = np.split(np.arange(len(best)), changes)
        margins = self.margins
        return [
            Segment(
                edges[i], edges[i + 1], self.authors[best[piece[0]]],
                float(margins[piece].mean()),
            )
            for i, piece in enumerate(pieces)
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "authors": [str(author) for author in self.authors],
            "starts": self.starts.tolist(),
            "stops": self.stops.tolist(),
            "distances": self.distances.tolist(),
            "segments": [
                {**each._asdict(), "author": str(each.author)} for each in self.segments()
            ],
        }


def rolling(
    model: Authorship, text: str, *, window: int | None = None, step: int | None = None
) -> Rolling:
    """Attribute every part of a text.

    Parameters
    ----------
    model : Authorship, fitted
    text : str
    window : int or None
        Words of a window; the model's block by default, or 5000. Shorter windows place a
        change of author better and are less sure of the author.
    step : int or None
        Words from one window to the next; a tenth of the window by default.

    Examples
    --------
    >>> land, sea = "the cow of the barn and the hay ", "a ship on a sea or a rock on a wave "
    >>> model = Authorship(["the", "of", "and", "a/an", "on", "or"], block=None)
    >>> model = model.fit([land, land, sea, sea], ["Ann", "Ann", "Bob", "Bob"])
    >>> rolled = rolling(model, 20 * land + 20 * sea, window=40, step=10)
    >>> [(part.author, round(part.stop, -1)) for part in rolled.segments()]
    [('Ann', 160), ('Bob', 380)]
    """
    if not isinstance(text, str):
        raise TypeError(f"rolling takes one text as str, but got {type(text).__name__}.")
    size = window or model.block or 5000
    pace = step or max(1, size // 10)
    if size < 1 or pace < 1:
        raise ValueError(f"rolling(window={window}, step={step}) must be numbers of words.")
    found = model._count([text], ["0"], step=pace, size=size)
    return Rolling(
        model.classes_.tolist(), found.starts, found.starts + found.lengths,
        model.row_distances(found.frequencies),
    )  # fmt: skip

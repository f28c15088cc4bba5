"""What a pass over the data collects, and how two of them add up."""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

__all__ = ["Stats", "tree_sum"]

T = TypeVar("T")


@dataclass(frozen=True)
class Stats:
    """Base class of every model's sufficient statistics.

    ``a + b`` is what one pass would have collected from a's rows followed by
    b's rows, and ``3 * a`` from a's rows three times over. Fields are arrays,
    numbers or other Stats, and add field by field; a statistic that merges some
    other way (a maximum, a mean) overrides both.

    Not a NamedTuple on purpose: ``+`` on tuples concatenates, without a word.
    """

    def __add__(self, other: Any) -> Self:
        return type(self)(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(self))
        )

    def __rmul__(self, scale: float) -> Self:
        return type(self)(*(scale * getattr(self, f.name) for f in fields(self)))


def tree_sum(items: Iterable[T], add: Callable[[T, T], T] = operator.add) -> T:
    """Add the items pairwise, in a tree fixed by their number alone.

    Every engine sums with this function, so none of them can change the answer:
    the order of additions depends on the blocks, never on who finished first.
    Holds O(log n) partial sums; rounding error grows as O(log n) too.

    >>> tree_sum("abcde", lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    partial: list[tuple[int, T]] = []  # (height, sum), heights falling from left to right
    for item in items:
        height = 0
        while partial and partial[-1][0] == height:
            item = add(partial.pop()[1], item)
            height += 1
        partial.append((height, item))
    if not partial:
        raise ValueError("There is nothing to add: the data has no blocks.")
    _, total = partial.pop()
    while partial:
        total = add(partial.pop()[1], total)
    return total

"""What adding to a fitted model did, and how far the result is from a new fit."""

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

__all__ = ["Receipt"]


@dataclass(frozen=True)
class Receipt:
    """How well what was added fits the model that was there.

    ``refit_distance`` is 0 where the new items fit as well as the fitted ones would have, had
    they come later; 1 where the model has nothing to say about them.

    >>> print(Receipt(added=3, refit_distance=0.02, advice="No need to refit."))
    3 added, refit distance 0.020. No need to refit.
    """

    added: int
    refit_distance: float
    advice: str
    inside: float = 1.0  # share of the new items' weight that the model holds
    expected: float = 1.0  # what it would hold of the fitted items, had they come later
    unknown: float = 0.0  # share of the new items that the model has no name for

    def to_dict(self) -> dict[str, Any]:
        """The receipt as JSON would have it."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.added:,} added, refit distance {self.refit_distance:.3f}. {self.advice}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"

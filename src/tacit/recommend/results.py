"""What recommenders answer: ranked items, explanations, receipts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = [
    "Explanation", "Receipt", "Recommendations", "Scored", "Support", "UnknownIdWarning",
]  # fmt: skip


class UnknownIdWarning(UserWarning):
    """Users or items that the model does not know were answered by the bias model."""


class Scored(NamedTuple):
    """An item or a user, and its score."""

    id: Any
    score: float


@dataclass(frozen=True)
class Recommendations:
    """Items or users, the best first.

    >>> print(Recommendations("ann", [Scored("Alien", 4.512)]))
    4.512  Alien
    """

    wanted: Any  # the user or item that was asked about
    scored: list[Scored]
    notes: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Scored]:
        return iter(self.scored)

    def __len__(self) -> int:
        return len(self.scored)

    def __getitem__(self, place: int) -> Scored:
        return self.scored[place]

    @property
    def ids(self) -> list:
        """The ids alone."""
        return [each.id for each in self.scored]

    def __str__(self) -> str:
        rows = [f"{each.score:.3f}  {each.id}" for each in self.scored]
        return "\n".join([*rows, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        scored = [{"id": each.id, "score": each.score} for each in self.scored]
        return {"for": self.wanted, "ranked": scored, "notes": self.notes}


class Support(NamedTuple):
    """A rating of the user, and how much it adds to a prediction."""

    item: Any
    rating: float
    contribution: float


@dataclass(frozen=True)
class Explanation:
    """A prediction as a sum: mean, biases, and a term for each rating of the user.

    ``others`` is the sum of the terms that are not listed, ``rest`` what no term accounts for:
    0 up to rounding for alternating least squares, whose user factors are linear in the
    ratings.
    """

    user: Any
    item: Any
    prediction: float
    mean: float
    user_bias: float
    item_bias: float
    support: list[Support]  # the largest contributions first
    others: float
    rest: float
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{self.prediction:.3f} for user {self.user!r} and item {self.item!r}: mean "
            f"{self.mean:.3f}, user {self.user_bias:+.3f}, item {self.item_bias:+.3f}"
        ]
        lines += [
            f"{each.contribution:+.3f}  {each.item} (rated {each.rating:g})"
            for each in self.support
        ]
        if abs(self.others) > 5e-4:
            lines.append(f"{self.others:+.3f}  all other ratings of the user")
        if abs(self.rest) > 5e-4:
            lines.append(f"{self.rest:+.3f}  not explained by single ratings")
        return "\n".join([*lines, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "support": [each._asdict() for each in self.support]}


@dataclass(frozen=True)
class Receipt:
    """What adding users or items without a refit costs.

    ``refit_distance`` estimates how far predictions for the new ones lie from those of a
    refit, root mean square, in units of the ratings: how far apart they are when the other side
    is solved with and without the new ratings.
    """

    added: int
    ratings: int
    refit_distance: float
    rmse: float  # on the new ratings, which the fold-in has seen
    advice: str

    def __str__(self) -> str:
        return (
            f"{self.added:,} added with {self.ratings:,} ratings; about "
            f"{self.refit_distance:.3f} from a refit. {self.advice}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))

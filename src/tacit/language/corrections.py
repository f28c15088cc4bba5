"""Results of a corrector: suggestions for a word, changes to a text, ranked sentences."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

__all__ = ["Change", "Choice", "Correction", "Suggestion", "explain_edits"]


@dataclass(frozen=True)
class Suggestion:
    """A word that may have been meant.

    >>> print(Suggestion("their", 0.93, 1, 4.2, 210))
    their  0.930
    """

    word: str
    probability: float  # among the suggestions considered
    distance: int  # edits
    cost: float  # of those edits, in nats
    count: int  # in the text that the model was fitted on

    def to_dict(self) -> dict[str, Any]:
        """The suggestion as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.word}  {self.probability:.3f}"


@dataclass(frozen=True)
class Change:
    """One replaced word of a text: where, by what, and why."""

    start: int
    stop: int
    before: str
    after: str
    kind: str  # "unknown word" or "real word"
    probability: float  # that this, among what was considered, was meant
    reason: str
    alternatives: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The change as plain values."""
        return {**asdict(self), "alternatives": list(self.alternatives)}

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}  ({self.reason})"


@dataclass(frozen=True)
class Correction:
    """A corrected text, and what was changed in it.

    >>> change = Change(0, 3, "Teh", "The", "unknown word", 0.99, "swapped e and h")
    >>> done = Correction("The end", "Teh end", (change,))
    >>> print(done)
    The end
    >>> print(done.changes[0])
    Teh -> The  (swapped e and h)
    """

    text: str
    original: str
    changes: tuple[Change, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON would have it."""
        return {
            "text": self.text,
            "original": self.original,
            "changes": [change.to_dict() for change in self.changes],
        }

    def marked(self, before: str = "[", between: str = " -> ", after: str = "]") -> str:
        """The original with every change written into it.

        >>> change = Change(0, 3, "Teh", "The", "unknown word", 0.99, "")
        >>> Correction("The end", "Teh end", (change,)).marked()
        '[Teh -> The] end'
        """
        return "".join(
            part if change is None else f"{before}{part}{between}{change.after}{after}"
            for part, change in self._parts()
        )

    def _parts(self) -> Iterable[tuple[str, Change | None]]:
        at = 0
        for change in self.changes:
            yield self.original[at : change.start], None
            yield self.original[change.start : change.stop], change
            at = change.stop
        yield self.original[at:], None

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        parts = (
            escape(part)
            if change is None
            else f'<del>{escape(part)}</del> <ins title="{escape(change.reason)}">'
            f"{escape(change.after)}</ins>"
            for part, change in self._parts()
        )
        return f'<p style="white-space: pre-wrap">{"".join(parts)}</p>'


@dataclass(frozen=True)
class Choice:
    """One of several sentences, and how likely it is.

    >>> print(Choice("recognize speech", 0, -20.5, 0.98))
    0.980  recognize speech
    """

    sentence: str
    index: int  # among the candidates
    score: float  # its log probability, other evidence included, in nats
    probability: float  # among the candidates

    def to_dict(self) -> dict[str, Any]:
        """The choice as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.probability:.3f}  {self.sentence}"


def explain_edits(intended: str, typed: str) -> str:
    """The edits between a word and how it was typed, in words.

    >>> explain_edits("their", "thier"), explain_edits("accommodate", "acommodate")
    ('i and e swapped', 'c left out')
    >>> explain_edits("a lot", "alot"), explain_edits("separate", "seperatte")
    ('space left out', 'e for a, t added')
    """
    from tacit.text.edit_distance import alignment

    phrases = []
    for edit in alignment(intended, typed, transpose=True).script:
        old, new = ("space" if part == " " else part for part in (edit.old, edit.new))
        if edit.action == "substitute":
            phrases.append(f"{new} for {old}")
        elif edit.action == "insert":
            phrases.append(f"{new} added")
        elif edit.action == "delete":
            phrases.append(f"{old} left out")
        elif edit.action == "transpose":
            phrases.append(f"{edit.new[0]} and {edit.new[1]} swapped")
    return ", ".join(phrases)

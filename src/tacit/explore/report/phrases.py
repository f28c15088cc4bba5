"""Parts that the sentences of the report are put together from. What they return is HTML."""

from html import escape
from typing import Any, NamedTuple

from tacit.explore.project.settings import Settings
from tacit.explore.report.report_data import ReportData
from tacit.explore.stages.groups import STABILITY_ROWS

__all__ = [
    "Told", "count", "joined", "label", "left_out", "listing", "many", "minus", "number",
    "pairs", "percent", "plain", "quoted", "share_of",
]  # fmt: skip

NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip


class Told(NamedTuple):
    """What sentences are made from."""

    name: str
    data: ReportData
    settings: Settings
    result: str  # hash

    @property
    def meta(self) -> dict[str, Any]:
        return self.data.meta

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        return self.data.facts

    def groups(self, verdict: str | None = None) -> list[tuple[int, dict[str, Any]]]:
        """Groups with a verdict and their places, the largest first."""
        every = [] if not self.meta["grouped"] else list(enumerate(self.meta["groups"]))
        some = [(i, g) for i, g in every if verdict in (None, g["lvl"])]
        return sorted(some, key=lambda item: -item[1]["n"])


def left_out(told: Told) -> str:
    """What is left out in a repeat."""
    if 0.8 * told.meta["total"] > STABILITY_ROWS:
        return f"only {STABILITY_ROWS:,} documents drawn at random are used"
    return "a fifth of the documents is left out"


def listing(what: str, groups: list[tuple[int, dict[str, Any]]], most: int) -> str:
    """A sentence with links to the first groups of a list."""
    links = [
        f'<a href="#groups" data-group="{i}"><bdi>{escape(label(group, 2))}</bdi></a>'
        for i, group in groups[:most]
    ]
    if len(links) == 1:
        return f"It is {links[0]}."
    every = len(groups) <= most
    return f"{'They are' if every else f'The {what} are'} {joined(links)}."


def label(group: dict[str, Any], words: int) -> str:
    """The first words of the name of a group."""
    return "\u00a0·\u00a0".join(group["name"][:words])


def quoted(group: dict[str, Any]) -> str:
    """The first word of the name of a group, between quotes."""
    return f"“<bdi>{escape(group['name'][0])}</bdi>”"


def plain(reasons: list[str]) -> str:
    """What choose_k says, in the words of the page."""
    text = " ".join(reasons).replace("clusters", "groups").replace("cluster", "group")
    return escape(text.replace(" rows", " documents"))


def joined(parts: list[str]) -> str:
    """Parts as "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def pairs(rows: list[tuple[str, str]]) -> str:
    """Rows of a list with two columns."""
    return "".join(f"<span>{escape(a)}</span><span>{escape(b)}</span>" for a, b in rows)


def many(groups: list) -> str:
    """The verb for so many groups."""
    return "group is" if len(groups) == 1 else "groups are"


def count(n: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "word"), count(2000, "word")
    ('1 word', '2,000 words')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def number(n: int) -> str:
    """A number as a word if it is small.

    >>> number(7), number(70)
    ('seven', '70')
    """
    return NUMBERS[n] if n < len(NUMBERS) else f"{n:,}"


def share_of(groups: list[tuple[int, dict[str, Any]]], total: int) -> str:
    """The share of the documents that are in these groups."""
    return percent(sum(group["n"] for _, group in groups) / max(total, 1))


def percent(share: float) -> str:
    """A share as whole percents."""
    return f"{100 * share:.0f}%"


def minus(value: float) -> str:
    """A number with a true minus sign, and none before zero.

    >>> minus(-0.5), minus(-0.001)
    ('−0.50', '0.00')
    """
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")

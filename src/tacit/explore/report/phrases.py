"""Parts of the sentences of the report: numbers, lists, names of groups. They return HTML."""

from html import escape
from typing import Any

from tacit.core.wording import count
from tacit.explore.stages.groups import STABILITY_ROWS

__all__ = [
    "UNSPACED", "column_name", "count", "group_name", "joined", "joined_names", "minus",
    "number", "pairs", "percent", "plain", "sampled", "section", "small_percent", "the_groups",
    "the_period", "verb", "whole", "words_in",
]  # fmt: skip

UNSPACED = (
    "In text without spaces between words, every two neighboring characters count as a word."
)
NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip


def section(id: str, title: str, heading: str, lead: str, body: str) -> str:
    """A section of the page with its heading and a lead of HTML."""
    return (
        f'<section class="wrap" id="{id}" aria-labelledby="h-{id}">\n<div class="shead">'
        f'<p class="kick">{title}</p><h2 id="h-{id}">{heading}</h2>\n{lead}</div>\n'
        f"{body}\n</section>\n"
    )


def group_name(group: dict[str, Any], words: int = 2) -> str:
    """The first words of the name of a group, in italics: a group is not one of its words."""
    return f"<em><bdi>{escape(', '.join(group['name'][:words]))}</bdi></em>"


def the_groups(groups: list[dict[str, Any]]) -> str:
    """One group or several, called groups.

    >>> the_groups([{"name": ["sea", "ship"]}])
    'the group <em><bdi>sea, ship</bdi></em>'
    """
    names = joined_names([group_name(group) for group in groups])
    return f"{verb(len(groups), 'the group', 'the groups')} {names}"


def joined_names(names: list[str]) -> str:
    """Names with commas inside, as "a, b; c, d; and e, f"."""
    if len(names) < 3:
        return " and ".join(names)
    return f"{'; '.join(names[:-1])}; and {names[-1]}"


def column_name(name: str) -> str:
    """A column or a word from the documents, between quotes."""
    return f"“<bdi>{escape(name)}</bdi>”"


def words_in(listed: list[dict[str, Any]], most: int, noun: str = "") -> str:
    """The first words of a list, between quotes, after a noun."""
    words = joined([column_name(each["word"]) for each in listed[:most]])
    return f"{verb(len(listed), noun, f'{noun}s')} {words}" if noun else words


def sampled(total: int) -> str:
    """Which documents a repeat of the grouping has."""
    if 0.8 * total > STABILITY_ROWS:
        return f"with {STABILITY_ROWS:,} documents drawn at random"
    return "without a fifth of the documents"


def plain(reasons: list[str]) -> str:
    """The reasons of choose_k in the words of the page."""
    text = " ".join(reasons).replace("clusters", "groups").replace("cluster", "group")
    return escape(text.replace(" rows", " documents"))


def joined(parts: list[str]) -> str:
    """Parts as "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def pairs(rows: list[tuple[str, str]]) -> str:
    """Rows of a list with two columns."""
    return "".join(f"<span>{escape(a)}</span><span>{escape(b)}</span>" for a, b in rows)


def verb(n: int, one: str, many: str) -> str:
    """The form of a verb or noun for a number."""
    return one if n == 1 else many


def number(n: int) -> str:
    """A number as a word if it is small.

    >>> number(7), number(70)
    ('seven', '70')
    """
    return NUMBERS[n] if n < len(NUMBERS) else f"{n:,}"


def the_period(name: str) -> str:
    """A period of time inside a sentence.

    >>> the_period("1920s"), the_period("1921")
    ('the 1920s', '1921')
    """
    return f"the {name}" if name.endswith("s") else name


def percent(fraction: float) -> str:
    """A fraction in whole percent."""
    return f"{100 * fraction:.0f}%"


def small_percent(fraction: float) -> str:
    """A fraction in percent that never rounds something to nothing or to all.

    >>> small_percent(0.005), small_percent(0.998), small_percent(0.5), small_percent(1.0)
    ('<1%', '>99%', '50%', '100%')
    """
    if 0 < fraction <= 0.005:
        return "<1%"
    return ">99%" if 0.995 <= fraction < 1 else percent(fraction)


def whole(value: float) -> int:
    """The nearest whole number, halves up as the charts round them.

    >>> whole(162.5), whole(163.5)
    (163, 164)
    """
    return int(value + 0.5)


def minus(value: float) -> str:
    """A number with a true minus sign, and none before zero.

    >>> minus(-0.5), minus(-0.001)
    ('−0.50', '0.00')
    """
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")

"""Texts that may go on a page, without controls, of one line, and cut; and the titles of
documents: a column of them, or their first line."""

import math
import re
from collections import Counter
from typing import Any

from tacit.explore.stages.cleaning import SAME_TITLE, clean_markup, reply_to, without_site

__all__ = [
    "OPENING", "TITLE", "TITLES", "clean_line", "clean_text", "cut", "given_titles",
    "title_and_opening",
]  # fmt: skip

TITLE, OPENING = 90, 170  # characters
TITLES = ("title", "subject", "headline", "name", "heading")  # columns that name documents
READ = 2000  # characters of a document that are read
ADDRESS = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
# Characters that reorder or hide what follows. Joiners, which scripts and emoji need, stay.
HIDDEN = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b.?")
CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufffe\uffff]")  # others are spaces
SURROGATES = re.compile("[\ud800-\udfff]")  # lone halves of a pair
QUOTED = re.compile(r"[>|]|In (?:article|<)|.{0,200}\b(?:writes?|wrote):?$")  # in messages
RULED = re.compile(r"^[\W_]+$")


def clean_text(text: str) -> str:
    r"""The text with its lines, without control characters, reorderings and half characters.

    >>> clean_text("red \x1b[31malert\x00\r\n\u202eevil")
    'red alert\nevil'
    """
    if text.isprintable():
        return text
    text = HIDDEN.sub("", ESCAPES.sub("", text)).replace("\r\n", "\n").replace("\r", "\n")
    return SURROGATES.sub("\ufffd", CONTROLS.sub("", text))


def clean_line(text: str) -> str:
    r"""One line without control characters, reorderings and half characters.

    >>> clean_line("red \x1b[31malert\x00\n\u202eevil")
    'red alert evil'
    """
    return " ".join(clean_text(text).split())


def cut(text: str, most: int) -> str:
    """At most ``most`` characters, cut at the end of a word where one is near.

    >>> cut("one two three four", 16)
    'one two three…'
    """
    if len(text) <= most:
        return text
    short = text[: most - 1]
    space = most if text[most - 1] == " " else short.rfind(" ")
    return (short[:space] if space > most * 0.6 else short).rstrip(" ,;:.-") + "…"


def title_and_opening(text: str, title: str | None = None) -> tuple[str, str]:
    """What to call a document, and how it goes on: its first line and what follows, or its
    text where there is a title.

    >>> title_and_opening("Moby Dick\\n\\nCall me Ishmael.")
    ('Moby Dick', 'Call me Ishmael.')
    >>> title_and_opening("One line alone says it all.")
    ('One line alone says it all.', '')
    >>> title_and_opening("The whale\\n\\n> Is it?\\nIt is white.", "Re: The whale")
    ('Re: The whale', 'It is white.')
    """
    named = clean_line(without_addresses(title[:READ])) if title is not None else ""
    enough = OPENING + 2 * len(reply_to(named))
    lines = first_lines(without_addresses(text[:READ]), enough)
    if named:
        if lines and lines[0] in (named, reply_to(named)):
            del lines[0]
        following = " ".join(lines[begin_of(lines) :])
        following = following.removeprefix(named).removeprefix(reply_to(named))
        return cut(named, TITLE), cut(following.lstrip(), OPENING)
    if not lines:
        return "", ""
    first = begin_of(lines)
    name = cut(lines[first], TITLE)
    following = " ".join(lines[first + 1 :] or lines[:first])
    if name != lines[first]:  # the line goes on where the title was cut
        following = f"…{lines[first][len(name) - 1 :]} {following}"
    return name, cut(following.strip(), OPENING)


def without_addresses(text: str) -> str:
    """The text without addresses of e-mail."""
    return ADDRESS.sub("[address]", text) if "@" in text else text


def begin_of(lines: list[str]) -> int:
    """The first line that is not quoted from another message."""
    return next((i for i, line in enumerate(lines) if not QUOTED.match(line)), 0)


def first_lines(text: str, enough: int) -> list[str]:
    """The lines with something to read, until those after the first have ``enough``
    characters; what is quoted does not count, and rules of dashes and the like are none."""
    lines, read = [], -math.inf
    for line in map(clean_line, text.splitlines()):
        if line and not RULED.match(line):
            lines.append(line)
            if not QUOTED.match(line):
                read = max(read + len(line), 0)
                if read > enough:
                    break
    return lines


def given_titles(documents: Any) -> list[str | None] | None:
    """What documents are called by the columns that name them, if there is one; a name that
    many documents share, such as "Untitled", is none."""
    names = {str(name).lower(): name for name in documents.columns}
    columns = [documents.column(names[each]) for each in TITLES if each in names]
    if not columns:
        return None
    rows = (next((v for v in row if v and v == v), None) for row in zip(*columns, strict=True))
    titles = without_site(["" if v is None else clean_markup(str(v)) for v in rows])
    often, most = Counter(titles), max(3, SAME_TITLE * len(titles))
    return [title if title and often[title] <= most else None for title in titles]

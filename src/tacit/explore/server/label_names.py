"""What a label may be called: names that can be shown, and none that is taken by accident."""

import unicodedata
from collections.abc import Mapping
from typing import Any

from tacit.explore.server.parameters import short

__all__ = ["MOST_NAME", "NameTaken", "NoLabel", "check_rename", "check_there", "clean_name"]

MOST_NAME = 200  # characters
MOST_TOLD = 5  # names in a sentence


class NoLabel(ValueError):
    """A label that no document has."""


class NameTaken(ValueError):
    """A new name that another label has, or nearly."""


def clean_name(name: Any, what: str = "name") -> str:
    """A name as it is kept: with single spaces, and nothing that cannot be shown.

    >>> clean_name("  sea \\n letters ")
    'sea letters'
    """
    check_text(name, what)
    if len(name) > MOST_NAME:
        raise ValueError(f"{what} has {len(name):,} characters; give at most {MOST_NAME:,}.")
    clean = " ".join(name.split())
    if not clean:
        raise ValueError(f"{what} is empty; give some text.")
    if not clean.isprintable():
        raise ValueError(f"{what} holds characters that cannot be shown; use plain text.")
    return clean


def check_text(name: Any, what: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} must be text, not {type(name).__name__}.")


def check_there(names: Mapping[str, int], name: str) -> None:
    """Refuse a label that no document has; ``names`` are those there are, with how many."""
    check_text(name, "name")
    if name in names:
        return
    told = [short(each) for each in sorted(names)[:MOST_TOLD]]
    rest = len(names) - len(told)
    there = ", ".join(told) + (f" and {rest:,} more" if rest else "")
    raise NoLabel(
        f"There is no label {short(name)}; "
        + (f"there are {there}." if told else "no document has one.")
    )


def check_rename(names: Mapping[str, int], name: str, to: str, merge: bool) -> None:
    """Refuse a new name that is the old one, another label's unless they are to be merged,
    or nearly another label's: nobody could tell the two apart.

    >>> check_rename({"sea": 3, "Bread": 2}, "sea", "bread", False)
    Traceback (most recent call last):
    ...
    tacit.explore.server.label_names.NameTaken: A label 'Bread' is there already ...
    """
    check_there(names, name)
    if to == name:
        raise ValueError(f"The label is called {short(to)} already; give another name.")
    if to in names:
        if not merge:
            raise NameTaken(
                f"A label {short(to)} is there already ({documents(names[to])}). Choose "
                f"another name, or merge: {documents(names[name])} would change from "
                f"{short(name)} to {short(to)}."
            )
        return
    like = next((n for n in sorted(names) if n != name and folded(n) == folded(to)), None)
    if like is not None:
        how = "case" if like.casefold() == to.casefold() else "how its letters are coded"
        raise NameTaken(
            f"A label {short(like)} is there already ({documents(names[like])}), and "
            f"{short(to)} differs from it only in {how}. Merge into it under its own name, "
            "or choose another."
        )


def folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def documents(count: int) -> str:
    return f"{count:,} document{'' if count == 1 else 's'}"

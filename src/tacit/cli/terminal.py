"""What reaches the terminal: cleaned of controls, notes apart from results.

Results go to standard output, everything said about them to standard error. Texts that come
from data, from file names or from errors may hold anything; they pass through ``clean``.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["clean", "console", "print_json", "say"]

ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles
    r"|\x1b[ -/]*[0-~]?"
)
# Format characters that reorder what follows; joiners, which scripts and emoji need, stay.
UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
REORDER = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def clean(text: object) -> str:
    r"""Text without terminal escapes, control characters and reorderings.

    >>> clean("\x1b[31mred\x1b[0m and \x07loud\r\nsecond line")
    'red and loud\nsecond line'
    """
    out = []
    for character in ESCAPE.sub("", str(text)):
        kind = unicodedata.category(character)
        if kind == "Cs":  # half a character; printing it would fail
            out.append("\ufffd")
        elif character in "\n\t" or (kind != "Cc" and ord(character) not in REORDER):
            out.append(character)
    return "".join(out)


def say(*lines: object, quiet: bool = False) -> None:
    """Tell the person at the terminal something, beside the results."""
    if not quiet:
        for line in lines:
            click.echo(clean(line), err=True)


def console(*, stderr: bool = False) -> "Console":
    """Where tables and pictures are drawn. Obeys NO_COLOR and the terminal's width."""
    from rich.console import Console

    class Page(Console):
        def on_broken_pipe(self) -> None:
            raise  # rich would exit with 1, but a reader that left is no fault

    stream = sys.stderr if stderr else sys.stdout
    # Data is never markup: a column called [bold] is a column called [bold].
    return Page(file=stream, markup=False, emoji=False, highlight=False)


def print_json(document: dict[str, Any]) -> None:
    """One JSON document on standard output, in one piece."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    text = text.encode("utf-8", "replace").decode()
    # Still the same document, but nothing in it can move the cursor or turn the line round.
    click.echo(UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def can_print(characters: Iterable[str]) -> bool:
    """Whether standard output's encoding knows these characters."""
    try:
        "".join(characters).encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True

"""Word lists: those that come with Tacit, and files in the usual shapes.

    one word or phrase a line          weight 1; lines that begin with ; or # are comments
    word <TAB> weight                  further columns are ignored
    CSV: word,weight                   with or without a line of column names, quotes allowed

The lists in the package were written for it: English words of praise and blame, words that
turn around or weigh what follows, and function words of ten languages.
"""

import csv
import io
import math
import os
from functools import cache
from importlib import resources
from pathlib import Path

from tacit.core.errors import DataError

__all__ = ["LANGUAGES", "own_list", "parse_lexicon", "read_lexicon"]

LANGUAGES = ("de", "en", "es", "fi", "fr", "it", "nl", "pl", "pt", "sv")
NAMES = {"word", "term", "token", "lemma", "phrase", "words"}  # of a first column


def read_lexicon(path: str | os.PathLike) -> dict[str, float]:
    """Read a word list from a file: words in lower case, and their weights.

    UTF-8 with or without a byte order mark; where that cannot be, Latin-1, which older lists
    are in. A word that comes twice with different weights is an error with its line.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "list.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("; kind words\\ngood\\t1.5\\nwell done\\t2\\n")
    >>> read_lexicon(path)
    {'good': 1.5, 'well done': 2.0}
    """
    raw = Path(path).read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return parse_lexicon(text, source=str(path))


def parse_lexicon(text: str, source: str | None = None) -> dict[str, float]:
    """The words and weights of a list that was read already."""
    lines = enumerate(text.splitlines(), 1)
    rows = [(i, line) for i, line in lines if line.strip() and line.lstrip()[0] not in ";#"]
    tabbed = any("\t" in line for _, line in rows)
    commas = not tabbed and any("," in line for _, line in rows)
    found: dict[str, float] = {}
    for place, (i, line) in enumerate(rows):
        cells = line.split("\t") if tabbed else [line]
        if commas:
            cells = next(csv.reader(io.StringIO(line)))
        word = " ".join(cells[0].casefold().split()).replace("’", "'")
        if place == 0 and word in NAMES and len(cells) > 1 and not is_number(cells[1]):
            continue  # column names
        if not word:
            raise DataError("The word is missing.", file=source, row=i)
        weight = weight_of(cells, source, i)
        if found.get(word, weight) != weight:
            raise DataError(
                f"The word {word!r} has the weight {weight:g} here and {found[word]:g} above. "
                "Keep one of them.",
                file=source,
                row=i,
            )
        found[word] = weight
    if not found:
        raise DataError("There are no words in this list.", file=source)
    return found


def weight_of(cells: list[str], source: str | None, row: int) -> float:
    if len(cells) < 2 or not cells[1].strip():
        return 1.0
    if not is_number(cells[1]):
        raise DataError(
            f"The weight {cells[1].strip()!r} of {cells[0]!r} is not a number. Give one, or "
            "leave it out for 1.",
            file=source,
            row=row,
        )
    return float(cells[1])


def is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


@cache
def own_list(name: str) -> dict[str, float]:
    """A list of the package: "sentiment_positive", "negators", "languages/de", ...

    The dictionary is shared; copy it before changing it.
    """
    place = resources.files("tacit.classify").joinpath("lists", *f"{name}.txt".split("/"))
    return parse_lexicon(place.read_text(encoding="utf8"), source=f"{name}.txt")

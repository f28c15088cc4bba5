"""Columns from the names of folders and files: 1921/letters/..., author__year__title.txt."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

__all__ = ["columns_of_names", "title_of_name"]

MOST = 0.8  # of the files must be named by one pattern, in the folders where some are
DATED = re.compile(r"((?:1[5-9]|20)\d\d-[01]\d(?:-[0-3]\d)?)[ _.-]")
YEAR = re.compile(r"(?:1[0-9]|20)\d\d")
SUFFIXES = re.compile(r"(?:\.[A-Za-z0-9]{1,8}){1,2}(?:#\d+)?$")


def columns_of_names(
    ids: Sequence[str], fields: Sequence[dict[str, str]], guessed: list[str]
) -> list[dict[str, str]]:
    """The ``fields`` of files and those in their paths; ``guessed`` gets a sentence about part
    pattern.

    >>> said = []
    >>> paths = ["oz/baum__1900__the_wizard.txt", "oz/baum__1904__the_land.txt",
    ...          "sea/melville__1851__moby_dick.txt"]
    >>> for row in columns_of_names(paths, [{}, {}, {}], said): print(row)
    {'folder': 'oz', 'author': 'baum', 'year': '1900', 'title': 'the wizard'}
    {'folder': 'oz', 'author': 'baum', 'year': '1904', 'title': 'the land'}
    {'folder': 'sea', 'author': 'melville', 'year': '1851', 'title': 'moby dick'}
    >>> said[1]
    "the names of the files are 'author__year__title'"
    """
    rows, paths = [dict(row) for row in fields], [PurePosixPath(id) for id in ids]
    for depth, name in enumerate(("folder", "subfolder")):
        values = [p.parts[depth] if len(p.parts) > depth + 1 else None for p in paths]
        if len(set(values) - {None}) > 1:
            guessed.append(f"the column {name!r} is the name of the folder")
            fill(rows, name, values)
    stems = [stem_of(path.name) for path in paths]
    parts = [stem.split("__") for stem in stems]
    sizes = [len(part) for part in parts if len(part) > 1]
    usual = max(set(sizes), key=sizes.count) if sizes else 0
    if usual and follow(paths, [len(part) == usual for part in parts]):
        columns = [[p[i] if len(p) == usual else None for p in parts] for i in range(usual)]
        names = names_of_parts(columns)
        named = sizes.count(usual)
        which = "the files" if named == len(parts) else f"{named} files"
        guessed.append(f"the names of {which} are {'__'.join(names)!r}")
        for name, values in zip(names, columns, strict=True):
            fill(rows, name, [None if v is None else v.replace("_", " ") for v in values])
    dated = [DATED.match(stem) for stem in stems]
    if follow(paths, list(map(bool, dated))):
        guessed.append("the names of the files begin with a date")
        fill(rows, "date", [match and match.group(1) for match in dated])
    return rows


def follow(paths: Sequence[PurePosixPath], fit: Sequence[bool]) -> bool:
    """Whether most files follow a pattern, in the folders where one does.

    >>> folder = [PurePosixPath(path) for path in ("a/x__1", "a/y__2", "b/z", "b/v")]
    >>> follow(folder, [True, True, False, False]), follow(folder, [True, False, True, False])
    (True, False)
    """
    folders = {path.parent for path, fits in zip(paths, fit, strict=True) if fits}
    neighbors = sum(path.parent in folders for path in paths)
    return sum(fit) >= max(2, MOST * neighbors)


def fill(rows: list[dict[str, str]], name: str, values: Sequence[str | None]) -> None:
    """Values of a column where the file itself gives none."""
    for row, value in zip(rows, values, strict=True):
        if value:
            row.setdefault(name, value)


def names_of_parts(columns: list[list[str | None]]) -> list[str]:
    """What the parts of file names are called: a year, a title where all differ, an author."""
    names: list[str] = []
    for i, column in enumerate(columns):
        values = [v for v in column if v]
        if "year" not in names and values and all(YEAR.fullmatch(v) for v in values):
            names.append("year")
        elif "date" not in names and values and all(DATED.match(f"{v}_") for v in values):
            names.append("date")
        elif i == len(columns) - 1 and len(set(values)) == len(values):
            names.append("title")
        else:
            names.append("author" if i == 0 else f"name_{i + 1}")
    return names


def stem_of(name: str) -> str:
    return SUFFIXES.sub("", name) or name


def title_of_name(path: str) -> str:
    """The name of a file as a title.

    >>> title_of_name("letters/2019-03-14_to_anna.txt")
    '2019-03-14 to anna'
    """
    return " ".join(re.sub(r"[_]+", " ", stem_of(PurePosixPath(path).name)).split())

"""The docstrings of the installed scientific packages: thousands of real documents, on every
machine that has Tacit, about algebra, statistics, signals, tables and machine learning.

Source files are read, never imported, so nothing runs and nothing is downloaded.
"""

import ast
import importlib.util
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from tacit.datasets.catalog import Dataset

__all__ = ["PACKAGES", "docstrings"]

PACKAGES = (
    "numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "dask", "polars", "networkx",
    "statsmodels", "sympy", "xarray",
)  # fmt: skip
SKIPPED = frozenset({"tests", "test", "testing", "conftest.py", "setup.py"})
KINDS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (ast.If, ast.Try, ast.With)


class Docstring(NamedTuple):
    """A docstring, and the object it documents."""

    id: str
    module: str
    kind: str
    text: str


def docstrings(
    packages: Sequence[str] | None = None, *, min_words: int = 20, limit: int | None = None
) -> Dataset:
    """Collect the docstrings of installed packages as documents.

    Parameters
    ----------
    packages : sequence of str or None
        Names as in an import statement. None takes the installed ones of numpy, scipy, sklearn,
        numba, pandas, matplotlib, dask, polars, networkx, statsmodels, sympy and xarray.
    min_words : int
        Leave out shorter ones, which are mostly boilerplate.
    limit : int or None
        Keep at most this many, spread evenly over all.

    Returns
    -------
    Dataset
        Documents in the order of packages, files and lines. The target is the package;
        ``metadata`` has the id ("scipy.stats._mstats_basic.mode"), package, module and kind
        (module, class, function or method). ``extra`` counts what was left out (short,
        repeated, same id, unreadable files) and has the packages' versions.

    Examples
    --------
    >>> data = docstrings(["tacit"], limit=50)
    >>> len(data), data.metadata["package"][0]
    (50, 'tacit')
    """
    import numpy as np

    if min_words < 1:
        raise ValueError(f"docstrings(min_words={min_words}) must be at least 1.")
    if limit is not None and limit < 1:
        raise ValueError(f"docstrings(limit={limit}) must be at least 1, or None.")
    if isinstance(packages, str):
        raise TypeError(f"docstrings({packages!r}): give a list of names, [{packages!r}].")
    names = [name for name in PACKAGES if folder_of(name)] if packages is None else [*packages]
    absent = [name for name in names if folder_of(name) is None]
    if absent or not names:
        what = f"{absent[0]!r} is not installed" if absent else "no package was named"
        raise ValueError(
            f"docstrings: {what}. Name installed packages, as when importing them."
        )
    left_out: Counter[str] = Counter(short=0, repeated=0, same_id=0, unreadable=0)
    selected = []
    texts: set[str] = set()
    ids: set[str] = set()
    for name in names:
        candidates, unreadable = read_package(name)
        left_out["unreadable"] += unreadable
        for each in candidates:
            if len(each.text.split()) < min_words:
                left_out["short"] += 1
            elif each.id in ids:
                left_out["same_id"] += 1
            elif each.text in texts:
                left_out["repeated"] += 1
            else:
                selected.append((name, each))
                ids.add(each.id)
                texts.add(each.text)
    total = len(selected)
    if limit is not None and limit < total:
        selected = [selected[i * total // limit] for i in range(limit)]
    if not selected:
        raise ValueError(
            f"docstrings found none in {', '.join(names)} ({dict(left_out)}). Lower min_words."
        )
    places = {name: i for i, name in enumerate(names)}
    return Dataset(
        "docstrings",
        [each.text for _, each in selected],
        target=np.array([places[name] for name, _ in selected], np.int64),
        target_names=names,
        metadata={
            "id": [each.id for _, each in selected],
            "package": [name for name, _ in selected],
            "module": [each.module for _, each in selected],
            "kind": [each.kind for _, each in selected],
        },
        extra={
            "found": total,
            "left_out": dict(left_out),
            "versions": {name: version_of(name) for name in names},
        },
        description="Docstrings of the packages installed here, read from their source.",
        licence="That of each package: mostly BSD and MIT.",
    )


# --- Reading packages ---


def folder_of(package: str) -> Path | None:
    """The folder of an installed package, without importing it."""
    if not package.isidentifier():
        return None
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def version_of(package: str) -> str | None:
    names = {"sklearn": "scikit-learn", "tacit": "tacit-learn"}
    try:
        return version(names.get(package, package))
    except PackageNotFoundError:
        return None


@lru_cache(maxsize=32)
def read_package(package: str) -> tuple[tuple[Docstring, ...], int]:
    """The docstrings of a package, and how many files could not be read."""
    root = folder_of(package)
    assert root is not None  # the caller checked
    documented: list[Docstring] = []
    unreadable = 0
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).parts):
        parts = path.relative_to(root).parts
        if SKIPPED & {*parts}:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes in other people's strings
                tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
            unreadable += 1
            continue
        module = ".".join(
            [package, *parts[:-1], *([] if path.stem == "__init__" else [path.stem])]
        )
        if text := ast.get_docstring(tree):
            documented.append(Docstring(module, module, "module", text))
        documented.extend(public_docstrings(tree.body, module, module, in_class=False))
    return tuple(documented), unreadable


def public_docstrings(
    body: Sequence[ast.stmt], module: str, prefix: str, *, in_class: bool
) -> Iterator[Docstring]:
    """The docstrings of public classes, functions and methods, in order."""
    for node in body:
        if isinstance(node, BRANCHES):
            parts = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
            parts += [handler.body for handler in getattr(node, "handlers", [])]
            for part in parts:
                yield from public_docstrings(part, module, prefix, in_class=in_class)
        if not isinstance(node, KINDS) or node.name.startswith("_"):
            continue
        name = f"{prefix}.{node.name}"
        is_class = isinstance(node, ast.ClassDef)
        text = ast.get_docstring(node)
        if text:
            kind = "class" if is_class else "method" if in_class else "function"
            yield Docstring(name, module, kind, text)
        if is_class:
            yield from public_docstrings(node.body, module, name, in_class=True)

"""Write the pages of the reference, one for every public package, from its `__all__`.

    python docs/reference_pages.py

`conf.py` calls this before Sphinx reads the pages. They are not part of the repository.
"""

import importlib
import inspect
import re
from pathlib import Path

__all__ = ["PACKAGES", "escape", "write_reference"]

# In the order of a reader: documents first, then models, then what serves them.
PACKAGES = (
    "explore", "data", "text", "search", "cluster", "mixture", "topics", "classify", "language",
    "words", "style", "recommend", "decompose", "neural", "measure", "plot", "datasets",
)  # fmt: skip
FOLDER = Path(__file__).with_name("reference")


def write_reference(folder: Path = FOLDER) -> list[Path]:
    """Write a page for `tacit` and for each of its public packages, and return their paths."""
    folder.mkdir(exist_ok=True)
    homes: dict[int, str] = {}  # where an object that two packages export is described
    pages = [page("tacit", ["load"], homes)]
    for name in PACKAGES:
        package = importlib.import_module(f"tacit.{name}")
        pages.append(page(package.__name__, package.__all__, homes))
    written = []
    for text, name in zip(pages, ("tacit", *PACKAGES), strict=True):
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def page(module: str, names: list[str], homes: dict[int, str]) -> str:
    """The page of one package: what it is for, a list of its names, then each in full."""
    package = importlib.import_module(module)
    about = inspect.getdoc(package).split("\n")[0]
    lines = [module, "=" * len(module), "", about, ""]
    for name in names:
        thing = getattr(package, name)
        home = homes.setdefault(id(thing), f"{module}.{name}")
        first = (inspect.getdoc(thing) or "").split("\n\n")[0]
        lines.append(f"* :py:obj:`{name} <{home}>`: {escape(' '.join(first.split()))}")
    lines.append("")
    for name in names:
        thing = getattr(package, name)
        if homes[id(thing)] != f"{module}.{name}":
            continue
        kind = directive(thing)
        lines += [name, "-" * len(name), "", f".. {kind}:: {module}.{name}"]
        if kind == "autoclass":
            lines += ["   :members:", "   :inherited-members: BaseEstimator"]
        lines.append("")
    return "\n".join(lines)


def escape(line: str) -> str:
    """A line of a docstring as reStructuredText: names that end in an underscore, bars and
    stars are text there, and code stays as it is."""
    parts = re.split(r"(``.*?``|`.*?`)", line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<=\w)_(?!\w)|(?<!\\)[|*]", lambda m: "\\" + m[0], parts[i])
    return "".join(parts)


def directive(thing: object) -> str:
    if inspect.isclass(thing):
        return "autoexception" if issubclass(thing, BaseException) else "autoclass"
    return "autofunction" if callable(thing) else "automodule"


if __name__ == "__main__":
    for path in write_reference():
        print(path)

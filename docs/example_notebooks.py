"""Write the worked examples of `tacit demo` as notebooks and as pages of the documentation.

    python docs/example_notebooks.py

A notebook holds the code of the example's function in `tacit.cli.demo_examples`: what it
computes, the numbers, the picture. Its page shows the same code with what it prints and draws.
`conf.py` calls this before Sphinx reads the pages; none of it is part of the repository.
"""

import ast
import inspect
import json
import re
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from tacit.cli import demo_examples
from tacit.cli.demo_examples import EXAMPLES, Example, Outcome

__all__ = ["Code", "code_of", "notebook", "write_examples"]

FOLDER = Path(__file__).with_name("worked_examples")
SEED, ENGINE = 0, "threads"
SHOW = 'for what, notes, ours in lines:\n    print(f"{what:50} {notes:>24} {ours:>24}")'
MARKS = re.compile(r" *# (fmt: skip|type: ignore.*)$", re.MULTILINE)  # for our own tools


class Code(NamedTuple):
    """The code of an example in the order of a notebook."""

    setup: str  # what the example's module gives it
    compute: str
    lines: str  # the numbers of the notes and ours
    draw: str  # the function that draws the picture
    size: str  # of the figure


def code_of(example: Example) -> Code:
    """Split the source of an example: computation, function that draws, numbers returned."""
    source = textwrap.dedent(inspect.getsource(example.run))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    _doc, *computed, end = function.body
    draw = next(each for each in computed if getattr(each, "name", "") == "draw")
    assert isinstance(end, ast.Return), end
    assert isinstance(end.value, ast.Call), end
    _draw, numbers = end.value.args
    rows = source.splitlines()
    before = rows[computed[0].lineno - 1 : draw.lineno - 1]
    after = rows[draw.end_lineno : end.lineno - 1]
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    ours = [
        name
        for name, thing in vars(demo_examples).items()
        if name in used - {"Outcome", "example"}
        and inspect.getmodule(thing) is demo_examples
    ]
    setup = [f"from tacit.cli.demo_examples import {', '.join(ours)}", ""]
    if "Any" in used:
        setup.insert(0, "from typing import Any\n")
    if "seed" in used:
        setup.append(f"seed = {SEED}")
    if "engine" in used:
        setup.append(f"engine = {ENGINE!r}")
    return Code(
        "\n".join(setup).strip(),
        tidy("\n".join([*before, *after])),
        tidy("lines = " + closed_up(ast.get_source_segment(source, numbers) or "")),
        tidy("\n".join(rows[draw.lineno - 1 : draw.end_lineno])),
        str(example.size),
    )


def closed_up(expression: str) -> str:
    """An expression of several lines, the last of which is not indented any more."""
    first, *others = expression.split("\n")
    return "\n".join([first, textwrap.dedent("\n".join(others))]) if others else first


def tidy(code: str) -> str:
    return textwrap.dedent(MARKS.sub("", code)).strip()


def title(example: Example) -> str:
    return example.about[:1].upper() + example.about[1:]


def introduction(name: str, example: Example) -> str:
    about = (inspect.getdoc(example.run) or "").split("\n")[0]
    needs = f" It needs the data set {example.needs}: see `tacit datasets`."
    return (
        f"{about}\n\nA worked example of university lecture notes on unsupervised learning and "
        f"text. `tacit demo {name}` prints the same numbers.{needs if example.needs else ''}"
    )


# --- The notebook ---


def notebook(name: str) -> dict[str, Any]:
    """The example as a notebook, in version 4.5 of the format, without outputs."""
    example, code = EXAMPLES[name], code_of(EXAMPLES[name])
    figure = (
        f"{code.draw}\n\n\nimport matplotlib.pyplot as plt\n\n"
        f'figure = plt.figure(figsize={code.size}, layout="constrained")\ndraw(figure)'
    )
    install = "It needs `pip install 'tacit-learn[plot]'`."
    cells = [
        ("markdown", f"# {title(example)}\n\n{introduction(name, example)} {install}"),
        ("code", code.setup),
        ("code", code.compute),
        ("markdown", "The number of the notes, and ours:"),
        ("code", f"{code.lines}\n{SHOW}"),
        ("code", figure),
    ]
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
        "cells": [cell(kind, text, i) for i, (kind, text) in enumerate(cells)],
    }


def cell(kind: str, text: str, number: int) -> dict[str, Any]:
    made: dict[str, Any] = {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return {**made, "execution_count": None, "outputs": []} if kind == "code" else made


# --- The page ---


def page(name: str, outcome: Outcome | None) -> str:
    """The example as reStructuredText, with its numbers where it could run."""
    example, code = EXAMPLES[name], code_of(EXAMPLES[name])
    head, text = title(example), introduction(name, example).replace("`", "``")
    parts = [
        f"{head}\n{'=' * len(head)}",
        f"{text} :download:`Download the notebook <{name}.ipynb>`.",
        block("code-block:: python", f"{code.setup}\n\n{code.compute}"),
    ]
    if outcome is not None:
        rows = [("", "notes", "Tacit"), *outcome.lines]
        cells = [f"* - {a}\n  - {b}\n  - {c}" for a, b, c in rows]
        table = ":header-rows: 1\n\n" + "\n".join(cells)
        parts.append(block("list-table::", table, gap="\n"))
    parts.append(block("code-block:: python", code.draw))
    if outcome is not None:
        parts.append(f".. image:: {name}.png\n   :alt: {head}")
    return "\n\n".join(parts) + "\n"


def block(directive: str, text: str, gap: str = "\n\n") -> str:
    return f".. {directive}{gap}{textwrap.indent(text, '   ')}"


def run(name: str) -> Outcome | None:
    """What the example finds; None where its data set is not there."""
    from tacit.core.errors import DataError
    from tacit.datasets import load

    needs = EXAMPLES[name].needs
    try:
        if needs:
            load(needs)
        return EXAMPLES[name].run(SEED, ENGINE)
    except DataError:
        return None


def write_examples(folder: Path = FOLDER) -> list[Path]:
    """Write the notebook, the page and the picture of every example."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    folder.mkdir(exist_ok=True)
    written = []
    for name in EXAMPLES:
        outcome = run(name)
        if outcome is not None:
            figure = Figure(figsize=EXAMPLES[name].size, layout="constrained")
            outcome.draw(figure)
            figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
        texts = {
            "ipynb": json.dumps(notebook(name), indent=1, ensure_ascii=False) + "\n",
            "rst": page(name, outcome),
        }
        for ending, text in texts.items():
            path = folder / f"{name}.{ending}"
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
            written.append(path)
    return written


if __name__ == "__main__":
    for path in write_examples():
        print(path)

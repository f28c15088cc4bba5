"""The worked examples as notebooks: the code of `tacit demo`, in the format of notebooks."""

import ast
import importlib.util
import inspect
import json
import textwrap
from pathlib import Path

import pytest

from tacit.cli.demo_examples import EXAMPLES

HERE = Path(__file__).parents[2] / "docs/example_notebooks.py"
spec = importlib.util.spec_from_file_location("example_notebooks", HERE)
assert spec is not None
assert spec.loader is not None
notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebooks)


def sources(name: str) -> list[str]:
    cells = notebooks.notebook(name)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def dumped(code: str) -> list[str]:
    return [ast.dump(statement) for statement in ast.parse(code).body]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_cells_are_the_code_of_the_demo(name):
    function = ast.parse(textwrap.dedent(inspect.getsource(EXAMPLES[name].run))).body[0]
    _doc, *computed, end = function.body
    draw = next(each for each in computed if getattr(each, "name", "") == "draw")
    computed.remove(draw)
    _setup, compute, lines, picture = sources(name)
    assert dumped(compute) == list(map(ast.dump, computed))
    numbers, *_ = ast.parse(lines).body
    assert ast.dump(numbers.value) == ast.dump(end.value.args[1])
    assert dumped(picture)[0] == ast.dump(draw)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_a_notebook_of_version_4_5(name):
    """The schema of nbformat, as far as these notebooks use it."""
    made = notebooks.notebook(name)
    assert json.loads(json.dumps(made)) == made
    assert set(made) == {"nbformat", "nbformat_minor", "metadata", "cells"}
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert set(made["metadata"]["kernelspec"]) >= {"name", "display_name"}
    ids = [cell["id"] for cell in made["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in made["cells"]:
        common = {"cell_type", "id", "metadata", "source"}
        outputs = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == common | outputs
        assert all(line.endswith("\n") for line in cell["source"][:-1])


@pytest.mark.parametrize("name", ["kmeans", "hierarchy", "evaluation", "recommender"])
def test_its_cells_run_one_after_the_other(name, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    known: dict = {}
    for source in sources(name):
        exec(source, known)
    expected = EXAMPLES[name].run(0, "threads").lines
    assert known["lines"] == expected
    assert capsys.readouterr().out.count("\n") == len(expected)
    assert known["figure"].axes
    known["plt"].close("all")

"""``tacit demo``: the promise of the first screen."""

import csv
import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, jaccard_score

import tacit as package
from tacit.cli.demo import best_overlap, picture
from tacit.cli.demo_examples import EXAMPLES
from tests.explore.test_pipeline import letters


def test_the_digits_demo_says_what_it_found_how_surely_and_where_it_is(tacit, tmp_path):
    folder = tmp_path / "demo"
    run = tacit("demo", "digits", "--out", folder)
    assert run.code == 0
    for words in ("purity", "adjusted Rand", "Found again", "labels.csv", "digits.safetensors"):
        assert words in run.out
    assert "██" in run.out
    assert max(map(len, run.out.splitlines())) <= 80 + len(str(tmp_path))
    images, truth = load_digits(return_X_y=True)
    with open(folder / "labels.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["digit"]) for row in rows] == truth.tolist()
    labels = package.load(folder / "digits.safetensors").predict(images)
    assert [int(row["cluster"]) for row in rows] == labels.tolist()
    assert adjusted_rand_score(labels, truth) > 0.6


def test_the_figures_of_the_digits_demo_can_be_checked(tacit, tmp_path):
    run = tacit("demo", "digits", "--out", tmp_path, "--json", "--quiet")
    result = json.loads(run.out)
    assert run.err == ""
    with open(result["labels_file"], encoding="utf-8") as file:
        rows = [(int(row["cluster"]), int(row["digit"])) for row in csv.DictReader(file)]
    right = sum(max(rows.count((group, digit)) for digit in range(10)) for group in range(10))
    assert result["purity"] == pytest.approx(right / len(rows))
    assert sum(group["rows"] for group in result["clusters"]) == result["rows"] == 1797
    assert 0.5 < result["agreement"]["lowest"] <= result["agreement"]["mean"] <= 1


def test_the_demos_are_listed(tacit):
    names = ["docstrings", "digits", *EXAMPLES]
    assert [line.split()[0] for line in tacit("demo", "--list").out.splitlines()] == names
    assert [*json.loads(tacit("demo", "--list", "--json").out)] == names
    run = tacit("demo", "nope")
    assert run.code == 2
    assert "List them with --list" in run.err


def test_overlap_is_the_best_jaccard_index():
    rng = np.random.default_rng(0)
    labels, members = rng.integers(4, size=50), rng.random(50) < 0.3
    expected = max(jaccard_score(members, labels == j) for j in range(4))
    assert best_overlap(members, labels) == pytest.approx(expected)


def test_pictures_have_a_plain_form(monkeypatch):
    center = np.linspace(0, 16, 64)
    assert "█" in "".join(picture(center))
    monkeypatch.setattr("tacit.cli.output.can_print", lambda _: False)
    lines = picture(center)
    assert "".join(lines).isascii()
    assert {len(line) for line in lines} == {16}


def test_the_docstrings_demo_is_an_exploration_of_docstrings(tacit, tmp_path, monkeypatch):
    def few():
        return package.data.Documents.of(letters(60)[0])

    monkeypatch.setattr("tacit.cli.explore.docstring_documents", few)
    run = tacit("demo", "--out", tmp_path / "demo", "--json", "-q")
    assert (run.code, run.err) == (0, "")
    result = json.loads(run.out)
    assert result["documents"] == 60
    assert result["report"] == str(tmp_path / "demo" / "docstrings.tacit" / "report.html")
    again = tacit("explore", "--docs", "--out", tmp_path / "other", "--json", "-q")
    assert json.loads(again.out)["groups"] == result["groups"]


# --- Worked examples ---


SMALL = [name for name, example in EXAMPLES.items() if example.needs is None]


@pytest.mark.parametrize("name", SMALL)
def test_a_worked_example_gives_the_numbers_of_the_notes_and_a_picture(tacit, tmp_path, name):
    pytest.importorskip("matplotlib")
    run = tacit("demo", name, "--out", tmp_path, "--json", "-q")
    assert run.code == 0
    result = json.loads(run.out)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert any(line["notes"] for line in result["lines"])
    for line in result["lines"]:
        expected, ours = numbers(line["notes"]), numbers(line["ours"])
        for a, b in zip(expected, ours, strict=False):
            assert b == pytest.approx(a, rel=0.08, abs=0.006), line


def numbers(text):
    """The numbers of a cell; fractions are divided."""
    result = re.findall(r"-?\d[\d,]*\.?\d*(?:/\d+)?", text)
    parts = [each.replace(",", "").split("/") for each in result]
    return [float(part[0]) / (float(part[1]) if len(part) > 1 else 1) for part in parts]


def test_an_example_without_its_data_says_where_it_belongs(tacit, tmp_path, monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    run = tacit("demo", "body", "--out", tmp_path)
    assert run.code == 4
    assert "TACIT_DATA" in run.err

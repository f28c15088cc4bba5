"""``tacit demo docstrings``: from text to groups with reasons, here on a few modules only."""

import csv
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, v_measure_score

from tacit.cli import demo_docstrings
from tacit.cli.demo_docstrings import in_short, read_corpus, summary
from tacit.cli.demo_page import bar, draw_page
from tacit.cli.main import main
from tacit.cluster.choosing.chosen_k import ChosenK, KRow

MODULES = ("numpy.fft", "numpy.linalg", "numpy.ma", "numpy.polynomial")
SMALLER = {"MODULES": MODULES, "DIRECTIONS": 6, "K_MAX": 6, "RESAMPLES": 8}


def run_demo(folder, *options):
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in SMALLER.items():
            patch.setattr(demo_docstrings, name, value)
        code = main(["demo", "--out", str(folder), *options])
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """The demo as JSON, on threads: where, and what it said."""
    folder = tmp_path_factory.mktemp("figures")
    code, out, err = run_demo(folder, "--json", "--quiet", "--workers", "3")
    assert (code, err) == (0, "")
    return folder, json.loads(out)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The demo as a page, on one thread."""
    folder = tmp_path_factory.mktemp("page")
    code, out, err = run_demo(folder, "--engine", "serial")
    assert code == 0, err
    return folder, out, err


def rows_in(folder):
    text = (folder / "docstrings.csv").read_text(encoding="utf-8")
    return [*csv.DictReader(io.StringIO(text))]


def test_the_agreement_is_that_of_the_labels_written(figures):
    folder, result = figures
    rows = rows_in(folder)
    labels, modules = ([row[name] for row in rows] for name in ("cluster", "module"))
    assert {*modules} == {*MODULES}
    assert len(rows) == result["documents"] > 200
    found = result["agreement"]
    assert found["v_measure"] == pytest.approx(v_measure_score(modules, labels))
    assert found["adjusted_rand"] == pytest.approx(adjusted_rand_score(modules, labels))
    assert found["v_measure"] > 0.5  # the modules can be told by their words


def test_groups_come_by_size_with_reasons_and_confidence(figures):
    folder, result = figures
    rows = rows_in(folder)
    sizes = [group["rows"] for group in result["clusters"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes == np.bincount([int(row["cluster"]) for row in rows]).tolist()
    assert result["k"] == result["choice"]["best"] == len(sizes) > 1
    assert result["choice"]["reasons"]
    shares = np.array([float(row["confidence"]) for row in rows])
    assert 0.5 < shares.mean() <= 1
    assert all(0 < group["confidence"] <= 1 for group in result["clusters"])


def test_keywords_and_examples_belong_to_their_groups(figures, monkeypatch):
    folder, result = figures
    monkeypatch.setattr(demo_docstrings, "MODULES", MODULES)
    corpus = read_corpus()
    texts = dict(zip(corpus.ids, (text.lower() for text in corpus.documents), strict=True))
    groups = {row["id"]: int(row["cluster"]) for row in rows_in(folder)}
    assert [*groups] == corpus.ids
    for group in result["clusters"]:
        assert all(groups[each["id"]] == group["cluster"] for each in group["exemplars"])
        own = [texts[name] for name, number in groups.items() if number == group["cluster"]]
        others = [texts[name] for name, number in groups.items() if number != group["cluster"]]
        for word in group["keywords"][:3]:
            inside, outside = (np.mean([word in text for text in t]) for t in (own, others))
            assert inside > outside


def test_the_page_shows_reasons_groups_and_files(page):
    folder, out, err = page
    for words in ("How many groups?", "chosen", "V-measure", "homogeneity", "clusters.png"):
        assert words in out
    assert "Reading the docstrings of 4 modules ..." in err
    lines = [line for line in out.splitlines() if str(folder) not in line]
    assert max(map(len, lines)) <= 80
    for name in ("clusters.png", "map.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_bytes_anywhere(figures, page):
    for name in ("docstrings.csv", "clusters.png", "map.png"):
        assert (figures[0] / name).read_bytes() == (page[0] / name).read_bytes()


def test_without_matplotlib_there_are_no_pictures(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    nothing = np.empty((0, 2))
    files = demo_docstrings.draw_pictures(tmp_path, nothing, nothing, nothing, [])
    assert files == {"tree_file": None, "map_file": None}
    assert not [*tmp_path.iterdir()]


def test_a_page_without_pictures_says_what_they_need(figures, capsys):
    _, result = figures
    table = tuple(KRow(**row) for row in result["choice"]["table"])
    choice = ChosenK(1, table, ("because",))
    draw_page(result | {"tree_file": None, "map_file": None}, choice)
    out = capsys.readouterr().out
    assert "pip install 'tacit[plot]'" in out
    assert "How many groups? none that are clear" in out


def test_a_summary_is_the_first_paragraph_on_one_line():
    assert summary("\n  Compute\n  this.  \n\nParameters\n----") == "Compute this."


def test_names_of_groups_are_cut_between_words():
    group = {"cluster": 12, "keywords": ["x" * 40, "y"]}
    assert len(in_short(group)) == 32
    group["keywords"] = ["spline", "knots", "cubic", "smooth"]
    assert in_short(group) == "12 spline, knots, cubic"


def test_bars_are_as_long_as_they_should_and_have_a_plain_form(monkeypatch):
    assert [len(bar(share)) for share in (-1, 0, 0.3, 1, 2)] == [12] * 5
    assert bar(1.0) == "█" * 12
    monkeypatch.setattr("tacit.cli.demo_page.can_print", lambda _: False)
    assert bar(0.25) == "###         "

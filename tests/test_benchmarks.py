"""The benchmark harness at toy size: what it prints, judges and keeps."""

import importlib
import json
import math
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tacit

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks_are_importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


@pytest.fixture
def harness():
    return importlib.import_module("benchmarks.harness")


@pytest.fixture
def report():
    return importlib.import_module("benchmarks.report")


def read_tables(text):
    """The Markdown tables of a text, each a list of rows, each a dict by column."""
    tables, head = [], None
    for line in text.splitlines():
        if not line.startswith("|"):
            head = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if head is None:
            head = cells
            tables.append([])
        elif not set("".join(cells)) <= {"-"}:
            tables[-1].append(dict(zip(head, cells, strict=True)))
    return tables


def is_figure(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def test_a_toy_run_fills_the_table_with_tacit_rivals_and_troubles(harness, report):
    kmeans = importlib.import_module("benchmarks.cluster.kmeans")
    tacit, lloyd, elkan = kmeans.KMEANS
    case = replace(
        kmeans.cases(0.001)[0],
        contenders=[
            tacit,
            lloyd,
            elkan,
            replace(lloyd, name="absent", package="no_such_package", install="no-such"),
            replace(lloyd, name="broken", run=partial(int, "x")),
            replace(lloyd, name="huge", memory=lambda data: 1e18),
        ],
    )
    said = []
    result = harness.run_case(case, repeats=2, threads=2, cache=None, say=said.append)
    (table,) = read_tables(report.render("kmeans", "About.", {"machine": "toy"}, [result]))
    rows = {row["contender"]: row for row in table}

    assert list(rows) == [contender.name for contender in case.contenders]
    for name in ("Tacit", "scikit-learn lloyd", "scikit-learn elkan"):
        for column in ("median s", "cpu s", "ratio", "best", "inertia", "growth MB"):
            assert is_figure(rows[name][column]), (name, column, rows[name])
        assert "updates=" in rows[name]["notes"]
    assert rows["absent"]["verdict"] == "not installed: pip install no-such"
    assert rows["broken"]["verdict"].startswith("failed: ")
    assert rows["huge"]["verdict"].startswith("needs 1000000000.0 GB of memory")
    # The target stands on the faster of scikit-learn's two, and only there.
    times = {r.name: r.median for r in result.rows if r.rival == "scikit-learn" and r.seconds}
    aimed = [row["contender"] for row in table if is_figure(row["target"])]
    assert aimed == [min(times, key=times.get)]
    assert abs(result.rows[1].difference) < 1e-4  # the same start leads to the same place
    # Tacit, rival, rival, Tacit, ...: in turns.
    order = [line.split("  ")[2].split(":")[0] for line in said if "/2" in line]
    assert order == 2 * ["Tacit", "scikit-learn lloyd", "scikit-learn elkan"]
    assert json.loads(json.dumps(report.to_json(result)))["name"] == case.name


def judged(harness, ours, theirs, times=(1.0, 3.0), **settings):
    """The rival's row after judging two made-up answers of given quality."""
    case = harness.Case(
        "made up",
        make=dict,
        contenders=[harness.Contender("Tacit", print), harness.Contender("other", print)],
        quality=lambda data, answer: answer["quality"],
        targets={"them": 2.0},
        **settings,
    )
    rows = {
        "Tacit": harness.Row("Tacit", None, seconds=[times[0]], answer={"quality": ours}),
        "other": harness.Row("other", "them", seconds=[times[1]], answer={"quality": theirs}),
    }
    harness.judge(case, {}, rows)
    return rows["other"]


def test_a_target_is_met_only_by_speed_at_equal_quality(harness):
    assert judged(harness, 10.0, 10.0).verdict == "met"
    assert judged(harness, 10.0, 10.0, times=(1.0, 1.5)).verdict == "missed"
    assert judged(harness, 9.0, 10.0).verdict == "met"  # better is as good as equal
    assert judged(harness, 10.0005, 10.0).verdict == "met"
    assert "worse" in judged(harness, 10.01, 10.0).verdict
    assert "does not count" in judged(harness, 10.01, 10.0).verdict
    assert "unknown" in judged(harness, math.nan, 10.0).verdict


def test_quality_can_be_better_when_higher(harness):
    assert judged(harness, 0.9, 0.8, lower_is_better=False).verdict == "met"
    assert "worse" in judged(harness, 0.7, 0.8, lower_is_better=False).verdict


def test_a_case_fails_for_a_missed_target_a_false_check_or_a_tacit_that_broke(harness):
    good = harness.Row("Tacit", None, seconds=[1.0])
    met = harness.Row("other", "them", seconds=[3.0], target=2.0, verdict="met")
    missed = replace(met, verdict="missed")
    absent = harness.Row("other", "them", trouble="not installed: pip install other")
    broke = harness.Row("Tacit", None, trouble="failed: it did")

    def passed(*rows, checks=()):
        return harness.CaseResult("c", "", "inertia", list(rows), list(checks)).passed

    assert passed(good, met)
    assert passed(good, absent)
    assert not passed(good, missed)
    assert not passed(broke, met)
    assert not passed(good, met, checks=[harness.Check("it holds", False)])


def test_a_machine_that_cannot_hold_the_data_gets_rows_that_say_so(harness, report):
    def make(folder):
        raise harness.Unable("needs 9 GB of disk, 1 GB are free")

    contenders = [harness.Contender("Tacit", print)]
    case = harness.Case("too large", make, contenders, quality=lambda data, answer: 0.0)
    result = harness.run_case(case, repeats=1, threads=1, cache=None)
    (table,) = read_tables(report.render("x", "", {}, [result]))
    assert table[0]["verdict"] == "needs 9 GB of disk, 1 GB are free"
    assert not result.passed


def test_the_quality_is_the_inertia_by_its_definition():
    kmeans = importlib.import_module("benchmarks.cluster.kmeans")
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(500, 3)).astype("f4"), rng.normal(size=(7, 3))
    distances = ((X.astype("f8")[:, None] - centers) ** 2).sum(axis=2)
    expected = distances.min(axis=1).sum()
    assert kmeans.inertia({"X": X}, {"centers": centers}) == pytest.approx(expected, rel=1e-12)
    sparse = importlib.import_module("scipy.sparse").csr_array(X)
    assert kmeans.inertia({"X": sparse}, {"centers": centers}) == pytest.approx(expected)


def test_generated_rows_are_fixed_and_the_same_in_chunks():
    data = importlib.import_module("benchmarks.data")
    settings = {"components": 5, "separation": 6.0, "seed": 1}
    whole = data.mixture(70_000, 3, **settings)
    chunks = list(data.mixture_chunks(70_000, 3, **settings))
    assert len(chunks) == 2
    np.testing.assert_array_equal(whole, np.vstack(chunks))
    assert whole.dtype == np.float32


def test_writing_one_section_leaves_the_others_as_they_were(report, tmp_path):
    path = tmp_path / "RESULTS.md"
    report.write_section("b", "old b\n", path)
    report.write_section("a", "the a\n", path)
    report.write_section("b", "new b\n", path)
    assert report.sections(path.read_text()) == {"a": "the a\n", "b": "new b\n"}
    assert path.read_text().startswith(report.HEADER)
    assert list(tmp_path.iterdir()) == [path]


def test_a_results_file_with_a_lost_marker_is_not_overwritten(report, tmp_path):
    path = tmp_path / "RESULTS.md"
    path.write_text("<!-- begin a -->\ntext\n")
    with pytest.raises(ValueError, match="1 markers for 0 sections"):
        report.write_section("b", "body\n", path)
    assert path.read_text() == "<!-- begin a -->\ntext\n"


def test_versions_name_tacit_from_its_source_too():
    machine = importlib.import_module("benchmarks.machine")
    found = machine.versions(["tacit", "numpy", "no-such-package"])
    assert list(found) == ["tacit", "numpy"]
    assert found["tacit"] == tacit.__version__


def test_the_kept_results_parse(report):
    if not report.RESULTS.exists():
        pytest.skip("benchmarks/RESULTS.md has not been made yet: python -m benchmarks")
    main = importlib.import_module("benchmarks.__main__")
    kept = report.sections(report.RESULTS.read_text(encoding="utf8"))
    assert kept
    assert set(kept) <= set(main.discover())
    for name, body in kept.items():
        tables = read_tables(body)
        assert tables, name
        for fact in ("- date: ", "- machine: ", "- versions: "):
            assert fact in body, (name, fact)
        for table in tables:
            assert table[0]["contender"].startswith("Tacit"), name
            for row in table:
                assert is_figure(row["median s"]) or row["verdict"], (name, row)


def test_the_command_lists_refuses_and_explains():
    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "benchmarks", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    listed = command("--list")
    assert listed.returncode == 0
    assert {line.split()[0] for line in listed.stdout.splitlines()} >= {
        "kmeans",
        "kmeans_out_of_core",
        "kmeans_sparse",
    }
    unknown = command("kmean")
    assert unknown.returncode == 2
    assert "No benchmark ['kmean']" in unknown.stderr
    assert command("kmeans", "--repeats", "0").returncode == 2

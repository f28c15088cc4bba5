"""``tacit reduce`` as a user calls it."""

import csv
import json

import numpy as np
import pytest

import tacit as package


@pytest.fixture
def numbers(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 5)) + 0.05 * rng.normal(size=(60, 5))
    path = tmp_path / "rows.csv"
    with path.open("w", newline="", encoding="utf8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "a", "b", "c", "d", "e"])
        writer.writerows([f"r{i}", *(f"{x:.5f}" for x in row)] for i, row in enumerate(rows))
    return path


def test_components_are_printed_with_their_columns(tacit, numbers):
    run = tacit("reduce", numbers, "--id", "name")
    assert run.code == 0
    assert "2 of 5 components (the knee) explain 99" in run.out
    assert "Strongest columns" in run.out


def test_coordinates_model_and_json(tacit, numbers, tmp_path):
    out, model = tmp_path / "p.csv", tmp_path / "m.safetensors"
    run = tacit("reduce", numbers, "-k", "90%", "--id", "name", "--json", "--out", out,
                "--model", model, "--diagnose")  # fmt: skip
    assert run.code == 0
    answer = json.loads(run.out)
    assert answer["components"] == 2
    assert sum(answer["share"]) > 0.9
    assert set(answer["loadings"][0]) == set("abcde")
    assert answer["diagnosis"]["ranks"]["0.01"] == 2
    lines = out.read_text(encoding="utf8").splitlines()
    assert lines[0] == "id,c1,c2"
    assert lines[1].startswith("r0,")
    assert len(lines) == 61
    assert package.load(model).n_components_ == 2


@pytest.mark.parametrize("method", ["ppca", "svd", "classical-mds", "mds", "nonmetric-mds"])
def test_every_method_gives_coordinates(tacit, numbers, method):
    run = tacit(
        "reduce", numbers, "--method", method, "-k", 2, "--id", "name", "--out", "-", "-q"
    )
    assert run.code == 0
    rows = list(csv.DictReader(run.out.splitlines()))
    assert len(rows) == 60
    assert all(np.isfinite([float(row["c1"]), float(row["c2"])]).all() for row in rows)


def test_standardizing_makes_units_irrelevant(tacit, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    answers = []
    for i, scale in enumerate([1.0, 1000.0]):
        path = tmp_path / f"{i}.csv"
        lines = ["a,b,c,k", *(f"{x * scale!r},{y!r},{z!r},7" for x, y, z in rows.tolist())]
        path.write_text("\n".join(lines), encoding="utf8")
        run = tacit("reduce", path, "--standardize", "-k", 3, "--json")
        assert run.code == 0
        assert "Columns with the same value in every row: k" in run.err
        answers.append(json.loads(run.out)["share"])
    np.testing.assert_allclose(*answers, rtol=1e-6)


@pytest.mark.parametrize("method", ["classical-mds", "mds", "nonmetric-mds"])
def test_a_small_file_on_disk_is_compared_row_by_row_as_well(tacit, tmp_path, method):
    rows = np.random.default_rng(0).normal(size=(30, 3))
    np.save(tmp_path / "rows.npy", rows)
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", fmt="%.17g")
    outputs = []
    for name in ("rows.npy", "rows.csv"):
        out = tmp_path / f"{name}.out"
        run = tacit("reduce", tmp_path / name, "--method", method, "-k", 2, "--out", out)
        assert run.code == 0, run.err
        outputs.append(out.read_text())
    assert outputs[0] == outputs[1]


def test_a_table_of_distances_becomes_a_map(tacit, tmp_path):
    points = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    D = np.linalg.norm(points[:, None] - points, axis=2)
    path = tmp_path / "d.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in D), encoding="utf8")
    run = tacit("reduce", path, "--no-header", "--method", "classical-mds", "--metric",
                "precomputed", "-k", 2, "--json")  # fmt: skip
    assert run.code == 0
    assert json.loads(run.out)["goodness"] == pytest.approx(1.0)
    assert "reproduce 100.0%" in tacit(
        "reduce", path, "--no-header", "--method", "classical-mds", "--metric", "precomputed",
        "-k", 2,
    ).out  # fmt: skip


@pytest.mark.parametrize("options", [[], ["-k", "1"], ["--method", "mds", "-k", "2"]])
def test_a_picture_has_the_same_bytes_every_time(tacit, numbers, tmp_path, options):
    pytest.importorskip("matplotlib")
    for name in "ab":
        run = tacit(
            "reduce", numbers, *options, "--id", "name", "--plot", tmp_path / f"{name}.svg"
        )
        assert run.code == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-k", "0"], 2, "neither a number of components"),
        (["-k", "1.5"], 2, "neither a number of components"),
        (["-k", "0.5", "--method", "svd"], 2, "is for --method pca"),
        (["--plot", "x.txt"], 2, "must end in"),
        (["--columns", "zz"], 4, "zz"),
        (["--out", "-", "--json"], 2, "standard output"),
    ],
)
def test_wrong_options_are_refused(tacit, numbers, arguments, code, message):
    run = tacit("reduce", numbers, *arguments)
    assert run.code == code
    assert message in run.err


@pytest.mark.filterwarnings("default:.*all rows are equal")
def test_bad_files_are_refused_and_small_ones_work(tacit, tmp_path, numbers):
    assert tacit("reduce", tmp_path / "absent.csv").code == 4
    empty = tmp_path / "empty.csv"
    empty.write_text("", encoding="utf8")
    assert tacit("reduce", empty).code == 4
    one = tmp_path / "one.csv"
    one.write_text("a,b\n1,2\n", encoding="utf8")
    run = tacit("reduce", one)
    assert run.code == 0
    assert "all rows are equal" in run.err
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3,nan\n4,5\n", encoding="utf8")
    assert tacit("reduce", bad).code == 4
    run = tacit("reduce", numbers, "-k", 99)
    assert run.code == 0
    assert "so k is 5, not 99" in run.err

"""``tacit cluster``: what it prints, writes, refuses, and with which exit code."""

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as package
from tacit.cluster import KMeans, by_size


def blobs(n: int = 90, seed: int = 0) -> np.ndarray:
    """Three far clouds: along x, along y, at the origin."""
    rng = np.random.default_rng(seed)
    middles = np.array([[0.0, 0.0, 5.0], [100.0, 0.0, 5.0], [0.0, 100.0, 5.0]])
    return middles[np.arange(n) % 3] + rng.normal(size=(n, 3))


def as_csv(rows: np.ndarray, names: str = "x,y,z") -> bytes:
    lines = [",".join(repr(float(value)) for value in row) for row in rows]
    return "\n".join([names, *lines, ""]).encode()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "blobs.csv"
    path.write_bytes(as_csv(blobs()))
    return path


def labels_in(text: str) -> list[int]:
    return [int(row["cluster"]) for row in csv.DictReader(io.StringIO(text))]


# --- What comes out ---


def test_the_groups_are_those_of_the_python_interface(tacit, file, tmp_path):
    run = tacit("cluster", file, "--k", 3, "--out", tmp_path / "labels.csv", "--seed", 7)
    assert run.code == 0
    written = labels_in((tmp_path / "labels.csv").read_text())
    labels = KMeans(3, random_state=7).fit(blobs()).labels_
    assert written == by_size(labels).tolist()
    assert {tuple(written[i::3]) for i in range(3)} == {(j,) * 30 for j in range(3)}


def test_sizes_shares_and_what_sets_apart_are_printed(tacit, file):
    run = tacit("cluster", file, "--k", 3)
    assert run.code == 0
    assert run.out.count("33.3%") == 3
    assert "Inertia" in run.out
    assert any("x +1.4" in line for line in run.out.splitlines())
    assert "90 rows, 3 columns used (x, y, z)" in run.err
    assert "rows" not in run.out.replace("Rows", "")  # notes are not results


def test_one_group_is_set_apart_by_nothing(tacit, file):
    run = tacit("cluster", file, "--k", 1)
    assert run.code == 0
    assert "100.0%  nothing" in run.out


def test_json_is_one_document_and_nothing_else(tacit, file):
    run = tacit("cluster", file, "--k", 3, "--json")
    result = json.loads(run.out)
    assert result["k"] == 3
    assert [group["rows"] for group in result["clusters"]] == [30, 30, 30]
    assert result["input"]["used"] == ["x", "y", "z"]
    apart = [next(iter(group["apart"])) for group in result["clusters"]]
    assert {"x", "y"} <= {*apart}
    centers = [list(group["center"].values()) for group in result["clusters"]]
    np.testing.assert_allclose(sorted(centers), [[0, 0, 5], [0, 100, 5], [100, 0, 5]], atol=1)
    assert result["inertia"] == pytest.approx(KMeans(3, random_state=0).fit(blobs()).inertia_)


def test_the_same_seed_gives_the_same_bytes(tacit, file):
    runs = [
        tacit("cluster", file, "--k", 5, "--out", "-", *more)
        for more in ([], ["--workers", 1], ["--workers", 3], ["--engine", "serial"])
    ]
    assert len({run.out for run in runs}) == 1
    assert labels_in(runs[0].out)
    assert "Inertia" in runs[0].err  # the table makes room for the labels


def test_ids_name_the_rows_and_cannot_be_formulas(tacit, tmp_path):
    text = b"who,x\n=cmd(),1\n-5,2\nann,3\n"
    run = tacit("cluster", "-", "--k", 2, "--id", "who", "--out", "-", stdin=text)
    assert [row[0] for row in csv.reader(io.StringIO(run.out))] == [
        "id",
        "'=cmd()",
        "-5",
        "ann",
    ]


def test_quiet_says_nothing_beside_the_result(tacit, file):
    run = tacit("cluster", file, "--k", 3, "--quiet")
    assert (run.code, run.err) == (0, "")
    assert "33.3%" in run.out


def test_the_model_is_saved_and_labels_the_same(tacit, file, tmp_path):
    path = tmp_path / "m.safetensors"
    run = tacit("cluster", file, "--k", 3, "--model", path, "--out", tmp_path / "l.csv")
    assert run.code == 0
    labels = package.load(path).predict(blobs())
    assert labels.tolist() == labels_in((tmp_path / "l.csv").read_text())


def test_scaling_makes_units_irrelevant(tacit, tmp_path):
    rows = blobs()
    rows[:, 0] /= 1000  # meters into kilometers: x no longer counts for anything
    plain = tacit("cluster", "-", "--k", 3, "--json", stdin=as_csv(rows))
    scaled = tacit("cluster", "-", "--k", 3, "--json", "--scale", stdin=as_csv(rows))
    assert sorted(g["rows"] for g in json.loads(plain.out)["clusters"]) != [30, 30, 30]
    result = json.loads(scaled.out)
    assert sorted(group["rows"] for group in result["clusters"]) == [30, 30, 30]
    x = sorted(group["center"]["x"] for group in result["clusters"])
    np.testing.assert_allclose(x, [0, 0, 0.1], atol=1e-3)  # in the units of the file
    assert result["scaled"]["mean"][0] == pytest.approx(rows[:, 0].mean())
    assert "scaled" in scaled.err


def test_a_column_that_never_varies_is_mentioned_and_harmless(tacit):
    text = b"x,same\n1,7\n2,7\n9,7\n"
    run = tacit("cluster", "-", "--k", 2, "--scale", "--json", stdin=text)
    assert run.code == 0
    assert "The same value in every row: same." in run.err
    assert all("same" not in group["apart"] for group in json.loads(run.out)["clusters"])


def test_k_past_the_rows_is_lowered_and_said_so(tacit):
    run = tacit("cluster", "-", "--k", 8, "--json", stdin=b"x\n1\n2\n5\n")
    assert run.code == 0
    assert json.loads(run.out)["k"] == 3
    assert "The file has 3 rows, so k is 3, not 8" in run.err


@pytest.mark.filterwarnings("default")
def test_fewer_distinct_rows_than_groups_are_a_warning(tacit):
    run = tacit("cluster", "-", "--k", 3, "--json", stdin=b"x\n1\n1\n1\n2\n")
    assert run.code == 0
    assert "Warning:" in run.err
    assert "2 distinct rows" in run.err
    assert sorted(group["rows"] for group in json.loads(run.out)["clusters"]) == [0, 1, 3]


def test_columns_with_hostile_names_are_harmless(tacit):
    text = b'"[bold]\x1b[31mx","=y"\n1,2\n3,4\n'
    run = tacit("cluster", "-", "--k", 2, stdin=text)
    assert run.code == 0
    assert "\x1b" not in run.out + run.err
    assert "[bold]x" in run.out


def test_columns_are_chosen_by_name_even_with_commas(tacit):
    text = b'"a,b",c,d\n1,2,3\n4,5,6\n'
    run = tacit("cluster", "-", "--k", 1, "--json", "--columns", '"a,b",d', stdin=text)
    assert json.loads(run.out)["input"]["used"] == ["a,b", "d"]


def test_many_groups_are_not_all_drawn(tacit):
    text = "x\n" + "\n".join(str(i * i) for i in range(60)) + "\n"
    run = tacit("cluster", "-", "--k", 50, stdin=text.encode())
    assert "and 10 smaller ones" in run.out


def test_the_minibatch_method_is_there(tacit, file):
    run = tacit("cluster", file, "--k", 3, "--method", "minibatch", "--json")
    assert run.code == 0
    assert [group["rows"] for group in json.loads(run.out)["clusters"]] == [30, 30, 30]


# --- Formats ---


@pytest.mark.parametrize("options", [[], ["--scale"], ["--columns", "c0,c1,c2"]])
def test_every_format_gives_the_same_labels(tacit, tmp_path, options):
    rows = blobs()
    np.save(tmp_path / "a.npy", rows)
    names = ["c0", "c1", "c2"]
    pq.write_table(pa.table(dict(zip(names, rows.T, strict=True))), tmp_path / "a.parquet")
    text = as_csv(rows, ",".join(names))
    (tmp_path / "a.csv").write_bytes(text)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text))
    (tmp_path / "a.tsv").write_bytes(text.replace(b",", b"\t"))
    outputs = set()
    for path in sorted(tmp_path.iterdir()):
        for source, stdin in ((path, b""), ("-", path.read_bytes())):
            run = tacit("cluster", source, "--k", 3, "--out", "-", *options, stdin=stdin)
            assert run.code == 0, run.err
            outputs.add(run.out)
    assert len(outputs) == 1


@pytest.mark.parametrize("options", [[], ["--scale"]])
def test_a_hole_in_a_file_on_disk_is_named_as_the_file_counts(tacit, tmp_path, options):
    rows = blobs()
    rows[41, 2] = np.nan
    pq.write_table(pa.table(dict(zip("xyz", rows.T, strict=True))), tmp_path / "a.parquet")
    run = tacit("cluster", tmp_path / "a.parquet", "--k", 3, *options)
    assert run.code == 4
    assert "a.parquet, row 42, column z" in run.err


# --- What is refused ---


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "empty"),
        (b"x,y\n", "no rows"),
        (b"x,y\n1,2\n3,4,5\n", "line 3 has 3 cells"),
        (b"x,y\n1,2\n3,abc\n5,6\n", "row 2, column y: 'abc' is not a number (line 3)"),
        (b"x,y\n1,2\n3,\n", "row 2, column y: the value is missing"),
        (b"x,y\n1,inf\n3,4\n", "infinite"),
        (b'x,y\n1,2\n"3,4\n', "line 3 opens a quote"),
        (b"name\nann\n", "no column of numbers"),
        (b"x\n1e200\n-1e200\n3\n", "Rescale"),
    ],
)
def test_bad_input_is_code_4_with_its_place(tacit, text, words):
    run = tacit("cluster", "-", "--k", 2, stdin=text)
    assert run.code == 4
    assert words in run.err
    assert run.out == ""
    assert "Traceback" not in run.err


def test_a_truncated_file_is_used_and_answered_with_code_3(tacit, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(as_csv(blobs(3000)))[:-5000])
    run = tacit("cluster", path, "--k", 3, "--out", tmp_path / "labels.csv", "--json")
    assert run.code == 3
    assert "truncated" in run.err
    rows = json.loads(run.out)["input"]["rows"]
    assert 0 < rows < 3000
    assert len(labels_in((tmp_path / "labels.csv").read_text())) == rows
    assert tacit("cluster", path, "--k", 3, "--allow-partial").code == 0


def test_a_folder_or_a_missing_file_is_code_4(tacit, tmp_path):
    assert tacit("cluster", tmp_path).code == 4
    run = tacit("cluster", tmp_path / "none.csv")
    assert (run.code, "none.csv" in run.err) == (4, True)


def test_a_target_in_no_folder_is_refused_before_the_work(tacit, file, tmp_path):
    run = tacit("cluster", file, "--out", tmp_path / "no" / "labels.csv")
    assert run.code == 4
    assert "no such folder" in run.err


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_disk_is_code_6(tacit, file):
    run = tacit("cluster", file, "--k", 3, "--out", "/dev/full")
    assert run.code == 6
    assert "space" in run.err


def test_a_reader_that_walks_away_is_no_error(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(60_000, 2)))
    arguments = ["cluster", str(tmp_path / "a.npy"), "--k", "2", "--out", "-", "--quiet"]
    with subprocess.Popen(
        [sys.executable, "-m", "tacit", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"row,cluster\n"
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait() == 0
    assert b"BrokenPipe" not in errors
    assert b"Traceback" not in errors

"""``tacit compare``: figures that can be checked, rows that belong together, clear refusals."""

import csv
import gzip
import io
import json

import numpy as np
import pytest
from sklearn import metrics

TRUTH = ["a"] * 4 + ["b"] * 3 + ["c"] * 3
CLUSTERS = [0, 0, 0, 1, 1, 1, 1, 2, 2, 0]


def as_csv(labels, names="cluster", ids=None):
    if ids is None:
        return "\n".join([names, *map(str, labels), ""])
    rows = [f"{each},{label}" for each, label in zip(ids, labels, strict=True)]
    return "\n".join([names, *rows, ""])


@pytest.fixture
def files(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text(as_csv(TRUTH, "class"))
    b.write_text(as_csv(CLUSTERS))
    return a, b


# --- Figures ---


def test_the_measures_are_those_of_scikit_learn(tacit, files):
    run = tacit("compare", *files, "--json")
    assert run.code == 0
    result = json.loads(run.out)
    theirs = {
        "adjusted_rand": metrics.adjusted_rand_score,
        "rand": metrics.rand_score,
        "nmi": metrics.normalized_mutual_info_score,
        "ami": metrics.adjusted_mutual_info_score,
        "v_measure": metrics.v_measure_score,
        "homogeneity": metrics.homogeneity_score,
        "completeness": metrics.completeness_score,
    }
    for name, function in theirs.items():
        assert result[name] == pytest.approx(function(TRUTH, CLUSTERS)), name
    assert result["purity"] == pytest.approx(0.8)
    assert result["best_matching"] == pytest.approx(0.8)


def test_the_table_counts_every_row_once_and_matched_groups_face_each_other(tacit, files):
    result = json.loads(tacit("compare", *files, "--json").out)
    assert result["labels_a"] == ["a", "b", "c"]
    assert result["labels_b"] == ["0", "1", "2"]
    assert result["table"] == [[3, 1, 0], [0, 3, 0], [1, 0, 2]]
    assert result["matched"] == {"a": "0", "b": "1", "c": "2"}
    assert result["rows"] == np.sum(result["table"]) == 10


def test_the_page_shows_the_table_and_says_what_the_measures_mean(tacit, files):
    run = tacit("compare", *files)
    assert run.code == 0
    for words in ("Adjusted Rand", "NMI", "AMI", "V-measure", "Homogeneity", "Completeness"):
        assert words in run.out
    assert "Purity         0.800" in run.out
    lines = [line.split() for line in run.out.splitlines()]
    assert ["a", "3", "1", "·"] in lines
    assert max(map(len, run.out.splitlines())) <= 80
    assert "10 rows matched by their order." in run.err


def test_the_same_groups_by_other_names_agree_fully(tacit, tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text(as_csv([1, 1, 2, 3]))
    b.write_text(as_csv(["x", "x", "z", "y"]))
    result = json.loads(tacit("compare", a, b, "--json").out)
    for name in ("adjusted_rand", "nmi", "ami", "v_measure", "purity", "best_matching"):
        assert result[name] == pytest.approx(1.0)


def test_numbers_are_ordered_as_numbers_and_large_tables_are_not_drawn(tacit, tmp_path):
    a = tmp_path / "a.csv"
    a.write_text(as_csv(range(30)))
    run = tacit("compare", a, a)
    assert "30 groups in A and 30 in B" in run.out
    result = json.loads(tacit("compare", a, a, "--json").out)
    assert result["labels_a"] == [str(i) for i in range(30)]


def test_labels_of_several_signs_are_text(tacit, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(as_csv(["--5", "--5", "-3", "12", "2"]))
    result = json.loads(tacit("compare", path, path, "--json").out)
    assert result["labels_a"] == ["--5", "-3", "2", "12"]


def test_the_table_can_be_written(tacit, files, tmp_path):
    run = tacit("compare", *files, "--out", tmp_path / "t.csv", "--quiet")
    assert (run.code, run.err) == (0, "")
    rows = [*csv.reader(io.StringIO((tmp_path / "t.csv").read_text()))]
    assert rows[0] == ["class \\ cluster", "0", "1", "2"]
    assert rows[1] == ["a", "3", "1", "0"]
    run = tacit("compare", *files, "--out", "-")
    assert [*csv.reader(io.StringIO(run.out))] == rows


# --- Rows that belong together ---


def test_rows_are_matched_by_id_in_any_order(tacit, tmp_path):
    ids = [f"n{i}" for i in range(10)]
    order = np.random.default_rng(0).permutation(10)
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text(as_csv(TRUTH, "id,class", ids))
    b.write_text(as_csv([CLUSTERS[i] for i in order], "ID,cluster", [ids[i] for i in order]))
    run = tacit("compare", a, b, "--json")
    result = json.loads(run.out)
    assert result["table"] == [[3, 1, 0], [0, 3, 0], [1, 0, 2]]
    assert "10 rows matched by the column id" in run.err
    shuffled = json.loads(tacit("compare", a, b, "--json", "--by-row").out)
    assert shuffled["table"] != result["table"]


def test_ids_that_only_one_file_has_are_an_error_or_left_out(tacit, tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text(as_csv([0, 0, 1], "id,cluster", ["x", "y", "z"]))
    b.write_text(as_csv([1, 0], "id,cluster", ["z", "x"]))
    run = tacit("compare", a, b)
    assert run.code == 4
    assert "1 of the 3 ids are not in" in run.err
    assert "'y' (line 3)" in run.err
    assert "--common" in run.err
    result = json.loads(tacit("compare", a, b, "--common", "--json").out)
    assert (result["rows"], result["left_out"]) == (2, 1)
    b.write_text(as_csv([1, 0], "id,cluster", ["p", "q"]))
    run = tacit("compare", a, b, "--common")
    assert run.code == 4
    assert "no id at all" in run.err


def test_two_columns_of_one_file_can_be_compared(tacit, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("row,cluster,digit\n1,0,7\n2,0,7\n3,1,2\n")
    run = tacit("compare", path, path, "--label-a", "digit", "--json")
    result = json.loads(run.out)
    assert (result["a"]["column"], result["b"]["column"]) == ("digit", "cluster")
    assert result["adjusted_rand"] == 1.0


def test_labels_of_tacit_cluster_can_be_compared(tacit, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", np.vstack([rng.normal(size=(20, 2)) + c for c in (0, 50)]))
    for method in ("kmeans", "ward"):
        out = tmp_path / f"{method}.csv"
        run = tacit(
            "cluster", tmp_path / "x.npy", "--k", 2, "--out", out, "--method", method, "--quiet"
        )
        assert run.code == 0, run.err
    run = tacit("compare", tmp_path / "kmeans.csv", tmp_path / "ward.csv", "--json")
    assert json.loads(run.out)["adjusted_rand"] == 1.0


def test_formats_and_standard_input_are_read_alike(tacit, files, tmp_path):
    a, b = files
    expected = json.loads(tacit("compare", a, b, "--json").out)["table"]
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(a.read_bytes()))
    spread = tmp_path / "b.tsv"
    spread.write_text("\ufeff" + as_csv(CLUSTERS, "row,cluster", range(10)).replace(",", "\t"))
    for first, second, stdin in ((packed, spread, b""), (a, "-", b.read_bytes())):
        run = tacit("compare", first, second, "--json", stdin=stdin)
        assert json.loads(run.out)["table"] == expected


def test_a_file_without_a_header_can_say_so(tacit, tmp_path):
    a = tmp_path / "a.csv"
    a.write_text("cat\ncat\ndog\n")
    run = tacit("compare", a, a, "--json")
    assert json.loads(run.out)["rows"] == 2
    assert "line 1, 'cat', was taken for the name of the column" in run.err
    assert json.loads(tacit("compare", a, a, "--no-header", "--json").out)["rows"] == 3


# --- What is refused ---


@pytest.mark.parametrize(
    ("a", "b", "options", "words"),
    [
        ("cluster\n1\n2\n", "cluster\n1\n", [], "has 2 rows and"),
        ("cluster\n1\n", "", [], "empty"),
        ("cluster\n1\n", "cluster\n", [], "no rows follow"),
        ("cluster\n1\n", "cluster\n1\n", ["--label-a", "nope"], "no column 'nope'"),
        ("cluster\n1\n", "cluster\n1\n", ["--id", "who"], "no column 'who'"),
        ("x,y\n1,2\n", "cluster\n1\n", [], "2 columns could hold the labels: x, y"),
        ("id,cluster\n1,a\n1,b\n", "id,cluster\n1,a\n", [], "the id '1' occurs 2 times"),
        ("id,cluster\n1,a\n2,\n", "id,cluster\n1,a\n", [], "the label is missing (line 3)"),
        ("id,cluster\n1,a\n2\n", "id,cluster\n1,a\n", [], "line 3 has 1 cells"),
        ('cluster\n"1\n', "cluster\n1\n", [], "line 2 opens a quote"),
        ("cluster\n1\n", "cluster\n1\n", ["--common"], "no column of ids in common"),
    ],
)
def test_bad_input_is_code_4_with_its_place(tacit, tmp_path, a, b, options, words):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text(a)
    second.write_text(b)
    run = tacit("compare", first, second, *options)
    assert run.code == 4
    assert words in run.err
    assert run.out == ""
    assert "Traceback" not in run.err


def test_wrong_usage_is_code_2(tacit, files):
    assert tacit("compare", "-", "-").code == 2
    assert tacit("compare", *files, "--json", "--out", "-").code == 2
    assert tacit("compare", *files, "--by-row", "--common").code == 2
    assert tacit("compare", files[0]).code == 2
    assert tacit("compare", files[0], files[0].parent / "none.csv").code == 4


def test_a_foreign_file_is_named_as_such(tacit, files, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    run = tacit("compare", files[0], tmp_path / "x.npy")
    assert run.code == 4
    assert "read from CSV" in run.err
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(as_csv(range(5000)).encode())[:-2000])
    assert tacit("compare", cut, cut).code == 3


def test_labels_cannot_move_the_cursor(tacit, tmp_path):
    a = tmp_path / "a.csv"
    a.write_text("cluster\n\x1b[31mred\n[bold]blue\n")
    run = tacit("compare", a, a)
    assert run.code == 0
    assert "\x1b" not in run.out + run.err
    assert "[bold]blue" in run.out

"""``tacit cluster --method``, ``--k auto`` and ``--plot``: every way of grouping."""

import csv
import io
import json
import sys

import numpy as np
import pytest

import tacit as package
from tacit import cluster as models
from tacit.cli.cluster import label_rows, tree_figure
from tacit.cluster import AgglomerativeClustering, cut, linkage
from tacit.measure import adjusted_rand_score, silhouette_score

METHODS = [
    "kmeans", "minibatch", "spherical", "kmedoids", "fuzzy", "soft", "divisive", "single",
    "complete", "average", "weighted", "centroid", "median", "ward",
]  # fmt: skip


def clouds(sizes=(15, 40, 25), d=2, seed=0):
    """Far clouds, in different directions from zero, the largest not the first."""
    rng = np.random.default_rng(seed)
    middles = 30 * np.eye(3, max(d, 3))[:, :d] + 20
    truth = np.repeat(np.arange(3), sizes)
    return middles[truth] + rng.normal(size=(len(truth), d)), truth


@pytest.fixture
def file(tmp_path):
    rows, truth = clouds(d=3)
    lines = ["name,x,y,z"]
    for i, (row, group) in enumerate(zip(rows, truth, strict=True)):
        lines.append(",".join([f"{'abc'[group]}{i}", *map(repr, row.tolist())]))
    path = tmp_path / "clouds.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def labels_in(path):
    rows = csv.DictReader(io.StringIO(path.read_text()))
    return np.array([int(row["cluster"]) for row in rows])


@pytest.fixture
def npy(tmp_path):
    np.save(tmp_path / "x.npy", clouds(d=3)[0])
    return tmp_path / "x.npy"


# --- Methods ---


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_clouds_the_largest_first(tacit, file, tmp_path, method):
    out, saved = tmp_path / "l.csv", tmp_path / "m.safetensors"
    run = tacit(
        "cluster", file, "--id", "name", "--k", 3, "--method", method, "--json",
        "--out", out, "--model", saved, "--quiet",
    )  # fmt: skip
    assert run.code == 0, run.err
    result = json.loads(run.out)
    rows, truth = clouds(d=3)
    labels = labels_in(out)
    assert adjusted_rand_score(truth, labels) == 1.0
    assert [group["rows"] for group in result["clusters"]] == [40, 25, 15]
    assert np.bincount(labels).tolist() == [40, 25, 15]
    assert result["silhouette"] > 0.8
    # What was saved says the same of the same rows.
    assert package.load(saved).predict(rows).tolist() == labels.tolist()
    for group, center in zip(result["clusters"], (1, 2, 0), strict=True):
        expected = rows[truth == center].mean(axis=0)
        assert np.allclose([*group["center"].values()], expected, atol=2.0)


def test_methods_are_those_of_the_python_interface(tacit, npy, tmp_path):
    rows, _ = clouds(d=3)
    for method in ("single", "average", "ward"):
        tacit("cluster", npy, "--k", 5, "--method", method, "--out", tmp_path / "l.csv")
        expected = cut(linkage(rows, method), k=5)
        assert labels_in(tmp_path / "l.csv").tolist() == expected.tolist()
    run = tacit("cluster", npy, "--k", 4, "--method", "kmedoids", "--seed", 3, "--json")
    result = json.loads(run.out)
    model = models.KMedoids(4, random_state=3).fit(rows)
    assert result["inertia"] == pytest.approx(model.inertia_)
    medoids = [group["medoid"] - 1 for group in result["clusters"]]
    assert sorted(medoids) == model.medoid_indices_.tolist()
    assert result["silhouette"] == pytest.approx(silhouette_score(rows, model.labels_))


def test_medoids_are_named_by_their_ids(tacit, file):
    run = tacit("cluster", file, "--id", "name", "--k", 3, "--method", "kmedoids", "--json")
    medoids = [group["medoid"] for group in json.loads(run.out)["clusters"]]
    assert [name[0] for name in medoids] == ["b", "c", "a"]


def test_a_metric_can_be_chosen_where_there_is_a_choice(tacit, npy, tmp_path):
    rows, _ = clouds(d=3)
    out = tmp_path / "l.csv"
    run = tacit(
        "cluster", npy, "--k", 6, "--method", "average", "--metric", "cosine", "--out", out
    )
    assert run.code == 0
    expected = cut(linkage(rows, "average", "cosine"), k=6)
    assert labels_in(out).tolist() == expected.tolist()
    run = tacit("cluster", npy, "--k", 3, "--method", "ward", "--metric", "cosine")
    assert run.code == 2
    assert "not with ward" in run.err


def test_the_height_of_the_cut_is_printed(tacit, npy):
    run = tacit("cluster", npy, "--k", 3, "--method", "ward", "--json")
    low, high = json.loads(run.out)["cut_between"]
    heights = linkage(clouds(d=3)[0], "ward")[:, 2]
    assert (low, high) == pytest.approx((heights[-3], heights[-2]))
    run = tacit("cluster", npy, "--k", 3, "--method", "ward")
    assert f"between the heights {low:.6g} and {high:.6g}" in run.out
    assert "last merge" in tacit("cluster", npy, "--k", 1, "--method", "ward").out


def test_one_group_and_as_many_as_rows_are_possible(tacit, npy):
    for method in ("kmeans", "kmedoids", "average", "divisive"):
        for k in (1, 80):
            run = tacit("cluster", npy, "--k", k, "--method", method, "--json")
            assert run.code == 0, run.err
            result = json.loads(run.out)
            assert len(result["clusters"]) == k
            assert result["silhouette"] is None


@pytest.mark.parametrize("method", ["ward", "average"])
def test_too_many_rows_for_a_tree_are_refused_with_the_number_and_the_way_out(
    tacit, tmp_path, method
):
    np.save(tmp_path / "big.npy", np.arange(50_001.0)[:, None])
    run = tacit("cluster", tmp_path / "big.npy", "--k", 3, "--method", method)
    assert run.code == 4
    assert "50,001 rows have 1,250,025,000 pairs" in run.err
    assert "--compress 1000" in run.err
    assert "--method kmeans" in run.err


def test_memory_that_is_not_there_is_refused_before_the_work(tacit, npy, monkeypatch):
    monkeypatch.setattr("tacit.core.memory.available_memory", lambda: 1000.0)
    for method in ("complete", "divisive"):
        run = tacit("cluster", npy, "--k", 3, "--method", method)
        assert run.code == 4
        assert f"--method {method} of 80 rows needs" in run.err


def test_a_compressed_tree_numbers_clusters_by_rows_not_by_leaves(tacit, tmp_path):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(600, 2)) * 0.01  # many rows, few centers
    wide = np.array([100.0, 0.0]) + rng.normal(size=(200, 2)) * 20
    np.save(tmp_path / "x.npy", np.vstack([wide, dense]))
    out, saved = tmp_path / "l.csv", tmp_path / "m.safetensors"
    run = tacit(
        "cluster", tmp_path / "x.npy", "--k", 2, "--method", "ward", "--compress", 50,
        "--out", out, "--model", saved, "--json", "--plot", tmp_path / "p.png",
    )  # fmt: skip
    assert run.code == 0, run.err
    labels = labels_in(out)
    assert np.bincount(labels).tolist() == [600, 200]
    assert (labels[:200] == 1).all()
    again = package.load(saved)
    assert again.predict(np.vstack([wide, dense])).tolist() == labels.tolist()
    assert tacit("cluster", tmp_path / "x.npy", "--k", 2, "--compress", 50).code == 2


def test_medoids_of_many_rows_come_from_samples_and_it_says_so(tacit, tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.cli.cluster.MOST_MEDOID_ROWS", 50)
    np.save(tmp_path / "x.npy", clouds(d=3)[0])
    run = tacit("cluster", tmp_path / "x.npy", "--k", 3, "--method", "kmedoids", "--json")
    assert run.code == 0, run.err
    assert "CLARA" in run.err
    assert [group["rows"] for group in json.loads(run.out)["clusters"]] == [40, 25, 15]


@pytest.mark.parametrize("method", ["spherical", "fuzzy", "minibatch", "ward"])
def test_scaled_groups_are_described_in_the_units_of_the_file(tacit, npy, method):
    run = tacit("cluster", npy, "--k", 3, "--scale", "--method", method, "--json")
    result = json.loads(run.out)
    rows, truth = clouds(d=3)
    for group, j in zip(result["clusters"], (1, 2, 0), strict=True):
        expected = rows[truth == j].mean(axis=0)
        assert np.allclose([*group["center"].values()], expected, atol=2.0)


@pytest.mark.parametrize("method", ["ward", "kmedoids", "divisive", "spherical"])
def test_a_hole_in_the_rows_is_named_whatever_the_method(tacit, tmp_path, method):
    rows, _ = clouds(d=3)
    rows[41, 2] = np.nan
    np.save(tmp_path / "x.npy", rows)
    run = tacit("cluster", tmp_path / "x.npy", "--k", 3, "--method", method)
    assert run.code == 4
    assert "x.npy, row 42, column c2" in run.err


def test_confidence_is_high_for_clouds_and_low_for_a_cut_through_one(tacit, npy):
    run = tacit("cluster", npy, "--k", 3, "--confidence", "--json")
    result = json.loads(run.out)
    assert all(group["confidence"] > 0.95 for group in result["clusters"])
    assert result["agreement"] > 0.95
    run = tacit("cluster", npy, "--k", 6, "--confidence")
    assert "Stability" in run.out
    assert "Clusters of resampled rows agree" in run.out


# --- How many ---


def test_auto_chooses_and_explains(tacit, npy):
    run = tacit("cluster", npy, "--k", "auto", "--k-max", 4, "--seed", 1)
    assert run.code == 0, run.err
    assert "3 clusters." in run.out
    assert "silhouette" in run.out
    assert max(map(len, run.out.splitlines())) <= 80
    assert [line.split()[1] for line in run.out.splitlines()[-5:-2]] == ["40", "25", "15"]
    # It is the default, the same anywhere, and makes room for labels.
    again = tacit("cluster", npy, "--k-max", 4, "--seed", 1, "--workers", 1, "--out", "-")
    assert again.out.startswith("row,cluster\n")
    assert run.out in again.err


def test_the_choice_is_in_the_json_and_in_the_picture(tacit, npy, tmp_path):
    path = tmp_path / "p.png"
    arguments = ["--method", "kmedoids", "--k-max", 4, "--json", "--plot", path]
    result = json.loads(tacit("cluster", npy, *arguments).out)
    assert result["k"] == result["choice"]["best"] == 3
    assert [row["k"] for row in result["choice"]["table"]] == [1, 2, 3, 4]
    assert result["choice"]["reasons"]
    assert path.stat().st_size > 20_000
    assert json.loads(tacit("cluster", npy, "--k", 2, "--json").out)["choice"] is None


def test_noise_is_left_in_one_piece(tacit, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(5).uniform(size=(100, 2)))
    run = tacit("cluster", tmp_path / "x.npy", "--k-max", 3)
    assert run.code == 0
    assert "No clusters" in run.out
    assert "100.0%" in run.out


@pytest.mark.parametrize("k", ["0", "-1", "three", "2.5", ""])
def test_other_numbers_are_wrong_usage(tacit, npy, k):
    run = tacit("cluster", npy, f"--k={k}")
    assert run.code == 2
    assert "neither auto nor a number" in run.err


# --- Pictures ---


@pytest.mark.parametrize(
    ("method", "width"), [("kmeans", 1), ("kmeans", 2), ("ward", 2), ("divisive", 3)]
)
def test_pictures_are_drawn_of_every_kind(tacit, tmp_path, method, width):
    np.save(tmp_path / "x.npy", clouds(d=3)[0][:, :width])
    path = tmp_path / "p.png"
    run = tacit(
        "cluster", tmp_path / "x.npy", "--k", 3, "--method", method, "--plot", path, "--json"
    )
    assert run.code == 0, run.err
    assert json.loads(run.out)["plot_file"] == str(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert f"Picture written to {path}." in run.err


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_the_same_picture_has_the_same_bytes(tacit, file, tmp_path, kind):
    paths = [tmp_path / f"{i}.{kind}" for i in range(2)]
    for path in paths:
        arguments = ["--id", "name", "--k", 3, "--method", "average", "--plot", path]
        assert tacit("cluster", file, *arguments).code == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_picture_of_one_group_is_drawn(tacit, npy, tmp_path):
    path = tmp_path / "p.png"
    assert tacit("cluster", npy, "--k", 1, "--method", "ward", "--plot", path).code == 0
    assert path.stat().st_size > 10_000


def test_large_files_are_drawn_by_some_rows(tacit, tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.cli.cluster.MOST_ROWS", 60)
    monkeypatch.setattr("tacit.cli.cluster.EXACT_ROWS", 60)
    np.save(tmp_path / "x.npy", clouds(d=3)[0])
    path = tmp_path / "p.svg"
    run = tacit("cluster", tmp_path / "x.npy", "--k", 3, "--plot", path, "--json")
    assert run.code == 0, run.err
    assert path.stat().st_size > 10_000
    assert json.loads(run.out)["silhouette"] > 0.8


def test_a_picture_that_cannot_be_is_refused_before_the_work(tacit, npy, tmp_path, monkeypatch):
    run = tacit("cluster", npy, "--plot", tmp_path / "p.gif")
    assert run.code == 2
    assert ".png, .pdf, .svg" in run.err
    assert tacit("cluster", npy, "--plot", tmp_path / "no" / "p.png").code == 4
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    run = tacit("cluster", npy, "--k", 3, "--plot", tmp_path / "p.png")
    assert run.code == 2
    assert "pip install 'tacit-learn[plot]'" in run.err


def test_the_legend_of_a_tree_of_centers_counts_rows():
    rows = np.vstack([np.random.default_rng(0).normal(size=(40, 2)), [[50.0, 50.0]]])
    model = AgglomerativeClustering(2, linkage="average", compress=8, random_state=0).fit(rows)
    labels, _ = label_rows(model, rows, 2)
    figure = tree_figure(model, labels, k=2, title="average", ids=None)
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert sorted(texts) == ["cluster 0: 40 rows", "cluster 1: 1 row"]

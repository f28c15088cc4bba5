"""``tacit classify``: the same answers as Python's, from every kind of file."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit as package
from tacit.classify import TextClassifier
from tacit.cluster import KMeans
from tests.classify.test_text_classifier import corpus

TEXTS, LABELS = corpus(40)
NEW, TRUTH = corpus(20, seed=1)


def jsonl(path, texts, labels, name="label"):
    rows = [json.dumps({"text": t, name: y}) for t, y in zip(texts, labels, strict=True)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def train_file(tmp_path):
    return jsonl(tmp_path / "train.jsonl", TEXTS, LABELS)


@pytest.fixture
def test_file(tmp_path):
    return jsonl(tmp_path / "test.jsonl", NEW, TRUTH)


@pytest.fixture
def model(tacit, train_file, tmp_path):
    path = tmp_path / "model.safetensors"
    run = tacit("classify", "train", train_file, "--out", path, "--model", "naive-bayes", "-q")
    assert run.code == 0, run.err
    return path


def write_csv(path, delimiter=","):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([["label", "text"], *zip(LABELS, TEXTS, strict=True)])
    return path


def write_parquet(path):
    pq.write_table(pa.table({"text": TEXTS, "label": LABELS}), path)
    return path


def write_folder(path):
    for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        (path / label).mkdir(parents=True, exist_ok=True)
        (path / label / f"{i:03}.txt").write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.jsonl", lambda path: jsonl(path, TEXTS, LABELS)),
        ("a.csv", write_csv),
        ("a.tsv", lambda path: write_csv(path, "\t")),
        ("a.parquet", write_parquet),
        ("folder", write_folder),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_kind_of_file_trains_the_same_model(tacit, tmp_path, name, write):
    out = tmp_path / "out"
    run = tacit(
        "classify", "train", write(tmp_path / name), "--out", out, "--model", "complement"
    )
    assert run.code == 0, run.err
    wanted = TextClassifier("complement").fit(TEXTS, LABELS)
    loaded = package.load(out)
    np.testing.assert_array_equal(loaded.predict_proba(NEW), wanted.predict_proba(NEW))
    assert "40 documents" in run.out


def test_standard_input_trains_too(tacit, train_file, tmp_path):
    out = tmp_path / "out"
    run = tacit(
        "classify", "train", "-", "--out", out, "--model", "naive-bayes",
        stdin=train_file.read_bytes(),
    )  # fmt: skip
    assert run.code == 0, run.err
    assert package.load(out).n_documents_ == 40


def test_auto_tries_all_and_shows_intervals(tacit, train_file, tmp_path):
    out = tmp_path / "out"
    run = tacit("classify", "train", train_file, "--out", out, "--json", "--folds", 2)
    assert run.code == 0, run.err
    result = json.loads(run.out)
    assert {row["name"] for row in result["table"]} >= {
        "naive-bayes", "bernoulli", "complement", "perceptron", "passive-aggressive",
    }  # fmt: skip
    assert result["best"] == result["table"][0]["name"]
    for row in result["table"]:
        assert row["interval"][0] <= row["accuracy"] <= row["interval"][1]
    assert package.load(out).classifier == result["best"]


def test_labels_are_predicted_as_python_does(tacit, model, test_file):
    run = tacit("classify", "predict", model, test_file, "-q")
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert [row["label"] for row in rows] == TRUTH
    wanted = package.load(model).predict_proba(NEW).max(axis=1)
    np.testing.assert_allclose([float(row["probability"]) for row in rows], wanted, rtol=1e-5)
    run = tacit("classify", "predict", model, "-", "--json", stdin="\n".join(NEW).encode())
    assert [row["label"] for row in json.loads(run.out)["labels"]] == TRUTH


def test_a_model_without_probabilities_gives_labels(tacit, train_file, test_file, tmp_path):
    out, csv_file = tmp_path / "out", tmp_path / "labels.csv"
    tacit("classify", "train", train_file, "--out", out, "--model", "perceptron", "-q")
    run = tacit("classify", "predict", out, test_file, "--out", csv_file)
    assert run.code == 0, run.err
    rows = list(csv.DictReader(io.StringIO(csv_file.read_text())))
    assert list(rows[0]) == ["id", "label"]
    assert [row["label"] for row in rows] == TRUTH


def test_evaluation_counts_and_compares(tacit, model, train_file, test_file, tmp_path):
    other = tmp_path / "other"
    tacit("classify", "train", train_file, "--out", other, "--model", "perceptron", "-q")
    wrong = jsonl(tmp_path / "w.jsonl", NEW, ["law", *TRUTH[1:]])  # one label is wrong
    run = tacit("classify", "evaluate", model, wrong, "--against", other, "--json", "-q")
    result = json.loads(run.out)
    assert result["accuracy"] == 19 / 20
    assert result["table"] == [[10, 1], [0, 9]]
    assert result["against"]["mcnemar"]["p_value"] == 1.0
    assert 0 <= result["calibration"]["error"] <= 1
    run = tacit("classify", "evaluate", model, test_file)
    assert "accuracy 1.0000" in run.out
    assert "19 times of 20" in run.out


def test_labels_that_the_model_does_not_know_are_wrong(tacit, model, tmp_path):
    path = jsonl(tmp_path / "x.jsonl", NEW, ["air", *TRUTH[1:]])
    run = tacit("classify", "evaluate", model, path)
    assert run.code == 0, run.err
    assert "1 documents have labels that the model does not know" in run.err
    assert "accuracy 0.9500" in run.out


def test_decisions_are_explained(tacit, model):
    run = tacit("classify", "explain", model, "the whale in court, whale", "--json")
    result = json.loads(run.out)
    assert result["label"] == "sea"
    assert result["pushes"][0]["term"] == "whale"
    assert result["pushes"][0]["weight"] > 0
    total = sum(each["weight"] for each in result["pushes"])
    assert total + result["rest"] + result["offset"] == pytest.approx(result["lead"])
    run = tacit("classify", "explain", model, "-", stdin=b"judge and jury")
    assert run.out.splitlines()[0].startswith("law rather than sea, by ")
    run = tacit("classify", "explain", model, "--top", 3)
    assert run.out.splitlines()[0] == "law"
    assert len(run.out.splitlines()) == 8
    run = tacit("classify", "explain", model, "zzz")
    assert "No word of it is known" in run.out


def test_numbers_are_labels_too(tacit, tmp_path):
    numbers = [int(label == "sea") for label in LABELS]
    path, out = jsonl(tmp_path / "n.jsonl", TEXTS, numbers, "stars"), tmp_path / "out"
    run = tacit(
        "classify", "train", path, "--out", out, "--label", "stars", "--model", "naive-bayes"
    )
    assert run.code == 0, run.err
    assert package.load(out).classes_.tolist() == [0, 1]
    run = tacit("classify", "evaluate", out, path, "--label", "stars", "--json")
    assert json.loads(run.out)["accuracy"] == 1.0
    run = tacit("classify", "explain", out, "whale", "--class", "1", "--json")
    assert json.loads(run.out)["label"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--label", "stars"], 2, "no column 'stars'"),
        (["--model", "bayes"], 2, "bayes"),
        (["--folds", "1"], 2, "folds"),
    ],
)
def test_wrong_usage(tacit, train_file, tmp_path, arguments, code, words):
    run = tacit("classify", "train", train_file, "--out", tmp_path / "o", *arguments)
    assert run.code == code
    assert words in run.err
    assert not (tmp_path / "o").exists()


def test_bad_input(tacit, train_file, model, tmp_path):
    out = tmp_path / "o"
    one = jsonl(tmp_path / "one.jsonl", TEXTS[:3], ["a"] * 3)
    run = tacit("classify", "train", one, "--out", out)
    assert run.code == 4
    assert "at least two labels" in run.err
    gap = jsonl(tmp_path / "gap.jsonl", TEXTS[:3], ["a", None, "b"])
    run = tacit("classify", "train", gap, "--out", out)
    assert run.code == 4
    assert "row 1, column label: the label is missing" in run.err
    flat = tmp_path / "flat"
    flat.mkdir()
    (flat / "a.txt").write_text("words")
    run = tacit("classify", "train", flat, "--out", out)
    assert run.code == 4
    assert "lies in no folder" in run.err
    KMeans(2, random_state=0).fit(np.arange(8.0).reshape(4, 2)).save(out)
    run = tacit("classify", "predict", out, train_file)
    assert run.code == 2
    assert "holds a KMeans" in run.err
    run = tacit("classify", "predict", model, train_file, "--json", "--out", out)
    assert run.code == 2

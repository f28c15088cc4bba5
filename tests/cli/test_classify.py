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
from tacit.cli.main import main
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


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifier")
    train, path = jsonl(folder / "train.jsonl", TEXTS, LABELS), folder / "model.safetensors"
    arguments = ["classify", "train", train, "--out", path, "--model", "naive-bayes", "-q"]
    assert main([str(each) for each in arguments]) == 0
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


def test_single_words_get_features_of_characters(tacit, tmp_path):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list(each), 7)) for each in ("abcdef", "uvwxyz") * 30]
    file = jsonl(tmp_path / "words.jsonl", words, ["first", "last"] * 30)
    train = ("classify", "train", file, "--out", tmp_path / "m", "--model", "naive-bayes")
    run = tacit(*train)
    assert run.code == 0, run.err
    assert "Features: characters" in run.out
    assert package.load(tmp_path / "m").features_ == "characters"
    result = json.loads(tacit(*train, "--json").out)
    assert result["table"][0]["accuracy"] == 1
    assert result["features"]["accuracy"]["words"] < 0.7
    for options in (["--characters"], ["--min-df", 2]):
        assert json.loads(tacit(*train, "--json", *options).out)["table"][0]["accuracy"] == 1
    result = json.loads(tacit(*train, "--json", "--ngrams", 1).out)
    assert result["table"][0]["accuracy"] < 0.7


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
    assert "95% confidence interval" in run.out


def test_labels_that_the_model_does_not_know_are_wrong(tacit, model, tmp_path):
    path = jsonl(tmp_path / "x.jsonl", NEW, ["air", *TRUTH[1:]])
    run = tacit("classify", "evaluate", model, path)
    assert run.code == 0, run.err
    assert "1 document has labels that the model does not know" in run.err
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
    assert run.out.splitlines()[0].startswith("law, ahead of sea by ")
    run = tacit("classify", "explain", model, model)
    assert run.code == 2
    assert "is a file" in run.err
    run = tacit("classify", "explain", model, "--top", 3)
    assert run.out.splitlines()[0] == "law"
    assert len(run.out.splitlines()) == 8
    run = tacit("classify", "explain", model, "zzz")
    assert "The model knows none of its words" in run.out


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
    assert "row 2, column label: the label of document 2 is missing" in run.err
    flat = tmp_path / "flat"
    flat.mkdir()
    (flat / "a.txt").write_text("words")
    run = tacit("classify", "train", flat, "--out", out)
    assert run.code == 4
    assert "is not in a subfolder" in run.err
    KMeans(2, random_state=0).fit(np.arange(8.0).reshape(4, 2)).save(out)
    run = tacit("classify", "predict", out, train_file)
    assert run.code == 4
    assert "holds a KMeans" in run.err
    run = tacit("classify", "predict", model, train_file, "--json", "--out", out)
    assert run.code == 2


@pytest.mark.parametrize("content", ["", "label,text\n"])
@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_a_file_without_documents_is_bad_input_and_not_wrong_usage(
    tacit, tmp_path, model, command, content
):
    path = tmp_path / "none.csv"
    path.write_text(content)
    out = ["--out", tmp_path / "new.safetensors"] if command == "train" else []
    before = [] if command == "train" else [model]
    run = tacit("classify", command, *before, path, *out, "-q")
    assert run.code == 4
    assert f"{path} holds no documents" in run.err


def test_lines_have_no_labels_and_the_message_says_what_has(tacit, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("one\ntwo\n")
    run = tacit("classify", "train", path, "--out", tmp_path / "m.safetensors", "-q")
    assert run.code == 2
    assert "has no column besides the text" in run.err
    assert "--format" in run.err


def test_a_model_is_not_written_to_a_file_called_dash(tacit, train_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = tacit("classify", "train", train_file, "--out", "-", "--model", "naive-bayes")
    assert run.code == 2
    assert "Models, matrices and pictures cannot go to standard output" in run.err
    assert not (tmp_path / "-").exists()


def test_truth_values_are_the_same_labels_in_every_format(tacit, tmp_path):
    truths = [label == "sea" for label in LABELS]
    packed, lines = tmp_path / "truths.parquet", tmp_path / "truths.jsonl"
    pq.write_table(pa.table({"text": TEXTS, "label": truths}), packed)
    jsonl(lines, TEXTS, truths)
    out = tmp_path / "truths.safetensors"
    run = tacit("classify", "train", packed, "--out", out, "--model", "naive-bayes", "--json")
    assert json.loads(run.out)["classes"] == ["false", "true"]
    results = [tacit("classify", "evaluate", out, each, "--json") for each in (packed, lines)]
    first, second = (json.loads(each.out) for each in results)
    assert first["classes"] == second["classes"] == ["false", "true"]
    assert first["accuracy"] == second["accuracy"] > 0.9


@pytest.mark.parametrize("kind", [bool, float, int])
def test_a_model_made_in_python_is_asked_about_labels_of_its_kind(tacit, tmp_path, kind):
    out = tmp_path / "python.safetensors"
    labels = [kind(label == "sea") for label in LABELS]
    TextClassifier("naive-bayes").fit(TEXTS, labels).save(out)
    path = jsonl(tmp_path / "python.jsonl", TEXTS, labels)
    run = tacit("classify", "evaluate", out, path, "--json")
    assert run.code == 0, run.err
    result = json.loads(run.out)
    assert result["classes"] == [kind(0), kind(1)]
    assert result["accuracy"] > 0.9
    run = tacit("classify", "explain", out, "--class", str(kind(1)), TEXTS[0], "--json")
    assert run.code == 0, run.err
    assert json.loads(run.out)["class_"] == kind(1)


def test_whole_numbers_that_no_computer_word_holds_are_labels(tacit, tmp_path):
    labels = [10**25 if label == "sea" else 5 for label in LABELS]
    path = jsonl(tmp_path / "long.jsonl", TEXTS, labels)
    out = tmp_path / "long.safetensors"
    run = tacit("classify", "train", path, "--out", out, "--model", "naive-bayes", "--json")
    assert run.code == 0, run.err
    assert sorted(json.loads(run.out)["classes"]) == sorted([str(10**25), "5"])


def test_models_with_labels_of_different_kinds_are_compared_or_refused(
    tacit, model, tmp_path, test_file
):
    out = tmp_path / "numbers.safetensors"
    numbers = [int(label == "sea") for label in LABELS]
    TextClassifier("naive-bayes").fit(TEXTS, numbers).save(out)
    run = tacit("classify", "evaluate", model, test_file, "--against", out, "--json")
    assert run.code == 0, run.err
    assert json.loads(run.out)["against"]["accuracy"] == 0
    path = jsonl(tmp_path / "numbers.jsonl", NEW, [int(label == "sea") for label in TRUTH])
    run = tacit("classify", "evaluate", out, path, "--against", model)
    assert run.code == 2
    assert "--against" in run.err


def test_a_class_that_is_unknown_is_named_as_it_was_given(tacit, model, tmp_path):
    run = tacit("classify", "explain", model, "--class", "nope", "money")
    assert run.code == 2
    assert "--class" in run.err
    assert "'nope'" in run.err
    assert "np." not in run.err


def test_a_label_of_many_lines_takes_one_line_of_the_table(tacit, tmp_path):
    labels = ["\x1b[31mx\ny" if label == "sea" else "h" * 3000 for label in LABELS]
    path = jsonl(tmp_path / "odd.jsonl", TEXTS, labels)
    out = tmp_path / "odd.safetensors"
    run = tacit("classify", "train", path, "--out", out, "--model", "naive-bayes", "-q")
    assert run.code == 0, run.err
    run = tacit("classify", "evaluate", out, path, "-q")
    lines = run.out.splitlines()
    assert max(map(len, lines)) < 100
    assert sum(line.startswith(("x y", "hhh", "macro")) for line in lines) == 3
    assert "\x1b" not in run.out


def test_a_guessed_column_of_labels_is_named(tacit, tmp_path):
    path, out = jsonl(tmp_path / "some.jsonl", TEXTS, LABELS, "category"), tmp_path / "m.st"
    guess = "Guessed: labels are in column 'category'."
    train = ("classify", "train", path, "--out", out, "--model", "naive-bayes")
    assert guess in tacit(*train).err
    assert guess not in tacit(*train, "--label", "category").err
    assert guess not in tacit(*train, "--quiet").err
    assert guess in tacit("classify", "evaluate", out, path).err


def test_subfolders_are_the_labels_though_file_names_give_columns(tacit, tmp_path):
    for label, words in (("spam", "win free money"), ("ham", "lunch at noon")):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for i in range(6):
            (tmp_path / "mail" / label / f"ann_{1900 + i}_{i}.txt").write_text(f"{words} {i}")
    model = tmp_path / "m.safetensors"
    options = ["--model", "naive-bayes", "--out", model]
    training = tacit("classify", "train", tmp_path / "mail", *options)
    assert training.code == 0, training.err
    assert "2 classes" in training.out + training.err

"""``tacit mixture``, ``tacit label`` and ``tacit senses`` as a user calls them."""

import csv
import json
import warnings

import numpy as np
import pytest

import tacit
from tacit.cli.main import main


@pytest.fixture
def numbers(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1, (80, 2)), rng.normal(8, 1, (40, 2))])
    path = tmp_path / "rows.csv"
    lines = ["a,b", *(f"{x:.4f},{y:.4f}" for x, y in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


@pytest.fixture
def mail(tmp_path):
    sea = ["the ship sailed on the sea", "a sailor on a ship at sea", "waves at sea and a ship"]
    land = ["rye bread and flour", "bake bread with flour", "flour for the bread oven"]
    path = tmp_path / "mail.csv"
    with path.open("w", newline="", encoding="utf8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text", "label"])
        for i, text in enumerate(4 * (sea + land)):
            label = {0: "sea", 3: "land"}.get(i, "")
            writer.writerow([f"m{i}", text, label])
    return path


def test_mixture_chooses_two_components(numbers, tmp_path, capsys):
    out, model = tmp_path / "p.csv", tmp_path / "m.safetensors"
    code = main(["mixture", str(numbers), "--json", "--out", str(out), "--model", str(model)])
    assert code == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["k"] == 2
    assert sorted(round(each["weight"], 1) for each in answer["components"]) == [0.3, 0.7]
    assert len(out.read_text().splitlines()) == 121
    assert tacit.load(model).n_components == 2


def test_an_empty_cell_is_a_missing_value(tmp_path, capsys):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n1,2\n2,\n,3\n4,NA\n5,4\n9,9\n", encoding="utf8")
    assert main(["mixture", str(path), "-k", "1", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["missing_values"] == 3
    assert "3 values are missing, in 2 of the columns" in shown.err
    assert main(["reduce", str(path), "--method", "ppca", "-k", "1"]) == 0
    assert main(["reduce", str(path)]) == 4
    path.write_text("a,b\n1,2\n2,inf\n", encoding="utf8")
    assert main(["mixture", str(path), "-k", "1"]) == 4


def test_mixture_prints_a_table(numbers, capsys):
    assert main(["mixture", str(numbers), "-k", "2", "--covariance", "diag"]) == 0
    shown = capsys.readouterr().out
    assert "Component" in shown
    assert "Mean log-likelihood" in shown


def test_mixture_lowers_k_to_the_rows(tmp_path, capsys):
    path = tmp_path / "two.csv"
    path.write_text("a\n1\n5\n9\n", encoding="utf8")
    with warnings.catch_warnings():
        warnings.simplefilter("always")  # the command prints them
        assert main(["mixture", str(path), "-k", "7"]) == 0
    notes = capsys.readouterr().err
    assert "so k is 3, not 7" in notes
    assert "at the floor" in notes


def test_label_fills_in_the_unknown_labels(mail, tmp_path, capsys):
    out = tmp_path / "labeled.csv"
    assert main(["label", str(mail), "--out", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["labeled"] == 2
    with out.open(encoding="utf8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["label"] for row in rows] == 4 * (3 * ["sea"] + 3 * ["land"])
    assert [row["given"] for row in rows[:4]] == ["yes", "no", "no", "yes"]
    assert all(0.5 <= float(row["probability"]) <= 1 for row in rows)


def test_label_without_any_label_is_refused(tmp_path, capsys):
    path = tmp_path / "none.csv"
    path.write_text("text,label\nsome words,\nmore words,\n", encoding="utf8")
    assert main(["label", str(path)]) == 4
    assert "no document has a label" in capsys.readouterr().err


def test_label_refuses_a_weight_out_of_range(mail, capsys):
    assert main(["label", str(mail), "--weight", "2"]) == 2
    assert "from 0 to 1" in capsys.readouterr().err


def test_senses_shows_words_and_examples(tmp_path, capsys):
    path = tmp_path / "lines.txt"
    money = "the bank gave a loan with interest on the account"
    river = "the river bank was muddy where fish swam in water"
    path.write_text("\n".join([money, river] * 10) + "\n", encoding="utf8")
    assert main(["senses", "bank", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["occurrences"] == 20
    assert [sense["size"] for sense in answer["senses"]] == [10, 10]
    assert main(["senses", "bank", str(path)]) == 0
    assert "10 occurrences:" in capsys.readouterr().out


def test_senses_of_a_missing_word_say_so(tmp_path, capsys):
    path = tmp_path / "lines.txt"
    path.write_text("one line\n", encoding="utf8")
    assert main(["senses", "zebra", str(path)]) == 4
    assert "does not occur" in capsys.readouterr().err

"""``tacit counts`` and ``tacit words``: the command line says what Python says."""

import csv
import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp

from tacit.cli.main import main
from tacit.search import SemanticIndex
from tacit.text import CountVectorizer

TEXTS = [
    "The whale surfaced near the ship.",
    "A ship sailed past the whale and the harpoon.",
    "The harpoon struck; the whale dived.",
    "Bread needs flour, water and yeast.",
    "Knead the flour and let the bread rise with yeast.",
    "Water the dough; bake the bread.",
] * 3


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    return str(path)


def test_counts_are_those_of_python(lines, tmp_path, capsys):
    table, matrix = tmp_path / "counts.csv", tmp_path / "matrix.npz"
    assert main(["counts", lines, "--out", str(table), "--matrix", str(matrix), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    vectorizer = CountVectorizer()
    expected = vectorizer.fit_transform(TEXTS)
    assert result["documents"] == len(TEXTS)
    assert result["tokens"] == expected.sum()
    assert result["top"][0] == {"term": "the", "count": 30, "documents": 15}
    np.testing.assert_array_equal(sp.load_npz(matrix).toarray(), expected.toarray())
    with open(table, newline="") as file:
        rows = {row["term"]: int(row["count"]) for row in csv.DictReader(file)}
    totals = np.asarray(expected.sum(axis=0)).ravel()
    names = vectorizer.get_feature_names_out()
    assert rows == dict(zip(names, totals.tolist(), strict=True))


def test_counts_are_shown_to_people(lines, capsys):
    assert main(["counts", lines, "--top", "2", "--stop-words", "english"]) == 0
    shown = capsys.readouterr()
    assert "18 documents" in shown.out
    assert "bread" in shown.out or "whale" in shown.out
    assert "18 documents" in shown.err


def test_nothing_to_count_is_bad_input(tmp_path, capsys):
    path = tmp_path / "empty.txt"
    path.write_text("\n\n", encoding="utf-8")
    assert main(["counts", str(path)]) == 4
    assert "Error:" in capsys.readouterr().err


def test_a_truncated_file_is_counted_as_far_as_it_goes(tmp_path, capsys):
    compressed = gzip.compress("\n".join(json.dumps({"text": t}) for t in TEXTS * 50).encode())
    path = tmp_path / "texts.jsonl.gz"
    path.write_bytes(compressed[: len(compressed) // 2])
    assert main(["counts", str(path), "--top", "1"]) == 3
    shown = capsys.readouterr()
    assert "the" in shown.out
    assert "truncated" in shown.err
    assert main(["counts", str(path), "--top", "1", "--allow-partial"]) == 0


def test_similar_words_are_those_of_python(lines, tmp_path, capsys):
    index = str(tmp_path / "meaning.safetensors")
    build = ["index", "build", lines, "--semantic", "--components", "2", "--out", index]
    assert main([*build, "--format", "lines"]) == 0
    capsys.readouterr()
    assert main(["words", "similar", index, "whale", "--top", "3", "--json"]) == 0
    hits = json.loads(capsys.readouterr().out)["similar"]
    model = SemanticIndex(n_components=2, random_state=0).fit(TEXTS)
    assert [hit["word"] for hit in hits] == [h.id for h in model.similar_terms("whale", top=3)]
    assert {hit["word"] for hit in hits} & {"harpoon", "ship", "surfaced", "struck"}


def test_an_index_of_words_knows_no_meanings(lines, tmp_path, capsys):
    index = str(tmp_path / "words.safetensors")
    assert main(["index", "build", lines, "--out", index]) == 0
    assert main(["words", "similar", index, "whale"]) == 4
    assert "--semantic" in capsys.readouterr().err

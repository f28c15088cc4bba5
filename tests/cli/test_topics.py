"""``tacit topics`` as a user calls it."""

import csv
import json

import numpy as np
import pytest

from tacit.cluster import KMeans

SEA, LAND = "ship sea sail wave captain", "bread flour oven rye baker"


@pytest.fixture
def letters(tmp_path):
    path = tmp_path / "letters.csv"
    with path.open("w", newline="", encoding="utf8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text", "year"])
        for i in range(40):
            words = (SEA if i % 2 else LAND).split()
            writer.writerow([f"m{i}", " ".join([*words, words[i % 5]]), 1900 + i % 2])
    return path


@pytest.fixture
def model(letters, tmp_path, tacit):
    path = tmp_path / "topics.safetensors"
    assert tacit("topics", letters, "--k", 2, "--passes", 60, "--model", path).code == 0
    return path


def test_topics_of_a_file(letters, tmp_path, tacit):
    out = tmp_path / "theta.csv"
    run = tacit(
        "topics", letters, "-k", "2", "--passes", "60", "--json", "--by", "year", "--out", out
    )
    assert run.code == 0
    answer = json.loads(run.out)
    top_words = [{word["word"] for word in topic["words"][:5]} for topic in answer["topics"]]
    assert set(SEA.split()) in top_words
    assert answer["by"]["groups"] == ["1900", "1901"]
    assert answer["topics"][0]["documents"][0]["id"].startswith("m")
    rows = list(csv.reader(out.read_text(encoding="utf8").splitlines()))
    assert rows[0] == ["id", "topic0", "topic1"]
    assert len(rows) == 41


def test_markup_is_no_topic_unless_asked_for(tmp_path, tacit):
    path = tmp_path / "news.csv"
    rows = [f"{(SEA if i % 2 else LAND)} &lt;b&gt;{i}&lt;/b&gt; it#39;s" for i in range(40)]
    path.write_text("\n".join(["text", *rows]), encoding="utf8")

    def words(*options):
        run = tacit("topics", path, "-k", 2, "--passes", 20, "--json", *options)
        topics = json.loads(run.out)["topics"]
        return {word["word"] for topic in topics for word in topic["words"]}, run.err

    cleaned, said = words()
    assert cleaned == {*SEA.split(), *LAND.split()}
    assert "HTML entities of 40 documents were decoded." in said
    raw, said = words("--no-clean")
    assert {"lt", "gt", "39"} <= raw
    assert "entities" not in said


def test_the_number_of_topics_is_chosen(letters, tacit):
    run = tacit("topics", letters, "--passes", "20", "--json")
    answer = json.loads(run.out)
    assert answer["k"] == answer["choice"]["best"] == 5


def test_other_inferences(letters, tacit):
    for method in ("variational", "online"):
        run = tacit("topics", letters, "-k", 2, "--passes", 5, "--method", method)
        assert run.code == 0
        assert "coherence" in run.out


def test_topics_are_shown(model, tacit):
    run = tacit("topics", "show", model, "--top", 4)
    assert run.code == 0
    assert "Topic" in run.out
    one = tacit("topics", "show", model, "--topic", 1, "--json")
    assert len(json.loads(one.out)["topics"]) == 1
    assert tacit("topics", "show", model, "--topic", 7).code == 2


def test_topics_of_new_documents_are_inferred(model, tmp_path, tacit):
    new = tmp_path / "new.txt"
    new.write_text("a ship at sea\nbread from the oven\n\n", encoding="utf8")
    answer = json.loads(tacit("topics", "infer", model, new, "--json", "--top", 1).out)
    first, second = (each["topics"][0]["topic"] for each in answer["documents"][:2])
    assert first != second
    run = tacit("topics", "infer", model, new, "--out", "-", "--quiet")
    assert run.out.startswith("id,topic0,topic1")


def test_a_model_is_evaluated(model, letters, tacit):
    for likelihood in ("completion", "left-to-right"):
        run = tacit("topics", "evaluate", model, letters, "--likelihood", likelihood, "--json")
        answer = json.loads(run.out)
        assert 4 < answer["perplexity"] < 8  # five words a topic


def test_bad_input_has_its_exit_code(letters, model, tmp_path, tacit):
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert tacit("topics", empty, "-k", 2).code == 4
    assert tacit("topics", tmp_path / "missing.csv").code == 4
    assert tacit("topics", letters, "--by", "author").code == 2
    assert tacit("topics", letters, "-k", "none").code == 2
    assert tacit("topics", "evaluate", model, empty).code == 4
    other = tmp_path / "kmeans.safetensors"
    KMeans(1).fit(np.zeros((2, 1))).save(other)
    run = tacit("topics", "show", other)
    assert run.code == 4
    assert "not a topic model" in run.err
    model.write_bytes(model.read_bytes()[:-20])
    assert tacit("topics", "show", model).code == 4


def test_only_one_result_goes_to_standard_output(letters, model, tacit):
    fit = ["topics", letters, "-k", 2, "--passes", 5]
    infer = ["topics", "infer", model, letters]
    for call in (fit, infer):
        run = tacit(*call, "--out", "-", "--json")
        assert run.code == 2
        assert "both want standard output" in run.err
        run = tacit(*call, "--out", "-")
        assert run.code == 0
        assert run.out.startswith("id,topic0,topic1")
        assert len(run.out.splitlines()) == 41


def test_one_document_and_more_topics_than_documents(tmp_path, tacit):
    one = tmp_path / "one.txt"
    one.write_text("ship sea sail\n")
    assert tacit("topics", one).code == 0
    assert tacit("topics", one, "-k", 7, "--passes", 5).code == 0


def test_help_teaches(tacit):
    assert "tacit topics show" in tacit("topics", "--help").out
    assert "Example" in tacit("topics", "fit", "--help").out

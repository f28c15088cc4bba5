"""``tacit words`` as a user calls it."""

import json

import numpy as np
import pytest

import tacit as package
from tacit.words import WordVectors
from tests.words.test_word2vec import topics


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(" ".join(sentence) for sentence in topics(200)))
    return path


@pytest.fixture
def royals(tmp_path):
    rows = [[0, 1, 5], [1, 1, 5], [0, 3, 5], [1, 3, 5], [9, 0, 0]]
    path = tmp_path / "royals.bin"
    WordVectors.of(["man", "woman", "king", "queen", "apple"], np.array(rows)).write(path)
    return path


@pytest.mark.parametrize("method", ["skip-gram", "cbow", "ppmi"])
def test_train_writes_a_model(tacit, text, tmp_path, method):
    out = tmp_path / "m.safetensors"
    run = tacit("words", "train", text, "--out", out, "--size", 16, "--method", method)
    assert run.code == 0, run.err
    assert "60 words, vectors of dimension 16" in run.out
    assert len(package.load(out).vectors_) == 60
    near = json.loads(tacit("words", "near", out, "a1", "a2", "--top", 3, "--json").out)
    assert len(near["near"]) == 3


@pytest.mark.parametrize("name", ["v.txt", "v.bin"])
def test_train_writes_vectors_in_the_format_of_word2vec(tacit, text, tmp_path, name):
    out = tmp_path / name
    options = ("--size", 16, "--epochs", 1, "--objective", "hierarchical-softmax", "--json")
    run = tacit("words", "train", text, "--out", out, *options)
    assert json.loads(run.out)["words"] == 60
    assert out.read_bytes().startswith(b"60 16\n")
    assert tacit("words", "near", out, "a1").code == 0


def test_train_is_the_same_on_any_number_of_workers(tacit, text, tmp_path):
    for workers in (1, 2):
        out = tmp_path / f"{workers}.bin"
        tacit("words", "train", text, "--out", out, "--size", 16, "--workers", workers, "-q")
    assert (tmp_path / "1.bin").read_bytes() == (tmp_path / "2.bin").read_bytes()


def test_near_and_analogy(tacit, royals):
    run = tacit("words", "analogy", royals, "man", "king", "woman", "--top", 1, "--json")
    assert json.loads(run.out)["near"][0]["word"] == "queen"
    run = tacit("words", "near", royals, "king", "woman", "--minus", "man", "--top", 1)
    assert "queen" in run.out


def test_evaluate(tacit, royals, tmp_path):
    questions, judged = tmp_path / "questions.txt", tmp_path / "judged.tsv"
    questions.write_text(": rank\nman king woman queen\nman dog woman cat\n")
    judged.write_text("man\twoman\t9\nman\tking\t5\nman\tapple\t1\nking\tcat\t0\n")
    options = ("--analogies", questions, "--similarity", judged)
    result = json.loads(tacit("words", "evaluate", royals, *options, "--json").out)
    assert result["analogies"]["total"] == {
        "name": "total", "asked": 1, "correct": 1, "skipped": 1, "accuracy": 1.0,
    }  # fmt: skip
    assert result["similarity"][str(judged)]["spearman"] == 1.0
    run = tacit("words", "evaluate", royals, *options)
    assert "100.0%" in run.out
    assert "Spearman 1.000 on 3 pairs (1 skipped)" in run.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("near", "{royals}", "prince"), 2, "no vector for the word 'prince'"),
        (("near", "{royals}", "King"), 2, "Did you mean 'king'"),
        (("analogy", "{royals}", "a", "king", "man"), 2, "'a'"),
        (("near", "{empty}", "king"), 4, "empty"),
        (("near", "nowhere.bin", "king"), 4, "nowhere.bin"),
        (("evaluate", "{royals}"), 2, "--analogies"),
        (("evaluate", "{royals}", "--analogies", "{empty}"), 4, "no questions"),
        (("train", "{empty}", "--out", "{folder}/m.bin"), 4, "needs words"),
        (("train", "{short}", "--out", "{folder}/m.bin"), 4, "min_count"),
        (("train", "{short}"), 2, "--out"),
        (("train", "nowhere", "--out", "{folder}/m.bin"), 4, "nowhere"),
        (("train", "{short}", "--out", "{folder}/none/m.bin"), 4, "none"),
    ],
)
def test_bad_input_is_explained(tacit, royals, tmp_path, arguments, code, message):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "short.txt").write_text("one two three\n")
    places = {
        "royals": royals, "empty": tmp_path / "empty", "short": tmp_path / "short.txt",
        "folder": tmp_path,
    }  # fmt: skip
    run = tacit("words", *(each.format(**places) for each in arguments))
    assert (run.code, message in run.err) == (code, True), run.err
    assert "Traceback" not in run.err


def test_a_damaged_model_is_refused(tacit, text, tmp_path):
    out = tmp_path / "m.safetensors"
    tacit("words", "train", text, "--out", out, "--size", 16, "--epochs", 1, "-q")
    out.write_bytes(out.read_bytes()[:-100])
    run = tacit("words", "near", out, "a1")
    assert run.code == 4
    assert "m.safetensors" in run.err


def test_words_by_a_semantic_index_still_work(tacit, text, tmp_path):
    index = tmp_path / "index.safetensors"
    built = tacit("index", "build", text, "--semantic", "--out", index)
    assert built.code == 0, built.err
    run = tacit("words", "similar", index, "a1", "--json")
    assert len(json.loads(run.out)["similar"]) == 10
    assert tacit("words", "similar", index, "zzz").code == 2


def test_a_flipped_bit_is_found_before_the_answer_unless_the_file_is_trusted(tacit, tmp_path):
    from tacit.words import WordVectors

    path = tmp_path / "v.safetensors"
    WordVectors.of(["king", "queen"], [[1.0, 2], [2, 1]]).save(path)
    data = bytearray(path.read_bytes())
    data[-2] ^= 1  # in the arrays, which a mapped file does not verify
    path.write_bytes(data)
    for command in (["near", path, "king"], ["analogy", path, "king", "queen", "king"]):
        run = tacit("words", *command)
        assert run.code == 4
        assert "checksum" in run.err
        assert "checksum" not in tacit("words", *command, "--trust").err
    assert tacit("words", "near", path, "king", "--trust").code == 0

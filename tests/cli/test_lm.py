"""``tacit lm``: the command line says what Python says."""

import gzip
import json
import subprocess
import sys

import pytest

import tacit as package
from tacit.cli.main import main
from tacit.core import Threads
from tacit.language import CacheModel, NGramModel, read_arpa

TEXT = [
    "the whale surfaced near the ship",
    "a ship sailed past the whale and the harpoon",
    "the harpoon struck the whale",
    "knead the flour and let the bread rise",
]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("lm") / "text.txt"
    path.write_text("\n".join(TEXT) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(text):
    path = text.with_name("model.safetensors")
    assert main(["lm", "train", str(text), "-o", "3", "--out", str(path)]) == 0
    return path


def test_training_gives_the_model_of_python(text, tmp_path, tacit):
    out, arpa = tmp_path / "m.safetensors", tmp_path / "m.arpa.gz"
    run = tacit(
        "lm", "train", text, "-o", 4, "--prune", 0, 0, 1, "--out", out, "--arpa", arpa, "--json"
    )
    assert run.code == 0
    said = json.loads(run.out)
    expected = NGramModel(4, prune=(0, 0, 1)).fit(TEXT)
    assert said["ngrams"] == expected.ngram_counts_
    assert said["discount_fallbacks"] == expected.discount_fallbacks_
    assert "order 4" in run.err
    for loaded in (package.load(out), read_arpa(arpa)):
        assert loaded.score(TEXT[0]) == expected.score(TEXT[0])


def test_the_command_writes_the_bytes_that_python_writes(text, tmp_path, tacit):
    command, python = tmp_path / "command", tmp_path / "python"
    assert tacit("lm", "train", text, "-o", 3, "--out", command, "--memory", "1GB").code == 0
    NGramModel(3, memory=10**9, engine=Threads()).fit(text).save(python)
    assert command.read_bytes() == python.read_bytes()


def test_training_does_not_import_scikit_learn(text, tmp_path):
    files = ["--out", str(tmp_path / "m"), "--arpa", str(tmp_path / "a")]
    args = ["lm", "train", str(text), *files]
    code = (
        "import sys; from tacit.cli.main import main\n"
        f"try: main({args!r})\n"
        "finally: print('sklearn' in sys.modules, file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (tmp_path / "a").exists()
    assert run.stderr.splitlines()[-1] == "False"


def test_a_limit_that_was_not_kept_is_said(text, tmp_path, tacit):
    args = ["lm", "train", text, "--out", tmp_path / "m"]
    assert "more than --memory" in tacit(*args, "--memory", "1MB").err
    assert "more than --memory" not in tacit(*args, "--memory", "100GB").err


def test_a_model_is_known_by_what_it_holds_not_by_its_name(text, tmp_path, tacit):
    ours, arpa = tmp_path / "model.lm", tmp_path / "arpa.txt"
    assert tacit("lm", "train", text, "--out", ours, "--arpa", arpa).code == 0
    said = [tacit("lm", "next", path, "the").out for path in (ours, arpa)]
    assert said[0] == said[1] != ""


def test_arpa_goes_to_standard_output_as_with_lmplz(tacit, tmp_path):
    run = tacit("lm", "train", "-o", 2, "--arpa", "-", stdin=b"a b\na c\n")
    assert run.code == 0
    path = tmp_path / "out.arpa"
    path.write_text(run.out)
    assert read_arpa(path).score("a b") == NGramModel(2).fit(["a b", "a c"]).score("a b")


def test_settings_reach_the_model(text, tmp_path, tacit):
    words = tmp_path / "words.txt"
    words.write_text("the whale\nship")
    out = tmp_path / "m.safetensors"
    args = ["lm", "train", text, "-o", 2, "--out", out, "--smoothing", "add-k", "--add", 0.5]
    assert tacit(*args, "--limit_vocab_file", words, "--memory", "10kB").code == 0
    loaded = package.load(out)
    expected = NGramModel(2, smoothing="add-k", k=0.5, vocabulary=["the", "whale", "ship"])
    assert loaded.score(TEXT[1]) == expected.fit(TEXT).score(TEXT[1])
    assert tacit(*args[:-4], "--quantize", "--tokenizer", "char").code == 0
    assert package.load(out)._probs.dtype == "uint8"


def test_lines_are_scored(model, tacit):
    run = tacit("lm", "score", model, stdin=b"the whale\nthe kraken\n")
    assert run.code == 0
    expected = package.load(model)
    rows = [line.split("\t") for line in run.out.splitlines()]
    assert [row[1] for row in rows] == ["the whale", "the kraken"]
    assert float(rows[0][0]) == pytest.approx(expected.score("the whale"), abs=1e-4)
    loaded = json.loads(tacit("lm", "score", model, "--json", stdin=b"the whale\n").out)
    assert loaded["sentences"][0]["score"] == pytest.approx(expected.score("the whale"))


def test_perplexity_is_pythons(model, text, tacit):
    expected = package.load(model).perplexity(TEXT)
    run = tacit("lm", "perplexity", model, text, "--json")
    assert run.code == 0
    assert json.loads(run.out)["ppl"] == pytest.approx(expected.ppl)
    assert f"ppl {expected.ppl:.2f}" in tacit("lm", "perplexity", model, text).out


def test_a_cache_and_a_second_model_can_help(model, text, tmp_path, tacit):
    loaded = package.load(model)
    run = tacit("lm", "perplexity", model, text, "--cache", text, "--json")
    expected = CacheModel(loaded).fit(TEXT).perplexity(TEXT)
    assert json.loads(run.out)["ppl"] == pytest.approx(expected.ppl)
    second = tmp_path / "second.arpa"
    assert tacit("lm", "train", text, "-o", 1, "--arpa", second).code == 0
    run = tacit("lm", "perplexity", model, text, "--mix", second, "--held-out", text, "--json")
    assert sum(json.loads(run.out)["weights"]) == pytest.approx(1)
    assert tacit("lm", "perplexity", model, text, "--mix", second).code == 2
    assert (
        tacit(
            "lm", "perplexity", model, text, "--mix", model, "--held-out", text, "--cache", text
        ).code
        == 2
    )


def test_words_are_generated_predicted_and_completed(model, tacit):
    loaded = package.load(model)
    runs = [tacit("lm", "generate", model, "-n", 3, "--seed", 5) for _ in range(2)]
    assert runs[0].out == runs[1].out
    assert len(runs[0].out.splitlines()) == 3
    drawn = json.loads(tacit("lm", "generate", model, "-n", 3, "--seed", 5, "--json").out)
    assert drawn["sentences"] == runs[0].out.splitlines()
    run = tacit("lm", "next", model, "let", "the", "--top", 2, "--json")
    assert [each["word"] for each in json.loads(run.out)["next"]] == [
        word for word, _ in loaded.next_words("let the", top=2)
    ]
    assert tacit("lm", "next", model, "let", "the", "--top", 1).out.endswith("bread\n")
    run = tacit("lm", "complete", model, "the harpoon st", "--top", 1)
    assert run.out.splitlines()[1].split() == ["the", "harpoon", "struck", "1"]
    run = tacit("lm", "complete", model, "the harpoon st", "--json")
    assert json.loads(run.out)["completions"][0]["text"] == "the harpoon struck"


def test_models_convert_both_ways(model, tmp_path, tacit):
    arpa, back = tmp_path / "m.arpa", tmp_path / "back.safetensors"
    assert tacit("lm", "convert", model, arpa).code == 0
    assert tacit("lm", "convert", arpa, back).code == 0
    assert package.load(back).score(TEXT[0]) == package.load(model).score(TEXT[0])
    small = tmp_path / "small.safetensors"
    assert tacit("lm", "convert", model, small, "--quantize").code == 0
    assert package.load(small)._probs.dtype == "uint8"


def test_what_goes_wrong_has_its_exit_code(text, model, tmp_path, tacit):
    assert tacit("lm", "train", text).code == 2
    assert tacit("lm", "train", text, "--out", tmp_path / "x", "--prune").code == 2
    assert tacit("lm", "train", text, "--out", tmp_path / "x", "--prune", 1, 0).code == 4
    assert tacit("lm", "train", text, "--arpa", "-", "--json").code == 2
    assert tacit("lm", "train", tmp_path / "none.txt", "--out", tmp_path / "x").code == 4
    assert tacit("lm", "train", "-", "--out", tmp_path / "x", stdin=b"\n\n").code == 4
    assert tacit("lm", "score", text, text).code == 4
    assert tacit("lm", "score", tmp_path / "none.arpa", text).code == 4
    assert not (tmp_path / "x").exists()
    packed = gzip.compress(("\n".join(TEXT) * 2000).encode())
    half = tmp_path / "half.txt.gz"
    half.write_bytes(packed[: len(packed) // 2])
    assert tacit("lm", "train", half, "--out", tmp_path / "half.safetensors").code == 3
    assert package.load(tmp_path / "half.safetensors").score("the whale") < 0


def test_other_models_are_not_language_models(tmp_path, tacit):
    from tacit.text import CountVectorizer

    path = tmp_path / "counts.safetensors"
    CountVectorizer().fit(TEXT).save(path)
    run = tacit("lm", "next", path, "the")
    assert run.code == 4
    assert "not a language model" in run.err


def test_a_flipped_bit_in_a_model_is_an_error_and_no_crash(model, text, tmp_path, tacit):
    sound = model.read_bytes()
    begin = 8 + int.from_bytes(sound[:8], "little")
    for place in range(begin, len(sound), 29):
        harmed = bytearray(sound)
        harmed[place] ^= 1 << place % 8
        path = tmp_path / "harmed.lm"
        path.write_bytes(harmed)
        run = tacit("lm", "score", path, text)
        assert run.code == 4
        assert "harmed.lm" in run.err


def test_the_files_of_a_folder_are_scored_line_by_line(model, text, tmp_path, tacit):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "text.txt").write_bytes(text.read_bytes())
    run = tacit("lm", "score", model, folder)
    assert run.out == tacit("lm", "score", model, text).out
    assert len(run.out.splitlines()) == len(TEXT)


def test_what_is_no_text_does_not_go_to_a_file_called_minus(
    model, text, tmp_path, tacit, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for command in (["train", text, "--out", "-"], ["convert", model, "-"]):
        run = tacit("lm", *command)
        assert run.code == 2
        assert "Models, matrices and pictures cannot go to standard output" in run.err
    assert not (tmp_path / "-").exists()


def test_two_outputs_need_two_names_and_standard_input_is_read_once(model, text, tacit):
    run = tacit("lm", "train", text, "--out", "same.lm", "--arpa", "same.lm")
    assert run.code == 2
    assert "different names" in run.err
    run = tacit("lm", "perplexity", model, "-", "--mix", model, "--held-out", "-", stdin=b"a\n")
    assert run.code == 2
    assert "only once" in run.err


def test_a_file_of_words_may_have_a_mark_but_not_be_empty(text, tmp_path, tacit):
    words, out = tmp_path / "words.txt", tmp_path / "m.lm"
    words.write_bytes(b"\xef\xbb\xbfwhale\nthe\n")
    assert tacit("lm", "train", text, "--out", out, "--limit-vocab-file", words).code == 0
    assert package.load(out).words_[3:] == ["the", "whale"]
    words.write_bytes(b"\n \n")
    run = tacit("lm", "train", text, "--out", out, "--limit-vocab-file", words)
    assert run.code == 4
    assert "there is no word in it" in run.err


def test_a_temperature_without_end_is_refused(model, tacit):
    run = tacit("lm", "generate", model, "--temperature", "inf")
    assert run.code == 4
    assert "temperature=inf" in run.err

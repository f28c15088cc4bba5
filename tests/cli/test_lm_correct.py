"""``tacit lm correct``: the same answers as Python's, streams apart, errors in words."""

import gzip
import json

import pytest

from tacit.cli.lm import CHUNK, chunks
from tacit.cluster import KMeans
from tacit.language import SpellingCorrector

LINES = [
    "The committee will receive the letter before Tuesday.",
    "I believe that their house is over there.",
    "A letter came from the house.",
    "It's over.",
    "The form of the letter is too long.",
    *(f"{who} came from {where}." for who in ("He", "She", "They", "The letter")
      for where in ("there", "their house", "the sea")),
]  # fmt: skip


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "good.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.fixture
def typed(tmp_path):
    path = tmp_path / "typed.txt"
    path.write_text("The COMITTEE came form thier house.\n\tIt's over ther!\n")
    return path


RIGHT = "The COMMITTEE came from their house.\n\tIt's over there!\n"


def test_the_corrected_text_goes_to_standard_output_and_the_reasons_to_the_other(
    tacit, corpus, typed
):
    run = tacit("lm", "correct", typed, "--learn", corpus)
    assert run.code == 0, run.err
    assert run.out == RIGHT
    assert "form -> from  (does not fit here; o and r swapped)" in run.err
    assert "4 words changed." in run.err
    assert tacit("lm", "correct", typed, "--learn", corpus, "-q").err == ""


def test_standard_input_is_corrected_and_json_says_what_python_says(tacit, corpus, typed):
    run = tacit("lm", "correct", "--learn", corpus, "--json", stdin=typed.read_bytes())
    expected = SpellingCorrector().fit(LINES).correct(typed.read_text())
    result = json.loads(run.out)
    assert result["text"] == expected.text == RIGHT
    assert result["changes"] == [change.to_dict() for change in expected.changes]


def test_what_was_learned_can_be_kept(tacit, corpus, typed, tmp_path):
    model, out = tmp_path / "m.safetensors", tmp_path / "right.txt"
    assert tacit("lm", "correct", typed, "--learn", corpus, "--save", model, "-q").code == 0
    run = tacit("lm", "correct", typed, "--model", model, "--out", out, "-q")
    assert (run.code, run.out, run.err) == (0, "", "")
    assert out.read_text() == RIGHT


def test_unknown_only_leaves_words_that_exist(tacit, corpus, typed):
    run = tacit("lm", "correct", typed, "--learn", corpus, "--unknown-only", "-q")
    assert "came form their house" in run.out


def test_suggestions_for_words(tacit, corpus):
    options = ("lm", "correct", "--learn", corpus, "--suggest", 2)
    run = tacit(*options, stdin=b"hous\nzzzzzz\n")
    lines = run.out.splitlines()
    assert lines[0].startswith("hous\thouse 1.000")
    assert lines[1] == "zzzzzz\t(no suggestion)"
    result = json.loads(tacit(*options, "--json", stdin=b"hous").out)
    assert result["words"][0]["suggestions"][0]["word"] == "house"


def test_dictionary_examples_and_packed_text(tacit, corpus, tmp_path):
    words, pairs = tmp_path / "words.txt", tmp_path / "pairs.csv"
    words.write_text("zymurgy\nzebra\n")
    pairs.write_text("misspelling,correct,count\n" + "xebra,zebra,1\n" * 50)
    typed = tmp_path / "typed.txt.gz"
    typed.write_bytes(gzip.compress("a zymurgi, a xebra".encode("utf-16")))
    run = tacit(
        "lm", "correct", typed, "--learn", corpus, "--dictionary", words, "--pairs", pairs
    )
    assert run.out == "a zymurgy, a zebra"
    assert "byte order mark" in run.err


def test_running_text_has_sentences_across_lines(tacit, tmp_path):
    path = tmp_path / "wrapped.txt"
    path.write_text("We went over\nthe hill.\n" * 30 + "The over. Oven.\n" * 3)
    typed = b"We went oven the hill."
    run = tacit("lm", "correct", "--learn", path, "--running", "-q", stdin=typed)
    assert run.out == "We went over the hill."


def test_wrong_usage_and_bad_files_have_their_exit_codes(tacit, corpus, typed, tmp_path):
    assert tacit("lm", "correct", typed).code == 2
    assert tacit("lm", "correct", typed, "--learn", corpus, "--model", "x").code == 2
    assert tacit("lm", "correct", typed, "--model", "x", "--order", 2).code == 2
    assert tacit("lm", "correct", tmp_path / "none.txt", "--learn", corpus).code == 4
    KMeans(1, random_state=0).fit([[0.0]]).save(tmp_path / "k")
    run = tacit("lm", "correct", typed, "--model", tmp_path / "k")
    assert run.code == 4
    assert "holds a KMeans, not a corrector" in run.err
    bad = tmp_path / "pairs.csv"
    bad.write_text("only\n")
    run = tacit("lm", "correct", typed, "--learn", corpus, "--pairs", bad)
    assert run.code == 4
    assert "row 1" in run.err
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"some text " * 1000)[:-20])
    assert tacit("lm", "correct", cut, "--learn", corpus).code == 3


def test_hostile_text_does_not_reach_the_terminal(tacit, corpus):
    evil = "teh \x1b[31mhous\u202e \x1b]0;owned\x07 hous".encode()
    run = tacit("lm", "correct", "--learn", corpus, stdin=evil)
    assert run.code == 0
    for text in (run.out, run.err):
        assert "\x1b" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize(
    "text", ["", "short", "line\n" * 200_000, "word " * 200_000, "x" * (2 * CHUNK + 5)]
)
def test_a_long_text_is_cut_at_lines_or_spaces_and_nothing_is_lost(text):
    parts = list(chunks(text))
    assert "".join(parts) == text
    assert all(0 < len(part) <= CHUNK for part in parts)
    if " " in text or "\n" in text:
        assert all(part[-1] in " \n" for part in parts)


def test_a_share_that_is_no_number_is_refused(tacit, corpus, typed):
    run = tacit("lm", "correct", typed, "--learn", corpus, "--error-rate", "nan")
    assert run.code == 4
    assert "'error_rate'" in run.err


def test_standard_input_is_read_once(tacit):
    run = tacit("lm", "correct", "-", "--learn", "-", stdin=b"teh house")
    assert run.code == 2
    assert "only once" in run.err

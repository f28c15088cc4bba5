"""ARPA files: exact round trips, KenLM's scores, and files that are none."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core import DataError
from tacit.language import NGramModel, read_arpa, write_arpa
from tacit.language.arpa import parse_number
from tacit.language.smoothing import SMOOTHINGS

TEXT = ["the whale surfaced", "the ship sailed past the whale", "étude 東京 👍", "a b a b"] * 2
WRITABLE = [each for each in SMOOTHINGS if each != "add-k"]
SMALL = """noise before
\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-1.5 <unk>
-99 <s> -0.30103
-0.7 </s>
-0.5\ta\t-0.25
-0.6\tb\t-1e-1

\\2-grams:
-0.2\t<s> a
-0.3\ta b
-0.4\tb </s>

\\end\\
"""


def same(a, b):
    assert a.words_ == b.words_
    for name in ("_words", "_children", "_probs", "_backoffs", "_sizes"):
        one, other = getattr(a, name), getattr(b, name)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("smoothing", WRITABLE)
@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_model_comes_back_exactly(tmp_path, smoothing, order):
    model = NGramModel(order, smoothing=smoothing, prune=(0, 0, 1)).fit(TEXT)
    path, again = tmp_path / "m.arpa", tmp_path / "again.arpa.gz"
    write_arpa(model, path)
    read = read_arpa(path)
    same(read, model)
    assert read._tables.uniform == model._tables.uniform
    write_arpa(read, again)
    assert gzip.decompress(again.read_bytes()) == path.read_bytes()
    same(read_arpa(again), model)


@pytest.mark.parametrize("settings", [{"open_vocabulary": False}, {"markers": False}])
def test_closed_and_unmarked_models_stay_so(tmp_path, settings):
    model = NGramModel(2, **settings).fit(TEXT)
    write_arpa(model, tmp_path / "m.arpa")
    read = read_arpa(tmp_path / "m.arpa")
    if not model.open_vocabulary:
        assert read.score("zzz", eos=False) == pytest.approx(-100, abs=2)  # as KenLM
        model._probs[0] = -100
    same(read, model)
    assert (read.open_vocabulary, read.markers) == (model.open_vocabulary, model.markers)


def test_any_spacing_and_a_missing_weight_are_read(tmp_path):
    path = tmp_path / "small.arpa"
    path.write_text(SMALL.replace("\n", "\r\n"))
    model = read_arpa(path)
    assert model.score("a b") == pytest.approx(-0.2 - 0.3 - 0.4)
    assert model.score("b") == pytest.approx(-0.30103 - 0.6 - 0.4)
    assert model.score("b a") == pytest.approx(-0.30103 - 0.6 - 0.1 - 0.5 - 0.25 - 0.7)
    assert model.score("zzz", eos=False) == pytest.approx(-0.30103 - 1.5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\data\\", "data", "no \\\\data\\\\ section"),
        ("ngram 2=3", "ngram 3=3", "expected the number of 2-grams"),
        ("ngram 2=3", "ngram 2=4", "2-grams"),
        ("ngram 2=3", "ngram 2=2", "expected .end"),
        ("ngram 1=5", "ngram 1=6", "row 12"),
        ("ngram 1=5", "ngram 1=2000000000", "row 12"),
        ("ngram 1=5", "ngram 1=99999999999", "100,000,000,002 n-grams"),
        ("\\2-grams:", "\\3-grams:", "expected .2-grams"),
        ("-0.3\ta b", "-0.3\ta c", "'c' is not among"),
        ("-0.3\ta b", "-0.3\ta", "row 15"),
        ("-0.3\ta b", "x\ta b", "row 15"),
        ("-0.3\ta b", "0.3\ta b", "row 15"),
        ("-0.3\ta b", "-0.2\t<s> a", "twice"),
        ("-0.6\tb", "-0.6\ta", "twice"),
        ("\\end\\", "", "complete"),
        ("\n\\end\\\n", "", "complete"),
    ],
)
def test_what_is_not_an_arpa_file_is_an_error_with_its_place(tmp_path, old, new, message):
    path = tmp_path / "bad.arpa"
    path.write_text(SMALL.replace(old, new))
    with pytest.raises(DataError, match=message) as caught:
        read_arpa(path)
    assert "bad.arpa" in str(caught.value)


def test_an_n_gram_without_its_beginning_is_an_error(tmp_path):
    three = SMALL.replace("ngram 2=3\n", "ngram 2=3\nngram 3=1\n")
    three = three.replace("\\end\\", "\\3-grams:\n-0.1\tb a b\n\n\\end\\")
    path = tmp_path / "bad.arpa"
    path.write_text(three)
    with pytest.raises(DataError, match="not a 2-gram"):
        read_arpa(path)


def test_a_truncated_file_is_an_error(tmp_path):
    path = tmp_path / "half.arpa.gz"
    whole = gzip.compress(SMALL.encode() * 50)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError):
        read_arpa(path)


@given(st.integers(0, len(SMALL) - 1), st.sampled_from(b"\x00\xff-9 \n\t\\ze"))
def test_one_changed_byte_gives_a_model_or_an_error_with_the_file(tmp_path_factory, at, byte):
    path = tmp_path_factory.mktemp("changed") / "changed.arpa"
    content = bytearray(SMALL.encode())
    content[at] = byte
    path.write_bytes(content)
    said = ""
    try:
        read_arpa(path)
    except DataError as error:
        said = str(error)
    assert not said or "changed.arpa" in said


@given(st.binary(max_size=200))
def test_random_bytes_are_an_error_and_nothing_worse(tmp_path_factory, noise):
    path = tmp_path_factory.mktemp("noise") / "noise.arpa"
    path.write_bytes(b"\\data\\\nngram 1=2\n\n\\1-grams:\n" + noise)
    with pytest.raises(DataError):
        read_arpa(path)


def test_models_without_such_a_form_are_refused(tmp_path):
    with pytest.raises(ValueError, match="add-k"):
        write_arpa(NGramModel(2, smoothing="add-k").fit(TEXT), tmp_path / "x.arpa")
    with pytest.raises(ValueError, match="white space"):
        write_arpa(NGramModel(2, tokenizer="char").fit(TEXT), tmp_path / "x.arpa")
    assert not (tmp_path / "x.arpa").exists()


def test_an_open_file_will_do():
    out = io.BytesIO()
    write_arpa(NGramModel(1).fit(["a"]), out)
    assert out.getvalue().startswith(b"\\data\\\nngram 1=4\n")


@given(st.floats(width=32, allow_nan=False))
def test_numbers_are_read_as_python_reads_them(number):
    for text in (repr(float(np.float32(number))), f"{number:.9g}", f"{number:+.6e}"):
        data = np.frombuffer(text.encode(), np.uint8)
        found, sound = parse_number(data, 0, len(data))
        assert sound
        assert np.float32(found) == np.float32(float(text))


def test_what_is_no_number_is_not_read():
    for text in ("", "-", "1.2.3", "1e", "abc", "0x1", "1,5", "."):
        data = np.frombuffer((text or " ").encode(), np.uint8)
        assert not parse_number(data, 0, len(data))[1]


# --- KenLM ---


@pytest.mark.parametrize("smoothing", ["modified-kneser-ney", "katz", "witten-bell"])
def test_scores_are_kenlms(tmp_path, smoothing):
    kenlm = pytest.importorskip("kenlm")
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(40)]
    odds = 1 / np.arange(1, 41)
    draw = lambda n: [" ".join(rng.choice(words, 9, p=odds / odds.sum())) for _ in range(n)]  # noqa: E731
    model = NGramModel(4, smoothing=smoothing).fit(draw(500))
    path = str(tmp_path / "m.arpa")
    write_arpa(model, path)
    rival = kenlm.Model(path)
    text = [*draw(200), "w1 never w2 w3", "", "never"]
    found = model.score_sentences(text)
    np.testing.assert_allclose(found, [rival.score(s) for s in text], atol=1e-4)
    for sentence in text[:20]:
        assert model.score(sentence) == pytest.approx(rival.score(sentence), abs=1e-4)
        assert model.score(sentence, eos=False) == pytest.approx(
            rival.score(sentence, eos=False), abs=1e-4
        )
        assert model.score(sentence, bos=False) == pytest.approx(
            rival.score(sentence, bos=False), abs=1e-4
        )


def test_a_back_off_weight_without_end_is_refused(tmp_path):
    path = tmp_path / "m.arpa"
    text = (
        "\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.3\n-0.5\t</s>\n"
        "-0.4\ta\tWEIGHT\n\n\\2-grams:\n-0.1\t<s> a\n\n\\end\\\n"
    )
    path.write_text(text.replace("WEIGHT", "0.2"))
    assert read_arpa(path).score("a") == pytest.approx(-0.1 + 0.2 - 0.5)
    path.write_text(text.replace("WEIGHT", "inf"))
    with pytest.raises(DataError, match="row 9: expected a probability"):
        read_arpa(path)

"""Classification by word lists: the lists, the rules, the files they come in."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import tacit
from tacit.classify import LexiconClassifier, read_lexicon
from tacit.classify.lexicon import LANGUAGES, package_list
from tacit.core import DataError
from tacit.text import tokenize

LOADED = LexiconClassifier().fit()
PLAIN = {"bad": ["awful", "dull"], "good": ["fine", "great"]}


@pytest.fixture(scope="module")
def sentiment():
    return LexiconClassifier().fit()


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("It was good.", 1.0),
        ("It was very good.", 1.5),
        ("It was slightly good.", 0.5),
        ("It was not good.", -0.75),
        ("It was not very good.", -0.75 * 1.5),
        ("It wasn't good.", -0.75),
        ("It wasn’t good.", -0.75),
        ("Never was it good", -0.75),
        ("Not for me, good as it is", 1.0),  # a comma ends the reach
        ("not what I would have called good", 1.0),  # and so does distance
        ("not bland but good", 0.75 + 1.0),
        ("It was terribly good", 1.75),  # weighs the word it stands before
        ("It went terribly", -2.0),  # and is one itself where there is none
        ("pretty", 1.0),
        ("pretty dull", -1.25),
        ("", 0.0),
        ("The committee met on Tuesday.", 0.0),
    ],
)
def test_negation_and_intensifiers(sentiment, text, score):
    assert sentiment.decision_function([text])[0] == pytest.approx(score)


def test_what_each_word_did_adds_up_to_the_score(sentiment):
    text = "Not a good start, but a very funny, beautiful and never dull film. Dreadful title!"
    pushes = sentiment.explain(text, n=None)
    score = sentiment.decision_function([text])[0]
    assert sum(push for _, push in pushes) == pytest.approx(abs(score))
    assert dict(pushes)["very funny"] == pytest.approx(1.5)
    assert dict(pushes)["not good"] == pytest.approx(-0.75)
    assert [abs(push) for _, push in pushes] == sorted(
        (abs(push) for _, push in pushes), reverse=True
    )
    assert len(sentiment.explain(text, n=2)) == 2


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_a_finite_score(text):
    model = LOADED
    assert np.isfinite(model.decision_function([text])).all()
    assert model.predict([text])[0] in ("negative", "positive")


def test_lists_of_ones_own():
    model = LexiconClassifier(PLAIN).fit()
    assert list(model.classes_) == ["bad", "good"]
    assert list(model.predict(["a great day", "AWFUL"])) == ["good", "bad"]
    weighted = LexiconClassifier({"a": {"x": 1.0}, "b": {"y": 2.5, "x y": 4.0}}).fit()
    np.testing.assert_allclose(weighted.decision_function(["x"]), [-1.0])
    np.testing.assert_allclose(weighted.decision_function(["x z y"]), [1.5])
    np.testing.assert_allclose(weighted.decision_function(["x y"]), [4.0])  # the phrase
    assert weighted.top_features("b") == [("x y", 4.0), ("y", 2.5)]


def test_ties_go_to_the_first_class_or_to_the_default():
    texts = ["nothing of note", "great and awful"]
    assert list(LexiconClassifier(PLAIN).predict(texts)) == ["bad", "bad"]
    assert list(LexiconClassifier(PLAIN, default="good").predict(texts)) == ["good", "good"]


def test_ten_languages_are_identified():
    texts = {
        "de": "Ich habe nicht gewusst, dass er schon wieder hier ist.",
        "en": "They would not have come if she had been here.",
        "es": "No sabía que ellos también estaban aquí con nosotros.",
        "fi": "En tiennyt, että hän oli jo täällä ja että se on niin.",
        "fr": "Je ne savais pas qu'elle était encore chez nous.",
        "it": "Non sapevo che anche lui fosse qui con gli altri della casa.",
        "nl": "Ik wist niet dat hij ook al bij ons was geweest.",
        "pl": "Nie wiem, czy on już tutaj był, ale to jest możliwe.",
        "pt": "Não sabia que ele também estava aqui com você e os outros.",
        "sv": "Jag visste inte att han också var här hos oss.",
    }
    model = LexiconClassifier("languages")
    assert list(model.predict(texts.values())) == list(texts)
    assert model.decision_function(["x"]).shape == (1, 10)


def test_languages_of_real_sentences():
    folder = os.environ.get("TACIT_DATA")
    if not folder or not (Path(folder) / "langid").exists():
        pytest.skip("TACIT_DATA names no folder with langid")
    with gzip.open(Path(folder) / "langid" / "sentences.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row["lang"] in LANGUAGES and row["split"] == "test"][::4]
    found = LexiconClassifier("languages").predict([row["text"] for row in rows])
    right = np.mean(found == np.array([row["lang"] for row in rows]))
    assert right > 0.9


def test_our_lists_are_sound():
    positive, negative = package_list("sentiment_positive"), package_list("sentiment_negative")
    assert not set(positive) & set(negative)
    assert not set(positive) & set(package_list("negators"))
    names = ["sentiment_positive", "sentiment_negative", "negators", "intensifiers"]
    for name in names + [f"languages/{code}" for code in LANGUAGES]:
        words = package_list(name)
        assert len(words) > 40
        for word in words:  # as the tokenizer will see them
            assert " ".join(tokenize(word, rule="words")) == word


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("good\nfine\n", {"good": 1.0, "fine": 1.0}),
        (";;; comment\n\n# another\nGood\n", {"good": 1.0}),
        ("good\t2\nfine\t-0.5\textra\n", {"good": 2.0, "fine": -0.5}),
        ("word,weight\ngood,2\n\"well done\",3\n", {"good": 2.0, "well done": 3.0}),
        ("good,2\nfine,1e-1", {"good": 2.0, "fine": 0.1}),
        ("can’t stand\t-3\r\n", {"can't stand": -3.0}),
        ("\ufeffgood\n", {"good": 1.0}),
        ("good\ngood\n", {"good": 1.0}),
    ],
)
def test_files_in_the_usual_shapes(tmp_path, content, expected):
    path = tmp_path / "list.txt"
    path.write_bytes(content.encode())
    assert read_lexicon(path) == expected


def test_an_old_file_in_latin_1(tmp_path):
    path = tmp_path / "list.txt"
    path.write_bytes("naïve\n".encode("latin-1"))
    assert read_lexicon(path) == {"naïve": 1.0}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("good\t1\nfine\tmuch\n", 2),
        ("good\t1\n; so\ngood\t2\n", 3),
        ("good\t1\n\t2\n", 2),
        ("good,nan\n", 1),
    ],
)
def test_a_bad_line_is_named(tmp_path, content, line):
    path = tmp_path / "list.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=rf"list\.txt, row {line}: "):
        read_lexicon(path)


def test_an_empty_file_is_refused(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# nothing\n")
    with pytest.raises(DataError, match="no words"):
        read_lexicon(path)


def test_lists_from_files_and_a_model_file(tmp_path):
    for name, text in (("up", "great\t2\n"), ("down", "awful\n")):
        (tmp_path / name).write_text(text)
    model = LexiconClassifier({"+": tmp_path / "up", "-": str(tmp_path / "down")}).fit()
    texts = ["great", "not great", "awful", "very awful"]
    kept = LexiconClassifier(default="negative").fit()
    kept.save(tmp_path / "model")
    again = tacit.load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(texts), kept.decision_function(texts))
    assert list(model.predict(texts)) == ["+", "-", "-", "-"]
    assert clone(model).get_params() == model.get_params()


def test_invalid_parameters_are_refused(sentiment):
    with pytest.raises(ValueError, match="Wrap it in a list"):
        sentiment.predict("one text")
    with pytest.raises(TypeError, match="a list of str"):
        sentiment.predict([3])
    with pytest.raises(ValueError, match="at least 2 classes"):
        LexiconClassifier({"a": ["x"]}).fit()
    with pytest.raises(ValueError, match="not one of the classes"):
        LexiconClassifier(default="so-so").fit()
    with pytest.raises(ValueError, match="list is empty"):
        LexiconClassifier({"a": ["x"], "b": []}).fit()
    with pytest.raises(ValueError, match="knows no class"):
        sentiment.top_features("so-so")
    assert list(sentiment.predict([None])) == ["negative"]  # an empty document
    assert sentiment.predict([]).shape == (0,)

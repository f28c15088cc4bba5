"""Which language a document is in, or that it cannot be told."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from tacit.explore.stages.languages import CODES, NAMES, UNKNOWN, decide, settle_scripts
from tests.explore.test_pipeline import explore, look

TEN = ("de", "en", "es", "fi", "fr", "it", "nl", "pl", "pt", "sv")
SAMPLES = {
    "en": "The cat is on the mat and it was not there when I came to see what they did.",
    "de": "Der Hund ist nicht in dem Haus, und ich weiß auch nicht, wo er mit den Kindern war.",
    "fr": "Le chien n'est pas dans la maison, et je ne sais pas où il est avec les enfants.",
    "es": "El perro no está en la casa, y yo no sé dónde está con los niños de la calle.",
}


def guesses(folder):
    context = look(folder)
    facts = context.facts("language_guess")
    names = dict(enumerate(facts["codes"])) | {UNKNOWN: "unknown"}
    return [names[int(i)] for i in context.arrays("language_guess")["language"]], facts


def test_function_words_tell_languages_apart(tmp_path):
    folder, _ = explore(tmp_path, list(SAMPLES.values()))
    found, facts = guesses(folder)
    assert found == list(SAMPLES)
    assert sorted(facts["languages"]) == sorted([code, NAMES[code], 1] for code in SAMPLES)
    assert facts["unknown"] == 0


@pytest.mark.parametrize(
    "text",
    ["", "xyzzy plugh", "1 2 3 4", "\x00\x1b[31m \u202e", "import numpy as np; x = f(y)"],
)  # fmt: skip
def test_what_cannot_be_told_is_unknown(tmp_path, text):
    folder, _ = explore(tmp_path, [text, SAMPLES["en"]])
    found, facts = guesses(folder)
    assert found == ["unknown", "en"]
    assert facts["unknown"] == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Корабль, море, хлеб", "cyrl"),
        ("海と船の手紙", "ja"),
        ("轮船在海洋中航行", "zh"),
        ("바다와 배에 대한 편지", "ko"),
        ("رسالة عن البحر والسفينة", "arab"),
        ("ένα γράμμα για τη θάλασσα", "el"),
        ("समुद्र जहाज पत्र", "deva"),
        ("a Greek word, λόγος, in an English sentence that is about the sea", "en"),
    ],
)
def test_scripts_tell_languages_without_function_words(tmp_path, text, code):
    folder, _ = explore(tmp_path, [text, SAMPLES["en"]])
    assert guesses(folder)[0] == [code, "en"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Привет, это письмо о море и о хлебе", "ru"),
        ("Це лист про море і про хліб, але не про корабель", "uk"),
        ("این نامه در مورد دریا و کشتی است که با آن رفتند", "fa"),
        ("समुद्र और जहाज के बारे में पत्र", "hi"),
        ("Skibet lå i havnen, men det var ikke der, da vi blev hentet af dem", "da"),
        ("Denizde bir gemi var ama bu gemi için çok daha fazla ekmek gerek", "tr"),
    ],
)
def test_function_words_tell_languages_of_one_script_apart(tmp_path, text, code):
    folder, _ = explore(tmp_path, [text, SAMPLES["en"]])
    assert guesses(folder)[0] == [code, "en"]


def test_short_documents_in_a_script_are_in_the_one_language_that_others_there_are_in():
    guess = np.array([CODES.index("ru")] * 12 + [CODES.index("cyrl")] * 40)
    assert (settle_scripts(guess) == CODES.index("ru")).all()
    few = np.array([CODES.index("ru")] * 12 + [CODES.index("cyrl")] * 60)
    assert (settle_scripts(few) == few).all()


def test_two_languages_in_one_document_are_unknown():
    scores = np.array([[5.0, 4.0, 0.0], [9.0, 1.0, 0.0]])
    assert decide(scores, np.array([20, 20])).tolist() == [UNKNOWN, 0]


def test_documents_without_a_word_have_no_languages(tmp_path):
    folder, _ = explore(tmp_path, ["", " "])
    assert look(folder).skipped("language_guess")


def test_sentences_in_ten_languages_are_seldom_mistaken(tmp_path):
    """Sentences of 28 languages: of those named, nearly all are named rightly."""
    if "TACIT_DATA" not in os.environ:
        pytest.skip("TACIT_DATA does not say where the data is")
    path = Path(os.environ["TACIT_DATA"], "langid", "sentences.jsonl.gz")
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row["split"] == "test" and row["lang"] in TEN]
    from tacit.explore.stages.languages import function_words
    from tacit.text import CountVectorizer

    vectorizer = CountVectorizer(rule="words")
    counts = vectorizer.fit_transform([row["text"] for row in rows])
    codes, table = function_words(vectorizer.get_feature_names_out())
    guess = decide(
        np.asarray((counts @ table).todense()), np.asarray(counts.sum(axis=1)).ravel()
    )
    truth = np.array([codes.index(row["lang"]) for row in rows])
    known = guess != UNKNOWN
    assert known.mean() > 0.75
    assert (guess[known] == truth[known]).mean() > 0.995

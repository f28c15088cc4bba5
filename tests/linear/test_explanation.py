"""Explanations: the parts add up to the decision, for every kind of classifier."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from tacit.classify import (
    LexiconClassifier,
    LinearSVC,
    LogisticRegression,
    MultinomialNB,
    PassiveAggressiveClassifier,
    Perceptron,
    explain,
)
from tacit.text import CountVectorizer, TfidfVectorizer

TEXTS = [
    "win money now", "money money prize", "free prize now",
    "lunch now", "lunch at noon", "meet at noon", "the ship at sea", "sea and ship",
]  # fmt: skip
LABELS = ["spam"] * 3 + ["ham"] * 3 + ["sea"] * 2


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LinearSVC(),
        MultinomialNB(),
        Perceptron(random_state=0),
        PassiveAggressiveClassifier(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_pushes_and_offset_are_the_lead(model, two):
    texts, labels = (TEXTS[:6], LABELS[:6]) if two else (TEXTS, LABELS)
    words = TfidfVectorizer().fit(texts)
    model = model.fit(words.transform(texts), labels)
    for text in ("money at lunch", "a ship", "prize now"):
        found = explain(model, words, text, n=None)
        assert found.class_ == model.predict(words.transform([text]))[0]
        assert found.class_ != found.against
        total = sum(push for _, push in found.pushes) + found.offset
        assert total == pytest.approx(found.lead, abs=1e-9)
        assert found.lead >= 0
        few = explain(model, words, text, n=1)
        assert few.rest + sum(push for _, push in few.pushes) == pytest.approx(
            sum(push for _, push in found.pushes)
        )
        row = words.transform([text])
        assert explain(model, words.get_feature_names_out(), row).pushes == found.pushes


def test_the_word_that_decided_comes_first():
    words = CountVectorizer().fit(TEXTS)
    model = LogisticRegression().fit(words.transform(TEXTS), LABELS)
    found = explain(model, words, "money at the sea")
    assert found.class_ in ("spam", "sea")
    assert found.pushes[0][0] in ("money", "sea")
    assert dict(found.pushes)["money"] * dict(found.pushes)["sea"] < 0
    name, _ = model.top_features("spam", n=1, names=words.get_feature_names_out())[0]
    assert name in ("money", "prize")


def test_a_pipeline_and_a_lexicon_explain_themselves():
    line = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
    assert explain(line, None, "free money").class_ == "spam"
    found = explain(LexiconClassifier(), None, "not a very good film", n=3)
    assert found.class_ == "negative"
    assert found.pushes == (("not very good", pytest.approx(1.125)),)
    assert found.lead == pytest.approx(1.125)
    assert found.offset == 0
    assert str(found).splitlines() == [
        "negative, ahead of positive by 1.12",
        "   +1.125  not very good",
    ]
    assert found.to_dict()["class_"] == "negative"


def test_what_cannot_be_explained_is_refused():
    words = CountVectorizer().fit(TEXTS)
    rows = words.transform(TEXTS)
    model = LogisticRegression().fit(rows, LABELS)
    with pytest.raises(TypeError, match="takes the document as a str"):
        explain(model, words, ["money"])
    with pytest.raises(TypeError, match="no vectorizer"):
        explain(model, None, "money")
    with pytest.raises(ValueError, match="3 names for"):
        explain(model, ["a", "b", "c"], rows[[0]])
    with pytest.raises(ValueError, match="one row"):
        explain(model, None, rows)
    assert np.isfinite(explain(model, words, "").lead)


@pytest.mark.parametrize("n", [0, 2, None])
def test_as_many_words_are_listed_as_asked_for(n):
    words = CountVectorizer().fit(TEXTS)
    model = LogisticRegression().fit(words.transform(TEXTS), LABELS)
    row = words.transform(["win money at noon"])
    most, all_words = (4, len(words.vocabulary_)) if n is None else (n, n)
    assert len(model.explain(row, n=n)) == most
    assert len(model.top_features("ham", n=n)) == all_words
    assert len(explain(model, words, "win money at noon", n=n).pushes) == most


def test_fewer_than_no_words_are_refused():
    words = CountVectorizer().fit(TEXTS)
    model = LogisticRegression().fit(words.transform(TEXTS), LABELS)
    lexicon = LexiconClassifier()
    for listed in (
        lambda: model.explain(words.transform(["money"]), n=-1),
        lambda: model.top_features("ham", n=-1),
        lambda: explain(model, words, "money", n=-1),
        lambda: lexicon.explain("good", n=-1),
        lambda: lexicon.top_features("positive", n=-1),
    ):
        with pytest.raises(ValueError, match="at least 0, or None for all"):
            listed()

"""Senses of a word, from the words around it."""

import numpy as np
import pytest

import tacit
from tacit.measure import adjusted_rand_score
from tacit.mixture import WordSenses

MONEY = ["loan", "rate", "account", "money", "interest", "credit", "deposit", "cash", "lend"]
RIVER = ["river", "mud", "fish", "stream", "water", "boat", "flood", "reeds", "grass", "swim"]


NEW = ["a loan from the bank", "the bank of the river"]


def sentences(words, n, seed):
    """The word "bank" among six words of one kind."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(words, 6).tolist() for _ in range(n)]
    return [" ".join([*six[:3], "bank", *six[3:]]) for six in drawn]


@pytest.fixture(scope="module")
def senses():
    return WordSenses("bank", random_state=0).fit(
        sentences(MONEY, 20, 0) + sentences(RIVER, 12, 1)
    )


def test_senses_are_distinguished(senses):
    truth = np.repeat([0, 1], [20, 12])
    assert adjusted_rand_score(truth, senses.labels_) > 0.9


def test_each_sense_has_words_and_examples(senses):
    assert sum(sense.size for sense in senses.senses_) == 32
    words = {word for sense in senses.senses_ for word in sense.words}
    assert "river" in words
    assert "bank" not in words
    assert all("bank" in each.text for sense in senses.senses_ for each in sense.examples)


def test_a_new_sentence_gets_a_sense(senses):
    money = senses.labels_[0]
    new = ["the bank asked for an account of the loan", "fish near the banks of the river"]
    assert senses.predict(new).tolist() == [money, 1 - money]
    assert senses.predict_proba(["nothing here"]).shape == (0, 2)


def test_a_saved_model_predicts_the_same(senses, tmp_path):
    senses.save(tmp_path / "bank.safetensors")
    again = tacit.load(tmp_path / "bank.safetensors")
    np.testing.assert_array_equal(again.labels_, senses.labels_)
    assert again.senses_ == senses.senses_
    np.testing.assert_array_equal(again.predict_proba(NEW), senses.predict_proba(NEW))


def test_forms_of_the_word_count():
    texts = ["he serves tea", "she served balls", "serving time", "the serve", "servants"] * 3
    assert len(WordSenses("serve", min_count=1, random_state=0).fit(texts).labels_) == 12
    exact = WordSenses("serve", forms=[], min_count=1, n_senses=1, random_state=0).fit(texts)
    assert len(exact.labels_) == 3


def test_tokens_with_positions():
    tokens = [["a", "hard", "rock", "hard"], ["hard", "to", "say", "so"]] * 4
    model = WordSenses("hard", min_count=1, random_state=0).fit(tokens, positions=[1, 0] * 4)
    assert len(model.labels_) == 8
    assert model.labels_[0] != model.labels_[1]


def test_a_word_that_is_too_rare_is_refused():
    with pytest.raises(ValueError, match="occurs 0 times"):
        WordSenses("zebra").fit(NEW)
    with pytest.raises(ValueError, match="is empty"):
        WordSenses("").fit(NEW)
    with pytest.raises(ValueError, match="Lower min_count"):
        WordSenses("bank", n_senses=1).fit(["bank"])


def test_documents_and_positions_that_do_not_fit_are_refused():
    tokens = [["a", "bank"], ["bank", "b"]]
    model = WordSenses("bank", n_senses=1, min_count=1, random_state=0)
    assert len(model.fit(["the bank of a river", None, float("nan")]).labels_) == 1
    with pytest.raises(TypeError, match="document 1 is of type int"):
        model.fit(["the bank", 7])
    for positions in ([1], [1, 0, 0]):
        with pytest.raises(ValueError, match=f"{len(positions)} positions for 2 documents"):
            model.fit(tokens, positions=positions)
    with pytest.raises(ValueError, match="position of document 1 is 7, but it has 2 tokens"):
        model.fit(tokens, positions=[1, 7])

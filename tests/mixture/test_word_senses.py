"""Senses of a word, from the words around it."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import tacit
from tacit.measure import adjusted_rand_score, v_measure_score
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


def test_less_evidence_makes_posteriors_less_certain():
    texts = sentences(MONEY, 20, 0) + sentences(RIVER, 12, 1)
    sure = [
        WordSenses("bank", evidence=evidence, random_state=0).fit(texts).predict_proba(texts)
        for evidence in (1, 4, 16)
    ]
    means = [each.max(axis=1).mean() for each in sure]
    assert means[0] < means[1] < means[2]


def test_contexts_of_any_length_count_alike(senses):
    short, long = "loan bank", "loan bank " + "rate money credit cash deposit lend " * 4
    occurrences = senses._occurrences([short, long], None)
    rows = senses._rows([set(senses._features(each)) for each in occurrences])
    np.testing.assert_allclose(rows.sum(axis=1), senses.evidence)


def test_rare_features_of_many_occurrences_are_left_out():
    texts = sentences(MONEY, 2_600, 0) + ["zebra bank"] * 2
    assert "zebra" not in WordSenses("bank", random_state=0, n_init=1).fit(texts).vocabulary_
    frequent = WordSenses("bank", min_count=2, random_state=0, n_init=1).fit(texts)
    assert "zebra" in frequent.vocabulary_


@pytest.mark.skipif(
    not os.environ.get("TACIT_DATA"), reason="TACIT_DATA names no folder with data sets"
)
def test_six_senses_of_interest_are_matched_better_than_by_the_most_frequent_alone():
    """Money paid for its use is meant in 53 percent of 2,368 occurrences."""
    path = Path(os.environ["TACIT_DATA"]) / "senseval" / "interest.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf8") as lines:
        records = [json.loads(line) for line in lines]
    truth = np.unique([each["senses"][0] for each in records], return_inverse=True)[1]
    model = WordSenses("interest", n_senses=6, random_state=0)
    model.fit([r["tokens"] for r in records], positions=[r["position"] for r in records])
    table = np.zeros((6, 6))
    np.add.at(table, (truth, model.labels_), 1)
    rows, columns = linear_sum_assignment(-table)
    assert table[rows, columns].sum() > table.sum(axis=1).max()
    assert v_measure_score(truth, model.labels_) > 0.4


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

"""The cowperson language: every number that the notes' chapter on language models gives."""

import numpy as np
import pytest

from tacit.datasets.worked_examples import COWPERSON_TEXT as SENTENCES
from tacit.datasets.worked_examples import COWPERSON_WORDS as WORDS
from tacit.language import NGramModel, read_arpa
from tacit.language.count_text import count_text
from tacit.language.sentences import SPECIAL


def table(model, histories, words):
    """The model's probabilities, a row to a history."""
    index = [model.words_.index(word) for word in words]
    return [[model.distribution(h)[i] for i in index] for h in histories]


def frequencies(model, sentences, histories, words):
    """The counts of bigrams that the model is made from, a row to a history."""
    counted = count_text(model, sentences)
    names = [*SPECIAL, *counted.vocabulary]
    level = counted.counts.levels[1]
    found = {
        (names[h], names[w]): int(n)
        for h, w, n in zip(level.histories, level.words, level.counts, strict=True)
    }
    return [[found.get((history, word), 0) for word in words] for history in histories]


def test_the_bigram_frequencies_are_those_of_table_8_1():
    model = NGramModel(2, smoothing="mle", markers=False, open_vocabulary=False)
    found = frequencies(model, ["Yee Haw Haw Yee Yee Yee Haw Yee"], WORDS, WORDS)
    assert found == [[2, 2], [2, 1]]


def test_start_and_stop_tokens_give_the_frequencies_of_table_8_3():
    model = NGramModel(2, smoothing="mle")
    found = frequencies(model, SENTENCES, ["<s>", *WORDS], [*WORDS, "</s>"])
    assert found == [[2, 1, 0], [1, 2, 2], [2, 0, 1]]
    assert [sum(row) for row in found] == [3, 5, 3]  # the unigram counts


def test_adding_one_gives_the_frequencies_of_table_8_6():
    words = [*WORDS, "Moo"]
    model = NGramModel(2, smoothing="add-k", k=1, vocabulary=words, open_vocabulary=False)
    columns = [*words, "</s>"]
    seen = np.array(frequencies(model, SENTENCES, ["<s>", *words], columns))
    expected = np.array([[3, 2, 1, 1], [2, 3, 1, 3], [3, 1, 1, 2], [1, 1, 1, 1]])
    np.testing.assert_array_equal(seen + 1, expected)
    probabilities = table(model.fit(SENTENCES), ["", *words], columns)
    totals = expected.sum(axis=1, keepdims=True)
    assert totals.ravel().tolist() == [7, 9, 7, 4]
    np.testing.assert_allclose(probabilities * totals, expected, rtol=1e-6)


@pytest.fixture
def unmarked():
    corpus = ["Yee Haw Haw Yee Yee Yee Haw Yee"]
    settings = {"smoothing": "mle", "markers": False, "open_vocabulary": False}
    return {order: NGramModel(order, **settings).fit(corpus) for order in (1, 2)}


def test_the_unigram_probabilities_are_five_and_three_eighths(unmarked):
    np.testing.assert_allclose(table(unmarked[1], [""], WORDS), [[5 / 8, 3 / 8]], rtol=1e-6)


def test_the_bigram_table_is_that_of_table_8_2(unmarked):
    expected = [[2 / 4, 2 / 4], [2 / 3, 1 / 3]]
    np.testing.assert_allclose(table(unmarked[2], WORDS, WORDS), expected, rtol=1e-6)


def test_a_sentence_of_length_three_has_probability_0_21(unmarked):
    p = np.exp(unmarked[2].logprob("Yee Haw Yee"))
    assert p == pytest.approx(5 / 8 * 2 / 4 * 2 / 3, rel=1e-6)
    assert round(p, 2) == 0.21


def test_the_corpus_is_likeliest_under_the_relative_frequencies(unmarked):
    best = unmarked[1].logprob("Yee Haw Haw Yee Yee Yee Haw Yee")
    shares = np.linspace(0.01, 0.99, 99)
    assert best >= (5 * np.log(shares) + 3 * np.log(1 - shares)).max()
    assert best == pytest.approx(5 * np.log(5 / 8) + 3 * np.log(3 / 8), rel=1e-6)


def test_start_and_stop_tokens_give_table_8_4():
    model = NGramModel(2, smoothing="mle").fit(SENTENCES)
    expected = [[2 / 3, 1 / 3, 0], [1 / 5, 2 / 5, 2 / 5], [2 / 3, 0, 1 / 3]]
    found = table(model, ["", "Yee", "Haw"], [*WORDS, "</s>"])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    p = np.exp(model.logprob("Yee Haw Yee"))
    assert p == pytest.approx(2 / 3 * 2 / 5 * 2 / 3 * 2 / 5, rel=1e-6)
    assert round(p, 2) == 0.07


def test_adding_one_to_every_count_gives_table_8_7():
    model = NGramModel(
        2, smoothing="add-k", k=1, vocabulary=["Yee", "Haw", "Moo"], open_vocabulary=False
    ).fit(SENTENCES)
    expected = [
        [3 / 7, 2 / 7, 1 / 7, 1 / 7],
        [2 / 9, 3 / 9, 1 / 9, 3 / 9],
        [3 / 7, 1 / 7, 1 / 7, 2 / 7],
        [1 / 4, 1 / 4, 1 / 4, 1 / 4],
    ]
    found = table(model, ["", "Yee", "Haw", "Moo"], ["Yee", "Haw", "Moo", "</s>"])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    p = np.exp(model.logprob("Moo Moo"))
    assert p == pytest.approx(1 / 7 * 1 / 4 * 1 / 4, rel=1e-6)
    assert round(p, 2) == 0.01


def test_the_uniform_model_has_the_perplexity_v(tmp_path):
    v = 20
    words = [f"w{i}" for i in range(v - 1)] + ["</s>"]
    lines = "".join(f"{np.log10(1 / v)}\t{word}\n" for word in words)
    path = tmp_path / "uniform.arpa"
    path.write_text(f"\\data\\\nngram 1={v + 1}\n\n\\1-grams:\n-99\t<s>\n{lines}\n\\end\\\n")
    found = read_arpa(path).perplexity(["w0 w1 w2", "w7", "w3 w3 w3 w3"])
    assert found.ppl == pytest.approx(v, rel=1e-6)
    assert found.ppl_known == pytest.approx(v, rel=1e-6)


def test_perplexity_counts_stop_tokens_among_the_words():
    model = NGramModel(2, smoothing="mle").fit(SENTENCES)
    found = model.perplexity(SENTENCES)
    logprob = sum(model.logprob(s) for s in SENTENCES)
    assert found.ppl == pytest.approx(np.exp(-logprob / (8 + 3)), rel=1e-9)


def test_a_bigram_never_seen_makes_the_perplexity_infinite():
    model = NGramModel(2, smoothing="mle").fit(["you like green", "ice cream"])
    found = model.perplexity(["you like green cream"])
    assert found.ppl == np.inf
    assert found.zeroprobs == 1


def test_backing_off_replaces_what_was_not_seen_by_the_lower_orders():
    text = ["you like green", "ice cream", "like cream", "green tea"]
    model = NGramModel(3, smoothing="backoff", backoff_weight=0.4).fit(text)
    cream = model.words_.index("cream")
    low = NGramModel(2, smoothing="backoff", backoff_weight=0.4).fit(text)
    unseen = [i for i, word in enumerate(model.words_) if word not in ("<s>", "</s>")]
    p, q = model.distribution("you like green"), low.distribution("you like green")
    assert p[cream] > 0
    np.testing.assert_allclose(p[unseen] / q[unseen], p[cream] / q[cream], rtol=1e-5)

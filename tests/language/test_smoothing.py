"""Smoothings: proper distributions, known formulas, discounts that cannot be estimated."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.language import NGramModel
from tacit.language.discounts import absolute_discount, good_turing, modified_discounts
from tacit.language.smoothing import SMOOTHINGS

SENTENCES = st.lists(
    st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=8), min_size=1, max_size=12
)


@settings(max_examples=150)
@given(
    text=SENTENCES,
    smoothing=st.sampled_from(SMOOTHINGS),
    order=st.integers(1, 5),
    history=st.lists(st.sampled_from("abcdefgz"), max_size=6),
    markers=st.booleans(),
    cutoff=st.integers(0, 1),
    prune=st.sampled_from([(), (0, 1), (0, 0, 1), (0, 1, 2)]),
)
def test_the_probabilities_after_any_history_add_up_to_one(
    text, smoothing, order, history, markers, cutoff, prune
):
    prune = () if smoothing == "add-k" else prune
    model = NGramModel(
        order, smoothing=smoothing, markers=markers, unk_cutoff=cutoff, prune=prune,
        engine="serial",
    ).fit(text)  # fmt: skip
    p = model.distribution(history)
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1, abs=2e-6)
    assert p[model.words_.index("<s>")] == 0
    if not markers:
        assert p[model.words_.index("</s>")] == 0


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_the_probabilities_of_many_words_add_up_to_one(smoothing):
    rng = np.random.default_rng(0)
    ids = rng.zipf(1.2, 60_000).clip(max=50_000)
    text = [[f"w{i}" for i in part] for part in np.array_split(ids, 3_000)]
    for order in (1, 2, 3):
        model = NGramModel(order, smoothing=smoothing, engine="serial").fit(text)
        for history in ([], ["w1"], ["w1", "w2"], ["unknown", "w1"], ["w1", "unknown"]):
            assert model.distribution(history).sum() == pytest.approx(1, abs=3e-6)


def test_backoff_leaves_few_unknown_words_what_good_turing_does():
    text = ["a a a b b c d e", "a b c"] * 20 + ["f g h"]
    p = NGramModel(1, smoothing="backoff").fit(text).distribution()
    assert p[0] == pytest.approx(3 / (220 + 41 + 3 + 3), rel=1e-5)  # words, stops, n1, E


@settings(max_examples=60)
@given(
    text=SENTENCES,
    smoothing=st.sampled_from(SMOOTHINGS),
    order=st.integers(1, 4),
    history=st.lists(st.sampled_from("abcdefg"), max_size=4),
)
def test_a_closed_vocabulary_leaves_nothing_for_other_words(text, smoothing, order, history):
    model = NGramModel(
        order, smoothing=smoothing, vocabulary=list("abcdefg"), open_vocabulary=False,
        engine="serial",
    ).fit(text)  # fmt: skip
    p = model.distribution(history)
    assert p[0] == 0
    assert p.sum() == pytest.approx(1, abs=2e-6)
    if smoothing not in ("mle", "backoff", "katz"):
        assert (p[[2, *range(3, len(p))]] > 0).all()


@settings(max_examples=60)
@given(text=SENTENCES, smoothing=st.sampled_from(SMOOTHINGS), order=st.integers(1, 4))
def test_scores_are_those_of_the_distribution(text, smoothing, order):
    model = NGramModel(order, smoothing=smoothing, engine="serial").fit(text)
    sentence = [*text[0], "z", *text[-1]]
    with np.errstate(divide="ignore"):
        expected = [
            np.log10(model.distribution(sentence[:i])[model.words_.index(word)])
            for i, word in enumerate([*("<unk>" if w == "z" else w for w in sentence), "</s>"])
        ]
    assert model.score(sentence) == pytest.approx(sum(expected), abs=1e-4)
    assert model.score_sentences([sentence])[0] == pytest.approx(sum(expected), abs=1e-4)


def kneser_ney(text, history, word, d):
    """Interpolated Kneser-Ney of bigrams, written down from the paper."""
    pairs = Counter(
        pair
        for sentence in text
        for pair in zip(["<s>", *sentence], [*sentence, "</s>"], strict=True)
    )
    after = Counter(b for _, b in pairs)
    v = len(set(after) | {"<unk>"})
    d1 = d[0]
    low_left = sum(min(d1, c) for c in after.values()) / sum(after.values())
    low = max(after[word] - d1, 0) / sum(after.values()) + low_left / v
    seen = {b: c for (a, b), c in pairs.items() if a == history}
    if not seen:
        return low
    total = sum(seen.values())
    left = d[1] * len(seen) / total
    return max(seen.get(word, 0) - d[1], 0) / total + left * low


def test_kneser_ney_is_the_formula_of_the_paper():
    rng = np.random.default_rng(0)
    text = [[*"abcdefgh"[: 1 + int(n)]] for n in rng.geometric(0.3, 60) % 8]
    for sentence in text:
        rng.shuffle(sentence)
    model = NGramModel(2, smoothing="kneser-ney").fit(text)
    d = [each[1] for each in model.discounts_]
    for history in ["<s>", *"abch"]:
        p = model.distribution([] if history == "<s>" else [history])
        for word in ["a", "e", "h", "</s>"]:
            expected = kneser_ney(text, history, word, d)
            assert p[model.words_.index(word)] == pytest.approx(expected, rel=1e-5)


def test_witten_bell_trusts_a_history_by_how_many_words_followed_it():
    text = ["a b", "a c", "a b", "b c"]
    model = NGramModel(2, smoothing="witten-bell").fit(text)
    low = NGramModel(1, smoothing="witten-bell").fit(text)
    b = model.words_.index("b")
    expected = (2 + 2 * low.distribution("")[b]) / (3 + 2)  # after a: b twice, c once
    assert model.distribution("a")[b] == pytest.approx(expected, rel=1e-6)


def test_modified_kneser_ney_discounts_are_chen_and_goodmans():
    counts = np.repeat([1, 2, 3, 4, 9], [100, 30, 14, 8, 5])
    y = 100 / (100 + 2 * 30)
    expected = [0, 1 - 2 * y * 30 / 100, 2 - 3 * y * 14 / 30, 3 - 4 * y * 8 / 14]
    np.testing.assert_allclose(modified_discounts(counts).values, expected)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (absolute_discount, [0, 0.5]),
        (modified_discounts, [0, 0.5, 1, 1.5]),
        (good_turing, [0, 0.5, 0.5, 0.5, 0.5, 0.5, 0]),
    ],
)
@pytest.mark.parametrize("counts", [[], [1], [7, 7], [2] * 50, [3, 3, 4]])
def test_odd_counts_fall_back_to_stated_discounts(rule, expected, counts):
    found = rule(np.array(counts, np.int64))
    assert not found.estimated
    assert found.values.tolist() == expected


@given(st.lists(st.integers(1, 8), max_size=60))
def test_no_discount_is_more_than_the_count(counts):
    for rule in (absolute_discount, good_turing, modified_discounts):
        values = rule(np.array(counts, np.int64)).values
        assert (values >= 0).all()
        assert (values <= np.arange(len(values))).all()


def test_orders_whose_discounts_are_guessed_are_named():
    model = NGramModel(3).fit(["a b c"])
    assert model.discount_fallbacks_ == [1, 2, 3]
    assert model.discounts_[2] == [0.0, 0.5, 1.0, 1.5]


def test_pruned_n_grams_leave_their_probability_to_the_shorter_ones():
    text = ["a b c d"] * 3 + ["a b d", "b c a", "c d a b"]
    whole, pruned = NGramModel(3).fit(text), NGramModel(3, prune=(0, 0, 1)).fit(text)
    assert whole.ngram_counts_[:2] == pruned.ngram_counts_[:2]
    assert pruned.ngram_counts_[2] < whole.ngram_counts_[2]
    assert whole.discounts_ == pruned.discounts_  # estimated before anything was dropped
    for history in (["a", "b"], ["b", "c"], ["d", "a"]):
        assert pruned.distribution(history).sum() == pytest.approx(1, abs=1e-6)


def test_jelinek_mercer_weights_are_fitted_on_the_held_out_text():
    rng = np.random.default_rng(1)
    noise = [list(rng.choice(list("abcd"), 6)) for _ in range(300)]
    order = [[*"abcdabcd"] for _ in range(300)]
    random = NGramModel(2, smoothing="jelinek-mercer").fit(order, held_out=noise)
    regular = NGramModel(2, smoothing="jelinek-mercer").fit(order, held_out=order)
    seen = int(np.frexp(600)[1])  # how often each word was seen, in bits
    assert regular.mixing_[1][seen] > 0.9 > 0.5 > random.mixing_[1][seen]
    split = NGramModel(2, smoothing="jelinek-mercer").fit(order)
    assert split.mixing_[1][seen] > 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prune": (1,)}, "single words"),
        ({"prune": (0, 2, 1)}, "must not fall"),
        ({"prune": (0, 1), "smoothing": "add-k"}, "cannot be pruned"),
        ({"smoothing": "good-turing"}, "smoothing"),
        ({"order": 0}, "order"),
        ({"k": 0.0, "smoothing": "add-k"}, "'k'"),
        ({"backoff_weight": 1.0}, "backoff_weight"),
        ({"tokenizer": "spaces"}, "tokenizer='spaces'"),
        ({"vocabulary": ["b"], "open_vocabulary": False}, "outside the vocabulary"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        NGramModel(**settings).fit(["a b"])

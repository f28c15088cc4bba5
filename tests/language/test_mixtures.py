"""Mixtures of models, and models that remember the text."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import tacit
from tacit.language import CacheModel, ClassModel, MixedModel, NGramModel
from tacit.language.mixed_model import fit_weights

SEA = ["the ship sails", "the whale dives", "the harpoon strikes the whale"] * 5
BREAD = ["knead the dough", "bake the bread", "the bread needs flour"] * 5


@pytest.fixture(scope="module")
def models():
    words = sorted({word for s in SEA + BREAD for word in s.split()})
    return [NGramModel(2, vocabulary=words).fit(text) for text in (SEA, BREAD)]


def test_shares_are_where_the_likelihood_is_highest():
    rng = np.random.default_rng(0)
    columns = rng.random((500, 2))
    shares = fit_weights(columns)
    grid = np.linspace(0, 1, 1001)
    likely = [np.log(columns @ [s, 1 - s]).sum() for s in grid]
    assert shares[0] == pytest.approx(grid[int(np.argmax(likely))], abs=2e-3)
    assert shares.sum() == pytest.approx(1)


def test_impossible_words_do_not_upset_the_shares():
    columns = np.array([[0.0, 0.0], [0.5, 0.1], [0.0, 0.2]])
    shares = fit_weights(columns)
    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(1)


def test_a_mixture_predicts_mixed_text_better_than_either(models):
    mixed = MixedModel(models).fit([*SEA[:3], *BREAD[:3]])
    text = [*SEA, *BREAD]
    assert mixed.perplexity(text).ppl < min(m.perplexity(text).ppl for m in models)
    assert mixed.weights_.sum() == pytest.approx(1)
    p = [10 ** m.score("the whale") for m in models]
    assert 10 ** MixedModel(models, weights=[1, 0]).score("the whale") == pytest.approx(p[0])


def test_the_mixture_of_distributions_is_one(models):
    mixed = MixedModel(models, weights=[0.3, 0.7])
    everything = mixed.next_words("the", top=10**6)
    assert sum(p for _, p in everything) == pytest.approx(1, abs=1e-5)
    expected = 0.3 * models[0].distribution("the") + 0.7 * models[1].distribution("the")
    assert everything[0][1] == pytest.approx(expected.max(), rel=1e-6)


def test_a_mixture_can_be_saved(models, tmp_path):
    mixed = MixedModel(models).fit(SEA)
    mixed.save(tmp_path / "mixed.safetensors")
    loaded = tacit.load(tmp_path / "mixed.safetensors")
    assert loaded.score("the whale bakes") == mixed.score("the whale bakes")


def test_mixtures_that_make_no_sense_are_refused(models):
    other = NGramModel(2, tokenizer="char").fit(SEA)
    with pytest.raises(ValueError, match="read text alike"):
        MixedModel([models[0], other]).fit(SEA)
    with pytest.raises(ValueError, match="list of language models"):
        MixedModel([]).fit(SEA)
    with pytest.raises(ValueError, match="add up to 1"):
        MixedModel(models, weights=[0.5, 0.6]).score("a")
    with pytest.raises(ValueError, match="not fitted"):
        MixedModel(models).score("a")
    with pytest.raises(ValueError, match="at least one sentence"):
        MixedModel(models).fit([])


def by_hand(ids, half_life):
    fade = 0.5 ** (1 / half_life)
    out = []
    for t, word in enumerate(ids):
        weights = fade ** (t - np.arange(t))
        same = np.array([each == word for each in ids[:t]], float)
        out.append((weights * same).sum() / weights.sum() if t else None)
    return out


def test_recent_words_fade_by_half():
    from tacit.language.cache_model import recent
    from tacit.language.scoring import WordScores

    ids = np.array([3, 4, 3, 3, 5, 2, 4, 3], np.int32)
    found = WordScores(np.zeros(8), ids, np.array([0, 6, 8]))
    p = recent(found, np.full(8, 0.25), 4.0, 0)
    assert p[0] == 0.25  # nothing is remembered yet: the model's own
    np.testing.assert_allclose(p[1:], by_hand(ids, 4.0)[1:])
    pairs = recent(found, np.full(8, 0.25), 4.0, 1)
    assert pairs[3] == 0.0  # after 3 came 4
    assert pairs[4] == pytest.approx(0.0)
    assert pairs[6] == pytest.approx(0.0)  # the first word of a sentence, which began with 3


def test_a_cache_adapts_to_the_text(models):
    text = ["the whale dives"] * 30
    model = models[1]
    cached = CacheModel(model).fit(text)
    assert cached.perplexity(text).ppl < 0.6 * model.perplexity(text).ppl
    assert cached.weights_.sum() == pytest.approx(1)
    set_by_hand = CacheModel(model, half_lives=(10, 20)).fit(text)
    assert set_by_hand.half_lives_ == (10.0, 20.0)
    for wrong in ((1,), (0, 5), ("a", 2)):
        with pytest.raises(ValueError, match="half_lives"):
            CacheModel(model, half_lives=wrong).fit(text)


def test_a_cache_can_be_saved(models, tmp_path):
    cached = CacheModel(models[0]).fit(SEA)
    cached.save(tmp_path / "cache.safetensors")
    loaded = tacit.load(tmp_path / "cache.safetensors")
    assert loaded.perplexity(SEA) == cached.perplexity(SEA)


def test_a_class_model_mixes_with_a_word_model():
    text = ["the cat runs", "a dog runs", "the dog sleeps", "a cat sleeps"] * 5
    words, classes = NGramModel(2).fit(text), ClassModel(n_clusters=3).fit(text)
    mixed = MixedModel([words, classes], weights=[0.5, 0.5])
    for sentence in ("a dog sleeps", "the dog runs"):
        parts = [10 ** model.score(sentence) for model in (words, classes)]
        assert min(parts) <= 10 ** mixed.score(sentence) <= max(parts)
    both = [dict(model.next_words("the", top=99)) for model in (words, classes)]
    found = dict(mixed.next_words("the", top=99))
    for word, p in found.items():
        assert p == pytest.approx(sum(each.get(word, 0.0) for each in both) / 2)


def test_a_cache_that_was_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        CacheModel(NGramModel(2).fit(["a b"])).perplexity(["a b"])

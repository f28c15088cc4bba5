"""NGramModel: what goes in, what comes out, and files."""

import gzip
import mmap
import pickle

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.core import ModelFileError, Serial, Threads
from tacit.data import Documents
from tacit.language import NGramModel

TEXT = [
    "the whale surfaced near the ship",
    "a ship sailed past the whale and the harpoon",
    "the harpoon struck the whale",
    "bread needs flour and water",
    "knead the flour and let the bread rise",
    "water the dough and bake the bread",
]


@pytest.fixture(scope="module")
def model():
    return NGramModel(3).fit(TEXT)


def same(a, b):
    assert a.words_ == b.words_
    for name in ("_words", "_children", "_probs", "_backoffs"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


# --- What goes in ---


def test_sentences_may_come_in_any_shape(model, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(TEXT), encoding="utf-8")
    packed = tmp_path / "text.txt.gz"
    packed.write_bytes(gzip.compress("\n".join(TEXT).encode()))
    halves = [tmp_path / "a.txt", tmp_path / "b.txt"]
    halves[0].write_text("\n".join(TEXT[:2]))
    halves[1].write_text("\n".join(TEXT[2:]))
    shapes = [
        [s.split() for s in TEXT],
        (s for s in TEXT),
        (s.split() for s in TEXT),
        tuple(TEXT),
        np.array(TEXT),
        pd.Series(TEXT),
        Documents.of(TEXT),
        ["\n".join(TEXT[:4]), "", None, "\n\n".join(TEXT[4:]) + "\n \n"],
        [s.encode() for s in TEXT],
        path,
        str(packed),
        halves,
    ]
    for shape in shapes:
        same(NGramModel(3).fit(shape), model)


def test_blocks_engines_and_workers_change_nothing(model):
    text = [*TEXT, *(f"word{i} the ship word{i % 7}" for i in range(20_000))]
    one = NGramModel(3, engine=Serial()).fit(text)
    same(NGramModel(3, engine=Threads(3)).fit(text), one)
    scores = [
        NGramModel.score_sentences(one.set_params(engine=engine), text)
        for engine in (Serial(), Threads(1), Threads(4))
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_the_package_tokenizer_and_functions_can_split_words():
    text = ["The whale, the WHITE whale!", "Don't panic."]
    words = NGramModel(2, tokenizer="words", lowercase=True).fit(text)
    assert words.words_[3:] == ["don't", "panic", "the", "whale", "white"]
    plain = NGramModel(2, tokenizer="whitespace", lowercase=True).fit(text)
    assert "whale," in plain.words_
    own = NGramModel(2, tokenizer=lambda s: s.split("h")).fit(text)
    assert "T" in own.words_
    with pytest.raises(TypeError, match="list of str"):
        NGramModel(2, tokenizer=lambda s: s).fit(text)


def test_characters_can_be_words():
    model = NGramModel(4, tokenizer="char").fit(["naïve café", "naïveté"])
    assert model.words_[3:] == sorted(set("naïve café" + "naïveté"))
    assert model.next_words("na", top=1)[0][0] == "ï"
    assert model.score("naïve") == pytest.approx(model.score_sentences(["naïve"])[0])
    assert set(model.generate(0)) <= set("naïve cafté")


def test_bytes_and_unicode_white_space_are_left_to_the_words():
    model = NGramModel(1).fit(["a\u3000b c\td\x0be", b"f\xff g"])
    assert model.words_[3:] == ["a\u3000b", "c", "d", "e", "f\ufffd", "g"]


def test_reserved_words_in_the_text_are_unknown_and_counted():
    model = NGramModel(2).fit(["a </s> b", "<s> a <unk>"])
    assert model.input_report_["reserved"] == 2
    assert model.input_report_["unknown"] == 3
    assert model.words_[3:] == ["a", "b"]


def test_rare_words_become_unknown():
    model = NGramModel(2, unk_cutoff=1).fit(["a a b", "c a b d"])
    assert model.words_[3:] == ["a", "b"]
    assert model.input_report_["unknown"] == 2
    assert model.score("c a") == model.score("never a") == model.score("<unk> a")


def test_a_given_vocabulary_is_all_there_is():
    model = NGramModel(2, vocabulary=["a", "z", "a"]).fit(["a b", "a c"])
    assert model.words_ == ["<unk>", "<s>", "</s>", "a", "z"]
    assert model.distribution("")[4] > 0


@pytest.mark.parametrize("empty", [[], [""], ["", " \n "], [None], [[]], [[], []]])
def test_nothing_to_learn_from_is_an_error(empty):
    with pytest.raises(ValueError, match="no sentence"):
        NGramModel().fit(empty)


def test_one_sentence_that_is_not_in_a_list_is_taken_for_a_file():
    with pytest.raises(FileNotFoundError, match="put it in a list"):
        NGramModel().fit("the whale")
    with pytest.raises(ValueError, match="Put one in a list"):
        NGramModel().fit(b"the whale")


def test_words_that_are_no_strings_are_refused():
    with pytest.raises(TypeError, match="str"):
        NGramModel().fit([["a", 3]])
    with pytest.raises(TypeError, match="sentence 1"):
        NGramModel().fit([["a"], "b"])
    with pytest.raises(TypeError, match="list of words"):
        NGramModel(vocabulary="abc").fit(TEXT)
    with pytest.raises(TypeError, match="str"):
        NGramModel(vocabulary=["a", 1]).fit(TEXT)


def test_a_sentence_shorter_than_the_order_is_fine():
    model = NGramModel(5).fit(["a"])
    assert model.ngram_counts_ == [4, 2, 1, 0, 0]
    assert np.isfinite(model.score("a b c d e f g"))


def test_an_unfitted_model_says_so():
    with pytest.raises(ValueError, match="not fitted"):
        NGramModel().score("a")


# --- What comes out ---


def test_score_is_log10_and_logprob_natural(model):
    assert model.logprob(TEXT[0]) == pytest.approx(np.log(10) * model.score(TEXT[0]))
    whole = model.score("the whale")
    assert model.score("the whale", eos=False) > whole
    assert model.score("", eos=False) == 0
    assert model.score("", bos=False, eos=False) == 0
    assert model.score("the", bos=False, eos=False) == pytest.approx(
        np.log10(10.0 ** model._probs[model.words_.index("the")])
    )


def test_many_sentences_score_as_each_alone(model):
    text = [*TEXT, "", "never seen", "the the the"]
    alone = [model.score(s) for s in text]
    np.testing.assert_allclose(model.score_sentences(text), alone, rtol=1e-6)
    assert len(model.score_sentences([])) == 0


def test_perplexity_counts_what_it_met(model):
    found = model.perplexity([*TEXT, "the kraken sailed", ""])
    assert (found.sentences, found.oovs, found.zeroprobs) == (7, 1, 0)
    assert found.words == sum(len(s.split()) for s in TEXT) + 3
    total = sum(model.logprob(s) for s in [*TEXT, "the kraken sailed"])
    assert found.logprob == pytest.approx(total, rel=1e-6)
    assert float(found) == found.ppl == pytest.approx(np.exp(-total / (found.words + 7)))
    assert found.ppl1 < found.ppl * 2
    assert found.to_dict()["words"] == found.words
    with pytest.raises(ValueError, match="at least one"):
        model.perplexity([])
    for empty in ([""], [" \n "], [[]]):
        with pytest.raises(ValueError, match="no sentence"):
            model.perplexity(empty)
    assert model.perplexity([["the"], []]) == model.perplexity(["the", ""])


def test_without_an_unknown_word_others_are_impossible():
    model = NGramModel(2, open_vocabulary=False).fit(["a b", "b a"])
    found = model.perplexity(["a b", "a c"])
    assert found.ppl == found.ppl1 == np.inf
    assert found.logprob == -np.inf
    assert (found.oovs, found.zeroprobs) == (1, 0)
    assert np.isfinite(found.ppl_known)
    assert found.to_dict()["ppl"] is None
    assert model.score("a c") == -np.inf


def test_surprisal_is_in_bits_and_adds_up(model):
    found = model.surprisal("the kraken\nthe whale")
    assert [each.word for each in found] == ["the", "kraken", "</s>", "the", "whale", "</s>"]
    assert [each.oov for each in found] == [False, True, False, False, False, False]
    bits = sum(each.bits for each in found)
    total = model.logprob("the kraken") + model.logprob("the whale")
    assert bits == pytest.approx(-total / np.log(2), rel=1e-5)
    assert str(found[1]).endswith("(not in the vocabulary)")


def test_next_words_are_sorted_and_likely(model):
    found = model.next_words("let the", top=4)
    assert found[0][0] == "bread"
    assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)
    assert model.next_words("let the", top=0) == []
    everything = model.next_words(["let", "the"], top=10**6)
    assert sum(p for _, p in everything) == pytest.approx(1, abs=1e-5)
    assert "<s>" not in dict(everything)


def test_generated_text_is_the_same_for_a_seed(model):
    assert model.generate(7) == model.generate(7)
    drawn = {model.generate(seed) for seed in range(20)}
    assert len(drawn) > 5
    known = set(model.words_[3:])
    assert all(set(text.split()) <= known for text in drawn)
    begun = model.generate(1, prefix="the whale", max_words=5)
    assert begun.startswith("the whale")
    assert len(begun.split()) <= 7
    assert model.generate(0, max_words=0) == ""


def test_words_are_drawn_as_often_as_the_model_says():
    model = NGramModel(1, smoothing="mle", markers=False).fit(["a " * 70 + "b " * 30])
    drawn = model.generate(5, max_words=4000).split()
    assert drawn.count("a") / len(drawn) == pytest.approx(0.7, abs=0.03)
    cold = model.generate(5, max_words=2000, temperature=0.2).split()
    assert cold.count("a") / len(cold) > 0.95
    hot = model.generate(5, max_words=4000, temperature=1000).split()
    assert hot.count("a") / len(hot) == pytest.approx(0.5, abs=0.05)
    for temperature in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="temperature"):
            model.generate(0, temperature=temperature)


def test_completions_end_words_and_sentences(model):
    assert model.complete("the harpoon st", top=1)[0].text == "the harpoon struck"
    best = model.complete("the harpoon ", top=1)[0]
    assert best.text == "the harpoon struck" or best.text == "the harpoon"
    whole = model.complete("bread needs", top=3, max_words=6)
    assert any(each.text == "bread needs flour and water" for each in whole)
    assert [e.probability for e in whole] == sorted(e.probability for e in whole)[::-1]
    assert model.complete("the zzz", top=3) == []
    with pytest.raises(ValueError, match="top=0"):
        model.complete("a", top=0)


# --- Files ---


@pytest.mark.parametrize("smoothing", ["modified-kneser-ney", "add-k", "jelinek-mercer", "mle"])
@pytest.mark.parametrize("mmap", [False, True])
def test_a_saved_model_is_the_same_model(tmp_path, smoothing, mmap):
    model = NGramModel(3, smoothing=smoothing).fit(TEXT)
    path = tmp_path / "model.safetensors"
    model.save(path)
    loaded = tacit.load(path, mmap=mmap)
    same(loaded, model)
    assert loaded.score("the whale dived") == model.score("the whale dived")
    assert loaded.next_words("the") == model.next_words("the")
    assert loaded.get_params() == model.get_params()
    second = tmp_path / "again.safetensors"
    loaded.save(second)
    assert second.read_bytes() == path.read_bytes()


def damage_words(model):
    model._words[-1] = 10**6


def damage_children(model):
    model._children[3] = 10**6


def cross_levels(model):
    first, second = np.cumsum(model._sizes)[:2]
    model._children[: first + 1] += 1  # in order, but into the level after the next
    model._children[first] = second


def damage_sizes(model):
    model._sizes = model._sizes[::-1].copy()


def swap_unigrams(model):
    model._words[:2] = model._words[1::-1]


def damage_vocabulary(model):
    model._word_bytes[0] = 0xFF


def widen_codes(model):
    model._set_tables(model.quantized()._tables, model._vocabulary)
    model._probs = model._probs.astype(np.uint32) + 1000


def shorten_unigrams(model):
    model._set_tables(model.quantized()._tables, model._vocabulary)
    model._unigram_probs = model._unigram_probs[:-1]


@pytest.mark.parametrize(
    "damage",
    [
        damage_words, damage_children, cross_levels, damage_sizes, swap_unigrams,
        damage_vocabulary, widen_codes, shorten_unigrams,
    ],
)  # fmt: skip
def test_a_forged_trie_is_refused(tmp_path, model, damage):
    forged = pickle.loads(pickle.dumps(model))
    for name in ("_words", "_children", "_word_bytes"):
        setattr(forged, name, getattr(forged, name).copy())
    damage(forged)
    path = tmp_path / "forged.safetensors"
    forged.save(path)
    with pytest.raises(ModelFileError):
        tacit.load(path)


def test_quantizing_costs_less_than_a_percent_of_perplexity():
    rng = np.random.default_rng(0)
    ids = rng.zipf(1.3, 80_000).clip(max=20_000)
    ids = np.where(rng.random(len(ids)) < 0.5, ids, np.roll(ids, 1) * 7 % 20_000)
    text = [[f"w{i}" for i in part] for part in np.array_split(ids, 4_000)]
    model = NGramModel(3).fit(text[:3_500])
    exact, small = (m.perplexity(text[3_500:]).ppl for m in (model, model.quantized()))
    assert small < 1.01 * exact


def test_a_quantized_file_of_an_earlier_version_can_be_read(tmp_path, model):
    small = model.quantized()
    small._unigram_probs = small._unigram_backoffs = None
    path = tmp_path / "earlier.safetensors"
    small.save(path)
    loaded = tacit.load(path)
    assert loaded.score(TEXT[0]) == pytest.approx(model.score(TEXT[0]), rel=1e-2)


def test_quantized_numbers_are_close_and_take_a_byte(tmp_path, model):
    rng = np.random.default_rng(0)
    text = [" ".join(rng.choice([f"w{i}" for i in range(60)], 15)) for _ in range(400)]
    whole = NGramModel(3).fit(text)
    small = whole.quantized()
    assert small._probs.dtype == np.uint8
    assert small._tables.nbytes < 0.7 * whole._tables.nbytes
    close, exact = small.score_sentences(text), whole.score_sentences(text)
    np.testing.assert_allclose(close, exact, rtol=2e-2)
    assert np.abs(close - exact).mean() < 0.02
    assert small.score(text[0]) == pytest.approx(small.score_sentences(text[:1])[0])
    assert small.distribution("w1 w2").sum() == pytest.approx(1, abs=0.05)
    assert small.quantized()._tables.nbytes == small._tables.nbytes
    path = tmp_path / "small.safetensors"
    small.save(path)
    assert tacit.load(path, mmap=True).score("w1") == small.score("w1")
    assert model.quantized().score(TEXT[0]) == pytest.approx(model.score(TEXT[0]), rel=1e-6)


def test_a_model_on_disk_is_the_same_model(tmp_path, model):
    limited = NGramModel(model.order, memory="1kB").fit(TEXT)
    owner = limited._words
    while not isinstance(owner, mmap.mmap):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    same(limited, model)
    same(pickle.loads(pickle.dumps(limited)), model)
    limited.save(tmp_path / "m.safetensors")
    same(tacit.load(tmp_path / "m.safetensors"), model)
    same(
        NGramModel(3, prune=(0, 0, 1), memory=1).fit(TEXT),
        NGramModel(3, prune=(0, 0, 1)).fit(TEXT),
    )
    assert limited.score(TEXT[0]) == model.score(TEXT[0])


def test_a_model_can_be_pickled_and_cloned(model):
    from sklearn.base import clone

    again = pickle.loads(pickle.dumps(model))
    same(again, model)
    assert clone(model).get_params() == model.get_params()

"""Texts of two made-up authors, who differ in the rates of a few words."""

from itertools import pairwise

import numpy as np
import pytest

import tacit
from tacit.core import ModelFileError, Serial, Threads
from tacit.style import Authorship, FunctionWords, consensus_tree, impostors, rolling
from tacit.style.deltas import find_sharpness
from tacit.style.verification import find_thresholds

WORDS = ["the", "of", "and", "upon", "on", "whale", "ship", "sea", "corn", "rye"]
RATES = {
    "Ann": [9, 5, 4, 3, 1, 3, 3, 3, 1, 1],
    "Bob": [7, 3, 6, 0.2, 3, 1, 1, 1, 3, 3],
    "Cat": [5, 7, 3, 1, 2, 2, 2, 2, 2, 2],
}


def write(author, n, seed):
    """A text of n words at the rates of an author."""
    rng = np.random.default_rng([seed, ord(author[0])])
    rates = np.array(RATES[author]) * rng.gamma(30, 1 / 30, len(WORDS))
    return " ".join(rng.choice(WORDS, n, p=rates / rates.sum()))


AUTHORS = [author for author in RATES for _ in range(5)]
TEXTS = [write(author, 900, seed) for seed, author in enumerate(AUTHORS)]
NEW = {author: write(author, 900, 100) for author in RATES}


@pytest.fixture(scope="module")
def model():
    return Authorship(WORDS[:5], block=300).fit(TEXTS, AUTHORS)


@pytest.mark.parametrize("variant", ["burrows", "eder", "cosine", "quadratic"])
@pytest.mark.parametrize("compare", ["author", "text"])
def test_new_texts_are_attributed_to_their_authors(variant, compare):
    model = Authorship(WORDS[:5], block=300, variant=variant, compare=compare)
    model.fit(TEXTS, AUTHORS)
    assert model.predict(list(NEW.values())).tolist() == list(NEW)
    assert model.evaluation().accuracy >= 0.9


def test_a_text_left_out_is_attributed_by_a_model_of_the_others(model):
    for i in range(len(TEXTS)):
        rest = [j for j in range(len(TEXTS)) if j != i]
        other = Authorship(WORDS[:5], block=300)
        other.fit([TEXTS[j] for j in rest], [AUTHORS[j] for j in rest])
        np.testing.assert_allclose(
            other.distances([TEXTS[i]])[0], model.left_out_distances_[i], atol=1e-9
        )


def test_a_word_of_a_single_text_says_nothing_when_that_text_is_left_out():
    odd = TEXTS[:1][0] + " hapax"
    texts = [odd, *TEXTS[1:]]
    model = Authorship([*WORDS[:5], "hapax"], block=100).fit(texts, AUTHORS)
    rest = Authorship([*WORDS[:5], "hapax"], block=100).fit(texts[1:], AUTHORS[1:])
    np.testing.assert_allclose(
        rest.distances([odd])[0], model.left_out_distances_[0], atol=1e-9
    )


def test_blocks_of_texts_left_out_are_attributed_one_by_one(model):
    found = model.evaluation(by_block=True)
    assert (found.unit, found.tested) == ("block", 45)
    assert 0.7 < found.accuracy <= 1
    rest = [j for j in range(len(TEXTS)) if j != 3]
    other = Authorship(WORDS[:5], block=300)
    other.fit([TEXTS[j] for j in rest], [AUTHORS[j] for j in rest])
    votes = other.attribute([TEXTS[3]])[0].votes
    own = [author for author, name in zip(found.predicted, found.names, strict=True)
           if name == "3"]  # fmt: skip
    assert {author: own.count(author) / 3 for author in RATES} == pytest.approx(votes)


def test_probabilities_sum_to_one_and_are_never_certain(model):
    posterior = model.predict_proba(list(NEW.values()))
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    assert (posterior < 1).all()
    verdicts = model.attribute(list(NEW.values()), names=list(NEW))
    for verdict, row in zip(verdicts, posterior, strict=True):
        assert verdict.author == verdict.name
        assert verdict.probability == row.max()
        assert (verdict.blocks, verdict.words) == (3, 900)
        assert sum(verdict.votes.values()) == pytest.approx(1)
        assert verdict.name in str(verdict)
        assert verdict.to_dict()["votes"].keys() == RATES.keys()


def test_probabilities_are_calibrated_on_the_side_of_caution():
    right, sure = [], []
    for seed in range(20):
        texts = [write(author, 120, (seed, i)) for i, author in enumerate(AUTHORS)]
        model = Authorship(WORDS[:5], block=None).fit(texts, AUTHORS)
        new = [write(author, 120, (seed, 100 + i)) for i, author in enumerate(AUTHORS)]
        posterior = model.predict_proba(new)
        right += (model.classes_[posterior.argmax(axis=1)] == AUTHORS).tolist()
        sure += posterior.max(axis=1).tolist()
    assert 0.6 < np.mean(right) < 0.98  # neither trivial nor hopeless
    assert -0.1 < np.mean(sure) - np.mean(right) < 0.02


def test_the_sharpness_maximizes_the_likelihood_of_the_texts_left_out():
    distances = np.array([[0.2, 0.8], [0.4, 0.5], [0.7, 0.3], [0.6, 0.5]])
    authors = np.array([0, 0, 1, 0])
    best = find_sharpness(distances, authors)

    def loss(b):
        logs = -b * distances
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        targets = np.full((4, 2), 1 / 6)
        targets[np.arange(4), authors] = 5 / 6
        return -(targets * logs).sum()

    grid = [loss(best * factor) for factor in (0.9, 0.99, 1.0, 1.01, 1.1)]
    assert np.argmin(grid) == 2
    assert find_sharpness(np.zeros((0, 2)), np.zeros(0, int)) == 0.0
    assert find_sharpness(np.zeros((3, 2)), np.zeros(3, int)) == 0.0


def test_telling_words_are_those_with_different_rates(model):
    words = model.telling_words("Ann", "Bob", top=2)
    assert {word.word for word in words} == {"upon", "and"}
    upon = next(word for word in words if word.word == "upon")
    assert upon.rate > 5 * upon.other_rate
    first = words[0]
    assert model.telling_words("Bob", "Ann", top=1)[0].effect == -first.effect
    with pytest.raises(ValueError, match="knows no author 'Dan'"):
        model.telling_words("Dan")


def test_the_map_separates_the_authors_and_holds_new_texts(model):
    known = model.map()
    assert known.points.shape == (45, 2)
    assert 0 < known.explained <= 1
    middles = np.array([
        known.points[model.text_authors_[known.texts] == j].mean(axis=0) for j in range(3)
    ])  # fmt: skip
    for j, text in enumerate(NEW.values()):
        at = model.map([text]).points.mean(axis=0)
        assert ((middles - at) ** 2).sum(axis=1).argmin() == j


def test_an_author_with_one_text_is_a_candidate_but_not_tested():
    model = Authorship(WORDS[:5], block=None).fit(TEXTS[:6], AUTHORS[:6])
    assert model.evaluation().tested == 5
    assert model.predict([NEW["Bob"]]).tolist() == ["Bob"]


def test_blocks_are_left_out_where_no_author_has_two_texts():
    texts, authors = TEXTS[::5], AUTHORS[::5]
    model = Authorship(WORDS[:5], block=100).fit(texts, authors)
    assert model.evaluation().unit == "block"
    assert model.evaluation().tested == 27
    assert model.sharpness_ > 0
    assert impostors(model, [NEW["Ann"]], n_iter=20).scores[0].argmax() == 0


def test_without_anything_to_leave_out_probabilities_are_equal():
    model = Authorship(WORDS[:5], block=None).fit(TEXTS[::5], AUTHORS[::5])
    assert model.evaluation().tested == 0
    assert model.evaluation().accuracy == 0.0
    np.testing.assert_allclose(model.predict_proba([NEW["Ann"]]), 1 / 3)
    assert model.predict([NEW["Ann"]]).tolist() == ["Ann"]


def test_equal_texts_give_no_nan():
    model = Authorship(["the", "of"], block=None)
    model.fit(["the end of it"] * 4, ["Ann", "Ann", "Bob", "Bob"])
    assert model.predict(["of the"]).tolist() == ["Ann"]  # a tie goes to the first
    assert np.isfinite(model.predict_proba(["of the"])).all()
    assert np.isfinite(model.map(["of the"]).points).all()
    assert np.isfinite(impostors(model, ["of the"], n_iter=5).scores).all()


@pytest.mark.parametrize(
    ("texts", "authors", "error", "message"),
    [
        (["the"], ["Ann"], ValueError, "two authors"),
        (["the", "of"], ["Ann"], ValueError, "1 authors for 2 texts"),
        (["the", "of"], None, ValueError, "is None"),
        (["the", "of"], ["Ann", None], ValueError, "text 1 is missing"),
        (["the", "of"], ["Ann", 3], TypeError, "some are not"),
        (["the", ""], ["Ann", "Bob"], ValueError, "'1' has no words"),
        ("the", ["Ann"], ValueError, "Wrap one document"),
    ],
)
def test_bad_input_is_refused(texts, authors, error, message):
    with pytest.raises(error, match=message):
        Authorship(block=None).fit(texts, authors)


@pytest.mark.parametrize(
    "settings", [{"block": 0}, {"variant": "x"}, {"words": 0}, {"compare": "x"}]
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        Authorship(**settings).fit(TEXTS, AUTHORS)


def test_names_must_be_as_many_as_texts():
    with pytest.raises(ValueError, match="1 names for 15 texts"):
        Authorship().fit(TEXTS, AUTHORS, names=["one"])


def test_every_engine_gives_the_same_bits():
    fits = [
        Authorship(8, block=200, engine=engine).fit(TEXTS, AUTHORS)
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    for fit in fits[1:]:
        assert np.array_equal(fit.left_out_distances_, fits[0].left_out_distances_)
        assert fit.sharpness_ == fits[0].sharpness_


@pytest.mark.parametrize("words", [None, 6, FunctionWords(WORDS[:4])])
def test_a_saved_model_attributes_the_same(words, tmp_path):
    model = Authorship(words, block=300).fit(TEXTS, AUTHORS)
    model.save(tmp_path / "m.safetensors")
    again = tacit.load(tmp_path / "m.safetensors")
    text = [NEW["Bob"]]
    assert np.array_equal(again.predict_proba(text), model.predict_proba(text))
    assert str(again.evaluation()) == str(model.evaluation())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("block_texts_", np.full(45, 99)),
        ("text_authors_", np.full(15, -1)),
        ("block_lengths_", np.zeros(45, np.int64)),
        ("block_counts_", np.full((45, 5), -1)),
        ("left_out_unit_", "chapter"),
        ("sharpness_", -1.0),
    ],
)
def test_a_forged_file_is_refused(model, name, value, tmp_path):
    forged = Authorship(WORDS[:5], block=300).fit(TEXTS, AUTHORS)
    setattr(forged, name, value)
    forged.save(tmp_path / "m.safetensors")
    with pytest.raises(ModelFileError):
        tacit.load(tmp_path / "m.safetensors")


# --- Verification ---


def crowd(seed, texts=4, size=2000):
    """An author with rates of their own for thirty words, and texts by them."""
    rng = np.random.default_rng(seed)
    words = [f"w{chr(97 + j // 6)}{chr(97 + j % 6)}" for j in range(30)]
    rates = rng.gamma(6, 1 / 6, len(words)) / np.arange(1, len(words) + 1)
    rates /= rates.sum()
    return [" ".join(rng.choice(words, size, p=rates)) for _ in range(texts)]


def test_impostors_confirm_authors_and_do_not_take_strangers_for_them():
    works = {f"author {i}": crowd(i) for i in range(12)}
    texts = [text for own in works.values() for text in own[1:]]
    authors = [name for name, own in works.items() for _ in own[1:]]
    model = Authorship(30, block=None).fit(texts, authors)
    asked = [own[0] for own in works.values()]
    found = impostors(model, asked, n_iter=60)
    assert found.accuracy > 0.9
    assert found.tested == 72
    assert 0 <= found.no_below <= found.yes_above <= 1
    answers = [found.answer(i, name) for i, name in enumerate(works)]
    assert answers.count("yes") >= 11
    strangers = impostors(model, [crowd(100 + i, 1)[0] for i in range(12)], n_iter=60)
    taken = [any(strangers.answer(i, name) == "yes" for name in works) for i in range(12)]
    assert sum(taken) <= 2
    assert found.to_dict()["texts"][0]["answers"]["author 0"] == "yes"


def test_typicality_is_low_for_strangers_and_spread_for_the_author():
    model = Authorship(30, block=None)
    model.fit([*crowd(1, 30), *crowd(2, 30)], ["Ann"] * 30 + ["Bob"] * 30)
    own = model.typicality(crowd(1, 40)[30:])[:, 0]
    assert own.mean() == pytest.approx(0.5, abs=0.2)
    assert model.typicality(crowd(3, 10)).max() <= 1 / 31 + 1e-12
    assert model.attribute([crowd(3, 1)[0]])[0].typicality <= 0.1


def test_with_two_authors_and_nobody_else_every_case_is_open():
    model = Authorship(WORDS[:5], block=300).fit(TEXTS[:10], AUTHORS[:10])
    found = impostors(model, [NEW["Ann"]], n_iter=20)
    assert found.scores[0].argmax() == 0
    assert (found.tested, found.answer(0, "Ann")) == (0, "open")


def test_impostors_give_the_same_scores_for_the_same_seed(model):
    texts = list(NEW.values())
    runs = [impostors(model, texts, n_iter=20, random_state=seed).scores for seed in (3, 3, 4)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_texts_of_others_serve_as_impostors():
    known = [i for i, author in enumerate(AUTHORS) if author != "Cat"]
    model = Authorship(WORDS[:5], block=300)
    model.fit([TEXTS[i] for i in known], [AUTHORS[i] for i in known])
    cats = [text for text, author in zip(TEXTS, AUTHORS, strict=True) if author == "Cat"]
    without = impostors(model, [NEW["Cat"]], n_iter=60)
    found = impostors(model, [NEW["Cat"]], others=cats, n_iter=60)
    assert found.scores.max() < without.scores.max()
    assert found.tested > 0
    assert impostors(model, [NEW["Ann"]], others=cats, n_iter=60).scores[0].argmax() == 0


def test_thresholds_leave_the_mixed_scores_open():
    scores = np.array([0.0, 0.1, 0.2, 0.45, 0.55, 0.8, 0.9, 1.0])
    truth = np.array([0, 0, 0, 1, 0, 1, 1, 1], bool)
    low, high, quality = find_thresholds(scores, truth)
    assert 0.2 < low < 0.45
    assert 0.55 < high < 0.8
    assert quality == (6 + 2 * 6 / 8) / 8


@pytest.mark.parametrize("settings", [{"n_iter": 0}, {"share": 0.0}, {"share": 1.5}])
def test_impostors_refuse_bad_settings(model, settings):
    with pytest.raises(ValueError, match="impostors"):
        impostors(model, [TEXTS[0]], **settings)


# --- Along a text ---


def test_rolling_finds_the_change_of_hand(model):
    text = write("Ann", 3000, 7) + " " + write("Bob", 2000, 8)
    rolled = rolling(model, text, window=400, step=50)
    parts = rolled.segments()
    assert (parts[0].author, parts[-1].author) == ("Ann", "Bob")
    assert (parts[0].start, parts[-1].stop) == (0, 5000)
    assert all(a.stop == b.start for a, b in pairwise(parts))
    ann = sum(part.stop - part.start for part in parts if part.author == "Ann")
    assert abs(ann - 3000) < 300
    assert len(rolled.to_dict()["starts"]) == len(rolled.nearest) == len(rolled.margins)


def test_rolling_of_a_short_text_is_one_window(model):
    rolled = rolling(model, "the end of the road")
    assert len(rolled.segments()) == 1
    with pytest.raises(ValueError, match="no words"):
        rolling(model, "")
    with pytest.raises(TypeError, match="one text"):
        rolling(model, ["the end"])
    with pytest.raises(ValueError, match="numbers of words"):
        rolling(model, "the end", window=-3)


# --- Consensus tree ---


def test_the_consensus_tree_has_the_authors_as_clusters(model):
    names = [f"{author} {i}" for i, author in enumerate(AUTHORS)]
    tree = consensus_tree(model.frequencies(), names, n_trees=40)
    assert max(tree.support([n for n in names if n[0] == a[0]]) for a in RATES) > 0.5
    assert all(support > 0.5 for _, support in tree.clusters)
    assert tree.newick.count("(") == len(tree.clusters) + 1
    assert all(repr(name) in tree.newick for name in names)
    assert tree.newick == consensus_tree(model.frequencies(), names, n_trees=40).newick


def test_the_newick_text_can_be_read_again():
    from tacit.cluster import from_newick

    rows = np.random.default_rng(0).uniform(size=(9, 30))
    tree = consensus_tree(rows, n_trees=10)
    Z, names = from_newick(tree.newick)
    assert sorted(names) == sorted("012345678")
    assert Z.shape == (8, 4)
    assert tree.to_dict()["trees"] == 10


def test_consensus_tree_refuses_bad_input():
    rows = np.eye(4)
    with pytest.raises(ValueError, match="2 names for 4"):
        consensus_tree(rows, ["a", "b"])
    with pytest.raises(ValueError, match="strength"):
        consensus_tree(rows, strength=0.3)
    with pytest.raises(ValueError, match="choose from"):
        consensus_tree(rows, variant="x")
    with pytest.raises(ValueError, match="minimum of 2"):
        consensus_tree(rows[:1])


@pytest.mark.parametrize("rows", [[True], np.zeros((2, 3)), np.full((2, 5), np.nan), 5.0])
def test_frequencies_of_other_words_or_none_are_refused(model, rows):
    for ask in (model.scores, model.row_distances):
        with pytest.raises(ValueError, match="Authorship"):
            ask(rows)

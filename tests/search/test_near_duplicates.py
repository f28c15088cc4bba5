"""Near-duplicates: sound, complete as promised, the same everywhere, never quadratic."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core import Dask, Serial, Threads
from tacit.core.randoms import seed_from
from tacit.data import Documents
from tacit.data.document_blocks import ListRows
from tacit.data.text_block import text_of
from tacit.search import NearDuplicates
from tacit.search.minhash import choose_bands, collect, hashing, recall_at
from tacit.text import tokenize
from tacit.text.tokens import TokenRule


def shingles(text, w):
    tokens = tokenize(text, min_length=1)
    w = min(w, len(tokens))
    return {tuple(tokens[i : i + w]) for i in range(len(tokens) - w + 1)} if tokens else set()


def jaccard(a, b):
    return len(a & b) / len(a | b)


def planted(similarity, pairs, size=60, seed=0):
    """Pairs of word lists of about one Jaccard similarity; pairs share nothing."""
    shared = round(2 * size * similarity / (1 + similarity))
    rng = np.random.default_rng(seed)
    texts = []
    for k in range(pairs):
        words = [f"p{seed}x{k}w{i}" for i in range(2 * size - shared)]
        both, left, right = np.split(np.array(words), [shared, size])
        for own in (left, right):
            texts.append(" ".join(rng.permutation([*both, *own])))
    return texts, shared / (2 * size - shared)


# --- What is found ---


@pytest.mark.parametrize("wanted", [0.42, 0.5, 0.6, 0.7, 0.9])
def test_recall_follows_the_curve(wanted):
    texts, similarity = planted(wanted, pairs=400, seed=int(100 * wanted))
    model = NearDuplicates(0.4, shingle=1, n_hashes=32, recall=0.4, random_state=1).fit(texts)
    assert (model.bands_, model.rows_) == (10, 3)
    found = {tuple(pair) for pair in model.pairs_.tolist()}
    assert found <= {(2 * k, 2 * k + 1) for k in range(400)}
    expected = model.expected_recall(similarity)
    assert expected == pytest.approx(1 - (1 - similarity**3) ** 10)
    error = 4 * np.sqrt(expected * (1 - expected) / 400) + 0.005
    assert abs(len(found) / 400 - expected) < error
    np.testing.assert_allclose(model.jaccard_, similarity)


def test_nearly_all_pairs_above_the_threshold_are_found_by_default():
    texts, similarity = planted(0.85, pairs=300)
    model = NearDuplicates(0.8, shingle=1, random_state=0).fit(texts)
    assert model.expected_recall(0.8) >= 0.99
    assert len(model.pairs_) >= 298
    assert model.expected_recall(similarity) > 0.999


words = st.sampled_from(["the", "cat", "sat", "on", "mat", "a"])
corpora = st.lists(st.lists(words, max_size=8).map(" ".join), min_size=1, max_size=10)


@settings(max_examples=150, deadline=None)
@given(corpora, st.sampled_from([0.3, 0.5, 0.8, 1.0]), st.integers(1, 4), st.integers(0, 5))
def test_pairs_are_sound_and_equal_documents_are_always_found(texts, threshold, w, seed):
    model = NearDuplicates(
        threshold, shingle=w, n_hashes=16, recall=0.3, random_state=seed, engine="serial"
    ).fit(texts)
    sets = [shingles(text, w) for text in texts]
    for (i, j), value in zip(model.pairs_.tolist(), model.jaccard_, strict=True):
        assert i < j
        assert value == jaccard(sets[i], sets[j])
        assert value >= threshold
        assert model.labels_[i] == model.labels_[j] >= 0
    for i, j in combinations(range(len(texts)), 2):
        if sets[i] and sets[i] == sets[j]:
            assert model.labels_[i] == model.labels_[j] >= 0
    assert model.empty_.tolist() == [i for i, each in enumerate(sets) if not each]
    linked = set(model.pairs_.ravel().tolist())
    assert [i for i, label in enumerate(model.labels_) if label >= 0] == sorted(linked)


def test_with_enough_hashes_the_pairs_are_all_those_there_are():
    rng = np.random.default_rng(0)
    base = [f"w{i}" for i in range(30)]
    texts = []
    for _ in range(40):
        keep = rng.random(30) < 0.9
        texts.append(" ".join(np.array(base)[keep]))
    model = NearDuplicates(0.7, shingle=1, n_hashes=512, recall=0.999999, random_state=0)
    model.fit(texts)
    sets = [shingles(text, 1) for text in texts]
    expected = {
        (i, j): jaccard(sets[i], sets[j])
        for i, j in combinations(range(40), 2)
        if jaccard(sets[i], sets[j]) >= 0.7
    }
    found = dict(zip(map(tuple, model.pairs_.tolist()), model.jaccard_.tolist(), strict=True))
    # Of documents with equal sets, only the first is compared with others.
    first = {i: min(j for j in range(40) if sets[j] == sets[i]) for i in range(40)}
    links = {tuple(sorted((first[i], first[j]))) for i, j in expected}
    assert {(i, j) for i, j in links if i != j} <= found.keys()
    assert all(expected[pair] == value for pair, value in found.items())


def test_groups_link_through_others():
    a = [f"w{i}" for i in range(20)]
    chain = [" ".join(a[i : i + 16]) for i in range(0, 5, 1)]  # neighbours at 15/17
    model = NearDuplicates(0.8, shingle=1, recall=0.9999, n_hashes=256, random_state=0).fit(
        ["something else", *chain, "and another thing"]
    )
    assert model.groups() == [[1, 2, 3, 4, 5]]
    assert jaccard(shingles(chain[0], 1), shingles(chain[4], 1)) < 0.8
    assert model.unique_rows().tolist() == [0, 1, 6]


def test_groups_are_largest_first_and_labels_in_order():
    texts = ["a b c d", "x y z w", "q r s t", "x y z w", "a b c d", "x y z w", "alone"]
    model = NearDuplicates(random_state=0).fit(texts)
    assert model.groups() == [[1, 3, 5], [0, 4]]
    assert model.labels_.tolist() == [0, 1, -1, 1, 0, 1, -1]
    assert model.unique_rows().tolist() == [0, 1, 2, 6]
    assert [str(pair) for pair in model.pairs()] == [
        "0  4  1.000",
        "1  3  1.000",
        "1  5  1.000",
        "3  5  1.000",
    ]
    assert model.pairs()[0].to_dict() == {
        "left": 0, "right": 4, "estimated": 1.0, "jaccard": 1.0,
    }  # fmt: skip
    assert NearDuplicates(random_state=0).fit_predict(texts).tolist() == model.labels_.tolist()


def test_order_and_case_and_punctuation():
    model = NearDuplicates(shingle=2, random_state=0)
    texts = ["One two three.", "ONE, two -- three", "three two one", "one two"]
    assert model.fit(texts).groups() == [[0, 1]]
    by_words = NearDuplicates(shingle=1, random_state=0).fit(texts)
    assert by_words.groups() == [[0, 1, 2]]


def test_documents_shorter_than_a_shingle_are_one_shingle():
    model = NearDuplicates(shingle=5, random_state=0).fit(
        ["hello", "Hello!", "hello you", "you"]
    )
    assert model.groups() == [[0, 1]]


def test_documents_without_words_are_nobodys_duplicates():
    model = NearDuplicates(random_state=0).fit(["", None, "!!!", "a b c d", "  ", "a b c d"])
    assert model.empty_.tolist() == [0, 1, 2, 4]
    assert model.groups() == [[3, 5]]
    nothing = NearDuplicates(random_state=0).fit(["", ""])
    assert nothing.groups() == []
    assert nothing.pairs() == []
    assert nothing.unique_rows().tolist() == [0, 1]


def test_all_pairs_of_a_small_group_are_listed():
    rng = np.random.default_rng(3)
    words = [f"word{i}" for i in range(100)]
    texts = []
    for _ in range(40):
        copy = words.copy()
        copy[rng.integers(100)] = "another"
        texts.append(" ".join(copy))
    model = NearDuplicates(0.8, random_state=0).fit(texts)
    sets = [{tuple(text.split()[i : i + 4]) for i in range(97)} for text in texts]
    expected = [
        (i, j)
        for i in range(40)
        for j in range(i + 1, 40)
        if len(sets[i] & sets[j]) >= 0.8 * len(sets[i] | sets[j])
    ]
    assert model.groups() == [list(range(40))]
    assert [(pair.left, pair.right) for pair in model.pairs()] == expected


# --- Cost ---


def test_equal_documents_cost_one_comparison_each():
    model = NearDuplicates(random_state=0).fit(["the same text over and over"] * 5000)
    assert model.n_compared_ == 4999
    assert model.groups() == [list(range(5000))]
    assert (model.pairs_[:, 0] == 0).all()


def test_copies_of_a_form_cost_a_few_comparisons_each():
    form = " ".join(f"word{i}" for i in range(60))
    texts = [f"{form} number {i}" for i in range(3000)]
    model = NearDuplicates(0.8, random_state=0).fit(texts)
    assert model.groups() == [list(range(3000))]
    assert model.n_compared_ < 30 * 3000


# --- The same everywhere ---


def corpus():
    rng = np.random.default_rng(3)
    texts, _ = planted(0.85, pairs=60)
    copies = rng.choice(texts, 30).tolist()
    return [*texts, *copies, "", "short"]


def in_blocks(texts, size):
    edges = [(i, min(i + size, len(texts))) for i in range(0, len(texts), size)]
    blocks = tuple(ListRows(texts, i, j) for i, j in edges)
    return Documents(blocks, len(texts), tuple(j - i for i, j in edges))


def assert_same(a, b):
    for name in ("labels_", "pairs_", "jaccard_", "estimated_", "empty_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.mark.parametrize("engine", [Serial(), Threads(1), Threads(3)], ids=str)
@pytest.mark.parametrize("size", [7, 50, 1000])
def test_engines_blocks_and_budget_do_not_change_the_result(engine, size):
    texts = corpus()
    expected = NearDuplicates(random_state=5, shingle=1, engine="serial").fit(texts)
    assert len(expected.pairs_) > 60
    parts = in_blocks(texts, size)
    for memory in (1000, 2**30):
        model = NearDuplicates(
            random_state=5, shingle=1, engine=engine, memory=memory
        ).fit(parts)
        assert_same(model, expected)


@pytest.mark.slow
def test_a_cluster_gives_the_same_result():
    distributed = pytest.importorskip("distributed")
    texts = corpus()
    expected = NearDuplicates(random_state=5, shingle=1).fit(texts)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        model = NearDuplicates(random_state=5, shingle=1, engine=Dask())
        assert_same(model.fit(in_blocks(texts, 20)), expected)


def test_the_seed_decides_the_estimates_and_nothing_else_that_is_certain():
    texts = corpus()
    one, again, other = (
        NearDuplicates(random_state=seed, shingle=1).fit(texts) for seed in (1, 1, 2)
    )
    assert_same(one, again)
    assert not np.array_equal(one.estimated_, other.estimated_)


# --- Signatures ---


@pytest.mark.parametrize("wanted", [0.1, 0.5, 0.9])
def test_signatures_estimate_the_similarity(wanted):
    texts, similarity = planted(wanted, pairs=1, size=500)
    how = hashing(TokenRule(), 1, 4096, seed_from(0))
    found = collect(how, text_of(texts))
    agree = (found.signatures[0] == found.signatures[1]).mean()
    assert abs(agree - similarity) < 4 * np.sqrt(similarity * (1 - similarity) / 4096)


def test_least_hashes_are_uniform():
    """With m shingles the least of m uniform numbers is 1 / (m + 1) on average."""
    how = hashing(TokenRule(), 1, 4096, seed_from(7))
    for m in (1, 10, 1000):
        found = collect(how, text_of([" ".join(f"w{i}" for i in range(m))]))
        mean = (found.signatures[0].astype(float) / 2**32).mean()
        assert abs(mean * (m + 1) - 1) < 4 / np.sqrt(4096) * np.sqrt(m / (m + 2))


def test_shingle_sets_are_distinct_and_sorted():
    how = hashing(TokenRule(), 2, 8, seed_from(0))
    found = collect(how, text_of(["to be or not to be or", "", "to"]))
    assert np.diff(found.edges).tolist() == [4, 0, 1]
    assert (np.diff(found.hashes[:4].astype(object)) > 0).all()


@given(st.floats(0.05, 1.0), st.integers(1, 300), st.floats(0.05, 0.99))
def test_bands_find_what_they_promise_and_are_as_long_as_they_can_be(threshold, n, recall):
    if recall_at(threshold, n, 1) < recall:
        with pytest.raises(ValueError, match="Raise n_hashes"):
            choose_bands(threshold, n, recall)
        return
    bands, rows = choose_bands(threshold, n, recall)
    assert bands * rows <= n
    assert recall_at(threshold, bands, rows) >= recall
    assert rows == n or recall_at(threshold, n // (rows + 1), rows + 1) < recall


# --- Files and bad input ---


def test_a_saved_model_is_the_same(tmp_path):
    for name, text in (("a", "one two three four"), ("b", "One two three four!"), ("c", "x")):
        (tmp_path / f"{name}.txt").write_text(text)
    model = NearDuplicates(random_state=0).fit(tmp_path)
    assert model.groups() == [["a.txt", "b.txt"]]
    model.save(tmp_path / "m.safetensors")
    again = tacit.load(tmp_path / "m.safetensors")
    assert_same(again, model)
    assert again.groups() == model.groups()
    assert again.pairs() == model.pairs()
    unnamed = model.fit(["x y", "x y"])
    assert unnamed.groups() == [[0, 1]]


def test_settings_are_checked():
    wrongs = ({"threshold": 0.0}, {"threshold": 1.5}, {"shingle": 0}, {"recall": 1.0})
    for wrong in wrongs:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            NearDuplicates(**wrong).fit(["a"])
    with pytest.raises(ValueError, match=r"find 9\.6% of the pairs at threshold=0\.01"):
        NearDuplicates(0.01, n_hashes=10).fit(["a"])
    with pytest.raises(ValueError, match="there are none"):
        NearDuplicates().fit([])

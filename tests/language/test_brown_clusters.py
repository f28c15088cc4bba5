"""Brown clusters: the exchange by its definition, the tree by brute force, files, bad input."""

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.language import BrownClusters
from tacit.language.class_exchange import (
    count_bigrams,
    count_classes,
    exchange,
    initial_classes,
    merge_classes,
    mutual_information,
    paths_of,
)

NOUNS, VERBS, ARTICLES = ["cat", "dog", "cow", "fox"], ["runs", "eats", "naps"], ["the", "a"]


def grammar(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return [
        f"{rng.choice(ARTICLES)} {rng.choice(NOUNS)} {rng.choice(VERBS)}"
        + (f" {rng.choice(ARTICLES)} {rng.choice(NOUNS)}" if rng.random() < 0.5 else "")
        for _ in range(n)
    ]


def information_of(labels, k, ids, lengths):
    """Mutual information of neighbouring classes, straight from the definition."""
    joint = np.zeros((k + 1, k + 1))
    at, before = 0, k
    for n in lengths:
        for c in [*labels[ids[at : at + n]], k]:
            joint[before, c] += 1
            before = c
        at += n
    p = joint / joint.sum()
    left, right = p.sum(axis=1, keepdims=True), p.sum(axis=0, keepdims=True)
    inside = p > 0
    return float((p[inside] * np.log(p[inside] / (left * right)[inside])).sum())


@st.composite
def corpora(draw):
    v = draw(st.integers(3, 12))
    lengths = draw(st.lists(st.integers(0, 9), min_size=1, max_size=12))
    ids = draw(st.lists(st.integers(0, v - 1), min_size=sum(lengths), max_size=sum(lengths)))
    k = draw(st.integers(1, v))
    return np.array(ids, np.int64), np.array(lengths, np.int64), v, k


@given(corpora())
def test_a_pass_never_loses_information_and_its_counts_stay_true(corpus):
    ids, lengths, v, k = corpus
    bigrams = count_bigrams(ids, lengths, v)
    classes = initial_classes(bigrams, k)
    last = mutual_information(classes)
    for _ in range(3):
        exchange(bigrams, classes)
        fresh = count_classes(bigrams, classes.label, k)
        for kept, counted in zip(classes, fresh, strict=True):
            np.testing.assert_array_equal(kept, counted)
        now = mutual_information(classes)
        assert now >= last - 1e-9
        assert now == pytest.approx(information_of(classes.label, k, ids, lengths), abs=1e-9)
        last = now
    assert (classes.members[:k] > 0).all()  # no class is empty
    assert classes.label[v] == k  # nobody joined the edge


@given(corpora())
def test_no_single_move_helps_in_the_end(corpus):
    ids, lengths, v, k = corpus
    bigrams = count_bigrams(ids, lengths, v)
    classes = initial_classes(bigrams, k)
    for _ in range(50):
        if not exchange(bigrams, classes):
            break
    best = information_of(classes.label, k, ids, lengths)
    for w in range(v):
        if classes.members[classes.label[w]] == 1:
            continue
        for c in range(k):
            other = classes.label.copy()
            other[w] = c
            assert information_of(other, k, ids, lengths) <= best + 1e-6


@given(corpora())
def test_each_merger_of_the_tree_loses_least(corpus):
    ids, lengths, v, k = corpus
    bigrams = count_bigrams(ids, lengths, v)
    classes = initial_classes(bigrams, k)
    labels = classes.label.astype(np.int64)
    names = {c: c for c in range(k)}
    for step, (a, b) in enumerate(merge_classes(classes.follow, classes.size).tolist()):
        options = {}
        live = sorted(names)
        for i, x in enumerate(live):
            for y in live[i + 1 :]:
                merged = np.where(labels == names[y], names[x], labels)
                options[x, y] = information_of(merged, k, ids, lengths)
        assert options[tuple(sorted((a, b)))] == pytest.approx(max(options.values()), abs=1e-9)
        labels = np.where(labels == names[b], names[a], labels)
        names[k + step] = names.pop(a)
        del names[b]
    assert len(names) == 1


def test_words_of_a_kind_find_each_other():
    model = BrownClusters(3).fit(grammar())
    groups = {frozenset(each.words) for each in model.describe()}
    assert groups == {frozenset(NOUNS), frozenset(VERBS), frozenset(ARTICLES)}
    assert model.history_ == sorted(model.history_)
    assert model.mutual_information_ == model.history_[-1]


def test_paths_are_the_leaves_of_a_binary_tree():
    model = BrownClusters(7).fit(grammar(seed=1))
    assert sum(2.0 ** -len(path) for path in model.paths_) == 1.0
    assert len(set(model.paths_)) == 7
    ordered = sorted(model.paths_)
    assert not any(b.startswith(a) for a, b in pairwise(ordered))
    assert model.path("cat") == model.paths_[model.predict(["cat"])[0]]


def test_the_same_sentences_give_the_same_bytes_on_every_engine(tmp_path):
    text = grammar(seed=2)
    for engine in ("serial", "threads"):
        model = BrownClusters(4, engine=engine).fit(text)
        model.set_params(engine="serial").save(tmp_path / engine)
    assert (tmp_path / "serial").read_bytes() == (tmp_path / "threads").read_bytes()
    again = tacit.load(tmp_path / "serial")
    assert again.describe() == model.describe()
    words = ["dog", "unheard"]
    assert again.predict(words).tolist() == model.predict(words).tolist()


def test_rare_words_are_pooled_and_the_pool_has_a_class():
    text = [*grammar(), "the gnu runs", "a yak eats"]
    model = BrownClusters(3, min_count=2).fit(text)
    assert "gnu" not in model.vocabulary_
    assert model.counts_[model.vocabulary_.index("<unk>")] == 2
    assert model.path("<unk>") == model.path("cat")
    with pytest.raises(KeyError, match="'gnu' is not among"):
        model.path("gnu")


@pytest.mark.parametrize("k", [1, 2, 9])
def test_one_class_and_a_class_to_each_word_are_possible(k):
    model = BrownClusters(k).fit(grammar(50))
    assert len(set(model.classes_.tolist())) == k
    assert model.merges_.shape == (k - 1, 2)
    assert paths_of(model.merges_, k) == model.paths_
    if k == 1:
        assert model.paths_ == [""]
        # The edge of a sentence is not in the class, so there is still something to know.
        assert model.mutual_information_ >= 0


def test_callbacks_are_told_of_every_pass_and_may_stop():
    steps = []
    BrownClusters(3, callbacks=[steps.append]).fit(grammar())
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert steps[-1].done
    stopped = BrownClusters(3, callbacks=[lambda step: True]).fit(grammar())
    assert stopped.n_iter_ == 1


def test_what_cannot_be_clustered_is_refused_with_numbers():
    with pytest.raises(ValueError, match=r"n_clusters=50\) needs at least .* has 2"):
        BrownClusters(50).fit(["a b a"])
    for nothing in ([], [""], [[]], [None]):
        with pytest.raises(ValueError, match="needs words"):
            BrownClusters(1).fit(nothing)
    with pytest.raises(ValueError, match="n_clusters"):
        BrownClusters(0).fit(["a b"])
    with pytest.raises(ValueError, match="Put it in a list"):
        BrownClusters(1).fit(["a b"]).predict("a")


@pytest.mark.skipif(
    not os.environ.get("TACIT_DATA")
    or not os.path.exists(os.path.join(os.environ["TACIT_DATA"], "ptb")),
    reason="TACIT_DATA has no ptb",
)
def test_days_and_months_are_classes_of_the_penn_treebank():
    from tacit.datasets import load

    model = BrownClusters(100, max_iter=8).fit(load("ptb", part="train").documents)
    assert model.mutual_information_ > 0.9
    days = set(model.predict(["monday", "tuesday", "wednesday", "thursday", "friday"]).tolist())
    months = set(model.predict(["january", "march", "april", "june", "november"]).tolist())
    assert len(days) == 1
    assert len(months) <= 2

"""describe: typical rows, doubtful ones, and what sets a cluster apart."""

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.cluster import KMeans, by_size, describe
from tacit.cluster.descriptions import contrasts, log_odds
from tacit.data import Documents, Table
from tacit.text import CountVectorizer, TfidfVectorizer

TEXTS = [
    "the ship sailed the sea and the ship sank",
    "a ship at sea and the sea was rough",
    "the sea took the ship and the captain",
    "the goal won the match and the cup",
    "the match ended when the goal fell",
]
LABELS = [4, 4, 4, 9, 9]


def test_keywords_are_contrasts_not_the_commonest_words():
    counter = CountVectorizer()
    X = counter.fit_transform(TEXTS)
    result = describe(X, LABELS, feature_names=counter.get_feature_names_out(), top=2)
    assert set(result[0].keywords) == {"ship", "sea"}
    assert set(result[1].keywords) == {"goal", "match"}
    # "the" is the commonest word of both.
    everywhere = np.argmax(X.sum(axis=0))
    assert counter.get_feature_names_out()[everywhere] == "the"


def test_tfidf_has_keywords_too():
    model = TfidfVectorizer()
    X = model.fit_transform(TEXTS)
    result = describe(X, LABELS, feature_names=model.get_feature_names_out(), top=2)
    assert set(result[0].keywords) == {"ship", "sea"}


def test_log_odds_are_those_of_the_formula():
    inside, outside = np.array([30.0, 1.0, 0.0, 9.0]), np.array([10.0, 1.0, 4.0, 45.0])
    got = log_odds(inside, outside)
    prior = 0.1 * (inside + outside)
    for w in range(4):
        a, b = inside[w] + prior[w], outside[w] + prior[w]
        n, m = (inside + prior).sum(), (outside + prior).sum()
        expected = np.log(a / (n - a)) - np.log(b / (m - b))
        assert got[w] == pytest.approx(expected / np.sqrt(1 / a + 1 / b))


def test_rare_words_do_not_win_by_chance():
    inside, outside = np.array([40.0, 1.0, 500.0]), np.array([5.0, 0.0, 500.0])
    score = log_odds(inside, outside)
    assert score[0] > score[1]


def test_numbers_are_compared_in_standard_deviations():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1, 100, 0.01]
    labels = np.repeat([0, 1], [250, 150])
    X[labels == 1] += [0, 50, 0.05]
    result = describe(X, labels, feature_names=["none", "wide", "narrow"])
    first = result[1].features[0]
    assert first.name == "narrow"  # by five deviations; "wide" by half of one
    assert first.score == pytest.approx(5, abs=0.5)
    a, b = X[labels == 1, 2], X[labels == 0, 2]
    expected = (a.mean() - b.mean()) / np.sqrt((a.var() + b.var()) / 2)
    assert first.score == pytest.approx(expected)
    assert first.inside == pytest.approx(a.mean())
    assert first.outside == pytest.approx(b.mean())
    assert result[0].features[0].score == pytest.approx(-expected)
    assert result[0].keywords == ()


def test_sparse_and_dense_numbers_agree():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.5)
    labels = rng.integers(3, size=60)
    dense = list(contrasts(X, labels, 3, "numbers"))
    sparse = list(contrasts(sp.csr_array(X), labels, 3, "numbers"))
    for one, other in zip(dense, sparse, strict=True):
        assert np.allclose(one.score, other.score)
        assert np.allclose(one.inside, other.inside)


def test_nearest_and_borderline_rows():
    X = np.array([[0.0], [1.0], [0.4], [4.9], [10.0], [9.0], [9.6], [8.4]])
    labels = [0, 0, 0, 0, 1, 1, 1, 1]
    result = describe(X, labels, centers=[[0.5], [9.5]], top=2)
    assert result[0].nearest == (2, 0)
    assert result[0].borderline[0] == (3, 1)
    assert result[1].nearest == (6, 4)
    assert result[1].borderline[0] == (7, 0)


def test_centers_are_in_the_order_of_the_labels_and_clusters_in_that_of_size():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(n, 2)) + c for n, c in ((5, 0), (30, 20), (9, 40))])
    model = KMeans(3, n_init=5, random_state=0).fit(X)
    result = describe(X, model.labels_, centers=model.cluster_centers_)
    assert [each.size for each in result] == [30, 9, 5]
    assert [each.cluster for each in result] == [0, 1, 2]
    assert [each.label for each in result] == [model.labels_[i] for i in (10, 40, 0)]
    plain = describe(X, model.labels_)
    assert [each.nearest for each in plain] == [each.nearest for each in result]
    renumbered = by_size(model.labels_)
    for each in result:
        assert (renumbered[list(each.nearest)] == each.cluster).all()


def test_documents_are_quoted_clean_and_short():
    texts = ["one\x1b[31m\n\ttwo", "x " * 500, None]
    result = describe(np.array([[0.0], [1.0], [9.0]]), [0, 0, 1], documents=texts)
    assert "one[31m two" in result[0].examples
    assert all(len(text) <= 160 for text in result[0].examples)
    assert result[1].examples == ("",)
    documents = Documents.of(TEXTS)
    X = CountVectorizer().fit_transform(TEXTS)
    quoted = describe(X, LABELS, documents=documents)
    assert set(quoted[1].examples) == set(TEXTS[3:])


def test_rows_in_no_cluster_are_left_out_and_counted():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [500.0]])
    result = describe(X, [0, 0, 1, 1, -1])
    assert [each.size for each in result] == [2, 2]
    assert result[0].share == 0.5
    assert result.notes == ["1 rows are in no cluster."]
    assert result[0].features[0].outside == 10.5
    with pytest.raises(ValueError, match="all labels are negative"):
        describe(X, [-1] * 5)


def test_it_prints_and_goes_to_json_and_pickles():
    counter = CountVectorizer()
    X = counter.fit_transform(["<b>bold</b> ship", "ship", "goal"])
    result = describe(
        X, ["a", "a", "b"], feature_names=counter.get_feature_names_out(),
        documents=["<b>bold</b> ship", "ship", "goal"],
    )  # fmt: skip
    assert str(result).splitlines()[0].startswith("0: 2 rows (67%), ship")
    document = json.loads(json.dumps(result.to_dict()))
    assert document["clusters"][0]["label"] == "a"
    assert "&lt;b&gt;" in result._repr_html_()
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;" in result[0]._repr_html_()
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.notes == result.notes


def test_tables_and_integers_will_do():
    X = np.array([[0, 1], [1, 0], [9, 9], [8, 9]])
    assert describe(Table.of(X), [0, 0, 1, 1]) == describe(X, [0, 0, 1, 1])
    counts = describe(X, [0, 0, 1, 1], kind="counts")
    assert all(feature.score > 0 for each in counts for feature in each.features)


@settings(max_examples=40)
@given(
    n=st.integers(1, 15), d=st.integers(1, 4), k=st.integers(1, 4), seed=st.integers(0, 99),
    kind=st.sampled_from(["counts", "numbers"]), sparse=st.booleans(),
)  # fmt: skip
def test_no_figure_is_ever_nan(n, d, k, seed, kind, sparse):
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n, d)).astype(float)
    result = describe(
        sp.csr_array(X) if sparse else X, rng.integers(k, size=n), kind=kind, top=3
    )
    assert sum(each.size for each in result) == n
    sizes = [each.size for each in result]
    assert sizes == sorted(sizes, reverse=True)
    for each in result:
        assert len(each.nearest) == min(3, each.size)
        for feature in each.features:
            assert np.isfinite([feature.score, feature.inside, feature.outside]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": [0, 1]}, "2 labels for 3 rows"),
        ({"kind": "words"}, "'words'.* is unknown"),
        ({"kind": "counts"}, "negative"),
        ({"metric": "far"}, "'far'.* is unknown"),
        ({"top": 0}, "from 1 up"),
        ({"feature_names": ["a"]}, "1 feature_names for 2 columns"),
        ({"documents": ["a"]}, "1 documents for 3 rows"),
        ({"centers": np.zeros((1, 2))}, "2 clusters"),
    ],
)
def test_wrong_input_is_refused_with_the_way_out(options, message):
    X = np.array([[0.0, -1.0], [1.0, 2.0], [3.0, 3.0]])
    with pytest.raises(ValueError, match="Rescale"):
        describe(X * 1e200, [0, 0, 1])
    with pytest.raises(ValueError, match=message):
        describe(X, options.pop("labels", [0, 0, 1]), **options)

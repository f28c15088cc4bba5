"""stability: rows that belong together stay so, and every figure is that of its definition."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tacit.cluster import AgglomerativeClustering, KMeans, KMedoids, cut, stability
from tacit.cluster.resampling import (
    NOWHERE,
    UNSEEN,
    Pairs,
    add_pairs,
    clean_labels,
    coassociation,
    mean_coassociation,
)
from tacit.core import Serial, Threads
from tacit.data import Table
from tacit.measure import adjusted_rand_score
from tests.contract.cases import blobs, documents


def two_clouds(n=60, between=5, seed=0):
    """Two clouds, and a few rows halfway."""
    rng = np.random.default_rng(seed)
    middle = np.column_stack([np.full(between, 4.0), rng.normal(size=between) * 0.3])
    sides = [rng.normal(size=(n, 2)) * 0.5 + [x, 0] for x in (0, 8)]
    return np.concatenate([*sides, middle])


def by_pairs(base, lists, k):
    """Together and seen, pair by pair."""
    n = len(base)
    together, seen = np.zeros((n, k)), np.zeros((n, k))
    for labels in lists:
        for i in range(n):
            for j in range(n):
                if i == j or base[j] < 0 or UNSEEN in (labels[i], labels[j]):
                    continue
                seen[i, base[j]] += 1
                together[i, base[j]] += labels[i] == labels[j] >= 0
    return together, seen


@settings(max_examples=40)
@given(
    n=st.integers(1, 12), k=st.integers(1, 4), runs=st.integers(1, 5), seed=st.integers(0, 99)
)
def test_counting_by_cluster_is_counting_pairs(n, k, runs, seed):
    rng = np.random.default_rng(seed)
    base = rng.integers(NOWHERE + 1, k, size=n)
    base[base < 0] = NOWHERE
    lists = [rng.integers(NOWHERE, 3, size=n).astype(np.int32) for _ in range(runs)]
    pairs = Pairs(np.zeros((n, k)), np.zeros((n, k)))
    for labels in lists:
        add_pairs(pairs, base, labels, k)
    together, seen = by_pairs(base, lists, k)
    assert np.array_equal(pairs.together, together)
    assert np.array_equal(pairs.seen, seen)
    fractions = mean_coassociation(pairs, base)
    assert ((fractions >= 0) & (fractions <= 1)).all()


def test_rows_halfway_are_the_least_sure():
    result = stability(KMeans(2, n_init=3), two_clouds(), random_state=0)
    assert set(result.least_sure(5)) == {120, 121, 122, 123, 124}
    assert result.rows.confidence[:120].min() > 0.9
    assert (result.rows.rival[120:] != result.labels[120:]).all()
    assert (result.rows.rival_share[120:] > 3 * result.rows.rival_share[:120].max()).all()


def test_planted_clusters_are_sure_and_cut_ones_are_not():
    X = two_clouds(between=0)
    good = stability(KMeans(2, n_init=3), X, random_state=0)
    assert all(each.confidence > 0.99 and each.recovered > 0.99 for each in good.clusters)
    assert good.agreement > 0.99
    bad = stability(KMeans(5, n_init=3), X, random_state=0)
    assert min(each.confidence for each in bad.clusters) < 0.8
    assert bad.agreement < good.agreement


def test_confidence_is_the_mean_coassociation_with_the_own_cluster():
    result = stability(KMeans(3), blobs(80, d=2, k=3), perturb="noise", random_state=1)
    C, labels = result.coassociation, result.labels
    for i in (0, 17, 79):
        mates = np.flatnonzero((labels == labels[i]) & (np.arange(80) != i))
        assert result.rows.confidence[i] == pytest.approx(C[i, mates].mean())
    assert np.allclose(C, C.T)
    assert ((C >= 0) & (C <= 1)).all()


def test_the_matrix_counts_only_resamples_that_drew_both():
    labels = np.array([[0, 0, 1], [0, UNSEEN, 0], [2, 1, NOWHERE], [UNSEEN, UNSEEN, NOWHERE]])
    base, fractions = np.array([0, 0, 1]), np.full((3, 2), 0.25)
    C = coassociation(labels, base, fractions)
    assert C[0, 1] == pytest.approx(1 / 2)
    assert C[0, 2] == pytest.approx(1 / 3)
    assert C[1, 2] == 0.0
    strangers = coassociation(np.array([[0, UNSEEN, 1]]), base, fractions)
    assert strangers[0, 1] == pytest.approx(0.25)


def test_the_tree_joins_rows_at_the_share_of_resamples_that_part_them():
    X = two_clouds(between=3)
    result = stability(AgglomerativeClustering(2), X, random_state=0)
    assert result.tree.shape == (len(X) - 1, 4)
    assert ((result.tree[:, 2] >= 0) & (result.tree[:, 2] <= 1)).all()
    consensus = result.consensus(2)
    assert adjusted_rand_score(consensus[:120], np.repeat([0, 1], 60)) == 1.0
    assert np.array_equal(consensus, cut(result.tree, k=2))


def test_large_data_gets_a_tree_of_a_sample_and_says_so():
    X = blobs(700, d=2, k=3)
    result = stability(KMeans(3), X, n_resamples=10, max_rows=100, random_state=0)
    assert result.coassociation.shape == (100, 100)
    assert len(np.unique(result.tree_rows)) == 100
    assert "100 of 700 rows" in result.notes[0]
    assert len(result.rows) == 700
    bare = stability(KMeans(3), X, n_resamples=10, tree=False, random_state=0)
    assert bare.tree is None
    assert np.array_equal(bare.rows.confidence, result.rows.confidence)
    with pytest.raises(ValueError, match="no tree"):
        bare.consensus(2)


def test_clusters_are_numbered_by_size():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(n, 2)) * 0.2 + c for n, c in ((10, 0), (50, 9))])
    result = stability(KMeans(2, n_init=3), X, n_resamples=5, random_state=0)
    assert [each.size for each in result.clusters] == [50, 10]
    assert result.labels[-1] == 0


def test_given_labels_keep_their_names():
    X = two_clouds(between=0)
    labels = np.repeat([7, 3], 60)
    result = stability(KMeans(2, n_init=3), X, labels=labels, n_resamples=5, random_state=0)
    assert [each.cluster for each in result.clusters] == [3, 7]
    assert np.array_equal(result.labels, labels)
    assert [each.rival for each in result.clusters] == [7, 3]


@pytest.mark.parametrize("perturb", ["bootstrap", "noise"])
@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(2, n_init=2),
        KMedoids(2),
        make_pipeline(StandardScaler(), KMeans(2, n_init=2)),
        "ward",
    ],
    ids=["kmeans", "kmedoids", "pipeline", "ward"],
)
def test_any_clusterer_will_do(clusterer, perturb):
    result = stability(clusterer, two_clouds(), n_resamples=8, perturb=perturb, random_state=0)
    if clusterer != "ward":  # by default 2 clusters as well
        assert len(result.clusters) == 2
    assert result.agreement > 0.8


def test_an_object_with_fit_predict_alone_will_do():
    class Halves:
        def fit_predict(self, X):
            return (X[:, 0] > 4).astype(int)

    result = stability(Halves(), two_clouds(between=0), n_resamples=5, random_state=0)
    assert result.agreement == 1.0


def test_rows_in_no_cluster_stay_outside():
    X = np.concatenate([two_clouds(between=0), [[100.0, 100.0]]])
    result = stability(DBSCAN(eps=1.0), X, n_resamples=10, random_state=0)
    assert result.labels[-1] == -1
    assert result.rows.confidence[-1] == 0.0
    assert len(result.clusters) == 2
    assert 120 not in result.least_sure(200)
    with pytest.raises(ValueError, match="no row into a cluster"):
        stability(DBSCAN(eps=1e-9), X, random_state=0)


def test_distances_and_words_and_sparse_rows():
    X = two_clouds(n=20, between=0)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    result = stability(KMedoids(2, metric="precomputed"), D, n_resamples=8, random_state=0)
    assert result.agreement == pytest.approx(1.0)
    with pytest.raises(ValueError, match="Use perturb='bootstrap'"):
        stability(KMedoids(2, metric="precomputed"), D, perturb="noise")
    words = ["cat", "cats", "cast", "mountain", "mountains", "fountain"]

    def apart(a, b):
        return abs(len(a) - len(b)) + len(set(a) ^ set(b))

    result = stability(KMedoids(2, metric=apart), words, n_resamples=10, random_state=0)
    assert len(set(result.labels[:3])) == len(set(result.labels[3:])) == 1
    counts, _ = documents(150, v=30, k=2, seed=0)
    for perturb in ("bootstrap", "noise"):
        result = stability(
            "spherical", counts, n_resamples=5, perturb=perturb, random_state=0, tree=False
        )
        assert len(result.rows) == 150


def test_one_cluster_and_rows_alone():
    X = two_clouds(between=0)
    result = stability(KMeans(1), X, n_resamples=5, random_state=0)
    assert result.clusters[0].rival is None
    assert result.clusters[0].confidence == 1.0
    lonely = np.array([[0.0], [0.1], [50.0]])
    result = stability(KMeans(2, n_init=3), lonely, n_resamples=20, random_state=0)
    assert np.isfinite(result.rows.confidence).all()
    assert result.rows.confidence[2] > 0.9


def test_the_same_seed_gives_the_same_bits_on_any_engine():
    X = blobs(200, d=3, k=3)
    runs = [
        stability(KMeans(3), X, n_resamples=8, random_state=5, engine=engine)
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    for other in runs[1:]:
        assert np.array_equal(runs[0].rows.confidence, other.rows.confidence)
        assert np.array_equal(runs[0].tree, other.tree)
        assert runs[0].clusters == other.clusters
    table = stability(KMeans(3), Table.of(X), n_resamples=8, random_state=5)
    assert np.array_equal(runs[0].rows.confidence, table.rows.confidence)


def test_it_prints_and_goes_to_json_and_pandas():
    result = stability(KMeans(2), two_clouds(), n_resamples=5, random_state=0)
    assert str(result).splitlines()[0].startswith("2 clusters, agreement")
    assert json.loads(json.dumps(result.to_dict()))["n_resamples"] == 5
    assert len(result.to_frame()) == 125
    assert "<table" in result._repr_html_()


def test_callbacks_hear_of_every_resample_and_may_stop():
    steps = []
    stability(KMeans(2), two_clouds(), n_resamples=4, callbacks=[steps.append], random_state=0)
    assert [step.number for step in steps] == [1, 2, 3, 4]
    result = stability(
        KMeans(2), two_clouds(), callbacks=[lambda step: step.number == 3], random_state=0
    )
    assert result.n_resamples == 3


def test_labels_are_clean_labels():
    assert clean_labels(np.array([5, -1, 9, 5])).tolist() == [0, NOWHERE, 1, 0]
    assert clean_labels(np.array([-1, -1])).tolist() == [NOWHERE, NOWHERE]
    assert clean_labels(np.array(["b", "a"])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("X", "options", "error", "message"),
    [
        (np.eye(4), {"perturb": "shake"}, ValueError, "'shake'.* is unknown"),
        (np.eye(4), {"noise": 0.0}, ValueError, "above 0"),
        (np.eye(4), {"n_resamples": 0}, ValueError, "from 1 up"),
        (np.eye(4), {"max_rows": 1}, ValueError, "from 2 up"),
        (np.eye(4), {"labels": [0, 1]}, ValueError, "each of 4 rows"),
        (np.eye(4), {"labels": [-1] * 4}, ValueError, "no row into a cluster"),
        (np.full((4, 2), np.inf), {}, ValueError, "row 0, column 0"),
        (np.ones((1, 2)), {}, ValueError, "at least 2 rows"),
        (sp.csr_array(np.full((3, 2), np.nan)), {}, ValueError, "row 0, column 0"),
    ],
)
def test_wrong_input_is_refused_with_the_way_out(X, options, error, message):
    with pytest.raises(error, match=message):
        stability(KMeans(2), X, **options)


def test_what_is_no_clusterer_is_refused():
    with pytest.raises(TypeError, match="needs a clusterer"):
        stability(StandardScaler(), np.eye(4))
    with pytest.raises(TypeError, match="needs a clusterer") as refused:
        stability(np.zeros((100, 3)), KMeans(2))  # the wrong way round
    assert len(str(refused.value)) < 400

"""k-medoids: local minima, any metric on anything, samples of long tables, bad input."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

import tacit
from tacit.cluster import KMedoids
from tacit.cluster.fasterpam import SwapSearch, build, fasterpam, lab
from tacit.core import Serial, Threads, memory
from tacit.data import Table
from tacit.text import edit_distance
from tests.contract.cases import blobs, documents


def loss_of(distances, medoids):
    return distances[list(medoids)].min(axis=0).sum()


def best_swap(distances, medoids):
    """The lowest loss that one swap leads to, by trying all."""
    medoids = list(medoids)
    others = [j for j in range(len(distances)) if j not in medoids]
    swaps = [
        loss_of(distances, [*medoids[:m], j, *medoids[m + 1 :]])
        for m in range(len(medoids))
        for j in others
    ]
    return min(swaps, default=np.inf)


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


# --- The search ---


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 25), st.integers(1, 6), st.integers(0, 10**6), st.booleans())
def test_no_single_swap_lowers_the_loss(n, k, seed, ties):
    rng = np.random.default_rng(seed)
    k = min(k, n)
    X = rng.integers(0, 3, (n, 2)).astype(float) if ties else rng.normal(size=(n, 2))
    distances = cdist(X, X)
    result = fasterpam(distances, rng.permutation(n)[:k])
    assert result.converged
    assert len(set(result.indices)) == k
    assert result.loss == pytest.approx(
        loss_of(distances, result.indices), rel=1e-12, abs=1e-12
    )
    assert best_swap(distances, result.indices) >= result.loss * (1 - 1e-9) - 1e-9
    assert (np.diff(result.losses) <= 1e-12).all()


def test_after_every_swap_each_item_knows_its_two_nearest_medoids():
    rng = np.random.default_rng(0)
    distances = cdist(X := rng.normal(size=(150, 3)), X)
    search = SwapSearch(distances, np.arange(6))
    for j in range(150):
        search.try_rows(j, j + 1)
        of_medoids = np.sort(distances[search.medoids], axis=0)
        near, second, label, _ = search.nearest
        np.testing.assert_array_equal(near, of_medoids[0])
        np.testing.assert_array_equal(second, of_medoids[1])
        np.testing.assert_array_equal(label, distances[search.medoids].argmin(axis=0))
        lost = np.bincount(label, of_medoids[1] - of_medoids[0], 6)
        np.testing.assert_allclose(search.removal, lost, rtol=1e-12)
        assert search.loss == pytest.approx(of_medoids[0].sum(), rel=1e-12)
        np.testing.assert_array_equal(np.flatnonzero(search.is_medoid), np.sort(search.medoids))
    assert search.swaps > 10


def test_any_dissimilarity_will_do_not_only_metrics():
    rng = np.random.default_rng(0)
    distances = rng.random((40, 40)) ** 4
    distances = distances + distances.T
    np.fill_diagonal(distances, 0)
    model = KMedoids(5, metric="precomputed", random_state=0).fit(distances)
    assert best_swap(distances, model.medoid_indices_) >= model.inertia_ * (1 - 1e-9)


def test_clusters_that_stand_apart_are_found_exactly():
    X = blobs(30, d=2, k=3)
    distances = cdist(X, X)
    best = min(loss_of(distances, chosen) for chosen in combinations(range(30), 3))
    for init in ("build", "lab", "random"):
        model = KMedoids(3, init=init, random_state=0).fit(X)
        assert model.inertia_ == pytest.approx(best, rel=1e-12)


def test_more_rows_than_a_stripe_and_more_swaps_than_one_call(monkeypatch):
    # One or two rows a call.
    monkeypatch.setattr("tacit.cluster.fasterpam.CALL_WORK", 700)
    X = blobs(333, k=9)
    distances = cdist(X, X)
    start = np.arange(9)
    result = fasterpam(distances, start)
    monkeypatch.undo()
    again = fasterpam(distances, start)
    np.testing.assert_array_equal(result.indices, again.indices)
    assert result.swaps == again.swaps > 9
    assert best_swap(distances, result.indices) >= result.loss * (1 - 1e-9)


def test_build_adds_the_item_that_helps_most():
    distances = cdist(X := blobs(60, d=2), X)
    chosen = []
    for _ in range(5):
        losses = [
            loss_of(distances, [*chosen, j]) if j not in chosen else np.inf for j in range(60)
        ]
        chosen.append(int(np.argmin(losses)))
    np.testing.assert_array_equal(build(distances, 5), chosen)
    np.testing.assert_array_equal(build(distances, 5, engine=Threads(2)), chosen)


def test_lab_is_better_than_chance_and_different_every_time():
    distances = cdist(X := blobs(500, k=8), X)
    rng = np.random.RandomState(0)
    drawn = [loss_of(distances, rng.permutation(500)[:8]) for _ in range(20)]
    medoids = [lab(distances, 8, rng) for _ in range(5)]
    assert all(len(set(each)) == 8 for each in medoids)
    assert np.mean([loss_of(distances, each) for each in medoids]) < np.mean(drawn)
    assert len({tuple(each) for each in medoids}) > 1


def test_float32_distances_give_the_same_medoids():
    distances = cdist(X := blobs(400, k=7), X)
    a = fasterpam(distances, np.arange(7))
    b = fasterpam(distances.astype(np.float32), np.arange(7))
    np.testing.assert_array_equal(a.indices, b.indices)
    assert b.loss == pytest.approx(a.loss, rel=1e-6)


# --- Metrics ---


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("euclidean", "euclidean"),
        ("sqeuclidean", "sqeuclidean"),
        ("manhattan", "cityblock"),
        ("cosine", "cosine"),
        (lambda a, b: float(np.abs(a - b).max()), "chebyshev"),
    ],
)
def test_a_metric_by_name_is_its_matrix(metric, name):
    X = blobs(80)
    distances = cdist(X, X, name)
    a = KMedoids(4, metric=metric, random_state=0).fit(X)
    b = KMedoids(4, metric="precomputed", random_state=0).fit((distances + distances.T) / 2)
    np.testing.assert_array_equal(a.medoid_indices_, b.medoid_indices_)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.inertia_ == pytest.approx(b.inertia_, rel=1e-9)
    np.testing.assert_array_equal(a.cluster_centers_, X[a.medoid_indices_])
    assert not hasattr(b, "cluster_centers_")
    np.testing.assert_allclose(a.transform(X), distances[:, a.medoid_indices_], atol=1e-9)
    np.testing.assert_array_equal(a.predict(X), a.labels_)
    np.testing.assert_array_equal(b.predict(distances), b.labels_)
    assert a.score(X) == pytest.approx(-a.inertia_, rel=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_sparse_rows_are_dense_rows(metric, tmp_path):
    X, _ = documents(200)
    dense, sparse = (
        KMedoids(3, metric=metric, random_state=0).fit(rows) for rows in (X.toarray(), X)
    )
    np.testing.assert_array_equal(dense.medoid_indices_, sparse.medoid_indices_)
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    assert sp.issparse(sparse.cluster_centers_)
    sparse.save(tmp_path / "model")
    np.testing.assert_array_equal(tacit.load(tmp_path / "model").predict(X), sparse.labels_)


# How five words sound across twelve villages: the shape of an atlas of dialects.
DIALECTS = {
    "apple": "apple aple eppel appel epple apel appl appele aeple appla happle opple",
    "house": "house hous huus huis haus hoose hus houss housse hause houze hoose",
    "water": "water watter woter wader wasser waater wahter wter watr wataer vater wader",
    "butterfly": "butterfly buterfly botterfly butterfli butterflie budderfly buttafly "
    "butterflai butterfley bitterfly butherfly buttervly",
    "mountain": "mountain mountan montain muntain mountein mowntain mountin mauntain "
    "mountaine mountayn moontain mounten",
}


def test_words_of_a_dialect_atlas_gather_around_words():
    words = [word for variants in DIALECTS.values() for word in variants.split()]
    truth = np.repeat(np.arange(5), 12)
    assert len(words) == 60
    model = KMedoids(5, metric=levenshtein, random_state=0).fit(words)
    assert all(word in words for word in model.cluster_centers_)
    assert [words[i] for i in model.medoid_indices_] == model.cluster_centers_
    # Every medoid is a variant of another word, and nearly every variant is with its own.
    assert sorted(truth[model.medoid_indices_]) == [0, 1, 2, 3, 4]
    assert (truth[model.medoid_indices_][model.labels_] == truth).mean() > 0.95
    near = model.predict(["appple", "buttterfly", "hoouse"])
    assert [truth[model.medoid_indices_[j]] for j in near] == [0, 3, 1]
    assert model.transform(["apple"]).shape == (1, 5)
    matrix = np.array([[levenshtein(a, b) for b in words] for a in words])
    precomputed = KMedoids(5, metric="precomputed").fit(matrix)
    np.testing.assert_array_equal(precomputed.medoid_indices_, model.medoid_indices_)
    ours = KMedoids(5, metric=edit_distance.levenshtein).fit(words)
    np.testing.assert_array_equal(ours.medoid_indices_, model.medoid_indices_)


def test_objects_of_any_kind_will_do():
    things = [{1, 2}, {1, 2, 3}, {2, 3}, {8, 9}, {9}, {8, 9, 7}]
    model = KMedoids(2, metric=lambda a, b: len(a ^ b)).fit(things)
    assert list(model.labels_) == [0, 0, 0, 1, 1, 1]
    assert model.cluster_centers_ == [{1, 2, 3}, {8, 9}]


def test_one_string_instead_of_a_list_is_refused():
    with pytest.raises(ValueError, match="Wrap it in a list"):
        KMedoids(2, metric=levenshtein).fit("words")


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_function_that_gives_no_distance_is_refused(value):
    with pytest.raises(ValueError, match="items 0 and 1"):
        KMedoids(1, metric=lambda a, b: 0.0 if a == b else value).fit(["a", "b", "c"])


# --- Corners ---


def test_one_medoid_is_the_item_in_the_middle():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [100.0]])
    model = KMedoids(1).fit(X)
    assert list(model.medoid_indices_) == [2]
    assert model.inertia_ == 2 + 1 + 1 + 98


def test_every_item_may_be_a_medoid():
    X = blobs(9)
    model = KMedoids(9).fit(X)
    assert list(model.medoid_indices_) == list(range(9))
    assert model.inertia_ == 0
    with pytest.raises(ValueError, match=r"n_clusters=10.*n_samples=9"):
        KMedoids(10).fit(X)


def test_equal_rows_fill_one_cluster_and_say_so():
    with pytest.warns(ConvergenceWarning, match="only 1 clusters"):
        model = KMedoids(3).fit(np.full((6, 2), 4.0))
    assert (model.labels_ == 0).all()
    assert model.inertia_ == 0
    assert len(set(model.medoid_indices_)) == 3


def test_a_tie_goes_to_the_lowest_index():
    X = np.array([[0.0], [1.0], [2.0]])
    model = KMedoids(2, init=[0, 2]).fit(X)
    assert list(model.labels_) == [0, 0, 1]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((3, 2)), r"square.*\(3, 2\)"),
        (np.array([[0.0, 1.0], [-1.0, 0.0]]), "row 1, column 0 is -1"),
        (np.array([[0.0, np.nan], [1.0, 0.0]]), "row 0, column 1"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric.*from 0 to 1.*differ by 1"),
    ],
)
def test_matrices_that_are_no_distances_are_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(1, metric="precomputed").fit(matrix)


@pytest.mark.parametrize(
    ("init", "message"),
    [([0, 1], "asks for 3"), ([0, 1, 1], "different"), ([0, 1, 99], "below 20"),
     ([0.5, 1, 2], "float64"), ("best", "init")],
)  # fmt: skip
def test_first_medoids_that_cannot_be_are_refused(init, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(3, init=init).fit(blobs(20))


def test_bad_values_are_found_where_they_are():
    X = blobs(50)
    X[31, 2] = np.nan
    for metric in ("euclidean", "manhattan"):
        with pytest.raises(ValueError, match="row 31, column 2"):
            KMedoids(2, metric=metric).fit(X)
    with pytest.raises(ValueError, match="Rescale"):
        KMedoids(2).fit(blobs(50) * 1e200)


def test_what_cannot_be_held_is_refused_with_the_memory_it_takes(monkeypatch):
    X = blobs(2000)
    monkeypatch.setattr(memory, "available_memory", lambda: 1e7)
    with pytest.raises(ValueError, match=r"2,000 items.*0\.0 GB.*clara"):
        KMedoids(3).fit(X)
    assert KMedoids(3, method="clara", random_state=0).fit(X).inertia_ > 0


def test_rows_on_disk_are_refused_but_not_by_clara(tmp_path):
    np.save(tmp_path / "rows.npy", blobs(5000))
    table = Table.from_npy(tmp_path / "rows.npy")
    with pytest.raises(ValueError, match=r"all 5,000 rows in memory.*clara"):
        KMedoids(3).fit(table)
    model = KMedoids(3, method="clara", random_state=0).fit(table)
    assert not hasattr(model, "labels_")
    assert len(model.predict(table)) == 5000
    in_memory = Table.from_array(blobs(300), block_rows=70)
    reference = KMedoids(3).fit(blobs(300))
    np.testing.assert_array_equal(
        KMedoids(3).fit(in_memory).medoid_indices_, reference.medoid_indices_
    )


def test_a_tie_goes_to_the_lowest_medoid_wherever_the_rows_lie():
    X = np.random.default_rng(0).integers(0, 4, size=(300, 3)).astype(float)
    for shift in (0.0, 1000.0):
        model = KMedoids(7).fit(X + shift)
        exact = cdist(X, X[model.medoid_indices_], "sqeuclidean")
        np.testing.assert_array_equal(model.labels_, exact.argmin(axis=1))


# --- Samples ---


def test_clara_is_nearly_as_good_as_looking_at_all():
    X = blobs(2000, k=6)
    exact = KMedoids(6).fit(X)
    quick = KMedoids(6, method="clara", random_state=0).fit(X)
    assert exact.inertia_ <= quick.inertia_ < 1.05 * exact.inertia_
    assert (np.diff(quick.losses_) <= 0).all()
    assert quick.n_iter_ == 10
    assert quick.losses_[-1] * 2000 == pytest.approx(quick.inertia_, rel=1e-12)


def test_a_sample_of_everything_is_everything():
    X = blobs(150)
    exact = KMedoids(4).fit(X)
    sampled = KMedoids(4, method="clara", sampling_size=150).fit(X)
    np.testing.assert_array_equal(exact.medoid_indices_, sampled.medoid_indices_)
    assert sampled.n_iter_ == 1


def test_clara_gives_the_same_bits_from_a_file_and_on_threads(tmp_path):
    X = blobs(20_000).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    a = KMedoids(4, method="clara", random_state=0, engine=Serial()).fit(X)
    table = Table.from_npy(tmp_path / "rows.npy")
    b = KMedoids(4, method="clara", random_state=0, engine=Threads(2)).fit(table)
    np.testing.assert_array_equal(a.medoid_indices_, b.medoid_indices_)
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert a.inertia_ == b.inertia_


def test_clara_on_words_and_on_a_matrix():
    words = [word for variants in DIALECTS.values() for word in variants.split()] * 3
    a = KMedoids(5, metric=levenshtein, method="clara", random_state=0).fit(words)
    assert all(word in words for word in a.cluster_centers_)
    matrix = cdist(X := blobs(300), X)
    b = KMedoids(3, metric="precomputed", method="clara", random_state=0).fit(matrix)
    assert b.inertia_ == pytest.approx(loss_of(matrix, b.medoid_indices_), rel=1e-12)


# --- Manners ---


def test_threads_change_nothing():
    X = blobs(700)
    runs = [KMedoids(5, random_state=0, engine=e).fit(X) for e in (Serial(), Threads(2))]
    np.testing.assert_array_equal(runs[0].medoid_indices_, runs[1].medoid_indices_)
    assert runs[0].inertia_ == runs[1].inertia_


def test_callbacks_hear_of_every_pass_and_may_stop():
    X = blobs(500, k=20)
    notified = []
    model = KMedoids(20, init="random", random_state=0, callbacks=[notified.append]).fit(X)
    assert [step.number for step in notified] == list(range(model.n_iter_ + 1))
    stopped = KMedoids(20, init="random", random_state=0, callbacks=[lambda step: True]).fit(X)
    assert stopped.n_iter_ == 0
    assert not stopped.converged_
    assert stopped.inertia_ > model.inertia_


def test_a_model_of_words_can_be_saved_a_function_cannot(tmp_path):
    model = KMedoids(2, metric=levenshtein).fit(["cat", "bat", "house", "mouse"])
    with pytest.raises(TypeError, match="metric"):
        model.save(tmp_path / "model")
    X = blobs(100)
    rows = KMedoids(3).fit(X)
    rows.save(tmp_path / "model")
    again = tacit.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), rows.labels_)
    matrix = KMedoids(3, metric="precomputed").fit(cdist(X, X))
    matrix.save(tmp_path / "matrix")
    np.testing.assert_array_equal(
        tacit.load(tmp_path / "matrix").predict(cdist(X, X)), matrix.labels_
    )

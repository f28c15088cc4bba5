"""Mini-batch k-means: close to k-means, the same on every engine, able to go on."""

import numpy as np
import pytest
import scipy.sparse as sp

import tacit
from tacit.cluster import KMeans, MiniBatchKMeans
from tacit.core import Serial, Threads
from tacit.data import Table
from tests.contract.cases import blobs, documents


def test_it_comes_close_to_k_means():
    X = blobs(20_000, k=6)
    full = KMeans(6, random_state=0).fit(X)
    mini = MiniBatchKMeans(6, random_state=0).fit(X)
    assert mini.inertia_ < 1.05 * full.inertia_
    assert len(mini.losses_) == mini.n_steps_


def test_rows_sorted_by_group_do_not_mislead_it():
    X = blobs(20_000, k=6)
    X = X[np.argsort(X[:, 0])]
    full = KMeans(6, random_state=0).fit(X)
    assert MiniBatchKMeans(6, random_state=0).fit(X).inertia_ < 1.05 * full.inertia_


def test_the_engine_changes_nothing():
    X = blobs(20_000)
    a, b = (
        MiniBatchKMeans(6, random_state=0, engine=engine).fit(X)
        for engine in (Serial(), Threads(3))
    )
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)


def test_partial_fit_finds_groups_in_a_stream():
    X = blobs(20_000, k=6)
    model = MiniBatchKMeans(6, random_state=0)
    for first in range(0, len(X), 500):
        model.partial_fit(X[first : first + 500])
    assert model.n_steps_ == 40
    assert -model.score(X) < 1.3 * KMeans(6, random_state=0).fit(X).inertia_


def test_a_stream_goes_on_after_saving_and_loading(tmp_path):
    X = blobs(4000)
    complete = MiniBatchKMeans(4, random_state=0)
    half = MiniBatchKMeans(4, random_state=0)
    for model in (complete, half):
        model.partial_fit(X[:1000]).partial_fit(X[1000:2000])
    half.save(tmp_path / "half")
    half = tacit.load(tmp_path / "half")
    for model in (complete, half):
        model.partial_fit(X[2000:])
    np.testing.assert_array_equal(complete.cluster_centers_, half.cluster_centers_)


def test_tables_and_sparse_rows_work(tmp_path):
    X = blobs(40_000)
    np.save(tmp_path / "x.npy", X)
    model = MiniBatchKMeans(6, random_state=0).fit(Table.from_npy(tmp_path / "x.npy"))
    assert not hasattr(model, "labels_")
    assert model.inertia_ < 2 * KMeans(6, random_state=0).fit(X).inertia_
    counts, _ = documents()
    dense, sparse = (
        MiniBatchKMeans(3, random_state=0).fit(rows) for rows in (counts.toarray(), counts)
    )
    np.testing.assert_allclose(dense.cluster_centers_, sparse.cluster_centers_)


def test_a_file_gives_the_bits_of_memory(tmp_path, monkeypatch):
    X, weights = blobs(30_000), np.arange(30_000) % 3
    np.save(tmp_path / "x.npy", X)
    for mixed in (8, 2):  # all rows shuffled as a whole, and in groups
        monkeypatch.setattr("tacit.data.shuffled_rows.MIXED", mixed)
        for weight in (None, weights):
            models = [
                MiniBatchKMeans(6, random_state=0).fit(rows, sample_weight=weight)
                for rows in (
                    X,
                    Table.from_npy(tmp_path / "x.npy"),
                    Table.from_npy(tmp_path / "x.npy", block_rows=1000),
                )
            ]
            assert models[0].losses_ == models[1].losses_
            for model in models[1:]:
                assert model.cluster_centers_.tobytes() == models[0].cluster_centers_.tobytes()


def test_bad_values_are_named():
    X = blobs(100)
    X[5, 1] = np.nan
    with pytest.raises(ValueError, match="row 5, column 1"):
        MiniBatchKMeans(2).fit(X)
    with pytest.raises(ValueError, match="row 5, column 1"):
        MiniBatchKMeans(2).partial_fit(sp.csr_array(X))


def test_batches_smaller_than_k_are_refused_at_the_start():
    with pytest.raises(ValueError, match="n_samples=3"):
        MiniBatchKMeans(5).partial_fit(blobs(3))


def test_a_batch_with_farthest_rows_adds_to_one_without():
    from tacit.cluster.lloyd import Farthest

    none = Farthest(4, np.empty(0), np.empty(0, np.int64), np.empty((0, 2)))
    some = Farthest(3, np.array([2.0, 1.0]), np.array([0, 2]), np.ones((2, 2)))
    after, before = none + some, some + none
    assert after.seen == before.seen == 7
    assert after.places.tolist() == [4, 6]  # counted from the first batch on
    assert before.places.tolist() == [0, 2]
    assert np.array_equal(after.distances, some.distances)

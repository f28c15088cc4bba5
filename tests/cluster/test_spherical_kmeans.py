"""Spherical k-means: agreement with the textbook, rows of zeros, ties, weights, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import cosine_distances

from tacit.cluster import SphericalKMeans, spherical
from tacit.core import Checkpoint, Serial, Threads, iterate
from tacit.data import Table
from tacit.kernels.unit_rows import unit_rows
from tests.contract.cases import assert_same_bits, blobs, documents, summary_of


def plain(X, centers, passes):
    """The textbook: largest cosine, then the direction of the sum."""
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    centers = centers / np.linalg.norm(centers, axis=1, keepdims=True)
    for _ in range(passes):
        labels = (X @ centers.T).argmax(axis=1)
        for j in range(len(centers)):
            total = X[labels == j].sum(axis=0)
            if total.any():
                centers[j] = total / np.linalg.norm(total)
    return centers


@pytest.mark.parametrize("shape", [(400, 2, 3), (500, 5, 6), (300, 40, 7)])
def test_it_is_the_textbook(shape):
    n, d, k = shape
    X = blobs(n, d, k, seed=n)
    for passes in (1, 2, 5):
        model = SphericalKMeans(k, init=X[:k], max_iter=passes, tol=0).fit(X)
        reached = min(passes, model.n_iter_)
        np.testing.assert_allclose(
            model.cluster_centers_, plain(X, X[:k].copy(), reached), atol=1e-12
        )


def test_centers_have_length_one_and_the_loss_is_one_minus_the_cosine():
    X = blobs()
    model = SphericalKMeans(6, random_state=0).fit(X)
    np.testing.assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1, atol=1e-15)
    distances = cosine_distances(X, model.cluster_centers_)
    np.testing.assert_allclose(model.transform(X), distances, atol=1e-14)
    assert model.inertia_ == pytest.approx(distances.min(axis=1).sum(), rel=1e-12)
    assert model.losses_[-1] * len(X) == pytest.approx(model.inertia_, rel=1e-9)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-12)
    np.testing.assert_array_equal(model.labels_, distances.argmin(axis=1))


def test_the_length_of_a_row_does_not_matter():
    X = blobs()
    lengths = 2.0 ** np.random.default_rng(0).integers(-60, 60, len(X))
    a, b = (SphericalKMeans(5, random_state=0).fit(rows) for rows in (X, X * lengths[:, None]))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)


def test_values_that_k_means_would_refuse_are_no_trouble():
    X = blobs(200)
    reference = SphericalKMeans(3, random_state=0).fit(X)
    for scale in (2.0**1000, 2.0**-1000):
        model = SphericalKMeans(3, random_state=0).fit(X * scale)
        np.testing.assert_array_equal(model.cluster_centers_, reference.cluster_centers_)


def test_sparse_rows_are_dense_rows():
    X, _ = documents()
    dense, sparse = (SphericalKMeans(3, random_state=0).fit(rows) for rows in (X.toarray(), X))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_allclose(dense.cluster_centers_, sparse.cluster_centers_, atol=1e-15)
    np.testing.assert_allclose(dense.transform(X.toarray()), sparse.transform(X), atol=1e-12)


def test_it_finds_the_topics_of_documents_of_any_length():
    X, topics = documents()
    lengths = np.random.default_rng(0).integers(1, 100, X.shape[0])
    model = SphericalKMeans(3, random_state=0).fit(sp.diags_array(lengths * 1.0) @ X)
    table = np.histogram2d(topics, model.labels_, bins=3)[0]
    assert table.max(axis=1).sum() > 0.97 * len(topics)


@pytest.mark.parametrize("rows", [7, 333, 5000])
def test_the_size_of_the_blocks_changes_nothing(rows):
    X = blobs()
    reference = SphericalKMeans(6, random_state=0).fit(X)
    model = SphericalKMeans(6, random_state=0).fit(Table.from_array(X, block_rows=rows))
    np.testing.assert_array_equal(model.cluster_centers_, reference.cluster_centers_)


def test_a_file_is_as_good_as_memory(tmp_path):
    X = blobs(20_000)
    np.save(tmp_path / "rows.npy", X)
    table = Table.from_npy(tmp_path / "rows.npy")
    a = SphericalKMeans(4, random_state=0, engine=Serial()).fit(X)
    b = SphericalKMeans(4, random_state=0, engine=Threads(2)).fit(table)
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert a.inertia_ == b.inertia_
    assert not hasattr(b, "labels_")
    np.testing.assert_array_equal(b.predict(table), a.labels_)


@pytest.mark.parametrize("make", [blobs, lambda: documents()[0]])
def test_what_rides_beside_the_blocks_changes_nothing(make):
    X = make()
    sparse = sp.issparse(X)
    first = X[:20].toarray() if sparse else X[:20]
    params = spherical.start(first, summary_of(unit_rows(X)[0]), sparse=sparse)
    table = Table.from_array(X, block_rows=97)
    runs = [
        iterate(
            params, spherical.collect, spherical.update, table, Serial(),
            max_iter=12, tol=0, cache=cache,
        )
        for cache in (None, [spherical.lloyd.BlockCache() for _ in table])
    ]  # fmt: skip
    assert runs[0].losses == runs[1].losses
    assert_same_bits(runs[0].params, runs[1].params)


# --- Rows of zeros, and other corners ---


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_zeros_count_one_go_to_cluster_zero_and_move_nothing(sparse):
    X = blobs(400)
    with_zeros = np.insert(X, [3, 50, 390], 0.0, axis=0)
    zero = ~with_zeros.any(axis=1)
    rows = sp.csr_array(with_zeros) if sparse else with_zeros
    first = X[:4]
    a = SphericalKMeans(4, init=first).fit(sp.csr_array(X) if sparse else X)
    b = SphericalKMeans(4, init=first).fit(rows)
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    np.testing.assert_array_equal(a.labels_, b.labels_[~zero])
    assert (b.labels_[zero] == 0).all()
    assert b.inertia_ == pytest.approx(a.inertia_ + 3, rel=1e-12)
    assert b.score(rows) == pytest.approx(-b.inertia_, rel=1e-12)
    np.testing.assert_array_equal(b.transform(rows)[zero], 1.0)
    assert (b.predict(rows[zero]) == 0).all()


def test_nothing_but_zeros_is_refused_with_a_reason():
    with pytest.raises(ValueError, match=r"direction.*Leave such rows out"):
        SphericalKMeans(2).fit(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="direction"):
        SphericalKMeans(2).fit(np.diag([1.0, 0.0, 0.0]), sample_weight=[0.0, 1.0, 1.0])


def test_a_center_whose_rows_cancel_out_stays():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    params = spherical.start(np.array([[0.0, -1.0], [0.0, 1.0]]), summary_of(X))
    stats = spherical.collect(params, X)
    assert list(stats.counts.sum(axis=0)) == [2, 1]  # ties go to the lowest index
    np.testing.assert_array_equal(
        spherical.update(params, stats).centers, [[0.0, -1.0], [0.0, 1.0]]
    )


def test_one_direction_fills_one_cluster_and_says_so():
    X = np.outer(np.arange(1.0, 9.0), [1.0, 2.0, 2.0])
    with pytest.warns(ConvergenceWarning, match=r"only 1 clusters.*1 directions"):
        model = SphericalKMeans(3, random_state=0).fit(X)
    assert np.isfinite(model.cluster_centers_).all()
    assert model.inertia_ == pytest.approx(0, abs=1e-12)


def test_as_many_clusters_as_rows_leave_no_loss():
    X = blobs(12)
    model = SphericalKMeans(12, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(0, abs=1e-12)
    assert len(np.unique(model.labels_)) == 12


def test_weight_two_is_the_row_twice():
    X = blobs(300)
    weights = np.random.default_rng(0).integers(0, 4, 300)
    a = SphericalKMeans(4, random_state=0).fit(X, sample_weight=weights)
    b = SphericalKMeans(4, random_state=0).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert a.inertia_ == pytest.approx(b.inertia_, rel=1e-12)
    assert a.score(X, sample_weight=weights) == pytest.approx(-a.inertia_, rel=1e-12)


@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "inf")])
def test_bad_values_are_found_where_they_are(bad, word):
    X = blobs(50)
    X[31, 2] = bad
    with pytest.raises(ValueError, match=f"row 31, column 2.*{word}"):
        SphericalKMeans(2).fit(X)
    with pytest.raises(ValueError, match=f"row 31, column 2.*{word}"):
        SphericalKMeans(2).fit(X[:30]).predict(X)


def test_a_first_center_without_direction_is_refused():
    with pytest.raises(ValueError, match="center 1 is all zero"):
        SphericalKMeans(2, init=[[1.0, 0.0], [0.0, 0.0]]).fit(np.eye(2))


def test_float32_stays_float32_and_close():
    X = blobs()
    first = X[:6]
    wide = SphericalKMeans(6, init=first, tol=0).fit(X)
    narrow = SphericalKMeans(6, init=first, tol=0).fit(X.astype(np.float32))
    assert narrow.cluster_centers_.dtype == np.float32
    np.testing.assert_allclose(narrow.cluster_centers_, wide.cluster_centers_, atol=1e-5)
    assert narrow.inertia_ == pytest.approx(wide.inertia_, rel=1e-5)


def test_restarts_keep_the_best():
    X = blobs(400, k=12)
    one = [
        SphericalKMeans(8, init="random", n_init=1, random_state=s).fit(X).inertia_
        for s in range(4)
    ]
    many = SphericalKMeans(8, init="random", random_state=0).fit(X)
    assert many.inertia_ <= one[0]
    assert many.inertia_ < max(one)


def test_a_fit_cut_short_goes_on_where_it_was(tmp_path):
    X = blobs(2000, k=20)
    complete = SphericalKMeans(20, random_state=0, tol=0).fit(X)
    assert complete.n_iter_ > 4

    def interrupt(step):
        if step.number == 3:
            raise KeyboardInterrupt

    path = tmp_path / "fit.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        SphericalKMeans(
            20, random_state=0, tol=0, callbacks=[Checkpoint(path, every=0), interrupt]
        ).fit(X)
    model = SphericalKMeans(20, random_state=0, tol=0, callbacks=[Checkpoint(path)]).fit(X)
    np.testing.assert_array_equal(model.cluster_centers_, complete.cluster_centers_)
    assert not path.exists()


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(6, 30), st.integers(1, 4)),
               elements=st.integers(-2, 2).map(float)),
    st.integers(1, 5),
)  # fmt: skip
def test_whatever_the_rows_the_loss_never_rises(X, k):
    unit, zero = unit_rows(X)
    starts = np.flatnonzero(~zero)[:k]
    if not len(starts):
        return
    params = spherical.start(X[starts], summary_of(unit))
    losses = []
    for _ in range(8):
        stats = spherical.collect(params, X)
        losses.append(stats.loss)
        assert stats.rows == len(X)
        params = spherical.update(params, stats)
        np.testing.assert_allclose(np.linalg.norm(params.centers, axis=1), 1, atol=1e-12)
    assert (np.diff(losses) <= 1e-12 * len(X)).all()

"""k-means: agreement with plain Lloyd and with scikit-learn, ties, weights, bad input."""

import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.exceptions import ConvergenceWarning

from tacit.cluster import KMeans, MiniBatchKMeans, lloyd
from tacit.cluster.seeding import merge_equal_rows
from tacit.core import Checkpoint, Serial, Threads, iterate
from tacit.data import Table
from tests.contract.cases import assert_same_bits, blobs, documents, summary_of


def plain_lloyd(X, centers, passes):
    """The textbook, in float64 and with no shortcut. Ties: stay, else the lowest index."""
    X, centers, previous = np.asarray(X, np.float64), centers.copy(), centers.copy()
    for _ in range(passes):
        labels = nearest(X, centers, previous)
        previous = centers.copy()
        for j in range(len(centers)):
            if (labels == j).any():
                centers[j] = X[labels == j].mean(axis=0)
    return centers


def nearest(X, centers, previous):
    squares = ((X[:, None] - centers) ** 2).sum(axis=2)
    home = ((X[:, None] - previous) ** 2).sum(axis=2).argmin(axis=1)
    rows = np.arange(len(X))
    stays = squares[rows, home] == squares.min(axis=1)
    return np.where(stays, home, squares.argmin(axis=1))


SHAPES = [(400, 1, 3), (700, 2, 60), (500, 3, 5), (600, 8, 50), (400, 9, 12), (300, 40, 7)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_accelerated_passes_are_plain_lloyd(shape, dtype):
    n, d, k = shape
    X = blobs(n, d, max(2, k // 2), seed=n).astype(dtype)
    first = X[:k].astype(np.float64)
    params = lloyd.start(first, summary_of(X))
    memory = lloyd.BlockCache()
    for passes in range(1, 12):
        params = lloyd.update(params, lloyd.collect(params, X, memory))
        if params.empty:  # the textbook above has no rule for empty clusters
            break
        np.testing.assert_allclose(
            params.centers, plain_lloyd(X, first, passes), rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize(
    ("make", "k"),
    [
        (blobs, 6),  # few centers
        (blobs, 60),  # matrix products
        (lambda: blobs(d=130, k=40), 70),  # the centers that moved most first
        (lambda: blobs(d=2, k=70), 60),  # neighbours of the last center
        (lambda: documents()[0], 60),
    ],
    ids=["few", "products", "movers", "neighbours", "sparse"],
)
def test_what_rides_beside_the_blocks_changes_nothing(make, k):
    X = make()
    sparse = sp.issparse(X)
    first = X[:k].toarray() if sparse else X[:k]
    table = Table.from_array(X, block_rows=97)
    runs = [
        iterate(
            lloyd.start(first, summary_of(X), sparse=sparse),
            lloyd.collect,
            lloyd.update,
            table,
            Serial(),
            max_iter=15,
            tol=0,
            cache=cache,
        )
        for cache in (None, [lloyd.BlockCache() for _ in table])
    ]
    assert runs[0].losses == runs[1].losses
    assert_same_bits(runs[0].params, runs[1].params)


@pytest.mark.parametrize("rows", [1, 10, 333, 5000])
def test_the_size_of_the_blocks_changes_nothing(rows):
    X = blobs()
    table = Table.from_array(X, block_rows=rows)
    reference = KMeans(6, random_state=0).fit(X)
    np.testing.assert_array_equal(
        KMeans(6, random_state=0).fit(table).cluster_centers_, reference.cluster_centers_
    )


def test_the_order_of_the_rows_changes_nothing():
    X = blobs()
    shuffled = X[np.random.default_rng(1).permutation(len(X))]
    a, b = (KMeans(6, random_state=0).fit(rows).cluster_centers_ for rows in (X, shuffled))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_agrees_with_scikit_learn_from_the_same_start(dtype):
    X = blobs().astype(dtype)
    first = X[:6].copy()
    ours = KMeans(6, init=first, tol=0).fit(X)
    theirs = SklearnKMeans(6, init=first, n_init=1, tol=0).fit(X)
    rtol = 1e-4 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=rtol)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=rtol)
    assert ours.cluster_centers_.dtype == dtype
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-3, atol=1e-3)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=rtol)


def test_sparse_rows_are_dense_rows():
    X, _ = documents()
    dense, sparse = (KMeans(3, random_state=0).fit(rows) for rows in (X.toarray(), X))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_array_equal(dense.cluster_centers_, sparse.cluster_centers_)
    np.testing.assert_allclose(dense.transform(X.toarray()), sparse.transform(X), atol=1e-6)


def test_csr_entries_for_the_same_cell_add_up():
    rows, columns = [0, 0, 1, 2, 3], [0, 0, 1, 0, 1]
    doubled = sp.csr_array(sp.coo_array(([1.0, 1, 5, 2, 5], (rows, columns)), shape=(4, 2)))
    parts = sp.csr_array(
        (np.array([1.0, 1, 5, 2, 5]), np.array([0, 0, 1, 0, 1]), np.array([0, 2, 3, 4, 5])),
        shape=(4, 2),
    )
    fits = [KMeans(2, random_state=0).fit(X) for X in (doubled, parts)]
    np.testing.assert_array_equal(fits[0].cluster_centers_, fits[1].cluster_centers_)
    assert fits[0].inertia_ == 0


# --- Ties ---


def test_a_tied_row_stays_in_its_cluster():
    X = np.array([[0.0], [4.0], [6.0], [10.0]])
    params = lloyd.start(np.array([[4.5], [6.5]]), summary_of(X))
    assert list(lloyd.assign(params, X)) == [0, 0, 1, 1]
    tied = lloyd.moved(params, np.array([[8.0], [4.0]]))  # 6 is tied and was with the second
    assert list(lloyd.assign(tied, X)) == [1, 1, 1, 0]
    tied = lloyd.moved(params, np.array([[6.0], [2.0]]))  # 4 is tied and was with the first
    assert list(lloyd.assign(tied, X)) == [1, 0, 0, 0]


def test_a_tied_row_without_a_home_goes_to_the_lowest_index():
    X = np.array([[0.0], [1.0], [2.0]])
    model = KMeans(2, init=np.array([[0.0], [2.0]]), max_iter=1).fit(X)
    assert list(model.labels_) == [0, 0, 1]
    assert list(model.predict(np.array([[1.25]]))) == [0]  # centers 0.5 and 2
    params = lloyd.start(np.array([[2.0], [0.0]]), summary_of(X))
    assert list(lloyd.assign(params, X)) == [1, 0, 0]


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(6, 40), st.integers(1, 3)),
               elements=st.integers(-3, 3).map(float)),
    st.integers(1, 6),
)  # fmt: skip
def test_on_a_grid_full_of_ties_every_path_is_plain_lloyd(X, k):
    first = X[:k].copy()
    params, memory = lloyd.start(first, summary_of(X)), lloyd.BlockCache()
    for _ in range(6):
        expected = nearest(X, params.centers, params.previous)
        np.testing.assert_array_equal(lloyd.assign(params, X), expected)
        stats = lloyd.collect(params, X, memory)
        np.testing.assert_array_equal(memory.labels, expected)
        params = lloyd.update(params, stats)


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(6, 40), st.integers(1, 3)),
        elements=st.integers(-3, 3).map(float),
    ),
    st.integers(1, 6),
)
def test_sparse_rows_go_to_a_nearest_center_too(X, k):
    """Which of several is a matter of rounding here: |x - c|^2 is put together otherwise."""
    rows = sp.csr_array(X)
    params, memory = lloyd.start(X[:k], summary_of(rows), sparse=True), lloyd.BlockCache()
    for _ in range(6):
        stats = lloyd.collect(params, rows, memory)
        squares = ((X[:, None] - params.centers) ** 2).sum(axis=2)
        assigned = squares[np.arange(len(X)), memory.labels]
        np.testing.assert_allclose(assigned, squares.min(axis=1), atol=1e-12)
        np.testing.assert_array_equal(memory.labels, lloyd.assign(params, rows))
        params = lloyd.update(params, stats)


# --- Weights ---


def test_weight_two_is_twice_the_row_to_the_bit():
    X = blobs(500)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    repeated = np.repeat(X, weights, axis=0)
    for init in ("k-means++", X[:6]):
        a = KMeans(6, init=init, random_state=0).fit(X, sample_weight=weights)
        b = KMeans(6, init=init, random_state=0).fit(repeated)
        np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
        assert a.inertia_ == pytest.approx(b.inertia_, rel=1e-12)
        assert a.score(X, sample_weight=weights) == pytest.approx(b.score(repeated), rel=1e-12)


def test_fractions_of_a_weight_work_on_any_engine():
    X = blobs(40_000)
    weights = np.random.default_rng(0).random(len(X))
    fits = [
        KMeans(6, random_state=0, engine=engine, max_iter=5).fit(X, sample_weight=weights)
        for engine in (Serial(), Threads(2))
    ]
    np.testing.assert_array_equal(fits[0].cluster_centers_, fits[1].cluster_centers_)
    theirs = SklearnKMeans(6, init=X[:6], n_init=1, tol=0).fit(X, sample_weight=weights)
    ours = KMeans(6, init=X[:6], tol=0).fit(X, sample_weight=weights)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)


def test_weights_that_cannot_be_are_refused():
    X = blobs(20)
    with pytest.raises(ValueError, match="Negative"):
        KMeans(2).fit(X, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match="non-zero"):
        KMeans(2).fit(X, sample_weight=np.zeros(20))


def test_equal_rows_merge_whatever_their_order():
    X = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0], [0.0, 0.0]])
    weights = np.array([1.0, 2.0, 4.0, 0.0])
    rows, totals = merge_equal_rows(X, weights)
    sparse_rows, sparse_totals = merge_equal_rows(sp.csr_array(X), weights)
    assert sorted(totals) == [2, 5]
    np.testing.assert_array_equal(rows, sparse_rows.toarray())
    np.testing.assert_array_equal(totals, sparse_totals)


# --- Numbers that break other programs ---


def test_more_clusters_than_rows_names_both_numbers():
    with pytest.raises(ValueError, match=r"n_clusters=50.*n_samples=6.*Lower"):
        KMeans(50).fit(blobs(6))


def test_equal_rows_give_one_cluster_and_say_so():
    with pytest.warns(ConvergenceWarning, match="only 1 distinct"):
        model = KMeans(3, random_state=0).fit(np.ones((10, 2)))
    assert list(model.labels_) == [0] * 10
    assert np.isfinite(model.cluster_centers_).all()
    assert model.inertia_ == 0


def test_one_row_is_its_own_center():
    model = KMeans(1).fit([[3.0, 4.0]])
    np.testing.assert_array_equal(model.cluster_centers_, [[3.0, 4.0]])


def test_as_many_clusters_as_rows_leave_nothing():
    X = blobs(12)
    model = KMeans(12, random_state=0).fit(X)
    assert sorted(model.labels_) == list(range(12))
    assert model.inertia_ == pytest.approx(0, abs=1e-18)


def test_empty_clusters_restart_at_the_farthest_rows():
    X = blobs()
    first = np.vstack([X[:2], np.full((4, 5), 1e6)])
    model = KMeans(6, init=first, tol=0).fit(X)
    assert len(np.unique(model.labels_)) == 6
    good = KMeans(6, random_state=0).fit(X)
    assert model.inertia_ < 3 * good.inertia_


def test_the_farthest_row_takes_the_lowest_empty_cluster_and_ties_the_lowest_row():
    X = np.array([[0.0], [1.0], [10.0], [10.0], [-10.0], [-11.0], [-9.0]])
    first = np.array([[-10.0], [1e3], [7.0], [2e3]])
    summary = summary_of(X)
    params = lloyd.start(first, summary)
    for block_rows in (1, 3, 7):
        table = Table.from_array(X, block_rows=block_rows)
        once = lloyd.update(params, Serial().reduce(lloyd.collect, params, table))
        assert once.empty == 2
        stats = Serial().reduce(lloyd.collect, once, table)
        again = lloyd.update(once, stats)
        # the right-hand cluster's mean is 5.25, so 0 is its farthest row; on the left, mean
        # -10, the rows -11 and -9 are tied and -11 comes first
        np.testing.assert_array_equal(again.centers[[1, 3]], [[0.0], [-11.0]])
        assert again.empty == 0


def test_huge_values_are_refused_before_the_pass():
    with pytest.raises(ValueError, match=r"1e\+200.*Rescale"):
        KMeans(2).fit(np.array([[1e200], [2.0], [3.0]]))


@pytest.mark.parametrize("size", [1e-30, 1e-8, 1e12, 1e60])
def test_the_size_of_the_numbers_does_not_matter(size):
    X = blobs(1000)
    usual = KMeans(6, init=X[:6]).fit(X)
    scaled = KMeans(6, init=X[:6] * size).fit(X * size)
    np.testing.assert_array_equal(scaled.labels_, usual.labels_)
    np.testing.assert_allclose(scaled.cluster_centers_ / size, usual.cluster_centers_)


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_nor_does_it_in_float32(size):
    X = blobs(1000)
    X, scaled = X.astype(np.float32), (X * size).astype(np.float32)
    usual = KMeans(6, init=X[:6], max_iter=5, tol=0).fit(X)
    other = KMeans(6, init=scaled[:6], max_iter=5, tol=0).fit(scaled)
    assert (other.labels_ == usual.labels_).mean() > 0.99


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_large_offset_does_not_drown_the_spread(dtype):
    X = blobs(1000, seed=3)
    moved = (X + 4096).astype(dtype)
    expected = plain_lloyd(moved, moved[:6].astype(np.float64), 5)
    model = KMeans(6, init=moved[:6], max_iter=5, tol=0).fit(moved)
    np.testing.assert_allclose(model.cluster_centers_, expected, rtol=1e-6)


def test_one_outlier_does_not_blind_the_rest():
    X = np.vstack([blobs(500, 3, 3), [[1e15, 0, 0]]]).astype(np.float32)
    model = KMeans(4, init=X[[0, 1, 2, 500]], max_iter=5, tol=0).fit(X)
    expected = plain_lloyd(X, X[[0, 1, 2, 500]].astype(np.float64), 5)
    np.testing.assert_allclose(model.cluster_centers_, expected, rtol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("method", ["fit", "predict", "transform"])
def test_a_bad_value_is_named_with_its_place(bad, method):
    X = blobs(30)
    model = KMeans(2, random_state=0).fit(X)
    X[17, 3] = bad
    for rows in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"row 17, column 3.*(NaN|inf)"):
            getattr(model, method)(rows)


def test_a_bad_value_in_a_file_is_named_with_the_file(tmp_path):
    X = blobs(40_000, 2)
    X[20_001, 1] = np.nan
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(ValueError, match=r"rows\.npy, row 20001, column 1.*NaN"):
        KMeans(2).fit(Table.from_npy(tmp_path / "rows.npy"))


def test_constant_columns_and_zeros_are_no_trouble():
    X = np.zeros((20, 3))
    X[10:, 1] = 1
    model = KMeans(2, random_state=0).fit(X)
    assert model.inertia_ == 0
    assert len(set(model.labels_[:10])) == len(set(model.labels_[10:])) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda X: np.asfortranarray(X),
        lambda X: X.astype(np.float32),
        lambda X: (X * 10).astype(np.int64),
        lambda X: X[::-1][::2],
        lambda X: X.tolist(),
        lambda X: sp.csc_array(X),
        lambda X: sp.coo_matrix(X),
    ],
)
def test_any_layout_is_accepted(change):
    X = change(blobs(400))
    assert KMeans(3, random_state=0).fit(X).inertia_ > 0


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("estimator", [KMeans, MiniBatchKMeans])
def test_values_that_float32_holds_exactly_start_from_the_same_rows(estimator, init, sparse):
    X = np.round(blobs(400) * 4) / 4
    X = sp.csr_array(X) if sparse else X
    wide, narrow = (
        estimator(5, init=init, n_init=1, random_state=3).fit(X.astype(dtype))
        for dtype in (np.float64, np.float32)
    )
    np.testing.assert_array_equal(wide.labels_, narrow.labels_)
    np.testing.assert_array_equal(
        wide.cluster_centers_.astype(np.float32), narrow.cluster_centers_
    )


def test_read_only_and_memory_mapped_rows_are_accepted(tmp_path):
    X = blobs(400)
    reference = KMeans(3, random_state=0).fit(X).cluster_centers_
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        KMeans(3, random_state=0).fit(mapped).cluster_centers_, reference
    )
    X.flags.writeable = False
    np.testing.assert_array_equal(KMeans(3, random_state=0).fit(X).cluster_centers_, reference)


@pytest.mark.parametrize(
    ("init", "message"),
    [
        (np.zeros((3, 5)), r"shape \(3, 5\).*\(2, 5\)"),
        (np.full((2, 5), np.nan), "not finite"),
        ("plus", "init"),
    ],
)
def test_first_centers_that_cannot_be_are_refused(init, message):
    with pytest.raises(ValueError, match=message):
        KMeans(2, init=init).fit(blobs(20))


def test_a_function_may_choose_the_first_centers():
    X = blobs(100)
    model = KMeans(3, init=lambda X, k, random_state: X[:k], max_iter=1).fit(X)
    np.testing.assert_array_equal(
        model.cluster_centers_, KMeans(3, init=X[:3], max_iter=1).fit(X).cluster_centers_
    )


def test_restarts_keep_the_best():
    X = blobs(400, k=12)
    one = [
        KMeans(12, init="random", n_init=1, random_state=s).fit(X).inertia_ for s in range(4)
    ]
    many = KMeans(12, init="random", random_state=0).fit(X)  # ten starts
    assert many.inertia_ <= one[0]
    assert many.inertia_ < max(one)


# --- Long fits ---


def test_callbacks_hear_of_every_pass_and_may_stop():
    notified = []
    note = [lambda step: notified.append(step.number)]
    model = KMeans(6, random_state=0, tol=0, callbacks=note).fit(blobs())
    assert notified == list(range(model.n_iter_ + 1))
    stopped = KMeans(30, random_state=0, tol=0, callbacks=[lambda step: step.number == 2])
    stopped.fit(blobs())
    assert stopped.n_iter_ == 2
    assert not stopped.converged_


def test_scikit_learns_callbacks_are_heard_too():
    from sklearn.callback import FitCallback

    class Count:
        tasks = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            self.tasks += 1
            return self.tasks == 3

    assert isinstance(Count(), FitCallback)
    by_parameter, by_method = Count(), Count()
    model = KMeans(6, random_state=0, tol=0, callbacks=[by_parameter]).fit(blobs())
    assert model.n_iter_ == 2
    assert KMeans(6, random_state=0, tol=0).set_callbacks(by_method).fit(blobs()).n_iter_ == 2
    assert by_parameter.tasks == by_method.tasks == 4  # three passes and the fit itself


def test_a_fit_cut_short_goes_on_where_it_was(tmp_path):
    X = blobs(3000, k=30)
    complete = KMeans(30, random_state=0, tol=0).fit(X)
    assert complete.n_iter_ > 6

    def interrupt(step):
        if step.number == 4:
            raise KeyboardInterrupt

    path = tmp_path / "fit.checkpoint"
    checkpoint = Checkpoint(path, every=0)
    with pytest.raises(KeyboardInterrupt):
        KMeans(30, random_state=0, tol=0, callbacks=[checkpoint, interrupt]).fit(X)
    assert path.exists()
    seen = []
    model = KMeans(
        30,
        random_state=0,
        tol=0,
        callbacks=[Checkpoint(path, every=0), lambda step: seen.append(step.number)],
    ).fit(X)
    assert min(seen) == 4
    assert not path.exists()  # it came to its end
    np.testing.assert_array_equal(model.cluster_centers_, complete.cluster_centers_)
    assert model.losses_ == complete.losses_


def test_restarts_resume_too(tmp_path):
    X = blobs(2000, k=12)
    complete = KMeans(12, n_init=3, random_state=0, tol=0).fit(X)
    path, runs = tmp_path / "fit.checkpoint", []

    def interrupt(step):
        runs.append(step.number)
        if runs.count(0) == 3 and step.number == 1:  # in the third run
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        KMeans(
            12,
            n_init=3,
            random_state=0,
            tol=0,
            callbacks=[Checkpoint(path, every=0), interrupt],
        ).fit(X)
    again = KMeans(12, n_init=3, random_state=0, tol=0, callbacks=[Checkpoint(path)]).fit(X)
    np.testing.assert_array_equal(again.cluster_centers_, complete.cluster_centers_)
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    stop = [Checkpoint(path, every=0), lambda step: step.number == 1]
    KMeans(3, random_state=0, tol=0, callbacks=stop).fit(blobs())
    with pytest.raises(ValueError, match="another fit"):
        KMeans(3, random_state=0, callbacks=[Checkpoint(path)]).fit(blobs(seed=9))
    with pytest.raises(ValueError, match="another fit"):
        KMeans(3, random_state=1, callbacks=[Checkpoint(path)]).fit(blobs())


def test_ctrl_c_is_obeyed_between_kernels():
    """A pass that is given up stops at the next kernel call, not at the end of the block."""
    X = blobs(20_000, 64, 10)
    lloyd.collect(lloyd.start(X[:100], summary_of(X)), X[:1000])  # compile
    before = threading.active_count()

    def interrupt(step):
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        KMeans(400, init=X[:400], callbacks=[interrupt], engine=Threads(2)).fit(X)
    assert threading.active_count() == before  # nothing is left running
    assert time.monotonic() - began < 60


def test_a_fit_that_converged_is_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KMeans(3, random_state=0).fit(blobs(300))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_search_among_neighbors_gives_the_bits_of_a_search_among_all(weighted, monkeypatch):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(3000, 2)), 2)  # with ties
    weights = rng.integers(1, 4, 3000) if weighted else None

    def fit(dimensions):
        monkeypatch.setattr(lloyd, "LIST_DIMENSIONS", dimensions)
        monkeypatch.setattr(lloyd, "LIST_CENTERS", 50)
        return KMeans(80, n_init=1, random_state=0).fit(X, sample_weight=weights)

    by_list, by_product = fit(2), fit(0)
    np.testing.assert_array_equal(by_list.cluster_centers_, by_product.cluster_centers_)
    np.testing.assert_array_equal(by_list.labels_, by_product.labels_)
    assert by_list.losses_ == by_product.losses_

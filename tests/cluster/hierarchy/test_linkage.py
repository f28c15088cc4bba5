"""Linkage: against SciPy and fastcluster, against the cubic algorithm in exact fractions, and
with ties, where only some things can be compared:

- single linkage: the heights, whoever breaks the ties how;
- complete, average and weighted linkage of whole-number distances: everything, with the
  greedy algorithm that merges the lowest names first;
- every linkage: that each merge joins two clusters than which none are closer.
"""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

from tacit.cluster import check_linkage, cut, linkage
from tacit.cluster.hierarchy.dendrogram import is_monotone
from tacit.cluster.hierarchy.inputs import METHODS, check_input
from tacit.cluster.hierarchy.linkage import build_linkage
from tacit.core import Dask, DataError, Serial, Threads
from tacit.data import Table
from tacit.text import levenshtein, pairwise_strings

RISING = ("single", "complete", "average", "weighted", "ward")
every_method = pytest.mark.parametrize("method", METHODS)


def points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def assert_same_tree(Z, other):
    np.testing.assert_array_equal(Z[:, [0, 1, 3]], other[:, [0, 1, 3]])
    np.testing.assert_allclose(Z[:, 2], other[:, 2], rtol=1e-9, atol=0)


# --- Without ties: the same tree as everybody's ---


@every_method
@pytest.mark.parametrize("shape", [(2, 1), (3, 2), (40, 1), (300, 3), (700, 16), (90, 70)])
def test_rows_give_the_tree_of_scipy(method, shape):
    X = points(*shape)
    assert_same_tree(linkage(X, method), hierarchy.linkage(X, method))


@every_method
def test_distances_give_the_tree_of_their_rows(method):
    X = points(250, 4)
    distances = pdist(X)
    reference = hierarchy.linkage(distances, method)
    assert_same_tree(linkage(distances, method), reference)
    assert_same_tree(linkage(squareform(distances), method, "precomputed"), reference)
    assert_same_tree(linkage(sp.csr_array(X), method), reference)


@every_method
def test_heights_are_those_of_fastcluster(method):
    fastcluster = pytest.importorskip("fastcluster")
    X = points(800, 8, seed=3)
    theirs = fastcluster.linkage(X, method)
    np.testing.assert_allclose(linkage(X, method)[:, 2], theirs[:, 2], rtol=1e-9)


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted"])
@pytest.mark.parametrize("metric", ["cosine", "sqeuclidean", "cityblock", "braycurtis"])
def test_other_metrics_give_the_tree_of_scipy(method, metric):
    X = points(120, 5, seed=1) + (5 if metric == "braycurtis" else 0)
    reference = hierarchy.linkage(X, method, metric)
    Z = linkage(X, method, metric)
    np.testing.assert_array_equal(Z[:, [0, 1, 3]], reference[:, [0, 1, 3]])
    np.testing.assert_allclose(Z[:, 2], reference[:, 2], rtol=1e-9, atol=1e-14)
    if metric in ("cosine", "sqeuclidean"):
        sparse = linkage(sp.csr_array(X), method, metric)
        np.testing.assert_allclose(sparse[:, 2], reference[:, 2], rtol=1e-9, atol=1e-14)


def test_a_function_of_two_rows_is_a_metric():
    X = points(30, 3)
    Z = linkage(X, "complete", lambda x, y: float(np.abs(x - y).max()))
    assert_same_tree(Z, linkage(X, "complete", "chebyshev"))


def test_a_chain_that_visits_all_rows_before_the_first_merge():
    gaps = np.linspace(2.0, 1.0, 1500)  # each row's nearest neighbour is the next
    X = np.cumsum(gaps)[:, None]
    for method in ("average", "complete", "weighted"):
        reference = hierarchy.linkage(X, method)
        np.testing.assert_allclose(linkage(X, method)[:, 2], reference[:, 2], rtol=1e-9)
    distances = pdist(X)
    np.testing.assert_allclose(
        linkage(distances, "ward")[:, 2], hierarchy.linkage(X, "ward")[:, 2], rtol=1e-9
    )


def test_outliers_that_make_one_long_comb():
    X = np.concatenate([points(600, 2) * 0.01, np.cumsum(np.arange(1, 301))[:, None] * [1, 1]])
    for method in METHODS:
        reference = hierarchy.linkage(X, method)
        np.testing.assert_allclose(linkage(X, method)[:, 2], reference[:, 2], rtol=1e-9)


# --- With ties ---


def greedy(distances, method):
    """The cubic algorithm in exact fractions; of equals the lowest names, which are rows."""
    n = len(distances)
    gap = {(i, j): Fraction(distances[i][j]) for i in range(n) for j in range(i + 1, n)}
    size, label, out = dict.fromkeys(range(n), 1), {i: i for i in range(n)}, []
    while len(size) > 1:
        height, (a, b) = min((value, pair) for pair, value in gap.items())
        out.append((*sorted((label[a], label[b])), float(height), size[a] + size[b]))
        del gap[a, b]
        for c in set(size) - {a, b}:
            near, far = gap.pop((min(a, c), max(a, c))), gap.pop((min(b, c), max(b, c)))
            gap[min(a, c), max(a, c)] = {
                "single": min(near, far),
                "complete": max(near, far),
                "average": (size[a] * near + size[b] * far) / (size[a] + size[b]),
                "weighted": (near + far) / 2,
            }[method]
        size[a] += size.pop(b)
        label[a] = n + len(out) - 1
    return np.array(out, np.float64).reshape(-1, 4)


@st.composite
def whole_distances(draw, most=14):
    n = draw(st.integers(2, most))
    count = n * (n - 1) // 2
    return np.array(draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)), float)


@settings(deadline=None, max_examples=60)
@given(distances=whole_distances())
def test_ties_go_to_the_lowest_names_as_in_the_greedy_algorithm(distances):
    for method in ("complete", "average", "weighted"):
        np.testing.assert_array_equal(
            linkage(distances, method), greedy(squareform(distances).tolist(), method)
        )


@settings(deadline=None, max_examples=60)
@given(distances=whole_distances())
def test_single_linkage_has_the_same_heights_however_ties_are_broken(distances):
    ours = linkage(distances, "single")[:, 2]
    np.testing.assert_array_equal(ours, hierarchy.linkage(distances, "single")[:, 2])
    np.testing.assert_array_equal(ours, greedy(squareform(distances).tolist(), "single")[:, 2])


def test_single_linkage_takes_the_lowest_pair_of_rows_first():
    square = np.ones((4, 4)) - np.eye(4)
    Z = linkage(square, "single", "precomputed")
    np.testing.assert_array_equal(Z[:, :2], [[0, 1], [2, 4], [3, 5]])


def replay(Z, X, method):
    """For every merge: its height by definition, and the least there was to be had."""
    n = len(X)
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    distances = np.sqrt(squares)
    members = {i: [i] for i in range(n)}
    center = {i: X[i] for i in range(n)}  # of median linkage
    mean_tree = {frozenset((i, j)): distances[i, j] for i in range(n) for j in range(i)}

    def apart(a, b):
        block = distances[np.ix_(members[a], members[b])]
        if method == "single":
            return block.min()
        if method == "complete":
            return block.max()
        if method == "average":
            return block.mean()
        if method == "weighted":
            return mean_tree[frozenset((a, b))]
        if method == "median":
            return np.sqrt(((center[a] - center[b]) ** 2).sum())
        far = ((X[members[a]].mean(axis=0) - X[members[b]].mean(axis=0)) ** 2).sum()
        na, nb = len(members[a]), len(members[b])
        return np.sqrt(far if method == "centroid" else 2 * na * nb / (na + nb) * far)

    for s, (a, b, height, _) in enumerate(Z):
        a, b = int(a), int(b)
        yield height, apart(a, b), min(apart(i, j) for i in members for j in members if i < j)
        for c in set(members) - {a, b}:
            mean_tree[frozenset((n + s, c))] = (
                mean_tree[frozenset((a, c))] + mean_tree[frozenset((b, c))]
            ) / 2
        center[n + s] = (center[a] + center[b]) / 2
        members[n + s] = members.pop(a) + members.pop(b)


@every_method
@pytest.mark.parametrize("seed", range(6))
def test_each_merge_joins_a_closest_pair_on_a_grid_full_of_ties(method, seed):
    X = np.random.default_rng(seed).integers(0, 4, size=(24, 2)).astype(float)
    for Z in (linkage(X, method), linkage(pdist(X), method)):
        for height, true, least in replay(Z, X, method):
            assert height == pytest.approx(true, rel=1e-9, abs=1e-7)
            assert height == pytest.approx(least, rel=1e-9, abs=1e-7)


@settings(deadline=None, max_examples=40)
@given(distances=whole_distances(30), seed=st.integers(0, 99))
def test_heights_never_fall(distances, seed):
    rng = np.random.default_rng(seed)
    grid = rng.integers(0, 3, size=(60, 2)) * rng.choice([0.1, 1.0, 1 / 3])
    for method in RISING:
        for Z in (linkage(distances, method), linkage(grid, method)):
            assert is_monotone(Z)
            assert (np.diff(Z[:, 2]) >= 0).all()
            check_linkage(Z)


@pytest.mark.parametrize("unit", [0.1, 1 / 3, 1 / 7])
def test_distances_that_differ_by_last_digits_still_make_a_tree(unit):
    rng = np.random.default_rng(0)
    for n in (3, 30, 110):
        count = n * (n - 1) // 2
        almost_equal = unit * (1 + rng.integers(-3, 4, size=count) * 2.0**-52)
        few_values = unit * rng.integers(1, 4, size=count)
        for distances in (almost_equal, few_values, np.full(count, unit)):
            for method in METHODS:
                Z = check_linkage(linkage(distances, method))
                assert method not in RISING or is_monotone(Z)


def test_centroid_and_median_may_fall():
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
    for method in ("centroid", "median"):
        Z = linkage(triangle, method)
        assert Z[1, 2] < Z[0, 2]
        assert not is_monotone(Z)


@every_method
def test_wide_rows_of_whole_numbers_have_exact_distances_wherever_they_lie(method):
    X = np.random.default_rng(0).integers(0, 2, size=(90, 100)).astype(float)
    X[40:45] = X[7]
    reference = linkage(pdist(X), method)
    for rows in (X, X + 2.0**20):
        np.testing.assert_array_equal(linkage(rows, method), reference)


# --- Degenerate and hostile input ---


@every_method
def test_one_row_is_a_tree_without_merges(method):
    assert linkage(np.ones((1, 3)), method).shape == (0, 4)


@every_method
def test_rows_that_are_all_equal_merge_in_order_at_height_zero(method):
    Z = linkage(np.full((700, 3), 0.1), method)
    assert (Z[:, 2] == 0).all()
    check_linkage(Z)
    np.testing.assert_array_equal(Z[:2, :2], [[0, 1], [2, 700]])


@every_method
def test_any_array_of_numbers_will_do(method, tmp_path):
    X = np.random.default_rng(0).integers(0, 50, size=(60, 3))
    reference = linkage(X.astype(float), method)
    read_only = X.astype(float)
    read_only.flags.writeable = False
    np.save(tmp_path / "rows.npy", X)
    kinds = [
        X,
        X.tolist(),
        X.astype(np.float32),
        np.asfortranarray(X, float),
        read_only,
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
    ]
    for kind in kinds:
        np.testing.assert_array_equal(linkage(kind, method), reference)
    copies = squareform(pdist(X))
    copies.flags.writeable = False
    before = copies.copy()
    assert_heights = linkage(copies, method, "precomputed")[:, 2]
    np.testing.assert_allclose(assert_heights, reference[:, 2], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(copies, before)


@every_method
def test_neither_a_far_origin_nor_tiny_units_blur_the_tree(method):
    X = np.round(points(80, 3) * 1024) / 1024
    reference = linkage(X, method)
    shifted = linkage(X + 2.0**30, method)
    np.testing.assert_allclose(shifted[:, 2], reference[:, 2], rtol=1e-9)
    tiny = linkage(X * 2.0**-800, method)
    np.testing.assert_allclose(tiny[:, 2] * 2.0**800, reference[:, 2], rtol=1e-12)
    assert_same_tree(linkage(X * 2.0**200, method) * [1, 1, 2.0**-200, 1], reference)


def test_a_row_of_zeros_is_one_away_from_every_direction():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [0.0, 0.0]])
    for rows in (X, sp.csr_array(X)):
        Z = linkage(rows, "complete", "cosine")
        np.testing.assert_array_equal(Z[:, :2], [[0, 3], [1, 2], [4, 5]])
        np.testing.assert_allclose(Z[[0, 2], 2], [0, 1], atol=1e-15)


def test_bad_values_are_named_with_their_place():
    X = points(20, 3)
    X[7, 2] = np.nan
    with pytest.raises(DataError, match=r"row 7, column 2: linkage: Input X contains NaN"):
        linkage(X)
    with pytest.raises(ValueError, match="as large as 1e\\+200"):
        linkage(np.array([[0.0], [1e200]]))
    distances = pdist(points(6, 2))
    distances[7] = -1.0
    with pytest.raises(DataError, match="between rows 1 and 4 is -1"):
        linkage(distances)
    square = squareform(pdist(points(6, 2)))
    square[2, 5] += 1
    with pytest.raises(DataError, match=r"not symmetric: .* from row 2 to row 5"):
        linkage(square, metric="precomputed")
    with pytest.raises(DataError, match="row 0 to itself is 1"):
        linkage(np.eye(4), metric="precomputed")
    square[2, 5] = square[5, 2] = np.inf
    with pytest.raises(DataError, match="between rows 2 and 5 is inf"):
        linkage(square, metric="precomputed")
    with pytest.raises(ValueError, match="overflow"):
        linkage(np.array([1e160, 1.0, 1.0]), "ward")


def test_a_matrix_symmetric_but_for_rounding_is_accepted():
    square = squareform(pdist(points(40, 3)))
    skewed = square.copy()
    skewed[np.tril_indices(40)] *= 1 + 1e-15
    np.testing.assert_array_equal(
        linkage(skewed, metric="precomputed"), linkage(square, metric="precomputed")
    )


def test_what_makes_no_sense_is_refused_with_a_way_out():
    X = points(5, 2)
    with pytest.raises(ValueError, match=r"method='nearest'.*Choose from single"):
        linkage(X, "nearest")
    with pytest.raises(ValueError, match=r"metric='euclid'.*is unknown"):
        linkage(X, metric="euclid")
    with pytest.raises(ValueError, match="Euclidean distance, but metric='cosine'"):
        linkage(X, "ward", "cosine")
    with pytest.raises(ValueError, match="needs centers"):
        linkage(X, "centroid", lambda x, y: 0.0)
    with pytest.raises(ValueError, match="4 numbers, which is no condensed"):
        linkage(np.ones(4))
    with pytest.raises(ValueError, match=r"has shape \(5, 2\)"):
        linkage(X, metric="precomputed")
    with pytest.raises(ValueError, match="at least one row"):
        linkage(np.empty((0, 3)))
    with pytest.raises(TypeError, match="give metric a function"):
        linkage(["a", "b"])
    with pytest.raises(ValueError, match="one string"):
        linkage("abc", metric=lambda a, b: 0.0)
    with pytest.raises(TypeError, match="one number for two objects"):
        linkage(["a", "b"], metric=lambda a, b: "far")
    with pytest.raises(TypeError, match="sparse"):
        linkage(sp.eye_array(4), metric="precomputed")
    with pytest.raises(ValueError, match="does not take sparse rows"):
        linkage(sp.csr_array(X), metric="cityblock")


def test_rows_that_look_like_distances_are_pointed_out():
    with pytest.warns(UserWarning, match="metric='precomputed'"):
        linkage(squareform(pdist(points(5, 2))))


def test_a_table_on_disk_is_refused_and_one_in_memory_is_an_array(tmp_path):
    X = points(300, 2)
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(ValueError, match=r"needs all 300 rows in memory.*compress"):
        linkage(Table.from_npy(tmp_path / "rows.npy"))
    table = Table.from_array(X, block_rows=70)
    np.testing.assert_array_equal(linkage(table), linkage(X))


def test_what_does_not_fit_in_memory_is_refused_before_it_is_tried(monkeypatch):
    monkeypatch.setattr("tacit.core.memory.available_memory", lambda: 1e6)
    with pytest.raises(ValueError, match=r"average linkage of 3,000 rows needs .*compress"):
        linkage(points(3000, 2), "average")
    with pytest.raises(ValueError, match=r"200,000 rows needs 80\.4 GB"):
        linkage(Table.from_array(np.zeros((200_000, 2))), "average")
    assert len(linkage(points(600, 2), "ward")) == 599  # needs next to nothing


# --- Weights, engines, callbacks ---


@pytest.mark.parametrize("method", ["average", "ward", "centroid", "single", "complete"])
@pytest.mark.parametrize("form", ["rows", "distances"])
def test_a_size_of_two_is_the_row_twice(method, form):
    X = points(30, 2)
    sizes = np.random.default_rng(1).integers(1, 4, size=30)
    rows, repeated = X, np.repeat(X, sizes, axis=0)
    metric = "euclidean" if form == "rows" else "precomputed"
    if form == "distances":
        rows, repeated = squareform(pdist(rows)), squareform(pdist(repeated))
    data = check_input(rows, method, metric, Serial())
    Z = build_linkage(data, method, sizes=sizes.astype(float))
    np.testing.assert_allclose(Z[:, 2], linkage(repeated, method, metric)[-29:, 2], rtol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_the_engine_cannot_change_a_bit(metric):
    X = points(700, 80)  # wide enough for a matrix built on the engine
    reference = linkage(X, metric=metric, engine=Serial())
    for engine in (Threads(1), Threads(2), Threads(4)):
        np.testing.assert_array_equal(linkage(X, metric=metric, engine=engine), reference)
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ):
        np.testing.assert_array_equal(linkage(X, metric=metric, engine=Dask()), reference)


def test_callbacks_hear_of_the_merges_and_may_end_it():
    notified = []
    linkage(points(700, 2), callbacks=[lambda step: notified.append(step) and None])
    assert notified[-1].done
    assert notified[-1].number == notified[-1].most == 699
    for method in METHODS:
        with pytest.raises(RuntimeError, match="incomplete tree is no result"):
            linkage(points(50, 2), method, callbacks=[lambda step: True])


# --- Strings ---


def variants(count=20, seed=0):
    """Words as neighbouring villages might say them: small changes of three old forms."""
    rng = np.random.default_rng(seed)
    words = []
    for old in ("kartoffel", "grundbirne", "erdapfel"):
        for _ in range(count):
            letters = list(old)
            for at in rng.choice(len(letters), size=2, replace=False):
                letters[at] = rng.choice(list("aeioukgtdbpfrls"))
            words.append("".join(letters))
    return words


@pytest.mark.parametrize("method", ["average", "complete"])
def test_sixty_dialect_words_fall_into_their_three_old_forms(method):
    words = variants()
    Z = linkage(words, method, levenshtein)
    labels = cut(Z, k=3)
    assert [len(set(labels[i : i + 20])) for i in (0, 20, 40)] == [1, 1, 1]
    assert len(set(labels)) == 3
    matrix = pairwise_strings(words)
    np.testing.assert_array_equal(linkage(matrix, method, "precomputed"), Z)

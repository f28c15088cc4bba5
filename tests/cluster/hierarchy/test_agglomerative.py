"""AgglomerativeClustering: scikit-learn's attributes, graphs, new rows, compression, files."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.cluster import AgglomerativeClustering as SklearnAgglomerative
from sklearn.cluster import ward_tree
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.metrics import adjusted_rand_score

import tacit
from tacit.cluster import AgglomerativeClustering, cut, linkage
from tacit.core import DataError, ModelFileError, Serial, Threads
from tacit.data import Table
from tests.contract.cases import blobs

LINKAGES = ("ward", "complete", "average", "single")
ALL = (*LINKAGES, "weighted", "centroid", "median")


def same_groups(a, b):
    return adjusted_rand_score(a, b) == 1.0


# --- scikit-learn's meaning ---


@pytest.mark.parametrize("linkage", LINKAGES)
def test_labels_and_tree_are_those_of_scikit_learn(linkage):
    X = blobs(300)
    ours = AgglomerativeClustering(4, linkage=linkage).fit(X)
    theirs = SklearnAgglomerative(4, linkage=linkage, compute_distances=True).fit(X)
    assert same_groups(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.distances_, theirs.distances_, rtol=1e-9)
    np.testing.assert_array_equal(ours.children_, np.sort(theirs.children_, axis=1))
    for name in ("n_clusters_", "n_leaves_", "n_connected_components_", "n_features_in_"):
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_threshold_gives_the_clusters_of_scikit_learn(linkage):
    X = blobs(200)
    heights = SklearnAgglomerative(1, linkage=linkage, compute_distances=True).fit(X).distances_
    for threshold in (0.0, float(heights[100]), float(np.median(heights)), 1e9):
        settings = {"n_clusters": None, "linkage": linkage, "distance_threshold": threshold}
        ours = AgglomerativeClustering(**settings).fit(X)
        theirs = SklearnAgglomerative(**settings).fit(X)
        # Heights equal to the threshold are cut, but the last digit is nobody's to promise.
        if threshold not in heights:
            assert ours.n_clusters_ == theirs.n_clusters_
            assert same_groups(ours.labels_, theirs.labels_)
        else:
            assert abs(ours.n_clusters_ - theirs.n_clusters_) <= 1


def test_a_merge_at_the_threshold_is_not_made():
    X = np.array([[0.0], [1.0], [3.0]])
    model = AgglomerativeClustering(None, linkage="single", distance_threshold=2.0).fit(X)
    assert list(model.labels_) == [0, 0, 1]


def test_labels_count_down_by_size():
    X = np.array([[0.0], [10.0], [10.1], [20.0], [20.1], [20.2], [30.0]])
    labels = AgglomerativeClustering(4, linkage="average").fit(X).labels_
    assert list(labels) == [2, 1, 1, 0, 0, 0, 3]


def test_the_linkage_matrix_cuts_to_other_numbers_of_clusters():
    X = blobs(150)
    model = AgglomerativeClustering(3, linkage="average").fit(X)
    np.testing.assert_array_equal(model.linkage_matrix_, linkage(X, "average"))
    for k in (1, 2, 7, 150):
        again = AgglomerativeClustering(k, linkage="average").fit(X)
        np.testing.assert_array_equal(cut(model.linkage_matrix_, k=k), again.labels_)
        np.testing.assert_array_equal(cut(model, k=k), again.labels_)


def test_either_a_number_or_a_threshold():
    with pytest.raises(ValueError, match="either n_clusters or distance_threshold"):
        AgglomerativeClustering(2, distance_threshold=1.0).fit(blobs(10))
    with pytest.raises(ValueError, match="either n_clusters or distance_threshold"):
        AgglomerativeClustering(None).fit(blobs(10))


def test_more_clusters_than_rows_is_an_error_and_as_many_is_not():
    X = blobs(5)
    with pytest.raises(ValueError, match=r"n_clusters=6\).*n_samples=5"):
        AgglomerativeClustering(6).fit(X)
    assert list(AgglomerativeClustering(5).fit(X).labels_) == [0, 1, 2, 3, 4]
    assert list(AgglomerativeClustering(1).fit(X[:1]).labels_) == [0]


def test_rows_all_equal_have_deterministic_labels():
    for method in ALL:
        labels = AgglomerativeClustering(3, linkage=method).fit(np.full((9, 2), 0.1)).labels_
        assert sorted(np.bincount(labels)) == [1, 1, 7]


def test_the_engine_cannot_change_the_answer():
    X = blobs(400, d=70)
    reference = AgglomerativeClustering(3, linkage="average", engine=Serial()).fit(X)
    model = AgglomerativeClustering(3, linkage="average", engine=Threads(3)).fit(X)
    np.testing.assert_array_equal(model.distances_, reference.distances_)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))


# --- Graphs ---


def by_definition(D, graph, linkage):
    """Merge the closest that touch, cubic; then the closest, when nothing touches."""
    members = {i: [i] for i in range(len(D))}

    def apart(a, b):
        between = D[np.ix_(members[a], members[b])]
        if linkage == "ward":
            inside = [(D[np.ix_(members[c], members[c])] ** 2).mean() / 2 for c in (a, b)]
            na, nb = len(members[a]), len(members[b])
            far = (between**2).mean() - sum(inside)
            return np.sqrt(max(0.0, 2 * na * nb / (na + nb) * far))
        return {"single": np.min, "complete": np.max, "average": np.mean}[linkage](between)

    heights = []
    while len(members) > 1:
        pairs = [(a, b) for a in members for b in members if a < b]
        touching = [p for p in pairs if graph[np.ix_(members[p[0]], members[p[1]])].any()]
        height, a, b = min((apart(a, b), a, b) for a, b in (touching or pairs))
        heights.append(height)
        members[a] += members.pop(b)
    return np.array(heights)


def random_graph(n, fraction, seed):
    rng = np.random.default_rng(seed)
    graph = np.triu(rng.random((n, n)) < fraction, 1)
    return graph | graph.T


@pytest.mark.filterwarnings("ignore:.*connected components:UserWarning")
@pytest.mark.filterwarnings("ignore:.*the connectivity graph is in:UserWarning")
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("fraction", [0.02, 0.08, 0.3])
def test_only_what_touches_merges_and_the_closest_first(linkage, fraction):
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(24, 3))
        graph = random_graph(24, fraction, seed)
        reference = by_definition(squareform(pdist(X)), graph, linkage)
        model = AgglomerativeClustering(2, linkage=linkage, connectivity=sp.csr_array(graph))
        np.testing.assert_allclose(model.fit(X).distances_, reference, rtol=1e-9)
        model = AgglomerativeClustering(
            2, linkage=linkage, connectivity=graph, metric="precomputed"
        )
        result = model.fit(squareform(pdist(X))).distances_
        np.testing.assert_allclose(result, reference, rtol=1e-9, atol=1e-9)


def test_ward_along_a_grid_is_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(400, 3))
    graph = grid_to_graph(20, 20)
    children, _, _, _, distances = ward_tree(X, connectivity=graph, return_distance=True)
    model = AgglomerativeClustering(5, connectivity=graph).fit(X)
    np.testing.assert_allclose(model.distances_, distances, rtol=1e-9)
    np.testing.assert_array_equal(model.children_, np.sort(children, axis=1))


def test_clusters_along_a_graph_hang_together():
    X = np.random.default_rng(1).normal(size=(100, 2))
    graph = sp.csr_array(grid_to_graph(10, 10))
    for method in LINKAGES:
        model = AgglomerativeClustering(6, linkage=method, connectivity=graph).fit(X)
        for c in range(6):
            inside = np.flatnonzero(model.labels_ == c)
            part = graph[inside][:, inside]
            assert sp.csgraph.connected_components(part, return_labels=False) == 1


@pytest.mark.parametrize("linkage", ALL)
def test_a_graph_that_joins_everything_changes_nothing(linkage):
    X = np.random.default_rng(2).normal(size=(60, 3))
    free = AgglomerativeClustering(3, linkage=linkage).fit(X)
    joined = AgglomerativeClustering(3, linkage=linkage, connectivity=np.ones((60, 60))).fit(X)
    np.testing.assert_allclose(joined.distances_, free.distances_, rtol=1e-9)
    np.testing.assert_array_equal(joined.children_, free.children_)


def test_more_components_than_clusters_is_a_warning():
    X = blobs(20)
    graph = sp.block_diag([np.ones((5, 5))] * 4)
    with pytest.warns(UserWarning, match=r"4 connected components, more than n_clusters=2"):
        model = AgglomerativeClustering(2, connectivity=graph).fit(X)
    assert model.n_connected_components_ == 4
    model = AgglomerativeClustering(4, connectivity=graph).fit(X)  # as many: no warning
    assert [len(set(model.labels_[i : i + 5])) for i in range(0, 20, 5)] == [1] * 4


def test_a_graph_may_be_a_function_and_must_fit():
    X = blobs(30)
    model = AgglomerativeClustering(2, connectivity=lambda X: np.ones((len(X), len(X)))).fit(X)
    assert model.n_connected_components_ == 1
    with pytest.raises(ValueError, match=r"shape \(4, 4\), but 30 rows need \(30, 30\)"):
        AgglomerativeClustering(2, connectivity=np.ones((4, 4))).fit(X)


# --- New rows ---


@pytest.mark.parametrize("linkage", ALL)
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_new_rows_go_where_the_linkage_finds_them_closest(linkage, metric):
    X, new = blobs(60, d=2, k=3), blobs(40, d=2, k=3, seed=9)
    reference = AgglomerativeClustering(4, linkage=linkage).fit(X)
    labels, Z = reference.labels_, reference.linkage_matrix_
    far = cdist(new, X)
    scores = np.empty((len(new), 4))
    for c in range(4):
        inside = np.flatnonzero(labels == c)
        weights = np.full(len(inside), 1 / len(inside))
        if linkage in ("weighted", "median"):
            weights = np.array([halves(Z, labels, i) for i in inside])
        near = far[:, inside]
        center = weights @ X[inside]
        to_center = ((new - center) ** 2).sum(axis=1)
        scores[:, c] = {
            "single": near.min(axis=1),
            "complete": near.max(axis=1),
            "average": near.mean(axis=1),
            "weighted": near @ weights,
            "centroid": to_center,
            "median": to_center,
            "ward": to_center * len(inside) / (len(inside) + 1),
        }[linkage]
    if metric == "euclidean":
        result = reference.predict(new)
    else:
        model = AgglomerativeClustering(4, linkage=linkage, metric="precomputed")
        model.fit(squareform(pdist(X)))
        np.testing.assert_array_equal(model.labels_, labels)
        result = model.predict(far)
    np.testing.assert_array_equal(result, scores.argmin(axis=1))


def halves(Z, labels, leaf):
    """A half for every merge above a leaf inside its cluster."""
    n, node, fraction = len(Z) + 1, leaf, 1.0
    members = [[i] for i in range(n)]
    for s, (a, b, _, _) in enumerate(Z):
        members.append(members[int(a)] + members[int(b)])
        if node in (a, b) and len(set(labels[members[-1]])) == 1:
            node, fraction = n + s, fraction / 2
    return fraction


@pytest.mark.parametrize("metric", ["cosine", "sqeuclidean", "cityblock"])
def test_prediction_speaks_the_metric_of_the_fit(metric):
    X, new = np.abs(blobs(80, d=4)), np.abs(blobs(30, d=4, seed=5))
    model = AgglomerativeClustering(3, linkage="average", metric=metric).fit(X)
    far = cdist(new, X, metric)
    means = np.stack([far[:, model.labels_ == c].mean(axis=1) for c in range(3)])
    np.testing.assert_array_equal(model.predict(new), means.argmin(axis=0))
    if metric != "cityblock":
        sparse = AgglomerativeClustering(3, linkage="average", metric=metric)
        sparse.fit(sp.csr_array(X))
        np.testing.assert_array_equal(sparse.labels_, model.labels_)
        np.testing.assert_array_equal(sparse.predict(sp.csr_array(new)), model.predict(new))


def test_strings_are_clustered_and_predicted_by_a_function():
    def differ(a, b):
        return sum(x != y for x, y in zip(a, b, strict=True))

    words = ["aaaa", "aaab", "zzzz", "zzzy", "aabb"]
    model = AgglomerativeClustering(2, linkage="average", metric=differ).fit(words)
    assert list(model.labels_) == [0, 0, 1, 1, 0]
    assert list(model.predict(["abbb", "zzyy"])) == [0, 1]


def test_bad_new_rows_are_named():
    model = AgglomerativeClustering(2).fit(blobs(20))
    bad = blobs(3)
    bad[1, 4] = np.nan
    with pytest.raises(DataError, match="row 1, column 4"):
        model.predict(bad)
    with pytest.raises(ValueError, match="features"):
        model.predict(np.ones((2, 3)))


# --- Compression ---


@pytest.mark.parametrize("linkage", ["ward", "average", "single"])
def test_compressed_rows_give_nearly_the_clusters_of_all_rows(linkage):
    X = blobs(2000, k=4, seed=3)
    complete = AgglomerativeClustering(4, linkage="ward").fit(X)
    model = AgglomerativeClustering(4, linkage=linkage, compress=100, random_state=0).fit(X)
    assert model.n_leaves_ == 100
    assert len(model.labels_) == 2000
    assert adjusted_rand_score(complete.labels_, model.labels_) > 0.97
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_compression_takes_a_table_and_gives_the_same_tree(tmp_path):
    X = blobs(3000, k=4)
    np.save(tmp_path / "rows.npy", X)
    settings = {"n_clusters": 4, "compress": 50, "random_state": 0}
    array = AgglomerativeClustering(**settings).fit(X)
    table = Table.from_npy(tmp_path / "rows.npy", block_rows=500)
    model = AgglomerativeClustering(**settings).fit(table)
    np.testing.assert_array_equal(model.linkage_matrix_, array.linkage_matrix_)
    assert not hasattr(model, "labels_")
    np.testing.assert_array_equal(model.predict(table), array.labels_)


def test_compression_needs_rows_to_compress():
    X = blobs(40)
    model = AgglomerativeClustering(3, compress=100).fit(X)
    assert model.n_leaves_ == 40
    assert not hasattr(model, "compressor_")
    with pytest.raises(ValueError, match="metric='euclidean'"):
        AgglomerativeClustering(2, linkage="average", metric="cosine", compress=10).fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_compression_of_few_distinct_rows():
    X = np.repeat(np.arange(6.0), 50)[:, None]
    model = AgglomerativeClustering(3, compress=20, random_state=0).fit(X)
    assert model.n_leaves_ == 6
    assert len(set(model.labels_)) == 3


def test_rows_on_disk_are_refused_without_compression(tmp_path):
    np.save(tmp_path / "rows.npy", blobs(500))
    table = Table.from_npy(tmp_path / "rows.npy")
    with pytest.raises(ValueError, match=r"all 500 rows in memory.*compress=1000"):
        AgglomerativeClustering(2, linkage="complete").fit(table)
    model = AgglomerativeClustering(2).fit(blobs(500))
    np.testing.assert_array_equal(model.predict(table), model.predict(blobs(500)))


def test_more_rows_than_memory_are_refused_without_compression(monkeypatch):
    monkeypatch.setattr("tacit.core.memory.available_memory", lambda: 1e9)
    table = Table.from_array(np.zeros((1_000_000, 4)))
    with pytest.raises(ValueError, match=r"1,000,000 rows.*compress=1000"):
        AgglomerativeClustering(2, linkage="complete").fit(table)


# --- Files ---


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"linkage": "average"},
        {"linkage": "median"},
        {"linkage": "weighted", "metric": "cosine"},
        {"compress": 20, "random_state": 0},
        {"n_clusters": None, "distance_threshold": 5.0},
    ],
    ids=str,
)
def test_a_saved_model_predicts_the_same(settings, tmp_path):
    X, new = blobs(80), blobs(20, seed=4)
    model = AgglomerativeClustering(**settings).fit(X)
    model.save(tmp_path / "tree.safetensors")
    loaded = tacit.load(tmp_path / "tree.safetensors")
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_array_equal(loaded.linkage_matrix_, model.linkage_matrix_)
    np.testing.assert_array_equal(loaded.labels_, model.labels_)


def test_precomputed_and_sparse_models_are_saved_too(tmp_path):
    X = np.abs(blobs(60))
    far = squareform(pdist(X))
    for rows, settings in [
        (far, {"metric": "precomputed", "linkage": "ward"}),
        (far, {"metric": "precomputed", "linkage": "average"}),
        (sp.csr_array(X), {"metric": "cosine", "linkage": "average"}),
    ]:
        model = AgglomerativeClustering(3, **settings).fit(rows)
        model.save(tmp_path / "tree.safetensors")
        loaded = tacit.load(tmp_path / "tree.safetensors")
        np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))


def test_a_file_whose_tree_is_no_tree_is_refused(tmp_path):
    model = AgglomerativeClustering(2).fit(blobs(20))
    model.children_[5] = model.children_[4]
    model.save(tmp_path / "tree.safetensors")
    with pytest.raises(ModelFileError, match="the tree: row 5 merges cluster"):
        tacit.load(tmp_path / "tree.safetensors")


@pytest.mark.parametrize("value", [2**40, -1, -(2**62), 25, 45])
def test_a_file_whose_merges_name_clusters_that_do_not_exist_is_refused(value, tmp_path):
    model = AgglomerativeClustering(2).fit(blobs(20))
    model.children_[5, 0] = value  # row 5 may merge 0 to 24
    model.save(tmp_path / "tree.safetensors")
    with pytest.raises(ModelFileError, match="clusters that do not exist"):
        tacit.load(tmp_path / "tree.safetensors")


def test_a_model_with_a_function_cannot_be_saved_and_says_why(tmp_path):
    model = AgglomerativeClustering(2, linkage="single", metric=lambda a, b: abs(a - b))
    model.fit([1, 2, 9])
    with pytest.raises(TypeError, match="metric"):
        model.save(tmp_path / "tree.safetensors")

"""Divisive clustering: DIANA against its book and R, bisecting k-means against itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.cluster import BisectingKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import tacit
from tacit.cluster import DivisiveClustering, check_linkage, cut, leaves
from tacit.cluster.hierarchy.divisive import diana
from tacit.core import ModelFileError, Serial, Threads
from tacit.data import Table
from tests.contract.cases import blobs

# --- DIANA ---

# Share of agriculture in product and in employment of twelve countries, the example of the
# book: Belgium, Denmark, Germany, Greece, Spain, France, Ireland, Italy, Luxembourg, the
# Netherlands, Portugal, the United Kingdom.
COUNTRIES = ["B", "DK", "D", "GR", "E", "F", "IRL", "I", "L", "NL", "P", "UK"]
AGRICULTURE = np.array(
    [
        (16.8, 2.7), (21.3, 5.7), (18.7, 3.5), (5.9, 22.2), (11.4, 10.9), (17.8, 6.0),
        (10.9, 14.0), (16.6, 8.5), (21.0, 3.5), (16.4, 4.3), (7.8, 17.4), (14.0, 2.3),
    ]
)  # fmt: skip


def test_diana_of_the_books_example_is_that_of_r():
    Z = diana(squareform(pdist(AGRICULTURE)))
    from_r = [
        1.64924, 2.43516, 4.85077, 6.72309, 2.77308, 8.05295, 2.22036, 24.03539, 5.16236,
        12.56742, 3.14006,
    ]  # fmt: skip
    np.testing.assert_allclose(Z[:, 2], np.sort(from_r), atol=5e-6)
    south = {"GR", "P", "E", "IRL"}
    labels = cut(Z, k=2)
    assert {c for c, label in zip(COUNTRIES, labels, strict=True) if label == 1} == south
    # The divisive coefficient: how far below the top, on average, rows come to stand alone.
    alone = [min(h for a, b, h, _ in Z if i in (a, b)) for i in range(12)]
    assert 1 - np.mean(alone) / Z[-1, 2] == pytest.approx(0.871106, abs=1e-6)


def diana_by_the_book(D, members):
    """Splits as a set of (members, height), recomputing every mean."""
    if len(members) < 2:
        return set()
    stay, left = list(members), []
    while len(stay) > 1:
        gains = []
        for i in stay:
            expected = np.mean([D[i, j] for j in stay if j != i])
            gains.append(expected - (np.mean([D[i, j] for j in left]) if left else 0.0))
        if left and max(gains) <= 1e-12:
            break
        left.append(stay.pop(int(np.argmax(gains))))
    height = max(D[i, j] for i in members for j in members)
    here = {(tuple(sorted(members)), round(height, 9))}
    return here | diana_by_the_book(D, stay) | diana_by_the_book(D, left)


def splits_of(Z):
    n = len(Z) + 1
    members = [(i,) for i in range(n)]
    for a, b, _, _ in Z:
        members.append(tuple(sorted(members[int(a)] + members[int(b)])))
    return {(members[n + s], round(Z[s, 2], 9)) for s in range(n - 1)}


@pytest.mark.parametrize("seed", range(5))
def test_diana_makes_the_splits_of_the_book(seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    D = squareform(pdist(X))
    Z = diana(D)
    assert splits_of(Z) == diana_by_the_book(D, list(range(30)))
    assert (np.diff(Z[:, 2]) >= 0).all()
    check_linkage(Z, monotone=True)


def test_diana_takes_any_metric():
    X = blobs(60, k=3)
    rows = DivisiveClustering(3, method="diana", metric="cityblock").fit(X)
    D = cdist(X, X, "cityblock")
    distances = DivisiveClustering(3, method="diana", metric="precomputed").fit(D)
    np.testing.assert_array_equal(rows.linkage_matrix_, distances.linkage_matrix_)
    np.testing.assert_array_equal(rows.predict(X), distances.predict(D))
    words = ["aaa", "aab", "zzz", "zzy"]
    model = DivisiveClustering(
        2, method="diana", metric=lambda a, b: sum(map(str.__ne__, a, b))
    )
    assert list(model.fit(words).labels_) == [0, 0, 1, 1]
    assert list(model.predict(["abb", "yyy"])) == [0, 1]


def test_diana_of_equal_rows():
    model = DivisiveClustering(3, method="diana").fit(np.full((7, 2), 0.1))
    assert (model.linkage_matrix_[:, 2] == 0).all()
    assert sorted(np.bincount(model.labels_)) == [1, 1, 5]
    assert list(leaves(model.linkage_matrix_)) != []


# --- Bisecting k-means ---


def inertia(X, labels):
    return sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in set(labels))


@pytest.mark.parametrize("strategy", ["biggest_inertia", "largest_cluster"])
def test_bisecting_is_as_good_as_scikit_learns(strategy):
    X = blobs(900, k=6, seed=5)
    ours = DivisiveClustering(6, bisecting_strategy=strategy, random_state=0).fit(X)
    theirs = BisectingKMeans(6, bisecting_strategy=strategy, n_init=3, random_state=0).fit(X)
    assert ours.inertia_ <= 1.02 * theirs.inertia_
    assert ours.inertia_ == pytest.approx(inertia(X, ours.labels_), rel=1e-9)
    for c in range(6):
        np.testing.assert_allclose(
            ours.cluster_centers_[c], X[ours.labels_ == c].mean(axis=0), rtol=1e-9
        )


def test_the_tree_of_bisections_is_a_linkage_matrix_over_the_clusters():
    X = blobs(500, k=5)
    fine = DivisiveClustering(8, random_state=1).fit(X)
    Z = check_linkage(fine.linkage_matrix_, monotone=True)
    assert Z.shape == (7, 4)
    top = Z[-1, 2]
    assert top == pytest.approx(np.sqrt(((X - X.mean(axis=0)) ** 2).sum()), rel=1e-9)
    # With the same seed a shorter run stops earlier on the same way: its clusters are cuts.
    coarse = DivisiveClustering(4, random_state=1).fit(X)
    assert adjusted_rand_score(coarse.labels_, cut(Z, k=4)[fine.labels_]) == 1.0


def test_the_rows_of_the_fit_are_predicted_as_they_were_labeled():
    X = blobs(600, k=5, seed=2)
    for rows in (X, X.astype(np.float32), sp.csr_array(np.abs(X))):
        model = DivisiveClustering(7, random_state=0).fit(rows)
        np.testing.assert_array_equal(model.predict(rows), model.labels_)


def test_the_same_seed_gives_the_same_tree_on_any_engine():
    X = blobs(2000)
    models = [
        DivisiveClustering(5, random_state=3, engine=engine).fit(X)
        for engine in (Serial(), Threads(2), Threads(4))
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.linkage_matrix_, models[0].linkage_matrix_)
        np.testing.assert_array_equal(model.labels_, models[0].labels_)


def test_rows_that_are_all_equal_cannot_be_split():
    with pytest.warns(ConvergenceWarning, match="only 1 clusters, because.*1 distinct rows"):
        model = DivisiveClustering(3).fit(np.ones((5, 2)))
    assert list(model.labels_) == [0] * 5
    assert model.linkage_matrix_.shape == (0, 4)
    assert list(model.predict(np.zeros((2, 2)))) == [0, 0]
    X = np.repeat([[0.0], [5.0], [9.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 3 clusters"):
        model = DivisiveClustering(6, random_state=0).fit(X)
    assert sorted(np.bincount(model.labels_)) == [4, 4, 4]


def test_as_many_clusters_as_rows():
    X = np.array([[0.0], [1.0], [3.0]])
    assert sorted(DivisiveClustering(3, random_state=0).fit(X).labels_) == [0, 1, 2]
    with pytest.raises(ValueError, match=r"n_clusters=4\).*n_samples=3"):
        DivisiveClustering(4).fit(X)


def test_rows_on_disk_and_unfit_metrics_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"metric='cosine'\. Use method='diana'"):
        DivisiveClustering(2, metric="cosine").fit(blobs(10))
    np.save(tmp_path / "rows.npy", blobs(2000))
    table = Table.from_npy(tmp_path / "rows.npy")
    for method in ("bisecting", "diana"):
        with pytest.raises(ValueError, match=r"2,000 rows in memory.*compress"):
            DivisiveClustering(2, method=method).fit(table)


def test_what_does_not_fit_in_memory_is_refused_before_it_is_tried(monkeypatch):
    monkeypatch.setattr("tacit.core.memory.available_memory", lambda: 1e9)
    table = Table.from_array(np.zeros((100_000, 2)))
    with pytest.raises(ValueError, match=r"100,000 rows needs 100 GB.*compress"):
        DivisiveClustering(2, method="diana").fit(table)


@pytest.mark.parametrize("method", ["bisecting", "diana"])
def test_a_saved_model_predicts_the_same(method, tmp_path):
    X, new = blobs(90), blobs(30, seed=8)
    model = DivisiveClustering(4, method=method, random_state=0).fit(X)
    model.save(tmp_path / "tree.safetensors")
    loaded = tacit.load(tmp_path / "tree.safetensors")
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_array_equal(loaded.linkage_matrix_, model.linkage_matrix_)


def test_a_file_whose_splits_go_in_circles_is_refused(tmp_path):
    model = DivisiveClustering(4, random_state=0).fit(blobs(90))
    inner = np.argwhere(model._parts < 0)[0]
    model._parts[tuple(inner)] = -1
    model.save(tmp_path / "tree.safetensors")
    with pytest.raises(ModelFileError, match="splits do not make a tree"):
        tacit.load(tmp_path / "tree.safetensors")


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:KMeans.*could fill only")
def test_rows_whose_squared_distances_vanish_are_refused():
    with pytest.raises(ValueError, match=r"squared distances are 0\. Rescale it"):
        DivisiveClustering(3, random_state=0).fit(blobs(30) * 1e-300)

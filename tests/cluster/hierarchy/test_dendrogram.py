"""Trees: checking a given one, cutting, leaves and their best order, heights, Newick."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

from tacit.cluster import (
    check_linkage,
    cophenetic,
    cophenetic_correlation,
    cut,
    from_newick,
    leaves,
    linkage,
    optimal_order,
    to_newick,
)
from tacit.cluster.hierarchy.dendrogram import is_monotone
from tacit.cluster.hierarchy.inputs import METHODS


def tree(n, method="average", seed=0, d=3):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return linkage(X, method), X


# --- Checking ---


@pytest.mark.parametrize("method", METHODS)
def test_our_trees_and_those_of_scipy_are_accepted(method):
    Z, X = tree(60, method)
    assert hierarchy.is_valid_linkage(Z)
    np.testing.assert_array_equal(check_linkage(Z), Z)
    theirs = hierarchy.linkage(X, method)
    np.testing.assert_array_equal(check_linkage(theirs), theirs)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((3, 2), np.nan, "row 3 holds .*nan.*finite"),
        ((2, 0), 0.5, "row 2 names the clusters 0.5 and"),
        ((0, 1), 12, "row 0 merges cluster 12, but only 0 to 9 exist"),
        ((0, 0), -1, "row 0 merges cluster -1"),
        ((4, 2), -2.0, "row 4 merges at height -2"),
        ((5, 3), 7, "row 5 gives its cluster 7 leaves, but it has"),
    ],
)
def test_an_error_names_what_is_wrong_with_a_tree(place, value, message):
    Z, _ = tree(10)
    Z[place] = value
    with pytest.raises(ValueError, match=message):
        check_linkage(Z)


def test_a_cluster_is_merged_once():
    with pytest.raises(ValueError, match="cluster 1, which row 0 has merged already"):
        cut([[0, 1, 1.0, 2], [1, 2, 2.0, 2]], k=1)
    with pytest.raises(ValueError, match="cluster 2 with itself"):
        cut([[0, 1, 1.0, 2], [2, 2, 2.0, 2]], k=1)


def test_shapes_and_types_are_checked():
    with pytest.raises(ValueError, match=r"shape \(3, 3\)"):
        leaves(np.zeros((3, 3)))
    with pytest.raises(TypeError, match="array of numbers"):
        leaves([["a", "b", "c", "d"]])


def test_a_tree_that_falls_can_be_refused():
    Z = linkage(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]]), "centroid")
    assert not is_monotone(Z)
    with pytest.raises(ValueError, match=r"row 1 merges at height 0\.9, below"):
        check_linkage(Z, monotone=True)


# --- Cutting ---


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted", "ward"])
def test_cuts_are_those_of_scipy(method):
    Z, _ = tree(80, method)
    for k in (1, 2, 3, 10, 79, 80):
        ours, theirs = cut(Z, k=k), hierarchy.fcluster(Z, k, "maxclust")
        assert len(set(ours)) == k
        assert len(set(zip(ours, theirs, strict=True))) == k
    for height in (0.0, Z[0, 2], Z[40, 2], np.mean(Z[:, 2]), Z[-1, 2], 1e9):
        ours, theirs = cut(Z, height=height), hierarchy.fcluster(Z, height, "distance")
        pairs = set(zip(ours, theirs, strict=True))
        assert len(pairs) == len(set(ours)) == len(set(theirs))


def test_a_cut_through_a_tree_that_falls_keeps_what_is_low_all_the_way_down():
    Z = linkage(np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9], [5.0, 5.0]]), "centroid")
    assert list(cut(Z, height=0.95)) == [0, 1, 2, 3]  # the merge at 0.9 holds one at 1
    assert list(cut(Z, height=1.0)) == [0, 0, 0, 1]


@settings(deadline=None, max_examples=30)
@given(n=st.integers(2, 40), seed=st.integers(0, 99), fraction=st.floats(0, 1))
def test_labels_are_numbered_by_size_then_by_first_leaf(n, seed, fraction):
    Z, _ = tree(n, seed=seed)
    labels = cut(Z, k=1 + int(fraction * (n - 1)))
    sizes = np.bincount(labels)
    firsts = [int(np.argmax(labels == c)) for c in range(len(sizes))]
    ranks = sorted(range(len(sizes)), key=lambda c: (-sizes[c], firsts[c]))
    assert ranks == list(range(len(sizes)))


def test_a_cut_needs_one_number():
    Z, _ = tree(5)
    for wrong in ({}, {"k": 2, "height": 1.0}, {"k": 2.0}, {"k": True}, {"height": "1"}):
        with pytest.raises(TypeError):
            cut(Z, **wrong)
    for k in (0, 6):
        with pytest.raises(ValueError, match="between 1 and the number of leaves, 5"):
            cut(Z, k=k)


# --- Leaves and heights ---


@pytest.mark.parametrize("n", [2, 3, 50, 400])
def test_leaves_and_cophenetic_distances_are_those_of_scipy(n):
    for method in ("average", "single", "centroid"):
        Z, X = tree(n, method)
        np.testing.assert_array_equal(leaves(Z), hierarchy.leaves_list(Z))
        np.testing.assert_array_equal(cophenetic(Z), hierarchy.cophenet(Z))
        if n > 2:
            expected = hierarchy.cophenet(Z, pdist(X))[0]
            assert cophenetic_correlation(Z, X) == pytest.approx(expected, rel=1e-12)
            assert cophenetic_correlation(Z, pdist(X)) == pytest.approx(expected, rel=1e-12)


def test_a_tree_without_shape_has_no_correlation():
    with pytest.warns(UserWarning, match="all the same"):
        assert cophenetic_correlation(linkage(np.ones((4, 2))), np.ones((4, 2))) == 0.0
    with pytest.raises(ValueError, match="4 leaves, but the data 5 rows"):
        cophenetic_correlation(linkage(np.eye(4)[:, :3]), np.ones((5, 2)))


def walk(Z, D):
    order = hierarchy.leaves_list(Z)
    return D[order[:-1], order[1:]].sum()


@pytest.mark.parametrize("seed", range(8))
def test_no_swapping_of_sides_beats_the_optimal_order(seed):
    Z, X = tree(9, ("average", "ward", "single")[seed % 3], seed)
    D = squareform(pdist(X))
    best = np.inf
    for bits in itertools.product([False, True], repeat=8):
        turned = Z.copy()
        turned[list(bits), :2] = turned[list(bits), 1::-1]
        best = min(best, walk(turned, D))
    assert walk(optimal_order(Z, X), D) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 5, 150])
def test_the_optimal_order_is_of_the_same_tree_and_no_worse_than_scipys(n):
    Z, X = tree(n, "ward")
    D = squareform(pdist(X))
    ordered = optimal_order(Z, X)
    np.testing.assert_array_equal(np.sort(ordered[:, :2], axis=1), Z[:, :2])
    np.testing.assert_array_equal(ordered[:, 2:], Z[:, 2:])
    assert walk(ordered, D) <= walk(hierarchy.optimal_leaf_ordering(Z, pdist(X)), D) + 1e-9
    np.testing.assert_array_equal(optimal_order(Z, D, "precomputed"), ordered)


# --- Newick ---


NASTY = [
    "plain", "two words", "it's", "a_b", "(x)", "[y]", "a,b", "c:d", "e;f", "", "\t", "ö é",
    "'", "line\nbreak", '"q"', "漢字", "-1.5",
]  # fmt: skip


@pytest.mark.parametrize("method", ["average", "single", "centroid"])
def test_newick_comes_back_as_the_same_tree(method):
    Z, _ = tree(len(NASTY), method)
    again, names = from_newick(to_newick(Z, NASTY))
    assert sorted(names) == sorted(NASTY)
    place = [names.index(name) for name in NASTY]
    before, after = squareform(cophenetic(Z)), squareform(cophenetic(again))
    np.testing.assert_allclose(after[np.ix_(place, place)], before, rtol=1e-12)


@settings(deadline=None, max_examples=50)
@given(names=st.lists(st.text(max_size=8), min_size=1, max_size=6))
def test_any_name_survives_newick(names):
    Z = linkage(np.arange(len(names), dtype=float)[:, None] ** 2)
    _, result = from_newick(to_newick(Z, names))
    assert sorted(result) == sorted(names)


def test_newick_of_a_chain_of_thousands_needs_no_recursion():
    n = 5000
    Z, _ = from_newick(to_newick(linkage(np.cumsum(np.arange(n))[:, None] * 1.0, "single")))
    assert len(Z) == n - 1


def test_newick_from_elsewhere():
    Z, names = from_newick("(A:0.3,(B:0.1,C:0.1)90:0.2[&&NHX],\n D:0.3)root;")
    assert names == ["A", "B", "C", "D"]
    np.testing.assert_allclose(Z, [[1, 2, 0.1, 2], [0, 4, 0.3, 3], [3, 5, 0.3, 4]])
    Z, names = from_newick("((Homo_sapiens,Pan),'Gorilla g.');")
    assert names == ["Homo sapiens", "Pan", "Gorilla g."]
    np.testing.assert_array_equal(Z[:, 2], [1, 2])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "before a semicolon"),
        ("(a,b)", "before a semicolon"),
        ("(a,b;", "1 parentheses still open"),
        ("(a,b));", "column 6 has '\\)' outside"),
        ("(a,\n,b);", "line 2, column 1 has ',' where a leaf"),
        ("('a,b);", "never closed"),
        ("(a[,b);", "never closed"),
        ("(a:x,b:1);", "'x' where the length"),
        ("(a:inf,b:1);", "'inf' where the length"),
        ("(a:1,b:);", "where the length"),
        ("(a:1,b);", "1 of 2 branches have no length"),
        ("(a:1,b:2);", "equally far from the root"),
        ("(a b,c);", "where a comma"),
        ("(a,b)(c,d);", "where a comma"),
    ],
)
def test_an_error_names_what_is_wrong_with_newick(text, message):
    with pytest.raises(ValueError, match=message):
        from_newick(text)


def test_names_must_be_as_many_as_leaves():
    with pytest.raises(ValueError, match="needs 5 names, one per leaf, but got 2"):
        to_newick(tree(5)[0], ["a", "b"])

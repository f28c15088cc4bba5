"""Tree edit distance: against the definition by recursion, and examples known from papers."""

import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.text import EditCosts, levenshtein, tree_distance, tree_edit_distance

leaf = st.tuples(st.sampled_from("abc"), st.just(()))
trees = st.recursive(
    leaf,
    lambda inner: st.tuples(st.sampled_from("abc"), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=6,
)


def by_recursion(a, b, delete=1, insert=1, substitute=1):
    """The definition, on forests: take away the last root of either, or match both."""

    @cache
    def distance(left, right):
        if not left and not right:
            return 0
        ways = []
        if left:
            label, children = left[-1]
            ways.append(distance(left[:-1] + children, right) + delete)
        if right:
            label, children = right[-1]
            ways.append(distance(left, right[:-1] + children) + insert)
        if left and right:
            (label, inside), (other, within) = left[-1], right[-1]
            ways.append(
                distance(inside, within)
                + distance(left[:-1], right[:-1])
                + substitute * (label != other)
            )
        return min(ways)

    return distance((a,) if a else (), (b,) if b else ())


@given(trees, trees)
@settings(max_examples=150, deadline=None)
def test_the_distance_is_what_the_definition_says(a, b):
    assert tree_edit_distance(a, b) == by_recursion(a, b)
    costs = EditCosts(insert=0.5, delete=0.75, substitute=1.125)
    assert tree_edit_distance(a, b, costs=costs) == by_recursion(a, b, 0.75, 0.5, 1.125)


@given(trees, trees, trees)
@settings(max_examples=80, deadline=None)
def test_it_is_a_metric(a, b, c):
    assert tree_edit_distance(a, b) == tree_edit_distance(b, a)
    assert (tree_edit_distance(a, b) == 0) == (a == b)
    assert tree_edit_distance(a, c) <= tree_edit_distance(a, b) + tree_edit_distance(b, c)


@given(trees, trees)
@settings(max_examples=80, deadline=None)
def test_mirrored_trees_are_as_far_apart(a, b):
    def mirror(node):
        return (node[0], tuple(mirror(child) for child in reversed(node[1])))

    assert tree_edit_distance(mirror(a), mirror(b)) == tree_edit_distance(a, b)


def test_the_example_of_zhang_and_shasha():
    a = ("f", [("d", ["a", ("c", ["b"])]), "e"])
    b = ("f", [("c", [("d", ["a", "b"])]), "e"])
    assert tree_edit_distance(a, b) == 2
    assert tree_edit_distance("(f (d a (c b)) e)", "(f (c (d a b)) e)") == 2


def test_sentences():
    base = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"
    assert tree_edit_distance(base, base) == 0
    assert tree_edit_distance(base, base.replace("the", "a")) == 1
    assert tree_edit_distance(base, f"( {base} )") == 1  # a bracket around it
    assert tree_edit_distance(base, "(S (NP (NN dog)) (VP (VBZ barks)))") == 2


def test_flat_trees_are_strings():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = ("".join(rng.choice(list("abc"), rng.integers(1, 15))) for _ in range(2))
        assert tree_edit_distance(("r", list(a)), ("r", list(b))) == levenshtein(a, b)


def path(n, label="a"):
    tree = (label, [])
    for _ in range(n - 1):
        tree = (label, [tree])
    return tree


def test_paths_are_strings_and_may_be_deeper_than_pythons_stack():
    deep = path(10_000)
    assert sys.getrecursionlimit() < 10_000
    assert tree_edit_distance(deep, path(50)) == 9_950
    assert tree_edit_distance(deep, None) == 10_000
    brackets = "(a " * 9_999 + "a" + ")" * 9_999
    assert tree_edit_distance(brackets, path(30, "b")) == 10_000
    assert tree_edit_distance("(a (b (c d)))", "(a (c d))") == levenshtein("abcd", "acd")


def test_trees_that_branch_to_one_side_are_read_from_the_cheaper_one():
    right, left = "z", "z"
    for _ in range(300):
        right, left = ("n", ["a", right]), ("n", [left, "a"])
    for tree in (right, left):
        flat = tree_distance.flatten(tree, "a")
        works = sorted((flat.work(False), flat.work(True)))
        assert works[0] < 1_000 < 40_000 < works[1]
        assert tree_edit_distance(tree, ("n", ["a", tree])) == 2


def test_calls_that_return_early_give_the_same(monkeypatch):
    rng = np.random.default_rng(1)

    def grow(n):
        return (str(rng.integers(3)), [grow(n // 3) for _ in range(3)] if n > 1 else [])

    a, b = grow(40), grow(60)
    expected = tree_edit_distance(a, b)
    monkeypatch.setattr(tree_distance, "CALL_WORK", 50)
    assert tree_edit_distance(a, b) == expected


def test_costs_by_label():
    costs = EditCosts(
        delete={"JJ": 0.25}, insert={"JJ": 0.5}, substitute={("NN", "NNS"): 0.125}, other=4
    )
    assert tree_edit_distance("(NP (JJ) (NN))", "(NP (NN))", costs=costs) == 0.25
    assert tree_edit_distance("(NP (NN))", "(NP (JJ) (NN))", costs=costs) == 0.5
    assert tree_edit_distance("(NP (NN))", "(NP (NNS))", costs=costs) == 0.125
    assert tree_edit_distance("(NP (NNS))", "(NP (NN))", costs=costs) == 4


def test_empty_trees():
    assert tree_edit_distance(None, None) == 0
    assert tree_edit_distance(None, "(a b)") == 2
    assert tree_edit_distance("(a b)", None, costs=EditCosts(delete=0.5)) == 1.0
    assert tree_edit_distance("()", "()") == 0


@pytest.mark.parametrize(
    ("tree", "kind", "words"),
    [
        ("(a (b)", ValueError, "character 0 is never closed"),
        ("(a))", ValueError, "character 3 closes nothing"),
        ("(a) (b)", ValueError, "ends before character 4"),
        ("  ", ValueError, "no tree"),
        (("a", "bc"), TypeError, "Node 0 of a"),
        (("a", [("b", [], 1)]), TypeError, "Node 1 of a"),
        (("a", [({}, [])]), TypeError, "hashable"),
    ],
)
def test_what_is_no_tree_is_refused(tree, kind, words):
    with pytest.raises(kind, match=words):
        tree_edit_distance(tree, "(a)")


def test_costs_that_mean_nothing_for_trees_are_refused():
    with pytest.raises(ValueError, match="delete a label after"):
        tree_edit_distance("(a)", "(b)", costs=EditCosts(delete={("a", "b"): 1}))
    with pytest.raises(TypeError, match="must be EditCosts"):
        tree_edit_distance("(a)", "(b)", costs=1)


def test_trees_too_large_for_memory_are_refused(monkeypatch):
    monkeypatch.setattr(tree_distance, "MOST_BYTES", 1_000)
    with pytest.raises(ValueError, match="Compare subtrees"):
        tree_edit_distance(path(100), path(100))

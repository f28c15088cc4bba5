"""The tree of groups: planted hierarchies are found, dealt words give none."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from tacit.core import Serial, Threads
from tacit.explore import explore_documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.questions.exports import write_groups
from tacit.explore.questions.reader import ProjectReader
from tacit.explore.stages import group_tree, groups
from tacit.explore.stages.group_tree import (
    centers_of,
    choose_cut,
    grow_tree,
    labels_at,
    own_space,
)
from tacit.explore.stages.groups import explain, settle_level

SEED = np.uint64(3)
BROAD, FINE = 3, 4


def planted(n=480, length=50, *, own=0.5, seed=0):
    """Documents of three subjects with four parts each: counts, subject, part."""
    rng = np.random.default_rng(seed)
    part = rng.integers(BROAD * FINE, size=n)
    common, subject, parts = np.arange(300), 300 + np.arange(120), 420 + np.arange(12 * 25)
    rows = []
    for each in part:
        kinds = rng.choice(3, size=length, p=[0.5, 0.5 - 0.5 * own, 0.5 * own])
        pools = (common, np.split(subject, BROAD)[each // FINE], np.split(parts, 12)[each])
        drawn = [rng.choice(pools[kind]) for kind in kinds]
        rows.append(np.bincount(drawn, minlength=720))
    return sp.csr_array(np.array(rows, np.float32)), part // FINE, part


def grow(counts, effort="quick", engine=None, flat=BROAD * FINE, **more):
    words = sp.csr_array(counts, copy=True)
    words.data = 1 + np.log(words.data)
    rows = own_space(words, 2, seed=SEED)
    return grow_tree(words, rows, SEED, effort, engine or Serial(), flat=flat, **more)


def agreement(tree, truth, cut):
    return adjusted_rand_score(truth, labels_at(tree.nodes, cut, len(truth)))


def level_with(tree, k):
    return next(level for level in tree.levels if len(level) == k)


def test_both_levels_of_a_planted_hierarchy_are_in_the_tree():
    counts, subject, part = planted(own=0.35)
    tree = grow(counts)
    assert agreement(tree, subject, level_with(tree, BROAD)) > 0.9
    assert agreement(tree, part, level_with(tree, BROAD * FINE)) > 0.9
    assert tree.untried == 0


def test_the_larger_of_the_numbers_that_repeat_is_the_level_shown():
    counts, _, part = planted(own=0.35)
    tree = grow(counts)
    assert tree.numbers == (BROAD, BROAD * FINE)
    assert agreement(tree, part, tree.levels[tree.first]) > 0.9
    assert agreement(tree, part, choose_cut(tree)) > 0.9


def test_a_number_whose_groups_fall_apart_is_not_the_level_shown():
    counts, subject, _ = planted(own=0)  # subjects without parts
    tree = grow(counts, flat=24)
    assert tree.numbers == (BROAD, 24)
    rows = own_space(counts, 2, seed=SEED)
    tree, cut, confidence = settle_level(tree, None, rows, "quick", SEED, Serial())
    assert agreement(tree, subject, cut) > 0.9
    assert len(cut) == BROAD
    assert np.median(confidence) > 0.9


@pytest.mark.parametrize("joined", [True, False])
def test_two_groups_are_joins_or_kmeans_whichever_is_found_again(joined, monkeypatch):
    monkeypatch.setattr(group_tree, "joins_repeat", lambda *args, **more: joined)
    counts, _, _ = planted(own=0)
    tree = grow(counts, flat=1)
    assert tree.numbers == (BROAD,)
    assert tree.emphasis == ((BROAD,) if joined else (2, BROAD))
    asked = grow(counts, asked=2, repeats=BROAD)
    assert asked.numbers == (2,)
    assert asked.emphasis == ((BROAD,) if joined else (2,))
    assert len(asked.levels[asked.first]) == 2


def stability_by_size(monkeypatch, least):
    """Repeats that find groups with at least so many documents again, and no others."""

    def repeat(tree, cut, rows, *args):
        for node in tree.nodes:
            node.overlaps = np.array([0.9 if len(node.documents) >= least else 0.2])
        return np.ones(len(rows))

    monkeypatch.setattr(groups, "repeat_tree", repeat)


def settled(tree, rows, grow=None):
    return settle_level(tree, grow, rows, "quick", SEED, Serial())[:2]


def only_the_largest_is_found_again(monkeypatch, joined):
    """A tree of three groups of which two fall apart: its counts, itself, its rows."""
    monkeypatch.setattr(group_tree, "joins_repeat", lambda *args, **more: joined)
    counts, _, _ = planted(600, own=0)
    tree = grow(counts, flat=1)
    stability_by_size(monkeypatch, max(len(tree.nodes[i].documents) for i in tree.levels[0]))
    return counts, tree, own_space(counts, 2, seed=SEED)


def test_the_finest_level_that_does_not_fall_apart_is_shown_before_any_that_does(monkeypatch):
    _, tree, rows = only_the_largest_is_found_again(monkeypatch, joined=True)
    tree, cut = settled(tree, rows)
    assert len(cut) == 2
    assert (tree.numbers, tree.loose) == ((2,), [BROAD])
    assert explain(tree, flat_choice(1, 0.0))["reasons"][1] == (
        "In other samples too few of these groups are found again; of 2 groups, more are."
    )


def test_what_falls_apart_does_not_weigh_where_two_groups_are_shown_instead(monkeypatch):
    counts, tree, rows = only_the_largest_is_found_again(monkeypatch, joined=False)
    split = tree.nodes[0].split
    tree, cut = settled(tree, rows, lambda **more: grow(counts, **more))
    assert (tree.emphasis, len(cut), tree.loose) == ((2,), 2, [BROAD])
    assert tree.nodes[0].split is split


@pytest.mark.parametrize(("n", "least"), [(600, 10_000), (480, 200)])
def test_a_level_that_falls_apart_is_shown_where_none_does_better(n, least, monkeypatch):
    counts, _, _ = planted(n, own=0)
    stability_by_size(monkeypatch, least)  # few documents all fall apart
    tree, cut = settled(grow(counts, flat=1), own_space(counts, 2, seed=SEED))
    assert (len(cut), tree.loose) == (BROAD, [])


def test_of_two_numbers_that_are_near_the_one_that_repeats_in_halves_is_taken():
    counts, subject, _ = planted(own=0)
    tree = grow(counts, flat=BROAD + 1)
    assert tree.numbers == (BROAD,)
    assert agreement(tree, subject, tree.levels[tree.first]) > 0.9


def flat_choice(best, gain):
    return {"best": best, "table": [{"k": 1, "gain": 0.0}, {"k": best, "gain": gain}]}


def test_the_reasons_say_what_became_of_the_best_flat_number():
    counts, _, _ = planted(own=0)
    tree = grow(counts, flat=1)
    near = explain(tree, flat_choice(4, 0.6))["reasons"][1]
    assert near == "Of all numbers of groups, 4 repeats best in other samples."
    weak = explain(tree, flat_choice(24, 0.3))["reasons"][1]
    assert "24 groups would be chosen, but they repeat too little" in weak
    assert "30% better than chance" in weak
    tree = grow(counts, flat=24)
    assert "24 repeats best" in explain(tree, flat_choice(24, 0.6))["reasons"][1]
    settle_level(tree, None, own_space(counts, 2, seed=SEED), "quick", SEED, Serial())
    loose = explain(tree, flat_choice(24, 0.6))["reasons"][1]
    assert "too few of them are found again" in loose
    assert len(explain(tree, flat_choice(1, 0.0))["reasons"]) == 1


def test_more_numbers_are_tried_where_the_largest_is_best(monkeypatch):
    counts, _, _ = planted(own=1)  # parts without subjects
    context = SimpleNamespace(
        settings=SimpleNamespace(effort="quick", seed=0), engine=Serial(), callbacks=()
    )
    rows = own_space(counts, 2, seed=SEED)
    tried = []
    for quick in (10, 20):
        monkeypatch.setitem(groups.K_MOST, "quick", quick)
        found = groups.try_numbers(context, rows, counts)
        tried.append(found["table"][-1]["k"])
        assert found["best"] >= 10
    assert tried == [15, 20]


def test_groups_that_divide_well_are_opened_where_choose_k_saw_none():
    counts, _, part = planted(own=0.35)
    tree = grow(counts, flat=1)
    assert len(tree.levels[tree.first]) == BROAD
    assert agreement(tree, part, choose_cut(tree)) > 0.9


def test_groups_without_groups_inside_are_not_divided():
    counts, subject, _ = planted(own=0)
    tree = grow(counts, flat=BROAD)
    assert agreement(tree, subject, tree.levels[-1]) > 0.9
    assert len(tree.levels[-1]) == BROAD


def test_many_small_groups_are_all_found():
    rng = np.random.default_rng(2)
    part = np.repeat(np.arange(24), 8)
    common = rng.integers(200, size=(len(part), 60))
    own = 200 + 20 * part[:, None] + rng.integers(20, size=common.shape)
    drawn = np.where(rng.random(common.shape) < 0.5, common, own)
    counts = sp.csr_array(np.stack([np.bincount(each, minlength=680) for each in drawn]))
    tree = grow(counts.astype(np.float32), flat=1)
    near = min(tree.levels, key=lambda level: abs(len(level) - 24))
    assert abs(len(near) - 24) <= 2
    assert agreement(tree, part, near) > 0.8


def test_levels_nest_and_children_divide_their_parent():
    counts, _, part = planted()
    tree = grow(counts)
    for i, node in enumerate(tree.nodes):
        assert node.parent < i
        if node.children:
            inside = np.concatenate([tree.nodes[j].documents for j in node.children])
            assert np.array_equal(np.sort(inside), np.sort(node.documents))
    sizes = [len(level) for level in tree.levels]
    assert sizes == sorted(set(sizes))
    for cut in (*tree.levels, choose_cut(tree)):
        assert np.bincount(labels_at(tree.nodes, cut, len(part))).sum() == len(part)
        assert sum(len(tree.nodes[i].documents) for i in cut) == len(part)


@pytest.mark.parametrize("length", [8, 120])
def test_words_dealt_out_at_random_give_no_groups(length):
    rng = np.random.default_rng(1)
    law = 1 / np.arange(3, 903)
    drawn = rng.choice(900, p=law / law.sum(), size=(500, length))
    counts = sp.csr_array(np.stack([np.bincount(each, minlength=900) for each in drawn]))
    tree = grow(counts.astype(np.float32))
    assert tree.levels == []
    assert tree.nodes[0].split.k == 1


def test_the_tree_is_the_same_on_any_number_of_threads():
    counts, _, _ = planted(240)
    one, three = grow(counts), grow(counts, engine=Threads(3))
    assert one.levels == three.levels
    assert [node.documents.tolist() for node in one.nodes] == [
        node.documents.tolist() for node in three.nodes
    ]


def test_a_number_that_is_asked_for_is_the_level_shown():
    counts, subject, _ = planted(240)
    tree = grow(counts, asked=BROAD)
    assert agreement(tree, subject, tree.levels[tree.first]) > 0.9
    assert len(grow(counts, asked=7).levels[5]) == 7


def test_centers_are_mean_directions():
    rows = np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    centers = centers_of(rows, np.array([0, 0, 1], np.int32), 2)
    assert np.allclose(centers, [[0.5**0.5, 0.5**0.5], [0, 1]])


def planted_texts():
    """The planted hierarchy as texts."""
    counts, _, _ = planted(360, own=0.35)
    letters = [f"{a}{b}{c}" for a in "bdfglmnpr" for b in "aeiou" for c in "klmnprstvxzbdfgh"]
    names = np.array([f"{each}{letters[-i]}" for i, each in enumerate(letters)])
    rows = (counts[[i]] for i in range(counts.shape[0]))
    return [" ".join(np.repeat(names[row.indices], row.data.astype(int))) for row in rows]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    texts = planted_texts()
    out = tmp_path_factory.mktemp("tree") / "planted.tacit"
    return explore_documents(texts, out=out, effort="quick"), texts


def test_python_has_every_group_with_its_parent(project):
    found, texts = project
    tree, clusters = found.group_tree, found.clusters
    assert {"parent", "node"} <= set(clusters.columns)
    assert (tree["parent"] < tree.index).all()
    broad = tree[tree["parent"] == -1]
    assert broad["size"].sum() == len(texts)
    for node, group in tree.iterrows():
        inside = tree[tree["parent"] == node]
        assert len(inside) == 0 or inside["size"].sum() == group["size"]
    assert len(clusters) == tree["group"].notna().sum() > 0
    leaf = found.documents["leaf"]
    sizes = leaf.value_counts()
    assert all(tree["size"][i] == size for i, size in sizes.items())


def test_the_summary_and_the_export_have_the_levels(project, tmp_path):
    found, _ = project
    summary = found.summary
    assert summary["levels"][summary["level"]][0] == len(summary["groups"])
    reader = ProjectReader(ProjectFolder(found.path))
    with (tmp_path / "groups.json").open("wb") as file:
        write_groups(reader, file)
    made = json.loads((tmp_path / "groups.json").read_text(encoding="utf8"))
    assert len(made["nodes"]) == len(summary["nodes"])
    assert len(made["levels"]) == len(summary["levels"])


def test_the_report_has_a_slider_where_there_are_levels(project):
    found, _ = project
    page = (found.path / "report.html").read_text(encoding="utf8")
    assert ('id="lv"' in page) == (len(found.summary["levels"]) > 1)


def test_more_groups_than_can_be_nested_are_one_level(tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.explore.stages.groups.MOST_NESTED", 5)
    found = explore_documents(
        planted_texts(), out=tmp_path / "many.tacit", effort="quick", k=8, stages=["groups"]
    )
    summary = found.summary
    assert [nodes for nodes, _ in summary["levels"]] == [8]
    assert len(summary["groups"]) == 8
    assert all(0 < node["overlap"] <= 1 for node in summary["nodes"])

"""Merges, splits and pins of groups, kept and applied again."""

import shutil

import numpy as np
import pytest

import tacit
from tacit.core.errors import DataError
from tacit.explore import Project
from tacit.explore.project.group_edits import GROUP_EDITS, read_edits
from tests.explore.corpora import letters


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    path = tmp_path_factory.mktemp("edits") / "p.tacit"
    return tacit.explore(letters(90)[0], out=path, k=3, effort="quick").path


@pytest.fixture
def project(three, tmp_path):
    shutil.copytree(three, tmp_path / "p.tacit")
    return Project.open(tmp_path / "p.tacit")


def members(project, group):
    return set(np.flatnonzero(project.documents["group"].to_numpy() == group).tolist())


def test_merged_groups_are_one_everywhere_and_apart_again_after_undo(project, tmp_path):
    before, names = project.documents["group"].to_numpy(), project.clusters["name"].tolist()
    both = members(project, 0) | members(project, 2)
    merged = project.merge_groups([0, 2])
    assert members(project, merged) == both
    assert project.clusters["size"].tolist() == sorted([len(both), 90 - len(both)])[::-1]
    assert names[1] in project.clusters["name"].tolist()  # the other keeps its name
    assert "1 merge by hand" in (project.path / "report.html").read_text(encoding="utf8")
    again = Project.open(project.path)
    assert again.clusters["size"].tolist() == project.clusters["size"].tolist()
    assert set(again.group_tree["group"].dropna()) == {0, 1}
    csv = again.export("documents.csv", tmp_path / "d.csv").read_text(encoding="utf8")
    assert csv.count(again.clusters["name"][merged]) >= len(both)
    assert again.undo_group_edit()
    assert (again.documents["group"].to_numpy() == before).all()
    assert again.clusters["name"].tolist() == names
    assert not again.undo_group_edit()


def test_the_result_of_the_stages_is_not_touched_by_edits(project):
    result = project.summary["result"]
    project.merge_groups([1, 2])
    assert project.summary["result"] == result
    project._folder.check()


def test_a_split_group_falls_into_parts_that_can_be_merged_again(project):
    whole = members(project, 1)
    parts = project.split_group(1)
    assert len(parts) == 2
    assert set.union(*(members(project, each) for each in parts)) == whole
    assert set(project.clusters["verdict"][parts]) <= {"firm", "tentative", "loose"}
    assert members(project, project.merge_groups(parts)) == whole
    assert [each["edit"] for each in project.group_edits] == ["split", "merge"]


def test_edits_are_applied_again_to_the_groups_of_another_run(project):
    both = members(project, 0) | members(project, 2)
    project.merge_groups([0, 2])
    other = tacit.explore(
        letters(90)[0], out=project.path, k=3, effort="quick", random_state=5
    )
    assert [each["applies"] for each in other.group_edits] == [True]
    overlaps = [
        len(both & members(other, g)) / len(both | members(other, g))
        for g in other.clusters.index
    ]
    assert len(other.clusters) == 2
    assert max(overlaps) > 0.8


def test_an_edit_that_does_not_apply_is_said_and_comes_back(project):
    project.split_group(0)
    project.merge_groups([0, 1])
    texts = [f"moss fern spore lichen bark {i}" for i in range(40)]
    texts += [f"bolt gear cog axle spring {i}" for i in range(40)]
    other = tacit.explore(texts, out=project.path, k=2, effort="quick")
    assert [each["applies"] for each in other.group_edits] == [False, False]
    assert len(other.clusters) == 2
    assert "An edit does not apply any more" in str(other)
    page = (other.path / "report.html").read_text(encoding="utf8")
    assert page.count("An edit does not apply any more") >= 2
    back = tacit.explore(letters(90)[0], out=project.path, k=3, effort="quick")
    assert [each["applies"] for each in back.group_edits] == [True, True]


def test_a_pinned_group_stays_together_under_its_name(project):
    held = members(project, 1)
    project.rename_group(1, "Mine")
    project.pin_group(1)
    other = tacit.explore(
        letters(90)[0], out=project.path, k=9, effort="quick", random_state=3
    )
    mine = other.clusters.index[other.clusters["name"] == "Mine"].tolist()
    assert len(mine) == 1
    assert held <= members(other, mine[0])


def test_what_cannot_be_edited_is_refused_and_not_kept(project):
    with pytest.raises(ValueError, match="two groups or more"):
        project.merge_groups([1, 1])
    with pytest.raises(IndexError, match="no group 7; there are 3"):
        project.split_group(7)
    with pytest.raises(ValueError, match="one group of all documents would be left"):
        project.merge_groups([0, 1, 2])
    assert project.group_edits == []
    assert read_edits(project.path) == []
    (project.path / GROUP_EDITS).write_text('{"edits": [{"edit": "shell", "groups": [1]}]}')
    with pytest.raises(DataError, match="is damaged"):
        read_edits(project.path)

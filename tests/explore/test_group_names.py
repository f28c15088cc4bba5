"""Names that users give to groups."""

import numpy as np
import pytest

import tacit
from tacit.core import DataError
from tacit.explore import Project
from tacit.explore.project.group_edits import GROUP_NAMES, read_names
from tests.explore.corpora import letters


@pytest.fixture
def project(tmp_path):
    texts, _ = letters(90)
    return tacit.explore(texts, out=tmp_path / "p.tacit", k=3, effort="quick")


def test_a_name_is_everywhere_and_can_be_taken_back(project, tmp_path):
    found = project.clusters["name"][1]
    project.rename_group(1, "  My  letters ")
    assert project.clusters["name"][1] == "My letters"
    assert "My letters" in str(project)
    assert "My letters" in (project.path / "report.html").read_text(encoding="utf8")
    csv = project.export("documents.csv", tmp_path / "d.csv").read_text(encoding="utf8")
    assert csv.count("My letters") == project.clusters["size"][1]
    assert Project.open(project.path).clusters["name"][1] == "My letters"
    project.rename_group(1, None)
    assert project.clusters["name"][1] == found


def test_a_name_is_given_again_after_another_run(project):
    labels = project.documents["group"].to_numpy()
    members = set(np.flatnonzero(labels == 2))
    project.rename_group(2, "Kept")
    texts, _ = letters(90)
    again = tacit.explore(texts, out=project.path, k=4, effort="quick", random_state=5)
    named = again.clusters.index[again.clusters["name"] == "Kept"].tolist()
    assert len(named) == 1
    now = set(np.flatnonzero(again.documents["group"].to_numpy() == named[0]))
    assert len(now & members) / len(now | members) >= 0.5


def test_names_of_strangers_and_numbers_that_are_none_are_refused(project):
    with pytest.raises(IndexError, match="no group 7; there are 3"):
        project.rename_group(7, "x")
    with pytest.raises(ValueError, match="empty"):
        project.rename_group(0, "  ")
    (project.path / GROUP_NAMES).write_text('{"names": [{"name": 3}]}')
    with pytest.raises(DataError, match="is damaged"):
        read_names(project.path)

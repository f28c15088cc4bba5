"""Exploring from Python: the call, what it gives back, and what it refuses."""

import json
import shutil
import types
from xml.etree import ElementTree

import pytest

import tacit
from tacit.core import DataError, Locked
from tacit.explore import Project, explore_documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.project import folder_for
from tacit.explore.report.page import make_page
from tests.explore.corpora import HOSTILE, letters, table


def test_the_package_can_be_called_and_is_a_package_still():
    import tacit.explore.project.pipeline

    assert isinstance(tacit.explore, types.ModuleType)
    assert tacit.explore.project.pipeline.run_stages
    assert tacit.explore.Project is Project
    assert callable(tacit.explore)


def test_a_list_of_documents_gives_a_project_that_goes_with_its_folder():
    project = tacit.explore(["a ship at sea", "a loaf of bread", "more bread"], effort="quick")
    path = project.path
    assert (path / "report.html").exists()
    assert list(project.texts.texts())[2] == "more bread"
    assert project.search("bread").ids == ["2", "1"]
    del project
    assert not path.exists()


def test_one_group_that_was_asked_for_is_no_lack_of_groups():
    project = tacit.explore(letters()[0], k=1, effort="quick")
    best = project.summary["k_recommended"]
    assert best > 1
    assert f"You asked for one group; the measures recommend {best}." in str(project)
    page = (project.path / "report.html").read_text(encoding="utf-8")
    assert f"You asked for one group of all {len(letters()[0])} documents" in page
    assert f"You asked for one group; the measures recommend {best}" in page
    assert "do not fall into groups" not in page


def test_dataframes_have_a_row_for_every_document_and_group(topics):
    documents, clusters = topics.documents, topics.clusters
    assert len(documents) == 90
    assert {"id", "group", "sure", "x", "y", "words", "copies", "topic"} <= {*documents.columns}
    assert documents["id"][4] == "letter 4"
    sizes = documents.groupby("group").size()
    assert (sizes == clusters["size"]).all()
    assert (documents.groupby("group")["topic"].nunique() == 1).all()
    assert {*clusters["verdict"]} == {"firm"}


def test_a_project_opens_again_and_running_again_changes_nothing(topics, tmp_path):
    again = Project.open(shutil.copytree(topics.path, tmp_path / "topics.tacit"))
    assert {**again.summary, "project": ""} == {**topics.summary, "project": ""}
    events = []
    documents = table(*letters())
    explore_documents(documents, out=again.path, effort="quick", on_event=events.append)
    assert all(each.reused for each in events)
    assert repr(again) == "Project of 90 documents in 3 groups"
    assert "90 documents in 3 groups: 3 firm." in str(again)


def test_another_column_of_the_same_file_is_another_collection(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("one,two\nship sea,loaf bread\nwave mast,rye oven\n")
    first = explore_documents(path, out=tmp_path / "p", text="one", effort="quick")
    assert list(first.texts.texts()) == ["ship sea", "wave mast"]
    second = explore_documents(path, out=tmp_path / "p", text="two", effort="quick")
    assert list(second.texts.texts()) == ["loaf bread", "rye oven"]


def test_notebooks_get_text_from_strangers_as_text(hostile):
    html = hostile._repr_html_()
    assert "<table" in html
    assert "Open the report" in html
    assert not any(bad in html for bad in HOSTILE)


def test_the_map_of_a_project_is_a_picture_without_scripts(hostile, tmp_path):
    view = hostile.map()
    assert repr(view).startswith("Map of 90 documents in ")
    assert view._repr_html_().count("<circle") >= 90
    assert "<script" not in view.svg
    assert not any(bad in view.svg for bad in HOSTILE[:5])  # the others are harmless as text
    assert not {"\u202e", "\x1b", "\x00"} & {*view.svg}
    assert ElementTree.fromstring(view.svg).tag.endswith("svg")
    assert view.save(tmp_path / "map.svg").read_text(encoding="utf-8") == view.svg


def test_a_flipped_bit_is_found_and_its_file_named(topics, tmp_path):
    copy = tmp_path / "copy.tacit"
    shutil.copytree(topics.path, copy)
    target = next((copy / "stages").glob("map-*/arrays.safetensors"))
    data = bytearray(target.read_bytes())
    data[-1] ^= 1
    target.write_bytes(data)
    with pytest.raises(DataError, match=r"arrays.safetensors: is damaged"):
        Project.open(copy)


def test_a_hostile_project_cannot_put_markup_into_the_page(topics, tmp_path):
    copy = tmp_path / "<i>copy.tacit"
    shutil.copytree(topics.path, copy)
    folder = ProjectFolder(copy)
    bad = "</style><script>window.hacked = 1</script>"
    path = folder.output("groups") / "facts.json"
    facts = json.loads(path.read_bytes())
    for group in facts["groups"]:
        group |= {"verdict": bad, "words": [[bad, 1.0, 0.5, 0.1]]}
    facts["choice"]["reasons"] = [bad]
    path.write_text(json.dumps(facts))
    (folder.output("ingest") / "facts.json").write_text(
        json.dumps({**json.loads((folder.output("ingest") / "facts.json").read_bytes()),
                    "source": bad, "sentences": [bad], "partial": [bad]})
    )  # fmt: skip
    folder.commit(settings={"seed": bad, "k": bad, "effort": bad, "more": bad})
    page = make_page(folder)
    assert "<script>window" not in page
    assert "<i>copy" not in page
    facts["groups"][0]["size"] = bad
    path.write_text(json.dumps(facts))
    with pytest.raises(ValueError, match="invalid literal"):
        make_page(folder)


def test_one_writer_at_a_time(few, tmp_path):
    path = shutil.copytree(few.path, tmp_path / "few.tacit")
    with ProjectFolder(path).writing(), pytest.raises(Locked, match="being written"):
        explore_documents(["a", "b"], out=path)


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"effort": "hard"}, "effort='hard'"), ({"k": 0}, "k=0")],
)
def test_wrong_settings_are_refused_by_name(settings, said):
    with pytest.raises(ValueError, match=said):
        explore_documents(["a"], **settings)


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.doc").write_text("years of work")
    with pytest.raises(DataError, match="holds other files"):
        folder_for("x", tmp_path)
    with pytest.raises(DataError, match="is not a project"):
        Project.open(tmp_path)
    assert folder_for("x", tmp_path / "new") == tmp_path / "new"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("letters", "letters.tacit"),
        ("a/b/mail.jsonl.zst", "mail.tacit"),
        ("-", "documents.tacit"),
        (".hidden", ".hidden.tacit"),
    ],
)
def test_projects_are_named_after_what_was_read(path, name):
    assert str(folder_for(path, None)) == name

"""Project folders from strangers: one sentence each, and nothing outside is read or written."""

import contextlib
import copy
import json
import os
import shutil
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.cli.main import main
from tacit.core import DataError, TacitError
from tacit.explore import Project
from tacit.explore.project import folder as folder_module
from tacit.explore.project.folder import ProjectFolder, settle
from tacit.explore.stages.stage import ARRAYS, read_arrays, write_tensors
from tests.explore.test_pipeline import letters

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["../secret", "/etc/passwd", "a\0b", "\ud800", "x" * 5000, -1, 2**70]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip
OFTEN = settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)


@pytest.fixture
def stranger(topics, tmp_path):
    """A copy of a sound project, and beside it a file that is none of its business."""
    (tmp_path / "secret").write_text("none of your business")
    return shutil.copytree(topics.path, tmp_path / "copy.tacit")


@pytest.fixture
def documents(tmp_path):
    path = tmp_path / "letters.txt"
    path.write_text("\n".join(letters(40)[0]) + "\n")
    return path


def forge(project, stage, name, content):
    """Replace a file and put it on record, as somebody would who means harm."""
    record = json.loads((project / "project.json").read_text())
    entry = record["stages"][stage]
    path = project / "stages" / f"{stage}-{entry['key'][:16]}" / name
    path.write_bytes(content)
    entry["files"][name] = settle(path)
    (project / "project.json").write_text(json.dumps(record))


def use(project, page):
    """Whatever a person may do with a project that was given to them."""
    opened = Project.open(project)
    opened.document_columns()
    opened.report(page)
    return repr(opened), str(opened), opened._repr_html_()


# --- Links ---


@pytest.mark.parametrize(
    "place", ["project.json", "lock", "stages", "report.html", "timings.json", "more"]
)
def test_a_link_in_the_folder_is_refused_and_not_followed(stranger, documents, place, capsys):
    target = stranger.parent / ("outside" if place == "stages" else "secret")
    if place == "stages":
        (stranger / "stages").rename(target)
        (target / "mine").mkdir()
    else:
        (stranger / place).unlink(missing_ok=True)
    (stranger / place).symlink_to(target)
    with pytest.raises(DataError, match=rf"{place}: is a link, and a project holds none"):
        Project.open(stranger)
    code = main(["explore", str(documents), "--out", str(stranger), "--quick", "-q"])
    assert code == 4
    assert "is a link" in capsys.readouterr().err
    assert (stranger.parent / "secret").read_text() == "none of your business"
    assert place != "stages" or (target / "mine").is_dir()


@pytest.mark.parametrize("what", ["a stage", "a file", "more"])
def test_a_link_in_a_stage_is_found_and_replaced_by_the_next_run(stranger, documents, what):
    home = ProjectFolder(stranger).output("map")
    outside = stranger.parent / "outside"
    if what == "a stage":
        home.rename(outside)
        home.symlink_to(outside)
    elif what == "a file":
        (home / "facts.json").rename(outside)
        (home / "facts.json").symlink_to(outside)
    else:
        (home / "more").symlink_to(stranger.parent / "secret")
    with pytest.raises(DataError, match=r"is a link, and|is not on record"):
        Project.open(stranger)
    before = sorted(stranger.parent.iterdir())
    for _ in range(2):  # what another run leaves behind is swept by the next
        assert main(["explore", str(documents), "--out", str(stranger), "--quick", "-q"]) == 0
    assert not any(path.is_symlink() for path in stranger.rglob("*"))
    assert sorted(stranger.parent.iterdir()) == before
    Project.open(stranger)


# --- What should be there and is not, and the other way round ---


def test_every_file_that_is_missing_is_named(stranger):
    for path in sorted(stranger.glob("stages/*/*")):
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(DataError, match=rf"{path.name}: is missing from the project"):
            Project.open(stranger)
        path.write_bytes(content)
    Project.open(stranger)


def test_what_is_no_project_says_so(tmp_path, stranger):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "none", tmp_path / "secret"):
        with pytest.raises(DataError, match="is not a project"):
            Project.open(path)
    (stranger / "project.json").unlink()
    (stranger / "project.json").mkdir()
    with pytest.raises(DataError, match="is a folder, where a project has a file"):
        Project.open(stranger)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_is_not_waited_for(stranger):
    (stranger / "project.json").unlink()
    os.mkfifo(stranger / "project.json")
    with pytest.raises(DataError, match="is a device or a pipe"):
        Project.open(stranger)


def test_a_format_of_the_future_is_refused_and_one_of_the_past_is_read(
    stranger, documents, monkeypatch
):
    record = json.loads((stranger / "project.json").read_text())
    (stranger / "project.json").write_text(json.dumps({**record, "format": 7}))
    with pytest.raises(DataError, match="has format 7, and this Tacit reads up to 1"):
        Project.open(stranger)
    (stranger / "project.json").write_text(json.dumps({**record, "format": 1}))
    monkeypatch.setattr(folder_module, "FORMAT", 2)
    assert Project.open(stranger).summary["documents"] > 0
    folder = ProjectFolder(stranger)
    with folder.writing():
        folder.commit()
    assert json.loads((stranger / "project.json").read_text())["format"] == 2


# --- Arrays that lie ---


@pytest.mark.parametrize(
    ("stage", "name", "change"),
    [
        ("counts", "counts.indices", lambda x: x + 10**6),
        ("counts", "counts.indices", lambda x: -1 - x),
        ("counts", "counts.indptr", lambda x: x[::-1].copy()),
        ("counts", "counts.indptr", lambda x: x * 2),
        ("counts", "counts.data", lambda x: x[:-3].copy()),
        ("groups", "labels", lambda x: np.full_like(x, 2**31 - 1)),
        ("groups", "second", lambda x: np.full_like(x, -7)),
        ("groups", "labels", lambda x: x.astype(np.float32)),
        ("duplicates", "labels", lambda x: np.full_like(x, 2**30)),
    ],
)
def test_arrays_that_lie_are_refused_before_any_kernel(stranger, tmp_path, stage, name, change):
    path = ProjectFolder(stranger).output(stage) / ARRAYS
    arrays = {key: np.array(value) for key, value in read_arrays(path).items()}
    arrays[name] = change(arrays[name])
    write_tensors(path, {"format": 1, "kind": "stage"}, arrays)
    forge(stranger, stage, ARRAYS, path.read_bytes())
    with pytest.raises(DataError, match=r"is damaged: "):
        use(stranger, tmp_path / "page.html")


# --- Bombs ---


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 500_000, "nested too deeply"),
        (b'{"a":' * 500_000, "nested too deeply"),
        (b'{"format": ' + b"9" * 5000 + b"}", "is damaged"),
        (b"\xff\xfe\x00", "is damaged"),
        (b"", "is damaged"),
        (b"null", "no JSON object"),
    ],
)
def test_a_record_made_to_break_the_reader_is_refused(stranger, content, said):
    (stranger / "project.json").write_bytes(content)
    with pytest.raises(DataError, match=said):
        Project.open(stranger)


def test_a_record_of_gigabytes_is_not_read(stranger):
    with open(stranger / "project.json", "r+b") as file:
        file.truncate(2**33)  # sparse
    with pytest.raises(DataError, match="too large"):
        Project.open(stranger)


@pytest.mark.parametrize("content", [b"[" * 500_000, b"[]", b"{}", b'{"groups": 3}', b"\0"])
def test_facts_made_to_break_the_reader_are_refused(stranger, content):
    forge(stranger, "groups", "facts.json", content)
    with contextlib.suppress(TacitError):
        use(stranger, stranger.parent / "page.html")
    forge(stranger, "ingest", "facts.json", content)
    with pytest.raises(TacitError):
        Project.open(stranger)


def tensors(header):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    argnames="content",
    ids=["header", "array", "overflow", "dtype", "pickle"],
    argvalues=[
        (2**62).to_bytes(8, "little"),
        tensors({"labels": {"dtype": "I64", "shape": [2**40], "data_offsets": [0, 2**43]}}),
        tensors({"labels": {"dtype": "I64", "shape": [2**62, 8], "data_offsets": [0, 0]}}),
        tensors({"labels": {"dtype": "pickle", "shape": [1], "data_offsets": [0, 8]}}),
        b"\x80\x04cos\nsystem\n",
    ],
)
def test_arrays_larger_than_their_file_are_refused_before_memory_is_asked_for(
    stranger, content
):
    forge(stranger, "groups", "arrays.safetensors", content)
    with pytest.raises(TacitError, match=r"arrays\.safetensors"):
        Project.open(stranger).document_columns()


def test_documents_that_are_no_parquet_are_refused(stranger):
    forge(stranger, "ingest", "documents.parquet", b"PAR1 nonsense PAR1")
    with pytest.raises(DataError, match=r"documents\.parquet: this Parquet file cannot"):
        Project.open(stranger).document_columns()


# --- Wrong values anywhere ---


def places(value, path=()):
    """Every place of a JSON document."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(document, path, value):
    """The document with another value in one place."""
    if not path:
        return value
    out = copy.deepcopy(document)
    inner = out
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return out


opened_files: list[str] | None = None


def watch(event, args):
    if opened_files is not None and event == "open":
        opened_files.append(str(args[0]))


sys.addaudithook(watch)  # it stays for good, and does nothing where nobody listens


@OFTEN
@given(data=st.data())
def test_a_record_with_anything_anywhere_opens_or_is_refused(topics, tmp_path, data):
    global opened_files
    project = tmp_path / "copy.tacit"
    if not project.exists():
        shutil.copytree(topics.path, project)
        (tmp_path / "secret").write_text("none of your business")
    record = json.loads((topics.path / "project.json").read_text())
    path = data.draw(st.sampled_from(list(places(record))))
    if path and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(["../../secret", "/etc/hostname", "..", "a/../../b"]))
        parent, key = path[:-1], path[-1]
        inner = record
        for each in parent:
            inner = inner[each]
        if isinstance(inner, dict):
            inner[name] = inner.pop(key)
    else:
        record = changed(record, path, data.draw(JSON))
    (project / "project.json").write_text(json.dumps(record))
    opened_files = []
    try:
        with contextlib.suppress(TacitError):
            use(project, tmp_path / "page.html")
    finally:
        files, opened_files = opened_files, None
    outside = [f for f in files if f.endswith("secret") or f.startswith("/etc/host")]
    assert outside == []


@OFTEN
@given(data=st.data())
def test_facts_with_anything_anywhere_are_shown_or_refused(topics, tmp_path, data):
    project = tmp_path / "copy.tacit"
    if not project.exists():
        shutil.copytree(topics.path, project)
    folder = ProjectFolder(topics.path)
    stage = data.draw(st.sampled_from(sorted(folder.record["stages"])))
    facts = json.loads((folder.output(stage) / "facts.json").read_bytes())
    path = data.draw(st.sampled_from(list(places(facts))))
    value = data.draw(JSON)
    forge(project, stage, "facts.json", json.dumps(changed(facts, path, value)).encode())
    with contextlib.suppress(TacitError):
        use(project, tmp_path / "page.html")
    forge(project, stage, "facts.json", (folder.output(stage) / "facts.json").read_bytes())

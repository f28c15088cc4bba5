"""Folders and files that try to reach out of their place."""

import io
import os
from pathlib import Path

import pytest

from tacit.core import DataError, PartialInput
from tacit.data import Documents
from tacit.data.delimited import write_rows


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "letters"
    inside.mkdir()
    (inside / "a.txt").write_text("a letter from home")
    (tmp_path / "secret.txt").write_text("a secret")
    return inside


def test_a_link_that_leads_outside_the_folder_is_skipped_and_reported(folder):
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    documents = Documents.open(folder)
    assert list(documents.texts()) == ["a letter from home"]
    assert "link.txt: skipped: a symbolic link that leads outside" in str(documents.report)
    followed = Documents.open(folder, follow_links=True)
    assert list(followed.texts()) == ["a letter from home", "a secret"]


def test_a_link_within_the_folder_is_read(folder):
    (folder / "b.txt").symlink_to(folder / "a.txt")
    assert len(Documents.open(folder)) == 2
    alias = folder.parent / "alias"
    alias.symlink_to(folder)
    assert len(Documents.open(alias)) == 2


def test_a_link_to_a_folder_is_skipped_and_reported(folder):
    (folder / "old").symlink_to(folder.parent)
    (folder / ".hidden").symlink_to(folder.parent)
    documents = Documents.open(folder)
    assert len(documents) == 1
    assert "old/: skipped: a symbolic link to a folder" in str(documents.report)
    assert ".hidden" not in str(documents.report)
    assert "link" not in str(Documents.open(folder, pattern="*.txt").report).split(": ", 1)[1]


def test_a_subfolder_that_cannot_be_read_makes_the_input_partial(folder, monkeypatch):
    (folder / "closed").mkdir()
    (folder / "closed" / "b.txt").write_text("a letter to the bank")
    scandir = os.scandir

    def refuse(path="."):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(PartialInput, match=r"closed/.*cannot be read \(Permission denied\)"):
        Documents.open(folder)
    assert len(Documents.open(folder, allow_partial=True)) == 1


def test_a_newline_in_a_file_name_is_written_out(folder):
    (folder / "b\nc.parquet").write_text("no table")
    report = str(Documents.open(folder).report)
    assert "b\\nc.parquet: skipped" in report
    error = DataError("it is empty.", file=Path("b\nc.txt"))
    assert str(error) == "b\\nc.txt: it is empty."


def test_a_carriage_return_stays_inside_its_csv_cell():
    stream = io.StringIO()
    write_rows(stream, [["1", "good\r=HYPERLINK(0)"], ["2", "plain"]])
    assert stream.getvalue() == '"1","good\r=HYPERLINK(0)"\n2,plain\n'

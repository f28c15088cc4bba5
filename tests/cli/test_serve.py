"""``tacit serve``: what is said at the start, and projects that cannot be opened."""

import json
import re
import shutil
import socket
import threading

import pytest

from tacit.cli.main import main
from tacit.core import Serial
from tacit.explore import explore_documents
from tests.explore.corpora import letters, table


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    out = tmp_path_factory.mktemp("template") / "few.tacit"
    return explore_documents(table(*letters(12)), out=out, effort="quick", engine=Serial()).path


@pytest.fixture
def project(template, tmp_path):
    return shutil.copytree(template, tmp_path / "few.tacit")


@pytest.fixture
def stopped(monkeypatch):
    """The server ends as soon as it is ready; where it listened."""
    from tacit.explore.server import app, state

    seen = []

    def run(served, access, listening, ready):
        seen.append(listening.getsockname())
        ready()
        listening.close()
        served.close()
        return 130

    monkeypatch.setattr(app, "run_server", run)
    monkeypatch.setattr(state.ServerState, "prepare", lambda self: None)
    return seen


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def harmed_record(project):
    (project / "project.json").write_text("{")
    return "project.json"


def escaping_record(project):
    record = json.loads((project / "project.json").read_bytes())
    record["stages"]["map"]["files"]["../../../etc/passwd"] = {"size": 1, "blake2b": "0" * 64}
    (project / "project.json").write_text(json.dumps(record))
    return "project.json"


def flipped_bit(project):
    victim = sorted(project.glob("stages/counts-*/*"))[0]
    flip(victim)
    return victim.name


def lost_file(project):
    victim = sorted(project.glob("stages/ingest-*/documents.parquet"))[0]
    victim.unlink()
    return victim.name


def lost_stage(project):
    record = json.loads((project / "project.json").read_bytes())
    del record["stages"]["ingest"]
    (project / "project.json").write_text(json.dumps(record))
    return "few.tacit"


def future(project):
    record = json.loads((project / "project.json").read_bytes())
    (project / "project.json").write_text(json.dumps({**record, "format": 99}))
    return "format 99"


def harmed_labels(project):
    (project / "labels.sqlite").write_bytes(b"not a database, but long enough to be read" * 99)
    return "labels.sqlite"


def no_project(project):
    (project / "project.json").unlink()
    return "is not a project"


@pytest.mark.parametrize("harm", [
    harmed_record, escaping_record, flipped_bit, lost_file, lost_stage, future, harmed_labels,
    no_project,
])  # fmt: skip
def test_a_project_that_cannot_be_trusted_is_code_4_and_a_sentence(project, capsys, harm):
    named = harm(project)
    assert main(["serve", str(project), "--no-browser"]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(r"Error: .+\.\n", said.err)
    assert named in said.err


def test_a_folder_that_is_not_there_is_code_4(tmp_path, capsys):
    assert main(["serve", str(tmp_path / "nothing"), "--no-browser"]) == 4
    assert "There is no file or folder" in capsys.readouterr().err


def test_the_address_with_its_key_is_all_that_goes_to_standard_output(
    project, stopped, capsys, monkeypatch
):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["serve", str(project), "--no-browser"]) == 130
    said = capsys.readouterr()
    port = stopped[0][1]
    assert re.fullmatch(rf"http://127\.0\.0\.1:{port}/\?token=[\w-]{{43}}\n", said.out)
    assert said.err.endswith("Stopped.\n")
    assert not opened
    assert stopped[0][0] == "127.0.0.1"


def test_the_browser_is_opened_unless_it_is_not_wanted(project, stopped, capsys, monkeypatch):
    opened, done = [], threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda url: (opened.append(url), done.set()))
    assert main(["serve", str(project), "-q"]) == 130
    assert done.wait(60)
    said = capsys.readouterr()
    printed, handed = said.out.strip(), opened[0]
    assert handed.partition("=")[0] == printed.partition("=")[0]
    assert handed != printed  # others can list the command line of a browser
    assert said.err == ""


def test_every_start_has_a_key_of_its_own(project, stopped, capsys):
    for _ in range(2):
        main(["serve", str(project), "--no-browser"])
    first, second = capsys.readouterr().out.split()
    assert first.partition("=")[2] != second.partition("=")[2]


def test_a_host_that_others_reach_is_warned_of(project, stopped, capsys):
    main(["serve", str(project), "--no-browser", "--host", "0.0.0.0"])
    said = capsys.readouterr()
    assert "Warning: --host 0.0.0.0 lets other machines" in said.err
    assert said.out.startswith("http://127.0.0.1:")
    main(["serve", str(project), "--no-browser", "--host", "localhost"])
    assert "Warning" not in capsys.readouterr().err


def test_a_port_that_is_taken_is_said(project, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["serve", str(project), "--no-browser", "--port", port]) == 2
    said = capsys.readouterr().err
    assert "cannot listen" in said
    assert port in said


@pytest.mark.parametrize("option", ["--port=70000", "--port=x", "--host=no such"])
def test_options_that_make_no_sense_are_wrong_usage(project, capsys, option):
    assert main(["serve", str(project), "--no-browser", option]) == 2
    assert capsys.readouterr().err.startswith("Error: Invalid value")

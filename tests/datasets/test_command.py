"""``tacit datasets``."""

import json

from click.testing import CliRunner

from tacit.cli.datasets import datasets
from tacit.datasets.catalog import CATALOG, CHECKSUMS, checksum_of


def test_the_list_says_what_there_is_and_where_from(monkeypatch, tmp_path):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist/mnist.npz").touch()
    run = CliRunner().invoke(datasets)
    assert run.exit_code == 0
    assert "docstrings" in run.output
    lines = run.output.splitlines()
    for name, entry in CATALOG.items():
        (line,) = [each for each in lines if each.split(" ")[0] == name]
        assert line.endswith("[not here]") == (name != "mnist")
        assert entry.origin in run.output
    assert f"1 of {len(CATALOG)} are in TACIT_DATA={tmp_path}" in run.output


def test_without_the_variable_it_says_which_to_set(monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    run = CliRunner().invoke(datasets)
    assert run.exit_code == 0
    assert "TACIT_DATA is not set" in run.output


def test_as_json(monkeypatch, tmp_path):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    run = CliRunner().invoke(datasets, ["--json"])
    listing = json.loads(run.output)
    assert listing["variable"] == "TACIT_DATA"
    assert listing["folder"] == str(tmp_path)
    assert [each["name"] for each in listing["datasets"]] == ["docstrings", *CATALOG]
    assert listing["datasets"][0]["here"]
    assert not listing["datasets"][1]["here"]
    assert {"about", "origin", "licence", "files", "parts"} <= {*listing["datasets"][1]}


def test_a_checksum_tells_whether_the_files_are_ours(monkeypatch, tmp_path):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist/mnist.npz").write_bytes(b"other")
    run = CliRunner().invoke(datasets, ["mnist", "--check"])
    assert f"SHA-256: {CATALOG['mnist'].sha256}  (yours differ)" in run.output
    assert "Load:    tacit.datasets.load('mnist', part='all')" in run.output
    monkeypatch.setitem(CHECKSUMS, "mnist", checksum_of(tmp_path / "mnist"))
    (tmp_path / "mnist/README.md").write_text("notes do not count")
    assert "(matches)" in CliRunner().invoke(datasets, ["mnist", "--check"]).output


def test_a_mistyped_name_is_answered_with_the_closest(monkeypatch):
    run = CliRunner().invoke(datasets, ["shakespear"])
    assert run.exit_code == 2
    assert "Did you mean 'shakespeare'?" in run.output

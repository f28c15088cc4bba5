"""``tacit datasets``."""

import json

from click.testing import CliRunner

from tacit.cli.datasets import datasets
from tacit.datasets.catalog import CATALOG


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
    found = json.loads(run.output)
    assert found["variable"] == "TACIT_DATA"
    assert found["folder"] == str(tmp_path)
    assert [each["name"] for each in found["datasets"]] == ["docstrings", *CATALOG]
    assert found["datasets"][0]["here"]
    assert not found["datasets"][1]["here"]
    assert {"about", "origin", "licence", "files", "parts"} <= {*found["datasets"][1]}

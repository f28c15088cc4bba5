"""``tacit model show`` prints what a file says, and nothing that it should not."""

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import BaseEstimator

from tacit.cli.main import main
from tacit.cli.model import model
from tacit.core import Threads, registry
from tacit.core.modelfile import Saved
from tacit.core.tensorfile import open_tensors, write_tensors


class Toy(Saved, BaseEstimator):
    def __init__(self, depth=2, *, engine="serial", callbacks=None, random_state=None):
        self.depth = depth
        self.engine = engine
        self.callbacks = callbacks
        self.random_state = random_state

    def fit(self, X, y=None):
        self.means_ = np.array([[1.0, 2.0], [3.0, 6.0]])
        self.words_ = np.array(["a", "b"], object)
        self.inertia_ = 12.5
        self.losses_ = [3.0, 2.0]
        return self


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.setitem(registry.REGISTRY, "Toy", f"{__name__}:Toy")
    path = tmp_path / "toy.safetensors"
    Toy(3, engine=Threads(2), callbacks=[print], random_state=7).fit(None).save(path)
    return path


def forge(path, change):
    with open_tensors(path, kind="model") as file:
        document, arrays = file.document, file.read()
    change(document, arrays)
    write_tensors(path, document, arrays)


def show(*arguments):
    result = CliRunner().invoke(model, ["show", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_page_has_class_parameters_arrays_and_provenance(saved):
    page = show(saved)
    words = page.split()
    assert page.startswith("Toy, a model file of")
    for expected in ("depth", "Threads(workers=2)", "inertia_", "12.5", "numpy", "seed", "7"):
        assert expected in words, expected
    (row,) = [line for line in page.splitlines() if line.startswith("  means_")]
    assert row.split() == ["means_", "float64", "2", "x", "2", "32", "bytes", "1", "3", "6"]
    (row,) = [line for line in page.splitlines() if line.startswith("  words_.bytes")]
    assert row.split() == ["words_.bytes", "uint8", "2", "2", "bytes"]
    assert "Not saved: callbacks" in page
    assert max(map(len, page.splitlines())) < 100


def test_json_is_one_document_with_everything(saved):
    description = json.loads(show(saved, "--json"))
    assert description["class_name"] == "Toy"
    assert description["params"] == {
        "depth": 3, "engine": "Threads(workers=2)", "random_state": 7
    }  # fmt: skip
    assert description["fitted"]["inertia_"] == 12.5
    assert description["fitted"]["losses_"] == [3.0, 2.0]
    assert description["dropped"] == ["callbacks"]
    tensors = {tensor["name"]: tensor for tensor in description["tensors"]}
    expected = {"name": "means_", "dtype": "float64", "shape": [2, 2], "nbytes": 32}
    assert tensors["means_"] == {**expected, "min": 1.0, "mean": 3.0, "max": 6.0}
    assert "min" not in tensors["words_.offsets"]


def test_the_class_need_not_be_known_and_no_code_of_it_runs(saved, monkeypatch):
    monkeypatch.delitem(registry.REGISTRY, "Toy")
    assert show(saved).startswith("Toy,")


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\r\nfake: line\x00\u2028"


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_control_characters_from_the_file_do_not_reach_the_terminal(saved, flags):
    def poison(document, arrays):
        document["class"] = f"T{HOSTILE}"
        document["params"][HOSTILE] = HOSTILE
        document["params"]["depth"] = [HOSTILE, {"type": "dict", "items": {HOSTILE: HOSTILE}}]
        document["params"]["engine"] = {"type": "engine", "name": HOSTILE, "settings": {}}
        document["fitted"]["inertia_"] = {"type": "dtype", "dtype": HOSTILE}
        document["dims"] = {HOSTILE: HOSTILE}
        document["dropped"] = [HOSTILE]
        document["provenance"] = {HOSTILE: HOSTILE, "versions": {HOSTILE: HOSTILE}}
        arrays[HOSTILE] = np.ones(2)

    forge(saved, poison)
    page = show(saved, *flags)
    assert not set(page) & set("\x1b\x07\x9b\u202e\r\x00")
    assert "gnp" in page
    assert not any(line.startswith("fake") for line in page.splitlines())


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_odd_contents_are_shown_without_a_crash(saved, flags):
    deep: list = []
    for _ in range(200):
        deep = [deep]

    def change(document, arrays):
        document["params"]["depth"] = deep
        document["provenance"] = {"versions": 3, "x": {"y": deep}}
        document["dims"] = {"k": 10**4000}
        document["fitted"]["long_"] = "word " * 1000
        arrays["empty_"] = np.zeros((0, 3))
        arrays["zero_d_"] = np.array(4.0)
        arrays["holes_"] = np.array([np.nan, 1e308, 1e308, np.inf])
        arrays["flags_"] = np.array([True, False])

    forge(saved, change)
    page = show(saved, *flags)
    assert "zero_d_" in page
    if flags:
        json.loads(page, parse_constant=pytest.fail)
    else:
        assert max(map(len, page.splitlines())) < 120


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b"\x80\x04 pickle", "pickle"), (None, "No such file")],
)
def test_a_bad_file_is_one_sentence_and_exit_code_4(tmp_path, capsys, content, words):
    path = tmp_path / "bad"
    if content is not None:
        path.write_bytes(content)
    assert main(["model", "show", str(path)]) == 4
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert "Traceback" not in captured.err


def test_looking_loads_neither_scikit_learn_nor_numba(saved):
    program = (
        "import sys; from tacit.cli.main import main; "
        f"assert main(['model', 'show', {str(saved)!r}]) == 0; "
        "print([m for m in ('sklearn', 'numba', 'scipy', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr

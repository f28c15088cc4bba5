"""The docstrings of installed packages: real, the same every time, and nothing is imported."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest

from tacit import datasets
from tacit.data import Documents
from tacit.datasets import docstring_set


@pytest.fixture(scope="module")
def data():
    return datasets.docstrings(["numpy", "sklearn"])


def test_there_are_thousands_and_they_are_what_the_packages_say(data):
    import sklearn.cluster

    assert len(data) > 2_000
    place = data.metadata["id"].index("sklearn.cluster._kmeans.KMeans")
    assert data.documents[place] == inspect.getdoc(sklearn.cluster.KMeans)
    assert data.metadata["package"][place] == "sklearn"
    assert data.metadata["module"][place] == "sklearn.cluster._kmeans"
    assert data.metadata["kind"][place] == "class"
    assert {*data.metadata["kind"]} == {"module", "class", "function", "method"}


def test_ids_and_texts_are_distinct_and_long_enough(data):
    ids = data.metadata["id"]
    assert len({*ids}) == len(ids)
    assert len({*data.documents}) == len(data)
    assert min(len(text.split()) for text in data.documents) >= 20
    assert data.extra["left_out"]["short"] > 0
    assert data.extra["found"] == len(data)
    assert data.extra["versions"]["numpy"] == np.__version__
    packages = np.array(data.metadata["package"])
    np.testing.assert_array_equal(np.array(data.target_names)[data.target], packages)
    assert not any(".tests." in each for each in ids)


def test_they_are_the_same_in_every_process(data):
    code = (
        "import json; from tacit import datasets; d = datasets.docstrings(['numpy']);"
        "print(json.dumps(d.metadata['id']))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    ids = json.loads(run.stdout)
    assert ids == data.metadata["id"][: len(ids)]
    assert {*data.metadata["package"][: len(ids)]} == {"numpy"}


def test_nothing_is_imported():
    code = (
        "import sys; from tacit import datasets; d = datasets.docstrings(['sklearn']);"
        "assert 'sklearn' not in sys.modules and 'scipy' not in sys.modules; print(len(d))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert int(run.stdout) > 1_000


def test_a_limit_spreads_over_all(data):
    few = datasets.docstrings(["numpy", "sklearn"], limit=100)
    assert len(few) == 100
    assert {*few.metadata["package"]} == {"numpy", "sklearn"}
    assert {*few.metadata["id"]} <= {*data.metadata["id"]}
    assert few.extra["found"] == len(data)
    assert len(datasets.docstrings(["numpy", "sklearn"], limit=10**9)) == len(data)


def test_documents_take_them(data):
    assert len(Documents.of(data.documents)) == len(data)


SOURCE = '''
"""Module words one two three."""
import somewhere_that_is_not_installed
raise SystemExit("must not run")

if True:
    def branch():
        """Branch words one two three."""
else:
    async def otherwise():
        """Otherwise words one two three."""

class Public:
    """Public words one two three."""

    @property
    def value(self):
        """Value words one two three."""

    @value.setter
    def value(self, new):
        """Setter words one two three."""

    class Inner:
        """Inner words one two three."""

    def _private(self):
        """Private words one two three."""

def outer():
    """Branch words one two three."""
    def local():
        """Local words one two three."""

def short():
    """Two words."""
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    home = tmp_path / "made_up_package"
    (home / "tests").mkdir(parents=True)
    (home / "__init__.py").write_text('"""Package words one two three."""\n')
    (home / "code.py").write_text(SOURCE, encoding="utf-8")
    (home / "broken.py").write_text("def (:\n")
    (home / "latin.py").write_bytes(
        b"# -*- coding: latin-1 -*-\n'''Na\xefve words one two.'''\n"
    )
    (home / "nul.py").write_bytes(b"x = 1\0\n")
    (home / "tests" / "test_code.py").write_text('"""Test words one two three."""\n')
    monkeypatch.syspath_prepend(tmp_path)
    docstring_set.read_package.cache_clear()
    return home.name


def test_a_package_is_read_without_running_it(package):
    data = datasets.docstrings([package], min_words=4)
    assert data.metadata["id"] == [
        package,
        f"{package}.code",
        f"{package}.code.branch",
        f"{package}.code.otherwise",
        f"{package}.code.Public",
        f"{package}.code.Public.value",
        f"{package}.code.Public.Inner",
        f"{package}.latin",
    ]
    assert data.metadata["kind"][1:5] == ["module", "function", "function", "class"]
    assert data.metadata["kind"][5] == "method"
    assert data.documents[-1] == "Naïve words one two."
    assert data.extra["left_out"] == {
        "short": 1, "repeated": 1, "same_id": 1, "unreadable": 2,
    }  # fmt: skip
    assert data.extra["versions"] == {package: None}


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: datasets.docstrings(["no_such_package"]), ValueError, "not installed"),
        (lambda: datasets.docstrings(["../etc"]), ValueError, "not installed"),
        (lambda: datasets.docstrings([]), ValueError, "no package was named"),
        (lambda: datasets.docstrings("numpy"), TypeError, r"\['numpy'\]"),
        (lambda: datasets.docstrings(min_words=0), ValueError, "min_words=0"),
        (lambda: datasets.docstrings(limit=0), ValueError, "limit=0"),
        (
            lambda: datasets.docstrings(["click"], min_words=10**6),
            ValueError,
            "Lower min_words",
        ),
        (lambda: datasets.load("docstrings", part="x"), ValueError, "no parts"),
    ],
)
def test_what_means_nothing_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()

"""Projects that several files read, explored once for all workers. Not to be changed."""

import shutil
import time

import pytest

from tacit.core import Serial
from tacit.explore import Project, explore_documents
from tacit.explore.ask import prepare_live
from tests.explore.browsing import browser
from tests.explore.corpora import hostile_table, letters, odd_table, one_topic, table

PATIENCE = 300  # seconds that another worker may take for a project


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id):
    """Make a folder once for all workers of a session: its name, and a function of its path."""
    base = tmp_path_factory.getbasetemp()
    home = (base if worker_id == "master" else base.parent) / "shared"
    home.mkdir(exist_ok=True)

    def make_once(name, make):
        path, done = home / name, home / f"{name}.done"
        failed = home / f"{name}.failed"
        try:
            (home / f"{name}.begun").mkdir()
        except FileExistsError:
            end = time.monotonic() + PATIENCE
            while not done.exists():
                assert not failed.exists(), f"another worker failed to make {name}"
                assert time.monotonic() < end, f"no worker has made {name}"
                time.sleep(0.05)
        else:
            try:
                make(path)
            except BaseException:
                failed.touch()
                raise
            done.touch()
        return path

    return make_once


@pytest.fixture(scope="session")
def explored(shared):
    """Explore documents once in a session; the project."""
    made = {}

    def explore(name, documents, **settings):
        settings = {"effort": "quick", "engine": Serial(), **settings}

        def make(path):
            explore_documents(documents(), out=path, **settings)

        if name not in made:
            made[name] = Project.open(shared(f"{name}.tacit", make))
        return made[name]

    return explore


@pytest.fixture(scope="session")
def prepared(explored, shared):
    """The topics with everything that questions need."""

    def make(path):
        shutil.copytree(explored("topics", lambda: table(*letters())).path, path)
        prepare_live(path, Serial())

    return shared("prepared-topics.tacit", make)


@pytest.fixture
def topics(explored):
    return explored("topics", lambda: table(*letters()))


@pytest.fixture
def hostile(explored):
    return explored("hostile", hostile_table, clean=False)


@pytest.fixture
def odd(explored):
    return explored("odd", odd_table)


@pytest.fixture
def single(explored):
    """Documents in which there are no groups."""
    return explored("single", one_topic)


@pytest.fixture
def few(explored):
    texts, _ = letters(12)
    return explored("few", lambda: texts)


@pytest.fixture
def lone(explored):
    return explored("lone", lambda: ["One document alone, about a ship and the sea."])


@pytest.fixture
def nothing(explored):
    return explored("nothing", list)


@pytest.fixture
def blank(explored):
    return explored("blank", lambda: ["", " ", None])


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened

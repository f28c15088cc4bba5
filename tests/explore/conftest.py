"""Projects that several files look at, explored once."""

import pytest

from tacit.core.engines import Serial
from tacit.explore.project.project import explore_documents
from tests.explore.browsing import browser
from tests.explore.corpora import hostile_table, letters, odd_table, one_topic, table


@pytest.fixture(scope="session")
def explored(tmp_path_factory):
    """Explore documents once in a session; the project."""
    made = {}

    def explore(name, documents, **settings):
        if name not in made:
            out = tmp_path_factory.mktemp("projects") / f"{name}.tacit"
            settings = {"effort": "quick", "engine": Serial(), **settings}
            made[name] = explore_documents(documents(), out=out, **settings)
        return made[name]

    return explore


@pytest.fixture
def topics(explored):
    return explored("topics", lambda: table(*letters()))


@pytest.fixture
def hostile(explored):
    return explored("hostile", hostile_table)


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

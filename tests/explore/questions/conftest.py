"""Projects that are asked questions: as they are, and with the live stages on disk."""

import shutil

import pytest

from tacit.core.engines import Serial
from tacit.explore.ask import Live
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import prepare_live

HELD: dict = {}


def live_of(project):
    """A project with everything that questions need made in memory, once."""
    if project.path not in HELD:
        HELD[project.path] = Live(project.path, build=True)
    return HELD[project.path]


@pytest.fixture
def live(topics):
    return live_of(topics)


@pytest.fixture
def hostile_live(hostile):
    return live_of(hostile)


@pytest.fixture
def few_live(few):
    return live_of(few)


@pytest.fixture
def lone_live(lone):
    return live_of(lone)


@pytest.fixture
def nothing_live(nothing):
    return live_of(nothing)


@pytest.fixture
def blank_live(blank):
    return live_of(blank)


@pytest.fixture(scope="session")
def prepared(explored, tmp_path_factory):
    """A copy of a project with the live stages written."""
    from tests.explore.corpora import letters, table

    project = explored("topics", lambda: table(*letters()))
    copy = tmp_path_factory.mktemp("prepared") / "topics.tacit"
    shutil.copytree(project.path, copy)
    prepare_live(ProjectFolder(copy), Serial())
    return copy

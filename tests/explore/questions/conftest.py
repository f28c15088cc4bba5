"""Projects that are asked questions: as they are, and with the live stages on disk."""

import pytest

from tacit.explore.ask import Live

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

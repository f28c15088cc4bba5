"""A prepared project, and a browser's session with a server on it."""

import shutil
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from tacit.explore.server.app import make_app
from tacit.explore.server.security import Access
from tacit.explore.server.state import ServerState
from tests.explore.corpora import letters

HERE = "http://127.0.0.1:8000"
OURS = {"X-Tacit": "1", "Origin": HERE}


@pytest.fixture
def project(prepared, tmp_path):
    """A copy of a prepared project to change."""
    return shutil.copytree(prepared, tmp_path / "topics.tacit")


@pytest.fixture(scope="session")
def shared_state(prepared, tmp_path_factory):
    """For tests that change nothing: opening a project reads all of it."""
    own = tmp_path_factory.mktemp("served") / "topics.tacit"  # a server locks its project
    state = ServerState(shutil.copytree(prepared, own))
    yield state
    state.close()


@pytest.fixture
def state(project):
    state = ServerState(project)
    yield state
    state.close()


@pytest.fixture
def stranger(state):
    """Somebody without the cookie."""
    access = Access.new("127.0.0.1", 8000)
    with TestClient(make_app(state, access), base_url=HERE, follow_redirects=False) as client:
        client.access = access
        yield client


@pytest.fixture
def client(stranger):
    """The user's browser."""
    assert stranger.get("/", params={"token": stranger.access.token}).status_code == 303
    return stranger


@pytest.fixture
def post(client):
    """Send JSON as the page does; the status and the answer."""

    def send(path, body, status=200, **headers):
        answer = client.post(path, json=body, headers={**OURS, **headers})
        assert answer.status_code == status, answer.text
        return answer.json()

    return send


@pytest.fixture
def ask(client):
    """Ask as the page does; the answer."""

    def get(path, status=200, **query):
        answer = client.get(path, params=query)
        assert answer.status_code == status, answer.text
        return answer.json()

    return get


@pytest.fixture(scope="session")
def texts():
    found, topics = letters()
    return SimpleNamespace(texts=found, topics=topics)

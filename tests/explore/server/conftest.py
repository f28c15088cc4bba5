"""A prepared project, and a browser's session with a server on it."""

import shutil
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from tacit.core.engines import Serial
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import prepare_live
from tacit.explore.server.app import make_app
from tacit.explore.server.security import Access
from tacit.explore.server.state import ServerState
from tests.explore.corpora import letters, table

HERE = "http://127.0.0.1:8000"
OURS = {"X-Tacit": "1", "Origin": HERE}


@pytest.fixture(scope="session")
def prepared(explored, tmp_path_factory):
    """A project with everything questions need. Not to be changed."""
    made = explored("topics", lambda: table(*letters()))
    path = tmp_path_factory.mktemp("served") / "topics.tacit"
    shutil.copytree(made.path, path)
    prepare_live(ProjectFolder(path), Serial())
    return path


@pytest.fixture
def project(prepared, tmp_path):
    """A copy of it to change."""
    ours = shutil.ignore_patterns("labels.sqlite*", "serving")
    return shutil.copytree(prepared, tmp_path / "topics.tacit", ignore=ours)


@pytest.fixture(scope="session")
def shared_state(prepared):
    """For tests that change nothing: opening a project reads all of it."""
    state = ServerState(prepared)
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

"""What each address answers, and what it says to requests that make no sense."""

import re
import shutil

import pytest
from starlette.testclient import TestClient

from tacit.explore.server.app import make_app
from tacit.explore.server.jobs import Job
from tacit.explore.server.security import Access
from tacit.explore.server.state import ServerState
from tests.explore.corpora import letters, table
from tests.explore.server.conftest import HERE

GETS = {
    "/api/search": {"q": "whale"},
    "/api/similar": {"row": 0},
    "/api/document": {"row": 0},
    "/api/concordance": {"q": "whale"},
    "/api/neighbors": {"q": "whale"},
    "/api/next": {"q": "the"},
    "/api/surprise": {"q": "the whale"},
}
LONG = "w" * 20_000


@pytest.fixture
def state(shared_state):
    return shared_state


def sentence(answer):
    """One sentence or two, not a traceback."""
    assert list(answer) == ["error"]
    assert re.fullmatch(r"\S[^\n]{5,400}\.", answer["error"]), answer
    return answer["error"]


# --- Good questions ---


def test_the_small_facts_say_what_is_open(ask, prepared):
    facts = ask("/api/project")
    assert facts["name"] == "topics"
    assert facts["documents"] == 90
    assert facts["groups"] == 3
    assert facts["ready"] is True
    assert facts["writes"] is True
    assert re.fullmatch("[0-9a-f]{64}", facts["run"])


@pytest.mark.parametrize("way", ["ranked", "boolean", "meaning"])
def test_search_finds_documents_in_three_ways(ask, texts, way):
    found = ask("/api/search", q="whale", way=way, top=3)
    assert found["way"] == way
    assert len(found["hits"]) == 3
    for hit in found["hits"]:
        assert texts.topics[hit["row"]] == "sea"


def test_search_goes_on_where_it_stopped(ask):
    whole = [hit["row"] for hit in ask("/api/search", q="whale", top=10)["hits"]]
    parts = [ask("/api/search", q="whale", top=5, start=start)["hits"] for start in (0, 5)]
    assert [hit["row"] for part in parts for hit in part] == whole


def test_documents_come_whole_and_with_their_like(ask, texts):
    assert ask("/api/document", row=7)["text"] == texts.texts[7]
    near = ask("/api/similar", row=7, top=4)["hits"]
    assert {texts.topics[hit["row"]] for hit in near} == {texts.topics[7]}
    assert 7 not in {hit["row"] for hit in near}


def test_words_in_context_and_words_like_it(ask):
    lines = ask("/api/concordance", q="whale", sort="left", width=20, top=5)
    assert {line["key"] for line in lines["lines"]} == {"whale"}
    assert lines["total"] >= lines["documents"] > 5
    for name in ("q", "word"):
        assert len(ask("/api/neighbors", top=3, **{name: "whale"})["near"]) == 3


def test_the_language_model_goes_on(ask, post):
    assert len(ask("/api/next", q="the", top=4)["words"]) == 4
    asked = {"prefix": "the", "words": 5, "temperature": 0.5, "seed": 3}
    first, again = post("/api/generate", asked), post("/api/generate", asked)
    assert first["text"] == again["text"]
    assert ask("/api/surprise", q="the whale")["words"]


@pytest.mark.parametrize("name", [
    "documents.csv", "documents.parquet", "documents.json", "groups.json", "tree.nwk",
    "projector-vectors.tsv", "projector-metadata.tsv", "atlas.parquet",
])  # fmt: skip
def test_exports_come_as_files(client, name):
    answer = client.get(f"/api/export/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert len(answer.content) > 50


# --- Bad ones ---


@pytest.mark.parametrize("name", [
    "../project.json", "..%2Fproject.json", "%2e%2e/project.json", "/etc/passwd", "..",
    "%2Fetc%2Fpasswd", "documents.csv/..", "documents.csv%00.html", "project.json", "C:%5Cx",
    "DOCUMENTS.CSV", "documents.csv%0d%0aSet-Cookie:x", "labels.sqlite",
])  # fmt: skip
def test_an_export_is_one_of_a_list_and_never_a_path(client, name):
    answer = client.get(f"/api/export/{name}")
    assert answer.status_code == 404
    assert "set-cookie" not in answer.headers
    sentence(answer.json())


@pytest.mark.parametrize(("path", "wrong", "said"), [
    ("/api/search", {"q": ""}, "q is empty"),
    ("/api/search", {"q": " \t"}, "q is empty"),
    ("/api/search", {"q": None}, "q must be given"),
    ("/api/search", {"q": LONG}, "20,000 characters"),
    ("/api/search", {"way": "best"}, "ranked, boolean, meaning"),
    ("/api/search", {"top": 0}, "from 1 to 1,000"),
    ("/api/search", {"top": "many"}, "whole number"),
    ("/api/search", {"top": "1e3"}, "whole number"),
    ("/api/search", {"top": "٣"}, "whole number"),
    ("/api/search", {"top": "9" * 40}, "from 1 to 1,000"),
    ("/api/search", {"start": -1}, "from 0"),
    ("/api/search", {"start": "--5"}, "start='--5' must be a whole number"),
    ("/api/search", {"limit": 3}, "There is no parameter 'limit'"),
    ("/api/search", {"q": "whale AND (", "way": "boolean"}, ""),
    ("/api/similar", {"row": None}, "row='' must be a whole number"),
    ("/api/similar", {"row": "0; drop"}, "whole number"),
    ("/api/similar", {"top": 1.5}, "whole number"),
    ("/api/document", {"row": "../1"}, "whole number"),
    ("/api/concordance", {"sort": "up"}, "document, left, right"),
    ("/api/concordance", {"width": 5}, "from 10 to 500"),
    ("/api/concordance", {"q": "\x00"}, ""),
    ("/api/neighbors", {"q": ""}, "q is empty"),
    ("/api/next", {"q": LONG}, "characters"),
    ("/api/surprise", {"q": LONG}, "characters"),
])  # fmt: skip
def test_a_parameter_that_makes_no_sense_is_named(ask, path, wrong, said):
    given = {**GETS[path], **wrong}
    asked = {name: value for name, value in given.items() if value is not None}
    assert said in sentence(ask(path, 400, **asked))


@pytest.mark.parametrize("row", [-1, 90, 10**11])
@pytest.mark.parametrize("path", ["/api/similar", "/api/document"])
def test_a_document_that_is_not_there_is_not_found(ask, path, row):
    assert "from 0 to 89" in sentence(ask(path, 404, row=row))


def test_a_parameter_given_twice_is_refused(client):
    answer = client.get("/api/search?q=whale&q=ship")
    assert answer.status_code == 400
    assert "twice" in answer.json()["error"]


@pytest.mark.parametrize(("path", "body", "said"), [
    ("/api/compare", {}, "a must be an object"),
    ("/api/compare", {"a": {"rest": True}, "b": {"rest": True}}, "both the rest"),
    ("/api/compare", {"a": {"rest": 1}, "b": {"group": 0}}, "rest must be true"),
    ("/api/compare", {"a": {"rows": []}, "b": {"rest": True}}, "at least one"),
    ("/api/compare", {"a": {"rows": [0.5]}, "b": {"rest": True}}, "row numbers"),
    ("/api/compare", {"a": {"rows": [True]}, "b": {"rest": True}}, "row numbers"),
    ("/api/compare", {"a": {"group": "x"}, "b": {"rest": True}}, "whole number"),
    ("/api/compare", {"a": {"group": 77}, "b": {"rest": True}}, ""),
    ("/api/compare", {"a": {"rows": [1], "group": 0}, "b": {"rest": True}}, "one of"),
    ("/api/compare", {"a": {"query": ""}, "b": {"rest": True}}, "query is empty"),
    ("/api/compare", {"a": {"__class__": 1}, "b": {"rest": True}}, "one of"),
    ("/api/generate", {"prefix": 3}, "as text"),
    ("/api/generate", {"words": 0}, "from 1 to 1,000"),
    ("/api/generate", {"words": True}, "whole number"),
    ("/api/generate", {"temperature": -1}, "from 0 to 10"),
    ("/api/generate", {"temperature": "hot"}, "a number"),
    ("/api/generate", {"temperature": "nan"}, "a number"),
    ("/api/generate", {"temperature": 10**400}, "from 0 to 10"),
    ("/api/generate", {"seed": -1}, "from 0"),
    ("/api/labels", {"rows": [0]}, "name must be given"),
    ("/api/labels", {"rows": [0], "name": " "}, "name is empty"),
    ("/api/labels", {"rows": [0], "name": "n" * 300}, "at most 200"),
    ("/api/labels", {"rows": [0], "name": "a\u202eb"}, "cannot be shown"),
    ("/api/labels", {"rows": [0], "name": ["a"]}, "as text"),
    ("/api/labels", {"rows": "all", "name": "a"}, "list of row numbers"),
    ("/api/labels", {"rows": [0], "name": "a", "path": "/etc"}, "no parameter 'path'"),
    ("/api/labels/undo", {}, "nothing to take back"),
    ("/api/jobs", {}, "spread, explore"),
    ("/api/jobs", {"kind": "shell"}, "spread, explore"),
    ("/api/jobs", {"kind": "explore", "k": 0}, "from 1 to 1,000"),
    ("/api/jobs", {"kind": "explore", "k": "3; rm"}, "whole number"),
    ("/api/jobs", {"kind": "explore", "effort": "all"}, "quick, normal, thorough"),
    ("/api/jobs", {"kind": "spread", "k": 3}, "takes no k"),
    ("/api/jobs", {"kind": "spread"}, "two different labels"),
    ("/api/jobs", {"kind": "edit"}, "merge, split, pin, undo"),
    ("/api/jobs", {"kind": "edit", "edit": "merge", "groups": [0]}, "2 to 3 different"),
    ("/api/jobs", {"kind": "edit", "edit": "merge", "groups": [0, 0]}, "2 to 3 different"),
    ("/api/jobs", {"kind": "edit", "edit": "split", "groups": [3]}, "from 0 to 2"),
    ("/api/jobs", {"kind": "edit", "edit": "pin", "groups": "all"}, "a list of 1 to 1"),
    ("/api/jobs", {"kind": "prepare", "edit": "undo"}, "takes no edit"),
])  # fmt: skip
def test_a_body_that_makes_no_sense_is_refused(post, path, body, said):
    assert said in sentence(post(path, body, 400))


def test_rows_labels_and_jobs_that_are_not_there_are_not_found(post, ask, client):
    assert "from 0 to 89" in sentence(post("/api/labels", {"rows": [90], "name": "a"}, 404))
    rest = {"a": {"label": "none"}, "b": {"rest": True}}
    assert "label" in sentence(post("/api/compare", rest, 404))
    assert "no such job" in sentence(post("/api/jobs/0/cancel", {}, 404))
    assert "no such job" in sentence(ask("/api/jobs/..x/events", 404))
    assert "nothing at this address" in sentence(ask("/api/jobs/..%2f..%2fx/events", 404))
    assert "nothing at this address" in sentence(ask("/api/secret", 404))


@pytest.fixture
def bare(explored, tmp_path):
    """A project that nobody has served yet, and a browser that looks at it."""
    made = explored("topics", lambda: table(*letters()))
    path = shutil.copytree(made.path, tmp_path / "bare.tacit")
    state, access = ServerState(path), Access.new("127.0.0.1", 8000)
    with TestClient(make_app(state, access), base_url=HERE) as client:
        client.get("/", params={"token": access.token})
        yield state, client
    state.close()


def test_what_is_still_being_made_is_not_ready(bare, monkeypatch):
    _, client = bare
    started = []
    monkeypatch.setattr(ServerState, "start_job", lambda self, *job: started.append(job))
    assert client.get("/api/project").json()["missing"] == ["index", "language"]
    for path in ("/api/search", "/api/next"):
        answer = client.get(path, params=GETS[path])
        assert answer.status_code == 503
        sentence(answer.json())
    assert started == [("prepare", {})] * 2  # nobody was making it
    assert client.get("/api/document?row=0").status_code == 200


def test_what_could_not_be_made_is_not_waited_for(bare, monkeypatch):
    state, client = bare
    job = Job("prepare", {}, b"")
    job.state, job.message = "failed", "No space left on device."
    monkeypatch.setattr(state.jobs, "latest", lambda kind: job)
    answer = client.get("/api/search", params=GETS["/api/search"])
    assert answer.status_code == 500
    assert "No space left" in sentence(answer.json())


def test_a_fault_of_ours_is_an_answer_too(client, monkeypatch, capsys):
    def fail(*_, **__):
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr("tacit.explore.ask.search", fail)
    answer = client.get("/api/search", params={"q": "whale"})
    assert answer.status_code == 500
    assert "secret" not in sentence(answer.json())
    assert "ZeroDivisionError: a secret detail" in capsys.readouterr().err

"""A web page in the user's browser is a stranger: what it may not do."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.testclient import TestClient

from tacit.explore.server.app import make_app
from tacit.explore.server.parameters import Refused, read_json
from tacit.explore.server.security import Access, page_policy
from tests.explore.server.conftest import HERE, OURS

LABEL = {"rows": [0], "name": "sea"}
SAFE = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@pytest.fixture
def state(shared_state):
    return shared_state


def refused(answer, status):
    assert answer.status_code == status
    assert re.fullmatch(r"[A-Z].+\.", answer.json()["error"])
    for name, value in SAFE.items():
        assert answer.headers[name] == value
    assert "default-src 'none'" in answer.headers["content-security-policy"]


# --- The way in ---


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(stranger):
    answer = stranger.get("/", params={"token": stranger.access.token})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("tacit-8000=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert stranger.access.token not in cookie
    assert stranger.get("/").status_code == 200


def test_a_link_on_another_site_gets_a_page_since_a_redirect_would_lose_the_cookie(stranger):
    away = {"Sec-Fetch-Site": "cross-site"}
    answer = stranger.get("/", params={"token": stranger.access.token}, headers=away)
    assert answer.status_code == 200
    assert "http-equiv=refresh" in answer.text
    assert "set-cookie" in answer.headers


def test_the_token_for_the_browsers_command_line_opens_once(state):
    access = Access.new("127.0.0.1", 8000)
    assert access.once_address == f"{HERE}/?token={access.once}"
    app = make_app(state, access)
    codes = []
    for _ in range(2):
        with TestClient(app, base_url=HERE) as client:
            codes.append(client.get("/", params={"token": access.once}).status_code)
    assert codes == [200, 401]


def test_the_token_opens_a_second_browser_too(state):
    access = Access.new("127.0.0.1", 8000)
    for _ in range(2):
        with TestClient(make_app(state, access), base_url=HERE) as client:
            assert client.get("/", params={"token": access.token}).status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "é\x00", "A" * 5000])
def test_a_wrong_token_opens_nothing(stranger, token):
    answer = stranger.get("/", params={"token": token})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "whale" not in answer.text


def test_two_tokens_open_nothing(stranger):
    token = stranger.access.token
    assert stranger.get(f"/?token={token}&token=x").status_code == 401


@pytest.mark.parametrize("path", [
    "/api/project", "/api/search?q=whale", "/api/document?row=0", "/api/labels", "/api/jobs",
    "/api/export/documents.csv", "/api/jobs/x/events", "/api/nothing", "/nothing",
])  # fmt: skip
def test_nothing_is_told_without_the_cookie(stranger, path):
    refused(stranger.get(path), 401)


def test_the_page_is_closed_without_the_cookie(stranger):
    answer = stranger.get("/")
    assert answer.status_code == 401
    assert "tacit serve" in answer.text
    assert answer.headers["x-frame-options"] == "DENY"


def test_the_token_is_no_cookie_and_no_key_to_the_rest(stranger):
    token = stranger.access.token
    refused(stranger.get("/api/project", params={"token": token}), 401)
    refused(stranger.get("/api/project", headers={"Cookie": f"tacit-8000={token}"}), 401)
    refused(stranger.get("/api/project", headers={"Cookie": "tacit-8000="}), 401)


def test_the_cookie_of_another_server_on_this_machine_does_not_get_in_the_way(client):
    session = client.access.session
    client.cookies.clear()
    jar = f"tacit-9999=other; tacit-8000=old; tacit-8000={session}; bad cookie; =;"
    assert client.get("/api/project", headers={"Cookie": jar}).status_code == 200


# --- The name it is called by ---


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "localhost", "", "::1",
    "127.0.0.1:8000.evil.example", "127.0.0.1:8000@evil.example", "127.0.0.1:80000000",
    "0.0.0.0:8000", "[::1]:8001", "localhost:8000, evil.example", "2130706433:8000",
    "127.0.0.1.evil.example:8000", "localhost.:8000",
])  # fmt: skip
def test_a_rebound_name_is_refused_even_with_the_cookie(client, host):
    for path in ("/", "/api/project", f"/?token={client.access.token}"):
        refused(client.get(path, headers={"Host": host}), 403)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "LocalHost:8000", "[::1]:8000"])
def test_names_of_this_machine_are_ours(stranger, host):
    cookie = f"tacit-8000={stranger.access.session}"
    answer = stranger.get("/api/project", headers={"Host": host, "Cookie": cookie})
    assert answer.status_code == 200


@pytest.mark.parametrize(("bound", "host", "ours"), [
    ("0.0.0.0", "192.168.1.7:8000", True), ("0.0.0.0", "pc.example:8000", False),
    ("::", "[2001:db8::1]:8000", True), ("pc.example", "pc.example:8000", True),
    ("192.168.1.7", "192.168.1.8:8000", False), ("127.0.0.1", "192.168.1.7:8000", False),
])  # fmt: skip
def test_a_server_for_others_answers_to_addresses_and_its_own_name(bound, host, ours):
    assert Access.new(bound, 8000).knows_host(host) is ours


@given(host=st.text("0123456789.:[]@/\\ localhostLOCALHOST\r\n\0é", max_size=30))
def test_no_other_spelling_of_a_host_is_ours(host):
    here = Access.new("127.0.0.1", 8000)
    names = {"127.0.0.1:8000", "localhost:8000", "[::1]:8000"}
    if here.knows_host(host):
        assert host.lower() in names


def test_port_80_goes_without_saying():
    assert Access.new("127.0.0.1", 80).knows_host("localhost")


# --- Other origins ---


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:9999"},
    {"Origin": "https://127.0.0.1:8000"}, {"Origin": "http://localhost:8000"},
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
    {"Origin": HERE, "Sec-Fetch-Site": "cross-site"},
])  # fmt: skip
def test_another_origin_can_neither_change_nor_read(client, state, headers):
    refused(client.post("/api/labels", json=LABEL, headers={"X-Tacit": "1", **headers}), 403)
    refused(client.get("/api/labels", headers=headers), 403)
    assert not state.labels.all()


@pytest.mark.parametrize("headers", [{}, {"X-Tacit": ""}, {"X-Tacit": "2"}])
def test_a_post_needs_the_header_that_no_form_can_send(client, state, headers):
    refused(client.post("/api/labels", json=LABEL, headers={"Origin": HERE, **headers}), 403)
    assert not state.labels.all()


def test_a_post_that_does_not_say_where_it_comes_from_is_refused(client, state):
    for more in ({}, {"Sec-Fetch-Site": "none"}):
        refused(client.post("/api/labels", json=LABEL, headers={"X-Tacit": "1", **more}), 403)
    assert not state.labels.all()


def test_a_post_of_the_page_itself_passes(client):
    for own in ({"Origin": HERE}, {"Sec-Fetch-Site": "same-origin"}):
        answer = client.post("/api/labels", json=LABEL, headers={"X-Tacit": "1", **own})
        assert answer.json()["rows"] == {"0": "sea"}
    back = client.post("/api/labels/undo", json={}, headers=OURS)
    assert back.json()["rows"] == {}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded",
                                  "multipart/form-data; boundary=x", ""])  # fmt: skip
def test_json_in_the_clothes_of_a_form_is_refused(client, state, kind):
    form = b'{"rows": [0], "name": "sea", "x": "="}'  # as a field's name and its value
    plain = client.post("/api/labels", content=form, headers={"Content-Type": kind})
    refused(plain, 403)
    body = b'{"rows": [0], "name": "sea"}'
    dressed = client.post("/api/labels", content=body, headers={**OURS, "Content-Type": kind})
    refused(dressed, 400)
    assert not state.labels.all()


def test_no_answer_carries_permission_for_other_origins(client):
    preflight = client.options("/api/labels", headers={
        "Origin": "http://evil.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-tacit,content-type",
    })  # fmt: skip
    evil = client.get("/api/project", headers={"Origin": "http://evil.example"})
    paths = ("/", "/api/project", "/nothing")
    for answer in (preflight, evil, *map(client.get, paths)):
        assert not [n for n in answer.headers if n.startswith("access-control")]
    assert preflight.status_code == 403


def test_the_page_is_nobodys_frame_image_or_script(client):
    inside = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "iframe"}
    refused(client.get("/", headers=inside), 403)
    opened = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "document"}
    assert client.get("/", headers=opened).status_code == 200


def test_every_answer_has_the_safe_headers(client):
    for path in ("/", "/api/project", "/api/export/groups.json", "/nothing", "/favicon.ico"):
        answer = client.get(path)
        for name, value in SAFE.items():
            assert answer.headers[name] == value, path
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_the_page_may_run_its_own_script_and_nothing_else(client):
    policy = client.get("/").headers["content-security-policy"]
    parts = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["connect-src"] == "'self'"
    assert re.fullmatch(r"'sha256-[\w+/]+='", parts["script-src"])
    assert re.fullmatch(r"'sha256-[\w+/]+='", parts["style-src"])
    assert "unsafe" not in policy
    assert parts["frame-ancestors"] == "'none'"


def test_a_document_cannot_name_a_policy():
    late = "<p>" + "x" * 3000 + '<meta http-equiv="Content-Security-Policy" content="all">'
    assert page_policy(late).startswith("default-src 'none'")


# --- Bodies and methods ---


@pytest.mark.parametrize("said", [True, False])
def test_a_body_over_one_megabyte_is_refused(client, state, said):
    body = b'{"rows": [0], "name": "' + b"a" * 2**20 + b'"}'
    content = body if said else iter([body[:1000], body[1000:]])  # without Content-Length
    headers = {**OURS, "Content-Type": "application/json"}
    refused(client.post("/api/labels", content=content, headers=headers), 413)
    assert not state.labels.all()


@pytest.mark.parametrize("length", [b"\xb2", b"\xb9\xb3", b"-1", b"1e9", b"9" * 5000])
def test_a_length_that_is_no_number_is_refused_or_ignored(length):
    """The first two are digits in Latin-1, ones that int() does not take."""
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]

    async def receive():
        return {"type": "http.request", "body": b"[]"}

    request = Request({"type": "http", "headers": headers}, receive)
    with pytest.raises(Refused) as caught:
        asyncio.run(read_json(request))
    assert caught.value.status == (413 if len(length) > 1000 else 400)


@pytest.mark.parametrize("body", [b"{", b"[1]", b"null", b"\xff", b'{"a": NaN}', b"[" * 9000])
def test_a_body_that_is_no_json_object_is_refused(client, body):
    headers = {**OURS, "Content-Type": "application/json"}
    refused(client.post("/api/labels", content=body, headers=headers), 400)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused(client, method):
    refused(client.request(method, "/api/labels", headers=OURS), 405)
    refused(client.request(method, "/api/labels"), 403)

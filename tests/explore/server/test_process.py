"""``tacit serve`` as a process: many questions at once, kills, restarts, Ctrl-C."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from tests.explore.corpora import letters, table
from tests.explore.server.test_jobs import gone, soon

WAIT = 120  # seconds until something that never takes long is taken for stuck


class Served:
    """A server in a process of its own, and a browser's cookie for it."""

    def __init__(self, project):
        self.project = project
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tacit", "serve", str(project), "--no-browser"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.address = self.process.stdout.readline().strip()
        parts = urlsplit(self.address)
        self.netloc, self.cookie = parts.netloc, ""
        _, headers, _ = self.ask("GET", f"/?{parts.query}")
        self.cookie = headers["set-cookie"].partition(";")[0]

    def connect(self):
        return http.client.HTTPConnection(self.netloc, timeout=WAIT)

    def ask(self, method, path, body=None, **headers):
        with contextlib.closing(self.connect()) as connection:
            self.send(connection, method, path, body, **headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def send(self, connection, method, path, body=None, **headers):
        own = {"Cookie": self.cookie}
        if body is not None:
            own |= {"X-Tacit": "1", "Origin": f"http://{self.netloc}"}
            own["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {**own, **headers})

    def get(self, path):
        status, _, body = self.ask("GET", path)
        assert status == 200, body
        return json.loads(body)

    def post(self, path, body):
        status, _, reply = self.ask("POST", path, body)
        assert status == 200, reply
        return json.loads(reply)

    def children(self):
        """Processes it has started."""
        path = f"/proc/{self.process.pid}/task"
        found = []
        for thread in os.listdir(path):
            with open(f"{path}/{thread}/children") as file:
                found += map(int, file.read().split())
        return found

    def end(self, how=signal.SIGKILL):
        """Send a signal; the exit code and what was said on standard error."""
        self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=WAIT)
        return self.process.returncode, errors


@pytest.fixture(scope="module")
def served(explored, tmp_path_factory):
    """A server on a project that nobody served before, when it is ready."""
    made = explored("topics", lambda: table(*letters()))
    path = tmp_path_factory.mktemp("live") / "topics.tacit"
    server = Served(shutil.copytree(made.path, path))
    server.progress = progress_while_preparing(server)
    yield server
    if server.process.poll() is None:
        server.end()


def progress_while_preparing(server):
    """The lines of the first job's events; the stream opens while it has just begun."""
    (child,) = server.children()
    os.kill(child, signal.SIGSTOP)
    (job,) = server.get("/api/jobs")
    assert job["kind"] == "prepare"
    with contextlib.closing(server.connect()) as line:
        server.send(line, "GET", f"/api/jobs/{job['job']}/events")
        stream = line.getresponse()
        assert stream.getheader("content-type").startswith("text/event-stream")
        assert server.get("/api/jobs")[0]["state"] == "running"
        assert server.ask("GET", "/api/search?q=whale")[0] == 503
        os.kill(child, signal.SIGCONT)
        return stream.read().decode().split("\n")


def test_a_new_project_is_prepared_and_events_tell_how_far_it_is(served):
    lines = [line for line in served.progress if line]
    assert lines[:2] == ["id: 1", "event: progress"]
    first = json.loads(lines[2].removeprefix("data: "))
    assert first.items() >= {"stage": "index", "number": 1, "most": 2, "done": False}.items()
    assert lines[-2] == "event: end"
    assert json.loads(lines[-1].removeprefix("data: "))["ok"] is True
    assert served.get("/api/project")["ready"] is True


def test_two_hundred_searches_at_once_are_all_answered(served):
    words = ["whale", "oven", "comet", "the ship", "dough OR crust", "moon -light"]
    queries = [f"/api/search?q={word.replace(' ', '+')}&top=5" for word in words]
    expected = {query: served.get(query) for query in queries}
    together = threading.Barrier(200)

    def search(number):
        query = queries[number % len(queries)]
        together.wait(WAIT)
        return served.get(query) == expected[query]

    with ThreadPoolExecutor(200) as pool:
        assert all(pool.map(search, range(200)))


def test_what_is_no_request_harms_nobody(served):
    host, _, port = served.netloc.partition(":")
    for data in (b"\x16\x03\x01 hello\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"G" * 100_000,
                 b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                 b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
                 b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n"):  # fmt: skip
        with (
            contextlib.suppress(OSError),  # it may hang up before it has heard all
            socket.create_connection((host, int(port)), timeout=WAIT) as raw,
        ):
            raw.sendall(data)
            raw.shutdown(socket.SHUT_WR)
            answer = raw.recv(4096)
            assert not answer or answer.split()[1] in (b"400", b"403", b"431"), answer
    assert served.get("/api/project")["documents"] == 90


def test_a_stranger_is_refused_over_the_wire(served):
    assert served.ask("GET", "/api/project", Cookie="")[0] == 401
    assert served.ask("GET", "/api/project", Host="evil.example")[0] == 403
    label = {"rows": [0], "name": "x"}
    assert served.ask("POST", "/api/labels", label, Origin="null")[0] == 403
    status, headers, _ = served.ask("GET", "/api/project", Origin="http://evil.example")
    assert status == 403
    assert not [name for name in headers if name.startswith("access-control")]
    assert "server" not in headers


def test_labels_outlive_a_kill_and_jobs_do_not(served):
    """The last one here: it ends the server."""
    before = served.get("/api/labels")["rows"]
    reply = served.post("/api/labels", {"rows": [10, 11], "name": "kept"})
    job = served.post("/api/jobs", {"kind": "explore", "k": 5, "effort": "quick"})
    children = served.children()
    assert job["job"]
    assert len(children) == 1
    code, _ = served.end(signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert soon(lambda: gone(children[0]))
    project = served.project
    again = Served(project)
    try:
        assert again.address != served.address
        assert again.get("/api/labels")["rows"] == reply["rows"] == {
            **before, "10": "kept", "11": "kept",
        }  # fmt: skip
        assert again.ask("GET", "/api/project", Cookie=served.cookie)[0] == 401
        second = Served(project)
        try:
            assert second.get("/api/labels")["rows"] == reply["rows"]
            assert second.ask("POST", "/api/labels", {"rows": [0], "name": "x"})[0] == 409
            code, errors = second.end(signal.SIGTERM)
            assert code == 0
            assert "open for reading only: process" in errors
        finally:
            second.process.kill()
        with contextlib.closing(again.connect()) as waiting:  # somebody is still listening
            waiting.connect()
            code, errors = again.end(signal.SIGINT)
        assert code == 130
        assert "Traceback" not in errors
    finally:
        again.process.kill()

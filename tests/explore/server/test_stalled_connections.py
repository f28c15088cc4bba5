"""Connections on which a request does not arrive are closed, and the others are answered."""

import asyncio
import contextlib
import http.client
import socket
import threading

import pytest

from tacit.explore.server import app as app_module
from tacit.explore.server.app import PromptServer, bound_socket, configured

WAIT = 60  # seconds until something that never takes long is taken for stuck


async def hello(scope, receive, send):
    if scope["path"] == "/slow":
        await asyncio.sleep(1)
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello" + body})


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setattr(app_module, "REQUEST_TIME", 0.5)
    monkeypatch.setattr(app_module, "MOST_CONNECTIONS", 20)
    listening, ready = bound_socket("127.0.0.1", 0), threading.Event()
    server = PromptServer(configured(hello), ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    assert ready.wait(WAIT)
    yield listening.getsockname()
    server.should_exit = True
    thread.join(WAIT)
    assert not thread.is_alive()


def closed_by_server(connection):
    """Whether the server ends the connection; what it said before."""
    connection.settimeout(WAIT)
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while data := connection.recv(4096):
            said += data
    return said


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: here\r\n",
        b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\n{",
    ],
    ids=["nothing", "half of the headers", "half of the body"],
)
def test_a_request_that_does_not_arrive_ends_its_connection(address, start):
    with socket.create_connection(address, timeout=WAIT) as stalled:
        stalled.sendall(start)
        assert b" 200 " not in closed_by_server(stalled)


def test_dripping_headers_do_not_extend_the_time(address):
    with socket.create_connection(address, timeout=WAIT) as dripping:
        dripping.sendall(b"GET / HTTP/1.1\r\n")
        with contextlib.suppress(OSError):
            for i in range(600):
                dripping.sendall(b"X-%d: y\r\n" % i)
                dripping.settimeout(0.1)
                with contextlib.suppress(TimeoutError):
                    if not dripping.recv(1):
                        return
        assert i < 599, "the connection stayed open"


def test_whole_requests_on_one_connection_are_answered_while_others_stall(address):
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            stalled = stack.enter_context(socket.create_connection(address, timeout=WAIT))
            stalled.sendall(b"GET /")
        connection = stack.enter_context(
            contextlib.closing(http.client.HTTPConnection(*address, timeout=WAIT))
        )
        for i in range(3):
            connection.request("POST", "/", f"{i}")
            assert connection.getresponse().read() == f"hello{i}".encode()


def test_an_answer_may_take_longer_than_a_request(address):
    with contextlib.closing(http.client.HTTPConnection(*address, timeout=WAIT)) as connection:
        connection.request("POST", "/slow", "whole")
        assert connection.getresponse().status == 200


def test_connections_past_the_most_are_closed(address):
    with contextlib.ExitStack() as stack:
        many = [
            stack.enter_context(socket.create_connection(address, timeout=WAIT))
            for _ in range(25)
        ]
        many[-1].sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert b" 200 " not in closed_by_server(many[-1])

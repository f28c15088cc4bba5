"""The application: routes, their endpoints, error messages, and running the server.

Answers are plain functions. They run on a few threads next to the event loop, where kernels
release the interpreter; only event streams live on the loop itself.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Generator
from types import FrameType
from typing import Any

import anyio.to_thread
import h11
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from tacit.core.errors import DataError, Locked
from tacit.explore.ask import NotReady
from tacit.explore.project.labels import NameTaken, NoLabel
from tacit.explore.server.answers import GETS, POSTS, Answer, Asked
from tacit.explore.server.jobs import as_stream
from tacit.explore.server.parameters import Refused, Values, read_json
from tacit.explore.server.security import Access, Guard, refusal
from tacit.explore.server.state import ServerState

__all__ = ["bound_socket", "limit_threads", "make_app", "run_server"]

MOST_THREADS = 16  # questions that are worked on at once; the others wait their turn


def make_app(state: ServerState, access: Access) -> Guard:
    """The web application for an open project. The caller closes the state."""
    routes = [
        Route(path, endpoint(state, answer), methods=[method])
        for method, answers in (("GET", GETS), ("POST", POSTS))
        for path, answer in answers.items()
    ]
    routes += [
        Route("/api/jobs/{job}/events", event_stream(state), methods=["GET"]),
        Route("/favicon.ico", no_icon, methods=["GET"]),  # browsers ask unasked
    ]
    handlers = {HTTPException: explain_http}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access)


def limit_threads() -> None:
    """Few threads for questions; more would only get into each other's way."""
    limiter = anyio.to_thread.current_default_thread_limiter()
    limiter.total_tokens = min(MOST_THREADS, 4 * (os.cpu_count() or 1))


def endpoint(state: ServerState, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """An address that is answered by a function on a thread."""

    async def respond(request: Request) -> Response:
        try:
            body = await read_json(request) if request.method == "POST" else {}
            result = await run_in_threadpool(answer, Asked(state, request, body))
            return result if isinstance(result, Response) else as_json(result)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody will read it
        except NotReady as error:
            why = await run_in_threadpool(state.prepare_or_explain)
            if why is not None:
                return refusal(500, f"What this needs could not be made: {why}")
            return refusal(503, str(error))
        except Exception as error:
            return explained(error)

    return respond


def event_stream(state: ServerState) -> Callable[[Request], Awaitable[Response]]:
    """The events of a job, from the first one or from the last one a browser received."""

    async def respond(request: Request) -> Response:
        try:
            Values.of_query(request, ())
            job = state.jobs.get(request.path_params["job"])
        except Refused as error:
            return explained(error)
        last = request.headers.get("last-event-id", "")
        after = int(last) if last.isascii() and last.isdigit() and len(last) < 10 else 0
        return StreamingResponse(
            as_stream(job.log.follow(after)), media_type="text/event-stream"
        )

    return respond


async def no_icon(_: Request) -> Response:
    return Response(status_code=204)


def as_json(value: Any) -> Response:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), media_type="application/json")


def explained(error: Exception) -> Response:
    """What went wrong as a status and a sentence."""
    match error:
        case Refused():
            return refusal(error.status, error.sentence)
        case Locked() | NameTaken():
            return refusal(409, str(error))
        case NoLabel():
            return refusal(404, str(error))
        case DataError():  # a file of the project, not the question
            return refusal(500, str(error))
        case ValueError():  # a query that cannot be read
            return refusal(400, str(error).partition("\n")[0])  # without the picture of it
        case OSError() if error.strerror:
            place = f"{error.filename}: " if error.filename else ""
            return refusal(500, f"{place}{error.strerror}.")
    traceback.print_exception(error, file=sys.stderr)
    return refusal(500, f"Internal error: {type(error).__name__}. The terminal says more.")


async def explain_http(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    sentences = {404: "There is nothing at this address.",
                 405: "This address does not take this kind of request."}  # fmt: skip
    return refusal(status, sentences.get(status, "The request makes no sense."))


PATIENCE = 0.25  # seconds that answers in progress have after Ctrl-C
REQUEST_TIME = 20.0  # seconds in which a request must arrive whole
MOST_CONNECTIONS = 256  # at once; each takes a file descriptor


class PromptProtocol(H11Protocol):
    """Closes connections on which a request does not arrive in time, and those past the most.

    uvicorn limits only how long a connection may wait between two requests.
    """

    overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.close()
        self.watch_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.watch_request()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.overdue is not None:
            self.overdue.cancel()
        super().connection_lost(exc)

    def watch_request(self) -> None:
        """Start the clock with the first byte of a request; stop it with the last."""
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            if self.overdue is None:
                self.overdue = self.loop.call_later(REQUEST_TIME, self.transport.close)
        elif self.overdue is not None:
            self.overdue.cancel()
            self.overdue = None


class PromptServer(uvicorn.Server):
    """A server that stops at once on a signal, whatever it is doing."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready
        self.signal: int | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        limit_threads()
        await super().startup(sockets=sockets)
        self.ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """As its parent, but what follows a signal is our caller's business."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        caught = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self.handle_exit) for each in caught}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.signal = sig
        self.should_exit = self.force_exit = True
        # Answers run on threads, which cannot be stopped and which Python waits for.
        end = threading.Timer(PATIENCE, leave, [exit_code(sig)])
        end.daemon = True
        end.start()


def exit_code(sig: int | None) -> int:
    """130 for Ctrl-C, as of every command; 0 for SIGTERM."""
    return 130 if sig == signal.SIGINT else 0


def leave(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)  # labels are on the disk, and jobs end with us


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 finds a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name != "nt":  # there it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except BaseException:
        listening.close()
        raise
    return listening


def run_server(
    state: ServerState, access: Access, listening: socket.socket, ready: Callable[[], None]
) -> int:
    """Serve until a signal; the exit code."""
    server = PromptServer(configured(make_app(state, access)), ready)
    try:
        server.run(sockets=[listening])
    finally:
        state.close()
    return exit_code(server.signal)


def configured(app: Any) -> uvicorn.Config:
    """How the application is served."""
    return uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",  # the application reports errors of answers
        lifespan="off",
        access_log=False,
        server_header=False,
        ws="none",
        loop="asyncio",
        http=PromptProtocol,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=0,
        h11_max_incomplete_event_size=64 * 1024,
    )

"""The application: addresses, what answers them, and how errors are worded.

Answers are plain functions. They run on a few threads beside the event loop, where kernels
release the interpreter; only event streams live on the loop itself.
"""

import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tacit.core.errors import DataError, Locked
from tacit.explore.ask import NotReady
from tacit.explore.server.answers import GETS, POSTS, Answer, Asked
from tacit.explore.server.desk import Desk
from tacit.explore.server.events import as_stream
from tacit.explore.server.label_names import NameTaken, NoLabel
from tacit.explore.server.parameters import Refused, Values, read_json
from tacit.explore.server.security import Access, Guard, refusal

__all__ = ["limit_threads", "make_app"]

MOST_THREADS = 16  # questions that are worked on at once; the others wait their turn


def make_app(desk: Desk, access: Access) -> Guard:
    """The web application for an open project. The caller closes the desk."""
    routes = [
        Route(path, endpoint(desk, answer), methods=[method])
        for method, answers in (("GET", GETS), ("POST", POSTS))
        for path, answer in answers.items()
    ]
    routes += [
        Route("/api/jobs/{job}/events", event_stream(desk), methods=["GET"]),
        Route("/favicon.ico", no_icon, methods=["GET"]),  # browsers ask unasked
    ]
    handlers = {HTTPException: explain_http}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access)


def limit_threads() -> None:
    """Few threads for questions; more would only get into each other's way."""
    limiter = anyio.to_thread.current_default_thread_limiter()
    limiter.total_tokens = min(MOST_THREADS, 4 * (os.cpu_count() or 1))


def endpoint(desk: Desk, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """An address that is answered by a function on a thread."""

    async def respond(request: Request) -> Response:
        try:
            body = await read_json(request) if request.method == "POST" else {}
            found = await run_in_threadpool(answer, Asked(desk, request, body))
            return found if isinstance(found, Response) else as_json(found)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody will read it
        except NotReady as error:
            why = await run_in_threadpool(desk.see_to_it)
            if why is not None:
                return refusal(500, f"What this needs could not be made: {why}")
            return refusal(503, str(error))
        except Exception as error:
            return explained(error)

    return respond


def event_stream(desk: Desk) -> Callable[[Request], Awaitable[Response]]:
    """The events of a job, from the first one or from the one a browser heard last."""

    async def respond(request: Request) -> Response:
        try:
            Values.of_query(request, ())
            job = desk.jobs.get(request.path_params["job"])
        except Refused as error:
            return explained(error)
        last = request.headers.get("last-event-id", "")
        after = int(last) if last.isascii() and last.isdigit() and len(last) < 10 else 0
        return StreamingResponse(
            as_stream(job.trail.follow(after)), media_type="text/event-stream"
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

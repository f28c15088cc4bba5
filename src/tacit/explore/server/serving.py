"""Runs the server: a socket, the address that is opened, and a prompt end."""

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from types import FrameType

import uvicorn

from tacit.explore.server.app import limit_threads, make_app
from tacit.explore.server.desk import Desk
from tacit.explore.server.security import Access

__all__ = ["bound_socket", "run_server"]

PATIENCE = 0.25  # seconds that answers under way have after Ctrl-C


class PromptServer(uvicorn.Server):
    """A server that ends when it is told to, whatever it is doing."""

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
    """130 for Ctrl-C, as of every command; 0 for a server that was told to end (SIGTERM)."""
    return 130 if sig == signal.SIGINT else 0


def leave(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)  # labels are on the disk, and jobs end with us


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 finds a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name != "nt":  # there it would let two servers share a port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except BaseException:
        made.close()
        raise
    return made


def run_server(
    desk: Desk, access: Access, listening: socket.socket, ready: Callable[[], None]
) -> int:
    """Serve until a signal says otherwise; the exit code."""
    config = uvicorn.Config(
        make_app(desk, access),
        log_config=None,
        log_level="critical",  # what goes wrong in an answer is told by the application
        lifespan="off",
        access_log=False,
        server_header=False,
        ws="none",
        loop="asyncio",
        http="h11",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=0,
        h11_max_incomplete_event_size=64 * 1024,
    )
    server = PromptServer(config, ready)
    try:
        server.run(sockets=[listening])
    finally:
        desk.close()
    return exit_code(server.signal)

"""What happened in a job, for any number of listeners: those who come late hear all of it."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

__all__ = ["HEARTBEAT", "Event", "Trail", "as_stream"]

HEARTBEAT = 10.0  # seconds of silence after which the line is shown to be alive
ENDS = "end"


class Event(NamedTuple):
    """One thing that happened."""

    number: int  # from 1
    kind: str  # "progress" or "end"
    data: dict[str, Any]


class Trail:
    """Events of one job. Threads add to it; coroutines follow it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def add(self, kind: str, data: dict[str, Any]) -> None:
        """Add an event and wake whoever follows."""
        with self._lock:
            self.events.append(Event(len(self.events) + 1, kind, data))
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    async def follow(
        self, after: int = 0, heartbeat: float = HEARTBEAT
    ) -> AsyncIterator[Event | None]:
        """Every event past number ``after``, until the end; None when it is quiet."""
        while True:
            bell = asyncio.Event()
            with self._lock:
                fresh = self.events[after:]
                if not fresh:
                    self._waiting.append((asyncio.get_running_loop(), bell))
            for event in fresh:
                after = event.number
                yield event
                if event.kind == ENDS:
                    return
            if not fresh:
                try:
                    await asyncio.wait_for(bell.wait(), heartbeat)
                except TimeoutError:
                    yield None


async def as_stream(events: AsyncIterator[Event | None]) -> AsyncIterator[bytes]:
    """Events as text/event-stream. JSON has no bare line breaks, so one line holds it."""
    async for event in events:
        if event is None:
            yield b": still at work\n\n"
        else:
            data = json.dumps(event.data)
            yield f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n".encode()

r"""Token patterns: recognized where possible, else run under a time limit.

A pattern for runs of one kind of character (\w+, (?u)\b\w\w+\b, [a-z]{3,}, \S+) runs in
the kernel, with the same result. Any other regular expression may take time that grows
exponentially with the text, and nothing can stop one that runs inside this process; so it runs
in a child process, which is killed when one document takes too long. The child ends with this
process, even one that is killed: it looks for its parent five times a second.
"""

import os
import re
import struct
import subprocess
import sys
import threading
import time
import weakref
from typing import Any, NamedTuple

from tacit.core.errors import DataError

__all__ = ["PatternTokenizer", "Runs", "check_pattern", "runs_of"]

RUN = re.compile(
    r"(?:\(\?u\))?(?P<before>\\b)?(?P<atom>\\w|\\S|\\d|\[(?:[^\]\\]|\\.)+\])"
    r"(?P<more>(?:(?P=atom))*)(?:\+|\{(?P<least>\d+),\})(?P<behind>\\b)?"
)
CHILD = """
import os, re, signal, struct, sys
parent = int(sys.argv[1])
def end_with_parent(*_):
    if os.getppid() != parent:
        os._exit(1)
if hasattr(signal, "setitimer"):  # the engine of regular expressions lets signals in
    signal.signal(signal.SIGALRM, end_with_parent)
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
def read(size):
    data = sys.stdin.buffer.read(size)
    if len(data) < size:
        sys.exit()
    return data
def receive():
    return read(struct.unpack("<Q", read(8))[0]).decode("utf-8", "surrogatepass")
find = re.compile(receive()).findall
while True:
    tokens = find(receive())
    reply = "\\0".join(tokens).encode("utf-8", "surrogatepass")
    sys.stdout.buffer.write(struct.pack("<QQ", len(tokens), len(reply)) + reply)
    sys.stdout.buffer.flush()
"""


class Runs(NamedTuple):
    """Runs of at least ``least`` characters that ``atom`` matches."""

    atom: str
    least: int


def check_pattern(pattern: str) -> None:
    """ValueError for an invalid token pattern."""
    if not isinstance(pattern, str):
        raise TypeError(f"token_pattern={pattern!r} is not a regular expression: give a str.")
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(
            f"token_pattern={pattern!r} is not a regular expression: {error}."
        ) from error
    if groups > 1:
        raise ValueError(
            f"More than 1 capturing group in token pattern {pattern!r}. Only a single group "
            "should be captured; write the others as (?:...)."
        )


def runs_of(pattern: str) -> Runs | None:
    r"""The runs that a pattern describes, or None if it is not that simple.

    >>> runs_of(r"(?u)\b\w\w+\b"), runs_of(r"[a-z]{3,}"), runs_of(r"\w+-\w+")
    (Runs(atom='\\w', least=2), Runs(atom='[a-z]', least=3), None)
    """
    match = RUN.fullmatch(pattern)
    if match is None:
        return None
    atom = match["atom"]
    if (match["before"] or match["behind"]) and atom != r"\w":
        return None  # a word boundary inside such a run would split it
    extra = len(match["more"]) // len(atom)
    return Runs(atom, extra + (1 if match["least"] is None else int(match["least"])))


class PatternTokenizer:
    """``re.findall`` for one document at a time, ended if it takes more than ``limit`` seconds.

    >>> with PatternTokenizer(r"\\w+@\\w+", limit=10) as tokens_of:
    ...     tokens_of("ann@home met bob@work")
    ['ann@home', 'bob@work']
    """

    def __init__(self, pattern: str, limit: float) -> None:
        self.pattern, self.limit = pattern, limit
        self._child: Any = None
        self._since: float | None = None  # when the child began with its document
        self._late = False

    def __reduce__(self):
        return type(self), (self.pattern, self.limit)

    def __enter__(self) -> "PatternTokenizer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __call__(self, text: str) -> list[str]:
        if not sys.executable:  # inside another program there is no Python to start
            return re.findall(self.pattern, text)
        if self._child is None:
            self._start()
        self._since = time.monotonic()
        try:
            self._send(text.replace("\0", " "))
            count, size = struct.unpack("<QQ", self._read(16))
            reply = self._read(size).decode("utf-8", "surrogatepass")
        except (OSError, struct.error) as error:
            late = self._late
            self.close()
            if late:
                raise DataError(
                    f"token_pattern={self.pattern!r} took more than {self.limit:g} s on a "
                    f"document of {len(text):,} characters that begins {text[:40]!r}. Make "
                    "the pattern simpler (no repetition inside a repetition), or raise "
                    "time_limit."
                ) from None
            raise RuntimeError(f"The process that runs {self.pattern!r} ended.") from error
        except BaseException:  # its reply would be taken for that to the next text
            self.close()
            raise
        finally:
            self._since = None
        return reply.split("\0") if count else []

    def close(self) -> None:
        """End the child process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.stdin.close()
            child.stdout.close()
            child.wait()

    def _start(self) -> None:
        self._late = False
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", CHILD, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        watcher = (weakref.ref(self), self._child, self.limit)
        threading.Thread(target=watch, args=watcher, daemon=True).start()
        self._send(self.pattern)

    def _send(self, text: str) -> None:
        raw = text.encode("utf-8", "surrogatepass")
        view = memoryview(struct.pack("<Q", len(raw)) + raw)
        while view:
            view = view[self._child.stdin.write(view) :]

    def _read(self, size: int) -> bytes:
        parts, left = [], size
        while left:
            part = self._child.stdout.read(min(left, 2**20))
            if not part:
                raise OSError("the pipe was closed")
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def watch(owner: Any, child: Any, limit: float) -> None:
    """Kill the child when its document takes too long; stop when it is not used any more."""
    while child.poll() is None:
        tokenizer = owner()
        if tokenizer is None or tokenizer._child is not child:
            return  # closing ended it
        since = tokenizer._since
        if since is not None and time.monotonic() - since > limit:
            tokenizer._late = True
            child.kill()
            return
        del tokenizer
        time.sleep(min(0.1, limit / 4))

"""The child process a contender lives in, seen from outside and from inside.

One process per contender, so that thread pools, allocators and peaks do not mix. It is
``python -m benchmarks.worker``, reads pickled orders from standard input and answers on
standard output, one at a time: while one contender runs, the others sleep.
"""

import os
import pickle
import statistics
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, cast

from benchmarks import machine

__all__ = ["ROOT", "Child", "Failed"]

ROOT = Path(__file__).parents[1]
POOLS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "POLARS", "RAYON", "VECLIB")
MOMENT = 0.1  # seconds
MOST = 20  # runs in a row


class Failed(Exception):
    """What went wrong in a child process."""


class Child:
    """A contender in its own process. ``ask`` waits for the reply.

    Every thread pool that reads its size from the environment gets ``threads``; the
    contender's function sees to those that do not, which should cost it no time: looking for
    pools, as threadpoolctl does, takes milliseconds. ``cache`` is the folder for compiled
    kernels, None for the usual one.
    """

    def __init__(self, run: Callable, data: Any, threads: int, cache: Path | None):
        env = {f"{pool}_NUM_THREADS": str(threads) for pool in POOLS}
        if cache is not None:
            env["TACIT_CACHE"] = env["NUMBA_CACHE_DIR"] = str(cache)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, cwd=ROOT, env=os.environ | env,
        )  # fmt: skip
        self.orders = cast(IO[bytes], self.process.stdin)
        self.replies = cast(IO[bytes], self.process.stdout)
        self.hello = (run, data, threads)

    def __enter__(self) -> "Child":
        try:
            self.ask("start", self.hello)
        except BaseException as error:
            self.__exit__(type(error))
            raise
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(BrokenPipeError):
            self.orders.close()  # which ends the child
        try:
            self.process.wait(timeout=None if error[0] is None else 2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.replies.close()

    def ask(self, order: str, argument: Any = None) -> Any:
        try:
            pickle.dump((order, argument), self.orders, protocol=5)
            self.orders.flush()
            status, reply = pickle.load(self.replies)
        except (EOFError, BrokenPipeError):
            code = self.process.wait()
            raise Failed(f"the process ended with status {code}") from None
        if status != "ok":
            raise Failed(reply)
        return reply


# --- Inside ---


class Worker:
    def __init__(self, run: Any, data: Any, threads: int):
        self.run, self.data, self.threads = run, data, threads
        self.highest = self.base = machine.reset_peak()

    def call(self, data: Any, most: int = MOST) -> dict[str, Any]:
        """One run: seconds, its answer, and how busy others kept the machine.

        Of a run that is over in a moment, the median of several in a row: the first after a
        sleep says more about the machine's caches than about the program.
        """
        busy, own, start = machine.busy_seconds(), time.process_time(), time.perf_counter()
        laps = [start]
        while len(laps) == 1 or (laps[-1] - start < MOMENT and len(laps) <= most):
            answer = self.run(data, self.threads)
            laps.append(time.perf_counter())
        seconds = statistics.median(b - a for a, b in pairwise(laps))
        own, everybody = time.process_time() - own, machine.busy_seconds()
        others = None
        if busy is not None and everybody is not None:
            others = max(0.0, everybody - busy - own) / (laps[-1] - start)
        own /= len(laps) - 1
        peak = machine.peak_resident()
        self.highest = max(self.highest, peak)
        return {
            "seconds": seconds, "cpu": own, "others": others, "growth": peak - self.base,
            "peak": self.highest, "answer": answer,
        }  # fmt: skip

    def obey(self, order: str, argument: Any) -> Any:
        if order == "warm":  # the first call: imports, compilation, thread pools
            return self.call(argument or self.data, most=1)
        if order == "base":
            self.base = machine.reset_peak()
            return self.base
        return self.call(self.data)


def main() -> None:
    warnings.simplefilter("ignore")  # "did not converge" is what a fixed number of passes means
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a rival prints must not end up among the replies
    orders = sys.stdin.buffer
    worker = None
    while True:
        try:
            order, argument = pickle.load(orders)
        except (EOFError, KeyboardInterrupt):
            return
        reply: tuple[str, Any]
        try:
            if order == "start":
                worker, reply = Worker(*argument), ("ok", None)
            else:
                assert worker is not None
                reply = ("ok", worker.obey(order, argument))
        except Exception as error:
            traceback.print_exc()
            reply = ("failed", f"{type(error).__name__}: {error}")
        pickle.dump(reply, replies, protocol=5)
        replies.flush()


if __name__ == "__main__":
    main()

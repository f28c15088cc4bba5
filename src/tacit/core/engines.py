"""Where a pass runs: in this thread, in many, or on a cluster.

An engine has three verbs. ``map`` applies a function to every block and yields the results in
block order; ``reduce`` adds them up; ``each`` runs plain pieces of work that share memory with
the caller, results in order. Engines hold settings and no live handles, so an estimator that
owns one can be cloned, pickled and printed.

``cache`` is a list with one slot per block for what only speeds a pass (last labels, distance
bounds). Engines that share memory with the caller pass each block its slot as a third
argument; the others leave it out, and the function must give the same answer.

Threads are started only where they pay: a single piece, or fewer than ``SMALL`` values in
memory, runs in the calling thread. A caller whose work is not in proportion to the values says
how much it is (``work``). The result has the same bits either way.
"""

import operator
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache as remember
from functools import partial
from itertools import islice
from typing import Any

from threadpoolctl import ThreadpoolController

from tacit.core.stats import tree_sum

__all__ = [
    "Dask", "Engine", "Serial", "Threads", "check_stop", "get_engine", "ready",
]  # fmt: skip

SMALL = 1 << 18  # values a pass reads in under a millisecond; starting threads takes as long


class Engine:
    """What a fit asks of the place it runs in."""

    def each(
        self, function: Callable, items: Iterable, *, work: int | None = None
    ) -> Iterator[Any]:
        """``function`` of every item, results in order. ``work`` estimates the values read by
        all items together: small work stays in the calling thread."""
        raise NotImplementedError

    def map(
        self, function: Callable, params: Any, data: Iterable, cache: list | None = None, *,
        work: int | None = None,
    ) -> Iterator[Any]:  # fmt: skip
        """``function(params, block)`` of every loaded block, results in order."""
        run = partial(run_block, function, params)
        return self.each(run, members(data, cache), work=work_of(data, work))

    def reduce(
        self, collect: Callable, params: Any, data: Iterable, cache: list | None = None
    ) -> Any:
        """The sum of ``collect(params, block)`` over all blocks."""
        return tree_sum(self.map(collect, params, data, cache))


@dataclass(frozen=True)
class Serial(Engine):
    """One block after another in the calling thread. The reference."""

    def each(
        self, function: Callable, items: Iterable, *, work: int | None = None
    ) -> Iterator[Any]:
        with one_blas_thread():
            yield from map(function, items)


@dataclass(frozen=True)
class Threads(Engine):
    """Blocks on a pool of threads; kernels must release the GIL."""

    workers: int | None = None

    def each(
        self, function: Callable, items: Iterable, *, work: int | None = None
    ) -> Iterator[Any]:
        with self.ready() as running:
            yield from running.each(function, items, work=work)

    def reduce(
        self, collect: Callable, params: Any, data: Iterable, cache: list | None = None
    ) -> Any:
        with self.ready() as running:
            return running.reduce(collect, params, data, cache)

    @contextmanager
    def ready(self) -> Iterator["RunningThreads"]:
        """The same with a pool that stays, for whoever makes many passes. Its threads start
        with the first piece of work that is not small."""
        workers = self.workers or cores()
        pool = ThreadPoolExecutor(workers)
        try:
            yield RunningThreads(workers, pool)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True)
class RunningThreads(Engine):
    """``Threads`` at work. Lives as long as a fit, and is never part of a model."""

    workers: int
    pool: ThreadPoolExecutor

    def each(
        self, function: Callable, items: Iterable, *, work: int | None = None
    ) -> Iterator[Any]:
        few = isinstance(items, Sized) and len(items) < 2
        if few or (work is not None and work < SMALL):
            yield from Serial().each(function, items)
            return
        stop = threading.Event()
        pending: deque[Future] = deque()
        with one_blas_thread():
            try:
                for item in items:
                    pending.append(self.pool.submit(run_unless, stop, function, item))
                    if len(pending) > 2 * self.workers:  # bounds the blocks in memory
                        yield pending.popleft().result()
                while pending:
                    yield pending.popleft().result()
            finally:
                # An error, Ctrl-C or a caller that stopped iterating: running items stop at
                # their next check_stop(), waiting ones never start.
                stop.set()
                wait([future for future in pending if not future.cancel()])

    def reduce(
        self, collect: Callable, params: Any, data: Iterable, cache: list | None = None
    ) -> Any:
        # A task adds up a branch of the tree: fewer tasks, and the sums in parallel. Branches
        # have a power of two of blocks, so that each worker has eight tasks or more.
        blocks: Any = getattr(data, "blocks", data)
        n_blocks = len(blocks) if hasattr(blocks, "__len__") else 0
        size = 1 << max(0, (n_blocks // (8 * self.workers)).bit_length() - 1)
        waiting = iter(members(data, cache))
        branches = iter(lambda: list(islice(waiting, size)), [])

        def sum_branch(branch: list[tuple]) -> Any:
            return tree_sum(map(partial(run_block, collect, params), branch))

        return tree_sum(self.each(sum_branch, branches, work=work_of(data)))


@dataclass(frozen=True)
class Dask(Engine):
    """Blocks as tasks of a Dask cluster: the current client's, or the one at ``address``.

    Workers limit BLAS to one thread themselves; those that are threads of this process cannot
    (OpenBLAS ignores a limit that is set outside the main thread), so the caller does too.
    """

    address: str | None = None

    def map(
        self, function: Callable, params: Any, data: Iterable, cache: list | None = None, *,
        work: int | None = None,
    ) -> Iterator[Any]:  # fmt: skip
        window: deque = deque()
        with self._client() as client, one_blas_thread():
            limit = 2 * sum(client.nthreads().values()) + 2
            for future in self._submit(client, function, params, data):
                window.append(future)
                if len(window) > limit:  # bounds the results waiting on the cluster
                    yield window.popleft().result()
            while window:
                yield window.popleft().result()

    def reduce(
        self, collect: Callable, params: Any, data: Iterable, cache: list | None = None
    ) -> Any:
        with self._client() as client, one_blas_thread():

            def add(a: Any, b: Any) -> Any:
                return client.submit(operator.add, a, b, pure=False)

            return tree_sum(self._submit(client, collect, params, data), add).result()

    def each(
        self, function: Callable, items: Iterable, *, work: int | None = None
    ) -> Iterator[Any]:
        """In threads of this process: what shares memory with the caller cannot travel."""
        return Threads().each(function, items, work=work)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        try:
            from distributed import Client, get_client
        except ImportError as error:
            raise ImportError(
                "engine='dask' needs the packages dask and distributed. "
                "Install them with: pip install 'tacit-learn[dask]'"
            ) from error
        if self.address is not None:
            with Client(self.address) as client:
                yield client
            return
        try:
            client = get_client()
        except ValueError as error:
            raise ValueError(
                "engine='dask' found no Dask client. Start one first, for example with "
                "`from distributed import Client; client = Client()`, or give an address: "
                "Dask('tcp://host:8786')."
            ) from error
        yield client

    @staticmethod
    def _submit(client: Any, function: Callable, params: Any, data: Iterable) -> Iterator[Any]:
        params = client.scatter(params, broadcast=True, hash=False)  # once, not per task
        for block in data:
            yield client.submit(run_on_worker, function, params, block, pure=False)


def ready(engine: Engine) -> Any:
    """A context with the engine ready for many passes in a row."""
    return engine.ready() if hasattr(engine, "ready") else nullcontext(engine)


def get_engine(engine: str | Engine) -> Engine:
    """An engine, or the name of one with its default settings."""
    named: dict[str, type[Engine]] = {"serial": Serial, "threads": Threads, "dask": Dask}
    if isinstance(engine, str):
        if engine not in named:
            raise ValueError(f"engine={engine!r} is unknown; choose from {list(named)}.")
        return named[engine]()
    if not all(hasattr(engine, verb) for verb in ("map", "reduce", "each")):
        raise TypeError(
            f"engine={engine!r} is not an engine. Give 'serial', 'threads', 'dask', or an "
            "object with map, reduce and each such as Threads(4)."
        )
    return engine


# --- Inside a pass ---


class Stopped(Exception):
    """The pass of this block was canceled."""


_worker = threading.local()


def check_stop() -> None:
    """Raise if the pass of this block was canceled. Call it between two kernels."""
    stop = getattr(_worker, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


def run_unless(stop: threading.Event, function: Callable, item: Any) -> Any:
    """Run a part of a pass, unless the pass is canceled before or while it runs."""
    _worker.stop = stop
    try:
        check_stop()
        return function(item)
    finally:
        _worker.stop = None


def run_block(function: Callable, params: Any, member: tuple) -> Any:
    """Load where the work is done, so that only the path travels."""
    block, *cached = member
    return function(params, block.load(), *cached)


def run_on_worker(function: Callable, params: Any, block: Any) -> Any:
    with one_blas_thread():
        return function(params, block.load())


def members(data: Iterable, cache: list | None) -> Iterable[tuple]:
    """Every block, with its slot of the cache if there is one."""
    return zip(data) if cache is None else zip(data, cache, strict=True)


def work_of(data: Any, work: int | None = None) -> int | None:
    """How many values a pass reads, None if unknown; 0 for a single block."""
    blocks = getattr(data, "blocks", data)
    if hasattr(blocks, "__len__") and len(blocks) < 2:
        return 0
    return getattr(data, "values_in_memory", None) if work is None else work


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@remember
def blas() -> ThreadpoolController:
    """The BLAS thread pools. Finding them is slow, so it is done once."""
    import scipy.linalg.blas  # noqa: F401  (kernels call SciPy's own copy)

    return ThreadpoolController()


_limit_lock = threading.Lock()
_limit_users = 0
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread while any pass runs: blocks are the parallelism.

    The setting belongs to the process, so overlapping passes use one limit, which the
    last of them restores.
    """
    global _limit_users, _limit
    with _limit_lock:
        if _limit_users == 0:
            _limit = blas().limit(limits=1, user_api="blas")
        _limit_users += 1
    try:
        yield
    finally:
        with _limit_lock:
            _limit_users -= 1
            if _limit_users == 0:
                _limit.restore_original_limits()

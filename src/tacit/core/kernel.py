"""How Tacit compiles its inner loops.

``@kernel`` is Numba with one set of options: compiled when first called, without the GIL,
division as in NumPy, machine code cached for the next process. Numba leaves three things open:

- The cache is a folder that only the user can write to, because its entries are executed.
  ``TACIT_CACHE`` names another place; an unsafe folder is not used at all.
- Every file of the cache begins with a digest of its content. One that does not match, or
  cannot be read, is thrown away and its function compiled again.
- A kernel that calls kernels of other modules is compiled again when one of those changes.

``fastmath`` is for the function itself and never for what it calls (``lowering``).

With every function Numba compiles wrappers that unpack the arguments of Python and of C, up to
half of the work where these are tuples of arrays. There is none for C, and what only kernels
call is compiled without that for Python.

The first compilation of a process is announced on standard error, unless TACIT_ANNOUNCE is 0.
"""

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numba
from numba.core import types
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.cpu_options import FastMathOptions
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

from tacit._version import __version__
from tacit.core.lowering import compiler_with

__all__ = ["REASSOCIATE", "kernel"]

SEAL = 16  # bytes of a digest

# ``fastmath`` for sums that SIMD instructions may add in another order. NaN, infinity and
# quotients are not changed. A loop with such a sum must not store as well: for arrays
# that may overlap LLVM adds a second version of it without SIMD, and runs that where arrays are
# merely close in memory, so that the sum would depend on addresses.
REASSOCIATE = frozenset({"reassoc", "contract", "nsz"})


def kernel(function: Callable | None = None, /, **options: Any) -> Any:
    """Compile a function over arrays to machine code, when it is first called.

    >>> @kernel
    ... def total(values):
    ...     s = 0.0
    ...     for v in values:
    ...         s += v
    ...     return s
    >>> import numpy as np
    >>> total(np.arange(4.0))
    6.0
    """
    if function is None:
        return partial(kernel, **options)
    if getattr(numba.config, "DISABLE_JIT", False):
        return function
    fastmath = options.pop("fastmath", False)
    fastmath = FastMathOptions(fastmath if isinstance(fastmath, bool) else set(fastmath))
    return with_cache(Kernel(function, options, frozenset(fastmath.flags)), "")


class Kernel(CPUDispatcher):
    """What Python calls. Other kernels see ``inner`` in its place."""

    def __init__(
        self, function: Callable, options: dict[str, Any], fastmath: frozenset[str]
    ) -> None:
        self.fastmath = fastmath
        # fastmath and forceinline are False, not absent: absent, a caller's are inherited.
        options = {
            "nopython": True, "nogil": True, "error_model": "numpy", "boundscheck": None,
            "no_cfunc_wrapper": True, "fastmath": False, "forceinline": False, **options,
        }  # fmt: skip
        super().__init__(
            function, targetoptions=options, pipeline_class=compiler_with(fastmath, False)
        )

    @cached_property
    def inner(self) -> Any:
        """The same function without wrappers, which Python must not call."""
        # A process that compiles would call the function as compiled by itself, one that
        # loads the caller from the cache its copy in there, which was optimized again and
        # may add in another order. Inlined, there is only one.
        inner = CPUDispatcher(
            self.py_func,
            targetoptions={**self.targetoptions, "no_cpython_wrapper": True},
            pipeline_class=compiler_with(self.fastmath, self.reassociates),
        )
        return with_cache(inner, "-inner")

    @cached_property
    def reassociates(self) -> bool:
        """Whether this kernel, or one that it calls, leaves the order of additions open."""
        names, scope = self.py_func.__code__.co_names, self.py_func.__globals__
        called = [scope[name] for name in names if isinstance(scope.get(name), Kernel)]
        return bool(self.fastmath) or any(
            each.reassociates for each in called if each is not self
        )

    @property
    def _numba_type_(self) -> types.Dispatcher:
        return types.Dispatcher(self.inner)


def with_cache(compiled: Any, variant: str) -> Any:
    """Give a function our cache. Every variant has its folder."""
    home = cache_folder()
    # A function typed in by hand has no file that could go stale.
    if home is None or not Path(compiled.py_func.__code__.co_filename).is_file():
        compiled._cache = NoCache()
        return compiled
    with caching_in(home / (stamp(compiled.py_func.__module__) + variant)):
        compiled._cache = SelfRepairingCache(compiled.py_func)
    return compiled


@cache
def announce_compilation() -> None:
    """Say once per process what takes so long, and where its result is cached."""
    if os.environ.get("TACIT_ANNOUNCE") == "0":
        return
    home = cache_folder()
    once = f"once: the machine code is cached in {home}."
    if home is None:
        once = (
            f"again in every process, because the cache folder {chosen_folder()} cannot be "
            "written to or is writable by others. Set TACIT_CACHE to a folder that only you "
            "can write to."
        )
    what = "Compiling for this processor, which usually takes 5 to 30 seconds"
    print(f"{what}, {once}", file=sys.stderr)


class NoCache(NullCache):
    """What a kernel has where no folder is safe."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        announce_compilation()


class SelfRepairingCache(FunctionCache):
    """Numba's cache, which forgets what it cannot read."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        self._cache_file = SealedCacheFile(self._cache_file)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            overload = super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling makes of a damaged file
            self.flush()
            overload = None
        if overload is None:
            announce_compilation()
        return overload

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:  # a full disk costs the next process a compilation, no more
            self.disable()


class SealedCacheFile(IndexDataCacheFile):
    """The files of a cache of Numba's, each behind a digest of what it holds.

    Entries are unpickled and executed, so one flipped bit could do anything. The digest finds
    damage, not malice: whoever can write to the folder can write a digest too.
    """

    def __init__(self, plain: IndexDataCacheFile) -> None:
        vars(self).update(vars(plain))

    def _load_index(self) -> dict:
        try:
            version, source, overloads = read_sealed(self._index_path)
        except FileNotFoundError:  # nothing was compiled yet
            return {}
        fresh = (version, source) == (self._version, self._source_stamp)
        return overloads if fresh else {}

    def _save_index(self, overloads: dict) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(sealed((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        return read_sealed(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        with self._open_for_write(self._data_path(name)) as file:
            file.write(sealed(data))


def sealed(value: Any) -> bytes:
    """A pickle behind its digest."""
    content = dumps(value)
    return hashlib.blake2b(content, digest_size=SEAL).digest() + content


def read_sealed(path: str) -> Any:
    """What ``sealed`` wrote; ValueError, before anything is unpickled, if a bit has changed."""
    content = memoryview(Path(path).read_bytes())
    if hashlib.blake2b(content[SEAL:], digest_size=SEAL).digest() != content[:SEAL]:
        raise ValueError(f"{path} is damaged.")
    return pickle.loads(content[SEAL:])


@cache
def stamp(module: str) -> str:
    """A digest of the sources of the kernels that a module imports, directly or not."""
    sources: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in sources or name not in sys.modules:
            continue
        sources.add(name)
        waiting += [
            value.py_func.__module__
            for value in vars(sys.modules[name]).values()
            if isinstance(value, Dispatcher)
        ]
    # With NUMBA_BOUNDSCHECK, kernels that check their indices are other machine code.
    checked = getattr(numba.config, "BOUNDSCHECK", None)
    versions = f"{__version__} {numba.__version__}" + (" checked" if checked else "")
    digest = hashlib.blake2b(versions.encode(), digest_size=8)
    for name in (__name__, compiler_with.__module__):  # how kernels are compiled
        digest.update(Path(sys.modules[name].__file__ or "").read_bytes())
    for name in sorted(sources - {module}):  # Numba watches the file of the module
        path = getattr(sys.modules[name], "__file__", None)
        if path:
            digest.update(Path(path).read_bytes())
    return digest.hexdigest()


@cache
def cache_folder() -> Path | None:
    """The folder for machine code, or None if there is none that only we can write to."""
    folder = chosen_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None
    return folder if os.access(folder, os.W_OK) else None


def chosen_folder() -> Path:
    """The folder that TACIT_CACHE names, by default in the cache of the user."""
    chosen = os.environ.get("TACIT_CACHE")
    if chosen is not None:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("tacit") / "kernels"


@contextmanager
def caching_in(folder: Path) -> Iterator[None]:
    """Have Numba choose this folder; other packages' functions keep theirs."""
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before

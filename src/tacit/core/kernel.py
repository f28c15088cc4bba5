"""How Tacit compiles its inner loops.

``@kernel`` is Numba with one set of options: compiled when first called, without the GIL,
division as in NumPy, machine code cached for the next process. Numba leaves three things open:

- The cache is a folder that only the user can write to, because its entries are executed.
  ``TACIT_CACHE`` names another place; an unsafe folder is not used at all.
- An entry that cannot be read is thrown away and compiled again.
- A kernel that calls kernels of other modules is compiled again when one of those changes.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import _Cache
from numba.core.dispatcher import Dispatcher

from tacit._version import __version__

__all__ = ["kernel"]


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
    options = {"nogil": True, "error_model": "numpy", **options}
    # Functions typed in by hand have no file that could go stale.
    home = cache_folder() if Path(function.__code__.co_filename).is_file() else None
    if home is None:
        return numba.njit(**options)(function)
    with caching_in(home / stamp(function.__module__)):
        compiled: Any = numba.njit(cache=True, **options)(function)
    if hasattr(compiled, "_cache"):  # not where NUMBA_DISABLE_JIT is set
        compiled._cache = SelfRepairingCache(compiled._cache)
    return compiled


class SelfRepairingCache(_Cache):
    """A cache of Numba's that forgets what it cannot read."""

    def __init__(self, inner: _Cache) -> None:
        self.inner = inner

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self.inner.load_overload(sig, target_context)
        except Exception:  # whatever unpickling makes of a damaged file
            self.inner.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self.inner.save_overload(sig, data)
        except OSError:  # a full disk costs the next process a compilation, no more
            self.inner.disable()

    @property
    def cache_path(self) -> str:
        return self.inner.cache_path

    def enable(self) -> None:
        self.inner.enable()

    def disable(self) -> None:
        self.inner.disable()

    def flush(self) -> None:
        self.inner.flush()


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
    digest = hashlib.blake2b(f"{__version__} {numba.__version__}".encode(), digest_size=8)
    for name in sorted(sources - {module}):  # Numba watches the module's own file
        path = getattr(sys.modules[name], "__file__", None)
        if path:
            digest.update(Path(path).read_bytes())
    return digest.hexdigest()


@cache
def cache_folder() -> Path | None:
    """The folder for machine code, or None if there is none that only we can write to."""
    chosen = os.environ.get("TACIT_CACHE")
    if chosen is None:
        from platformdirs import user_cache_path

        chosen = str(user_cache_path("tacit") / "kernels")
    folder = Path(chosen)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None
    return folder if os.access(folder, os.W_OK) else None


@contextmanager
def caching_in(folder: Path) -> Iterator[None]:
    """Have Numba choose this folder; other packages' functions keep theirs."""
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before

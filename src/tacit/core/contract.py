"""The contracts of a fit: which driver runs it, where its rows may be, which engines can help.

A model declares one by name, ``contract = "summable"``; everything else follows from it. The
drivers are ``engine.reduce`` (one pass), ``iterate`` and ``iterate_online`` (``core.loop``),
``minimize`` (``core.minimize``) and ``sweep`` (``core.sweep``); a whole model has none.
"""

from typing import Any, NamedTuple

from tacit.core.engines import Dask, Engine, Threads, get_engine

__all__ = ["CONTRACTS", "Contract", "engine_for"]


class Contract(NamedTuple):
    """What a kind of fit promises and needs."""

    drivers: tuple[str, ...]
    streams: bool  # rows may stay on disk, read block by block
    travels: bool  # blocks may be worked on in other processes
    why: str  # for docs and error messages


CONTRACTS: dict[str, Contract] = {
    "summable": Contract(
        ("reduce", "iterate", "minimize"), True, True, "a pass is a sum over blocks of rows"
    ),
    "online": Contract(
        ("iterate_online",), True, False, "the params are updated after every block"
    ),
    "sequential": Contract(
        ("sweep",), True, False, "every visit changes the state that the next one reads"
    ),
    "whole": Contract((), False, False, "all rows are compared with each other"),
}


def engine_for(estimator: Any) -> Engine:
    """The engine of an estimator, as its contract allows.

    A cluster cannot share memory with the caller, so a fit that changes one state in place
    runs in threads of this process instead; the bits are the same.
    """
    engine = get_engine(getattr(estimator, "engine", "serial"))
    if isinstance(engine, Dask) and not CONTRACTS[estimator.contract].travels:
        return Threads()
    return engine

"""The passes of every registered model, recorded from a fit through its public name.

A fit runs on an engine that records every function it is asked to map or reduce, with the
params and the blocks. So the laws are checked for whatever a model does, wherever it lives, and
a new model takes part as soon as it is registered.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core import Serial
from tacit.data.table import Batch, parts
from tacit.data.text_block import Text, text_of
from tests.contract.cases import FITS


class Pass(NamedTuple):
    """A function over blocks, as an engine got it."""

    kind: str  # "map" or "reduce"
    function: Callable
    params: Any
    blocks: list  # of loaded blocks

    @property
    def name(self) -> str:
        function = getattr(self.function, "func", self.function)  # of a partial
        return f"{function.__module__}.{function.__qualname__}"

    def recut(self, size: int | None = None) -> list["Loaded"]:
        """The same rows or documents in blocks of another size, or in one."""
        return cut(join(self.blocks), size)


class Loaded(NamedTuple):
    """A block that is in memory."""

    value: Any

    def load(self) -> Any:
        return self.value


@dataclass(frozen=True)
class Recorder(Serial):
    """The serial engine, which records its passes."""

    passes: list = field(default_factory=list, compare=False)

    def __deepcopy__(self, memo: dict) -> "Recorder":
        return self  # clones of an estimator share the record

    def map(self, function, params, data, cache=None, *, work=None):
        self._record("map", function, params, data)
        return super().map(function, params, data, cache)

    def reduce(self, collect, params, data, cache=None):
        self._record("reduce", collect, params, data)
        return Serial().reduce(collect, params, data, cache)

    def _record(self, kind, function, params, data):
        if hasattr(data, "blocks"):  # rows or documents, not other pieces of work
            self.passes.append((kind, function, params, data))


class Fitted(NamedTuple):
    """A fitted model, and its passes: the last of every function."""

    model: Any
    passes: list[Pass]


@cache
def fitted(name: str) -> Fitted:
    """Fit one of the cases on a recorder."""
    recorder = Recorder()
    model, X, y = FITS[name]()
    model.set_params(
        **{
            name: value
            for name, value in {"engine": recorder, "random_state": 0}.items()
            if name in model.get_params(deep=False)
        }
    )
    model.fit(X) if y is None else model.fit(X, y)
    last: dict[tuple, Pass] = {}
    for kind, function, params, data in recorder.passes:
        if "<locals>" in getattr(function, "__qualname__", ""):
            continue  # a piece of work that shares memory with the caller
        each = Pass(kind, function, params, [block.load() for block in data])
        last[kind, each.name] = each
    return Fitted(model, [*last.values()])


def join(blocks: list) -> Any:
    """All rows or documents of some blocks as one block."""
    if isinstance(blocks[0], Text):
        return [string for block in blocks for string in block.strings()]
    columns = [[column for column in each if column is not None] for each in zip(
        *(parts(block) for block in blocks), strict=True
    )]  # fmt: skip
    rows, labels, weights = (stack(column) if column else None for column in columns)
    return Batch(rows, labels, weights)


def stack(arrays: list) -> Any:
    if len(arrays) == 1:
        return arrays[0]
    if sp.issparse(arrays[0]):
        return sp.csr_array(sp.vstack(arrays, format="csr"))
    return np.concatenate(arrays)


def cut(whole: Any, size: int | None) -> list[Loaded]:
    if isinstance(whole, list):
        size = size or len(whole)
        return [Loaded(text_of(whole[i : i + size])) for i in range(0, len(whole), size)]
    n = whole.rows.shape[0]
    size = size or n
    plain = whole.labels is None and whole.weights is None

    def block(i: int) -> Loaded:
        batch = Batch(*(None if each is None else each[i : i + size] for each in whole))
        return Loaded(batch.rows if plain else batch)

    return [block(i) for i in range(0, n, size)]

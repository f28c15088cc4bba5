"""Python values as JSON and arrays, on their way into a file.

``Packer`` turns a value into a JSON node and puts its arrays aside, under names that grow
with the place: ``cluster_centers_``, ``params.init``, ``vocabulary_.bytes``.

    None, bool, int, finite float, str     themselves
    list                                   a JSON list; past 64 numbers or strings, arrays
    tuple, dict with str keys              {"type": "tuple" | "dict", "items": ...}
    inf, nan, NumPy numbers                {"type": "number", "dtype": ..., "value": ...}
    array of numbers or bools              {"type": "array", "dtype": ..., "order": ...}
    CSR or CSC matrix                      {"type": "sparse", ...}: data, indices, indptr
    strings                                {"type": "strings", ...}: UTF-8 bytes, offsets
    dict of str to int, past 64            {"type": "index", ...}: the same, and values
    NumPy dtype, engine                    {"type": "dtype" | "engine", ...}
    anything else                          what ``nested`` makes of it, or a TypeError

``core.unpack`` is the way back.
"""

import dataclasses
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.core.engines import Dask, Serial, Threads
from tacit.core.string_array import StringArray
from tacit.core.tensorfile import CODES

__all__ = ["ENGINES", "NUMBERS", "SPARSE", "Packer", "all_finite", "too_padded"]

LONG = 64  # items; a longer list becomes an array
NUMBERS = {dtype.name for dtype in CODES}
SPARSE = ("csr_array", "csr_matrix", "csc_array", "csc_matrix")
ENGINES: dict[str, type] = {"Serial": Serial, "Threads": Threads, "Dask": Dask}
MOST_PADDING = 2**28  # bytes; a fixed-width string array is as wide as its longest string


class Packer:
    """Collects the arrays of the values that it turns into JSON nodes."""

    def __init__(self, nested: Callable[[str, Any], dict | None] | None = None) -> None:
        self.tensors: dict[str, np.ndarray] = {}
        self.dropped: list[str] = []
        self._nested = nested or (lambda name, value: None)

    def pack(self, name: str, value: Any, *, finite: bool = False) -> Any:
        """The JSON node of ``value``; with ``finite``, inf and nan are a ValueError."""
        if value is None or type(value) in (bool, int):
            return value
        if is_text(value):
            utf8(name, value)
            return str(value)
        if type(value) is float and math.isfinite(value):
            return value
        if type(value) is float or isinstance(value, np.generic):
            return self._number(name, value, finite)
        if type(value) in (np.ndarray, np.memmap):
            return self._array(name, value, finite)
        if type(value) in (list, tuple, set, frozenset):
            return self._sequence(name, value, finite)
        if type(value) is dict:
            return self._dict(name, value, finite)
        if is_sparse(value):
            return self._sparse(name, value, finite)
        if type(value) in ENGINES.values():
            return self._engine(name, value)
        if isinstance(value, np.dtype) or (
            isinstance(value, type) and issubclass(value, np.generic)
        ):
            return self._dtype(name, value)
        node = self._nested(name, value)
        if node is None:
            raise unstorable(name, value)
        return node

    def _number(self, name: str, value: Any, finite: bool) -> Any:
        dtype = "float" if type(value) is float else value.dtype.name
        if dtype not in NUMBERS and dtype != "float":
            raise unstorable(name, value)
        plain = value if dtype == "float" else value.item()
        if isinstance(plain, float) and not math.isfinite(plain):
            if finite:
                raise ValueError(f"{name} is {plain}, but must be finite to be saved.")
            plain = str(plain)
        return {"type": "number", "dtype": dtype, "value": plain}

    def _array(self, name: str, value: np.ndarray, finite: bool) -> dict:
        if value.dtype.kind in "OUT":
            return self._string_array(name, value)
        if value.dtype.newbyteorder("<") not in CODES:
            raise unstorable(name, value)
        if finite and not all_finite(value):
            raise ValueError(f"{name} holds nan or inf, but must be finite to be saved.")
        # Products of the same numbers in another order may differ in the last bit.
        order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        self._keep(name, value)
        return {"type": "array", "dtype": value.dtype.name, "order": order}

    def _string_array(self, name: str, value: np.ndarray) -> dict:
        if value.ndim != 1:
            raise unstorable(name, value)
        kind = {"O": "object", "T": "T"}.get(value.dtype.kind, value.dtype.str[1:])
        node = self._strings(name, value.tolist(), kind)
        content = self.tensors[f"{name}.bytes"].nbytes
        if value.dtype.kind == "U" and too_padded(value.nbytes, content):
            raise ValueError(
                f"{name} is an array of {len(value):,} strings, each padded to the longest "
                f"({value.nbytes:,} bytes). Make it an object array to save it."
            )
        return node

    def _sequence(self, name: str, value: Any, finite: bool) -> Any:
        kind, items = type(value).__name__, list(value)
        texts = all(map(is_text, items))
        if kind in ("set", "frozenset"):
            if not texts:
                raise unstorable(name, value)
            return self._strings(name, sorted(items), kind)  # sets have no order of their own
        if kind == "list" and len(items) > LONG:
            if texts:
                return self._strings(name, items, "list")
            # np.float64 is a float, and losses mix the two
            if all(isinstance(item, float) for item in items):
                return {**self._array(name, np.array(items, np.float64), finite), "as": "list"}
            if all(map(is_int64, items)):
                return {**self._array(name, np.array(items, np.int64), finite), "as": "list"}
        if kind == "list":  # in the same spirit
            items = [float(item) if type(item) is np.float64 else item for item in items]
        nodes = [self.pack(f"{name}.{i}", item, finite=finite) for i, item in enumerate(items)]
        return nodes if kind == "list" else {"type": "tuple", "items": nodes}

    def _dict(self, name: str, value: dict, finite: bool) -> dict:
        if not all(map(is_text, value)):
            raise unstorable(name, value)
        if len(value) > LONG and all(map(is_int64, value.values())):
            self._keep(f"{name}.values", np.array(list(value.values()), np.int64))
            return {**self._strings(name, list(value), "list"), "type": "index"}
        nodes = {}
        for i, (key, item) in enumerate(value.items()):
            utf8(name, key)
            nodes[str(key)] = self.pack(f"{name}.{i}", item, finite=finite)
        return {"type": "dict", "items": nodes}

    def _strings(self, name: str, items: list, kind: str) -> dict:
        if not all(map(is_text, items)):
            raise TypeError(
                f"{name} holds objects other than strings, which a model file cannot hold. "
                "Make it an array of strings or of numbers."
            )
        strings = StringArray.of_bytes([utf8(name, item) for item in items])
        self._keep(f"{name}.bytes", strings.data)
        self._keep(f"{name}.offsets", strings.offsets)
        return {"type": "strings", "as": kind}

    def _sparse(self, name: str, value: Any, finite: bool) -> dict:
        kind = type(value).__name__
        if kind not in SPARSE:
            raise unstorable(name, value)
        self._array(f"{name}.data", value.data, finite)
        self._keep(f"{name}.indices", value.indices)
        self._keep(f"{name}.indptr", value.indptr)
        return {"type": "sparse", "as": kind, "shape": [int(size) for size in value.shape]}

    def _engine(self, name: str, value: Any) -> dict:
        settings = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        if settings.pop("address", None) is not None:
            # Whoever opens the file must not be led to a cluster of the writer's choice.
            self.dropped.append(f"{name}.address")
        return {"type": "engine", "name": type(value).__name__, "settings": settings}

    def _dtype(self, name: str, value: Any) -> dict:
        dtype = np.dtype(value)
        if dtype.name not in NUMBERS:
            raise unstorable(name, value)
        kind = "dtype" if isinstance(value, np.dtype) else "type"
        return {"type": "dtype", "dtype": dtype.name, "as": kind}

    def _keep(self, name: str, array: np.ndarray) -> None:
        assert name not in self.tensors, name
        self.tensors[name] = array


# --- Small pieces ---


def all_finite(array: np.ndarray) -> bool:
    """Whether a float array has neither nan nor inf; looks at a stretch at a time."""
    if array.dtype.kind != "f":
        return True
    flat, step = array.ravel(order="K"), 2**20
    return all(np.isfinite(flat[i : i + step]).all() for i in range(0, len(flat), step))


def is_sparse(value: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")  # not loaded: then nothing is sparse
    return sparse is not None and sparse.issparse(value)


def is_text(value: Any) -> bool:
    return type(value) in (str, np.str_)


def is_int64(value: Any) -> bool:
    return type(value) in (int, np.int64) and -(2**63) <= value < 2**63


def too_padded(padded: int, content: int) -> bool:
    """Whether strings of ``content`` bytes become unreasonably large at a fixed width."""
    return padded > MOST_PADDING and padded > 64 * content


def utf8(name: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"{name} holds text with half of a surrogate pair, which has no UTF-8 form. "
            "Remove it, for example with text.encode('utf-8', 'replace').decode()."
        ) from None


def unstorable(name: str, value: Any) -> TypeError:
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        kind = f"{value.ndim}-dimensional {value.dtype} {kind}"
    return TypeError(
        f"{name} is of type {kind}, which a model file cannot hold: it holds numbers, strings, "
        "arrays, CSR matrices, lists, dicts with string keys, engines and registered models. "
        "Set it to one of these before saving."
    )

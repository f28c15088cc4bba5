"""Python values as JSON and arrays, into a file and back.

``Packer`` turns a value into a JSON node and collects its arrays, under names that grow with
the place: ``cluster_centers_``, ``params.init``, ``vocabulary_.bytes``. ``Unpacker`` reads
files from strangers: whatever a node says, the result is a value that ``Packer`` accepts, or a
ModelFileError.

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
"""

import dataclasses
import math
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.core.engines import Dask, Serial, Threads
from tacit.core.errors import ModelFileError
from tacit.core.string_array import StringArray, are_offsets
from tacit.core.tensorfile import CODES, bad, excerpt

__all__ = ["Packer", "Unpacker", "is_sparse"]

LONG = 64  # items; a longer list becomes an array
NUMBERS = {dtype.name for dtype in CODES}
KINDS = (  # of nodes; the Unpacker has a method for each
    "array", "dict", "dtype", "engine", "index", "number", "sparse", "strings", "tuple",
)  # fmt: skip
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
        self._add(name, value)
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
            return self._strings(name, sorted(items), kind)  # a set has no order
        if kind == "list" and len(items) > LONG:
            if texts:
                return self._strings(name, items, "list")
            # np.float64 is a float, and losses mix the two
            if all(isinstance(item, float) for item in items):
                return {**self._array(name, np.array(items, np.float64), finite), "as": "list"}
            if all(map(is_int64, items)):
                return {**self._array(name, np.array(items, np.int64), finite), "as": "list"}
        if kind == "list":  # here too
            items = [float(item) if type(item) is np.float64 else item for item in items]
        nodes = [self.pack(f"{name}.{i}", item, finite=finite) for i, item in enumerate(items)]
        return nodes if kind == "list" else {"type": "tuple", "items": nodes}

    def _dict(self, name: str, value: dict, finite: bool) -> dict:
        if not all(map(is_text, value)):
            raise unstorable(name, value)
        if len(value) > LONG and all(map(is_int64, value.values())):
            self._add(f"{name}.values", np.array(list(value.values()), np.int64))
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
        self._add(f"{name}.bytes", strings.data)
        self._add(f"{name}.offsets", strings.offsets)
        return {"type": "strings", "as": kind}

    def _sparse(self, name: str, value: Any, finite: bool) -> dict:
        kind = type(value).__name__
        if kind not in SPARSE:
            raise unstorable(name, value)
        self._array(f"{name}.data", value.data, finite)
        self._add(f"{name}.indices", value.indices)
        self._add(f"{name}.indptr", value.indptr)
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

    def _add(self, name: str, array: np.ndarray) -> None:
        assert name not in self.tensors, name
        self.tensors[name] = array


class Unpacker:
    """Turns JSON nodes back into values, from the arrays that one file holds."""

    def __init__(
        self,
        path: str | os.PathLike,
        arrays: dict[str, np.ndarray],
        *,
        nested: Callable[[str, dict], Any] | None = None,
        trusted: bool = False,
    ) -> None:
        self.path, self.arrays, self.unused = path, arrays, set(arrays)
        self.trusted = trusted  # leave large arrays unread: the file is mapped
        self._nested = nested

    def unpack(self, name: str, node: Any, *, finite: bool = False) -> Any:
        """The value whose node ``Packer.pack`` returned."""
        if isinstance(node, float) and not math.isfinite(node):  # 1e999 is inf in JSON
            raise self._bad(name, "is too large for a float")
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return self._items(name, node, finite)
        kind = self._field(name, node, "type", str)
        if kind in KINDS:
            return getattr(self, f"_{kind}")(name, node, finite)
        if kind == "model" and self._nested is not None:
            return self._nested(name, node)
        raise self._bad(name, f"is of an unknown type {excerpt(kind)}")

    def _tuple(self, name: str, node: dict, finite: bool) -> tuple:
        return tuple(self._items(name, self._field(name, node, "items", list), finite))

    def _items(self, name: str, nodes: list, finite: bool) -> list:
        return [self.unpack(f"{name}.{i}", node, finite=finite) for i, node in enumerate(nodes)]

    def _dict(self, name: str, node: dict, finite: bool) -> dict:
        items = self._field(name, node, "items", dict)
        return {
            key: self.unpack(f"{name}.{i}", item, finite=finite)
            for i, (key, item) in enumerate(items.items())
        }

    def _number(self, name: str, node: dict, finite: bool) -> Any:
        dtype = self._field(name, node, "dtype", str)
        value = self._field(name, node, "value", bool, int, float, str)
        if dtype != "float" and dtype not in NUMBERS:
            raise self._bad(name, f"is a number of an unknown dtype {excerpt(dtype)}")
        if isinstance(value, str):
            if value not in ("inf", "-inf", "nan") or finite or not dtype.startswith("float"):
                raise self._bad(name, f"is {excerpt(value)}, but must be a finite {dtype}")
            value = float(value)
        elif isinstance(value, float) and not math.isfinite(value):  # 1e999 again
            raise self._bad(name, f"is too large for a {dtype}")
        kind = np.dtype(dtype)  # of "float": float64
        if kind.kind == "b":
            fits = isinstance(value, bool)
        elif kind.kind in "iu":
            info = np.iinfo(kind)
            fits = type(value) is int and info.min <= value <= info.max
        else:
            most = float(np.finfo(kind).max)
            fits = isinstance(value, float) and (not math.isfinite(value) or abs(value) <= most)
        if not fits:
            raise self._bad(name, f"is {excerpt(value)}, which is not a {dtype}")
        return value if dtype == "float" else kind.type(value)

    def _array(self, name: str, node: dict, finite: bool) -> Any:
        array = self._take(name)
        dtype = self._field(name, node, "dtype", str)
        if array.dtype.name != dtype:
            raise self._bad(name, f"has dtype {array.dtype} where {excerpt(dtype)} belongs")
        if finite and not self.trusted and not all_finite(array):
            raise self._bad(name, "holds nan or inf")
        if node.get("as") == "list":
            return array.tolist()
        return np.asfortranarray(array) if node.get("order") == "F" else array

    def _texts(self, name: str) -> list[str]:
        content = self._take(f"{name}.bytes", "u")
        offsets = self._take(f"{name}.offsets", "i")
        if content.ndim != 1 or content.dtype != np.uint8 or offsets.ndim != 1:
            raise self._bad(name, "is not laid out as strings")
        if not are_offsets(offsets, len(content)):
            raise self._bad(name, "has string offsets outside its bytes")
        try:
            return StringArray(content, offsets).strings()
        except UnicodeDecodeError:
            raise self._bad(name, "holds text that is not UTF-8") from None

    def _strings(self, name: str, node: dict, finite: bool) -> Any:
        texts, kind = self._texts(name), self._field(name, node, "as", str)
        if kind in ("list", "set", "frozenset"):
            return {"list": list, "set": set, "frozenset": frozenset}[kind](texts)
        if kind == "object":
            array = np.empty(len(texts), object)
            array[:] = texts
            return array
        if kind == "T":
            return np.array(texts, np.dtypes.StringDType())
        if not (kind[:1] == "U" and kind[1:].isascii() and kind[1:].isdigit()):
            raise self._bad(name, f"is an unknown kind of strings {excerpt(kind)}")
        width = max(map(len, texts), default=0)
        if len(kind) > 10 or not width <= int(kind[1:]) < 2**28:
            raise self._bad(name, f"holds strings longer than its dtype {excerpt(kind)}")
        size = 4 * int(kind[1:]) * len(texts)
        if too_padded(size, self.arrays[f"{name}.bytes"].nbytes):
            raise self._bad(name, f"would need {size:,} bytes for its padded strings")
        return np.array(texts, kind)

    def _index(self, name: str, node: dict, finite: bool) -> dict[str, int]:
        keys, values = self._texts(name), self._take(f"{name}.values", "i")
        index = dict(zip(keys, values.tolist(), strict=False)) if values.ndim == 1 else {}
        if not len(index) == len(keys) == len(values.reshape(-1)):
            raise self._bad(name, "has a key twice, or not one value for each key")
        return index

    def _sparse(self, name: str, node: dict, finite: bool) -> Any:
        import scipy.sparse as sp

        kind, shape = self._field(name, node, "as", str), self._field(name, node, "shape", list)
        data = self._take(f"{name}.data")
        indices = self._take(f"{name}.indices", "i")
        indptr = self._take(f"{name}.indptr", "i")
        known = kind in SPARSE and data.dtype != np.float16  # which SciPy cannot do
        sizes = len(shape) == 2 and all(type(s) is int and 0 <= s < 2**62 for s in shape)
        if not (known and sizes and min(indices.itemsize, indptr.itemsize) >= 4):
            raise self._bad(name, "is not a sparse matrix that Tacit knows")
        major, minor = shape if kind.startswith("csr") else reversed(shape)
        wrong = "is not a consistent sparse matrix"
        if not data.ndim == indices.ndim == indptr.ndim == 1 or len(data) != len(indices):
            raise self._bad(name, wrong)
        if len(indptr) != major + 1 or not are_offsets(indptr, len(indices)):
            raise self._bad(name, wrong)
        if not self.trusted:
            if len(indices) and not (indices.min() >= 0 and indices.max() < minor):
                raise self._bad(name, wrong)
            if finite and not all_finite(data):
                raise self._bad(name, "holds nan or inf")
        # The constructor would read every index to choose their dtype.
        matrix = getattr(sp, kind)(tuple(shape), dtype=data.dtype)
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        return matrix

    def _engine(self, name: str, node: dict, finite: bool) -> Any:
        kind = self._field(name, node, "name", str)
        settings = self._field(name, node, "settings", dict)
        if kind == "Threads" and settings.keys() <= {"workers"}:
            workers = settings.get("workers")
            if workers is None or (type(workers) is int and 1 <= workers <= 4096):
                return Threads(workers)
        elif kind in ENGINES and kind != "Threads" and not settings:
            return ENGINES[kind]()
        raise self._bad(name, f"is an engine {excerpt(kind)} that Tacit does not know")

    def _dtype(self, name: str, node: dict, finite: bool) -> Any:
        dtype = self._field(name, node, "dtype", str)
        if dtype not in NUMBERS:
            raise self._bad(name, f"is an unknown dtype {excerpt(dtype)}")
        return np.dtype(dtype) if node.get("as") == "dtype" else np.dtype(dtype).type

    def _take(self, name: str, kinds: str = "biuf") -> np.ndarray:
        if name not in self.arrays:
            raise bad(self.path, f"lacks the array {excerpt(name)}")
        self.unused.discard(name)
        array = self.arrays[name]
        if array.dtype.kind not in kinds:
            raise self._bad(name, f"has the wrong dtype {array.dtype}")
        return array

    def _field(self, name: str, node: Any, key: str, *types: type) -> Any:
        value = node.get(key) if isinstance(node, dict) else None
        if not isinstance(value, types):
            raise self._bad(name, f"has no valid {key!r}")
        return value

    def _bad(self, name: str, what: str) -> ModelFileError:
        return bad(self.path, f"is not usable: {excerpt(name)} {what}")


# --- Parts of both ---


def all_finite(array: np.ndarray) -> bool:
    """Whether a float array has neither nan nor inf, checked in chunks."""
    if array.dtype.kind != "f":
        return True
    flat, step = array.ravel(order="K"), 2**20
    return all(np.isfinite(flat[i : i + step]).all() for i in range(0, len(flat), step))


def is_sparse(value: Any) -> bool:
    """Whether a value is a SciPy matrix; SciPy is not imported for the answer."""
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

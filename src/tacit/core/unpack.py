"""JSON and arrays back into Python values, from files that come from strangers.

The way back of ``core.pack``, which lists the nodes. ``Unpacker`` believes nothing: whatever
a node says, the answer is a value that ``Packer`` could have been given, or a ModelFileError.
"""

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.core.engines import Threads
from tacit.core.errors import ModelFileError
from tacit.core.pack import ENGINES, NUMBERS, SPARSE, all_finite, too_padded
from tacit.core.string_array import StringArray, are_offsets
from tacit.core.tensorfile import bad, excerpt

__all__ = ["Unpacker"]

MOST_WORKERS = 4096


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
        """The value that ``Packer.pack`` made ``node`` of."""
        if isinstance(node, float) and not math.isfinite(node):  # 1e999 is inf in JSON
            raise self._bad(name, "is too large for a float")
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if isinstance(node, list):
            return self._items(name, node, finite)
        makers: dict[str, Callable[[str, dict, bool], Any]] = {
            "tuple": lambda name, node, finite: tuple(
                self._items(name, self._field(name, node, "items", list), finite)
            ),
            "dict": self._dict,
            "number": self._number,
            "array": self._array,
            "strings": self._strings,
            "index": self._index,
            "sparse": self._sparse,
            "engine": self._engine,
            "dtype": self._dtype,
        }
        kind = self._field(name, node, "type", str)
        if kind in makers:
            return makers[kind](name, node, finite)
        if kind == "model" and self._nested is not None:
            return self._nested(name, node)
        raise self._bad(name, f"is of an unknown type {excerpt(kind)}")

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
            raise self._bad(name, f"is {excerpt(value)}, which is no {dtype}")
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
        found = dict(zip(keys, values.tolist(), strict=False)) if values.ndim == 1 else {}
        if not len(found) == len(keys) == len(values.reshape(-1)):
            raise self._bad(name, "has a key twice, or not one value for each key")
        return found

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
        wrong = "does not hold together as a sparse matrix"
        if not data.ndim == indices.ndim == indptr.ndim == 1 or len(data) != len(indices):
            raise self._bad(name, wrong)
        if len(indptr) != major + 1 or not are_offsets(indptr, len(indices)):
            raise self._bad(name, wrong)
        if not self.trusted:
            if len(indices) and not (indices.min() >= 0 and indices.max() < minor):
                raise self._bad(name, wrong)
            if finite and not all_finite(data):
                raise self._bad(name, "holds nan or inf")
        # The constructor would look at every index to choose their dtype; ours are chosen.
        matrix = getattr(sp, kind)(tuple(shape), dtype=data.dtype)
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        return matrix

    def _engine(self, name: str, node: dict, finite: bool) -> Any:
        kind = self._field(name, node, "name", str)
        settings = self._field(name, node, "settings", dict)
        if kind == "Threads" and settings.keys() <= {"workers"}:
            workers = settings.get("workers")
            if workers is None or (type(workers) is int and 1 <= workers <= MOST_WORKERS):
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

"""Save a fitted model to one file, and open one that came from a stranger.

The file is safetensors (``core.tensorfile``); its document holds the format, the class's
name in ``core.registry``, the constructor parameters, what was fitted, the sizes that must
agree and where the model came from. Values are JSON nodes (``core.pack``) that refer to
arrays. No pickle, no import by a name in a file, every array checked: loading gives a
model of that class, or a ModelFileError.

A class declares what its file may hold, all of it optional:

    _saved_private    private attributes to save besides those that end in an underscore
    _file_schema      attribute -> shape: symbols ("n_clusters", "n_rows-1"), numbers, or None
                      for any size; symbols agree with each other and with integer parameters
                      and attributes of the same name
    _file_optional    attributes in the schema that not every fit has; the others are required
    _file_kinds       attribute -> NumPy kinds allowed there: {"labels_": "i"}
    _file_below       attribute of indices -> what they stay below, a symbol or a number:
                      {"labels_": "n_clusters"}; -1 is allowed where the name stands in
                      _file_missing
    _file_types       attribute that is not an array of the schema -> its type, or several:
                      {"rank_": int, "names_": list[str]}; a registered class by its name;
                      the types of common attributes are in TYPES
    _file_nonfinite   attributes where inf and nan have a meaning
    _after_load()     called last; raises ValueError for what a schema cannot express

The same fit saved twice gives the same bytes: the file holds no time and no path.
"""

import importlib.metadata
import inspect
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, get_args, get_origin

import numpy as np

from tacit._version import __version__
from tacit.core.pack import Packer, Unpacker, is_sparse
from tacit.core.registry import REGISTRY, find_class, name_of
from tacit.core.tensorfile import bad, excerpt, open_tensors, write_tensors

__all__ = ["Description", "Saved", "Tensor", "describe", "load", "save"]

FORMAT = 1
LARGEST = 2**62  # integer in a file; sums of a few of them fit 64 bits
NUMBERS = (list, np.ndarray)

# Attributes of many models that are not arrays of their schema.
TYPES: dict[str, Any] = {
    "classes_": np.ndarray,
    "converged_": bool,
    "inertia_": float,
    "input_report_": dict,
    "losses_": NUMBERS,
    "lower_bound_": float,
    "lower_bounds_": NUMBERS,
    "mean_": (float, np.ndarray),
    "n_clusters_": int,
    "n_documents_": int,
    "n_features_in_": int,
    "n_iter_": int,
    "n_leaves_": int,
    "n_missing_": int,
    "n_samples_": int,
    "n_steps_": int,
    "n_words_": int,
    "objective_": float,
    "rank_": int,
    "scale_": (float, *NUMBERS),
    "separated_": bool,
    "solver_": str,
}
DEEP = 8  # levels of nesting shown in a description


class Saved:
    """Mixin of estimators that can be saved."""

    _saved_private: ClassVar[tuple[str, ...]] = ()
    _file_schema: ClassVar[Mapping[str, tuple]] = {}
    _file_optional: ClassVar[tuple[str, ...]] = ()
    _file_kinds: ClassVar[Mapping[str, str]] = {}
    _file_below: ClassVar[Mapping[str, str | int]] = {}
    _file_missing: ClassVar[tuple[str, ...]] = ()
    _file_types: ClassVar[Mapping[str, Any]] = {}
    _file_nonfinite: ClassVar[tuple[str, ...]] = ()

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted model to ``path``; ``tacit.load(path)`` opens it again.

        The file is complete or untouched, whatever happens. Callbacks are left out.
        """
        save(self, path)


def save(model: Any, path: str | os.PathLike) -> None:
    """Write a fitted model to ``path``: one safetensors file without a line of code in it.

    Callbacks are left out, and the address of a Dask cluster; the file names what it lacks.
    TypeError names the parameter or attribute that a file cannot hold.

    >>> import os, tempfile, tacit
    >>> from tacit.cluster import KMeans
    >>> model = KMeans(2, random_state=0).fit(np.array([[0.0], [1.0], [10.0], [11.0]]))
    >>> path = os.path.join(tempfile.mkdtemp(), "groups.safetensors")
    >>> save(model, path)
    >>> np.array_equal(tacit.load(path).cluster_centers_, model.cluster_centers_)
    True
    """
    name_of(type(model))  # the clearest error first
    learned = any(name.endswith("_") and not name.startswith("__") for name in vars(model))
    if not learned or hasattr(model, "__sklearn_is_fitted__"):
        from sklearn.utils.validation import check_is_fitted  # slow to import

        check_is_fitted(model)
    seed: Any = getattr(model, "random_state", None)
    data = getattr(model, "_fingerprint", None)
    if data is not None and not isinstance(data, str):
        raise TypeError(f"_fingerprint must be a string, not {type(data).__name__}.")
    packer = Packer(nested=lambda place, value: pack_nested(packer, place, value))
    document = {"format": FORMAT, "kind": "model", **pack_model(packer, "", model)}
    document["dropped"] = packer.dropped
    document["provenance"] = {
        "seed": int(seed) if is_integer(seed) else None,
        "data": data,
        "versions": {
            "tacit": __version__,
            "numpy": np.__version__,
            "scikit-learn": importlib.metadata.version("scikit-learn"),
            "python": platform.python_version(),
        },
    }
    write_tensors(path, document, packer.tensors)


def load(path: str | os.PathLike, *, mmap: bool = False) -> Any:
    """Open a model that ``save`` wrote, checking everything in it.

    Parameters
    ----------
    path : str or path
        The file.
    mmap : bool
        False: arrays are read into memory, may be written to, and are checked:
        checksum, shapes, finite values, indices in range. True: arrays are read-only views
        of the file, read when touched, so a model of any size opens in milliseconds and
        several processes use one copy. The header is still checked, the numbers in
        the arrays are not: do this with files you trust, and do not write into the file
        while the model lives (``save`` replaces files, which is safe).

    Raises
    ------
    ModelFileError
        The file is damaged, foreign, or from a newer Tacit. Says which, and the way out.
    """
    with open_tensors(path, kind="model") as file:
        document = file.document
        find(path, document.get("class"))  # before reading gigabytes
        arrays = file.map() if mmap else file.read()
    unpacker = Unpacker(
        path,
        arrays,
        trusted=mmap,
        nested=lambda place, node: build(unpacker, f"{place}.", node),
    )
    try:
        model = build(unpacker, "", document)
    except RecursionError:
        raise bad(path, "is nested too deeply") from None
    if unpacker.unused:
        extra = ", ".join(excerpt(name) for name in sorted(unpacker.unused)[:3])
        raise bad(path, f"holds arrays that belong to nothing: {extra}")
    return finish(path, model, document)


# --- A model as JSON nodes ---


def pack_model(packer: Packer, prefix: str, model: Any) -> dict[str, Any]:
    cls = type(model)
    known = dict(model.get_params(deep=False))
    if known.get("callbacks"):
        packer.dropped.append(f"{prefix}callbacks")
        del known["callbacks"]
    state = {name: vars(model)[name] for name in sorted(vars(model)) if is_state(cls, name)}
    loose = getattr(cls, "_file_nonfinite", ())
    try:
        params = {
            name: packer.pack(f"{prefix}params.{name}", value) for name, value in known.items()
        }
        fitted = {
            name: packer.pack(f"{prefix}{name}", value, finite=name not in loose)
            for name, value in state.items()
        }
        check_settings(model, {k: v for k, v in known.items() if k != "random_state"})
        dims = check_schema(cls, known, state)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{cls.__name__} cannot be saved: {error}") from None
    return {"class": name_of(cls), "params": params, "fitted": fitted, "dims": dims}


def pack_nested(packer: Packer, place: str, value: Any) -> dict[str, Any] | None:
    home = f"{type(value).__module__}:{type(value).__qualname__}"
    if home not in REGISTRY.values():
        return None
    return {"type": "model", **pack_model(packer, f"{place}.", value)}


def is_state(cls: type, name: str) -> bool:
    """Whether an attribute belongs in the file: learned, or named by the class."""
    if name in getattr(cls, "_saved_private", ()):
        return True
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*_", name) is not None


# --- And back ---


def find(path: str | os.PathLike, name: Any) -> type:
    if not isinstance(name, str) or name not in REGISTRY:
        raise bad(
            path,
            f"holds a model of the unknown class {excerpt(name)}",
            "Upgrade Tacit, or see tacit.core.registry for the classes it knows.",
        )
    return find_class(name)


def build(unpacker: Unpacker, prefix: str, document: dict) -> Any:
    """The model that ``pack_model`` described in ``document``."""
    path = unpacker.path
    cls = find(path, document.get("class"))
    params, fitted, dims = (document.get(key) for key in ("params", "fitted", "dims"))
    if not (isinstance(params, dict) and isinstance(fitted, dict) and isinstance(dims, dict)):
        raise bad(path, f"lacks the parameters or the state of its {cls.__name__}")
    renamed = getattr(cls, "_file_renamed", {})  # parameters of older files
    params = {renamed.get(name, name): node for name, node in params.items()}
    unknown = [name for name in params if name not in inspect.signature(cls).parameters]
    if unknown:
        raise bad(
            path,
            f"gives {cls.__name__} parameters that it does not take: {excerpt(unknown)}",
            "Open it with the version of Tacit that wrote it, see `tacit model show`.",
        )
    unknown = [name for name in fitted if not is_state(cls, name)]
    if unknown:
        raise bad(path, f"sets attributes that are not {cls.__name__}'s: {excerpt(unknown)}")
    loose = getattr(cls, "_file_nonfinite", ())
    settings = {
        name: unpacker.unpack(f"{prefix}params.{name}", node) for name, node in params.items()
    }
    state = {
        name: unpacker.unpack(f"{prefix}{name}", node, finite=name not in loose)
        for name, node in fitted.items()
    }
    try:
        sizes = check_schema(cls, settings, state)
    except (TypeError, ValueError) as error:
        what = str(error).partition(". ")[0].rstrip(".")
        raise bad(path, f"is inconsistent: {what}") from None
    if sizes != dims:
        raise bad(path, f"declares the sizes {excerpt(dims)}, but has {excerpt(sizes)}")
    try:
        model = cls(**settings)
        check_settings(model, settings)
        vars(model).update(state)
        declared = getattr(cls, "_file_schema", None) or getattr(cls, "_file_types", None)
        if state or not declared:  # a part may be unfitted
            getattr(model, "_after_load", lambda: None)()
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        what = excerpt(str(error), 200)
        raise bad(path, f"does not hold a usable {cls.__name__}: {what}") from error
    return model


def finish(path: str | os.PathLike, model: Any, document: dict) -> Any:
    """The model with its fingerprint; ModelFileError if it was never fitted."""
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except (ValueError, AttributeError):  # NotFittedError is both
        name = type(model).__name__
        raise bad(path, f"holds a {name} that was never fitted") from None
    provenance = document.get("provenance")
    data = provenance.get("data") if isinstance(provenance, dict) else None
    if isinstance(data, str):
        model._fingerprint = data
    return model


# --- What must agree ---


def check_schema(
    cls: type, params: Mapping[str, Any], state: Mapping[str, Any]
) -> dict[str, int]:
    """The sizes that the schema's symbols stand for; ValueError where they disagree."""
    schema = getattr(cls, "_file_schema", {}) if state else {}  # a part may be unfitted
    optional = getattr(cls, "_file_optional", ())
    kinds = getattr(cls, "_file_kinds", {})
    known = {name: int(v) for name, v in {**params, **state}.items() if is_integer(v)}
    for name in [*schema, *(getattr(cls, "_file_types", {}) if state else ())]:
        if state.get(name) is None and name not in optional:
            raise ValueError(
                f"{name} is missing. Name it in _file_optional if not every fit has it."
            )
    dims: dict[str, int] = {}
    for name, symbols in schema.items():
        if (value := state.get(name)) is None:
            continue
        shape = shape_of(value)
        text = f"{name} has shape {shape}, but must have ({', '.join(map(str, symbols))})"
        if shape is None or len(shape) != len(symbols):
            raise ValueError(f"{text}.")
        for size, symbol in zip(shape, symbols, strict=True):
            if symbol is None:
                continue
            if isinstance(symbol, int):
                if size != symbol:
                    raise ValueError(f"{text}.")
                continue
            base, sign, offset = re.fullmatch(r"(\w+)(?:([+-])(\d+))?", symbol).groups()  # type: ignore[union-attr]
            shift = int(offset or 0) * (-1 if sign == "-" else 1)
            if base.endswith("_") and base not in known:
                raise ValueError(f"{base} is missing, which gives the size of {name}.")
            agreed = dims.setdefault(base, known.get(base, size - shift))
            if size != agreed + shift:
                raise ValueError(
                    f"{text} where {base} is {agreed}. Fit again after changing parameters."
                )
    for name, allowed in kinds.items():
        value = state.get(name)
        dtype = getattr(value, "dtype", None)
        if value is not None and (dtype is None or dtype.kind not in allowed):
            raise ValueError(
                f"{name} has dtype {dtype}, but must be of NumPy's kind {allowed!r}."
            )
    for name, value in state.items():
        check_value(cls, name, value)
    missing = getattr(cls, "_file_missing", ())
    for name, symbol in getattr(cls, "_file_below", {}).items():
        value, least = state.get(name), -1 if name in missing else 0
        most = symbol if isinstance(symbol, int) else dims.get(symbol, known.get(symbol))
        if value is None or most is None or not np.size(value):
            continue
        low, high = int(np.min(value)), int(np.max(value))
        if low < least or high >= most:
            raise ValueError(f"{name} goes from {low} to {high}, but must be below {most}.")
    return dims


def check_value(cls: type, name: str, value: Any) -> None:
    """Refuse a fitted value of another type than declared, and arrays that no model has."""
    types = getattr(cls, "_file_types", {})
    declared = types.get(name, TYPES.get(name))
    if declared is not None and value is not None and not has_type(value, declared):
        raise ValueError(f"{name} is {excerpt(value)}, which is not of its type.")
    estimator = hasattr(cls, "_parameter_constraints")
    if estimator and is_integer(value) and abs(int(value)) > LARGEST:
        raise ValueError(f"{name} is {excerpt(value)}, which is too large.")
    if name in getattr(cls, "_file_schema", {}) and getattr(value, "dtype", 0) == np.float16:
        raise ValueError(f"{name} is of dtype float16, but must be float32 or float64.")
    if name == "classes_":
        row = isinstance(value, np.ndarray) and value.ndim == 1 and len(value) > 0
        if row and len(set(value.tolist())) == len(value):
            return
        from sklearn.base import ClassifierMixin  # slow to import

        if issubclass(cls, ClassifierMixin):
            raise ValueError("classes_ must be a row of different values, at least one.")


def has_type(value: Any, declared: Any) -> bool:
    if isinstance(declared, tuple):
        return any(has_type(value, kind) for kind in declared)
    if get_origin(declared) is list:
        (kind,) = get_args(declared)
        return isinstance(value, list) and all(has_type(item, kind) for item in value)
    if get_origin(declared) is dict:  # keys of files are strings
        kind = get_args(declared)[1]
        if not isinstance(value, dict):
            return False
        if kind is int and set(map(type, value.values())) == {int}:  # a vocabulary is large
            return min(value.values()) >= 0
        return all(has_type(v, kind) for v in value.values())
    if isinstance(declared, str):  # the name of a registered class
        return type(value) is find_class(declared)
    if declared is int:
        return is_integer(value) and int(value) >= 0
    if declared is float:
        return isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if declared is bool:
        return isinstance(value, bool | np.bool_)
    if declared is list and isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, declared)


def check_settings(model: Any, params: Mapping[str, Any]) -> None:
    """Hold parameters to the constraints that ``fit`` holds them to."""
    from tacit.core.engines import get_engine

    known = getattr(type(model), "_parameter_constraints", None)
    if known is not None:
        for name, value in params.items():
            if is_integer(value) and abs(int(value)) > LARGEST:
                raise ValueError(f"{name}={excerpt(value)} is too large.")
            # scikit-learn's "array-like" is whatever has a length.
            listed = isinstance(known.get(name), list) and type(value) not in known[name]
            if listed and isinstance(value, dict | set | frozenset):
                raise ValueError(f"{name}={excerpt(value)} is not of its type.")
        model._validate_params()
    if params.get("callbacks"):
        raise ValueError("callbacks are left out of files.")
    seed = params.get("random_state")
    if seed is not None and not (is_integer(seed) and 0 <= int(seed) < 2**64):
        raise ValueError(f"random_state={excerpt(seed)} is not a whole number below 2**64.")
    if "engine" in params:
        get_engine(params["engine"])


def is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def shape_of(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, np.ndarray) or is_sparse(value):
        return tuple(int(size) for size in value.shape)
    return (len(value),) if isinstance(value, list | tuple | dict | set | frozenset) else None


# --- What a file holds, without building the model ---


class Tensor(NamedTuple):
    """An array in a model file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int


@dataclass(frozen=True)
class Description:
    """The contents of a model file."""

    path: str
    size: int
    format: int
    class_name: str
    params: dict[str, Any]
    fitted: dict[str, Any]
    dims: dict[str, int]
    dropped: list[str]
    provenance: dict[str, Any]
    tensors: tuple[Tensor, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        tensors = [{**tensor._asdict(), "shape": list(tensor.shape)} for tensor in self.tensors]
        return {**vars(self), "tensors": tensors}


def describe(path: str | os.PathLike) -> Description:
    """Read the class, parameters, arrays and provenance of a model file. Builds no model.

    The header is verified, the arrays are not read. Strings are as the file has them; strip
    control characters before printing.
    """
    with open_tensors(path, kind="model") as file:
        document = file.document
        tensors = tuple(
            Tensor(name, entry.dtype.name, entry.shape, entry.nbytes)
            for name, entry in file.table.items()
        )
        size = file.size

    def part(key: str, kind: type) -> Any:
        if not isinstance(document.get(key), kind):
            raise bad(path, f"has no valid {key!r} in its description")
        return document[key]

    return Description(
        path=os.fspath(path),
        size=size,
        format=document["format"],
        class_name=part("class", str),
        params={name: summary(node) for name, node in part("params", dict).items()},
        fitted={name: summary(node) for name, node in part("fitted", dict).items()},
        dims=summary(part("dims", dict)),
        dropped=summary(part("dropped", list)),
        provenance=summary(part("provenance", dict)),
        tensors=tensors,
    )


def summary(node: Any, depth: int = DEEP) -> Any:
    """A node for display: plain values stay, the others become a few words. Cut off where it
    is nested deeper than any value that ``save`` wrote."""
    if isinstance(node, list):
        return [summary(item, depth - 1) for item in node] if depth else "<deeper>"
    if not isinstance(node, dict):
        return node
    if depth == 0:
        return "<deeper>"
    kind, items = node.get("type", "dict"), node.get("items", node)
    if kind == "tuple" and isinstance(items, list):
        return summary(items, depth)
    if kind == "dict" and isinstance(items, dict):
        return {key: summary(item, depth - 1) for key, item in items.items()}
    if kind == "number":
        return summary(node.get("value"), depth - 1)
    if kind == "dtype":
        return excerpt(node.get("dtype")).strip("'")
    if kind == "engine" and isinstance(node.get("settings"), dict):
        settings = node["settings"].items()
        inside = ", ".join(f"{key}={excerpt(value)}" for key, value in settings)
        return f"{excerpt(node.get('name')).strip(chr(39))}({inside})"
    words = {
        "array": "<an array>",
        "sparse": "<a sparse matrix>",
        "strings": "<strings>",
        "index": "<a dict of str to int>",
        "model": f"<a model: {excerpt(node.get('class'))}>",
    }
    return words.get(kind, "<unknown>") if isinstance(kind, str) else "<unknown>"

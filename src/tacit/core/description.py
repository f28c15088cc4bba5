"""What a model file says about itself, without building the model."""

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.core.tensorfile import bad, excerpt, open_tensors

__all__ = ["Description", "Tensor", "describe"]

DEEP = 8  # levels of nesting shown


class Tensor(NamedTuple):
    """An array in a model file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int


@dataclass(frozen=True)
class Description:
    """What a model file says about itself."""

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
    """What is in a model file: class, parameters, arrays, provenance. Builds no model.

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
        dims=shallow(part("dims", dict)),
        dropped=shallow(part("dropped", list)),
        provenance=shallow(part("provenance", dict)),
        tensors=tensors,
    )


def summary(node: Any, depth: int = DEEP) -> Any:
    """A node as something to read: plain values stay, the others become a few words."""
    if depth == 0:
        return "<deeper>"
    if isinstance(node, list):
        return [summary(item, depth - 1) for item in node]
    if not isinstance(node, dict):
        return node
    kind, items = node.get("type"), node.get("items")
    if kind == "tuple" and isinstance(items, list):
        return [summary(item, depth - 1) for item in items]
    if kind == "dict" and isinstance(items, dict):
        return {key: summary(item, depth - 1) for key, item in items.items()}
    if kind == "number":
        return shallow(node.get("value"))
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


def shallow(value: Any, depth: int = DEEP) -> Any:
    """The same JSON value, cut off where it is nested deeper than ours ever is."""
    if isinstance(value, dict):
        if depth == 0:
            return "<deeper>"
        return {key: shallow(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [shallow(item, depth - 1) for item in value] if depth else "<deeper>"
    return value

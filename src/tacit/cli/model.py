"""``tacit model show FILE``: the content of a saved model, without building it."""

import math
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import CommandGroup, debug_option
from tacit.cli.output import clean, print_json
from tacit.core.memory import format_bytes

if TYPE_CHECKING:
    import numpy as np

    from tacit.core.modelfile import Description

__all__ = ["model"]

WIDE = 72  # characters of a value shown
MEASURED = 16  # arrays with their minimum, mean and maximum
MOST_VALUES = 2**26  # of such an array
STEP = 2**20
PIECES = (".bytes", ".offsets", ".indices", ".indptr")  # of strings and sparse matrices


@click.group(cls=CommandGroup)
def model() -> None:
    """Inspect saved models."""


@model.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@debug_option
def show(file: str, as_json: bool) -> None:
    """Print the class, parameters, arrays and provenance of the model in FILE.

    Runs no code from the file, so it is safe for files from strangers.
    """
    from tacit.core.modelfile import describe

    found = describe(file)
    spans = measure(file, found)
    if as_json:
        document = found.to_dict()
        for tensor in document["tensors"]:
            tensor.update(spans.get(tensor["name"], {}))
        print_json(tidy(document))
    else:
        for line in lines(found, spans):
            click.echo(clean(line))


# --- Values ---


def measure(file: str, found: "Description") -> dict[str, dict[str, float]]:
    """Minimum, mean and maximum of the first few arrays that are not too large."""
    from tacit.core.tensorfile import open_tensors

    chosen = [
        tensor.name
        for tensor in found.tensors
        if not tensor.name.endswith(PIECES) and 0 < math.prod(tensor.shape) <= MOST_VALUES
    ][:MEASURED]
    with open_tensors(file, kind="model") as opened:
        arrays = opened.map()
    return {name: span(arrays[name]) for name in chosen if name in arrays}


def span(array: "np.ndarray") -> dict[str, float]:
    import numpy as np

    flat = array.reshape(-1)
    low, high, total = math.inf, -math.inf, 0.0
    with np.errstate(all="ignore"):  # a file may hold anything
        for start in range(0, len(flat), STEP):
            piece = flat[start : start + STEP].astype(np.float64)
            low, high = np.minimum(low, piece.min()), np.maximum(high, piece.max())
            total += float(piece.sum())
    return {"min": float(low), "mean": total / len(flat), "max": float(high)}


def tidy(value: Any) -> Any:
    """JSON values whose strings can be printed and whose numbers JSON knows."""
    if isinstance(value, dict):
        return {clean(key): tidy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return clean(value) if isinstance(value, str) else value


# --- Printing ---


def lines(found: "Description", spans: dict[str, dict[str, float]]) -> list[str]:
    page = [
        f"{one_line(found.class_name)}, a model file of {format_bytes(found.size)} "
        f"(format {found.format})"
    ]
    page += section("Parameters", found.params)
    arrays = {tensor.name.partition(".")[0] for tensor in found.tensors}
    page += section(
        "Fitted", {name: value for name, value in found.fitted.items() if name not in arrays}
    )
    page += section("Sizes", found.dims)
    if found.tensors:
        page += ["", "Arrays", *table(found, spans)]
    page += section("Made with", flat(found.provenance))
    if found.dropped:
        page += ["", f"Not saved: {', '.join(one_line(name) for name in found.dropped)}"]
    return page


def section(title: str, values: dict[str, Any]) -> list[str]:
    width = max((len(one_line(name)) for name in values), default=0)
    rows = [f"  {one_line(name):<{width}}  {shown(value)}" for name, value in values.items()]
    return ["", title, *rows] if rows else []


def table(found: "Description", spans: dict[str, dict[str, float]]) -> list[str]:
    rows = [["name", "dtype", "shape", "size", "min", "mean", "max"]]
    for tensor in found.tensors:
        shape = " x ".join(f"{size:,}" for size in tensor.shape) or "-"
        values = spans.get(tensor.name, {})
        numbers = [f"{values[key]:.4g}" if values else "" for key in ("min", "mean", "max")]
        size = format_bytes(tensor.nbytes)
        rows.append([one_line(tensor.name), tensor.dtype, shape, size, *numbers])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def flat(values: dict[str, Any]) -> dict[str, Any]:
    """The provenance with versions at the top level, without unknown values."""
    inner = values.get("versions")
    rest = {key: value for key, value in values.items() if key != "versions"}
    rest.update(inner if isinstance(inner, dict) else {})
    return {key: value for key, value in rest.items() if value is not None}


def shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(tidy(value))
    return one_line(text, WIDE)


def one_line(text: Any, most: int = 48) -> str:
    """Text cleaned, on one line, cut to ``most`` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= most else f"{line[: most - 3]}..."

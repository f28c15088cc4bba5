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

    description = describe(file)
    ranges = measure(file, description)
    if as_json:
        document = description.to_dict()
        for tensor in document["tensors"]:
            tensor.update(ranges.get(tensor["name"], {}))
        print_json(tidy(document))
    else:
        for line in lines(description, ranges):
            click.echo(clean(line))


# --- Values ---


def measure(file: str, description: "Description") -> dict[str, dict[str, float]]:
    """Minimum, mean and maximum of the first few arrays that are not too large."""
    from tacit.core.tensorfile import open_tensors

    chosen = [
        tensor.name
        for tensor in description.tensors
        if not tensor.name.endswith(PIECES) and 0 < math.prod(tensor.shape) <= MOST_VALUES
    ][:MEASURED]
    with open_tensors(file, kind="model") as opened:
        arrays = opened.map()
    return {name: range_of(arrays[name]) for name in chosen if name in arrays}


def range_of(array: "np.ndarray") -> dict[str, float]:
    import numpy as np

    with np.errstate(all="ignore"):  # a file may hold anything
        mean = array.mean(dtype=np.float64)
        return {"min": float(array.min()), "mean": float(mean), "max": float(array.max())}


def tidy(value: Any) -> Any:
    """Values for JSON: strings are printable, and numbers that are not finite are text."""
    if isinstance(value, dict):
        return {clean(key): tidy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return clean(value) if isinstance(value, str) else value


# --- Printing ---


def lines(description: "Description", ranges: dict[str, dict[str, float]]) -> list[str]:
    arrays = {tensor.name.partition(".")[0] for tensor in description.tensors}
    fitted = {name: v for name, v in description.fitted.items() if name not in arrays}
    page = [
        f"{one_line(description.class_name)}, a model file of "
        f"{format_bytes(description.size)} (format {description.format})",
        *section("Parameters", description.params),
        *section("Fitted", fitted),
        *section("Sizes", description.dims),
    ]
    if description.tensors:
        page += ["", "Arrays", *table(description, ranges)]
    page += section("Made with", flat(description.provenance))
    if description.dropped:
        page += ["", f"Not saved: {', '.join(map(one_line, description.dropped))}"]
    return page


def section(title: str, values: dict[str, Any]) -> list[str]:
    width = max((len(one_line(name)) for name in values), default=0)
    rows = [f"  {one_line(name):<{width}}  {shown(value)}" for name, value in values.items()]
    return ["", title, *rows] if rows else []


def table(description: "Description", ranges: dict[str, dict[str, float]]) -> list[str]:
    rows = [["name", "dtype", "shape", "size", "min", "mean", "max"]]
    for tensor in description.tensors:
        shape = " x ".join(f"{size:,}" for size in tensor.shape) or "-"
        values = ranges.get(tensor.name, {})
        numbers = [f"{values[key]:.4g}" if values else "" for key in ("min", "mean", "max")]
        size = format_bytes(tensor.nbytes)
        rows.append([one_line(tensor.name), tensor.dtype, shape, size, *numbers])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    form = "  ".join(f"{{:{'<' if i < 2 else '>'}{width}}}" for i, width in enumerate(widths))
    return [f"  {form.format(*row)}".rstrip() for row in rows]


def flat(values: dict[str, Any]) -> dict[str, Any]:
    """The provenance with the versions at the top level, without unknown values."""
    versions = values.get("versions")
    merged = {key: value for key, value in values.items() if key != "versions"}
    merged.update(versions if isinstance(versions, dict) else {})
    return {key: value for key, value in merged.items() if value is not None}


def shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(tidy(value))
    return one_line(text, WIDE)


def one_line(text: Any, most: int = 48) -> str:
    """Clean text on one line, cut to ``most`` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= most else f"{line[: most - 3]}..."

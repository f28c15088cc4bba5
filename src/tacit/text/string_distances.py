"""Distances between many strings at once, in blocks of rows on an engine.

    rows      the strings, a block at a time; they may come from a stream
    columns   the others, sorted by length and held by every worker as symbol numbers

The rows of a block meet all columns at once (``edit_lanes``; ``edit_tables`` for costs and for
unrestricted swaps). Every pair is worked out on its own, so neither blocks nor engine can
change a distance. Where strings are compared with themselves and the way back costs the same,
each pair is done once.

The notes' section on distances between strings and trees.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from tacit.core.engines import Engine, Threads, get_engine, shares_memory
from tacit.text.edit_costs import CostTables, EditCosts
from tacit.text.edit_distance import as_sequence, check_settings
from tacit.text.edit_lanes import Strings
from tacit.text.string_blocks import (
    Numbering,
    Plan,
    RowBlock,
    Square,
    Stretch,
    arrange_square,
    check_fits,
    cut_rows,
    distances,
    make_plan,
    mirror,
    raw_type,
    rows_to_block,
    square_part,
)

__all__ = ["pairwise_strings", "string_distance_blocks"]

METRICS = ("levenshtein", "optimal_string_alignment", "damerau")
SMALL = 2**14


def pairwise_strings(
    strings: Iterable[Any],
    others: Iterable[Any] | None = None,
    *,
    metric: str = "levenshtein",
    costs: EditCosts | None = None,
    limit: float | None = None,
    scale: str | None = None,
    normalize: str | None = None,
    condensed: bool = False,
    dtype: Any = None,
    out: np.ndarray | None = None,
    engine: str | Engine = "threads",
) -> np.ndarray:
    """Measure the distance of every string to every other.

    Parameters
    ----------
    strings, others : iterables of str, or of sequences of hashable items
        ``others`` gives the columns; None compares ``strings`` with themselves.
    metric : {"levenshtein", "optimal_string_alignment", "damerau"}
    costs, limit, scale, normalize
        As in ``levenshtein``; ``damerau`` takes no costs.
    condensed : bool
        Give only the pairs i < j, row by row, as SciPy's ``linkage`` and the clusterings
        want them. For ``strings`` alone, and for costs that are the same both ways.
    dtype : NumPy dtype or None
        Of the answer: int32 for counts and float64 for the rest unless given.
    out : array or None
        Where to write the answer, for example a ``numpy.memmap`` larger than memory.
    engine : {"serial", "threads", "dask"} or Engine
        Where blocks of rows are worked on. The distances do not depend on it.

    Returns
    -------
    array of shape (strings, others), or (n (n - 1) / 2,) if condensed

    Examples
    --------
    >>> pairwise_strings(["kitten", "sitting", "mitten"])
    array([[0, 3, 1],
           [3, 0, 3],
           [1, 3, 0]], dtype=int32)
    >>> pairwise_strings(["kitten", "sitting", "mitten"], condensed=True)
    array([3, 1, 3], dtype=int32)
    >>> pairwise_strings(["teh"], ["the", "ten"], metric="optimal_string_alignment")
    array([[1, 1]], dtype=int32)
    """
    check_metric(metric, costs, limit, scale, normalize)
    kind = result_type(dtype if out is None else out.dtype, costs, scale)
    rows = read(strings, normalize, "strings")
    columns = rows if others is None else read(others, normalize, "others")
    numbering = Numbering(columns, costs)
    encoded = numbering.encode(rows)
    targets = encoded if others is None else numbering.encode(columns)
    plan = make_plan(metric, targets, numbering, costs, limit, scale, kind)
    twice = others is None and is_symmetric(costs, plan.tables)
    if condensed and not twice:
        why = "the costs differ by direction" if others is None else "others= was given"
        raise ValueError(
            "pairwise_strings(condensed=True) is for distances that are the same both ways, "
            f"but {why}. Leave out condensed."
        )
    n, m = len(encoded), len(targets)
    out = make_out(out, (n * (n - 1) // 2,) if condensed else (n, m), kind)
    if twice:
        fill_square(plan, encoded, out, get_engine(engine))
    elif n and m:
        fill_rectangle(plan, encoded, out, get_engine(engine))
    return out


def string_distance_blocks(
    strings: Iterable[Any],
    others: Iterable[Any],
    *,
    metric: str = "levenshtein",
    costs: EditCosts | None = None,
    limit: float | None = None,
    scale: str | None = None,
    normalize: str | None = None,
    dtype: Any = None,
    engine: str | Engine = "threads",
) -> Iterator[tuple[int, np.ndarray]]:
    """Measure distances a block of rows at a time: the first row's number, and the rows.

    ``strings`` is read as it goes and may be a stream longer than memory; ``others`` is held
    in memory. Parameters are those of ``pairwise_strings``.

    Examples
    --------
    >>> stream = iter(["colour", "color", "collar"])
    >>> for start, rows in string_distance_blocks(stream, ["color"]):
    ...     print(start, rows.ravel())
    0 [1 0 2]
    """
    check_metric(metric, costs, limit, scale, normalize)
    kind = result_type(dtype, costs, scale)
    columns = read(others, normalize, "others")
    numbering = Numbering(columns, costs)
    targets = numbering.encode(columns)
    plan = make_plan(metric, targets, numbering, costs, limit, scale, kind)
    refuse_string(strings, "strings")
    source = (as_sequence(each, normalize, f"strings[{i}]") for i, each in enumerate(strings))

    def blocks() -> Iterator[RowBlock]:
        start, step = 0, rows_to_block(len(targets))
        while part := list(islice(source, step)):
            yield RowBlock(start, numbering.encode(part))
            start += len(part)

    return get_engine(engine).map(distances, plan, blocks())


# --- Parts ---


def fill_rectangle(plan: Plan, rows: Strings, out: np.ndarray, engine: Engine) -> None:
    plan = plan._replace(out=out if shares_memory(engine) else None)
    blocks = cut_rows(rows, out.shape[1])
    for start, part in work(engine, distances, plan, blocks, out.size):
        if part is not None:
            out[start : start + len(part)] = part


def fill_square(plan: Plan, rows: Strings, out: np.ndarray, engine: Engine) -> None:
    """One side of the diagonal, sorted by length; then both, in the order of the answer."""
    n = len(rows)
    if n == 0:
        return
    check_fits(plan, 0)
    raw = np.empty((n, n), raw_type(plan, 0))
    near = shares_memory(engine)
    plan = plan._replace(out=raw if near else None)
    blocks = cut_rows(plan.columns, n, triangle=True)
    for start, part in work(engine, square_part, plan, blocks, raw.size):
        if part is not None:
            mirror(part, start, raw)
    square = Square(raw, rows.sizes(), plan.rank, plan.scale, out)
    nearby = engine if near else Threads()
    step = rows_to_block(n)
    stretches = (Stretch(start, min(start + step, n)) for start in range(0, n, step))
    for _ in work(nearby, arrange_square, square, stretches, raw.size):
        pass


def work(
    engine: Engine, function: Callable, params: Any, blocks: Iterable[Any], size: int
) -> Iterator[Any]:
    """What ``function`` makes of each block: on the engine, unless that takes longer."""
    if size <= SMALL and shares_memory(engine):
        return (function(params, block) for block in blocks)
    return engine.map(function, params, blocks)


def check_metric(
    metric: str,
    costs: EditCosts | None,
    limit: float | None,
    scale: str | None,
    normalize: str | None,
) -> None:
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} is unknown; choose from {list(METRICS)}.")
    check_settings(metric, costs, limit, scale, normalize)


def result_type(dtype: Any, costs: EditCosts | None, scale: str | None) -> np.dtype:
    broken = costs is not None or scale is not None
    if dtype is None:
        return np.dtype(np.float64 if broken else np.int32)
    kind = np.dtype(dtype)
    if kind.kind not in ("f" if broken else "iuf"):
        what = "fractions" if broken else "counts"
        raise ValueError(f"dtype={kind} cannot hold {what}. Give for example float64.")
    return kind


def read(strings: Iterable[Any], normalize: str | None, name: str) -> list[Any]:
    """Strings in memory, checked one by one."""
    refuse_string(strings, name)
    strings = list(strings)
    if normalize is None and set(map(type, strings)) <= {str}:
        return strings
    return [as_sequence(each, normalize, f"{name}[{i}]") for i, each in enumerate(strings)]


def refuse_string(strings: Any, name: str) -> None:
    if isinstance(strings, str | bytes):
        raise ValueError(f"{name} is one string. Wrap it in a list: [text].")
    if not isinstance(strings, Iterable):
        raise TypeError(
            f"{name} is of type {type(strings).__name__}, but must be an iterable of strings."
        )


def make_out(out: np.ndarray | None, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError(
            f"out= has shape {out.shape}, but the answer has {shape}, in C order and writeable."
        )
    return out


def is_symmetric(costs: EditCosts | None, tables: CostTables | None) -> bool:
    """Whether the way back always costs the same."""
    if costs is None or tables is None:
        return True
    if costs.has_pairs("insert") or costs.has_pairs("delete"):
        return False
    return (
        np.array_equal(tables.insert, tables.delete)
        and np.array_equal(tables.substitute, tables.substitute.T)
        and np.array_equal(tables.transpose, tables.transpose.T)
    )

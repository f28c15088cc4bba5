"""The groups there would be for other numbers of groups."""

from typing import NamedTuple

import numpy as np

from tacit.explore.stages.grouping import drawn_rows
from tacit.explore.stages.groups import FEWEST, K_MOST
from tacit.explore.stages.stage import Context, Output

__all__ = ["divide_otherwise"]

STARTS = 3
SAMPLE = 4000  # rows to find groups in; all rows are then given to them
MOST_K = 256  # a label fits a byte


class Rows(NamedTuple):
    """What every number of groups is tried on."""

    rows: np.ndarray
    sample: np.ndarray
    seed: np.uint64


class Number(NamedTuple):
    """A number of groups."""

    k: int

    def load(self) -> "Number":
        return self


def divide_otherwise(context: Context) -> Output:
    """Labels by size for every number of groups that was weighed, a row for each."""
    from tacit.core.randoms import seed_from

    if why := context.skipped("meaning"):
        return Output(skipped=why)
    found = context.arrays("meaning")
    placed = np.flatnonzero(~found["blank"])
    if len(placed) < FEWEST:
        return Output(skipped=f"Groups need {FEWEST} documents; there are {len(placed):,}.")
    rows = np.ascontiguousarray(found["rows"][placed])
    seed = seed_from(context.settings.seed)
    data = Rows(rows, drawn_rows(rows, SAMPLE, seed, 0, 8), seed)
    most = min(K_MOST[context.settings.effort], len(placed) // 10, MOST_K)
    tasks = [Number(k) for k in range(2, max(2, most) + 1)]
    ks: list[int] = []
    kept: list[np.ndarray] = []
    for task, labels in zip(tasks, context.engine.map(divide, data, tasks), strict=True):
        if labels.max() + 1 < task.k:
            break
        everywhere = np.zeros(len(found["rows"]), np.uint8)
        everywhere[placed] = labels
        ks.append(task.k)
        kept.append(everywhere)
    if not ks:
        return Output(skipped="All documents use the same words.")
    return Output(arrays={"labels": np.stack(kept)}, facts={"ks": ks})


def divide(data: Rows, number: Number) -> np.ndarray:
    from tacit.cluster.small_kmeans import small_kmeans
    from tacit.core.randoms import key
    from tacit.kernels.nearest_centers import nearest_centers
    from tacit.measure.labels import by_size

    seed = int(key(data.seed, number.k, 8)) % 2**31
    fit = small_kmeans(data.sample, number.k, seed, starts=STARTS, unit=True)
    return by_size(nearest_centers(data.rows, fit.centers, unit=True))

"""The groups there would be for other numbers of groups."""

import numpy as np

from tacit.core.randoms import key, seed_from
from tacit.explore.stages.groups import FEWEST, K_MOST, draw_rows
from tacit.explore.stages.stage import Context, Output

__all__ = ["group_otherwise"]

STARTS = 3
SAMPLE = 4000  # rows to find centers in; all rows are then assigned to them
MOST_K = 256  # a label fits a byte


def group_otherwise(context: Context) -> Output:
    """Labels by size for every number of groups that choose_k tries, a row for each."""
    from tacit.cluster.small_kmeans import small_kmeans
    from tacit.kernels.nearest_centers import nearest_centers
    from tacit.measure.labels import by_size

    if why := context.skipped("meaning"):
        return Output(skipped=why)
    found = context.arrays("meaning")
    placed = np.flatnonzero(~found["blank"])
    if len(placed) < FEWEST:
        return Output(skipped=f"Groups need {FEWEST} documents; there are {len(placed):,}.")
    rows, seed = np.ascontiguousarray(found["rows"][placed]), seed_from(context.settings.seed)
    sample = draw_rows(rows, SAMPLE, seed, 0, 8)

    def group(k: int) -> np.ndarray:
        own = int(key(seed, k, 8)) % 2**31
        fit = small_kmeans(sample, k, own, starts=STARTS, unit=True)
        return by_size(nearest_centers(rows, fit.centers, unit=True))

    most = min(K_MOST[context.settings.effort], len(placed) // 10, MOST_K)
    ks: list[int] = []
    kept: list[np.ndarray] = []
    tried = range(2, max(2, most) + 1)
    for k, labels in zip(tried, context.engine.each(group, tried), strict=True):
        if labels.max() + 1 < k:
            break
        everywhere = np.zeros(len(found["rows"]), np.uint8)
        everywhere[placed] = labels
        ks.append(k)
        kept.append(everywhere)
    if not ks:
        return Output(skipped="All documents use the same words.")
    return Output(arrays={"labels": np.stack(kept)}, facts={"ks": ks})

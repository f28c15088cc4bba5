"""The groups there would be for other numbers of groups."""

import warnings

import numpy as np

from tacit.explore.stage import Context, Output
from tacit.explore.stages.cluster_stage import FEWEST, K_MOST

__all__ = ["divide_otherwise"]

STARTS = 2
SAMPLE = 4000  # rows to find groups in; all rows are then given to them
MOST_K = 256  # a label fits a byte


def divide_otherwise(context: Context) -> Output:
    """Labels by size for every number of groups that was weighed, a row for each."""
    from sklearn.exceptions import ConvergenceWarning

    from tacit.cluster import SphericalKMeans
    from tacit.cluster.dendrogram import by_size
    from tacit.core.randoms import key, permutation, seed_from

    if why := context.skipped("meaning"):
        return Output(skipped=why)
    found = context.arrays("meaning")
    placed = np.flatnonzero(~found["blank"])
    if len(placed) < FEWEST:
        return Output(skipped=f"Groups need {FEWEST} documents; there are {len(placed):,}.")
    rows = np.ascontiguousarray(found["rows"][placed])
    drawn = rows
    if len(rows) > SAMPLE:
        order = permutation(key(seed_from(context.settings.seed), 0, 8), len(rows))
        drawn = np.ascontiguousarray(rows[np.sort(order[:SAMPLE])])
    most = min(K_MOST[context.settings.effort], len(placed) // 10, MOST_K)
    ks: list[int] = []
    kept: list[np.ndarray] = []
    for k in range(2, max(2, most) + 1):
        model = SphericalKMeans(
            k, n_init=STARTS, random_state=context.settings.seed, engine=context.engine
        )
        with warnings.catch_warnings():  # that there are fewer directions than k is no news
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = by_size(model.fit(drawn).predict(rows))
        if labels.max() + 1 < k:
            break
        everywhere = np.zeros(len(found["rows"]), np.uint8)
        everywhere[placed] = labels
        ks.append(k)
        kept.append(everywhere)
    if not ks:
        return Output(skipped="All documents use the same words.")
    return Output(arrays={"labels": np.stack(kept)}, facts={"ks": ks})

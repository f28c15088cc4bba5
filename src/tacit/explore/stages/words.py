"""Words by the company they keep: the nearest neighbours of frequent words."""

import numpy as np

from tacit.explore.stages.stage import Context, Output

__all__ = ["find_word_neighbors"]

WORDS = {"quick": 2000, "normal": 5000, "thorough": 10_000}
NEAREST = 8


def find_word_neighbors(context: Context) -> Output:
    """For the words in most documents, the words nearest to them in meaning."""
    from tacit.decompose.nearest_rows import nearest_rows

    if why := context.skipped("meaning"):
        return Output(skipped=why)
    found, counted = context.arrays("meaning"), context.arrays("counts")
    used, spread = found["used"], counted["document_counts"]
    order = np.lexsort([used, -spread[used]])[: WORDS[context.settings.effort]]
    shown = np.sort(order)
    near = nearest_rows(
        np.ascontiguousarray(found["words"][shown]),
        min(NEAREST, len(shown) - 1),
        context.engine,
        seed=context.settings.seed,
    )
    cosine = (1 - near.squares / 2).astype(np.float32)
    return Output(
        arrays={"words": used[shown], "neighbors": near.places, "cosine": cosine},
        facts={"words": len(shown), "of": len(used)},
    )

"""Documents like no other, and documents that hold nothing to compare."""

import numpy as np

from tacit.explore.stage import Context, Output

__all__ = ["find_outliers"]

SHOWN = 20
LEAST_WORDS = 25  # shorter documents are far from all others for lack of words


def find_outliers(context: Context) -> Output:
    """How far each document is from its nearest ones, beside what is usual here."""
    if why := context.skipped("map"):
        return Output(skipped=why)
    squares = context.arrays("map")["squares"]
    blank = context.arrays("meaning")["blank"]
    lengths = context.arrays("counts")["lengths"]
    distance = np.sqrt(squares.mean(axis=1, dtype=np.float64)) if squares.size else None
    if distance is None:
        return Output(skipped="There are too few documents to tell which are unusual.")
    listed = np.flatnonzero(~blank & (lengths >= LEAST_WORDS))
    middle = float(np.median(distance[listed])) if len(listed) else 0.0
    width = 1.4826 * float(np.median(np.abs(distance[listed] - middle))) if len(listed) else 0.0
    score = (distance - middle) / width if width > 0 else np.zeros(len(distance))
    order = listed[np.argsort(-score[listed], kind="stable")]
    return Output(
        arrays={"score": score.astype(np.float32)},
        facts={
            "outliers": [[int(i), float(score[i])] for i in order[:SHOWN] if score[i] > 3],
            "beyond_three": int((score[listed] > 3).sum()),
            "short": int((lengths < LEAST_WORDS).sum()),
            "blank": np.flatnonzero(blank)[:SHOWN].tolist(),
            "blanks": int(blank.sum()),
        },
    )

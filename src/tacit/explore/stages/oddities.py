"""Near copies, and documents far from all others."""

import numpy as np

from tacit.explore.stages.stage import Context, Output

__all__ = ["find_duplicates", "find_outliers"]


def find_duplicates(context: Context) -> Output:
    """Groups of documents that have most of their four-word sequences in common."""
    from tacit.search import NearDuplicates

    if not len(context.documents()):
        return Output(
            arrays={
                "labels": np.zeros(0, np.int32),
                "pairs": np.zeros((0, 2), np.int32),
                "jaccard": np.zeros(0),
            },
            facts={"groups": 0, "documents": 0, "redundant": 0, "exact": 0, "empty": 0,
                   "threshold": NearDuplicates().threshold},
        )  # fmt: skip
    model = NearDuplicates(random_state=context.settings.seed, engine=context.engine)
    model.fit(context.documents())
    groups = int(model.labels_.max(initial=-1)) + 1
    inside = model.labels_ >= 0
    return Output(
        arrays={
            "labels": model.labels_,
            "pairs": np.asarray(model.pairs_, np.int32).reshape(-1, 2),
            "jaccard": np.asarray(model.jaccard_, np.float64),
        },
        facts={
            "groups": groups,
            "documents": int(inside.sum()),
            "redundant": int(inside.sum()) - groups,
            "exact": len(np.unique(model.pairs_[model.jaccard_ == 1, 1])),
            "threshold": model.threshold,
            "empty": len(model.empty_),
        },
    )


SHOWN = 20
LEAST_WORDS = 25  # shorter documents are far from all others for lack of words


def find_outliers(context: Context) -> Output:
    """How far each document is from its nearest ones, compared with what is usual here."""
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

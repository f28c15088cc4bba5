"""Near copies, and documents unlike all others."""

import numpy as np

from tacit.explore.stages.stage import Context, Output
from tacit.explore.stages.unfamiliarity import MEASURES, measure_documents, score_evidence

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
FEWEST = 31  # documents, for a limit that can be relied on


def find_outliers(context: Context) -> Output:
    """How unfamiliar each document is to the others, and those that are unlike all of them."""
    if why := context.skipped("map"):
        return Output(skipped=why)
    blank = context.arrays("meaning")["blank"]
    evidence = measure_documents(context)
    if np.count_nonzero(evidence.sizes[:, 0]) < FEWEST:
        return Output(skipped="There are too few documents to tell which are unusual.")
    score, why_of, scale = score_evidence(evidence)
    order = np.argsort(-score, kind="stable")
    odd = int((score > 1).sum())
    names = [*MEASURES, "language"]
    return Output(
        arrays={"score": score.astype(np.float32), "why": why_of.astype(np.uint8)},
        facts={
            "outliers": [
                [int(i), float(score[i]), names[why_of[i]]] for i in order[: min(odd, SHOWN)]
            ],
            "unlike": odd,
            "blank": np.flatnonzero(blank)[:SHOWN].tolist(),
            "blanks": int(blank.sum()),
            **scale.facts(),
        },
    )

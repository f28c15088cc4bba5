"""Documents that say the same twice."""

import numpy as np

from tacit.explore.stage import Context, Output

__all__ = ["find_duplicates"]


def find_duplicates(context: Context) -> Output:
    """Groups of documents that share most of their runs of four words."""
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
            "exact": int((model.jaccard_ == 1).sum()),
            "threshold": model.threshold,
            "empty": len(model.empty_),
        },
    )

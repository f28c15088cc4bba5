"""How good predicted ratings and rankings are.

    RMSE, MAE     root mean squared and mean absolute error of predicted ratings
    precision@k   relevant items among the first k, over k
    recall@k      relevant items among the first k, over all relevant ones
    MAP@k         mean over users of the average precision: the sum of precision@j over the
                  places j <= k of relevant items, over min(k, relevant)
    NDCG@k        sum of 1 / log2(1 + place) over the relevant items up to k, over its maximum
    MRR@k         1 / place of the first relevant item, 0 if it is past k
    coverage@k    items that some user is shown among the first k, over all items
    novelty@k     mean of -log2 of the proportion of users who rated a shown item in training

Rankings are full: a recommender ranks every item that the user did not rate in training. Scores
on a sample of items mislead (Krichene and Rendle 2020), so there are none. What was measured is
part of the result, and printed with it.

Järvelin and Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques. TOIS 20.
Krichene and Rendle (2020), On sampled metrics for item recommendation. KDD.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "RankingReport", "average_precision", "mae", "ndcg", "precision_at", "rank_items",
    "recall_at", "reciprocal_rank", "rmse",
]  # fmt: skip


def rmse(truth: Any, predicted: Any) -> float:
    """The root mean squared error.

    >>> rmse([1.0, 3.0], [2.0, 2.0])
    1.0
    """
    return float(np.sqrt(np.mean(differences(truth, predicted, "rmse") ** 2)))


def mae(truth: Any, predicted: Any) -> float:
    """The mean absolute error.

    >>> mae([1.0, 3.0], [2.0, 5.0])
    1.5
    """
    return float(np.mean(np.abs(differences(truth, predicted, "mae"))))


def differences(truth: Any, predicted: Any, name: str) -> np.ndarray:
    a, b = np.asarray(truth, np.float64), np.asarray(predicted, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"{name}: the truth has shape {a.shape}, the predictions {b.shape}. Give one "
            "prediction for each rating."
        )
    if not len(a):
        raise ValueError(f"{name} needs at least one rating, but there are none.")
    wrong = ~(np.isfinite(a) & np.isfinite(b))
    if wrong.any():
        raise ValueError(f"{name}: number {int(np.argmax(wrong))} is nan or infinite.")
    return a - b


# --- One ranking ---


def hits_of(ranked: Sequence, relevant: Collection, k: int, name: str) -> np.ndarray:
    if k < 1:
        raise ValueError(f"{name}(k={k}) must be at least 1.")
    targets = {*relevant}
    if not targets:
        raise ValueError(f"{name}: no item is relevant, so there is nothing to find.")
    return np.array([item in targets for item in list(ranked)[:k]], bool)


def precision_at(ranked: Sequence, relevant: Collection, k: int) -> float:
    """Relevant items among the first k, over k.

    >>> precision_at(["a", "b", "c", "d"], {"a", "d"}, 2)
    0.5
    """
    return float(hits_of(ranked, relevant, k, "precision_at").sum()) / k


def recall_at(ranked: Sequence, relevant: Collection, k: int) -> float:
    """Relevant items among the first k, over all relevant ones.

    >>> recall_at(["a", "b", "c", "d"], {"a", "d"}, 2)
    0.5
    """
    return float(hits_of(ranked, relevant, k, "recall_at").sum()) / len({*relevant})


def average_precision(ranked: Sequence, relevant: Collection, k: int) -> float:
    """The sum of the precision at the places of relevant items, over min(k, relevant).

    >>> average_precision(["a", "b", "c"], {"a", "c"}, 3) == (1 + 2 / 3) / 2
    True
    """
    hits = hits_of(ranked, relevant, k, "average_precision")
    precisions = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float((precisions * hits).sum()) / min(k, len({*relevant}))


def ndcg(ranked: Sequence, relevant: Collection, k: int) -> float:
    """The discounted gain of the first k, over that of the best order.

    >>> ndcg(["a", "b"], {"a"}, 2), round(ndcg(["b", "a"], {"a"}, 2), 3)
    (1.0, 0.631)
    """
    hits = hits_of(ranked, relevant, k, "ndcg")
    discounts = 1 / np.log2(np.arange(2, k + 2))
    best = discounts[: min(k, len({*relevant}))].sum()
    return float((hits * discounts[: len(hits)]).sum() / best)


def reciprocal_rank(ranked: Sequence, relevant: Collection, k: int) -> float:
    """One over the place of the first relevant item; 0 if it is past k.

    >>> reciprocal_rank(["b", "a"], {"a"}, 2)
    0.5
    """
    hits = np.flatnonzero(hits_of(ranked, relevant, k, "reciprocal_rank"))
    return 1 / (1 + int(hits[0])) if len(hits) else 0.0


# --- A recommender ---


@dataclass(frozen=True)
class RankingReport:
    """Measures of full rankings, means over users, and how they were obtained."""

    k: int
    precision: float
    recall: float
    map: float
    ndcg: float
    mrr: float
    coverage: float
    novelty: float
    users: int
    protocol: str

    def __str__(self) -> str:
        names = ("precision", "recall", "map", "ndcg", "mrr", "coverage")
        figures = ", ".join(f"{name}@{self.k} {getattr(self, name):.4f}" for name in names)
        return f"{figures}, novelty@{self.k} {self.novelty:.2f} bits\n{self.protocol}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))


def rank_items(
    recommender: Any, test: Any, k: int = 10, *, threshold: float | None = None
) -> RankingReport:
    """Measure the rankings of a fitted recommender on ratings that it has not seen.

    Parameters
    ----------
    recommender : a fitted recommender
        Ranks all items but those that the user rated in training (``recommend``).
    test : Ratings, of users and items that it may know
    k : int, length of the lists
    threshold : float, optional
        A test rating of at least this much makes an item relevant; None for all of them.

    Examples
    --------
    >>> from tacit.data.ratings import Ratings
    >>> from tacit.recommend import Popularity
    >>> train = Ratings.of([("ann", "Alien"), ("bob", "Alien"), ("bob", "Heat")])
    >>> print(rank_items(Popularity().fit(train), Ratings.of([("ann", "Heat", 1)]), k=1))
    precision@1 1.0000, recall@1 1.0000, map@1 1.0000, ndcg@1 1.0000, mrr@1 1.0000, ...
    Full rankings of all 2 items except those a user rated in training; relevant: every ...
    """
    if k < 1:
        raise ValueError(f"rank_items(k={k}) must be at least 1.")
    good = test if threshold is None else test.take(test.values >= threshold)
    relevant: dict[Any, set] = {}
    for user, item in good.pairs():
        relevant.setdefault(user, set()).add(item)
    known = {*recommender.user_ids_.tolist()}
    users = [user for user in relevant if user in known]
    if not users:
        raise ValueError(
            "rank_items: no user of the test ratings is known and has a relevant item. Lower "
            "threshold, or train on the same users."
        )
    measures = (precision_at, recall_at, average_precision, ndcg, reciprocal_rank)
    scores = np.zeros(5)
    raters = np.bincount(recommender.ratings_.indices, minlength=len(recommender.item_ids_))
    popularity = dict(zip(recommender.item_ids_.tolist(), raters.tolist(), strict=True))
    n_users = len(recommender.user_ids_)
    shown: set = set()
    novelty, places = 0.0, 0
    for user in users:
        ranked = recommender.recommend(user, k).ids
        scores += [measure(ranked, relevant[user], k) for measure in measures]
        shown.update(ranked)
        # An item that nobody rated counts as rated by half a user.
        novelty -= sum(np.log2(max(popularity[item], 0.5) / n_users) for item in ranked)
        places += len(ranked)
    precision, recall, mean_average, gain, reciprocal = (scores / len(users)).tolist()
    which = "every test rating" if threshold is None else f"test ratings of {threshold:g} up"
    left_out = len(relevant) - len(users)
    protocol = (
        f"Full rankings of all {len(popularity):,} items except those a user rated in "
        f"training; relevant: {which}; means over the {len(users):,} users with a relevant item"
        + (f"; {left_out:,} unknown users left out." if left_out else ".")
    )
    return RankingReport(
        k, precision, recall, mean_average, gain, reciprocal, len(shown) / len(popularity),
        float(novelty) / max(1, places), len(users), protocol,
    )  # fmt: skip

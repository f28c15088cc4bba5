"""Summaries of topics: by size, with their words, typical documents, and groups of documents.

Words are ordered by relevance, a compromise between how probable a word is in the topic and how
much more probable it is there than elsewhere:

    relevance(w | k)  =  weight * log P(w | k) + (1 - weight) * log(P(w | k) / P(w))

Sievert and Shirley (2014), LDAvis: a method for visualizing and interpreting topics. Workshop
on interactive language learning, visualization and interfaces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.notebook import html_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Topic", "TopicShares", "TopicSummary", "relevance", "representative", "summarize",
    "topics_by",
]  # fmt: skip

WEIGHT = 0.6  # the optimum in the user study of LDAvis


@dataclass(frozen=True)
class Topic:
    """One topic of a summary."""

    number: int  # in the model
    size: float  # fraction of all tokens
    words: list[tuple[Any, float]]  # by relevance, with P(word | topic)
    documents: list[tuple[Any, float]]  # with the largest proportions of it

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {
            "topic": self.number,
            "size": self.size,
            "words": [{"word": word, "probability": p} for word, p in self.words],
            "documents": [{"id": name, "proportion": p} for name, p in self.documents],
        }


@dataclass(frozen=True)
class TopicSummary:
    """The topics of a model, the largest first."""

    topics: list[Topic]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {"topics": [topic.to_dict() for topic in self.topics]}

    def to_frame(self) -> "pd.DataFrame":
        """A pandas dataframe, a row for every topic."""
        import pandas as pd

        return pd.DataFrame(
            {
                "topic": [topic.number for topic in self.topics],
                "size": [topic.size for topic in self.topics],
                "words": [" ".join(str(w) for w, _ in topic.words) for topic in self.topics],
            }
        )

    def __str__(self) -> str:
        return "\n".join(
            f"{topic.number:>3}  {topic.size:6.1%}  {' '.join(str(w) for w, _ in topic.words)}"
            for topic in self.topics
        )

    def _repr_html_(self) -> str:
        rows = (
            [topic.number, f"{topic.size:.1%}", " ".join(str(w) for w, _ in topic.words)]
            for topic in self.topics
        )
        return html_table(["Topic", "Size", "Words"], rows, right=(0, 1))


@dataclass(frozen=True)
class TopicShares:
    """How much of each topic the documents of each group have. Made by ``topics_by``."""

    groups: list[Any]  # sorted
    proportions: np.ndarray  # (groups, k), rows add up to 1
    tokens: np.ndarray  # (groups,)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {
            "groups": [str(group) for group in self.groups],
            "proportions": self.proportions.tolist(),
            "tokens": self.tokens.tolist(),
        }

    def to_frame(self) -> "pd.DataFrame":
        """A pandas dataframe, a row for every group and a column for every topic."""
        import pandas as pd

        return pd.DataFrame(self.proportions, index=self.groups)


def relevance(topics: np.ndarray, sizes: np.ndarray, weight: float = WEIGHT) -> np.ndarray:
    """(k, v) the relevance of each word to each topic; see the module.

    >>> relevance(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0.5, 0.5]), weight=0.0).round(2)
    array([[ 0.25, -1.1 ],
           [-0.34,  0.51]])
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"weight={weight} must be from 0 to 1.")
    tiny = np.finfo(np.float64).tiny
    logs = np.log(np.maximum(topics, tiny))
    overall = np.log(np.maximum(sizes @ topics, tiny))
    return logs - (1 - weight) * overall


def summarize(
    model: Any, names: Sequence[str] | np.ndarray | None = None, *,
    theta: np.ndarray | None = None, ids: Sequence[Any] | None = None, top: int = 10,
    documents: int = 3, weight: float = WEIGHT,
) -> TopicSummary:  # fmt: skip
    """The topics of a fitted model by size, with words by relevance and typical documents."""
    topics, sizes = model.topics_, model.topic_sizes_
    if names is not None and len(names) != topics.shape[1]:
        raise ValueError(
            f"There are {len(names)} names for {topics.shape[1]} words. Give one for "
            "each column."
        )
    scores = relevance(topics, sizes, weight)
    typical = representative(theta, documents, ids) if theta is not None else [[]] * len(topics)
    summaries = []
    for k in np.argsort(-sizes, kind="stable"):
        best = np.argsort(-scores[k], kind="stable")[:top]
        words = [
            (int(w) if names is None else str(names[w]), float(topics[k, w])) for w in best
        ]
        summaries.append(Topic(int(k), float(sizes[k]), words, typical[k]))
    return TopicSummary(summaries)


def representative(
    theta: np.ndarray, top: int = 3, ids: Sequence[Any] | None = None
) -> list[list[tuple[Any, float]]]:
    """For each topic the documents with the largest proportions of it.

    >>> representative(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), top=2)
    [[(0, 0.9), (2, 0.6)], [(1, 0.8), (2, 0.4)]]
    """
    documents = []
    for column in np.asarray(theta).T:
        best = np.argsort(-column, kind="stable")[:top]
        documents.append([(int(d) if ids is None else ids[d], float(column[d])) for d in best])
    return documents


def topics_by(theta: np.ndarray, groups: Sequence[Any], tokens: Any = None) -> TopicShares:
    """How much of each topic the documents of each author, year or other group have.

    ``tokens`` are the lengths of the documents: long ones then count more.

    >>> shares = topics_by(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]), [1999, 1999, 2001])
    >>> shares.groups, shares.proportions.tolist()
    ([1999, 2001], [[0.75, 0.25], [0.0, 1.0]])
    """
    theta = np.asarray(theta, np.float64)
    weights = np.ones(len(theta)) if tokens is None else np.asarray(tokens, np.float64).ravel()
    if not len(theta) == len(groups) == len(weights):
        raise ValueError(
            f"There are {len(groups)} groups and {len(weights)} lengths for {len(theta)} "
            "documents. Give one for each."
        )
    known = sorted({group for group in groups if group is not None and group == group})
    place = {group: i for i, group in enumerate(known)}
    sums, totals = np.zeros((len(known), theta.shape[1])), np.zeros(len(known))
    for row, group, weight in zip(theta, groups, weights, strict=True):
        if group in place:
            sums[place[group]] += weight * row
            totals[place[group]] += weight
    return TopicShares(known, sums / np.maximum(totals, 1e-300)[:, None], totals)

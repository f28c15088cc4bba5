"""The classifiers of text that can be asked for by name, with settings that suit words.

Naive Bayes tells its story about counts; the others do better on counts weighted by how much
a word says, with logarithms of the counts and rows of length one.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tacit.core.registry import find_class

__all__ = ["CANDIDATES", "Candidate", "make"]


class Candidate(NamedTuple):
    """A classifier by name."""

    model: str  # its name in core.registry
    settings: Mapping[str, Any]
    weighted: bool  # wants tf-idf; otherwise counts


CANDIDATES: dict[str, Candidate] = {
    "naive-bayes": Candidate("MultinomialNB", {"alpha": 0.1}, False),
    "bernoulli": Candidate("BernoulliNB", {"alpha": 0.1}, False),
    "complement": Candidate("ComplementNB", {"alpha": 0.3}, False),
    "perceptron": Candidate("Perceptron", {"max_iter": 20}, True),
    "passive-aggressive": Candidate(
        "PassiveAggressiveClassifier", {"average": True, "max_iter": 20}, True
    ),
    "svm": Candidate("LinearSVC", {}, True),
    "logistic": Candidate("LogisticRegression", {"C": 10.0}, True),
}


def make(name: str, **common: Any) -> tuple[Any, bool]:
    """The classifier of that name, and whether it wants weighted counts.

    ``common`` are settings, such as random_state and engine, for those that know them.

    >>> make("naive-bayes", random_state=0)
    (MultinomialNB(alpha=0.1), False)
    """
    if name not in CANDIDATES:
        raise ValueError(f"There is no classifier {name!r}; choose from {list(CANDIDATES)}.")
    candidate = CANDIDATES[name]
    model = find_class(candidate.model)(**candidate.settings)
    known = model.get_params()
    return model.set_params(
        **{k: v for k, v in common.items() if k in known}
    ), candidate.weighted

"""Why a document was put into its class, in words and numbers.

A linear classifier's score is a sum, so a decision comes apart without remainder: every word
adds its value times the difference of its weights for the winner and for the runner-up, the
intercepts add theirs, and together they are the lead of the winner.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

__all__ = ["Explanation", "check_listed", "explain"]


@dataclass(frozen=True)
class Explanation:
    """What pushed a decision: ``offset`` and all pushes add up to ``lead``."""

    class_: Any
    against: Any  # the runner-up
    lead: float  # the score of the winner less that of the runner-up
    offset: float  # the part of it that no word has: the intercepts
    pushes: tuple[tuple[Any, float], ...]  # the strongest first
    rest: float  # the sum of the pushes that are not listed

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.class_} rather than {self.against}, by {self.lead:.3g}"]
        lines += [f"{push:+9.3f}  {word}" for word, push in self.pushes]
        if self.rest:
            lines.append(f"{self.rest:+9.3f}  (other words)")
        if self.offset:
            lines.append(f"{self.offset:+9.3f}  (whatever the words)")
        return "\n".join(lines)


def explain(
    model: Any, vectorizer_or_names: Any, document: Any, *, n: int | None = 10
) -> Explanation:
    """Say which words of a document pushed the decision of a classifier, and by how much.

    Parameters
    ----------
    model : fitted classifier
        A linear one of ``tacit.classify``, a LexiconClassifier, a TextClassifier, or a
        scikit-learn Pipeline that ends in one of the first kind.
    vectorizer_or_names : fitted vectorizer, sequence of str or None
        What turned documents into rows; or the names of the columns, the document is a row
        then. None where the model reads text itself.
    document : str, or one row
    n : int or None
        How many words to list; None for all.

    Examples
    --------
    >>> from tacit.classify import MultinomialNB
    >>> from tacit.text import CountVectorizer
    >>> texts = ["win money now", "money money", "lunch now", "lunch at noon"]
    >>> words = CountVectorizer().fit(texts)
    >>> model = MultinomialNB().fit(words.transform(texts), ["spam", "spam", "ham", "ham"])
    >>> print(explain(model, words, "money at lunch", n=2))
    ham rather than spam, by 0.405
       -1.386  money
       +1.099  lunch
       +0.693  (other words)
    """
    check_listed(n)
    if isinstance(model, Pipeline):
        if vectorizer_or_names is None:
            vectorizer_or_names = model[:-1]
        model = model[-1]
    if hasattr(model, "mentions") or hasattr(model, "classifier_"):  # these read text
        pushes = model.explain(document, n=None)
        scores = scores_of(model, [document])
    else:
        row, names = as_row(vectorizer_or_names, document)
        pushes = model.explain(row, n=None, names=names)
        scores = scores_of(model, row)
    # The first of equals wins, as in predict.
    order = np.lexsort((np.arange(len(scores)), -scores))
    winner, rival = int(order[0]), int(order[1])
    lead = float(scores[winner] - scores[rival])
    listed = pushes if n is None else pushes[:n]
    rest = float(sum(push for _, push in pushes[len(listed) :]))
    offset = lead - float(sum(push for _, push in pushes))
    if abs(offset) < 1e-12 * max(1.0, abs(lead), *(abs(push) for _, push in pushes)):
        offset = 0.0
    classes = model.classes_
    won, lost = (c.item() if hasattr(c, "item") else c for c in classes[[winner, rival]])
    return Explanation(won, lost, lead, offset, tuple(listed), rest)


def check_listed(n: int | None, method: str = "explain") -> None:
    """How many words are to be listed: a negative number would leave out the last ones."""
    if n is not None and n < 0:
        raise ValueError(f"{method}(n={n}) lists n words. Give at least 0, or None for all.")


def scores_of(model: Any, rows: Any) -> np.ndarray:
    """One score for every class, up to a number they share."""
    if hasattr(model, "decision_function"):
        scores = np.atleast_1d(model.decision_function(rows)[0])
        return scores if len(scores) > 1 else np.array([0.0, scores[0]])
    return model.predict_log_proba(rows)[0]


def as_row(vectorizer_or_names: Any, document: Any) -> tuple[Any, Sequence[str] | None]:
    """The document as one row, and the names of the columns."""
    if hasattr(vectorizer_or_names, "transform"):
        if not isinstance(document, str):
            raise TypeError(
                f"explain with a vectorizer takes the document as a str, but was given "
                f"{type(document).__name__}. Give its text, or the names of the columns "
                "instead of the vectorizer."
            )
        names = vectorizer_or_names.get_feature_names_out()
        return vectorizer_or_names.transform([document]), names
    if isinstance(document, str):
        raise TypeError(
            "explain was given a text but no vectorizer to turn it into a row. Give the "
            "fitted vectorizer as the second argument."
        )
    row = document if sp.issparse(document) else np.atleast_2d(np.asarray(document))
    names = vectorizer_or_names
    if names is not None and len(names) != row.shape[1]:
        raise ValueError(
            f"explain was given {len(names)} names for {row.shape[1]} columns. Give one for "
            "each column."
        )
    return row, names

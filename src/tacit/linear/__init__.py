"""Linear classifiers: logistic regression, support vector machines, perceptron,
passive-aggressive. Public in ``tacit.classify`` too."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "Explanation", "LinearSVC", "LogisticRegression", "PassiveAggressiveClassifier",
    "Perceptron", "explain",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.linear.linear_classifier import Explanation, explain
    from tacit.linear.logistic import LogisticRegression
    from tacit.linear.perceptron import PassiveAggressiveClassifier, Perceptron
    from tacit.linear.svm import LinearSVC
else:
    __getattr__, __dir__ = attach(__name__)

"""Linear classifiers: logistic regression, support vector machines, perceptron,
passive-aggressive. Public in ``tacit.classify`` too."""

from tacit.core.lazy import attach

__all__ = [
    "Explanation", "LinearSVC", "LogisticRegression", "PassiveAggressiveClassifier",
    "Perceptron", "explain",
]  # fmt: skip

__getattr__, __dir__ = attach(
    __name__,
    names={
        "Explanation": "tacit.linear.explanation",
        "LinearSVC": "tacit.linear.svm",
        "LogisticRegression": "tacit.linear.logistic",
        "PassiveAggressiveClassifier": "tacit.linear.passive_aggressive",
        "Perceptron": "tacit.linear.perceptron",
        "explain": "tacit.linear.explanation",
    },
)

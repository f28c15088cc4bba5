"""Classifiers of text by a sum of weights, and why they decided as they did."""

from tacit.core.lazy import attach

__all__ = [
    "BernoulliNB", "CalibratedClassifier", "ComplementNB", "Explanation", "LexiconClassifier",
    "LinearSVC", "LogisticRegression", "MultinomialNB", "PassiveAggressiveClassifier",
    "Perceptron", "TextClassifier", "calibrate", "choose_classifier", "explain", "read_lexicon",
]  # fmt: skip

__getattr__, __dir__ = attach(
    __name__,
    names={
        "BernoulliNB": "tacit.classify.naive_bayes",
        "CalibratedClassifier": "tacit.classify.calibration",
        "ComplementNB": "tacit.classify.naive_bayes",
        "Explanation": "tacit.linear.explanation",
        "LexiconClassifier": "tacit.classify.lexicon",
        "LinearSVC": "tacit.linear.svm",
        "LogisticRegression": "tacit.linear.logistic",
        "MultinomialNB": "tacit.classify.naive_bayes",
        "PassiveAggressiveClassifier": "tacit.linear.passive_aggressive",
        "Perceptron": "tacit.linear.perceptron",
        "TextClassifier": "tacit.classify.text_classifier",
        "calibrate": "tacit.classify.calibration",
        "choose_classifier": "tacit.classify.model_choice",
        "explain": "tacit.linear.explanation",
        "read_lexicon": "tacit.classify.lexicon",
    },
)

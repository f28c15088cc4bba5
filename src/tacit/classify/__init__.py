"""Classifiers of text by a sum of weights, and why they decided as they did."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "BernoulliNB", "CalibratedClassifier", "ComplementNB", "Explanation", "LexiconClassifier",
    "LinearSVC", "LogisticRegression", "MultinomialNB", "PassiveAggressiveClassifier",
    "Perceptron", "TextClassifier", "calibrate", "choose_classifier", "explain", "read_lexicon",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.classify.calibration import CalibratedClassifier, calibrate
    from tacit.classify.lexicon import LexiconClassifier, read_lexicon
    from tacit.classify.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
    from tacit.classify.text_classifier import TextClassifier, choose_classifier
    from tacit.linear.linear_classifier import Explanation, explain
    from tacit.linear.logistic import LogisticRegression
    from tacit.linear.perceptron import PassiveAggressiveClassifier, Perceptron
    from tacit.linear.svm import LinearSVC
else:
    __getattr__, __dir__ = attach(__name__)

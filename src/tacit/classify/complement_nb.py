"""Complement naive Bayes: the words of all the other classes speak against a class.

    collect   counts of every feature in every class (``class_counts``)
    update    the smoothed shares of each feature in the other classes; weights are minus
              their logarithms, scaled to sum to one per class with norm=True

One pass, summable. Where classes differ in size, the counts of the many rows outside a small
class are steadier than those of the few inside. The frequencies of the classes do not count.

Rennie, Shih, Teevan and Karger (2003), Tackling the poor assumptions of naive Bayes text
classifiers. ICML.
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.classify.naive_bayes import NaiveBayes, log_shares

__all__ = ["ComplementNB"]


class ComplementNB(NaiveBayes):
    """Classify rows of counts by how little they look like the other classes.

    Parameters
    ----------
    alpha : float or array of shape (n_features,)
        What is added to every count.
    force_alpha : bool
        False raises an alpha below 1e-10 to that.
    fit_prior : bool
        Matters only where there is one class.
    class_prior : array of shape (n_classes,) or None
        Not used for the decision.
    norm : bool
        Whether to scale the weights of every class to sum to one.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), sorted
    class_count_ : array of shape (n_classes,), the weight of the rows of each class
    feature_count_ : array of shape (n_classes, n_features)
    feature_all_ : array of shape (n_features,), counts over all classes
    class_log_prior_ : array of shape (n_classes,)
    feature_log_prob_ : array of shape (n_classes, n_features), the weights
    weights_, intercept_ : the same as a linear classifier

    Examples
    --------
    >>> X = np.array([[3, 0, 1], [2, 0, 0], [0, 2, 1]])
    >>> ComplementNB().fit(X, ["a", "a", "b"]).predict([[1, 0, 0], [0, 1, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    _story: ClassVar[str] = "complement"
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "force_alpha": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "norm": ["boolean"],
        "engine": "no_validation",
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        engine: Any = "threads",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.engine = engine

    @property
    def feature_all_(self) -> np.ndarray:
        """Counts over all classes."""
        check_is_fitted(self)
        return self.feature_count_.sum(axis=0)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """The weights, as scikit-learn lays them out."""
        check_is_fitted(self)
        return self.weights_.T

    def _weigh(self) -> None:
        others = self.feature_all_ - self.feature_count_
        np.maximum(others, 0, out=others)
        logs = log_shares(others, self._smoothing(), self.engine)
        self.weights_ = logs / logs.sum(axis=0) if self.norm else np.negative(logs, out=logs)
        alone = len(self.classes_) == 1
        self.intercept_ = self.class_log_prior_ if alone else np.zeros(len(self.classes_))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

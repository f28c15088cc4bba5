"""Bernoulli naive Bayes: which words a document has, and which it has not.

    collect   in how many rows of each class a feature is above the threshold
    update    smoothed logarithms of their shares, present and absent

One pass, summable. With p_yj the share of the rows of class y that hold feature j, the score

    log mu_y + sum over present j of log p_yj + sum over absent j of log (1 - p_yj)

is linear in x: weights log p - log (1 - p), and an intercept with the sum of all log (1 - p).

McCallum and Nigam (1998), A comparison of event models for naive Bayes text classification.
The notes' section on naive Bayes.
"""

from collections.abc import Iterator
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.classify.class_counts import Counting, present
from tacit.classify.naive_bayes import NaiveBayes, log_counts
from tacit.core.kernel import kernel
from tacit.data.table import parts

__all__ = ["BernoulliNB"]

FLOOR = -1e5
TILE = 1024  # rows that are added up before their sum joins the others: rounding stays small


def of_present(function: Any, threshold: float, params: Any, block: Any) -> np.ndarray:
    """Score rows of which only it matters where they are above a threshold."""
    return function(params, present(parts(block).rows, threshold, "BernoulliNB"))


class BernoulliNB(NaiveBayes):
    """Classify rows by which features are there, and which are not.

    Parameters
    ----------
    alpha : float or array of shape (n_features,)
        What is added to the number of rows with a feature, and to that without.
    force_alpha : bool
        False raises an alpha below 1e-10 to that.
    binarize : float or None
        A feature is there when it is above this, 0 or more. None takes X as zeros and ones.
    fit_prior : bool
        Whether the frequencies of the classes count; otherwise all are equally likely.
    class_prior : array of shape (n_classes,) or None
        The probabilities of the classes, if not those of the rows.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), sorted
    class_count_ : array of shape (n_classes,), the weight of the rows of each class
    feature_count_ : array of shape (n_classes, n_features), rows with each feature
    class_log_prior_ : array of shape (n_classes,)
    feature_log_prob_ : array of shape (n_classes, n_features), log p
    weights_, intercept_ : the same as a linear classifier

    Examples
    --------
    >>> lights = [["red", "red"], ["red", "green"], ["green", "red"]]
    >>> X = np.array([[light == "red" for light in both] for both in lights], float)
    >>> model = BernoulliNB(alpha=0.0).fit(X, ["broken", "works", "works"], [1, 3, 3])
    >>> model.predict_proba([[1.0, 1.0]])  # both red: the works are not independent
    array([[0.4, 0.6]])
    """

    _story: ClassVar[str] = "bernoulli"
    _distinct: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "force_alpha": ["boolean"],
        "binarize": [None, Interval(Real, 0, None, closed="left")],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "engine": "no_validation",
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        engine: Any = "threads",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.engine = engine

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """log p, as scikit-learn lays it out."""
        check_is_fitted(self)
        return self._logs()[0].T

    def _counting(self, n_classes: int) -> Counting:
        return Counting("BernoulliNB", n_classes, self.binarize)

    def _logs(self) -> tuple[np.ndarray, np.ndarray]:
        """log p and log (1 - p), (v, k)."""
        alpha = np.asarray(self._smoothing())
        rows = self.class_count_ + 2 * (alpha[:, None] if alpha.ndim else alpha)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.log(rows)
            if alpha.ndim:
                there = np.array(self.feature_count_.T, order="C")
                gone = np.maximum(self.class_count_ - there, 0)  # rounding may go below
                both = [np.log(part + alpha[:, None]) - scale for part in (there, gone)]
            else:
                given = (self.feature_count_, float(alpha), scale, self.engine)
                both = [log_counts(*given), log_counts(*given, rest_of=self.class_count_)]
        if not rows.all():  # a class without a row, and alpha 0
            for part in both:
                part[np.broadcast_to(rows == 0, part.shape)] = -np.log(2)
        return both[0], both[1]

    def _weigh(self) -> None:
        most = self.class_count_[:, None] * (1 + 1e-9)
        if self.binarize is None and (self.feature_count_ > most).any():
            raise ValueError(
                "BernoulliNB(binarize=None) takes X as zeros and ones, but X holds values "
                f"above 1 (up to {self.feature_count_.max():g} in a class together). Set "
                "binarize=0.0 to count every value above 0 as a one."
            )
        there, gone = self._logs()
        # With alpha 0 a feature may always be there, or never: a logarithm is -inf and the
        # score no longer linear. A large finite number keeps a class out just as well.
        if not np.all(self._smoothing()):
            there, gone = np.maximum(there, FLOOR), np.maximum(gone, FLOOR)
        self.intercept_ = self.class_log_prior_ + column_sums(gone)
        self.weights_ = np.subtract(there, gone, out=there)

    def _map_blocks(self, function: Any, X: Any) -> Iterator[np.ndarray]:
        if self.binarize is not None:
            function = partial(of_present, function, self.binarize)
        return super()._map_blocks(function, X)


@kernel
def column_sums(table):
    """The sum of each column; NumPy is slow where they are few."""
    out, some = np.zeros(table.shape[1]), np.empty(table.shape[1])
    for start in range(0, table.shape[0], TILE):
        some[:] = 0.0
        for j in range(start, min(start + TILE, table.shape[0])):
            for y in range(some.size):
                some[y] += table[j, y]
        out += some
    return out

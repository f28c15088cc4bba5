"""The perceptron: where the guess is wrong, move the weights toward the right class.

    visit   guess the class of a row; if it is not y, add f(x, y) and take away f(x, guess)

Sequential. The loss is the error rate of a pass. If some weights separate the
classes, so do the perceptron's after finitely many mistakes, and a pass without one says so.
If none do the weights go round in circles; their average over all visits settles, and errs
less on new rows. The average is kept up to date without touching weights that do not change.

Rosenblatt (1958), The perceptron. Psychological Review 65.
Freund and Schapire (1999), Large margin classification using the perceptron algorithm.
Machine Learning 37. Collins (2002), Discriminative training methods for hidden Markov models.
EMNLP. The notes' section on the perceptron.
"""

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from tacit.linear.online_updates import PERCEPTRON, OnlineClassifier, Rule

__all__ = ["Perceptron"]


class Perceptron(OnlineClassifier):
    """Classify rows by weights learned from mistakes, averaged over all visits.

    Parameters
    ----------
    average : bool
        Decide with the average of the weights over all visits; otherwise with the last.
    fit_intercept : bool
        Whether every class has an offset.
    max_iter : int
        Most passes over the rows.
    tol : float or None
        Stop after ``n_iter_no_change`` passes in which the error rate did not fall by this
        fraction of what it was in the first pass. None: only where a pass makes no mistake. An
        average is good long before the last weights are; without one try 1e-3 and five passes.
    early_stopping : bool
        Hold out some rows, and let their accuracy, not the loss, decide when to stop.
    validation_fraction : float
        The fraction of rows to hold out.
    n_iter_no_change : int
        See ``tol``. With few rows it takes as many passes as make a thousand visits.
    shuffle : bool
        Whether every pass visits the rows in another order, drawn from the seed.
    class_weight : dict, "balanced" or None
        How much a mistake on each class counts; "balanced" is the inverse of its frequency.
    warm_start : bool
        Whether ``fit`` goes on with the weights there are.
    eta0 : float
        The learning rate: the weights are multiplied by it, and decisions do not change.
    verbose : int
        Above 0, shows progress on standard error.
    penalty, alpha, l1_ratio, n_jobs
        No effect: the average takes the place of a penalty, and visits run in one thread.
    random_state : int, RandomState or None
        Seed of the orders.
    callbacks : list or None
        Notified of every pass; see ``tacit.core.progress``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), sorted
    weights_ : array of shape (n_features, n_classes); one column, the second class against
        the first, where there are two
    intercept_ : array, one for every column
    coef_ : the weights as scikit-learn lays them out, rows of features
    separated_ : bool, whether the last pass made no mistake: the last weights, not their
        average, separate the classes
    losses_ : list of float, the error rate of each pass
    validation_scores_ : list of float, with early stopping the accuracy on rows held out
    n_iter_ : int, passes made
    converged_ : bool, False where ``max_iter`` or a callback ended the fit
    t_ : int, visits that averages are taken over: all, but for class weights that lie far
        apart, where the first passes are forgotten

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 2.0]])
    >>> model = Perceptron(random_state=0).fit(X, ["low", "low", "high", "high"])
    >>> model.separated_, model.losses_[-1]
    (True, 0.0)
    >>> model.predict([[0.5, 0.5], [4.0, 4.0]])
    array(['low', 'high'], dtype='<U4')
    """

    _loss_place: ClassVar[int] = 1  # mistakes
    _parameter_constraints: ClassVar[dict] = {
        **OnlineClassifier._parameter_constraints,
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "n_jobs": [None, Integral],
    }
    _no_effect: ClassVar[dict] = {
        **dict.fromkeys(
            ("penalty", "alpha", "l1_ratio"),
            "the average of the weights takes the place of a penalty, or use LinearSVC",
        ),
        "n_jobs": "visits run in one thread, all classes together",
    }

    def __init__(
        self,
        *,
        average: bool = True,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 5e-2,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 1,
        shuffle: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        eta0: float = 1.0,
        verbose: int = 0,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: Any = None,
    ) -> None:
        self.average, self.fit_intercept, self.max_iter = average, fit_intercept, max_iter
        self.tol, self.early_stopping = tol, early_stopping
        self.validation_fraction, self.n_iter_no_change = validation_fraction, n_iter_no_change
        self.shuffle, self.class_weight, self.warm_start = shuffle, class_weight, warm_start
        self.eta0, self.verbose, self.n_jobs = eta0, verbose, n_jobs
        self.penalty, self.alpha, self.l1_ratio = penalty, alpha, l1_ratio
        self.random_state, self.callbacks = random_state, callbacks

    def _rule(self, sparse: bool) -> Rule:
        return Rule(PERCEPTRON, float(self.eta0), float(self.fit_intercept), self._averages())

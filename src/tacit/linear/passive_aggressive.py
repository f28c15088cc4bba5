"""Passive-aggressive: change nothing that is right by a margin, and no more than needed else.

    visit   theta <- theta + tau (f(x, y) - f(x, r)), r the best class other than y

Sequential. With the hinge loss l = max(0, 1 - margin) of the row before the change,

    tau = min(C, l / |f(x, y) - f(x, r)|^2)            loss="hinge" (PA-I)
    tau = l / (|f(x, y) - f(x, r)|^2 + 1 / (2 C))      loss="squared_hinge" (PA-II)
    tau = l / |f(x, y) - f(x, r)|^2                    loss="PA", no slack

solve min |theta - theta_t|^2 / 2 plus C times the loss, its square, or with the loss held at
zero. loss="MIRA" holds the margin to every class at 1, not only to the best of them. With two
classes there is one vector of weights and the square is |x|^2, so that C means what it does in
scikit-learn, which no longer has this class from version 1.10 on.

Crammer, Dekel, Keshet, Shalev-Shwartz and Singer (2006), Online passive-aggressive algorithms.
JMLR 7. Crammer and Singer (2003), Ultraconservative online algorithms for multiclass
problems. JMLR 3. The notes' section on large-margin classification.
"""

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from tacit.linear.online_updates import MIRA, PA, PA_I, PA_II, OnlineClassifier, Rule

__all__ = ["PassiveAggressiveClassifier"]

CALM = 0.3  # the square of the intercept's feature among features that few rows have
RULES = {"hinge": PA_I, "PA-I": PA_I, "squared_hinge": PA_II, "PA-II": PA_II, "PA": PA,
         "MIRA": MIRA}  # fmt: skip


class PassiveAggressiveClassifier(OnlineClassifier):
    """Classify rows by weights that change as little as a margin of one needs.

    Parameters
    ----------
    C : float
        The longest step (of "hinge"), or how soft steps are ("squared_hinge"): the smaller,
        the less a single row can do.
    fit_intercept : bool
        Whether every class has an offset. It learns as the weight of a feature would that is 1
        in every row; of a sparse matrix 0.55, because its other features are in few rows and
        could not keep up.
    max_iter : int
        Most passes over the rows.
    tol : float or None
        Stop after ``n_iter_no_change`` passes in which the mean hinge loss did not fall by
        this part of what it was in the first pass. None: only where a pass changes nothing. An
        average is good long before the last weights are; without one try 1e-3 and five passes.
    early_stopping, validation_fraction, n_iter_no_change, shuffle : as for ``Perceptron``
    verbose : int
        Above 0, shows progress on standard error.
    loss : {"hinge", "squared_hinge", "PA", "MIRA"}
        The rule: PA-I, PA-II (also by those names), without slack, without slack and against
        all classes at once.
    n_jobs : int or None
        No effect: all classes are learned together, in one thread.
    random_state, warm_start, callbacks : as for ``Perceptron``
    class_weight : dict, "balanced" or None
        What the steps for each class are multiplied by; "balanced" is the inverse of its
        frequency.
    average : bool
        Decide with the average of the weights over all visits but those of the first pass, if
        there are more; otherwise, as scikit-learn does, with the last.

    Attributes
    ----------
    separated_ : bool, whether the last pass changed nothing: every margin was 1 or more
    losses_ : list of float, the mean hinge loss in each pass, of rows as they came
    t_ : int, visits that averages are taken over: all but those of the first pass, or, for
        class weights that lie far apart, of the first passes
    The others are those of ``Perceptron``.

    Examples
    --------
    >>> X = [[2.0, 0.0], [0.0, 1.0]]
    >>> model = PassiveAggressiveClassifier(
    ...     average=False, fit_intercept=False, shuffle=False, max_iter=1
    ... )
    >>> model.fit(X, ["a", "b"]).coef_  # tau is 1/4 for the first row, 1 for the second
    array([[-0.5,  1. ]])
    """

    _learns_first: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        **OnlineClassifier._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "loss": [StrOptions(set(RULES))],
        "n_jobs": [None, Integral],
    }

    _no_effect: ClassVar[dict] = {"n_jobs": "visits run in one thread, all classes together"}

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 5e-2,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 1,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "hinge",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool = True,
        callbacks: Any = None,
    ) -> None:
        self.C, self.fit_intercept, self.max_iter, self.tol = C, fit_intercept, max_iter, tol
        self.early_stopping, self.validation_fraction = early_stopping, validation_fraction
        self.n_iter_no_change, self.shuffle, self.verbose = n_iter_no_change, shuffle, verbose
        self.loss, self.n_jobs, self.random_state = loss, n_jobs, random_state
        self.warm_start, self.class_weight, self.average = warm_start, class_weight, average
        self.callbacks = callbacks

    def _rule(self, sparse: bool) -> Rule:
        offset = (CALM if sparse else 1.0) * self.fit_intercept
        return Rule(RULES[self.loss], float(self.C), offset, self._averages())

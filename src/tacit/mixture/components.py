"""Multi-component naive Bayes: several components per class.

Naive Bayes takes the words of a class to be independent. Where a class has subtopics they are
not; a mixture of several components per class lets words depend on each other through the
subtopic. EM is that of the semi-supervised model: a label restricts a document to the
components of its class, and the posterior of a class is the sum over its components.

Traffic lights that are both red only when broken are the notes' example: naive Bayes, which
multiplies two dependent signals, takes a broken light for a working one; with two components
for "working" (north-south green, east-west green) the model is right.

Nigam, McCallum, Thrun and Mitchell (2000), section 5.3. The notes' section on multi-component
modeling.
"""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import Engine
from tacit.core.estimator import check_weights, engine_for, with_callbacks
from tacit.data.checked import check_count_table
from tacit.data.table import Table
from tacit.mixture.multinomial import MultinomialMixture
from tacit.mixture.semi_supervised import LabeledMixture, mask_of, read_labels

__all__ = ["MultiComponentNB"]

CHOICES = (1, 2, 3, 5)  # components per class, tried by "auto"


class MultiComponentNB(LabeledMixture):
    """Classify documents by a mixture of several components per class.

    Parameters
    ----------
    n_components : int, dict of class to int, or "auto"
        Components per class. "auto" chooses 1, 2, 3 or 5 for each class, by the likelihood of
        held-out documents of that class.
    alpha : float
        Added to every expected count of a word, and of a component.
    unlabeled_weight : float from 0 to 1
        What an unlabeled document (label -1 or None) counts, relative to a labeled one.
    tol : float
        Stop when a pass raises the mean log-posterior by less than this.
    max_iter : int
        Most EM iterations of one run.
    n_init : int
        Runs to make, each from its own start; the most likely one is kept.
    random_state : int, RandomState or None
        Seed of the starts, and of the held-out documents.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run. The result does not depend on it.
    callbacks : list or None
        Called after every pass.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    component_classes_ : array of shape (n,), the class of each component, as a place in
        ``classes_``
    log_weights_ : array of shape (n,)
    log_probs_ : array of shape (n_features, n), log P(word | component)
    lower_bounds_ : list of float, the mean log-posterior after 0, 1, 2, ... updates
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> X = np.array([[1, 0, 0, 1]] * 3 + [[0, 1, 1, 0]] * 3 + [[0, 1, 0, 1]])
    >>> y = ["works"] * 6 + ["broken"]
    >>> MultiComponentNB(2, alpha=0.01, random_state=0).fit(X, y).predict([[0, 1, 0, 1]])
    array(['broken'], dtype='<U6')
    """

    _parameter_constraints: ClassVar[dict] = {
        **LabeledMixture._parameter_constraints,
        "n_components": [
            Interval(Integral, 1, None, closed="left"), dict, StrOptions({"auto"}),
        ],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | Mapping | str = 2,
        *,
        alpha: float = 1.0,
        unlabeled_weight: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 50,
        n_init: int = 1,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.alpha = n_components, alpha
        self.unlabeled_weight, self.tol, self.max_iter = unlabeled_weight, tol, max_iter
        self.n_init, self.random_state, self.engine = n_init, random_state, engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit from rows and labels, -1 or None where a label is unknown."""
        self._validate_params()
        name = type(self).__name__
        if self.unlabeled_weight == "auto":
            raise ValueError(f"{name}(unlabeled_weight='auto'): give a number from 0 to 1.")
        table = check_count_table(self, X, reset=True)
        n = len(table)
        self.classes_, codes = read_labels(y, n, name)
        given = check_weights(sample_weight, np.empty((n, 1)))
        given = np.ones(n) if given is None else given
        rng, engine = check_random_state(self.random_state), engine_for(self)
        sizes = self._sizes(table, codes, rng)
        component_classes = np.repeat(np.arange(len(self.classes_)), sizes)
        allowed = mask_of(codes, self.classes_, None, name)[:, component_classes]
        unlabeled = codes < 0
        weights = np.where(unlabeled, float(self.unlabeled_weight) * given, given)
        if not weights[~unlabeled].any():
            raise ValueError(f"{name}: the labeled rows have no weight. Give some above 0.")
        best = None
        with self._fit_callbacks() as callbacks:
            for _ in range(self.n_init):
                first = self._first(table, codes, sizes, given, rng)
                fit = self._em(table, allowed, first, weights, unlabeled, engine, callbacks)
                if best is None or fit.losses[-1] < best.losses[-1]:
                    best = fit
        assert best is not None
        self._store(best, component_classes)
        return self

    # --- Parts ---

    def _sizes(self, table: Table, codes: np.ndarray, rng: Any) -> np.ndarray:
        """Components per class, at most one for each labeled row."""
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        if isinstance(self.n_components, Mapping):
            place = {value: i for i, value in enumerate(self.classes_.tolist())}
            unknown = [value for value in self.n_components if value not in place]
            given = self.n_components.values()
            whole = all(isinstance(size, Integral) and int(size) >= 1 for size in given)
            if unknown or not whole:
                raise ValueError(
                    "MultiComponentNB(n_components=...) needs whole numbers of at least 1 for "
                    f"classes that occur, such as {list(place)[:5]}."
                )
            sizes = np.array([self.n_components.get(value, 1) for value in place])
        elif self.n_components == "auto":
            sizes = np.array([self._choose(table, codes == c, rng) for c in range(len(counts))])
        else:
            sizes = np.full(len(counts), int(self.n_components))
        return np.minimum(sizes, np.maximum(counts, 1))

    def _choose(self, table: Table, member: np.ndarray, rng: Any) -> int:
        """The number of components of one class, by the likelihood of held-out documents."""
        rows = rng.permutation(np.flatnonzero(member))
        held, used = np.sort(rows[: len(rows) // 4]), np.sort(rows[len(rows) // 4 :])
        seed = int(rng.randint(2**31))
        scores = {}
        for size in CHOICES:
            if len(held) < 5 or len(used) < 4 * size:
                break
            model = MultinomialMixture(
                size, alpha=self.alpha, max_iter=20, random_state=seed, engine=self.engine
            )
            scores[size] = model.fit(table.take(used)).score(table.take(held))
        return max(scores, key=lambda size: (scores[size], -size)) if scores else 1

    def _first(
        self, table: Table, codes: np.ndarray, sizes: np.ndarray, given: np.ndarray, rng: Any
    ) -> np.ndarray:
        """One component for every labeled row: its class, divided by spherical k-means."""
        starts = np.concatenate([[0], np.cumsum(sizes)])
        first = np.zeros((len(codes), int(starts[-1])), bool)
        first[codes < 0] = True
        for c, size in enumerate(sizes):
            rows = np.flatnonzero(codes == c)
            labels = np.zeros(len(rows), np.int64)
            if size > 1:
                start = MultinomialMixture(int(size), random_state=rng, engine=self.engine)
                content = Table.from_array(sp.csr_array(table.take(rows)))
                content = content.with_weights(given[rows])
                labels = start._first_labels(content, rng)
            first[rows, starts[c] + labels] = True
        return first

"""Mixtures for counts and categories: documents clustered by EM.

    collect   the responsibility of each component for each document; expected counts of words
    update    smooth and normalize the expected counts: naive Bayes on fractional documents

Three models differ in what a row is: word counts (multinomial), presence of words (Bernoulli),
or one category per column (categorical). Labels restrict the components that a row may belong
to. So the same two functions give semi-supervised naive Bayes (one component per class) and
multi-component naive Bayes (several per class); with every label known, one pass is naive
Bayes.

The loss is minus the log-likelihood of a document, minus the log of a Dirichlet prior that adds
``alpha`` to every count; an update never raises it. The multinomial coefficient is left out:
the likelihood is that of the words in their order.

Nigam, McCallum, Thrun and Mitchell (2000), Text classification from labeled and unlabeled
documents using EM. Machine Learning 39. The notes' chapter on EM.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.cluster import SphericalKMeans
from tacit.core.engines import Engine, Serial
from tacit.core.estimator import check_weights
from tacit.core.stats import Stats
from tacit.data.checked import NUMBERS, check_count_table, check_table, is_table
from tacit.data.shuffled_rows import weights_of
from tacit.data.table import Table, parts
from tacit.mixture.em import Mixture, posterior

__all__ = [
    "BernoulliMixture", "CategoricalMixture", "CountParams", "CountStats", "MultinomialMixture",
    "collect", "keywords", "log_joint", "log_prior", "update",
]  # fmt: skip


SAMPLE = 20_000  # rows that the first k-means sees
CERTAIN = 1e-12  # no Bernoulli probability is closer to 0 or 1


class CountParams(NamedTuple):
    """Logarithms of the probabilities of components, and of words in a component."""

    log_weights: np.ndarray  # (k,)
    log_probs: np.ndarray  # (v, k)
    log_absent: np.ndarray  # (v, k) of a word that does not occur; (0, k) unless Bernoulli
    edges: np.ndarray  # ranges of columns whose probabilities add up to 1: [0, v]


@dataclass(frozen=True)
class CountStats(Stats):
    """Expected counts."""

    rows: float  # weight of all documents
    loss: float  # minus the log-likelihood
    documents: np.ndarray  # (k,)
    words: np.ndarray  # (v, k)


# --- The algorithm ---


def collect(params: CountParams, block: Any) -> CountStats:
    """The E-step: responsibilities, and expected counts under them.

    Labels of a block are an (n, k) mask of the components that each row may belong to.
    """
    rows, allowed, weights = parts(block)
    rows = presence(rows) if len(params.log_absent) else rows
    joint = log_joint(params, rows)
    if allowed is not None:
        joint[~allowed] = -np.inf
    evidence, r = posterior(joint)
    if weights is not None:
        used = weights > 0  # a row of no weight may be impossible
        loss, total = -(evidence[used] @ weights[used]), float(weights.sum())
        r *= weights[:, None]
    else:
        loss, total = -evidence.sum(), float(rows.shape[0])
    return CountStats(total, float(loss), r.sum(axis=0), np.asarray(rows.T @ r, np.float64))


def update(params: CountParams, stats: CountStats, alpha: float = 1.0) -> CountParams:
    """The M-step: add ``alpha`` to every count, and normalize."""
    documents = stats.documents + alpha
    with np.errstate(divide="ignore", invalid="ignore"):
        log_weights = np.log(documents / documents.sum())
        if len(params.log_absent):
            present = (stats.words + alpha) / (stats.documents + 2 * alpha)
            present = np.where(np.isnan(present), np.exp(params.log_probs), present)
            present = np.clip(present, CERTAIN, 1 - CERTAIN)  # inf - inf otherwise
            log_probs, log_absent = np.log(present), np.log1p(-present)
        else:
            log_absent = params.log_absent
            counts = stats.words + alpha
            totals = np.add.reduceat(counts, params.edges[:-1], axis=0)
            probs = counts / np.repeat(totals, np.diff(params.edges), axis=0)
            # A component without any word keeps what it had.
            log_probs = np.where(np.isnan(probs), params.log_probs, np.log(probs))
    return params._replace(log_weights=log_weights, log_probs=log_probs, log_absent=log_absent)


def log_joint(params: CountParams, block: Any) -> np.ndarray:
    """(n, k) log of the probability of each row and each component."""
    rows = parts(block).rows
    if not len(params.log_absent):
        return product(rows, params.log_probs) + params.log_weights
    rows = presence(rows)
    present = product(rows, params.log_probs) - product(rows, params.log_absent)
    return present + params.log_absent.sum(axis=0) + params.log_weights


def log_prior(params: CountParams, alpha: float) -> float:
    """Minus the log of the Dirichlet prior, up to a constant: what ``iterate`` adds."""
    if alpha == 0:
        return 0.0
    total = params.log_weights.sum() + params.log_probs.sum() + params.log_absent.sum()
    return float(-alpha * total)


def presence(rows: Any) -> Any:
    """Rows with 1 for every value but 0."""
    if not sp.issparse(rows):
        return (np.asarray(rows) != 0).astype(np.float64)
    return sp.csr_array(
        ((rows.data != 0).astype(np.float64), rows.indices, rows.indptr), shape=rows.shape
    )


def product(rows: Any, log_probs: np.ndarray) -> np.ndarray:
    """rows @ log_probs, where a count of 0 times log 0 is 0."""
    if np.isneginf(log_probs).any() and not sp.issparse(rows):
        rows = sp.csr_array(rows)
    return np.asarray(rows @ log_probs, np.float64)


def keywords(
    log_probs: np.ndarray, names: Sequence[str] | np.ndarray | None = None, top: int = 10
) -> list[list[tuple[Any, float]]]:
    """The words that set each component apart, with their part of its divergence.

    A word counts p log(p / q): p is its probability in the component, q its mean over the
    others. The sum over all words is the Kullback-Leibler divergence of the two.
    """
    probs = np.exp(log_probs)
    k = probs.shape[1]
    others = (probs.sum(axis=1, keepdims=True) - probs) / max(1, k - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.nan_to_num(probs * np.log(probs / (others if k > 1 else 1 / len(probs))))
    best = np.argsort(-gain, axis=0, kind="stable")[:top]
    return [
        [(int(w) if names is None else str(names[w]), float(gain[w, j])) for w in best[:, j]]
        for j in range(k)
    ]


def uniform(k: int, edges: np.ndarray, *, bernoulli: bool = False) -> CountParams:
    """All components alike: where the first pass begins."""
    log_weights = np.full(k, -np.log(k))
    if bernoulli:
        half = np.full((int(edges[-1]), k), np.log(0.5))
        return CountParams(log_weights, half, half, edges)
    sizes = np.repeat(np.diff(edges), np.diff(edges))
    log_probs = np.repeat(-np.log(sizes)[:, None], k, axis=1)
    return CountParams(log_weights, log_probs, np.zeros((0, k)), edges)


# --- The estimators ---


class CountComponents:
    """Components that ``log_weights_`` and ``log_probs_`` describe; a mixin for estimators."""

    log_weights_: np.ndarray
    log_probs_: np.ndarray
    n_features_in_: int
    _bernoulli: ClassVar[bool] = False

    def keywords(
        self, names: Sequence[str] | np.ndarray | None = None, *, top: int = 10
    ) -> list:
        """The words (or columns) that set each component apart, strongest first."""
        check_is_fitted(self)
        return keywords(self.log_probs_, names, top)

    def _edges(self) -> np.ndarray:
        return np.array([0, self.n_features_in_])

    def _params(self) -> CountParams:
        absent = np.zeros((0, len(self.log_weights_)))
        if self._bernoulli:
            with np.errstate(divide="ignore"):
                absent = np.log1p(-np.exp(self.log_probs_))
        return CountParams(self.log_weights_, self.log_probs_, absent, self._edges())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


class CountMixture(CountComponents, Mixture):
    """Base class of the three mixtures."""

    _parameter_constraints: ClassVar[dict] = {
        **Mixture._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "init_params": [StrOptions({"kmeans", "random"})],
    }
    _file_schema: ClassVar[dict] = {
        "log_weights_": ("n_components",),
        "log_probs_": (None, "n_components"),
    }
    _file_nonfinite = ("log_weights_", "log_probs_")
    _log_joint = staticmethod(log_joint)

    def __init__(
        self,
        n_components: int = 8,
        *,
        alpha: float = 0.1,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.alpha, self.tol = n_components, alpha, tol
        self.max_iter, self.n_init, self.init_params = max_iter, n_init, init_params
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @property
    def weights_(self) -> np.ndarray:
        """The probability of each component."""
        check_is_fitted(self)
        return np.exp(self.log_weights_)

    # --- Parts ---

    def _table(self, X: Any, sample_weight: Any, *, reset: bool) -> Table:
        return check_count_table(self, X, sample_weight, reset=reset)

    def _start(self, table: Table, engine: Engine, rng: Any) -> CountParams:
        k, edges = self.n_components, self._edges()
        params = uniform(k, edges, bernoulli=self._bernoulli)
        mask = np.zeros((len(table), k), bool)
        mask[np.arange(len(table)), self._first_labels(table, rng)] = True
        stats = engine.reduce(collect, params, table.with_labels(mask))
        return update(params, stats, alpha=max(self.alpha, 0.01))

    def _first_labels(self, table: Table, rng: Any) -> np.ndarray:
        """A component for every row: by spherical k-means on a sample, or at random."""
        n, k = len(table), self.n_components
        seed = int(rng.randint(2**31))
        if self.init_params == "random" or k == 1:
            return np.random.default_rng(seed).integers(k, size=n)
        chosen = np.sort(np.random.default_rng(seed).permutation(n)[:SAMPLE])
        weights = weights_of(table, chosen)
        weights = np.ones(len(chosen)) if weights is None else weights
        sample = sp.csr_array(table.take(chosen), dtype=np.float64)
        spread = np.repeat(weights, np.diff(sample.indptr))
        present = np.bincount(sample.indices, spread, minlength=sample.shape[1])
        idf = np.log1p(weights.sum() / np.maximum(present, 1e-9))
        rows = weighted_rows(sample, idf)
        filled = np.flatnonzero((np.diff(rows.indptr) > 0) & (weights > 0))
        labels = np.zeros(n, np.int64)
        if len(filled) < k:
            return labels
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SphericalKMeans(k, n_init=1, random_state=seed, engine=Serial())
            model.fit(rows[filled], sample_weight=weights[filled])
        for block in table:
            rows = weighted_rows(sp.csr_array(parts(block.load()).rows, dtype=np.float64), idf)
            filled = np.flatnonzero(np.diff(rows.indptr) > 0)
            if len(filled):
                labels[block.start + filled] = model.predict(rows[filled])
        return labels

    def _em(self) -> tuple:
        return collect, partial(update, alpha=self.alpha), partial(log_prior, alpha=self.alpha)

    def _store(self, params: CountParams) -> None:
        self.log_weights_, self.log_probs_ = params.log_weights, params.log_probs

    def _n_parameters(self) -> int:
        v, k = self.log_probs_.shape
        free = v if self._bernoulli else v - (len(self._edges()) - 1)
        return k * free + k - 1

    def _after_load(self) -> None:
        if len(self.log_probs_) != self._edges()[-1]:
            raise ValueError("log_probs_ do not match the columns.")
        for name in ("log_weights_", "log_probs_"):
            values = getattr(self, name)
            if np.isnan(values).any() or (values > 1e-9).any():
                raise ValueError(f"{name} must be logarithms of probabilities.")


class MultinomialMixture(CountMixture):
    """Cluster documents by their word counts: a mixture of multinomials, fitted by EM.

    Parameters
    ----------
    n_components : int, how many components
    alpha : float
        Added to every expected count. With 0, a word that a component has not seen makes a
        document impossible under it.
    tol : float
        Stop when a pass raises the mean log-posterior of a document by less than this.
    max_iter : int, most EM iterations of one run
    n_init : int, runs to make, each from another start; the most likely one wins
    init_params : {"kmeans", "random"}
        Start from spherical k-means on weighted counts (of at most 20,000 rows), or from random
        labels.
    random_state : int, RandomState or None; seed of the starts
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    log_weights_ : array of shape (n_components,)
    log_probs_ : array of shape (n_features, n_components), log P(word | component)
    lower_bound_ : float, the mean log-posterior of a document
    lower_bounds_ : list of float, after 0, 1, 2, ... updates; it never falls
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 1, 3], [0, 1, 2, 2]])
    >>> model = MultinomialMixture(2, random_state=0).fit(X)
    >>> labels = model.predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    >>> round(model.perplexity(X), 1)
    2.7
    """

    def perplexity(self, X: Any) -> float:
        """exp of minus the mean log-likelihood of a word."""
        table = self._table(X, None, reset=False)
        words = sum(float(parts(block.load()).rows.sum()) for block in table)
        if not words:
            raise ValueError("perplexity needs documents with words, but X has none.")
        with np.errstate(over="ignore"):
            value = float(np.exp(-self.score_samples(X).sum() / words))
        if not np.isfinite(value):
            raise ValueError(f"perplexity overflows, because X has only {words:.3g} words.")
        return value

    def sample(
        self, n_samples: int = 1, length: int = 100, random_state: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw documents of ``length`` words, and the components they come from."""
        check_is_fitted(self)
        rng = check_random_state(random_state)
        weights = self.weights_ / self.weights_.sum()
        labels = rng.choice(len(weights), size=n_samples, p=weights)
        probs = np.exp(self.log_probs_)
        probs /= probs.sum(axis=0)
        rows = np.empty((n_samples, len(probs)), np.int64)
        for i, j in enumerate(labels):
            rows[i] = rng.multinomial(length, probs[:, j])
        return rows, labels


class BernoulliMixture(CountMixture):
    """Cluster rows of zeros and ones: a mixture of independent Bernoullis, fitted by EM.

    Parameters and attributes are those of ``MultinomialMixture``; any value but 0 counts as 1.

    >>> X = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 1, 1, 1]])
    >>> labels = BernoulliMixture(2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _bernoulli = True


class CategoricalMixture(CountMixture):
    """Cluster rows of categories: in every column a code 0, 1, 2, ..., or -1 for missing.

    Parameters and attributes are those of ``MultinomialMixture``; ``log_probs_`` has a row for
    every category of every column, and ``n_categories_`` tells how many each column has.

    >>> X = np.array([[0, 2], [0, 2], [1, 0], [1, -1]])
    >>> labels = CategoricalMixture(2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _file_schema: ClassVar[dict] = {
        **CountMixture._file_schema,
        "n_categories_": ("n_features_in_",),
    }

    def _table(self, X: Any, sample_weight: Any, *, reset: bool) -> Table:
        name = type(self).__name__
        if is_table(X) or sp.issparse(X):
            raise TypeError(f"{name} takes a dense array of codes.")
        table = check_table(self, X, reset=reset, dtypes=NUMBERS, finite=True)
        codes = np.asarray(table.take(np.arange(len(table))))
        if (codes != np.floor(codes)).any() or (codes < -1).any():
            raise ValueError(f"{name} takes whole numbers from 0, or -1 for missing.")
        codes = codes.astype(np.int64)
        if reset:
            self.n_categories_ = np.maximum(codes.max(axis=0), 0) + 1
        over = np.argwhere(codes >= self.n_categories_)
        if len(over):
            row, column = over[0]
            raise ValueError(
                f"{name} knows {self.n_categories_[column]} categories of column {column}, but "
                f"row {row} has the code {codes[row, column]}."
            )
        starts = self._edges()[:-1]
        known = codes >= 0
        indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        indices = (codes + starts)[known]
        hot = sp.csr_array(
            (np.ones(len(indices)), indices, indptr), shape=(len(codes), self._edges()[-1])
        )
        weights = check_weights(sample_weight, codes)
        table = Table.from_array(hot)
        return table if weights is None else table.with_weights(weights)

    def _edges(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.n_categories_)]).astype(np.int64)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        return tags


def weighted_rows(rows: sp.csr_array, idf: np.ndarray) -> sp.csr_array:
    """The square roots of the counts, times the weights of the words."""
    rows = rows.copy()
    rows.eliminate_zeros()
    rows.data = np.sqrt(rows.data) * idf[rows.indices]
    return rows

"""Latent Dirichlet allocation by variational Bayes, in batches or online.

    collect   E-step: the posterior of the topics of each document, and expected counts of words
              under it
    update    M-step: the Dirichlet posterior of the words of each topic, from those counts

In ``iterate`` a pass over all documents comes before each update (batch); in ``iterate_online``
an update follows every mini-batch. The loss is minus the evidence lower bound (ELBO) over the
number of documents: the bound of the documents given the topics, less the divergence of the
topics from their prior. An update never raises it where documents are inferred to the end; with
``mean_change_tol`` above 0 it may rise by about as much.

scikit-learn counts the divergence of the topics in the perplexity of new documents, which so
rises with the number of topics whatever they are worth; ``perplexity`` here is that of the
documents alone.

Blei, Ng and Jordan (2003), Latent Dirichlet allocation. JMLR 3.
Hoffman, Blei and Bach (2010), Online learning for latent Dirichlet allocation. NIPS.
"""

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import gammaln, psi
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.cluster.minibatch import shuffled_batches
from tacit.core.checkpoint import begin, finish
from tacit.core.engines import Engine, Serial
from tacit.core.estimator import N_JOBS, engine_for, with_callbacks
from tacit.core.loop import iterate, iterate_online
from tacit.core.stats import Stats
from tacit.data.checked import check_count_table, check_results
from tacit.data.table import Table, parts
from tacit.topics.dirichlet import divergence, expected_log, fit_from_logs
from tacit.topics.fold_in import NO_SUMS, NO_WEIGHTS, FoldIn, Inferred, infer
from tacit.topics.topic_model import TopicModel, prior_of, sizes_of

__all__ = ["LatentDirichletAllocation", "TopicParams", "TopicStats", "collect", "update"]

FIRST_GAMMA = 100.0  # shape of the random start, scikit-learn's
STRIPE = 256  # words whose expectations are computed together
SPECIAL = 20  # values read in the time of a digamma and a log-gamma


class TopicParams(NamedTuple):
    """The posterior of the topics, and the priors."""

    components: np.ndarray  # (v, k) Dirichlet parameters
    weights: np.ndarray  # (v, k) float32, exp(E[log beta])
    alpha: np.ndarray  # (k,)
    eta: float
    divergence: float  # of the topics from their prior, summed
    max_iter: int  # of the inference of a document
    tol: float

    def fold_in(self) -> FoldIn:
        return FoldIn(self.weights, self.alpha, self.max_iter, self.tol)


@dataclass(frozen=True)
class TopicStats(Stats):
    """Expected counts."""

    rows: float  # weight of all documents
    loss: float  # minus the bound of the documents given the topics
    words: np.ndarray  # (v, k)
    logs: np.ndarray  # (k,) E[log theta], summed


# --- The algorithm ---


def collect(params: TopicParams, block: Any) -> TopicStats:
    """The E-step: posteriors of the documents of a block, and expected counts."""
    rows, _, weights = parts(block)
    words = np.zeros(params.weights.shape)
    posterior = infer(params.fold_in(), rows, words, NO_WEIGHTS if weights is None else weights)
    bounds, logs = document_bounds(params.alpha, posterior)
    weights = np.ones(len(bounds)) if weights is None else weights
    return TopicStats(float(weights.sum()), -float(bounds @ weights), words, weights @ logs)


def update(
    params: TopicParams,
    stats: TopicStats,
    *,
    optimize: bool = False,
    documents: float | None = None,
    engine: Engine | None = None,
) -> TopicParams:
    """The M-step. ``stats`` are scaled to a collection of so many ``documents``, if any."""
    if optimize:
        params = params._replace(alpha=fit_from_logs(params.alpha, stats.logs / stats.rows))
    scale = 1.0 if documents is None else documents / stats.rows
    return with_words(params, stats.words, scale, params.eta, engine)


def with_words(
    params: TopicParams,
    words: np.ndarray,
    scale: float = 1.0,
    prior: float = 0.0,
    engine: Engine | None = None,
) -> TopicParams:
    """The params whose topics are ``scale * words + prior``: their expectations, and their
    divergence from the prior."""
    v, k = words.shape
    eta = params.eta
    components, weights = np.empty((v, k)), np.empty((v, k), np.float32)
    stripes = [slice(first, first + STRIPE) for first in range(0, v, STRIPE)]
    engine = engine or Serial()

    def add_prior(stripe: slice) -> np.ndarray:
        part = np.multiply(words[stripe], scale, out=components[stripe])
        part += prior
        return part.sum(axis=0)

    def expect(stripe: slice) -> float:
        """Set the weights of some words; what they add to the divergence."""
        part = components[stripe]
        logs = psi(part) - psi(totals)
        np.exp(logs, out=weights[stripe], casting="same_kind")
        return float(np.sum((part - eta) * logs - gammaln(part)))

    totals = sum(engine.each(add_prior, stripes, work=v * k))
    sums = engine.each(expect, stripes, work=SPECIAL * v * k)
    constant = gammaln(v * eta) - v * gammaln(eta)
    apart = sum(sums) + float(gammaln(totals).sum() - k * constant)
    return params._replace(components=components, weights=weights, divergence=apart)


def document_bounds(alpha: np.ndarray, posterior: Inferred) -> tuple[np.ndarray, np.ndarray]:
    """The bound of each document given the topics, and E[log theta]."""
    logs = expected_log(posterior.gamma)
    return posterior.log_sums - divergence(posterior.gamma, alpha, logs), logs


def block_bounds(params: TopicParams, block: Any) -> np.ndarray:
    """(n, 2) the bound of each document, and its tokens."""
    rows = parts(block).rows
    bounds, _ = document_bounds(
        params.alpha, infer(params.fold_in(), rows, NO_SUMS, NO_WEIGHTS)
    )
    return np.stack([bounds, np.asarray(rows.sum(axis=1)).ravel()], axis=1)


# --- The estimator ---


class LatentDirichletAllocation(TopicModel):
    """Find the topics of documents: latent Dirichlet allocation by variational Bayes.

    The names are scikit-learn's; rows may be weighted, on disk, and any numbers of at least 0.

    Parameters
    ----------
    n_components : int
        How many topics.
    doc_topic_prior : None, float, array of shape (n_components,) or "auto"
        Dirichlet parameters of the topics of a document; None is 1 / n_components, "auto"
        optimizes one for every topic.
    topic_word_prior : float or None
        Dirichlet parameter of the words of a topic; None is 1 / n_components.
    learning_method : {"batch", "online"}
        Update after every pass, or after every mini-batch.
    learning_decay : float
        Online: batch t has weight (t + learning_offset)^-learning_decay. Above 0.5, up to 1.
    learning_offset : float
        See ``learning_decay``; a larger one gives early batches less weight.
    max_iter : int
        Most passes over the documents.
    batch_size : int
        Online: documents to a mini-batch.
    total_samples : float
        ``partial_fit``: how many documents there will be.
    tol : float
        Batch: stop when a pass brings less than this fraction of the improvement so far.
    mean_change_tol : float
        A document is done when the mean change of its parameters is below this.
    max_doc_update_iter : int
        Most iterations for a document.
    random_state : int, RandomState or None
        Seed of the start, and of the order of the mini-batches.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run. The result does not depend on it. Online runs in one thread.
    callbacks : list or None
        Notified of every pass or mini-batch; see ``tacit.core.progress``.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features), Dirichlet parameters of the topics
    topics_ : the same as probabilities of words
    topic_sizes_ : array of shape (n_components,), the fraction of the tokens in each topic
    alpha_ : array of shape (n_components,)
    eta_ : float
    bounds_ : list of float, the evidence lower bound over the number of documents, after
        0, 1, 2, ... updates; online, that of each mini-batch given the topics
    n_iter_ : int, number of passes
    n_steps_ : int, number of updates
    converged_ : bool

    Examples
    --------
    >>> X = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 1], [0, 0, 2, 4], [4, 1, 0, 0]])
    >>> model = LatentDirichletAllocation(2, max_iter=50, random_state=0).fit(X)
    >>> theta = model.transform(X)
    >>> bool(theta[0].argmax() == theta[1].argmax() != theta[2].argmax() == theta[3].argmax())
    True
    >>> round(model.perplexity(X), 1)
    2.9
    """

    _faded_words: np.ndarray
    _faded_logs: np.ndarray
    _saved_private = ("_faded_words", "_faded_logs")
    _file_schema: ClassVar[dict] = {
        **TopicModel._file_schema,
        "_faded_words": ("n_features_in_", None),
        "_faded_logs": (None,),
    }
    _file_types: ClassVar[dict] = {"n_iter_": int, "n_steps_": int}
    _file_optional = ("_faded_words", "_faded_logs")
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "doc_topic_prior": [
            None, StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like",
        ],
        "topic_word_prior": [None, Interval(Real, 0, None, closed="neither")],
        "learning_method": [StrOptions({"batch", "online"})],
        "learning_decay": [Interval(Real, 0.5, 1, closed="right")],
        "learning_offset": [Interval(Real, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "total_samples": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "mean_change_tol": [Interval(Real, 0, None, closed="left")],
        "max_doc_update_iter": [Interval(Integral, 1, None, closed="left")],
        "evaluate_every": [Interval(Integral, None, None, closed="neither")],
        "perp_tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }  # fmt: skip
    _no_effect: ClassVar[dict] = {
        "evaluate_every": "the bound is known after every pass, and tol decides when to stop",
        "perp_tol": "tol decides when to stop, by the bound",
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: Any = None,
        topic_word_prior: float | None = None,
        learning_method: str = "batch",
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        max_iter: int = 50,
        batch_size: int = 128,
        total_samples: float = 1e6,
        tol: float = 1e-3,
        mean_change_tol: float = 1e-3,
        max_doc_update_iter: int = 100,
        evaluate_every: int = -1,
        perp_tol: float = 0.1,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.doc_topic_prior = n_components, doc_topic_prior
        self.topic_word_prior, self.learning_method = topic_word_prior, learning_method
        self.learning_decay, self.learning_offset = learning_decay, learning_offset
        self.max_iter, self.batch_size, self.total_samples = max_iter, batch_size, total_samples
        self.tol, self.mean_change_tol = tol, mean_change_tol
        self.max_doc_update_iter = max_doc_update_iter
        self.evaluate_every, self.perp_tol = evaluate_every, perp_tol
        self.n_jobs, self.verbose = n_jobs, verbose
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the topics. X is an array of counts, a sparse matrix, a Table or a Dask array."""
        self._validate_params()
        table = check_count_table(self, X, sample_weight, reset=True)
        rng = check_random_state(self.random_state)
        start, optimize = self._start(rng), isinstance(self.doc_topic_prior, str)
        with self._fit_callbacks() as callbacks:
            if self.learning_method == "online":
                seed = int(rng.randint(2**31))
                self._forget()
                self._learn(
                    start, partial(shuffled_batches, table, self.batch_size, seed),
                    passes=self.max_iter, documents=float(len(table)), callbacks=callbacks,
                )  # fmt: skip
                self.n_iter_, self.converged_ = self.max_iter, False
            else:
                known = {**self.get_params(), "callbacks": None, "engine": None}
                begin(callbacks, f"LatentDirichletAllocation {known} {table.shape}")
                engine = engine_for(self)
                fit = iterate(
                    start, collect, partial(update, optimize=optimize, engine=engine), table,
                    engine, max_iter=self.max_iter, tol=self.tol, callbacks=callbacks,
                    penalty=attrgetter("divergence"), name="LatentDirichletAllocation",
                )  # fmt: skip
                self._store(fit.params)
                self.bounds_ = [-float(loss) for loss in fit.losses]
                self.n_iter_ = self.n_steps_ = len(fit.losses) - 1
                self.converged_ = fit.converged
                self._forget()
        finish(self.callbacks)
        check_results(self)
        return self

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more documents, ``batch_size`` at a time; the first call also starts."""
        self._validate_params()
        first = not hasattr(self, "components_")
        table = check_count_table(self, X, sample_weight, reset=first)
        params = self._start(check_random_state(self.random_state)) if first else self._params()
        if first:
            self.bounds_, self.n_iter_, self.converged_ = [], 0, False
            self._forget()
        with self._fit_callbacks() as callbacks:
            self._learn(
                params, lambda _: plain_batches(table, self.batch_size), passes=1,
                documents=self.total_samples, callbacks=callbacks,
            )  # fmt: skip
        self.n_iter_ += 1
        return self

    def _learn(
        self, params: TopicParams, batches: Any, *, passes: int, documents: float,
        callbacks: Any,
    ) -> None:  # fmt: skip
        optimize = isinstance(self.doc_topic_prior, str)
        skip = max(0, int(self.learning_offset) - 2)
        if hasattr(self, "_faded_words"):
            memory = TopicStats(1.0, 0.0, self._faded_words, self._faded_logs)
            earlier, steps = self.bounds_, self.n_steps_
        else:
            memory, earlier, steps = as_stats(params, documents), [], 0
        fit = iterate_online(
            params, collect, partial(update, optimize=optimize, documents=documents), batches,
            passes=passes, decay=self.learning_decay, memory=memory, steps=skip + steps,
            callbacks=callbacks, name="LatentDirichletAllocation",
        )  # fmt: skip
        self._store(fit.params)
        self.bounds_ = [*earlier, *(-float(loss) for loss in fit.losses)]
        self.n_steps_ = fit.steps - skip
        self._faded_words, self._faded_logs = fit.memory.words, fit.memory.logs

    def _forget(self) -> None:
        for name in ("_faded_words", "_faded_logs"):
            self.__dict__.pop(name, None)

    # --- Likelihoods ---

    def score(self, X: Any, y: Any = None) -> float:
        """The bound of the log-likelihood of documents given the topics, summed."""
        return float(self._bounds(X)[:, 0].sum())

    def fit_transform(self, X: Any, y: Any = None, *, normalize: bool = True) -> np.ndarray:
        """Fit the topics, and give the topic proportions of the documents."""
        return self.fit(X).transform(X, normalize=normalize)

    def perplexity(self, X: Any, sub_sampling: bool = False) -> float:
        """exp of minus the bound of the log-likelihood of a token, given the topics. It is a
        mean, so ``sub_sampling``, as scikit-learn calls X being a part of the data, changes
        nothing."""
        bounds = self._bounds(X)
        tokens = bounds[:, 1].sum()
        if not tokens:
            raise ValueError("perplexity needs documents with words, but X has none.")
        return float(np.exp(-bounds[:, 0].sum() / tokens))

    def bound(self, X: Any) -> float:
        """The evidence lower bound of X and the topics together: what a fit maximizes."""
        return self.score(X) - self._params().divergence

    def _bounds(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        table = check_count_table(self, X, reset=False)
        return np.concatenate(list(engine_for(self).map(block_bounds, self._params(), table)))

    # --- Parts ---

    def _word_weights(self) -> np.ndarray:
        return np.exp(expected_log(self.components_)).T

    def _start(self, rng: Any) -> TopicParams:
        k, v = self.n_components, self.n_features_in_
        prior = self.doc_topic_prior
        start = 1 / k if prior is None or isinstance(prior, str) else prior
        alpha = prior_of(start, k, f"LatentDirichletAllocation(doc_topic_prior={prior!r})")
        eta = 1 / k if self.topic_word_prior is None else float(self.topic_word_prior)
        components = rng.gamma(FIRST_GAMMA, 1 / FIRST_GAMMA, (k, v)).T
        return self._with(components, alpha, eta)

    def _params(self) -> TopicParams:
        return self._with(self.components_.T, self.alpha_, self.eta_)

    def _with(self, components: np.ndarray, alpha: np.ndarray, eta: float) -> TopicParams:
        empty = np.zeros((0, len(alpha)), np.float32)
        params = TopicParams(
            components, empty, alpha, eta, 0.0, self.max_doc_update_iter, self.mean_change_tol
        )
        return with_words(params, components, engine=engine_for(self))

    def _store(self, params: TopicParams) -> None:
        self.components_ = np.ascontiguousarray(params.components.T)
        counts = np.maximum(self.components_ - params.eta, 0.0).sum(axis=1)
        self.topic_sizes_ = sizes_of(counts)
        self.alpha_, self.eta_ = params.alpha, params.eta

    def _after_load(self) -> None:
        super()._after_load()
        if not isinstance(self.eta_, float) or not self.eta_ > 0:
            raise ValueError("eta_ must be a number above 0.")
        if not (self.components_ > 0).all():
            raise ValueError("components_ must be above 0.")
        if hasattr(self, "_faded_words"):
            k = len(self.alpha_)
            if self._faded_words.shape[1] < k or len(self._faded_logs) != k:
                raise ValueError("The statistics of partial_fit do not match the topics.")
            self._faded_words = self._faded_words[:, :k]  # older files have padded rows


def as_stats(params: TopicParams, documents: float) -> TopicStats:
    """The statistics per document whose update is the params: the first memory, so that the
    first mini-batch does not count for all."""
    words = np.maximum(params.components - params.eta, 0) / documents
    return TopicStats(1.0, 0.0, words, expected_log(params.alpha))


def plain_batches(table: Any, size: int) -> Any:
    """Batches of rows in the order of the table."""
    for block in table:
        loaded = parts(block.load())
        small = Table.from_array(loaded.rows, size)
        if loaded.weights is not None:
            small = small.with_weights(loaded.weights)
        yield from small

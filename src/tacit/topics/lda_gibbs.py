"""Latent Dirichlet allocation by collapsed Gibbs sampling.

The estimator: tokens from counts, passes by ``core.sweep`` (``gibbs_sampler`` says what one
does), topics averaged over samples of the chain after burn-in. Sequential; the same seed gives
the same bits on any number of threads.

Griffiths and Steyvers (2004), Finding scientific topics. PNAS 101. Wallach, Mimno and McCallum
(2009), Rethinking LDA: why priors matter. NIPS. The notes' section on LDA.
"""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.checkpoint import begin, finish
from tacit.core.engines import Engine
from tacit.core.estimator import engine_for, with_callbacks
from tacit.core.memory import check_memory
from tacit.core.randoms import seed_from
from tacit.core.sweep import sweep
from tacit.data.checked import check_count_table
from tacit.topics.gibbs_sampler import (
    DENSE,
    LANES,
    GibbsSampler,
    GibbsState,
    Priors,
    Tokens,
    arrange,
)
from tacit.topics.topic_model import TopicModel, check_whole, prior_of, sizes_of

__all__ = ["Assignments", "GibbsLDA"]

MOST_TOPICS = 65_535
WARM_UP = 50  # passes before alpha and eta are optimized: random topics would make them large


class Assignments(NamedTuple):
    """The topic of every token in one sample, by document, then by word."""

    documents: np.ndarray  # (n,) the row of X
    words: np.ndarray  # (n,) the column of X
    topics: np.ndarray  # (n,)


class GibbsLDA(TopicModel):
    """Find the topics of documents: latent Dirichlet allocation by Gibbs sampling.

    X holds integer counts, a row for every document and a column for every word, as from
    ``CountVectorizer``.

    Parameters
    ----------
    n_components : int
        How many topics.
    max_iter : int
        Passes over all tokens.
    alpha : "auto", float or array of shape (n_components,)
        Dirichlet parameters of the topics of a document. "auto" optimizes one for every topic.
    eta : "auto" or float
        Dirichlet parameter of the words of a topic; "auto" optimizes it.
    burn_in : int or None
        Passes before the first sample; None is half of ``max_iter``.
    sample_every : int
        Passes from one sample to the next; topics are the mean over all samples.
    seed_words : dict or None
        Topic number -> columns of X that it should be about: the prior of such a word in that
        topic is higher by ``seed_weight`` tokens.
    seed_weight : float
        See ``seed_words``.
    pinned_words : dict or None
        Topic number -> columns of X that no other topic may have.
    assignments : str or None
        A folder for the topics of the tokens, in a temporary file; None keeps them in memory.
    random_state : int, RandomState or None
        Seed of the chain.
    engine : {"serial", "threads"} or Engine
        Where the passes run. The result does not depend on it.
    callbacks : list or None
        Notified of every pass; see ``tacit.core.progress``.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features), mean counts plus eta
    topics_ : the same as probabilities of words
    topic_sizes_ : array of shape (n_components,), the fraction of the tokens in each topic
    alpha_ : array of shape (n_components,)
    eta_ : float
    losses_ : list of float, minus the mean log-probability of a token given all others at its
        visit, for every pass
    n_iter_ : int, number of passes
    n_samples_ : int, samples in the mean

    Examples
    --------
    >>> X = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 1], [0, 0, 2, 4], [4, 1, 0, 0]])
    >>> model = GibbsLDA(2, max_iter=200, alpha=0.1, random_state=0).fit(X)
    >>> theta = model.transform(X)
    >>> bool(theta[0].argmax() == theta[1].argmax() != theta[2].argmax() == theta[3].argmax())
    True
    """

    contract: ClassVar[str] = "sequential"
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, MOST_TOPICS, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "alpha": [
            StrOptions({"auto"}),
            Interval(Real, 0, None, closed="neither"),
            "array-like",
        ],
        "eta": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "burn_in": [Interval(Integral, 0, None, closed="left"), None],
        "sample_every": [Interval(Integral, 1, None, closed="left")],
        "seed_words": [dict, None],
        "seed_weight": [Interval(Real, 0, None, closed="neither")],
        "pinned_words": [dict, None],
        "assignments": [str, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 20,
        *,
        max_iter: int = 500,
        alpha: Any = "auto",
        eta: Any = 0.01,
        burn_in: int | None = None,
        sample_every: int = 10,
        seed_words: Mapping[int, Sequence[int]] | None = None,
        seed_weight: float = 10.0,
        pinned_words: Mapping[int, Sequence[int]] | None = None,
        assignments: str | None = None,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.max_iter, self.alpha = n_components, max_iter, alpha
        self.eta, self.burn_in, self.sample_every = eta, burn_in, sample_every
        self.seed_words, self.seed_weight = seed_words, seed_weight
        self.pinned_words, self.assignments = pinned_words, assignments
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw topics for all tokens, ``max_iter`` times, and average their counts."""
        self._validate_params()
        rows = self._whole_counts(X)
        k = self.n_components
        check_memory(
            12 * k * rows.shape[1] + 2 * min(k, DENSE) * rows.shape[0],
            f"GibbsLDA(n_components={k}) on {rows.shape[1]:,} words",
            "Lower n_components, or keep fewer words (min_df).",
        )
        burn_in = self.max_iter // 2 if self.burn_in is None else self.burn_in
        if burn_in >= self.max_iter:
            raise ValueError(
                f"GibbsLDA(burn_in={burn_in}) takes its first sample after as many passes, but "
                f"max_iter={self.max_iter}. Lower burn_in."
            )
        alpha, eta = self._first_alpha(), 0.01 if isinstance(self.eta, str) else float(self.eta)
        tokens = arrange(rows, self.assignments)
        sampler = GibbsSampler(
            tokens, k, self._priors(rows.shape[1], eta), seed_from(self.random_state),
            burn_in=burn_in, sample_every=self.sample_every,
            optimize_alpha=isinstance(self.alpha, str), optimize_eta=isinstance(self.eta, str),
            optimize_from=min(WARM_UP, self.max_iter // 4), folder=self.assignments,
        )  # fmt: skip
        state = sampler.start(alpha, eta)
        with self._fit_callbacks() as callbacks:
            begin(callbacks, self._fit_key(rows))
            swept = sweep(
                sampler, state, engine_for(self), max_iter=self.max_iter, callbacks=callbacks,
                name="GibbsLDA",
            )  # fmt: skip
        self.losses_ = [float(loss) for loss in swept.losses]
        self._store(sampler, tokens, swept.state)
        finish(self.callbacks)
        return self

    def _fit_key(self, rows: sp.csr_array) -> str:
        """The key of a checkpoint: the settings and the data."""
        known = {**self.get_params(), "callbacks": None, "engine": None}
        data = crc32(rows.data.tobytes(), crc32(rows.indices.tobytes()))
        return f"GibbsLDA {known} {rows.shape} {data}"

    def _store(self, sampler: GibbsSampler, tokens: Tokens, state: GibbsState) -> None:
        k = self.n_components
        samples = int(state.samples[0])
        # A callback may end the fit before the first sample: then the last state is one.
        counts = state.sums / samples if samples else state.words
        priors = sampler.priors.with_eta(state.eta[0], k)
        prior = priors.rows[priors.row_of, :k]
        self.components_ = np.ascontiguousarray((counts[:, :k] + prior).T)
        self.topic_sizes_ = sizes_of(counts[:, :k].sum(axis=0).astype(np.float64))
        self.alpha_, self.eta_ = state.alpha.copy(), float(state.eta[0])
        self.n_iter_, self.n_samples_ = len(self.losses_), max(1, samples)
        self._last = (tokens, state.topics)

    @property
    def assignments_(self) -> Assignments:
        """The topic of every token in the last sample; absent from a loaded model."""
        check_is_fitted(self)
        last = getattr(self, "_last", None)
        if last is None:
            raise AttributeError(
                "assignments_ are not saved in a model file. Fit the model again to have them."
            )
        tokens, topics = last
        documents = tokens.order[tokens.documents]
        words = np.empty(len(documents), np.int32)
        for word, first, stop in tokens.cells:
            words[first:stop] = word
        order = np.lexsort((words, documents))
        return Assignments(documents[order], words[order], np.asarray(topics)[order])

    # --- Parts ---

    def _whole_counts(self, X: Any) -> sp.csr_array:
        table = check_count_table(self, X, reset=True)
        rows = sp.csr_array(table.load(), dtype=np.float64)
        way_out = "Give counts, or use LatentDirichletAllocation."
        check_whole(rows, "GibbsLDA", way_out=way_out)
        if not rows.data.any():
            raise ValueError(
                f"GibbsLDA needs at least one token, but all {rows.shape[0]} rows are empty. "
                "Keep more words."
            )
        if rows.sum() >= 2**31:
            raise ValueError(
                f"GibbsLDA holds fewer than 2**31 tokens, but there are {rows.sum():.0f}. Use "
                "LatentDirichletAllocation(learning_method='online')."
            )
        return rows

    def _first_alpha(self) -> np.ndarray:
        k = self.n_components
        if isinstance(self.alpha, str):
            return np.full(k, min(0.1, 5 / k))
        return prior_of(self.alpha, k, f"GibbsLDA(alpha={self.alpha!r})")

    def _priors(self, v: int, eta: float) -> Priors:
        k = self.n_components
        row_of = np.zeros(v, np.int32)
        rows = [np.full(k, eta)]

        def row(word: int) -> np.ndarray:
            if not row_of[word]:
                row_of[word] = len(rows)
                rows.append(np.full(k, eta))
            return rows[row_of[word]]

        for topic, word in self._pairs("seed_words", v):
            row(word)[topic] += self.seed_weight
        pinned: dict[int, list[int]] = {}
        for topic, word in self._pairs("pinned_words", v):
            pinned.setdefault(word, []).append(topic)
        for word, topics in pinned.items():
            row(word)[np.setdiff1d(np.arange(k), topics)] = 0.0
        padded = np.zeros((len(rows), -(-k // LANES) * LANES))
        padded[:, :k] = rows
        return Priors(row_of, padded)

    def _pairs(self, name: str, v: int) -> list[tuple[int, int]]:
        """Topic and word of every entry of ``seed_words`` or ``pinned_words``."""
        pairs = []
        for topic, words in (getattr(self, name) or {}).items():
            for word in words:
                if not (is_index(topic, self.n_components) and is_index(word, v)):
                    raise ValueError(
                        f"GibbsLDA({name}=...) names topic {topic!r} and word {word!r}; give "
                        f"topics from 0 to {self.n_components - 1}, columns from 0 to {v - 1}."
                    )
                pairs.append((int(topic), int(word)))
        return pairs


def is_index(value: Any, limit: int) -> bool:
    return (
        isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < limit
    )

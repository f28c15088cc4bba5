"""The base class of topic models: topics, fold-in, held-out likelihood, words and documents.

A fitted model has ``components_`` (k, v), Dirichlet parameters of the words of each topic
(counts and prior), and ``alpha_`` (k,), those of the topics of a document. Everything else
follows from the two.
"""

from collections.abc import Callable, Sequence
from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tacit.core.estimator import Estimator, engine_for
from tacit.core.randoms import seed_from
from tacit.data.checked import check_answer, check_count_table
from tacit.data.table import parts
from tacit.topics.fold_in import FoldIn, block_theta, score_completion, score_left_to_right
from tacit.topics.topic_summary import (
    WEIGHT,
    TopicShares,
    TopicSummary,
    summarize,
    topics_by,
)

__all__ = ["TopicModel", "check_whole", "prior_of", "sizes_of"]

FOLD_IN_ITER = 100
FOLD_IN_TOL = 1e-3


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Base class of the topic models: everything but the fit."""

    _file_schema: ClassVar[dict] = {
        "components_": (None, "n_features_in_"),
        "alpha_": (None,),
        "topic_sizes_": (None,),
    }
    components_: np.ndarray
    alpha_: np.ndarray
    topic_sizes_: np.ndarray
    n_features_in_: int

    # --- Topics ---

    @property
    def topics_(self) -> np.ndarray:
        """(k, v) the probability of each word in each topic."""
        check_is_fitted(self)
        return self.components_ / self.components_.sum(axis=1, keepdims=True)

    def _word_weights(self) -> np.ndarray:
        """(v, k) the weights of the fold-in: P(word | topic)."""
        return self.topics_.T

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    # --- Documents ---

    def transform(self, X: Any, *, normalize: bool = True) -> np.ndarray:
        """(n, k) the topic proportions of documents, their posterior mean; rows add up to 1,
        or, with ``normalize=False``, to the tokens of the document and of the prior."""
        theta = np.concatenate(list(self._map_blocks(block_theta, X)))
        check_answer(self, "transform", theta)
        if normalize:
            return theta
        return theta * (self._tokens(X) + self.alpha_.sum())[:, None]

    def _tokens(self, X: Any) -> np.ndarray:
        """(n,) the length of each document."""
        blocks = check_count_table(self, X, reset=False)
        tokens = [np.ravel(parts(block.load()).rows.sum(axis=1)) for block in blocks]
        return np.concatenate(tokens)

    def held_out_likelihood(
        self, X: Any, *, method: str = "completion", particles: int = 20,
        random_state: Any = 0,
    ) -> float:  # fmt: skip
        """The mean log-probability of a token of held-out documents.

        With ``method="completion"`` every other token of a document gives its topic proportions
        and the others are scored. ``"left_to_right"`` scores all tokens by the estimator of
        Wallach et al. (2009), with ``particles`` samples; its cost grows with the square of the
        length. Documents of fewer than two tokens add nothing to a completion.
        """
        scores = self.score_documents(
            X, method=method, particles=particles, random_state=random_state
        )
        tokens = scores[:, 1].sum()
        if not tokens:
            raise ValueError(
                f"held_out_likelihood(method={method!r}) needs documents with at least two "
                "tokens that the model knows, but X has none. Give other documents."
            )
        return float(scores[:, 0].sum() / tokens)

    def score_documents(
        self, X: Any, *, method: str = "completion", particles: int = 20,
        random_state: Any = 0,
    ) -> np.ndarray:  # fmt: skip
        """(n, 2) the log-probability of the tokens scored in each document, and their number;
        see ``held_out_likelihood``."""
        ways = {"completion": score_completion, "left_to_right": score_left_to_right}
        if method not in ways:
            raise ValueError(f"method={method!r} is unknown; choose from {list(ways)}.")
        check_is_fitted(self)
        seed = int(seed_from(random_state) >> np.uint64(1))
        blocks = self._map_blocks(
            ways[method], X, weights=self.topics_.T, seed=seed, particles=particles
        )
        return np.concatenate(list(blocks))

    def _map_blocks(
        self, function: Callable, X: Any, weights: np.ndarray | None = None, **more: int
    ) -> Any:
        check_is_fitted(self)
        table = check_count_table(self, X, reset=False)
        if more:
            for block in table:  # tokens are scored one by one
                check_whole(parts(block.load()).rows, "Held-out likelihood", block.start)
        weights = self._word_weights() if weights is None else weights
        weights = np.ascontiguousarray(weights, np.float32)
        model = FoldIn(weights, self.alpha_, FOLD_IN_ITER, FOLD_IN_TOL, **more)
        return engine_for(self).map(function, model, table)

    # --- For readers ---

    def summary(
        self, names: Sequence[str] | np.ndarray | None = None, *, X: Any = None,
        ids: Sequence[Any] | None = None, top: int = 10, documents: int = 3,
        weight: float = WEIGHT,
    ) -> TopicSummary:  # fmt: skip
        """The topics by size, with words by relevance and, given X, typical documents.

        ``names`` are the words of the columns, ``ids`` the names of the documents; ``weight``
        is 1 for the most probable words, 0 for the most specific.
        """
        theta = None if X is None else self.transform(X)
        return summarize(
            self, names, theta=theta, ids=ids, top=top, documents=documents, weight=weight
        )

    def topics_by(self, X: Any, groups: Sequence[Any]) -> TopicShares:
        """How much of each topic the documents of each year, author or other group have."""
        return topics_by(self.transform(X), groups, self._tokens(X))

    def merge_topics(self, groups: Sequence[Sequence[int]]) -> Self:
        """A model in which the topics of each group are one; it takes the place of the first.

        Their counts add up, and so do their alphas: documents have the proportions that the
        merged topics had together.
        """
        check_is_fitted(self)
        k = len(self.alpha_)
        named = [topic for group in groups for topic in group]
        known = all(isinstance(topic, Integral) and 0 <= topic < k for topic in named)
        if not known or len(set(named)) < len(named) or not all(map(len, groups)):
            raise ValueError(
                f"merge_topics({groups!r}) needs groups of different topics from 0 to {k - 1}, "
                "each at most once."
            )
        home = np.arange(k)
        for group in groups:
            home[list(group)] = min(group)
        members = [home == topic for topic in np.unique(home)]
        merged = copy(self)
        merged.components_ = np.stack([self.components_[rows].sum(axis=0) for rows in members])
        merged.alpha_ = np.array([self.alpha_[rows].sum() for rows in members])
        merged.topic_sizes_ = np.array([self.topic_sizes_[rows].sum() for rows in members])
        merged.n_components = len(members)
        merged.__dict__.pop("_last", None)  # the topics of the tokens have other numbers
        return merged

    # --- The generative process ---

    def sample(
        self, n_samples: int = 1, length: int = 100, *, random_state: Any = None,
        theta: Any = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Draw documents from the generative process of the model, word by word.

        For each document draw topic proportions from Dirichlet(alpha), or take ``theta``
        (n_samples, k); for each of its ``length`` words draw a topic from the proportions, and
        a word from the topic. Returns the words (n_samples, length), their topics, and the
        proportions.
        """
        check_is_fitted(self)
        k = len(self.alpha_)
        rng = np.random.default_rng(int(seed_from(random_state)))
        if theta is None:
            theta = rng.dirichlet(np.maximum(self.alpha_, 1e-6), size=n_samples)
        theta = np.asarray(theta, np.float64)
        if theta.shape != (n_samples, k) or (theta < 0).any():
            raise ValueError(
                f"sample(n_samples={n_samples}) needs theta of shape {(n_samples, k)} with "
                f"probabilities, but it has {theta.shape}. Give one row for every document."
            )
        spread = np.cumsum(theta, axis=1)
        u = rng.random((n_samples, length)) * spread[:, -1:]
        topics = np.minimum(
            np.stack([np.searchsorted(spread[d], u[d], "right") for d in range(n_samples)]),
            k - 1,
        )
        ends = np.cumsum(self.topics_, axis=1)
        v = rng.random((n_samples, length))
        words = np.empty_like(topics)
        for topic in range(k):
            chosen = topics == topic
            words[chosen] = np.searchsorted(ends[topic], v[chosen] * ends[topic, -1], "right")
        return np.minimum(words, ends.shape[1] - 1), topics, theta

    # --- Files ---

    def _after_load(self) -> None:
        k = len(self.alpha_)
        if not k or not len(self.components_) == len(self.topic_sizes_) == k:
            raise ValueError("components_, alpha_ and topic_sizes_ need a row for every topic.")
        for name in ("components_", "alpha_", "topic_sizes_"):
            values = getattr(self, name)
            if values.dtype != np.float64 or not (values >= 0).all():
                raise ValueError(f"{name} must hold numbers of at least 0, as float64.")
        if not (self.components_.sum(axis=1) > 0).all() or not (self.alpha_ > 0).all():
            raise ValueError("Every topic needs words, and an alpha above 0.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def sizes_of(counts: np.ndarray) -> np.ndarray:
    """Counts of tokens by topic as fractions; equal ones where there are none.

    >>> sizes_of(np.array([3.0, 1.0])), sizes_of(np.zeros(2))
    (array([0.75, 0.25]), array([0.5, 0.5]))
    """
    total = counts.sum()
    return counts / total if total else np.full(len(counts), 1 / len(counts))


def check_whole(
    rows: Any, name: str, start: int = 0, way_out: str = "Give counts of words."
) -> None:
    """ValueError with its place for a count that is not an integer."""
    entries = sp.coo_array(rows)
    broken = np.flatnonzero(np.rint(entries.data) != entries.data)
    if len(broken):
        row, column = (int(places[broken[0]]) for places in entries.coords)
        raise ValueError(
            f"{name} takes whole counts, but row {start + row} has "
            f"{entries.data[broken[0]]:g} in column {column}. {way_out}"
        )


def prior_of(value: Any, k: int, called: str) -> np.ndarray:
    """(k,) Dirichlet parameters from one number or k of them; ``called`` is for the error."""
    prior = np.asarray(value, np.float64)
    if prior.shape not in ((), (k,)) or not ((prior > 0) & np.isfinite(prior)).all():
        raise ValueError(f"{called} needs one number above 0, or {k} of them.")
    return np.full(k, prior) if prior.ndim == 0 else prior

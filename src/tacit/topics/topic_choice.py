"""How many topics: held-out likelihood, coherence and stability across seeds.

For every k, models from several seeds are fitted to nine tenths of the documents. The held-out
likelihood of the others (document completion) says which k predict best; of those within one
standard error of the best, the k with the best mean rank by coherence (NPMI) and stability is
chosen, a tie going to the smaller. Stability is the mean cosine of topics from two seeds,
matched one to one.

Greene, O'Callaghan and Cunningham (2014), How many topics? Stability analysis for topic models.
ECML PKDD.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata
from sklearn.base import clone

from tacit.core.randoms import key, permutation, seed_from, spawn
from tacit.data.sparse_structure import check_structure
from tacit.topics.lda_gibbs import GibbsLDA
from tacit.topics.topic_quality import coherence, diversity

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TopicChoice", "align_topics", "choose_topics"]

HELD_OUT = 0.1  # of the documents


@dataclass(frozen=True)
class TopicChoice:
    """The figures of every k. Made by ``choose_topics``."""

    best: int
    table: list[dict[str, float]]  # k, held_out, error, coherence, diversity, stability
    reasons: list[str]
    models: dict[int, Any]  # the first model of every k

    def to_dict(self) -> dict[str, Any]:
        """Everything but the models as JSON values."""
        return {"best": self.best, "table": self.table, "reasons": self.reasons}

    def to_frame(self) -> "pd.DataFrame":
        """The table as a pandas dataframe."""
        import pandas as pd

        return pd.DataFrame(self.table)

    def __str__(self) -> str:
        head = "  k  held-out  coherence  diversity  stability"
        rows = [
            f"{row['k']:>3}  {row['held_out']:8.4f}  {row['coherence']:9.4f}  "
            f"{row['diversity']:9.3f}  {row['stability']:9.3f}"
            for row in self.table
        ]
        return "\n".join([head, *rows, *self.reasons])


def align_topics(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """For each topic of ``a`` the topic of ``b`` it is matched with, and their cosine.

    The matching is one to one and has the largest sum of cosines; with fewer topics in ``b``
    some have none: -1, and cosine 0.

    >>> match, cosine = align_topics(np.eye(3), np.eye(3)[[2, 0, 1]])
    >>> match, cosine
    (array([1, 2, 0]), array([1., 1., 1.]))
    """
    rows, others = (np.asarray(getattr(m, "topics_", m), np.float64) for m in (a, b))
    if rows.shape[1] != others.shape[1]:
        raise ValueError(
            f"align_topics got topics of {rows.shape[1]} and {others.shape[1]} words. Give "
            "models of one vocabulary."
        )
    unit = [
        x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300) for x in (rows, others)
    ]
    similar = unit[0] @ unit[1].T
    i, j = linear_sum_assignment(-similar)
    match, cosine = np.full(len(rows), -1), np.zeros(len(rows))
    match[i], cosine[i] = j, similar[i, j]
    return match, cosine


def choose_topics(
    X: Any, candidates: Iterable[int] = (5, 10, 20, 40), *, model: Any = None, seeds: int = 2,
    random_state: Any = None, engine: Any = "threads",
) -> TopicChoice:  # fmt: skip
    """Choose the number of topics of the documents X; see the module.

    ``model`` is cloned with every n_components: by default ``GibbsLDA`` with 100 passes. One
    document in ten is held out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> topics = np.kron(np.eye(3), np.full(8, 1 / 8))
    >>> X = np.array([rng.multinomial(40, topics[i % 3]) for i in range(150)])
    >>> choose_topics(X, [1, 3], random_state=0).best
    3
    """
    sizes = sorted(set(candidates))
    if sp.issparse(X):
        check_structure(X, "choose_topics")
    rows = sp.csr_array(X)
    if not sizes or sizes[0] < 1:
        raise ValueError(f"choose_topics needs numbers of topics from 1, but got {sizes}.")
    if seeds < 2:
        raise ValueError(f"choose_topics(seeds={seeds}) compares seeds. Give at least 2.")
    if rows.shape[0] < 10:
        raise ValueError(
            f"choose_topics holds out one document in ten, but there are {rows.shape[0]}. Give "
            "at least 10, or choose the number of topics yourself."
        )
    seed = seed_from(random_state)
    base = GibbsLDA(max_iter=100) if model is None else model
    order = permutation(key(seed, 0), rows.shape[0])
    test = np.sort(order[: max(1, int(HELD_OUT * len(order)))])
    train = rows[np.setdiff1d(order, test)]
    table, models = [], {}
    for k in sizes:
        fits = [
            clone(base)
            .set_params(n_components=k, random_state=int(s >> np.uint64(32)), engine=engine)
            .fit(train)
            for s in spawn(seed, seeds)
        ]
        models[k] = fits[0]
        table.append({"k": k, **figures(fits, train, rows[test])})
    best, reasons = pick(table)
    return TopicChoice(best, table, reasons, models)


def figures(fits: list, train: Any, test: Any) -> dict[str, float]:
    """Means over the seeds, and the standard error of the held-out likelihood."""
    scores = [fit.score_documents(test) for fit in fits]
    logs, tokens = sum(s[:, 0] for s in scores) / len(scores), scores[0][:, 1]
    mean = logs.sum() / max(tokens.sum(), 1)
    spread = np.sqrt(((logs - mean * tokens) ** 2).sum()) / max(tokens.sum(), 1)
    pairs = [(a, b) for i, a in enumerate(fits) for b in fits[:i]]
    return {
        "held_out": float(mean),
        "error": float(spread),
        "coherence": float(np.mean([coherence(fit, train).mean() for fit in fits])),
        "diversity": float(np.mean([diversity(fit) for fit in fits])),
        "stability": float(np.mean([align_topics(a, b)[1].mean() for a, b in pairs])),
    }


def pick(table: list[dict[str, float]]) -> tuple[int, list[str]]:
    """The chosen k, and why."""
    top = max(table, key=lambda row: row["held_out"])
    close = [row for row in table if row["held_out"] >= top["held_out"] - top["error"]]
    ranks = sum(rankdata([-row[name] for row in close]) for name in ("coherence", "stability"))
    best = int(close[int(np.argmin(ranks))]["k"])
    figure = f"{top['held_out']:.4f} per token"
    reasons = [f"k={top['k']:.0f} has the highest held-out likelihood, {figure}."]
    if len(close) > 1:
        names = ", ".join(f"{row['k']:.0f}" for row in close)
        reasons.append(f"Within one standard error ({top['error']:.4f}) of it: k = {names}.")
        reasons.append(f"Of these k={best} ranks best by coherence and stability.")
    return best, reasons

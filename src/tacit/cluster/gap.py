"""The gap statistic: how many clusters the data has, if any.

The log of the inertia falls with every additional cluster, also in data without clusters. The
expected fall is estimated on reference data without clusters, drawn uniformly from a box around
the rows; the gap is the difference of the two. The estimate of k is the smallest k whose gap
is at least that of k + 1, less one standard error.

The box is aligned with the principal axes of the rows.

Tibshirani, Walther and Hastie (2001), Estimating the number of clusters in a data set via the
gap statistic. JRSS B 63. The notes' section on evaluating clusterings.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.cluster.null_reference import draw, fit_reference
from tacit.core.engines import Engine, get_engine
from tacit.core.randoms import key, seed_from
from tacit.measure.center_scores import inertia
from tacit.measure.pair_scores import load_rows

__all__ = ["Gap", "gap_statistic"]

Clusterer = Callable[[np.ndarray, int, int], Any]


@dataclass(frozen=True)
class Gap:
    """Gaps for several numbers of clusters."""

    best: int
    ks: tuple[int, ...]
    gap: tuple[float, ...]
    error: tuple[float, ...]  # standard error of each gap
    log_inertia: tuple[float, ...]  # of the rows
    reference: tuple[float, ...]  # mean of the same over the reference data

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in vars(self).items()}

    def __str__(self) -> str:
        lines = ["  k     gap   error"]
        for k, gap, error in zip(self.ks, self.gap, self.error, strict=True):
            lines.append(f"{k:3} {gap:7.3f} {error:7.3f}{' *' if k == self.best else ''}")
        return "\n".join(lines)


def gap_statistic(
    X: Any,
    ks: Iterable[int] = range(1, 11),
    *,
    n_references: int = 20,
    reference: str = "aligned",
    clusterer: Clusterer | None = None,
    random_state: Any = None,
    engine: str | Engine = "threads",
) -> Gap:
    """Compare the inertia for several k with that of data without clusters.

    Parameters
    ----------
    X : array or Table in memory
        The rows.
    ks : integers, numbers of clusters to try
    n_references : int
        Reference data sets to draw. More of them make the error smaller.
    reference : {"aligned", "box"}; a box along the principal axes, or along the columns
    clusterer : function or None
        Called as ``clusterer(rows, k, seed)``, returns labels. None is ``KMeans`` with three
        initializations.
    random_state : int, RandomState, Generator or None
        Seed of the references and of the clusterer.
    engine : {"serial", "threads", "dask"} or Engine
        Where k-means runs.

    Returns
    -------
    Gap, with ``best``, and ``gap`` and ``error`` for each of ``ks``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 9])
    >>> gap = gap_statistic(X, range(1, 4), n_references=5, random_state=0)
    >>> gap.best
    2
    >>> print(gap)
      k     gap   error
      1  -0.600   0.131
      2   1.310   0.109 *
      3   1.003   0.058
    """
    rows = load_rows(X, "euclidean", name="gap_statistic")
    if sp.issparse(rows):
        raise TypeError(
            "gap_statistic draws rows from a box, which sparse data does not fill. Reduce it "
            "to a few columns first, for example with TruncatedSVD."
        )
    rows = np.asarray(rows, np.float64)
    wanted = sorted({int(k) for k in ks})
    check_request(wanted, n_references, reference, len(rows))
    engine, seed = get_engine(engine), seed_from(random_state)

    def log_inertia(rows: np.ndarray, k: int, data: int) -> float:
        from tacit.cluster.kmeans import KMeans

        drawn = int(key(seed, 0, data, k)) % 2**31  # a seed in scikit-learn's range
        if k == 1:
            labels = np.zeros(len(rows), int)
        elif clusterer is not None:
            labels = clusterer(rows, k, drawn)
        else:
            labels = KMeans(k, n_init=3, random_state=drawn, engine=engine).fit_predict(rows)
        value = inertia(rows, labels, engine=engine)
        if not value > 0:
            raise ValueError(
                f"gap_statistic takes the logarithm of the inertia, which is 0 for k={k}: the "
                f"rows have no more than {k} distinct values. Ask for fewer clusters, or look "
                "at the distinct rows themselves."
            )
        return math.log(value)

    logs = [log_inertia(rows, k, 0) for k in wanted]
    box = fit_reference(rows, aligned=reference == "aligned")
    data = (draw(box, "box", key(seed, 1, b)) for b in range(n_references))
    others = np.array([[log_inertia(d, k, b) for k in wanted] for b, d in enumerate(data, 1)])
    mean = others.mean(axis=0)
    error = others.std(axis=0) * math.sqrt(1 + 1 / n_references)
    gap = mean - logs
    enough = [*np.flatnonzero(gap[:-1] >= gap[1:] - error[1:]), gap.argmax()]
    figures = (tuple(np.asarray(x).tolist()) for x in (wanted, gap, error, logs, mean))
    return Gap(wanted[enough[0]], *figures)


def check_request(ks: list[int], n_references: int, reference: str, n: int) -> None:
    if not ks or ks[0] < 1 or ks[-1] >= n:
        raise ValueError(
            f"gap_statistic(ks={ks}) needs numbers from 1 to less than that of the rows, {n}. "
            "Choose others."
        )
    if n_references < 2:
        raise ValueError(
            f"gap_statistic(n_references={n_references}) needs at least 2 for a standard error."
        )
    if reference not in ("aligned", "box"):
        raise ValueError(
            f"gap_statistic: reference={reference!r} is unknown. Choose 'aligned' or 'box'."
        )

"""The same data, slightly different, again and again: what ``stability`` clusters.

    bootstrap   as many rows, drawn with repetition; about 63 in 100 are there each time
    noise       all rows, every column with some normal noise added; the values of sparse rows
                are multiplied instead, so that what is absent stays so
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.partitions import labels_by, prepared
from tacit.core.engines import Serial
from tacit.core.moments import MomentsParams, collect
from tacit.core.randoms import integers, key, normals
from tacit.data.table import Table

__all__ = [
    "NOWHERE",
    "UNSEEN",
    "Resample",
    "Source",
    "cleaned",
    "count_rows",
    "label_resample",
    "source_of",
]

UNSEEN = -1  # the row was not drawn
NOWHERE = -2  # it was, and is in no cluster


class Source(NamedTuple):
    """What every resample is made from."""

    X: Any  # array, CSR matrix, square matrix of distances or list
    square: bool  # X holds distances between the rows
    estimator: Any
    perturb: str
    size: np.ndarray  # (d,) standard deviation of the noise, of every column
    seed: np.uint64


class Resample(NamedTuple):
    """One of them, by number."""

    number: int

    def load(self) -> "Resample":
        return self


def source_of(
    X: Any, estimator: Any, perturb: str, noise: float, seed: np.uint64, *, square: bool
) -> Source:
    """Everything that is needed to draw the resamples of X."""
    size = np.empty(0)
    if perturb == "noise":
        if square or isinstance(X, list):
            what = "distances" if square else "objects"
            raise ValueError(
                f"stability(perturb='noise') adds noise to columns of numbers, which {what} do "
                "not have. Use perturb='bootstrap'."
            )
        if sp.issparse(X):
            size = np.full(1, noise)
        else:
            moments = Serial().reduce(collect, MomentsParams(full=False), Table.of(X))
            size = noise * np.sqrt(moments.variance)
    return Source(X, square, estimator, perturb, size, seed)


def label_resample(source: Source, resample: Resample) -> np.ndarray:
    """The label of every row in one resample, from 0; UNSEEN and NOWHERE below that."""
    b, n = resample.number, count_rows(source.X)
    model = prepared(source.estimator, int(key(source.seed, 1, b)) % 2**31)
    if source.perturb == "noise":
        return cleaned(labels_by(model, noisy(source, key(source.seed, 2, b))))
    drawn = integers(key(source.seed, 2, b), n, n)
    found = cleaned(labels_by(model, taken(source, drawn)))
    labels = np.full(n, UNSEEN, np.int32)
    labels[drawn] = found  # copies of a row: the last one speaks, they nearly always agree
    return labels


def noisy(source: Source, drawn: np.uint64) -> Any:
    X = source.X
    if sp.issparse(X):
        changed = sp.csr_array(X, dtype=np.float64, copy=True)
        changed.data *= np.exp(source.size[0] * normals(drawn, len(changed.data)))
        return changed
    return np.asarray(X, np.float64) + source.size * normals(drawn, X.shape)


def taken(source: Source, places: np.ndarray) -> Any:
    if isinstance(source.X, list):
        return [source.X[i] for i in places]
    return source.X[np.ix_(places, places)] if source.square else source.X[places]


def cleaned(labels: np.ndarray) -> np.ndarray:
    """Labels from 0 as int32; those below 0, which mean no cluster, become NOWHERE."""
    labels = np.asarray(labels)
    nowhere = labels < 0 if labels.dtype.kind in "if" else np.zeros(len(labels), bool)
    _, codes = np.unique(labels, return_inverse=True)
    codes = codes.astype(np.int32)
    if nowhere.any():
        codes -= codes[~nowhere].min() if not nowhere.all() else 0
        codes[nowhere] = NOWHERE
    return codes


def count_rows(X: Any) -> int:
    """How many rows, of a list too."""
    return len(X) if isinstance(X, list) else X.shape[0]

"""Validate the rows and labels of a fit.

    check_labeled   rows and labels, as a table whose labels are codes
    check_partial   the same for ``partial_fit``, whose first call names the classes
    row_weights     sample weights times class weights
    in_memory       rows, codes and weights of a table in memory, as one batch
    RowByRow        passes over them in an order drawn from (seed, pass)

Arrays are validated as scikit-learn does; values that are not finite are reported by the pass,
where their row and column are known.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from tacit.core.estimator import check_weights
from tacit.core.randoms import key, permutation
from tacit.core.sweep import Sequential, Visited
from tacit.data.checked import FLOATS, check_table
from tacit.data.table import Batch, BatchRows, Table, parts
from tacit.linear.linear_classifier import Csr, csr_arrays
from tacit.measure.labels import Codes, codes_of

__all__ = [
    "Labeled", "RowByRow", "check_factors", "check_labeled", "check_labels",
    "check_partial", "check_two_classes", "in_memory", "labels_of", "row_weights",
]  # fmt: skip


MISSING = ("None", "nan", "NaT", "<NA>")  # as they print


class Labeled(NamedTuple):
    """Rows and labels of a fit."""

    table: Table  # blocks load as Batch(rows, int32 codes, weights or None)
    classes: np.ndarray  # sorted; a code is an index into it


def check_labeled(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    classes: np.ndarray | None = None,
    reset: bool = True,
    dtypes: Sequence[type] = FLOATS,
    distinct: bool = True,
) -> Labeled:
    """The validated rows, labels and weights of a fit, as a table with codes for labels.

    X is an array, a sparse matrix, a Dask array or a Table; a Table may hold its labels
    itself, y is None then. By default the classes are those that occur in y.
    """
    table = check_table(estimator, X, reset=reset, dtypes=dtypes, distinct=distinct)
    if y is None:
        y = labels_of(estimator, table)
    y = check_labels(y)
    check_consistent_length(y, np.empty(len(table), np.bool_))
    if len(table) == 0:
        raise ValueError(
            f"{type(estimator).__name__} was given 0 rows and needs a minimum of 1."
        )
    codes, classes, _ = encode(y, classes, type(estimator).__name__)
    table = table.with_labels(codes)
    weights = check_weights(sample_weight, codes)
    return Labeled(table if weights is None else table.with_weights(weights), classes)


def check_labels(y: Any) -> np.ndarray:
    """Labels as one column of strings or integers."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU":
        return y
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "O":
        check_objects(y)
    if y.dtype.kind in "fc":
        assert_all_finite(y, input_name="y")
    if y.dtype.kind not in "iubU":  # integers and strings are labels whatever they are
        check_classification_targets(y)
    return y


def check_objects(y: np.ndarray) -> None:
    """ValueError for a missing label, TypeError where only some are strings."""
    texts = np.fromiter((isinstance(label, str) for label in y), np.bool_, len(y))
    for row in np.flatnonzero(~texts):
        if str(y[row]) in MISSING:
            raise ValueError(
                f"y contains {y[row]} in row {row}, which is not a label. Leave out rows that "
                "have none."
            )
    if texts.any() and not texts.all():
        other = int(np.argmin(texts))
        raise TypeError(
            f"Some labels are strings, but that of row {other} is {y[other]!r}. Make all "
            "of them strings or all of them whole numbers."
        )


def labels_of(estimator: Any, table: Table) -> np.ndarray:
    """The labels of a table. Reads no rows."""
    blocks = table.blocks
    if not blocks or any(
        not isinstance(block, BatchRows) or block.labels is None for block in blocks
    ):
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Give labels as y, or a Table with them: table.with_labels(y)."
        )
    return np.concatenate([block.labels.load() for block in blocks])


def encode(y: np.ndarray, classes: np.ndarray | None, name: str) -> Codes:
    """The codes of labels; ValueError for one that is not among the ``classes``."""
    encoded = codes_of(y, name=name)
    if classes is None:
        return encoded
    place = np.minimum(np.searchsorted(classes, encoded.names), len(classes) - 1)
    unknown = encoded.names[classes[place] != encoded.names]
    if len(unknown):
        raise ValueError(
            f"{name} was given the label {unknown.tolist()[0]!r}, which is not among its "
            f"classes {classes.tolist()[:10]}. List all in the first call of partial_fit."
        )
    codes = place[encoded.codes].astype(np.int32)
    return Codes(codes, classes, np.bincount(codes, minlength=len(classes)))


def check_factors(factors: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Class weights; ValueError unless they are finite and not negative."""
    bad = np.flatnonzero(~((factors >= 0) & np.isfinite(factors)))
    if len(bad):
        raise ValueError(
            f"class_weight gives the class {classes[bad].tolist()[0]!r} a weight of "
            f"{factors[bad[0]]:g}. Give finite weights of at least 0."
        )
    return factors


def check_two_classes(estimator: Any, classes: np.ndarray) -> None:
    """ValueError for fewer than two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least 2 classes to tell apart, but the "
            f"labels have only one class, {classes.tolist()[0]!r}. Give rows of another."
        )


def row_weights(estimator: Any, labeled: Labeled) -> np.ndarray:
    """The sample weight of every row times the weight of its class. Reads no rows."""
    table, classes = labeled
    codes = np.concatenate([block.labels.load() for block in table])
    weights = np.ones(len(codes))
    if table.blocks[0].weights is not None:
        weights = np.concatenate([block.weights.load() for block in table])
    if estimator.class_weight is not None:
        balanced = estimator.class_weight == "balanced"
        factors = compute_class_weight(
            estimator.class_weight, classes=classes, y=classes[codes],
            **({"sample_weight": weights} if balanced else {}),
        )  # fmt: skip
        weights = weights * check_factors(factors, classes)[codes]
    if not weights.sum() > 0:
        raise ValueError(
            f"{type(estimator).__name__} was given weights that are all zero. Give at least "
            "one row a positive weight."
        )
    return weights


def in_memory(table: Table) -> Batch:
    """All rows of a table in memory, with their labels and weights."""
    block = table.blocks[0]
    weights = None if block.weights is None else block.weights.array
    return Batch(table.load(), block.labels.array, weights)


def check_partial(
    estimator: Any,
    X: Any,
    y: Any,
    classes: Any,
    sample_weight: Any = None,
    *,
    dtypes: Sequence[type] = FLOATS,
) -> tuple[bool, Labeled]:
    """Rows and labels of a ``partial_fit``, and whether it is the first.

    The first call names the classes, later ones may repeat them.
    """
    name = type(estimator).__name__
    if getattr(estimator, "class_weight", None) == "balanced":
        raise ValueError(
            "class_weight='balanced' is not supported for partial_fit, which has not seen all "
            "rows. Give a dict of weights."
        )
    first = not hasattr(estimator, "classes_")
    if first and classes is None:
        raise ValueError(
            f"classes must be passed on the first call to partial_fit of {name}: all labels "
            "that will ever come. Give classes=np.unique(labels)."
        )
    if classes is not None:
        classes = np.unique(np.asarray(classes))
        if not first and not np.array_equal(classes, estimator.classes_):
            raise ValueError(
                f"{name}.partial_fit was given classes={classes.tolist()[:10]}, but began with "
                f"{estimator.classes_.tolist()[:10]}. Leave classes out after the first call."
            )
    known = classes if first else estimator.classes_
    return first, check_labeled(
        estimator, X, y, sample_weight, classes=known, reset=first, dtypes=dtypes
    )


class RowByRow(Sequential):
    """Passes over the rows of a labeled table: those in memory are shuffled together, those of
    a file block by block and within blocks."""

    def __init__(self, table: Table, seed: Any, name: str, *, shuffle: bool = True) -> None:
        self.table, self.seed, self.name, self.shuffle = table, seed, name, shuffle
        self.batch: Batch | None = None  # all rows, in memory
        if table.in_memory:
            rows, codes, weights = in_memory(table)
            self.batch = Batch(csr_arrays(rows, name), codes, weights)

    def rounds(self, number: int) -> Iterable[Sequence[int]]:
        """One block after another; rows in memory are one block."""
        blocks = len(self.table.blocks) if self.batch is None else 1
        return [[int(b)] for b in self._order(blocks, number)]

    def visit(self, state: Any, part: int, number: int) -> Any:
        """Visit the rows of a block, in their order."""
        rows, codes, weights = self.batch or parts(self.table.blocks[part].load())
        csr = rows if isinstance(rows, Csr) else csr_arrays(rows, self.name)
        order = self._order(len(codes), number, part)
        return self.visit_rows(state, csr, codes, weights, order, number)

    def visit_rows(
        self, state: Any, rows: Csr, codes: np.ndarray, weights: np.ndarray | None,
        order: np.ndarray, number: int,
    ) -> Visited:  # fmt: skip
        """Change the state by these rows."""
        raise NotImplementedError

    def _order(self, n: int, *items: int) -> np.ndarray:
        return permutation(key(self.seed, *items), n) if self.shuffle else np.arange(n)

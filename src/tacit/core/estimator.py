"""What every estimator of Tacit shares: scikit-learn's conventions, model files, callbacks.

``contract`` names the driver of a fit, and with it where the rows may be and which engines can
run it (``core.contract``).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, FitCallback
from sklearn.utils._param_validation import make_constraint
from sklearn.utils.validation import _check_sample_weight, validate_data

from tacit.core.kernel import kernel
from tacit.core.modelfile import Saved
from tacit.core.progress import Callback, Step

__all__ = ["Estimator", "check_rows", "check_weights"]


class Estimator(Saved, CallbackSupportMixin, BaseEstimator):
    """Base class of the models."""

    contract: ClassVar[str] = "summable"
    _takes_text: ClassVar[bool] = False  # documents, not rows of numbers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._takes_text:
            tags.input_tags.string, tags.input_tags.two_d_array = True, False
            tags.no_validation = True
        return tags

    def _validate_params(self) -> None:
        """As in scikit-learn, which rebuilds the constraints in every call. Ours are cached;
        scikit-learn is called only for its error message."""
        kind: Any = type(self)
        for name, constraints in constraints_of(kind):
            value = getattr(self, name)
            if not any(each.is_satisfied_by(value) for each in constraints):
                super()._validate_params()

    @contextmanager
    def _fit_callbacks(self) -> Iterator[list[Callback]]:
        """The callbacks of one fit: ours, and scikit-learn's wrapped as ours.

        scikit-learn's come from ``set_callbacks`` or stand among ``callbacks``; they see the
        fit as a task with one subtask per step. Whatever ends the fit, callbacks are closed.
        """
        callbacks = list(getattr(self, "callbacks", None) or ())
        theirs = [each for each in callbacks if isinstance(each, FitCallback)]
        ours: list[Callback] = [each for each in callbacks if each not in theirs]
        earlier = getattr(self, "_skl_callbacks", None)
        if not (theirs or earlier or hasattr(self, "_parent_callback_ctx")):
            with closing_all(ours):
                yield ours
            return
        if theirs:
            self._skl_callbacks = [*(earlier or ()), *theirs]
        try:
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self)
            with closing_all(ours):
                yield [*ours, SklearnRelay(self, context)]
            context.call_on_fit_task_end(estimator=self)
        finally:
            if theirs and earlier is not None:
                self._skl_callbacks = earlier
            elif theirs:
                del self._skl_callbacks


@cache
def constraints_of(kind: Any) -> list[tuple[str, list[Any]]]:
    """The parameters of a class that have constraints, and these."""
    known = {name: kind._parameter_constraints.get(name) for name in kind._get_param_names()}
    return [
        (name, [make_constraint(each) for each in constraints])
        for name, constraints in known.items()
        if constraints not in (None, "no_validation")
    ]


@contextmanager
def closing_all(callbacks: list) -> Iterator[None]:
    """Close callbacks at the end: bars are removed, checkpoints written."""
    try:
        yield
    finally:
        for callback in callbacks:
            getattr(callback, "close", lambda: None)()


class SklearnRelay:
    """Passes our steps on to scikit-learn's callback objects."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self.estimator, self.context = estimator, context

    def on_step(self, step: Step) -> bool:
        task = self.context.subcontext(task_name=f"pass {step.number}")
        task.call_on_fit_task_begin(estimator=self.estimator)
        return bool(task.call_on_fit_task_end(estimator=self.estimator))


def check_rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    dtypes: Sequence[type] = (np.float64, np.float32),
    sparse: bool = True,
    finite: bool = False,
    distinct: bool = True,
) -> Any:
    """X as a C-ordered float array or, with ``sparse``, a CSR matrix.

    Values are not checked unless ``finite``: most models do that in their first pass. With
    ``distinct`` duplicate entries of one cell are added up; models that only ever sum entries
    can skip that.
    """
    if reset and sparse and not finite and is_ready(X, dtypes):
        estimator.n_features_in_ = X.shape[1]
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    else:
        X = validate_data(
            estimator,
            X,
            dtype=list(dtypes),
            order="C",
            accept_sparse="csr" if sparse else False,
            ensure_all_finite=finite,
            reset=reset,
        )
    if sp.issparse(X):
        if distinct and repeats_cells(X):  # two entries for one cell would be two values
            X = X.copy()
            X.sum_duplicates()
        if X.indices.dtype != X.indptr.dtype:
            X.indptr = X.indptr.astype(X.indices.dtype)
    return X


def is_ready(X: Any, dtypes: Sequence[type]) -> bool:
    """Whether scikit-learn would accept X as it is: its own check takes longer than a small
    fit."""
    csr = type(X) in (sp.csr_array, sp.csr_matrix) and X.ndim == 2
    return csr and X.dtype in dtypes and min(X.shape) > 0


def repeats_cells(X: Any) -> bool:
    """Whether a CSR matrix holds several entries for one cell. They need not be sorted."""
    if X.has_sorted_indices:
        return not X.has_canonical_format
    return bool(has_repeats(X.indices, X.indptr, X.shape[1]))


@kernel
def has_repeats(indices: Any, indptr: Any, width: int) -> bool:
    latest = np.full(width, -1, np.int64)
    for i in range(indptr.shape[0] - 1):
        for t in range(indptr[i], indptr[i + 1]):
            if latest[indices[t]] == i:
                return True
            latest[indices[t]] = i
    return False


def check_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Weights as float64, or None where all rows count once."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return np.ascontiguousarray(weights)

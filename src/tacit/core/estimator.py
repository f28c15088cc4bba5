"""The base of every estimator: scikit-learn's conventions, model files, callbacks.

``contract`` names the driver of a fit, and with it where the rows may be and which engines can
run it: ``CONTRACTS``. The drivers are ``engine.reduce`` (one pass), ``iterate`` and
``iterate_online`` (``core.loop``), ``minimize`` (``core.minimize``) and ``sweep``
(``core.sweep``); a ``whole`` model has none.

Estimators accept all parameters of scikit-learn's classes of the same name. Those that change
nothing here are listed in ``_no_effect`` with the reason; a value other than the default is
answered by one warning per process.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import sklearn.callback
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, FitCallback
from sklearn.utils.validation import _check_sample_weight

from tacit.core.engines import Dask, Engine, Threads, get_engine
from tacit.core.modelfile import Saved
from tacit.core.progress import Callback, Progress, Step, closing

__all__ = [
    "CONTRACTS", "N_JOBS", "Contract", "Estimator", "check_weights", "engine_for",
    "with_callbacks",
]  # fmt: skip

# Why scikit-learn's n_jobs has no effect.
N_JOBS = "engine=Threads(n) sets the number of threads, and the result does not depend on it"

WARNED: set[tuple[type, str]] = set()  # parameters without effect, once per process
Fit = TypeVar("Fit", bound=Callable[..., Any])


class Contract(NamedTuple):
    """What a kind of fit promises and needs."""

    drivers: tuple[str, ...]
    streams: bool  # rows may stay on disk, read block by block
    travels: bool  # blocks may be worked on in other processes
    why: str  # for docs and error messages


CONTRACTS: dict[str, Contract] = {
    "summable": Contract(
        ("reduce", "iterate", "minimize"), True, True, "a pass is a sum over blocks of rows"
    ),
    "online": Contract(
        ("iterate_online",), True, False, "the params are updated after every block"
    ),
    "sequential": Contract(
        ("sweep",), True, False, "every visit changes the state that the next one reads"
    ),
    "whole": Contract((), False, False, "all rows are compared with each other"),
}


def engine_for(estimator: Any) -> Engine:
    """The engine of an estimator, as its contract allows.

    A cluster cannot share memory with the caller, so a fit that changes one state in place
    runs in threads of this process instead; the bits are the same.
    """
    engine = get_engine(getattr(estimator, "engine", "serial"))
    if isinstance(engine, Dask) and not CONTRACTS[estimator.contract].travels:
        return Threads()
    return engine


@cache
def parameters_of(kind: type) -> Mapping[str, inspect.Parameter]:
    """The parameters of a class. Reading them takes a part of a small fit, so it is cached."""
    return inspect.signature(kind).parameters


class Estimator(Saved, CallbackSupportMixin, BaseEstimator):
    """Base class of the models."""

    contract: ClassVar[str] = "summable"
    _takes_text: ClassVar[bool] = False  # documents, not rows of numbers
    _no_effect: ClassVar[dict[str, str]] = {}  # parameters and why, see above

    def __init_subclass__(cls, **options: Any) -> None:
        """Parameters without constraints are not validated; scikit-learn wants them listed."""
        super().__init_subclass__(**options)
        constraints = getattr(cls, "_parameter_constraints", None)
        if constraints is not None:
            free = dict.fromkeys(cls._get_param_names(), "no_validation")
            cls._parameter_constraints = {**free, **constraints}

    @classmethod
    def _get_param_names(cls) -> list[str]:
        kind: Any = cls
        return sorted(parameters_of(kind))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._takes_text:
            tags.input_tags.string, tags.input_tags.two_d_array = True, False
            tags.no_validation = True
        return tags

    def _validate_params(self) -> None:
        super()._validate_params()
        kind: Any = type(self)
        for name, reason in self._no_effect.items():
            value, default = getattr(self, name), parameters_of(kind)[name].default
            same = value is default or (type(value) is type(default) and value == default)
            if not same and (kind, name) not in WARNED:
                WARNED.add((kind, name))
                what = f"{kind.__name__}({name}={value!r})"
                warnings.warn(f"{what} has no effect: {reason}.", stacklevel=4)

    @contextmanager
    def _fit_callbacks(self) -> Iterator[list[Callback]]:
        """The callbacks of one fit; those of scikit-learn are wrapped as ours.

        scikit-learn's come from ``set_callbacks`` or stand among ``callbacks``; they see the
        fit as a task with one subtask per step. Whatever ends the fit, callbacks are closed.
        """
        every = list(getattr(self, "callbacks", None) or ())
        foreign = [callback for callback in every if isinstance(callback, FitCallback)]
        callbacks: list[Callback] = [callback for callback in every if callback not in foreign]
        if getattr(self, "verbose", 0):
            callbacks.append(Progress())
        earlier = getattr(self, "_skl_callbacks", None)
        if not (foreign or earlier or hasattr(self, "_parent_callback_ctx")):
            with closing(callbacks):
                yield callbacks
            return
        if foreign:
            self._skl_callbacks = [*(earlier or ()), *foreign]
        try:
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self)
            with closing(callbacks):
                yield [*callbacks, SklearnRelay(self, context)]
            context.call_on_fit_task_end(estimator=self)
        finally:
            if foreign and earlier is not None:
                self._skl_callbacks = earlier
            elif foreign:
                del self._skl_callbacks


def with_callbacks(fit: Fit) -> Fit:
    """scikit-learn's decorator of ``fit``; type checkers see the method that it decorates."""
    decorated: Any = sklearn.callback.with_callbacks(fit)
    return decorated


class SklearnRelay:
    """Passes our steps on to scikit-learn's callback objects."""

    def __init__(self, estimator: Any, context: Any) -> None:
        self.estimator, self.context = estimator, context

    def on_step(self, step: Step) -> bool:
        task = self.context.subcontext(task_name=f"pass {step.number}")
        task.call_on_fit_task_begin(estimator=self.estimator)
        return bool(task.call_on_fit_task_end(estimator=self.estimator))


def check_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Weights as float64, or None where all rows count once."""
    if sample_weight is None:
        return None
    try:
        weights = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    except OverflowError:
        raise ValueError("sample_weight holds a whole number too large for a float.") from None
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"sample_weight is as large as {weights.max():.3g}, so that the sum overflows. "
            "Divide the weights by that number."
        )
    return np.ascontiguousarray(weights)

"""The base class of linear classifiers: scores that are sums of weights.

The score of class y for row x is w_y . x + b_y, the class with the highest score wins, a tie
goes to the first. Weights are (v, k): those of one feature are contiguous, so that a word costs
few cache lines. With two classes there may be one column, the weights of the second class
against the first.

    csr_arrays       the rows of a block as the three arrays that kernels take, of fixed types
    scores           (n, k) scores of a block
    LinearClassifier decision_function, predict, coef_, top_features, explain
    explain          why a document was put into its class, in words and numbers

A score is a sum, so a decision comes apart without remainder: every word adds its value times
the difference of its weights for the winner and for the runner-up, the intercepts add theirs,
and together they are the lead of the winner.

The notes' chapter on linear classification writes the same as theta . f(x, y), where f(x, y)
holds x and an offset of 1 in the place of class y and zeros elsewhere. ``labeled_rows``
validates the rows and labels of a fit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils._sparse import _align_api_if_sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator
from tacit.data.bad_values import check_values
from tacit.data.checked import NUMBERS, check_rows, check_table
from tacit.data.table import parts

__all__ = [
    "Csr", "Explanation", "LinearClassifier", "Scorer", "check_finite", "check_listed",
    "csr_arrays", "csr_matrix", "csr_rows", "explain", "scores", "top_classes",
]  # fmt: skip


class Csr(NamedTuple):
    """The rows of a block in the types that kernels are compiled for."""

    indptr: np.ndarray  # int64
    indices: np.ndarray  # int32
    data: np.ndarray  # float64


class Scorer(NamedTuple):
    """Params of a pass that scores rows."""

    weights: np.ndarray  # (v, k)
    intercept: np.ndarray  # (k,)


# --- Blocks ---


def csr_rows(rows: Any) -> Any:
    """Rows of a block as CSR; zeros of a dense block are left out."""
    return rows if sp.issparse(rows) else sp.csr_array(rows)


def csr_arrays(rows: Any, name: str = "fit") -> Csr:
    """The arrays of a block. All values must be finite."""
    rows = csr_rows(rows)
    check_finite(rows, name)
    return Csr(
        np.asarray(rows.indptr, np.int64),
        np.asarray(rows.indices, np.int32),
        np.asarray(rows.data, np.float64),
    )


def csr_matrix(rows: Any, name: str = "fit") -> sp.csr_array:
    """The same as a matrix."""
    csr = csr_arrays(rows, name)
    matrix = sp.csr_array(rows.shape)
    matrix.data, matrix.indices, matrix.indptr = csr.data, csr.indices, csr.indptr
    return matrix


def check_finite(rows: Any, name: str) -> None:
    """Raise an error for values that are not finite; it names the first."""
    values = rows.data if sp.issparse(rows) else rows
    if values.dtype.kind == "f" and not np.isfinite(values.sum(dtype=np.float64)):
        check_values(rows, name)  # the sum may also be too large


def scores(params: Any, block: Any) -> np.ndarray:
    """(n, k) scores of a block's rows, for params with ``weights`` and ``intercept``."""
    rows = parts(block).rows
    check_finite(rows, "predict")
    with np.errstate(over="ignore", invalid="ignore"):
        table = np.asarray(rows @ params.weights, np.float64) + params.intercept
    if not np.isfinite(table.sum()):
        check_scores(table, params)
    return table


def check_scores(table: np.ndarray, params: Any) -> None:
    """ValueError where the values were so large that a score overflowed. Minus infinity is the
    score of a class that a weight of minus infinity rules out."""
    ruled_out = np.isneginf(params.weights).any() or np.isneginf(params.intercept).any()
    overflows = np.isnan(table) | np.isposinf(table) if ruled_out else ~np.isfinite(table)
    if overflows.any():
        raise ValueError("predict: the values of X are so large that scores overflow. Rescale "
                         "the columns.")  # fmt: skip


def top_classes(params: Any, block: Any) -> np.ndarray:
    """The code of each row's class: its highest score, the first of equals; for one column,
    whether it is above 0."""
    table = scores(params, block)
    return table[:, 0] > 0 if table.shape[1] == 1 else table.argmax(axis=1)


# --- The base class ---


def check_columns(n_classes: int, columns: int) -> None:
    """ValueError where weights cannot be those of so many classes."""
    if columns != n_classes and not (columns == 1 and n_classes <= 2):
        raise ValueError(f"{n_classes} classes do not fit {columns} columns of weights.")


class LinearClassifier(ClassifierMixin, Estimator):
    """Base class: a fit sets ``classes_``, ``weights_`` (v, k) and ``intercept_`` (k,).

    With two classes ``weights_`` has one column, the second class against the first, or
    two. Subclasses may take an ``engine``; scoring runs there.
    """

    classes_: np.ndarray
    weights_: np.ndarray
    intercept_: np.ndarray

    _decides: ClassVar[bool] = True  # has decision_function; naive Bayes, as elsewhere, not
    _distinct: ClassVar[bool] = False  # whether duplicate entries are summed first
    _file_schema: ClassVar[dict] = {
        "classes_": ("n_classes",),
        "weights_": ("n_features_in_", "columns"),
        "intercept_": ("columns",),
    }
    _file_kinds: ClassVar[dict] = {"weights_": "f", "intercept_": "f"}

    def _after_load(self) -> None:
        check_columns(len(self.classes_), len(self.intercept_))

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest score; a tie goes to the first."""
        codes = np.concatenate(list(self._map_blocks(top_classes, X)))
        if len(self.classes_) == 1:  # whatever its score
            codes[:] = 0
        return self.classes_[codes.astype(np.intp, copy=False)]

    @available_if(lambda self: self._decides)
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: (n, k), or with two classes (n,), that of the second against the first."""
        table = np.concatenate(list(self._map_blocks(scores, X)))
        if len(self.classes_) != 2:
            return table
        return table[:, 0] if table.shape[1] == 1 else table[:, 1] - table[:, 0]

    @property
    def coef_(self) -> np.ndarray:
        """The weights as scikit-learn lays them out: (k, v), or (1, v) with two classes."""
        check_is_fitted(self)
        two = self.weights_.shape[1] == 2
        rows = (self.weights_[:, 1:] - self.weights_[:, :1] if two else self.weights_).T
        sparse = getattr(self, "_sparse_coef", False)
        return _align_api_if_sparse(sp.csr_array(rows)) if sparse else rows

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self._sparse_coef = sp.issparse(value)
        rows = np.atleast_2d(value.toarray() if sp.issparse(value) else np.asarray(value))
        self.weights_ = np.ascontiguousarray(rows.T)

    def sparsify(self) -> Self:
        """Give ``coef_`` as a sparse matrix from now on, which is small where many weights are
        zero. Predictions do not change."""
        check_is_fitted(self)
        self._sparse_coef = True
        return self

    def densify(self) -> Self:
        """Give ``coef_`` as an array again."""
        check_is_fitted(self)
        self._sparse_coef = False
        return self

    def top_features(
        self, class_: Any, *, n: int | None = 10, names: Sequence[str] | None = None
    ) -> list[tuple[Any, float]]:
        """The ``n`` features that speak most for a class, or with None all, with weights.

        A weight here is that of the class less the mean of the other classes; ``names`` are
        those of the columns, as a vectorizer's ``get_feature_names_out`` returns them. Of
        equal weights the lower column comes first.
        """
        check_is_fitted(self)
        check_listed(n, "top_features")
        self._check_two_classes()
        code, weights = self._code(class_), both_columns(self.weights_)
        others = (weights.sum(axis=1) - weights[:, code]) / (weights.shape[1] - 1)
        weights = weights[:, code] - others
        order = np.argsort(-weights, kind="stable")[:n]
        return [(named(names, j), float(weights[j])) for j in order]

    def explain(
        self,
        X: Any,
        *,
        class_: Any = None,
        against: Any = None,
        n: int | None = 10,
        names: Sequence[str] | None = None,
    ) -> list[tuple[Any, float]]:
        """The features of one row that pushed the decision, and by how much.

        A push is the value of the feature times the difference of two weights: those of
        ``class_`` (the predicted one) and of ``against`` (the runner-up). Pushes add up,
        with the difference of the intercepts, to the difference of the scores. The ``n``
        strongest are listed, or with None all; of equals the lower column comes first.
        """
        check_listed(n)
        rows = sp.csr_array(csr_rows(check_rows(self, X, reset=False, finite=True)))
        if rows.shape[0] != 1:
            raise ValueError(f"explain takes one row, but X has {rows.shape[0]}. Give X[[i]].")
        self._check_two_classes()
        winner, rival = best_two(np.concatenate(list(self._map_blocks(scores, rows)))[0])
        winner = winner if class_ is None else self._code(class_)
        if against is not None:
            rival = self._code(against)
        elif winner == rival:
            rival = int(winner == 0)
        weights = both_columns(self.weights_)
        j = rows.indices
        pushes = rows.data * (weights[j, winner] - weights[j, rival])
        order = np.lexsort((j, -np.abs(pushes)))[:n]
        return [(named(names, j[i]), float(pushes[i])) for i in order]

    def _map_blocks(self, function: Any, X: Any) -> Iterator[np.ndarray]:
        """``scores`` or ``top_classes`` of the blocks of X."""
        check_is_fitted(self)
        table = check_table(self, X, reset=False, dtypes=NUMBERS, distinct=self._distinct)
        engine = get_engine(getattr(self, "engine", "serial"))
        # float32 weights too are scored in float64, so that kernels compile once.
        weights = np.asarray(self.weights_, np.float64)
        scorer = Scorer(weights, np.asarray(self.intercept_, np.float64))
        return engine.map(function, scorer, table)

    def _code(self, class_: Any) -> int:
        codes = np.flatnonzero(self.classes_ == class_)
        if len(codes) != 1:
            raise ValueError(
                f"{type(self).__name__} knows no class {np.asarray(class_).tolist()!r}; it "
                f"knows {self.classes_.tolist()[:20]}."
            )
        return int(codes[0])

    def _check_two_classes(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                f"There is only the class {self.classes_.tolist()[0]!r}: nothing decided."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def best_two(scores: np.ndarray) -> tuple[int, int]:
    """The classes with the two highest scores; of equals the first, as in ``predict``."""
    scores = scores if len(scores) > 1 else np.array([0.0, scores[0]])
    best, second = np.argsort(-scores, kind="stable")[:2]
    return int(best), int(second)


def both_columns(weights: np.ndarray) -> np.ndarray:
    """A column for every class."""
    if weights.shape[1] > 1:
        return weights
    return np.hstack([np.zeros_like(weights), weights])


def check_listed(n: int | None, method: str = "explain") -> None:
    """ValueError for a negative number of words, which would leave out the last ones."""
    if n is not None and n < 0:
        raise ValueError(f"{method}(n={n}) lists n words. Give at least 0, or None for all.")


def named(names: Sequence[str] | None, column: int) -> Any:
    return int(column) if names is None else str(names[column])


# --- Explanations ---


@dataclass(frozen=True)
class Explanation:
    """What pushed a decision: ``offset`` and all pushes add up to ``lead``."""

    class_: Any
    against: Any  # the runner-up
    lead: float  # the score of the winner less that of the runner-up
    offset: float  # the part of it that comes from the intercepts
    pushes: tuple[tuple[Any, float], ...]  # the strongest first
    rest: float  # the sum of the pushes that are not listed

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.class_}, ahead of {self.against} by {self.lead:.3g}"]
        lines += [f"{push:+9.3f}  {word}" for word, push in self.pushes]
        if self.rest:
            lines.append(f"{self.rest:+9.3f}  (other terms)")
        if self.offset:
            lines.append(f"{self.offset:+9.3f}  (intercept)")
        return "\n".join(lines)


def explain(
    model: Any, vectorizer_or_names: Any, document: Any, *, n: int | None = 10
) -> Explanation:
    """Say which words of a document pushed the decision of a classifier, and by how much.

    Parameters
    ----------
    model : fitted classifier
        A linear one of ``tacit.classify``, a LexiconClassifier, a TextClassifier, or a
        scikit-learn Pipeline that ends in one of the first kind.
    vectorizer_or_names : fitted vectorizer, sequence of str or None
        What turned documents into rows; or the names of the columns, the document is a row
        then. None where the model reads text itself.
    document : str, or one row
    n : int or None
        How many words to list; None for all.

    Examples
    --------
    >>> from tacit.classify import MultinomialNB
    >>> from tacit.text import CountVectorizer
    >>> texts = ["win money now", "money money", "lunch now", "lunch at noon"]
    >>> words = CountVectorizer().fit(texts)
    >>> model = MultinomialNB().fit(words.transform(texts), ["spam", "spam", "ham", "ham"])
    >>> print(explain(model, words, "money at lunch", n=2))
    ham, ahead of spam by 0.405
       -1.386  money
       +1.099  lunch
       +0.693  (other terms)
    """
    check_listed(n)
    if isinstance(model, Pipeline):
        if vectorizer_or_names is None:
            vectorizer_or_names = model[:-1]
        model = model[-1]
    if hasattr(model, "mentions") or hasattr(model, "classifier_"):  # these read text
        pushes = model.explain(document, n=None)
        scores = scores_of(model, [document])
    else:
        row, names = as_row(vectorizer_or_names, document)
        pushes = model.explain(row, n=None, names=names)
        scores = scores_of(model, row)
    winner, rival = best_two(scores)
    lead = float(scores[winner] - scores[rival])
    listed = pushes if n is None else pushes[:n]
    rest = float(sum(push for _, push in pushes[len(listed) :]))
    offset = lead - float(sum(push for _, push in pushes))
    if abs(offset) < 1e-12 * max(1.0, abs(lead), *(abs(push) for _, push in pushes)):
        offset = 0.0
    classes = model.classes_
    won, lost = (c.item() if hasattr(c, "item") else c for c in classes[[winner, rival]])
    return Explanation(won, lost, lead, offset, tuple(listed), rest)


def scores_of(model: Any, rows: Any) -> np.ndarray:
    """One score for every class, up to a constant."""
    if hasattr(model, "decision_function"):
        scores = np.atleast_1d(model.decision_function(rows)[0])
        return scores if len(scores) > 1 else np.array([0.0, scores[0]])
    return model.predict_log_proba(rows)[0]


def as_row(vectorizer_or_names: Any, document: Any) -> tuple[Any, Sequence[str] | None]:
    """The document as one row, and the names of the columns."""
    if hasattr(vectorizer_or_names, "transform"):
        if not isinstance(document, str):
            raise TypeError(
                f"explain with a vectorizer takes the document as a str, but was given "
                f"{type(document).__name__}. Give its text, or the names of the columns "
                "instead of the vectorizer."
            )
        names = vectorizer_or_names.get_feature_names_out()
        return vectorizer_or_names.transform([document]), names
    if isinstance(document, str):
        raise TypeError(
            "explain was given a text but no vectorizer to turn it into a row. Give the "
            "fitted vectorizer as the second argument."
        )
    row = document if sp.issparse(document) else np.atleast_2d(np.asarray(document))
    names = vectorizer_or_names
    if names is not None and len(names) != row.shape[1]:
        raise ValueError(
            f"explain was given {len(names)} names for {row.shape[1]} columns. Give one for "
            "each column."
        )
    return row, names

"""Rows that no model can use: refused in a sentence, never a crash, never NaN in a result."""

import re
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils._tags import get_tags
from sklearn.utils.validation import has_fit_parameter

import tacit
from tacit.classify import MultinomialNB
from tacit.cluster import (
    AgglomerativeClustering,
    KMeans,
    choose_k,
    describe,
    linkage,
    stability,
)
from tacit.core import ModelFileError
from tacit.core.registry import REGISTRY, find_class
from tacit.data import Ratings, Table
from tacit.decompose import dimension
from tacit.language import CacheModel, ClassModel, MixedModel, NGramModel
from tacit.measure import by_task, cross_predict, davies_bouldin_score, silhouette_score
from tacit.topics import choose_topics
from tacit.topics.topic_files import pyldavis_data
from tests.contract.cases import ESTIMATORS, TEXTS, case_name, targets, with_params
from tests.data.test_sparse_structure import broken_matrices

ROWS = np.abs(np.random.default_rng(0).normal(size=(40, 3))) + 0.1
UNUSABLE = {
    "dates": (ROWS * 1e10).astype("datetime64[s]"),
    "durations": (ROWS * 1e10).astype("timedelta64[s]"),
    "complex": ROWS + 1j,
    "huge integers": [[10**400, 1, 2], *[[1, 2, 3]] * 20],
}
SIGNS = np.where(np.random.default_rng(1).random(ROWS.shape) < 0.5, -1, 1)
EXTREME = {
    "the largest": np.full(ROWS.shape, np.finfo(np.float64).max),
    "the largest, of both signs": SIGNS * np.finfo(np.float64).max,
    "the largest in float32": np.full(ROWS.shape, np.finfo(np.float32).max),
    "1e307": ROWS * 1e307,
    "1e200": ROWS * 1e200,
    "1e155": ROWS * 1e155,
    "1e60": ROWS * 1e60,
    "1e-155": ROWS * 1e-155,
    "columns of three scales": ROWS * [1e300, 1, 1e-300],
    "one of 1e308": np.where(np.arange(120).reshape(40, 3) == 50, 1e308, ROWS),
    "1e38 in sparse float32": sp.csr_array(np.where(ROWS > 0.5, ROWS, 0) * 1e38, dtype="f4"),
    "1e200 in sparse rows": sp.csr_array(np.where(ROWS > 0.5, ROWS, 0) * 1e200),
    "subnormal": ROWS * 1.5e-323,
    "1e38 in float32": (ROWS * 1e38).astype(np.float32),
}
LOGARITHMS = ["predict_log_proba", "score_samples"]
ANSWERS = ["predict_proba", "predict_log_proba", "decision_function", "transform",
           "score_samples", "membership", "perplexity", "reconstruction_errors"]  # fmt: skip


def fit(estimator, X, **more):
    model = with_params(estimator, engine="serial", max_iter=5)
    y = None if targets(model, ROWS) is None else np.arange(len(X)) % 3
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return model.fit(X, **more) if y is None else model.fit(X, y, **more)


def not_finite(model):
    """The public results that are not finite, apart from those where that has a meaning."""
    undefined = getattr(type(model), "_file_nonfinite", ())
    for name, value in vars(model).items():
        known = name.endswith("_") and name not in undefined
        if known and isinstance(value, np.ndarray | float):
            array = np.asarray(value)
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                yield name


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=case_name)
def test_unusable_rows_are_refused_in_a_sentence(estimator):
    for kind, X in UNUSABLE.items():
        with pytest.raises((ValueError, TypeError)) as error:
            fit(estimator, X)
        assert len(str(error.value)) > 20, kind


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=case_name)
def test_numbers_that_no_float_holds_are_refused_by_every_method(estimator):
    model = fit(estimator, ROWS)
    for name in [*ANSWERS, "predict", "inverse_transform"]:
        if hasattr(model, name):
            with pytest.raises((ValueError, TypeError)):
                getattr(model, name)(UNUSABLE["huge integers"])


@pytest.mark.parametrize("model", ["a", 3, None, KMeans(2), CacheModel(None)])
def test_what_is_no_language_model_is_refused(model):
    with pytest.raises(TypeError, match="MixedModel takes NGramModels and ClassModels"):
        MixedModel([model]).fit(TEXTS)
    with pytest.raises(TypeError, match="CacheModel takes an NGramModel"):
        CacheModel(model).fit(TEXTS)


def test_a_model_of_classes_is_mixed_but_not_cached(tmp_path):
    with pytest.raises(NotFittedError):
        MixedModel([ClassModel()]).fit(TEXTS)
    classes = ClassModel(n_clusters=3).fit(TEXTS)
    assert MixedModel([classes]).fit(TEXTS).weights_ == pytest.approx([1])
    with pytest.raises(TypeError, match="CacheModel takes an NGramModel"):
        CacheModel(classes).fit(TEXTS)
    cache = CacheModel(NGramModel(2).fit(TEXTS)).fit(TEXTS)
    cache.model = classes  # as a file that was changed on purpose may have it
    cache.save(tmp_path / "cache.safetensors")
    with pytest.raises(ModelFileError, match="CacheModel takes an NGramModel"):
        tacit.load(tmp_path / "cache.safetensors")


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=case_name)
def test_an_answer_about_an_infinite_value_is_refused_with_its_row_and_column(estimator):
    model, X = fit(estimator, ROWS), ROWS.copy()
    X[7, 2] = np.inf
    for name in [*ANSWERS, "predict"]:
        if hasattr(model, name):
            with pytest.raises(ValueError, match=r"row 7, column 2"):
                getattr(model, name)(X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=case_name)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_reported_with_its_row_and_column(estimator, value):
    tags = get_tags(estimator)
    if np.isnan(value) and tags.input_tags.allow_nan:
        pytest.skip("missing values are allowed")
    X = ROWS.copy()
    X[7, 2] = value
    with pytest.raises(ValueError, match=r"row 7, column 2"):
        fit(estimator, X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=case_name)
def test_extreme_rows_are_refused_or_give_finite_results(estimator):
    for kind, X in EXTREME.items():
        try:
            model = fit(estimator, X)
        except (ValueError, TypeError):
            continue
        assert list(not_finite(model)) == [], kind


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=case_name)
def test_answers_about_extreme_rows_are_finite_or_refused(estimator):
    model = fit(estimator, ROWS)
    for kind, X in EXTREME.items():
        for name in ANSWERS:
            if not hasattr(model, name):
                continue
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    answer = getattr(model, name)(X)
            except (ValueError, TypeError):
                continue
            values = answer.data if sp.issparse(answer) else np.asarray(answer)
            # The logarithm of a probability may be too low for a number.
            allowed = np.isneginf(values) if name in LOGARITHMS else False
            assert (np.isfinite(values) | allowed).all(), (kind, name)


FEW = {"no rows": ROWS[:0], "two rows": ROWS[:2], "no columns": ROWS[:, :0]}
NOT_FINITE = {str(value): np.where(ROWS > 1, value, ROWS) for value in (np.nan, np.inf)}
TEXT = {"text": [["a", "b", "c"]] * 20, "one number": 3, "one axis": ROWS[:, 0]}


@pytest.mark.parametrize(
    "estimator", [*ESTIMATORS, AgglomerativeClustering(3, compress=20)], ids=case_name
)
def test_errors_name_the_model_of_the_caller_not_one_inside_it(estimator):
    """Others may follow as advice. Those that the caller gave as parameters may be named."""
    fitted = fit(estimator, ROWS)
    given = {type(value).__name__ for value in estimator.get_params().values()}
    for kind, X in {**UNUSABLE, **EXTREME, **FEW, **NOT_FINITE, **TEXT}.items():
        for name in ("fit", *ANSWERS, "predict"):
            if name != "fit" and not hasattr(fitted, name):
                continue
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    fit(estimator, X) if name == "fit" else getattr(fitted, name)(X)
            except (ValueError, TypeError) as error:
                message = str(error)
            else:
                continue
            named = [word for word in re.findall(r"\w+", message) if word in REGISTRY]
            assert {*named[:1]} - given <= {type(estimator).__name__}, (kind, name, message)


@pytest.mark.parametrize(
    ("model", "use"),
    [
        ("ClassModel", lambda make: make().fit(["fox"])),
        ("TfidfVectorizer", lambda make: make().fit(TEXTS).transform([])),
        ("TfidfVectorizer", lambda make: make(vocabulary=["fox"]).fit([])),
        ("TfidfVectorizer", lambda make: make(vocabulary=["fox"]).fit_transform([])),
    ],
)
def test_errors_about_texts_name_the_model_of_the_caller(model, use):
    with pytest.raises(ValueError, match=rf"\b{model}\b"):
        use(find_class(model))


WEIGHTS = {
    "huge integers": [10**400] * 40,
    "1e308": np.full(40, 1e308),
    "1e200": np.full(40, 1e200),
    "of all scales": np.logspace(-300, 300, 40),
    "subnormal": np.full(40, 1e-320),
    "zero but for one": np.arange(40) == 7,
    "zero": np.zeros(40),
    "NaN": np.where(np.arange(40) == 7, np.nan, 1.0),
    "negative": np.where(np.arange(40) == 7, -1.0, 1.0),
    "too few": np.ones(39),
}
TAKE_WEIGHTS = [each for each in ESTIMATORS if has_fit_parameter(each, "sample_weight")]


@pytest.mark.parametrize("estimator", TAKE_WEIGHTS, ids=case_name)
def test_extreme_weights_are_refused_or_give_finite_results(estimator):
    for kind, weights in WEIGHTS.items():
        try:
            model = fit(estimator, ROWS, sample_weight=weights)
        except (ValueError, TypeError):
            continue
        assert kind not in ("huge integers", "NaN", "negative", "too few"), kind
        assert list(not_finite(model)) == [], kind


LABELS = np.arange(40) % 3
FUNCTIONS = {
    "Table": Table.from_array,
    "Ratings": Ratings.of,
    "silhouette_score": lambda X: silhouette_score(X, LABELS),
    "davies_bouldin_score": lambda X: davies_bouldin_score(X, LABELS),
    "by_task": lambda X: by_task(X, LABELS, LABELS),
    "cross_predict": lambda X: cross_predict(MultinomialNB(), X, LABELS, folds=3),
    "choose_k": choose_k,
    "choose_k, words": lambda X: choose_k(ROWS, words=X),
    "describe": lambda X: describe(X, LABELS),
    "stability": lambda X: stability(KMeans(2, random_state=0), X),
    "linkage": linkage,
    "linkage, objects": lambda X: linkage(X, "average", metric=lambda a, b: 1.0),
    "connectivity": lambda X: AgglomerativeClustering(2, connectivity=X).fit(ROWS[:3]),
    "dimension": dimension,
    "choose_topics": lambda X: choose_topics(X, [2]),
    "pyldavis_data": lambda X: pyldavis_data(None, X, list("abc")),
}


def refuse_all():
    """Give every broken matrix to every estimator and function; a crash ends the process."""
    fits = {case_name(each): partial(fit, each) for each in ESTIMATORS}
    for name, use in {**fits, **FUNCTIONS}.items():
        for X in broken_matrices():
            try:
                use(X)
            except (ValueError, TypeError):
                continue
            print(name, "accepts", X.format, flush=True)


def test_inconsistent_sparse_matrices_are_refused_and_crash_nothing():
    command = [sys.executable, "-c", f"from {__name__} import refuse_all; refuse_all()"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (run.returncode, run.stdout) == (0, ""), run.stderr[-2000:]

"""scikit-learn's conventions, for every estimator of rows: its own checks, all of them, and
ours."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit.cluster import KMeans
from tacit.core.estimator import CONTRACTS, WARNED
from tests.contract.cases import (
    DOCUMENTS,
    ESTIMATORS,
    FITS,
    NOT_CHECKED,
    SENTENCES,
    blobs,
    case_name,
    targets,
    with_params,
)

# Public checks of scikit-learn that its generator does not yield.
MORE_CHECKS = [
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_mixin_order",
]

GENERAL = {
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_mixin_order",
}

# Folds are drawn by row, so a row of weight two is not the same as two rows.
BY_FOLDS = "the calibration is cross-validated"
PER_COMPONENT = "predict_proba has a column for each component, not for each class"
UNKNOWN = "the label -1 means that the class is unknown"
SPARSE_CHECKS = ["check_estimator_sparse_array", "check_estimator_sparse_matrix"]
# A weight multiplies the step of a visit, which is not the same as two visits.
BY_VISITS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data",
     "check_sample_weight_equivalence_on_sparse_data"),
    "weights multiply steps",
)  # fmt: skip
NEGATIVE = {"check_sparsify_coefficients": "the check gives negative values, not counts"}
EXPECTED_FAILURES = {
    "MultinomialNB": NEGATIVE,
    "ComplementNB": NEGATIVE,
    "Perceptron": BY_VISITS,
    "PassiveAggressiveClassifier": BY_VISITS,
    "CalibratedClassifier": {
        "check_sample_weight_equivalence_on_dense_data": BY_FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": BY_FOLDS,
    },
    "MultinomialMixture": dict.fromkeys(SPARSE_CHECKS, PER_COMPONENT),
    "BernoulliMixture": dict.fromkeys(SPARSE_CHECKS, PER_COMPONENT),
    "SemiSupervisedNB": {"check_classifiers_classes": UNKNOWN},
    "MultiComponentNB": {"check_classifiers_classes": UNKNOWN},
}

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=case_name)


def assert_same_answers(a, b, X):
    for method in ("predict", "transform"):
        if hasattr(b, method):
            assert_equal(getattr(a, method)(X), getattr(b, method)(X))


def plain(values):
    """Without estimators, whose own parameters are listed too."""
    return {k: v for k, v in values.items() if not hasattr(v, "get_params")}


def assert_equal(a, b):
    if sp.issparse(b):
        a, b = a.toarray(), b.toarray()
    np.testing.assert_array_equal(a, b)


# On the checks' tiny random data soft clusters may coincide and components collapse.
@pytest.mark.filterwarnings("ignore:.*distinct centers.*")
@pytest.mark.filterwarnings("ignore:.*at the floor.*")
@pytest.mark.filterwarnings("ignore:.*projected off.*")
@pytest.mark.battery
@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda each: EXPECTED_FAILURES.get(type(each).__name__, {}),
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


# These checks fit on a data frame and go on with arrays, by intent.
@pytest.mark.filterwarnings("ignore:.*distinct centers.*")
@pytest.mark.filterwarnings("ignore:.*at the floor.*")
@pytest.mark.filterwarnings("ignore:.*projected off.*")
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")
@pytest.mark.battery
@every_estimator
@pytest.mark.parametrize("name", MORE_CHECKS)
def test_checks_of_scikit_learn_that_its_generator_leaves_out(estimator, name):
    if not hasattr(estimator, "transform") and name not in GENERAL:
        pytest.skip("not a transformer")
    if "output_transform" in name and not hasattr(estimator, "set_output"):
        pytest.skip("its rows are sparse, which no dataframe holds")
    check = getattr(estimator_checks, name)
    check(type(estimator).__name__, clone(estimator))


@every_estimator
def test_a_saved_model_comes_back_the_same(estimator, tmp_path):
    X = np.abs(blobs(300))  # counts, for those that want them
    model = with_params(estimator, random_state=0).fit(X, targets(estimator, X))
    model.save(tmp_path / "model.safetensors")
    loaded = tacit.load(tmp_path / "model.safetensors")
    assert type(loaded) is type(model)
    assert plain(loaded.get_params()) == plain(model.get_params())
    for name, value in plain(vars(model)).items():
        if name.endswith("_") and not name.startswith("_"):
            assert_equal(getattr(loaded, name), value)
    assert_same_answers(loaded, model, X)


@every_estimator
def test_the_same_fit_saved_twice_is_the_same_file(estimator, tmp_path):
    X = np.abs(blobs(300))
    for name in "ab":
        model = with_params(estimator, random_state=0).fit(X, targets(estimator, X))
        model.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@every_estimator
def test_a_pickled_model_predicts_the_same(estimator):
    X = np.abs(blobs(300))  # counts, for those that want them
    model = with_params(estimator, random_state=0).fit(X, targets(estimator, X))
    again = pickle.loads(pickle.dumps(model))
    assert_same_answers(again, model, X)


@every_estimator
def test_every_estimator_declares_its_contract(estimator):
    assert estimator.contract in CONTRACTS


# scikit-learn's checks leave out what has to do with rows of numbers for these.
@pytest.mark.parametrize(
    "name", [name for name, why in NOT_CHECKED.items() if why in (DOCUMENTS, SENTENCES)]
)
def test_estimators_of_text_say_so_in_their_tags(name):
    tags = get_tags(FITS[name]()[0])
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array


def test_a_parameter_without_effect_is_answered_by_one_warning():
    X = blobs(60)
    WARNED.clear()
    with pytest.warns(UserWarning, match=r"KMeans\(copy_x=False\) has no effect: rows are"):
        KMeans(2, copy_x=False).fit(X)
    KMeans(2, copy_x=False).fit(X)  # warnings are errors: there is no second one


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=case_name)
def test_parameters_without_effect_are_parameters(estimator):
    assert {*estimator._no_effect} <= {*estimator.get_params(deep=False)}

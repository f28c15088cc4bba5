"""What is checked before a fit, without scikit-learn's detours and with its verdicts."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from tacit.classify import LogisticRegression, MultinomialNB
from tacit.data.checked import check_rows

FLOATS = (np.float64, np.float32)


def csr(values, kind=sp.csr_array, dtype=np.float64):
    return kind(np.asarray(values, dtype))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", FLOATS)
def test_ready_rows_are_taken_as_they_are(kind, dtype):
    model, X = LogisticRegression(), csr([[1, 0, 2], [0, 3, 0]], kind, dtype)
    model.feature_names_in_ = np.array(["of", "another", "fit"], object)
    assert check_rows(model, X, reset=True) is X
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    "X",
    [
        csr([[1, 0, 2]], dtype=np.int64),
        csr([[1, 0, 2]], sp.csc_array),
        csr([[1, 0, 2]], sp.coo_array),
        np.array([[1, 0, 2]]),
    ],
)
def test_other_rows_become_floats_in_rows(X):
    model = LogisticRegression()
    created = check_rows(model, X, reset=True)
    wanted = validate_data(BaseEstimator(), X, dtype=list(FLOATS), accept_sparse="csr")
    assert created.dtype == wanted.dtype == np.float64
    assert type(created) is type(wanted)
    assert model.n_features_in_ == 3


@pytest.mark.parametrize(
    "X",
    [
        sp.csr_array((0, 3)),
        sp.csr_array((3, 0)),
        csr([1.0, 2.0]),
        csr([[1j, 0]], dtype=complex),
    ],
)
def test_what_scikit_learn_refuses_is_refused(X):
    with pytest.raises(ValueError) as theirs:
        validate_data(BaseEstimator(), X, dtype=list(FLOATS), accept_sparse="csr")
    with pytest.raises(ValueError) as ours:
        check_rows(LogisticRegression(), X, reset=True)
    assert str(ours.value).replace("LogisticRegression", "BaseEstimator") == str(theirs.value)


def test_rows_of_another_width_are_refused_after_a_fit():
    X, y = csr([[1, 0, 2], [0, 3, 0]]), [0, 1]
    model = MultinomialNB().fit(X, y)
    with pytest.raises(ValueError, match="3"):
        model.predict(X[:, :2])
    with pytest.raises(NotFittedError):
        MultinomialNB().predict(X)


@pytest.mark.parametrize(
    "settings",
    [{"C": -1}, {"C": "1"}, {"solver": "simplex"}, {"max_iter": 0}, {"fit_intercept": "yes"}],
)
def test_a_wrong_parameter_is_told_in_scikit_learns_words(settings):
    model = LogisticRegression(**settings)
    with pytest.raises(ValueError) as theirs:
        BaseEstimator._validate_params(model)
    with pytest.raises(ValueError) as ours:
        model.fit(csr([[1, 0], [0, 1]]), [0, 1])
    assert str(ours.value) == str(theirs.value)


def test_a_parameter_changed_after_a_fit_is_looked_at_again():
    X, y = csr([[1, 0], [0, 1]]), [0, 1]
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="'C' parameter"):
        model.set_params(C=0.0).fit(X, y)

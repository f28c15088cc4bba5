"""The model file that docs/write_a_model.md tells people to copy keeps working."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import tacit
from tacit.core import Serial, Threads, iterate
from tacit.core.registry import REGISTRY
from tacit.data import Table
from tests.contract.cases import assert_same_bits, blobs, leaves

SKELETON = Path(__file__).parents[2] / "docs" / "skeleton" / "geometric_median.py"


@pytest.fixture(scope="module")
def model():
    spec = importlib.util.spec_from_file_location("geometric_median", SKELETON)
    module = importlib.util.module_from_spec(spec)
    sys.modules["geometric_median"] = module
    spec.loader.exec_module(module)
    return module


def test_the_laws_hold(model):
    X = blobs()
    params = model.init(X)
    whole = model.collect(params, X)
    table = Table.from_array(X, block_rows=97)
    for a, b in zip(
        leaves(Serial().reduce(model.collect, params, table)), leaves(whole), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    runs = [
        iterate(params, model.collect, model.update, table, engine, max_iter=20, tol=0)
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    for run in runs[1:]:
        assert run.losses == runs[0].losses
        assert_same_bits(run.params, runs[0].params)
    assert (np.diff(runs[0].losses) <= 1e-12).all()
    few = model.collect(params, X[:50])
    assert [leaf.shape for leaf in leaves(few)] == [leaf.shape for leaf in leaves(whole)]


def test_the_answer_is_right(model):
    X = blobs(500, 2, 1)
    found = model.GeometricMedian(tol=0, max_iter=500).fit(X).center_
    pull = (X - found) / np.linalg.norm(X - found, axis=1, keepdims=True)
    np.testing.assert_allclose(pull.mean(axis=0), 0, atol=1e-6)  # unit pulls balance there


@pytest.mark.battery
def test_scikit_learn_finds_nothing_wrong(model):
    from unittest import SkipTest

    ran = 0
    for estimator, check in estimator_checks_generator(model.GeometricMedian()):
        try:
            check(estimator)
            ran += 1
        except SkipTest:
            continue
    assert ran > 30


def test_it_is_saved_and_loaded(model, tmp_path, monkeypatch):
    monkeypatch.setitem(REGISTRY, "GeometricMedian", "geometric_median:GeometricMedian")
    fitted = model.GeometricMedian().fit(blobs())
    fitted.save(tmp_path / "median")
    np.testing.assert_array_equal(tacit.load(tmp_path / "median").center_, fitted.center_)

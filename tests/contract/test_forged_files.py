"""Model files changed by a stranger, with every checksum right, are refused or harmless.

``pytest --fuzz=20`` runs twenty times as many, ``python -m tests.contract.forge`` any number.
"""

import inspect

import pytest

from tests.contract import forge
from tests.contract.cases import FITS
from tests.contract.recorded import fitted

PARTS = 2  # one for each worker
NOT_CALLED = {"fit_without_folds", "write"}  # one fits again, the other writes a file


@pytest.mark.parametrize("name", FITS)
def test_every_public_method_of_a_forged_model_is_called(name):
    _, X, y = FITS[name]()
    model = fitted(name).model
    called = {method for method, _ in forge.probes(model, X, y)}
    methods = {
        method
        for method, _ in inspect.getmembers(type(model), inspect.isfunction)
        if not method.startswith(("_", "set_"))
    }
    assert methods - called - forge.SKIPPED <= NOT_CALLED


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_forged_file_is_refused_or_opens_as_a_model_that_answers(part, fuzz):
    assert forge.run(list(FITS)[part::PARTS], cases=12 * fuzz, seed="tests") == []


@pytest.mark.slow
def test_kernels_that_check_their_indices_find_no_wrong_one_in_forged_files(monkeypatch, fuzz):
    """A read just outside an array goes unnoticed, unless every index is checked."""
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    names = ["AgglomerativeClustering", "Perceptron"] if fuzz == 1 else list(FITS)
    assert forge.run(names, cases=12 * fuzz, seed="checked") == []

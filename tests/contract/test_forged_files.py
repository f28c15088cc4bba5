"""Model files changed by a stranger, with every checksum right, are refused or harmless.

``pytest --fuzz=20`` runs twenty times as many, ``python -m tests.contract.forge`` any number.
"""

import pytest

from tests.contract import forge
from tests.contract.cases import FITS

PARTS = 4


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

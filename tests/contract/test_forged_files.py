"""Model files changed by a stranger, with every checksum right, are refused or harmless.

``python -m tests.contract.forge --cases 500`` runs many more.
"""

import pytest

from tests.contract import forge
from tests.contract.cases import FITS

PARTS = 4


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_forged_file_is_refused_or_opens_as_a_model_that_answers(part):
    assert forge.run(list(FITS)[part::PARTS], cases=12, seed="tests") == []

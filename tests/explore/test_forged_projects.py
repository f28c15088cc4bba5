"""Projects changed by a stranger, with every digest right, are refused or harmless.

``pytest --fuzz=20`` runs twenty times as many, ``python -m tests.explore.forge_project`` any
number.
"""

import pytest

from tests.contract import forge
from tests.explore.forge_project import STAGES


@pytest.mark.slow
def test_a_forged_project_is_refused_or_shown(fuzz):
    found = forge.run(STAGES, cases=fuzz, seed="tests", module="tests.explore.forge_project")
    assert found == []

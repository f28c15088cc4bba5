"""The page on what goes wrong names a test for every case, and those tests exist."""

import re
from pathlib import Path

HOME = Path(__file__).parents[2]
PAGE = HOME / "docs" / "robustness.md"


def test_every_case_names_tests_that_exist():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cases = [row for row in rows if not row.startswith(("| case", "| ---"))]
    assert len(cases) > 40
    for case in cases:
        named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", case.rpartition(" | ")[2])
        assert named, case
        for file, test in named:
            path = HOME / "tests" / file
            assert f"def {test}(" in path.read_text(), f"{file}::{test}"

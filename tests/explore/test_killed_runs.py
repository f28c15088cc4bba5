"""A run of ``tacit explore`` that is killed wherever it writes, and resumed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.explore.project.pipeline import STAGES
from tests.explore.test_pipeline import letters

PROGRAM = Path(__file__).with_name("killed_run.py")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")


def stopped(folder, *way):
    """What the program found."""
    (folder / "letters.txt").write_text("\n".join(letters(40)[0]) + "\n")
    command = [sys.executable, str(PROGRAM), way[0], str(folder), *map(str, way[1:])]
    settings = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=settings)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"lock", "project.json", "report.html", "timings.json"} < set(found["files"])
    return found


def test_runs_that_are_killed_again_and_again_come_to_what_one_run_leaves(tmp_path):
    found = stopped(tmp_path, "kill", 29)
    assert found["wrong"] == []
    assert found["states"] > len(STAGES) // 2  # so often a kill left more than the one before
    assert found["stops"] > 2 * len(STAGES)


@pytest.mark.slow
def test_a_kill_at_any_write_leaves_what_the_next_run_makes_whole(tmp_path):
    found = stopped(tmp_path, "every")
    assert found["wrong"] == []
    assert found["states"] > 2 * len(STAGES)  # timings noted, stage recorded
    assert found["steps"] > found["stops"] > 10 * len(STAGES)

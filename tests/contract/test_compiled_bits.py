"""The same bits wherever arrays are in memory, and whatever was compiled before."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # compiles every kernel with fastmath three times


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")

    def run(*options):
        done = subprocess.run(
            [sys.executable, "-m", "tests.contract.compiled_bits", *options],
            env={**os.environ, "TACIT_CACHE": str(cache), "TACIT_ANNOUNCE": "0"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="module")
def compiled(run):
    """The digests of a process that compiles."""
    return run()


def test_every_kernel_with_fastmath_is_run(compiled):
    assert compiled["unused"] == []


def test_a_process_that_loads_its_kernels(run, compiled):
    assert run("backwards")["digests"] == compiled["digests"]


@pytest.fixture(scope="module")
def close(run):
    """The digests of a process that compiles in another order, for arrays that may overlap."""
    return run("backwards", "close")


def test_kernels_without_fastmath_do_not_inherit_it(close):
    assert close["inherited"] == []


def test_arrays_close_in_memory_and_kernels_compiled_in_another_order(close, compiled):
    assert close["changed"][0] > 50
    assert close["digests"] == compiled["digests"]

"""Settings that all tests share."""

import os

import pytest
from hypothesis import settings

# The note on compiling would come between the messages that tests compare.
os.environ.setdefault("TACIT_ANNOUNCE", "0")

# No deadline: the first example of a test may compile a kernel. The same examples every time
# where nobody is watching.
settings.register_profile("tacit", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("tacit")


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk():
    """Writes return without fsync: it guards against the failure of power, which no test can
    cause, and takes milliseconds. Tests of a failing fsync replace it in turn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def pytest_addoption(parser):
    parser.addoption(
        "--fuzz", type=int, default=1, metavar="N", help="Run N times as many forged files."
    )


@pytest.fixture
def fuzz(request):
    """How many times as many cases the fuzzers run."""
    return request.config.getoption("--fuzz")

"""Run the command line in this process, exit code and streams apart."""

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tacit.cli.main import main


class Run(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def tacit(capsys, monkeypatch) -> Callable[..., Run]:
    def run(*arguments: object, stdin: bytes = b"") -> Run:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(each) for each in arguments])
        return Run(code, *capsys.readouterr())

    return run

"""Every command of the documentation runs, page by page, on small files of the same names."""

import gzip
import io
import shlex
import sys

import pytest

from tacit.cli.main import main
from tests.docs.pages import PAGES, name_of, shell_lines
from tests.docs.sample_files import write_sample_files

# Not run here: what installs, starts a server, or reads what every installation has but takes
# minutes. `make first-hour` runs those of the README.
ELSEWHERE = ("pip ", "python3 ", ". ", "make ", "tacit serve", "tacit explore --docs", "ssh ")


def commands_of(path):
    lines = shell_lines(path.read_text(encoding="utf-8"))
    return [line for _, line in lines if not line.startswith(ELSEWHERE)]


def pages_to_run():
    """Pages with commands; not those that only repeat what an earlier page has."""
    seen: set[str] = set()
    for path in PAGES:
        commands = commands_of(path)
        if set(commands) - seen:
            seen |= set(commands)
            yield path


@pytest.mark.slow
@pytest.mark.parametrize("path", list(pages_to_run()), ids=name_of)
def test_the_commands_of_a_page_run(path, tmp_path, monkeypatch, capsys):
    write_sample_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in commands_of(path):
        run(command, monkeypatch, capsys)


def run(command, monkeypatch, capsys):
    """What a shell would do with cat, echo or zcat, a pipe and redirections."""
    piped = ""
    for stage in command.split(" | "):
        words = shlex.split(stage)
        target = source = None
        if ">" in words:
            at = words.index(">")
            target, words = words[at + 1], words[:at] + words[at + 2 :]
        if "<" in words:
            at = words.index("<")
            source, words = words[at + 1], words[:at] + words[at + 2 :]
        if words[0] == "echo":
            piped = " ".join(words[1:]) + "\n"
        elif words[0] in ("cat", "zcat"):
            opened = open if words[0] == "cat" else gzip.open
            with opened(words[1], "rt", encoding="utf-8") as stream:
                piped = stream.read()
        else:
            assert words[0] == "tacit", f"unknown program in {command!r}"
            if source:
                with open(source, encoding="utf-8") as stream:
                    piped = stream.read()
            stdin = io.TextIOWrapper(io.BytesIO(piped.encode()))
            monkeypatch.setattr(sys, "stdin", stdin)
            code = main(words[1:])
            out, err = capsys.readouterr()
            assert code == 0, f"{command}\n{err[-2000:]}"
            piped = out
        if target:
            with open(target, "w", encoding="utf-8") as stream:
                stream.write(piped)


def test_the_runner_notices_a_command_that_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="missing"):
        run("tacit counts missing/", monkeypatch, capsys)

"""Finding the verb, and turning what goes wrong into an exit code and a sentence."""

import errno
import os
import re
import subprocess
import sys
import types

import click
import pytest

from tacit._version import __version__
from tacit.cli import main as module
from tacit.cli.options import RunOptions, debug_option
from tacit.core import Dask, DataError, Locked, ModelFileError, PartialInput, Serial, Threads


@pytest.fixture
def fails(monkeypatch, tacit):
    """Run a command that raises an error, and check its output."""

    def run(error, *arguments):
        @click.command()
        @debug_option
        def boom():
            raise error

        monkeypatch.setitem(sys.modules, "boom", types.SimpleNamespace(boom=boom))
        monkeypatch.setitem(module.COMMANDS, "boom", "Fails.")
        monkeypatch.setitem(module.MODULES, "boom", "boom")
        return tacit("boom", *arguments)

    return run


def caught(first, then):
    """An error that came of another."""
    then.__context__ = first
    return then


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DataError("it is bad.", file="a.csv", row=3), 4),
        (PartialInput("it ends early."), 3),
        (ModelFileError("it is damaged."), 4),
        (Locked("process 7 holds it."), 5),
        (ValueError("k=0 must be at least 1."), 4),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), 4),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.csv"), 4),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "folder"), 4),
        (TimeoutError("tcp://host:8786 does not answer"), 4),
        (PermissionError(errno.EACCES, "Permission denied", "a.csv"), 6),
        (OSError(errno.ENOSPC, "No space left on device"), 6),
        (OSError(errno.EROFS, "Read-only file system", "a.csv"), 6),
        (OSError(errno.EPERM, "Operation not permitted", "a.csv"), 6),
        (OSError(errno.EDQUOT, "Disk quota exceeded", "a.csv"), 6),
        (OSError(errno.EFBIG, "File too large", "a.csv"), 6),
        (click.UsageError("wrong"), 2),
        (ImportError("engine='dask' needs dask. Install it with pip."), 2),
        (KeyboardInterrupt(), 130),
        (caught(KeyboardInterrupt(), ImportError("half imported")), 130),
        (click.Abort(), 130),
        (MemoryError(), 1),
        (RuntimeError("no idea"), 1),
        (TypeError("a fault of ours"), 1),
        (ModuleNotFoundError("No module named 'tacit.nothing'"), 1),
    ],
)
def test_every_error_has_its_exit_code_and_no_traceback(fails, error, code):
    run = fails(error)
    assert run.code == code
    assert run.out == ""
    assert 1 <= len(run.err.splitlines()) <= 2
    assert "Traceback" not in run.err


def test_the_message_is_the_errors_own(fails):
    run = fails(DataError("it is bad. Mend it.", file="a.csv", row=3, column="x"))
    assert run.err == "Error: a.csv, row 3, column x: it is bad. Mend it.\n"
    run = fails(FileNotFoundError(errno.ENOENT, "No such file or directory", "a.csv"))
    assert run.err == "Error: a.csv: No such file or directory.\n"


def test_too_little_memory_is_said_and_no_fault_of_ours(fails):
    assert fails(MemoryError()).err.startswith("Error: there is not enough memory.")


def test_a_fault_of_ours_says_so_and_how_to_see_more(fails):
    run = fails(RuntimeError("no idea"))
    assert "Internal error: RuntimeError: no idea" in run.err
    assert "--debug" in run.err


def test_a_traceback_appears_with_debug_alone(fails):
    run = fails(ValueError("wrong"), "--debug")
    assert run.code == 4
    assert "Traceback" in run.err
    assert run.err.endswith("Error: wrong\n")


def test_debug_may_stand_before_the_verb(fails, tacit):
    fails(ValueError("wrong"))
    assert "Traceback" in tacit("--debug", "boom").err


def test_messages_cannot_speak_to_the_terminal(fails):
    run = fails(DataError("\x1b]0;title\x07\x1b[31m'x\x9b2J\u202ey'", file="a\x1b[2J.csv"))
    assert run.err == "Error: a\\x1b[2J.csv: 'xy'\n"  # written out, not sent


def test_a_warning_is_one_plain_line(monkeypatch, tacit):
    import warnings

    @click.command()
    def warn():
        warnings.warn("only 3 distinct rows", stacklevel=1)

    monkeypatch.setitem(sys.modules, "warn", types.SimpleNamespace(warn=warn))
    monkeypatch.setitem(module.COMMANDS, "warn", "Warns.")
    monkeypatch.setitem(module.MODULES, "warn", "warn")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        run = tacit("warn")
    assert run == (0, "", "Warning: only 3 distinct rows\n")


def test_version_and_help(tacit):
    assert tacit("--version") == (0, f"tacit {__version__}\n", "")
    run = tacit("--help")
    assert run.code == 0
    for name, line in module.COMMANDS.items():
        assert name in run.out
        assert line in run.out
    assert "completion" in run.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["clutser"], "Did you mean 'cluster'?"),
        (["frobnicate"], "frobnicate"),
        (["cluster"], "FILE"),
        (["cluster", "x.csv", "--kk", "3"], "--kk"),
        (["cluster", "x.csv", "--k", "0"], "--k"),
        (["cluster", "x.csv", "--seed", "-1"], "--seed"),
        (["cluster", "x.csv", "--method", "magic"], "magic"),
        (["cluster", "x.csv", "--engine", "steam"], "steam"),
        (["cluster", "x.csv", "--engine", "serial", "--workers", "2"], "--workers"),
        (["cluster", "x.csv", "--json", "--out", "-"], "standard output"),
        (["demo", "nothing"], "List them with --list"),
    ],
)
def test_wrong_usage_is_code_2_with_a_hint(tacit, arguments, words):
    run = tacit(*arguments)
    assert run.code == 2
    assert words in run.err
    assert "--help" in run.err
    assert run.out == ""


def test_engines_are_made_from_their_names():
    def engine(name, workers=None):
        return RunOptions(name, workers, as_json=False, quiet=False).engine

    assert engine("serial") == Serial()
    assert engine("threads", 3) == Threads(3)
    assert engine("tcp://host:8786") == Dask("tcp://host:8786")


def test_the_module_runs_as_a_program():
    run = subprocess.run(
        [sys.executable, "-m", "tacit", "cluster", "no-such-file.csv"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 4
    assert run.stderr == "Error: There is no file or folder 'no-such-file.csv'.\n"


def test_completion_answers_the_shell():
    run = subprocess.run(
        [sys.executable, "-m", "tacit"],
        env={
            **os.environ,
            "_TACIT_COMPLETE": "bash_complete",
            "COMP_WORDS": "tacit clu",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cluster" in run.stdout


def test_a_command_without_arguments_shows_its_help_and_no_error(tacit):
    for arguments in ((), ("lm",)):
        run = tacit(*arguments)
        assert run.code == 2
        assert run.err.startswith("Usage: tacit")
        assert "Try" not in run.err


def test_closed_standard_streams_are_no_fault():
    command = f'"{sys.executable}" -m tacit datasets --json <&- >&- 2>&-'
    assert subprocess.run(command, shell=True, check=False).returncode == 0


@pytest.mark.parametrize("stream", ["full", "closed", "nobody reads"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [("datasets", 0), ("clutser", 2), ("lm", 2), ("--debug cluster no-such-file.csv", 4)],
)
def test_messages_that_nobody_can_read_change_no_exit_code(stream, arguments, code):
    command = f'"{sys.executable}" -m tacit {arguments}' + " 2>&-" * (stream == "closed")
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "wb") as full:
        target = full if stream == "full" else writer
        run = subprocess.run(
            command, shell=True, check=False, stdout=subprocess.PIPE, stderr=target
        )
    os.close(writer)
    assert run.returncode == code
    assert bool(run.stdout) == (code == 0)  # the results are all there


def test_a_reader_that_stops_early_is_not_an_error():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "tacit", "datasets", "--json"]
    run = subprocess.run(command, check=False, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.parametrize("verb", ["datasets --json", "cluster - -k 2 --out - --quiet"])
def test_results_that_cannot_be_written_are_code_6(verb):
    """Those of the second are still in a buffer when the command is done."""
    command, rows = f'"{sys.executable}" -m tacit {verb} >/dev/full', "1,2\n3,4\n5,6\n"
    run = subprocess.run(
        command, shell=True, check=False, capture_output=True, text=True, input=rows
    )
    assert run.returncode == 6
    assert run.stderr.startswith("Error: No space left on device")
    assert len(run.stderr.splitlines()) == 1


def all_commands(command, context):
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            inner = click.Context(subcommand, info_name=name, parent=context)
            yield from all_commands(subcommand, inner)
    yield context.command_path, context


ROOT_CONTEXT = click.Context(module.cli, info_name="tacit", **module.cli.context_settings)
COMMANDS = dict(all_commands(module.cli, ROOT_CONTEXT))
OLD_WORDS = r"INTEGER|\bis no\b|so many|comes again|tells of|manners|times of 20|stdout|\(s\)"


@pytest.mark.parametrize("path", COMMANDS)
def test_help_is_plain_and_every_option_gives_its_default(path):
    context = COMMANDS[path]
    command = context.command
    text = " ".join(command.get_help(context).split())
    assert not re.search(OLD_WORDS, text)
    assert command.help
    if isinstance(command, click.Group):  # lists its commands with whole sentences
        listed = command.get_help(context).partition("Commands:")[2]
        assert listed
        assert "..." not in listed
    for option in command.params:
        if isinstance(option, click.Option) and option.name not in ("help", "version"):
            help = option.help or ""
            assert help[:1].isupper(), option.opts
            flag = option.is_flag and not option.secondary_opts
            _, printed = option.get_help_record(context)
            assert flag or "[default: " in printed or option.required, option.opts


def test_help_lists_the_options_of_many_commands_last(tacit):
    text = tacit("cluster", "--help").out
    titles = re.findall(r"^(?:\w+ )?options:$", text, re.IGNORECASE | re.MULTILINE)
    assert titles == ["Options:", "Input options:", "General options:"]
    positions = [text.index(name) for name in ("--method", "--columns", "--seed")]
    assert positions == sorted(positions)
    assert text.index("Input options:") < positions[1] < text.index("General options:")

"""The command ``tacit``: runs a verb and turns errors into messages and exit codes.

Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 partial input, 4 bad input, 5 locked,
6 no space or permission, 130 interrupted.
"""

import contextlib
import importlib
import io
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

import click

from tacit._version import __version__
from tacit.cli.interrupt import end, prompt_interrupts
from tacit.cli.options import CommandGroup, debug_option
from tacit.cli.output import say

__all__ = ["COMMANDS", "cli", "main"]

# The verbs and their lines of help, so that listing them does not import them.
COMMANDS = {
    "authors": "Find out who wrote a text.",
    "classify": "Learn the labels of documents and predict them.",
    "cluster": "Group the rows of a table of numbers.",
    "compare": "Measure how well two groupings agree.",
    "counts": "Count the words of documents.",
    "datasets": "List the data sets: origin, checksum, how to load.",
    "demo": "Run worked examples and demos.",
    "explore": "Find the structure of documents and write a report.",
    "images": "Find the principal components of images.",
    "index": "Search documents by words or meaning; find near-duplicates.",
    "label": "Label all documents from a few labels.",
    "lm": "Train n-gram language models; score and generate text.",
    "mixture": "Fit a mixture of normal distributions.",
    "model": "Inspect a saved model.",
    "neural": "Train autoencoders, RBMs and GANs; encode and generate.",
    "recommend": "Learn from ratings; recommend items and explain why.",
    "reduce": "Reduce many columns to a few (PCA, SVD, MDS).",
    "report": "Write the report of a project, also without the texts.",
    "senses": "Find the senses of a word in documents.",
    "serve": "Open a project in the browser.",
    "topics": "Find the topics of documents.",
    "words": "Learn word vectors; find similar words.",
}
MODULES = {"report": "tacit.cli.explore"}  # others are in the file of their name
COMPLETE = "_TACIT_COMPLETE"


class LazyGroup(CommandGroup):
    """A group that imports a command when it runs, not when it is listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(MODULES.get(cmd_name, f"tacit.cli.{cmd_name}"))
        return getattr(module, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog=(
        "\b\nStart with:  tacit explore FOLDER   or   tacit demo --list\n\n"
        "\b\nShell completion for bash (also zsh and fish):\n"
        f'  eval "$({COMPLETE}=bash_source tacit)"'
    ),
)
@click.version_option(__version__, prog_name="tacit", message="%(prog)s %(version)s")
@debug_option
def cli() -> None:
    """Find structure in data that nobody has labeled, text first.

    Results go to standard output, messages and progress to standard error. "-" in place of a
    file is standard input or output. Exit codes: 0 done, 2 wrong usage, 3 part of the input
    could not be read, 4 bad input, 5 locked, 6 no space or permission, 130 interrupted.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if COMPLETE in os.environ:
        cli.main(prog_name="tacit")  # answers the shell and exits
    settings: dict[str, Any] = {"debug": False}
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        sys.stderr = lossy(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # not every stream can
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        arguments = list(sys.argv[1:] if argv is None else argv)
        with (
            plain_warnings(),
            prompt_interrupts() if argv is None else contextlib.nullcontext(),
            cli.make_context("tacit", arguments, obj=settings) as context,
        ):
            cli.invoke(context)
            sys.stdout.flush()
            for check in settings.get("at end", ()):
                check()
        return 0
    except BrokenPipeError:
        # Nobody reads the output any more; flushing it at exit would raise the error again.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:
        code, message = explain(error)
        if settings["debug"] and code:
            traceback.print_exc()
        if message:
            say(message)
        if code == 130 and argv is None:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
            end()
        return code


class LossyFile(io.FileIO):
    """A file that ignores errors of writing."""

    def write(self, data: Any) -> int:
        try:
            written = super().write(data)
        except OSError:
            written = None
        return len(data) if written is None else written


def lossy(stream: TextIO) -> TextIO:
    """The stream for messages: where they cannot be written (the disk is full, the reader has
    stopped), they are dropped, and the command goes on."""
    try:
        file = io.BufferedWriter(LossyFile(stream.fileno(), "wb", closefd=False))
    except (OSError, ValueError):
        return stream
    return io.TextIOWrapper(file, encoding=stream.encoding, line_buffering=True)


def explain(error: BaseException) -> tuple[int, str]:
    """The exit code and the message of an error."""
    from tacit.core import errors

    match error:
        case click.exceptions.Exit():
            return error.exit_code, ""
        case click.Abort():
            return 130, "Interrupted."
        case click.exceptions.NoArgsIsHelpError():
            return 2, error.format_message()
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else "tacit"
            hint = f"Try '{path} --help' for help."
            return 2, f"Error: {error.format_message()}\n{hint}"
        case click.ClickException():
            return 4, f"Error: {error.format_message()}"
    return errors.explain(error)


@contextlib.contextmanager
def plain_warnings() -> Iterator[None]:
    """Print warnings as sentences, without their line of source code."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        say(f"Warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield

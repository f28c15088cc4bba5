"""Options of several commands, in groups.

A command receives the values of a group as one argument: ``documents: DocumentOptions``,
``run: RunOptions``, ``show: ShowOptions``.
"""

import os
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any, NamedTuple, TypeVar

import click

from tacit.cli.output import check_file, check_picture, check_target

__all__ = [
    "COUNT", "FILE", "IMAGE_SIZE", "NUMBERS", "OUT", "SIZE", "TARGET", "Command",
    "CommandGroup", "DocumentOptions", "OneOf", "Parsed", "RunOptions", "ShowOptions",
    "TableOptions", "allow_partial_option", "clean_option", "command", "debug_option",
    "document_options", "engine_options", "follow_links_option", "header_option", "k_option",
    "label_option", "memory_option", "model_option", "out_option", "plot_option",
    "quiet_option", "refuse_options", "rule_option", "run_options", "seed_option",
    "show_options", "stop_words_option", "table_options", "top_option", "trust_option",
    "with_options",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


class Parsed(click.ParamType):
    """A type of values that ``parse`` reads from text; ``problem`` ends the error message."""

    def __init__(self, name: str, parse: Callable[[str], Any], problem: str) -> None:
        self.name, self.parse, self.problem = name, parse, problem

    def get_metavar(self, param: click.Parameter, ctx: Any = None) -> str:
        return self.name

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value.strip().lower())
        except (ValueError, ArithmeticError):
            self.fail(f"{value!r} {self.problem}", param, ctx)


class OneOf(click.Choice):
    """One of several words; the error for another word suggests the closest one."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            from tacit.core.wording import did_you_mean

            known = [str(choice) for choice in self.choices]
            meant = did_you_mean(str(value), known)
            message = f"{value!r} is unknown.{meant} Choose from {', '.join(known)}."
            self.fail(message, param, ctx)


class Target(click.ParamType):
    """A file to write, checked before the work begins."""

    name = "file"

    def __init__(self, check: Callable[[str], None]) -> None:
        self.check = check

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        self.check(value)
        return value


OUT = Target(check_target)  # text; "-" is standard output, and then excludes --json
TARGET = Target(check_target)  # the same, where the command itself decides about --json
FILE = Target(check_file)
PICTURE = Target(check_picture)


def parse_size(text: str) -> int | None:
    from tacit.core.memory import parse_memory

    return parse_memory(text)


def parse_positive(text: str) -> int:
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def parse_height_width(text: str) -> tuple[int, int]:
    height, width = map(parse_positive, text.split("x"))
    return height, width


SIZE = Parsed("size", parse_size, "is not a size. Write it as 500MB or 4GB.")
COUNT = Parsed("auto|N", lambda text: None if text == "auto" else parse_positive(text),
               "is neither auto nor a number of at least 1.")  # fmt: skip
NUMBERS = Parsed("N,N,...", lambda text: tuple(map(parse_positive, text.split(","))),
                 "is not a list of numbers. Write it as 64,16.")  # fmt: skip
IMAGE_SIZE = Parsed("HxW", parse_height_width,
                    "is not the size of an image. Write it as 28x28.")  # fmt: skip


def with_options(*options: Any) -> Callable[[F], F]:
    """One decorator that adds several options."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class Command(click.Command):
    """A command whose help lists the options of many commands last, and has N where click
    writes INTEGER RANGE."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        numbers = (click.types.IntParamType, click.types.FloatParamType)
        input_names = {*DocumentOptions._fields, *TableOptions._fields} - {"memory"}
        general = ("--memory", "--debug", "--help")
        sections: dict[str, list] = {"Options": [], "Input options": [], "General options": []}
        for option in self.get_params(ctx):
            if not isinstance(option, click.Option):
                continue
            if isinstance(option.type, numbers) and option.metavar is None:
                option.metavar = "N"
            title = "Options"
            if option.name in input_names:
                title = "Input options"
            elif option.name in RunOptions._fields or option.opts[-1] in general:
                title = "General options"
            if record := option.get_help_record(ctx):
                sections[title].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


command = partial(click.command, cls=Command)


class CommandGroup(click.Group):
    """A group whose help does not cut the first sentences of its commands, and whose error for
    a mistyped command suggests the closest one."""

    command_class = Command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple:
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            from tacit.core.wording import did_you_mean

            ctx.fail(f"There is no command {args[0]!r}.{did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([
                (name, command.get_short_help_str(limit=500))
                for name in self.list_commands(ctx)
                if (command := self.get_command(ctx, name)) is not None
            ])  # fmt: skip


def add_group(kind: Any, name: str, options: list, command: F) -> F:
    """Add options to a command, which receives their values as one ``kind`` called ``name``."""

    @wraps(command)
    def run(**values: Any) -> Any:
        if values.get("as_json"):
            for param in click.get_current_context().command.params:
                if param.type is OUT and values.get(str(param.name)) == "-":
                    raise click.UsageError(
                        f"--json and {param.opts[0]} - both want standard output. Drop one."
                    )
        chosen = kind(**{field: values.pop(field) for field in kind._fields if field in values})
        return command(**{name: chosen}, **values)

    decorated: Any = run
    return with_options(*options)(decorated)


def refuse_options(names: Iterable[str], why: str) -> None:
    """Raise a usage error, such as "--add goes with ...", if one of these parameters of the
    command is set on the command line."""
    context = click.get_current_context()
    known = {param.name: param for param in context.command.params}
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = max(known[name].opts, key=len)
            raise click.UsageError(f"{option} {why}")


# --- Every command ---


def remember_debug(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:  # on the root, where main() finds it after an error
        context.find_root().ensure_object(dict)["debug"] = True


debug_option = click.option(
    "--debug", is_flag=True, is_eager=True, expose_value=False, callback=remember_debug,
    help="Show a traceback after an error.",
)  # fmt: skip


class ShowOptions(NamedTuple):
    """How results and messages are printed."""

    as_json: bool
    quiet: bool


def hide_announcements(context: click.Context, option: click.Parameter, quiet: bool) -> bool:
    if quiet:
        os.environ["TACIT_ANNOUNCE"] = "0"  # the note that kernels are compiled
    return quiet


quiet_option = click.option(
    "-q", "--quiet", is_flag=True, callback=hide_announcements, help="Hide progress and notes."
)
SHOW = [
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    quiet_option,
    debug_option,
]


def show_options(command: F) -> F:
    """--json, --quiet and --debug, as ``show``."""
    return add_group(ShowOptions, "show", SHOW, command)


seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0,
    help="Random seed; the same seed gives the same result",
)  # fmt: skip


class RunOptions(NamedTuple):
    """How a fit runs, and how it is shown."""

    engine_name: str
    workers: int | None
    as_json: bool
    quiet: bool
    seed: int = 0

    @property
    def engine(self) -> Any:
        """The engine that --engine and --workers name."""
        from tacit.core.engines import Dask, Serial, Threads

        name, workers = self.engine_name, self.workers
        if name == "threads":
            return Threads(workers)
        if name != "serial" and "://" not in name:
            raise click.BadParameter(
                f"{name!r} is neither serial nor threads nor the address of a Dask scheduler "
                "such as tcp://host:8786.",
                param_hint="--engine",
            )
        if workers is not None:
            raise click.BadParameter(
                f"{workers} makes sense with --engine threads, not with {name}.",
                param_hint="--workers",
            )
        return Serial() if name == "serial" else Dask(name)


def run_options(command: F, *, seeded: bool = True) -> F:
    """The options of every command that fits something, as ``run``."""
    options = [
        *([seed_option] if seeded else []),
        click.option("--engine", "engine_name", default="threads",
                     metavar="NAME", help="Engine: serial, threads, or the address of a Dask "
                     "scheduler such as tcp://host:8786"),
        click.option("--workers", type=click.IntRange(1), help="Number of threads; it does not "
                     "change the result  [default: one per core]"),
        *SHOW,
    ]  # fmt: skip
    return add_group(RunOptions, "run", options, command)


def engine_options(command: F) -> F:
    """The same without --seed, for commands that draw no random numbers."""
    return run_options(command, seeded=False)


# --- Input ---


class DocumentOptions(NamedTuple):
    """The arguments of ``Documents.open``, and the memory limit of the command."""

    text: str | None
    id: str | None
    format: str | None
    encoding: str | None
    allow_partial: bool
    errors: str
    duplicate_ids: str
    duplicate_keys: str
    max_document: int
    oversize: str
    follow_links: bool
    memory: int | None = None


allow_partial_option = click.option(
    "--allow-partial", is_flag=True,
    help="Accept partly unreadable input: exit with 0 instead of 3.",
)  # fmt: skip


follow_links_option = click.option(
    "--follow-links", is_flag=True,
    help="Follow symbolic links that lead outside the folder.",
)  # fmt: skip


clean_option = click.option(
    "--clean/--no-clean", "clean_texts", default=True,
    help="Decode HTML entities and quoted-printable text; remove tags, e-mail headers, "
    "signatures and repeated passages; read titles as text.",
)  # fmt: skip


def memory_option(default: str | None = "1GB") -> Any:
    """--memory, for commands that can keep to a limit."""
    past_it = "beyond it, work goes to temporary files" if default else (
        "beyond it, stages do less or are skipped  [default: no limit]"
    )  # fmt: skip
    return click.option("--memory", type=SIZE, default=default, show_default=bool(default),
                        metavar="SIZE", help=f"Memory limit, e.g. 4GB; {past_it}")  # fmt: skip


def document_options(command: F, *, memory: Any = None) -> F:
    """The options of every command that reads documents, as ``documents``; ``memory`` is a
    ``memory_option``, for commands that have a limit."""
    options = [
        click.option("--text", metavar="COLUMN",
                     help="Column with the text  [default: guessed]"),
        click.option("--id", metavar="COLUMN",
                     help="Column with the ids of the documents  [default: guessed]"),
        click.option("--format",
                     type=OneOf(["lines", "csv", "tsv", "jsonl", "json", "parquet"]),
                     help="File format  [default: by the file name]"),
        click.option("--encoding", help="Text encoding  [default: UTF-8]"),
        *([memory] if memory is not None else []),
        allow_partial_option,
        click.option("--errors", type=OneOf(["replace", "strict", "skip"]),
                     default="replace", help="Undecodable bytes: replace "
                     "them with U+FFFD, stop, or skip the document"),
        click.option("--duplicate-ids", type=OneOf(["suffix", "error", "first", "last"]),
                     default="suffix", help="Repeated ids: append #2, #3, "
                     "..., stop, or keep only the first or last document"),
        click.option("--duplicate-keys", type=OneOf(["last", "first", "error"]),
                     default="last", help="Repeated keys in a JSON object: "
                     "use the last value, use the first, or stop"),
        click.option("--max-document", type=SIZE, default="64MiB",
                     metavar="SIZE", help="Largest size of a document"),
        click.option("--oversize", type=OneOf(["split", "skip", "error"]),
                     default="split", help="Larger documents: split them "
                     "between words, skip them, or stop"),
        follow_links_option,
    ]  # fmt: skip
    return add_group(DocumentOptions, "documents", options, command)


class TableOptions(NamedTuple):
    """How a file of numbers is read."""

    columns: str | None
    header: bool | None
    allow_partial: bool
    id_column: str | None = None


def table_options(command: F, *, ids: bool = True) -> F:
    """The options of every command that reads a file of numbers, as ``table``."""
    options = [
        click.option("--columns", metavar="A,B,...",
                     help="Columns to use  [default: all columns of numbers]"),
        *([click.option("--id", "id_column", metavar="COLUMN",
                        help="Column with the ids of the rows  [default: row numbers from 1]")]
          if ids else []),
        header_option,
        allow_partial_option,
    ]  # fmt: skip
    return add_group(TableOptions, "table", options, command)


label_option = click.option(
    "--label", "label_column", metavar="COLUMN",
    help="Column with the label; in a folder, the name of the subfolder  [default: guessed]",
)  # fmt: skip
header_option = click.option(
    "--header/--no-header", default=None,
    help="Read the first line as the names of the columns, or as data  [default: guessed]",
)  # fmt: skip


# --- Words ---


def out_option(content: str, name: str = "--out") -> Any:
    """--out, a text file to write; - is standard output."""
    return click.option(name, type=OUT, metavar="CSV",
                        help=f"File for {content}; - is standard output  "
                        "[default: none]")  # fmt: skip


def plot_option(content: str) -> Any:
    """--plot, a picture to write."""
    return click.option("--plot", "plot_path", type=PICTURE, metavar="FILE",
                        help=f"Picture to draw (.png, .pdf, .svg){content}  "
                        "[default: none]")  # fmt: skip


def top_option(default: int, least: int = 1) -> Any:
    """--top, the number of results to show."""
    return click.option("--top", type=click.IntRange(least), default=default,
                        help="Number of results to show")  # fmt: skip


def k_option(help: str) -> Any:
    """-k, the number of groups, components or topics; auto becomes None."""
    return click.option("-k", "--k", type=COUNT, default="auto", help=help)


model_option = click.option(
    "--model", "model_path", type=FILE, metavar="FILE",
    help="Model file to write (.safetensors)  [default: none]",
)  # fmt: skip


trust_option = click.option(
    "--trust", is_flag=True,
    help="Map the file into memory instead of reading and verifying it: faster for large "
    "files, but a damaged file may give wrong answers.",
)  # fmt: skip
rule_option = click.option(
    "--rule", type=OneOf(["plain", "words"]), default="plain",
    help="Tokenizer: plain splits \"don't\" and \"well-known\", words keeps them whole",
)  # fmt: skip
stop_words_option = click.option(
    "--stop-words", type=OneOf(["english"]),
    callback=lambda context, option, name: name and f"{name}-function-words",
    help="Stop words to leave out  [default: none]",
)  # fmt: skip

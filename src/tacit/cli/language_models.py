"""What the commands of ``tacit lm`` share: opening and writing models, reading text."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tacit.cli.documents import document_options, read_documents
from tacit.cli.options import (
    debug_option,
    engine_from,
    engine_options,
    json_option,
    quiet_option,
)
from tacit.cli.terminal import print_json, say
from tacit.core.memory import format_bytes

if TYPE_CHECKING:
    from tacit.data.documents import Documents
    from tacit.language.ngram_model import NGramModel

__all__ = [
    "PruningCommand", "each_line", "is_arpa", "open_model", "read_text", "read_vocabulary",
    "show_training", "text_options", "write_model",
]  # fmt: skip


class PruningCommand(click.Command):
    """Takes ``--prune 0 0 1`` as KenLM does: as many numbers as follow."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--prune" in args:
            at = args.index("--prune") + 1
            end = at
            while end < len(args) and args[end].isdecimal():
                end += 1
            if end == at:
                raise click.BadParameter("Give numbers, as in --prune 0 0 1.", ctx)
            args = [*args[:at], " ".join(args[at:end]), *args[end:]]
        return super().parse_args(ctx, args)


class TextOptions(NamedTuple):
    """How a command reads text and says what it found."""

    text_column: str | None
    id_column: str | None
    kind: str | None
    encoding: str | None
    memory: int
    allow_partial: bool
    engine: Any
    as_json: bool
    quiet: bool


def text_options(command: Callable[..., None]) -> Callable[..., None]:
    """PATH and the options of commands that read text; they get them as ``options``."""

    def run(
        path: str,
        engine: str,
        workers: int | None,
        text_column: str | None,
        id_column: str | None,
        kind: str | None,
        encoding: str | None,
        memory: int,
        allow_partial: bool,
        as_json: bool,
        quiet: bool,
        **rest: Any,
    ) -> None:
        options = TextOptions(
            text_column, id_column, kind, encoding, memory, allow_partial,
            engine_from(engine, workers), as_json, quiet,
        )  # fmt: skip
        command(path=path, options=options, **rest)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    # Options that the command itself asked for, before this was put around it.
    run.__click_params__ = list(getattr(command, "__click_params__", ()))  # type: ignore[attr-defined]
    wrapped: Any = run
    for option in (debug_option, quiet_option, json_option, engine_options, document_options):
        wrapped = option(wrapped)
    return click.argument("path", default="-")(wrapped)


def read_text(path: str, options: TextOptions) -> "Documents":
    """The text of a path; what had to be repaired goes to standard error."""
    documents = read_documents(
        path, options.text_column, options.id_column, options.kind, options.encoding
    )
    say(*documents.report.lines()[1:], quiet=options.quiet)
    return documents


def each_line(documents: "Documents") -> Iterator[str]:
    """The sentences of documents, one to a line as in training; a file has many."""
    for text in documents.texts():
        yield from text.removesuffix("\n").split("\n")


def read_vocabulary(path: str) -> list[str]:
    """The words of a file, between ASCII white space as in the text itself."""
    from tacit.cli.lm_correct import read_whole
    from tacit.core.errors import DataError

    words = {word.decode("utf-8") for word in read_whole(path).encode("utf-8").split()}
    if not words:
        raise DataError("there is no word in it. Write one to a line.", file=path)
    return sorted(words)


def is_arpa(path: str) -> bool:
    """Whether a name asks for an ARPA file."""
    return path.removesuffix(".gz").endswith(".arpa")


def holds_model(path: str) -> bool:
    """Whether a file is one of ours, whatever its name: after its length, a JSON header."""
    if not os.path.isfile(path):
        return not is_arpa(path)
    with open(path, "rb") as file:
        head = file.read(9)
    return head[8:9] == b"{"


def open_model(path: str, engine: Any = None) -> "NGramModel":
    """A model file or an ARPA file, whichever it is."""
    import tacit
    from tacit.core.errors import ModelFileError
    from tacit.language import read_arpa

    # Read whole and checked, not mapped: kernels trust the numbers, nobody the file.
    model = tacit.load(path) if holds_model(path) else read_arpa(path)
    if not hasattr(model, "next_words") or not hasattr(model, "score_sentences"):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__}, not a language model. Train one with: "
            "tacit lm train PATH --out FILE"
        )
    if engine is not None:
        model.engine = engine
    return model


def write_model(model: "NGramModel", path: str, *, as_arpa: bool) -> None:
    """Write a model to a file, or an ARPA file to standard output."""
    from tacit.language import write_arpa

    if not as_arpa:
        model.save(path)
    elif path == "-":
        write_arpa(model, sys.stdout.buffer)
    else:
        write_arpa(model, path)


def show_training(
    model: "NGramModel", out: str | None, arpa: str | None, as_json: bool, quiet: bool
) -> None:
    """What was learned, and where it is."""
    for order in model.discount_fallbacks_:
        values = ", ".join(f"{d:g}" for d in model.discounts_[order - 1][1:])
        say(
            f"Note: the text is too small or too odd to estimate the discounts of order "
            f"{order}; {values} are used.",
            quiet=quiet,
        )
    if model.input_report_["reserved"]:
        say(
            f"Note: {model.input_report_['reserved']:,} <s> or </s> in the text were read as "
            "unknown words.",
            quiet=quiet,
        )
    counts = model.ngram_counts_
    if as_json:
        print_json(
            {
                "model": out,
                "arpa": arpa,
                "order": len(counts),
                "smoothing": model.smoothing,
                "ngrams": counts,
                "discounts": model.discounts_,
                "discount_fallbacks": model.discount_fallbacks_,
                "input": model.input_report_,
            }
        )
    elif arpa != "-":
        report = model.input_report_
        click.echo(
            f"{report['sentences']:,} sentences, {report['words']:,} words; n-grams by order: "
            f"{', '.join(f'{n:,}' for n in counts)}."
        )
    for target in (out, arpa):
        if target is not None and target != "-":
            say(f"{format_bytes(os.path.getsize(target))} written to {target}.", quiet=quiet)

"""``tacit lm correct``: correct the spelling of a text, learned from other text."""

import csv
import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.csv_out import check_file, check_target, open_output
from tacit.cli.options import (
    debug_option,
    engine_from,
    engine_options,
    json_option,
    quiet_option,
)
from tacit.cli.terminal import clean, print_json, say

if TYPE_CHECKING:
    from tacit.language.corrections import Correction
    from tacit.language.spelling import SpellingCorrector

__all__ = ["correct"]

PIECE = 2**18  # characters corrected at a time, up to the end of a line
SHOWN = 20  # changes said on standard error; --json has them all


@click.command()
@click.argument("text", metavar="FILE", default="-")
@click.option("--learn", metavar="PATH", help="Text to learn words and their company from.")
@click.option("--running", is_flag=True, help="Lines of --learn break anywhere, mid-sentence.")
@click.option("--model", "file", metavar="MODEL", help="A corrector that --save wrote.")
@click.option("--dictionary", metavar="FILE", help="Words that exist, one a line.")
@click.option("--pairs", metavar="CSV", help="Examples: a misspelling, and what was meant.")
@click.option("--save", metavar="MODEL", help="Keep what was learned (.safetensors).")
@click.option("-o", "--order", type=click.IntRange(1, 6), help="Words of context and one.  [3]")
@click.option("--distance", type=click.IntRange(1, 3), help="The most edits to a word.  [2]")
@click.option(
    "--error-rate",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The share of words that are misspelt.  [0.02]",
)
@click.option("--unknown-only", is_flag=True, help="Leave words that exist as they are.")
@click.option(
    "--suggest",
    type=click.IntRange(1),
    metavar="N",
    help="FILE has a word a line: print N suggestions for each instead.",
)
@click.option("--out", metavar="FILE", default="-", help="The corrected text.")
@engine_options
@json_option
@quiet_option
@debug_option
def correct(
    text: str,
    learn: str | None,
    running: bool,
    file: str | None,
    dictionary: str | None,
    pairs: str | None,
    save: str | None,
    order: int | None,
    distance: int | None,
    error_rate: float | None,
    unknown_only: bool,
    suggest: int | None,
    out: str,
    engine: str,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Correct the spelling of FILE, words that exist but do not fit included.

    FILE is text, also packed with gzip or zstd; - is standard input. What is right is
    learned from --learn: a folder of text files, a .txt (a document a line), .csv, .jsonl or
    .parquet file; or kept from then in --model. The corrected text goes to standard output,
    what was changed and why to standard error.
    """
    if (learn is None) == (file is None):
        raise click.UsageError("Give either --learn PATH or --model MODEL.")
    if file is not None and (dictionary or pairs or order or running):
        raise click.UsageError(
            "--dictionary, --pairs, --order and --running say how to learn; they go with "
            "--learn, not with --model."
        )
    if [text, learn, dictionary, pairs].count("-") > 1:
        raise click.UsageError("Standard input can be read only once. Name a file.")
    if as_json and out == "-":
        out = ""
    check_file(save)
    check_target(out or None)
    given = read_whole(text, quiet=quiet)
    if file is not None:
        speller = open_speller(file)
    else:
        speller = learn_speller(
            str(learn), running, dictionary, pairs, order or 3, engine_from(engine, workers)
        )
    changed = {"max_distance": distance, "error_rate": error_rate}
    speller.set_params(**{name: value for name, value in changed.items() if value is not None})
    if unknown_only:
        speller.set_params(real_words=False)
    speller._validate_params()  # click lets nan pass a range
    if save is not None:
        speller.save(save)
        say(f"Corrector written to {save}.", quiet=quiet)
    if suggest is not None:
        show_suggestions(speller, given, suggest, out, as_json)
    else:
        show_corrections(speller, given, out, as_json, quiet)


# --- The work ---


def learn_speller(
    path: str,
    running: bool,
    dictionary: str | None,
    pairs: str | None,
    order: int,
    engine: Any,
) -> "SpellingCorrector":
    from tacit.data.documents import Documents
    from tacit.language.spelling import SpellingCorrector

    words = [] if dictionary is None else read_whole(dictionary).split()
    examples = [] if pairs is None else read_pairs(pairs)
    documents: Any = [read_whole(path)] if running else Documents.open(path)
    model = SpellingCorrector(order=order, engine=engine)
    return model.fit(documents, dictionary=words, pairs=examples)


def open_speller(file: str) -> "SpellingCorrector":
    from tacit.core.modelfile import load
    from tacit.language.spelling import SpellingCorrector

    model = load(file)
    if not isinstance(model, SpellingCorrector):
        raise click.BadParameter(
            f"{file} holds a {type(model).__name__}, not a corrector. Make one with --learn "
            "and --save.",
            param_hint="--model",
        )
    return model


def read_whole(path: str, *, quiet: bool = False) -> str:
    """A text file of any encoding with a mark, else UTF-8; bad bytes become U+FFFD."""
    from tacit.core.errors import PartialInput
    from tacit.data.decode import read_raw, to_utf8

    if path == "-":
        raw = read_raw(sys.stdin.buffer, "standard input")
    else:
        with open(path, "rb") as stream:
            raw = read_raw(stream, path)
    raw = to_utf8(raw)
    if raw.partial:
        raise PartialInput(f"{raw.partial}. Make it again.", file=raw.name)
    say(*(f"{raw.name}: {note}." for note in raw.notes), quiet=quiet)
    return raw.data.decode("utf-8", "replace")


def read_pairs(path: str) -> list[tuple[str, str]]:
    """The first two columns; a line that names them is skipped."""
    from tacit.core.errors import DataError

    content = read_whole(path)
    comma = "\t" if "\t" in content.partition("\n")[0] else ","
    out = []
    for row, cells in enumerate(csv.reader(io.StringIO(content), delimiter=comma), 1):
        if not cells or (row == 1 and cells[0].strip().lower() in ("misspelling", "typed")):
            continue
        if len(cells) < 2:
            raise DataError(
                f"has {len(cells)} column, but a misspelling and what was meant are needed.",
                file=path,
                row=row,
            )
        out.append((cells[0], cells[1]))
    return out


def pieces(text: str) -> Iterator[str]:
    """The text in parts that end with a line, or at a space if a line is endless."""
    at = 0
    while at < len(text):
        stop = min(at + PIECE, len(text))
        if stop < len(text):
            cut = max(text.rfind("\n", at, stop), at)
            cut = cut if cut > at else max(text.rfind(" ", at, stop), at)
            stop = cut + 1 if cut > at else stop
        yield text[at:stop]
        at = stop


# --- What is printed ---


def show_corrections(
    speller: "SpellingCorrector", text: str, out: str, as_json: bool, quiet: bool
) -> None:
    done: list[tuple[int, Correction]] = []
    at = 0
    for piece in pieces(text):
        done.append((at, speller.correct(piece)))
        at += len(piece)
    changes = [
        {**change.to_dict(), "start": change.start + at, "stop": change.stop + at}
        for at, part in done
        for change in part.changes
    ]
    if out:
        with open_output(out) as stream:
            for _, part in done:
                stream.write(clean(part.text) if out == "-" else part.text)
    if as_json:
        whole = "".join(part.text for _, part in done)
        print_json({"changes": changes, "text": whole, "out": out or None})
        return
    said = [change for _, part in done for change in part.changes]
    say(*said[:SHOWN], quiet=quiet)
    more = f", {len(said) - SHOWN:,} of them not shown" if len(said) > SHOWN else ""
    say(f"{len(said):,} word(s) changed{more}.", quiet=quiet)


def show_suggestions(
    speller: "SpellingCorrector", text: str, top: int, out: str, as_json: bool
) -> None:
    words = text.split()
    found = [(word, speller.suggest(word, top=top)) for word in words]
    if as_json:
        listed = [
            {"word": word, "suggestions": [each.to_dict() for each in these]}
            for word, these in found
        ]
        print_json({"words": listed})
    if out:
        with open_output(out) as stream:
            for word, these in found:
                said = ", ".join(f"{each.word} {each.probability:.3f}" for each in these)
                stream.write(f"{clean(word)}\t{said or '(nothing near it)'}\n")

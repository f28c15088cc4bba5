"""``tacit lm correct``: correct the spelling of a text, learned from other text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.inputs import open_model, read_pairs, read_text
from tacit.cli.options import FILE, TARGET, RunOptions, engine_options
from tacit.cli.output import clean, note, open_output, print_json
from tacit.core.wording import count

if TYPE_CHECKING:
    from tacit.language.corrections import Correction
    from tacit.language.spelling import SpellingCorrector

__all__ = ["correct"]

CHUNK = 2**18  # characters corrected at a time, up to the end of a line
SHOWN = 20  # changes printed to standard error; --json has them all


@click.command()
@click.argument("text", metavar="FILE", default="-")
@click.option("--learn", metavar="PATH",
              help="Text to learn words and their contexts from  [default: none]")
@click.option("--running", is_flag=True,
              help="Treat --learn as one running text, not as a document per line.")
@click.option("--model", "file", metavar="MODEL",
              help="Corrector that --save wrote, instead of --learn  [default: none]")
@click.option("--dictionary", metavar="FILE",
              help="File of correct words, one per line  [default: none]")
@click.option("--pairs", metavar="CSV",
              help="File of misspellings and their corrections  [default: none]")
@click.option("--save", type=FILE, metavar="MODEL",
              help="Model file to write (.safetensors)  [default: none]")
@click.option("-o", "--order", type=click.IntRange(1, 6), help="N-gram order  [default: 3]")
@click.option("--distance", type=click.IntRange(1, 3),
              help="Maximum edit distance of a correction  [default: 2]")
@click.option("--error-rate", type=click.FloatRange(0, 1, min_open=True, max_open=True),
              help="Expected fraction of misspelled words  [default: 0.02]")
@click.option("--unknown-only", is_flag=True, help="Correct only unknown words.")
@click.option("--suggest", type=click.IntRange(1), metavar="N",
              help="Number of suggestions to print for each word of FILE, instead of "
              "correcting it  [default: none]")
@click.option("--out", type=TARGET, metavar="FILE", default="-", show_default=False,
              help="File for the corrected text  [default: standard output]")
@engine_options
def correct(
    text: str, learn: str | None, running: bool, file: str | None, dictionary: str | None,
    pairs: str | None, save: str | None, order: int | None, distance: int | None,
    error_rate: float | None, unknown_only: bool, suggest: int | None, out: str,
    run: RunOptions,
) -> None:  # fmt: skip
    """Correct the spelling of FILE, including correct words that do not fit their context.

    FILE is text, also compressed with gzip or zstd; - is standard input. The corrector learns
    from --learn (a folder of text files, or a .txt, .csv, .jsonl or .parquet file) or comes
    from --model. The corrected text goes to standard output; the changes and their reasons go
    to standard error.

    \b
    tacit lm correct letter.txt --learn novels/ --save speller.safetensors
    tacit lm correct letter.txt --model speller.safetensors --out corrected.txt
    """
    if (learn is None) == (file is None):
        raise click.UsageError("Give either --learn PATH or --model MODEL.")
    if file is not None and (dictionary or pairs or order or running):
        raise click.UsageError(
            "--dictionary, --pairs, --order and --running are for learning: they go with "
            "--learn, not with --model."
        )
    if [text, learn, dictionary, pairs].count("-") > 1:
        raise click.UsageError("Standard input can be read only once. Name a file.")
    if run.as_json and out == "-":
        out = ""
    content = read_text(text)
    if file is not None:
        wanted, command = "a corrector", "tacit lm correct FILE --learn PATH --save MODEL"
        speller = open_model(file, ["correct", "suggest"], wanted, command)
    else:
        speller = learn_speller(
            str(learn), running, dictionary, pairs, order or 3, run.engine
        )
    changed = {"max_distance": distance, "error_rate": error_rate}
    speller.set_params(**{name: value for name, value in changed.items() if value is not None})
    if unknown_only:
        speller.set_params(real_words=False)
    speller._validate_params()  # click lets nan pass a range
    if save is not None:
        speller.save(save)
        note(f"Corrector written to {save}.")
    if suggest is not None:
        show_suggestions(speller, content, suggest, out, run.as_json)
    else:
        show_corrections(speller, content, out, run)


# --- Correctors ---


def learn_speller(
    path: str, running: bool, dictionary: str | None, pairs: str | None, order: int,
    engine: Any,
) -> "SpellingCorrector":  # fmt: skip
    from tacit.data.documents import Documents
    from tacit.language.spelling import SpellingCorrector

    words = [] if dictionary is None else read_text(dictionary).split()
    examples = [] if pairs is None else read_pairs(pairs)
    documents: Any = [read_text(path)] if running else Documents.open(path)
    model = SpellingCorrector(order=order, engine=engine)
    return model.fit(documents, dictionary=words, pairs=examples)


def chunks(text: str) -> Iterator[str]:
    """The text in chunks that end with a line, or at a space in a very long line."""
    at = 0
    while at < len(text):
        stop = min(at + CHUNK, len(text))
        if stop < len(text):
            cut = max(text.rfind("\n", at, stop), at)
            cut = cut if cut > at else max(text.rfind(" ", at, stop), at)
            stop = cut + 1 if cut > at else stop
        yield text[at:stop]
        at = stop


# --- Printing ---


def show_corrections(
    speller: "SpellingCorrector", text: str, out: str, run: RunOptions
) -> None:
    done: list[tuple[int, Correction]] = []
    at = 0
    for chunk in chunks(text):
        done.append((at, speller.correct(chunk)))
        at += len(chunk)
    changes = [
        {**change.to_dict(), "start": change.start + at, "stop": change.stop + at}
        for at, part in done
        for change in part.changes
    ]
    if out:
        with open_output(out) as stream:
            for _, part in done:
                stream.write(clean(part.text) if out == "-" else part.text)
    if run.as_json:
        whole = "".join(part.text for _, part in done)
        print_json({"changes": changes, "text": whole, "out": out or None})
        return
    applied = [change for _, part in done for change in part.changes]
    note(*applied[:SHOWN])
    more = f", {len(applied) - SHOWN:,} of them not shown" if len(applied) > SHOWN else ""
    note(f"{count(len(applied), 'word')} changed{more}.")


def show_suggestions(
    speller: "SpellingCorrector", text: str, top: int, out: str, as_json: bool
) -> None:
    words = text.split()
    suggested = [(word, speller.suggest(word, top=top)) for word in words]
    if as_json:
        listed = [
            {"word": word, "suggestions": [each.to_dict() for each in these]}
            for word, these in suggested
        ]
        print_json({"words": listed})
    if out:
        with open_output(out) as stream:
            for word, these in suggested:
                listing = ", ".join(f"{each.word} {each.probability:.3f}" for each in these)
                stream.write(f"{clean(word)}\t{listing or '(no suggestion)'}\n")

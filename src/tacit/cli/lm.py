"""``tacit lm``: train language models; score, generate and correct text with them."""

import os
import re
import sys
from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import inputs, options
from tacit.cli.options import CommandGroup, DocumentOptions, OneOf, RunOptions, ShowOptions
from tacit.cli.output import clean, draw_table, note, open_output, print_json
from tacit.cli.progress import Running
from tacit.core.memory import format_bytes, peak_memory, resident_memory
from tacit.core.wording import count

if TYPE_CHECKING:
    from tacit.data.documents import Documents
    from tacit.language.backoff_model import BackoffModel
    from tacit.language.corrections import Change
    from tacit.language.ngram_model import NGramModel
    from tacit.language.spelling import SpellingCorrector

__all__ = ["lm"]

SMOOTHINGS = [
    "modified-kneser-ney", "kneser-ney", "absolute", "witten-bell", "katz", "jelinek-mercer",
    "backoff", "add-k", "mle",
]  # fmt: skip
CHUNK = 2**18  # characters corrected at a time, up to the end of a line
SHOWN = 20  # changes printed to standard error; --json has all


@click.group(cls=CommandGroup)
def lm() -> None:
    """Train n-gram language models; score, generate and complete text with them.

    MODEL is a file that `tacit lm train` wrote, or any ARPA file.

    \b
    tacit lm train novels.txt --order 5 --out novels.lm
    tacit lm perplexity novels.lm held_out.txt
    tacit lm complete novels.lm "it was the bes"
    """


class PruningCommand(options.Command):
    """Accepts any number of numbers after --prune, as KenLM does: ``--prune 0 0 1``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--prune" in args:
            start = args.index("--prune") + 1
            thresholds = [*takewhile(str.isdecimal, args[start:])]
            if not thresholds:
                raise click.BadParameter("Give numbers, as in --prune 0 0 1.", ctx)
            args[start : start + len(thresholds)] = [" ".join(thresholds)]
        return super().parse_args(ctx, args)


@lm.command(cls=PruningCommand)
@click.argument("path", default="-")
@click.option("-o", "--order", type=click.IntRange(1, 100), default=3,
              help="N-gram order")
@click.option("--out", type=options.FILE, metavar="FILE",
              help="Model file to write (.safetensors)  [default: none]")
@click.option("--arpa", type=options.OUT, metavar="FILE",
              help="ARPA file to write (.gz compresses it); - is standard output  "
              "[default: none]")
@click.option("--smoothing", type=OneOf(SMOOTHINGS), default=SMOOTHINGS[0],
              help="Smoothing method")
@click.option("--prune", metavar="N ...", default="", show_default=False,
              help="Pruning thresholds by order: n-grams "
              "with counts up to N are dropped, as in --prune 0 0 1  [default: none]")
@click.option("--limit_vocab_file", "--limit-vocab-file", "words", metavar="FILE",
              help="Vocabulary file, with words separated by white space  [default: all words]")
@click.option("--unk-cutoff", type=click.IntRange(0), default=0,
              help="Replace words that occur at most N times by <unk>")
@click.option("--add", "k", type=click.FloatRange(0, min_open=True), default=1.0,
              help="Count to add, with --smoothing add-k")
@click.option("--tokenizer", type=OneOf(["whitespace", "words", "plain", "char"]),
              default="whitespace",
              help="Tokenizer; char makes every character a token")
@click.option("--lowercase", is_flag=True, help="Convert the text to lower case first.")
@click.option("--quantize", is_flag=True, help="Store each number of the model in one byte.")
@partial(options.document_options, memory=options.memory_option())
@options.engine_options
def train(
    path: str, out: str | None, arpa: str | None, order: int, prune: str, words: str | None,
    quantize: bool, documents: DocumentOptions, run: RunOptions, **settings: Any,
) -> None:  # fmt: skip
    """Train a model on the text at PATH, one sentence per line; - is standard input.

    \b
    tacit lm train novels.txt --order 5 --out novels.lm
    tacit lm train chat.txt --smoothing add-k --add 0.1 --arpa chat.arpa
    """
    smoothing = settings["smoothing"]
    if smoothing != "add-k":
        options.refuse_options(["k"], f"goes with --smoothing add-k, not with {smoothing}.")
    if out is None and arpa is None:
        raise click.UsageError("Name a file for the model: --out FILE, --arpa FILE, or both.")
    if out is not None and out == arpa:
        raise click.UsageError(f"--out and --arpa are both {out}. Give them different names.")
    from tacit.language.backoff_model import BackoffModel
    from tacit.language.backoff_model import train as train_model

    vocabulary = None if words is None else inputs.read_vocabulary(words)
    texts = inputs.open_documents(path, documents)
    start = resident_memory()
    thresholds = tuple(int(n) for n in prune.split())
    model = BackoffModel(
        order, vocabulary=vocabulary, prune=thresholds, memory=documents.memory,
        engine=run.engine, **settings,
    )  # fmt: skip
    with Running("Counting n-grams"):
        train_model(model, texts, baseline=0)
    model.vocabulary = None  # the words are in the file already
    if quantize:
        model = model.quantized()
    for target in (out, arpa):
        if target is not None:
            write_model(model, target, as_arpa=target == arpa)
    show_training(model, out, arpa, as_json=run.as_json)
    peak = peak_memory()
    if documents.memory is not None and peak > documents.memory:
        note(
            f"Note: the process took {format_bytes(peak)}, more than --memory. Python and its "
            f"packages alone take {format_bytes(start)}."
        )


@lm.command()
@click.argument("model")
@click.argument("path", default="-")
@options.document_options
@options.engine_options
def score(model: str, path: str, documents: DocumentOptions, run: RunOptions) -> None:
    """Print the log10 probability of each line at PATH; - is standard input."""
    loaded = open_model(model, run.engine)
    texts = inputs.open_documents(path, documents, counted=False)
    rows = zip(lines(texts), loaded.score_sentences(lines(texts)), strict=True)
    if run.as_json:
        sentences = [
            {"sentence": text, "score": float(s) if s > float("-inf") else None}
            for text, s in rows
        ]
        print_json({"model": model, "sentences": sentences})
    else:
        for text, s in rows:
            click.echo(f"{s:.4f}\t{clean(text).strip()}")


@lm.command()
@click.argument("model")
@click.argument("path", default="-")
@click.option("--cache", metavar="FILE",
              help="Text on which to estimate the weights of a cache of recent words, which is "
              "added to MODEL  [default: no cache]")
@click.option("--mix", metavar="MODEL",
              help="Second model to interpolate with; needs --held-out  "
              "[default: none]")
@click.option("--held-out", metavar="FILE",
              help="Text on which to estimate the weights of --mix  [default: none]")
@options.document_options
@options.engine_options
def perplexity(
    model: str, path: str, cache: str | None, mix: str | None, held_out: str | None,
    documents: DocumentOptions, run: RunOptions,
) -> None:  # fmt: skip
    """Measure how well MODEL predicts the text at PATH; - is standard input."""
    if (mix is None) != (held_out is None):
        raise click.UsageError("--mix MODEL and --held-out FILE go together.")
    if mix is not None and cache is not None:
        raise click.UsageError("--mix and --cache cannot be combined. Give one.")
    if [path, cache, held_out].count("-") > 1:
        raise click.UsageError("Standard input can be read only once. Name a file.")
    predictor: Any = open_model(model, run.engine)
    read = partial(inputs.open_documents, options=documents, counted=False)
    texts = read(path)
    weights = None
    if cache is not None:
        from tacit.language import CacheModel

        predictor = CacheModel(predictor).fit(read(cache))
        weights = predictor.weights_
    elif mix is not None and held_out is not None:
        from tacit.language import MixedModel

        predictor = MixedModel([predictor, open_model(mix, run.engine)])
        weights = predictor.fit(read(held_out)).weights_
    result = predictor.perplexity(texts)
    if run.as_json:
        plain = None if weights is None else [float(w) for w in weights]
        print_json({"model": model, **result.to_dict(), "weights": plain})
    else:
        if weights is not None:
            note(f"Weights: {', '.join(f'{w:.3f}' for w in weights)}.")
        click.echo(str(result))


@lm.command()
@click.argument("model")
@click.option("-n", "count", type=click.IntRange(1), default=5,
              help="Number of sentences")
@click.option("--prefix", default="", show_default=False,
              help="Beginning of each sentence  [default: none]")
@click.option("--temperature", type=float, default=1.0,
              help="Sampling temperature; below 1 prefers likely words")
@click.option("--max-words", type=click.IntRange(1), default=100,
              help="Maximum length of a sentence in words")
@options.seed_option
@options.show_options
def generate(
    model: str, count: int, prefix: str, temperature: float, max_words: int, seed: int,
    show: ShowOptions,
) -> None:  # fmt: skip
    """Generate sentences from MODEL."""
    from tacit.core.randoms import spawn

    loaded = open_model(model)
    settings: dict[str, Any] = {
        "prefix": prefix, "temperature": temperature, "max_words": max_words,
    }  # fmt: skip
    sentences = [loaded.generate(int(child), **settings) for child in spawn(seed, count)]
    if show.as_json:
        print_json({"model": model, "sentences": sentences})
    else:
        for sentence in sentences:
            click.echo(clean(sentence))


@lm.command("next")
@click.argument("model")
@click.argument("history", nargs=-1)
@options.top_option(10)
@options.show_options
def next_words(model: str, history: tuple[str, ...], top: int, show: ShowOptions) -> None:
    """Print the most probable next words after HISTORY, the beginning of a sentence."""
    words = open_model(model).next_words(" ".join(history), top=top)
    if show.as_json:
        rows = [{"word": word, "probability": p} for word, p in words]
        print_json({"history": " ".join(history), "next": rows})
    else:
        for word, p in words:
            click.echo(f"{p:.4f}\t{clean(word)}")


@lm.command()
@click.argument("model")
@click.argument("text")
@options.top_option(5)
@click.option("--words", type=click.IntRange(1), default=1,
              help="Maximum number of words to add")
@options.show_options
def complete(model: str, text: str, top: int, words: int, show: ShowOptions) -> None:
    """Print the most probable completions of TEXT, which may end within a word.

    The probability is conditional: for "the ca", that the word which begins with "ca" is
    "cat". With --words, it is that of all added words together.
    """
    completions = open_model(model).complete(text, top=top, max_words=words)
    if show.as_json:
        print_json({"text": text, "completions": [vars(each) for each in completions]})
    elif completions:
        rows = ((each.text, f"{each.probability:.2g}") for each in completions)
        draw_table(["Completion", "Probability"], rows, right=(1,))
    else:
        click.echo("The model knows no word that begins like this.")


@lm.command()
@click.argument("model")
@click.argument("target", type=options.FILE)
@click.option("--quantize", is_flag=True, help="Store each number of the model in one byte.")
@options.quiet_option
@options.debug_option
def convert(model: str, target: str, quantize: bool, quiet: bool) -> None:
    """Write MODEL as TARGET: an ARPA file if its name ends with .arpa or .arpa.gz."""
    loaded = open_model(model)
    if quantize:
        loaded = loaded.quantized()
    write_model(loaded, target, as_arpa=is_arpa(target))
    note(f"Model written to {target}.")


def lines(documents: "Documents") -> Iterator[str]:
    """The sentences of documents, one per line as in training."""
    for text in documents.texts():
        yield from text.removesuffix("\n").split("\n")


@lm.command()
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
@click.option("--save", type=options.FILE, metavar="MODEL",
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
@click.option("--out", type=options.TARGET, metavar="FILE", default="-", show_default=False,
              help="File for the corrected text  [default: standard output]")
@options.engine_options
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
    content = inputs.read_text(text)
    if file is not None:
        expected, command = "a corrector", "tacit lm correct FILE --learn PATH --save MODEL"
        speller = inputs.open_model(file, ["correct", "suggest"], expected, command)
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


# --- Models ---


def is_arpa(path: str) -> bool:
    return path.removesuffix(".gz").endswith(".arpa")


def holds_model(path: str) -> bool:
    """Whether a file is a model file: by its content, a JSON header after its length."""
    if not os.path.isfile(path):
        return not is_arpa(path)
    from tacit.core.tensorfile import what_is

    with open(path, "rb") as file:
        head = file.read(4096)
    if head[8:9] == b"{":
        return True
    # The error for other formats that are recognized comes from the reader of models.
    foreign = what_is(head)
    may_be_arpa = is_arpa(path) or b"\\data\\" in head
    return foreign is not None and not may_be_arpa and not re.search("ARPA|gzip", foreign)


def open_model(path: str, engine: Any = None) -> "NGramModel":
    """The model in a model file or an ARPA file."""
    import tacit
    from tacit.core.errors import DataError
    from tacit.language import read_arpa

    # Loaded and checked, not memory-mapped: the kernels do not check the values.
    if not os.path.exists(path):
        raise DataError(inputs.missing(path))
    model = tacit.load(path) if holds_model(path) else read_arpa(path)
    if not hasattr(model, "next_words") or not hasattr(model, "score_sentences"):
        command = "tacit lm train PATH --out MODEL"
        raise inputs.wrong_model(path, model, "a language model", command)
    if engine is not None:
        model.engine = engine
    return model


def write_model(model: "BackoffModel", path: str, *, as_arpa: bool) -> None:
    from tacit.language.arpa import write_arpa

    if not as_arpa:
        model.save(path)
    elif path == "-":
        write_arpa(model, sys.stdout.buffer)
    else:
        write_arpa(model, path)


def show_training(
    model: "BackoffModel", out: str | None, arpa: str | None, *, as_json: bool
) -> None:
    counts, report = model.ngram_counts_, model.input_report_
    for order in model.discount_fallbacks_:
        values = ", ".join(f"{d:g}" for d in model.discounts_[order - 1][1:])
        note(
            f"Note: the text is too short to estimate the discounts of order {order}; "
            f"{values} are used."
        )
    if report["reserved"]:
        note(
            f"Note: <s> or </s> occurs {report['reserved']:,} times in the text and was read "
            "as an unknown word."
        )
    if as_json:
        print_json({
            "model": out, "arpa": arpa, "order": len(counts), "smoothing": model.smoothing,
            "ngrams": counts, "discounts": model.discounts_,
            "discount_fallbacks": model.discount_fallbacks_, "input": report,
        })  # fmt: skip
    elif arpa != "-":
        click.echo(
            f"{count(report['sentences'], 'sentence')}, {count(report['words'], 'word')}; "
            f"n-grams by order: {', '.join(f'{n:,}' for n in counts)}."
        )
    for target in (out, arpa):
        if target is not None and target != "-":
            note(f"{format_bytes(os.path.getsize(target))} written to {target}.")


# --- Correctors ---


def learn_speller(
    path: str, running: bool, dictionary: str | None, pairs: str | None, order: int,
    engine: Any,
) -> "SpellingCorrector":  # fmt: skip
    from tacit.data.documents import Documents
    from tacit.language.spelling import SpellingCorrector

    words = [] if dictionary is None else inputs.read_text(dictionary).split()
    examples = [] if pairs is None else inputs.read_pairs(pairs)
    documents: Any = [inputs.read_text(path)] if running else Documents.open(path)
    model = SpellingCorrector(order=order, engine=engine)
    return model.fit(documents, dictionary=words, pairs=examples)


def chunks(text: str) -> Iterator[str]:
    """The text in chunks that end with a line, or at a space in a very long line."""
    start = 0
    while start < len(text):
        stop = start + CHUNK
        if stop < len(text):
            ends = (text.rfind(end, start + 1, stop) + 1 for end in "\n ")  # 0: there is none
            stop = next(filter(None, ends), stop)
        yield text[start:stop]
        start = stop


# --- Printing corrections ---


def show_corrections(
    speller: "SpellingCorrector", text: str, out: str, run: RunOptions
) -> None:
    start, parts = 0, []
    changes: list[dict[str, Any]] = []
    applied: list[Change] = []
    for chunk in chunks(text):
        part = speller.correct(chunk)
        parts.append(part.text)
        changes += [
            {**change.to_dict(), "start": change.start + start, "stop": change.stop + start}
            for change in part.changes
        ]
        applied += part.changes
        start += len(chunk)
    corrected = "".join(parts)
    if out:
        with open_output(out) as stream:
            stream.write(clean(corrected) if out == "-" else corrected)
    if run.as_json:
        print_json({"changes": changes, "text": corrected, "out": out or None})
        return
    note(*applied[:SHOWN])
    more = f", {len(applied) - SHOWN:,} of them not shown" if len(applied) > SHOWN else ""
    note(f"{count(len(applied), 'word')} changed{more}.")


def show_suggestions(
    speller: "SpellingCorrector", text: str, top: int, out: str, as_json: bool
) -> None:
    suggestions = [(word, speller.suggest(word, top=top)) for word in text.split()]
    if as_json:
        words = [
            {"word": word, "suggestions": [each.to_dict() for each in suggested]}
            for word, suggested in suggestions
        ]
        print_json({"words": words})
    if out:
        with open_output(out) as stream:
            for word, suggested in suggestions:
                listing = ", ".join(f"{each.word} {each.probability:.3f}" for each in suggested)
                stream.write(f"{clean(word)}\t{listing or '(no suggestion)'}\n")

"""``tacit lm``: train language models, score and generate text with them."""

from typing import Any

import click

from tacit.cli.csv_out import check_file, check_target
from tacit.cli.documents import check_whole, document_options, read_documents
from tacit.cli.language_models import (
    PruningCommand,
    each_line,
    open_model,
    read_text,
    read_vocabulary,
    show_training,
    text_options,
    write_model,
)
from tacit.cli.lm_correct import correct
from tacit.cli.options import (
    debug_option,
    engine_from,
    json_option,
    quiet_option,
    seed_option,
    standard_options,
)
from tacit.cli.terminal import clean, print_json, say

__all__ = ["lm"]

SMOOTHINGS = [
    "modified-kneser-ney", "kneser-ney", "absolute", "witten-bell", "katz", "jelinek-mercer",
    "backoff", "add-k", "mle",
]  # fmt: skip


@click.group()
def lm() -> None:
    """Language models: how likely text is, and what comes next.

    MODEL is a file that `tacit lm train` wrote, or an ARPA file of any origin.
    """


lm.add_command(correct)


@lm.command(cls=PruningCommand)
@click.argument("path", default="-")
@click.option("-o", "--order", type=click.IntRange(1, 100), default=3, show_default=True,
              help="Words to the longest n-gram.")  # fmt: skip
@click.option("--out", metavar="FILE", help="The model (.safetensors), which opens at once.")
@click.option("--arpa", metavar="FILE", help="The same as an ARPA file (.gz packs); - stdout.")
@click.option("--smoothing", type=click.Choice(SMOOTHINGS), default=SMOOTHINGS[0],
              show_default=True, help="How unseen n-grams get a probability.")  # fmt: skip
@click.option("--prune", metavar="N ...", default="",
              help="Per order, drop n-grams seen so often or less: --prune 0 0 1.")  # fmt: skip
@click.option("--limit_vocab_file", "--limit-vocab-file", "words", metavar="FILE",
              help="The words there are, one to a line or separated by spaces.")  # fmt: skip
@click.option("--unk-cutoff", type=click.IntRange(0), default=0, show_default=True,
              help="Words seen so often or less become <unk>.")  # fmt: skip
@click.option("--add", "k", type=float, default=1.0, show_default=True, help="The k of add-k.")
@click.option("--tokenizer", type=click.Choice(["whitespace", "words", "plain", "char"]),
              default="whitespace", show_default=True, help="What a word is.")  # fmt: skip
@click.option("--lowercase", is_flag=True, help="Lower the case first.")
@click.option("--quantize", is_flag=True, help="One byte for each number of the model.")
@document_options
@standard_options
def train(
    path: str,
    order: int,
    out: str | None,
    arpa: str | None,
    smoothing: str,
    prune: str,
    words: str | None,
    unk_cutoff: int,
    k: float,
    tokenizer: str,
    lowercase: bool,
    quantize: bool,
    text_column: str | None,
    id_column: str | None,
    kind: str | None,
    encoding: str | None,
    memory: int,
    allow_partial: bool,
    seed: int,
    engine: str,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a model on the sentences of PATH, a line each; - is standard input."""
    if out is None and arpa is None:
        raise click.UsageError("Say where the model goes: --out FILE, --arpa FILE, or both.")
    if arpa == "-" and as_json:
        raise click.UsageError("--json and --arpa - both want standard output. Drop one.")
    if out is not None and out == arpa:
        raise click.UsageError(f"--out and --arpa are both {out}. Give them different names.")
    check_file(out)
    check_target(arpa)
    from tacit.language import NGramModel

    vocabulary = None if words is None else read_vocabulary(words)
    documents = read_documents(path, text_column, id_column, kind, encoding)
    say(*documents.report.lines(), quiet=quiet)
    model = NGramModel(
        order,
        smoothing=smoothing,
        vocabulary=vocabulary,
        unk_cutoff=unk_cutoff,
        k=k,
        prune=tuple(int(n) for n in prune.split()),
        tokenizer=tokenizer,
        lowercase=lowercase,
        memory=memory,
        engine=engine_from(engine, workers),
    ).fit(documents)
    model.vocabulary = None  # the file has the words already
    if quantize:
        model = model.quantized()
    for target in (out, arpa):
        if target is not None:
            write_model(model, target, as_arpa=target == arpa)
    show_training(model, out, arpa, as_json, quiet)
    check_whole(documents.report, allow_partial)


@lm.command()
@click.argument("model")
@text_options
def score(model: str, path: str, options: Any) -> None:
    """log10 of the probability of each line of PATH; - is standard input."""
    found = open_model(model, options.engine)
    documents = read_text(path, options)
    scores = found.score_sentences(each_line(documents))
    lines = each_line(documents)
    if options.as_json:
        rows = [
            {"sentence": text, "score": float(s) if s > float("-inf") else None}
            for text, s in zip(lines, scores, strict=True)
        ]
        print_json({"model": model, "sentences": rows})
    else:
        for text, s in zip(lines, scores, strict=True):
            click.echo(f"{s:.4f}\t{clean(text).strip()}")
    check_whole(documents.report, options.allow_partial)


@lm.command()
@click.argument("model")
@click.option("--cache", metavar="FILE",
              help="Adapt to the text while reading it, as suits FILE.")  # fmt: skip
@click.option("--mix", metavar="MODEL", help="Mix with another model; needs --held-out.")
@click.option("--held-out", metavar="FILE", help="Text to find the shares of a mixture on.")
@text_options
def perplexity(
    model: str,
    path: str,
    cache: str | None,
    mix: str | None,
    held_out: str | None,
    options: Any,
) -> None:
    """How well MODEL predicts the text of PATH; - is standard input."""
    if (mix is None) != (held_out is None):
        raise click.UsageError("--mix MODEL and --held-out FILE go together.")
    if mix is not None and cache is not None:
        raise click.UsageError("--mix and --cache do not go together yet. Drop one.")
    if [path, cache, held_out].count("-") > 1:
        raise click.UsageError("Standard input can be read only once. Name a file.")
    found: Any = open_model(model, options.engine)
    documents = read_text(path, options)
    weights = None
    if cache is not None:
        from tacit.language import CacheModel

        found = CacheModel(found).fit(read_text(cache, options))
        weights = found.weights_
    elif mix is not None and held_out is not None:
        from tacit.language import MixedModel

        found = MixedModel([found, open_model(mix, options.engine)])
        weights = found.fit(read_text(held_out, options)).weights_
    result = found.perplexity(documents)
    if options.as_json:
        shares = None if weights is None else [float(w) for w in weights]
        print_json({"model": model, **result.to_dict(), "weights": shares})
    else:
        if weights is not None:
            say(f"Weights: {', '.join(f'{w:.3f}' for w in weights)}.", quiet=options.quiet)
        click.echo(str(result))
    check_whole(documents.report, options.allow_partial)


@lm.command()
@click.argument("model")
@click.option("-n", "count", type=click.IntRange(1), default=5, show_default=True,
              help="Sentences to draw.")  # fmt: skip
@click.option("--prefix", default="", help="How each begins.")
@click.option("--temperature", type=float, default=1.0, show_default=True,
              help="Below 1 prefers likely words.")  # fmt: skip
@click.option("--max-words", type=click.IntRange(1), default=100, show_default=True)
@seed_option
@json_option
@quiet_option
@debug_option
def generate(
    model: str, count: int, prefix: str, temperature: float, max_words: int, seed: int,
    as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Draw sentences from MODEL."""
    from tacit.core.randoms import spawn

    found = open_model(model)
    drawn = [
        found.generate(
            int(each), prefix=prefix, temperature=temperature, max_words=max_words
        )
        for each in spawn(seed, count)
    ]
    if as_json:
        print_json({"model": model, "sentences": drawn})
    else:
        for sentence in drawn:
            click.echo(clean(sentence))


@lm.command("next")
@click.argument("model")
@click.argument("history", nargs=-1)
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="To show.")
@json_option
@quiet_option
@debug_option
def next_words(
    model: str, history: tuple[str, ...], top: int, as_json: bool, quiet: bool
) -> None:
    """The likeliest words after HISTORY, from the start of a sentence on."""
    found = open_model(model).next_words(" ".join(history), top=top)
    if as_json:
        rows = [{"word": word, "probability": p} for word, p in found]
        print_json({"history": " ".join(history), "next": rows})
    else:
        for word, p in found:
            click.echo(f"{p:.4f}\t{clean(word)}")


@lm.command()
@click.argument("model")
@click.argument("text")
@click.option("--top", type=click.IntRange(1), default=5, show_default=True, help="To show.")
@click.option("--words", type=click.IntRange(1), default=1, show_default=True,
              help="Words to add, at most.")  # fmt: skip
@json_option
@quiet_option
@debug_option
def complete(
    model: str, text: str, top: int, words: int, as_json: bool, quiet: bool
) -> None:
    """The likeliest ways to go on with TEXT, which may end within a word."""
    found = open_model(model).complete(text, top=top, max_words=words)
    if as_json:
        print_json({"text": text, "completions": [vars(each) for each in found]})
    else:
        for each in found:
            click.echo(clean(each))


@lm.command()
@click.argument("model")
@click.argument("target")
@click.option("--quantize", is_flag=True, help="One byte for each number of the model.")
@quiet_option
@debug_option
def convert(model: str, target: str, quantize: bool, quiet: bool) -> None:
    """Write MODEL as TARGET: an ARPA file if its name ends with .arpa or .arpa.gz."""
    from tacit.cli.language_models import is_arpa

    check_file(target)
    found = open_model(model)
    if quantize:
        found = found.quantized()
    write_model(found, target, as_arpa=is_arpa(target))
    say(f"Model written to {target}.", quiet=quiet)

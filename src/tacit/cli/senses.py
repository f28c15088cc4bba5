"""``tacit senses WORD PATH``: the senses of a word, found in its contexts."""

import click

from tacit.cli.inputs import check_whole, open_documents
from tacit.cli.options import DocumentOptions, RunOptions, document_options, run_options
from tacit.cli.output import check_file, clean, print_json, say, say_written

__all__ = ["senses"]


@click.command()
@click.argument("word")
@click.argument("path")
@click.option("-k", "--k", type=click.IntRange(1), default=2, show_default=True,
              help="Number of senses")
@click.option("--forms", metavar="A,B,...",
              help="Forms that count as the word  [default: its regular English endings]")
@click.option("--window", type=click.IntRange(1), default=25, show_default=True,
              help="Words of context on either side")
@click.option("--model", "model_path", metavar="FILE", help="Model file (.safetensors)")
@document_options
@run_options
def senses(
    word: str,
    path: str,
    k: int,
    forms: str | None,
    window: int,
    model_path: str | None,
    documents: DocumentOptions,
    run: RunOptions,
) -> None:
    """Cluster the occurrences of WORD in the documents of PATH by the words around them.

    Prints each sense with its size, the words that set it apart, and typical examples.
    """
    check_file(model_path)
    from tacit.core.errors import DataError
    from tacit.mixture import WordSenses

    texts = open_documents(path, documents, quiet=run.quiet)
    model = WordSenses(
        word, n_senses=k, forms=None if forms is None else forms.split(","), window=window,
        random_state=run.seed, engine=run.engine,
    )  # fmt: skip
    try:
        model.fit(texts)
    except ValueError as error:
        raise DataError(str(error)) from None
    if model_path:
        model.save(model_path)
    if run.as_json:
        found = [sense.to_dict() for sense in model.senses_]
        for each in found:
            for example in each["examples"]:
                example["id"] = str(texts.ids[example.pop("document")])
        print_json({"word": word, "occurrences": len(model.labels_), "senses": found})
    else:
        say(f"{len(model.labels_):,} occurrences of {word!r}.", quiet=run.quiet)
        for number, sense in enumerate(model.senses_, 1):
            click.echo(f"{number}. {sense.size:,} occurrences: {clean(', '.join(sense.words))}")
            for example in sense.examples:
                name = texts.ids[example.document]
                click.echo(f"     {clean(name)}: {clean(example.text)}")
    say_written(quiet=run.quiet, model=model_path)
    check_whole(texts, documents)

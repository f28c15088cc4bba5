"""``tacit senses WORD PATH``: the senses of a word, by its contexts."""

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import DocumentOptions, RunOptions
from tacit.cli.progress import Running
from tacit.core.wording import count

__all__ = ["senses"]


@options.command()
@click.argument("word")
@click.argument("path")
@click.option("-k", "--k", type=click.IntRange(1), default=2,
              help="Number of senses")
@click.option("--forms", metavar="A,B,...",
              help="Forms of the word to find  [default: WORD and its regular English endings]")
@click.option("--window", type=click.IntRange(1), default=25,
              help="Number of words of context on each side")
@options.model_option
@options.document_options
@options.run_options
def senses(
    word: str, path: str, k: int, forms: str | None, window: int, model_path: str | None,
    documents: DocumentOptions, run: RunOptions,
) -> None:  # fmt: skip
    """Group the occurrences of WORD in the documents at PATH by the words around them.

    Prints each sense with its size, its distinctive words and typical examples.

    \b
    tacit senses bank news/ -k 2
    """
    from tacit.core.errors import DataError
    from tacit.mixture import WordSenses

    texts = inputs.open_documents(path, documents)
    model = WordSenses(
        word, n_senses=k, forms=None if forms is None else forms.split(","), window=window,
        random_state=run.seed, engine=run.engine,
    )  # fmt: skip
    try:
        with Running("Grouping the occurrences"):
            model.fit(texts)
    except ValueError as error:
        message = str(error)
        if "occurs 0 times" in message:
            message = (
                f"{word!r} does not occur in the documents. Check its spelling, or name its "
                "forms with --forms."
            )
        message = message.replace("Lower n_senses, or see forms.", "Lower -k, or see --forms.")
        raise DataError(message, file=path) from None
    if model_path:
        model.save(model_path)
    if run.as_json:
        groups = [sense.to_dict() for sense in model.senses_]
        for group in groups:
            for example in group["examples"]:
                example["id"] = str(texts.ids[example.pop("document")])
        output.print_json({"word": word, "occurrences": len(model.labels_), "senses": groups})
    else:
        output.note(f"{count(len(model.labels_), 'occurrence')} of {word!r}.")
        for number, sense in enumerate(model.senses_, 1):
            words = output.clean(", ".join(sense.words))
            click.echo(f"{number}. {count(sense.size, 'occurrence')}: {words}")
            for example in sense.examples:
                name = texts.ids[example.document]
                click.echo(f"     {output.clean(name)}: {output.clean(example.text)}")
    output.say_written(model=model_path)

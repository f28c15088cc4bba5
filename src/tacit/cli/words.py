"""``tacit words``: words with similar meaning."""

import click

from tacit.cli.options import ShowOptions, show_options, top_option
from tacit.cli.output import clean, draw_table, print_json

__all__ = ["words"]


@click.group()
def words() -> None:
    """Find words with similar meaning."""


@words.command()
@click.argument("index", metavar="INDEX")
@click.argument("word")
@top_option(10)
@show_options
def similar(index: str, word: str, top: int, show: ShowOptions) -> None:
    """Print the words used most like WORD, by a semantic index.

    INDEX is a file that `tacit index build --semantic` wrote.
    """
    import tacit
    from tacit.core.errors import ModelFileError

    model = tacit.load(index, mmap=True)
    if not hasattr(model, "similar_terms"):
        raise ModelFileError(
            f"{index} holds a {type(model).__name__}, not a semantic index. Build one with: "
            "tacit index build PATH --semantic --out FILE"
        )
    try:
        hits = model.similar_terms(word, top=top)
    except KeyError as error:
        raise click.BadParameter(clean(error.args[0]), param_hint="WORD") from None
    if show.as_json:
        print_json({"word": word, "similar": [{"word": h.id, "score": h.score} for h in hits]})
    else:
        rows = ((hit.id, f"{hit.score:.3f}") for hit in hits)
        draw_table(["Word", "Similarity"], rows, right=(1,))

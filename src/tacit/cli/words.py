"""``tacit words``: words by the company they keep."""

import click

from tacit.cli.options import debug_option, json_option, quiet_option
from tacit.cli.terminal import clean, console, print_json

__all__ = ["words"]


@click.group()
def words() -> None:
    """Words by the company they keep."""


@words.command()
@click.argument("index", metavar="INDEX")
@click.argument("word")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="To show.")
@json_option
@quiet_option
@debug_option
def similar(index: str, word: str, top: int, as_json: bool, quiet: bool) -> None:
    """The words used most like WORD, by an index of meaning.

    INDEX is a file that `tacit index build --semantic` wrote.
    """
    import tacit
    from tacit.core.errors import ModelFileError

    model = tacit.load(index, mmap=True)
    if not hasattr(model, "similar_terms"):
        raise ModelFileError(
            f"{index} holds a {type(model).__name__}, which knows no meanings. Build an index "
            "with: tacit index build PATH --semantic --out FILE"
        )
    try:
        found = model.similar_terms(word, top=top)
    except KeyError as error:
        raise click.BadParameter(clean(error.args[0]), param_hint="WORD") from None
    if as_json:
        print_json({"word": word, "similar": [{"word": h.id, "score": h.score} for h in found]})
        return
    from rich.table import Table

    table = Table("Word", "Similarity", box=None)
    table.columns[1].justify = "right"
    for hit in found:
        table.add_row(clean(hit.id), f"{hit.score:.3f}")
    console().print(table)

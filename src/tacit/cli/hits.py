"""What a search found, for people and for programs."""

from typing import TYPE_CHECKING, Any

import click

from tacit.cli.terminal import clean, console, print_json, say

if TYPE_CHECKING:
    from tacit.search.hit import Hit, Hits

__all__ = ["show_hits"]


def show_hits(hits: "Hits", asked: dict[str, Any], as_json: bool, quiet: bool) -> None:
    """Print hits, or one JSON document of them and of what was ``asked``."""
    if as_json:
        print_json({**asked, **hits.to_dict()})
        return
    page = console()
    for hit in hits:
        page.print(head(hit), soft_wrap=True)
        if hit.snippet:
            page.print(marked(hit, page.is_terminal))
    if hits.total:
        many = "document" if hits.total == 1 else "documents"
        click.echo(f"{len(hits):,} of {hits.total:,} {many}.")
    else:
        click.echo("No document matches.")
    say(*hits.notes, quiet=quiet)


def head(hit: "Hit") -> Any:
    from rich.text import Text

    name = " ".join(clean(hit.id).split())
    return Text.assemble((name, "bold"), f"  {hit.score:.3f}")


def marked(hit: "Hit", on_terminal: bool) -> Any:
    """The snippet: in colour on a terminal, in brackets elsewhere."""
    from rich.padding import Padding
    from rich.text import Text

    text = Text()
    for piece, found in hit.parts():
        piece = clean(piece)
        if found and not on_terminal:
            piece = f"[{piece}]"
        text.append(piece, "bold yellow" if found else "")
    return Padding(text, (0, 0, 0, 4), expand=False)

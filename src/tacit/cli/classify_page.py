"""What ``tacit classify`` prints: the table of candidates, and words with their weights."""

from typing import TYPE_CHECKING

import click

from tacit.cli.terminal import clean, console

if TYPE_CHECKING:
    from tacit.classify.model_choice import ModelChoice

__all__ = ["draw_choice", "draw_words", "pairs"]


def pairs(words: dict[str, list]) -> dict[str, list]:
    """Words with their weights as JSON values."""
    return {
        name: [{"term": word, "weight": weight} for word, weight in found]
        for name, found in words.items()
    }


def draw_choice(choice: "ModelChoice") -> None:
    """All candidates, the best first."""
    from rich.table import Table

    page = Table(box=None, pad_edge=False)
    page.add_column("classifier")
    for column in ("accuracy", "19 times of 20", "p against best", "seconds"):
        page.add_column(column, justify="right")
    for trial in choice.table:
        low, high = trial.interval
        p = "" if trial is choice.table[0] else f"{trial.p_value:.2g}"
        page.add_row(
            trial.name,
            f"{trial.accuracy:.4f}",
            f"{low:.4f} to {high:.4f}",
            p,
            f"{trial.seconds:.2f}",
        )
    console().print(page)
    click.echo(f"Accuracy on documents left out, {choice.folds} folds.")


def draw_words(words: dict[str, list]) -> None:
    """The words of every class."""
    for name, found in words.items():
        click.echo(clean(name))
        for word, weight in found:
            click.echo(f"{weight:+10.3f}  {clean(word)}")

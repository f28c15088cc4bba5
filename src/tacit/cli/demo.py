"""``tacit demo``: the whole way on data that comes with the installation."""

import importlib
from pathlib import Path

import click

from tacit.cli.options import engine_from, standard_options
from tacit.cli.terminal import print_json

__all__ = ["DEMOS", "demo"]

# A name, where it lives, and what it shows: listing them imports none of them.
DEMOS: dict[str, tuple[str, str]] = {
    "docstrings": (
        "tacit.cli.demo_docstrings:docstrings",
        "the documentation of twelve modules, sorted by what it is about",
    ),
    "digits": (
        "tacit.cli.demo_digits:digits",
        "1,797 pictures of handwritten digits, grouped by k-means",
    ),
}


@click.command()
@click.argument("name", default="docstrings")
@click.option("--list", "listing", is_flag=True, help="List the demos.")
@click.option(
    "--out", metavar="FOLDER", default="demo", show_default=True, help="Where results go."
)
@standard_options
def demo(
    name: str,
    listing: bool,
    out: str,
    seed: int,
    engine: str,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the demo NAME (docstrings if none is given): what was found, and how surely."""
    if listing:
        if as_json:
            print_json({name: line for name, (_, line) in DEMOS.items()})
        else:
            for each, (_, line) in DEMOS.items():
                click.echo(f"{each:12}{line}")
        return
    if name not in DEMOS:
        raise click.UsageError(f"There is no demo {name!r}. There are: {', '.join(DEMOS)}.")
    runner = engine_from(engine, workers)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    module, _, function = DEMOS[name][0].partition(":")
    run = getattr(importlib.import_module(module), function)
    result = run(folder, seed, runner, quiet, draw=not as_json)
    if as_json:
        print_json(result)

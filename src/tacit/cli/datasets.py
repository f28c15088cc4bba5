"""``tacit datasets``: what can be loaded, and where it comes from."""

import click

from tacit.cli.options import debug_option, json_option
from tacit.cli.terminal import clean, print_json

__all__ = ["datasets"]


@click.command()
@json_option
@debug_option
def datasets(as_json: bool) -> None:
    """List the data sets that tacit.datasets.load(NAME) reads.

    The docstrings of installed packages are always there. The others are read from the folder
    that the environment variable TACIT_DATA names.
    """
    from tacit.datasets.catalog import VARIABLE, available, data_folder

    entries, folder = available(), data_folder()
    if as_json:
        built_in = {"name": "docstrings", "about": DOCSTRINGS, "here": True}
        listed = [built_in, *(entry.to_dict() for entry in entries)]
        where = None if folder is None else str(folder)
        print_json({"variable": VARIABLE, "folder": where, "datasets": listed})
        return
    click.echo(f"docstrings\n    {DOCSTRINGS}")
    for entry in entries:
        parts = f"  (parts: {', '.join(entry.parts)})" if entry.parts else ""
        here = "" if entry.here else "  [not here]"
        click.echo(f"{entry.name}{parts}{here}")
        click.echo(f"    {entry.about}\n    From {entry.origin}. {entry.licence}")
    if folder is None:
        say = f"{VARIABLE} is not set: only docstrings can be loaded. Set it to a folder that"
        click.echo(f"\n{say}\nholds the others, one folder each.")
    else:
        count = sum(entry.here for entry in entries)
        click.echo(clean(f"\n{count} of {len(entries)} are in {VARIABLE}={folder}."))


DOCSTRINGS = "The docstrings of the Python packages installed here: thousands of documents."

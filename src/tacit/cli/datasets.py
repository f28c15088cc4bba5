"""``tacit datasets``: the data sets that can be loaded, and their sources."""

import click

from tacit.cli.options import debug_option
from tacit.cli.output import clean, print_json

__all__ = ["datasets"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@debug_option
def datasets(as_json: bool) -> None:
    """List the data sets that tacit.datasets.load(NAME) reads.

    The docstrings of installed packages are always available. The others are read from the
    folder in the environment variable TACIT_DATA.
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
        click.echo(
            f"\n{VARIABLE} is not set: only docstrings can be loaded. Set it to a folder with\n"
            "one subfolder for each of the others."
        )
    else:
        count = sum(entry.here for entry in entries)
        click.echo(clean(f"\n{count} of {len(entries)} are in {VARIABLE}={folder}."))


DOCSTRINGS = "The docstrings of the Python packages installed here: thousands of documents."

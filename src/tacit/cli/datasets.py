"""``tacit datasets``: the data sets that can be loaded, and where they come from."""

from typing import Any

import click

from tacit.cli.options import debug_option
from tacit.cli.output import clean, print_json

__all__ = ["datasets"]

DOCSTRINGS = "The docstrings of the Python packages installed here: thousands of documents."


@click.command()
@click.argument("name", required=False)
@click.option("--check", is_flag=True,
              help="Compare the checksums of the files that are here with ours.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@debug_option
def datasets(name: str | None, check: bool, as_json: bool) -> None:
    """List the data sets: where each comes from, its checksum, and how to load it.

    With NAME, only that one. No data comes with Tacit: sets are read from the folder that the
    environment variable TACIT_DATA names, one subfolder for each. The docstrings of installed
    packages are always available.

    \b
    tacit datasets
    tacit datasets oz --check
    """
    from tacit.core.wording import did_you_mean
    from tacit.datasets.catalog import VARIABLE, available, checksum_of, data_folder

    entries, folder = available(), data_folder()
    if name is not None:
        known = ["docstrings", *(entry.name for entry in entries)]
        if name not in known:
            meant = did_you_mean(name, known)
            raise click.UsageError(f"There is no data set {name!r}.{meant}")
        entries = [entry for entry in entries if entry.name == name]
    found: dict[str, bool] = {}
    if check and folder is not None:
        for entry in entries:
            if entry.here:
                found[entry.name] = checksum_of(folder / entry.name) == entry.sha256
    if as_json:
        listed: list[dict[str, Any]] = []
        for entry in entries:
            checked = {"checked": found[entry.name]} if entry.name in found else {}
            listed.append({**entry.to_dict(), **checked})
        if name in (None, "docstrings"):
            load = "tacit.datasets.load('docstrings')"
            about = {"name": "docstrings", "about": DOCSTRINGS, "here": True, "load": load}
            listed.insert(0, about)
        where = None if folder is None else str(folder)
        print_json({"variable": VARIABLE, "folder": where, "datasets": listed})
        return
    if name in (None, "docstrings"):
        click.echo(f"docstrings\n    {DOCSTRINGS}")
        click.echo("    Load:    tacit.datasets.load('docstrings')")
    for entry in entries:
        show(entry, found.get(entry.name))
    if name is not None:
        return
    if folder is None:
        click.echo(
            f"\n{VARIABLE} is not set, so only docstrings can be loaded. Set it to a folder\n"
            "with one subfolder for each data set."
        )
    else:
        here = sum(entry.here for entry in entries)
        click.echo(clean(f"\n{here} of {len(entries)} are in {VARIABLE}={folder}."))


def show(entry: Any, checked: bool | None) -> None:
    verdict = "" if checked is None else "  (matches)" if checked else "  (yours differ)"
    click.echo(f"{entry.name}{'' if entry.here else '  [not here]'}")
    click.echo(f"    {entry.about}")
    click.echo(f"    From:    {entry.origin}. {entry.licence}")
    click.echo(f"    Files:   {', '.join(entry.files)}")
    click.echo(f"    SHA-256: {entry.sha256}{verdict}")
    click.echo(f"    Load:    {entry.load_call}")
    if entry.parts:
        click.echo(f"    Parts:   {', '.join(entry.parts)}")

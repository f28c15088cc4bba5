"""``tacit datasets``: the data sets that can be loaded, and where they come from."""

from typing import Any

import click

from tacit.cli.options import command, debug_option
from tacit.cli.output import clean, print_json

__all__ = ["datasets"]

DOCSTRINGS = "The docstrings of the Python packages installed here: thousands of documents."


@command()
@click.argument("name", required=False)
@click.option("--check", is_flag=True,
              help="Compare the checksums of your files with those of the list.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@debug_option
def datasets(name: str | None, check: bool, as_json: bool) -> None:
    """List the data sets: where each comes from, its checksum, and how to load it.

    With NAME, only that set. No data comes with Tacit: sets are read from the folder that the
    environment variable TACIT_DATA names, one subfolder for each. The docstrings of installed
    packages are always available.

    \b
    tacit datasets
    tacit datasets oz --check
    """
    from tacit.core.wording import did_you_mean
    from tacit.datasets.catalog import VARIABLE, available, checksum_of, data_folder

    docstrings = {"name": "docstrings", "about": DOCSTRINGS, "here": True,
                  "load": "tacit.datasets.load('docstrings')"}  # fmt: skip
    entries: list[dict[str, Any]] = [docstrings, *(entry.to_dict() for entry in available())]
    folder = data_folder()
    if name is not None:
        known = [entry["name"] for entry in entries]
        if name not in known:
            meant = did_you_mean(name, known)
            raise click.UsageError(f"There is no data set {name!r}.{meant}")
        entries = [entries[known.index(name)]]
    for entry in entries if check and folder is not None else ():
        if entry["here"] and "sha256" in entry:
            entry["checked"] = checksum_of(folder / entry["name"]) == entry["sha256"]
    if as_json:
        where = None if folder is None else str(folder)
        print_json({"variable": VARIABLE, "folder": where, "datasets": entries})
        return
    for entry in entries:
        show(entry)
    if name is not None:
        return
    if folder is None:
        click.echo(
            f"\n{VARIABLE} is not set, so only docstrings can be loaded. Set it to a folder\n"
            "with one subfolder for each data set."
        )
    else:
        here = sum(entry["here"] for entry in entries[1:])
        click.echo(clean(f"\n{here} of {len(entries) - 1} are in {VARIABLE}={folder}."))


def show(entry: dict[str, Any]) -> None:
    verdict = {None: "", True: "  (matches)", False: "  (yours differ)"}[entry.get("checked")]
    click.echo(f"{entry['name']}{'' if entry['here'] else '  [not here]'}")
    click.echo(f"    {entry['about']}")
    if "sha256" in entry:
        click.echo(f"    From:    {entry['origin']}. {entry['licence']}")
        click.echo(f"    Files:   {', '.join(entry['files'])}")
        click.echo(f"    SHA-256: {entry['sha256']}{verdict}")
    click.echo(f"    Load:    {entry['load']}")
    if entry.get("parts"):
        click.echo(f"    Parts:   {', '.join(entry['parts'])}")

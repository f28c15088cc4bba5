"""``tacit report``: the report of a project once more, into a file, also without the texts."""

import click

from tacit.cli.output import clean

__all__ = ["report"]


@click.command()
@click.argument("project")
@click.option("--out", metavar="FILE", help="Where to write it  [default: report.html in the "
              "project, report_redacted.html with --redact]")
@click.option("--redact", is_flag=True, help="Leave out the texts: no titles, openings or ids "
              "of documents, no search, no word of fewer than five documents.")
def report(project: str, out: str | None, redact: bool) -> None:
    """Write the report of a PROJECT that tacit explore made as one HTML file.

    \b
    tacit report letters.tacit --out letters.html
    tacit report letters.tacit --redact         to share without the texts
    """
    from tacit.explore.project.project import Project

    click.echo(f"Report: {clean(Project.open(project).report(out, redact=redact))}")

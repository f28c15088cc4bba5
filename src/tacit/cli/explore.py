"""``tacit explore``: documents in, structure out, a report at the end."""

from typing import TYPE_CHECKING, Any

import click

from tacit.cli.documents import Size, check_whole, flaw_options, read_documents
from tacit.cli.explore_display import StageDisplay
from tacit.cli.options import engine_from, standard_options
from tacit.cli.terminal import clean, print_json, say

if TYPE_CHECKING:
    from tacit.data.documents import Documents

__all__ = ["explore"]

DOCS = "--docs"  # what the source is called then, so that the command can be repeated


class Number(click.ParamType):
    """How many groups: "auto", or a number."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | None:
        if value == "auto":
            return None
        try:
            k = int(value)
        except ValueError:
            k = 0
        if k < 1:
            self.fail(f"{value!r} is neither auto nor a number from 1.", param, ctx)
        return k


@click.command()
@click.argument("path", required=False)
@click.option("--out", metavar="FOLDER", help="The project; NAME.tacit here if not given.")
@click.option("--k", type=Number(), default="auto", help="Groups to find; auto chooses.")
@click.option("--quick", "effort", flag_value="quick", help="Fewer trials and repeats.")
@click.option("--thorough", "effort", flag_value="thorough", help="More of them.")
@click.option(
    "--plan", "only_plan", is_flag=True, help="Say what would be done and what it costs; stop."
)
@click.option(
    "--stages", metavar="NAMES", help="Only these, with commas between, and what they need."
)
@click.option(
    "--memory",
    type=Size(),
    metavar="SIZE",
    help="Stay within so much, as 4GB: stages make less of an effort, or are left out.",
)
@click.option("--docs", is_flag=True, help="Explore the docstrings of installed packages.")
@click.option("--text", "text_column", metavar="COLUMN", help="Column with the text.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column with their names.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["lines", "csv", "tsv", "jsonl", "parquet"]),
    help="Of a file; by its name otherwise.",
)
@click.option("--encoding", help="Of the text; UTF-8 otherwise.")
@click.option("--allow-partial", is_flag=True, help="Exit with 0 after a truncated file too.")
@flaw_options
@standard_options
def explore(
    path: str | None,
    out: str | None,
    k: int | None,
    effort: str | None,
    only_plan: bool,
    stages: str | None,
    memory: int | None,
    docs: bool,
    text_column: str | None,
    id_column: str | None,
    kind: str | None,
    encoding: str | None,
    allow_partial: bool,
    seed: int,
    engine: str,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the structure of the documents of PATH and write a report.

    PATH is a folder of text files, or a .txt (one document a line), .csv, .tsv, .jsonl or
    .parquet file, each also packed with gzip or zstd; - is standard input. Running again on
    the same project does only what changed.

    Columns of a table are compared with the groups, and those with dates make a time line.

    A plan with times and memory comes first; --plan stops there. Stages: duplicates, counts,
    meaning, map, groups, what_if, words, outliers, language_guess, reading, fields, time.

    \b
    tacit explore letters/                    a folder
    tacit explore mail.csv --text body        a table
    tacit explore big.jsonl --plan            how long would it take?
    tacit explore big.jsonl --quick --memory 4GB
    tacit explore mail.csv --stages fields,time
    """
    if (path is None) == (not docs):
        raise click.UsageError("Name a PATH to explore, or give --docs, and not both.")
    names = None if stages is None else [n.strip() for n in stages.split(",") if n.strip()]
    if names == []:
        raise click.UsageError(f"--stages {stages!r} names no stage; leave it out to run all.")
    runner = engine_from(engine, workers)

    from tacit.core.errors import DataError, TacitError
    from tacit.explore.project.folder import ProjectFolder
    from tacit.explore.project.plan import make_plan
    from tacit.explore.project.project import explored, folder_for
    from tacit.explore.project.settings import Settings
    from tacit.explore.project.summary import summary_lines
    from tacit.explore.report.page import REPORT

    target = folder_for("docstrings" if docs else path, out)
    if docs or path is None:
        documents = docstring_documents()
    else:
        documents = read_documents(path, text_column, id_column, kind, encoding)
    say(*documents.report.lines(), quiet=quiet)
    settings = Settings(seed=seed, k=k, effort=effort or "normal")
    try:
        plan = make_plan(
            ProjectFolder(target), documents, settings,
            engine=runner, stages=names, memory=memory,
        )  # fmt: skip
    except TacitError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if only_plan:
        if as_json:
            print_json(plan.to_dict())
        else:
            click.echo("\n".join(clean(line) for line in plan.lines()))
        return
    say(*plan.lines(), quiet=quiet)
    with StageDisplay(quiet=quiet, expected=plan.expected()) as display:
        project = explored(
            target, documents, settings, runner, display.tell, [display.on_step],
            choice=plan.choice,
        )  # fmt: skip
    report = target / REPORT
    summary = project.summary
    if k is not None and summary["k"] is not None and summary["k"] < k:
        say(f"--k {k} is more than there can be; {summary['k']} groups.", quiet=quiet)
    if as_json:
        print_json({**summary, "report": str(report)})
    else:
        click.echo("\n".join(clean(line) for line in summary_lines(summary)))
        click.echo(f"Report: {clean(report)}")
    check_whole(documents.report, allow_partial)
    if not len(documents):
        raise DataError("holds no documents. The report says what was met.", file=path)
    why = summary["skipped"].get("counts")
    if why and not summary["words"] and "counts" in project._folder.record["stages"]:
        raise DataError(f"{why} The report says what was met.", file=path)


def docstring_documents() -> "Documents":
    """The docstrings of installed packages, with their package and kind."""
    import pyarrow as pa

    from tacit.data.documents import Documents
    from tacit.datasets import docstrings

    found = docstrings()
    columns = {name: found.metadata[name] for name in ("id", "package", "kind")}
    table = pa.table({"text": found.documents, **columns})
    documents = Documents.of(table, text="text", id="id")
    documents.report.source = DOCS
    return documents

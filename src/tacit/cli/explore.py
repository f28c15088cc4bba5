"""``tacit explore``: documents in, structure out, a report at the end; ``tacit report`` writes
the report of a project once more."""

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import DocumentOptions, RunOptions
from tacit.cli.progress import Running, make_bar
from tacit.core.wording import count

if TYPE_CHECKING:
    from tacit.core.progress import Step
    from tacit.data.documents import Documents
    from tacit.explore.project.pipeline import StageEvent

__all__ = ["StageDisplay", "explore", "report"]

WORTH_SAYING = 5  # seconds that are left
ENOUGH_STEPS = 0.1  # of a stage, to estimate how long it takes
DOCS = "--docs"  # the source of a project of docstrings, as in the command


@options.command()
@click.argument("path", required=False)
@click.option("--out", metavar="FOLDER", help="Project folder  [default: NAME.tacit]")
@options.k_option("Number of groups")
@click.option("--topics", default="auto", metavar="auto|N|none",
              help="Number of topics, which the report calls themes")
@click.option("--quick", is_flag=True, help="Take less time: fewer trials and repeats.")
@click.option("--thorough", is_flag=True, help="Take more time: more trials and repeats.")
@click.option("--plan", "only_plan", is_flag=True,
              help="Print every stage with its expected time and memory, and stop.")
@click.option("--stages", metavar="NAMES", help="Stages to run, separated by commas, with the "
              "stages that they need  [default: all]")
@options.clean_option
@click.option("--docs", is_flag=True, help="Explore the docstrings of installed packages.")
@partial(options.document_options, memory=options.memory_option(None))
@options.run_options
def explore(
    path: str | None, out: str | None, k: int | None, topics: str, quick: bool, thorough: bool,
    only_plan: bool, stages: str | None, clean_texts: bool, docs: bool,
    documents: DocumentOptions, run: RunOptions,
) -> None:  # fmt: skip
    """Find the structure of the documents at PATH and write a report.

    PATH is a folder of text, .html, .eml, .mbox, .docx, .odt, .pdf, .rtf or .md files; one such
    file; or a .txt (one document per line), .csv, .tsv, .jsonl, .json or .parquet file. Text
    may be compressed with gzip or zstd. - is standard input. The results go to a project
    folder; a second run does only what has changed.

    Columns of a table are compared with the groups, and columns of dates become a timeline.

    Stages: duplicates, counts, meaning, map, groups, what_if, words, language_guess, outliers,
    themes, reading, fields, time.

    \b
    tacit explore letters/                    a folder
    tacit explore mail.csv --text body        a table
    tacit explore big.jsonl --plan            how long would it take?
    tacit explore big.jsonl --quick --memory 4GB
    tacit explore mail.csv --stages fields,time
    """
    if (path is None) == (not docs):
        raise click.UsageError("Give either a PATH to explore or --docs.")
    if quick and thorough:
        raise click.UsageError("--quick and --thorough contradict each other. Give one.")
    if docs:
        unused = {*DocumentOptions._fields} - {"memory"}
        options.refuse_options(unused, "is for a PATH, not for --docs.")
    names = None if stages is None else [n.strip() for n in stages.split(",") if n.strip()]
    if names == []:
        raise click.UsageError(
            f"--stages {stages!r} does not name a stage. Leave it out to run all."
        )
    from tacit.explore.project.settings import as_topics

    try:
        word = topics.strip().lower()
        themes = as_topics(int(word) if word.isdecimal() and len(word) < 10 else word)
    except ValueError as error:
        raise click.UsageError(f"--{error}") from None
    from tacit.core.errors import DataError, TacitError
    from tacit.explore.project.folder import ProjectFolder
    from tacit.explore.project.pipeline import keys_of
    from tacit.explore.project.plan import make_plan
    from tacit.explore.project.project import explored, folder_for
    from tacit.explore.project.settings import Settings
    from tacit.explore.project.summary import summary_lines
    from tacit.explore.report.page import REPORT

    target = folder_for("docstrings" if docs else path, out)
    if docs or path is None:
        texts = docstring_documents()
        output.note(*texts.report.lines())
    else:
        texts = inputs.open_documents(path, documents)
        if (why := inputs.describe_table(texts, path)) is not None:
            raise DataError(why, file=path)
    effort = "quick" if quick else "thorough" if thorough else "normal"
    settings = Settings(run.seed, k, effort, clean_texts, themes)
    source = DOCS if docs or path is None else path
    folder = ProjectFolder(target)
    try:
        with Running("Planning"):
            plan = make_plan(
                folder, texts, settings, engine=run.engine, stages=names,
                memory=documents.memory,
            )  # fmt: skip
        folder.check_origin(source, keys_of(settings, str(plan.choice.source))["ingest"])
    except TacitError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if only_plan:
        if run.as_json:
            output.print_json(plan.to_dict())
        else:
            click.echo("\n".join(output.clean(line) for line in plan.lines()))
        return
    output.note(*plan.short_lines())
    with StageDisplay(expected=plan.planned()) as display:
        project = explored(
            target, texts, settings, run.engine, display.on_event, [display.on_step],
            choice=plan.choice, source=source,
        )  # fmt: skip
    report = target / REPORT
    summary = project.summary
    output.note(*summary["input"]["sentences"][len(texts.report.lines()) :])
    if k is not None and summary["k"] is not None and summary["k"] < k:
        groups = count(summary["k"], "group")
        output.note(f"-k {k} is more than these documents allow: {groups}.")
    if run.as_json:
        output.print_json({**summary, "report": str(report)})
    else:
        click.echo("\n".join(output.clean(line) for line in summary_lines(summary)))
        click.echo(f"Report: {output.clean(report)}")
    if not documents.allow_partial:
        inputs.check_complete(texts)
    if not len(texts):
        raise DataError("there are no documents in it. Give some.", file=path)
    why = summary["skipped"].get("counts")
    if why and not summary["words"] and "counts" in project._folder.record["stages"]:
        raise DataError(f"{why} See the report.", file=path)


def docstring_documents() -> "Documents":
    """The docstrings of installed packages, with their package and kind."""
    import pyarrow as pa

    from tacit.data.documents import Documents
    from tacit.datasets import docstrings

    data = docstrings()
    columns = {name: data.metadata[name] for name in ("id", "package", "kind")}
    table = pa.table({"text": data.documents, **columns})
    documents = Documents.of(table, text="text", id="id")
    documents.report.source = DOCS
    return documents


@options.command()
@click.argument("project")
@click.option("--out", metavar="FILE", help="File to write  [default: report.html in the "
              "project, report_redacted.html with --redact]")
@click.option("--redact", is_flag=True, help="Leave out the texts: no titles, openings or ids "
              "of documents, no search, no word of fewer than five documents.")
@options.debug_option
def report(project: str, out: str | None, redact: bool) -> None:
    """Write the report of PROJECT, a folder that tacit explore wrote, as one HTML file.

    \b
    tacit report letters.tacit --out letters.html
    tacit report letters.tacit --redact         to share without the texts
    """
    inputs.check_exists(project)
    from tacit.explore.project.project import Project

    click.echo(f"Report: {output.clean(Project.open(project).report(out, redact=redact))}")


# --- Progress ---


class StageDisplay:
    """Prints to standard error which stage runs and how long the stages took."""

    def __init__(
        self, *, quiet: bool | None = None, expected: "dict[str, float] | None" = None
    ) -> None:
        from tacit.explore.project.plan import Pace

        self.pace = Pace(expected or {})  # seconds, by stage
        self._begun = 0.0
        self.quiet = output.is_quiet() if quiet is None else quiet
        self.live = not self.quiet and sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None
        self._stage: StageEvent | None = None

    def __enter__(self) -> "StageDisplay":
        if self.live:
            self._bar = make_bar()
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def on_event(self, event: "StageEvent") -> None:
        """Show that a stage begins or has ended."""
        if event.seconds is None:
            self._begun, self._stage = time.perf_counter(), event
            if self._bar is not None and not event.reused:
                estimate = self.estimate(event)
                self._task = self._bar.add_task(event.title, total=None, figure=estimate)
            return
        self.pace.ended(event.name, event.seconds)
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
        took = "unchanged" if event.reused else f"{event.seconds:.1f} s"
        place = f"{event.number:>{len(str(event.total))}}/{event.total}"
        line = f"{place}  {event.title:<32} {took:>9}"
        if (left := self.pace.left()) >= WORTH_SAYING and not event.reused:
            from tacit.explore.project.plan import about

            line += f"   {about(left)} left"
        if self._bar is not None:
            self._bar.console.print(line)
        else:
            output.say(line, quiet=self.quiet)

    def estimate(self, event: "StageEvent", seconds: float | None = None) -> str:
        """The time of this stage, estimated by its steps (``seconds``) or by the plan, and that
        of the stages after it."""
        seconds = self.pace.expected(event.name) if seconds is None else seconds
        if seconds is None:
            return ""
        from tacit.explore.project.plan import about

        later = self.pace.left(without=event.name)
        more = f", then {about(later)} more" if later >= 1 else ""
        return f"of {about(seconds)}{more}"

    def on_step(self, step: "Step") -> None:
        """Show a step inside a stage; after some of them, also an estimate of its time."""
        if self._task is None or not step.most:
            return
        self._bar.update(self._task, total=step.most, completed=step.number)
        if self._stage is not None and step.number >= ENOUGH_STEPS * step.most:
            seconds = (time.perf_counter() - self._begun) * step.most / step.number
            self._bar.update(self._task, figure=self.estimate(self._stage, seconds))

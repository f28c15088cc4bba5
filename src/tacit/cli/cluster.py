"""``tacit cluster FILE``: group the rows of a file of numbers, and say what sets them apart."""

import csv
import sys
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.cluster_methods import (
    ANY_METRIC,
    METHODS,
    Plan,
    check_options,
    choose,
    fit,
    how_sure,
    label_rows,
    ready,
)
from tacit.cli.cluster_picture import check_picture, draw_picture
from tacit.cli.cluster_report import describe, draw, how_apart, losses_of, means_of
from tacit.cli.csv_out import check_file, check_target, open_output, write_rows
from tacit.cli.options import engine_from, standard_options
from tacit.cli.terminal import clean, print_json, say

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from tacit.data.files import NumberTable

__all__ = ["cluster"]


class Groups(click.ParamType):
    """A number of groups, or auto."""

    name = "auto|INTEGER"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | None:
        if value is None or isinstance(value, int):
            return value
        if str(value).strip().lower() == "auto":
            return None
        try:
            k = int(value)
        except ValueError:
            k = 0
        if k < 1:
            self.fail(f"{value!r} is neither auto nor a number of at least 1.", param, ctx)
        return k


@click.command()
@click.argument("file")
@click.option(
    "-k", "--k", type=Groups(), default="auto", show_default=True,
    help="How many groups; auto chooses, and says why.",
)  # fmt: skip
@click.option(
    "--k-max", type=click.IntRange(2), default=12, show_default=True, help="Most for auto."
)
@click.option(
    "--method", type=click.Choice(list(METHODS)), default="kmeans", show_default=True,
    help="Centers, medoids, memberships, splits, or a tree by one of seven linkages.",
)  # fmt: skip
@click.option(
    "--metric", type=click.Choice(["euclidean", "manhattan", "cosine"]),
    help=f"Distance, for {', '.join(ANY_METRIC)}. Euclidean otherwise.",
)  # fmt: skip
@click.option(
    "--compress", type=click.IntRange(2), metavar="N",
    help="Build a tree on N centers of k-means, for many rows.",
)  # fmt: skip
@click.option(
    "--confidence", is_flag=True, help="Group resampled rows too: how sure is each group?"
)
@click.option("--out", metavar="CSV", help="Write the label of every row here; - is stdout.")
@click.option("--plot", "plot_path", metavar="PNG", help="Draw a picture: .png, .pdf or .svg.")
@click.option("--model", "model_path", metavar="FILE", help="Save the model (.safetensors).")
@click.option("--columns", metavar="A,B,...", help="Columns to use. All of numbers otherwise.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column that names the rows.")
@click.option("--header/--no-header", default=None, help="Whether line one names the columns.")
@click.option("--scale", is_flag=True, help="Give every column mean 0 and deviation 1 first.")
@click.option("--allow-partial", is_flag=True, help="Exit with 0 after a truncated file too.")
@standard_options
def cluster(
    file: str,
    k: int | None,
    k_max: int,
    method: str,
    metric: str | None,
    compress: int | None,
    confidence: bool,
    out: str | None,
    plot_path: str | None,
    model_path: str | None,
    columns: str | None,
    id_column: str | None,
    header: bool | None,
    scale: bool,
    allow_partial: bool,
    seed: int,
    engine: str,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Group the rows of FILE: CSV in any dialect, packed or not, Parquet or .npy; - is stdin.

    Prints how large each group is, the largest first, and which columns set it apart: how many
    standard deviations its center is from the mean of all rows. Parquet and .npy files may be
    larger than memory, except for kmedoids, divisive and trees.
    """
    if out == "-" and as_json:
        raise click.UsageError("--json and --out - both want standard output. Drop one.")
    plan = Plan(method, metric, compress, seed, engine_from(engine, workers), quiet)
    check_options(plan)
    check_picture(plot_path)
    check_target(out)
    for target in (model_path, plot_path):
        check_file(target)

    from tacit.data.files import read_numbers

    table = read_numbers(
        sys.stdin.buffer if file == "-" else file,
        columns=None if columns is None else next(csv.reader([columns]), []),
        id_column=id_column,
        header=header,
        allow_partial=True,  # the work is done; the exit code tells
    )
    report = table.report
    notes: list[str] = []
    if k is not None and k > report.rows:
        notes.append(f"There are only {report.rows:,} rows, so k is {report.rows}, not {k}.")
        k = report.rows
    say(*report.lines(), *notes, quiet=quiet)
    values, facts = ready(plan, table.values, report.source)

    def place(rows: Any) -> None:  # k-means says best where a bad value is
        fit(plan._replace(method="kmeans", metric=None, compress=None), 1, rows, table=table)

    mean, deviation = spread(values, plan.engine, place)
    if scale:
        values = scaled(values, mean, deviation)
    choice = choose(plan, values, k_max) if k is None else None
    if choice is not None:
        k = choice.best
        if k == choice.table[-1].k == k_max:
            facts.append(f"{k} was the most tried; --k-max allows more.")
    assert k is not None
    model = fit(plan, k, values, table=table, best_of_many=choice is not None)
    labels, sizes = label_rows(model, values, k)
    facts += remarks(table.names, deviation, scale=scale, saved=model_path is not None)
    say(*facts, quiet=quiet)
    if out is not None:
        write_labels(labels, table, out)
    centers = centers_of(model, values, labels, k, plan)
    if scale:
        centers = centers * deviation + mean
    groups = describe(centers, sizes, mean, deviation, table.names)
    for group, row in zip(groups, getattr(model, "medoid_indices_", ()), strict=False):
        group["medoid"] = int(row) + 1 if table.ids is None else table.ids[row]
    sure = how_sure(plan, values, labels, k, groups) if confidence and k > 1 else None
    if model_path:
        model.save(model_path)
    silhouette, samples = how_apart(values, labels, plan)
    losses, sentence = losses_of(model, k)
    result = {
        "file": report.source,
        "method": method,
        "k": k,
        "seed": seed,
        **losses,
        "silhouette": silhouette,
        "agreement": sure,
        "choice": None if choice is None else choice.to_dict(),
        "clusters": groups,
        "input": report.to_dict(),
        "notes": notes + facts,
        "scaled": {"mean": mean.tolist(), "deviation": deviation.tolist()} if scale else None,
        "labels_file": out,
        "plot_file": plot_path,
        "model_file": model_path,
    }
    if plot_path:
        draw_picture(
            plot_path, model, values, labels, k=k, ids=table.ids,
            names=[f"{name} (scaled)" for name in table.names] if scale else table.names,
            title=f"{method}, {k} clusters" if k > 1 else f"{method}, one cluster",
            silhouettes=samples, choice=choice,
        )  # fmt: skip
    if as_json:
        print_json(result)
    else:
        stderr = out == "-"
        if choice is not None:
            click.echo(clean(explain(choice)) + "\n", err=stderr)
        sentences = [sentence] if sentence else []
        if silhouette is not None:
            sentences.append(
                f"Mean silhouette {silhouette:.2f} (1 far apart, 0 touching, below 0 mixed up)."
            )
        if sure is not None:
            sentences.append(
                f"Resamples agree with these groups to {sure:.2f} (adjusted Rand: 1 always, "
                "0 chance)."
            )
        draw(result, sentences, stderr=stderr)
    for what, path in (("Labels", out), ("Picture", plot_path), ("Model", model_path)):
        if path and path != "-":
            say(f"{what} written to {path}.", quiet=quiet)
    if report.partial and not allow_partial:
        from tacit.core.errors import PartialInput

        raise PartialInput(
            f"{report.partial}. The result above is theirs alone; --allow-partial accepts it.",
            file=report.source,
        )


# --- Its parts ---


def spread(
    values: Any, engine: Any, place: "Callable[[Any], None]"
) -> "tuple[np.ndarray, np.ndarray]":
    """Mean and standard deviation of every column."""
    import numpy as np

    from tacit.core.errors import DataError
    from tacit.core.moments import MomentsParams, collect
    from tacit.data.table import Table

    try:
        moments = engine.reduce(collect, MomentsParams(full=False), Table.of(values))
    except DataError:
        place(values)  # in the file, by name
        raise
    return moments.mean, np.sqrt(moments.variance)


def scaled(values: Any, mean: "np.ndarray", deviation: "np.ndarray") -> Any:
    """The rows with mean 0 and deviation 1; a column that never varies becomes 0."""
    import numpy as np

    from tacit.data.scaled_rows import scale_table
    from tacit.data.table import Table

    table = scale_table(Table.of(values), mean, np.where(deviation > 0, deviation, 1.0))
    return table if isinstance(values, Table) else np.vstack([b.load() for b in table])


def remarks(
    names: list[str], deviation: "np.ndarray", *, scale: bool, saved: bool
) -> list[str]:
    """What is to be said about the columns."""
    facts = []
    constant = [name for name, size in zip(names, deviation, strict=True) if size == 0]
    if constant:
        facts.append(f"The same in every row: {', '.join(constant)}.")
    if scale:
        facts.append("Every column was scaled to mean 0 and deviation 1.")
        if saved:
            facts.append("The saved model expects rows scaled like these.")
    return facts


def centers_of(model: Any, values: Any, labels: "np.ndarray", k: int, plan: Plan) -> Any:
    """The model's centers; means where it has none, or has directions."""
    import numpy as np

    if plan.method != "spherical" and len(getattr(model, "cluster_centers_", ())) == k:
        return np.asarray(model.cluster_centers_, np.float64)
    return means_of(values, labels, k)


def write_labels(labels: "np.ndarray", table: "NumberTable", out: str) -> None:
    """A line for every row, by its id or its number."""
    ids = range(1, len(labels) + 1) if table.ids is None else table.ids
    with open_output(out) as stream:
        write_rows(stream, [["row" if table.ids is None else "id", "cluster"]])
        for start in range(0, len(labels), 65536):
            part = slice(start, start + 65536)
            write_rows(stream, zip(ids[part], labels[part].tolist(), strict=True))


def explain(choice: Any) -> str:
    """The choice of k: the answer, its reasons, and the figures."""
    figures = str(choice).partition("\n\n")[2]
    reasons = [fill(reason, 78, initial_indent="  ", subsequent_indent="    ")
               for reason in choice.reasons]  # fmt: skip
    return "\n".join([choice.headline, *reasons, "", figures])

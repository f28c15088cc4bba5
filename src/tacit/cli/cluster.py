"""``tacit cluster FILE``: group the rows of a file of numbers, and say what sets them apart."""

import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.csv_out import check_target, open_output, write_rows
from tacit.cli.options import engine_from, standard_options
from tacit.cli.terminal import clean, console, print_json, say

if TYPE_CHECKING:
    import numpy as np

    from tacit.data.files import NumberTable

__all__ = ["cluster"]

METHODS = {"kmeans": "KMeans", "minibatch": "MiniBatchKMeans"}  # names in tacit.cluster
APART = 3  # columns named for each cluster
SHOWN = 40  # clusters drawn; the rest are counted


@click.command()
@click.argument("file")
@click.option("-k", "--k", type=click.IntRange(1), default=8, show_default=True, help="Groups.")
@click.option("--method", type=click.Choice(list(METHODS)), default="kmeans", show_default=True)
@click.option("--out", metavar="CSV", help="Write the label of every row here; - is stdout.")
@click.option("--model", "model_path", metavar="FILE", help="Save the model (.safetensors).")
@click.option("--columns", metavar="A,B,...", help="Columns to use. All of numbers otherwise.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column that names the rows.")
@click.option("--header/--no-header", default=None, help="Whether line one names the columns.")
@click.option("--scale", is_flag=True, help="Give every column mean 0 and deviation 1 first.")
@click.option("--allow-partial", is_flag=True, help="Exit with 0 after a truncated file too.")
@standard_options
def cluster(
    file: str,
    k: int,
    method: str,
    out: str | None,
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
    """Group the rows of FILE: CSV in any dialect, .gz, Parquet or .npy; - is standard input.

    Prints how large each group is and which columns set it apart: how many standard deviations
    its center is from the mean of all rows. Parquet and .npy files may be larger than memory.
    """
    if out == "-" and as_json:
        raise click.UsageError("--json and --out - both want standard output. Drop one.")
    check_target(out)
    check_target(model_path)
    runner = engine_from(engine, workers)

    from tacit.data.files import read_numbers

    table = read_numbers(
        sys.stdin.buffer if file == "-" else file,
        columns=None if columns is None else next(csv.reader([columns]), []),
        id_column=id_column,
        header=header,
        allow_partial=True,  # the work is done; the exit code tells
    )
    report, values = table.report, table.values
    notes: list[str] = []
    if k > report.rows:
        notes.append(f"There are only {report.rows:,} rows, so k is {report.rows}, not {k}.")
        k = report.rows
    say(*report.lines(), *notes, quiet=quiet)

    train = partial(fit, method, k, table=table, seed=seed, engine=runner, quiet=quiet)
    if scale:
        mean, deviation = spread(values, runner, train)
        values = scaled(values, mean, deviation)
        model = train(values)
        centers = model.cluster_centers_ * deviation + mean
    else:
        model = train(values)
        mean, deviation = spread(values, runner, train)
        centers = model.cluster_centers_
    facts = []
    constant = [name for name, size in zip(table.names, deviation, strict=True) if size == 0]
    if constant:
        facts.append(f"The same in every row: {', '.join(constant)}.")
    if scale:
        facts.append("Every column was scaled to mean 0 and deviation 1.")
        if model_path:
            facts.append("The saved model expects rows scaled like these.")
    say(*facts, quiet=quiet)
    sizes = write_labels(model, values, table, k, out)
    groups = describe(centers, sizes, mean, deviation, table.names)
    if model_path:
        model.save(model_path)
    result = {
        "file": report.source,
        "method": method,
        "k": k,
        "seed": seed,
        "inertia": float(model.inertia_),
        "iterations": int(model.n_iter_),
        "clusters": groups,
        "input": report.to_dict(),
        "notes": notes + facts,
        "scaled": {"mean": mean.tolist(), "deviation": deviation.tolist()} if scale else None,
        "labels_file": out,
        "model_file": model_path,
    }
    if as_json:
        print_json(result)
    else:
        draw(result, stderr=out == "-")
    for what, path in (("Labels", out), ("Model", model_path)):
        if path and path != "-":
            say(f"{what} written to {path}.", quiet=quiet)
    if report.partial and not allow_partial:
        from tacit.core.errors import PartialInput

        raise PartialInput(
            f"{report.partial}. The result above is theirs alone; --allow-partial accepts it.",
            file=report.source,
        )


# --- The work ---


def fit(
    method: str,
    k: int,
    values: Any,
    *,
    table: "NumberTable",
    seed: int,
    engine: Any,
    quiet: bool,
) -> Any:
    """The fitted model. Errors name the column and count rows from 1, as the file does."""
    import tacit.cluster
    from tacit.core.errors import DataError
    from tacit.core.progress import Progress

    make = getattr(tacit.cluster, METHODS[method])
    progress = None if quiet else Progress()
    callbacks = None if progress is None else [progress]
    model = make(k, random_state=seed, engine=engine, callbacks=callbacks)
    try:
        with progress or nullcontext():
            return model.fit(values)
    except DataError as error:
        if not isinstance(error.row, int) or not isinstance(error.column, int):
            raise
        file, column = table.report.source, table.names[error.column]
        raise DataError(error.message, file=file, row=error.row + 1, column=column) from error


def spread(
    values: Any, engine: Any, train: Callable[[Any], Any]
) -> "tuple[np.ndarray, np.ndarray]":
    """Mean and standard deviation of every column."""
    import numpy as np

    from tacit.core.errors import DataError
    from tacit.core.moments import MomentsParams, collect
    from tacit.data.table import Table

    try:
        moments = engine.reduce(collect, MomentsParams(full=False), Table.of(values))
    except DataError:
        train(values)  # says where in the file the value is
        raise
    return moments.mean, np.sqrt(moments.variance)


def scaled(values: Any, mean: "np.ndarray", deviation: "np.ndarray") -> Any:
    """The rows with mean 0 and deviation 1; a column that never varies becomes 0."""
    import numpy as np

    from tacit.data.scaled_rows import scale_table
    from tacit.data.table import Table

    table = scale_table(Table.of(values), mean, np.where(deviation > 0, deviation, 1.0))
    return table if isinstance(values, Table) else np.vstack([b.load() for b in table])


def write_labels(
    model: Any, values: Any, table: "NumberTable", k: int, out: str | None
) -> "np.ndarray":
    """Label the rows block by block, write the labels where asked, count them."""
    import numpy as np

    from tacit.data.table import Table

    sizes = np.zeros(k, np.int64)

    def blocks() -> Iterator[tuple[int, Any]]:
        known = getattr(model, "labels_", None)  # not for rows that stay on disk
        for block in Table.of(values):
            cut = slice(block.start, block.stop)
            labels = model.predict(block.load()) if known is None else known[cut]
            sizes[:] += np.bincount(labels, minlength=k)
            yield block.start, labels

    if out is None:
        for _ in blocks():
            pass
        return sizes
    title = "row" if table.ids is None else "id"
    with open_output(out) as stream:
        write_rows(stream, [[title, "cluster"]])
        for start, labels in blocks():
            names = range(start + 1, start + 1 + len(labels))
            ids = names if table.ids is None else table.ids[start : start + len(labels)]
            write_rows(stream, zip(ids, labels.tolist(), strict=True))
    return sizes


def describe(
    centers: "np.ndarray",
    sizes: "np.ndarray",
    mean: "np.ndarray",
    deviation: "np.ndarray",
    names: list[str],
) -> list[dict[str, Any]]:
    """Each cluster's size, center, and the columns that set it apart most."""
    import numpy as np

    far = np.zeros_like(centers)
    np.divide(centers - mean, deviation, out=far, where=deviation > 0)
    groups = []
    for j, (center, distance) in enumerate(zip(centers, far, strict=True)):
        order = np.argsort(-np.abs(distance), kind="stable")[:APART]
        groups.append(
            {
                "cluster": j,
                "rows": int(sizes[j]),
                "share": float(sizes[j] / sizes.sum()),
                "apart": {names[i]: float(distance[i]) for i in order if distance[i] != 0},
                "center": dict(zip(names, center.tolist(), strict=True)),
            }
        )
    return groups


def draw(result: dict[str, Any], *, stderr: bool) -> None:
    """The groups as a table, largest first."""
    from rich.table import Table

    groups = sorted(result["clusters"], key=lambda group: (-group["rows"], group["cluster"]))
    table = Table("Cluster", "Rows", "Share", "Apart by (deviations from the mean)", box=None)
    for column in table.columns[:3]:
        column.justify = "right"
    for group in groups[:SHOWN]:
        apart = ", ".join(f"{clean(name)} {far:+.2f}" for name, far in group["apart"].items())
        share = f"{group['share']:.1%}"
        table.add_row(str(group["cluster"]), f"{group['rows']:,}", share, apart or "nothing")
    console(stderr=stderr).print(table)
    if len(groups) > SHOWN:
        click.echo(
            f"and {len(groups) - SHOWN:,} smaller ones (--json has them all)", err=stderr
        )
    end = f"Inertia {result['inertia']:.6g} after {result['iterations']} iterations."
    click.echo(end, err=stderr)

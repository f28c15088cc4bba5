"""``tacit mixture FILE``: fit a mixture of normal distributions to rows of numbers."""

from typing import Any

import click

from tacit.cli.inputs import check_rows, read_number_file
from tacit.cli.options import Count, RunOptions, header_option, partial_option, run_options
from tacit.cli.output import (
    check_outputs,
    draw_table,
    print_json,
    say,
    say_written,
    write_csv,
)

__all__ = ["mixture"]

TYPES = ("full", "tied", "diag", "spherical")
SHOWN = 6  # columns of means in the table


@click.command()
@click.argument("file")
@click.option("-k", "--k", type=Count(), default="auto", show_default=True,
              help="Number of components; auto takes the lowest BIC")
@click.option("--k-max", type=click.IntRange(1), default=8, show_default=True,
              help="Largest number of components that auto tries")
@click.option("--covariance", "kind", type=click.Choice(TYPES), default="full",
              show_default=True, help="Covariance of the components")
@click.option("--n-init", type=click.IntRange(1), default=3, show_default=True,
              help="Runs of EM; the most likely one is kept")
@click.option("--out", metavar="CSV",
              help="File for the probabilities of every row; - is stdout")
@click.option("--model", "model_path", metavar="FILE", help="Model file (.safetensors)")
@click.option("--columns", metavar="A,B,...",
              help="Columns to use  [default: all columns of numbers]")
@click.option("--id", "id_column", metavar="COLUMN",
              help="Column with the names of the rows  [default: row numbers]")
@header_option
@partial_option
@run_options
def mixture(
    file: str,
    k: int | None,
    k_max: int,
    kind: str,
    n_init: int,
    out: str | None,
    model_path: str | None,
    columns: str | None,
    id_column: str | None,
    header: bool | None,
    allow_partial: bool,
    run: RunOptions,
) -> None:
    """Fit a mixture of normal distributions to the rows of FILE by EM.

    FILE is CSV in any dialect, Parquet or .npy; - is standard input. An empty cell, or NaN, is
    a missing value, which EM integrates out. Prints the weight and the mean of each component;
    --out writes the probability of each component for each row.
    """
    check_outputs(out, [model_path], as_json=run.as_json)
    from tacit.mixture import GaussianMixture

    table = read_number_file(file, columns, id_column, header, missing=True)
    say(*table.report.lines(), quiet=run.quiet)
    rows = table.values
    sizes = range(1, min(k_max, len(rows)) + 1) if k is None else [min(k, len(rows))]
    if k is not None and k > len(rows):
        note = f"There are only {len(rows):,} rows, so k is {len(rows)}, not {k}."
        say(note, quiet=run.quiet)
    fits = {}
    for size in sizes:
        model = GaussianMixture(
            size, covariance_type=kind, n_init=n_init, random_state=run.seed, engine=run.engine
        )
        fits[size] = model.fit(rows)
    scores = {size: model.bic(rows) for size, model in fits.items()}
    best = min(scores, key=lambda size: (scores[size], size))
    model = fits[best]
    if model_path:
        model.save(model_path)
    if out is not None:
        write_probabilities(model, rows, table.ids, out)
    if run.as_json:
        print_json(
            {
                "file": table.report.source,
                "k": best,
                "covariance": kind,
                "bic": {str(size): score for size, score in scores.items()},
                "log_likelihood": model.lower_bound_,
                "converged": model.converged_,
                "iterations": model.n_iter_,
                "missing_values": model.n_missing_,
                "components": [
                    {"weight": float(weight), "mean": dict(zip(table.names, mean, strict=True))}
                    for weight, mean in zip(
                        model.weights_, model.means_.tolist(), strict=True
                    )
                ],
                "model_file": model_path,
                "probabilities_file": out,
            }
        )
    else:
        draw(model, scores, best, table.names, stderr=out == "-")
    say_written(quiet=run.quiet, probabilities=out, model=model_path)
    check_rows(table.report.partial, table.report.source, allow_partial)


def write_probabilities(model: Any, rows: Any, ids: Any, out: str) -> None:
    posterior = model.predict_proba(rows)
    names = range(1, len(posterior) + 1) if ids is None else ids
    titles = ["row" if ids is None else "id", "component"]
    titles += [f"p{j}" for j in range(posterior.shape[1])]
    write_csv(
        out,
        titles,
        (
            [name, int(p.argmax()), *(f"{value:.6g}" for value in p)]
            for name, p in zip(names, posterior, strict=True)
        ),
    )


def draw(
    model: Any, scores: dict[int, float], best: int, names: list[str], stderr: bool
) -> None:
    if len(scores) > 1:
        tried = ", ".join(f"{size}: {score:,.1f}" for size, score in scores.items())
        plural = "component has" if best == 1 else "components have"
        click.echo(f"{best} {plural} the lowest BIC ({tried}).", err=stderr)
    if model.n_missing_:
        click.echo(f"{model.n_missing_:,} missing values were integrated out.", err=stderr)
    rows = [
        [str(j), f"{weight:.3f}", *(f"{value:.4g}" for value in mean[:SHOWN])]
        for j, (weight, mean) in enumerate(zip(model.weights_, model.means_, strict=True))
    ]
    more = ["..."] if len(names) > SHOWN else []
    titles = ["component", "weight", *names[:SHOWN], *more]
    rows = [[*row, *(["..."] if more else [])] for row in rows]
    draw_table(titles, rows, right=range(len(titles)), stderr=stderr)
    click.echo(
        f"Mean log-likelihood {model.lower_bound_:.4f} after {model.n_iter_} iterations"
        + ("." if model.converged_ else "; EM did not converge."),
        err=stderr,
    )

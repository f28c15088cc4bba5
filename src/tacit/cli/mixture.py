"""``tacit mixture FILE``: fit a mixture of normal distributions to rows of numbers."""

import warnings
from typing import Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import OneOf, RunOptions, TableOptions
from tacit.cli.progress import Running
from tacit.core.wording import count

__all__ = ["mixture"]

TYPES = ("full", "tied", "diag", "spherical")
SHOWN = 6  # columns of means in the table


@options.command()
@click.argument("file")
@options.k_option("Number of components; auto takes the one with the lowest BIC")
@click.option("--k-max", type=click.IntRange(1), default=8,
              help="Largest number of components that auto tries")
@click.option("--covariance", "kind", type=OneOf(TYPES), default="full",
              help="Form of the components' covariances")
@click.option("--n-init", type=click.IntRange(1), default=3,
              help="Number of EM runs; the best one is used")
@options.out_option("the probabilities of every row")
@options.model_option
@options.table_options
@options.run_options
def mixture(
    file: str, k: int | None, k_max: int, kind: str, n_init: int, out: str | None,
    model_path: str | None, table: TableOptions, run: RunOptions,
) -> None:  # fmt: skip
    """Fit a mixture of normal distributions to the rows of FILE by EM.

    FILE is CSV in any dialect, Parquet or .npy; - is standard input. An empty cell, or NaN, is
    a missing value, which EM integrates out. Prints the proportion and the mean of each
    component; --out writes the probability of each component for each row.

    \b
    tacit mixture heights.csv                 chooses the number of components
    tacit mixture heights.csv -k 2 --covariance diag --out probabilities.csv
    """
    if k is not None:
        options.refuse_options(["k_max"], f"limits what auto tries, but k is {k}. Drop one.")
    from tacit.mixture import GaussianMixture

    opened = inputs.read_number_file(file, table, gaps=True)
    rows = opened.values
    sizes = range(1, min(k_max, len(rows)) + 1) if k is None else [min(k, len(rows))]
    if k is not None and k > len(rows):
        output.note(f"The file has {count(len(rows), 'row')}, so k is {len(rows)}, not {k}.")
    fits, warned = {}, {}
    for size in sizes:
        model = GaussianMixture(
            size, covariance_type=kind, n_init=n_init, random_state=run.seed, engine=run.engine
        )
        title = f"Fitting {count(size, 'component')}"
        with (
            Running(title) as stage, inputs.named_rows(opened),
            warnings.catch_warnings(record=True) as warned[size],
        ):  # fmt: skip
            warnings.simplefilter("always")
            fits[size] = model.set_params(callbacks=stage.callbacks).fit(rows)
            model.set_params(callbacks=None)
    scores = {size: model.bic(rows) for size, model in fits.items()}
    best = min(scores, key=lambda size: (scores[size], size))
    model = fits[best]
    for warning in warned[best]:  # those of the other sizes do not matter
        output.say(f"Warning: {str(warning.message).replace('n_components', '-k')}")
    if model_path:
        model.save(model_path)
    if out is not None:
        write_probabilities(model, rows, inputs.row_names(opened), out)
    if run.as_json:
        components = [
            {"weight": float(weight), "mean": dict(zip(opened.names, mean, strict=True))}
            for weight, mean in zip(model.weights_, model.means_.tolist(), strict=True)
        ]
        output.print_json({
            "file": opened.report.source, "k": best, "covariance": kind,
            "bic": {str(size): score for size, score in scores.items()},
            "log_likelihood": model.lower_bound_, "converged": model.converged_,
            "iterations": model.n_iter_, "missing_values": model.n_missing_,
            "components": components, "model_file": model_path, "probabilities_file": out,
        })  # fmt: skip
    else:
        draw(model, scores, best, opened.names)
    output.say_written(probabilities=out, model=model_path)


def write_probabilities(model: Any, rows: Any, named: tuple[str, Any], out: str) -> None:
    posterior, (title, names) = model.predict_proba(rows), named
    titles = [title, "component", *(f"p{j}" for j in range(posterior.shape[1]))]
    cells = (
        [name, int(p.argmax()), *(f"{value:.6g}" for value in p)]
        for name, p in zip(names, posterior, strict=True)
    )
    output.write_csv(out, titles, cells)


def draw(model: Any, scores: dict[int, float], best: int, names: list[str]) -> None:
    if len(scores) > 1:
        tried = ", ".join(f"{size}: {score:,.1f}" for size, score in scores.items())
        lowest = count(best, "component has", "components have")
        output.echo(f"{lowest} the lowest BIC ({tried}).")
    if model.n_missing_:
        missing = count(model.n_missing_, "missing value was", "missing values were")
        output.echo(f"{missing} integrated out.")
    more = ["..."] if len(names) > SHOWN else []
    titles = ["Component", "Proportion", *names[:SHOWN], *more]
    rows = [
        [str(j), f"{weight:.1%}", *(f"{value:.4g}" for value in mean[:SHOWN]), *more]
        for j, (weight, mean) in enumerate(zip(model.weights_, model.means_, strict=True))
    ]
    output.draw_table(titles, rows, right=range(len(titles)))
    end = "." if model.converged_ else "; EM did not converge."
    iterations = count(model.n_iter_, "iteration")
    output.echo(f"Mean log-likelihood {model.lower_bound_:.4f} after {iterations}{end}")

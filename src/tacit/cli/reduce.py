"""``tacit reduce FILE``: a few columns in place of many."""

from pathlib import Path
from typing import Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import OneOf, Parsed, RunOptions, TableOptions
from tacit.cli.progress import Running
from tacit.core.wording import count, listed

__all__ = ["reduce"]

METHODS = ("pca", "ppca", "svd", "classical-mds", "mds", "nonmetric-mds")
METRICS = ("euclidean", "manhattan", "cosine", "precomputed")
SHOWN = 10  # components in the table
STRONG = 3  # columns named for each
MOST_ROWS = 100_000  # of a file that is loaded, for methods that compare all rows


def parse_components(text: str) -> int | float | str:
    """A number, a fraction of the variance, or knee."""
    if text == "knee":
        return text
    number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if 0 < number < 1:
        return number
    if number < 1 or not text.isdecimal():
        raise ValueError(text)
    return int(text)


COMPONENTS = Parsed("N|FRACTION|knee", parse_components, "is neither a number of components "
                    "nor a fraction such as 0.9 or 90% nor knee.")  # fmt: skip


@options.command()
@click.argument("file")
@click.option("-k", "--components", "n_components", type=COMPONENTS, default="knee",
              help="Number of components; or the fraction of the variance that they explain "
              "(0.9 or 90%); or knee, after which more components explain little")
@click.option("--method", type=OneOf(METHODS), default="pca",
              help="Method: pca centers the columns, svd does not; ppca accepts missing "
              "values; the others place rows by their distances (nonmetric-mds by the order "
              "of the distances)")
@click.option("--standardize", is_flag=True,
              help="Scale every column to mean 0 and standard deviation 1 first, for columns "
              "in different units.")
@click.option("--metric", type=OneOf(METRICS), default="euclidean",
              help="Distance between rows, for the last three methods; precomputed: FILE is a "
              "table of distances")
@click.option("--diagnose", is_flag=True, help="Also estimate the dimension of the data.")
@options.out_option("the new coordinates of every row")
@options.model_option
@options.plot_option(": rows and columns on two components, and the scree plot")
@options.table_options
@options.run_options
def reduce(
    file: str, n_components: Any, method: str, standardize: bool, metric: str, diagnose: bool,
    out: str | None, model_path: str | None, plot_path: str | None, table: TableOptions,
    run: RunOptions,
) -> None:  # fmt: skip
    """Reduce the columns of FILE to a few that carry most of the information.

    FILE is CSV in any dialect, Parquet or .npy; - is standard input. Prints the variance that
    each component explains and its strongest columns; --out writes the new coordinates.

    \b
    tacit reduce body.csv --standardize --out points.csv --plot body.png
    tacit reduce body.csv -k 90%
    tacit reduce cities.csv --method classical-mds --metric precomputed -k 2 --id city
    """
    if not method.endswith("mds"):
        why = f"is for the methods of distances, not for {method}."
        options.refuse_options(["metric"], why)
    if metric == "precomputed":
        why = "is for columns, not for distances."
        options.refuse_options(["standardize", "diagnose"], why)
    import numpy as np

    from tacit.data.table import Table

    gaps = method == "ppca"
    opened = inputs.read_number_file(file, table, gaps=gaps)
    rows: Any = opened.values
    if standardize:
        rows = standardized(rows, opened.names)
    elif method.endswith("mds") and rows.shape[0] <= MOST_ROWS:
        rows = Table.of(rows).load()  # .npy and Parquet files stay on disk otherwise
    model = build(method, n_components, rows.shape, metric, run)
    with Running(f"Fitting {method}"), inputs.named_rows(opened):
        model.fit(rows)
    points = model.embedding_ if hasattr(model, "embedding_") else model.transform(rows)
    points = np.asarray(points)
    if model_path:
        model.save(model_path)
    if out is not None:
        output.write_numbers(out, inputs.row_names(opened), "c", points, first=1, digits=10)
    if plot_path:
        draw_picture(plot_path, model, rows, points, opened.names, file)
    diagnosis = None
    if diagnose:
        from tacit.decompose import dimension

        diagnosis = dimension.diagnose(rows, random_state=run.seed, engine=run.engine)
    summary = summarize(model, points, opened.names, rows.shape)
    if run.as_json:
        output.print_json({
            "file": opened.report.source, "method": method, "standardized": standardize,
            **summary, **({"diagnosis": diagnosis.to_dict()} if diagnosis else {}),
            "model_file": model_path, "coordinates_file": out, "picture_file": plot_path,
        })  # fmt: skip
    else:
        draw(summary, n_components)
        if diagnosis:
            output.echo(diagnosis)
    output.say_written(coordinates=out, model=model_path, picture=plot_path)


def standardized(rows: Any, names: list[str]) -> Any:
    """The rows with mean 0 and standard deviation 1; constant columns become 0."""
    import numpy as np

    from tacit.data.table import Table

    values = np.asarray(Table.of(rows).load(), np.float64)
    deviation = np.nanstd(values, axis=0)
    if constant := [name for name, s in zip(names, deviation, strict=True) if not s > 0]:
        output.note(f"Columns with the same value in every row: {listed(constant)}.")
    return (values - np.nanmean(values, axis=0)) / np.where(deviation > 0, deviation, 1.0)


def build(
    method: str, n_components: Any, shape: tuple[int, int], metric: str, run: RunOptions
) -> Any:
    """The unfitted model of a method."""
    from tacit.decompose import MDS, PCA, ClassicalMDS, ProbabilisticPCA, TruncatedSVD

    n, d = shape
    if not isinstance(n_components, int) and method != "pca":
        if n_components != "knee":
            raise click.UsageError(
                f"-k {n_components:g}, a fraction, is for --method pca. Give a whole number."
            )
        n_components = 2
    common: dict[str, Any] = {"random_state": run.seed, "engine": run.engine}
    if method == "classical-mds":
        return ClassicalMDS(n_components, metric=metric, engine=run.engine)
    if method.endswith("mds"):
        stress: dict[str, Any] = {"metric_mds": method == "mds", "normalized_stress": True}
        return MDS(n_components, metric=metric, **stress, **common)
    most, kind = {
        "pca": (min(n, d), PCA), "ppca": (max(1, d - 1), ProbabilisticPCA),
        "svd": (d, TruncatedSVD),
    }[method]  # fmt: skip
    if isinstance(n_components, int) and n_components > most:
        too_many = f"so k is {most}, not {n_components}"
        output.note(f"There are at most {most:,} components, {too_many}.")
        n_components = most
    return kind(n_components, **common)


def summarize(
    model: Any, points: Any, names: list[str], shape: tuple[int, int]
) -> dict[str, Any]:
    """The facts about a fit, in plain values."""
    import numpy as np

    n, d = shape
    answer: dict[str, Any] = {"rows": n, "columns": d, "components": points.shape[1]}
    for name in ("stress_", "goodness_", "noise_variance_", "n_missing_"):
        if hasattr(model, name):
            answer[name.removesuffix("_")] = getattr(model, name)
    if hasattr(model, "negative_eigenvalues_"):
        answer["negative_eigenvalues"] = model.negative_eigenvalues_.tolist()[:10]
    if not hasattr(model, "components_"):
        return answer
    variance = np.asarray(model.explained_variance_, np.float64)
    if hasattr(model, "explained_variance_ratio_"):
        ratios = np.asarray(model.explained_variance_ratio_, np.float64)
    else:  # of the variance of the model
        total = float(variance.sum() + model.noise_variance_ * (d - len(variance)))
        ratios = variance / total if total > 0 else np.zeros_like(variance)
    answer["variance"], answer["share"] = variance.tolist(), ratios.tolist()
    answer["loadings"] = [
        dict(zip(names, row, strict=True)) for row in model.components_.tolist()
    ]
    return answer


def draw(summary: dict[str, Any], n_components: Any) -> None:
    n, d, k = summary["rows"], summary["columns"], summary["components"]
    if "variance" not in summary:
        output.echo(f"{count(n, 'row')} placed in {count(k, 'dimension')}.")
        if "stress" in summary:
            output.echo(f"Stress-1: {summary['stress']:.4f} (0.05 is good, 0.2 poor).")
        if "goodness" in summary:
            output.echo(f"They reproduce {summary['goodness']:.1%} of the distances.")
        if summary.get("negative_eigenvalues"):
            output.echo(
                "No points have exactly these distances: there are negative eigenvalues, from "
                f"{summary['negative_eigenvalues'][0]:.4g}."
            )
        return
    total = sum(summary["share"])
    how = " (the knee)" if n_components == "knee" else ""
    verb = "explains" if k == 1 else "explain"
    output.echo(f"{k} of {d:,} components{how} {verb} {total:.1%} of the variance.")
    rows, reached = [], 0.0
    shown = list(zip(summary["variance"], summary["share"], summary["loadings"], strict=True))
    for j, (variance, ratio, loadings) in enumerate(shown[:SHOWN], 1):
        reached += ratio
        strong = sorted(loadings, key=lambda name: -abs(loadings[name]))[:STRONG]
        columns = ", ".join(f"{name} {loadings[name]:+.2f}" for name in strong)
        rows.append([str(j), f"{variance:.4g}", f"{ratio:.1%}", f"{reached:.1%}", columns])
    titles = ["Component", "Variance", "Share", "Cumulative", "Strongest columns"]
    output.draw_table(titles, rows, right=range(4))
    if summary.get("n_missing"):
        gone = count(summary["n_missing"], "missing value was", "missing values were")
        output.echo(f"{gone} integrated out.")


def draw_picture(
    path: str, model: Any, rows: Any, points: Any, names: list[str], file: str
) -> None:
    """Draw a biplot, or points for distances, and the scree plot."""
    import numpy as np
    from matplotlib.figure import Figure

    from tacit import plot

    title = Path(file).name
    full = hasattr(model, "explained_variance_ratio_") and points.shape[1] > 1
    with_scree = len(getattr(model, "eigenvalues_", ())) > 2 and hasattr(model, "components_")
    widths = [7, 5] if with_scree else [7]
    figure = Figure(figsize=(12.5 if with_scree else 7.5, 6.0), layout="constrained")
    axes = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    if full:
        plot.biplot(model, rows, names=names, title=title, ax=axes[0])
    else:
        flat = np.zeros((len(points), 2))
        flat[:, : min(2, points.shape[1])] = points[:, :2]
        plot.cluster_map(flat, np.zeros(len(flat), np.int64), title=title, ax=axes[0])
    if with_scree:
        number = model.n_components_ if model.n_components_ <= 60 else None
        marks: dict[str, Any] = {"knee": None, "best": None}
        marks["knee" if model.n_components == "knee" else "best"] = number
        plot.scree(
            model.eigenvalues_[:60], xlabel="components", ylabel="variance", ax=axes[1], **marks
        )
    output.save_figure(figure, path)

"""``tacit neural``: train unsupervised networks, encode rows, draw samples."""

from typing import Any

import click

from tacit.cli.inputs import check_rows, read_number_file
from tacit.cli.options import (
    ShowOptions,
    header_option,
    partial_option,
    seed_option,
    show_options,
)
from tacit.cli.output import check_outputs, print_json, say, say_written, write_csv

__all__ = ["neural"]

KINDS = {"autoencoder": "Autoencoder", "rbm": "RBM", "gan": "GAN"}
LAYERS = {"autoencoder": (64, 16), "rbm": (64,), "gan": (128, 128)}


class Units(click.ParamType):
    """Numbers of units, as 64,16."""

    name = "N,N,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        try:
            units = tuple(int(each) for each in str(value).split(","))
        except ValueError:
            units = (0,)
        if min(units) < 1:
            self.fail(f"{value!r} is not a list of units. Write it as 64,16.", param, ctx)
        return units


class Shape(click.ParamType):
    """The size of an image, as 28x28."""

    name = "HxW"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        try:
            height, width = (int(each) for each in str(value).lower().split("x"))
        except ValueError:
            height = width = 0
        if min(height, width) < 1:
            self.fail(f"{value!r} is not the size of an image. Write it as 28x28.", param, ctx)
        return height, width


columns_option = click.option(
    "--columns", metavar="A,B,...", help="Columns to use  [default: all columns of numbers]"
)
id_option = click.option(
    "--id", "id_column", metavar="COLUMN",
    help="Column with the names of the rows  [default: row numbers]",
)  # fmt: skip


@click.group()
def neural() -> None:
    """Train unsupervised neural networks, encode rows, draw samples.

    \b
    tacit neural train rows.csv --layers 64,2 --model codes.safetensors
    tacit neural encode codes.safetensors rows.csv --out codes.csv
    """


@neural.command()
@click.argument("file")
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="autoencoder",
    show_default=True,
    help="Network to train",
)
@click.option(
    "--model",
    "model_path",
    metavar="FILE",
    required=True,
    help="Model file to write (.safetensors)",
)
@click.option(
    "--layers",
    type=Units(),
    help="Units: of the encoder, code last (autoencoder); hidden ones (rbm); of the "
    "hidden layers of both networks (gan)  [default: 64,16; 64; 128,128]",
)
@click.option(
    "--latent",
    type=click.IntRange(1),
    default=32,
    show_default=True,
    help="Columns of noise (gan)",
)
@click.option(
    "--noise",
    type=click.Choice(["masking", "gaussian", "salt-and-pepper"]),
    help="Noise to learn to remove (autoencoder)  [default: none]",
)
@click.option(
    "--noise-level",
    type=click.FloatRange(0),
    default=0.3,
    show_default=True,
    help="Probability or standard deviation of the noise",
)
@click.option(
    "--sparsity",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Fraction of the code to be 0 (autoencoder)  [default: none]",
)
@click.option("--tied", is_flag=True, help="Tie the decoder's weights (autoencoder).")
@click.option(
    "--visible",
    type=click.Choice(["auto", "bernoulli", "gaussian"]),
    default="auto",
    show_default=True,
    help="Visible units (rbm); auto is bernoulli for values from 0 to 1",
)
@click.option(
    "--passes",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Passes over the rows, at most",
)
@click.option(
    "--early-stopping",
    is_flag=True,
    help="Stop when a tenth of the rows, held out, gets no better (autoencoder).",
)
@click.option(
    "--batch",
    type=click.IntRange(1),
    default=128,
    show_default=True,
    help="Rows in a mini-batch",
)
@click.option(
    "--learning-rate",
    type=click.FloatRange(0, min_open=True),
    help="Step size  [default: 0.001; 0.05 (rbm); 0.0005 (gan)]",
)
@click.option(
    "--device",
    type=click.Choice(["cpu", "gpu"]),
    default="cpu",
    show_default=True,
    help="Where to train",
)
@click.option(
    "--checkpoint", metavar="FILE", help="Save the state here as it trains; run again to resume"
)
@columns_option
@header_option
@partial_option
@seed_option
@show_options
def train(file: str, kind: str, model_path: str, columns: str | None, header: bool | None,
          allow_partial: bool, seed: int, show: ShowOptions, checkpoint: str | None,
          **options: Any) -> None:  # fmt: skip
    """Train a network on the rows of FILE and save it.

    FILE is CSV in any dialect, Parquet or .npy; - is standard input.

    \b
    tacit neural train digits.npy --layers 256,32 --early-stopping --model codes.safetensors
    tacit neural train digits.npy --kind rbm --layers 100 --model machine.safetensors
    tacit neural train points.csv --kind gan --passes 300 --model gan.safetensors
    """
    check_outputs(None, [model_path, checkpoint], as_json=show.as_json)
    from tacit import neural as room
    from tacit.core.checkpoint import Checkpoint
    from tacit.core.progress import Progress

    network = getattr(room, KINDS[kind])  # before the rows are read: the extra may be missing
    table = read_number_file(file, columns, None, header)
    say(*table.report.lines(), quiet=show.quiet)
    callbacks: list[Any] = [] if show.quiet else [Progress()]
    if checkpoint is not None:
        callbacks.append(Checkpoint(checkpoint))
    model = network(
        **parameters(kind, table.values, options, quiet=show.quiet), random_state=seed,
        callbacks=callbacks,
    ).fit(table.values)  # fmt: skip
    model.save(model_path)
    summary = {
        "file": table.report.source, "kind": kind, "rows": len(table.values),
        "columns": len(table.names), "passes": model.n_iter_, "loss": model.losses_[-1],
        "losses": model.losses_, "model_file": model_path,
    }  # fmt: skip
    if kind == "autoencoder":
        summary["error"] = -model.score(table.values)
        variance = spread(table.values)
        summary["explained"] = 1 - summary["error"] / variance if variance else 0.0
        summary["zero_fraction"] = model.zero_fraction_
    if show.as_json:
        print_json(summary)
    else:
        draw(kind, summary)
    say_written(quiet=show.quiet, model=model_path)
    check_rows(table.report.partial, table.report.source, allow_partial)


def spread(values: Any) -> float:
    """The variance of all columns together."""
    from tacit.data.table import Table
    from tacit.neural.training import describe_columns

    columns = describe_columns(Table.of(values), "tacit neural")
    return float(columns.deviations.sum() / columns.rows)


def parameters(kind: str, rows: Any, options: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    """The parameters of a network from the options of the command."""
    layers = options["layers"] or LAYERS[kind]
    common = {
        "batch_size": options["batch"], "max_iter": options["passes"],
        "device": options["device"],
    }  # fmt: skip
    if options["learning_rate"] is not None:
        common["learning_rate"] = options["learning_rate"]
    if kind == "autoencoder":
        names = ("noise", "noise_level", "sparsity", "tied", "early_stopping")
        return {"layers": layers, **{name: options[name] for name in names}, **common}
    if kind == "gan":
        return {
            "n_latent": options["latent"], "generator": layers, "discriminator": layers,
            **common,
        }  # fmt: skip
    if len(layers) > 1:
        raise click.BadParameter(
            f"{len(layers)} layers, but a restricted Boltzmann machine has one. Write one "
            "number.", param_hint="--layers",
        )  # fmt: skip
    visible = options["visible"]
    if visible == "auto":
        from tacit.data.table import Table
        from tacit.neural.training import describe_columns

        found = describe_columns(Table.of(rows), "tacit neural")
        unit = found.low.min() >= 0 and found.high.max() <= 1
        visible = "bernoulli" if unit else "gaussian"
        say(f"Visible units: {visible}, by the range of the values.", quiet=quiet)
    return {"n_components": layers[0], "visible": visible, **common}


def draw(kind: str, summary: dict[str, Any]) -> None:
    word = "discriminator loss" if kind == "gan" else "loss"
    first = summary["losses"][0]
    click.echo(
        f"{summary['passes']} passes over {summary['rows']:,} rows of {summary['columns']:,} "
        f"columns: {word} {first:.4g} in the first, {summary['loss']:.4g} in the last."
    )
    if kind == "autoencoder":
        click.echo(
            f"Reconstructions explain {summary['explained']:.1%} of the variance; squared "
            f"error {summary['error']:.4g} per row; {summary['zero_fraction']:.1%} of the "
            "code is 0."
        )


@neural.command()
@click.argument("model_path", metavar="MODEL")
@click.argument("file")
@click.option(
    "--out",
    default="-",
    show_default=True,
    metavar="CSV",
    help="File for the codes; - is standard output",
)
@columns_option
@id_option
@header_option
@partial_option
@show_options
def encode(model_path: str, file: str, out: str, columns: str | None, id_column: str | None,
           header: bool | None, allow_partial: bool,
           show: ShowOptions) -> None:  # fmt: skip
    """Write the codes of the rows of FILE, by the autoencoder or RBM in MODEL.

    \b
    tacit neural encode codes.safetensors rows.csv --out codes.csv
    """
    if show.as_json and out == "-":
        out = ""  # one JSON document instead
    check_outputs(out or None, as_json=show.as_json)
    model = open_network(model_path, "transform")
    table = read_number_file(file, columns, id_column, header)
    say(*table.report.lines(), quiet=show.quiet)
    codes = model.transform(table.values)
    if out:
        ids = range(1, len(codes) + 1) if table.ids is None else table.ids
        titles = ["row" if table.ids is None else "id"]
        titles += [f"code{j}" for j in range(codes.shape[1])]
        write_csv(
            out, titles,
            ([name, *(f"{x:.6g}" for x in row)] for name, row in zip(ids, codes, strict=True)),
        )  # fmt: skip
    if show.as_json:
        document = {"rows": len(codes), "code": codes.shape[1], "codes_file": out or None}
        print_json(document if out else {**document, "codes": codes.tolist()})
    say_written(quiet=show.quiet, codes=out)
    check_rows(table.report.partial, table.report.source, allow_partial)


@neural.command()
@click.argument("model_path", metavar="MODEL")
@click.option(
    "-n", "--count", type=click.IntRange(1), default=16, show_default=True, help="Rows to draw"
)
@click.option("--out", metavar="CSV", help="File for the rows; - is standard output")
@click.option("--picture", metavar="PNG", help="Picture of the rows as images")
@click.option("--shape", type=Shape(), help="Height and width of the images  [default: square]")
@click.option(
    "--steps", type=click.IntRange(1), default=1000, show_default=True, help="Gibbs steps (rbm)"
)
@seed_option
@show_options
def sample(model_path: str, count: int, out: str | None, picture: str | None,
           shape: tuple[int, int] | None, steps: int, seed: int,
           show: ShowOptions) -> None:  # fmt: skip
    """Draw rows from the GAN or RBM in MODEL.

    \b
    tacit neural sample gan.safetensors -n 1000 --out rows.csv
    tacit neural sample machine.safetensors -n 64 --picture digits.png --shape 28x28
    """
    if out is None and picture is None and not show.as_json:
        out = "-"
    check_outputs(out, [picture], as_json=show.as_json)
    model = open_network(model_path, "sample")
    extra = {"n_steps": steps} if type(model).__name__ == "RBM" else {}
    rows = model.sample(count, random_state=seed, **extra)
    if picture is not None:
        from tacit import plot

        figure: Any = plot.samples(rows, shape=shape).figure
        figure.savefig(picture, dpi=150)
    if out is not None:
        titles = [f"column{j}" for j in range(rows.shape[1])]
        write_csv(out, titles, ([f"{x:.6g}" for x in row] for row in rows))
    if show.as_json:
        document = {"rows": len(rows), "columns": rows.shape[1], "rows_file": out}
        document["picture_file"] = picture
        print_json(document if out or picture else {**document, "values": rows.tolist()})
    say_written(quiet=show.quiet, rows=out, picture=picture)


def open_network(path: str, method: str) -> Any:
    """The network of a model file; one that can do what is asked."""
    import tacit
    from tacit.core.errors import DataError

    able = {"transform": "an autoencoder or an RBM", "sample": "a GAN or an RBM"}[method]
    model = tacit.load(path)
    if type(model).__name__ not in KINDS.values() or not hasattr(model, method):
        raise DataError(
            f"is the file of a model {type(model).__name__}; this needs {able}. Train one "
            "with `tacit neural train`.",
            file=path,
        )
    return model

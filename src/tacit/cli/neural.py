"""``tacit neural``: train unsupervised networks, encode rows, draw samples."""

from functools import partial
from typing import Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import CommandGroup, OneOf, ShowOptions, TableOptions
from tacit.cli.progress import Running
from tacit.core.wording import count

__all__ = ["neural"]

KINDS = {"autoencoder": "Autoencoder", "rbm": "RBM", "gan": "GAN"}
LAYERS = {"autoencoder": (64, 16), "rbm": (64,), "gan": (128, 128)}
ONLY = {  # the options that only some networks have
    "autoencoder": ("noise", "noise_level", "sparsity", "tied", "early_stopping"),
    "rbm": ("visible",),
    "gan": ("latent",),
}


@click.group(cls=CommandGroup)
def neural() -> None:
    """Train unsupervised neural networks, encode rows, generate rows.

    \b
    tacit neural train rows.csv --layers 64,2 --model codes.safetensors
    tacit neural encode codes.safetensors rows.csv --out codes.csv
    """


@neural.command()
@click.argument("file")
@click.option("--kind", type=OneOf(list(KINDS)), default="autoencoder", help="Kind of network")
@click.option("--model", "model_path", type=options.FILE, metavar="FILE", required=True,
              help="Model file to write (.safetensors)")
@click.option("--layers", type=options.NUMBERS,
              help="Units per layer: of the encoder, ending with the code (autoencoder); "
              "hidden units (rbm); of both networks (gan)  [default: 64,16; 64; 128,128]")
@click.option("--latent", type=click.IntRange(1), default=32,
              help="Dimension of the noise (gan)")
@click.option("--noise", type=OneOf(["masking", "gaussian", "salt-and-pepper"]),
              help="Noise that the network learns to remove (autoencoder)  [default: none]")
@click.option("--noise-level", type=click.FloatRange(0), default=0.3,
              help="Probability or standard deviation of the noise (autoencoder)")
@click.option("--sparsity", type=click.FloatRange(0, 1, min_open=True, max_open=True),
              help="Fraction of the code that should be 0 (autoencoder)  [default: none]")
@click.option("--tied", is_flag=True,
              help="Use the encoder's weights in the decoder (autoencoder).")
@click.option("--visible", type=OneOf(["auto", "bernoulli", "gaussian"]), default="auto",
              help="Kind of visible units (rbm); auto is bernoulli for values from 0 to 1")
@click.option("--passes", type=click.IntRange(1), default=20,
              help="Maximum number of passes over the rows")
@click.option("--early-stopping", is_flag=True,
              help="Stop when the error on a held-out tenth of the rows stops falling "
              "(autoencoder).")
@click.option("--batch", type=click.IntRange(1), default=128, help="Rows per mini-batch")
@click.option("--learning-rate", type=click.FloatRange(0, min_open=True),
              help="Learning rate  [default: 0.001; 0.05 (rbm); 0.0005 (gan)]")
@click.option("--device", type=OneOf(["cpu", "gpu"]), default="cpu", help="Device to train on")
@click.option("--checkpoint", type=options.FILE, metavar="FILE",
              help="File for the state of the training; a second run resumes from it  "
              "[default: none]")
@partial(options.table_options, ids=False)
@options.seed_option
@options.show_options
def train(file: str, kind: str, model_path: str, table: TableOptions, seed: int,
          show: ShowOptions, checkpoint: str | None, **settings: Any) -> None:  # fmt: skip
    """Train a network on the rows of FILE and save it.

    FILE is CSV in any dialect, Parquet or .npy; - is standard input.

    \b
    tacit neural train digits.npy --layers 256,32 --early-stopping --model codes.safetensors
    tacit neural train digits.npy --kind rbm --layers 100 --model machine.safetensors
    tacit neural train points.csv --kind gan --passes 300 --model gan.safetensors
    """
    for other, names in ONLY.items():
        if other != kind:
            options.refuse_options(names, f"is for --kind {other}, not for {kind}.")
    if settings["noise"] is None:
        options.refuse_options(["noise_level"], "needs a kind of noise: add --noise.")
    from tacit import neural as networks
    from tacit.core.checkpoint import Checkpoint

    network = getattr(networks, KINDS[kind])  # before the rows are read: jax may be missing
    opened = inputs.read_number_file(file, table)
    rows = opened.values
    params = parameters(kind, rows, settings)
    saved = [] if checkpoint is None else [Checkpoint(checkpoint)]
    with Running(f"Training the {kind}") as stage, inputs.named_rows(opened):
        callbacks = [*(stage.callbacks or []), *saved]
        model = network(**params, random_state=seed, callbacks=callbacks).fit(rows)
    model.save(model_path)
    summary = {
        "file": opened.report.source, "kind": kind, "rows": len(rows),
        "columns": len(opened.names), "passes": model.n_iter_, "loss": model.losses_[-1],
        "losses": model.losses_, "model_file": model_path,
    }  # fmt: skip
    if kind == "autoencoder":
        columns = columns_of(rows)
        variance = float(columns.deviations.sum() / columns.rows)
        summary["error"] = -model.score(rows)
        summary["explained"] = 1 - summary["error"] / variance if variance else 0.0
        summary["zero_fraction"] = model.zero_fraction_
    if show.as_json:
        output.print_json(summary)
    else:
        draw(kind, summary)
    output.say_written(model=model_path)


def columns_of(values: Any) -> Any:
    from tacit.data.table import Table
    from tacit.neural.training import describe_columns

    return describe_columns(Table.of(values), "tacit neural")


def parameters(kind: str, rows: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a network of this kind."""
    layers = settings["layers"] or LAYERS[kind]
    common = {
        "batch_size": settings["batch"], "max_iter": settings["passes"],
        "device": settings["device"],
    }  # fmt: skip
    if settings["learning_rate"] is not None:
        common["learning_rate"] = settings["learning_rate"]
    if kind == "autoencoder":
        return {"layers": layers, **{name: settings[name] for name in ONLY[kind]}, **common}
    if kind == "gan":
        sizes = {"generator": layers, "discriminator": layers}
        return {"n_latent": settings["latent"], **sizes, **common}
    if len(layers) > 1:
        raise click.BadParameter(
            f"{len(layers)} layers, but a restricted Boltzmann machine has one hidden layer. "
            "Give one number.", param_hint="--layers",
        )  # fmt: skip
    visible = settings["visible"]
    if visible == "auto":
        columns = columns_of(rows)
        in_unit_interval = columns.low.min() >= 0 and columns.high.max() <= 1
        visible = "bernoulli" if in_unit_interval else "gaussian"
        output.note(f"Visible units: {visible}, chosen by the range of the values.")
    return {"n_components": layers[0], "visible": visible, **common}


def draw(kind: str, summary: dict[str, Any]) -> None:
    word = "discriminator loss" if kind == "gan" else "loss"
    first = summary["losses"][0]
    click.echo(
        f"{count(summary['passes'], 'pass', 'passes')} over {count(summary['rows'], 'row')} of "
        f"{count(summary['columns'], 'column')}: {word} {first:.4g} in the first, "
        f"{summary['loss']:.4g} in the last."
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
@click.option("--out", type=options.TARGET, default="-", metavar="CSV",
              help="File for the codes; - is standard output")
@options.table_options
@options.show_options
def encode(model_path: str, file: str, out: str, table: TableOptions,
           show: ShowOptions) -> None:  # fmt: skip
    """Encode the rows of FILE with the autoencoder or RBM in MODEL.

    \b
    tacit neural encode codes.safetensors rows.csv --out codes.csv
    """
    if show.as_json and out == "-":
        out = ""  # one JSON document instead
    model = open_network(model_path, "transform")
    opened = inputs.read_number_file(file, table)
    with inputs.named_rows(opened):
        codes = model.transform(opened.values)
    if out:
        output.write_numbers(out, inputs.row_names(opened), "code", codes)
    if show.as_json:
        document = {"rows": len(codes), "code": codes.shape[1], "codes_file": out or None}
        output.print_json(document if out else {**document, "codes": codes.tolist()})
    output.say_written(codes=out)


@neural.command()
@click.argument("model_path", metavar="MODEL")
@click.option("-n", "--count", type=click.IntRange(1), default=16, help="Number of rows")
@click.option("--out", type=options.OUT, metavar="CSV",
              help="File for the rows; - is standard output  [default: -]")
@click.option("--picture", type=options.FILE, metavar="PNG",
              help="Picture that shows the rows as images  [default: none]")
@click.option("--shape", type=options.IMAGE_SIZE,
              help="Height and width of the images  [default: square]")
@click.option("--steps", type=click.IntRange(1), default=1000,
              help="Number of Gibbs steps (rbm)")
@options.seed_option
@options.show_options
def sample(model_path: str, count: int, out: str | None, picture: str | None,
           shape: tuple[int, int] | None, steps: int, seed: int,
           show: ShowOptions) -> None:  # fmt: skip
    """Generate rows with the GAN or RBM in MODEL.

    \b
    tacit neural sample gan.safetensors -n 1000 --out rows.csv
    tacit neural sample machine.safetensors -n 64 --picture digits.png --shape 28x28
    """
    if out is None and picture is None and not show.as_json:
        out = "-"
    if picture is None:
        options.refuse_options(["shape"], "is the size of images: add --picture.")
    model = open_network(model_path, "sample")
    if type(model).__name__ != "RBM":
        options.refuse_options(["steps"], f"is for an RBM, and {model_path} holds a GAN.")
    extra = {"n_steps": steps} if type(model).__name__ == "RBM" else {}
    rows = model.sample(count, random_state=seed, **extra)
    if picture is not None:
        from tacit import plot

        figure: Any = plot.samples(rows, shape=shape).figure
        output.save_figure(figure, picture)
    if out is not None:
        titles = [f"column{j}" for j in range(rows.shape[1])]
        output.write_csv(out, titles, ([f"{x:.6g}" for x in row] for row in rows))
    if show.as_json:
        document = {"rows": len(rows), "columns": rows.shape[1], "rows_file": out}
        document["picture_file"] = picture
        output.print_json(document if out or picture else {**document, "values": rows.tolist()})
    output.say_written(rows=out, picture=picture)


def open_network(path: str, method: str) -> Any:
    """The network in a model file; an error if it does not have this method."""
    expected = {"transform": "an autoencoder or an RBM", "sample": "a GAN or an RBM"}[method]
    command = "tacit neural train FILE --model MODEL"
    model = inputs.open_model(path, [method], expected, command)
    if type(model).__name__ not in KINDS.values():
        raise inputs.wrong_model(path, model, expected, command)
    return model

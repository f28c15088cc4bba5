"""``tacit recommend``: learn from ratings; recommend, compare and explain."""

import re
from typing import Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.interrupt import patience
from tacit.cli.options import CommandGroup, OneOf, RunOptions, ShowOptions
from tacit.cli.progress import Running
from tacit.core.wording import count

__all__ = ["recommend"]

# The class of each model; if it learns factors, also its parameter for the number of passes.
MODELS = {
    "als": ("ALS", "max_iter"), "sgd": ("BiasedSGD", "n_epochs"),
    "implicit": ("ImplicitALS", "max_iter"), "knn": ("ItemKNN", None),
    "biases": ("Biases", None), "popularity": ("Popularity", None),
    "mean": ("GlobalMean", None),
}  # fmt: skip
BASELINES = ("biases", "popularity", "mean")
NAMES = click.option(
    "--names", metavar="FILE",
    help="File with the names of items, in columns id, name, ...  [default: none]",
)  # fmt: skip


rating_options = options.with_options(
    *(
        click.option(f"--{role}", metavar="COLUMN",
                     help=f"Column with the {role}s  [default: guessed]")
        for role in ("user", "item", "rating", "time")
    ),
    click.option("--duplicates", default="last",
                 type=OneOf(["last", "first", "mean", "sum", "error"]),
                 help="Rating to use if a user rated an item several times; error stops"),
    options.header_option,
    options.allow_partial_option,
)  # fmt: skip
model_options = options.with_options(
    click.option("--model", "kind", type=OneOf(list(MODELS)), default="als",
                 help="Model: als and sgd for ratings, implicit for counts such as plays or "
                 "purchases; the others are baselines"),
    click.option("-k", "--factors", type=click.IntRange(1), default=32,
                 help="Number of factors of users and items"),
    click.option("--reg", type=click.FloatRange(0), help="Weight of the penalty on large "
                 "factors  [default: by model]"),
    click.option("--epochs", type=click.IntRange(1), help="Maximum number of passes  "
                 "[default: by model]"),
)  # fmt: skip


@click.group(cls=CommandGroup)
def recommend() -> None:
    """Learn from ratings; recommend items, find similar ones, explain predictions.

    \b
    tacit recommend train ratings.csv --out films.safetensors
    tacit recommend for films.safetensors ann --top 5
    """


@recommend.command()
@click.argument("file")
@click.option("--out", type=options.FILE, required=True, metavar="MODEL",
              help="Model file to write (.safetensors)")
@model_options
@rating_options
@options.run_options
def train(file: str, out: str, kind: str, factors: int, reg: float | None,
          epochs: int | None, run: RunOptions, **columns: Any) -> None:  # fmt: skip
    """Learn from the ratings in FILE and write a model.

    FILE is CSV in any dialect, MovieLens' u.data or a :: file, or Parquet, each also
    compressed; - is standard input. Ctrl-C saves the best model so far.

    \b
    tacit recommend train u.data --model sgd --factors 64 --out films.safetensors
    """
    refuse_unused(kind)
    ratings = read(file, columns)
    stopped = False
    with patience(signals=1 if MODELS[kind][1] else 0):  # so that factors are saved
        with Running(f"Training {kind}") as stage:
            model = build(kind, factors, reg, epochs, run, callbacks=stage.callbacks)
            try:
                model.fit(ratings)
            except KeyboardInterrupt:
                if not hasattr(model, "mean_") or not hasattr(model, "user_factors_"):
                    raise
                stopped = True
        model.save(out)
    has_error = not stopped and kind not in ("implicit", "popularity")
    error = -model.score(ratings) if has_error else None
    facts = {
        "model": type(model).__name__, "file": out, "ratings": len(ratings),
        "users": len(ratings.user_ids), "items": len(ratings.item_ids),
        "training_rmse": error, "interrupted": stopped, "input": ratings.report.to_dict(),
    }  # fmt: skip
    if run.as_json:
        output.print_json(facts)
    else:
        tail = "" if error is None else f"; RMSE on these ratings {error:.4f}"
        click.echo(
            f"{type(model).__name__}: {count(len(ratings), 'rating')}, "
            f"{count(len(ratings.user_ids), 'user')}, {count(len(ratings.item_ids), 'item')}"
            f"{tail}."
        )
    output.say_written(model=out)
    if stopped:
        output.say("Interrupted: the model holds the best factors so far.")
        raise click.exceptions.Exit(130)


@recommend.command()
@click.argument("file")
@model_options
@click.option("--folds", type=click.IntRange(2), default=5,
              help="Folds of the cross-validation")
@click.option("--top", type=click.IntRange(1), default=10,
              help="Length of the lists to measure rankings by")
@click.option("--relevant", type=float, metavar="RATING",
              help="Lowest rating of a relevant item  [default: all are relevant]")
@rating_options
@options.run_options
def evaluate(file: str, kind: str, factors: int, reg: float | None, epochs: int | None,
             folds: int, top: int, relevant: float | None, run: RunOptions,
             **columns: Any) -> None:  # fmt: skip
    """Cross-validate a model on the ratings in FILE, together with the baselines.

    Prints the root mean squared error and the mean absolute error of predicted ratings,
    measures of rankings of all items, and the protocol.

    \b
    tacit recommend evaluate u.data --model als --factors 32 --relevant 4
    """
    import warnings

    import numpy as np

    from tacit.measure import mae, rank_items, rmse

    refuse_unused(kind)
    ratings = read(file, columns)
    compared = ["mean", "biases", "popularity", *([] if kind in BASELINES else [kind])]
    figures: dict[str, list] = {each: [] for each in compared}
    protocol = ""
    for train_part, test in ratings.folds(folds, random_state=run.seed):
        for each in compared:
            model = build(each, factors, reg if each == kind else None, epochs, run)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # unknown items of a fold are part of it
                model.fit(train_part)
                errors = [float("nan")] * 2
                if each not in ("implicit", "popularity"):
                    predicted = model.predict(test)
                    errors = [rmse(test.values, predicted), mae(test.values, predicted)]
            report = rank_items(model, test, top, threshold=relevant)
            protocol = report.protocol
            figures[each].append([*errors, report.precision, report.recall, report.map,
                                  report.ndcg, report.mrr, report.coverage,
                                  report.novelty])  # fmt: skip
    titles = ["rmse", "mae", "prec", "recall", "map", "ndcg", "mrr", "cover", "novel"]
    means = {each: np.mean(rows, axis=0).tolist() for each, rows in figures.items()}
    protocol = (
        f"{folds}-fold cross-validation, seed {run.seed}, means over folds. Lists of {top}. "
        f"{protocol}"
    )
    if run.as_json:
        output.print_json({
            "file": file, "folds": folds, "protocol": protocol,
            "models": {
                each: {t: None if v != v else v for t, v in zip(titles, row, strict=True)}
                for each, row in means.items()
            },
        })  # fmt: skip
    else:
        cells = [
            [each, *("" if v != v else f"{v:.4f}" for v in row)] for each, row in means.items()
        ]
        output.draw_table(["model", *titles], cells, right=range(1, len(titles) + 1))
        click.echo(protocol)


@recommend.command(name="for")
@click.argument("file", metavar="MODEL")
@click.argument("user")
@options.top_option(10)
@click.option("--all", "everything", is_flag=True,
              help="Include items that the user has rated.")
@NAMES
@options.show_options
def for_user(file: str, user: str, top: int, everything: bool, names: str | None,
             show: ShowOptions) -> None:  # fmt: skip
    """Recommend items to USER.

    An unknown user gets the items with the best overall ratings, and a note.

    \b
    tacit recommend for films.safetensors 196 --names u.item
    """
    model = open_recommender(file)
    ranked = model.recommend(as_id(model.user_ids_, user), top, exclude_seen=not everything)
    nothing = f"{user} has rated every item; --all includes those."
    query = {"model": file, "user": user}
    show_ranked(ranked, read_names(names), query, show, nothing=nothing)


@recommend.command()
@click.argument("file", metavar="MODEL")
@click.argument("id")
@options.top_option(10)
@click.option("--users", is_flag=True, help="Compare users instead of items.")
@NAMES
@options.show_options
def similar(file: str, id: str, top: int, users: bool, names: str | None,
            show: ShowOptions) -> None:  # fmt: skip
    """Find the items most similar to item ID; with --users, the users most similar to user ID.

    \b
    tacit recommend similar films.safetensors 50 --names u.item
    """
    model = open_recommender(file)
    with inputs.known("ID"):
        if users:
            ranked = model.similar_users(as_id(model.user_ids_, id), top)
        else:
            ranked = model.similar_items(as_id(model.item_ids_, id), top)
    show_ranked(ranked, {} if users else read_names(names), {"model": file, "id": id}, show)


@recommend.command()
@click.argument("file", metavar="MODEL")
@click.argument("user")
@click.argument("item")
@options.top_option(10)
@NAMES
@options.show_options
def explain(file: str, user: str, item: str, top: int, names: str | None,
            show: ShowOptions) -> None:  # fmt: skip
    """Explain the prediction for USER and ITEM by the ratings of the user.

    \b
    tacit recommend explain films.safetensors 196 242 --names u.item
    """
    model = open_recommender(file)
    with inputs.known("USER or ITEM"):
        why = model.explain(as_id(model.user_ids_, user), as_id(model.item_ids_, item), top)
    item_names = read_names(names)
    if show.as_json:
        output.print_json({"model": file, **why.to_dict()})
        return
    output.echo(
        f"{why.prediction:.3f} for {user} and {label(why.item, item_names)}: mean "
        f"{why.mean:.3f}, user {why.user_bias:+.3f}, item {why.item_bias:+.3f}"
    )
    rows = [
        [f"{each.contribution:+.3f}", label(each.item, item_names), f"rated {each.rating:g}"]
        for each in why.support
    ]
    rows.append([f"{why.others:+.3f}", "all other ratings", ""])
    if abs(why.rest) > 5e-4:
        rows.append([f"{why.rest:+.3f}", "not explained by single ratings", ""])
    output.draw_table(["adds", "item", ""], rows, right=[0])


# --- Input ---


def read(file: str, columns: dict[str, Any]) -> Any:
    """The ratings of a file; notes about them go to standard error."""
    from tacit.data.ratings import Ratings

    inputs.check_exists(file)
    ratings = Ratings.open(inputs.source_of(file), **{**columns, "allow_partial": True})
    output.note(*ratings.report.lines())
    inputs.check_at_end(ratings, columns["allow_partial"])
    return ratings


def build(
    kind: str, factors: int, reg: float | None, epochs: int | None, run: RunOptions,
    *, callbacks: Any = None,
) -> Any:  # fmt: skip
    from tacit import recommend as models

    name, passes = MODELS[kind]
    if passes is None:
        return getattr(models, name)(engine=run.engine)
    params = {"reg": reg, passes: epochs}
    return getattr(models, name)(
        factors, random_state=run.seed, engine=run.engine, callbacks=callbacks,
        **{param: value for param, value in params.items() if value is not None},
    )  # fmt: skip


def refuse_unused(kind: str) -> None:
    """Refuse the options of factor models for models that do not learn factors."""
    if MODELS[kind][1] is None:
        options.refuse_options(
            ["factors", "reg", "epochs"], f"is for als, sgd and implicit, not for {kind}."
        )


def open_recommender(file: str) -> Any:
    command = "tacit recommend train RATINGS --out MODEL"
    return inputs.open_model(file, ["recommend"], "a recommender", command)


def as_id(ids: Any, text: str) -> Any:
    """An id in the type of the model's ids."""
    return int(text) if ids.dtype.kind == "i" and re.fullmatch(r"[+-]?\d+", text) else text


def read_names(path: str | None) -> dict[str, str]:
    """Names by id: the first two columns of a file."""
    if path is None:
        return {}
    inputs.check_exists(path)
    pairs = inputs.read_pairs(path, content="ids and names")
    return {key.strip(): name.strip() for key, name in pairs}


# --- Printing ---


def label(id: Any, names: dict[str, str]) -> str:
    """A name with its id, or the id."""
    name = names.get(str(id))
    return str(id) if name is None else f"{name} ({id})"


def show_ranked(ranked: Any, names: dict[str, str], query: dict[str, Any], show: ShowOptions,
                *, nothing: str = "There are no others.") -> None:  # fmt: skip
    """Print a ranking, or one JSON document; ``nothing`` is the message for an empty one."""
    if show.as_json:
        rows = [
            {"id": each.id, "score": each.score, **(
                {"name": names[str(each.id)]} if str(each.id) in names else {}
            )}
            for each in ranked
        ]  # fmt: skip
        output.print_json({**query, "ranked": rows, "notes": ranked.notes})
        return
    lines = [
        [str(rank), f"{each.score:.3f}", label(each.id, names)]
        for rank, each in enumerate(ranked, 1)
    ]
    if lines:
        output.draw_table(["", "score", "id"], lines, right=[0, 1])
    else:
        click.echo(nothing)
    output.say(*ranked.notes)

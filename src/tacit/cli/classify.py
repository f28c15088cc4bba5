"""``tacit classify``: learn labels from documents, predict them, and explain predictions."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.inputs import check_whole, label_text, open_documents, read_labels
from tacit.cli.options import (
    DocumentOptions,
    RunOptions,
    ShowOptions,
    document_options,
    label_option,
    run_options,
    show_options,
    top_option,
)
from tacit.cli.output import (
    check_file,
    check_target,
    clean,
    draw_table,
    print_json,
    say,
    write_csv,
)
from tacit.core.memory import format_bytes

if TYPE_CHECKING:
    from tacit.classify.model_choice import ModelChoice
    from tacit.classify.text_classifier import TextClassifier

__all__ = ["classify"]

NAMES = (
    "naive-bayes", "bernoulli", "complement", "perceptron", "passive-aggressive", "svm",
    "logistic",
)  # fmt: skip


@click.group()
def classify() -> None:
    """Learn labels of documents from examples, and predict them."""


@classify.command()
@click.argument("path")
@click.option("--out", required=True, metavar="FILE", help="Model file (.safetensors)")
@label_option
@click.option("--model", "name", type=click.Choice(["auto", *NAMES]), default="auto",
              show_default=True, help="Classifier; auto takes the best in cross-validation")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True,
              help="Folds of the cross-validation")
@click.option("--ngrams", type=click.IntRange(1, 10), show_default="1, of characters 3",
              help="Longest n-grams to use as features; of words, unless --characters")
@click.option("--characters", is_flag=True,
              help="Use n-grams of characters. Without --ngrams, the better of words and "
                   "characters is used anyway.")
@click.option("--min-df", type=click.IntRange(1), default=1, show_default=True,
              help="Minimum number of documents with the term")
@document_options
@run_options
def train(
    path: str,
    out: str,
    label_column: str | None,
    name: str,
    folds: int,
    ngrams: int | None,
    characters: bool,
    min_df: int,
    documents: DocumentOptions,
    run: RunOptions,
) -> None:
    """Train a classifier on the labeled documents of PATH.

    PATH is a folder with one subfolder of text files per label (spam/17.txt), or a .csv,
    .tsv, .jsonl or .parquet file with a column of labels, each also compressed; - is standard
    input.
    """
    check_file(out)

    from tacit.classify.model_choice import choose_classifier

    texts = open_documents(path, documents, quiet=run.quiet)
    labels = read_labels(texts, path, label_column, quiet=run.quiet)
    folds = possible_folds(labels, folds, run.quiet)
    vectorizer = None
    if characters or ngrams or min_df > 1:
        vectorizer = make_features(texts, labels, characters, ngrams, min_df, run.engine)
    choice = choose_classifier(
        texts,
        labels,
        candidates=NAMES if name == "auto" else [name],
        vectorizer=vectorizer,
        folds=folds,
        random_state=run.seed,
        engine=run.engine,
    )
    model = choice.model
    model.save(out)
    if run.as_json:
        print_json(
            {
                "model": out,
                "documents": model.n_documents_,
                "terms": model.n_terms_,
                "classes": model.classes_.tolist(),
                "seed": run.seed,
                **choice.to_dict(),
                "input": texts.report.to_dict(),
            }
        )
    else:
        draw_choice(choice)
        if choice.features is not None:
            click.echo(f"{str(choice.features).capitalize()}.")
        click.echo(
            f"{model.n_documents_:,} documents, {model.n_terms_:,} terms, "
            f"{len(model.classes_)} classes; {format_bytes(os.path.getsize(out))}."
        )
    say(f"Model ({choice.best}) written to {out}.", quiet=run.quiet)
    check_whole(texts, documents)


@classify.command()
@click.argument("file", metavar="MODEL")
@click.argument("path")
@click.option("--out", default="-", metavar="CSV", show_default="stdout",
              help="File for the labels")
@document_options
@show_options
def predict(
    file: str, path: str, out: str, documents: DocumentOptions, show: ShowOptions
) -> None:
    """Predict the labels of the documents of PATH; - is standard input, one per line."""
    if show.as_json and out != "-":
        raise click.UsageError("--json prints to standard output. Drop it, or --out.")
    check_target(None if show.as_json else out)
    model = open_model(file)
    texts = open_documents(path, documents, quiet=show.quiet)
    labels, probabilities = predict_labels(model, texts)
    titles = ["id", "label"]
    columns = [texts.ids, labels.tolist()]
    if probabilities is not None:
        titles.append("probability")
        columns.append(probabilities.max(axis=1).tolist())
    rows = zip(*columns, strict=True)
    if show.as_json:
        listed = [dict(zip(titles, row, strict=True)) for row in rows]
        print_json({"model": file, "path": path, "labels": listed})
    else:
        write_csv(out, titles, ([*row[:2], *(f"{p:.6g}" for p in row[2:])] for row in rows))
    check_whole(texts, documents)


@classify.command()
@click.argument("file", metavar="MODEL")
@click.argument("path")
@label_option
@click.option("--against", metavar="MODEL", help="Another model to compare with")
@document_options
@show_options
def evaluate(
    file: str,
    path: str,
    label_column: str | None,
    against: str | None,
    documents: DocumentOptions,
    show: ShowOptions,
) -> None:
    """Measure how well MODEL predicts the labels of the documents of PATH.

    They should not be documents that it was trained on.
    """
    import numpy as np

    from tacit.measure import calibration, confusion, mcnemar, paired_bootstrap, wilson_interval

    model = open_model(file)
    texts = open_documents(path, documents, quiet=show.quiet)
    labels = as_classes(read_labels(texts, path, label_column, quiet=show.quiet), model)
    predicted, probabilities = predict_labels(model, texts)
    table = confusion(labels, predicted)
    low, high = wilson_interval(table.accuracy, len(labels))
    result: dict[str, Any] = {
        "model": file,
        "path": path,
        "documents": len(labels),
        "interval": [low, high],
        **table.to_dict(),
    }
    known = np.isin(labels, model.classes_)
    if not known.all():
        say(
            f"{int((~known).sum()):,} documents have labels that the model does not know; "
            "they count as wrong.",
            quiet=show.quiet,
        )
    curve = None
    if probabilities is not None and known.any():
        curve = calibration(labels[known], probabilities[known], labels=model.classes_)
        result["calibration"] = curve.to_dict()
    if against is not None:
        predictions = open_model(against).predict(texts).tolist()
        other = as_classes(predictions, model, "--against")
        test = mcnemar(labels, predicted, other)
        bootstrap = paired_bootstrap(labels, predicted, other)
        result["against"] = {
            "model": against,
            "accuracy": float(np.mean(labels == other)),
            "mcnemar": test.to_dict(),
            "bootstrap": bootstrap.to_dict(),
        }
    if show.as_json:
        print_json(result)
    else:
        click.echo(clean(table))
        click.echo(f"interval [{low:.4f}, {high:.4f}], 19 times of 20")
        if curve is not None:
            click.echo(f"expected calibration error {curve.error:.4f}")
        if against is not None:
            click.echo(f"against {clean(against)}: {bootstrap}; McNemar {test}")
    check_whole(texts, documents)


@classify.command()
@click.argument("file", metavar="MODEL")
@click.argument("text", nargs=-1)
@click.option("--class", "class_", metavar="LABEL",
              help="Class to explain  [default: the predicted one]")
@top_option(10)
@show_options
def explain(
    file: str, text: tuple[str, ...], class_: str | None, top: int, show: ShowOptions
) -> None:
    """Show the words of TEXT that decided the prediction of MODEL, with their weights.

    TEXT is a document; - reads one from standard input. Without TEXT, the words with the
    largest weights for each class.
    """
    from tacit.classify import explain as explain_prediction

    model = open_model(file)
    chosen = None if class_ is None else known_class(class_, model)
    if not text:
        classes = model.classes_.tolist() if chosen is None else [chosen]
        words = {str(each): model.top_features(each, n=top) for each in classes}
        if show.as_json:
            listed = {name: as_json(pairs) for name, pairs in words.items()}
            print_json({"model": file, "top_features": listed})
        else:
            for name, pairs in words.items():
                click.echo(clean(name))
                draw_weights(pairs)
        return
    document = " ".join(text)
    if document == "-":
        document = sys.stdin.buffer.read().decode("utf-8-sig", "replace")
    label = model.predict([document]).tolist()[0]
    if chosen is None:
        explanation = explain_prediction(model, None, document, n=top)
        weights, details = list(explanation.pushes), explanation.to_dict()
    else:
        weights, details = model.explain(document, class_=chosen, n=top), {"class_": chosen}
    if show.as_json:
        print_json({"model": file, "label": label, **details, "pushes": as_json(weights)})
        return
    click.echo(clean(label if chosen is not None else explanation).splitlines()[0])
    if not weights:
        click.echo("No word of it is known to the model.")
    draw_weights(weights)
    if chosen is None and explanation.rest:
        click.echo(f"{explanation.rest:+10.3f}  (other words)")
    if chosen is None and explanation.offset:
        click.echo(f"{explanation.offset:+10.3f}  (whatever the words)")


# --- Models ---


def make_features(
    texts: Any, labels: list, characters: bool, ngrams: int | None, min_df: int, engine: Any
) -> Any:
    """The vectorizer that the options ask for."""
    from tacit.classify.text_classifier import choose_features, make_vectorizer

    if characters or ngrams:
        features = "characters" if characters else "words"
    else:
        features = choose_features(texts, labels, engine=engine).best
    settings = {"ngram_range": (1, ngrams)} if ngrams else {}
    return make_vectorizer(features, min_df=min_df, **settings)


def open_model(file: str) -> "TextClassifier":
    from tacit.core.modelfile import load

    model = load(file)
    if not (hasattr(model, "classifier_") and hasattr(model, "counter_")):
        raise click.BadParameter(
            f"{file} holds a {type(model).__name__}, not a classifier of documents. Make one "
            "with `tacit classify train`.",
            param_hint="MODEL",
        )
    return model


def predict_labels(model: "TextClassifier", documents: Any) -> tuple[Any, Any]:
    """The labels, and the probabilities where the model has them, in one pass."""
    if not hasattr(model, "predict_proba"):
        return model.predict(documents), None
    probabilities = model.predict_proba(documents)
    return model.classes_[probabilities.argmax(axis=1)], probabilities


def possible_folds(labels: list, folds: int, quiet: bool) -> int:
    if len(set(labels)) < 2:
        raise click.ClickException(
            f"There are {len(labels)} documents and {len(set(labels))} different label(s). "
            "Give documents of at least two labels."
        )
    if folds > len(labels):
        say(f"There are only {len(labels)} documents: as many folds.", quiet=quiet)
    return min(folds, len(labels))


# --- Labels ---


def as_classes(labels: list, model: "TextClassifier", option: str = "--label") -> Any:
    """Labels with the type of the model's classes: 1 in a file may be "1" in another."""
    import numpy as np

    kind = model.classes_.dtype.kind
    if kind in "OUT":
        return np.asarray([label_text(label) for label in labels])
    convert: Any = {"b": truth, "f": float}.get(kind, whole)
    for label in labels:
        try:
            convert(label)
        except (KeyError, ValueError):
            raise click.BadParameter(
                f"the model's labels are {model.classes_.tolist()[:2]} and the like, but one "
                f"here is {label!r}. Give labels of the same kind.",
                param_hint=option,
            ) from None
    return np.asarray([convert(label) for label in labels])


def whole(label: Any) -> int:
    return int(str(label))  # refuses 1.5


def truth(label: Any) -> bool:
    return {"true": True, "false": False, "1": True, "0": False}[str(label).lower()]


def known_class(name: str, model: "TextClassifier") -> Any:
    """The class of the model with this name."""
    label = as_classes([name], model, "--class").tolist()[0]
    if label not in model.classes_.tolist():
        raise click.BadParameter(
            f"the model knows no class {name!r}; it knows {model.classes_.tolist()[:20]}.",
            param_hint="--class",
        )
    return label


# --- Printing ---


def draw_choice(choice: "ModelChoice") -> None:
    """All candidates, the best first."""
    rows = [
        (
            trial.name,
            f"{trial.accuracy:.4f}",
            "{:.4f} to {:.4f}".format(*trial.interval),
            "" if trial is choice.table[0] else f"{trial.p_value:.2g}",
            f"{trial.seconds:.2f}",
        )
        for trial in choice.table
    ]
    titles = ["classifier", "accuracy", "19 times of 20", "p against best", "seconds"]
    draw_table(titles, rows, right=range(1, 5))
    click.echo(f"Accuracy in cross-validation, {choice.folds} folds.")


def as_json(weights: list) -> list:
    return [{"term": word, "weight": weight} for word, weight in weights]


def draw_weights(weights: list) -> None:
    for word, weight in weights:
        click.echo(f"{weight:+10.3f}  {clean(word)}")

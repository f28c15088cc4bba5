"""``tacit classify``: learn labels from documents, predict them, and explain predictions."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import CommandGroup, DocumentOptions, OneOf, RunOptions, ShowOptions
from tacit.cli.progress import Running
from tacit.core.memory import format_bytes
from tacit.core.wording import count, did_you_mean, listed

if TYPE_CHECKING:
    from tacit.classify.text_classifier import ModelChoice, TextClassifier

__all__ = ["classify"]

NAMES = (
    "naive-bayes", "bernoulli", "complement", "perceptron", "passive-aggressive", "svm",
    "logistic",
)  # fmt: skip


@click.group(cls=CommandGroup)
def classify() -> None:
    """Learn the labels of documents from examples, and predict them.

    \b
    tacit classify train mail.csv --label spam --out spam.safetensors
    tacit classify predict spam.safetensors new.csv --out labels.csv
    """


@classify.command()
@click.argument("path")
@click.option("--out", type=options.FILE, required=True, metavar="FILE",
              help="Model file to write (.safetensors)")
@options.label_option
@click.option("--model", "name", type=OneOf(["auto", *NAMES]), default="auto",
              help="Classifier; auto takes the best one in cross-validation")
@click.option("--folds", type=click.IntRange(2), default=5,
              help="Folds of the cross-validation")
@click.option("--ngrams", type=click.IntRange(1, 10),
              help="Maximum length of the n-grams that are features  [default: 1 word, or 3 "
              "characters]")
@click.option("--characters", is_flag=True,
              help="Use n-grams of characters  [default: the better of words and characters]")
@click.option("--min-df", type=click.IntRange(1), default=1,
              help="Minimum number of documents with a term")
@options.document_options
@options.run_options
def train(
    path: str, out: str, label_column: str | None, name: str, folds: int, ngrams: int | None,
    characters: bool, min_df: int, documents: DocumentOptions, run: RunOptions,
) -> None:  # fmt: skip
    """Train a classifier on the labeled documents at PATH.

    PATH is a folder with one subfolder of text files per label (spam/17.txt), or a .csv,
    .tsv, .jsonl or .parquet file with a column of labels, each also compressed; - is standard
    input.
    """

    from tacit.classify.text_classifier import choose_classifier

    texts = inputs.open_documents(path, documents)
    labels = inputs.read_labels(texts, path, label_column)
    folds = possible_folds(labels, folds)
    vectorizer = None
    if characters or ngrams or min_df > 1:
        vectorizer = make_features(texts, labels, characters, ngrams, min_df, run.engine)
    with Running("Comparing classifiers" if name == "auto" else f"Training {name}"):
        choice = choose_classifier(
            texts, labels, candidates=NAMES if name == "auto" else [name],
            vectorizer=vectorizer, folds=folds, random_state=run.seed, engine=run.engine,
        )  # fmt: skip
    model = choice.model
    model.save(out)
    if run.as_json:
        output.print_json({
            "model": out, "documents": model.n_documents_, "terms": model.n_terms_,
            "classes": model.classes_.tolist(), "seed": run.seed, **choice.to_dict(),
            "input": texts.report.to_dict(),
        })  # fmt: skip
    else:
        draw_choice(choice)
        if choice.features is not None:
            click.echo(f"{str(choice.features).capitalize()}.")
        click.echo(
            f"{count(model.n_documents_, 'document')}, {count(model.n_terms_, 'term')}, "
            f"{len(model.classes_)} classes; {format_bytes(os.path.getsize(out))}."
        )
    output.note(f"Model ({choice.best}) written to {out}.")


@classify.command()
@click.argument("file", metavar="MODEL")
@click.argument("path")
@click.option("--out", type=options.TARGET, default="-", show_default=False, metavar="CSV",
              help="File for the labels  [default: standard output]")
@options.document_options
@options.show_options
def predict(
    file: str, path: str, out: str, documents: DocumentOptions, show: ShowOptions
) -> None:
    """Predict the labels of the documents at PATH; - is standard input, a document per line."""
    if show.as_json and out != "-":
        raise click.UsageError("--json prints to standard output. Drop it, or --out.")
    model = open_classifier(file)
    texts = inputs.open_documents(path, documents)
    labels, probabilities = predict_labels(model, texts)
    titles = ["id", "label"]
    columns = [texts.ids, labels.tolist()]
    if probabilities is not None:
        titles.append("probability")
        columns.append(probabilities.max(axis=1).tolist())
    rows = zip(*columns, strict=True)
    if show.as_json:
        records = [dict(zip(titles, row, strict=True)) for row in rows]
        output.print_json({"model": file, "path": path, "labels": records})
    else:
        cells = ([*row[:2], *(f"{p:.6g}" for p in row[2:])] for row in rows)
        output.write_csv(out, titles, cells)


@classify.command()
@click.argument("file", metavar="MODEL")
@click.argument("path")
@options.label_option
@click.option("--against", metavar="MODEL",
              help="Second model to compare with  [default: none]")
@options.document_options
@options.show_options
def evaluate(
    file: str, path: str, label_column: str | None, against: str | None,
    documents: DocumentOptions, show: ShowOptions,
) -> None:  # fmt: skip
    """Measure how well MODEL predicts the labels of the documents at PATH.

    The documents should not be those that it was trained on.
    """
    import numpy as np

    from tacit.measure import calibration, confusion, mcnemar, paired_bootstrap, wilson_interval

    model = open_classifier(file)
    texts = inputs.open_documents(path, documents)
    labels = as_classes(inputs.read_labels(texts, path, label_column), model)
    predicted, probabilities = predict_labels(model, texts)
    table = confusion(labels, predicted)
    low, high = wilson_interval(table.accuracy, len(labels))
    result: dict[str, Any] = {
        "model": file, "path": path, "documents": len(labels), "interval": [low, high],
        **table.to_dict(),
    }  # fmt: skip
    known = np.isin(labels, model.classes_)
    if not known.all():
        output.note(
            f"{count(int((~known).sum()), 'document has', 'documents have')} labels that the "
            "model does not know; these count as wrong.",
        )
    curve = None
    if probabilities is not None and known.any():
        curve = calibration(labels[known], probabilities[known], labels=model.classes_)
        result["calibration"] = curve.to_dict()
    if against is not None:
        predictions = open_classifier(against).predict(texts).tolist()
        other = as_classes(predictions, model, "--against")
        test = mcnemar(labels, predicted, other)
        bootstrap = paired_bootstrap(labels, predicted, other)
        result["against"] = {
            "model": against, "accuracy": float(np.mean(labels == other)),
            "mcnemar": test.to_dict(), "bootstrap": bootstrap.to_dict(),
        }  # fmt: skip
    if show.as_json:
        output.print_json(result)
    else:
        output.echo(table)
        click.echo(f"95% confidence interval of the accuracy: {low:.4f} to {high:.4f}")
        if curve is not None:
            click.echo(f"Expected calibration error: {curve.error:.4f}")
        if against is not None:
            click.echo(f"Against {output.clean(against)}: {bootstrap}; McNemar {test}")


@classify.command()
@click.argument("file", metavar="MODEL")
@click.argument("text", nargs=-1)
@click.option("--class", "class_", metavar="LABEL",
              help="Class to explain  [default: the predicted one]")
@options.top_option(10)
@options.show_options
def explain(
    file: str, text: tuple[str, ...], class_: str | None, top: int, show: ShowOptions
) -> None:
    """Show the words of TEXT that decided the prediction of MODEL, with their weights.

    TEXT is a document; - reads one from standard input. Without TEXT, prints the words with
    the largest weights for each class.
    """
    from tacit.classify import explain as explain_prediction

    if len(text) == 1 and os.path.isfile(text[0]):
        raise click.UsageError(
            f"TEXT is the text of a document, but {text[0]!r} is a file. Give its text, or the "
            f"file on standard input: tacit classify explain MODEL - < {text[0]}"
        )
    model = open_classifier(file)
    chosen = None if class_ is None else known_class(class_, model)
    if not text:
        classes = model.classes_.tolist() if chosen is None else [chosen]
        words = {str(each): model.top_features(each, n=top) for each in classes}
        if show.as_json:
            features = {name: as_json(pairs) for name, pairs in words.items()}
            output.print_json({"model": file, "top_features": features})
        else:
            for name, pairs in words.items():
                output.echo(name)
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
        pushes = as_json(weights)
        output.print_json({"model": file, "label": label, **details, "pushes": pushes})
        return
    click.echo(output.clean(label if chosen is not None else explanation).splitlines()[0])
    if not weights:
        click.echo("The model knows none of its words.")
    draw_weights(weights)
    if chosen is None and explanation.rest:
        click.echo(f"{explanation.rest:+10.3f}  (other terms)")
    if chosen is None and explanation.offset:
        click.echo(f"{explanation.offset:+10.3f}  (intercept)")


# --- Models ---


def make_features(
    texts: Any, labels: list, characters: bool, ngrams: int | None, min_df: int, engine: Any
) -> Any:
    """The vectorizer of the options."""
    from tacit.classify.text_classifier import choose_features, make_vectorizer

    if characters or ngrams:
        features = "characters" if characters else "words"
    else:
        features = choose_features(texts, labels, engine=engine).best
    settings = {"ngram_range": (1, ngrams)} if ngrams else {}
    return make_vectorizer(features, min_df=min_df, **settings)


def open_classifier(file: str) -> "TextClassifier":
    expected, command = "a classifier of documents", "tacit classify train PATH --out MODEL"
    return inputs.open_model(file, ["classifier_", "counter_"], expected, command)


def predict_labels(model: "TextClassifier", documents: Any) -> tuple[Any, Any]:
    """The labels, and the probabilities if the model has them, in one pass."""
    if not hasattr(model, "predict_proba"):
        return model.predict(documents), None
    probabilities = model.predict_proba(documents)
    return model.classes_[probabilities.argmax(axis=1)], probabilities


def possible_folds(labels: list, folds: int) -> int:
    """The number of folds, at most one per document."""
    if len(set(labels)) < 2:
        raise click.ClickException(
            f"There are {count(len(labels), 'document')} with "
            f"{count(len(set(labels)), 'label')}, but at least two labels are needed. Add "
            "documents with another label, or name the right column with --label."
        )
    if folds > len(labels):
        n = len(labels)
        output.note(f"{n} documents allow at most {n} folds, so {n} are used.")
    return min(folds, len(labels))


# --- Labels ---


def as_classes(labels: list, model: "TextClassifier", option: str = "--label") -> Any:
    """Labels in the type of the model's classes: an integer in one file may be text in
    another."""
    import numpy as np

    kind = model.classes_.dtype.kind
    if kind in "OUT":
        return np.asarray([inputs.label_text(label) for label in labels])

    def convert(label: Any) -> bool | float | int:
        if kind == "b":
            return {"true": True, "false": False, "1": True, "0": False}[str(label).lower()]
        return float(label) if kind == "f" else int(str(label))  # refuses 1.5

    converted = []
    for label in labels:
        try:
            converted.append(convert(label))
        except (KeyError, ValueError):
            raise click.BadParameter(
                f"the model's labels are of the kind {model.classes_.tolist()[:2]}, but one "
                f"here is {label!r}. Give labels of the same kind.",
                param_hint=option,
            ) from None
    return np.asarray(converted)


def known_class(name: str, model: "TextClassifier") -> Any:
    """The class of the model with this name."""
    label = as_classes([name], model, "--class").tolist()[0]
    classes = model.classes_.tolist()
    if label not in classes:
        raise click.BadParameter(
            f"the model has no class {name!r}.{did_you_mean(name, classes)} Its classes are "
            f"{listed(classes)}.",
            param_hint="--class",
        )
    return label


# --- Printing ---


def draw_choice(choice: "ModelChoice") -> None:
    """Print the candidates, the best first."""
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
    titles = ["Classifier", "Accuracy", "95% interval", "p against best", "Seconds"]
    output.draw_table(titles, rows, right=range(1, 5))
    click.echo(f"Accuracy in cross-validation with {choice.folds} folds.")


def as_json(weights: list) -> list:
    return [{"term": word, "weight": weight} for word, weight in weights]


def draw_weights(weights: list) -> None:
    for word, weight in weights:
        click.echo(f"{weight:+10.3f}  {output.clean(word)}")

"""``tacit classify``: learn labels from documents, give them to others, and say why."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.classify_page import draw_choice, draw_words, pairs
from tacit.cli.csv_out import check_file, check_target, open_output, write_rows
from tacit.cli.documents import check_whole, document_options, read_documents
from tacit.cli.labeled_documents import known_class, label_option, labels_of, same_kind
from tacit.cli.options import (
    debug_option,
    engine_from,
    json_option,
    quiet_option,
    standard_options,
)
from tacit.cli.terminal import clean, print_json, say
from tacit.core.memory import format_bytes

if TYPE_CHECKING:
    from tacit.classify.text_classifier import TextClassifier

__all__ = ["classify"]

NAMES = (
    "naive-bayes", "bernoulli", "complement", "perceptron", "passive-aggressive", "svm",
    "logistic",
)  # fmt: skip
WORDS = 10  # to show for a class


@click.group()
def classify() -> None:
    """Learn labels of documents from examples, and give them to others."""


@classify.command()
@click.argument("path")
@click.option("--out", required=True, metavar="FILE", help="The model (.safetensors).")
@label_option
@click.option(
    "--model",
    "name",
    type=click.Choice(["auto", *NAMES]),
    default="auto",
    show_default=True,
    help="The classifier; auto tries all on left-out documents and takes the best.",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="Into how many parts documents are divided to be left out in turn.",
)
@click.option(
    "--ngrams",
    type=click.IntRange(1, 10),
    default=1,
    show_default=True,
    help="Words to a term.",
)
@click.option("--characters", is_flag=True, help="Terms of characters, not of words.")
@click.option(
    "--min-df",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Leave out terms of fewer documents.",
)
@document_options
@standard_options
def train(
    path: str,
    out: str,
    label_column: str | None,
    name: str,
    folds: int,
    ngrams: int,
    characters: bool,
    min_df: int,
    text_column: str | None,
    id_column: str | None,
    kind: str | None,
    encoding: str | None,
    memory: int,
    allow_partial: bool,
    seed: int,
    engine: str,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn to label documents from PATH, where they have labels.

    PATH is a folder with a folder of text files for each label (spam/17.txt), or a .csv,
    .tsv, .jsonl or .parquet file with a column of labels, each also packed; - is standard
    input.
    """
    check_file(out)
    runner = engine_from(engine, workers)

    from tacit.classify.model_choice import choose_classifier
    from tacit.text import CountVectorizer

    documents = read_documents(path, text_column, id_column, kind, encoding)
    say(*documents.report.lines(), quiet=quiet)
    labels = labels_of(documents, path, label_column, quiet=quiet)
    vectorizer = CountVectorizer(
        analyzer="char_wb" if characters else "word", ngram_range=(1, ngrams), min_df=min_df
    )
    folds = enough_rows(labels, folds, quiet)
    choice = choose_classifier(
        documents,
        labels,
        candidates=NAMES if name == "auto" else [name],
        vectorizer=vectorizer,
        folds=folds,
        random_state=seed,
        engine=runner,
        told=None,
    )
    choice.model.save(out)
    if as_json:
        print_json(
            {
                "model": out,
                "documents": choice.model.n_documents_,
                "terms": choice.model.n_terms_,
                "classes": choice.model.classes_.tolist(),
                "seed": seed,
                **choice.to_dict(),
                "input": documents.report.to_dict(),
            }
        )
    else:
        draw_choice(choice)
        model = choice.model
        click.echo(
            f"{model.n_documents_:,} documents, {model.n_terms_:,} terms, "
            f"{len(model.classes_)} classes; {format_bytes(os.path.getsize(out))}."
        )
    say(f"Model ({choice.best}) written to {out}.", quiet=quiet)
    check_whole(documents.report, allow_partial)


@classify.command()
@click.argument("file", metavar="MODEL")
@click.argument("path")
@click.option("--out", default="-", metavar="CSV", help="Where labels go; - is stdout.")
@document_options
@json_option
@quiet_option
@debug_option
def predict(
    file: str,
    path: str,
    out: str,
    text_column: str | None,
    id_column: str | None,
    kind: str | None,
    encoding: str | None,
    memory: int,
    allow_partial: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Label the documents of PATH; - is standard input, a document a line."""
    if as_json and out != "-":
        raise click.UsageError("--json prints to standard output. Drop it, or --out.")
    check_target(None if as_json else out)
    model = open_model(file)
    documents = read_documents(path, text_column, id_column, kind, encoding)
    say(*documents.report.lines(), quiet=quiet)
    labels, shares = label(model, documents)
    found, sure = labels.tolist(), None if shares is None else shares.max(axis=1).tolist()
    if as_json:
        each = [
            {"id": id, "label": label, **({} if sure is None else {"probability": sure[row]})}
            for row, (id, label) in enumerate(zip(documents.ids, found, strict=True))
        ]
        print_json({"model": file, "path": path, "labels": each})
    else:
        with open_output(out) as stream:
            head = ["id", "label", *([] if sure is None else ["probability"])]
            write_rows(stream, [head])
            write_rows(
                stream,
                (
                    [id, label, *([] if sure is None else [f"{sure[row]:.6g}"])]
                    for row, (id, label) in enumerate(zip(documents.ids, found, strict=True))
                ),
            )
    check_whole(documents.report, allow_partial)


@classify.command()
@click.argument("file", metavar="MODEL")
@click.argument("path")
@label_option
@click.option("--against", metavar="MODEL", help="Another model to compare with.")
@document_options
@json_option
@quiet_option
@debug_option
def evaluate(
    file: str,
    path: str,
    label_column: str | None,
    against: str | None,
    text_column: str | None,
    id_column: str | None,
    kind: str | None,
    encoding: str | None,
    memory: int,
    allow_partial: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say how well MODEL labels the documents of PATH, whose labels are known.

    They should not be those it was trained on.
    """
    import numpy as np

    from tacit.measure import calibration, confusion, mcnemar, paired_bootstrap, wilson_interval

    model = open_model(file)
    documents = read_documents(path, text_column, id_column, kind, encoding)
    say(*documents.report.lines(), quiet=quiet)
    labels = same_kind(labels_of(documents, path, label_column, quiet=quiet), model)
    found, shares = label(model, documents)
    table = confusion(labels, found)
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
            quiet=quiet,
        )
    curve = None
    if shares is not None and known.any():
        curve = calibration(labels[known], shares[known], labels=model.classes_)
        result["calibration"] = curve.to_dict()
    if against is not None:
        said = open_model(against).predict(documents).tolist()
        other = same_kind(said, model, "--against")
        test, boot = mcnemar(labels, found, other), paired_bootstrap(labels, found, other)
        result["against"] = {
            "model": against,
            "accuracy": float(np.mean(labels == other)),
            "mcnemar": test.to_dict(),
            "bootstrap": boot.to_dict(),
        }
    if as_json:
        print_json(result)
    else:
        click.echo(clean(table))
        click.echo(f"interval [{low:.4f}, {high:.4f}], 19 times of 20")
        if curve is not None:
            click.echo(f"expected calibration error {curve.error:.4f}")
        if against is not None:
            click.echo(f"against {clean(against)}: {boot}; McNemar {test}")
    check_whole(documents.report, allow_partial)


@classify.command()
@click.argument("file", metavar="MODEL")
@click.argument("text", nargs=-1)
@click.option("--class", "class_", metavar="LABEL", help="The class to explain; the winner.")
@click.option("--top", type=click.IntRange(1), default=WORDS, show_default=True)
@json_option
@quiet_option
@debug_option
def explain(
    file: str, text: tuple[str, ...], class_: str | None, top: int, as_json: bool, quiet: bool
) -> None:
    """Say which words of TEXT pushed the decision of MODEL, and by how much.

    TEXT is a document; - reads one from standard input. Without it, the words that speak most
    for each class.
    """
    from tacit.classify import explain as why

    model = open_model(file)
    chosen = None if class_ is None else known_class(class_, model)
    if not text:
        each_class = model.classes_.tolist() if chosen is None else [chosen]
        words = {str(each): model.top_features(each, n=top) for each in each_class}
        if as_json:
            print_json({"model": file, "top_features": pairs(words)})
        else:
            draw_words(words)
        return
    document = " ".join(text)
    if document == "-":
        document = sys.stdin.buffer.read().decode("utf-8-sig", "replace")
    said = model.predict([document]).tolist()[0]
    if chosen is None:
        found = why(model, None, document, n=top)
        pushes, whole = list(found.pushes), found.to_dict()
    else:
        pushes, whole = model.explain(document, class_=chosen, n=top), {"class_": chosen}
    if as_json:
        terms = pairs({"": pushes})[""]
        print_json({"model": file, "label": said, **whole, "pushes": terms})
        return
    click.echo(clean(said if chosen is not None else found).splitlines()[0])
    if not pushes:
        click.echo("No word of it is known to the model.")
    for word, push in pushes:
        click.echo(f"{push:+10.3f}  {clean(word)}")
    if chosen is None and found.rest:
        click.echo(f"{found.rest:+10.3f}  (other words)")
    if chosen is None and found.offset:
        click.echo(f"{found.offset:+10.3f}  (whatever the words)")


# --- The work ---


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


def label(model: "TextClassifier", documents: Any) -> tuple[Any, Any]:
    """The labels, and the probabilities where the model has them: read once for both."""
    if not hasattr(model, "predict_proba"):
        return model.predict(documents), None
    shares = model.predict_proba(documents)
    return model.classes_[shares.argmax(axis=1)], shares


def enough_rows(labels: list, folds: int, quiet: bool) -> int:
    if len(set(labels)) < 2:
        raise click.ClickException(
            f"There are {len(labels)} documents and {len(set(labels))} different label(s). "
            "Give documents of at least two labels."
        )
    if folds > len(labels):
        say(f"There are only {len(labels)} documents: as many folds.", quiet=quiet)
        return len(labels)
    return folds

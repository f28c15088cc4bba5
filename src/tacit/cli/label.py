"""``tacit label FILE``: label all documents from a few labels, with probabilities."""

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import DocumentOptions, Parsed, RunOptions
from tacit.cli.progress import Running

__all__ = ["label"]

WORDS = 6  # shown for each class


def parse_weight(text: str) -> float | str:
    if text == "auto":
        return text
    if not 0 <= float(text) <= 1:
        raise ValueError(text)
    return float(text)


WEIGHT = Parsed("auto|NUMBER", parse_weight, "is neither auto nor a number from 0 to 1.")


@options.command()
@click.argument("file")
@options.label_option
@options.out_option("the labels of all documents")
@click.option("--weight", type=WEIGHT, default="auto",
              help="Weight of an unlabeled document, from 0 to 1; auto chooses it by "
              "cross-validation")
@click.option("--min-df", type=click.IntRange(1), default=2,
              help="Minimum number of documents with a word")
@options.document_options
@options.run_options
def label(
    file: str, label_column: str | None, out: str | None, weight: float | str, min_df: int,
    documents: DocumentOptions, run: RunOptions,
) -> None:  # fmt: skip
    """Label all documents in FILE from those that have a label.

    FILE is a .csv, .tsv, .jsonl or .parquet file with a column of labels, empty where the label
    is unknown. Semi-supervised naive Bayes learns from labeled and unlabeled documents; --out
    writes the most probable label of every document, its probability, and whether it was given.
    """
    import numpy as np

    from tacit.core.errors import DataError
    from tacit.mixture import SemiSupervisedNB
    from tacit.text import CountVectorizer

    texts = inputs.open_documents(file, documents)
    labels = inputs.read_labels(texts, file, label_column, optional=True)
    known = np.array([name is not None for name in labels])
    if not known.any():
        raise DataError("no document has a label. Label some of each class.", file=file)
    if known.all():
        output.note("Every document already has a label; the labels stay as they are.")
    vectorizer = CountVectorizer(
        min_df=min_df, stop_words="english-function-words", engine=run.engine
    )
    counts = vectorizer.fit_transform(texts)
    model = SemiSupervisedNB(
        alpha=0.1, unlabeled_weight=weight, random_state=run.seed, engine=run.engine
    )
    with Running("Learning the labels"):
        model.fit(counts, labels)
    posterior = model.predict_proba(counts)
    predicted = model.classes_[posterior.argmax(axis=1)].tolist()
    both = zip(labels, predicted, strict=True)
    completed = [guess if label is None else label for label, guess in both]
    if out is not None:
        probability = np.where(known, 1.0, posterior.max(axis=1))
        rows = zip(texts.ids, completed, probability, known, strict=True)
        cells = ([id, name, f"{p:.4g}", "yes" if b else "no"] for id, name, p, b in rows)
        output.write_csv(out, ["id", "label", "probability", "given"], cells)
    words = model.keywords(vectorizer.get_feature_names_out(), top=WORDS)
    classes = [
        {
            "label": name, "given": labels.count(name), "documents": completed.count(name),
            "words": [word for word, _ in words[j]],
        }
        for j, name in enumerate(model.classes_.tolist())
    ]  # fmt: skip
    if run.as_json:
        output.print_json({
            "file": file, "documents": len(labels), "labeled": int(known.sum()),
            "unlabeled_weight": model.unlabeled_weight_,
            "accuracy": getattr(model, "unlabeled_weights_", None),
            "classes": classes, "labels_file": out,
        })  # fmt: skip
    else:
        shown = [
            [str(row["label"]), f"{row['given']:,}", f"{row['documents']:,}",
             ", ".join(row["words"])]
            for row in classes
        ]  # fmt: skip
        output.draw_table(["Label", "Given", "Documents", "Words"], shown, right=[1, 2])
        accuracy = getattr(model, "unlabeled_weights_", {}).get(str(model.unlabeled_weight_))
        if accuracy is not None:
            output.note(
                f"Weight of unlabeled documents: {model.unlabeled_weight_:g}. Accuracy on "
                f"held-out labels: {accuracy:.0%}.",
            )
    output.say_written(labels=out)

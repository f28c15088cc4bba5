"""``tacit counts PATH``: the words of documents, how often and in how many."""

import re
from typing import Any

import click

from tacit.cli.csv_out import check_file, check_target, open_output, write_rows
from tacit.cli.documents import check_whole, document_options, read_documents
from tacit.cli.options import engine_from, standard_options
from tacit.cli.terminal import clean, console, print_json, say

__all__ = ["counts"]

WAYS_OUT = {  # how a message of the vectorizer ends, and what to do about it here
    r"Check where they come from; .*": "Look into the file.",
    r"Tokens are what .*": "Look at the documents, or choose another --rule.",
    r"Set stop_words=None or numbers=True\.": "Leave out --stop-words.",
    r"Raise max_df or lower min_df\.": "Lower --min-df.",
    r"Try a lower min_df or a higher max_df\.": "Lower --min-df.",
    r"Lower ngram_range=.*": "Lower --ngrams.",
}


@click.command()
@click.argument("path")
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, help="To show.")
@click.option(
    "--ngrams", type=(int, int), default=(1, 1), show_default=True, help="Fewest, most words."
)
@click.option(
    "--min-df", type=click.IntRange(1), default=1, help="In so many documents at least."
)
@click.option("--stop-words", type=click.Choice(["english"]), help="Words to leave out.")
@click.option(
    "--rule",
    type=click.Choice(["plain", "words"]),
    default="plain",
    show_default=True,
    help="Whether don't and well-known are two words or one.",
)
@click.option("--out", metavar="CSV", help="Write all terms and their counts; - is stdout.")
@click.option("--matrix", metavar="FILE", help="Write the documents x terms matrix (.npz).")
@click.option("--model", "model_path", metavar="FILE", help="Save the vectorizer.")
@document_options
@standard_options
def counts(
    path: str,
    top: int,
    ngrams: tuple[int, int],
    min_df: int,
    stop_words: str | None,
    rule: str,
    out: str | None,
    matrix: str | None,
    model_path: str | None,
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
    """Count the words of the documents at PATH.

    PATH is a folder of text files, or a .txt (one document a line), .csv, .tsv, .jsonl or
    .parquet file, each also packed with gzip or zstd; - is standard input.
    """
    if out == "-" and as_json:
        raise click.UsageError("--json and --out - both want standard output. Drop one.")
    check_target(out)
    for target in (matrix, model_path):
        check_file(target)

    import numpy as np

    from tacit.core.errors import DataError
    from tacit.text import CountVectorizer

    documents = read_documents(path, text_column, id_column, kind, encoding)
    say(*documents.report.lines(), quiet=quiet)
    vectorizer = CountVectorizer(
        ngram_range=ngrams,
        min_df=min_df,
        stop_words=stop_words,
        rule=rule,
        engine=engine_from(engine, workers),
    )
    try:
        table = vectorizer.fit_transform(documents)
    except ValueError as error:
        raise DataError(in_options(str(error)), file=path) from None
    terms = vectorizer.get_feature_names_out()
    totals = np.asarray(table.sum(axis=0)).ravel()
    holding = np.bincount(table.indices, minlength=len(terms))
    order = np.lexsort([np.arange(len(terms)), -totals])
    if out is not None:
        with open_output(out) as stream:
            write_rows(stream, [["term", "count", "documents"]])
            write_rows(
                stream, ([terms[j], int(totals[j]), int(holding[j])] for j in order.tolist())
            )
    if matrix is not None:
        save_matrix(table, matrix)
    if model_path is not None:
        vectorizer.save(model_path)
    result = {
        "source": documents.report.source,
        "documents": table.shape[0],
        "terms": len(terms),
        "tokens": int(totals.sum()),
        "top": [
            {"term": terms[j], "count": int(totals[j]), "documents": int(holding[j])}
            for j in order[:top].tolist()
        ],
        "input": documents.report.to_dict(),
    }
    if as_json:
        print_json(result)
    elif out != "-":
        draw(result)
    for what, target in (("Counts", out), ("Matrix", matrix), ("Vectorizer", model_path)):
        if target and target != "-":
            say(f"{what} written to {target}.", quiet=quiet)
    check_whole(documents.report, allow_partial)


def save_matrix(table: Any, path: str) -> None:
    """As SciPy reads it: ``scipy.sparse.load_npz``."""
    import scipy.sparse as sp

    from tacit.core.atomic import atomic_write

    with atomic_write(path) as file:
        sp.save_npz(file, table)


def draw(result: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table("Term", "Count", "Documents", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in result["top"]:
        table.add_row(clean(row["term"]), f"{row['count']:,}", f"{row['documents']:,}")
    console().print(table)
    click.echo(
        f"{result['documents']:,} documents, {result['terms']:,} different terms, "
        f"{result['tokens']:,} in all."
    )


def in_options(message: str) -> str:
    """What the vectorizer says, with the options of the command for its arguments."""
    for theirs, ours in WAYS_OUT.items():
        message = re.sub(theirs, ours, message)
    return message

"""``tacit counts PATH``: how often each word occurs, and in how many documents."""

import re

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import DocumentOptions, RunOptions
from tacit.cli.progress import Running
from tacit.core.wording import count

__all__ = ["counts"]

ADVICE = {  # for each message of the vectorizer, the one of the command line
    r"max_df corresponds .* is (\d+) of \d+ documents, min_df=(\d+) .*": (
        r"no term can be in \2 documents, because there are only \1. Lower --min-df."
    ),
    r"Check the source; .*": "Check the file.",
    r"Tokens depend on .*": "Look at the documents, or choose another --rule.",
    r"Set stop_words=None or numbers=True\.": "Leave out --stop-words.",
    r"Raise max_df or lower min_df\.": "Lower --min-df.",
    r"Try a lower min_df or a higher max_df\.": "Lower --min-df.",
    r"Lower ngram_range=.*": "Lower --ngrams.",
}


@options.command()
@click.argument("path")
@options.top_option(20, least=0)
@click.option("--ngrams", type=(int, int), default=(1, 1), metavar="MIN MAX",
              help="Shortest and longest n-grams to count, in words")
@click.option("--min-df", type=click.IntRange(1), default=1,
              help="Minimum number of documents with a term")
@options.stop_words_option
@options.rule_option
@options.out_option("all terms and counts")
@click.option("--matrix", type=options.FILE, metavar="FILE",
              help="File for the document-term matrix (.npz)  [default: none]")
@click.option("--model", "model_path", type=options.FILE, metavar="FILE",
              help="File for the fitted vectorizer (.safetensors)  [default: none]")
@options.document_options
@options.engine_options
def counts(
    path: str, top: int, ngrams: tuple[int, int], min_df: int, stop_words: str | None,
    rule: str, out: str | None, matrix: str | None, model_path: str | None,
    documents: DocumentOptions, run: RunOptions,
) -> None:  # fmt: skip
    """Count the words of the documents at PATH.

    PATH is a folder of text, .html, .eml, .mbox, .docx, .odt, .pdf, .rtf or .md files; one such
    file; or a .txt (one document per line), .csv, .tsv, .jsonl, .json or .parquet file. Text
    may be compressed with gzip or zstd. - is standard input.

    \b
    tacit counts letters/                          the most frequent words
    tacit counts mail.csv --ngrams 2 2 --top 50    pairs of words
    """

    import numpy as np
    import scipy.sparse as sp

    from tacit.core.atomic import atomic_write
    from tacit.core.errors import DataError
    from tacit.text import CountVectorizer

    texts = inputs.open_documents(path, documents)
    vectorizer = CountVectorizer(
        ngram_range=ngrams, min_df=min_df, stop_words=stop_words, rule=rule, engine=run.engine
    )
    try:
        with Running("Counting words"):
            table = vectorizer.fit_transform(texts)
    except ValueError as error:
        raise DataError(in_options(str(error)), file=path) from None
    terms = vectorizer.get_feature_names_out()
    totals = np.asarray(table.sum(axis=0)).ravel()
    frequencies = np.bincount(table.indices, minlength=len(terms))
    order = np.lexsort([np.arange(len(terms)), -totals])
    rows = [(terms[j], int(totals[j]), int(frequencies[j])) for j in order.tolist()]
    if out is not None:
        output.write_csv(out, ["term", "count", "documents"], rows)
    if matrix is not None:
        with atomic_write(matrix) as file:
            sp.save_npz(file, table)
    if model_path is not None:
        vectorizer.save(model_path)
    shown = rows[:top]
    if run.as_json:
        output.print_json({
            "source": texts.report.source, "documents": table.shape[0], "terms": len(terms),
            "tokens": int(totals.sum()),
            "top": [{"term": t, "count": n, "documents": df} for t, n, df in shown],
            "input": texts.report.to_dict(),
        })  # fmt: skip
    elif out != "-":
        cells = ((term, f"{count:,}", f"{df:,}") for term, count, df in shown)
        output.draw_table(["Term", "Count", "Documents"], cells, right=(1, 2))
        click.echo(
            f"{count(table.shape[0], 'document')}, {count(len(terms), 'different term')}, "
            f"{int(totals.sum()):,} in all."
        )
    output.say_written(counts=out, matrix=matrix, vectorizer=model_path)


def in_options(message: str) -> str:
    """A message of the vectorizer, in terms of the command line."""
    for python, option in ADVICE.items():
        message = re.sub(python, option, message)
    return message

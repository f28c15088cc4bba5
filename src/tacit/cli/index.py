"""``tacit index``: build an index of documents, search it, find similar and duplicate ones."""

import os
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.inputs import check_whole, open_documents
from tacit.cli.options import (
    DocumentOptions,
    RunOptions,
    ShowOptions,
    document_options,
    rule_option,
    run_options,
    show_options,
    stop_words_option,
    top_option,
    trust_option,
)
from tacit.cli.output import (
    check_file,
    check_outputs,
    clean,
    console,
    print_json,
    say,
    say_written,
    write_csv,
)
from tacit.core.memory import format_bytes

if TYPE_CHECKING:
    from tacit.search import Hit, Hits, NearDuplicates

__all__ = ["index"]

SHOWN = 20  # groups of duplicates printed; the rest are counted
MEMBERS = 5  # documents printed of each


@click.group()
def index() -> None:
    """Search documents by words or by meaning; find near-duplicates."""


@index.command()
@click.argument("path")
@click.option("--out", required=True, metavar="FILE", help="Index file (.safetensors)")
@rule_option
@stop_words_option
@click.option("--no-text", is_flag=True,
              help="Leave the documents out of the file: half the size, no snippets.")
@click.option("--semantic", is_flag=True, help="Index by meaning (latent semantic analysis).")
@click.option("--components", type=click.IntRange(1), default=100, show_default=True,
              help="Components of the latent semantic analysis, with --semantic")
@document_options
@run_options
def build(
    path: str,
    out: str,
    rule: str,
    stop_words: str | None,
    no_text: bool,
    semantic: bool,
    components: int,
    documents: DocumentOptions,
    run: RunOptions,
) -> None:
    """Index the documents of PATH.

    PATH is a folder of text files, or a .txt (one document per line), .csv, .tsv, .jsonl or
    .parquet file, each also compressed with gzip or zstd; - is standard input.
    """
    check_file(out)

    from tacit.search import InvertedIndex, SemanticIndex
    from tacit.text import CountVectorizer

    texts = open_documents(path, documents, quiet=run.quiet)
    if semantic:
        plain = rule == "plain" and stop_words is None
        model: Any = SemanticIndex(
            components,
            vectorizer=None if plain else CountVectorizer(rule=rule, stop_words=stop_words),
            store_text=not no_text,
            random_state=run.seed,
            engine=run.engine,
        ).fit(texts)
        words, tokens = model.n_terms_, None
    else:
        model = InvertedIndex(
            rule=rule,
            stop_words=stop_words,
            store_text=not no_text,
            memory=documents.memory or 2**30,
            engine=run.engine,
        ).fit(texts)
        words, tokens = model.n_words_, model.n_tokens_
    model.save(out)
    size = os.path.getsize(out)
    if run.as_json:
        print_json(
            {
                "index": out,
                "kind": type(model).__name__,
                "documents": model.n_documents_,
                "words": words,
                "tokens": tokens,
                "bytes": size,
                "input": texts.report.to_dict(),
            }
        )
    else:
        in_all = "" if tokens is None else f", {tokens:,} in all"
        click.echo(
            f"{model.n_documents_:,} documents, {words:,} different words{in_all}; "
            f"{format_bytes(size)}."
        )
    say_written(quiet=run.quiet, index=out)
    check_whole(texts, documents)


@index.command()
@click.argument("file", metavar="INDEX")
@click.argument("query", nargs=-1, required=True)
@top_option(10, least=0)
@click.option("--rank", type=click.Choice(["bm25", "tfidf"]), default="bm25",
              show_default=True, help="Ranking function")
@click.option("--operator", type=click.Choice(["and", "or"]), default="and",
              show_default=True, help="Operator between two words without one")
@trust_option
@show_options
def search(
    file: str,
    query: tuple[str, ...],
    top: int,
    rank: str,
    operator: str,
    trust: bool,
    show: ShowOptions,
) -> None:
    """Find documents in INDEX that match QUERY, the best first.

    \b
    oil gas               both words (--operator or: any of them)
    oil AND NOT gas       AND, OR, NOT in capitals; NOT binds tightest, then AND
    '"crude oil" (price* OR *tion)'
                          words in a row, wildcards, parentheses
    -- -gas oil           -word excludes; -- keeps it from being read as an option

    Quotes must reach the command: put the query in single quotes.
    """
    from tacit.search import InvertedIndex

    model = open_index(file, trust)
    words = " ".join(query)
    if isinstance(model, InvertedIndex):
        hits = model.search(words, top=top, rank=rank, operator=operator)
    else:
        if (rank, operator) != ("bm25", "and"):
            say("This is a semantic index: --rank and --operator do nothing.", quiet=show.quiet)
        hits = model.search(words, top=top)
    show_hits(hits, {"index": file, "query": words}, show)


@index.command()
@click.argument("file", metavar="INDEX")
@click.argument("id")
@top_option(10, least=0)
@trust_option
@show_options
def similar(file: str, id: str, top: int, trust: bool, show: ShowOptions) -> None:
    """Find the documents in INDEX most similar to the document ID."""
    model = open_index(file, trust)
    try:
        hits = model.similar_documents(id, top=top)
    except KeyError as error:
        raise click.BadParameter(clean(error.args[0]), param_hint="ID") from None
    show_hits(hits, {"index": file, "id": id}, show)


@index.command()
@click.argument("path")
@click.option("--threshold", type=click.FloatRange(0, 1, min_open=True), default=0.8,
              show_default=True, help="Jaccard similarity from which two documents are "
              "near-duplicates")
@click.option("--shingle", type=click.IntRange(1, 1000), default=4, show_default=True,
              help="Words to a shingle")
@click.option("--out", metavar="CSV", help="File for the group of every document; - is stdout")
@document_options
@run_options
def duplicates(
    path: str,
    threshold: float,
    shingle: int,
    out: str | None,
    documents: DocumentOptions,
    run: RunOptions,
) -> None:
    """Find near-duplicates among the documents of PATH.

    Two documents are near-duplicates if they have enough shingles (runs of words) in common.
    Documents without words are counted, and are never duplicates.
    """
    check_outputs(out, as_json=run.as_json)

    from tacit.search import NearDuplicates

    texts = open_documents(path, documents, quiet=run.quiet)
    model = NearDuplicates(
        threshold,
        shingle=shingle,
        memory=documents.memory or 2**30,
        random_state=run.seed,
        engine=run.engine,
    ).fit(texts)
    if out is not None:
        labels = ("" if label < 0 else label for label in model.labels_.tolist())
        write_csv(out, ["id", "group"], zip(texts.ids, labels, strict=True))
    if run.as_json:
        print_json(
            {
                "path": path,
                "threshold": threshold,
                "shingle": shingle,
                "seed": run.seed,
                "documents": model.n_documents_,
                "empty": [texts.ids[row] for row in model.empty_.tolist()],
                "groups": model.groups(),
                "pairs": [pair.to_dict() for pair in model.pairs()],
                "recall_at_threshold": model.expected_recall(threshold),
                "input": texts.report.to_dict(),
                "groups_file": out,
            }
        )
    else:
        draw_groups(model, stderr=out == "-")
    say_written(quiet=run.quiet, groups=out)
    check_whole(texts, documents)


def open_index(file: str, trust: bool) -> Any:
    """An inverted or a semantic index."""
    from tacit.core.modelfile import load

    model = load(file, mmap=trust)
    if not (hasattr(model, "search") and hasattr(model, "similar_documents")):
        raise click.BadParameter(
            f"{file} holds a {type(model).__name__}, not an index. Make one with "
            "`tacit index build`.",
            param_hint="INDEX",
        )
    return model


# --- Printing ---


def show_hits(hits: "Hits", request: dict[str, Any], show: ShowOptions) -> None:
    """Print hits, or one JSON document of them and of the request."""
    if show.as_json:
        print_json({**request, **hits.to_dict()})
        return
    page = console()
    for hit in hits:
        page.print(head(hit), soft_wrap=True)
        if hit.snippet:
            page.print(marked(hit, page.is_terminal))
    if hits.total:
        noun = "document" if hits.total == 1 else "documents"
        click.echo(f"{len(hits):,} of {hits.total:,} {noun}.")
    else:
        click.echo("No document matches.")
    say(*hits.notes, quiet=show.quiet)


def head(hit: "Hit") -> Any:
    from rich.text import Text

    name = " ".join(clean(hit.id).split())
    return Text.assemble((name, "bold"), f"  {hit.score:.3f}")


def marked(hit: "Hit", on_terminal: bool) -> Any:
    """The snippet with matches in color on a terminal, in brackets elsewhere."""
    from rich.padding import Padding
    from rich.text import Text

    text = Text()
    for piece, is_match in hit.parts():
        piece = clean(piece)
        if is_match and not on_terminal:
            piece = f"[{piece}]"
        text.append(piece, "bold yellow" if is_match else "")
    return Padding(text, (0, 0, 0, 4), expand=False)


def draw_groups(model: "NearDuplicates", *, stderr: bool) -> None:
    page = console(stderr=stderr)
    groups = model.groups()
    for members in groups[:SHOWN]:
        names = [" ".join(clean(each).split()) for each in members[:MEMBERS]]
        more = f" and {len(members) - MEMBERS:,} more" if len(members) > MEMBERS else ""
        page.print(f"{len(members):>6,}  {', '.join(names)}{more}", soft_wrap=True)
    if len(groups) > SHOWN:
        rest = f"and {len(groups) - SHOWN:,} smaller groups (--json has them all)"
        click.echo(rest, err=stderr)
    inside = sum(map(len, groups))
    click.echo(
        f"{len(groups):,} groups of {inside:,} documents; {inside - len(groups):,} of "
        f"{model.n_documents_:,} could go. {len(model.empty_):,} are empty.",
        err=stderr,
    )

"""``tacit index``: build an index of documents, search it, find similar and duplicate ones."""

import os
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.csv_out import check_file, check_target, open_output, write_rows
from tacit.cli.documents import check_whole, document_options, read_documents
from tacit.cli.hits import show_hits
from tacit.cli.options import (
    debug_option,
    engine_from,
    json_option,
    quiet_option,
    standard_options,
)
from tacit.cli.terminal import clean, console, print_json, say
from tacit.core.memory import format_bytes

if TYPE_CHECKING:
    from tacit.data.documents import Documents
    from tacit.search.near_duplicates import NearDuplicates

__all__ = ["index"]

SHOWN = 20  # groups of duplicates drawn; the rest are counted
MEMBERS = 5  # and documents named of each


top_option = click.option(
    "--top", type=click.IntRange(0), default=10, show_default=True, help="Hits to show."
)


@click.group()
def index() -> None:
    """Find documents by their words, and those that say the same twice."""


@index.command()
@click.argument("path")
@click.option("--out", required=True, metavar="FILE", help="The index (.safetensors).")
@click.option(
    "--rule",
    type=click.Choice(["plain", "words"]),
    default="plain",
    show_default=True,
    help="Whether don't and well-known are two words or one.",
)
@click.option("--stop-words", type=click.Choice(["english"]), help="Words to leave out.")
@click.option("--no-text", is_flag=True, help="Keep no documents: half the size, no snippets.")
@click.option("--semantic", is_flag=True, help="Index by meaning (latent semantic analysis).")
@click.option(
    "--components",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Directions of meaning, with --semantic.",
)
@document_options
@standard_options
def build(
    path: str,
    out: str,
    rule: str,
    stop_words: str | None,
    no_text: bool,
    semantic: bool,
    components: int,
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
    """Index the documents of PATH.

    PATH is a folder of text files, or a .txt (one document a line), .csv, .tsv, .jsonl or
    .parquet file, each also packed with gzip or zstd; - is standard input.
    """
    check_file(out)
    runner = engine_from(engine, workers)

    documents = read_documents(path, text_column, id_column, kind, encoding)
    say(*documents.report.lines(), quiet=quiet)
    if semantic:
        model = by_meaning(documents, components, rule, stop_words, not no_text, seed, runner)
        words, tokens = model.n_terms_, None
    else:
        from tacit.search import InvertedIndex

        model = InvertedIndex(
            rule=rule,
            stop_words=stop_words,
            store_text=not no_text,
            memory_bytes=memory,
            engine=runner,
        ).fit(documents)
        words, tokens = model.n_words_, model.n_tokens_
    model.save(out)
    size = os.path.getsize(out)
    if as_json:
        print_json(
            {
                "index": out,
                "kind": type(model).__name__,
                "documents": model.n_documents_,
                "words": words,
                "tokens": tokens,
                "bytes": size,
                "input": documents.report.to_dict(),
            }
        )
    else:
        in_all = "" if tokens is None else f", {tokens:,} in all"
        click.echo(
            f"{model.n_documents_:,} documents, {words:,} different words{in_all}; "
            f"{format_bytes(size)}."
        )
    say(f"Index written to {out}.", quiet=quiet)
    check_whole(documents.report, allow_partial)


@index.command()
@click.argument("file", metavar="INDEX")
@click.argument("query", nargs=-1, required=True)
@top_option
@click.option("--rank", type=click.Choice(["bm25", "tfidf"]), default="bm25", show_default=True)
@click.option(
    "--operator",
    type=click.Choice(["and", "or"]),
    default="and",
    show_default=True,
    help="What nothing between two words means.",
)
@json_option
@quiet_option
@debug_option
def search(
    file: str,
    query: tuple[str, ...],
    top: int,
    rank: str,
    operator: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find documents in INDEX that match QUERY, the best first.

    \b
    oil gas               both words (--operator or: any of them)
    oil AND NOT gas       AND, OR, NOT in capitals; NOT binds tightest, then AND
    '"crude oil" (price* OR *tion)'
                          words in a row, wildcards, parentheses
    -- -gas oil           -word excludes; after -- so that it is no option

    Quotes must reach the command: put the query in single quotes.
    """
    from tacit.search import InvertedIndex

    model = open_index(file)
    words = " ".join(query)
    if isinstance(model, InvertedIndex):
        hits = model.search(words, top=top, rank=rank, operator=operator)
    else:
        if (rank, operator) != ("bm25", "and"):
            say("This index is of meanings: --rank and --operator do nothing.", quiet=quiet)
        hits = model.search(words, top=top)
    show_hits(hits, {"index": file, "query": words}, as_json, quiet)


@index.command()
@click.argument("file", metavar="INDEX")
@click.argument("id")
@top_option
@json_option
@quiet_option
@debug_option
def similar(file: str, id: str, top: int, as_json: bool, quiet: bool) -> None:
    """Find the documents in INDEX most like the document ID."""
    model = open_index(file)
    try:
        hits = model.similar_documents(id, top=top)
    except KeyError as error:
        raise click.BadParameter(clean(error.args[0]), param_hint="ID") from None
    show_hits(hits, {"index": file, "id": id}, as_json, quiet)


@index.command()
@click.argument("path")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    help="The least share of runs of words that two documents have in common.",
)
@click.option(
    "--shingle",
    type=click.IntRange(1, 1000),
    default=4,
    show_default=True,
    help="Words in a run.",
)
@click.option("--out", metavar="CSV", help="Write the group of every document; - is stdout.")
@document_options
@standard_options
def duplicates(
    path: str,
    threshold: float,
    shingle: int,
    out: str | None,
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
    """Find the documents of PATH that say nearly the same.

    Two documents are duplicates if they share enough of their runs of words. Those without a
    word are counted, and are nobody's duplicates.
    """
    if out == "-" and as_json:
        raise click.UsageError("--json and --out - both want standard output. Drop one.")
    check_target(out)
    runner = engine_from(engine, workers)

    from tacit.search import NearDuplicates

    documents = read_documents(path, text_column, id_column, kind, encoding)
    say(*documents.report.lines(), quiet=quiet)
    model = NearDuplicates(
        threshold,
        shingle=shingle,
        memory_bytes=memory,
        random_state=seed,
        engine=runner,
    ).fit(documents)
    if out is not None:
        with open_output(out) as stream:
            labels = ("" if label < 0 else label for label in model.labels_.tolist())
            write_rows(stream, [["id", "group"]])
            write_rows(stream, zip(documents.ids, labels, strict=True))
    if as_json:
        print_json(
            {
                "path": path,
                "threshold": threshold,
                "shingle": shingle,
                "seed": seed,
                "documents": model.n_documents_,
                "empty": [documents.ids[row] for row in model.empty_.tolist()],
                "groups": model.groups(),
                "pairs": [pair.to_dict() for pair in model.pairs()],
                "recall_at_threshold": model.expected_recall(threshold),
                "input": documents.report.to_dict(),
                "groups_file": out,
            }
        )
    else:
        draw_groups(model, stderr=out == "-")
    if out and out != "-":
        say(f"Groups written to {out}.", quiet=quiet)
    check_whole(documents.report, allow_partial)


# --- The work ---


def by_meaning(
    documents: "Documents",
    components: int,
    rule: str,
    stop_words: str | None,
    store_text: bool,
    seed: int,
    engine: Any,
) -> Any:
    from tacit.search import SemanticIndex
    from tacit.text import CountVectorizer

    plain = rule == "plain" and stop_words is None
    return SemanticIndex(
        components,
        vectorizer=None if plain else CountVectorizer(rule=rule, stop_words=stop_words),
        store_text=store_text,
        random_state=seed,
        engine=engine,
    ).fit(documents)


def open_index(file: str) -> Any:
    """An index of words or of meanings."""
    from tacit.core.modelfile import load

    model = load(file, mmap=True)
    if not (hasattr(model, "search") and hasattr(model, "similar_documents")):
        raise click.BadParameter(
            f"{file} holds a {type(model).__name__}, not an index. Make one with "
            "`tacit index build`.",
            param_hint="INDEX",
        )
    return model


# --- The page ---


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

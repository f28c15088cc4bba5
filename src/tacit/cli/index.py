"""``tacit index``: build an index of documents, search it, find similar and duplicate ones."""

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import CommandGroup, DocumentOptions, OneOf, RunOptions, ShowOptions
from tacit.cli.progress import Running
from tacit.core.memory import format_bytes
from tacit.core.wording import count

if TYPE_CHECKING:
    from tacit.search import Hit, Hits, NearDuplicates

__all__ = ["index"]

SHOWN = 20  # groups of duplicates printed; the others are counted
MEMBERS = 5  # documents printed of each


@click.group(cls=CommandGroup)
def index() -> None:
    """Search documents by words or by meaning; find near-duplicates.

    \b
    tacit index build letters/ --out letters.index
    tacit index search letters.index crude oil
    tacit index duplicates letters/
    """


@index.command()
@click.argument("path")
@click.option("--out", type=options.FILE, required=True, metavar="FILE",
              help="Index file to write (.safetensors)")
@options.rule_option
@options.stop_words_option
@click.option("--no-text", is_flag=True,
              help="Leave the documents out of the index: half the size, but no snippets.")
@click.option("--semantic", is_flag=True, help="Index by meaning (latent semantic analysis).")
@click.option("-k", "--components", type=click.IntRange(1), default=100,
              help="Number of components of the latent semantic analysis, with --semantic")
@partial(options.document_options, memory=options.memory_option())
@options.run_options
def build(
    path: str, out: str, rule: str, stop_words: str | None, no_text: bool, semantic: bool,
    components: int, documents: DocumentOptions, run: RunOptions,
) -> None:  # fmt: skip
    """Index the documents at PATH.

    PATH is a folder of text, .html, .eml, .mbox, .docx, .odt, .pdf, .rtf or .md files; one such
    file; or a .txt (one document per line), .csv, .tsv, .jsonl, .json or .parquet file. Text
    may be compressed with gzip or zstd. - is standard input.

    \b
    tacit index build letters/ --out letters.index
    tacit index build letters/ --semantic --out meaning.index    search by meaning
    """
    if semantic:
        why = "is for an index of words. Leave it out with --semantic."
        options.refuse_options(["memory"], why)
    else:
        why = "is for an index by meaning: add --semantic."
        options.refuse_options(["components", "seed"], why)

    from tacit.search import InvertedIndex, SemanticIndex
    from tacit.text import CountVectorizer

    texts = inputs.open_documents(path, documents)
    ids = [str(each) for each in texts.ids]  # without ids, numbers from 1 as in the file
    with Running("Indexing"):
        common: dict[str, Any] = {"store_text": not no_text, "engine": run.engine}
        model: Any
        if semantic:
            plain = rule == "plain" and stop_words is None
            words = None if plain else CountVectorizer(rule=rule, stop_words=stop_words)
            model = SemanticIndex(
                components, vectorizer=words, random_state=run.seed, **common
            )
        else:
            model = InvertedIndex(
                rule=rule, stop_words=stop_words, memory=documents.memory or 2**30, **common
            )
        model.fit(texts, ids=ids)
    tokens = None if semantic else model.n_tokens_
    different = model.n_terms_ if semantic else model.n_words_
    model.save(out)
    size = os.path.getsize(out)
    if run.as_json:
        output.print_json({
            "index": out, "kind": type(model).__name__, "documents": model.n_documents_,
            "words": different, "tokens": tokens, "bytes": size,
            "input": texts.report.to_dict(),
        })  # fmt: skip
    else:
        in_all = "" if tokens is None else f", {tokens:,} in all"
        click.echo(
            f"{count(model.n_documents_, 'document')}, {count(different, 'different word')}"
            f"{in_all}; {format_bytes(size)}."
        )
    output.say_written(index=out)


@index.command()
@click.argument("file", metavar="INDEX")
@click.argument("query", nargs=-1, required=True)
@options.top_option(10, least=0)
@click.option("--rank", type=OneOf(["bm25", "tfidf"]), default="bm25",
              help="Ranking function")
@click.option("--operator", type=OneOf(["and", "or"]), default="and",
              help="Operator between words without one")
@options.trust_option
@options.show_options
def search(
    file: str, query: tuple[str, ...], top: int, rank: str, operator: str, trust: bool,
    show: ShowOptions,
) -> None:  # fmt: skip
    """Find the documents in INDEX that match QUERY, the best first.

    \b
    oil gas               both words (with --operator or: any of them)
    oil AND NOT gas       AND, OR, NOT in capitals; NOT binds tightest, then AND
    '"crude oil" (price* OR *tion)'
                          phrases, wildcards, parentheses
    -- -gas oil           -word excludes a word; -- ends the options

    Put a query with quotes or wildcards in single quotes, so that the shell leaves it alone.
    An index by meaning (--semantic) uses the meaning of all words together, without AND, OR
    and NOT.
    """
    from tacit.search import InvertedIndex
    from tacit.search.query import QueryError, split_meaning

    model = open_index(file, trust)
    words = " ".join(query)
    if isinstance(model, InvertedIndex):
        hits = model.search(words, top=top, rank=rank, operator=operator)
    else:
        why = f"is for an index of words; {file} is by meaning."
        options.refuse_options(["rank", "operator"], why)
        plain, excluded, notes = split_meaning(words)
        if excluded:
            raise QueryError(
                "An index by meaning cannot exclude words with NOT or -. Leave them out, or "
                "search an index that was built without --semantic."
            )
        hits = model.search(plain, top=top)
        hits.notes[:0] = notes
    show_hits(hits, {"index": file, "query": words}, show)


@index.command()
@click.argument("file", metavar="INDEX")
@click.argument("id")
@options.top_option(10, least=0)
@options.trust_option
@options.show_options
def similar(file: str, id: str, top: int, trust: bool, show: ShowOptions) -> None:
    """Find the documents in INDEX that are most similar to the document ID.

    \b
    tacit index similar letters.index 17.txt
    """
    model = open_index(file, trust)
    with inputs.known("ID"):
        hits = model.similar_documents(id, top=top)
    show_hits(hits, {"index": file, "id": id}, show)


@index.command()
@click.argument("path")
@click.option("--threshold", type=click.FloatRange(0, 1, min_open=True), default=0.8,
              help="Lowest Jaccard similarity of near-duplicates, from 0 to 1")
@click.option("--shingle", type=click.IntRange(1, 1000), default=4,
              help="Number of words in a shingle")
@options.out_option("the group of every document")
@partial(options.document_options, memory=options.memory_option())
@options.run_options
def duplicates(
    path: str, threshold: float, shingle: int, out: str | None, documents: DocumentOptions,
    run: RunOptions,
) -> None:  # fmt: skip
    """Find near-duplicates among the documents at PATH.

    Two documents are near-duplicates if they share enough shingles (sequences of words).
    Documents without words are counted but are never duplicates.
    """

    from tacit.search import NearDuplicates

    texts = inputs.open_documents(path, documents)
    model = NearDuplicates(
        threshold, shingle=shingle, memory=documents.memory or 2**30, random_state=run.seed,
        engine=run.engine,
    )  # fmt: skip
    with Running("Comparing documents"):
        model.fit(texts)
    if out is not None:
        labels = ("" if label < 0 else label for label in model.labels_.tolist())
        output.write_csv(out, ["id", "group"], zip(texts.ids, labels, strict=True))
    if run.as_json:
        output.print_json({
            "path": path, "threshold": threshold, "shingle": shingle, "seed": run.seed,
            "documents": model.n_documents_,
            "empty": [texts.ids[row] for row in model.empty_.tolist()],
            "groups": model.groups(), "pairs": [pair.to_dict() for pair in model.pairs()],
            "recall_at_threshold": model.expected_recall(threshold),
            "input": texts.report.to_dict(), "groups_file": out,
        })  # fmt: skip
    else:
        draw_groups(model)
    output.say_written(groups=out)


def open_index(file: str, trust: bool) -> Any:
    can, command = ["search", "similar_documents"], "tacit index build PATH --out INDEX"
    return inputs.open_model(file, can, "an index", command, mmap=trust)


# --- Printing ---


def show_hits(hits: "Hits", request: dict[str, Any], show: ShowOptions) -> None:
    """Print hits, or one JSON document of them and of the request."""
    if show.as_json:
        output.print_json({**request, **hits.to_dict()})
        return
    from rich.text import Text

    page = output.console()
    for hit in hits:
        name = " ".join(output.clean(hit.id).split())
        page.print(Text.assemble((name, "bold"), f"  {hit.score:.3f}"), soft_wrap=True)
        if hit.snippet:
            page.print(highlighted(hit, page.is_terminal))
    if hits.total:
        click.echo(f"{len(hits):,} of {count(hits.total, 'document')}.")
    else:
        click.echo("No document matches.")
    output.note(*hits.notes)


def highlighted(hit: "Hit", on_terminal: bool) -> Any:
    """The snippet with matches in color on a terminal, in brackets elsewhere."""
    from rich.padding import Padding
    from rich.text import Text

    text = Text()
    for piece, is_match in hit.parts():
        piece = output.clean(piece)
        if is_match and not on_terminal:
            piece = f"[{piece}]"
        text.append(piece, "bold yellow" if is_match else "")
    return Padding(text, (0, 0, 0, 4), expand=False)


def draw_groups(model: "NearDuplicates") -> None:
    page = output.console()
    groups = model.groups()
    for members in groups[:SHOWN]:
        names = [" ".join(output.clean(each).split()) for each in members[:MEMBERS]]
        more = f" and {len(members) - MEMBERS:,} more" if len(members) > MEMBERS else ""
        page.print(f"{len(members):>6,}  {', '.join(names)}{more}", soft_wrap=True)
    if len(groups) > SHOWN:
        output.echo(f"and {len(groups) - SHOWN:,} smaller groups (--json lists all)")
    inside = sum(map(len, groups))
    empty = len(model.empty_)
    sentences = [
        f"{count(len(groups), 'group')} of near-duplicates with {count(inside, 'document')}.",
        f"{inside - len(groups):,} of {count(model.n_documents_, 'document')} could be "
        f"removed.",
        *([f"{count(empty, 'document is', 'documents are')} empty."] if empty else []),
    ]
    output.echo(" ".join(sentences if groups else ["No near-duplicates.", *sentences[2:]]))

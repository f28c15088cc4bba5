"""``tacit authors PATH``: attribute texts to authors by their function words."""

import re
from collections import Counter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import DocumentOptions, OneOf, RunOptions
from tacit.cli.progress import Running
from tacit.core.wording import count, listed

if TYPE_CHECKING:
    from tacit.data.documents import Documents
    from tacit.style.authorship import Authorship
    from tacit.style.verification import Verification

__all__ = ["authors"]

AUTHOR = inputs.LabelOption("--author", "authors", ("author", "authors", "writer", "by"))
UNKNOWN = ("unknown", "anonymous", "anon", "disputed", "contested")
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
WORD = re.compile(r"[^\W_]")  # a letter or a digit
ENDING = re.compile(r"\.(?:txt|text|md)(?:\.(?:gz|zst))?$")
ATYPICAL = 0.1  # typicality
SHORT = 500  # words
DISTINCTIVE = 5  # words shown for each author


class Text(NamedTuple):
    """A text with its name, and its author or None."""

    name: str
    author: str | None
    text: str

    @property
    def title(self) -> str:
        """The name without its file extension."""
        return ENDING.sub("", self.name)


@options.command()
@click.argument("path")
@click.option("--who", multiple=True, metavar="PATH",
              help="Text to attribute: a file, a folder or a table; may be repeated  "
              "[default: those in PATH]")
@click.option("--author", "column", metavar="COLUMN",
              help="Column with the authors, empty where unknown  [default: guessed]")
@click.option("--unknown", multiple=True, metavar="NAME",
              help="Name that stands for an unknown author; may be repeated  [default: "
              "unknown, anonymous, anon, disputed, contested]")
@click.option("--words", type=click.IntRange(1), default=50,
              help="Number of words to count: English function words, or with --most-frequent "
              "the most frequent words of the texts")
@click.option("--most-frequent", is_flag=True,
              help="Count the most frequent words of the texts, for any language.")
@click.option("--block", type=click.IntRange(0), default=5000,
              help="Number of words in a block of text; 0 does not divide texts")
@click.option("--variant", type=OneOf(["burrows", "eder", "cosine", "quadratic"]),
              default="cosine", help="Variant of Delta, the distance between texts")
@options.plot_option(": a map of the texts")
@options.out_option("the author nearest to each window of a text", name="--rolling")
@click.option("--tree", "tree_path", type=options.FILE, metavar="FILE",
              help="File for the consensus tree of all texts, in Newick format  [default: "
              "none]")
@options.out_option("the attributions")
@options.model_option
@options.document_options
@options.run_options
def authors(
    path: str, who: tuple[str, ...], column: str | None, unknown: tuple[str, ...], words: int,
    most_frequent: bool, block: int, variant: str, plot_path: str | None, rolling: str | None,
    tree_path: str | None, out: str | None, model_path: str | None, documents: DocumentOptions,
    run: RunOptions,
) -> None:  # fmt: skip
    """Find out who wrote a text, given texts of known authors at PATH.

    PATH is a folder of text files called author_title.txt, or with a subfolder for each author;
    or a table (.csv, .tsv, .jsonl, .parquet) with columns of texts and authors. The texts to
    attribute are those of --who, and those in PATH whose author is called unknown or is empty.

    \b
    Example:
      tacit authors novels/ --who letter.txt --plot map.png

    Prints the words that distinguish the authors, and for each text:

    \b
    Author       the nearest author
    Probability  of that author, if one of the authors wrote the text
    Typicality   low if perhaps none of them did
    Blocks       the fraction of its blocks that are nearest to that author
    Impostors    the score of the General Impostors method

    The probabilities are calibrated by attributing each known text by means of the others.
    """
    if out == rolling == "-":
        raise click.UsageError("--out - and --rolling - both want standard output. Drop one.")
    from tacit.style import Authorship, FunctionWords, impostors

    source = inputs.open_documents(path, documents)
    texts = read_table_or_folder(source, path, column, unknown or UNKNOWN)
    known, disputed = split_by_author(texts, path, who, documents)
    counter = FunctionWords(n_words=words) if most_frequent else english(words)
    model = Authorship(counter, block=block or None, variant=variant, engine=run.engine)
    with Running("Comparing the authors"):
        model.fit(
            [each.text for each in known], [each.author for each in known],
            names=[each.title for each in known],
        )  # fmt: skip
    if model_path:
        model.save(model_path)
    contents, names = [each.text for each in disputed], [each.title for each in disputed]
    verdicts, verified = [], None
    if disputed:
        verdicts = model.attribute(contents, names=names)
        verified = impostors(model, contents, names=names, random_state=run.seed)
    report = summary(model, verdicts, verified)
    if out is not None:
        write_verdicts(out, report["verdicts"])
    if rolling is not None:
        write_rolling(rolling, model, disputed)
    if tree_path is not None:
        write_tree(tree_path, model, [*known, *disputed], run.seed)
    if plot_path:
        draw_map(plot_path, model, contents, names)
    if run.as_json:
        output.print_json({"path": path, **report, "plot": plot_path, "model_file": model_path})
    else:
        show(model, report)
    output.say_written(verdicts=out, plot=plot_path, tree=tree_path,
                       attribution=rolling, model=model_path)  # fmt: skip


# --- Input ---


def read_table_or_folder(
    source: "Documents", path: str, column: str | None, unknown: tuple[str, ...]
) -> list[Text]:
    """The texts of a folder or a table, with their authors."""
    unknown_names = {name.casefold() for name in unknown}
    ids = [str(name) for name in source.ids]

    def text_of(name: str, author: Any, text: str) -> Text:
        is_unknown = author is None or str(author).casefold() in unknown_names
        return Text(name, None if is_unknown else str(author), text)

    if source.report.text_column is not None:  # a table
        authors = inputs.read_labels(source, path, column, optional=True, option=AUTHOR)
        return [*map(text_of, ids, authors, source.texts())]
    if not Path(path).is_dir():
        raise click.UsageError(
            f"{path} has texts but no authors. Give a folder of files called author_title.txt, "
            "or a table with a column of authors."
        )
    if column is not None:
        raise click.UsageError(
            f"--author {column} names a column, but {path} is a folder, where the names of "
            "files (author_title.txt) or subfolders are the authors. Leave it out."
        )
    texts = [
        text_of(name, author_of(name), text)
        for name, text in zip(ids, source.texts(), strict=True) if author_of(name)
    ]  # fmt: skip
    if nameless := [name for name in ids if author_of(name) is None]:
        were, it = ("was", "it") if len(nameless) == 1 else ("were", "them")
        output.note(
            f"{listed(nameless, 3)} {were} left out: there is no author in the name. Call {it} "
            f"author_title.txt or unknown_title.txt, or give {it} with --who.",
        )
    return texts


def author_of(name: str) -> str | None:
    """The author in the name of a file, or None.

    >>> author_of("baum_ozma.txt"), author_of("jay/letters/2.txt"), author_of("note.txt")
    ('baum', 'jay', None)
    """
    parts = PurePath(name).parts
    if len(parts) > 1:
        return parts[0]
    author, underscore, _ = parts[0].partition("_")
    return author if underscore and author else None


def split_by_author(
    texts: list[Text], path: str, who: tuple[str, ...], documents: DocumentOptions
) -> tuple[list[Text], list[Text]]:
    """Texts of known authors, and texts to attribute; those without words are left out."""
    from tacit.core.errors import DataError

    disputed = [each for each in texts if each.author is None]
    named = set()
    for who_path in who:
        more = read_texts(who_path, documents)
        if not any(WORD.search(each.text) for each in more):
            raise DataError("there is no word in it. Give a text.", file=who_path)
        disputed += more
        named.add(Path(who_path).resolve())
    known = [
        each for each in texts
        if each.author is not None and (Path(path) / each.name).resolve() not in named
    ]  # fmt: skip
    for each in (*known, *disputed):
        if not WORD.search(each.text):
            output.note(f"{each.name} has no words and was left out.")
    known, disputed = ([t for t in group if WORD.search(t.text)] for group in (known, disputed))
    number = len({each.author for each in known})
    if number < 2:
        raise DataError(
            f"there are texts of {count(number, 'known author')}, but two are needed. Call the "
            "files author_title.txt, or name the column of a table with --author.",
            file=path,
        )
    return known, disputed


def read_texts(path: str, documents: DocumentOptions) -> list[Text]:
    """The texts of a file, a folder or a table, without authors."""
    file = Path(path)
    is_table = any(suffix.lower() in TABLES for suffix in file.suffixes[-2:])
    if path == "-" or (file.is_file() and not is_table):
        name = "standard input" if path == "-" else file.name
        return [Text(name, None, inputs.read_text(path))]
    source = inputs.open_documents(path, documents)
    return [Text(str(n), None, t) for n, t in zip(source.ids, source.texts(), strict=True)]


def english(n: int) -> Any:
    """The n most frequent English function words, for --words."""
    from tacit.style import FunctionWords

    try:
        return FunctionWords.english(n)
    except ValueError:
        raise click.BadParameter(
            f"the list of English function words has fewer than {n}. Lower it, or add "
            f"--most-frequent.",
            param_hint="--words",
        ) from None


# --- Output ---


def summary(
    model: "Authorship", verdicts: list, verified: "Verification | None"
) -> dict[str, Any]:
    counts = Counter(model.classes_[model.text_authors_].tolist())
    report: dict[str, Any] = {
        "authors": {str(author): counts[author] for author in model.classes_.tolist()},
        "words": len(model.words_), "block": model.block, "variant": model.variant,
        "left_one_out": model.evaluation().to_dict(),
        "telling_words": {
            str(author): [w._asdict() for w in model.telling_words(author, top=DISTINCTIVE)]
            for author in model.classes_.tolist()
        },
        "verdicts": [verdict.to_dict() for verdict in verdicts],
    }  # fmt: skip
    if verified is not None:
        for i, verdict in enumerate(report["verdicts"]):
            author = verdicts[i].author
            score = verified.scores[i, verified.authors.index(author)]
            verdict["impostors_score"] = float(score)
            verdict["verified"] = verified.answer(i, author)
    return report


def show(model: "Authorship", report: dict[str, Any]) -> None:
    """Print the evaluation, the distinctive words and the attributions."""
    known = ", ".join(f"{author} ({n:,})" for author, n in report["authors"].items())
    cut = "whole texts" if model.block is None else f"blocks of {model.block:,} words"
    output.echo(f"Authors and their texts: {known}. {len(model.words_)} words, {cut}.")
    tested = model.evaluation()
    if tested.tested:
        output.echo(f"{tested}.")
        for name, author, predicted in tested.wrong[:10]:
            output.echo(f"  {name} by {author} went to {predicted}.")
    else:
        output.echo(
            "No author has two texts or blocks, so no text could be tested: do not rely on the "
            "probabilities."
        )
    rows = [
        [author, ", ".join(f"{w['word']} ({w['rate']:.2g} : {w['other_rate']:.2g})"
                           for w in words)]
        for author, words in report["telling_words"].items()
    ]  # fmt: skip
    output.draw_table(["Author", "Distinctive words (per 1,000 words : by the others)"], rows)
    if not report["verdicts"]:
        output.echo("There is no text to attribute. Give one with --who.")
        return
    rows = [
        [
            v["name"], v["author"], f"{v['probability']:.3f}", f"{v['typicality']:.2f}",
            f"{v['votes'][v['author']]:.0%} of {v['blocks']}",
            f"{v['impostors_score']:.2f} ({v['verified']})",
        ]
        for v in report["verdicts"]
    ]  # fmt: skip
    titles = ["Text", "Author", "Probability", "Typicality", "Blocks", "Impostors"]
    output.draw_table(titles, rows, right=[2, 3, 4, 5])
    atypical = [v for v in report["verdicts"] if is_atypical(v, report["authors"])]
    if atypical:
        first, number = atypical[0], len(atypical) - 1
        more = f" The same holds for {number} more." if number else ""
        output.echo(
            f"{first['name']} is less like {first['author']} than nearly all known texts by "
            f"that author; perhaps none of the authors wrote it.{more}"
        )
    short = [v for v in report["verdicts"] if v["words"] < SHORT]
    if short:
        first, number = short[0], len(short) - 1
        more = f", and {number} more texts are short" if number else ""
        output.echo(
            f"{first['name']} has {count(first['words'], 'word')}{more}: attributions of texts "
            f"under {SHORT} words are guesses."
        )


def is_atypical(verdict: dict[str, Any], texts: dict[str, int]) -> bool:
    """Whether a text is of low typicality, or less typical than all texts of an author who has
    at least three."""
    typicality, n = verdict["typicality"], texts[verdict["author"]]
    return typicality <= ATYPICAL or (n >= 3 and typicality * (n + 1) <= 1)


def write_verdicts(out: str, verdicts: list[dict[str, Any]]) -> None:
    authors = list(verdicts[0]["distances"]) if verdicts else []
    titles = ["text", "author", "probability", "typicality", "blocks", "words", "impostors",
              "verified", *(f"distance_{author}" for author in authors)]  # fmt: skip
    rows = (
        [
            v["name"], v["author"], f"{v['probability']:.4g}", f"{v['typicality']:.4g}",
            v["blocks"], v["words"], f"{v['impostors_score']:.4g}", v["verified"],
            *(f"{v['distances'][author]:.6g}" for author in authors),
        ]
        for v in verdicts
    )  # fmt: skip
    output.write_csv(out, titles, rows)


def write_rolling(path: str, model: "Authorship", texts: list[Text]) -> None:
    from tacit.style import rolling

    authors = model.classes_.tolist()
    titles = ["text", "start", "stop", "author", *(f"distance_{author}" for author in authors)]
    rows = []
    for each in texts:
        result = rolling(model, each.text)
        windows = zip(
            result.starts, result.stops, result.nearest, result.distances, strict=True
        )
        for start, stop, author, distances in windows:
            cells = (f"{distance:.6g}" for distance in distances)
            rows.append([each.title, int(start), int(stop), author, *cells])
    output.write_csv(path, titles, rows)


def write_tree(path: str, model: "Authorship", texts: list[Text], seed: int) -> None:
    from tacit.style import consensus_tree

    rows = model.function_words_.transform([each.text for each in texts])
    titles = [each.title for each in texts]
    tree = consensus_tree(rows, titles, variant=model.variant, random_state=seed)
    with output.open_output(path) as stream:
        stream.write(tree.newick + "\n")


def draw_map(path: str, model: "Authorship", texts: list[str], names: list[str]) -> None:
    from matplotlib.figure import Figure

    from tacit.plot import author_map

    figure = Figure(figsize=(8.5, 5.8), layout="constrained")
    author_map(model, texts or None, names=names or None, ax=figure.subplots())
    output.save_figure(figure, path)

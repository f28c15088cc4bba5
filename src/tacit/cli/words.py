"""``tacit words``: learn word vectors, ask them, and measure how good they are."""

from typing import TYPE_CHECKING, Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import CommandGroup, DocumentOptions, OneOf, RunOptions, ShowOptions
from tacit.cli.progress import Running
from tacit.core.wording import count

if TYPE_CHECKING:
    from tacit.words.evaluation import Analogies
    from tacit.words.vectors import Neighbor, WordVectors

__all__ = ["words"]

SUGGESTED = 20_000  # the most frequent words, among which a mistyped word is looked up
among_option = click.option(
    "--among", type=click.IntRange(1), metavar="N",
    help="Number of words to choose from, the most frequent ones  [default: all]",
)  # fmt: skip


@click.group(cls=CommandGroup)
def words() -> None:
    """Learn word vectors from text; find similar words, solve analogies.

    \b
    tacit words train letters/ --out letters.safetensors
    tacit words near letters.safetensors whale
    tacit words analogy letters.safetensors man king woman
    """


@words.command()
@click.argument("path", default="-")
@click.option("--out", type=options.FILE, required=True, metavar="FILE",
              help="File to write: the model (.safetensors), or only the vectors in "
              "word2vec's binary (.bin) or text format (any other name)")
@click.option("--method", type=OneOf(["skip-gram", "cbow", "ppmi"]), default="skip-gram",
              help="Method: skip-gram and cbow are word2vec, ppmi counts neighbors")
@click.option("--size", type=click.IntRange(1, 10_000), default=100,
              help="Dimension of the vectors")
@click.option("--window", type=click.IntRange(1, 1_000), default=5,
              help="Number of context words on each side")
@click.option("--min-count", type=click.IntRange(1), default=5,
              help="Minimum number of occurrences of a word")
@click.option("--epochs", type=click.IntRange(1), default=5,
              help="Number of passes over the text (word2vec)")
@click.option("--negative", type=click.IntRange(1, 1_000), default=5,
              help="Number of negative samples per word (word2vec)")
@click.option("--sample", type=click.FloatRange(0, 1), default=1e-3,
              help="Frequency above which occurrences are skipped at random; 0 skips none "
              "(word2vec)")
@click.option("--objective", default="negative-sampling",
              type=OneOf(["negative-sampling", "hierarchical-softmax", "softmax"]),
              help="Training objective (word2vec)")
@click.option("--updates", type=OneOf(["ordered", "hogwild"]), default="ordered",
              help="Order of updates (word2vec): ordered gives the same result on any number "
              "of threads, hogwild does not")
@click.option("--tokenizer", type=OneOf(["words", "plain", "whitespace"]), default="words",
              help="Tokenizer: words keeps \"don't\" whole, plain splits it")
@click.option("--keep-case", is_flag=True, help="Keep capital letters.")
@options.document_options
@options.run_options
def train(
    path: str, out: str, method: str, size: int, window: int, min_count: int, tokenizer: str,
    keep_case: bool, documents: DocumentOptions, run: RunOptions, **word2vec: Any,
) -> None:  # fmt: skip
    """Learn a vector for every word of the documents at PATH; - is standard input.

    \b
    tacit words train letters/ --out letters.safetensors
    tacit words train news.csv --text body --method ppmi --out news.bin
    """
    if method == "ppmi":
        options.refuse_options(word2vec, "is for word2vec (skip-gram and cbow), not for ppmi.")
    if (objective := word2vec["objective"]) != "negative-sampling":
        options.refuse_options(["negative"], f"is for negative-sampling, not for {objective}.")
    from tacit.words import PPMIVectors, Word2Vec

    texts = inputs.open_documents(path, documents)
    stage = Running(f"Learning word vectors by {method}")
    common: dict[str, Any] = {
        "window": window, "min_count": min_count, "tokenizer": tokenizer,
        "lowercase": not keep_case, "random_state": run.seed, "engine": run.engine,
        "callbacks": stage.callbacks,
    }  # fmt: skip
    model: Any
    if method == "ppmi":
        model = PPMIVectors(size, **common)
    else:
        model = Word2Vec(size, sg=int(method == "skip-gram"), **word2vec, **common)
    with stage:
        model.fit(texts)
    if out.endswith(".safetensors"):
        model.save(out)
    else:
        model.vectors_.write(out)
    losses = getattr(model, "losses_", None)
    if run.as_json:
        output.print_json({
            "words": len(model.vectors_), "size": size, "method": method, "losses": losses,
            "explained": getattr(model, "explained_", None), "out": out,
        })  # fmt: skip
    else:
        click.echo(f"{count(len(model.vectors_), 'word')}, vectors of dimension {size}.")
        if losses:
            click.echo("Loss by pass: " + ", ".join(f"{loss:.4f}" for loss in losses))
        else:
            click.echo(f"The vectors explain {model.explained_:.1%} of the squared PPMI.")
    output.say_written(vectors=out)


@words.command()
@click.argument("file")
@click.argument("word", nargs=-1, required=True)
@click.option("--minus", multiple=True, metavar="WORD",
              help="Word to subtract; may be repeated  [default: none]")
@options.top_option(10)
@among_option
@options.trust_option
@options.show_options
def near(
    file: str, word: tuple[str, ...], minus: tuple[str, ...], top: int, among: int | None,
    trust: bool, show: ShowOptions,
) -> None:  # fmt: skip
    """Print the words most similar to WORD, or to the sum of several.

    \b
    tacit words near letters.safetensors whale ship
    tacit words near vectors.bin king woman --minus man
    """
    vectors = open_vectors(file, trust)
    with inputs.known("WORD", vectors.words[:SUGGESTED]):
        neighbors = vectors.most_similar(list(word), list(minus), top=top, among=among)
    show_neighbors({"words": list(word), "minus": list(minus)}, neighbors, show)


@words.command()
@click.argument("file")
@click.argument("a")
@click.argument("b")
@click.argument("c")
@options.top_option(10)
@among_option
@options.trust_option
@options.show_options
def analogy(
    file: str, a: str, b: str, c: str, top: int, among: int | None, trust: bool,
    show: ShowOptions,
) -> None:  # fmt: skip
    """Solve an analogy: A is to B as C is to what?

    \b
    tacit words analogy letters.safetensors man king woman
    """
    vectors = open_vectors(file, trust)
    with inputs.known("WORD", vectors.words[:SUGGESTED]):
        neighbors = vectors.analogy(a, b, c, top=top, among=among)
    show_neighbors({"a": a, "b": b, "c": c}, neighbors, show)


@words.command()
@click.argument("file")
@click.option("--analogies", metavar="FILE",
              help="File of questions of four words, with sections that begin with a colon "
              "(questions-words.txt)  [default: none]")
@click.option("--similarity", multiple=True, metavar="FILE",
              help="File with two words and a number per line (WordSim-353, SimLex-999); may "
              "be repeated  [default: none]")
@click.option("--among", type=click.IntRange(1), default=30_000, metavar="N",
              help="Number of words to choose answers from, the most frequent ones")
@options.trust_option
@options.show_options
def evaluate(
    file: str, analogies: str | None, similarity: tuple[str, ...], among: int, trust: bool,
    show: ShowOptions,
) -> None:  # fmt: skip
    """Evaluate vectors on analogies and on human judgments of similarity.

    \b
    tacit words evaluate letters.bin --analogies questions-words.txt --similarity ws353.tsv
    """
    if analogies is None and not similarity:
        raise click.UsageError("Give --analogies FILE or --similarity FILE.")
    from tacit.words import evaluate_analogies, evaluate_similarity

    vectors = open_vectors(file, trust)
    solved = evaluate_analogies(vectors, analogies, among=among) if analogies else None
    similarities = {path: evaluate_similarity(vectors, path) for path in similarity}
    if show.as_json:
        analogy_scores = None if solved is None else solved.to_dict()
        similarity_scores = {path: each.to_dict() for path, each in similarities.items()}
        output.print_json(
            {"file": file, "analogies": analogy_scores, "similarity": similarity_scores}
        )
        return
    if solved is not None:
        draw_sections(solved)
    for path, each in similarities.items():
        click.echo(f"{output.clean(path)}: {each}")


@words.command()
@click.argument("index", metavar="INDEX")
@click.argument("word")
@options.top_option(10)
@options.trust_option
@options.show_options
def similar(index: str, word: str, top: int, trust: bool, show: ShowOptions) -> None:
    """Print the words that are used most like WORD, according to an index by meaning.

    INDEX is a file that `tacit index build --semantic` wrote.
    """
    expected, command = "an index by meaning", "tacit index build PATH --semantic --out INDEX"
    model = inputs.open_model(index, ["similar_terms"], expected, command, mmap=trust)
    with inputs.known("WORD"):
        hits = model.similar_terms(word, top=top)
    if show.as_json:
        similar_words = [{"word": hit.id, "score": hit.score} for hit in hits]
        output.print_json({"word": word, "similar": similar_words})
    else:
        draw_words([(hit.id, hit.score) for hit in hits])


def open_vectors(path: str, trust: bool) -> "WordVectors":
    from tacit.words import WordVectors

    inputs.check_exists(path)
    return WordVectors.open(path, mmap=trust)


def show_neighbors(query: dict, neighbors: list["Neighbor"], show: ShowOptions) -> None:
    if show.as_json:
        rows = [{"word": each.word, "similarity": each.similarity} for each in neighbors]
        output.print_json({**query, "near": rows})
    else:
        draw_words(neighbors)


def draw_words(scored: Any) -> None:
    rows = ((word, f"{score:.3f}") for word, score in scored)
    output.draw_table(["Word", "Similarity"], rows, right=(1,))


def draw_sections(solved: "Analogies") -> None:
    rows = [
        (s.name, f"{s.accuracy:.1%}", f"{s.correct:,}", f"{s.asked:,}", f"{s.skipped:,}")
        for s in (*solved.sections, solved.total)
    ]
    titles = ["Section", "Accuracy", "Correct", "Asked", "Skipped"]
    output.draw_table(titles, rows, right=range(1, 5))

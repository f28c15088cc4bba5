"""``tacit topics``: find the topics of documents, show them, infer and evaluate with them."""

from pathlib import Path
from typing import Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import CommandGroup, DocumentOptions, OneOf, RunOptions, ShowOptions
from tacit.cli.progress import Running
from tacit.core.wording import count, did_you_mean

__all__ = ["topics"]

WORDS = 8  # of each topic in a table
SIZES = (5, 10, 20, 40, 80)


class PathOrCommand(CommandGroup):
    """A group whose first argument may be a path: ``topics PATH`` is ``topics fit PATH``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = {*self.commands, "-h", "--help", "--debug"}
        if args and args[0] not in known:
            meant = did_you_mean(args[0], self.commands)
            if meant and not Path(args[0]).exists():
                ctx.fail(f"There is no command or path {args[0]!r}.{meant}")
            args = ["fit", *args]
        return super().parse_args(ctx, args)


@click.group(cls=PathOrCommand)
def topics() -> None:
    """Find the topics of documents.

    \b
    tacit topics letters/ -k auto --model letters.safetensors
    tacit topics show letters.safetensors
    tacit topics infer letters.safetensors new.txt --out proportions.csv
    tacit topics evaluate letters.safetensors held_out/

    "tacit topics PATH" is short for "tacit topics fit PATH".
    """


@topics.command()
@click.argument("path")
@options.k_option("Number of topics; auto compares 5, 10, 20, 40 and 80")
@click.option("--method", type=OneOf(["gibbs", "variational", "online"]),
              default="gibbs", help="Inference method")
@click.option("--passes", type=click.IntRange(1), default=200,
              help="Number of passes over the documents")
@click.option("--by", "column", metavar="COLUMN",
              help="Column such as a year or an author, whose values are compared  [default: "
              "none]")
@click.option("--min-df", type=click.IntRange(1), help="Minimum number of documents with a "
              "word  [default: 5, fewer for small collections]")
@options.model_option
@options.out_option("the topic proportions of every document")
@options.clean_option
@options.document_options
@options.run_options
def fit(
    path: str, k: int | None, method: str, passes: int, column: str | None, min_df: int | None,
    model_path: str | None, out: str | None, clean_texts: bool, documents: DocumentOptions,
    run: RunOptions,
) -> None:  # fmt: skip
    """Find the topics of the documents at PATH, a folder or a file.

    Prints each topic with its size, its most relevant words and typical documents.

    \b
    Example:
      tacit topics letters.csv --text body --by year -k 20
    """
    from tacit.core.errors import DataError
    from tacit.topics.text_topics import TextTopics, topic_vectorizer

    texts = inputs.open_documents(path, documents)
    groups = None
    if column is not None:
        values = inputs.column_of(texts, column, path, "--by")
        groups = [None if value is None else str(value) for value in values]
    settings = {} if min_df is None else {"min_df": min_df}
    counter = topic_vectorizer(len(texts), engine=run.engine, **settings)
    try:
        with Running("Counting words"):
            counts = counter.fit_transform(inputs.clean_documents(texts, clean_texts))
    except ValueError as error:
        raise DataError(str(error)) from None
    base = make_model(method, passes)
    choice = None
    if k is None:
        k, choice = choose(counts, base, run)
    model = TextTopics(
        k, model=base, vectorizer=counter, random_state=run.seed, engine=run.engine
    )
    with Running(f"Fitting {count(k, 'topic')}") as stage:
        base.set_params(callbacks=stage.callbacks)
        model._fit_counts(counter, counts)
        base.set_params(callbacks=None)
    theta = model.model_.transform(counts)
    from tacit.topics.topic_quality import coherence, diversity
    from tacit.topics.topic_summary import summarize, topics_by

    summary = summarize(model.model_, list(model.words_), theta=theta, ids=texts.ids)
    figures = {
        "coherence_npmi": float(coherence(model.model_, counts).mean()),
        "diversity": diversity(model.model_),
    }
    by_group = None
    if groups is not None:
        by_group = topics_by(theta, groups, counts.sum(axis=1))
    if model_path:
        model.save(model_path)
    if out is not None:
        output.write_numbers(out, ("id", map(str, texts.ids)), "topic", theta)
    if run.as_json:
        answer: dict[str, Any] = {
            "documents": len(texts), "words": len(model.words_), "tokens": int(counts.sum()),
            "k": k, "method": method, **figures, **plain(summary),
        }  # fmt: skip
        if choice is not None:
            answer["choice"] = choice.to_dict()
        if by_group is not None:
            answer["by"] = {"column": column, **by_group.to_dict()}
        output.print_json({**answer, "model_file": model_path, "proportions_file": out})
    else:
        if choice is not None:
            output.note(choice)
        draw(summary)
        if by_group is not None:
            draw_groups(by_group, str(column), summary)
        output.echo(
            f"{count(len(texts), 'document')}, {count(len(model.words_), 'different word')}, "
            f"{int(counts.sum()):,} in all; coherence (NPMI) "
            f"{figures['coherence_npmi']:.3f}, diversity {figures['diversity']:.3f}."
        )
    output.say_written(model=model_path, proportions=out)


@topics.command()
@click.argument("model_path", metavar="MODEL")
@click.option("--topic", type=click.IntRange(0),
              help="Number of the topic to print  [default: all topics]")
@options.top_option(10)
@click.option("--relevance", "weight", type=click.FloatRange(0, 1), default=0.6,
              help="Order of words: 1 puts the most probable first, 0 the most specific")
@options.show_options
def show(
    model_path: str, topic: int | None, top: int, weight: float, show: ShowOptions
) -> None:
    """Print the topics of MODEL: their sizes and words.

    \b
    Example:
      tacit topics show letters.safetensors --topic 3 --top 30
    """
    model = load(model_path)
    summary = model.summary(top=top, weight=weight)
    if topic is not None:
        chosen = [each for each in summary.topics if each.number == topic]
        if not chosen:
            raise click.BadParameter(
                f"{topic} is not a topic of {model_path}, which has 0 to "
                f"{len(summary.topics) - 1}.",
                param_hint="--topic",
            )
        summary = type(summary)(chosen)
    if show.as_json:
        output.print_json({"model": model_path, **plain(summary)})
    elif topic is not None:
        rows = ((word, f"{p:.5f}") for word, p in summary.topics[0].words)
        output.draw_table(["Word", "Probability"], rows, right=(1,))
    else:
        draw(summary, words=top)


@topics.command()
@click.argument("model_path", metavar="MODEL")
@click.argument("path")
@options.top_option(3)
@options.out_option("all proportions")
@options.clean_option
@options.document_options
@options.show_options
def infer(
    model_path: str, path: str, top: int, out: str | None, clean_texts: bool,
    documents: DocumentOptions, show: ShowOptions,
) -> None:  # fmt: skip
    """Infer the topics of the documents at PATH with MODEL.

    \b
    Example:
      tacit topics infer letters.safetensors new_letters/ --out proportions.csv
    """
    model = load(model_path)
    texts = inputs.open_documents(path, documents)
    theta = model.transform(inputs.clean_documents(texts, clean_texts))
    if out is not None:
        output.write_numbers(out, ("id", map(str, texts.ids)), "topic", theta)
    best = (-theta).argsort(axis=1, kind="stable")[:, :top]
    ranked = [
        (str(name), [(int(j), float(row[j])) for j in top_topics])
        for name, row, top_topics in zip(texts.ids, theta, best, strict=True)
    ]
    if show.as_json:
        answer = [
            {"id": name, "topics": [{"topic": j, "proportion": p} for j, p in proportions]}
            for name, proportions in ranked
        ]
        output.print_json({"documents": answer})
    elif out != "-":
        rows = ([name, "  ".join(f"{j}: {p:.2f}" for j, p in proportions)]
                for name, proportions in ranked)  # fmt: skip
        output.draw_table(["Document", "Topics"], rows)
    output.say_written(proportions=out)


@topics.command()
@click.argument("model_path", metavar="MODEL")
@click.argument("path")
@click.option("--likelihood", type=OneOf(["completion", "left-to-right"]), default="completion",
              help="Likelihood: completion scores half of the tokens of a document given the "
              "other half, left-to-right scores all")
@options.clean_option
@options.document_options
@options.show_options
def evaluate(
    model_path: str, path: str, likelihood: str, clean_texts: bool, documents: DocumentOptions,
    show: ShowOptions,
) -> None:  # fmt: skip
    """Evaluate MODEL on the documents at PATH, which should not be those it was fitted to.

    Prints the held-out log-likelihood per token, the perplexity, and the coherence of the
    topics in these documents.

    \b
    Example:
      tacit topics evaluate letters.safetensors held_out/
    """
    import math

    from tacit.core.errors import DataError
    from tacit.topics.topic_quality import coherence, diversity, exclusivity

    model = load(model_path)
    texts = inputs.open_documents(path, documents)
    counts = model.counts(inputs.clean_documents(texts, clean_texts))
    try:
        score = model.model_.held_out_likelihood(counts, method=likelihood.replace("-", "_"))
    except ValueError as error:
        raise DataError(str(error)) from None
    answer = {
        "documents": len(texts), "tokens": int(counts.sum()),
        "held_out_log_likelihood": score, "perplexity": math.exp(-score), "method": likelihood,
        "coherence_npmi": float(coherence(model.model_, counts).mean()),
        "coherence_u_mass": float(coherence(model.model_, counts, measure="u_mass").mean()),
        "diversity": diversity(model.model_),
        "exclusivity": float(exclusivity(model.model_).mean()),
    }  # fmt: skip
    if show.as_json:
        output.print_json(answer)
        return
    shown = {
        "Documents": ("documents", ",d"), "Tokens": ("tokens", ",d"),
        f"Log-likelihood per token ({likelihood})": ("held_out_log_likelihood", ".4f"),
        "Perplexity": ("perplexity", ",.1f"), "Coherence (NPMI)": ("coherence_npmi", ".4f"),
        "Coherence (UMass)": ("coherence_u_mass", ".4f"), "Diversity": ("diversity", ".4f"),
        "Exclusivity": ("exclusivity", ".4f"),
    }  # fmt: skip
    rows = ([name, format(answer[key], form)] for name, (key, form) in shown.items())
    output.draw_table(["Measure", "Value"], rows, right=(1,))


# --- Parts ---


def load(path: str) -> Any:
    command = "tacit topics PATH --model MODEL"
    return inputs.open_model(path, ["summary", "counts"], "a topic model", command)


def make_model(method: str, passes: int) -> Any:
    from tacit.topics import GibbsLDA, LatentDirichletAllocation

    if method == "gibbs":
        return GibbsLDA(max_iter=passes)
    learning = "online" if method == "online" else "batch"
    return LatentDirichletAllocation(
        max_iter=passes, learning_method=learning, doc_topic_prior="auto"
    )


def choose(counts: Any, base: Any, run: RunOptions) -> tuple[int, Any]:
    """The number of topics, and the comparison that chose it, if there are enough documents."""
    from sklearn.base import clone

    from tacit.topics import choose_topics

    n = counts.shape[0]
    sizes = [size for size in SIZES if size <= max(5, n // 10)]
    if n < 10:
        k = max(1, min(5, n // 2))
        too_few = count(n, "document is", "documents are")
        output.note(f"{too_few} too few to compare numbers of topics: k is {k}.")
        return k, None
    quick = clone(base).set_params(max_iter=min(base.max_iter, 100))
    with Running(f"Comparing k = {', '.join(map(str, sizes))}"):
        choice = choose_topics(
            counts, sizes, model=quick, random_state=run.seed, engine=run.engine
        )
    return choice.best, choice


def plain(summary: Any) -> dict[str, Any]:
    """The summary in plain values, with the ids of documents as text."""
    answer = summary.to_dict()
    for topic in answer["topics"]:
        for document in topic["documents"]:
            document["id"] = str(document["id"])
    return answer


def draw(summary: Any, *, words: int = WORDS) -> None:
    typical = any(topic.documents for topic in summary.topics)
    rows = (
        [
            str(topic.number),
            f"{topic.size:.1%}",
            " ".join(str(word) for word, _ in topic.words[:words]),
            *([", ".join(str(name) for name, _ in topic.documents[:2])] if typical else []),
        ]
        for topic in summary.topics
    )
    titles = ["Topic", "Size", "Words", *(["Typical documents"] if typical else [])]
    output.draw_table(titles, rows, right=(0, 1))


def draw_groups(by_group: Any, column: str, summary: Any) -> None:
    """Print the proportions of the largest topics for each value of the column."""
    largest = [topic.number for topic in summary.topics[:8]]
    rows = (
        [str(group), *(f"{row[j]:.1%}" for j in largest)]
        for group, row in zip(by_group.groups, by_group.proportions, strict=True)
    )
    titles = [column, *(f"topic {j}" for j in largest)]
    output.draw_table(titles, rows, right=range(1, len(titles)))

"""A language model of the documents' own words, for the questions asked of a project."""

from itertools import chain

from tacit.explore.stage import Context, Output

__all__ = ["learn_language"]

ORDER = 3
MANY = 1_000_000  # words, past which runs of three seen once are left out


def learn_language(context: Context) -> Output:
    """Which words follow which, sentence by sentence."""
    from tacit.explore.ask.sentence_text import spaced_sentences
    from tacit.language import NGramModel

    if why := context.skipped("counts"):
        return Output(skipped=why)
    texts = ("\n".join(spaced_sentences(text)) for text in context.documents().texts())
    filled = (text for text in texts if text)
    first = next(filled, None)
    if first is None:
        return Output(skipped="The documents hold no sentences to learn from.")
    prune = (0, 0, 1) if context.facts("counts")["words"] > MANY else ()
    model = NGramModel(ORDER, prune=prune, memory=2**30, engine=context.engine)
    model.fit(chain([first], filled))
    return Output(
        facts={"ngrams": model.ngram_counts_, **model.input_report_}, models={"model": model}
    )

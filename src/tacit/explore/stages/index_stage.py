"""An index of the texts, for the questions that are asked of a project."""

import numpy as np

from tacit.explore.stage import Context, Output

__all__ = ["index_texts"]


def index_texts(context: Context) -> Output:
    """Where every word stands: by word (the index), and by document (the stream)."""
    from tacit.explore.ask.token_stream import stream_of
    from tacit.search import InvertedIndex

    if why := context.skipped("counts"):
        return Output(skipped=why)
    index = InvertedIndex(engine=context.engine).fit(context.documents())
    stream = stream_of(index)
    return Output(
        arrays={"tokens": stream.tokens, "edges": stream.edges.astype(np.int64)},
        facts={"words": index.n_words_, "tokens": index.n_tokens_},
        models={"index": index},
    )

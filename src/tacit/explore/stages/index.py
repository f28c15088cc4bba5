"""An index of the texts, for the questions that are asked of a project."""

from typing import Any, NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.explore.stages.stage import Context, Output
from tacit.search.postings import damaged, decode, longest_of, read_rest

__all__ = ["TokenStream", "index_texts", "stream_of"]


def index_texts(context: Context) -> Output:
    """Where every word stands: by word (the index), and by document (the stream)."""
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


U = np.uint64
WORDS_A_CALL = 4096


class TokenStream(NamedTuple):
    """Words as numbers; -1 where an index leaves one out."""

    tokens: np.ndarray  # int32
    edges: np.ndarray  # (n + 1,) int64, where each document begins

    def document_of(self, places: np.ndarray) -> np.ndarray:
        """The documents that places lie in."""
        return np.searchsorted(self.edges, places, side="right") - 1


def stream_of(index: Any) -> TokenStream:
    """The words of an index in the order of the text.

    Examples
    --------
    >>> from tacit.search import InvertedIndex
    >>> stream = stream_of(InvertedIndex().fit(["two fish", "red fish two"]))
    >>> stream.tokens, stream.edges  # fish is 0, red 1, two 2
    (array([2, 0, 1, 0, 2], dtype=int32), array([0, 2, 5]))
    """
    postings = index._fitted().postings
    if postings.lengths.min(initial=0) < 0:
        raise damaged()
    edges = np.zeros(postings.n_documents + 1, np.int64)
    np.cumsum(postings.lengths, out=edges[1:])
    tokens = np.full(edges[-1], -1, np.int32)
    longest = longest_of(postings)
    for first in range(0, len(postings.vocabulary), WORDS_A_CALL):
        last = min(first + WORDS_A_CALL, len(postings.vocabulary))
        sound = fill(
            postings.lists, postings.list_edges, postings.places, postings.place_edges,
            first, last, longest, edges, tokens,
        )  # fmt: skip
        if not sound:
            raise damaged()
    return TokenStream(tokens, edges)


# --- Kernels ---


@kernel
def fill(lists, list_edges, places, place_edges, first, last, longest, edges, tokens):
    """Write words where they stand; False for lists that cannot be."""
    documents, counts = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for w in range(first, last):
        raw = lists[list_edges[w] : list_edges[w + 1]]
        size = decode(raw, len(edges) - 1, documents, counts)
        if size < 0:
            return False
        at, stop = U(place_edges[w]), U(place_edges[w + 1])
        for i in range(size):
            start, end = edges[documents[i]], edges[documents[i] + 1]
            p = start
            for _ in range(counts[i]):
                if at >= stop:
                    return False
                gap = U(places[at])
                at += U(1)
                if gap >= U(128):
                    gap, at = read_rest(places, at, stop, gap)
                p += np.int64(gap)
                if p >= end:
                    return False
                tokens[p] = w
                p += 1
    return True

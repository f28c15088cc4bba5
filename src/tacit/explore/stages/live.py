"""The stages that only questions need: an index of the texts, and a language model of the
documents' own words."""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.explore.report.clean_text import ADDRESS, CONTROLS, ESCAPES, HIDDEN, SURROGATES
from tacit.explore.stages.stage import Context, Output
from tacit.search.postings import damaged, decode, longest_of, read_rest

__all__ = [
    "TokenStream", "index_texts", "learn_language", "running_text", "spaced_sentences",
    "stream_of",
]  # fmt: skip

WORDS_A_CALL = 4096
ORDER = 3
MANY = 1_000_000  # words, past which runs of three seen once are left out


# --- The index ---


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


# --- The language model ---


def learn_language(context: Context) -> Output:
    """Which words follow which, sentence by sentence."""
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


BREAK = "\x1e"  # between paragraphs; documents have no control characters left
# A word may hold apostrophes, hyphens, points and the like between its letters and digits.
# Marks that belong to code and drawings more than to sentences are left out.
TOKEN = re.compile(BREAK + r"|\w+(?:['’.,:/_&-]\w+)*|[^\w\s#*@/\\<>|^~`+=\[\]{}]")
PARAGRAPH = re.compile(r"\n\s*\n")
CODE = re.compile(r"\S{41,}")  # packed files, addresses of pages
QUOTING = re.compile(r"^[ \t>|]+", re.MULTILINE)  # of letters in answers
RULE = re.compile(r"^(?:[^\w\n]|_)+$", re.MULTILINE)
AGAIN = re.compile(r"( [^\w\s])\1+(?= |$)")
STOP = re.compile(r" [.!?…](?: [.!?…\"'”’»)])* (?=(.))")
NO_SPACE_BEFORE = frozenset(",.;:!?)]}%…”’»")
NO_SPACE_AFTER = frozenset("([{“‘«$#@")


def spaced_sentences(text: str) -> list[str]:
    """The sentences of a text, with spaces around words and marks.

    >>> spaced_sentences("Call me Ishmael. Some years\\nago (never mind) I sailed.")
    ['Call me Ishmael .', 'Some years ago ( never mind ) I sailed .']
    """
    text = SURROGATES.sub("", CONTROLS.sub("", HIDDEN.sub("", ESCAPES.sub("", text))))
    text = RULE.sub("", QUOTING.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    text = PARAGRAPH.sub(f" {BREAK} ", CODE.sub(" ", text))
    text = ADDRESS.sub("", text) if "@" in text else text
    spaced = AGAIN.sub(r"\1", " ".join(TOKEN.findall(text)))
    sentences = STOP.sub(end, spaced).replace(BREAK, "\n").split("\n")
    return [sentence for each in sentences if (sentence := each.strip())]


def end(found: re.Match) -> str:
    """A full stop and the like end a sentence, unless a lower-case letter follows."""
    return found[0] if found[1].islower() else found[0] + "\n"


def running_text(words: Iterable[str]) -> str:
    """Words and marks as one would write them.

    >>> running_text('" Yes , " he said ( softly ) .'.split())
    '"Yes," he said (softly).'
    """
    text, glued, quoted = "", True, False
    for word in words:
        straight = word == '"'
        close = (straight and quoted) or word in NO_SPACE_BEFORE
        text += word if glued or close else f" {word}"
        quoted ^= straight
        glued = word in NO_SPACE_AFTER or (straight and quoted)
    return text


# --- Kernels ---

U = np.uint64



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

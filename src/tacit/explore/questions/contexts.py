"""Concordance: every place of a word or phrase, with what stands around it.

Places are found and sorted in the stream of words (``token_stream``), where the order of
numbers is that of words; only the lines that are shown are read from the texts.
"""

import unicodedata
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from tacit.core.notebook import Markup, html_table
from tacit.core.wording import count
from tacit.explore.questions.reader import (
    ProjectReader,
    check_count,
    check_text,
    shown_id,
)
from tacit.explore.report.clean_text import clean_line
from tacit.explore.stages.live import TokenStream
from tacit.search.inverted_index import EXPANSIONS
from tacit.search.query import Leaf, QueryError, bind, look_up
from tacit.search.snippets import locate

__all__ = ["SORTS", "ContextLines", "concordance", "context_lines"]

SORTS = ("document", "left", "right")
MOST, WIDEST = 1000, 400  # lines, and characters to each side
DEPTH = 5  # words of the context that lines are sorted by
WORDS_MOST = 50  # of a phrase


def concordance(
    reader: ProjectReader,
    text: str,
    *,
    sort: str = "document",
    width: int = 60,
    top: int = 100,
    start: int = 0,
) -> dict[str, Any]:
    """Every place of a word, a phrase or words with a wild* card, in context.

    ``sort`` orders the lines by document, or by the words before or after the key. Case
    does not count.
    """
    if sort not in SORTS:
        raise ValueError(f"concordance(sort={sort!r}) is unknown; choose from {list(SORTS)}.")
    check_text(text)
    check_count("concordance", "width", width, 1, WIDEST)
    check_count("concordance", "top", top, 0, MOST)
    check_count("concordance", "start", start, 0, 2**40)
    index = reader.index_or_none
    nothing: dict[str, Any] = {"total": 0, "documents": 0, "lines": []}
    if index is None:
        return nothing | {"note": reader.skipped("counts")}
    words, notes = read_phrase(index._fitted(), text)
    stream = reader.stream
    places = find_places(stream, words)
    rows = stream.document_of(places)
    order = sorted_places(stream, places, rows, len(words), sort)
    chosen = order[start : start + top]
    return {
        "total": len(places),
        "documents": int(np.count_nonzero(np.diff(rows, prepend=-1))),
        "lines": lines_of(reader, places[chosen], rows[chosen], len(words), width),
        "note": " ".join(notes) or None,
    }


def read_phrase(inner: Any, text: str) -> tuple[list[np.ndarray], list[str]]:
    """For each word of a text the candidates in the vocabulary; and notes on wildcards."""
    rule, vocabulary = inner.rule, inner.postings.vocabulary
    words: list[np.ndarray] = []
    notes: list[str] = []
    for piece in text.replace('"', " ").split():
        if "*" in piece and piece.strip("*"):
            leaf = Leaf("wildcard", piece, 0)
            bound = bind(leaf, piece, rule, inner.postings, EXPANSIONS)
            words.append(np.array(bound.terms[leaf].words, np.int32))
            notes += bound.notes
            continue
        for word in rule.words([piece])[0]:
            words.append(np.array([look_up(vocabulary, word)], np.int32))
    if not words:
        raise QueryError("There is no word to look for. Give at least one.")
    if len(words) > WORDS_MOST:
        raise QueryError(
            f"The phrase has {len(words):,} words, and {WORDS_MOST} is the most. Shorten it."
        )
    return words, notes


def find_places(stream: TokenStream, words: list[np.ndarray]) -> np.ndarray:
    """Where the words stand in a row, inside one document; the first word's places."""
    tokens = stream.tokens
    first = words[0][words[0] >= 0]
    if len(first) == 1:
        places = np.flatnonzero(tokens == first[0])
    else:
        places = np.flatnonzero(np.isin(tokens, first))
    if len(words) == 1 or not len(places):
        return places
    ends = stream.edges[stream.document_of(places) + 1]
    places = places[places + len(words) <= ends]
    for offset, allowed in enumerate(words[1:], start=1):
        places = places[np.isin(tokens[places + offset], allowed[allowed >= 0])]
    return places


def sorted_places(
    stream: TokenStream, places: np.ndarray, rows: np.ndarray, size: int, sort: str
) -> np.ndarray:
    if sort == "document" or not len(places):
        return np.arange(len(places))
    keys = [np.arange(len(places))]
    for step in range(DEPTH, 0, -1):
        at = places - step if sort == "left" else places + size - 1 + step
        inside = (at >= stream.edges[rows]) & (at < stream.edges[rows + 1])
        word = stream.tokens[np.where(inside, at, 0)]
        keys.append(np.where(inside, word, -1))  # the edge of a document comes first
    return np.lexsort(keys)


# --- Lines ---


def lines_of(
    reader: ProjectReader, places: np.ndarray, rows: np.ndarray, size: int, width: int
) -> list[dict[str, Any]]:
    edges = reader.stream.edges
    asked: dict[int, list[int]] = {}
    for place, row in zip(places.tolist(), rows.tolist(), strict=True):
        asked.setdefault(row, []).append(place - int(edges[row]))
    read = reader.texts(list(asked))
    texts = {
        row: unicodedata.normalize("NFC", text) for row, text in zip(asked, read, strict=True)
    }
    spans = find_spans(reader, texts, asked, size)
    lines = []
    for place, row in zip(places.tolist(), rows.tolist(), strict=True):
        span = spans.get(place)
        if span is not None:
            line = around(texts[row], *span, width)
        else:
            line = by_words(reader, place, size, row, width)
        lines.append({"row": row, "id": shown_id(reader, row), **line})
    return lines


def find_spans(
    reader: ProjectReader, texts: dict[int, str], asked: dict[int, list[int]], size: int
) -> dict[int, tuple[int, int]]:
    """Where keys begin and end in the characters of their texts, by their places."""
    edges, rule = reader.stream.edges, reader.index_or_none._fitted().rule.token
    spans: dict[int, tuple[int, int]] = {}
    for row in texts:
        tokens = sorted({each for at in asked[row] for each in range(at, at + size)})
        length = int(edges[row + 1] - edges[row])
        located = {each.word: each for each in locate(texts[row], length, tokens, tokens, rule)}
        for at in asked[row]:
            parts = [located[each] for each in range(at, at + size) if each in located]
            if len(parts) == size:
                stop = max(part.stop for part in parts)
                spans[int(edges[row]) + at] = (parts[0].start, stop)
    return spans


def around(text: str, first: int, last: int, width: int) -> dict[str, str]:
    """The key with ``width`` characters on both sides, as one line."""
    before, after = text[max(0, first - 4 * width) : first], text[last : last + 4 * width]
    left, right = clean_line(before), clean_line(after)
    if before[-1:].isspace() and left:
        left += " "
    if after[:1].isspace() and right:
        right = " " + right
    return {
        "left": at_most(left, width, end=True),
        "key": clean_line(text[first:last]),
        "right": at_most(right, width),
    }


def at_most(text: str, width: int, *, end: bool = False) -> str:
    """The beginning of a text, or its end, without a word that is cut through.

    >>> at_most(" the ship at sea", 10), at_most("the old ship ", 8, end=True)
    (' the ship', 'ship ')
    """
    if len(text) <= width:
        return text
    if end:
        line = text[-width:]
        if not text[-width - 1].isspace() and " " in line.rstrip():
            line = line.partition(" ")[2]
        return line
    line = text[:width]
    if not text[width].isspace() and " " in line.lstrip():
        line = line.rpartition(" ")[0]
    return line


def by_words(
    reader: ProjectReader, place: int, size: int, row: int, width: int
) -> dict[str, str]:
    """The same from the words of the index, where lower case has changed their number."""
    tokens, edges = reader.stream
    vocabulary = reader.index_or_none._fitted().postings.vocabulary

    def spelled(first: int, last: int) -> str:
        return " ".join(vocabulary[int(i)] for i in tokens[first:last] if i >= 0)

    first, last = max(int(edges[row]), place - width), min(int(edges[row + 1]), place + width)
    left, right = spelled(first, place), spelled(place + size, last)
    return {
        "left": at_most(left + " " if left else "", width, end=True),
        "key": spelled(place, place + size),
        "right": at_most(" " + right if right else "", width),
    }


# --- Lines that print themselves ---


class ContextLines(list[dict[str, Any]]):
    """Lines of a concordance: dicts with row, id, left, key and right.

    >>> print(ContextLines([{"id": "7", "left": "a ", "key": "ship", "right": " at sea"}]))
    a [ship] at sea    7
    1 of 1 places in 1 document
    """

    def __init__(
        self, lines: Iterable[dict] = (), *, total: int | None = None, documents: int = 1
    ) -> None:
        super().__init__(lines)
        self.total = len(self) if total is None else total
        self.documents = documents

    def __str__(self) -> str:
        before = max((len(line["left"]) for line in self), default=0)
        after = max((len(line["right"]) + len(line["key"]) for line in self), default=0)
        rows = []
        for line in self:
            middle = f"[{line['key']}]{line['right']}"
            rows.append(f"{line['left']:>{before}}{middle:<{after + 2}}    {line['id']}")
        inside = count(self.documents, "document")
        return "\n".join([*rows, f"{len(self):,} of {self.total:,} places in {inside}"])

    def _repr_html_(self) -> str:
        """Documents are untrusted: their words are text."""
        rows = (
            [
                line["left"],
                Markup(f"<b><bdi>{escape(line['key'])}</bdi></b>"),
                line["right"],
                line["id"],
            ]
            for line in self
        )
        return html_table(["Before", "", "After", "Document"], rows, right=(0,))


def context_lines(
    reader: ProjectReader, text: str, sort: str, width: int, top: int
) -> ContextLines:
    """A concordance that prints itself."""
    answer = concordance(reader, text, sort=sort, width=width, top=top)
    return ContextLines(answer["lines"], total=answer["total"], documents=answer["documents"])

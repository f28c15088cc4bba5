"""Snippets: a few words of a document around the matches of a query, which are marked.

The window is the first of those with the most different words of the query. It is cut between
words, white space becomes one space, and control characters and marks that reorder text are
removed: a snippet may be printed anywhere.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.data.text_block import text_of
from tacit.text.characters import RUN
from tacit.text.terms import Terms, intern
from tacit.text.tokens import Spans, TokenRule, split
from tacit.text.vocabulary import Vocabulary

__all__ = ["Wanted", "Snippet", "snippets"]

WIDTH = 160  # characters
SLACK = 24  # characters that a cut may move to the end of a word
HEAD = 2**12  # characters searched first
MOST = 2**18  # characters searched if there is no match among them
CUT = "…"
UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
PIECE = re.compile(r"\S+")


class Wanted(NamedTuple):
    """The words and phrases to mark."""

    words: Vocabulary
    phrases: Sequence[tuple[Sequence[str], Sequence[int]]] = ()  # words, distances

    def __bool__(self) -> bool:
        return bool(len(self.words) or self.phrases)


class Snippet(NamedTuple):
    """A part of a document, and the matches in it."""

    text: str
    marks: tuple[tuple[int, int], ...]


class Match(NamedTuple):
    start: int
    stop: int
    word: int


def snippets(
    texts: Sequence[str], wanted: Wanted, rule: TokenRule, width: int = WIDTH
) -> list[Snippet]:
    """A snippet of each text, with the matches marked.

    >>> wanted = Wanted(Vocabulary.of(["crude", "oil"]))
    >>> snippets(["Crude\\toil fell."], wanted, TokenRule())
    [Snippet(text='Crude oil fell.', marks=((0, 5), (6, 9)))]
    """
    texts = [unicodedata.normalize("NFC", text[: MOST + width]) for text in texts]
    places = find_words([head(text, HEAD) for text in texts], wanted, rule)
    if wanted:
        for i, text in enumerate(texts):
            if not places[i] and len(text) > HEAD:
                (places[i],) = find_words([head(text, MOST)], wanted, rule)
    return [cut_out(text, there, width) for text, there in zip(texts, places, strict=True)]


# --- Matches ---


def head(text: str, size: int) -> str:
    """The beginning of a text, up to the end of a word if there is one."""
    if len(text) <= size:
        return text
    return text[: text.rfind(" ", size // 2, size) + 1 or size]


def find_words(texts: list[str], wanted: Wanted, rule: TokenRule) -> list[list[Match]]:
    """The matches in each text, by the tokenizer of the index."""
    matches: list[list[Match]] = [[] for _ in texts]
    if not wanted:
        return matches
    simple = rule.characters().simple
    plain = [i for i, text in enumerate(texts) if simple and text.isascii()]
    spans, tokens, names = wanted_tokens([texts[i] for i in plain], wanted, rule)
    cuts, start = np.searchsorted(tokens, spans.edges), 0
    for k, i in enumerate(plain):  # lowercasing such text moves nothing
        mine = tokens[cuts[k] : cuts[k + 1]]
        begin, end = (spans.begin[mine] - start).tolist(), (spans.end[mine] - start).tolist()
        matches[i] = list(map(Match, begin, end, names[cuts[k] : cuts[k + 1]]))
        start += len(texts[i])
    for i in sorted(set(range(len(texts))) - set(plain)):
        spans, tokens, names = wanted_tokens([texts[i]], wanted, rule)
        matches[i] = locate(texts[i], len(spans.begin), tokens.tolist(), names, rule)
    return matches


def wanted_tokens(
    texts: list[str], wanted: Wanted, rule: TokenRule
) -> tuple[Spans, np.ndarray, list[int]]:
    """The tokens, the numbers of the wanted ones, and the word of each."""
    spans = split(text_of(texts), rule)
    terms = intern(spans)
    ids = terms.streams[0]
    there = terms.vocabulary.marked(wanted.words)[ids]
    for words, offsets in wanted.phrases:
        mark_phrase(there, terms, words, np.asarray(offsets))
    tokens = np.flatnonzero(there)
    return spans, tokens, ids[tokens].tolist()


def mark_phrase(
    there: np.ndarray, terms: Terms, words: Sequence[str], offsets: np.ndarray
) -> None:
    known = sorted(set(words))
    place_of = dict(
        zip(known, terms.vocabulary.find(Vocabulary.of_sorted(known)).tolist(), strict=True)
    )
    if min(place_of.values()) < 0:
        return
    ids, edges = terms.streams[0], terms.edges
    starts = np.flatnonzero(ids == place_of[words[0]])
    ends = edges[np.searchsorted(edges, starts, side="right")]  # of their documents
    starts = starts[starts + offsets[-1] < ends]
    for word, offset in zip(words, offsets, strict=True):
        starts = starts[ids[starts + offset] == place_of[word]]
    there[starts[:, None] + offsets] = True


def locate(
    text: str, count: int, tokens: list[int], names: list[int], rule: TokenRule
) -> list[Match]:
    """The positions of tokens in the text, one after the other."""
    spans = split(text_of([text]), TokenRule(rule.rule, False, rule.min_length, rule.atom))
    if not tokens or len(spans.begin) != count:  # lowercasing has split some tokens
        return []
    codes = rule.characters().codes
    word_of = dict(zip(tokens, names, strict=True))
    places: list[Match] = []
    at = 0
    for t, written in enumerate(spans.strings()):
        start = text.find(written, at)
        if start < 0:  # it contains a character that tokens leave out
            continue
        at = start + len(written)
        if codes[ord(written[0])] >> 24 & 0x0F == RUN:
            at = start + 1  # pairs of characters overlap
        if t in word_of:
            places.append(Match(start, start + len(written), word_of[t]))
    return places


# --- Windows ---


def cut_out(text: str, places: list[Match], width: int) -> Snippet:
    """The best window of a text, cleaned."""
    shown = best_places(places, width)
    start, stop = window(text, shown, width)
    pieces = [CUT] if start > 0 else []
    marks: list[tuple[int, int]] = []
    size = len(CUT) if start > 0 else 0
    inside = [(p.start, p.stop) for p in places if start <= p.start and p.stop <= stop]
    k = 0
    for piece in PIECE.finditer(UNPRINTABLE.sub(" ", text[start:stop])):
        size += bool(pieces)  # the space before it
        shift = size - start - piece.start()
        end = start + piece.end()
        while k < len(inside) and inside[k][0] < end:
            first, last = inside[k][0] + shift, min(inside[k][1], end) + shift
            if marks and first < marks[-1][1]:  # pairs of characters overlap
                first, _ = marks.pop()
            marks.append((first, last))
            k += 1
        pieces.append(piece.group())
        size += len(piece.group())
    if stop < len(text):
        pieces.append(CUT)
    return Snippet(" ".join(pieces), tuple(marks))


def best_places(places: list[Match], width: int) -> list[Match]:
    """The first matches within one width that have the most different words."""
    best: list[Match] = []
    most, i = 0, 0
    counts: dict[int, int] = {}
    for j, place in enumerate(places):
        counts[place.word] = counts.get(place.word, 0) + 1
        while i < j and place.stop - places[i].start > width:
            counts[places[i].word] -= 1
            if not counts[places[i].word]:
                del counts[places[i].word]
            i += 1
        if len(counts) > most:
            best, most = places[i : j + 1], len(counts)
    return best


def window(text: str, shown: list[Match], width: int) -> tuple[int, int]:
    """Start and stop of the window around the matches, between words if one ends nearby."""
    first, last = (shown[0].start, shown[-1].stop) if shown else (0, 0)
    start = max(0, first - max(0, width - (last - first)) // 2)
    start = max(0, min(start, len(text) - width))
    stop = min(len(text), max(last, start + width))
    if 0 < start < first and not text[start - 1].isspace():
        space = PIECE.match(text, start)
        end = space.end() if space else start
        start = end if end <= min(first, start + SLACK) else start
    if last < stop < len(text) and not text[stop].isspace():
        end = stop
        while end > max(last, stop - SLACK) and not text[end - 1].isspace():
            end -= 1
        stop = end if end > last and text[end - 1].isspace() else stop
    while start < first and unicodedata.combining(text[start]):
        start += 1
    return start, stop

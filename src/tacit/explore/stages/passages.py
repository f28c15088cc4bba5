"""Passages that many documents repeat: notices, buttons, signatures of a paper.

    lines       of six words or more
    sentences   of eight words or more
    runs        of words that begin or end a sentence: every eight in a row are different and in
                many documents; at the beginning or end of a document, six

A run is the same whatever its numbers are ("Weekly 03/04/2017 page 5"). What begins and ends
in the middle of sentences stays: it is how people write ("in a filing with the Securities and
Exchange Commission"). So does what repeats its own words, as tables and forms do.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from tacit.core.randoms import key, keys

__all__ = ["Passages", "PassagesFound"]

LINE_WORDS, SENTENCE_WORDS = 6, 8  # of a passage, at least; people repeat short sentences
RUN_WORDS, EDGE_WORDS = 8, 6  # of a run, at least: anywhere, and at the edge of a document
LONG = 24  # words of a document whose edges may be set aside
REACH = 1000  # characters at either end of a document that runs are found in, at least
READ = 2**22  # characters that they are found in, in a few long documents
SAMPLE = 2000  # documents that they are found in
PIECE = re.compile(r"(\n|(?<=[.!?]) +)")  # what separates lines and sentences
WORD, NUMBER, END = re.compile(r"\S+"), re.compile(r"\d+"), re.compile(r"[.!?…:][\"'”’)\]]*$")
REPEATS, REPEATED = 5, 0.01  # documents, and fraction of the documents, that share a passage
LEFT, LEFT_OF_RUNS = 0.2, 0.5  # of the words that must be left; else they are the text itself
LETTERS = 0.5  # of the words of a run that must have some


class PassagesFound:
    """Counts the passages of some documents, and gives those to set aside."""

    def __init__(self, documents: int) -> None:
        self.reach = max(REACH, READ // max(documents, 1) // 2)
        self.step = -(-max(documents, 1) // SAMPLE)  # from one document with runs to the next
        self.documents = 0
        self.pieces, self.shown = Counter[int](), dict[int, str]()
        self.edges = Counter[tuple[str, ...]]()
        self.number: dict[str, int] = defaultdict(lambda: len(self.number))
        self.rows: list[np.ndarray] = []  # the numbers of the words of each document

    def add(self, text: str) -> None:
        """Count a document that is unlike those before."""
        self.documents += 1
        for known, piece in dict(pieces_of(text)).items():
            self.pieces[known] += 1
            if self.pieces[known] == REPEATS:
                self.shown[known] = piece.strip()[:200]
        if self.documents % self.step:
            return
        if len(text) > 2 * self.reach:
            text = f"{text[: self.reach]} {text[-self.reach :]}"
        words = plain_words(text)
        if len(words) >= LONG:
            self.edges.update({tuple(words[:EDGE_WORDS]), tuple(words[-EDGE_WORDS:])})
        number = self.number.__getitem__
        self.rows.append(np.fromiter(map(number, words), np.int32, len(words)))

    def of_many(self) -> "Passages":
        """Those that many documents share."""
        least = max(REPEATS, REPEATED * self.documents)
        pieces = [known for known, size in self.pieces.most_common() if size >= least]
        least = max(REPEATS, REPEATED * len(self.rows))
        edges = {run for run, size in self.edges.items() if size >= least and is_run(run)}
        runs = set(filter(is_run, self.common_runs(least)))
        return Passages(frozenset(pieces), runs, edges, [self.shown[each] for each in pieces])

    def common_runs(self, least: float) -> Iterator[tuple[str, ...]]:
        """Every RUN_WORDS words in a row that are in so many documents."""
        rows = [row for row in self.rows if len(row) >= RUN_WORDS]
        if len(rows) < least:
            return
        words = np.concatenate(rows)
        of = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        starts = np.flatnonzero(of[: 1 - RUN_WORDS] == of[RUN_WORDS - 1 :])
        code = np.zeros(len(starts), np.uint64)
        for j in range(RUN_WORDS):
            code += keys(key(0, j), words[starts + j])
        order = np.argsort(code, kind="stable")
        code, of = code[order], of[starts[order]]
        first = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
        again = np.r_[False, (code[1:] == code[:-1]) & (of[1:] == of[:-1])]
        many = np.add.reduceat(np.logical_not(again), first) >= least
        names = list(self.number)
        for at in starts[order[first[many]]].tolist():
            yield tuple(names[i] for i in words[at : at + RUN_WORDS])


class Passages:
    """Passages to set aside; ``without`` does it."""

    def __init__(
        self, pieces: frozenset[int], runs: set[tuple[str, ...]], edges: set[tuple[str, ...]],
        shown: list[str],
    ) -> None:  # fmt: skip
        self.pieces, self.runs, self.edges, self.shown = pieces, runs, edges, shown
        self.first_words = {run[0] for run in runs}
        self.seen = Counter[str]()  # runs that were set aside, with their numbers alike
        self.written: dict[str, str] = {}  # each as it is written first

    def all_shown(self) -> list[str]:
        """What was set aside, the lines and sentences first."""
        runs = (run for run, size in self.seen.most_common() if size >= REPEATS)
        return [*self.shown, *map(self.written.__getitem__, runs)]

    def without(self, text: str) -> str:
        """A text without its passages; unchanged if too little would be left."""
        left = text
        if self.pieces:
            lines = (
                x for x in text.split("\n") if hash_of(x, LINE_WORDS) not in self.pieces
            )
            parts = [*PIECE.split("\n".join(lines)), ""]  # each with what follows it
            left = "".join(
                piece + after for piece, after in zip(parts[::2], parts[1::2], strict=True)
                if hash_of(piece, SENTENCE_WORDS) not in self.pieces
            )  # fmt: skip
            left = left if is_enough(left, text, LEFT) else text
        rest, start = "", 0
        for first, last in self.spans(left):
            rest, start = rest + left[start:first], last
        rest += left[start:]
        left = rest if is_enough(rest, left, LEFT_OF_RUNS) else left
        return text if len(left) == len(text) else left.strip("\n ")

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the runs of a text begin and end."""
        if not self.runs and not self.edges:
            return []
        words = plain_words(text)
        n, inside = len(words), set[int]()
        for i, word in enumerate(words):
            if word in self.first_words and tuple(words[i : i + RUN_WORDS]) in self.runs:
                inside.update(range(i, i + RUN_WORDS))
        if n >= LONG:
            for i in (0, n - EDGE_WORDS):
                if tuple(words[i : i + EDGE_WORDS]) in self.edges:
                    inside.update(range(i, i + EDGE_WORDS))
        if not inside:
            return []
        places = [found.span() for found in WORD.finditer(text)]
        marked, out = sorted(inside), list[tuple[int, int]]()
        starts = [i for i in marked if i - 1 not in inside]
        stops = [i + 1 for i in marked if i + 1 not in inside]
        for i, j in zip(starts, stops, strict=True):
            first, last = bordered(text, places, i, j)
            if last - first < EDGE_WORDS:
                continue
            start, stop = places[first][0], places[last - 1][1]
            out.append((start, stop))
            run = " ".join(words[first:last])
            self.seen[run] += 1
            self.written.setdefault(run, " ".join(text[start:stop].split())[:200])
        return out


def is_enough(left: str, text: str, least: float) -> bool:
    """Whether so much of a text is left."""
    return len(left.split()) >= max(1, least * len(text.split()))


def bordered(
    text: str, places: list[tuple[int, int]], i: int, j: int
) -> tuple[int, int]:
    """The words from i to j if a sentence begins or ends there; else from where one begins in
    between, or to where one ends; none where no sentence does."""
    borders = [k for k in range(i, j + 1) if is_end(text, places, k - 1)]
    if not borders:
        return i, i
    if borders[0] == i or borders[-1] == j:
        return i, j
    return max((borders[0], j), (i, borders[-1]), key=lambda words: words[1] - words[0])


def is_end(text: str, places: list[tuple[int, int]], i: int) -> bool:
    """Whether a sentence or line ends after a word."""
    if i < 0 or i + 1 >= len(places):
        return True
    (start, stop), (following, _) = places[i], places[i + 1]
    return "\n" in text[stop:following] or bool(END.search(text[start:stop]))


def plain_words(text: str) -> list[str]:
    """The words of a text in lower case, with all numbers alike.

    >>> plain_words("Weekly 03/04/2017 page5")
    ['weekly', '0/0/0', 'page0']
    """
    return NUMBER.sub("0", text.lower()).split()


def is_run(words: tuple[str, ...]) -> bool:
    """Whether words in a row are different, and most of them are words."""
    letters = sum(word[0].isalpha() or word[-1].isalpha() for word in words)
    return len(set(words)) == len(words) and letters > LETTERS * len(words)


def pieces_of(text: str) -> Iterator[tuple[int, str]]:
    """The hashes of lines and sentences, and these."""
    for pieces, least in (
        (text.split("\n"), LINE_WORDS), (PIECE.split(text)[::2], SENTENCE_WORDS)
    ):  # fmt: skip
        for piece in pieces:
            if (known := hash_of(piece, least)) is not None:
                yield known, piece


def hash_of(piece: str, least: int) -> int | None:
    """The hash of a line or sentence that is long enough to be a passage."""
    if len(piece) < 2 * least:
        return None
    words = piece.split()
    if len(words) < least or not any(word[0].isalpha() for word in words):
        return None
    return hash(" ".join(words).casefold())

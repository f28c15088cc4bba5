"""What a corrector learns from: sentences, words, examples, and how words look."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from tacit.core.engines import get_engine
from tacit.core.kernel import kernel
from tacit.data.documents import Documents
from tacit.data.text_block import Text
from tacit.language.channel import Channel
from tacit.language.spelling_text import key_of, sentences_of
from tacit.text.edit_costs import START
from tacit.text.edit_lanes import Strings

__all__ = ["check_pairs", "read_corpus", "sum_letters", "spelled_logs"]

LETTER_PRIOR = 0.1  # of each pair of neighbouring letters


def read_corpus(documents: Any, engine: Any) -> tuple[list[list[str]], Counter[str]]:
    """The sentences of documents as lists of words, and how often each word occurs."""
    source = Documents.of(documents) if not is_path(documents) else Documents.open(documents)
    parts = get_engine(engine).map(read_block, None, source)
    sentences = list(chain.from_iterable(parts))
    return sentences, Counter(chain.from_iterable(sentences))


def is_path(documents: Any) -> bool:
    import os

    return isinstance(documents, str | os.PathLike)


def read_block(_: None, block: Text) -> list[list[str]]:
    """The sentences of a block; equal words are one object, or millions would not fit."""
    seen: dict[str, str] = {}
    return [
        [seen.setdefault(word, word) for word in sentence]
        for text in block.strings()
        for sentence in sentences_of(text)
    ]


def check_pairs(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Examples as (meant, typed), in lower case, those without an error left out."""
    made = []
    for i, pair in enumerate(pairs):
        if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(p, str) for p in pair):
            raise ValueError(
                f"pairs[{i}] is {pair!r}, but must be two strings: a misspelling and what was "
                "meant."
            )
        typed, meant = map(key_of, pair)
        if typed != meant and typed and meant:
            made.append((meant, typed))
    return made


def spelled_logs(channel: Channel, words: Strings) -> np.ndarray:
    """log P(letter | letter before) over the vocabulary; START is the start and the end."""
    counts = np.full((len(channel.symbols) + 2,) * 2, LETTER_PRIOR)
    rows = channel.rows(words)
    starts, stops = words.offsets[:-1], words.offsets[1:]
    filled = stops > starts
    np.add.at(counts, (START, rows[starts[filled]]), 1)
    np.add.at(counts, (rows[stops[filled] - 1], START), 1)
    inside = np.ones(max(0, len(rows) - 1), bool)
    inside[stops[filled][:-1] - 1] = False
    np.add.at(counts, (rows[:-1][inside], rows[1:][inside]), 1)
    return np.log(counts / counts.sum(axis=1, keepdims=True))


@kernel
def sum_letters(rows, offsets, logs, out):
    """log P of the letters of each word."""
    for i in range(len(out)):
        before, total = START, 0.0
        for t in range(offsets[i], offsets[i + 1]):
            total += logs[before, rows[t]]
            before = rows[t]
        out[i] = total + logs[before, START]

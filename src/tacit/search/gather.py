"""Putting the blocks of an index together, in memory or, past a budget, in temporary files.

Blocks wait in memory until they take the budget, then are merged into a run that lies in a
file; at the end the runs are merged in turn. Whatever the budget, the bytes are the same. The
vocabulary and one number or two per document are always in memory.
"""

from typing import NamedTuple

import numpy as np

from tacit.data.text_block import Text
from tacit.search.postings import Postings, invert, merge_postings, no_postings
from tacit.search.spill import SpillFile, in_file
from tacit.search.texts import Texts, merge_texts, pack_texts
from tacit.search.word_rule import WordRule
from tacit.text.terms import intern
from tacit.text.tokens import split

__all__ = ["Block", "Gatherer", "How", "collect"]


class How(NamedTuple):
    """How documents are indexed. Travels with the pass as its params."""

    rule: WordRule
    store: bool = True


class Block(NamedTuple):
    """The index of a block of documents."""

    postings: Postings
    texts: Texts | None

    @property
    def nbytes(self) -> int:
        return self.postings.nbytes + (0 if self.texts is None else self.texts.nbytes)


def collect(how: How, text: Text) -> Block:
    """Index a block."""
    terms = intern(split(text, how.rule.token))
    postings = invert(terms, how.rule.unwanted(terms.vocabulary))
    return Block(postings, pack_texts(text) if how.store else None)


class Gatherer:
    """Takes blocks in order and makes one index of them."""

    def __init__(self, memory_bytes: float) -> None:
        self.memory_bytes = memory_bytes
        self.runs: list[Postings] = []  # in files
        self.waiting: list[Postings] = []
        self.texts: list[Texts] = []
        self.held = 0
        self.text_file: SpillFile | None = None

    @property
    def spilled(self) -> bool:
        """Bytes that went to files."""
        return bool(self.runs)

    def add(self, block: Block) -> None:
        """Take the next block, in order."""
        self.waiting.append(block.postings)
        if block.texts is not None:
            self.texts.append(block.texts)
        self.held += block.nbytes
        if self.held > self.memory_bytes:
            self._spill()

    def finish(self) -> tuple[Postings, Texts | None]:
        """Everything that was added."""
        parts = [*self.runs, *self.waiting] or [no_postings()]
        postings = merge_postings(parts, in_file if self.spilled else None)
        if not self.texts:
            return postings, None
        if self.text_file is None:
            return postings, merge_texts(self.texts)
        self._write_texts()
        return postings, merge_texts(self.texts, self.text_file.finish())

    def _spill(self) -> None:
        self.runs.append(merge_postings(self.waiting, in_file))
        self.waiting, self.held = [], 0
        if self.texts:
            self._write_texts()

    def _write_texts(self) -> None:
        self.text_file = self.text_file or SpillFile()
        for i, part in enumerate(self.texts):
            if len(part.pieces):
                self.text_file.write(part.pieces)
                self.texts[i] = part._replace(pieces=np.zeros(0, np.uint8))

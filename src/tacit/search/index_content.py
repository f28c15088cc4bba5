"""The content of an inverted index, built block by block, and the arrays of its file.

Blocks are collected in memory up to a limit, then merged into a run in a temporary file; at
the end the runs are merged. The bytes are the same whatever the limit. The vocabulary and one
or two numbers per document are always in memory.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tacit.data.text_block import Text
from tacit.search.postings import Postings, invert, merge_postings, no_postings
from tacit.search.ranking import document_norms
from tacit.search.spill import SpillFile, in_file
from tacit.search.stored_documents import FIELDS as DOCUMENT_FIELDS
from tacit.search.stored_documents import (
    StoredDocuments,
    Texts,
    check_dtypes,
    check_edges,
    merge_texts,
    pack_texts,
)
from tacit.search.word_rule import WordRule
from tacit.text.terms import intern
from tacit.text.tokens import split
from tacit.text.vocabulary import Vocabulary

__all__ = ["FIELDS", "Index", "IndexBuilder", "IndexSettings", "collect"]

BYTES, EDGES, SMALL = (np.dtype(kind) for kind in (np.uint8, np.int64, np.int32))
POSTINGS: dict[str, np.dtype] = {
    "words_": BYTES,
    "word_edges_": EDGES,
    "word_keys_": np.dtype(np.uint64),
    "document_counts_": SMALL,
    "last_documents_": SMALL,
    "list_edges_": EDGES,
    "lists_": BYTES,
    "place_edges_": EDGES,
    "places_": BYTES,
    "lengths_": SMALL,
}
FIELDS: dict[str, np.dtype] = {**POSTINGS, "norms_": np.dtype(np.float64), **DOCUMENT_FIELDS}
DIVIDED = {"word_edges_": "words_", "list_edges_": "lists_", "place_edges_": "places_"}


class Index(NamedTuple):
    """An inverted index. It never changes: adding documents makes another."""

    rule: WordRule
    postings: Postings
    norms: np.ndarray  # (n,) float64, of the documents as tf-idf vectors
    mean_length: float  # words per document
    stored: StoredDocuments

    @classmethod
    def of(cls, rule: WordRule, postings: Postings, stored: StoredDocuments) -> "Index":
        """The index of postings, with the norms of their documents."""
        arrays = {**postings_arrays(postings), "norms_": document_norms(postings)}
        arrays |= {name: array for name, array in stored.arrays().items() if array is not None}
        return cls.from_arrays(rule, arrays, int(postings.lengths.sum(dtype=np.int64)))

    @classmethod
    def from_arrays(
        cls, rule: WordRule, arrays: Mapping[str, np.ndarray], n_tokens: int
    ) -> "Index":
        """The index of the arrays of a file. ValueError if they do not fit together."""
        check_dtypes(arrays, FIELDS)
        check_edges(arrays, DIVIDED)
        fixed = {name: read_only(array) for name, array in arrays.items()}
        data, edges, keys, *rest = (fixed[name] for name in POSTINGS)
        postings = Postings(Vocabulary(data, edges, keys), *rest)
        stored = StoredDocuments.from_arrays(fixed, postings.n_documents)
        mean = n_tokens / max(1, postings.n_documents) or 1.0
        return cls(rule, postings, fixed["norms_"], mean, stored)

    def arrays(self) -> dict[str, np.ndarray | None]:
        """The arrays of a file, by name; None for those that this index does without."""
        return {**postings_arrays(self.postings), "norms_": self.norms, **self.stored.arrays()}


def postings_arrays(postings: Postings) -> dict[str, np.ndarray]:
    words = postings.vocabulary
    parts = (words.data, words.offsets, words.keys, *postings[1:])
    return dict(zip(POSTINGS, parts, strict=True))  # type: ignore[arg-type]


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only view, so that kernels compile once for mapped and for own memory."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


# --- Building ---


class IndexSettings(NamedTuple):
    """How documents are indexed. The params of the pass."""

    rule: WordRule
    store: bool = True


class Block(NamedTuple):
    """The index of a block of documents."""

    postings: Postings
    texts: Texts | None

    @property
    def nbytes(self) -> int:
        return self.postings.nbytes + (0 if self.texts is None else self.texts.nbytes)


def collect(settings: IndexSettings, text: Text) -> Block:
    """Index a block."""
    terms = intern(split(text, settings.rule.token))
    postings = invert(terms, settings.rule.unwanted(terms.vocabulary))
    return Block(postings, pack_texts(text) if settings.store else None)


class IndexBuilder:
    """Merges blocks, in order, within a memory limit in bytes."""

    def __init__(self, memory: float) -> None:
        self.memory = memory
        self.runs: list[Postings] = []  # in temporary files
        self.waiting: list[Postings] = []
        self.texts: list[Texts] = []
        self.nbytes = 0
        self.text_file: SpillFile | None = None

    def add(self, block: Block) -> None:
        """Add the next block, in order."""
        self.waiting.append(block.postings)
        if block.texts is not None:
            self.texts.append(block.texts)
        self.nbytes += block.nbytes
        if self.nbytes > self.memory:
            self._spill()

    def finish(self) -> tuple[Postings, Texts | None]:
        """The postings and texts of all blocks."""
        parts = [*self.runs, *self.waiting] or [no_postings()]
        postings = merge_postings(parts, in_file if self.runs else None)
        if not self.texts:
            return postings, None
        if self.text_file is None:
            return postings, merge_texts(self.texts)
        self._write_texts()
        return postings, merge_texts(self.texts, self.text_file.finish())

    def _spill(self) -> None:
        self.runs.append(merge_postings(self.waiting, in_file))
        self.waiting, self.nbytes = [], 0
        if self.texts:
            self._write_texts()

    def _write_texts(self) -> None:
        self.text_file = self.text_file or SpillFile()
        for i, part in enumerate(self.texts):
            if len(part.pieces):
                self.text_file.write(part.pieces)
                self.texts[i] = part._replace(pieces=np.zeros(0, np.uint8))

"""Everything that a search reads, and the arrays that a file holds of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from tacit.core.string_array import StringArray, are_offsets
from tacit.data.documents import Documents
from tacit.search.postings import Postings
from tacit.search.ranking import document_norms
from tacit.search.texts import Texts
from tacit.search.word_rule import WordRule
from tacit.text.vocabulary import Vocabulary

__all__ = ["FIELDS", "Index", "join_names", "names_of"]

BYTES, EDGES, SMALL = (np.dtype(kind) for kind in (np.uint8, np.int64, np.int32))
POSTINGS = {
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
NAMES = {"names_": BYTES, "name_edges_": EDGES}
TEXTS = {"text_edges_": EDGES, "piece_rows_": SMALL, "piece_edges_": EDGES, "pieces_": BYTES}
FIELDS = {**POSTINGS, "norms_": np.dtype(np.float64), **NAMES, **TEXTS}
LADDERS = {
    "word_edges_": "words_",
    "list_edges_": "lists_",
    "place_edges_": "places_",
    "name_edges_": "names_",
    "text_edges_": None,
    "piece_rows_": None,
    "piece_edges_": "pieces_",
}


class Index(NamedTuple):
    """Never changes: adding documents makes another."""

    rule: WordRule
    postings: Postings
    norms: np.ndarray  # (n,) float64, of the documents as tf-idf vectors
    mean_length: float  # words to a document
    names: StringArray | None
    texts: Texts | None

    @classmethod
    def of(
        cls, rule: WordRule, postings: Postings, names: StringArray | None, texts: Texts | None
    ) -> "Index":
        words = postings.vocabulary
        held = (words.data, words.offsets, words.keys, *postings[1:])
        arrays = dict(zip(POSTINGS, held, strict=True))
        arrays["norms_"] = document_norms(postings)
        arrays.update(zip(NAMES, names or (), strict=False))
        arrays.update(zip(TEXTS, texts or (), strict=False))
        return cls.from_arrays(rule, arrays, int(postings.lengths.sum(dtype=np.int64)))

    @classmethod
    def from_arrays(
        cls, rule: WordRule, arrays: Mapping[str, np.ndarray], n_tokens: int
    ) -> "Index":
        held = {name: fixed(array) for name, array in arrays.items()}
        data, edges, keys, *rest = (held[name] for name in POSTINGS)
        postings = Postings(Vocabulary(data, edges, keys), *rest)
        names = StringArray(*(held[name] for name in NAMES)) if "names_" in held else None
        texts = Texts(*(held[name] for name in TEXTS)) if "pieces_" in held else None
        mean = n_tokens / max(1, postings.n_documents) or 1.0
        return cls(rule, postings, held["norms_"], mean, names, texts)

    def arrays(self) -> dict[str, np.ndarray | None]:
        """What a file holds, by name; None for what this index does without."""
        words = self.postings.vocabulary
        held = (words.data, words.offsets, words.keys, *self.postings[1:])
        return {
            **dict(zip(POSTINGS, held, strict=True)),
            "norms_": self.norms,
            **dict(zip(NAMES, self.names or (None, None), strict=True)),
            **dict(zip(TEXTS, self.texts or (None,) * 4, strict=True)),
        }

    def id_of(self, row: int) -> int | str:
        return row if self.names is None else self.names.get(row)

    def row_of(self, id: int | str) -> int:
        n = self.postings.n_documents
        if self.names is not None:
            row = self.names.find(str(id))
            if row < 0:
                raise KeyError(f"There is no document {id!r} in the index.")
            return row
        number = str(id)
        row = int(number) if number.isascii() and number.isdigit() else -1
        if not 0 <= row < n:
            raise KeyError(
                f"There is no document {id!r} in the index; they are numbered from 0 to "
                f"{n - 1}."
            )
        return row


def check_arrays(arrays: Mapping[str, np.ndarray], n_documents: int) -> None:
    """ValueError for arrays that a search could not read safely."""
    for name, array in arrays.items():
        if array.dtype != FIELDS[name]:
            raise ValueError(f"{name} has dtype {array.dtype}, but must have {FIELDS[name]}")
    for name, divided in LADDERS.items():
        end = None if divided is None or divided not in arrays else len(arrays[divided])
        if name in arrays and not are_offsets(arrays[name], end):
            raise ValueError(f"{name} does not fit what it divides")
    if "piece_rows_" in arrays and arrays["piece_rows_"][-1] != n_documents:
        raise ValueError("the texts are not those of all documents")


def fixed(array: np.ndarray) -> np.ndarray:
    """The same array, read-only: kernels compile once for mapped and for own memory."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


# --- Names ---


class Named(Protocol):
    """Whatever knows the names of its documents, or that they have none."""

    @property
    def names(self) -> StringArray | None: ...


def names_of(source: Documents, ids: Sequence[str] | None) -> StringArray | None:
    """The names of documents: given, their own, or None for numbers."""
    if ids is None:
        return None if source.names is None else StringArray.of(source.names)
    names = [str(each) for each in ids]
    if len(names) != len(source):
        raise ValueError(
            f"There are {len(names):,} ids for {len(source):,} documents. Give one for each."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"The id {twice[0]!r} is given more than once. Give each document its own."
        )
    return StringArray.of(names)


def join_names(old: Named, names: StringArray | None, n: int) -> StringArray | None:
    """The names of the documents that are there and of those that come."""
    if n and (old.names is None) != (names is None):
        has, lacks = ("named", "not") if old.names is not None else ("not named", "named")
        raise ValueError(
            f"The documents of this index are {has}, but those to be added are {lacks}. Give "
            "ids=... to all of them or to none."
        )
    if old.names is None or names is None:
        return old.names
    there = {old.names.get(i) for i in range(old.names.size)}
    again = next((name for i in range(n) if (name := names.get(i)) in there), None)
    if again is not None:
        raise ValueError(f"The index holds a document {again!r} already. Give it another id.")
    return old.names.joined(names)

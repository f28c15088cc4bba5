"""What a semantic index holds of its documents, and the arrays that a file holds of it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tacit.core.string_array import StringArray, are_offsets
from tacit.search.hit import Hit, Hits
from tacit.search.ranking import best
from tacit.search.snippets import Asked, Snippet, snippets
from tacit.search.texts import Texts
from tacit.text.tokens import TokenRule
from tacit.text.vocabulary import Vocabulary

__all__ = ["FIELDS", "Content", "check_top", "hits"]

NAMES = {"names_": np.uint8, "name_edges_": np.int64}
TEXTS = {
    "text_edges_": np.int64, "piece_rows_": np.int32,
    "piece_edges_": np.int64, "pieces_": np.uint8,
}  # fmt: skip
FIELDS = {"document_vectors_": np.float32, **NAMES, **TEXTS}
LADDERS = {
    "name_edges_": "names_", "text_edges_": None,
    "piece_rows_": None, "piece_edges_": "pieces_",
}  # fmt: skip


class Content(NamedTuple):
    """Never changes: adding documents makes another."""

    vectors: np.ndarray  # (n, k) float32, of length one
    names: StringArray | None = None
    texts: Texts | None = None
    counts: Any = None  # (n, v) CSR, where the documents came as such

    def arrays(self) -> dict[str, Any]:
        """By the names of the attributes; None for what there is not."""
        return {
            "document_vectors_": self.vectors,
            "counts_": self.counts,
            **dict(zip(NAMES, self.names or (None,) * len(NAMES), strict=True)),
            **dict(zip(TEXTS, self.texts or (None,) * len(TEXTS), strict=True)),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> "Content":
        """The way back, for arrays from a file: ValueError if they do not fit together."""
        for name, dtype in FIELDS.items():
            if name in arrays and arrays[name].dtype != dtype:
                raise ValueError(f"{name} has dtype {arrays[name].dtype}")
        for edges, data in LADDERS.items():
            end = len(arrays[data]) if data is not None and data in arrays else None
            if edges in arrays and not are_offsets(arrays[edges], end):
                raise ValueError(f"{edges} does not fit what it divides")
        vectors = arrays["document_vectors_"]
        names = StringArray(*(arrays[name] for name in NAMES)) if "names_" in arrays else None
        texts = Texts(*(arrays[name] for name in TEXTS)) if "pieces_" in arrays else None
        if texts is not None and texts.rows[-1] != len(vectors):
            raise ValueError("the texts are not those of all documents")
        return cls(vectors, names, texts, arrays.get("counts_"))

    def id_of(self, row: int) -> int | str:
        return row if self.names is None else self.names.get(row)

    def row_of(self, id: int | str) -> int:
        n = len(self.vectors)
        if self.names is not None:
            row = self.names.find(str(id))
            if row < 0:
                raise KeyError(f"There is no document {id!r} in the index.")
            return row
        number = str(id)
        row = int(number) if number.isascii() and number.isdigit() else -1
        if not 0 <= row < n:
            raise KeyError(
                f"There is no document {id!r} in the index: they are numbered 0 to {n - 1}."
            )
        return row

    def text(self, row: int) -> str:
        if self.texts is None:
            raise ValueError(
                "This index does not hold the documents. Build it from text, with "
                "store_text=True."
            )
        return self.texts.read([row])[0]


def hits(
    content: Content,
    scores: np.ndarray,
    words: list[str],
    top: int | None,
    width: int,
    notes: list[str],
) -> Hits:
    """The documents that score best, above 0, with ``words`` marked in their snippets."""
    rows = np.flatnonzero(scores > 0).astype(np.int32)
    chosen = best(scores, rows, check_top(top)).tolist()
    shown = [Snippet("", ())] * len(chosen)
    if width and content.texts is not None:
        asked = Asked(Vocabulary.of(sorted(set(words))))
        shown = snippets(content.texts.read(chosen), asked, TokenRule(), width)
    found = [
        Hit(content.id_of(row), float(scores[row]), *piece)
        for row, piece in zip(chosen, shown, strict=True)
    ]
    return Hits(found, total=len(rows), notes=notes)


def check_top(top: Any) -> int | None:
    """How many hits to give; None for all."""
    if top is None:
        return None
    if not isinstance(top, int | np.integer) or isinstance(top, bool):
        raise TypeError(f"top={top!r} must be a whole number, or None for all.")
    if top < 0:
        raise ValueError(f"top={top} must be at least 0.")
    return int(top)

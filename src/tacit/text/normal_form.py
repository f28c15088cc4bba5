"""Text in Unicode's normal form C, so that an accented letter is one character.

ASCII needs nothing. Elsewhere a kernel finds the documents that hold a character which may
need work, and Python works on those alone.
"""

import unicodedata
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.data.text_block import Text
from tacit.text.characters import BY_CONTEXT, LOOK, Characters
from tacit.text.utf8 import decode_at, is_ascii

__all__ = ["Composed", "compose", "stretches"]

CALL_BYTES = 2**24  # text between two returns to Python: well under 200 ms


def stretches(text: Text) -> list[tuple[int, int]]:
    """Cut the documents of a block into calls of some megabytes."""
    if len(text.data) < CALL_BYTES:
        return [(0, len(text))]
    groups = np.cumsum(text.stops - text.starts) // CALL_BYTES
    cuts = np.flatnonzero(np.diff(groups)) + 1
    edges = [0, *cuts.tolist(), len(text)]
    return [(i, j) for i, j in pairwise(edges) if j > i]


class Composed(NamedTuple):
    """Text in normal form C, and which of its documents are ASCII."""

    text: Text
    ascii: np.ndarray  # bool

    @property
    def plain(self) -> bool:
        return bool(self.ascii.all())


def compose(text: Text, characters: Characters, lowercase: bool) -> Composed:
    """The text in normal form C.

    Only documents that hold a character which may need it are looked at by Python; so are
    those whose lower case depends on more than one character.
    """
    plain = text.ascii
    if plain is None:
        plain = np.full(len(text), len(text.data) == 0 or int(text.data.max()) < 128)
        if not plain.all():
            find_ascii(text.data, text.starts, text.stops, plain)
    if plain.all():
        return Composed(text, plain)
    found = np.zeros(len(text), np.bool_)
    for first, last in stretches(text):
        check_stop()
        find_suspects(
            text.data, text.starts, text.stops, first, last, characters.codes, plain, found
        )
    rows, strings = [], []
    for i in np.flatnonzero(found).tolist():
        old = text.string(i)
        new = unicodedata.normalize("NFC", old)
        if lowercase and any(c in new for c in BY_CONTEXT):
            new = new.lower()
        if new != old:
            rows.append(i)
            strings.append(new)
    return Composed(text.with_strings(rows, strings) if rows else text, plain)


# --- Kernels ---


@kernel
def find_ascii(data, starts, stops, plain):
    """Mark the documents that are ASCII."""
    for d in range(len(starts)):
        plain[d] = is_ascii(data, starts[d], stops[d])


@kernel
def find_suspects(data, starts, stops, first, last, codes, plain, found):
    """Mark the documents that hold a character marked LOOK."""
    for d in range(first, last):
        if plain[d]:
            continue
        i = starts[d]
        while i < stops[d]:
            c, length = decode_at(data, i)
            if codes[c] & LOOK:
                found[d] = True
                break
            i += length

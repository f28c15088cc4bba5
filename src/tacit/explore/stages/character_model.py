"""How surprising the spelling of a document is to a model of the others: counts of runs of up
to five bytes, smoothed from the longest to the shortest.

    p(b | c1..ck)  =  (count(c1..ck b) + S p(b | c2..ck)) / (count(c1..ck) + S)

The prior of each order is the next shorter one (MacKay and Peto 1995). Counts are hashed into
tables of fixed size. A document that the counts hold is scored without its own: they are taken
out, the document is scored, and they are put back, so that every document is judged by the
others alone. Another language or script, code and packed data take far more bits per byte
than the text of the collection.
"""

from collections.abc import Iterable

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["CharacterModel", "as_bytes", "byte_limit", "learn_characters", "surprise_each"]

ORDER = 5  # the longest run, in bytes
SLOTS = 2**20  # of the table of each length
STRENGTH = 4.0  # S, in observations
LEARNED = 12_000_000  # bytes that are counted
LONGEST, SHORTEST = 4000, 500  # bytes of each document that are read


class CharacterModel:
    """Counts of the byte sequences of documents.

    ``add`` counts texts, ``surprise`` gives the bits per byte of one; ``known=True`` for one
    that was counted.

    >>> model = CharacterModel()
    >>> for text in ["the ship at sea", "the sea and the ships", "a ship on the sea"]:
    ...     model.add(as_bytes(text))
    >>> usual, odd = as_bytes("the ship and the sea"), as_bytes("x9$Kq7!zW")
    >>> model.surprise(usual) < 4 < model.surprise(odd)
    True
    """

    def __init__(self) -> None:
        self.counts = np.zeros((ORDER + 1, SLOTS), np.int32)

    def add(self, text: np.ndarray) -> None:
        """Count the bytes of a text."""
        count(text, self.counts, 1)

    def surprise(self, text: np.ndarray, *, known: bool = False) -> float:
        """Bits per byte of a text; 0 for one without bytes."""
        if not len(text):
            return 0.0
        if known:
            count(text, self.counts, -1)
        found = bits(text, self.counts)
        if known:
            count(text, self.counts, 1)
        return float(found) / len(text)


def learn_characters(texts: Iterable[str], n: int) -> tuple[CharacterModel, list[np.ndarray]]:
    """A model of n documents, and what was read of each.

    Where there is much text, the opening of every document is read, and an even sample of the
    documents is counted.
    """
    model, cut = CharacterModel(), byte_limit(n)
    kept = [as_bytes(text, cut) for text in texts]
    for data in kept[:: counted_every(n)]:
        model.add(data)
    return model, kept


def surprise_each(texts: Iterable[str], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Bits per byte of every document given the others, and the number of bytes read."""
    model, kept = learn_characters(texts, n)
    every = counted_every(n)
    bits = [model.surprise(data, known=i % every == 0) for i, data in enumerate(kept)]
    return np.array(bits), np.array([len(data) for data in kept])


def counted_every(n: int) -> int:
    """The step of the sample of n documents that is counted."""
    return max(1, -(-n * byte_limit(n) // LEARNED))


def byte_limit(n: int) -> int:
    """How many bytes of each of n documents are read."""
    return int(np.clip(LEARNED // max(n, 1), SHORTEST, LONGEST))


def as_bytes(text: str, most: int = LONGEST) -> np.ndarray:
    """The first bytes of a text, with single spaces.

    >>> bytes(as_bytes("two  words\\n"))
    b'two words'
    """
    data = " ".join(text[: 2 * most].split()).encode("utf-8", "replace")[:most]
    return np.frombuffer(data, np.uint8)


# --- Kernels ---

PRIME = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(64 - 20)  # leaves the bits of a slot
U = np.uint64


@kernel
def count(text, counts, step):
    """Add (or take away) the runs of a text, of every length."""
    for i in range(len(text)):
        code = U(0)
        counts[0, 0] += step
        for k in range(1, ORDER + 1):
            if k > i + 1:
                break
            code = (code << U(8)) | U(text[i + 1 - k])
            counts[k, ((code + U(k)) * PRIME) >> SHIFT] += step


@kernel
def bits(text, counts):
    """The bits of a text, each byte given up to four before it."""
    total = 0.0
    before = np.zeros(ORDER + 1, np.int64)  # counts of the runs that end before this byte
    here = np.zeros(ORDER + 1, np.int64)
    before[0] = counts[0, 0]
    for i in range(len(text)):
        p = 1.0 / 256
        code = U(0)
        here[:] = 0
        here[0] = counts[0, 0]
        for k in range(1, ORDER + 1):
            if k > i + 1:
                break
            code = (code << U(8)) | U(text[i + 1 - k])
            here[k] = counts[k, ((code + U(k)) * PRIME) >> SHIFT]
            p = (here[k] + STRENGTH * p) / (before[k - 1] + STRENGTH)
        total -= np.log2(p)
        for k in range(ORDER + 1):
            before[k] = here[k]
    return total

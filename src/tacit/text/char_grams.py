"""Character n-grams, as slices of text that was lowered and freed of long white space.

"char" takes them from the whole document, white space included; "char_wb" from each word,
with a space before and behind it. Characters are code points, as in scikit-learn.
"""

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.data.text_block import Text
from tacit.kernels.hashing import Interner, padded
from tacit.text.characters import SPACE, plain_characters
from tacit.text.normal_form import compose, stretches
from tacit.text.terms import Terms
from tacit.text.utf8 import decode_at, encode_to
from tacit.text.vocabulary import Vocabulary

__all__ = ["char_grams"]

SPACE_BYTE = 32
CALL_SPANS = 2**20  # n-grams listed at one time


def char_grams(
    text: Text, shortest: int, longest: int, lowercase: bool, by_word: bool
) -> Terms:
    """The character n-grams of every document.

    >>> from tacit.data.text_block import text_of
    >>> list(char_grams(text_of(["Hi  you"]), 3, 3, True, False).vocabulary)
    [' yo', 'hi ', 'i y', 'you']
    >>> list(char_grams(text_of(["Hi  you"]), 4, 4, True, True).vocabulary)
    [' hi ', ' you', 'you ']
    """
    characters = plain_characters(lowercase)
    text = compose(text, characters, lowercase).text
    size = 2 * int((text.stops - text.starts + 1).sum())  # lower case and spaces take more
    buffer = padded(size)
    places, reach = np.empty(size + 1, np.int32), np.empty(size + 1, np.int32)
    edges = np.zeros(len(text) + 1, np.int64)
    write = write_words if by_word else write_text
    at = 0
    for first, last in stretches(text):
        check_stop()
        at = write(
            text.data, text.starts, text.stops, first, last, characters.codes, buffer, at,
            places, reach, edges,
        )  # fmt: skip
    places[edges[-1]] = at
    table, ids, counts = Interner(buffer), [], np.zeros(len(text), np.int64)
    room = CALL_SPANS + longest - shortest + 1
    begin, end = np.empty(room, np.int32), np.empty(room, np.int32)
    position, document = 0, 0
    while position < edges[-1]:
        check_stop()
        position, document, k = list_spans(
            places, reach, edges, position, document, shortest, longest, by_word, begin, end,
            counts,
        )  # fmt: skip
        ids.append(table.ids(begin[:k], end[:k]))
    vocabulary, rank = Vocabulary.of_slices(buffer, table.slices())
    stream = rank[np.concatenate([*ids, np.empty(0, np.int32)])].reshape(1, -1)
    return Terms(vocabulary, stream, np.concatenate([[0], np.cumsum(counts)]))


# --- Kernels ---


@kernel
def write_text(data, starts, stops, first, last, codes, buffer, at, places, reach, edges):
    """Documents in lower case; two white spaces or more become one space.

    Fills in where each character begins, and the number of the last one it may be with.
    """
    k = edges[first]
    for d in range(first, last):
        i, spaces, held = starts[d], 0, np.uint32(0)
        while i <= stops[d]:
            is_space, c, length = False, np.uint32(0), 1
            if i < stops[d]:
                c, length = decode_at(data, i)
                is_space = codes[c] >> np.uint32(24) & np.uint32(0x0F) == SPACE
                c = codes[c] & np.uint32(0xFFFFFF)
            if is_space:
                spaces += 1
                held = c
            else:
                if spaces:
                    places[k] = at
                    k += 1
                    at = encode_to(buffer, at, held if spaces == 1 else np.uint32(SPACE_BYTE))
                    spaces = 0
                if i < stops[d]:
                    places[k] = at
                    k += 1
                    at = encode_to(buffer, at, c)
            i += length
        reach[edges[d] : k] = k
        edges[d + 1] = k
    return at


@kernel
def write_words(data, starts, stops, first, last, codes, buffer, at, places, reach, edges):
    """The words of documents in lower case, each between two spaces."""
    k = edges[first]
    for d in range(first, last):
        i, inside, word = starts[d], False, k
        while i <= stops[d]:
            is_space, c, length = True, np.uint32(0), 1
            if i < stops[d]:
                c, length = decode_at(data, i)
                is_space = codes[c] >> np.uint32(24) & np.uint32(0x0F) == SPACE
                c = codes[c] & np.uint32(0xFFFFFF)
            if inside == is_space:  # a word begins or ends
                places[k] = at
                k += 1
                buffer[at] = SPACE_BYTE
                at += 1
                if inside:
                    reach[word:k] = k
                    word = k
                inside = not inside
            if not is_space:
                places[k] = at
                k += 1
                at = encode_to(buffer, at, c)
            i += length
        edges[d + 1] = k
    return at


@kernel
def list_spans(
    places, reach, edges, position, document, shortest, longest, by_word, begin, end, counts
):
    """N-grams that begin at ``position`` and after it, as many as fit.

    A word shorter than every n counts once, whole.
    """
    k = 0
    while position < edges[-1] and k < CALL_SPANS:
        while position >= edges[document + 1]:
            document += 1
        before, room = k, reach[position] - position
        if room < shortest and by_word and (position == 0 or reach[position - 1] == position):
            begin[k], end[k] = places[position], places[position + room]
            k += 1
        for n in range(shortest, min(longest, room) + 1):
            begin[k], end[k] = places[position], places[position + n]
            k += 1
        counts[document] += k - before
        position += 1
    return position, document, k

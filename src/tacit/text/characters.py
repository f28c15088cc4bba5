"""Unicode characters: their class for the tokenizer, their lower case, UTF-8 and normal form C.

A table holds the class of every character above bit 24 and what it is written as below. It is
built from Python's character data when first used, in about 20 ms.

    SEPARATOR   ends a word: spaces, punctuation, most symbols, controls
    WORD        letters, digits, the underscore
    MARK        accents and vowel signs: continue whatever they follow
    RUN         scripts written without spaces (Han, kana, Thai, Lao, Khmer, Burmese, ...)
    EMOJI       a token by itself; MODIFIER (skin tone, tag) and joined emoji continue it
    REGIONAL    two of them make a flag
    JOINER      zero-width joiners: stay inside a word or between two emoji, else are dropped
    MIDDLE      apostrophes and hyphens of rule="words": as a joiner inside a word
    DROPPED     soft hyphens, variation selectors, direction marks: ignored
    SPACE       white space of the character n-grams

In normal form C an accented letter is one character. ASCII needs nothing; elsewhere a kernel
finds the documents with a character that may need composing, and Python composes those alone.
Kernels decode UTF-8 without checks: a ``Text`` holds valid UTF-8.
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.data.text_block import Text
from tacit.kernels.call_ranges import call_ranges

__all__ = [
    "Characters", "characters_of_class", "characters_of_rule", "plain_characters",
    "CALL_TEXT", "compose", "decode_at", "encode_to", "is_ascii",
]  # fmt: skip

CALL_TEXT = 2**24  # bytes between two returns to Python: well under 200 ms

SEPARATOR, WORD, MARK, RUN, EMOJI, MODIFIER, REGIONAL = range(7)
JOINER, MIDDLE, DROPPED, SPACE = range(7, 11)

RECHECK = np.uint32(1 << 31)  # this character may need normalizing, or lowering in context
BY_CONTEXT = "\u0130\u03a3"  # I with a dot, capital sigma
SIZE = 0x110000
LISTED = 0x20000  # the planes whose characters differ; above are ideographs, tags, private use
LETTERS = ("Lu", "Ll", "Lt", "Lm", "Lo")
NUMBERS = ("Nd", "Nl", "No")
MARKS = ("Mn", "Mc", "Me")

UNSPACED = [
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),  # Burmese
    (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF),  # Khmer, Tai Le, Tai Lue, Tai Tham
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x303C),  # ideographic marks and numerals
    (0x3041, 0x30FF), (0x3100, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF),  # kana, bopomofo
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF),  # Han
    (0xFF66, 0xFF9F), (0x1AFF0, 0x1B16F), (0x16FE0, 0x18CFF),  # more kana, Tangut, Khitan
]  # fmt: skip
PICTURES = [
    (0x231A, 0x231B), (0x2328, 0x2328), (0x23CF, 0x23CF), (0x23E9, 0x23FA),
    (0x25FB, 0x25FE), (0x2600, 0x27BF), (0x2934, 0x2935), (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55), (0x1F000, 0x1FAFF),
]  # fmt: skip
SKIN = (0x1F3FB, 0x1F3FF)
TAGS = (0xE0020, 0xE007F)
FLAG_LETTERS = (0x1F1E6, 0x1F1FF)
SELECTORS = [(0xFE00, 0xFE0F), (0xE0100, 0xE01EF), (0x180B, 0x180D)]
JOINERS = (0x200C, 0x200D)
MIDDLES = "'\u2019\u02bc\uff07-\u2010\u2011"  # apostrophes and hyphens


class Characters(NamedTuple):
    """A table for the kernels."""

    codes: np.ndarray  # (0x110000,) uint32: RECHECK | class << 24 | the character it becomes
    ascii: np.ndarray  # (256,) uint8: what a word byte becomes; 0 elsewhere
    simple: bool  # ASCII text holds words and separators, and nothing else


@cache
def characters_of_rule(rule: str, lowercase: bool) -> Characters:
    """The table for rule "plain" or "words"."""
    kind = np.zeros(SIZE, np.uint8)
    categories = np.array(list(map(unicodedata.category, map(chr, range(LISTED)))))
    listed = kind[:LISTED]
    listed[np.isin(categories, [*LETTERS, *NUMBERS])] = WORD
    listed[np.isin(categories, MARKS)] = MARK
    listed[categories == "Cf"] = DROPPED
    listed[ord("_")] = WORD
    for first, last in PICTURES:
        part = kind[first : last + 1]
        part[part == SEPARATOR] = EMOJI  # enclosed digits among them stay words
    for first, last in UNSPACED:
        part = kind[first : last + 1]
        digits = categories[first : last + 1] == "Nd"
        part[(part == WORD) & ~digits] = RUN
    kind[LISTED:0x40000] = RUN  # every ideograph, assigned or not
    fill(kind, SKIN, MODIFIER)
    fill(kind, TAGS, MODIFIER)
    fill(kind, FLAG_LETTERS, REGIONAL)
    for selectors in SELECTORS:
        fill(kind, selectors, DROPPED)
    fill(kind, JOINERS, JOINER)
    if rule == "words":
        kind[[ord(c) for c in MIDDLES]] = MIDDLE
    return pack(kind, lowercase)


@lru_cache(maxsize=16)  # users may give any number of patterns
def characters_of_class(atom: str, lowercase: bool) -> Characters:
    r"""Word characters are those that a regular expression for one character matches.

    >>> table = characters_of_class("[a-c]", False)
    >>> [chr(b) for b in table.ascii if b]
    ['a', 'b', 'c']
    """
    kind = np.zeros(SIZE, np.uint8)
    for match in re.finditer(f"{atom}+", every_character()):
        kind[match.start() : match.end()] = WORD
    kind[0xD800:0xE000] = SEPARATOR
    return pack(kind, lowercase, folded=kind)


@cache
def plain_characters(lowercase: bool) -> Characters:
    """For character n-grams: white space, and everything else."""
    kind = np.full(SIZE, WORD, np.uint8)
    kind[[i for i in range(0x3001) if chr(i).isspace()]] = SPACE
    return pack(kind, lowercase)


def pack(kind: np.ndarray, lowercase: bool, folded: np.ndarray | None = None) -> Characters:
    codes = lower_case().copy() if lowercase else np.arange(SIZE, dtype=np.uint32)
    if folded is not None:
        kind = folded[codes]  # the pattern applies to text in lower case
    head = np.zeros(256, np.uint8)
    is_word = kind[:128] == WORD
    head[:128][is_word] = codes[:128][is_word]
    simple = bool(np.isin(kind[:128], (SEPARATOR, WORD)).all())
    packed = codes | kind.astype(np.uint32) << 24
    packed[may_compose()] |= RECHECK
    if lowercase:
        packed[[ord(c) for c in BY_CONTEXT]] |= RECHECK
    return Characters(packed, head, simple)


@cache
def lower_case() -> np.ndarray:
    """str.lower, for one character at a time.

    Two depend on more than themselves and are left to Python: U+0130 becomes two
    characters, and capital sigma depends on its place in the word.
    """
    codes = np.arange(SIZE, dtype=np.uint32)
    text = every_character()[:LISTED]
    for character, one in zip(BY_CONTEXT, "i\u03c3", strict=True):
        text = text.replace(character, one)
    codes[:LISTED] = np.frombuffer(text.lower().encode("utf-32-le"), np.uint32)
    codes[0xD800:0xE000] = np.arange(0xD800, 0xE000)
    return codes


@cache
def may_compose() -> np.ndarray:
    """Characters that normal form C excludes, or allows only in some places.

    Text without any of them is in normal form C.
    """
    codes = {i for i in range(LISTED) if unicodedata.combining(chr(i))}
    codes.update(range(0x1161, 0x1176), range(0x11A8, 0x11C3))  # Hangul vowels and finals
    for i in (*range(LISTED), *range(0x2F800, 0x2FA20)):
        parts = unicodedata.decomposition(chr(i))
        if parts and parts[0] != "<":
            codes.update(int(part, 16) for part in parts.split()[1:])
            if unicodedata.normalize("NFC", chr(i)) != chr(i):
                codes.add(i)
    return np.array(sorted(codes))


@cache
def every_character() -> str:
    """All characters in order; a space where there is no character but a surrogate."""
    codes = np.arange(SIZE, dtype="<u4")
    codes[0xD800:0xE000] = ord(" ")
    return codes.tobytes().decode("utf-32-le")


def fill(kind: np.ndarray, span: tuple[int, int], value: int) -> None:
    kind[span[0] : span[1] + 1] = value


def compose(text: Text, characters: Characters, lowercase: bool) -> tuple[Text, np.ndarray]:
    """The text in normal form C, and which of its documents are ASCII.

    Python reads only documents with a character that may need composing, and those whose
    lower case depends on more than one character.
    """
    plain = text.ascii
    if plain is None:
        plain = np.full(len(text), len(text.data) == 0 or int(text.data.max()) < 128)
        if not plain.all():
            find_ascii(text.data, text.starts, text.stops, plain)
    if plain.all():
        return text, plain
    composable = np.zeros(len(text), np.bool_)
    for first, last in call_ranges(text.stops - text.starts, CALL_TEXT):
        check_stop()
        find_composable(
            text.data, text.starts, text.stops, first, last, characters.codes, plain, composable
        )
    rows, strings = [], []
    for i in np.flatnonzero(composable).tolist():
        old = text.string(i)
        new = unicodedata.normalize("NFC", old)
        if lowercase and any(c in new for c in BY_CONTEXT):
            new = new.lower()
        if new != old:
            rows.append(i)
            strings.append(new)
    return text.with_strings(rows, strings) if rows else text, plain


@kernel(inline="always")
def decode_at(data, i):
    """The character at byte i and how long it is."""
    b = np.uint32(data[i])
    if b < 0x80:
        return b, 1
    if b < 0xE0:
        return (b & np.uint32(0x1F)) << np.uint32(6) | tail(data, i + 1), 2
    if b < 0xF0:
        high = (b & np.uint32(0x0F)) << np.uint32(12) | tail(data, i + 1) << np.uint32(6)
        return high | tail(data, i + 2), 3
    high = (b & np.uint32(0x07)) << np.uint32(18) | tail(data, i + 1) << np.uint32(12)
    return high | tail(data, i + 2) << np.uint32(6) | tail(data, i + 3), 4


@kernel(inline="always")
def tail(data, i):
    return np.uint32(data[i]) & np.uint32(0x3F)


@kernel
def encode_to(buffer, at, c):
    """Write a character; where the next one goes."""
    if c < 0x80:
        buffer[at] = c
        return at + 1
    if c < 0x800:
        buffer[at] = 0xC0 | c >> 6
        buffer[at + 1] = 0x80 | c & 0x3F
        return at + 2
    if c < 0x10000:
        buffer[at] = 0xE0 | c >> 12
        buffer[at + 1] = 0x80 | c >> 6 & 0x3F
        buffer[at + 2] = 0x80 | c & 0x3F
        return at + 3
    buffer[at] = 0xF0 | c >> 18
    buffer[at + 1] = 0x80 | c >> 12 & 0x3F
    buffer[at + 2] = 0x80 | c >> 6 & 0x3F
    buffer[at + 3] = 0x80 | c & 0x3F
    return at + 4


@kernel
def is_ascii(data, start, stop):
    """Whether all bytes are ASCII."""
    any_high = np.uint8(0)
    for i in range(start, stop):
        any_high |= data[i]
    return any_high < 0x80


@kernel
def find_ascii(data, starts, stops, plain):
    """Mark the documents that are ASCII."""
    for d in range(len(starts)):
        plain[d] = is_ascii(data, starts[d], stops[d])


@kernel
def find_composable(data, starts, stops, first, last, codes, plain, composable):
    """Mark the documents that hold a character marked RECHECK."""
    for d in range(first, last):
        if plain[d]:
            continue
        i = starts[d]
        while i < stops[d]:
            c, length = decode_at(data, i)
            if codes[c] & RECHECK:
                composable[d] = True
                break
            i += length

"""What every Unicode character is to the tokenizer, and its lower case, as one table.

An entry packs the class of a character above bit 24 and what it is written as below. The
table is made from Python's own character data when first asked for, in about 20 ms.

    SEPARATOR   ends a word: spaces, punctuation, most symbols, controls
    WORD        letters, digits, the underscore
    MARK        accents and vowel signs: continue whatever they follow
    RUN         scripts written without spaces (Han, kana, Thai, Lao, Khmer, Burmese, ...)
    EMOJI       a token by itself; MODIFIER (skin tone, tag) and joined emoji continue it
    REGIONAL    two of them make a flag
    JOINER      zero-width joiners: stay inside a word or between two emoji, else are dropped
    MIDDLE      apostrophes and hyphens of rule="words": as a joiner inside a word
    DROPPED     soft hyphens, variation selectors, direction marks: as if they were not there
    SPACE       what the character n-grams take for white space
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

__all__ = ["Characters", "characters_of_class", "characters_of_rule", "plain_characters"]

SEPARATOR, WORD, MARK, RUN, EMOJI, MODIFIER, REGIONAL = range(7)
JOINER, MIDDLE, DROPPED, SPACE = range(7, 11)

LOOK = np.uint32(1 << 31)  # this character may need normalizing, or lowering in context
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

    codes: np.ndarray  # (0x110000,) uint32: LOOK | class << 24 | the character it becomes
    ascii: np.ndarray  # (256,) uint8: what a word byte becomes; 0 elsewhere
    simple: bool  # ASCII text needs to know words from separators, and nothing else


@cache
def characters_of_rule(rule: str, lowercase: bool) -> Characters:
    """The table of rule "plain" or "words"."""
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
    kind[LISTED:0x40000] = RUN  # every ideograph that is, or will be
    fill(kind, SKIN, MODIFIER)
    fill(kind, TAGS, MODIFIER)
    fill(kind, FLAG_LETTERS, REGIONAL)
    for selectors in SELECTORS:
        fill(kind, selectors, DROPPED)
    fill(kind, JOINERS, JOINER)
    if rule == "words":
        kind[[ord(c) for c in MIDDLES]] = MIDDLE
    return pack(kind, lowercase)


@lru_cache(maxsize=16)  # users may think of any number of them
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
        kind = folded[codes]  # the pattern sees the text after lowering
    head = np.zeros(256, np.uint8)
    is_word = kind[:128] == WORD
    head[:128][is_word] = codes[:128][is_word]
    simple = bool(np.isin(kind[:128], (SEPARATOR, WORD)).all())
    packed = codes | kind.astype(np.uint32) << 24
    packed[may_compose()] |= LOOK
    if lowercase:
        packed[[ord(c) for c in BY_CONTEXT]] |= LOOK
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
    """Characters that a text in normal form C does not hold, or not everywhere.

    Text without any of them is in normal form already.
    """
    look = {i for i in range(LISTED) if unicodedata.combining(chr(i))}
    look.update(range(0x1161, 0x1176), range(0x11A8, 0x11C3))  # Hangul vowels and finals
    for i in (*range(LISTED), *range(0x2F800, 0x2FA20)):
        parts = unicodedata.decomposition(chr(i))
        if parts and parts[0] != "<":
            look.update(int(part, 16) for part in parts.split()[1:])
            if unicodedata.normalize("NFC", chr(i)) != chr(i):
                look.add(i)
    return np.array(sorted(look))


@cache
def every_character() -> str:
    """All characters in order; a space where there is no character but a surrogate."""
    codes = np.arange(SIZE, dtype="<u4")
    codes[0xD800:0xE000] = ord(" ")
    return codes.tobytes().decode("utf-32-le")


def fill(kind: np.ndarray, span: tuple[int, int], value: int) -> None:
    kind[span[0] : span[1] + 1] = value

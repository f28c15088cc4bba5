"""The words of a text: their positions, lower-case keys, and how to restore their case.

A word is a run of letters, with apostrophes inside it; a hyphen separates words. Numbers and
words with digits are tokens but never corrected. A sentence ends at . ! ? … before white space,
and at an empty line; titles such as Mr. and initials end none.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Token", "match_case", "key_of", "sentences_of", "tokens_of", "words_of_text"]

LETTERS = r"(?:[^\W_][\u0300-\u036f]*)+"  # a letter or digit, with its marks
TOKEN = re.compile(f"{LETTERS}(?:['’]{LETTERS})*")
TITLES = ("Mr", "Mrs", "Ms", "Dr", "St", "Mt", "Prof", "Rev", "Gen", "Col", "Capt", "Lt", "Sgt")
STOP = r"\." + "".join(rf"(?<!\b{title}\.)" for title in TITLES) + r"(?<!\b[A-HJ-Z]\.)"
END = re.compile(rf"(?:{STOP}|[!?…])[\"'”’)\]]*\s|\n\s*\n")


class Token(NamedTuple):
    """A word of a text."""

    start: int
    stop: int
    text: str
    key: str  # as the vocabulary has it
    fixed: bool  # never corrected: it has a digit, or capitals inside
    first: bool  # of its sentence
    address: bool  # part of a web or mail address


def key_of(word: str) -> str:
    """A word as vocabularies hold it: composed, in lower case, with a straight apostrophe.

    >>> key_of("Don’t")
    "don't"
    """
    return unicodedata.normalize("NFC", word).lower().replace("’", "'")


def tokens_of(text: str) -> Iterator[Token]:
    """The words of a text, and which of them begin a sentence.

    >>> [t.key for t in tokens_of("Well-known: don’t. See x@y.org, R2D2!") if not t.fixed]
    ['well', 'known', "don't", 'see']
    """
    ends = iter(match.end() for match in END.finditer(text))
    end, first = next(ends, len(text) + 1), True
    for match in TOKEN.finditer(text):
        start, stop = match.span()
        while start >= end:
            end, first = next(ends, len(text) + 1), True
        word = match[0]
        after, before = text[stop : stop + 2], text[max(0, start - 1) : start]
        address = before in ("@", "/", "#", "\\") or after[:1] in ("@", "/", "\\")
        address = address or (after[:1] == "." and after[1:].isalnum())
        address = address or (before == "." and start > 1 and text[start - 2].isalnum())
        yield Token(
            start, stop, word, key_of(word), not is_plain(word) or address, first, address
        )  # fmt: skip
        first = False


def is_plain(word: str) -> bool:
    """Letters without digits, in lower case, capitals or with a first capital."""
    if not word.isalpha() and any(c.isnumeric() for c in word):
        return False
    has_case = word.lower() != word.upper()
    return word.islower() or word.isupper() or word[1:].islower() or not has_case


def sentences_of(text: str) -> list[list[str]]:
    """The words of each sentence, as vocabularies hold them.

    >>> sentences_of("It rains. In Spain\\nit does not.\\n\\nOr so")
    [['it', 'rains'], ['in', 'spain', 'it', 'does', 'not'], ['or', 'so']]
    """
    return list(filter(None, map(words_of_text, END.split(text))))


def words_of_text(text: str) -> list[str]:
    """All words, sentences aside."""
    return [key_of(match[0]) for match in TOKEN.finditer(text)]


def match_case(word: str, pattern: str) -> str:
    """``word`` with the capitals and the kind of apostrophe that ``pattern`` has.

    >>> match_case("their", "Thier"), match_case("their", "THIER"), match_case("i", "A")
    ('Their', 'THEIR', 'I')
    """
    if "’" in pattern:
        word = word.replace("'", "’")
    if pattern.isupper() and len(pattern) > 1:
        return word.upper()
    if pattern[:1].isupper():
        return word[:1].upper() + word[1:]
    return word

"""Tokens of text, by one kernel pass over UTF-8 bytes.

The default rule gives the tokens of scikit-learn's vectorizers on ASCII text: runs of two or
more letters, digits and underscores, in lower case. Elsewhere it keeps words whole:

    accents     text is brought to normal form C first; marks stay with their letter
    no spaces   Chinese, Japanese, Thai, Lao, Khmer and Burmese runs become overlapping pairs
                of characters (with their marks); a character on its own is a token
    emoji       each is a token; skin tones, joined sequences and flags stay together, and
                variation selectors are dropped
    lower case  as str.lower: ß stays ß, İ becomes i and a dot above, capital sigma becomes
                its final form at the end of a word

Apostrophes and hyphens separate words. rule="words" keeps them inside a word ("don't",
"well-known") and keeps words of one letter too.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.string_array import decode_slices
from tacit.data.text_block import Text, text_of
from tacit.kernels.call_ranges import call_ranges
from tacit.kernels.hashing import padded
from tacit.text.characters import (
    CALL_TEXT,
    DROPPED,
    EMOJI,
    JOINER,
    LISTED,
    MARK,
    MIDDLE,
    MODIFIER,
    REGIONAL,
    RUN,
    WORD,
    Characters,
    characters_of_class,
    characters_of_rule,
    compose,
    decode_at,
    encode_to,
)

__all__ = ["RULES", "Spans", "TokenRule", "split", "token_rule", "tokenize"]

RULES = {"plain": 2, "words": 1}  # and the length of the shortest word they keep
IN_WORD, IN_RUN, IN_EMOJI, IN_FLAG = 1, 2, 3, 4
U = np.uint64


@dataclass(frozen=True)
class TokenRule:
    """The definition of a word."""

    rule: str = "plain"
    lowercase: bool = True
    min_length: int = 2
    atom: str | None = None  # a regular expression for one character, in place of the rule

    def characters(self) -> Characters:
        """The class of every character under this rule."""
        if self.atom is not None:
            return characters_of_class(self.atom, self.lowercase)
        return characters_of_rule(self.rule, self.lowercase)


class Spans(NamedTuple):
    """Tokens as places in a buffer of text in lower case."""

    buffer: np.ndarray  # uint8, from padded()
    begin: np.ndarray  # int32, one per token
    end: np.ndarray  # int32
    edges: np.ndarray  # int64, (documents + 1,): the tokens of each document

    def strings(self) -> list[str]:
        """The tokens as strings."""
        return decode_slices(self.buffer, self.begin, self.end)


def tokenize(
    text: str,
    *,
    rule: str = "plain",
    lowercase: bool = True,
    min_length: int | None = None,
    numbers: bool = True,
    stop_words: Collection[str] = (),
) -> list[str]:
    """Split one text into words.

    Parameters
    ----------
    text : str
    rule : {"plain", "words"}
        "plain" is the vectorizers' default; "words" keeps apostrophes and hyphens inside
        words, and words of one letter.
    lowercase : bool
        Whether to lower the case first.
    min_length : int or None
        The shortest word to keep, in characters: 2 for "plain" and 1 for "words" unless
        given. Emoji and characters of scripts without spaces are always kept.
    numbers : bool
        Whether to keep tokens without a letter in them.
    stop_words : collection of str
        Words to leave out.

    Examples
    --------
    >>> tokenize("Don't panic: the 2 well-known ways.")
    ['don', 'panic', 'the', 'well', 'known', 'ways']
    >>> tokenize("Don't panic: the 2 well-known ways.", rule="words")
    ["don't", 'panic', 'the', '2', 'well-known', 'ways']
    >>> tokenize("Étude à 東京都 👍🏽")
    ['étude', '東京', '京都', '👍🏽']
    """
    if not isinstance(text, str):
        raise TypeError(
            f"tokenize takes one str, but got {type(text).__name__}. "
            "For many documents, use CountVectorizer or call it for each."
        )
    spans = split(text_of([text]), token_rule(rule, lowercase, min_length))
    left_out = frozenset(stop_words)
    return [w for w in spans.strings() if w not in left_out and (numbers or not is_number(w))]


def token_rule(rule: str, lowercase: bool, min_length: int | None) -> TokenRule:
    """A checked rule."""
    if rule not in RULES:
        raise ValueError(f"rule={rule!r} is unknown; choose from {list(RULES)}.")
    if min_length is None:
        min_length = RULES[rule]
    if min_length < 1:
        raise ValueError(f"min_length={min_length} must be at least 1.")
    return TokenRule(rule, bool(lowercase), int(min_length))


def is_number(word: str) -> bool:
    """Whether a word has a digit and no letter.

    >>> [is_number(w) for w in ("1984", "3_4", "b2", "👍")]
    [True, True, False, False]
    """
    return any(c.isnumeric() for c in word) and not any(c.isalpha() for c in word)


def split(text: Text, rule: TokenRule) -> Spans:
    """Find the words of every document."""
    characters = rule.characters()
    text, is_ascii = compose(text, characters, rule.lowercase)
    n, size = len(text), int((text.stops - text.starts).sum())
    # Lower case may take a byte more.
    buffer = padded(size if is_ascii.all() else size + size // 2)
    begin, end = np.empty(size // 2 + n + 2, np.int32), np.empty(size // 2 + n + 2, np.int32)
    edges = np.zeros(n + 1, np.int64)
    fast = is_ascii & characters.simple  # these documents take the ASCII kernel
    at = 0
    data = text.data.view()
    data.flags.writeable = False  # as in mapped files: one kernel for both
    for first, last in call_ranges(text.stops - text.starts, CALL_TEXT):
        check_stop()
        at = split_documents(
            data, text.starts, text.stops, first, last, characters.codes,
            characters.ascii, fast, rule.min_length, buffer, at, begin, end, edges,
        )  # fmt: skip
    count = edges[-1]
    return Spans(buffer, begin[:count], end[:count], edges)


@kernel
def split_documents(
    data, starts, stops, first, last, codes, head, fast, shortest, buffer, at, begin, end, edges
):
    """Words of the documents ``first`` to ``last``; returns where the buffer ends."""
    k, longest = edges[first], 0
    for d in range(first, last):
        longest = max(longest, stops[d] - starts[d])
    bounds = np.empty(longest + 2, np.int32)
    for d in range(first, last):
        if fast[d]:
            k = split_ascii(
                data, starts[d], stops[d], head, shortest, buffer, at, bounds, begin, end, k
            )
            at += stops[d] - starts[d]
        else:
            at, k = split_unicode(
                data, starts[d], stops[d], codes, shortest, buffer, at, begin, end, k
            )
        edges[d + 1] = k
    return at


@kernel
def split_ascii(data, start, stop, head, shortest, buffer, at, bounds, begin, end, k):
    """Words of an ASCII document, without a branch in the loop over its bytes.

    Unsigned indices: signed ones would be checked for counting from the end.
    """
    size, inside, changes, i = U(stop - start), U(0), U(0), U(0)
    source, out = data[start:stop], buffer[at : at + stop - start]
    while i < size:
        c = head[source[i]]
        out[i] = c
        word = U(c != 0)
        bounds[changes] = i  # stays only if a word begins or ends here
        changes += word ^ inside
        inside = word
        i += U(1)
    bounds[changes] = size
    changes += inside
    t, k = U(0), U(k)
    while t < changes:
        first, last = bounds[t], bounds[t + U(1)]
        begin[k], end[k] = at + first, at + last
        k += U(last - first >= shortest)
        t += U(2)
    return np.int64(k)


@kernel
def split_unicode(data, start, stop, codes, shortest, buffer, at, begin, end, k):
    """Words, pairs in scripts without spaces, and emoji of any document."""
    mode = 0
    token = at  # where the token, or the latest character of a run, begins
    before = -1  # where the character before it begins
    count = 0  # characters in the word
    waiting = np.uint32(0)  # a joiner that counts only if the word goes on
    i = start
    while i < stop:
        c, length = decode_at(data, i)
        i += length
        kind = codes[c] >> np.uint32(24) & np.uint32(0x0F)
        c = codes[c] & np.uint32(0xFFFFFF)
        if kind == DROPPED:
            continue
        if mode == IN_WORD:
            if kind in (WORD, MARK):
                if waiting:
                    at = encode_to(buffer, at, waiting)
                    count += 1
                    waiting = np.uint32(0)
                at = encode_to(buffer, at, c)
                count += 1
                continue
            if kind in (JOINER, MIDDLE) and not waiting:
                waiting = c
                continue
            if count >= shortest:
                begin[k], end[k] = token, at
                k += 1
            waiting = np.uint32(0)
        elif mode == IN_RUN:
            if kind == MARK:
                at = encode_to(buffer, at, c)
                continue
            if kind == JOINER:
                continue
            if kind == RUN:
                if before >= 0:
                    begin[k], end[k] = before, at
                    k += 1
                before, token = token, at
                at = encode_to(buffer, at, c)
                continue
            begin[k], end[k] = token if before < 0 else before, at
            k += 1
        elif mode == IN_EMOJI:
            if kind in (MARK, MODIFIER):
                at = encode_to(buffer, at, c)
                continue
            if kind == JOINER and not waiting:
                waiting = c
                continue
            if kind == EMOJI and waiting:
                at = encode_to(buffer, at, waiting)
                at = encode_to(buffer, at, c)
                waiting = np.uint32(0)
                continue
            begin[k], end[k] = token, at
            k += 1
            waiting = np.uint32(0)
        elif mode == IN_FLAG:
            if kind == REGIONAL:
                at = encode_to(buffer, at, c)
            begin[k], end[k] = token, at
            k += 1
            if kind == REGIONAL:
                mode = 0
                continue
        mode = 0
        if kind == WORD:
            mode, count = IN_WORD, 1
        elif kind == RUN:
            mode, before = IN_RUN, -1
        elif kind == EMOJI or (kind == MODIFIER and c < LISTED):
            mode = IN_EMOJI
        elif kind == REGIONAL:
            mode = IN_FLAG
        if mode:
            token = at
            at = encode_to(buffer, at, c)
    if mode == IN_WORD and count < shortest:
        mode = 0
    if mode:
        begin[k], end[k] = before if mode == IN_RUN and before >= 0 else token, at
        k += 1
    return at, k

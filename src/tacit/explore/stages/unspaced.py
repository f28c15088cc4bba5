"""Words of scripts without spaces, from the pairs of characters that are counted.

A pair is extended by the character that stands beside it in most of its places; it is a word
where different characters stand on both sides, and no particle is in it. A pair across the
border of two words is none.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tacit.explore.stages.wording import is_particle, runs_in
from tacit.text.characters import UNSPACED

__all__ = ["is_run", "whole_words", "with_whole_words", "word_of_pair"]

FEWEST = 3  # places of a longer word
MOST = 0.6  # of the places of a word that must be beside one character, to extend it
LONGEST, MOST_PLACES = 6, 1000  # characters of a word; its places


def is_run(word: str) -> bool:
    """Whether a word is in a script without spaces."""
    return any(a <= ord(c) <= b for c in word for a, b in UNSPACED)


def whole_words(documents: Any, words: Iterable[str]) -> dict[str, str | None]:
    """The pairs of characters of scripts without spaces among the words, each with the word
    that it is from in the documents; None where a pair crosses the border of two."""
    pairs = sorted({word for word in words if is_run(word)})
    text = "\n".join(runs_in(documents)) if pairs else ""
    return {pair: word_of_pair(text, pair) for pair in pairs}


def with_whole_words(rows: list[list[Any]], whole: dict[str, str | None]) -> list[list[Any]]:
    """Rows that begin with a word, with whole words for pairs of characters, each once.

    >>> rows = [["ラリ", 3], ["sea", 2], ["ブラ", 2], ["ブル", 1]]
    >>> with_whole_words(rows, {"ラリ": "ライブラリ", "ブラ": "ライブラリ", "ブル": None})
    [['ライブラリ', 3], ['sea', 2]]
    """
    out: dict[str, list[Any]] = {}
    for word, *values in rows:
        if (shown := whole.get(word, word)) is not None:
            out.setdefault(shown, [shown, *values])
    return list(out.values()) or rows


def word_of_pair(text: str, pair: str) -> str | None:
    """A pair of characters extended to the word it is from; None across a border."""
    word: str | None = pair
    while word is not None and len(word) < LONGEST:
        pair, word = word, extended(text, word)
    return pair if stands_alone(text, pair) else None


def sides(text: str, word: str) -> tuple[Counter[str], Counter[str], int]:
    """The characters before and after the first places of a word, and the number of these."""
    before, after = Counter[str](), Counter[str]()
    at, total = text.find(word), 0
    while at >= 0 and total < MOST_PLACES:
        total, end = total + 1, at + len(word)
        before[text[at - 1] if at else "\n"] += 1
        after[text[end] if end < len(text) else "\n"] += 1
        at = text.find(word, at + 1)
    return before, after, total


def extended(text: str, word: str) -> str | None:
    """The word with the character that stands before or after it most of the time."""
    before, after, total = sides(text, word)
    options = [(count, c + word, c) for c, count in before.items()]
    options += [(count, word + c, c) for c, count in after.items()]
    kana = is_katakana(word[0])
    fits = [each for each in options if is_katakana(c := each[2]) == kana and not is_border(c)]
    count, longer, _ = max(fits, default=(0, "", ""))
    return longer if total >= FEWEST and count >= MOST * total else None


def stands_alone(text: str, word: str) -> bool:
    """Whether different characters stand on both sides of it, and no particle is in it; a word
    in katakana has no katakana beside it."""
    kana = sum(map(is_katakana, word))
    if any(map(is_particle, word)) or 0 < kana < len(word):
        return False
    *both, total = sides(text, word)
    if kana:
        beside = sum(count for side in both for c, count in side.items() if is_katakana(c))
        if beside > (1 - MOST) * total:
            return False
    inside = [max((n for c, n in side.items() if not is_border(c)), default=0) for side in both]
    return total > 0 and all(
        "\n" in side or most < MOST * total for side, most in zip(both, inside, strict=True)
    )


def is_border(c: str) -> bool:
    """Whether a character is no part of the word beside it: the end of a run, a particle."""
    return c == "\n" or is_particle(c)


def is_katakana(c: str) -> bool:
    return "\u30a0" <= c <= "\u30ff" or "\uff66" <= c <= "\uff9f"

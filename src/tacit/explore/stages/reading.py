"""How documents read: how long, how long their sentences and words, how varied, how easy.

    words per sentence    a sentence ends at . ! ? … before a space and no small letter, or at a
                          blank line; the points of initials and of Mr. and Dr. end none. Not
                          measured where most texts of 100 words or more have no such ends
    variety               type-token ratio in a window of 50 words that moves through the
                          document (MATTR), because the plain ratio falls with length
    used once             of the different words of a document, those it uses once
    reading ease          206.835 - 1.015 words per sentence - 84.6 syllables per word, of
                          English documents of 100 words or more; syllables are runs of vowels

Covington and McFall (2010), Cutting the Gordian knot: the moving-average type-token ratio.
Journal of Quantitative Linguistics 17. Flesch (1948), A new readability yardstick. Journal of
Applied Psychology 32.
"""

from typing import Any, NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.explore.stages.languages import UNKNOWN
from tacit.explore.stages.stage import Context, Output

__all__ = ["MEASURES", "WINDOW", "quartiles", "read_documents"]

WINDOW = 50  # words
LEAST_WORDS = 100  # for reading ease, as Flesch's samples had
MOST_WORDS = 100  # in a sentence on average; more are a text without marks
MEASURES = ("words", "sentence_words", "word_letters", "variety", "once", "ease")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def read_documents(context: Context) -> Output:
    """Every measure of every document; NaN where it makes no sense."""
    documents = context.documents()
    if not len(documents):
        return Output(skipped="There are no documents.")
    parts = list(context.engine.map(read_block, None, documents))
    read = Read(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    if not read.words.any():
        return Output(skipped="No document holds a word.")
    arrays = measures_of(read, english(context, len(documents)))
    return Output(
        arrays={**arrays, "sentences": read.sentences},
        facts={
            "measures": {name: quartiles(arrays[name]) for name in MEASURES},
            "sentences": int(read.sentences.sum()),
            "words": int(read.words.sum()),
            "window": WINDOW,
            "least_words": LEAST_WORDS,
        },
    )


class Read(NamedTuple):
    """Sums of every document."""

    words: np.ndarray
    sentences: np.ndarray
    letters: np.ndarray
    syllables: np.ndarray
    types: np.ndarray
    once: np.ndarray
    variety: np.ndarray  # float64


def read_block(params: None, text: Any) -> Read:
    """The sums of the documents of one block."""
    from tacit.text.terms import intern
    from tacit.text.tokens import split, token_rule

    terms = intern(split(text, token_rule("words", True, None)))
    ids, edges, words = terms.streams[0], terms.edges, terms.vocabulary
    n = len(text)
    sentences = np.zeros(n, np.int64)
    count_sentences(text.data, text.starts, text.stops, sentences)
    sizes, voiced = np.zeros(len(words), np.int64), np.zeros(len(words), np.int64)
    measure_words(words.data, words.offsets, sizes, voiced)
    sums, variety = np.zeros((4, n), np.int64), np.full(n, np.nan)
    seen = np.zeros(len(words), np.int64)
    count_words(ids, edges, sizes, voiced, seen, sums, variety, WINDOW)
    lengths = np.diff(edges)
    at_least_one = np.where(lengths > 0, np.maximum(sentences, 1), 0)
    letters, syllables, types, once = sums
    return Read(lengths, at_least_one, letters, syllables, types, once, variety)


def measures_of(read: Read, is_english: np.ndarray) -> dict[str, np.ndarray]:
    words = read.words
    some = words > 0
    per_sentence = ratio(words, read.sentences, marked(read) & some)
    syllables = ratio(read.syllables, words, some)
    ease = 206.835 - 1.015 * per_sentence - 84.6 * syllables
    found = {
        "words": np.where(some, words, np.nan),
        "sentence_words": per_sentence,
        "word_letters": ratio(read.letters, words, some),
        "variety": read.variety,
        "once": ratio(read.once, read.types, words >= WINDOW),  # of few words all are used once
        "ease": np.where(is_english & (words >= LEAST_WORDS), ease, np.nan),
    }
    return {name: values.astype(np.float32) for name, values in found.items()}


def marked(read: Read) -> np.ndarray:
    """Which documents show where their sentences end: none if most long ones do not."""
    long = read.words >= LEAST_WORDS
    endless = long & (read.words > MOST_WORDS * read.sentences)
    return ~endless & (2 * endless.sum() <= long.sum())


def english(context: Context, n: int) -> np.ndarray:
    """Which documents are in English, as far as that is known."""
    if context.skipped("language_guess"):
        return np.zeros(n, np.bool_)
    found = context.arrays("language_guess")
    guess, codes = found["language"], context.facts("language_guess")["codes"]
    return guess == (codes.index("en") if "en" in codes else UNKNOWN - 1)


def ratio(a: np.ndarray, b: np.ndarray, where: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.full(len(a), np.nan), where=where & (b > 0))


def quartiles(values: np.ndarray) -> dict[str, Any] | None:
    """How many documents have the measure, and its 5%, 25%, 50%, 75% and 95% quantiles.

    >>> quartiles(np.array([1.0, 2.0, 3.0, np.nan]))
    {'documents': 3, 'at': [1.1, 1.5, 2.0, 2.5, 2.9]}
    """
    known = values[~np.isnan(values)].astype(np.float64)
    if not len(known):
        return None
    at = np.quantile(known, QUANTILES)
    return {"documents": len(known), "at": [round(float(v), 4) for v in at]}


# --- Kernels ---


@kernel
def count_words(ids, edges, sizes, syllables, seen, sums, variety, window):
    """Letters, syllables, different words and words used once of every document, and the
    type-token ratio of a moving window. ``seen`` is all zero before and after."""
    for d in range(len(edges) - 1):
        first, last = edges[d], edges[d + 1]
        if first == last:
            continue
        letters = voiced = types = inside = total = 0
        for t in range(first, last):
            word = ids[t]
            letters += sizes[word]
            voiced += syllables[word]
            if seen[word] == 0:
                inside += 1
            seen[word] += 1
            if t - first >= window:
                gone = ids[t - window]
                seen[gone] -= 1
                if seen[gone] == 0:
                    inside -= 1
            if t - first >= window - 1:
                total += inside
        places = last - first - window + 1
        if places > 0:
            variety[d] = total / (places * window)
        for t in range(max(first, last - window), last):
            seen[ids[t]] = 0
        once = 0
        for t in range(first, last):
            seen[ids[t]] += 1
        for t in range(first, last):
            count = seen[ids[t]]
            if count > 0:
                types += 1
                once += count == 1
                seen[ids[t]] = 0
        sums[0, d], sums[1, d], sums[2, d], sums[3, d] = letters, voiced, types, once


@kernel
def measure_words(data, offsets, sizes, syllables):
    """Characters of every word, and its syllables if it is an English one: runs of vowels
    without a silent e at the end, at least one."""
    for w in range(len(offsets) - 1):
        word = data[offsets[w] : offsets[w + 1]]
        n = len(word)
        characters = runs = 0
        before = False
        for i in range(n):
            c = word[i]
            characters += (c & 0xC0) != 0x80
            vowel = is_vowel(c)
            runs += vowel and not before
            before = vowel
        if n > 2 and word[n - 1] == 101 and runs > 1:  # a silent e, but not that of "table"
            little = word[n - 2] == 108 and not is_vowel(word[n - 3])
            if not is_vowel(word[n - 2]) and not little:
                runs -= 1
        sizes[w] = characters
        syllables[w] = max(runs, 1)


@kernel
def is_vowel(c):
    return c == 97 or c == 101 or c == 105 or c == 111 or c == 117 or c == 121


@kernel
def count_sentences(data, starts, stops, sentences):
    """How many sentences each document has; what holds no letter or digit is none."""
    for d in range(len(starts)):
        text = data[starts[d] : stops[d]]
        n, found, said, i = len(text), 0, False, 0
        while i < n:
            c, size = text[i], ends_sentence(text, i)
            if size == 0 and (c >= 0x80 or is_letter(c) or 48 <= c <= 57):
                said = True
                i += 1
                continue
            blank = c == 10 and blank_line(text, i)
            if (size == 0 and not blank) or (c == 46 and shortened(text, i)):
                i += 1
                continue
            wide = size == 3 and text[i] != 0xE2  # 。！？ need no space after them
            i += max(size, 1)
            while i < n and (ends_sentence(text, i) > 0 or closes(text[i])):
                i += max(ends_sentence(text, i), 1)
            if said and (size == 0 or wide or i >= n or begins(text, i)):
                found += 1
                said = False
        sentences[d] = found + said


@kernel
def ends_sentence(text, i):
    """Bytes of the mark that ends a sentence here, or 0: . ! ? … 。 ！ ？"""
    c = text[i]
    if c == 46 or c == 33 or c == 63:
        return 1
    if i + 2 < len(text):
        b, e = text[i + 1], text[i + 2]
        if c == 0xE2 and b == 0x80 and e == 0xA6:
            return 3
        if c == 0xE3 and b == 0x80 and e == 0x82:
            return 3
        if c == 0xEF and b == 0xBC and (e == 0x81 or e == 0x9F):
            return 3
    return 0


@kernel
def shortened(text, stop):
    """Whether the point is that of an initial or of Mr., Dr., St. and the like: a capital
    and at most two letters more, none of them a vowel."""
    i = stop
    while i > 0 and stop - i < 4 and is_letter(text[i - 1]):
        i -= 1
    if i == stop or stop - i > 3 or not 65 <= text[i] <= 90:
        return False
    vowels = 0
    for j in range(i + 1, stop):
        vowels += is_vowel(text[j]) or text[j] < 97
    return vowels == 0


@kernel
def is_letter(c):
    return 65 <= c <= 90 or 97 <= c <= 122


@kernel
def closes(c):
    return c == 34 or c == 39 or c == 41 or c == 93  # " ' ) ]


@kernel
def begins(text, i):
    """Whether space and then no small letter follows."""
    if not (text[i] == 32 or 9 <= text[i] <= 13):
        return False
    while i < len(text) and (text[i] == 32 or 9 <= text[i] <= 13):
        i += 1
    return i >= len(text) or not 97 <= text[i] <= 122


@kernel
def blank_line(text, i):
    """Whether the line after this line break is empty."""
    i += 1
    while i < len(text) and (text[i] == 32 or text[i] == 9 or text[i] == 13):
        i += 1
    return i < len(text) and text[i] == 10

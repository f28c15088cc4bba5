"""What the names of groups are made of: words as people write them, their phrases, and which
words say nothing.

A *term* is a word with its plural and possessive ("rate", "rates", "rate's"), without an elided
article ("d'images") and without Korean particles (``Stems``). Terms are counted in all
documents; how they are written, and which words stand next to each other, comes from a sample
of the texts. Left out are numbers, single letters, what stands in addresses, tags and entities
more often than in text, two letters that are not capitals, and the remains of text decoded
wrongly; function words are left out for groups in their language.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.explore.stages.korean import Stems, is_hangul
from tacit.explore.stages.languages import (
    CODES,
    languages_of,
    script_of,
    settle_scripts,
    stops_of,
)
from tacit.explore.stages.stop_lists import stop_characters
from tacit.explore.stages.word_forms import singular, without_article
from tacit.text.characters import UNSPACED

__all__ = ["Sample", "Terms", "Wording", "stand_in_addresses"]

SAMPLE_CHARACTERS = 3_000_000
SHORTEST_PART = 1500  # characters of each document in the sample, and of a part of it, at least
RARE = 2  # documents that a term must be in, and one in RARE_SHARE of a large collection
RARE_SHARE = 2000
PRIOR = 10  # documents with the usual rate, added to those of each term
WORDY = 20  # words: shorter documents are not scaled up
REMAINS = """
lt gt amp quot nbsp apos http https ftp www com org net edu gov html htm href src img br div
span td tr th li ul ol px css url mailto utf iso-8859-1 charset mime boundary jpg gif png
pdf fullquote ticker subject organization distribution nntp-posting-host reply-to
x-newsreader writes wrote article rt corp inc ltd co llc plc
"""  # of markup, of headers, and of the names of companies
MARKUP = frozenset(REMAINS.split())
HOSTS = ("com", "edu", "org", "net", "gov", "mil", "co.uk", "ac.uk", "info")
ADDRESS = re.compile(
    r"(?<![^\s<(\[\"'])[^\s<>]*(?:@\w|://|www\.|\w\.(?:" + "|".join(HOSTS) + r")\b)[^\s<>]*"
)
ABBREVIATION = re.compile(r"(?<![\w.])(?:[A-Z]\.){2,}(?!\w)")
PATH = re.compile(r"(?<![\w/.~+-])(?:[\w.~+-]*/){2}[\w.~+/-]*")
ATTRIBUTION = re.compile(r"^.{0,200}?\b(?:writes?|wrote|said|says)\s*:?\s*$", re.M | re.I)
MENTION = re.compile(r"\W*@")
ADDRESS_SIGNS = ("@", "://", "www.", *(f".{host}" for host in HOSTS))
TAG = re.compile(r"<[!/?A-Za-z][^<>]{0,300}>|&#?\w{1,8};|#\d{2,5};|\b(?:lt|gt|amp|quot|nbsp);")
ENDS = frozenset('.!?…:;"“”()•*-–—>|')
ARTICLE, ARTICLES = re.compile("l['’]"), 0.01  # of the words, in French or Italian at least
# Letters of a contraction that is no other word without its apostrophe; of these, how many a
# collection must write so, and how often at least for each time with it.
CLEAR_BARE, SHOWN_BARE, BARE = 5, 3, 0.1
DIGEST, HEXADECIMAL = 7, re.compile("[0-9a-f]+")  # the fewest digits of a digest
AND = "وف"  # written together with the next word in Arabic
MISREAD = ("ďż", "ï¿", "â€", "ã©", "ã¨")  # UTF-8 that was read as another encoding
HEADING, HEADING_WORDS = 60, 4  # characters and words of a line that is a heading, at most
REPEATS, REPEATED = 10, 0.02  # documents, and fraction of the documents, that have a heading


class Terms(NamedTuple):
    """Words with their plurals, and which documents hold them."""

    names: np.ndarray  # (T,) the most frequent form, as it was counted
    bases: list[str]  # what its forms have in common
    of: np.ndarray  # (V,) the term of every word, -1 for what names nothing
    table: sp.csr_array  # (n, T) counts, those of long documents scaled down
    stops: np.ndarray  # (T, languages) bool
    recurrence: np.ndarray  # (T,) how likely it recurs in a document, 1 for the usual term


class Sample(NamedTuple):
    """The words of some documents in their order."""

    rows: np.ndarray  # (tokens,) the document of each
    terms: np.ndarray  # (tokens,) its term (at first, its word), -1 for anything that is none
    surface: np.ndarray  # (tokens,) place of its written form
    first: np.ndarray  # (tokens,) bool: whether it begins a sentence
    capitals: np.ndarray  # (tokens,) bool: whether its sentence is all in capitals
    forms: list[str]
    point: int  # place of "." among them, -1 for none
    runs: dict[int, list[str]]  # of scripts without spaces, by document
    order: np.ndarray  # tokens sorted by term
    edges: np.ndarray  # (T + 1,) where the tokens of each term begin in that order

    def places(self, term: int, rows: np.ndarray) -> np.ndarray:
        """The tokens of a term in the documents of a mask."""
        places = self.order[self.edges[term] : self.edges[term + 1]]
        return places[rows[self.rows[places]]]

    def of_terms(self, term_of: np.ndarray, size: int) -> "Sample":
        """The same tokens with the terms of their words."""
        terms = np.append(term_of, -1)[self.terms]  # -1 stays
        order = np.argsort(terms, kind="stable")
        edges = np.searchsorted(terms[order], np.arange(size + 1))
        return self._replace(terms=terms, order=order, edges=edges)


class Wording(NamedTuple):
    """Everything that names are made of."""

    terms: Terms
    languages: np.ndarray  # (n,) place among ``languages.CODES``, or UNKNOWN
    sample: Sample

    @classmethod
    def of(cls, counts: sp.csr_array, words: np.ndarray, documents: Any) -> "Wording":
        """From the counts of ``words`` and the documents that were counted."""
        texts, n = list(sample_texts(documents)), counts.shape[0]
        languages = settle_scripts(languages_of(counts, [str(word) for word in words]))
        abbreviations, table = count_abbreviations(texts, n)
        vocabulary = [*map(str, words), *abbreviations]
        counts = sp.csr_array(sp.hstack([counts, table])) if abbreviations else counts
        tokens, noisy = tokens_of(texts, vocabulary)
        stems = Stems.of(vocabulary)
        in_capitals = mostly_capitals(tokens, len(vocabulary))
        left_out = noisy | np.array([
            names_nothing(word) or stems.is_no_noun(word) or (is_short(word) and not capital)
            for word, capital in zip(vocabulary, in_capitals, strict=True)
        ], bool)  # fmt: skip
        terms = find_terms(counts, vocabulary, left_out, stems)
        sample = tokens.of_terms(terms.of, len(terms.names))
        return cls(terms, languages, sample)

    def texts_in(self, rows: np.ndarray) -> str:
        """The runs of scripts without spaces in the documents of a mask, a line each; those
        that are repeated say nothing more about which characters form a word."""
        runs = (runs for row, runs in self.sample.runs.items() if rows[row])
        return "\n".join(dict.fromkeys(run for row_runs in runs for run in row_runs))


# --- Terms ---


def find_terms(
    counts: sp.csr_array,
    words: list[str],
    left_out: np.ndarray,
    stems: Stems,
) -> Terms:
    """Words merged with their plurals, and the table of those in several documents."""
    n, known = counts.shape[0], {w: i for i, w in enumerate(words)}
    of = np.full(len(words), -1, np.int64)
    spread = np.bincount(counts.indices, minlength=len(words))
    bases: dict[int, str] = {}
    place = dict(known)
    articles = sum(map(bool, map(ARTICLE.match, words))) > ARTICLES * len(words)
    for i, word in enumerate(words):
        if not left_out[i]:
            base, short = singular(word), without_article(word)
            if base not in known and word.endswith("es"):  # movies, heroes, Spanish mujeres
                base = next((w for w in (word[:-1], word[:-2]) if w[3:] and w in known), base)
            alone = any(f in known for f in (short, singular(short), f"{short}s"))
            if short != word and (alone or (articles and ARTICLE.match(word))):
                base = singular(short)
            if base != word and listing(base) != listing(word):
                base = word  # French "dans" is no plural of Indonesian "dan"
            base = stems.stem(word) if is_hangul(word) else base
            of[i] = place.setdefault(base, i)
            if left_out[of[i]]:
                of[i], base = i, word
            bases[int(of[i])] = base
    inside = np.flatnonzero(of >= 0)
    merged = np.zeros(len(words), np.int64)
    np.add.at(merged, of[inside], spread[inside])
    common = np.flatnonzero(merged >= max(RARE, n // RARE_SHARE))
    number = np.full(len(words), -1, np.int64)
    number[common] = np.arange(len(common))
    of[inside] = number[of[inside]]
    used = np.flatnonzero(of >= 0)
    to_terms = sp.csr_array(
        (np.ones(len(used), np.float32), (used, of[used])), shape=(len(words), len(common))
    )
    table = sp.csr_array(counts.astype(np.float32) @ to_terms)
    table.sort_indices()
    recurrence = recurrence_of(table)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    typical = max(float(np.median(lengths)) if n else 0.0, WORDY)
    scale = np.minimum(1.0, typical / np.maximum(lengths, 1.0))
    table.data *= np.repeat(scale, np.diff(table.indptr)).astype(np.float32)
    best = np.zeros(len(common), np.int64)
    often = np.bincount(counts.indices, counts.data, minlength=len(words))
    for i in used[np.argsort(often[used], kind="stable")]:
        best[of[i]] = i
    names = np.array([words[i] for i in best], object)
    shared = [bases[int(i)] for i in common]
    stops = stop_table([str(word) for word in names]) | stop_table(shared)
    bare = bare_contractions(words, spread)
    for i, word in enumerate(shared):
        stops[i] |= np.isin(CODES, bare.get(word, []))
    return Terms(names, shared, of, table, stops, recurrence)


def recurrence_of(table: sp.csr_array) -> np.ndarray:
    """How likely each term is to recur in a document that holds it, compared with other
    terms: words for a subject recur (Katz 1996), as "server" and not "easier"."""
    holds = np.bincount(table.indices, minlength=table.shape[1])
    again = np.bincount(table.indices[table.data > 1], minlength=table.shape[1])
    usual = again.sum() / max(holds.sum(), 1)
    rate = (again + PRIOR * usual) / (holds + PRIOR)
    return rate / max(usual, 1e-12) if usual > 0 else np.ones(len(holds))


def stop_table(words: list[str]) -> np.ndarray:
    """(words, languages) Whether each word is a function word of each language."""
    out = np.zeros((len(words), len(CODES)), bool)
    for i, word in enumerate(words):
        if codes := listing(word):
            out[i] = np.isin(CODES, codes)
    return out


def bare_contractions(words: list[str], spread: np.ndarray) -> dict[str, list[str]]:
    """Contractions that a collection writes without their apostrophe, with their languages:
    "ill" for "i'll". Long ones are no other words ("didnt"), so they show whether it does;
    ``spread`` is the number of documents of each word.

    >>> chat = ["didnt", "doesnt", "thats", "that's", "ill", "class"]
    >>> bare_contractions(chat, np.array([9, 5, 7, 20, 4, 8]))
    {'ill': ['en']}
    >>> bare_contractions(["don't", "doesn't", "that's", "ill"], np.array([9, 5, 7, 4]))
    {}
    """
    known = {word: int(n) for word, n in zip(words, spread, strict=True) if n >= RARE}
    out: dict[str, list[str]] = {}
    for code in CODES:
        full = {word.replace("'", ""): word for word in stops_of(code) if "'" in word}
        seen = {word for word in full if word in known}
        habit = [
            word
            for word in seen
            if len(word) >= CLEAR_BARE and known[word] >= BARE * known.get(full[word], 0)
        ]
        if len(habit) >= SHOWN_BARE:
            for word in seen - stops_of(code):
                out.setdefault(word, []).append(code)
    return out


@cache
def all_stops() -> frozenset[str]:
    """The function words of all languages."""
    return frozenset().union(*map(stops_of, CODES))


def listing(word: str) -> list[str]:
    """The languages of which a word is a function word."""
    if not is_stop(word, all_stops()):
        return []
    return [code for code in CODES if is_stop(word, stops_of(code))]


def is_stop(word: str, listed: frozenset[str]) -> bool:
    """Whether a word, or both sides of its apostrophe, is a function word.

    >>> english = stops_of("en")
    >>> is_stop("they're", english), is_stop("days", english), is_stop("whale", english)
    (True, True, False)
    """
    if word in listed or (word.endswith("s") and singular(word) in listed):
        return True
    if word[0] in AND and word[1:] in listed:
        return True
    if word.isalnum():
        return False
    parts = re.split("['’ʼ-]", word)
    return len(parts) > 1 and all(len(part) < 3 or part in listed for part in parts)


def names_nothing(word: str) -> bool:
    """Whether a word is a number, a single letter, a symbol, the digest of a file or version,
    the remains of markup, or two words of different scripts that have lost the space between
    them.

    >>> [names_nothing(w) for w in ("1984", "3d", "mp3", "a", "_", "lt", "whale", "鯨魚")]
    [True, True, False, True, True, True, False, False]
    >>> [names_nothing(w) for w in ("facebookκοινοποίηση", "十五", "百度", "1ede746b")]
    [True, True, False, True]
    """
    if word.isascii() and word.isalpha():
        return len(word) < 2 or word in MARKUP
    if any(part in word for part in MISREAD) or word in MARKUP or "_" in word:
        return True
    letters, digits = (sum(map(kind, word)) for kind in (str.isalpha, str.isdigit))
    if letters < 2 or digits > letters or all(map(str.isnumeric, word)):
        return True
    if digits and len(word) >= DIGEST and HEXADECIMAL.fullmatch(word):
        return True
    if word.isascii():
        return False
    latin = sum(c.isascii() and c.isalpha() for c in word)
    mixed = latin > 1 and script_of(word) >= 0 and not is_hangul(word[-1])
    return mixed or any(map(is_particle, word))


def is_particle(c: str) -> bool:
    """Whether a character of Chinese or Japanese is no part of a name."""
    return "\u3041" <= c <= "\u309f" or c in stop_characters()


def is_short(word: str) -> bool:
    """Whether a word is of two letters, which name something only as capitals: UK, TV. A
    character of Chinese, Japanese, Korean or Hindi is a syllable.

    >>> [is_short(word) for word in ("tv", "дн", "ال", "도시", "海洋", "फल")]
    [True, True, True, False, False, False]
    """
    return len(word) <= 2 and all(c < "\u0900" or "\u1e00" <= c < "\u2000" for c in word)


# --- Sample ---


def sample_texts(documents: Any, whole: bool = False) -> Iterable[tuple[int, str]]:
    """An even sample of the documents, parts of long ones if not the ``whole``."""
    n = len(documents)
    many = min(n, SAMPLE_CHARACTERS // SHORTEST_PART)
    wanted = np.unique(np.linspace(0, max(n - 1, 0), many).astype(np.int64))
    longest = None if whole else SAMPLE_CHARACTERS // max(len(wanted), 1)
    start = 0
    for block, rows in zip(documents.blocks, documents.counts, strict=True):
        i, j = np.searchsorted(wanted, [start, start + rows])
        text = block.load() if j > i else None
        for row in wanted[i:j]:
            if text is not None:
                found = text.string(int(row) - start)
                yield int(row), found if longest is None else parts_of(found, longest)
        start += rows


def parts_of(text: str, most: int) -> str:
    """A text that is too long in parts from all over it.

    >>> len(parts_of("ab" * 9000, 6000)), parts_of("short", 6000)
    (6006, 'short')
    """
    if len(text) <= most:
        return text
    parts = max(1, most // SHORTEST_PART)
    size = most // parts
    starts = np.linspace(0, len(text) - size, parts).astype(np.int64).tolist()
    return "\n\n".join(text[start : start + size] for start in starts)


@cache
def token_patterns() -> tuple[re.Pattern, re.Pattern, re.Pattern]:
    """Abbreviations with points, words, and other characters, each of which separates words:
    of any text and of ASCII; and runs of scripts without spaces."""
    marks = "".join(
        c for c in map(chr, range(0x300, 0x20000)) if unicodedata.category(c)[0] == "M"
    )
    run = "[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in UNSPACED) + "]+"

    def tokens(letter: str) -> re.Pattern:
        word = rf"{letter}+(?:['’ʼ\-‐‑]{letter}+)*"
        return re.compile(rf"(?:\b[A-Za-z]\.){{2,}}|{word}|[^\w\s]|\t+|\n\s*\n")

    return tokens(rf"[\w{marks}]"), tokens("[A-Za-z0-9_]"), re.compile(run)


def count_abbreviations(
    texts: Sequence[tuple[int, str]], n: int
) -> tuple[list[str], sp.csr_array]:
    """Abbreviations with points, which are counted letter by letter and so are no words, and a
    table of them for the n documents.

    >>> names, table = count_abbreviations([(0, "the U.S. and the U.N."), (2, "U.S.-led")], 3)
    >>> names, table.toarray().tolist()
    (['u.s.'], [[1], [0], [1]])
    """
    uses = [(row, form.lower()) for row, text in texts for form in ABBREVIATION.findall(text)]
    spread = Counter(name for _, name in set(uses))
    names = sorted(name for name, size in spread.items() if size >= RARE)
    column = {name: i for i, name in enumerate(names)}
    cells = [(row, column[name]) for row, name in uses if name in column]
    rows, columns = np.array(cells, np.int64).reshape(-1, 2).T
    ones = np.ones(len(cells), np.int32)
    return names, sp.csr_array((ones, (rows, columns)), shape=(n, len(names)))


def runs_in(documents: Any) -> Iterator[str]:
    """The runs of scripts without spaces in a sample of the documents."""
    *_, run = token_patterns()
    for _, text in sample_texts(documents):
        yield from () if text.isascii() else run.findall(text)


def without_markup(text: str, noise: Counter[str]) -> str:
    """The text without tags, entities, addresses, paths of files and the lines that say who is
    quoted; what is left out is counted."""
    if "&" in text:
        text = html.unescape(text)
    if "<" in text or ";" in text:
        noise.update(TAG.findall(text))
        text = TAG.sub(" | ", text)
    if "\n>" in text or "writes" in text:
        noise.update(ATTRIBUTION.findall(text))
        text = ATTRIBUTION.sub(" | ", text)
    if any(sign in text for sign in ADDRESS_SIGNS):
        noise.update(ADDRESS.findall(text))
        text = ADDRESS.sub(" | ", text)
    if text.count("/") > 1:
        noise.update(PATH.findall(text))
        text = PATH.sub(" | ", text)
    return text


def headings_of(texts: Sequence[str]) -> frozenset[str]:
    """Lines of a few words, at the beginning of a paragraph, that many documents have: the
    headings of a form, greetings.

    >>> sorted(headings_of([f"HISTORY\\nof {i}\\n\\nSEE ALSO\\nls {i}" for i in range(20)]))
    ['HISTORY', 'SEE ALSO']
    """
    documents: Counter[str] = Counter()
    for text in texts:
        documents.update({line for _, line in first_lines(text)})
    least = max(REPEATS, REPEATED * len(texts))
    return frozenset(line for line, n in documents.items() if n >= least)


def first_lines(text: str) -> Iterator[tuple[int, str]]:
    """The short first lines of paragraphs with their places among the lines."""
    before = ""
    for i, line in enumerate(text.split("\n")):
        line = line.strip()
        if line and not before and len(line) <= HEADING and len(line.split()) <= HEADING_WORDS:
            yield i, line
        before = line


def without_headings(text: str, headings: frozenset[str], noise: Counter[str]) -> str:
    """The text without the lines that are headings; these are counted."""
    lines = text.split("\n")
    for i, line in first_lines(text):
        if line in headings and len(lines) > 1:
            noise[line] += 1
            lines[i] = "\n"
    return "\n".join(lines)


def tokens_of(
    texts: Sequence[tuple[int, str]], vocabulary: list[str]
) -> tuple[Sample, np.ndarray]:
    """The tokens of the texts with their words, and which words stand in addresses, tags and
    headings more often than in text."""
    every, plain, run = token_patterns()
    places: dict[str, int] = {}
    tokens_read: list[int] = []
    rows: list[tuple[int, int]] = []
    runs: dict[int, list[str]] = {}
    noise: Counter[str] = Counter()
    headings = headings_of([text for _, text in texts])
    for row, text in texts:
        if headings:
            text = without_headings(text, headings, noise)
        text = without_markup(text, noise)
        ascii_ = text.isascii()
        if not ascii_:
            text = unicodedata.normalize("NFC", text)
            if pieces := run.findall(text):
                runs[row] = pieces
        tokens = (plain if ascii_ else every).findall(text)
        tokens.append("\n\n")
        tokens_read += [places.setdefault(token, len(places)) for token in tokens]
        rows.append((row, len(tokens)))
    known = {word: i for i, word in enumerate(vocabulary)}
    forms = list(places)
    column = np.array([known.get(form.lower(), -1) for form in forms], np.int64)
    ends = np.array([form in ENDS or form.isspace() for form in forms], bool)
    surface = np.array(tokens_read, np.int64)
    words = column[surface] if len(surface) else np.zeros(0, np.int64)
    outside = np.bincount(words[words >= 0], minlength=len(vocabulary))
    first = np.r_[True, ends[surface[:-1]]] if len(surface) else np.zeros(0, bool)
    sentence, lower = np.cumsum(first), np.array([form != form.upper() for form in forms], bool)
    capitals = np.bincount(sentence, lower[surface])[sentence] == 0
    by_row = np.repeat([row for row, _ in rows], [size for _, size in rows])
    none, point = np.zeros(0, np.int64), places.get(".", -1)
    sample = Sample(
        by_row.astype(np.int64), words, surface, first, capitals, forms, point, runs, none, none
    )
    return sample, count_parts(noise, known) > outside


def count_parts(noise: Counter[str], known: dict[str, int]) -> np.ndarray:
    """How often each word is part of what was left out."""
    inside = np.zeros(len(known), np.int64)
    for address, count in noise.items():
        for part in set(re.findall(r"[\w'-]+", address.lower())):
            for piece in {part, *re.split("[-_]", part)}:
                if piece in known:
                    inside[known[piece]] += count
    return inside


def stand_in_addresses(documents: Any, counts: sp.csr_array, words: np.ndarray) -> np.ndarray:
    """Which words are parts of addresses more often than they stand in text, where a person
    who is mentioned ("@ann") does; ``counts`` are those of the words in the documents."""
    noise: Counter[str] = Counter()
    rows = []
    for row, text in sample_texts(documents, whole=True):
        rows.append(row)
        if any(sign in text for sign in ADDRESS_SIGNS):
            noise.update(each for each in ADDRESS.findall(text) if not MENTION.match(each))
    every = np.asarray(counts[rows].sum(axis=0)).ravel()
    return 2 * count_parts(noise, {str(word): i for i, word in enumerate(words)}) > every


def mostly_capitals(tokens: Sample, size: int) -> np.ndarray:
    """Which words of the vocabulary are written in capitals more often than not."""
    capital = np.array([form.isupper() for form in tokens.forms], bool)
    seen = tokens.terms >= 0
    words, upper = tokens.terms[seen], capital[tokens.surface[seen]]
    total = np.bincount(words, minlength=size)
    return (np.bincount(words[upper], minlength=size) > 0.5 * total) & (total > 0)

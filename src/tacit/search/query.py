"""The query language: words, phrases, wildcards, and AND, OR, NOT between them.

    disjunction  :=  conjunction (OR conjunction)*
    conjunction  :=  operand ([AND] operand)*       no operator between two words means AND
    operand      :=  NOT operand  |  -operand  |  ( disjunction )
                     |  "words in a row"  |  word  |  wor*

NOT binds tightest, then AND, then OR; operators are in capitals, so that "and" is a word. With
operator="or", no operator between two words means OR, with the precedence of OR; but what - or
NOT excludes there is excluded: oil gas -price asks for oil or gas, without price.

``parse`` knows nothing of an index. ``bind`` then turns leaves into words of an index, by the
tokenizer of the index: don't may be two words, and 東京都 two pairs of characters. What becomes
several words is searched for as a phrase. Words that the index leaves out (stop words,
punctuation) are left out of the query too, and noted; inside a phrase they match any word.
Wildcards become the words they match.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.core.errors import TacitError
from tacit.core.kernel import kernel
from tacit.search.postings import Postings
from tacit.search.word_rule import WordRule
from tacit.text.tokens import TokenRule
from tacit.text.vocabulary import Vocabulary

__all__ = [
    "And", "BoundQuery", "Leaf", "Node", "Not", "Or", "QueryError", "Term", "bind", "leaves",
    "look_up", "parse", "split_meaning",
]  # fmt: skip

DEEPEST = 100  # parentheses and NOTs inside each other
LONGEST = 100_000  # characters
SHOWN = 60  # characters of the query in a message
QUOTES = '"“”„«»'
TOKEN = re.compile(
    rf"(?P<open>\()|(?P<close>\))|(?P<quote>[{QUOTES}])|(?P<word>[^\s(){QUOTES}]+)"
)


class QueryError(TacitError, ValueError):
    """A query that cannot be parsed; ``place`` is the position of the error."""

    exit_code = 2

    def __init__(self, message: str, query: str = "", place: int | None = None) -> None:
        self.message, self.query, self.place = message, query, place
        super().__init__(message if place is None else f"{message}\n{pointer(query, place)}")

    def __reduce__(self):
        return type(self), (self.message, self.query, self.place)


class Leaf(NamedTuple):
    """A word, a phrase or a wildcard, as it was written."""

    kind: str  # "word", "phrase" or "wildcard"
    text: str
    place: int  # where in the query


@dataclass(frozen=True)
class Not:
    """Documents that do not match."""

    part: "Node"


@dataclass(frozen=True)
class And:
    """Documents that match all parts."""

    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Or:
    """Documents that match any part."""

    parts: tuple["Node", ...]


Node = Leaf | Not | And | Or


def parse(query: str, operator: str = "and") -> Node:
    """Read a query.

    Examples
    --------
    >>> parse('oil AND NOT "natural gas"')
    And(parts=(Leaf(kind='word', text='oil', place=0),
               Not(part=Leaf(kind='phrase', text='natural gas', place=12))))
    >>> parse("oil AND (gas OR")
    Traceback (most recent call last):
        ...
    tacit.search.query.QueryError: There is nothing after OR at character 14. ...
    """
    if not isinstance(query, str):
        raise TypeError(f"A query is a str, but this one is of type {type(query).__name__}.")
    if operator not in ("and", "or"):
        raise ValueError(f"operator={operator!r} is unknown; choose from ['and', 'or'].")
    if len(query) > LONGEST:
        raise QueryError(
            f"The query has {len(query):,} characters, and {LONGEST:,} is the most. Shorten it."
        )
    if not query.strip():
        raise QueryError("The query is empty. Give at least one word.")
    return Parser(query, operator).read()


def split_meaning(query: str) -> tuple[str, list[Node], list[str]]:
    """A query for a search by meaning: the words to search by, what is excluded, and notes on
    what such a search does not use.

    All words together make one direction, so that AND, OR and quotes change nothing; wildcards
    are not words.

    >>> words, excluded, notes = split_meaning("whale AND sea NOT ship")
    >>> words, [leaf.text for leaf in excluded]
    ('whale sea', ['ship'])
    >>> notes
    ['Ignored: AND. A search by meaning uses all words together.']
    """
    excluded: list[Node] = []
    wanted: list[Leaf] = []

    def walk(node: Node) -> None:
        if isinstance(node, Not):
            excluded.append(node.part)
        elif isinstance(node, Leaf):
            wanted.append(node)
        else:
            for part in node.parts:
                walk(part)

    walk(parse(query, "or"))
    words = [leaf.text for leaf in wanted if leaf.kind != "wildcard"]
    kinds = {token.kind for token in lex(query)}
    signs = [sign for kind, sign in SIGNS.items() if kind in kinds]
    signs += [leaf.text for leaf in wanted if leaf.kind == "wildcard"]
    if not words:
        raise QueryError(
            "A search by meaning needs a whole word that is not excluded. Give at least one."
        )
    note = f"Ignored: {', '.join(signs)}. A search by meaning uses all words together."
    return " ".join(words), excluded, [note] if signs else []


def leaves(node: Node, wanted: bool = True) -> Iterator[tuple[Leaf, bool]]:
    """The leaves in order, each with whether it is wanted (True) or excluded."""
    if isinstance(node, Leaf):
        yield node, wanted
    elif isinstance(node, Not):
        yield from leaves(node.part, not wanted)
    else:
        for part in node.parts:
            yield from leaves(part, wanted)


# --- Reading ---


class Token(NamedTuple):
    kind: str  # "open", "close", "phrase", "word", "and", "or", "not", "end"
    text: str
    place: int


OPERATORS = {"AND": "and", "OR": "or", "NOT": "not"}
# What a search by meaning ignores.
SIGNS = {"and": "AND", "or": "OR", "phrase": "quotes", "open": "parentheses"}


class Parser:
    def __init__(self, query: str, operator: str) -> None:
        self.query, self.operator = query, operator
        self.tokens = list(lex(query))
        self.at, self.depth = 0, 0

    def read(self) -> Node:
        node = self.disjunction(None)
        if self.next.kind == "close":
            raise self.error(
                "The query closes a parenthesis{at} that was never opened",
                self.next.place,
                "Remove it, or open one before it.",
            )
        return node

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def disjunction(self, opened: Token | None) -> Node:
        parts, written = [self.conjunction(opened)], [False]
        while self.next.kind not in ("close", "end"):
            written.append(self.next.kind == "or")
            parts.append(self.conjunction(self.take() if written[-1] else None))
        if len(parts) == 1:
            return parts[0]
        # A part that is excluded without an explicit OR is excluded from all the others.
        excluded: list[Node] = []
        included: list[Node] = []
        for part, before, after in zip(parts, written, [*written[1:], False], strict=True):
            bare = isinstance(part, Not) and not (before or after)
            (excluded if bare else included).append(part)
        if not included:
            return And(tuple(excluded))
        wanted = included[0] if len(included) == 1 else Or(tuple(included))
        return And((wanted, *excluded)) if excluded else wanted

    def conjunction(self, before: Token | None) -> Node:
        parts = [self.operand(before)]
        while True:
            if self.next.kind == "and":
                parts.append(self.operand(self.take()))
            elif self.operator == "and" and self.next.kind not in ("or", "close", "end"):
                parts.append(self.operand(None))
            else:
                return parts[0] if len(parts) == 1 else And(tuple(parts))

    def operand(self, before: Token | None) -> Node:
        token = self.take()
        if token.kind == "word":
            return Leaf("wildcard" if "*" in token.text else "word", token.text, token.place)
        if token.kind == "phrase":
            return Leaf("phrase", token.text, token.place)
        if token.kind == "not":
            return Not(self.nested(token, self.operand, token))
        if token.kind == "open":
            return self.group(token)
        self.at -= 1
        raise self.missing_operand(before, token)

    def group(self, opened: Token) -> Node:
        node = self.nested(opened, self.disjunction, opened)
        if self.next.kind == "end":
            raise self.error(
                "The query opens a parenthesis{at} that is never closed",
                opened.place,
                "Close it, or remove it.",
            )
        self.take()
        return node

    def nested(self, token: Token, read, before: Token) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(
                f"The query nests parentheses and NOTs more than {DEEPEST} deep",
                token.place,
                "Write it flatter.",
            )
        node = read(before)
        self.depth -= 1
        return node

    def missing_operand(self, before: Token | None, token: Token) -> QueryError:
        """The error for a missing operand."""
        if token.kind in ("and", "or"):
            if before is None:
                what = f"There is nothing before {token.text}"
            else:
                what = f"There is nothing between {name(before)} and {token.text}"
            return self.error(what, token.place, "Put a word there, or remove it.")
        if before is None and token.kind == "end":  # dashes alone
            return QueryError("The query holds no word. Give at least one.", self.query, 0)
        if before is None:
            what = "The query closes a parenthesis{at} that was never opened"
            return self.error(what, token.place, "Remove it, or open one before it.")
        if before.kind == "open":
            if token.kind == "close":
                what = "There is nothing inside the parentheses"
            else:
                what = "The query opens a parenthesis{at} that is never closed"
            return self.error(what, before.place, "Put a word there, or remove it.")
        what = f"There is nothing after {name(before)}"
        return self.error(what, before.place, "Put a word there, or remove it.")

    def error(self, what: str, place: int, way_out: str) -> QueryError:
        at = f" at character {place + 1}"
        what = what.replace("{at}", at) if "{at}" in what else what + at
        return QueryError(f"{what}. {way_out}", self.query, place)


def lex(query: str) -> Iterator[Token]:
    at = 0
    while match := TOKEN.search(query, at):
        kind, text, place = str(match.lastgroup), match.group(), match.start()
        at = match.end()
        if kind == "quote":
            end = re.compile(f"[{QUOTES}]").search(query, at)
            if end is None:
                raise QueryError(
                    f"The query opens quotes at character {place + 1} and never closes them. "
                    "Close them, or remove them.",
                    query,
                    place,
                )
            inner = query[at : end.start()]
            if not inner.strip():
                raise QueryError(
                    f"There is nothing inside the quotes at character {place + 1}. Put words "
                    "there, or remove them.",
                    query,
                    place,
                )
            at = end.end()
            yield Token("phrase", inner, place)
        elif kind == "word" and text in OPERATORS:
            yield Token(OPERATORS[text], text, place)
        elif kind == "word" and text[0] == "-":
            # "-word" excludes; a dash that stands alone is punctuation.
            if len(text) > 1 or query[at : at + 1] in {"(", *QUOTES} - {""}:
                yield Token("not", "-", place)
                at = place + 1
        else:
            yield Token(kind, text, place)
    yield Token("end", "the end", len(query))


def name(token: Token) -> str:
    return {"open": "the parenthesis", "not": token.text}.get(token.kind, token.text)


def pointer(query: str, place: int) -> str:
    """The query around a position, with a mark under it."""
    first = max(0, min(place - SHOWN // 2, len(query) - SHOWN))
    shown = "".join(c if c.isprintable() else " " for c in query[first : first + SHOWN])
    return f"    {shown}\n    {' ' * (place - first)}^"


# --- Terms of an index ---


class Term(NamedTuple):
    """The words of a leaf: any of several words, or a phrase."""

    words: tuple[int, ...]  # positions in the vocabulary; -1 for an unknown word
    offsets: tuple[int, ...] = (0,)  # distance from the first word; only one for a wildcard

    @property
    def is_phrase(self) -> bool:
        return len(self.offsets) > 1


class BoundQuery(NamedTuple):
    """A query over one index, with the term of every leaf."""

    node: Node  # its leaves are keys of terms
    terms: dict[Leaf, Term]
    notes: list[str]

    def wanted(self) -> list[Leaf]:
        """The leaves that are not excluded, with repetitions."""
        return [leaf for leaf, asked in leaves(self.node) if asked]


def bind(
    node: Node, query: str, rule: WordRule, postings: Postings, max_expansions: int
) -> BoundQuery:
    """Find the terms of a query in an index."""
    written = list(dict.fromkeys(leaf for leaf, _ in leaves(node)))
    plain = [leaf for leaf in written if leaf.kind != "wildcard"]
    for leaf in plain:
        check_quotes(leaf, query)
    terms: dict[Leaf, Term | None] = {}
    notes: list[str] = []
    tokens = rule.words([leaf.text for leaf in plain]) if plain else []
    ignored: list[str] = []
    for leaf, words in zip(plain, tokens, strict=True):
        offsets = [i for i, word in enumerate(words) if word not in rule.stop_words]
        if not offsets:
            terms[leaf] = None
            ignored.append(leaf.text)
            continue
        numbers = tuple(look_up(postings.vocabulary, words[i]) for i in offsets)
        terms[leaf] = Term(numbers, tuple(i - offsets[0] for i in offsets))
    for leaf in written:
        if leaf.kind == "wildcard":
            terms[leaf], note = expand(leaf, query, rule, postings, max_expansions)
            notes += [note] if note else []
    pruned = prune(node, terms) if ignored else node
    left_out = ", ".join(map(repr, ignored))
    if pruned is None:
        raise QueryError(
            f"The query holds only words that this index leaves out: {left_out}. Ask for "
            "others, or build the index with fewer stop words or another rule."
        )
    if ignored:
        notes.insert(0, f"Left out of the query, as they are of the index: {left_out}.")
    return BoundQuery(pruned, {leaf: term for leaf, term in terms.items() if term}, notes)


def prune(node: Node, terms: dict[Leaf, Term | None]) -> Node | None:
    """The query without the leaves that have no term."""
    if isinstance(node, Leaf):
        return node if terms[node] is not None else None
    if isinstance(node, Not):
        part = prune(node.part, terms)
        return None if part is None else Not(part)
    parts = tuple(p for part in node.parts if (p := prune(part, terms)) is not None)
    if len(parts) <= 1:
        return parts[0] if parts else None
    return And(parts) if isinstance(node, And) else Or(parts)


def check_quotes(leaf: Leaf, query: str) -> None:
    """Refuse a wildcard in quotes; a star between spaces is punctuation."""
    if leaf.kind != "phrase":
        return
    for i, c in enumerate(leaf.text):
        if c == "*" and any(x.isalnum() for x in leaf.text[max(0, i - 1) : i + 2]):
            place = leaf.place + 1 + i
            raise QueryError(
                f"Wildcards do not work inside quotes, but there is one at character "
                f"{place + 1}. Take it out of the quotes, or remove it.",
                query,
                place,
            )


def look_up(vocabulary: Vocabulary, word: str) -> int:
    """The position of a word in the vocabulary, or -1."""
    raw = np.frombuffer(word.encode("utf-8", "replace"), np.uint8)
    # Of the words with this prefix the shortest, the word itself, comes first.
    first, last = prefix_range(vocabulary.data, vocabulary.offsets, raw)
    if first == last or vocabulary.offsets[first + 1] - vocabulary.offsets[first] != len(raw):
        return -1
    return first


# --- Wildcards ---


def expand(
    leaf: Leaf, query: str, rule: WordRule, postings: Postings, most: int
) -> tuple[Term, str | None]:
    """The words that match a pattern, with a note if only the ``most`` frequent are used."""
    vocabulary = postings.vocabulary
    pieces = [literal(piece, leaf, query, rule) for piece in leaf.text.split("*")]
    if not any(pieces):
        raise QueryError(
            f"A wildcard needs some letters, but {leaf.text!r} at character {leaf.place + 1} "
            "matches every word. Add some.",
            query,
            leaf.place,
        )
    data, edges = np.frombuffer(b"".join(pieces), np.uint8), np.cumsum([0, *map(len, pieces)])
    first, last = prefix_range(vocabulary.data, vocabulary.offsets, data[: edges[1]])
    words = match_pattern(vocabulary.data, vocabulary.offsets, first, last, data, edges)
    note = None
    if len(words) > most:
        note = (
            f"{leaf.text!r} matches {len(words):,} words; the {most:,} in the most documents "
            "were used. Write more letters, or raise max_expansions."
        )
        frequent = np.argsort(-postings.document_counts[words], kind="stable")[:most]
        words = np.sort(words[frequent])
    return Term(tuple(words.tolist())), note


def literal(piece: str, leaf: Leaf, query: str, rule: WordRule) -> bytes:
    """The letters between two stars as the tokenizer of the index writes them."""
    if not piece:
        return b""
    plain = TokenRule(rule.token.rule, rule.token.lowercase, 1, rule.token.atom)
    words = WordRule(plain).words([piece])[0]
    expected = unicodedata.normalize("NFC", piece)
    expected = expected.lower() if rule.token.lowercase else expected
    if words != [expected]:
        raise QueryError(
            f"The wildcard {leaf.text!r} at character {leaf.place + 1} must be part of one "
            f"word, but {piece!r} is {len(words)} in this index. Search for the words one by "
            "one.",
            query,
            leaf.place,
        )
    return expected.encode("utf-8")


@kernel
def prefix_range(data, offsets, prefix):
    """The sorted words that begin with the prefix: first and last."""
    bounds = np.zeros(2, np.int64)
    for side in range(2):
        low, high = 0, len(offsets) - 1
        while low < high:
            middle = (low + high) // 2
            word = data[offsets[middle] : offsets[middle + 1]]
            order = 0
            for q in range(len(prefix)):
                if q >= len(word) or word[q] < prefix[q]:
                    order = -1
                    break
                if word[q] > prefix[q]:
                    order = 1
                    break
            if order < 0 or (order == 0 and side == 1):
                low = middle + 1
            else:
                high = middle
        bounds[side] = low
    return bounds[0], bounds[1]


@kernel
def match_pattern(data, offsets, first, last, pieces, edges):
    """The words that contain the pieces in order, without overlap: the first as a prefix, the
    last as a suffix. Greedy matching from the left finds every match."""
    out, k, m = np.empty(last - first, np.int64), 0, len(edges) - 1
    for w in range(first, last):
        word = data[offsets[w] : offsets[w + 1]]
        tail = edges[m] - edges[m - 1]
        at, end = edges[1], len(word) - tail
        fits = at <= end and same(word, 0, pieces, edges[0], edges[1])
        fits = fits and same(word, end, pieces, edges[m - 1], edges[m])
        for p in range(1, m - 1):
            size = edges[p + 1] - edges[p]
            there = False
            while fits and not there and at + size <= end:
                there = same(word, at, pieces, edges[p], edges[p + 1])
                at += size if there else 1
            fits = fits and there
        out[k] = w
        k += fits
    return out[:k]


@kernel
def same(word, at, pieces, start, stop):
    q = 0
    while q < stop - start and word[at + q] == pieces[start + q]:
        q += 1
    return q == stop - start

"""The query language: words, phrases, wildcards, and AND, OR, NOT between them.

    either   :=  both (OR both)*
    both     :=  unary ([AND] unary)*          nothing between two words means AND
    unary    :=  NOT unary  |  -unary  |  "words in a row"  |  ( either )  |  word  |  wor*

NOT binds tightest, then AND, then OR; the operators are in capitals, so that "and" is a word.
With operator="or" nothing between two words means OR instead, and binds as OR does; but what
is excluded by - or NOT there is excluded: oil gas -price asks for oil or gas, without price.

The parser knows nothing of an index: what a word is, and which are left out, is settled by
``search.query_terms``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tacit.core.errors import TacitError

__all__ = ["And", "Leaf", "Node", "Not", "Or", "QueryError", "leaves", "parse"]

DEEPEST = 100  # parentheses and NOTs inside each other
LONGEST = 100_000  # characters
SHOWN = 60  # characters of the query in a message
QUOTES = '"“”„«»'
TOKEN = re.compile(
    rf"(?P<open>\()|(?P<close>\))|(?P<quote>[{QUOTES}])|(?P<word>[^\s(){QUOTES}]+)"
)


class QueryError(TacitError, ValueError):
    """A query that cannot be understood; ``place`` is the character where it goes wrong."""

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


def leaves(node: Node, wanted: bool = True) -> Iterator[tuple[Leaf, bool]]:
    """The leaves in order, each with whether it is asked for (True) or excluded."""
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


class Parser:
    def __init__(self, query: str, operator: str) -> None:
        self.query, self.operator = query, operator
        self.tokens = list(lex(query))
        self.at, self.depth = 0, 0

    def read(self) -> Node:
        node = self.either(None)
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

    def either(self, opened: Token | None) -> Node:
        parts, written = [self.both(opened)], [False]
        while self.next.kind not in ("close", "end"):
            written.append(self.next.kind == "or")
            parts.append(self.both(self.take() if written[-1] else None))
        if len(parts) == 1:
            return parts[0]
        # What is excluded, without OR beside it, is excluded from all the others.
        excluded: list[Node] = []
        kept: list[Node] = []
        for part, before, after in zip(parts, written, [*written[1:], False], strict=True):
            bare = isinstance(part, Not) and not (before or after)
            (excluded if bare else kept).append(part)
        if not kept:
            return And(tuple(excluded))
        found = kept[0] if len(kept) == 1 else Or(tuple(kept))
        return And((found, *excluded)) if excluded else found

    def both(self, before: Token | None) -> Node:
        parts = [self.unary(before)]
        while True:
            if self.next.kind == "and":
                parts.append(self.unary(self.take()))
            elif self.operator == "and" and self.next.kind not in ("or", "close", "end"):
                parts.append(self.unary(None))
            else:
                return parts[0] if len(parts) == 1 else And(tuple(parts))

    def unary(self, before: Token | None) -> Node:
        token = self.take()
        if token.kind == "word":
            return Leaf("wildcard" if "*" in token.text else "word", token.text, token.place)
        if token.kind == "phrase":
            return Leaf("phrase", token.text, token.place)
        if token.kind == "not":
            return Not(self.deeper(token, self.unary, token))
        if token.kind == "open":
            return self.group(token)
        self.at -= 1
        raise self.nothing(before, token)

    def group(self, opened: Token) -> Node:
        node = self.deeper(opened, self.either, opened)
        if self.next.kind == "end":
            raise self.error(
                "The query opens a parenthesis{at} that is never closed",
                opened.place,
                "Close it, or remove it.",
            )
        self.take()
        return node

    def deeper(self, token: Token, read, before: Token) -> Node:
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

    def nothing(self, before: Token | None, token: Token) -> QueryError:
        """Something was expected here, and is not."""
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
    """The query around a place, with a mark under it."""
    first = max(0, min(place - SHOWN // 2, len(query) - SHOWN))
    shown = "".join(c if c.isprintable() else " " for c in query[first : first + SHOWN])
    return f"    {shown}\n    {' ' * (place - first)}^"

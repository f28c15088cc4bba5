"""From what is written in a query to words of an index.

A word of the query is cut by the index's own rule: don't may be two words, and 東京都 two pairs
of characters. What becomes several words is looked for as a phrase. Words that the index leaves
out (stop words, punctuation) are left out of the query too, and noted; inside a phrase they
stand for any word. Wildcards become the words they match.
"""

import unicodedata
from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.search.postings import Postings
from tacit.search.query import And, Leaf, Node, Not, Or, QueryError, leaves
from tacit.search.word_rule import WordRule
from tacit.text.tokens import TokenRule
from tacit.text.vocabulary import Vocabulary

__all__ = ["Bound", "Term", "bind"]


class Term(NamedTuple):
    """What a leaf asks for: any of several words, or several words in a row."""

    words: tuple[int, ...]  # places in the vocabulary; -1 for a word that is not there
    offsets: tuple[int, ...] = (0,)  # how far each is from the first; one for a wildcard

    @property
    def in_a_row(self) -> bool:
        return len(self.offsets) > 1


class Bound(NamedTuple):
    """A query over one index: leaves are replaced by terms."""

    node: Node  # its leaves are keys of terms
    terms: dict[Leaf, Term]
    notes: list[str]

    def wanted(self) -> list[Leaf]:
        """The leaves asked for, as often as they are, without those excluded."""
        return [leaf for leaf, asked in leaves(self.node) if asked]


def bind(
    node: Node, query: str, rule: WordRule, postings: Postings, max_expansions: int
) -> Bound:
    """Settle what the leaves of a query stand for in this index."""
    written = list(dict.fromkeys(leaf for leaf, _ in leaves(node)))
    plain = [leaf for leaf in written if leaf.kind != "wildcard"]
    for leaf in plain:
        check_quotes(leaf, query)
    terms: dict[Leaf, Term | None] = {}
    notes: list[str] = []
    found = rule.words([leaf.text for leaf in plain]) if plain else []
    ignored: list[str] = []
    for leaf, words in zip(plain, found, strict=True):
        kept = [(i, word) for i, word in enumerate(words) if word not in rule.stop_words]
        if not kept:
            terms[leaf] = None
            ignored.append(leaf.text)
            continue
        first = kept[0][0]
        offsets = tuple(i - first for i, _ in kept)
        places = tuple(look_up(postings.vocabulary, word) for _, word in kept)
        terms[leaf] = Term(places, offsets)
    for leaf in written:
        if leaf.kind == "wildcard":
            terms[leaf], note = expand(leaf, query, rule, postings, max_expansions)
            notes += [note] if note else []
    kept_node = prune(node, terms) if ignored else node
    said = ", ".join(repr(text) for text in ignored)
    if kept_node is None:
        raise QueryError(
            f"The query holds only words that this index leaves out: {said}. Ask for others, "
            "or build the index with fewer stop words or another rule."
        )
    if ignored:
        notes.insert(0, f"Left out of the query, as they are of the index: {said}.")
    return Bound(kept_node, {leaf: term for leaf, term in terms.items() if term}, notes)


def prune(node: Node, terms: dict[Leaf, Term | None]) -> Node | None:
    """The query without the leaves that ask for nothing."""
    if isinstance(node, Leaf):
        return node if terms[node] is not None else None
    if isinstance(node, Not):
        part = prune(node.part, terms)
        return None if part is None else Not(part)
    parts = tuple(kept for each in node.parts if (kept := prune(each, terms)) is not None)
    if len(parts) <= 1:
        return parts[0] if parts else None
    return And(parts) if isinstance(node, And) else Or(parts)


def check_quotes(leaf: Leaf, query: str) -> None:
    """A star on its own in quotes is punctuation; one at a word would be misunderstood."""
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
    """The place of a word, or -1."""
    raw = np.frombuffer(word.encode("utf-8", "replace"), np.uint8)
    # Of the words that begin with it the shortest, itself, comes first.
    first, last = prefix_range(vocabulary.data, vocabulary.offsets, raw)
    if first == last or vocabulary.offsets[first + 1] - vocabulary.offsets[first] != len(raw):
        return -1
    return first


# --- Wildcards ---


def expand(
    leaf: Leaf, query: str, rule: WordRule, postings: Postings, most: int
) -> tuple[Term, str | None]:
    """The words that a pattern matches: the ``most`` frequent of them, with a note if there
    are more."""
    vocabulary = postings.vocabulary
    pieces = [literal(piece, leaf, query, rule) for piece in leaf.text.split("*")]
    if not any(pieces):
        raise QueryError(
            f"A wildcard needs some letters, but {leaf.text!r} at character {leaf.place + 1} "
            "matches every word. Add some.",
            query,
            leaf.place,
        )
    data, edges = join(pieces)
    first, last = prefix_range(vocabulary.data, vocabulary.offsets, data[: edges[1]])
    found = match_pattern(vocabulary.data, vocabulary.offsets, first, last, data, edges)
    note = None
    if len(found) > most:
        note = (
            f"{leaf.text!r} matches {len(found):,} words; the {most:,} in the most documents "
            "were used. Write more letters, or raise max_expansions."
        )
        frequent = np.argsort(-postings.document_counts[found], kind="stable")[:most]
        found = np.sort(found[frequent])
    return Term(tuple(found.tolist())), note


def literal(piece: str, leaf: Leaf, query: str, rule: WordRule) -> bytes:
    """The letters between two stars as the index writes them."""
    if not piece:
        return b""
    plain = TokenRule(rule.token.rule, rule.token.lowercase, 1, rule.token.atom)
    words = WordRule(plain).words([piece])[0]
    expected = unicodedata.normalize("NFC", piece)
    expected = expected.lower() if rule.token.lowercase else expected
    if words != [expected]:
        raise QueryError(
            f"The wildcard {leaf.text!r} at character {leaf.place + 1} must be part of one "
            f"word, but {piece!r} is {len(words)} in this index. Look for the words one by "
            "one.",
            query,
            leaf.place,
        )
    return expected.encode("utf-8")


def join(pieces: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    edges = np.cumsum([0, *map(len, pieces)])
    return np.frombuffer(b"".join(pieces), np.uint8), edges


# --- Kernels ---


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
    """Which of some words have the pieces in order: the first at their start, the last at
    their end, those between anywhere, without overlap. Leftmost first is always right."""
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

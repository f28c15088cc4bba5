"""Search: by words, by words ranked, and by meaning."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.core.wording import listed
from tacit.explore.questions.meaning_space import (
    NOISE,
    best_first,
    close_spellings,
    cosines_of,
    fold_in,
    weights_of,
    words_in,
)
from tacit.explore.questions.reader import (
    ProjectReader,
    check_count,
    check_text,
    pieces,
    shown_hit,
)
from tacit.search import Hit, Hits
from tacit.search.inverted_index import EXPANSIONS, to_mark
from tacit.search.matching import Ranking, answer, match
from tacit.search.query import Or, QueryError, bind, parse, split_meaning
from tacit.search.snippets import Wanted, snippets
from tacit.text import Vocabulary
from tacit.text.tokens import TokenRule

__all__ = ["WAYS", "matching_rows", "search", "search_hits", "similar", "similar_hits"]

WAYS = ("ranked", "boolean", "meaning")
MOST = 1000  # hits in one answer
DEEPEST = 10_000_000
WIDTH = 200  # characters of a snippet
OPERATORS = frozenset({"AND", "OR", "NOT"})
MOST_CORRECTED, SPELLINGS = 5, 4  # words of a query, and suggestions for each
RARE, MANY, TIMES = 2, 100, 20  # documents of a word that may be a slip; in a collection of so
# many; documents of the right word, as a multiple


def search(
    reader: ProjectReader, text: str, *, way: str = "ranked", top: int = 20, start: int = 0
) -> dict[str, Any]:
    """Documents for a query: all that match ("boolean"), the best by words ("ranked") or the
    nearest in meaning ("meaning")."""
    if way not in WAYS:
        raise ValueError(f"search(way={way!r}) is unknown; choose from {list(WAYS)}.")
    check_text(text)
    check_count("search", "top", top, 0, MOST)
    check_count("search", "start", start, 0, DEEPEST)
    if way == "meaning":
        return by_meaning(reader, text, top, start)
    index = reader.index_or_none
    if index is None:
        return {"way": way, "total": 0, "hits": [], "note": reader.skipped("counts")}
    inner = index._fitted()
    notes: list[str] = []
    try:
        node = parse(text, "and" if way == "boolean" else "or")
    except QueryError as error:
        if way == "boolean" or error.place is None:
            raise
        node, notes = plain_words(inner, text, error)
    bound = bind(node, text, inner.rule, inner.postings, EXPANSIONS)
    how = Ranking("bm25", inner.norms, inner.mean_length, index.k1, index.b)
    rows, scores, total = answer(bound, inner.postings, how, start + top)
    asked = to_mark({bound.terms[leaf] for leaf in bound.wanted()}, inner.postings.vocabulary)
    hits = describe_hits(reader, rows[start:], scores, asked, inner.rule.token)
    note = " ".join(notes + bound.notes) or None
    result = {"way": way, "total": total, "hits": hits, "note": note}
    meant = spelled_like(reader, text)
    return result | {"suggest": meant} if meant else result


def spelled_like(reader: ProjectReader, text: str) -> dict[str, list[str]]:
    """For words of a query that no document has, or next to none, words of many more documents
    that are spelled like them."""
    plain = [word for word in text.split() if "*" not in word and word not in OPERATORS]
    spread = reader.arrays("counts")["document_counts"]
    meant: dict[str, list[str]] = {}
    for word in dict.fromkeys(words_in(reader, " ".join(plain))):
        column = reader.place_of_word.get(word)
        documents = 0 if column is None else int(spread[column])
        if documents > (RARE if reader.n >= MANY else 0) or len(meant) == MOST_CORRECTED:
            continue
        if like := close_spellings(reader, word, least=TIMES * documents)[:SPELLINGS]:
            meant[word] = like
    return meant


def matching_rows(reader: ProjectReader, text: str) -> np.ndarray:
    """All documents that match a Boolean query."""
    check_text(text)
    index = reader.index_or_none
    if index is None:
        return np.zeros(0, np.int64)
    inner = index._fitted()
    bound = bind(parse(text), text, inner.rule, inner.postings, EXPANSIONS)
    return match(bound, inner.postings)[0].astype(np.int64)


# --- Parts ---


def by_meaning(reader: ProjectReader, text: str, top: int, start: int) -> dict[str, Any]:
    nothing: dict[str, Any] = {"way": "meaning", "total": 0, "hits": []}
    if why := reader.skipped("meaning"):
        return nothing | {"note": why}
    words, excluded, notes = split_meaning(text)
    folded = fold_in(reader, words)
    if folded.direction is None:
        return nothing | {"note": none_known(folded.unknown)}
    arrays = reader.arrays("meaning")
    cosines = cosines_of(arrays["rows"], folded.direction)
    cosines[arrays["blank"]] = -1
    index = reader.index_or_none if excluded else None
    if index is not None:
        inner = index._fitted()
        bound = bind(Or(tuple(excluded)), text, inner.rule, inner.postings, EXPANSIONS)
        cosines[match(bound, inner.postings)[0]] = -1
        notes += bound.notes
    rows = best_first(cosines, start + top)[start:]
    notes += [f"Not used here: {listed(folded.unknown, 5)}."] if folded.unknown else []
    asked, rule = Wanted(Vocabulary.of(folded.words)), reader.vectorizer._token_rule()
    hits = describe_hits(reader, rows.tolist(), cosines, asked, rule)
    total = int((cosines > NOISE).sum())
    return {"way": "meaning", "total": total, "hits": hits, "note": " ".join(notes) or None}


def describe_hits(
    reader: ProjectReader, rows: list[int], scores: np.ndarray, asked: Wanted, rule: TokenRule
) -> list[dict[str, Any]]:
    texts = reader.texts(rows)
    shown = snippets(texts, asked, rule, WIDTH) if rows else []
    return [
        shown_hit(reader, row, scores[row], text, pieces(*each))
        for row, text, each in zip(rows, texts, shown, strict=True)
    ]


def plain_words(inner: Any, text: str, error: QueryError) -> tuple[Any, list[str]]:
    """A query that cannot be parsed, taken as plain words."""
    (words,) = inner.rule.words([text])
    if not words:
        raise error
    said = "The query was read as plain words: " + error.message.split(". ")[0] + "."
    return parse(" ".join(f'"{word}"' for word in dict.fromkeys(words)), "or"), [said]


def none_known(unknown: list[str]) -> str:
    if not unknown:
        return "The query holds no word."
    return (
        f"None of these words can place the query: {listed(unknown, 5)}. The documents do not "
        "hold them, or too few or too many do."
    )


SHARED = 6  # words


def similar(reader: ProjectReader, row: int, *, top: int = 10) -> dict[str, Any]:
    """The documents nearest to one in meaning, without it, and what they have in common."""
    row = reader.check_row(row)
    check_count("similar", "top", top, 0, MOST)
    if reader.skipped("counts"):
        return {"hits": [], "note": reader.skipped("counts")}
    note = None
    if why := reader.skipped("meaning"):
        note = f"By shared words alone. {why}"
        weights, _ = weights_of(reader, np.arange(reader.n))
        scores = np.asarray((weights @ weights[[row]].T).todense()).ravel()
    else:
        arrays = reader.arrays("meaning")
        if arrays["blank"][row]:
            return {"hits": [], "note": "This document holds no words to compare it by."}
        scores = cosines_of(arrays["rows"], np.asarray(arrays["rows"][row]))
        scores[arrays["blank"]] = -1
    scores[row] = -1
    rows = best_first(scores, top).tolist()
    return {"hits": shared_words(reader, row, rows, scores), "note": note}


def shared_words(
    reader: ProjectReader, row: int, rows: list[int], scores: np.ndarray
) -> list[dict[str, Any]]:
    if not rows:
        return []
    weights, used = weights_of(reader, np.array([row, *rows]))
    weights_of_row = np.zeros(weights.shape[1])
    weights_of_row[weights.indices[: weights.indptr[1]]] = weights.data[: weights.indptr[1]]
    hits = []
    rule = reader.vectorizer._token_rule()
    for i, (other, text) in enumerate(zip(rows, reader.texts(rows), strict=True), start=1):
        first, last = weights.indptr[i], weights.indptr[i + 1]
        parts = weights.data[first:last] * weights_of_row[weights.indices[first:last]]
        order = np.argsort(-parts, kind="stable")[:SHARED]
        chosen = weights.indices[first:last][order[parts[order] > 0]]
        shared = [str(word) for word in reader.words[used[chosen]]]
        (shown,) = snippets([text], Wanted(Vocabulary.of(shared)), rule, WIDTH)
        hit = shown_hit(reader, other, scores[other], text, pieces(*shown))
        hits.append(hit | {"shared": shared})
    return hits


# --- Hits that print themselves ---


def search_hits(reader: ProjectReader, text: str, top: int | None, way: str) -> Hits:
    """What a search finds, as ``InvertedIndex.search`` gives it."""
    if way not in WAYS:
        raise ValueError(f"search(way={way!r}) is unknown; choose from {list(WAYS)}.")
    if way == "meaning":
        return as_hits(reader, search(reader, text, way=way, top=MOST if top is None else top))
    index = reader.index_or_none
    if index is None:
        check_text(text)
        return Hits([], notes=[reader.skipped("counts") or "There are no words to search."])
    hits = index.search(text, top=top, operator="and" if way == "boolean" else "or")
    for word, like in spelled_like(reader, text).items():
        hits.notes.append(f"Instead of {word!r}, did you mean {' or '.join(like)}?")
    return hits


def similar_hits(reader: ProjectReader, document: int | str, top: int) -> Hits:
    """The documents most like one."""
    return as_hits(reader, similar(reader, reader.row_of(document), top=top))


def as_hits(reader: ProjectReader, answer: Mapping[str, Any]) -> Hits:
    hits = []
    for hit in answer["hits"]:
        text, marks = "", []
        for piece, marked in hit["snippet"]:
            if marked:
                marks.append((len(text), len(text) + len(piece)))
            text += piece
        hits.append(Hit(reader.id_of(hit["row"]), hit["score"], text, tuple(marks)))
    notes = [answer["note"]] if answer.get("note") else []
    return Hits(hits, total=answer.get("total"), notes=notes)

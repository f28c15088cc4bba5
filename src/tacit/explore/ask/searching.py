"""Search: by words, by words ranked, and by meaning."""

from typing import Any

import numpy as np

from tacit.explore.ask.live import Live
from tacit.explore.ask.meaning_space import cosines_of, fold_in
from tacit.explore.ask.showing import check_count, pieces, shown_hit
from tacit.search.inverted_index import EXPANSIONS, to_mark
from tacit.search.matching import Ranking, answer, match
from tacit.search.query import QueryError, parse
from tacit.search.query_terms import bind
from tacit.search.snippets import Asked, snippets
from tacit.text.tokens import TokenRule
from tacit.text.vocabulary import Vocabulary

__all__ = ["WAYS", "matching_rows", "search"]

WAYS = ("ranked", "boolean", "meaning")
MOST = 1000  # hits in one answer
DEEPEST = 10_000_000
WIDTH = 200  # characters of a snippet
LONGEST = 10_000  # characters of a query
NOISE = 1e-3  # cosines up to this are rounding and chance


def search(
    live: Live, text: str, *, way: str = "ranked", top: int = 20, start: int = 0
) -> dict[str, Any]:
    """Documents for a query: all that match ("boolean"), the best by words ("ranked") or the
    nearest in meaning ("meaning")."""
    if way not in WAYS:
        raise ValueError(f"search(way={way!r}) is unknown; choose from {list(WAYS)}.")
    check_text(text)
    check_count("search", "top", top, 0, MOST)
    check_count("search", "start", start, 0, DEEPEST)
    if way == "meaning":
        return by_meaning(live, text, top, start)
    index = live.index_or_none
    if index is None:
        return {"way": way, "total": 0, "hits": [], "note": live.skipped("counts")}
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
    hits = listed(live, rows[start:], scores, asked, inner.rule.token)
    return {"way": way, "total": total, "hits": hits, "note": joined(notes + bound.notes)}


def matching_rows(live: Live, text: str) -> np.ndarray:
    """All documents that match a Boolean query."""
    check_text(text)
    index = live.index_or_none
    if index is None:
        return np.zeros(0, np.int64)
    inner = index._fitted()
    bound = bind(parse(text), text, inner.rule, inner.postings, EXPANSIONS)
    return match(bound, inner.postings)[0].astype(np.int64)


# --- Parts ---


def by_meaning(live: Live, text: str, top: int, start: int) -> dict[str, Any]:
    nothing: dict[str, Any] = {"way": "meaning", "total": 0, "hits": []}
    if why := live.skipped("meaning"):
        return nothing | {"note": why}
    folded = fold_in(live, text)
    if folded.direction is None:
        return nothing | {"note": none_known(folded.unknown)}
    found = live.arrays("meaning")
    cosines = cosines_of(found["rows"], folded.direction)
    cosines[found["blank"]] = -1
    rows = best_first(cosines, start + top)[start:]
    notes = [f"Not used here: {quoted(folded.unknown)}."] if folded.unknown else []
    asked, rule = Asked(Vocabulary.of(folded.words)), live.vectorizer._token_rule()
    hits = listed(live, rows.tolist(), cosines, asked, rule)
    total = int((cosines > NOISE).sum())
    return {"way": "meaning", "total": total, "hits": hits, "note": joined(notes)}


def best_first(scores: np.ndarray, top: int) -> np.ndarray:
    """The rows with the highest scores, of equals the lowest row first; none that has next to
    nothing in common."""
    from tacit.language.generation import highest

    rows = highest(scores, min(top, len(scores)))
    return rows[scores[rows] > NOISE]


def listed(
    live: Live, rows: list[int], scores: np.ndarray, asked: Asked, rule: TokenRule
) -> list[dict[str, Any]]:
    texts = live.texts(rows)
    shown = snippets(texts, asked, rule, WIDTH) if rows else []
    return [
        shown_hit(live, row, scores[row], text, pieces(*each))
        for row, text, each in zip(rows, texts, shown, strict=True)
    ]


def plain_words(inner: Any, text: str, error: QueryError) -> tuple[Any, list[str]]:
    """A query that is no query, taken as words."""
    (words,) = inner.rule.words([text])
    if not words:
        raise error
    said = "The query was read as plain words: " + error.message.split(". ")[0] + "."
    return parse(" ".join(f'"{word}"' for word in dict.fromkeys(words)), "or"), [said]


def check_text(text: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"A query is text, but this one is of type {type(text).__name__}.")
    if len(text) > LONGEST:
        raise QueryError(
            f"The query has {len(text):,} characters, and {LONGEST:,} is the most. Shorten it."
        )
    if not text.strip():
        raise QueryError("The query is empty. Give at least one word.")


def none_known(unknown: list[str]) -> str:
    if not unknown:
        return "The query holds no word."
    return (
        f"None of these words can place the query: {quoted(unknown)}. The documents do not "
        "hold them, or too few or too many do."
    )


def quoted(words: list[str]) -> str:
    more = f" and {len(words) - 5} more" if len(words) > 5 else ""
    return ", ".join(words[:5]) + more


def joined(notes: list[str]) -> str | None:
    return " ".join(notes) or None

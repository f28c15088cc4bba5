"""Documents most like one, and the words that they share."""

from typing import Any

import numpy as np

from tacit.explore.ask.live import Live
from tacit.explore.ask.meaning_space import cosines_of, weights_of
from tacit.explore.ask.searching import MOST, WIDTH, best_first
from tacit.explore.ask.showing import check_count, pieces, shown_hit
from tacit.search.snippets import Asked, snippets
from tacit.text.vocabulary import Vocabulary

__all__ = ["similar"]

SHARED = 6  # words


def similar(live: Live, row: int, *, top: int = 10) -> dict[str, Any]:
    """The documents nearest to one in meaning, without it, and what they have in common."""
    row = live.check_row(row)
    check_count("similar", "top", top, 0, MOST)
    if live.skipped("counts"):
        return {"hits": [], "note": live.skipped("counts")}
    note = None
    if why := live.skipped("meaning"):
        note = f"By shared words alone. {why}"
        weights, _ = weights_of(live, np.arange(live.n))
        scores = np.asarray((weights @ weights[[row]].T).todense()).ravel()
    else:
        found = live.arrays("meaning")
        if found["blank"][row]:
            return {"hits": [], "note": "This document holds no words to compare it by."}
        scores = cosines_of(found["rows"], np.asarray(found["rows"][row]))
        scores[found["blank"]] = -1
    scores[row] = -1
    rows = best_first(scores, top).tolist()
    return {"hits": listed(live, row, rows, scores), "note": note}


def listed(live: Live, row: int, rows: list[int], scores: np.ndarray) -> list[dict[str, Any]]:
    if not rows:
        return []
    weights, used = weights_of(live, np.array([row, *rows]))
    own = np.zeros(weights.shape[1])
    own[weights.indices[: weights.indptr[1]]] = weights.data[: weights.indptr[1]]
    hits = []
    rule = live.vectorizer._token_rule()
    for i, (other, text) in enumerate(zip(rows, live.texts(rows), strict=True), start=1):
        first, last = weights.indptr[i], weights.indptr[i + 1]
        parts = weights.data[first:last] * own[weights.indices[first:last]]
        order = np.argsort(-parts, kind="stable")[:SHARED]
        chosen = weights.indices[first:last][order[parts[order] > 0]]
        shared = [str(word) for word in live.words[used[chosen]]]
        (shown,) = snippets([text], Asked(Vocabulary.of(shared)), rule, WIDTH)
        hit = shown_hit(live, other, scores[other], text, pieces(*shown))
        hits.append(hit | {"shared": shared})
    return hits

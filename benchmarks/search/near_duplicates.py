"""Near-duplicates among the posts of 20 Newsgroups, against datasketch.

The 18,846 posts (training and test set, headers and all, in ASCII) where TACIT_DATA has them;
else generated documents of Zipf words, a tenth of them copies with some words changed. Shingles
are runs of four words, two documents are alike from a Jaccard similarity of 0.8. Both make
signatures of 128 hashes from the text, put them into bands and compare the candidates exactly.
Left to itself, datasketch chooses bands for equal weight of what it misses and what it finds
in vain; Tacit for a recall of 0.99 at the threshold. datasketch runs with both.

The quality is the recall: pairs found over all there are, of which the pairs are listed by a
product of the sparse matrix of shingles with itself. Tacit's pairs of equal documents count
through the first of them.
"""

import re
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Answer, Case, Contender, Data
from benchmarks.text.counts import corpus

__all__ = ["cases"]

WORD = re.compile(r"\w+")
SHINGLE, THRESHOLD, HASHES = 4, 0.8, 128

datasketch = partial(Contender, package="datasketch", install="datasketch", rival="datasketch")


def cases(scale: float) -> list[Case]:
    return [
        Case(
            "posts, threshold 0.8",
            partial(posts, scale),
            (
                Contender("Tacit", tacit_pairs),
                datasketch("datasketch", partial(datasketch_pairs, bands=None)),
                datasketch("datasketch, same bands", partial(datasketch_pairs, bands=(21, 6))),
            ),
            recall,
            measure="recall",
            lower_is_better=False,
            tolerance=0.01,
            targets={"datasketch": 10.0},
        )
    ]


# --- Data ---


def posts(scale: float, folder: Path) -> Data:
    texts, origin = corpus()
    texts = texts[: int(len(texts) * scale)]
    if origin.startswith("generated"):
        texts = with_copies(texts)
    pairs = true_pairs(texts)
    about = f"{origin}; {len(texts):,} documents, {len(pairs):,} pairs alike"
    return {"texts": texts, "pairs": pairs, "about": about}


def with_copies(texts: list[str]) -> list[str]:
    rng = np.random.default_rng(6)
    out = list(texts)
    for i in rng.permutation(len(texts))[: len(texts) // 10]:
        words = texts[i].split()
        for j in rng.integers(len(words), size=rng.integers(0, 8)):
            words[j] = "changed"
        out.append(" ".join(words))
    return out


def shingles(text: str) -> set[tuple[str, ...]]:
    words = WORD.findall(text.lower())
    size = min(SHINGLE, len(words))
    return (
        {tuple(words[i : i + size]) for i in range(len(words) - size + 1)} if words else set()
    )


def true_pairs(texts: list[str]) -> set[tuple[int, int]]:
    """All pairs at the threshold or above."""
    column_of: dict[tuple[str, ...], int] = {}
    rows, columns, sizes = [], [], []
    for i, text in enumerate(texts):
        own = [column_of.setdefault(each, len(column_of)) for each in shingles(text)]
        rows += [i] * len(own)
        columns += own
        sizes.append(len(own))
    n, size = len(texts), np.array(sizes)
    matrix = sp.csr_array(
        (np.ones(len(rows), np.int32), (rows, columns)), shape=(n, len(column_of))
    )
    found = set()
    for start in range(0, n, 1000):  # the whole product would be large
        shared = (matrix[start : start + 1000] @ matrix.T).tocoo()
        i, j = shared.row + start, shared.col
        alike = (i < j) & (shared.data >= THRESHOLD * (size[i] + size[j] - shared.data))
        found |= set(zip(i[alike].tolist(), j[alike].tolist(), strict=True))
    return found


def recall(data: Data, answer: Answer) -> float:
    found, equal = {tuple(sorted(pair)) for pair in answer["pairs"]}, answer.get("equal", {})
    for left, right in list(found):
        both = product(equal.get(left, [left]), equal.get(right, [right]))
        found |= {(min(pair), max(pair)) for pair in both if pair[0] != pair[1]}
    for rows in equal.values():
        found |= set(combinations(sorted(rows), 2))
    wanted = data["pairs"]
    strange = found - wanted
    if strange:
        raise ValueError(f"{len(strange)} pairs are not alike, {sorted(strange)[0]} for one.")
    return len(found & wanted) / max(1, len(wanted))


# --- Contenders ---


def tacit_pairs(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.search import NearDuplicates

    model = NearDuplicates(
        THRESHOLD, shingle=SHINGLE, n_hashes=HASHES, random_state=0, engine=Threads(threads)
    ).fit(data["texts"])
    equal: dict[int, list[int]] = {}
    for (left, right), jaccard in zip(model.pairs_.tolist(), model.jaccard_, strict=True):
        if jaccard == 1.0:
            equal.setdefault(left, [left]).append(right)
    return {
        "pairs": model.pairs_.tolist(),
        "equal": equal,
        "bands": f"{model.bands_} x {model.rows_}",
        "compared": model.n_compared_,
    }


def datasketch_pairs(data: Data, threads: int, *, bands: tuple[int, int] | None) -> Answer:
    from datasketch import MinHash, MinHashLSH

    sets: list[Any] = [shingles(text) for text in data["texts"]]
    raw = [[" ".join(each).encode() for each in own] for own in sets]
    hashes = MinHash.bulk(raw, num_perm=HASHES, seed=1)
    index = MinHashLSH(threshold=THRESHOLD, num_perm=HASHES, params=bands)
    pairs, compared = [], 0
    for i, each in enumerate(hashes):
        if not sets[i]:
            continue
        for j in index.query(each):
            compared += 1
            shared = len(sets[i] & sets[j])
            if shared >= THRESHOLD * (len(sets[i]) + len(sets[j]) - shared):
                pairs.append((j, i))
        index.insert(i, each)
    return {"pairs": pairs, "bands": f"{index.b} x {index.r}", "compared": compared}

"""Latent semantic analysis: documents and words as directions in one space, the map of the
documents, and the nearest neighbors of frequent words."""

import numpy as np
import scipy.sparse as sp

from tacit.explore.stages.stage import Context, Output

__all__ = [
    "draw_map", "find_meaning", "find_word_neighbors", "idf_power", "use_words", "word_weights",
]  # fmt: skip

DIRECTIONS = {"quick": 50, "normal": 100, "thorough": 200}
MOST_SHARE = 0.5  # of the documents that a word may be in
LONG = 250  # different words of a typical document, from which on the plain weight is used
ROUNDING = 1e-6  # of the longest row; shorter ones are none
RARE = 5000  # and of a large one, one in 5000: no direction depends on rarer words
MAP_STEPS = {"quick": 300, "normal": 600, "thorough": 1200}
MANY = 100_000  # documents, beyond which a map step is slow and detail cannot be seen
WORDS = {"quick": 2000, "normal": 5000, "thorough": 10_000}  # that get neighbors
NEAREST = 8


def find_meaning(context: Context) -> Output:
    """Rows of length one for documents and for words; words are near each other that occur
    in the same documents, or in documents that do."""
    from tacit.decompose import TruncatedSVD

    if why := context.skipped("counts"):
        return Output(skipped=why)
    counts = context.matrix("counts", "counts")
    used = use_words(context.arrays("counts")["document_counts"], counts.shape[0])
    n, width = counts.shape[0], len(used)
    if n < 3 or width < 3:
        return Output(skipped=too_few(n, width, counts.shape[1]))
    weights = weight_counts(counts, used, context.arrays("counts")["document_counts"])
    directions = min(DIRECTIONS[context.settings.effort], width, n)
    svd = TruncatedSVD(
        directions,
        random_state=context.settings.seed,
        engine=context.engine,
        callbacks=list(context.callbacks),
    )
    rows, lengths = directions_of(svd.fit_transform(weights))
    blank = lengths == 0
    words, word_lengths = directions_of((svd.components_ * svd.singular_values_[:, None]).T)
    return Output(
        arrays={
            "rows": rows,
            "blank": blank,
            "words": words,
            "used": used.astype(np.int64),
            "idf_power": np.array([idf_power(counts, used)], np.int64),
            # With these, words are directions of V again, and a query can be folded in.
            "word_lengths": word_lengths.astype(np.float32),
            "singular_values": svd.singular_values_.astype(np.float32),
        },
        facts={
            "directions": directions,
            "words": width,
            "idf_power": idf_power(counts, used),
            "explained": float(svd.explained_variance_ratio_.sum()),
            "blank": int(blank.sum()),
        },
    )


def weight_counts(
    counts: sp.csr_array, used: np.ndarray, document_counts: np.ndarray
) -> sp.csr_array:
    """Documents by these words, float32, of length one: 1 + log of the count, times the
    weight of the word."""
    chosen = sp.csr_array(counts[:, used])
    power = idf_power(counts, used)
    worth = word_weights(document_counts[used], counts.shape[0], power)
    data = (1 + np.log(chosen.data)) * worth[chosen.indices]
    sizes = np.diff(chosen.indptr)
    squares = np.add.reduceat(np.append(data**2, 0.0), chosen.indptr[:-1])
    lengths = np.sqrt(np.where(sizes > 0, squares, 1.0))  # reduceat gives no empty sums
    data = (data / np.repeat(lengths, sizes)).astype(np.float32)
    return sp.csr_array((data, chosen.indices, chosen.indptr), shape=chosen.shape)


def directions_of(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows at length one, float32, and their lengths. A row of zeros stays one, and what is
    rounding compared with the longest row is zero: it points nowhere."""
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
    lengths[lengths < ROUNDING * lengths.max(initial=0.0)] = 0.0
    out = np.ascontiguousarray(rows, np.float32)
    scale = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1.0), 0.0)
    return out * scale.astype(np.float32)[:, None], lengths


def word_weights(document_counts: np.ndarray, n: int, power: int = 2) -> np.ndarray:
    """The weight of a word by the number of its documents, of n: a power of the inverse
    document frequency.

    >>> word_weights(np.array([1, 4]), 9).round(2).tolist()
    [2.59, 0.48]
    >>> word_weights(np.array([1, 4]), 9, power=1).round(2).tolist()
    [1.61, 0.69]
    """
    return np.log((1 + n) / (1 + document_counts.astype(np.float64))) ** power


def idf_power(counts: sp.csr_array, used: np.ndarray) -> int:
    """2 for short documents, 1 for long ones. In short ones the plain inverse document
    frequency leaves function words so much weight that directions follow style rather than
    subject. In long ones those are in most documents and so not used at all, and the squared
    weight lets names of few documents decide.

    >>> idf_power(sp.csr_array(np.ones((3, 4))), np.arange(4))
    2
    """
    chosen = np.zeros(counts.shape[1], bool)
    chosen[used] = True
    sums = np.concatenate([[0], np.cumsum(chosen[counts.indices])])
    each = sums[counts.indptr[1:]] - sums[counts.indptr[:-1]]
    return 1 if len(each) and np.median(each) >= LONG else 2


def too_few(n: int, width: int, words: int) -> str:
    """What is said where there is too little to compare."""
    if n < 3:
        return f"Comparing takes 3 documents; there {'is 1' if n == 1 else f'are {n}'}."
    rare = f"{fewest(n)} or more of the {n:,} documents and in " if n >= 10 else ""
    these = "them" if rare else f"the {n:,} documents"
    return (
        f"Of {words:,} different words, {width:,} {'is' if width == 1 else 'are'} in {rare}no "
        f"more than half of {these}; comparing takes 3."
    )


def fewest(n: int) -> int:
    """Documents that a word must be in to compare by."""
    if n < 100:
        return 2 if n >= 10 else 1
    return max(3, n // RARE)


def use_words(document_counts: np.ndarray, n: int) -> np.ndarray:
    """The words that are in some documents and not in most."""
    least = fewest(n)
    most = max(MOST_SHARE * n, least)
    return np.flatnonzero((document_counts >= least) & (document_counts <= most))


# --- Map and neighbors ---


def draw_map(context: Context) -> Output:
    """Documents as points in the plane, and how far the map can be trusted."""
    from tacit.decompose import NeighborMap

    if why := context.skipped("meaning"):
        return Output(skipped=why)
    rows = context.arrays("meaning")["rows"]
    steps = MAP_STEPS[context.settings.effort] * min(1.0, (MANY / max(len(rows), 1)) ** 0.5)
    model = NeighborMap(
        n_steps=int(steps),
        random_state=context.settings.seed,
        engine=context.engine,
        callbacks=list(context.callbacks),
    ).fit(rows)
    return Output(
        arrays={
            "points": model.embedding_,
            "neighbors": model.neighbors_,
            "squares": model.squares_,
        },
        facts={"kept": model.kept_, "recall": model.recall_},
    )


def find_word_neighbors(context: Context) -> Output:
    """For the words in most documents, the words nearest to them in meaning."""
    from tacit.decompose.nearest_rows import nearest_rows

    if why := context.skipped("meaning"):
        return Output(skipped=why)
    found, counted = context.arrays("meaning"), context.arrays("counts")
    used, spread = found["used"], counted["document_counts"]
    order = np.lexsort([used, -spread[used]])[: WORDS[context.settings.effort]]
    shown = np.sort(order)
    rows, k = np.ascontiguousarray(found["words"][shown]), min(NEAREST, len(shown) - 1)
    near = nearest_rows(rows, k, context.engine, seed=context.settings.seed)
    cosine = (1 - near.squares / 2).astype(np.float32)
    return Output(
        arrays={"words": used[shown], "neighbors": near.places, "cosine": cosine},
        facts={"words": len(shown), "of": len(used)},
    )

"""Latent semantic analysis: documents and words as directions in one space, the map of the
documents, and the nearest neighbors of frequent words."""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from tacit.core.engines import Engine, Serial, check_stop, one_blas_thread
from tacit.core.errors import DataError
from tacit.core.randoms import key, permutation, seed_from
from tacit.core.wording import count
from tacit.explore.stages.stage import Context, Output
from tacit.kernels.sparse_rows import multiply_by_products

__all__ = [
    "draw_map", "few_components", "find_meaning", "find_word_neighbors", "use_words",
    "word_weights",
]  # fmt: skip

DIRECTIONS = {"quick": 50, "normal": 100, "thorough": 200}  # at most
# Directions of a small collection, where more would be of words that met by chance: one for 8
# documents, from 12 to 25; one for 20 where that is more. The benchmark is ``groups``.
PER_DIRECTION, SMALL, FEWEST_DIRECTIONS = 20, 8, (12, 25)
MOST_SHARE = 0.5  # of the documents that a word may be in
HALVED = 1500  # documents that decide on the power of the inverse document frequency
FEW = 31  # documents below which they cannot
DENSE = 300  # documents whose products are all computed
PRECISION = 1e-4  # of eigenvalues
FOUND = 0.99  # mean reciprocal rank from which on nothing is left to find better
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
    known = context.arrays("counts")["document_counts"]
    used = use_words(known, counts.shape[0])
    n, width = counts.shape[0], len(used)
    if n < 3 or width < 3:
        return Output(skipped=too_few(n, width, counts.shape[1]))
    spread = known[used]
    chosen = sp.csr_array(counts[:, used])
    low, high = FEWEST_DIRECTIONS
    few = max(n // PER_DIRECTION, min(max(n // SMALL, low), high))
    directions = min(few, DIRECTIONS[context.settings.effort], width, n)
    seed = seed_from(context.settings.seed)
    power = choose_power(chosen, spread, directions, seed, context.engine)
    weights = weight_counts(chosen, word_weights(spread, n, power))
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
            "lengths": (lengths * fraction_used(counts, known, used, power)).astype(np.float32),
            "blank": blank,
            "words": words,
            "used": used.astype(np.int64),
            "idf_power": np.array([power], np.int64),
            # With these, words are directions of V again, and a query can be folded in.
            "word_lengths": word_lengths.astype(np.float32),
            "singular_values": svd.singular_values_.astype(np.float32),
        },
        facts={
            "directions": directions,
            "words": width,
            "idf_power": power,
            "explained": float(svd.explained_variance_ratio_.sum()),
            "blank": int(blank.sum()),
        },
    )


def weight_counts(counts: sp.csr_array, worth: np.ndarray) -> sp.csr_array:
    """Documents by words, float32, of length one: 1 + log of the count, times what the word is
    worth."""
    data = (1 + np.log(counts.data)) * worth[counts.indices]
    sizes = np.diff(counts.indptr)
    squares = np.add.reduceat(np.append(data**2, 0.0), counts.indptr[:-1])
    lengths = np.sqrt(np.where(sizes > 0, squares, 1.0))  # reduceat gives no empty sums
    data = (data / np.repeat(lengths, sizes)).astype(np.float32)
    return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


def fraction_used(
    counts: sp.csr_array, spread: np.ndarray, used: np.ndarray, power: int
) -> np.ndarray:
    """The length of each document along some words over its length along all words."""
    n = counts.shape[0]
    squares = ((1 + np.log(counts.data)) * word_weights(spread, n, power)[counts.indices]) ** 2
    rows = np.repeat(np.arange(n), np.diff(counts.indptr))
    known = np.zeros(counts.shape[1])
    known[used] = 1
    some, whole = (np.bincount(rows, x, n) for x in (squares * known[counts.indices], squares))
    return np.sqrt(some / np.maximum(whole, 1e-12))


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
    if type(power) is not int or not 0 <= power < 100:  # read from the facts of a project
        raise DataError(
            f"The project is damaged: idf_power={str(power)[:40]!r} is no small number. Run "
            "tacit explore again."
        )
    return np.log((1 + n) / (1 + document_counts.astype(np.float64))) ** power


def choose_power(
    counts: sp.csr_array, spread: np.ndarray, directions: int, seed: np.uint64,
    engine: Engine | None = None,
) -> int:  # fmt: skip
    """1 or 2: the power of the inverse document frequency with which one half of the words of
    a document finds the other half better.

    In short documents the plain inverse document frequency leaves function words so much
    weight that directions follow style rather than subject; in long ones the squared one lets
    names of few documents decide. So every token of a document goes to one of two halves at
    random, the halves are compared along the directions of the first ones, and the power with
    the higher mean reciprocal rank is taken; the plain weight, where that finds nearly all.
    ``spread`` has the documents of every word.
    """
    n = counts.shape[0]
    some = sp.csr_array(counts[np.sort(permutation(key(seed, 31), n)[:HALVED])])
    draw = np.random.RandomState(int(key(seed, 32)) % 2**32)
    halves = []
    first = draw.binomial(some.data.astype(np.int64), 0.5)
    for data in (first, some.data - first):
        half = sp.csr_array((data, some.indices, some.indptr), shape=some.shape, copy=True)
        half.eliminate_zeros()
        halves.append(half)
    both = np.flatnonzero(np.all([np.diff(half.indptr) > 0 for half in halves], axis=0))
    if len(both) < FEW:
        return 2

    def rank(power: int) -> float:
        worth = word_weights(spread, n, power)
        one, other = (weight_counts(sp.csr_array(half[both]), worth) for half in halves)
        return reciprocal_rank(one, other, min(directions, len(both)), seed)

    ranks = list((engine or Serial()).each(rank, (1, 2)))
    return 1 if ranks[0] > min(ranks[1], FOUND) else 2


def reciprocal_rank(
    first: sp.csr_array, second: sp.csr_array, directions: int, seed: np.uint64
) -> float:
    """The mean of 1 / rank at which a row of ``second`` finds its own row of ``first``, along
    the directions of those."""
    turn = few_components(first, directions, seed)
    with one_blas_thread():  # more may round differently
        cosines = directions_of(second @ turn)[0] @ directions_of(first @ turn)[0].T
    ranks = 1 + np.count_nonzero(cosines > np.diag(cosines)[:, None], axis=1)
    return float(np.mean(1 / ranks))


def few_components(rows: sp.csr_array, k: int, seed: np.uint64) -> np.ndarray:
    """The first k right singular vectors of a few thousand rows at most, as columns.

    They come from the eigenvectors of the products between rows: of the matrix of them where
    there are few rows, else by Lanczos (ARPACK), which here takes half the time of
    ``TruncatedSVD`` or less. A direction without any rows is zero.
    """
    n, columns = rows.shape[0], sp.csr_array(rows.T)
    with one_blas_thread():  # more may round differently
        if n <= max(DENSE, 2 * k):
            products = (rows @ columns).toarray().astype(np.float64)
            squares, left = eigh(products, subset_by_index=(n - k, n - 1))
        else:
            rng = np.random.default_rng(int(seed))
            start = rng.standard_normal(n).astype(rows.dtype)
            out, across = np.empty(n, rows.dtype), np.empty(columns.shape[0], rows.dtype)

            def times_products(x: np.ndarray) -> np.ndarray:
                check_stop()
                multiply_by_products(rows.indptr, rows.indices, rows.data, x, across, out)
                return out

            products = LinearOperator((n, n), matvec=times_products, dtype=rows.dtype)
            squares, left = eigsh(products, k, v0=start, tol=PRECISION, rng=rng)
        lengths = np.sqrt(np.maximum(squares[::-1], 0))
        known = lengths > ROUNDING * max(lengths[0], ROUNDING)
        scale = np.where(known, 1 / np.where(known, lengths, 1.0), 0.0)
        return (columns @ (left[:, ::-1] * scale)).astype(np.float32)


def too_few(n: int, width: int, words: int) -> str:
    """What is said where there is too little to compare."""
    if n < 3:
        return f"Comparing takes 3 documents; there {'is 1' if n == 1 else f'are {n}'}."
    rare = f"at least {fewest(n)} and " if n >= 10 else ""
    return (
        f"Comparing takes 3 words that are in {rare}at most half of the {n:,} documents; of "
        f"{count(words, 'different word')}, {width or 'none'} {'is' if width == 1 else 'are'}."
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

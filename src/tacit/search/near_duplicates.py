"""Find near-duplicate documents.

    collect    the shingles and the signature of every document of a block (``search.minhash``)
    gather     the sets and signatures of all blocks; equal sets are compared once
    compare    distinct documents that agree in a band of the signature, shingle by shingle
    group      connected components of the pairs at or above the threshold
    complete   compare the remaining pairs inside small groups

Contract: summable; every step depends on the seed and the documents alone. Every pair that is
reported was verified: its Jaccard similarity is exact (but for collisions of 64-bit hashes).
Equal documents are always found; others with at least the probability of ``recall_at``.

Broder (1997), On the resemblance and containment of documents. Manning, Raghavan and Schütze
(2008), Introduction to Information Retrieval, section 19.6.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.disk_array import SpillFile
from tacit.core.engines import Engine, check_stop, get_engine
from tacit.core.estimator import Estimator
from tacit.core.kernel import kernel
from tacit.core.memory import parse_memory
from tacit.core.randoms import seed_from
from tacit.core.string_array import StringArray, offsets_of
from tacit.data.documents import Documents
from tacit.kernels.call_ranges import call_ranges
from tacit.search.minhash import Shingles, choose_bands, collect, hashing, recall_at
from tacit.text.tokens import RULES, token_rule

__all__ = ["DuplicatePair", "NearDuplicates"]

U = np.uint64
CALL_HASHES = 2**25  # compared between two returns to Python: some 50 ms
SMALL_GROUP = 64  # documents of a bucket or group of which all pairs are compared


@dataclass(frozen=True)
class DuplicatePair:
    """Two near-duplicate documents.

    >>> print(DuplicatePair("a.txt", "b.txt", 0.875, 0.9))
    a.txt  b.txt  0.900
    """

    left: int | str
    right: int | str
    estimated: float  # Jaccard similarity, from the signatures
    jaccard: float  # and exactly, from the shingles

    def to_dict(self) -> dict[str, Any]:
        """The pair as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.left}  {self.right}  {self.jaccard:.3f}"


class NearDuplicates(ClusterMixin, Estimator):
    """Group documents that have most of their shingles (runs of words) in common.

    Parameters
    ----------
    threshold : float
        Jaccard similarity of shingles from which two documents are near-duplicates, above 0.
    shingle : int
        Words in a shingle. More make the measure stricter: changing one word changes as many
        shingles.
    recall : float
        Probability of comparing a pair at the threshold; it is higher for more similar pairs.
        Determines how signatures are cut into bands.
    n_hashes : int
        Length of the signatures, 4 bytes per hash and document.
    rule, lowercase, min_length
        Tokenizer, see ``tacit.text.tokenize``.
    memory : int, or str such as "2GB"
        How much of the shingles, 8 bytes each, to keep in memory; the remainder goes to a
        temporary file.
    random_state : int, RandomState or None
        Seed of the hash functions.
    engine : {"serial", "threads", "dask"} or Engine
        Where the pass runs.

    Attributes
    ----------
    labels_ : int32 array of shape (n_documents,)
        The group of each document, numbered by first documents; -1 for one without duplicates.
    pairs_ : int32 array of shape (n_pairs, 2)
        Near-duplicates. In groups of up to 64 documents, all pairs at or above the threshold;
        in larger ones, links enough to connect the group (equal documents each with the first).
    jaccard_, estimated_ : float64 arrays of shape (n_pairs,)
        Their similarity: exact, and estimated from the signatures.
    empty_ : int32 array
        Documents without words. They are never duplicates.
    bands_, rows_ : int
        Number of bands, and hashes in each.
    n_compared_ : int
        Pairs whose shingles were compared.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "a dog", "The cat sat on the mat!", "", ""]
    >>> model = NearDuplicates(0.8, random_state=0).fit(texts)
    >>> model.groups()
    [[0, 2]]
    >>> model.labels_, model.empty_
    (array([ 0, -1,  0, -1, -1], dtype=int32), array([3, 4], dtype=int32))
    """

    contract: ClassVar[str] = "summable"
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "threshold": [Interval(Real, 0, 1, closed="right")],
        "shingle": [Interval(Integral, 1, 1000, closed="both")],
        "recall": [Interval(Real, 0, 1, closed="neither")],
        "n_hashes": [Interval(Integral, 1, 4096, closed="both")],
        "rule": [StrOptions(set(RULES))],
        "lowercase": ["boolean"],
        "min_length": [Interval(Integral, 1, None, closed="left")],
        "memory": [Interval(Real, 0, None, closed="neither"), str],
        "random_state": ["random_state"],
    }
    _file_schema: ClassVar[dict] = {
        "labels_": ("n_documents_",),
        "pairs_": ("n_pairs", 2),
        "jaccard_": ("n_pairs",),
        "estimated_": ("n_pairs",),
        "empty_": (None,),
        "names_": (None,),
        "name_edges_": ("n_documents_+1",),
    }
    _file_optional = ("names_", "name_edges_")
    _file_kinds: ClassVar[dict] = {"labels_": "i", "pairs_": "i", "empty_": "i"}
    _file_types: ClassVar[dict] = {"bands_": int, "rows_": int, "n_compared_": int}
    _file_renamed: ClassVar[dict] = {"memory_bytes": "memory"}

    def __init__(
        self,
        threshold: float = 0.8,
        *,
        shingle: int = 4,
        recall: float = 0.99,
        n_hashes: int = 128,
        rule: str = "plain",
        lowercase: bool = True,
        min_length: int = 1,
        memory: int | float | str = 2**30,
        random_state: Any = None,
        engine: str | Engine = "threads",
    ) -> None:
        self.threshold, self.shingle, self.recall = threshold, shingle, recall
        self.n_hashes, self.rule, self.lowercase = n_hashes, rule, lowercase
        self.min_length, self.memory, self.random_state = min_length, memory, random_state
        self.engine = engine

    def fit(self, documents: Any, y: Any = None) -> "NearDuplicates":
        """Find the groups in a list of str, a generator, a dataframe, a path, or Documents."""
        self._validate_params()
        bands, rows = choose_bands(self.threshold, self.n_hashes, self.recall)
        source = Documents.of(documents)
        if not len(source):
            raise ValueError("NearDuplicates needs documents, but there are none. Give some.")
        token = token_rule(self.rule, bool(self.lowercase), int(self.min_length))
        params = hashing(token, self.shingle, bands * rows, seed_from(self.random_state))
        blocks = get_engine(self.engine).map(collect, params, source)
        sets = gather(blocks, parse_memory(self.memory) or 2**30)
        equal, chosen = equal_sets(sets)
        close, compared = similar_sets(sets, chosen, bands, rows, self.threshold)
        links = Pairs(
            np.concatenate([equal.rows, close.rows]),
            np.concatenate([equal.jaccard, close.jaccard]),
        )
        self.labels_ = group(links.rows, len(source))
        pairs, compared_inside = complete(sets, self.labels_, links, self.threshold)
        self.n_documents_ = len(source)
        self.bands_, self.rows_ = bands, rows
        self.n_compared_ = len(equal.rows) + compared + compared_inside
        self.pairs_, self.jaccard_ = pairs
        self.estimated_ = estimate(sets.signatures, pairs.rows)
        self.empty_ = np.flatnonzero(np.diff(sets.edges) == 0).astype(np.int32)
        if source.names is not None:
            self.names_, self.name_edges_ = StringArray.of(source.names)
        elif hasattr(self, "names_"):
            del self.names_, self.name_edges_
        return self

    def groups(self) -> list[list[int | str]]:
        """The groups, the largest first; each is the ids of its documents in order."""
        check_is_fitted(self)
        inside = np.flatnonzero(self.labels_ >= 0)
        order = inside[np.argsort(self.labels_[inside], kind="stable")]
        cuts = np.flatnonzero(np.diff(self.labels_[order])) + 1
        parts = np.split(order, cuts) if len(order) else []
        ids = self._ids()
        parts = sorted(parts, key=lambda part: -len(part))
        return [[ids(row) for row in part.tolist()] for part in parts]

    def pairs(self) -> list[DuplicatePair]:
        """Near-duplicates with their similarity, as in ``pairs_``.

        In groups of up to 64 documents all pairs at or above the threshold are listed; a larger
        group is connected by the pairs listed, but has more.
        """
        check_is_fitted(self)
        ids = self._ids()
        columns = (self.pairs_[:, 0], self.pairs_[:, 1], self.estimated_, self.jaccard_)
        return [
            DuplicatePair(ids(left), ids(right), estimated, jaccard)
            for left, right, estimated, jaccard in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]

    def unique_rows(self) -> np.ndarray:
        """The rows to keep: the first of each group, and all documents without duplicates."""
        check_is_fitted(self)
        _, first = np.unique(self.labels_, return_index=True)
        keep = self.labels_ < 0
        keep[first] = True
        return np.flatnonzero(keep)

    def expected_recall(self, similarity: float) -> float:
        """The probability that a pair of some similarity is compared."""
        check_is_fitted(self)
        return recall_at(similarity, self.bands_, self.rows_)

    def _ids(self) -> Callable[[int], int | str]:
        if hasattr(self, "names_"):
            return StringArray(self.names_, self.name_edges_).get
        return int


# --- From sets of hashes to similar pairs ---


class Pairs(NamedTuple):
    """Pairs of rows, the lower one first, in order."""

    rows: np.ndarray  # (p, 2) int32
    jaccard: np.ndarray  # (p,) float64


def gather(blocks: Iterator[Shingles], memory: float) -> Shingles:
    """All blocks as one; the hashes in a temporary file if they exceed the memory."""
    sizes, hashes, signatures, prints = [], [], [], []
    size, file = 0, None
    for block in blocks:
        sizes.append(np.diff(block.edges))
        signatures.append(block.signatures)
        prints.append(block.prints)
        hashes.append(block.hashes)
        size += block.hashes.nbytes
        if size > memory:
            file = file or SpillFile()
            for part in hashes:
                file.write(part)
            hashes, size = [], 0
    if file is not None:
        for part in hashes:
            file.write(part)
    edges = offsets_of(np.concatenate(sizes))
    joined = np.concatenate(hashes) if file is None else file.finish(np.uint64)
    return Shingles(edges, joined, np.concatenate(signatures), np.concatenate(prints))


def equal_sets(sets: Shingles) -> tuple[Pairs, np.ndarray]:
    """Pairs of equal documents, each with the first of them, and the distinct rows."""
    filled = np.flatnonzero(np.diff(sets.edges) > 0)
    order = filled[np.lexsort((filled, sets.prints[filled, 1], sets.prints[filled, 0]))]
    same = (sets.prints[order[1:]] == sets.prints[order[:-1]]).all(axis=1)
    first = np.concatenate([[True], ~same]) if len(order) else np.zeros(0, np.bool_)
    leader = order[np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))]
    pairs = np.stack([leader[~first], order[~first]], axis=1).astype(np.int32)
    jaccard = jaccard_of(sets, pairs)
    equal = jaccard == 1.0  # 128-bit fingerprints of different sets almost never agree
    distinct = np.sort(np.concatenate([order[first], pairs[~equal, 1]]))
    return Pairs(pairs[equal], jaccard[equal]), distinct.astype(np.int32)


def similar_sets(
    sets: Shingles, chosen: np.ndarray, bands: int, rows: int, threshold: float
) -> tuple[Pairs, int]:
    """Pairs at or above the threshold among the chosen rows, and how many were compared.

    In a bucket of more than ``SMALL_GROUP`` documents not all pairs are compared: each document
    is compared with the leaders, those before it that were similar to no leader, until one is
    similar to it. So a thousand copies of a form cost a thousand comparisons.
    """
    small, links, similarities, compared = [], [], [], 0
    for band in range(bands):
        check_stop()
        places = sets.signatures[chosen, band * rows : (band + 1) * rows]
        keys = hash_rows(np.ascontiguousarray(places))
        order = np.argsort(keys, kind="stable")
        edges = np.concatenate([[0], np.flatnonzero(np.diff(keys[order])) + 1, [len(order)]])
        sizes = np.diff(edges)
        small.append(list_pairs(chosen[order], edges, SMALL_GROUP))
        for k in np.flatnonzero(sizes > SMALL_GROUP).tolist():
            check_stop()
            bucket = chosen[order[edges[k] : edges[k + 1]]]
            linked, values, count = follow_leaders(
                sets.edges, sets.hashes, bucket, threshold, SMALL_GROUP
            )
            links.append(linked)
            similarities.append(values)
            compared += count
    pairs = unpack(np.unique(np.concatenate([np.zeros(0, np.int64), *small])))
    values = jaccard_of(sets, pairs)
    all_rows = np.concatenate([pairs, *links])
    all_values = np.concatenate([values, *similarities])
    keep = all_values >= threshold
    all_rows, all_values = all_rows[keep], all_values[keep]
    _, once = np.unique(pack(all_rows), return_index=True)  # a pair may meet in several bands
    return Pairs(all_rows[once], all_values[once]), compared + len(pairs)


def complete(
    sets: Shingles, labels: np.ndarray, pairs: Pairs, threshold: float
) -> tuple[Pairs, int]:
    """The pairs, and all others at or above the threshold inside groups of up to
    ``SMALL_GROUP`` documents; how many more were compared."""
    grouped = np.flatnonzero(labels >= 0).astype(np.int32)
    order = grouped[np.argsort(labels[grouped], kind="stable")]
    edges = np.concatenate([[0], np.flatnonzero(np.diff(labels[order])) + 1, [len(order)]])
    others = np.setdiff1d(list_pairs(order, edges, SMALL_GROUP), pack(pairs.rows))
    rows = unpack(others)
    values = jaccard_of(sets, rows)
    keep = values >= threshold
    both = np.concatenate([pairs.rows, rows[keep]])
    jaccard = np.concatenate([pairs.jaccard, values[keep]])
    by_row = np.lexsort((both[:, 1], both[:, 0]))
    return Pairs(both[by_row], jaccard[by_row]), len(others)


def pack(rows: np.ndarray) -> np.ndarray:
    """Pairs of rows as one integer each."""
    return rows[:, 0].astype(np.int64) << 32 | rows[:, 1]


def unpack(packed: np.ndarray) -> np.ndarray:
    return np.stack([packed >> 32, packed & 0xFFFFFFFF], axis=1).astype(np.int32)


def jaccard_of(sets: Shingles, pairs: np.ndarray) -> np.ndarray:
    """The exact similarity of every pair."""
    out = np.empty(len(pairs))
    sizes = np.diff(sets.edges)
    work = sizes[pairs[:, 0]] + sizes[pairs[:, 1]]
    for first, last in call_ranges(work, CALL_HASHES):
        check_stop()
        compare(sets.edges, sets.hashes, pairs[first:last], out[first:last])
    return out


def estimate(signatures: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The similarity of every pair, estimated from the signatures."""
    out = np.empty(len(pairs))
    for i in range(0, len(pairs), 2**16):
        left, right = pairs[i : i + 2**16].T
        out[i : i + 2**16] = (signatures[left] == signatures[right]).mean(axis=1)
    return out


def group(pairs: np.ndarray, n: int) -> np.ndarray:
    """Labels of the connected components, in the order of their first rows; -1 for others."""
    ones = np.ones(len(pairs), np.int8)
    graph = sp.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, parts = connected_components(graph, directed=False)
    labels = np.full(n, -1, np.int32)
    linked = np.unique(pairs)
    _, first, place = np.unique(parts[linked], return_index=True, return_inverse=True)
    labels[linked] = np.argsort(np.argsort(first))[place]
    return labels


@kernel(inline="always")
def jaccard(edges, hashes, a, b):
    """The Jaccard similarity of two sorted sets."""
    i, j = U(edges[a]), U(edges[b])
    i_end, j_end, shared = U(edges[a + 1]), U(edges[b + 1]), 0
    total = np.int64(i_end - i + j_end - j)
    while i < i_end and j < j_end:
        x, y = hashes[i], hashes[j]
        shared += x == y
        i += U(x <= y)
        j += U(y <= x)
    return shared / (total - shared)


@kernel
def compare(edges, hashes, pairs, out):
    for p in range(len(pairs)):
        out[p] = jaccard(edges, hashes, pairs[p, 0], pairs[p, 1])


@kernel
def hash_rows(places):
    out = np.empty(len(places), np.uint64)
    for i in range(len(places)):
        h = U(0x9E3779B97F4A7C15)
        for j in range(places.shape[1]):
            h = (h ^ U(places[i, j])) * U(0xD6E8FEB86659FD93)
            h ^= h >> U(32)
        out[i] = h
    return out


@kernel
def list_pairs(rows, edges, most):
    """All pairs of every bucket of up to ``most`` rows, packed."""
    total = 0
    for k in range(len(edges) - 1):
        size = edges[k + 1] - edges[k]
        if size <= most:
            total += size * (size - 1) // 2
    out, p = np.empty(total, np.int64), 0
    for k in range(len(edges) - 1):
        if edges[k + 1] - edges[k] <= most:
            for i in range(edges[k], edges[k + 1]):
                for j in range(i + 1, edges[k + 1]):
                    a, b = np.int64(rows[i]), np.int64(rows[j])
                    out[p] = min(a, b) << 32 | max(a, b)
                    p += 1
    return out


@kernel
def follow_leaders(edges, hashes, bucket, threshold, most):
    """Links of the rows of a large bucket to the leaders among them."""
    leaders, n = np.empty(most, np.int64), 0
    links, values = np.empty((len(bucket), 2), np.int32), np.empty(len(bucket))
    k, count = 0, 0
    for i in range(len(bucket)):
        linked = False
        for j in range(n):
            similarity = jaccard(edges, hashes, leaders[j], bucket[i])
            count += 1
            if similarity >= threshold:
                links[k, 0] = min(leaders[j], bucket[i])
                links[k, 1] = max(leaders[j], bucket[i])
                values[k] = similarity
                k += 1
                linked = True
                break
        if not linked and n < most:
            leaders[n] = bucket[i]
            n += 1
    return links[:k], values[:k], count

"""From sets of hashes to similar pairs, and to groups of them.

gather         the sets and signatures of all blocks
equal_sets     documents with equal sets: only the first of them is compared with others
similar_sets   documents that agree in a band of their signatures, compared exactly
group          connected components of the pairs
complete       the remaining pairs inside small groups
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tacit.core.disk_array import SpillFile
from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.search.minhash import Shingles

__all__ = [
    "SMALL_GROUP", "Pairs", "Sets", "complete", "equal_sets", "estimate", "gather", "group",
    "similar_sets",
]  # fmt: skip

U = np.uint64
SMALL_GROUP = 64  # documents of a bucket or group of which all pairs are compared


class Sets(NamedTuple):
    """All documents as sets of hashes."""

    edges: np.ndarray  # (n + 1,) int64
    hashes: np.ndarray  # uint64
    signatures: np.ndarray  # (n, k) uint32
    prints: np.ndarray  # (n, 2) uint64


class Pairs(NamedTuple):
    """Pairs of rows, the lower one first, in order."""

    rows: np.ndarray  # (p, 2) int32
    jaccard: np.ndarray  # (p,) float64

    def sorted(self) -> "Pairs":
        order = np.lexsort((self.rows[:, 1], self.rows[:, 0]))
        return Pairs(self.rows[order], self.jaccard[order])


def gather(blocks: Iterator[Shingles], memory: float) -> Sets:
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
    edges = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    joined = np.concatenate(hashes) if file is None else file.finish(np.uint64)
    return Sets(edges, joined, np.concatenate(signatures), np.concatenate(prints))


def equal_sets(sets: Sets) -> tuple[Pairs, np.ndarray]:
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
    sets: Sets, chosen: np.ndarray, bands: int, rows: int, threshold: float
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
            found, values, count = follow_leaders(
                sets.edges, sets.hashes, bucket, threshold, SMALL_GROUP
            )
            links.append(found)
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
    sets: Sets, labels: np.ndarray, pairs: Pairs, threshold: float
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
    both = Pairs(
        np.concatenate([pairs.rows, rows[keep]]), np.concatenate([pairs.jaccard, values[keep]])
    )
    return both.sorted(), len(others)


def pack(rows: np.ndarray) -> np.ndarray:
    """Pairs of rows as one integer each."""
    return rows[:, 0].astype(np.int64) << 32 | rows[:, 1]


def unpack(packed: np.ndarray) -> np.ndarray:
    return np.stack([packed >> 32, packed & 0xFFFFFFFF], axis=1).astype(np.int32)


def jaccard_of(sets: Sets, pairs: np.ndarray) -> np.ndarray:
    """The exact similarity of every pair."""
    out = np.empty(len(pairs))
    sizes = np.diff(sets.edges)
    cost = np.cumsum(sizes[pairs[:, 0]] + sizes[pairs[:, 1]]) if len(pairs) else np.zeros(0)
    cuts = np.flatnonzero(np.diff(cost // 2**25)) + 1  # some 50 ms to a call
    for first, last in zip([0, *cuts.tolist()], [*cuts.tolist(), len(pairs)], strict=True):
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
            found = jaccard(edges, hashes, leaders[j], bucket[i])
            count += 1
            if found >= threshold:
                links[k, 0] = min(leaders[j], bucket[i])
                links[k, 1] = max(leaders[j], bucket[i])
                values[k] = found
                k += 1
                linked = True
                break
        if not linked and n < most:
            leaders[n] = bucket[i]
            n += 1
    return links[:k], values[:k], count

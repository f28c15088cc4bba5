"""The laws of a summable model for block Lanczos, and the products it is made of."""

import numpy as np
import pytest
import scipy.sparse as sp

from tacit.core import Serial, Threads
from tacit.data import Table
from tacit.decompose import krylov
from tacit.decompose.gram_panels import (
    chunk_caches,
    combine,
    from_panels,
    gram,
    inner,
    project,
    spans,
    to_panels,
)
from tests.contract.cases import assert_same_bits, leaves


def rows_of(kind, n=900, d=600, seed=0):
    rng = np.random.default_rng(seed)
    dense = rng.random((n, d)) * (rng.random((n, d)) < 0.03)
    dense[5] = 0.0  # an empty document
    if kind == "dense":
        return dense
    return sp.csr_array(dense.astype(np.float32 if kind == "float32" else np.float64))


every_kind = pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])


def after(passes, rows, k=6, width=16, engine=None):
    params = krylov.start(k, rows.shape[1], 0, width=width)
    table = Table.from_array(rows, block_rows=200)
    for _ in range(passes):
        stats = Serial().reduce(krylov.collect, krylov.visible(params), table)
        params = krylov.update(params, stats, engine)
    return params


# --- The laws ---


@every_kind
@pytest.mark.parametrize("passes", [0, 2])
def test_collecting_by_parts_is_collecting_the_whole(kind, passes):
    rows = rows_of(kind)
    params = after(passes, rows)
    complete = krylov.collect(params, rows)
    for size in (7, 300):
        total = Serial().reduce(krylov.collect, params, Table.from_array(rows, size))
        for a, b in zip(leaves(total), leaves(complete), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_the_engine_of_the_algebra_cannot_change_a_bit():
    rows = rows_of("sparse", d=20_000, n=300)  # three stripes
    assert_same_bits(after(4, rows, engine=Serial()), after(4, rows, engine=Threads(3)))


@every_kind
def test_nothing_passed_in_is_modified(kind):
    rows = rows_of(kind)
    params = after(3, rows)
    before = [leaf.copy() for leaf in leaves(params)]
    stats = krylov.collect(params, rows)
    copies = [leaf.copy() for leaf in leaves(stats)]
    krylov.update(params, stats)
    krylov.leading(params, Serial())
    for old, leaf in zip(before + copies, leaves(params) + leaves(stats), strict=True):
        np.testing.assert_array_equal(old, leaf)


@every_kind
def test_stats_do_not_grow_with_the_rows_and_scaling_repeats_them(kind):
    rows = rows_of(kind)
    params = after(0, rows)
    few, many = krylov.collect(params, rows[:100]), krylov.collect(params, rows)
    assert [leaf.shape for leaf in leaves(few)] == [leaf.shape for leaf in leaves(many)]
    for a, b in zip(leaves(3 * many), leaves(many + many + many), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_the_loss_never_rises_through_restarts_too():
    rows = rows_of("sparse")
    params, captured, sizes = krylov.start(6, rows.shape[1], 0, width=16), [], []
    for _ in range(16):
        params = krylov.update(params, krylov.collect(krylov.visible(params), rows))
        captured.append(params.values.sum())
        sizes.append(len(params.restricted))
    assert (np.diff(captured) >= -1e-12 * captured[-1]).all()
    assert max(sizes) <= params.limit
    assert (np.diff(sizes) < 0).any()  # it did restart
    values = np.linalg.svd(rows.toarray(), compute_uv=False)[:6]
    np.testing.assert_allclose(np.sqrt(params.values / params.scale), values, rtol=1e-4)


# --- What the params promise ---


@every_kind
@pytest.mark.parametrize("passes", [2, 4, 9])
def test_the_basis_is_orthonormal_and_sees_the_matrix_as_it_is(kind, passes):
    rows = rows_of(kind)
    params = after(passes, rows)
    basis = np.concatenate([*params.basis, params.block])
    np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-10)
    m = len(params.restricted)
    image = rows.astype(np.float64) @ basis[:m].T
    np.testing.assert_allclose(params.restricted, image.T @ image * params.scale, atol=1e-12)


def test_a_hundred_passes_do_not_wear_the_basis_out():
    rows = np.random.default_rng(0).integers(0, 9, size=(150, 700)).astype(float)
    params = krylov.start(3, 700, 0, width=16)
    for _ in range(100):
        params = krylov.update(params, krylov.collect(krylov.visible(params), rows))
    basis = np.concatenate([*params.basis, params.block])
    np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-10)
    values = np.linalg.svd(rows, compute_uv=False)[:3]
    np.testing.assert_allclose(np.sqrt(params.values / params.scale), values, rtol=1e-12)
    assert krylov.relative_residual(params) == 0.0


# --- The products ---


@every_kind
@pytest.mark.parametrize("p", [1, 16, 21])
def test_products_with_panels_are_products_with_vectors(kind, p):
    rows = rows_of(kind, n=70, d=50)
    vectors = np.random.default_rng(1).normal(size=(p, 50))
    panels = to_panels(vectors, Serial())
    dense = (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
    np.testing.assert_allclose(project(rows, panels, p), dense @ vectors.T, atol=1e-12)
    result = from_panels(gram(rows, panels), p, Serial(), scale=0.5)
    np.testing.assert_allclose(result, 0.5 * vectors @ (dense.T @ dense), atol=1e-12)


@pytest.mark.parametrize("rows_to_a_chunk", [1, 7, 2**14])
def test_cached_chunks_change_nothing(monkeypatch, rows_to_a_chunk):
    monkeypatch.setattr("tacit.decompose.gram_panels.CHUNK_ROWS", rows_to_a_chunk)
    rows = rows_of("float32", n=70, d=50)
    table = Table.from_array(rows)
    panels = to_panels(np.random.default_rng(1).normal(size=(17, 50)), Serial())
    (cache,) = chunk_caches(table)
    first, again, bare = (gram(rows, panels, m) for m in (cache, cache, None))
    assert cache.chunks is not None
    assert first.tobytes() == again.tobytes() == bare.tobytes()
    monkeypatch.setattr("tacit.decompose.gram_panels.CACHE_BYTES", 100)
    (little,) = chunk_caches(table)
    assert gram(rows, panels, little).tobytes() == bare.tobytes()
    assert little.chunks is None  # no room


def test_a_pass_with_caches_has_the_same_bits():
    rows = rows_of("sparse")
    table = Table.from_array(rows, block_rows=200)
    params = after(2, rows)
    caches = chunk_caches(table)
    for _ in range(2):
        stats = Threads(2).reduce(krylov.collect, params, table, caches)
    assert_same_bits(stats, Serial().reduce(krylov.collect, params, table))


def test_long_rows_are_cut_into_spans_without_losing_any(monkeypatch):
    monkeypatch.setattr("tacit.decompose.gram_panels.CHUNK_NONZEROS", 10)
    indptr = np.array([0, 0, 4, 8, 40, 40, 41, 60, 60])
    cuts = list(spans(indptr))
    assert [row for first, last in cuts for row in range(first, last)] == list(range(8))
    assert all(indptr[j] - indptr[i] <= 10 or j - i == 1 for i, j in cuts)


def test_stripes_add_up():
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=(m, 20_001)) for m in (3, 4, 2))
    for engine in (Serial(), Threads(3)):
        both = np.concatenate([a, b])
        np.testing.assert_allclose(inner((a, b), c, engine), both @ c.T, rtol=1e-10)
        weights = rng.normal(size=(2, 7))
        np.testing.assert_allclose(combine(weights, (a, b), engine), weights @ both)
        remainder = combine(weights, (a, b), engine, less_from=c)
        np.testing.assert_allclose(remainder, c - weights @ both)

"""The five laws of summable models: split, engine, descent, purity, size.

They hold for every pass of every registered model (``recorded``), and more closely for the
models with an ``update``, from chosen params (``cases.SUMMABLE``).
"""

import numpy as np
import pytest

from tacit.core import Dask, Serial, Threads, iterate, iterate_online, tree_sum
from tacit.data import Table
from tests.contract.cases import FITS, SUMMABLE, assert_same_bits, leaves
from tests.contract.recorded import fitted

GROWING = {"TermStats": "the terms of the documents, which merge"}
every_fit = pytest.mark.parametrize("name", FITS)
every_model = pytest.mark.parametrize("case", SUMMABLE.values(), ids=SUMMABLE.keys())


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as client:
        yield client


# --- Every pass of every registered model ---


@every_fit
def test_any_cut_of_the_data_has_the_same_sum(name):
    for each in fitted(name).passes:
        if each.kind == "reduce":
            whole = leaves(each.function(each.params, each.recut()[0].load()))
            for size in (37, 400):
                total = Serial().reduce(each.function, each.params, each.recut(size))
                for a, b in zip(leaves(total), whole, strict=True):
                    scale = np.abs(b).max(initial=1.0) if b.dtype.kind == "f" else 0
                    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * scale)


@every_fit
def test_no_engine_changes_a_pass(name, dask_client):
    for each in fitted(name).passes:
        blocks = each.recut(100)
        for engine in (Threads(1), Threads(2), Threads(4), Dask()):
            assert_same_bits(run(each, blocks, engine), run(each, blocks, Serial()))


def run(each, blocks, engine):
    if each.kind == "reduce":
        return engine.reduce(each.function, each.params, blocks)
    return list(engine.map(each.function, each.params, blocks))


@every_fit
def test_no_pass_modifies_its_params_or_its_rows(name):
    for each in fitted(name).passes:
        block = each.recut()[0].load()
        before = [leaf.copy() for leaf in leaves((each.params, block))]
        each.function(each.params, block)
        for old, new in zip(before, leaves((each.params, block)), strict=True):
            np.testing.assert_array_equal(old, new)


@every_fit
def test_sums_do_not_grow_with_the_rows(name):
    for each in fitted(name).passes:
        if each.kind == "reduce":
            few, many = (
                each.function(each.params, each.recut(size)[0].load()) for size in (50, None)
            )
            if type(few).__name__ not in GROWING:
                assert [leaf.shape for leaf in leaves(few)] == [
                    leaf.shape for leaf in leaves(many)
                ]


@every_fit
def test_three_times_a_sum_is_the_sum_of_three(name):
    for each in fitted(name).passes:
        if each.kind == "reduce":
            once = each.function(each.params, each.recut()[0].load())
            for a, b in zip(leaves(3 * once), leaves(once + once + once), strict=True):
                scale = np.abs(b).max(initial=1.0) if b.dtype.kind == "f" else 0
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * scale)


# --- Models with an update, from chosen params ---


@every_model
def test_collecting_by_parts_is_collecting_the_whole(case):
    model, rows, params = case()
    whole = model.collect(params, rows)
    for size in (7, 500):
        total = Serial().reduce(model.collect, params, Table.from_array(rows, size))
        for a, b in zip(leaves(total), leaves(whole), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@every_model
def test_the_engine_cannot_change_the_answer(case, dask_client):
    model, rows, params = case()
    data = Table.from_array(rows, block_rows=200)
    engines = (Serial(), Threads(1), Threads(2), Threads(4), Dask())
    runs = [
        iterate(params, model.collect, model.update, data, engine, max_iter=5)
        for engine in engines
    ]
    for run in runs[1:]:
        assert run.losses == runs[0].losses
        assert_same_bits(run.params, runs[0].params)


@every_model
def test_the_loss_never_rises(case):
    model, rows, params = case()
    data = Table.from_array(rows, block_rows=500)
    losses = iterate(
        params, model.collect, model.update, data, Serial(), max_iter=40, tol=0
    ).losses
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    assert losses[-1] < losses[0]


@every_model
def test_nothing_passed_in_is_modified(case):
    model, rows, params = case()
    before = [leaf.copy() for leaf in leaves(params)]
    stats = model.collect(params, rows)
    held = [leaf.copy() for leaf in leaves(stats)]
    model.update(params, stats)
    for kept, leaf in zip(before, leaves(params), strict=True):
        np.testing.assert_array_equal(kept, leaf)
    for kept, leaf in zip(held, leaves(stats), strict=True):
        np.testing.assert_array_equal(kept, leaf)


@every_model
def test_stats_do_not_grow_with_the_rows(case):
    model, rows, params = case()
    few = model.collect(params, rows[:100])
    many = model.collect(params, rows)
    assert [leaf.shape for leaf in leaves(few)] == [leaf.shape for leaf in leaves(many)]


@every_model
def test_the_online_loop_comes_close(case):
    model, rows, params = case()
    data = Table.from_array(rows, block_rows=100)
    batch = iterate(params, model.collect, model.update, data, Serial())
    online = iterate_online(params, model.collect, model.update, data, passes=3)
    stats = Serial().reduce(model.collect, online.params, data)
    assert stats.loss / stats.rows < 1.1 * batch.losses[-1]


@every_model
def test_scaling_stats_is_repeating_the_rows(case):
    model, rows, params = case()
    once = model.collect(params, rows)
    for a, b in zip(leaves(3 * once), leaves(once + once + once), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_tree_sum_ignores_who_finishes_first():
    assert tree_sum("abcdefg", lambda a, b: f"({a}{b})") == "(((ab)(cd))((ef)g))"


def test_tree_sum_of_nothing_says_so():
    with pytest.raises(ValueError, match="no blocks"):
        tree_sum([])

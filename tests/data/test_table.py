"""Tables: the same rows whatever they come from, cut by a rule that knows only shapes."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.data import Table
from tacit.data.scaled_rows import scale_table
from tacit.data.table import Batch, block_rows_for, parts

ROWS = np.random.default_rng(0).normal(size=(1000, 4))


def whole(table):
    loaded = [parts(block.load()).rows for block in table]
    return sp.vstack(loaded).toarray() if sp.issparse(loaded[0]) else np.vstack(loaded)


def to_parquet(folder, group=137):
    table = pa.table({f"c{j}": ROWS[:, j] for j in range(4)} | {"name": ["x"] * 1000})
    pq.write_table(table, folder / "rows.parquet", row_group_size=group)
    return folder / "rows.parquet"


@pytest.mark.parametrize("block_rows", [1, 7, 999, 1000, 5000])
def test_blocks_hold_all_rows_once_and_in_order(block_rows, tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    tables = [
        Table.from_array(ROWS, block_rows),
        Table.from_array(sp.csr_array(ROWS), block_rows),
        Table.from_npy(tmp_path / "rows.npy", block_rows),
        Table.from_parquet(to_parquet(tmp_path), block_rows=block_rows),
    ]
    for table in tables:
        np.testing.assert_array_equal(whole(table), ROWS)
        assert [block.start for block in table][1:] == [block.stop for block in table][:-1]
        assert len(table) == 1000


def test_a_dask_array_is_cut_by_our_rule_not_by_its_chunks():
    dask_array = pytest.importorskip("dask.array")
    table = Table.of(dask_array.from_array(ROWS, chunks=(313, 3)), block_rows=100)
    assert len(table.blocks) == 10
    np.testing.assert_array_equal(whole(table), ROWS)


@given(st.integers(1, 10**9))
def test_the_size_of_a_block_is_a_power_of_two_that_falls_with_the_width(width):
    rows = block_rows_for(width)
    assert rows & (rows - 1) == 0
    assert 256 <= rows <= 16_384
    assert block_rows_for(width + 1) <= rows


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 17), st.data())
def test_taking_rows_is_indexing(n, block_rows, data):
    wanted = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1)))), np.int64)
    array = np.arange(2.0 * n).reshape(n, 2)
    np.testing.assert_array_equal(
        Table.from_array(array, block_rows).take(wanted), array[wanted]
    )
    sparse = Table.from_array(sp.csr_array(array), block_rows).take(wanted)
    sparse = sparse.toarray() if sp.issparse(sparse) else sparse
    np.testing.assert_array_equal(sparse, array[wanted])


def test_a_sample_has_distinct_rows_in_order():
    table = Table.from_array(np.arange(100.0).reshape(-1, 1), block_rows=9)
    rows = table.sample(20, np.random.RandomState(0)).ravel()
    assert len(set(rows)) == 20
    assert (np.diff(rows) > 0).all()
    assert len(table.sample(500, np.random.RandomState(0))) == 100


def test_labels_and_weights_go_with_their_rows():
    table = Table.from_array(ROWS, block_rows=300).with_labels(np.arange(1000))
    table = table.with_weights(np.arange(1000) / 2)
    for block in table:
        batch = block.load()
        assert isinstance(batch, Batch)
        np.testing.assert_array_equal(batch.labels, np.arange(block.start, block.stop))
        np.testing.assert_array_equal(batch.weights, batch.labels / 2)
        np.testing.assert_array_equal(batch.rows, ROWS[block.start : block.stop])


def test_the_wrong_number_of_labels_is_refused():
    with pytest.raises(ValueError, match="999 labels for 1000 rows"):
        Table.from_array(ROWS).with_labels(np.zeros(999))


def test_parquet_columns_can_be_chosen_and_must_be_numbers(tmp_path):
    path = to_parquet(tmp_path)
    table = Table.from_parquet(path, columns=["c2", "c0"])
    np.testing.assert_array_equal(whole(table), ROWS[:, [2, 0]])
    with pytest.raises(ValueError, match=r"no number columns \['name'\]"):
        Table.from_parquet(path, columns=["c1", "name"])


def test_null_values_in_parquet_become_nan(tmp_path):
    pq.write_table(pa.table({"a": [1.0, None, 3.0]}), tmp_path / "x.parquet")
    result = whole(Table.from_parquet(tmp_path / "x.parquet"))
    np.testing.assert_array_equal(result, [[1.0], [np.nan], [3.0]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros(5), "ndim=1"),
        (np.zeros((2, 2, 2)), "ndim=3"),
        ("rows.xlsx", "reads .npy and .parquet"),
    ],
)
def test_what_is_no_table_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        Table.of(data)


def test_csr_blocks_are_views():
    matrix = sp.csr_array(ROWS)
    block = Table.from_array(matrix, 100).blocks[3].load()
    assert np.shares_memory(block.data, matrix.data)
    assert np.shares_memory(block.indices, matrix.indices)


def test_a_table_says_what_it_is(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    text = repr(Table.open(tmp_path / "rows.npy"))
    assert "1,000 rows x 4 columns" in text
    assert "rows.npy" in text


def test_a_scaled_table_in_memory_loads_scaled_rows():
    rows = np.arange(12.0).reshape(6, 2)
    table = scale_table(Table.from_array(rows), rows.mean(axis=0), np.array([2.0, 4.0]))
    expected = (rows - rows.mean(axis=0)) / [2.0, 4.0]
    for each in (table, table.with_weights(np.ones(6))):
        np.testing.assert_array_equal(each.load(), expected)

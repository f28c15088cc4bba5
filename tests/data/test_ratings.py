"""Ratings: sources, ids, duplicates, splits, bad input."""

import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tacit.core import DataError, PartialInput
from tacit.data import Ratings
from tacit.data.ratings import IdIndex, encode_ids
from tests.data.test_sparse_structure import broken_matrices

TRIPLES = [("ann", "Alien", 5.0), ("bob", "Alien", 3.0), ("ann", "Heat", 4.0)]


def table(ratings):
    return sorted(
        zip(*zip(*ratings.pairs(), strict=True), ratings.values.tolist(), strict=True)
    )


def from_bytes(text, **options):
    return Ratings.open(io.BytesIO(text), **options)


@pytest.mark.parametrize(
    "text",
    [
        b"user,item,rating\nann,Alien,5\nbob,Alien,3\nann,Heat,4\n",
        b"ann,Alien,5\nbob,Alien,3\nann,Heat,4\n",
        b"ann;Alien;5\nbob;Alien;3\nann;Heat;4\n",
        b"ann::Alien::5::1\nbob::Alien::3::2\nann::Heat::4::3\n",
        b"ann\tAlien\t5\t1\nbob\tAlien\t3\t2\nann\tHeat\t4\t3\n",
        b"\xef\xbb\xbfmovieId,score,userId\nAlien,5,ann\nAlien,3,bob\nHeat,4,ann\n",
        gzip.compress(b"ann,Alien,5\nbob,Alien,3\nann,Heat,4\n"),
    ],
    ids=["header", "no header", "semicolons", "::", "u.data", "other names", "gzip"],
)
def test_files_of_many_kinds_give_the_same_ratings(text):
    assert table(from_bytes(text)) == sorted(TRIPLES)


def test_parquet_and_frames_give_the_same_ratings(tmp_path):
    users, items, values = zip(*TRIPLES, strict=True)
    columns = {"user_id": users, "movie": items, "stars": values}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    assert table(Ratings.open(tmp_path / "r.parquet")) == sorted(TRIPLES)
    pandas = pytest.importorskip("pandas")
    assert table(Ratings.of(pandas.DataFrame(columns))) == sorted(TRIPLES)
    assert table(Ratings.of(TRIPLES)) == sorted(TRIPLES)
    pairs = [(u, i) for u, i, _ in TRIPLES]
    assert table(Ratings.of(pairs, [5, 3, 4])) == sorted(TRIPLES)


def test_a_matrix_gives_its_stored_entries_even_zeros():
    matrix = sp.csr_array(([5.0, 0.0], ([0, 1], [1, 0])), shape=(2, 3))
    ratings = Ratings.of(matrix)
    assert len(ratings) == 2
    assert ratings.matrix().nnz == 2
    assert ratings.shape == (2, 3)


def test_ids_of_digits_are_integers_and_others_stay_text():
    assert from_bytes(b"1,7,5\n2,8,3\n").user_ids.tolist() == [1, 2]
    assert from_bytes(b"007,7,5\n2,8,3\n").user_ids.tolist() == ["007", "2"]


def test_any_hashable_is_an_id():
    ratings = Ratings.of([(("a", 1), frozenset({2}), 3), (("a", 2), frozenset({2}), 4)])
    assert ratings.user_ids.tolist() == [("a", 1), ("a", 2)]


def test_codes_do_not_depend_on_the_order_of_rows():
    forth, back = Ratings.of(TRIPLES), Ratings.of(TRIPLES[::-1])
    assert forth.user_ids.tolist() == back.user_ids.tolist()
    np.testing.assert_array_equal(forth.matrix().toarray(), back.matrix().toarray())


@given(st.lists(st.integers(-(2**62), 2**62), max_size=30))
def test_codes_lead_back_to_the_ids(ids):
    codes, distinct = encode_ids(ids)
    assert distinct[codes].tolist() == ids
    assert IdIndex(distinct).find(ids).tolist() == codes.tolist()
    assert IdIndex(distinct).code([]) == -1


@pytest.mark.parametrize(
    ("duplicates", "kept"), [("last", 2), ("first", 1), ("mean", 1.5), ("sum", 3)]
)
def test_contradictions_are_settled_and_reported(duplicates, kept):
    rows = [("a", "x", 1), ("b", "x", 7), ("a", "x", 2), ("b", "x", 7)]
    ratings = Ratings.of(rows, duplicates=duplicates)
    expected = {"sum": 14}.get(duplicates, 7)
    assert table(ratings) == [("a", "x", kept), ("b", "x", expected)]
    assert ratings.report.contradictions == 1
    assert ratings.report.duplicates == 1
    assert any("'a' and item 'x': 1 and 2" in line for line in ratings.report.lines())


def test_the_last_rating_is_the_latest_where_times_are_known():
    ratings = Ratings.of([("a", "x", 1, 20), ("a", "x", 2, 10)])
    assert ratings.values.tolist() == [1]


def test_an_error_can_be_asked_for():
    with pytest.raises(DataError, match="rated item 'x' twice: 1 and 2"):
        Ratings.of([("a", "x", 1), ("a", "x", 2)], duplicates="error")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "empty"),
        (b"user,item,rating\n", "no ratings follow"),
        (b"ann,Alien,5\nbob,Alien,much\n", "row 2.*'much' is not a number"),
        (b"ann,Alien,5\n,Alien,4\n", "row 2.*id is missing"),
        (b"ann,Alien,5\nbob,Alien,\n", "row 2.*rating is missing"),
        (b"ann,Alien,5\nbob,Alien,inf\n", "row 2.*infinite"),
        (b"who,what,much\nann,Alien,x\n", "which column is the user"),
        (b"user,item,fun,mood\nann,Alien,1,2\n", "which column is the rating"),
        (b"user,item,rating\nann,Alien\n", "line 2 has 2 cells"),
        (b'user,item,rating\nann,"Alien,5\n', "quote that never closes"),
        (b"PK\x03\x04 zip", "zip archive"),
    ],
)
def test_bad_files_are_refused_with_the_place(text, message):
    with pytest.raises(DataError, match=message):
        from_bytes(text)


def test_a_truncated_file_is_partial():
    whole = gzip.compress(b"ann,Alien,5\n" * 5000)
    with pytest.raises(PartialInput):
        from_bytes(whole[:-30])
    assert len(from_bytes(whole[:-30], allow_partial=True)) == 1


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([("a", "x", np.nan)], DataError, "missing"),
        ([("a", "x", np.inf)], DataError, "too large"),
        ([("a", "x", 1e39)], DataError, "too large"),
        ([(None, "x", 1)], DataError, "user is missing"),
        ([("a", float("nan"), 1)], DataError, "item is missing"),
        ([("a", [1], 1)], TypeError, "cannot be hashed"),
        ([("a", "x", 1), ("b", "x")], ValueError, "row 2 has 2 values"),
        (["ax"], TypeError, "not a pair"),
        ([("a", "x", 1, 2, 3)], ValueError, "rows have 5 values"),
        ([("a", "x", "y")], DataError, "'y' is not a number"),
    ],
)
def test_bad_triples_are_refused(rows, error, message):
    with pytest.raises(error, match=message):
        Ratings.of(rows)


def many():
    rng = np.random.default_rng(0)
    u, i = np.nonzero(rng.random((30, 20)) < 0.5)
    return Ratings.of_columns(u, i, rng.integers(1, 6, len(u)), rng.permutation(len(u)))


def test_splits_part_the_ratings_and_keep_the_codes():
    ratings = many()
    for by in ("random", "time"):
        train, test = ratings.split(0.3, by=by, random_state=0)
        assert table(train) + table(test) != []
        assert sorted(table(train) + table(test)) == table(ratings)
        assert train.shape == test.shape == ratings.shape
    assert train.times.max() < test.times.min()
    folds = [test for _, test in ratings.folds(4, random_state=0)]
    assert sorted(row for test in folds for row in table(test)) == table(ratings)


def test_leave_k_out_takes_the_latest_of_every_user_that_has_more():
    ratings = many()
    train, test = ratings.leave_out(2, by="time")
    counts = np.bincount(ratings.users, minlength=30)
    np.testing.assert_array_equal(
        np.bincount(test.users, minlength=30), np.where(counts > 2, 2, 0)
    )
    for user in range(30):
        if counts[user] > 2:
            assert train.times[train.users == user].max() < test.times[test.users == user].min()


def test_splits_say_what_they_need():
    with pytest.raises(ValueError, match="needs times"):
        Ratings.of(TRIPLES).split(by="time")
    with pytest.raises(ValueError, match="between 0 and 1"):
        Ratings.of(TRIPLES).split(1.5)
    with pytest.raises(ValueError, match="between 2 and 3"):
        next(Ratings.of(TRIPLES).folds(9))


def test_a_rating_too_large_for_a_float_is_reported_with_its_row():
    with pytest.raises(DataError, match="row 2: the rating is a whole number too large"):
        Ratings.of([("ann", "Heat", 3), ("bob", "Heat", 10**400)])


def test_nested_ids_of_a_parquet_file_are_refused(tmp_path):
    path = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"user": [[1], [2]], "item": [1, 2], "rating": [1, 2]}), path)
    with pytest.raises(DataError, match=r"nested\.parquet, column user: it holds list"):
        Ratings.open(path)


def test_inconsistent_matrices_of_ratings_are_refused():
    for X in broken_matrices():
        with pytest.raises(ValueError, match="Ratings: X is an inconsistent sparse matrix"):
            Ratings.of(X)

"""What people hand over as a table of numbers, and what they are told about it."""

import errno
import gzip
import io
import os
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tacit
from tacit.classify.lexicon import read_lexicon
from tacit.core import DataError, PartialInput
from tacit.core.errors import explain
from tacit.data import Documents, NumberTable, Ratings, Table, read_numbers
from tacit.data.delimited import Dialect, records, scan_quotes, sniff
from tacit.data.label_files import read_labels
from tacit.data.streams import opened
from tacit.words.vector_files import read_word2vec

PLAIN = b"x,y\n1,2.5\n-3,4e2\n"


def read(data: bytes, **options) -> NumberTable:
    return read_numbers(io.BytesIO(data), **options)


def refused(data: bytes, **options) -> DataError:
    with pytest.raises(DataError) as caught:
        read(data, **options)
    return caught.value


def whole(values) -> np.ndarray:
    return np.vstack([block.load() for block in values])


# --- Plain reading ---


def test_a_plain_file_gives_its_numbers_and_names(tmp_path):
    (tmp_path / "plain.csv").write_bytes(PLAIN)
    table = read_numbers(tmp_path / "plain.csv")
    assert table.values.tolist() == [[1, 2.5], [-3, 400]]
    assert table.names == ["x", "y"]
    assert table.report.source == str(tmp_path / "plain.csv")
    assert table.report.notes == []
    assert table.report.lines()[0].endswith("plain.csv: 2 rows, 2 columns used (x, y).")


@settings(max_examples=60, deadline=None)
@given(
    values=arrays(
        np.float64,
        st.tuples(st.integers(1, 8), st.integers(1, 4)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    delimiter=st.sampled_from(",;\t|"),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    header=st.booleans(),
    quote=st.booleans(),
)
def test_every_float_comes_back_to_the_bit(values, delimiter, newline, header, quote):
    cell = '"{!r}"' if quote else "{!r}"
    rows = [delimiter.join(cell.format(float(x)) for x in row) for row in values]
    first = [delimiter.join(f"col{j}" for j in range(values.shape[1]))] if header else []
    table = read((newline.join(first + rows) + newline).encode())
    assert table.values.tobytes() == values.tobytes()


def test_the_numbers_are_those_that_pandas_reads():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 4)) * 10.0 ** rng.integers(-30, 30, (3000, 4)))
    frame.columns = ["a", "b", "c", "d"]
    frame["name"] = ['O\'Neil, "Jo"\nsecond line'] * 3000
    text = frame.to_csv(index=False).encode()
    table = read(text)
    expected = pd.read_csv(io.BytesIO(text))
    columns = expected[["a", "b", "c", "d"]].to_numpy()
    np.testing.assert_allclose(table.values, columns, rtol=1e-14)
    assert list(table.report.left_out) == ["name"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1e5", 1e5), ("1.5E-3", 0.0015), (".5", 0.5), ("5.", 5.0), ("+7", 7.0)),
        *((" 8 ", 8.0), ('"9"', 9.0), ("-0", -0.0), ("007", 7.0), ("1e-400", 0.0)),
    ],
)
def test_numbers_are_read_however_they_are_written(text, value):
    assert read(f"x,y\n{text},1\n".encode()).values[0, 0] == value
    # In a column that also holds a blank cell, other code reads them.
    error = refused(f"x,y\n{text},1\n ,1\n".encode())
    assert "missing" in str(error)
    assert error.row == 2


def test_text_columns_are_left_out_and_reported():
    table = read(b"name,x,when,flag,empty\nann,1,2020-01-02,true,\nbob,2,2021-02-03,false,\n")
    assert table.names == ["x"]
    assert table.report.left_out == {
        "name": "text, for example 'ann'",
        "when": "dates or times",
        "flag": "text, for example 'true'",
        "empty": "empty throughout",
    }
    assert any("name" in line and "'ann'" in line for line in table.report.lines())


def test_a_text_column_may_hold_a_few_numbers():
    table = read(b"title,x\n1984,1\nEmma,2\nIvanhoe,3\n")
    assert table.report.left_out == {"title": "text; only 1 of 3 cells are numbers"}


def test_columns_are_chosen_and_ordered():
    table = read(b"a,b,c\n1,2,3\n", columns=["c", "a"])
    assert table.names == ["c", "a"]
    assert table.values.tolist() == [[3, 1]]
    assert table.report.left_out == {"b": "not chosen"}


def test_ids_are_text_and_not_numbers():
    table = read(b"code,x\n007,1\n008,2\n007,3\n,4\n", id_column="code")
    assert table.ids == ["007", "008", "007", ""]
    assert table.names == ["x"]
    assert "1 ids repeat an earlier one" in table.report.notes
    assert "1 ids are empty" in table.report.notes


def test_integers_that_floats_cannot_hold_are_counted():
    table = read(f"x,y\n{2**53 + 1},1\n3,2\n".encode())
    assert table.report.notes == ["column x: 1 integers past 2^53 rounded"]


# --- Separators, headers, encodings ---


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (b"a,b\n1,2\n", Dialect(",")),
        (b"a;b\n1;2\n", Dialect(";")),
        (b"a\tb\n1\t2\n", Dialect("\t")),
        (b"a|b\n1|2\n", Dialect("|")),
        (b"1.0e+00 2.0e+00\n3.0e+00 4.0e+00\n", Dialect(" ")),
        (b"a;b\n1,5;2,5\n", Dialect(";", ",")),
        (b"1,5;2,5\n3;4,0\n", Dialect(";", ",")),
        (b"foo;1,5\nbar;2,5\n", Dialect(";", ",")),
        (b"1,5\t2,5\n", Dialect("\t", ",")),
        (b"tag,x,y\na;b,1,2\nc;d,3,4\n", Dialect(",")),
        (b'"a;b;c",x\n"d;e;f",1\n', Dialect(",")),
        (b"full name,x\nann lee,1\nbob ray,2\n", Dialect(",")),
        (b"x\n1\n2\n", Dialect(",")),
    ],
)
def test_the_separator_is_sniffed(text, dialect):
    assert sniff(text) == dialect


def test_an_unusual_separator_is_reported():
    table = read(b"x;y\n1,5;2\n2,5;3\n")
    assert table.values.tolist() == [[1.5, 2], [2.5, 3]]
    assert table.report.notes == ["cells are separated by semicolons, with a decimal comma"]


def test_a_file_of_numpy_savetxt_is_read():
    out = io.BytesIO()
    array = np.random.default_rng(0).normal(size=(20, 3))
    np.savetxt(out, array)
    np.testing.assert_array_equal(read(out.getvalue()).values, array)


def test_without_a_header_names_are_made_up_and_said_so():
    table = read(b"1,2\n3,4\n")
    assert table.names == ["c0", "c1"]
    assert len(table.values) == 2
    assert "no header" in table.report.notes[0]


def test_a_header_of_numbers_can_be_forced():
    table = read(b"1990,1991\n3,4\n", header=True)
    assert table.names == ["1990", "1991"]
    assert table.values.tolist() == [[3, 4]]


def test_duplicate_and_empty_column_names_are_told_apart():
    table = read(b"x,x,,x_2,x\n1,2,3,4,5\n")
    assert len(set(table.names)) == 5
    assert table.names[0] == "x"
    assert "x_2" in table.names
    assert table.values.tolist() == [[1, 2, 3, 4, 5]]
    assert sum("another" in note for note in table.report.notes) == 2
    assert sum("no name" in note for note in table.report.notes) == 1


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-be", "utf-16-le", "utf-32-be"]
)
def test_byte_order_marks_are_sniffed_and_removed(encoding):
    text = "größe,y\n1,2\n"
    mark = "\ufeff" if encoding.endswith(("-be", "-le")) else ""
    table = read((mark + text).encode(encoding))
    assert table.names == ["größe", "y"]
    assert table.values.tolist() == [[1, 2]]
    assert "byte order mark removed" in table.report.notes[0]


def test_bytes_that_are_no_utf8_are_replaced_and_counted():
    table = read(b"caf\xe9,x\n\xff\xfe\xfd,1\nan\xe9,2\n")
    assert table.names == ["x"]
    assert any("5 byte sequences are not UTF-8" in note for note in table.report.notes)


def test_nul_bytes_in_a_number_are_an_error_and_in_names_are_removed():
    error = refused(b"x,y\n1\x002,3\n4,5\n")
    assert (error.row, error.column) == (1, "x")
    assert r"'1\x002'" in str(error)
    table = read(b"x\x00,id\n1,a\x00b\n", id_column="id")
    assert (table.names, table.ids) == (["x"], ["ab"])
    assert sum("NUL" in note for note in table.report.notes) == 2


def test_empty_lines_are_skipped_and_counted():
    table = read(b'x,y,t\n\n1,2,"a\n\nb"\n\n\n3,4,c\n\n', columns=["x", "y"])
    assert len(table.values) == 2
    assert "4 empty lines skipped" in table.report.notes


def test_a_field_of_any_length_is_read():
    long = b"z" * 3_000_000
    table = read(b"text,x\n" + long + b",1\nshort,2\n", id_column="text")
    assert table.values.tolist() == [[1], [2]]
    assert len(table.ids[0]) == 3_000_000


def test_a_stream_of_text_is_read_too():
    assert read_numbers(io.StringIO("größe\n1\n")).names == ["größe"]


# --- What is refused, with its place ---


def test_a_disk_that_fails_in_the_middle_of_a_read_names_the_file(tmp_path):
    """The operating system names none then."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"x\n1\n")
    with pytest.raises(OSError, match="Input/output") as caught, opened(path):
        raise OSError(errno.EIO, "Input/output error")
    assert explain(caught.value) == (4, f"Error: {path}: Input/output error.")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="Linux has such a file")
@pytest.mark.parametrize(
    "read",
    [read_numbers, read_labels, read_lexicon, Ratings.open, read_word2vec, Documents.open,
     tacit.load],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_named(read):
    with pytest.raises((OSError, ValueError)) as caught:
        read("/proc/self/mem")
    assert "/proc/self/mem" in explain(caught.value)[1]


def test_a_cell_that_is_no_number_is_named_with_its_place(tmp_path):
    path = tmp_path / "heights.csv"
    path.write_bytes(b'note,height\n"two\nlines",1\nb,2\nc,tall\nd,x\n')
    with pytest.raises(DataError) as caught:
        read_numbers(path)
    error = caught.value
    assert (error.file, error.row, error.column) == (str(path), 3, "height")
    assert str(error) == (
        f"{path}, row 3, column height: 'tall' is not a number (line 5), nor are 1 more below "
        "it. Correct it, or choose other columns."
    )


def test_a_chosen_column_must_be_numbers():
    assert "'ann'" in str(refused(b"name,x\nann,1\n", columns=["name", "x"]))
    assert "date" in str(refused(b"when,x\n2020-01-02,1\n", columns=["when"]))
    assert "missing" in str(refused(b"gap,x\n,1\n", columns=["gap"]))


@pytest.mark.parametrize("blank", ["", "NA", "nan", "NaN", " ", "null", "?"])
def test_missing_values_are_counted_and_the_first_is_named(blank):
    error = refused(f"x,y\n1,2\n3,{blank}\n{blank},{blank}\n".encode())
    assert (error.row, error.column) == (2, "y")
    assert "(line 3); in all, 3 values are missing in 2 columns" in str(error)
    assert "choose columns without gaps" in str(error)


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1e400"])
def test_infinity_is_refused_with_its_place(text):
    error = refused(f"x,y\n1,2\n3,{text}\n".encode())
    assert (error.row, error.column) == (2, "y")
    assert "infinite" in str(error)


@pytest.mark.parametrize(
    ("text", "line", "cells"),
    [
        (b"x,y\n1,2\n3,4,5\n6,7\n", 3, "3 cells"),
        (b"x,y\n1,2\n3\n", 3, "1 cell"),
        (b'x,y\n"1\n",2\n\n3\n', 5, "1 cell"),
        (b"title of it all\nx,y\n1,2\n", 2, "2 cells"),
    ],
)
def test_a_line_of_another_width_is_named(text, line, cells):
    assert f"line {line} has {cells} where the header has" in str(refused(text))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b'x,y\n1,2\n3,"4\n5,6\n', 3),
        (b'"x,y\n1,2\n', 1),
        (b'x,y\n"1\n2",3\n"4""\n5\n', 4),
        (b'x,y\r\n1,2\r\n"3,4\r\n', 3),
    ],
)
def test_a_quote_that_never_closes_is_named_by_its_line(text, line):
    assert f"line {line} opens a quote that never closes" in str(refused(text))


def test_a_quote_inside_a_cell_is_a_character_like_others():
    assert read(b'size,x\n5" disk,1\n3" disk,2\n').values.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"x,y\n", "no rows"),
        (b"x,y\n\n\n", "no rows"),
        (b"name\nann\n", "no column of numbers"),
        (b"PK\x03\x04stuff", "a zip archive"),
        (b"PK\x03\x04.... xl/workbook.xml", "a spreadsheet. Save it as CSV"),
        (b'[{"x": 1}]', "JSON. Write its rows as CSV"),
        (b"\x28\xb5\x2f\xfdstuff", "truncated or damaged"),
        (gzip.compress(gzip.compress(PLAIN, mtime=0), mtime=0), "compressed twice"),
        (gzip.compress(b"%PDF-1.4", mtime=0), "a PDF"),
    ],
)
def test_what_holds_no_numbers_says_why(data, words):
    assert words in str(refused(data))


def test_a_column_that_is_not_there_is_answered_with_those_that_are():
    assert "no column 'z'. The columns are x, y." in str(refused(PLAIN, columns=["z"]))
    assert "no column 'z'" in str(refused(PLAIN, id_column="z"))
    assert "twice" in str(refused(PLAIN, columns=["x"], id_column="x"))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80) | st.text('x1,.;"\n\r\t e', max_size=60).map(str.encode))
def test_no_bytes_whatever_crash_the_reader(data):
    try:
        table = read(data)
    except DataError:
        return
    assert np.isfinite(table.values).all()
    assert len(table.values) == table.report.rows > 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.text(max_size=6), min_size=1, max_size=4), min_size=1, max_size=5))
def test_records_are_those_that_were_written(rows):
    import csv

    rows = [[cell.replace("\0", "") for cell in row] for row in rows]
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows)
    data = out.getvalue().encode("utf-8", "surrogatepass")
    result = [
        [cell.decode("utf-8", "surrogatepass") for cell in r.cells] for r in records(data)
    ]
    assert result == rows


# --- Compression ---


def test_gzip_is_known_by_its_content(tmp_path):
    (tmp_path / "odd.name").write_bytes(gzip.compress(PLAIN) + gzip.compress(b"5,6\n"))
    assert read_numbers(tmp_path / "odd.name").values.tolist() == [[1, 2.5], [-3, 400], [5, 6]]


def rows_of_text(n: int) -> bytes:
    rng = np.random.default_rng(0)
    lines = [
        f'{a!r},{b!r},"note, {i}\nmore"'
        for i, (a, b) in enumerate(rng.normal(size=(n, 2)).tolist())
    ]
    return ("x,y,note\n" + "\n".join(lines) + "\n").encode()


@pytest.mark.parametrize("share", [0.3, 0.5, 0.77, 0.9])
def test_a_truncated_gzip_keeps_its_whole_rows_if_allowed(share):
    text = rows_of_text(2000)
    packed = gzip.compress(text)
    cut = packed[: int(share * len(packed))]
    error = refused(cut)
    assert isinstance(error, PartialInput)
    assert error.exit_code == 3
    table = read(cut, allow_partial=True)
    everything = read(text).values
    assert 0 < len(table.values) < 2000
    np.testing.assert_array_equal(table.values, everything[: len(table.values)])
    assert "truncated" in table.report.partial
    assert table.report.lines()[-1].startswith("Partial: ")


def test_a_truncated_gzip_without_a_whole_row_says_so():
    packed = gzip.compress(rows_of_text(2000))
    assert "row" in str(refused(packed[:30], allow_partial=True))


def test_a_damaged_gzip_is_an_error():
    packed = bytearray(gzip.compress(rows_of_text(500)))
    packed[len(packed) // 2] ^= 0xFF
    assert "damaged" in str(refused(bytes(packed)))


def test_zstd_is_unpacked():
    packed = pa.compress(PLAIN, codec="zstd", asbytes=True)
    np.testing.assert_array_equal(read(packed).values, read(PLAIN).values)


def test_garbage_after_a_gzip_is_noted():
    table = read(gzip.compress(PLAIN) + b"\0" * 100 + b"trailing")
    assert "bytes after the end" in table.report.notes[0]


def test_a_decompression_bomb_is_refused(monkeypatch):
    monkeypatch.setattr("tacit.data.streams.BOMB_SIZE", 2**20)
    assert "bomb" in str(refused(gzip.compress(b"x\n" + b"1\n" * 2**21)))


# --- Parquet and NumPy: on disk, block by block ---


def test_a_npy_file_stays_on_disk(tmp_path):
    array = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    np.save(tmp_path / "a.npy", array)
    table = read_numbers(tmp_path / "a.npy")
    assert isinstance(table.values, Table)
    assert table.values.dtype == np.float32
    assert not table.values.in_memory
    np.testing.assert_array_equal(whole(table.values), array)
    chosen = read_numbers(tmp_path / "a.npy", columns=["c2", "c0"], id_column="c1")
    np.testing.assert_array_equal(whole(chosen.values), array[:, [2, 0]])
    assert chosen.values.shape == (50, 2)
    assert float(chosen.ids[0]) == array[0, 1]


@pytest.mark.parametrize("dtype", [">f8", ">f4", "i2", "u8", "f2"])
def test_npy_numbers_of_any_kind_become_floats(tmp_path, dtype):
    array = np.arange(12).reshape(4, 3).astype(dtype)
    np.save(tmp_path / "a.npy", array)
    values = read_numbers(tmp_path / "a.npy").values
    assert values.dtype in (np.float32, np.float64)
    assert values.dtype.isnative
    np.testing.assert_array_equal(whole(values), array.astype(float))


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array([["a"]]), "not numbers"),
        (np.ones((2, 2), complex), "not numbers"),
        (np.ones(3), "ndim=1"),
        (np.ones((0, 3)), "no rows"),
        (np.array([[object()]], object), "cannot be read"),
    ],
)
def test_npy_files_without_a_table_of_numbers_are_refused(tmp_path, array, words):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(DataError, match=words):
        read_numbers(tmp_path / "a.npy")


def test_a_truncated_npy_file_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((50, 3)))
    data = (tmp_path / "a.npy").read_bytes()
    for size in (7, 40, 600):
        (tmp_path / "b.npy").write_bytes(data[:size])
        with pytest.raises(DataError, match=r"b\.npy"):
            read_numbers(tmp_path / "b.npy")


def parquet(path, **columns) -> None:
    pq.write_table(pa.table(columns), path, row_group_size=7)


def test_a_parquet_file_stays_on_disk(tmp_path):
    x, y = np.arange(30.0), np.arange(30)
    parquet(tmp_path / "a.parquet", name=[f"r{i}" for i in y], x=x, y=y, flag=y > 3)
    table = read_numbers(tmp_path / "a.parquet", id_column="name")
    assert isinstance(table.values, Table)
    np.testing.assert_array_equal(whole(table.values), np.column_stack([x, y]))
    assert table.ids[:2] == ["r0", "r1"]
    assert table.report.left_out == {"flag": "bool, not numbers"}


def test_parquet_gaps_and_texts_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    parquet(path, x=[1.0, None, None], name=["a", "b", "c"])
    with pytest.raises(DataError, match=r"column x: 2 values are missing"):
        read_numbers(path)
    with pytest.raises(DataError, match=r"column name: it holds string"):
        read_numbers(path, columns=["name"])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="cannot be read"):
        read_numbers(path)


@pytest.mark.parametrize("packed", [False, True])
def test_streams_of_npy_and_parquet_are_known_by_their_content(tmp_path, packed):
    array = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "a.npy", array)
    parquet(tmp_path / "a.parquet", c0=array[:, 0], c1=array[:, 1])
    for name in ("a.npy", "a.parquet"):
        data = (tmp_path / name).read_bytes()
        table = read(gzip.compress(data) if packed else data)
        np.testing.assert_array_equal(whole(table.values), array)
        assert table.names == ["c0", "c1"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(PLAIN))
    writer.start()
    assert read_numbers(tmp_path / "pipe").values.tolist() == [[1, 2.5], [-3, 400]]
    writer.join()


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_numbers(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError):
        read_numbers(tmp_path)


def test_a_report_is_plain_values():
    report = read(b"a,b,c\n1,2,z\n").report.to_dict()
    assert report["rows"] == 1
    assert report["used"] == ["a", "b"]
    assert report["left_out"] == {"c": "text, for example 'z'"}


def test_long_lists_of_columns_are_shortened():
    names = ",".join(f"n{j}" for j in range(30))
    lines = read(f"{names}\n{','.join('1' * 30)}\n".encode()).report.lines()
    assert lines[0].endswith("n6, n7 and 22 more).")


@settings(max_examples=300, deadline=None)
@given(st.text('a,"\n', max_size=30).map(str.encode))
def test_the_quick_count_of_quotes_is_that_of_the_careful_one(data):
    quick = scan_quotes(data, Dialect())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.data.delimited.newlines_in_quotes", lambda *_: None)
        assert scan_quotes(data, Dialect()) == quick

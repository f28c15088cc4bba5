"""Small files that would fill memory or take minutes are refused, or read in time."""

import gzip
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.core import DataError
from tacit.data import Documents, Ratings, read_numbers
from tacit.data.delimited import Dialect, name_columns, unique
from tacit.data.label_files import read_labels
from tacit.words.vector_files import read_word2vec


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


PEAK = r"""
import re, sys
from tacit.core import DataError
from tacit.data import Documents, read_numbers

def peak():  # getrusage would begin with that of the parent
    return 1024 * int(re.search(r"VmHWM:\s*(\d+) kB", open("/proc/self/status").read())[1])

before = peak()
try:
    {"read_numbers": read_numbers, "Documents.open": Documents.open}[sys.argv[1]](sys.argv[2])
except DataError as error:
    print(peak() - before, error)
"""


def peak_of(reader: str, path: Path) -> tuple[int, str]:
    """The memory in bytes that a reader takes in a process of its own, and its error."""
    child = [sys.executable, "-c", PEAK, reader, str(path)]
    out = subprocess.run(child, capture_output=True, text=True, check=True).stdout
    peak, error = out.split(" ", 1)
    return int(peak), error


def repeated_text(path: Path, length: int, rows: int) -> Path:
    """A file of one string, many times, in a few hundred bytes."""
    text = pa.DictionaryArray.from_arrays(
        pa.array([0] * 1000, pa.int32()), pa.array(["a" * length])
    )
    batch = pa.record_batch([text], names=["text"])
    schema = pa.schema([("text", text.type)])
    with pq.ParquetWriter(path, schema, compression="zstd", store_schema=False) as writer:
        for _ in range(rows // 1000):
            writer.write_batch(batch)
    return path


def test_a_parquet_file_that_repeats_a_long_string_is_refused_before_it_is_expanded(folder):
    path = repeated_text(folder / "bomb.parquet", 2**20, 300_000)  # 300 GB of text
    assert path.stat().st_size < 200_000
    with pytest.raises(DataError, match=r"bomb\.parquet.*unpack to .* decompression bomb"):
        Documents.open(path)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")
def test_one_long_string_and_references_to_it_are_refused_before_they_are_expanded(folder):
    """A row group holds the string once, so that its declared size is small."""
    path = folder / "once.parquet"
    texts = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), ["a" * 30_000])
    pq.write_table(pa.table({"text": texts}), path, store_schema=False)  # 300 MB of text
    with pq.ParquetFile(path) as file:
        assert file.metadata.row_group(0).column(0).total_uncompressed_size < 50_000
    peak, error = peak_of("Documents.open", path)
    assert "unpack to 300 MB" in error
    assert peak < 150_000_000


def test_a_parquet_file_whose_parts_declare_too_much_is_refused(folder, monkeypatch):
    path = folder / "zeros.parquet"
    zeros = pa.table({"x": np.zeros(1_000_000)})
    pq.write_table(zeros, path, use_dictionary=False, compression="zstd")  # 8 MB of zeros
    assert read_numbers(path).values.shape == (1_000_000, 1)
    monkeypatch.setattr("tacit.data.parquet.BOMB_SIZE", 1_000_000)
    with pytest.raises(DataError, match=r"zeros\.parquet.* 8\.\d MB, over 200 times"):
        read_numbers(path)


def test_repeated_strings_of_a_sound_parquet_file_are_read(folder):
    path = folder / "sound.parquet"
    texts = ["a letter from home", "a letter to the bank"] * 500
    pq.write_table(pa.table({"text": texts, "n": range(1000)}), path)
    documents = Documents.open(path)
    assert list(documents.texts()) == texts


def test_a_parquet_file_that_declares_too_many_rows_is_refused(folder, monkeypatch):
    path = folder / "rows.parquet"
    pq.write_table(pa.table({"x": [1.0] * 100_000}), path)
    assert read_numbers(path).values.shape == (100_000, 1)
    monkeypatch.setattr("tacit.data.parquet.BOMB_SIZE", 1000)
    monkeypatch.setattr("tacit.data.parquet.RUN_RATIO", 100)
    with pytest.raises(DataError, match=r"rows\.parquet.* unpack to 800 kB"):
        read_numbers(path)


def test_a_damaged_parquet_file_is_named(folder):
    path = folder / "damaged.parquet"
    path.write_bytes(b"PAR1" + b"\0" * 40 + b"PAR1")
    with pytest.raises(DataError, match=r"damaged\.parquet"):
        Documents.open(path)
    with pytest.raises(DataError, match=r"damaged\.parquet"):
        read_numbers(path)


def test_json_lines_with_a_new_key_each_are_refused(folder):
    path = folder / "keys.jsonl"
    lines = [json.dumps({"text": "a letter", f"key{i}": i}) for i in range(10_500)]
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"line 10001.*10,001 different columns"):
        Documents.open(path)


def test_repeated_names_of_columns_get_numbers():
    assert unique(["a", "a", "a", ""]) == ["a", "a_", "a_2", "4"]
    names, _, _ = name_columns([b"x", b"x", b"x_2", b"x"], None, Dialect())
    assert names == ["x", "x_3", "x_2", "x_4"]
    many, _, notes = name_columns([b"x"] * 20_000, None, Dialect())
    assert len(set(many)) == 20_000
    assert notes[-1] == "19,979 more columns are noted like the last one"


class Endless(io.RawIOBase):
    """A stream of rows that never ends, as a pipe may be."""

    def read(self, size=-1):
        return b"1,2\n" * (size // 4)


def test_a_file_without_end_is_refused_before_memory_is_full(monkeypatch):
    monkeypatch.setattr("tacit.data.streams.available_memory", lambda: 2e8)
    with pytest.raises(DataError, match=r"too much to read whole with 200 MB"):
        read_numbers(Endless())


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize(
    "read", [read_numbers, read_labels, Ratings.open, read_word2vec, Documents.open]
)
def test_a_device_without_end_is_refused_at_once(read, device, monkeypatch):
    monkeypatch.setattr("tacit.data.streams.available_memory", lambda: 1e9)
    with pytest.raises(DataError, match=r"/dev/.*(without an end|not text|control characters)"):
        read(device)


def test_a_parquet_file_of_millions_of_empty_documents_is_refused(folder):
    path = folder / "nulls.parquet"
    pq.write_table(pa.table({"text": pa.nulls(20_000_000, pa.string())}), path)
    with pytest.raises(DataError, match=r"nulls\.parquet.* unpack to 1\.3 GB"):
        Documents.open(path)


@pytest.mark.parametrize("shape", [(10**12, 0), (0, 10**12), (10**12, 3), (10**30, 3)])
@pytest.mark.parametrize("packed", [False, True])
def test_a_npy_file_that_declares_too_much_is_refused_at_once(folder, shape, packed):
    stream = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    path = folder / "declares.npy"
    path.write_bytes(gzip.compress(stream.getvalue()) if packed else stream.getvalue())
    what = "there are no rows|there is no column|this .npy file cannot be read"
    with pytest.raises(DataError, match=rf"declares\.npy: ({what})"):
        read_numbers(path)


def test_word_vectors_whose_first_line_is_much_longer_than_the_others_are_refused(folder):
    """Memory used to be taken for lines as long as the first."""
    path = folder / "vectors.txt"
    path.write_bytes(b"a" + b" 0" * 100_000 + b"\n" * 1_000_000 + b"b")
    with pytest.raises(DataError, match=r"vectors\.txt, row 2: a word and 100000 numbers"):
        read_word2vec(path)


def test_a_row_of_thousands_of_columns_is_read_in_time(folder):
    """Every column used to unpack all of them."""
    path = folder / "wide.csv"
    names, n = [f"c{i}" for i in range(9_000)], 9_000
    path.write_text(f"text,{','.join(names)}\na letter,{','.join(['1'] * n)}\n")
    documents = Documents.open(path)
    assert sum(documents.column(name)[0] for name in names) == n


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")
@pytest.mark.parametrize(("start", "cell"), [(b"", b","), (b"", b"12 "), (b'"a\nb"', b",")])
def test_millions_of_columns_are_refused_before_they_are_separated(folder, start, cell):
    """Every column used to take 50 bytes, even one of nothing but a comma."""
    path = folder / "wide.csv"
    path.write_bytes(start + cell * (60_000_000 // len(cell)))
    peak, error = peak_of("read_numbers", path)
    assert "more than 1,048,576 columns" in error
    assert peak < 6 * path.stat().st_size


def test_more_columns_than_memory_has_room_for_are_refused(folder, monkeypatch):
    path = folder / "wide.csv"
    path.write_text("1," * 19_999 + "1\n")
    monkeypatch.setattr("tacit.data.number_files.available_memory", lambda: 2e8)
    with pytest.raises(
        DataError, match=r"20,000 columns of text need 260 MB of memory, but 200 MB"
    ):
        read_numbers(path)
    assert read_numbers(path, columns=["c19998"]).values.tolist() == [[1]]


def test_rounding_in_thousands_of_columns_is_said_in_a_few_lines(folder):
    path = folder / "large.csv"
    path.write_text(
        f"{','.join(f'x{i}' for i in range(3000))}\n{','.join([str(2**53 + 1)] * 3000)}\n"
    )
    notes = read_numbers(path).report.notes
    assert len(notes) < 30
    assert notes[-1] == "2,980 more columns are noted like the last one"


def test_a_lone_surrogate_in_an_id_is_repaired_and_reported(folder):
    path = folder / "ids.jsonl"
    path.write_text('{"text": "a", "id": "k\\ud800"}\n{"text": "b", "id": "l\\u0000"}\n')
    documents = Documents.open(path)
    assert documents.ids == ["k\ufffd", "l "]
    assert "2 ids with NUL or half of a surrogate pair" in str(documents.report)


def test_a_lone_surrogate_in_a_json_key_is_repaired_and_reported(folder):
    path = folder / "keys.jsonl"
    path.write_text('{"text": "a", "k\\ud800": 1}\n{"text": "b", "k\\ud800": 2}\n')
    documents = Documents.open(path)
    assert documents.column("k\ufffd") == [1, 2]
    assert "Line 1: a key holds NUL or half of a surrogate pair" in str(documents.report)

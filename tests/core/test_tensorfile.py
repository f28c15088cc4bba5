"""The container: what is no such file is named for what it is, and nothing is trusted."""

import json
import os
import struct

import numpy as np
import pytest

from tacit.core import tensorfile
from tacit.core.errors import ModelFileError
from tacit.core.tensorfile import open_tensors, write_tensors

ARRAYS = {f"x{i}": np.ones((i, 2), dtype) for i, dtype in enumerate(tensorfile.CODES)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.safetensors"


def read(path, kind="model"):
    with open_tensors(path, kind=kind) as file:
        return file.document, file.read()


def refused(path, match):
    """One error, naming the file, what is wrong, and the way out."""
    with pytest.raises(ModelFileError, match=match) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.count(". ") >= 1
    assert message.endswith(".")


def test_arrays_and_document_come_back(path):
    write_tensors(path, {"format": 1, "kind": "model", "x": [1.5, "é"]}, ARRAYS)
    document, arrays = read(path)
    assert document["x"] == [1.5, "é"]
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        assert array.dtype == ARRAYS[name].dtype
        assert np.array_equal(array, ARRAYS[name])


def test_other_programs_can_read_the_arrays(path):
    """The outside authority: the safetensors package."""
    safetensors = pytest.importorskip("safetensors.numpy")
    write_tensors(path, {"format": 1, "kind": "model"}, ARRAYS)
    arrays = safetensors.load_file(path)
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        assert array.dtype == ARRAYS[name].dtype
        assert np.array_equal(array, ARRAYS[name])


def test_every_array_lies_where_a_processor_likes_it(path):
    write_tensors(path, {"format": 1, "kind": "model"}, ARRAYS)
    with open_tensors(path, kind="model") as file:
        for entry in file.table.values():
            assert entry.start % entry.dtype.itemsize == 0
        for array in file.map().values():
            assert array.flags.aligned


def test_a_header_that_no_reader_would_take_is_not_written(path, monkeypatch):
    monkeypatch.setattr(tensorfile, "HEADER_MOST", 1000)
    with pytest.raises(ValueError, match="1,000 is the most"):
        write_tensors(path, {"format": 1, "kind": "model", "x": "y" * 1000}, {})
    assert not path.exists()


def test_one_kind_is_not_taken_for_the_other(path):
    write_tensors(path, {"format": 1, "kind": "model"}, {})
    with pytest.raises(ModelFileError, match="is a model, not a checkpoint"):
        read(path, "checkpoint")
    write_tensors(path, {"format": 1, "kind": "checkpoint"}, {})
    refused(path, "checkpoint of an unfinished fit")


def test_a_missing_file_is_a_missing_file(path):
    with pytest.raises(FileNotFoundError):
        read(path)


def test_folders_and_pipes_are_refused_without_waiting(tmp_path):
    refused(tmp_path, "is a folder")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "not a regular file")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b"abc", "only 3 bytes"),
        (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c", "pickle, which can run code"),
        (b"PK\x03\x04" + bytes(100), "zip archive"),
        (b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'", "NumPy"),
        (b"a,b,c\n1,2,3\n", "not a safetensors file"),
        (b"<!DOCTYPE html><html>", "web page"),
        (struct.pack("<Q", 2**63) + b"{}", "oversized header"),
        (struct.pack("<Q", 20) + b"{}", "cut short"),
        (struct.pack("<Q", 2) + b"[]", "not a JSON object"),
        (struct.pack("<Q", 2) + b"{}", "not one of Tacit's"),
        (struct.pack("<Q", 2) + b"{", "cut short"),
        (struct.pack("<Q", 2) + b"{'", "not valid JSON"),
        (struct.pack("<Q", 3) + b"{\xff}", "not valid JSON"),
        (struct.pack("<Q", 13) + b'{"a":1,"a":2}', "appears twice"),
        (struct.pack("<Q", 9) + b'{"a":NaN}', "not valid JSON"),
        (struct.pack("<Q", 200_000) + b"[" * 200_000, "nested too deeply"),
        (struct.pack("<Q", 14) + b'{"\\ud800":{} }', "not valid JSON"),
    ],
)
def test_what_is_no_model_file_is_named_for_what_it_is(path, content, match):
    path.write_bytes(content)
    refused(path, match)


def header_with(**entry):
    table = {"x": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8], **entry}}
    content = json.dumps(table).encode()
    return struct.pack("<Q", len(content)) + content


@pytest.mark.parametrize(
    ("entry", "match"),
    [
        ({"dtype": "F4"}, "unknown dtype"),
        ({"dtype": ["F64"]}, "unknown dtype"),
        ({"shape": [2**62, 2**62]}, "impossible shape"),
        ({"shape": [2**62, 0], "data_offsets": [0, 0]}, "impossible shape"),
        ({"shape": [1] * 65}, "impossible shape"),
        ({"shape": [-1]}, "does not say clearly"),
        ({"shape": [True]}, "does not say clearly"),
        ({"shape": [1.0]}, "does not say clearly"),
        ({"shape": "1"}, "does not say clearly"),
        ({"shape": [2]}, "which needs 16"),
        ({"data_offsets": [8, 0]}, "which needs 8"),
        ({"data_offsets": [0]}, "does not say clearly"),
        ({"data_offsets": [8, 16]}, "gap or an overlap"),
        ({"data_offsets": [0, 8], "more": 1}, "does not say clearly"),
        ({"shape": [2**40], "data_offsets": [0, 2**43]}, "cut short"),
    ],
)
def test_sizes_are_checked_before_anything_is_allocated(path, entry, match):
    path.write_bytes(header_with(**entry) + bytes(8))
    refused(path, match)


def test_arrays_may_not_overlap(path):
    header = {
        "a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},
        "b": {"dtype": "U8", "shape": [4], "data_offsets": [2, 6]},
    }
    content = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(content)) + content + bytes(6))
    refused(path, "overlap")


def test_arrays_that_another_program_wrote_are_read_alike(tmp_path):
    """The table of a file by the safetensors package passes our checks, bit for bit."""
    safetensors = pytest.importorskip("safetensors.numpy")
    safetensors.save_file(ARRAYS, tmp_path / "theirs")
    refused(tmp_path / "theirs", "not one of Tacit's")
    with (tmp_path / "theirs").open("rb", buffering=0) as file:
        size = (tmp_path / "theirs").stat().st_size
        header, start = tensorfile.read_header(tmp_path, file, size)
        table = tensorfile.read_table(tmp_path, header, start, size)
    assert {name: (entry.dtype, entry.shape) for name, entry in table.items()} == {
        name: (array.dtype, array.shape) for name, array in ARRAYS.items()
    }

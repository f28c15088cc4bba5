"""The container of models and checkpoints: foreign and damaged files are refused by name."""

import json
import os
import struct

import numpy as np
import pytest
import safetensors.numpy

from tacit.core import ModelFileError, tensorfile
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
    write_tensors(path, {"format": 1, "kind": "model"}, ARRAYS)
    arrays = safetensors.numpy.load_file(path)
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        assert array.dtype == ARRAYS[name].dtype
        assert np.array_equal(array, ARRAYS[name])


def test_every_array_is_aligned(path):
    write_tensors(path, {"format": 1, "kind": "model"}, ARRAYS)
    with open_tensors(path, kind="model") as file:
        for entry in file.table.values():
            assert entry.start % entry.dtype.itemsize == 0
        for array in file.map().values():
            assert array.flags.aligned


def test_an_oversized_header_is_not_written(path, monkeypatch):
    monkeypatch.setattr(tensorfile, "HEADER_MOST", 1000)
    with pytest.raises(ValueError, match="1,000 is the most"):
        write_tensors(path, {"format": 1, "kind": "model", "x": "y" * 1000}, {})
    assert not path.exists()


def test_models_and_checkpoints_are_not_confused(path):
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
        (b"a,b,c\n1,2,3\n", "is a table \\(CSV\\), not a model"),
        (b"Dear Ann, thank you for the letter.\n", "is text, not a model"),
        (b"<!DOCTYPE html><html>", "web page"),
        (struct.pack("<Q", 2**63) + b"{}", "oversized header"),
        (struct.pack("<Q", 20) + b"{}", "cut short"),
        (struct.pack("<Q", 2) + b"[]", "not a safetensors file"),
        (struct.pack("<Q", 2) + b"{}", "not one of Tacit's"),
        (struct.pack("<Q", 2) + b"{", "cut short"),
        (struct.pack("<Q", 2) + b"{'", "not a safetensors file"),
        (struct.pack("<Q", 3) + b"{\xff}", "not a safetensors file"),
        (struct.pack("<Q", 13) + b'{"a":1,"a":2}', "not a safetensors file"),
        (struct.pack("<Q", 9) + b'{"a":NaN}', "not a safetensors file"),
        (struct.pack("<Q", 200_000) + b"[" * 200_000, "not a safetensors file"),
        (struct.pack("<Q", 14) + b'{"\\ud800":{} }', "not a safetensors file"),
    ],
)
def test_a_foreign_file_is_named_for_what_it_is(path, content, match):
    path.write_bytes(content)
    refused(path, match)


def header_with(**entry):
    table = {"x": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8], **entry}}
    content = json.dumps(table).encode()
    return struct.pack("<Q", len(content)) + content


@pytest.mark.parametrize(
    ("entry", "match"),
    [
        ({"dtype": "F4"}, "not a safetensors file"),
        ({"dtype": "F8_E5M2", "shape": [8]}, "unknown dtype"),
        ({"dtype": ["F64"]}, "not a safetensors file"),
        ({"shape": [2**62, 2**62]}, "overflow"),
        ({"shape": [-1]}, "invalid value"),
        ({"shape": [True]}, "invalid type"),
        ({"shape": [1.0]}, "invalid type"),
        ({"shape": "1"}, "invalid type"),
        ({"shape": [2]}, "invalid shape"),
        ({"data_offsets": [8, 0]}, "invalid offset"),
        ({"data_offsets": [0]}, "invalid length"),
        ({"data_offsets": [8, 16]}, "invalid offset"),
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
    refused(path, "invalid offset")


@pytest.mark.parametrize("shape", [(2**62, 2**62, 0), (1,) * 65])
def test_shapes_that_numpy_does_not_have_are_refused(path, shape):
    entry = tensorfile.Entry(np.dtype("u1"), shape, 0, 1 if 0 not in shape else 0)
    write_tensors(path, {"format": 1, "kind": "model"}, {"x": np.ones(1, np.uint8)})
    with open_tensors(path, kind="model") as file:
        forged = file._replace(table={"x": entry})
        for load in (forged.read, forged.map):
            with pytest.raises(ModelFileError, match="impossible shape"):
                load()


def test_arrays_that_another_program_wrote_are_not_a_model(tmp_path):
    safetensors.numpy.save_file(ARRAYS, tmp_path / "theirs")
    refused(tmp_path / "theirs", "not one of Tacit's")

"""Damaged and forged model files are refused in a sentence, and nothing else happens."""

import json
import struct
import sys
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from tacit import load
from tacit.core import ModelFileError, Threads, describe, registry, tensorfile
from tacit.core.modelfile import Description, Saved, save
from tacit.core.tensorfile import open_tensors, write_tensors

X = np.arange(20.0).reshape(10, 2) ** 1.5


class Toy(Saved, BaseEstimator):
    """A model with a schema."""

    _file_schema: ClassVar = {
        "means_": ("n_parts", "n_features_in_"),
        "labels_": ("n_rows",),
    }
    _file_kinds: ClassVar = {"means_": "f", "labels_": "i"}

    def __init__(self, n_parts=2, *, init=None, engine="serial"):
        self.n_parts = n_parts
        self.init = init
        self.engine = engine

    def fit(self, X, y=None):
        self.means_ = X[: self.n_parts].copy()
        self.labels_ = np.zeros(len(X), np.int32)
        self.n_features_in_ = X.shape[1]
        self.losses_ = [3.0, 1e-300]
        return self


class Anything(Saved, BaseEstimator):
    """Holds whatever a test gives it."""

    def __init__(self, a=None, b=None):
        self.a = a
        self.b = b

    def fit(self, X=None, y=None):
        return self

    def _after_load(self):
        self.was_loaded = True
        if isinstance(self.a, str) and self.a == "refuse":
            raise ValueError("a is not to be 'refuse'")


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    monkeypatch.setitem(registry.REGISTRY, "Toy", f"{__name__}:Toy")
    monkeypatch.setitem(registry.REGISTRY, "Anything", f"{__name__}:Anything")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(path):
    Toy(3, init=X[:3], engine=Threads(2)).fit(X).save(path)
    return path


def holding(value, *, a=None):
    model = Anything(a)
    model.value_ = value
    return model


def reseal(path, change):
    """Rewrite a file as an attacker would: changed, with every checksum right."""
    with open_tensors(path, kind="model") as file:
        document, arrays = file.document, file.read()
    del document["data_blake2b"]
    change(document, arrays)
    write_tensors(path, document, arrays)


def refused(path, match):
    """One error, naming the file, what is wrong, and the way out."""
    with pytest.raises(ModelFileError, match=match) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.count(". ") >= 1
    assert message.endswith(".")
    assert "\x1b" not in message
    return message


def test_truncation_and_trailing_bytes_are_found(saved):
    content = saved.read_bytes()
    saved.write_bytes(content[:-1])
    refused(saved, "cut short")
    saved.write_bytes(content + b"\0")
    refused(saved, "bytes after its last array")


def test_a_flipped_bit_is_found_in_the_arrays_and_in_the_header(saved):
    content = bytearray(saved.read_bytes())
    content[-1] ^= 1
    saved.write_bytes(content)
    refused(saved, "arrays do not match their checksum")
    assert load(saved, mmap=True) is not None  # which looks at the header alone
    content[-1] ^= 1
    content[content.index(b"1e-300")] ^= 1
    saved.write_bytes(content)
    refused(saved, "header does not match its checksum")
    with pytest.raises(ModelFileError, match="header does not match"):
        load(saved, mmap=True)
    with pytest.raises(ModelFileError, match="header does not match"):
        describe(saved)


def put(document, place, value):
    *way, last = place.split("/")
    for step in way:
        document = document[step]
    document[last] = value


@pytest.mark.parametrize(
    ("place", "value", "match"),
    [
        ("format", 9, r"was written by a newer Tacit \(format 9\)\. Upgrade"),
        ("format", 0, "name its format"),
        ("format", "1", "name its format"),
        ("kind", "checkpoint", "checkpoint of an unfinished fit"),
        ("kind", 3, "does not name its kind"),
        ("class", "Evil", "unknown class 'Evil'"),
        ("class", "os:system", "unknown class"),
        ("class", "\x1b[31mred", "unknown class"),
        ("class", ["Toy"], "unknown class"),
        ("params", None, "lacks the parameters or the state of its Toy"),
        ("params/depth", 3, r"parameters that it does not take: \['depth'\]"),
        ("params/n_parts", 4, "n_parts is 4"),
        ("params/n_parts", {"type": "import", "name": "os"}, "unknown type"),
        ("params/n_parts", {"type": ["array"]}, "no valid 'type'"),
        ("params/n_parts", {}, "no valid 'type'"),
        ("params/engine", {"type": "engine", "name": "Pool", "settings": {}}, "engine"),
        ("params/engine/settings", {"workers": 10**9}, "engine"),
        ("params/engine/settings", {"workers": True}, "engine"),
        ("params/engine/settings", {"address": "tcp://x"}, "engine"),
        ("fitted/fit", "gone", "attributes that are not Toy's"),
        ("fitted/__class__", "gone", "attributes that are not Toy's"),
        ("fitted/_secret", "gone", "attributes that are not Toy's"),
        ("fitted/means_", None, "means_ is missing"),
        ("fitted/means_", "text", "means_ has shape None"),
        ("fitted/means_/dtype", "float32", "has dtype float64 where 'float32' belongs"),
        ("fitted/n_features_in_", 3, "n_features_in_ is 3"),
        ("fitted/x_", {"type": "array", "dtype": "float64"}, "lacks the array 'x_'"),
        ("fitted/x_", {"type": "number", "dtype": "int8", "value": 200}, "not a int8"),
        ("fitted/x_", {"type": "number", "dtype": "float32", "value": 1e39}, "not a float32"),
        ("fitted/x_", {"type": "number", "dtype": "float64", "value": "nan"}, "finite float64"),
        ("fitted/x_", {"type": "number", "dtype": "O", "value": 1}, "unknown dtype"),
        ("fitted/x_", {"type": "dtype", "dtype": "O"}, "unknown dtype"),
        ("fitted/x_", {"type": "model", "class": "Evil"}, "unknown class"),
        ("fitted/x_", {"type": "model", "class": "Toy"}, "lacks the parameters"),
        ("dims", {}, "declares the sizes"),
        ("dims", [], "lacks the parameters or the state of its Toy"),
    ],
)
def test_a_file_made_to_mislead_is_refused(saved, place, value, match):
    reseal(saved, lambda document, arrays: put(document, place, value))
    refused(saved, match)


def test_infinity_cannot_be_smuggled_in_as_a_large_number(saved):
    content = saved.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    text = metadata["tacit"].replace("1e-300", "1e+999")
    metadata = {"tacit": text, "checksum": tensorfile.seal(text, header)}
    forged = tensorfile.compact({"__metadata__": metadata, **header}).encode()
    saved.write_bytes(struct.pack("<Q", len(forged)) + forged + content[8 + length :])
    refused(saved, "too large for a float")


def test_arrays_must_be_the_ones_the_class_wants(saved):
    original = saved.read_bytes()

    def attempt(match, **changes):
        saved.write_bytes(original)
        reseal(saved, lambda document, arrays: arrays.update(changes))
        refused(saved, match)

    attempt(r"means_ has shape \(2, 3\)", means_=np.zeros((2, 3)))
    attempt(r"means_ has shape \(6,\)", means_=np.zeros(6))
    attempt("n_parts is 3", means_=np.zeros((4, 2)))
    attempt("has dtype float32", means_=np.zeros((3, 2), "f4"))
    attempt("holds nan or inf", means_=np.full((3, 2), np.nan))
    attempt("belong to nothing: 'extra'", extra=np.zeros(3))
    saved.write_bytes(original)
    reseal(saved, lambda document, arrays: arrays.pop("means_"))
    refused(saved, "lacks the array 'means_'")


def test_a_boolean_is_zero_or_one(path):
    save(holding(np.array([True, False])), path)
    content = bytearray(path.read_bytes())
    content[-1] = 7
    path.write_bytes(content)
    refused(path, "checksum")

    def forge(document, arrays):
        arrays["value_"] = np.array([1, 7], np.uint8).view(bool)

    path.unlink()
    save(holding(np.array([True, False])), path)
    reseal(path, forge)
    refused(path, "bytes other than 0 and 1")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"value_.indices": np.array([0, 9], "i4")}, "consistent"),
        ({"value_.indices": np.array([0, -1], "i4")}, "consistent"),
        ({"value_.indices": np.array([0], "i4")}, "consistent"),
        ({"value_.indices": np.array([0, 1], "i2")}, "not a sparse matrix"),
        ({"value_.indices": np.array([0.0, 1.0])}, "wrong dtype"),
        ({"value_.indptr": np.array([0, 2, 1], "i4")}, "consistent"),
        ({"value_.indptr": np.array([0, 1, 1], "i4")}, "consistent"),
        ({"value_.indptr": np.array([1, 1, 2], "i4")}, "consistent"),
        ({"value_.indptr": np.array([0, 1, 2, 2], "i4")}, "consistent"),
        ({"value_.indptr": np.zeros((0,), "i4")}, "consistent"),
        ({"value_.data": np.array([1.0, np.nan])}, "nan"),
        ({"value_.data": np.array([1.0, 2.0], "f2")}, "not a sparse matrix"),
        ({"value_.data": np.eye(2)}, "consistent"),
    ],
)
def test_no_sparse_matrix_points_outside_itself(path, changes, match):
    save(holding(sp.csr_array(np.eye(2))), path)
    reseal(path, lambda document, arrays: arrays.update(changes))
    refused(path, match)


@pytest.mark.parametrize(
    "changes",
    [
        {"value_.offsets": np.array([0, 1, 9])},
        {"value_.offsets": np.array([0, 3, 2])},
        {"value_.offsets": np.array([1, 2, 2])},
        {"value_.offsets": np.array([0, 2])[:0]},
        {"value_.offsets": np.array([0.0, 1, 2])},
        {"value_.offsets": np.array([[0, 1, 2]])},
        {"value_.bytes": np.array([0xFF, 0xFE], np.uint8)},
        {"value_.bytes": np.array([0xC3, 0xA9], np.uint8)},  # é, cut in two
        {"value_.bytes": np.array([97, 98], np.uint16)},
        {"value_.bytes": np.array([97, 98, 99], np.uint8)},
    ],
)
def test_no_string_points_outside_its_bytes(path, changes):
    save(holding(np.array(["a", "b"], object)), path)
    reseal(path, lambda document, arrays: arrays.update(changes))
    refused(path, "value_")


def test_a_vocabulary_names_every_word_once(path):
    save(holding({f"{i:03}": i for i in range(100)}), path)
    original = path.read_bytes()

    def twins(document, arrays):
        arrays["value_.bytes"] = np.frombuffer(b"000" * 100, np.uint8)

    reseal(path, twins)
    refused(path, "key twice")
    path.write_bytes(original)
    reseal(path, lambda document, arrays: arrays.update({"value_.values": np.arange(99)}))
    refused(path, "key twice")


def test_what_a_class_refuses_itself_is_a_bad_file(path):
    save(holding(1, a="fine"), path)
    reseal(path, lambda document, arrays: put(document, "params/a", "refuse"))
    refused(path, "not a usable|usable Anything: \"a is not to be 'refuse'\"")


def test_a_model_without_anything_learned_is_refused(path):
    save(holding(1), path)
    reseal(path, lambda document, arrays: document["fitted"].clear())
    refused(path, "never fitted")


def test_deep_nesting_ends_in_an_error_not_in_a_crash(path):
    save(holding([]), path)
    deep: list = []
    for _ in range(sys.getrecursionlimit() // 3):
        deep = [deep]
    reseal(path, lambda document, arrays: put(document, "fitted/value_", deep))
    refused(path, "nested too deeply")
    assert "<deeper>" in str(describe(path).fitted["value_"])


def test_nothing_is_imported_by_a_name_found_in_a_file(path, monkeypatch):
    save(holding(1), path)
    reseal(path, lambda document, arrays: put(document, "class", "antigravity"))
    refused(path, "unknown class")
    assert "antigravity" not in sys.modules


# --- Fuzzing ---


FUZZ = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def try_to(open_file, path):
    """What is opened, or the error, which must name the file. Any other error escapes."""
    try:
        return open_file(path)
    except ModelFileError as error:
        return error if str(error).startswith(str(path)) else None


def fuzz_model():
    model = Toy(3, init=X[:3], engine=Threads(2)).fit(X)
    model.vocabulary_ = {f"w{i}": i for i in range(70)}
    model.names_ = np.array(["a", "été"], object)
    model.words_ = np.array(["a", "bc"])
    model.sparse_ = sp.csr_array(np.eye(3))
    model.part_ = holding((1, np.float32(2), {"a": None}))
    return model


@FUZZ
@given(data=st.data())
def test_damage_anywhere_is_an_error_or_does_not_matter(path, data):
    save(fuzz_model(), path)
    whole = path.read_bytes()
    content = bytearray(whole)
    kind = data.draw(st.sampled_from(["flip", "cut", "insert", "overwrite"]))
    place = data.draw(st.integers(0, len(content) - 1))
    if kind == "flip":
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del content[place : place + data.draw(st.integers(1, 50))]
    elif kind == "insert":
        content[place:place] = data.draw(st.binary(min_size=1, max_size=20))
    else:
        new = data.draw(st.binary(min_size=1, max_size=20))
        content[place : place + len(new)] = new
    path.write_bytes(content)
    again = try_to(load, path)
    if not isinstance(again, ModelFileError):
        save(again, path)
        assert path.read_bytes() == whole


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["array", "sparse", "strings", "U3", "float64", "inf", "Toy", "C", ""]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "items", "as", "shape", "dtype", "value", "name"]), inner
    ),
    max_leaves=6,
)  # fmt: skip


def places(node, way=()):
    for key in node if isinstance(node, dict) else range(len(node)):
        yield (*way, key)
        if isinstance(node[key], dict | list):
            yield from places(node[key], (*way, key))


@pytest.mark.slow
@FUZZ
@given(data=st.data())
def test_a_forged_description_is_an_error_or_a_model(path, data):
    """With all checksums right: the reader must not rely on them."""
    save(fuzz_model(), path)

    def forge(document, arrays):
        way = data.draw(st.sampled_from(list(places(document))))
        node = document
        for key in way[:-1]:
            node = node[key]
        node[way[-1]] = data.draw(JSON)
        if data.draw(st.booleans()):
            name = data.draw(st.sampled_from(sorted(arrays)))
            values = data.draw(st.lists(st.integers(-2, 300), max_size=6))
            dtype = data.draw(st.sampled_from(["i8", "i4", "u1", "f8", "f2", "bool"]))
            arrays[name] = np.array(values).astype(dtype)

    reseal(path, forge)
    assert isinstance(try_to(load, path), ModelFileError | BaseEstimator)
    assert isinstance(try_to(describe, path), ModelFileError | Description)

"""Models survive the way through a file; files that should not be opened are not."""

import json
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

import tacit
from tacit import load
from tacit.core import Dask, ModelFileError, Serial, Threads, describe, registry
from tacit.core.modelfile import Saved, save
from tacit.core.tensorfile import open_tensors, write_tensors

# --- Models to save ---


class Toy(Saved, BaseEstimator):
    """Means of stretches of rows: a model with a schema."""

    _file_schema: ClassVar = {
        "means_": ("n_parts", "n_features_in_"),
        "labels_": ("n_rows",),
        "edges_": ("n_parts+1",),
    }
    _file_optional = ("labels_", "edges_")
    _file_kinds: ClassVar = {"means_": "f", "labels_": "i"}
    _file_nonfinite = ("edges_",)
    _saved_private = ("_scale",)

    def __init__(
        self, n_parts=2, *, init=None, engine="serial", callbacks=None, random_state=None
    ):
        self.n_parts = n_parts
        self.init = init
        self.engine = engine
        self.callbacks = callbacks
        self.random_state = random_state

    def fit(self, X, y=None):
        X = np.asarray(X, np.float64)
        parts = np.array_split(X, self.n_parts)
        self.means_ = np.array([part.mean(axis=0) for part in parts])
        self.labels_ = np.repeat(np.arange(self.n_parts, dtype=np.int32), list(map(len, parts)))
        self.n_features_in_ = X.shape[1]
        self.losses_ = [3.0, np.float64(0.1) + 0.2, 1e-300]
        self.edges_ = np.linspace(0, np.inf if self.n_parts == 7 else 1, self.n_parts + 1)
        self._scale = 2.5
        self._secret = "not saved"
        self._fingerprint = "blake2b:1234"
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


X = np.arange(20.0).reshape(10, 2) ** 1.5


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def holding(value, *, a=None):
    model = Anything(a)
    model.value_ = value
    return model


def through(path, value):
    save(holding(value), path)
    return load(path).value_


def reseal(path, change):
    """Rewrite a file as an attacker would: changed, with every checksum right."""
    with open_tensors(path, kind="model") as file:
        document, arrays = file.document, file.read()
    del document["data_blake2b"]
    change(document, arrays)
    write_tensors(path, document, arrays)


def equal(a, b):
    """Same type, same dtype, same bits."""
    if sp.issparse(a):
        same = all(
            equal(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr")
        )
        return type(a) is type(b) and a.shape == b.shape and same
    if isinstance(a, np.ndarray):
        if not (isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape):
            return False
        if a.dtype.kind in "OUT":
            return a.tolist() == b.tolist()
        return a.tobytes() == b.tobytes() and a.flags.c_contiguous == b.flags.c_contiguous
    if isinstance(a, BaseEstimator):
        return type(a) is type(b) and equal(state(a), state(b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, float | np.floating):
        return type(a) is type(b) and np.array(a).tobytes() == np.array(b).tobytes()
    return type(a) is type(b) and a == b


def state(model):
    """What of a model a file holds."""
    params = model.get_params(deep=False)
    fitted = {k: v for k, v in vars(model).items() if k.endswith("_") or k == "_scale"}
    return {"params": params, "fitted": dict(sorted(fitted.items()))}


# --- Round trips ---


def test_a_fitted_model_comes_back_as_it_was(path):
    model = Toy(3, random_state=4).fit(X)
    model.save(path)
    again = tacit.load(path)
    model.losses_ = [float(loss) for loss in model.losses_]
    assert equal(again, model)
    assert again._scale == 2.5
    assert not hasattr(again, "_secret")
    assert again._fingerprint == "blake2b:1234"
    again.means_[0, 0] = 7  # arrays are the caller's own


def test_the_same_fit_gives_the_same_bytes_and_so_does_a_loaded_one(path, tmp_path):
    other, third = tmp_path / "other", tmp_path / "third"
    Toy(3, random_state=4).fit(X).save(path)
    Toy(3, random_state=4).fit(X).save(other)
    load(path).save(third)
    assert path.read_bytes() == other.read_bytes() == third.read_bytes()
    Toy(3, random_state=5).fit(X).save(other)
    assert path.read_bytes() != other.read_bytes()


@pytest.mark.parametrize(
    "dtype", ["bool", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", ">f8"]
)
@pytest.mark.parametrize(
    "shape", [(), (0,), (3,), (2, 3), (0, 4), (2, 0, 3), (2, 3, 4)], ids=str
)
def test_arrays_keep_dtype_shape_and_bits(path, dtype, shape):
    values = np.random.RandomState(0).randint(0, 2, shape).astype(dtype)
    again = through(path, values)
    assert equal(again, values.astype(values.dtype.newbyteorder("=")))
    assert again.flags.writeable
    mapped = load_mapped(path)
    assert equal(mapped, values.astype(values.dtype.newbyteorder("=")))


def load_mapped(path):
    return load(path, mmap=True).value_


def test_fortran_order_comes_back_since_the_order_of_sums_depends_on_it(path):
    assert equal(through(path, np.asfortranarray(X)), np.asfortranarray(X))
    assert equal(through(path, X[::2, ::-1]), np.ascontiguousarray(X[::2, ::-1]))


def test_the_bits_of_floats_survive(path):
    values = [0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308, 1 / 3]
    assert equal(through(path, values), values)
    numbers = {str(t): np.dtype(t).type(0.3) for t in ("f2", "f4", "f8")}
    assert equal(through(path, numbers), numbers)
    assert equal(through(path, np.float64(-0.0)), np.float64(-0.0))


def named(value):
    """An id that the hash seed of the process cannot change."""
    shown = sorted(value) if isinstance(value, set | frozenset) else value
    return f"{type(value).__name__} {str(shown)[:20]}"


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -1, 2**70, "", "plain", "é \u202e \x00 \x1b[31m 🦉", [], [1, 2], (1, 2),
        [1, [2.0, "x", None]], {"a": 1, "b": [2]}, {}, {"a.b": {"0": np.arange(3)}},
        {"x", "y"}, frozenset({"a"}), np.bool_(True), np.int8(-3), np.uint64(2**64 - 1),
        list(range(1000)), [0.5] * 1000, ["w"] * 1000, [2**80] * 100, [1, 0.5] * 100,
        {f"word{i}": i for i in range(1000)}, {"mots": 0, "été": 1},
        np.array(["a", "bcd", ""]), np.array(["a", "été", ""], object), np.array([], "U3"),
        np.array([], object), np.array(["a", "long " * 50], np.dtypes.StringDType()),
        (np.arange(3), np.eye(2)), np.float32, np.dtype("int16"),
        Serial(), Threads(), Threads(3), Dask(),
    ],
    ids=lambda value: named(value).encode("ascii", "replace"),
)  # fmt: skip
def test_values_come_back_as_attributes_and_as_parameters(path, value):
    model = holding(value, a=value)
    save(model, path)
    again = load(path)
    assert equal(again.value_, value)
    assert equal(again.a, value)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_matrices_keep_class_and_index_dtype(path, kind, index):
    matrix = kind(sp.random(7, 5, 0.4, format="csr", rng=1))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    assert equal(through(path, matrix), matrix)
    assert (load_mapped(path) != matrix).nnz == 0
    empty = kind((0, 3))
    assert equal(through(path, empty), empty)


def test_a_vocabulary_of_any_script_survives(path):
    words = [f"слово{i}" for i in range(500)] + ["字", "🦉🦉", "e\u0301", "a\nb", " "]
    vocabulary = {word: i for i, word in enumerate(words)}
    model = holding(vocabulary)
    model.feature_names_in_ = np.array(words, object)
    save(model, path)
    assert equal(load(path), model)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=80))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives(path, texts):
    assert through(path, texts) == texts
    assert equal(through(path, np.array(texts, object)), np.array(texts, object))


def test_parameters_that_are_not_finite_are_settings_and_survive(path):
    model = holding(1, a=float("inf"))
    model.b = [float("nan"), np.float32("-inf")]
    save(model, path)
    again = load(path)
    assert again.a == float("inf")
    assert np.isnan(again.b[0])
    assert equal(again.b[1], np.float32("-inf"))


def test_a_model_may_hold_models_fitted_and_not(path):
    inner = Toy(2, init=np.eye(2)).fit(X)
    inner.losses_ = [1.0]
    outer = holding([inner, holding("deep")], a=Toy(5))
    outer.part_ = inner
    save(outer, path)
    assert equal(load(path), outer)
    names = {tensor.name for tensor in describe(path).tensors}
    assert {"part_.means_", "part_.params.init", "value_.0.labels_"} <= names


def test_array_parameters_and_engines_come_back(path):
    Toy(2, init=X[:2], engine=Threads(2)).fit(X).save(path)
    again = load(path)
    assert equal(again.init, X[:2])
    assert again.engine == Threads(2)
    clone(again).fit(X)


def test_labels_may_be_absent(path):
    model = Toy(2).fit(X)
    del model.labels_
    model.save(path)
    assert not hasattr(load(path), "labels_")


def test_a_declared_attribute_may_be_infinite(path):
    with np.errstate(invalid="ignore"):
        model = Toy(7).fit(X)
    model.save(path)
    assert equal(load(path).edges_, model.edges_)


def test_mapped_arrays_are_read_only_views_that_outlive_a_replacement(path):
    Toy(2).fit(X).save(path)
    mapped = load(path, mmap=True)
    assert type(mapped.means_) is np.ndarray
    assert not mapped.means_.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        mapped.means_[0] = 1
    before = mapped.means_.copy()
    Toy(2).fit(X + 100).save(path)
    assert equal(mapped.means_, before)


def test_after_load_is_called(path):
    save(holding(1), path)
    assert load(path).was_loaded


# --- What is left out, and what cannot be saved ---


def test_callbacks_are_left_out_and_the_file_says_so(path):
    Toy(2, callbacks=[print]).fit(X).save(path)
    assert load(path).callbacks is None
    assert describe(path).dropped == ["callbacks"]
    Toy(2, callbacks=[]).fit(X).save(path)
    assert describe(path).dropped == []


def test_no_file_sends_its_reader_to_the_writers_cluster(path):
    """A Dask scheduler can run code in its clients, so an address is not to be trusted."""
    Toy(2, engine=Dask("tcp://elsewhere:8786")).fit(X).save(path)
    assert describe(path).dropped == ["params.engine.address"]
    assert load(path).engine == Dask()

    def lead_astray(document, arrays):
        document["params"]["engine"]["settings"] = {"address": "tcp://elsewhere:8786"}

    reseal(path, lead_astray)
    with pytest.raises(ModelFileError, match="engine"):
        load(path)


@pytest.mark.parametrize(
    "value",
    [
        print, lambda x: x, object(), np.random.RandomState(0), np.array([1j]),
        np.array(["2020-01-01"], "M8[D]"), np.array([(1, 2.0)], "i4,f8"), np.longdouble(1),
        np.ma.array([1.0]), {1: 2}, {1, 2}, b"bytes", 1j, sp.coo_array((2, 2)),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_a_file_cannot_hold_is_refused_by_name(path, value):
    path.write_bytes(b"old")
    with pytest.raises(TypeError, match=r"Anything cannot be saved: params\.a is of type"):
        save(holding(1, a=value), path)
    with pytest.raises(TypeError, match="value_ is of type"):
        save(holding(value), path)
    assert path.read_bytes() == b"old"


def test_objects_other_than_strings_and_broken_text_are_refused(path):
    with pytest.raises(TypeError, match="value_ holds objects other than strings"):
        save(holding(np.array(["a", 1], object)), path)
    for broken in ("\ud800", ["\ud800"] * 100, {"\ud800": 1}, np.array(["\ud800"])):
        with pytest.raises(ValueError, match="value_ holds text with half of a surrogate pair"):
            save(holding(broken), path)


@pytest.mark.parametrize(
    "value",
    [float("nan"), np.float32("inf"), [1.0, float("nan")], np.array([1, np.nan]),
     {"a": -np.inf}, sp.csr_array([[np.nan]]), [np.inf] * 100, np.full((3, 3), np.inf, "f2")],
    ids=str,
)  # fmt: skip
def test_what_was_learned_must_be_finite(path, value):
    with pytest.raises(ValueError, match=r"value_.* must be finite"):
        save(holding(value), path)


def test_a_schema_that_does_not_hold_is_found_when_saving(path):
    model = Toy(2).fit(X)
    model.set_params(n_parts=5)
    with pytest.raises(ValueError, match=r"means_ has shape \(2, 2\).* n_parts is 5"):
        model.save(path)
    model = Toy(2).fit(X)
    model.labels_ = model.labels_.astype(float)
    with pytest.raises(ValueError, match="labels_ has dtype float64"):
        model.save(path)
    model = Toy(2).fit(X)
    model.means_ = "none"
    with pytest.raises(ValueError, match="means_ has shape None"):
        model.save(path)
    del model.means_
    with pytest.raises(ValueError, match="means_ is missing"):
        model.save(path)


def test_strangers_and_unfitted_models_cannot_be_saved(path):
    class Subclass(Toy):
        pass

    with pytest.raises(TypeError, match=r"Subclass is not in tacit\.core\.registry"):
        Subclass().fit(X).save(path)
    with pytest.raises(NotFittedError):
        Toy().save(path)
    assert not path.exists()


def test_mostly_padding_is_refused_on_both_ways(path, monkeypatch):
    from tacit.core import pack

    names = np.array(["x" * 1000, *"abc"])
    save(holding(names), path)
    monkeypatch.setattr(pack, "MOST_PADDING", 1000)
    assert equal(load(path).value_, names)
    wide = np.array(["x" * 1000, *["y"] * 1000])
    with pytest.raises(ValueError, match="Make it an object array"):
        save(holding(wide), path)
    reseal(path, lambda d, a: d["fitted"]["value_"].update({"as": "U9999999"}))
    with pytest.raises(ModelFileError, match="padded strings"):
        load(path)


# --- Looking inside ---


def test_a_description_needs_neither_the_class_nor_the_arrays(path, monkeypatch):
    Toy(3, init=X[:3], engine=Threads(2), random_state=0).fit(X).save(path)
    monkeypatch.delitem(registry.REGISTRY, "Toy")
    result = describe(path)
    assert result.class_name == "Toy"
    assert result.format == 1
    assert result.size == path.stat().st_size
    assert result.params["n_parts"] == 3
    assert result.params["init"] == "<an array>"
    assert result.params["engine"] == "Threads(workers=2)"
    assert result.dims == {"n_parts": 3, "n_features_in_": 2, "n_rows": 10}
    assert result.provenance["seed"] == 0
    assert result.provenance["data"] == "blake2b:1234"
    versions = result.provenance["versions"]
    assert versions["numpy"] == np.__version__
    assert set(versions) == {"tacit", "numpy", "scikit-learn", "python"}
    table = {tensor.name: tensor for tensor in result.tensors}
    assert table["means_"] == ("means_", "float64", (3, 2), 48)
    assert table["labels_"].dtype == "int32"
    assert "params.init" in table
    json.dumps(result.to_dict(), allow_nan=False)

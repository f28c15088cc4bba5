"""Features beyond words: by hand, by plain Python, and beside counts of words."""

import pickle
import re
import unicodedata
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Perceptron
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils import estimator_checks

import tacit
from tacit.core import Dask, Serial, Threads, registry
from tacit.data import Documents, document_blocks
from tacit.text import CountVectorizer, TextFeatures, tokenize
from tacit.text.features import shape_of

CORPUS = [
    "Call me Ishmael. Some years ago--never mind how LONG precisely--",
    "un-do it, undo IT: he's undoing iPhones!!!",
    "",
    None,
    "東京都に行く 👍🏽 Straße ÉTUDE étude 12-45 3.14 (1851)",
    "not good; not bad... NOT GOOD?",
    "x" * 200 + " the end",
]
FAMILIES = ("capitals", "prefixes", "suffixes", "shapes", "bigrams", "punctuation", "offset")


def only(*families, **settings):
    """A TextFeatures with all other families off."""
    off = dict.fromkeys(FAMILIES, False) | {"prefixes": 0, "suffixes": 0}
    defaults = {"prefixes": 3, "suffixes": 3}
    on = {family: defaults.get(family, True) for family in families}
    return TextFeatures(**(off | on | settings))


def table(features, documents):
    """Rows as dicts of what is not zero."""
    rows = features.fit_transform(documents).toarray()
    names = features.get_feature_names_out()
    return [{n: v for n, v in zip(names, row, strict=True) if v} for row in rows]


def assert_same(X, Y):
    assert X.shape == Y.shape
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(X, part), getattr(Y, part))


# --- The families, by hand ---


def test_prefixes_and_suffixes_are_shorter_than_their_word_and_made_of_letters():
    rows = table(only("prefixes", prefixes=2), ["Undo it a b2b don't 1851"])
    assert rows == [{
        "prefix:u": 1, "prefix:un": 1, "prefix:i": 1, "prefix:b": 1, "prefix:d": 1,
        "prefix:do": 1,
    }]  # fmt: skip
    rows = table(only("suffixes", suffixes=2), ["Undo don't walking"])
    assert rows == [{
        "suffix:o": 1, "suffix:do": 1, "suffix:t": 1, "suffix:g": 1, "suffix:ng": 1,
    }]  # fmt: skip
    kept = table(only("prefixes", prefixes=1, lowercase=False), ["Undo undo"])
    assert kept == [{"prefix:U": 1, "prefix:u": 1}]


def test_shapes():
    assert shape_of("Ahab") == "Xxxx"
    assert shape_of("12-45") == "dd-dd"
    assert shape_of("McDonald's") == "XxXxxx'x"
    assert shape_of("123456") == "ddd"
    assert shape_of("é") == "x"
    assert shape_of("") == ""
    rows = table(only("shapes"), ["Call me Ishmael in 1851-52"])
    assert rows == [{"shape:Xxxx": 2, "shape:xx": 2, "shape:ddd-dd": 1}]


def test_bigrams_see_through_case_but_not_over_the_end():
    rows = table(only("bigrams"), ["Not good, not GOOD", "not", "good"])
    assert rows == [{"bigram:not good": 2, "bigram:good not": 1}, {}, {}]


def test_punctuation_is_counted_mark_by_mark():
    rows = table(only("punctuation"), ["What?! No... $5 «да» a_b don't 👍 。"])
    assert rows == [{
        "punctuation:?": 1, "punctuation:!": 1, "punctuation:.": 3, "punctuation:$": 1,
        "punctuation:«": 1, "punctuation:»": 1, "punctuation:'": 1, "punctuation:。": 1,
    }]  # fmt: skip


def test_capitals_are_shares_of_words_and_letters():
    rows = only("capitals").fit_transform(["FREE iPhone for You", "東京 42", None]).toarray()
    np.testing.assert_allclose(rows, [[2 / 4, 1 / 4, 1 / 4, 6 / 16], [0] * 4, [0] * 4])
    assert only("capitals").fit(["a"]).get_feature_names_out().tolist() == [
        "capitals:first", "capitals:all", "capitals:inside", "capitals:letters",
    ]  # fmt: skip


def test_the_offset_is_always_one_and_stands_last():
    features = TextFeatures()
    X = features.fit_transform(CORPUS)
    assert features.get_feature_names_out()[-1] == "offset"
    assert (X[:, [-1]].toarray() == 1).all()
    assert only("offset").fit_transform([None, "a"]).toarray().tolist() == [[1], [1]]


def test_missing_and_empty_documents_have_the_offset_and_nothing_else():
    X = TextFeatures().fit_transform(CORPUS)
    assert np.diff(X.indptr)[2] == np.diff(X.indptr)[3] == 1
    features = TextFeatures().fit(CORPUS)
    assert features.input_report_["missing"] == 1
    assert_same(features.transform([None, float("nan")]), features.transform(["", ""]))


# --- All of them, by plain Python ---


def plain_features(text, longest):
    """The counted families of one text."""
    found = Counter()
    text = unicodedata.normalize("NFC", text)
    words = tokenize(text, rule="words", lowercase=False)
    for word in words:
        found[f"shape:{shape_of(word)}"] += 1
        low = word.lower()
        for n in range(1, min(longest, len(low) - 1) + 1):
            if low[:n].isalpha():
                found[f"prefix:{low[:n]}"] += 1
            if low[-n:].isalpha():
                found[f"suffix:{low[-n:]}"] += 1
    low = [word.lower() for word in words]
    found.update(f"bigram:{a} {b}" for a, b in pairwise(low))
    for mark in re.findall(r"[^\w\s]", text):
        if mark in "$+<=>^`|~" or unicodedata.category(mark).startswith("P"):
            found[f"punctuation:{mark}"] += 1
    return found


WORDS = [
    "Not",
    "good",
    "GOOD!",
    "un-do",
    "12-45",
    "é",
    "e\u0301t",
    "東京",
    "👍?",
    "don't",
    "...",
]
pieces = st.sampled_from([*WORDS, "\n", "Straße", "x"])
texts = st.lists(pieces, max_size=8).map(" ".join)


@given(st.lists(texts, min_size=1, max_size=5), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_counts_are_those_of_plain_python(documents, longest):
    expected = [plain_features(text, longest) for text in documents]
    features = TextFeatures(capitals=False, offset=False, prefixes=longest, suffixes=longest)
    if not any(expected):
        with pytest.raises(ValueError, match="no word and no punctuation"):
            features.fit(documents)
        return
    assert table(features, documents) == [dict(each) for each in expected]
    assert list(features.vocabulary_) == sorted({name for each in expected for name in each})


# --- Choosing columns ---


def test_rare_and_common_features_are_left_out():
    documents = ["a b", "a b", "a c"]
    every = only("bigrams").fit(documents)
    assert list(every.vocabulary_) == ["bigram:a b", "bigram:a c"]
    assert list(only("bigrams", min_df=2).fit(documents).vocabulary_) == ["bigram:a b"]
    assert list(only("bigrams", max_df=0.5).fit(documents).vocabulary_) == ["bigram:a c"]
    assert list(only("bigrams", max_features=1).fit(documents).vocabulary_) == ["bigram:a b"]
    X = only("bigrams", min_df=2).fit(documents).transform(["a b a b", "x y"])
    assert X.toarray().tolist() == [[2], [0]]


def test_fit_then_transform_is_fit_transform():
    for settings_ in ({}, {"min_df": 2}, {"max_features": 10}, {"n_features": 64}):
        features = TextFeatures(**settings_)
        X = features.fit_transform(CORPUS)
        assert_same(clone(features).fit(CORPUS).transform(CORPUS), X)
        assert X.shape[1] == len(features.get_feature_names_out()) == features.n_columns_


def test_hashed_features_are_the_learned_ones_folded_together():
    learned = TextFeatures().fit(CORPUS)
    wide = TextFeatures(n_features=2**20).fit(CORPUS)
    X, H = learned.transform(CORPUS), wide.transform(CORPUS)
    assert H.shape[1] == 4 + 2**20 + 1
    inside, hashed = X[:, 4:-1], H[:, 4:-1]
    assert abs(inside).sum() == abs(hashed).sum()  # no two of them fall into one column here
    assert {*hashed.sum(axis=0).flat} & {-1.0, 1.0} == {-1.0, 1.0}
    assert (X[:, :4] != H[:, :4]).nnz == 0
    assert not hasattr(wide, "vocabulary_")
    assert wide.get_feature_names_out()[4] == "hashed:0"
    narrow = TextFeatures(n_features=8).fit([]).transform(iter(CORPUS))  # nothing to learn
    assert narrow.shape == (7, 13)


# --- The promises ---


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as client:
        yield client


@pytest.mark.parametrize("settings_", [{}, {"n_features": 50}], ids=["learned", "hashed"])
def test_the_engine_and_the_blocks_cannot_change_a_bit(settings_, monkeypatch, dask_client):
    X = TextFeatures(engine=Serial(), **settings_).fit_transform(CORPUS)
    monkeypatch.setattr(document_blocks.cut_by_size, "__defaults__", (60,))
    for engine in (Serial(), Threads(1), Threads(3), Dask()):
        features = TextFeatures(engine=engine, **settings_)
        assert_same(features.fit_transform(CORPUS), X)
        assert_same(features.fit(CORPUS).transform(CORPUS), X)


def test_accents_count_the_same_however_they_are_written():
    apart = [text and unicodedata.normalize("NFD", text) for text in CORPUS]
    assert_same(TextFeatures().fit_transform(apart), TextFeatures().fit_transform(CORPUS))


def test_documents_may_come_from_anywhere(tmp_path):
    lines = [text.replace("\n", " ") for text in CORPUS if text]
    X = TextFeatures().fit_transform(lines)
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for holder in (iter(lines), np.array(lines, object), Documents.of(lines), path):
        assert_same(TextFeatures().fit_transform(holder), X)


@pytest.mark.parametrize("settings_", [{}, {"n_features": 50}, {"capitals": False}])
def test_pickles_and_files_bring_back_the_same_rows(settings_, tmp_path, monkeypatch):
    home = "tacit.text.features:TextFeatures"
    monkeypatch.setitem(registry.REGISTRY, "TextFeatures", home)
    features = TextFeatures(**settings_)
    X = features.fit_transform(CORPUS)
    assert_same(pickle.loads(pickle.dumps(features)).transform(CORPUS), X)
    features.save(tmp_path / "features.safetensors")
    loaded = tacit.load(tmp_path / "features.safetensors")
    assert_same(loaded.transform(CORPUS), X)
    assert loaded.get_params() == features.get_params()
    assert loaded.get_feature_names_out().tolist() == features.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "name",
    [
        "check_estimator_cloneable",
        "check_estimator_repr",
        "check_estimator_tags_renamed",
        "check_get_params_invariance",
        "check_mixin_order",
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_set_params",
        "check_valid_tag_types",
    ],
)
def test_scikit_learn_manners_that_ask_for_no_numbers(name):
    getattr(estimator_checks, name)("TextFeatures", TextFeatures())


def test_it_goes_beside_counts_in_a_union_and_in_a_column_transformer():
    pandas = pytest.importorskip("pandas")
    documents = ["good film", "bad film", "GREAT film!!!", "awful film"] * 5
    labels = [1, 0, 1, 0] * 5
    union = FeatureUnion([("words", CountVectorizer()), ("more", TextFeatures())])
    X = union.fit_transform(documents)
    names = union.get_feature_names_out()
    assert X.shape == (20, len(names))
    assert {"words__film", "more__punctuation:!", "more__offset"} <= {*names}
    model = make_pipeline(union, Perceptron(random_state=0)).fit(documents, labels)
    assert model.score(documents, labels) == 1
    frame = pandas.DataFrame({"title": documents, "body": documents[::-1], "stars": labels})
    columns = ColumnTransformer(
        [("title", only("punctuation"), "title"), ("body", only("shapes"), "body")],
        remainder="passthrough",
    )
    Y = columns.fit_transform(frame)
    assert columns.get_feature_names_out().tolist() == [
        "title__punctuation:!", "body__shape:XXX", "body__shape:xxx", "remainder__stars",
    ]  # fmt: skip
    assert Y.shape == (20, 4)


# --- What is refused ---


@pytest.mark.parametrize(
    ("settings_", "documents", "words"),
    [
        ({}, "one string", "Wrap one document in a list"),
        ({}, [], "0 documents"),
        ({}, ["", None], "no word and no punctuation in 2 documents, of which 2 are empty"),
        ({"min_df": 2}, ["a b", "cc dd!"], "no terms remain"),
        ({"prefixes": -1}, ["a"], "prefixes=-1"),
        ({"suffixes": 1.5}, ["a"], "suffixes=1.5"),
        ({"n_features": 0}, ["a"], "n_features=0"),
        ({"rule": "poem"}, ["a"], "rule='poem'"),
        ({"min_df": 0}, ["a"], "min_df=0"),
        ({"engine": "gpu"}, ["a"], "gpu"),
    ],
)
def test_what_means_nothing_is_refused_with_the_way_out(settings_, documents, words):
    for method in ("fit", "fit_transform"):
        with pytest.raises(ValueError, match=words):
            getattr(TextFeatures(**settings_), method)(documents)


def test_every_family_off_is_refused():
    with pytest.raises(ValueError, match="Switch one on"):
        only().fit(["a"])


def test_rows_before_learning_are_refused():
    with pytest.raises(ValueError, match="not fitted"):
        TextFeatures().transform(["a"])
    with pytest.raises(ValueError, match="not fitted"):
        TextFeatures().get_feature_names_out()

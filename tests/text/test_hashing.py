"""HashingVectorizer: scikit-learn's rows, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import text as learn

from tacit.data import document_blocks
from tacit.text import HashingVectorizer

some = settings(deadline=None, max_examples=40)  # no deadline: the first call compiles
CORPUS = ["the whale the white whale", "call me ishmael", "", "the sea of the sea", "a x"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_features": 3},
        {"n_features": 1, "norm": None},
        {"n_features": 5, "binary": True, "norm": None},
        {"alternate_sign": False, "norm": "l1"},
        {"dtype": np.float32, "ngram_range": (1, 3)},
        {"analyzer": "char_wb", "ngram_range": (2, 3), "n_features": 50},
        {"stop_words": ["the"], "lowercase": False},
    ],
    ids=str,
)
def test_the_rows_are_scikit_learns(settings):
    ours = HashingVectorizer(**settings).fit_transform(CORPUS)
    theirs = learn.HashingVectorizer(**settings).fit_transform(CORPUS)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))
    assert ours.dtype == theirs.dtype
    assert type(ours) is type(theirs)


@some
@given(st.lists(st.text("abc ", max_size=40), min_size=1), st.integers(1, 9))
def test_collisions_add_up_as_in_scikit_learn(documents, n_features):
    ours = HashingVectorizer(n_features=n_features).transform(documents)
    theirs = learn.HashingVectorizer(n_features=n_features).transform(documents)
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    assert ours.nnz == theirs.nnz


def test_blocks_do_not_matter_and_no_documents_give_no_rows(monkeypatch):
    whole = HashingVectorizer().transform(CORPUS * 9)
    monkeypatch.setattr(document_blocks.cut_by_size, "__defaults__", (40,))
    assert (HashingVectorizer().transform(CORPUS * 9) != whole).nnz == 0
    assert HashingVectorizer(n_features=7).transform([]).shape == (0, 7)


def test_wrong_settings_say_what_is_right():
    with pytest.raises(ValueError, match=r"n_features=0\) must be from 1"):
        HashingVectorizer(n_features=0).fit(CORPUS)
    with pytest.raises(ValueError, match=r"norm='l3'\) is unknown"):
        HashingVectorizer(norm="l3").transform(CORPUS)
    with pytest.raises(ValueError, match="Wrap one document in a list"):
        HashingVectorizer().fit("one string")

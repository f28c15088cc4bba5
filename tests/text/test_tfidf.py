"""Tf-idf in scikit-learn's variants, with logarithms, as BM25, and as the notes print it."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import text as learn
from sklearn.utils.estimator_checks import check_estimator

from tacit.core import Serial, Threads, tree_sum
from tacit.data import Table
from tacit.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from tacit.text.tfidf import collect

CORPUS = [
    "the whale the white whale",
    "call me ishmael",
    "",
    "the sea of the sea",
    "the whale and the sea and the ship",
]
VARIANTS = [
    {},
    {"norm": None},
    {"norm": "l1"},
    {"use_idf": False},
    {"smooth_idf": False},
    {"sublinear_tf": True},
    {"sublinear_tf": True, "smooth_idf": False, "norm": None},
]
COUNTS = np.array([[3, 0, 1, 0], [0, 2, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32])
def test_the_transformer_gives_scikit_learns_bits(variant, dtype):
    rng = np.random.default_rng(0)
    counts = sp.random_array((200, 50), density=0.2, rng=rng, format="csr")
    counts.data = rng.integers(1, 9, counts.nnz)
    counts = counts.astype(dtype)
    ours, theirs = TfidfTransformer(**variant), learn.TfidfTransformer(**variant)
    A, B = ours.fit_transform(counts), theirs.fit_transform(counts)
    np.testing.assert_array_equal(A.toarray(), B.toarray())
    assert A.dtype == B.dtype
    assert type(A) is type(B)
    if variant.get("use_idf", True):
        np.testing.assert_array_equal(ours.idf_, theirs.idf_)
        assert ours.idf_.dtype == theirs.idf_.dtype
    else:
        assert not hasattr(ours, "idf_")
    np.testing.assert_array_equal(
        ours.transform(counts.toarray()).toarray(), theirs.transform(counts.toarray()).toarray()
    )


@pytest.mark.parametrize("variant", [*VARIANTS, {"dtype": np.float32}, {"min_df": 2}], ids=str)
def test_the_vectorizer_gives_scikit_learns_rows(variant):
    ours, theirs = TfidfVectorizer(**variant), learn.TfidfVectorizer(**variant)
    A, B = ours.fit_transform(CORPUS), theirs.fit_transform(CORPUS)
    assert ours.vocabulary_ == theirs.vocabulary_
    # Rows of scikit-learn's are not sorted, so their lengths are summed in another order.
    tolerance = {"rtol": 1e-6 if A.dtype == np.float32 else 1e-15, "atol": 0}
    np.testing.assert_allclose(A.toarray(), B.toarray(), **tolerance)
    assert A.dtype == B.dtype
    if variant.get("use_idf", True):
        np.testing.assert_array_equal(ours.idf_, theirs.idf_)
    new = ["the sea the unseen", None]
    again = TfidfVectorizer(**variant).fit(iter(CORPUS))
    np.testing.assert_array_equal(again.transform(CORPUS).toarray(), A.toarray())
    np.testing.assert_allclose(
        again.transform(new).toarray(), theirs.transform([new[0], ""]).toarray(), **tolerance
    )


def test_the_notes_weight_is_the_one_they_print():
    ours = TfidfTransformer(weighting="notes", norm=None)
    with pytest.warns(
        UserWarning, match="1 of 4 terms are in all or all but one of 4 documents"
    ):
        weights = ours.fit_transform(COUNTS).toarray()
    n_d = 4
    for j, row in enumerate(COUNTS):
        for t, n_t in enumerate(row):
            holding = np.count_nonzero(COUNTS[:, t])
            if n_t and n_d / (1 + holding) > 1:
                expected = (n_t / row.sum()) / math.log(n_d / (1 + holding))
                assert weights[j, t] == pytest.approx(expected, rel=1e-15)
            else:
                assert weights[j, t] == 0
    assert np.isfinite(ours.idf_).all()
    assert ours.idf_[2] == 0  # in three of four documents: the logarithm of 1


def test_the_notes_weight_of_two_documents_is_nothing_at_all():
    with pytest.warns(UserWarning, match="They weigh 0"):
        weights = TfidfTransformer(weighting="notes").fit_transform([[1, 0], [0, 2]])
    assert weights.sum() == 0


def test_logarithms_are_what_the_text_books_say():
    weights = TfidfTransformer(weighting="log", norm=None).fit_transform(COUNTS).toarray()
    assert weights[0, 0] == pytest.approx((1 + math.log(3)) * math.log(4 / 2))
    assert weights[1, 1] == pytest.approx((1 + math.log(2)) * math.log(4))
    everywhere = TfidfTransformer(weighting="log").fit_transform([[1, 1], [1, 0]]).toarray()
    assert everywhere[1, 0] == 0


def test_bm25_is_robertsons_formula():
    k1, b = 1.5, 0.6
    ours = TfidfTransformer(weighting="bm25", norm=None, k1=k1, b=b)
    weights = ours.fit_transform(COUNTS).toarray()
    mean = COUNTS.sum() / 4
    for j, row in enumerate(COUNTS):
        for t, n in enumerate(row):
            df = np.count_nonzero(COUNTS[:, t])
            idf = math.log(1 + (4 - df + 0.5) / (df + 0.5))
            expected = (
                idf * n * (k1 + 1) / (n + k1 * (1 - b + b * row.sum() / mean)) if n else 0
            )
            assert weights[j, t] == pytest.approx(expected)
    assert ours.mean_length_ == mean


@pytest.mark.parametrize("weighting", ["tfidf", "log", "bm25", "notes"])
@pytest.mark.filterwarnings("ignore:.*are in all or all but one")
def test_rows_have_length_one_and_empty_ones_stay_empty(weighting):
    weights = TfidfTransformer(weighting=weighting).fit_transform(COUNTS)
    lengths = np.sqrt((weights.toarray() ** 2).sum(axis=1))
    assert np.isin(np.round(lengths, 12), (0, 1)).all()
    assert lengths[3] == 0
    vectorizer = TfidfVectorizer(weighting=weighting)
    X = vectorizer.fit_transform(CORPUS)
    np.testing.assert_array_equal(vectorizer.transform(CORPUS).toarray(), X.toarray())
    fitted = TfidfVectorizer(weighting=weighting).fit(CORPUS)
    np.testing.assert_array_equal(fitted.transform(CORPUS).toarray(), X.toarray())
    assert np.isfinite(X.data).all()


@pytest.mark.parametrize("settings", [{"sublinear_tf": True}, {"smooth_idf": False}])
def test_entries_of_zero_and_terms_of_no_document_do_no_harm(settings):
    counts = sp.csr_array(([0.0, 2.0], ([0, 0], [0, 1])), shape=(1, 3))
    fitted = TfidfTransformer(**settings).fit(counts)
    assert np.isfinite(fitted.idf_).all()
    assert np.isfinite(fitted.transform([[1, 1, 1]]).data).all()
    assert np.isfinite(fitted.transform(counts).data).all()


def test_a_table_in_blocks_gives_the_same_weights_on_every_engine():
    rng = np.random.default_rng(1)
    counts = sp.csr_array(rng.poisson(0.3, (500, 30)))
    whole = TfidfTransformer().fit(counts)
    for engine in (Serial(), Threads(1), Threads(4)):
        for rows in (7, 500):
            parts = TfidfTransformer(engine=engine).fit(Table.from_array(counts, rows))
            np.testing.assert_array_equal(parts.idf_, whole.idf_)
            assert parts.mean_length_ == whole.mean_length_
    total = tree_sum([collect(None, counts[:200]), collect(None, counts[200:])])
    np.testing.assert_array_equal(total.document_counts, collect(None, counts).document_counts)


def test_counts_are_left_as_they_were():
    counts = CountVectorizer(dtype=np.float64).fit_transform(CORPUS)
    before = counts.copy()
    TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    assert (counts != before).nnz == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weighting": "x"}, "'weighting' parameter"),
        ({"norm": "l3"}, "'norm' parameter"),
        ({"weighting": "bm25", "k1": -1}, "'k1' parameter"),
        ({"weighting": "bm25", "b": 2}, "'b' parameter"),
        ({"weighting": "log", "sublinear_tf": True}, "belongs to weighting='tfidf'"),
    ],
)
def test_wrong_settings_say_what_is_right(settings, message):
    for make, data in ((TfidfTransformer, COUNTS), (TfidfVectorizer, CORPUS)):
        with pytest.raises(ValueError, match=message):
            make(**settings).fit(data)


def test_negative_counts_are_refused_where_they_mean_nothing():
    with pytest.raises(ValueError, match=r"Negative values in data.*the smallest is -1"):
        TfidfTransformer(weighting="bm25").fit([[1, -1]])


def test_idf_can_be_handed_over_and_must_fit():
    source = TfidfVectorizer().fit(CORPUS)
    copy = TfidfVectorizer(vocabulary=source.vocabulary_)
    copy.idf_ = source.idf_
    np.testing.assert_array_equal(
        copy.transform(CORPUS).toarray(), source.transform(CORPUS).toarray()
    )
    with pytest.raises(ValueError, match="idf length = 2 must be equal to vocabulary size"):
        copy.idf_ = [1.0, 2.0]
    with pytest.raises(ValueError, match="cannot be set when"):
        TfidfVectorizer(use_idf=False).idf_ = [1.0]
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = TfidfVectorizer().idf_
    with pytest.raises(NotFittedError, match="is not fitted"):
        TfidfVectorizer().transform(CORPUS)
    with pytest.raises(AttributeError, match="no partial_fit"):
        TfidfVectorizer().partial_fit(CORPUS)
    with pytest.warns(UserWarning, match="Only float64 and float32"):
        TfidfVectorizer(dtype=np.int64).fit(CORPUS)


@pytest.mark.parametrize("weighting", ["tfidf", "bm25"])
def test_scikit_learns_checks_pass(weighting):
    check_estimator(TfidfTransformer(weighting=weighting), on_skip=None)


# --- Vocabularies and weights that are set, and dataframe output ---


def test_a_fixed_vocabulary_can_be_fitted_and_transformed_in_one_call():
    texts = ["a whale of a tale", "the whale", "the tale"]
    ours = TfidfVectorizer(vocabulary=["tale", "whale"])
    theirs = learn.TfidfVectorizer(vocabulary=["tale", "whale"])
    expected = theirs.fit_transform(texts).toarray()
    np.testing.assert_allclose(ours.fit_transform(texts).toarray(), expected, rtol=1e-15)
    again = ours.fit_transform(texts)  # not weighted twice
    np.testing.assert_allclose(again.toarray(), expected, rtol=1e-15)
    np.testing.assert_allclose(ours.transform(texts).toarray(), expected, rtol=1e-15)


def test_weights_can_be_set():
    counts = np.array([[2.0, 1.0], [0.0, 3.0]])
    transformer = TfidfTransformer(norm=None)
    transformer.idf_ = np.array([0.5, 2.0])
    np.testing.assert_array_equal(transformer.transform(counts).toarray(), counts * [0.5, 2])
    learned = TfidfTransformer(norm=None).fit(counts)
    learned.idf_ = [0.5, 2.0]
    np.testing.assert_array_equal(learned.transform(counts).toarray(), counts * [0.5, 2])


def test_dataframe_output_leaves_sparse_rows_as_they_are():
    texts = ["a whale of a tale", "the whale"]
    expected = TfidfVectorizer().fit_transform(texts).toarray()
    with config_context(transform_output="pandas"):
        vectorizer = TfidfVectorizer()
        np.testing.assert_array_equal(vectorizer.fit_transform(texts).toarray(), expected)
        np.testing.assert_array_equal(vectorizer.transform(texts).toarray(), expected)
        counts = CountVectorizer().fit_transform(texts)
        rows = TfidfTransformer().fit_transform(counts)
        np.testing.assert_array_equal(rows.toarray(), expected)


def test_a_given_vocabulary_is_weighted_once():
    vocabulary = ["whale", "sea", "white"]
    ours, theirs = TfidfVectorizer(vocabulary=vocabulary), learn.TfidfVectorizer(
        vocabulary=vocabulary
    )
    for _ in range(2):  # the second time on a fitted object
        found, expected = ours.fit_transform(CORPUS), theirs.fit_transform(CORPUS)
        np.testing.assert_allclose(found.toarray(), expected.toarray())
    np.testing.assert_allclose(ours.transform(CORPUS).toarray(), expected.toarray())


def test_the_english_stop_words_are_those_of_scikit_learn():
    assert CountVectorizer(stop_words="english").get_stop_words() == learn.ENGLISH_STOP_WORDS

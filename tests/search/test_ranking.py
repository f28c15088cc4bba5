"""Scores agree with their formulas, computed by others and by hand."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from tacit.search import InvertedIndex
from tacit.search.ranking import best
from tacit.text import CountVectorizer, TfidfTransformer

WORDS = ["oil", "gas", "price", "rose", "fell", "the", "of"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)
corpora = st.lists(texts, min_size=2, max_size=12)
queries = st.lists(st.sampled_from([*WORDS, "nowhere"]), min_size=1, max_size=5)


def scores_by_id(index, query, n, **options):
    out = np.zeros(n)
    for hit in index.search(query, top=None, operator="or", **options):
        out[hit.id] = hit.score
    return out


@settings(max_examples=60, deadline=None)
@given(corpora, queries)
def test_tfidf_is_the_cosine_that_scikit_learn_computes(documents, query):
    index = InvertedIndex(engine="serial").fit(documents)
    vectorizer = TfidfVectorizer().fit(documents)
    asked = vectorizer.transform([" ".join(query)])
    expected = cosine_similarity(vectorizer.transform(documents), asked).ravel()
    found = scores_by_id(index, " ".join(query), len(documents), rank="tfidf")
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@settings(max_examples=60, deadline=None)
@given(corpora, queries, st.sampled_from([(1.2, 0.75), (0.0, 0.5), (2.0, 0.0), (0.9, 1.0)]))
def test_bm25_is_its_formula(documents, query, settings):
    k1, b = settings
    index = InvertedIndex(k1=k1, b=b, engine="serial").fit(documents)
    counts = [Counter(document.split()) for document in documents]
    lengths = [len(document.split()) for document in documents]
    n, mean = len(documents), sum(lengths) / len(documents)
    expected = np.zeros(n)
    for word in query:
        df = sum(word in each for each in counts)
        idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
        for i, each in enumerate(counts):
            if each[word]:
                norm = k1 * (1 - b + b * lengths[i] / mean)
                expected[i] += idf * each[word] * (k1 + 1) / (each[word] + norm)
    found = scores_by_id(index, " ".join(query), n, rank="bm25")
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_bm25_is_that_of_the_transformer():
    documents = ["oil price", "oil oil gas", "gas fell and rose and fell", "the price of gas"]
    counter = CountVectorizer()
    weights = TfidfTransformer(weighting="bm25", norm=None).fit_transform(
        counter.fit_transform(documents)
    )
    columns = [counter.vocabulary_[word] for word in ("gas", "price")]
    expected = np.asarray(weights[:, columns].sum(axis=1)).ravel()
    index = InvertedIndex(min_length=2).fit(documents)
    np.testing.assert_allclose(scores_by_id(index, "gas price", 4), expected)


def test_a_phrase_and_a_wildcard_are_one_term_to_bm25():
    documents = ["crude oil crude oil", "oil crude oils", "crude oil", "gas", "gas oil rigs"]
    index = InvertedIndex(b=0.0).fit(documents)  # without lengths: counts and df alone
    idf = math.log(1 + (5 - 2 + 0.5) / (2 + 0.5))  # "crude oil" is in two documents
    hits = {hit.id: hit.score for hit in index.search('"crude oil"')}
    assert hits == pytest.approx({0: idf * 2 * 2.2 / (2 + 1.2), 2: idf})
    idf = math.log(1 + (5 - 4 + 0.5) / (4 + 0.5))  # oil* is in four
    hits = {hit.id: hit.score for hit in index.search("oil*")}
    twice = idf * 2 * 2.2 / (2 + 1.2)
    assert hits == pytest.approx({0: twice, 1: twice, 2: idf, 4: idf})


def test_the_cosine_of_phrases_and_wildcards_is_that_of_their_words():
    documents = ["crude oil crude oil", "oil crude oils", "crude oil", "gas"]
    index = InvertedIndex().fit(documents)
    vectorizer = TfidfVectorizer().fit(documents)
    matrix = vectorizer.transform(documents)
    for query, words in (('"crude oil"', "crude oil"), ("oil*", "oil oils")):
        expected = cosine_similarity(matrix, vectorizer.transform([words])).ravel()
        for hit in index.search(query, rank="tfidf"):
            assert hit.score == pytest.approx(expected[hit.id])
            assert 0 < hit.score <= 1 + 1e-12


def test_what_is_excluded_does_not_count():
    documents = ["oil oil price", "oil gas", "price"]
    index = InvertedIndex().fit(documents)
    for rank in ("bm25", "tfidf"):
        with_not = index.search("oil AND NOT gas", rank=rank)
        alone = {hit.id: hit.score for hit in index.search("oil", rank=rank)}
        assert [(hit.id, hit.score) for hit in with_not] == [(0, alone[0])]


def test_a_query_of_nots_gives_documents_in_order_without_a_score():
    index = InvertedIndex().fit(["oil", "gas", "price", "oil gas"])
    for rank in ("bm25", "tfidf"):
        hits = index.search("NOT oil", rank=rank)
        assert [(hit.id, hit.score) for hit in hits] == [(1, 0.0), (2, 0.0)]


def test_ties_go_to_the_earlier_document():
    index = InvertedIndex().fit(["gas", "oil", "oil", "gas oil", "oil"] * 20)
    for rank in ("bm25", "tfidf"):
        for top in (1, 3, 7, 40, None):
            hits = index.search("oil", top=top, rank=rank)
            keys = [(-hit.score, hit.id) for hit in hits]
            assert keys == sorted(keys)
        everything = index.search("oil", top=None, rank=rank)
        assert index.search("oil", top=13, rank=rank).ids == everything.ids[:13]


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(0, 70))
def test_the_best_are_those_of_a_stable_sort(values, top):
    scores = np.array([0.0, *values], float)  # row 0 does not match
    rows = np.arange(1, len(scores), dtype=np.int32)
    expected = rows[np.argsort(-scores[rows], kind="stable")][:top]
    np.testing.assert_array_equal(best(scores, rows, top), expected)


def test_similar_documents_are_the_nearest_by_cosine():
    documents = [
        "crude oil price fell",
        "oil price rose",
        "gas price",
        "the cat sat",
        "",
        "cat",
    ]
    index = InvertedIndex().fit(documents)
    matrix = TfidfVectorizer().fit_transform(documents)
    cosine = cosine_similarity(matrix)
    for id in range(len(documents)):
        hits = index.similar_documents(id, top=None)
        expected = {j: c for j, c in enumerate(cosine[id]) if c > 1e-12 and j != id}
        assert {hit.id: hit.score for hit in hits} == pytest.approx(expected)
        assert [-hit.score for hit in hits] == sorted(-hit.score for hit in hits)


def test_similar_documents_need_no_texts():
    documents = ["crude oil price fell", "oil oil price rose", "the gas price", "the cat sat"]
    with_text, without = InvertedIndex().fit(documents), InvertedIndex(store_text=False)
    without.fit(documents)
    for id in range(4):
        a, b = with_text.similar_documents(id), without.similar_documents(id)
        assert [(h.id, h.score) for h in a] == [(h.id, pytest.approx(h.score)) for h in b]

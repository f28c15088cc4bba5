"""What the notes say of smoothed word counts and latent semantic analysis."""

import numpy as np

from tacit.search import InvertedIndex, SemanticIndex

# Many documents discuss elephants, and only one of them uses the word "pachyderm".
ELEPHANTS = [
    "the elephant lifted its trunk and showed a tusk",
    "an elephant herd crossed the plain, trunk to tail",
    "poachers want the tusk of an elephant",
    "the elephant drank water with its trunk",
    "a pachyderm, that is an elephant, with one tusk and a trunk",
    "tusk and trunk belong to the elephant",
]
LENDING = [
    "the bank raised the interest on every loan",
    "a loan from the bank carries interest",
    "interest rates rise and the bank lends less",
    "the debt of a borrower grows with interest",
    "no bank gives a loan to such a borrower",
    "the borrower paid the loan and the debt",
]
TEXTS = ELEPHANTS + LENDING


def index(**settings):
    return SemanticIndex(2, random_state=0, **settings).fit(TEXTS)


def test_a_document_about_elephants_gets_a_small_count_for_pachyderm():
    for weighting in ("bm25", "log", "tfidf", None):
        model = index(weighting=weighting)
        for row, text in enumerate(ELEPHANTS):
            if "pachyderm" not in text:
                assert 0 < model.smoothed_counts(row, top=None)["pachyderm"] < 1


def test_elephant_tusk_and_pachyderm_have_an_affinity_for_trunk():
    model = index()
    counts = model.smoothed_counts(text="elephant tusk pachyderm", top=None)
    assert counts["trunk"] > 0.1
    assert counts["trunk"] > 5 * abs(counts["loan"])


def test_two_documents_without_a_common_word_are_alike_if_their_topic_is():
    texts = [*TEXTS, "a trunk", "the tusk", "some debt"]
    model = SemanticIndex(2, random_state=0).fit(texts)
    exact = InvertedIndex().fit(texts)
    trunk, tusk, debt = range(len(TEXTS), len(texts))
    near = {hit.id: hit.score for hit in model.similar_documents(trunk, top=None)}
    assert near[tusk] > 0.9
    assert near.get(debt, 0.0) < 0.5 * near[tusk]
    assert tusk not in exact.similar_documents(trunk, top=None).ids


def test_the_smoothed_table_can_serve_as_an_inverted_index():
    """Documents recovered need not hold the word: they may hold very similar ones."""
    hits = index().search("pachyderm", top=6)
    assert set(hits.ids) == set(range(6))
    assert sum("pachyderm" in TEXTS[row] for row in hits.ids) == 1


def test_words_that_go_together_are_near_each_other():
    model = index()
    near = {hit.id for hit in model.similar_terms("pachyderm", top=6)}
    assert {"elephant", "trunk", "tusk"} <= near
    assert not near & {"bank", "loan", "interest", "debt", "borrower"}


def test_inner_products_in_concept_space_are_those_of_the_smoothed_table():
    counts = index(weighting=None)
    table = counts.counter_.transform(TEXTS).toarray().astype(float)
    left, values, right = np.linalg.svd(table, full_matrices=False)
    concept = left[:, :2] * values[:2]
    smooth = concept @ right[:2]
    np.testing.assert_allclose(concept @ concept.T, smooth @ smooth.T, atol=1e-9)
    lengths = np.linalg.norm(smooth, axis=1)
    cosines = (smooth @ smooth.T) / np.outer(lengths, lengths)
    found = counts.document_vectors_ @ counts.document_vectors_.T
    np.testing.assert_allclose(found, cosines, atol=1e-3)  # tol of the decomposition

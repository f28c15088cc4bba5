"""Latent semantic indexing: meaning, fold-in, unknown words, files, hostile input."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import tacit
from tacit.core import ModelFileError, Serial, Threads
from tacit.data import Documents
from tacit.search import SemanticIndex
from tacit.search.semantic_space import expected_inside, inside, squares, unit_rows
from tacit.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

TOPICS = {
    "animals": "elephant trunk tusk ivory savanna herd",
    "money": "bank loan interest rate credit debt",
    "sea": "whale ship harpoon sail captain sea",
}


def corpus(n=120, words=8, seed=0):
    """Documents of one topic each, with some words that all share."""
    rng = np.random.default_rng(seed)
    names = list(TOPICS)
    texts, labels = [], []
    for _ in range(n):
        label = names[rng.integers(len(names))]
        own = rng.choice(TOPICS[label].split(), size=words)
        shared = rng.choice(["the", "and", "today", "very"], size=3)
        texts.append(" ".join([*own, *shared]))
        labels.append(label)
    return texts, labels


@pytest.fixture(scope="module")
def fitted():
    texts, labels = corpus()
    index = SemanticIndex(4, random_state=0)
    return index.fit(texts), texts, labels


# --- Meaning ---


def test_a_search_finds_the_topic_not_only_the_word(fitted):
    index, texts, labels = fitted
    hits = index.search("harpoon", top=30)
    assert {labels[hit.id] for hit in hits} == {"sea"}
    assert any("harpoon" not in texts[hit.id] for hit in hits)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] <= scores[0] <= 1 + 1e-6


def test_neighbours_share_the_topic_and_leave_the_document_out(fitted):
    index, _, labels = fitted
    for row in (0, 7, 50):
        hits = index.similar_documents(row, top=10)
        assert row not in hits.ids
        assert {labels[hit.id] for hit in hits} == {labels[row]}


def test_similar_terms_are_those_of_the_topic(fitted):
    index, *_ = fitted
    near = index.similar_terms("loan", top=5)
    assert {hit.id for hit in near} == set(TOPICS["money"].split()) - {"loan"}


def test_with_all_directions_it_is_the_cosine_of_the_weighted_documents():
    texts, _ = corpus(30)
    index = SemanticIndex(1000, tol=0, random_state=0).fit(texts)
    rows = TfidfVectorizer(weighting="bm25").fit(texts)
    X = rows.transform(texts).toarray()
    assert index.n_components_ <= min(X.shape)
    for row in (0, 11):
        wanted = X @ X[row]
        for hit in index.similar_documents(row, top=None):
            assert hit.score == pytest.approx(wanted[hit.id], abs=1e-5)
    query = rows.transform(["whale sail loan"]).toarray()[0]
    held = X @ query / np.linalg.norm(project_on(X, query))
    for hit in index.search("whale sail loan", top=5):
        assert hit.score == pytest.approx(held[hit.id], abs=1e-5)


def project_on(X, row):
    basis = np.linalg.svd(X, full_matrices=False)[2][: np.linalg.matrix_rank(X)]
    return basis.T @ (basis @ row)


def test_terms_and_documents_are_those_of_the_singular_value_decomposition():
    texts, _ = corpus(40)
    index = SemanticIndex(3, weighting="tfidf", tol=0, random_state=0).fit(texts)
    X = TfidfVectorizer().fit_transform(texts).toarray()
    left, values, right = np.linalg.svd(X, full_matrices=False)
    smooth = (left[:, :3] * values[:3]) @ right[:3]  # the notes' table, smoothed
    between = unit_rows(smooth) @ unit_rows(smooth).T
    for hit in index.similar_documents(5, top=None):
        assert hit.score == pytest.approx(between[5, hit.id], abs=1e-5)
    terms = TfidfVectorizer().fit(texts).get_feature_names_out().tolist()
    columns = unit_rows(np.ascontiguousarray(smooth.T))
    column = terms.index("whale")
    for hit in index.similar_terms("whale"):
        assert hit.score == pytest.approx(
            columns[column] @ columns[terms.index(hit.id)], abs=1e-5
        )


# --- Smoothed counts ---


def test_smoothed_counts_without_weights_are_the_rank_k_reconstruction():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, size=(20, 12)).astype(float)
    terms = [f"t{j:02}" for j in range(12)]
    index = SemanticIndex(4, weighting=None, tol=0, random_state=0)
    index.fit(counts, vocabulary=terms)
    left, values, right = np.linalg.svd(counts, full_matrices=False)
    wanted = (left[:, :4] * values[:4]) @ right[:4]
    for row in (0, 13):
        found = index.smoothed_counts(row, top=None)
        assert [found[term] for term in terms] == pytest.approx(wanted[row], abs=1e-4)
        assert list(found.values()) == sorted(found.values(), reverse=True)


def test_a_text_gets_the_smoothed_counts_of_the_document_it_is(fitted):
    index, texts, _ = fitted
    assert index.smoothed_counts(text=texts[3]) == index.smoothed_counts(3)
    assert len(index.smoothed_counts(3, top=7)) == 7


def test_smoothed_counts_take_an_id_or_a_text(fitted):
    index, *_ = fitted
    with pytest.raises(TypeError, match="an id or a text"):
        index.smoothed_counts()
    with pytest.raises(TypeError, match="an id or a text"):
        index.smoothed_counts(1, text="whale")


# --- Queries ---


def test_unknown_words_are_named_and_the_others_used(fitted):
    index, *_ = fitted
    hits = index.search("harpoon zeppelin xylophone")
    assert hits.ids == index.search("harpoon").ids
    assert hits.notes == ["Not in the index: 'xylophone', 'zeppelin'."]


def test_a_query_of_unknown_words_alone_finds_nothing_and_says_why(fitted):
    index, *_ = fitted
    hits = index.search("zeppelin")
    assert list(hits) == []
    assert hits.total == 0
    assert "None of the words asked for is in the index. Try others." in str(hits)
    many = index.search(" ".join(f"word{i}" for i in range(25)))
    assert "and 15 more" in many.notes[0]


@pytest.mark.parametrize("query", ["", "  ", "!?", "\x00"])
def test_a_query_without_words_is_refused(fitted, query):
    with pytest.raises(ValueError, match="holds no words"):
        fitted[0].search(query)


def test_what_is_no_query_is_refused(fitted):
    index, *_ = fitted
    with pytest.raises(TypeError, match="A query is a str, not list"):
        index.search(["whale"])
    with pytest.raises(TypeError, match="top='3' must be a whole number"):
        index.search("whale", top="3")
    with pytest.raises(ValueError, match="top=-1 must be at least 0"):
        index.similar_documents(0, top=-1)
    with pytest.raises(KeyError, match="numbered from 0 to 119"):
        index.similar_documents(120)
    with pytest.raises(KeyError, match="'-1'"):
        index.similar_documents("-1")
    with pytest.raises(KeyError, match="no term 'zeppelin'"):
        index.similar_terms("zeppelin")


def test_snippets_show_the_words_asked_for(fitted):
    index, texts, _ = fitted
    (hit,) = index.search("harpoon whale", top=1)
    assert hit.snippet == texts[hit.id]
    assert {hit.snippet[i:j] for i, j in hit.marks} <= {"harpoon", "whale"}
    assert hit.marks
    (bare,) = index.search("harpoon", top=1, snippet=0)
    assert bare.snippet == ""


def test_ties_go_to_the_earlier_document():
    index = SemanticIndex(2, random_state=0).fit(["red fish", "blue sea", "red fish"] * 3)
    assert index.search("red fish", top=3).ids == [0, 2, 3]


# --- Documents in all forms ---


def test_documents_with_names_are_called_by_them():
    texts, _ = corpus(12)
    index = SemanticIndex(2, random_state=0).fit(texts, ids=[f"doc-{i}" for i in range(12)])
    assert index.ids[3] == "doc-3"
    assert index.text("doc-3") == texts[3]
    assert all(hit.id.startswith("doc-") for hit in index.similar_documents("doc-3"))
    with pytest.raises(ValueError, match="named"):
        index.add(["whale"])
    with pytest.raises(ValueError, match="'doc-3' already"):
        index.add(["whale"], ids=["doc-3"])
    with pytest.raises(ValueError, match="2 ids for 1"):
        SemanticIndex().fit(["whale"], ids=["a", "b"])


def test_a_generator_documents_and_a_list_are_the_same():
    texts, _ = corpus(30)
    digests = {
        SemanticIndex(3, random_state=0).fit(given).document_vectors_.tobytes()
        for given in (texts, Documents.of(texts), (text for text in texts))
    }
    assert len(digests) == 1


def test_counts_with_a_vocabulary_are_the_same_as_text():
    texts, _ = corpus(30)
    counter = CountVectorizer()
    counts = counter.fit_transform(texts)
    terms = counter.get_feature_names_out().tolist()
    by_text = SemanticIndex(3, random_state=0).fit(texts)
    for given, vocabulary in (
        (counts, terms),
        (counts.toarray(), dict(zip(terms, range(len(terms)), strict=True))),
    ):
        index = SemanticIndex(3, random_state=0).fit(given, vocabulary=vocabulary)
        np.testing.assert_array_equal(index.document_vectors_, by_text.document_vectors_)
        assert index.search("whale").ids == by_text.search("whale").ids
        assert index.smoothed_counts(4) == by_text.smoothed_counts(4)
        index.add(["whale sail"])
        assert index.n_documents_ == 31
        assert index.smoothed_counts(30) == by_text.smoothed_counts(text="whale sail")


def test_a_vectorizer_says_what_a_word_is():
    texts, _ = corpus(40)
    vectorizer = CountVectorizer(stop_words=["the", "and"], min_df=2, ngram_range=(1, 2))
    index = SemanticIndex(3, vectorizer=vectorizer, random_state=0).fit(texts)
    assert "the" not in index.counter_.vocabulary_
    assert any(" " in term for term in index.counter_.vocabulary_)
    assert not hasattr(vectorizer, "vocabulary_")  # the caller's own stays as it was
    for wrong in (TfidfVectorizer(), TfidfTransformer(), "english"):
        with pytest.raises(TypeError, match="must be a tacit"):
            SemanticIndex(vectorizer=wrong).fit(texts)


@pytest.mark.parametrize(
    ("counts", "kwargs", "message"),
    [
        (np.ones((3, 2)), {}, "needs vocabulary"),
        (np.ones((3, 2)), {"vocabulary": ["a"]}, "2 columns, but there are 1"),
        (-np.ones((3, 2)), {"vocabulary": ["a", "b"]}, "smallest count is -1"),
        (np.full((3, 2), np.nan), {"vocabulary": ["a", "b"]}, "NaN"),
        (["a text"], {"vocabulary": ["a"]}, "belongs to a matrix of counts"),
        (np.zeros((3, 2)), {"vocabulary": ["a", "b"]}, "gives no term any weight"),
        (["", " "], {}, "empty"),
        ([], {}, "there are 0 documents"),
    ],
)
def test_what_cannot_be_indexed_is_refused(counts, kwargs, message):
    with pytest.raises(ValueError, match=message):
        SemanticIndex(2).fit(counts, **kwargs)


def test_none_empty_and_strange_documents_are_indexed_without_harm():
    texts = [None, "", "whale", "\x00\ud800 whale sail", "鯨 海", "😀 whale", "sail " * 1000]
    index = SemanticIndex(3, random_state=0).fit(texts)
    assert np.isfinite(index.document_vectors_).all()
    assert (index.document_vectors_[:2] == 0).all()
    assert 2 in index.search("whale", top=3).ids
    assert not {0, 1} & set(index.search("whale", top=None).ids)
    assert list(index.similar_documents(0)) == []


def test_one_document_and_equal_documents():
    for texts in (["the white whale"], ["the white whale"] * 4):
        index = SemanticIndex(random_state=0).fit(texts)
        assert index.n_components_ == 1
        assert index.search("whale").ids == list(range(len(texts)))
    with pytest.raises(ValueError, match=r"weighting='log'.*no term any weight"):
        SemanticIndex(weighting="log").fit(["the white whale"])


def test_not_fitted_is_told():
    with pytest.raises(NotFittedError):
        SemanticIndex().search("whale")


def test_a_failed_fit_leaves_the_index_as_it_was():
    texts, _ = corpus(20)
    index = SemanticIndex(2, random_state=0).fit(texts)
    before = index.search("whale")
    with pytest.raises(ValueError):
        index.fit(["", ""])
    assert index.search("whale") == before


# --- Folding in ---


def test_documents_folded_in_are_found_and_lie_where_transform_puts_them(fitted):
    _, texts, _ = fitted
    index = SemanticIndex(4, random_state=0).fit(texts)
    receipt = index.add(["harpoon and whale", ""])
    assert receipt.added == 2
    assert index.n_documents_ == len(texts) + 2
    assert index.n_fitted_ == len(texts)
    assert index.text(len(texts)) == "harpoon and whale"
    assert len(texts) in index.search("harpoon and whale", top=3).ids
    where = index.transform(["harpoon and whale", ""])
    np.testing.assert_array_equal(index.document_vectors_[-2:], where)
    np.testing.assert_array_equal(index.transform(texts), index.document_vectors_[:-2])
    assert index.transform([]).shape == (0, index.n_components_)


def test_folding_in_more_of_the_same_needs_no_refit():
    texts, _ = corpus(400)
    index = SemanticIndex(4, random_state=0).fit(texts[:300])
    receipt = index.add(texts[300:])
    assert receipt.refit_distance < 0.1
    assert receipt.unknown == 0
    assert "No need to refit" in receipt.advice
    assert receipt.to_dict()["added"] == 100
    assert "100 added" in str(receipt)


def test_folding_in_something_else_asks_for_a_refit():
    texts, _ = corpus(300)
    index = SemanticIndex(4, random_state=0).fit(texts)
    strange = ["the opera singer and the orchestra played very loud today"] * 5
    receipt = index.add(strange)
    assert receipt.refit_distance > 0.5
    assert receipt.unknown == pytest.approx(0.5)  # opera singer orchestra played loud, of 10
    assert receipt.advice.startswith("Refit: the new documents are about other things")
    assert "50% of their words" in receipt.advice


def test_known_words_in_a_new_combination_lie_outside_the_space():
    texts = ["red green"] * 20 + ["blue white"] * 20 + ["red green blue white"]
    index = SemanticIndex(2, weighting="tfidf", random_state=0).fit(texts)
    apart = index.add(["red blue"])
    assert apart.inside == pytest.approx(0.5, abs=0.05)
    assert apart.refit_distance == pytest.approx(1 - apart.inside / apart.expected)
    assert apart.refit_distance > index.add(["red green"]).refit_distance


def test_adding_more_than_was_fitted_asks_for_a_refit():
    texts, _ = corpus(300)
    index = SemanticIndex(4, random_state=0).fit(texts[:100])
    assert "more documents were folded in" in index.add(texts[100:]).advice


def test_nothing_added_is_nothing():
    texts, _ = corpus(20)
    index = SemanticIndex(2, random_state=0).fit(texts)
    receipt = index.add([])
    assert (receipt.added, receipt.refit_distance) == (0, 0.0)
    assert index.n_documents_ == 20


def test_a_matrix_cannot_join_texts():
    index = SemanticIndex(2, random_state=0).fit(["red fish", "blue sea"])
    with pytest.raises(ValueError, match="cannot add a matrix"):
        index.add(sp.csr_array(np.ones((1, 4))))


def test_the_share_expected_of_unseen_documents_is_about_what_they_show():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(400, 0.05), size=8)
    rows = np.stack(
        [rng.multinomial(60, topics[z]) for z in rng.integers(8, size=1200)]
    ) / np.float64(8)
    for k, n in ((20, 300), (40, 300), (40, 600)):
        seen, unseen = rows[:n], rows[n:]
        _, values, right = np.linalg.svd(seen, full_matrices=False)
        V = right[:k].T
        promised = expected_inside(seen @ V, squares(seen), values[:k])
        shown = inside(unseen @ V, squares(unseen))
        fitted = inside(seen @ V, squares(seen))
        assert abs(promised - shown) < 0.03 * shown
        assert abs(promised - shown) < abs(fitted - shown)


# --- The same bits, files, threads ---


def test_the_engine_cannot_change_a_bit():
    texts, _ = corpus(200)
    models = [
        SemanticIndex(4, random_state=0, engine=engine).fit(texts)
        for engine in (Serial(), Threads(2), Threads(4))
    ]
    assert len({model.document_vectors_.tobytes() for model in models}) == 1
    assert len({str(model.search("whale loan")) for model in models}) == 1


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("form", ["named", "counts", "no text"])
def test_a_saved_index_answers_the_same(tmp_path, form, mmap):
    texts, _ = corpus(30)
    index = SemanticIndex(3, random_state=0, store_text=form != "no text")
    if form == "counts":
        counter = CountVectorizer()
        counts = counter.fit_transform(texts)
        index.fit(counts, vocabulary=counter.get_feature_names_out().tolist())
    else:
        index.fit(texts, ids=[f"d{i}" for i in range(30)] if form == "named" else None)
    name = "d4" if form == "named" else 4
    index.save(tmp_path / "index")
    again = tacit.load(tmp_path / "index", mmap=mmap)
    assert str(again.search("whale")) == str(index.search("whale"))
    assert str(again.similar_documents(name)) == str(index.similar_documents(name))
    assert again.similar_terms("loan") == index.similar_terms("loan")
    extra = ["nine"] if form == "named" else None
    assert again.add(["harpoon and whale"], ids=extra) == index.add(
        ["harpoon and whale"], ids=extra
    )
    assert str(again.search("whale")) == str(index.search("whale"))
    if form == "no text":
        with pytest.raises(ValueError, match="does not hold the documents"):
            again.text(4)
    else:
        assert again.smoothed_counts(name) == index.smoothed_counts(name)


def test_the_same_fit_saved_twice_is_the_same_file(tmp_path):
    texts, _ = corpus(30)
    for name in "ab":
        SemanticIndex(3, random_state=0).fit(texts).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path):
    texts, _ = corpus(30)
    index = SemanticIndex(3, random_state=0).fit(texts)
    index.piece_rows_ = index.piece_rows_ + 1
    index.save(tmp_path / "index")
    with pytest.raises(ModelFileError, match="piece_rows_ does not fit"):
        tacit.load(tmp_path / "index")


def test_a_pickled_index_answers_the_same(fitted):
    index, *_ = fitted
    again = pickle.loads(pickle.dumps(index))
    assert str(again.search("whale loan")) == str(index.search("whale loan"))


def test_searches_during_an_addition_see_a_whole_index():
    texts, _ = corpus(60)
    index = SemanticIndex(3, random_state=0).fit(texts)
    wrong, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            hits = index.search("whale", top=None)
            if max(hits.ids) >= len(index.ids):
                wrong.append(hits)

    asking = threading.Thread(target=ask)
    asking.start()
    for _ in range(10):
        index.add(["whale and ship"] * 3)
    stop.set()
    asking.join()
    assert not wrong
    assert index.n_documents_ == 90

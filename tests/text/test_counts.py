"""CountVectorizer: scikit-learn's matrix, and better manners where text is not plain."""

import io
import os
import re
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import text as learn

from tacit.core import DataError, Serial, Threads, tree_sum
from tacit.data import Documents, document_blocks
from tacit.text import CountVectorizer, derive_stop_words
from tacit.text.patterns import PatternTokenizer
from tacit.text.term_counts import count_terms, term_stats

some = settings(deadline=None, max_examples=60)  # no deadline: the first call compiles
CORPUS = [
    "The whale, the White Whale! And the sea.",
    "Call me Ishmael. Some years ago - never mind how long precisely",
    "",
    "the sea  the\tsea\n\nthe sea: a whale of a sea",
    "It was the best of times, it was the worst of times,",
    "x y z 1 22 333 snake_case don't",
    "a man, a plan, a canal: Panama a man",
]
PATTERN = r"(?u)\b\w\w+\b"


def assert_same(ours, theirs, documents=CORPUS, fit_on=None):
    """The same columns, counts, types and sorted rows."""
    X = ours.fit_transform(fit_on or documents)
    Y = theirs.fit_transform(fit_on or documents)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    for one, other in ((X, Y), (ours.transform(documents), theirs.transform(documents))):
        assert type(one) is type(other)
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert (one != other).nnz == 0
        assert one.nnz == other.nnz
        assert one.has_sorted_indices
    assert (clone(ours).fit(fit_on or documents).transform(documents) != Y).nnz == 0


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"lowercase": False},
        {"ngram_range": (1, 2)},
        {"ngram_range": (2, 2)},
        {"ngram_range": (2, 4)},
        {"ngram_range": (1, 9)},
        {"min_df": 2},
        {"min_df": 0.3, "max_df": 0.5},
        {"max_df": 2},
        {"max_features": 1},
        {"binary": True},
        {"binary": True, "max_features": 1},
        {"dtype": np.float32},
        {"stop_words": ["the", "of", "it", "was"]},
        {"stop_words": ["the"], "ngram_range": (1, 3)},
        {"vocabulary": ["sea", "the", "unseen", "the sea"], "ngram_range": (1, 2)},
        {"vocabulary": {"whale": 1, "sea": 0}},
        {"analyzer": "char"},
        {"analyzer": "char", "ngram_range": (2, 4), "lowercase": False},
        {"analyzer": "char_wb", "ngram_range": (1, 3)},
        {"analyzer": "char_wb", "ngram_range": (4, 9)},
        {"analyzer": "char", "ngram_range": (9, 20), "min_df": 1},
        {"token_pattern": PATTERN},
        {"token_pattern": r"\w+"},
        {"token_pattern": r"[a-z]{3,}", "ngram_range": (1, 2)},
        {"token_pattern": r"\S+", "ngram_range": (1, 2)},
        {"token_pattern": r"\b[a-z](\w+)\b"},
        {"token_pattern": r"[^ ]+", "ngram_range": (1, 2)},
        {"strip_accents": "ascii"},
        {"strip_accents": "unicode"},
        {"strip_accents": str.upper},
        {"preprocessor": str.upper},
        {"tokenizer": str.split, "token_pattern": None},
        {"analyzer": str.split},
        {"analyzer": lambda text: text.split()[:3]},
    ],
    ids=lambda settings: " ".join(
        f"{k}={getattr(v, '__name__', v)}" for k, v in settings.items()
    ),
)
def test_the_matrix_is_scikit_learns(settings):
    theirs = dict(settings)
    theirs.setdefault("token_pattern", PATTERN)
    assert_same(CountVectorizer(**settings), learn.CountVectorizer(**theirs))


ascii_documents = st.lists(
    st.text(st.characters(max_codepoint=127, exclude_characters="\0"), max_size=60), min_size=1
)
wild_documents = st.lists(
    st.one_of(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40),
        st.text("aAbé ß東京Σİ'-_1\u0301\u200d😀\n", max_size=40),
        st.none(),
    ),
    min_size=1,
)


@some
@given(ascii_documents, st.sampled_from([(1, 1), (1, 2), (2, 3)]))
def test_any_ascii_text_gives_scikit_learns_matrix(documents, ngrams):
    theirs = learn.CountVectorizer(ngram_range=ngrams)
    try:
        expected = theirs.fit_transform(documents)
    except ValueError:
        with pytest.raises(ValueError, match="empty vocabulary"):
            CountVectorizer(ngram_range=ngrams).fit(documents)
        return
    ours = CountVectorizer(ngram_range=ngrams)
    assert (ours.fit_transform(documents) != expected).nnz == 0
    assert ours.vocabulary_ == theirs.vocabulary_


@some
@given(
    ascii_documents,
    st.sampled_from(["char", "char_wb"]),
    st.sampled_from([(1, 1), (1, 3), (3, 5), (6, 6)]),
)
def test_any_ascii_text_gives_scikit_learns_character_n_grams(documents, analyzer, ngrams):
    theirs = learn.CountVectorizer(analyzer=analyzer, ngram_range=ngrams)
    ours = CountVectorizer(analyzer=analyzer, ngram_range=ngrams)
    try:
        expected = theirs.fit_transform(documents)
    except ValueError:
        with pytest.raises(ValueError, match="empty vocabulary"):
            ours.fit(documents)
        return
    assert (ours.fit_transform(documents) != expected).nnz == 0
    assert ours.vocabulary_ == theirs.vocabulary_


@pytest.mark.parametrize(
    "settings",
    [
        {"min_length": 1},
        {"min_length": 1, "rule": "words", "ngram_range": (1, 3)},
        {"min_length": 1, "numbers": False, "stop_words": ["a"]},
        {"min_length": 1, "strip_accents": "unicode"},
        {"min_length": 1, "lowercase": False},
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
        {"token_pattern": r"\w+", "ngram_range": (1, 2)},
    ],
    ids=str,
)
@some
@given(documents=wild_documents)
def test_kernels_and_python_agree_on_any_text(settings, documents):
    """The analyzer is the slow twin: one document at a time, in plain Python."""
    ours = CountVectorizer(**settings)
    analyze = ours.build_analyzer()
    expected = [Counter(analyze(document)) for document in documents]
    terms = sorted(set().union(*expected))
    if not terms:
        with pytest.raises(ValueError, match="empty vocabulary"):
            ours.fit(documents)
        return
    counts = ours.fit_transform(documents).toarray()
    assert list(ours.get_feature_names_out()) == terms
    assert [
        Counter({term: n for term, n in zip(terms, row, strict=True) if n})
        for row in counts.tolist()
    ] == expected


def test_max_features_keeps_the_most_frequent_and_of_equals_those_that_sort_first():
    documents = ["b a c c", "d a b c", "z"]
    ours = CountVectorizer(max_features=3, min_length=1).fit(documents)
    assert ours.vocabulary_ == {"a": 0, "b": 1, "c": 2}


def test_statistics_of_the_parts_add_up_to_those_of_the_whole():
    analysis = CountVectorizer(ngram_range=(1, 2))._analysis()

    def stats(documents):
        return term_stats(analysis.find(Documents.of(documents).blocks[0].load()))

    whole = stats(CORPUS)
    for cut in range(1, len(CORPUS)):
        total = stats(CORPUS[:cut]) + stats(CORPUS[cut:])
        assert list(total.vocabulary) == list(whole.vocabulary)
        np.testing.assert_array_equal(total.counts, whole.counts)
        np.testing.assert_array_equal(total.document_counts, whole.document_counts)
        assert (total.documents, total.tokens, total.wordless) == (
            whole.documents, whole.tokens, whole.wordless,
        )  # fmt: skip
    twice = tree_sum([whole, whole])
    np.testing.assert_array_equal(twice.counts, (2 * whole).counts)
    assert (2 * whole).documents == 2 * whole.documents


def test_counting_with_rows_and_without_gives_the_same_statistics():
    analysis = CountVectorizer(ngram_range=(1, 2))._analysis()
    found = analysis.find(Documents.of(CORPUS).blocks[0].load())
    for binary in (False, True):
        a, b = count_terms(found, binary).stats, term_stats(found, binary)
        np.testing.assert_array_equal(a.counts, b.counts)
        np.testing.assert_array_equal(a.document_counts, b.document_counts)


def test_blocks_of_any_size_give_the_same_matrix(monkeypatch):
    whole = CountVectorizer(ngram_range=(1, 2)).fit_transform(CORPUS * 5)
    monkeypatch.setattr(document_blocks.cut_by_size, "__defaults__", (50,))
    for engine in (Serial(), Threads(2)):
        documents = Documents.of(CORPUS * 5)
        assert len(documents.blocks) > 10
        X = CountVectorizer(ngram_range=(1, 2), engine=engine).fit_transform(documents)
        np.testing.assert_array_equal(X.indices, whole.indices)
        np.testing.assert_array_equal(X.indptr, whole.indptr)
        np.testing.assert_array_equal(X.data, whole.data)


# --- Messages ---


@pytest.mark.parametrize(
    ("documents", "settings", "message"),
    [
        ([], {}, "there are 0 documents"),
        (iter([]), {}, "a generator can be read only once"),
        (["", None, float("nan")], {}, r"all 3 documents are empty \(2 of them None or NaN\)"),
        (["a", "!!", ""], {}, r"none of the 3 documents \(1 of them empty\) has a token"),
        (["the of", "of"], {"stop_words": ["the", "of"]}, "all 3 tokens of 2 documents are"),
        (["the of"], {"stop_words": "english"}, "only contain stop words"),
        (["12 34"], {"numbers": False}, "numbers=True"),
        (["ab", "cd"], {"ngram_range": (2, 2)}, r"as many as 2 tokens in a row.*\(2, 2\)"),
        (["aa bb", "cc"], {"min_df": 2}, "no terms remain of 3 in 2 documents: min_df=2 "
         "removes 3 in fewer than 2 documents, max_df=1.0 0 in more than 2. Try a lower"),
        (["aa", "aa"], {"max_df": 0.5}, "max_df=0.5 1 in more than 1"),
        (["aa"], {"min_df": 2, "max_df": 1}, "max_df corresponds to < documents than min_df"),
        (["of"], {"stop_words": ["of"], "token_pattern": r"\b[a-z]\w+\b"}, "all 1 tokens of 1"),
    ],
)  # fmt: skip
def test_why_there_is_nothing_to_count_is_said_in_numbers(documents, settings, message):
    with pytest.raises(ValueError, match=message):
        CountVectorizer(**settings).fit_transform(documents)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"input": "x"}, r"input='x'\) is unknown; choose from"),
        ({"decode_error": "x"}, "decode_error='x'"),
        ({"strip_accents": "x"}, "strip_accents='x'"),
        ({"analyzer": "x"}, "analyzer='x'"),
        ({"ngram_range": (2, 1)}, r"Invalid value for ngram_range=\(2, 1\)"),
        ({"ngram_range": (0, 1)}, "or below 1"),
        ({"token_pattern": "("}, "is not a regular expression"),
        ({"token_pattern": "(a)(b)"}, "More than 1 capturing group"),
        ({"stop_words": "klingon"}, "not a built-in list; 'english' and"),
        ({"min_df": 0}, "must be a number of documents"),
        ({"max_df": 1.5}, "or a proportion of them"),
        ({"max_df": True}, "must be a number of documents"),
        ({"max_features": 0}, "must be an int of at least 1"),
        ({"rule": "x"}, "rule='x' is unknown"),
        ({"time_limit": 0}, "must be above 0 seconds"),
        ({"engine": "x"}, "engine='x' is unknown"),
    ],
)
def test_wrong_settings_say_what_is_right(settings, message):
    with pytest.raises(ValueError, match=message):
        CountVectorizer(**settings).fit(CORPUS)


@pytest.mark.parametrize("method", ["fit", "fit_transform", "transform", "partial_fit"])
def test_one_string_is_refused_and_says_to_wrap_it(method):
    vectorizer = CountVectorizer().fit(CORPUS)
    with pytest.raises(
        ValueError, match=r"string object received. Wrap one document in a list"
    ):
        getattr(vectorizer, method)("one string")
    with pytest.raises(TypeError, match="iterable of documents, but got int"):
        getattr(vectorizer, method)(3)


def test_what_is_not_fitted_cannot_transform():
    with pytest.raises(NotFittedError, match="Vocabulary not fitted or provided"):
        CountVectorizer().transform(CORPUS)
    with pytest.raises(NotFittedError):
        CountVectorizer().get_feature_names_out()
    assert CountVectorizer(vocabulary=["sea"]).transform(CORPUS).sum() == 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"tokenizer": str.split, "token_pattern": PATTERN},
            "'token_pattern' will not be used",
        ),
        ({"analyzer": str.split, "preprocessor": str.lower}, "'preprocessor' will not be used"),
        ({"analyzer": str.split, "ngram_range": (1, 2)}, "'ngram_range' will not be used"),
        ({"analyzer": "char", "stop_words": ["a"]}, "'stop_words' will not be used"),
        ({"analyzer": "char", "tokenizer": str.split}, "'tokenizer' will not be used"),
        ({"vocabulary": ["Sea"]}, "Upper case characters found in vocabulary"),
        ({"stop_words": ["don't"]}, r"generated tokens \['don'\] not in stop_words"),
    ],
)
def test_settings_that_do_nothing_are_warned_about_as_in_scikit_learn(settings, message):
    with pytest.warns(UserWarning, match=message):
        CountVectorizer(**settings).fit(CORPUS)


def test_the_english_list_fits_both_rules():
    for rule in ("plain", "words"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            named = CountVectorizer(stop_words="english-function-words")
            stop_words = sorted(named.get_stop_words())
            vectorizer = CountVectorizer(stop_words=stop_words, rule=rule)
            vectorizer.fit(["we don't like whales, don't we"])
        assert list(vectorizer.vocabulary_) == ["whales"]


# --- Ways in ---


def test_files_and_names_of_files_can_be_documents(tmp_path):
    paths = []
    for i, text in enumerate(CORPUS):
        paths.append(tmp_path / f"{i}.txt")
        paths[-1].write_text(text)
    expected = CountVectorizer().fit_transform(CORPUS)
    by_name = CountVectorizer(input="filename").fit_transform(map(str, paths))
    assert (by_name != expected).nnz == 0
    files = [io.BytesIO(text.encode()) for text in CORPUS]
    assert (CountVectorizer(input="file").fit_transform(files) != expected).nnz == 0
    files = [io.StringIO(text) for text in CORPUS]
    upper = CountVectorizer(input="file", preprocessor=str.lower)
    assert (upper.fit_transform(files) != expected).nnz == 0
    documents = Documents.open(tmp_path)
    assert (CountVectorizer().fit_transform(documents) != expected).nnz == 0
    assert (CountVectorizer().fit_transform(tmp_path) != expected).nnz == 0


def test_bytes_are_decoded_as_asked():
    documents = ["caf\xe9".encode("latin-1"), b"sea"]
    with pytest.raises(UnicodeDecodeError):
        CountVectorizer().fit(documents)
    for errors, word in (("replace", "caf"), ("ignore", "caf")):
        vectorizer = CountVectorizer(decode_error=errors).fit(documents)
        assert sorted(vectorizer.vocabulary_) == [word, "sea"]
        assert vectorizer.input_report_["undecodable"] == 1
    assert "café" in CountVectorizer(encoding="latin-1").fit(documents).vocabulary_


def test_documents_that_only_the_users_analyzer_understands():
    lists = [["a", "b", "a"], ["b"], None]
    vectorizer = CountVectorizer(analyzer=lambda tokens: tokens)
    assert vectorizer.fit_transform(lists).toarray().tolist() == [[2, 1], [0, 1], [0, 0]]
    assert vectorizer.input_report_["missing"] == 1
    with pytest.raises(TypeError, match="returned a term of type int: 3"):
        CountVectorizer(analyzer=lambda tokens: [3]).fit(lists)


def test_a_users_code_runs_in_the_calling_thread():
    import threading

    seen = set()

    def split(text):
        seen.add(threading.current_thread())
        return text.split()

    CountVectorizer(tokenizer=split, engine=Threads(2)).fit(CORPUS * 1000)
    assert seen == {threading.current_thread()}


def test_a_pattern_that_never_ends_is_stopped():
    with pytest.raises(DataError, match=r"took more than 0.3 s on a document of 50 characters"):
        CountVectorizer(token_pattern=r"(?:a+)+$", time_limit=0.3).fit(["fine", "a" * 49 + "b"])


@pytest.mark.parametrize("pattern", ["(" * 5000 + ")" * 5000, "a{99999999999999999999}", "(a"])
def test_a_pattern_that_python_cannot_compile_is_refused(pattern):
    with pytest.raises(ValueError, match="is not a regular expression"):
        CountVectorizer(token_pattern=pattern).fit(["a letter"])


def test_a_pattern_of_bytes_is_refused():
    with pytest.raises(TypeError, match=r"token_pattern=b'a\+' .*give a str"):
        CountVectorizer(token_pattern=b"a+").fit(["a letter"])


@pytest.mark.parametrize("analyzer", ["word", "char"])
def test_a_huge_range_of_n_grams_is_refused_before_its_terms_are_written(analyzer, monkeypatch):
    text = " ".join(f"w{i * i % 977}" for i in range(3000))
    monkeypatch.setattr("tacit.text.vocabulary.LARGEST", 10**6)
    with pytest.raises(ValueError, match=r"The terms come to .* bytes, .* use shorter n-grams"):
        CountVectorizer(analyzer=analyzer, ngram_range=(1, 80)).fit([text])


HUNG = """
import os, sys
from tacit.text.patterns import PatternTokenizer
tokenizer = PatternTokenizer(r"(?:a+)+$", limit=1000)
tokenizer("fine")
print(tokenizer._child.pid, flush=True)
tokenizer("a" * 60 + "b")
"""


def alive(process):
    """Whether it runs; one that ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_the_process_that_runs_a_pattern_dies_with_its_parent_even_in_the_middle_of_one():
    parent = subprocess.Popen([sys.executable, "-c", HUNG], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    time.sleep(0.3)  # the document that never ends has begun
    assert alive(child)
    parent.kill()
    parent.communicate()
    end = time.monotonic() + 30
    while alive(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(child)


def test_a_text_after_an_interrupted_one_gets_its_own_tokens(monkeypatch):
    def interrupted(size):
        raise KeyboardInterrupt

    with PatternTokenizer(r"\w+-\w+", limit=60) as tokens_of:
        with monkeypatch.context() as patch:
            patch.setattr(tokens_of, "_read", interrupted)
            with pytest.raises(KeyboardInterrupt):
                tokens_of("one-two")
        assert tokens_of("three-four") == ["three-four"]


def test_a_pattern_is_run_by_the_analyzer_too_and_its_process_ends():
    analyze = CountVectorizer(token_pattern=r"\b[a-z]\w+-\w+").build_analyzer()
    assert analyze("Well-known and ill-advised") == ["well-known", "ill-advised"]
    child = analyze.tokenize._child
    assert child.poll() is None
    analyze.close()
    assert child.poll() is not None


def test_scikit_learns_pattern_gives_its_tokens_in_any_script():
    documents = ["naïve café 東京都 हिन्दी 😀 don’t", "ΟΔΟΣ İstanbul Straße ﬁne"]
    assert_same(CountVectorizer(token_pattern=PATTERN), learn.CountVectorizer(), documents)


# --- What the models offer besides ---


def test_partial_fit_keeps_columns_and_adds_new_ones_behind():
    vectorizer = CountVectorizer().partial_fit(["sea whale"])
    before = vectorizer.transform(["whale sea sea"]).toarray()
    vectorizer.partial_fit(iter(["boat anchor sea"]))
    assert vectorizer.vocabulary_ == {"sea": 0, "whale": 1, "anchor": 2, "boat": 3}
    after = vectorizer.transform(["whale sea sea boat"])
    np.testing.assert_array_equal(after.toarray(), [[2, 1, 0, 1]])
    np.testing.assert_array_equal(before, [[2, 1]])
    assert after.has_sorted_indices
    vectorizer.partial_fit([""])
    assert len(vectorizer.vocabulary_) == 4
    with pytest.raises(ValueError, match="cannot prune"):
        CountVectorizer(min_df=2).partial_fit(["a"])
    with pytest.raises(ValueError, match="all 1 documents are empty"):
        CountVectorizer().partial_fit([""])


def test_inverse_transform_gives_the_terms_of_each_row():
    theirs, ours = learn.CountVectorizer(), CountVectorizer()
    X = theirs.fit_transform(CORPUS)
    ours.fit(CORPUS)
    for matrix in (X, sp.csr_array(X), sp.csc_array(X), X.toarray()):
        for a, b in zip(
            ours.inverse_transform(matrix), theirs.inverse_transform(X), strict=True
        ):
            assert sorted(a) == sorted(b)


def test_a_vocabulary_that_is_changed_by_hand_counts():
    vectorizer = CountVectorizer().fit(["sea whale"])
    vectorizer.vocabulary_ = {"boat": 0}
    assert vectorizer.transform(["boat sea"]).toarray().tolist() == [[1]]
    vectorizer.vocabulary_["sea"] = 1
    assert vectorizer.transform(["boat sea"]).toarray().tolist() == [[1, 1]]


def test_stop_words_can_be_derived():
    documents = ["the sea and the ship", "the whale and I", "the", "", "und das Meer"]
    assert derive_stop_words(documents) == ["the", "and"]
    assert derive_stop_words(documents, min_share=0.25, top=1) == ["the"]
    left = CountVectorizer(stop_words=derive_stop_words(documents)).fit(documents)
    assert "the" not in left.vocabulary_
    with pytest.raises(ValueError, match="min_share=0 must be above 0"):
        derive_stop_words(documents, min_share=0)


def test_scikit_learns_sparse_interface_is_respected():
    with sklearn.config_context(sparse_interface="sparray"):
        assert isinstance(CountVectorizer().fit_transform(CORPUS), sp.csr_array)
    assert isinstance(CountVectorizer().fit_transform(CORPUS), sp.csr_matrix)


def test_it_lives_in_a_pipeline_with_scikit_learns_models():
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(CountVectorizer(), MultinomialNB())
    model.fit(["good fun", "bad sad", "fun", "sad"], [1, 0, 1, 0])
    assert model.predict(["fun fun", "bad"]).tolist() == [1, 0]


@pytest.mark.skipif("TACIT_DATA" not in os.environ, reason="TACIT_DATA is not set")
def test_twenty_newsgroups_give_scikit_learns_matrix():
    path = os.path.join(os.environ["TACIT_DATA"], "newsgroups", "test.jsonl.gz")
    documents = Documents.open(path)
    plain = [re.sub(r"[^\x00-\x7f]", " ", text) for text in documents.texts()]
    assert len(plain) == 7532
    X = CountVectorizer().fit_transform(plain)
    Y = learn.CountVectorizer().fit_transform(plain)
    assert (X != Y).nnz == 0

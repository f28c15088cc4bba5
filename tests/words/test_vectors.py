import contextlib
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import tacit
from tacit.core import DataError, ModelFileError
from tacit.words import WordVectors, evaluate_analogies, evaluate_similarity

ROYALS = ["man", "woman", "king", "queen", "boy", "girl", "apple"]


def royals(**settings):
    """Sex and rank are directions, so analogies are exact."""
    rows = [[0, 1, 5], [1, 1, 5], [0, 3, 5], [1, 3, 5], [0, -1, 5], [1, -1, 5], [9, 0, 0]]
    counts = [90, 80, 20, 10, 30, 30, 5]
    return WordVectors.of(ROYALS, np.array(rows, float), counts, **settings)


def many(n=700, d=8, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, d))
    return WordVectors.of([f"w{i}" for i in range(n)], rows)


def test_analogies_add_and_subtract():
    assert royals().analogy("man", "king", "woman", top=1)[0].word == "queen"
    same = royals().most_similar(["king", "woman"], ["man"], top=1)
    assert same == royals().analogy("man", "king", "woman", top=1)


def test_given_words_are_left_out_and_vectors_may_be_given():
    vectors = royals()
    hits = vectors.most_similar("king")
    assert len(hits) == 6
    assert "king" not in {hit.word for hit in hits}
    assert vectors.most_similar([vectors["king"]], top=1)[0].word == "king"


def test_neighbors_agree_with_all_cosines():
    vectors = many()
    units = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -2)
    for at, hits in enumerate(vectors.nearest(top=4)):
        expected = np.argsort(-cosines[at])[:4]
        assert [hit.word for hit in hits] == [f"w{i}" for i in expected]
    alone = vectors.nearest(["w3"], top=4)[0]
    assert [hit.word for hit in alone] == [hit.word for hit in vectors.nearest(top=4)[3]]
    np.testing.assert_allclose(vectors.similarity("w1", "w2"), cosines[1, 2], atol=1e-6)


def test_answers_may_be_limited_to_frequent_words():
    hits = many().most_similar("w650", top=1000, among=100)
    assert len(hits) == 100
    assert all(int(hit.word[1:]) < 100 for hit in hits)
    assert len(many().nearest(["w650"], top=1000, among=100)[0]) == 100


def test_the_odd_one_out():
    assert royals().odd_one_out(["king", "queen", "man", "apple"]) == "apple"
    with pytest.raises(ValueError, match="two words"):
        royals().odd_one_out(["king"])


def test_one_hot_words_are_all_the_square_root_of_two_apart():
    one_hot = WordVectors.one_hot(["the", "cat", "sit", "on", "the", "mat"])
    assert len(one_hot) == 5
    for a in one_hot.words:
        for b in one_hot.words:
            assert one_hot.distance(a, b) == (0 if a == b else 2**0.5)
            assert one_hot.similarity(a, b) == (1 if a == b else 0)


@pytest.mark.parametrize("word", ["unknown", "King", ""])
def test_an_unknown_word_is_named(word):
    with pytest.raises(KeyError, match=repr(word)):
        royals().most_similar(word)


def test_words_that_cancel_out_are_an_error():
    with pytest.raises(ValueError, match="cancel"):
        royals().most_similar("king", "king")
    with pytest.raises(ValueError, match="3 finite numbers"):
        royals().most_similar([np.ones(4)])


@pytest.mark.parametrize(
    ("words", "rows", "message"),
    [
        (["a"], np.ones((2, 3)), "row for each"),
        (["a", "a"], np.ones((2, 3)), "two vectors"),
        ([], np.ones((0, 3)), "at least one"),
        (["a", "b"], np.array([[1.0], [np.nan]]), "'b'"),
        (["a"], np.ones(3), "shape"),
    ],
)
def test_vectors_are_checked(words, rows, message):
    with pytest.raises(ValueError, match=message):
        WordVectors.of(words, rows)


def test_words_must_be_strings_and_vectors_numbers():
    with pytest.raises(TypeError, match="str"):
        WordVectors.of([1], np.ones((1, 2)))
    with pytest.raises(TypeError, match="numbers"):
        WordVectors.of(["a"], [["x"]])


# --- Documents ---


def test_a_document_is_the_mean_of_its_known_words():
    vectors = royals()
    found = vectors.transform(["The King; the queen!", "", "nothing known", None])
    np.testing.assert_allclose(found[0], (vectors["king"] + vectors["queen"]) / 2)
    assert not found[1:].any()
    assert found.shape == (4, 3)


def test_frequent_words_weigh_less_with_sif():
    vectors = royals(weighting="sif", a=0.1)
    p = vectors.counts / vectors.counts.sum()
    w = 0.1 / (0.1 + p[[0, 3]])
    expected = (w[0] * vectors["man"] + w[1] * vectors["queen"]) / w.sum()
    np.testing.assert_allclose(vectors.transform(["man queen"])[0], expected, rtol=1e-6)
    with pytest.raises(ValueError, match="counts"):
        many().set_params(weighting="sif").transform(["w1"])


def test_word_vectors_can_be_cloned_pickled_and_saved(tmp_path):
    vectors = royals(weighting="sif")
    vectors.save(tmp_path / "v.safetensors")
    mapped = WordVectors.open(tmp_path / "v.safetensors", mmap=True)
    assert not mapped.vectors.flags.writeable
    copies = [
        clone(vectors), pickle.loads(pickle.dumps(vectors)),
        tacit.load(tmp_path / "v.safetensors"), mapped,
    ]  # fmt: skip
    for copy in copies:
        assert copy.words == ROYALS
        assert copy.weighting == "sif"
        np.testing.assert_array_equal(copy.vectors, vectors.vectors)
        np.testing.assert_array_equal(copy.counts, vectors.counts)
        assert copy.most_similar("king") == vectors.most_similar("king")


def save_and_load(model, path):
    model.save(path)
    return tacit.load(path)


def test_damaged_state_in_a_model_file_is_refused(tmp_path):
    for i, changes in enumerate(
        [
            {"words": ROYALS[:3]},
            {"words": ["a"] * 7},
            {"vectors": np.ones((7, 3))},
            {"counts": np.full(7, -1)},
        ]
    ):
        vectors = royals()
        vars(vectors).update(changes)
        path = tmp_path / f"{i}.safetensors"
        with pytest.raises((ModelFileError, ValueError)):
            save_and_load(vectors, path)


def test_a_model_file_without_vectors_is_refused(tmp_path):
    model = tacit.cluster.KMeans(2).fit(np.arange(6.0).reshape(-1, 1))
    model.save(tmp_path / "k.safetensors")
    with pytest.raises(ModelFileError, match="no word vectors"):
        WordVectors.open(tmp_path / "k.safetensors")


# --- Files of word2vec ---

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(NAMES, min_size=1, max_size=6, unique=True), st.integers(1, 5), st.booleans(),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_files_give_back_the_same_bits(tmp_path_factory, words, size, binary, seed):
    words = [word for word in words if word.split() == [word]] or ["a"]
    bits = np.random.default_rng(seed).integers(2**31, size=(len(words), size), dtype=np.uint32)
    rows = bits.view(np.float32)
    rows[~np.isfinite(rows)] = 1.5
    path = tmp_path_factory.mktemp("files") / "v"
    WordVectors.of(words, rows).write(path, binary=binary)
    found = WordVectors.open(path)
    assert found.words == words
    np.testing.assert_array_equal(found.vectors, rows)


def test_a_file_without_the_first_line_is_read(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("the 0.5 -1e-3\nnew york 1 2\n")
    found = WordVectors.open(path)
    assert found.words == ["the", "new york"]
    np.testing.assert_allclose(found["the"], [0.5, -1e-3])


def test_compressed_files_are_read(tmp_path):
    import gzip

    royals().write(tmp_path / "v.bin")
    (tmp_path / "v.bin.gz").write_bytes(gzip.compress((tmp_path / "v.bin").read_bytes()))
    assert WordVectors.open(tmp_path / "v.bin.gz").words == ROYALS


def test_binary_files_without_line_ends_are_read(tmp_path):
    rows = np.arange(6, dtype="<f4").reshape(2, 3)
    (tmp_path / "v.bin").write_bytes(
        b"2 3\n"
        + b"".join(w + b" " + row.tobytes() for w, row in zip((b"a", b"b"), rows, strict=True))
    )
    np.testing.assert_array_equal(WordVectors.open(tmp_path / "v.bin").vectors, rows)


def test_repeated_words_keep_their_first_vector(tmp_path):
    (tmp_path / "v.txt").write_text("3 1\na 1\nb 2\na 3\n")
    with pytest.warns(UserWarning, match="1 words occur more than once"):
        found = WordVectors.open(tmp_path / "v.txt")
    assert found.words == ["a", "b"]
    assert found["a"] == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"hello",
        b"hello world\n",
        b"0 5\n",
        b"5 0\n",
        b"99999999999 300\na 1\n",
        b"2 99999999999\na 1\n",
        b"2 3\na 1 2 3\n",
        b"2 3\na 1 2 3\nb 1 2\n",
        b"2 2\na 1 2\nb 1 x\n",
        b"2 2\na 1 2\nb 1 nan\n",
        b"2 2\na 1 2\nb 1 1e99\n",
        b"2 2\na " + bytes(8) + b"b " + bytes(4),
        b"2 2\na " + bytes(8) + b"b" * 30,
        b"1 2\na " + np.array([1, np.inf], "<f4").tobytes(),
        b"\x00" * 100,
        b"PK\x03\x04" + b"\x00" * 100,
    ],
)
def test_hostile_files_are_refused_with_their_name(tmp_path, content):
    path = tmp_path / "hostile"
    path.write_bytes(content)
    with pytest.raises(DataError, match="hostile"):
        WordVectors.open(path)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_vectors_or_an_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "v"
    path.write_bytes(b"2 2\n" + content)
    with contextlib.suppress(DataError):
        assert WordVectors.open(path).vectors.shape[1] == 2


def test_words_with_white_space_do_not_fit_into_a_word2vec_file(tmp_path):
    with pytest.raises(ValueError, match="new york"):
        WordVectors.of(["new york"], np.ones((1, 2))).write(tmp_path / "v.txt")
    assert not list(tmp_path.iterdir())


# --- Evaluation ---


def test_analogies_are_scored_by_section(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(
        ": rank\nMan King Woman Queen\nman king boy queen\n: other\nman dog woman cat\n"
        "man woman king queen\n"
    )
    result = evaluate_analogies(royals(), path)
    rows = [(s.name, s.asked, s.correct, s.skipped) for s in result.sections]
    assert rows == [("rank", 2, 1, 0), ("other", 1, 1, 1)]
    assert result.accuracy == pytest.approx(2 / 3)
    assert result.to_dict()["total"]["asked"] == 3
    assert "rank: 50.0% of 2" in str(result)
    assert evaluate_analogies(royals(), path, among=3).total.asked == 0


def test_similarity_is_a_rank_correlation(tmp_path):
    from scipy.stats import spearmanr

    vectors = many(30)
    judged = [(f"w{i}", f"w{i + 1}", float(i % 7)) for i in range(20)]
    path = tmp_path / "pairs.tsv"
    lines = "".join(f"{a}\t{b.upper()}\t{x}\n" for a, b, x in judged)
    path.write_text(f"# comment\nWord 1\tWord 2\tmean\n{lines}none\tw1\t3\n")
    cosines = [vectors.similarity(a, b) for a, b, _ in judged]
    result = evaluate_similarity(vectors, path)
    assert result.spearman == pytest.approx(spearmanr([x for *_, x in judged], cosines)[0])
    assert (result.pairs, result.skipped) == (20, 1)


@pytest.mark.parametrize(
    ("evaluate", "content"),
    [
        (evaluate_analogies, ": only\na b c\n"),
        (evaluate_analogies, ""),
        (evaluate_similarity, "a\tb\t1\na\tb\n"),
    ],
)
def test_bad_files_are_refused_with_the_row(tmp_path, evaluate, content):
    path = tmp_path / "bad.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=r"bad\.txt"):
        evaluate(royals(), path)


def test_few_pairs_have_no_correlation(tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("man king 1\n")
    assert evaluate_similarity(royals(), path).spearman == 0.0


def test_gensim_reads_what_we_write_and_the_other_way_round(tmp_path):
    keyed = pytest.importorskip("gensim.models.keyedvectors")
    vectors = many(50)
    for binary in (True, False):
        path = str(tmp_path / f"ours-{binary}")
        vectors.write(path, binary=binary)
        theirs = keyed.KeyedVectors.load_word2vec_format(path, binary=binary)
        assert theirs.index_to_key == vectors.words
        np.testing.assert_array_equal(theirs.vectors, vectors.vectors)
        back = str(tmp_path / f"theirs-{binary}")
        theirs.save_word2vec_format(back, binary=binary)
        np.testing.assert_allclose(WordVectors.open(back).vectors, vectors.vectors, rtol=1e-6)
        hits = theirs.most_similar(positive=["w1", "w2"], negative=["w3"], topn=5)
        ours = vectors.most_similar(["w1", "w2"], ["w3"], top=5)
        assert [hit.word for hit in ours] == [word for word, _ in hits]

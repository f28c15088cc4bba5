"""Files of MALLET, LDA-C and UCI: round trips, the layouts as they are, and damaged ones."""

import gzip

import numpy as np
import pytest

from tacit.core import DataError
from tacit.topics import GibbsLDA
from tacit.topics.topic_files import (
    pyldavis_data,
    read_doc_topics,
    read_lda_c,
    read_mallet_state,
    read_topic_keys,
    read_uci,
    write_doc_topics,
    write_mallet_state,
    write_topic_keys,
)

X = np.array([[2, 1, 0, 0], [0, 0, 1, 3], [1, 0, 0, 1]])
WORDS = ["sea", "ship", "rye", "oat bread"]


@pytest.fixture(scope="module")
def model():
    return GibbsLDA(2, max_iter=20, alpha=[0.2, 0.3], random_state=0).fit(X)


@pytest.mark.parametrize("name", ["state", "state.gz"])
def test_a_state_survives_a_file(model, tmp_path, name):
    path = tmp_path / name
    write_mallet_state(model, path, WORDS, names=["a", "b b", "c"])
    state = read_mallet_state(path)
    np.testing.assert_array_equal(state.counts().toarray(), X)
    assert state.words == ["sea", "ship", "rye", "oat_bread"]
    assert state.names == ["a", "b_b", "c"]
    np.testing.assert_array_equal(state.alpha, [0.2, 0.3])
    for ours, theirs in zip(state.assignments, model.assignments_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    again = state.model()
    assert again.components_.sum() == pytest.approx(X.sum() + 2 * 4 * 0.01)
    assert again.transform(X).shape == (3, 2)


def test_a_state_of_mallet_is_read(tmp_path):
    path = tmp_path / "topic-state.gz"
    with gzip.open(path, "wt", encoding="utf8") as stream:
        stream.write(
            "#doc source pos typeindex type topic\n#alpha : 2.5 2.5 \n#beta : 0.01\n"
            "0 file:/a.txt 0 0 hawes 1\n0 file:/a.txt 1 1 born 0\n1 file:/b.txt 0 0 hawes 1\n"
        )
    state = read_mallet_state(path)
    assert state.counts().toarray().tolist() == [[1, 1], [1, 0]]
    np.testing.assert_allclose(state.model().components_, [[0.01, 1.01], [2.01, 0.01]])


def test_document_topics_in_both_layouts(tmp_path):
    theta = np.array([[0.25, 0.75], [1.0, 0.0]])
    write_doc_topics(theta, tmp_path / "new", names=["a b", "c"])
    found, names = read_doc_topics(tmp_path / "new")
    np.testing.assert_array_equal(found, theta)
    assert names == ["a_b", "c"]
    (tmp_path / "old").write_text("#doc name topic proportion ...\n0 a.txt 1 0.75 0 0.25\n")
    found, names = read_doc_topics(tmp_path / "old")
    assert found.tolist() == [[0.25, 0.75]]
    assert names == ["a.txt"]


def test_topic_keys_survive_a_file(model, tmp_path):
    write_topic_keys(model, tmp_path / "keys", WORDS, top=2)
    alphas, words = read_topic_keys(tmp_path / "keys")
    np.testing.assert_allclose(alphas, [0.2, 0.3])
    assert all(len(each) == 2 for each in words)


def test_lda_c_is_read(tmp_path):
    path = tmp_path / "ap.dat"
    path.write_text("2 0:2 3:1\n1 1:4\n0\n")
    assert read_lda_c(path).toarray().tolist() == [[2, 0, 0, 1], [0, 4, 0, 0], [0, 0, 0, 0]]
    assert read_lda_c(path, words=6).shape == (3, 6)


def test_uci_is_read(tmp_path):
    path = tmp_path / "docword.txt"
    path.write_text("2\n3\n3\n1 1 2\n1 3 1\n2 2 5\n")
    assert read_uci(path).toarray().tolist() == [[2, 0, 1], [0, 5, 0]]


def test_data_for_pyldavis_are_distributions(model):
    data = pyldavis_data(model, X, WORDS)
    np.testing.assert_allclose(data["topic_term_dists"].sum(axis=1), 1)
    np.testing.assert_allclose(data["doc_topic_dists"].sum(axis=1), 1)
    assert data["term_frequency"].tolist() == [3, 1, 1, 4]


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (read_mallet_state, "", "no tokens"),
        (read_mallet_state, "0 a 0 0 word\n", "row 1.*5 fields"),
        (read_mallet_state, "0 a 0 -1 word 0\n", "not a whole number"),
        (read_mallet_state, "#alpha : 1\n0 a 0 0 word 3\n", "topics up to 3"),
        (read_mallet_state, "#alpha : x\n0 a 0 0 word 3\n", "not a number"),
        (read_mallet_state, "0 a 0 2000000000 word 0\n", "far beyond"),
        (read_doc_topics, "0 a\n", "2 fields"),
        (read_doc_topics, "0\ta\t0.5\t0.5\n1\tb\t1\n", "different numbers"),
        (read_doc_topics, "#doc name topic proportion\n0 a 2000000000 1\n", "names topic"),
        (read_topic_keys, "0\t0.1\n", "2 fields"),
        (read_lda_c, "2 0:1\n", "announces 2 words"),
        (read_lda_c, "1 0-1\n", "not word:count"),
        (read_uci, "2\n3\n2\n1 1 2\n", "1 entries, but announces 2"),
        (read_uci, "2\n3\n1\n3 1 2\n", "names document 3"),
        (read_uci, "", "announces no"),
    ],
)
def test_damaged_files_are_refused_with_their_place(reader, text, message, tmp_path):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        reader(path)


def test_a_truncated_archive_is_refused(model, tmp_path):
    path = tmp_path / "state.gz"
    write_mallet_state(model, path, WORDS)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="damaged"):
        read_mallet_state(path)

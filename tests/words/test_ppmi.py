import numpy as np
import pytest

import tacit
from tacit.core import Serial, Threads
from tacit.language.sentences import Reader
from tacit.words import PPMIVectors, ppmi
from tacit.words.corpus import read_corpus
from tests.words.test_word2vec import separation, topics


def counted(text, window, engine=None):
    corpus = read_corpus(text, Reader(), "serial", min_count=1, name="Test")
    counts = ppmi.count_neighbors(corpus, window, engine or Serial())
    return corpus, counts


def dense(corpus, counts):
    n = np.zeros((len(corpus.words),) * 2)
    low, high = (counts.keys >> np.uint64(32)).astype(int), counts.keys.astype(np.uint32)
    np.add.at(n, (low, high), counts.counts)
    return n + n.T


def test_neighbors_are_counted_by_distance():
    corpus, counts = counted(["a b c a", "b"], 2)
    n = dense(corpus, counts)
    at = {word: i for i, word in enumerate(corpus.words)}
    # a b, b c and c a are next to each other and count 2; a c and b a are two apart, 1.
    assert n[at["a"], at["b"]] == 3
    assert n[at["b"], at["c"]] == 2
    assert n[at["a"], at["c"]] == 3
    assert n[at["a"], at["a"]] == 0


def test_counts_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(ppmi, "CHUNK_WORDS", 200)
    text = topics(100)
    plain, threaded = (counted(text, 3, engine)[1] for engine in (Serial(), Threads(2)))
    np.testing.assert_array_equal(plain.keys, threaded.keys)
    np.testing.assert_array_equal(plain.counts, threaded.counts)


@pytest.mark.parametrize("shift", [1.0, 2.0])
def test_values_are_positive_pointwise_mutual_information(shift):
    corpus, counts = counted(topics(30, words=5), 2)
    n = dense(corpus, counts)
    p, q = n.sum(axis=1) / n.sum(), n.sum(axis=1) ** 0.75
    q /= q.sum()
    with np.errstate(divide="ignore"):
        expected = np.maximum(np.log(n / n.sum() / np.outer(p, q)) - np.log(shift), 0)
    values = ppmi.ppmi(counts, len(corpus.words), smoothing=0.75, shift=shift)
    np.testing.assert_allclose(values.toarray(), expected, atol=1e-12)


def test_words_of_one_kind_become_similar():
    fitted = PPMIVectors(8, window=3, random_state=0).fit(topics())
    assert separation(fitted.vectors_) > 0.3
    assert 0 < fitted.explained_ <= 1
    assert fitted.vectors_.vectors.shape == (60, 8)


def test_full_power_keeps_the_products_of_rows():
    text = topics(60, words=6)
    fitted = PPMIVectors(11, window=2, power=1.0, random_state=0).fit(text)
    _, counts = counted(text, 2)
    values = ppmi.ppmi(counts, 12, smoothing=0.75, shift=1.0).toarray()
    gap = np.linalg.svd(values, compute_uv=False)[-1] ** 2
    products = fitted.vectors_.vectors @ fitted.vectors_.vectors.T
    assert abs(products - values @ values.T).max() <= gap + 1e-4


def test_the_model_survives_a_file(tmp_path):
    fitted = PPMIVectors(4, window=2, random_state=0).fit(topics(60))
    fitted.save(tmp_path / "p.safetensors")
    loaded = tacit.load(tmp_path / "p.safetensors")
    np.testing.assert_array_equal(loaded.vectors_.vectors, fitted.vectors_.vectors)
    assert loaded.vectors_.words == fitted.vectors_.words


def test_fewer_words_than_numbers_are_refused():
    with pytest.raises(ValueError, match="vector_size=100"):
        PPMIVectors(min_count=1).fit(["a b c"])

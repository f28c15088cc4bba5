"""What every vectorizer owes, whatever the text: a list of cases, and a list of vectorizers.

A new vectorizer is one line in VECTORIZERS.
"""

import hashlib
import os
import pickle
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.core import Dask, Serial, Threads, registry
from tacit.data import Documents, document_blocks
from tacit.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

pytestmark = pytest.mark.slow  # processes of their own, and long documents

ROOT = Path(__file__).parents[2]
VECTORIZERS = {
    "counts": CountVectorizer(),
    "counts of n-grams": CountVectorizer(ngram_range=(1, 3), stop_words="english"),
    "counts of characters": CountVectorizer(analyzer="char", ngram_range=(1, 3)),
    "counts of characters in words": CountVectorizer(analyzer="char_wb", ngram_range=(2, 4)),
    "counts, pattern in a kernel": CountVectorizer(token_pattern=r"\w+"),
    "counts, pattern in a process": CountVectorizer(token_pattern=r"\w+(?:'\w+)?"),
    "counts, words rule": CountVectorizer(rule="words", numbers=False),
    "hashes": HashingVectorizer(n_features=1000),
    "weights": TfidfVectorizer(),
    "weights, bm25": TfidfVectorizer(weighting="bm25", norm=None, min_df=2),
}
CORPUS = [
    "The whale, the White Whale! 42 times 2.5",
    "Étude naïve, don't you know",
    "",
    None,
    "東京都に行く 👍🏽 😀😀 ภาษาไทย",
    "the sea  the\tsea\n\nthe sea",
    "ΟΔΟΣ İstanbul Straße हिन्दी",
    "x" * 300 + " the end",
] * 3
every_vectorizer = pytest.mark.parametrize(
    "vectorizer", VECTORIZERS.values(), ids=VECTORIZERS.keys()
)


@pytest.fixture
def fresh(vectorizer):
    """A copy that no other test has fitted."""
    return pickle.loads(pickle.dumps(vectorizer))


@pytest.fixture(scope="module", autouse=True)
def registered():
    """Model files name classes by the registry."""
    lines = {
        "CountVectorizer": "tacit.text.counts:CountVectorizer",
        "HashingVectorizer": "tacit.text.hashing:HashingVectorizer",
        "TfidfTransformer": "tacit.text.tfidf:TfidfTransformer",
        "TfidfVectorizer": "tacit.text.tfidf:TfidfVectorizer",
    }
    before = dict(registry.REGISTRY)
    registry.REGISTRY.update(lines)
    yield
    registry.REGISTRY.clear()
    registry.REGISTRY.update(before)


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as client:
        yield client


def assert_same(X, Y):
    assert X.shape == Y.shape
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(X, part), getattr(Y, part))


@every_vectorizer
def test_missing_and_empty_documents_are_rows_of_zeros(fresh):
    X = fresh.fit_transform(CORPUS)
    assert X.shape[0] == len(CORPUS)
    lengths = np.diff(X.indptr)
    assert lengths[2] == lengths[3] == 0
    assert np.isfinite(X.data).all()
    assert_same(fresh.transform([None, float("nan"), ""]), fresh.transform(["", "", ""]))


@every_vectorizer
def test_accents_count_the_same_however_they_are_written(fresh):
    X = fresh.fit_transform(CORPUS)
    apart = [text and unicodedata.normalize("NFD", text) for text in CORPUS]
    assert_same(fresh.transform(apart), X)
    assert_same(pickle.loads(pickle.dumps(fresh)).fit_transform(apart), X)


@every_vectorizer
def test_generators_bytes_and_other_holders_give_the_same_rows(fresh):
    X = fresh.fit_transform(CORPUS)
    assert_same(fresh.fit_transform(text for text in CORPUS), X)
    assert_same(fresh.fit_transform(tuple(CORPUS)), X)
    assert_same(fresh.fit_transform(np.array(CORPUS, object)), X)
    assert_same(fresh.fit_transform([text and text.encode() for text in CORPUS]), X)
    documents = Documents.of(iter(CORPUS))
    assert_same(fresh.fit_transform(documents), X)
    assert_same(fresh.fit(documents).transform(documents), X)  # read twice


@every_vectorizer
def test_one_string_is_refused(fresh):
    for call in (fresh.fit, fresh.fit_transform):
        with pytest.raises(ValueError, match="Wrap one document in a list"):
            call("one string")


@every_vectorizer
def test_the_engine_and_the_blocks_cannot_change_a_bit(fresh, monkeypatch, dask_client):
    fresh.set_params(engine=Serial())
    X = fresh.fit_transform(CORPUS)
    monkeypatch.setattr(document_blocks.cut_by_size, "__defaults__", (100,))
    for engine in (Serial(), Threads(1), Threads(2), Threads(4), Dask()):
        fresh.set_params(engine=engine)
        assert_same(fresh.fit_transform(CORPUS), X)
        assert_same(fresh.fit(CORPUS).transform(CORPUS), X)


@every_vectorizer
def test_pickles_and_files_bring_back_the_same_rows(fresh, tmp_path):
    X = fresh.fit_transform(CORPUS)
    assert_same(pickle.loads(pickle.dumps(fresh)).transform(CORPUS), X)
    path = tmp_path / "model.safetensors"
    fresh.save(path)
    loaded = tacit.load(path)
    assert_same(loaded.transform(CORPUS), X)
    assert type(loaded) is type(fresh)
    assert loaded.get_params() == fresh.get_params()
    loaded.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


@every_vectorizer
def test_nothing_passed_in_is_modified(fresh):
    documents = list(CORPUS)
    before = fresh.get_params()
    fresh.fit(documents)
    fresh.transform(documents)
    assert documents == CORPUS
    assert fresh.get_params() == before


@every_vectorizer
def test_a_long_document_is_no_trouble(fresh):
    text = "whale sea naïve 東京 don't the " * 30_000  # a megabyte
    X = fresh.fit_transform([text, "whale sea", "whale"])
    assert X.shape[0] == 3
    assert abs(X[[0]]).sum() > 0


def test_a_document_of_ten_megabytes_is_counted():
    words = " ".join(f"w{i % 5000}" for i in range(1_600_000))
    assert len(words) > 9_000_000
    X = CountVectorizer().fit_transform([words, "w1"])
    assert X.shape == (2, 5000)
    assert X[0, 0] == 320


@every_vectorizer
def test_emoji_and_scripts_without_spaces_count(fresh):
    documents = ["👍🏽 👍🏽 aaa", "東京都 東京 aaa", "ภาษาไทย ภาษา aaa", "aaa"] * 2
    X = fresh.fit_transform(documents)
    pattern = getattr(fresh, "token_pattern", None)
    assert (np.diff(X.indptr)[:3] > (0 if pattern else 1)).all()


SCRIPT = """
import hashlib, sys
import tests.text.test_battery as battery
digest = hashlib.sha256()
for vectorizer in battery.VECTORIZERS.values():
    X = vectorizer.fit_transform(battery.CORPUS)
    for part in (X.indptr, X.indices, X.data):
        digest.update(part.astype(part.dtype.newbyteorder("<")).tobytes())
    digest.update("\\n".join(getattr(vectorizer, "vocabulary_", {})).encode())
print(digest.hexdigest())
"""


def test_the_hash_seed_of_python_changes_nothing():
    answers = set()
    for seed in ("0", "12345"):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        answers.add(run.stdout.strip())
    assert len(answers) == 1
    assert len(answers.pop()) == len(hashlib.sha256().hexdigest())

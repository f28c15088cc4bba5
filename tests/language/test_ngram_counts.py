"""N-gram counts: a dictionary's, whatever the way they were counted."""

import errno
import gc
import os
import tempfile
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.language import NGramModel, spilled_counts
from tacit.language.adjust_counts import continuation_counts
from tacit.language.ngram_counts import count_ngrams, positions
from tacit.language.sentences import START, STOP, Corpus
from tacit.language.spilled_counts import count_spilled

V = 9
SENTENCES = st.lists(st.lists(st.integers(3, V - 1), max_size=9), min_size=1, max_size=15)


def corpus_of(sentences):
    ids = np.array([w for sentence in sentences for w in sentence], np.int32)
    return Corpus(ids, np.cumsum([0, *map(len, sentences)], dtype=np.int64))


def counted(sentences, order, markers=True):
    return count_ngrams(positions(corpus_of(sentences), markers), V, order, markers)


def spelled(counts, k):
    """The n-grams of k words with their counts, and the number of each."""
    grams = [(int(w),) for w in counts.levels[0].words]
    for level in counts.levels[1:k]:
        grams = [(*grams[h], int(w)) for h, w in zip(level.histories, level.words, strict=True)]
    return grams


def by_hand(sentences, k, markers=True):
    found = Counter()
    for sentence in sentences:
        marked = [START, *sentence, STOP] if markers else sentence
        found.update(tuple(marked[i : i + k]) for i in range(len(marked) - k + 1))
    return found


@given(sentences=SENTENCES, order=st.integers(1, 5), markers=st.booleans())
def test_counts_are_those_of_a_dictionary(sentences, order, markers):
    counts = counted(sentences, order, markers)
    for k in range(1, order + 1):
        grams, level = spelled(counts, k), counts.levels[k - 1]
        found = {g: int(c) for g, c in zip(grams, level.counts, strict=True) if c}
        assert found == dict(by_hand(sentences, k, markers))
        assert grams == sorted(grams)


@given(sentences=SENTENCES, order=st.integers(2, 5))
def test_every_n_gram_knows_the_one_without_its_first_word(sentences, order):
    counts = counted(sentences, order)
    for k in range(2, order + 1):
        shorter = spelled(counts, k - 1)
        for gram, lower in zip(spelled(counts, k), counts.levels[k - 1].lower, strict=True):
            assert shorter[lower] == gram[1:]


def assert_same_counts(one, other):
    for a, b in zip(one.levels, other.levels, strict=True):
        for first, second in zip(a, b, strict=True):
            assert first.dtype == second.dtype == np.int32
            np.testing.assert_array_equal(first, second)


@given(sentences=SENTENCES, order=st.integers(1, 4), markers=st.booleans())
def test_spilling_changes_nothing(sentences, order, markers):
    parts = [corpus_of(sentences[:3]), corpus_of(sentences[3:])]
    spilled = count_spilled(parts, V, order, markers, memory=1)
    assert_same_counts(counted(sentences, order, markers), spilled)


@pytest.mark.parametrize("memory", [1, 20_000, 400_000, 1e12])
def test_the_memory_does_not_show_in_the_counts(memory):
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 30, 700)
    sentences = [(2 + rng.zipf(1.5, n).clip(1, V - 3)).tolist() for n in lengths]
    spilled = count_spilled([corpus_of(sentences)], V, 4, True, memory)
    assert_same_counts(counted(sentences, 4), spilled)


def peak_of_spilling(v, memory):
    rng = np.random.default_rng(0)
    edges = np.arange(0, 200_001, 20, dtype=np.int64)
    blocks = [Corpus(rng.integers(3, v, 200_000, dtype=np.int32), edges) for _ in range(2)]
    tracemalloc.start()
    try:
        count_spilled(blocks, v, 2, True, memory, "serial")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_spilling_stays_within_its_memory_and_makes_use_of_it():
    v, memory = 5000, 12_000_000
    peak_of_spilling(v, memory)  # compile before measuring
    fixed = peak_of_spilling(v, 1_000_000)  # the blocks, and the chunks
    assert 0.3 * memory < peak_of_spilling(v, memory) - fixed < memory


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_count_leaves_no_files(error, monkeypatch, tmp_path):
    def interrupt(*args):
        raise error

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(spilled_counts, "merge_runs", interrupt)
    with pytest.raises(error):
        count_spilled([corpus_of([[3, 4, 5] * 50])], V, 3, True, memory=1)
    gc.collect()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("room", [3000, 15_000])  # for the text, for the first n-grams
def test_a_full_disk_is_an_error_with_the_way_out(code, room, monkeypatch, tmp_path):
    left, open_file = [room], tempfile.TemporaryFile
    words = np.random.default_rng(0).integers(3, V, (100, 20)).tolist()

    class FullDisk:
        """A file on a disk with room for some bytes more, shared by all."""

        def __init__(self, *args, **options):
            self.file = open_file(*args, **options)

        def write(self, data):
            left[0] -= memoryview(data).nbytes
            if left[0] < 0:
                raise OSError(code, os.strerror(code))
            return self.file.write(data)

        def __getattr__(self, name):
            return getattr(self.file, name)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(tempfile, "TemporaryFile", FullDisk)
    with pytest.raises(OSError, match="set TMPDIR to a larger folder, or raise memory") as e:
        count_spilled([corpus_of(words)], V, 3, True, memory=1)
    assert e.value.errno == code
    assert os.listdir(tmp_path) == []


def test_frequent_words_are_sorted_by_radix_and_give_the_same_counts():
    rng = np.random.default_rng(0)
    sentences = [rng.integers(3, V, 40).tolist() for _ in range(1500)]  # groups past 2,000
    counts = counted(sentences, 3)
    expected = by_hand(sentences, 3)
    assert dict(zip(spelled(counts, 3), counts.levels[2].counts.tolist(), strict=True)) == dict(
        expected
    )


@given(sentences=SENTENCES)
def test_continuation_counts_are_the_words_seen_before(sentences):
    counts = counted(sentences, 3)
    adjusted = continuation_counts(counts)
    trigrams = set(by_hand(sentences, 3))
    for gram, c in zip(spelled(counts, 2), adjusted[1], strict=True):
        before = {g[0] for g in trigrams if g[1:] == gram}
        assert c == (by_hand(sentences, 2)[gram] if gram[0] == START else len(before))
    assert adjusted[0][START] == 0
    np.testing.assert_array_equal(adjusted[2], counts.levels[2].counts)


@pytest.mark.parametrize("smoothing", ["modified-kneser-ney", "katz", "jelinek-mercer"])
def test_a_model_is_the_same_when_it_had_to_spill(smoothing):
    rng = np.random.default_rng(3)
    text = [" ".join(rng.choice(list("abcdefgh"), 12)) for _ in range(300)]
    one = NGramModel(4, smoothing=smoothing).fit(text)
    other = NGramModel(4, smoothing=smoothing, memory=1000).fit(text)
    for name in ("_words", "_children", "_probs", "_backoffs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))

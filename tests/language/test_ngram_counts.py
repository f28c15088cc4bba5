"""N-gram counts: a dictionary's, whatever the way they were counted."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.language import NGramModel
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


@given(sentences=SENTENCES, order=st.integers(1, 4), markers=st.booleans())
def test_spilling_changes_nothing(sentences, order, markers):
    parts = [corpus_of(sentences[:3]), corpus_of(sentences[3:])]
    spilled = count_spilled(parts, V, order, markers, memory=1)
    for a, b in zip(counted(sentences, order, markers).levels, spilled.levels, strict=True):
        for one, other in zip(a, b, strict=True):
            assert one.dtype == other.dtype == np.int32
            np.testing.assert_array_equal(one, other)


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

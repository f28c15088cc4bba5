"""The weight of words in the space of meaning."""

import numpy as np
import pytest
import scipy.sparse as sp

from tacit.core import DataError
from tacit.explore.stages.meaning import choose_power, word_weights


def documents(function_words, subject_words, seed, n=300):
    """Documents of forty subjects with twenty words each, and sixty function words."""
    rng, rows = np.random.default_rng(seed), np.zeros((n, 60 + 40 * 20), int)
    for i in range(n):
        np.add.at(rows[i], rng.integers(0, 60, function_words), 1)
        np.add.at(rows[i], 60 + 20 * (i % 40) + rng.integers(0, 20, subject_words), 1)
    spread = np.count_nonzero(rows, axis=0)
    used = (spread > 2) & (spread <= n / 2)
    return sp.csr_array(rows[:, used]), spread[used]


@pytest.mark.parametrize("seed", range(3))
def test_short_documents_of_mostly_function_words_get_the_squared_weight(seed):
    assert choose_power(*documents(20, 4, seed), 50, np.uint64(seed)) == 2


@pytest.mark.parametrize("seed", range(3))
def test_long_documents_about_their_subject_get_the_plain_weight(seed):
    assert choose_power(*documents(10, 100, seed), 50, np.uint64(seed)) == 1


def test_few_or_empty_documents_get_the_squared_weight():
    counts, spread = documents(20, 4, 0, n=20)
    assert choose_power(counts, spread, 5, np.uint64(0)) == 2
    nothing = sp.csr_array((50, 4), dtype=np.int32)
    assert choose_power(nothing, np.full(4, 3), 3, np.uint64(0)) == 2


@pytest.mark.parametrize("power", ["filename", None, -1, 10**9, 2.5, True, [2]])
def test_a_power_that_a_damaged_project_holds_is_refused(power):
    with pytest.raises(DataError, match="project is damaged: idf_power="):
        word_weights(np.array([1, 4]), 9, power)

"""The Penn Treebank, where published figures are known."""

import os
from pathlib import Path

import numpy as np
import pytest

from tacit.language import CacheModel, NGramModel, write_arpa

FOLDER = Path(os.environ.get("TACIT_DATA", "")) / "ptb"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (os.environ.get("TACIT_DATA") and FOLDER.exists()),
        reason="needs the Penn Treebank: set TACIT_DATA to a folder with ptb",
    ),
]


def part(name):
    return FOLDER / f"ptb.{name}.txt.gz"


@pytest.fixture(scope="module")
def model():
    return NGramModel(5).fit(part("train"))


def test_a_model_of_five_words_has_a_perplexity_of_141_2(model):
    found = model.perplexity(part("test"))
    assert found.oovs == found.zeroprobs == 0
    assert found.words + found.sentences == 82_430
    assert found.ppl <= 141.2


def test_a_byte_for_each_number_costs_less_than_half_a_percent(model):
    """KenLM's trie of 8 bits costs 0.3%."""
    exact = model.perplexity(part("test")).ppl
    assert model.quantized().perplexity(part("test")).ppl < 1.005 * exact


def test_backing_off_spends_all_of_its_probability_and_little_of_it_on_unknown_words():
    model = NGramModel(3, smoothing="backoff").fit(part("train"))
    places = [i for i, word in enumerate(model.words_) if word != "<s>"]
    for history in ("", "the", "of the", "no such words"):
        assert model.distribution(history)[places].sum() == pytest.approx(1, abs=1e-5)


def test_with_a_cache_it_is_at_most_126(model):
    cached = CacheModel(model).fit(part("valid"))
    assert cached.perplexity(part("test")).ppl <= 126


def test_kneser_ney_beats_the_other_smoothings(model):
    best = model.perplexity(part("test")).ppl
    for smoothing in ("absolute", "witten-bell", "katz", "jelinek-mercer"):
        other = NGramModel(3, smoothing=smoothing).fit(part("train"))
        assert best < other.perplexity(part("test")).ppl < 200


def test_scores_are_kenlms_on_the_same_file(model, tmp_path):
    kenlm = pytest.importorskip("kenlm")
    small = NGramModel(5, prune=(0, 0, 1)).fit(part("train"))
    path = str(tmp_path / "ptb.arpa")
    write_arpa(small, path)
    rival = kenlm.Model(path)
    from tacit.data import Documents

    text = list(Documents.open(part("test")).texts())
    expected = [rival.score(sentence) for sentence in text]
    np.testing.assert_allclose(small.score_sentences(text), expected, atol=2e-4, rtol=1e-6)

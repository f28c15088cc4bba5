"""What the notes say of Shakespeare's words and of the Wall Street Journal's perplexities."""

import os
from pathlib import Path

import numpy as np
import pytest

from tacit.datasets import load
from tacit.language import NGramModel
from tacit.text import CountVectorizer

FOLDER = Path(os.environ.get("TACIT_DATA", ""))
pytestmark = pytest.mark.skipif(
    not os.environ.get("TACIT_DATA"), reason="TACIT_DATA names no folder with data sets"
)


@pytest.fixture(scope="module")
def spoken():
    """Shakespeare's lines without the names of the speakers, which stand before a tab."""
    return [
        "\n".join(line.partition("\t")[2] for line in work.split("\n"))
        for work in load("shakespeare").documents
    ]


@pytest.fixture(scope="module")
def grams(spoken):
    """The counts of n-grams of one to four words in all works together."""
    found = {}
    for n in (1, 2, 4):
        counter = CountVectorizer(rule="words", ngram_range=(n, n))
        counts = counter.fit_transform(spoken)
        found[n] = np.asarray(counts.sum(axis=0)).ravel()
    return found


def test_shakespeare_has_as_many_words_as_in_the_notes(grams):
    """884,647 words and 29,066 of them different; this edition has a little less text."""
    assert grams[1].sum() == pytest.approx(884_647, rel=0.05)
    assert len(grams[1]) == pytest.approx(29_066, rel=0.05)


def test_nearly_all_bigrams_were_never_written(grams):
    """About 300,000 of 844 million: 99.96% are missing."""
    possible = len(grams[1]) ** 2
    assert possible == pytest.approx(844e6, rel=0.1)
    assert len(grams[2]) == pytest.approx(300_000, rel=0.15)
    assert round(100 * (1 - len(grams[2]) / possible), 2) == 99.96


def test_most_quadrigrams_do_not_repeat(grams):
    assert (grams[4] == 1).mean() > 0.9
    assert (grams[2] == 1).mean() < (grams[4] == 1).mean()


@pytest.fixture(scope="module")
def models(spoken):
    """Relative frequencies of orders one to four, over words without punctuation."""
    words = [" ".join(text.replace(",", " ").replace(".", " ").split()) for text in spoken]
    settings = {"smoothing": "mle", "markers": False, "lowercase": True}
    return {order: NGramModel(order, **settings).fit(words) for order in (1, 2, 3, 4)}, words


def test_longer_contexts_memorize_the_traitor_gloucester(models):
    """After "seek the traitor" comes "Gloucester", and nothing else."""
    odds = {}
    for order in (2, 3, 4):
        model = models[0][order]
        places = {word: i for i, word in enumerate(model.words_)}
        odds[order] = model.distribution("go seek the")[places["traitor"]]
        if order == 4:
            after = model.distribution("seek the traitor")
            assert after[places["gloucester"]] == pytest.approx(1, rel=1e-6)
    assert odds[2] < odds[3] < odds[4]
    assert odds[2] < 0.01
    assert odds[4] > 0.2


def test_text_of_quadrigrams_is_made_of_fragments_that_shakespeare_wrote(models):
    """Unigrams give word salad; runs of six words are quoted ever more often after that. The
    notes show one sample of each order; what is drawn here differs, so the runs are counted."""
    generators, texts = models
    whole = " ".join(texts).lower()
    quoted = {}
    for order, model in generators.items():
        words = model.generate(0, max_words=200).split()
        assert len(words) == 200
        runs = [" ".join(words[i : i + 6]) for i in range(0, 194, 3)]
        quoted[order] = np.mean([f" {run} " in whole for run in runs])
    assert quoted[1] == quoted[2] == 0
    assert quoted[3] < 0.2
    assert quoted[4] > 0.4


def test_perplexity_falls_from_unigrams_to_trigrams_on_the_wall_street_journal():
    """The notes have 962, 170 and 109 from 38 million words, with a vocabulary of 20,000. The
    Penn Treebank is a fortieth of that, with 10,000: bigrams and trigrams gain less."""
    train, test = (FOLDER / "ptb" / f"ptb.{part}.txt.gz" for part in ("train", "test"))
    found = [NGramModel(order).fit(train).perplexity(test).ppl for order in (1, 2, 3)]
    assert found[0] > 3 * found[1]
    assert found[1] > 1.2 * found[2]
    assert found[0] < 962
    assert found[1] > 170
    assert found[2] > 109

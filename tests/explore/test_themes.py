"""Themes: mixtures of topics, their words and verdicts, and the section of the report."""

import numpy as np
import pytest

import tacit
from tacit.explore.stages.stop_lists import stop_list
from tacit.explore.stages.themes import theme_words
from tests.explore.test_pipeline import TOPICS, letters


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    texts, topics = letters(240)
    both = [f"{texts[0]} {texts[1]}", "12 34 a", ""]
    home = tmp_path_factory.mktemp("themes") / "letters.tacit"
    made = tacit.explore([*texts, *both], effort="quick", topics=3, out=home,
                         stages=["groups", "themes"])  # fmt: skip
    return made, topics


def test_themes_are_the_topics_and_have_no_function_words(project):
    made, _ = project
    table = made.topics
    assert len(table) == 3
    assert table["size"].sum() == pytest.approx(1, abs=1e-3)
    assert list(table["verdict"]) == ["firm"] * 3
    found = [{topic for topic, own in TOPICS.items() for w in words if w in own}
             for words in table["words"]]  # fmt: skip
    assert sorted(map(sorted, found)) == [["bread"], ["sea"], ["stars"]]
    assert not {w for words in table["words"] for w in words} & stop_list("en")


def test_a_document_is_a_mixture(project):
    made, topics = project
    mix = made.mixtures
    main = mix[:240].argmax(axis=1)
    assert len({(t, m) for t, m in zip(topics, main, strict=True)}) == 3
    assert np.allclose(mix[:241].sum(axis=1), 1, atol=1e-4)
    assert np.sort(mix[240])[1] > 0.3  # about two things
    assert (mix[241:] == 0).all()
    assert made.documents["theme"].tolist()[241:] == [-1, -1]


def test_the_number_may_be_given_or_none():
    texts, _ = letters(60)
    off = tacit.explore(texts, effort="quick", topics="none", stages=["themes"])
    assert len(off.topics) == 0
    assert off.mixtures.shape == (60, 0)
    with pytest.raises(ValueError, match='must be "auto", "none" or a number'):
        tacit.explore(texts, topics="many")


def test_the_same_themes_on_any_number_of_threads(tmp_path):
    from tacit.core import Serial, Threads

    texts, _ = letters(60)
    found = [tacit.explore(texts, effort="quick", topics=3, stages=["themes"], engine=engine)
             .mixtures.tobytes() for engine in (Serial(), Threads(2))]  # fmt: skip
    assert found[0] == found[1]


def test_a_forged_probability_is_refused():
    theme = {"words": [["sea", 0.1, 0.01], ["ship", 0.1, -384]]}
    with pytest.raises(ValueError, match=r"math|positive"):
        theme_words(theme)

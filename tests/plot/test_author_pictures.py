"""Maps of texts and attributions along a text show what the model says."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from tacit.plot import author_map, rolling_attribution
from tacit.style import Authorship, rolling
from tests.style.test_authorship import AUTHORS, NEW, TEXTS, WORDS


@pytest.fixture(scope="module")
def model():
    return Authorship(WORDS[:5], block=300).fit(TEXTS, AUTHORS)


@pytest.fixture(autouse=True)
def no_figures():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_map_has_every_block_in_the_color_of_its_author(model):
    ax = author_map(model, title="$3 texts")
    assert legend(ax) == ["Ann: 15", "Bob: 15", "Cat: 15"]
    drawn = np.concatenate([dots.get_offsets() for dots in ax.collections])
    np.testing.assert_allclose(drawn, model.map().points[np.argsort(
        model.text_authors_[model.map().texts], kind="stable")])  # fmt: skip
    ax.figure.canvas.draw()


def test_a_few_unknown_texts_have_a_marker_each(model):
    ax = author_map(model, list(NEW.values()), names=["x", "y", "z"])
    assert legend(ax)[3:] == ["x: 3", "y: 3", "z: 3"]


def test_many_unknown_texts_are_named_beside_their_blocks(model):
    ax = author_map(model, TEXTS[:9], names=[f"no. {i}" for i in range(9)], words=0)
    assert legend(ax)[3:] == ["unknown: 27"]
    assert {f"no. {i}" for i in range(9)} <= {text.get_text() for text in ax.texts}


def test_equal_texts_can_be_drawn():
    model = Authorship(["the"]).fit(["the end"] * 2, ["Ann", "Bob"])
    author_map(model).figure.canvas.draw()


def test_the_rolling_picture_has_a_line_for_each_author(model):
    rolled = rolling(model, TEXTS[0] + " " + TEXTS[-1], window=300, step=60)
    ax = rolling_attribution(rolled, title="two hands")
    assert legend(ax) == ["Ann", "Bob", "Cat"]
    for j, line in enumerate(ax.get_lines()):
        np.testing.assert_array_equal(line.get_ydata(), rolled.distances[:, j])
    ax.figure.canvas.draw()

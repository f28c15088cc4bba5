"""The map of items, and the error against the rank."""

import pytest

from tacit.data import Ratings
from tacit.recommend import ALS, GlobalMean

pytest.importorskip("matplotlib").use("Agg")

from tacit.plot import item_map, rmse_by_rank  # noqa: E402

TRIPLES = [(u, i, 1 + (3 * u + 5 * i) % 5) for u in range(20) for i in range(12) if u % 12 != i]


def test_every_item_is_a_dot_and_names_do_not_cover_each_other():
    names = {i: f"film {i} with a very long name that goes on and on" for i in range(12)}
    ax = item_map(ALS(3, random_state=0).fit(TRIPLES), names, top=10, title="$films$")
    assert len(ax.collections[0].get_offsets()) == 10
    written = [text.get_text() for text in ax.texts if text.get_text().startswith("film")]
    assert written
    assert all(len(each) <= 28 for each in written)
    assert any("10 items" in text.get_text() for text in ax.texts)


def test_one_factor_and_one_item_can_be_drawn():
    assert item_map(ALS(1, random_state=0).fit([("a", "x", 1.0)])) is not None


def test_models_without_vectors_are_refused():
    with pytest.raises(ValueError, match="GlobalMean has none"):
        item_map(GlobalMean().fit(TRIPLES))
    with pytest.raises(ValueError, match="at least 1"):
        item_map(ALS(1).fit(TRIPLES), top=0)
    with pytest.raises(ValueError, match="ranks of at least 1"):
        rmse_by_rank(Ratings.of(TRIPLES), [], ALS)


def test_the_training_error_falls_with_the_rank():
    ax = rmse_by_rank(
        Ratings.of(TRIPLES), [1, 2, 16], lambda k: ALS(k, reg=0.01, random_state=0)
    )
    training = ax.lines[0].get_ydata()
    assert training[0] > training[-1]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "16"]

"""Pictures of components: biplot, error against rank, contact sheet."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib.pyplot as plt

from tacit import plot
from tacit.decompose import PCA


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


def rows():
    return np.random.default_rng(0).normal(size=(40, 3)) * [4, 2, 1]


def test_a_biplot_shows_rows_columns_and_labels():
    X = rows()
    model = PCA(3).fit(X)
    labels = np.repeat(["x", "y"], 20)
    ax = plot.biplot(model, X, names=["a", "b", "c"], labels=labels, axes=(1, 2))
    drawn = np.concatenate([each.get_offsets() for each in ax.collections])
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(model.transform(X)[:, 1]))
    assert "component 2" in ax.get_xlabel()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x: 20", "y: 20"]
    assert not plot.biplot(model, X, arrows=0).texts


def test_a_biplot_of_rows_without_variance():
    X = np.ones((5, 2))
    with pytest.warns(UserWarning, match="all rows are equal"):
        model = PCA(2).fit(X)
    assert plot.biplot(model, X) is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axes": (0, 3)}, "of which it has 3, counted from 0"),
        ({"names": ["a"]}, "3 names"),
        ({"labels": [1, 2]}, "40 labels"),
    ],
)
def test_a_biplot_refuses_what_does_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        plot.biplot(PCA(3).fit(rows()), rows(), **options)


def test_errors_against_rank():
    errors = PCA(3).fit(rows()).reconstruction_errors(relative=True)
    ax = plot.rank_error({"seen": errors, "new": errors * 1.1}, marks=[1])
    assert len(ax.lines) == 4
    assert ax.texts[0].get_text().startswith("rank 1: ")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["seen", "new"]
    for wrong, message in (([np.nan], "finite"), ([[1.0]], "one row"), ({}, "one curve")):
        with pytest.raises(ValueError, match=message):
            plot.rank_error(wrong)
    with pytest.raises(ValueError, match="ranks 0 to 3"):
        plot.rank_error(errors, marks=[9])


@pytest.mark.parametrize("scale", ["each", "signed", "shared"])
def test_a_contact_sheet_has_every_picture(scale):
    images = np.random.default_rng(0).normal(size=(7, 5, 4))
    images[3] = 0  # flat
    ax = plot.contact_sheet(images, columns=3, scale=scale, title="sheet")
    assert len(ax.images) == 7
    for each in ax.images:
        values = np.asarray(each.get_array())
        assert 0 <= values.min() <= values.max() <= 1
    if scale != "shared":
        assert (np.asarray(ax.images[3].get_array()) == 0.5).all()
    assert plot.contact_sheet(np.ones((1, 2, 2, 3))) is not None


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        (np.ones((2, 2)), {}, "shape"),
        (np.ones((0, 2, 2)), {}, "shape"),
        (np.full((1, 2, 2), np.inf), {}, "finite"),
        (np.ones((1, 2, 2)), {"captions": ["a", "b"]}, "1 captions"),
        (np.ones((1, 2, 2)), {"scale": "log"}, "scale='log'"),
    ],
)
def test_a_contact_sheet_refuses_what_is_no_picture(images, options, message):
    with pytest.raises(ValueError, match=message):
        plot.contact_sheet(images, **options)

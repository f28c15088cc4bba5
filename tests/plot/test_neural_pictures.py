"""Pictures of networks: images in grids, codes, losses."""

from types import SimpleNamespace

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from tacit import plot  # noqa: E402

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def page(ax):
    return np.asarray(ax.get_images()[0].get_array())


def test_samples_are_tiled_row_by_row():
    rows = np.arange(12.0).reshape(3, 4)
    image = page(plot.samples(rows, columns=2))
    np.testing.assert_array_equal(image[:2, :2], rows[0].reshape(2, 2))
    np.testing.assert_array_equal(image[:2, 3:], rows[1].reshape(2, 2))
    np.testing.assert_array_equal(image[3:, :2], rows[2].reshape(2, 2))
    assert len(page(plot.samples(np.zeros((300, 4)), columns=10))) == 10 * 3 - 1  # 100 of them


def test_filters_are_scaled_and_sorted_by_length():
    weights = np.array([[0.1, 0, 0, 0], [0, -5.0, 0, 0]])
    image = page(plot.filters(SimpleNamespace(components_=weights), columns=2))
    assert image[0, 1] == -1  # the longer one first
    assert image[0, 3] == 1
    assert page(plot.filters(SimpleNamespace(encoder_weights_=[weights.T]))).shape[0] == 2


def test_reconstructions_stand_below_their_originals():
    rows = RNG.random((5, 9))
    half = SimpleNamespace(reconstruct=lambda rows: np.clip(rows, 0.3, 0.6))
    ax = plot.reconstructions(half, rows, title="digits")
    image = page(ax)
    np.testing.assert_array_equal(image[:3, :3], rows[0].reshape(3, 3))
    np.testing.assert_array_equal(image[4:, :3], rows[0].clip(0.3, 0.6).reshape(3, 3))
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "original",
        "reconstruction",
    ]
    ax = plot.reconstructions(half, rows, noisy=rows, shape=(1, 9))
    assert len(ax.get_yticklabels()) == 3


def test_loss_curves_of_a_game_are_two():
    model = SimpleNamespace(losses_=[1.0, 2.0], generator_losses_=[3.0, 4.0])
    ax = plot.loss_curves(model)
    names = {line.get_label(): line.get_ydata().tolist() for line in ax.get_lines()}
    assert names == {"generator": [3.0, 4.0], "discriminator": [1.0, 2.0]}


def test_codes_of_many_columns_are_projected():
    ax = plot.codes(RNG.normal(size=(50, 5)), np.arange(50) % 3)
    assert len(ax.collections) == 3
    assert len(plot.codes(RNG.normal(size=(50, 2))).collections) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.samples(np.zeros((2, 6)), shape=(2, 2)), r"needs rows of 4 values"),
        (lambda: plot.samples(np.zeros(6)), "an image in each"),
        (lambda: plot.loss_curves(SimpleNamespace()), "Fit it first"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""The losses of linear classifiers: their values, and their picture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from tacit import plot  # noqa: E402
from tacit.plot.curve_picture import (  # noqa: E402
    LOSSES,
    hinge,
    logistic,
    perceptron,
    squared_hinge,
    zero_one,
)

margins = st.floats(-1e6, 1e6)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("margin", "wrong", "short", "bits"),
    [
        (-2.0, 1, 3, np.log2(1 + np.exp(2))),
        (-1.0, 1, 2, np.log2(1 + np.e)),
        (0.0, 1, 1, 1.0),
        (0.5, 0, 0.5, np.log2(1 + np.exp(-0.5))),
        (1.0, 0, 0, np.log2(1 + 1 / np.e)),
        (3.0, 0, 0, np.log2(1 + np.exp(-3))),
    ],
)
def test_losses_at_points(margin, wrong, short, bits):
    assert zero_one(margin) == wrong
    assert hinge(margin) == short
    assert squared_hinge(margin) == short**2
    assert perceptron(margin) == max(0, -margin)
    assert logistic(margin) == pytest.approx(bits, rel=1e-12)
    assert logistic(margin, base=np.e) == pytest.approx(bits * np.log(2), rel=1e-12)


@given(margins)
def test_hinge_and_logistic_are_never_below_zero_one(margin):
    assert hinge(margin) >= zero_one(margin)
    assert squared_hinge(margin) >= zero_one(margin)
    assert logistic(margin) >= zero_one(margin) * (1 - 1e-12)


@given(margins, margins, st.floats(0, 1))
def test_all_but_zero_one_are_convex(a, b, weight):
    between = weight * a + (1 - weight) * b
    for name in ("perceptron", "hinge", "squared hinge", "logistic"):
        loss = LOSSES[name]
        chord = weight * loss(a) + (1 - weight) * loss(b)
        assert loss(between) <= chord + 1e-9 * (1 + abs(chord))


def test_no_margin_overflows():
    with np.errstate(over="raise", invalid="raise"):
        assert logistic(-1e300) == pytest.approx(1e300 / np.log(2))
        assert logistic(700.0) >= 0


def test_the_picture_holds_the_curves_that_were_asked_for():
    ax = plot.losses(["zero-one", "hinge", "logistic"], low=-2, high=3)
    lines = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
    for name in ("zero-one", "hinge", "logistic"):
        x, y = lines[name].T
        np.testing.assert_array_equal(y, LOSSES[name](x))
        assert x[0] == -2
        assert x[-1] == 3
        assert y.max() <= ax.get_ylim()[1]
    assert ax.get_xlabel()
    assert ax.get_ylabel()


def test_the_step_of_zero_one_is_upright():
    (line,) = (x for x in plot.losses(["zero-one"]).get_lines() if x.get_label() == "zero-one")
    x, y = line.get_xydata().T
    drop = np.flatnonzero(np.diff(y))
    assert len(drop) == 1
    assert x[drop[0] + 1] - x[drop[0]] < 1e-12


def test_it_draws_into_given_axes():
    _, ax = plt.subplots()
    assert plot.losses(ax=ax) is ax


@pytest.mark.parametrize(
    ("names", "settings"),
    [
        (["huber"], {}),
        ([], {}),
        (["hinge"], {"low": 1, "high": 1}),
        (["hinge"], {"low": np.nan}),
    ],
)
def test_what_cannot_be_drawn_is_refused(names, settings):
    with pytest.raises(ValueError, match="losses"):
        plot.losses(names, **settings)

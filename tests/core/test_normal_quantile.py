"""The normal quantile against SciPy's."""

import numpy as np
from scipy import special

from tacit.core.randoms import normal_quantile


def test_normal_quantile_agrees_with_scipy_into_both_tails():
    tails = 2.0 ** -np.arange(2, 54)
    halves = np.concatenate([np.linspace(-0.49, 0.49, 999), tails - 0.5, 0.5 - tails])
    ours = np.array([normal_quantile(half) for half in halves])
    share = np.minimum(halves, -halves) + 0.5  # exact: the tail itself
    theirs = np.where(halves < 0, 1, -1) * special.ndtri(share)
    np.testing.assert_allclose(ours, theirs, rtol=3e-15, atol=1e-16)
    assert normal_quantile(0.0) == 0


def test_both_tails_mirror_each_other():
    halves = np.concatenate([np.linspace(0, 0.4999, 500), 0.5 - 2.0 ** -np.arange(2, 54)])
    for half in halves:
        assert normal_quantile(-half) == -normal_quantile(half)


def test_pieces_meet_without_a_step_back():
    """The three approximations join at shares of 0.075 and exp(-25)."""
    for seam in (0.425, 0.5 - np.exp(-25.0)):
        around = seam + np.arange(-50, 51) * 1e-13
        values = np.array([normal_quantile(half) for half in around])
        assert (np.diff(values) > -1e-14 * values[0]).all()

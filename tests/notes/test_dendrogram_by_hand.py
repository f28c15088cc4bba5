"""Five points and their table of distances, merged by hand."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from tacit.cluster import AgglomerativeClustering, linkage
from tacit.datasets.worked_examples import FIVE_DISTANCES as TABLE
from tacit.datasets.worked_examples import FIVE_POINTS as POINTS


def square(order=(1, 2, 3, 4, 5)):
    """The table as a matrix, with the points in the order given."""
    out = np.zeros((5, 5))
    for (i, j), value in TABLE.items():
        a, b = order.index(i), order.index(j)
        out[a, b] = out[b, a] = value
    return out


def merges(Z, order=(1, 2, 3, 4, 5)):
    """Which points each merge brings together, and how far apart they were."""
    members = [{i} for i in order]
    out = []
    for a, b, height, _ in Z:
        members.append(members[int(a)] | members[int(b)])
        out.append((sorted(members[-1]), height))
    return out


def test_the_table_is_of_these_points():
    np.testing.assert_allclose(squareform(pdist(POINTS)), square(), atol=0.005)


@pytest.mark.parametrize(
    ("method", "third", "last"),
    [
        ("single", 1.41, 2.24),
        ("complete", 2.00, 4.24),
        ("average", (2.00 + 1.41) / 2, (3.61 + 2.24 + 2.24 + 4.24 + 3.16 + 2.83) / 6),
    ],
)
def test_four_and_five_then_a_tied_pair_then_the_third_then_all(method, third, last):
    # 1-3 and 2-3 are equally close; the lower pair, 1-3, goes first.
    for Z in (linkage(square(), method, "precomputed"), linkage(POINTS, method)):
        found = merges(Z)
        assert [group for group, _ in found] == [[4, 5], [1, 3], [1, 2, 3], [1, 2, 3, 4, 5]]
        heights = [height for _, height in found]
        np.testing.assert_allclose(heights, [1.00, 1.41, third, last], atol=0.008)


@pytest.mark.parametrize("method", ["single", "complete", "average"])
def test_in_another_order_the_tie_goes_the_way_of_the_notes(method):
    order = (2, 3, 1, 4, 5)
    Z = linkage(square(order), method, "precomputed")
    groups = [group for group, _ in merges(Z, order)]
    assert groups == [[4, 5], [2, 3], [1, 2, 3], [1, 2, 3, 4, 5]]


def test_cut_in_two_the_points_fall_into_three_and_two():
    for method in ("single", "complete", "average", "ward"):
        labels = AgglomerativeClustering(2, linkage=method).fit(POINTS).labels_
        assert list(labels) == [0, 0, 0, 1, 1]

"""Pictures of clusters: that what is drawn is what was computed."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_samples

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402

from tacit import plot  # noqa: E402
from tacit.cluster import KMeans  # noqa: E402
from tacit.cluster.chosen_k import ChosenK, KRow  # noqa: E402
from tacit.plot.axes import PALETTE, cluster_colors  # noqa: E402
from tacit.plot.cluster_picture import choose_panels  # noqa: E402
from tacit.plot.curve_picture import knee_of  # noqa: E402
from tacit.plot.plane import plane_of  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def clouds(n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    middles = 9.0 * np.eye(3, d) if d > 2 else np.array([[0, 0], [9, 0], [0, 9.0]])[:, :d]
    return middles[np.arange(n) % 3] + rng.normal(size=(n, d))


def dots(ax):
    """Places and colors of the rows drawn."""
    scatters = [each for each in ax.collections if hasattr(each, "get_offsets")]
    scatters = [each for each in scatters if each.get_zorder() == 2]
    places = np.vstack([np.asarray(each.get_offsets()) for each in scatters])
    colors = [to_hex(each.get_facecolor()[0]) for each in scatters for _ in each.get_offsets()]
    return places, colors


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def notes(ax):
    return " ".join(text.get_text() for text in ax.texts)


# --- k-means, step by step ---


def test_every_iteration_has_a_panel_and_the_loss_falls():
    X = clouds()
    first = X[[0, 3, 6]]  # all three in one cloud: some way to go
    axes = plot.kmeans_steps(X, KMeans(3, init=first), max_panels=20)
    model = KMeans(3, init=first).fit(X)
    assert len(axes) == model.n_iter_ + 1 > 2
    titles = [ax.get_title(loc="left") for ax in axes]
    assert titles[0] == "first centers"
    assert titles[1] == "iteration 1"
    assert titles[-1] == f"iteration {model.n_iter_} (last)"
    losses = [float(ax.get_title(loc="right").removeprefix("loss ")) for ax in axes]
    np.testing.assert_allclose(losses, model.losses_, rtol=1e-3)


def test_centers_are_drawn_where_they_are_and_lead_on_from_where_they_were():
    X = clouds()
    first = X[[0, 3, 6]]
    axes = plot.kmeans_steps(X, KMeans(3, init=first))

    def centers(ax):
        marks = [line for line in ax.lines if line.get_marker() == "X"]
        return np.array([[*line.get_xdata(), *line.get_ydata()] for line in marks])

    np.testing.assert_allclose(centers(axes[0]), first)
    model = KMeans(3, init=first).fit(X)
    np.testing.assert_allclose(centers(axes[-1]), model.cluster_centers_, atol=1e-9)
    lines = [line for line in axes[1].lines if len(line.get_xdata()) > 1]
    paths = [np.asarray(line.get_xydata()) for line in lines]
    np.testing.assert_allclose([path[0] for path in paths], centers(axes[0]))
    np.testing.assert_allclose([path[1] for path in paths], centers(axes[1]))


def test_rows_have_the_color_of_the_nearest_center_in_all_columns():
    X = clouds(90, d=6)
    axes = plot.kmeans_steps(X, 3, random_state=0)
    model = KMeans(3, random_state=0).fit(X)
    places, colors = dots(axes[-1])
    points = plane_of(X).project(X)
    shades = [PALETTE[j].lower() for j in model.labels_]
    expected = {tuple(p): shade for p, shade in zip(points, shades, strict=True)}
    assert colors == [expected[tuple(place)] for place in places]


def test_long_runs_show_the_first_iterations_and_the_last():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    axes = plot.kmeans_steps(X, KMeans(6, init=X[:6]), max_panels=4)
    titles = [ax.get_title(loc="left") for ax in axes]
    assert titles[:3] == ["first centers", "iteration 1", "iteration 2"]
    assert titles[3].endswith("(last)")
    assert titles[3] != "iteration 3 (last)"


@given(st.integers(1, 60), st.integers(2, 12))
def test_panels_are_the_first_ones_and_the_last(n, most):
    shown = choose_panels(n, most)
    assert len(shown) == min(n, most)
    assert shown[0] == 0
    assert shown[-1] == n - 1
    assert shown == sorted({*shown})


def test_a_model_given_is_left_as_it_was():
    model = KMeans(2, n_init=4, random_state=1)
    plot.kmeans_steps(clouds(), model)
    assert model.n_init == 4
    assert model.callbacks is None
    assert not hasattr(model, "cluster_centers_")


def test_steps_are_drawn_into_given_axes():
    _, axes = plt.subplots(1, 3)
    drawn = plot.kmeans_steps(clouds(), 3, random_state=0, axes=axes)
    assert all(a is b for a, b in zip(drawn, axes, strict=False))
    assert 2 <= len(drawn) <= 3


@pytest.mark.parametrize("d", [1, 2, 5])
def test_rows_of_any_width_can_be_drawn(d):
    X = clouds(30, d=d)
    plot.kmeans_steps(X, 2, random_state=0)[0].figure.canvas.draw()
    plot.cluster_map(X, KMeans(2, random_state=0).fit_predict(X)).figure.canvas.draw()


def test_steps_refuse_what_is_no_kmeans():
    with pytest.raises(TypeError, match="not a str"):
        plot.kmeans_steps(clouds(), "three")
    with pytest.raises(ValueError, match="two panels"):
        plot.kmeans_steps(clouds(), 2, max_panels=1)
    with pytest.raises(ValueError, match="NaN"):
        plot.kmeans_steps(np.full((4, 2), np.nan), 2)


# --- Regions ---


def test_regions_are_what_the_model_predicts():
    X = clouds()
    model = KMeans(3, random_state=0).fit(X)
    ax = plot.decision_regions(model, X, resolution=40)
    (image,) = ax.images
    left, right, down, up = image.get_extent()
    across = left + (np.arange(40) + 0.5) * (right - left) / 40
    high = down + (np.arange(40) + 0.5) * (up - down) / 40
    labels = model.predict(np.array([[x, y] for y in high for x in across]))
    tints = image.get_array().reshape(-1, 3)
    kinds = {tuple(tint) for tint in tints.tolist()}
    assert len(kinds) == 3
    for j in range(3):
        assert len({tuple(tint) for tint in tints[labels == j].tolist()}) == 1
    places, colors = dots(ax)
    expected = [PALETTE[j].lower() for j in model.predict(places)]
    assert colors == expected
    assert legend(ax) == [f"cluster {j}: 20" for j in range(3)]


def test_rows_in_the_region_of_another_class_get_a_ring():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [8.0, 1.0], [9.0, 0.0]])

    def side(rows):
        return np.where(rows[:, 0] < 5, "left", "right")

    ax = plot.decision_regions(side, X, labels=["left", "right", "right", "right"])
    rings = [each for each in ax.collections if each.get_zorder() == 3]
    np.testing.assert_allclose(np.vstack([ring.get_offsets() for ring in rings]), [[1.0, 1.0]])
    assert "1 of 4 rows" in notes(ax)
    assert legend(ax) == ["left: 1", "right: 3"]


def test_regions_of_more_than_two_columns_point_to_the_map():
    with pytest.raises(ValueError, match=r"X has 4.*cluster_map"):
        plot.decision_regions(KMeans(2), clouds(d=4))
    with pytest.raises(TypeError, match="predict"):
        plot.decision_regions(3, clouds())
    with pytest.raises(ValueError, match="needs 60 labels, one per row, but got 3"):
        plot.decision_regions(lambda rows: np.zeros(len(rows), int), clouds(), labels=[1, 2, 3])


def test_one_region_is_a_picture_too():
    plot.decision_regions(KMeans(1).fit(clouds()), clouds()).figure.canvas.draw()


# --- The map ---


@pytest.mark.parametrize("shape", [(40, 6), (5, 30)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_plane_is_that_of_principal_components(shape, kind):
    X = np.random.default_rng(1).normal(size=shape) * np.arange(1, shape[1] + 1)
    plane = plane_of(kind(X))
    theirs = PCA(2, svd_solver="full").fit(X)
    assert plane.explained == pytest.approx(theirs.explained_variance_ratio_.sum())
    np.testing.assert_allclose(np.abs(plane.axes @ theirs.components_.T), np.eye(2), atol=1e-8)
    ours = plane.project(kind(X))
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs.transform(X)), atol=1e-8)


def test_the_plane_of_very_wide_sparse_rows_is_found_without_squaring_them():
    X = sp.random_array((210, 1300), density=0.05, rng=0, format="csr")
    X.data *= 1 + 20 * (X.indices == 7)
    plane = plane_of(X)
    theirs = PCA(2, svd_solver="full").fit(X.toarray())
    assert plane.explained == pytest.approx(theirs.explained_variance_ratio_.sum(), rel=1e-6)
    assert np.abs(plane.axes[0]).argmax() == 7


def test_rows_that_are_all_the_same_have_a_plane():
    for shape in ((4, 3), (3, 7)):
        plane = plane_of(np.ones(shape))
        assert np.isfinite(plane.axes).all()
        np.testing.assert_allclose(plane.project(np.ones(shape)), 0, atol=1e-12)
    plot.cluster_map(np.ones((4, 3)), [0, 0, 1, 1]).figure.canvas.draw()


def test_the_map_says_how_much_it_shows():
    X, y = load_iris(return_X_y=True)
    ax = plot.cluster_map(X, y, title="irises")
    assert "98% of the variance shown" in notes(ax)
    assert "of the rows lie in the region of their own cluster" in notes(ax)
    assert legend(ax) == ["cluster 0: 50", "cluster 1: 50", "cluster 2: 50"]
    assert ax.get_title(loc="left") == "irises"
    places, _ = dots(ax)
    assert len(places) == 150


def test_many_clusters_change_their_shape_where_colors_begin_again():
    X = np.arange(24.0).reshape(-1, 2)
    ax = plot.cluster_map(X, np.arange(12))
    dots = [each for each in ax.collections if each.get_zorder() == 2]
    looks = {
        (to_hex(each.get_facecolor()[0]), each.get_paths()[0].vertices.tobytes())
        for each in dots
    }
    assert len(looks) == 12
    assert plot.cluster_map(np.arange(30.0).reshape(-1, 1), np.arange(30)).get_legend() is None


def test_names_are_text_whatever_they_hold():
    ax = plot.cluster_map(clouds(4), ["$a^", "$a^", "$b", "$b"])
    ax.figure.canvas.draw()  # mathtext would raise on these
    assert legend(ax) == ["$a^: 2", "$b: 2"]
    with pytest.raises(ValueError, match="needs 2 names, one per cluster, but got 1"):
        plot.cluster_map(clouds(4), [0, 0, 1, 1], names=["one"])


# --- Silhouettes ---


def test_silhouettes_are_those_of_scikit_learn_sorted_within_clusters():
    X, y = load_iris(return_X_y=True)
    ax = plot.silhouette(X, y)
    theirs = silhouette_samples(X, y)
    assert len(ax.patches) == 3
    for j, patch in enumerate(ax.patches):
        drawn = patch.get_data().values
        np.testing.assert_allclose(drawn, np.sort(theirs[y == j])[::-1], atol=1e-9)
        assert to_hex(patch.get_facecolor()) == PALETTE[j].lower()
    assert f"mean {theirs.mean():.2f}" in notes(ax)
    assert f"{np.mean(theirs < 0):.1%} of the rows" in notes(ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0: 50", "1: 50", "2: 50"]


def test_known_silhouettes_need_no_rows():
    ax = plot.silhouette(None, ["a", "b", "b"], values=[0.0, 0.5, -0.25])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a: 1", "b: 2"]
    assert "33.3% of the rows" in notes(ax)
    with pytest.raises(ValueError, match="between -1 and 1"):
        plot.silhouette(None, [0, 1], values=[0.0, 1.5])


def test_large_clusters_are_drawn_by_evenly_spaced_rows():
    values = np.linspace(-1, 1, 9000)
    ax = plot.silhouette(None, np.arange(9000) % 2, values=values)
    for patch in ax.patches:
        assert len(patch.get_data().values) == 2000
        assert np.ptp(patch.get_data().edges) == 4500


# --- The scree ---


def test_the_knee_is_where_the_curve_bends():
    X = clouds(120)
    inertia = [KMeans(k, random_state=0, n_init=3).fit(X).inertia_ for k in range(1, 8)]
    ax = plot.scree(inertia)
    assert notes(ax) == "knee: 3"
    np.testing.assert_allclose(ax.lines[0].get_ydata(), inertia)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), np.arange(1, 8))


def test_the_choice_is_marked_beside_the_knee():
    values = [90.0, 40.0, 8.0, 6.0, 5.0]
    assert notes(plot.scree(values, best=4)) == "knee: 3 chosen: 4"
    assert notes(plot.scree(values, best=3)) == "knee, chosen: 3"
    assert notes(plot.scree(values, [2, 4, 8, 16, 32], knee=None, best=16)) == "chosen: 16"
    ax = plot.scree(values, null=[90.0, 70, 55, 40, 30])
    assert "no structure" in notes(ax)


def test_a_result_of_choose_k_brings_its_own_knee_and_choice():
    table = tuple(KRow(k, inertia, 0.0) for k, inertia in ((1, 90.0), (2, 40.0), (3, 8.0)))
    ax = plot.scree(ChosenK(3, table, ("because",), knee=2))
    assert notes(ax) == "knee: 2 chosen: 3"
    assert ax.get_ylabel() == "inertia"
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[1, 90], [2, 40], [3, 8]])
    assert notes(plot.scree(ChosenK(1, table[:1], ()))) == "chosen: 1"


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=12), st.integers(-20, 20))
def test_the_knee_does_not_depend_on_units(values, power):
    curve = np.sort(np.array(values).round(3))[::-1]
    ks = np.arange(2, 2 + len(curve))
    knee = knee_of(curve, ks)
    assert knee is None or knee in ks[1:-1]
    assert knee_of(curve * 2.0**power, ks) == knee


def test_flat_and_rising_curves_have_no_knee():
    for curve in ([3.0, 2.0, 1.0], [1.0, 1.0, 1.0], [1.0, 2.0, 9.0], [5.0], [5.0, 1.0]):
        assert knee_of(np.array(curve), np.arange(len(curve))) is None
        assert notes(plot.scree(curve)) == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"values": [1.0, 2.0], "ks": [1]}, "needs 2 ks, one per value, but got 1"),
        ({"values": [1.0, 2.0], "ks": [2, 1]}, "rise"),
        ({"values": [1.0, np.nan]}, r"values\[1\] is nan"),
        ({"values": []}, "one row"),
        ({"values": [1.0, 2.0], "best": 7}, "none of ks, 1 to 2"),
        ({"values": [1.0, 2.0], "knee": "here"}, "must be 'auto'"),
        ({"values": [1.0, 2.0], "null": [1.0]}, "needs 2 null values, one per k, but got 1"),
    ],
)
def test_a_scree_of_nonsense_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        plot.scree(**arguments)


# --- All of them ---


def test_pictures_are_drawn_into_given_axes():
    X, labels = clouds(), np.arange(60) % 3
    _, (a, b, c, d) = plt.subplots(1, 4)
    assert plot.cluster_map(X, labels, ax=a) is a
    assert plot.decision_regions(KMeans(3, random_state=0).fit(X), X, ax=b) is b
    assert plot.silhouette(X, labels, ax=c) is c
    assert plot.scree([3.0, 1.0, 0.5], ax=d) is d
    assert len(plt.get_fignums()) == 1


def test_colors_begin_again_and_are_never_missing():
    assert cluster_colors(11, PALETTE)[9] == cluster_colors(1, PALETTE)[0]
    assert cluster_colors(1, []) == cluster_colors(1, PALETTE)


def test_without_matplotlib_they_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'tacit-learn\[plot\]'"):
        plot.cluster_map(clouds(), np.arange(60) % 3)
    with pytest.raises(ImportError, match=r"pip install 'tacit-learn\[plot\]'"):
        plot.kmeans_steps(clouds(), 2)

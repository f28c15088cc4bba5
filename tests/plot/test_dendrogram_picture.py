"""The dendrogram: what is drawn, in which color, and that names never overlap."""

import itertools
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from tacit import plot  # noqa: E402
from tacit.cluster import cut, leaves, linkage  # noqa: E402
from tacit.plot.axes import NEUTRAL, PALETTE  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def tree(n, method="ward", seed=0):
    return linkage(np.random.default_rng(seed).normal(size=(n, 3)), method)


def leaf_texts(ax, orientation):
    axis = ax.yaxis if orientation in ("left", "right") else ax.xaxis
    side = "label2" if orientation in ("left", "bottom") else "label1"
    return [getattr(tick, side) for tick in axis.get_major_ticks()]


@pytest.mark.parametrize("orientation", ["top", "bottom", "left", "right"])
@pytest.mark.parametrize("n", [2, 10, 60, 200, 5000])
def test_names_never_overlap_and_can_be_read(n, orientation):
    ax = plot.dendrogram(
        tree(n), labels=[f"name {i}" for i in range(n)], orientation=orientation
    )
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in leaf_texts(ax, orientation)]
    assert boxes
    low = sorted(
        (b.y0, b.y1) if orientation in ("left", "right") else (b.x0, b.x1) for b in boxes
    )
    for (_, end), (start, _) in itertools.pairwise(low):
        assert end <= start + 0.5  # pixels
    assert all(text.get_fontsize() >= 5 for text in leaf_texts(ax, orientation))


def test_leaves_stand_in_the_order_of_the_tree():
    Z = tree(20)
    words = [f"w{i}" for i in range(20)]
    ax = plot.dendrogram(Z, labels=words, orientation="top")
    shown = [text.get_text() for text in leaf_texts(ax, "top")]
    assert shown == [words[i] for i in leaves(Z)]


def test_every_cluster_has_its_color_and_what_is_above_has_none():
    Z = tree(30)
    ax = plot.dendrogram(Z, cut=3)
    labels = cut(Z, k=3)
    (lines,) = ax.collections
    used = {matplotlib.colors.to_hex(c) for c in lines.get_colors()}
    assert used == {NEUTRAL.lower(), *(c.lower() for c in PALETTE[:3])}
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert entries == [f"cluster {c}: {np.sum(labels == c)}" for c in range(3)]


def test_a_height_cuts_where_it_says():
    Z = tree(30)
    height = float(Z[-3, 2] + Z[-4, 2]) / 2
    ax = plot.dendrogram(Z, cut=height)
    assert len(ax.get_legend().get_texts()) == len(set(cut(Z, height=height)))
    assert any(np.allclose(line.get_ydata(), height) for line in ax.lines)


def test_a_large_tree_says_that_it_is_shown_from_the_top():
    Z = tree(5000)
    ax = plot.dendrogram(Z, cut=6)
    notes = [text.get_text() for text in ax.texts]
    shown = len(leaf_texts(ax, "top"))
    assert f"5,000 leaves in {shown} groups" in notes[0]
    texts = [text.get_text() for text in leaf_texts(ax, "top")]
    counts = [int(text.strip("()").replace(",", "")) for text in texts if text[0] == "("]
    assert sum(counts) + (shown - len(counts)) == 5000
    untruncated = plot.dendrogram(Z, truncate=False)
    assert "too many for their names" in untruncated.texts[0].get_text()
    assert len(plot.dendrogram(Z, truncate=12).get_xticklabels()) == 12


def test_it_draws_into_given_axes_and_returns_them():
    figure, axes = plt.subplots(1, 2)
    assert plot.dendrogram(tree(12), ax=axes[1], title="twelve") is axes[1]
    assert axes[1].get_title(loc="left") == "twelve"
    assert not axes[0].collections
    assert len(plt.get_fignums()) == 1
    assert figure is axes[1].figure


def test_names_are_text_whatever_they_hold():
    names = ["$x^2$", "a\nb", "\x1b[31mred", "y" * 80, "_under", ""]
    ax = plot.dendrogram(tree(6), labels=names, orientation="left")
    ax.figure.canvas.draw()  # mathtext would raise on some of these
    shown = {text.get_text() for text in leaf_texts(ax, "left")}
    assert {"$x^2$", "a b", "[31mred", "_under"} <= shown
    assert max(map(len, shown)) == 32


def test_trees_that_fall_and_trees_of_ties_are_drawn():
    for method in ("centroid", "median"):
        plot.dendrogram(tree(40, method), cut=5).figure.canvas.draw()
    plot.dendrogram(linkage(np.ones((8, 2))), cut=3).figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="needs 5 labels, one per leaf, but got 3"):
        plot.dendrogram(tree(5), labels="abc")
    with pytest.raises(ValueError, match="orientation='up'"):
        plot.dendrogram(tree(5), orientation="up")
    with pytest.raises(TypeError, match="cut='2'"):
        plot.dendrogram(tree(5), cut="2")
    with pytest.raises(ValueError, match="at least two leaves"):
        plot.dendrogram(np.empty((0, 4)))


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'tacit-learn\[plot\]'"):
        plot.dendrogram(tree(5))

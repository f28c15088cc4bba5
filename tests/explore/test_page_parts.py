"""Texts cleaned for the page, colours for kinds, and the groups of other numbers."""

import re
from importlib import resources
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.explore.report import colors as page_colors
from tacit.explore.report.clean_text import OPENING, TITLE, clean_line, cut, title_and_opening
from tacit.explore.report.colors import LIGHT, SLOTS, assign_slots, color_distances, colors_css
from tacit.explore.report.map_view import make_map
from tacit.explore.report.report import tree_order
from tacit.explore.report.sections.words import slope
from tacit.explore.stages import groups


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_cleaned_text_is_one_line_without_controls_that_utf8_can_hold(text):
    cleaned = clean_line(text)
    cleaned.encode("utf-8")
    assert cleaned.isprintable() or not any(
        ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in cleaned
    )
    assert not {*cleaned} & {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028"}
    assert clean_line(cleaned) == cleaned
    title, opening = title_and_opening(text)
    assert len(title) <= TITLE
    assert len(opening) <= OPENING


# What turns a string into elements or code; in a page it would be a string of a document.
PARSES = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|setHTML|srcdoc|DOMParser|createContextualFragment"
    r"|document\s*\.\s*write|\beval\s*\(|\bnew\s+Function\b"
)


def test_no_script_of_the_page_parses_a_string_as_html_or_code():
    folder = resources.files("tacit.explore") / "web"
    scripts = {
        each.name: each.read_text() for each in folder.iterdir() if each.name[-3:] == ".js"
    }
    assert "dom.js" in scripts
    assert {
        name: PARSES.findall(text) for name, text in scripts.items() if PARSES.search(text)
    } == {}


def test_the_picture_of_a_map_is_xml_whatever_names_and_ids_hold():
    names, ids = {0: "sea\ufffe & <ship>"}, ["\uffff\ud800", "\x00\x1b[31m"]
    view = make_map(np.eye(2), np.zeros(2, int), names, ids, width=400, height=300)
    assert "sea & <ship>" in "".join(ElementTree.fromstring(view.svg).itertext())


@pytest.mark.parametrize(
    ("text", "title", "found"),
    [
        ("Subject line\n-----\nBody of it.", None, ("Subject line", "Body of it.")),
        ("Body of it.", "Given title", ("Given title", "Body of it.")),
        ("Body\nmore", "   ", ("Body", "more")),
        ("", None, ("", "")),
        ("Write to ann@example.org now", None, ("Write to [address] now", "")),
        (f"{'word ' * 30}\nend", None, (f"{'word ' * 17}word…", f"…{' word' * 12} end")),
    ],
)
def test_titles_come_from_a_column_or_the_first_line(text, title, found):
    assert title_and_opening(text, title) == found


def test_cuts_end_at_words_and_never_pass_the_limit():
    for most in range(5, 40):
        assert len(cut("some words of several lengths, supercalifragilistic", most)) <= most


def islands(kinds, seed=0, size=40):
    rng = np.random.default_rng(seed)
    centers = rng.random((kinds, 2))
    labels = np.repeat(np.arange(kinds), size)
    return np.clip(centers[labels] + rng.normal(0, 0.05, (len(labels), 2)), 0, 1), labels


@pytest.mark.parametrize("kinds", [1, 2, 5, 24, 40])
def test_every_kind_gets_a_slot_and_up_to_24_get_their_own(kinds):
    slots = assign_slots(*islands(kinds), kinds)
    assert len(slots) == kinds
    assert all(0 <= slot < SLOTS for slot in slots)
    assert len({*slots}) == min(kinds, SLOTS)
    assert slots == assign_slots(*islands(kinds), kinds)


def test_kinds_that_touch_differ_more_than_if_colours_were_dealt_in_order():
    apart = color_distances(LIGHT)[0]
    dealt, assigned = [], []
    for seed in range(5):
        points, labels = islands(12, seed)
        centers = np.array([points[labels == j].mean(axis=0) for j in range(12)])
        squares = ((centers[:, None] - centers[None]) ** 2).sum(axis=2) + 9 * np.eye(12)
        nearest = squares.argmin(axis=1)
        slots = np.array(assign_slots(points, labels, 12))
        assigned.append(apart[slots, slots[nearest]].mean())
        dealt.append(apart[np.arange(12), nearest].mean())
    assert np.mean(assigned) > np.mean(dealt)


def test_the_palette_has_no_two_colours_that_look_the_same():
    apart = color_distances(LIGHT).min(axis=0) + np.eye(SLOTS)
    assert apart.min() > 0.03
    assert apart[:12, :12].min() > 0.05


def luminance(color):
    coded = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("which", [0, 1], ids=["light", "dark"])
def test_text_and_points_stand_out_enough(which):
    page = {name: pair[which] for name, pair in page_colors.PAGE.items()}
    for ink in ("ink", "ink-2", "ink-3", "accent", "warn"):
        for ground in ("paper", "surface", "tint"):
            assert contrast(page[ink], page[ground]) >= 4.5, (ink, ground)
    labels = (page_colors.LABELS_LIGHT, page_colors.LABELS_DARK)[which]
    points = (page_colors.LIGHT, page_colors.DARK)[which]
    assert min(contrast(color, page["map"]) for color in labels) >= 4.5
    assert min(contrast(color, page["map"]) for color in points) >= 3 - 0.05


def test_the_style_sheet_gets_a_class_for_every_group():
    css = colors_css([3, 0], [10, 20])
    assert ".g0{--c:var(--p3)}.g1{--c:var(--p0)}" in css
    assert ".strip a.g1{flex-grow:20}" in css


def test_the_tree_is_told_by_the_order_of_its_leaves():
    tree = [[0.0, 2.0, 0.1, 2.0], [1.0, 3.0, 0.5, 3.0]]
    order, merges = tree_order(tree, 3)
    place = {leaf: i for i, leaf in enumerate(order)}
    assert sorted(order) == [0, 1, 2]
    assert merges[0][:2] == [place[0], place[2]]
    assert abs(place[0] - place[2]) == 1
    assert merges[1][1] == 3


def test_slopes_are_those_of_power_laws():
    curve = [[rank, round(10**6 / rank)] for rank in range(1, 400, 7)]
    assert slope(curve, 10) == pytest.approx(-1, abs=0.01)
    assert slope(curve[:3], 10) is None


def test_other_numbers_of_groups_are_there_for_every_number_that_was_weighed(topics):
    context = topics._context
    found, facts = context.arrays("what_if")["labels"], context.facts("what_if")
    weighed = [row["k"] for row in context.facts("groups")["choice"]["table"]]
    assert facts["ks"] == weighed[1:]
    for labels, k in zip(found, facts["ks"], strict=True):
        sizes = np.bincount(labels, minlength=k)
        assert len(sizes) == k
        assert (np.diff(sizes) <= 0).all()
    own = context.arrays("groups")
    three = found[facts["ks"].index(3)]
    assert len({*zip(three.tolist(), own["labels"].tolist(), strict=True)}) == 3


def test_the_next_best_group_of_a_document_is_never_its_own(topics):
    found = topics._context.arrays("groups")
    assert (found["second"] != found["labels"]).all()
    assert {*found["second"].tolist()} <= {0, 1, 2}


def test_numbers_of_groups_end_where_the_directions_do(explored):
    same = explored(  # red is in all of them, so it tells none apart
        "three", lambda: [f"{'red ' * (i + 1)}word{i % 3} blue{i % 3}" for i in range(45)]
    )
    assert same._context.facts("what_if")["ks"] == [2, 3]


def test_other_numbers_of_groups_of_many_documents_come_from_a_sample(topics, monkeypatch):
    monkeypatch.setattr(groups, "WHAT_IF_ROWS", 45)
    found = groups.group_otherwise(topics._context)
    three = found.arrays["labels"][found.facts["ks"].index(3)]
    own = topics._context.arrays("groups")["labels"]
    assert len({*zip(three.tolist(), own.tolist(), strict=True)}) == 3

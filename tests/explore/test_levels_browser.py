"""The levels of the tree of groups in a real browser."""

import pytest

from tests.explore.browsing import LOOKS, barriers, open_reports, texts
from tests.explore.test_group_tree import planted_texts

pytestmark = pytest.mark.slow
META = "JSON.parse(document.querySelector('#d-core').textContent).meta"


@pytest.fixture
def opened(chromium, explored):
    """Open the report of a planted hierarchy; at the end there were no faults."""
    with open_reports(chromium) as open_report:
        yield lambda: open_report(explored("levels", planted_texts))


def test_the_slider_switches_legend_and_map_by_keys(opened):
    page = opened()
    slider = page.locator("#lv")
    levels = page.evaluate(f"{META}.levels.map(level => level.length)")
    slider.focus()
    page.keyboard.press("Home")
    assert page.locator("#side .legend:not(.apart) li").count() == levels[0]
    assert slider.get_attribute("aria-valuetext").startswith(f"{levels[0]} groups")
    page.keyboard.press("End")
    assert page.locator("#side .legend:not(.apart) li").count() == levels[-1]
    assert page.locator("#lvo").inner_text().startswith(f"{levels[-1]} groups")


def test_the_list_of_groups_has_children_under_parents_and_leads_to_the_map(opened):
    page = opened()
    meta = page.evaluate(META)
    nodes, levels = meta["nodes"], meta["levels"]
    broad = levels[meta["broad"]]
    top = page.locator("#gtl > .gtree > li > .row > .nm")
    assert top.count() == len(broad)
    assert page.locator("#gtl .row.here").count() == len(levels[meta["level"]]) > len(broad)
    first = next(i for i, node in enumerate(nodes) if node["group"] == 0)
    while first not in broad:
        first = nodes[first]["up"]
    top.first.click()  # in the order of the table
    page.wait_for_selector("#side h3:has-text('documents')")
    assert f"{nodes[first]['n']} documents" in texts(page, "#side h3")[0]
    assert barriers(page, LOOKS[:2], parts=["#map", "#gtree"]) == []

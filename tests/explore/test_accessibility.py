"""What axe-core finds in the report: nothing. (The live page is looked at where it is used.)"""

import pytest

from tests.explore.browsing import LOOKS, barriers

pytestmark = pytest.mark.slow


def test_the_report_has_no_barriers_in_any_look(odd, chromium):
    page = chromium.new_page()
    page.goto(f"file://{odd.path / 'report.html'}")
    page.wait_for_selector('html[data-ready="1"]', state="attached")
    assert barriers(page) == []
    page.close()


def test_neither_selection_nor_drawer_of_a_hostile_collection_has_any(hostile, chromium):
    page = chromium.new_page()
    page.goto(f"file://{hostile.path / 'report.html'}")
    page.wait_for_selector('html[data-ready="1"]', state="attached")
    page.click("#side .legend button >> nth=0")
    page.click("#gd .docs button >> nth=0")
    assert barriers(page, LOOKS[:2], parts=["#side", "#drawer"]) == []
    page.close()

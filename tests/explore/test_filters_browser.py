"""Filters and the address that keeps them, in a real browser."""

import pytest

from tests.explore.browsing import LOOKS, barriers, open_reports, texts, until
from tests.explore.test_report_sections import diary

pytestmark = pytest.mark.slow

PASSING = "document.querySelector('#filters b').textContent"


@pytest.fixture
def opened(chromium, explored):
    """Open the report of letters with columns and dates; at the end there were no faults."""
    with open_reports(chromium) as open_report:
        yield lambda query="", **options: open_report(
            explored("years", diary), query, **options
        )


def passing(page):
    """How many documents pass the filters, and how many there are."""
    few, all_ = page.inner_text("#filters b").split(" of ")
    return int(few.replace(",", "")), int(all_.replace(",", ""))


def test_clicks_on_a_value_a_period_a_verdict_and_a_group_narrow_down_together(opened):
    page = opened()
    assert page.locator("#filters").is_hidden()
    page.click(".ft tbody th button:has-text('sea')")
    sea, everything = passing(page)
    assert texts(page, "#filters .chip") == ["topic: sea"]
    assert 0 < sea < everything
    sizes = [int(each.split()[0]) for each in texts(page, "#gt .szbar")]
    assert sum(sizes) == sea  # of every group those that pass
    period = page.locator(".periods button:not([aria-label$=': 0 documents'])").first
    year = period.get_attribute("aria-label").split(":")[0]
    period.click()
    both, _ = passing(page)
    assert 0 < both < sea
    assert texts(page, "#filters .chip") == ["topic: sea", f"Time: {year}"]
    bars = page.locator("#timechart rect.tb")
    heights = [float(bars.nth(i).get_attribute("height")) for i in range(12)]
    assert page.locator("#timechart rect.tw0").count() == 12
    assert max(heights) > 0
    page.click(".sidetabs [data-side=legend]")
    assert sum(int(each) for each in texts(page, "#side .legend:not(.apart) .n")) == both
    page.click(".strip-cap .key button >> nth=0")
    assert len(texts(page, "#filters .chip")) == 3
    assert passing(page)[0] <= both
    page.click("#filters .link:has-text('Clear all')")
    assert page.locator("#filters").is_hidden()
    assert page.locator("#timechart rect.tw0").count() == 0
    assert texts(page, "#side h3")[0].endswith("groups")


def test_a_filter_is_taken_back_by_its_chip_and_by_a_second_click(opened):
    page = opened()
    page.click(".ft tbody th button:has-text('sea')")
    page.click(".ft tbody th button:has-text('bread')")  # one value of a column at a time
    assert texts(page, "#filters .chip") == ["topic: bread"]
    page.click(".ft tbody th button:has-text('bread')")
    assert page.locator("#filters").is_hidden()
    page.fill("#q", "whale")
    page.wait_for_selector("#filters .chip:has-text('Search: “whale”')")
    page.click("#side .sidetabs [data-side=legend]")
    page.click("#side .legend button >> nth=0")
    assert len(texts(page, "#filters .chip")) == 2
    page.click("#filters .chip >> nth=0")
    assert page.input_value("#q") == ""
    assert len(texts(page, "#filters .chip")) == 1


def test_filters_are_for_the_keyboard_and_are_said(opened):
    page = opened()
    page.locator(".periods button").first.focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    until(page, "document.querySelector('#live').textContent.includes('1992')")
    said = page.inner_text("#live")
    assert said.startswith(f"{passing(page)[0]} documents of {passing(page)[1]} selected")
    until(page, "document.activeElement.getAttribute('aria-pressed') === 'true'")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Enter")
    assert texts(page, "#filters .chip") == ["Time: 1992 to 1993"]
    page.locator("#filters .chip").focus()
    page.keyboard.press("Enter")
    assert page.locator("#filters").is_hidden()
    assert page.evaluate("document.activeElement.id") == "gl"


def test_the_rows_of_filters_have_no_barriers(opened):
    page = opened()
    page.click(".ft tbody th button:has-text('sea')")
    page.locator(".periods button").nth(3).click()
    assert barriers(page, LOOKS[:2], parts=["#filters", "#side", "#time", "#fields"]) == []
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_link_opens_what_it_was_copied_from_and_back_takes_a_step_back(opened):
    page = opened()
    page.click(".ft tbody th button:has-text('sea')")
    one = passing(page)
    page.locator(".periods button").nth(3).click()
    two = passing(page)
    page.select_option("#color", "f0")
    page.click("#zin")
    until(page, "location.hash.includes('&at=')")
    hash_ = page.evaluate("location.hash")
    other = opened(hash_)
    assert passing(other) == two
    assert texts(other, "#filters .chip") == ["topic: sea", "Time: 1993"]
    assert other.input_value("#color") == "f0"
    assert other.evaluate("location.hash") == hash_
    page.go_back()
    until(page, "document.querySelector('#color').value === 'group'")
    page.go_back()
    until(page, f"{PASSING} === '{one[0]} of {one[1]}'")
    page.go_back()
    page.wait_for_selector("#filters", state="hidden")
    page.go_forward()
    page.wait_for_selector("#filters .chip:has-text('sea')")


def test_links_inside_the_page_keep_the_filters_in_the_address(opened):
    page = opened()
    page.click(".ft tbody th button:has-text('sea')")
    page.click(".bar nav a:has-text('Groups')")
    until(page, "location.hash.startsWith('#groups&f0=sea')")
    assert texts(page, "#filters .chip") == ["topic: sea"]


def test_searches_shapes_groups_and_levels_come_back(opened):
    page = opened()
    page.fill("#q", "whale")
    page.wait_for_selector("#filters .chip")
    page.click("#inview")
    page.wait_for_selector("#filters .chip >> nth=1")
    page.click("#gt tr[data-g='2'] button")
    until(page, "location.hash.includes('group=2')")
    other = opened(page.evaluate("location.hash"))
    assert passing(other) == passing(page)
    assert other.input_value("#q") == "whale"
    assert other.inner_text("#gd h3") == page.inner_text("#gd h3")


def test_an_address_of_a_stranger_does_no_harm(opened):
    page = opened(
        "#map&g=999&g=-1&n=1e9&f0=%3Cscript%3E&f77=x&t=9.99&v=constructor&q=%E0%A4%A&k=2.5"
        "&level=77&shape=1.1_x_2.2&at=NaN_1_2&docs=5.x.-1.99999&docsname=%3Cb%3E&group=x&theme=99"
    )
    assert texts(page, "#filters .chip") == ["<b>"]
    assert passing(page)[0] == 1

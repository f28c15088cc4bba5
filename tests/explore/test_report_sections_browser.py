"""Reading, columns and time in a real browser."""

from itertools import pairwise

import pytest

from tests.explore.browsing import open_reports, texts
from tests.explore.corpora import HOSTILE
from tests.explore.test_report_sections import diary

pytestmark = pytest.mark.slow


@pytest.fixture
def opened(chromium, explored):
    """Open the report of letters with columns and dates; at the end there were no faults."""
    with open_reports(chromium) as open_report:
        yield lambda query="", **options: open_report(
            explored("years", diary), query, **options
        )


def test_every_section_is_there_and_in_the_bar(opened):
    page = opened()
    nav = texts(page, ".bar nav a")
    assert nav[nav.index("Words") :] == [
        "Words", "Reading", "Fields", "Time", "Oddities", "Method"
    ]  # fmt: skip
    for section in ("reading", "fields", "time"):
        assert page.locator(f"#{section}").is_visible()


def test_reading_has_a_strip_for_every_group_and_measure(opened):
    page = opened()
    rows = page.locator(".rt tbody tr")
    groups = page.locator("#gt tbody tr[data-g]").count()
    assert rows.count() == 1 + groups
    assert texts(page, ".rt thead th")[1:3] == ["Words in a document", "Words in a sentence"]
    strips = page.locator(".rt tbody svg[role=img]")
    assert strips.count() >= 4 * (1 + groups)
    assert "half between" in strips.first.get_attribute("aria-label")


def test_columns_show_words_and_groups_and_lead_to_the_map(opened):
    page = opened()
    assert texts(page, "#fieldtabs button") == ["topic", "<i>bad</i>"]
    assert page.locator("#fieldtabs button").first.get_attribute("aria-pressed") == "true"
    assert set(texts(page, ".ft tbody th")) == {"sea", "bread", "stars"}
    assert "almost completely" in page.inner_text("#fieldsaid")
    groups = page.locator("#gt tbody tr[data-g]").count()
    assert page.locator(".ft tbody tr").first.locator(".cells i").count() == groups
    page.click(".ft tbody tr:has-text('sea') .fw button >> nth=0")
    assert page.input_value("#w") != ""
    page.click(".ft tbody th button:has-text('bread')")
    page.wait_for_selector("#side .sub:has-text('topic: bread')")
    page.click("#fieldtabs button >> nth=1")
    assert "nothing to do with" in page.inner_text("#fieldsaid")
    assert HOSTILE[0] in texts(page, ".ft tbody th")
    assert page.evaluate("window.hacked") is None


def test_time_has_bars_groups_and_words(opened):
    page = opened()
    assert page.locator("#timechart rect.tb").count() == 12
    assert page.locator("#timechart rect.ts").count() >= 12
    assert "1990 to 2001" in page.locator("#timechart svg").get_attribute("aria-label")
    assert page.locator("#rising .tw button").count() > 3
    assert page.locator("#falling .tw button").count() > 3
    assert "grows" in page.inner_text("#timegroups")
    page.hover("#timegroups button >> nth=0")
    assert page.locator("#timechart rect.ts.dim").count() > 0
    page.click("#rising .tw button >> nth=0")
    assert page.input_value("#w") == texts(page, "#rising .tw button")[0]


def test_the_map_can_be_coloured_by_language(opened):
    page = opened()
    options = page.locator("#color option").evaluate_all("all => all.map(o => o.textContent)")
    assert "Language (guessed)" in options
    page.select_option("#color", label="Language (guessed)")
    assert texts(page, "#side .legend .w") == ["English", "German"]
    assert "Guessed from the function words" in page.inner_text("#side")


@pytest.mark.parametrize("width", [320, 700, 1000])
def test_no_width_needs_scrolling_sideways(width, opened):
    page = opened("?theme=dark", viewport={"width": width, "height": 800})
    page.click("#fieldtabs button >> nth=1")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for section in ("reading", "fields", "time"):
        assert page.locator(f"#{section}").bounding_box()["width"] <= width


def test_headings_rise_by_one_and_controls_have_names(opened):
    page = opened()
    levels = page.evaluate(
        "[...document.querySelectorAll('main h1, main h2, main h3')].map(h => +h.tagName[1])"
    )
    assert all(b - a <= 1 for a, b in pairwise(levels))
    nameless = page.evaluate("""() => [...document.querySelectorAll(
        '#reading button, #fields button, #time button, #fields svg, #time svg[role=img]')]
        .filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.title))
        .length""")
    assert nameless == 0


def test_themes_open_move_with_the_slider_and_lead_to_the_map(opened):
    page = opened()
    first = page.locator("#tt .thw").first
    before = first.inner_text()
    page.locator("#lam").fill("100")
    assert first.inner_text() != before
    page.click("#tt .chev >> nth=0")
    detail = page.locator("#tt .dr").first
    assert detail.locator(".docs button").count() >= 1
    assert "Over time" in detail.inner_text()
    detail.locator(".btn:has-text('Show on the map')").click()
    assert "Theme: " in page.inner_text("#side")

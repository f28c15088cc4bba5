"""Pictures, paper, a page without scripts, the guide and sets of copies, in a browser."""

import io
import struct

import pytest

from tests.explore.browsing import LOOKS, barriers, open_reports, texts, until
from tests.explore.test_redact import texts_with_secrets

pytestmark = pytest.mark.slow
FORBID = "() => { navigator.clipboard.write = () => Promise.reject(new Error('no')); }"
ALLOW = """() => { navigator.clipboard.write = async items => {
  window.copied = (await items[0].getType('image/png')).size; }; }"""


@pytest.fixture
def opened(chromium, explored):
    with open_reports(chromium) as open_report:
        yield lambda query="", **options: open_report(
            explored("secrets", texts_with_secrets), query, **options
        )


def test_the_picture_goes_to_the_clipboard_or_into_a_file(opened):
    page = opened()
    page.evaluate(ALLOW)
    page.click("#picture")
    until(page, "window.copied > 20000")
    page.evaluate(FORBID)
    with page.expect_download() as waiting:
        page.click("#picture")
    assert waiting.value.suggested_filename == "map.png"
    head = waiting.value.path().read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    assert width == 3200
    assert 1800 < height < 2800
    until(page, "document.querySelector('#live').textContent.includes('map.png')")
    assert page.evaluate("document.documentElement.dataset.theme") is None  # as it was


def test_without_scripts_there_is_a_map_that_stands_still(chromium, explored):
    project = explored("secrets", texts_with_secrets)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{project.path / 'report.html'}")
    groups = len(project.clusters)
    assert page.locator(".still").is_visible()
    assert page.locator(".still path").count() == groups
    names = [name.split(" · ")[0].split(",")[0] for name in project.clusters["name"]]
    drawn = " ".join(page.locator(".still text").all_text_contents())
    assert any(name in drawn for name in names)
    assert page.locator(".mapgrid").is_hidden()
    assert page.locator(".tools").first.is_hidden()
    context.close()


def test_on_paper_every_group_has_a_page(opened, explored):
    page = opened()
    groups = len(explored("secrets", texts_with_secrets).clusters)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".pg").count() == groups
    style = "all => all.map(each => getComputedStyle(each).breakBefore)"
    breaks = page.locator(".pg").evaluate_all(style)
    assert set(breaks) == {"page"}
    assert page.locator(".pg h4:visible").count() >= 2 * groups
    assert page.locator(".pg .rowbtns:visible").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".pg").count() == 0


def test_on_paper_a_group_takes_one_page(opened, explored):
    reader = pytest.importorskip("pypdf", reason="pypdf is not installed").PdfReader
    page = opened()
    pages = [each.extract_text() for each in reader(io.BytesIO(page.pdf())).pages]
    groups = len(explored("secrets", texts_with_secrets).clusters)
    first = next(i for i, text in enumerate(pages) if text.startswith("Group 1 of"))
    for i in range(groups):
        assert pages[first + i].startswith(f"Group {i + 1} of {groups}")
    assert not pages[first + groups].startswith("Group")


def test_the_guide_shows_three_steps_does_them_and_stays_away(opened):
    page = opened()
    assert page.locator("#guide li").count() == 3
    page.click("#guide .link >> nth=0")
    page.wait_for_selector("#filters .chip")
    assert page.locator("#guide li.tried").count() == 1
    guide, stage = (page.locator(each).bounding_box() for each in ("#guide", "#stage"))
    assert guide["y"] + guide["height"] <= stage["y"]  # it covers no name on the map
    assert barriers(page, LOOKS[:2], parts=["#guide"]) == []
    page.locator("#guide .iconbtn").focus()
    page.keyboard.press("Enter")
    assert page.locator("#guide").is_hidden()
    page.reload()
    page.wait_for_selector('html[data-ready="1"]', state="attached")
    assert page.locator("#guide").is_hidden()


def test_copies_are_told_as_sets_and_can_be_set_aside(opened):
    page = opened()
    assert "5 documents share one text" in page.inner_text("#h-oddities")
    assert texts(page, "#duptabs button")[0] == "Sets of three or more 1"
    assert "5 documents\nshare this text, word for word" in page.inner_text("#dups")
    page.click("#dups .btn:has-text('Show them on the map')")
    assert page.inner_text("#side h3") == "5 documents"
    page.click("#filters .link:has-text('Clear')")
    page.click("#aside .btn")
    shown, every = map(int, page.inner_text("#filters b").split(" of "))
    assert every - shown == 4
    assert texts(page, "#filters .chip") == ["Without copies"]


def test_curves_and_vocabulary_are_one_part_that_folds(opened):
    page = opened()
    assert page.locator("#about").get_attribute("open") is not None
    assert page.locator("#about #zipf svg").is_visible()
    assert page.locator("#about #heaps svg").is_visible()
    page.click("#about summary")
    assert page.locator("#zipf svg").is_hidden()

"""The report in a real browser: opened from a file, every section used."""

import re
from itertools import pairwise

import pytest

from tacit.explore import Project
from tacit.explore.report import report as shown
from tests.explore.browsing import draw_around, open_reports, texts
from tests.explore.corpora import HOSTILE, letters

pytestmark = pytest.mark.slow

SECTIONS = ["map", "groups", "howmany", "words", "oddities", "method"]
NAMELESS = """() => [...document.querySelectorAll('button, input, select, a, canvas[tabindex]')]
  .filter(e => e.offsetParent !== null)
  .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.title
                 || (e.labels && e.labels.length)))
  .map(e => e.outerHTML.slice(0, 120))"""


@pytest.fixture
def opened(chromium):
    """Open the report of a project; at the end there were no errors, requests or dialogs."""
    with open_reports(chromium) as open_report:
        yield open_report


def points_drawn(page):
    """How many different colours the picture of the map has."""
    return page.evaluate("""() => {
      const c = document.createElement('canvas'), gl = document.querySelector('#ov');
      c.width = gl.width; c.height = gl.height;
      const x = c.getContext('2d'); x.drawImage(gl, 0, 0);
      const d = x.getImageData(0, 0, c.width, c.height).data, seen = new Set();
      for (let i = 0; i < d.length; i += 4) if (d[i + 3]) seen.add(d.slice(i, i + 3).join());
      return seen.size; }""")


def test_every_section_is_drawn(opened, topics):
    page = opened(topics)
    assert [page.locator(f"#{each}").is_visible() for each in SECTIONS] == [True] * 6
    assert page.locator("#gt tbody tr[data-g]").count() == 3
    assert page.locator("#side .legend button").count() == 3
    assert points_drawn(page) > 3  # the names of three groups
    for chart in ("#k1", "#k2", "#k3", "#zipf", "#heaps", "#alv", "#gt .dend", "#gt .st"):
        assert page.locator(f"{chart} svg path").count() > 0, chart
    assert page.locator("#nb .nbs button").count() == 8
    assert page.locator("#tl span").count() == 28
    assert texts(page, ".bar nav a") == [
        "Summary", "Map", "Groups", "Themes", "How many?", "Words", "Reading", "Fields",
        "Oddities", "Method",
    ]  # fmt: skip


def test_searching_selects_the_documents_with_the_word(opened, topics):
    page = opened(topics)
    holding = sum("whale" in text.split() for text in letters()[0])
    page.fill("#q", "whale")
    page.wait_for_selector("#side h3:has-text('matching')")
    assert texts(page, "#side h3") == [f"{holding} documents matching “whale”"]
    assert page.locator("#side .docs li").count() == min(25, holding)
    page.fill("#q", "nosuchword")
    page.wait_for_selector("#side h3:has-text('0 documents')")
    assert "“nosuchword” is in no document" in page.inner_text("#side")
    page.fill("#q", "whael")
    page.wait_for_selector("#side button.link:has-text('whale')")
    page.click("#side button.link:has-text('whale')")
    page.wait_for_selector(f"#side h3:has-text('{holding} documents matching “whale”')")
    words = letters()[0][0].split()
    phrase = f"{words[0]} {words[1]}"
    both = sum(f" {phrase} " in f" {text} " for text in letters()[0])
    page.fill("#q", f'"{phrase}"')
    page.wait_for_selector(f"#side h3:has-text('{both} document')")
    page.press("#q", "Escape")
    page.wait_for_selector("#side .legend")


def test_choosing_a_group_shows_its_detail_and_its_documents_on_the_map(opened, topics):
    page = opened(topics)
    for place in (0, 2, 1):
        button = page.locator(f'#gt tr[data-g="{place}"] button')
        name = button.locator("b").inner_text()
        button.click()
        assert page.inner_text("#gd h3").startswith(name)
        assert button.get_attribute("aria-expanded") == "true"
    assert page.locator("#gd .cw button").count() >= 3
    assert "Firm. In a typical repeat" in page.inner_text("#gd")
    assert "Most typical" in page.inner_text("#gd")
    assert "nearly" in page.inner_text("#gd")
    assert "100% / 0%" in page.inner_text("#gd")  # of one topic, and no other group is
    page.click("#gd .btn")
    page.wait_for_selector("#side h3:has-text('30 documents')")


def test_drawing_around_documents_selects_them(opened, topics):
    page = opened(topics)
    draw_around(page, [(0.02, 0.02), (0.98, 0.02), (0.98, 0.9), (0.02, 0.9), (0.02, 0.1)])
    assert int(re.match(r"\d+", page.inner_text("#side h3"))[0]) > 20


def test_a_document_opens_and_closes(opened, topics):
    page = opened(topics)
    page.click("#gd .docs button >> nth=0")
    assert page.locator("#drawer").is_visible()
    inside = page.inner_text("#drawer")
    for said in ("About this document", "Most similar documents", "It is in this group in"):
        assert said in inside
    assert page.locator("#drawer .docs li").count() == 6
    page.keyboard.press("Escape")
    assert not page.locator("#drawer").is_visible()


def test_other_numbers_of_groups_can_be_tried(opened, topics):
    page = opened(topics)
    slider = page.locator("#kr")
    slider.focus()
    slider.press("Home")
    assert page.inner_text("#ko") == "2 groups?"
    assert "2 groups: coarser" in page.inner_text("#verdict")
    slider.press("End")
    assert "finer" in page.inner_text("#verdict")
    page.click("#verdict .btn >> nth=0")
    page.wait_for_selector("#side h3:has-text('If there were')")
    page.click("#side .rowbtns .btn")
    page.wait_for_selector("#side h3:has-text('3 groups')")


def test_the_map_takes_other_colours(opened, topics):
    page = opened(topics)
    options = page.locator("#color option").evaluate_all("all => all.map(o => o.value)")
    assert options == ["group", "f0", "confidence", "length", "k"]
    page.select_option("#color", "f0")
    assert texts(page, "#side .legend .w") == ["bread", "sea", "stars"]
    page.click("#side .legend button >> nth=1")
    page.wait_for_selector("#side .sub:has-text('topic: sea')")
    page.click("#side .rowbtns .btn >> nth=0")
    for value in ("confidence", "length"):
        page.select_option("#color", value)
        assert page.locator("#side .ramp").count() == 1


def test_words_can_be_looked_up(opened, topics):
    page = opened(topics)
    page.fill("#w", "yeast")
    page.press("#w", "Enter")
    near = set(texts(page, "#nb .nbs button"))
    bread = {"flour", "oven", "dough", "crust", "loaf", "baker", "rye", "knead", "butter",
             "salt", "crumb"}  # fmt: skip
    assert near <= bread
    page.fill("#w", "zzz")
    page.press("#w", "Enter")
    assert "is not among" in page.inner_text("#sugs")
    page.fill("#w", "telesc")
    page.wait_for_selector("#sugs button:has-text('telescope')")


def test_the_keyboard_is_enough(opened, topics):
    page = opened(topics)
    page.locator("#gl").focus()
    for key in ("ArrowRight", "ArrowLeft", "+", "-", "0", "v"):
        page.keyboard.press(key)
    page.wait_for_selector("#side .sub:has-text('Everything in view')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#side .legend")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"


@pytest.mark.parametrize("name", ["hostile", "few"])
def test_controls_have_names_and_the_page_one_heading(name, opened, request):
    page = opened(request.getfixturevalue(name))
    assert page.evaluate(NAMELESS) == []
    assert page.locator("h1").count() == 1
    levels = page.evaluate(
        "[...document.querySelectorAll('main h1, main h2, main h3')].map(h => +h.tagName[1])"
    )
    assert all(b - a <= 1 for a, b in pairwise(levels))


@pytest.mark.parametrize("name", ["single", "few", "lone", "nothing", "blank"])
def test_small_collections_open_without_a_fault(name, opened, request):
    page = opened(request.getfixturevalue(name))
    assert page.locator("h1").inner_text() == name
    assert page.locator("#method").is_visible()
    assert page.locator("#gt").count() == 0
    if name == "single":
        page.click("#verdict .btn >> nth=0")
        page.wait_for_selector("#side h3:has-text('If there were')")
    if name == "few":
        assert page.locator("#pairs .pair").count() > 2


def test_a_vocabulary_that_does_not_grow_is_a_flat_line(opened, explored):
    page = opened(explored("flat", lambda: ["ship sea", "sea ship", "mast sail"] * 40))
    assert "(exponent 0.00)" in page.inner_text("#words")
    lines = [path.get_attribute("d") for path in page.locator("#heaps path.fit").all()]
    assert len(lines) == 1
    assert "NaN" not in lines[0]


@pytest.mark.parametrize("k", [2, 40])
def test_any_number_of_groups_can_be_asked_for(k, opened, explored):
    page = opened(explored(f"asked {k}", lambda: letters()[0], k=k))
    assert page.locator("#gt tbody tr[data-g]").count() == k
    assert page.locator(".strip a").count() == k
    said = f"You asked for {k} groups; the measures recommend 3"
    assert page.inner_text("#h-howmany") == said
    page.click(f"#gt tr[data-g='{k - 1}'] button")
    page.locator("#kr").press("End")
    assert page.locator("#alv svg path").count() > 2


def test_oddities_are_listed_and_open(opened, odd):
    page = opened(odd)
    assert page.inner_text("#h-oddities") == (
        "One pair of documents is the same, word for word; one is nearly the same"
    )
    assert texts(page, "#duptabs button") == ["Word for word 1", "Near copies 1"]
    page.click("#duptabs button >> nth=1")
    assert texts(page, "#dups mark") == []  # they differ past their openings
    assert "of four-word sequences in common" in page.inner_text("#dups")
    assert "empty" in page.inner_text("#empt")
    page.click("#dups button.d >> nth=0")
    assert page.inner_text("#dr-id") == "letter 6"


def test_a_hostile_collection_stays_text(opened, hostile):
    page = opened(hostile)
    page.select_option("#color", "f0")
    assert "<script>window.hacked = 1</script>" in texts(page, "#side .legend .w")
    page.fill("#q", "hacked")
    page.wait_for_selector("#side h3:has-text('matching')")
    shown = texts(page, "#side .docs b")
    assert HOSTILE[0] in shown
    page.click(f"#side .docs button:has-text('{HOSTILE[0][:20]}') >> nth=0")
    assert page.inner_text("#dr-t") == HOSTILE[0]
    page.keyboard.press("Escape")
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 5
    assert page.locator("img").count() == 1  # that of the map, for paper
    assert page.locator("main b:has-text('kind')").count() == 0


@pytest.mark.parametrize("width", [320, 760])
def test_no_width_needs_scrolling_sideways(width, opened, hostile):
    page = opened(hostile, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#gt tr[data-g='1'] button")
    assert page.locator("#gd").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_draws_without_webgl_in_the_dark_and_on_paper(opened, topics):
    page = opened(topics, "?renderer=2d&theme=dark")
    drawn = page.evaluate("""() => {
      const c = document.querySelector('#gl'), x = c.getContext('2d');
      const d = x.getImageData(0, 0, c.width, c.height).data;
      let drawn = 0;
      for (let i = 3; i < d.length; i += 4) drawn += d[i] > 0;
      return drawn; }""")
    assert drawn > 500
    back = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(back) == "rgb(22, 24, 27)"
    page.click("#theme")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.get_attribute("#printmap", "src").startswith("data:image/png")


def test_a_selection_is_saved_as_rows_that_no_sheet_computes(opened, hostile):
    page = opened(hostile)
    page.fill("#q", "cmd")
    page.wait_for_selector("#side h3:has-text('matching')")
    with page.expect_download() as waiting:
        page.click("#side .btn:has-text('Save CSV')")
    lines = waiting.value.path().read_bytes().decode("utf-8-sig").split("\r\n")
    assert lines[0] == "id,title,group,group_name,support"
    assert all("\"'=cmd" in line for line in lines[1:])
    assert len(lines) == 1 + 9


def test_without_scripts_the_summary_is_complete(chromium, topics):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{topics.path / 'report.html'}")
    words = page.inner_text("#top")
    assert "These 90 documents fall into three groups" in words
    assert "Scripts are off" in words
    context.close()


@pytest.mark.parametrize("most", [10**6, 50])
def test_a_large_collection_works_with_the_texts_of_a_sample(most, opened, topics, tmp_path,
                                                             monkeypatch):  # fmt: skip
    for name, value in (("MOST_TITLED", 40), ("SAMPLE", 30), ("MOST_PLACED", most)):
        monkeypatch.setattr(shown, name, value)
    small = Project.open(topics.path)
    small.path = tmp_path
    Project.open(topics.path).report(tmp_path / "report.html")
    page = opened(small)
    assert "drawn evenly from every group" in page.inner_text(".mapcap")
    assert points_drawn(page) > 3
    page.fill("#q", "whale")
    page.wait_for_selector("#side h3:has-text('matching')")
    found = int(re.search(r"(\d+) documents? matching", page.inner_text("#side h3"))[1])
    assert 10 <= found <= 29
    page.press("#q", "Escape")
    page.click("#side .legend button >> nth=0")
    page.wait_for_selector("#side .cw button")
    if most > 90:
        assert page.inner_text("#side h3") == "30 documents"
        page.click("#side .docs button:has-text('Document ') >> nth=0")
        assert "is not on this page" in page.inner_text("#drawer")

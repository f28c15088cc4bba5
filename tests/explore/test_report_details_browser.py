"""Details of the report that readers stumble over: labels, what is lit, said and announced."""

import pytest

from tests.explore.browsing import open_reports, texts, until
from tests.explore.test_report_sections import diary

pytestmark = pytest.mark.slow

PAINTED = """places => {
  const c = document.querySelector("#ov"), box = c.getBoundingClientRect();
  const r = c.width / box.width;
  const x = c.getContext('2d');
  let painted = 0;
  for (const place of places) for (const e of document.querySelectorAll(place)) {
    const b = e.getBoundingClientRect();
    const u = Math.max(b.left, box.left), v = Math.max(b.top, box.top);
    const w = Math.min(b.right, box.right) - u, h = Math.min(b.bottom, box.bottom) - v;
    if (w < 1 || h < 1) continue;
    const d = x.getImageData((u - box.left) * r, (v - box.top) * r, w * r, h * r).data;
    for (let i = 3; i < d.length; i += 4) painted += d[i] > 0;
  }
  return painted; }"""
OUTERMOST = """([u, v]) => {
  const c = document.querySelector("#ov"), box = c.getBoundingClientRect();
  const r = c.width / box.width;
  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  let best = -Infinity, at = null;
  for (let y = 0; y < c.height; y++) for (let x = 0; x < c.width; x++)
    if (d[4 * (y * c.width + x) + 3] && u * x + v * y > best) {
      best = u * x + v * y; at = [box.left + x / r, box.top + y / r];
    }
  return at; }"""
POINTS = """() => {
  const c = document.querySelector('#gl'), d = c.getContext('2d')
    .getImageData(0, 0, c.width, c.height).data;
  let hash = 0;
  for (let i = 0; i < d.length; i++) hash = (31 * hash + d[i]) | 0;
  return hash; }"""
CURRENT = "document.querySelector('.bar nav a[aria-current]').getAttribute('href')"


@pytest.fixture
def opened(chromium, explored):
    """Open the report of letters with columns and dates; at the end there were no faults."""
    with open_reports(chromium) as open_report:
        yield lambda query="", **options: open_report(
            explored("years", diary), query, **{"reduced_motion": "reduce", **options}
        )


@pytest.mark.parametrize("whole", [True, False])
def test_no_name_lies_under_a_control(whole, opened):
    page = opened(viewport={"width": 900, "height": 700})
    page.evaluate("document.querySelector('#stage').scrollIntoView({block: 'end'})")
    if whole:
        page.click("#zmax")
    stage = page.locator("#gl").bounding_box()
    middle = (stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2)
    for control, direction in ((".zoomer", (1, 1)), ("#color", (0, -1)))[: 1 + whole]:
        page.wait_for_timeout(100)
        name = page.evaluate(OUTERMOST, direction)  # is dragged to where the control is
        box = page.locator(control).bounding_box()
        to = (box["x"] + box["width"] / 2 - name[0], box["y"] + box["height"] / 2 - name[1])
        page.mouse.move(*middle)
        page.mouse.down()
        page.mouse.move(middle[0] + to[0], middle[1] + to[1], steps=3)
        page.mouse.up()
        page.mouse.move(1, 1)  # points at nothing
        page.wait_for_timeout(100)
        assert page.evaluate(PAINTED, [control]) == 0
        page.click("#zhome")
        page.wait_for_timeout(100)
        assert page.evaluate(PAINTED, ["#ov"]) > 0  # where there is room


def test_in_the_full_window_no_dot_lies_under_the_tools_and_a_picture_is_as_before(opened):
    page = opened("?renderer=2d", viewport={"width": 900, "height": 700})
    page.click("#zmax")
    page.wait_for_timeout(200)
    assert page.evaluate(PAINTED.replace("#ov", "#gl"), ["#map .tools"]) == 0
    assert page.evaluate(PAINTED.replace("#ov", "#gl"), ["#gl"]) > 0


def test_a_field_that_is_typed_in_is_not_covered_by_the_row_of_filters(opened):
    page = opened()
    page.evaluate(
        "() => { const top = document.querySelector('#q').getBoundingClientRect().top;"
        " scrollTo({top: top + scrollY - 60, behavior: 'instant'}); }"
    )
    page.click("#q")
    page.keyboard.type("ship")
    page.wait_for_selector("#filters .chip")
    field, bar = (page.locator(each).bounding_box() for each in ("#q", ".bar"))
    assert field["y"] >= bar["y"] + bar["height"]


def test_the_section_that_is_read_is_the_one_that_is_lit(opened):
    page = opened()
    ids = page.locator(".bar nav a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    for id in ids[:-1]:
        page.evaluate(
            "id => { const top = document.querySelector(id).getBoundingClientRect().top;"
            " scrollTo({top: top + scrollY - 60, behavior: 'instant'}); }", id,
        )  # fmt: skip
        until(page, f"{CURRENT} === '{id}'")
    page.evaluate("scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'})")
    until(page, f"{CURRENT} === '{ids[-1]}'")


def test_what_the_pointer_lights_goes_out_again(opened):
    page = opened("?renderer=2d")
    page.evaluate("document.querySelector('#stage').scrollIntoView({block: 'center'})")
    whole = page.evaluate(POINTS)
    first = page.locator("#side .legend button").first
    first.hover()
    until(page, f"({POINTS})() !== {whole}")
    page.mouse.move(2, 300)
    until(page, f"({POINTS})() === {whole}")
    first.hover()
    until(page, f"({POINTS})() !== {whole}")
    page.select_option("#color", "length")  # the legend under the pointer is another now
    page.select_option("#color", "group")
    page.mouse.move(2, 300)
    until(page, f"({POINTS})() === {whole}")
    first.click()
    page.mouse.move(2, 300)
    page.click("#side .btn:has-text('Clear')")
    page.mouse.move(2, 300)
    page.keyboard.press("Shift")
    page.wait_for_timeout(300)
    assert page.evaluate(POINTS) == whole


def test_the_view_is_announced_with_its_number(opened):
    page = opened()
    page.locator("#gl").focus()
    page.keyboard.press("+")
    page.keyboard.press("v")
    until(page, "document.querySelector('#live').textContent.includes('Everything in view')")
    page.wait_for_timeout(500)  # nothing else is announced after it
    said, shown = page.inner_text("#live"), page.inner_text("#filters b")
    assert said.split(" selected")[0] == shown.replace(" of ", " documents of ")


def test_one_agreement_is_said_in_the_same_words_everywhere(opened):
    page = opened()
    ways = ("almost completely", "well", "moderately", "slightly")
    (way,) = [w for w in ways if page.inner_text("#h-fields").split(",")[0].endswith(f" {w}")]
    assert f"follow the column “topic” {way} (" in page.inner_text("#top")
    assert f"follow this column {way}: " in page.inner_text("#fieldsaid")
    assert "Summary" in texts(page, ".bar nav a")


def test_no_word_of_the_page_depends_on_light_or_means_nothing(opened):
    page = opened("?theme=dark")
    said = page.locator("main").inner_text().lower()
    for odd in (
        "darker", "lighter", "paler", "pale dots", "at the middle", "with its like",
        "speak for", "standard deviation", "undefined", "nan", "null", "1 documents", "1 words",
    ):  # fmt: skip
        assert f" {odd} " not in f" {said} ".replace("\n", " "), odd

"""The live page in a real browser, with a real server: every panel used."""

import contextlib
import json
import re
import shutil

import pytest

from tests.explore.browsing import LOOKS, barriers, draw_around, served, texts, until, watch
from tests.explore.corpora import HOSTILE, hostile_table, letters, table
from tests.explore.test_report_sections import diary

pytestmark = pytest.mark.slow

LONG = 180_000  # milliseconds that a job may take, in a process that has to start first
REFUSED = "Failed to load resource"  # how the console tells of an answer that is a refusal
LIVE_PARTS = ["#find", "#compare", "#labels", "#divide", "#language", "#exports", "#side"]
TOPICS = dict(zip(letters()[1], letters()[0], strict=True))  # a letter of each topic


@pytest.fixture(scope="module")
def serve(explored, tmp_path_factory):
    """Serve a copy of a project, once; its address."""
    with contextlib.ExitStack() as running:
        known = {}

        def start(name, documents):
            if name not in known:
                home = tmp_path_factory.mktemp("served") / f"{name}.tacit"
                clean = name != "hostile"  # its markup has to reach the page
                shutil.copytree(explored(name, documents, clean=clean).path, home)
                known[name] = running.enter_context(served(home))
            return known[name]

        yield start


@pytest.fixture
def address(serve):
    return serve("topics", lambda: table(*letters()))


@pytest.fixture
def live(chromium, address):
    yield from pages(chromium, address)


@pytest.fixture
def hostile_live(chromium, serve):
    yield from pages(chromium, serve("hostile", hostile_table))


def pages(chromium, address):
    """Open the live page; at the end there were no errors, and nobody else was asked."""
    faults, opened, expected = [], [], []

    def open_page(refusals=False, **options):
        usual = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        page = chromium.new_page(**usual | options)
        opened.append(page)
        expected.append(refusals)
        watch(page, faults, address.partition("?")[0])
        page.goto(address)
        page.wait_for_selector('html[data-ready="1"]', state="attached")
        return page

    yield open_page
    for page in opened:
        page.close()
    if any(expected):
        faults = [each for each in faults if not each.startswith(REFUSED)]
    assert not faults


def search_for(page, words):
    page.fill("#fq", words)
    page.press("#fq", "Enter")
    for column in range(3):
        place = f"#found .way:nth-child({column + 1}) .answers"
        page.wait_for_selector(f"{place}:not([aria-busy]) > *")


def holding(word):
    return [text for text in letters()[0] if word in text.split()]


def test_three_ways_of_searching_stand_side_by_side_and_go_to_the_map(live):
    page = live()
    search_for(page, "whale AND NOT captain")
    expected = sum("captain" not in text.split() for text in holding("whale"))
    assert texts(page, "#found h3") == ["Boolean", "Ranked", "By meaning"]
    assert texts(page, "#found .total")[0] == str(expected)
    assert set(texts(page, "#found .way:nth-child(1) mark")) == {"whale"}
    search_for(page, "whale")
    ways = page.locator("#found .way")
    assert [ways.nth(i).locator(".docs li").count() for i in range(3)] == [10, 10, 10]
    ways.nth(0).locator("button.link").click()
    page.wait_for_selector("#found .way:nth-child(1) .docs li:nth-child(11)")
    ways.nth(0).get_by_role("button", name="Show on the map").click()
    page.wait_for_selector("#side .sub:has-text('“whale”, boolean')")
    assert page.inner_text("#side h3") == f"{len(holding('whale'))} documents"
    assert page.evaluate("document.activeElement.id") == "side"
    page.fill("#fq", "nosuchword")
    page.press("#fq", "Enter")
    page.wait_for_selector("#found .state:has-text('No document fits')")


def test_a_question_that_cannot_be_read_is_answered_in_words(live):
    page = live(refusals=True)
    search_for(page, "whale AND (")
    said = page.inner_text("#found .way:nth-child(1) .fault")
    assert len(said) > 20
    assert page.locator("#found .way:nth-child(2) .docs li").count() == 10
    page.wait_for_selector(f"#live:text-is('{said}')", state="attached")


def test_the_drawer_holds_the_whole_text_and_documents_like_it(live):
    page = live()
    search_for(page, "telescope")
    page.click("#found .way:nth-child(2) .docs button >> nth=0")
    page.wait_for_selector("#dr-ex.whole")
    whole = page.locator("#dr-ex").inner_text()
    assert whole in letters()[0]
    assert set(texts(page, "#dr-ex mark")) == {"telescope"}
    page.wait_for_selector("#dr-near .docs li:nth-child(10)")
    first = page.inner_text("#dr-id")
    page.click("#dr-near .docs button >> nth=0")
    page.wait_for_selector("#dr-near .docs li:nth-child(10)")
    assert page.inner_text("#dr-id") != first
    page.wait_for_selector("#dr-ex.whole")
    page.click("#dr-near .btn:has-text('Show them on the map')")
    page.wait_for_selector("#side h3:has-text('11 documents')")
    assert not page.locator("#drawer").is_visible()


def test_a_word_is_shown_in_context_from_its_button_and_sorted(live):
    page = live()
    uses = sum(text.split().count("whale") for text in letters()[0])
    page.fill("#w", "whale")
    page.press("#w", "Enter")
    page.click("#nb .btn:has-text('In context')")
    page.wait_for_selector(".kwic tbody tr:nth-child(50)")
    assert page.inner_text("#lines .note").startswith(f"{uses} uses in")
    page.click("#csort button:has-text('After')")
    page.wait_for_selector("#lines:not([aria-busy]) .kwic tbody tr")
    after = page.locator(".kwic td.r").evaluate_all("all => all.map(c => c.full)")
    assert [a.split() for a in after] == sorted(a.split() for a in after)
    assert set(texts(page, ".kwic td.k")) == {"whale"}
    middles = page.locator(".kwic td.k button").evaluate_all(
        "all => [...new Set(all.map(b => Math.round(b.getBoundingClientRect().left)))]"
    )
    assert len(middles) == 1  # they stand under each other
    page.click("#lines .link")
    page.wait_for_selector(".kwic tbody tr:nth-child(51)")
    page.click(".kwic td.k button >> nth=3")
    page.wait_for_selector("#dr-ex mark:has-text('whale')")


def test_lines_in_context_end_at_words_at_any_width(live):
    page = live()
    for width in (1280, 700):
        page.set_viewport_size({"width": width, "height": 800})
        page.fill("#cq", "the")
        page.click("#cf .go")
        page.wait_for_selector(".kwic td.r")
        page.wait_for_timeout(300)
        cells = page.locator(".kwic td.l, .kwic td.r").evaluate_all(
            "all => all.map(c => [c.className, c.firstChild.textContent, c.full,"
            " c.firstChild.scrollWidth <= c.clientWidth])"
        )
        assert all(fits for *_, fits in cells)
        for side, shown, line, _ in cells:
            assert (line.endswith if side == "l" else line.startswith)(shown)
            assert not shown or {*shown.split()} <= {*line.split()}
    assert any(len(shown) < len(line) for _, shown, line, _ in cells)


def test_frequent_words_of_a_project_without_groups_stand_close(chromium, serve):
    address = serve("bare", lambda: ["ship sea", "sea ship", "mast"] * 12)
    for page_of in pages(chromium, address):
        page = page_of()
        tops = page.locator("#topwords").evaluate(
            "list => [getComputedStyle(list).display, getComputedStyle(list).columnCount]"
        )
        assert tops == ["block", "2"]


def test_two_selections_are_compared_in_both_directions(live):
    page = live()
    page.click("#gd .btn:has-text('Set as A')")
    name = page.inner_text("#gd h3")
    search_for(page, "telescope OR galaxy OR flour OR yeast")
    page.wait_for_selector("#contrast .state:has-text('Choose B')")
    page.select_option("#pickB", label="Everything else")
    page.wait_for_selector("#contrast .two")
    assert page.inner_text("#ab .abside:nth-child(1) b") == name
    ours, theirs = (texts(page, f"#contrast .two > :nth-child({i}) button") for i in (1, 2))
    own = next(set(text.split()) for text in TOPICS.values() if ours[0] in text.split())
    assert len(set(ours[:6]) & own) >= 4
    assert theirs
    assert not set(ours) & set(theirs)
    page.click("#ab .btn:has-text('Swap')")
    page.wait_for_selector(f"#contrast .two > :nth-child(2) button:text-is('{ours[0]}')")
    page.click("#found .way:nth-child(1) .btn:has-text('Set as A')")
    page.wait_for_selector("#ab .abside:nth-child(1) b:has-text('boolean')")


def test_labels_are_given_taken_back_and_spread(live):
    page = live()
    page.wait_for_selector("#labellist .state")
    draw_around(page, [(0.01, 0.01), (0.99, 0.01), (0.99, 0.5), (0.01, 0.5), (0.01, 0.05)])
    page.fill("#side .labelbox input", "by mistake")
    page.press("#side .labelbox input", "Enter")
    page.wait_for_selector("#labellist b:has-text('by mistake')")
    page.click("#side .labelbox .link:has-text('Undo')")
    page.wait_for_selector("#labellist .state:has-text('Draw around')")
    page.click("#side .btn:has-text('Clear')")
    for place, name in ((0, "first kind"), (1, "second kind")):
        page.click(f"#side .legend button >> nth={place}")
        page.fill("#side .labelbox input", name)
        page.click("#side .labelbox .btn")
        page.wait_for_selector(f"#labellist b:has-text('{name}')")
        assert f"30 of 30 have a label: {name} 30." in page.inner_text("#side .labelbox")
        page.click("#side .btn:has-text('Clear')")
    assert page.inner_text("#h-labels") == "60 documents carry one of 2 labels"
    page.click("#labellist .btn:has-text('Color the map')")
    assert texts(page, "#side .legend .w")[:2] == ["first kind", "second kind"]
    assert texts(page, "#side .legend .n") == ["30", "30", "30"]
    page.click("#spreadbox .go")
    page.wait_for_selector("#spreadbox .job, #spreadbox .cw")
    page.wait_for_selector("#spreadbox .cw", timeout=60_000)
    said = page.inner_text("#spreadbox")
    assert re.search(r"it was right in \d+% of 60 \(likely between", said)
    assert "30 documents are like none of those you labeled" in said  # the third kind
    page.click("#spreadbox .btn:has-text('Color the map')")
    counts = texts(page, "#side .legend .n")
    assert sum(map(int, counts)) == 90
    page.locator("#next .docs button").first.click()
    page.wait_for_selector("#drawer .labelbox .chip:has-text('first kind')")
    page.click("#drawer .labelbox .chip:has-text('first kind')")
    page.wait_for_selector("#drawer .chip[aria-pressed=true]")
    page.wait_for_selector("#h-labels:has-text('61 documents')")


def test_a_page_of_an_older_run_labels_nothing(live):
    page = live()
    page.click("#side .legend button >> nth=0")
    page.route("**/api/project", lambda route: route.fulfill(json={"run": "another"}))
    held = "fetch('/api/labels').then(answer => answer.json())"  # the page may still load them
    before = page.evaluate(held)
    page.fill("#side .labelbox input", "too late")
    page.press("#side .labelbox input", "Enter")
    page.wait_for_selector("#toast.on:has-text('Load it again')")
    assert page.evaluate(held) == before
    assert "too late" not in page.inner_text("#labellist")


def test_any_word_has_neighbours_and_a_slip_is_noticed(live):
    page = live()
    page.fill("#w", "telescop")
    page.press("#w", "Enter")
    page.click("#sugs button:has-text('telescope')")
    page.wait_for_selector("#nb .nbs button")
    page.fill("#w", "the")  # in most documents, so that no neighbors came along
    page.press("#w", "Enter")
    page.wait_for_selector("#nb .note:has-text('“the” is in')")
    assert "to compare it by" in page.inner_text("#nb")


def test_the_collection_goes_on_in_its_own_words(live):
    page = live()
    page.fill("#lq", "the")
    page.wait_for_selector("#chips[data-after='the'] .chip")  # not those for an empty field
    word = page.inner_text("#chips .chip .txt >> nth=0")
    page.click("#chips .chip >> nth=0")
    assert page.input_value("#lq") == f"the {word}"
    page.fill("#ls", "7")
    page.press("#lq", "Enter")
    page.wait_for_selector(".written")
    first = page.inner_text(".written")
    assert first.startswith(f"the {word}")
    assert len(first.split()) > 20
    page.click("#written .btn")
    page.wait_for_selector("#written .note:has-text('seed 8')")
    assert page.inner_text(".written") != first
    page.fill("#ls", "7")
    page.press("#lq", "Enter")
    page.wait_for_selector("#written .note:has-text('seed 7')")
    assert page.inner_text(".written") == first


def test_everything_can_be_exported(live):
    page = live()
    page.click("#exports summary")
    names = page.locator("#exportlist a").evaluate_all("all => all.map(a => a.download)")
    assert len(names) == 8
    for name in names:
        with page.expect_download() as waiting:
            page.click(f"#exportlist a[download='{name}']")
        path = waiting.value.path()
        assert waiting.value.suggested_filename == name
        assert path.stat().st_size > 20, name
        if name == "documents.json":
            assert len(json.loads(path.read_bytes())) == 90
    page.keyboard.press("Escape")
    assert not page.locator("#exportlist").is_visible()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_dividing_anew_can_be_cancelled_and_its_result_is_loaded(live):
    page = live()
    page.fill("#dk", "2")
    page.click("#df .go")
    page.wait_for_selector("#dividejob .job")
    page.click("#dividejob .btn:has-text('Cancel')")
    page.wait_for_selector("#dividejob .fault:has-text('Cancelled')")
    assert page.locator("#gt tbody tr[data-g]").count() == 3
    page.fill("#dk", "2")
    page.click("#df .go")
    page.wait_for_selector("#gt tbody tr[data-g='1']:last-child", timeout=60_000)
    page.wait_for_selector('html[data-ready="1"]', state="attached")
    assert page.locator("#gt tbody tr[data-g]").count() == 2
    assert page.inner_text("#dividejob") == "The documents were explored again."


def test_groups_are_merged_and_taken_apart_again_on_the_page(chromium, serve):
    for live in pages(chromium, serve("years", diary)):
        page = live()
        idle = """fetch('/api/jobs').then(answer => answer.json())
                  .then(all => all.every(job => job.state !== 'running'))"""
        until(page, idle)  # the server has prepared what it answers from
        before = page.locator("#gt tr[data-g]").count()
        last = f"#gt tr[data-g='{before - 1}']"
        page.click("#gd .btn:has-text('Merge…')")
        page.click("#gd .grpedit .btn:has-text('Merge')")
        for _ in range(180):
            if not page.locator(last).count():
                break
            said = texts(page, ".grpjob .fault")
            assert not said, said
            page.wait_for_timeout(1000)
        page.wait_for_selector('html[data-ready="1"]', state="attached")
        assert page.locator("#gt tr[data-g]").count() == before - 1
        assert "1 merge by hand" in page.inner_text("#top")
        page.click("#gd .btn:has-text('Undo the last edit')")
        page.wait_for_selector(last, state="attached", timeout=LONG)


def test_what_cannot_be_answered_yet_or_at_all_is_said(live):
    page = live(refusals=True)
    waits = [True, True]

    def not_yet(route):
        if waits:
            waits.pop()
            reply = {"error": "Indexing is not done yet. Ask again in a moment."}
            route.fulfill(status=503, json=reply)
        else:
            route.continue_()

    page.route("**/api/search?*boolean*", not_yet)
    page.route("**/api/search?*ranked*", lambda route: route.abort())
    page.route("**/api/search?*meaning*", lambda route: route.fulfill(status=401, json={}))
    page.fill("#fq", "whale")
    page.press("#fq", "Enter")
    page.wait_for_selector("#found .wait:has-text('not done yet')")
    assert page.inner_text("#found .way:nth-child(2) .fault").startswith("The server does not")
    assert "Open the address" in page.inner_text("#found .way:nth-child(3) .fault")
    page.wait_for_selector("#found .way:nth-child(1) .docs li")


def test_while_the_server_prepares_every_answer_says_so(live):
    page = live()
    page.evaluate("document.querySelector('#preparing').setAttribute('aria-busy', 'true')")
    held = []
    page.route("**/api/search?*", lambda route: held.append(route))  # takes its time
    page.fill("#fq", "whale")
    page.press("#fq", "Enter")
    page.wait_for_selector("#found .way:nth-child(3) .wait")
    assert {each.split(",")[0] for each in texts(page, "#found .wait")} == {
        "The server is still preparing this"
    }
    for route in held:
        route.continue_()
    page.wait_for_selector("#found .way:nth-child(1) .docs li")


def test_the_page_has_no_barriers_in_any_look(live):
    page = live()
    search_for(page, "whale")
    page.fill("#cq", "whale")
    page.press("#cq", "Enter")
    page.wait_for_selector(".kwic tr:nth-child(9)")
    page.select_option("#pickA", index=1)
    page.select_option("#pickB", index=2)
    page.wait_for_selector("#contrast .cw")
    page.fill("#lq", "the")
    page.wait_for_selector("#chips .chip")
    page.press("#lq", "Enter")
    page.wait_for_selector(".written")
    page.click("#side .legend button >> nth=0")
    page.wait_for_selector("#side .labelbox")
    page.click("#exports summary")
    assert barriers(page, parts=LIVE_PARTS) == []
    page.keyboard.press("Escape")
    page.click("#found .docs button >> nth=0")
    page.wait_for_selector("#dr-near .docs li")
    assert barriers(page, LOOKS[:2], parts=["#drawer"]) == []


def test_a_hostile_collection_stays_text(hostile_live):
    page = hostile_live(refusals=True)
    search_for(page, "hacked")
    assert HOSTILE[0] in texts(page, "#found .docs b")
    page.click(f"#found .docs button:has-text('{HOSTILE[0]}') >> nth=0")
    page.wait_for_selector("#dr-ex.whole")
    assert page.locator("#dr-ex").inner_text().startswith(HOSTILE[0])
    page.fill("#drawer .labelbox input", HOSTILE[1])
    page.press("#drawer .labelbox input", "Enter")
    page.wait_for_selector("#drawer .chip")
    page.keyboard.press("Escape")
    assert texts(page, "#labellist b") == [HOSTILE[1]]
    page.fill("#cq", "hacked")
    page.press("#cq", "Enter")
    page.wait_for_selector(".kwic tbody tr")
    page.select_option("#pickA", index=1)
    page.select_option("#pickB", index=2)
    page.wait_for_selector("#contrast .two")
    page.fill("#lq", "<img src=x onerror='window.hacked = 9'>")
    page.wait_for_selector("#chips > *")
    page.press("#lq", "Enter")
    page.wait_for_selector(".written")
    page.fill("#w", "<b>onload</b>")
    page.press("#w", "Enter")
    page.wait_for_selector("#nb > *")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 1  # that of the map, for paper
    assert page.locator("script").count() == 5


@pytest.mark.parametrize("width", [320, 760])
def test_no_width_needs_scrolling_sideways_and_paper_has_no_controls(width, hostile_live):
    page = hostile_live(viewport={"width": width, "height": 800}, color_scheme="dark")
    search_for(page, "hacked")
    page.fill("#cq", "hacked")
    page.press("#cq", "Enter")
    page.wait_for_selector(".kwic tbody tr")
    page.click("#exports summary")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.emulate_media(media="print")
    for hidden in ("#find", "#labels", "#compare", "#exports", "#divide", "#language"):
        assert not page.locator(hidden).is_visible()
    assert page.locator("#method").is_visible()

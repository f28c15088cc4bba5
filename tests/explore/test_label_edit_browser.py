"""Labels renamed, merged and deleted in the live page: by keyboard, asked about, taken back."""

import shutil

import pytest

from tacit.core import Serial
from tacit.explore import Project
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import prepare_live
from tests.explore.browsing import barriers, served, texts
from tests.explore.corpora import HOSTILE, letters, table
from tests.explore.test_live_browser import pages

pytestmark = pytest.mark.slow

TOPICS = letters()[1]
LABELS = ".lablist b"


@pytest.fixture(scope="module")
def place(explored, tmp_path_factory):
    """A project that is served, and the address of its page."""
    made = explored("topics", lambda: table(*letters()))
    home = tmp_path_factory.mktemp("edited") / "topics.tacit"
    shutil.copytree(made.path, home)
    prepare_live(ProjectFolder(home), Serial())  # or the page would say when that is done
    with served(home) as address:
        yield home, address


@pytest.fixture
def labelled(chromium, place):
    """The live page, with two labels: thirty documents at sea, two of bread."""
    opened = pages(chromium, place[1])
    open_page = next(opened)

    def start(more=(), **options):
        page = open_page(**options)
        post(page, "labels", {"rows": list(range(len(TOPICS))), "name": None})
        for name, rows in (("At sea", rows_of("sea")), ("Bread", rows_of("bread")[:2]), *more):
            post(page, "labels", {"rows": rows, "name": name})
        page.reload()
        page.wait_for_selector(f".lablist li:nth-child({2 + len(more)})")
        return page

    yield start
    next(opened, None)


def post(page, path, body):
    """What another page of the same browser would send."""
    home = page.evaluate("location.origin")
    answer = page.request.post(
        f"{home}/api/{path}", data=body, headers={"X-Tacit": "1", "Origin": home}
    )
    assert answer.ok, answer.text()


def rows_of(topic):
    return [row for row, found in enumerate(TOPICS) if found == topic]


def edit(page, name):
    page.get_by_role("button", name=f"Edit the label {name}", exact=True).click()


def focused(page):
    return page.evaluate(
        "(e => e.getAttribute('aria-label') || e.id || e.textContent)(document.activeElement)"
    )


def number_of_labels(page, n):
    page.wait_for_selector(f".lablist li:nth-child({n}):last-child")


def counts(page):
    return dict(zip(texts(page, LABELS), texts(page, ".lablist li > .num"), strict=True))


def test_a_label_is_renamed_by_keyboard_alone_and_undone(labelled):
    page = labelled()
    page.get_by_role("button", name="Edit the label At sea").focus()
    page.keyboard.press("Enter")
    assert focused(page) == "labto"
    field = page.get_by_role("textbox", name="New name")
    assert field.input_value() == "At sea"
    assert page.inner_text("#labnote") == "30 documents carry this label."
    page.keyboard.type("On  water ")  # the old name was selected
    assert page.inner_text("#labnote") == "30 documents change to “On water”."
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{LABELS}:text-is('On water')")
    assert counts(page) == {"Bread": "2 documents", "On water": "30 documents"}
    assert focused(page) == "Edit the label On water"
    said = "Renamed “At sea” to “On water”: 30 documents"
    page.wait_for_selector(f"#live:text-is('{said}')", state="attached")
    page.click("#labundo")
    page.wait_for_selector(f"{LABELS}:text-is('At sea')")
    assert focused(page) == "labundo"


def test_a_label_keeps_its_color_through_new_names_and_loading_again(labelled):
    page = labelled()

    def colors():
        shown = page.locator(".lablist .sw").evaluate_all("all => all.map(s => s.className)")
        return dict(zip(texts(page, LABELS), shown, strict=True))

    first = colors()
    assert len(set(first.values())) == 2
    post(page, "labels", {"rows": rows_of("stars"), "name": "A night"})  # before the others
    page.reload()
    page.wait_for_selector(".lablist li:nth-child(3)")
    later = colors()
    assert {name: later[name] for name in first} == first
    edit(page, "At sea")
    page.fill("#labto", "Zero water")  # after the others
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{LABELS}:text-is('Zero water')")
    assert colors()["Zero water"] == first["At sea"]
    page.reload()
    page.wait_for_selector(".lablist li:nth-child(3)")
    assert colors() == {
        "A night": later["A night"], "Bread": first["Bread"], "Zero water": first["At sea"],
    }  # fmt: skip


def test_a_form_is_left_with_escape_and_nothing_happens(labelled):
    page = labelled()
    edit(page, "Bread")
    page.fill("#labto", "Something")
    page.keyboard.press("Escape")
    assert not page.locator(".labedit").count()
    assert focused(page) == "Edit the label Bread"
    assert page.locator(".edit[aria-expanded=true]").count() == 0
    edit(page, "Bread")
    assert page.locator(".edit[aria-expanded=true]").count() == 1
    page.press("#labto", "Enter")  # the name it has
    assert page.locator(".labedit").count() == 1
    page.fill("#labto", "  ")
    page.press("#labto", "Enter")
    assert page.inner_text("#labnote") == "Type a name."
    edit(page, "At sea")  # one form at a time
    assert page.input_value("#labto") == "At sea"
    assert counts(page) == {"At sea": "30 documents", "Bread": "2 documents"}


def test_merging_is_asked_about_with_the_number_of_documents(labelled):
    page = labelled()
    edit(page, "Bread")
    page.fill("#labto", "At sea")
    assert page.inner_text("#labnote") == "“At sea” is there already, on 30 documents."
    assert page.inner_text(".labedit .go") == "Merge…"
    page.press("#labto", "Enter")
    question = "Merge “Bread” into “At sea”? 2 documents change to “At sea”, which then has 32."
    assert page.inner_text("#labsure") == question
    assert page.get_by_role("group", name=question).count() == 1
    assert focused(page) == "Keep both"
    page.keyboard.press("Enter")
    assert focused(page) == "labto"
    assert len(counts(page)) == 2
    page.press("#labto", "Enter")
    page.get_by_role("button", name="Merge 2 documents").click()
    number_of_labels(page, 1)
    assert counts(page) == {"At sea": "32 documents"}
    assert focused(page) == "Edit the label At sea"
    page.click("#labundo")
    number_of_labels(page, 2)
    assert counts(page) == {"At sea": "30 documents", "Bread": "2 documents"}


def test_deleting_is_asked_about_and_the_undo_is_at_hand(labelled):
    page = labelled()
    edit(page, "Bread")
    page.get_by_role("button", name="Delete label…").click()
    said = "Delete “Bread”? 2 documents lose this label. The documents themselves stay."
    assert page.inner_text("#labsure") == said
    assert focused(page) == "Keep it"
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "Delete from 2 documents"
    page.keyboard.press("Enter")
    number_of_labels(page, 1)
    assert focused(page) == "labundo"
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{LABELS}:text-is('Bread')")


def test_what_the_server_refuses_is_said_in_the_form(labelled):
    page = labelled(refusals=True)
    edit(page, "Bread")
    page.fill("#labto", "at sea")
    page.press("#labto", "Enter")
    page.wait_for_selector("#labnote.fault:has-text('differs from it only in case')")
    assert focused(page) == "labto"
    page.fill("#labto", "a\u202eb")
    page.press("#labto", "Enter")
    page.wait_for_selector("#labnote.fault:has-text('cannot be shown')")
    page.fill("#labto", "Loaves")
    assert page.inner_text("#labnote") == "2 documents change to “Loaves”."


def test_a_name_that_came_up_elsewhere_is_asked_about_too(labelled):
    page = labelled(refusals=True)
    edit(page, "Bread")
    page.fill("#labto", "Meanwhile")
    post(page, "labels", {"rows": rows_of("sea")[:1], "name": "Meanwhile"})
    page.press("#labto", "Enter")
    page.wait_for_selector("#labsure:has-text('Merge “Bread” into “Meanwhile”?')")
    post(page, "labels/delete", {"name": "Bread"})
    page.get_by_role("button", name="Merge 2 documents").click()
    page.wait_for_selector("#toast.on:has-text('There is no label')")
    assert page.locator(".labedit").count() == 0
    assert set(counts(page)) == {"At sea", "Meanwhile"}


def test_the_map_the_comparison_and_open_forms_follow(labelled):
    page = labelled()
    page.get_by_role("button", name="Set as A: At sea").click()
    page.get_by_role("button", name="Color the map by label").click()
    page.click("#spreadbox .go")
    edit(page, "At sea")
    page.fill("#labto", "On water")
    page.wait_for_selector("#spreadbox .cw", timeout=60_000)  # the list is drawn anew
    assert page.input_value("#labto") == "On water"
    assert focused(page) == "labto"
    page.press("#labto", "Enter")
    page.wait_for_selector("#ab b:text-is('Label On water')")
    assert "On water" in texts(page, "#side .legend .w")
    page.wait_for_selector("#spreadbox .note:has-text('Labels have changed since')")
    page.select_option("#pickB", label="Everything else")
    page.wait_for_selector("#contrast .two")
    edit(page, "On water")
    page.get_by_role("button", name="Delete label…").click()
    page.get_by_role("button", name="Delete from 30 documents").click()
    page.wait_for_selector("#contrast .state:has-text('Choose A')")


def test_a_hostile_name_stays_text_and_can_be_renamed(labelled):
    hostile = HOSTILE[1][:190]
    page = labelled(more=[(hostile, rows_of("bread")[3:4])])
    page.locator(".lablist li", has_text=hostile).locator(".edit").click()
    assert page.input_value("#labto") == hostile
    page.get_by_role("button", name="Delete label…").click()
    assert f"Delete “{hostile}”? 1 document loses this label." in page.inner_text("#labsure")
    page.get_by_role("button", name="Keep it").click()
    page.fill("#labto", "tame")
    page.press("#labto", "Enter")
    page.wait_for_selector(f"{LABELS}:text-is('tame')")
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("step", ["form", "question"])
def test_the_form_has_no_barriers_and_fits_a_phone(labelled, step):
    page = labelled(more=[("a name without an end " * 8, rows_of("bread")[3:4])])
    page.locator(".edit").last.click()
    if step == "question":
        page.get_by_role("button", name="Delete label…").click()
    assert barriers(page, parts=["#labels"]) == []
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_labels_are_in_the_project_when_the_page_says_so(labelled, place):
    page = labelled()
    edit(page, "Bread")
    page.fill("#labto", "Loaves")
    page.press("#labto", "Enter")
    page.wait_for_selector(f"{LABELS}:text-is('Loaves')")
    kept = Project.open(place[0]).labels
    assert [row for row, name in kept.items() if name == "Loaves"] == rows_of("bread")[:2]

"""The search of the report finds what Python finds, word for word, in a browser."""

import pytest

from tacit.explore import Project, ask
from tests.explore.browsing import open_reports, texts, until
from tests.explore.corpora import letters, table

pytestmark = pytest.mark.slow

ODD_WORDS = [
    "a Wi-Fi/WLAN router, U.S. made, 3.5 GHz; the pre-whale Fi's",
    "don't, don’t; rock'n'roll: e-mail & re-elected",
    "東京都に行きました。京都も。",
    "ภาษาไทย สวัสดี",
    "naïve cafe\u0301 Straße ÉTUDE Ωμέγας",
    "👍🏽 fine ☕ work, under_score 42nd 1984",
]
QUERIES = [  # a phrase, or a word that no other word begins with
    '"whale"', '"ship whale"', "u.s.", "Wi-Fi", "wlan", '"3.5"', "3.5", '"don\'t"', '"don’t"',
    "rock'n'roll", "re-elected", "café", "STRASSE", "straße", "étude", "ωμέγας", "👍🏽", "☕",
    "東京", "東京都", "京都", '"สวัสดี"', "under_score", "1984", "whale", '"fi"', '"wi"', "pre",
    '"pre whale"', "WI-FI/WLAN", '"made, 3.5"', "zyzzyva",
]  # fmt: skip


def letters_and_odd_words():
    """Letters, six of them with words that are hard to split, and two that no map can place."""
    given, topics = letters(120)
    for i, odd in enumerate(ODD_WORDS):
        given[i * 7] += " " + odd
    given[50], given[51] = "zyzzyva", "zyzzyva quokka"
    given[52] += " telescpoe"
    return table(given, topics)


@pytest.fixture
def both(chromium, explored):
    """The report in a page, and a reader of the same project."""
    project = explored("odd words", letters_and_odd_words)
    with open_reports(chromium) as open_report:
        yield open_report(project), ask.ProjectReader(project.path, build=True)


def found(page, query):
    """How many documents the panel says match."""
    page.fill("#q", query)
    heading = "document.querySelector('#side h3')?.textContent"
    until(page, f"({heading} || '').includes({'“' + query.lower() + '”'!r})")
    return int(page.inner_text("#side h3").split()[0].replace(",", ""))


def test_every_query_finds_as_many_documents_as_in_python(both):
    page, reader = both
    on_page = {query: found(page, query) for query in QUERIES}
    in_python = {query: ask.search(reader, query, way="boolean")["total"] for query in QUERIES}
    assert on_page == in_python
    assert in_python["zyzzyva"] == 2


def test_documents_that_are_not_on_the_map_are_counted_and_listed(both):
    page, _ = both
    assert found(page, "zyzzyva") == 2
    assert "2 of them are not on the map" in page.inner_text("#side")
    assert texts(page, "#side .docs b") == ["zyzzyva", "zyzzyva quokka"]
    assert page.locator("#side h3 ~ .rowbtns").count() == 1
    until(page, "document.querySelector('#live').textContent.includes('2 that are not on')")


def test_words_spelled_alike_are_those_of_python(both):
    page, reader = both
    for slip in ("whael", "telescpe", "brad", "captan", "xq"):
        assert found(page, slip) == 0
        listed = ask.search(reader, slip, way="boolean").get("suggest", {}).get(slip, [])
        assert texts(page, "#side p:has-text('is in no document') button") == listed


def test_a_slip_that_a_document_makes_too_is_noticed(both):
    page, reader = both
    assert found(page, "telescpoe") == 1
    listed = ask.search(reader, "telescpoe", way="boolean")["suggest"]["telescpoe"]
    assert texts(page, "#side p:has-text('is in 1 document') button") == listed
    assert listed[0] == "telescope"
    (note,) = Project.open(reader.folder.path).search("telescpoe").notes
    assert note.startswith("Instead of 'telescpoe', did you mean telescope")

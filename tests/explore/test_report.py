"""The report as a file: what is in it, what cannot be in it, and that it is the same again."""

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

from tacit.core import DataError, Threads
from tacit.explore import Project, explore_documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.report import page as report_page
from tacit.explore.report import report as shown
from tacit.explore.report.page import as_json, make_page, scripts
from tests.explore.corpora import HOSTILE, letters, table
from tests.explore.test_search_index import lists_of

SMALL = ["single", "few", "lone", "nothing", "blank"]


class Reader(HTMLParser):
    """The tags, ids and scripts of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.ids, self.attributes, self.scripts = [], [], [], []
        self.words, self.inside = [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside != "style":
            self.words.append(data)


def page_of(project):
    return (project.path / "report.html").read_text(encoding="utf-8")


def core_of(project):
    core, text, *_ = Reader(page_of(project)).scripts
    return json.loads(core), json.loads(zlib.decompress(base64.b64decode(text)))


def array(core, name):
    kind, data = core["arrays"][name]
    return np.frombuffer(
        base64.b64decode(data), {"u8": "<u1", "u16": "<u2", "u32": "<u4"}[kind]
    )


def test_the_page_names_what_was_found(topics):
    words = " ".join(Reader(page_of(topics)).words)
    assert "These 90 documents fall into three groups" in words
    assert "All of them are firm" in words
    assert topics.summary["result"][:12] in words
    assert "almost completely (V-measure 1.00" in words
    core, text = core_of(topics)
    meta = core["meta"]
    assert (meta["n"], meta["K"], meta["repeats"]) == (90, 3, 10)
    assert [field["name"] for field in meta["fields"]] == ["topic"]
    assert len(text["t"]) == len(text["s"]) == len(text["id"]) == 90
    for group in meta["groups"]:
        assert len(group["jac"]) == 10
        assert group["words"]
        assert len(group["typ"]) == 5


def test_arrays_say_what_the_stages_found(topics):
    core, _ = core_of(topics)
    found = topics.document_columns()
    numbers = np.array([group["number"] for group in core["meta"]["groups"]])
    np.testing.assert_array_equal(numbers[array(core, "cluster")], found["group"])
    np.testing.assert_allclose(array(core, "conf") / 255, found["sure"], atol=0.002)
    np.testing.assert_array_equal(array(core, "length"), found["words"])
    places = array(core, "xy").reshape(-1, 2).astype(float)
    map_points = np.stack([found["x"], found["y"]], axis=1)
    for axis in (0, 1):
        assert np.corrcoef(places[:, axis], map_points[:, axis])[0, 1] > 0.9999
    assert array(core, "whatif").size == 90 * len(core["meta"]["whatks"])


def test_groups_that_the_page_names_itself_are_not_named_by_function_words(explored):
    kinds = ("the ships x sail and they sink", "stars shine over deserts at night")
    kept = explored("skies", lambda: [f"{kinds[i % 2]} place{i % 7}" for i in range(60)])
    meta = core_of(kept)[0]["meta"]
    plain = {meta["terms"][i] for i in meta["unnamed"]}
    assert {"the", "x", "and", "they", "over", "at"} <= plain
    assert {"ships", "stars", "deserts"} <= {*meta["terms"]} - plain


def test_words_of_documents_come_back_from_their_gaps(topics):
    core, _ = core_of(topics)
    terms, found = core["meta"]["terms"], lists_of(array(core, "post").tobytes())
    for places, text in zip(found, topics.texts.texts(), strict=True):
        own = {terms[at] for at in np.cumsum(places, dtype=int)}
        assert own == set(text.split()) & {*terms}


def test_the_report_is_the_same_again_but_for_the_times(topics, tmp_path):
    again = explore_documents(
        table(*letters()), out=tmp_path / "topics.tacit", effort="quick", engine=Threads(2)
    )

    def timeless(project):
        core, text = core_of(project)
        core["meta"].pop("timings")
        page = re.sub(r'<p class="note">[\d.]+ seconds in all.*?</p>', "", page_of(project))
        return core, text, page[: page.index('id="d-core"')]

    assert timeless(again) == timeless(topics)


def test_the_policy_allows_this_script_and_this_style_alone(topics):
    page = page_of(topics)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none';")
    for tag in ("style", 'script type="module"'):
        content = re.search(f"<{tag}>(.*?)</{tag.split()[0]}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("name", ["topics", "hostile", *SMALL])
def test_nothing_asks_the_network_or_runs_from_an_attribute(name, request):
    page = page_of(request.getfixturevalue(name))
    reader = Reader(page)
    for tag, attribute, value in reader.attributes:
        assert not attribute.startswith("on"), (tag, attribute)
        assert attribute not in ("style", "src", "srcset", "action"), (tag, attribute)
        if attribute == "href":
            assert value.startswith("#")
    assert reader.tags.count("script") == 5
    assert not {"iframe", "link", "object", "embed", "form-action", "base"} & {*reader.tags}
    assert len(reader.ids) == len({*reader.ids})
    assert "{{" not in page[: page.index('id="d-core"')].replace(HOSTILE[7], "")


def test_hostile_documents_stay_inside_their_json(hostile):
    page = page_of(hostile)
    assert "<script>window" not in page
    assert "onerror='window" not in Reader(page).attributes
    for character in "\x00\x1b\x07\u202e\u2066\u2028":
        assert character not in page
    _, text = core_of(hostile)
    assert text["t"][0] == HOSTILE[0]
    assert text["t"][1] == HOSTILE[1]
    assert text["t"][3] == "evil right to left isolate"
    assert all(len(each) <= 90 for each in text["t"])
    assert all(len(each) <= 170 for each in text["s"])


def test_json_cannot_end_a_script():
    text = as_json({"a": "</script>\u2028<!--", "b": "\ud800"})
    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text)["a"] == "</script>\u2028<!--"


@pytest.mark.parametrize(
    ("name", "there", "said"),
    [
        ("single", {"map", "howmany", "words", "oddities"}, "do not fall into groups"),
        ("few", {"map", "words", "oddities"}, "Groups need 31"),
        ("lone", {"words"}, "1 document with 9 words"),
        ("nothing", set(), "No document could be read"),
        ("blank", {"oddities"}, "3 documents were read, but nothing can be said"),
    ],
)
def test_small_collections_have_the_sections_there_is_something_for(name, there, said, request):
    reader = Reader(page_of(request.getfixturevalue(name)))
    sections = {"map", "groups", "howmany", "words", "oddities"}
    assert sections & {*reader.ids} == there
    assert said in " ".join(reader.words)
    links = {
        value[1:] for tag, name, value in reader.attributes if (tag, name) == ("a", "href")
    }
    assert links <= {*reader.ids}


def test_large_collections_have_all_on_the_map_and_texts_of_an_even_sample(topics, monkeypatch):
    monkeypatch.setattr(shown, "MOST_TITLED", 40)
    monkeypatch.setattr(shown, "SAMPLE", 30)
    page = make_page(ProjectFolder(topics.path))
    reader = Reader(page)
    core = json.loads(reader.scripts[0])
    listed = json.loads(zlib.decompress(base64.b64decode(reader.scripts[1])))
    meta, titled = core["meta"], array(core, "titled")
    assert meta["n"] == meta["total"] == 90
    assert len(array(core, "xy")) == 180
    assert 30 <= meta["worded"] <= 60  # with the documents that are listed
    assert {len(each) for each in listed.values()} == {len(titled)}
    assert len(lists_of(array(core, "post").tobytes())) == meta["worded"]
    assert len(array(core, "near")) == meta["worded"] * meta["near"]
    assert f"Titles, openings and words are here for {meta['worded']}, drawn evenly" in page
    every = letters()[0]
    where = array(core, "row")[titled[: meta["worded"]]]
    for j, row in enumerate(where):
        assert every[row].startswith(listed["t"][j].rstrip("…"))
    shown_of = np.bincount(array(core, "cluster")[titled[: meta["worded"]]])
    assert shown_of.min() >= 10
    for group in meta["groups"]:
        assert {*group["typ"]} <= {*titled.tolist()}


def test_huge_collections_show_a_sample_over_the_density_of_all(topics, monkeypatch):
    monkeypatch.setattr(shown, "MOST_TITLED", 40)
    monkeypatch.setattr(shown, "SAMPLE", 30)
    monkeypatch.setattr(shown, "MOST_PLACED", 50)
    page = make_page(ProjectFolder(topics.path))
    core = json.loads(Reader(page).scripts[0])
    n = core["meta"]["n"]
    assert 30 <= n <= 60  # with the documents that are listed
    assert core["meta"]["total"] == 90
    said = f"{n} of 90 documents, drawn evenly from every group, over the density of all."
    assert said in page
    assert np.bincount(array(core, "cluster")).min() >= 10
    assert array(core, "near").max() < n
    assert array(core, "density").sum() == 90
    assert "titled" not in core["arrays"]


def test_a_page_that_would_be_too_large_gets_fewer_titles(topics, monkeypatch):
    folder = ProjectFolder(topics.path)
    whole = len(make_page(folder))
    monkeypatch.setattr(report_page, "MOST_BYTES", 100)
    monkeypatch.setattr(report_page, "FEWER", (60, 35))
    page = make_page(folder)
    assert json.loads(Reader(page).scripts[0])["meta"]["worded"] < 60
    assert len(page) < whole


def test_a_report_goes_where_it_is_asked_to_and_nothing_is_left_beside_it(topics, tmp_path):
    path = topics.report(tmp_path / "here.html")
    assert [each.name for each in tmp_path.iterdir()] == ["here.html"]
    assert path.read_text(encoding="utf-8") == make_page(ProjectFolder(topics.path))


def test_a_failing_write_leaves_the_report_before(topics, monkeypatch, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("before")
    monkeypatch.setattr(report_page, "make_page", lambda folder: int("none"))
    with pytest.raises(DataError, match="does not fit together"):
        Project.open(topics.path).report(target)
    assert target.read_text() == "before"


def test_the_files_of_the_page_are_in_the_package():
    names = [f"{each}.js" for each in scripts(live=True)]
    assert {"map.js", "groups.js", "method.js"} <= {*names}
    for name in ("page.html", "page.css", "live.css", *names):
        assert len(report_page.piece(name)) > 100


def test_the_live_page_may_call_its_server_and_the_report_has_none_of_it(topics, nothing):
    folder = ProjectFolder(topics.path)
    report, live = Reader(make_page(folder)), Reader(make_page(folder, live=True))
    added = {*live.ids} - {*report.ids}
    assert {"find", "compare", "labels", "language", "divide", "exports"} <= added
    assert {*report.ids} <= {*live.ids}
    allowed = [policy_of(each).get("connect-src") for each in (report, live)]
    assert allowed == [None, "'self'"]
    assert not any("/api/" in script for script in report.scripts)
    assert "find" not in Reader(make_page(ProjectFolder(nothing.path), live=True)).ids


def policy_of(reader):
    (said,) = [value for tag, name, value in reader.attributes
               if (tag, name) == ("meta", "content") and "default-src" in value]  # fmt: skip
    return dict(part.strip().split(" ", 1) for part in said.split(";"))

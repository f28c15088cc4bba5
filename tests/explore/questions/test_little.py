"""Projects of next to nothing, and hostile ones: every question gets what can be said."""

import contextlib
import io
import json
import re

import pytest

from tacit.explore.ask import (
    EXPORTS,
    Live,
    compare,
    concordance,
    document,
    export,
    generate,
    neighbors,
    next_words,
    search,
    similar,
    spread,
    surprise,
)
from tacit.explore.project.pipeline import prepare_live
from tests.explore.questions.test_documents import strings_in

WORDLESS = ("nothing_live", "blank_live")
HIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]")


@pytest.mark.parametrize("name", WORDLESS)
def test_without_words_every_answer_is_empty_and_says_why(name, request):
    live = request.getfixturevalue(name)
    for answer in (
        search(live, "ship"),
        search(live, "ship", way="boolean"),
        search(live, "ship", way="meaning"),
        concordance(live, "ship"),
    ):
        assert answer["total"] == 0
        assert answer["note"]
    assert next_words(live, "the")["words"] == []
    assert next_words(live, "the")["note"]
    assert generate(live, "the")["text"] == "the"
    assert surprise(live, "the")["note"]
    assert neighbors(live, "ship")["note"]
    assert compare(live, {"rows": []}, {"rest": True})["note"]
    with pytest.raises(ValueError, match="cannot be spread"):
        spread(live, {})


def test_blank_documents_are_shown(blank_live):
    assert [document(blank_live, row)["text"].strip() for row in range(3)] == ["", "", ""]
    assert similar(blank_live, 1)["hits"] == []


def test_one_document_alone_can_be_asked(lone_live):
    assert search(lone_live, "ship")["total"] == 1
    assert search(lone_live, "ship AND sea", way="boolean")["hits"][0]["row"] == 0
    assert search(lone_live, "ship", way="meaning")["note"]
    assert similar(lone_live, 0)["hits"] == []
    assert concordance(lone_live, "ship")["lines"][0]["key"] == "ship"
    assert document(lone_live, 0)["group"] is None
    found = neighbors(lone_live, "ship")
    assert found["documents"] == 1
    assert found["note"]
    assert next_words(lone_live, "about a")["words"][0][0] == "ship"
    assert "needs 5" in compare(lone_live, {"rows": [0]}, {"rest": True})["note"]
    assert neighbors(lone_live, "shp")["suggest"] == ["ship"]


def test_few_documents_have_no_groups_but_all_else(few_live):
    assert search(few_live, "ship", way="meaning")["hits"]
    assert similar(few_live, 0)["hits"]
    assert neighbors(few_live, "ship")["near"]
    assert neighbors(few_live, "ship")["groups"] == []
    with pytest.raises(ValueError, match="no groups"):
        compare(few_live, {"group": 0}, {"rest": True})
    assert compare(few_live, {"rows": [0, 3, 6, 9, 1]}, {"rest": True})["sizes"] == [5, 7]


@pytest.mark.parametrize("name", ["nothing_live", "blank_live", "lone_live", "few_live"])
def test_exports_are_whole_or_say_what_is_missing(name, request):
    live = request.getfixturevalue(name)
    for each in EXPORTS:
        stream = io.BytesIO()
        missing = {"projector": "meaning", "atlas": "map", "tree": "groups"}
        stage = missing.get(each.split(".")[0].split("-")[0])
        if stage is not None and live.skipped(stage):
            with pytest.raises(ValueError, match="to export"):
                export(live, each, stream)
            assert stream.getvalue() == b""
            continue
        export(live, each, stream)
        if each.endswith(".json"):
            json.loads(stream.getvalue())
        elif each == "documents.csv":
            assert stream.getvalue().startswith(b"id,")


@pytest.mark.parametrize("name", ["nothing", "blank", "lone"])
def test_live_stages_of_next_to_nothing_are_made_and_opened(name, request, tmp_path):
    import shutil

    from tacit.explore.project.folder import ProjectFolder

    copy = tmp_path / "copy.tacit"
    shutil.copytree(request.getfixturevalue(name).path, copy)
    prepare_live(ProjectFolder(copy))
    live = Live(copy)
    assert live.missing == []
    assert search(live, "ship")["total"] == (name == "lone")
    assert bool(next_words(live, "a")["words"]) == (name == "lone")


def test_no_answer_of_a_hostile_project_hides_or_reorders_text(hostile_live):
    answers = [
        search(hostile_live, "evil OR script OR nul", way="boolean", top=90),
        search(hostile_live, "evil script nul calc window", top=90),
        search(hostile_live, "ship storm", way="meaning", top=90),
        concordance(hostile_live, "evil", width=300),
        compare(hostile_live, {"query": "script"}, {"rest": True}),
        neighbors(hostile_live, "ship"),
        neighbors(hostile_live, "scrip"),
        next_words(hostile_live, "</script><b>"),
        generate(hostile_live, "\u202e\x1b[31m</script>", words=200, seed=4),
        surprise(hostile_live, "\u202eevil\x00 <script>"),
        *(similar(hostile_live, row) for row in range(10)),
    ]
    for answer in answers:
        json.dumps(answer, allow_nan=False)
        for text in strings_in(answer):
            assert not HIDDEN.search(text)


STRANGE = [
    "\x00", "\u202e", "<script>alert(1)</script>", "'; DROP TABLE", "*" * 50, "\U0001f600" * 90,
    "a" * 9999, "NOT NOT NOT", "((((", '"', "-", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("query", STRANGE, ids=range(len(STRANGE)))
def test_hostile_queries_are_answered_or_refused_with_a_sentence(hostile_live, query):
    for ask in (
        lambda: search(hostile_live, query),
        lambda: search(hostile_live, query, way="boolean"),
        lambda: search(hostile_live, query, way="meaning"),
        lambda: concordance(hostile_live, query),
        lambda: neighbors(hostile_live, query),
        lambda: next_words(hostile_live, query),
        lambda: generate(hostile_live, query, words=5),
        lambda: surprise(hostile_live, query),
    ):
        answer = None
        with contextlib.suppress(ValueError):  # and nothing else
            answer = ask()
        json.dumps(answer, allow_nan=False).encode()

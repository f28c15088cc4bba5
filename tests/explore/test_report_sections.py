"""What the report says of languages, reading, columns and time, as a file."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.data import Documents
from tacit.explore.report.clean_text import given_titles
from tacit.explore.report.sections.summary import language_findings
from tacit.explore.report.sections.time import ends_of, span
from tests.explore.corpora import HOSTILE, letters
from tests.explore.test_pipeline import letters as three_topics
from tests.explore.test_report import Reader, core_of, page_of

GERMAN = "der die das und ist nicht in dem mit den auf sie ich auch"


def diary(n=120):
    """Letters whose topics follow one another in time, with a column of chance, a hostile one
    and some dates that are none; a third is in German."""
    texts, topics = letters(n)
    german = GERMAN.split()
    order = sorted(range(n), key=lambda i: (topics[i], i))
    for i in range(n):
        if topics[i] == "stars":  # every other word is a common one
            words = texts[i].split()
            words[1::2] = [german[(i + j) % len(german)] for j in range(len(words[1::2]))]
            texts[i] = " ".join(words)
    texts = [texts[i] for i in order]
    dates = [f"{1990 + k // 10}-06-15" for k in range(n)]
    dates[3], dates[7], dates[11] = "n.d.", "<b>soon</b>", None
    return pa.table({
        "text": texts,
        "topic": [topics[i] for i in order],
        "<i>bad</i>": [HOSTILE[k % 3] for k in range(n)],
        "date": dates,
        "number": [str(k) for k in range(n)],
    })  # fmt: skip


@pytest.fixture
def years(explored):
    return explored("years", diary)


def said(project):
    return " ".join(" ".join(Reader(page_of(project)).words).split())


def test_periods_of_many_years_do_not_move_the_first_and_last_year():
    days = np.array(["1611-01-01", "1993-05-02", "2024-01-01"], "datetime64[D]")
    stage = {"day": days.astype(np.int64), "period": np.array([0, 1, 1])}
    periods = ["1600–1624", "2000–2024"]
    facts = {"time": {"periods": periods, "unit": "25 years"}}
    report = SimpleNamespace(context=SimpleNamespace(arrays=lambda name: stage), facts=facts)
    assert span({"ends": ends_of(report), "periods": periods}) == ("1611", "2024")


def test_weeks_do_not_move_the_first_and_last_day():
    days = np.array(["2016-01-05", "2016-01-12"], "datetime64[D]")
    stage = {"day": days.astype(np.int64), "period": np.array([0, 1])}
    periods = ["4 Jan 2016", "11 Jan 2016"]
    facts = {"time": {"periods": periods, "unit": "week"}}
    report = SimpleNamespace(context=SimpleNamespace(arrays=lambda name: stage), facts=facts)
    ends = span({"ends": ends_of(report), "periods": periods})
    assert ends == ("5 Jan 2016", "12 Jan 2016")


def test_a_few_documents_of_unknown_language_are_not_none():
    listed = [["en", "English", 690], ["de", "German", 309]]
    meta = {"languages": {"listed": listed, "unknown": 1, "n": 1000}}
    said = language_findings(SimpleNamespace(meta=meta))[0]
    assert said.endswith("English (69%) and German (31%); the language of &lt;1% is unknown.")


def test_of_many_languages_the_rare_ones_count():
    sizes = dict.fromkeys("abcdef", 100) | dict.fromkeys("ghij", 20)
    listed = [[code, f"Language {code}", size] for code, size in sizes.items()]
    meta = {"languages": {"listed": listed, "unknown": 0, "n": 1000}}
    said = language_findings(SimpleNamespace(meta=meta))[0]
    assert said.startswith("They are in ten languages, most of all Language a (10%), ")


def test_documents_are_not_called_by_the_name_of_their_site():
    titles = [f"Chapter {i} | The Site" for i in range(30)]
    documents = Documents.of(pa.table({"title": titles, "text": ["sea"] * 30}))
    assert given_titles(documents)[7] == "Chapter 7"


def test_the_summary_tells_of_languages_columns_and_time(years):
    words = said(years)
    assert "They are in two languages: English (67%) and German (33%)." in words
    assert "Compared afterwards, the groups follow the column “ topic ” almost compl" in words
    assert "The documents are from 1990 to 2001." in words
    assert "Language English 67%, German 33%" in words
    assert "2 dates that could not be read, such as “n.d.”, “<b>soon</b>”." in words
    assert "1 document without a date." in words
    assert "Column “number” has 120 different values for 120 documents: not compared." in words


def test_sections_hold_what_the_stages_found(years):
    meta = core_of(years)[0]["meta"]
    columns = {column["name"]: column for column in meta["columns"]}
    assert list(columns) == ["topic", "<i>bad</i>"]
    assert columns["topic"]["v"] > 0.95
    assert columns["<i>bad</i>"]["adjusted"] < 0.05
    assert sum(map(sum, columns["topic"]["table"])) == 120
    assert [len(row) for row in columns["topic"]["table"]] == [meta["K"]] * 3
    time = meta["time"]
    assert (time["unit"], time["periods"][0], time["periods"][-1]) == ("year", "1990", "2001")
    assert sum(time["sizes"]) == 117
    assert sum(map(sum, time["groups"])) == 117
    assert sorted(set(time["moves"])) in ([-1, 0, 1], [-1, 1])
    reading = meta["reading"]
    assert len(reading["words"]["groups"]) == meta["K"]
    assert reading["words"]["at"] == sorted(reading["words"]["at"])
    language = meta["fields"][-1]
    assert (language["name"], language["values"]) == (
        "Language (guessed)",
        ["English", "German"],
    )


def test_the_guess_is_called_a_guess_and_one_language_is_no_field(years, topics):
    assert '">Language (guessed)</option>' in page_of(years)
    assert "Language (guessed)" not in page_of(topics)


def test_headings_say_what_was_found(years):
    words = said(years)
    assert "The groups follow “ topic ” almost completely, and “ <i>bad</i> ” not" in words
    assert "of the first third of the documents to" in words
    assert "Half of the documents have" in words


def test_sections_without_content_are_absent_and_the_list_says_why(topics, few, lone, nothing):
    assert 'id="time"' not in page_of(topics)
    assert "No time line: no column and no header holds dates." in said(topics)
    for project in (few, lone):
        page = page_of(project)
        assert 'id="fields"' not in page
        assert 'id="time"' not in page
        assert 'id="reading"' in page
        assert "Only text: there are no columns to compare the documents by." in said(project)
    assert 'id="reading"' not in page_of(nothing)
    assert "12 words" in said(lone) or "9 words" in said(lone)


def test_the_summary_as_json_has_it_all(years):
    summary = years.summary
    assert summary["languages"] == {"en": 80, "de": 40, "unknown": 0}
    assert [field["name"] for field in summary["fields"]] == ["topic", "<i>bad</i>"]
    assert summary["fields"][0]["v_measure"] > 0.95
    assert summary["time"]["documents"]["1990"] == 8
    assert len(summary["reading"]["words"]) == 5
    assert "How well groups match columns (V-measure, 1 is perfect): topic" in str(years)


def test_projects_of_before_open_without_the_new_stages(years, tmp_path):
    """A project that an earlier version made has no such stages; its report says less."""
    import shutil

    from tacit.explore import Project
    from tacit.explore.project.folder import ProjectFolder

    copy = shutil.copytree(years.path, tmp_path / "old.tacit")
    folder = ProjectFolder(copy)
    with folder.writing():
        folder.drop({"language_guess", "reading", "fields", "time"})
        del folder.record["left_out"], folder.record["efforts"]
        folder.commit()
    old = Project.open(copy)
    page = old.report(tmp_path / "old.html").read_text()
    assert 'id="groups"' in page
    assert 'id="reading"' not in page
    assert old.summary["fields"] == []


@pytest.fixture(scope="module")
def copied():
    """Letters on three topics, one of them wordy; three of the same, and two."""
    texts, topics = three_topics()
    texts = [
        f"{text} would should however therefore" if topic == topics[0] else text
        for text, topic in zip(texts, topics, strict=True)
    ]
    return tacit.explore([*texts, texts[0], texts[0], texts[1]], effort="quick")


def test_pairs_inside_a_set_of_copies_are_not_listed_again(copied):
    meta = core_of(copied)[0]["meta"]
    assert [each["n"] for each in meta["sets"]] == [3]
    assert [each["count"] for each in meta["copies"]] == [1, 0]
    assert "2 texts have copies; 3 documents share one text" in said(copied)


def test_function_words_identify_no_group(copied):
    identifying = {word for word, *_ in core_of(copied)[0]["meta"]["distinct"]}
    assert len(identifying) > 10
    assert not {"would", "should", "however", "therefore"} & identifying


def test_contrast_words_are_in_more_documents_here_than_elsewhere(copied, years):
    for project in (copied, years):
        for group in core_of(project)[0]["meta"]["groups"]:
            assert group["words"]
            assert all(inside > outside for _, inside, outside in group["words"])

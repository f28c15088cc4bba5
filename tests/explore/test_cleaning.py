"""What is no part of the text is decoded or set aside, counted and said."""

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.data import Documents
from tacit.explore.stages.cleaning import Cleaned, clean_markup, split_header, split_signature

MAIL = (
    "From: Ann Lee <ann@x.org>\nSubject: Re: tea\nDate: Tue, 06 Apr 1993 12:00:00 GMT\n"
    "Organization: Harbor\n\nBoil the water number {}.\n--\nAnn Lee\nHarbor 1\n"
)


def cleaned(texts, **options):
    found = Cleaned(Documents.of(texts), **options)
    return list(found.texts()), found


def test_the_result_is_the_same_whether_the_first_pass_is_kept(monkeypatch):
    mails = [MAIL.format(i) + "&amp; more" for i in range(30)]
    kept = cleaned(mails)
    monkeypatch.setattr("tacit.explore.stages.cleaning.KEPT", 500)
    again = cleaned(mails)
    assert kept[1].kept
    assert not again[1].kept
    assert kept[0] == again[0]
    assert kept[1].found == again[1].found
    assert kept[1].found.headers == 30


def test_headers_and_signatures_are_set_aside_and_the_header_becomes_columns():
    texts, found = cleaned([MAIL.format(i) for i in range(5)])
    assert texts[3] == "Boil the water number 3.\n"
    assert found.columns["author"] == ["Ann Lee"] * 5
    assert found.columns["date"][0].startswith("1993-04-06")
    said = " ".join(found.found.sentences())
    assert (
        "E-mail headers of 5 documents were set aside; the columns subject, author, date keep "
        "them"
        in said
    )
    assert "Signatures of 5 documents" in said


@pytest.mark.parametrize(
    "text",
    ["Note: this is no header.\n\nReally.", "A -- b", "x < y and y > z; a & b", "2 + 2 = 4"],
)
def test_plain_texts_stay_as_they_are(text):
    texts, found = cleaned([text])
    assert texts == [text]
    assert not found.found.sentences()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("AT&amp;T &lt;b&gt;rose&lt;/b&gt;", "AT&T rose"),
        ("the firm#39;s quot;best&quot; year", 'the firm\'s "best" year'),
        ("<p>one</p><script>var x = 1;</script>two", "\none\n two"),
        ("Sch=C3=B6n und viel l=\nang =3D gut", "Schön und viel lang = gut"),
        ("List<String> and <class 'int'>", "List<String> and <class 'int'>"),
    ],
)
def test_markup_is_decoded(text, plain):
    assert clean_markup(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "Oktal =C3=A4 =41 für jedes Zeichen l=\nang",  # what was encoded is ASCII
        "for a=10, b=20 and c=30 take d ==\n40, as x = y = z",
    ],
)
def test_codes_that_are_part_of_the_text_are_no_quoted_printable(text):
    assert clean_markup(text) == text


def test_a_message_whose_header_is_in_columns_loses_its_signature():
    table = pa.table({
        "subject": [f"Tea {i}" for i in range(4)],
        "text": [f"Boil {i} cups.\n\n--\nAnn Lee\nHarbor 1" for i in range(4)],
    })  # fmt: skip
    texts, found = cleaned(table)
    assert texts[2] == "Tea 2\n\nBoil 2 cups.\n\n"
    assert "Signatures of 4 documents were set aside." in found.found.sentences()


def test_a_greeting_is_no_title():
    greetings = ["Hello,", "Dear team,", "Good morning,"]
    texts = [f"{greetings[i % 3]}\n\nMy parcel {i} is late." for i in range(60)]
    _, found = cleaned([*texts, "A letter without any greeting."])
    assert found.columns["title"][:2] == ["My parcel 0 is late.", "My parcel 1 is late."]
    assert found.columns["title"][60] is None


def test_a_common_subject_is_no_title_where_the_text_has_a_line_of_its_own():
    table = pa.table({
        "subject": ["Help" if i % 2 else f"Parcel {i}" for i in range(40)],
        "text": [f"Hello,\nwhere is number {i}?" for i in range(40)],
    })  # fmt: skip
    _, found = cleaned(table)
    assert found.columns["title"][:2] == [None, "where is number 1?"]


def test_passages_of_many_documents_are_set_aside_but_no_document_is_emptied():
    terms = "This message is confidential and meant for the addressee only."
    texts, found = cleaned(
        [f"Letter number {i} about tea.\n{terms}" for i in range(40)] + [terms]
    )
    assert texts[7] == "Letter number 7 about tea."
    assert texts[40] == terms
    assert found.found.passages == [terms]
    said = "1 passage that many documents repeat was set aside in 40 documents."
    assert found.found.sentences() == [said]


def test_a_sentence_at_the_end_of_many_stories_is_set_aside():
    footer = "Copyright 2004 by the wire, all rights are reserved."
    texts, found = cleaned([f"Story {i} rose. It fell again. {footer}" for i in range(30)])
    assert texts[3] == "Story 3 rose. It fell again."
    assert found.found.passages == [footer]


def test_a_line_of_short_sentences_is_set_aside_too():
    footer = "Copyright 2004. All rights reserved. Terms apply."
    texts, _ = cleaned([f"Story {i} rose.\n{footer}" for i in range(30)])
    assert texts[3] == "Story 3 rose."


def test_titles_come_from_whichever_column_has_one_without_the_name_of_the_site():
    n = 30
    table = pa.table({
        "title": [f"Rain {i} - The Paper" if i % 2 else None for i in range(n)],
        "subject": [None if i % 2 else f"Re: Snow {i}" for i in range(n)],
        "text": [f"It fell {i} times." for i in range(n)],
    })  # fmt: skip
    texts, _ = cleaned(table)
    assert texts[:2] == ["Snow 0\n\nIt fell 0 times.", "Rain 1\n\nIt fell 1 times."]


def test_copies_of_one_text_are_not_repeated_passages():
    text = "The same words again and again in every copy of it."
    texts, _ = cleaned([text] * 50 + ["another text altogether"])
    assert texts[:50] == [text] * 50


def test_a_column_of_titles_counts_as_text_and_cleaning_can_be_turned_off():
    table = pa.table({"title": ["Oil rises", "Rates fall"], "text": ["A &amp; B.", "C."]})
    texts, _ = cleaned(table)
    assert texts == ["Oil rises\n\nA & B.", "Rates fall\n\nC."]
    texts, _ = cleaned(table, on=False)
    assert texts == ["A &amp; B.", "C."]


def test_a_file_is_called_by_its_name_where_its_first_line_repeats(tmp_path):
    for name in ("tea_time", "late_supper", "noon"):
        first = "Chapter I." if name != "noon" else "A plain noon"
        (tmp_path / f"{name}.txt").write_text(f"{first}\n\nText of {name}.")
    found = Cleaned(Documents.open(tmp_path))
    assert found.columns["title"] == ["late supper", None, "tea time"]


def test_the_report_says_what_was_done():
    texts = ["AT&amp;T rose today", "plain words here", "more plain words"]
    project = tacit.explore(texts, effort="quick")
    assert project.texts[0] == "AT&T rose today"
    said = "HTML entities of 1 document were decoded."
    assert said in project.summary["input"]["sentences"]
    assert said in project.report().read_text(encoding="utf8")
    kept = tacit.explore(texts, effort="quick", clean=False)
    assert kept.texts[0] == "AT&amp;T rose today"


def test_hostile_headers_and_signatures_take_no_time():
    text = "A" * 40 + ": x\n" * 20_000
    assert split_header(text)[0] == ""
    assert split_signature("--\n" * 100_000, mail=True)[1]
    assert clean_markup("<a " * 50_000 + "=\n=A0=A0=A0").startswith("<a")


def stories(size=40):
    """Texts of random words, without numbers."""
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in ("sal", "tor", "mer", "lin") for b in ("ima", "ube", "ote")]
    return [" ".join(rng.choice(words, size)) for _ in range(40)]


def test_a_passage_at_the_end_that_differs_in_a_number_is_set_aside():
    plain = stories()
    texts, found = cleaned(
        [f"{text} (Harbor Times European Weekly 03/{i}/2017 page{i})"
         for i, text in enumerate(plain)]
    )  # fmt: skip
    assert [text.strip() for text in texts] == plain
    assert found.found.passages == ["(Harbor Times European Weekly 03/0/2017 page0)"]
    assert found.found.repeated == 40


def test_a_passage_in_a_longer_sentence_is_set_aside_up_to_where_that_begins_or_ends():
    buttons = "Send Flutter Chirp Murmur Snap Rattle Hum Mumble Permalink"
    plain = stories()
    texts, _ = cleaned([f"{t}. {buttons} {'m' * i} {t}" for i, t in enumerate(plain)])
    expected = [f"{t}. {'m' * i} {t}" for i, t in enumerate(plain)]
    assert [text.split() for text in texts] == [text.split() for text in expected]


def test_a_formula_in_the_middle_of_sentences_and_rows_of_a_table_stay():
    formula = "in a filing with the Harbor and Orchard Exchange Commission"
    texts = [f"{text} {formula} {text}" for text in stories()]
    assert cleaned(texts)[0] == texts
    rows = [f"{text}. net 5 vs 7 net 6 vs 8 net 4 vs 3 {text}" for text in stories()]
    assert cleaned(rows)[0] == rows


def test_what_half_of_a_text_shares_with_others_is_the_text_itself():
    shared = " ".join(f"{a}{b}" for a in ("har", "mea", "qua") for b in ("bor", "dow", "rry"))
    texts = [f"{text} {shared}" for text in stories(size=8)]
    assert cleaned(texts)[0] == texts


def test_five_documents_of_a_small_collection_are_enough_and_four_are_not():
    notice = "(Harbor Times European Weekly page {i})"
    for many in (5, 4):
        texts = stories()
        said = [f"{t} {notice.format(i=i)}" if i < many else t for i, t in enumerate(texts)]
        assert (cleaned(said)[1].found.repeated == many) == (many == 5)

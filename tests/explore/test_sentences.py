"""The sentences of reports of small collections: numbers agree with their nouns and verbs."""

import re
from types import SimpleNamespace

import pytest

import tacit
from tacit.explore.report.sections import fields
from tests.explore.test_report import Reader, page_of

TEXTS = [
    "The harbor was closed for the storm, and every ship stayed at anchor.",
    "A loaf of bread needs flour, water, salt and a hot oven.",
    "Stars of the same age form one cluster, says the observatory.",
    "Ships that carry flour to the harbor pay less this year.",
]
NOUNS = "document|group|word|theme|value|pair|column|text|date|use|sentence|repeat|level"
WRONG = re.compile(
    rf"(?<![\d,.\-–+])1 (?:{NOUNS})s\b|\b[Oo]ne (?:{NOUNS})s\b"
    rf"|(?<![\d,.\-–+])(?:[02-9]|\d{{2,}}) (?:{NOUNS})\b(?! of| to)"
    rf"|(?<![\d,.\-–+])1 (?:\w+ ){{0,2}}(?:are|have|were|occur|pass|do)\b"
)


@pytest.fixture(scope="module", params=[1, 2, 3, 4, 12, "alike", "blanks"])
def project(request):
    texts = {"alike": TEXTS[:1] * 3, "blanks": ["", "12 34", "harbor"]}.get(request.param)
    texts = texts or (TEXTS * 3)[: request.param]
    return tacit.explore(texts, effort="quick")


def said(project):
    return " ".join(" ".join(Reader(page_of(project)).words).split())


def test_numbers_agree_with_nouns_and_verbs(project):
    assert WRONG.findall(said(project)) == []
    assert WRONG.findall(str(project)) == []
    assert WRONG.findall(repr(project)) == []


def test_without_groups_nothing_is_said_of_the_groups(project):
    assert "The groups of this report" not in said(project)
    assert "in one group only" not in said(project)


def test_a_report_without_spaces_says_what_counts_as_a_word(tmp_path):
    texts = ["裁判所が判決を下す。弁護士が証拠を示す。", "港に船が停泊する。船長は嵐を恐れる。"]
    texts *= 20
    page = said(tacit.explore(texts, effort="quick"))
    assert page.count("every two neighboring characters count as a word") == 3
    assert "Words have 2.0 letters" not in page


def test_a_report_of_texts_without_marks_gives_no_length_of_sentences():
    texts = [f"the ship of the harbor and the storm of {i} " * 15 for i in range(4)]
    page = said(tacit.explore(texts, effort="quick"))
    assert "The texts do not show where sentences end" in page
    assert "a typical sentence" not in page


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        ([[], []], "No value of “<bdi>party</bdi>” has words of its own"),
        ([["a"], ["b"]], "Every value of “<bdi>party</bdi>” has words of its own"),
        ([["a"], []], "One of two values of “<bdi>party</bdi>” has words of its own"),
    ],
)
def test_the_heading_of_a_column_is_a_sentence(words, heading):
    columns = [{"name": "party", "values": ["x", "y"], "words": words}]
    report = SimpleNamespace(meta={"columns": columns})
    assert fields.heading(report, []) == heading


def test_the_rule_for_numbers_finds_errors():
    for wrong in ("1 documents", "One groups", "12 word", "1 of them are", "1 word have"):
        assert WRONG.search(f"There: {wrong}.")


def test_nothing_is_said_of_ten_neighbors_where_there_are_few(project):
    assert "Of the ten documents most like" not in said(project)


def test_equal_lengths_are_no_range(project):
    found = re.findall(r"documents have ([\d,]+) to ([\d,]+) words", said(project))
    assert all(low != high for low, high in found)

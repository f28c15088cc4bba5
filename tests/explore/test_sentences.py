"""The sentences of reports of small collections: numbers agree with their nouns and verbs."""

import re

import pytest

import tacit
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


def test_the_rule_for_numbers_finds_errors():
    for wrong in ("1 documents", "One groups", "12 word", "1 of them are", "1 word have"):
        assert WRONG.search(f"There: {wrong}.")


def test_nothing_is_said_of_ten_neighbors_where_there_are_few(project):
    assert "Of the ten documents most like" not in said(project)


def test_equal_lengths_are_no_range(project):
    found = re.findall(r"documents have ([\d,]+) to ([\d,]+) words", said(project))
    assert all(low != high for low, high in found)

"""The index of the report: every word of every document, in sequence or as sets."""

import base64
import zlib

import numpy as np
import pytest

import tacit
from tacit.explore.report import search_index as module
from tacit.explore.report.report import Report
from tacit.explore.report.search_index import search_index, varints
from tests.explore.test_pipeline import letters


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    texts, _ = letters(60)
    texts[7] += " a word that stands once: zyzzyva"
    project = tacit.explore(texts, effort="quick", stages=["map"],
                            out=tmp_path_factory.mktemp("index") / "letters.tacit")  # fmt: skip
    return texts, Report(project._context)


def unpacked(data):
    """Numbers of 7 bits a byte, the lowest first."""
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value)
            value, shift = 0, 0
    return out


def decoded(data):
    return unpacked(zlib.decompress(base64.b64decode(data)))


def lists_of(data):
    """The numbers of every document."""
    numbers, rows = iter(unpacked(data)), []
    for size in numbers:
        rows.append([next(numbers) for _ in range(size)])
    return rows


def rows_of(index):
    return lists_of(zlib.decompress(base64.b64decode(index.data)))


def test_the_page_has_the_words_of_every_document_in_order(made):
    texts, report = made
    index = search_index(report, 10**7)
    assert index.kind == "text"
    again = [[index.words[i] for i in row] for row in rows_of(index)]
    assert again == [text.replace(":", "").split() for text in texts]
    assert "zyzzyva" in again[7]  # not only the most widespread words


def test_where_the_sequence_is_too_much_the_page_has_sets_and_then_nothing(made, monkeypatch):
    texts, report = made
    monkeypatch.setattr(module, "MOST_TOKENS", 100)
    index = search_index(report, 10**7)
    assert index.kind == "words"
    for row, text in zip(rows_of(index), texts, strict=True):
        assert {index.words[i] for i in np.cumsum(row)} == set(text.replace(":", "").split())
    assert search_index(report, 200).kind == "none"


def test_numbers_of_any_size_are_packed():
    values = [0, 127, 128, 2**20, 2**35]
    packed = base64.b64encode(zlib.compress(varints(np.array(values))))
    assert decoded(packed) == values

"""Documents of offices, mail and the web."""

import gzip
import sys

import pytest

from tacit.core import DataError
from tacit.data import Documents
from tests.data import mixed_files as make

TEXT = "The whale sank the ship."
ABOUT = {"title": "The Whale", "author": "Ann Lee"}


def opened(tmp_path, name, data, **options):
    (tmp_path / name).write_bytes(data)
    return Documents.open(tmp_path / name, **options)


@pytest.mark.parametrize(
    ("name", "data", "date"),
    [
        ("a.html", make.html_page("<p>The <b>whale</b> sank\nthe ship.</p>", **ABOUT), None),
        ("a.docx", make.docx(TEXT, **ABOUT), "2020-05-06T07:08:09Z"),
        ("a.odt", make.odt(TEXT, **ABOUT), None),
        ("a.pdf", make.pdf(TEXT, **ABOUT), "2019-03-14"),
        ("a.rtf", make.rtf(TEXT, **ABOUT), "2001-02-03"),
        ("a.md", make.markdown("The **whale** sank the [ship](http://x.org/y).", **ABOUT),
         "2022-01-02"),
        ("a.html.gz", gzip.compress(make.html_page(f"<p>{TEXT}", **ABOUT)), None),
    ],
)  # fmt: skip
def test_text_title_author_and_date_are_read(tmp_path, name, data, date):
    documents = opened(tmp_path, name, data)
    assert [text.strip() for text in documents.texts()] == [TEXT]
    assert documents.column("title") == ["The Whale"]
    assert documents.column("author") == ["Ann Lee"]
    if date:
        assert documents.column("date") == [date]


def test_a_message_gives_its_plain_part_decoded_and_its_subject(tmp_path):
    data = make.eml("Schöne Grüße = viel Spaß\n", "Grüße", "Änne", page="<p>not this")
    assert b"=C3=B6" in data  # it is quoted-printable
    documents = opened(tmp_path, "a.eml", data)
    assert [text.strip() for text in documents.texts()] == ["Schöne Grüße = viel Spaß"]
    assert documents.column("subject") == ["Grüße"]
    assert documents.column("author") == ["Änne"]
    assert documents.column("date") == ["1993-04-06T12:00:00+00:00"]


def test_a_mailbox_is_a_document_for_every_message(tmp_path):
    box = make.mbox(make.eml("one", "First"), make.eml("two\n\nFrom here on", "Second"))
    documents = opened(tmp_path, "in.mbox", box)
    assert len(documents) == 2
    assert documents.column("subject") == ["First", "Second"]


def test_a_folder_of_mixed_files_is_read_with_what_the_files_say(tmp_path):
    texts = [f"{TEXT} Number {i}." for i in range(16)]
    names = make.mixed_folder(tmp_path, texts)
    documents = Documents.open(tmp_path)
    assert list(documents.ids) == names
    for text, read in zip(texts, documents.texts(), strict=True):
        assert text in read.replace("\n", " ")
    assert documents.column("author")[0] is None  # plain text says nothing
    assert documents.column("author")[1] == "Ann"
    assert not documents.report.files


def test_names_of_folders_and_files_become_columns(tmp_path):
    for name in (
        "oz/baum__1900__the_wizard",
        "oz/baum__1904__the_land",
        "sea/lee__1851__whale",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.txt").write_text(TEXT)
    documents = Documents.open(tmp_path)
    assert documents.column("folder") == ["oz", "oz", "sea"]
    assert documents.column("author") == ["baum", "baum", "lee"]
    assert documents.column("year") == [1900, 1904, 1851]
    assert documents.column("title") == ["the wizard", "the land", "whale"]
    assert "author__year__title" in str(documents.report)


def test_names_of_the_files_of_one_folder_become_columns_beside_other_files(tmp_path):
    for i in range(6):
        (tmp_path / f"n{i}.md").write_text(f"Note number {i}.")
    (tmp_path / "novels").mkdir()
    for name in ("eliot__1871__middlemarch", "hardy__1891__tess", "hardy__1895__jude"):
        (tmp_path / "novels" / f"{name}.txt").write_text("It was a long story.")
    documents = Documents.open(tmp_path)
    assert documents.column("year") == [*[None] * 6, 1871, 1891, 1895]
    assert "names of 3 files are 'author__year__title'" in str(documents.report)



BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.docx", make.docx("&b;", head=BOMB), "document type"),
        ("a.docx", make.docx("x" * 2**25), "decompression bomb"),
        ("a.docx", make.docx("hello")[:-30], "cannot be read as .docx"),
        ("a.odt", make.docx("hello"), "not an OpenDocument"),
        ("a.pdf", b"%PDF-1.4 broken", "cannot be read as PDF"),
        ("a.pdf", make.pdf(""), "text layer"),
        ("a.rtf", b"plain", "not Rich Text"),
    ],
)
def test_hostile_and_damaged_files_are_refused_with_the_reason(tmp_path, name, data, said):
    with pytest.raises(DataError, match=said):
        opened(tmp_path, name, data)
    (tmp_path / "good.txt").write_text(TEXT)
    documents = Documents.open(tmp_path)  # in a folder it is skipped
    assert list(documents.ids) == ["good.txt"]
    assert said in str(documents.report)


@pytest.mark.parametrize(("name", "package"), [("a.pdf", "pypdf"), ("a.rtf", "striprtf")])
def test_without_the_extra_one_sentence_says_what_to_install(
    tmp_path, monkeypatch, name, package
):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.{package}", None)
    data = make.pdf(TEXT) if package == "pypdf" else make.rtf(TEXT)
    with pytest.raises(DataError, match=rf"{package}.*pip install 'tacit-learn\[files\]'"):
        opened(tmp_path, name, data)

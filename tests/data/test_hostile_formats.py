"""Files of offices, mail and the web made by strangers: refused in a sentence or read, in time.

The pieces of each format are repeated without end, left open, nested and damaged. A parser that
searches the rest of a file again from every piece would need hours for these.
"""

import random
import struct
import zipfile
from io import BytesIO

import pytest

from tacit.core import DataError
from tacit.data.document_formats import html_text, read_records
from tacit.explore.stages.cleaning import Found, clean_message
from tests.data import mixed_files as make

SIZE = 100_000
PIECES = {
    "html": [
        "<", "<!", "<!--", "<![", "<?", "</", "<a ", '<a x="', "&#", "<td>", "<svg>",
        "<td>\xa0", "<script>", "<title>", "<svg></p>",
    ],
    "md": ["[", "![", "[\n", "[a](", "[a][", "`", "`a", "**", "**a ", "<!--", "# a ", "<a "],
    "rtf": ["{", "}", "\\", "{\\*", "\\'ff", "\\u20?", "{\\title ", "{\\fonttbl", "\\uc0"],
    "eml": ["(", '"', "=?utf-8?q?", "=?utf-8?b?a?=", "Date: 9\n", "--b\n", "\n"],
    "mbox": ["From a 2001\n\n", "From ", "\r", ">From "],
}  # fmt: skip
PARTS = "Content-Type: multipart/mixed; boundary=b"
BEGINNINGS = {"rtf": ["{\\rtf1 "], "eml": ["From: ", f"{PARTS}\n\n"]}
repeated = pytest.mark.parametrize(
    ("kind", "piece"), [(kind, piece) for kind, each in PIECES.items() for piece in each]
)


def read(data, kind):
    """The records of a file, or its name where it is refused."""
    try:
        return list(read_records([data], kind, f"a.{kind}"))
    except DataError as error:
        return error.file


@repeated
def test_a_piece_of_a_format_without_end_is_read_in_time(kind, piece):
    for beginning in BEGINNINGS.get(kind, [""]):
        data = (beginning + piece * (SIZE // len(piece))).encode()
        assert read(data, kind) is not None


@pytest.mark.parametrize("piece", [*PIECES["html"], "--\n", "=3D", "&lt;", "From: a\n"])
def test_such_a_document_is_cleaned_in_time(piece):
    clean_message("<b>x</b> " + piece * (SIZE // len(piece)), Found())


def test_what_stands_around_a_tag_that_does_not_end_is_read():
    assert html_text("<p>tea <b>and < coffee <!-- milk").text == "tea and < coffee <!-- milk"
    assert html_text("<p>tea <![if x]> milk").text == "tea milk"


CHARSETS = ["punycode", "idna", "undefined", "zlib", "hex", "nowhere", "x" * 2000, "a\0b"]


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_character_set_that_is_none_is_taken_as_utf_8(charset):
    page = f'<meta charset="{charset}"><p>sink the ship'.encode()
    mail = f'Content-Type: text/plain; charset="{charset}"\n\nsink the ship'.encode()
    assert [read(page, "html")[0].text, read(mail, "eml")[0].text] == ["sink the ship"] * 2


@pytest.mark.parametrize(
    "header",
    [
        "Subject: =?utf-8?b?a?=", "Date: 1 Jan 2001 00:00:00 +99999999999",
        f"Date: 1 Jan 2001 00:00:00 {'9' * 5000}", f"From: {'(' * 5000}", "From: =?a\0b?q?x?=",
        "Content-Disposition: attachment; filename*=a\0b'en'%ff",
        f"Content-Type: text/plain; charset*{'9' * 5000}=x",
        "\n\n".join(f"{PARTS}{i}\n\n--b{i}" for i in range(3000)),
        "\n\n".join(["Content-Type: message/rfc822"] * 3000),
    ],
)  # fmt: skip
def test_a_strange_message_costs_neither_its_text_nor_the_mailbox(header):
    strange = f"From a Mon 2001\n{header}\n\nsink the ship\n\n"
    records = read(f"{strange}From b Mon 2001\n\nthe second\n".encode(), "mbox")
    assert len(records) == 2
    assert records[1].text == "the second"
    assert "ship" in records[0].text or "filename" in header


def test_any_damage_to_an_archive_is_a_refusal_or_a_text():
    data = make.docx("The whale sank the ship.", title="The Whale", author="Ann Lee")
    for seed in range(300):
        draw, damaged = random.Random(seed), bytearray(data)
        for _ in range(draw.choice([1, 1, 3])):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        assert read(bytes(damaged), "docx")


def archive(content, method=zipfile.ZIP_DEFLATED):
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        file.writestr("content.xml", content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        *(f'<?xml version="1.0" encoding="{name}"?><a/>' for name in CHARSETS[:-1]),
        *(f'<a><s c="{count}"/></a>' for count in ("²", "9" * 5000, "-1", "⑩")),
        "<a>" * 200_000, "<a>&#xD800;</a>",
    ],
)  # fmt: skip
def test_strange_xml_is_a_refusal_or_a_text(content):
    assert read(archive(content), "odt")


def test_an_archive_cannot_lie_about_its_size_nor_choose_its_method():
    bomb = bytearray(archive(f"<a>{' ' * 2**25}</a>"))
    place = bomb.rfind(b"PK\x01\x02") + 20
    bomb[place : place + 4] = struct.pack("<I", 2**31)  # "compressed to two gigabytes"
    with pytest.raises(DataError, match="decompression bomb"):
        list(read_records([bytes(bomb)], "odt", "a.odt"))
    with pytest.raises(DataError, match="do not use"):
        list(read_records([archive("<a/>", zipfile.ZIP_LZMA)], "odt", "a.odt"))


def test_pages_that_are_one_and_the_same_are_not_read_without_end(monkeypatch):
    from tacit.data import document_formats as formats

    monkeypatch.setattr(formats, "UNPACKED", 10_000)
    monkeypatch.setattr(formats, "RATIO", 10)
    data = make.pdf("whale " * 200)
    kids = b"/Kids[" + b"3 0 R " * 500 + b"]"
    assert b"/Kids[3 0 R]" in data
    with pytest.raises(DataError, match="decompression bomb"):
        list(read_records([data.replace(b"/Kids[3 0 R]", kids)], "pdf", "a.pdf"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in a finalizer
def test_a_pdf_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr("tacit.data.document_formats.PDF_SECONDS", 0.05)
    data = make.pdf("whale) Tj (" * 100_000)  # some seconds of drawing
    with pytest.raises(DataError, match=r"took more than .* s, far more than its 1,1"):
        list(read_records([data], "pdf", "a.pdf"))


@pytest.mark.parametrize(
    "part", ["{\\title \\u99999999 ?}", "\\creatim\\yr99999999999\\mo1\\dy1", "\\u99999999?"]
)
def test_strange_rich_text_is_a_refusal_or_a_text(part):
    assert read(f"{{\\rtf1 {part} whale}}".encode(), "rtf")


def test_a_message_longer_than_the_limit_is_not_cut_in_silence(monkeypatch):
    from tacit.data import document_formats as formats

    monkeypatch.setattr(formats, "MOST", 1000)
    chunks = [b"From a 2001\n\nfirst\n\n", b"From b 2001\n\n", b"x" * 2000, b"y"]
    records = read_records(chunks, "mbox", "a.mbox")
    assert next(records).text == "first"
    with pytest.raises(DataError, match="more than 1,000 bytes"):
        next(records)

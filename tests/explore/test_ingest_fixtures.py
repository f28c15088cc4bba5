"""Every flaw of text and files that has a promised answer, through ``tacit explore``: what it
says, how it exits, and that the report says it too."""

import gzip
import html
import io
import json
import math
import re
import sys
from typing import NamedTuple

import pyarrow as pa
import pytest

import tacit
from tacit.cli.main import main
from tacit.data import streams

WORDS = "The ship met the white whale at sea"


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def lines(*texts, encoding="utf-8"):
    return ("\n".join(texts) + "\n").encode(encoding)


def records(*values):
    return lines(*(json.dumps(value) for value in values))


def half(data):
    return data[: len(data) // 2]


MANY = lines(*(f"{WORDS} for the {i}. time: {i * i}, {i**3}." for i in range(3000)))
TWICE = b"id,text\na,a whale\na,a ship\nb,some bread\n"
TWINS = b'{"text": "a whale", "text": "a ship"}\n{"text": "bread"}\n'
BAD = b"fine words\nbro\xffken words\nfar\xfe\xfe off\n"
LONG = lines(f"{WORDS} " * 40, "a short one")
READ = ("2 documents",)
EMPTY = ("empty.txt", "empty.csv", "blank.txt", "signs.txt")  # have a report that says so


class Case(NamedTuple):
    """A file, and what is said of it: in the terminal, and in the report if there is one."""

    name: str
    content: bytes
    both: tuple[str, ...]
    options: tuple[str, ...] = ()
    code: int = 0
    said: tuple[str, ...] = ()  # in the terminal alone

    def __str__(self):
        return " ".join([self.name, *self.options])


CASES = [
    # --- Text ---
    Case("null.jsonl", b'{"text": null}\n{"text": "a ship"}\n{"text": NaN}\n',
         ("3 documents", "2 documents None, NaN or null, read as empty.")),
    Case("words.txt", lines("e\u0301tude du soir", "\U0001f40b sur la mer"), READ),
    Case("empty.txt", b"", ("0 documents",), code=4, said=("there are no documents in it",)),
    Case("empty.csv", b"id,text\n", ("0 documents",), code=4,
         said=("there are no documents in it",)),
    Case("blank.txt", lines("", " ", "\t"),
         ("1 empty document.",), code=4, said=("All 3 documents are empty or blank.",)),
    Case("signs.txt", lines("...", "!?", ""),
         ("1 empty document.",), code=4,
         said=("None of the 3 documents holds a word and 1 is empty: there are no letters",)),
    Case("alike.txt", lines("whale ship", "whale ship", "whale ship"),
         ("3 documents",),
         said=("at most half of the 3 documents; of 2 different words, none are.",)),
    Case("one.txt", lines(WORDS),
         ("1 document",), said=("Comparing takes 3 documents; there is 1.",)),
    Case("long.txt", LONG, ("3 documents", "1 cut made in documents over the limit."),
         ("--max-document", "1kB")),
    Case("long.txt", LONG, ("1 document.", "1 document over the limit left out."),
         ("--max-document", "1kB", "--oversize", "skip")),
    Case("long.txt", LONG,
         ("row 1: a document of 1,440 bytes or more is over the limit of 1,000. Raise "
          "--max-document, or let --oversize split or skip deal with it.",),
         ("--max-document", "1kB", "--oversize", "error"), code=4),
    # --- Files ---
    Case("bad.txt", BAD,
         ("3 documents", "3 undecodable byte sequences replaced by U+FFFD.")),
    Case("bad.txt", BAD,
         ("bad.txt, row 2: byte 4 of the document is not UTF-8", "--errors replace reads it",
          "--errors skip leaves the document out; --encoding names another"),
         ("--errors", "strict"), code=4),
    Case("bad.txt", BAD, ("1 document.", "2 documents left out for undecodable bytes."),
         ("--errors", "skip")),
    Case("bad.csv", b"id,text\n1,bro\xffken\n", ("Use --errors replace or strict.",),
         ("--errors", "skip"), code=4),
    Case("bad.txt", lines("caf\u00e9", encoding="latin-1"), ("1 document.",),
         ("--encoding", "latin-1")),
    *(Case(f"{encoding}.txt", lines("\ufeffwhale", "ship", encoding=encoding),
           ("2 documents", f"{encoding.upper()} byte order mark removed."))
      for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")),
    Case("nul.txt", b"white\0whale\nship\n", ("1 NUL character replaced by spaces.",)),
    Case("nul.jsonl", b'{"text": "a\\u0000b"}\n{"text": "half \\ud800 pair"}\n',
         ("1 NUL character replaced by spaces.",
          "1 lone surrogate replaced by U+FFFD.")),
    Case("quote.csv", b'id,text\n1,fine\n2,"opens here\n3,more\n4,end\n',
         ("quote.csv: line 3: a quote opens here and never closes. Close it, or double it",),
         code=4),
    Case("wide.csv", b'id,text\n1,"' + b"whale " * 30_000 + b'"\n2,ship\n', READ),
    Case("more.csv", b"id,text\n1,a,b,c\n", ("line 2: 4 fields, but there are 2 columns.",),
         code=4),
    Case("half.txt.gz", half(gzip.compress(MANY)),
         ("partial, ", "the compressed data ends early: the file is truncated"), code=3,
         said=("The result covers what could be read; --allow-partial accepts that.",)),
    Case("half.txt.gz", half(gzip.compress(MANY)), ("the file is truncated",),
         ("--allow-partial",)),
    Case("half.jsonl.gz", half(gzip.compress(records(*MANY.decode().split("\n")))),
         ("which is cut off, was left out", "the file is truncated"), code=3),
    Case("half.txt.zst", half(zstd(MANY * 20)),
         ("partial, ", "the compressed data is truncated or damaged"), code=3),
    Case("flip.txt.gz", gzip.compress(MANY)[:400] + b"\xff" * 300,
         ("partial, ", "the compressed data is damaged"), code=3),
    Case("ids.csv", TWICE, ("3 documents", "1 id occurs more than once: 'a'.")),
    Case("ids.csv", TWICE,
         ("row 2: the id 'a' is repeated. --duplicate-ids first, last or suffix",),
         ("--duplicate-ids", "error"), code=4),
    *(Case("ids.csv", TWICE, ("2 documents", "1 document left out because of repeated ids."),
           ("--duplicate-ids", which)) for which in ("first", "last")),
    Case("keys.jsonl", TWINS, ("2 documents", "1 JSON object holds a key twice.")),
    Case("keys.jsonl", TWINS,
         ("line 1: an object holds a key twice. --duplicate-keys first or last takes one",),
         ("--duplicate-keys", "error"), code=4),
    Case("not.jsonl", b'{"text": "whale"}\n{"text": oops}\n',
         ("line 2 is not JSON: expecting value at character 10. Write one object to a line.",),
         code=4),
    Case("deep.jsonl", b"[" * 100_000, ("line 1 is not JSON: it is nested too deeply.",),
         code=4),
    Case("cut.parquet", b"PAR1 nothing PAR1", ("this Parquet file cannot be read",), code=4),
    Case("paper.pdf", b"%PDF-1.7 ...", ("it cannot be read as PDF",), code=4),
    Case("book.zip", b"PK\x03\x04...", ("this is a zip archive",), code=4),
    Case("whale.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
         ("control characters: this is not text. If it is text nevertheless, use --format",),
         code=4),
    Case("wide.txt", lines(WORDS * 3, encoding="utf-16-le"),
         ("this is not text. If it is UTF-16 without a mark, use --encoding utf-16-le.",),
         code=4),
    Case("wide.txt", lines(WORDS * 3, encoding="utf-16-le"), ("1 document",),
         ("--encoding", "utf-16-le")),
    Case("flowers.csv", b"name,width,length\nrose,1.25,100000\nlily,2.5,200000\n",
         ("this looks like a table of numbers", "tacit cluster flowers.csv"), code=4),
    Case("ship.csv", b"id,text\n1,ship\n", ("has no column 'body'. It has id, text.",),
         ("--text", "body"), code=4),
    Case("ship.txt", b"ship\n", ("--encoding klingon is not known",),
         ("--encoding", "klingon"), code=4),
]  # fmt: skip


@pytest.fixture
def explore(tmp_path, monkeypatch, capsys):
    """Run the command in a folder of its own; exit code, both streams, text of the report."""
    monkeypatch.chdir(tmp_path)

    def run(name, *options, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        settings = ("--quick", "--engine", "serial", "--out", "project", *options)
        code = main(["explore", name, *settings])
        out, err = capsys.readouterr()
        page = tmp_path / "project" / "report.html"
        return code, out, err, words_of(page) if page.exists() else None

    return run


def words_of(page):
    """What a page says, without tags and scripts."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(text))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_flaw_has_a_sentence_a_code_and_a_place_in_the_report(case, explore, tmp_path):
    (tmp_path / case.name).write_bytes(case.content)
    code, out, err, report = explore(case.name, *case.options)
    assert code == case.code
    assert "Traceback" not in err
    for sentence in case.both + case.said:
        assert sentence in err + out
    assert (report is not None) == (code in (0, 3) or case.name in EMPTY)
    for sentence in case.both if report is not None else ():
        assert sentence in report


# --- Text ---


def test_python_takes_none_nan_and_generators_and_refuses_one_string():
    project = tacit.explore([WORDS, None, math.nan, "a loaf of bread"], effort="quick")
    assert project.summary["input"]["repairs"]["missing"] == 2
    walked = tacit.explore((text for text in [WORDS, "a loaf of bread"]), effort="quick")
    assert walked.summary["documents"] == 2
    with pytest.raises(FileNotFoundError, match=r"put it in a list: \[text\]"):
        tacit.explore(WORDS)
    with pytest.raises(ValueError, match=r"Put one in a list: \[text\]"):
        tacit.explore(WORDS.encode())


def test_accents_emoji_and_scripts_without_spaces_become_words():
    chinese = "\u6211\u4eec\u4eca\u5929\u770b\u9cb8\u9c7c"
    thai = "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01"
    texts = ["e\u0301tude \U0001f40b", chinese * 4, thai * 4]
    project = tacit.explore(texts, effort="quick")
    words = set(project._context.words())
    assert {"\u00e9tude", "\U0001f40b"} <= words
    others = words - {"\u00e9tude", "\U0001f40b"}
    assert len(others) > 8
    assert max(map(len, others)) <= 4


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("", (), "there are 0 documents. Check the file."),
        ("\n\n", (), "all 2 documents are empty"),
        ("...\n!?\n", (), "none of the 2 documents (0 of them empty) has a token. Look at"),
        ("the of\nand to\n", ("--stop-words", "english"),
         "all 4 tokens of 2 documents are stop words, or numbers that were removed. Leave out "
         "--stop-words."),
        ("white whale\nship\n", ("--min-df", "2"),
         "no terms remain of 3 in 2 documents: min_df=2 removes 3 in fewer than 2"),
        ("whale\nship\n", ("--min-df", "9"),
         "no term can be in 9 documents, because there are only 2. Lower --min-df."),
    ],
)  # fmt: skip
def test_nothing_to_count_has_a_message_for_each_reason(
    tmp_path, capsys, content, options, said
):
    path = tmp_path / "words.txt"
    path.write_text(content)
    assert main(["counts", str(path), *options]) == 4
    assert said in capsys.readouterr().err


def test_a_line_far_over_the_limit_is_streamed_and_cut(explore, tmp_path):
    with open(tmp_path / "huge.txt", "wb") as file:
        file.write(b"whale ship\n")
        file.write(b"bread flour oven " * 400_000)  # 6.8 MB in one line
    code, _, err, report = explore("huge.txt", "--max-document", "1MB")
    assert code == 0
    assert "6 cuts made in documents over the limit." in err
    assert "cuts made in documents over the limit." in report


# --- Files ---


def test_flaws_are_counted_for_each_file_of_a_folder(explore, tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"fine words")
    (folder / "b.txt").write_bytes(b"bro\xffken")
    (folder / "c.txt").write_bytes(b"\xef\xbb\xbfmarked")
    (folder / "d.txt.gz").write_bytes(half(gzip.compress(MANY)))
    (folder / "e.pdf").write_bytes(b"%PDF")
    code, _, err, report = explore("letters")
    assert code == 3
    for said in (
        "b.txt: 1 undecodable byte sequence replaced by U+FFFD.",
        "c.txt: UTF-8 byte order mark removed.",
        "d.txt.gz: partial, 1 document read: the compressed data ends early",
        "e.pdf: skipped: it cannot be read as PDF",
    ):
        assert said in err
        assert said in report


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_decompression_bomb_is_stopped(explore, tmp_path, monkeypatch, pack):
    monkeypatch.setattr(streams, "BOMB_SIZE", 2**20)
    (tmp_path / "bomb.txt.gz").write_bytes(pack(b" " * 2**24))
    code, _, err, report = explore("bomb.txt.gz")
    assert code == 4
    assert "looks like a decompression bomb. If it is not, unpack it first." in err
    assert report is None


def test_what_comes_from_standard_input_may_be_anything(explore):
    code, _, err, report = explore("-", stdin=gzip.compress(TWINS))
    assert code == 0
    assert "standard input is of the format 'jsonl'" in err
    assert "holds a key twice" in report
    code, _, err, _ = explore("-", "--format", "jsonl", stdin=b"\xff\xfe")
    assert code == 4
    assert "there are no documents in it" in err


def test_a_name_that_was_mistyped_is_put_right(explore, tmp_path):
    (tmp_path / "letters.txt").write_text(WORDS)
    code, _, err, _ = explore("leters.txt")
    assert code == 4
    assert "no file or folder 'leters.txt'. Did you mean 'letters.txt'?" in err


def test_a_project_is_no_document_and_no_folder_of_documents(explore, tmp_path, monkeypatch):
    folder = tmp_path / "letters"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.txt").write_text(f"{WORDS} {i}")
    monkeypatch.chdir(folder)
    for _ in range(2):  # the second finds what the first left here, and leaves it out
        code, _, err, _ = explore(".", "--out", "letters.tacit")
        assert code == 0
        assert ".: 3 documents in 3 files." in err
    assert err.count("unchanged") == len(re.findall(r"^ *\d+/\d+  ", err, re.MULTILINE))
    code, _, err, _ = explore("letters.tacit")
    assert code == 4
    assert "is a project, not documents" in err
    assert "tacit serve letters.tacit" in err

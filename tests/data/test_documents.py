"""Documents: where they come from, what is done to them, and what is said about it."""

import gzip
import io
import json
import pickle
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import DataError, PartialInput
from tacit.data import Documents, document_blocks, spool, streams
from tacit.data.text_block import text_of
from tacit.data.text_lines import Limits, line_blocks, text_of_lines

some = settings(deadline=None, max_examples=60)  # no deadline: the first call compiles
TEXTS = ["One fish,", "", "two fish, naïve 東京", "red\tfish"]


def zstd(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


def write(path: Path, data: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def texts(documents: Documents) -> list[str]:
    """Read twice: what can be walked once only must not come up empty."""
    first = list(documents.texts())
    assert list(documents.texts()) == first
    assert len(documents) == len(first) == sum(documents.counts)
    for i in range(min(5, len(first))):
        assert (documents[i], documents[-1 - i]) == (first[i], first[-1 - i])
    return first


# --- In memory ---


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        lambda t: np.array(t, object),
        np.array,
        lambda t: (each for each in t),
        iter,
        pa.array,
        lambda t: pa.chunked_array([t[:1], t[1:]]),
        lambda t: pa.array(t).dictionary_encode(),
        lambda t: pytest.importorskip("pandas").Series(t),
        lambda t: pytest.importorskip("pandas").Series(t, dtype=object),
        lambda t: pytest.importorskip("polars").Series(t),
        lambda t: [each.encode() for each in t],
    ],
)
def test_documents_come_from_whatever_holds_them(make):
    assert texts(Documents.of(make(TEXTS))) == TEXTS


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_dataframe_gives_its_text_its_ids_and_its_other_columns(library):
    frame = pytest.importorskip(library).DataFrame(
        {"id": ["a", "b", "a"], "year": [1851, 1869, 1870], "body": ["x y", None, "z"]}
    )
    documents = Documents.of(frame)
    assert texts(documents) == ["x y", "", "z"]
    assert documents.ids == ["a", "b", "a#2"]
    assert documents.column("year") == [1851, 1869, 1870]
    assert documents.report.text_column == "body"
    assert documents.report.repairs.missing == 1
    assert documents.report.duplicate_ids == {"a": 2}
    assert Documents.of(frame, text="id").ids == range(3)


def test_the_text_column_of_a_dataframe_is_the_longest_if_no_name_tells():
    frame = pa.table({"who": ["ann", "bob"], "said": ["a long story", "and another one"]})
    documents = Documents.of(frame)
    assert documents.report.text_column == "said"
    assert any("'said'" in guess for guess in documents.report.guessed)
    with pytest.raises(ValueError, match=r"has no column 'where'\. It has who, said"):
        Documents.of(frame, text="where")


def test_missing_documents_are_empty_and_counted():
    pandas = pytest.importorskip("pandas")
    documents = Documents.of(["a", None, float("nan"), np.float32("nan"), pandas.NA, ""])
    assert texts(documents) == ["a", "", "", "", "", ""]
    assert documents.report.repairs.missing == 4
    assert documents.report.repairs.empty == 5


def test_other_types_are_refused_with_their_place():
    with pytest.raises(TypeError, match=r"Document 1 is of type int: '7'"):
        list(Documents.of(["a", 7]).texts())
    with pytest.raises(TypeError, match="Document 2 is of type list"):
        list(Documents.of(iter(["a", "b", ["c"]])).texts())
    with pytest.raises(TypeError, match="was given int"):
        Documents.of(3)


def test_one_string_is_a_path_and_says_to_wrap_it_in_a_list():
    with pytest.raises(FileNotFoundError, match=r"put it in a list: \[text\]"):
        Documents.of("It was a dark and stormy night")
    with pytest.raises(ValueError, match=r"in a list: \[text\]"):
        Documents.of(b"bytes")


def test_nuls_and_lone_surrogates_are_scrubbed_and_counted():
    documents = Documents.of(["a\0b", "c\ud800d \ud83d\ude00", "e"])
    assert texts(documents) == ["a b", "c\ufffdd 😀", "e"]
    repairs = documents.report.repairs
    assert (repairs.nuls, repairs.surrogates) == (1, 1)


def test_bytes_that_are_no_text_become_replacement_characters():
    documents = Documents.of([b"caf\xe9", "ok"])
    assert texts(documents) == ["caf\ufffd", "ok"]
    assert documents.report.repairs.undecodable == 1
    assert texts(Documents.of([b"caf\xe9"], encoding="latin-1")) == ["café"]
    with pytest.raises(UnicodeDecodeError):
        list(Documents.of([b"caf\xe9"], errors="strict").texts())


def test_a_document_over_a_gigabyte_is_refused_before_it_does_harm(monkeypatch):
    monkeypatch.setattr("tacit.data.text_block.LARGEST", 100)
    with pytest.raises(DataError, match="Document 1 has 101 characters"):
        Documents.of(["a", "b" * 101])[0]


def test_blocks_are_cut_by_size_and_travel_alone(monkeypatch):
    monkeypatch.setattr(document_blocks, "BLOCK_BYTES", 64)
    many = [f"document number {i}" for i in range(50)]
    monkeypatch.setattr(document_blocks.cut_by_size, "__defaults__", (64,))
    stored = Documents.of(iter(many))
    for documents in (Documents.of(many), Documents.of(pa.array(many)), stored):
        assert len(documents.blocks) > 10 or documents is stored
        block = documents.blocks[-1]
        travelled = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(block))))
        assert travelled.load().strings() == block.load().strings()
        assert len(pickle.dumps(block)) < len(pickle.dumps(many)) or documents is stored
        assert texts(documents) == many


@some
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"))))
def test_text_comes_back_as_it_was(strings):
    text = text_of(strings)
    assert text.strings() == strings
    assert [text.string(i) for i in range(len(text))] == strings
    assert text.repairs.empty == strings.count("")


# --- Lines ---


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_a_text_file_is_a_document_per_line(tmp_path, pack):
    data = "one\r\n\ntwo naïve\nlast"
    path = write(tmp_path / "lines.txt", pack(data.encode()))
    documents = Documents.open(path)
    assert texts(documents) == ["one", "", "two naïve", "last"]
    assert documents.ids == range(1, 5)  # as an editor counts lines
    assert documents.report.repairs.empty == 1


def test_an_empty_file_holds_no_documents(tmp_path):
    assert texts(Documents.open(write(tmp_path / "none.txt", ""))) == []
    assert texts(Documents.open(write(tmp_path / "one.txt", "\n"))) == [""]


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-be", "utf-32-be"]
)
def test_byte_order_marks_are_removed(tmp_path, encoding):
    mark = "" if encoding[-1] in "g62" else "\ufeff"
    path = write(tmp_path / "marked.txt", (mark + "été\nfin\n").encode(encoding))
    documents = Documents.open(path)
    assert texts(documents) == ["été", "fin"]
    assert "byte order mark removed" in str(documents.report)


def test_bad_bytes_are_replaced_counted_refused_or_cost_the_document(tmp_path):
    path = write(tmp_path / "bad.txt", b"good\nb\xff\xfed\nfine \xe2\x82\nna\xc3\xafve\n")
    documents = Documents.open(path)
    assert texts(documents) == ["good", "b\ufffd\ufffdd", "fine \ufffd", "naïve"]
    (file,) = documents.report.files
    assert file.undecodable == 3
    assert texts(Documents.open(path, errors="skip")) == ["good", "naïve"]
    assert Documents.open(path, errors="skip").report.lost.unreadable == 2
    with pytest.raises(DataError, match=r"bad.txt, row 2: byte 2 of the document is not UTF-8"):
        Documents.open(path, errors="strict")
    assert texts(Documents.open(path, encoding="latin-1"))[1] == "bÿþd"


def test_nuls_in_a_file_become_spaces(tmp_path):
    documents = Documents.open(write(tmp_path / "nul.txt", b"a\0b\nc\n"))
    assert texts(documents) == ["a b", "c"]
    assert documents.report.repairs.nuls == 1


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_truncated_file_gives_its_good_lines_and_is_marked_partial(tmp_path, pack):
    rng = np.random.default_rng(0)
    lines = [" ".join(map(str, rng.integers(0, 10**9, 20))) for _ in range(20_000)]
    whole = pack("\n".join(lines).encode())
    path = write(tmp_path / "cut.txt", whole[: len(whole) // 2])
    with pytest.raises(PartialInput, match=r"truncated.*allow_partial=True") as caught:
        Documents.open(path)
    assert caught.value.exit_code == 3
    documents = Documents.open(path, allow_partial=True)
    assert documents.report.partial[0].name == str(path)
    read = texts(documents)
    assert 1_000 < len(read) < len(lines)
    assert read[:-1] == lines[: len(read) - 1]


def test_several_gzip_members_are_one_text_and_trailing_bytes_are_noted(tmp_path):
    two = gzip.compress(b"one\n") + gzip.compress(b"two\n")
    assert texts(Documents.open(write(tmp_path / "a.gz", two))) == ["one", "two"]
    assert texts(Documents.open(write(tmp_path / "b.gz", two + b"\0" * 99))) == ["one", "two"]
    documents = Documents.open(write(tmp_path / "c.gz", two + b"junk"))
    assert texts(documents) == ["one", "two"]
    assert "bytes after the end" in str(documents.report)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_decompression_bomb_is_stopped(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(streams, "BOMB_SIZE", 2**20)
    path = write(tmp_path / "bomb.gz", pack(b"a" * 2**24))
    with pytest.raises(DataError, match="looks like a decompression bomb"):
        Documents.open(path, allow_partial=True)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_documents_over_the_limit_are_cut_skipped_or_refused(tmp_path, pack):
    long = "word " * 100
    path = write(tmp_path / "long.txt", pack(f"short\n{long}\nend\n".encode()))
    documents = Documents.open(path, max_document=64)
    read = texts(documents)
    assert "".join(read[1:-1]) == long
    assert max(map(len, read)) <= 64
    assert documents.report.lost.cut == len(read) - 3
    skipped = Documents.open(path, max_document=64, oversize="skip")
    assert texts(skipped) == ["short", "end"]
    assert skipped.report.lost.too_long == 1
    with pytest.raises(DataError, match=r"long.txt, row 2: a document of 500 bytes or more"):
        Documents.open(path, max_document=64, oversize="error")


def test_a_line_longer_than_the_limit_and_the_block_is_streamed():
    chunks = [b"first\n" + b"x" * 1000, b"y" * 1000 + b"\nlast\n"]
    blocks = list(line_blocks(chunks, Limits(longest=300), "here", size=100))
    assert b"".join(block.data for block in blocks) == b"".join(chunks)
    assert max(len(block.data) for block in blocks) <= 400
    assert sum(block.lost.cut for block in blocks) == 6
    skipping = line_blocks(chunks, Limits(longest=300, oversize="skip"), "here", size=100)
    left = list(skipping)
    assert b"".join(block.data for block in left) == b"first\nlast\n"
    assert sum(block.lost.too_long for block in left) == 1
    with pytest.raises(DataError, match=r"here, row 2: a document of .* over the limit of 300"):
        list(line_blocks(chunks, Limits(longest=300, oversize="error"), "here", size=100))


@some
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), max_size=40)),
    st.integers(1, 50),
    st.lists(st.integers(0, 200)),
)
def test_lines_do_not_depend_on_how_the_bytes_come(lines, size, cuts):
    data = "".join(line + "\n" for line in lines).encode()
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    chunks = [data[i:j] for i, j in pairwise(edges)]
    limits = Limits()
    blocks = list(line_blocks(chunks, limits, "x", size=size))
    assert blocks == list(line_blocks([data], limits, "x", size=size))
    read = [s for block in blocks for s in text_of_lines(block.data, limits)[0].strings()]
    assert read == lines


def test_a_file_that_changes_between_two_passes_is_noticed(tmp_path):
    path = write(tmp_path / "lines.txt", "one\ntwo\n")
    documents = Documents.open(path)
    write(path, "one\ntwo\nthree\n")
    with pytest.raises(DataError, match="changed while it was being read"):
        list(documents.texts())


def test_standard_input_is_walked_once_and_kept(monkeypatch):
    for data, expected in [(b"one\ntwo\n", ["one", "two"]), (b'{"text": "x"}\n', ["x"])]:
        stdin = io.TextIOWrapper(io.BytesIO(data))
        monkeypatch.setattr(sys, "stdin", stdin)
        documents = Documents.open("-")
        assert texts(documents) == expected
        assert documents.source == "standard input"


# --- Folders ---


def test_a_folder_is_read_in_sorted_order_with_its_paths_as_ids(tmp_path):
    write(tmp_path / "b.txt", "second")
    write(tmp_path / "a" / "deep" / "z.txt", "first\nof two lines")
    write(tmp_path / "c.txt.gz", gzip.compress(b"third"))
    write(tmp_path / "d", "no suffix")
    write(tmp_path / "e.txt", "\ufefféte".encode("utf-16-le"))
    write(tmp_path / ".hidden", "never")
    write(tmp_path / "t.csv", "a,b\n")
    write(tmp_path / "picture.png", bytes(range(256)) * 8)
    documents = Documents.open(tmp_path)
    assert documents.ids == ["a/deep/z.txt", "b.txt", "c.txt.gz", "d", "e.txt"]
    assert texts(documents) == ["first\nof two lines", "second", "third", "no suffix", "éte"]
    said = str(documents.report)
    assert "t.csv: skipped: a table; open it by itself" in said
    assert "picture.png: skipped" in said
    assert "not text" in said
    assert documents.report.files_read == 5
    only = Documents.open(tmp_path, pattern="*.txt")
    assert only.ids == ["b.txt", "e.txt"]


def test_a_folder_counts_repairs_for_each_file(tmp_path):
    write(tmp_path / "bad.txt", b"na\xefve")
    write(tmp_path / "good.txt", "fine")
    documents = Documents.open(tmp_path)
    assert texts(documents) == ["na\ufffdve", "fine"]
    (file,) = documents.report.files
    assert (file.name, file.undecodable) == ("bad.txt", 1)
    with pytest.raises(DataError, match="not UTF-8"):
        Documents.open(tmp_path, errors="strict")


def test_a_long_file_of_a_folder_comes_in_pieces(tmp_path):
    write(tmp_path / "a.txt", "short")
    write(tmp_path / "b.txt", "word " * 30)
    write(tmp_path / "c.txt", "end")
    documents = Documents.open(tmp_path, max_document=64)
    assert documents.ids == ["a.txt", "b.txt", "b.txt#2", "b.txt#3", "c.txt"]
    assert "".join(texts(documents)[1:4]) == "word " * 30
    skipped = Documents.open(tmp_path, max_document=64, oversize="skip")
    assert skipped.ids == ["a.txt", "c.txt"]
    assert skipped.report.lost.too_long == 1


def test_files_that_break_a_character_between_them_are_each_bad(tmp_path):
    write(tmp_path / "a.txt", "é".encode()[:1])
    write(tmp_path / "b.txt", "é".encode()[1:])
    assert texts(Documents.open(tmp_path)) == ["\ufffd", "\ufffd"]


def test_a_bomb_in_a_folder_is_stopped_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "BOMB_SIZE", 2**20)
    write(tmp_path / "bomb.txt.gz", gzip.compress(b"a " * 2**24))
    with pytest.raises(DataError, match="decompression bomb"):
        Documents.open(tmp_path, max_document=2**20)


def test_files_that_are_something_else_are_named(tmp_path):
    path = write(tmp_path / "letters.txt", b"PK\x03\x04 and so on")
    with pytest.raises(DataError, match=r"letters.txt: this is a zip archive"):
        Documents.open(path)
    write(tmp_path / "fine.txt", "fine")
    documents = Documents.open(tmp_path)
    assert texts(documents) == ["fine"]
    assert "zip archive" in str(documents.report)


def test_a_folder_without_documents_says_what_it_holds(tmp_path):
    with pytest.raises(DataError, match="there is no file in this folder"):
        Documents.open(tmp_path)
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (tmp_path / "b.csv").write_text("id,text\n1,hello\n")
    with pytest.raises(DataError, match=r"2 other files \(1 \.png, 1 \.csv\).* example b.csv"):
        Documents.open(tmp_path)


def test_a_folder_of_files_that_cannot_be_parsed_gives_the_first_reason(tmp_path):
    (tmp_path / "a.docx").write_bytes(b"no archive at all")
    with pytest.raises(DataError, match=r"1 other file \(1 \.docx\)\. The first is a\.docx: "):
        Documents.open(tmp_path)


# --- JSON arrays ---


def array_file(folder, text):
    path = folder / "rows.json"
    path.write_text(text)
    return path


@pytest.mark.parametrize("indent", [None, 1])
def test_a_json_array_gives_a_document_per_item(tmp_path, indent):
    rows = [{"id": f"n{i}", "text": "a\u2028b " * i, "more": [i, {}]} for i in range(300)]
    path = array_file(tmp_path, json.dumps(rows, indent=indent, ensure_ascii=False))
    documents = Documents.open(path)
    assert list(documents.texts()) == [row["text"] for row in rows]
    assert list(documents.ids) == [row["id"] for row in rows]
    assert list(Documents.open(array_file(tmp_path, '["one", "two"]')).texts()) == [
        "one",
        "two",
    ]


@pytest.mark.parametrize("text", ["[", '[{"text": "one"}, {"te', '[{"text": "one"} x]'])
def test_a_json_array_that_is_not_whole_is_an_error_with_the_item(tmp_path, text):
    with pytest.raises(DataError, match=r"item [12] of the array is not JSON"):
        Documents.open(array_file(tmp_path, text))


# --- Files that end early ---


def test_a_table_that_is_cut_inside_quotes_gives_the_rows_before(tmp_path):
    rows = "".join(f'{i},"{word} {i}, {i}"\n' for i, word in enumerate(["whale"] * 4000))
    whole = gzip.compress(f"id,text\n{rows}".encode())
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(PartialInput, match="truncated"):
        Documents.open(path)
    documents = Documents.open(path, allow_partial=True)
    assert 100 < len(documents) < 4000
    assert documents.report.partial


# --- Tables ---


CSV = 'id,year,text\na,1851,"Call me, ""Ishmael"""\nb,1869,"two\nlines"\na,1870,\n'


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
def test_a_csv_file_gives_text_ids_and_columns(tmp_path, pack):
    documents = Documents.open(write(tmp_path / "t.csv.gz", pack(CSV.encode())))
    assert texts(documents) == ['Call me, "Ishmael"', "two\nlines", ""]
    assert documents.ids == ["a", "b", "a#2"]
    assert documents.column("year") == [1851, 1869, 1870]
    assert documents.columns == ("id", "year")
    with pytest.raises(KeyError, match="no column 'month'"):
        documents.column("month")


@pytest.mark.parametrize(
    ("policy", "expected"),
    [("suffix", ["a", "b", "a#2"]), ("first", ["a", "b"]), ("last", ["b", "a"])],
)
def test_ids_that_come_again_are_dealt_with_as_asked(tmp_path, policy, expected):
    path = write(tmp_path / "t.csv", CSV)
    documents = Documents.open(path, duplicate_ids=policy)
    assert documents.ids == expected
    assert len(texts(documents)) == len(documents.column("year")) == len(expected)
    assert documents.report.duplicate_ids == {"a": 2}
    with pytest.raises(DataError, match=r"row 3: the id 'a' is repeated"):
        Documents.open(path, duplicate_ids="error")


def test_an_unterminated_quote_is_an_error_with_the_line_where_it_began(tmp_path):
    path = write(
        tmp_path / "q.csv", 'id,text\n1,fine\n2,"multi\nline"\n3,"open\n4,lost\n5,lost\n'
    )
    with pytest.raises(DataError, match=r"q.csv: line 5: a quote opens here and never closes"):
        Documents.open(path)
    path = write(tmp_path / "r.csv", 'text\n"a" b\n')
    with pytest.raises(DataError, match=r"line 2.*Double a quote"):
        Documents.open(path)


def test_a_long_csv_field_is_read(tmp_path):
    long = "word " * 100_000
    path = write(tmp_path / "long.csv", f'id,text\n1,"{long}"\n2,short\n')
    assert texts(Documents.open(path)) == [long, "short"]
    cut = Documents.open(path, max_document=2**18)
    assert "".join(texts(cut)[:-1]) == long
    assert cut.ids == ["1", "1#2", "2"]
    lines = "word\n" * 100_000
    path = write(tmp_path / "open.csv", f'id,text\n1,"{lines}\n2,short\n')
    with pytest.raises(DataError, match="line 2: a field is longer than 262,144"):
        Documents.open(path, max_document=2**16)


def test_rows_with_too_many_fields_are_errors_and_short_ones_are_counted(tmp_path):
    path = write(tmp_path / "wide.csv", "id,text\n1,a, and b\n")
    with pytest.raises(DataError, match="line 2: 3 fields, but there are 2 columns"):
        Documents.open(path)
    documents = Documents.open(write(tmp_path / "short.csv", "text,year\nabc\n"))
    assert texts(documents) == ["abc"]
    assert documents.report.short_rows == 1


def test_a_tsv_file_without_header_or_quotes_is_understood(tmp_path):
    path = write(
        tmp_path / "sms.tsv", 'ham\tGo until jurong point, "crazy\nspam\t"Free" entry in\n'
    )
    documents = Documents.open(path)
    assert texts(documents) == ['Go until jurong point, "crazy', '"Free" entry in']
    assert documents.column("1") == ["ham", "spam"]
    assert any("is data" in guess for guess in documents.report.guessed)


def test_other_separators_are_found(tmp_path):
    documents = Documents.open(write(tmp_path / "s.csv", "who;text\nann;a, b\n"))
    assert texts(documents) == ["a, b"]
    assert any("';'" in guess for guess in documents.report.guessed)


def test_jsonl_gives_records_and_says_what_was_odd(tmp_path):
    lines = [
        '{"id": 7, "text": "nul \\u0000 and \\ud800", "year": 1851}',
        "",
        '{"id": 8, "text": "first", "text": "second"}',
        '{"id": 9, "text": null, "tags": ["a", "b"]}',
        '"a bare string"',
    ]
    path = write(tmp_path / "r.jsonl", "\n".join(lines))
    documents = Documents.open(path)
    assert texts(documents) == ["nul   and \ufffd", "second", "", "a bare string"]
    assert documents.ids == ["7", "8", "9", "4"]
    assert documents.column("year") == [1851, None, None, None]
    assert documents.column("tags") == [None, None, '["a", "b"]', None]
    report = documents.report
    assert report.duplicate_keys == 1
    assert (report.repairs.missing, report.repairs.nuls, report.repairs.surrogates) == (1, 1, 1)
    assert texts(Documents.open(path, duplicate_keys="first"))[1] == "first"
    with pytest.raises(DataError, match=r"line 3: an object holds a key twice"):
        Documents.open(path, duplicate_keys="error")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2 is not JSON"),
        ("[1, 2]", "line 2 holds an array, .* format='json' reads"),
        ("17", "line 2 holds a number, .* Write one object per line"),
        ("null", "line 2 holds null"),
        ("[" * 100_000, "line 2 is not JSON"),
    ],
)
def test_lines_that_are_no_json_objects_are_errors(tmp_path, line, message):
    path = write(tmp_path / "bad.jsonl", f'{{"text": "a"}}\n{line}\n')
    with pytest.raises(DataError, match=message):
        Documents.open(path)


@pytest.mark.parametrize("pack", [None, gzip.compress])
def test_parquet_is_read_by_row_groups_with_its_columns(tmp_path, pack):
    nested = pa.array([{"x": 1, "y": 2}] * 3)
    table = pa.table(
        {"n": nested, "doc_id": [3, 4, 5], "body": ["a b", None, "c"], "year": [1, 2, 3]}
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, row_group_size=1)
    if pack:
        path = write(tmp_path / "t.parquet.gz", pack(path.read_bytes()))
    documents = Documents.open(path)
    assert texts(documents) == ["a b", "", "c"]
    assert documents.ids == ["3", "4", "5"]
    assert documents.column("year") == [1, 2, 3]
    assert documents.report.repairs.missing == 1


def test_a_damaged_parquet_file_is_an_error_that_names_it(tmp_path):
    path = write(tmp_path / "t.parquet", b"PAR1 and then nothing")
    with pytest.raises(DataError, match=r"t\.parquet: this Parquet file cannot be read"):
        Documents.open(path)
    pq.write_table(pa.table({"n": [1, 2]}), path)
    with pytest.raises(DataError, match=r"no column of strings; it has \['n'\]"):
        Documents.open(path)


def test_what_can_be_read_once_spills_to_a_file_that_goes_away(monkeypatch, tmp_path):
    monkeypatch.setattr(spool.tempfile, "tempdir", str(tmp_path))
    many = [f"{i} " + "x" * 5000 for i in range(2000)]
    monkeypatch.setattr(spool.Spool.__init__, "__defaults__", (1000,))
    documents = Documents.of(iter(many))
    assert len(list(tmp_path.iterdir())) == 1
    assert len(documents.blocks) > 1
    block = pickle.loads(pickle.dumps(documents.blocks[-1]))
    assert block.load().strings() == documents.blocks[-1].load().strings()
    assert texts(documents) == many
    del documents, block
    assert list(tmp_path.iterdir()) == []


def test_unknown_options_are_refused():
    for option in ("format", "errors", "oversize", "duplicate_ids", "duplicate_keys"):
        with pytest.raises(ValueError, match=rf"{option}='x' is unknown; choose from"):
            Documents.open("-", **{option: "x"})
    with pytest.raises(ValueError, match="encoding='x' is not known to Python"):
        Documents.open("-", encoding="x")
    with pytest.raises(ValueError, match="max_document=3 must be at least 16 bytes"):
        Documents.open("-", max_document=3)


def test_the_report_is_also_plain_values(tmp_path):
    documents = Documents.open(write(tmp_path / "t.csv", CSV))
    plain = json.loads(json.dumps(documents.report.to_dict()))
    assert plain["documents"] == 3
    assert plain["repairs"]["empty"] == 1
    assert plain["duplicate_ids"] == {"a": 2}
    assert repr(documents).startswith("Documents(3 documents, 1 blocks, from ")


@pytest.mark.parametrize("kind", [pa.binary(), pa.string()])
def test_bytes_of_a_parquet_file_that_are_no_text_become_u_fffd(tmp_path, kind):
    sizes = pa.py_buffer(np.array([0, 7, 10], np.int32))
    column = pa.Array.from_buffers(kind, 2, [None, sizes, pa.py_buffer(b"the catx\xffy")])
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"text": column}), path)
    result = Documents.open(path)
    assert list(result.texts()) == ["the cat", "x\ufffdy"]
    assert result.report.repairs.undecodable == 1
    with pytest.raises(DataError, match=r"t\.parquet, row 2: byte 2 of the document is not"):
        Documents.open(path, errors="strict")


def test_a_parquet_column_of_lists_is_an_error_that_names_the_file(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"text": [["a"], ["b", "c"]]}), path)
    with pytest.raises(DataError, match=r"t\.parquet: the column of the text is of type list"):
        Documents.open(path)


def test_a_suffix_gives_no_document_the_id_of_another(tmp_path):
    rows = ["id,text", "a,one", "a,two", "a#2,three", "a,four", "a#3,five"]
    path = write(tmp_path / "t.csv", "\n".join(rows).encode())
    result = Documents.open(path)
    assert list(result.ids) == ["a", "a#4", "a#2", "a#5", "a#3"]
    assert result.report.duplicate_ids == {"a": 3}


@pytest.mark.parametrize("encoding", ["rot13", "base64", "idna", "undefined"])
def test_codecs_that_are_no_encodings_of_text_are_refused(tmp_path, encoding):
    path = write(tmp_path / "t.txt", b"the cat\n")
    with pytest.raises(ValueError, match=f"encoding='{encoding}' is not known to Python"):
        Documents.open(path, encoding=encoding)


def test_utf_16_without_a_mark_is_told_by_its_zeros(tmp_path):
    for kind in ("utf-16-le", "utf-16-be"):
        path = write(tmp_path / "t.txt", ("the cat sat on the mat\n" * 5).encode(kind))
        with pytest.raises(DataError, match=f"use encoding='{kind}'"):
            Documents.open(path)
        with pytest.raises(DataError, match=r"t\.txt: .* Use encoding='utf-16-le' or"):
            Documents.open(path, encoding="utf-16")

"""``tacit index``: the same answers as Python's, safe to print, with the right exit codes."""

import csv
import gzip
import io
import json
import shutil

import numpy as np
import pytest

import tacit as package
from tacit.cli.main import main
from tacit.cluster import KMeans
from tacit.data import Documents
from tacit.search import InvertedIndex, NearDuplicates, SemanticIndex

DOCUMENTS = {
    "a": "Crude oil prices fell",
    "b": "Gas and oil futures",
    "c": "Natural gas prices rose as oil fell",
    "d": "Crude oil prices fell!",
    "e": "",
}


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "news.jsonl"
    lines = [json.dumps({"id": id, "text": text}) for id, text in DOCUMENTS.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("index")
    path = folder / "news.safetensors"
    lines = [json.dumps({"id": id, "text": text}) for id, text in DOCUMENTS.items()]
    (folder / "news.jsonl").write_text("\n".join(lines) + "\n")
    source = str(folder / "news.jsonl")
    assert main(["index", "build", source, "--out", str(path), "-q"]) == 0
    return path


@pytest.fixture
def built(index, tmp_path):
    return shutil.copy(index, tmp_path / "news.safetensors")


# --- The same as Python ---


def test_build_writes_the_index_that_python_would(tacit, corpus, tmp_path):
    run = tacit("index", "build", corpus, "--out", tmp_path / "cli.safetensors", "--json")
    assert run.code == 0
    InvertedIndex(memory=10**9).fit(Documents.open(corpus)).save(tmp_path / "py")
    loaded = package.load(tmp_path / "cli.safetensors")
    expected = package.load(tmp_path / "py")
    for name, value in vars(expected).items():
        if name.endswith("_"):
            np.testing.assert_array_equal(getattr(loaded, name), value)
    result = json.loads(run.out)
    assert (result["documents"], result["words"], result["tokens"]) == (5, 10, 19)
    assert result["bytes"] == (tmp_path / "cli.safetensors").stat().st_size


@pytest.mark.parametrize(
    "query", ["oil AND NOT gas", '"crude oil"', "pri* OR fut*", "NOT oil", "gas oil", "nowhere"]
)
@pytest.mark.parametrize("rank", ["bm25", "tfidf"])
def test_search_gives_what_python_gives(tacit, built, query, rank):
    run = tacit("index", "search", built, query, "--rank", rank, "--top", 3, "--json")
    assert run.code == 0
    expected = package.load(built).search(query, rank=rank, top=3).to_dict()
    assert json.loads(run.out) == {"index": str(built), "query": query, **expected}


def test_a_query_may_be_several_arguments(tacit, built):
    run = tacit("index", "search", built, "oil", "AND", "NOT", "gas", "--json")
    assert [hit["id"] for hit in json.loads(run.out)["hits"]] == ["a", "d"]
    run = tacit("index", "search", built, "--json", "--", "-gas", "oil")
    assert [hit["id"] for hit in json.loads(run.out)["hits"]] == ["a", "d"]
    run = tacit("index", "search", built, "futures", "rose", "--operator", "or", "--json")
    assert json.loads(run.out)["total"] == 2


def test_similar_gives_what_python_gives(tacit, built):
    run = tacit("index", "similar", built, "a", "--json")
    assert run.code == 0
    expected = package.load(built).similar_documents("a").to_dict()
    assert json.loads(run.out) == {"index": str(built), "id": "a", **expected}
    assert expected["hits"][0]["id"] == "d"


def test_an_index_of_meanings_is_built_searched_and_compared(tacit, corpus, tmp_path):
    path = tmp_path / "meaning.safetensors"
    options = ("--semantic", "--components", 2, "--seed", 3)
    run = tacit("index", "build", corpus, "--out", path, *options, "--json")
    assert run.code == 0, run.err
    assert json.loads(run.out)["kind"] == "SemanticIndex"
    model = SemanticIndex(2, random_state=3).fit(Documents.open(corpus))
    result = json.loads(tacit("index", "search", path, "crude", "--json").out)
    assert [hit["id"] for hit in result["hits"]] == model.search("crude").ids
    result = json.loads(tacit("index", "similar", path, "a", "--json").out)
    assert [hit["id"] for hit in result["hits"]] == model.similar_documents("a").ids
    run = tacit("index", "search", path, "crude", "--operator", "or")
    assert run.code == 2
    assert "--operator is for an index of words" in run.err
    run = tacit("index", "search", path, "crude NOT gas")
    assert run.code == 2
    assert "cannot exclude words with NOT" in run.err
    both = json.loads(tacit("index", "search", path, "crude AND prices", "--json").out)
    plain = json.loads(tacit("index", "search", path, "crude prices", "--json").out)
    assert both["hits"] == plain["hits"]
    assert both["notes"][0].startswith("Ignored: AND.")


def test_duplicates_gives_what_python_gives(tacit, corpus, tmp_path):
    run = tacit("index", "duplicates", corpus, "--json", "--out", tmp_path / "groups.csv")
    assert run.code == 0
    model = NearDuplicates(0.8, random_state=0).fit(Documents.open(corpus))
    result = json.loads(run.out)
    assert result["groups"] == model.groups() == [["a", "d"]]
    assert result["pairs"] == [pair.to_dict() for pair in model.pairs()]
    assert result["empty"] == ["e"]
    rows = list(csv.reader(io.StringIO((tmp_path / "groups.csv").read_text())))
    assert rows == [["id", "group"], ["a", "0"], ["b", ""], ["c", ""], ["d", "0"], ["e", ""]]


# --- What a person sees ---


def test_the_page_shows_hits_with_what_was_found_in_brackets(tacit, built):
    run = tacit("index", "search", built, "crude")
    lines = run.out.splitlines()
    assert lines[0].startswith("a  ")
    assert lines[1] == "    [Crude] oil prices fell"
    assert lines[-1] == "2 of 2 documents."
    assert tacit("index", "search", built, "nowhere").out == "No document matches.\n"


def test_build_and_duplicates_say_what_they_did(tacit, corpus, tmp_path):
    run = tacit("index", "build", corpus, "--out", tmp_path / "x.safetensors")
    assert "5 documents, 10 different words, 19 in all" in run.out
    assert "Index written to" in run.err
    assert "1 empty document." in run.err
    run = tacit("index", "duplicates", corpus)
    assert run.out.splitlines()[0] == "     2  a, d"
    assert "1 group of near-duplicates with 2 documents. 1 of 5 documents" in run.out


def test_notes_go_to_standard_error(tacit, corpus, tmp_path):
    path = tmp_path / "stopped.safetensors"
    tacit("index", "build", corpus, "--out", path, "--stop-words", "english", "-q")
    run = tacit("index", "search", path, "and", "oil")
    assert "Left out of the query, as they are of the index: 'and'." in run.err
    assert tacit("index", "search", path, "and", "oil", "-q").err == ""


def test_hostile_text_does_not_reach_the_terminal(tacit, tmp_path):
    evil = "\x1b]0;owned\x07 oil \x1b[2J\x9b31m \u202e reversed \r\n\x08 oil"
    path = tmp_path / "evil.jsonl"
    lines = [json.dumps({"id": f"\x1b[31mred{i}\u202e\n", "text": evil}) for i in range(2)]
    path.write_text("\n".join(lines))
    target = tmp_path / "i.safetensors"
    runs = [
        tacit("index", "build", path, "--out", target),
        tacit("index", "search", target, "oil"),
        tacit("index", "search", target, "oil \x1b[31m("),
        tacit("index", "similar", target, "\x1b[31mred0\u202e\n"),
        tacit("index", "similar", target, "\x1b[31mnobody"),
        tacit("index", "duplicates", path),
    ]
    assert [run.code for run in runs] == [0, 0, 2, 0, 2, 0]
    for run in runs:
        for c in run.out + run.err:
            assert c == "\n" or c.isprintable() or c == "\t", repr(c)
            assert c not in "\u202e\x9b"
    result = json.loads(tacit("index", "search", target, "oil", "--json").out)
    assert result["hits"][0]["id"] == "\x1b[31mred0\u202e\n"  # JSON has it as it is


# --- What goes wrong ---


def test_a_mistake_in_a_query_is_wrong_usage_with_its_place(tacit, built):
    run = tacit("index", "search", built, "oil AND (gas")
    assert run.code == 2
    assert run.err.splitlines() == [
        "Error: The query opens a parenthesis at character 9 that is never closed. Close it, "
        "or remove it.",
        "    oil AND (gas",
        "            ^",
    ]
    assert run.out == ""


def test_an_unknown_document_is_wrong_usage(tacit, built):
    run = tacit("index", "similar", built, "zzz")
    assert run.code == 2
    assert "There is no document 'zzz' in the index." in run.err


def test_what_is_no_index_is_refused(tacit, tmp_path):
    KMeans(2, random_state=0).fit(np.eye(3)).save(tmp_path / "k.safetensors")
    run = tacit("index", "search", tmp_path / "k.safetensors", "oil")
    assert run.code == 4
    assert "holds a KMeans, not an index" in run.err
    (tmp_path / "text").write_text("hello")
    assert tacit("index", "search", tmp_path / "text", "oil").code == 4
    assert tacit("index", "search", tmp_path / "nowhere", "oil").code == 4


def test_documents_without_words_are_bad_input(tacit, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text("\n\n\n")
    run = tacit("index", "build", path, "--out", tmp_path / "x.safetensors")
    assert run.code == 4
    assert "All 3 documents are empty" in run.err
    assert not (tmp_path / "x.safetensors").exists()


def test_a_place_that_cannot_be_written_is_found_out_first(tacit, corpus, tmp_path):
    run = tacit("index", "build", corpus, "--out", tmp_path / "no" / "x.safetensors")
    assert run.code == 4
    assert "There is no such folder" in run.err


def test_a_truncated_file_gives_what_there_is_and_says_so(tacit, tmp_path):
    noise = np.random.default_rng(0).integers(10**9, size=4000)
    lines = ["crude oil", *(f"word{i}" for i in noise)]
    packed = tmp_path / "cut.txt.gz"
    packed.write_bytes(gzip.compress("\n".join(lines).encode())[:-4000])
    target = tmp_path / "x.safetensors"
    run = tacit("index", "build", packed, "--out", target)
    assert run.code == 3
    assert "--allow-partial accepts that" in run.err
    assert tacit("index", "search", target, "crude").code == 0
    assert tacit("index", "build", packed, "--out", target, "--allow-partial").code == 0


@pytest.mark.parametrize("size", ["lots", "0", "-1GB", "1e3"])
def test_sizes_are_read_or_refused(tacit, corpus, tmp_path, size):
    run = tacit("index", "build", corpus, "--out", tmp_path / "x", "--memory", size)
    assert run.code == 2
    assert "is not a size. Write it as 500MB or 4GB." in run.err


def test_sizes_may_have_units(tacit, corpus, tmp_path):
    for size in ("1000", "1kB", "0.5 GB", "2GiB"):
        run = tacit("index", "build", corpus, "--out", tmp_path / "x", "--memory", size)
        assert run.code == 0


def test_standard_input_will_do(tacit, tmp_path):
    target = tmp_path / "x.safetensors"
    run = tacit("index", "build", "-", "--out", target, stdin=b"crude oil\nnatural gas\n")
    assert run.code == 0
    result = json.loads(tacit("index", "search", target, "gas", "--json").out)
    assert [hit["id"] for hit in result["hits"]] == ["2"]  # from 1
    assert json.loads(tacit("index", "similar", target, "2", "--json").out)["total"] == 0


def test_json_and_csv_cannot_share_standard_output(tacit, corpus):
    run = tacit("index", "duplicates", corpus, "--json", "--out", "-")
    assert run.code == 2
    run = tacit("index", "duplicates", corpus, "--out", "-", "-q")
    assert run.out.splitlines()[0] == "id,group"
    assert "1 group of near-duplicates" in run.err


def test_documents_of_an_index_of_meanings_are_found_by_their_numbers(tacit, corpus, tmp_path):
    target = tmp_path / "meanings.safetensors"
    text = b"crude oil price\ncrude oil export\nnatural gas price\n"
    build = tacit("index", "build", "-", "--semantic", "--out", target, stdin=text)
    assert build.code == 0
    run = tacit("index", "similar", target, "1", "--json")
    assert run.code == 0
    assert json.loads(run.out)["hits"][0]["id"] == "2"
    assert tacit("index", "similar", target, "4").code == 2
    run = tacit("words", "similar", target, "zeppelin")
    assert run.code == 2
    assert "There is no term 'zeppelin' in the index." in run.err


def test_an_index_is_not_written_to_a_file_called_minus(tacit, corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = tacit("index", "build", corpus, "--out", "-")
    assert run.code == 2
    assert not (tmp_path / "-").exists()


def test_a_flipped_bit_is_found_before_the_search_unless_the_file_is_trusted(tacit, built):
    data = bytearray(built.read_bytes())
    data[-20] ^= 1  # in the arrays, which a mapped file does not verify
    built.write_bytes(data)
    run = tacit("index", "search", built, "oil")
    assert run.code == 4
    assert "checksum" in run.err
    assert tacit("index", "similar", built, "a").code == 4
    assert "--trust" in tacit("index", "search", "--help").out

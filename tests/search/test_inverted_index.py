"""The index as a whole: where documents come from, adding, files, threads, bad input."""

import errno
import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from mmap import mmap as MemoryMap

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tacit
from tacit.core import Dask, ModelFileError, Serial, Threads
from tacit.data import Documents
from tacit.data.document_blocks import ListRows
from tacit.search import InvertedIndex, QueryError

DOCUMENTS = [
    "Crude oil prices fell",
    "Gas and oil futures",
    "Natural gas prices rose as oil fell",
    "Le pétrole brut a baissé",
    "石油の価格が下がった",
]


def random_documents(n=300, seed=0):
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(200)]
    law = 1 / np.arange(1, 201)
    law /= law.sum()
    return [" ".join(rng.choice(words, size=rng.integers(0, 40), p=law)) for _ in range(n)]


def in_blocks(documents, *cuts):
    edges = list(pairwise([0, *cuts, len(documents)]))
    blocks = tuple(ListRows(documents, i, j) for i, j in edges)
    return Documents(blocks, len(documents), tuple(j - i for i, j in edges))


def content(index):
    return {k: v for k, v in vars(index).items() if k.endswith("_")}


def assert_same_index(a, b):
    a, b = content(a), content(b)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def is_mapped(array):
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return isinstance(array, MemoryMap)


# --- Where documents come from ---


def test_any_source_gives_the_same_index(tmp_path):
    expected = InvertedIndex().fit(DOCUMENTS)
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(DOCUMENTS) + "\n")
    for source in (tuple(DOCUMENTS), iter(DOCUMENTS), Documents.of(DOCUMENTS), str(path), path):
        assert_same_index(InvertedIndex().fit(source), expected)


def test_documents_keep_their_names(tmp_path):
    for name, text in zip("cab", DOCUMENTS, strict=False):
        (tmp_path / f"{name}.txt").write_text(text)
    index = InvertedIndex().fit(tmp_path)
    assert index.ids == ["a.txt", "b.txt", "c.txt"]
    assert index.search("crude").ids == ["c.txt"]
    assert index.text("c.txt") == DOCUMENTS[0]
    named = InvertedIndex().fit(DOCUMENTS, ids=list("vwxyz"))
    assert named.search("crude").ids == ["v"]
    assert named.similar_documents("v", top=1).ids == ["x"]


def test_missing_documents_are_empty_ones():
    index = InvertedIndex().fit(["oil", None, float("nan"), "", "gas"])
    assert index.n_documents_ == 5
    assert index.search("NOT oil").ids == [1, 2, 3, 4]


def test_words_are_found_in_every_script():
    index = InvertedIndex().fit([*DOCUMENTS, "E\u0301tude 👍🏽", "ΣΑΣ"])
    assert index.search("石油").ids == [4]
    assert index.search("PÉTROLE").ids == [3]
    assert index.search("étude").ids == [5]
    assert index.search("👍🏽").ids == [5]
    assert index.search("σας").ids == [6]


# --- The bytes do not depend on how the work was done ---


def test_blocks_and_budget_do_not_change_a_byte():
    documents = random_documents()
    expected = InvertedIndex(store_text=False).fit(documents)
    for cuts in ([150], [1, 2, 3], list(range(10, 300, 10))):
        parts = in_blocks(documents, *cuts)
        assert_same_index(InvertedIndex(store_text=False).fit(parts), expected)
        spilled = InvertedIndex(store_text=False, memory=1000).fit(parts)
        assert_same_index(spilled, expected)


def test_what_was_spilled_can_be_searched_read_and_saved(tmp_path):
    documents = random_documents()
    parts = in_blocks(documents, *range(7, 300, 7))
    whole = InvertedIndex().fit(parts)
    spilled = InvertedIndex(memory=20_000).fit(parts)
    assert_same_index(spilled, whole)
    assert is_mapped(spilled.lists_)
    assert is_mapped(spilled.pieces_)
    assert not is_mapped(whole.lists_)
    assert spilled.search("w3 w5").to_dict() == whole.search("w3 w5").to_dict()
    assert [spilled.text(i) for i in range(300)] == documents
    spilled.save(tmp_path / "index.safetensors")
    assert_same_index(tacit.load(tmp_path / "index.safetensors"), whole)


@pytest.mark.parametrize("engine", [Serial(), Threads(1), Threads(3)], ids=str)
def test_every_engine_gives_the_same_bytes(engine):
    parts = in_blocks(random_documents(), *range(20, 300, 20))
    expected = InvertedIndex(engine="serial").fit(parts)
    assert_same_index(InvertedIndex(engine=engine).fit(parts), expected)


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes():
    distributed = pytest.importorskip("distributed")
    parts = in_blocks(random_documents(), *range(20, 300, 20))
    expected = InvertedIndex(engine="serial").fit(parts)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        assert_same_index(InvertedIndex(engine=Dask()).fit(parts), expected)


# --- Adding ---


def test_adding_gives_the_index_of_all_documents():
    documents = random_documents()
    expected = InvertedIndex().fit(in_blocks(documents, 100, 101, 220))
    index = InvertedIndex().fit(documents[:100])
    index.add(documents[100:101]).add(documents[101:220]).add(iter(documents[220:]))
    assert_same_index(index, expected)
    assert InvertedIndex().add(documents).search("w3").ids == expected.search("w3").ids


def test_adding_nothing_changes_nothing():
    index = InvertedIndex().fit(DOCUMENTS)
    before = content(index)
    assert_same_index(index.add([]), InvertedIndex().fit(DOCUMENTS))
    assert before["n_documents_"] == 5


def test_a_file_can_be_added_to(tmp_path):
    InvertedIndex().fit(DOCUMENTS[:2]).save(tmp_path / "a.safetensors")
    for mmap in (False, True):
        index = tacit.load(tmp_path / "a.safetensors", mmap=mmap).add(DOCUMENTS[2:])
        assert_same_index(index, InvertedIndex().fit(in_blocks(DOCUMENTS, 2)))


def test_names_are_for_all_documents_or_for_none():
    named = InvertedIndex().fit(["oil"], ids=["a"])
    with pytest.raises(ValueError, match="are named, but those to be added are not"):
        named.add(["gas"])
    with pytest.raises(ValueError, match="holds a document 'a' already"):
        named.add(["gas"], ids=["a"])
    assert named.add(["oil gas"], ids=["b"]).search("oil").ids == ["a", "b"]
    with pytest.raises(ValueError, match="are not named, but those to be added are named"):
        InvertedIndex().fit(["oil"]).add(["gas"], ids=["b"])
    with pytest.raises(ValueError, match=r"2 ids for 1 documents"):
        InvertedIndex().fit(["oil"], ids=["a", "b"])
    with pytest.raises(ValueError, match="'a' is given more than once"):
        InvertedIndex().fit(["oil", "gas"], ids=["a", "a"])


# --- Files ---


def test_a_saved_index_answers_the_same(tmp_path):
    names = [str(i) for i in range(300)]
    index = InvertedIndex(stop_words="english").fit(random_documents(), ids=names)
    index.save(tmp_path / "one.safetensors")
    index.save(tmp_path / "two.safetensors")
    assert (tmp_path / "one.safetensors").read_bytes() == (
        tmp_path / "two.safetensors"
    ).read_bytes()
    for mmap in (False, True):
        again = tacit.load(tmp_path / "one.safetensors", mmap=mmap)
        assert_same_index(again, index)
        for query in ("w1 w2", '"w1 w1"', "w1* -w3", "NOT w1"):
            assert again.search(query).to_dict() == index.search(query).to_dict()
        assert again.similar_documents("7").to_dict() == index.similar_documents("7").to_dict()
        again.save(tmp_path / "three.safetensors")
        assert (tmp_path / "three.safetensors").read_bytes() == (
            tmp_path / "one.safetensors"
        ).read_bytes()


def test_damaged_lists_are_an_error_or_wrong_but_never_a_crash():
    rng = np.random.default_rng(0)
    good = InvertedIndex().fit(random_documents(60))
    queries = ["w1 w2", '"w1 w1 w2"', "w1* OR w2*", "NOT w0", "*1*"]
    refused = 0
    for _ in range(150):
        index = clone(good)
        vars(index).update({k: np.array(v) for k, v in content(good).items() if np.ndim(v)})
        vars(index).update({k: v for k, v in content(good).items() if not np.ndim(v)})
        for name in ("lists_", "places_", "pieces_", "lengths_", "document_counts_"):
            array = vars(index)[name].view(np.uint8)
            if rng.random() < 0.5:
                where = rng.integers(len(array), size=rng.integers(1, 8))
                array[where] = rng.integers(256, size=len(where))
        index._after_load()
        for query in queries:
            for rank in ("bm25", "tfidf"):
                try:
                    with np.errstate(all="ignore"):
                        index.search(query, rank=rank)
                except ModelFileError:
                    refused += 1
    assert refused > 100


def test_offsets_that_do_not_fit_are_refused(tmp_path):
    index = InvertedIndex().fit(DOCUMENTS)
    for name in ("word_edges_", "list_edges_", "place_edges_", "piece_edges_", "piece_rows_"):
        bad = clone(index)
        vars(bad).update(content(index))
        edges = np.array(vars(bad)[name])
        edges[-1] += 5
        setattr(bad, name, edges)
        bad._content = None
        bad.save(tmp_path / "bad.safetensors")
        for mmap in (False, True):
            with pytest.raises(ModelFileError, match=r"does not fit|not those of all"):
                tacit.load(tmp_path / "bad.safetensors", mmap=mmap)


# --- Threads ---


def test_two_hundred_searches_at_once_give_what_one_gives():
    index = InvertedIndex().fit(random_documents())
    queries = [f"w{i} OR w{i + 1}*" if i % 2 else f'"w{i % 5} w{i % 3}"' for i in range(200)]
    expected = [index.search(query).to_dict() for query in queries]
    with ThreadPoolExecutor(32) as pool:
        found = [hits.to_dict() for hits in pool.map(index.search, queries)]
    assert found == expected


def test_searches_go_on_while_documents_are_added():
    documents = random_documents()
    index = InvertedIndex().fit(documents[:50])

    def look(_):
        hits = index.search("w0", top=None, snippet=0)
        return hits.total, len(hits), max(hits.ids)

    with ThreadPoolExecutor(4) as pool:
        looks = pool.map(look, range(200))
        for start in range(50, 300, 50):
            index.add(documents[start : start + 50])
        seen = list(looks)
    valid = {}
    for size in range(50, 301, 50):
        hits = InvertedIndex().fit(documents[:size]).search("w0", top=None)
        valid[hits.total] = (hits.total, len(hits), max(hits.ids))
    assert set(seen) <= set(valid.values())
    assert index.n_documents_ == 300


# --- Stop words and other words that are left out ---


def test_stop_words_are_left_out_of_both_and_noted():
    documents = ["the man of war", "a man at war", "man war"]
    index = InvertedIndex(stop_words="english").fit(documents)
    assert index.n_words_ == 2
    hits = index.search("the man")
    assert sorted(hits.ids) == [0, 1, 2]
    assert hits.notes == ["Left out of the query, as they are of the index: 'the'."]


def test_a_stop_word_in_a_phrase_stands_for_any_word():
    index = InvertedIndex(stop_words=["of", "at"]).fit(["man of war", "man at war", "man war"])
    assert sorted(index.search('"man of war"').ids) == [0, 1]
    assert sorted(index.search('"man war"').ids) == [2]


@pytest.mark.parametrize("query", ["the", "the AND of", "NOT the", '"of the"', "!!! ???"])
def test_a_query_of_words_left_out_says_so(query):
    index = InvertedIndex(stop_words="english").fit(["the man of war"])
    with pytest.raises(QueryError, match="only words that this index leaves out: '"):
        index.search(query)


def test_stop_words_that_are_several_words_are_warned_of():
    with pytest.warns(UserWarning, match='1 of the stop_words are several words .*"don\'t"'):
        InvertedIndex(stop_words=["the", "don't"]).fit(["the oil"])
    with pytest.raises(TypeError, match="stop_words must be str, but 3 is not"):
        InvertedIndex(stop_words=["a", 3]).fit(["the oil"])


def test_stop_words_may_be_written_in_capitals():
    assert InvertedIndex(stop_words=["The"]).fit(["the oil"]).n_words_ == 1


# --- Wildcards ---


def test_a_wildcard_over_too_many_words_takes_the_frequent_ones_and_says_so():
    documents = [f"word{i % 50} word{i % 7} tail" for i in range(100)]
    index = InvertedIndex().fit(documents)
    hits = index.search("word*", top=None, max_expansions=7)
    assert hits.notes == [
        "'word*' matches 50 words; the 7 in the most documents were used. Write more letters, "
        "or raise max_expansions."
    ]
    assert hits.total == 100
    assert not index.search("word*", max_expansions=50).notes


@pytest.mark.parametrize("query", ["*", "**", "oil *"])
def test_a_star_alone_is_an_error(query):
    with pytest.raises(QueryError, match="needs some letters"):
        InvertedIndex().fit(DOCUMENTS).search(query)


def test_a_wildcard_is_part_of_one_word():
    index = InvertedIndex().fit(DOCUMENTS)
    with pytest.raises(QueryError, match=r"must be part of one word, but 'well-kn' is 2"):
        index.search("well-kn*")
    with pytest.raises(QueryError, match=r"do not work inside quotes.*character 5"):
        index.search('"oil* prices"')
    assert index.search('"oil * prices"').ids == [0]  # a star on its own is punctuation
    assert index.search("PRI*").total == 2
    assert index.search("pétr*").ids == [3]


# --- Bad input ---


def test_what_is_no_collection_of_documents_says_why():
    with pytest.raises(ValueError, match="needs documents, but there are none"):
        InvertedIndex().fit([])
    with pytest.raises(ValueError, match="All 3 documents are empty"):
        InvertedIndex().fit(["", None, ""])
    with pytest.raises(ValueError, match="hold no words but stop words, of which there are 2"):
        InvertedIndex(stop_words=["the", "of"]).fit(["the of", "of"])
    with pytest.raises(ValueError, match="no words of 9 letters or more"):
        InvertedIndex(min_length=9).fit(["oil", "gas"])
    with pytest.raises(FileNotFoundError, match=r"put it in a list"):
        InvertedIndex().fit("one document")
    with pytest.raises(TypeError, match="Document 1 is of type int"):
        InvertedIndex().fit(["oil", 3])


def test_settings_are_checked():
    for wrong in ({"rule": "x"}, {"k1": -1}, {"b": 2}, {"min_length": 0}, {"memory": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            InvertedIndex(**wrong).fit(DOCUMENTS)
    index = InvertedIndex().fit(DOCUMENTS)
    with pytest.raises(ValueError, match=r"rank='pagerank' is unknown; choose from \['bm25'"):
        index.search("oil", rank="pagerank")
    with pytest.raises(ValueError, match="top=-1 must be at least 0"):
        index.search("oil", top=-1)
    with pytest.raises(TypeError, match=r"top=2\.5 must be a whole number"):
        index.search("oil", top=2.5)
    with pytest.raises(NotFittedError):
        InvertedIndex().search("oil")


def test_an_unknown_document_is_a_key_error():
    index = InvertedIndex().fit(DOCUMENTS)
    for id in (5, -1, "x", None, "9" * 5000, "²", "٣"):
        with pytest.raises(KeyError, match="numbered from 0 to 4"):
            index.similar_documents(id)
    with pytest.raises(KeyError, match="no document 'z'"):
        InvertedIndex().fit(["oil"], ids=["a"]).text("z")


@pytest.mark.parametrize("query", ["\ud800oil", "oil\x00", "oil\udfff*", "\ud800"])
def test_half_characters_in_a_query_do_no_harm(query):
    index = InvertedIndex().fit(DOCUMENTS)
    try:
        assert index.search(query).total in (0, 3)
    except QueryError as error:
        str(error).encode("utf-8", "replace")


def test_a_full_disk_says_where_and_leaves_nothing_behind(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tacit.core.disk_array.reserve", full)
    index = InvertedIndex(memory=1000)
    with pytest.raises(OSError, match=r"The disk is full: .* raise memory") as caught:
        index.fit(in_blocks(random_documents(), 100, 200))
    assert caught.value.errno == errno.ENOSPC
    assert not hasattr(index, "n_documents_")


def test_top_zero_counts_only():
    hits = InvertedIndex().fit(DOCUMENTS).search("oil", top=0)
    assert (list(hits), hits.total) == ([], 3)


def test_without_texts_there_are_no_snippets():
    index = InvertedIndex(store_text=False).fit(DOCUMENTS)
    assert index.search("oil")[0].snippet == ""
    assert not hasattr(index, "pieces_")
    with pytest.raises(ValueError, match="with store_text=True"):
        index.text(0)


def test_one_document_and_one_word_are_enough():
    index = InvertedIndex().fit(["oil"])
    for rank in ("bm25", "tfidf"):
        (hit,) = index.search("oil", rank=rank)
        assert hit.id == 0
        assert np.isfinite(hit.score)
    assert index.similar_documents(0) == []


def test_hits_are_json():
    index = InvertedIndex().fit(DOCUMENTS, ids=[f"n\u202e{i}" for i in range(5)])
    found = json.loads(json.dumps(index.search("oil").to_dict()))
    assert found["total"] == 3
    assert found["hits"][0].keys() == {"id", "score", "snippet", "marks"}


def test_a_file_with_the_old_name_of_a_parameter_still_loads(tmp_path, monkeypatch):
    index = InvertedIndex(memory=12345).fit(["crude oil", "natural gas"])
    params = index.get_params(deep=False)
    params["memory_bytes"] = params.pop("memory")
    with monkeypatch.context() as patch:
        patch.setattr(InvertedIndex, "get_params", lambda self, deep=True: params)
        index.save(tmp_path / "old")
    loaded = tacit.load(tmp_path / "old")
    assert loaded.memory == 12345
    assert loaded.search("oil").ids == [0]

"""Boolean matches are exact: the same as looking at every document, whatever the query."""

import os
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.data import Documents
from tacit.search import InvertedIndex
from tacit.text import tokenize

WORDS = ["oil", "oily", "gas", "a", "be", "bee", "été", "東", "京"]


# --- A query tree, as text and as a test of one document's tokens ---


def words_of(text):
    return tokenize(text, min_length=1)


def holds(tree, tokens):
    kind, *rest = tree
    if kind in ("word", "phrase"):
        run = words_of(rest[0])  # 東京 is one token, 東 京 are two
        places = range(len(tokens) - len(run) + 1)
        return any(tokens[i : i + len(run)] == run for i in places)
    if kind == "wildcard":
        return any(fnmatchcase(token, rest[0]) for token in tokens)
    if kind == "not":
        return not holds(rest[0], tokens)
    test = all if kind == "and" else any
    return test(holds(part, tokens) for part in rest)


def written(tree):
    kind, *rest = tree
    if kind in ("word", "wildcard"):
        return rest[0]
    if kind == "phrase":
        return f'"{rest[0]}"'
    if kind == "not":
        return f"NOT ({written(rest[0])})"
    joint = " AND " if kind == "and" else " OR "
    return f"({joint.join(map(written, rest))})"


words = st.sampled_from(WORDS)
patterns = st.sampled_from(["b*", "*l", "o*y", "*a*", "é*", "zz*", "be*"])
runs = st.lists(words, min_size=1, max_size=4).map(" ".join)
leaves = st.one_of(
    st.tuples(st.just("word"), words),
    st.tuples(st.just("phrase"), runs),
    st.tuples(st.just("wildcard"), patterns),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
        st.tuples(st.sampled_from(["and", "or"]), inner, inner, inner),
    ),
    max_leaves=8,
)
numbers = st.integers(0, 3)
corpora = st.lists(st.lists(words, max_size=12).map(" ".join), min_size=1, max_size=8)


@settings(max_examples=300, deadline=None)
@given(corpora, st.lists(trees, min_size=1, max_size=4))
def test_matches_are_those_of_looking_at_every_document(documents, queries):
    documents = [*documents, "zebra"]  # never all empty
    index = InvertedIndex(engine="serial", store_text=False).fit(documents)
    tokens = [words_of(document) for document in documents]
    for tree in queries:
        expected = [i for i, each in enumerate(tokens) if holds(tree, each)]
        found = index.search(written(tree), top=None)
        assert sorted(found.ids) == expected, written(tree)
        assert found.total == len(expected)


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, min_size=30, max_size=200), st.lists(numbers, max_size=6))
def test_phrases_are_found_in_repetitive_text(text, phrase):
    """Where words repeat, every way to align them must be tried."""
    names = ["to", "be", "or", "not"]
    document = " ".join(names[i] for i in text)
    index = InvertedIndex(engine="serial").fit([document, "to", "be not"])
    run = [names[i] for i in phrase] or ["to"]
    tokens = words_of(document)
    count = sum(tokens[i : i + len(run)] == run for i in range(len(tokens) - len(run) + 1))
    assert (0 in index.search(f'"{" ".join(run)}"').ids) == (count > 0)


@pytest.fixture(scope="module")
def index():
    return InvertedIndex().fit(
        [
            "Crude oil prices fell",
            "Gas and oil futures",
            "Natural gas prices rose as oil fell",
            "",
            "The don't-ask rule is well-known",
        ]
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("oil AND NOT gas", [0]),
        ("oil -gas", [0]),
        ("NOT oil", [3, 4]),  # a document without words holds no word
        ("NOT (oil OR rule)", [3]),
        ("NOT nowhere", [0, 1, 2, 3, 4]),
        ("oil AND nowhere", []),
        ("oil OR nowhere", [0, 1, 2]),
        ('"oil prices"', [0]),
        ('"prices oil"', []),
        ('"gas prices rose as oil"', [2]),
        ('"oil nowhere"', []),
        ("pri*", [0, 2]),
        ("*s", [0, 1, 2, 4]),  # prices, gas and futures, gas, is
        ("f*l", [0, 2]),
        ("fut*s", [1]),
        ("fell*", [0, 2]),
        ("*f*e*", [0, 1, 2]),
        ("OIL", [0, 1, 2]),
        ("don't", [4]),  # the words don and t in a row
        ("well-known", [4]),
        ("known-well", []),
    ],
)
def test_every_kind_of_query(index, query, expected):
    assert sorted(index.search(query, top=None).ids) == expected


def test_nothing_between_words_means_and_or_or(index):
    assert sorted(index.search("oil gas").ids) == [1, 2]
    assert sorted(index.search("oil rule", operator="or").ids) == [0, 1, 2, 4]
    assert sorted(index.search("crude rule -oil", operator="or").ids) == [4]


@pytest.mark.slow
def test_matches_in_a_real_corpus_are_those_of_looking_at_every_document():
    folder = os.environ.get("TACIT_DATA")
    path = Path(folder or "", "newsgroups", "test.jsonl.gz")
    if not folder or not path.exists():
        pytest.skip("TACIT_DATA names no folder with newsgroups/test.jsonl.gz")
    documents = Documents.open(path)
    index = InvertedIndex(memory=10**6).fit(documents)  # several runs, merged
    tokens = dict(zip(documents.ids, map(words_of, documents.texts()), strict=True))
    for tree in (
        ("and", ("word", "space"), ("not", ("word", "nasa"))),
        ("or", ("phrase", "hard disk drive"), ("wildcard", "encrypt*")),
        ("and", ("phrase", "in the"), ("wildcard", "*ology"), ("not", ("phrase", "of the"))),
        ("not", ("or", ("word", "the"), ("word", "a"))),
    ):
        expected = {id for id, each in tokens.items() if holds(tree, each)}
        assert expected
        assert set(index.search(written(tree), top=None, snippet=0).ids) == expected

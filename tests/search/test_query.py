"""Reading queries: what they mean, and what is said about those that mean nothing."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.search import QueryError
from tacit.search.query import And, Leaf, Not, leaves, parse


def shape(node):
    """The tree without places: words, ("and", ...), ("or", ...), ("not", x)."""
    if isinstance(node, Leaf):
        return node.text if node.kind == "word" else (node.kind, node.text)
    if isinstance(node, Not):
        return ("not", shape(node.part))
    return ("and" if isinstance(node, And) else "or", *map(shape, node.parts))


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("oil", "oil"),
        ("oil gas", ("and", "oil", "gas")),
        ("oil AND gas", ("and", "oil", "gas")),
        ("oil OR gas", ("or", "oil", "gas")),
        ("a b OR c d", ("or", ("and", "a", "b"), ("and", "c", "d"))),
        ("a OR b AND c", ("or", "a", ("and", "b", "c"))),
        ("NOT a AND b", ("and", ("not", "a"), "b")),
        ("NOT (a AND b)", ("not", ("and", "a", "b"))),
        ("a NOT b", ("and", "a", ("not", "b"))),
        ("a -b", ("and", "a", ("not", "b"))),
        ('-"b c" a', ("and", ("not", ("phrase", "b c")), "a")),
        ("-(b OR c) a", ("and", ("not", ("or", "b", "c")), "a")),
        ("NOT NOT a", ("not", ("not", "a"))),
        ("(((a)))", "a"),
        ("a and b or not", ("and", "a", "and", "b", "or", "not")),  # small letters: words
        ("well-known", "well-known"),
        ("a - b", ("and", "a", "b")),  # a dash on its own is punctuation
        ("pre* *suf mid*dle", ("and", *(("wildcard", w) for w in ("pre*", "*suf", "mid*dle")))),
        ("“crude oil”", ("phrase", "crude oil")),
    ],
)
def test_queries_are_read_as_documented(query, tree):
    assert shape(parse(query)) == tree


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("a b", ("or", "a", "b")),
        ("a b AND c", ("or", "a", ("and", "b", "c"))),
        ("a b -c", ("and", ("or", "a", "b"), ("not", "c"))),
        ("-c a b", ("and", ("or", "a", "b"), ("not", "c"))),
        ("-c a", ("and", "a", ("not", "c"))),
        ("-a -b", ("and", ("not", "a"), ("not", "b"))),
        ("a OR -b", ("or", "a", ("not", "b"))),
        ("-b OR a", ("or", ("not", "b"), "a")),
        ("-a", ("not", "a")),
        ("x (a -b)", ("or", "x", ("and", "a", ("not", "b")))),
    ],
)
def test_nothing_between_words_may_mean_or_but_what_is_excluded_stays_out(query, tree):
    assert shape(parse(query, operator="or")) == tree


@pytest.mark.parametrize(
    ("query", "place", "words"),
    [
        ("oil AND", 4, "nothing after AND at character 5"),
        ("AND oil", 0, "nothing before AND at character 1"),
        ("oil OR OR gas", 7, "nothing between OR and OR"),
        ("oil (gas", 4, "opens a parenthesis at character 5 that is never closed"),
        ("oil (", 4, "opens a parenthesis at character 5 that is never closed"),
        ("oil) gas", 3, "closes a parenthesis at character 4 that was never opened"),
        ("oil ()", 4, "nothing inside the parentheses"),
        ('oil "gas', 4, "opens quotes at character 5 and never closes them"),
        ('oil "  "', 4, "nothing inside the quotes"),
        ("oil NOT", 4, "nothing after NOT"),
        ("oil NOT )", 4, "nothing after NOT"),
        (")", 0, "never opened"),
        ("-", 0, "holds no word"),
    ],
)
def test_the_place_of_a_mistake_is_marked(query, place, words):
    with pytest.raises(QueryError, match=words) as caught:
        parse(query)
    assert caught.value.place == place
    shown, mark = str(caught.value).splitlines()[-2:]
    assert shown.strip() == query.strip()
    assert mark.index("^") == 4 + place


def test_a_mistake_in_a_long_query_is_shown_with_what_is_around_it():
    query = "word " * 50 + "AND AND " + "word " * 50
    with pytest.raises(QueryError) as caught:
        parse(query)
    shown, mark = str(caught.value).splitlines()[-2:]
    assert len(shown) < 80
    assert shown[mark.index("^") :].startswith("AND word")


@pytest.mark.parametrize("query", ["", "   ", "\t\n"])
def test_an_empty_query_says_so(query):
    with pytest.raises(QueryError, match="is empty"):
        parse(query)


@pytest.mark.parametrize("query", ["(" * 5000 + "a", "NOT " * 5000 + "a", "-" * 5000 + "a"])
def test_deep_nesting_is_an_error_and_no_overflow(query):
    with pytest.raises(QueryError, match="100 deep"):
        parse(query)


def test_a_very_long_query_is_refused_and_a_long_one_is_not():
    with pytest.raises(QueryError, match="100,000 is the most"):
        parse("a " * 60_000)
    assert len(parse("a " * 40_000).parts) == 40_000


def test_what_is_no_text_is_a_type_error():
    with pytest.raises(TypeError, match="A query is a str"):
        parse(b"oil")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="operator='xor' is unknown"):
        parse("oil", operator="xor")


def test_control_characters_do_not_get_into_the_message():
    with pytest.raises(QueryError) as caught:
        parse("\x1b[31m(\x07oil")
    assert "\x1b" not in str(caught.value)
    assert "\x07" not in str(caught.value)


def test_leaves_know_whether_they_are_asked_for():
    tree = parse("a NOT (b OR NOT c) d")
    assert [(leaf.text, asked) for leaf, asked in leaves(tree)] == [
        ("a", True),
        ("b", False),
        ("c", True),
        ("d", True),
    ]


def test_errors_travel_between_processes():
    with pytest.raises(QueryError) as caught:
        parse("oil (gas")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.place, again.exit_code) == (str(caught.value), 4, 2)


texts = st.text(alphabet='ab*"()-\x00 ANDORNOT“”\u202e', max_size=40)


@given(texts, st.sampled_from(["and", "or"]))
def test_any_text_is_a_query_or_a_query_error(text, operator):
    try:
        tree = parse(text, operator)
    except QueryError:
        return
    assert all(leaf.text.strip() for leaf, _ in leaves(tree))

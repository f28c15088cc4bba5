"""Edit distances: against a table filled in by hand-written Python, and against rapidfuzz."""

import itertools
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from tacit.cluster import linkage
from tacit.core import Dask, Serial, Threads
from tacit.text import (
    EditCosts,
    alignment,
    damerau,
    edit_costs,
    edit_distance,
    edit_kernels,
    levenshtein,
    optimal_string_alignment,
    pairwise_strings,
    string_distance_blocks,
)

METRICS = {
    "levenshtein": levenshtein,
    "optimal_string_alignment": optimal_string_alignment,
    "damerau": damerau,
}
every_metric = pytest.mark.parametrize("metric", METRICS)

# Few characters, so that strings share some: Latin, combining accents, CJK, emoji and the
# joiner inside them, a character beyond 16 bits, a lone surrogate, NUL.
LETTERS = "aab\u0301é京都👍🏽\u200d𝔸\ud800\0"
strings = st.text(LETTERS, max_size=12)
longer = st.text("abc", max_size=150)


# --- The authority: the definitions, as plainly as they can be written ---


def plain(a, b, *, swaps=False, insert=1, delete=1, substitute=1, transpose=1):
    """Levenshtein or optimal string alignment, by the whole table."""
    table = {(-1, -1): 0}
    for i in range(len(a)):
        table[i, -1] = table[i - 1, -1] + delete
    for j in range(len(b)):
        table[-1, j] = table[-1, j - 1] + insert
    for i, j in itertools.product(range(len(a)), range(len(b))):
        ways = [
            table[i - 1, j] + delete,
            table[i, j - 1] + insert,
            table[i - 1, j - 1] + substitute * (a[i] != b[j]),
        ]
        if swaps and i and j and a[i] == b[j - 1] and a[i - 1] == b[j]:
            ways.append(table[i - 2, j - 2] + transpose)
        table[i, j] = min(ways)
    return table[len(a) - 1, len(b) - 1]


def unrestricted(a, b):
    """Damerau's distance with other edits inside a swap (Lowrance and Wagner 1975)."""
    table = {}
    for i, j in itertools.product(range(len(a) + 1), range(len(b) + 1)):
        if not i or not j:
            table[i, j] = i + j
            continue
        ways = [
            table[i - 1, j] + 1,
            table[i, j - 1] + 1,
            table[i - 1, j - 1] + (a[i - 1] != b[j - 1]),
        ]
        for k, m in itertools.product(range(1, i), range(1, j)):
            if a[k - 1] == b[j - 1] and b[m - 1] == a[i - 1]:
                ways.append(table[k - 1, m - 1] + (i - k - 1) + 1 + (j - m - 1))
        table[i, j] = min(ways)
    return table[len(a), len(b)]


PLAIN = {
    "levenshtein": plain,
    "optimal_string_alignment": partial(plain, swaps=True),
    "damerau": unrestricted,
}


# --- One pair ---


def test_the_usual_examples():
    assert levenshtein("kitten", "sitting") == 3
    assert levenshtein("intention", "execution") == 5
    assert optimal_string_alignment("ca", "abc") == 3
    assert damerau("ca", "abc") == 2


@every_metric
@given(strings, strings)
@settings(max_examples=150, deadline=None)
def test_a_distance_is_what_the_definition_says(metric, a, b):
    assert METRICS[metric](a, b) == PLAIN[metric](a, b)


@pytest.mark.parametrize("metric", ["levenshtein", "optimal_string_alignment"])
@given(longer, longer)
@settings(max_examples=60, deadline=None)
def test_strings_of_several_words_too(metric, a, b):
    right = PLAIN[metric](a, b)
    assert METRICS[metric](a, b) == right
    with pytest.MonkeyPatch.context() as patch:  # as if they were long
        patch.setattr(edit_kernels, "LONG_PAIR", -1)
        assert METRICS[metric](a, b) == right


@every_metric
@given(strings, strings, strings)
@settings(max_examples=100, deadline=None)
def test_distances_are_symmetric_and_tell_strings_apart(metric, a, b, c):
    measure = METRICS[metric]
    assert measure(a, b) == measure(b, a)
    assert (measure(a, b) == 0) == (a == b)
    assert abs(len(a) - len(b)) <= measure(a, b) <= max(len(a), len(b))
    if metric != "optimal_string_alignment":  # which is no metric
        assert measure(a, c) <= measure(a, b) + measure(b, c)


def test_optimal_string_alignment_breaks_the_triangle_inequality():
    there, back = optimal_string_alignment("ca", "ac"), optimal_string_alignment("ac", "abc")
    assert optimal_string_alignment("ca", "abc") > there + back
    assert damerau("ca", "abc") <= damerau("ca", "ac") + damerau("ac", "abc")


@every_metric
@given(longer, longer, st.integers(0, 160))
@settings(max_examples=60, deadline=None)
def test_beyond_the_limit_is_one_more_than_the_limit(metric, a, b, limit):
    measure = METRICS[metric]
    assert measure(a, b, limit=limit) == min(measure(a, b), limit + 1)
    assert measure(a, b, limit=10**30) == measure(a, b)


@pytest.fixture
def in_a_band(monkeypatch):
    """Pairs of any length take the band of long ones."""
    monkeypatch.setattr(edit_kernels, "LONG_PAIR", -1)


@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.usefixtures("in_a_band")
def test_long_strings_agree_with_short_bands_wide_bands_and_rapidfuzz(swaps):
    distance = pytest.importorskip("rapidfuzz.distance")
    rival = (distance.OSA if swaps else distance.Levenshtein).distance
    measure = optimal_string_alignment if swaps else levenshtein
    rng = np.random.default_rng(0)
    base = "".join(rng.choice(list("abcd"), 3000))
    cut = base[:700] + "zz" + base[900:2000] + base[2001] + base[2000] + base[2002:]
    pairs = [(base, cut), (base, cut[::-1]), (base, base), (base, base[:10]), (base[:90], base)]
    for a, b in pairs:
        right = rival(a, b)
        assert measure(a, b) == right
        for limit in {0, 1, 64, right - 1, right, right + 1, 5000} - {-1}:
            assert measure(a, b, limit=limit) == min(right, limit + 1)


def test_calls_that_return_early_give_the_same(monkeypatch):
    rng = np.random.default_rng(1)
    a, b = ("".join(rng.choice(list("abc"), 300)) for _ in range(2))
    before = [measure(a, b) for measure in METRICS.values()]
    monkeypatch.setattr(edit_kernels, "LONG_PAIR", -1)
    weighted = levenshtein(a, b, costs=EditCosts(insert=0.7))
    script = alignment(a, b, transpose=True)
    monkeypatch.setattr(edit_kernels, "CALL_WORK", 1000)
    monkeypatch.setattr(edit_costs, "CALL_WORK", 1000)
    assert [measure(a, b) for measure in METRICS.values()] == before
    assert levenshtein(a, b, costs=EditCosts(insert=0.7)) == weighted
    assert alignment(a, b, transpose=True) == script


def test_code_points_are_counted_and_composed_on_request():
    composed, apart = "\u00e9", "e\u0301"
    assert levenshtein(composed, apart) == 2
    assert levenshtein(composed, apart, normalize="NFC") == 0
    assert levenshtein("ﬁ", "fi", normalize="NFKC") == 0
    assert levenshtein("👨‍👩‍👧‍👦", "👨") == 6  # a family is seven code points
    assert levenshtein("\ud800", "\ud801") == 1  # lone surrogates are symbols like others


def test_sequences_of_anything_hashable_are_compared_item_by_item():
    assert levenshtein(["the", "cat", "sat"], ("the", "dog", "sat")) == 1
    assert damerau([1, 2, 3], [2, 1, 3]) == 1
    assert levenshtein("abc", ["a", "b"]) == 1
    assert levenshtein("abc", ("a", "b", "c")) == levenshtein([1, "x"], [True, "x"]) == 0


@every_metric
@pytest.mark.parametrize(
    ("one", "other"),
    [(-1, -2), ("a", 97), (0, 2**61 - 1), ("xy", hash("xy")), (b"a", "a"), (0.5, hash(0.5))],
    ids=["minus", "letter", "modulus", "word", "bytes", "half"],
)
def test_unequal_items_of_one_hash_are_unequal(metric, one, other):
    assert METRICS[metric]([one, "b"], [other, "b"]) == 1
    assert METRICS[metric]([one, other], [other, one], limit=0) == 1
    assert pairwise_strings([[one]], [[other], [one]], metric=metric).tolist() == [[1, 0]]
    assert alignment(["a", "bc"], ["bc"]).script[0].old == ("a",)


def test_scaled_distances_lie_between_zero_and_one():
    assert levenshtein("", "", scale="length") == levenshtein("", "", scale="metric") == 0
    assert levenshtein("ab", "cd", scale="length") == 1
    assert levenshtein("ab", "cd", scale="metric") == pytest.approx(2 * 2 / (2 + 2 + 2))
    assert levenshtein("", "abc", scale="metric") == 1


@given(strings, strings, strings)
@settings(max_examples=100, deadline=None)
def test_the_scale_called_metric_obeys_the_triangle_inequality(a, b, c):
    measure = partial(levenshtein, scale="metric")
    assert measure(a, c) <= measure(a, b) + measure(b, c) + 1e-12


# --- Costs ---


@given(strings, strings)
@settings(max_examples=100, deadline=None)
def test_costs_by_number(a, b):
    numbers = {"insert": 0.5, "delete": 2.0, "substitute": 1.75, "transpose": 0.25}
    costs = EditCosts(**numbers)
    assert levenshtein(a, b, costs=costs) == plain(a, b, **numbers)
    assert optimal_string_alignment(a, b, costs=costs) == plain(a, b, swaps=True, **numbers)
    assert levenshtein(a, b, costs=EditCosts()) == levenshtein(a, b)


def test_costs_by_symbol_and_by_pair():
    costs = EditCosts(
        substitute={("a", "e"): 0.25},
        insert={"h": 0.5, ("t", "h"): 0.125, ("", "h"): 0.75},
        delete={"l": 0.5, ("l", "l"): 0.1},
        transpose={("e", "i"): 0.2},
    )
    assert levenshtein("gray", "grey", costs=costs) == 0.25
    assert levenshtein("grey", "gray", costs=costs) == 1  # nothing is symmetric by itself
    assert levenshtein("ten", "then", costs=costs) == 0.125  # after a t
    assert levenshtein("our", "hour", costs=costs) == 0.75  # at the start
    assert levenshtein("wen", "when", costs=costs) == 0.5  # after anything else
    assert levenshtein("well", "wel", costs=costs) == 0.1
    assert levenshtein("ale", "ae", costs=costs) == 0.5
    assert optimal_string_alignment("reiceve", "rieceve", costs=costs) == 0.2
    assert optimal_string_alignment("ie", "ei", costs=costs) == 1
    assert levenshtein("abc", "xbc", costs=EditCosts(other=9, substitute={("q", "r"): 0})) == 2


def test_costs_by_array_are_those_by_mapping():
    rng = np.random.default_rng(0)
    single, pair = rng.random(3), rng.random((3, 3))
    np.fill_diagonal(pair, 0)
    arrays = EditCosts(single, pair, pair, pair.T, alphabet="abc", other=0.9)
    as_pairs = {(x, y): pair["abc".index(x), "abc".index(y)] for x in "abc" for y in "abc"}
    mappings = EditCosts(
        dict(zip("abc", single, strict=True)),
        as_pairs,
        as_pairs,
        {(y, x): cost for (x, y), cost in as_pairs.items()},
        other=0.9,
    )
    for _ in range(50):
        a, b = ("".join(rng.choice(list("abcd"), rng.integers(8))) for _ in range(2))
        for measure in (levenshtein, optimal_string_alignment):
            assert measure(a, b, costs=arrays) == measure(a, b, costs=mappings)
            for limit in (0.5, 2.0):
                found = measure(a, b, costs=arrays)
                expected = found if found <= limit else limit + 1
                assert measure(a, b, costs=arrays, limit=limit) == expected


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"insert": -1}, "insert=-1"),
        ({"delete": float("nan")}, "delete=nan"),
        ({"substitute": {("a", "a"): 1}}, "equal symbols cost nothing"),
        ({"substitute": {"a": 1}}, "must be pairs"),
        ({"substitute": np.ones((2, 2)), "alphabet": "ab"}, "diagonal"),
        ({"insert": np.ones(3), "alphabet": "ab"}, r"\(2, 2\) or \(2,\)"),
        ({"substitute": np.ones(2), "alphabet": "ab"}, r"must have \(2, 2\)"),
        ({"insert": [1, np.inf], "alphabet": "ab"}, r"insert\[1\]=inf"),
        ({"alphabet": "aba"}, "repeats a symbol"),
        ({"other": "x"}, "other='x'"),
    ],
)
def test_costs_that_mean_nothing_are_refused(settings_, words):
    with pytest.raises(ValueError, match=words):
        EditCosts(**settings_)


def test_too_many_named_symbols_are_refused():
    many = EditCosts(insert=dict.fromkeys(range(2_001), 0.5))
    with pytest.raises(ValueError, match="2,001 of the symbols"):
        levenshtein(list(range(2_001)), [], costs=many)
    assert levenshtein(list(range(10)), [], costs=many) == 10


# --- The edits themselves ---


@given(strings, strings, st.booleans())
@settings(max_examples=150, deadline=None)
def test_an_alignment_spells_both_strings_and_costs_the_distance(a, b, transpose):
    found = alignment(a, b, transpose=transpose)
    assert "".join(edit.old for edit in found.edits) == a
    assert "".join(edit.new for edit in found.edits) == b
    assert found.distance == plain(a, b, swaps=transpose)
    assert found.distance == sum(edit.cost for edit in found.edits)
    for edit in found.edits:
        assert a[edit.at : edit.at + len(edit.old)] == edit.old
        assert b[edit.to : edit.to + len(edit.new)] == edit.new
        assert (edit.action == "keep") == (edit.old == edit.new)
        if edit.action == "transpose":
            assert edit.old == edit.new[::-1]


def test_an_alignment_with_costs_adds_up():
    costs = EditCosts(insert={("a", "b"): 0.25}, delete=0.5, transpose={("c", "d"): 0.125})
    found = alignment("acdx", "abdc", costs=costs, transpose=True)
    assert [edit.action for edit in found.edits] == ["keep", "insert", "transpose", "delete"]
    assert found.distance == sum(edit.cost for edit in found.edits) == 0.875
    assert found.to_dict()["edits"][0] == {
        "action": "insert", "old": "", "new": "b", "at": 1, "to": 1, "cost": 0.25,
    }  # fmt: skip


def test_ties_go_to_keep_or_substitute_then_delete_then_insert():
    actions = [edit.action for edit in alignment("ab", "ba").edits]
    assert actions == ["substitute", "substitute"]
    assert [edit.action for edit in alignment("aab", "ab").edits] == ["delete", "keep", "keep"]


def test_an_alignment_too_large_for_memory_is_refused(monkeypatch):
    monkeypatch.setattr(edit_costs, "MOST_CELLS", 100)
    with pytest.raises(ValueError, match="Cut them into parts"):
        alignment("a" * 20, "b" * 20)


# --- Many pairs ---


def some_words(n, longest, seed, letters="abcdé京👍"):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(longest + 1))) for _ in range(n)]


@every_metric
@pytest.mark.parametrize("longest", [7, 15, 31, 63, 64, 65, 140])
def test_a_matrix_holds_the_distances_of_its_pairs(metric, longest):
    rows, columns = some_words(9, longest, 0), [*some_words(40, longest, 1), "", "a" * longest]
    expected = np.array([[METRICS[metric](a, b) for b in columns] for a in rows])
    np.testing.assert_array_equal(pairwise_strings(rows, columns, metric=metric), expected)
    for limit in (0, 3, longest):
        found = pairwise_strings(rows, columns, metric=metric, limit=limit)
        np.testing.assert_array_equal(found, np.minimum(expected, limit + 1))


@every_metric
def test_more_strings_than_lanes_and_blocks(metric):
    distance = pytest.importorskip("rapidfuzz.distance")
    process = pytest.importorskip("rapidfuzz.process")
    rival = {
        "levenshtein": distance.Levenshtein,
        "optimal_string_alignment": distance.OSA,
        "damerau": distance.DamerauLevenshtein,
    }[metric]
    words = some_words(700, 20, 2)
    right = process.cdist(words, words, scorer=rival.distance)
    np.testing.assert_array_equal(pairwise_strings(words, metric=metric), right)
    np.testing.assert_array_equal(pairwise_strings(words, list(words), metric=metric), right)
    condensed = pairwise_strings(words, metric=metric, condensed=True)
    np.testing.assert_array_equal(condensed, squareform(right, checks=False))
    scaled = process.cdist(words, words, scorer=rival.normalized_distance, dtype=np.float64)
    found = pairwise_strings(words, metric=metric, scale="length")
    np.testing.assert_allclose(found, scaled, rtol=1e-15)


@pytest.mark.parametrize("scale", ["length", "metric"])
def test_scaled_matrices_hold_scaled_distances(scale):
    words = ["", "a", "ab", "abc", "xyz", ""]
    expected = np.array([[levenshtein(a, b, scale=scale) for b in words] for a in words])
    np.testing.assert_array_equal(pairwise_strings(words, scale=scale), expected)
    np.testing.assert_array_equal(pairwise_strings(words, words, scale=scale), expected)
    pairs = pairwise_strings(words, scale=scale, condensed=True)
    np.testing.assert_array_equal(pairs, squareform(expected))


@pytest.mark.parametrize("metric", ["levenshtein", "optimal_string_alignment"])
def test_matrices_with_costs(metric):
    words = some_words(40, 9, 3, "abcd")
    uneven = EditCosts(insert={("a", "b"): 0.25}, substitute={("a", "z"): 0.5, ("z", "a"): 0.1})
    even = EditCosts(insert=0.75, delete=0.75, substitute={("a", "b"): 0.3, ("b", "a"): 0.3})
    for costs in (uneven, even):
        for rows in (words, ["zab", "azz", "q"]):  # z and q are in no column
            measure = partial(METRICS[metric], costs=costs)
            expected = np.array([[measure(a, b) for b in words] for a in rows])
            found = pairwise_strings(rows, words, metric=metric, costs=costs)
            np.testing.assert_array_equal(found, expected)
            limited = pairwise_strings(rows, words, metric=metric, costs=costs, limit=1.5)
            expected[expected > 1.5] = 2.5
            np.testing.assert_array_equal(limited, expected)
    full = pairwise_strings(words, metric=metric, costs=even)
    np.testing.assert_array_equal(
        full, pairwise_strings(words, words, metric=metric, costs=even)
    )
    pairs = pairwise_strings(words, metric=metric, costs=even, condensed=True)
    np.testing.assert_array_equal(squareform(pairs), full)
    with pytest.raises(ValueError, match="differ by direction"):
        pairwise_strings(words, metric=metric, costs=uneven, condensed=True)


def test_strings_too_long_for_lanes(monkeypatch):
    rng = np.random.default_rng(4)
    long = ["".join(rng.choice(list("abc"), size)) for size in (2100, 300, 70, 5)]
    short = ["abc", "", "b" * 64, "c" * 65]
    monkeypatch.setattr(edit_kernels, "MOST_WORDS", 2)
    monkeypatch.setattr(edit_kernels, "GROUP_CALL", 100)
    monkeypatch.setattr(edit_kernels, "GROUP_MOST", 250)
    monkeypatch.setattr(edit_costs, "GROUP_CALL", 1000)
    monkeypatch.setattr(edit_costs, "GROUP_MOST", 100_000)
    for metric, measure in METRICS.items():
        expected = np.array([[measure(a, b) for b in long + short] for a in long + short])
        np.testing.assert_array_equal(pairwise_strings(long + short, metric=metric), expected)
    costs = EditCosts(insert=0.5)
    expected = np.array([[levenshtein(a, b, costs=costs) for b in long] for a in long])
    np.testing.assert_array_equal(pairwise_strings(long, costs=costs), expected)


def test_more_symbols_than_eight_bits_can_number():
    words = ["".join(map(chr, range(0x4E00 + 50 * i, 0x4E00 + 50 * i + 40))) for i in range(70)]
    found = pairwise_strings(words, metric="damerau")
    assert found[0, 0] == 0
    assert found[0, 1] == 40
    apart = [list(range(i, 40_000, 3)) for i in range(3)]  # and than 16 bits
    assert pairwise_strings(apart[:1], apart, metric="damerau").tolist()[0][0] == 0


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as client:
        yield client


@every_metric
def test_the_engine_cannot_change_a_distance(metric, dask_client):
    words, others = some_words(200, 30, 5), some_words(150, 30, 6)
    engines = (Serial(), Threads(1), Threads(3), Dask())
    found = [pairwise_strings(words, others, metric=metric, engine=each) for each in engines]
    square = [pairwise_strings(words, metric=metric, engine=each) for each in engines]
    for a, b in zip(found[1:], square[1:], strict=True):
        np.testing.assert_array_equal(a, found[0])
        np.testing.assert_array_equal(b, square[0])


@every_metric
def test_rows_may_come_from_a_stream(metric, monkeypatch):
    monkeypatch.setattr(edit_distance, "BLOCK_CELLS", 1)  # 16 rows to a block
    words, others = some_words(100, 12, 7), some_words(30, 12, 8)
    blocks = list(string_distance_blocks((w for w in words), others, metric=metric))
    assert [start for start, _ in blocks] == list(range(0, 100, 16))
    whole = np.vstack([rows for _, rows in blocks])
    np.testing.assert_array_equal(whole, pairwise_strings(words, others, metric=metric))


def test_a_stream_is_read_as_it_goes():
    read = []

    def words():
        for i in range(100_000):
            read.append(i)
            yield "word"

    start, rows = next(iter(string_distance_blocks(words(), ["world"], engine="serial")))
    assert (start, rows.shape[1], rows[0, 0]) == (0, 1, 1)
    assert len(read) < 5_000


def test_matrices_go_where_they_are_asked_to(tmp_path):
    words = some_words(50, 8, 9)
    file = np.memmap(tmp_path / "d", np.uint8, "w+", shape=(50, 50))
    assert pairwise_strings(words, out=file) is file
    np.testing.assert_array_equal(file, pairwise_strings(words))
    assert pairwise_strings(words, words, dtype=np.uint8).dtype == np.uint8
    assert pairwise_strings(words, scale="length", dtype=np.float32).dtype == np.float32


def test_condensed_distances_are_what_a_linkage_wants():
    words = ["kitten", "mitten", "sitting", "Saturday", "Sunday"]
    distances = pairwise_strings(words, condensed=True)
    for method in (linkage, hierarchy.linkage):
        tree = method(distances, "average")
        assert {int(tree[0, 0]), int(tree[0, 1])} == {0, 1}


@pytest.mark.parametrize(
    ("rows", "columns", "shape"),
    [([], [], (0, 0)), ([], ["a"], (0, 1)), (["a"], [], (1, 0)), ([""], [""], (1, 1))],
)
def test_nothing_to_compare(rows, columns, shape):
    for metric in METRICS:
        assert pairwise_strings(rows, columns, metric=metric).shape == shape
    assert pairwise_strings(rows).shape == (len(rows), len(rows))
    assert pairwise_strings(rows, condensed=True).shape == (0,)


# --- What is refused ---


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: levenshtein("a", None), TypeError, "NoneType"),
        (lambda: levenshtein(b"a", "a"), TypeError, "Decode bytes"),
        (lambda: levenshtein("a", 3), TypeError, "int"),
        (lambda: levenshtein("a", "b", costs={"a": 1}), TypeError, "EditCosts"),
        (lambda: levenshtein("a", "b", limit=-1), ValueError, "at least 0"),
        (lambda: levenshtein("a", "b", limit=1.5), ValueError, "whole"),
        (lambda: levenshtein("a", "b", limit=1, scale="length"), ValueError, "counts edits"),
        (lambda: levenshtein("a", "b", scale="x"), ValueError, "scale='x'"),
        (lambda: levenshtein("a", "b", normalize="NFX"), ValueError, "NFX"),
        (
            lambda: levenshtein("a", "b", costs=EditCosts(), scale="length"),
            ValueError,
            "unit costs",
        ),
        (lambda: pairwise_strings("abc"), ValueError, "one string"),
        (lambda: pairwise_strings(["a", None]), TypeError, r"strings\[1\]"),
        (lambda: pairwise_strings(["a"], ["b", 2.5]), TypeError, r"others\[1\]"),
        (lambda: pairwise_strings(7), TypeError, "iterable"),
        (lambda: pairwise_strings(["a"], metric="hamming"), ValueError, "hamming"),
        (
            lambda: pairwise_strings(["a"], metric="damerau", costs=EditCosts()),
            ValueError,
            "no costs",
        ),
        (lambda: pairwise_strings(["a"], ["b"], condensed=True), ValueError, "others="),
        (lambda: pairwise_strings(["a" * 300], dtype="u1"), ValueError, "wider"),
        (lambda: pairwise_strings(["a" * 300], ["b"], dtype="u1"), ValueError, "wider"),
        (lambda: pairwise_strings(["a"], scale="length", dtype=int), ValueError, "fractions"),
        (lambda: pairwise_strings(["a"], out=np.empty((2, 2), "i4")), ValueError, r"\(1, 1\)"),
        (lambda: pairwise_strings(["a"], engine="gpu"), ValueError, "gpu"),
    ],
)
def test_what_means_nothing_is_refused_with_the_way_out(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_what_goes_to_a_cluster_can_be_pickled():
    plan, numbers = edit_distance.make_plan(
        "levenshtein", ["ab"], None, None, None, np.dtype(np.int32)
    )
    block = edit_distance.RowBlock(0, numbers.encode(["ab", "b"]))
    sent = pickle.loads(pickle.dumps((plan, block)))
    start, rows = edit_distance.block_distances(*sent)
    assert (start, rows.tolist()) == (0, [[0], [1]])


@pytest.mark.usefixtures("in_a_band")
def test_a_swap_where_the_band_reaches_a_new_word_counts_once():
    a = "abbdcddcacbcabbcadcbacaacdbacbcdacdadbaabacdbbdcacdcbabcbaacbdaacc"
    b = "ddabdaccbddaabbcdaacacbaabbadddaaaaaaabbcdccaaabbacabbaddcccbccca"
    assert optimal_string_alignment(a, b) == 37
    costs = EditCosts()  # the plain table, cell by cell
    rng = np.random.default_rng(0)
    pairs = [(a, b)]
    for _ in range(300):
        pair = ["".join(rng.choice(list("abc"), size)) for size in rng.integers(65, 76, 2)]
        pairs.append((pair[0], pair[1]))
    for one, two in pairs:
        assert optimal_string_alignment(one, two) == optimal_string_alignment(
            one, two, costs=costs
        )

"""The channel: costs by hand, by another program, and learned from examples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.language.channel import (
    DELETE,
    ENGLISH,
    FIRST_LETTER,
    INSERT,
    SUBSTITUTE,
    costs_of,
    learn_channel,
    make_channel,
)
from tacit.language.deletion_index import strings_of
from tacit.text import optimal_string_alignment

LETTERS = strings_of(["abcdefghijklmnopqrstuvwxyz'é"])


@pytest.fixture(scope="module")
def english():
    return make_channel("english", LETTERS)


@given(
    meant=st.text(alphabet="abei'ж", min_size=1, max_size=7),
    typed=st.text(alphabet="abei'жx", min_size=1, max_size=7),
)
def test_costs_are_those_of_the_weighted_edit_distance(meant, typed):
    channel = make_channel("english", LETTERS)._replace(first=0.0)
    (cost,) = costs_of(channel, [(meant, typed)])
    assert cost == pytest.approx(optimal_string_alignment(meant, typed, costs=ENGLISH))


def test_a_wrong_first_letter_costs_extra(english):
    right, wrong = costs_of(english, [("bid", "bed"), ("id", "ed")])
    assert wrong == pytest.approx(right + FIRST_LETTER)


def test_what_teachers_and_typists_know_costs_less_than_what_nobody_does(english):
    likely_and_not = {
        "separate": ("seperate", "sepzrate"),
        "committee": ("comittee", "comxmittee"),
        "until": ("untill", "untiql"),
        "receive": ("recieve", "erceive"),
        "rhythm": ("rythm", "rhyhm"),
        "the": ("rhe", "phe"),
        "fantasy": ("vantasy", "qantasy"),
    }
    likely = [(meant, typed) for meant, (typed, _) in likely_and_not.items()]
    unlikely = [(meant, typed) for meant, (_, typed) in likely_and_not.items()]
    assert (costs_of(english, likely) < costs_of(english, unlikely)).all()


def test_letters_that_the_rules_do_not_name_have_costs_too(english):
    channel = make_channel("english", strings_of(["слово", "a"]))
    (cost,) = costs_of(channel, [("слово", "слова")])
    assert 0 < cost < 20
    (cost,) = costs_of(english, [("слово", "слова")])  # letters that it has never met
    assert 0 < cost < 20


def test_an_accent_left_off_costs_less_than_any_other_slip(english):
    off, on, other = costs_of(english, [("café", "cafe"), ("cafe", "café"), ("café", "cafa")])
    assert off < on < other


def test_one_example_changes_little_and_many_change_much(english):
    pair = ("shelf", "shelv")
    start = costs_of(english, [pair])[0]
    few = costs_of(learn_channel(english, [pair]), [pair])[0]
    many = costs_of(learn_channel(english, [pair] * 500), [pair])[0]
    assert many < few < start
    assert start - few < 2
    assert many < 0.5


def test_learned_odds_are_the_shares_in_the_examples():
    start = make_channel("uniform", LETTERS)
    pairs = [("aa", "ab")] * 300 + [("aa", "aa")] * 700
    learned = learn_channel(start, pairs, strength=1e-9, rounds=2)
    a, b = (int(row) for row in learned.rows(strings_of(["ab"])))
    # 300 of 2,000 letters a became b, all after an a.
    assert np.exp(-learned.costs[SUBSTITUTE, a, b]) == pytest.approx(0.15)
    never = learned.costs[INSERT, a, b], learned.costs[DELETE, a, a]
    assert (np.exp(np.negative(never)) < 1e-6).all()


def test_weight_two_equals_twice(english):
    pairs = [("receive", "recieve"), ("until", "untill"), ("which", "wich")]
    twice = learn_channel(english, pairs * 2)
    weighted = learn_channel(english, pairs, weights=np.full(3, 2.0))
    np.testing.assert_allclose(weighted.costs, twice.costs)


def test_without_examples_nothing_is_learned(english):
    assert learn_channel(english, []) is english
    assert learn_channel(english, [("a" * 100, "b")]) is english  # too long to align

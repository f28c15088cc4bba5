"""Randomness keyed by purpose: the same bits from Python, from kernels, in any order."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError
from scipy import stats

from tacit.core import randoms
from tacit.core.randoms import (
    below,
    bits,
    integers,
    key,
    keys,
    normal,
    normals,
    permutation,
    seed_from,
    spawn,
    uniform,
    uniforms,
)

some = settings(deadline=None, max_examples=50)  # no deadline: the first call compiles
WORD = 2**64 - 1
some_key = st.integers(0, WORD).map(np.uint64)


def splitmix64(state):
    """The generator as published, in Python's own integers: the outside authority."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & WORD
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        yield z ^ (z >> 31)


@njit
def keys_in_kernel(a, b, c, d):
    return key(a), key(a, b), key(a, b, c), key(a, b, c, d)


@njit
def draw_in_kernel(seed, step, items, limit):
    """What a model does: a key per item, a few numbers from each."""
    out = np.empty((items.size, 4))
    for t in range(items.size):
        own = key(seed, step, items[t])
        row = out[t]
        row[0] = uniform(own, 0)
        row[1] = uniform(own, 1)
        row[2] = below(own, 2, limit)
        row[3] = normal(own, 3)
    return out


# --- Reference values ---


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (
            0,
            [
                0xE220A8397B1DCDAF,
                0x6E789E6AA1B965F4,
                0x06C45D188009454F,
                0xF88BB8A8724C81EC,
                0x1B39896A51A8749B,
            ],
        ),
        (
            1234567,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423,
                4593380528125082431,
                16408922859458223821,
            ],
        ),
    ],
)
def test_bits_are_the_published_splitmix64(seed, expected):
    assert [bits(np.uint64(seed), n) for n in range(5)] == expected


@given(st.integers(0, WORD))
@some
def test_bits_follow_splitmix64_from_any_start(state):
    reference = splitmix64(state)
    assert [bits(np.uint64(state), n) for n in range(20)] == [
        next(reference) for _ in range(20)
    ]


def test_values_of_a_seed_never_change():
    """Saved models and published figures rest on these: a change here breaks them all."""
    own = key(2024, 1, 17)
    assert int(own) == 0x6D380C38193C6FB5
    assert uniforms(own, 3).tolist() == [
        0.9928777875043701,
        0.8594896048040437,
        0.3733401496625547,
    ]
    assert normals(own, 3).tolist() == [
        2.451039679392329,
        1.078029054101415,
        -0.32301973087217073,
    ]
    assert integers(own, 6, 1000).tolist() == [992, 859, 373, 446, 375, 492]
    assert permutation(own, 8).tolist() == [0, 6, 3, 4, 1, 2, 5, 7]


# --- One value, whoever asks ---


@pytest.mark.parametrize("kind", [np.uint64, np.int64])
@given(data=st.data())
@some
def test_a_kernel_and_python_mix_the_same_key(kind, data):
    limits = np.iinfo(kind)
    a, b, c, d = (kind(data.draw(st.integers(limits.min, limits.max))) for _ in range(4))
    expected = (key(a), key(a, b), key(a, b, c), key(a, b, c, d))
    assert keys_in_kernel(a, b, c, d) == expected
    assert keys(np.array([a]), b, [int(c)], d)[0] == expected[3]


def test_integers_of_several_types_mix_in_one_key():
    mixed = np.uint64(2**63 + 1), np.int32(-5), 7, np.uint8(200)
    assert keys_in_kernel(*mixed)[3] == key(2**63 + 1, -5, 7, 200)


def test_narrow_and_negative_integers_mix_alike():
    for kind in (np.int8, np.int32, np.int64):
        assert keys_in_kernel(kind(-3), kind(-1), kind(5), kind(0))[3] == key(-3, -1, 5, 0)
    assert key(-1) == key(2**64 - 1)
    assert (keys(np.int32(-3), np.array([-1, 2], np.int8)) == [key(-3, -1), key(-3, 2)]).all()


def test_keys_broadcast_over_arrays_of_items():
    grid = keys(9, np.arange(4)[:, None], np.arange(3))
    assert all(grid[i, j] == key(9, i, j) for i in range(4) for j in range(3))


def test_keys_tell_order_number_and_neighbors_apart():
    family = [key(0), key(0, 0), key(0, 0, 0), key(0, 1), key(1, 0), key(0, 0, 1), key(0, 1, 0)]
    numbers = [np.uint64(bits(key(0), n)) for n in range(8)]
    assert len({*family, *numbers}) == len(family) + len(numbers)
    grid = keys(5, np.arange(300)[:, None], np.arange(300))
    assert np.unique(grid).size == grid.size


def test_arrays_hold_what_the_singular_functions_give():
    own = key(3, 1)
    n = range(2000)
    assert uniforms(own, 2000).tolist() == [uniform(own, i) for i in n]
    assert normals(own, 2000).tolist() == [normal(own, i) for i in n]
    assert integers(own, 2000, 77).tolist() == [below(own, i, 77) for i in n]


def test_arrays_start_anywhere_and_take_any_shape(monkeypatch):
    own = key(3, 2)
    whole = uniforms(own, 1000)
    assert (uniforms(own, 400, start=600) == whole[600:]).all()
    assert (uniforms(own, (10, 100)) == whole.reshape(10, 100)).all()
    assert uniforms(own, 0).shape == (0,)
    order = permutation(own, 1000)
    monkeypatch.setattr(randoms, "SPAN", 7)  # where the kernel calls are cut does not show
    assert (uniforms(own, 1000) == whole).all()
    assert (permutation(own, 1000) == order).all()


def test_numbers_do_not_depend_on_order_or_threads():
    items = np.arange(5000)
    seed, limit = np.uint64(11), 97
    whole = draw_in_kernel(seed, 2, items, limit)
    order = permutation(key(1), 5000)
    assert (draw_in_kernel(seed, 2, items[order], limit) == whole[order]).all()
    with ThreadPoolExecutor(4) as pool:
        slices = np.array_split(order, 13)
        drawn = pool.map(lambda part: draw_in_kernel(seed, 2, part, limit), slices)
        threaded = np.empty_like(whole)
        for part, rows in zip(slices, drawn, strict=True):
            threaded[part] = rows
    assert (threaded == whole).all()


def test_python_repeats_what_a_kernel_drew():
    items = np.array([0, 5, 10**12])
    drawn = draw_in_kernel(np.uint64(4), 1, items, 9)
    for t, item in enumerate(items):
        own = key(4, 1, item)
        assert drawn[t].tolist() == [
            uniform(own, 0),
            uniform(own, 1),
            below(own, 2, 9),
            normal(own, 3),
        ]


# --- Distributions, at fixed seeds ---


def p_of_even_counts(counts):
    return stats.chisquare(counts).pvalue


def test_uniform_numbers_are_in_range_and_even():
    x = uniforms(key(1), 200_000)
    assert x.min() >= 0
    assert x.max() < 1
    assert p_of_even_counts(np.histogram(x, 100, (0, 1))[0]) > 1e-3
    pairs = np.histogram2d(x[:-1], x[1:], 16, ((0, 1), (0, 1)))[0].ravel()
    assert p_of_even_counts(pairs) > 1e-3


def test_first_numbers_of_neighboring_keys_are_even_too():
    """Items are numbered 0, 1, 2, ...: their keys must not know it."""
    first = np.array([uniform(own, 0) for own in keys(0, 0, np.arange(50_000))])
    assert p_of_even_counts(np.histogram(first, 64, (0, 1))[0]) > 1e-3
    pairs = np.histogram2d(first[:-1], first[1:], 16, ((0, 1), (0, 1)))[0].ravel()
    assert p_of_even_counts(pairs) > 1e-3


def test_every_bit_of_a_key_is_a_coin():
    words = keys(0, np.arange(100_000))
    ones = [int(((words >> np.uint64(b)) & np.uint64(1)).sum()) for b in range(64)]
    assert all(abs(n - 50_000) < 5 * np.sqrt(100_000) / 2 for n in ones)


@pytest.mark.parametrize("limit", [1, 2, 6, 960, 3 * 2**30, 2**32 - 1, 2**32])
def test_integers_below_a_limit_are_even(limit):
    x = integers(key(2, limit), 100_000, limit)
    assert x.dtype == np.int64
    assert x.min() >= 0
    assert x.max() < limit
    bins = min(limit, 96)  # at 3 * 2^30 a 32-bit product would leave every third value rarer
    counts = np.bincount(x * bins // limit, minlength=bins)
    if bins > 1:
        assert p_of_even_counts(counts) > 1e-3


@given(some_key, st.integers(0, 2**40), st.integers(1, 2**32))
@some
def test_below_is_the_high_half_of_the_exact_product(own, n, limit):
    assert below(own, n, limit) == (bits(own, n) * limit) >> 64


def test_normal_numbers_are_normal():
    z = normals(key(4), 200_000)
    assert stats.kstest(z, "norm").pvalue > 1e-3
    assert abs(z.mean()) < 5 / np.sqrt(200_000)
    assert stats.kurtosis(z) == pytest.approx(0, abs=0.06)


# --- Orders ---


@given(some_key, st.integers(0, 500))
@some
def test_a_permutation_holds_everything_once(own, n):
    order = permutation(own, n)
    assert order.dtype == np.int64
    assert (np.sort(order) == np.arange(n)).all()


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_every_item_comes_first_equally_often(n):
    orders = np.array([permutation(own, n) for own in keys(6, np.arange(6000))])
    pair = orders[:, 0] * n + orders[:, 1]
    counts = np.bincount(pair, minlength=n * n).reshape(n, n)
    assert (np.diag(counts) == 0).all()
    assert p_of_even_counts(counts[~np.eye(n, dtype=bool)]) > 1e-3


def test_a_permutation_looks_like_no_order():
    n = 100_003
    order = permutation(key(8), n)
    assert abs(stats.spearmanr(order, np.arange(n)).statistic) < 5 / np.sqrt(n)
    assert abs(stats.spearmanr(order[:-1], order[1:]).statistic) < 5 / np.sqrt(n)


# --- Seeds ---


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**63, 2**64 - 1, np.int32(7)])
def test_an_integer_is_its_own_seed(seed):
    assert seed_from(seed) == np.uint64(seed)
    assert type(seed_from(seed)) is np.uint64


def test_generators_give_their_next_bits():
    old, new = np.random.RandomState(3), np.random.default_rng(3)
    for make, source in ((np.random.RandomState, old), (np.random.default_rng, new)):
        first, second = seed_from(source), seed_from(source)
        assert first == seed_from(make(3))
        assert first != second
        assert first > 2**32 or second > 2**32  # all 64 bits, not 32
        assert type(first) is np.uint64
    assert seed_from(np.random.RandomState(0)) == np.uint64(0x8C7F0AAC97C4AA2F)
    assert seed_from(np.random.default_rng(0)) == np.uint64(0xD9C2825FA30FEBCF)


def test_the_global_random_state_is_accepted_as_scikit_learn_does():
    saved = np.random.get_state()
    try:
        np.random.seed(5)
        assert seed_from(np.random) == seed_from(np.random.RandomState(5))
    finally:
        np.random.set_state(saved)


def test_none_asks_for_fresh_entropy():
    assert len({int(seed_from(None)) for _ in range(8)}) == 8


def test_spawned_seeds_are_distinct_and_stable():
    many = spawn(42, 1000)
    assert np.unique([*many, *keys(42, np.arange(1000))]).size == 2000
    assert (spawn(42, 10) == many[:10]).all()
    assert spawn(42, 0).size == 0


# --- What is refused ---


@pytest.mark.parametrize("value", [-1, 2**64])
def test_a_seed_out_of_range_is_refused_with_the_range(value):
    with pytest.raises(ValueError, match=rf"random_state={value} .* 2\*\*64 - 1"):
        seed_from(value)


@pytest.mark.parametrize("value", ["0", 1.5, [1]])
def test_a_seed_of_another_type_is_refused(value):
    with pytest.raises(TypeError, match="Give None, an integer"):
        seed_from(value)


def test_keys_take_whole_numbers_of_64_bits_only():
    with pytest.raises(TypeError):
        key(1.5)
    with pytest.raises(ValueError, match="does not fit 64 bits"):
        key(0, 2**64)
    with pytest.raises(TypeError, match="float64"):
        keys(0, np.array([1.5]))
    with pytest.raises(TypingError, match="key needs integers"):
        keys_in_kernel(0, 1.5, 0, 0)


def test_sizes_and_limits_are_checked():
    with pytest.raises(ValueError, match="-1 numbers"):
        uniforms(key(0), -1)
    with pytest.raises(ValueError, match="limit=0"):
        integers(key(0), 3, 0)
    with pytest.raises(ValueError, match="from 1 to 2"):
        integers(key(0), 3, 2**32 + 1)
    with pytest.raises(ValueError, match="-2 numbers"):
        permutation(key(0), -2)
    with pytest.raises(ValueError, match="at most"):
        permutation(key(0), 2**32 + 1)
    with pytest.raises(ValueError, match="-5 numbers"):
        spawn(0, -5)

"""Random numbers that depend on what they are for, never on when they are drawn.

    key(seed, pass, item)     64 bits for one purpose
    uniform(key, n)           the n-th number of that key; likewise below, normal
    uniforms(key, size)       the first numbers of it, as an array

There is no state to advance, so an item gets the same numbers from every engine,
any number of workers and any order of visits. A key is a starting point on splitmix64's
sequence, and n counts from there: any n costs the same. Use a key for one purpose only; two
keys with a million numbers each have one in common with a probability of about 1e-13.

``key`` and the singular functions may be called from Python and inside kernels, with the same
bits. Keys and seeds are np.uint64 everywhere, so that kernels compile for one type. These
numbers are for statistics: anyone who sees a few of them can work out the key.

Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators. OOPSLA.
Salmon, Moraes, Dror and Shaw (2011), Parallel random numbers: as easy as 1, 2, 3. SC.
Lemire (2019), Fast random integer generation in an interval. ACM TOMACS 29.
Wichura (1988), Algorithm AS 241: the percentage points of the normal distribution.
Applied Statistics 37.
"""

import math
import operator
import secrets
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.extending import overload, register_jitable
from numba.misc.special import literal_unroll

from tacit.core.kernel import kernel

__all__ = [
    "below", "bits", "integers", "key", "keys", "normal", "normals", "permutation", "seed_from",
    "spawn", "uniform", "uniforms",
]  # fmt: skip

U = np.uint64
GOLDEN = U(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, odd: the step between numbers
ABSORB = U(0xD1342543DE82EF95)  # another odd constant: keys of items are no one's numbers
SPAWN = U(0x5EED5EED5EED5EED)  # no pass of a model has this number
WORD = 2**64 - 1
SPAN = 1 << 21  # numbers to a kernel call: some 20 ms, so that Ctrl-C works


# --- Keys and seeds ---


def key(seed: Any, *items: Any) -> np.uint64:
    """Mix a seed and any few integers into the key of one purpose.

    Every integer from -2^63 to 2^64 - 1 will do; equal modulo 2^64 is equal. The order
    matters, and so does the number of items. A kernel may call it too, with the same result.

    >>> hex(key(0)), hex(key(7, 0, 1)), hex(key(7, 1, 0))
    ('0xe220a8397b1dcdaf', '0x1468a3bcfe7c0a37', '0x1106b42a6e7787d2')
    """
    mixed = mix_int(as_word(seed) + int(GOLDEN))
    for item in items:
        mixed = mix_int((mixed ^ as_word(item)) + int(ABSORB))
    return U(mixed)


def keys(seed: Any, *items: Any) -> np.ndarray:
    """``key`` for arrays of integers, which broadcast. The result has one dimension or more.

    >>> bool(keys(7, 0, np.arange(5))[3] == key(7, 0, 3))
    True
    """
    # At least one dimension: arrays wrap around in silence, NumPy's scalars warn.
    mixed = mix(np.atleast_1d(as_words(seed)) + GOLDEN)
    for item in items:
        mixed = mix((mixed ^ as_words(item)) + ABSORB)
    return mixed


def seed_from(random_state: Any = None) -> np.uint64:
    """The seed that scikit-learn's ``random_state`` stands for.

    An integer from 0 to 2^64 - 1 is the seed itself, on every platform. A RandomState or a
    Generator gives its next 64 bits, so that two fits with the same object differ. None
    asks the operating system, and no two runs are the same.

    >>> seed_from(42)
    np.uint64(42)
    """
    if random_state is None:
        return U(secrets.randbits(64))
    if random_state is np.random:
        random_state = np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        high, low = random_state.randint(2**32, size=2, dtype=np.uint64)
        return (high << U(32)) | low
    if isinstance(random_state, np.random.Generator):
        high, low = random_state.integers(2**32, size=2, dtype=np.uint64)
        return (high << U(32)) | low
    try:
        seed = operator.index(random_state)
    except TypeError:
        raise TypeError(
            f"random_state={random_state!r} is a {type(random_state).__name__}. "
            "Give None, an integer, a numpy RandomState or a numpy Generator."
        ) from None
    if not 0 <= seed < 2**64:
        raise ValueError(
            f"random_state={seed} is out of range. Give an integer from 0 to 2**64 - 1."
        )
    return U(seed)


def spawn(seed: Any, n: int) -> np.ndarray:
    """``n`` seeds from one, for restarts and folds. Asking for more keeps the first ones.

    >>> bool((spawn(42, 8)[:3] == spawn(42, 3)).all())
    True
    """
    return keys(seed, SPAWN, np.arange(check_size(n, "spawn")))


# --- Arrays of numbers ---


def uniforms(key: Any, size: int | tuple[int, ...], *, start: int = 0) -> np.ndarray:
    """Numbers ``start``, ``start + 1``, ... of a key, each in [0, 1), as float64.

    >>> uniforms(key(42), 3).round(3)
    array([0.343, 0.956, 0.486])
    """
    return fill(uniform_span, key, size, start, np.float64, "uniforms")


def integers(
    key: Any, size: int | tuple[int, ...], limit: int, *, start: int = 0
) -> np.ndarray:
    """Integers in [0, limit), as int64; ``limit`` is at most 2^32. See ``below``.

    >>> integers(key(42), 8, limit=6)
    array([2, 5, 2, 0, 4, 0, 1, 4])
    """
    if not 1 <= limit <= 2**32:
        raise ValueError(f"integers(limit={limit}) needs a limit from 1 to 2**32.")
    return fill(below_span, key, size, start, np.int64, "integers", U(limit))


def normals(key: Any, size: int | tuple[int, ...], *, start: int = 0) -> np.ndarray:
    """Standard normal numbers ``start``, ``start + 1``, ... of a key, as float64.

    >>> normals(key(42), 3).round(3)
    array([-0.403,  1.703, -0.034])
    """
    return fill(normal_span, key, size, start, np.float64, "normals")


def permutation(key: Any, n: int) -> np.ndarray:
    """The integers below ``n`` in a random order, as int64. Takes O(n); n at most 2^32.

    >>> permutation(key(42), 6)
    array([4, 2, 1, 5, 3, 0])
    """
    if check_size(n, "permutation") > 2**32:
        raise ValueError(f"permutation(n={n}) holds at most 2**32 items. Shuffle parts.")
    order = np.arange(n, dtype=np.int64)
    for stop in range(n, 0, -SPAN):
        swap_span(order, U(key), max(0, stop - SPAN), stop)
    return order


def fill(span, key, size, start, dtype, caller, *more):
    """Fill an array by a kernel, a chunk to a call. Place i gets number start + i."""
    shape = size if isinstance(size, tuple) else (size,)
    out = np.empty(tuple(check_size(length, caller) for length in shape), dtype)
    flat = out.reshape(-1)
    for i in range(0, flat.size, SPAN):
        span(U(key), U(start + i), *more, flat[i : i + SPAN])
    return out


def check_size(n: Any, caller: str) -> int:
    if operator.index(n) < 0:
        raise ValueError(f"{caller} was asked for {n} numbers. Ask for 0 or more.")
    return operator.index(n)


def as_word(item: Any) -> int:
    """An integer as 64 bits; a negative one wraps around, as in a kernel."""
    number = operator.index(item)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"key got {number}, which does not fit 64 bits. Give a smaller one.")
    return number & WORD


def as_words(items: Any) -> np.ndarray:
    array = np.asarray(items)
    if array.ndim == 0:
        return np.array([as_word(array[()])], np.uint64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"keys needs integers, but got an array of {array.dtype}. Round first.")
    return array.astype(np.uint64)


def mix_int(z: int) -> int:
    """``mix`` for a Python integer, which does not wrap around."""
    z &= WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


# --- Kernels, which Python may call too ---


@register_jitable
def mix(z):
    """splitmix64's finalizer: every bit of z affects every bit of the result. A bijection."""
    z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
    return z ^ (z >> U(31))


@overload(key)
def key_in_kernel(seed, *items):
    wrong = [kind for kind in (seed, *items) if not isinstance(kind, types.Integer)]
    if wrong:
        raise TypingError(f"key needs integers, but got {wrong[0]}.")
    if not items:
        return lambda seed, *items: mix(U(seed) + GOLDEN)

    def mixed(seed, *items):
        mixed = mix(U(seed) + GOLDEN)
        for item in literal_unroll(items):
            mixed = mix((mixed ^ U(item)) + ABSORB)
        return mixed

    return mixed


@kernel
def bits(key, n):
    """The n-th 64 bits of a key: splitmix64 started at the key, n numbers on.

    >>> hex(bits(0, 0)), hex(bits(0, 1))
    ('0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4')
    """
    return mix(U(key) + (U(n) + U(1)) * GOLDEN)


@kernel
def uniform(key, n):
    """A float64 in [0, 1): one of 2^53 values, evenly spaced and equally likely.

    >>> uniform(0, 0)
    0.8833...
    """
    return np.float64(bits(key, n) >> U(11)) * 2.0**-53


@kernel
def below(key, n, limit):
    """An int64 in [0, limit), for 1 <= limit <= 2^32, which is not checked.

    The high half of bits * limit, without a division. The odds of each value are within
    2^-64 of 1 / limit: off by a factor of 1 + 2^-32 at the very worst.

    >>> below(0, 0, 6)
    5
    """
    word = bits(key, n)
    high = (word >> U(32)) * U(limit)
    low = (word & U(0xFFFFFFFF)) * U(limit)
    return np.int64((high + (low >> U(32))) >> U(32))


@kernel
def normal(key, n):
    """A standard normal float64, within 8.3 of zero, by inverting the distribution.

    >>> normal(0, 0)
    1.1917...
    """
    # 2^52 evenly spaced probabilities in (0, 1), less a half, none of them 0 or 1.
    return normal_quantile(np.float64(bits(key, n) >> U(12)) * 2.0**-52 + (2.0**-53 - 0.5))


@kernel
def uniform_span(key, start, out):
    for i in range(out.size):
        out[i] = uniform(key, start + U(i))


@kernel
def below_span(key, start, limit, out):
    for i in range(out.size):
        out[i] = below(key, start + U(i), limit)


@kernel
def normal_span(key, start, out):
    for i in range(out.size):
        out[i] = normal(key, start + U(i))


@kernel
def swap_span(order, key, start, stop):
    """Fisher and Yates, from the end: place i swaps with one of the places up to it."""
    for i in range(stop - 1, start - 1, -1):
        j = below(key, i, i + 1)
        order[i], order[j] = order[j], order[i]


# --- The normal quantile, with the same bits on every platform ---
#
# Additions, products, quotients and square roots alone, the logarithm too: these round the same
# way everywhere, which the system's logarithm does not. Within 2e-15 of the truth.

# Rational approximations, the highest power first: numerator, denominator.
CENTER = (
    (2.5090809287301226727e3, 5.2264952788528545610e3),
    (3.3430575583588128105e4, 2.8729085735721942674e4),
    (6.7265770927008700853e4, 3.9307895800092710610e4),
    (4.5921953931549871457e4, 2.1213794301586595867e4),
    (1.3731693765509461125e4, 5.3941960214247511077e3),
    (1.9715909503065514427e3, 6.8718700749205790830e2),
    (1.3314166789178437745e2, 4.2313330701600911252e1),
    (3.3871328727963666080, 1.0),
)
NEAR = (
    (7.74545014278341407640e-4, 1.05075007164441684324e-9),
    (2.27238449892691845833e-2, 5.47593808499534494600e-4),
    (2.41780725177450611770e-1, 1.51986665636164571966e-2),
    (1.27045825245236838258, 1.48103976427480074590e-1),
    (3.64784832476320460504, 6.89767334985100004550e-1),
    (5.76949722146069140550, 1.67638483018380384940),
    (4.63033784615654529590, 2.05319162663775882187),
    (1.42343711074968357734, 1.0),
)
FAR = (
    (2.01033439929228813265e-7, 2.04426310338993978564e-15),
    (2.71155556874348757815e-5, 1.42151175831644588870e-7),
    (1.24266094738807843860e-3, 1.84631831751005468180e-5),
    (2.65321895265761230930e-2, 7.86869131145613259100e-4),
    (2.96560571828504891230e-1, 1.48753612908506148525e-2),
    (1.78482653991729133580, 1.36929880922735805310e-1),
    (5.46378491116411436990, 5.99832206555887937690e-1),
    (6.65790464350110377720, 1.0),
)


@kernel
def normal_quantile(half):
    """The standard normal value with probability ``half + 0.5`` below it.

    Taking the distance of the probability from a half, in (-0.5, 0.5), keeps the digits of
    both tails.

    >>> normal_quantile(0.475)
    1.95996...
    """
    if abs(half) <= 0.425:
        return half * ratio(CENTER, 0.180625 - half * half)
    tail = math.sqrt(-logarithm(0.5 - abs(half)))
    size = ratio(NEAR, tail - 1.6) if tail <= 5.0 else ratio(FAR, tail - 5.0)
    return size if half > 0 else -size


@kernel
def logarithm(x):
    """The natural logarithm of a number in (0, 1), to about one unit in the last place."""
    mantissa, power = math.frexp(x)
    if mantissa < 0.7071067811865476:
        mantissa, power = mantissa * 2.0, power - 1
    s = (mantissa - 1.0) / (mantissa + 1.0)  # log(mantissa) = 2 artanh(s), |s| < 0.172
    t = s * s
    series = 0.0
    for odd in range(23, 0, -2):
        series = series * t + 1.0 / odd
    return 2.0 * s * series + power * 0.6931471805599453


@kernel
def ratio(table, x):
    """One polynomial over another, from coefficients in pairs, the highest power first."""
    above, below = 0.0, 0.0
    for a, b in table:
        above, below = above * x + a, below * x + b
    return above / below

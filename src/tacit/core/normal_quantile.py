"""The normal quantile, with the same bits on every platform.

Made of additions, products, quotients and square roots alone, the logarithm too: these round
the same way everywhere, which the system's logarithm does not. Within 2e-15 of the truth.

Wichura (1988), Algorithm AS 241: the percentage points of the normal distribution.
Applied Statistics 37.
"""

import math

from tacit.core.kernel import kernel

__all__ = ["normal_quantile"]

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
    """The standard normal value below which a share of ``half + 0.5`` lies.

    The share is given by its distance from a half, in (-0.5, 0.5), to keep the digits of
    both tails alike.

    Examples
    --------
    >>> normal_quantile(0.475)
    1.95996
    """
    if abs(half) <= 0.425:
        return half * ratio(CENTER, 0.180625 - half * half)
    tail = math.sqrt(-logarithm(0.5 - abs(half)))
    size = ratio(NEAR, tail - 1.6) if tail <= 5.0 else ratio(FAR, tail - 5.0)
    return size if half > 0 else -size


@kernel
def logarithm(x):
    """The natural logarithm of a number in (0, 1), to about one unit in the last place."""
    share, power = math.frexp(x)
    if share < 0.7071067811865476:
        share, power = share * 2.0, power - 1
    s = (share - 1.0) / (share + 1.0)  # log(share) = 2 artanh(s), |s| < 0.172
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

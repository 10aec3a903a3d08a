"""exp, expm1, sinh, log, log1p, the scaled erfc and a Kummer function: the same bits everywhere.

The C library's and NumPy's functions differ between machines. These are sequences of exactly
defined operations, on a float or on `Lanes`, with relative errors below 5e-15 (tested against
mpmath). The functions that end in ``_all`` take an array and are for Python code.

``exp`` writes ``x = k ln 2 + r`` with ``|r| <= ln(2)/2``, takes a polynomial for ``expm1(r)``,
and puts ``2**k`` together from its bits. Below -708.75 it is exactly 0, and ``expm1`` exactly -1.
The coefficients are those of ``(expm1(r) - r) / r**2`` and of ``sinh(y) / y`` in ``y**2``::

    mp.dps = 40; h = mp.log(2) / 2 * mp.mpf("1.0001")
    mp.chebyfit(lambda r: (mp.expm1(r) - r) / r**2, [-h, h], 9)
    h = (mp.mpf(2) / 3 * mp.mpf("1.0001")) ** 2
    mp.chebyfit(lambda z: mp.sinh(mp.sqrt(z)) / mp.sqrt(z), [0, h], 6)

``log`` writes ``x = 2**k m`` with ``m`` between ``sqrt(1/2)`` and ``sqrt(2)``, and ``log(m)`` as
``2 atanh(r)`` with ``r = (m - 1) / (m + 1)``. The coefficients are those of ``2 atanh(r) / r`` in
``z = r**2``::

    mp.dps = 40; top = mp.mpf("0.029438")
    mp.chebyfit(lambda z: 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z), [mp.mpf("1e-12"), top], 8)

Long polynomials are summed in pairs rather than one term after another: the processor works on
several terms at once, and a loop over chips waits less for each.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, exponent, fma, greater, lesser, mantissa, two_to
from driftgames._kernels.jit import kernel, scalar
from driftgames._kernels.lanes import LANES, load, store
from driftgames.core.typing import FloatArray

_LOG2_E = 1.4426950408889634
_LN2 = 0.6931471805599453
_LN2_HIGH = 6.93147180369123816490e-01  # so few bits that its product with k is exact
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer in the low bits
_UNDERFLOW = -709.3  # rounds to the exponent whose bits are all zero
_LARGEST = 709.0  # beyond it exp would overflow
_TINY = 2.2250738585072014e-308  # the least normal float
_ERFC = (  # from the highest power down
    (9.290772873032215e-08, 7.202517584836005e-08, -8.019174684327191e-07, 2.968409172531307e-07),
    (
        5.6894090899650724e-06,
        -1.1224122281497544e-05,
        -2.4387691264306046e-05,
        0.00015062257137043143,
    ),
    (-0.0001992610018544279, -0.0007577735257382458, 0.005031971017234254, -0.016197734020451597),
    (0.03716751538360477, -0.06633036581541651, 0.0937328350110569, -0.10103906603618064),
    (0.06809705425420673, 0.015379652102618402, -0.139621116840557, 1.2329951186255526),
)
_KUMMER = (  # of the Chebyshev polynomials, from the highest degree down
    -2.883378126945278e-16,
    -1.5438438808788923e-16,
    9.138887439404797e-16,
    1.847638314598827e-15,
    -1.1878951836031047e-15,
    -8.968811954333943e-15,
    -6.5279503274154075e-15,
    2.8736436090825845e-14,
    6.148471345225572e-14,
    -4.893192586608618e-14,
    -3.1537764985134536e-13,
    -1.3202244833214618e-13,
    1.2295021630310287e-12,
    1.8031597411393703e-12,
    -3.75265728690044e-12,
    -1.1480710609237575e-11,
    7.432955946818574e-12,
    5.89321563349808e-11,
    7.849547911535462e-12,
    -2.754373548868192e-10,
    -2.0038046934344722e-10,
    1.2504841384552882e-09,
    1.5439924815400379e-09,
    -5.823563246262399e-09,
    -9.467200656208343e-09,
    2.9311482304776356e-08,
    5.2118828008069706e-08,
    -1.6539833225989734e-07,
    -2.57132119071796e-07,
    1.043645103285073e-06,
    9.660763194741239e-07,
    -6.980083615895878e-06,
    3.4306519619088386e-07,
    4.408073071269729e-05,
    -6.358530598681483e-05,
    -0.0001908605618313734,
    0.0008301244217996404,
    -0.0006325087444644641,
    -0.004359074579249895,
    0.019860741251695128,
    -0.047289325106042834,
    0.07459455523980738,
    -0.07356612232679974,
    0.014829886934992936,
    0.10094618669440392,
    -0.21853048541085884,
    0.24154446125040185,
    -0.0921255786295015,
    -0.21804376106566054,
    1.202156246514232,
)


@scalar
def exp(x: float) -> float:
    """Return e to the power of ``x``, for ``x <= 709``."""
    scale, small = _parts(x)
    return fma(scale, small, scale)


@scalar
def expm1(x: float) -> float:
    """Return ``exp(x) - 1`` without cancellation, for ``x <= 709``."""
    scale, small = _parts(x)
    return fma(scale, small, scale - 1.0)


@scalar
def sinh(y: float) -> float:
    """Return the hyperbolic sine of ``y``, for ``|y| <= 2/3``."""
    z = y * y
    q = fma(2.5267123923871237e-08, z, 2.7556242551220222e-06)
    q = fma(q, z, 0.00019841272324478613)
    q = fma(q, z, 0.008333333330745327)
    q = fma(q, z, 0.1666666666667653)
    q = fma(q, z, 0.9999999999999994)
    return q * y


@scalar
def log(x: float) -> float:
    """Return the natural logarithm of a normal float above 0."""
    m, k = mantissa(x), exponent(x)
    r = (m - 1.0) / (m + 1.0)
    z = r * r
    q = fma(0.14809750333451574, z, 0.15312524326040824)
    q = fma(q, z, 0.18183631822957766)
    q = fma(q, z, 0.22222197054101914)
    q = fma(q, z, 0.2857142876066624)
    q = fma(q, z, 0.39999999999302227)
    q = fma(q, z, 0.6666666666666765)
    q = fma(q, z, 2.0)
    return fma(k, _LN2_HIGH, fma(r, q, k * _LN2_LOW))


@scalar
def log1p(x: float) -> float:
    """Return ``log(1 + x)`` without cancellation, for ``x > -1``."""
    u = 1.0 + x
    # the logarithm of the rounded u, corrected by the slope for what rounding took
    rounded = choose(u == 1.0, 1.0, u - 1.0)
    return choose(u == 1.0, x, log(u) * (x / rounded))


@scalar
def scaled_erfc(x: float) -> float:
    """Return ``exp(x**2) erfc(x)`` for ``x >= 0``.

    ``(1 + 2x) exp(x**2) erfc(x)`` is smooth in ``t = (x - 4) / (x + 4)``::

        mp.dps = 60; mp.chebyfit(f, [-1, 1], 23)  # f(t) at x = 4 (1 + t) / (1 - t)
    """
    above, slope = x + 4.0, fma(2.0, x, 1.0)
    inverse = 1.0 / (above * slope)  # one division for both
    t = (x - 4.0) * (slope * inverse)
    t2 = t * t
    t4 = t2 * t2
    q = fma(1.6403183696752708e-09, t2, fma(-6.984021100158542e-09, t, -1.673812797437216e-08))
    for a, b, c, d in _ERFC:
        q = fma(q, t4, fma(fma(a, t, b), t2, fma(c, t, d)))
    return q * (above * inverse)


@scalar
def scaled_kummer(x: float) -> float:
    """Return ``exp(-x)`` times the sum over ``k >= 1`` of ``x**k / ((2 k - 1) k!)``, ``x >= 0``.

    That sum is 1 less Kummer's function M(-1/2, 1/2, x). Times ``exp(-x) (2 x + 1/x)`` it is smooth
    in ``u = (x - 16) / (x + 16)``, bounded, and 1 at both ends. The coefficients are those of its
    Chebyshev polynomials, ``c[j] = 2/n sum_k f(u_k) cos(j t_k)`` with ``u_k = cos(t_k)``::

        mp.dps = 50; n = 200; t = [mp.pi * (k + mp.mpf(1) / 2) / n for k in range(n)]
        f = lambda x: (mp.exp(-x) - mp.hyp1f1(1, mp.mpf(1) / 2, -x)) * (2 * x + 1 / x)
    """
    u = 2.0 * ((x - 16.0) / (x + 16.0))
    above, q = 0.0 * u, 0.0 * u
    for c in _KUMMER:  # Clenshaw's recurrence
        above, q = q, fma(u, q, c - above)
    # the last step has the factor u / 2 where the others have u
    return (q - 0.5 * u * above) / (2.0 * x + 1.0 / x)


@scalar
def _parts(x: float) -> tuple[float, float]:
    """Return ``2**k`` and ``expm1(r)``."""
    x = greater(x, _UNDERFLOW)
    rounded = fma(x, _LOG2_E, _ROUND)
    k = rounded - _ROUND
    r = fma(k, -_LN2_LOW, fma(k, -_LN2_HIGH, x))
    r2 = r * r
    r4 = r2 * r2
    low = fma(
        fma(0.008333333353729397, r, 0.04166666666665136), r2, fma(0.1666666666664829, r, 0.5)
    )
    high = fma(
        fma(2.762511557828763e-06, r, 2.4801536388690766e-05),
        r2,
        fma(0.00019841208732536384, r, 0.0013888888905881542),
    )
    q = fma(fma(2.761380686153829e-07, r4, high), r4, low)
    return two_to(rounded), fma(q, r2, r)


# -------------------------------------------------------------------- for Python code


def exp_all(x: npt.ArrayLike) -> FloatArray:
    """Return ``exp`` of every entry: 0 at minus infinity, infinite above 709.

    >>> exp_all(np.array([-np.inf, 0.0, 1.0]))
    array([0.        , 1.        , 2.71828183])
    """
    return _apply(_exp_all, x)


def expm1_all(x: npt.ArrayLike) -> FloatArray:
    """Return ``exp - 1`` of every entry, infinite above 709."""
    return _apply(_expm1_all, x)


def log_all(x: npt.ArrayLike) -> FloatArray:
    """Return the logarithm of every entry: minus infinity at 0, NaN below.

    >>> log_all(np.array([0.0, 1.0, np.e]))
    array([-inf,   0.,   1.])
    """
    return _apply(_log_all, x)


def log1p_all(x: npt.ArrayLike) -> FloatArray:
    """Return ``log(1 + x)`` of every entry without cancellation, for finite ``x > -1``."""
    return _apply(_log1p_all, x)


def scaled_kummer_all(x: npt.ArrayLike) -> FloatArray:
    """Return ``scaled_kummer`` of every entry.

    >>> scaled_kummer_all(np.array([0.0, 1.0, 100.0])).round(6)
    array([0.      , 0.444038, 0.005077])
    """
    return _apply(_scaled_kummer_all, x)


def _apply(loop: Callable[[FloatArray, FloatArray], None], x: npt.ArrayLike) -> FloatArray:
    values = np.asarray(x, dtype=np.float64)
    out = np.empty(values.size)
    loop(values.ravel(), out)
    return out.reshape(values.shape)


@kernel
def _exp_all(x: FloatArray, out: FloatArray) -> None:
    for i in range(0, x.size, LANES):
        each = load(x, i, 0.0)
        value = choose(each > _LARGEST, np.inf, exp(lesser(each, _LARGEST)))
        store(out, i, choose(each == each, value, each))  # NaN stays


@kernel
def _expm1_all(x: FloatArray, out: FloatArray) -> None:
    for i in range(0, x.size, LANES):
        each = load(x, i, 0.0)
        value = choose(each > _LARGEST, np.inf, expm1(lesser(each, _LARGEST)))
        store(out, i, choose(each == each, value, each))  # NaN stays


@kernel
def _log1p_all(x: FloatArray, out: FloatArray) -> None:
    for i in range(0, x.size, LANES):
        store(out, i, log1p(load(x, i, 0.0)))


@kernel
def _scaled_kummer_all(x: FloatArray, out: FloatArray) -> None:
    for i in range(0, x.size, LANES):
        store(out, i, scaled_kummer(load(x, i, 1.0)))


@kernel
def _log_all(x: FloatArray, out: FloatArray) -> None:
    for i in range(0, x.size, LANES):
        each = load(x, i, 1.0)
        small = each < _TINY
        # a subnormal float is made normal first
        value = log(choose(small, each * 2.0**54, each)) - choose(small, 54.0 * _LN2, 0.0)
        value = choose(each < np.inf, value, each)  # infinity and NaN stay
        value = choose(each < 0.0, np.nan, value)
        store(out, i, choose(each == 0.0, -np.inf, value))

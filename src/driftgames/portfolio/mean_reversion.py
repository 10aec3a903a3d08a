"""Strategies that bet on prices swinging back: they trade much, and costs can ruin them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from driftgames._kernels.arithmetic import fma
from driftgames._kernels.jit import allocating_kernel, kernel
from driftgames.core.checks import check_between, check_integer, check_range
from driftgames.core.schema import NUMBER, Schema, array_of, integer
from driftgames.core.state import check_arrays
from driftgames.core.typing import Content, FloatArray
from driftgames.portfolio.strategy import PortfolioStrategy

LONGEST_WINDOW = 1000


@kernel
def project(b: FloatArray) -> None:
    """Move ``b`` to the nearest point of the simplex.

    Michelot's method: spread the excess over the assets above zero until none falls below.
    """
    n = b.size
    level, count = -np.inf, 0
    while True:
        total, above = 0.0, 0
        for k in range(n):
            if b[k] > level:
                total += b[k]
                above += 1
        if above == count:
            break
        count = above
        level = (total - 1.0) / above
    whole = 0.0
    for k in range(n):
        b[k] = max(b[k] - level, 0.0)
        whole += b[k]
    for k in range(n):
        b[k] /= whole


@kernel
def step_towards(b: FloatArray, signal: FloatArray, amount: float) -> None:
    """Move ``b`` by ``amount`` along the signal less its mean, then onto the simplex.

    ``amount`` is divided by the squared length of that direction.
    """
    n, mean, length = b.size, 0.0, 0.0
    for k in range(n):
        mean += signal[k]
    mean /= n
    for k in range(n):
        length = fma(signal[k] - mean, signal[k] - mean, length)
    if length <= 0.0 or amount == 0.0:
        return
    for k in range(n):
        b[k] = fma(amount / length, signal[k] - mean, b[k])
    project(b)


@kernel
def pamr(shares: FloatArray, relatives: FloatArray, epsilon: float, portfolios: FloatArray) -> None:
    """Move the shares through the days and write one more portfolio than there are days."""
    for day in range(relatives.shape[0] + 1):
        if day > 0:
            gain = 0.0
            for k in range(shares.size):
                gain = fma(shares[k], relatives[day - 1, k], gain)
            step_towards(shares, relatives[day - 1], -max(0.0, gain - epsilon))
        for k in range(shares.size):
            portfolios[day, k] = shares[k]


@allocating_kernel
def olmar(
    shares: FloatArray,
    recent: FloatArray,
    played: float,
    relatives: FloatArray,
    epsilon: float,
    portfolios: FloatArray,
) -> None:
    """Move shares and recent relatives through the days after ``played`` earlier ones.

    The newest day is the first row of ``recent``.
    """
    n, window = shares.size, recent.shape[0] + 1
    expected = np.empty(n)
    for day in range(relatives.shape[0] + 1):
        if day > 0:
            for row in range(recent.shape[0] - 1, 0, -1):
                recent[row] = recent[row - 1]
            recent[0] = relatives[day - 1]
            known = min(played + day, window - 1.0)
            gain = 0.0
            for k in range(n):
                # the mean of the last prices, over the price now
                back, total = 1.0, 1.0
                for row in range(int(known)):
                    back /= recent[row, k]
                    total += back
                expected[k] = total / (known + 1.0)
                gain = fma(shares[k], expected[k], gain)
            step_towards(shares, expected, max(0.0, epsilon - gain))
        portfolios[day] = shares


class PAMR(PortfolioStrategy):
    r"""Passive-aggressive mean reversion: sell what rose today.

    .. math:: b_{t+1} = \Pi\Bigl(b_t - \frac{[b_t\cdot x_t - \epsilon]_+}{\|x_t - \bar x_t\|^2}
              (x_t - \bar x_t)\Bigr)

    with :math:`\Pi` the projection onto the simplex. B. Li, P. Zhao, S. Hoi and V. Gopalkrishnan,
    "PAMR: passive aggressive mean reversion strategy for portfolio selection", Machine Learning 87
    (2012), who trade with ``epsilon = 0.5``. Nothing is promised.

    Notes
    -----
    It trades most of its wealth every day. A cost of 0.1 % of the value traded takes about
    ``1 - exp(-0.001 * turnover * days)`` of the final wealth: on 500 days with a turnover of 1.5
    that is half. Where prices do not swing back, it buys what falls until nothing is left.

    Examples
    --------
    >>> PAMR(2).run([[1.1, 0.9], [1.1, 0.9]]).portfolios.round(3)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    title = "PAMR"
    _array_names = ("shares",)
    _named_arguments: ClassVar[Schema] = {**PortfolioStrategy._named_arguments, "epsilon": NUMBER}

    def __init__(self, n_assets: int, *, epsilon: float = 0.5, cost: float = 0.0) -> None:
        super().__init__(n_assets, cost=cost)
        self._epsilon = check_between("epsilon", epsilon, 0.0, 10.0)
        self._shares = np.full(self._n_assets, 1.0 / self._n_assets)

    def _play(self, relatives: FloatArray) -> FloatArray:
        portfolios = np.empty((relatives.shape[0] + 1, self._n_assets))
        pamr(self._shares, relatives, self._epsilon, portfolios)
        return portfolios

    def _set_state(self, state: Content) -> None:
        check_shares(state)
        super()._set_state(state)


class OLMAR(PortfolioStrategy):
    r"""On-line moving average reversion: buy what is below its average of the last days.

    .. math:: \tilde x_{t+1} = \frac1w\Bigl(1 + \frac1{x_t} + \frac1{x_t x_{t-1}} + \dots\Bigr),
              \qquad b_{t+1} = \Pi\Bigl(b_t + \frac{[\epsilon - b_t\cdot\tilde x_{t+1}]_+}
              {\|\tilde x_{t+1} - \bar x_{t+1}\|^2}(\tilde x_{t+1} - \bar x_{t+1})\Bigr)

    with w terms, the ``window``: it expects every price to return to its mean of the last w days.
    B. Li and S. Hoi, "On-line portfolio selection with moving average reversion", ICML 2012, who
    trade with ``window = 5`` and ``epsilon = 10``. Nothing is promised.

    Notes
    -----
    It holds one or two assets at a time and trades nearly all of its wealth every day: see the
    notes of `PAMR` for what costs do to it.

    Examples
    --------
    >>> OLMAR(2).run([[1.1, 0.9], [1.1, 0.9], [1.0, 1.2]]).portfolios.round(3)
    array([[0.5, 0.5],
           [0. , 1. ],
           [0. , 1. ]])
    """

    title = "OLMAR"
    _array_names = ("shares", "recent")
    _named_arguments: ClassVar[Schema] = {
        **PortfolioStrategy._named_arguments,
        "window": integer(2, LONGEST_WINDOW),
        "epsilon": NUMBER,
    }

    def __init__(
        self, n_assets: int, *, window: int = 5, epsilon: float = 10.0, cost: float = 0.0
    ) -> None:
        super().__init__(n_assets, cost=cost)
        self._window = check_integer("window", window, least=2)
        check_between("window", self._window, 2, LONGEST_WINDOW)
        self._epsilon = check_between("epsilon", epsilon, 0.0, 1e6)
        self._shares = np.full(self._n_assets, 1.0 / self._n_assets)
        self._recent = np.ones((self._window - 1, self._n_assets))

    def _play(self, relatives: FloatArray) -> FloatArray:
        portfolios = np.empty((relatives.shape[0] + 1, self._n_assets))
        state = self._shares, self._recent, float(self._t)
        olmar(*state, relatives, self._epsilon, portfolios)
        return portfolios

    def _set_state(self, state: Content) -> None:
        check_arrays(state, self._get_state())
        check_shares(state)
        check_range("recent", state["recent"], 1e-75, 1e75)
        super()._set_state(state)

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        window = arguments.get("window")
        rows = window - 1 if isinstance(window, int) else None
        return ours, {**state, "recent": array_of(rows, arguments.get("n_assets"))}


def check_shares(state: Content) -> None:
    """Raise ValueError unless ``shares`` is a portfolio."""
    shares = state.get("shares")
    if isinstance(shares, np.ndarray) and not (
        (shares >= 0).all() and abs(float(shares.sum()) - 1.0) <= 1e-9
    ):
        raise ValueError("shares must be nonnegative and sum to 1")

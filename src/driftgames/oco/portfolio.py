"""Cover's universal portfolio: Hedge over all constant rebalanced portfolios at once."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import roots_legendre

from driftgames._kernels import portfolio as kernels
from driftgames._support.checks import (
    FloatArray,
    as_floats,
    check_distribution,
    check_integer,
    check_positive,
    first_index,
)
from driftgames._support.documents import Content, decode_array, encode_array
from driftgames.certificates import Certificate
from driftgames.certificates.bounds.portfolios import universal_portfolio_quantile
from driftgames.oco.integration import Points, check_fingerprint, fingerprint
from driftgames.oco.sets import Simplex
from driftgames.oco.trading import PortfolioStrategy
from driftgames.potentials import Potential
from driftgames.potentials.describe import build_potential, describe_potential

N_POINTS = 2048
N_NODES = 512  # for two assets; exact for any market of up to 1023 days


class UniversalPortfolio(PortfolioStrategy):
    r"""Hold the mean of all constant rebalanced portfolios, each weighed by its wealth.

    .. math:: b_{t+1} = \frac{\int b\, W_t(b)\,db}{\int W_t(b)\,db}, \qquad
              W_t(b) = \prod_{\tau\le t} b\cdot x_\tau

    It is continuous EXP with learning rate 1 and the loss :math:`-\ln(b\cdot x)`, and its
    wealth is the mean wealth of all portfolios. Log-wealth is such that it falls behind the
    best one by the logarithm of a polynomial in the number of days only, without anything to
    tune: `certificates.bounds.universal_portfolio`. Cover (1991). [LS14, Alg. 5]

    Parameters
    ----------
    n_assets : int
        At least 2.
    n_points : int, optional
        How many portfolios stand for all of them. For two assets they are Gauss-Legendre
        nodes, 512 unless given; for more they are scrambled Sobol points, a power of two, 2048
        unless given, weighed so that mean and covariance are exact where there are enough of
        them for that.
    points : array, optional
        Portfolios of your own instead, one per row.
    prior : array, optional
        The share of each of these portfolios; equal unless given.
    potential : Potential, optional
        Cover's weights unless given. With another, `NormalHedgeDT()` say, positions move by
        the log-wealth over ``span``, and Theorem 6 holds in its units. [LS14, Thm. 6]
    span : float, optional
        With a potential: on no day may the highest relative be more than ``exp(span)`` times
        the lowest.
    cost : float
        What trading costs, as a share of the value traded.
    random_state : int
        Of the scrambling.

    Notes
    -----
    The wealth of a constant rebalanced portfolio of two assets is a polynomial, so n nodes
    integrate up to 2n - 1 days exactly; beyond that, wealth as a function of the portfolio is
    so smooth that the error stays at rounding until single nodes hold most of the weight.

    Examples
    --------
    >>> up = UniversalPortfolio(2)
    >>> up.run([[2.0, 0.5], [0.5, 2.0]]).wealth.round(4)
    array([1.25 , 1.375])
    >>> up.predict()
    array([0.5, 0.5])
    """

    title: ClassVar[str] = "universal portfolio"

    def __init__(
        self,
        n_assets: int,
        *,
        n_points: int | None = None,
        points: npt.ArrayLike | None = None,
        prior: npt.ArrayLike | None = None,
        potential: Potential | None = None,
        span: float | None = None,
        cost: float = 0.0,
        random_state: int = 0,
    ) -> None:
        super().__init__(n_assets, cost=cost)
        if (potential is None) != (span is None):
            raise ValueError(
                "potential and span go together: the log-wealth of Cover's portfolio needs no "
                f"span, that of any other does; got potential={potential!r}, span={span!r}"
            )
        self._potential = potential
        self._random_state = check_integer("random_state", random_state, least=0)
        self._span = 1.0
        if span is not None:
            self._span = self._most_spread = check_positive("span", span)
        if points is None:
            if prior is not None:
                raise ValueError("prior is for points of your own; got a prior without points")
            self._own = False
            self._n_points = self._check_n_points(n_points)
            self._points, self._prior = self._place()
        else:
            if n_points is not None:
                raise ValueError("give either points or n_points; got both")
            self._own = True
            self._points = self._check_points(points)
            self._n_points = self._points.shape[0]
            self._prior = (
                np.full(self._n_points, 1.0 / self._n_points)
                if prior is None
                else check_distribution("prior", prior, self._n_points)
            )
        self._tiles, self._tile_prior = _tiled(self._points, self._prior)
        self._positions = np.zeros(self._tile_prior.shape)

    # ---------------------------------------------------------------- what has happened

    @property
    def points(self) -> FloatArray:
        """The portfolios that stand for all of them, one per row."""
        return self._points

    @property
    def positions(self) -> FloatArray:
        """The learner's log-wealth less that of each portfolio, in units of ``span``.

        Without costs, which the portfolios of the mean do not pay.
        """
        return self._positions.ravel()[: self._n_points].copy()

    def certificate(self) -> Certificate:
        r"""Return the epsilon-regret in log-wealth beside its bound, for every epsilon.

        For Cover's portfolio that is :math:`\ln(1/\epsilon)`; for another potential, that of
        Theorem 2 in units of ``span``. [LS14, Thm. 2]
        """
        potential, span = self._potential, self._span

        def bound(horizon: int, epsilons: FloatArray) -> FloatArray:
            if potential is None:
                return universal_portfolio_quantile(epsilons)
            return potential.bound(horizon, epsilons) * span

        name = "" if potential is None else f", {type(potential).__name__}"
        return Certificate.of_run(
            self.title + name, self._t, self.positions * span, 0.0, bound, prior=self._prior
        )

    # ---------------------------------------------------------------- trading

    def _play(self, relatives: FloatArray) -> FloatArray:
        portfolios = np.empty((relatives.shape[0] + 1, self._n_assets))
        if self._potential is None:
            kernels.universal(self._tiles, self._tile_prior, self._positions, relatives, portfolios)
            return portfolios
        positions = self.positions
        portfolios[0] = self._mean(positions, self._t + 1)
        for day, x in enumerate(relatives):
            gain = float(np.log(portfolios[day] @ x))
            positions += (gain - np.log(self._points @ x)) / self._span
            portfolios[day + 1] = self._mean(positions, self._t + day + 2)
        self._positions.ravel()[: self._n_points] = positions
        return portfolios

    def _mean(self, positions: FloatArray, t: int) -> FloatArray:
        assert self._potential is not None
        return np.asarray(self._potential.distribution(positions, t, self._prior) @ self._points)

    # ---------------------------------------------------------------- points

    def _check_n_points(self, n_points: int | None) -> int:
        if n_points is None:
            return N_NODES if self._n_assets == 2 else N_POINTS
        return check_integer("n_points", n_points, least=2)

    def _place(self) -> tuple[FloatArray, FloatArray]:
        if self._n_assets == 2:
            nodes, weights = roots_legendre(self._n_points)
            first = (nodes + 1.0) / 2.0
            return np.column_stack([first, 1.0 - first]), weights / weights.sum()
        rng = np.random.default_rng(self._random_state)
        points, prior = Points(self._n_points, matched=True).place(Simplex(self._n_assets), rng)
        return points, np.full(self._n_points, 1 / self._n_points) if prior is None else prior

    def _check_points(self, points: npt.ArrayLike) -> FloatArray:
        rows = as_floats("points", points)
        if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] != self._n_assets:
            raise ValueError(
                f"points must have {self._n_assets} columns and a row each; got {rows.shape}"
            )
        inside = Simplex(self._n_assets).contains(rows)
        if not inside.all():
            (row,) = first_index(~inside)
            raise ValueError(
                f"points must be portfolios: nonnegative and summing to 1; got {rows[row]} in "
                f"row {row}"
            )
        return rows

    # ---------------------------------------------------------------- saving

    def _arguments(self) -> Content:
        return {
            "points": encode_array(self._points) if self._own else None,
            "prior": encode_array(self._prior) if self._own else None,
            "mark": fingerprint(self._points),
            "n_points": None if self._own else self._n_points,
            "potential": None if self._potential is None else describe_potential(self._potential),
            "span": None if self._potential is None else self._span,
            "random_state": self._random_state,
        }

    @classmethod
    def _build(cls, arguments: Content) -> Self:
        arrays = {
            name: None if arguments[name] is None else decode_array(arguments[name])
            for name in ("points", "prior")
        }
        potential = arguments["potential"]
        if isinstance(potential, dict):
            potential = build_potential(potential)
        mark = arguments.pop("mark")
        strategy = cls(**{**arguments, **arrays, "potential": potential})
        check_fingerprint(strategy._points, mark)
        return strategy

    def _state(self) -> dict[str, FloatArray]:
        # the last bits of a solved prior may depend on the machine; those of the run count
        return {"positions": self._positions, "prior": self._prior}

    def _take(self, state: dict[str, FloatArray]) -> None:
        self._positions, self._prior = state["positions"], state["prior"]
        self._tiles, self._tile_prior = _tiled(self._points, self._prior)


def _tiled(points: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points and prior in the tiles of the kernel; spare lanes repeat a point for free."""
    lanes = kernels.LANES
    n_points, n_assets = points.shape
    n_tiles = -(-n_points // lanes)
    padded = np.repeat(points[:1], n_tiles * lanes, axis=0)
    padded[:n_points] = points
    shares = np.zeros(n_tiles * lanes)
    shares[:n_points] = prior
    tiles = padded.reshape(n_tiles, lanes, n_assets).transpose(0, 2, 1)
    return np.ascontiguousarray(tiles), shares.reshape(n_tiles, lanes)

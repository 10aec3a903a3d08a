"""Cover's universal portfolio: Hedge over all constant rebalanced portfolios at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log_all
from driftgames._kernels.moments import match_moments, points_needed
from driftgames._kernels.simplex import simplex_covariance, simplex_from_cube
from driftgames._kernels.sobol import check_fingerprint, check_power_of_two, fingerprint, sobol
from driftgames._kernels.sums import dot, matvec, vecmat
from driftgames.certificates import Certificate
from driftgames.certificates.bounds.portfolios import universal_portfolio_quantile
from driftgames.core.checks import (
    as_floats,
    check_distribution,
    check_integer,
    check_positive,
    first_index,
    shown,
)
from driftgames.core.generators import RandomState, seed_of
from driftgames.core.schema import NUMBER, STRING, Schema, array_of, integer, made_as
from driftgames.core.typing import Content, FloatArray
from driftgames.portfolio import universal_kernels as kernels
from driftgames.portfolio.best_in_hindsight import BestConstantRebalanced
from driftgames.portfolio.quadrature import gauss_legendre
from driftgames.portfolio.strategy import PortfolioStrategy
from driftgames.potentials import NoBoundError, Potential

N_POINTS = 2048
N_NODES = 512  # for two assets; exact for any market of up to 1023 days
MOST_NODES = 8192  # the time that it takes to find them grows with the square of their number


class UniversalPortfolio(PortfolioStrategy):
    r"""Hold the mean of all constant rebalanced portfolios, each weighed by its wealth.

    .. math:: b_{t+1} = \frac{\int b\, W_t(b)\,db}{\int W_t(b)\,db}, \qquad
              W_t(b) = \prod_{\tau\le t} b\cdot x_\tau

    It is continuous EXP with learning rate 1 and the loss :math:`-\ln(b\cdot x)`, and its
    wealth is the mean wealth of all portfolios. The regret of the whole integral, in log-wealth,
    is at most the logarithm of a polynomial in the number of days, and nothing is tuned:
    `certificates.bounds.universal_portfolio`. Here points approximate the integral, and
    `regret_bound` is their bound. Cover (1991). [LS14, Alg. 5]

    With costs, :math:`W_t(b)` is what the portfolio b has left after paying for its own
    rebalancing, that of the next day included. Trades of different portfolios cancel when they
    are made together, so the wealth is then at least the mean net wealth of all portfolios,
    and the same bounds hold. Blum and Kalai (1999).

    Parameters
    ----------
    n_assets : int
        At least 2.
    n_points : int, optional
        How many portfolios approximate the integral. For two assets they are Gauss-Legendre
        nodes. Default: 512. For more assets they are scrambled Sobol points, a power of two.
        Default: 2048. These are weighed so that mean and covariance are exact, if there are
        enough of them.
    points : array, optional
        Portfolios of your own instead, one per row.
    prior : array, optional
        The share of each of these portfolios. Default: equal shares.
    potential : Potential, optional
        Default: Cover's weights. With a potential such as `NormalHedgeDT()` positions move by
        the log-wealth over ``span``, and the epsilon-regret of Theorem 2 holds in its units.
        [LS14, Thm. 2]
    span : float, optional
        With a potential: on no day may the highest relative be more than ``exp(span)`` times
        the lowest.
    cost : float
        What trading costs, as a share of the value traded. With a potential the weights ignore
        costs, and there is no bound on the wealth after costs.
    random_state : int, Generator or None
        The seed of the scrambling.

    Notes
    -----
    The wealth of a constant rebalanced portfolio of two assets is a polynomial, so n nodes
    integrate up to 2n - 1 days exactly; beyond that, wealth as a function of the portfolio is
    so smooth that the error stays at rounding until single nodes hold most of the weight.

    For more assets the points are close to the integral while wealth changes little from one
    to the next, as in markets of many stocks. If one asset wins every day, all wealth ends
    up in the one point that holds most of it. From then on the regret grows with every day, as
    that point's does: no number of points keeps Cover's bound in the long run.

    Examples
    --------
    >>> up = UniversalPortfolio(2)
    >>> up.run([[2.0, 0.5], [0.5, 2.0]]).wealth.round(4)
    array([1.25 , 1.375])
    >>> up.predict()
    array([0.5, 0.5])
    """

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
        random_state: RandomState = 0,
    ) -> None:
        super().__init__(n_assets, cost=cost)
        if (potential is None) != (span is None):
            raise ValueError(
                "potential and span go together: Cover's weights need no span, and a "
                f"potential needs one; got potential={shown(potential)}, span={shown(span)}"
            )
        self._potential = potential
        self._random_state = seed_of(random_state)
        self._span = 1.0
        if span is not None:
            self._span = self._largest_spread = check_positive("span", span)
        self._has_own_points = points is not None
        if points is None:
            if prior is not None:
                raise ValueError("prior is for points of your own; got a prior without points")
            self._points, self._prior = self._place(n_points)
        else:
            if n_points is not None:
                raise ValueError("give either points or n_points; got both")
            self._points = self._check_points(points)
            n = self._points.shape[0]
            shares = _equal(n) if prior is None else prior
            self._prior = check_distribution("prior", shares, n).copy()
        self._n_points = self._points.shape[0]
        self._tiles, self._log_prior = _tiled(self._points, self._prior)
        self._positions = np.zeros(self._log_prior.shape)
        self._array_names = ("positions",)
        self._is_net = self._cost > 0 and potential is None
        self._offset = np.zeros(1)
        if self._is_net:
            # what all portfolios keep of the cash that they begin with
            first = -float(log_all(np.array([1.0 + self._cost]))[0])
            self._tolls = np.full(self._log_prior.shape, first)
            self._array_names += ("tolls", "offset")

    # ---------------------------------------------------------------- what has happened

    @property
    def title(self) -> str:  # type: ignore[override]
        """The name of the strategy, after its potential if it has one."""
        return f"{'universal' if self._potential is None else self._potential.title} portfolio"

    @property
    def points(self) -> FloatArray:
        """The portfolios that approximate the integral, one per row."""
        return self._points

    @property
    def positions(self) -> FloatArray:
        """The learner's log-wealth less that of each portfolio, in units of ``span``.

        Both are after costs; with a potential both are before costs.
        """
        positions = self._positions.ravel()[: self._n_points].copy()
        return positions + (self._log_wealth - self._offset[0]) if self._is_net else positions

    def quantile_certificate(self) -> Certificate:
        r"""Return the epsilon-regret in log-wealth beside its bound, for every epsilon.

        The bound is :math:`\ln(1/\epsilon)` for Cover's weights. For a potential it is that of
        Theorem 2, in units of ``span``. [LS14, Thm. 2]
        """
        return Certificate.of_run(
            self.title,
            self._t,
            self.positions * self._span,
            0.0,
            self._quantile_bound,
            prior=self._prior,
        )

    def regret_bound(self, best: BestConstantRebalanced) -> float:
        r"""Return how far the log-wealth may lie below that of ``best``, of the same days.

        .. math:: \min_i\ \ln\frac1{q_i} + \ln\frac{W_T(b^*)}{W_T(b_i)}

        The wealth is at least the share q of a point times the wealth of that point. The second
        term is measured in the run. With a potential its epsilon-regret replaces the first
        term. For two assets without costs the bound is Cover's :math:`\ln(T+1)` as long as the
        quadrature is exact. With costs, which ``best`` does not pay, it is the same minimum
        over net wealth. With costs and a potential there is no bound.

        Examples
        --------
        >>> from driftgames.portfolio import best_constant_rebalanced
        >>> relatives = [[2.0, 0.5, 0.5]] * 300
        >>> universal = UniversalPortfolio(3)
        >>> regret = 300 * np.log(2.0) - universal.run(relatives).log_wealth[-1]
        >>> bound = universal.regret_bound(best_constant_rebalanced(relatives))
        >>> round(float(regret), 2), round(bound, 2)
        (11.34, 11.48)
        """
        if self._cost and self._potential is not None:
            raise NoBoundError(
                f"there is no bound with a potential and costs; got cost={self._cost:g}"
            )
        self._check_same_days(best)
        gauss = self._n_assets == 2 and not self._has_own_points and self._potential is None
        if gauss and not self._cost and self._t < 2 * self._n_points:  # exact integrals so far
            return best.universal_bound
        there = self._prior > 0
        behind = best.log_wealth - self._log_wealth + self.positions[there] * self._span
        return float((self._quantile_bound(self._t, self._prior[there]) + behind).min())

    def _quantile_bound(self, horizon: npt.ArrayLike, epsilons: npt.ArrayLike) -> FloatArray:
        if self._potential is None:
            return universal_portfolio_quantile(epsilons)
        return self._potential.bound(horizon, epsilons) * self._span

    # ---------------------------------------------------------------- trading

    def _play(self, relatives: FloatArray) -> FloatArray:
        portfolios = np.empty((relatives.shape[0] + 1, self._n_assets))
        if self._potential is None:
            kernels.universal(
                self._tiles,
                self._log_prior,
                self._positions,
                self._tolls if self._is_net else None,
                self._offset,
                self._cost,
                relatives,
                portfolios,
            )
            return portfolios
        positions = self.positions
        portfolios[0] = self._mean(positions, self._t + 1)
        for day, x in enumerate(relatives):
            gains = log_all(np.append(matvec(self._points, x), dot(portfolios[day], x)))
            positions += (gains[-1] - gains[:-1]) / self._span
            portfolios[day + 1] = self._mean(positions, self._t + day + 2)
        self._positions.ravel()[: self._n_points] = positions
        return portfolios

    def _mean(self, positions: FloatArray, t: int) -> FloatArray:
        assert self._potential is not None
        return vecmat(self._potential.distribution(positions, t, self._prior), self._points)

    # ---------------------------------------------------------------- points

    def _place(self, n_points: int | None) -> tuple[FloatArray, FloatArray]:
        if self._n_assets == 2:
            n = N_NODES if n_points is None else check_integer("n_points", n_points, least=2)
            if n > MOST_NODES:
                raise ValueError(f"n_points must be at most {MOST_NODES} for two assets; got {n}")
            first, weights = gauss_legendre(n)
            return np.column_stack([first, 1.0 - first]), weights
        n = N_POINTS if n_points is None else check_power_of_two("n_points", n_points)
        rng = np.random.default_rng(self._random_state)
        points = simplex_from_cube(sobol(self._n_assets - 1, n, rng))
        matched = None
        if n >= points_needed(self._n_assets - 1):
            covariance = simplex_covariance(self._n_assets)
            matched = match_moments(points, _equal(self._n_assets), covariance)
        return points, _equal(n) if matched is None else matched

    def _check_points(self, points: npt.ArrayLike) -> FloatArray:
        rows = as_floats("points", points)
        if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] != self._n_assets:
            raise ValueError(
                f"points must have {self._n_assets} columns and a row each; got {rows.shape}"
            )
        # a negative share, however small, can make the wealth negative
        inside = (rows >= 0).all(axis=1) & (np.abs(rows.sum(axis=1) - 1.0) <= 1e-9)
        if not inside.all():
            (row,) = first_index(~inside)
            raise ValueError(
                f"points must be portfolios: nonnegative and summing to 1; got {rows[row]} in "
                f"row {row}"
            )
        return rows.copy()

    # ---------------------------------------------------------------- state

    def _arguments(self) -> Content:
        own = self._has_own_points
        return super()._arguments() | {
            "n_points": None if own else self._n_points,
            "points": self._points if own else None,
            "prior": self._prior if own else None,
            "potential": self._potential,
            "span": None if self._potential is None else self._span,
            "random_state": self._random_state,
        }

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        own = arguments.get("points")
        n = arguments.get("n_points") if own is None else len(own)
        rows = -(-n // kernels.WIDTH) if type(n) is int else None
        return {
            **ours,
            "points": array_of(None, arguments.get("n_assets")).or_null,
            "prior": array_of(n).or_null,
            "n_points": integer(2).or_null,
            "potential": made_as(Potential).or_null,
            "span": NUMBER.or_null,
            "random_state": integer(0),
        }, {**state, "positions": array_of(rows, kernels.WIDTH), "points": STRING}

    def _get_state(self) -> Content:
        return super()._get_state() | {"points": fingerprint(self._points)}

    def _set_state(self, state: Content) -> None:
        check_fingerprint(self._points, state["points"])
        super()._set_state(state)


def _equal(n: int) -> FloatArray:
    return np.full(n, 1.0 / n)


def _tiled(points: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points and log-prior in the kernel's tiles; spare places repeat a point."""
    width = kernels.WIDTH
    n_points, n_assets = points.shape
    n_tiles = -(-n_points // width)
    padded = np.repeat(points[:1], n_tiles * width, axis=0)
    padded[:n_points] = points
    log_prior = np.full(n_tiles * width, -np.inf)
    log_prior[:n_points] = log_all(prior)
    tiles = padded.reshape(n_tiles, width, n_assets).transpose(0, 2, 1)
    return np.ascontiguousarray(tiles), log_prior.reshape(n_tiles, width)

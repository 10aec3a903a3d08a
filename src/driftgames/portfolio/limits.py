"""Limits for any strategy: caps per asset and per group, and a limit on what is traded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from driftgames._kernels.sums import dot, total
from driftgames.core.checks import (
    check_fraction,
    check_integer,
    check_positive,
    check_vector,
    is_real,
    shown,
)
from driftgames.core.registry import choose
from driftgames.core.schema import LIST, NUMBER, OBJECT, STRING, Schema, integer
from driftgames.core.state import nested
from driftgames.core.typing import Content, FloatArray
from driftgames.portfolio.mixture import members_from
from driftgames.portfolio.strategy import PortfolioStrategy

Groups = Iterable[tuple[Sequence[int], float]]
"""The indices of the assets of each group, and the largest share of all of them together."""


def fill(weights: FloatArray, caps: FloatArray, mass: float) -> FloatArray:
    """Return shares that sum to ``mass``, in proportion to the weights, none above its cap.

    What an asset may not hold goes to the others, in proportion. If these weigh nothing, it goes to
    them in proportion to their caps. The caps must sum to ``mass`` at least.

    >>> fill(np.array([0.7, 0.2, 0.1]), np.array([0.4, 1.0, 1.0]), 1.0)
    array([0.4, 0.4, 0.2])
    """
    shares, free = np.zeros(weights.size), np.ones(weights.size, dtype=bool)
    while free.any():
        rest = mass - total(np.ascontiguousarray(shares[~free]))
        w = np.where(free, weights, 0.0)
        if total(w) <= 0.0:
            w = np.where(free, caps, 0.0)
        if rest <= 0.0 or total(w) <= 0.0:
            break
        tried = w * (rest / total(w))
        over = free & (tried > caps)
        if not over.any():
            return np.where(free, tried, shares)
        shares[over] = caps[over]
        free &= ~over
    return shares


class LimitedPortfolio(PortfolioStrategy):
    """Follow a strategy as far as limits allow.

    The shares of the strategy are cut at the caps, and what is cut goes to the other assets in
    proportion; groups are filled first, then the assets within each. With ``max_turnover`` the
    portfolio moves only a part of the way from what is held. Nothing is promised: the bound of
    the strategy is for its own portfolios.

    Parameters
    ----------
    n_assets : int
        At least 2.
    of : str
        The strategy to follow, a name in `STRATEGIES`.
    max_share : float or sequence of float, optional
        The largest share of each asset; one number for all, or one each.
    groups : sequence of (indices, cap), optional
        Groups of assets and the largest share that each may have. An asset may be in one group.
    max_turnover : float, optional
        The value bought and sold in a period, as a share of wealth, at most. The first purchase is
        free of it. Between trades prices move the shares; where this limit binds, a share may
        stay above its cap for some periods.
    cost : float
        What trading costs, as a share of the value traded.
    random_state : int
        Of a strategy with points of its own.

    Examples
    --------
    >>> days = [[1.5, 1.0, 0.9]] * 4
    >>> LimitedPortfolio(3, of="olmar", max_share=0.4).run(days).portfolios[-1]
    array([0.3, 0.3, 0.4])
    >>> limited = LimitedPortfolio(3, of="pamr", groups=[([1, 2], 0.5)], max_turnover=0.2)
    >>> run = limited.run(days)
    >>> run.portfolios.round(3)
    array([[0.5  , 0.25 , 0.25 ],
           [0.534, 0.183, 0.284],
           [0.562, 0.132, 0.306],
           [0.591, 0.088, 0.32 ]])
    >>> run.turnover[1:].round(3)
    array([0.2, 0.2, 0.2])
    """

    VERSION: ClassVar[int] = 1

    def __init__(
        self,
        n_assets: int,
        *,
        of: str,
        max_share: float | Sequence[float] | None = None,
        groups: Groups | None = None,
        max_turnover: float | None = None,
        cost: float = 0.0,
        random_state: int = 0,
    ) -> None:
        super().__init__(n_assets, cost=cost)
        from driftgames.portfolio.named_strategies import STRATEGIES

        self._of = of
        self._random_state = check_integer("random_state", random_state, least=0)
        self._caps = self._check_caps(max_share)
        self._groups = self._check_groups(groups)
        self._max_turnover = (
            None if max_turnover is None else check_positive("max_turnover", max_turnover)
        )
        room = total(self._room())
        if room < 1.0 - 1e-12:
            raise ValueError(
                f"the caps leave room for {room:g} of the wealth; at least 1 is needed"
            )
        make = choose("of", of, STRATEGIES)
        self._member = make(n_assets, cost=cost, random_state=self._random_state)

    @property
    def title(self) -> str:  # type: ignore[override]
        """The name of the strategy that is followed, within limits."""
        return f"{self._member.title}, limited"

    # ---------------------------------------------------------------- trading

    def _play(self, relatives: FloatArray) -> FloatArray:
        days = relatives.shape[0]
        wanted = np.empty((days + 1, self._n_assets))
        if days:
            wanted[:-1] = self._member.run(relatives).portfolios
        wanted[days] = self._member.predict()
        held = self._held.copy()
        for day in range(days + 1):
            wanted[day] = self._follow(wanted[day], held)
            if day < days:
                gains = wanted[day] * relatives[day]
                held = gains / dot(wanted[day], np.ascontiguousarray(relatives[day]))
        return wanted

    def _follow(self, wanted: FloatArray, held: FloatArray) -> FloatArray:
        """Return the portfolio within the limits that is nearest to the one wanted, on the way."""
        aim = self._within_caps(wanted)
        if self._max_turnover is None or not held.any():
            return aim
        traded = total(np.abs(aim - held))
        allowed = self._max_turnover * (1.0 - self._cost)  # a cost is traded too
        return aim if traded <= allowed else held + (allowed / traded) * (aim - held)

    def _within_caps(self, wanted: FloatArray) -> FloatArray:
        masses = np.array([total(wanted[list(group)]) for group, _ in self._all_groups()])
        masses = fill(masses, self._room(), 1.0)
        shares = np.empty(self._n_assets)
        for (group, _), mass in zip(self._all_groups(), masses.tolist(), strict=True):
            at = list(group)
            shares[at] = fill(wanted[at], self._caps[at], mass)
        return np.asarray(shares / total(shares))

    def _all_groups(self) -> list[tuple[tuple[int, ...], float]]:
        """Return the groups, and each other asset as a group of its own."""
        grouped = {k for group, _ in self._groups for k in group}
        alone = [((k,), 1.0) for k in range(self._n_assets) if k not in grouped]
        return [*self._groups, *alone]

    def _room(self) -> FloatArray:
        """Return what each group can hold at most."""
        return np.array(
            [min(cap, total(self._caps[list(group)])) for group, cap in self._all_groups()]
        )

    # ---------------------------------------------------------------- settings

    def _check_caps(self, max_share: float | Sequence[float] | None) -> FloatArray:
        n = self._n_assets
        if max_share is None:
            return np.ones(n)
        if is_real(max_share):
            return np.full(n, check_fraction("max_share", max_share))  # type: ignore[arg-type]
        caps = check_vector("max_share", max_share, n).copy()
        if not ((caps >= 0) & (caps <= 1)).all():
            raise ValueError(f"max_share must lie in [0, 1]; got {shown(max_share)}")
        return caps

    def _check_groups(self, groups: Groups | None) -> list[tuple[tuple[int, ...], float]]:
        found: list[tuple[tuple[int, ...], float]] = []
        seen: set[int] = set()
        try:
            pairs = [(tuple(members), cap) for members, cap in groups or ()]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"groups must be pairs of indices and a cap; got {shown(groups)}"
            ) from error
        for members, cap in pairs:
            group = tuple(check_integer("an asset of a group", k, least=0) for k in members)
            if not group or len(set(group)) < len(group) or seen & set(group):
                raise ValueError(f"every asset may be in one group, once; got {shown(members)}")
            if max(group) >= self._n_assets:
                raise ValueError(f"there are {self._n_assets} assets; got {max(group)} in a group")
            seen |= set(group)
            found.append((group, check_fraction("the cap of a group", cap)))
        return found

    # ---------------------------------------------------------------- state

    def _arguments(self) -> Content:
        return super()._arguments() | {
            "of": self._of,
            "max_share": self._caps.tolist(),
            "groups": [[list(group), cap] for group, cap in self._groups],
            "max_turnover": self._max_turnover,
            "random_state": self._random_state,
        }

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        return {
            **ours,
            "of": STRING,
            "max_share": LIST,
            "groups": LIST,
            "max_turnover": NUMBER.or_null,
            "random_state": integer(0),
        }, {**state, "member": OBJECT}

    def _get_state(self) -> Content:
        return super()._get_state() | {"member": nested(self._member)}

    def _set_state(self, state: Content) -> None:
        found: list[Any] = members_from([state.get("member")], [self._member], state.get("t"))
        before, self._member = self._member, found[0]
        try:
            super()._set_state(state)
        except BaseException:
            self._member = before
            raise

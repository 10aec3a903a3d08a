"""The conditions of Theorem 4, which a potential of a bandit policy must meet."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from driftgames.bandit.policies.finite_differences import (
    Probe,
    fitting_scale,
    probe_round,
    rounds_to_probe,
)
from driftgames.core.checks import check_fraction, check_integer
from driftgames.core.display import Displayed, Fields
from driftgames.core.typing import FloatArray
from driftgames.potentials import Exponential, NoBoundError, Potential


@dataclass(frozen=True)
class Condition:
    """One condition of Theorem 4; ``why`` says why it fails and is empty if it holds."""

    name: str
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether the potential meets it."""
        return not self.why


@dataclass(frozen=True)
class BanditCheck(Displayed):
    r"""Whether a potential meets Theorem 4, and the bound that follows if it does.

    .. math:: \bigl(\tfrac12 + N\alpha_t\bigr)\Phi_t(s-1) + \bigl(\tfrac12 - N\alpha_t\bigr)
              \Phi_t(s+1) \le g_t\, \Phi_{t-1}(s), \qquad
              \alpha_t = \tfrac12 \max_s \frac{\Phi_t''(s-1)}{\Phi_t(s-1) - \Phi_t(s+1)}

    A constant factor of the potential in a round changes no weight. So Eq. (6) holds for a
    multiple of the potential if the growth :math:`g_t` is finite. ``log_growth`` is
    :math:`\sum_t \ln g_t`. [LS14, Thm. 4, Eq. (6)]

    Parameters
    ----------
    potential : Potential
        The potential.
    n_arms, horizon : int
        The game.
    conditions : tuple of Condition
        In the order of the theorem.
    log_growth : float
        Infinite if the potential does not qualify.
    exact : bool
        Whether the answer is a proof. Otherwise it comes from finite differences, at the rounds
        and positions that `driftgames.bandit.policies.finite_differences` describes.
    """

    potential: Potential
    n_arms: int
    horizon: int
    conditions: tuple[Condition, ...]
    log_growth: float
    exact: bool

    @property
    def qualifies(self) -> bool:
        """Whether every condition holds."""
        return all(condition.holds for condition in self.conditions)

    def bound(self, epsilon: float) -> float:
        r"""Return R with :math:`\Phi_T(-R) = \Phi_0(0) \prod_t g_t / \epsilon`. [LS14, Thm. 5]

        If the check is not ``exact``, the growth of rounds between two probes is interpolated: the
        bound is then numerical evidence, and not a theorem.
        """
        fraction = check_fraction("epsilon", epsilon)
        if not self.qualifies:
            raise NoBoundError(f"no bound: {self.reasons}")
        from scipy.optimize import bisect  # slow to import

        needed = self._log_value(0.0, 0) - math.log(fraction) + self.log_growth

        def short_of(regret: float) -> float:
            return self._log_value(-regret, self.horizon) - needed

        if short_of(0.0) >= 0:
            return 0.0
        low, high = 0.0, 1.0
        while short_of(high) < 0:
            low, high = high, 2 * high
            if high > 1e6 * self.horizon:  # the potential has a ceiling below what is needed
                return math.inf
        return float(bisect(short_of, low, high, xtol=1e-12, rtol=1e-14))

    def _log_value(self, s: float, t: int) -> float:
        scale = fitting_scale(self.potential, s, t, self.horizon)
        value = self.potential.value(np.array([s]), t, horizon=self.horizon, log_scale=scale)[0]
        return math.log(value) + scale if value > 0 else -math.inf

    @property
    def reasons(self) -> str:
        """The reasons why the potential does not qualify, in one line."""
        failed = [f"{each.name}: {each.why}" for each in self.conditions if not each.holds]
        return "; ".join(failed)

    def _columns(self) -> Fields:
        rows = [(each.name, each.holds, each.why) for each in self.conditions]
        names, holds, why = zip(*rows, strict=True)
        return {"condition": names, "holds": holds, "why not": why}

    def __str__(self) -> str:
        verdict = "qualifies" if self.qualifies else "does not qualify"
        how = "by its formula" if self.exact else "by finite differences"
        lines = [f"{self.potential!r} {verdict} for {self.n_arms} arms ({how})"]
        for each in self.conditions:
            lines.append(f"  {'yes' if each.holds else 'NO':>3}  {each.name}")
            if each.why:
                lines.append(f"       {each.why}")
        return "\n".join(lines)


_RECENT: deque[BanditCheck] = deque(maxlen=8)
"""The last checks by finite differences; a potential is immutable."""


def check_bandit_potential(phi: Potential, n_arms: int, horizon: int) -> BanditCheck:
    """Check the conditions of Theorem 4 for a game of ``horizon`` rounds with ``n_arms`` arms.

    It uses the formulas of `growth_of`, or else finite differences. [LS14, Thm. 4]

    >>> from driftgames.potentials import TwoNorm
    >>> check_bandit_potential(Exponential(0.1), n_arms=10, horizon=100).qualifies
    True
    >>> print(check_bandit_potential(TwoNorm(), n_arms=10, horizon=100))
    TwoNorm() does not qualify for 10 arms (by finite differences)
      yes  convex, nonincreasing and nonnegative
       NO  twice continuously differentiable
           round 1: the second derivative jumps from 2 to 0 at s = 0
      yes  second derivative nonincreasing
       NO  alpha_t finite
           round 1: at s = 1 the weight is 0, and the second derivative at s - 1 is not
       NO  Eq. (6), up to a constant factor
           alpha_t is not finite
    """
    n = check_integer("n_arms", n_arms, least=1)
    rounds = check_integer("horizon", horizon, least=1)
    growth = growth_of(phi, n)
    if growth is not None:
        conditions = tuple(Condition(name) for name in _NAMES)
        return BanditCheck(phi, n, rounds, conditions, rounds * math.log(growth), exact=True)
    for known in tuple(_RECENT):  # a copy of a policy asks again
        if known.potential is phi and (known.n_arms, known.horizon) == (n, rounds):
            return known
    probes: list[Probe] = []
    for t in rounds_to_probe(rounds):
        probes.append(probe_round(phi, t, n, rounds))
        if any(probes[-1].failures):  # those before had none
            break
    conditions = tuple(map(Condition, _NAMES, probes[-1].failures))
    holds = all(condition.holds for condition in conditions)
    total = _total_log_growth(probes) if holds else math.inf
    check = BanditCheck(phi, n, rounds, conditions, total, exact=False)
    _RECENT.append(check)
    return check


@singledispatch
def growth_of(phi: Potential, n_arms: int) -> float | None:
    """Return the growth of a round if a proof shows that Theorem 4 is met, else None.

    Register a function here for your own potential if it has a formula.
    """
    return None


@growth_of.register
def _(phi: Exponential, n_arms: int) -> float:
    r"""Return :math:`(\cosh\eta + \tfrac12 N e^\eta \eta^2) / \cosh\eta`. [LS14, Thm. 5]"""
    return 1 + n_arms * phi.eta**2 / (1 + math.exp(-2 * phi.eta))


_NAMES = (
    "convex, nonincreasing and nonnegative",
    "twice continuously differentiable",
    "second derivative nonincreasing",
    "alpha_t finite",
    "Eq. (6), up to a constant factor",
)


def _total_log_growth(probes: list[Probe]) -> float:
    """Sum over all rounds; a round between two probes takes the larger growth of the two."""
    t = np.array([probe.t for probe in probes])
    growth: FloatArray = np.array([probe.log_growth for probe in probes])
    between = np.diff(t) - 1
    return float(growth.sum() + between @ np.maximum(growth[:-1], growth[1:]))

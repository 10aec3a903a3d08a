"""The conditions of Algorithm 3, which a potential must meet before a bound follows from it.

The library's own potentials meet them by proof. Any other potential is checked on the positions
that chips can reach: in steps of 1/8 near 0, and farther and farther apart from there. Up to 32
rounds are checked, the first and the last among them. A potential that passes may still fail
between these points: the check is evidence, not a proof.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_horizons, check_integer
from driftgames.core.display import Displayed, Fields
from driftgames.core.typing import FloatArray
from driftgames.potentials.potential import NoBoundError, Potential

_NEAR = 8.0  # up to here positions are 1/8 apart
_STEP = 1.0 / 8
_MOST_ROUNDS = 32
_MOST_HORIZONS = 8
_ROUNDING = 1e-10  # so little in each of T rounds multiplies a bound by exp(1e-10 T) at most

_SHAPE = "convex, nonincreasing and nonnegative"
_RECIPE = "Phi_t(s-1) + Phi_t(s+1) <= 2 Phi_{t-1}(s)"


@dataclass(frozen=True)
class PotentialCheck(Displayed):
    r"""Whether a potential meets the conditions of Algorithm 3 in a game of ``horizon`` rounds.

    .. math:: \Phi_t \text{ convex, nonincreasing, nonnegative}, \qquad
              \Phi_t(s-1) + \Phi_t(s+1) \le 2\,\Phi_{t-1}(s)

    Only then does the sum of the potentials never rise, which every bound follows from.
    [LS14, Alg. 3, Thm. 2]

    Parameters
    ----------
    potential : Potential
        The potential.
    horizon : int
        The number of rounds.
    shape, recipe : str
        Where the first and the second condition fail first; empty where they hold.
    exact : bool
        Whether the answer is a proof; otherwise it comes from a grid.
    """

    potential: Potential
    horizon: int
    shape: str
    recipe: str
    exact: bool

    def _columns(self) -> Fields:
        failed = (self.shape, self.recipe)
        return {
            "condition": [_SHAPE, _RECIPE],
            "holds": [not why for why in failed],
            "fails_in": list(failed),
        }

    @property
    def holds(self) -> bool:
        """Whether both conditions hold."""
        return not self.shape and not self.recipe

    @property
    def reasons(self) -> str:
        """Where the conditions fail, in one line."""
        failed = ((_SHAPE, self.shape), (_RECIPE, self.recipe))
        return "; ".join(f"it must be that {name}, but in {why}" for name, why in failed if why)

    def __str__(self) -> str:
        verdict = "meets" if self.holds else "does not meet"
        how = "by its formula" if self.exact else "on a grid"
        lines = [f"{self.potential!r} {verdict} Algorithm 3 for {self.horizon} rounds ({how})"]
        for name, why in ((_SHAPE, self.shape), (_RECIPE, self.recipe)):
            lines.append(f"  {'NO' if why else 'yes':>3}  {name}")
            if why:
                lines.append(f"       {why}")
        return "\n".join(lines)


_RECENT: deque[PotentialCheck] = deque(maxlen=32)
"""The last checks; a potential is immutable."""


def check_potential(phi: Potential, horizon: int) -> PotentialCheck:
    """Check the conditions of Algorithm 3 for a game of ``horizon`` rounds. [LS14, Alg. 3]

    >>> from driftgames.potentials import TwoNorm
    >>> check_potential(TwoNorm(), horizon=100).holds
    True
    >>> class Hasty(TwoNorm):
    ...     def value(self, positions, t, *, horizon=None, log_scale=0.0):
    ...         left = 0 if horizon is None else horizon - t
    ...         return np.minimum(positions, 0.0) ** 2 + left / 2
    >>> print(check_potential(Hasty(), horizon=100))
    Hasty() does not meet Algorithm 3 for 100 rounds (on a grid)
      yes  convex, nonincreasing and nonnegative
       NO  Phi_t(s-1) + Phi_t(s+1) <= 2 Phi_{t-1}(s)
           round 2: at s = -1 the left side is 102, the right side 101
    """
    rounds = check_integer("horizon", horizon, least=1)
    if is_proven(phi):
        return PotentialCheck(phi, rounds, "", "", exact=True)
    for known in tuple(_RECENT):
        if known.potential is phi and known.horizon == rounds:
            return known
    shape = recipe = ""
    for t in _some(rounds, _MOST_ROUNDS):
        found = _check_round(phi, t, rounds)
        shape, recipe = shape or found[0], recipe or found[1]
        if shape and recipe:
            break
    check = PotentialCheck(phi, rounds, shape, recipe, exact=False)
    _RECENT.append(check)
    return check


def is_proven(phi: Potential) -> bool:
    """Whether a potential is one of the library, which meet the conditions by proof."""
    kind = type(phi)
    home = sys.modules.get(kind.__module__)
    return kind.__module__.startswith("driftgames.") and getattr(home, kind.__name__, None) is kind


def require_potential(phi: Potential, horizon: npt.ArrayLike) -> None:
    """Raise `NoBoundError` with the place where a potential fails, for any of these horizons.

    Of many horizons, eight are checked.

    >>> from driftgames.potentials import NormalHedgeDT
    >>> require_potential(NormalHedgeDT(), 100)
    """
    if is_proven(phi):
        return
    distinct = np.unique(check_horizons(horizon))
    for at in _some(distinct.size, _MOST_HORIZONS) if distinct.size else ():
        check = check_potential(phi, int(distinct[at - 1]))
        if not check.holds:
            raise NoBoundError(f"{phi!r} is no potential of Algorithm 3: {check.reasons}")


# -------------------------------------------------------------------- on the grid


def _some(n: int, most: int) -> list[int]:
    """Return 1 to n, or ``most`` of them with the first and the last.

    >>> _some(4, 32), _some(1000, 4)
    ([1, 2, 3, 4], [1, 10, 100, 1000])
    """
    if n <= most:
        return list(range(1, n + 1))
    return [int(t) for t in np.unique(np.geomspace(1, n, most).round())]


def _check_round(phi: Potential, t: int, horizon: int) -> tuple[str, str]:
    """Return where the shape of round ``t`` and its inequality fail first; empty: nowhere."""
    shape = recipe = ""
    for s in _blocks(t):
        before, left, middle, right = _values(phi, s, t, horizon)
        whole = np.concatenate([before, left, middle, right])
        if not np.isfinite(whole).all():
            where = f"round {t}: it is not finite near s = {s[s.size // 2]:g}"
            return shape or where, recipe or where
        shape = shape or _shape(s, t, left, middle, right)
        slack = _ROUNDING * (np.abs(left) + np.abs(right))
        bad = left + right > 2.0 * before + slack
        if bad.any() and not recipe:
            i = int(np.argmax(bad))
            recipe = (
                f"round {t}: at s = {s[i]:g} the left side is {left[i] + right[i]:.6g}, the "
                f"right side {2.0 * before[i]:.6g}"
            )
    return shape, recipe


def _shape(s: FloatArray, t: int, left: FloatArray, middle: FloatArray, right: FloatArray) -> str:
    """Say where Phi_t is not convex, rises or is negative, from its values one step apart."""
    slack = _ROUNDING * (np.abs(left) + np.abs(right))
    for bad, verb in (
        (left + right < 2.0 * middle - slack, "is not convex"),
        (right > left + slack, "rises"),
        (np.minimum(left, right) < -slack, "is negative"),
    ):
        if bad.any():
            return f"round {t}: it {verb} around s = {s[int(np.argmax(bad))]:g}"
    return ""


def _blocks(t: int) -> Iterator[FloatArray]:
    """Yield the positions before round ``t``, in blocks of similar potential."""
    reach = float(t - 1)
    near = min(reach, _NEAR)
    yield np.arange(0.0 - near, near + _STEP / 2, _STEP)
    begin = near
    while begin < reach:
        end = min(1.25 * begin, reach)
        part = np.linspace(begin, end, 9)[1:]
        yield -part
        yield part
        begin = end


def _values(phi: Potential, s: FloatArray, t: int, horizon: int) -> list[FloatArray]:
    """Return Phi_{t-1}(s), and Phi_t at s - 1, s and s + 1, on one scale that keeps them finite."""
    places = ((0.0, t - 1), (-1.0, t), (0.0, t), (1.0, t))
    scale, further = phi.log_scale(s, t), 600.0
    with np.errstate(all="ignore"):
        for _ in range(20):
            found = [
                np.asarray(phi.value(s + shift, clock, horizon=horizon, log_scale=scale))
                for shift, clock in places
            ]
            if not any(np.isinf(part).any() for part in found) or not math.isfinite(scale):
                break
            scale, further = scale + further, 2.0 * further
    return found

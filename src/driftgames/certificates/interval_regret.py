"""Regret on intervals of rounds, beside its bound: which interval was worst."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames.certificates.certificate import Comparable
from driftgames.core.checks import as_floats, check_finite
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import FloatArray, IntArray
from driftgames.tables import counted

_BLOCK = 64  # rounds

IntervalBound = Callable[[IntArray, IntArray], npt.ArrayLike]
"""``bound(first, last)`` on the regret from one round to another, both included."""


class Interval(NamedTuple):
    """One line of the certificate."""

    first: int
    last: int
    realised: float
    promised: float


@dataclass(frozen=True, eq=False)
class IntervalCertificate(Displayed, Comparable):
    r"""The regret to the best action of an interval beside its bound, on every interval.

    .. math:: \max_i \sum_{t=r}^s p_t\cdot\ell_t - \ell_{t,i}

    The intervals that are listed are all :math:`[k 2^j + 1, (k+1) 2^j]` in the run, the whole run,
    the one of **all** intervals with the largest regret, and the one whose regret is the largest
    part of its bound. No interval breaks its bound if the last one does not, so `holds` is about
    all of them.

    Examples
    --------
    >>> losses = np.array([[0.0, 1.0]] * 4 + [[1.0, 0.0]] * 4)
    >>> lazy = losses.mean(axis=1)
    >>> c = IntervalCertificate.of_run("lazy", lazy, losses, lambda r, s: 0.7 * (s - r + 1) ** 0.5)
    >>> print(c)
    lazy on all intervals of 8 rounds: A BOUND IS BROKEN
    length     first      last  realised  promised
         1         1         1     0.500     0.700
         2         1         2     1.000     0.990
         4         1         4     2.000     1.400
         8         1         8     0.000     1.980
    worst: rounds 1 to 4, 143 % of the bound
    """

    title: str
    firsts: IntArray
    lasts: IntArray
    realised: FloatArray
    promised: FloatArray

    @classmethod
    def of_run(
        cls,
        title: str,
        learner_losses: npt.ArrayLike,
        losses: npt.ArrayLike,
        bound: IntervalBound,
        *,
        awake: npt.ArrayLike | None = None,
    ) -> IntervalCertificate:
        """Return the certificate of any learner from its losses and those of the actions.

        The bound must be positive, and must not fall as an interval gets longer at its end. An
        action has no regret in rounds in which it is not ``awake``.
        """
        own, L = as_floats("learner_losses", learner_losses), as_floats("losses", losses)
        if L.ndim != 2 or own.shape != L.shape[:1] or 0 in L.shape:
            raise ValueError(
                "losses must be of shape (rounds, actions) and learner_losses of shape (rounds,), "
                f"with at least one of each; got {L.shape} and {own.shape}"
            )
        rounds = len(own)
        gains = own[:, None] - L
        if awake is not None:
            mask = np.asarray(awake, dtype=bool)
            if mask.shape != L.shape:
                raise ValueError(f"awake must be of shape {L.shape}; got {mask.shape}")
            gains = np.where(mask, gains, 0.0)
        check_finite("the regrets of the rounds", gains)
        regret = np.vstack([np.zeros(L.shape[1]), np.cumsum(gains, axis=0)])
        pairs = [(0, rounds), _largest(regret)]
        for j in range(rounds.bit_length()):
            ends = range(1 << j, rounds + 1, 1 << j)
            pairs += [(end - (1 << j), end) for end in ends]
        before, last = np.array(pairs, np.int64).T
        share = _shares(regret[last] - regret[before], bound(before + 1, last)).max()
        pairs += _worst(regret, bound, float(share))
        before, last = np.array(sorted(set(pairs), key=lambda p: (p[1] - p[0], p)), np.int64).T
        realised = (regret[last] - regret[before]).max(axis=1)
        promised = np.asarray(bound(before + 1, last), dtype=np.float64)
        return cls(title, before + 1, last, realised, promised)

    @property
    def holds(self) -> bool:
        """Whether the regret is below its bound on every interval of the run, up to rounding."""
        rounding = self.lasts.max() * 2.0**-50 * (1.0 + np.abs(self.realised))
        return bool(np.all(self.realised <= self.promised + rounding))

    @property
    def worst(self) -> Interval:
        """The interval whose regret is the largest part of its bound."""
        return self._at(int(np.argmax(self.realised / self.promised)))

    @property
    def largest(self) -> Interval:
        """The interval with the largest regret of all."""
        return self._at(int(np.argmax(self.realised)))

    def by_length(self) -> list[Interval]:
        """Return the worst interval of each length that is a power of 2, and the whole run."""
        lengths = self.lasts - self.firsts + 1
        kept = []
        for length in np.unique(lengths):
            if length & (length - 1) == 0 or length == self.lasts.max():
                at = np.flatnonzero(lengths == length)
                kept.append(self._at(int(at[np.argmax((self.realised / self.promised)[at])])))
        return kept

    def _at(self, i: int) -> Interval:
        first, last = int(self.firsts[i]), int(self.lasts[i])
        return Interval(first, last, float(self.realised[i]), float(self.promised[i]))

    def _preview(self) -> Fields:
        return dict(zip(Interval._fields, zip(*self.by_length(), strict=True), strict=True))

    def _sketch(self) -> Sketch:
        rows = self.by_length()
        curves = {name: [getattr(row, name) for row in rows] for name in ("realised", "promised")}
        return Sketch([row.last - row.first + 1 for row in rows], curves, label="length")

    def __str__(self) -> str:
        verdict = "every bound holds" if self.holds else "A BOUND IS BROKEN"
        rounds = counted(int(self.lasts.max()), "round")
        lines = [
            f"{self.title} on all intervals of {rounds}: {verdict}",
            "length     first      last  realised  promised",
        ]
        lines += [
            f"{r.last - r.first + 1:6d}  {r.first:8d}  {r.last:8d}  "
            f"{r.realised:8.3f}  {r.promised:8.3f}"
            for r in self.by_length()
        ]
        worst = self.worst
        share = worst.realised / worst.promised
        lines.append(f"worst: rounds {worst.first} to {worst.last}, {share:.0%} of the bound")
        return "\n".join(lines).replace("%", " %")


def _largest(regret: FloatArray) -> tuple[int, int]:
    """Return the interval of all with the largest regret, from running sums of regrets."""
    low = np.minimum.accumulate(regret[:-1], axis=0)
    gains = regret[1:] - low
    end, action = np.unravel_index(int(np.argmax(gains)), gains.shape)
    start = int(np.argmin(regret[: end + 1, action]))
    return start, int(end) + 1


def _worst(regret: FloatArray, bound: IntervalBound, share: float) -> list[tuple[int, int]]:
    """Return the interval whose regret is the largest part of its bound, if above ``share``.

    Begins and ends are taken in blocks. The regret from one block to another is at most the
    largest sum of the one less the least sum of the other, and the bound at least that to the
    first end. Only where that could exceed the largest share so far are all intervals tried.
    """
    rounds = len(regret) - 1
    starts = np.arange(0, rounds + 1, _BLOCK)
    lowest = np.minimum.reduceat(regret, starts, axis=0)
    highest = np.maximum.reduceat(regret, starts, axis=0)
    found: list[tuple[int, int]] = []
    for block, begin in enumerate(starts.tolist()):
        before = np.arange(begin, min(begin + _BLOCK, rounds))
        if not before.size:
            break
        gain = (highest[block:] - lowest[block]).max(axis=1)
        ends = np.maximum(starts[block:], before[-1] + 1)  # the first end after all begins
        least = np.asarray(bound(before[:, None] + 1, ends[None, :])).min(axis=0)
        suspect = gain > share * least
        suspect[:2] = True  # ends among the begins, and right after them
        for other in (block + np.flatnonzero(suspect)).tolist():
            last = np.arange(starts[other], min(starts[other] + _BLOCK, rounds + 1))
            r, s = (each.ravel() for each in np.meshgrid(before, last, indexing="ij"))
            r, s = r[s > r], s[s > r]
            if r.size:
                shares = _shares(regret[s] - regret[r], bound(r + 1, s))
                at = int(np.argmax(shares))
                if shares[at] > share:
                    share, found = float(shares[at]), [(int(r[at]), int(s[at]))]
    return found


def _shares(regrets: FloatArray, bound: npt.ArrayLike) -> FloatArray:
    """Return the largest regret of each interval over its bound; a bound of 0 may promise 0."""
    most, promised = regrets.max(axis=1), np.asarray(bound, dtype=np.float64)
    beyond = np.where(most > 0, np.inf, 0.0)
    return np.asarray(np.divide(most, promised, out=beyond, where=promised > 0))

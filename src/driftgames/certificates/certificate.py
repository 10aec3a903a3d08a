"""Certificates of regret, coverage and mistakes: what a run achieved beside what is promised."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames.certificates.regret import regret_curve
from driftgames.core.checks import check_fraction, check_integer
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.potentials import NoBoundError
from driftgames.tables import counted

Bound = Callable[[npt.ArrayLike, npt.ArrayLike], npt.ArrayLike]
"""``bound(horizon, epsilons)``, as `Potential.bound` has it."""

_ULP = 2.0**-52  # what one operation may round by, relative to its result

SHOWN = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)


class Comparable:
    """A record that is equal to another of its class where every member is.

    The ``==`` that `dataclass` writes asks an array for its truth, which it has not.
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        members = zip(vars(self).values(), vars(other).values(), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in members)

    __hash__ = None  # type: ignore[assignment]


def align(header: Sequence[str], rows: Iterable[Sequence[float]]) -> str:
    """Return the lines of a certificate as text, columns of numbers flush right; NaN is "-"."""
    known = ((row[0], ["-" if math.isnan(x) else f"{x:.3f}" for x in row[1:]]) for row in rows)
    lines = [header, *((f"{first:.3g}", *others) for first, others in known)]
    width = max(8, *(len(cell) for line in lines for cell in line))
    return "\n".join("  ".join(f"{cell:>{width}}" for cell in line) for line in lines)


class RegretRow(NamedTuple):
    """One line of a certificate."""

    epsilon: float
    realised: float
    promised: float
    slack: float


@dataclass(frozen=True, eq=False)
class Certificate(Displayed, Comparable):
    """The realised epsilon-regret of a run beside its bound, for every epsilon.

    Both sides come from the run itself: the realised curve from the totals of the actions and
    the learner, the promise from the number of rounds. [LS14, Thm. 2]

    Parameters
    ----------
    title : str
        What was run.
    horizon : int
        How many rounds it ran.
    epsilons, realised, promised : array
        The curve. ``realised`` is NaN if it is not known, and ``promised`` is infinite where
        nothing is promised.
    caveat : str
        Under what condition the promise holds, or why there is none.
    rival : str
        Whom the first line of the table compares with, in words.
    unit : str
        The unit of the losses, for the words. Default: "", for none.
    is_upper : bool
        Whether the regret to ``rival`` is at most what is realised, rather than equal to it.

    Examples
    --------
    >>> from driftgames.potentials import TwoNorm
    >>> c = Certificate.of_run("2-norm", 4, [3.0, 1.0], learner_loss=2.5, bound=TwoNorm().bound)
    >>> c.holds
    True
    >>> print(c)
    at most 0.707 worse per round than the best action; in fact 0.375
    2-norm after 4 rounds: every bound holds
     epsilon  realised  promised     slack
         0.5     1.500     2.828     1.328
           1    -0.500     2.000     2.500
    """

    title: str
    horizon: int
    epsilons: FloatArray
    realised: FloatArray
    promised: FloatArray
    caveat: str = ""
    rival: str = "the best action"
    unit: str = ""
    is_upper: bool = False

    @classmethod
    def of_promise(
        cls, title: str, horizon: int, n_rivals: int, bound: Bound, *, caveat: str, rival: str
    ) -> Certificate:
        """Return the promise alone, where the losses of the rivals were not seen."""
        unknown = cls.of_run(title, horizon, np.zeros(n_rivals), 0.0, bound, caveat=caveat)
        realised = np.full(unknown.realised.size, math.nan)
        return replace(unknown, realised=realised, rival=rival)

    @classmethod
    def of_run(
        cls,
        title: str,
        horizon: int,
        action_losses: npt.ArrayLike,
        learner_loss: float,
        bound: Bound,
        *,
        prior: npt.ArrayLike | None = None,
        caveat: str = "",
        rival: str = "the best action",
        unit: str = "",
    ) -> Certificate:
        """Return the certificate of a run from its totals; a missing bound becomes the caveat."""
        rounds = check_integer("horizon", horizon, least=0)
        if rounds == 0:
            raise ValueError("no round was played, so there is nothing to certify")
        curve = regret_curve(action_losses, learner_loss, prior)
        try:
            promised = np.asarray(bound(rounds, curve.epsilons), dtype=np.float64)
        except NoBoundError as error:
            promised, caveat = np.full(curve.regret.size, math.inf), str(error)
        return cls(title, rounds, curve.epsilons, curve.regret, promised, caveat, rival, unit)

    @property
    def slack(self) -> FloatArray:
        """How much of the promise was not used; negative where it was broken."""
        return self.promised - self.realised

    @property
    def rounding(self) -> float:
        """How much rounding may have moved a total: once per round, relative to the largest.

        This is the only allowance: what is realised and promised is shown as it is.
        """
        both = np.abs(np.concatenate([self.realised, self.promised]))
        return float(self.horizon * _ULP * both[np.isfinite(both)].max(initial=0.0))

    @property
    def holds(self) -> bool:
        """Whether the realised regret, as far as it is known, is below the promise everywhere.

        `rounding` is allowed for.
        """
        return not np.any(self.realised > self.promised + self.rounding)

    def at(self, epsilon: float) -> RegretRow:
        """Return the line for one epsilon in (0, 1]."""
        fraction = check_fraction("epsilon", epsilon)
        # the first curve point that reaches epsilon; rounding must not skip k/N itself
        where = int(np.searchsorted(self.epsilons, fraction * (1 - 1e-12)))
        where = min(where, self.epsilons.size - 1)
        realised, promised = float(self.realised[where]), float(self.promised[where])
        return RegretRow(fraction, realised, promised, promised - realised)

    def rows(self, epsilons: Sequence[float] = SHOWN) -> Iterator[RegretRow]:
        """Yield a line for each epsilon that this many actions can tell apart."""
        finest = float(self.epsilons[0])
        seen = [e for e in epsilons if e >= finest * (1 - 1e-12)]
        for epsilon in seen if finest in seen else [finest, *seen]:
            yield self.at(epsilon)

    def table(self, epsilons: Sequence[float] = SHOWN) -> str:
        """Return the lines for these epsilons as text."""
        return align(RegretRow._fields, self.rows(epsilons))

    @property
    def verdict(self) -> str:
        """One sentence on whether the promise was kept."""
        if np.isinf(self.promised).all():
            return "nothing is promised"
        if np.isnan(self.realised).all():
            return "the regret is not known"
        return "every bound holds" if self.holds else "A BOUND IS BROKEN"

    @property
    def words(self) -> str:
        """What is promised and what happened, per round, in a sentence about the first line."""
        unit = f" {self.unit}" if self.unit else ""
        realised, promised = (float(x[0]) / self.horizon for x in (self.realised, self.promised))
        most = "at most " if self.is_upper else ""
        if math.isinf(promised):
            what = "better" if realised < 0 else "worse"
            sentence = f"{most}{_brief(abs(realised))}{unit} {what} per round than {self.rival}"
            return "" if math.isnan(realised) else sentence
        sense = "in expectation " if self.caveat.startswith("in expectation") else ""
        sentence = f"{sense}at most {_brief(promised)}{unit} worse per round than {self.rival}"
        if math.isnan(realised):
            return f"{sentence}; what it was is not known"
        if realised < 0:
            most = "at least " if self.is_upper else ""
            return f"{sentence}; in fact {most}{_brief(-realised)} better"
        return f"{sentence}; in fact {most}{_brief(realised)}"

    def __str__(self) -> str:
        words = f"{self.words}\n" if self.words else ""
        return f"{words}{self._headline()}\n{self.table()}"

    def _headline(self) -> str:
        note = f" ({self.caveat})" if self.caveat else ""
        return f"{self.title} after {counted(self.horizon, 'round')}: {self.verdict}{note}"

    def _facts(self) -> Fields:
        words = {"in words": self.words} if self.words else {}
        plain = dict(super()._facts())
        for name in ("rival", "unit", "is upper"):  # they are in the words
            plain.pop(name, None)
        return {**words, **plain}

    def _preview(self) -> Fields:
        return dict(zip(RegretRow._fields, zip(*self.rows(), strict=True), strict=True))

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw both curves over epsilon."""
        from driftgames.plots.regret import plot_epsilon_regret

        return plot_epsilon_regret(
            self.epsilons, {self.title: self.realised}, {self.title: self.promised}, ax=ax
        )


def _brief(value: float) -> str:
    """Return a number to three digits, and a large one without an exponent.

    >>> _brief(0.14159), _brief(3059180.4)
    ('0.142', '3,059,180')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


@dataclass(frozen=True, eq=False)
class CoverageCertificate(Displayed, Comparable):
    """How far shares of misses are from their target, beside the bounds.

    Parameters
    ----------
    title : str
        What was run.
    horizon : int
        How many rounds it ran.
    target, coverage : float
        The wanted share of covered outcomes, and that of the intervals that were played.
    names : tuple of str
        What each line is about: a step size, or a step size that is drawn in every round.
    realised, promised : array
        The distance of the line's share of misses from its target, and the bound on it. That of
        played intervals has a sign: only too many misses break a promise.
    """

    title: str
    horizon: int
    target: float
    coverage: float
    names: tuple[str, ...]
    realised: FloatArray
    promised: FloatArray

    @property
    def error(self) -> float:
        """The coverage of the played intervals less the target."""
        return self.coverage - self.target

    @property
    def holds(self) -> bool:
        """Whether every line is below its bound, up to rounding."""
        rounding = self.horizon * 2.0**-50 * (1.0 + self.promised)
        return bool(np.all(self.realised <= self.promised + rounding))

    @property
    def words(self) -> str:
        """What happened, what was asked for and what is promised of the played intervals."""
        found = f"{self.coverage:.1%} of the outcomes covered, {self.target:.1%} asked for"
        pairs = zip(self.names, self.promised.tolist(), strict=True)
        played = [bound for name, bound in pairs if name.endswith("played")]
        if not played:
            return found
        return f"{found}, at least {max(self.target - sum(played), 0.0):.1%} promised"

    def _sketch(self) -> Sketch:
        return Sketch(bars=dict(zip(self.names, map(float, self.realised), strict=True)))

    def __str__(self) -> str:
        verdict = "every bound holds" if self.holds else "A BOUND IS BROKEN"
        width = max(map(len, self.names))
        lines = [
            self.words,
            f"{self.title} after {counted(self.horizon, 'round')}: {verdict}",
            f"{'misses less target':{width}}  realised  promised",
        ]
        lines += [
            f"{name:{width}}  {found:8.4f}  {bound:8.4f}"
            for name, found, bound in zip(self.names, self.realised, self.promised, strict=True)
        ]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class MistakeCertificate(Displayed, Comparable):
    """The number of mistakes on a stream beside its bound, which follows from realised edges.

    Parameters
    ----------
    title : str
        What was run.
    horizon : int
        The number of examples.
    realised, promised : float
        The number of mistakes, and the bound on it.
    edges : array
        The edge of each weak learner over chance, under the weights that it was given.
    caveat : str
        How mistakes are counted.

    Examples
    --------
    >>> import numpy as np
    >>> print(MistakeCertificate("Online BBM", 200, 31, 52.5, np.array([0.2, 0.1])))
    Online BBM after 200 examples: the bound holds
    31.0 mistakes, at most 52.5 promised; edges from 0.1000 to 0.2000
    """

    title: str
    horizon: int
    realised: float
    promised: float
    edges: FloatArray
    caveat: str = ""

    @property
    def holds(self) -> bool:
        """Whether there are no more mistakes than promised, up to rounding."""
        rounding = self.horizon * 2.0**-50 * (1.0 + self.promised)
        return bool(self.realised <= self.promised + rounding)

    def _columns(self) -> Fields:
        return {"weak learner": range(self.edges.size), "edge": self.edges}

    def _sketch(self) -> Sketch:
        return Sketch(bars={"mistakes": self.realised, "promised": self.promised})

    def __str__(self) -> str:
        verdict = "the bound holds" if self.holds else "THE BOUND IS BROKEN"
        note = f" ({self.caveat})" if self.caveat else ""
        return (
            f"{self.title} after {counted(self.horizon, 'example')}: {verdict}{note}\n"
            f"{self.realised:,.1f} mistakes, at most {self.promised:,.1f} promised; "
            f"edges from {self.edges.min():.4f} to {self.edges.max():.4f}"
        )

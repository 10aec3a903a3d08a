"""Theorem 3 as a certificate: the margins of a booster beside what its edges promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import exp_all, log1p_all, log_all
from driftgames._kernels.sums import total
from driftgames.certificates.certificate import Bound, Comparable, align
from driftgames.certificates.new_examples import NewExamples
from driftgames.core.checks import check_between
from driftgames.core.display import Displayed, Fields
from driftgames.core.typing import Axes, Figure, FloatArray, IntArray
from driftgames.potentials import NoBoundError
from driftgames.tables import counted

SHOWN = (-0.1, 0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)

_FRACTIONAL = 2**31  # a mass from here on is of fractional sample weights
_MOST_ROUNDS = 2**40  # if nothing is promised after this number of rounds, nothing ever is

_GRID = np.arange(-100, 101) / 100  # thetas that every curve has, beside the margins themselves


class Margins(NamedTuple):
    """The margins of the training examples, ascending, and how much mass has each."""

    values: FloatArray
    masses: IntArray

    @classmethod
    def of_examples(cls, margins: npt.ArrayLike, masses: npt.ArrayLike | None = None) -> Margins:
        """Return the margins of single examples, with their masses. Default: 1 each."""
        values = np.asarray(margins, dtype=np.float64)
        each = np.ones(values.size, dtype=np.int64) if masses is None else np.asarray(masses)
        found, where = np.unique(values, return_inverse=True)
        total = np.zeros(found.size, dtype=np.int64)
        np.add.at(total, where, each)
        return cls(found, total)

    @classmethod
    def on_grid(cls, margins: npt.ArrayLike, masses: npt.ArrayLike) -> Margins:
        """Return margins rounded up to hundredths; the shares at hundredths stay exact.

        >>> Margins.on_grid([0.07, 0.071, 0.5], [1, 2, 1])
        Margins(values=array([0.07, 0.08, 0.5 ]), masses=array([1, 2, 1]))
        """
        return cls.of_examples(_GRID[np.searchsorted(_GRID, margins)], masses)

    def share(self, theta: npt.ArrayLike) -> FloatArray:
        """Return the share of mass with a margin of at most ``theta``."""
        below = np.concatenate([[0], np.cumsum(self.masses)])
        return np.asarray(below[np.searchsorted(self.values, theta, side="right")] / below[-1])


class MemberEdges(NamedTuple):
    """A booster in a mean: its rounds, the mean of their edges, and its training mass."""

    n_rounds: int
    mean_edge: float
    mass: int


class RoundsNeeded(NamedTuple):
    """With how many rounds of the same edges Theorem 3 would promise something.

    ``to_begin`` is the first number of rounds with a promise below 1 for the training error, and
    ``for_no_error`` the first with a promise of 0. None: no number of rounds is enough, or, unless
    ``is_known``, there is no bound for other numbers of rounds. They are rounds of each of
    ``n_boosters``, and ``n_examples`` is the mass that the edges are too small for.
    """

    to_begin: int | None
    for_no_error: int | None
    n_examples: int
    n_boosters: int = 1
    is_known: bool = True

    @property
    def reason(self) -> str:
        """Why there is no promise; the mass of fractional weights is no number of examples."""
        counts = counted(self.n_examples, "example")
        whom = counts if self.n_examples < _FRACTIONAL else "these examples"
        return f"Theorem 3 promises nothing{self.yet}: the edges are too small for {whom}"

    @property
    def yet(self) -> str:
        """The word for a promise that more rounds would bring."""
        return "" if self.to_begin is None else " yet"

    def __str__(self) -> str:
        if not self.is_known:
            return "there is no bound for other numbers of rounds"
        if self.to_begin is None:
            return "with such edges no number of rounds is enough"
        each = f" of each of the {self.n_boosters} boosters" if self.n_boosters > 1 else ""
        end = "" if self.for_no_error is None else f", and no error after {self.for_no_error:,}"
        return (
            f"with such edges it would promise something after {counted(self.to_begin, 'round')}"
            f"{each}{end}"
        )


class MarginRow(NamedTuple):
    """One line of a certificate."""

    theta: float
    realised: float
    promised: float


@dataclass(frozen=True, eq=False)
class MarginCertificate(Displayed, Comparable):
    r"""The share of examples with a margin of at most theta beside its bound, for every theta.

    .. math:: \theta < 2\Bigl(\bar\gamma - \frac{\mathbf{Reg}_T^{j/N}}{T}\Bigr)
              \;\Longrightarrow\;
              \frac{\#\{i : \text{margin}_i \le \theta\}}{N} \le \frac{j-1}{N}

    where :math:`\bar\gamma` is the mean of the edges that the weak hypotheses had. An example
    that the vote gets wrong has a margin of at most 0, so ``theta = 0`` bounds the training
    error. [LS14, Thm. 3]

    Parameters
    ----------
    title : str
        What was fitted.
    n_rounds : int
        How many weak hypotheses vote.
    thetas, realised, promised : array
        The curve; ``promised`` is 1 where nothing is promised.
    training_error, error_bound : float
        The same for the training error.
    caveat : str
        What the promise rests on, or why there is none.
    needed : RoundsNeeded, optional
        Where nothing is promised about the training error, how many rounds it would take.
    new_examples : NewExamples, optional
        What is promised about new examples: it comes first.

    Examples
    --------
    Four examples after 100 rounds whose edges were 0.3 on average:

    >>> from driftgames.potentials import TwoNorm
    >>> margins = Margins.of_examples([0.2, 0.5, 0.7, 0.9])
    >>> c = MarginCertificate.of_regret("2-norm", 100, margins, 0.0, 0.3, TwoNorm().bound)
    >>> c.holds
    True
    >>> print(c)
    2-norm after 100 rounds: every bound holds
    training error 0.000, promised at most 0.000
       theta  realised  promised
         0.2     0.250     0.250
         0.3     0.250     0.250
         0.5     0.500     1.000
    """

    title: str
    n_rounds: int
    thetas: FloatArray
    realised: FloatArray
    promised: FloatArray
    training_error: float
    error_bound: float
    caveat: str = ""
    needed: RoundsNeeded | None = None
    new_examples: NewExamples | None = None

    @classmethod
    def of_regret(
        cls,
        title: str,
        n_rounds: int,
        margins: Margins,
        training_error: float,
        mean_edge: float,
        bound: Bound,
    ) -> MarginCertificate:
        """Return the certificate that a bound on the epsilon-regret gives; none is a caveat."""
        thetas = np.union1d(margins.values, _GRID)
        caveat, needed, mass = "", None, int(margins.masses.sum())

        def promise_at(rounds: int, at: FloatArray) -> FloatArray:
            return _invert(bound, rounds, mean_edge, mass, at)

        try:
            promised = promise_at(n_rounds, thetas)
            if _promises_no(thetas, promised):
                needed = _rounds_needed(promise_at, n_rounds, mass)
        except NoBoundError as error:
            promised, caveat = np.ones(thetas.size), str(error)
        return cls._of_curve(
            title, n_rounds, margins, training_error, thetas, promised, caveat, needed
        )

    @classmethod
    def of_mean(
        cls,
        title: str,
        margins: Margins,
        training_error: float,
        members: Sequence[MemberEdges],
        held_share: float,
        bound: Bound,
    ) -> MarginCertificate:
        r"""Return the certificate of a mean of boosters, each of which holds examples out.

        Let the boosters that hold an example out have the share :math:`\omega` of all votes. If the
        margin of the example is above :math:`\theta'` in all others, then it is above
        :math:`(1 - \omega) \theta' - \omega` in the mean. So the share of examples below that is at
        most the sum of the bounds of the boosters at :math:`\theta'`. [LS14, Thm. 3]
        """
        thetas = np.union1d(margins.values, _GRID)
        mass, caveat = int(margins.masses.sum()), "a sum over the boosters whose mean it is"

        def promise_at(rounds: int | None, at: FloatArray) -> FloatArray:
            within = (at + held_share) / (1.0 - held_share)
            found = np.zeros(at.size)
            for each in members:
                played = each.n_rounds if rounds is None else rounds
                found += (
                    each.mass / mass * _invert(bound, played, each.mean_edge, each.mass, within)
                )
            return np.minimum(found, 1.0)

        needed = None
        try:
            promised = promise_at(None, thetas)
            if _promises_no(thetas, promised):
                needed = _rounds_needed(promise_at, 1, mass)._replace(n_boosters=len(members))
        except NoBoundError as error:
            promised, caveat = np.ones(thetas.size), str(error)
        n_rounds = sum(each.n_rounds for each in members)
        return cls._of_curve(
            title, n_rounds, margins, training_error, thetas, promised, caveat, needed
        )

    @classmethod
    def of_product(
        cls,
        title: str,
        margins: Margins,
        training_error: float,
        edges: FloatArray,
        vote_weights: FloatArray,
    ) -> MarginCertificate:
        r"""Return AdaBoost's certificate: a product over its rounds instead of a regret.

        .. math:: \prod_t \bigl((\tfrac12 + \gamma_t) e^{-\alpha_t(1-\theta)}
                  + (\tfrac12 - \gamma_t) e^{\alpha_t(1+\theta)}\bigr)

        with the votes :math:`\alpha_t` over their sum. It is the classical bound (Schapire and
        Freund, *Boosting*, 2012, Chap. 5), which Theorem 3 is compared with.
        """
        thetas = _GRID
        right, wrong = log_all(0.5 + edges) - vote_weights, log_all(0.5 - edges) + vote_weights
        larger = np.maximum(right, wrong)
        rounds = larger + log1p_all(exp_all(np.minimum(right, wrong) - larger))
        exponents = total(rounds) + thetas * total(vote_weights)
        promised = exp_all(np.minimum(exponents, 0.0))
        caveat = "AdaBoost's classical bound"
        return cls._of_curve(title, edges.size, margins, training_error, thetas, promised, caveat)

    @classmethod
    def of_game_value(
        cls,
        title: str,
        n_rounds: int,
        margins: Margins,
        training_error: float,
        value: float,
        caveat: str = "",
    ) -> MarginCertificate:
        """Return boost-by-majority's certificate: the value of its game bounds the errors."""
        thetas = np.union1d(margins.values, _GRID)
        promised = np.where(thetas <= 0, value, 1.0)
        return cls._of_curve(title, n_rounds, margins, training_error, thetas, promised, caveat)

    @classmethod
    def _of_curve(
        cls,
        title: str,
        n_rounds: int,
        margins: Margins,
        training_error: float,
        thetas: FloatArray,
        promised: FloatArray,
        caveat: str,
        needed: RoundsNeeded | None = None,
    ) -> MarginCertificate:
        error_bound = float(promised[np.searchsorted(thetas, 0.0)])
        shares = margins.share(thetas)
        errors = training_error, error_bound
        return cls(title, n_rounds, thetas, shares, promised, *errors, caveat, needed)

    @property
    def holds(self) -> bool:
        """Whether every share, and the training error, keeps to what was promised."""
        kept = np.all(self.realised <= self.promised) and self.training_error <= self.error_bound
        return bool(kept)

    @property
    def verdict(self) -> str:
        """One sentence on whether the promise was kept."""
        if (self.promised == 1.0).all():
            yet = " yet" if self.needed is None else self.needed.yet
            return "nothing is promised" if self.caveat else f"nothing is promised{yet}"
        if not self.holds:
            return "A BOUND IS BROKEN"
        return "every bound holds" if self.needed is None else self.needed.reason

    def at(self, theta: float) -> MarginRow:
        """Return the line for one theta in [-1, 1].

        Between two margins of the curve the promise of the upper one holds.
        """
        asked = check_between("theta", theta, -1.0, 1.0)
        below = int(np.searchsorted(self.thetas, asked, side="right")) - 1
        above = int(np.searchsorted(self.thetas, asked))
        realised = float(self.realised[below]) if below >= 0 else 0.0
        promised = float(self.promised[above]) if above < self.thetas.size else 1.0
        return MarginRow(asked, realised, promised)

    def rows(self, thetas: Sequence[float] = SHOWN) -> Iterator[MarginRow]:
        """Yield a line for each theta at which there is something to read.

        Nothing is where all margins lie on one side of theta and the promise is 0 or 1 too.
        """
        for theta in thetas:
            row = self.at(theta)
            broken = row.realised > row.promised
            if 0 < row.realised < 1 or 0 < row.promised < 1 or broken:
                yield row

    def table(self, thetas: Sequence[float] = SHOWN) -> str:
        """Return the lines for these thetas as text."""
        return align(MarginRow._fields, self.rows(thetas))

    def __str__(self) -> str:
        lines = [] if self.new_examples is None else [str(self.new_examples)]
        lines.append(self._headline())
        if self.needed is not None:
            told = self.needed.reason in lines[-1]
            lines.append(str(self.needed) if told else f"{self.needed.reason}; {self.needed}")
        promise = f"promised at most {self.error_bound:.3f}"
        if self.error_bound >= 1.0:
            promise = "nothing is promised about it"
        lines.append(f"training error {self.training_error:.3f}, {promise}")
        if self._has_promises:
            lines.append(self.table())
        return "\n".join(lines)

    @property
    def _has_promises(self) -> bool:
        """Whether a line of the table promises something."""
        return any(row.promised < 1.0 for row in self.rows())

    def _headline(self) -> str:
        note = f" ({self.caveat})" if self.caveat else ""
        rounds = counted(self.n_rounds, "round")
        return f"{self.title} after {rounds}: {self.verdict}{note}"

    def _facts(self) -> Fields:
        facts: dict[str, Any] = {}
        if self.new_examples is not None:
            facts["new examples"] = self.new_examples.promise
        if self.needed is not None:
            facts["rounds"] = str(self.needed)
        return facts | dict(super()._facts())

    def _preview(self) -> Fields:
        rows = list(self.rows()) if self._has_promises else []
        return {name: [getattr(row, name) for row in rows] for name in MarginRow._fields}

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw both curves over theta."""
        from driftgames.plots.boosting import plot_cumulative_margins

        curves = {self.title: self.realised, f"{self.title}, bound": self.promised}
        return plot_cumulative_margins(self.thetas, curves, ax=ax)


def _promises_no(thetas: FloatArray, promised: FloatArray) -> bool:
    """Whether a curve promises nothing below 1 from theta = 0 on."""
    return bool(promised[np.searchsorted(thetas, 0.0)] >= 1.0)


def _rounds_needed(
    promise_at: Callable[[int, FloatArray], FloatArray], n_rounds: int, mass: int
) -> RoundsNeeded:
    """Return after how many rounds the promise at theta = 0 is below 1, and 0."""

    def first(most: float) -> int | None:
        def is_enough(rounds: int) -> bool:
            return float(promise_at(rounds, np.zeros(1))[0]) <= most

        high = n_rounds
        while not is_enough(high):
            high *= 2
            if high > _MOST_ROUNDS:
                return None
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle, high)
        return high

    try:
        begin = first(1.0 - 0.5 / mass)
        return RoundsNeeded(begin, None if begin is None else first(0.0), mass)
    except NoBoundError:
        return RoundsNeeded(None, None, mass, is_known=False)


def _invert(
    bound: Bound, n_rounds: int, mean_edge: float, total: int, thetas: FloatArray
) -> FloatArray:
    r"""Return the largest ``j / N`` with ``2 (mean edge - Reg^{j/N} / T) <= theta``.

    By bisection on ``j``, for all thetas at once. The share of examples with a margin of at
    most theta is itself such a ``j / N``, or zero.
    """
    kept = np.zeros(thetas.size, dtype=np.int64)
    beyond = np.full(thetas.size, total + 1, dtype=np.int64)
    for _ in range(total.bit_length() + 1):
        middle = (kept + beyond) // 2
        inside = np.clip(middle, 1, total)  # 0 and N + 1 are never asked about
        regret = np.asarray(bound(n_rounds, inside / total), dtype=np.float64)
        within = 2 * (mean_edge - regret / n_rounds) <= thetas
        open_still = beyond - kept > 1
        kept = np.where(open_still & within, middle, kept)
        beyond = np.where(open_still & ~within, middle, beyond)
    return np.asarray(kept / total)

"""One boosting run, measured. Table 3 and both figures are made of such runs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames import boosting
from driftgames.core.checks import check_between, check_integer
from driftgames.datasets import Dataset
from driftgames.potentials import NormalHedgeDT

AS_PROVED = "NH-Boost.DT"
"""NH-Boost.DT with ``3t``, as the theorem has it. [LS14, Alg. 6]"""

AS_PUBLISHED = "NH-Boost.DT 4(t-1)"
"""NH-Boost.DT with ``4(t-1)``, as the published numbers were evidently made. [LS14, Tab. 3]"""

THETAS: npt.NDArray[np.float64] = np.linspace(-1.0, 1.0, 401)
"""Where the cumulative margins are taken."""

LEAST_TURNS, MOST_TURNS = 3, 15
"""How many times a fit is timed."""

_ENOUGH = 0.4  # seconds: short fits take more turns, because noise hurts them most


@dataclass(frozen=True)
class Fit:
    """What one booster did on one set.

    Parameters
    ----------
    seconds : float
        The best of several fits (see `best_of_turns`) in one thread, data in memory, kernels
        compiled. With flipped labels there is one fit: those times are not compared.
    rounds : int
        The number of weak hypotheses: fewer than asked for if no stump had an edge any more.
    zeros : float
        The share of training examples of weight zero, averaged over the weights after each
        round: those of rounds 2 to T + 1.
    train_error, test_error : float
        Shares.
    zero_fractions : list of float
        The share of weight zero after each round.
    margins : list of float
        The share of training examples with margin at most each of `THETAS`, where every
        hypothesis has one vote, as the paper defines the margin. [LS14, Fig. 2]
    weighted_margins : list of float or None
        The same where each hypothesis votes with its weight; None where all weights are equal.
    """

    data: str
    algorithm: str
    seconds: float
    rounds: int
    zeros: float
    train_error: float
    test_error: float
    zero_fractions: list[float]
    margins: list[float]
    weighted_margins: list[float] | None

    @property
    def zeros_from_first(self) -> float:
        """The same share over rounds 1 to T; all examples have weight in round 1."""
        return float(np.mean([0.0, *self.zero_fractions[:-1]]))


def boosters() -> dict[str, Callable[[int], Any]]:
    """Return the algorithms of Table 3 by name, as functions of the number of rounds.

    NH-Boost.DT is there twice: as the theorem has it, and as the published numbers were made.
    """
    return {
        "AdaBoost": partial(boosting.AdaBoostClassifier, calibrate=False),
        "NH-Boost": partial(boosting.NHBoostClassifier, calibrate=False),
        AS_PROVED: partial(boosting.NHBoostDTClassifier, max_leaves=2, calibrate=False),
        AS_PUBLISHED: partial(
            boosting.PotentialBoostClassifier, NormalHedgeDT(d=4, lag=1), calibrate=False
        ),
    }


ALGORITHMS: tuple[str, ...] = ("AdaBoost", "NH-Boost", AS_PUBLISHED, AS_PROVED)
"""In the order of the tables: the three of the paper, then the other reading of the third."""


def fit(data: Dataset, algorithm: str, rounds: int, *, noise: float = 0.0, seed: int = 0) -> Fit:
    """Fit one booster on one set and measure it.

    ``noise`` is the share of training labels that are flipped, drawn with ``seed``; errors and
    margins are then measured against the true labels.
    """
    check_integer("rounds", rounds, least=1)
    check_between("noise", noise, 0.0, 1.0)
    make = boosters()[algorithm]
    X, y = data.train
    given = flip(y, noise, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", boosting.NoEdgeWarning)  # the table's notes say it
        model, seconds = best_of_turns(lambda: make(rounds).fit(X, given), once=noise > 0)
    zero_fractions = [float(z) for z in model.history_["zero_fraction"]]
    equal_votes = model.stumps_.add_up(n_features=X.shape[1])
    weighted = np.ptp(model.estimator_weights_) > 0
    return Fit(
        data=data.name,
        algorithm=algorithm,
        seconds=seconds,
        rounds=len(zero_fractions),
        zeros=float(np.mean(zero_fractions)),
        train_error=float(np.mean(model.predict(X) != y)),
        test_error=float(np.mean(model.predict(data.test.X) != data.test.y)),
        zero_fractions=zero_fractions,
        margins=cumulative(y * equal_votes.scores(X) / len(zero_fractions)),
        weighted_margins=cumulative(model.margins(X, y)) if weighted else None,
    )


def cumulative(margins: npt.NDArray[np.float64]) -> list[float]:
    """Return the share of margins that are at most each of `THETAS`.

    >>> cumulative(np.array([0.5, 1.0]))[-101:-99]
    [0.5, 0.5]
    """
    # a margin is a quotient: rounding must not put one that equals theta above it
    below = np.searchsorted(np.sort(margins), THETAS + 1e-9, side="right")
    return [float(share) for share in below / margins.size]


def flip(y: npt.NDArray[np.int64], noise: float, seed: int) -> npt.NDArray[np.int64]:
    """Return labels of which a share, drawn without replacement, has changed its sign.

    >>> flip(np.ones(5, dtype=np.int64), 0.4, seed=0)
    array([ 1,  1,  1, -1, -1])
    """
    rng = np.random.default_rng(seed)
    flipped = y.copy()
    flipped[rng.choice(y.size, round(noise * y.size), replace=False)] *= -1
    return flipped


def best_of_turns(run: Callable[[], Any], *, once: bool = False) -> tuple[Any, float]:
    """Return the result of the last turn, and the seconds of the fastest; also used for peers.

    There are at least `LEAST_TURNS`. If they are short there are more, up to `MOST_TURNS`.
    """
    least, most = (1, 1) if once else (LEAST_TURNS, MOST_TURNS)
    times: list[float] = []
    # the first turn may compile kernels, so the shortest one says how long a turn takes
    while len(times) < least or (min(times) * len(times) < _ENOUGH and len(times) < most):
        begun = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - begun)
    return result, min(times)

"""Mixtures of many series at once, whose outcomes may come late."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np
import numpy.typing as npt

from driftgames.certificates import Certificate
from driftgames.core.checks import as_floats, check_flag, check_integer, shown, unmask
from driftgames.core.description import encode
from driftgames.core.documents import DocumentError
from driftgames.core.schema import FLAG, LIST, STRING, Schema, integer, made_as
from driftgames.core.state import Stateful
from driftgames.core.text import listed
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.losses.loss_base import Loss, Range
from driftgames.hedge.losses.make_loss import make_loss
from driftgames.hedge.mixture.expert_mixture import ExpertMixture

Keys = npt.ArrayLike | None


class SeriesMixture(Stateful):
    r"""One `ExpertMixture` per series; with late outcomes, ``delay + 1`` of them that take turns.

    .. math:: \mathrm{Regret}_T \le \sum_{c=0}^{d} \mathrm{Regret}_{\{t : t \bmod (d+1) = c\}}

    Round t of a series is played by mixture ``t mod (delay + 1)``. All its outcomes are known by
    then, so it plays an ordinary game. A regret of :math:`C\sqrt T` becomes
    :math:`C\sqrt{(d+1)T}`, and no learner can do better in order: M. J. Weinberger and E.
    Ordentlich, "On delayed prediction of individual sequences", IEEE Transactions on Information
    Theory 48, 2002. P. Joulani, A. György and C. Szepesvári, "Online learning under delayed
    feedback", ICML 2013, Theorem 1, have the same for any learner.

    Parameters
    ----------
    loss, outcome_range, learner, outside, linearise, combiners, tracking
        Those of `ExpertMixture`; the learner by its name.
    delay : int
        How many more rounds of a series are predicted before an outcome is known. Forecasts of
        the next round have 0; forecasts of h rounds ahead have ``h - 1``. Default: 0.

    Examples
    --------
    >>> X = [[20, 90], [2, 9], [40, 80], [4, 8], [90, 70], [9, 7]]
    >>> series = SeriesMixture()
    >>> series.predict_then_fit(X, [70, 7, 60, 6, 75, 7.5], by=list("abababab")[:6]).round(1)
    array([55. ,  5.5, 76. ,  7.6, 75.2,  7.5])
    >>> series.predict([[20, 80], [2, 8]], by=["a", "b"]).round(1)
    array([64.6,  6.5])

    Notes
    -----
    `predict` and `update` are for outcomes that come one by one. The rows of `predict` are the
    rounds of each series whose outcomes are not known yet, in order, at most ``delay + 1``; the
    rows of `update` are the first of these, with their outcomes. So a batch of outcomes is one
    call, and no prediction needs an id.
    """

    VERSION = 3

    def __init__(
        self,
        loss: str | Loss = "square",
        outcome_range: Range | None = None,
        learner: str | None = None,
        *,
        outside: str = "error",
        linearise: bool | None = None,
        combiners: bool | None = None,
        tracking: bool = False,
        delay: int = 0,
    ) -> None:
        if learner is not None and not isinstance(learner, str):
            raise ValueError(f"learner must be a name; got {shown(learner)}")
        self._loss = make_loss(loss, outcome_range, any_size=True)
        self._settings = {
            "learner": learner,
            "outside": outside,
            "linearise": linearise,
            "combiners": combiners,
            "tracking": check_flag("tracking", tracking),
        }
        self._delay = check_integer("delay", delay, least=0)
        self._turns: dict[str, list[ExpertMixture]] = {}
        self._rounds: dict[str, int] = {}

    # ---------------------------------------------------------------- playing

    def predict_then_fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, *, by: Keys = None
    ) -> FloatArray:
        """Return the predictions, each made without the ``delay`` outcomes before it.

        ``by`` has the key of each row's series. Default: one series. An error leaves all series
        as they were.
        """
        rows, outcomes = as_floats("X", X, missing=True), as_floats("y", y)
        if rows.ndim != 2 or outcomes.shape != rows.shape[:1]:
            raise ValueError(
                f"X must be of shape (rounds, experts) and y of shape (rounds,); "
                f"got {rows.shape} and {outcomes.shape}"
            )
        predictions = np.empty(len(rows))
        with self._lock:
            turns, rounds = {key: list(each) for key, each in self._turns.items()}, {**self._rounds}
            for key, where in _groups(by, len(rows)):
                first = rounds.get(key, 0)
                if key not in turns:
                    turns[key] = [self._new() for _ in range(self._delay + 1)]
                for c in range(self._delay + 1):
                    part = where[(c - first) % (self._delay + 1) :: self._delay + 1]
                    if part.size:
                        mixture = turns[key][c] = _twin(turns[key][c])
                        predictions[part] = mixture.predict_then_fit(rows[part], outcomes[part])
                rounds[key] = first + where.size
            self._turns, self._rounds = turns, rounds
        return predictions

    def update(self, X: npt.ArrayLike, y: npt.ArrayLike, *, by: Keys = None) -> None:
        """Learn outcomes that became known; their rows are those that were predicted."""
        self.predict_then_fit(X, y, by=by)

    def predict(self, X: npt.ArrayLike, *, by: Keys = None) -> FloatArray:
        """Return predictions for the rounds of each series whose outcomes are not known yet."""
        rows = as_floats("X", X, missing=True)
        if rows.ndim != 2:
            raise ValueError(f"X must be of shape (rounds, experts); got {rows.shape}")
        predictions = np.empty(len(rows))
        with self._lock:
            for key, where in _groups(by, len(rows)):
                if where.size > self._delay + 1:
                    raise ValueError(
                        f"a series has at most delay + 1 = {self._delay + 1} rounds without an "
                        f"outcome; got {where.size} rows of {shown(key)}"
                    )
                for r, row in enumerate(where, self._rounds.get(key, 0)):
                    predictions[row] = self._at(key, r, rows[row])
        return predictions

    def _at(self, key: str, r: int, row: FloatArray) -> float:
        """Return the prediction of round ``r`` of a series; a new mixture plays the mean."""
        mixture = self._turns[key][r % (self._delay + 1)] if key in self._turns else None
        if mixture is None or not hasattr(mixture, "game_"):
            known = row[~np.isnan(row)]
            if not known.size:
                raise ValueError(
                    f"a round needs at least one prediction; one of {shown(key)} has none"
                )
            nearest = self._settings["outside"] == "nearest"
            checked = (self._loss.nearest if nearest else self._loss.check_predictions)(known)
            return float(self._loss.combine(checked, np.full(known.size, 1.0 / known.size)))
        return float(mixture.predict(row[None])[0])

    def _new(self) -> ExpertMixture:
        return ExpertMixture(self._loss, **self._settings)  # type: ignore[arg-type]

    # ---------------------------------------------------------------- what has happened

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the series, in order of their first rounds."""
        return tuple(self._turns)

    def rounds(self, key: Hashable = "") -> int:
        """Return the number of rounds of a series whose outcomes were learnt."""
        return self._rounds[self._known(key)]

    def mixtures(self, key: Hashable = "") -> list[ExpertMixture]:
        """Return the mixtures of a series that have played; mixture c plays rounds c mod d + 1."""
        made = [each for each in self._turns[self._known(key)] if hasattr(each, "game_")]
        return [each for each in made if each.learner_.t]

    def _known(self, key: Hashable) -> str:
        """Return the key of a series that has played, or say that there is none."""
        text = _text(key)
        if text not in self._turns:
            raise ValueError(f"there is no series {shown(key)}; there are {listed(self._turns)}")
        return text

    def certificate(self, key: Hashable = "") -> Certificate:
        """Return the regret of a series to every convex combination beside its bound.

        Both are sums over the mixtures that take turns. Without linearised losses the regret is
        to the best expert.
        """
        parts = [each.certificate() for each in self.mixtures(key)]
        first = np.sum([[p.realised[0], p.promised[0]] for p in parts], axis=0)
        caveat = ""
        if self._delay:
            caveat = f"{self._delay + 1} mixtures take turns, as outcomes come {self._delay} late"
        return Certificate(
            parts[0].title, self.rounds(key), parts[0].epsilons[:1], first[:1], first[1:], caveat
        )

    def __repr__(self) -> str:
        return f"<SeriesMixture: {len(self._turns)} series, delay {self._delay}>"

    # ---------------------------------------------------------------- state

    def _arguments(self) -> Content:
        return {"loss": self._loss, **self._settings, "delay": self._delay}

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        return {
            "loss": made_as(Loss),
            "learner": STRING.or_null,
            "outside": STRING,
            "linearise": FLAG.or_null,
            "combiners": FLAG.or_null,
            "tracking": FLAG,
            "delay": integer(0),
        }, {"series": LIST}

    def _get_state(self) -> Content:
        return {
            "series": [
                {
                    "key": key,
                    "rounds": self._rounds[key],
                    "mixtures": [
                        each.content() if hasattr(each, "game_") else None for each in turns
                    ],
                }
                for key, turns in self._turns.items()
            ]
        }

    def _set_state(self, state: Content) -> None:
        turns: dict[str, list[ExpertMixture]] = {}
        rounds: dict[str, int] = {}
        for each in state["series"]:
            key = each["key"]
            STRING.check("key", key)
            if key in turns or len(each["mixtures"]) != self._delay + 1:
                raise ValueError(
                    f"series {shown(key)} must come once, with {self._delay + 1} mixtures"
                )
            rounds[key] = check_integer("rounds", each["rounds"], least=0)
            turns[key] = [self._restored(content) for content in each["mixtures"]]
            for c, mixture in enumerate(turns[key]):
                wanted = len(range(c, rounds[key], self._delay + 1))
                found = mixture.learner_.t if hasattr(mixture, "game_") else 0
                if found != wanted:
                    raise ValueError(
                        f"mixture {c} of {shown(key)} must have {wanted} rounds; got {found}"
                    )
        self._turns, self._rounds = turns, rounds

    def _restored(self, content: Content | None) -> ExpertMixture:
        if content is None:
            return self._new()
        found = ExpertMixture.from_content(encode(content))
        mine = self._settings
        theirs = {name: getattr(found, name) for name in mine}
        if theirs != mine or found.loss_ != self._loss:
            raise DocumentError(f"its mixtures have {theirs}, and it has {mine}")
        return found


def _groups(by: Keys, n: int) -> Iterator[tuple[str, npt.NDArray[np.intp]]]:
    """Yield each key as text, with the rows of its series, in order of first rows."""
    if by is None:
        yield "", np.arange(n)
        return
    keys = np.asarray(unmask("by", by))
    if keys.shape != (n,):
        raise ValueError(f"by must have one key for each of the {n} rows; got shape {keys.shape}")
    rows: dict[str, list[int]] = {}
    for i, key in enumerate(keys.tolist()):
        rows.setdefault(_text(key), []).append(i)
    for text, where in rows.items():
        yield text, np.array(where, dtype=np.intp)


def _text(key: object) -> str:
    if not isinstance(key, str | int):
        raise ValueError(f"a key must be a string or an integer; got {shown(key)}")
    return str(key)


def _twin(mixture: ExpertMixture) -> ExpertMixture:
    """Return a mixture in the same state, so that the old one stays as it was."""
    twin = ExpertMixture.__new__(ExpertMixture)
    twin.__dict__.update({k: v for k, v in mixture.__dict__.items() if k != "_lock"})
    if hasattr(twin, "game_"):
        twin.game_ = twin.game_.copy()
    return twin

"""The rounds of boosting: weigh the examples, choose a hypothesis, move them; and again."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from driftgames.boosting.face.booster_input import BoosterInput, twin_of
from driftgames.boosting.fit.calibration import stages_of
from driftgames.boosting.fit.monitoring import Watch
from driftgames.boosting.fit.warm_start import replay
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import (
    COLUMNS,
    Fitted,
    TrainingRecord,
    vote_by_mass,
)
from driftgames.boosting.model.trees import Trees
from driftgames.boosting.weights.example_chips import ExampleChips, Round
from driftgames.certificates.margins import Margins
from driftgames.core.progress import progress
from driftgames.core.typing import FloatArray

_SECONDS = 0.05  # how long a compiled call plays rounds before it looks at the keyboard


class NoEdgeWarning(UserWarning):
    """A fit ended early because no weak hypothesis had a positive edge."""


def boost(
    booster: BoosterInput,
    training_set: TrainingSet,
    outline: FittedModel,
    watch: Watch | None,
    n_rounds: int,
    *,
    goes_on: bool = False,
    choice: Choice | None = None,
) -> Fitted:
    """Weigh the examples, choose a hypothesis, move them; and again.

    The model that comes out has the classes and the columns of the ``outline``.
    """
    earlier: list[Any] = []
    if goes_on and booster.n_iter_:
        before = booster.model_.estimators
        earlier = training_set.to_bins(booster.model_.hypotheses if before is None else [*before])
    default_vote = vote_by_mass(training_set.masses)
    settings = booster.binding_settings()
    chips = booster.place_chips(training_set, n_rounds)

    def fitted_to(rounds: list[Round], **results: Any) -> Fitted:
        chosen = training_set.to_values([each.hypothesis for each in rounds])
        model = replace(
            outline,
            hypotheses=tuple(chosen) if isinstance(chosen, list) else chosen,
            vote_weights=_column(rounds, "vote_weight"),
            default_vote=np.zeros_like(default_vote) if rounds else default_vote,
        )
        history = {name: _column(rounds, name) for name in COLUMNS}
        margins = chips.margins() if rounds else None
        record = TrainingRecord(history, margins, settings, choice=choice, **results)
        return Fitted(model, record)

    def stage(rounds: list[Round]) -> BoosterInput:
        return twin_of(booster, fitted_to(rounds))

    rounds, margins_after = play_rounds(
        booster, chips, earlier, n_rounds, training_set, watch, stage
    )
    model, record = fitted_to(rounds)
    trees = model.hypotheses
    if rounds and isinstance(trees, Trees) and not trees.left.any():
        rounds = []  # constant votes for one class and the other
        model, record = fitted_to(rounds)
    stopped = chips.finished or (watch is not None and watch.stopped)
    ended_early = len(rounds) < n_rounds and not stopped
    if ended_early:
        message = (
            f"no weak hypothesis had a positive edge in round {len(rounds) + 1}: the fit ended "
            f"after {len(rounds)} of {n_rounds} rounds"
        )
        if not rounds:
            heavier = outline.classes.tolist()[heaviest(default_vote)]
            message += f", and {heavier!r}, the class of most weight, is predicted everywhere"
        warnings.warn(message, NoEdgeWarning, stacklevel=3)
    record = replace(record, ended_early=ended_early, margins_after=margins_after)
    if watch is not None:
        record = watch.complete(record)
    return Fitted(model, record)


def play_rounds(
    booster: BoosterInput,
    chips: ExampleChips,
    earlier: list[Any],
    n_rounds: int,
    training_set: TrainingSet,
    watch: Watch | None,
    model: Callable[[list[Round]], Any],
) -> tuple[list[Round], dict[int, Margins]]:
    """Replay the earlier rounds, then play until no hypothesis has an edge.

    Return the rounds, and the margins after the numbers of them to choose from.
    """
    bar = progress("boosting", n_rounds) if booster.verbose else nullcontext(lambda steps: None)
    rounds: list[Round] = []
    stages: set[int] = set()
    if booster.early_stopping == "cv":
        stages = set(stages_of(n_rounds)) - set(range(len(earlier)))  # those of before stay
    margins_after: dict[int, Margins] = {}

    def see(played: Round, *, told: bool) -> None:
        rounds.append(played)
        if len(rounds) in stages:
            margins_after[len(rounds)] = chips.margins()
        if watch is not None:
            watch.see(
                lambda: training_set.to_values([played.hypothesis]),
                played,
                lambda: model(rounds),
                told=(len(rounds), n_rounds) if told else None,
            )

    with bar as advance:
        if watch is not None:
            watch.begin(lambda: model([]))
        for played in replay(chips, earlier, booster.history_) if earlier else []:
            see(played, told=False)
        advance(len(rounds))
        chunk, ended = 1, False
        while len(rounds) < n_rounds and not (chips.finished or ended):
            if watch is not None and watch.stopped:
                break
            following = min((s for s in stages if s > len(rounds)), default=n_rounds)
            n_asked = 1 if watch is not None else min(chunk, following - len(rounds))
            begun = time.perf_counter()
            latest = chips.play(n_asked)
            if time.perf_counter() - begun < _SECONDS:
                chunk *= 2
            else:
                chunk = max(chunk // 2, 1)
            ended = len(latest) < n_asked
            for played in latest:
                see(played, told=True)
            advance(len(latest))
    return rounds, margins_after


def heaviest(vote: FloatArray) -> int:
    """Return the number of the class that `vote_by_mass` votes for."""
    return int(vote[0] > 0) if vote.size == 1 else int(vote.argmax())


def _column(rounds: list[Round], name: str) -> FloatArray:
    """Return one number of every round."""
    return np.array([getattr(each, name) for each in rounds], dtype=np.float64)

"""The file of an `ExpertMixture`: its arguments and its state as JSON, checked when read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from driftgames.core.checks import check_finite, check_range, shown
from driftgames.core.description import UNREADABLE, describe, explain, restore
from driftgames.core.documents import DocumentError, decode_array, encode_array
from driftgames.core.schema import (
    FLAG,
    LIST,
    NUMBER,
    OBJECT,
    STRING,
    Requirement,
    array_of,
    check_members,
)
from driftgames.core.state import nested, restore_nested
from driftgames.core.typing import Content
from driftgames.hedge.losses.loss_base import Loss, LossFunction
from driftgames.hedge.losses.make_loss import make_loss
from driftgames.hedge.mixture.combiners import COMBINERS, Combiners, check_state
from driftgames.hedge.mixture.mixture_game import MixtureGame
from driftgames.hedge.registry import LearnerChoice
from driftgames.hedge.rounds.base import ExpertLearner
from driftgames.hedge.rounds.checks import check_units
from driftgames.hedge.rounds.linearised import charged_range

if TYPE_CHECKING:
    from driftgames.hedge.mixture.expert_mixture import ExpertMixture

KIND, VERSION = "driftgames.ExpertMixture", 5
_ARGUMENTS = {
    "loss": OBJECT,
    "learner": Requirement("a name, an object or null", lambda v: isinstance(v, str | dict | None)),
    "outside": STRING,
    "linearise": FLAG.or_null,
    "combiners": FLAG.or_null,
    "tracking": FLAG,
}
_STATE = {
    "experts": LIST.or_null,
    "linearised": FLAG,
    "total_loss": NUMBER,
    "expert_losses": OBJECT,
    "rounds_awake": OBJECT,
    "learner": OBJECT,
    "combiners": OBJECT.or_null,
}


def content_of(mixture: ExpertMixture) -> Content:
    """Return arguments and state as JSON."""
    game = mixture.game_
    return {
        "arguments": {
            "loss": describe(mixture.loss_),
            "learner": _describe_choice(mixture.learner),
            "outside": mixture.outside,
            "linearise": mixture.linearise,
            "combiners": mixture.combiners,
            "tracking": mixture.tracking,
        },
        "state": {
            "experts": mixture._columns(),
            "linearised": game.linearised,
            "total_loss": mixture.total_loss_,
            "expert_losses": encode_array(game.sums[1:]),
            "rounds_awake": encode_array(game.counts),
            "learner": nested(game.learner),
            "combiners": None if game.combiners is None else encode_array(game.combiners.state),
        },
    }


def mixture_of(
    cls: type[ExpertMixture],
    content: Content,
    loss: str | Loss | LossFunction | None,
    learner: LearnerChoice,
    given: dict[str, Any],
) -> ExpertMixture:
    """Return the mixture whose content this is; ``given`` are arguments of the learner."""
    try:
        for half in ("arguments", "state"):
            OBJECT.check(half, content.get(half))
        arguments, state = content["arguments"], content["state"]
        check_members(arguments, _ARGUMENTS)
        check_members(state, _STATE)
        mixture = cls(
            _saved_loss(arguments["loss"], loss),
            learner=_saved_choice(arguments["learner"], learner),
            outside=arguments["outside"],
            linearise=arguments["linearise"],
            combiners=arguments["combiners"],
            tracking=arguments["tracking"],
        )
        game = mixture.game_ = _game_of(mixture, state, given)
        check_outside(mixture.outside)
        columns = state["experts"]
        names = columns is None or len(columns) == game.n_experts
        if not names or not all(isinstance(name, str) for name in columns or ()):
            raise DocumentError(f"experts must be a name for each or null; got {shown(columns)}")
    except DocumentError:
        raise
    except UNREADABLE as error:
        raise DocumentError(f"not a whole ExpertMixture: {explain(error)}") from error
    mixture.n_features_in_ = game.n_experts
    if columns is not None:
        mixture.feature_names_in_ = np.array(columns, dtype=object)
    return mixture


def _game_of(mixture: ExpertMixture, state: Content, given: dict[str, Any]) -> MixtureGame:
    """Return the game of a file, or say what does not fit together."""
    learner: ExpertLearner = restore_nested(state["learner"], ExpertLearner, **given)
    loss, linearised = make_loss(mixture.loss), state["linearised"]
    allowed = charged_range(loss, linearised)
    wanted, rounded = learner.loss_range, (-math.inf, math.inf)
    if allowed is not None and not (wanted == rounded and learner.scale_free):
        units = check_units(allowed, False, learner.dtype)
        rounded = units.low, units.high
    if wanted != rounded:
        raise DocumentError(f"its learner takes losses in {wanted}, its loss has {allowed}")
    combiners = None
    if state["combiners"] is not None:
        saved = decode_array(state["combiners"])
        n = learner.n_actions - len(COMBINERS)
        if n < 1 or saved.dtype != np.float64:
            raise DocumentError(f"combiners need {len(COMBINERS)} actions of the learner")
        check_state(saved, n)
        combiners = Combiners(n, *loss.prediction_range)
        combiners.state[:] = saved
        if saved[0] != learner.t:
            raise DocumentError(f"its combiners have {saved[0]:g} rounds, its learner {learner.t}")
    game = MixtureGame(loss, learner, combiners, linearised)
    losses, counts = decode_array(state["expert_losses"]), decode_array(state["rounds_awake"])
    array_of(learner.n_actions).check("expert_losses", losses)
    array_of(learner.n_actions, dtype=np.int64).check("rounds_awake", counts)
    check_finite("expert_losses", losses)
    check_range("rounds_awake", counts, 0, learner.t)
    game.sums[0], game.sums[1:] = float(state["total_loss"]), losses
    game.counts[:] = counts
    return game


def check_outside(outside: object) -> None:
    """Raise ValueError for a rule about predictions outside the range that does not exist."""
    if outside not in {"error", "nearest"}:
        raise ValueError(f"outside must be 'error' or 'nearest'; got {shown(outside)}")


def _saved_loss(saved: Content, given: str | Loss | LossFunction | None) -> Loss | LossFunction:
    """Return the saved loss; a loss that a file cannot hold must be given."""
    if given is None:
        return restore(saved, "loss")
    if describe(make_loss(given)) != saved:
        raise DocumentError(f"it was made with loss = {saved}; given is {shown(given)}")
    return given if callable(given) else make_loss(given)


def _saved_choice(saved: Content | str | None, given: LearnerChoice) -> LearnerChoice:
    """Return the saved choice of a learner; a factory must be given."""
    if given is None:
        return restore(saved, "learner") if isinstance(saved, dict) else saved
    if _describe_choice(given) != saved:
        raise DocumentError(f"it was made with learner = {saved}; given is {shown(given)}")
    return given


def _describe_choice(choice: LearnerChoice) -> Content | str | None:
    if choice is None or isinstance(choice, str):
        return choice
    return {"name": "a factory of learners", "arguments": None}

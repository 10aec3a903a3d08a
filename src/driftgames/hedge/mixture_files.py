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
from driftgames.hedge.base import ExpertLearner
from driftgames.hedge.checks import check_units
from driftgames.hedge.linearised import charged_range
from driftgames.hedge.loss_base import Loss, LossFunction
from driftgames.hedge.losses import make_loss
from driftgames.hedge.registry import LearnerChoice

if TYPE_CHECKING:
    from driftgames.hedge.mixture import ExpertMixture

KIND, VERSION = "driftgames.ExpertMixture", 3
_ARGUMENTS = {
    "loss": OBJECT,
    "learner": Requirement("a name, an object or null", lambda v: isinstance(v, str | dict | None)),
    "outside": STRING,
    "linearise": FLAG.or_null,
}
_STATE = {
    "experts": LIST.or_null,
    "linearised": FLAG,
    "total_loss": NUMBER,
    "expert_losses": OBJECT,
    "rounds_awake": OBJECT,
    "learner": OBJECT,
}


def content_of(mixture: ExpertMixture) -> Content:
    """Return arguments and state as JSON."""
    return {
        "arguments": {
            "loss": describe(mixture.loss_),
            "learner": _describe_choice(mixture.learner),
            "outside": mixture.outside,
            "linearise": mixture.linearise,
        },
        "state": {
            "experts": mixture._columns(),
            "linearised": mixture.linearised_,
            "total_loss": mixture.total_loss_,
            "expert_losses": encode_array(mixture.expert_losses_),
            "rounds_awake": encode_array(mixture.rounds_awake_),
            "learner": nested(mixture.learner_),
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
        )
        mixture.learner_ = restore_nested(state["learner"], ExpertLearner, **given)
        mixture.loss_ = make_loss(mixture.loss)
        _set_totals(mixture, state)
        mixture.linearised_ = state["linearised"]
        found = charged_range(mixture.loss_, mixture.linearised_)
        wanted, rounded = mixture.learner_.loss_range, (-math.inf, math.inf)
        if found is not None:
            units = check_units(found, False, mixture.learner_.dtype)
            rounded = units.low, units.high
        if wanted != rounded:
            raise DocumentError(f"its learner takes losses in {wanted}, its loss has {found}")
        check_outside(mixture.outside)
        columns = state["experts"]
        names = columns is None or len(columns) == mixture.learner_.n_actions
        if not names or not all(isinstance(name, str) for name in columns or ()):
            raise DocumentError(f"experts must be a name for each or null; got {shown(columns)}")
    except DocumentError:
        raise
    except UNREADABLE as error:
        raise DocumentError(f"not a whole ExpertMixture: {explain(error)}") from error
    mixture.n_features_in_ = mixture.learner_.n_actions
    if columns is not None:
        mixture.feature_names_in_ = np.array(columns, dtype=object)
    return mixture


def _set_totals(mixture: ExpertMixture, state: Content) -> None:
    n = mixture.learner_.n_actions
    mixture.total_loss_ = float(state["total_loss"])
    mixture.expert_losses_ = decode_array(state["expert_losses"])
    mixture.rounds_awake_ = decode_array(state["rounds_awake"])
    array_of(n).check("expert_losses", mixture.expert_losses_)
    array_of(n, dtype=np.int64).check("rounds_awake", mixture.rounds_awake_)
    check_finite("expert_losses", mixture.expert_losses_)
    check_range("rounds_awake", mixture.rounds_awake_, 0, mixture.learner_.t)


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

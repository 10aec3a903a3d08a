"""What a mixture has learnt, and its file: arguments and state as JSON, checked when read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from driftgames.certificates import Certificate
from driftgames.core.checks import check_finite, check_range, shown
from driftgames.core.description import UNREADABLE, describe, explain, restore
from driftgames.core.documents import (
    DocumentError,
    decode_array,
    encode_array,
    read_document,
    write_document,
)
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
from driftgames.core.typing import Content, FloatArray, IntArray, Path
from driftgames.hedge.losses.loss_base import Loss, LossFunction
from driftgames.hedge.losses.make_loss import make_loss
from driftgames.hedge.mixture.combiners import COMBINERS, Combiners, check_state
from driftgames.hedge.mixture.mixture_game import MixtureGame
from driftgames.hedge.named_learners import LearnerChoice
from driftgames.hedge.rounds.expert_learner import ExpertLearner
from driftgames.hedge.rounds.learner_checks import check_units
from driftgames.hedge.rounds.linearised import charged_range
from driftgames.tables import as_plain


class MixtureRecord:
    """The attributes that an `ExpertMixture` has once a round was played: all read its game."""

    game_: MixtureGame

    def _game(self) -> MixtureGame:
        check_is_fitted(self, "game_")
        return self.game_

    @property
    def loss_(self) -> Loss:
        """The loss in use."""
        return self._game().loss

    @property
    def learner_(self) -> ExpertLearner:
        """The learner, with its clock and totals."""
        return self._game().learner

    @property
    def linearised_(self) -> bool:
        """Whether the learner is charged linearised losses."""
        return self._game().linearised

    @property
    def total_loss_(self) -> float:
        """The loss of the mixture's own predictions, each made before its outcome was seen."""
        return float(self._game().sums[0])

    @property
    def expert_losses_(self) -> FloatArray:
        """The total loss of each expert; where it slept, the mixture's own loss."""
        game = self._game()
        return game.sums[1 : 1 + game.n_experts].copy()

    @property
    def combiner_losses_(self) -> FloatArray:
        """The total loss of each combiner; empty without them."""
        game = self._game()
        return game.sums[1 + game.n_experts :].copy()

    @property
    def rounds_awake_(self) -> IntArray:
        """The number of rounds in which each expert was awake."""
        game = self._game()
        return game.counts[: game.n_experts].copy()

    @property
    def weights_(self) -> FloatArray:
        """The weight of each expert in the next prediction; they sum to 1.

        Combiners are resolved into their experts, so with them a weight may be negative;
        ``learner_.distribution()`` has the weights of experts and combiners themselves.
        """
        return self._game().expert_weights()

    @property
    def regret_(self) -> float:
        """The mixture's own loss less that of the best expert."""
        check_is_fitted(self)
        return float(self.total_loss_ - np.min(self.expert_losses_))

    def certificate(self, *, unit: str = "") -> Certificate:
        """Return the learner's epsilon-regret beside its bound, for every epsilon.

        Both are in units of the loss, whose name ``unit`` may be. With linearised losses, the
        mixture's regret to **every** convex combination of the experts is at most the realised
        regret of the first line, and so at most its bound. Otherwise the mixture's regret to the
        best experts is at most the realised one if the loss is convex.
        """
        check_is_fitted(self)
        found = self.learner_.certificate(unit=unit)
        if not self.linearised_:
            return replace(found, rival="the best expert")
        title = f"{found.title} on linearised losses"
        return replace(found, title=title, rival="the best fixed combination", is_upper=True)

    def report(self, most: int = 10) -> str:
        """Return a table of the best experts and combiners, and the regret with its bound."""
        game, certificate = self._game(), self.certificate()
        totals, rounds, names = game.sums[1:], self.learner_.t, self.learner_.names
        order = np.argsort(totals, kind="stable")
        weights = self.learner_.distribution()
        width = max(len("mixture"), *(len(names[i]) for i in order[:most]))
        lines = [f"{'':{width}}  {'mean loss':>12}  {'weight':>8}"]
        lines.append(f"{'mixture':{width}}  {as_plain(self.total_loss_ / rounds):>12}")
        lines += [
            f"{names[i]:{width}}  {as_plain(totals[i] / rounds):>12}  {weights[i]:8.4f}"
            for i in order[:most]
        ]
        if totals.size > most:
            lines.append(f"and {totals.size - most} others")
        regret = self.total_loss_ - totals[order[0]]
        lines.append(f"regret to {names[order[0]]}: {as_plain(regret)} in {rounds:,} rounds")
        if self.linearised_:
            first = certificate.at(self.learner_.smallest_epsilon)
            lines.append(f"regret to every convex combination: at most {as_plain(first.realised)}")
        return "\n".join([*lines, "", str(certificate)])


Mixture = TypeVar("Mixture", bound="SavedMixture")
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


class SavedMixture(MixtureRecord):
    """A mixture as a file has it: its arguments, its columns and its game."""

    loss: str | Loss | LossFunction
    learner: LearnerChoice
    outside: str
    linearise: bool | None
    combiners: bool | None
    tracking: bool
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]

    def save(self, path: Path) -> None:
        """Write the mixture to a JSON document, atomically.

        It holds the loss, the learner and the totals. A function, such as your own loss or
        factory of learners, must be given to `load` again.
        """
        write_document(path, KIND, VERSION, self.content())

    def content(self) -> Content:
        """Return arguments and state as JSON."""
        return _content_of(self, self._game())

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        loss: str | Loss | LossFunction | None = None,
        learner: LearnerChoice = None,
        **given: Any,
    ) -> Self:
        """Return the mixture that was saved at ``path``; it continues to the same bits.

        ``loss``, ``learner`` and ``given`` (arguments of the learner) are for what a file cannot
        hold. They cannot change what the file does hold.
        """
        content = read_document(path, KIND, VERSION)
        try:
            return cls.from_content(content, loss=loss, learner=learner, **given)
        except DocumentError as error:
            raise DocumentError(f"{path}: {error}") from error

    @classmethod
    def from_content(
        cls,
        content: Content,
        *,
        loss: str | Loss | LossFunction | None = None,
        learner: LearnerChoice = None,
        **given: Any,
    ) -> Self:
        """Return the mixture whose `content` this is; the arguments are those of `load`."""
        return _mixture_of(cls, content, loss, learner, given)

    def _columns(self) -> list[str] | None:
        columns = vars(self).get("feature_names_in_")
        return None if columns is None else [str(column) for column in columns]


def _content_of(mixture: SavedMixture, game: MixtureGame) -> Content:
    """Return arguments and state as JSON."""
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


def _mixture_of(
    cls: type[Mixture],
    content: Content,
    loss: str | Loss | LossFunction | None,
    learner: LearnerChoice,
    given: dict[str, Any],
) -> Mixture:
    """Return the mixture whose content this is; ``given`` are arguments of the learner."""
    try:
        for half in ("arguments", "state"):
            OBJECT.check(half, content.get(half))
        arguments, state = content["arguments"], content["state"]
        check_members(arguments, _ARGUMENTS)
        check_members(state, _STATE)
        mixture = cast(Any, cls)(
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


def _game_of(mixture: SavedMixture, state: Content, given: dict[str, Any]) -> MixtureGame:
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

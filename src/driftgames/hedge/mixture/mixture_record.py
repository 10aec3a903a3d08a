"""What a mixture has learnt: weights, totals, and its regret beside its bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from driftgames.certificates import Certificate
from driftgames.core.typing import FloatArray, IntArray
from driftgames.hedge.losses.loss_base import Loss
from driftgames.hedge.mixture.mixture_game import MixtureGame
from driftgames.hedge.rounds.base import ExpertLearner


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
        lines.append(f"{'mixture':{width}}  {self.total_loss_ / rounds:12.6g}")
        lines += [
            f"{names[i]:{width}}  {totals[i] / rounds:12.6g}  {weights[i]:8.4f}"
            for i in order[:most]
        ]
        if totals.size > most:
            lines.append(f"and {totals.size - most} others")
        regret = self.total_loss_ - totals[order[0]]
        lines.append(f"regret to {names[order[0]]}: {regret:.6g} in {rounds:,} rounds")
        if self.linearised_:
            first = certificate.at(self.learner_.smallest_epsilon)
            lines.append(f"regret to every convex combination: at most {first.realised:.6g}")
        return "\n".join([*lines, "", str(certificate)])

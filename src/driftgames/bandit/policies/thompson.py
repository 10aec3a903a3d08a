"""Thompson sampling that forgets: for arms that stay, jump or drift, and for late losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from driftgames.bandit.engines.thompson_engine import ThompsonEngine
from driftgames.bandit.policies.policy import BanditPolicy
from driftgames.bandit.types import Arm, Rounds
from driftgames.core.checks import check_integer, is_real, shown
from driftgames.core.generators import RandomState
from driftgames.core.schema import Requirement, Schema, array_of, integer
from driftgames.core.typing import Content, FloatArray
from driftgames.potentials import NoBoundError

Forget = Literal["auto"] | float | None

JUMPS = (1e-5, 3e-4, 1e-4)
"""The chances of a jump, per round and arm, in the three models of ``forget="auto"``."""

WALK = 2.5e-5
"""The variance of a step of the third model, which also walks; the grid has length 1."""

MOST_CELLS = 128


class ThompsonSampling(BanditPolicy):
    r"""Draw each arm by the chance that it is the best one now, squared.

    .. math:: p_{t,i} \propto P_t(\theta_i < \theta_j \text{ for all } j \ne i)^m

    :math:`P_t` is the posterior of the mean losses :math:`\theta`, on a grid. With m = 1 it is
    Thompson sampling. With m = 2 two draws from the posterior must agree on the best arm before
    it is pulled: less is spent on arms that are probably worse.

    With ``forget="auto"`` the means may change. Three models predict the losses: the mean of an
    arm hardly ever jumps, it jumps now and then, or it walks and jumps. Each weighs as much as its
    predictions deserve, so where nothing changes little is forgotten. A model is Hedge with
    log-loss and fixed share over the values of the grid; see
    `driftgames.bandit.engines.thompson_engine`. A pull takes time in proportion to the number of
    arms.

    Parameters
    ----------
    n_arms, names, loss_range, gains, random_state
        As for `BanditPolicy`.
    forget : "auto", None or float
        None: the means never change. A number: a mean jumps once in this many rounds, on average.
        Default: "auto", three models together.
    agree : int, optional
        m, the number of draws that must agree: 1 to 10. Default: 2, and 1 with ``forget=None``:
        a policy that never forgets may settle on a wrong arm if it explores too little.
    resolution : int
        The number of values of the grid: 8 to 128. Means that are closer together than about
        1 / resolution cannot be told apart.

    Notes
    -----
    Nothing is promised: the losses of an adversary may fool a posterior. In `Moody`, whose arms
    are good and bad together, it loses more than `TsallisINF`. It needs no propensities to learn,
    so that it bears late losses and logs of other policies well. W. Thompson, "On the likelihood
    that one unknown probability exceeds another in view of the evidence of two samples",
    Biometrika 25 (1933); J. Mellor and J. Shapiro, "Thompson sampling in switching environments
    with Bayesian online change detection", AISTATS 2013.

    Examples
    --------
    The best arm changes after 500 rounds, and the policy notices:

    >>> losses = np.repeat([[0.0, 1.0], [1.0, 0.0]], 500, axis=0)
    >>> run = ThompsonSampling(2, random_state=0).run(losses)
    >>> run.learner_loss
    5.0
    """

    _engine: ThompsonEngine
    _named_arguments: ClassVar[Schema] = {
        "forget": Requirement(
            '"auto", a number or null', lambda v: v is None or v == "auto" or is_real(v)
        ),
        "agree": integer(1, 10),
        "resolution": integer(8, MOST_CELLS),
    }

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        forget: Forget = "auto",
        agree: int | None = None,
        resolution: int = 128,
        names: Sequence[Arm] | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_arms, names=names, loss_range=loss_range, gains=gains, random_state=random_state
        )
        self.forget: Forget = forget
        usual = 1 if forget is None else 2
        self.agree = usual if agree is None else _check_at_most("agree", agree, 1, 10)
        self.resolution = _check_at_most("resolution", resolution, 8, MOST_CELLS)
        hazards, spreads = _models(forget, self.resolution)
        self._play_with(
            ThompsonEngine(
                self.n_arms,
                cells=self.resolution,
                agree=self.agree,
                hazards=hazards,
                spreads=spreads,
            )
        )

    @property
    def title(self) -> str:
        """Its name."""
        kinds = {None: "Thompson sampling", "auto": "Thompson sampling, forgetting"}
        known = self.forget if self.forget in (None, "auto") else None
        return kinds[known] if known == self.forget else f"{kinds['auto']} in {self.forget:g}"

    @property
    def means(self) -> FloatArray:
        """The mean loss (or gain) of each arm that the policy expects now."""
        return np.asarray(self._units.best + self._units.span * self._engine.means())

    def _bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        """Say that there is no bound."""
        raise NoBoundError(
            "Thompson sampling has bounds for arms drawn from its own prior, and none for a given "
            "sequence of losses"
        )

    _late_bound = _bound

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        arms, cells = arguments.get("n_arms"), arguments.get("resolution")
        models = len(JUMPS) if arguments.get("forget") == "auto" else 1
        whole = isinstance(arms, int) and isinstance(cells, int)
        size = models * (1 + int(arms or 0) * int(cells or 0)) if whole else None
        return ours, {**state, "memory": array_of(size)}


def _models(forget: Forget, cells: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the hazards and the spreads of the models."""
    if forget is None:
        return (0.0,), (0.0,)
    if isinstance(forget, str) and forget == "auto":
        return JUMPS, (0.0, 0.0, WALK * cells * cells / 2.0)
    if not (is_real(forget) and 1 <= forget < float("inf")):
        raise ValueError(
            f'forget must be "auto", None or a number of rounds >= 1; got {shown(forget)}'
        )
    return (1.0 / float(forget),), (0.0,)


def _check_at_most(name: str, value: int, least: int, most: int) -> int:
    number = check_integer(name, value, least=least)
    if number > most:
        raise ValueError(f"{name} must be at most {most}; got {number}")
    return number

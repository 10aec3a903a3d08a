"""SquareCB: a contextual bandit from an online regression, by inverse gap weighting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from driftgames.bandit.contexts.context_policy import ContextPolicy
from driftgames.bandit.contexts.square_engine import (
    BONUSES,
    DETERMINANT,
    GAMMA,
    INVERSE,
    MODELS,
    START,
    SquareEngine,
)
from driftgames.bandit.types import Arm, Rounds
from driftgames.certificates.bounds import square_cb
from driftgames.core.checks import (
    check_between,
    check_flag,
    check_integer,
    check_positive,
    shown,
)
from driftgames.core.generators import RandomState
from driftgames.core.registry import choose
from driftgames.core.schema import FLAG, LIST, POSITIVE, Schema, array_of, between, integer, one_of
from driftgames.core.typing import Content, FloatArray
from driftgames.potentials import NoBoundError


class SquareCB(ContextPolicy):
    r"""Explore by the gaps that an optimistic online regression expects.

    .. math:: p_a = \frac1{K + \gamma_t (f_t(x, a) - f_t(x, b))} \ (a \ne b), \qquad
              b = \arg\min_a f_t(x, a), \qquad
              f_t(x, a) = \hat f_t(x, a) - \tfrac\beta2\sqrt{x^\top A_a^{-1} x}

    and the best arm b has the rest. :math:`A_a` is the matrix of the regression of an arm, so an
    arm is explored where its regression is unsure. :math:`\hat f` is a linear function of the
    context for each arm, fitted by the forecaster of Vovk, Azoury and Warmuth (online ridge
    regression), or a logistic one. With ridge regression the expected regret to the best linear
    policy is that of `driftgames.certificates.bounds.square_cb`, if the mean losses are linear in
    the context. D. Foster and A. Rakhlin, "Beyond UCB: optimal and efficient contextual bandits
    with regression oracles", ICML 2020.

    Parameters
    ----------
    n_arms, names, loss_range, gains, random_state
        As for `BanditPolicy`.
    n_features : int, optional
        The length of a context. Default: the number of ``feature_names``.
    feature_names : sequence of str, optional
        The names in contexts that are mappings or Series.
    model : {"ridge", "logistic"}
        The regression. The logistic one is for losses that are mostly 0 or 1; nothing is promised
        of it.
    greed : float
        How much faster gamma grows than the bound would have it. Above 1 the policy explores
        less, and its bound grows. Default: 100.
    optimism : float
        The number of standard deviations :math:`\beta` that are taken off an expected loss.
        Default: 1.
    ridge : float
        The weight of the squared norm in the regression. Default: 1.
    norm : float
        The norm of the coefficients of an arm that the bound assumes, at most. Default: 1.
    intercept : bool
        Whether a constant feature is added. Default: True.

    Notes
    -----
    Contexts should be scaled to numbers around 1. Gamma never falls, and is
    :math:`\gamma_t = g\sqrt{8Kt/R_t}` with g the greed and :math:`R_t` the bound on the squared
    errors of f so far. By Minkowski's inequality its root is at most that of the bound for
    :math:`\hat f` plus that of the squares of what was taken off at the drawn arms, which grow as
    slowly. `PullLog` records the probabilities for `off_policy_value`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> contexts = rng.normal(size=(3000, 2)) / 2
    >>> means = np.clip(0.5 + contexts @ [[0.4, -0.4, 0.0], [0.0, 0.3, -0.3]], 0, 1)
    >>> losses = (rng.random(means.shape) < means).astype(float)
    >>> run = SquareCB(3, n_features=2, random_state=0).run(contexts, losses)
    >>> round(run.learner_loss), round(run.rival_losses.min())
    (878, 1410)
    """

    _engine: SquareEngine
    _named_arguments: ClassVar[Schema] = {
        "n_features": integer(1),
        "feature_names": LIST.or_null,
        "model": one_of(*MODELS),
        "greed": POSITIVE,
        "optimism": between(0.0, 1e6),
        "ridge": POSITIVE,
        "norm": POSITIVE,
        "intercept": FLAG,
    }

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        n_features: int | None = None,
        feature_names: Sequence[str] | None = None,
        model: str = "ridge",
        greed: float = 100.0,
        optimism: float = 1.0,
        ridge: float = 1.0,
        norm: float = 1.0,
        intercept: bool = True,
        names: Sequence[Arm] | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_arms, names=names, loss_range=loss_range, gains=gains, random_state=random_state
        )
        self.feature_names = _check_feature_names(feature_names, n_features)
        count = n_features if self.feature_names is None else len(self.feature_names)
        self.n_features = check_integer("n_features", count, least=1)
        self.model = model
        self.greed, self.ridge = check_positive("greed", greed), check_positive("ridge", ridge)
        self.optimism = check_between("optimism", optimism, 0.0, 1e6)
        self.norm, self.intercept = check_positive("norm", norm), check_flag("intercept", intercept)
        self._play_with(
            SquareEngine(
                self.n_arms,
                self.n_features,
                intercept=self.intercept,
                kind=choose("model", model, MODELS),
                greed=self.greed,
                ridge=self.ridge,
                norm=self.norm,
                optimism=self.optimism,
            )
        )

    @property
    def title(self) -> str:
        """Its name."""
        return f"SquareCB, {self.model} regression"

    @property
    def context_shape(self) -> tuple[int, ...]:
        """The number of features."""
        return (self.n_features,)

    @property
    def rivals(self) -> tuple[Any, ...]:
        """The arms: the best policy is at least as good as each of them."""
        return self.arms

    _best_rival = "the best arm"

    @property
    def _row_names(self) -> tuple[str, ...] | None:
        return self.feature_names

    @property
    def caveat(self) -> str:
        """The sense in which the bound holds."""
        return (
            "in expectation, if the mean loss of each arm is linear in the context with "
            f"coefficients of norm {self.norm:g} at most"
        )

    def expected(self, context: Any) -> FloatArray:
        """Return the loss (or gain) that the regression expects of each arm."""
        seen = self.read_context(context)
        with self._lock:
            self._engine.look(seen)
            found = self._engine.expected()
        return np.asarray(self._units.best + self._units.span * found)

    def _bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        if self.model != "ridge":
            raise NoBoundError("SquareCB has a bound with ridge regression alone")
        found = np.inf
        if self.t:
            numbers = self._engine.numbers
            start, grown, bonuses = numbers[[START, DETERMINANT, BONUSES]].tolist()
            found = square_cb(
                self.t,
                self._n_arms,
                total_inverse=float(numbers[INVERSE]),
                last_gamma=float(numbers[GAMMA]),
                largest_gamma=self.greed * math.sqrt(8.0 * self._n_arms * self.t / start),
                regression=start + 0.25 * grown,
                bonuses=bonuses,
            ).item()
        # gamma follows from contexts and draws, which are known until now
        return np.where(horizon == self.t, found, np.inf)

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        arms, n_features = arguments.get("n_arms"), arguments.get("n_features")
        if not (isinstance(arms, int) and isinstance(n_features, int)):
            return ours, state
        d = n_features + bool(arguments.get("intercept"))
        return ours, {**state, "memory": array_of(arms * (d + d * d))}


def _check_feature_names(names: object, count: int | None) -> tuple[str, ...] | None:
    """Return the names of the features, or say that they are no different strings."""
    if names is None:
        return None
    given = list(names) if isinstance(names, list | tuple | np.ndarray) else []
    if (
        not given
        or not all(isinstance(name, str) for name in given)
        or len(set(given)) < len(given)
        or (count is not None and len(given) != count)
    ):
        wanted = "" if count is None else f"{shown(count)} "
        raise ValueError(f"feature_names must be {wanted}different strings; got {shown(names)}")
    return tuple(map(str, given))

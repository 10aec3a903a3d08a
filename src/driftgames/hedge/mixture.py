"""Combining forecasters: a Hedge learner behind the interface of scikit-learn."""

from __future__ import annotations

import hashlib
import threading
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from driftgames.certificates import Certificate
from driftgames.core.checks import float_errors, unmask
from driftgames.core.documents import DocumentError, read_document, write_document
from driftgames.core.typing import BoolArray, Content, FloatArray, IntArray, Path
from driftgames.hedge.base import ExpertLearner
from driftgames.hedge.hindsight import CombinationCertificate, best_combination
from driftgames.hedge.linearised import (
    charged_range,
    choose_linearised,
    distribution_of_awake,
    play_linearised,
)
from driftgames.hedge.loss_base import Loss, LossFunction, Range
from driftgames.hedge.losses import make_loss
from driftgames.hedge.mixture_files import KIND, VERSION, check_outside, content_of, mixture_of
from driftgames.hedge.registry import LearnerChoice, make_learner

__all__ = ["ExpertMixture", "LookAheadWarning"]


class LookAheadWarning(UserWarning):
    """Predictions of past rounds know the outcomes of these rounds."""


class ExpertMixture(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""A convex combination of experts' predictions, re-weighted after every outcome.

    .. math:: \hat y_t = \sum_i p_{t,i} x_{t,i}, \qquad
              \ell_{t,i} = g_t\,x_{t,i}, \quad g_t = \ell'(\hat y_t, y_t)

    The columns of ``X`` are the experts' predictions, its rows the rounds in order. ``p_t`` is
    the distribution that a Hedge learner plays before it sees round ``t``, and it is charged the
    losses linearised at the mixture's own prediction. The mixture then competes with the best
    **convex combination** q of the experts. A convex loss lies above its tangents, and a linear
    function is largest at a corner of the simplex, so for every q

    .. math:: \sum_t \ell(\hat y_t, y_t) - \ell(q\cdot x_t, y_t)
              \le \sum_t g_t (\hat y_t - q\cdot x_t)
              \le \max_i \sum_t g_t (\hat y_t - x_{t,i}) \le 2\Delta_T

    with the mixability gap :math:`\Delta_T` of AdaHedge, the default learner. No range is
    guessed: AdaHedge is scale-free, and with the spread
    :math:`S_t = |g_t|\,(\max_i x_{t,i} - \min_i x_{t,i})` of a round's losses

    .. math:: \Delta_T \le \tfrac12\sqrt{\ln N \textstyle\sum_t S_t^2}
              + \max_t S_t \bigl(\tfrac23 \ln N + 1\bigr)

    The Hedge game is that of [LS14, Sec. 3.1]; `AdaHedge` has the source of the bound.

    A missing forecast (NaN) is an expert that sleeps. It has no weight in that round and is
    charged the mixture's own loss. This is the same game as one in which the expert says what the
    mixture says, so all bounds hold for the forecasts with the gaps filled in this way.

    `predict_then_fit` is the way to play past rounds: it gives the predictions that the mixture
    would have made. ``fit(X, y).predict(X)`` looks ahead: all of its predictions use the weights
    after the last round.

    Parameters
    ----------
    loss : str, Loss or callable
        "square", "absolute", "pinball", "log" or "zero-one"; a `Loss`; or a function of
        predictions and outcomes whose losses lie in [0, 1]. `CustomLoss` takes a gradient too.
    outcome_range : (low, high), optional
        The range of predictions and outcomes, for the first three by name. Default: values of
        any size. A learner that is not scale-free needs it.
    learner : str or callable, optional
        A name in `LEARNERS` or `POTENTIALS`, or a factory, which is called with the number of
        experts, and with ``loss_range`` and ``names`` as keywords. Default: AdaHedge.
    outside : {"error", "nearest"}
        A prediction outside the range is an error, or it is moved to the nearer end. An outcome
        outside the range is always an error.
    linearise : bool, optional
        Whether the learner is charged linearised losses, which the loss must have a gradient for.
        If not, it is charged :math:`\ell(x_{t,i}, y_t)` and competes with the best expert alone.
        Default: if the loss has a gradient.

    Attributes
    ----------
    learner_ : ExpertLearner
        The learner, with its clock and totals.
    loss_ : Loss
        The loss in use.
    total_loss_ : float
        The loss of the mixture's own predictions, each made before its outcome was seen.
    expert_losses_ : array
        The total loss of each expert; where it slept, the mixture's own loss.
    rounds_awake_ : array
        The number of rounds in which each expert was awake.
    linearised_ : bool
        Whether the learner is charged linearised losses.

    Examples
    --------
    >>> X = [[20, 90], [40, 80], [90, 70]]
    >>> mixture = ExpertMixture()
    >>> mixture.predict_then_fit(X, [70, 60, 75]).round(1)
    array([55. , 72. , 76.6])
    >>> mixture.weights_.round(3)
    array([0.32, 0.68])
    >>> mixture.predict([[20, 80], [None, 80]]).round(1)
    array([60.8, 80. ])
    """

    loss_: Loss
    learner_: ExpertLearner
    total_loss_: float
    expert_losses_: FloatArray
    rounds_awake_: IntArray
    linearised_: bool

    def __init__(
        self,
        loss: str | Loss | LossFunction = "square",
        outcome_range: Range | None = None,
        learner: LearnerChoice = None,
        *,
        outside: str = "error",
        linearise: bool | None = None,
    ) -> None:
        self.loss = loss
        self.outcome_range = outcome_range
        self.learner = learner
        self.outside = outside
        self.linearise = linearise

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> ExpertMixture:
        """Forget everything and play the rounds in order.

        ``fit(X, y).predict(X)`` is no test of the mixture: it predicts all rows with the weights
        after the last one, with a `LookAheadWarning`. `predict_then_fit` predicts each row before
        it sees the outcome.
        """
        X = unmask("X", X, missing=True)
        self._play(X, y, fresh=True)
        self._fitted_rows = _digest(np.asarray(X, dtype=np.float64))
        return self

    def partial_fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> ExpertMixture:
        """Play more rounds in order; batches of any size give the same result."""
        self._play(X, y, fresh=None)
        return self

    def predict_then_fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return the predictions, each made before its outcome is learnt.

        Rounds are added to those played before, as with `partial_fit`.
        """
        return self._play(X, y, fresh=None)

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Return the combinations of these predictions under the current weights.

        The weights know every round that was played. For rows that were among them, this looks
        ahead; `predict_then_fit` does not.
        """
        check_is_fitted(self)
        with float_errors("X", X):
            rows = validate_data(
                self,
                unmask("X", X, missing=True),
                reset=False,
                dtype=np.float64,
                ensure_all_finite="allow-nan",
            )
        if len(rows) > 1 and _digest(rows) == vars(self).get("_fitted_rows"):
            warnings.warn(
                "predict looks ahead: fit has seen the outcomes of these rows; predict_then_fit "
                "gives predictions that were made before",
                LookAheadWarning,
                stacklevel=2,
            )
        predictions, awake = self._experts(self.loss_, rows)
        mixed = self.loss_.combine(predictions, self.weights_)
        if awake is not None:
            for t in np.flatnonzero(~awake.all(axis=1)):
                p = distribution_of_awake(self.learner_, awake[t])
                mixed[t] = self.loss_.combine(predictions[t], p)
        return mixed

    @property
    def weights_(self) -> FloatArray:
        """The weight of each expert in the next prediction."""
        check_is_fitted(self, "learner_")
        return self.learner_.distribution().astype(np.float64, copy=False)

    @property
    def regret_(self) -> float:
        """The mixture's own loss less that of the best expert."""
        check_is_fitted(self)
        return float(self.total_loss_ - np.min(self.expert_losses_))

    def certificate(self) -> Certificate:
        """Return the learner's epsilon-regret beside its bound, for every epsilon.

        Both are in units of the loss. With linearised losses, the mixture's regret to **every**
        convex combination of the experts is at most the realised regret of the first line, and
        so at most its bound. Otherwise the mixture's regret to the best experts is at most the
        realised one if the loss is convex.
        """
        check_is_fitted(self)
        found = self.learner_.certificate()
        if self.linearised_:
            found = replace(found, title=f"{found.title} on linearised losses")
        return found

    def combination_certificate(self, X: npt.ArrayLike, y: npt.ArrayLike) -> CombinationCertificate:
        """Return the regret to the best convex combination of all rounds beside its bounds.

        ``X`` and ``y`` must be all rounds that the mixture has played: it does not keep them.
        They are played again by a new mixture, and a different total loss is an error.
        """
        check_is_fitted(self)
        if not self.linearised_:
            raise ValueError("without linearised losses nothing is promised of combinations")
        replayed = clone(self)
        mixed = replayed.predict_then_fit(X, y)
        if replayed.total_loss_ != self.total_loss_:
            raise ValueError(
                "X and y must be all rounds that the mixture has played; they give a total loss "
                f"of {replayed.total_loss_:g}, and the mixture has {self.total_loss_:g}"
            )
        rows = np.asarray(unmask("X", X, missing=True), dtype=np.float64)
        predictions, _ = self._experts(self.loss_, rows)
        heard = np.where(np.isnan(rows), mixed[:, None], predictions)
        best = best_combination(heard, y, self.loss_)
        first = self.certificate().at(self.learner_.smallest_epsilon)
        return CombinationCertificate(
            best, self.total_loss_, first.realised, first.promised, self.learner_.t
        )

    def report(self, most: int = 10) -> str:
        """Return a table of the best experts, the regret to the best, and the certificate."""
        check_is_fitted(self)
        totals, rounds, names = self.expert_losses_, self.learner_.t, self.learner_.names
        order = np.argsort(totals, kind="stable")
        weights = self.weights_
        width = max(len("mixture"), *(len(names[i]) for i in order[:most]))
        lines = [f"{'':{width}}  {'mean loss':>12}  {'weight':>8}"]
        lines.append(f"{'mixture':{width}}  {self.total_loss_ / rounds:12.6g}")
        lines += [
            f"{names[i]:{width}}  {totals[i] / rounds:12.6g}  {weights[i]:8.4f}"
            for i in order[:most]
        ]
        if totals.size > most:
            lines.append(f"and {totals.size - most} others")
        behind = f"regret to {names[order[0]]}: {self.regret_:.6g} in {rounds:,} rounds"
        certificate = self.certificate()
        lines.append(behind)
        if self.linearised_:
            first = certificate.at(self.learner_.smallest_epsilon)
            lines.append(f"regret to every convex combination: at most {first.realised:.6g}")
        return "\n".join([*lines, "", str(certificate)])

    def save(self, path: Path) -> None:
        """Write the mixture to a JSON document, atomically.

        It holds the loss, the learner and the totals. A function, such as your own loss or
        factory of learners, must be given to `load` again.
        """
        write_document(path, KIND, VERSION, self.content())

    def content(self) -> Content:
        """Return arguments and state as JSON."""
        check_is_fitted(self)
        return content_of(self)

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        loss: str | Loss | LossFunction | None = None,
        learner: LearnerChoice = None,
        **given: Any,
    ) -> ExpertMixture:
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
    ) -> ExpertMixture:
        """Return the mixture whose `content` this is; the arguments are those of `load`."""
        return mixture_of(cls, content, loss, learner, given)

    def _play(self, X: npt.ArrayLike, y: npt.ArrayLike, *, fresh: bool | None) -> FloatArray:
        """Play rounds; ``fresh=None`` begins only where nothing was played before."""
        with self.__dict__.setdefault("_lock", threading.RLock()):  # as that of a `Stateful`
            before = self.__dict__.copy()
            if fresh is None:
                fresh = "learner_" not in before
            try:
                return self._play_checked(X, y, fresh)
            except Exception:
                self.__dict__ = before
                raise

    def __getstate__(self) -> Content:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_lock"}

    def _play_checked(self, X: npt.ArrayLike, y: npt.ArrayLike, fresh: bool) -> FloatArray:
        check_outside(self.outside)
        loss = make_loss(self.loss, self.outcome_range, any_size=True) if fresh else self.loss_
        with float_errors("X and y", X):
            rows, column = validate_data(
                self,
                unmask("X", X, missing=True),
                unmask("y", y),
                reset=fresh,
                dtype=np.float64,
                y_numeric=True,
                ensure_all_finite="allow-nan",
            )
        outcomes = loss.check_outcomes(column)
        predictions, awake = self._experts(loss, rows)
        linearised = choose_linearised(loss, self.linearise) if fresh else self.linearised_
        if fresh:
            learner = make_learner(
                self.learner or "adahedge",
                rows.shape[1],
                loss_range=charged_range(loss, linearised),
                names=self._columns(),
            )
        else:
            learner = self.learner_.copy()  # a user's own loss may still raise below
        if linearised:
            mixed = play_linearised(learner, loss, predictions, outcomes, awake)
        else:
            with np.errstate(over="ignore"):  # the learner refuses infinite losses
                losses = loss.evaluate(predictions, outcomes[:, None])
            played = learner.run(losses, awake=awake, distributions=True).distributions
            mixed = loss.combine(predictions, np.asarray(played, dtype=np.float64))
        self._add_up(loss, mixed, predictions, outcomes, awake, fresh)
        self.loss_, self.learner_, self.linearised_ = loss, learner, linearised
        return mixed

    def _add_up(
        self,
        loss: Loss,
        mixed: FloatArray,
        predictions: FloatArray,
        outcomes: FloatArray,
        awake: BoolArray | None,
        fresh: bool,
    ) -> None:
        """Add the losses of these rounds to the totals, one round after another."""
        heard = predictions if awake is None else np.where(awake, predictions, mixed[:, None])
        with np.errstate(over="ignore"):
            own = loss.evaluate(mixed, outcomes)[:, None]
            lost = np.hstack([own, loss.evaluate(heard, outcomes[:, None])])
            before = np.zeros(lost.shape[1])
            if not fresh:
                before[0], before[1:] = self.total_loss_, self.expert_losses_
            # batches of any size add in the same order
            totals = np.add.accumulate(np.vstack([before, lost]), axis=0)[-1]
        if not np.isfinite(totals).all():
            raise ValueError("predictions and outcomes are so large that their losses overflow")
        counts = np.zeros(lost.shape[1] - 1, np.int64) if fresh else self.rounds_awake_
        self.total_loss_, self.expert_losses_ = float(totals[0]), totals[1:].copy()
        self.rounds_awake_ = counts + (len(lost) if awake is None else awake.sum(axis=0))

    def _experts(self, loss: Loss, X: FloatArray) -> tuple[FloatArray, BoolArray | None]:
        """Return checked predictions, and which experts are awake if any sleeps.

        In the place of a missing prediction stands the lowest one of its row, without weight.
        """
        awake = ~np.isnan(X)
        if awake.all():
            filled, mask = X, None
        else:
            if not awake.any(axis=1).all():
                row = int(np.argmin(awake.any(axis=1)))
                raise ValueError(f"a round needs at least one prediction; row {row} has only NaN")
            filled, mask = np.where(awake, X, np.nanmin(X, axis=1)[:, None]), awake
        checked = loss.nearest if self.outside == "nearest" else loss.check_predictions
        return checked(filled), mask

    def _columns(self) -> list[str] | None:
        columns = vars(self).get("feature_names_in_")
        return None if columns is None else [str(column) for column in columns]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # the experts bound the score
        tags.input_tags.allow_nan = True
        return tags


def _digest(rows: FloatArray) -> bytes:
    return hashlib.sha256(repr(rows.shape).encode() + np.ascontiguousarray(rows).tobytes()).digest()

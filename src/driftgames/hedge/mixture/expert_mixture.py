"""Combining forecasters: a Hedge learner behind the interface of scikit-learn."""

from __future__ import annotations

import hashlib
import math
import threading
import warnings
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from driftgames.core.checks import as_floats, float_errors, shown, unmask
from driftgames.core.data_frames import as_frame, by_name, labels_of
from driftgames.core.text import listed
from driftgames.core.typing import BoolArray, Content, FloatArray
from driftgames.hedge.losses.loss_base import Loss, LossFunction, Range
from driftgames.hedge.losses.make_loss import make_loss
from driftgames.hedge.mixture.hindsight import CombinationCertificate, best_combination
from driftgames.hedge.mixture.mixture_game import MixtureGame, new_game
from driftgames.hedge.mixture.mixture_state import SavedMixture, check_outside
from driftgames.hedge.named_learners import LearnerChoice

__all__ = ["ExpertMixture", "LookAheadWarning"]


class LookAheadWarning(UserWarning):
    """Predictions of past rounds know the outcomes of these rounds."""


class ExpertMixture(SavedMixture, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""A combination of experts' predictions, re-weighted after every outcome.

    .. math:: \hat y_t = \sum_i p_{t,i} x_{t,i}, \qquad
              \ell_{t,i} = g_t\,x_{t,i}, \quad g_t = \ell'(\hat y_t, y_t)

    The columns of ``X`` are the experts' predictions, its rows the rounds in order. Four
    `combiners` of these predictions are experts too: the mean, the mean by inverse squared
    errors, ridge regression with forgetting and least squares over convex combinations. ``p_t``
    is the distribution that a Hedge learner plays before it sees round ``t``, and it is charged
    the losses linearised at the mixture's own prediction. The mixture then competes with the best
    **convex combination** q of experts and combiners. A convex loss lies above its tangents, and
    a linear function is largest at a corner of the simplex, so for every q

    .. math:: \sum_t \ell(\hat y_t, y_t) - \ell(q\cdot x_t, y_t)
              \le \sum_t g_t (\hat y_t - q\cdot x_t)
              \le \max_i \sum_t r_{t,i}, \qquad r_{t,i} = g_t (\hat y_t - x_{t,i})

    No range is guessed: the default learner, `AdaNormalHedge`, divides regrets by the largest one
    so far. With the largest regret S of a round and :math:`C_i = \sum_t |r_{t,i}|` the regret to
    an expert or combiner of prior :math:`q_i` is at most

    .. math:: S - S_1 + \sqrt{3 S C_i \ln(B/q_i)}

    with the first of these scales, :math:`S_1`, and the B of `bounds.ada_normal_hedge_scaled`.
    The experts share half of the prior. The Hedge game is that of [LS14, Sec. 3.1].

    A missing forecast (NaN) is an expert that sleeps. It has no weight in that round and is
    charged the mixture's own loss. This is the same game as one in which the expert says what the
    mixture says, so all bounds hold for the forecasts with the gaps filled in this way.

    ``tracking=True`` is for experts that change. The learner, `AdaFixedShare`, is charged the
    losses of experts and combiners themselves, and the mixture competes with the best **sequence**
    of them: ``learner_.run_bound(switches=m)`` bounds the regret to those that switch m times.

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
        actions, and with ``loss_range`` and ``names`` as keywords; with combiners with ``prior``
        too. Default: without a range, AdaNormalHedge on linearised losses and AdaHedge on others.
    outside : {"error", "nearest"}
        A prediction outside the range is an error, or it is moved to the nearer end. An outcome
        outside the range is always an error.
    linearise : bool, optional
        Whether the learner is charged linearised losses, which the loss must have a gradient for.
        If not, it is charged :math:`\ell(x_{t,i}, y_t)` and competes with the best expert alone.
        Default: if the loss has a gradient; with ``tracking`` never.
    combiners : bool, optional
        Whether combiners of the experts join them; the loss must have a gradient. Default: with
        the default learner on linearised losses, or tracking. Without them every prediction is a
        convex combination of the experts'.
    tracking : bool
        Whether the mixture follows experts that change. A learner by name must have a form that
        tracks. Default: False.

    Attributes
    ----------
    learner_ : ExpertLearner
        The learner, with its clock and totals; its actions are the experts, then the combiners.
    loss_ : Loss
        The loss in use.
    total_loss_ : float
        The loss of the mixture's own predictions, each made before its outcome was seen.
    expert_losses_ : array
        The total loss of each expert; where it slept, the mixture's own loss.
    combiner_losses_ : array
        The total loss of each combiner; empty without them.
    rounds_awake_ : array
        The number of rounds in which each expert was awake.
    linearised_ : bool
        Whether the learner is charged linearised losses.

    Examples
    --------
    >>> X = [[20, 90], [40, 80], [90, 70]]
    >>> mixture = ExpertMixture()
    >>> mixture.predict_then_fit(X, [70, 60, 75]).round(1)
    array([55. , 76. , 75.2])
    >>> mixture.weights_.round(3)
    array([0.257, 0.743])
    >>> mixture.predict([[20, 80], [None, 80]]).round(1)
    array([64.6, 80. ])
    >>> round(mixture.step([30, 85], 65), 1)  # predict, then learn
    70.9
    """

    def __init__(
        self,
        loss: str | Loss | LossFunction = "square",
        outcome_range: Range | None = None,
        learner: LearnerChoice = None,
        *,
        outside: str = "error",
        linearise: bool | None = None,
        combiners: bool | None = None,
        tracking: bool = False,
    ) -> None:
        self.loss = loss
        self.outcome_range = outcome_range
        self.learner = learner
        self.outside = outside
        self.linearise = linearise
        self.combiners = combiners
        self.tracking = tracking

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

        Rounds are added to those played before, as with `partial_fit`. A round whose outcome is
        NaN is predicted, and nothing is learnt from it.
        """
        return self._play(X, y, fresh=None, gaps=True)

    def step(self, x: npt.ArrayLike, y: float) -> float:
        """Predict a round, then learn its outcome; return the prediction.

        It gives the bits of `predict_then_fit` on a matrix of one row, without its overhead. A
        mapping or a Series is read by the names of the experts; the first round may give them. If
        the outcome is NaN, nothing is learnt. A failed call does not change the mixture.
        """
        with self.__dict__.setdefault("_lock", threading.RLock()):
            game = self.__dict__.get("game_")
            named = None if type(x) is np.ndarray else labels_of(x)
            if named is not None:
                if game is not None and self._columns() is None:
                    raise ValueError(
                        f"x has the names {listed(named)}, and the mixture was given none before"
                    )
                x = by_name("x", x, None if game is None else self._columns())
            if game is None:
                rows, column = as_floats("x", x, missing=True)[None], as_floats("y", y)[None]
                return float(self._play(rows, column, fresh=True, gaps=True, names=named)[0])
            row = as_floats("x", x)
            if row.shape != (game.n_experts,):
                raise ValueError(f"x must be of shape ({game.n_experts},); got shape {row.shape}")
            outcome = y if type(y) is float else float(as_floats("y", y))
            if math.isnan(outcome):
                return float(game.predict(*self._experts(self.loss_, row[None]))[0])
            mixed = game.step(row, outcome, self.outside == "nearest")
            if mixed is None:  # the slow way names what is wrong
                mixed = float(self._play_arrays(row[None], np.array([outcome]))[0])
            return mixed

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Return the combinations of these predictions under the current weights.

        The weights know every round that was played. For rows that were among them, this looks
        ahead; `predict_then_fit` does not.
        """
        game = self._game()
        if self._is_plain(X):
            rows = X
            if len(X) == 1:
                with self.__dict__.setdefault("_lock", threading.RLock()):
                    one = game.predict_row(np.ascontiguousarray(X[0]), self.outside == "nearest")
                if one is not None:
                    return np.array([one])
        else:
            _check_no_text(X)
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
        return self.game_.predict(*self._experts(self.loss_, rows))

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

    def _play(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        fresh: bool | None,
        gaps: bool = False,
        names: Sequence[str] | None = None,
    ) -> FloatArray:
        """Play rounds; ``fresh=None`` begins only where nothing was played before.

        With ``gaps`` outcomes may be NaN. ``names`` are those of the experts of an array.
        """
        with self.__dict__.setdefault("_lock", threading.RLock()):  # as that of a `Stateful`
            before = self.__dict__.copy()
            if fresh is None:
                fresh = "game_" not in before
            try:
                known = None
                if gaps and np.isnan(column := as_floats("y", y)).any():
                    known = ~np.isnan(column)
                    y = np.where(known, column, 0.0)
                if not fresh and self._is_plain(X) and _is_outcomes(y, len(X)):
                    return self._play_arrays(X, y, known=known)
                _check_no_text(X)
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
                if names is not None:
                    self.feature_names_in_ = np.array(names, dtype=object)
                return self._play_arrays(rows, column, fresh=fresh, known=known)
            except Exception:
                self.__dict__ = before
                raise

    def __getstate__(self) -> Content:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_lock"}

    def _is_plain(self, X: object) -> TypeGuard[FloatArray]:
        """Whether these are rows of floats that need none of scikit-learn's checks."""
        return (
            "feature_names_in_" not in vars(self)
            and type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == vars(self).get("n_features_in_")
        )

    def _play_arrays(
        self,
        rows: FloatArray,
        column: FloatArray,
        *,
        fresh: bool = False,
        known: BoolArray | None = None,
    ) -> FloatArray:
        """Play rounds of float64; where an outcome is not ``known``, only predict."""
        check_outside(self.outside)
        if not fresh and len(rows) == 1 and known is None:
            row = np.ascontiguousarray(rows[0])
            mixed = self.game_.step(row, float(column[0]), self.outside == "nearest")
            if mixed is not None:
                return np.array([mixed])
        loss = make_loss(self.loss, self.outcome_range, any_size=True) if fresh else self.loss_
        outcomes = loss.check_outcomes(column if known is None else column[known])
        forecasts, awake = self._experts(loss, rows)
        # a user's own loss may still raise, and a batch may end in the middle
        game = self._new_game(loss, rows.shape[1]) if fresh else self.game_.copy()
        if known is None:
            predictions = game.play(forecasts, outcomes, awake)
        else:
            predictions = _play_known(game, forecasts, outcomes, awake, known)
        self.game_ = game
        return predictions

    def _new_game(self, loss: Loss, n: int) -> MixtureGame:
        return new_game(
            loss,
            n,
            learner=self.learner,
            linearise=self.linearise,
            combiners=self.combiners,
            tracking=self.tracking,
            names=self._columns(),
        )

    def _experts(self, loss: Loss, X: FloatArray) -> tuple[FloatArray, BoolArray | None]:
        return _check_experts(loss, X, to_nearest=self.outside == "nearest")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # the experts bound the score
        tags.input_tags.allow_nan = True
        return tags


def _play_known(
    game: MixtureGame,
    forecasts: FloatArray,
    outcomes: FloatArray,
    awake: BoolArray | None,
    known: BoolArray,
) -> FloatArray:
    """Play the rounds that are ``known``, whose ``outcomes`` these are, and predict the others."""
    predictions, played = np.empty(len(known)), 0
    ends = [*(np.flatnonzero(np.diff(known)) + 1), len(known)]
    for first, end in zip([0, *ends], ends, strict=False):
        rows, mask = forecasts[first:end], None if awake is None else awake[first:end]
        if known[first]:
            predictions[first:end] = game.play(rows, outcomes[played : played + end - first], mask)
            played += end - first
        else:
            predictions[first:end] = game.predict(rows, mask)
    return predictions


def _is_outcomes(y: object, n: int) -> TypeGuard[FloatArray]:
    """Whether these are ``n`` floats."""
    return type(y) is np.ndarray and y.dtype == np.float64 and y.shape == (n,)


def _check_no_text(X: object) -> None:
    """Raise ValueError for texts, dates and records, which scikit-learn would read as numbers."""
    frame = as_frame(X)
    if frame is not None:
        for name, kind in frame.schema.items():
            if kind.is_temporal() or str(kind).startswith(("String", "Binary", "Categor", "Enum")):
                raise ValueError(f"X must be numbers; the column {shown(name)} is of type {kind}")
        return
    try:
        array = np.asarray(X)
    except ValueError:  # ragged rows, of which scikit-learn says what is wrong
        return
    texts = array.dtype.kind == "O" and any(isinstance(each, str | bytes) for each in array.flat)
    if texts or array.dtype.kind in "mMSUV":
        raise ValueError(f"X must be numbers; got {shown(X)}")


def _check_experts(
    loss: Loss, X: FloatArray, *, to_nearest: bool
) -> tuple[FloatArray, BoolArray | None]:
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
    checked = loss.nearest if to_nearest else loss.check_predictions
    return checked(filled), mask


def _digest(rows: FloatArray) -> bytes:
    """Return what tells rows from others."""
    return hashlib.sha256(repr(rows.shape).encode() + np.ascontiguousarray(rows).tobytes()).digest()

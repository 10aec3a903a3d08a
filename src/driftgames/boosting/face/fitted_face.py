"""The fitted attributes of a booster: what scikit-learn's users know its model and record by."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.training_record import Fitted, History, TrainingRecord
from driftgames.boosting.model.trees import Trees
from driftgames.core.typing import FloatArray


class FittedFace:
    """A booster that has a fitted model, or none yet. Its attributes cannot be assigned to."""

    n_features_in_: int
    feature_names_in_: Array
    _fitted: Fitted | None = None

    def adopt(self, model: FittedModel, record: TrainingRecord) -> Self:
        """Take over a fitted model and the record of its fit, as if they were of this booster.

        The settings stay. A fit that goes on (``warm_start``) compares them with the record.
        """
        fitted, names = Fitted(model, record), model.feature_names
        stale = names is None and hasattr(self, "feature_names_in_")
        # no call stands between these, so that no interruption comes between them
        self._fitted = fitted
        self.n_features_in_ = model.n_features
        if names is not None:
            self.feature_names_in_ = names
        elif stale:
            del self.feature_names_in_
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None

    def _get_fitted(self) -> Fitted:
        if self._fitted is None:
            check_is_fitted(self)  # raises NotFittedError, which is an AttributeError too
            raise AssertionError
        return self._fitted

    def _only_if(self, name: str, value: Any) -> Any:
        """Return a value; if it is None, `hasattr` is false for this name."""
        if value is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return value

    @property
    def model_(self) -> FittedModel:
        """The fitted model, which is never changed: a fit makes another one."""
        return self._get_fitted().model

    @property
    def record_(self) -> TrainingRecord:
        """How the model was fitted."""
        return self._get_fitted().record

    @property
    def classes_(self) -> Array:
        """The labels in order."""
        return self.model_.classes

    @property
    def stumps_(self) -> Stumps:
        """The weak hypotheses in order, if they are stumps of two classes."""
        return self.model_.stumps

    @property
    def trees_(self) -> Trees:
        """The weak hypotheses in order, if they are trees or of several classes."""
        return self.model_.trees

    @property
    def estimators_(self) -> list[Any]:
        """The weak hypotheses in order, if ``estimator`` was given."""
        return list(self._only_if("estimators_", self.model_.estimators))

    @property
    def estimator_weights_(self) -> FloatArray:
        """The weight of each vote."""
        return self.model_.vote_weights

    @property
    def encoder_(self) -> CategoryEncoder | None:
        """The columns that stumps and trees ask about, if there are categories."""
        return None if self._fitted is None else self._fitted.model.encoder

    @property
    def calibration_(self) -> Calibration | None:
        """The sigmoid from votes to probabilities, if there is one."""
        return self.model_.calibration

    @property
    def chosen_(self) -> Choice:
        """What the examples held out chose, if anything was left to them."""
        choice: Choice = self._only_if("chosen_", self.record_.choice)
        return choice if self.record_.members else choice.beside(self.n_iter_)

    @property
    def n_iter_(self) -> int:
        """How many weak hypotheses vote."""
        return self.model_.n_rounds

    @property
    def history_(self) -> History:
        """The numbers of each round."""
        return self.record_.history

    @property
    def ended_early_(self) -> bool:
        """Whether the fit ended because no weak hypothesis had an edge."""
        return self.record_.ended_early

    @property
    def evals_result_(self) -> dict[str, dict[str, FloatArray]]:
        """The numbers of each evaluation set, if there was one."""
        results: dict[str, dict[str, FloatArray]]
        results = self._only_if("evals_result_", self.record_.evals_result)
        return results

    @property
    def validation_score_(self) -> FloatArray:
        """The scores of early stopping, if it was asked for."""
        scores: FloatArray = self._only_if("validation_score_", self.record_.validation_score)
        return scores

"""What each part of the default brings: settings for the comparison of accuracy.

``python -m bench accuracy --half choose --settings bench/choices.py --only-report`` shows them
beside the peers; without ``--only-report`` it measures what its file of results lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self
from unittest.mock import patch

from driftgames import NHBoostDTClassifier
from driftgames.boosting.fit import choosing, race


class _Changed(NHBoostDTClassifier):
    """The default with a part of its rule changed; it is saved as the default."""

    def save(self, path: Any) -> None:
        """Write the model."""
        plain = NHBoostDTClassifier(**self.get_params(deep=False))
        plain.adopt(self.model_, self.record_).save(path)


class TenFolds(_Changed):
    """The default with ten folds instead of five."""

    def fit(self, X: Any, y: Any, *args: Any, **settings: Any) -> Self:
        """Fit with ten folds."""
        with patch.object(choosing, "N_FOLDS", 10):
            return super().fit(X, y, *args, **settings)


class AllTrials(_Changed):
    """The default without its race: all sizes play all rounds."""

    def fit(self, X: Any, y: Any, *args: Any, **settings: Any) -> Self:
        """Fit with a whole table of trials."""
        with ExitStack() as stack:
            stack.enter_context(patch.object(race.Entrant, "ended", False))
            stack.enter_context(patch.object(race.Entrant, "is_behind", lambda *_: False))
            stack.enter_context(patch.object(race, "KEPT_VOTES", len(race.STAGES)))
            return super().fit(X, y, *args, **settings)


def _with(**settings: Any) -> Callable[[], NHBoostDTClassifier]:
    return lambda: NHBoostDTClassifier(n_jobs=1, **settings)


SETTINGS: dict[str, Callable[[], Any]] = {
    "one booster": _with(ensemble=False),
    "8 leaves": _with(max_leaves=8),
    "200 rounds": _with(n_estimators=200),
    "8 leaves and 200 rounds": _with(max_leaves=8, n_estimators=200),
    "2 leaves and 200 rounds": _with(max_leaves=2, n_estimators=200),
    "ten folds": lambda: TenFolds(n_jobs=1),
    "all trials": lambda: AllTrials(n_jobs=1),
}
"""Our booster with one part of the default changed."""

"""Settings of our regressor to compare: what it costs to hold examples out for a promise.

``python -m bench regression --half choose --settings bench/regression_settings.py``
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from driftgames import NHBoostDTRegressor

SETTINGS: dict[str, Callable[[], NHBoostDTRegressor]] = {
    "a tenth held out": partial(NHBoostDTRegressor, validation_fraction=0.1, n_jobs=1),
    "a fifth held out": partial(NHBoostDTRegressor, validation_fraction=0.2, n_jobs=1),
}
"""By their names."""

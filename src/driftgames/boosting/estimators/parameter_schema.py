"""The parameters of boosters in model files: what a file may hold, and what it leaves out."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from driftgames.boosting.data.cuts import MOST_BINS
from driftgames.boosting.face.parameters import SharedParameters
from driftgames.boosting.growth.shape import CRITERIA
from driftgames.boosting.model.model_schema import LABEL
from driftgames.core.checks import is_real
from driftgames.core.description import is_described
from driftgames.core.schema import (
    JOBS,
    LARGEST,
    NULL,
    POSITIVE,
    STRING,
    Requirement,
    between,
    integer,
    one_of,
)

_ALWAYS = {
    "estimator",
    "max_bins",
    "max_depth",  # boosters have different defaults
    "max_leaves",
    "n_jobs",
    "random_state",
    "verbose",
    "warm_start",
}
LEFT_OUT: dict[str, Any] = {
    each.name: each.default for each in fields(SharedParameters) if each.name not in _ALWAYS
}
"""The parameters that a file leaves out at these defaults, which all boosters share."""


def _is_class_weight(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not LABEL.allows(value[0]):
        return False
    return POSITIVE.allows(value[1])


PARAMETERS: dict[str, Requirement] = {
    "calibrate": one_of(True, False),
    "categorical_features": Requirement(
        "a string or a list of names, positions or truth values",
        lambda v: (
            isinstance(v, str)
            or (isinstance(v, list) and all(isinstance(each, (str, int)) for each in v))
        ),
    ).or_null,
    "class_weight": Requirement(
        '"balanced", or a list of pairs of a label and a number',
        lambda v: v == "balanced" or (isinstance(v, list) and all(map(_is_class_weight, v))),
    ).or_null,
    "criterion": one_of(*CRITERIA),
    "d": POSITIVE,
    "early_stopping": Requirement(
        'true, false, "auto" or "cv"',
        lambda v: v in (True, False, "auto", "cv") and type(v) in (bool, str),
    ),
    "edge": Requirement("a number in (0, 0.5)", lambda v: is_real(v) and 0 < v < 0.5),
    "ensemble": Requirement(
        'true, false or "auto"', lambda v: v in (True, False, "auto") and type(v) in (bool, str)
    ),
    "estimator": NULL,
    "horizon": integer(1).or_null,
    "max_bins": Requirement(
        f'an integer from 2 to {MOST_BINS} or "auto"',
        lambda v: v == "auto" or (type(v) is int and 2 <= v <= MOST_BINS),
    ),
    "max_depth": integer(1).or_null,
    "max_leaves": Requirement(
        'an integer from 2, "auto" or null',
        lambda v: v is None or v == "auto" or (type(v) is int and v >= 2),
    ),
    "min_samples_leaf": integer(1),
    "min_weight_fraction_leaf": between(0, 0.5),
    "monotonic_cst": Requirement(
        "a list, or an object by feature names, of -1, 0 and 1",
        lambda v: (
            isinstance(v, (list, dict))
            and all(
                type(each) is int and each in (-1, 0, 1)
                for each in (v.values() if isinstance(v, dict) else v)
            )
        ),
    ).or_null,
    "n_estimators": Requirement(
        'an integer from 1 or "auto"', lambda v: v == "auto" or (type(v) is int and v >= 1)
    ),
    "n_iter_no_change": integer(1),
    "n_jobs": JOBS.or_null,
    "potential": Requirement("a potential", is_described).or_null,
    "random_state": integer(0).or_null,
    "scoring": STRING.or_null,
    "tol": between(0, LARGEST),
    "validation_fraction": Requirement(
        "a number in (0, 1) or an integer from 1",
        lambda v: is_real(v) and (0 < v < 1 or (type(v) is int and v >= 1)),
    ).or_null,
    "verbose": Requirement("an integer, true or false", lambda v: isinstance(v, int)),
    "warm_start": Requirement("true or false", lambda v: v in (True, False)),
}
"""The requirement on each parameter, by its name."""

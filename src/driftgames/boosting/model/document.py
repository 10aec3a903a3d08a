"""The fitted part of a model file: a model and its record as JSON, as docs/model_format.md says.

The schema has one requirement for each member of a file. A member of a member has a dotted name,
such as ``stumps.feature``. Trees are arrays here, which `tree_document` packs and checks.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.pairs import OPERATIONS, ColumnPairs
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.choice import (
    CHOSEN,
    CHOSEN_NUMBERS,
    OUTCOMES,
    Choice,
    PairTrial,
    Trial,
)
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.training_record import (
    COLUMNS,
    VOTE_RULES,
    Fitted,
    HeldOut,
    Member,
    TrainingRecord,
)
from driftgames.boosting.model.tree_document import Arrays, arrays_of, check_trees, trees_of
from driftgames.boosting.model.trees import Trees
from driftgames.certificates.margins import Margins
from driftgames.certificates.new_log_loss import LossCounts
from driftgames.core.checks import is_real, shown
from driftgames.core.schema import (
    LABEL,
    LARGEST,
    LIST,
    NULL,
    SHARE,
    STRING,
    Requirement,
    between,
    dotted,
    integer,
    list_of,
    one_of,
)
from driftgames.core.typing import Content


def encode_fitted(model: FittedModel, record: TrainingRecord) -> Content:
    """Return the members of a document that describe a model and its fit."""
    names, margins, calibration = model.feature_names, record.margins, model.calibration
    return {
        "classes": _encode_labels(model.classes),
        "n_features_in": int(model.n_features),
        "feature_names_in": None if names is None else [str(name) for name in names],
        **({} if model.encoder is None else {"categories": model.encoder.encode()}),
        **({} if model.pairs is None else {"pairs": [list(each) for each in model.pairs]}),
        **_encode_hypotheses(model),
        "estimator_weights": model.vote_weights.tolist(),
        "history": {name: values.tolist() for name, values in record.history.items()},
        "ended_early": bool(record.ended_early),
        "margins": None
        if margins is None
        else {"values": margins.values.tolist(), "masses": margins.masses.tolist()},
        "default_vote": model.default_vote.tolist(),
        "calibration": None if calibration is None else _encode_calibration(calibration),
        **_encode_choice(record),
    }


def _encode_calibration(calibration: Calibration) -> Content:
    """Return the numbers of a sigmoid; intercepts of classes only if there are any."""
    numbers: Content = {"slope": calibration.slope, "intercept": calibration.intercept}
    if calibration.class_intercepts:
        numbers["class_intercepts"] = list(calibration.class_intercepts)
    return numbers


def _decode_calibration(content: Content, class_weighted: bool) -> Calibration:
    intercepts = tuple(map(float, content.get("class_intercepts", ())))
    return Calibration(content["slope"], content["intercept"], intercepts, class_weighted)


def _encode_choice(record: TrainingRecord) -> Content:
    """Return what was chosen and held out, and the members of a mean: only if there is any.

    How long a choice took is left out: the same fit gives the same file.
    """
    content: Content = {}
    if (choice := record.choice) is not None:
        content["chosen"] = {name: getattr(choice, name) for name in CHOSEN_NUMBERS}
        content["chosen"]["trials"] = [list(trial) for trial in choice.trials]
        if choice.pairs is not None:
            content["chosen"]["pairs"] = list(choice.pairs)
    if record.held_out is not None:
        n_examples, n_errors, losses, n_rules, _ = record.held_out
        content["held_out"] = [list(each) for each in zip(n_examples, n_errors, strict=True)]
        if n_rules != VOTE_RULES:
            content["held_out_rules"] = n_rules
        if losses:
            content["held_out_losses"] = [[mean, list(map(list, pairs))] for mean, pairs in losses]
    if record.members:
        content["members"] = [list(member) for member in record.members]
        content["mean_error"] = record.mean_error
    return content


def _decode_choice(content: Content) -> dict[str, Any]:
    results: dict[str, Any] = {"mean_error": content.get("mean_error")}
    if "chosen" in content:
        numbers = {name: content["chosen"][name] for name in CHOSEN_NUMBERS}
        trials = tuple(Trial(*each) for each in content["chosen"]["trials"])
        pairs = content["chosen"].get("pairs")
        tried = None if pairs is None else PairTrial(*pairs)
        results["choice"] = Choice(**numbers, trials=trials, pairs=tried)
    if "held_out" in content:
        n_examples, n_errors = zip(*content["held_out"], strict=True)
        losses = tuple(
            LossCounts(float(mean), tuple((level, n) for level, n in pairs))
            for mean, pairs in content.get("held_out_losses", [])
        )
        if losses and [part.n_examples for part in losses] != list(n_examples):
            raise ValueError("held_out_losses must count the examples of held_out")
        n_rules = content.get("held_out_rules", VOTE_RULES)
        results["held_out"] = HeldOut(n_examples, n_errors, losses, n_rules)
    results["members"] = tuple(Member(*each) for each in content.get("members", []))
    return results


def decode_fitted(content: Content, settings: Mapping[str, Any]) -> Fitted:
    """Return what `encode_fitted` describes, of a fit with these settings."""
    hypotheses: Stumps | Trees
    if "trees" in content:
        hypotheses = trees_of(content["trees"])
    else:
        hypotheses = Stumps(**{n: _numbers(each) for n, each in content["stumps"].items()})
    names, margins = content["feature_names_in"], content["margins"]
    calibration, categories = content["calibration"], content.get("categories")
    class_weighted = settings.get("class_weight") is not None
    model = FittedModel(
        _decode_labels(content["classes"]),
        content["n_features_in"],
        hypotheses,
        _numbers(content["estimator_weights"]),
        _numbers(content["default_vote"]),
        None if names is None else np.array(names, dtype=object),
        None if categories is None else CategoryEncoder.decode(categories),
        None if calibration is None else _decode_calibration(calibration, class_weighted),
        None if "pairs" not in content else ColumnPairs(*zip(*content["pairs"], strict=True)),
    )
    record = TrainingRecord(
        {name: _numbers(content["history"][name]) for name in COLUMNS},
        None
        if margins is None
        else Margins(_numbers(margins["values"]), np.array(margins["masses"])),
        settings,
        content["ended_early"],
        **_decode_choice(content),
    )
    return Fitted(model, record)


def _encode_hypotheses(model: FittedModel) -> Content:
    """Return the stumps or the trees of a model; infinity is written as a string."""
    if len(model.trees):
        return {"trees": arrays_of(model.trees)}
    stumps = model.stumps
    lists = {each.name: getattr(stumps, each.name).tolist() for each in fields(stumps)}
    lists["threshold"] = ["inf" if x == np.inf else x for x in lists["threshold"]]
    return {"stumps": lists}


def _numbers(values: list[Any]) -> Array:
    return np.array([float(value) for value in values])


def _encode_labels(labels: Array) -> Content:
    values = labels.tolist()
    plain = all(isinstance(value, (bool, int, float, str)) for value in values)
    if not plain or labels.dtype.kind not in "biufUO":
        raise ValueError(f"classes must be numbers or strings to be saved; got {shown(values)}")
    return {"dtype": labels.dtype.str, "values": values}


def _decode_labels(encoded: Content) -> Array:
    values = encoded["values"]
    try:
        labels = np.array(values, dtype=np.dtype(encoded["dtype"]))
        same = repr(np.unique(labels).tolist()) == repr(values)  # True, 1 and 1.0 differ
    except (OverflowError, TypeError, ValueError):
        same = False
    if not same:
        raise ValueError(
            f"classes.values must be {'two' if len(values) == 2 else len(values)} labels of type "
            f"{encoded['dtype']}, the lesser first; "
            f"got {reprlib.repr(values)}"
        )
    return labels


_MOST_FEATURES = 2**31 - 1  # what the stumps' feature numbers can hold
_MOST_BYTES = 2**20  # of a label: a file must not ask for more memory than it is long


def check_model(
    content: Content,
    estimators: Mapping[str, Mapping[str, Requirement]],
    left_out: Iterable[str],
    pairs_of_example: int | None = None,
) -> None:
    """Raise `ValueError` for the first member of a model that is missing, unknown or wrong.

    ``estimators`` gives the parameters of each class that a file can hold. Those that are
    ``left_out`` need not be there. The margins count an example ``pairs_of_example`` times.
    Default: as classes do.
    """
    members = dotted({name: each for name, each in content.items() if name != "trees"})
    # the other requirements depend on these
    one_of(*estimators).check("estimator", members.get("estimator"))
    _FEATURES.check("n_features_in", members.get("n_features_in"))
    if "categories" in members:
        list_of(members["n_features_in"], _CATEGORIES).check("categories", members["categories"])
    if "trees" not in content:
        LIST.check("stumps.feature", members.get("stumps.feature"))
    parameters = estimators[members["estimator"]]
    schema = _schema(members, content.get("trees")) | {
        f"parameters.{name}": rule for name, rule in parameters.items()
    }
    optional = {
        "categories",
        "pairs",
        "calibration.class_intercepts",
        *_CHOICE,
        *(f"parameters.{name}" for name in left_out),
    }
    for name in schema:
        if name not in members and name not in optional:
            raise ValueError(f"{name} is missing")
    for name, value in members.items():
        if name not in schema:
            raise ValueError(f"{name} is not a member of such a model")
        schema[name].check(name, value)
    if "chosen" in content:
        _check_chosen(members)
    if "members" in content or "mean_error" in content:
        _check_mean(members, pairs_of_example)


def _check_chosen(members: dict[str, Any]) -> None:
    """Raise ValueError unless one trial of a table was chosen, and the numbers are those of it."""
    for name in ("trials", *CHOSEN_NUMBERS):
        if f"chosen.{name}" not in members:
            raise ValueError(f"chosen.{name} is missing")
    won = [trial[:2] for trial in members["chosen.trials"] if trial[4] == CHOSEN]
    size = [members["chosen.max_leaves"], members["chosen.n_estimators"]]
    if won != [size]:
        raise ValueError(f"chosen.trials must have one chosen trial, that of {size}; got {won}")


def _check_mean(members: dict[str, Any], pairs_of_example: int | None) -> None:
    """Raise ValueError unless the boosters of a mean have seen the examples of its margins."""
    for name in ("members", "mean_error"):
        if name not in members:
            raise ValueError(f"{name} is missing")
    boosters = members["members"]
    n_folds = _check_folds(boosters, len(members["estimator_weights"]))
    if pairs_of_example is None:
        n_classes = len(members["classes.values"])
        pairs_of_example = 1 if n_classes == 2 else 2 * (n_classes - 1)
    # every example is held out once, but for a single booster, which tells what it has seen
    seen = pairs_of_example * sum(each[1] for each in boosters[:n_folds])
    mass = max(n_folds - 1, 1) * sum(members["margins.masses"])
    if seen != mass:
        raise ValueError(
            f"members must have seen the examples of margins.masses, {mass} in all; got {seen}"
        )


def _check_folds(boosters: list[list[int]], n_rounds: int) -> int:
    """Return the number of folds; raise ValueError unless boosters have them in turn."""
    if sum(each[0] for each in boosters) != n_rounds or not n_rounds:
        raise ValueError(f"members must have {n_rounds} rounds in all, at least 1; got {boosters}")
    folds = [each[2] for each in boosters]
    n_folds = 1 + max(folds)
    if folds != [k % n_folds for k in range(len(boosters))] or len(boosters) % n_folds:
        raise ValueError(f"members must have the folds 0, 1, ... in turn; got {folds}")
    if n_folds == 1 < len(boosters):
        raise ValueError(f"members must be of two folds or more, or one; got {boosters}")
    return n_folds


def _schema(members: dict[str, Any], trees: Arrays | None) -> dict[str, Requirement]:
    """Return the requirements on all members but the parameters; check the trees, if any."""
    n_features, labels = members["n_features_in"], members.get("classes.values")
    n_classes = len(labels) if isinstance(labels, list) else 2
    n_columns = n_features  # that stumps and trees may ask about
    if "categories" in members:
        n_columns = CategoryEncoder.decode(members["categories"]).n_columns
    hypotheses: dict[str, Requirement] = {}
    if trees is not None:
        if "pairs" in members:  # stumps have none
            categories = members.get("categories", [None] * n_features)
            hypotheses["pairs"] = _pairs_of([each is None for each in categories])
            hypotheses["pairs"].check("pairs", members["pairs"])
            n_columns += len(members["pairs"])
        n_rounds = check_trees(trees, n_columns, n_classes)
    else:
        if n_classes > 2:  # stumps have one vote
            list_of(0, LABEL).check("stumps.feature", members["stumps.feature"])
        n_rounds = len(members["stumps.feature"])
        hypotheses = {
            "stumps.feature": list_of(n_rounds, integer(0, n_columns - 1)),
            "stumps.threshold": list_of(n_rounds, _THRESHOLD),
            "stumps.left_vote": list_of(n_rounds, one_of(1, -1)),
            "stumps.missing_vote": list_of(n_rounds, one_of(1, -1)),
        }
    margins = members.get("margins.values")
    n_margins = len(margins) if isinstance(margins, list) else 0
    weighed = members["estimator"] == "AdaBoostClassifier" or "members" in members
    vote_weight = _WEIGHT if weighed else _UNIT
    return {
        "estimator": STRING,
        "classes.dtype": _LABEL_TYPE,
        "classes.values": _LABELS,
        "n_features_in": _FEATURES,
        "feature_names_in": list_of(n_features, STRING).or_null,
        "categories": list_of(n_features, _CATEGORIES),
        **hypotheses,
        "estimator_weights": list_of(n_rounds, vote_weight),
        **{f"history.{name}": list_of(n_rounds, SHARE) for name in COLUMNS},
        "history.edge": list_of(n_rounds, _EDGE),
        "ended_early": one_of(True, False),
        **_CHOICE,
        "default_vote": list_of(1 if n_classes == 2 else n_classes, between(-1, 1)),
        **({"calibration": NULL} if "calibration" in members else _SIGMOID),
        "calibration.class_intercepts": list_of(n_classes, _SIGMOID["calibration.intercept"]),
        **(
            {"margins.values": _MARGINS, "margins.masses": _masses(n_margins)}
            if n_rounds
            else {"margins": NULL}
        ),
    }


def _masses(n_margins: int) -> Requirement:
    """Require as many masses as margins; an int64 holds their sum."""
    masses = list_of(n_margins, integer(1))
    return Requirement(
        f"{masses.words} with a sum below 2**62",
        lambda v: masses.allows(v) and sum(each for each in v if type(each) is int) < 2**62,
        masses.entry,
    )


def _pairs_of(is_number: Sequence[bool]) -> Requirement:
    """Require pairs of columns of numbers."""

    def allows(value: Any) -> bool:
        if not isinstance(value, list) or len(value) != 3 or value[2] not in OPERATIONS:
            return False
        left, right = value[:2]
        return (type(left) is type(right) is int and 0 <= left < right < len(is_number)) and (
            is_number[left] and is_number[right]
        )

    words = "the numbers of two columns of numbers, the lesser first, and -, * or +"
    pairs = "a list of at least one pair"
    return Requirement(
        pairs, lambda v: isinstance(v, list) and len(v) > 0, Requirement(words, allows)
    )


def _is_label_type(value: Any) -> bool:
    try:
        dtype = np.dtype(value)
    except TypeError:
        return False
    return isinstance(value, str) and dtype.kind in "biufUO" and dtype.itemsize <= _MOST_BYTES


def _is_ascending(value: object) -> bool:
    if not isinstance(value, list) or not value or not all(map(is_real, value)):
        return False
    return value[0] >= -1 and value[-1] <= 1 and all(x < y for x, y in pairwise(value))


def _is_category_column(value: object) -> bool:
    """Whether the types are right; `CategoryColumn` checks what values and ranks must be."""
    if not isinstance(value, dict) or set(value) - {"ordered"} != {"values", "missing", "ranks"}:
        return False
    if value.get("ordered", True) is not True:
        return False
    lists = [value["values"], value["ranks"], *(value["ranks"] or ())]
    if not all(isinstance(each, list) for each in lists):
        return False
    return (
        all(isinstance(each, str | bool) or is_real(each) for each in value["values"])
        and type(value["missing"]) is bool
        and all(type(rank) is int for ranks in value["ranks"] for rank in ranks)
    )


_LABELS = Requirement(
    "a list of two labels or more", lambda v: isinstance(v, list) and len(v) > 1, LABEL
)
_LABEL_TYPE = Requirement("the NumPy type of numbers or of strings", _is_label_type)
_FEATURES = integer(1, _MOST_FEATURES)
_MARGINS = Requirement("a list of ascending numbers in [-1, 1]", _is_ascending)
_TRIAL = Requirement(
    "a list of leaves, rounds, log-loss, standard error and outcome",
    lambda v: (
        isinstance(v, list)
        and len(v) == 5
        and all(type(each) is int and each >= 0 for each in v[:2])
        and all(is_real(each) and 0 <= each <= LARGEST for each in v[2:4])
        and v[4] in OUTCOMES
    ),
)
_COUNTS = integer(0)
_HELD_OUT = Requirement(
    "a number of examples from 1 to 2**40, and how many of them were wrong",
    lambda v: (
        isinstance(v, list)
        and len(v) == 2
        and all(type(each) is int for each in v)
        and 0 <= v[1] <= v[0] <= 2**40
        and v[0] > 0
    ),
)
_LOSSES = Requirement(
    "a mean log-loss up to 5, and pairs of a level up to 255, ascending, and a number of examples",
    lambda v: (
        isinstance(v, list)
        and len(v) == 2
        and is_real(v[0])
        and 0 <= v[0] <= 5
        and isinstance(v[1], list)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in v[1])
        and all(type(each) is int for pair in v[1] for each in pair)
        and all(0 <= level <= 255 and 0 < n <= 2**40 for level, n in v[1])
        and all(one[0] < other[0] for one, other in pairwise(v[1]))
    ),
)
_CHOICE = {
    **{f"chosen.{name}": _COUNTS for name in CHOSEN_NUMBERS},
    "chosen.trials": Requirement("a list of trials", LIST.allows, _TRIAL),
    "chosen.pairs": Requirement(
        "a list of a gain, its standard error and a number of candidates from 2",
        lambda v: (
            isinstance(v, list)
            and len(v) == 3
            and all(is_real(each) and abs(each) <= LARGEST for each in v[:2])
            and v[1] >= 0
            and type(v[2]) is int
            and v[2] > 1
        ),
    ),
    "held_out": Requirement("a list of pairs", LIST.allows, _HELD_OUT),
    "held_out_losses": Requirement("a list of losses", LIST.allows, _LOSSES),
    "members": Requirement("a list of members", LIST.allows, list_of(3, integer(0, 2**62))),
    "held_out_rules": integer(0, 2**30),
    "mean_error": SHARE,
}
_EDGE = Requirement("a number in (0, 0.5]", lambda v: is_real(v) and 0 < v <= 0.5)
_UNIT = Requirement("1", lambda v: is_real(v) and v == 1)
_WEIGHT = Requirement("a number in (0, 2**53]", lambda v: is_real(v) and 0 < v <= 2**53)
_THRESHOLD = Requirement(
    'a finite number or "inf"',
    lambda v: v == "inf" or (is_real(v) and -LARGEST <= v <= LARGEST),
)
_CATEGORIES = Requirement("an object of values, missing and ranks", _is_category_column).or_null
_SIGMOID = {
    "calibration.slope": between(0, LARGEST),
    "calibration.intercept": between(-LARGEST, LARGEST),
}

"""The parameters that all boosters share: one entry for each says all that is known of it.

An entry has the default, the rule that a value must meet, the text of the documentation and what a
model file may hold. The signature, the checks of `fit`, the docstrings, the command line and the
files read it: a new parameter is one entry here, and its use. Help of the command line must be
quick, so this module imports neither scikit-learn nor kernels.
"""

from __future__ import annotations

import inspect
import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.boosting.data import MOST_BINS
from driftgames.core.checks import check_flag, check_integer, is_real, shown
from driftgames.core.description import is_described
from driftgames.core.registry import choose
from driftgames.core.schema import (
    JOBS,
    LABEL,
    LARGEST,
    POSITIVE,
    STRING,
    Requirement,
    between,
    integer,
    one_of,
)

Check = Callable[[str, Any], object]
"""``check(name, value)`` raises ValueError for an invalid value."""


@dataclass(frozen=True)
class Parameter:
    """What is known of a parameter beside its name, type and default."""

    text: str
    """Its documentation: the type in the first line."""
    stored: Requirement
    """What a model file may hold."""
    check: Check | None = None
    """The rule for its values; None if the examples, or the shape of trees, have the last word."""
    binds: bool = True
    """Whether the rounds depend on it: the record of a fit keeps it then."""
    always_stored: bool = False
    """Whether a file holds it even at its default."""

    @property
    def sentences(self) -> str:
        """The documentation in plain words, without the type."""
        _, *lines = self.text.replace("`", "").splitlines()
        return " ".join(" ".join(lines).split())


def parameter(
    default: Any,
    stored: Requirement,
    text: str,
    check: Check | None = None,
    *,
    binds: bool = True,
    always_stored: bool = False,
) -> Any:
    """Return a field of a booster with all that is known of the parameter."""
    known = Parameter(_described(text), stored, check, binds, always_stored)
    return field(default=default, metadata={"parameter": known})


def _described(text: str) -> str:
    """Return the documentation of a parameter as numpydoc has it."""
    first, *rest = inspect.cleandoc(text).splitlines()
    return "\n".join([first, *(f"    {line}" for line in rest)])


def auto_or(check: Check) -> Check:
    """Return a check that also allows "auto"."""

    def checked(name: str, value: object) -> object:
        return choose(name, value, {"auto": True}) if isinstance(value, str) else check(name, value)

    return checked


def optional(check: Check) -> Check:
    """Return a check that also allows None."""
    return lambda name, value: value if value is None else check(name, value)


def at_least(least: int) -> Check:
    """Return the check of integers from ``least`` on."""
    return lambda name, value: check_integer(name, value, least=least)


def _check_bins(name: str, value: object) -> None:
    if check_integer(name, value, least=2) > MOST_BINS:
        raise ValueError(f"{name} must be at most {MOST_BINS}; got {value}")


def _check_fraction(name: str, value: Any) -> None:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if whole:
        check_integer(name, value, least=1)
    elif value is not None and not (is_real(value) and 0 < value < 1):
        raise ValueError(
            f"{name} must be a number in (0, 1), a number of examples or None; got {shown(value)}"
        )


def _check_scoring(name: str, value: object) -> None:
    if isinstance(value, str) and value != "loss":
        from sklearn.metrics import get_scorer_names  # slow to import

        if value not in get_scorer_names():
            raise ValueError(
                f'{name} must be "loss" or a name of sklearn.metrics.get_scorer_names(); '
                f"got {shown(value)}"
            )
    elif not (value is None or isinstance(value, str) or callable(value)):
        raise ValueError(
            f"{name} must be a name, a scorer of scikit-learn or None; got {shown(value)}"
        )


def _check_tolerance(name: str, value: Any) -> None:
    if not (is_real(value) and value >= 0):
        raise ValueError(f"{name} must be a number >= 0; got {shown(value)}")


def _check_verbose(name: str, value: object) -> None:
    if not (value is None or isinstance(value, bool | np.bool_) or is_real(value)):
        raise ValueError(f"{name} must be a number or a truth value; got {shown(value)}")


def _check_seed(name: str, value: object) -> None:
    generators = np.random.Generator, np.random.RandomState, np.random.BitGenerator
    if value is not None and not isinstance(value, generators):
        check_integer(name, value, least=0, limited=False)


def _is_class_weight(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not LABEL.allows(value[0]):
        return False
    return POSITIVE.allows(value[1])


def _is_constraint(value: object) -> bool:
    if not isinstance(value, list | dict):
        return False
    signs = value.values() if isinstance(value, dict) else value
    return all(type(each) is int and each in (-1, 0, 1) for each in signs)


def _check_pairs(name: str, value: object) -> None:
    if isinstance(value, str):
        choose(name, value, {"auto": True})
    elif check_flag(name, value):
        raise ValueError(f'{name} must be "auto" or False; got {shown(value)}')


_AUTO_FLAG = Requirement(
    'true, false or "auto"', lambda v: v in (True, False, "auto") and type(v) in (bool, str)
)


@dataclass(eq=False, repr=False)
class BoosterParameters:
    """The keywords that every booster takes.

    A booster is a dataclass too: its own fields come first, ``n_estimators`` among them. The
    "Parameters" of its docstring are written here.
    """

    _: KW_ONLY
    max_depth: int | None = parameter(
        1,
        integer(1).or_null,
        """max_depth : int, optional
            The most questions on the way to a vote: 1 makes stumps, more makes trees
            (docs/boosters.md). None sets no limit; then ``max_leaves`` does.""",
        optional(at_least(1)),
        always_stored=True,  # boosters have different defaults
    )
    max_leaves: int | str | None = parameter(
        None,
        Requirement(
            'an integer from 2, "auto" or null',
            lambda v: v is None or v == "auto" or (type(v) is int and v >= 2),
        ),
        """max_leaves : int or "auto", optional
            The most leaves of a tree: the leaf of the largest gain is split first. 2 makes stumps.
            "auto" chooses among 2, 4, 8, 16 and 32, or for K classes among 2, K + 2, 4K and 8K, and
            from 10,000 examples on among larger ones too, by the log-loss on examples held out;
            beside a ``max_depth`` it sets no limit.""",
        optional(auto_or(at_least(2))),
        always_stored=True,
    )
    min_samples_leaf: int = parameter(
        1,
        integer(1),
        """min_samples_leaf : int
            The least number of examples of nonzero weight in a leaf of a tree.""",
    )
    min_weight_fraction_leaf: float = parameter(
        0.0,
        between(0, 0.5),
        """min_weight_fraction_leaf : float
            The least share of the weight of all examples in a leaf of a tree, from 0 to 0.5.
            Examples of nonzero weight count with their sample weight times their class weight. If
            it is positive, ``min_samples_leaf`` must be 1.""",
    )
    ensemble: bool | str = parameter(
        "auto",
        _AUTO_FLAG,
        """ensemble : bool or "auto"
            Whether the model is the mean of the boosters that chose its size, each of which holds a
            part of the examples out. False fits one booster more, to all examples. "auto" takes the
            mean where a size was chosen, without ``eval_set``, callbacks and early stopping.""",
        auto_or(check_flag),
        binds=False,
    )
    criterion: str = parameter(
        "gini",
        one_of("gini", "kearns-mansour"),
        """criterion : {"gini", "kearns-mansour"}
            It chooses the questions of a tree; the exhaustive stump needs none.""",
    )
    max_bins: int | str = parameter(
        "auto",
        Requirement(
            f'an integer from 2 to {MOST_BINS} or "auto"',
            lambda v: v == "auto" or (type(v) is int and 2 <= v <= MOST_BINS),
        ),
        """max_bins : int or "auto"
            Bins per feature, from 2 to 255; exact if a feature has no more values than that.
            Missing values have a bin of their own. "auto" is 255, and 64 for fewer than 10,000
            examples where a size is chosen.""",
        auto_or(_check_bins),
        always_stored=True,
    )
    categorical_features: npt.ArrayLike | None = parameter(
        "from_dtype",
        Requirement(
            "a string or a list of names, positions or truth values",
            lambda v: (
                isinstance(v, str)
                or (isinstance(v, list) and all(isinstance(each, (str, int)) for each in v))
            ),
        ).or_null,
        """categorical_features : "from_dtype", list or None
            The columns that hold categories (docs/categories.md). Default: those of a data frame
            that are of category, enum or string type. A list holds names, positions or truth
            values. None: no column.""",
    )
    calibrate: bool = parameter(
        True,
        one_of(True, False),
        """calibrate : bool
            Whether `predict_proba` returns calibrated probabilities. Their sigmoid is fitted to
            votes on examples held out. That takes the time of nine more fits below 10,000 examples,
            of four below 50,000, and of less than one from there on. False leaves the share of the
            vote.""",
        check_flag,
        binds=False,
    )
    class_weight: Mapping[Any, float] | str | None = parameter(
        None,
        Requirement(
            '"balanced", or a list of pairs of a label and a number',
            lambda v: v == "balanced" or (isinstance(v, list) and all(map(_is_class_weight, v))),
        ).or_null,
        """class_weight : dict or "balanced", optional
            A factor of the weight of each class, beside ``sample_weight``; classes that a dict
            leaves out have 1. "balanced" gives all classes the same weight. It moves the vote.
            Probabilities stay those of the examples without it.""",
    )
    early_stopping: bool | str = parameter(
        False,
        _AUTO_FLAG,
        """early_stopping : bool or "auto"
            Whether to stop where the score on held-out examples no longer rises; "auto" does so
            from 10,001 examples on. The first ``eval_set`` of `fit` is scored, if there is one. To
            choose the number of rounds without an evaluation set, ``n_estimators="auto"`` is
            better.""",
        auto_or(check_flag),
    )
    validation_fraction: float | int | None = parameter(
        0.1,
        Requirement(
            "a number in (0, 1) or an integer from 1",
            lambda v: is_real(v) and (0 < v < 1 or (type(v) is int and v >= 1)),
        ).or_null,
        """validation_fraction : float, int or None
            The share or the number of examples that are held out for it. The rows are drawn by
            their contents, so that their order does not matter. None scores the training
            examples.""",
        _check_fraction,
    )
    n_iter_no_change: int = parameter(
        10,
        integer(1),
        """n_iter_no_change : int
            Stop after this many rounds without a better score.""",
        at_least(1),
        binds=False,
    )
    scoring: str | Callable[..., float] | None = parameter(
        "loss",
        STRING.or_null,
        """scoring : str, callable or None
            The score: a name or a scorer of scikit-learn, or None for the accuracy. Default:
            "loss", the log-loss of the best sigmoid of the vote.""",
        _check_scoring,
        binds=False,
    )
    tol: float = parameter(
        1e-7,
        between(0, LARGEST),
        """tol : float
            How much a score must rise to be better.""",
        _check_tolerance,
        binds=False,
    )
    monotonic_cst: Mapping[str, int] | npt.ArrayLike | None = parameter(
        None,
        Requirement(
            "a list, or an object by feature names, of -1, 0 and 1", _is_constraint
        ).or_null,
        """monotonic_cst : dict or array-like of -1, 0 and 1, optional
            Constraints, by the names of a data frame's columns or one for each feature. 1: the vote
            for ``classes_[1]`` never falls where this feature alone rises; -1: it never rises; 0:
            none. Missing values are not bound. For two classes.""",
    )
    pairs: bool | str = parameter(
        "auto",
        one_of("auto", False),
        """pairs : "auto" or False
            Whether trees may ask about differences, products and sums of two columns of numbers,
            such as ``carat - price``. "auto": such pairs join where the leaves of the trees are
            chosen and the model is a mean, from 3,000 examples on, if that clearly lowers the
            log-loss on examples held out (docs/choosing.md); `chosen_` tells which ones. False:
            they never do.""",
        _check_pairs,
        binds=False,
    )
    n_jobs: int | None = parameter(
        None,
        JOBS.or_null,
        """n_jobs : int, optional
            Threads, as joblib counts them; one inside a worker of joblib or Dask. The model does
            not depend on it.""",
        binds=False,
        always_stored=True,
    )
    random_state: int | np.random.Generator | np.random.RandomState | None = parameter(
        None,
        integer(0).or_null,
        """random_state : int, Generator or RandomState, optional
            Has no effect, because nothing is random; tools that set it on every estimator can.""",
        _check_seed,
        binds=False,
        always_stored=True,
    )
    verbose: int = parameter(
        0,
        Requirement("an integer, true or false", lambda v: isinstance(v, int)),
        """verbose : int
            Show a progress bar.""",
        _check_verbose,
        binds=False,
        always_stored=True,
    )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "n_estimators" in vars(cls):
            # Python 3.13 removes the indentation of docstrings, earlier versions keep it
            head, *sections = re.split(r"\n\n(?=\w+\n--)", inspect.cleandoc(cls.__doc__ or ""))
            own = [OWN[name] for name in inspect.get_annotations(cls) if name in OWN]
            texts = [each.text for each in (*own, *SHARED.values())]
            parameters = "\n".join(["Parameters", "----------", *texts])
            cls.__doc__ = "\n\n".join([head, parameters, *sections])


N_ESTIMATORS = Parameter(
    _described(
        """n_estimators : int or "auto"
            The largest number of rounds: one weak hypothesis votes for each. "auto" chooses by the
            log-loss on examples held out, and doubles from 25 on as long as that gains: up to 400
            below 10,000 examples and 1,600 from there on (docs/choosing.md); `chosen_` tells what
            was chosen. With ``early_stopping`` it is 400."""
    ),
    Requirement(
        'an integer from 1 or "auto"', lambda v: v == "auto" or (type(v) is int and v >= 1)
    ),
    auto_or(at_least(1)),
    binds=False,
    always_stored=True,
)
"""Every booster has it, with its own default."""

_EDGE = Requirement("a number in (0, 0.5)", lambda v: is_real(v) and 0 < v < 0.5)

SHARED: Mapping[str, Parameter] = {
    each.name: each.metadata["parameter"]
    for each in fields(BoosterParameters)
    if "parameter" in each.metadata
}
"""The parameters that all boosters share, by name."""

OWN: Mapping[str, Parameter] = {
    "n_estimators": N_ESTIMATORS,
    "d": Parameter(
        _described(
            """d : float
                The constant in the exponent of the weights. The theorem holds from 3 on, and is
                best there."""
        ),
        POSITIVE,
        POSITIVE.check,
        always_stored=True,
    ),
    "edge": Parameter(
        _described(
            """edge : float
                The least edge that every weak hypothesis is expected to have, in (0, 1/2)."""
        ),
        _EDGE,
        _EDGE.check,
        always_stored=True,
    ),
    "horizon": Parameter(
        _described(
            """horizon : int, optional
                The planned number of rounds. Default: ``n_estimators``."""
        ),
        integer(1).or_null,
        always_stored=True,
    ),
    "potential": Parameter(
        _described(
            """potential : Potential, optional
                It weighs the examples. Default: `NormalHedgeDT`, which makes NH-Boost.DT."""
        ),
        Requirement("a potential", is_described).or_null,
        always_stored=True,
    ),
}
"""Those that not all boosters have, or not with the same default, by name."""

PARAMETERS: Mapping[str, Parameter] = {**OWN, **SHARED}
"""Every parameter by its name."""

LEFT_OUT: Mapping[str, Any] = {
    each.name: each.default
    for each in fields(BoosterParameters)
    if each.name in SHARED and not SHARED[each.name].always_stored
}
"""The parameters that a file leaves out at these defaults, which all boosters share."""

RETIRED: dict[str, Any] = {"estimator": None, "warm_start": False}
"""Parameters that files of this format hold and boosters no longer have, at their only values."""


def check_parameters(values: Mapping[str, Any]) -> None:
    """Raise ValueError for the first parameter that is invalid, even if it is unused."""
    for name, value in values.items():
        check = PARAMETERS[name].check if name in PARAMETERS else None
        if check is not None:
            check(name, value)

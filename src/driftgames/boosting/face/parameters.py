"""The parameters that all boosters share, with their documentation, in one place."""

from __future__ import annotations

import inspect
import re
from dataclasses import KW_ONLY, dataclass
from typing import Any

_ROUNDS = """\
n_estimators : int or "auto"
    The largest number of rounds: one weak hypothesis votes for each. "auto" chooses among 25, 50,
    100, 200 and 400, or 200 at the most for more than ten classes, by the log-loss on examples held
    out (docs/choosing.md); `chosen_` tells what was chosen. With ``early_stopping`` it is 400, and
    with an ``estimator`` 200.
"""

_SHARED = """\
estimator : classifier, optional
    The weak learner: any scikit-learn classifier whose ``fit`` takes ``sample_weight``. It
    sees only the examples of nonzero weight. With more than two classes each round fits a
    clone for each class. Default: stumps or trees.
max_depth : int, optional
    The most questions on the way to a vote: 1 makes stumps, more makes trees (docs/trees.md). None
    sets no limit; then ``max_leaves`` does.
max_leaves : int or "auto", optional
    The most leaves of a tree: the leaf of the largest gain is split first. 2 makes stumps. "auto"
    chooses among 2, 4, 8, 16 and 32, or for K classes among 2, K + 2, 4K and 8K, by the log-loss on
    examples held out; beside a ``max_depth`` it sets no limit.
ensemble : bool or "auto"
    Whether the model is the mean of the boosters that chose its size, each of which holds a part of
    the examples out. False fits one booster more, to all examples. "auto" takes the mean where a
    size was chosen, without ``eval_set``, callbacks, early stopping and ``warm_start``.
min_samples_leaf : int
    The least number of examples of nonzero weight in a leaf of a tree.
min_weight_fraction_leaf : float
    The least share of the weight of all examples in a leaf of a tree, from 0 to 0.5. Examples of
    nonzero weight count with their sample weight times their class weight. If it is positive,
    ``min_samples_leaf`` must be 1.
criterion : {"gini", "kearns-mansour"}
    It chooses the questions of a tree; the exhaustive stump needs none.
max_bins : int or "auto"
    Bins per feature, from 2 to 255; exact if a feature has no more values than that.
    Missing values have a bin of their own. "auto" is 255, and 64 for fewer than 10,000 examples
    where a size is chosen.
categorical_features : "from_dtype", list or None
    The columns that hold categories (docs/categories.md). Default: those of a data frame that
    are of category, enum or string type. A list holds names, positions or truth values. None: no
    column.
calibrate : bool
    Whether `predict_proba` returns calibrated probabilities. Their sigmoid is fitted to votes on
    examples held out. That takes the time of nine more fits below 10,000 examples, of four below
    50,000, and of less than one from there on. False leaves the share of the vote.
class_weight : dict or "balanced", optional
    A factor of the weight of each class, beside ``sample_weight``; classes that a dict leaves out
    have 1. "balanced" gives all classes the same weight. It moves the vote. Probabilities stay
    those of the examples without it.
early_stopping : bool, "auto" or "cv"
    Whether to stop where the score on held-out examples no longer rises; "auto" does so from
    10,001 examples on. The first ``eval_set`` of `fit` is scored, if there is one. "cv" plays all
    rounds and then keeps the most whose log-loss on examples held out is within two standard errors
    of the least. It reuses the folds of ``calibrate``, at no extra cost.
validation_fraction : float, int or None
    The share or the number of examples that are held out for it. The rows are drawn by their
    contents, so that their order does not matter. None scores the training examples.
n_iter_no_change : int
    Stop after this many rounds without a better score.
scoring : str, callable or None
    The score: a name or a scorer of scikit-learn, or None for the accuracy. Default: "loss", the
    log-loss of the best sigmoid of the vote.
tol : float
    How much a score must rise to be better.
monotonic_cst : dict or array-like of -1, 0 and 1, optional
    Constraints, by the names of a data frame's columns or one for each feature. 1: the vote for
    ``classes_[1]`` never falls where this feature alone rises; -1: it never rises; 0: none.
    Missing values are not bound. For two classes, stumps and the built-in trees.
n_jobs : int, optional
    Threads, as joblib counts them; one inside a worker of joblib or Dask. The model does not
    depend on it.
random_state : int, Generator or RandomState, optional
    Seeds the weak learners that take a seed; stumps draw nothing.
verbose : int
    Show a progress bar.
warm_start : bool
    Go on from the rounds played already."""


@dataclass(eq=False, repr=False)
class SharedParameters:
    """The keywords that every booster takes.

    A booster is a dataclass too: its own fields come first, ``n_estimators`` among them. Its
    docstring describes the others, and "Parameters" are completed here.
    """

    _: KW_ONLY
    estimator: Any = None
    max_depth: int | None = 1
    max_leaves: int | str | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    ensemble: bool | str = "auto"
    criterion: str = "gini"
    max_bins: int | str = "auto"
    categorical_features: Any = "from_dtype"
    calibrate: bool = True
    class_weight: Any = None
    early_stopping: bool | str = False
    validation_fraction: float | int | None = 0.1
    n_iter_no_change: int = 10
    scoring: Any = "loss"
    tol: float = 1e-7
    monotonic_cst: Any = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    warm_start: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "n_estimators" in vars(cls):
            # Python 3.13 removes the indentation of docstrings, earlier versions keep it
            head, *sections = re.split(r"\n\n(?=\w+\n--)", inspect.cleandoc(cls.__doc__ or ""))
            heading, own = "Parameters\n----------\n", ""
            if sections and sections[0].startswith(heading):
                own = sections.pop(0).removeprefix(heading) + "\n"
            cls.__doc__ = "\n\n".join([head, heading + _ROUNDS + own + _SHARED, *sections])

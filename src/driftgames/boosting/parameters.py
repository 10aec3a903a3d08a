"""The parameters that all boosters share, with their documentation, in one place."""

from __future__ import annotations

import inspect
from dataclasses import KW_ONLY, dataclass
from typing import Any

_SHARED = """\
estimator : classifier, optional
    The weak learner: any scikit-learn classifier whose ``fit`` takes ``sample_weight``. It
    sees only the examples of nonzero weight. With more than two classes each round fits a
    clone for each class. Default: the exhaustive stump.
max_depth : int, optional
    The most questions on the way to a vote. Default: 1, a stump. With more, the weak
    hypotheses are trees (docs/trees.md). None sets no limit; then give ``max_leaves``.
max_leaves : int, optional
    The most leaves of a tree: the leaf of the largest gain is split first. Default: no limit.
min_samples_leaf : int
    The least number of examples of nonzero weight in a leaf of a tree.
criterion : {"gini", "kearns-mansour"}
    It chooses the questions of a tree; the exhaustive stump needs none.
max_bins : int
    Bins per feature, from 2 to 255; exact if a feature has no more values than that.
    Missing values have a bin of their own.
categorical_features : "from_dtype", list or None
    The columns that hold categories (docs/categories.md). Default: those of a data frame that
    are of category, enum or string type. A list holds names, positions or truth values. None: no
    column.
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

    A booster is a dataclass too: its own fields come first. Its docstring describes them under
    "Parameters", and the keywords of this class are described after them.
    """

    _: KW_ONLY
    estimator: Any = None
    max_depth: int | None = 1
    max_leaves: int | None = None
    min_samples_leaf: int = 1
    criterion: str = "gini"
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    warm_start: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Python 3.13 removes the indentation of docstrings, earlier versions keep it
        doc = inspect.cleandoc(cls.__doc__ or "")
        before, heading, rest = doc.partition("Parameters\n----------\n")
        own, gap, after = rest.partition("\n\n")
        if heading:
            cls.__doc__ = f"{before}{heading}{own}\n{_SHARED}{gap}{after}"

"""The libraries that are compared: their defaults, in one thread.

Each library gets the examples in the form in which its users hand them over. Where it knows
categories and missing values, it gets both.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pickle
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from driftgames.paper.environment import environment

Forms = tuple[Any, Any]
"""Training and test examples."""

MOST_LEVELS = 255
"""scikit-learn's histogram gradient boosting refuses a category with more levels."""


def as_they_are(X: Any, X_test: Any) -> Forms:
    """Return the frames as they are: missing values, and columns of the dtype ``category``."""
    return X, X_test


def few_levels(X: Any, X_test: Any) -> Forms:
    """Return frames in which a category of more than `MOST_LEVELS` levels is a column of codes."""
    many = [c for c in categories(X) if X[c].cat.categories.size > MOST_LEVELS]
    coded = [frame.assign(**{c: frame[c].cat.codes for c in many}) for frame in (X, X_test)]
    return coded[0], coded[1]


def as_text(X: Any, X_test: Any) -> Forms:
    """Return frames whose categories are text, and missing ones a text of their own."""
    names = categories(X)
    texts = [frame.assign(**{c: _text(frame[c]) for c in names}) for frame in (X, X_test)]
    return texts[0], texts[1]


def as_numbers(X: Any, X_test: Any) -> Forms:
    """Return matrices: categories as codes, missing numbers as the median of the training rows."""
    names = categories(X)
    coded = [frame.assign(**{c: frame[c].cat.codes for c in names}) for frame in (X, X_test)]
    medians = coded[0].median().fillna(0.0)
    first, second = (frame.fillna(medians).to_numpy(np.float64) for frame in coded)
    return first, second


def categories(X: Any) -> list[str]:
    """Return the names of the columns that are categories."""
    return [column for column in X if X[column].dtype == "category"]


def _text(column: Any) -> Any:
    return column.astype(object).where(column.notna(), "missing").astype(str)


def plain_fit(model: Any, X: Any, y: Any) -> Any:
    """Fit, as every estimator does."""
    return model.fit(X, y)


def fit_with_texts(model: Any, X: Any, y: Any) -> Any:
    """Fit, and say which columns are text, as CatBoost and ChimeraBoost want it."""
    texts = [column for column in X if X[column].dtype.kind not in "iuf"]
    return model.fit(X, y, cat_features=texts)


def nothing() -> None:
    """Do nothing."""


def pickled(model: Any) -> int:
    """Return the bytes of a pickle."""
    return len(pickle.dumps(model))


def saved_size(model: Any, *, method: str = "save") -> int:
    """Return the bytes of the file that a method of the model writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        getattr(model, method)(str(path))
        return path.stat().st_size


@dataclass(frozen=True)
class Made:
    """Makes estimators: a class of a module, imported when it is first called, and its settings.

    >>> Made("sklearn.dummy", "DummyClassifier", {"strategy": "prior"})()
    DummyClassifier()
    """

    module: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> Any:
        """Return a new estimator."""
        return getattr(importlib.import_module(self.module), self.name)(**self.settings)

    def with_settings(self, **settings: Any) -> Made:
        """Return the same with further settings."""
        return replace(self, settings={**self.settings, **settings})


@dataclass(frozen=True)
class Library:
    """A library with its defaults, or a setting of ours under its own name.

    Parameters
    ----------
    name : str
        What the tables call it.
    make : callable
        Returns a new estimator.
    package : str
        The package of the index, whose version is kept beside each figure.
    form : callable
        Brings training and test examples, untimed, into the form that the library takes.
    fit : callable
        Fits an estimator to examples and labels; timed.
    size : callable
        The bytes of a fitted model in the library's own format, or of a pickle.
    most_splits : int, optional
        How many splits of each set it takes part in. Default: all.
    limit : float, optional
        Seconds of the processor after which a fit is given up. It is measured in a process of its
        own. Default: none.
    n_threads : int
        How many threads OpenMP and BLAS have.
    is_ranked : bool
        Whether it is ranked; otherwise it is measured only.
    prepare : callable
        Compiles what it has to compile, before anything is timed.
    """

    name: str
    make: Callable[[], Any]
    package: str = "driftgames"
    form: Callable[[Any, Any], Forms] = as_they_are
    fit: Callable[[Any, Any, Any], Any] = plain_fit
    size: Callable[[Any], int] = saved_size
    most_splits: int | None = None
    limit: float | None = None
    n_threads: int = 1
    is_ranked: bool = True
    prepare: Callable[[], Any] = nothing

    @property
    def version(self) -> str:
        """The version of the package; of ours also a digest of the source."""
        if self.package == "driftgames":
            return environment()["source"]
        return importlib.metadata.version(self.package)

    @property
    def why_absent(self) -> str | None:
        """Why the package or its class is not here, or None."""
        try:
            importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return f"{self.package} is not installed"
        if self.package == "driftgames" and isinstance(self.make, Made):
            module = importlib.import_module(self.make.module)
            if self.make.name not in dir(module):
                return f"{self.make.module} has no {self.make.name}"
        return None


def with_threads(library: Library, n_threads: int) -> Library:
    """Return a library with more threads; it is measured, and not ranked."""
    assert isinstance(library.make, Made)
    known = library.make.settings.keys() & {"n_jobs", "thread_count", "num_threads"}
    return replace(
        library,
        name=f"{library.name}, {n_threads} threads",
        make=library.make.with_settings(**dict.fromkeys(known, n_threads)),
        n_threads=n_threads,
        is_ranked=False,
    )


ours = Made("driftgames.boosting", "NHBoostDTClassifier", {"n_jobs": 1})
"""Makes NH-Boost.DT with its defaults, in one thread."""

lightgbm = Made("lightgbm", "LGBMClassifier", {"verbose": -1, "n_jobs": 1})
"""Makes LightGBM with its defaults, in one thread."""

CATBOOST = {
    "thread_count": 1,
    "random_seed": 0,
    "verbose": False,
    "allow_writing_files": False,
}
"""CatBoost in one thread, without files and lines."""

_catboost_size = partial(saved_size, method="save_model")
_perpetual_size = partial(saved_size, method="save_booster")


def _lightgbm_size(model: Any) -> int:
    return len(model.booster_.model_to_string().encode())


def _xgboost_size(model: Any) -> int:
    return len(model.get_booster().save_raw("ubj"))


def _perpetual(budget: float) -> Made:
    return Made("perpetual", "PerpetualClassifier", {"budget": budget, "num_threads": 1})


def _of_sklearn(
    name: str, make: str, form: Callable[[Any, Any], Forms], **settings: Any
) -> Library:
    made = Made("sklearn.ensemble", make, {"random_state": 0, **settings})
    return Library(name, made, "scikit-learn", form=form, size=pickled)


OURS = "driftgames"

_ALL = (
    Library(OURS, ours),
    Library("LightGBM", lightgbm, "lightgbm", size=_lightgbm_size),
    Library(
        "XGBoost",
        Made("xgboost", "XGBClassifier", {"n_jobs": 1, "enable_categorical": True}),
        "xgboost",
        size=_xgboost_size,
    ),
    _of_sklearn(
        "HistGradientBoosting",
        "HistGradientBoostingClassifier",
        few_levels,
        categorical_features="from_dtype",
    ),
    Library(
        "CatBoost",
        Made("catboost", "CatBoostClassifier", CATBOOST),
        "catboost",
        form=as_text,
        fit=fit_with_texts,
        size=_catboost_size,
    ),
    Library(
        "ChimeraBoost",
        Made("chimeraboost", "ChimeraBoostClassifier", {"thread_count": 1, "random_state": 0}),
        "chimeraboost",
        form=as_text,
        fit=fit_with_texts,
        size=pickled,
        prepare=Made("chimeraboost", "warmup"),
    ),
    Library("Perpetual 0.5", _perpetual(0.5), "perpetual", size=_perpetual_size),
    Library("Perpetual 1.0", _perpetual(1.0), "perpetual", size=_perpetual_size),
    _of_sklearn("AdaBoost", "AdaBoostClassifier", as_numbers),
    _of_sklearn("random forest", "RandomForestClassifier", as_numbers, n_jobs=1),
    Library(
        "EBM",
        Made(
            "interpret.glassbox", "ExplainableBoostingClassifier", {"n_jobs": 1, "random_state": 0}
        ),
        "interpret-core",
        size=pickled,
        most_splits=1,
        limit=300.0,
    ),
)

LIBRARIES: dict[str, Library] = {library.name: library for library in _ALL}
"""All libraries by name, ours first."""

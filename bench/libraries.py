"""The libraries that `bench.accuracy` compares: their defaults, in one thread.

Each library gets the examples in the form in which its users hand them over. Where it knows
categories and missing values, it gets both.
"""

from __future__ import annotations

import importlib.metadata
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
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


def _fit_catboost(model: Any, X: Any, y: Any) -> Any:
    texts = [column for column in X if X[column].dtype.kind not in "iuf"]
    return model.fit(X, y, cat_features=texts)


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
class Library:
    """A library with its defaults, or a setting of ours under its own name.

    Parameters
    ----------
    name : str
        What the tables call it.
    make : callable
        Returns a new classifier.
    package : str
        The package of the index, whose version is kept beside each figure.
    form : callable
        Brings training and test examples, untimed, into the form that the library takes.
    fit : callable
        Fits a classifier to examples and labels; timed.
    size : callable
        The bytes of a fitted model in the library's own format, or of a pickle.
    most_splits : int, optional
        How many splits of each set it takes part in. Default: all.
    limit : float, optional
        Seconds of the processor after which a fit is given up. Default: none.
    """

    name: str
    make: Callable[[], Any]
    package: str = "driftgames"
    form: Callable[[Any, Any], Forms] = as_they_are
    fit: Callable[[Any, Any, Any], Any] = plain_fit
    size: Callable[[Any], int] = saved_size
    most_splits: int | None = None
    limit: float | None = None

    @property
    def version(self) -> str:
        """The version of the package; of ours also a digest of the source."""
        if self.package == "driftgames":
            return environment()["source"]
        return importlib.metadata.version(self.package)

    @property
    def why_absent(self) -> str | None:
        """Why the package is not here, or None."""
        try:
            importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return f"{self.package} is not installed"
        return None


def ours() -> Any:
    """Return NH-Boost.DT with its defaults, in one thread."""
    from driftgames.boosting import NHBoostDTClassifier

    return NHBoostDTClassifier(n_jobs=1)


def lightgbm() -> Any:
    """Return LightGBM with its defaults, in one thread."""
    import lightgbm as lgb

    return lgb.LGBMClassifier(verbose=-1, n_jobs=1)


def _xgboost() -> Any:
    import xgboost as xgb

    return xgb.XGBClassifier(n_jobs=1, enable_categorical=True)


def _hist_gradient_boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)


def _catboost() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        thread_count=1, random_seed=0, verbose=False, allow_writing_files=False
    )


def _perpetual(budget: float) -> Callable[[], Any]:
    def make() -> Any:
        from perpetual import PerpetualClassifier

        return PerpetualClassifier(budget=budget, num_threads=1)

    return make


def _ebm() -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0)


def _adaboost() -> Any:
    from sklearn.ensemble import AdaBoostClassifier

    return AdaBoostClassifier(random_state=0)


def _random_forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_jobs=1, random_state=0)


def _lightgbm_size(model: Any) -> int:
    return len(model.booster_.model_to_string().encode())


OURS = "driftgames"

_ALL = (
    Library(OURS, ours),
    Library("LightGBM", lightgbm, "lightgbm", size=_lightgbm_size),
    Library(
        "XGBoost", _xgboost, "xgboost", size=lambda model: len(model.get_booster().save_raw("ubj"))
    ),
    Library(
        "HistGradientBoosting",
        _hist_gradient_boosting,
        "scikit-learn",
        form=few_levels,
        size=pickled,
    ),
    Library(
        "CatBoost",
        _catboost,
        "catboost",
        form=as_text,
        fit=_fit_catboost,
        size=partial(saved_size, method="save_model"),
    ),
    Library(
        "Perpetual 0.5",
        _perpetual(0.5),
        "perpetual",
        size=partial(saved_size, method="save_booster"),
    ),
    Library(
        "Perpetual 1.0",
        _perpetual(1.0),
        "perpetual",
        size=partial(saved_size, method="save_booster"),
    ),
    Library("AdaBoost", _adaboost, "scikit-learn", form=as_numbers, size=pickled),
    Library("random forest", _random_forest, "scikit-learn", form=as_numbers, size=pickled),
    Library("EBM", _ebm, "interpret-core", size=pickled, most_splits=1, limit=300.0),
)

LIBRARIES: dict[str, Library] = {library.name: library for library in _ALL}
"""All libraries by name, ours first."""

"""What a booster is given: its settings, its examples and its threads, checked."""

from __future__ import annotations

import numbers
import sys
from abc import ABC
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_X_y, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.categories import CategoryEncoder
from driftgames.boosting.data.cuts import MOST_BINS
from driftgames.boosting.data.frames import Categories, check_types, code_columns, find_categories
from driftgames.boosting.data.monotonic import directions, plain_constraints
from driftgames.boosting.data.sparse_input import check_sparse
from driftgames.boosting.estimators.parameters import SharedParameters
from driftgames.boosting.growth.tree_growth import DEFAULTS, TreeShape
from driftgames.core.checks import check_flag, check_integer, float_errors, is_real, shown
from driftgames.core.registry import choose
from driftgames.core.typing import IntArray

INPUT: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": "allow-nan",
}
"""The input that scikit-learn's checks allow."""

_LARGE = 1 << 20  # entries from which threads look for infinities

_FREE = {
    "calibrate",
    "estimator",
    "n_estimators",
    "n_iter_no_change",
    "n_jobs",
    "random_state",
    "scoring",
    "tol",
    "verbose",
    "warm_start",
}
"""Settings that may change when a fit goes on. An `estimator` may be replaced by another one."""


class BoosterInput(SharedParameters, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # sklearn is untyped
    """A classifier that checks its settings and its examples."""

    n_estimators: int
    encoder_: CategoryEncoder | None = None  # where there are no categories
    n_features_in_: int

    def _check_settings(self) -> tuple[int, int, TreeShape | None, bool]:
        """Return the rounds, the bins, the shape of trees, and whether an earlier fit goes on."""
        n_estimators = check_integer("n_estimators", self.n_estimators, least=1)
        max_bins = check_integer("max_bins", self.max_bins, least=2)
        if max_bins > MOST_BINS:
            raise ValueError(f"max_bins must be at most {MOST_BINS}; got {max_bins}")
        self._check_stopping()
        goes_on = bool(self.warm_start and self.__sklearn_is_fitted__())
        return n_estimators, max_bins, self._tree_shape(), goes_on

    def _check_stopping(self) -> None:
        """Raise ValueError for settings of early stopping that mean nothing, used or not."""
        if isinstance(self.early_stopping, str):
            choose("early_stopping", self.early_stopping, {"auto": True, "cv": True})
        else:
            check_flag("early_stopping", self.early_stopping)
        share: Any = self.validation_fraction
        whole = isinstance(share, numbers.Integral) and not isinstance(share, bool)
        if whole:
            check_integer("validation_fraction", share, least=1)
        elif share is not None and not (is_real(share) and 0 < share < 1):
            raise ValueError(
                "validation_fraction must be a number in (0, 1), a number of examples or None; "
                f"got {shown(share)}"
            )
        check_integer("n_iter_no_change", self.n_iter_no_change, least=1)
        if not (is_real(self.tol) and self.tol >= 0):
            raise ValueError(f"tol must be a number >= 0; got {shown(self.tol)}")

    def _tree_shape(self) -> TreeShape | None:
        """Return the shape of the weak hypotheses, checked; None for that of the default stump."""
        settings = {name: getattr(self, name) for name in DEFAULTS}
        if repr(settings) == repr(DEFAULTS):  # True, 1 and 1.0 differ
            return None
        if (shape := TreeShape(**settings)) == TreeShape():  # a share of 0 is 0.0
            return None
        if self.estimator is not None:
            raise ValueError(
                f"{', '.join(DEFAULTS)} are for the built-in trees; "
                f"got {shape} beside estimator={shown(self.estimator)}"
            )
        return shape

    def _directions(self, names: Array | None, n_classes: int = 2) -> IntArray | None:
        """Return the constraint of each column, checked; None if there is none."""
        if self.monotonic_cst is None:
            return None
        found = directions(self.monotonic_cst, self.n_features_in_, names)
        if not found.any():
            return None
        if self.estimator is not None or n_classes > 2:
            raise ValueError(
                "monotonic_cst is for two classes and the built-in stumps and trees; got it beside "
                f"{n_classes} classes and estimator={shown(self.estimator)}"
            )
        if self.encoder_ is None:
            return found
        for j, feature in enumerate(self.encoder_.features):
            if feature is not None and found[j]:
                raise ValueError(f"monotonic_cst must be 0 for categories; feature {j} holds some")
        return np.asarray(found[self.encoder_.feature])

    def _binding_settings(self) -> dict[str, Any]:
        """Return the settings that the rounds played depend on."""
        settings = self.get_params(deep=False)
        if isinstance(settings["categorical_features"], np.ndarray):
            settings["categorical_features"] = settings["categorical_features"].tolist()
        if self.monotonic_cst is not None:
            settings["monotonic_cst"] = plain_constraints(self.monotonic_cst)
        return {name: value for name, value in settings.items() if name not in _FREE}

    def _check_input(self, X: Any, *, finite: bool = True) -> Any:
        """Return examples to predict, as the columns that the weak hypotheses ask about.

        Without ``finite``, a plain array is not searched for infinities.
        """
        if self.encoder_ is None:
            check_types(X, None)
            return self._validate(X, "no_validation", reset=False, finite=finite)
        validate_data(self, X, reset=False, skip_check_array=True)  # names, number of columns
        check_types(X, [feature is not None for feature in self.encoder_.features])
        return self._encode(X)

    def _validate(self, X: Any, y: Any, *, reset: bool, finite: bool = True) -> Any:
        settings = INPUT
        if issparse(X):
            check_sparse(X)
        elif isinstance(y, str) and is_plain(X) and (not finite or self._is_known_finite(X)):
            settings = {**INPUT, "ensure_all_finite": False}
        with float_errors("X and y"):
            return validate_data(self, X, y, reset=reset, **settings)

    def _is_known_finite(self, X: Any) -> bool:
        """Look for infinities in many rows with all threads; scikit-learn would take one."""
        if X.size < _LARGE:
            return False
        with self._threads() as (pool, n_threads):
            if pool is None:
                return False
            return all(pool.map(_is_sum_finite, np.array_split(X, n_threads)))

    def _encode(self, X: Any) -> Any:
        """Do the same as `_check_input` without a look at the names of columns."""
        if self.encoder_ is not None:
            X, _ = code_columns(X, self.encoder_.categories)
        estimators = getattr(self, "estimators_", None)
        return self._expand(check_array(X, **INPUT), estimators[0] if estimators else None)

    def _check_examples(
        self, X: Any, y: Any, *, reset: bool
    ) -> tuple[Any, Array, tuple[Categories | None, ...] | None]:
        """Return the examples of a fit, categories as codes, and the categories if there are any.

        `frames.code_columns` says what the codes are.
        """
        setting, categorical = self.categorical_features, None
        by_type = isinstance(setting, str) and setting == "from_dtype"
        if not (by_type and isinstance(X, np.ndarray)):  # an array has one type
            categorical = find_categories(X, setting)
            check_types(X, categorical)
        if categorical is None:
            return *self._validate(X, y, reset=reset), None
        validate_data(self, X, reset=reset, skip_check_array=True)  # names, number of columns
        codes, categories = code_columns(X, (None,) * categorical.size, learn=categorical)
        return *check_X_y(codes, y, estimator=self, **INPUT), categories

    def _expand(self, X: Any, estimator: Any) -> Any:
        """Return the columns of the weak hypotheses; an ``estimator`` may want them dense."""
        if self.encoder_ is None:
            return X
        columns = self.encoder_.expand(X)
        sparse = estimator is None or get_tags(estimator).input_tags.sparse
        return columns if sparse or not issparse(columns) else columns.toarray()

    def _expand_codes(self, X: Any, categories: tuple[Categories | None, ...] | None) -> Any:
        """Return the columns of examples whose categories are codes among these."""
        if self.encoder_ is not None and categories is not None:
            X = self.encoder_.recode(X, categories)
        return self._expand(X, self.estimator)

    @property
    def _n_columns(self) -> int:
        """The number of columns that the weak hypotheses ask about."""
        return int(self.n_features_in_ if self.encoder_ is None else self.encoder_.n_columns)

    @contextmanager
    def _threads(self) -> Iterator[tuple[ThreadPoolExecutor | None, int]]:
        """Give a pool of threads, or None for one thread, and their number."""
        n_threads = count_threads(self.n_jobs)
        with ThreadPoolExecutor(n_threads) if n_threads > 1 else nullcontext() as pool:
            yield pool, n_threads

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        if self.estimator is not None:
            own = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = own.sparse, own.allow_nan
        return tags


def is_plain(X: Any) -> bool:
    """Return whether these are contiguous rows of float32 or float64."""
    floats = type(X) is np.ndarray and X.dtype in (np.float32, np.float64)
    return bool(floats and X.flags.c_contiguous)


def _is_sum_finite(X: Array) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):  # a thread has settings of its own
        return bool(np.isfinite(X.sum()))


def find_classes(y: Array) -> Array:
    """Return the labels in order; raise ValueError if there are fewer than two."""
    check_classification_targets(y)
    classes = np.unique(y)
    if classes.size < 2:
        raise ValueError(f"y must hold two classes or more; got one class only: {classes.tolist()}")
    return classes


def count_threads(n_jobs: Any) -> int:
    """Return ``n_jobs`` as joblib counts it; the default is 1, or the number of its backend.

    Inside a worker of joblib or Dask it is 1, because the workers share the cores already.
    """
    if n_jobs is not None and not isinstance(n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs must be an integer or None; got {shown(n_jobs)}")
    return 1 if _in_worker() else int(effective_n_jobs(n_jobs))


def _in_worker() -> bool:
    """Return whether a worker of joblib or Dask runs this call."""
    if (get_active_backend()[0].nesting_level or 0) > 0:
        return True
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True

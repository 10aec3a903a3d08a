"""The checks of examples, by scikit-learn's rules: of a fit, and of a prediction.

Monotonic constraints are checked here too: the direction in which a feature may move the vote.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_X_y
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.data.frames import (
    Categories,
    Levels,
    check_types,
    code_columns,
    find_categories,
    has_dates,
    has_words,
    is_identifier,
    is_missing,
)
from driftgames.core.cells import marked_number
from driftgames.core.checks import float_errors, shown, unmask
from driftgames.core.threads import open_threads
from driftgames.core.typing import FloatArray

INPUT: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": (np.float64, np.float32),
    "ensure_all_finite": "allow-nan",
}
"""The input that scikit-learn's checks allow."""

MOST_NUMBERS = 30
"""A label of more different numbers looks like a quantity."""

MOST_CLASSES = 1_000
"""A fit of more classes is refused: trees of a leaf for each would take hours."""

_LARGE = 1 << 20  # entries from which threads look for infinities


class DataWarning(UserWarning):
    """A column is likely not what it was given as: a quantity as a label, a name as a feature."""


class CheckedExamples(NamedTuple):
    """Examples of a fit: in ``X`` categories are codes. Without any ``categories`` is None."""

    X: Matrix
    y: Array
    categories: tuple[Categories | None, ...] | None


class ExampleChecks:
    """The checks of examples, by scikit-learn's rules and against the columns of an estimator.

    scikit-learn keeps the names and the number of the columns on the estimator: for a fit this is
    an unfitted copy of the booster. They may be known beforehand: the ``names`` where arrays come
    from files whose columns have names.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        names: Sequence[str] | Array | None = None,
        n_features: int | None = None,
    ) -> None:
        self._estimator = estimator
        self._names = None if names is None else np.array(names, dtype=object)
        if n_features is not None:
            estimator.n_features_in_ = n_features

    @property
    def names(self) -> Array | None:
        """The names of the columns, if they have any."""
        if self._names is not None:
            return self._names
        return getattr(self._estimator, "feature_names_in_", None)

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self._estimator.n_features_in_)

    def check_examples(self, X: object, y: object, *, first: bool = True) -> CheckedExamples:
        """Return the examples of a fit, categories as codes.

        `frames.code_columns` says what the codes are. The estimator keeps names and number of the
        columns of the ``first`` examples, and those of others are compared with them.
        """
        X, y = unmask("X", X, missing=True), unmask("y", y)
        check_labels(y)
        setting, categorical = self._estimator.categorical_features, None
        by_type = isinstance(setting, str) and setting == "from_dtype"
        check_kind(X, has_categories=not by_type and setting is not None)
        if not (by_type and isinstance(X, np.ndarray)):  # an array has one type
            categorical = find_categories(X, setting)
            check_types(X, categorical)
        if self._names is not None and isinstance(X, np.ndarray):
            vars(self._estimator).pop("feature_names_in_", None)  # an array has none
        if categorical is None and (isinstance(X, np.ndarray) or not has_dates(X)):
            rows, labels = self._validate(X, y, reset=first)
            return CheckedExamples(rows, labels, None)
        self._keep_columns(X, reset=first)
        codes, categories = X, None
        if categorical is None:
            codes = self._read_columns(X)
        else:
            unknown = (None,) * categorical.size
            codes, categories = code_columns(X, unknown, learn=categorical, by_type=by_type)
        rows, labels = check_X_y(codes, y, estimator=self._estimator, **INPUT)
        return CheckedExamples(rows, labels, categories)

    def check_rows(
        self, X: object, categorical: Sequence[bool] | None, *, finite: bool = True
    ) -> object:
        """Return examples to predict: numbers, or what the codes of categories are found in.

        ``categorical`` tells which columns hold categories, if any does. Without ``finite``, a
        plain array is not searched for infinities.
        """
        if self._names is not None:
            self._estimator.feature_names_in_ = self._names
        if categorical is None and not finite and is_plain(X) and X.ndim == 2 and len(X):
            named = hasattr(self._estimator, "feature_names_in_")
            if not named and X.shape[1] == self._estimator.n_features_in_:
                return X  # scikit-learn would find nothing, and takes longer than a prediction
        X = unmask("X", X, missing=True)
        check_kind(X, categorical is not None)
        if categorical is not None:
            self._keep_columns(X, reset=False)
            check_types(X, categorical)
            return X
        check_types(X, None)
        if has_dates(X) or has_words(X):
            self._keep_columns(X, reset=False)
            return check_array(self._read_columns(X), estimator=self._estimator, **INPUT)
        return self._validate(X, "no_validation", reset=False, finite=finite)

    def _keep_columns(self, X: object, *, reset: bool) -> None:
        """Keep the names and the number of the columns with ``reset``, else compare them."""
        try:
            validate_data(self._estimator, X, reset=reset, skip_check_array=True)
        except (IndexError, KeyError) as error:  # scikit-learn looks at the first row of anything
            raise ValueError(f"X must be rows and columns; got {shown(X)}") from error

    def _read_columns(self, X: object) -> FloatArray:
        """Return the columns of a data frame as numbers, dates as days."""
        return code_columns(X, (None,) * self.n_features)[0]

    def _validate(self, X: object, y: object, *, reset: bool, finite: bool = True) -> Any:
        settings, estimator = INPUT, self._estimator
        if issparse(X):
            check_sparse(X)
        elif isinstance(y, str) and is_plain(X):  # a prediction
            known = not finite or _is_known_finite(X, estimator.n_jobs)
            settings = {**INPUT, "ensure_all_finite": False if known else "allow-nan"}
        try:
            with float_errors("X and y", X):
                return validate_data(estimator, X, y, reset=reset, **settings)
        except ValueError as error:
            if "must be numbers; got" in str(error) and isinstance(X, np.ndarray):
                raise ValueError(
                    f"{error}; categorical_features=[...] names the columns of categories of an "
                    "array"
                ) from error
            raise


def check_kind(X: object, has_categories: bool) -> None:
    """Raise ValueError for an array that NumPy would turn into numbers that nobody means.

    >>> check_kind(np.array([["2020-01-01"]], "datetime64[D]"), False)
    Traceback (most recent call last):
    ...
    ValueError: X must be numbers; got an array of datetime64[D]: put dates into a data frame
    """
    if not isinstance(X, np.ndarray):
        return
    kind = X.dtype.kind
    if kind in "SV" or (kind in "Mm" and not has_categories):
        advice = ": put dates into a data frame" if kind in "Mm" else ""
        raise ValueError(f"X must be numbers; got an array of {X.dtype}{advice}")


def check_labels(y: object) -> None:
    """Raise ValueError for a missing label, or for labels of kinds that have no order.

    Arrays of numbers are left to scikit-learn, which looks for infinity.

    >>> check_labels(["a", "b", None])
    Traceback (most recent call last):
    ...
    ValueError: y must not hold missing labels; got None at index 2
    >>> check_labels(["a", 3, "b"])
    Traceback (most recent call last):
    ...
    ValueError: y must hold labels of one kind, such as strings; got 'a' and 3
    """
    try:
        # as an array of NumPy's choice, "a" and None would both be strings
        labels = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)
    except ValueError:  # ragged: scikit-learn says so
        return
    if labels.ndim != 1 or labels.dtype.kind not in "OMf":
        return
    if labels.dtype.kind == "f" and not np.isnan(labels).any():
        return
    if labels.dtype.kind == "M":
        labels = labels.astype("datetime64[us]").astype(object)  # NaT becomes None
    try:
        distinct = list(dict.fromkeys(labels.tolist()))
    except TypeError:  # lists and the like are no labels: scikit-learn says so
        return
    if any(map(is_missing, distinct)):
        where = next(i for i, label in enumerate(labels) if is_missing(label))
        raise ValueError(
            f"y must not hold missing labels; got {shown(labels[where])} at index {where}"
        )
    for label in distinct[1:]:
        try:
            bool(distinct[0] < label)
        except TypeError as error:
            raise ValueError(
                "y must hold labels of one kind, such as strings; "
                f"got {shown(distinct[0])} and {shown(label)}"
            ) from error


def find_classes(y: Array) -> Array:
    """Return the labels in order; raise ValueError if there are fewer than two, or too many.

    Labels that look like a quantity are a `DataWarning`.
    """
    with warnings.catch_warnings():
        # batches come with each label once: scikit-learn would say that there are too many
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        try:
            check_classification_targets(y)
        except ValueError as error:
            if type_of_target(y) == "continuous":
                raise ValueError(f"{error} NHBoostDTRegressor fits numbers, in memory.") from error
            raise
    classes = np.unique(y)
    if classes.size < 2:
        raise ValueError(f"y must hold two classes or more; got one class only: {classes.tolist()}")
    quantity = looks_like_quantity(classes)
    what = f"{classes.size:,} different {'numbers' if quantity else 'classes'}"
    if classes.size > MOST_CLASSES:
        raise ValueError(
            f"y must hold at most {MOST_CLASSES:,} classes; got {what}: for a quantity use "
            "NHBoostDTRegressor, or cut it into intervals"
        )
    if quantity:
        warnings.warn(
            f"y holds {what}, which looks like a quantity; boosters fit a class for each, which "
            "takes long: for a quantity use NHBoostDTRegressor, or cut it into intervals",
            DataWarning,
            stacklevel=3,
        )
    return classes


def warn_of_row_names(labels: Array, classes: Array) -> None:
    """Say that most labels are those of one row alone; a `DataWarning`."""
    if MOST_NUMBERS < classes.size > labels.size / 2 and not looks_like_quantity(classes):
        warnings.warn(
            f"y holds {classes.size:,} different classes in {labels.size:,} rows: it is likely a "
            "name of the row, which nothing can be learned of, and such a fit takes long",
            DataWarning,
            stacklevel=3,
        )


def looks_like_quantity(classes: Array) -> bool:
    """Return whether these are more different numbers than a person would call classes.

    >>> looks_like_quantity(np.arange(31)), looks_like_quantity(np.arange(30))
    (True, False)
    """
    if classes.size <= MOST_NUMBERS:
        return False
    try:
        classes.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def warn_of_identifiers(
    categories: Sequence[Categories | None] | None,
    n_values: Sequence[int],
    names: Sequence[str] | Array | None,
) -> None:
    """Say which columns of categories are likely names of the rows, or numbers; a `DataWarning`.

    ``n_values`` are the numbers of values of each column that are known.
    """
    for j, known in enumerate(categories or ()):
        if known is None or isinstance(known, Levels):
            continue
        where = f"column {j if names is None else shown(names[j])}"
        if (cell := marked_number(known)) is not None:
            warnings.warn(
                f"{where} holds strings such as {shown(cell)}, which are read as categories: turn "
                "them into numbers",
                DataWarning,
                stacklevel=3,
            )
            continue
        if not is_identifier(len(known), n_values[j]):
            continue
        warnings.warn(
            f"{where} has {len(known):,} different "
            f"categories in {n_values[j]:,} rows: it is likely a name of the row, which says "
            "nothing about new rows; leave it out",
            DataWarning,
            stacklevel=3,
        )


def _is_known_finite(X: Array, n_jobs: int | None) -> bool:
    """Look for infinities in many rows with all threads; scikit-learn would take one."""
    if X.size < _LARGE:
        return False
    with open_threads(n_jobs) as (pool, n_threads):
        if pool is None:
            return False
        return all(pool.map(_is_sum_finite, np.array_split(X, n_threads)))


def _is_sum_finite(X: Array) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):  # a thread has settings of its own
        return bool(np.isfinite(X.sum()))


def is_plain(X: object) -> TypeGuard[Array]:
    """Return whether these are contiguous rows of float32 or float64."""
    if type(X) is not np.ndarray:
        return False
    return X.dtype in (np.float32, np.float64) and X.flags.c_contiguous


def check_sparse(X: csr_matrix) -> None:
    """Raise ValueError if the numbers of rows and columns that a sparse matrix stores are invalid.

    >>> from scipy.sparse import csr_matrix
    >>> X = csr_matrix([[1.0, 0.0], [0.0, 2.0]])
    >>> X.indices[1] = 7
    >>> check_sparse(X)
    Traceback (most recent call last):
    ...
    ValueError: the column numbers of a sparse X must lie in [0, 2); got 7
    """
    if X.format == "coo":
        for what, stored, size in zip(("row", "column"), (X.row, X.col), X.shape, strict=True):
            _check_numbers(what, stored, size)
    elif X.format in {"csr", "csc", "bsr"}:
        blocks = X.blocksize if X.format == "bsr" else (1, 1)
        n_rows, n_columns = (size // block for size, block in zip(X.shape, blocks, strict=True))
        by_columns = X.format == "csc"
        n_lists, size = (n_columns, n_rows) if by_columns else (n_rows, n_columns)
        indptr, indices = X.indptr, X.indices
        stored = min(indices.size, X.data.shape[0])
        if (
            indptr.shape != (n_lists + 1,)
            or indptr[0] != 0
            or indptr[-1] > stored
            or (np.diff(indptr) < 0).any()
        ):
            raise ValueError(
                f"indptr of a sparse X must be {n_lists + 1} numbers that rise from 0 to at most "
                f"the {stored} entries stored; got {indptr}"
            )
        _check_numbers("row" if by_columns else "column", indices[: indptr[-1]], size)


def _check_numbers(what: str, stored: Array, size: int) -> None:
    if stored.size and (stored.min() < 0 or stored.max() >= size):
        bad = stored[(stored < 0) | (stored >= size)][0]
        raise ValueError(f"the {what} numbers of a sparse X must lie in [0, {size}); got {bad}")


def plain_constraints(monotonic_cst: Any) -> Any:
    """Return constraints as a dict or a list of integers; what is neither stays as it is."""
    if isinstance(monotonic_cst, Mapping):
        return {name: _plain(value) for name, value in monotonic_cst.items()}
    if monotonic_cst is None or isinstance(monotonic_cst, str):
        return monotonic_cst
    try:
        one_dimension = np.ndim(monotonic_cst) == 1
    except ValueError:  # rows of different lengths
        one_dimension = False
    if not one_dimension:
        return monotonic_cst
    return [_plain(value) for value in monotonic_cst]


def directions(monotonic_cst: object, n_features: int, names: Array | None) -> Array:
    """Return -1, 0 or 1 for each feature, as int64.

    >>> directions({"age": 1}, 2, np.array(["sex", "age"]))
    array([0, 1])
    """
    constraints = plain_constraints(monotonic_cst)
    signs = np.zeros(n_features, dtype=np.int64)
    if isinstance(constraints, dict):
        known = [] if names is None else names.tolist()
        unknown = [name for name in constraints if name not in known]
        if unknown:
            raise ValueError(
                f"monotonic_cst must name features of a data frame; got {shown(unknown[0])}, which "
                "is not among its columns"
            )
        places = {known.index(name): value for name, value in constraints.items()}
    elif isinstance(constraints, list) and len(constraints) == n_features:
        places = dict(enumerate(constraints))
    else:
        raise ValueError(
            f"monotonic_cst must be a dict or one of -1, 0 and 1 for each of the {n_features} "
            f"features; got {shown(monotonic_cst)}"
        )
    for j, value in places.items():
        if type(value) is not int or value not in (-1, 0, 1):
            raise ValueError(
                f"monotonic_cst must hold -1, 0 and 1; got {shown(value)} for feature {j}"
            )
        signs[j] = value
    return signs


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value

"""Error and AUC on real sets, against the defaults of the libraries that people use.

Every library has its defaults, and ours has one setting for all sets. A set with a test part keeps
it; every other set has five folds, and its figures are means over them. Columns of text are
categories for the libraries that know them, and indicators for the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from scipy.stats import rankdata
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.preprocessing import LabelEncoder, OneHotEncoder

from bench.harness import Tell, silent, why_absent
from bench.sets import Task, sets
from driftgames.tables import Column, Table

SETTING: dict[str, Any] = {
    "n_estimators": 1000,
    "d": 6.0,
    "max_depth": None,
    "max_leaves": "auto",
    "early_stopping": "cv",
}
"""What the documentation recommends."""

QUICK = ("splice", "breast_cancer", "wine")


def ours(**changes: Any) -> Any:
    """Return NH-Boost.DT with the setting that the documentation recommends, but for changes."""
    from driftgames.boosting import NHBoostDTClassifier

    return NHBoostDTClassifier(**SETTING | changes)


def lightgbm() -> Any:
    """Return LightGBM with its defaults."""
    import lightgbm as lgb

    return lgb.LGBMClassifier(verbose=-1, n_jobs=1)


def xgboost() -> Any:
    """Return XGBoost with its defaults."""
    import xgboost as xgb

    return xgb.XGBClassifier(n_jobs=1, enable_categorical=True)


def hist_gradient_boosting() -> Any:
    """Return scikit-learn's histogram gradient boosting with its defaults."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def adaboost() -> Any:
    """Return scikit-learn's AdaBoost with its defaults."""
    from sklearn.ensemble import AdaBoostClassifier

    return AdaBoostClassifier(random_state=0)


Libraries = dict[str, tuple[str, Callable[[], Any]]]
"""The module that each library needs, and its classifier."""

LIBRARIES: Libraries = {
    "NH-Boost.DT": ("driftgames", ours),
    "LightGBM": ("lightgbm", lightgbm),
    "XGBoost": ("xgboost", xgboost),
    "HistGradientBoosting": ("sklearn", hist_gradient_boosting),
    "AdaBoost": ("sklearn", adaboost),
}

MEASURES = {"error, %": ",.2f", "AUC": ",.4f", "log-loss": ",.3f"}
"""How the numbers of each measure are written."""


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return a table of errors and one of AUC; ``quick`` takes three small sets."""
    return compare(LIBRARIES, ("error, %", "AUC"), quick=quick, tell=tell)


def compare(
    libraries: Libraries, measures: Sequence[str], *, quick: bool = False, tell: Tell = silent
) -> list[Table]:
    """Return a table for each measure, ours first."""
    absent = {name: why_absent((module,)) for name, (module, _) in libraries.items()}
    names = [name for name, why in absent.items() if why is None]
    left_out = [f"{name} skipped: {why}" for name, why in absent.items() if why is not None]
    found: dict[str, list[dict[str, float]]] = {}
    for task in sets(left_out.append):
        if not quick or task.name in QUICK:
            tell(task.name)
            found[task.name] = [measure(task, name, libraries[name][1]) for name in names]
    return [_table(each, names, found, tuple(left_out)) for each in measures]


def measure(task: Task, name: str, make: Callable[[], Any]) -> dict[str, float]:
    """Return the measures of a library on a set, means over the parts."""
    figures = []
    for X, y, X_test, y_test in task.parts:
        code = LabelEncoder().fit(y)
        X, X_test = _suited(name, X, X_test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(X, code.transform(y))
            shares = model.predict_proba(X_test)
            predicted = code.inverse_transform(model.predict(X_test))
        error = 100.0 * float(np.mean(predicted != y_test))
        scores = shares[:, 1] if task.n_classes == 2 else shares
        auc = roc_auc_score(y_test, scores, multi_class="ovr", labels=code.classes_)
        figures.append((error, float(auc), float(log_loss(y_test, shares, labels=code.classes_))))
    return dict(zip(MEASURES, np.mean(figures, axis=0).tolist(), strict=True))


def _suited(name: str, X: Any, X_test: Any) -> tuple[Any, Any]:
    """Return the examples in a form that a library takes."""
    if hasattr(X, "iloc") and name == "AdaBoost":
        texts = [column for column in X if X[column].dtype == "category"]
        code = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(X[texts])

        def numbers(frame: Any) -> Any:
            plain = frame.drop(columns=texts)
            filled = plain.fillna(X.drop(columns=texts).median())
            return np.hstack([filled.to_numpy(np.float64), code.transform(frame[texts])])

        return numbers(X), numbers(X_test)
    if scipy.sparse.issparse(X) and name in ("HistGradientBoosting", "EBM"):
        return X.toarray(), X_test.toarray()
    return X, X_test


def _table(
    title: str, names: list[str], found: dict[str, list[dict[str, float]]], notes: tuple[str, ...]
) -> Table:
    values = np.array([[each[title] for each in figures] for figures in found.values()])
    signed = -values if title == "AUC" else values
    ranks = np.mean([rankdata(row) for row in signed.round(6)], axis=0)
    behind = (signed[:, 0] - signed.min(axis=1)).max()
    summary = (
        "mean rank: " + ", ".join(f"{n} {r:.2f}" for n, r in zip(names, ranks, strict=True)),
        f"ours is first on {int(np.sum(signed[:, 0] <= signed.min(axis=1)))} of {len(found)} sets",
        f"ours is at most {behind:.4f} behind the best",
    )
    columns = (Column("set"), *(Column(name, MEASURES[title]) for name in names))
    rows = tuple((name, *row.tolist()) for name, row in zip(found, values, strict=True))
    return Table(f"{title} on the test rows", columns, rows, (*summary, *notes))

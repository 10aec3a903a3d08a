"""Error, AUC and log-loss on real sets, against the defaults of the libraries that people use.

Every library has its defaults, and ours has one setting for all sets. A set with a test part keeps
it; every other set has five folds, and its figures are means over them. Columns of text are
categories for the libraries that know them, and indicators for the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from scipy.stats import rankdata
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.preprocessing import LabelEncoder, OneHotEncoder

from bench.harness import Tell, silent, why_absent
from bench.sets import Task, sets
from driftgames.tables import Column, Table

SETTING: dict[str, Any] = {"n_estimators": 1000, "max_depth": None, "max_leaves": 8}
"""What the documentation recommends."""

QUICK = ("splice", "breast_cancer", "wine")


def ours() -> Any:
    """Return NH-Boost.DT with the setting that the documentation recommends."""
    from driftgames.boosting import NHBoostDTClassifier

    return NHBoostDTClassifier(**SETTING)


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


def ebm() -> Any:
    """Return the explainable boosting machine without interactions, in one thread."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(interactions=0, n_jobs=1, random_state=0)


LIBRARIES: dict[str, tuple[str, Callable[[], Any]]] = {
    "NH-Boost.DT": ("driftgames", ours),
    "LightGBM": ("lightgbm", lightgbm),
    "XGBoost": ("xgboost", xgboost),
    "HistGradientBoosting": ("sklearn", hist_gradient_boosting),
    "AdaBoost": ("sklearn", adaboost),
    "EBM": ("interpret", ebm),
}
"""The module that each library needs, and its classifier."""

MEASURES = {"error, %": ",.2f", "AUC": ",.4f", "log-loss": ",.3f"}
"""How the numbers of each measure are written."""


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return a table for each measure; ``quick`` takes three small sets and leaves EBM out."""
    absent = {name: why_absent((module,)) for name, (module, _) in LIBRARIES.items()}
    names = [name for name, why in absent.items() if why is None and not (quick and name == "EBM")]
    left_out = [f"{name} skipped: {why}" for name, why in absent.items() if why is not None]
    found: dict[str, list[tuple[float, ...]]] = {}
    for task in sets(left_out.append):
        if not quick or task.name in QUICK:
            tell(task.name)
            found[task.name] = [measure(task, name) for name in names]
    return [_table(k, names, found, tuple(left_out)) for k in range(len(MEASURES))]


def measure(task: Task, name: str) -> tuple[float, ...]:
    """Return error in per cent, AUC and log-loss of a library on a set, means over the parts."""
    figures = []
    for X, y, X_test, y_test in task.parts:
        code = LabelEncoder().fit(y)
        X, X_test = _suited(name, X, X_test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LIBRARIES[name][1]().fit(X, code.transform(y))
            shares = model.predict_proba(X_test)
            predicted = code.inverse_transform(model.predict(X_test))
        error = 100.0 * float(np.mean(predicted != y_test))
        scores = shares[:, 1] if task.n_classes == 2 else shares
        auc = roc_auc_score(y_test, scores, multi_class="ovr", labels=code.classes_)
        figures.append((error, float(auc), float(log_loss(y_test, shares, labels=code.classes_))))
    return tuple(np.mean(figures, axis=0).tolist())


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
    k: int, names: list[str], found: dict[str, list[tuple[float, ...]]], notes: tuple[str, ...]
) -> Table:
    title, form = list(MEASURES.items())[k]
    values = np.array([[each[k] for each in figures] for figures in found.values()])
    signed = -values if title == "AUC" else values
    ranks = np.mean([rankdata(row) for row in signed.round(6)], axis=0)
    behind = np.max(np.abs(values - values[:, [0]]) * (signed[:, [0]] > signed), axis=1).max()
    summary = (
        "mean rank: " + ", ".join(f"{n} {r:.2f}" for n, r in zip(names, ranks, strict=True)),
        f"ours is first on {int(np.sum(signed[:, 0] <= signed.min(axis=1)))} of {len(found)} sets",
        f"ours is at most {behind:.4f} behind the best",
    )
    columns = (Column("set"), *(Column(name, form) for name in names))
    rows = tuple((name, *row.tolist()) for name, row in zip(found, values, strict=True))
    return Table(f"{title} on the test rows", columns, rows, (*summary, *notes))

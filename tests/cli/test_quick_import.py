"""Commands import scikit-learn without SciPy's statistics and pandas; scores are scikit-learn's."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import log_loss as sklearn_log_loss
from sklearn.metrics import roc_auc_score

from driftgames.boosting import NHBoostDTClassifier
from driftgames.cli._scores import area_under_curve, log_loss, mean_area

CODE = """
import sys
from driftgames.cli._quick_import import import_sklearn
import_sklearn()
assert "sklearn.base" in sys.modules
assert not {"scipy.stats._stats_py", "pandas.core"} & set(sys.modules), "the slow ones are loaded"
assert not {"scipy.stats", "pandas"} & set(sys.modules), "a stand-in stays"
import scipy.stats, pandas, sklearn.utils.fixes
assert scipy.stats.rankdata([3, 1]).tolist() == [2, 1]
assert pandas.DataFrame({"a": [1]}).shape == (1, 1)
assert sklearn.utils.fixes.scipy.stats.rankdata is scipy.stats.rankdata
from sklearn.linear_model import LogisticRegression
LogisticRegression().fit(pandas.DataFrame({"a": [0.0, 1.0]}), [0, 1])
"""


def test_the_slow_modules_are_imported_when_they_are_used():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


NEEDLESS = {"matplotlib", "pandas", "scipy.stats", "sklearn.metrics", "sklearn.model_selection"}
"""Modules that take 0.2 s and more to import, and that no command below needs."""

RUN = """
import sys
from driftgames.cli import main
try:
    main()
finally:
    print("modules", *sys.modules)
"""

COMMANDS = {
    "fit": "boost fit t.csv --label y --rounds 3 --model n.json",
    "predict": "boost predict t.csv --label y --model m.json",
    "inspect": "boost inspect m.json",
    "cv": "boost cv t.csv --label y --rounds 3 --folds 2",
    "mix": "mix f.csv --target z",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("commands")
    x = np.arange(40) * 7 % 40
    (path / "t.csv").write_text("x,y\n" + "".join(f"{v},{'ab'[int(v > 17)]}\n" for v in x))
    (path / "f.csv").write_text("e1,e2,z\n" + "".join(f"{v},{v + 1},{v % 5}\n" for v in x))
    NHBoostDTClassifier(3, max_leaves=2).fit(x[:, None], np.where(x > 17, "b", "a")).save(
        path / "m.json"
    )
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_imports_nothing_slow_that_it_does_not_need(name, folder):
    done = subprocess.run(
        [sys.executable, "-c", RUN, *COMMANDS[name].split()],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    loaded = done.stdout.splitlines()[-1].split()
    assert loaded[0] == "modules"
    assert NEEDLESS.isdisjoint(loaded)
    assert "warning" not in done.stderr


def test_scores_are_imported_when_a_fit_asks_for_them():
    code = """
import sys
from driftgames.cli._quick_import import import_boosting
import_boosting()
assert "sklearn.metrics" not in sys.modules
from driftgames.boosting import NHBoostDTClassifier
X, y = [[k] for k in range(40)], [k % 2 for k in range(40)]
stops = {"early_stopping": True, "scoring": "accuracy", "validation_fraction": 0.5}
fitted = NHBoostDTClassifier(3, calibrate=False, **stops).fit(X, y)
assert "sklearn.metrics" in sys.modules
assert fitted.validation_score_.max() <= 1.0
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("chosen", [None, "2"])
def test_openblas_takes_one_thread_unless_the_user_says_otherwise(chosen, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if chosen is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", chosen)
    code = """
import os
from driftgames.cli._quick_import import import_sklearn
import_sklearn()
from threadpoolctl import threadpool_info
print(os.environ.get("OPENBLAS_NUM_THREADS"))
print(*(each["num_threads"] for each in threadpool_info() if "openblas" in each["internal_api"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    variable, *threads = done.stdout.split()
    assert variable == str(chosen)  # as before the import
    assert set(threads) <= {"1" if chosen is None else str(min(2, os.cpu_count() or 1))}


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(n_classes)
    classes = np.arange(n_classes)
    y = np.concatenate([classes, rng.integers(n_classes, size=200)])
    p = rng.dirichlet(np.ones(n_classes), y.size).round(1)  # ties, and zeros
    p /= p.sum(axis=1, keepdims=True)
    votes = p[:, 1] if n_classes == 2 else p
    wanted = roc_auc_score(y, votes, multi_class="ovr", labels=classes)
    assert mean_area(y, votes, classes) == pytest.approx(wanted, abs=1e-12)
    assert log_loss(y, p, classes) == pytest.approx(sklearn_log_loss(y, p, labels=classes))


def test_without_both_kinds_there_is_no_area():
    assert np.isnan(area_under_curve(np.array([True, True]), np.array([0.1, 0.2])))

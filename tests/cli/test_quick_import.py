"""Commands import scikit-learn without SciPy's statistics and pandas; scores are scikit-learn's."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import log_loss as sklearn_log_loss
from sklearn.metrics import roc_auc_score

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

"""Made tables of different kinds for `bench.large`: labels of which the rule is known.

Each function returns a frame and labels, the same for the same number of rows. They were written
before our booster was run on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from driftgames.core.typing import FloatArray

Labelled = tuple[Any, Any]
"""A data frame and a series of labels."""


def six_clusters(n_rows: int) -> Labelled:
    """Return two classes of six Gaussian clusters each, 40 columns of which 20 are informative."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_rows,
        40,
        n_informative=20,
        n_redundant=5,
        n_clusters_per_class=6,
        flip_y=0.02,
        random_state=1,
    )
    return _labelled(X, y)


def spheres(n_rows: int) -> Labelled:
    """Return two classes that nested spheres in 12 dimensions divide in turn."""
    X = np.random.default_rng(2).normal(size=(n_rows, 12))
    radius = np.square(X).sum(axis=1)
    return _labelled(X, np.searchsorted(np.quantile(radius, [0.25, 0.5, 0.75]), radius) % 2)


def smooth(n_rows: int) -> Labelled:
    """Return labels whose logit is a smooth function of 20 columns with products of columns."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 20))
    logit = 2.0 * X[:, 0] * X[:, 1] + 1.5 * X[:, 2] * X[:, 3] + np.sin(2.0 * X[:, 4]) * X[:, 5]
    logit += X[:, 6:12] @ [1.0, -0.8, 0.6, -0.4, 0.3, 0.2] + 0.5 * np.square(X[:, 12]) - 0.5
    return _labelled(X, _drawn(logit, rng))


def integer_rules(n_rows: int) -> Labelled:
    """Return labels by rules among 14 columns of small integers: equal, larger, sums, parities."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 8, (n_rows, 14))
    logit = 1.6 * (X[:, 0] > X[:, 1]) + 1.2 * (X[:, 2] == X[:, 3]) - 1.4 * (X[:, 4] + X[:, 5] > 8)
    logit = logit + 1.0 * ((X[:, 6] + X[:, 7]) % 2) + 0.8 * (X[:, 8] - X[:, 9] > 2) - 0.7
    return _labelled(X, _drawn(1.5 * logit, rng))


def many_categories(n_rows: int) -> Labelled:
    """Return labels that depend on categories of 10 to 5,000 levels and on four numbers."""
    rng = np.random.default_rng(5)
    logit = np.zeros(n_rows)
    columns: dict[str, Any] = {}
    for at, n_levels in enumerate((10, 50, 200, 1_000, 5_000)):
        shares = 1.0 / np.arange(1, n_levels + 1)
        codes = rng.choice(n_levels, n_rows, p=shares / shares.sum())
        logit += rng.normal(0.0, 0.7, n_levels)[codes]
        columns[f"c{at}"] = np.char.add("v", codes.astype(str))
    numbers = rng.normal(size=(n_rows, 4))
    logit += numbers[:, 0] * (columns["c0"] == "v0") + 0.5 * numbers[:, 1]
    frame, y = _labelled(numbers, _drawn(logit, rng))
    return frame.assign(**columns), y


def wide(n_rows: int) -> Labelled:
    """Return labels of three classes by 30 of 300 correlated columns."""
    rng = np.random.default_rng(6)
    hidden = rng.normal(size=(n_rows, 15))
    X = hidden @ rng.normal(size=(15, 300)) + 2.0 * rng.normal(size=(n_rows, 300))
    scores = np.maximum(X[:, :30] / 4.0, 0.0) @ rng.normal(size=(30, 3))
    scores += rng.gumbel(size=(n_rows, 3)) - scores.mean(axis=0)
    return _labelled(X, np.argmax(scores, axis=1))


def network(n_rows: int) -> Labelled:
    """Return labels by a network of one hidden layer, 28 columns as in physics."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, 28)).astype(np.float32)
    hidden = np.tanh(X @ rng.normal(0.0, 0.5, (28, 24)).astype(np.float32))
    return _labelled(X, _drawn(hidden @ rng.normal(0.0, 1.0, 24), rng))


KINDS: dict[str, Callable[[int], Labelled]] = {
    each.__name__: each
    for each in (six_clusters, spheres, smooth, integer_rules, many_categories, wide, network)
}
"""The kinds by name."""


def _drawn(logit: FloatArray, rng: np.random.Generator) -> Any:
    """Draw labels 0 and 1 with these logits."""
    return (rng.random(logit.size) < 1.0 / (1.0 + np.exp(-logit))).astype(np.int64)


def _labelled(X: Any, y: Any) -> Labelled:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"x{at}" for at in range(X.shape[1])]), pd.Series(y)

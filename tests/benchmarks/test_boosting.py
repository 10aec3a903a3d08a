"""The boosting benchmark on tiny data: every table is there and says what it measured."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from driftgames.benchmarks import boosting, peers
from driftgames.benchmarks.harness import why_absent
from driftgames.datasets.dataset import Dataset, Part


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(boosting, "ROUNDS", 10)
    monkeypatch.setattr(boosting, "MOST_ROUNDS", 30)
    X, y = boosting.make_dense(300)
    part = Part(scipy.sparse.csr_matrix((X > 0.5).astype(float)), y.astype(np.int64))
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Dataset("small", part, part, names, ("-", "+"), "made", published=False)


def test_the_dense_table_is_the_same_for_a_seed_and_flips_what_it_says():
    X, y = boosting.make_dense(4000, noise=0.1)
    again, clean = boosting.make_dense(4000, noise=0.0)
    np.testing.assert_array_equal(X, again)
    assert np.mean(y != clean) == pytest.approx(0.1, abs=0.02)


def test_time_per_round_comes_with_the_share_of_nonzero_weights(small):
    table = boosting.nonzero_weights(300, 1, lambda text: None)
    shares = table.column("nonzero weights")
    assert len(shares) == 5
    assert all(0 < share <= 1 for share in shares)


@pytest.mark.skipif(why_absent(("lightgbm",)) is not None, reason="needs LightGBM")
def test_we_stop_at_the_first_round_that_reaches_the_error_of_lightgbm(small):
    table = boosting.time_to_error("small", small, 1, lambda text: None)
    ours, theirs = table.column("test error")
    rounds = table.column("rounds")[0]
    X, y = small.test
    staged = list(peers.driftgames(X, y, 30)().staged_predict(X))
    errors = [float(np.mean(stage != y)) for stage in staged]
    assert ours == errors[rounds - 1]
    if "not reached" in table.notes[0]:
        assert min(errors) > theirs
    else:
        assert ours <= theirs
        assert all(error > theirs for error in errors[: rounds - 1])


@pytest.mark.skipif(why_absent(("lightgbm",)) is not None, reason="needs LightGBM")
def test_throughput_counts_the_rows_that_are_predicted(small):
    table = boosting.predict("small", small.train, small.test.X, 1, lambda text: None)
    best, rate = table.column("best")[0], table.column("rows/s")[0]
    assert rate == pytest.approx(300 / best)
    assert table.column("contestant") == ["driftgames", "LightGBM"]

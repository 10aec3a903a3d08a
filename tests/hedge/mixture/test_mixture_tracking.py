"""Mixtures that follow experts that change."""

import numpy as np
import pytest

from driftgames.hedge import AdaFixedShare, AdaNormalHedgeTV, ExpertMixture, SeriesMixture


def swapped(rounds=600, seed=0):
    """Forecasts of four experts whose columns change places in the middle."""
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.normal(size=rounds))
    X = y[:, None] + rng.normal(size=(rounds, 4)) * [0.1, 1.0, 2.0, 3.0] + [0.0, 1.0, -3.0, 4.0]
    X[rounds // 2 :] = X[rounds // 2 :, ::-1]
    return X, y


def test_tracking_follows_a_swap_that_the_best_expert_misses():
    X, y = swapped()
    errors = {
        name: (mixture.predict_then_fit(X, y) - y)[320:]
        for name, mixture in {
            "tracking": ExpertMixture(tracking=True, combiners=False),
            "best expert": ExpertMixture(linearise=False),
        }.items()
    }
    assert np.mean(errors["tracking"] ** 2) < 0.2 * np.mean(errors["best expert"] ** 2)


def test_the_regret_to_the_best_sequence_is_at_most_the_bound_of_the_run():
    X, y = swapped()
    mixture = ExpertMixture(tracking=True).fit(X, y)
    assert isinstance(mixture.learner_, AdaFixedShare)
    assert not mixture.linearised_
    lost = (X - y[:, None]) ** 2
    best = lost[:300, 0].sum() + lost[300:, 3].sum()
    assert mixture.total_loss_ - best <= mixture.learner_.run_bound(switches=1)
    # a mixture that does not follow breaks it
    lazy = ExpertMixture("square", linearise=False).fit(X, y)
    assert lazy.total_loss_ - best > mixture.learner_.run_bound(switches=1)
    assert mixture.certificate().holds


def test_the_unit_of_the_forecasts_does_not_matter():
    X, y = swapped(100)
    plain = ExpertMixture(tracking=True).predict_then_fit(X, y)
    scaled = ExpertMixture(tracking=True).predict_then_fit(X * 2.0**40, y * 2.0**40)
    np.testing.assert_array_equal(scaled, plain * 2.0**40)


def test_tracking_is_saved_and_goes_on_to_the_same_bits(tmp_path):
    X, y = swapped(80)
    X[::7, 1] = np.nan
    mixture = ExpertMixture("pinball", tracking=True).fit(X[:50], y[:50])
    mixture.save(tmp_path / "m.json")
    loaded = ExpertMixture.load(tmp_path / "m.json")
    assert loaded.tracking is True
    steps = [loaded.step(row, outcome) for row, outcome in zip(X[50:], y[50:], strict=True)]
    assert steps == mixture.predict_then_fit(X[50:], y[50:]).tolist()
    series = SeriesMixture(tracking=True)
    series.predict_then_fit(X[:50], y[:50])
    series.save(tmp_path / "s.json")
    assert SeriesMixture.load(tmp_path / "s.json") == series


def test_tracking_and_the_learner_must_go_together():
    X, y = swapped(20)
    named = ExpertMixture(learner="adanormalhedge", tracking=True).fit(X, y)
    assert isinstance(named.learner_, AdaNormalHedgeTV)
    with pytest.raises(ValueError, match="the theory of BOA has no tracking"):
        ExpertMixture(learner="boa", tracking=True).fit(X, y)
    with pytest.raises(ValueError, match="tracking needs a learner by name; got"):
        ExpertMixture(learner=AdaFixedShare, tracking=True).fit(X, y)
    with pytest.raises(ValueError, match="tracking must be True or False; got 1"):
        ExpertMixture(tracking=1).fit(X, y)

"""The bound of a mixture against every convex combination, on any data and any scale."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.hedge import ExpertMixture
from driftgames.hedge.losses.interval_losses import PinballLoss, SquareLoss
from driftgames.hedge.losses.label_losses import LogLoss
from driftgames.hedge.losses.make_loss import make_loss
from driftgames.hedge.mixture.hindsight import best_combination

LOSSES = {
    "square": SquareLoss(None, None),
    "absolute": make_loss("absolute", any_size=True),
    "pinball": PinballLoss(0.9, None, None),
    "log": LogLoss(0.01),
}
tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 30), st.integers(2, 7)),
    elements=st.integers(0, 1000).map(lambda k: 0.01 + 0.98 * k / 1000),
)


def _game(name, table, scale):
    X, y = table[:, 1:], table[:, 0]
    return (X, (y > 0.5) * 1.0) if name == "log" else (X * scale, y * scale)


def _spread_bound(mixture, X, y, predictions):
    """Return AdaHedge's bound, from the spreads of the linearised losses."""
    slopes = np.abs(mixture.loss_.slope(predictions, y))
    spread = slopes * (X.max(axis=1) - X.min(axis=1))
    log_n = np.log(X.shape[1])
    return np.sqrt(log_n * np.sum(spread**2)) + spread.max() * (4 / 3 * log_n + 2)


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=30)
@given(
    table=tables,
    scale=st.sampled_from([1e-6, 1.0, 1e9]),
    played=st.sampled_from(["default", "adanormalhedge", "adanormalhedge.tv", "adahedge"]),
)
def test_regret_to_every_convex_combination_stays_below_the_bound(name, table, scale, played):
    X, y = _game(name, table, scale)
    mixture = ExpertMixture(LOSSES[name], learner=None if played == "default" else played)
    predictions = mixture.predict_then_fit(X, y)
    certificate = mixture.combination_certificate(X, y)
    rounding = 1e-9 * (mixture.total_loss_ + mixture.expert_losses_.max())
    assert np.isfinite(certificate.promised)
    assert certificate.regret <= certificate.linearised + rounding
    assert certificate.linearised <= certificate.promised + rounding
    if X.shape[1] > 1 and played == "adahedge":
        assert certificate.promised <= _spread_bound(mixture, X, y, predictions) + rounding


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("name", LOSSES)
def test_a_lazy_player_breaks_the_bound_that_the_mixture_keeps(name, scale):
    # two experts err to either side, one is right half of the time, many are of no use
    rng = np.random.default_rng(0)
    y = 0.45 + 0.1 * rng.random(4000)
    X = np.full((4000, 12), 0.98)
    X[:, 0], X[:, 1] = y - 0.2, y + 0.2
    X = np.clip(X, 0.01, 0.99)
    if name == "log":
        y = (rng.random(4000) < 0.2) * 1.0
        X[:, 0] = 0.1
    else:
        X, y = X * scale, y * scale
    loss = LOSSES[name]
    mixture = ExpertMixture(loss).fit(X, y)
    certificate = mixture.combination_certificate(X, y)
    assert certificate.holds
    lazy = loss.evaluate(X.mean(axis=1), y).sum() - certificate.best.total_loss
    assert lazy > certificate.promised
    assert lazy > certificate.linearised


@pytest.mark.parametrize("name", ["square", "absolute"])
def test_an_adversary_who_follows_the_mixture_cannot_break_the_bound(name):
    # the outcome is put on the side of the mixture where the best combination so far is
    loss, rng = LOSSES[name], np.random.default_rng(1)
    mixture, X, y = ExpertMixture(loss), rng.random((300, 4)), []
    for t, row in enumerate(X):
        guess = row.mean() if t == 0 else mixture.predict(row[None])[0]
        leader = int(np.argmin(mixture.expert_losses_)) if t else 0
        y.append(2.0 if row[leader] > guess else -1.0)
        mixture.partial_fit(row[None], y[-1:])
    certificate = mixture.combination_certificate(X, y)
    assert certificate.holds
    assert certificate.linearised > 0


def test_combinations_beat_every_expert_and_plain_losses_do_not_find_them():
    rng = np.random.default_rng(2)
    y = rng.random(3000)
    X = y[:, None] + rng.normal(0.0, 0.3, (3000, 8)) + np.linspace(-0.4, 0.4, 8)
    linearised, plain = ExpertMixture().fit(X, y), ExpertMixture(linearise=False).fit(X, y)
    best = best_combination(X, y)
    assert best.total_loss < 0.5 * linearised.expert_losses_.min()
    assert linearised.total_loss_ < 1.1 * best.total_loss
    assert plain.total_loss_ > 1.3 * best.total_loss

"""Adaptive intervals: formulas, coverage, files and bad input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.core.documents import DocumentError, encode_array
from driftgames.hedge import AdaptiveIntervals
from driftgames.hedge.losses import PinballLoss

KINDS = [{}, {"learner": "fixed-share", "window": None}, {"method": "agaci", "coverage": 0.8}]
each_kind = pytest.mark.parametrize("settings", KINDS, ids=str)


def drifting(rounds=600, seed=0):
    rng = np.random.default_rng(seed)
    scale = np.exp(0.03 * np.cumsum(rng.normal(size=rounds))) * (1 + 2 * (np.arange(rounds) > 300))
    return np.sin(np.arange(rounds)), np.sin(np.arange(rounds)) + scale * rng.normal(size=rounds)


def test_one_step_size_is_adaptive_conformal_inference():
    x, y = drifting(150)
    intervals = AdaptiveIntervals(0.8, step_sizes=[0.05], window=40)
    run = intervals.run(x, y)
    level, scores = 0.2, []
    for t in range(150):
        ordered = sorted(scores[-40:])
        k = math.ceil((1 - level) * (len(ordered) + 1))
        radius = math.inf if k > len(ordered) else ordered[k - 1]
        assert (run.low[t], run.high[t]) == pytest.approx((x[t] - radius, x[t] + radius))
        missed = abs(y[t] - x[t]) > radius
        assert missed == (not run.covered[t])
        level += 0.05 * (0.2 - missed)
        scores.append(abs(y[t] - x[t]))
    assert intervals.levels[0] == pytest.approx(level)
    assert intervals.coverage == run.coverage
    assert intervals.mean_width == pytest.approx(run.mean_width)


def test_dtaci_plays_the_mean_level_and_charges_pinball_losses():
    x, y = drifting(80)
    intervals = AdaptiveIntervals(window=None)
    total, totals = 0.0, np.zeros(8)
    for t in range(80):
        p, levels = intervals._learners[0].distribution(), intervals.levels
        past = np.abs(y[:t] - x[:t])
        beta = 1 - np.sum(past < abs(y[t] - x[t])) / (t + 1)
        pinball = PinballLoss(0.1, -math.inf, math.inf)  # of the level as a forecast of beta
        total += float(pinball.evaluate(np.array(p @ levels), np.array(beta)))
        totals += pinball.evaluate(levels, np.array(beta))
        intervals.update(x[t], y[t])
    assert intervals.pinball_loss == pytest.approx(total / 80)
    np.testing.assert_allclose(intervals.pinball_losses, totals / 80)
    np.testing.assert_allclose(
        intervals._learners[0].action_losses, totals, rtol=1e-9, err_msg="charged otherwise"
    )


def test_agaci_has_a_pinball_loss_near_that_of_the_best_step_size_or_below():
    x, y = drifting()
    intervals = AdaptiveIntervals(method="agaci")
    run = intervals.run(x, y)
    low, high = (PinballLoss(q, -math.inf, math.inf) for q in (0.05, 0.95))
    mine = (low.evaluate(run.low[1:], y[1:]) + high.evaluate(run.high[1:], y[1:])).sum() / 600
    assert intervals.pinball_loss == pytest.approx(mine)
    promised = sum(c.certificate().at(1 / 8).promised for c in intervals._learners)
    assert 600 * (mine - intervals.pinball_losses.min()) <= promised


@each_kind
def test_coverage_is_near_the_target_though_errors_drift(settings):
    intervals = AdaptiveIntervals(**settings)
    run = intervals.run(*drifting())
    target = settings.get("coverage", 0.9)
    assert run.coverage == pytest.approx(target, abs=0.025)
    assert run.coverage_over_time(100)[-1] == run.covered[-100:].mean()
    assert run.coverage_over_time(100)[2] == run.covered[:3].mean()
    assert intervals.certificate().error == pytest.approx(run.coverage - target)
    # a constant width from the first 300 rounds does not do
    x, y = drifting()
    fixed = np.quantile(np.abs(y - x)[:300], target)
    assert np.mean(np.abs(y - x) <= fixed) < target - 0.1


@tried(max_examples=60)
@given(
    errors=arrays(np.float64, st.integers(1, 60), elements=st.floats(-100, 100)),
    coverage=st.floats(0.05, 0.95),
    window=st.one_of(st.none(), st.integers(1, 20)),
)
def test_every_step_size_and_the_drawn_one_miss_as_often_as_promised(errors, coverage, window):
    intervals = AdaptiveIntervals(coverage, window=window, step_sizes=[0.01, 0.1, 1.0])
    intervals.run(np.zeros(errors.size), errors)
    certificate = intervals.certificate()
    assert certificate.holds
    steps, alpha = intervals.step_sizes, 1 - coverage
    wanted = (max(alpha, coverage) + steps) / (steps * errors.size)
    np.testing.assert_allclose(certificate.promised[:3], wanted)
    assert certificate.names[3] == "drawn"


def test_a_level_that_does_not_learn_breaks_the_bound():
    errors = 1.5 ** np.arange(200.0)  # each beyond all before
    intervals = AdaptiveIntervals(0.5, step_sizes=[0.5])
    intervals._step_sizes = np.array([1e-12])
    intervals.run(np.zeros(200), errors)
    intervals._step_sizes = np.array([0.5])
    assert not intervals.certificate().holds
    honest = AdaptiveIntervals(0.5, step_sizes=[0.5])
    honest.run(np.zeros(200), errors)
    assert honest.certificate().holds
    assert "every bound holds" in str(honest.certificate())


@each_kind
def test_a_saved_one_goes_on_to_the_same_bits(settings, tmp_path):
    x, y = drifting(160)
    intervals = AdaptiveIntervals(**settings)
    whole = AdaptiveIntervals(**settings)
    assert intervals.predict(3.0) == (-math.inf, math.inf)
    intervals.run(x[:120], y[:120])
    intervals.save(tmp_path / "s.json")
    loaded = AdaptiveIntervals.load(tmp_path / "s.json")
    assert loaded == intervals
    assert loaded.copy() == intervals
    assert loaded.predict(3.0) == intervals.predict(3.0)
    for each in zip(x[120:], y[120:], strict=True):
        loaded.update(*each)
    whole.run(x, y)
    assert loaded == whole
    assert loaded != intervals


@each_kind
def test_bad_input_leaves_the_state_unchanged(settings):
    intervals = AdaptiveIntervals(**settings)
    intervals.run(*drifting(30))
    before = intervals.copy()
    with pytest.raises(ValueError, match="outcome must be a finite number; got nan"):
        intervals.update(1.0, math.nan)
    with pytest.raises(ValueError, match=r"outcomes must be finite; got inf at index 1"):
        intervals.run([1.0, 2.0], [1.0, math.inf])
    with pytest.raises(ValueError, match=r"vectors of one length; got \(2,\), \(3,\)"):
        intervals.run([1.0, 2.0], [1.0, 2.0, 3.0])
    assert intervals == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"coverage": 1.0}, "coverage must be below 1; got 1"),
        ({"coverage": 0.0}, "coverage must .*; got 0"),
        ({"method": "aci"}, "method must be one of dtaci, agaci; got 'aci'"),
        ({"step_sizes": []}, r"step_sizes must be numbers in \(0, 1\]; got \[\]"),
        ({"step_sizes": [0.1, 2.0]}, r"step_sizes must be numbers in \(0, 1\]; got \[0.1, 2.0\]"),
        ({"window": 0}, "window must be an integer >= 1; got 0"),
        ({"method": "agaci", "learner": "squint"}, "learner is for the method 'dtaci' alone"),
        ({"learner": "oracle"}, "learner must be one of"),
    ],
)
def test_arguments_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        AdaptiveIntervals(**settings)


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("levels", np.full(8, 3.0), "a level must lie in"),
        ("misses", np.full(8, 99.0), "20 rounds cannot have 99 misses"),
        ("scores", np.ones(3), "scores must be 20 nonnegative numbers; got 3"),
        ("scores", -np.ones(20), "scores must be 20 nonnegative numbers"),
        ("numbers", np.full(7, 0.5), "the clock must be an integer; got 0.5"),
        ("losses", np.ones(3), r"losses must be float64\[8\]"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(member, value, message):
    intervals = AdaptiveIntervals()
    intervals.run(*drifting(20))
    content = intervals.content()
    content["state"][member] = encode_array(value)
    with pytest.raises(DocumentError, match=message):
        AdaptiveIntervals.from_content(content)
    content = intervals.content()
    content["state"]["learners"] = AdaptiveIntervals(method="agaci").content()["state"]["learners"]
    with pytest.raises(DocumentError, match="its learners are not those of its arguments"):
        AdaptiveIntervals.from_content(content)


def test_nothing_is_certified_before_the_first_round():
    with pytest.raises(ValueError, match="no round was played"):
        AdaptiveIntervals().certificate()
    assert math.isnan(AdaptiveIntervals().coverage)


def test_coverage_over_time_is_drawn_beside_the_target():
    run = AdaptiveIntervals().run(*drifting(60))
    axes = run.plot(window=20).axes[0]
    assert axes.get_ylabel() == "coverage of the last 20 rounds"
    assert [line.get_label() for line in axes.lines] == ["DtACI", "target"]

"""Adaptive intervals: formulas, coverage, files and bad input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.core.documents import decode_array
from driftgames.hedge import AdaptiveIntervals, SignedIntervals
from driftgames.hedge.losses.interval_losses import PinballLoss
from tests.refusals import restate

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
    np.testing.assert_allclose(certificate.promised[1:4], wanted)
    assert (certificate.names[0], certificate.names[4]) == ("played", "drawn")
    safe = (11 + 2 * math.sqrt(alpha * coverage * errors.size)) / errors.size
    assert certificate.promised[0] == pytest.approx(safe)


def test_misses_beyond_the_bound_break_it():
    errors = 1.5 ** np.arange(200.0)  # each beyond all before
    honest = AdaptiveIntervals(0.5, step_sizes=[0.5])
    honest.run(np.zeros(200), errors)
    assert honest.certificate().holds
    assert "every bound holds" in str(honest.certificate())
    assert not restate(honest, state__misses=np.array([200.0])).certificate().holds


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


def test_nothing_is_certified_before_the_first_round():
    with pytest.raises(ValueError, match="no round was played"):
        AdaptiveIntervals().certificate()
    assert math.isnan(AdaptiveIntervals().coverage)


def test_coverage_over_time_is_drawn_beside_the_target():
    run = AdaptiveIntervals().run(*drifting(60))
    axes = run.plot(window=20).axes[0]
    assert axes.get_ylabel() == "coverage of the last 20 rounds"
    assert [line.get_label() for line in axes.lines] == ["DtACI", "target"]


def hostile(intervals, rounds, *, misses):
    """Play outcomes that lie outside of every finite interval, or inside of every one."""
    for _ in range(rounds):
        low, high = intervals.predict(0.0)
        inside = 0.0 if math.isinf(high) else 0.5 * (low + high)
        intervals.update(0.0, 2.0 * abs(high) + 1.0 if misses and high < math.inf else inside)
    return intervals.certificate()


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("misses", [True, False])
def test_the_played_intervals_keep_their_theorem_where_the_plain_mean_level_breaks_it(
    coverage, misses, monkeypatch
):
    found = hostile(AdaptiveIntervals(coverage, step_sizes=[1e-4]), 1500, misses=misses)
    assert found.holds
    assert found.realised[0] <= found.promised[0]
    assert found.realised[0] == pytest.approx(coverage - found.coverage)
    # without the correction, a step size this small is missed in most rounds, or never
    monkeypatch.setattr(AdaptiveIntervals, "_budget", lambda self, t: 1e9)
    plain = hostile(AdaptiveIntervals(coverage, step_sizes=[1e-4]), 1500, misses=misses)
    if coverage < 0.99:  # 1 % of 1,500 rounds is within the bound
        assert (plain.realised[0] if misses else -plain.realised[0]) > found.promised[0]


def test_an_exact_forecast_is_no_miss_of_the_certificate():
    outcomes = np.random.default_rng(0).poisson(0.05, size=2000).astype(float)
    run = AdaptiveIntervals(0.9).run(np.zeros(2000), outcomes)
    assert run.coverage > 0.94  # the forecast alone covers so many
    found = run.certificate()
    assert found.holds
    assert found.realised[0] == pytest.approx(0.9 - run.coverage)


def test_outcomes_beyond_bounds_that_are_rounded_are_misses():
    forecast, outcome = 0.2, 0.9
    assert forecast + (outcome - forecast) < outcome  # by one unit in the last place
    intervals = AdaptiveIntervals(0.5)
    run = intervals.run(np.full(500, forecast), np.full(500, outcome))
    assert intervals.certificate().holds
    assert run.coverage >= 0.5 - intervals.certificate().promised[0]


@tried(max_examples=60)
@given(
    errors=arrays(np.float64, st.integers(1, 200), elements=st.floats(-100, 100)),
    coverage=st.floats(0.05, 0.95),
)
def test_the_played_misses_stay_within_the_budget_at_every_time(errors, coverage):
    intervals = AdaptiveIntervals(coverage, step_sizes=[0.001, 0.5])
    for t, error in enumerate(errors, start=1):
        covered = intervals.update(0.0, error)
        certificate = intervals.certificate()
        budget = 11 + 2 * math.sqrt(coverage * (1 - coverage) * t)
        assert certificate.realised[0] * t <= budget + 1e-9
        assert isinstance(covered, bool)
    # a point that is hit exactly counts as a miss; otherwise the two counts agree
    played = decode_array(intervals.content()["state"]["numbers"])[-1] / t
    assert 1 - intervals.coverage <= played + 1e-12
    if (errors != 0).all():
        assert 1 - intervals.coverage == pytest.approx(played)


def test_the_mean_level_is_played_as_it_is_while_the_excess_is_small():
    x, y = drifting(200)
    intervals = AdaptiveIntervals()
    for each in zip(x, y, strict=True):
        mean = intervals._learners[0].distribution() @ intervals.levels
        assert intervals._level() == pytest.approx(min(max(mean, 0.0), 1.0))
        intervals.update(*each)


def test_the_learner_of_levels_is_given_the_largest_pinball_loss():
    """A level lies within one step of [0, 1] and beta in [0, 1]: the loss at the far end."""
    for coverage, steps in ((0.9, [0.01, 0.2]), (0.3, [0.5])):
        alpha, gamma = 1 - coverage, max(steps)
        made = AdaptiveIntervals(coverage, step_sizes=steps)
        pinball = PinballLoss(alpha, -math.inf, math.inf)
        ends = [
            float(pinball.evaluate(np.array(level), np.array(beta)))
            for level in (-gamma * coverage, 1 + gamma * alpha)
            for beta in (0.0, 1.0)
        ]
        most = made._learners[0].loss_range[1]
        assert max(ends) <= most
        assert most == pytest.approx(max(alpha, coverage) * (1 + gamma))


def test_fixed_share_has_the_published_rate_and_share_for_500_rounds():
    """Gibbs and Candes (2022), Sec. 2.2, with |I| = 500 and k step sizes; losses of any range."""
    for coverage, k in ((0.9, 8), (0.7, 3)):
        alpha = 1 - coverage
        made = AdaptiveIntervals(coverage, learner="fixed-share", step_sizes=[0.01] * k)
        learner = made._learners[0]
        spread = (1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3
        rate = math.sqrt(3 / 500) * math.sqrt((math.log(k * 500) + 2) / spread)
        width = learner.loss_range[1]  # the learner divides losses by it
        assert learner._rate == pytest.approx(rate * width)
        assert learner._share == pytest.approx(1 / (2 * 500))


def test_an_error_beyond_the_quantile_is_a_miss_and_one_that_equals_it_is_not():
    """Of three errors the level 1/4 takes the largest: ceil(3/4 * 4) is the third."""
    for outcome, missed in ((3.0, 0), (3.0000001, 1)):
        made = AdaptiveIntervals(0.75, step_sizes=[0.5])
        made.run([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
        made = restate(made, state__levels=np.array([0.25]), state__misses=np.zeros(1))
        made.update(0.0, outcome)
        assert decode_array(made.content()["state"]["misses"])[0] == missed
        assert made.levels[0] == 0.25 + 0.5 * (0.25 - missed)


def test_a_run_prints_its_summary():
    run = AdaptiveIntervals(0.9).run(*drifting(300))
    text = str(run)
    assert text.startswith("DtACI, 300 rounds: covered ")
    assert "target 90.0 %; mean width " in text
    assert " infinite)" in text
    assert "array" not in text
    one = AdaptiveIntervals(0.9).run([0.0], [1.0])
    assert str(one) == "DtACI, 1 round: covered 100.0 %, target 90.0 %; all intervals infinite"


def test_the_winkler_score_charges_width_and_misses():
    run = AdaptiveIntervals(0.8).run(*drifting(300))
    assert run.winkler_score() == math.inf
    first = int(np.argmax(np.isfinite(run.high[::-1] - run.low[::-1]).cumprod()[::-1]))
    low, high, y = run.low[first:], run.high[first:], run.outcomes[first:]
    scores = high - low + 10 * np.where(y < low, low - y, np.where(y > high, y - high, 0.0))
    assert run.winkler_score(first=first) == pytest.approx(scores.mean())


def test_signed_intervals_are_two_one_sided_ones():
    x, y = drifting(150)
    run = SignedIntervals(0.8, step_sizes=[0.05], window=40).run(x, y)
    for sign, bounds in ((1, run.high), (-1, run.low)):
        level, errors = 0.1, []
        for t in range(150):
            ordered = sorted(errors[-40:])
            k = math.ceil((1 - level) * (len(ordered) + 1))
            radius = math.inf if k > len(ordered) else ordered[k - 1]
            assert bounds[t] == pytest.approx(x[t] + sign * radius)
            error = sign * (y[t] - x[t])
            level += 0.05 * (0.1 - (error > radius))
            errors.append(error)


def test_signed_intervals_cover_each_side_and_follow_skewed_errors():
    rng = np.random.default_rng(0)
    y = rng.exponential(size=2000) - 1
    signed, absolute = SignedIntervals(0.9), AdaptiveIntervals(0.9)
    run, other = signed.run(np.zeros(2000), y), absolute.run(np.zeros(2000), y)
    assert np.mean(y < run.low) == pytest.approx(0.05, abs=0.015)
    assert np.mean(y > run.high) == pytest.approx(0.05, abs=0.015)
    assert run.winkler_score(first=400) < other.winkler_score(first=400)
    assert run.certificate().holds
    assert run.certificate().names[0] == "below: played"
    assert signed.coverage == run.coverage


def test_saved_signed_intervals_go_on_to_the_same_bits(tmp_path):
    x, y = drifting(160)
    made, whole = SignedIntervals(window=50), SignedIntervals(window=50)
    made.run(x[:100], y[:100])
    made.save(tmp_path / "s.json")
    loaded = SignedIntervals.load(tmp_path / "s.json")
    for each in zip(x[100:], y[100:], strict=True):
        loaded.update(*each)
    whole.run(x, y)
    assert loaded == whole
    before = loaded.copy()
    with pytest.raises(ValueError, match="outcome must be a finite number"):
        loaded.update(0.0, math.nan)
    with pytest.raises(ValueError, match="vectors of one length"):
        loaded.run([0.0], [1.0, 2.0])
    assert loaded == before


def test_signed_bounds_that_would_cross_are_one_point():
    made = SignedIntervals(0.5, step_sizes=[0.5])
    made.run(np.zeros(40), np.tile([1.0, -1.0], 20))
    crossing = {f"state__tails__{k}__state__levels": np.array([1.4]) for k in (0, 1)}
    made = restate(made, **crossing)
    low, high = made.predict(3.0)
    assert low == high == pytest.approx(3.0)

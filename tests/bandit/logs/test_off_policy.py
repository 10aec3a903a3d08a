"""Logs of pulls, and what they say about other policies."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.off_policy import KINDS, bernstein, missing
from driftgames.bandit import POLICIES, PullLog, ThompsonSampling, TsallisINF, off_policy_value
from driftgames.bandit.logs.weighted_bets import best_sale, settle
from driftgames.certificates import ConfidenceSequence
from driftgames.core.display import frame_of_columns


def play(policy, losses):
    """Return the log of a policy that plays a matrix of losses, or of gains."""
    log = PullLog(policy)
    log.run(losses)
    return log


def test_a_log_has_what_the_compiled_run_drew():
    losses = drifting(np.random.default_rng(3))
    for name, make in POLICIES.items():
        ran = make(3, 300, np.random.default_rng(5), names=list("abc"))
        drawn = ran.run(losses).drawn
        log = play(make(3, 300, np.random.default_rng(5), names=list("abc")), losses)
        assert log.columns["arm"] == ["abc"[k] for k in drawn], name
        assert log.columns["loss"] == losses[np.arange(300), drawn].tolist()
        assert log.policy == ran
    with pytest.raises(ValueError, match="losses must lie in"):
        log.run(np.full((2, 3), 2.0))
    assert len(log) == 300


def drifting(rng, rounds=300):
    """Return losses of three arms; the best arm changes halfway."""
    chances = np.full((rounds, 3), 0.5)
    chances[: rounds // 2, 0], chances[rounds // 2 :, 2] = 0.1, 0.1
    return (rng.random(chances.shape) < chances).astype(float)


def rare(rng, rounds=200):
    """Return a log that rarely draws the arm of the target {1: 1.0}, and that arm's mean loss."""
    losses = (rng.random(rounds) < 0.3).astype(float)
    drawn = rng.random(rounds) < 0.02
    log = PullLog(TsallisINF(2))
    log.columns = {
        "round": list(range(1, rounds + 1)),
        "arm": drawn.astype(int).tolist(),
        "propensity": np.where(drawn, 0.02, 0.98).tolist(),
        "loss": np.where(drawn, losses, 0.0).tolist(),
    }
    return log, float(losses.mean())


def naive(log, arm, spread=1.96):
    """Return the interval of the central limit theorem."""
    hit = np.array(log.columns["arm"]) == arm
    Z = hit / np.array(log.columns["propensity"]) * np.array(log.columns["loss"])
    return Z.mean() + np.array([-1, 1]) * spread * Z.std() / len(Z) ** 0.5


def test_the_interval_covers_rare_arms_where_that_of_the_central_limit_theorem_fails():
    covered, by_naive = 0, 0
    for seed in range(200):
        log, truth = rare(np.random.default_rng(seed))
        found = off_policy_value(log, {1: 1.0}, delta=0.1)
        covered += found.low <= truth <= found.high
        low, high = naive(log, 1, spread=1.645)
        by_naive += low <= truth <= high
    assert covered >= 0.9 * 200
    assert by_naive < 0.8 * 200


@pytest.mark.parametrize("name", ["exp3", "tsallis-inf", "exp3-ix"])
def test_the_interval_covers_when_the_logging_policy_learns_and_losses_drift(name):
    missed, errors = 0, []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        losses = drifting(rng)
        log = play(POLICIES[name](3, len(losses), rng), losses)
        found = off_policy_value(log, {0: 0.5, 2: 0.5}, delta=0.1)
        truth = losses[:, [0, 2]].mean()
        missed += not found.low <= truth <= found.high
        errors.append(found.value - truth)
    assert missed <= 6
    assert abs(np.mean(errors)) < 4 * np.std(errors) / len(errors) ** 0.5  # without bias


def test_an_interval_narrows_with_the_log_and_means_something():
    widths = []
    for rounds in (1000, 16_000):
        rng = np.random.default_rng(1)
        log = PullLog(TsallisINF(2))
        drawn = (rng.random(rounds) < 0.5).astype(int)
        log.columns = {
            "round": list(range(rounds)),
            "arm": drawn.tolist(),
            "propensity": [0.5] * rounds,
            "loss": (rng.random(rounds) < 0.2 + 0.3 * drawn).astype(float).tolist(),
        }
        found = off_policy_value(log, {1: 1.0})
        assert found.low < 0.5 < found.high
        widths.append(found.high - found.low)
    assert widths[1] < 0.1
    assert 3 < widths[0] / widths[1] < 5  # one over the root of the rounds


def test_a_policy_is_worth_its_own_losses_on_its_own_log():
    """Replayed on its own log a policy plays the same: all weights are 1."""
    rng = np.random.default_rng(0)
    losses = drifting(rng)
    for name, make in POLICIES.items():
        log = play(make(3, 300, np.random.default_rng(5)), losses)
        twin = make(3, 300, np.random.default_rng(6))
        found = off_policy_value(log, twin)
        assert found.value == pytest.approx(np.mean(log.columns["loss"]), rel=1e-9), name
        assert found.effective_rounds == pytest.approx(300)
        assert twin.t == 0  # a copy was replayed


def test_a_function_of_the_past_is_a_target():
    losses = drifting(np.random.default_rng(3))
    log = play(TsallisINF(3, random_state=1), losses)
    fixed = off_policy_value(log, {1: 0.25, 2: 0.75})
    lengths = []

    def target(past):
        lengths.append(len(past["arm"]))
        return {1: 0.25, 2: 0.75}

    assert off_policy_value(log, target) == fixed
    assert lengths == list(range(300))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_says_the_same_as_its_log(backend):
    losses = drifting(np.random.default_rng(3))
    log = play(TsallisINF(names=list("abc"), random_state=1), losses)
    frame = log.to_frame(backend)
    assert off_policy_value(frame, {"b": 1.0}) == off_policy_value(log, {"b": 1.0})
    assert off_policy_value(log, {"a": 1.0}) != off_policy_value(log, {"b": 1.0})
    without = {name: column for name, column in log.columns.items() if name != "round"}
    rows = frame_of_columns(without, backend)
    assert off_policy_value(rows, {"b": 1.0}) == off_policy_value(log, {"b": 1.0})


def test_gains_in_a_range_are_estimated_in_their_own_units():
    losses = drifting(np.random.default_rng(3))
    plain = play(TsallisINF(3, random_state=1), losses)
    scaled = play(
        TsallisINF(3, random_state=1, loss_range=(-4, 6), gains=True), 6.0 - 10.0 * losses
    )
    found, mirrored = (
        off_policy_value(log, {0: 1.0}, loss_range=ends)
        for log, ends in ((plain, (0, 1)), (scaled, (-4, 6)))
    )
    assert (mirrored.low, mirrored.high) == pytest.approx(
        (6 - 10 * found.high, 6 - 10 * found.low), rel=1e-9
    )


def test_late_losses_find_their_pulls_and_missing_ones_are_named():
    log = PullLog(TsallisINF(2, random_state=0))
    pulls = [log.pull() for _ in range(6)]
    for k, (arm, prob) in reversed(list(enumerate(pulls[:5]))):
        log.update(arm, k / 10, prob)
    log.discard(*pulls[5])
    known = [x for x in log.columns["loss"] if x == x]
    assert sorted(known) == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert log.policy.pending == 0
    with pytest.raises(ValueError, match="loss must be finite; got nan at index 5"):
        off_policy_value(log, {0: 1.0})


def test_a_refused_loss_leaves_the_log_as_it_was():
    log = PullLog(TsallisINF(2, random_state=0))
    arm, prob = log.pull()
    with pytest.raises(ValueError, match="a loss must lie in"):
        log.update(arm, 2.0, prob)
    log.update(arm, 1.0, prob)
    assert log.columns["loss"] == [1.0]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({0: 0.5}, "target must sum to 1"),
        ({0: 1.5, 1: -0.5}, "target must be nonnegative"),
        (3, "target must be a mapping, a function or a BanditPolicy; got 3"),
        (TsallisINF(names=["x", "y"]), "plays the arm 'x', which is not in the log"),
        (TsallisINF(1), "the log has the arm 1, which the policy has not"),
    ],
)
def test_bad_targets_are_named(target, message):
    log = play(TsallisINF(2, random_state=0), np.zeros((9, 2)))
    with pytest.raises(ValueError, match=message):
        off_policy_value(log, target)


def test_bad_logs_are_named():
    log = play(TsallisINF(2, random_state=0), np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"missing: \['loss'\]"):
        off_policy_value(log.to_frame().drop(columns="loss"), {0: 1.0})
    with pytest.raises(ValueError, match="a log without pulls"):
        off_policy_value(PullLog(TsallisINF(2)), {0: 1.0})
    with pytest.raises(ValueError, match="propensity must lie in"):
        off_policy_value(log.to_frame().assign(propensity=2.0), {0: 1.0})
    with pytest.raises(ValueError, match="log must be a PullLog or a data frame; got list"):
        off_policy_value([1, 2], {0: 1.0})


def test_a_policy_that_watches_refuses_what_cannot_be_a_pull():
    policy = TsallisINF(2, random_state=0)
    for pull in ((2, 0.5, 0.5), (0, 1.5, 0.5), (0, 0.5, 0.0)):
        with pytest.raises(ValueError, match=r"must lie in|there is no arm"):
            policy.watch(*pull)
    assert policy == TsallisINF(2, random_state=0)


def test_a_target_that_plays_an_unknown_arm_is_refused_with_the_arms_of_the_log():
    log = play(TsallisINF(names=["red", "green"], random_state=0), np.zeros((3, 2)))
    listed = r"plays the arm 'blue', which is not in the log; its arms are 'red', 'green'"
    for target in ({"blue": 1.0}, lambda past: {"red": 0.5, "blue": 0.5}):
        with pytest.raises(ValueError, match=listed):
            off_policy_value(log, target)
    with pytest.raises(ValueError, match="is not in the log"):
        off_policy_value(log.to_frame(), TsallisINF(names=["red", "green", "blue"]))
    assert off_policy_value(log, {"red": 1.0, "blue": 0.0}).rounds == 3
    drawn = log.columns["arm"][0]
    other = {"red": "green", "green": "red"}[drawn]
    frame = log.to_frame().iloc[:1]
    with pytest.raises(ValueError, match="is not in the log"):
        off_policy_value(frame, {other: 1.0})
    never = off_policy_value(frame, {other: 1.0}, arms=["red", "green"])
    assert (never.low, never.high) == (0.0, 1.0)


def test_a_run_of_a_log_is_the_run_of_its_policy_with_its_regret_and_certificate():
    losses = drifting(np.random.default_rng(3))
    log = PullLog(TsallisINF(3, random_state=5, loss_range=(0, 2), gains=True))
    logged = log.run(2.0 - 2.0 * losses)
    policy = TsallisINF(3, random_state=5, loss_range=(0, 2), gains=True)
    ran = policy.run(2.0 - 2.0 * losses)
    assert logged.regret == ran.regret
    assert logged.certificate() == ran.certificate()
    assert np.array_equal(logged.regret_over_time, ran.regret_over_time)
    later = log.run(2.0 - 2.0 * losses)
    assert later.first_round == 301
    assert np.isinf(later.promised)


def uniform_log(rng, losses):
    """Return a log of uniform draws."""
    rounds, n_arms = losses.shape
    drawn = rng.integers(n_arms, size=rounds)
    log = PullLog(TsallisINF(n_arms))
    log.columns = {
        "round": list(range(1, rounds + 1)),
        "arm": drawn.tolist(),
        "propensity": [1 / n_arms] * rounds,
        "loss": losses[np.arange(rounds), drawn].tolist(),
    }
    return log


def test_the_lower_end_is_where_the_bettors_wealth_reaches_two_over_delta():
    """Weights of 50: their mean is far above 1 at first, which no bound may rely on."""
    rng = np.random.default_rng(0)
    log, _ = rare(rng, rounds=600)
    found = off_policy_value(log, {1: 1.0}, delta=0.1)
    hit = np.array(log.columns["arm"]) == 1
    Z = hit / np.array(log.columns["propensity"]) * np.array(log.columns["loss"])
    settings = {"value_range": (0.0, None), "side": "lower", "drifting": True}
    bettor = ConfidenceSequence(0.05, tuned_for=20_000, **settings)
    bettor.update(Z)
    assert 0 < found.low < Z.mean()
    assert bettor.log_wealth(found.low) == pytest.approx(np.log(2 / 0.1), rel=1e-6)
    upper = ConfidenceSequence(0.05, tuned_for=20_000, **settings)
    upper.update(hit / np.array(log.columns["propensity"]) - Z)
    assert upper.log_wealth(1 - found.high) == pytest.approx(np.log(2 / 0.1), rel=1e-6)


@given(
    rounds=st.integers(1, 60),
    n_arms=st.integers(2, 4),
    least=st.floats(0.01, 0.25),
    seed=st.integers(0, 2**32 - 1),
    knows=st.sampled_from(["four columns", "distributions", "least_propensity"]),
)
def test_the_value_lies_in_its_interval_and_that_of_gains_mirrors_it(
    rounds, n_arms, least, seed, knows
):
    rng = np.random.default_rng(seed)
    p = least + (1 - n_arms * least) * rng.dirichlet(np.full(n_arms, 0.3), rounds)
    drawn = np.array([rng.choice(n_arms, p=row / row.sum()) for row in p])
    losses = rng.random(rounds) ** rng.choice([0.1, 1.0, 10.0])
    columns = {"arm": drawn, "propensity": p[np.arange(rounds), drawn], "loss": losses}
    settings = {"arms": range(n_arms)}
    if knows == "distributions":
        columns["distribution"] = list(p)
    if knows == "least_propensity":
        settings["least_propensity"] = 0.9 * least
    target = dict(enumerate(rng.dirichlet(np.full(n_arms, 0.3))))
    log = pd.DataFrame(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of 20 such logs one may be disproved
        found = off_policy_value(log, target, delta=0.5, **settings)
        gained = off_policy_value(log.assign(loss=1 - losses), target, delta=0.5, **settings)
    assert 0 <= found.low <= found.value <= found.high <= 1
    mirrored = [1 - gained.high, 1 - gained.value, 1 - gained.low]
    assert [found.low, found.value, found.high] == pytest.approx(mirrored, abs=1e-9)


def test_the_value_is_nearer_than_the_mean_of_the_weighted_losses():
    off = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        losses = (rng.random((300, 5)) < 0.7).astype(float)
        log = uniform_log(rng, losses)
        Z = 5.0 * (np.array(log.columns["arm"]) == 4) * np.array(log.columns["loss"])
        truth = losses[:, 4].mean()
        off.append((off_policy_value(log, {4: 1.0}).value - truth, Z.mean() - truth))
    ours, inverse = np.square(off).mean(axis=0)
    assert ours < 0.5 * inverse


def test_a_log_that_draws_no_arm_of_the_target_has_the_middle_of_the_interval():
    log = uniform_log(np.random.default_rng(0), np.zeros((50, 2)))
    never = off_policy_value(log, {2: 1.0}, arms=[0, 1, 2])
    assert (never.low, never.value, never.high) == (0.0, 0.5, 1.0)


def test_propensities_that_the_log_disproves_are_named_and_leave_the_whole_range():
    rng = np.random.default_rng(0)
    log = uniform_log(rng, (rng.random((3000, 3)) < 0.9).astype(float))
    log.columns["propensity"] = [1 / 6] * 3000
    named = r"no value agrees with this log, so its propensities .* near 1 and is 1\.99"
    with pytest.warns(RuntimeWarning, match=named):
        found = off_policy_value(log, {1: 1.0})
    assert (found.low, found.high) == (0.0, 1.0)
    assert 0.85 < found.value < 0.95


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [False, True])
def test_intervals_cover_in_at_least_1_minus_delta_of_all_logs(kind, whole):
    missed = sum(missing(kind, seed, rounds=120, whole=whole) for seed in range(150))
    assert missed <= 0.2 * 150


def test_the_wealth_of_a_bettor_who_sells_is_1_on_average_over_all_draws():
    """Every log of four rounds, by a policy that learns: the sales change no expectation."""
    losses, rates = (
        np.array([[0.2, 1.0], [1.0, 0.0], [0.3, 0.7], [0.0, 0.9]]),
        2.0 ** np.arange(-6, 6),
    )
    target = np.array([0.3, 0.7])
    price = np.prod(1.0 + rates[:, None] * (losses @ target), axis=1)
    found = without = 0.0
    for drawn in itertools.product((0, 1), repeat=4):
        chance, pulls = 1.0, []
        for t, arm in enumerate(drawn):
            first = 0.2 + 0.15 * sum(drawn[:t])
            p = np.array([first, 1.0 - first])
            chance *= p[arm]
            pulls.append((target[arm] / p[arm], losses[t, arm], (target / p).max()))
        w, x, largest = (np.array(column) for column in zip(*pulls, strict=True))
        sums = np.zeros(rates.size)
        settle(w, x, largest, rates, sums)
        found += chance * np.exp(sums) / price
        without += chance * np.prod(1.0 + rates[:, None] * w * x, axis=1) / price
        assert not np.allclose(np.exp(sums), np.prod(1.0 + rates[:, None] * w * x, axis=1))
    assert found == pytest.approx(np.ones(rates.size), rel=1e-12)
    assert without == pytest.approx(np.ones(rates.size), rel=1e-12)


@pytest.mark.parametrize("most", [1.01, 2.0, 5.0, 300.0])
@pytest.mark.parametrize("rate", [1e-3, 0.05, 2.0, 1e4])
@pytest.mark.parametrize("loss", [0.01, 0.4, 0.99])
def test_the_sale_is_that_of_the_largest_mean_logarithm_or_half_of_what_may_be_lost(
    most, rate, loss
):
    def growth(sold):
        hit = np.log1p(rate * most - sold * (most - 1)), np.log1p(-sold * (most - 1))
        return (loss * hit[0] + (1 - loss) * hit[1]) / most + (1 - 1 / most) * np.log1p(sold)

    sold = best_sale(rate, loss, most)
    assert 0 < sold * (most - 1) <= 0.5 * (1 + 1e-12)
    grid = np.linspace(0, 0.5 / (most - 1), 2001)
    assert growth(sold) >= growth(grid).max() - 1e-12


def test_a_log_with_distributions_narrows_the_interval_for_functions_and_policies_too():
    widths = []
    for seed in range(10):
        losses = drifting(np.random.default_rng(seed), rounds=1500)
        log = PullLog(TsallisINF(3, random_state=seed), distributions=True)
        log.run(losses)
        plain = log.to_frame().drop(columns="distribution")
        other = ThompsonSampling(3, random_state=0)  # replayed, it plays another game
        for target in ({1: 1.0}, lambda past: {1: 0.5, 2: 0.5}, other):
            without = off_policy_value(plain, target)
            found = off_policy_value(log, target)
            assert found.value == without.value
            widths.append((without.high - without.low, found.high - found.low))
    before, after = np.array(widths).reshape(10, 3, 2).mean(axis=0).T
    assert (after < 0.93 * before).all()


def test_a_log_keeps_the_distribution_that_drew():
    for name, make in POLICIES.items():
        log = PullLog(make(3, 50, np.random.default_rng(5), names=list("abc")), distributions=True)
        log.run(drifting(np.random.default_rng(3), rounds=50))
        for row, arm, prob in zip(
            *(log.columns[key] for key in ("distribution", "arm", "propensity")), strict=True
        ):
            assert row["abc".index(arm)] == pytest.approx(prob, rel=1e-12), name
            assert sum(row) == pytest.approx(1.0)
    assert "distribution" not in PullLog(TsallisINF(2)).columns


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_with_distributions_says_the_same_if_it_is_told_the_arms(backend):
    log = PullLog(TsallisINF(names=list("abc"), random_state=1), distributions=True)
    log.run(drifting(np.random.default_rng(3)))
    frame, found = log.to_frame(backend), off_policy_value(log, {"b": 1.0})
    assert off_policy_value(frame, {"b": 1.0}, arms=list("abc")) == found
    with pytest.raises(ValueError, match="arms must be given, in the order of the column distr"):
        off_policy_value(frame, {"b": 1.0})
    with pytest.raises(ValueError, match=r"row \d+ has the propensity .* in the order of the arms"):
        off_policy_value(frame, {"b": 1.0}, arms=list("bca"))
    with pytest.raises(ValueError, match="distribution of row 0"):
        off_policy_value(frame, {"b": 1.0}, arms=list("abcd"))


def test_to_know_the_least_propensity_narrows_the_interval_by_a_third_of_bernsteins():
    widths = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        losses = (rng.random((1000, 4)) < 0.4).astype(float)
        log = uniform_log(rng, losses)
        plain = off_policy_value(log, {2: 1.0})
        knowing = off_policy_value(log, {2: 1.0}, least_propensity=0.25)
        w = (np.array(log.columns["arm"]) == 2) * 4.0
        x = np.array(log.columns["loss"])
        old = 1 - bernstein(w * (1 - x), 0.025) - bernstein(w * x, 0.025)
        widths.append((old, plain.high - plain.low, knowing.high - knowing.low))
        assert knowing.value == plain.value
    old, plain, knowing = np.mean(widths, axis=0)
    assert plain < 0.85 * old
    assert knowing < 0.667 * old


def test_a_least_propensity_that_the_log_denies_is_refused():
    log = uniform_log(np.random.default_rng(0), np.zeros((50, 4)))
    refused = r"least_propensity is 0.5, and row \d+ of the log gives an arm of the target the p"
    with pytest.raises(ValueError, match=refused):
        off_policy_value(log, {0: 1.0}, least_propensity=0.5)
    with pytest.raises(ValueError, match=refused):
        off_policy_value(log, lambda past: {0: 1.0}, least_propensity=0.5)
    with pytest.raises(ValueError, match=r"least_propensity must lie in \(0, 1\]"):
        off_policy_value(log, {0: 1.0}, least_propensity=0)


def test_an_arm_that_is_never_drawn_does_not_matter_to_a_target_without_it():
    losses = (np.random.default_rng(0).random((400, 2)) < 0.4).astype(float)
    log = uniform_log(np.random.default_rng(1), losses)
    known = off_policy_value(log, {0: 1.0}, least_propensity=0.5)
    log.columns["distribution"] = [[0.5, 0.5, 0.0]] * 400
    assert off_policy_value(log, {0: 1.0}, arms=[0, 1, 2]) == known
    never = off_policy_value(log, {2: 1.0}, arms=[0, 1, 2])
    assert (never.low, never.high) == (0.0, 1.0)


def test_an_arm_that_is_never_drawn_makes_weights_of_any_size_possible():
    losses = (np.random.default_rng(0).random((400, 2)) < 0.4).astype(float)
    log = uniform_log(np.random.default_rng(1), losses)
    mixed, arms = {0: 0.8, 2: 0.2}, [0, 1, 2]
    unknown = off_policy_value(log, mixed, arms=arms)
    log.columns["distribution"] = [[0.5, 0.5, 0.0]] * 400
    assert off_policy_value(log, mixed, arms=arms) == unknown
    for target in (mixed, {2: 1.0}):
        with pytest.raises(ValueError, match=r"row 0 of the log gives .* the probability 0$"):
            off_policy_value(log, target, arms=arms, least_propensity=0.5)

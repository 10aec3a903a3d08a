"""Which arms may still be the best, at any time: coverage under peeking, stopping, files."""

import numpy as np
import pytest

from driftgames.bandit import ArmRace, ThompsonSampling
from driftgames.certificates import ConfidenceSequence


def test_the_best_arm_leaves_the_reach_in_at_most_delta_of_all_races_although_one_peeks():
    lost = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        race = ArmRace(["a", "b"], delta=0.2)
        for t in range(200):  # equal means: a race that claims a winner is wrong
            race.update("ab"[t % 2], float(rng.random() < 0.5))
            if t % 10 == 0 and len(race.within_reach) < 2:
                lost += 1
                break
    assert lost <= 0.2 * 60


@pytest.mark.parametrize("n_arms", [2, 7])
def test_the_arms_share_delta_equally(n_arms):
    race, alone = ArmRace(range(n_arms), delta=0.2), ConfidenceSequence(0.2 / n_arms)
    for loss in np.random.default_rng(0).random(50).tolist():
        race.update(1, loss)
        alone.update(loss)
    assert tuple(race.intervals[1]) == (alone.low, alone.high)


def test_no_interval_of_many_arms_ever_misses_in_more_than_delta_of_all_races():
    missed, means = 0, np.linspace(0.2, 0.8, 12)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        race = ArmRace(range(12), delta=0.3)
        for _ in range(40):
            for arm, loss in enumerate((rng.random(12) < means).astype(float).tolist()):
                race.update(arm, loss)
        low, high = race.intervals.T
        missed += bool(((means < low) | (means > high)).any())
    assert missed <= 0.3 * 60


def test_a_test_that_peeks_with_normal_intervals_is_wrong_far_more_often():
    """What the race protects from: stopping when two standard errors do not overlap."""
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.random((200, 2)) < 0.5
        n = np.arange(20, 201, 5)
        means = x.cumsum(axis=0)[n - 1] / n[:, None]
        error = np.sqrt((means * (1 - means)).sum(axis=1) / n)
        wrong += bool((np.abs(means[:, 0] - means[:, 1]) > 1.28 * error).any())  # level 0.2
    assert wrong > 0.4 * 60


def test_a_race_finds_the_best_of_five_with_pulls_of_any_policy():
    rng, means = np.random.default_rng(9), [0.5, 0.3, 0.6, 0.55, 0.7]
    race = ArmRace(range(5), delta=0.05)
    policy = ThompsonSampling(5, random_state=0)
    assert race.within_reach == (0, 1, 2, 3, 4)
    assert not race.may_stop()
    for _ in range(3000):
        arm, prob = policy.pull()
        loss = float(rng.random() < means[arm])
        policy.update(arm, loss, prob)
        race.update(arm, loss)
    assert race.leader == 1
    assert 1 in race.within_reach
    assert race.may_stop(margin=0.3)
    assert sum(race.pulls) == 3000


def test_gains_are_losses_upside_down_and_a_margin_lets_one_stop_early():
    rng = np.random.default_rng(1)
    up, down = ArmRace(["x", "y"], gains=True), ArmRace(["x", "y"])
    for _ in range(300):
        for arm, chance in (("x", 0.5), ("y", 0.55)):
            gain = float(rng.random() < chance)
            up.update(arm, gain)
            down.update(arm, 1.0 - gain)
    assert up.leader == down.leader
    assert up.within_reach == down.within_reach
    assert up.shortfall == pytest.approx(down.shortfall, abs=1e-6)
    assert not up.may_stop()
    assert up.may_stop(margin=0.3)
    assert "the best arm is one of x, y, with confidence 0.95" in str(up)


def test_a_saved_race_goes_on_and_bad_pulls_are_named(tmp_path):
    race = ArmRace(["a", "b"], loss_range=(0, 4))
    for k in range(20):
        race.update("ab"[k % 2], k % 5)
    race.save(tmp_path / "race.json")
    again = ArmRace.load(tmp_path / "race.json")
    assert again == race
    assert again.within_reach == race.within_reach
    for bad in (("c", 1.0), (None, 1.0), ("a", 5.0), ("a", None), ([], 1.0)):
        with pytest.raises(ValueError, match=r"there is no arm|a loss must lie"):
            race.update(*bad)
    assert again == race
    for names in ([], ["a", "a"], None):
        with pytest.raises(ValueError, match=r"arms"):
            ArmRace(names)

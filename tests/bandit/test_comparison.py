"""Seeded games: the same losses for all, certificates of the mean."""

import numpy as np
import pytest

from driftgames.bandit import (
    POLICIES,
    BernoulliArms,
    Lure,
    Moody,
    Spiteful,
    Switching,
    compare,
    play_games,
)
from driftgames.bandit.comparison import Comparison
from driftgames.certificates.bounds import theorem_5


def test_every_policy_meets_the_same_losses():
    series = compare(BernoulliArms.with_gap(3, 0.2), 50, n_games=4, seed=2)
    assert list(series) == list(POLICIES)
    first = series["exp3"].arm_losses
    for each in series.values():
        np.testing.assert_array_equal(each.arm_losses, first)
        assert each.arm_losses.shape == (4, 3)
        assert each.regret_over_time.shape == (4, each.checkpoints.size)
        np.testing.assert_allclose(each.regret_over_time[:, -1], each.regret)


def test_games_differ_and_are_repeated_by_their_seed():
    play = [
        play_games(POLICIES["exp3"], BernoulliArms.with_gap(3, 0.2), 200, n_games=3, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert len(set(play[0].learner_losses.tolist())) > 1
    np.testing.assert_array_equal(play[0].learner_losses, play[1].learner_losses)
    assert play[0].learner_losses.tolist() != play[2].learner_losses.tolist()


def test_a_matrix_is_replayed_with_other_draws():
    losses = np.random.default_rng(0).random((300, 4))
    games = play_games(POLICIES["tsallis-inf"], losses, n_games=5)
    assert games.horizon == 300
    assert games.pseudo_regret is None
    np.testing.assert_allclose(games.arm_losses, np.tile(losses.sum(axis=0), (5, 1)))
    assert games.learner_losses.std() > 0


def test_the_certificate_is_of_the_means():
    games = play_games(POLICIES["exp3"], Spiteful(4), 500, n_games=6)
    certificate = games.certificate()
    best = np.sort(games.arm_losses.mean(axis=0))
    assert certificate.at(0.25).realised == pytest.approx(games.learner_losses.mean() - best[0])
    assert certificate.at(0.5).realised == pytest.approx(games.learner_losses.mean() - best[1])
    assert certificate.at(0.25).promised == pytest.approx(games.promised)
    assert "mean of 6 games" in str(certificate)
    assert games.promised <= float(theorem_5(500, 0.25, 4, 0.02))


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((0, 3))])
def test_bad_matrices_are_refused(bad):
    with pytest.raises(ValueError, match="T x K matrix"):
        play_games(POLICIES["exp3"], bad)


def test_a_comparison_draws_the_regret_of_each_policy_beside_its_bound():
    played = compare(BernoulliArms.with_gap(3, 0.2), 200, n_games=3)
    (axes,) = played.plot().axes
    labels = axes.get_legend_handles_labels()[1]
    for name, series in played.items():
        (line,) = [each for each in axes.lines if each.get_label() == name]
        np.testing.assert_allclose(line.get_ydata(), series.regret_over_time.mean(axis=0))
    promised = [name for name, each in played.items() if np.isfinite(each.promised)]
    assert len(promised) > 1
    assert [label.split(",")[0] for label in labels if "bound" in label] == promised
    assert "Mean regret of 3 games" in axes.get_title(loc="left") + axes.get_title()
    with pytest.raises(ValueError, match="no policy has played"):
        Comparison({}).plot()


def test_figures_are_drawn():
    games = play_games(POLICIES["exp3"], BernoulliArms.with_gap(3, 0.2), 100, n_games=3)
    assert games.plot().axes[0].get_xlabel() == "round"
    run = POLICIES["exp3"](3, 100, np.random.default_rng(0)).run(np.ones((100, 3)))
    assert "bound" in run.plot().axes[0].get_legend_handles_labels()[1][1]
    assert run.plot_pulls().axes[0].get_ylabel() == "pulls so far"


@pytest.mark.parametrize("environment", [Moody, Switching, Spiteful, Lure])
def test_an_environment_without_arms_is_refused(environment):
    with pytest.raises(ValueError, match="arms must be an integer >= 1; got 0"):
        environment(0)


def test_a_matrix_of_losses_has_its_own_horizon():
    losses = np.zeros((20, 2))
    assert compare(losses, 20, n_games=1, progress=False)["exp3"].horizon == 20
    with pytest.raises(ValueError, match="the losses have 20 rounds; got horizon=5"):
        compare(losses, 5, n_games=1, progress=False)
    with pytest.raises(ValueError, match="horizon must be an integer"):
        compare(losses, ["exp3", "tsallis-inf"], n_games=1, progress=False)

"""RandomizedHedge plays one drawn action and is charged its loss."""

import pickle

import numpy as np
import pytest

from driftgames.hedge import Hedge, RandomizedHedge
from driftgames.potentials import Exponential, NormalHedgeDT, RecipePotential
from tests.refusals import restate


def _losses(rounds, n_actions, seed=0):
    return np.random.default_rng(seed).random((rounds, n_actions))


def test_the_action_announced_is_the_one_charged():
    learner = RandomizedHedge(5, random_state=1)
    for row in _losses(200, 5):
        action = learner.action
        assert learner.action == action
        before = learner.positions
        assert learner.update(row) == row[action]
        np.testing.assert_allclose(learner.positions, before + row - row[action], atol=1e-12)


def test_actions_are_drawn_from_the_distribution():
    row = np.array([0.0, 0.3, 0.9])
    counts = np.zeros(3)
    for seed in range(3000):
        learner = RandomizedHedge(3, Exponential(1.5), random_state=seed)
        # as if a round had been played and lost nothing
        learner = restate(learner, state__cumulative=row, state__totals=np.array([1.0, 0, 0, 0]))
        counts[learner.action] += 1
    np.testing.assert_allclose(counts / 3000, learner.distribution(), atol=0.03)


def test_the_same_seed_plays_the_same_game_in_any_pieces():
    L = _losses(100, 4)
    whole, pieces = RandomizedHedge(4, random_state=7), RandomizedHedge(4, random_state=7)
    run = whole.run(L)
    first = pieces.run(L[:33], distributions=True)
    middle = [pieces.update(row) for row in L[33:50]]
    last = pieces.run(L[50:])
    assert whole == pieces
    joined = [*first.learner_losses, *middle, *last.learner_losses]
    assert run.learner_losses.tolist() == joined
    other = RandomizedHedge(4, random_state=8)
    assert other.run(L).learner_losses.tolist() != joined


def test_a_refused_row_draws_nothing():
    L = _losses(20, 3)
    calm, shaken = RandomizedHedge(3, random_state=2), RandomizedHedge(3, random_state=2)
    calm.run(L[:10])
    shaken.run(L[:10])
    with pytest.raises(ValueError, match="losses must lie"):
        shaken.update([0.0, 2.0, 0.0])
    bad = L[10:].copy()
    bad[5, 1] = np.nan
    with pytest.raises(ValueError, match=r"losses\[5\]"):
        shaken.run(bad)
    assert shaken == calm
    assert (shaken.run(L[10:]).learner_losses == calm.run(L[10:]).learner_losses).all()


def test_a_saved_learner_goes_on_to_the_same_draws(tmp_path):
    L = _losses(60, 4)
    learner = RandomizedHedge(4, NormalHedgeDT(d=5), random_state=None, delta=0.2)
    learner.run(L[:30])
    learner.save(tmp_path / "r.json")
    loaded = RandomizedHedge.load(tmp_path / "r.json")
    twin = pickle.loads(pickle.dumps(learner))
    assert loaded == learner == twin
    assert loaded.delta == 0.2
    losses = learner.run(L[30:]).learner_losses
    assert (loaded.run(L[30:]).learner_losses == losses).all()
    assert (twin.run(L[30:]).learner_losses == losses).all()


def test_two_unseeded_learners_differ_and_a_generator_seeds_one():
    assert RandomizedHedge(3) != RandomizedHedge(3)
    one = RandomizedHedge(3, random_state=np.random.default_rng(5))
    assert one == RandomizedHedge(3, random_state=np.random.default_rng(5))


def test_float32_draws_the_same_with_and_without_distributions():
    L = _losses(300, 7).astype(np.float32)
    plain = RandomizedHedge(7, random_state=3, dtype=np.float32)
    kept = RandomizedHedge(7, random_state=3, dtype=np.float32)
    assert (plain.run(L).learner_losses == kept.run(L, distributions=True).learner_losses).all()
    assert plain == kept


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_action_of_tiny_mass_is_drawn_once_it_is_best(dtype):
    prior = [0.0, 1e-46, 0.5, 0.5 - 1e-46]
    learner = RandomizedHedge(4, random_state=0, prior=prior, dtype=dtype)
    learner.run(np.tile([0.0, 0.0, 1.0, 1.0], (3000, 1)))
    assert learner.action == 1
    assert learner.update([1.0, 0.25, 1.0, 1.0]) == 0.25


def test_a_potential_without_kernels_is_drawn_from_too():
    recipe = RecipePotential(lambda s: np.minimum(s, 0.0) ** 2, horizon=30)
    L = _losses(30, 3)
    at_once = RandomizedHedge(3, recipe, random_state=4)
    one_by_one = RandomizedHedge(3, recipe, random_state=4)
    run = at_once.run(L)
    for row, loss in zip(L, run.learner_losses, strict=True):
        assert row[one_by_one.action] == loss
        assert one_by_one.update(row) == loss


def test_an_action_of_no_weight_is_never_drawn():
    learner = RandomizedHedge(3, random_state=0, prior=[0.5, 0.0, 0.5])
    L = np.ones((2000, 3))
    L[:, 1] = 0.0
    assert (learner.run(L).learner_losses == 1.0).all()


def test_the_certificate_says_with_what_probability():
    learner = RandomizedHedge(4, random_state=0, delta=0.01)
    learner.run(_losses(50, 4))
    certificate = learner.certificate()
    assert certificate.caveat == "each with probability at least 0.99"
    np.testing.assert_allclose(
        certificate.promised, Hedge(4).bound(50, certificate.epsilons * 0.01)
    )


@pytest.mark.parametrize("delta", [0.0, 1.5, float("nan")])
def test_delta_is_checked(delta):
    with pytest.raises(ValueError, match=r"delta must lie in \(0, 1\]"):
        RandomizedHedge(3, delta=delta)


def test_the_seed_is_checked():
    with pytest.raises(ValueError, match="random_state must be an integer >= 0"):
        RandomizedHedge(3, random_state=-1)


def test_losses_drawn_with_the_seed_of_the_learner_are_independent_of_its_actions():
    rng, learner = np.random.default_rng(0), RandomizedHedge(2, random_state=0)
    actions, coins = [], []
    for _ in range(400):
        coins.append(rng.random() < 0.5)
        actions.append(learner.action)
        learner.update([0.5, 0.5])
    assert abs(np.corrcoef(actions, coins)[0, 1]) < 0.2

"""Hedge is Algorithm 3 of the paper, compiled or not."""

import math
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest

from driftgames.core.documents import DocumentError
from driftgames.hedge import Hedge
from driftgames.potentials import (
    POTENTIALS,
    Exponential,
    NormalHedgeDT,
    Potential,
    RecipePotential,
    TwoNorm,
)
from tests.refusals import restate


@dataclass(frozen=True)
class PlainDT(Potential):
    """NormalHedge.DT as a newcomer would write it: the formula, no kernel."""

    adaptive = True

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        s = np.minimum(np.asarray(positions, dtype=np.float64), 0.0)
        return np.exp(s**2 / (3 * t) - log_scale)


def _losses(rounds, n_actions, seed=0):
    return np.random.default_rng(seed).random((rounds, n_actions))


def _algorithm_3(potential, L):
    """Return the distributions and learner losses of Algorithm 3, line by line."""
    s, played, learner_losses = np.zeros(L.shape[1]), [], []
    for t, losses in enumerate(L, start=1):
        w = potential.value(s - 1, t) - potential.value(s + 1, t)
        p = w / w.sum()
        learner_loss = p @ losses
        s = s + losses - learner_loss
        played.append(p)
        learner_losses.append(learner_loss)
    return np.array(played), np.array(learner_losses), s


@pytest.mark.parametrize("name", POTENTIALS)
def test_hedge_is_algorithm_3_for_every_potential(name):
    L = _losses(40, 5)
    potential = POTENTIALS[name](40, 0.2)
    played, learner_losses, positions = _algorithm_3(potential, L)
    hedge = Hedge(5, potential)
    run = hedge.run(L, distributions=True)
    np.testing.assert_allclose(run.distributions, played, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(run.learner_losses, learner_losses, rtol=1e-9)
    np.testing.assert_allclose(hedge.positions, positions, atol=1e-9)


def test_a_potential_without_kernels_plays_the_same_game():
    L = _losses(60, 4)
    plain, compiled = Hedge(4, PlainDT()), Hedge(4)
    ours, theirs = plain.run(L, distributions=True), compiled.run(L, distributions=True)
    np.testing.assert_allclose(ours.distributions, theirs.distributions, rtol=1e-9)
    np.testing.assert_allclose(ours.regret_over_time, theirs.regret_over_time, atol=1e-10)
    one_by_one = Hedge(4, PlainDT())
    assert [one_by_one.update(row) for row in L] == ours.learner_losses.tolist()
    assert one_by_one == plain


def test_a_potential_without_kernels_keeps_what_all_learners_promise():
    hedge = Hedge(3, PlainDT(), prior=[0.5, 0.5, 0.0], dtype=np.float32, loss_range=(0, 2))
    run = hedge.run(_losses(700, 3), distributions=True)
    assert run.distributions.dtype == np.float32
    assert (run.distributions[:, 2] == 0).all()
    before = hedge.copy()
    with pytest.raises(ValueError, match=r"losses\[1\] must lie in \[0, 2\]; got nan"):
        hedge.run([[0.0, 1.0, 2.0], [0.0, math.nan, 0.0]])
    assert hedge == before


def test_the_compiled_form_for_games_is_the_weight_itself():
    # as far left as a game can push a chip, where the sine's argument is largest
    for t in (1, 2, 3, 10, 1000):
        hedge = Hedge(3)
        hedge.run(np.tile([0.0, 0.5, 1.0], (t - 1, 1)))
        p = NormalHedgeDT().distribution(hedge.positions, t)
        np.testing.assert_allclose(hedge.distribution(), p, rtol=1e-13)
    hedge = restate(
        hedge,
        state__cumulative=np.array([-999.0, -500.0, 0.0]),
        state__totals=np.array([999.0, 0.0, -999.0, 0.0]),
    )
    with mpmath.workdps(50):
        exact = [
            mpmath.exp((s - 1) ** 2 / mpmath.mpf(3000))
            - mpmath.exp((s + 1) ** 2 / mpmath.mpf(3000))
            for s in (-999, -500)
        ] + [mpmath.exp(1 / mpmath.mpf(3000)) - 1]
        exact = [float(w / mpmath.fsum(exact)) for w in exact]
    np.testing.assert_allclose(hedge.distribution(), exact, rtol=1e-12)


@pytest.mark.parametrize("d", [0.5, 3.0, 10.0])
@pytest.mark.parametrize("lag", [0, 1, 5])
def test_every_normal_hedge_dt_plays_its_own_weights(d, lag):
    L = _losses(30, 4)
    potential = NormalHedgeDT(d=d, lag=lag)
    hedge = Hedge(4, potential)
    for t, row in enumerate(L, start=1):
        p = potential.distribution(hedge.positions, t)
        np.testing.assert_allclose(hedge.distribution(), p, rtol=1e-12, atol=1e-300)
        hedge.update(row)


def test_all_weights_zero_plays_the_prior():
    # a potential that is flat where the chips are
    far = RecipePotential(lambda s: np.maximum(-s - 3.0, 0.0), horizon=4)
    assert Hedge(4, far).distribution().sum() == 1.0
    flat = RecipePotential(lambda s: np.maximum(-s - 9.0, 0.0), horizon=4)
    hedge = Hedge(4, flat, prior=[0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(hedge.distribution(), [0.1, 0.2, 0.3, 0.4])
    assert hedge.update([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.1)


def test_the_compiled_loop_plays_the_prior_too_where_all_weights_are_zero():
    for prior, expected in ((None, 0.5), ([0.75, 0.25], 0.75)):
        hedge = Hedge(2, TwoNorm(), prior=prior)
        # both stand at 5, where the 2-norm weighs nothing
        both, totals = np.full(2, 5.0), np.array([5.0, 0.0, 5.0, 0.0])
        hedge = restate(hedge, state__cumulative=both, state__totals=totals)
        assert hedge.distribution()[0] == expected
        assert hedge.run([[1.0, 0.0]], distributions=True).distributions[0, 0] == expected
        assert hedge.learner_loss == pytest.approx(expected)


def test_titles_are_the_papers_names():
    assert Hedge(2).title == "NormalHedge.DT"
    assert Hedge(2, Exponential(0.1)).title == "EXP"
    assert Hedge(2, TwoNorm()).title == "2-norm"
    assert Hedge(2, NormalHedgeDT(d=5)).title == "NormalHedgeDT(d=5.0, lag=0)"
    assert repr(Hedge(2)) == "<NormalHedge.DT: 2 actions, 0 rounds>"


def test_a_certificate_says_why_there_is_no_bound():
    hedge = Hedge(3, NormalHedgeDT(d=1.0))
    run = hedge.run(_losses(5, 3))
    assert "Lemma 2 needs d >= 3" in str(hedge.certificate())
    assert np.isinf(run.promised_over_time).all()


def test_a_certificate_needs_a_round():
    with pytest.raises(ValueError, match="no round was played, so there is nothing to certify"):
        Hedge(3).certificate()


def test_the_potential_must_be_one():
    with pytest.raises(TypeError, match="potential must be a Potential; got 'exp'"):
        Hedge(3, "exp")


@pytest.mark.parametrize("potential", [Exponential(0.3), TwoNorm(), NormalHedgeDT(d=4, lag=1)])
def test_the_potential_is_saved_by_name(potential, tmp_path):
    hedge = Hedge(3, potential)
    hedge.run(_losses(9, 3))
    hedge.save(tmp_path / "h.json")
    loaded = Hedge.load(tmp_path / "h.json")
    assert loaded == hedge
    assert loaded.potential == potential


def test_a_user_s_own_potential_is_saved_by_its_fields(tmp_path):
    hedge = Hedge(3, PlainDT())
    hedge.run(_losses(9, 3))
    hedge.save(tmp_path / "h.json")
    assert Hedge.load(tmp_path / "h.json") == hedge
    assert Hedge.load(tmp_path / "h.json", potential=PlainDT()) == hedge
    with pytest.raises(DocumentError, match=r"made with potential = .*PlainDT.*given is TwoNorm"):
        Hedge.load(tmp_path / "h.json", potential=TwoNorm())


def test_a_potential_with_a_function_is_given_again_on_load(tmp_path):
    hinge = RecipePotential(lambda s: np.maximum(-s, 0.0), horizon=20)
    hedge = Hedge(3, hinge)
    hedge.run(_losses(9, 3))
    hedge.save(tmp_path / "h.json")
    with pytest.raises(DocumentError, match=r"RecipePotential, which a file cannot hold; give it"):
        Hedge.load(tmp_path / "h.json")
    assert Hedge.load(tmp_path / "h.json", potential=hinge) == hedge


def test_a_potential_that_the_file_holds_is_not_replaced(tmp_path):
    Hedge(3).save(tmp_path / "h.json")
    with pytest.raises(DocumentError, match=r"h.json: it was made with .*NormalHedgeDT.*TwoNorm"):
        Hedge.load(tmp_path / "h.json", potential=TwoNorm())
    with pytest.raises(DocumentError, match=r"'d': 3.0.*given is NormalHedgeDT\(d=5.0"):
        Hedge.load(tmp_path / "h.json", potential=NormalHedgeDT(d=5))
    assert Hedge.load(tmp_path / "h.json", potential=NormalHedgeDT()) == Hedge(3)


def test_a_wild_learning_rate_overflows_nothing():
    hedge = Hedge(3, Exponential(eta=3000.0))
    run = hedge.run(_losses(200, 3).round(), distributions=True)
    assert np.isfinite(run.distributions).all()
    np.testing.assert_allclose(run.distributions.sum(axis=1), 1.0, rtol=1e-12)
    leaders = hedge.positions == hedge.positions.min()
    assert (hedge.distribution()[leaders] == 1 / leaders.sum()).all()


def test_the_widest_range_of_float32_can_be_loaded_again(tmp_path):
    learner = Hedge(2, loss_range=(0, 1e30), dtype=np.float32)
    learner.save(tmp_path / "h.json")
    assert Hedge.load(tmp_path / "h.json") == learner

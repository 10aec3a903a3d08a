"""A potential that fails the recipe gets no bound, wherever one is asked for."""

import json
import math
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from driftgames.certificates.bounds import high_probability, theorem_2, theorem_6
from driftgames.games import GreedyAdversary, PotentialPlayer, play, potential_sum, rounds_that_rise
from driftgames.hedge import Hedge, RandomizedHedge
from driftgames.oco import Box, ContinuousHedge, LinearLoss
from driftgames.potentials import (
    POTENTIALS,
    NoBoundError,
    NormalHedgeDT,
    Potential,
    RecipePotential,
    TwoNorm,
    check_potential,
    require_potential,
)


@dataclass(frozen=True)
class Drifting(Potential):
    """Phi_t(s) = [s]_-^2 + share (T - t), which needs a share of 1 at least."""

    share: float = 1.0
    adaptive = True

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        left = 0 if horizon is None else horizon - t
        below = np.minimum(np.asarray(positions, dtype=float), 0.0)
        return (below**2 + self.share * left) * np.exp(-log_scale)


@dataclass(frozen=True)
class Own(Potential):
    """Any function of position and rounds left, by its name."""

    name: str
    adaptive = True

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        s, left = np.asarray(positions, dtype=float), 0 if horizon is None else horizon - t
        values = {
            "increasing": np.maximum(s, 0.0) ** 2 + left,
            "concave": 1e6 - np.maximum(s, -900.0) ** 2 * (s < 0) + left,
            "negative": np.minimum(s, 0.0) ** 2 + left - 10.0,
            "infinite": np.where(s < -3, np.inf, np.minimum(s, 0.0) ** 2 + left),
            "exponential": np.exp(np.minimum(-0.1 * s + left * math.log(math.cosh(0.1)), 700.0)),
        }
        with np.errstate(invalid="ignore"):
            return values[self.name] * np.exp(-log_scale)


@dataclass(frozen=True)
class OwnBound(Drifting):
    """A potential that states a bound of its own."""

    def bound(self, horizon, epsilon):
        return np.full(np.broadcast_shapes(np.shape(horizon), np.shape(epsilon)), 1.0)


def losses(rounds=50, n=10):
    return np.random.default_rng(0).random((rounds, n))


@pytest.mark.parametrize("name", POTENTIALS)
def test_the_potentials_of_the_library_meet_the_conditions_on_the_grid_too(name, monkeypatch):
    phi = POTENTIALS[name](60, 0.1)
    assert check_potential(phi, 60).exact
    monkeypatch.setattr("driftgames.potentials.conditions.is_proven", lambda phi: False)
    check = check_potential(phi, 60)
    assert check.holds, str(check)
    assert not check.exact


@pytest.mark.parametrize("horizon", [1, 2, 30, 1000])
def test_a_potential_of_a_user_that_is_right_passes(horizon):
    for phi in (Drifting(), Drifting(2.0), Own("exponential")):
        assert check_potential(phi, horizon).holds
        assert horizon < 30 or np.isfinite(phi.bound(horizon, 0.1))


@pytest.mark.parametrize(
    ("phi", "where"),
    [
        (Drifting(0.5), "round 2: at s = -1 the left side is 100, the right side 99"),
        (Drifting(0.99), "round 2: at s = -1 the left side"),
        (Own("increasing"), "rises around s"),
        (Own("concave"), "is not convex around s = "),
        (Own("negative"), "is negative around s = "),
        (Own("infinite"), "not finite"),
    ],
)
def test_a_potential_that_fails_is_told_where(phi, where):
    check = check_potential(phi, 98)
    assert not check.holds
    assert where in check.reasons
    assert where in str(check)
    assert check_potential(phi, 98) is check  # asked again by every bound
    with pytest.raises(NoBoundError, match="is no potential of Algorithm 3"):
        phi.bound(98, 0.1)


def test_the_inequality_is_sharp():
    """Where a share of 0 breaks it, the sum does rise, and a share of 1 keeps it down."""
    for share, rises in ((0.0, True), (1.0, False)):
        phi = Drifting(share)
        record = play(
            PotentialPlayer(phi),
            GreedyAdversary(phi),
            n_chips=10,
            horizon=40,
            observers={"sum": potential_sum(phi, 40)},
        )
        start = float(phi.value(np.zeros(1), 0, horizon=40)[0])
        assert bool(rounds_that_rise([start, *record.seen["sum"]])) == rises
        assert check_potential(phi, 40).holds != rises


@pytest.mark.parametrize("phi", [Drifting(0.5), Own("increasing"), OwnBound(0.5)])
def test_no_learner_promises_anything_with_a_potential_that_fails(phi):
    learner = Hedge(10, phi)
    run = learner.run(losses())
    certificate = run.certificate()
    assert certificate.verdict == "nothing is promised"
    assert "but in round" in certificate.caveat
    assert math.isinf(run.promised)
    with pytest.raises(NoBoundError):
        RandomizedHedge(10, phi).bound(50, 0.1)
    for call in (
        lambda: theorem_2(phi, 50, 0.1),
        lambda: theorem_6(phi, 50, 0.1, 2),
        lambda: high_probability(phi, 50, 10, 0.1),
    ):
        with pytest.raises(NoBoundError):
            call()
    convex = ContinuousHedge(Box(np.zeros(2), np.ones(2)), phi)
    for _ in range(20):
        convex.update(LinearLoss([0.5, 0.5]))
    found = convex.certificate()
    assert found.quantiles.verdict == "nothing is promised"
    assert math.isinf(found.theorem_6)


def test_a_potential_that_passes_still_promises():
    run = Hedge(10, Drifting()).run(losses())
    assert run.certificate().verdict == "every bound holds"
    np.testing.assert_allclose(run.promised_over_time, TwoNorm().bound(run.rounds, 0.1))
    assert run.promised == pytest.approx(float(TwoNorm().bound(50, 0.1)))


def test_a_run_has_the_bound_of_its_certificate_even_if_earlier_rounds_have_none():
    hinge = RecipePotential(lambda s: np.maximum(-s, 0.0), horizon=100)
    run = Hedge(10, hinge).run(losses(100))
    assert run.certificate().at(0.1).promised == pytest.approx(39.79, abs=0.01)
    assert run.promised == run.certificate().at(0.1).promised
    assert np.isinf(run.promised_over_time[:-1]).all()
    with pytest.raises(NoBoundError, match="given for horizon 100"):
        hinge.bound(99, 0.1)


def test_proven_potentials_are_not_asked():
    require_potential(NormalHedgeDT(), np.arange(1, 10**6))
    require_potential(Drifting(), np.zeros(0, dtype=np.int64))


SOURCE = """
import numpy as np

from driftgames.potentials import Potential


class Hasty(Potential):
    adaptive = True
    registry_name = "hasty"

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        left = 0 if horizon is None else horizon - t
        return (np.minimum(positions, 0.0) ** 2 + SHARE * left) * np.exp(-log_scale)
"""


@pytest.mark.parametrize("share", ["0.0", "1.0"])
def test_the_headline_of_a_game_comes_from_the_game(tmp_path, share):
    path, out = tmp_path / "hasty.py", tmp_path / "game.json"
    path.write_text(SOURCE.replace("SHARE", share))
    command = ["game", "--import", str(path), "--potential", "hasty", "--rounds", "20"]
    asked = [sys.executable, "-m", "driftgames", *command, "--json", str(out)]
    result = subprocess.run(asked, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = json.loads(out.read_text())
    if share == "1.0":
        assert "The average potential never rises" in result.stdout
        assert found["potential_rises_in"] == []
        assert found["verdict"] == "every bound holds"
    else:
        assert "The average potential rises in" in result.stdout
        assert "never rises" not in result.stdout
        assert 1 in found["potential_rises_in"]
        assert found["verdict"] == "nothing is promised"

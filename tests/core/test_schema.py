import json

import numpy as np
import pytest

from driftgames.core.documents import DocumentError, encode_array
from driftgames.core.schema import DIGEST, NUMBER, PAIR, array_of, check_members, integer, made_as
from driftgames.hedge import Hedge
from driftgames.oco import Box, CoinBetting, ContinuousHedge, Grid, Interval, Simplex
from driftgames.portfolio import OnlineNewtonStep, UniversalPortfolio
from driftgames.potentials import Exponential, MinimaxPotential, NormalHedgeDT, RecipePotential


@pytest.mark.parametrize(
    ("requirement", "value", "message"),
    [
        (NUMBER, 10**400, "x must be a finite number; got 1000"),
        (NUMBER, True, "x must be a finite number; got True"),
        (PAIR, [0, float("nan")], r"x\[1\] must be a finite number; got nan"),
        (integer(1), 0, "x must be an integer from 1; got 0"),
        (array_of(2), np.zeros(3), r"x must be float64\[2\]; got float64\[3\]"),
        (array_of(None, 3), np.zeros((2, 2)), r"x must be float64\[\*, 3\]; got float64\[2, 2\]"),
        (array_of(1).or_null, 5, r"x must be float64\[1\], or null; got 5"),
        (made_as(Box), Simplex(2), r"x must be a Box; got Simplex\(n_coordinates=2\)"),
        (DIGEST, "ab", "x must be 64 hexadecimal digits; got 'ab'"),
    ],
)
def test_a_member_that_breaks_its_requirement_is_named(requirement, value, message):
    with pytest.raises(ValueError, match=message):
        check_members({"x": value}, {"x": requirement})


def test_a_missing_member_is_named():
    with pytest.raises(ValueError, match="x is missing"):
        check_members({}, {"x": NUMBER})


def refusal(learner, change):
    content = json.loads(json.dumps(learner.content()))
    change(content)
    with pytest.raises(DocumentError) as refused:
        type(learner).from_content(content)
    return str(refused.value)


def within(part, **members):
    return lambda content: content[part].update(members)


ALL = [
    Hedge(3),
    OnlineNewtonStep(3),
    UniversalPortfolio(2, n_points=32),
    ContinuousHedge(Interval(), integration=Grid(9)),
    CoinBetting(Box([0.0], [1.0])),
]


@pytest.mark.parametrize("learner", ALL, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("half", ["arguments", "state"])
@pytest.mark.parametrize("value", [None, [], 5, "x"])
def test_half_a_file_is_named(learner, half, value):
    message = refusal(learner, lambda content: content.update({half: value}))
    assert f"{half} must be an object; got" in message


HUGE = 10**15


@pytest.mark.parametrize(
    ("learner", "change", "message"),
    [
        (Hedge(3), within("arguments", n_actions=HUGE), f"cumulative must be float64[{HUGE}]"),
        (Hedge(3), within("arguments", n_actions="3"), "n_actions must be an integer"),
        (Hedge(3), within("arguments", names=["a"]), "names must be a list of 3"),
        (Hedge(3), within("arguments", loss_range=[0, 10**400]), "loss_range[1] must be a finite"),
        (Hedge(3), within("state", totals=encode_array(np.full(4, 1e300))), "the clock must be"),
        (
            Hedge(3),
            within("state", totals=encode_array(np.array([5.0, 0, 0, 9.0]))),
            "the floor must be an integer in [0, 5]; got 9",
        ),
        (OnlineNewtonStep(3), within("arguments", n_assets=30_000), "held must be float64[30000]"),
        (
            OnlineNewtonStep(3),
            lambda content: (
                within("arguments", n_assets=30_000)(content),
                within(
                    "state",
                    **dict.fromkeys(("held", "gradients", "start"), encode_array(np.zeros(30_000))),
                )(content),
            ),
            "curvature must be float64[30000, 30000]",
        ),
        (ALL[2], within("arguments", n_points=3_000_000), "positions must be float64[93750, 32]"),
        (ALL[2], within("state", t=10**400), "t must be an integer below 2**63; got 1000"),
        (
            ALL[3],
            within("arguments", integration={"name": "Grid", "arguments": {"per_axis": 3 * HUGE}}),
            f"positions must be of shape ({3 * HUGE},); got (9,)",
        ),
        (
            ALL[4],
            within("arguments", domain={"name": "Simplex", "arguments": {"n_coordinates": HUGE}}),
            f"positions must be float64[{HUGE}]",
        ),
        (
            ALL[4],
            within("arguments", domain={"name": "Box", "arguments": {"low": None}}),
            "domain: no Box has these arguments",
        ),
        (ALL[4], lambda content: content["state"].pop("ended"), "ended is missing"),
    ],
)
def test_sizes_are_bounded_by_what_the_file_holds(learner, change, message):
    assert message in refusal(learner, change)


def test_sizes_that_no_machine_can_hold_are_refused_at_once():
    with pytest.raises(ValueError, match="n_points must be at most 8192 for two assets"):
        UniversalPortfolio(2, n_points=3_000_000)
    with pytest.raises(ValueError, match="at most 16,777,216 numbers in all; got 2,048 points"):
        UniversalPortfolio(30_000)
    for make in (
        lambda: RecipePotential(None, 10**15),
        lambda: MinimaxPotential(None, 10**7),
    ):
        with pytest.raises(ValueError, match="must be a function; got None"):
            make()


@pytest.mark.parametrize("eta", [1e9, 1e12, 1e18, 1e30, 1.7e308])
def test_every_finite_rate_keeps_the_state_finite(eta):
    rng = np.random.default_rng(0)
    L = rng.random((2000, 5))
    for potential in (Exponential(eta), NormalHedgeDT(1 / eta)):
        learner = Hedge(5, potential)
        run = learner.run(L, progress=False)
        assert np.isfinite(run.learner_losses).all()
        p = learner.distribution()
        assert p.sum() == pytest.approx(1.0)
        # so large a rate follows the leader
        assert p[int(np.argmin(learner.action_losses))] == 1.0
        assert Hedge.from_content(learner.content()) == learner
        assert learner.certificate().holds


def test_save_refuses_what_load_would_refuse(tmp_path):
    learner = Hedge(3)
    learner.save(tmp_path / "s.json")
    before = (tmp_path / "s.json").read_bytes()
    learner._totals[1] = np.nan
    with pytest.raises(DocumentError, match="Hedge is broken, so it cannot be saved: totals must"):
        learner.save(tmp_path / "s.json")
    assert (tmp_path / "s.json").read_bytes() == before

"""What all policies share: pulls and feedback, ranges, names, replays, files."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

from driftgames._kernels.jit import scalar
from driftgames.bandit import (
    POLICIES,
    Adaptive,
    BernoulliArms,
    Exp3IX,
    Lure,
    Moody,
    Oblivious,
    PotentialBandit,
    Spiteful,
    Switching,
    TsallisINF,
)
from driftgames.bandit.engines import exponential_engine as kernels
from driftgames.bandit.engines import thompson_engine as thompson
from driftgames.bandit.engines import tsallis_engine as tsallis
from driftgames.bandit.pulls.pending import pending_from, pending_rows
from driftgames.core.documents import (
    DocumentError,
    decode_array,
    encode_array,
    read_document,
    write_document,
)
from driftgames.core.generators import put_back
from driftgames.core.state import kind_of
from driftgames.potentials import Exponential, NoBoundError
from tests.interruptions import lost_interruptions


def state_of(policy):
    return (
        policy.t,
        policy.pending,
        policy.positions.tobytes(),
        policy.distribution().tobytes(),
        str(policy.rng.bit_generator.state),
    )


def stream(policy, losses, rng=None):
    drawn = []
    for row in losses:
        arm, prob = policy.pull(rng)
        policy.update(arm, row[arm], prob)
        drawn.append(arm)
    return drawn


def test_no_place_of_a_run_loses_an_interruption(make):
    arms = BernoulliArms.with_gap(3, 0.1)
    assert lost_interruptions(lambda: make(3).run(arms, 5)) == []


def test_the_first_distribution_is_uniform(make):
    np.testing.assert_allclose(make(7).distribution(), 1 / 7, rtol=1e-15)


def test_pull_returns_the_probability_of_the_distribution(make):
    policy = make(6, random_state=3)
    rng = np.random.default_rng(0)
    for _ in range(100):
        p = policy.distribution()
        arm, prob = policy.pull(rng)
        assert prob == p[arm]
        policy.update(arm, float(rng.integers(2)), prob)


def test_arms_are_drawn_as_often_as_their_probabilities_say(remembering):
    make = remembering
    policy = make(4, random_state=0)
    for _ in range(40):
        arm, prob = policy.pull()
        policy.update(arm, 0.2 * arm, prob)
    counts, expected, variance = np.zeros((3, 4))
    for _ in range(2000):
        p = policy.distribution()
        counts[policy.pull()[0]] += 1
        expected, variance = expected + p, variance + p * (1 - p)
    assert expected.max() > 1.2 * expected.min()  # so that a uniform draw would fail
    assert np.all(np.abs(counts - expected) < 4.5 * np.sqrt(variance))


def test_estimates_are_unbiased_by_enumeration_of_the_drawn_arm(make):
    losses = np.array([0.9, 0.1, 0.5, 0.7])
    policy = make(4, random_state=0)
    stream(policy, np.random.default_rng(1).random((30, 4)))
    p, waiting, mean = policy.distribution(), policy.copy(), np.zeros(4)
    waiting.pull()
    before = waiting.estimates  # a pull may forget, and then it waits for its loss
    for arm in range(4):
        twin = policy.copy()
        twin.watch(arm, losses[arm], p[arm])
        mean += p[arm] * (twin.estimates - before)
    if isinstance(policy, Exp3IX):  # too low, by the factor p / (p + gamma)
        gamma = waiting._engine.rate / 2
        losses = losses * p / (p + gamma)
    np.testing.assert_allclose(mean, losses, rtol=1e-9)


def test_delayed_and_shuffled_feedback_gives_the_same_estimates(remembering):
    make = remembering
    rng = np.random.default_rng(5)
    policy, expected, waiting = make(5, random_state=1), np.zeros(5), []
    policy.watch(0, 0.3, 0.2)  # no two arms are alike from here on
    expected += policy.estimates
    for _ in range(60):
        p = policy.distribution()
        arm, prob = policy.pull()
        assert prob == p[arm]
        loss, gamma = float(rng.random()), policy._engine.gamma
        expected[arm] += loss / (prob + gamma)  # what it would teach at once
        waiting.append((arm, loss, prob))
        if len(waiting) > 20:
            policy.update(*waiting.pop(int(rng.integers(21))))
    assert policy.pending == 20
    for index in rng.permutation(20):
        policy.update(*waiting[index])
    assert policy.pending == 0
    np.testing.assert_allclose(policy.estimates, expected, rtol=1e-12)


def test_of_pulls_alike_the_oldest_is_answered_first():
    policy, twin = Exp3IX(1, random_state=0), Exp3IX(1, random_state=0)
    pulls = [policy.pull() for _ in range(40)]
    assert set(pulls) == {(0, 1.0)}
    losses = np.linspace(0, 1, 40)
    for (arm, prob), loss in zip(pulls, losses, strict=True):
        policy.update(arm, float(loss), prob)
    stream(twin, losses[:, np.newaxis])
    np.testing.assert_array_equal(policy.estimates, twin.estimates)


def test_a_discarded_pull_takes_its_gamma_with_it():
    policy = Exp3IX(1, random_state=0)
    pulls = [policy.pull() for _ in range(3)]
    gamma = policy._engine.gamma
    policy.discard(*pulls[0])
    policy.discard(*pulls[1])
    policy.update(0, 1.0, 1.0)
    assert policy.estimates == 1 / (1 + gamma)
    assert policy.content()["state"]["pending"] == []


def test_run_equals_one_pull_and_update_per_round_bit_for_bit(make):
    losses = np.random.default_rng(2).random((700, 6))
    a, b = make(6, random_state=9), make(6, random_state=9)
    first = a.run(losses[:300]).drawn
    second = a.run(losses[300:]).drawn
    assert [*first, *second] == stream(b, losses)
    assert state_of(a) == state_of(b)


def test_run_takes_the_numbers_of_the_generator_it_is_given(make):
    losses = np.random.default_rng(2).random((50, 3))
    rng, twin = np.random.default_rng(4), np.random.default_rng(4)
    assert list(make(3).run(losses, rng=rng).drawn) == stream(make(3), losses, twin)
    assert rng.random() == twin.random()
    assert make(3).pull(rng)[0] == int(3 * twin.random())


def test_the_totals_of_a_run_are_those_of_the_matrix(make):
    losses = np.random.default_rng(3).random((500, 4))
    run = make(4, random_state=0).run(losses, points=7)
    rows = np.arange(500)
    assert run.checkpoints[-1] == 500
    assert run.checkpoints.size == 7
    kept = run.checkpoints - 1
    np.testing.assert_allclose(run.arm_totals, np.cumsum(losses, axis=0)[kept])
    np.testing.assert_allclose(
        run.learner_totals, np.cumsum(losses[rows, run.drawn])[kept], rtol=1e-12
    )
    assert run.pulls.sum() == 500
    assert run.regret == pytest.approx(losses[rows, run.drawn].sum() - losses.sum(0).min())
    assert run.regret_over_time[-1] == pytest.approx(run.regret)
    assert run.certificate().at(0.25).realised == pytest.approx(run.regret)
    with pytest.raises(ValueError, match="no pseudo-regret"):
        _ = run.pseudo_regret


@pytest.mark.parametrize("environment", [Spiteful(5), Lure(5)])
def test_playing_an_adversary_compiled_equals_playing_it_in_python(make, environment):
    class InPython(Adaptive):
        n_arms = 5

        @property
        def respond(self):
            return environment.respond.py_func

    runs = [make(5, random_state=1).run(each, 150) for each in (environment, InPython())]
    np.testing.assert_array_equal(runs[0].drawn, runs[1].drawn)
    np.testing.assert_array_equal(runs[0].arm_totals, runs[1].arm_totals)


@scalar
def lose_in_turn(t, p, losses):
    losses[:] = 0.0
    losses[int(t) % losses.size] = 1.0 if t < 20.0 else 2.0


class InTurn(Adaptive):
    n_arms = 3
    respond = staticmethod(lose_in_turn)


def test_a_compiled_adversary_is_told_the_round():
    run = TsallisINF(3, random_state=0).run(InTurn(), 10)
    assert run.arm_losses.tolist() == [3.0, 4.0, 3.0]


def test_losses_of_a_compiled_adversary_outside_0_and_1_leave_the_policy_as_it_was():
    policy = TsallisINF(3, random_state=0)
    before = state_of(policy)
    wanted = r"the losses of an environment must lie in \[0, 1\]; got 2.0 at index \(19, 2\)"
    with pytest.raises(ValueError, match=wanted):
        policy.run(InTurn(), 20)
    assert state_of(policy) == before


def test_gains_in_a_range_are_losses_upside_down(promising):
    make = promising
    gains = np.random.default_rng(0).integers(0, 5, (80, 3)).astype(float)
    paid = make(3, random_state=1, gains=True, loss_range=(0, 4)).run(gains)
    lost = make(3, random_state=1).run((4 - gains) / 4)
    np.testing.assert_array_equal(paid.drawn, lost.drawn)
    np.testing.assert_allclose(paid.arm_losses, -gains.sum(axis=0))
    assert paid.regret == pytest.approx(4 * lost.regret)
    np.testing.assert_allclose(paid.bound(6, 0.3), 4 * lost.bound(6, 0.3))


def test_losses_in_a_range_stream_as_they_replay(make):
    losses = np.random.default_rng(0).uniform(-3, 7, (40, 3))
    a, b = (make(3, random_state=1, loss_range=(-3, 7)) for _ in range(2))
    assert list(a.run(losses).drawn) == stream(b, losses)
    assert state_of(a) == state_of(b)


def test_arms_by_name(make):
    policy = make(names=["red", "green", "blue"], random_state=0)
    arm, prob = policy.pull()
    assert arm in policy.arms
    policy.update(arm, 1.0, prob)
    assert policy.distribution()[policy.arms.index(arm)] < 1 / 3
    assert policy.run(np.zeros((5, 3))).arms == ("red", "green", "blue")


@pytest.mark.parametrize("losses", ["0 and 1", "NumPy", "truth values"])
def test_losses_may_be_any_kind_of_number(make, losses):
    cast = {"0 and 1": int, "NumPy": np.float32, "truth values": bool}[losses]
    a, b = make(3, random_state=1), make(3, random_state=1)
    for flip in (1, 0, 1, 1):
        arm, prob = a.pull()
        a.update(np.int64(arm), cast(flip), np.float64(prob))
        arm, prob = b.pull()
        b.update(arm, float(flip), prob)
    assert state_of(a) == state_of(b)


# -------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arm", "loss", "prob", "message"),
    [
        (None, 1.5, None, r"a loss must lie in \[0, 1\]; got 1.5"),
        (None, -0.1, None, r"got -0.1"),
        (None, float("nan"), None, "got nan"),
        (None, "much", None, "got 'much'"),
        (None, None, None, "a loss must lie in"),
        (9, 0.5, None, "there is no arm 9; the arms are 0, 1, 2"),
        (-1, 0.5, None, "there is no arm -1"),
        (None, 0.5, 0.0, r"prob must lie in \(0, 1\]; got 0.0"),
        (None, 0.5, 1.5, "prob must lie in"),
        (None, 0.5, float("nan"), "prob must lie in"),
        (None, 0.5, 0.123, "no pull of arm . with probability 0.123 waits"),
    ],
)
def test_bad_feedback_is_an_error_and_changes_nothing(make, arm, loss, prob, message):
    policy = make(3, random_state=0)
    drawn, chance = policy.pull()
    before = state_of(policy)
    with pytest.raises(ValueError, match=message):
        policy.update(
            drawn if arm is None else arm,
            0.5 if loss is None and message != "a loss must lie in" else loss,
            chance if prob is None else prob,
        )
    assert state_of(policy) == before
    policy.update(drawn, 0.5, chance)


def test_an_arm_may_be_a_whole_float_as_the_row_of_a_table_has_it(make):
    a, b = make(3, random_state=0), make(3, random_state=0)
    for _ in range(4):
        arm, prob = a.pull()
        a.update(float(arm), 0.5, prob)
        arm, prob = b.pull()
        b.update(arm, 0.5, prob)
    assert state_of(a) == state_of(b)


@pytest.mark.parametrize("truth", [bool, np.bool_])
def test_an_arm_cannot_be_a_truth_value(make, truth):
    policy = make(2, random_state=0)
    arm, prob = policy.pull()
    before = state_of(policy)
    with pytest.raises(ValueError, match=r"must be one of the integers 0, 1, \.\.\.; got"):
        policy.update(truth(arm), 0.5, prob)
    assert state_of(policy) == before


def test_feedback_twice_for_one_pull_is_an_error(make):
    policy = make(3, random_state=0)
    arm, prob = policy.pull()
    policy.update(arm, 1.0, prob)
    before = state_of(policy)
    with pytest.raises(ValueError, match="given already"):
        policy.update(arm, 1.0, prob)
    assert state_of(policy) == before


def test_two_pulls_alike_take_two_feedbacks_and_no_third():
    policy = PotentialBandit(2, horizon=10, random_state=0)
    pulls = [policy.pull() for _ in range(8)]
    arm, prob = pulls[0]
    for _ in range(pulls.count((arm, prob))):
        policy.update(arm, 0.0, prob)
    with pytest.raises(ValueError, match="waits for feedback"):
        policy.update(arm, 0.0, prob)


def test_a_discarded_pull_teaches_nothing_and_waits_no_more(make):
    policy = make(3, random_state=0)
    arm, prob = policy.pull()
    policy.discard(arm, prob)
    assert policy.pending == 0
    assert not policy.estimates.any()
    for call in (lambda: policy.discard(arm, prob), lambda: policy.update(arm, 0.0, prob)):
        with pytest.raises(ValueError, match="waits for feedback"):
            call()


@pytest.mark.parametrize("bad", [np.nan, 1.2, -1.0, np.inf])
def test_a_bad_matrix_leaves_policy_and_generator_as_they_were(make, bad):
    policy = make(3, random_state=0)
    losses = np.full((30_000, 3), 0.5)
    losses[25_000, 1] = bad
    if policy.title.startswith("Algorithm"):
        losses = losses[24_990:]
    stream(policy, losses[:3])
    before = state_of(policy)
    with pytest.raises(ValueError, match=r"losses must lie in \[0, 1\]"):
        policy.run(losses)
    assert state_of(policy) == before


class Broken(Oblivious):
    """Losses that are none, from some round on."""

    n_arms, gaps = 3, None

    def losses(self, first_round, n_rounds, rng):
        losses = rng.random((n_rounds, 3))
        losses[-1, 2] = 1.5
        return losses


class Shouting(Adaptive):
    """Losses that are none, written by an adversary in Python."""

    n_arms = 3

    @property
    def respond(self):
        def write(t, p, losses):
            losses[:] = np.nan if t > 8 else 0.5

        return write


@pytest.mark.parametrize("environment", [Broken(), Shouting()])
def test_a_bad_environment_leaves_policy_and_generator_as_they_were(make, environment):
    policy, twin = make(3, random_state=0), make(3, random_state=0)
    with pytest.raises(ValueError, match=r"the losses of an environment must lie in \[0, 1\]"):
        policy.run(environment, 10, environment_rng=np.random.default_rng(0))
    assert state_of(policy) == state_of(twin)
    assert policy.pull() == twin.pull()


def test_a_bad_environment_leaves_the_generator_it_was_given_as_it_was(make):
    policy, rng, twin = make(3, random_state=0), np.random.default_rng(4), np.random.default_rng(4)
    own, before = policy.rng, state_of(policy)
    with pytest.raises(ValueError, match="the losses of an environment must lie in"):
        policy.run(Shouting(), 20, rng=rng)
    assert rng.random() == twin.random()
    assert policy.rng is own
    assert state_of(policy) == before


def test_a_generator_that_refuses_a_state_stays_as_it_was():
    rng = np.random.Generator(np.random.MT19937(0))
    before = str(rng.bit_generator.state)
    state = np.random.MT19937(1).state
    del state["state"]["pos"]  # NumPy writes the key before it misses the position
    with pytest.raises(DocumentError, match="pos is missing"):
        put_back(rng, state)
    assert str(rng.bit_generator.state) == before
    assert put_back(rng, np.random.MT19937(1).state) is rng
    assert rng.random() == np.random.Generator(np.random.MT19937(1)).random()


def test_waiting_pulls_are_listed_in_the_order_of_the_arms():
    pending = {("b", 0.5): 1, ("a", 0.5): 2, ("b", 0.25): 3}
    rows = pending_rows(pending, {}, {"b": 0, "a": 1})
    assert rows == [["b", 0.25, 3, []], ["b", 0.5, 1, []], ["a", 0.5, 2, []]]
    assert pending_rows({(2, 0.5): 1, (1, 0.5): 1}, {}, None)[0][0] == 1


def test_an_arm_that_cannot_be_one_is_named(make):
    for call in (lambda: make(3).update([1], 0.5, 0.3), lambda: make(3).discard([1], 0.3)):
        with pytest.raises(ValueError, match=r"there is no arm \[1\]"):
            call()


def test_constructors_name_what_is_wrong(make):
    for bad in (0, -2, 2.5, None):
        with pytest.raises(ValueError, match="n_arms must be an integer >= 1"):
            make(bad)
    with pytest.raises(ValueError, match="different arms"):
        make(names=["a", "a"])
    with pytest.raises(ValueError, match="n_arms is 3 and there are 2 names"):
        make(3, names=["a", "b"])
    for bad in ([["a"], ["b"]], 5):
        with pytest.raises(ValueError, match="names must be a sequence of hashable arms; got"):
            make(names=bad)
    for bad in ((1.0, 1.0), (1.0,), 5, None, ("a", "b")):
        with pytest.raises(ValueError, match=r"loss_range must be \(low, high\).* low < high; got"):
            make(3, loss_range=bad)
    with pytest.raises(ValueError, match=r"np.random.Generator; got 7"):
        make(3).pull(7)


def test_run_names_what_is_wrong(make):
    policy = make(3)
    with pytest.raises(ValueError, match=r"must be of shape \(rounds, 3\); got \(4, 2\)"):
        policy.run(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="4 rounds; got horizon=5"):
        policy.run(np.zeros((4, 3)), 5)
    with pytest.raises(ValueError, match="5 arms and the policy 3"):
        policy.run(Spiteful(5), 10)
    with pytest.raises(ValueError, match="horizon must be an integer >= 1"):
        policy.run(Spiteful(3))


def test_one_arm_is_always_drawn(make):
    policy = make(1, random_state=0)
    assert policy.pull() == (0, 1.0)
    policy.update(0, 0.3, 1.0)
    assert policy.distribution() == [1.0]


# -------------------------------------------------------------------- what is promised


def test_nothing_is_promised_of_a_run_that_is_not_the_first(promising):
    make = promising
    losses = np.tile([0.0, 1.0], (6, 1))
    policy = make(2, random_state=0)
    first, second = policy.run(losses), policy.run(1.0 - losses)
    assert np.isfinite(first.certificate().promised).all()
    assert np.isinf(second.promised_over_time).all()
    certificate = second.certificate()
    assert certificate.holds
    assert certificate.verdict == "nothing is promised"
    assert "from a policy's first round, and it had played 6 before" in str(certificate)
    with pytest.raises(NoBoundError, match="first round"):
        second.bound(6, 0.5)


def test_nothing_is_promised_of_a_run_after_a_pull_or_a_file(promising, tmp_path):
    make = promising
    policy = make(3, random_state=0)
    policy.pull()
    for each in (policy, save_and_load(policy, tmp_path / "bandit.json")):
        run = each.run(np.zeros((6, 3)))
        assert np.isinf(run.certificate().promised).all()
    fresh = save_and_load(make(3, random_state=0), tmp_path / "fresh.json")
    assert np.isfinite(fresh.run(np.zeros((6, 3))).certificate().promised).all()


def test_the_bound_of_a_run_stays_when_arms_come_and_go():
    policy = PotentialBandit(3, horizon=100, random_state=0)
    run = policy.run(np.zeros((100, 3)))
    before = run.promised_over_time
    for arm in "abcdefgh":
        policy.add_arm(arm)
    np.testing.assert_array_equal(run.promised_over_time, before)
    assert policy.bound(100, 1 / 11) > before[-1]


def test_a_run_without_rounds_has_no_regret_and_no_certificate(make):
    run = make(3).run(np.zeros((0, 3)))
    assert run.regret == 0.0
    assert np.isinf(run.promised_over_time).all()
    with pytest.raises(ValueError, match="no round was played, so there is nothing to certify"):
        run.certificate()


# -------------------------------------------------------------------- files and copies


def doctor(policy, path, change):
    """Save a policy, change what the file says and sign it anew."""
    policy.save(path)
    kind, version = kind_of(type(policy)), policy.VERSION
    content = read_document(path, kind, version)
    change(content)
    write_document(path, kind, version, content)


def given_to(policy):
    """Return what `load` must be given."""
    own = isinstance(policy, PotentialBandit) and policy.title.startswith("Algorithm")
    return {"potential": policy.potential} if own else {}


def save_and_load(policy, path):
    policy.save(path)
    return type(policy).load(path, **given_to(policy))


def test_a_saved_policy_goes_on_to_the_same_bits(make, tmp_path):
    policy = make(5, random_state=4, gains=True, loss_range=(0, 2))
    waiting = [policy.pull() for _ in range(3)]
    policy.run(np.random.default_rng(0).random((60, 5)))
    loaded = save_and_load(policy, tmp_path / "bandit.json")
    assert state_of(loaded) == state_of(policy)
    gains = np.random.default_rng(1).random((40, 5))
    for each in (policy, loaded):
        each.update(waiting[1][0], 2.0, waiting[1][1])
    assert stream(loaded, gains) == stream(policy, gains)
    assert state_of(loaded) == state_of(policy)


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_every_generator_of_numpy_is_saved(bits, tmp_path):
    rng = np.random.Generator(getattr(np.random, bits)(3))
    policy = TsallisINF(4, random_state=rng)
    losses = np.random.default_rng(0).random((20, 4))
    stream(policy, losses)
    loaded = save_and_load(policy, tmp_path / "bandit.json")
    assert stream(loaded, losses) == stream(policy, losses)


def test_an_environment_goes_on_to_the_same_losses_after_loading(tmp_path):
    policy = TsallisINF(3, random_state=0)
    loaded = save_and_load(policy, tmp_path / "bandit.json")
    runs = [each.run(BernoulliArms.with_gap(3, 0.1), 50) for each in (policy, loaded)]
    np.testing.assert_array_equal(runs[0].arm_losses, runs[1].arm_losses)
    assert state_of(policy) == state_of(loaded)


def test_the_state_format_has_a_row_for_every_number():
    page = Path(__file__).parents[3] / "docs" / "state_format.md"
    rows = page.read_text().split("| `numbers` | `PotentialBandit`")[1].split("\n\n")[0]
    indices = [line.split("|")[1].strip() for line in rows.splitlines()[2:]]
    assert indices == [str(index) for index in range(tsallis.SIZE)]
    assert len(indices) == tsallis.SIZE == tsallis.WINDOW + 1
    assert kernels.SIZE == kernels.ARMS + 1
    assert thompson.SIZE == thompson.AGREE + 1


def test_a_copy_is_equal_until_one_of_the_two_plays(make):
    policy = make(4, random_state=1)
    policy.run(np.random.default_rng(0).random((20, 4)))
    policy.pull()
    twin = policy.copy()
    assert twin == policy
    arm, prob = policy.pull()
    assert twin != policy
    assert twin.pull() == (arm, prob)
    assert twin == policy
    policy.update(arm, 0.5, prob)
    assert twin != policy
    assert make(4) != make(5)
    assert make(4, random_state=1) != make(4, random_state=1, gains=True)


def in_array(name, index, value):
    def change(content):
        array = decode_array(content["state"][name])
        array[index] = value
        content["state"][name] = encode_array(array)

    return change


def test_a_loaded_policy_streams_and_replays_with_the_rate_of_its_file(tmp_path):
    policy, path = Exp3IX(3, horizon=100, random_state=0), tmp_path / "bandit.json"
    doctor(policy, path, in_array("numbers", kernels.RATE, 0.4))
    a, b = Exp3IX.load(path), Exp3IX.load(path)
    losses = np.random.default_rng(0).random((20, 3))
    a.run(losses)
    stream(b, losses)
    assert state_of(a) == state_of(b)


def test_load_takes_what_a_file_cannot_hold_and_nothing_else(make, tmp_path):
    policy, path = make(3), tmp_path / "bandit.json"
    policy.save(path)
    refused = {
        "n_arms": "it was made with n_arms = 3; given is 7",
        "horizon": "it was made with horizon = .*; given is 7|cannot hold .* got horizon",
        "random_state": "only what a file cannot hold is given again; got random_state",
    }
    for name, message in refused.items():
        with pytest.raises(DocumentError, match=message):
            type(policy).load(path, **given_to(policy), **{name: 7})


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_a_copy_shares_nothing_with_the_original(make, twin_of):
    policy = make(4, random_state=1)
    losses = np.random.default_rng(0).random((30, 4))
    stream(policy, losses)
    twin = twin_of(policy)
    before = state_of(policy)
    assert state_of(twin) == before
    ahead = stream(twin, losses)
    assert state_of(policy) == before
    assert stream(policy, losses) == ahead


# -------------------------------------------------------------------- environments


def test_the_gaps_of_environments_are_the_differences_of_their_means():
    rng = np.random.default_rng(0)
    for environment in (BernoulliArms.with_gap(4, 0.2), Moody(4, 0.2)):
        means = environment.losses(1, 200_000, rng).mean(axis=0)
        np.testing.assert_allclose(means - means[0], environment.gaps, atol=0.01)


def test_the_adversaries_answer_what_the_player_trusts():
    p, losses = np.array([0.2, 0.55, 0.25, 0.0]), np.full(4, 9.0)
    Spiteful(4).respond(1.0, p, losses)
    assert losses.tolist() == [0.0, 1.0, 0.0, 0.0]
    Lure(4).respond(1.0, p, losses)
    assert losses.tolist() == [0.2, 1.0, 0.25, 0.0]


def test_the_best_arm_of_switching_changes_every_period():
    losses = Switching(3, gap=0.5, period=100).losses(1, 600, np.random.default_rng(0))
    means = losses.reshape(6, 100, 3).mean(axis=1)
    assert means.argmin(axis=1).tolist() == [0, 1, 2, 0, 1, 2]


def test_environments_go_on_where_a_policy_stands():
    environment = Switching(3, gap=0.5, period=50)
    policy = TsallisINF(3, random_state=0)
    policy.run(environment, 50)
    run = policy.run(environment, 50)
    assert run.arm_losses.argmin() == 1


def test_the_losses_of_an_environment_follow_the_seed_of_the_policy():
    environment = BernoulliArms.with_gap(3, 0.1)
    totals = [TsallisINF(3, random_state=s).run(environment, 99).arm_losses for s in (0, 0, 1)]
    assert totals[0].tolist() == totals[1].tolist() != totals[2].tolist()


def test_the_exponential_potential_may_be_given(tmp_path):
    policy = PotentialBandit(4, potential=Exponential(0.3), random_state=0)
    assert policy.eta == 0.3
    stream(policy, np.random.default_rng(0).random((20, 4)))
    assert state_of(save_and_load(policy, tmp_path / "b.json")) == state_of(policy)


def test_a_pull_does_not_wait_in_two_rows():
    rows = [[1, 0.5, 1, []], [1, 0.5, 2, []]]
    with pytest.raises(ValueError, match=r"pulls of 1 with probability 0\.5 wait in two rows"):
        pending_from(rows, (0, 1), None)


def test_gains_are_true_or_false():
    with pytest.raises(ValueError, match="gains must be True or False; got 'no'"):
        TsallisINF(3, gains="no")


def test_a_policy_that_watched_another_player_promises_nothing(make, tmp_path):
    policy = make(3, random_state=0)
    assert policy.watched == 0
    policy.watch(1, 0.5, 0.25)
    with pytest.raises(NoBoundError, match="1 of its pulls were watched"):
        policy.bound(1, 1.0)
    certificate = policy.certificate([1.0, 0.5, 0.0], 0.5)
    assert certificate.verdict == "nothing is promised"
    assert "watched" in certificate.caveat
    if "two" not in repr(policy).lower():  # a potential of one's own cannot be saved
        policy.save(tmp_path / "state.json")
        again = type(policy).load(tmp_path / "state.json")
        assert again.watched == 1
        assert again == policy


@pytest.mark.parametrize("bad", [None, object(), float("nan"), [1], {}, b"x", 1j, np.array([1, 2])])
def test_what_cannot_be_an_arm_or_a_number_is_a_value_error_and_changes_nothing(make, bad):
    policy = make(3, random_state=0)
    arm, prob = policy.pull()
    before, other = policy.copy(), "x" if bad is None else bad
    calls = [
        lambda: policy.update(bad, 0.5, prob),
        lambda: policy.update(arm, bad, prob),
        lambda: policy.watch(bad, 0.5, 0.5),
        lambda: policy.watch(0, bad, 0.5),
        lambda: policy.watch(0, 0.5, bad),
        lambda: policy.discard(bad, prob),
        lambda: policy.certificate([0.0, 0.0, 0.0], bad),
        lambda: policy.run(BernoulliArms.with_gap(3, 0.1), 2, environment_rng=other),
    ]
    if isinstance(policy, PotentialBandit) and not isinstance(bad, bytes | complex):
        calls += [lambda: policy.add_arm(bad), lambda: policy.remove_arm(bad)]
    for call in calls:
        with pytest.raises(ValueError, match=r"got|there is no arm|no pull"):
            call()
    assert policy == before


@pytest.mark.parametrize("name", list(POLICIES))
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_simulation_with_the_seed_of_the_policy_is_independent_of_it(name, seed):
    policy = POLICIES[name](2, 3000, seed, gains=True)
    rng = np.random.default_rng(seed)
    pulls = [0, 0]
    for _ in range(3000):
        arm, prob = policy.pull()
        policy.update(arm, float(rng.random() < (0.3, 0.7)[arm]), prob)
        pulls[arm] += 1
    assert pulls[1] > 1.5 * pulls[0]


def test_a_stream_has_a_certificate_of_its_promise():
    policy = TsallisINF(3, random_state=0)
    with pytest.raises(ValueError, match="no round was played"):
        policy.certificate()
    for _ in range(100):
        arm, prob = policy.pull()
        policy.update(arm, 0.5, prob)
    certificate = policy.certificate()
    assert certificate.holds
    np.testing.assert_array_equal(certificate.promised, policy.bound(100, np.arange(1, 4) / 3))
    assert certificate.words == (
        "in expectation at most 0.703 worse per round than the best arm; what it was is not known"
    )
    assert str(certificate).splitlines()[-1].split() == ["1", "-", "70.282", "-"]
    with pytest.raises(ValueError, match="arm_losses and learner_loss must be given together"):
        policy.certificate([1.0, 2.0, 3.0])


def test_errors_of_python_name_a_public_class():
    policy = TsallisINF(2, random_state=0)
    for call in (lambda: policy.update(0, reward=1.0), lambda: policy.pull(seed=1)):
        with pytest.raises(TypeError, match=r"^BanditPolicy\.(update|pull)\(\)"):
            call()

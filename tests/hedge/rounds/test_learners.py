"""What holds for every learner: each entry of `LEARNERS` inherits all of it."""

import contextlib
import copy
import math
import pickle
import tracemalloc

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from driftgames.core.documents import DocumentError
from driftgames.hedge import LEARNERS, AdaNormalHedge, Hedge, NormalHedge

NAMES = list(LEARNERS)
WITH_PRIOR = [name for name in NAMES if name != "normalhedge"]


def _one_of_each_loop(names):
    """Return a learner for each compiled loop: float32 rows are read and written by loops alone."""
    return list({LEARNERS[name](2, 9)._replay.__func__: name for name in reversed(names)}.values())


NARROW = _one_of_each_loop(NAMES)
BOTH = pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, np.float64) for name in NAMES), *((name, np.float32) for name in NARROW)],
)


def _losses(rounds, n_actions, seed=0):
    rng = np.random.default_rng(seed)
    # some actions better than others, and ties
    return np.round(rng.random((rounds, n_actions)) ** rng.uniform(0.5, 2, n_actions), 2)


def _assert_distribution(p, n_actions):
    assert p.shape == (n_actions,)
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1.0, abs=1e-6 if p.dtype == np.float32 else 1e-12)


# ---------------------------------------------------------------------- playing


@pytest.mark.parametrize("name", NAMES)
def test_reading_changes_nothing(name):
    learner = LEARNERS[name](8, 100)
    learner.run(_losses(5, 8))  # several actions are still ahead of the learner
    before = copy.deepcopy(learner)
    rng = np.random.default_rng(0)
    first = learner.distribution()
    for _ in range(3):
        assert (learner.distribution() == first).all()
        learner.sample(rng)
        learner.certificate()
        learner.positions[:] = 7.0  # what is handed out is not the state
        learner.action_losses[:] = 7.0
    assert learner == before
    row = _losses(1, 8, seed=1)[0]
    assert learner.update(row) == before.update(row)
    assert learner == before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_actions", [1, 2, 7, 70])
def test_run_equals_updates_bit_for_bit(name, n_actions):
    L = _losses(60, n_actions)
    at_once, one_by_one = LEARNERS[name](n_actions, 60), LEARNERS[name](n_actions, 60)
    kept = LEARNERS[name](n_actions, 60)
    played, learner_losses = [], []
    for row in L:
        played.append(one_by_one.distribution())
        learner_losses.append(one_by_one.update(row))
    run = at_once.run(L)
    assert at_once == one_by_one
    assert (run.learner_losses == learner_losses).all()
    assert run.distributions is None
    with_distributions = kept.run(L, distributions=True)
    assert kept == one_by_one
    assert (with_distributions.distributions == played).all()


@pytest.mark.parametrize("name", NAMES)
def test_run_goes_on_where_the_last_one_stopped(name):
    L = _losses(50, 4)
    whole, parts = LEARNERS[name](4, 50), LEARNERS[name](4, 50)
    run = whole.run(L)
    first, second = parts.run(L[:20]), parts.run(L[20:], progress=False)
    assert whole == parts
    pieces = [first.regret_over_time, second.regret_over_time]
    assert (run.regret_over_time == np.concatenate(pieces)).all()
    assert second.rounds.tolist() == list(range(21, 51))


def test_a_matrix_may_be_of_any_layout():
    L = _losses(40, 6)
    plain = Hedge(6)
    plain.run(L)
    frozen = L.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(L), np.repeat(L, 2, axis=1)[:, ::2], frozen, L.tolist()):
        other = Hedge(6)
        other.run(same)
        assert other == plain
    integers = Hedge(6)
    integers.run(L.round().astype(np.int8))
    assert integers.t == 40


@pytest.mark.parametrize("name", NAMES)
def test_totals_are_those_of_the_game(name):
    L = _losses(700, 6)  # long enough for the floor to rise
    learner = LEARNERS[name](6, 700)
    run = learner.run(L, distributions=True)
    assert (learner.t, learner.n_actions) == (700, 6)
    np.testing.assert_allclose(learner.action_losses, L.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(run.learner_losses, (run.distributions * L).sum(axis=1), rtol=1e-12)
    assert learner.learner_loss == pytest.approx(run.learner_losses.sum(), rel=1e-12)
    np.testing.assert_allclose(
        learner.positions, learner.action_losses - learner.learner_loss, atol=1e-10
    )
    best = np.cumsum(L, axis=0).min(axis=1)
    np.testing.assert_allclose(
        run.regret_over_time, np.cumsum(run.learner_losses) - best, atol=1e-10
    )


@pytest.mark.parametrize("name", NAMES)
@tried(max_examples=25)
@given(
    L=arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 5)), elements=st.floats(0, 1))
)
def test_every_distribution_is_one_on_any_losses(name, L):
    learner = LEARNERS[name](L.shape[1], len(L))
    for p in learner.run(L, distributions=True).distributions:
        _assert_distribution(p, L.shape[1])
    assert np.isfinite(learner.positions).all()


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_treated_alike(name):
    L = _losses(80, 6)
    order = np.random.default_rng(5).permutation(6)
    one, other = LEARNERS[name](6, 80), LEARNERS[name](6, 80)
    one.run(L)
    other.run(L[:, order])
    np.testing.assert_allclose(one.distribution()[order], other.distribution(), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_follows_the_distribution(name):
    learner = LEARNERS[name](4, 40)
    learner.run(_losses(6, 4))
    rng = np.random.default_rng(3)
    counts = np.bincount([learner.sample(rng) for _ in range(4000)], minlength=4)
    assert np.abs(counts / 4000 - learner.distribution()).max() < 0.04
    assert not counts[learner.distribution() == 0].any()


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize("name", NAMES)
def test_a_loss_range_changes_the_units_and_nothing_else(name):
    L = _losses(40, 4)
    plain, scaled = LEARNERS[name](4, 40), LEARNERS[name](4, 40, loss_range=(-2.0, 6.0))
    run, in_units = plain.run(L), scaled.run(L * 8 - 2)
    np.testing.assert_allclose(scaled.positions, plain.positions, atol=1e-12)
    np.testing.assert_allclose(scaled.distribution(), plain.distribution(), rtol=1e-9)
    np.testing.assert_allclose(in_units.learner_losses, run.learner_losses * 8 - 2, atol=1e-12)
    np.testing.assert_allclose(in_units.regret_over_time, run.regret_over_time * 8, atol=1e-10)
    np.testing.assert_allclose(scaled.action_losses, (L * 8 - 2).sum(axis=0), atol=1e-10)
    assert scaled.learner_loss == pytest.approx(in_units.learner_losses.sum(), abs=1e-10)
    ours, theirs = scaled.certificate(), plain.certificate()
    np.testing.assert_allclose(ours.realised, theirs.realised * 8, atol=1e-10)
    np.testing.assert_allclose(ours.promised, theirs.promised * 8, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_gains_are_losses_turned_round(name):
    G = _losses(40, 4)
    losing, gaining = LEARNERS[name](4, 40), LEARNERS[name](4, 40, gains=True)
    losing.run(1 - G)
    run = gaining.run(G)
    np.testing.assert_allclose(gaining.distribution(), losing.distribution(), rtol=1e-9)
    np.testing.assert_allclose(gaining.action_losses, -G.sum(axis=0), atol=1e-10)
    assert gaining.learner_loss == pytest.approx(losing.learner_loss - 40, abs=1e-10)
    assert (run.learner_losses <= 0).all()
    with pytest.raises(ValueError, match="gains must lie in"):
        gaining.update([0.0, 0.0, 0.0, 2.0])


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_a_uniform_prior_is_none(name):
    L = _losses(40, 4)
    plain, prior = LEARNERS[name](4, 40), LEARNERS[name](4, 40, prior=[0.25] * 4)
    plain.run(L)
    prior.run(L)
    np.testing.assert_allclose(prior.distribution(), plain.distribution(), rtol=1e-9)


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_a_prior_splits_an_action_into_copies(name):
    # two copies of one action are one action of twice the mass
    L = _losses(40, 3)
    merged = LEARNERS[name](3, 40, prior=[0.5, 0.25, 0.25])
    split = LEARNERS[name](4, 40)
    if name == "exp":
        split = Hedge(4, merged.potential)
    if name in {"adahedge", "ada-fixed-share", "boa"}:
        pytest.skip("its learning rate depends on N, or on the share of an action")
    merged.run(L)
    split.run(L[:, [0, 0, 1, 2]])
    p = split.distribution()
    np.testing.assert_allclose(merged.distribution(), [p[0] + p[1], p[2], p[3]], rtol=1e-9)


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_an_action_without_mass_is_never_played_however_good(name):
    rounds = 6000
    L = np.ones((rounds, 3))
    L[:, 0] = 0.0  # perfect, but of no mass: its weight alone would overflow
    L[:, 1] = 0.9
    learner = LEARNERS[name](3, rounds, prior=[0.0, 0.5, 0.5])
    run = learner.run(L, distributions=True)
    assert (run.distributions[:, 0] == 0.0).all()
    np.testing.assert_allclose(run.learner_losses, (run.distributions * L).sum(axis=1))
    _assert_distribution(learner.distribution(), 3)
    if name not in {"adahedge", "ada-fixed-share"}:  # whose learning rate depends on N
        alone = LEARNERS[name](2, rounds) if name != "exp" else Hedge(2, learner.potential)
        np.testing.assert_allclose(
            run.distributions[:, 1:], alone.run(L[:, 1:], distributions=True).distributions
        )
    assert learner.distribution()[1] > 0.9
    assert learner.certificate().epsilons.size == 2
    assert learner.certificate().holds


def test_normal_hedge_has_no_prior():
    with pytest.raises(ValueError, match="no prior"):
        NormalHedge(3, prior=[0.5, 0.25, 0.25])


@pytest.mark.parametrize("name", NARROW)
def test_float32_stays_float32(name):
    L = _losses(300, 5)
    wide, narrow = LEARNERS[name](5, 300), LEARNERS[name](5, 300, dtype=np.float32)
    run = narrow.run(L.astype(np.float32), distributions=True)
    wide.run(L)
    arrays = (narrow.distribution(), narrow.positions, run.learner_losses, run.regret_over_time)
    assert all(array.dtype == np.float32 for array in (*arrays, run.distributions))
    np.testing.assert_allclose(narrow.positions, wide.positions, atol=2e-3)
    np.testing.assert_allclose(narrow.distribution(), wide.distribution(), atol=2e-3)
    one_by_one = LEARNERS[name](5, 300, dtype=np.float32)
    losses = [one_by_one.update(row) for row in L]
    assert one_by_one == narrow
    assert (run.learner_losses == np.float32(losses)).all()


@pytest.mark.parametrize("name", NARROW)
def test_float32_counts_a_long_game_as_float64_does(name):
    # a float32 counter of such losses would be off by ten per cent after 300,000 rounds
    rounds = 300_000
    rows = np.broadcast_to(np.float32([0.1, 0.1, 0.9]), (rounds, 3))
    wide, narrow = LEARNERS[name](3, rounds), LEARNERS[name](3, rounds, dtype=np.float32)
    exact, rounded = wide.run(rows), narrow.run(rows)
    np.testing.assert_allclose(
        rounded.regret_over_time, exact.regret_over_time, rtol=1e-6, atol=1e-7
    )
    assert (narrow.action_losses == wide.action_losses).all()
    assert (narrow.certificate().realised == wide.certificate().realised).all()
    assert narrow.learner_loss == wide.learner_loss


@pytest.mark.parametrize("name", _one_of_each_loop(WITH_PRIOR))
def test_float32_can_tell_a_tiny_mass_from_none(name):
    # 1e-46 is no float32: the masses are multiplied before they are rounded
    learner = LEARNERS[name](4, 3000, prior=[0.0, 1e-46, 0.5, 0.5 - 1e-46], dtype=np.float32)
    L = np.ones((3000, 4))
    L[:, :2] = 0.0
    played = learner.run(L, distributions=True).distributions
    for p in [*played[::100], learner.distribution()]:
        _assert_distribution(p, 4)
        assert p[0] == 0.0
    if name not in {"exp", "2-norm"}:  # whose weights do not grow as fast
        assert learner.distribution()[1] > 0.99


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_run_takes_names_from_the_columns_of_a_frame(make):
    frame = make({"sun": [0.2, 0.4], "rain": [0.9, 0.1]})
    learner, plain = Hedge(2), Hedge(2)
    assert learner.run(frame).names == learner.names == ("sun", "rain")
    plain.run([[0.2, 0.9], [0.4, 0.1]])
    np.testing.assert_array_equal(learner.distribution(), plain.distribution())
    learner.run(frame)  # the same names again
    before = copy.deepcopy(learner)
    with pytest.raises(ValueError, match=r"order: \['sun', 'rain'\]; got \['rain', 'sun'\]"):
        learner.run(make({"rain": [0.2], "sun": [0.9]}))
    with pytest.raises(ValueError, match="must lie in"):
        plain.run(make({"sun": [0.2], "rain": [9.0]}))
    assert learner == before
    assert plain.names == ("0", "1")  # a run that failed leaves no names


def test_columns_that_have_numbers_name_nothing():
    learner = Hedge(2, names=["sun", "rain"])
    assert learner.run(pd.DataFrame([[0.1, 0.2]])).names == ("sun", "rain")


def test_names_are_kept():
    assert Hedge(2, names=["sun", "rain"]).names == ("sun", "rain")
    assert Hedge(2).names == ("0", "1")


# ---------------------------------------------------------------------- files and copies


@BOTH
def test_a_saved_learner_goes_on_to_the_same_bits(name, dtype, tmp_path):
    L = _losses(400, 4)
    learner = LEARNERS[name](4, 400, dtype=dtype, loss_range=(0.0, 2.0), names=["a", "b", "c", "d"])
    learner.run(L[:300])
    learner.save(tmp_path / "state.json")
    loaded = type(learner).load(tmp_path / "state.json")
    assert loaded == learner
    assert loaded.names == ("a", "b", "c", "d")
    assert (loaded.run(L[300:]).learner_losses == learner.run(L[300:]).learner_losses).all()
    assert loaded == learner


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_a_prior_is_saved(name, tmp_path):
    learner = LEARNERS[name](2, 10, prior=[0.3, 0.7], gains=True)
    learner.save(tmp_path / "state.json")
    loaded = type(learner).load(tmp_path / "state.json")
    assert loaded == learner
    assert loaded.prior.tolist() == [0.3, 0.7]
    assert loaded.gains


@pytest.mark.parametrize("name", NAMES)
def test_copies_and_pickles_are_equal_and_independent(name):
    learner = LEARNERS[name](3, 30)
    learner.run(_losses(20, 3))
    for twin in (copy.copy(learner), copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert twin == learner
        assert (twin.distribution() == learner.distribution()).all()
        twin.update([1.0, 0.0, 0.5])
        assert twin != learner
    assert learner.t == 20


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_a_pickle_mapped_read_only_is_a_learner_like_any_other(name, tmp_path):
    learner = LEARNERS[name](3, 30, prior=[0.5, 0.25, 0.25])
    learner.run(_losses(20, 3))
    joblib.dump(learner, tmp_path / "learner.joblib")
    mapped = joblib.load(tmp_path / "learner.joblib", mmap_mode="r")
    assert mapped == learner
    assert (mapped.distribution() == learner.distribution()).all()
    assert mapped.update([1.0, 0.0, 0.5]) == learner.update([1.0, 0.0, 0.5])


def test_learners_differ_by_what_they_are():
    assert Hedge(3) == Hedge(3)
    assert Hedge(3) != Hedge(4)
    assert Hedge(3) != NormalHedge(3)
    assert Hedge(3) != Hedge(3, prior=[0.5, 0.25, 0.25])
    assert Hedge(3) != Hedge(3, gains=True)
    assert Hedge(3) != "Hedge(3)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(Hedge(3))


@pytest.mark.parametrize("given", [{"loss_range": (0, 9)}, {"n_actions": 3}, {"gains": True}])
@pytest.mark.parametrize("name", NAMES)
def test_what_a_file_holds_cannot_be_given_again(name, given, tmp_path):
    learner = LEARNERS[name](3, 10)
    learner.save(tmp_path / "s.json")
    with pytest.raises(DocumentError, match=f"s.json: it was made with {next(iter(given))} = "):
        type(learner).load(tmp_path / "s.json", **given)
    with pytest.raises(DocumentError, match=r"only what .*; got horizon"):
        type(learner).load(tmp_path / "s.json", horizon=3)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([0.1, 0.2, 1.5], r"losses must lie in \[0, 1\]; got 1.5 at index 2"),
        ([0.1, -0.2, 0.5], r"losses must lie in \[0, 1\]; got -0.2 at index 1"),
        ([0.1, math.nan, 0.5], r"losses must lie in \[0, 1\]; got nan at index 1"),
        ([0.1, math.inf, 0.5], r"losses must lie in \[0, 1\]; got inf at index 1"),
        ([0.1, 0.2], r"losses must be of shape \(3,\); got shape \(2,\)"),
        ([[0.1, 0.2, 0.3]], r"losses must be of shape \(3,\); got shape \(1, 3\)"),
        (0.5, r"losses must be of shape \(3,\); got shape \(\)"),
        (["good", "bad", "ugly"], "losses must be numbers"),
        (["0.1", "0.2", "0.3"], "losses must be numbers"),
        (np.full(3, 0.5 + 0.5j), "losses must be numbers"),
        (np.ma.masked_less([0.1, 0.2, 0.3], 0.2), "losses must have no masked entries; got one"),
    ],
)
def test_bad_losses_leave_the_state_unchanged(name, losses, message):
    learner = LEARNERS[name](3, 20)
    learner.run(_losses(10, 3))
    before = copy.deepcopy(learner)
    with pytest.raises(ValueError, match=message):
        learner.update(losses)
    assert learner == before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -1e-9, 1.0000001])
@pytest.mark.parametrize("column", [0, 4, 9])
def test_a_bad_row_in_a_matrix_leaves_the_state_unchanged(name, bad, column):
    learner = LEARNERS[name](10, 60)
    learner.run(_losses(20, 10))
    before = copy.deepcopy(learner)
    L = _losses(30, 10)
    L[17, column] = bad
    with pytest.raises(ValueError, match=rf"losses\[17\] must lie in .* at index {column} "):
        learner.run(L)
    assert learner == before


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_is_interrupted_leaves_the_state_unchanged(name, monkeypatch):
    @contextlib.contextmanager
    def impatient(*_, **__):
        parts = iter(range(2))

        def advance(_):
            if next(parts) == 1:
                raise KeyboardInterrupt

        yield advance

    learner = LEARNERS[name](3, 100)
    learner.run(_losses(21, 3))
    before = copy.deepcopy(learner)
    monkeypatch.setattr(
        "driftgames.hedge.rounds.expert_learner._CHUNK", 30
    )  # entries: ten rounds in a part
    monkeypatch.setattr("driftgames.hedge.rounds.expert_learner.progress_bar", impatient)
    with pytest.raises(KeyboardInterrupt):
        learner.run(_losses(40, 3))
    assert learner == before


@pytest.mark.parametrize("name", NAMES)
def test_a_matrix_of_the_wrong_shape_is_refused(name):
    with pytest.raises(ValueError, match=r"shape \(rounds, 3\); got shape \(5, 4\)"):
        LEARNERS[name](3, 5).run(np.zeros((5, 4)))
    with pytest.raises(ValueError, match=r"shape \(rounds, 3\); got shape \(3,\)"):
        LEARNERS[name](3, 5).run(np.zeros(3))


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_matrix_is_no_round(name):
    learner = LEARNERS[name](3, 5)
    run = learner.run(np.empty((0, 3)), distributions=True)
    assert learner.t == 0
    assert run.regret_over_time.shape == (0,)
    assert run.distributions.shape == (0, 3)
    assert run.promised_over_time.shape == (0,)
    with pytest.raises(ValueError, match="a run of no rounds has no regret"):
        _ = run.regret


@pytest.mark.parametrize("n_actions", [0, -1, 2.0, True, "3"])
def test_the_number_of_actions_is_checked(n_actions):
    with pytest.raises(ValueError, match="n_actions must be an integer >= 1"):
        Hedge(n_actions)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": [0.5, 0.6, 0.0]}, "prior must sum to 1"),
        ({"prior": [0.5, 0.5]}, r"prior must be of shape \(3,\)"),
        ({"prior": [1.5, -0.5, 0.0]}, "prior must be nonnegative"),
        ({"prior": [0.5, 0.5, 1e-250]}, "prior must be 0 or at least 1e-200"),
        ({"loss_range": (1.0, 1.0)}, "loss_range must be"),
        ({"loss_range": (0.0, math.inf)}, "loss_range must be"),
        ({"loss_range": None}, r"loss_range must be \(low, high\), .*got None"),
        ({"loss_range": (0, 1, 2)}, r"loss_range must be \(low, high\), .*got \(0, 1, 2\)"),
        ({"loss_range": ("0", "1")}, r"loss_range must be \(low, high\)"),
        ({"loss_range": (0, 1e-310)}, "loss_range must lie .* at least 1e-290 wide in float64"),
        ({"loss_range": (0, 1e308)}, r"loss_range must lie in \[-1e\+290, 1e\+290\]"),
        ({"loss_range": (0, 1e-45), "dtype": np.float32}, "at least 1e-30 wide in float32"),
        ({"loss_range": (1, 1 + 1e-9), "dtype": np.float32}, "at least 1e-30 wide in float32"),
        ({"loss_range": (0, 1e39), "dtype": np.float32}, r"must lie in \[-1e\+30, 1e\+30\]"),
        ({"gains": "no"}, "gains must be True or False; got 'no'"),
        ({"gains": 1}, "gains must be True or False; got 1"),
        ({"dtype": np.int64}, "dtype must be float64 or float32"),
        ({"names": ["a", "b"]}, "names must be 3 strings"),
        ({"names": "abc"}, "names must be 3 strings"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        Hedge(3, **settings)


@pytest.mark.parametrize("widest", [False, True])
@BOTH
def test_the_narrowest_and_widest_ranges_play_the_same_game(name, dtype, widest):
    if dtype is np.float64:
        low, high = (-1e290, 1e290) if widest else (0.0, 1e-290)
    else:
        low, high = (-1e30, 1e30) if widest else (0.0, 1.1e-30)
    learner, plain = (
        LEARNERS[name](3, 200, dtype=dtype, loss_range=(low, high)),
        LEARNERS[name](3, 200),
    )
    L = _losses(200, 3)
    run = learner.run((1 - L) * low + L * high)
    plain.run(L)
    np.testing.assert_allclose(learner.distribution(), plain.distribution(), atol=1e-4)
    assert np.isfinite(run.regret_over_time).all()
    assert np.isfinite(run.learner_losses).all()
    assert np.isfinite(learner.action_losses).all()
    assert learner.certificate().holds


@pytest.mark.parametrize("name", [n for n in NAMES if not LEARNERS[n](2, 9).sleeps])
def test_sleeping_is_refused_where_the_theory_has_none(name):
    learner = LEARNERS[name](3, 20)
    with pytest.raises(ValueError, match="no sleeping actions; that of AdaNormalHedge and"):
        learner.update([0.1, 0.2, 0.3], awake=[True, True, False])
    with pytest.raises(ValueError, match="no sleeping actions"):
        learner.distribution(awake=[True, True, False])
    with pytest.raises(ValueError, match="no sleeping actions"):
        learner.sample(np.random.default_rng(0), awake=[True, True, False])
    assert learner.t == 0


# ---------------------------------------------------------------------- faults met elsewhere


@pytest.mark.parametrize(("n_actions", "loss"), [(4, 0.7), (3, 0.1), (10, 1e-9), (10, 0.123456789)])
@BOTH
def test_equal_losses_are_no_error_and_change_no_weight(name, n_actions, loss, dtype):
    learner = LEARNERS[name](n_actions, 1000, dtype=dtype)
    run = learner.run(np.full((1000, n_actions), loss))
    np.testing.assert_allclose(run.learner_losses, dtype(loss), rtol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(learner.distribution(), dtype(1 / n_actions), rtol=1e-9)
    assert np.abs(learner.certificate().realised).max() < 1e-10
    assert learner.certificate().holds


@BOTH
def test_a_single_action_is_no_error(name, dtype):
    learner = LEARNERS[name](1, 300, dtype=dtype)
    assert learner.distribution().tolist() == [1.0]
    for loss in np.random.default_rng(0).random(300):
        assert learner.update([loss]) == pytest.approx(dtype(loss), abs=1e-12)
        assert learner.distribution().tolist() == [1.0]
    assert np.abs(learner.positions).max() < 1e-12
    assert learner.certificate().holds


@pytest.mark.parametrize("name", NAMES)
def test_the_first_prediction_is_a_convex_combination(name):
    predictions = np.array([1.0, 1.0, 1.0])
    assert LEARNERS[name](3, 10).distribution() @ predictions == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_a_huge_loss_zeroes_no_weight_for_ever(name):
    learner = LEARNERS[name](3, 3000, loss_range=(0.0, 1e6))
    learner.update([1e6, 1e6, 1e6])
    _assert_distribution(learner.distribution(), 3)
    learner.update([1e6, 0.0, 0.0])
    learner.run(np.tile([0.0, 1e6, 1e6], (2000, 1)))
    assert learner.distribution()[0] > 0.99  # the action that once lost it all is back


@pytest.mark.parametrize("name", NAMES)
def test_nothing_overflows_in_a_long_one_sided_game(name):
    rounds = 20_000
    L = np.ones((rounds, 3))
    L[:, 1] = 0.0
    learner = LEARNERS[name](3, rounds)
    run = learner.run(L)
    assert np.isfinite(run.regret_over_time).all()
    _assert_distribution(learner.distribution(), 3)
    # a share of 0.01 returns to the others
    assert learner.distribution()[1] > (0.99 if name == "ada-fixed-share" else 0.999)
    # and after as many rounds the other way
    learner.run(1 - L)
    _assert_distribution(learner.distribution(), 3)


@pytest.mark.parametrize("name", NAMES)
def test_the_state_does_not_grow_with_the_rounds(name):
    if name == "adanormalhedge.tv":
        pytest.skip("it grows with their logarithm; test_tracking.py has its size")
    learner = LEARNERS[name](10, 4000)
    rows = _losses(500, 10)
    for row in rows:
        learner.update(row)
    learner.distribution()  # compiles
    size = len(pickle.dumps(learner))
    tracemalloc.start()
    try:
        learner.update(rows[0])
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(4):
            for row in rows:
                learner.update(row)
                learner.distribution()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(pickle.dumps(learner)) == size
    assert grown < 2000  # bytes, over 2,000 rounds


@pytest.mark.parametrize("name", NAMES)
def test_a_million_rounds_against_an_adversary_that_punishes_the_leaders(name):
    rounds, step, n_actions = 1_000_000, 500, 10
    learner = LEARNERS[name](n_actions, rounds)
    size = len(pickle.dumps(learner))
    for _ in range(rounds // step):
        # the heavier half loses all until the next look
        heavy = np.argsort(-learner.distribution(), kind="stable")[: n_actions // 2]
        row = np.zeros(n_actions)
        row[heavy] = 1.0
        learner.run(np.broadcast_to(row, (step, n_actions)))
    assert learner.t == rounds
    _assert_distribution(learner.distribution(), n_actions)
    assert np.isfinite(learner.positions).all()
    if name == "adanormalhedge.tv":  # whose memory grows with the logarithm of the rounds
        size += 16 * learner.n_actions * learner.t.bit_length()
    assert abs(len(pickle.dumps(learner)) - size) < 100  # integers and floats, no history
    assert learner.certificate().holds


@pytest.mark.parametrize("make", [dict, pd.Series])
def test_named_losses_are_read_by_the_names_of_the_actions(make):
    named, plain = (AdaNormalHedge(names=["good", "bad", "ugly"]) for _ in range(2))
    assert named.n_actions == 3
    for _ in range(3):
        named.update(make({"bad": 1.0, "ugly": 0.5, "good": 0.0}))
        plain.update([0.0, 1.0, 0.5])
    asleep = make({"ugly": True, "bad": False, "good": True})
    named.update(make({"bad": 1.0, "ugly": 0.5, "good": 0.0}), awake=asleep)
    plain.update([0.0, 1.0, 0.5], awake=[True, False, True])
    assert named == plain
    for wrong in ({"good": 0.0, "bad": 1.0}, {"good": 0.0, "bad": 1.0, "odd": 0.0}):
        with pytest.raises(ValueError, match="losses must have the names good, bad, ugly; got goo"):
            named.update(make(wrong))
    assert named == plain


def test_a_learner_without_names_takes_those_of_the_first_losses():
    learner = Hedge(2)
    with pytest.raises(ValueError, match="losses must lie in"):
        learner.update({"red": 0.0, "blue": 2.0})
    assert learner.names == ("0", "1")
    learner.update({"red": 0.0, "blue": 1.0})
    assert learner.names == ("red", "blue")
    learner.update(pd.Series({"blue": 1.0, "red": 0.0}))
    np.testing.assert_array_equal(learner.action_losses, [0.0, 2.0])
    learner.update(pd.Series([0.0, 1.0]))  # numbers are no names
    np.testing.assert_array_equal(learner.action_losses, [0.0, 3.0])
    with pytest.raises(ValueError, match="n_actions or names must be given; got neither"):
        Hedge()

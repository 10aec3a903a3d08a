"""Online boosters: their formulas, their state, and the adapters to river and scikit-learn."""

import numpy as np
import pytest

from driftgames.hedge import AdaHedge
from driftgames.online_boosting import ONLINE_BOOSTERS, AdaBoostOL, OnlineBBM, make_booster
from tests.refusals import check_files_of


def played(name, n=5, rounds=30, seed=0):
    booster = make_booster(name, n)
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        booster.update(rng.choice([-1, 1], n, p=[0.3, 0.7]), 1)
    return booster


def test_adaboost_ol_follows_its_formulas():
    rng = np.random.default_rng(0)
    booster, votes, squares, hedge = AdaBoostOL(4), np.zeros(4), np.zeros(4), AdaHedge(4)
    raw = []
    for _ in range(50):
        h, label = rng.choice([-1.0, 1.0], 4), int(rng.choice([-1, 1]))
        margin, weights, errs = 0.0, [], []
        experts = np.sign(np.cumsum(votes * h))
        assert booster.vote(h) == pytest.approx(hedge.distribution() @ experts, abs=1e-12)
        for i in range(4):
            z = label * h[i]
            weights.append(1 / (1 + np.exp(margin)))
            margin += votes[i] * z
            errs.append(float(margin <= 0))
            gradient = z / (1 + np.exp(margin))
            squares[i] += gradient**2
            votes[i] = np.clip(votes[i] + 4 / np.sqrt(2 * squares[i]) * gradient, -2, 2)
        hedge.update(errs)
        raw.append(weights)
        assert booster.update(h, label) == pytest.approx(weights / np.mean(raw, axis=0))
        assert booster.votes == pytest.approx(votes)
    assert booster.mistakes == pytest.approx(hedge.learner_loss)


@pytest.mark.parametrize("name", ONLINE_BOOSTERS)
def test_run_is_one_vote_and_one_update_per_row(name):
    rng = np.random.default_rng(1)
    H, y = rng.choice([-1, 1], (40, 5), p=[0.4, 0.6]), rng.choice([-1, 1], 40)
    ours, theirs = make_booster(name, 5), make_booster(name, 5)
    run = ours.run(H, y)
    for h, label, vote in zip(H, y, run.votes, strict=True):
        assert theirs.vote(h) == vote
        theirs.update(h, label)
    assert ours == theirs
    assert run.wrong.tolist() == [
        (vote >= 0) != (label == 1) for vote, label in zip(run.votes, y, strict=True)
    ]
    for rows, labels, rule in (
        (H, y[:-1], r"got shapes \(40, 5\) and \(39,\)"),
        (H, np.append(y[:-1], 2), "label must be -1 or 1; got 2"),
        (np.append(H[:-1], [[1, 1, 0, 1, 1]], axis=0), y, "predictions must be -1 or 1; got 0"),
    ):
        with pytest.raises(ValueError, match=rule):
            ours.run(rows, labels)
        assert ours == theirs


def test_bbm_weighs_open_votes_only():
    booster = OnlineBBM(5, edge=0.1)
    assert (booster.update([1, 1, 1, 1, 1], 1)[3:] == 0).all()  # decided after three
    assert (booster.update([-1, -1, -1, 1, 1], 1)[3:] == 0).all()
    assert (booster.update([1, -1, 1, -1, 1], 1) > 0).all()
    assert booster.vote([1, 1, -1, -1, -1]) == pytest.approx(-0.2)
    assert booster.mistakes == 1


@pytest.mark.parametrize("name", ONLINE_BOOSTERS)
def test_a_saved_booster_goes_on_to_the_same_bits(name, tmp_path):
    booster = played(name)
    booster.save(tmp_path / "b.json")
    again = type(booster).load(tmp_path / "b.json")
    assert again == booster
    rng = np.random.default_rng(9)
    for _ in range(20):
        h = rng.choice([-1, 1], 5)
        assert again.vote(h) == booster.vote(h)
        assert np.array_equal(again.update(h, -1), booster.update(h, -1))
    assert again.certificate() == booster.certificate()
    assert again.copy() == booster


REFUSED = {
    "bbm": [
        ("state.mistakes", 99.0, r"mistakes must lie in \[0, 30\]"),
        ("state.t", 3, "mistakes|weights"),
    ],
    "adaboost.ol": [
        ("state.t", 29, "hedge must be of 5 experts and 29 rounds"),
        ("state.hedge", {}, "kind"),
    ],
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_impossible_state_is_refused(name, tmp_path):
    check_files_of(played(name), tmp_path / "b.json", REFUSED[name])


@pytest.mark.parametrize("name", ONLINE_BOOSTERS)
def test_bad_input_leaves_the_booster_as_it_was(name):
    booster = played(name)
    before = booster.copy()
    for h, label, message in (
        ([1, 1, 1, 1], 1, "predictions must be of shape"),
        ([1, 1, 1, 1, 0], 1, "predictions must be -1 or 1; got 0"),
        ([1, 1, 1, 1, 1], 0, "label must be -1 or 1; got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            booster.update(h, label)
    assert booster == before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_booster("bbm", 0), "n_learners must be an integer >= 1"),
        (lambda: make_booster("bbm", 1001), r"n_learners must lie in \[1, 1000\]"),
        (lambda: make_booster("bbm", 3, 0.5), r"edge must lie in \(0, 0.5\); got 0.5"),
        (lambda: make_booster("oza", 3), "algorithm must be one of bbm, adaboost.ol; got 'oza'"),
        (lambda: make_booster("bbm", 3).certificate(), "nothing to certify"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_long_stream_stays_finite():
    for name in ONLINE_BOOSTERS:
        booster = make_booster(name, 3)
        for _ in range(5000):
            weights = booster.update([1, 1, -1], 1)
        assert np.isfinite(weights).all()
        assert np.isfinite(booster.certificate().promised)


def test_a_tied_vote_of_bbm_is_a_mistake():
    """The vote is lost at a margin of 0: its potential is that of ``margin <= 0``."""
    booster = OnlineBBM(4, edge=0.1)
    booster.update([1, 1, -1, -1], 1)
    assert booster.mistakes == 1
    booster.update([1, 1, 1, -1], 1)
    assert booster.mistakes == 1
    assert OnlineBBM(2, edge=0.1).game_value > OnlineBBM(1, edge=0.1).game_value  # ties are lost


def test_adaboost_ol_promises_what_gradient_descent_promises_its_votes():
    """By hand: D sqrt(2 sum g^2) for each vote in [-2, 2], where D = 4 is the diameter.

    The steps D / sqrt(2 sum g^2) give D sqrt(sum g^2 / 2) from the distances and as much from the
    sum of step times g^2, which is at most sqrt(2) D sqrt(sum g^2) together.
    """
    rng = np.random.default_rng(3)
    booster, squares, votes, hedge = AdaBoostOL(30), np.zeros(30), np.zeros(30), AdaHedge(30)
    rounds = 4_000
    for _ in range(rounds):
        z = np.where(rng.random(30) < 0.85, 1.0, -1.0)
        margins = np.cumsum(votes * z)
        gradients = z / (1 + np.exp(margins))
        squares += gradients**2
        votes = np.clip(votes + 4 / np.sqrt(2 * squares) * gradients, -2, 2)
        hedge.update((margins <= 0).astype(float))
        booster.update(z, 1)
    regrets = 4 * np.sqrt(2 * squares).sum()
    wanted = (rounds * np.log(2) + regrets) / (booster.edges**2).sum()
    wanted += hedge.certificate().at(1 / 30).promised
    assert wanted < rounds  # else the promise is all rounds
    assert booster.certificate().promised == pytest.approx(wanted)

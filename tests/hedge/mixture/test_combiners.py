"""Combiners of forecasts: their formulas, no look ahead, sleep, and their part in a mixture."""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import nnls

from driftgames.hedge import AdaNormalHedge, ExpertMixture, best_combination
from driftgames.hedge.mixture.combiners import COMBINERS, FORGETTING, RIDGE, Combiners


def forecasts(rounds=120, experts=5, *, seed=0, asleep=0.0):
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.normal(size=rounds))
    X = y[:, None] + rng.normal(
        0.5 * np.arange(experts), 0.3 + 0.3 * np.arange(experts), (rounds, experts)
    )
    gaps = rng.random((rounds, experts)) < asleep
    gaps[:2], gaps[:, 0] = False, False  # each expert has an error after the first round
    X[gaps] = np.nan
    return X, y


def by_hand(X, y):
    """Return the forecasts of the next round for every round, from the definitions."""
    found = []
    for t in range(len(y)):
        outcomes, row = y[:t], X[t]

        def inverse(s, row, awake):
            errors = (X[:s] - y[:s, None]) ** 2
            if s == 0:
                return np.nanmean(row)
            mean = np.nanmean(errors, axis=0)
            w = 1.0 / mean[awake]
            return (w / w.sum()) @ row[awake]

        middles = [inverse(s, X[s], ~np.isnan(X[s])) for s in range(t + 1)]
        filled = np.where(np.isnan(X[: t + 1]), np.array(middles)[:, None], X[: t + 1])
        D = filled - np.array(middles)[:, None]
        weights = FORGETTING ** np.arange(t - 1, -1, -1)
        ridge, convex = middles[t], filled[t].mean() if t == 0 else None
        if t:
            A = (D[:t] * weights[:, None]).T @ D[:t]
            lam = (RIDGE / weights.sum() + 1e-12) * np.trace(A)
            b = (D[:t] * weights[:, None]).T @ (outcomes - middles[:t])
            z = np.linalg.solve(A + lam * np.eye(len(row)), b)
            ridge = middles[t] + z @ D[t]
            least, most = np.nanmin(row), np.nanmax(row)
            ridge = np.clip(ridge, 2 * least - most, 2 * most - least)
            errors = (filled[:t] - outcomes[:, None]) * np.sqrt(weights)[:, None]
            extra = np.sqrt(RIDGE * (errors**2).sum() / (weights.sum() * len(row))) * np.eye(
                len(row)
            )
            big = 1e4 * np.abs(errors).max() * np.ones((1, len(row)))  # the weights sum to 1
            q, _ = nnls(
                np.vstack([errors, extra, big]), np.append(np.zeros(t + len(row)), big[0, 0])
            )
            convex = q / q.sum() @ filled[t]
        found.append((np.nanmean(row), middles[t], ridge, convex))
    return np.array(found)


@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_combiners_are_their_formulas(asleep):
    X, y = forecasts(60, asleep=asleep)
    columns = Combiners(5).play(X, y)
    wanted = by_hand(X, y)
    np.testing.assert_allclose(columns[:, :3], wanted[:, :3], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(columns[2:, 3], wanted[2:, 3], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_nothing_looks_ahead(asleep):
    X, y = forecasts(asleep=asleep)
    whole, mixed = Combiners(5).play(X, y), ExpertMixture().predict_then_fit(X, y)
    for t in (1, 50, 119):
        other = X.copy(), y.copy()
        other[0][t + 1 :] += 7.0
        other[1][t:] *= -3.0
        np.testing.assert_array_equal(Combiners(5).play(*other)[: t + 1], whole[: t + 1])
        again = ExpertMixture().predict_then_fit(*other)
        np.testing.assert_array_equal(again[: t + 1], mixed[: t + 1])
        assert t == 119 or (again[t + 1 :] != mixed[t + 1 :]).any()


@pytest.mark.parametrize("experts", [1, 3, 50])
def test_batches_of_any_size_give_the_same_bits(experts):
    X, y = forecasts(90, experts)
    whole, parts = Combiners(experts), Combiners(experts)
    columns = whole.play(X, y)
    for part in np.array_split(np.arange(90), 13):
        expected = parts.copy().combine(X[part[:1]])
        found = parts.play(X[part], y[part])
        np.testing.assert_array_equal(found, columns[part])
        np.testing.assert_array_equal(expected[0], columns[part[0]])
    np.testing.assert_array_equal(parts.state, whole.state)


def test_weights_of_experts_give_the_columns():
    X, y = forecasts()
    combiners = Combiners(5)
    combiners.play(X[:-1], y[:-1])
    weights = combiners.expert_weights()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(weights @ X[-1], combiners.combine(X[-1:])[0], rtol=1e-9)
    mixture = ExpertMixture().fit(X[:-1], y[:-1])
    assert mixture.weights_.shape == (5,)
    assert mixture.weights_ @ X[-1] == pytest.approx(mixture.predict(X[-1:])[0], rel=1e-9)


def test_experts_without_errors_share_the_weight_and_constants_are_no_error():
    X = np.tile([1.0, 2.0, 1.0], (20, 1))
    columns = Combiners(3).play(X, np.ones(20))
    assert columns[-1, 1] == 1.0
    np.testing.assert_allclose(columns[-1, 2:], 1.0, atol=0.05)
    equal = Combiners(3).play(np.full((20, 3), 5.0), np.arange(20.0))
    assert (equal == 5.0).all()
    mixture = ExpertMixture().fit(np.full((20, 3), 5.0), np.arange(20.0))
    np.testing.assert_allclose(mixture.weights_.sum(), 1.0)


def test_ridge_stays_in_the_range_of_the_outcomes():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(80, 0.2), 0.5 + 0.01 * rng.random(80)])
    y = (rng.random(80) < 0.97) * 1.0
    mixture = ExpertMixture("log").fit(X, y)
    assert mixture.combiner_losses_.shape == (4,)
    low, high = mixture.loss_.prediction_range
    columns = Combiners(2, low, high).play(X, y)
    assert (columns >= low).all()
    assert (columns <= high).all()
    assert mixture.combination_certificate(X, y).holds


def test_the_guarantee_covers_stacking():
    # no convex combination is good: all experts are too high
    rng = np.random.default_rng(1)
    y = rng.normal(size=600)
    X = np.column_stack([y + 3.0 + 0.1 * rng.normal(size=600), 4.0 + 0.1 * rng.normal(size=600)])
    mixture = ExpertMixture().fit(X, y)
    names = mixture.learner_.names
    assert names[-4:] == tuple(f"combiner: {name}" for name in COMBINERS)
    assert mixture.total_loss_ < 0.6 * best_combination(X, y).total_loss
    regret = mixture.total_loss_ - mixture.combiner_losses_
    certificate = mixture.certificate()
    assert certificate.holds
    assert regret.max() <= certificate.realised[0] <= certificate.promised[0]
    assert "combiner: ridge" in mixture.report()
    plain = ExpertMixture(combiners=False).fit(X, y)
    assert plain.combiner_losses_.size == 0
    assert plain.total_loss_ > best_combination(X, y).total_loss


def test_when_combiners_join():
    X, y = forecasts(30)
    assert ExpertMixture().fit(X, y).learner_.n_actions == 9
    assert ExpertMixture(learner="adahedge").fit(X, y).learner_.n_actions == 5
    assert ExpertMixture(linearise=False).fit(X, y).learner_.n_actions == 5
    assert ExpertMixture(learner="adahedge", combiners=True).fit(X, y).learner_.n_actions == 9
    prior = ExpertMixture().fit(X, y).learner_.prior
    assert prior[:5].sum() == pytest.approx(0.5)
    assert ExpertMixture(linearise=False, combiners=True).fit(X, y).learner_.n_actions == 9
    assert ExpertMixture(tracking=True).fit(X, y).learner_.n_actions == 9
    assert ExpertMixture("zero-one", tracking=True).fit(X > 0, y > 0).learner_.n_actions == 5
    with pytest.raises(ValueError, match="combiners need a loss with a gradient; got ZeroOne"):
        ExpertMixture("zero-one", combiners=True).fit(X > 0, y > 0)
    with pytest.raises(ValueError, match="combiners must be True or False; got 3"):
        ExpertMixture(combiners=3).fit(X, y)


# ---------------------------------------------------------------------- one row at a time

SETTINGS = [
    {},
    {"tracking": True},
    {"combiners": False},
    {"learner": "adahedge"},
    {"learner": "adanormalhedge.tv"},
    {"learner": "squint", "outcome_range": (-200.0, 200.0)},
    {"linearise": False},
]


@pytest.mark.parametrize("asleep", [0.0, 0.3])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_steps_have_the_bits_of_a_batch(settings, asleep):
    X, y = forecasts(40, asleep=asleep)
    whole, single = ExpertMixture(**settings), ExpertMixture(**settings)
    predictions = whole.predict_then_fit(X, y)
    steps = []
    for t in range(40):
        ahead = None if t == 0 else single.predict(X[t : t + 1]).tolist()
        steps.append(single.step(X[t], float(y[t])))
        assert ahead is None or ahead == [steps[-1]]
    assert steps == predictions.tolist()
    assert single.learner_ == whole.learner_
    np.testing.assert_array_equal(single.game_.sums, whole.game_.sums)
    np.testing.assert_array_equal(single.rounds_awake_, whole.rounds_awake_)


@pytest.mark.parametrize("settings", SETTINGS[:4], ids=str)
@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, np.inf, 1.0, 1.0, 1.0], 0.0, "predictions must be finite; got inf"),
        ([np.nan] * 5, 0.0, "a round needs at least one prediction"),
        ([1.0, 2.0], 0.0, r"x must be of shape \(5,\); got shape \(2,\)"),
        ([1.0, 2.0, 3.0, 4.0, "five"], 0.0, "x must be numbers"),
        ([1.0, 2.0, 3.0, 4.0, 5.0], np.inf, "outcomes must be finite; got inf"),
        ([1e200, 2.0, 3.0, 4.0, 5.0], -1e200, "so large that their losses overflow"),
        ([1.0, 2.0, 3.0, 4.0, 5.0], "six", "y must be numbers"),
    ],
)
def test_a_bad_step_leaves_the_mixture_as_it_was(settings, x, y, message):
    X, outcomes = forecasts(40)
    mixture = ExpertMixture(**settings).fit(X, outcomes)
    before = copy.deepcopy(mixture.game_)
    with pytest.raises(ValueError, match=message):
        mixture.step(x, y)
    assert mixture.learner_ == before.learner
    np.testing.assert_array_equal(mixture.game_.sums, before.sums)
    np.testing.assert_array_equal(mixture.game_.counts, before.counts)
    if before.combiners is not None:
        np.testing.assert_array_equal(mixture.game_.combiners.state, before.combiners.state)
    assert mixture.step(X[0], 0.5) == pytest.approx(0.5, abs=20.0)  # and it plays on


def test_steps_move_values_to_the_nearer_end_and_refuse_others():
    mixture = ExpertMixture("square", (0.0, 1.0), outside="nearest").fit([[0.2, 0.4]], [0.5])
    twin = copy.deepcopy(mixture)
    assert mixture.step([-3.0, 0.25], 0.0) == twin.predict_then_fit([[0.0, 0.25]], [0.0])[0]
    with pytest.raises(ValueError, match=r"outcomes must lie in \[0, 1\]; got 2.0"):
        mixture.step([0.5, 0.5], 2.0)
    strict = ExpertMixture("square", (0.0, 1.0)).fit([[0.2, 0.4]], [0.5])
    with pytest.raises(ValueError, match=r"predictions must lie in \[0, 1\]; got 9.0"):
        strict.step([0.5, 9.0], 1.0)
    chances = ExpertMixture("log").fit([[0.2, 0.4]], [1.0])
    with pytest.raises(ValueError, match=r"outcomes of log loss must be 0 or 1; got 0\.5"):
        chances.step([0.2, 0.4], 0.5)
    assert 0.2 <= chances.step([0.2, 0.4], 1) <= 0.6


def test_a_first_step_begins_a_mixture_and_names_are_kept():
    import pandas as pd

    mixture = ExpertMixture()
    assert mixture.step([1.0, 3.0], 2.5) == 2.0
    assert mixture.learner_.t == 1
    named = ExpertMixture().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 2.5]}), [2.5, 2.0])
    named.step([1.0, 3.0], 2.5)
    assert named.learner_.t == 3
    assert named.learner_.names[:2] == ("a", "b")


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_saved_combiners_go_on_to_the_same_bits(tmp_path, asleep):
    X, y = forecasts(asleep=asleep)
    mixture = ExpertMixture().fit(X[:60], y[:60])
    mixture.save(tmp_path / "m.json")
    rest = copy.deepcopy(mixture).predict_then_fit(X[60:], y[60:]).tolist()
    assert ExpertMixture.load(tmp_path / "m.json").predict_then_fit(X[60:], y[60:]).tolist() == rest
    assert pickle.loads(pickle.dumps(mixture)).predict_then_fit(X[60:], y[60:]).tolist() == rest


def test_the_default_learner_needs_no_range_even_if_one_is_given():
    X, y = forecasts(200)
    free, ranged = ExpertMixture(), ExpertMixture("square", (-1000.0, 1000.0))
    np.testing.assert_array_equal(free.predict_then_fit(X, y), ranged.predict_then_fit(X, y))
    assert isinstance(ranged.learner_, AdaNormalHedge)
    assert ExpertMixture.from_content(ranged.content()).learner_ == ranged.learner_

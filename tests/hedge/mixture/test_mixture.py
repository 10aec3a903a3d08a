"""ExpertMixture: a convex combination, round by round, with scikit-learn's manners."""

import csv
import io
import json
import lzma
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from driftgames.core.documents import DocumentError
from driftgames.core.state import nested, restore_nested
from driftgames.hedge import LEARNERS, ExpertLearner, Hedge
from driftgames.hedge.losses.interval_losses import PinballLoss, SquareLoss
from driftgames.hedge.losses.label_losses import LogLoss
from driftgames.hedge.losses.make_loss import CustomLoss
from driftgames.hedge.mixture.expert_mixture import ExpertMixture
from driftgames.hedge.named_learners import make_learner
from driftgames.potentials import NormalHedgeDT, TwoNorm

PARAMETER_FREE = sorted(set(LEARNERS) - {"exp"})  # which must know its horizon
LOAD = Path(__file__).resolve().parents[4] / "shared" / "data" / "experts" / "electric_load.csv.xz"


def absolute(predictions, outcomes):
    return np.abs(predictions - outcomes)


@pytest.fixture(scope="module")
def load():
    """Five simple forecasters of the weekly load, and the load."""
    if not LOAD.is_file():
        pytest.skip(f"no data at {LOAD}")
    rows = list(csv.DictReader(io.StringIO(lzma.decompress(LOAD.read_bytes()).decode())))
    column = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    y = column["Load"]
    weeks = range(52, y.size)
    warmer = column["Temp"] - column["Temp1"]
    experts = {
        "last week": column["Load1"][52:],
        "colder or warmer": (column["Load1"] - 1000.0 * warmer)[52:],
        "a year ago": y[:-52],
        "last four weeks": [y[t - 4 : t].mean() for t in weeks],
        "all so far": [y[:t].mean() for t in weeks],
    }
    return pd.DataFrame(experts), y[52:]


def made_up(rounds=60, experts=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(rounds)
    return np.clip(
        y[:, None] + rng.normal(0, np.arange(1, experts + 1) / 8, (rounds, experts)), 0, 1
    ), y


def test_real_forecasters_are_combined_and_the_best_is_not_far_ahead(load):
    X, y = load
    mixture = ExpertMixture(SquareLoss(30_000, 90_000)).fit(X, y)
    totals = ((X.to_numpy() - y[:, None]) ** 2).sum(axis=0)
    assert mixture.learner_.names[int(np.argmin(totals))] == "colder or warmer"
    assert mixture.expert_losses_ == pytest.approx(totals, rel=1e-9)
    assert mixture.regret_ == pytest.approx(mixture.total_loss_ - totals.min())
    # on this series the mixture beats every one of its experts
    assert mixture.regret_ < 0
    certificate = mixture.certificate()
    assert certificate.holds
    assert mixture.regret_ <= certificate.at(1 / 5).realised
    report = mixture.report()
    assert "colder or warmer" in report
    assert "every bound holds" in report


def test_predictions_are_made_before_their_outcome_is_seen(load):
    X, y = load
    mixture = ExpertMixture("square", (30_000, 90_000))
    predictions = mixture.predict_then_fit(X, y)
    assert predictions[0] == pytest.approx(X.iloc[0].mean(), rel=1e-14)
    other = ExpertMixture("square", (30_000, 90_000)).fit(X[:100], y[:100])
    assert predictions[100] == pytest.approx(other.predict(X[100:101])[0], rel=1e-12)
    assert mixture.total_loss_ == pytest.approx(((predictions - y) ** 2).sum())


@pytest.mark.parametrize("linearise", [False, True])
@pytest.mark.parametrize("name", PARAMETER_FREE)
def test_any_learner_gives_a_convex_combination_and_the_same_in_any_batches(name, linearise):
    X, y = made_up()
    charged = {"learner": name, "outcome_range": (0, 1), "linearise": linearise}
    at_once = ExpertMixture("absolute", **charged)
    predictions = at_once.predict_then_fit(X, y)
    assert np.all(predictions >= X.min(axis=1))
    assert np.all(predictions <= X.max(axis=1))
    one_by_one = ExpertMixture("absolute", **charged)
    for t in range(len(y)):
        one_by_one.partial_fit(X[t : t + 1], y[t : t + 1])
    assert one_by_one.learner_ == at_once.learner_
    assert one_by_one.total_loss_ == at_once.total_loss_
    assert one_by_one.expert_losses_.tolist() == at_once.expert_losses_.tolist()
    if linearise:
        certificate = at_once.combination_certificate(X, y)
        assert certificate.holds
        assert certificate.regret <= certificate.linearised
    else:
        assert at_once.total_loss_ <= at_once.learner_.learner_loss + 1e-9


def test_first_prediction_of_experts_who_agree_is_what_they_say():
    mixture = ExpertMixture("square").partial_fit([[1.0, 1.0, 1.0]], [0.0])
    assert mixture.predict([[1.0, 1.0, 1.0]]).tolist() == [1.0]
    assert mixture.total_loss_ == 1.0


def test_how_losses_are_charged_is_chosen_by_fit_alone(tmp_path):
    X, y = made_up()
    mixture = ExpertMixture().fit(X[:30], y[:30])
    other = clone(mixture).fit(X[:30], y[:30]).set_params(linearise=False)
    assert (
        other.partial_fit(X[30:], y[30:]).learner_ == mixture.partial_fit(X[30:], y[30:]).learner_
    )
    other.save(tmp_path / "m.json")
    assert ExpertMixture.load(tmp_path / "m.json").linearised_
    assert not other.fit(X, y).linearised_


def test_fit_forgets_and_partial_fit_does_not():
    X, y = made_up()
    twice = ExpertMixture().fit(X, y).fit(X, y)
    assert twice.learner_.t == 60
    assert twice.partial_fit(X, y).learner_.t == 120


def test_a_quantile_and_a_probability_are_learnt():
    rng = np.random.default_rng(5)
    y = rng.random(400)
    X = np.tile([0.1, 0.5, 0.9], (400, 1))
    for linearise in (False, True):
        settings = {"learner": "normalhedge.dt", "linearise": linearise}
        assert ExpertMixture(PinballLoss(0.9), **settings).fit(X, y).weights_.argmax() == 2
        assert ExpertMixture(PinballLoss(0.1), **settings).fit(X, y).weights_.argmax() == 0
    labels = (rng.random(400) < 0.5).astype(float)
    plain = ExpertMixture(LogLoss(0.05), linearise=False).fit(X, labels)
    assert plain.weights_.argmax() == 1
    # linearised, it mixes the experts on either side of a probability that none of them has
    labels = (rng.random(400) < 0.7).astype(float)
    mixture = ExpertMixture(LogLoss(0.05)).fit(X, labels)
    assert mixture.total_loss_ < mixture.expert_losses_.min()
    assert mixture.combination_certificate(X, labels).holds


def test_labels_are_voted_on():
    X = np.array([[1.0, 2.0, 2.0], [3.0, 2.0, 3.0]])
    mixture = ExpertMixture("zero-one").fit(X, [2.0, 3.0])
    assert mixture.total_loss_ == 0.0
    assert mixture.predict([[7.0, 5.0, 7.0]]).tolist() == [7.0]


def test_a_loss_and_a_learner_of_your_own():
    X, y = made_up()
    own = ExpertMixture(absolute, learner=partial(Hedge, potential=TwoNorm())).fit(X, y)
    assert own.learner_.potential == TwoNorm()
    maker = partial(Hedge, potential=TwoNorm())
    named = ExpertMixture("absolute", (0, 1), maker, linearise=False).fit(X, y)
    assert own.total_loss_ == named.total_loss_


def test_outside_nearest_moves_predictions_and_still_refuses_outcomes():
    X = [[-3.0, 0.25], [0.5, 4.0]]
    mixture = ExpertMixture("square", (0, 1), outside="nearest").fit(X, [0.0, 1.0])
    assert mixture.expert_losses_.tolist() == pytest.approx([0.25, 0.0625])
    assert mixture.predict([[9.0, 9.0]]).tolist() == [1.0]
    with pytest.raises(ValueError, match=r"outcomes must lie in \[0, 1\]; got 2.0"):
        mixture.partial_fit(X, [0.0, 2.0])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (
            [[0.5, 0.5, 0.5, 1.5]],
            [0.5],
            r"predictions must lie in \[0, 1\]; got 1.5 at index",
        ),
        ([[0.5, 0.5, 0.5, 0.5]], [-0.5], r"outcomes must lie in \[0, 1\]; got -0.5"),
        ([[np.nan] * 4], [0.5], "a round needs at least one prediction; row 0 has only NaN"),
        ([[0.5, 0.5, 0.5, np.inf]], [0.5], "infinity"),
        ([[0.5, 0.5]], [0.5], "2 features"),
        ([[0.5, 0.5, 0.5, 0.5]], [0.5, 0.5], "inconsistent numbers"),
    ],
)
def test_bad_rounds_are_named_and_leave_the_mixture_as_it_was(X, y, message):
    good, outcomes = made_up()
    mixture = ExpertMixture(SquareLoss()).fit(good, outcomes)
    learner, total = mixture.learner_.copy(), mixture.total_loss_
    with pytest.raises(ValueError, match=message):
        mixture.partial_fit(X, y)
    assert mixture.learner_ == learner
    assert mixture.total_loss_ == total
    if "features" not in message:
        with pytest.raises(ValueError, match=message):
            mixture.fit(X, y)
        assert mixture.learner_ == learner


@pytest.mark.filterwarnings("ignore::driftgames.hedge.mixture.expert_mixture.LookAheadWarning")
def test_a_fit_that_fails_leaves_the_old_one_in_place():
    X, y = made_up(experts=4)
    mixture = ExpertMixture(SquareLoss()).fit(X, y)
    with pytest.raises(ValueError, match="predictions must lie in"):
        mixture.fit([[0.5, 1.5]], [0.5])
    assert mixture.n_features_in_ == 4
    assert mixture.predict(X).shape == y.shape


def test_a_failing_loss_of_your_own_leaves_the_mixture_as_it_was():
    def picky(predictions, outcomes):
        if predictions.ndim == 1 and predictions.size == 1:
            raise ZeroDivisionError("the mixture is not to my taste")
        return np.abs(predictions - outcomes)

    X, y = made_up()
    mixture = ExpertMixture(picky).fit(X, y)
    learner = mixture.learner_.copy()
    with pytest.raises(ZeroDivisionError):
        mixture.partial_fit(X[:1], y[:1])
    assert mixture.learner_ == learner


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of absolute"),
        ({"loss": SquareLoss(), "outcome_range": (0, 2)}, "outcome_range goes with"),
        ({"outcome_range": 5}, r"outcome_range must be \(low, high\), .*got 5"),
        ({"loss": "log", "outcome_range": (0, 2)}, "outcome_range goes with"),
        ({"learner": "oracle"}, "learner must be one of .*got 'oracle'"),
        ({"learner": "exp"}, "exp must know its horizon"),
        ({"learner": 7}, "learner must be a name or a factory of learners; got 7"),
        ({"learner": lambda n, **_: n}, "must make an ExpertLearner"),
        ({"learner": "squint"}, "loss_range must be .* the theory of Squint needs it"),
        ({"linearise": "yes"}, "linearise must be True or False; got 'yes'"),
        ({"loss": "zero-one", "linearise": True}, "linearise needs a loss with a gradient"),
        ({"outside": "clip"}, "outside must be 'error' or 'nearest'; got 'clip'"),
    ],
)
def test_senseless_parameters_are_refused_by_fit(parameters, message):
    with pytest.raises(ValueError, match=message):
        ExpertMixture(**parameters).fit(*made_up())


def test_outcomes_too_close_to_tell_their_losses_from_0_are_refused():
    X, y = made_up()
    with pytest.raises(ValueError, match=r"loss_range must lie in .* at least 1e-290 wide"):
        ExpertMixture(SquareLoss(0, 1e-160), learner="adahedge").fit(X * 1e-160, y * 1e-160)


@pytest.mark.filterwarnings("ignore::driftgames.hedge.mixture.expert_mixture.LookAheadWarning")
def test_parameters_clone_pipeline_and_pickle():
    X, y = made_up()
    mixture = ExpertMixture(PinballLoss(0.3), learner="2-norm", outside="nearest")
    assert clone(mixture).get_params() == mixture.get_params()
    assert mixture.set_params(outside="error").outside == "error"
    again = pickle.loads(pickle.dumps(mixture.fit(X, y)))
    assert again.learner_ == mixture.learner_
    assert again.predict(X).tolist() == mixture.predict(X).tolist()
    piped = make_pipeline(FunctionTransformer(), ExpertMixture("absolute"))
    assert cross_val_predict(piped, X, y, cv=3).shape == y.shape


@pytest.mark.parametrize("learner", [None, *PARAMETER_FREE])
def test_a_saved_mixture_goes_on_to_the_same_bits(tmp_path, learner):
    X, y = made_up()
    mixture = ExpertMixture(PinballLoss(0.3), learner=learner).fit(X[:30], y[:30])
    mixture.save(tmp_path / "m.json")
    again = ExpertMixture.load(tmp_path / "m.json")
    assert (
        again.partial_fit(X[30:], y[30:]).learner_ == mixture.partial_fit(X[30:], y[30:]).learner_
    )
    assert again.total_loss_ == mixture.total_loss_
    assert again.get_params() == mixture.get_params()


def test_a_saved_mixture_keeps_the_names_of_its_experts(tmp_path):
    X, y = made_up(experts=2)
    named = pd.DataFrame(X, columns=["sun", "rain"])
    ExpertMixture().fit(named, y).save(tmp_path / "m.json")
    again = ExpertMixture.load(tmp_path / "m.json")
    assert again.learner_.names[:2] == ("sun", "rain")
    assert again.feature_names_in_.tolist() == ["sun", "rain"]
    again.partial_fit(named, y)
    with pytest.raises(ValueError, match="feature names"):
        again.partial_fit(named[["rain", "sun"]], y)


def test_functions_are_given_to_load_again(tmp_path):
    X, y = made_up()
    maker = partial(Hedge, potential=TwoNorm())
    mixture = ExpertMixture(CustomLoss(absolute, (0.0, 2.0)), learner=maker).fit(X, y)
    mixture.save(tmp_path / "m.json")
    with pytest.raises(DocumentError, match=r"CustomLoss, .* cannot hold; give it as loss="):
        ExpertMixture.load(tmp_path / "m.json", learner=maker)
    with pytest.raises(DocumentError, match=r"a factory of learners, .*; give it as learner="):
        ExpertMixture.load(tmp_path / "m.json", loss=CustomLoss(absolute, (0.0, 2.0)))
    again = ExpertMixture.load(
        tmp_path / "m.json", loss=CustomLoss(absolute, (0.0, 2.0)), learner=maker
    )
    assert again.partial_fit(X, y).learner_ == mixture.partial_fit(X, y).learner_
    with pytest.raises(DocumentError, match=r"takes losses in \(0.0, 2.0\), its loss has \(0.0, 1"):
        ExpertMixture.load(tmp_path / "m.json", loss=absolute, learner=maker)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "absolute"}, "made with loss = {'name': 'SquareLoss', .*given is 'absolute'"),
        ({"loss": SquareLoss(0, 2)}, "made with loss = .*'high': 1.0.*given is .*high=2.0"),
        ({"loss": absolute}, "made with loss = .*given is <function absolute"),
        ({"learner": "squint"}, "made with learner = normalhedge.dt; given is 'squint'"),
        ({"learner": Hedge}, "made with learner = normalhedge.dt; given is <class"),
        ({"potential": TwoNorm()}, "made with potential = .*'NormalHedgeDT'.*given is TwoNorm"),
        ({"loss_range": (0, 9)}, "made with loss_range = \\[0.0, 1.0\\]; given is \\(0, 9\\)"),
    ],
)
def test_what_the_file_holds_cannot_be_changed_on_load(given, message, tmp_path):
    mixture = ExpertMixture(SquareLoss(), learner="normalhedge.dt", linearise=False)
    mixture.fit(*made_up()).save(tmp_path / "m.json")
    with pytest.raises(DocumentError, match=message):
        ExpertMixture.load(tmp_path / "m.json", **given)
    again = ExpertMixture.load(tmp_path / "m.json", loss=SquareLoss(), potential=NormalHedgeDT())
    assert again.learner_ == mixture.learner_


def test_a_mixture_of_a_float32_learner_is_loaded_as_it_was_saved(tmp_path):
    # neither 0.01 nor -ln 0.01 is a float32, so its learner's range is a rounded one
    X, y = made_up()
    narrow = partial(Hedge, dtype=np.float32)
    for loss in (SquareLoss(0.0, 0.1), PinballLoss(0.3, 0.0, 0.1)):
        mixture = ExpertMixture(loss, learner=narrow).fit(X * 0.1, y * 0.1)
        mixture.save(tmp_path / "m.json")
        again = ExpertMixture.load(tmp_path / "m.json", learner=narrow)
        assert again.partial_fit(X * 0.1, y * 0.1).learner_.t == 120
        assert again.learner_ == mixture.partial_fit(X * 0.1, y * 0.1).learner_


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_described_learner_is_restored_to_the_same_bits(name):
    names = ["a", "b", "c"]
    learner = make_learner(name, 3, horizon=50, loss_range=(-1.0, 2.0), names=names)
    learner.run(np.random.default_rng(1).uniform(-1, 2, (50, 3)))
    again = restore_nested(json.loads(json.dumps(nested(learner))), ExpertLearner)
    assert again == learner
    assert type(again) is type(learner)


def test_what_describes_no_learner_is_refused():
    content = nested(Hedge(2))
    with pytest.raises(DocumentError, match="there is no ExpertLearner 'Oracle'"):
        restore_nested({**content, "kind": "Oracle"}, ExpertLearner)
    with pytest.raises(DocumentError, match="not a whole Hedge: the state must be"):
        restore_nested({**content, "state": {}}, ExpertLearner)
    with pytest.raises(DocumentError, match="not a whole Hedge"):
        restore_nested({**content, "state": []}, ExpertLearner)
    with pytest.raises(DocumentError, match="it has no 'kind'"):
        restore_nested([], ExpertLearner)


WIDE = (-1e9, 1e9)  # the checks' data lie anywhere


@pytest.mark.filterwarnings("ignore::driftgames.hedge.mixture.expert_mixture.LookAheadWarning")
@parametrize_with_checks(
    [
        ExpertMixture(),
        ExpertMixture("absolute"),
        ExpertMixture("square", WIDE, "normalhedge.dt"),
        ExpertMixture("absolute", WIDE, linearise=False),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_numbers_that_no_float_holds_are_refused():
    mixture = ExpertMixture("square").partial_fit([[0.0, 1.0]], [0.5])
    with pytest.raises(ValueError, match="X and y must be numbers that fit in a float64"):
        mixture.partial_fit([[10**400, 1.0]], [0.5])
    with pytest.raises(ValueError, match="X must be numbers that fit in a float64"):
        mixture.predict([[10**400, 1.0]])


ROWS = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 5.0], [0.5, 2.5, 1.0], [2.0, 2.0, 4.0]])


@pytest.mark.parametrize("make", [dict, pd.Series])
def test_a_named_row_is_read_by_the_names_of_the_experts(make):
    frame, y = pd.DataFrame(ROWS, columns=list("abc")), [1.5, 2.0, 1.0, 2.5]
    whole, named = ExpertMixture(), ExpertMixture()
    wanted = whole.predict_then_fit(frame, y)
    found = []
    for row, outcome in zip(ROWS, y, strict=True):
        order = "abc" if not found else "cab"
        found.append(named.step(make({name: row["abc".index(name)] for name in order}), outcome))
    np.testing.assert_array_equal(found, wanted)
    assert named.learner_.names == whole.learner_.names
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="x must have the names a, b, c; got a, b, d"):
        named.step(make({"a": 1.0, "b": 1.0, "d": 1.0}), 1.0)
    plain = ExpertMixture().fit(ROWS, y)
    with pytest.raises(ValueError, match="x has the names a, b, c, and the mixture was given none"):
        plain.step(make({"a": 1.0, "b": 1.0, "c": 1.0}), 1.0)


@pytest.mark.parametrize("settings", [{}, {"learner": "squint", "outcome_range": (0, 6)}])
@pytest.mark.parametrize("missing", [[0], [1, 2], [3], [0, 1, 2, 3]])
def test_a_round_without_an_outcome_is_predicted_and_not_learnt(settings, missing):
    y = np.array([1.5, 2.0, 1.0, 2.5])
    y[missing] = np.nan
    gaps, plain, steps = (ExpertMixture(**settings) for _ in range(3))
    found = gaps.predict_then_fit(ROWS, y)
    known = ~np.isnan(y)
    if known.any():
        np.testing.assert_array_equal(found[known], plain.predict_then_fit(ROWS[known], y[known]))
        assert gaps.learner_ == plain.learner_
        assert gaps.total_loss_ == plain.total_loss_
    else:
        assert gaps.learner_.t == 0
        np.testing.assert_allclose(found, ROWS.mean(axis=1), rtol=0.2)
        with pytest.raises(ValueError, match="no round was played"):
            gaps.report()
    each = [steps.step(row, outcome) for row, outcome in zip(ROWS, y, strict=True)]
    np.testing.assert_allclose(each, found, rtol=1e-12)
    with pytest.raises(ValueError, match="NaN"):
        ExpertMixture(**settings).fit(ROWS, y)


@pytest.mark.parametrize(
    "X",
    [
        np.full((2, 3), np.datetime64("2020-01-01")),
        np.full((2, 3), np.timedelta64(3, "D")),
        np.full((2, 3), b"1.5"),
        np.full((2, 3), "1.5"),
        np.full((2, 3), "1.5", dtype=object),
        np.zeros((2, 3), dtype=[("a", float)]),
        pd.DataFrame({"a": ["1.5", "2"], "b": [1.0, 2.0], "c": [1.0, 2.0]}),
        pd.DataFrame(np.full((2, 3), np.datetime64("2020-01-01", "ns")), columns=list("abc")),
    ],
    ids=["dates", "spans", "bytes", "texts", "objects", "records", "frame", "frame of dates"],
)
def test_what_is_no_number_is_no_forecast(X):
    mixture = ExpertMixture().fit(ROWS, [1.5, 2.0, 1.0, 2.5])
    calls = {
        "fit": lambda: ExpertMixture().fit(X, [1.0, 2.0]),
        "partial_fit": lambda: mixture.partial_fit(X, [1.0, 2.0]),
        "predict_then_fit": lambda: mixture.predict_then_fit(X, [1.0, 2.0]),
        "predict": lambda: mixture.predict(X),
    }
    for call in calls.values():
        with pytest.raises(ValueError, match="X must be numbers"):
            call()

"""The regressor: scikit-learn's checks, frames, weights, units, files, and what it refuses."""

from __future__ import annotations

import copy
import datetime
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from driftgames.boosting import NHBoostDTClassifier, NHBoostDTRegressor, NoEdgeWarning
from driftgames.boosting.regression import stages
from driftgames.boosting.regression.regressor_document import FORMAT, VERSION, encode_regressor
from driftgames.core.documents import DocumentError, write_document
from tests.refusals import REMOVED, check_refused

FIXED = NHBoostDTRegressor(20, max_leaves=4, n_stages=2)
BOOSTERS = {
    "fixed": FIXED,
    "default": NHBoostDTRegressor(),
    "promised": clone(FIXED).set_params(validation_fraction=0.3),
}

ENGINES = [
    NHBoostDTRegressor(),  # chooses its size and stages
    NHBoostDTRegressor(5, max_leaves=2, n_stages=2, n_thresholds=5),  # all is given
]
COPIES = "one fold holds out an example of weight 2, several its copies"
UNEQUAL = {
    f"check_sample_weight_equivalence_on_{kind}_data": COPIES for kind in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@parametrize_with_checks(ENGINES, expected_failed_checks=lambda booster: UNEQUAL)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_tags_say_regressor_sparse_and_missing():
    tags = get_tags(NHBoostDTRegressor())
    assert tags.estimator_type == "regressor"
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)).round(2)
    X[rng.random(150) < 0.4, 1] = 0.0
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=150)).round(3)
    return X, y


def answers(booster, X):
    """Return all that a booster predicts of rows, side by side."""
    levels = [0.0, 0.1, 0.5, 0.99, 1.0]
    mean, ends = booster.predict(X), booster.predict_interval(X, 0.8)
    return np.column_stack([mean, ends, booster.predict_quantiles(X, levels)])


def same(one, two, X, Z=None):
    np.testing.assert_array_equal(answers(one, X), answers(two, X if Z is None else Z))


@pytest.fixture(params=BOOSTERS)
def booster(request):
    return clone(BOOSTERS[request.param])


# ----------------------------------------------------------------------- what does not matter


def test_the_order_of_rows_does_not_matter(booster, data):
    X, y = data
    X = np.round(X)  # copies of rows, with different outcomes
    assert np.unique(X, axis=0).shape[0] < 80
    moved = np.random.default_rng(1).permutation(y.size)
    one, two = clone(booster).fit(X, y), clone(booster).fit(X[moved], y[moved])
    assert encode_regressor(one) == encode_regressor(two)


def test_the_number_of_threads_does_not_matter(booster, data):
    X, y = data
    one, two = (clone(booster).set_params(n_jobs=n).fit(X, y) for n in (1, 2))
    assert encode_regressor(one) == encode_regressor(two.set_params(n_jobs=1))
    same(one, two.set_params(n_jobs=2), X)


@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_sparse_rows_are_dense_rows_to_the_bit(booster, data, layout):
    X, y = data
    dense, sparse = clone(booster).fit(X, y), clone(booster).fit(layout(X), y)
    assert encode_regressor(dense) == encode_regressor(sparse)
    same(dense, sparse, X, layout(X))


def test_float32_and_lists_are_the_same_numbers(booster, data):
    X, y = data
    X = np.round(X * 8) / 8
    one = clone(booster).fit(X, y)
    same(one, clone(booster).fit(X.astype(np.float32), y.tolist()), X, X.astype(np.float32))
    same(one, clone(booster).fit(X.tolist(), pd.Series(y)), X)


@pytest.mark.parametrize("y", [[1, 2, 5] * 20, [True, False, False] * 20, [Decimal(2), 3, 9] * 20])
def test_outcomes_may_be_any_real_numbers(y):
    X = np.random.default_rng(0).normal(size=(60, 2))
    numbers = np.array([float(each) for each in y])
    same(clone(FIXED).fit(X, y), clone(FIXED).fit(X, numbers), X)


# ----------------------------------------------------------------------- units of the outcome


@pytest.mark.parametrize("power", [-900, -30, 1, 50, 900])
def test_powers_of_two_scale_all_that_is_predicted_and_no_bit_more(booster, data, power):
    X, y = data
    one, other = clone(booster).fit(X, y), clone(booster).fit(X, np.ldexp(y, power))
    np.testing.assert_array_equal(answers(other, X), np.ldexp(answers(one, X), power))
    assert other.scores_.crps == tuple(np.ldexp(one.scores_.crps, power))
    assert other.scores_.mae == np.ldexp(one.scores_.mae, power)
    assert other.score(X, np.ldexp(y, power)) == one.score(X, y)


@pytest.mark.parametrize("shift", [-1.0, 4.0, 2.0**20, -(2.0**30)])
def test_exact_shifts_move_all_that_is_predicted_rounded_once(booster, data, shift):
    X, y = data
    y = np.rint(y * 64) / 64  # all of y + shift are floats
    booster.set_params(validation_fraction=None)  # places among predictions are rounded as these
    one, other = clone(booster).fit(X, y), clone(booster).fit(X, y + shift)
    assert (other.model_.origin - one.model_.origin) * 2.0**one.model_.exponent == shift
    moved = encode_regressor(other) | {"origin": one.model_.origin}
    assert moved == encode_regressor(one)  # so scores and models are the same to the bit
    near = np.spacing(np.abs(answers(other, X))) + np.spacing(np.abs(answers(one, X)))
    assert (np.abs(answers(other, X) - (answers(one, X) + shift)) <= near).all()


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e-310])
def test_huge_and_tiny_outcomes_are_learnt_like_others(data, scale):
    X, y = data
    usual, other = clone(FIXED).fit(X, y), clone(FIXED).fit(X, y * scale)
    assert np.isfinite(answers(other, X)).all()
    assert np.isfinite(other.predict_distribution(X).std()).all()
    assert np.isfinite(other.scores_.crps).all()
    assert other.score(X, y * scale) == pytest.approx(usual.score(X, y), abs=0.05)


def test_the_largest_float_and_its_opposite_are_in_one_fit():
    most = np.finfo(float).max
    X, y = np.arange(40.0)[:, None], np.where(np.arange(40) < 20, -most, most)
    booster = NHBoostDTRegressor(20, max_leaves=2, n_stages=1).fit(X, y)
    assert (booster.predict(X) < 0).tolist() == (y < 0).tolist()
    assert np.isfinite(answers(booster, X)).all()


def test_the_score_is_r2(data):
    X, y = data
    booster, weights = clone(FIXED).fit(X, y), np.arange(y.size) % 3
    assert booster.score(X, y) == pytest.approx(r2_score(y, booster.predict(X)), rel=1e-12)
    wanted = r2_score(y, booster.predict(X), sample_weight=weights)
    assert booster.score(X, y, weights) == pytest.approx(wanted, rel=1e-12)
    assert 0.7 < cross_val_score(make_pipeline(StandardScaler(), clone(FIXED)), X, y).mean() < 1


def test_equal_outcomes_are_certain(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    booster = NHBoostDTRegressor().fit(X, np.full(30, 0.1))
    assert (answers(booster, X) == 0.1).all()
    assert booster.scores_.crps[-1] == booster.scores_.mae == 0.0
    assert not booster.feature_importances_.any()
    assert "100.0 % of them lie" in str(booster.certificate_)
    booster.save(tmp_path / "m.json")
    same(booster, NHBoostDTRegressor.load(tmp_path / "m.json"), X)
    towns = pd.DataFrame({"town": pd.Categorical(["York", "Bath", "York"])})
    assert NHBoostDTRegressor().fit(towns, np.ones(3)).predict(towns).tolist() == [1.0] * 3


@pytest.mark.parametrize("outcomes", [[0, 1], [-3, 4.5], [1, np.nextafter(1, 2)]])
def test_two_different_outcomes(outcomes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    is_high = X[:, 0] + 0.2 * rng.normal(size=200) > 0
    low, high = outcomes
    booster = NHBoostDTRegressor(20, max_leaves=2).fit(X, np.where(is_high, high, low))
    mean = booster.predict(X)
    assert ((low <= mean) & (mean <= high)).all()
    assert np.mean((booster.predict_quantiles(X, 0.5) == high) == is_high) > 0.9


def test_outcomes_that_a_stage_explains_leave_nothing_to_the_next():
    X = np.repeat(np.arange(4.0), 20)[:, None]
    booster = NHBoostDTRegressor(40, max_leaves=8, n_stages=4).fit(X, X[:, 0])
    assert np.abs(booster.predict(X) - X[:, 0]).max() < 0.01


@pytest.mark.filterwarnings("ignore::driftgames.boosting.NoEdgeWarning")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows(n):
    X, y = np.arange(3.0)[:, None], np.array([1.0, 5.0, 2.0])
    found = answers(NHBoostDTRegressor().fit(X[:n], y[:n]), X)
    assert ((found >= y[:n].min()) & (found <= y[:n].max())).all()


def test_a_table_that_tells_nothing_is_predicted_by_the_outcomes_alone():
    y = np.random.default_rng(0).exponential(size=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEdgeWarning)
        booster = NHBoostDTRegressor(20, n_stages=1).fit(np.zeros((100, 2)), y)
    assert np.ptp(booster.predict(np.zeros((5, 2)))) == 0.0
    assert booster.predict(np.zeros((1, 2))) == pytest.approx(y.mean(), rel=0.05)
    assert not booster.feature_importances_.any()


# ----------------------------------------------------------------------- weights


def test_equal_weights_are_none_and_their_unit_does_not_matter(booster, data):
    X, y = data
    same(clone(booster).fit(X, y), clone(booster).fit(X, y, np.full(y.size, 0.1)), X)
    weights = 1.0 + np.arange(y.size) % 3
    one, two = (clone(booster).fit(X, y, unit * weights) for unit in (1.0, 7.5))
    assert encode_regressor(one) == encode_regressor(two)
    assert encode_regressor(one) != encode_regressor(clone(booster).fit(X, y))


def test_rows_of_weight_zero_are_absent(booster, data):
    X, y = data
    weights = np.arange(y.size) % 3
    there = weights > 0
    one = clone(booster).fit(X, np.where(there, y, 1e6), weights)
    two = clone(booster).fit(X[there], y[there], weights[there])
    assert encode_regressor(one) == encode_regressor(two)


def test_a_weight_of_two_is_two_copies_up_to_folds(data):
    X, y = data
    weights = 1 + np.arange(y.size) % 2
    one, two = (clone(FIXED).set_params(n_stages=1) for _ in range(2))
    one.fit(X, y, weights)
    two.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    first, second = one.model_.stages[0].thresholds, two.model_.stages[0].thresholds
    for name in ("values", "gaps", "means", "knots"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-12)
    error = np.average(np.abs(one.predict(X) - two.predict(X)), weights=weights)
    assert error < 0.3 * np.abs(y - y.mean()).mean()


@pytest.mark.parametrize(
    ("weights", "message"),
    [([-1.0] * 150, "sample_weight"), ([np.nan] * 150, "sample_weight"), ([1.0, 2.0], "shape")],
)
def test_bad_weights_are_refused(data, weights, message):
    with pytest.raises(ValueError, match=message):
        clone(FIXED).fit(*data, weights)


# ----------------------------------------------------------------------- frames


@pytest.fixture(scope="module")
def towns():
    """Return a column of categories, an ordered one, numbers with gaps, and prices."""
    rng = np.random.default_rng(3)
    town = rng.choice(["York", "Bath", "Leeds", "Ely"], 160)
    size = rng.choice(["small", "medium", "large"], 160)
    area = np.where(rng.random(160) < 0.2, np.nan, rng.normal(size=160))
    level = pd.Series(town).map({"York": 0, "Bath": 3, "Leeds": 1, "Ely": 7}).to_numpy()
    step = pd.Series(size).map({"small": 0, "medium": 1, "large": 2}).to_numpy()
    y = level + 2.0 * step + np.where(np.isnan(area), 1.0, area) + 0.3 * rng.normal(size=160)
    return town, size, area, y


def make_frame(kind, towns):
    town, size, area, _ = towns
    sizes = ["small", "medium", "large"]
    if kind == "polars":
        columns = {
            "town": pl.Series(town, dtype=pl.Categorical),
            "size": pl.Series(size, dtype=pl.Enum(sizes)),
            "area": pl.Series(area),
        }
        return pl.DataFrame(columns).with_columns(pl.col("area").fill_nan(None))
    ordered = pd.Categorical(size, sizes, ordered=True)
    return pd.DataFrame({"town": pd.Categorical(town), "size": ordered, "area": area})


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_of_categories_are_fitted_and_saved(towns, kind, booster, tmp_path):
    y = towns[-1]
    frame = make_frame(kind, towns)
    fitted = clone(booster).fit(frame, y)
    same(fitted, clone(booster).fit(frame[::-1], y[::-1]), frame)
    assert fitted.score(frame, y) > 0.85
    assert fitted.feature_names_in_.tolist() == ["town", "size", "area"]
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    fitted.save(tmp_path / "m.json")
    same(fitted, NHBoostDTRegressor.load(tmp_path / "m.json"), frame)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[["size", "town", "area"]])


def test_frames_of_pandas_and_polars_are_the_same(towns, booster):
    frames = [make_frame(kind, towns) for kind in ("pandas", "polars")]
    one, two = (clone(booster).fit(frame, towns[-1]) for frame in frames)
    same(one, two, *frames)


def test_an_array_has_the_categories_that_are_named(towns):
    town, size, _, y = towns
    array = np.column_stack([town, size]).astype(object)
    booster = clone(FIXED).set_params(categorical_features=[0, 1]).fit(array, y)
    frame = pd.DataFrame({"town": pd.Categorical(town), "size": pd.Categorical(size)})
    same(booster, clone(FIXED).fit(frame, y), array, frame)


def test_ordered_categories_are_their_numbers(towns):
    y = towns[-1]
    frame = make_frame("pandas", towns)[["size", "area"]]
    numbers = frame.assign(size=frame["size"].cat.codes.astype(float))
    one, two = clone(FIXED).fit(frame, y), clone(FIXED).fit(numbers, y)
    away = np.abs(one.predict(frame) - two.predict(numbers))
    assert away.mean() < 0.1 * y.std()  # the folds differ: categories are not hashed as numbers
    rows = frame.drop_duplicates("size").assign(area=0.0).sort_values("size")
    assert (np.diff(one.predict(rows)) > 0).all()


def test_categories_are_ranked_without_the_rows_held_out():
    """A category of two rows tells nothing: scores of rows held out must not say that it does."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    frame = pd.DataFrame({"name": pd.Categorical([f"row {i // 2}" for i in range(200)])})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        booster = NHBoostDTRegressor(20, max_leaves=4, n_stages=1).fit(frame, y)
    alone = np.abs(np.subtract.outer(y, y)).mean() / 2  # the CRPS of all outcomes for each row
    assert booster.scores_.crps[-1] > 0.95 * alone


def test_a_category_that_was_not_seen_counts_as_missing(towns):
    frame = make_frame("pandas", towns)
    booster = clone(FIXED).fit(frame, towns[-1])
    rows = frame.head(3).astype({"town": str})
    unseen = booster.predict(rows.assign(town="Hull"))
    np.testing.assert_array_equal(unseen, booster.predict(rows.assign(town=None)))


# ----------------------------------------------------------------------- copies and files


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_copies_predict_the_same(data, how):
    booster = clone(FIXED).fit(*data)
    same(booster, how(booster), data[0])


def test_a_clone_is_not_fitted(data):
    booster = clone(clone(FIXED).fit(*data))
    assert booster.get_params() == FIXED.get_params()
    with pytest.raises(NotFittedError):
        booster.predict(data[0])


def test_a_file_holds_the_model_to_the_bit(booster, data, tmp_path):
    X, y = data
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.1, np.nan, X)
    booster.fit(X, y, 1.0 + np.arange(y.size) % 2)
    booster.save(tmp_path / "m.json")
    loaded = NHBoostDTRegressor.load(tmp_path / "m.json")
    same(booster, loaded, X)
    assert encode_regressor(loaded) == encode_regressor(booster)
    assert loaded.get_params() == booster.get_params()
    assert str(loaded.certificate_) == str(booster.certificate_)
    np.testing.assert_array_equal(loaded.feature_importances_, booster.feature_importances_)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


REFUSED = [
    ("estimator", "NHBoostDTClassifier", 'estimator must be "NHBoostDTRegressor"'),
    ("parameters", REMOVED, "parameters is missing"),
    ("parameters.d", -1.0, "d must be a finite number > 0"),
    ("parameters.d", REMOVED, "d is missing"),
    ("parameters.learning_rate", 0.1, "learning_rate is not a parameter of NHBoostDTRegressor"),
    ("parameters.n_thresholds", 0, "n_thresholds must be an integer from 1"),
    ("parameters.n_stages", "two", "n_stages must be an integer from 1"),
    ("n_features_in", 0, "n_features_in must be an integer from 1"),
    ("n_features_in", 2, "n_features_in of a stage must be 2; got 3"),
    ("feature_names_in", ["a"], "feature_names_in must be a list of 3"),
    ("exponent", 2.5, "exponent must be an integer"),
    ("exponent", 5000, "exponent must be an integer from -1100 to 1100"),
    ("origin", "nan", "origin must be a finite number"),
    ("origin", REMOVED, "origin is missing"),
    ("averaged", [], "averaged must be numbers of the 2 stages"),
    ("averaged", [2], "averaged must be numbers of the 2 stages"),
    ("stages", [], "averaged must be numbers of the 0 stages"),
    ("stages.0.booster", REMOVED, "booster is missing"),
    ("stages.0.booster.n_features_in", 4, "n_features_in of a stage must be 3; got 4"),
    ("stages.0.booster.trees.vote.0", 99, r"trees\.vote must be positions from 0 to \d+; got 99"),
    ("stages.0.booster.trees.vote", lambda v: v - 1.0, r"trees\.vote must be an array of unsigned"),
    ("stages.0.booster.trees.vote", REMOVED, r"trees\.vote must be an array of unsigned"),
    ("stages.0.booster.trees.feature.0", 7, r"trees\.feature\[0\] must b"),
    ("stages.0.booster.trees", REMOVED, "trees must be an object"),
    ("stages.0.booster.classes.values.0", -9.0, "must be the thresholds"),
    ("stages.0.thresholds.values", [1.0], "gaps must be a list of 1"),
    ("stages.0.thresholds.values", lambda v: v[::-1], "must be three ascending numbers or more"),
    ("stages.0.thresholds.gaps.0", 0, r"gaps\[0\] must be an integer from 1"),
    ("stages.0.thresholds.knots.0", 1e9, "knots must ascend"),
    ("stages.0.thresholds.starts.1", 0, "two or more for each bin"),
    ("stages.0.sigmoids.slopes.0", -1.0, r"slopes\[0\] must be a finite number >= 0"),
    ("stages.0.sigmoids.intercepts", [], "intercepts must be a list"),
    ("held_out.low.0", "low", r"low\[0\] must be"),
    ("held_out.high.3", None, "must ascend"),
    ("held_out.new_examples", {}, "n_examples is missing"),
    ("held_out.new_examples", REMOVED, "new_examples is missing"),
    ("held_out.low.0", 0.99, "must ascend"),
    ("held_out.low", [0.5], "as many"),
    ("held_out.mae", None, "mae must be a finite number"),
    ("held_out.crps", [], "must have a CRPS"),
    ("held_out", {}, "crps is missing"),
]


def test_changed_files_are_refused_with_the_member_that_is_wrong(data, tmp_path):
    booster = clone(FIXED).fit(*data)
    assert booster.model_.averaged == (1, 0) or booster.model_.averaged == (0, 1)
    path = tmp_path / "m.json"

    def load(changed):
        write_document(path, FORMAT, VERSION, changed)
        return NHBoostDTRegressor.load(path)

    check_refused(encode_regressor(booster), load, REFUSED)


def test_a_file_that_was_changed_by_hand_is_refused(data, tmp_path):
    path = tmp_path / "m.json"
    clone(FIXED).fit(*data).save(path)
    path.write_bytes(path.read_bytes().replace(b'"max_leaves":4', b'"max_leaves":5'))
    with pytest.raises(DocumentError, match="does not match its sha256"):
        NHBoostDTRegressor.load(path)


def test_files_of_the_other_kind_name_the_class_that_reads_them(data, tmp_path):
    X, y = data
    clone(FIXED).fit(X, y).save(tmp_path / "numbers.json")
    NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(X, y > 0).save(tmp_path / "c.json")
    with pytest.raises(DocumentError, match=r"a regressor: NHBoostDTRegressor\.load reads it"):
        NHBoostDTClassifier.load(tmp_path / "numbers.json")
    with pytest.raises(DocumentError, match=r"a classifier: NHBoostDTClassifier\.load reads it"):
        NHBoostDTRegressor.load(tmp_path / "c.json")


def test_a_setting_changed_after_the_fit_is_not_written(data, tmp_path):
    booster = clone(FIXED).fit(*data)
    promised = str(booster.certificate_)
    booster.set_params(d=5.0)
    assert str(booster.certificate_) == promised
    with pytest.raises(ValueError, match=r"settings were changed after the fit.*3\.0.*5\.0"):
        booster.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


# ----------------------------------------------------------------------- evaluation sets


@pytest.mark.parametrize("kind", ["numbers", "frame"])
def test_evaluation_sets_have_the_crps_of_each_stage_and_change_nothing(data, towns, kind):
    X, y = data if kind == "numbers" else (make_frame("pandas", towns), towns[-1])
    booster = clone(FIXED).set_params(n_stages=3).fit(X, y)
    pairs = [(X[:40], y[:40]), (X[40:], y[40:])]
    watched = clone(booster).fit(X, y, eval_set=pairs, eval_names=["first", "rest"])
    same(booster, watched, X)
    assert booster.evals_result_ == {}
    assert list(watched.evals_result_) == ["first", "rest"]
    for name, (rows, outcomes) in zip(watched.evals_result_, pairs, strict=True):
        found = watched.evals_result_[name]["crps"]
        assert found.size == len(watched.model_.stages) + 1
        last = watched.predict_distribution(rows).crps(outcomes).mean()
        assert found[-1] == pytest.approx(last, rel=1e-12)
        one = clone(FIXED).set_params(n_stages=1).fit(X, y)
        first = one.predict_distribution(rows).crps(outcomes).mean()
        assert found[0] == pytest.approx(first, rel=1e-12)
    unnamed = clone(FIXED).fit(X, y, eval_set=pairs[0])
    assert list(unnamed.evals_result_) == ["valid_0"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"eval_set": 3}, "not iterable|must be a pair"),
        ({"eval_set": [(1, 2, 3)]}, "must be a pair"),
        ({"eval_set": ([[1.0, 2.0, 3.0]], [np.nan])}, "y of valid_0 must be finite"),
        ({"eval_set": ([[1.0, 2.0, 3.0]], [1.0, 2.0])}, "one outcome for each of 1 rows"),
        ({"eval_set": ([[1.0, 2.0]], [1.0])}, "X has 2 features"),
        ({"eval_set": ([[1.0] * 3], [1.0]), "eval_names": ["a", "b"]}, "eval_names must be 1"),
    ],
)
def test_bad_evaluation_sets_are_refused_before_the_fit(data, settings, message, monkeypatch):
    monkeypatch.setattr(stages, "fit_booster", None)
    with pytest.raises((ValueError, TypeError), match=message):
        clone(FIXED).fit(*data, **settings)


# ----------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("stage", [1, 2])
def test_a_failed_or_interrupted_fit_leaves_the_old_model(data, monkeypatch, error, stage):
    X, y = data
    rows = pd.DataFrame(X, columns=list("abc"))
    booster = clone(FIXED).fit(rows, y)
    before, kept, calls = answers(booster, rows), dict(vars(booster)), []
    play = stages.fit_booster

    def fail(*arguments):
        calls.append(1)
        if len(calls) == stage:
            raise error
        return play(*arguments)

    monkeypatch.setattr(stages, "fit_booster", fail)
    with pytest.raises(error):
        booster.fit(X[:, :2], -y)
    assert len(calls) == stage
    assert vars(booster) == kept
    np.testing.assert_array_equal(answers(booster, rows), before)


OUTCOMES = {
    "missing": ([1.0, np.nan, 2.0], "y must be finite; got nan at index 1"),
    "None": ([1.0, 2.0, None], "y must be finite; got nan at index 2"),
    "infinite": ([1.0, np.inf, 2.0], "y must be finite; got inf at index 1"),
    "texts": (["a", "b", "c"], "y must be numbers; got"),
    "texts of numbers": (["1", "2", "3"], "y must be numbers; got"),
    "dates": (np.full(3, "2020-01-01", "datetime64[D]"), "y must be numbers; got"),
    "days": ([datetime.date(2020, 1, 1)] * 3, "y must be numbers; got"),
    "spans": (np.full(3, 3, "timedelta64[D]"), "y must be numbers; got"),
    "categories": (pd.Categorical(["a", "b", "a"]), "y must be numbers; got"),
    "masked": (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "y must have no masked entries"),
    "columns": (np.ones((3, 2)), "1d array"),
    "a number": (3.0, "1d array"),
    "none": (None, "requires y to be passed"),
    "fewer": ([1.0, 2.0], "inconsistent numbers of samples"),
    "complex": (np.array([1j, 2j, 3j]), "Complex data not supported"),
}


@pytest.mark.parametrize("kind", OUTCOMES)
def test_outcomes_that_are_no_finite_numbers_are_refused(kind):
    y, message = OUTCOMES[kind]
    booster = NHBoostDTRegressor(5)
    with pytest.raises(ValueError, match=message):
        booster.fit(np.arange(6.0).reshape(3, 2), y)
    assert vars(booster) == vars(NHBoostDTRegressor(5))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_thresholds", 0, "n_thresholds must be an integer >= 1; got 0"),
        ("n_thresholds", 2.5, "n_thresholds must be an integer >= 1; got 2.5"),
        ("n_thresholds", "auto", "n_thresholds must be an integer >= 1; got 'auto'"),
        ("n_stages", 0, "n_stages must be an integer >= 1; got 0"),
        ("n_stages", "two", "n_stages must be .*auto; got 'two'"),
        ("n_stages", None, "n_stages must be an integer >= 1; got None"),
        ("max_leaves", 1, "max_leaves must be .*; got 1"),
        ("max_leaves", "many", "max_leaves must be .*; got 'many'"),
        ("max_leaves", None, "max_leaves must be an integer >= 2; got None"),
        ("n_estimators", 0, "n_estimators must be an integer >= 1; got 0"),
        ("n_estimators", "many", "n_estimators must be .*auto; got 'many'"),
        ("min_samples_leaf", 0, "min_samples_leaf must be an integer >= 1; got 0"),
        ("d", 0.0, "d must be a finite number > 0; got 0.0"),
        ("max_bins", 256, "max_bins must be at most 255; got 256"),
        ("n_jobs", 0, "n_jobs must be .*; got 0"),
        ("random_state", -1, "random_state must be an integer >= 0; got -1"),
        ("categorical_features", [7], "categorical_features"),
    ],
)
def test_bad_settings_are_refused_by_fit(data, name, value, message):
    booster = NHBoostDTRegressor(5, max_leaves=2).set_params(**{name: value})
    with pytest.raises(ValueError, match=message):
        booster.fit(*data)
    assert not hasattr(booster, "model_")


@pytest.mark.parametrize(
    "call",
    [
        lambda booster: booster.predict([[1.0]]),
        lambda booster: booster.predict_interval([[1.0]]),
        lambda booster: booster.predict_quantiles([[1.0]], 0.5),
        lambda booster: booster.predict_distribution([[1.0]]),
        lambda booster: booster.certificate_,
        lambda booster: booster.scores_,
        lambda booster: booster.feature_importances_,
        lambda booster: booster.save("missing/m.json"),
    ],
)
def test_nothing_is_predicted_before_a_fit(call):
    with pytest.raises(NotFittedError, match="NHBoostDTRegressor"):
        call(NHBoostDTRegressor())


@pytest.mark.parametrize("name", ["to_treelite", "explain", "predict_proba"])
def test_what_only_classifiers_have_is_answered_with_what_there_is(name):
    assert not hasattr(NHBoostDTRegressor(), name)
    words = f"NHBoostDTRegressor has no {name}: only classifiers have it.*predict_interval"
    with pytest.raises(AttributeError, match=words):
        getattr(NHBoostDTRegressor(), name)
    with pytest.raises(
        AttributeError, match=r"no fit_batches, and none for Dask: .*Fit a sample of"
    ):
        NHBoostDTRegressor().fit_batches([])
    with pytest.raises(AttributeError, match="object has no attribute 'to_pmml'"):
        NHBoostDTRegressor().to_pmml  # noqa: B018 (what it raises is the test)


def test_lazy_frames_are_refused_with_what_a_regressor_can_do(data):
    frame = pl.DataFrame(data[0], schema=["a", "b", "c"]).lazy()
    with pytest.raises(
        ValueError, match=r"collect\(\) or compute\(\) first; classifiers also fit it in"
    ):
        FIXED.fit(frame, data[1])


@pytest.mark.parametrize(("n_thresholds", "says"), [(1000, True), (16, False)])
def test_a_certificate_says_where_edges_of_many_pairs_are_cut_off(n_thresholds, says):
    X = np.random.default_rng(0).normal(size=(1200, 2))
    booster = NHBoostDTRegressor(2, max_leaves=2, n_stages=1, n_thresholds=n_thresholds)
    text = str(booster.fit(X, X.sum(axis=1)).certificate_)
    assert ("edges are exact to 0.1 %" in text) == says


@pytest.mark.parametrize("method", ["predict", "predict_interval", "predict_distribution"])
def test_rows_of_another_width_are_refused(data, method):
    booster = clone(FIXED).fit(*data)
    with pytest.raises(ValueError, match="X has 2 features, but NHBoostDTRegressor is expecting 3"):
        getattr(booster, method)(data[0][:, :2])


@pytest.mark.parametrize("coverage", [0.0, -0.5, 1.5, np.nan, "0.9", None, [0.5, 0.9]])
def test_a_coverage_outside_of_0_to_1_is_refused(data, coverage):
    booster = clone(FIXED).fit(*data)
    with pytest.raises(ValueError, match=r"coverage must lie in \(0, 1\]; got"):
        booster.predict_interval(data[0], coverage)


def test_a_coverage_of_1_is_the_whole_range(data):
    X, y = data
    booster = clone(FIXED).fit(X, y)
    ends = booster.predict_quantiles(X, [0.0, 1.0])
    np.testing.assert_array_equal(booster.predict_interval(X, 1.0), ends)

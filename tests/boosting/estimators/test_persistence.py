"""Model files: what comes back, what is refused, and what is not written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from driftgames.boosting import (
    BOOSTERS,
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    NHBoostDTClassifier,
    NoEdgeWarning,
    PotentialBoostClassifier,
)
from driftgames.boosting.persistence import (
    FORMAT,
    VERSION,
    encode_model,
    load_model,
    save_model,
)
from driftgames.core.documents import DocumentError, write_document
from driftgames.potentials import Exponential, NormalHedgeDT, RecipePotential, TwoNorm


class OwnPotential(TwoNorm):
    """A potential of the user's own, with no parameter."""


@dataclass(frozen=True)
class OwnScale(TwoNorm):
    """A potential of the user's own, with a parameter."""

    scale: float = 1.0


def squared_hinge(s):
    return np.minimum(s, 0.0) ** 2


SETTINGS = {
    "nh-boost.dt": {"d": 4.5, "max_bins": 32},
    "boost-by-majority": {"edge": 0.07, "horizon": 24},
    "potential boost": {"potential": NormalHedgeDT(d=4, lag=1)},
}
MODELS = {
    **{
        name: kind(max_depth=1, calibrate=name == "nh-boost.dt", **SETTINGS.get(name, {}))
        for name, kind in BOOSTERS.items()
    },
    "exponential": PotentialBoostClassifier(Exponential(eta=0.3), calibrate=False),
    "two norm": PotentialBoostClassifier(TwoNorm(), random_state=3, calibrate=False),
    "own": PotentialBoostClassifier(OwnPotential(), calibrate=False),
    "own, with a parameter": PotentialBoostClassifier(OwnScale(scale=0.5), calibrate=False),
    "trees": NHBoostDTClassifier(max_depth=3, calibrate=False),
    "trees of heavy leaves": NHBoostDTClassifier(
        max_depth=2, min_weight_fraction_leaf=0.05, calibrate=False
    ),
    "trees of four leaves": AdaBoostClassifier(
        max_depth=None,
        max_leaves=4,
        min_samples_leaf=5,
        criterion="kearns-mansour",
        calibrate=False,
    ),
}
ROUNDS = 24


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    X[:, 2] = rng.integers(0, 3, 300)
    y = np.where(X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] + rng.normal(size=300) > 1, "yes", "no")
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.fixture(params=MODELS)
def booster(request):
    return clone(MODELS[request.param])


def same(one, two):
    """Whether two boosters are the same in every bit that a file holds."""
    return encode_model(one) == encode_model(two)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_loaded_model_predicts_bit_for_bit_and_has_every_attribute(
    booster, data, tmp_path, weighted
):
    X, y = data
    prior = np.random.default_rng(1).random(y.size) if weighted else None
    booster.set_params(n_estimators=ROUNDS).fit(X, y, prior)
    booster.save(tmp_path / "m.json")
    loaded = type(booster).load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.decision_function(X), booster.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), booster.predict(X))
    assert loaded.predict(X).dtype == booster.predict(X).dtype
    assert loaded.get_params() == booster.get_params()
    assert loaded.stumps_ == booster.stumps_
    assert loaded.trees_ == booster.trees_
    assert loaded.n_iter_ == booster.n_iter_ == len(loaded.stumps_) + len(loaded.trees_)
    assert str(loaded.certificate_) == str(booster.certificate_)
    for name, column in booster.history_.items():
        np.testing.assert_array_equal(loaded.history_[name], column)
    for name in ("thetas", "realised", "promised"):
        wanted = getattr(booster.certificate_, name)
        np.testing.assert_array_equal(getattr(loaded.certificate_, name), wanted)
    assert vars(loaded).keys() == vars(booster).keys()
    assert same(loaded, booster)


def test_an_interrupted_fit_leaves_the_loaded_model_as_it_was(data, tmp_path):
    X, y = data
    NHBoostDTClassifier(9, max_leaves=2, calibrate=False).fit(X, y).save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json").set_params(n_estimators=ROUNDS)
    before = encode_model(loaded)

    def interrupt(t, stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loaded.fit(X, y, callbacks=[interrupt])
    assert encode_model(loaded) == before


def test_names_of_features_come_back(data, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=[f"column {j}" for j in range(6)])
    booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(frame, y)
    booster.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(loaded.predict(frame), booster.predict(frame))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1]),
        np.array([False, True]),
        np.array([-1.0, 1.0]),
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([3, 7], dtype=np.uint8),
    ],
)
def test_labels_come_back_with_their_type(data, tmp_path, labels):
    X, y = data
    booster = NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(
        X, labels[(y == "yes").astype(int)]
    )
    booster.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded.classes_.dtype == booster.classes_.dtype
    assert loaded.classes_.tolist() == booster.classes_.tolist()


def test_a_stump_that_asks_whether_a_value_is_missing_comes_back(tmp_path):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 100)
    X = np.where(y == 1, np.nan, 1.0)[:, None]
    booster = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(X, y)
    assert np.isinf(booster.stumps_.threshold).any()
    booster.save(tmp_path / "m.json")
    assert "Infinity" not in (tmp_path / "m.json").read_text()  # which is no JSON
    assert load_model(tmp_path / "m.json").score(X, y) == 1.0


@pytest.mark.parametrize("depth", [1, 3])
def test_the_document_says_how_to_predict_without_the_library(data, tmp_path, depth):
    X, y = data
    booster = AdaBoostClassifier(ROUNDS, max_depth=depth, calibrate=False).fit(X, y)
    booster.save(tmp_path / "m.json")
    text = (Path(__file__).parents[3] / "docs" / "model_format.md").read_text()
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[1 + (depth > 1)]
    namespace = {}
    exec(code.replace('"m.json"', repr(str(tmp_path / "m.json"))), namespace)
    assert [namespace["predict"](x) for x in X.tolist()] == booster.predict(X).tolist()


def test_the_document_names_every_member_of_the_content(data):
    X, y = data
    content = encode_model(NHBoostDTClassifier(3, max_leaves=2).fit(X, y))
    text = (Path(__file__).parents[3] / "docs" / "model_format.md").read_text()
    trees = encode_model(NHBoostDTClassifier(3, max_depth=2).fit(X, y))["trees"]
    mean = encode_model(NHBoostDTClassifier(3).fit(X, y))
    assert set(mean) - set(content) == {"trees", "chosen", "members", "mean_error"}
    parts = [content[name] for name in ("stumps", "history", "margins", "calibration")]
    names = (name for part in (*parts, trees, mean["chosen"]) for name in part)
    for name in [*content, *mean, *names]:
        assert f"`{name}`" in text
    assert f'"version": {VERSION},' in text


@pytest.fixture(scope="module")
def five_stumps(data):
    return NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(*data)


@pytest.fixture
def saved(five_stumps, tmp_path):
    path = tmp_path / "m.json"
    five_stumps.save(path)
    return path


def test_a_truncated_file_is_refused(saved):
    whole = saved.read_bytes()
    for length in (0, 1, 50, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:length])
        with pytest.raises(DocumentError, match=r"m\.json: not JSON, or cut short"):
            load_model(saved)


def test_a_tampered_file_is_refused(saved):
    document = json.loads(saved.read_text())
    document["content"]["stumps"]["left_vote"][0] *= -1
    saved.write_text(json.dumps(document))
    with pytest.raises(DocumentError, match="does not match its sha256"):
        load_model(saved)


def test_a_newer_format_is_refused(saved):
    write_document(saved, FORMAT, VERSION + 1, json.loads(saved.read_text())["content"])
    with pytest.raises(
        DocumentError, match=f"version {VERSION + 1} is newer than this driftgames reads"
    ):
        load_model(saved)


def test_a_foreign_file_is_refused(saved, tmp_path):
    write_document(saved, "driftgames.hedge", 1, {})
    with pytest.raises(DocumentError, match=r"holds a 'driftgames.hedge'"):
        load_model(saved)
    saved.write_text('{"learner": "xgboost"}')
    with pytest.raises(DocumentError, match="not a driftgames document"):
        load_model(saved)
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "absent.json")


def test_a_model_of_no_rounds_has_no_certificate(saved):
    with pytest.warns(NoEdgeWarning):
        NHBoostDTClassifier(5, max_leaves=2, calibrate=False).fit(
            np.zeros((4, 1)), [0, 1, 0, 1]
        ).save(saved)
    assert load_model(saved).certificate_ is None
    content = json.loads(saved.read_text())["content"]
    content["margins"] = {}
    write_document(saved, FORMAT, VERSION, content)
    with pytest.raises(DocumentError, match="margins is missing"):
        load_model(saved)


def test_nothing_is_saved_that_could_not_be_loaded(saved, data):
    booster = (
        NHBoostDTClassifier(5, max_leaves=2, calibrate=False)
        .fit(*data)
        .set_params(n_estimators="abc")
    )
    before = saved.read_text()
    with pytest.raises(ValueError, match=r"parameters\.n_estimators must be an integer from 1"):
        booster.save(saved)
    booster.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="feature_names must be a list of 6"):
        replace(booster.model_, feature_names=np.array(["a"], dtype=object))
    assert saved.read_text() == before


@pytest.mark.parametrize(
    ("booster", "message"),
    [
        (
            NHBoostDTClassifier(
                2, max_leaves=2, random_state=np.random.RandomState(0), calibrate=False
            ),
            "random_state must be",
        ),
        (
            PotentialBoostClassifier(RecipePotential(squared_hinge, 2), 2, calibrate=False),
            "potential must be a value that a file can hold; got RecipePotential",
        ),
    ],
)
def test_what_has_no_documented_form_is_not_saved(data, tmp_path, booster, message):
    X, y = np.nan_to_num(data[0]), data[1]
    path = tmp_path / "m.json"
    path.write_text("an older file")
    booster.fit(X, y)
    with pytest.raises(ValueError, match=message):
        save_model(booster, path)
    assert path.read_text() == "an older file"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("booster", "change", "message"),
    [
        (
            BoostByMajorityClassifier(5, calibrate=False),
            {"n_estimators": 8},
            "horizon was 5 in the rounds played already, and they depend on it; got 8",
        ),
        (
            NHBoostDTClassifier(5, max_depth=3, calibrate=False),
            {"max_depth": 2},
            "max_depth was 3 in the rounds played already",
        ),
    ],
    ids=["horizon", "depth"],
)
def test_settings_changed_after_the_fit_are_not_saved(data, tmp_path, booster, change, message):
    booster.fit(*data).set_params(**change)
    with pytest.raises(ValueError, match=message):
        booster.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
    booster.fit(*data).save(tmp_path / "m.json")
    assert same(load_model(tmp_path / "m.json"), booster)


def test_a_booster_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        NHBoostDTClassifier(calibrate=False).save(tmp_path / "m.json")


def test_loading_through_the_wrong_class_says_so(saved):
    with pytest.raises(ValueError, match="holds a NHBoostDTClassifier, not a AdaBoostClassifier"):
        AdaBoostClassifier.load(saved)


@pytest.mark.parametrize("mass", [2**62, 10**400])
def test_masses_that_no_integer_holds_are_refused(saved, rewrite, mass):
    rewrite(saved, lambda content: content["margins"]["masses"].__setitem__(0, mass))
    with pytest.raises(DocumentError, match=r"masses must be .* with a sum below 2\*\*62"):
        NHBoostDTClassifier.load(saved)

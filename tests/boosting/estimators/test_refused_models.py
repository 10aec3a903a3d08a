"""Model files that must be refused: one table for each kind of model."""

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import (
    AdaBoostClassifier,
    NHBoostDTClassifier,
    PotentialBoostClassifier,
)
from driftgames.boosting.persistence import FORMAT, VERSION, encode_model, load_model
from driftgames.core.description import Describable
from driftgames.core.documents import write_document
from tests.refusals import REMOVED, check_refused


class OtherThing(Describable):
    """Something that a file can hold and that is no potential."""


STUMPS = [
    (
        "estimator",
        "os.system",
        r'estimator must be .* or "AdaBoostClassifier" or .*; got .os.system',
    ),
    ("estimator", ["AdaBoostClassifier"], "estimator must be"),
    ("parameters", [], r"parameters\.d is missing"),
    ("parameters.learning_rate", 1, r"parameters\.learning_rate is not a member"),
    ("parameters.d", REMOVED, r"parameters\.d is missing"),
    ("parameters.d", -1.0, r"parameters\.d must be a finite number > 0; got -1"),
    ("parameters.d", 10**400, r"parameters\.d must be a finite number > 0"),
    (
        "parameters.n_estimators",
        "abc",
        r'n_estimators must be an integer from 1 or "auto"; got .abc',
    ),
    (
        "parameters.n_estimators",
        True,
        r'n_estimators must be an integer from 1 or "auto"; got True',
    ),
    ("parameters.max_bins", 256, r'max_bins must be an integer from 2 to 255 or "auto"; got 256'),
    ("parameters.estimator", "tree", r"parameters\.estimator must be null; got 'tree'"),
    ("parameters.warm_start", True, r"parameters\.warm_start must be false; got True"),
    (
        "parameters.n_jobs",
        1.5,
        r"n_jobs must be an integer other than 0, of at most 31 bits",
    ),
    ("parameters.random_state", -1, r"random_state must be an integer from 0, or null"),
    ("classes", REMOVED, r"classes\.dtype is missing"),
    (
        "classes.values",
        ["no"],
        r"classes\.values must be a list of two labels or more; got \['no'\]",
    ),
    ("classes.values", ["no", "no"], r"two labels of type <U3, the lesser first"),
    ("classes.values", ["yes", "no"], r"two labels of type <U3, the lesser first"),
    ("classes.values", ["no", "yesterday"], r"two labels of type <U3"),
    ("classes.values", [["no"], {"yes": 1}], r"classes\.values\[0\] must be a number, a string"),
    ("classes", {"dtype": "|b1", "values": [0, 1]}, r"two labels of type |b1"),
    ("classes", {"dtype": "|u1", "values": [1, 300]}, r"two labels of type |u1"),
    ("classes.dtype", "<M8[s]", r"classes\.dtype must be the NumPy type of numbers or of strings"),
    ("classes.dtype", "<U999999999", r"classes\.dtype must be the NumPy type"),
    ("classes.dtype", None, r"classes\.dtype must be the NumPy type"),
    ("n_features_in", 30.7, r"n_features_in must be an integer from 1 to \d+; got 30.7"),
    ("n_features_in", 2, r"stumps\.feature\[\d\] must be an integer from 0 to 1"),
    ("feature_names_in", "abcdef", r"feature_names_in must be a list of 6, or null; got 'abcdef'"),
    ("feature_names_in", ["a"], r"feature_names_in must be a list of 6, or null; got \['a'\]"),
    ("feature_names_in", [1] * 6, r"feature_names_in\[0\] must be a string; got 1"),
    ("stumps", [], r"stumps\.feature must be a list"),
    ("stumps.feature.0", 0.5, r"stumps\.feature\[0\] must be an integer from 0 to 5; got 0.5"),
    ("stumps.feature.0", 2**32, r"stumps\.feature\[0\] must be an integer from 0 to 5"),
    ("stumps.threshold.1", "nan", r'stumps\.threshold\[1\] must be a finite number or "inf"'),
    ("stumps.threshold.1", 10**400, r"stumps\.threshold\[1\] must be a finite number"),
    ("stumps.left_vote.4", 1.9, r"stumps\.left_vote\[4\] must be 1 or -1; got 1.9"),
    ("stumps.missing_vote.4", 257, r"stumps\.missing_vote\[4\] must be 1 or -1; got 257"),
    ("stumps.missing_vote.4", True, r"stumps\.missing_vote\[4\] must be 1 or -1; got True"),
    ("stumps.missing_vote", [1] * 4, r"stumps\.missing_vote must be a list of 5; got"),
    ("estimator_weights", [1.0] * 4, r"estimator_weights must be a list of 5; got"),
    ("estimator_weights.2", 2.0, r"estimator_weights\[2\] must be 1; got 2.0"),
    ("history", {}, r"history\.edge is missing"),
    ("history.edge", REMOVED, r"history\.edge is missing"),
    ("history.edge.3", "nan", r"history\.edge\[3\] must be a number in \(0, 0.5\]; got 'nan'"),
    ("history.zero_fraction.3", 7, r"history\.zero_fraction\[3\] must be a number in \[0, 1\]"),
    ("history.training_error", [0.1], r"history\.training_error must be a list of 5"),
    ("ended_early", "false", r"ended_early must be true or false; got 'false'"),
    ("margins", None, r"margins\.values is missing"),
    ("margins.values", "x", r"margins\.values must be a list of ascending numbers in \[-1, 1\]"),
    ("margins.values", [], r"margins\.values must be a list of ascending numbers"),
    ("margins.values.0", 2, r"margins\.values must be a list of ascending numbers"),
    ("margins.values.0", -2, r"margins\.values must be a list of ascending numbers"),
    ("margins.values.0", "nan", r"margins\.values must be a list of ascending numbers"),
    ("margins.masses", [1], r"margins\.masses must be a list of \d+ with .*; got \[1\]"),
    ("margins.masses.0", 0, r"margins\.masses\[0\] must be an integer from 1; got 0"),
]

TREES = [
    ("parameters.max_depth", 0, r"max_depth must be an integer from 1, or null; got 0"),
    ("parameters.max_leaves", 1, r"max_leaves must be an integer from 2, \"auto\" or null; got 1"),
    ("parameters.min_samples_leaf", None, r"min_samples_leaf must be an integer from 1; got None"),
    ("parameters.min_weight_fraction_leaf", 0.6, r"must be a number in \[0, 0\.5\]; got 0\.6"),
    ("parameters.criterion", "best", r'criterion must be "gini" or "kearns-mansour"; got .best'),
    ("trees", [], r"trees must be an object; got \[\]"),
    ("trees.left", 5, r"trees\.left: an array in the document cannot be read"),
    ("trees.n_nodes", lambda sizes: sizes[:4], r"trees\.n_nodes must be of the 33 nodes; got 26"),
    ("trees.n_nodes.0", 0, r"trees\.n_nodes\[0\] must be an integer from 1 to 33; got 0"),
    ("trees.n_nodes", lambda sizes: sizes[None], r"trees\.n_nodes must be an array of integers of"),
    ("trees.feature.0", 6, r"trees\.feature\[0\] must be an integer from 0 to 5; got 6"),
    ("trees.feature", lambda each: each + 0.0, r"trees\.feature must be an array of integers"),
    (
        "trees.threshold.0",
        np.nan,
        r"trees\.threshold\[0\] must be a number from .* to inf; got nan",
    ),
    ("trees.threshold.0", -np.inf, r"trees\.threshold\[0\] must be a number from"),
    ("trees.threshold", lambda each: each[1:], r"trees\.threshold must be an array of numbers"),
    ("trees.missing_left.0", 2, r"trees\.missing_left\[0\] must be an integer from 0 to 1; got 2"),
    ("trees.left", lambda each: -each.astype(int), r"trees\.left\[0\] must be an integer from 0"),
    ("trees.left.0", 0, r"trees\.question must be an array of integers of shape \[13\]; got"),
    ("trees.left.1", 1, r"left must join the nodes of tree 0 to a tree"),
    ("trees.question.0", 200, r"trees\.question\[0\] must be an integer from 0 to \d+; got 200"),
    ("trees.vote.0", 0, r"trees\.vote must be 1 or -1; got 0"),
    ("trees.vote.0", 2, r"trees\.vote\[0\] must be an integer from -1 to 1; got 2"),
    (
        "trees.vote",
        lambda votes: votes[:-1],
        r"trees\.vote must be .* of shape \[19\]; got int8\[18",
    ),
    ("trees.gain.0", -1.0, r"trees\.gain\[0\] must be a number from 0 to 1; got -1"),
    ("trees.gain", lambda gains: gains[1:], r"trees\.gain must be an array of numbers of shape"),
    ("trees.gain", REMOVED, r"trees\.gain is missing"),
    ("trees.other", np.zeros(3), r"trees\.other is not a member"),
    ("stumps", {"feature": []}, r"stumps\.feature is not a member"),
]

NO_WEIGHT = r"estimator_weights\[0\] must be a number in \(0, 2\*\*53\]"
ADABOOST = [
    ("estimator_weights.0", weight, NO_WEIGHT) for weight in (0, -1, 1e308, "inf", 10**400, None)
]

POTENTIALS = [
    ("parameters.potential", described, "potential must be a potential")
    for described in (
        {},
        {"name": ["TwoNorm"], "arguments": {}},
        {"name": "NormalHedgeDT", "arguments": {"d": -1.0}},
        {"name": "NormalHedgeDT", "arguments": {"d": 10**400}},
        {"name": "NormalHedgeDT", "arguments": [3.0]},
        {"name": "RecipePotential", "arguments": None},
        {"name": "NotDefinedHere", "arguments": {}},
        {"name": "OtherThing", "arguments": {}},
    )
]

NO_OBJECT = r"categories\[0\] must be an object of values, missing and ranks, or null"
CATEGORIES = [
    ("categories.0", 0, rf"{NO_OBJECT}; got 0"),
    ("categories.0.ranks", REMOVED, NO_OBJECT),
    ("categories.0.values", [None], NO_OBJECT),
    ("categories.0.missing", 1, NO_OBJECT),
    ("categories.0.ranks", None, NO_OBJECT),
    ("categories.0.ranks", [["1"]], NO_OBJECT),
    ("categories.0.values", ["a", "a"], "categories must be distinct"),
    ("categories.0.values", ["a"], r"stumps\.feature\[\d+\] must be an"),
]

SMALL = {"n_estimators": 5, "calibrate": False}
FORMATS = {
    "stumps": (NHBoostDTClassifier(max_leaves=2, **SMALL), STUMPS),
    "trees": (NHBoostDTClassifier(max_depth=2, **SMALL), TREES),
    "adaboost": (AdaBoostClassifier(**SMALL), ADABOOST),
    "potentials": (PotentialBoostClassifier(**SMALL), POTENTIALS),
    "categories": (NHBoostDTClassifier(max_leaves=2, **SMALL), CATEGORIES),
}


@pytest.mark.parametrize("name", FORMATS)
def test_models_that_no_fit_wrote_are_refused(name, tmp_path):
    booster, table = FORMATS[name]
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 6)).round(2)
    y = np.where(X[:, 0] + X[:, 2] + rng.normal(size=60) > 0, "yes", "no")
    if name == "categories":
        X = pd.DataFrame({"colour": rng.choice(["red", "green", "blue"], 60)}, dtype="category")
        y = np.where((X["colour"] == "red") ^ (rng.random(60) < 0.2), "yes", "no")
    path = tmp_path / "m.json"

    def load(content):
        write_document(path, FORMAT, VERSION, content)
        return load_model(path)

    prefix = r"m\.json: not a model that can be read: .*"
    lines = [(member, value, f"{prefix}(?:{message})") for member, value, message in table]
    check_refused(encode_model(booster.fit(X, y)), load, lines)
